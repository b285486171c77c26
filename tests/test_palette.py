"""Colours: the same series has the same one on every page, and series drawn together differ."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.figures.style import DASHES, SLOTS, SYMBOL_PATHS, SYMBOLS, assign_slots, pick_slots

NAMES = st.sampled_from([f"series {letter}" for letter in "abcdefghijkl"])
FIGURES = st.lists(st.lists(NAMES, min_size=1, max_size=6, unique=True).map(tuple), max_size=6)


@given(FIGURES)
def test_every_series_gets_one_slot_of_eight(figures: list[tuple[str, ...]]) -> None:
    """No series is without a colour and none has a ninth."""
    slots = assign_slots(figures)
    assert set(slots) == {name for names in figures for name in names}
    assert all(0 <= slot < SLOTS for slot in slots.values())


@given(st.lists(NAMES, min_size=1, max_size=8, unique=True).map(tuple))
def test_up_to_eight_series_of_a_figure_differ(names: tuple[str, ...]) -> None:
    """A figure of eight has eight colours, in the order of its series."""
    assert assign_slots([names]) == {name: slot for slot, name in enumerate(names)}


@given(FIGURES)
def test_series_drawn_together_differ_while_colours_last(figures: list[tuple[str, ...]]) -> None:
    """Two neighbours share a slot only where one of them has eight or more other neighbours."""
    slots = assign_slots(figures)
    neighbours = {
        name: {other for names in figures if name in names for other in names} - {name} for name in slots
    }
    for names in figures:
        for one, other in itertools.combinations(names, 2):
            if slots[one] == slots[other]:
                assert max(len(neighbours[one]), len(neighbours[other])) >= SLOTS


@given(FIGURES, st.lists(NAMES, min_size=1, max_size=6, unique=True).map(tuple))
def test_a_figure_added_at_the_end_changes_no_colour_of_new_neighbours_only(
    figures: list[tuple[str, ...]], added: tuple[str, ...]
) -> None:
    """Series that are not in the added figure keep their colour, whatever it holds."""
    before, after = assign_slots(figures), assign_slots([*figures, tuple(f"new {name}" for name in added)])
    assert all(after[name] == slot for name, slot in before.items())


@given(FIGURES, st.dictionaries(NAMES, st.integers(0, SLOTS - 1), max_size=3))
def test_a_pinned_series_keeps_its_place(figures: list[tuple[str, ...]], pinned: dict[str, int]) -> None:
    """What the author fixed stays, and others make room."""
    slots = assign_slots(figures, pinned)
    assert pinned.items() <= slots.items()


def test_a_neighbour_of_a_pinned_series_takes_another_place() -> None:
    """The first slot is taken, although its owner comes later."""
    assert assign_slots([("a", "b")], {"b": 0}) == {"b": 0, "a": 1}


def test_without_highlight_each_series_has_its_own_colour() -> None:
    """A figure's slots are those of the report."""
    assert pick_slots(("a", "b"), {"a": 3, "b": 0, "c": 1}) == {"a": 3, "b": 0}


def test_with_highlight_the_rest_turn_grey() -> None:
    """Grey is None; the highlighted keep the colour they have everywhere."""
    assert pick_slots(("a", "b", "c"), {"a": 0, "b": 1, "c": 2}, ("b",)) == {"a": None, "b": 1, "c": None}


def test_beyond_eight_series_the_rest_turn_grey() -> None:
    """Two lines of one figure never share a colour: the later one is grey."""
    names = tuple(f"series {n}" for n in range(12))
    drawn = pick_slots(names, assign_slots([names]))
    assert [drawn[name] for name in names] == [0, 1, 2, 3, 4, 5, 6, 7, None, None, None, None]


@given(FIGURES, st.lists(NAMES, max_size=2))
def test_no_two_lines_of_a_figure_share_a_colour(
    figures: list[tuple[str, ...]], highlight: list[str]
) -> None:
    """Whatever is highlighted."""
    slots = assign_slots(figures)
    for names in figures:
        colours = [slot for slot in pick_slots(names, slots, tuple(highlight)).values() if slot is not None]
        assert len(set(colours)) == len(colours)


def test_each_colour_has_a_dash_and_a_symbol_of_its_own() -> None:
    """A second code for readers who see no colours."""
    assert len(set(DASHES)) == len(set(SYMBOLS)) == SLOTS
    assert {*SYMBOLS, "none"} == set(SYMBOL_PATHS)


@pytest.mark.parametrize("pattern", DASHES)
def test_dashes_are_pairs(pattern: tuple[float, ...]) -> None:
    """SVG would double an odd pattern, and the live view would not."""
    assert len(pattern) % 2 == 0
