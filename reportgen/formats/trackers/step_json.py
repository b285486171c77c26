"""JSON Lines of trainers: a step, and the metrics of that step nested or next to it.

SCHEMA: volcengine/verl, verl/utils/tracking.py, class ``FileLogger``: a line is
``{"step": n, "data": {"actor/lr": …}}``, newer ones with ``elapsed_seconds`` beside the step. Others group by
phase: ``{"step": n, "train": {"loss": …}, "eval": {"acc": …}}``. Names within are joined by ``/``; ``data``
and ``metrics`` only wrap and add no name. Lines of two trainers are flat. modelscope/ms-swift,
swift/trainers/callback.py: ``{"loss": 2.1, "epoch": 0.3, "global_step/max_steps": "5/16"}``, with Megatron
``"iteration": "5/16"``. hiyouga/LLaMA-Factory, src/llamafactory/train/callbacks.py: ``{"current_steps": 5,
"total_steps": 16, "loss": 2.1}``. All other flat JSON Lines are a table, which ``tables/json_tables`` reads.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.json_files import iterate_cells, parse_beginning, parse_object
from reportgen.formats.run_data import MetricsBuilder, parse_number, parse_time
from reportgen.formats.runs import Finding, LoggedRun, Unit, UnreadableError
from reportgen.formats.text_files import (
    TORN_LINE,
    Count,
    Decoder,
    check_filled,
    find_unfilled,
    read_head,
    read_lines,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.run_data import Row


# How ms-swift and LLaMA-Factory call a step, which in the former is a text such as "10/500".
OF_ALL: Final = ("global_step/max_steps", "current_steps")
STEPS: Final = (*OF_ALL, "step", "_step", "global_step", "iteration", "iter", "epoch")
TIMES: Final = ("timestamp", "_timestamp", "time", "ts")
_WRAPPERS: Final = frozenset(("data", "metrics"))
# Seconds since 1970 beyond the year 2001, and milliseconds beyond it: smaller numbers count something else.
_SECONDS, _MILLISECONDS = 1e9, 1e12
_PART: Final = re.compile(r"([0-9]{1,15})/[0-9]+")


class StepRows:
    """The objects of a file, one after the other; ``step_name`` is empty until a step was found."""

    def __init__(self, path: Path, selected: Collection[str] | None) -> None:
        self.step_name = ""
        self.builder = MetricsBuilder(path, selected, timed=True)
        self._path = path
        self._without = 0  # objects that have no step
        self._strange = Count()  # lines that are no object
        self._torn: int | None = None

    def add(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Append the metrics of objects."""
        self.builder.add_rows([self._split_row(item) for item in items], _WRAPPERS)

    def count_strange(self, line: int, *, whole: bool) -> None:
        """Count a line that is no object."""
        if whole:
            self._strange.add(line)
        else:
            self._torn = line

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular."""
        yield from self.builder.list_findings()
        if self._without:
            yield Finding(self._path, f"{format_count(self._without, 'row')} without a step")
        if strange := self._strange.number:
            lines = format_count(strange, "line that is no JSON object", "lines that are no JSON objects")
            yield Finding(self._path, f"{lines}: left out", self._strange.line)
        if self._torn:
            yield Finding(self._path, TORN_LINE, self._torn)

    def _split_row(self, item: Mapping[str, Any]) -> Row:
        if not self.step_name:
            self.step_name = next((name for name in STEPS if parse_step(item.get(name)) is not None), "")
        step = parse_step(item.get(self.step_name))
        if step is None or math.isnan(step):
            step = math.nan
            self._without += 1
        time = next((time for key in TIMES if (time := _parse_time(item.get(key)))), math.nan)
        skipped = {self.step_name} if math.isnan(time) else {self.step_name, *TIMES}
        return step, time, {key: value for key, value in item.items() if key not in skipped}


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
    return parse_time(cell)


NAME: Final = "step_json"
TITLE: Final = "JSON Lines of trainers (verl and others)"

_ENDINGS: Final = frozenset((".jsonl", ".ndjson", ".json", ".log"))
# Numbers that may stand next to the metrics; any other number there is a metric, as in a table.
_NO_METRICS: Final = frozenset((*STEPS, *TIMES, "elapsed_seconds"))
# Bytes of lines that are taken at once: no more objects than fit a processor's cache.
_AT_ONCE: Final = 3 << 16


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every file whose first lines hold an object with a step and numbers in an object within.

    Files next to these that hold nothing yet come last.
    """
    found = [
        file
        for file in files
        if file.suffix.lower() in _ENDINGS
        and any(map(_is_nested_line, read_head(file).decode(errors="replace").split("\n")))
    ]
    return tuple(Unit(NAME, file, (file,)) for file in (*found, *find_unfilled(files, set(found))))


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a file."""
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
    yield LoggedRun(path, "", "", "", {}, rows.builder.build(), step_name, findings)


def _is_nested_line(line: str) -> bool:
    """Whether a line is or begins an object with a step and numbers in objects within, not next to them.

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
