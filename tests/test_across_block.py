"""The ``comparison`` block on several benchmarks: scores, verdicts against the baseline, the average."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from made_figures import HOSTILE
from made_outcomes import matrix
from made_scored import score_context

from reportgen.core.comparisons import OutcomeNotes
from reportgen.core.model import ResultTable
from reportgen.figures.scores.across import AVERAGE, draw_across
from reportgen.figures.scores.wording import format_score_estimate
from reportgen.settings.score_blocks import ComparisonSettings
from reportgen.statistics.compare import compare_all, compare_benchmarks
from reportgen.statistics.power import estimate_power
from reportgen.statistics.scores import score_total

if TYPE_CHECKING:
    from reportgen.core.comparisons import ProblemScores, Score
    from reportgen.core.model import Stack

NAMES = ("A", "B", "C")


def benchmark(
    *rates: float, problems: int = 20, seed: int = 0, names: tuple[str, ...] = NAMES
) -> ProblemScores:
    """Real scores around these rates; each problem has noise of its own for every series."""
    noise = np.random.default_rng(seed).normal(0, 0.05, (len(rates), problems))
    values = np.clip(np.array(rates)[:, np.newaxis] + noise, 0, 1)
    return matrix(values[:, :, np.newaxis], series=names[: len(rates)])


BOTH = {"easy": benchmark(0.9, 0.9, 0.5), "hard": benchmark(0.4, 0.3, 0.1, seed=1)}


def block(
    parts: dict[str, ProblemScores],
    *,
    baseline: str | None = "B",
    given: dict[str, list[Score]] | None = None,
    context: dict[str, Any] | None = None,
    found: dict[str, OutcomeNotes] | None = None,
) -> Stack:
    """The block of these benchmarks."""
    across = compare_benchmarks(parts, given=given, baseline=baseline)
    powers = {name: estimate_power(compare_all(part)) for name, part in parts.items()}
    here = score_context(*across.series, **(context or {}))
    contexts = dict.fromkeys(across.benchmarks, here)
    return draw_across("all", ComparisonSettings(), across, powers, contexts, here, found=found)


def table(stack: Stack) -> ResultTable:
    """Series × benchmark."""
    (found,) = [part for part in stack.parts if isinstance(part, ResultTable)]
    return found


def cell(stack: Stack, series: str, column: str) -> list[str]:
    """The lines of a cell."""
    shown = table(stack)
    (row,) = [row for row in shown.rows if row[0].text == series]
    return row[shown.header.index(column)].text.split("\n")


def test_a_cell_has_score_verdict_difference_interval_and_p() -> None:
    """As the statistics give them; the average is a column of its own and comes first."""
    stack = block(BOTH)
    across = compare_benchmarks(BOTH, baseline="B")
    assert table(stack).header == ("series", AVERAGE, "easy", "hard")
    lines = cell(stack, "C", "hard")
    one = across.cells[2][1]
    assert one.against is not None
    assert one.against.difference is not None
    assert lines[0] == format_score_estimate(one.score, score_context(*NAMES))
    assert lines[1] == f"worse: −{100 * abs(one.against.difference):.1f}"
    assert lines[2].startswith("[−")
    assert lines[2].endswith("], p < 0.001")
    assert cell(stack, "A", "hard")[1].startswith("better: +")
    assert cell(stack, "A", "easy")[1].startswith("cannot tell: ")
    assert cell(stack, "B", "easy")[1:] == ["baseline"]
    assert cell(stack, "C", AVERAGE)[1].startswith("worse: ")
    marks = {row[0].text: [one.mark for one in row[1:]] for row in table(stack).rows}
    assert marks == {
        "A": ["better", "unclear", "better"],
        "B": ["self", "self", "self"],
        "C": ["worse", "worse", "worse"],
    }


def test_the_answer_is_about_the_average() -> None:
    """Who is better than the baseline stands first."""
    said = str(block(BOTH).parts[0])
    assert said.startswith("Against B, the baseline, on average (")
    assert "A is better; C is worse" in said


def test_a_missing_score_is_missing_and_leaves_no_average() -> None:
    """With the reason, in the cell and in the CSV file; the answer then goes by benchmark."""
    parts = {"easy": BOTH["easy"], "hard": benchmark(0.4, names=("A",))}
    stack = block(parts)
    assert cell(stack, "C", "hard")[0] == "missing"
    assert " ".join(cell(stack, "C", "hard")) == "missing C has no answers to hard"
    assert cell(stack, "C", AVERAGE)[0] == "missing"
    assert "no score on hard" in " ".join(cell(stack, "C", AVERAGE))
    assert "not compared:" in " ".join(cell(stack, "A", "hard"))
    rows = list(csv.DictReader(io.StringIO(table(stack).csv)))
    (row,) = [row for row in rows if (row["series"], row["benchmark"]) == ("C", "hard")]
    assert (row["score"], row["difference"], row["score_reason"]) == ("", "", "C has no answers to hard")
    said = str(stack.parts[0])
    assert "whose average cannot be compared. easy: C is worse; A shows no clear difference." in said


def test_scores_that_a_harness_reports_are_not_compared() -> None:
    """They have their interval and a reason."""
    given = {"total": [score_total(name, 0.5, 0.01, metric="acc", problems=0) for name in NAMES]}
    stack = block({"easy": BOTH["easy"]}, given=given)
    lines = cell(stack, "A", "total")
    assert lines[0] == "50.0% [48.0, 52.0]"
    assert "as reported" in " ".join(lines[1:])
    assert "difference on total has to be to be found is not known" in stack.caption
    alone = block({"easy": BOTH["easy"]}, given=given, baseline=None)
    assert cell(alone, "A", "total") == ["50.0% [48.0, 52.0]", "as reported"]


def test_without_a_baseline_nothing_is_tested() -> None:
    """The block says so instead of ranking."""
    stack = block(BOTH, baseline=None)
    assert "A has the best average: " in str(stack.parts[0])
    assert "Without a baseline nothing is tested" in str(stack.parts[0])
    assert not any("p =" in one.text for row in table(stack).rows for one in row)
    assert "sign-flip" not in stack.caption


def test_rows_stand_by_their_average() -> None:
    """Best first; the other way round where lower is better; without an average last."""
    assert [row[0].text for row in table(block(BOTH)).rows] == ["A", "B", "C"]
    lower = block(BOTH, context={"higher_is_better": False})
    assert [row[0].text for row in table(lower).rows] == ["C", "B", "A"]
    lacking = {"easy": BOTH["easy"], "hard": benchmark(0.1, 0.4, names=("B", "C"))}
    assert [row[0].text for row in table(block(lacking)).rows] == ["B", "C", "A"]


def test_each_benchmark_says_what_it_finds() -> None:
    """A sentence each, folded, and once what it means."""
    stack = block(BOTH)
    for name, part in BOTH.items():
        found = estimate_power(compare_all(part))
        assert found.difference is not None
        assert found.family_difference is not None
        alone, family = (f"{100 * one:.1f} points" for one in (found.difference, found.family_difference))
        basis = f"With the 20 problems of {name}, a true difference of {family} would be"
        whole = f"{basis} detected four times in five"
        assert f"{whole} among 3 comparisons. " in stack.caption
        assert (
            f"A single comparison on {name} would detect a true difference of {alone} four" in stack.caption
        )
    assert stack.caption.count("Detected: the comparison gets a verdict") == 1


def test_the_caption_says_how_every_number_came_about() -> None:
    """Estimands of scores, average and differences; the test; what was adjusted together."""
    found = {"easy": OutcomeNotes(replaced=2)}
    protocol = (("A", (("temperature", "0"),)), ("B", (("temperature", "1"),)))
    caption = block(BOTH, found=found, context={"protocol": protocol}).caption
    for said in (
        "95% CI of the score on other problems like these (Student's t over problems on the logit",
        "every benchmark counts once",
        "says nothing about other benchmarks",
        "two-sided test",
        "adjusted for 6 comparisons tested together",
        "easy: 2 rows were replaced",
        "easy: Mixed protocols: temperature is 0 for A, 1 for B",
        "Source: a source.",
    ):
        assert said in caption


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_break_no_table(name: str) -> None:
    """Of series and of benchmarks."""
    part = benchmark(0.5, 0.4, names=(name, "B"))
    stack = block({name: part, "x": part})
    rows = list(csv.reader(io.StringIO(table(stack).csv)))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == 1 + 2 * 3
