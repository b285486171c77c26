"""Laws of observations, and what they say of long curves; single ones are in ``transcripts/observations.md``.

Rewards that rise and stay, losses that fall over decades, noise between runs and steps, runs that end early:
what is said of them is what is known, and no sentence contradicts another, or a claim.
"""

from __future__ import annotations

import re
from itertools import combinations
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
from reportgen.claims.observations.dips import find_deepest_fall, find_dips, find_setbacks
from reportgen.claims.observations.instability import running_mean
from reportgen.claims.observations.noise import estimate_noise
from reportgen.claims.subjects import CurveSubject
from reportgen.core.model import ReducedMetric, Run
from reportgen.core.statements import Observation, Scale
from reportgen.settings.block_parts import Rule
from reportgen.statistics.curves.mean_curves import compute_curves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import Curve, CurveSet, FloatArray

HIGHER, LOWER = Scale("reward"), Scale("loss", higher_is_better=False)
STEPS = np.arange(300.0)
SHARE = Scale("mean score", step_name="", bounds=(0.0, 1.0))


def observe(
    *curves: Curve, scale: Scale = HIGHER, rules: tuple[Rule, ...] = tuple(RULES)
) -> tuple[Observation, ...]:
    """What rules find in curves of one metric."""
    return observe_curves([(curve_set(*curves), scale)], rules=rules)


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


@settings(max_examples=tries(30, 300))
@given(SETS, st.sampled_from([HIGHER, LOWER]), st.sampled_from([0.001, 0.25, 3.0, 1024.0]))
def test_order_and_size_change_nothing(
    made: tuple[list[list[float]], int], scale: Scale, factor: float
) -> None:
    """The same sentences with the same evidence whichever series is first; scaled, the same events."""
    found = observe(*make_curves(*made), scale=scale)
    assert found == observe(*make_curves(*made)[::-1], scale=scale)
    for rule in RULES:
        alone = observe(*make_curves(*made), scale=scale, rules=(rule,))
        larger = observe(*make_curves(*made, factor=factor), scale=scale, rules=(rule,))
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
    lead = (Rule.CROSSING,)
    plain = [(one.series, one.mark, one.from_step) for one in observe(*curves, rules=lead)]
    other = observe(*turned, scale=LOWER, rules=lead)
    assert plain == [(one.series, one.mark, one.from_step) for one in other]


@given(st.lists(SERIES, min_size=2, max_size=3))
def test_a_constant_series_below_adds_no_crossing(values: list[list[float]]) -> None:
    """Who leads where stays what it was, since the constant one leads nowhere."""
    curves = make_curves(values)
    length = max(one.steps.size for one in curves)
    constant = curve("E", [min(one.values.min() for one in curves)] * length)

    def changes(*curves: Curve) -> list[str]:
        found = [one for one in observe(*curves, rules=(Rule.CROSSING,)) if " is ahead" in one.text]
        return [re.sub(" ahead of [A-E]", " ahead", one.text.partition(";")[0]) for one in found]

    if all(one.steps.size == length for one in curves):
        assert changes(*curves, constant) == changes(*curves)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 3))
def test_dips_agree_with_their_definition(values: list[int], threshold: int) -> None:
    """A dip is as deep as the lower of the highest readings on each side before a lower one; by hand."""
    found = find_dips(np.array(values, dtype=np.float64), float(threshold))
    for turn in found:
        low = values[turn.place]
        left = take_before_lower(values[: turn.place][::-1], low, strictly=False)
        right = take_before_lower(values[turn.last + 1 :], low, strictly=True)
        assert turn.prominence == min(max(left) - low, max(right) - low) > threshold
        assert turn.left < turn.place <= turn.last < turn.right
    around = [(values[:at], one, values[at + 1 :]) for at, one in enumerate(values)]
    depths = [min(max(before), max(after)) - one for before, one, after in around if before and after]
    deepest = max(depths, default=0)
    assert bool(found) == (deepest > threshold)
    assert not found or found[0].prominence == deepest


def take_before_lower(values: Sequence[int], low: int, *, strictly: bool) -> list[int]:
    """The readings before one that is lower, or as low."""
    taken = []
    for value in values:
        if value < low or (value == low and not strictly):
            break
        taken.append(value)
    return taken


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_the_deepest_fall_is_the_largest_of_all_pairs(values: list[int]) -> None:
    """Every pair of readings, tried out; and no setback is deeper."""
    readings = np.array(values, dtype=np.float64)
    fall = find_deepest_fall(readings)
    pairs = [a - b for at, a in enumerate(values) for b in values[at:]]
    assert fall.depth == max(pairs) == values[fall.start] - values[fall.end]
    assert all(one.depth <= fall.depth for one in find_setbacks(readings))


# ---- long curves ------------------------------------------------------------------------------------


def test_a_spike_of_one_step_in_a_long_loss_is_found() -> None:
    """Step 618 of 1,000, where nothing else happens; that it still falls is no plateau."""
    steps = np.arange(1.0, 1001.0)
    loss = (10 * steps**-0.5 + 1) * np.exp(np.random.default_rng(6).normal(0, 0.02, 1000))
    loss[617] += 2.5
    found = find({"run": [(steps, loss)]}, LOWER)
    (told,) = [one.text for one in found if one.rule == Rule.SPIKE]
    assert re.match(r"run spikes from 1\.\d+ at step 617 to 3\.\d+ at step 618; by step 619 it is ", told)
    assert not any(one.rule == Rule.PLATEAU for one in found)


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


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=50), st.sampled_from([1, 3, 5, 21]))
def test_the_running_mean_is_the_mean_of_its_window(values: list[float], width: int) -> None:
    """Also at the ends, where the window is cut off."""
    for at, mean in enumerate(running_mean(np.array(values), width).tolist()):
        inside = values[max(at - width // 2, 0) : at + width // 2 + 1]
        assert mean == pytest.approx(sum(inside) / len(inside), abs=1e-9)


def test_runs_that_end_early_are_told() -> None:
    """A band is wide where one of three runs has ended."""
    rng = np.random.default_rng(3)
    ended = [(STEPS[:end], rng.normal(0.5, 0.02, end)) for end in (300, 300, 150)]
    (wide,) = [one.text for one in find({"A": ended}) if one.rule == Rule.UNCERTAIN_HERE]
    assert wide.endswith("with 2 of its 3 runs.")


def test_a_series_that_does_not_change_is_not_infinitely_calmer() -> None:
    """It is told as it is."""
    steps = np.arange(50.0)
    moving = rising(steps, 0.8, 8) + np.random.default_rng(1).normal(0, 0.01, 50)
    told = find({"flat": [(steps, np.full(50, 0.5))], "moves": [(steps, moving)]})
    assert not any(one.rule == Rule.INSTABILITY for one in told)
    assert any(one.rule == Rule.STEADY and one.series == ("flat",) for one in told)


# ---- sentences and claims ---------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_sentences_about_the_end_say_what_claims_say(runs: int) -> None:
    """Who ends best, who is unclear, and groups, against ``better`` and ``unclear`` of the facts."""
    decided = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, runs])
        names = "ABCDEF"[: int(rng.integers(2, 6))]
        made = measure(make_runs(seed, {name: 0.6 + 0.03 * rng.normal() for name in names}, runs))
        subject = CurveSubject(made, HIGHER)
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
    if one.rule == Rule.TIERS:
        groups = [re.findall(r"\b([A-F])\b", part) for part in one.text.split(": ", 1)[1].split(";")]
        pairs = combinations(groups, 2)
        assert {(a, b) for above, below in pairs for a in above for b in below} <= better, one.text
    if one.rule == Rule.SAME_START and "to the end" in one.text:
        assert not better, one.text
    if one.rule == Rule.CONVERGE:
        assert {(one.series[0], other) for other in one.series[1:]} <= unclear, one.text


def test_two_runs_that_rise_are_not_called_unchanged() -> None:
    """The band of two runs is wide beyond measure; what both do is told, and who is best comes first."""
    assert any(one.rule == Rule.RISE for one in find(make_runs(1, {"A": 0.7, "B": 0.76}, 2, n=200)))
    assert find(make_runs(4, {"A": 0.7, "B": 0.7}, 5))[0].rule == Rule.BEST


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

    def one(rule: Rule, series: str, strength: float, step: float) -> Observation:
        return Observation(rule, f"{rule} {series} {step}.", (), "", (series,), strength, "m", step, step)

    dips = [one(Rule.DIP, "A", 8.0, step) for step in range(10)]
    gap, rise = one(Rule.WIDEST_GAP, "B", 4.0, 3), one(Rule.RISE, "A", 3.0, 1)
    expected = order_observations([*dips, gap, rise])
    assert [one.rule for one in expected[:3]] == [Rule.DIP, Rule.WIDEST_GAP, Rule.RISE]
    assert order_observations([rise, gap, *dips[::-1]]) == expected
    assert sorted(one.text for one in expected) == sorted(one.text for one in [*dips, gap, rise])
