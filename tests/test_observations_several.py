"""Rules about several series: what they say of made curves, their laws, and their silence on noise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_figures import curve, curve_set
from msgspec.structs import replace

from reportgen.claims.observations.choosing import merge_duplicates, observe_curves
from reportgen.claims.observations.field import Field
from reportgen.claims.observations.gaps import (
    observe_convergence,
    observe_same_start,
    observe_widest_gap,
)
from reportgen.claims.observations.leads import observe_crossing
from reportgen.claims.observations.part_company import observe_part_company
from reportgen.claims.observations.ranking import group_values, observe_best, observe_tiers
from reportgen.core.statements import Scale
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.model import Curve
    from reportgen.core.statements import Observation

HIGHER, LOWER = Scale("accuracy"), Scale("loss", higher_is_better=False)
SEVERAL: dict[Rule, Callable[[Field], Iterator[Observation]]] = {
    Rule.SAME_START: observe_same_start,
    Rule.BEST: observe_best,
    Rule.CROSSING: observe_crossing,
    Rule.WIDEST_GAP: observe_widest_gap,
    Rule.CONVERGE: observe_convergence,
    Rule.TIERS: observe_tiers,
}


def field(*curves: Curve, scale: Scale = HIGHER) -> Field:
    """These curves as rules see them."""
    return Field(curves, scale, "ci")


def texts(rule: Callable[[Field], Iterator[Observation]], *curves: Curve, scale: Scale = HIGHER) -> list[str]:
    """The sentences of a rule about these curves."""
    return [one.text for one in rule(field(*curves, scale=scale))]


def white(seed: int, name: str, n: int, *, runs: int = 1) -> Curve:
    """A flat curve of white noise of sd 1: one run, or the mean of several with its 95% band."""
    draws = np.random.default_rng([seed, *name.encode()]).normal(size=(runs, n))
    if runs == 1:
        return curve(name, draws[0].tolist())
    half = 2.776 * draws.std(axis=0, ddof=1) / np.sqrt(runs)
    mean = draws.mean(axis=0)
    return replace(curve(name, mean.tolist(), runs=runs, half=1.0), low=mean - half, high=mean + half)


# ---- single rules ---------------------------------------------------------------------------------


def test_a_common_start_is_told_with_how_long_it_lasts() -> None:
    """Equal readings at first, then apart."""
    said = texts(observe_same_start, curve("A", [1, 2, 3, 9]), curve("B", [1, 2, 5, 6]))
    assert said == ["The first readings of A and B are 1 at step 0, and they read the same up to step 1."]


def test_series_that_start_later_are_left_out_of_the_start() -> None:
    """Whoever joins at step 2 has no start to compare."""
    late = curve("C", [9, 9, 9], steps=[2, 3, 4])
    (one,) = observe_same_start(field(curve("A", [1, 2, 3]), curve("B", [1, 5, 6]), late))
    assert one.series == ("A", "B")


def test_a_pair_that_starts_apart_is_told_with_both_values() -> None:
    """Higher is higher, whatever is better."""
    for scale in (HIGHER, LOWER):
        said = texts(observe_same_start, curve("A", [4, 5]), curve("B", [6, 5]), scale=scale)
        assert said == ["The first reading of B is higher than that of A: 6 against 4 at step 0."]


def test_the_best_value_is_told_with_where_it_ends() -> None:
    """The one with the peak ends lower than another."""
    said = texts(observe_best, curve("A", [0, 9, 4]), curve("B", [0, 5, 6]))
    assert said == [
        (
            "The highest reading is 9, of A at step 1; that of B is 6 at step 2. "
            "The last readings are B (6) and A (4)."
        )
    ]


def test_the_best_loss_is_the_lowest() -> None:
    """Values are told as measured."""
    said = texts(observe_best, curve("A", [9, 5, 1]), curve("B", [9, 4, 2]), scale=LOWER)
    assert said == [
        (
            "The lowest reading is 1, of A at step 2; that of B is 2 at step 2. "
            "The last readings are A (1) and B (2)."
        )
    ]


def test_a_lead_within_the_band_is_no_lead() -> None:
    """Ends nearer than the noise of 5 runs: nobody is said to win."""
    pair = [curve(name, [0, 5, 9 + more], half=1.0, runs=5) for name, more in (("A", 0.0), ("B", 0.3))]
    (one,) = observe_best(field(*pair))
    assert one.text.endswith("no clear winner.")
    (led,) = texts(observe_crossing, *pair)
    assert led.startswith("By the readings alone, ")


def test_a_series_that_stops_early_is_told_with_its_step() -> None:
    """Its last value is not one of the others' last step."""
    said = texts(observe_best, curve("A", [0, 9, 8]), curve("B", [0, 5]))
    assert said == [
        (
            "The highest reading is 9, of A at step 1; that of B is 5 at step 1. "
            "The last readings are A (8) and B (5 at step 1)."
        )
    ]


def test_a_change_of_the_lead_is_told_with_who_led_in_between() -> None:
    """Each leads once."""
    said = texts(observe_crossing, curve("A", [5, 5, 1, 1]), curve("B", [1, 1, 5, 5]))
    assert said == ["By the readings alone, A is ahead from step 0 to 1, B from step 2 on."]


def test_in_a_loss_the_lower_one_leads() -> None:
    """Whichever way is better."""
    said = texts(observe_crossing, curve("A", [5, 5, 1, 1]), curve("B", [1, 1, 5, 5]), scale=LOWER)
    assert said == ["By the readings alone, B is ahead from step 0 to 1, A from step 2 on."]


def test_who_leads_throughout_is_told() -> None:
    """No change, one leader, and the one that is last."""
    three = [curve("A", [9, 9, 9]), curve("B", [5, 4, 5]), curve("C", [1, 2, 3])]
    assert texts(observe_crossing, *three) == [
        "By the readings alone, A is ahead from step 0 on.",
        "By the readings alone, C is last at every step.",
    ]


def test_the_widest_gap_is_told_with_both_values() -> None:
    """At the first of equal ones."""
    said = texts(observe_widest_gap, curve("A", [1, 9, 9, 1]), curve("B", [1, 5, 5, 1]))
    assert said == ["The readings are furthest apart at step 1, by 4: A 9, B 5."]


def test_series_that_come_together_are_told_with_the_gap_before() -> None:
    """At the end they read the same."""
    said = texts(observe_convergence, curve("A", [1, 9, 7]), curve("B", [1, 5, 7]))
    assert said == ["The readings of A and B end level at 7, at step 2, after 4 between them at step 1."]


def test_a_meeting_needs_a_reading_of_both() -> None:
    """Lines that cross between readings do not meet."""
    a, b = curve("A", [1, 5, 9]), curve("B", [9, 5, 2])
    assert "The readings of A and B meet at step 1, at 5." in texts(observe_convergence, a, b)
    between = curve("B", [9, 2], steps=[0, 2])
    assert texts(observe_convergence, a, between) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.92, 0.91, 0.90, 0.89, 0.84, 0.84, 0.75], [4, 2, 1]),
        ([0.9, 0.85, 0.7, 0.7, 0.5], [2, 2, 1]),
        ([0.38, 0.37, 0.28, 0.28, 0.27, 0.26, 0.25], [2, 5]),
        ([0.5, 0.4, 0.3, 0.2, 0.0], [5]),
        ([0.9, 0.6, 0.3], [3]),
        ([0.5, 0.5, 0.5], [3]),
    ],
)
def test_groups_without_known_noise_are_natural(values: list[float], expected: list[int]) -> None:
    """A cut stands out among the gaps and is wider than what it leaves together."""
    names = [f"series {place}" for place in range(len(values))]
    made = field(*(curve(name, [0.0, value]) for name, value in zip(names, values, strict=True)))
    for order in (1, -1):
        found = group_values(
            made, dict(zip(names[::order], values[::order], strict=True)), made.choose_end_criterion
        )
        assert [len(group) for group in found.members] == expected
        assert [name for group in found.members for name in group] == names


def test_metrics_part_company_where_one_worsens_while_the_other_improves() -> None:
    """Told are the steps, both metrics and all four values."""
    reward = field(curve("A", [0, 1, 2, 3, 4]), scale=Scale("reward"))
    accuracy = field(curve("A", [0.1, 0.5, 0.9, 0.6, 0.3]), scale=Scale("accuracy"))
    loss = field(curve("A", [4, 3, 2, 1, 0]), scale=Scale("loss", higher_is_better=False))
    for order in ([reward, accuracy], [accuracy, reward]):
        (one,) = observe_part_company(order)
        assert (
            one.text == "A, by its readings, from step 2 to 4: "
            "reward goes from 2 to 4, while accuracy goes from 0.9 to 0.3."
        )
        assert one.metric == "accuracy"
    assert not list(observe_part_company([reward, loss]))


def test_the_gap_at_an_unlike_start_is_told_once() -> None:
    """Two sentences about one event: the first keeps the evidence of both."""
    found = observe_curves([(curve_set(curve("A", [9, 5, 5.2]), curve("B", [1, 5, 5.1])), HIGHER)])
    assert Rule.WIDEST_GAP not in {one.rule for one in found}
    (start,) = [one for one in found if one.rule == Rule.SAME_START]
    assert "widest_gap(A, B) = 8.0 at step 0" in start.evidence


def test_a_rule_alone_is_not_silenced_by_another() -> None:
    """Who asks for widest gaps gets them."""
    made = curve_set(curve("A", [9, 5, 5.2]), curve("B", [1, 5, 5.1]))
    found = observe_curves([(made, HIGHER)], rules=(Rule.WIDEST_GAP,))
    assert [one.rule for one in found] == [Rule.WIDEST_GAP]


def test_one_series_and_none_are_no_trouble() -> None:
    """Rules of several series are silent; nothing fails."""
    empty = curve("B", [float("nan"), float("nan")])
    for made in (curve_set(), curve_set(empty), curve_set(curve("A", [1.0]), empty)):
        assert {one.rule for one in observe_curves([(made, HIGHER)])}.isdisjoint(SEVERAL)


# ---- laws -----------------------------------------------------------------------------------------

_READING = st.integers(0, 40).map(lambda n: n / 40)
_SERIES = st.lists(_READING, min_size=1, max_size=8)


def _curves(values: list[list[float]], steps_apart: int = 0) -> list[Curve]:
    made = []
    for place, one in enumerate(values):
        # Some have every step, others every second: unequal steps are interpolated.
        stride = 2 if steps_apart and place % 2 else 1
        made.append(curve("ABCDE"[place], one, steps=[float(stride * at) for at in range(len(one))]))
    return made


_SETS = st.tuples(st.lists(_SERIES, min_size=2, max_size=5), st.integers(0, 1))


@given(_SETS, st.sampled_from([HIGHER, LOWER]))
def test_the_order_of_series_changes_nothing(made: tuple[list[list[float]], int], scale: Scale) -> None:
    """The same sentences with the same evidence in the same order, whichever series comes first."""
    curves = _curves(*made)
    forwards = observe_curves([(curve_set(*curves), scale)], rules=tuple(SEVERAL))
    assert forwards == observe_curves([(curve_set(*curves[::-1]), scale)], rules=tuple(SEVERAL))


def test_the_order_of_noisy_series_and_of_metrics_changes_nothing() -> None:
    """Also with bands, with many steps, and with the metrics of one block."""
    for runs, n in ((1, 60), (5, 40), (5, 8)):
        curves = [white(7, name, n, runs=runs) for name in "ABC"]
        climbing = [
            replace(one, values=one.values + np.linspace(0, slope, n))
            for one, slope in zip(curves, (9, -9, 4), strict=True)
        ]
        first, second = (curve_set(*climbing), HIGHER), (curve_set(*climbing), LOWER)
        turned = [(curve_set(*climbing[::-1]), scale) for scale in (LOWER, HIGHER)]
        assert observe_curves([first, second], tuple(SEVERAL)) == observe_curves(turned, tuple(SEVERAL))


@given(_SETS, st.sampled_from([0.001, 0.5, 2.0, 3.0, 1000.0]))
def test_scaling_values_scales_what_is_said(made: tuple[list[list[float]], int], factor: float) -> None:
    """Rules, series, steps and marks are those of the unscaled values."""
    curves = _curves(*made)
    scaled = [replace(one, values=one.values * factor) for one in curves]

    def shape(curves: list[Curve]) -> list[tuple[object, ...]]:
        found = [one for rule in SEVERAL.values() for one in rule(field(*curves))]
        return [
            (one.rule, one.series, one.from_step, one.to_step, one.mark_series, one.mark) for one in found
        ]

    assert shape(curves) == shape(scaled)


@given(st.lists(_SERIES, min_size=2, max_size=2), _READING)
def test_better_turned_is_worse(values: list[list[float]], shift: float) -> None:
    """Negative values where lower is better say the same as the values where higher is."""
    curves = _curves(values)
    turned = [replace(one, values=shift - one.values) for one in curves]
    plain = [(one.series, one.mark, one.from_step) for one in observe_crossing(field(*curves))]
    assert plain == [
        (one.series, one.mark, one.from_step) for one in observe_crossing(field(*turned, scale=LOWER))
    ]


@given(st.lists(_SERIES, min_size=2, max_size=3))
def test_a_constant_series_below_adds_no_crossing(values: list[list[float]]) -> None:
    """Who leads where stays what it was, since the constant one leads nowhere."""
    curves = _curves(values)
    length = max(one.steps.size for one in curves)
    steps = [float(at) for at in range(length)]
    without = curve("E", [min(one.values.min() for one in curves)] * length, steps=steps)

    def changes(curves: list[Curve]) -> list[str]:
        found = [one for one in observe_crossing(field(*curves)) if " is ahead" in one.text]
        return [re.sub(" ahead of [A-E]", " ahead", one.text.partition(";")[0]) for one in found]

    if all(one.steps.size == length for one in curves):
        assert changes([*curves, without]) == changes(curves)


def test_each_once_keeps_what_differs() -> None:
    """Nothing is merged that has another point or another metric."""
    a, b = curve("A", [1, 9, 4, 5]), curve("B", [1, 5, 6, 4])
    found = [one for rule in SEVERAL.values() for one in rule(field(a, b))]
    assert merge_duplicates(found) == found
