"""Who leads: by the verdicts of a family, and at the end of curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_figures import curve
from msgspec.structs import replace

from reportgen.core.comparisons import Verdict
from reportgen.core.model import Lead
from reportgen.statistics.curves.mean_curves import compare_at_end, find_leads_at_end
from reportgen.statistics.verdicts import find_leader, swap_sides

if TYPE_CHECKING:
    from reportgen.core.comparisons import Comparison

A, B, C = (curve(name, [0.2, end], half=0.01, runs=5) for name, end in (("A", 0.9), ("B", 0.5), ("C", 0.5)))
NOBODY = Lead(None, tested=True)
UNTESTED = Lead(None, tested=False)


def family() -> list[Comparison]:
    """A is better than B and C, which are equal."""
    return list(compare_at_end((A, B, C)))


def test_the_leader_is_better_than_every_other() -> None:
    """Whichever side of a pair it stands on; the best number alone is not enough."""
    pairs = family()
    assert find_leader(pairs, "A", ["B", "C"]) == Lead("A", tested=True)
    assert find_leader([swap_sides(one) for one in pairs], "A", ["B", "C"]) == Lead("A", tested=True)
    assert find_leader(pairs, "B", ["A", "C"]) == NOBODY
    assert find_leader(pairs, "B", ["C"]) == NOBODY


def test_one_series_leads_nobody() -> None:
    """It is the first, and nothing was tested."""
    assert find_leader([], "A", []) == Lead("A", tested=False)
    assert find_leads_at_end((A,), 0.95) == (Lead("A", tested=False),) * 2


def test_what_could_not_be_tested_gives_no_winner_and_no_tie() -> None:
    """A missing pair, too few runs, equal runs on both sides: no test says anything."""
    pairs = family()
    assert find_leader(pairs[:1], "A", ["B", "C"]) == UNTESTED
    few = replace(pairs[0], p=None, adjusted_p=None, verdict=Verdict.TOO_FEW)
    assert find_leader([few, *pairs[1:]], "A", ["B", "C"]) == UNTESTED
    equal = (curve("A", [0.2, 0.9], half=0.0, runs=3), curve("B", [0.2, 0.5], half=0.0, runs=3))
    assert find_leads_at_end(equal, 0.95)[0] == UNTESTED
    assert find_leads_at_end((A, curve("B", [0.2, 0.5])), 0.95)[0] == UNTESTED


def test_who_ends_above_all_others_and_who_below() -> None:
    """B and C end below A, and neither below the other."""
    assert find_leads_at_end((A, B, C), 0.95) == (Lead("A", tested=True), NOBODY)
    assert find_leads_at_end((A, B), 0.95) == (Lead("A", tested=True), Lead("B", tested=True))


def test_a_series_that_ends_early_is_compared_where_it_ends() -> None:
    """And leads only if its own final value is the best as well."""
    early = curve("early", [0.2, 0.9], half=0.01, runs=5)
    late = curve("late", [0.2, 0.5, 0.95], half=0.01, runs=5)
    assert find_leads_at_end((early, late), 0.95)[0] == NOBODY
    assert find_leads_at_end((early, replace(late, values=late.values * 0.5)), 0.95)[0].series == "early"


@pytest.mark.parametrize("count", [8, 40])
def test_a_family_asks_for_more_than_a_pair(count: int) -> None:
    """A difference that wins a pair alone need not win among many."""
    first = curve("first", [0.0, 0.045], half=0.05, runs=5)
    others = [curve(f"other {place}", [0.0, -0.03], half=0.05, runs=5) for place in range(count)]
    assert find_leads_at_end((first, others[0]), 0.95)[0].series == "first"
    assert find_leads_at_end((first, *others), 0.95)[0] == NOBODY
    far = curve("far", [0.0, 9.0], half=0.05, runs=5)
    assert find_leads_at_end((far, *others), 0.95)[0].series == "far"


def test_numbers_of_any_size_are_no_trouble() -> None:
    """Where squares are no numbers, the test goes on; where sums are none, nobody leads."""
    big = [
        replace(one, runs=tuple(replace(run, values=run.values * 1e200) for run in one.runs))
        for one in (A, B)
    ]
    assert find_leads_at_end(big, 0.95)[0].series == "A"
    huge = [
        replace(one, runs=tuple(replace(run, values=run.values * 1.7e308) for run in one.runs))
        for one in (A, B)
    ]
    assert find_leads_at_end(huge, 0.95)[0].series is None
