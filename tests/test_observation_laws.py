"""Laws of observations, and what they say of long curves; single ones are in ``transcripts/observations.md``.

Rewards that rise and stay, losses that fall over decades, noise between runs and steps, runs that end early:
what is said of them is what is known, and no sentence contradicts another, or a claim.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise, takewhile
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import curve, curve_set
from made_outcomes import matrix, scored
from msgspec.structs import replace
from tries import tries

from reportgen.claims.observations.choosing import RULES, observe_curves, observe_scores, order_observations
from reportgen.claims.subjects import CurveSubject
from reportgen.core.model import ReducedMetric, Run
from reportgen.core.statements import Observation, Scale
from reportgen.statistics.curves.mean_curves import compute_curves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import Curve, CurveSet, FloatArray

HIGHER, LOWER = Scale("reward"), Scale("loss", higher_is_better=False)
STEPS = np.arange(300.0)
SHARE = Scale("mean score", step_name="", bounds=(0.0, 1.0))


def observe(
    *curves: Curve, scale: Scale = HIGHER, rule: str = "", precision: float = 0.0
) -> tuple[Observation, ...]:
    """What a rule, or all but one of several metrics, find in curves of one metric."""
    rules = [one for one in RULES if rule in {"", one}]
    return observe_curves([(curve_set(*curves), scale)], rules, [precision])


def measure(series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]]) -> CurveSet:
    """Curves of some runs, each with its steps and values, as a report draws them."""
    runs = tuple(
        Run(name, str(seed), str(seed), steps.astype(np.float64), values)
        for name, each in series.items()
        for seed, (steps, values) in enumerate(each)
    )
    return compute_curves(ReducedMetric("reward", runs, 0, 0, None, None))


def find(
    series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]], scale: Scale = HIGHER
) -> tuple[Observation, ...]:
    """All that rules find in these runs."""
    return observe_curves([(measure(series), scale)])


def rising(steps: FloatArray, end: float, tau: float) -> FloatArray:
    """A reward that rises from 0.2 and saturates."""
    return 0.2 + (end - 0.2) * (1 - np.exp(-steps / tau))


def make_runs(
    seed: int, ends: Mapping[str, float], runs: int, *, n: int = 60
) -> dict[str, list[tuple[FloatArray, FloatArray]]]:
    """Runs of rewards with noise between runs and between steps."""
    rng, steps = np.random.default_rng(seed), np.arange(float(n))
    return {
        name: [
            (steps, rising(steps, end, n / 6) + rng.normal(0, 0.02) + rng.normal(0, 0.02, n))
            for _ in range(runs)
        ]
        for name, end in ends.items()
    }


# ---- laws -----------------------------------------------------------------------------------------

READING = st.integers(0, 40).map(lambda n: n / 40)
SERIES = st.lists(READING, min_size=1, max_size=12)
SETS = st.tuples(st.lists(SERIES, min_size=1, max_size=5), st.integers(0, 1))


def make_curves(values: list[list[float]], steps_apart: int = 0, factor: float = 1.0) -> list[Curve]:
    """A curve for each list; some have every step, others every second."""
    made = []
    for place, one in enumerate(values):
        stride = 2 if steps_apart and place % 2 else 1
        steps = [float(stride * at) for at in range(len(one))]
        made.append(curve("ABCDE"[place], [factor * value for value in one], steps=steps))
    return made


def list_events(found: Sequence[Observation]) -> list[tuple[object, ...]]:
    """Rules, series, steps and marks."""
    return sorted(
        (one.rule, one.series, one.from_step, one.to_step, one.mark_series or "", one.mark or 0.0)
        for one in found
    )


# Powers of two, which round nothing: of equal readings, rounding could make one the larger. An example is
# observed 40 times.
@settings(max_examples=tries(20, 200))
@given(SETS, st.sampled_from([HIGHER, LOWER]), st.sampled_from([2.0**-10, 0.25, 8.0, 1024.0]))
def test_order_and_size_change_nothing(
    made: tuple[list[list[float]], int], scale: Scale, factor: float
) -> None:
    """The same sentences with the same evidence whichever series is first; scaled, the same events."""
    found = observe(*make_curves(*made), scale=scale)
    assert found == observe(*make_curves(*made)[::-1], scale=scale)
    for rule in RULES:
        alone = observe(*make_curves(*made), scale=scale, rule=rule)
        larger = observe(*make_curves(*made, factor=factor), scale=scale, rule=rule)
        assert list_events(alone) == list_events(larger)


def test_the_order_of_noisy_series_and_of_metrics_changes_nothing() -> None:
    """Also with bands, with many steps, and with the metrics of one block."""
    for runs, n in ((1, 60), (5, 40), (5, 8)):
        made = measure(make_runs(7, {"A": 0.7, "B": 0.4, "C": 0.6}, runs, n=n))
        turned = replace(made, curves=made.curves[::-1])
        metrics = [(made, HIGHER), (made, LOWER)]
        assert observe_curves(metrics) == observe_curves([(turned, scale) for _, scale in metrics[::-1]])


@given(st.lists(SERIES, min_size=2, max_size=2), READING)
def test_better_turned_is_worse(values: list[list[float]], shift: float) -> None:
    """Negative values where lower is better say the same as the values where higher is."""
    curves = make_curves(values)
    turned = [replace(one, values=shift - one.values) for one in curves]
    plain = [(one.series, one.mark, one.from_step) for one in observe(*curves, rule="crossing")]
    other = observe(*turned, scale=LOWER, rule="crossing")
    assert plain == [(one.series, one.mark, one.from_step) for one in other]


@given(st.lists(SERIES, min_size=2, max_size=3))
def test_a_constant_series_below_adds_no_crossing(values: list[list[float]]) -> None:
    """Who leads where stays what it was, since the constant one leads nowhere."""
    curves = make_curves(values)
    length = max(one.steps.size for one in curves)
    constant = curve("E", [min(one.values.min() for one in curves)] * length)

    def changes(*curves: Curve) -> list[str]:
        found = [one for one in observe(*curves, rule="crossing") if " is ahead" in one.text]
        return [re.sub(" ahead of [A-E]", " ahead", one.text.partition(";")[0]) for one in found]

    if all(one.steps.size == length for one in curves):
        assert changes(*curves, constant) == changes(*curves)


FEW = st.lists(st.integers(0, 9), min_size=5, max_size=19)  # so few that each reading counts


@given(FEW, st.integers(0, 3), st.sampled_from(["dip", "spike"]))
def test_dips_agree_with_their_definition(values: list[int], precision: int, rule: str) -> None:
    """A dip is as deep as the lower of the highest readings on each side before a lower one; by hand.

    The four deepest are told of those that win back a third of their fall, each between the nearest readings
    that are nearly as high as its lower side. Peaks are the dips of the negated readings.
    """
    least, dips = max(0.01 * (max(values) - min(values)), precision), []
    for at, low in enumerate(values):
        left = take_before_lower(values[:at][::-1], low, strictly=False)
        right = take_before_lower(values[at + 1 :], low, strictly=True)
        sides = [max(side) - low for side in (left, right) if side]
        if len(sides) == 2 and min(sides) > least and sides[1] >= 0.35 * sides[0]:
            high = [place for place, value in enumerate(values) if value >= low + 0.9 * min(sides)]
            before, after = (
                max(place for place in high if place < at),
                min(place for place in high if place > at),
            )
            dips.append(
                (-min(sides), at, at + len(list(takewhile(low.__eq__, values[at + 1 :]))), before, after)
            )
    readings = [value if rule == "dip" else -value for value in values]
    found = observe(curve("A", readings), rule=rule, precision=precision)
    depths = []
    for one in found:
        last = re.search(r"stay there until step (\d+)", one.text)
        depth, place = -round(one.strength * least, 6), one.mark or 0
        depths.append((depth, place, int(last[1]) if last else place, one.from_step or 0, one.to_step))
    assert sorted(depths) == sorted(dips)[:4]


def take_before_lower(values: Sequence[int], low: int, *, strictly: bool) -> list[int]:
    """The readings before one that is lower, or as low."""
    taken = []
    for value in values:
        if value < low or (value == low and not strictly):
            break
        taken.append(value)
    return taken


def read_fall(words: str) -> tuple[float, float, int, int]:
    """Depth, height, and the places of both readings of a fall in words, whichever way is down."""
    numbers = re.findall(r"−?[\d.]+", words.replace(" at step", ""))
    depth, high, start, _, end = (float(number.replace("−", "-")) for number in numbers)
    return depth, high, int(start), int(end)


@given(st.lists(st.integers(0, 9), min_size=5, max_size=17), st.sampled_from([1, -1]))
def test_the_deepest_fall_is_the_largest_of_all_pairs(values: list[int], sign: int) -> None:
    """Every pair of readings of a series that rises over all its falls, tried out."""
    values = [0, *values, 10]
    (found,) = observe(curve("A", [sign * value for value in values]), rule="steady", precision=9.5)
    depth = max(a - b for at, a in enumerate(values) for b in values[at:])
    words = found.evidence[-1]
    assert (words == "A has no step back") is (depth == 0)
    if depth:
        told, high, start, end = read_fall(words)
        assert told == depth == values[start] - values[end]
        assert (high, start < end) == (sign * values[start], True)


@given(FEW, st.sampled_from([HIGHER, LOWER]))
def test_a_volatile_series_falls_back_by_each_of_its_falls(values: list[int], scale: Scale) -> None:
    """Each as long as it goes on, the five deepest first, of which the first is marked; by hand."""
    calm = curve("B", [0.001 * at**2 for at in range(len(values))])
    sign = 1 if scale is HIGHER else -1
    found = observe(
        curve("A", [sign * value for value in values]),
        replace(calm, values=sign * calm.values),
        rule="instability",
        scale=scale,
    )
    falls, start = [], 0
    for at, (value, after) in enumerate(pairwise([*values, 10])):
        if after >= value:
            falls += [(value - values[start], start, at)] if at > start else []
            start = at + 1
    falls.sort()
    if not falls or len({after - value for value, after in pairwise(values)}) == 1:
        assert found == ()
        return
    told = [read_fall(words) for words in found[0].evidence[1:]]
    assert [(-depth, start, end) for depth, _, start, end in told] == falls[:5]
    assert found[0].mark == falls[0][2]


# ---- long curves ------------------------------------------------------------------------------------


def test_a_spike_of_one_step_in_a_long_loss_is_found() -> None:
    """Step 618 of 1,000, where nothing else happens; that it still falls is no plateau."""
    steps = np.arange(1.0, 1001.0)
    loss = (10 * steps**-0.5 + 1) * np.exp(np.random.default_rng(6).normal(0, 0.02, 1000))
    loss[617] += 2.5
    found = find({"run": [(steps, loss)]}, LOWER)
    (told,) = [one.text for one in found if one.rule == "spike"]
    assert re.match(r"run spikes from 1\.\d+ at step 617 to 3\.\d+ at step 618; by step 619 it is ", told)
    assert not any(one.rule == "plateau" for one in found)


def count_decimals(values: FloatArray, steps: FloatArray, rule: str) -> int:
    """The decimals of the first reading, which are as many as half its noise has, or half a hundredth."""
    (found,) = observe(curve("A", values.tolist(), steps=steps.tolist()), rule=rule)
    return len(found.evidence[0].partition(" = ")[2].partition(".")[2].split(" ")[0].rstrip(";"))


def test_neither_slope_nor_bend_of_a_curve_is_noise() -> None:
    """A smooth learning curve jitters by next to nothing, and noise is found through any trend."""
    steps = np.arange(100.0)
    noise = np.random.default_rng(7).normal(0, 0.01, steps.size)
    bent = 1 - np.exp(-steps / 15)
    # Half of twice the median difference of white noise is 0.95 of its deviation.
    for factor, decimals in ((0.9, 3), (1.2, 2)):
        assert count_decimals(factor * noise, steps, "steady") == decimals
        assert count_decimals(factor * (bent + noise), steps, "rise") == decimals
    few, uneven = np.arange(50.0), np.cumsum([1.0, 5.0] * 25)
    for course, at in ((bent[:50], few), (few / 49, few), (uneven / 150, uneven)):
        assert count_decimals(course, at, "rise") == 3


@given(st.lists(st.floats(0, 1), min_size=19, max_size=70), st.sampled_from([0, 1, 4, 7]))
def test_a_band_is_widest_where_the_mean_of_a_window_is(values: list[float], repeats: int) -> None:
    """Of a tenth of the steps, an odd number, also at the ends, where the window is cut off."""
    half = np.array([1.0, *values, *[0.5] * (30 * repeats)])
    tenth = half.size // 10
    width = min(max(tenth - (tenth % 2 == 0), 3), 21)
    places = range(half.size)
    means = [float(half[max(at - width // 2, 0) : at + width // 2 + 1].mean()) for at in places]
    lone = replace(curve("A", [0.0] * half.size), low=-half, high=half)
    found = observe(lone, rule="uncertain here")
    ratio = max(means) / float(half.mean()) / 1.25
    assert bool(found) is (ratio > 1)
    for one in found:
        assert one.strength == pytest.approx(ratio)
        assert means[int(one.mark or 0)] == pytest.approx(max(means))
        assert f"mean of {width} steps" in one.evidence[0]


def test_runs_that_end_early_are_told() -> None:
    """A band is wide where one of three runs has ended."""
    rng = np.random.default_rng(3)
    ended = [(STEPS[:end], rng.normal(0.5, 0.02, end)) for end in (300, 300, 150)]
    (wide,) = [one.text for one in find({"A": ended}) if one.rule == "uncertain here"]
    assert wide.endswith("with 2 of its 3 runs.")


def test_a_series_that_does_not_change_is_not_infinitely_calmer() -> None:
    """It is told as it is."""
    steps = np.arange(50.0)
    moving = rising(steps, 0.8, 8) + np.random.default_rng(1).normal(0, 0.01, 50)
    told = find({"flat": [(steps, np.full(50, 0.5))], "moves": [(steps, moving)]})
    assert not any(one.rule == "instability" for one in told)
    assert any(one.rule == "steady" and one.series == ("flat",) for one in told)


# ---- sentences and claims ---------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_sentences_about_the_end_say_what_claims_say(runs: int) -> None:
    """Who ends best, who is unclear, and groups, against ``better`` and ``unclear`` of the facts."""
    decided = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, runs])
        names = "ABCDEF"[: int(rng.integers(2, 6))]
        made = measure(make_runs(seed, {name: 0.6 + 0.03 * rng.normal() for name in names}, runs))
        subject = CurveSubject(made, HIGHER, {"accuracy": made}.__getitem__)
        better = {(a, b) for a in names for b in names if a != b and subject.fact("better", (a, b)).value}
        unclear = {pair for pair in combinations(names, 2) if subject.fact("unclear", pair).value}
        unclear |= {(b, a) for a, b in unclear}
        for one in observe_curves([(made, HIGHER)]):
            first = re.search(r"\b([A-F])(?: \([^)]*\))? ends highest", one.text)
            decided += bool(first)
            assert not first or {(first[1], other) for other in names if other != first[1]} <= better
            assert_agrees(one, better, unclear)
    assert decided or runs < 5


def assert_agrees(one: Observation, better: set[tuple[str, str]], unclear: set[tuple[str, str]]) -> None:
    """What a sentence about the end says is so by the facts."""
    if open_ := re.search(r"last readings are (.*): no clear winner", one.text):
        who = re.findall(r"\b([A-F]) \(", open_[1])
        assert {(who[0], other) for other in who[1:]} <= unclear, one.text
    if one.rule == "tiers":
        groups = [re.findall(r"\b([A-F])\b", part) for part in one.text.split(": ", 1)[1].split(";")]
        pairs = combinations(groups, 2)
        assert {(a, b) for above, below in pairs for a in above for b in below} <= better, one.text
    if one.rule == "same start" and "to the end" in one.text:
        assert not better, one.text
    if one.rule == "converge":
        assert {(one.series[0], other) for other in one.series[1:]} <= unclear, one.text


def test_two_runs_that_rise_are_not_called_unchanged() -> None:
    """The band of two runs is wide beyond measure; what both do is told, and who is best comes first."""
    assert any(one.rule == "rise" for one in find(make_runs(1, {"A": 0.7, "B": 0.76}, 2, n=200)))
    assert find(make_runs(4, {"A": 0.7, "B": 0.7}, 5))[0].rule == "best"


def test_every_sentence_rests_on_something_that_differs_from_its_threshold() -> None:
    """Also one about leads of many series of which nobody leads; digits are added until they do."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        many = {
            name: [(STEPS[:80], rising(STEPS[:80], 0.6 + 0.05 * rng.normal(), 20) + rng.normal(0, 0.02, 80))]
            for name in "ABCDE"
        }
        for one in find(many):
            assert one.evidence, one.text
            assert one.threshold, one.text
            sides = re.match(r"(\S+) is more than (\S+),", one.threshold)
            assert not sides or sides[1] != sides[2]


def test_numbers_of_any_size_are_no_trouble() -> None:
    """Where squares and fourth powers are none any more."""
    for size in (1e-300, 1e-140, 1e140, 1e300):
        rng = np.random.default_rng(6)
        for runs in (1, 3):
            huge = {name: [(STEPS[:60], size * rng.random(60)) for _ in range(runs)] for name in "AB"}
            assert all(one.text.endswith(".") for one in find(huge))


# ---- scores and order -------------------------------------------------------------------------------


def test_the_order_of_series_changes_no_score_observation() -> None:
    """The same sentences, whichever series comes first."""
    chance = np.random.default_rng(3).random((4, 40, 4))
    right = (chance < np.array([0.8, 0.55, 0.5, 0.2])[:, None, None]).astype(np.float64)
    made = [
        scored(matrix(right[order], series=[f"S{at}" for at in order]))
        for order in ([0, 1, 2, 3], [3, 1, 0, 2])
    ]
    told = [observe_scores(one.scores, one.comparisons, one.groups, SHARE) for one in made]
    assert [one.text for one in told[0]] == [one.text for one in told[1]]
    assert len(told[0]) >= 3
    assert observe_scores((), (), (), SHARE) == ()


def test_order_mixes_rules_series_and_metrics() -> None:
    """Ten dips of one series do not hide a gap that is half as strong."""

    def one(rule: str, series: str, strength: float, step: float) -> Observation:
        return Observation(rule, f"{rule} {series} {step}.", (), "", (series,), strength, "m", step, step)

    dips = [one("dip", "A", 8.0, step) for step in range(10)]
    gap, rise = one("widest gap", "B", 4.0, 3), one("rise", "A", 3.0, 1)
    expected = order_observations([*dips, gap, rise])
    assert [one.rule for one in expected[:3]] == ["dip", "widest gap", "rise"]
    assert order_observations([rise, gap, *dips[::-1]]) == expected
    assert sorted(one.text for one in expected) == sorted(one.text for one in [*dips, gap, rise])
