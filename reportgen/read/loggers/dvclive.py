"""What DVCLive wrote: a table for each metric, the last values, and the parameters.

SCHEMA: iterative/dvclive, src/dvclive/plots/metric.py (``plots/metrics/NAME.tsv``: columns ``step`` and the
last part of the name, before them ``timestamp`` in milliseconds where it was asked for) and
src/dvclive/live.py (``metrics.json`` nests the last values, ``params.yaml`` holds the parameters). Older
versions wrote to ``metrics/``, to ``scalars/`` or straight into the folder, with a timestamp in each row.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reportgen.read.logged import Finding, Logged, Unit, UnreadableError
from reportgen.read.loggers.growing import Growing, number, number_of
from reportgen.read.loggers.json_objects import beginning, leaves, whole_object
from reportgen.read.loggers.settings_beside import settings_of
from reportgen.read.loggers.text_file import (
    Decoding,
    head,
    is_unfilled,
    left_out_for,
    lines,
    refuse_unfilled,
    whole,
)
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.logged import Setting

NAME: Final = "dvclive"
TITLE: Final = "DVCLive"

_TABLE: Final = ".tsv"
_LAST_VALUES: Final = "metrics.json"
_PARAMETERS: Final = "params.yaml"
_STEP: Final = "step"
_TIME: Final = "timestamp"
_OLD_FOLDERS: Final = ("metrics", "scalars")
_EVIDENCE: Final = frozenset((".json", ".yaml", ".html", ".md"))


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Runs: folders with tables of DVCLive's below them, or with its last values alone."""
    beside = {(file.parent, file.name): file for file in files if file.name in (_LAST_VALUES, _PARAMETERS)}
    rooms = {file.parent for file in files if file.suffix in _EVIDENCE}
    runs: dict[Path, list[Path]] = {}
    for file in files:
        if file.suffix == _TABLE and (_columns(file) is not None or _is_unfilled(file)):
            runs.setdefault(_run_of(file, rooms), []).append(file)
    for (folder, name), file in beside.items():
        if (
            name == _LAST_VALUES
            and folder not in runs
            and (folder, _PARAMETERS) in beside
            and _has_step(file)
        ):
            runs[folder] = []
    names = (_LAST_VALUES, _PARAMETERS)
    return tuple(
        Unit(NAME, run, (*tables, *(beside[run, name] for name in names if (run, name) in beside)))
        for run, tables in runs.items()
    )


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """The run of a folder.

    Raises:
        UnreadableError: a table of it cannot be read, or nothing was logged into any.
    """
    growing = Growing(unit.path, wanted, timed=True)
    config: dict[str, Setting] = {}
    findings: list[Finding] = []
    logged: set[str] = set()
    refused: list[UnreadableError] = []
    for file in unit.files:
        if file.suffix == _TABLE:
            name = _metric_of(unit.path, file)
            try:
                refuse_unfilled(file)
            except UnreadableError as error:
                refused.append(error)
                continue
            logged.add(name)
            if growing.wants(name):
                findings += _read_table(file, name, growing)
    for file in unit.files:
        if file.name == _LAST_VALUES:
            findings += _read_last_values(file, logged, growing)
        elif file.name == _PARAMETERS:
            config, told = settings_of(file)
            findings += told
        elif file.suffix != _TABLE:
            raise UnreadableError(
                file, "its name is none that DVCLive gives", "Name the folder of a run instead"
            )
    if refused and not growing:
        raise refused[0]
    findings += [*map(left_out_for, refused), *growing.findings()]
    yield Logged(unit.path, "", "", "", config, growing.points(), _STEP, tuple(findings))


def _columns(file: Path) -> tuple[str, ...] | None:
    """The columns before the value, by the first line; None where it is not one of DVCLive's."""
    first, _, _ = head(file).decode(errors="replace").partition("\n")
    *before, value = first.rstrip("\r").split("\t")
    known = (before in ([_STEP], [_TIME], [_TIME, _STEP])) and value == file.name.removesuffix(_TABLE)
    return tuple(before) if known else None


def _run_of(file: Path, rooms: Collection[Path]) -> Path:
    """The folder of a table's run; ``rooms`` are folders in which something of a run's lies."""
    above = list(file.parents)
    for folder in above:
        if folder.name == "metrics" and folder.parent.name == "plots":
            return folder.parent.parent
    for folder in above:
        # A folder that is called so further up may as well hold many runs.
        if folder.name in _OLD_FOLDERS and (folder is above[0] or folder.parent in rooms):
            return folder.parent
    return file.parent


def _metric_of(run: Path, file: Path) -> str:
    """The metric's name: the table's path from the folder of tables on."""
    for folder in (run / "plots" / "metrics", *(run / name for name in _OLD_FOLDERS), run):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix().removesuffix(_TABLE)
    return file.name.removesuffix(_TABLE)


def _has_step(file: Path) -> bool:
    item = beginning(head(file).decode(errors="replace"))
    return item is not None and number(item.get(_STEP)) is not None


def _is_unfilled(file: Path) -> bool:
    """Whether a table where DVCLive has them holds nothing yet."""
    above = [folder.name for folder in file.parents]
    return any(pair == ("metrics", "plots") for pair in pairwise(above)) and is_unfilled(file)


def _read_table(file: Path, name: str, growing: Growing) -> Iterator[Finding]:
    columns = _columns(file)
    if columns is None:
        advice = "Check that DVCLive wrote this file"
        for _ in lines(file):  # a Git LFS pointer says so itself
            break
        raise UnreadableError(file, "its first line does not name a step and a metric", advice, 1)
    decoding = Decoding(file)
    width, strange = len(columns) + 1, 0
    step_at = columns.index(_STEP) if _STEP in columns else None
    time_at = columns.index(_TIME) if _TIME in columns else None
    for place, raw in lines(file):
        if place == 1 or not raw.strip():
            continue
        if not raw.endswith(b"\n"):
            # A number that was cut off is another number.
            yield Finding(file, "the last line has no end and may be cut off: it was left out", place)
            continue
        cells = decoding.text(raw, place).rstrip("\r\n").split("\t")
        if len(cells) != width:
            strange += 1
            continue
        value = number_of(cells[-1])
        if value is None:
            growing.drop(name)
            continue
        step = number_of(cells[step_at]) if step_at is not None else None
        time = number_of(cells[time_at]) if time_at is not None else None
        growing.add(name, math.nan if step is None else step, value, math.nan if time is None else time)
    if strange:
        yield Finding(file, f"{counted(strange, 'line')} with another number of columns: left out")
    yield from decoding.findings()


def _read_last_values(file: Path, logged: Collection[str], growing: Growing) -> Iterator[Finding]:
    """Metrics that have no table: their last value, as the only one."""
    decoding = Decoding(file)
    item = whole_object(decoding.text(whole(file)))
    yield from decoding.findings()
    if item is None:
        yield Finding(file, "the last values are torn or no JSON: left out")
        return
    at = number(item.pop(_STEP, None))
    only = [(name, value) for name, value in leaves(item) if name not in logged]
    for name, cell in only:
        value = number(cell)
        if value is not None:
            growing.add(name, math.nan if at is None else at, value)
    if any(number(cell) is not None and growing.wants(name) for name, cell in only):
        yield Finding(file, "metrics without a table of their own have their last value only")
