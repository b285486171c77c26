"""JSON Lines whose objects nest: a step, and the metrics of that step in objects within.

SCHEMA: volcengine/verl, verl/utils/tracking.py, class ``FileLogger``: a line is
``{"step": n, "data": {"actor/lr": …}}``, newer ones with ``elapsed_seconds`` beside the step. Others group by
phase: ``{"step": n, "train": {"loss": …}, "eval": {"acc": …}}``. Names within are joined by ``/``; ``data``
and ``metrics`` only wrap and add no name. Flat JSON Lines are a table, which ``read.json_lines`` reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding, Logged, Unit, UnreadableError
from reportgen.read.loggers.growing import Growing, number
from reportgen.read.loggers.json_objects import beginning, leaves, whole_object
from reportgen.read.loggers.text_file import Decoding, head, lines
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

NAME: Final = "step_json"
TITLE: Final = "JSON Lines with nested metrics (verl and others)"

_ENDINGS: Final = frozenset((".jsonl", ".ndjson", ".json", ".log"))
_STEPS: Final = ("step", "_step", "global_step", "iteration", "iter", "epoch")
_TIMES: Final = ("timestamp", "_timestamp", "time", "ts")
# Numbers that may stand beside the metrics; any other number there is a metric, as in a table.
_BESIDE: Final = frozenset((*_STEPS, *_TIMES, "elapsed_seconds"))
_WRAPPERS: Final = frozenset(("data", "metrics"))
# Seconds since 1970 beyond the year 2001, and milliseconds beyond it: smaller numbers count something else.
_SECONDS, _MILLISECONDS = 1e9, 1e12


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every file whose first lines hold an object with a step and numbers in an object within."""
    found = (file for file in files if file.suffix.lower() in _ENDINGS and _is_nested(head(file)))
    return tuple(Unit(NAME, file, (file,)) for file in found)


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """The run of a file.

    Raises:
        UnreadableError: no line of it is an object with a step.
    """
    (path,) = unit.files
    decoding, rows = Decoding(path), _Rows(path, Growing(path, wanted, timed=True))
    for place, raw in lines(path):
        if not raw.strip():
            continue
        item = whole_object(decoding.text(raw, place))
        if item is not None:
            rows.take(item)
        else:
            rows.pass_over(place, whole=raw.endswith(b"\n"))
    if not rows.step_name:
        raise UnreadableError(path, "no line of it is a JSON object with a step", "Look at its first lines")
    findings = (*rows.findings(), *decoding.findings())
    yield Logged(path, "", "", "", {}, rows.growing.points(), rows.step_name, findings)


@dataclass(slots=True)
class _Rows:
    """The objects of a file, one after the other.

    Attributes:
        step_name: the key of the step; empty until one is met.
        without: objects that have no step.
        strange: lines that are no object, and the first of them.
        torn: the last line, if it is no object and has no end.
    """

    path: Path
    growing: Growing
    step_name: str = ""
    without: int = 0
    strange: int = 0
    first_strange: int | None = None
    torn: int | None = None

    def take(self, item: Mapping[str, Any]) -> None:
        """Take the metrics of an object."""
        if not self.step_name:
            self.step_name = next((name for name in _STEPS if number(item.get(name)) is not None), "")
        step = number(item.get(self.step_name))
        if step is None or math.isnan(step):
            step = math.nan
            self.without += 1
        time = next((found for key in _TIMES if (found := _milliseconds(item.get(key)))), math.nan)
        skipped = {self.step_name} if math.isnan(time) else {self.step_name, *_TIMES}
        kept = {key: value for key, value in item.items() if key not in skipped}
        for name, cell in leaves(kept, _WRAPPERS):
            value = number(cell)
            if value is not None:
                self.growing.add(name, step, value, time)
            elif cell is not None:
                self.growing.drop(name)

    def pass_over(self, line: int, *, whole: bool) -> None:
        """Count a line that is no object."""
        if whole:
            self.strange += 1
            self.first_strange = self.first_strange or line
        else:
            self.torn = line

    def findings(self) -> Iterator[Finding]:
        """What was irregular."""
        yield from self.growing.findings()
        if self.without:
            yield Finding(self.path, f"{counted(self.without, 'row')} without a step")
        if self.strange:
            message = (
                f"{counted(self.strange, 'line that is no JSON object', 'lines that are no JSON objects')}"
            )
            yield Finding(self.path, f"{message}: left out", self.first_strange)
        if self.torn:
            message = (
                "the last line is torn: the writer was killed, or still writes; those before it are read"
            )
            yield Finding(self.path, message, self.torn)


def _is_nested(data: bytes) -> bool:
    return any(_nests(line) for line in data.decode(errors="replace").split("\n"))


def _nests(line: str) -> bool:
    """Whether a line is or begins an object with a step and numbers in objects within, not beside them."""
    item = beginning(line) if line.startswith("{") else None
    if not item or not any(number(item.get(name)) is not None for name in _STEPS):
        return False
    if any(key not in _BESIDE and number(cell) is not None for key, cell in item.items()):
        return False
    inner = {key: value for key, value in item.items() if isinstance(value, dict)}
    return any(number(cell) is not None for _, cell in leaves(inner))


def _milliseconds(cell: object) -> float | None:
    """A cell as milliseconds since 1970 UTC: seconds, milliseconds, or a date and time of ISO 8601."""
    value = number(cell)
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
