"""Scores in words: the same digits everywhere, and no rounding that says what is not so."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_scored import score_context
from msgspec.structs import replace

from reportgen.core.comparisons import OutcomeNotes, Score
from reportgen.figures.scores.wording import (
    describe_estimand,
    describe_method,
    find_protocol_differences,
    format_difference,
    format_interval,
    format_p_text,
    format_score,
    format_score_estimate,
    list_found_notes,
    list_protocol_notes,
    name_metric,
)

SHARE = score_context()
TEN = score_context(lowest=0.0, highest=10.0)
SHARES = st.floats(0, 1, exclude_min=True, exclude_max=True)


def score(**fields: object) -> Score:
    """A score of A, 84.2% from 70.1 to 92.3 unless ``fields`` say otherwise."""
    plain: dict[str, object] = {
        "series": "A",
        "metric": "mean",
        "estimand": "problems like these",
        "level": 0.95,
        "estimate": 0.842,
        "low": 0.701,
        "high": 0.923,
        "method": "t over problems on the logit scale",
        "reason": "",
        "problems": 30,
    }
    return Score(**{**plain, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "said"), [(0.842, "84.2%"), (0.0, "0.0%"), (1.0, "100.0%"), (0.9996, "99.9%")]
)
def test_a_share_is_shown_in_percent(value: float, said: str) -> None:
    """One decimal, and only 1 itself is 100%."""
    assert format_score(value, SHARE) == said


@pytest.mark.parametrize(
    ("value", "half", "said"),
    [
        (4.2, 0.4, "4.20"),
        (4.2, 0.04, "4.200"),
        (4.2, 3.0, "4.2"),
        (4.2, None, "4.2"),
        (9.999, 0.4, "9.99"),
        (3e-8, 1e-9, "3e−8"),
    ],
)
def test_other_scores_are_plain_numbers_with_the_digits_of_their_noise(
    value: float, half: float | None, said: str
) -> None:
    """Half the interval has two significant digits, and the score as many decimals."""
    assert format_score(value, TEN, half=half) == said


def test_percent_gets_more_digits_where_the_interval_is_finer_than_one() -> None:
    """Half an interval of 0.04 points would vanish in one decimal."""
    assert format_score(0.842, SHARE, half=0.0004) == "84.20%"
    assert format_score(0.842, SHARE, half=0.02) == "84.2%"


def test_an_interval_stands_behind_its_value() -> None:
    """The unit is said once; what is missing is empty or said."""
    assert format_score_estimate(score(), SHARE) == "84.2% [70.1, 92.3]"
    assert format_score_estimate(score(low=None, high=None), SHARE) == "84.2%"
    assert format_score_estimate(score(estimate=None, low=None, high=None), SHARE) == "no score"
    assert not format_interval(None, None, SHARE)


def test_a_difference_is_in_points_and_signed() -> None:
    """Percent of percent would be misread."""
    assert format_difference(0.032, SHARE) == "+3.2 points"
    assert format_difference(-0.032, SHARE) == "−3.2 points"
    assert format_difference(0.0, SHARE) == "0.0 points"
    assert format_difference(0.032, SHARE, signed=False) == "3.2 points"
    assert format_difference(-0.32, TEN) == "−0.32"
    assert format_interval(-0.02, 0.06, SHARE, signed=True) == "[−2.0, +6.0]"


@given(SHARES, SHARES)
def test_an_interval_without_zero_does_not_look_like_one_with_it(low: float, width: float) -> None:
    """A verdict goes by the interval, so rounding must not carry its end to 0."""
    said = format_interval(low, low + width, SHARE, signed=True)
    assert said.startswith("[+")
    assert re.search(r"[1-9]", said.partition(",")[0])


@given(SHARES, st.one_of(st.none(), SHARES))
def test_a_score_inside_the_range_never_seems_to_reach_its_end(value: float, half: float | None) -> None:
    """Not all problems were solved, and not none."""
    shown = float(format_score(value, SHARE, half=half).removesuffix("%"))
    assert 0 < shown < 100


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.012, "p = 0.012"), (0.0009, "p < 0.001"), (1.0, "p > 0.999"), (0.05, "p = 0.050")],
)
def test_a_p_value_has_three_decimals(p: float, said: str) -> None:
    """And none pretends to be 0 or 1."""
    assert format_p_text(p) == said


@given(st.floats(0.001, 1))
def test_rounding_never_carries_p_over_the_line(p: float) -> None:
    """What is below 0.05 reads as below it, and what is above as above."""
    shown = float(format_p_text(p).split()[-1])
    assert (shown < 0.05) == (p < 0.05)
    assert abs(shown - p) <= 0.001 + 1e-12


def test_the_last_p_below_the_line_is_below_it() -> None:
    """Also the double next to 0.05."""
    assert format_p_text(math.nextafter(0.05, 0)) == "p = 0.049"
    assert format_p_text(math.nextafter(0.05, 1)) == "p = 0.051"


def test_what_was_not_tested_has_no_p() -> None:
    """Nothing is filled in."""
    assert format_p_text(None) == "not tested"


def test_nothing_found_says_nothing() -> None:
    """A clean table needs no note."""
    assert list_found_notes(OutcomeNotes(rows=480)) == ()


def test_everything_found_is_told() -> None:
    """Duplicates, missing scores, lacking problems, uneven samples, differing gold: a sentence each."""
    found = OutcomeNotes(480, 1, 2, (("B", ("p1", "p2")),), (("A", 3, 8),), ("p9",))
    said = " ".join(list_found_notes(found))
    assert "1 row was replaced by a later row" in said
    assert "2 rows without a usable score were left out, and not taken for wrong." in said
    assert "B lacks 2 problems (p1 and p2) that others have." in said
    assert "A has 3 to 8 samples a problem." in said
    assert "1 problem (p9) has more than one gold answer" in said


def test_what_was_found_of_series_that_are_not_shown_is_not_told() -> None:
    """But what concerns the table is."""
    found = OutcomeNotes(10, 1, 0, (("B", ("p1",)),), (("B", 1, 2),))
    assert list_found_notes(found, ["A"]) == list_found_notes(OutcomeNotes(10, 1))


def test_many_series_that_lack_problems_are_counted() -> None:
    """A caption is not a list."""
    found = OutcomeNotes(incomplete=tuple((f"S{n}", tuple(f"p{m}" for m in range(9))) for n in range(7)))
    said = list_found_notes(found)
    assert said[0] == "S0 lacks 9 problems (p0, p1, p2, p3 and 5 more) that others have."
    assert "3 more series lack problems." in said


def test_one_protocol_is_said_once() -> None:
    """And nothing is flagged."""
    alike = (("A", (("samples", "16"),)), ("B", (("samples", "16"),)))
    context = score_context("A", "B", protocol=alike)
    assert list_protocol_notes(context) == ((), ("Protocol: samples 16.",))
    assert find_protocol_differences(context) == {}


def test_mixed_protocols_are_flagged() -> None:
    """Each text with its series; what a series does not state counts as different."""
    mixed = (("A", (("temperature", "0.6"), ("grader", "exact"))), ("B", (("temperature", "0.8"),)))
    context = score_context("A", "B", protocol=mixed)
    assert find_protocol_differences(context) == {
        "temperature": {"0.6": ["A"], "0.8": ["B"]},
        "grader": {"exact": ["A"], "not stated": ["B"]},
    }
    (flagged,), _ = list_protocol_notes(context)
    assert "temperature is 0.6 for A, 0.8 for B; grader is exact for A, not stated for B" in flagged


def test_a_date_is_told_and_mixes_no_protocols() -> None:
    """Answers of two days may have been measured alike."""
    dated = (("A", (("date", "2026-02-01"),)), ("B", (("date", "2026-02-02"),)))
    context = score_context("A", "B", protocol=dated)
    assert list_protocol_notes(context)[0] == ("The date is 2026-02-01 for A, 2026-02-02 for B.",)
    assert find_protocol_differences(context) == {}
    assert find_protocol_differences(context, dated=True) == {
        "date": {"2026-02-01": ["A"], "2026-02-02": ["B"]}
    }


def test_only_shown_series_mix_protocols() -> None:
    """A protocol of a series elsewhere flags nothing here; a series without one does."""
    context = score_context(protocol=(("A", (("samples", "16"),)), ("B", (("samples", "4"),))))
    assert find_protocol_differences(context, ["A"]) == {}
    assert find_protocol_differences(context, ["A", "C"]) == {"samples": {"16": ["A"], "not stated": ["C"]}}


def test_no_protocol_says_nothing() -> None:
    """Where nothing is known of any series there is nothing to compare."""
    assert list_protocol_notes(score_context("A"), ["A"]) == ((), ())


@pytest.mark.parametrize("estimand", ["problems like these", "these problems"])
def test_every_estimand_has_words_of_its_own(estimand: str) -> None:
    """A reader is told what an interval is about."""
    said = describe_estimand(score(estimand=estimand))
    assert said != describe_estimand(score(estimand=""))
    assert "problems" in said


def test_every_way_to_make_an_interval_has_words() -> None:
    """The names that the statistics give, each said."""
    ways = (
        *("t over problems on the logit scale", "t over problems", "t over samples", "Wilson"),
        *("bound on unseen problems", "as reported"),
    )
    assert all(describe_method(way) != way for way in ways)
    assert describe_method("another way") == "another way"
    assert (name_metric("mean", SHARE), name_metric("pass@4", SHARE)) == ("mean score", "pass@4")
    named = replace(SHARE, score_name="exact_match (strict)")
    assert name_metric("mean", named) == "mean exact_match (strict)"
    assert name_metric("pass@4", named) == "pass@4 of exact_match (strict)"
