"""One run as it grows while its event files are read, one after the other."""

from __future__ import annotations

import math
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.read.logged import Finding, Points, UnreadableError
from reportgen.read.loggers.event_scalars import EventReader
from reportgen.read.loggers.growing import check_count
from reportgen.read.loggers.hyperparameters import settings
from reportgen.read.loggers.protobuf import MalformedError
from reportgen.read.loggers.tfrecord import blocks
from reportgen.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reportgen.model import FloatArray
    from reportgen.read.logged import Setting
    from reportgen.read.loggers.event_message import Event, Scalar

_MOST_POINTS: Final = 10_000_000
_EXACT: Final = 2.0**53
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


class EventRun:
    """Reads event files into metrics.

    Attributes:
        config: hyperparameters; a later file overrides an earlier one.
        findings: what was irregular so far.
    """

    def __init__(self, wanted: Collection[str] | None = None) -> None:
        self.config: dict[str, Setting] = {}
        self.findings: list[Finding] = []
        self._path = Path()
        self._wanted = wanted
        self._reader = EventReader(self._number, self._besides)
        self._numbers: dict[bytes, int] = {}  # of tags, as they are written
        self._names: dict[str, int] = {}
        self._columns: list[tuple[array[float], array[float], array[float]]] = []  # steps, values, times
        self._appeared: dict[int, None] = {}
        self._foreign: set[bytes] = set()
        self._of_tensors: set[bytes] = set()
        self._strange = self._rounded = self._replaced = 0
        self._begins = math.inf  # the step from which on this file's writer has earlier ones forgotten

    def read(self, path: Path) -> None:
        """Read a file behind those that were read before.

        Raises:
            UnreadableError: it is no event file, cannot be read, or holds too many metrics, or values of one.
        """
        self._path = path
        begun = [len(steps) for steps, _, _ in self._columns]
        self._reader.malformed = self._strange = self._rounded = self._replaced = 0
        self._begins = math.inf
        try:
            for block in blocks(path, self.findings):
                for tag, steps, walls, values in self._reader.rows(block).by_tag():
                    self._append(path, tag, steps, values, walls)
        except OSError as error:
            raise UnreadableError(path, f"it cannot be read ({error.strerror})") from error
        self._tell_left_out(path)
        self._tell_overlap(path, begun)

    def metrics(self) -> Mapping[str, Points]:
        """Every metric in the order of first appearance, without those that belong to other plugins."""
        foreign = {self._numbers[tag] for tag in self._foreign & self._of_tensors}
        names = list(self._names)
        return {
            names[place]: Points(*(np.frombuffer(column, np.float64) for column in self._columns[place]))
            for place in self._appeared
            if place not in foreign
        }

    def _number(self, scalar: Scalar) -> int:
        """Which metric a scalar belongs to, -1 where nobody wants it."""
        if scalar.of_tensor:
            self._of_tensors.add(scalar.tag)
        place = self._numbers.get(scalar.tag)
        if place is None:
            name = scalar.tag.decode("utf-8", "replace")
            self._replaced += _REPLACEMENT in name
            if self._wanted is not None and name not in self._wanted:
                place = -1
            else:
                place = self._names.setdefault(name, len(self._names))
                if place == len(self._columns):
                    check_count(place + 1, self._path)
                    self._columns.append((array("d"), array("d"), array("d")))
            self._numbers[scalar.tag] = place
        return place

    def _besides(self, event: Event) -> None:
        """Keep what an event holds apart from scalars."""
        self._foreign.update(event.foreign)
        self._strange += event.strange
        if event.begins:
            self._begins = min(self._begins, event.step)
        for session in event.sessions:
            try:
                self.config.update(settings(session))
            except MalformedError:
                self._reader.malformed += 1

    def _append(self, path: Path, tag: int, steps: FloatArray, values: FloatArray, walls: FloatArray) -> None:
        columns = self._columns[tag]
        self._appeared.setdefault(tag)
        if len(columns[0]) + len(steps) > _MOST_POINTS:
            name = list(self._names)[tag]
            message = f'the metric "{name}" has more than {_MOST_POINTS:,} values'
            raise UnreadableError(path, message, "Thin it out before it is read")
        self._rounded += int(np.count_nonzero(np.abs(steps) > _EXACT))
        with np.errstate(over="ignore"):
            times = np.rint(walls * 1000)
        times[~np.isfinite(times)] = np.nan
        for column, more in zip(columns, (steps, values, times), strict=True):
            column.frombytes(np.ascontiguousarray(more).view(np.uint8).data)

    def _tell_left_out(self, path: Path) -> None:
        if self._reader.malformed:
            self._tell(path, f"{counted(self._reader.malformed, 'record')} that cannot be parsed: left out")
        if self._strange:
            self._tell(path, f"{counted(self._strange, 'scalar')} without exactly one number: left out")

        if self._replaced:
            tags = counted(self._replaced, "tag that is", "tags that are")
            self._tell(path, f"{tags} no UTF-8 text: what cannot be read in it is shown as {_REPLACEMENT}")
        if self._rounded:
            beyond = f"{counted(self._rounded, 'step')} beyond 2 to the power of 53"
            self._tell(path, f"{beyond}: a double holds these only roughly")

    def _tell_overlap(self, path: Path, begun: list[int]) -> None:
        """Say how far earlier files had gone beyond the step with which a metric goes on in this one."""
        gone_over, at_once = [np.empty(0)], False
        for before, (column, _, times) in zip(begun, self._columns, strict=False):
            if before:
                steps, begins = np.array(column), min([self._begins, *column[before : before + 1]])
                gone_over.append(steps[:before][steps[:before] >= begins])
                at_once |= before < len(times) and times[before] < np.fmax.reduce(times[:before])
        steps = np.unique(np.concatenate(gone_over))
        if not len(steps):
            return
        ends = [number(step, decimals=0) for step in (steps[0], steps[-1])]
        reached = ends[0] if len(steps) == 1 else f"{ends[0]} to {ends[1]}"
        how, rows = "the run was resumed", "the rows of both are kept, the later ones last"
        if at_once:
            how, rows = "several processes wrote at once", "the rows of all are kept, those of this file last"
        again = f"this file goes back over {counted(len(steps), 'step')} of earlier files ({reached})"
        self._tell(path, f"{how}: {again}; {rows}")

    def _tell(self, path: Path, message: str) -> None:
        self.findings.append(Finding(path, message))
