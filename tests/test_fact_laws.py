"""Laws of facts: what must not matter does not, and facts agree with each other, whatever the curves.

Single ones are in ``transcripts/facts_of_curves.md`` and ``facts_of_scores.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_figures import curve_set
from made_outcomes import matrix, scored
from msgspec.structs import replace
from scipy import stats

from reportgen.claims.subjects import CurveSubject, ScoreSubject
from reportgen.core.comparisons import Verdict
from reportgen.core.facts import FACTS
from reportgen.core.model import Curve, Run
from reportgen.core.statements import Fact, Quantity, Scale
from reportgen.statistics.verdicts import compare_curves

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray

SIZES = {Quantity.VALUE, Quantity.DIFFERENCE}
COUNTED = {Quantity.STEP, Quantity.NUMBER}
VERDICTS = ("p_value", "better", "unclear")
SEARCHES = {"attempts", "best_of", "noise", "gain", "beyond_luck"}  # of ladders alone
SHAPES = {
    kind.name: [one.name for one in kind.parameters]
    for kind in FACTS.values()
    if "curves" in kind.holds and kind.name not in SEARCHES
}
ALONE = [name for name, shape in SHAPES.items() if shape == ["s"]]
PAIRS = [name for name, shape in SHAPES.items() if shape == ["a", "b"] and not FACTS[name].instead]
# Whole numbers, so that to shift them and to turn their sign is exact.
values = st.integers(-50, 50).map(float)


@dataclass(frozen=True)
class Line:
    """A series with one or more runs that share their steps."""

    name: str
    steps: tuple[float, ...]
    runs: tuple[tuple[float, ...], ...]

    def curve(
        self, factor: float = 1.0, shift: float = 0.0, *, stretch: float = 1.0, later: float = 0.0
    ) -> Curve:
        """Its curve, with values and steps multiplied and moved."""
        x = np.array(self.steps) * stretch + later
        runs = tuple(
            Run(self.name, f"run {i}", str(i), x, np.array(run) * factor + shift)
            for i, run in enumerate(self.runs)
        )
        centre: FloatArray = np.mean([run.values for run in runs], axis=0)
        half = 1.0 * factor
        unknown = np.full(x.size, np.nan)
        low, high = (unknown, unknown) if len(runs) == 1 else (centre - half, centre + half)
        return Curve(self.name, x, centre, low, high, np.full(x.size, len(runs), dtype=np.int64), runs)


@st.composite
def lines(draw: st.DrawFn, name: str = "A", least: int = 1) -> Line:
    """A series of up to 8 steps at unequal distances and 3 runs, close enough that some pairs are decided."""
    steps = draw(st.lists(st.integers(0, 40), min_size=least, max_size=8, unique=True).map(sorted))
    row = draw(st.tuples(*[values] * len(steps)))
    offsets = draw(st.lists(st.integers(-2, 2), min_size=1, max_size=3))
    return Line(name, tuple(map(float, steps)), tuple(tuple(one + more for one in row) for more in offsets))


several = st.tuples(lines("A"), lines("B"), lines("C"))


def subject(*curves: Curve, higher: bool | None = True) -> CurveSubject:
    """Facts about these curves."""
    own = curve_set(*curves)
    return CurveSubject(own, Scale("accuracy", higher_is_better=higher), lambda _: own)


def by_call(of: CurveSubject) -> dict[str, Fact]:
    """Every fact that needs no step, of each pair both ways."""
    asked: list[tuple[str, tuple[str, ...]]] = [(name, (one,)) for name in ALONE for one in of.series]
    asked += [(name, pair) for name in PAIRS for pair in permutations(of.series, 2)]
    facts = [of.fact(name, arguments) for name, arguments in asked]
    return {fact.call: fact for fact in facts}


def number(fact: Fact) -> float:
    """A fact's value."""
    assert fact.value is not None
    return float(fact.value)


@given(several, st.integers(-20, 20), st.booleans())
def test_scaling_values_scales_facts(drawn: tuple[Line, ...], power: int, higher: bool) -> None:  # noqa: FBT001 - drawn
    """Values and differences are multiplied; steps, counts and verdicts stay."""
    factor = 2.0**power
    before = by_call(subject(*(line.curve() for line in drawn), higher=higher))
    after = by_call(subject(*(line.curve(factor) for line in drawn), higher=higher))
    for call, fact in before.items():
        if fact.value is None:
            assert after[call].value is None
        elif fact.quantity in SIZES:
            assert number(after[call]) == number(fact) * factor
        else:
            assert number(after[call]) == pytest.approx(number(fact), rel=1e-9)


@given(several, st.floats(1e-6, 1e6))
def test_scaling_by_any_number(drawn: tuple[Line, ...], factor: float) -> None:
    """Also where multiplying rounds, up to that rounding."""
    before = by_call(subject(*(line.curve() for line in drawn)))
    after = by_call(subject(*(line.curve(factor) for line in drawn)))
    for call, fact in before.items():
        if fact.quantity in SIZES and fact.value is not None:
            assert number(after[call]) == pytest.approx(number(fact) * factor, rel=1e-9, abs=1e-9 * factor)
        elif call.startswith("crossings"):
            assert after[call].value == fact.value


@given(several, st.integers(-100, 100).map(float))
def test_shifting_values(drawn: tuple[Line, ...], shift: float) -> None:
    """Values move, and nothing else."""
    before = by_call(subject(*(line.curve() for line in drawn)))
    after = by_call(subject(*(line.curve(shift=shift) for line in drawn)))
    for call, fact in before.items():
        if fact.value is None:
            continue
        moved = number(fact) + (shift if fact.quantity is Quantity.VALUE else 0.0)
        if fact.quantity in SIZES or call.startswith("crossings"):
            assert number(after[call]) == pytest.approx(moved, abs=1e-9)


@given(several, st.integers(-1000, 1000).map(float), st.integers(1, 60).map(float))
def test_moving_and_stretching_steps(drawn: tuple[Line, ...], later: float, stretch: float) -> None:
    """Steps move with them, and no value changes: a log in minutes says what one in seconds says."""
    before = by_call(subject(*(line.curve() for line in drawn)))
    after = by_call(subject(*(line.curve(stretch=stretch, later=later) for line in drawn)))
    for call, fact in before.items():
        if fact.quantity in SIZES and fact.value is not None:
            assert number(after[call]) == pytest.approx(number(fact), abs=1e-9)
        if call.startswith(("peak_step", "trough_step")):
            assert number(after[call]) == number(fact) * stretch + later
        if call.startswith("crossings"):
            assert after[call].value == fact.value


@given(several)
def test_turning_the_sign_and_the_direction(drawn: tuple[Line, ...]) -> None:
    """The best of the negatives, where lower is better, is the negative of the best."""
    before = by_call(subject(*(line.curve() for line in drawn)))
    after = by_call(subject(*(line.curve(-1.0) for line in drawn), higher=False))
    for call, fact in before.items():
        if fact.quantity is Quantity.VALUE:
            assert number(after[call]) == -number(fact)
        elif fact.value is not None:
            assert number(after[call]) == pytest.approx(number(fact), rel=1e-9)
        else:
            assert after[call].value is None


@given(several, st.permutations(range(3)))
def test_the_order_of_series_is_irrelevant(drawn: tuple[Line, ...], order: list[int]) -> None:
    """Every fact is the same, to the last digit."""
    made = [line.curve() for line in drawn]
    before, after = subject(*made), subject(*(made[place] for place in order))
    for name in ("peak", "final", "volatility"):
        for line in drawn:
            assert before.fact(name, (line.name,)) == after.fact(name, (line.name,))
    for a in drawn:
        for b in drawn:
            if a is not b:
                for name in ("widest_gap", "crossings", *VERDICTS):
                    first, second = (of.fact(name, (a.name, b.name)) for of in (before, after))
                    assert (first.value, first.reason) == (second.value, second.reason)


@given(several, values)
def test_another_series_moves_no_line(drawn: tuple[Line, ...], level: float) -> None:
    """A constant series adds no crossing and no gap to the pairs there are, and never crosses itself."""
    made = [line.curve() for line in drawn]
    constant = Line("constant", (0.0, 40.0), ((level, level),)).curve()
    before, after = by_call(subject(*made)), by_call(subject(*made, constant))
    for call, fact in before.items():
        if not call.startswith(VERDICTS):
            assert after[call] == fact
    above = Line("above", (0.0, 40.0), ((1e3, 1e3),)).curve()
    assert subject(constant, above).fact("crossings", ("constant", "above")).value == 0


@given(lines("A", 2), lines("B", 2), st.floats(0, 1))
def test_gaps(a: Line, b: Line, share: float) -> None:
    """A gap is antisymmetric, the difference of two values, and nowhere wider than the widest."""
    of = subject(a.curve(), b.curve())
    first, last = max(a.steps[0], b.steps[0]), min(a.steps[-1], b.steps[-1])
    assume(first <= last)
    step = min(first + share * (last - first), last)
    there, back = (of.fact("gap", (*names, step)) for names in (("A", "B"), ("B", "A")))
    assert number(there) == -number(back)
    assert (there.low, there.high) == (
        None if back.high is None else -back.high,
        None if back.low is None else -back.low,
    )
    first, second = (number(of.fact("at", (name, step))) for name in ("A", "B"))
    assert number(there) == pytest.approx(first - second, abs=1e-9)
    widest = of.fact("widest_gap", ("A", "B"))
    assert abs(number(there)) <= number(widest) + 1e-9
    assert widest == replace(of.fact("widest_gap", ("B", "A")), call=widest.call, series=widest.series)
    assert widest.step is not None
    assert abs(number(of.fact("gap", ("A", "B", widest.step)))) == number(widest)


@given(lines("A"), st.booleans())
def test_order_of_values(a: Line, higher: bool) -> None:  # noqa: FBT001 - drawn
    """The peak is no worse than any other value, the trough no better; a mean lies between."""
    of = subject(a.curve(), higher=higher)
    worst, best = sorted((number(of.fact(name, ("A",))) for name in ("trough", "peak")), reverse=not higher)
    low, high = min(worst, best), max(worst, best)
    assert (best == high) is (higher or low == high)
    told = [number(of.fact(name, ("A",))) for name in ("start", "final")]
    told += [number(of.fact("at", ("A", step))) for step in np.linspace(a.steps[0], a.steps[-1], 7).tolist()]
    assert all(low <= one <= high for one in told)
    mean = number(of.fact("mean", ("A", a.steps[0], a.steps[-1])))
    assert low - 1e-9 <= mean <= high + 1e-9
    for name in ("peak", "trough"):
        step = number(of.fact(f"{name}_step", ("A",)))
        assert of.fact("at", ("A", step)).value == of.fact(name, ("A",)).value


@given(lines("A"), st.floats(-60, 60), st.floats(0, 60), st.booleans())
def test_steps_to_a_level(a: Line, level: float, more: float, higher: bool) -> None:  # noqa: FBT001 - drawn
    """There the curve is at the level, before it never was, and a better level is not reached earlier."""
    of = subject(a.curve(), higher=higher)
    sign = 1 if higher else -1
    fact = of.fact("steps_to", ("A", level))
    best = number(of.fact("peak", ("A",)))
    if fact.value is None:
        assert sign * best < sign * level
        return
    step = number(fact)
    there = number(of.fact("at", ("A", step)))
    if step == a.steps[0]:
        assert sign * there >= sign * level - 1e-9
    else:
        assert there == pytest.approx(level, abs=1e-6)
    made = a.curve()
    assert all(sign * one < sign * level for one in made.values[made.steps < step])
    further = of.fact("steps_to", ("A", level + sign * more))
    assert further.value is None or number(further) >= step - 1e-9


def list_gaps(of: CurveSubject, a: Line, b: Line) -> list[float]:
    """The gaps of A and B at the steps of both, inside both ranges."""
    first, last = max(a.steps[0], b.steps[0]), min(a.steps[-1], b.steps[-1])
    inside = sorted(step for step in {*a.steps, *b.steps} if first <= step <= last)
    return [number(of.fact("gap", ("A", "B", step))) for step in inside]


@given(lines("A", least=2), lines("B", least=2))
def test_crossings(a: Line, b: Line) -> None:
    """The lines meet at a crossing, and an odd number of them changes who is ahead."""
    of = subject(a.curve(), b.curve())
    gaps = list_gaps(of, a, b)
    crossed, back = of.fact("crossings", ("A", "B")), of.fact("crossings", ("B", "A"))
    assert crossed.value == back.value
    if crossed.value is None:
        assert not gaps
        return
    assert number(crossed) <= max(0, len(gaps) - 1)
    if crossed.step is not None:
        first, second = (number(of.fact("at", (name, crossed.step))) for name in "AB")
        assert first == pytest.approx(second, abs=1e-6)
    signs = [np.sign(gap) for gap in gaps if gap]
    if signs:
        assert (number(crossed) % 2 == 1) is bool(signs[0] != signs[-1])


@given(lines("A", least=2), lines("B", least=2), st.lists(st.floats(0, 40), max_size=5))
def test_points_on_the_line_change_nothing(a: Line, b: Line, extra: list[float]) -> None:
    """A log that is denser and says the same has the same gaps, crossings and extremes."""
    one, two = a.curve(), b.curve()
    before = subject(one, two)
    inside = [step for step in extra if a.steps[0] < step < a.steps[-1] and step not in a.steps]
    x = np.array(sorted({*a.steps, *inside}))
    y = np.array([before.fact("at", ("A", float(step))).value for step in x], dtype=np.float64)
    unknown = np.full(x.size, np.nan)
    denser = Curve("A", x, y, unknown, unknown, np.ones(x.size, dtype=np.int64), one.runs)
    after = subject(denser, two)
    for name in ("peak", "trough", "start", "final"):
        assert before.fact(name, ("A",)).value == after.fact(name, ("A",)).value
    widest = [of.fact("widest_gap", ("A", "B")).value for of in (before, after)]
    assert widest[0] is None if widest[1] is None else widest[0] == pytest.approx(widest[1], abs=1e-9)
    if all(abs(gap) > 1e-9 for gap in list_gaps(before, a, b)):
        assert before.fact("crossings", ("A", "B")).value == after.fact("crossings", ("A", "B")).value


@given(several)
def test_verdicts_agree(drawn: tuple[Line, ...]) -> None:
    """Better one way, better the other way or unclear: exactly one, or all three cannot be decided."""
    of = subject(*(line.curve() for line in drawn))
    for a, b in (("A", "B"), ("A", "C"), ("B", "C")):
        better, worse, unclear = (
            of.fact(*call) for call in (("better", (a, b)), ("better", (b, a)), ("unclear", (a, b)))
        )
        p = of.fact("p_value", (a, b))
        truths = [one.value for one in (better, worse, unclear)]
        assert truths == [None] * 3 if p.value is None else sorted(map(bool, truths)) == [False, False, True]
        if better.value or worse.value:
            assert number(p) < 0.05
        assert p.value == of.fact("p_value", (b, a)).value


@given(several)
def test_without_a_better_way_all_but_better_is_as_where_higher_is(drawn: tuple[Line, ...]) -> None:
    """Of two that differ nobody is better; that two do not differ needs no direction."""
    made = [line.curve() for line in drawn]
    higher, neither = (by_call(subject(*made, higher=way)) for way in (True, None))
    for call, fact in neither.items():
        if fact.name in {"peak", "trough"}:
            assert replace(fact, note="") == replace(higher[call], note="")
        elif fact.name != "better":
            assert fact == higher[call]
        elif higher[f"unclear{call.removeprefix('better')}"].value is False:
            assert fact.value is None
            assert "higher_is_better" in fact.reason
        else:
            assert fact == higher[call]


@given(lines("A", least=3), st.integers(-9, 9).map(float))
def test_a_trend_is_no_volatility(a: Line, slope: float) -> None:
    """A straight line added to a curve leaves its volatility, however unequal its steps."""
    made = a.curve()
    tilted = replace(made, values=made.values + slope * made.steps)
    flat = replace(made, values=slope * made.steps)
    found = [number(subject(one).fact("volatility", ("A",))) for one in (made, tilted, flat)]
    assert found[1] == pytest.approx(found[0], abs=1e-9)
    assert found[2] == pytest.approx(0.0, abs=1e-9)


@given(several)
def test_every_fact_is_finite_or_has_a_reason(drawn: tuple[Line, ...]) -> None:
    """No NaN, no infinity and no empty reason leaves a subject; asked again it says the same."""
    facts = by_call(subject(*(line.curve() for line in drawn)))
    assert facts == by_call(subject(*(line.curve() for line in drawn)))
    for fact in facts.values():
        assert bool(fact.reason) is (fact.value is None)
        for one in (fact.value, fact.step, fact.from_step, fact.to_step, fact.low, fact.high):
            assert one is None or math.isfinite(one)
            assert not isinstance(one, np.generic)


# -- references ---------------------------------------------------------------------------------------------

equal_steps = st.lists(st.tuples(values, values, values), min_size=2, max_size=5).map(tuple)


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # of scipy, where one side is equal
@given(equal_steps, equal_steps)
def test_two_curves_are_compared_by_scipys_welch_test(
    first: tuple[tuple[float, ...], ...], second: tuple[tuple[float, ...], ...]
) -> None:
    """Difference, interval and p at step 10, and at 5 between two steps."""
    a, b = (Line(name, (0.0, 10.0, 20.0), runs).curve() for name, runs in (("A", first), ("B", second)))
    ours = compare_curves(a, b, at=10), compare_curves(a, b, at=5)
    of = subject(a, b)
    for one, weight in zip(ours, ([0, 1, 0], [0.5, 0.5, 0]), strict=True):
        sides = [np.array(runs) @ weight for runs in (first, second)]
        assert one.difference == pytest.approx(sides[0].mean() - sides[1].mean())
        if max(np.ptp(side) for side in sides) == 0:
            assert (one.p, one.verdict) == (None, Verdict.UNCLEAR)
            continue
        theirs = stats.ttest_ind(*sides, equal_var=False)
        ends = theirs.confidence_interval(0.95)
        assert one.p == pytest.approx(theirs.pvalue, abs=1e-12)
        assert (one.low, one.high) == pytest.approx((ends.low, ends.high))
    for step, one in zip((10.0, 5.0), ours, strict=False):
        gap = of.fact("gap", ("A", "B", step))
        assert (gap.low, gap.high) == (one.low, one.high)
        assert gap.value == pytest.approx(one.difference)
    last = compare_curves(a, b, at=20)
    assert of.fact("p_value", ("A", "B")).value == last.p
    if last.p is not None:
        sides = [np.array(runs)[:, 2] for runs in (first, second)]
        narrow = stats.ttest_ind(*sides, equal_var=False).confidence_interval(0.90)
        widest = max(abs(narrow.low), abs(narrow.high))
        within = [of.fact("equivalent", ("A", "B", widest * way)).value for way in (1 - 1e-9, 1 + 1e-9)]
        assert within == [False, True]


def test_verdicts_are_adjusted_by_holm_over_all_pairs() -> None:
    """Of three pairs the smallest p counts three times, and the next twice; from either side."""
    ends = {"A": (0.80, 0.82, 0.81), "B": (0.70, 0.73, 0.71), "C": (0.80, 0.83, 0.79)}
    of = subject(*(Line(name, (9.0,), tuple((one,) for one in runs)).curve() for name, runs in ends.items()))
    pairs = ("AB", "BC", "AC")
    plain = {pair: stats.ttest_ind(ends[pair[0]], ends[pair[1]], equal_var=False).pvalue for pair in pairs}
    assert sorted(plain.values()) == [plain[pair] for pair in pairs]
    adjusted = [3 * plain["AB"], max(3 * plain["AB"], 2 * plain["BC"])]
    adjusted.append(max(adjusted[1], plain["AC"]))
    for pair, p in zip(pairs, adjusted, strict=True):
        assert of.fact("p_value", tuple(pair)).value == pytest.approx(min(p, 1.0))
        assert of.fact("p_value", tuple(pair[::-1])).value == pytest.approx(min(p, 1.0))


def test_scores_are_equivalent_within_a_margin() -> None:
    """Two one-sided tests: the 90% CI by scipy's t, and never narrower than the one shown suggests."""
    right = np.array([[1.0] * count + [0.0] * (40 - count) for count in (20, 19)])
    shown = scored(matrix(right[:, :, np.newaxis]))
    (one,) = shown.comparisons
    known = replace(one, stderr=0.01, df=30.0, low=-0.01, high=0.06, difference=0.025)
    half = float(stats.t.ppf(0.95, 30)) * 0.01
    wide = (0.06 - 0.025) * float(stats.t.ppf(0.95, 30) / stats.t.ppf(0.975, 30))
    assert wide > half
    share = Scale("pass@1", step_name="", bounds=(0.0, 1.0))
    of = ScoreSubject(shown.scores, (known,), shown.groups, share)
    for margin, truth in ((0.025 + wide + 1e-9, True), (0.025 + wide - 1e-9, False)):
        assert of.fact("equivalent", ("A", "B", margin)).value is truth
        assert of.fact("equivalent", ("B", "A", margin)).value is truth
    unknown = ScoreSubject(shown.scores, (replace(known, stderr=None),), shown.groups, share)
    assert unknown.fact("equivalent", ("A", "B", 1.0)).value is None
    # The old name does not turn a test without a verdict into equality.
    undecided = replace(one, low=0.001, high=0.05, verdict=Verdict.UNCLEAR)
    tied = ScoreSubject(shown.scores, (undecided,), shown.groups, share).fact("tied", ("A", "B"))
    assert "excludes 0" in tied.reason
