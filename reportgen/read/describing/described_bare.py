"""Runs that hold no values, as of a training that was killed early: what they are all the same."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.description import DescribedRun
from reportgen.errors import Problem, Severity, Stage
from reportgen.read.find import locate_file
from reportgen.read.logged import LoggedRun, UnreadableError
from reportgen.read.units import find_format, find_units, load_reader

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.read.choosing import ChosenFiles
    from reportgen.read.logged import Unit
    from reportgen.settings.source import SourceSettings


@dataclass(frozen=True, slots=True)
class EmptyRuns:
    """Runs without any values.

    Attributes:
        form: the name of their format.
        files: every file that was read.
        runs: called as their logger calls them, otherwise as their folders.
        findings: what was irregular about them, as warnings: also why they hold nothing, where that is known.
    """

    form: str
    files: tuple[Path, ...]
    runs: tuple[DescribedRun, ...]
    findings: tuple[Problem, ...]


def find_empty_runs(chosen: ChosenFiles, settings: SourceSettings, root: Path) -> EmptyRuns | None:
    """The runs among files; None where there are none, or as soon as one of them holds a value.

    Args:
        chosen: the files of a source that cannot be read.
        settings: what its ``source.yml`` says.
        root: what paths are told relative to.
    """
    units: tuple[Unit, ...] = ()
    runs: list[LoggedRun] = []
    with suppress(OSError, UnreadableError):
        units = find_units(chosen.paths, settings.format, named=chosen.named).units
        form = find_format(units[0].format) if units else None
        for unit in units if form else ():
            for run in load_reader(form).read(unit) if form else ():
                if not isinstance(run, LoggedRun) or run.metrics:
                    return None
                runs.append(run)
    if not runs:
        return None
    files = dict.fromkeys(file for unit in units for file in unit.files)
    found = (
        Problem(locate_file(one.path, root, one.line), one.message, "", Stage.DATA, Severity.WARNING)
        for run in runs
        for one in run.findings
    )
    return EmptyRuns(
        units[0].format,
        tuple(files),
        tuple(_describe_run(run, root) for run in runs),
        tuple(dict.fromkeys(found)),
    )


def _describe_run(run: LoggedRun, root: Path) -> DescribedRun:
    path = locate_file(run.path, root).file
    name = run.name or run.path.name
    return DescribedRun(name, name, None, path, 0, 0, None, None, config=dict(run.config))
