"""The ``scores`` block: who leads and how sure, in order, in groups, and nothing that is not known."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from made_figures import HOSTILE
from made_outcomes import matrix, outcomes
from made_scored import score_context, scored
from msgspec.structs import replace

from reportgen.core.comparisons import OutcomeNotes
from reportgen.core.model import Figure, Lead, ResultTable
from reportgen.figures.scores.scores import draw_scores
from reportgen.settings.score_blocks import ScoresSettings
from reportgen.statistics.problem_scores import group_problem_scores
from reportgen.statistics.scores import score_total

if TYPE_CHECKING:
    from reportgen.core.comparisons import ProblemScores
    from reportgen.figures.plot import BenchmarkScores, ScoreContext

NAMES = ("low", "high", "twin")


def problems(samples: int = 4) -> ProblemScores:
    """Of 24 problems, ``high`` solves 3 of 4 samples of 20, ``low`` of 4; ``twin`` differs in two."""
    high = np.tile([1.0, 1.0, 1.0, 0.0], (24, samples // 4)).reshape(24, samples)
    high[20:] = 0.0
    twin = high.copy()
    twin[0], twin[1] = 0.0, 1.0
    low = high.copy()
    low[:16] = 0.0
    return matrix([low, high, twin], series=NAMES)


def drawn(
    one: BenchmarkScores | None = None,
    context: ScoreContext | None = None,
    **settings: Any,  # noqa: ANN401 - of a block
) -> tuple[Figure, ResultTable]:
    """The picture and the table of a block with these settings."""
    stack = draw_scores(
        "one",
        ScoresSettings.model_validate(settings),
        one or scored(problems()),
        context or score_context(*NAMES),
    )
    figure, table = stack.parts
    assert isinstance(figure, Figure)
    assert isinstance(table, ResultTable)
    assert (stack.id, figure.id, table.id) == ("one", "one", "one-table")
    assert stack.title == figure.title == table.title
    return figure, table


def column(table: ResultTable, name: str) -> list[str]:
    """The words of a column, from top to bottom."""
    place = [head.split(" [")[0] for head in table.header].index(name)
    return [row[place].text for row in table.rows]


def test_the_best_stands_first() -> None:
    """Unless the author wants another order; picture and table agree."""
    for order, names in {
        "best": ["high", "twin", "low"],
        "given": ["low", "high", "twin"],
        "name": ["high", "low", "twin"],
    }.items():
        figure, table = drawn(order=order)
        assert column(table, "series") == names
        assert [row[0] for row in figure.table.rows] == names
        assert [one["name"] for one in figure.numbers["series"]] == names


def test_where_lower_is_better_the_lowest_stands_first() -> None:
    """And it is said."""
    context = score_context(*NAMES, higher_is_better=False)
    figure, table = drawn(scored(problems(), higher_is_better=False), context)
    assert column(table, "series")[0] == "low"
    assert figure.summary.startswith("low leads with")
    assert "lower is better" in figure.subtitle
    assert "Lower is better." in figure.caption


def test_the_summary_says_who_leads_and_that_the_second_is_as_good() -> None:
    """One sentence, with the interval, the difference and its p."""
    one = scored(problems())
    said = drawn(one)[0].summary
    assert said.startswith("No clear winner: high has the highest score, 62.5% [")
    assert "; twin follows with 60.4% [" in said
    assert ": on 24 problems no difference is clear (+2.1 points [" in said
    assert re.search(r"adjusted p [=>] [\d.]+\)\.$", said)


def test_the_summary_says_that_the_second_is_worse() -> None:
    """With the difference seen from the leader, whichever side was compared."""
    whole = problems()
    for order in ([0, 1], [1, 0]):
        part = matrix(np.array([_answers(whole, place) for place in order]), series=[NAMES[p] for p in order])
        said = drawn(scored(part), score_context(*NAMES))[0].summary
        assert said.startswith("high leads with 62.5%")
        assert "; low follows with" in said
        assert ": on 24 problems the two differ (+50.0 points [+" in said
        low, high = map(float, re.findall(r"points \[\+([\d.]+), \+([\d.]+)\]", said)[0])
        assert low < 50 < high
        # One pair is not adjusted.
        assert ", p < 0.001)." in said


def _answers(whole: ProblemScores, place: int) -> Any:  # noqa: ANN401 - an array
    return np.repeat(whole.mean[place][:, np.newaxis], 2, axis=1)


def test_two_that_score_the_same_share_the_lead() -> None:
    """Nobody is first by the order of the data."""
    same = np.tile([1.0, 0.0], (10, 1))
    said = drawn(scored(matrix([same, same], series=["A", "B"])), score_context("A", "B"))[0].summary
    assert said.startswith("No clear winner: A and B share the highest score, 50.0%")


def test_one_series_has_no_second() -> None:
    """And no groups are explained."""
    figure, _ = drawn(scored(matrix([[[1.0, 0.0]] * 9], series=["A"])), score_context("A"))
    assert re.fullmatch(r"A scores 50\.0% \[.*\] on 9 problems\.", figure.summary)
    assert "group" not in figure.caption


def test_few_problems_decide_nothing() -> None:
    """The sentence says so."""
    few = matrix([[[1.0, 0.0]] * 3, [[0.0, 0.0]] * 3], series=["A", "B"])
    assert drawn(scored(few), score_context("A", "B"))[0].summary.endswith(
        ": 3 shared problems cannot decide."
    )


def test_the_caption_says_how_the_numbers_came_about() -> None:
    """Problems × samples, metric, estimand, method, level, groups, protocol, what was found, source."""
    found = OutcomeNotes(replaced=2, missing=1, incomplete=(("low", ("p1",)),))
    one = scored(problems())
    one = replace(one, problems=replace(one.problems, notes=found))
    protocol = tuple((name, (("temperature", "0.6" if name == "low" else "0.8"),)) for name in NAMES)
    context = score_context(*NAMES, protocol=protocol, approximate="synthetic", notes=("A note.",))
    said = drawn(one, context, caption="The author's words.")[0].caption
    for part in (
        "Dot: mean score over 24 problems × 4 samples",
        "Line: 95% CI for the score on other problems like these",
        "these (Student's t over problems on the logit scale).",
        "adjusted for 3 pairs tested together",
        "Mixed protocols: temperature is 0.8 for high and twin, 0.6 for low.",
        "2 rows were replaced",
        "1 row without a usable score was left out",
        "low lacks 1 problem (p1) that others have.",
        "A note. Source: a source (synthetic).",
    ):
        assert part in said


def test_the_estimand_is_named() -> None:
    """The other one in other words."""
    figure, _ = drawn(scored(problems(), estimand="these problems"), estimand="these problems")
    assert "95% CI for these problems" in figure.subtitle
    assert "the score on these very problems with other samples" in figure.caption
    assert "Ranks are about other problems like these, lines are not." in figure.caption
    assert "lines are not" not in drawn()[0].caption


def test_a_metric_with_k_is_explained() -> None:
    """And titled."""
    figure, table = drawn(scored(problems(), "pass@k", 2))
    assert figure.title == "Pass@2 on Contest"
    assert "pass@2 is the chance that at least one of 2 samples is right" in figure.caption
    assert table.header[1] == "pass@2 [95% CI]"


def test_every_series_has_the_ranks_that_are_left_to_it() -> None:
    """In the table and the data, with the group in the picture."""
    figure, table = drawn()
    assert column(table, "rank") == ["1 to 2", "1 to 2", "3"]
    assert [row[3] for row in figure.table.rows] == ["1 to 2", "1 to 2", "3"]
    assert re.findall(r"Group \d", str(figure.inline_svg)) == ["Group 1", "Group 2"]


def test_the_table_says_what_a_score_rests_on_and_costs() -> None:
    """Problems, samples, runs, and costs where they are given; runs' spread where there are runs."""
    rows = [
        {"series": s, "run": r, "problem": str(p), "sample": str(n), "score": float((p + n + ord(r)) % 2)}
        | {"tokens": 1000.0, "cost": 0.01}
        for s in "AB"
        for r in ("1" if s == "A" else "12")
        for p in range(7)
        for n in range(3 if p else 2)
    ]
    one = scored(group_problem_scores(outcomes(rows)))
    _, table = drawn(one, score_context("A", "B"), order="given")
    assert column(table, "problems") == ["7", "7"]
    assert column(table, "samples") == ["2 to 3", "2 to 3"]
    assert column(table, "runs") == ["1", "2"]
    assert column(table, "tokens a sample") == ["1,000", "1,000"]
    assert column(table, "cost a sample") == ["0.01", "0.01"]
    assert "seconds a sample" not in table.header
    assert column(table, "SD between runs")[0] == "1 run"
    assert column(table, "SD between runs")[1].endswith(" points")
    assert "standard deviation of the runs' own scores" in table.caption


def test_what_was_not_measured_alike_is_a_column() -> None:
    """Beside each score."""
    context = score_context(*NAMES, protocol=(("low", (("samples", "4"), ("grader", "x"))),))
    _, table = drawn(context=context)
    assert column(table, "samples") == ["4", "4", "4"]
    assert column(table, "grader") == ["not stated", "not stated", "x"]


def test_a_missing_score_stays_missing() -> None:
    """No dot, no zero, no group; the reason is told."""
    one = scored(problems())
    lost = replace(
        one.scores[0], estimate=None, low=None, high=None, reason="no problem with a score", problems=0
    )
    one = replace(one, scores=(lost, *one.scores[1:]), groups=one.groups[:1], ranks=())
    figure, table = drawn(one)
    assert column(table, "series")[-1] == "low"
    assert [cell.mark for cell in table.rows[-1][1:3]] == ["missing"] * 2
    assert "low: no problem with a score." in figure.caption
    assert 'data-rg-tip="low&#10;no score&#10;' in str(figure.inline_svg)
    assert "nan" not in (str(figure.inline_svg) + str(figure.csv) + str(figure.spec)).casefold()
    assert figure.numbers["series"][-1]["score"] is None


def test_totals_of_a_harness_are_shown_and_not_compared() -> None:
    """No groups, no pairs, and it says so."""
    one = scored(problems())
    given = tuple(score_total(name, value, 0.02, metric="acc") for name, value in (("A", 0.8), ("B", 0.7)))
    figure, table = drawn(
        replace(one, scores=given, comparisons=(), groups=(), ranks=(), lead=Lead(None, tested=False)),
        score_context("A", "B"),
    )
    assert figure.summary.endswith(": the two were not compared problem by problem.")
    assert "the score as it is reported (normal" in figure.caption
    assert "group" not in table.header
    assert column(table, "problems") == ["not known", "not known"]


def test_no_series_is_no_score() -> None:
    """An empty selection is said in words."""
    one = scored(problems())
    figure, table = drawn(replace(one, scores=(), comparisons=(), groups=()))
    assert figure.summary == "No series has a score."
    assert table.rows == ()


def test_an_author_names_the_block() -> None:
    """The title is everybody's."""
    assert drawn(title="Who wins")[0].title == "Who wins"


def test_the_csv_has_every_digit() -> None:
    """In the unit of the input, with what is behind each number."""
    figure, table = drawn()
    lines = table.csv.splitlines()
    assert figure.csv == table.csv
    assert lines[0].split(",")[:5] == ["series", "metric", "score", "low", "high"]
    assert lines[1].startswith("high,mean,0.625,")
    assert len({len(row) for row in csv.reader(lines)}) == 1


def test_the_numbers_are_json() -> None:
    """As the report keeps them."""
    json.dumps(drawn()[0].numbers, allow_nan=False)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_may_be_a_series(name: str) -> None:
    """Nothing breaks, and the CSV runs no formula."""
    one = scored(matrix([[[1.0, 0.0]] * 9, [[0.0, 0.0]] * 9], series=[name, "plain"]))
    figure, table = drawn(one, score_context(name, "plain", source=name, benchmark=name), title=name.strip())
    assert column(table, "series") == [name, "plain"]
    assert "<script" not in str(figure.inline_svg)
    assert not any(line.startswith("=") for line in table.csv.splitlines())


def test_the_same_scores_give_the_same_bytes() -> None:
    """Nothing depends on the run of the program."""
    assert drawn() == drawn()
