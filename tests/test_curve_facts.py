"""Facts about curves: hand-worked values, every edge, and what is said where there is no answer."""

from __future__ import annotations

import math
from statistics import stdev
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from made_figures import curve, curve_set
from msgspec.structs import replace
from scipy import stats

from reportgen.claims.subjects import CurveSubject
from reportgen.claims.vocabulary import FactError, collect_facts, drop_infinite, format_call
from reportgen.core.comparisons import Verdict
from reportgen.core.facts import FACTS
from reportgen.core.model import Curve, Run
from reportgen.core.statements import Fact, Quantity, Scale
from reportgen.statistics.curves.mean_curves import compare_curves
from reportgen.statistics.curves.readings import compute_differences, find_crossings, remove_trend, volatility
from reportgen.statistics.verdicts import adjust_comparisons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.claims.vocabulary import Argument, Subject

STEPS = [0.0, 40.0, 80.0, 120.0, 200.0]
MEL = [0.2, 0.5, 0.7, 0.84, 0.82]
GRPO = [0.3, 0.45, 0.75, 0.8, 0.81]
PAIR_FACTS = [
    name for name, kind in FACTS.items() if "curves" in kind.holds and kind.parameters[0].name == "a"
]


def subject(*curves: Curve, lower: bool = False, time: bool = False, **fields: Any) -> CurveSubject:  # noqa: ANN401 - fields of a CurveSet
    """Facts about these curves."""
    scale = Scale("accuracy", higher_is_better=not lower, step_is_time=time)
    return CurveSubject(curve_set(*curves, **fields), scale)


def two(**fields: Any) -> CurveSubject:  # noqa: ANN401 - fields of a CurveSet
    """The two curves above, with three runs and a band each."""
    made = [curve(name, values, steps=STEPS, half=0.02, runs=3) for name, values in named()]
    return subject(*made, **fields)


def named() -> tuple[tuple[str, list[float]], ...]:
    """The names and values of the two curves above."""
    return ("MEL", MEL), ("GRPO", GRPO)


def spread(series: str, runs: Sequence[Sequence[float]], steps: Sequence[Sequence[float]]) -> Curve:
    """A curve of runs with steps of their own, with the mean of those that have a step there."""
    grid = np.unique(np.concatenate([np.array(one) for one in steps]))
    made = tuple(
        Run(series, f"run {i}", str(i), np.array(x, dtype=float), np.array(y, dtype=float))
        for i, (x, y) in enumerate(zip(steps, runs, strict=True))
    )
    n = np.array([sum(run.steps[0] <= x <= run.steps[-1] for run in made) for x in grid], dtype=np.int64)
    values = np.array(
        [
            np.mean([np.interp(x, r.steps, r.values) for r in made if r.steps[0] <= x <= r.steps[-1]])
            for x in grid
        ]
    )
    unknown = np.full(grid.size, np.nan)
    return Curve(series, grid, values, unknown, unknown, n, made)


def value(of: Subject, name: str, *arguments: Argument) -> float | bool | None:
    """The value of a fact."""
    return of.fact(name, arguments).value


def test_values_of_one_curve() -> None:
    """Start, final, peak and trough are the curve's own points; a peak was picked, and has no interval."""
    of = two()
    assert [value(of, name, "MEL") for name in ("start", "final", "peak", "trough")] == [0.2, 0.82, 0.84, 0.2]
    assert [value(of, name, "MEL") for name in ("peak_step", "trough_step")] == [120.0, 0.0]
    assert of.fact("peak", ("MEL",)) == Fact(
        call="peak(MEL)",
        quantity=Quantity.VALUE,
        value=0.84,
        series=("MEL",),
        step=120.0,
        n=3,
        note="best of 5 checkpoints",
    )
    final = of.fact("final", ("MEL",))
    assert (final.low, final.high) == (0.82 - 0.02, 0.82 + 0.02)
    assert of.fact("peak_step", ("MEL",)).step == 120.0


def test_the_best_is_the_lowest_where_lower_is_better() -> None:
    """Peak is always the best and trough the worst; values are told as measured."""
    of = subject(curve("loss", [3.0, 1.0, 0.5, 0.7]), lower=True)
    assert (value(of, "peak", "loss"), value(of, "peak_step", "loss")) == (0.5, 2.0)
    assert (value(of, "trough", "loss"), value(of, "trough_step", "loss")) == (3.0, 0.0)
    assert value(of, "steps_to", "loss", 2.0) == 0.5
    assert of.fact("steps_to", ("loss", 0.4)).reason == "loss never reaches 0.4"


def test_the_first_of_equal_extremes_counts() -> None:
    """Peak and trough stand at the first step that has them."""
    of = subject(curve("A", [1.0, 3.0, 1.0, 3.0, 1.0]))
    assert (value(of, "peak_step", "A"), value(of, "trough_step", "A")) == (1.0, 0.0)


def test_at_a_step_of_its_own_and_between_two() -> None:
    """Between two steps the value lies on the line between them."""
    of = two()
    assert value(of, "at", "MEL", 120.0) == 0.84
    assert value(of, "at", "MEL", 100.0) == pytest.approx(0.77)
    between = of.fact("at", ("MEL", 100.0))
    assert [between.low, between.high, between.step] == pytest.approx([0.75, 0.79, 100.0])


@pytest.mark.parametrize("step", [-1.0, 200.5, 1e300])
def test_outside_the_range_there_is_no_value(step: float) -> None:
    """Nothing is extrapolated: the question is at fault, and its author is told the range."""
    for name, arguments in (
        ("at", ("MEL", step)),
        ("band_width", ("MEL", step)),
        ("gap", ("MEL", "GRPO", step)),
    ):
        with pytest.raises(FactError, match="MEL has no value at step") as raised:
            two().fact(name, arguments)
        assert raised.value.next_step == "It has values from step 0 to step 200"


def test_a_step_up_to_rounding_is_that_step() -> None:
    """The last of ten steps of 0.1 is not exactly 1, and nobody can type it otherwise."""
    steps = np.cumsum([0.1] * 10).tolist()
    assert steps[-1] != 1.0
    of = subject(curve("A", list(range(10)), steps=steps))
    assert value(of, "at", "A", 1.0) == 9.0
    assert of.fact("at", ("A", 1.0)).step == steps[-1]
    assert value(of, "mean", "A", 1.0, 1.0) == 9.0


def test_one_point() -> None:
    """A series with one point has values there, and no more."""
    of = subject(curve("A", [0.5], steps=[30.0]), curve("B", [0.1, 0.2], steps=[20.0, 40.0]))
    assert [value(of, name, "A") for name in ("start", "final", "peak", "trough")] == [0.5] * 4
    assert value(of, "at", "A", 30.0) == 0.5
    with pytest.raises(FactError) as raised:
        of.fact("at", ("A", 31.0))
    assert raised.value.next_step == "Its only value is at step 30"
    assert of.fact("volatility", ("A",)).reason == "3 steps are needed, A has 1"
    assert value(of, "widest_gap", "A", "B") == pytest.approx(0.35)
    assert (value(of, "widest_gap_step", "A", "B"), value(of, "crossings", "A", "B")) == (30.0, 0.0)


def test_missing_values_inside_a_curve() -> None:
    """What is no number is no point: it is neither the end nor the best, and is bridged by a line."""
    made = curve("A", [math.nan, 1.0, math.nan, 3.0, math.inf, 2.0, -math.inf])
    of = subject(made)
    assert (value(of, "start", "A"), value(of, "final", "A"), value(of, "peak", "A")) == (1.0, 2.0, 3.0)
    assert value(of, "at", "A", 2.0) == 2.0
    assert value(of, "mean", "A", 0.0, 6.0) == 2.0
    with pytest.raises(FactError):
        of.fact("at", ("A", 0.0))


def test_a_series_without_a_finite_value() -> None:
    """It is known by name, and every fact about it says why there is no answer."""
    nothing = curve("A", [math.nan, math.nan])
    of = subject(nothing, curve("B", [1.0, 2.0]), without_values=(("C", None), ("B", "run 2")))
    assert of.series == ("A", "B", "C")
    assert of.fact("final", ("A",)).reason == "no finite value of A"
    assert of.fact("better", ("A", "C")).reason == "no finite value of A and C"
    assert of.fact("gap", ("A", "B", 0.0)).value is None


def test_smoothed_values_are_not_used() -> None:
    """Facts are about the unsmoothed centre; the band of the smoothed one is not its band."""
    made = curve("A", [0.3, 0.4, 0.5], half=0.1, runs=3, raw=[0.1, 0.9, 0.5])
    of = subject(made, smooth=0.6)
    fact = of.fact("peak", ("A",))
    assert (fact.value, fact.step, fact.low, fact.high) == (0.9, 1.0, None, None)
    assert of.fact("band_width", ("A", 1.0)).reason == "the band of A is that of the smoothed curve"


def test_mean_over_own_steps() -> None:
    """Both ends count, every own step once, however far apart."""
    of = two()
    assert value(of, "mean", "MEL", 40.0, 120.0) == pytest.approx((0.5 + 0.7 + 0.84) / 3)
    assert value(of, "mean", "MEL", -5.0, 1e9) == pytest.approx(sum(MEL) / 5)
    assert value(of, "mean", "MEL", 120.0, 120.0) == 0.84
    fact = of.fact("mean", ("MEL", 40.0, 130.0))
    assert (fact.from_step, fact.to_step) == (40.0, 130.0)


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        (121.0, 199.0, "MEL has no step from step 121 to step 199"),
        (300.0, 400.0, "MEL has no step from step 300 to step 400"),
        (120.0, 40.0, "There is no range from step 120 to step 40"),
    ],
)
def test_mean_without_a_step(first: float, last: float, message: str) -> None:
    """A range that holds no step of the series has no mean."""
    with pytest.raises(FactError, match=message):
        two().fact("mean", ("MEL", first, last))


@pytest.mark.parametrize(
    ("values", "level", "step"),
    [
        ([0.2, 0.4, 0.6], 0.5, 1.5),
        ([0.2, 0.4, 0.6], 0.6, 2.0),
        ([0.2, 0.4, 0.6], 0.4, 1.0),
        ([0.2, 0.4, 0.3, 0.4], 0.4, 1.0),
        ([0.8, 0.4, 0.9], 0.5, 0.0),
        ([0.5, 0.4, 0.9], 0.5, 0.0),
        ([0.2, 0.1 + 0.2], 0.3, 1.0),
        ([0.0, 1 - 2**-53], 1.0, 1.0),
    ],
)
def test_steps_to_a_level(values: list[float], level: float, step: float) -> None:
    """The first crossing, interpolated; where the series starts on the good side, its first step."""
    of = subject(curve("A", values))
    assert value(of, "steps_to", "A", level) == pytest.approx(step)


def test_a_level_that_is_never_reached() -> None:
    """That is an answer, not a fault: a fact without a value."""
    fact = two().fact("steps_to", ("MEL", 0.9))
    assert (fact.value, fact.reason) == (None, "MEL never reaches 0.9")


def test_gap_is_a_minus_b_as_measured() -> None:
    """Its sign is not turned where lower is better, and its interval is Welch's over runs."""
    of = two()
    fact = of.fact("gap", ("MEL", "GRPO", 120.0))
    assert fact.value == pytest.approx(0.04)
    a, b = of.curve_set.curves
    one = compare_curves(a, b, at=120.0)
    assert (fact.low, fact.high, fact.n) == (one.low, one.high, 3)
    turned = subject(*of.curve_set.curves, lower=True)
    assert value(turned, "gap", "MEL", "GRPO", 120.0) == fact.value
    assert two(band="sd").fact("gap", ("MEL", "GRPO", 120.0)).low is None


def test_gap_of_medians_has_no_interval_of_means() -> None:
    """An interval belongs to the number it is said of."""
    of = two(band="iqr")
    assert of.fact("gap", ("MEL", "GRPO", 0.0)).low is None
    assert of.fact("final", ("MEL",)).low is None


def test_a_gap_between_runs_of_unequal_length_has_no_interval() -> None:
    """Where a run has ended, the line between two means is not the mean of those that go on."""
    a = spread("A", [[0.0, 1.0, 2.0], [0.0, 1.2, 2.2], [0.0, 5.0]], [[0, 5, 10], [0, 5, 10], [0, 5]])
    b = spread("B", [[0.0, 0.0], [0.0, 0.1]], [[0, 10]] * 2)
    of = subject(a, b)
    assert of.fact("gap", ("A", "B", 5.0)).low is not None
    assert of.fact("gap", ("A", "B", 7.0)).low is None


def test_the_level_is_the_figure_s() -> None:
    """Intervals and verdicts are at the confidence level of the curves."""
    made = [curve(name, [0.0, level], half=0.1, runs=3) for name, level in (("A", 1.0), ("B", 1.1))]
    half = [
        (fact.high or 0.0) - (fact.value or 0.0)
        for fact in (subject(*made, level=level).fact("gap", ("A", "B", 1.0)) for level in (0.5, 0.95))
    ]
    assert half[0] == pytest.approx(half[1] * 0.7407 / 2.7764, rel=1e-3)
    sure, unsure = (subject(*made, level=level).fact("tied", ("A", "B")).note for level in (0.5, 0.95))
    assert sure != unsure


def test_an_interval_that_the_input_gives() -> None:
    """It is the value's own, whatever band is asked for where there are several runs."""
    given = replace(curve("A", [1.0, 2.0], half=0.5), given=True)
    fact = subject(given, band="sd").fact("final", ("A",))
    assert (fact.low, fact.high) == (1.5, 2.5)
    assert two(band="sd").fact("final", ("MEL",)).low is None


def test_widest_gap_over_unequal_steps() -> None:
    """The steps of both count, inside both ranges only."""
    a = curve("A", [0.0, 0.0, 9.0], steps=[0.0, 10.0, 30.0])
    b = curve("B", [5.0, 1.0, 2.0], steps=[-10.0, 5.0, 20.0])
    of = subject(a, b)
    steps, difference = compute_differences(a, b)
    assert steps.tolist() == [0.0, 5.0, 10.0, 20.0]
    assert difference == pytest.approx([-7 / 3, -1.0, -4 / 3, 2.5])
    assert (value(of, "widest_gap", "A", "B"), value(of, "widest_gap_step", "A", "B")) == (2.5, 20.0)
    assert value(of, "widest_gap", "B", "A") == 2.5


def test_ranges_that_do_not_meet() -> None:
    """Two series without a common step are not compared, and the reason is told."""
    made = [
        curve(name, [1.0, 2.0], steps=steps, half=0.1, runs=3)
        for name, steps in (("A", [0.0, 1.0]), ("B", [2.0, 3.0]))
    ]
    of = subject(*made)
    for name in ("widest_gap", "widest_gap_step", "crossings", "better", "tied", "p_value"):
        fact = of.fact(name, ("A", "B"))
        assert (fact.value, fact.reason) == (None, "A and B share no step")
    with pytest.raises(FactError, match="B has no value at step 1"):
        of.fact("gap", ("A", "B", 1.0))


@pytest.mark.parametrize(
    ("difference", "crossed"),
    [
        ([1.0, -1.0], [0.5]),
        ([1.0, 0.0, 1.0], []),
        ([1.0, 0.0, -1.0], [1.0]),
        ([1.0, 0.0, 0.0, -3.0], [1.0]),
        ([0.0, 1.0, 2.0], []),
        ([0.0, 0.0], []),
        ([1.0, 0.0], []),
        ([-1.0, 3.0, -1.0, 0.0, -1.0, 1.0], [0.25, 1.75, 4.5]),
        ([1.0, 1e-17, -1e-17, 1.0], []),
    ],
)
def test_crossings(difference: list[float], crossed: list[float]) -> None:
    """A sign before and the other after; to touch, to part and to meet is not to cross, nor is rounding."""
    a = curve("A", [5.0 + one for one in difference])
    b = curve("B", [5.0] * len(difference))
    assert find_crossings(a, b).tolist() == pytest.approx(crossed)
    fact = subject(a, b).fact("crossings", ("A", "B"))
    assert fact.value == len(crossed)
    assert fact.step == (pytest.approx(crossed[0]) if len(crossed) == 1 else None)


def test_volatility_by_hand() -> None:
    """The standard deviation of first differences of what is left beside the least-squares line."""
    made = curve("A", [1.0, 4.0, 2.0, 6.0], steps=[0.0, 1.0, 2.0, 4.0])
    slope, intercept = np.polyfit(made.steps, made.values, 1)
    rest = made.values - slope * made.steps - intercept
    assert remove_trend(made) == pytest.approx(rest)
    assert value(subject(made), "volatility", "A") == pytest.approx(stdev(np.diff(rest).tolist()))


def test_volatility_counts_the_fewest_runs() -> None:
    """A step with fewer runs is noisier, so n is theirs."""
    made = curve("A", [1.0, 2.0, 1.0], runs=3, n=[3, 3, 2])
    assert subject(made).fact("volatility", ("A",)).n == 2


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_volatility_at_every_size(scale: float) -> None:
    """Squares neither vanish nor overflow on the way."""
    small = curve("A", [1.0, 4.0, 2.0, 6.0])
    made = curve("A", [one * scale for one in (1.0, 4.0, 2.0, 6.0)])
    assert volatility(made) == pytest.approx(scale * (volatility(small) or 0.0))


def test_unequal_distances_are_no_volatility() -> None:
    """A curve that climbs evenly has none, however unequal its steps: those of a log, or of a clock."""
    steps = [0.0, 1.0, 10.0, 100.0, 1000.0]
    assert volatility(curve("A", [0.1 + 0.37 * x for x in steps], steps=steps)) == 0.0
    clock = [1.7e12 + 60_000 * x for x in steps]
    assert volatility(curve("A", [0.1 + 0.37 * x for x in steps], steps=clock)) == 0.0
    assert volatility(curve("A", [7.0] * 5, steps=steps)) == 0.0


def test_band_width() -> None:
    """High minus low, between two steps interpolated; the reason where it is not known."""
    of = two()
    assert value(of, "band_width", "MEL", 120.0) == pytest.approx(0.04)
    widening = curve("A", [1.0, 1.0], half=0.1, runs=2)
    widening = replace(widening, high=np.array([1.1, 1.5]), low=np.array([0.9, 0.5]))
    assert value(subject(widening), "band_width", "A", 0.5) == pytest.approx(0.6)
    assert two(band="sd").fact("band_width", ("MEL", 0.0)).value == pytest.approx(0.04)
    assert subject(curve("A", [1.0, 2.0])).fact("band_width", ("A", 0.0)).reason == "1 run of A"
    none = subject(curve("A", [1.0, 2.0], runs=3), band="none")
    assert none.fact("band_width", ("A", 0.0)).reason == "the block has no band"


def test_band_width_beside_a_missing_end() -> None:
    """A band that is unknown at one of two steps is unknown between them, and known at the other."""
    made = replace(curve("A", [1.0, 2.0], half=0.5, runs=2), high=np.array([1.5, np.nan]), n=np.array([2, 1]))
    of = subject(made)
    assert value(of, "band_width", "A", 0.0) == 1.0
    assert of.fact("band_width", ("A", 0.5)).reason == "1 run of A"
    given = replace(made, n=np.array([2, 4]), given=True)
    assert subject(given).fact("band_width", ("A", 1.0)).reason == "no interval of A is given there"


def test_verdicts_are_adjusted_over_all_pairs() -> None:
    """p, better and tied are those of Welch's test at the last step of both, after Holm over all pairs."""
    runs = {"A": [0.80, 0.82, 0.81], "B": [0.70, 0.73, 0.71], "C": [0.80, 0.83, 0.80]}
    made = [spread(name, [[0.1, end] for end in ends], [[0, 9]] * 3) for name, ends in runs.items()]
    of = subject(*made)
    pairs = [(made[i], made[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    expected = adjust_comparisons([compare_curves(a, b, at=9.0) for a, b in pairs])
    assert [one.verdict for one in expected] == [Verdict.BETTER, Verdict.UNCLEAR, Verdict.WORSE]
    for one in expected:
        assert value(of, "p_value", one.a, one.b) == one.adjusted_p == value(of, "p_value", one.b, one.a)
        assert value(of, "better", one.a, one.b) is (one.verdict is Verdict.BETTER)
        assert value(of, "better", one.b, one.a) is (one.verdict is Verdict.WORSE)
        assert value(of, "tied", one.a, one.b) is (one.verdict is Verdict.UNCLEAR)
    assert of.fact("better", ("A", "B")).step == 9.0
    lower = subject(*made, lower=True)
    assert value(lower, "better", "B", "A") is True


def test_one_run_decides_nothing() -> None:
    """Neither better nor tied nor p: who has too few runs is named."""
    one, three = curve("A", [0.1, 0.9]), curve("B", [0.1, 0.2], half=0.01, runs=3)
    of = subject(one, three, curve("C", [0.0, 0.0]))
    for name in ("better", "tied", "p_value"):
        assert of.fact(name, ("A", "B")).value is None
        assert of.fact(name, ("A", "B")).reason == "1 run of A"
        assert of.fact(name, ("A", "C")).reason == "1 run of A and 1 run of C"


def test_runs_that_ended_before_do_not_count() -> None:
    """Where only one run reaches the last step, the reason says so."""
    a = spread("A", [[0.1, 0.5, 0.9], [0.1, 0.5]], [[0, 5, 9], [0, 5]])
    b = spread("B", [[0.1, 0.2], [0.1, 0.3]], [[0, 9]] * 2)
    assert subject(a, b).fact("tied", ("A", "B")).reason == "1 run of A at step 9"


def test_the_last_step_of_both_is_the_shorter_one() -> None:
    """A series that trained longer is compared where the other ends."""
    a = spread("A", [[0.1, 0.5, 0.9], [0.1, 0.52, 0.1]], [[0, 5, 9]] * 2)
    b = spread("B", [[0.1, 0.2], [0.1, 0.21]], [[0, 5]] * 2)
    fact = subject(a, b).fact("better", ("A", "B"))
    assert (fact.value, fact.step) == (True, 5.0)


def test_equal_runs_are_not_called_tied() -> None:
    """Without spread nothing can be tested, and a difference may be real."""
    a, b = (spread(name, [[end], [end]], [[0], [0]]) for name, end in (("A", 0.9), ("B", 0.1)))
    fact = subject(a, b).fact("tied", ("A", "B"))
    assert (fact.value, fact.reason) == (
        None,
        "the runs of each side are equal: nothing to build an interval from",
    )


def test_curves_are_equivalent_within_a_margin() -> None:
    """Two one-sided Welch tests over runs: the ends of the 90% CI, from scipy's t."""
    runs = {"A": [0.80, 0.82, 0.81], "B": [0.79, 0.82, 0.80]}
    made = [spread(name, [[0.1, end] for end in ends], [[0, 9]] * 3) for name, ends in runs.items()]
    of, (first, second) = subject(*made), (np.array(ends) for ends in runs.values())
    found = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.90)
    widest = max(abs(found.low), abs(found.high))
    assert of.fact("equivalent", ("A", "B", widest + 1e-6)).value is True
    assert of.fact("equivalent", ("A", "B", widest - 1e-6)).value is False
    assert of.fact("equivalent", ("A", "B", 0.05)).step == 9.0
    lone = subject(curve("A", [0.1, 0.9]), made[1]).fact("equivalent", ("A", "B", 1.0))
    assert (lone.value, lone.reason) == (None, "1 run of A")


def test_a_verdict_shows_its_evidence() -> None:
    """Difference with interval, p, and the runs behind it."""
    made = [curve(name, [0.0, level], half=0.1, runs=3) for name, level in (("A", 1.0), ("B", 1.01))]
    one = compare_curves(made[0], made[1], at=1.0)
    assert one.low is not None
    said = "difference −0.01 [−0.24, +0.22], p = 0.908, 3 runs a side"
    assert (round(one.low, 2), round(one.p or 0, 3)) == (-0.24, 0.908)
    assert subject(*made).fact("tied", ("A", "B")).note == said
    third = curve("C", [0.0, 9.0], half=0.1, runs=4)
    note = subject(*made, third).fact("better", ("A", "C")).note
    assert note.endswith(", adjusted p < 0.001, 3 runs of A and 4 of C")


@pytest.mark.parametrize("name", PAIR_FACTS)
def test_a_series_is_not_held_against_itself(name: str) -> None:
    """That is a slip of the pen, not a question."""
    arguments: tuple[Argument, ...] = ("MEL", "MEL", 0.0) if name == "gap" else ("MEL", "MEL")
    with pytest.raises(FactError, match=f"{name} holds MEL against itself"):
        two().fact(name, arguments)


def test_names_and_numbers_that_are_none() -> None:
    """Every question has an answer or a fault with a next step."""
    with pytest.raises(FactError) as raised:
        two().fact("peak", ("Mel",))
    assert raised.value.next_step == "The series are MEL and GRPO"
    for number in (math.nan, math.inf):
        with pytest.raises(FactError, match="not finite"):
            two().fact("at", ("MEL", number))


def test_every_fact_of_the_vocabulary_is_answered() -> None:
    """What authors are told there is, there is."""
    given = {"x": 40.0, "from": 0.0, "to": 40.0, "level": 0.5, "margin": 0.1, "count": 2.0}
    others: dict[str, Argument] = {**given, "metric": "accuracy"}
    of = two()
    of = CurveSubject(of.curve_set, of.scale, lambda _: of.curve_set)
    for kind in FACTS.values():
        if "curves" in kind.holds:
            names = [parameter.name for parameter in kind.parameters]
            series = ("MEL", "GRPO")[: sum(name not in others for name in names)]
            arguments: tuple[Argument, ...] = (*series, *(others[name] for name in names if name in others))
            assert value(of, kind.name, *arguments) is not None, kind.name


def test_numbers_too_large_are_said_to_be() -> None:
    """What does not fit into a float is neither infinite nor wrong."""
    of = subject(curve("A", [1.7e308, -1.7e308, 1.7e308]), curve("B", [-1.7e308, 1.7e308, 1.7e308]))
    said = "the numbers are too large to compute with"
    assert of.fact("widest_gap", ("A", "B")).reason == said
    assert of.fact("gap", ("A", "B", 0.0)).reason == said
    assert value(of, "peak", "A") == 1.7e308
    assert of.fact("mean", ("B", 1.0, 2.0)).reason == said
    assert of.fact("crossings", ("A", "B")).reason == said
    assert find_crossings(*of.curve_set.curves).size == 1


def test_half_an_interval_is_none() -> None:
    """An end that does not fit into a float takes the other with it."""
    fact = drop_infinite(Fact("final(A)", Quantity.VALUE, 1.0, low=-math.inf, high=2.0))
    assert (fact.value, fact.low, fact.high) == (1.0, None, None)


def test_all_facts() -> None:
    """Every fact that needs no step, of each series and each pair once; better as it is true."""
    made = [curve(name, [0.0, end], half=0.01, runs=3) for name, end in (("A", 0.5), ("B", 0.9), ("C", 0.1))]
    calls = [fact.call for fact in collect_facts(subject(*made))]
    assert len(calls) == len(set(calls)) == 3 * 9 + 3 * 6
    assert calls[:3] == ["start(A)", "final(A)", "peak(A)"]
    assert {"better(B, A)", "better(A, C)", "better(B, C)", "widest_gap_step(A, B)"} <= set(calls)
    assert not any(call.startswith(("at(", "gap(", "steps_to(", "mean(", "band_width(")) for call in calls)


def test_calls_are_written_as_authors_write_them() -> None:
    """Names in quotes where they need them, whole numbers without a point, moments as dates."""
    of = subject(curve("it's 4B", [1.0, 2.0], steps=[0.0, 86_400_000.0]), time=True)
    assert of.fact("final", ("it's 4B",)).call == "final('it''s 4B')"
    assert of.fact("at", ("it's 4B", 0.0)).call == "at('it''s 4B', '1970-01-01')"
    assert of.fact("at", ("it's 4B", 60_000.5)).call == "at('it''s 4B', '1970-01-01T00:01:00.000500')"
    assert of.fact("steps_to", ("it's 4B", 1.5)).call == "steps_to('it''s 4B', 1.5)"
    assert two().fact("gap", ("MEL", "GRPO", 120.0)).call == "gap(MEL, GRPO, 120)"
    assert two().fact("at", ("MEL", 0.25)).call == "at(MEL, 0.25)"
    assert format_call("at", ("MEL", 1e300), Scale("accuracy")) == "at(MEL, 1e+300)"
    assert format_call("at", ("MEL", 1e300), Scale("accuracy", step_is_time=True)) == "at(MEL, 1e+300)"
