"""Runs and evaluations in files, by the reader of whatever format they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.formats.registry import find_format, find_units, load_reader
from reportgen.formats.runs import Evaluation, LoggedRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Unit


def list_units(*files: Path, form: str | None = None) -> tuple[Unit, ...]:
    """Return the units of files, or of all files below a folder, in the format that they have."""
    found = [sorted(one.rglob("*")) if one.is_dir() else [one] for one in files]
    return find_units([path for paths in found for path in paths if path.is_file()], form).units


def read_unit(unit: Unit, selected: Sequence[str] | None = None) -> Iterator[LoggedRun | Evaluation]:
    """Yield what a unit holds."""
    form = find_format(unit.format)
    assert form is not None
    yield from load_reader(form).read(unit, selected)


def read_run(*files: Path, selected: Sequence[str] | None = None) -> LoggedRun:
    """Return the one run of files or of a folder."""
    (unit,) = list_units(*files)
    (run,) = read_unit(unit, selected)
    assert isinstance(run, LoggedRun)
    return run


def list_points(run: LoggedRun) -> dict[str, list[tuple[float, float]]]:
    """Return steps and values of each metric."""
    return {
        name: list(zip(points.steps.tolist(), points.values.tolist(), strict=True))
        for name, points in run.metrics.items()
    }


def list_messages(one: LoggedRun | Evaluation) -> list[str]:
    """Return what was found irregular."""
    return [finding.message for finding in one.findings]
