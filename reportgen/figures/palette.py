"""Which series gets which colour, dash and symbol: the same on every page of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SLOTS = 8
"""Series that can be told apart by colour; more than these turn grey."""

DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (6, 3),
    (2, 2.5),
    (9, 3, 2, 3),
    (12, 4),
    (4, 2, 1, 2, 1, 2),
    (1, 3),
    (8, 2, 8, 6),
)
SYMBOLS: tuple[str, ...] = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)


def assign_slots(
    figures: Iterable[tuple[str, ...]], pinned: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Give each series a palette slot, 0 to 7, so that series drawn together differ.

    Series are taken in order of first appearance; each gets the lowest slot that no series drawn with it
    in any figure has. A series that meets more than seven others with slots takes the slot least used
    among them (its figure then needs ``highlight``, which greys the rest).

    Args:
        figures: the series names of each figure, in the order of the report.
        pinned: series name to slot, 0 to 7, as the author fixed them.

    Returns:
        Series name to slot.
    """
    drawn_together: dict[str, set[str]] = {}
    for names in figures:
        for name in names:
            drawn_together.setdefault(name, set()).update(names)
    slots = dict(pinned or {})
    for name, neighbours in drawn_together.items():
        if name not in slots:
            taken = [slots[other] for other in neighbours if other in slots]
            slots[name] = min(range(SLOTS), key=lambda slot: (taken.count(slot), slot))
    return slots


def pick_slots(
    series: tuple[str, ...], slots: Mapping[str, int], highlight: tuple[str, ...] = ()
) -> dict[str, int | None]:
    """The slot each series of one figure is drawn with; None is the muted grey.

    With ``highlight`` the named series keep colour; without it a figure of more than eight series keeps
    colour for its first eight slots, and a series whose slot is taken within the figure turns grey.
    """
    result: dict[str, int | None] = {}
    used: set[int] = set()
    for name in series:
        slot = slots.get(name)
        keeps_colour = slot is not None and slot not in used and (not highlight or name in highlight)
        result[name] = slot if keeps_colour else None
        if keeps_colour and slot is not None:
            used.add(slot)
    return result
