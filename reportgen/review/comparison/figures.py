"""Figures and tables that changed: by their numbers and definitions, never by their pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from reportgen.core.cache import get_digest
from reportgen.review.comparison.identity import match, match_shown
from reportgen.review.comparison.lines import compare_lines
from reportgen.review.comparison.verdicts import list_differences
from reportgen.review.model import (
    LONGEST_NAME,
    MOST_POINTS,
    MOST_SERIES,
    Axis,
    FigureChange,
    RowChange,
    TableChange,
    clip,
)
from reportgen.review.snapshot import define_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.model import Cause, FigureOutcome, SeriesChange, TableOutcome
    from reportgen.review.snapshot import FigureState, Snapshot, TableState

# Of all figures of a review: they are some 3 MB as JSON.
_MOST_POINTS_TOGETHER: Final = 50_000
Row: TypeAlias = tuple[str, ...]
# Settings of a block that are words for readers.
_WORDS: Final = {"title", "caption", "summary", "x_title", "y_title", "annotations", "reference"}


class ChangeContext(Struct, frozen=True):
    """What is known of both states beyond one figure, to find the cause of its change."""

    renamed: Mapping[str, str]  # new paths of pages, by their old ones
    changed_files: frozenset[str]  # sources whose files changed
    renamed_series: Mapping[str, Mapping[str, str]]  # new names by old ones, by source
    definitions: Mapping[str, tuple[str, ...]]  # what of a source's settings, which define numbers, changed
    other_tool: bool

    def list_renamed_series(self, sources: Sequence[str] | None) -> dict[str, str]:
        """New names of series by their old ones, of these sources together."""
        return {old: new for name in sources or () for old, new in self.renamed_series.get(name, {}).items()}

    def find_causes(
        self, sources: Sequence[str] | None, *, numbers: bool, words: bool, defined: bool
    ) -> tuple[Cause, ...]:
        """Why something changed; numbers that changed without another cause have another definition.

        ``sources`` are those it shows, None where they are not known.
        """
        data = numbers and bool(
            self.changed_files if sources is None else self.changed_files.intersection(sources)
        )
        tool = numbers and self.other_tool
        defined = defined or (numbers and not data and not tool)
        found: tuple[tuple[Cause, bool], ...] = (
            ("data", data),
            ("text", words),
            ("definition", defined),
            ("tool", tool),
        )
        return tuple(cause for cause, holds in found if holds)


class ComparedFigures(NamedTuple):
    """Every figure that changed, and how many of them come without series, for which is no room."""

    figures: tuple[FigureChange, ...]
    without_points: int


def compare_figures(base: Snapshot, head: Snapshot, around: ChangeContext) -> ComparedFigures:
    """Figures that changed, in the order of the report; those that are gone last."""
    matched = match_shown(base.figures, head.figures, around.renamed)
    partners = {id(after): before for before, after in matched.pairs}
    sides = [(partners.get(id(after)), after) for after in head.figures]
    room, without, found = _MOST_POINTS_TOGETHER, 0, []
    for before, after in (*sides, *((before, None) for before in matched.gone)):
        if change := _compare_figure(before, after, around, most=MOST_POINTS if room > 0 else 0):
            without += room <= 0
            room -= sum(len(one.before) + len(one.after) for one in change.series)
            found.append(change)
    return ComparedFigures(tuple(found), without)


def _compare_figure(
    before: FigureState | None, after: FigureState | None, around: ChangeContext, *, most: int
) -> FigureChange | None:
    """What changed of a figure, with so many points of each series at ``most``; None if nothing did."""
    if before is None or after is None:
        series = compare_lines(before, after, {}, most)
        alone = after or before
        return None if alone is None else _describe(alone, "new" if after else "gone", series)
    drafted = bool(before.settings and after.settings)
    if drafted and before.key and before.key == after.key:
        return None
    sides = [one.definition if drafted else define_numbers(one.numbers) for one in (before, after)]
    definitions = list_differences(*sides)
    definitions += tuple(text for name in after.sources or () for text in around.definitions.get(name, ()))
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
    renames, defined = around.list_renamed_series(after.sources), bool(definitions)
    series = compare_lines(before, after, renames, most, changed="definition" if defined else "data")
    changes = {one.change for one in series}
    renamed = "renamed" in changes and changes <= {"same", "renamed"}
    return _describe(
        after,
        "definition" if definitions else "data" if numbers and not renamed else "looks",
        series,
        around.find_causes(after.sources, numbers=numbers, words=words, defined=defined or styled),
        was_page=clip(before.page, LONGEST_NAME) if before.page != after.page else "",
        was_id=clip(before.id, LONGEST_NAME) if before.id != after.id else "",
        definitions=tuple(map(clip, definitions)),
    )


def _describe(
    figure: FigureState,
    change: FigureOutcome,
    series: tuple[SeriesChange, ...],
    causes: tuple[Cause, ...] = (),
    *,
    was_page: str = "",
    was_id: str = "",
    definitions: tuple[str, ...] = (),
) -> FigureChange:
    settings, metric = figure.settings, str(figure.numbers.get("metric", ""))
    x = Axis(scale="series")
    if any(point[0] is not None for one in series for point in (*one.before, *one.after)):
        scale: Literal["linear", "log", "time"] = (
            "time" if figure.spec is not None and '"temporal"' in str(figure.spec) else "linear"
        )
        title = settings.get("x_title") or settings.get("x") or ("k" if figure.kind == "passk" else "step")
        scale = "log" if settings.get("x_scale") == "log" else scale
        x = Axis(title=clip(title, LONGEST_NAME), scale=scale)
    difference = figure.kind == "comparison"
    y_title = clip(settings.get("y_title") or ("difference" if difference else metric), LONGEST_NAME)
    return FigureChange(
        page=clip(figure.page, LONGEST_NAME),
        id=clip(figure.id, LONGEST_NAME),
        was_page=was_page,
        was_id=was_id,
        kind=figure.kind,
        title=clip(figure.title),
        change=change,
        causes=causes,
        definitions=definitions,
        x=x,
        y=Axis(
            title=y_title,
            scale="log" if settings.get("y_scale") == "log" else "linear",
            percent=figure.percent,
            difference=difference,
        ),
        series=series,
    )


def compare_tables(base: Snapshot, head: Snapshot, around: ChangeContext) -> Iterator[TableChange]:
    """Every table that changed, with the rows that did, by the name in their first cell."""
    matched = match_shown(base.tables, head.tables, around.renamed)
    partners = {id(after): before for before, after in matched.pairs}
    for after in head.tables:
        if (before := partners.get(id(after))) is None:
            yield _describe_table(after, "new", [(None, row) for row in after.rows])
            continue
        definitions = list_differences(before.definition, after.definition)
        rows = match(before.rows, after.rows, lambda row: row, lambda row: row[:1])
        changed: list[tuple[Row | None, Row | None]] = []
        changed += [(was, now) for was, now in rows.pairs if was != now or before.header != after.header]
        changed += [(was, None) for was in rows.gone]
        changed += [(None, now) for now in rows.new]
        if changed:
            causes = around.find_causes(after.sources, numbers=True, words=False, defined=bool(definitions))
            change: TableOutcome = "definition" if definitions else "data"
            yield _describe_table(after, change, changed, causes, tuple(map(clip, definitions)))
    for before in matched.gone:
        yield _describe_table(before, "gone", [(row, None) for row in before.rows])


def _describe_table(
    table: TableState,
    change: TableOutcome,
    rows: Sequence[tuple[Row | None, Row | None]],
    causes: tuple[Cause, ...] = (),
    definitions: tuple[str, ...] = (),
) -> TableChange:
    def clip_cells(cells: Row | None) -> Row | None:
        return None if cells is None else tuple(map(clip, cells[:MOST_SERIES]))

    return TableChange(
        page=clip(table.page, LONGEST_NAME),
        id=clip(table.id, LONGEST_NAME),
        title=clip(table.title),
        change=change,
        causes=causes,
        definitions=definitions,
        header=tuple(map(clip, table.header[:MOST_SERIES])),
        rows=tuple(
            RowChange(before=clip_cells(was), after=clip_cells(now)) for was, now in rows[:MOST_SERIES]
        ),
    )
