"""Messages for whoever calls an inner function with what pages and sources no longer let through."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from made_outcomes import outcomes

from reportgen.claims.language import ExpressionError, parse
from reportgen.core.comparisons import ScoresError
from reportgen.formats.evaluations import answer_lists, lm_eval
from reportgen.formats.runs import Unit, UnreadableError
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from pathlib import Path


def test_an_expression_of_nothing_is_refused() -> None:
    """Words in a page are refused before."""
    with pytest.raises(ExpressionError) as error:
        parse("  ")
    assert [fault.message for fault in error.value.faults] == ["The expression is empty"]


def test_a_file_that_changed_after_it_was_found_is_refused(tmp_path: Path) -> None:
    """What it holds now is named."""
    answers = tmp_path / "base.json"
    answers.write_text(json.dumps([{"id": 1, "question": "?", "responses": ["a"]}]), "utf-8")
    (unit,) = answer_lists.find_units([answers])
    answers.write_text('"answers"', "utf-8")
    with pytest.raises(UnreadableError, match="there are no records in the file"):
        list(answer_lists.read(unit))
    results = tmp_path / "m" / "results_2026-01-01T10-00-00.000000.json"
    results.parent.mkdir()
    results.write_text('["results"]', "utf-8")
    unit = Unit(lm_eval.NAME, results.parent, (results,))
    with pytest.raises(UnreadableError, match="an object is expected, and it holds a list"):
        list(lm_eval.read(unit))


def test_a_problem_in_two_clusters_without_files_is_named() -> None:
    """A source names the line instead."""
    made = outcomes([{"cluster": name, "series": name, "score": 1.0} for name in "xy"])
    with pytest.raises(ScoresError, match="problem p is in more than one cluster: x, y"):
        group_problem_scores(made)
