"""A review within its limits: at most 5 MB as JSON, and so many entries in each list.

What matters least is left out: first the points of figures, then entries of the longest lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.review.model import MOST_BYTES, MOST_ENTRIES, encode_json, write_review

if TYPE_CHECKING:
    from reportgen.review.model import FigureChange, Review, Value

# Without the words on what was left out.
_ROOM: Final = MOST_BYTES - 5_000
_LISTS: Final = ("statements", "numbers", "figures", "tables", "pages", "sources")


def thin_review(review: Review) -> Review:
    """The review within its limits; what is left out, points of figures first, is named in ``truncated``.

    Then lists are cut to as many bytes each as all have room for; what broke or clearly moved stays longest.
    """
    lists: dict[str, tuple[Value, ...]] = {name: getattr(review, name) for name in _LISTS}
    # Our JSON has spaces, which pydantic's has not; it is never twice as long.
    few = all(len(entries) <= MOST_ENTRIES for entries in lists.values())
    if few and 2 * len(review.model_dump_json().encode()) < _ROOM:
        return review
    words = [*review.truncated]
    sizes = {name: list(map(_measure, entries)) for name, entries in lists.items()}
    room = _ROOM - len(write_review(review.model_copy(update=dict.fromkeys(_LISTS, ()))).encode())
    spare = room - sum(map(sum, sizes.values()))
    if spare < 0:
        lists["figures"] = _leave_out_points(review.figures, sizes["figures"], spare, words)
    shortest_first = sorted(lists, key=lambda name: (name != "statements", sum(sizes[name])))
    for place, name in enumerate(shortest_first):
        # Statements have all the room that they need; of the others, short ones leave theirs to long ones.
        share = room if name == "statements" else room // (len(lists) - place)
        entries = lists[name]
        lists[name] = fitting = _shorten(entries, sizes[name], share)
        room -= sum(sizes[name]) if len(fitting) == len(entries) else share
        if len(fitting) < len(entries):
            words.append(f"{len(entries) - len(fitting):,} of {len(entries):,} {name}")
    return review.model_copy(update={**lists, "truncated": tuple(words[-50:])})


def _measure(entry: Value) -> int:
    """The bytes of an entry of a list, with the separator after it."""
    return len(encode_json(entry.model_dump(mode="json")).encode()) + 2


def _leave_out_points(
    figures: tuple[FigureChange, ...], sizes: list[int], spare: int, words: list[str]
) -> tuple[FigureChange, ...]:
    """The figures without points, from the last, as far as there is no room; updates ``sizes``."""
    light = list(figures)
    for place in range(len(figures) - 1, -1, -1):
        if spare >= 0:
            break
        one = figures[place]
        if one.series:
            series = tuple(each.model_copy(update={"before": (), "after": ()}) for each in one.series)
            light[place] = one.model_copy(update={"series": series})
            spare += sizes[place]
            sizes[place] = _measure(light[place])
            spare -= sizes[place]
    changed = sum(was is not now for was, now in zip(figures, light, strict=True))
    if changed:
        words.append(f"the points of {changed:,} of {len(figures):,} figures")
    return tuple(light)


def _shorten(entries: tuple[Value, ...], sizes: list[int], most: int) -> tuple[Value, ...]:
    """The entries that fit into so many bytes, in their order."""

    def is_minor(place: int) -> bool:
        entry = entries[place]
        return not (
            getattr(entry, "is_broken", False) or getattr(entry, "verdict", "") in {"higher", "lower"}
        )

    fitting = []
    for place in sorted(range(len(entries)), key=is_minor)[:MOST_ENTRIES]:
        most -= sizes[place]
        if most < 0:
            break
        fitting.append(place)
    return tuple(entries[place] for place in sorted(fitting))
