"""Metrics that grow value by value while a log is read, without a Python object for each."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.read.logged import Finding, Points, UnreadableError
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from reportgen.model import FloatArray

MOST_POINTS: Final = 10_000_000
MOST_METRICS: Final = 100_000
_FEW: Final = 3
_LONGEST_NAME: Final = 60


def parse_number(cell: object) -> float | None:
    """A cell as a number: also ``true``, ``"0.5"``, ``"NaN"``, ``"-Infinity"``; None where it is none."""
    if isinstance(cell, float):
        return cell
    if isinstance(cell, int):
        try:
            return float(cell)
        except OverflowError:
            return None
    return parse_number_text(cell) if isinstance(cell, str) else None


def parse_number_text(text: str) -> float | None:
    """A text as a number; None where it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    # Python also reads 1_000 and digits of other scripts.
    return value if text.isascii() and "_" not in text else None


def check_metric_count(metrics: int, path: Path) -> None:
    """See that a run has not too many metrics, as where each step has names of its own.

    Raises:
        UnreadableError: it has.
    """
    if metrics > MOST_METRICS:
        message = f"the run has more than {MOST_METRICS:,} metrics"
        raise UnreadableError(path, message, "Name those to be read with metrics: in source.yml")


class MetricsBuilder:
    """The metrics of one run.

    ``add`` takes one value, ``extend`` many of one metric; ``count_dropped`` counts a cell that is no number.
    """

    def __init__(self, path: Path, selected: Collection[str] | None = None, *, timed: bool = False) -> None:
        self._path = path
        self._wanted = selected
        self._timed = timed
        self._columns: dict[str, tuple[array[float], array[float], array[float]]] = {}
        self._dropped: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def is_selected(self, name: str) -> bool:
        """Whether somebody asked for this metric."""
        return self._wanted is None or name in self._wanted

    def add(self, name: str, step: float, value: float, time: float = math.nan) -> None:
        """Put a value behind the others of its metric.

        Raises:
            UnreadableError: the metric has too many, or the run has too many metrics.
        """
        column = self._columns.get(name)
        if column is None:
            if not self.is_selected(name):
                return
            column = self._columns[name] = (array("d"), array("d"), array("d"))
            check_metric_count(len(self._columns), self._path)
        column[0].append(step)
        column[1].append(value)
        if self._timed:
            column[2].append(time)
        if len(column[0]) > MOST_POINTS:
            raise self._describe_excess(name)

    def extend(self, name: str, steps: FloatArray, values: FloatArray) -> None:
        """Put values behind the others of their metric, in a log without times; see ``add``."""
        if not self.is_selected(name) or not len(values):
            return
        column = self._columns.setdefault(name, (array("d"), array("d"), array("d")))
        check_metric_count(len(self._columns), self._path)
        column[0].frombytes(steps.tobytes())
        column[1].frombytes(values.tobytes())
        if len(column[0]) > MOST_POINTS:
            raise self._describe_excess(name)

    def count_dropped(self, name: str, count: int = 1) -> None:
        """Count cells of a metric that are no numbers."""
        if count and self.is_selected(name):
            self._dropped[name] = self._dropped.get(name, 0) + count

    def build(self) -> dict[str, Points]:
        """Every metric that has a value, in the order of first appearance; an infinite step is none."""
        return {
            name: Points(
                _finite(np.frombuffer(steps, np.float64)),
                np.frombuffer(values, np.float64),
                np.frombuffer(times, np.float64) if times and not np.isnan(times).all() else None,
            )
            for name, (steps, values, times) in self._columns.items()
        }

    def list_findings(self) -> Iterator[Finding]:
        """At most one: cells that are no numbers in metrics that have some; a column of words is no fault."""
        mixed = {name: count for name, count in self._dropped.items() if name in self._columns}
        if mixed:
            cells = format_count(sum(mixed.values()), "value that is no number", "values that are no numbers")
            names = join_names([_quote(name) for name in mixed], most=_FEW)
            yield Finding(self._path, f"{cells} in {names}: left out")

    def _describe_excess(self, name: str) -> UnreadableError:
        message = f"the metric {_quote(name)} has more than {MOST_POINTS:,} values"
        return UnreadableError(self._path, message, "Thin it out before it is read")


def _finite(steps: FloatArray) -> FloatArray:
    steps[np.isinf(steps)] = np.nan
    return steps


def _quote(name: str) -> str:
    """A name for a message: one line, not too long."""
    line = " ".join(name.split())
    return f'"{line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"}"'
