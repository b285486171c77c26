"""The figure of pass@k against k: published numbers in percent, and words that name all behind them."""

from __future__ import annotations

import csv
import io
import json
from math import comb
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pytest
from made_outcomes import matrix
from msgspec.structs import replace

from reportgen.core.comparisons import OutcomeNotes
from reportgen.core.errors import ReportError, SourceLocation
from reportgen.figures.plot import ScoreContext
from reportgen.figures.render import render_vega_lite
from reportgen.figures.scores.pass_curve import draw_passk
from reportgen.settings.score_blocks import PasskSettings
from reportgen.statistics.scores import score_pass_at_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import ProblemScores
    from reportgen.core.model import Figure

NAN = float("nan")


def answers(*right: Sequence[int], samples: int, highest: float = 1.0) -> ProblemScores:
    """Series ``A``, ``B``, …: how many of each problem's samples are right."""
    scores = [[[highest * (i < c) for i in range(samples)] for c in series] for series in right]
    return matrix(scores, highest=highest)


def figure(
    problems: ProblemScores,
    *,
    around: dict[str, Any] | None = None,
    **settings: Any,  # noqa: ANN401
) -> Figure:
    """The finished figure of a ``passk`` block with these settings."""
    plain: dict[str, Any] = {
        "place": SourceLocation("content/page.md", 7),
        "slots": {name: place for place, name in enumerate(problems.series)},
        "source": "made answers",
        "benchmark": "AIME",
        "approximate": None,
        "higher_is_better": True,
        "lowest": problems.lowest,
        "highest": problems.highest,
    }
    block = PasskSettings.model_validate(settings)
    curves = score_pass_at_k(problems, level=block.level)
    return draw_passk("one", block, curves, ScoreContext(**plain | (around or {})), problems=problems)


def rows(made: Figure) -> list[dict[str, str]]:
    """Its CSV."""
    return list(csv.DictReader(io.StringIO(str(made.csv))))


RIGHT_A, RIGHT_B = (8, 5, 3, 0, 1, 12), (4, 4, 2, 1, 7, 12)
TWO = answers(RIGHT_A, RIGHT_B, samples=12)


def test_points_are_the_published_estimator_in_percent() -> None:
    """By whole numbers: 100 times the mean of 1 - C(12 - c, k)/C(12, k), at doublings of k and at k = 12."""
    found = {(row["series"], int(row["step"])): row for row in rows(figure(TWO))}
    assert list(found) == [(name, k) for name in "AB" for k in (1, 2, 4, 8, 12)]
    for (name, k), row in found.items():
        right = RIGHT_A if name == "A" else RIGHT_B
        chance = np.mean([1 - comb(12 - c, k) / comb(12, k) for c in right])
        assert float(row["value"]) == pytest.approx(100 * chance)
        assert (row["metric"], row["n"]) == ("pass@k (%)", "6")
        assert 0 <= float(row["low"]) < float(row["value"]) <= float(row["high"]) <= 100


def test_the_table_says_what_the_points_are() -> None:
    """A row for each k, and each value in percent with its interval, as in every block about scores."""
    table = figure(TWO).table
    assert table.header == ("k", "A", "B")
    assert [row[0] for row in table.rows] == ["1", "2", "4", "8", "12"]
    # t(0.975, 5) = 2.570582; on the logit scale.
    share = sum(RIGHT_A) / 72
    step = 2.570582 * np.std(np.array(RIGHT_A) / 12, ddof=1) / 6**0.5 / (share * (1 - share))
    low, high = (100 / (1 + (1 - share) / share * np.exp(sign * step)) for sign in (1, -1))
    assert table.rows[0][1] == f"{100 * share:.1f}% [{low:.1f}, {high:.1f}]"
    assert table.note == ""


def test_the_axis_counts_in_doublings() -> None:
    """Ticks in the picture are powers of two below the largest k, in the specification too."""
    made = figure(TWO)
    live = json.loads(str(made.payload))
    assert (live["x"]["scale"], live["x"]["title"], live["x"]["ticks"]) == ("log2", "k", [1, 2, 4, 8])
    assert (live["x"]["symbol"], live["y"]["unit"], live["y"]["title"]) == (True, "%", "pass@k (%)")
    assert ">k</text>" in str(made.inline_svg)
    assert '"base": 2' in made.view


def test_the_words_name_estimator_interval_estimand_and_size() -> None:
    """Nobody has to guess what was estimated, from how much, and what the band is about."""
    made = figure(TWO, caption="Own words.")
    assert made.title == "pass@k on AIME"
    assert made.subtitle == "unbiased pass@k, mean of 6 problems × 12 samples, band: 95% CI"
    assert made.caption.startswith(
        "Own words. n = 6 problems × 12 samples. Source: made answers.\nEach point is the mean"
    )
    for words in (
        "unbiased estimator 1 − C(n − c, k)/C(n, k)",
        "(Chen et al. 2021)",
        "n = 6 problems × 12 samples.",
        "Band: 95% CI for the score on other problems like these",
        "these (Student's t over problems on the logit scale;",
        "Wilson's score interval over problems for all series at k = 12).",
        "intervals move together; lines share problems",
        "Source: made answers.",
    ):
        assert words in made.caption
    assert (made.kind, made.numbers["estimator"]) == ("passk", "unbiased, Chen et al. 2021")


def test_the_summary_says_who_leads_at_both_ends() -> None:
    """At k = 1 and at the largest k, with intervals; the digits are those of the table."""
    made = figure(TWO)
    cells = {row[0]: row[1:] for row in made.table.rows}
    a, b = cells["1"]
    assert made.summary.startswith(f"At k = 1, B has the highest pass@k, {b}, followed by A with {a}. ")
    assert f"At k = 12, B has the highest pass@k, {cells['12'][1]}, followed by A" in made.summary
    lower = figure(TWO, higher_is_better=False)
    assert lower.summary.startswith("At k = 1, A has the lowest pass@k")
    assert "lower is better" in lower.subtitle


def test_equal_series_share_the_lead() -> None:
    """Scores that are equal in the digits shown are not ranked."""
    made = figure(answers(RIGHT_A, RIGHT_A, samples=12))
    assert made.summary.startswith("At k = 1, A and B have the highest pass@k, 40.3%.")


def test_one_series_is_told_of_by_itself() -> None:
    """No leader among one, and nothing about overlap."""
    made = figure(answers((2, 0, 1), samples=4), title="Own title")
    assert made.summary.startswith("A has pass@1 of 25.0% [")
    assert "and pass@4 of 66.7% [" in made.summary
    assert "overlap" not in made.caption
    assert made.title == "Own title"


def test_a_line_ends_where_a_problem_has_no_more_samples() -> None:
    """Beyond that the curve would be about fewer problems; caption and summary say so."""
    scores = np.zeros((2, 3, 8))
    scores[:, 0, :5], scores[:, 1, 2:4] = 1, 1
    scores[1, 2, 4:] = NAN
    problems = replace(matrix(scores), notes=OutcomeNotes(uneven=(("B", 4, 8),)))
    made = figure(problems)
    assert made.numbers["largest_k"] == {"A": 8, "B": 4}
    assert "n: A 3 problems × 8 samples and B 3 problems × 4 to 8 samples." in made.caption
    assert "A line ends at the fewest samples that any of its problems has." in made.caption
    assert "B has 4 to 8 samples a problem." in made.caption
    assert "At k = 4, the largest that all series reach, " in made.summary
    assert [row[2] for row in made.table.rows][-1] == ""


def test_a_series_without_a_score_is_named() -> None:
    """It is not drawn as 0, and not left out in silence."""
    scores = np.zeros((2, 3, 2))
    scores[1] = NAN
    made = figure(matrix(scores))
    assert made.table.header == ("k", "A")
    assert "Without a score, and not drawn: B." in made.caption


def test_one_sample_leaves_one_point() -> None:
    """With one sample a problem pass@1 is all there is; its interval is Wilson's."""
    made = figure(answers((1, 0, 1, 1), samples=1))
    assert [row["step"] for row in rows(made)] == ["1"]
    assert "With one sample of some problem only pass@1 is known." in made.caption
    assert "(Wilson's score interval over problems)" in made.caption
    assert "75.0% [" in made.table.rows[0][1]


def test_one_problem_has_no_band() -> None:
    """One problem says nothing about others: a reason in words, no interval of width zero."""
    made = figure(answers((3,), samples=4))
    assert "No band. A at k = 1, 2 and 4: 1 problem: no interval." in made.caption
    assert all(row["low"] == row["high"] == "" for row in rows(made))
    assert "band" not in made.subtitle
    assert '"low"' not in str(made.payload)


def test_all_right_has_an_interval_with_its_reason() -> None:
    """Problems without spread get the bound on unseen ones, and the caption says why."""
    made = figure(answers((4, 4, 4), samples=4))
    assert "an exact bound on unseen problems" in made.caption
    assert "A at k = 1 and 2: all 3 problems have the same value" in made.caption
    assert all(float(row["low"]) < float(row["high"]) == 100 for row in rows(made))


def test_only_all_is_read_as_all() -> None:
    """99.97% is not read out as 100.0%, nor are the other digits cut.

    The lower end is 99.9667 (1 - q) with q = 1 - 0.025^(1/1000) = 0.3682%.
    """
    made = figure(answers([12] * 999 + [1], samples=12))
    assert made.table.rows[3][1] == "99.97% [99.60, 99.99]"
    assert made.table.rows[-1][1].startswith("100.00% [")


def test_other_ranges_are_plain_numbers() -> None:
    """Scores of 0 to 10 stay on their scale, as everywhere, and no percent is claimed."""
    made = figure(answers((2, 0, 1), samples=4, highest=10.0))
    assert float(rows(made)[0]["value"]) == pytest.approx(2.5)
    assert rows(made)[0]["metric"] == "pass@k"
    assert "%" not in made.table.rows[0][1]
    assert "unit" not in json.loads(str(made.payload))["y"]


def test_protocols_that_differ_are_flagged() -> None:
    """A mixed protocol is told below the figure."""
    protocol = (("A", (("temperature", "0.6"),)), ("B", (("temperature", "1"),)))
    made = figure(TWO, around={"protocol": protocol, "notes": ("A note.",), "approximate": "read off"})
    assert "Mixed protocols: temperature is 0.6 for A, 1 for B." in made.caption
    assert made.caption.partition("\n")[0].endswith("A note. Source: made answers (read off).")


def test_the_specification_is_valid_and_draws_the_csv() -> None:
    """The schema of Vega-Lite accepts the file, its data are the figure's CSV, and Vega draws it."""
    made = figure(TWO, highlight=["B"])
    spec = json.loads(str(made.spec))
    alt.LayerChart.from_dict(spec, validate=True)
    assert spec["datasets"]["means"] == made.csv
    assert render_vega_lite(spec).startswith("<svg")
    assert made.legend == (("A", None), ("B", 1))


def test_a_highlighted_series_has_to_be_there() -> None:
    """A name that is not there is a problem at the block, with the names that are."""
    with pytest.raises(ReportError, match='"C" is not a series of this figure'):
        figure(TWO, highlight=["C"])


def test_no_score_at_all_is_a_problem() -> None:
    """An empty figure would say that there is nothing to see."""
    with pytest.raises(ReportError, match='"pass@k" has no value that could be drawn'):
        figure(matrix(np.full((1, 2, 2), NAN)))


def test_the_same_scores_give_the_same_figure() -> None:
    """Nothing in it depends on when or where it is drawn."""
    assert figure(TWO) == figure(TWO)
