"""What a figure draws, before and after: its series, the runs of a series, or the differences of pairs."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.figures.style import pick_slots
from reportgen.review.comparison.identity import match
from reportgen.review.model import LONGEST_NAME, MOST_SERIES, Place, SeriesChange, bound, clip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.model import Point, SeriesOutcome
    from reportgen.review.snapshot import FigureState

# What a column of a figure's CSV is called that holds its values.
_VALUES: Final = ("value", "score", "difference")


class _Line(NamedTuple):
    """A series of a figure, one of its runs, or the difference of a pair of series."""

    name: str
    series: tuple[str, ...]  # as it is called after
    run: str
    slot: int | None
    points: list[Point]

    @property
    def identity(self) -> tuple[tuple[str, ...], str]:
        return self.series, self.run


def compare_lines(
    before: FigureState | None,
    after: FigureState | None,
    renamed: Mapping[str, str],
    most: int,
    *,
    changed: SeriesOutcome = "data",
) -> tuple[SeriesChange, ...]:
    """Every line of a figure, with its points before where they are others, and after.

    ``renamed`` has the new names of series by their old ones; of each line there are so many points at most.
    ``changed`` is what other points mean: of another definition they are only shown.
    """
    if not most:
        return ()
    old, new = _read_lines(before, renamed), _read_lines(after, {})
    # A run may have got another name; a pair may be the same series against another baseline, or reversed.
    matched = match(
        old,
        new,
        lambda line: line.identity,
        lambda line: (line.series, tuple(line.points)) if line.run else None,
        lambda line: frozenset(line.series) if len(line.series) > 1 else None,
        lambda line: line.series[0] if len(line.series) > 1 else None,
    )
    partners = {id(now): was for was, now in matched.pairs}
    sides = [(partners.get(id(now)), now, now) for now in new]
    taken = {line.slot for line in new}
    gone = [line._replace(slot=None) if line.slot in taken else line for line in matched.gone]
    return tuple(_list_changes([*sides, *((was, None, was) for was in gone)][:MOST_SERIES], most, changed))


def _list_changes(
    sides: Sequence[tuple[_Line | None, _Line | None, _Line]], most: int, changed: SeriesOutcome
) -> Iterator[SeriesChange]:
    """What became of each line, of which there are before, after, and the one of both that names it."""
    for was, now, shown in sides:
        change = changed
        if was is None or now is None:
            change = "new" if now else "gone"
        elif was.identity != now.identity and not now.run:
            change = "definition"
        elif was.points == now.points:
            change = "same" if was.name == now.name else "renamed"
        old = was.points if was and change not in {"same", "renamed"} else []
        yield SeriesChange(
            name=clip(shown.name, LONGEST_NAME),
            was_name=clip(was.name, LONGEST_NAME) if was and was.name != shown.name else "",
            change=change,
            slot=shown.slot,
            at=_find_widest_gap(old, shown.points) if change == "data" else None,
            before=_thin(old, most),
            after=_thin(now.points if now else [], most),
        )


def _read_lines(figure: FigureState | None, renamed: Mapping[str, str]) -> list[_Line]:
    """The lines of a figure from its CSV, in the colours of the report's page."""
    if figure is None:
        return []
    reader = csv.reader(io.StringIO(str(figure.csv or "")))
    columns = {name: place for place, name in enumerate(next(reader, []))}
    value = next((columns[name] for name in _VALUES if name in columns), None)
    named = [columns[name] for name in ("series", "a", "b") if name in columns]
    if value is None or not named or {"problem", "column"} & {*columns}:
        return []
    step, low, high, run = (columns.get(name) for name in ("step", "low", "high", "run"))
    points: dict[tuple[tuple[str, ...], str], list[Point]] = {}
    for row in reader:
        if (number := _to_number(row, value)) is not None:
            key = tuple(row[place] for place in named), "" if run is None else row[run]
            point = _to_number(row, step), number, _to_number(row, low), _to_number(row, high)
            points.setdefault(key, []).append(point)
    names = tuple(dict.fromkeys(series[0] for series, _ in points))
    slots = pick_slots(names, figure.slots, tuple(figure.settings.get("highlight", ())))
    return [
        _Line(
            " − ".join(series) + (f", run {run}" if run else ""),
            tuple(renamed.get(name, name) for name in series),
            run,
            slots[series[0]],
            own,
        )
        for (series, run), own in points.items()
    ]


def _to_number(row: Sequence[str], column: int | None) -> float | None:
    try:
        number = float(row[column]) if column is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _thin(points: Sequence[Point], most: int) -> tuple[Point, ...]:
    """At most so many points, the first and the last among them."""
    if len(points) <= most:
        return tuple(points)
    places = np.unique(np.linspace(0, len(points) - 1, most).round().astype(np.int64))
    return tuple(points[place] for place in places.tolist())


def _find_widest_gap(before: Sequence[Point], after: Sequence[Point]) -> Place | None:
    """The common step at which two lines differ most, and whether the new one leaves the old band there."""
    known = {point[0]: point for point in before}
    gaps = [(abs(now[1] - was[1]), was, now) for now in after if (was := known.get(now[0])) is not None]
    if not gaps:
        return None
    _, (_, value, low, high), now = max(gaps, key=lambda gap: gap[0])
    beyond = low is not None and high is not None and not low <= now[1] <= high
    return Place(step=now[0], delta=bound(now[1] - value), beyond_band=beyond)
