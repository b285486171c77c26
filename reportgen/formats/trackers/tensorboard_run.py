"""One run as it grows while its event files are read, with the settings that the plugin ``hparams`` keeps.

Source: TensorBoard, tensorboard/plugins/hparams/plugin_data.proto; google/protobuf/struct.proto.
"""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.core.words import format_count, format_number
from reportgen.formats.binary.protobuf import (
    DELIMITED,
    FIXED64,
    VARINT,
    MalformedError,
    decode_double,
    decode_text,
    iterate_delimited,
    iterate_fields,
)
from reportgen.formats.binary.tfrecord import read_blocks
from reportgen.formats.run_data import as_json_setting, check_metric_count, check_value_count
from reportgen.formats.runs import Finding, Points, UnreadableError
from reportgen.formats.trackers.tensorboard_events import EventReader

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting
    from reportgen.formats.trackers.tensorboard_events import Event, Scalar


_SESSION_START: Final = 3
_HPARAMS: Final = 1
_KEY, _VALUE = 1, 2
_NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 2, 3, 4, 5, 6
_MOST_EXACT: Final = 2**53
_DEEPEST: Final = 20


def read_hyperparameters(plugin_data: memoryview) -> Iterator[tuple[str, Setting]]:
    """Hyperparameters of a session's start, nested names joined by dots; other data have none.

    Numbers are kept as doubles there: one without a fraction comes back as an int. A list becomes JSON.

    Raises:
        MalformedError: it is no such message.
    """
    for number, session in iterate_delimited(plugin_data):
        if number == _SESSION_START:
            for part, entry in iterate_delimited(session):
                if part == _HPARAMS:
                    name, value = _parse_entry(entry, 0)
                    yield from _flatten(name, value)


def _parse_entry(entry: memoryview, depth: int) -> tuple[str, object]:
    """The key and the value of a map's entry."""
    name, value = "", None
    for number, content in iterate_delimited(entry):
        if number == _KEY:
            name = decode_text(content)
        elif number == _VALUE:
            value = _parse_value(content, depth)
    return name, value


def _parse_value(message: memoryview, depth: int) -> object:
    """A google.protobuf.Value: text, bool, int, float, dict or list; None for null and beyond any depth."""
    value: object = None
    for number, wire, content in iterate_fields(message):
        if isinstance(content, int):
            value = bool(content) if number == _BOOL and wire == VARINT else None
        elif number == _NUMBER and wire == FIXED64:
            number_ = decode_double(content)
            whole = number_.is_integer() and abs(number_) <= _MOST_EXACT
            value = int(number_) if whole else number_
        elif number == _STRING and wire == DELIMITED:
            value = decode_text(content)
        elif number in {_STRUCT, _LIST} and wire == DELIMITED and depth < _DEEPEST:
            inner = [part for one, part in iterate_delimited(content) if one == 1]
            if number == _STRUCT:
                value = dict(_parse_entry(part, depth + 1) for part in inner)
            else:
                value = [_parse_value(part, depth + 1) for part in inner]
    return value


def _flatten(name: str, value: object) -> Iterator[tuple[str, Setting]]:
    if isinstance(value, str | int | float):
        yield name, as_json_setting(value)
    elif isinstance(value, list):
        yield name, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        for inner, part in value.items():
            yield from _flatten(f"{name}.{inner}", part)


_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


class EventRun:
    """Reads event files into metrics.

    Attributes:
        config: hyperparameters; a later file overrides an earlier one.
        findings: what was irregular so far.
    """

    def __init__(self, selected: Collection[str] | None = None) -> None:
        self.config: dict[str, Setting] = {}
        self.findings: list[Finding] = []
        self._path = Path()
        self._selected = selected
        self._reader = EventReader(self._number_metric, self._add_event)
        self._numbers: dict[bytes, int] = {}  # of tags, as they are written
        self._names: dict[str, int] = {}
        # Steps, values, times, and which of the files each is from.
        self._columns: list[tuple[array[float], array[float], array[float], array[int]]] = []
        self._appeared: dict[int, None] = {}
        self._foreign: set[bytes] = set()
        self._of_tensors: set[bytes] = set()
        self._strange = self._rounded = self._replaced = 0
        # The step from which on this file's writer has earlier ones forgotten, and when it began.
        self._begins, self._began = math.inf, math.nan
        self._last: list[float] = []  # the time of the last value of each file, NaN where it has none

    def read(self, path: Path) -> None:
        """Read a file that follows those read before.

        Raises:
            UnreadableError: it is no event file, cannot be read, or has too many metrics or values of one.
        """
        self._path = path
        self._reader.malformed = self._strange = self._rounded = self._replaced = 0
        self._begins, self._began = math.inf, math.nan
        self._last.append(math.nan)
        try:
            for block in read_blocks(path, self.findings):
                for tag, steps, walls, values in self._reader.read_block(block).group_by_tag():
                    self._append(path, tag, steps, values, walls)
        except OSError as error:
            raise UnreadableError(path, f"it cannot be read ({error.strerror})") from error
        self._report_left_out(path)
        self._discard_restarted(path)
        self._report_overlap(path)

    def build_metrics(self) -> Mapping[str, Points]:
        """Every metric in the order of first appearance, without those that belong to other plugins."""
        foreign = {self._numbers[tag] for tag in self._foreign & self._of_tensors}
        names = list(self._names)
        return {
            names[place]: Points(*(np.frombuffer(column, np.float64) for column in self._columns[place][:3]))
            for place in self._appeared
            if place not in foreign and self._columns[place][0]
        }

    def _number_metric(self, scalar: Scalar) -> int:
        """Which metric a scalar belongs to; -1 for one that is not to be read."""
        if scalar.of_tensor:
            self._of_tensors.add(scalar.tag)
        place = self._numbers.get(scalar.tag)
        if place is None:
            name = scalar.tag.decode("utf-8", "replace")
            self._replaced += _REPLACEMENT in name
            if self._selected is not None and name not in self._selected:
                place = -1
            else:
                place = self._names.setdefault(name, len(self._names))
                if place == len(self._columns):
                    check_metric_count(place + 1, self._path)
                    self._columns.append((array("d"), array("d"), array("d"), array("i")))
            self._numbers[scalar.tag] = place
        return place

    def _add_event(self, event: Event) -> None:
        """Keep what an event holds apart from scalars."""
        self._foreign.update(event.foreign)
        self._strange += event.strange
        if event.begins and event.step < self._begins:
            self._begins, self._began = event.step, event.wall * 1000
        for session in event.sessions:
            try:
                self.config.update(read_hyperparameters(session))
            except MalformedError:
                self._reader.malformed += 1

    def _append(self, path: Path, tag: int, steps: FloatArray, values: FloatArray, walls: FloatArray) -> None:
        columns = self._columns[tag]
        self._appeared.setdefault(tag)
        check_value_count(len(columns[0]) + len(steps), path, list(self._names)[tag])
        self._rounded += int(np.count_nonzero(np.abs(steps) > _MOST_EXACT))
        with np.errstate(over="ignore"):
            times = np.rint(walls * 1000)
        times[~np.isfinite(times)] = np.nan
        for column, more in zip(columns[:3], (steps, values, times), strict=True):
            column.frombytes(np.ascontiguousarray(more).view(np.uint8).data)
        columns[3].frombytes(np.full(len(steps), len(self._last) - 1, np.intc).tobytes())
        self._last[-1] = float(np.fmax.reduce(times, initial=self._last[-1]))

    def _report_left_out(self, path: Path) -> None:
        if malformed := self._reader.malformed:
            self._report(path, f"{format_count(malformed, 'record')} that cannot be parsed: left out")
        if self._strange:
            scalars = format_count(self._strange, "scalar")
            self._report(path, f"{scalars} without exactly one number: left out")
        if self._replaced:
            tags = format_count(self._replaced, "tag that is", "tags that are")
            self._report(path, f"{tags} no UTF-8 text: what cannot be read in it is shown as {_REPLACEMENT}")
        if self._rounded:
            beyond = f"{format_count(self._rounded, 'step')} beyond 2 to the power of 53"
            self._report(path, f"{beyond}: a double holds these only roughly")

    def _discard_restarted(self, path: Path) -> None:
        """Leave out what a restart gave up: values of ended files, of its step and later ones.

        As ``_CheckForRestartAndMaybePurge`` of TensorBoard's event_accumulator.py. A file that was still
        written to after the restart belongs to a process beside it and is kept.
        """
        if self._begins == math.inf:
            return
        ended = [place for place, last in enumerate(self._last[:-1]) if not last > self._began]
        given_up = [np.empty(0)]
        for column in self._columns:
            steps, files = np.array(column[0]), np.array(column[3])
            gone = (steps >= self._begins) & np.isin(files, ended)
            if gone.any():
                given_up.append(steps[gone])
                for part in column:
                    remaining = np.array(part)[~gone].tobytes()
                    del part[:]
                    part.frombytes(remaining)
        steps = np.concatenate(given_up)
        if len(steps):
            which = "step" if steps.min() == steps.max() else "steps"
            count = format_count(len(steps), "value")
            values = f"{count} of earlier files ({which} {_describe_range(steps)})"
            restart = f"the run was restarted at step {format_number(float(self._begins), decimals=0)}"
            self._report(path, f"{restart}: left out {values}, logged again or given up, as TensorBoard does")

    def _report_overlap(self, path: Path) -> None:
        """Say how far earlier files had gone beyond the step with which a metric goes on in this one."""
        if len(self._last) == 1:
            return
        gone_over, at_once = [np.empty(0)], False
        for column, _, times, files in self._columns:
            before = int(np.searchsorted(np.array(files), len(self._last) - 1))
            if before:
                steps, begins = np.array(column), min([self._begins, *column[before : before + 1]])
                gone_over.append(steps[:before][steps[:before] >= begins])
                at_once |= before < len(times) and times[before] < np.fmax.reduce(times[:before])
        steps = np.unique(np.concatenate(gone_over))
        if not len(steps):
            return
        how, rows = "the run was resumed", "the rows of both are kept, the later ones last"
        if at_once:
            how, rows = "several processes wrote at once", "the rows of all are kept, those of this file last"
        again = f"{format_count(len(steps), 'step')} of earlier files ({_describe_range(steps)})"
        self._report(path, f"{how}: this file goes back over {again}; {rows}")

    def _report(self, path: Path, message: str) -> None:
        self.findings.append(Finding(path, message))


def _describe_range(steps: FloatArray) -> str:
    """The first and the last of some steps."""
    ends = [format_number(float(step), decimals=0) for step in (steps.min(), steps.max())]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
