"""Checks of how numbers are written: a % at some of them, commas, a ± beside them, or no numbers at all."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec.structs import astuple, replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind, is_missing, is_other_number, parse_reported
from reportgen.formats.layout import Row
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.tables import FORMATS, delimited
from reportgen.read.tables.check import check_rows, make_check
from reportgen.read.tables.distinguish import advise_answers
from reportgen.read.tables.statistics import ask_spread
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.formats.files import Content
    from reportgen.formats.layout import FileLayout, Look
    from reportgen.read.tables.layout import Layout, Survey
    from reportgen.settings.source import SourceSettings


_LONGEST: Final = 60
_SPREAD: Final = re.compile(r"[±(]|\+/?-|\\pm")  # saves 8 µs a cell
# Of columns that are left out.
_OTHER_NUMBER: Final = make_check(
    lambda cell: not is_other_number(cell),
    "is not a plain number; this column is left out",
    "Write numbers as 0.5, 1234.5 or 51.2%, and a ± in a column of its own",
)


def find_estimates(look: Look) -> Iterator[str]:
    """Yield the columns with numbers such as 75.5 ± 0.4, in a sample of the rows."""
    for index, (name, type_) in enumerate(zip(look.file.columns, look.file.types, strict=True)):
        if name and type_ == sql.TEXT:
            cells = (row[index] or "" for row in look.rows)
            read = (parse_reported(cell) for cell in cells if _SPREAD.search(cell))
            if any(one and one.spread is not None for one in read):
                yield name


def refuse_open_estimate(content: Content, file: FileLayout, column: str) -> NoReturn:
    """Raise for the first ± in a column, of which ``source.yml`` does not say what it is."""
    rows = FORMATS[file.format].read_rows(content, file, [column])
    read = ((row.line, parse_reported(row.cells.get(column) or "")) for row in rows if isinstance(row, Row))
    line = next((line for line, one in read if one and one.spread is not None), 1)
    raise ReportError(ask_spread(content, column, line))


def check_notations(
    root: Path, layout: Layout, looks: Iterable[Look], settings: SourceSettings
) -> Iterator[Diagnostic]:
    """Yield warnings of columns left out for how their numbers are written.

    Raises if only some numbers of a column have a %, and for a ± of which nothing says what it is.
    """
    roles = layout.roles
    played = {roles.series, roles.run, roles.seed, roles.step, roles.metric}
    for file in layout.files if settings.interval is None and not layout.outcomes else ():
        for name in layout.estimates:
            if name in file.columns and layout.kinds[name] in NUMERIC and name not in played:
                refuse_open_estimate(file.get_content(root), file, name)
    wrong: list[Diagnostic] = []
    metric = layout.roles.metric or (layout.totals.metric if layout.totals else None)
    read = layout.metrics and not (layout.long or layout.outcomes or layout.totals)
    for file, rows in ((look.file, look.rows) for look in looks if look.file.format != delimited.WANDB_CHART):
        for index, (name, type_) in enumerate(zip(file.columns, file.types, strict=True)):
            cells = [row[index] for row in rows if not is_missing(row[index])] if type_ == sql.TEXT else []
            kind = layout.kinds.get(name)
            if kind in NUMERIC and any("%" in (cell or "") for cell in cells):
                wrong += limit_problems(_find_unsigned(file.get_content(root), file, name, metric))
            elif (
                read
                and kind is Kind.TEXT
                and name not in astuple(layout.roles)
                and 2 * sum(map(is_other_number, cells)) > len(cells)
            ):
                faults = check_rows(file.get_content(root), file, {name: _OTHER_NUMBER})
                yield from (replace(one, severity=Severity.WARNING) for one in islice(faults, 1))
    if wrong:
        raise ReportError(*wrong)


def _find_unsigned(content: Content, file: FileLayout, name: str, metric: str | None) -> Iterator[Diagnostic]:
    """Yield the numbers without a % in a column where others, of the same metric, have one.

    Zero, NaN and infinity are the same with and without it.
    """

    def iterate_cells() -> Iterator[tuple[Row, str, Text]]:
        for row in FORMATS[file.format].read_rows(content, file, [name, *([metric] if metric else [])]):
            if not isinstance(row, Diagnostic) and (cell := row.cells.get(name)):
                yield row, cell, row.cells.get(metric or "")

    signed: dict[Text, str] = {}
    for row, cell, of in iterate_cells():
        if "%" in cell:
            signed.setdefault(of, f'"{cell}" in line {row.line}' if row.line else f'"{cell}"')
    for row, cell, of in iterate_cells():
        found = parse_reported(cell) if of in signed else None
        if found and not found.percent and abs(number := found.value) > 0:
            where = "" if row.line else f" of row {row.number}"
            message = f'"{cell}" in column "{shorten(name, _LONGEST)}"{where} has no %, but {signed[of]} has'
            message = f"{message}: it could be {cell}% or {100 * number:.15g}%"
            yield content.make_problem(message, "Write all of them in one way, as 51% or as 0.51", row.line)


def warn_no_metrics(
    root: Path, survey: Survey, settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """Warn if a source of measurements has nothing to draw, as when decimals have commas."""
    layout = survey.layout
    if layout.metrics or layout.outcomes or layout.totals:
        return
    played = astuple(layout.roles)
    rest = {name: kind for name, kind in layout.kinds.items() if name not in played and kind not in NUMERIC}
    texts = [f'"{name}"' for name, kind in rest.items() if kind is not Kind.EMPTY]
    empty = [f'"{name}"' for name, kind in rest.items() if kind is Kind.EMPTY]
    message = "no column holds the numbers of a metric"
    written = (
        "If they are numbers, write decimals as 0.5, not as 0,5, and commas, semicolons or tabs between cells"
    )
    advice = advise_answers(root, layout, settings) or written
    if layout.long:
        message = f'no row names a metric: the column "{layout.roles.metric}" is empty'
        advice = "Fill it with the metric of each value"
    elif texts:
        message = f"{message}: {list_names(texts)} {'holds' if len(texts) == 1 else 'hold'} texts"
    elif empty:
        message = f"{message}: {list_names(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        advice = "Wait for the first values, or name other files with files:"
    yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
