"""``reportgen describe``: the truth about a file or folder, and settings and a block that work."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import call, run_on_terminal
from made_folders import KINDS, TABLE, made
from made_projects import write_file, write_report

from reportgen.core.cache import cache_folder
from reportgen.core.errors import SourceLocation
from reportgen.core.statements import Counts, DescribedMetric
from reportgen.draft.describing import choose_metric
from reportgen.settings.loading import load_block, load_source_settings


def told(folder: Path, *words: str, code: int = 0) -> str:
    """What the command prints."""
    done = call(folder, "describe", *words)
    assert (done.returncode, done.stderr) == (code, ""), done.stderr
    return done.stdout


def known(folder: Path, path: str, code: int = 0) -> dict[str, Any]:
    """The same as JSON."""
    value: dict[str, Any] = json.loads(told(folder, path, "--format", "json", code=code))
    return value


# ---- text ---------------------------------------------------------------------------------------


def test_a_table_is_told_whole(tmp_path: Path) -> None:
    """What it is, how much, runs, metrics with steps and everything irregular, and a block to paste."""
    write_file(tmp_path / "runs.csv", TABLE)
    said = told(tmp_path, "runs.csv")
    assert said.startswith(
        "runs.csv – CSV, a column for each metric\n"
        f"2 series, 2 runs, 2 metrics and 15 values in 1 file ({len(TABLE)} bytes)\n"
    )
    assert 'Runs  series by the column "model", seeds by the column "seed"\n' in said
    assert re.search(r"\nA +1 +2 +9 +0 to 50\n", said)
    assert re.search(r"\nloss +2 +8 +0 to 50, every 10 +1 +2\.5 +2 steps missing, 1 step repeated, ", said)
    assert "1 NaN, 1 infinite" in said
    assert said.endswith("```curve\nsource: runs\nmetric: acc\ntitle: Accuracy\n```\n")
    assert "source.yml" not in said


def test_the_guide_shows_what_is_printed(tmp_path: Path) -> None:
    """The example of the guide, word for word."""
    guide = (Path(__file__).parent.parent / "content" / "guide" / "data.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n\$ reportgen describe runs\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert shown
    write_file(tmp_path / "runs" / "a.csv", TABLE)
    assert told(tmp_path, "runs").startswith(f"{shown[1]}\n")


def test_long_lists_are_cut_with_their_counts(tmp_path: Path) -> None:
    """Twenty rows are shown of each list; JSON has them all."""
    names = [f"m{number}" for number in range(300)]
    rows = "".join(f"A,{step},{','.join('1' for _ in names)}\n" for step in range(2))
    write_file(tmp_path / "wide.csv", f"model,step,{','.join(names)}\n{rows}")
    said = told(tmp_path, "wide.csv")
    assert "280 more metrics; --format json lists all." in said
    assert "m19 " in said
    assert "m20 " not in said
    assert [one["name"] for one in known(tmp_path, "wide.csv")["metrics"]] == names


def test_a_folder_without_data_says_what_it_holds(tmp_path: Path) -> None:
    """It cannot be read, which is an error for scripts, and the endings are told."""
    for name in ("a.png", "b.png", "notes.md"):
        write_file(tmp_path / "folder" / name, "text")
    said = told(tmp_path, "folder", code=1)
    assert said.startswith("folder – cannot be read as it is\n3 files not read: 2 .png and 1 .md\n")
    assert "error: the folder has no data file" in said
    assert "```" not in said


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """On the error channel, with nothing else."""
    done = call(tmp_path, "describe", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nowhere: error: there is no such file or folder")


def test_a_torn_line_and_a_wrong_cell_have_their_places(tmp_path: Path) -> None:
    """Problems name file and line; what can be told beside them is told."""
    write_file(tmp_path / "runs.csv", TABLE.replace("B,1,20,1,0.3", "B,1,20,much,0.3"))
    said = told(tmp_path, "runs.csv", code=1)
    assert "runs.csv:9: error: " in said
    assert "runs.csv – CSV" in said


def test_a_table_without_a_known_step_gets_one_suggested(tmp_path: Path) -> None:
    """The settings that are suggested make it readable."""
    write_file(tmp_path / "runs" / "log.csv", "model,train_tokens,loss\nA,1,2\nA,2,1\n")
    said = told(tmp_path, "runs", code=1)
    assert "columns:\n  step: train_tokens\n" in said
    write_file(tmp_path / "runs" / "source.yml", known_settings(said))
    assert "1 run, 1 metric and 2 values" in told(tmp_path, "runs")


def known_settings(said: str) -> str:
    """The suggested settings as they stand in the text."""
    found = re.search(
        r"source\.yml  (?:so that nothing is left to a guess|if \w+ is the step)\n(.*?)(?:\n\n|\Z)",
        said,
        re.DOTALL,
    )
    assert found
    return f"{found[1]}\n"


def test_names_cannot_give_the_terminal_orders(tmp_path: Path) -> None:
    """A metric's name is data; on a terminal the tables have headings."""
    write_file(tmp_path / "runs.csv", "model,step,\x1b[31mloss\nA,0,1\nA,1,2\n")
    said = run_on_terminal(tmp_path, "describe", "runs.csv", NO_COLOR="1")
    assert "\x1b[31m" not in said
    assert "lowest" in said


# ---- suggestions --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_suggested_is_valid_and_changes_nothing(tmp_path: Path, kind: str) -> None:
    """Settings and block load; with the settings in place runs are the same, and nothing is suggested."""
    path = made(tmp_path, kind)
    before = known(tmp_path, path)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", before["suggested"]["block"], re.DOTALL | re.MULTILINE)
    assert blocks
    for name, body in blocks:
        load_block(name, body, SourceLocation("page.md", 1))
    with (tmp_path / path / "source.yml").open("a") as file:
        file.write(before["suggested"]["source.yml"] or "# nothing to add\n")
    load_source_settings(tmp_path / path / "source.yml", "source.yml")
    after = known(tmp_path, path)
    assert [after[key] for key in ("runs", "metrics", "evaluations", "totals")] == [
        before[key] for key in ("runs", "metrics", "evaluations", "totals")
    ]
    assert after["suggested"]["source.yml"] == ""
    assert after["has_settings"]


def test_a_column_of_groups_of_questions_is_suggested_as_clusters(tmp_path: Path) -> None:
    """The finest of those that are called so and have each problem in one group; settings make it one."""
    rows = [f"{m},q{p},t{p // 2},{p % 2},s{p % 3},{p},1" for m in "AB" for p in range(8)]
    header = "model,problem,passage,topic,level,story_id,score"
    table = "\n".join([header, *rows])
    write_file(tmp_path / "data" / "answers.csv", table)
    said = told(tmp_path, "data")
    why = "if problems of one passage are answered right or wrong together"
    settings = "columns:\n  cluster: passage\n"
    assert f"To write into data/source.yml  {why}\n{settings}\n" in said
    assert known(tmp_path, "data")["suggested"]["source.yml for clusters"] == settings
    write_file(tmp_path / "data" / "source.yml", settings)
    assert "cluster" not in told(tmp_path, "data")
    (tmp_path / "data" / "source.yml").unlink()
    split = table.replace("B,q0,t0", "B,q0,t3").replace("topic", "kind")
    write_file(tmp_path / "data" / "answers.csv", split)
    assert known(tmp_path, "data")["suggested"]["source.yml for clusters"] == ""


def test_seeds_guessed_from_names_are_settled(tmp_path: Path) -> None:
    """The keys say what was guessed, and the guess is told no more."""
    said = known(tmp_path, made(tmp_path, "trainer_state"))
    assert [(one["series"], one["seed"]) for one in said["runs"]] == [("small", "1"), ("small", "2")]
    assert said["suggested"]["source.yml"].startswith("series_from: ")
    assert any("distinguished by" in one["message"] for one in said["problems"])
    (tmp_path / "trainer_state" / "source.yml").write_text(said["suggested"]["source.yml"])
    assert known(tmp_path, "trainer_state")["problems"] == []


def test_an_evaluation_has_problems_scores_and_totals(tmp_path: Path) -> None:
    """As the harness reports them, beside what its answers say."""
    said = told(tmp_path, made(tmp_path, "lm_eval"))
    assert "\nEvaluations  series by the model" in said
    assert "\nTotals  as the harness reports them\n" in said
    assert "```scores\nsource: lm_eval\n" in said


def measured(name: str, values: int = 10) -> DescribedMetric:
    """A metric of two runs."""
    return DescribedMetric(name, 2, values, 0.0, 9.0, 1.0, 0, 0, 0, 0, 0, 0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("critic/score/mean val-core/math/acc/mean@4 val-core/math/acc/std@4", "val-core/math/acc/mean@4"),
        ("system/gpu time/step train/loss", "train/loss"),
        ("loss eval_loss grad_norm", "eval_loss"),
        ("lr graduate/sentiment_acc", "graduate/sentiment_acc"),
        ("accept_rate kl", "accept_rate"),
        ("epoch perf/time", "epoch"),
    ],
)
def test_the_block_shows_what_a_report_is_about(names: str, first: str) -> None:
    """A score before a loss, both best of data held out; whole words of names count."""
    found = choose_metric(Counts(metrics=tuple(measured(name) for name in names.split())))
    assert found is not None
    assert found.name == first


def test_a_score_taken_once_at_the_end_is_no_curve() -> None:
    """Where another metric has one."""
    once, curve = measured("test/acc", 2), measured("val/loss")
    assert choose_metric(Counts(metrics=(once, curve))) == curve
    assert choose_metric(Counts(metrics=(once,))) == once
    assert choose_metric(Counts()) is None


def test_mapped_files_are_told_as_what_they_are(tmp_path: Path) -> None:
    """Not as the table that they become."""
    for seed in (1, 2):
        write_file(tmp_path / "runs" / f"A-{seed}.json", json.dumps({"log": [{"t": 1, "acc": 0.5}]}))
    settings = {
        "format": "mapped",
        "files": r"(?P<series>\w)-(?P<seed>\d)\.json",
        "rows": "$.log[*]",
        "columns": {"step": "$.t"},
        "fields": {"acc": "$.acc"},
    }
    write_file(tmp_path / "runs" / "source.yml", json.dumps(settings))
    said = told(tmp_path, "runs")
    assert said.startswith("runs – JSON mapped by source.yml, a column for each metric\n")
    assert "\nRuns  series by the pattern of files:, seeds by the pattern of files:\n" in said
    assert known(tmp_path, "runs")["format"] == "mapped"


def test_what_was_counted_outside_of_a_report_is_not_counted_again(tmp_path: Path) -> None:
    """The cache is that of the data's folder, where nothing is written; a changed file is read again."""
    table = tmp_path / "mine" / "a.csv"
    write_file(table, TABLE)
    first = known(tmp_path, "mine/a.csv")
    stored = sorted(cache_folder(table.parent).glob("??/*"))
    assert stored
    assert known(tmp_path, "mine/a.csv") == first
    assert sorted(cache_folder(table.parent).glob("??/*")) == stored
    assert list(table.parent.iterdir()) == [table]
    table.write_text(table.read_text("utf-8").replace("loss", "mass"), "utf-8")
    assert known(tmp_path, "mine/a.csv")["metrics"] != first["metrics"]


# ---- within a report ----------------------------------------------------------------------------


def test_a_source_of_a_report_has_its_name_and_uses_its_cache(tmp_path: Path) -> None:
    """The name is the path below the data folder; what was counted is not counted again."""
    root = write_report(tmp_path / "report", {"data/deep/runs/a.csv": TABLE})
    said = known(root / "data", "deep/runs")
    assert said["name"] == "deep/runs"
    assert said["path"] == "data/deep/runs"
    kept = sorted(cache_folder(root).glob("??/*"))
    assert kept
    assert known(root, "data/deep/runs") == said
    assert sorted(cache_folder(root).glob("??/*")) == kept


def test_the_data_folder_of_a_report_is_a_list_of_sources(tmp_path: Path) -> None:
    """No source of its own, whatever lies in it."""
    root = write_report(tmp_path / "report", {"data/deep/runs/a.csv": TABLE})
    said = told(root, "data")
    assert said.startswith("data – a folder of sources\n")
    assert re.search(r"^deep +CSV, a column for each metric ", said, re.MULTILINE)
    assert re.search(r"^runs +CSV, ", said, re.MULTILINE)
    assert "it holds 2 sources. Describe one" in said
    write_file(root / "data/deep/runs/source.yml", "title: Ours\n")
    said = told(root, "data")
    assert re.search(r"^deep/runs +CSV, ", said, re.MULTILINE)
    assert "it holds 2 sources. Describe one of them, as in reportgen describe data/deep/runs." in said
    write_file(root / "data/a.json", "{")
    write_file(root / "data/b.csv", TABLE)
    advised = re.search(r"as in reportgen describe (\S+)\.\n", told(root, "data"))
    assert advised
    assert advised[1] == "data/b.csv"
    assert told(root, advised[1])


def test_a_folder_of_different_data_is_a_list_of_sources(tmp_path: Path) -> None:
    """Tables that do not fit together, and folders of different loggers; one broken file is one line."""
    write_file(tmp_path / "all/runs.csv", TABLE)
    write_file(tmp_path / "all/answers.csv", "model,problem,correct\nA,p1,1\n")
    write_file(tmp_path / "all/broken.json", "{")
    said = known(tmp_path, "all")
    assert [(one["name"], one["kind"]) for one in said["sources"]] == [
        ("answers.csv", "outcomes"),
        ("broken.json", ""),
        ("runs.csv", "measurements"),
    ]
    assert said["sources"][1]["problem"].startswith("the file is not JSON")
    assert [problem["severity"] for problem in said["problems"]] == ["warning"]
    write_file(tmp_path / "two/broken.json", "{")
    made(tmp_path / "two", "wandb")
    made(tmp_path / "two", "trainer_state")
    said = known(tmp_path, "two")
    assert said["kind"] == "measurements"
    assert [one["name"] for one in said["sources"]] == ["broken.json", "trainer_state", "wandb"]
    (broken,) = [one for one in said["problems"] if one["file"] == "two/broken.json"]
    assert broken["message"].startswith("the file is not JSON")


def test_steps_that_are_no_whole_numbers_keep_a_distance(tmp_path: Path) -> None:
    """A tenth of an epoch is a tenth, whatever it is in binary; equal steps are repeated ones."""
    steps = [*range(12), 12, 12, 14]
    write_file(tmp_path / "runs.csv", "epoch,acc\n" + "".join(f"{step / 10},1\n" for step in steps))
    (metric,) = known(tmp_path, "runs.csv")["metrics"]
    assert (metric["every"], metric["holes"], metric["repeated"]) == (0.1, 1, 1)


def test_nothing_is_written_outside_of_a_report(tmp_path: Path) -> None:
    """Describing changes nothing."""
    path = made(tmp_path, "wandb")
    before = sorted(tmp_path.rglob("*"))
    told(tmp_path, path)
    assert sorted(tmp_path.rglob("*")) == before
