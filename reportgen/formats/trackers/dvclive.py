"""DVCLive output: a table for each metric, the last values, and the parameters.

SCHEMA: iterative/dvclive, src/dvclive/plots/metric.py (``plots/metrics/NAME.tsv``: columns ``step`` and the
last part of the name, preceded by ``timestamp`` in milliseconds if configured) and src/dvclive/live.py
(``metrics.json`` nests the last values, ``params.yaml`` holds the parameters). Versions before 1.0, of 2022,
wrote to other folders, which do not say where a run ends: they are refused.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reportgen.formats.decode import Count, Decoder, check_filled, is_unfilled, report_left_out
from reportgen.formats.json_files import iterate_cells, parse_beginning, parse_object, read_head_text
from reportgen.formats.run_data import MetricsBuilder, number_or_nan, parse_number, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import Setting


_TABLE: Final = ".tsv"
_LAST_VALUES: Final = "metrics.json"
_PARAMETERS: Final = "params.yaml"
_STEP: Final = "step"
_TIME: Final = "timestamp"
_PLOTS: Final = ("metrics", "plots")


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return runs: folders with DVCLive tables below them, or with only its last values."""
    names = (_LAST_VALUES, _PARAMETERS)
    extra = {(file.parent, file.name): file for file in files if file.name in names}
    runs: dict[Path, list[Path]] = {}
    for file in files:
        plots = next(
            (above.parent for folder, above in pairwise(file.parents) if (folder.name, above.name) == _PLOTS),
            None,
        )
        # Include empty tables where DVCLive writes them.
        if file.suffix == _TABLE and (_read_header(file) is not None or (plots and is_unfilled(file))):
            runs.setdefault(plots or file.parent, []).append(file)
    for (folder, name), file in extra.items():
        if name == _LAST_VALUES and folder not in runs and (folder, _PARAMETERS) in extra:
            item = parse_beginning(read_head_text(file))
            if item is not None and parse_number(item.get(_STEP)) is not None:
                runs[folder] = []
    return tuple(
        Unit(run, (*tables, *(extra[run, name] for name in names if (run, name) in extra)))
        for run, tables in runs.items()
    )


def _read_header(file: Path) -> tuple[str, ...] | None:
    """Return the columns before the value, from the first line; None if it is not DVCLive's."""
    first, _, _ = read_head_text(file).partition("\n")
    *before, value = first.rstrip("\r").split("\t")
    known = (before in ([_STEP], [_TIME], [_TIME, _STEP])) and value == file.name.removesuffix(_TABLE)
    return tuple(before) if known else None


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a folder."""
    builder = MetricsBuilder(unit.path, unit.selected, timed=True)
    config: dict[str, Setting] = {}
    findings: list[Diagnostic] = []
    logged: set[str] = set()
    refused: list[UnreadableError] = []
    plots = unit.path / "plots" / "metrics"
    for file in unit.files:
        if file.suffix == _TABLE:
            if not file.is_relative_to(plots):
                message = "a version of DVCLive before 1.0 wrote it, which does not say where a run ends"
                raise UnreadableError(
                    file, message, "Move the tables of each run to plots/metrics in its folder"
                )
            # A metric's name is the path of its table.
            name = file.relative_to(plots).as_posix().removesuffix(_TABLE)
            try:
                check_filled(file)
            except UnreadableError as error:
                refused.append(error)
                continue
            logged.add(name)
            if builder.is_selected(name):
                findings += _read_table(file, name, builder)
        elif file.name == _LAST_VALUES:
            findings += _read_last_values(file, logged, builder)
        elif file.name == _PARAMETERS:
            config, problems = read_settings(file)
            findings += problems
        else:
            message = "its name is none that DVCLive gives"
            raise UnreadableError(file, message, "Name the folder of a run instead")
    if refused and not builder:
        raise refused[0]
    findings += [*map(report_left_out, refused), *builder.list_findings()]
    yield LoggedRun(unit.path, "", "", "", config, builder.build(), _STEP, tuple(findings))


def _read_table(file: Path, name: str, builder: MetricsBuilder) -> Iterator[Diagnostic]:
    columns, decoding, strange = _read_header(file), Decoder(file), Count()
    lines = decoding.read_lines()
    next(lines, None)  # a Git LFS pointer raises its own error
    if columns is None:
        advice = "Check that DVCLive wrote this file"
        raise UnreadableError(file, "its first line does not name a step and a metric", advice, 1)
    for _, line in lines:
        *before, value = line.split("\t")
        if len(before) == len(columns):
            cells = dict(zip(columns, map(number_or_nan, before), strict=True))
            builder.add_cell(name, cells.get(_STEP, math.nan), value, cells.get(_TIME, math.nan))
        elif line.strip():
            strange.add(None)
    yield from strange.describe(file, "line", "lines", " with another number of columns: left out")
    yield from decoding.list_findings()


def _read_last_values(file: Path, logged: Collection[str], builder: MetricsBuilder) -> Iterator[Diagnostic]:
    decoding = Decoder(file)
    item = parse_object(decoding.read_whole())
    yield from decoding.list_findings()
    if item is None:
        yield warn(file, "the last values are torn or no JSON: left out")
        return
    step = number_or_nan(item.pop(_STEP, None))
    cells = ((name, parse_number(cell)) for name, cell in iterate_cells(item) if name not in logged)
    only = [(name, value) for name, value in cells if value is not None]
    for name, value in only:
        builder.add(name, step, value)
    if any(builder.is_selected(name) for name, _ in only):
        yield warn(file, "metrics without a table of their own have their last value only")
