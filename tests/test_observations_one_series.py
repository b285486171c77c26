"""Rules about one series: what they say of hand-made curves, with which digits, and their laws."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tries import tries

from reportgen.claims.observations.choosing import RULES
from reportgen.claims.observations.dips import find_deepest_fall, find_dips, find_setbacks
from reportgen.claims.observations.field import Field
from reportgen.claims.observations.instability import running_mean
from reportgen.claims.observations.noise import estimate_noise
from reportgen.core.model import Curve, Run
from reportgen.core.statements import Scale
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation

HIGHER, LOWER = Scale("accuracy"), Scale("loss", higher_is_better=False)
ALONE = (
    *(Rule.RISE, Rule.PLATEAU, Rule.STEADY, Rule.DIP, Rule.SPIKE, Rule.LATE_DECLINE),
    *(Rule.INSTABILITY, Rule.UNCERTAIN_HERE),
)


def curve(
    series: str,
    values: Sequence[float],
    steps: Sequence[float] | None = None,
    *,
    half: Sequence[float] | None = None,
    n: int = 1,
) -> Curve:
    """A series read every 10 steps if nothing else is said, with half of its band's width at each step."""
    x = np.array(steps if steps is not None else [10 * at for at in range(len(values))], dtype=np.float64)
    y = np.array(values, dtype=np.float64)
    width = np.full(y.size, np.nan) if half is None else np.array(half, dtype=np.float64)
    run = Run(series, "1", "1", x, y)
    return Curve(series, x, y, y - width, y + width, np.full(y.size, n, dtype=np.int64), (run,))


def said(rule: Rule, *curves: Curve, scale: Scale = HIGHER) -> list[Observation]:
    """What a rule finds in these curves."""
    return list(RULES[rule](Field(curves, scale, "ci")))


def texts(rule: Rule, *curves: Curve, scale: Scale = HIGHER) -> list[str]:
    """The sentences of a rule about these curves."""
    return [one.text for one in said(rule, *curves, scale=scale)]


def jitter(n: int, size: float) -> FloatArray:
    """White noise of this standard deviation, the same each time."""
    return np.random.default_rng(n).normal(scale=size, size=n)


def test_a_dip_says_where_it_comes_from_and_when_it_is_back() -> None:
    """Gemma3 of the reference figures: a drop at step 60 that is nearly made good by step 100."""
    gemma = curve("Gemma3", [0.5, 0.75, 0.55, 0.7], [0, 40, 60, 100])
    (found,) = said(Rule.DIP, gemma)
    assert (
        found.text == "The readings of Gemma3 go down from 0.75 at step 40 to 0.55 at step 60, "
        "and up to 0.70 at step 100."
    )
    assert (found.mark_series, found.mark, found.label) == ("Gemma3", 60, "low 0.55")
    assert (found.from_step, found.to_step) == (40, 100)
    assert found.evidence == ("at(Gemma3, 40) = 0.75", "at(Gemma3, 60) = 0.55", "at(Gemma3, 100) = 0.70")
    assert found.threshold == "0.15 is more than 0.0025, 1% of the range"


def test_a_drop_that_is_not_made_good_is_no_dip() -> None:
    """Llama3.2 of the reference figures loses 0.2 and stays there: a decline, and its peak no spike."""
    llama = curve("Llama3.2", [0.0, 0.7, 0.5, 0.5], [0, 40, 60, 120])
    assert texts(Rule.DIP, llama) == texts(Rule.SPIKE, llama) == []
    assert texts(Rule.LATE_DECLINE, llama) == [
        "The last reading of Llama3.2 is 0.5 at step 120, 0.2 below its highest reading of 0.7 at step 40."
    ]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            [0.2, 0.5, 0.9, 0.8],
            "The last reading of A is 0.8 at step 30, 0.1 below its highest reading of 0.9 at step 20.",
        ),
        (
            [0.2, 0.9, 0.9, 0.8],
            "The last reading of A is 0.8 at step 30, 0.1 below its highest reading of 0.9 at step 20.",
        ),
        (
            [0.2, 0.9, 0.5, 0.8],
            "The last reading of A is 0.8 at step 30, 0.1 below its highest reading of 0.9 at step 10.",
        ),
    ],
)
def test_a_decline_is_told_as_it_happened(values: list[float], sentence: str) -> None:
    """A fall to the end names its onset, the last step at the peak; an early peak is named where it was."""
    assert texts(Rule.LATE_DECLINE, curve("A", values)) == [sentence]


def test_a_series_that_only_gets_worse_has_no_late_decline() -> None:
    """Its best value is where it starts: the fall is told by the rule about rises."""
    falling = curve("A", [0.9, 0.6, 0.4, 0.2])
    assert texts(Rule.LATE_DECLINE, falling) == []
    assert texts(Rule.RISE, falling) == [
        "The readings of A go down from 0.9 to 0.2, 90% of the way by step 30."
    ]


def test_lower_is_better_keeps_the_values_as_measured() -> None:
    """A loss rises from its lowest value, and falls on its way."""
    loss = curve("A", [2.0, 1.0, 0.4, 0.6])
    assert texts(Rule.LATE_DECLINE, loss, scale=LOWER) == [
        "The last reading of A is 0.6 at step 30, 0.2 above its lowest reading of 0.4 at step 20."
    ]
    assert texts(Rule.RISE, loss, scale=LOWER) == [
        "The readings of A go down from 2.0 to 0.4, 90% of the way by step 20."
    ]


def test_the_rise_names_fastest_and_slowest() -> None:
    """By readings: who shares the first step is named together, and the last alone."""
    fast, also = curve("A", [0, 0.9, 0.9], [0, 40, 120]), curve("B", [0.1, 0.8, 0.8], [0, 40, 120])
    slow = curve("C", [0.2, 0.4, 0.7], [0, 40, 120])
    (found,) = said(Rule.RISE, fast, also, slow)
    assert found.text == (
        "By the readings, each series has made 90% of its rise: A and B by step 40 and C by step 120."
    )
    assert (found.mark_series, found.mark) == ("C", 120)
    assert found.evidence[2] == "start(C) = 0.2; 90% of the rise to 0.7 is 0.65, reached by step 120"


def test_a_plateau_holds_for_a_quarter_of_the_steps() -> None:
    """Three readings are a plateau where they are far enough apart; two are none."""
    long = curve("A", [0.3, 0.9, 0.9, 0.9], [0, 40, 80, 120])
    short = curve("A", [0.2, 0.7, 0.7, 0.7], [0, 100, 110, 120])
    assert texts(Rule.PLATEAU, long) == ["The last 3 readings of A are all at 0.9, from step 40 to step 120."]
    assert texts(Rule.PLATEAU, short) == []
    assert texts(Rule.PLATEAU, curve("A", [0.3, 0.9, 0.9], [0, 40, 120])) == []


def test_few_readings_are_told_as_what_they_are() -> None:
    """Of a handful of readings no noise is known, and none is spoken of."""
    steady = curve("A", [0.74, 0.77, 0.795, 0.8, 0.8, 0.82, 0.82])
    assert texts(Rule.STEADY, steady) == [
        (
            "The readings of A go up from 0.74 at step 0 to 0.82 at step 50 and stay there; "
            "none of the 7 is below the one before."
        )
    ]
    one_back = curve("A", [0.2, 0.15, 0.08, 0.09, 0.07, 0.05, 0.02])
    (sentence,) = texts(Rule.STEADY, one_back)
    assert sentence == (
        "The readings of A go down from 0.20 at step 0 to 0.02 at step 60; the largest step back of the 7 is "
        "0.01, from 0.08 at step 20 to 0.09 at step 30."
    )
    assert texts(Rule.STEADY, curve("A", [0.2, 0.5, 0.7])) == []


def test_with_many_readings_digits_follow_the_noise() -> None:
    """A rise from 0.2 to 0.8 with noise of some hundredths is told to two decimals."""
    values = 0.2 + 0.6 * np.clip(np.arange(60) / 20, 0, 1) + jitter(60, 0.02)
    noisy = curve("A", values.tolist())
    (rise,) = said(Rule.RISE, noisy)
    numbers = re.findall(r"\d\.\d+", rise.text)
    assert [len(number) for number in numbers] == [4, 4], rise.text
    (plateau,) = said(Rule.PLATEAU, noisy)
    assert re.fullmatch(r"A levels off at about 0\.(79|80|81) from step \d+ on\.", plateau.text)
    assert (
        plateau.threshold == "p < 0.001 over all places and widths, by one run; the block asks for p ≤ 0.05"
    )
    assert texts(Rule.DIP, noisy) == texts(Rule.SPIKE, noisy) == texts(Rule.LATE_DECLINE, noisy) == []


def test_what_does_not_change_is_told_by_its_readings() -> None:
    """Of a flat curve the range is told and nothing inferred: no rise, no plateau and no dip."""
    flat = curve("A", (0.5 + jitter(60, 0.02)).tolist())
    (sentence,) = texts(Rule.STEADY, flat)
    flatly = r"The readings of A lie between 0\.4\d and 0\.5\d, with a mean of 0\.(49|50|51)\."
    assert re.fullmatch(flatly, sentence)
    others = [rule for rule in ALONE if rule is not Rule.STEADY]
    assert not any(texts(rule, flat) for rule in others)


def test_instability_lists_the_setbacks_furthest_first() -> None:
    """MEL of the reference figures against GRPO, compared at the steps that both have."""
    grpo = curve("GRPO", [0.74, 0.77, 0.795, 0.8, 0.8, 0.815, 0.82, 0.82], list(range(0, 160, 20)))
    values = [0.74, 0.77, 0.76, 0.79, 0.805, 0.81, 0.8, 0.8, 0.81, 0.82, 0.81, 0.84, 0.82]
    mel = curve("MEL", values, [0, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 140])
    (found,) = said(Rule.INSTABILITY, grpo, mel)
    assert found.text == (
        "From one reading to the next MEL moves 1.5 times as much as GRPO. It falls back 4 times, "
        "furthest by 0.02 from 0.84 at step 120 to 0.82 at step 140, "
        "then by 0.01 from 0.77 at step 20 to 0.76 at step 30."
    )
    assert found.evidence[0].startswith("at the 8 steps that both have, standard deviation of the change")
    assert len(found.evidence) == 5


def test_a_wide_band_is_named_with_its_steps() -> None:
    """Neighbouring steps are put together, and the widest is told with how wide it is."""
    half = [0.005, 0.005, 0.012, 0.014, 0.005, 0.005, 0.005, 0.005]
    (found,) = said(Rule.UNCERTAIN_HERE, curve("A", [0.5] * 8, half=half, n=5))
    assert found.text == (
        "The readings of the runs of A lie furthest apart from step 20 to 30: "
        "at step 30 its band is 2 times its average width."
    )
    assert (found.mark, found.from_step, found.to_step) == (30, 20, 30)
    assert said(Rule.UNCERTAIN_HERE, curve("A", [0.5] * 8, half=[0.005] * 8, n=5)) == []


def test_a_time_axis_is_told_in_dates() -> None:
    """Steps that are milliseconds are written as days."""
    day = 86_400_000.0
    dated = curve("A", [0.5, 0.75, 0.55, 0.7], [0, day, 2 * day, 3 * day])
    assert texts(Rule.DIP, dated, scale=Scale("accuracy", step_is_time=True)) == [
        (
            "The readings of A go down from 0.75 on 1970-01-02 to 0.55 on 1970-01-03, "
            "and up to 0.70 on 1970-01-04."
        )
    ]


@settings(max_examples=tries(20, 200))
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=30), min_size=1, max_size=4),
    st.sampled_from([0.25, 2.0, 1024.0]),
    st.sampled_from([HIGHER, LOWER]),
)
def test_scaling_and_order_change_no_content(values: list[list[int]], factor: float, scale: Scale) -> None:
    """Twice the values are the same events at the same steps, and the order of series says nothing."""
    plain = [curve(f"S{at}", [float(value) for value in one]) for at, one in enumerate(values)]
    larger = [curve(f"S{at}", [factor * value for value in one]) for at, one in enumerate(values)]
    for rule in ALONE:
        events = _events(said(rule, *plain, scale=scale))
        assert _events(said(rule, *larger, scale=scale)) == events
        turned = said(rule, *reversed(plain), scale=scale)
        assert {one.text for one in turned} == set(texts(rule, *plain, scale=scale))


def _events(found: Sequence[Observation]) -> list[tuple[object, ...]]:
    return sorted((one.rule, one.series, one.from_step, one.to_step, one.mark or 0.0) for one in found)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 3))
def test_dips_agree_with_their_definition(values: list[int], threshold: int) -> None:
    """A dip is as deep as the lower of the highest readings on each side before a lower one; by hand."""
    found = find_dips(np.array(values, dtype=np.float64), float(threshold))
    for turn in found:
        low = values[turn.place]
        left = _before_lower(values[: turn.place][::-1], low, strictly=False)
        right = _before_lower(values[turn.last + 1 :], low, strictly=True)
        assert turn.prominence == min(max(left) - low, max(right) - low) > threshold
        assert turn.left < turn.place <= turn.last < turn.right
    deepest = max((_depth(values, at) for at in range(len(values))), default=0)
    assert bool(found) == (deepest > threshold)
    assert not found or found[0].prominence == deepest


def _before_lower(values: Sequence[int], low: int, *, strictly: bool) -> list[int]:
    """The readings before one that is lower, or as low."""
    taken = []
    for value in values:
        if value < low or (value == low and not strictly):
            break
        taken.append(value)
    return taken


def _depth(values: Sequence[int], at: int) -> int:
    """How deep a reading lies below the lower of the highest readings on its two sides."""
    before, after = values[:at], values[at + 1 :]
    return min(max(before), max(after)) - values[at] if before and after else 0


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_the_deepest_fall_is_the_largest_of_all_pairs(values: list[int]) -> None:
    """Every pair of readings, tried out; and no setback is deeper."""
    fall = find_deepest_fall(np.array(values, dtype=np.float64))
    pairs = [a - b for at, a in enumerate(values) for b in values[at:]]
    assert fall.depth == max(pairs) == values[fall.start] - values[fall.end]
    assert all(one.depth <= fall.depth for one in find_setbacks(np.array(values, dtype=np.float64)))


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=50), st.sampled_from([1, 3, 5, 21]))
def test_the_running_mean_is_the_mean_of_its_window(values: list[float], width: int) -> None:
    """Also at the ends, where the window is cut off."""
    found = running_mean(np.array(values), width)
    for at, mean in enumerate(found.tolist()):
        inside = values[max(at - width // 2, 0) : at + width // 2 + 1]
        assert mean == pytest.approx(sum(inside) / len(inside), abs=1e-9)


def test_neither_slope_nor_bend_of_a_curve_is_noise() -> None:
    """A smooth learning curve jitters by next to nothing, and noise is found through any trend."""
    steps = np.arange(100.0)
    noise = np.random.default_rng(7).normal(0, 0.01, steps.size)
    bent = 1 - np.exp(-steps / 15)
    flat_scale, bent_scale = (
        estimate_noise(curve("A", values.tolist())).value for values in (noise, bent + noise)
    )
    assert estimate_noise(curve("A", bent.tolist())).value < 0.001
    assert bent_scale == pytest.approx(flat_scale, rel=0.2)
    # Twice the median difference of white noise is 1.9 of its deviations.
    assert flat_scale == pytest.approx(0.019, rel=0.3)
