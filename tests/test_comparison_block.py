"""The ``comparison`` block on one benchmark: verdicts in words, and how every number came about."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from made_figures import HOSTILE
from made_outcomes import matrix
from made_scored import score_context, scored

from reportgen.core.errors import ReportError
from reportgen.core.model import Figure, ResultTable
from reportgen.core.words import describe_chance
from reportgen.figures.render import render_vega_lite
from reportgen.figures.scores.comparison import MOST_WHOLE, VERDICT_WORDS, collect_pairs, draw_comparison
from reportgen.settings.score_blocks import ComparisonSettings
from reportgen.statistics.verdicts import swap_sides

if TYPE_CHECKING:
    from reportgen.core.comparisons import ProblemScores
    from reportgen.core.model import Stack


def skilled(*skills: float, problems: int = 30, samples: int = 8, seed: int = 1) -> ProblemScores:
    """Series that differ by a shift in log-odds on the same problems; named A, B, C and so on."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(0, 1.5, problems)
    chance = 1 / (1 + np.exp(-(hard[np.newaxis] + np.array(skills)[:, np.newaxis])))
    drawn = generator.random((len(skills), problems, samples)) < chance[:, :, np.newaxis]
    return matrix(drawn.astype(np.float64))


def block(problems: ProblemScores, *, better: bool = True, **given: Any) -> Stack:  # noqa: ANN401 - settings
    """The block of these problem scores."""
    context = score_context(*problems.series, higher_is_better=better, lowest=problems.lowest)
    settings = ComparisonSettings.model_validate(given)
    return draw_comparison("pairs", settings, scored(problems, higher_is_better=better), context)


def parts(stack: Stack) -> tuple[ResultTable, Figure]:
    """The matrix and its picture."""
    (table,) = [part for part in stack.parts if isinstance(part, ResultTable)]
    (figure,) = [part for part in stack.parts if isinstance(part, Figure)]
    return table, figure


def cell(stack: Stack, row: str, column: str) -> list[str]:
    """The lines of a cell of the matrix."""
    table, _ = parts(stack)
    (found,) = [cells for cells in table.rows if cells[0].text == row]
    return found[table.header.index(column)].text.split("\n")


def constant(*rates: float, problems: int = 30) -> ProblemScores:
    """Real scores that differ between series by the same on every problem, but for a little."""
    wobble = np.linspace(-0.01, 0.01, problems)
    values = np.array([np.full(problems, rate) + (n % 2) * wobble for n, rate in enumerate(rates)])
    return matrix(values[:, :, np.newaxis])


def test_a_cell_says_verdict_difference_interval_and_adjusted_p() -> None:
    """Worked by hand: B is A less 0.1 and a wobble with mean 0 and sd 0.006, on 30 problems.

    The half-width is t(29) 0.00601/√30 = 2.045 x 0.0011 = 0.0022, in points 0.2; all 30 differences have
    one sign, so no flip reaches the mean and p is 1 in 20 001, twice that at most.
    """
    stack = block(constant(0.5, 0.4))
    assert cell(stack, "A", "B") == ["better", "+10.0 [+9.8, +10.2]", "p < 0.001"]
    table, _ = parts(stack)
    assert [[one.mark for one in row[1:]] for row in table.rows] == [["better"]]


def test_where_lower_is_better_a_smaller_score_is_better() -> None:
    """The difference keeps its sign, the verdict turns, and the caption says so."""
    stack = block(constant(0.5, 0.4), better=False)
    assert cell(stack, "B", "A")[:2] == ["better", "−10.0 [−10.2, −9.8]"]
    assert parts(stack)[0].rows[0][0].text == "B"
    assert "Lower is better" in stack.caption
    assert "left of 0 is better" in parts(stack)[1].subtitle


def test_series_that_cannot_be_told_apart_say_so() -> None:
    """Two equal series and one far below: nobody who reads the answer takes the tie for a win."""
    stack = block(skilled(1.0, 1.0, -2.0))
    assert parts(stack)[0].rows[0][1].text.startswith("cannot tell")
    said = str(stack.parts[0])
    assert said.startswith("Against ")
    assert "C is worse" in said
    assert "no clear difference" in said


def test_every_cell_is_the_comparison_seen_from_its_row() -> None:
    """The upper triangle holds the statistics' own numbers; the picture and the CSV file too."""
    problems = skilled(1.0, 0.6, 0.2, -1.0)
    found = scored(problems)
    pairs = collect_pairs(found, None, score_context(*problems.series))
    stack = block(problems)
    table, figure = parts(stack)
    for one in found.comparisons:
        assert pairs.by_pair[one.a, one.b] == one
        assert pairs.by_pair[one.b, one.a] == swap_sides(one)
        seen = one if pairs.series.index(one.a) < pairs.series.index(one.b) else swap_sides(one)
        (row,) = [row for row in table.rows if row[0].text == seen.a]
        here = row[table.header.index(seen.b)]
        assert here.sort == seen.difference
        assert here.text.startswith(VERDICT_WORDS[seen.verdict])
    assert [[bool(one.text) for one in row[1:]] for row in table.rows] == [
        [True, True, True],
        [False, True, True],
        [False, False, True],
    ]
    listed = list(csv.DictReader(io.StringIO(table.csv)))
    assert [(row["a"], row["b"]) for row in listed] == list(combinations("ABCD", 2))
    assert [float(row["adjusted_p"]) for row in listed] == pytest.approx(
        [one.adjusted_p for one in found.comparisons]
    )
    drawn = list(csv.DictReader(io.StringIO(str(figure.csv))))
    assert {row["b"] for row in drawn} == {pairs.reference}
    assert len(figure.table.rows) == len(found.comparisons)


def test_rows_are_best_first() -> None:
    """Whoever looks at the first row sees the best series."""
    table, _ = parts(block(skilled(-1.0, 2.0, 0.5)))
    assert [row[0].text for row in table.rows] == ["B", "C"]
    assert table.header[1:] == ("C", "A")


def test_all_differences_have_the_digits_of_the_typical_interval() -> None:
    """Intervals 0.02, 0.5 and 0.5 wide, half: one table has one precision, in pairs, picture and power."""
    steady, noise = np.full(30, 5.0), np.random.default_rng(4).normal(0, 1.4, 30)
    wobble = np.linspace(-0.1, 0.1, 30)
    scores = np.array([steady, steady - 1 + wobble, steady - 2 + noise])
    problems = matrix(scores[:, :, np.newaxis], highest=10.0)
    context = score_context("A", "B", "C", highest=10.0)
    stack = draw_comparison("pairs", ComparisonSettings(), scored(problems), context)
    table, figure = parts(stack)
    cells = [text for row in table.rows for one in row[1:] for text in one.text.split("\n")[1:2]]
    texts = [
        *cells,
        *(text for row in figure.table.rows for text in row[2:4]),
        *re.findall("of ([0-9.]+) w", str(stack)),
    ]
    assert {len(number) for text in texts for number in re.findall(r"\.(\d+)", text)} == {2}, texts


def test_too_few_shared_problems_decide_nothing() -> None:
    """Five problems are not tested: the cell says so and has no p."""
    stack = block(constant(0.5, 0.4, problems=5))
    verdict, _, last = cell(stack, "A", "B")
    assert (verdict, last) == ("too few", "5 problems shared")
    assert "B shares too few problems with it for a verdict" in str(stack.parts[0])


def test_no_shared_problem_is_missing_and_not_0() -> None:
    """Neither cell, picture nor CSV has a number."""
    values = np.full((2, 12, 1), np.nan)
    values[0, :6], values[1, 6:] = 0.25, 0.75
    stack = block(matrix(values))
    table, figure = parts(stack)
    assert cell(stack, "B", "A")[0] == "missing"
    assert "0 shared problems" in " ".join(cell(stack, "B", "A"))
    assert {one.mark for row in table.rows for one in row[1:]} == {"missing"}
    (row,) = csv.DictReader(io.StringIO(table.csv))
    assert row["difference"] == row["low"] == row["p"] == ""
    assert "missing" in str(figure.inline_svg)
    assert "circle" not in str(figure.inline_svg)
    assert "not known" in str(stack.parts[-1])


def test_problems_that_one_side_answered_are_counted_and_named() -> None:
    """In the data table, by series; with the number of shared problems."""
    values = np.random.default_rng(3).random((2, 10, 1))
    values[1, 2] = values[1, 7] = np.nan
    stack = block(matrix(values))
    _, figure = parts(stack)
    said = dict(zip(figure.table.header, figure.table.rows[0], strict=True))
    assert said["shared problems"] == "8"
    assert said["answered by one side only"] == "A: p00002 and p00007"
    assert "n = 8 problems shared by both" in stack.caption


def test_the_caption_says_how_every_number_came_about() -> None:
    """Estimand and interval, test and adjustment, thresholds, n and source."""
    caption = block(skilled(1.0, 0.5, -1.0)).caption
    for said in (
        "mean over shared problems of the difference in mean score, in points",
        "95% CI of the mean difference on other problems like these (Student's t over problems)",
        "each by itself, not adjusted",
        "two-sided test of the differences by problem",
        "adjusted for 3 pairs tested together",
        "adjusted p below 0.05 and an interval without 0",
        "Too few: under 6 shared problems",
        "n = 30 problems shared by every pair",
        "Detected: the comparison gets a verdict",
        "Source: a source.",
    ):
        assert said in caption


def test_the_caption_has_the_level_and_the_metric_that_were_asked_for() -> None:
    """Nothing in it is a fixed text about 95% and means."""
    problems = skilled(1.0, -1.0)
    found = scored(problems, "pass@k", 4)
    stack = draw_comparison(
        "pairs", ComparisonSettings(metric="pass@4"), found, score_context(*problems.series)
    )
    assert "difference in pass@4" in stack.caption
    assert "one comparison, so no adjustment" in stack.caption
    assert stack.subtitle.startswith("pass@4")


def test_the_caption_names_both_kinds_of_test_where_both_were_used() -> None:
    """A and B differ on 10 of 40 problems, which is counted out; C differs from both on all."""
    generator = np.random.default_rng(5)
    values = np.stack([generator.random(40)] * 3)
    values[1, :10] += 0.1
    values[2] *= generator.random(40)
    caption = block(matrix(np.minimum(values, 1.0)[:, :, np.newaxis])).caption
    assert "by problem (exact sign-flip and 20,000 seeded flips), adjusted" in caption


def test_mixed_protocols_and_cautions_are_told() -> None:
    """A difference may come from them."""
    problems = skilled(1.0, -1.0)
    protocol = (("A", (("temperature", "0.6"),)), ("B", (("temperature", "1.0"),)))
    context = score_context(
        *problems.series, protocol=protocol, approximate="read off a figure", notes=("So.",)
    )
    caption = draw_comparison("pairs", ComparisonSettings(), scored(problems), context).caption
    assert "Mixed protocols: temperature is 0.6 for A, 1.0 for B" in caption
    assert caption.partition("\n")[0].endswith("So. Source: a source (read off a figure).")


def test_many_series_keep_cells_short_and_the_rest_in_the_data_table() -> None:
    """Ten series: two lines a cell, all 45 pairs with every number under the picture."""
    count = MOST_WHOLE + 2
    stack = block(skilled(*np.linspace(2, -2, count)))
    table, figure = parts(stack)
    assert {one.text.count("\n") for row in table.rows for one in row[1:]} == {0, 1}
    assert len(figure.table.rows) == 45
    assert "The picture shows the first 9 of 45 pairs." in figure.table.note
    assert {"interval", "p", "adjusted p", "verdict", "test"} <= set(figure.table.header)
    assert "for 45 pairs" in stack.caption
    assert "the data table of the picture has intervals and p" in table.caption


def test_the_baseline_is_what_others_are_held_against() -> None:
    """The answer and the picture turn to it."""
    stack = block(skilled(2.0, 0.0, -2.0), baseline="B")
    _, figure = parts(stack)
    assert str(stack.parts[0]).startswith("Against B, the baseline (")
    assert "A is better; C is worse" in str(stack.parts[0])
    assert figure.title == "Difference to B"
    assert [name for name, _ in figure.legend] == ["A", "C"]


def test_a_baseline_that_is_not_there_is_a_problem_at_the_block() -> None:
    """With the names that are."""
    with pytest.raises(ReportError, match=r"content/page\.md:7: there is no series Z .* There are A, B"):
        block(skilled(1.0, -1.0), baseline="Z")


def test_the_power_stands_under_it() -> None:
    """The difference that is found four times in five among all pairs; folded, half of it and one pair."""
    found = scored(skilled(0.4, 0.2, -3.0))
    stack = draw_comparison("pairs", ComparisonSettings(), found, score_context("A", "B", "C"))
    said, power = str(stack.parts[-1]), found.power
    assert power is not None
    assert power.difference is not None
    assert power.family_difference is not None
    assert power.half is not None
    family, alone = (f"{100 * size:.1f} points" for size in (power.family_difference, power.difference))
    assert said == (
        f"With the 30 problems of Contest, a true difference of {family} would be detected four times in "
        "five among 3 pairs."
    )
    half = f"{50 * power.difference:.1f} points {describe_chance(power.half)}."
    single = f"A single comparison on Contest would detect a true difference of {alone} four times in five"
    assert f"{single}, and one of {half}" in stack.caption
    assert power.family_half is not None
    chance = describe_chance(power.family_half)
    smaller = (
        f"A true difference of {50 * power.family_difference:.1f} points would be detected {chance}. A single"
    )
    assert smaller in stack.caption


def test_one_series_has_nothing_to_compare() -> None:
    """No table, no picture, and a sentence that says so."""
    stack = block(skilled(1.0))
    assert all(isinstance(part, str) for part in stack.parts)
    assert "There is no other series" in str(stack.parts[0])


def test_identical_series_have_no_interval_without_width() -> None:
    """The bound on unseen problems is named, and the reason stands below."""
    same = skilled(0.5)
    stack = block(matrix(np.repeat(same.mean[:, :, np.newaxis], 2, axis=0)))
    verdict, difference, p = cell(stack, "A", "B")
    assert (verdict, difference[:5], p) == ("cannot tell", "0.0 [", "p > 0.999")
    low, high = difference[5:].strip("]").split(", ")
    assert low != high
    assert "all 30 problems have the same difference" in stack.caption


def test_the_order_of_series_in_the_data_changes_nothing() -> None:
    """Names travel with their numbers."""
    problems = skilled(1.0, 0.3, -1.0)
    turned = matrix(
        np.repeat(problems.mean[::-1, :, np.newaxis], 8, axis=2), series=tuple(reversed(problems.series))
    )
    straight = matrix(np.repeat(problems.mean[:, :, np.newaxis], 8, axis=2), series=problems.series)
    assert parts(block(turned))[0].rows == parts(block(straight))[0].rows


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_break_neither_picture_nor_table(name: str) -> None:
    """They stay text."""
    problems = matrix(skilled(1.0, -1.0).mean[:, :, np.newaxis], series=(name, "B"))
    stack = block(problems)
    table, figure = parts(stack)
    for picture in (figure.inline_svg, figure.file_svg):
        assert not list(ET.fromstring(str(picture)).iter("script"))  # noqa: S314 - our own
    assert len(list(csv.reader(io.StringIO(table.csv)))) == 2
    assert json.loads(str(figure.spec))["datasets"]["rows"]


def test_the_specification_draws_what_the_picture_does() -> None:
    """It opens in Vega-Lite, and its numbers are the comparison's."""
    problems = skilled(1.0, 0.0, -1.0)
    found = scored(problems)
    _, figure = parts(block(problems))
    spec = json.loads(str(figure.spec))
    assert render_vega_lite(spec).startswith("<svg")
    against = {one.b: swap_sides(one) for one in found.comparisons if one.a == "A"}
    assert {row["name"]: row["value"] for row in spec["datasets"]["rows"]} == {
        name: one.difference for name, one in against.items()
    }
