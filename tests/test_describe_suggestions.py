"""What ``reportgen describe`` suggests works: pasted into a fresh report, it draws one figure."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from command_line import call
from kept_files import KEPT, unpacked
from made_folders import KINDS, made
from made_projects import write_file, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.model import Figure, Stack
from reportgen.draft import describing
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "data").glob("*/source.yml"))
WRITTEN = sorted(path.parent.name for path in KEPT.glob("*/README.md"))


def suggested(root: Path, name: str) -> Figure | None:
    """The figure that comes first when everything that is suggested is pasted."""
    cache, hashes = Cache(cache_folder(root)), FileHashes(cache_folder(root))
    told = describing.describe_path(root / "data" / name, root, name, hashes, cache)
    path = root / "data" / name / "source.yml"
    if settings := describing.suggest_settings(told)["settled"]:
        write_file(path, (path.read_text() if path.exists() else "") + settings)
    block = describing.suggest_block(told)
    told = describing.describe_path(root / "data" / name, root, name, hashes, cache)
    assert block in {describing.suggest_block(told), ""}
    block = describing.suggest_block(told)
    assert block, told.problems
    write_file(root / "content" / "index.md", f"# Pasted\n\n{block}")
    report = draft(Project(root, "content", ("index.md",), ProjectSettings()), cache, hashes)
    shown, *more = report.shown.values()
    assert len(more) == block.count("```comparison")
    first = shown.parts[0] if isinstance(shown, Stack) else shown
    return first if isinstance(first, Figure) else None


def a_report(root: Path) -> Path:
    """A report without data."""
    return write_report(root, {"data/runs.csv": None, "content/index.md": "# Empty\n"})


@pytest.mark.parametrize("kind", KINDS)
def test_for_what_trainers_and_harnesses_leave(tmp_path: Path, kind: str) -> None:
    """Folders as small as they come."""
    root = a_report(tmp_path / "report")
    made(root / "data", kind)
    assert suggested(root, kind)


@pytest.mark.parametrize("name", WRITTEN)
def test_for_what_the_real_writers_wrote(tmp_path: Path, name: str) -> None:
    """The kept folders of each writer."""
    root = a_report(tmp_path / "report")
    shutil.move(unpacked(name, tmp_path), root / "data" / name)
    assert suggested(root, name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_for_the_example_data(tmp_path: Path, name: str) -> None:
    """With the settings that they have."""
    root = a_report(tmp_path / "report")
    shutil.copytree(ROOT / "data" / name, root / "data" / name)
    assert suggested(root, name)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.endswith("-example")])
def test_for_the_example_data_as_it_was_left(tmp_path: Path, name: str) -> None:
    """Without any settings, as a newcomer has it."""
    root = a_report(tmp_path / "report")
    shutil.copytree(ROOT / "data" / name, root / "data" / name, ignore=shutil.ignore_patterns("source.yml"))
    assert suggested(root, name)


def test_many_single_runs_are_grouped_by_a_setting(tmp_path: Path) -> None:
    """By one that has several runs of each value, and neither by a seed nor by what tells every run apart."""
    root = a_report(tmp_path / "report")
    for number in range(10):
        folder = root / f"data/s/method-{'abcdefghij'[number]}"
        write_file(folder / "metrics.csv", f"epoch,step,val_acc\n0,1,0.{number}\n0,2,0.{number + 1}\n")
        write_file(
            folder / "hparams.yaml", f"lr: {0.1 if number < 5 else 0.01}\nseed: {number}\nwidth: {number}\n"
        )
    assert suggested(root, "s")
    page = (root / "content/index.md").read_text(encoding="utf-8")
    assert "by: lr\nother_x: auto\ntitle: Validation accuracy\n" in page


@pytest.mark.parametrize("column", ["date", "lr", "seed_number", "evaluation_date", "created_at"])
def test_settings_and_dates_are_no_steps(tmp_path: Path, column: str) -> None:
    """Though they go up from row to row."""
    values = ["2026-11-01", "2026-11-02"] if "date" in column or "at" in column else ["0.1", "0.2"]
    rows = "".join(f"{model},{value},0.5\n" for model in "AB" for value in values)
    write_file(tmp_path / "s.csv", f"model,{column},acc\n{rows}")
    told = describing.describe_path(tmp_path / "s.csv", tmp_path, "", FileHashes(tmp_path / "h"), None)
    assert "columns" not in told.settings


@pytest.mark.parametrize(
    ("metric", "title"),
    [
        ("val_acc", "Validation accuracy"),
        ("train/loss", "Training loss"),
        ("pass@1", "Pass@1"),
        ("net generation (GWh)", "Net generation (GWh)"),
    ],
)
def test_titles_are_words(tmp_path: Path, metric: str, title: str) -> None:
    """As a person writes them."""
    write_file(tmp_path / "s.csv", f"step,{metric}\n1,0.5\n2,0.6\n")
    told = describing.describe_path(tmp_path / "s.csv", tmp_path, "", FileHashes(tmp_path / "h"), None)
    assert f"title: {title}\n" in describing.suggest_block(told)


@pytest.mark.parametrize(
    ("table", "suggested"),
    [
        ("model,accuracy,n\nElm,51.2%,500\nFir,60%,500\n", "form: totals\n"),
        ("task,score,stderr\nA,0.5,0.02\nB,0.6,0.02\n", "form: totals\n"),
        ("model,f1\nElm,0.5\nFir,0.6\n", "form: totals\ncolumns:\n  score: f1\n"),
    ],
)
def test_scores_without_steps_are_totals(tmp_path: Path, table: str, suggested: str) -> None:
    """What describe suggests can be read; an error about the step says it as well."""
    (tmp_path / "s.csv").write_text(table, encoding="utf-8")
    done = call(tmp_path, "describe", "s.csv")
    assert suggested in done.stdout
    assert "If a row is a score of a whole benchmark, say form: totals" in done.stdout
    (tmp_path / "s.source.yml").write_text(suggested, encoding="utf-8")
    done = call(tmp_path, "describe", "s.csv")
    assert done.returncode == 0
    assert "2 totals" in done.stdout


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("model,score", ["0.5"]),
        ("model,lr,accuracy", ["1e-4,0.5", "3e-4,0.5"]),
        ("model,date,accuracy", ["2026-11-01,0.5", "2026-11-02,0.6"]),
        ("model,benchmark,fewshot,score", ["A,0,0.5", "A,5,0.6"]),
        ("model,benchmark,score", ["A,0.5", "A,0.6"]),
    ],
)
def test_rows_of_one_model_and_benchmark_are_no_totals(tmp_path: Path, header: str, cells: list[str]) -> None:
    """No key distinguishes them: neither describe nor an error suggests ``form: totals``."""
    rows = "".join(f"{model},{cell}\n" for model in ("Elm", "Fir") for cell in (cells * 2)[:2])
    (tmp_path / "s.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    done = call(tmp_path, "describe", "s.csv")
    assert "form: totals\n" not in done.stdout
    assert "say form: totals" not in done.stdout
    assert "step:" not in done.stdout.partition("To write into")[2]
    assert "known as the step" in done.stdout or "repeat a benchmark of their run" in done.stdout


@pytest.mark.parametrize(
    ("table", "suggested"),
    [
        ("model,task,seed,score,stderr\nElm,A,1,0.5,0.02\nElm,A,2,0.6,0.02\n", "form: totals\n"),
        ("Model,Dataset,f1\nElm,A,0.5\nFir,A,0.6\n", "form: totals\ncolumns:\n  score: f1\n"),
        ("model,benchmark,metric,value\nElm,A,acc,0.5\nFir,A,acc,0.6\n", "form: totals\n"),
    ],
)
def test_scores_of_models_on_benchmarks_need_no_step(tmp_path: Path, table: str, suggested: str) -> None:
    """A table that names both is one of totals; what describe suggests says so, once."""
    (tmp_path / "s.csv").write_text(table, encoding="utf-8")
    told = describing.describe_path(tmp_path / "s.csv", tmp_path, "", FileHashes(tmp_path / "h"), None)
    assert (told.kind, told.problems) == ("totals", ())
    assert [one.value for one in told.counts.totals] == [0.5, 0.6]
    assert describing.suggest_settings(told)["settled"] == suggested
    (tmp_path / "s.source.yml").write_text(suggested, encoding="utf-8")
    told = describing.describe_path(tmp_path / "s.csv", tmp_path, "", FileHashes(tmp_path / "h"), None)
    assert (told.kind, describing.suggest_settings(told)["settled"]) == ("totals", "")


@pytest.mark.parametrize(
    "table",
    [
        ",AIME,AIME,MATH,MATH\nmodel,acc,len,acc,len\nElm,0.5,100,0.6,120\nFir,0.7,110,0.8,130\n",
        "model,benchmark,metric,score\nElm,AIME,acc,0.5\nElm,AIME,len,100\nFir,AIME,acc,0.7\nFir,AIME,len,110\n",
    ],
)
def test_totals_of_several_metrics_are_listed_and_one_is_suggested(tmp_path: Path, table: str) -> None:
    """A block shows one metric: with the suggested filter, what describe suggests can be drawn."""
    root = write_report(tmp_path)
    write_file(root / "data" / "s.csv", table)
    described = call(root, "describe", "data/s.csv")
    assert "there are totals of acc and len, and a block shows those of one metric" in described.stdout
    assert "  metric: acc\n" in described.stdout
    for series, metric, score in (("Elm", "acc", "0.5"), ("Fir", "len", "110")):
        assert re.search(rf"{series} +AIME +{metric} +{score}\n", described.stdout)
    settings = described.stdout.partition("left to a guess\n")[2].partition("\n\n")[0]
    block = "".join(re.findall(r"```scores.*?```\n", described.stdout, re.DOTALL))
    write_file(root / "data" / "s.source.yml", f"{settings}\n")
    write_file(root / "content" / "index.md", f"# Totals\n\n{block}")
    assert call(root, "check").returncode == 0
