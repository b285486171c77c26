"""Rows of a source that are no runs as the others are: means of them, percent beside shares, other names.

They are found by their values: a row called ``mean`` is that of the other runs within rounding, a run in
percent is a hundred times as large as the others, and one that calls a metric differently has it as often.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from contextlib import suppress
from decimal import Decimal
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from reportgen.core.directions import Direction, guess_direction
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.score_names import is_mean
from reportgen.core.words import format_count, quote_names
from reportgen.formats import sql
from reportgen.formats.cells import is_number
from reportgen.formats.sql import get_engine
from reportgen.read.check_repeats import make_answer_keys, make_step_keys, make_total_keys
from reportgen.read.runs.check_names import warn_similar_names
from reportgen.read.runs.copies import report_copies
from reportgen.read.tables.distinguish import count_bytes, sample_keys
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.merged import SMALL
from reportgen.read.tables.rows import locate_row, resolve_filters
from reportgen.read.tables.wide_grid import OTHER_STATISTICS, STATISTICS
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.tables.distinguish import RowKeys
    from reportgen.settings.inputs import Source


# A value, those of the other rows at the same place, and its row.
_Point: TypeAlias = "tuple[float, list[float], int]"
_LONGEST: Final = 40
_MOST_METRICS: Final = 50
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
}
# Largest relative difference of numbers that were rounded to 32 bits.
_ROUNDED: Final = 2.0**-23


class _Run(NamedTuple):
    """One metric or benchmark of one run: number of values, extremes, first, last, mean, and first row."""

    series: str
    run: str
    part: str
    values: int
    low: float
    high: float
    first: float
    last: float
    mean: float
    row: int


def find_unlike_runs(root: Path, source: Source) -> tuple[Diagnostic, ...]:
    """Return warnings of rows that are no runs as the others are, of similar names, and of equal runs.

    Of a large file some steps are read, and of a very large one none. Raises a ``ReportError`` for a row that
    is called a statistic and is that of the others, and for runs that are copies; all else may be right.
    """
    layout = get_layout(source)
    names = (
        *warn_similar_names("series", layout.series, source.location),
        *warn_similar_names("benchmarks", source.benchmarks, source.location),
    )
    found = _find_unlike_runs(root, source)
    if errors := [one for one in found if one.severity is Severity.ERROR]:
        raise ReportError(*errors)
    return (*names, *found, *report_copies(root, source))


def _find_unlike_runs(root: Path, source: Source) -> tuple[Diagnostic, ...]:
    layout, settings = get_layout(source), source.settings
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    if count_bytes(root, layout) > SMALL:
        return ()
    if layout.outcomes:
        keys = make_answer_keys(root, layout, layout.outcomes, filters, ends=source.score_range)
    elif layout.totals:
        keys = make_total_keys(root, layout, layout.totals, filters)
    elif layout.roles.step and layout.metrics:
        metrics = tuple(layout.metrics)[:_MOST_METRICS]
        keys = sample_keys(make_step_keys(root, layout, metrics, filters))
    else:
        return ()
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    # Faults in the rows are reported when they are read.
    with suppress(duckdb.Error):
        checks = _Checks(source, keys, _read_runs(keys))
        found = (
            *(checks.find_summaries(), checks.find_equal_seeds()),
            *(checks.find_percent(), checks.find_other_names()),
        )
        return tuple(one for problems in found for one in problems)
    return ()


def _read_runs(keys: RowKeys) -> list[_Run]:
    finite = f"value BETWEEN -{sql.LARGEST} AND {sql.LARGEST}"
    rows = get_engine().fetch_rows(
        "SELECT series, run, part, count(*), min(value), max(value), arg_min(value, step), "  # noqa: S608
        f'arg_max(value, step), avg(value), min("row") FROM ({keys.select}) WHERE {finite} '
        'GROUP BY 1, 2, 3 ORDER BY min("row"), 3'
    )
    return [_Run(*row) for row in rows]


class _Checks(NamedTuple):
    """The checks of one source, by its runs."""

    source: Source
    keys: RowKeys
    runs: Sequence[_Run]

    def find_summaries(self) -> Iterator[Diagnostic]:
        """Find runs, series and problems that are the mean, or another statistic, of the others."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in self.runs:
            groups[one.series, one.part].append(one.run)
        said = set[tuple[str, str]]()
        for (series, part), labels in groups.items():
            base, others = split_labels(labels)
            where = f"WHERE series = {sql.quote(series)} AND part = {sql.quote(part)}"
            rest = f"{format_count(len(base), 'other run')} of {_quote(series)}"
            for label in others:
                found = self._find_summary("run", label, base, rest, where)
                if (series, label) not in said and (found := found or self._warn_seed(series, label, base)):
                    said.add((series, label))
                    yield found
        yield from self._find_all_summaries("series", [one.series for one in self.runs])
        if self.source.kind == "outcomes":
            steps = get_engine().fetch_rows(f"SELECT DISTINCT step FROM ({self.keys.select}) ORDER BY 1")  # noqa: S608
            yield from self._find_all_summaries("step", [one for (one,) in steps])

    def _find_all_summaries(self, column: str, labels: Sequence[str]) -> Iterator[Diagnostic]:
        base, others = split_labels(labels)
        # A series is what is compared: a name without a number says nothing.
        others = [one for one in others if column != "series" or names_statistic(one)]
        rest = f"{len(base):,} other {'series' if column == 'series' else 'problems'}"
        yield from filter(None, (self._find_summary(column, label, base, rest) for label in others))

    def _find_summary(
        self, column: str, label: str, base: Collection[str], rest: str, where: str = ""
    ) -> Diagnostic | None:
        """Return the problem of a label whose values are a statistic of those of the base, or None."""
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
        points: list[_Point] = [(value, values or [], row) for value, values, row in rows]
        named = names_statistic(label)
        if (statistic := _find_statistic(points, may_pick=named and column != "step")) is None:
            return None
        layout, certain = self.keys.layout, named and column != "series"
        columns = {
            "run": layout.roles.run or layout.roles.seed,
            "series": layout.roles.series,
            "step": layout.outcomes.problem if layout.outcomes else None,
        }
        shown, name = (
            _quote(label.partition(chr(31))[0]) if label else "that is empty",
            shorten(columns[column] or column, _LONGEST),
        )
        verb = "would count" if certain else "counts"
        message = f"{name} {shown} is the {statistic} of the {rest} ({points[0][0]:.6g}), and {verb} as one"
        advice = "Take it out of the data"
        if columns[column]:
            advice = f"Leave it out with {_write_filter(name, label)} in source.yml"
        return self._report(points[0][2], message, advice, Severity.ERROR if certain else Severity.WARNING)

    def _warn_seed(self, series: str, label: str, base: Collection[str]) -> Diagnostic | None:
        """Return a warning of a seed that is empty or no number, unlike the others of its series."""
        column = self.keys.layout.roles.seed
        if self.keys.layout.roles.run or column is None or not all(map(is_number, base)):
            return None
        row = next(one.row for one in self.runs if (one.series, one.run) == (series, label))
        what = f"{shorten(column, _LONGEST)} {_quote(label)}" if label else f"an empty {column}"
        message = f"rows of {_quote(series)} with {what} are read as one more run beside "
        message += f"{format_count(len(base), 'seed')} that are numbers"
        advice = f"Give the run a number, or leave it out with {_write_filter(column, label)} in source.yml"
        return self._report(row, message, advice)

    def find_equal_seeds(self) -> Iterator[Diagnostic]:
        """Find seeds of one series that are the same number, written in two ways."""
        column = self.keys.layout.roles.seed
        if column is None or self.keys.layout.roles.run:
            return
        known: dict[tuple[str, float], _Run] = {}
        said = set[tuple[str, str]]()
        for one in self.runs:
            if is_number(one.run) and math.isfinite(seed := float(one.run)):
                first = known.setdefault((one.series, seed), one)
                if first.run != one.run and (one.series, one.run) not in said:
                    said.add((one.series, one.run))
                    message = (
                        f"{column} {first.run} and {one.run} of {_quote(one.series)} are the same number, "
                    )
                    message += "and are read as two runs"
                    yield self._report(one.row, message, "Write them in one way in the data")

    def find_percent(self) -> Iterator[Diagnostic]:
        """Find runs of one series that are in percent while others are shares, by a factor of about 100."""
        for part, runs in self._group_runs():
            # A setting is constant in each run, and times and the like are no scores.
            constant = all(one.low == one.high for one in runs) and any(one.values > 1 for one in runs)
            if constant or guess_direction(part) is Direction.NEITHER:
                continue
            shares = [one for one in runs if 0 <= one.low <= one.high <= 1 and 0 < one.mean < 1]
            others = [one for one in runs if one.low >= 0 and 1 < one.high <= 100]  # noqa: PLR2004 - percent
            if not shares or not others or len(shares) + len(others) < len(runs):
                continue
            pairs = [
                (median(getattr(one, end) for one in shares), median(getattr(one, end) for one in others))
                for end in ("first", "last")
            ]
            # Runs of one experiment are within a factor of two, a failed one is not; both may begin at 0.
            ratios = [high / low for low, high in pairs if low > 0 and high > 0]
            if not ratios or any(not 50 <= ratio <= 200 for ratio in ratios) or not pairs[1][0]:  # noqa: PLR2004 - of 100
                continue
            one, other = shares[0], others[0]
            row = max(one.row, other.row)
            parts = [f"{one.last:.6g} in {_name_run(one)}", f"{other.last:.6g} in {_name_run(other)}"]
            message = (
                f"{_name_part(part)} of {_quote(one.series)} is {' and '.join(parts)}: shares and percent "
            )
            counts = [format_count(len(some), "run") for some in (shares, others)]
            message += f"are averaged as one ({' and '.join(counts)})"
            yield self._report(row, message, "Write all of them as shares, or all in percent")

    def find_other_names(self) -> Iterator[Diagnostic]:
        """Find runs without a metric that most others of the series have, which have another one instead."""
        if self.source.kind != "measurements":
            return
        counts: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
        for one in self.runs:
            counts[one.series][one.run][one.part] = one.values
        for series, runs in counts.items():
            for part in dict.fromkeys(part for parts in runs.values() for part in parts):
                having = [run for run, parts in runs.items() if part in parts]
                others = [run for run in runs if run not in having]
                known = {name for run in having for name in runs[run]}
                usual = {runs[run][part] for run in having}
                for run in others if len(others) < len(having) else ():
                    own = [name for name, count in runs[run].items() if name not in known and count in usual]
                    if own:
                        yield self._warn_name(series, run, part, own, len(having))

    def _warn_name(self, series: str, run: str, part: str, own: Sequence[str], having: int) -> Diagnostic:
        row = next(one.row for one in self.runs if (one.series, one.run) == (series, run))
        names = quote_names([shorten(name, _LONGEST) for name in own])
        message = f"run {shorten(run, _LONGEST)} of {_quote(series)} has no {_quote(part)}, which "
        message += f"{format_count(having, 'other run')} have, but {names}, which none of these has"
        advice = f"If it is the same, set rename_metrics: {{{own[0]}: {part}}} in source.yml"
        return self._report(row, message, advice)

    def _group_runs(self) -> Iterator[tuple[str, list[_Run]]]:
        """Yield the runs of each series and metric or benchmark, if there are several."""
        groups: dict[tuple[str, str], list[_Run]] = defaultdict(list)
        for one in self.runs:
            groups[one.series, one.part].append(one)
        yield from ((part, runs) for (_, part), runs in groups.items() if len(runs) > 1)

    def _report(
        self, row: int, message: str, advice: str, severity: Severity = Severity.WARNING
    ) -> Diagnostic:
        path, line, _ = locate_row(self.keys.root, self.keys.layout, row)
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
        rest = [label for label in labels if label not in base]
        return base, [one for one in rest if not _DIGITS.search(one) or names_statistic(one)]
    base = [label for label in labels if not names_statistic(label)]
    return base, [label for label in labels if label not in base] if len(base) > 1 else []


def _find_statistic(points: Sequence[_Point], *, may_pick: bool) -> str | None:
    """Return the statistic of the others that a value is at every place, within rounding, or None.

    A place says nothing where the last digit of the value is as large as the range of the others.
    """
    if any(len(rest) < 2 for _, rest, _ in points) or not any(  # noqa: PLR2004 - no mean of one
        2 * _find_rounding(value) < max(rest) - min(rest) for value, rest, _ in points
    ):
        return None
    for name, compute in (_STATISTICS | _PICKED if may_pick else _STATISTICS).items():
        if all(_is_rounded(value, compute(rest)) for value, rest, _ in points):
            return name
    return None


def _is_rounded(value: float, exact: float) -> bool:
    half = _find_rounding(value) * (1 + _ROUNDED)
    return abs(value - exact) <= half or math.isclose(value, exact, rel_tol=_ROUNDED)


def _find_rounding(value: float) -> float:
    """Return half of the last digit of a number as it is written."""
    exponent = Decimal(f"{value:.15g}").normalize().as_tuple().exponent
    return 0.5 * 10.0 ** min(exponent, 0) if isinstance(exponent, int) else 0.0


def _name_run(one: _Run) -> str:
    return f"run {shorten(one.run, _LONGEST)}" if one.run else "a run without a name"


def _name_part(part: str) -> str:
    return " ".join(shorten(name, _LONGEST) for name in part.split(chr(31)) if name) or "the score"


def _write_filter(column: str, label: str) -> str:
    """Return a filter that leaves out the rows of a label; an empty one is no number."""
    shown = label.partition(chr(31))[0].replace('"', '\\"')
    return f'filter: {{{column}: "{f"!{shown}" if label else ">= 0"}"}}'


def _quote(name: str) -> str:
    return f'"{shorten(name, _LONGEST)}"'
