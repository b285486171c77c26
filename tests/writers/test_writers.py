"""Files by the real loggers and by Inspect: what was logged is what is read, exactly.

The small files of ``tests/data`` are what their scripts write, and name no folder of a machine.
"""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_files import copy_kept
from made_logs import read_zip

from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from writers.writing import (
    assert_evaluated,
    assert_read,
    bits,
    read_evaluations,
    read_runs,
    rows_of,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writers.writing import Written

MLFLOW = {
    "4 runs of 13 are deleted in MLflow: left out",
    "MLflow says that the run failed: its values end there",
    "MLflow says that the run was killed: its values end there",
}
# What is told of each format's runs.
FINDINGS: dict[str, set[str]] = {
    "dvclive": set(),
    "mlflow_files": MLFLOW,
    "mlflow_sqlite": MLFLOW,
    "tensorboard": {
        (
            "the run was resumed, or several processes wrote it: this file goes back over 20 steps of "
            "earlier files (100 to 119); the rows of all are kept, the later ones last"
        ),
    },
    "trackio": set(),
    "wandb": {
        'the run draws "val/*" over "epoch": steps here are _step, and "x: epoch" in a block does the same'
    },
}


@pytest.fixture(scope="module", params=FINDINGS)
def logged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Runs by one logger."""
    return written(request.param, tmp_path_factory.mktemp(request.param))


def test_what_was_logged_is_what_is_read(logged: Written) -> None:
    """Every run, setting, step and value, and nothing else."""
    runs = read_runs(logged.format, logged.folder)
    assert_read(logged.folder, logged.told.runs, runs)


def test_what_is_irregular_is_told(logged: Written) -> None:
    """The writers are whole, so that few things are to be told, and those are true."""
    runs = read_runs(logged.format, logged.folder)
    assert {finding.message for run in runs for finding in run.findings} == FINDINGS[logged.format]


def test_one_metric_alone_is_the_same(logged: Written) -> None:
    """Who asks for one metric gets it with every step and value, and no other."""
    metric = next(iter(logged.told.runs[0].metrics))
    told = {run.path + run.name: run.metrics.get(metric) for run in logged.told.runs}
    for run in read_runs(logged.format, logged.folder, [metric]):
        rows = told[str(run.path.relative_to(logged.folder)) + run.name]
        points = run.metrics.get(metric)
        assert set(run.metrics) <= {metric}
        assert (points is None) == (rows is None)
        if points is not None and rows is not None:
            assert points.steps.tolist() == [step for step, _ in rows]
            assert bits(points.values.tolist()) == bits([value for _, value in rows])


def test_a_source_has_every_row(logged: Written) -> None:
    """A folder, opened as a report opens it, has every row of a metric under its run."""
    metric = next(iter(logged.told.runs[0].metrics))
    expected = sorted(
        (step, *bits([value])) for run in logged.told.runs for step, value in run.metrics.get(metric, [])
    )
    assert sorted((step, value) for *_, step, value in rows_of(logged.folder, metric)) == expected


FAILED = "1 sample failed (first error: RuntimeError('the tool fell over'))"
EVALUATED: dict[str, set[str]] = {
    "epochs": set(),
    "failed": {FAILED, "the evaluation failed: RuntimeError('the tool fell over')"},
    "plain": set(),
    "reducers": set(),
    "several": {"clustered has 2 standard errors (0.211, 0.333 clustered by level): the first is taken"},
    "tolerated": {
        FAILED,
        (
            "accuracy (match) is over 5 of 6 samples: the 1 without a score counts neither as right nor as "
            "wrong"
        ),
    },
    "unlogged": set(),
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Evaluations of every kind."""
    return written("inspect", tmp_path_factory.mktemp("inspect"))


def test_what_was_scored_is_what_is_read(scored: Written) -> None:
    """Every answer and total of every log."""
    evaluations = read_evaluations(scored.format, scored.folder)
    assert_evaluated(scored.folder, scored.told.evaluations, evaluations)


def test_failures_of_evaluations_are_reported(scored: Written) -> None:
    """Failures, and nothing else, are told of the logs that have them."""
    told: dict[str, set[str]] = {}
    for one in read_evaluations(scored.format, scored.folder):
        told.setdefault(one.benchmark, set()).update(finding.message for finding in one.findings)
    assert told == EVALUATED


def test_a_source_has_every_answer(scored: Written) -> None:
    """A folder, opened as a report opens it, has the answers of a benchmark by one scorer."""
    told = next(
        one for one in scored.told.evaluations if one.benchmark == "plain" and one.path.endswith(".eval")
    )
    root, source = open_path(scored.folder / told.path, load_settings=load_source_settings)
    assert source.kind == "outcomes"
    found = read_outcomes(root, source)
    with found.reading():
        rows = found.frame.collect().to_pandas()
    assert set(rows["series"]) == {told.model}
    answers = zip(rows["problem"], rows["score"], rows["answer"], rows["gold"], strict=True)
    assert sorted(answers) == sorted(
        (problem, score, answer, gold) for problem, _, _, score, answer, gold in told.answers
    )


KEPT = Path(__file__).parents[1] / "data"
PACKED = ".gz"
# Databases begin as hundreds of kilobytes of empty pages.
TO_PACK = {".db"}
README = """# Files by {writers}

Written by `tests/writers/write_{script}.py` with {versions}.
Read by `tests/test_read_mutated.py`. `make test-writers ACCEPT=1` writes them anew.
Databases are packed with gzip.
"""
LOGGERS = ["dvclive", "mlflow_files", "mlflow_sqlite", "tensorboard", "trackio", "wandb"]
LARGEST = 100_000
MACHINE = re.compile(rb"/(?:tmp|work|home|root|Users)/|pytest")


@pytest.mark.parametrize("form", LOGGERS)
def test_kept_runs_are_what_their_script_logs(
    form: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Whoever changes a script accepts what it writes; a new version of a writer need not be accepted."""
    fresh = written(form, tmp_path / "fresh", small=True)
    assert_read(fresh.folder, fresh.told.runs, read_runs(form, fresh.folder))
    if request.config.getoption("--accept"):
        keep(form, fresh.folder, fresh.told.writers)
    folder = unpacked(form, tmp_path / "kept")
    assert_read(folder, fresh.told.runs, read_runs(form, folder), places=False)


def test_kept_evaluations_are_what_their_script_logs(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The same for the logs of a harness."""
    fresh = written("inspect", tmp_path / "fresh", small=True)
    if request.config.getoption("--accept"):
        keep("inspect", fresh.folder, fresh.told.writers)
    folder = unpacked("inspect", tmp_path / "kept")
    read = read_evaluations("inspect", folder)
    assert_evaluated(folder, fresh.told.evaluations, read, places=False)


def test_kept_files_are_small_and_tell_nothing_of_a_machine(tmp_path: Path) -> None:
    """No folder of whoever ran the script stands in them."""
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < LARGEST
    for form in sorted(path.name for path in KEPT.iterdir()):
        for path in unpacked(form, tmp_path / form).rglob("*"):
            for content in contents(path):
                assert not MACHINE.search(content), path


def contents(path: Path) -> Iterator[bytes]:
    """What stands in a file, and in the members of an archive."""
    if path.suffix == ".eval":
        yield from read_zip(path.read_bytes()).values()
    elif path.is_file():
        yield path.read_bytes()


def unpacked(form: str, room: Path) -> Path:
    """The files of a format as their writer left them, in a folder called ``data``."""
    room.mkdir(parents=True, exist_ok=True)
    copy_kept(f"tests/data/{form}", room / "data")
    return room / "data"


def keep(form: str, folder: Path, writers: dict[str, str]) -> None:
    """Put files in place of those that are kept, and say what wrote them."""
    target = KEPT / form
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in TO_PACK:
            packed = gzip.compress(path.read_bytes(), mtime=0)
            place.with_name(place.name + PACKED).write_bytes(packed)
        elif path.stat().st_size:
            shutil.copyfile(path, place)
    versions = " and ".join(f"{name} {version}" for name, version in writers.items())
    text = README.format(script=form.partition("_")[0], writers=" and ".join(writers), versions=versions)
    (target / "README.md").write_text(text, encoding="utf-8")
