"""Rows that are the mean, or another statistic, of the other runs, series or problems of a table."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from decimal import Decimal
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.score_names import is_mean
from reportgen.core.words import format_count
from reportgen.formats import sql
from reportgen.formats.cells import is_number
from reportgen.formats.sql import get_engine
from reportgen.read.tables.rows import FILE_ROWS, locate_row
from reportgen.read.tables.statistics import OTHER_STATISTICS, STATISTICS
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from reportgen.read.tables.distinguish import RowKeys


# A value, those of the other rows at the same place, and its row.
_Point: TypeAlias = "tuple[float, list[float], int]"
LONGEST: Final = 40
_SEPARATORS: Final = re.compile(r"[\s_./()\-]+")
_DIGITS: Final = re.compile(r"\d+")
_STATISTICS: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "mean": fmean,
    "standard deviation": stdev,
    "standard error": lambda values: stdev(values) / math.sqrt(len(values)),
}
# What a run may be by chance, too.
_PICKED: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "median": median,
    "minimum": min,
    "maximum": max,
    "sum": sum,
}
# Largest relative difference of numbers that were rounded to 32 bits.
_ROUNDED: Final = 2.0**-23
# Runs that are the mean of at least so many others: their distance to it is small beside the range of all, on
# average over three places or more. One that is also the middle of all at each place may be one of several
# runs at equal distances, as of data that follow a formula.
_FEWEST_OTHERS: Final = 3
_COMPARED_STEPS: Final = 100  # more than enough to tell a mean from a run near it
_MEANS_SQL: Final = """
WITH runs AS (
    SELECT series, run, part, step, avg(value) AS value, min("row") AS place FROM ({select}) GROUP BY ALL
), places AS (
    SELECT series, run, value, place, count(*) OVER w AS n, (sum(value) OVER w - value) / (n - 1) AS mean,
        max(value) OVER w - min(value) OVER w AS width, median(value) OVER w AS middle
    FROM runs WINDOW w AS (PARTITION BY series, part, step)
)
SELECT series, run, arg_min(value, place), min(place) FROM places WHERE n > {others} AND width > 0
GROUP BY ALL HAVING count(*) > 2 AND avg(abs(value - mean) / width) < 0.005 AND bool_or(value <> middle)
ORDER BY series, run
"""


class Run(NamedTuple):
    """One metric or benchmark of one run: number of values, extremes, first, last, mean, and first row.

    ``ends`` are the first and last step, or problem, and ``content`` is a hash of all steps and values.
    """

    series: str
    run: str
    seed: str | None
    part: str
    file: int
    values: int
    low: float
    high: float
    first: float
    last: float
    mean: float
    row: int
    ends: tuple[Any, Any]  # numbers, or text of answers and totals
    content: int


def read_runs(keys: RowKeys) -> list[Run]:
    """Return the runs of each metric or benchmark in each file, in the order of their first rows."""
    finite = f"value BETWEEN -{sql.LARGEST} AND {sql.LARGEST}"
    rows = get_engine().fetch_rows(
        f'SELECT series, run, any_value(seed), part, "row" // {FILE_ROWS} AS file, count(*), min(value), '  # noqa: S608
        "max(value), "
        'arg_min(value, step), arg_max(value, step), avg(value), min("row"), min(step), max(step), '
        f"sum(hash(step, value)) FROM ({keys.select}) WHERE {finite} "
        'GROUP BY series, run, part, file ORDER BY min("row"), part'
    )
    return [Run._make((*row, (first, last), content)) for *row, first, last, content in rows]


def merge_files(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of each metric or benchmark of all files together."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for one in runs:
        groups.setdefault((one.series, one.run, one.part), []).append(one)
    return [some[0] if len(some) == 1 else _merge(some) for some in groups.values()]


def _merge(runs: Sequence[Run]) -> Run:
    begin = min(runs, key=lambda one: one.ends[0])
    end = max(runs, key=lambda one: one.ends[1])
    values = sum(one.values for one in runs)
    return runs[0]._replace(
        values=values,
        low=min(one.low for one in runs),
        high=max(one.high for one in runs),
        first=begin.first,
        last=end.last,
        mean=sum(one.mean * one.values for one in runs) / values,
        ends=(begin.ends[0], end.ends[1]),
        content=sum(one.content for one in runs),
    )


class Summaries(NamedTuple):
    """What is a statistic of the others among the runs, series or problems of a table."""

    keys: RowKeys
    runs: Sequence[Run]

    def find_summaries(self) -> Iterator[Diagnostic]:
        """Find runs, series and problems that are the mean, or another statistic, of the others."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in self.runs:
            groups[one.series, one.part].append(one.run)
        said = set[tuple[str, str]]()
        for (series, part), labels in groups.items():
            base, others = split_labels(labels)
            where = f"WHERE series = {sql.quote(series)} AND part = {sql.quote(part)}"
            rest = f"{format_count(len(base), 'other run')} of {quote(series)}"
            for label in others:
                found = self._find_summary("run", label, base, rest, where)
                if (series, label) not in said and (found := found or self._warn_seed(series, label, base)):
                    said.add((series, label))
                    yield found
        if any(len(set(labels)) > _FEWEST_OTHERS for labels in groups.values()):
            yield from self._find_means(said)
        base, others = split_labels([one.series for one in self.runs], named=True)
        rest = f"{len(base):,} other series"
        yield from filter(None, (self._find_summary("series", label, base, rest) for label in others))
        if self.keys.layout.outcomes:
            steps = get_engine().fetch_rows(f"SELECT DISTINCT step FROM ({self.keys.select}) ORDER BY 1")  # noqa: S608
            base, others = split_labels([one for (one,) in steps])
            rest = f"{len(base):,} other problems"
            yield from filter(None, (self._find_summary("step", label, base, rest) for label in others))

    def _find_means(self, said: Collection[tuple[str, str]]) -> Iterator[Diagnostic]:
        """Find runs that are the mean of the others at every step, whatever number their names have.

        Of long runs some steps are compared.
        """
        every = 1 + max(one.values for one in self.runs) // _COMPARED_STEPS
        chosen = f"value BETWEEN -{sql.LARGEST} AND {sql.LARGEST} AND hash(step) % {every} = 0"
        finite = f"SELECT * FROM ({self.keys.select}) WHERE {chosen}"  # noqa: S608
        query = _MEANS_SQL.format(select=finite, others=_FEWEST_OTHERS)
        for series, label, value, row in get_engine().fetch_rows(query):
            if (series, label) not in said:
                others = {one.run for one in self.runs if one.series == series} - {label}
                rest = f"{format_count(len(others), 'other run')} of {quote(series)}"
                yield self._report_summary("run", label, f"the mean of the {rest}", (value, [], row))

    def _find_summary(
        self, column: str, label: str, base: Collection[str], rest: str, where: str = ""
    ) -> Diagnostic | None:
        """Return the problem of a label whose values are a statistic of those of the base, or None."""
        points = self._list_points(column, label, base, where)
        may_pick = column != "step" and names_statistic(label)
        statistic = _find_statistic(points, may_pick=may_pick)
        if statistic is None:
            return None
        return self._report_summary(column, label, f"the {statistic} of the {rest}", points[0])

    def _list_points(self, column: str, label: str, base: Collection[str], where: str = "") -> list[_Point]:
        key = {"run": "series, part, step", "series": "part, step", "step": "series, run, part"}[column]
        own = sql.quote(label)
        each = f'SELECT {key}, {column} AS label, avg(value) AS value, min("row") AS place'
        rows = get_engine().fetch_rows(
            f"SELECT any_value(value) FILTER (label = {own}) AS own, "  # noqa: S608 - quoted
            f"list(value) FILTER (label IN ({sql.quote_all(base) or 'NULL'})), "
            f"any_value(place) FILTER (label = {own}) AS place "
            f"FROM ({each} FROM ({self.keys.select}) {where} GROUP BY {key}, {column}) "
            f"GROUP BY {key} HAVING own IS NOT NULL ORDER BY place"
        )
        return [(value, values or [], row) for value, values, row in rows]

    def _report_summary(self, column: str, label: str, what: str, point: _Point) -> Diagnostic:
        """Return the problem of a label that is ``what``, at its first value."""
        certain = names_statistic(label) and column != "series"
        layout = self.keys.layout
        columns = {
            "run": layout.roles.run or layout.roles.seed,
            "series": layout.roles.series,
            "step": layout.outcomes.problem if layout.outcomes else None,
        }
        shown, name = (
            quote(label.partition(chr(31))[0]) if label else "that is empty",
            shorten(columns[column] or column, LONGEST),
        )
        verb = "would count" if certain else "counts"
        message = f"{name} {shown} is {what} ({point[0]:.6g}), and {verb} as one"
        advice = "Take it out of the data"
        if columns[column]:
            # With one line for all, since a second one would take the place of the first.
            named = [one.run for one in self.runs if column == "run" and names_statistic(one.run)]
            left = _write_filter(name, *(named if label in named else [label]))
            advice = f"Leave it out with {left} in source.yml"
        return report_row(
            self.keys, point[2], message, advice, Severity.ERROR if certain else Severity.WARNING
        )

    def _warn_seed(self, series: str, label: str, base: Collection[str]) -> Diagnostic | None:
        """Return a warning of a seed that is empty or no number, unlike the others of its series."""
        column = self.keys.layout.roles.seed
        if self.keys.layout.roles.run or column is None or not all(map(is_number, base)):
            return None
        row = next(one.row for one in self.runs if (one.series, one.run) == (series, label))
        what = f"{shorten(column, LONGEST)} {quote(label)}" if label else f"an empty {column}"
        message = f"rows of {quote(series)} with {what} are read as one more run next to "
        message += f"{format_count(len(base), 'seed')} that are numbers"
        advice = f"Give the run a number, or leave it out with {_write_filter(column, label)} in source.yml"
        return report_row(self.keys, row, message, advice)


def report_row(
    keys: RowKeys, row: int, message: str, advice: str, severity: Severity = Severity.WARNING
) -> Diagnostic:
    """Return the problem of a row, at its line."""
    path, line, _ = locate_row(keys.root, keys.layout, row)
    return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA, severity)


def names_statistic(label: str) -> bool:
    """Return whether a label or a word of it is the name of a statistic, as in ``mean`` or ``seed avg``."""
    name = label.partition(chr(31))[0]
    words = [word for word in _SEPARATORS.split(name.casefold()) if word]
    return is_mean(name) or any(
        word in STATISTICS or (OTHER_STATISTICS.fullmatch(word) and not _DIGITS.search(word))
        for word in words
    )


def split_labels(labels: Sequence[str], *, named: bool = False) -> tuple[list[str], list[str]]:
    """Return labels that differ in their numbers alone, at least two, and others without a number.

    Where no labels have numbers, or with ``named``, those that are called a statistic are the others.
    """
    labels = list(dict.fromkeys(labels))
    forms = Counter(_DIGITS.sub("#", label) for label in labels if _DIGITS.search(label))
    form, count = max(forms.items(), key=lambda pair: pair[1], default=("", 0))
    if count > 1 and not named:
        base = [label for label in labels if _DIGITS.sub("#", label) == form]
        rest = [label for label in labels if _DIGITS.sub("#", label) != form]
        return base, [one for one in rest if not _DIGITS.search(one) or names_statistic(one)]
    base = [label for label in labels if not names_statistic(label)]
    return base, list(filter(names_statistic, labels)) if len(base) > 1 else []


def _find_statistic(points: Sequence[_Point], *, may_pick: bool = False) -> str | None:
    """Return the statistic of the others that a value is at every place, within rounding, or None.

    A place says nothing where the last digit of the value is as large as the range of the others. Statistics
    that coincide are all named, except that the mean comes first.
    """
    if any(len(rest) < 2 for _, rest, _ in points) or not any(  # noqa: PLR2004 - no mean of one
        max(rest) - min(rest) > 2 * max(_find_rounding(value), abs(value) * _ROUNDED)
        for value, rest, _ in points
    ):
        return None
    known = _STATISTICS | _PICKED if may_pick else _STATISTICS
    found = [
        name
        for name, compute in known.items()
        if all(_is_rounded(value, compute(rest)) for value, rest, _ in points)
    ]
    return " or ".join(found[:1] if found[:1] == ["mean"] else found) or None


def _is_rounded(value: float, exact: float) -> bool:
    half = _find_rounding(value) * (1 + _ROUNDED)
    return abs(value - exact) <= half or math.isclose(value, exact, rel_tol=_ROUNDED)


def _find_rounding(value: float) -> float:
    """Return half of the last digit of a number as it is written."""
    exponent = Decimal(f"{value:.15g}").normalize().as_tuple().exponent
    return 0.5 * 10.0 ** min(exponent, 0) if isinstance(exponent, int) else 0.0


def _write_filter(column: str, *labels: str) -> str:
    """Return a filter that leaves out the rows of labels; an empty one is no number."""
    shown = dict.fromkeys(label.partition(chr(31))[0].replace('"', '\\"') for label in labels)
    cells = [f'"!{one}"' if one else '">= 0"' for one in shown]
    listed = ", ".join(cells)
    return f"filter: {{{column}: {listed if len(cells) == 1 else f'[{listed}]'}}}"


def quote(name: str) -> str:
    """Quote a name in a message."""
    return f'"{shorten(name, LONGEST)}"'
