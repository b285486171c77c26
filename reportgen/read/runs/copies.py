"""Runs that are copies of one log: equal in every value, and in too many digits for a coincidence."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import format_count, join_names
from reportgen.formats import sql
from reportgen.formats.sql import get_engine
from reportgen.read.plan import Plan, build_statement
from reportgen.read.tables.distinguish import count_bytes
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.merged import SMALL
from reportgen.read.tables.rows import FILE_ROWS, resolve_filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import FloatArray
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.inputs import Source


_FEWEST_DIGITS: Final = 6
"""Digits besides the first of each distinct value: by chance, one run in a million agrees in so many."""
_MOST_VALUES: Final = 64
_STRAIGHT: Final = 1e-6
_CONTENT_SQL: Final = """
SELECT series, run, any_value(seed) AS seed, "row" // {file_rows} AS file, metric,
    count(*) AS rows, sum(hash(step, value)) AS content
FROM ({select}) GROUP BY ALL ORDER BY min("row")
"""
_VALUES_SQL: Final = """
SELECT step, value FROM ({select})
WHERE series = $series AND run = $run AND metric = $metric AND "row" // {file_rows} = $file
"""


class _Part(NamedTuple):
    """The rows of one run in one file."""

    series: str
    run: str
    seed: str | None
    file: int


def report_copies(root: Path, source: Source) -> Sequence[Diagnostic]:
    """Return warnings of runs that are copies; raise ``ReportError`` where they count as more of one series.

    A run is a copy if all of its values and steps are those of another. Runs with another seed may be equal,
    but then their seeds have no effect. Answers and totals of deterministic models are often equal, so only
    curves are compared, and large sources are not read for this.
    """
    layout = get_layout(source)
    is_curve = layout.metrics and layout.roles.step and not (layout.outcomes or layout.totals)
    if not is_curve or count_bytes(root, layout) > SMALL:
        return ()
    raws = {raw: dict[str, str]() for every in layout.metrics.values() for raw in every}
    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    select = build_statement(root, Plan(layout, layout.metrics, layout.roles.step or "", filters, raws))
    problems: list[Diagnostic] = []
    # Faults in the rows are reported when they are read.
    with suppress(*sql.get_errors()):
        problems += _find_copies(select, layout)
    if any(one.severity is Severity.ERROR for one in problems):
        raise ReportError(*problems)
    return problems


def _find_copies(select: str, layout: Layout) -> Iterator[Diagnostic]:
    contents: dict[_Part, dict[str, tuple[int, int]]] = defaultdict(dict)
    for *names, metric, rows, content in get_engine().fetch_rows(
        _CONTENT_SQL.format(select=select, file_rows=FILE_ROWS)
    ):
        contents[_Part(*names)][metric] = (rows, content)
    equal: dict[tuple[tuple[str, tuple[int, int]], ...], list[_Part]] = defaultdict(list)
    for part, content in contents.items():
        equal[tuple(sorted(content.items()))].append(part)
    for content, parts in equal.items():
        # A column that tells series apart says that they are no copies.
        stated = len({part.series for part in parts}) > 1 and len({part.file for part in parts}) == 1
        if len(parts) > 1 and not stated and _is_no_coincidence(select, parts, contents):
            yield _report_copies(layout, parts, sum(rows for _, (rows, _) in content))


def _is_no_coincidence(
    select: str, parts: Sequence[_Part], contents: Mapping[_Part, Mapping[str, tuple[int, int]]]
) -> bool:
    """Return whether values that need not be the same agree in many digits.

    Schedules and counters are the same in every run, or a straight line.
    """
    digits, one = 0, parts[0]
    for metric, content in contents[one].items():
        others = [of[metric] for part, of in contents.items() if part not in parts and metric in of]
        if others and all(other == content for other in others):
            continue
        named = {"series": one.series, "run": one.run, "metric": metric, "file": one.file}
        rows = (
            get_engine().open_cursor().execute(_VALUES_SQL.format(select=select, file_rows=FILE_ROWS), named)
        )
        steps, values = np.array(rows.fetchall(), float).T
        if not _is_straight(steps, values):
            some = np.unique(values[np.isfinite(values)])[:_MOST_VALUES]
            digits += sum(max(0, count_digits(value) - 1) for value in some.tolist())
    return digits >= _FEWEST_DIGITS


def _is_straight(steps: FloatArray, values: FloatArray) -> bool:
    """Return whether values change with the step at a constant pace, or not at all."""
    finite = np.isfinite(steps) & np.isfinite(values)
    if len(np.unique(steps[finite])) < 3:  # noqa: PLR2004 - two points are always on a line
        return len(np.unique(values[finite])) < 2  # noqa: PLR2004 - constant
    with np.errstate(all="ignore"):
        x, y = (column[finite] - column[finite].mean() for column in (steps, values))
        rest = y - x * (x @ y) / (x @ x)
        return bool(np.abs(rest).max() <= _STRAIGHT * np.ptp(y))


def count_digits(value: float) -> int:
    """Return the number of significant digits of a number."""
    return len(repr(abs(value)).partition("e")[0].replace(".", "").strip("0"))


def _report_copies(layout: Layout, parts: Sequence[_Part], count: int) -> Diagnostic:
    """Return the problem of equal runs: an error if they count as several of one series."""
    paths = [layout.files[part.file].path for part in parts]
    named = [" ".join(filter(None, (part.series, part.run))) for part in parts]
    seeds = ["" if part.seed is None else f"seed {part.seed}" for part in parts]
    if len(set(paths)) == len(paths):
        named = paths
    elif len({part.series for part in parts}) == 1 and len(set(seeds)) == len(seeds):
        named = [f"{parts[0].series}, {seed}" if not at else seed for at, seed in enumerate(seeds)]
    message = f"{join_names(named)} are equal in every value ({format_count(count, 'value')}, bit for bit)"
    place = SourceLocation(paths[1])
    advice = "One log under several names is one run: leave the others out with files: in source.yml"
    is_one_series = len({part.series for part in parts}) == 1
    if is_one_series and len({part.run for part in parts}) > 1 and len(set(seeds)) == 1:
        return Diagnostic(place, message, advice, Stage.DATA)
    if is_one_series and len(set(seeds)) > 1:
        advice = (
            "If one was copied, leave it out with files: or filter: in source.yml; otherwise the seed has no "
            "effect, and they are no independent runs"
        )
    return Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
