"""Rows that are the mean, or another statistic, of the other runs, series or problems of a table."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from decimal import Decimal
from itertools import chain
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
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
# Digits in which a run must agree with the mean of the others: by chance, one run in a million does.
_FEWEST_DIGITS: Final = 6
_MOST_DIGITS: Final = 3  # at one place
# Runs whose distance to the mean of the others is small beside the range, in every metric or benchmark.
_MEANS_SQL: Final = """
WITH runs AS (SELECT series, run, part, step, avg(value) AS value FROM ({select}) GROUP BY ALL),
places AS (
    SELECT *, count(*) OVER w AS n, sum(value) OVER w - value AS rest,
        max(value) OVER w - min(value) OVER w AS width
    FROM runs WINDOW w AS (PARTITION BY series, part, step)
), parts AS (
    SELECT series, run, part, sum(width) AS widths, sum(abs(value - rest / (n - 1))) AS away
    FROM places WHERE n > 2 GROUP BY ALL
)
SELECT series, run FROM parts GROUP BY ALL HAVING sum(widths) > 0 AND bool_and(away <= 0.1 * widths)
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
        yield from self._find_means(said)
        yield from self._find_series_of_means()
        if self.keys.layout.outcomes:
            steps = get_engine().fetch_rows(f"SELECT DISTINCT step FROM ({self.keys.select}) ORDER BY 1")  # noqa: S608
            base, others = split_labels([one for (one,) in steps])
            rest = f"{len(base):,} other problems"
            yield from filter(None, (self._find_summary("step", label, base, rest) for label in others))

    def _find_means(self, said: Collection[tuple[str, str]]) -> Iterator[Diagnostic]:
        """Find runs that are the mean of the others at every step, whatever number their names have.

        In data that follow a formula, the middle one of several runs is the mean of the others, too, or one
        of runs at equal distances.
        """
        possible = set(self._list_possible_means()).difference(said)
        if not possible:
            return
        finite = f"SELECT * FROM ({self.keys.select}) WHERE value BETWEEN -{sql.LARGEST} AND {sql.LARGEST}"  # noqa: S608
        for series, label in get_engine().fetch_rows(_MEANS_SQL.format(select=finite)):
            if (series, label) not in possible:
                continue
            labels = list(dict.fromkeys(one.run for one in self.runs if one.series == series))
            base, _ = split_labels(labels)
            others = [one for one in base if one != label]
            if len(others) < 2 or _is_middle(label, base):  # noqa: PLR2004 - no mean of one
                continue
            where = f"WHERE series = {sql.quote(series)}"
            points = [one for one in self._list_points("run", label, others, where) if len(one[1]) > 1]
            digits = _count_all_digits(points)
            if digits >= (_FEWEST_DIGITS if label in base else 1) and _find_statistic(points) == "mean":
                rest = f"{format_count(len(others), 'other run')} of {quote(series)}"
                yield self._report_summary("run", label, f"the mean of the {rest}", points[0])

    def _list_possible_means(self) -> Iterator[tuple[str, str]]:
        """Yield the runs that have the mean of the others at their ends, as far as they have the same."""
        series: dict[str, dict[str, dict[str, Run]]] = defaultdict(lambda: defaultdict(dict))
        for one in self.runs:
            series[one.series][one.part][one.run] = one
        for name, parts in series.items():
            labels = list(dict.fromkeys(chain.from_iterable(parts.values())))
            base, _ = split_labels(labels)
            for label in labels if len(labels) > 2 else ():  # noqa: PLR2004 - no mean of one
                if all(_may_be_mean(label, base, runs) for runs in parts.values()):
                    yield name, label

    def _find_series_of_means(self) -> Iterator[Diagnostic]:
        """Find series that are called a statistic, and are that of other series or of the runs of one."""
        runs: dict[str, set[str]] = defaultdict(set)
        for run in self.runs:
            runs[run.series].add(run.run)
        # A series is what is compared: a name without a number says nothing.
        base = [one for one in runs if not names_statistic(one)]
        for label in [one for one in runs if one not in base]:
            points = self._list_points("series", label, base)
            statistic = _find_statistic(points, may_pick=True)
            what = f"the {statistic} of the {len(base):,} other series" if statistic else ""
            for one in base if statistic != "mean" else ():
                equal = self._list_points("series", label, [one])
                if not all(rest and _is_rounded(value, rest[0]) for value, rest, _ in equal):
                    continue
                # The least of several series at few steps is one of them, too.
                digits = sum(count_digits(value) - 1 for value in {value for value, *_ in equal})
                what = f"equal to {quote(one)}" if digits >= _FEWEST_DIGITS else ""
                if len(runs[one]) > 1:
                    what = f"the mean of the {format_count(len(runs[one]), 'run')} of {quote(one)}"
            if what:
                yield self._report_summary("series", label, what, points[0])

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
        message = f"rows of {quote(series)} with {what} are read as one more run beside "
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


def split_labels(labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return labels that differ in their numbers alone, at least two, and others without a number.

    Where no labels have numbers, those that are called a statistic are the others.
    """
    labels = list(dict.fromkeys(labels))
    forms = Counter(_DIGITS.sub("#", label) for label in labels if _DIGITS.search(label))
    form, count = max(forms.items(), key=lambda pair: pair[1], default=("", 0))
    if count > 1:
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
        _count_equal_digits(value, rest) for value, rest, _ in points
    ):
        return None
    known = _STATISTICS | _PICKED if may_pick else _STATISTICS
    found = [
        name
        for name, compute in known.items()
        if all(_is_rounded(value, compute(rest)) for value, rest, _ in points)
    ]
    return " or ".join(found[:1] if found[:1] == ["mean"] else found) or None


def _may_be_mean(label: str, base: Collection[str], runs: Mapping[str, Run]) -> bool:
    others = [runs[one] for one in base if one in runs and one != label]
    own = runs.get(label)
    if own is None or not others or any(one.ends != own.ends for one in others):
        return True
    ends = ((own.first, [one.first for one in others]), (own.last, [one.last for one in others]))
    return all(_is_rounded(value, fmean(rest)) for value, rest in ends)


def _is_middle(label: str, labels: Sequence[str]) -> bool:
    """Return whether a label is in the middle of some labels, by its place or by its number."""
    if label not in labels:
        return False
    numbers = [int(_DIGITS.findall(one)[-1]) if _DIGITS.search(one) else 0 for one in labels]
    own, middle = labels.index(label), (len(labels) - 1) / 2
    return own == middle or numbers[own] * len(labels) == sum(numbers)


def _count_all_digits(points: Sequence[_Point]) -> float:
    """Return how many digits of the values say where they are, a few at each width of the others."""
    widths, shares = dict[str, float](), dict[str, float]()
    for value, rest, _ in points:
        width, digits = max(rest) - min(rest), min(_MOST_DIGITS, _count_equal_digits(value, rest))
        widths[f"{width:.6g}"] = shares[f"{width / (abs(value) or 1):.4g}"] = digits
    return min(sum(widths.values()), sum(shares.values()))


def _count_equal_digits(value: float, rest: Sequence[float]) -> float:
    """Return how many digits of a value say where it is within the range of the others."""
    error = 2 * max(_find_rounding(value), abs(value) * _ROUNDED)
    width = max(rest) - min(rest)
    return math.log10(width / error) if 0 < error < width else 0.0


def _is_rounded(value: float, exact: float) -> bool:
    half = _find_rounding(value) * (1 + _ROUNDED)
    return abs(value - exact) <= half or math.isclose(value, exact, rel_tol=_ROUNDED)


def _find_rounding(value: float) -> float:
    """Return half of the last digit of a number as it is written."""
    exponent = Decimal(f"{value:.15g}").normalize().as_tuple().exponent
    return 0.5 * 10.0 ** min(exponent, 0) if isinstance(exponent, int) else 0.0


def count_digits(value: float) -> int:
    """Return the number of significant digits of a number."""
    return len(repr(abs(value)).partition("e")[0].replace(".", "").strip("0"))


def _write_filter(column: str, *labels: str) -> str:
    """Return a filter that leaves out the rows of labels; an empty one is no number."""
    shown = dict.fromkeys(label.partition(chr(31))[0].replace('"', '\\"') for label in labels)
    cells = [f'"!{one}"' if one else '">= 0"' for one in shown]
    listed = ", ".join(cells)
    return f"filter: {{{column}: {listed if len(cells) == 1 else f'[{listed}]'}}}"


def quote(name: str) -> str:
    """Quote a name in a message."""
    return f'"{shorten(name, LONGEST)}"'
