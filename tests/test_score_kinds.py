"""What is no score, and what is of another kind, is in no average: by ``reportgen describe`` and pages."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from made_projects import write_report

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.model import Stack
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


def compare(root: Path, files: dict[str, str], more: str = "") -> tuple[dict[str, Any], str, list[str]]:
    """The averages of a comparison of a source, its caption, and what the build warns of."""
    page = f"# Page\n\n```comparison\nid: all\nsource: s\n{more}```\n"
    write_report(root, {"content/index.md": page, **{f"data/s/{name}": text for name, text in files.items()}})
    report = draft(
        Project(root, "content", ("index.md",), ProjectSettings()), Cache(root / "c"), FileHashes(root / "c")
    )
    (shown,) = report.shown.values()
    assert isinstance(shown, Stack)
    macro = {name: cell["score"]["estimate"] for name, cell in shown.numbers["macro"].items()}
    return macro, str(shown.caption), [str(problem) for problem in report.problems]


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
        ("model,BLEU,Fluency (1-5),top_p\nElm,28.4,4,0.9\nFir,29.9,3,0.95\n", ["BLEU", "Fluency (1-5)"]),
        (
            "model,keep_rate,pass_rate,easy_rate\nElm,0.1,51.2,60\nFir,0.2,48.0,61\n",
            ["pass_rate", "easy_rate"],
        ),
        # Beside usual names of scores nothing shows that a column of another name has scores, too.
        ("model,Perplexity,LAMBADA\nElm,12.34,62.5\nFir,10.12,66.0\n", ["Perplexity"]),
        ("model,top_p,pass@1\nElm,0.95,51.2\nFir,0.95,48.0\nGum,1.0,33.3\n", ["pass@1"]),
        ("model,weight_decay,nll,acc_norm\nElm,0.0125,0.31,0.91\nFir,0.025,0.29,0.92\n", ["nll", "acc_norm"]),
        ("model,elo,votes\nElm,1203,5123\nFir,1187,4801\n", ["elo"]),
        (
            "model,threshold,precision,recall\nElm,0.47,0.81,0.77\nFir,0.38,0.84,0.71\n",
            ["precision", "recall"],
        ),
        # Beside benchmarks: whole numbers, round ones, another scale, and the same in all rows.
        ("model,k,MATH500\nElm,5,51.2\nFir,8,48.0\n", ["MATH500"]),
        ("model,min_p,MATH500,Sums\nElm,0.05,0.512,0.733\nFir,0.1,0.480,0.71\n", ["MATH500", "Sums"]),
        ("model,gamma,MATH500,Sums\nElm,0.99,51.2,73.3\nFir,0.995,48.0,71.2\n", ["MATH500", "Sums"]),
        ("model,gamma,MATH500\nElm,0.99,0.512\nFir,0.99,0.480\n", ["MATH500"]),
        ("model,Qbert,Sums,Proofs\nElm,10596.1,51.2,73.3\nFir,14293.7,48.0,71.2\n", ["Sums", "Proofs"]),
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
    ("text", "line"),
    [
        ("model,test_cases,timeouts\nElm,225,2\nFir,224,0\n", "metrics: [test_cases, timeouts]"),
        ("model,votes,battles\nElm,225.0,2.0\nFir,224.0,\n", "metrics: [votes, battles]"),
        ("model,weight_decay,dropout\nElm,0.01,0.1\nFir,0.1,0.2\n", "metrics: [weight_decay, dropout]"),
        ("model,Breakout,Qbert\nDQN,401.2,10596\nPPO,274.8,14293\n", "metrics: [Breakout, Qbert]"),
        ("task,Elm,Fir\ntest_cases,225,224\ntimeouts,2,0\n", "filter: {benchmark: [test_cases, timeouts]}"),
        ("task,pass@1,pass@5\nhop,51.2,60.1\nrun,48.0,55.2\n", "wide: series"),
    ],
)
def test_numbers_that_may_be_no_scores_are_refused_with_the_line_that_takes_them(
    tmp_path: Path, text: str, line: str
) -> None:
    """A table of counts or settings alone, in columns or rows, and metrics that would be series."""
    found = describe(tmp_path, text)
    (problem,) = found["problems"]
    assert (problem["severity"], problem["line"], found["benchmarks"]) == ("error", 1, [])
    assert line in problem["next_step"]
    followed = describe(tmp_path, text, f"{line}\n")
    assert followed["problems"] == []
    assert len(followed["totals"]) in {3, 4}


@pytest.mark.parametrize(
    "text",
    [
        "model,MATH500,GSM8K,AIME\nElm,51.2,88.1,13.3\nFir,48.0,87.9,10.0\n",
        "Method,arc_challenge,gsm8k\nBase,51,88\nOurs,52,92\n",
        "model,MMLU,GSM8K,OurBench\nElm,62.5,88.1,44.1\nFir,68.9,87.9,43.0\n",
        "model,Sums,Proofs\nElm,0.51,0.76\nFir,0.48,0.75\n",
        "model,en-de,en-fr\nElm,28.4,38.1\nFir,29.9,39.5\n",
        "Method,Sums,Proofs\nBase,51%,88%\nOurs,**52%**,92%\n",
        "Method,Sums,Proofs\nBase,51,**88**\nOurs,**52**,87\n",
        "Method,Sums,Sums_se\nBase,51,1\nOurs,52,2\n",
        "model,Walker,Hopper\nElm,-51.2,88.1\nFir,-48.0,87.9\n",
        "model,accuracy (%),MATH500,ECE\nElm,51.2,44.1,4.1\nFir,48.0,43.0,5.2\n",
        "benchmark,Elm,Fir\nMATH500,51.2,48.0\nSums,88.1,87.9\n",
    ],
)
def test_scores_are_read_without_a_warning(tmp_path: Path, text: str) -> None:
    """Of known benchmarks, of usual names, or of numbers as scores are."""
    found = describe(tmp_path, text)
    assert found["problems"] == []
    assert len(found["totals"]) in {2, 4, 6}


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("model,MATH500,top_p,accuracy\nElm,51.2,0.95,48.1\nFir,48.0,0.9,44.0\n", ["MATH500", "accuracy"]),
        ("model,loss,accuracy\nElm,1.2,48.1\nFir,1.3,44.0\n", ["loss", "accuracy"]),
        ("model,accuracy,top_p\nElm,51.2,0.9\nFir,48.0,0.8\n", []),
    ],
)
def test_the_suggested_settings_take_every_usual_score(
    tmp_path: Path, text: str, suggested: list[str]
) -> None:
    """As totals, one of several would be read without a word on the others."""
    settings = describe(tmp_path, text)["suggested"]["source.yml"]
    found = describe(tmp_path, text, settings)
    assert (found["benchmarks"], found["problems"], found["kind"]) == (suggested, [], "totals")
    assert found["suggested"]["source.yml"] == ""


@pytest.mark.parametrize(
    "text",
    [
        "model,benchmark,top_p,pass@1\nElm,A,0.95,51.2\nElm,B,0.95,48.0\nFir,A,0.9,41.2\nFir,B,0.9,43.0\n",
        "model,benchmark,metric,value\nElm,A,num_total,30\nElm,A,pass@1,0.5\nFir,A,num_total,30\nFir,A,pass@1,0.4\n",
    ],
)
def test_the_suggested_metric_is_a_usual_score(tmp_path: Path, text: str) -> None:
    """Not the setting or count that comes first."""
    assert "filter:\n  metric: pass@1\n" in describe(tmp_path, text)["suggested"]["source.yml"]


def test_a_harness_that_writes_settings_first_has_a_usual_score(tmp_path: Path) -> None:
    """The guess is a warning with the line that confirms it."""
    results = {"sums": {"alias": "sums", "temperature": 0.6, "top_p": 0.95, "pass@1": 0.4}}
    document = {"results": results, "model_name": "elm", "lm_eval_version": "0.4.11"}
    name = "elm/results_2026-01-05T10-00-00.000000.json"
    (tmp_path / "source/elm").mkdir(parents=True)
    found = describe(tmp_path, json.dumps(document), name=name)
    assert [one["value"] for one in found["totals"] if one["metric"] == "pass@1"] == [0.4]
    assert "metrics: [pass@1]," in found["problems"][0]["next_step"]
    assert describe(tmp_path, json.dumps(document), "metrics: [pass@1]\n", name)["problems"] == []


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


_PARTS = {"Law": (0.512, 0.401), "Maths": (0.702, 0.612), "Physics": (0.886, 0.811)}


def write_totals(rows: dict[str, tuple[float, ...]], *, n: dict[str, int] | None = None) -> dict[str, str]:
    """A table with a row a score, of the models Elm, Fir and so on."""
    lines = [f"model,benchmark,score{',n' if n else ''}"]
    for name, values in rows.items():
        lines += [
            f"{model},{name},{value}{f',{n[name]}' if n else ''}"
            for model, value in zip(("Elm", "Fir", "Gum", "Hop"), values, strict=False)
        ]
    settings = "form: totals\nlower_is_better: false\n"
    return {"scores.csv": "\n".join(lines) + "\n", "source.yml": settings}


@pytest.mark.parametrize(
    ("whole", "values", "n"),
    [
        # By its name, whatever it weighs.
        ("Overall", (0.72, 0.58), None),
        ("Total", (0.4, 0.9), None),
        ("macro_avg", (0.72, 0.58), None),
        # By its scores: the mean of the others, their mean by problems, in one series, too.
        ("MMLU", (0.7, 0.608), None),
        ("All subjects", (0.793,), {"Law": 100, "Maths": 300, "Physics": 600, "All subjects": 1000}),
        ("Points", (2.1, 1.824), None),
    ],
)
def test_a_total_is_in_no_average_with_its_parts(
    tmp_path: Path, whole: str, values: tuple[float, ...], n: dict[str, int] | None
) -> None:
    """Shown beside the others, the average is of these, and the caption names it."""
    rows = {name: parts[: len(values)] for name, parts in _PARTS.items()} | {whole: values}
    files = write_totals(rows, n=n)
    files["source.yml"] += "score_range: [0, 3]\n"
    macro, caption, _ = compare(tmp_path, files)
    assert macro["Elm"] == pytest.approx(0.7)
    assert f"{whole} is a mean or total over others here, and in no average" in caption


@pytest.mark.parametrize(
    "rows",
    [
        # One series, or whole numbers, agree by chance.
        {"Law": (0.5,), "Maths": (0.7,), "Physics": (0.6,)},
        {"Law": (50, 61), "Maths": (60, 62), "Physics": (55, 61)},
        {"Law": (0.5, 0.5), "Maths": (0.5, 0.5), "Physics": (0.5, 0.5)},
        {"Law": (0.5, 0.62), "Maths": (0.7, 0.58), "Physics": (0.6, 0.61)},
    ],
)
def test_benchmarks_that_agree_by_chance_are_averaged(
    tmp_path: Path, rows: dict[str, tuple[float, ...]]
) -> None:
    """Nothing is left out without evidence."""
    files = write_totals(rows)
    files["source.yml"] += "score_range: [0, 100]\n"
    macro, caption, _ = compare(tmp_path, files)
    assert macro["Elm"] == pytest.approx(sum(values[0] for values in rows.values()) / 3)
    assert "in no average" not in caption


def test_a_group_of_lm_eval_is_in_no_average_with_its_tasks(tmp_path: Path) -> None:
    """The harness names its tasks, also those of groups inside; 1,000 problems count once."""
    score = {"law": 0.4, "maths": 0.6, "part": 0.5, "all": 0.5, "other": 0.8}
    sizes = {name: {"original": 500, "effective": 500} for name in ("law", "maths", "other")}
    document = {
        "results": {
            name: {"alias": name, "acc,none": value, "acc_stderr,none": 0.02} for name, value in score.items()
        },
        "groups": {name: {"acc,none": 0.5} for name in ("part", "all")},
        "group_subtasks": {"all": ["part"], "part": ["law", "maths"], "law": [], "maths": [], "other": []},
        "n-samples": sizes,
        "model_name": "elm",
    }
    name = "elm/results_2026-01-05T10-00-00.000000.json"
    macro, caption, problems = compare(tmp_path / "a", {name: json.dumps(document)})
    assert macro == {"elm": pytest.approx(0.6)}
    assert "part and all are means or totals over others here, and in no average" in caption
    assert problems == []
    # Without its tasks, a group is a benchmark as any other.
    macro, caption, _ = compare(tmp_path / "b", {name: json.dumps(document)}, "benchmarks: [all, other]\n")
    assert (macro, "in no average" in caption) == ({"elm": pytest.approx(0.65)}, False)


def write_rows(*columns: str, words: tuple[tuple[str, ...], ...], runs: int = 3) -> str:
    """Rows of some columns of words, each combination in several runs of four steps or problems."""
    lines = [",".join(columns)]
    for index, (names, run) in enumerate(product(product(*words), range(runs))):
        lines += [
            ",".join((*names, str(step), f"{(7 * index + 3 * step + run) % 11 / 10}")) for step in range(4)
        ]
    return "\n".join(lines) + "\n"


AGENTS = write_rows("agent", "iteration", "reward", words=(("oak", "pine", "yew"),))


@pytest.mark.parametrize("repeat", ["runs", "mean", "last"])
def test_rows_of_other_agents_are_series_whatever_repeat_says(tmp_path: Path, repeat: str) -> None:
    """The only column of words that divides the rows of each step names the series."""
    found = describe(tmp_path, AGENTS, f"repeat: {repeat}\n")
    assert found["series"] == ["oak", "pine", "yew"]
    assert len(found["runs"]) == {"runs": 9, "mean": 3, "last": 3}[repeat]
    answers = AGENTS.replace("iteration,reward", "problem,score")
    assert describe(tmp_path, answers, f"repeat: {repeat}\n")["series"] == ["oak", "pine", "yew"]


@pytest.mark.parametrize("repeat", ["runs", "mean", "last"])
@pytest.mark.parametrize(
    ("columns", "words", "settings", "series"),
    [
        (("model", "optimizer", "step", "loss"), (("A", "B"), ("adam", "sgd")), "", "[model, optimizer]"),
        (("model", "template", "problem", "score"), (("A", "B"), ("long", "short")), "", "[model, template]"),
        (("agent", "env", "step", "reward"), (("oak", "yew"), ("maze", "cave")), "", "[agent, env]"),
        (
            ("model", "agent", "benchmark", "score"),
            (("A", "B"), ("oak", "yew")),
            "form: totals\n",
            "[model, agent]",
        ),
    ],
)
def test_repeat_does_not_merge_rows_that_differ_in_words_without_a_warning(  # noqa: PLR0917 - the cases
    tmp_path: Path,
    columns: tuple[str, ...],
    words: tuple[tuple[str, ...], ...],
    settings: str,
    series: str,
    repeat: str,
) -> None:
    """The line that compares them ends the warning, and so does one that says what is meant."""
    text = write_rows(*columns, words=words)
    (problem,) = describe(tmp_path, text, f"{settings}repeat: {repeat}\n")["problems"]
    assert (problem["severity"], f"columns: {{series: {series}}}" in problem["next_step"]) == (
        "warning",
        True,
    )
    for said in (f"series: {series}", f"series: {columns[0]}"):
        stated = f"{settings}repeat: {repeat}\ncolumns: {{{said}}}\n"
        assert describe(tmp_path, text, stated)["problems"] == []


@pytest.mark.parametrize(
    ("text", "series"),
    [
        (AGENTS, 3),
        (write_rows("model", "optimizer", "step", "loss", words=(("A", "B"), ("adam", "sgd"))), 4),
        # Words that change along the steps, remarks and nothing divide no rows.
        ("step,loss,phase\n" + "0,1,warm\n1,2,main\n2,3,main\n0,2,warm\n1,3,main\n2,1,main\n", 1),
        ("step,loss,status\n" + "0,1,ok\n1,2,slow\n2,3,ok\n0,2,slow\n1,3,ok\n2,1,ok\n", 1),
    ],
)
def test_the_suggested_settings_explain_repeated_steps(tmp_path: Path, text: str, series: int) -> None:
    """Pasted, they leave no problem: runs that begin anew, of the series that words name."""
    found = describe(tmp_path, text)
    assert [problem["severity"] for problem in found["problems"]] == ["error"]
    followed = describe(tmp_path, text, found["suggested"]["source.yml"])
    assert (followed["problems"], len(followed["series"])) == ([], series)


def test_a_column_of_words_that_nothing_is_compared_by_ends_in_no_traceback(tmp_path: Path) -> None:
    """A resumed run with a mark at its rows is one run."""
    rows = [f"{step},{step / 10},no" for step in range(6)] + [
        f"{step},{step / 9},yes" for step in range(3, 9)
    ]
    found = describe(tmp_path, "step,loss,resumed\n" + "\n".join(rows) + "\n")
    assert (len(found["runs"]), found["problems"]) == (1, [])


_MAPPED = (
    "format: mapped\nform: totals\nrows: $.results[*]\n"
    "columns: {series: ^.model, benchmark: '@', score: $.pass_1}\n"
)


def describe_submissions(folder: Path, settings: str, *headers: Mapping[str, object]) -> dict[str, Any]:
    """What the command prints of submissions with these words beside the name of the model."""
    for index, header in enumerate(headers):
        path = folder / "source" / "abcdef"[index] / "submission.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        results = {name: {"pass_1": 50.0 + index} for name in ("shop", "bank")}
        path.write_text(json.dumps({**header, "results": results}))
    (folder / "source/source.yml").write_text(settings)
    found: dict[str, Any] = json.loads(call(folder, "describe", "source", "--format", "json").stdout)
    return found


def test_submissions_of_one_name_and_other_settings_are_a_warning_with_both_files(tmp_path: Path) -> None:
    """It names what differs, and either line of it ends it."""
    headers = ({"model": "Elm", "effort": "high"}, {"model": "Elm", "effort": "none"}, {"model": "Fir"})
    found = describe_submissions(tmp_path, _MAPPED, *headers)
    (problem,) = found["problems"]
    assert (problem["file"], problem["severity"]) == ("source/b/submission.json", "warning")
    assert '"effort"' in problem["message"]
    assert "source/a/submission.json" in problem["message"]
    assert "columns: {series: [^.model, ^.effort]}" in problem["next_step"]
    both = _MAPPED.replace("^.model", "[^.model, ^.effort]")
    compared = describe_submissions(tmp_path, both, *headers[:2])
    assert compared["series"] == ["Elm, effort=high", "Elm, effort=none", "Fir"]
    assert compared["problems"] == []
    runs = describe_submissions(tmp_path, _MAPPED.replace("^.model", "^.model, run: ^.effort"), *headers)
    assert (runs["series"], runs["problems"]) == (["Elm", "Fir"], [])


def test_submissions_of_one_name_and_another_temperature_are_a_warning(tmp_path: Path) -> None:
    """A number may be a setting, too."""
    for name in ("temp", "temperature", "lr"):
        headers = ({"model": "Elm", name: 0.0}, {"model": "Elm", name: 1.0}, {"model": "Fir", name: 0.0})
        (problem,) = describe_submissions(tmp_path, _MAPPED, *headers)["problems"]
        assert f'"{name}"' in problem["message"]


_FORMS = {
    "curves": ("model,{name},step,loss", ["GPT,{value},0,0.{digit}", "GPT,{value},1,0.2{digit}"], ""),
    "answers": ("model,{name},problem,correct", ["GPT,{value},q1,{digit}", "GPT,{value},q2,1"], ""),
    "totals": ("model,{name},benchmark,score", ["GPT,{value},shop,0.{digit}"], "form: totals\n"),
    "wide": (
        "model,{name},MMLU,GSM8K",
        ["GPT,{value},0.{digit},0.5"],
        "form: wide\nmetrics: [MMLU, GSM8K]\n",
    ),
}


def describe_files(
    folder: Path, form: str, name: str, values: Sequence[object], more: str = ""
) -> dict[str, Any]:
    """What the command prints of files of one model, each with a value in one more column."""
    head, rows, settings = _FORMS[form]
    for digit, value in enumerate(values):
        lines = [head, *rows]
        text = "\n".join(line.format(name=name, value=value, digit=digit) for line in lines)
        (folder / "source").mkdir(exist_ok=True)
        (folder / "source" / f"{'abc'[digit]}.csv").write_text(text + "\n")
    (folder / "source/source.yml").write_text(settings + more)
    found: dict[str, Any] = json.loads(call(folder, "describe", "source", "--format", "json").stdout)
    return found


@pytest.mark.parametrize("form", _FORMS)
def test_files_of_one_model_that_differ_in_a_setting_are_reported(tmp_path: Path, form: str) -> None:
    """Words and numbers, also without a repetition, and the line of the message ends it."""
    for name, values in {
        "temperature": (0, 1),
        "lr": (0.1, 0.3),
        "n_shot": (0, 5),
        "effort": ("low", "high"),
    }.items():
        found = describe_files(tmp_path, form, name, values)
        assert [f'"{name}"' in one["message"] for one in found["problems"]] == [True]
        line = f"columns: {{series: [model, {name}]}}"
        assert line in found["problems"][0]["next_step"]
        assert describe_files(tmp_path, form, name, values, line)["problems"] == []


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("name", ["seed", "run", "params", "latency_ms", "run_number", "date", "best_acc"])
def test_files_of_one_model_that_differ_in_what_describes_a_run_are_runs(
    tmp_path: Path, form: str, name: str
) -> None:
    """Sizes, times, results and names of runs are no settings."""
    assert describe_files(tmp_path, form, name, (1, 2))["problems"] == []


def test_submissions_of_one_name_with_other_metadata_are_runs(tmp_path: Path) -> None:
    """Dates, notes, numbers and ids are not what a comparison is about."""
    headers = (
        {
            "model": "Elm",
            "effort": "high",
            "date": "2026-01-05",
            "notes": "first",
            "commit": "82e10ab",
            "n": 3,
            "seconds": 12.5,
        },
        {
            "model": "Elm",
            "effort": "high",
            "date": "2026-01-06",
            "notes": "again",
            "commit": "9a0cc12",
            "n": 4,
            "seconds": 13,
        },
    )
    assert describe_submissions(tmp_path, _MAPPED, *headers)["problems"] == []


def test_a_row_a_run_with_several_metrics_is_drawn_over_what_is_the_same_in_each_series(
    tmp_path: Path,
) -> None:
    """As totals, its loss, sizes and compute would be gone."""
    lines = ["model,seed,params,compute,loss,accuracy"]
    for size, seed in product((2, 4, 8), (1, 2, 3)):
        lines.append(
            f"mlp-{size},{seed},{size * 10},{size * 600},{3 / size + seed / 90},{1 - 1 / size - seed / 80}"
        )
    text = "\n".join(lines) + "\n"
    found = describe(tmp_path, text)
    assert found["suggested"]["source.yml"] == "columns:\n  step: params\n"
    followed = describe(tmp_path, text, found["suggested"]["source.yml"])
    assert (followed["problems"], len(followed["runs"])) == ([], 9)
    assert [metric["name"] for metric in followed["metrics"]] == ["compute", "loss", "accuracy"]
