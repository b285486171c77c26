"""Logs by Inspect: what it holds in memory is what is read from its archives and JSON files, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from writers.writing import assert_evaluated, read_evaluations, written

if TYPE_CHECKING:
    from writers.writing import Written

FAILED = "1 sample failed (first error: RuntimeError('the tool fell over'))"
FINDINGS: dict[str, set[str]] = {
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
def logged(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Evaluations of every kind."""
    return written("inspect", tmp_path_factory.mktemp("inspect"))


def test_what_was_scored_is_what_is_read(logged: Written) -> None:
    """Every answer and total of every log."""
    evaluations = read_evaluations(logged.format, logged.folder)
    assert_evaluated(logged.folder, logged.told.evaluations, evaluations)


def test_what_is_irregular_is_told(logged: Written) -> None:
    """Failures, and nothing else, are told of the logs that have them."""
    told: dict[str, set[str]] = {}
    for one in read_evaluations(logged.format, logged.folder):
        told.setdefault(one.benchmark, set()).update(finding.message for finding in one.findings)
    assert told == FINDINGS


def test_a_source_has_every_answer(logged: Written) -> None:
    """A folder, opened as a report opens it, has the answers of a benchmark by one scorer."""
    told = next(
        one for one in logged.told.evaluations if one.benchmark == "plain" and one.path.endswith(".eval")
    )
    root, source = open_path(logged.folder / told.path, load_settings=load_source_settings)
    assert source.kind == "outcomes"
    found = read_outcomes(root, source)
    with found.reading():
        rows = found.frame.collect().to_pandas()
    assert set(rows["series"]) == {told.model}
    answers = zip(rows["problem"], rows["score"], rows["answer"], rows["gold"], strict=True)
    assert sorted(answers) == sorted(
        (problem, score, answer, gold) for problem, _, _, score, answer, gold in told.answers
    )
