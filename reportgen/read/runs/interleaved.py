"""Columns of words that change along one line, such as train and val rows that take turns in a log."""

from __future__ import annotations

import math
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
_TRUTH: Final = frozenset(("true", "false", "yes", "no"))
# Standard deviations by which more than half of the changes between words must exceed those within words.
_DEVIATIONS: Final = 3
# Rows of each run and metric by step, of repeated steps the last. A stretch is a series of rows with one
# word. Words alternate regularly if no stretch of a word, except at the ends, is more than twice as long as
# another, or as far from the one before, and several words come back; they are apart if values change more
# from one word to another than between rows of one word.
_TURNS_SQL: Final = """
WITH written AS (
    SELECT series, run, part, step, value, "row", coalesce(c0, '') AS word FROM {cells}
    WHERE step BETWEEN -{largest} AND {largest} AND value BETWEEN -{largest} AND {largest}
    QUALIFY row_number() OVER (PARTITION BY series, run, part, step ORDER BY "row" DESC) = 1
), compared AS (
    SELECT *, coalesce(lag(word) OVER w <> word, false) AS turns, abs(value - lag(value) OVER w) AS away,
        abs(value - lag(value) OVER (PARTITION BY series, run, part, word ORDER BY step)) AS own,
        struct_pack(series := series, part := part, row := "row", value := value, word := word,
            above := lag("row") OVER w, before := lag(value) OVER w, other := lag(word) OVER w) AS example
    FROM written WINDOW w AS (PARTITION BY series, run, part ORDER BY step)
), numbered AS (
    SELECT *, count_if(turns) OVER w AS stretch, row_number() OVER w AS place
    FROM compared WINDOW w AS (PARTITION BY series, run, part ORDER BY step)
), stretches AS (
    SELECT series, run, part, word, stretch, count(*) AS n, min(place) AS place FROM numbered GROUP BY ALL
), spaced AS (
    SELECT *, max(stretch) OVER (PARTITION BY series, run, part) AS ends,
        place - lag(place) OVER (PARTITION BY series, run, part, word ORDER BY stretch) AS gap FROM stretches
), words AS (
    SELECT series, run, part, word, any_value(ends) AS ends,
        CASE WHEN count(*) > 1 THEN coalesce(max(n) FILTER (inside) <= 2 * min(n) FILTER (inside), true)
            AND max(gap) <= 2 * min(gap) END AS regular
    FROM (SELECT *, stretch BETWEEN 1 AND ends - 1 AS inside FROM spaced) GROUP BY ALL
), runs AS (
    SELECT series, run, part, any_value(ends) >= count(*) AS back, count(*) AS words,
        bool_and(regular) AND count(regular) > 1 AS regular
    FROM words GROUP BY ALL
), values AS (
    SELECT series, run, part, count_if(turns AND away > own) AS more, count_if(turns AND away < own) AS less,
        max(away) FILTER (turns) > max(away) FILTER (NOT turns) AS jumps,
        list(DISTINCT word) AS names, count(*) AS rows, arg_min(example, "row") FILTER (turns) AS example
    FROM compared GROUP BY ALL
)
SELECT part, count_if(back) AS back, count_if(words > 1) AS several,
    bool_and(regular) FILTER (back) AS regular,
    sum(more) AS more, sum(less) AS less, count_if(jumps) AS jumps,
    list_sort(list_distinct(flatten(list(names)))) AS names, sum(rows) AS rows,
    coalesce(arg_min(example, example.row) FILTER (back), arg_min(example, example.row)) AS example
FROM runs JOIN values USING (series, run, part) GROUP BY part ORDER BY part
"""


class _Turns(NamedTuple):
    """How words change along the lines of one metric, and two rows between which they do."""

    part: str
    back: int  # runs in which a word comes back after another
    several: int  # runs with several words
    regular: bool | None
    more: int
    less: int
    jumps: int  # runs in which no change is as large as one between two words
    names: list[str]
    rows: int
    example: Mapping[str, object] | None

    @property
    def has_few_names(self) -> bool:
        """Whether there are several words, each in several rows."""
        return 1 < len(self.names) <= min(MOST_NAMES, self.rows // 2)

    @property
    def is_apart(self) -> bool:
        """Whether values change more from word to word than within words, beyond chance."""
        return self.more - self.less > _DEVIATIONS * math.sqrt(self.more + self.less)

    def take_turns(self, column: str) -> bool:
        """Return whether words are lines side by side, rather than remarks at single rows.

        A truth value, a column with empty cells or one that is named as a remark must show both signs.
        """
        if 2 * self.back <= self.several or not self.has_few_names:
            return False
        if is_metadata(column) or {name.casefold() for name in self.names} & {*_TRUTH, ""}:
            return bool(self.regular) and self.is_apart
        return bool(self.regular) or self.is_apart


def may_be_interleaved(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether words may change along the lines of a table, unless ``repeat:`` says that they do."""
    measured = layout.roles.step and layout.metrics and not (layout.outcomes or layout.totals)
    return bool(measured and not settings.repeat and not layout.settings and _list_columns(layout))


def _list_columns(layout: Layout) -> list[str]:
    return [name for name in list_comparable_texts(layout) if is_comparable(name)]


def _find_turns(keys: RowKeys, column: str) -> list[_Turns]:
    cells = join_cells(keys, [column])
    rows = get_engine().fetch_rows(_TURNS_SQL.format(cells=cells, largest=sql.LARGEST))
    return [_Turns(*row) for row in rows]


def find_interleaved(keys: RowKeys) -> dict[str, Mapping[str, object]]:
    """Return the columns whose words take turns along the lines of a metric, with an example of each."""
    keys = keys if count_bytes(keys.root, keys.layout) <= SMALL else sample_keys(keys)
    found = {}
    for column in _list_columns(keys.layout):
        turns = [one for one in _find_turns(keys, column) if one.take_turns(column) and one.example]
        if turns:
            found[column] = max(turns, key=lambda one: one.more - one.less).example or {}
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
            if one.has_few_names and "" not in one.names and not one.back and 2 * one.jumps > one.several:
                quoted = quote_columns([column])
                message = f"rows that differ in {quoted} are read as one line, which jumps there"
                advice = f"Set {write_role(keys.layout, [column])} in source.yml, or repeat: last"
                yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
                break
