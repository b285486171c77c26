"""Rows of a source that are no runs as the others are: means of them, percent beside shares, other names.

They are found by their values: a row called ``mean`` is that of the other runs within rounding, a run in
percent is a hundred times as large as the others, and one that calls a metric differently has it as often.
"""

from __future__ import annotations

import math
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, Severity
from reportgen.core.words import format_count, quote_names
from reportgen.formats.cells import is_number
from reportgen.read.check_repeats import make_keys
from reportgen.read.runs.check_names import warn_similar_names
from reportgen.read.runs.check_units import find_percent
from reportgen.read.runs.copies import report_copies
from reportgen.read.runs.summaries import LONGEST, Run, Summaries, merge_files, quote, read_runs, report_row
from reportgen.read.tables.distinguish import SMALL, count_bytes, sample_keys
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.rows import resolve_filters
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.read.tables.distinguish import RowKeys
    from reportgen.settings.inputs import Source


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
    if (keys := _make_keys(root, source)) is None:
        return names
    runs, found = _check_runs(source, keys)
    if errors := [one for one in found if one.severity is Severity.ERROR]:
        raise ReportError(*errors)
    return (*names, *found, *report_copies(keys, runs))


def _make_keys(root: Path, source: Source) -> RowKeys | None:
    layout, settings = get_layout(source), source.settings
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    if count_bytes(root, layout) > SMALL:
        return None
    if layout.outcomes or layout.totals:
        return make_keys(root, layout, filters, ends=source.score_range)
    if layout.roles.step and layout.metrics:
        return sample_keys(make_keys(root, layout, filters, tuple(layout.metrics)))
    return None


def _check_runs(source: Source, keys: RowKeys) -> tuple[list[Run], tuple[Diagnostic, ...]]:
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    # Faults in the rows are reported when they are read.
    with suppress(duckdb.Error):
        parts = read_runs(keys)
        runs = merge_files(parts)
        checks = _Checks(source, keys, runs)
        found = (
            *(Summaries(keys, runs).find_summaries(), checks.find_equal_seeds()),
            *(checks.find_percent(), checks.find_other_names()),
        )
        return parts, tuple(one for problems in found for one in problems)
    return [], ()


class _Checks(NamedTuple):
    """The checks of one source, by its runs."""

    source: Source
    keys: RowKeys
    runs: Sequence[Run]

    def find_equal_seeds(self) -> Iterator[Diagnostic]:
        """Find seeds of one series that are the same number, written in two ways."""
        column = self.keys.layout.roles.seed
        if column is None or self.keys.layout.roles.run:
            return
        known: dict[tuple[str, float], Run] = {}
        said = set[tuple[str, str]]()
        for one in self.runs:
            if is_number(one.run) and math.isfinite(seed := float(one.run)):
                first = known.setdefault((one.series, seed), one)
                if first.run != one.run and (one.series, one.run) not in said:
                    said.add((one.series, one.run))
                    message = (
                        f"{column} {first.run} and {one.run} of {quote(one.series)} are the same number, "
                    )
                    message += "and are read as two runs"
                    yield report_row(self.keys, one.row, message, "Write them in one way in the data")

    def find_percent(self) -> Iterator[Diagnostic]:
        """Find percent beside shares."""
        for row, message in find_percent(self.keys, self.runs):
            yield report_row(self.keys, row, message, "Write all of them as shares, or all in percent")

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
                if len(having) == len(runs):
                    continue
                others = [run for run in runs if part not in runs[run]]
                known = {name for run in having for name in runs[run]}
                usual = {runs[run][part] for run in having}
                for run in others if len(others) < len(having) else ():
                    own = [name for name, count in runs[run].items() if name not in known and count in usual]
                    if own:
                        yield self._warn_name(series, run, part, own, len(having))

    def _warn_name(self, series: str, run: str, part: str, own: Sequence[str], having: int) -> Diagnostic:
        row = next(one.row for one in self.runs if (one.series, one.run) == (series, run))
        names = quote_names([shorten(name, LONGEST) for name in own])
        message = f"run {shorten(run, LONGEST)} of {quote(series)} has no {quote(part)}, which "
        message += f"{format_count(having, 'other run')} have, but {names}, which none of these has"
        advice = f"If it is the same, set rename_metrics: {{{own[0]}: {part}}} in source.yml"
        return report_row(self.keys, row, message, advice)
