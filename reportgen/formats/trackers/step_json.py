"""JSON Lines of trainers: a step, and the metrics of that step nested or next to it.

SCHEMA: volcengine/verl, verl/utils/tracking.py, class ``FileLogger``: a line is
``{"step": n, "data": {"actor/lr": …}}``, newer ones with ``elapsed_seconds`` beside the step. Others group by
phase: ``{"step": n, "train": {"loss": …}, "eval": {"acc": …}}``. Names within are joined by ``/``; ``data``
and ``metrics`` only wrap and add no name. Lines of two trainers are flat. modelscope/ms-swift,
swift/trainers/callback.py: ``{"loss": 2.1, "epoch": 0.3, "global_step/max_steps": "5/16"}``, with Megatron
``"iteration": "5/16"``. hiyouga/LLaMA-Factory, src/llamafactory/train/callbacks.py: ``{"current_steps": 5,
"total_steps": 16, "loss": 2.1}``. All other flat JSON Lines are a table, which ``tables/json_lines`` reads.
"""

from __future__ import annotations

import math
import re
from array import array
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.core.words import format_count
from reportgen.formats.json_files import iterate_cells, parse_beginning, parse_object
from reportgen.formats.run_data import MetricsBuilder, parse_number
from reportgen.formats.runs import Finding, LoggedRun, Unit, UnreadableError
from reportgen.formats.text_files import Decoder, check_filled, find_unfilled, read_head, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from reportgen.core.model import FloatArray

    Row: TypeAlias = tuple[int, float, float, Mapping[str, Any]]


# How ms-swift and LLaMA-Factory call a step, which in the former is a text such as "10/500".
OF_ALL: Final = ("global_step/max_steps", "current_steps")
STEPS: Final = (*OF_ALL, "step", "_step", "global_step", "iteration", "iter", "epoch")
TIMES: Final = ("timestamp", "_timestamp", "time", "ts")
_WRAPPERS: Final = frozenset(("data", "metrics"))
# Seconds since 1970 beyond the year 2001, and milliseconds beyond it: smaller numbers count something else.
_SECONDS, _MILLISECONDS = 1e9, 1e12
_PART: Final = re.compile(r"([0-9]{1,15})/[0-9]+")
_FEW: Final = 8


class _TimedMetrics(MetricsBuilder):
    """Metrics that grow by columns with times."""

    def extend_timed(self, name: str, steps: FloatArray, values: FloatArray, times: FloatArray) -> None:
        """Put values behind the others of their metric; see ``Growing.extend``."""
        if self.is_selected(name) and len(values):
            self.extend(name, steps, values)
            self._columns[name][2].frombytes(times.tobytes())


class StepRows:
    """The objects of a file, one after the other.

    Attributes:
        step_name: the key of the step; empty until one is met.
        growing: the metrics.
    """

    def __init__(self, path: Path, selected: Collection[str] | None) -> None:
        self.step_name = ""
        self.growing = _TimedMetrics(path, selected, timed=True)
        self._path = path
        # Objects that have no step, lines that are no object and the first of them, and a torn last line.
        self._without = self._strange = 0
        self._first_strange: int | None = None
        self._torn: int | None = None

    def add(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Take the metrics of objects."""
        rows = [self._split_row(place, item) for place, item in enumerate(items)]
        shapes: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            cells = row[3]
            inner = [(name, *cell) for name, cell in cells.items() if isinstance(cell, dict)]
            shapes.setdefault((*cells, *inner), []).append(row)
        columns = _build_columns(shapes.values()) if len(rows) >= _FEW * len(shapes) else None
        if columns is None:
            self._add_cells(rows)
            return
        for name, pieces in columns.items():
            (_, steps, times), values = pieces[0]
            if len(pieces) > 1:
                places, steps, times = np.concatenate([positions for positions, _ in pieces], axis=1)
                values = np.concatenate([column for _, column in pieces])
                order = np.argsort(places, kind="stable")
                steps, times, values = steps[order], times[order], values[order]
            self.growing.extend_timed(name, steps, values, times)

    def count_strange(self, line: int, *, whole: bool) -> None:
        """Count a line that is no object."""
        if whole:
            self._strange += 1
            self._first_strange = self._first_strange or line
        else:
            self._torn = line

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular."""
        yield from self.growing.list_findings()
        if self._without:
            yield Finding(self._path, f"{format_count(self._without, 'row')} without a step")
        if self._strange:
            message = format_count(
                self._strange, "line that is no JSON object", "lines that are no JSON objects"
            )
            yield Finding(self._path, f"{message}: left out", self._first_strange)
        if self._torn:
            message = (
                "the last line is torn: the writer was killed, or still writes; those before it are read"
            )
            yield Finding(self._path, message, self._torn)

    def _split_row(self, place: int, item: Mapping[str, Any]) -> Row:
        if not self.step_name:
            self.step_name = next((name for name in STEPS if parse_step(item.get(name)) is not None), "")
        step = parse_step(item.get(self.step_name))
        if step is None or math.isnan(step):
            step = math.nan
            self._without += 1
        time = next((found for key in TIMES if (found := _parse_time(item.get(key)))), math.nan)
        skipped = {self.step_name} if math.isnan(time) else {self.step_name, *TIMES}
        return place, step, time, {key: value for key, value in item.items() if key not in skipped}

    def _add_cells(self, rows: Sequence[Row]) -> None:
        for _, step, time, cells in rows:
            for name, cell in iterate_cells(cells, _WRAPPERS):
                value = parse_number(cell)
                if value is not None:
                    self.growing.add(name, step, value, time)
                elif cell is not None:
                    self.growing.count_dropped(name)


def _build_columns(
    shapes: Collection[Sequence[Row]],
) -> dict[str, list[tuple[FloatArray, FloatArray]]] | None:
    """For each metric of rows with the same keys each: places, steps and times (3, n), and values (n,).

    None where a cell is no number: a text, a list, null, a number beyond a double, or more objects within.
    """
    columns: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
    for rows in shapes:
        names = [name for name, _ in iterate_cells(rows[0][3], _WRAPPERS)]
        cells: list[Any] = []
        for *_, row in rows:
            for cell in row.values():
                if isinstance(cell, dict):
                    cells += cell.values()
                else:
                    cells.append(cell)
        try:
            table = np.frombuffer(array("d", cells)).reshape(len(rows), len(names))
        except (TypeError, OverflowError, ValueError):
            return None
        positions = np.array([row[:3] for row in rows], np.float64).T
        for place, name in enumerate(names):
            columns.setdefault(name, []).append((positions, table[:, place]))
    return columns


def parse_step(cell: object) -> float | None:
    """A cell as a step: a number, or the first of two such as ``"10/500"``."""
    found = _PART.fullmatch(cell) if isinstance(cell, str) else None
    return float(found[1]) if found else parse_number(cell)


def _parse_time(cell: object) -> float | None:
    """A cell as milliseconds since 1970 UTC: seconds, milliseconds, or a date and time of ISO 8601."""
    value = parse_number(cell)
    if value is not None:
        in_seconds = _SECONDS <= value < _MILLISECONDS
        return value * 1000 if in_seconds else value if value >= _MILLISECONDS else None
    try:
        moment = datetime.fromisoformat(cell) if isinstance(cell, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000


NAME: Final = "step_json"
TITLE: Final = "JSON Lines of trainers (verl and others)"

_ENDINGS: Final = frozenset((".jsonl", ".ndjson", ".json", ".log"))
# Numbers that may stand beside the metrics; any other number there is a metric, as in a table.
_NO_METRICS: Final = frozenset((*STEPS, *TIMES, "elapsed_seconds"))
# Bytes of lines that are taken at once: no more objects than fit a processor's cache.
_AT_ONCE: Final = 3 << 16


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every file whose first lines hold an object with a step and numbers in an object within.

    Behind them come files beside these that hold nothing yet.
    """
    found = [file for file in files if file.suffix.lower() in _ENDINGS and _is_nested(read_head(file))]
    return tuple(Unit(NAME, file, (file,)) for file in (*found, *find_unfilled(files, set(found))))


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a file.

    Raises:
        UnreadableError: no line of it is an object with a step.
    """
    (path,) = unit.files
    decoding, rows = Decoder(path), StepRows(path, selected)
    items: list[dict[str, Any]] = []
    length = 0
    for place, raw in read_lines(path):
        if not raw.strip():
            continue
        item = parse_object(decoding.decode(raw, place))
        if item is None:
            rows.count_strange(place, whole=raw.endswith(b"\n"))
        else:
            items.append(item)
        length += len(raw)
        if length > _AT_ONCE:
            rows.add(items)
            items, length = [], 0
    rows.add(items)
    if not rows.step_name:
        check_filled(path)
        raise UnreadableError(path, "no line of it is a JSON object with a step", "Look at its first lines")
    findings = (*rows.list_findings(), *decoding.list_findings())
    step_name = "step" if rows.step_name in OF_ALL else rows.step_name
    yield LoggedRun(path, "", "", "", {}, rows.growing.build(), step_name, findings)


def _is_nested(data: bytes) -> bool:
    return any(_is_nested_line(line) for line in data.decode(errors="replace").split("\n"))


def _is_nested_line(line: str) -> bool:
    """Whether a line is or begins an object with a step and numbers in objects within, not beside them.

    Or with a step that only certain trainers call so.
    """
    item = parse_beginning(line) if line.startswith("{") else None
    if not item or not any(parse_step(item.get(name)) is not None for name in STEPS):
        return False
    # Two numbers as a step, "5/16", are no cell of a table.
    if any(key in item for key in OF_ALL) or "/" in str(item.get("iteration")):
        return True
    if any(key not in _NO_METRICS and parse_number(cell) is not None for key, cell in item.items()):
        return False
    inner = {key: value for key, value in item.items() if isinstance(value, dict)}
    return any(parse_number(cell) is not None for _, cell in iterate_cells(inner))
