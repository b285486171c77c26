"""Runs by the real loggers: what was logged is what is read, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from writers.writing import assert_read, bits, read_runs, rows_of, written

if TYPE_CHECKING:
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
            "the run was resumed: this file goes back over 20 steps of earlier files (100 to 119); "
            "the rows of both are kept, the later ones last"
        ),
        "1 step beyond 2 to the power of 53: a double holds these only roughly",
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
