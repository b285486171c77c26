"""What is no score, and what is of another kind, is in no average: by ``reportgen describe`` and pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call

if TYPE_CHECKING:
    from pathlib import Path

_AGENTS = (
    "model,test_cases,pass_rate,n_wins,num_errors,timeouts,threads,seconds_per_case,avg_length\n"
    "Elm,225,51.2,400,7,2,8,20.1,2049\nFir,224,48.0,180,1,0,8,30.5,1500\n"
)


def describe(folder: Path, text: str, settings: str = "", name: str = "table.csv") -> dict[str, Any]:
    """What the command prints of one table, as JSON."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / name).write_text(text)
    if settings:
        (source / "source.yml").write_text(settings)
    found: dict[str, Any] = json.loads(call(folder, "describe", "source", "--format", "json").stdout)
    return found


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        # Counts, settings and times beside a score, as agents and arenas report them.
        (_AGENTS, ["pass_rate"]),
        (
            "model,win_rate,standard_error,n_total,lc_winrate\nElm,50.1,1.5,805,55.1\nFir,23.1,1.3,805,25.3\n",
            ["win_rate", "lc_winrate"],
        ),
        ("name,hidden,dropout,val_acc\na-1,128,0.1,0.9123\na-2,256,0.5,0.9223\n", ["val_acc"]),
        # What a size or window is beside known benchmarks.
        ("Model,MMLU,Context,Arena Elo\nElm,62.5,4096,1012\nFir,68.9,8192,1087\n", ["MMLU", "Arena Elo"]),
        # Scores of other scales stay, also whole numbers.
        ("model,Perplexity,LAMBADA\nElm,12.34,62.5\nFir,10.12,66.0\n", ["Perplexity", "LAMBADA"]),
        ("model,TheoremQA,MMLU\nElm,23,40.1\nFir,31,44.3\n", ["TheoremQA", "MMLU"]),
        ("model,pass_rate,easy_rate\nElm,51.2,60\nFir,48.0,61\n", ["pass_rate", "easy_rate"]),
        ("model,Breakout,Qbert\nDQN,401.2,10596\nPPO,274.8,14293\n", ["Breakout", "Qbert"]),
        ("model,BLEU,Fluency (1-5)\nElm,28.4,4\nFir,29.9,3\n", ["BLEU", "Fluency (1-5)"]),
    ],
)
def test_what_describes_is_left_out_with_the_line_that_names_the_scores(
    tmp_path: Path, text: str, scores: list[str]
) -> None:
    """The suggested settings name the scores, and with them there is no warning."""
    found = describe(tmp_path, text)
    assert found["benchmarks"] == scores
    columns = text.partition("\n")[0].split(",")[1:]
    said = " ".join(problem["message"] for problem in found["problems"])
    assert [name for name in columns if f'"{name}"' in said] == [
        name for name in columns if name not in scores
    ]
    followed = describe(tmp_path, text, found["suggested"]["source.yml"])
    assert (followed["benchmarks"], followed["problems"]) == (scores, [])
    every = describe(tmp_path, text, f"form: wide\nmetrics: [{', '.join(columns)}]\n")
    assert every["benchmarks"] == columns


@pytest.mark.parametrize(
    ("head", "times"),
    [
        ("Name,State,Notes,User,Tags,Created,Runtime,Sweep", "finished,-,,,2026-01-05T10:00:00.000Z,1200,"),
        ("Start Time,Run ID,Name,Status", "2026-01-05 10:00:00,abc,a,FINISHED"),
        ("Name,Created,Duration", "2026-01-05T10:00:00,100"),
    ],
)
def test_a_table_of_runs_is_no_table_of_scores(tmp_path: Path, head: str, times: str) -> None:
    """What W&B, MLflow and Comet export has settings and results in columns that nothing tells apart."""
    first = times if times.startswith("2026-01-05 ") else f"a,{times}"
    text = f"{head},init_std,episode_return\n{first},1,310.5\n{first.replace('a', 'b', 1)},0.5,295.1\n"
    found = describe(tmp_path, text)
    assert (found["benchmarks"], found["suggested"]["block"]) == ([], "")
    assert [problem["severity"] for problem in found["problems"]] == ["error"]
