"""Columns of words that change along one line, such as train and val rows that take turns in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.sql import get_engine
from reportgen.read.runs.labels import is_comparable, is_metadata
from reportgen.read.tables.distinguish import (
    MOST_NAMES,
    SMALL,
    RowKeys,
    count_bytes,
    join_cells,
    list_comparable_texts,
    locate_pair,
    quote_columns,
    sample_keys,
    write_role,
)
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.read.tables.layout import Layout
    from reportgen.settings.source import SourceSettings


_LONGEST: Final = 40
_TRUTH: Final = frozenset(("true", "false", "yes", "no", ""))
# How words change along each run and metric by step, of repeated steps the last: whether a word comes back
# after another, and whether values jump more from one word to another than elsewhere.
_TURNS_SQL: Final = """
WITH written AS (
    SELECT series, run, part, step, value, "row", coalesce(c0, '') AS word FROM {cells}
    WHERE step BETWEEN -{largest} AND {largest} AND value BETWEEN -{largest} AND {largest}
    QUALIFY row_number() OVER (PARTITION BY series, run, part, step ORDER BY "row" DESC) = 1
), compared AS (
    SELECT *, coalesce(lag(word) OVER w <> word, false) AS turns, abs(value - lag(value) OVER w) AS away,
        struct_pack(series := series, part := part, row := "row", value := value, word := word,
            above := lag("row") OVER w, before := lag(value) OVER w, other := lag(word) OVER w) AS example
    FROM written WINDOW w AS (PARTITION BY series, run, part ORDER BY step)
), runs AS (
    SELECT part, count(DISTINCT word) > 1 AS several, count_if(turns) >= count(DISTINCT word) AS back,
        max(away) FILTER (turns) > max(away) FILTER (NOT turns) AS jumps, list(DISTINCT word) AS names,
        count(*) AS rows, arg_min(example, "row") FILTER (turns) AS example
    FROM compared GROUP BY series, run, part
)
SELECT count_if(back), count_if(several), count_if(jumps), list_sort(list_distinct(flatten(list(names)))),
    sum(rows), coalesce(arg_min(example, example.row) FILTER (back), arg_min(example, example.row))
FROM runs GROUP BY part ORDER BY part
"""


class _Turns(NamedTuple):
    """How words change along the lines of one metric, and two rows between which they do."""

    back: int  # runs in which a word comes back after another
    several: int  # runs with several words
    jumps: int  # runs in which no change is as large as one between two words
    names: list[str]
    rows: int
    example: Mapping[str, object] | None

    @property
    def has_few_names(self) -> bool:
        """Whether there are several words, each in several rows, and no truth values or remarks at some."""
        few = 1 < len(self.names) <= min(MOST_NAMES, self.rows // 2)
        return few and _TRUTH.isdisjoint(name.casefold() for name in self.names)


def may_be_interleaved(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether words may change along the lines of a table, unless ``repeat:`` says that they do."""
    measured = layout.roles.step and layout.metrics and not (layout.outcomes or layout.totals)
    return bool(measured and not settings.repeat and not layout.settings and _list_columns(layout))


def _list_columns(layout: Layout) -> list[str]:
    return [name for name in list_comparable_texts(layout) if is_comparable(name) and not is_metadata(name)]


def _find_turns(keys: RowKeys, column: str) -> list[_Turns]:
    cells = join_cells(keys, [column])
    rows = get_engine().fetch_rows(_TURNS_SQL.format(cells=cells, largest=sql.LARGEST))
    return [_Turns(*row) for row in rows]


def find_interleaved(keys: RowKeys) -> dict[str, Mapping[str, object]]:
    """Return the columns whose words take turns along the lines of a metric, with an example of each."""
    keys = keys if count_bytes(keys.root, keys.layout) <= SMALL else sample_keys(keys)
    found = {}
    for column in _list_columns(keys.layout):
        turns = _find_turns(keys, column)
        example = next(
            (one.example for one in turns if one.has_few_names and 2 * one.back > one.several), None
        )
        if example:
            found[column] = example
    return found


def check_interleaved(keys: RowKeys) -> None:
    """Refuse rows whose words take turns along one line, which are lines side by side."""
    if not (found := find_interleaved(keys)):
        return
    column, example = next(iter(found.items()))
    path, line, there, here = locate_pair(keys, *(int(str(example[key])) for key in ("above", "row")))
    part, series, word, other = (
        shorten(str(example[key]), _LONGEST) for key in ("part", "series", "word", "other")
    )
    message = f"rows that differ in {quote_columns([column])} take turns along one line: {part} of "
    message += f'"{series}" is {example["before"]:.6g} for "{other}" in {there} and '
    message += f'{example["value"]:.6g} for "{word}" {here}'
    advice = f"Set {write_role(keys.layout, [*found])} in source.yml, or repeat: last if the words only "
    raise ReportError(Diagnostic(SourceLocation(path, line), message, f"{advice}describe rows", Stage.DATA))


def warn_joined(keys: RowKeys, place: SourceLocation) -> Iterator[Diagnostic]:
    """Warn of words of which one follows the other along a line that jumps there, unlike phases of a run."""
    for column in _list_columns(keys.layout):
        for one in _find_turns(keys, column):
            if one.has_few_names and not one.back and 2 * one.jumps > one.several:
                quoted = quote_columns([column])
                message = f"rows that differ in {quoted} are read as one line, which jumps there"
                advice = f"Set {write_role(keys.layout, [column])} in source.yml, or repeat: last"
                yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
                break
