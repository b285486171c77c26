"""Figures and tables that changed: by their numbers and definitions, never by their pixels.

What a figure draws are lines: its series, the runs of a series, or the differences of pairs.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from msgspec import Struct

from reportgen.core.cache import get_digest
from reportgen.figures.style import pick_slots
from reportgen.review.comparison.identity import match, match_shown
from reportgen.review.comparison.verdicts import list_differences
from reportgen.review.model import (
    MOST_POINTS,
    MOST_SERIES,
    Axis,
    FigureChange,
    Place,
    RowChange,
    SeriesChange,
    TableChange,
    bound,
)
from reportgen.review.snapshot import define_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.model import Cause, Point, SeriesOutcome
    from reportgen.review.snapshot import FigureState, Snapshot

# Of all figures of a review: they are some 3 MB as JSON.
_MOST_POINTS_TOGETHER: Final = 50_000
# Settings of a block that are words for readers.
_WORDS: Final = {"title", "caption", "summary", "x_title", "y_title", "annotations", "reference"}
# What a column of a figure's CSV is called that holds its values.
_VALUES: Final = ("value", "score", "difference")


class ChangeContext(Struct, frozen=True):
    """What is known of both states beyond one figure, to find the cause of its change."""

    renamed: Mapping[str, str]  # new paths of pages, by their old ones
    changed_files: frozenset[str]  # sources whose files changed
    renamed_series: Mapping[str, Mapping[str, str]]  # new names by old ones, by source
    definitions: Mapping[str, tuple[str, ...]]  # what of a source's settings, which define numbers, changed
    other_tool: bool

    def find_causes(
        self, sources: Sequence[str] | None, *, numbers: bool, words: bool, defined: bool
    ) -> tuple[Cause, ...]:
        """Why something changed; numbers that changed without another cause have another definition.

        ``sources`` are those it shows, None where they are not known.
        """
        files = self.changed_files if sources is None else self.changed_files.intersection(sources)
        data, tool = numbers and bool(files), numbers and self.other_tool
        found: dict[Cause, bool] = {
            "data": data,
            "text": words,
            "definition": defined or (numbers and not data and not tool),
            "tool": tool,
        }
        return tuple(cause for cause, holds in found.items() if holds)


class ComparedFigures(NamedTuple):
    """Every figure that changed, and how many of them come without series, for which is no room."""

    figures: tuple[FigureChange, ...]
    without_points: int


def compare_figures(base: Snapshot, head: Snapshot, around: ChangeContext) -> ComparedFigures:
    """Figures that changed, in the order of the report; those that are gone last.

    Where the functions of one state are not run, no chart of a function is compared.
    """
    room, without, found = _MOST_POINTS_TOGETHER, 0, []
    unknown = {"altair"} if base.skips_code or head.skips_code else set()
    old, new = ([one for one in state.figures if one.kind not in unknown] for state in (base, head))
    for before, after, figure in match_shown(old, new, around.renamed).sides:
        most = MOST_POINTS if room > 0 else 0
        if before and after:
            change = _compare_figure(before, after, around, most)
        else:
            series = tuple(compare_lines(before, after, {}, most))
            change = _describe(figure, series, change="new" if after else "gone")
        if change:
            without += room <= 0
            room -= sum(len(one.before) + len(one.after) for one in change.series)
            found.append(change)
    return ComparedFigures(tuple(found), without)


def _compare_figure(
    before: FigureState, after: FigureState, around: ChangeContext, most: int
) -> FigureChange | None:
    """What changed of a figure, with so many points of each series at ``most``; None if nothing did."""
    drafted = bool(before.settings and after.settings)
    if drafted and before.key and before.key == after.key:
        return None
    sides = [one.definition if drafted else define_numbers(one.numbers) for one in (before, after)]
    sources = after.sources or ()
    definitions = list_differences(*sides)
    definitions += tuple(text for name in sources for text in around.definitions.get(name, ()))
    texts = [None if one.csv is None else get_digest(one.csv) for one in (before, after)]
    numbers = before.numbers != after.numbers or (None not in texts and texts[0] != texts[1])
    names = {*before.settings, *after.settings} - {"id"} if drafted else set()
    other = {name for name in names if before.settings.get(name) != after.settings.get(name)}
    words = bool(other & _WORDS)
    if not numbers and not definitions:
        words = words or (before.title, before.words) != (after.title, after.words)
    styled = bool(other - _WORDS - {*before.definition, *after.definition})
    if not (definitions or numbers or words or styled):
        return None
    renames = {old: new for name in sources for old, new in around.renamed_series.get(name, {}).items()}
    defined = bool(definitions)
    changed: SeriesOutcome = "definition" if defined else "data"
    series = tuple(compare_lines(before, after, renames, most, changed=changed))
    changes = {one.change for one in series}
    renamed = "renamed" in changes and changes <= {"same", "renamed"}
    return _describe(
        after,
        series,
        change="definition" if defined else "data" if numbers and not renamed else "looks",
        causes=around.find_causes(after.sources, numbers=numbers, words=words, defined=defined or styled),
        was_page=before.page if before.page != after.page else "",
        was_id=before.id if before.id != after.id else "",
        definitions=definitions,
    )


def _describe(figure: FigureState, series: tuple[SeriesChange, ...], **found: Any) -> FigureChange:  # noqa: ANN401 - of any field
    """A figure with what became of it and its axes."""
    settings, difference = figure.settings, figure.kind == "comparison"
    x = Axis(scale="series")
    if any(point[0] is not None for one in series for point in (*one.before, *one.after)):
        title = settings.get("x_title") or settings.get("x") or ("k" if figure.kind == "passk" else "step")
        scale = "time" if figure.spec is not None and '"temporal"' in str(figure.spec) else "linear"
        x = Axis.fit(title=title, scale="log" if settings.get("x_scale") == "log" else scale)
    metric = "difference" if difference else str(figure.numbers.get("metric", ""))
    y = Axis.fit(
        title=settings.get("y_title") or metric,
        scale="log" if settings.get("y_scale") == "log" else "linear",
        percent=figure.percent,
        difference=difference,
    )
    return FigureChange.fit(figure, series=series, x=x, y=y, **found)


def compare_tables(base: Snapshot, head: Snapshot, around: ChangeContext) -> Iterator[TableChange]:
    """Every table that changed, with the rows that did, by the name in their first cell."""
    for before, after, table in match_shown(base.tables, head.tables, around.renamed).sides:
        found: dict[str, Any] = {"change": "new" if after else "gone"}
        rows = match(
            before.rows if before else (), after.rows if after else (), lambda row: row, lambda row: row[:1]
        ).sides
        if before and after:
            rows = tuple(side for side in rows if side[0] != side[1] or before.header != after.header)
            if not rows:
                continue
            definitions = list_differences(before.definition, after.definition)
            defined = bool(definitions)
            found = {
                "change": "definition" if defined else "data",
                "causes": around.find_causes(after.sources, numbers=True, words=False, defined=defined),
                "definitions": definitions,
            }
        changed = sorted(rows, key=lambda side: (side[0] is None, side[1] is None))[:MOST_SERIES]
        shown = tuple(RowChange.fit(before=was, after=now) for was, now, _ in changed)
        yield TableChange.fit(table, **found, rows=shown)


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
) -> Iterator[SeriesChange]:
    """Every line of a figure, with its points before where they are others, and after.

    ``renamed`` has the new names of series by their old ones; of each line there are so many points at most.
    ``changed`` is what other points mean: of another definition they are only shown.
    """
    if not most:
        return
    new = _read_lines(after, {})
    taken = {line.slot for line in new}
    # A run may have got another name; a pair may be the same series against another baseline, or reversed.
    matched = match(
        _read_lines(before, renamed),
        new,
        lambda line: line.identity,
        lambda line: (line.series, tuple(line.points)) if line.run else None,
        lambda line: frozenset(line.series) if len(line.series) > 1 else None,
        lambda line: line.series[0] if len(line.series) > 1 else None,
    )
    for was, now, shown in matched.sides[:MOST_SERIES]:
        change = changed
        if was is None or now is None:
            change = "new" if now else "gone"
        elif was.identity != now.identity and not now.run:
            change = "definition"
        elif was.points == now.points:
            change = "same" if was.name == now.name else "renamed"
        old = was.points if was and change not in {"same", "renamed"} else []
        yield SeriesChange.fit(
            name=shown.name,
            was_name=was.name if was and was.name != shown.name else "",
            change=change,
            slot=None if now is None and shown.slot in taken else shown.slot,
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
    rows, metric = list(reader), columns.get("metric")
    several = metric is not None and len({row[metric] for row in rows}) > 1
    # Lines of one series differ in their run or, in a plot of several metrics, in their metric.
    part, how = (metric, " · ") if several else (run, ", run ")
    if figure.kind == "heatmap":  # of benchmarks, each of which is a point without a step
        part, how = columns["benchmark"], " on "
    lines = figure.numbers.get("lines") or ()
    labels = {line["series"]: line["label"] for line in lines if "label" in line}
    points: dict[tuple[tuple[str, ...], str], list[Point]] = {}
    for row in rows:
        if (number := _to_number(row, value)) is not None:
            key = (
                tuple(labels.get(row[place], row[place]) for place in named),
                "" if part is None else row[part],
            )
            point = _to_number(row, step), number, _to_number(row, low), _to_number(row, high)
            points.setdefault(key, []).append(point)
    names = tuple(dict.fromkeys(series[0] for series, _ in points))
    slots = pick_slots(names, figure.slots, tuple(figure.settings.get("highlight", ())))
    return [
        _Line(
            " − ".join(series) + (f"{how}{member}" if member else ""),
            tuple(renamed.get(name, name) for name in series),
            member,
            slots[series[0]],
            own,
        )
        for (series, member), own in points.items()
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
