"""JSON Lines of trainers: a step, and the metrics of that step nested or beside it.

SCHEMA: volcengine/verl, verl/utils/tracking.py, class ``FileLogger``: a line is
``{"step": n, "data": {"actor/lr": …}}``, newer ones with ``elapsed_seconds`` beside the step. Others group by
phase: ``{"step": n, "train": {"loss": …}, "eval": {"acc": …}}``. Names within are joined by ``/``; ``data``
and ``metrics`` only wrap and add no name. Lines of two trainers are flat. modelscope/ms-swift,
swift/trainers/callback.py: ``{"loss": 2.1, "epoch": 0.3, "global_step/max_steps": "5/16"}``, with Megatron
``"iteration": "5/16"``. hiyouga/LLaMA-Factory, src/llamafactory/train/callbacks.py: ``{"current_steps": 5,
"total_steps": 16, "loss": 2.1}``. All other flat JSON Lines are a table, which ``read.json_lines`` reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import LoggedRun, Unit, UnreadableError
from reportgen.read.loggers.growing import parse_number
from reportgen.read.loggers.json_objects import iterate_cells, parse_beginning, parse_object
from reportgen.read.loggers.step_rows import OF_ALL, STEPS, TIMES, StepRows, parse_step
from reportgen.read.loggers.text_file import Decoder, check_filled, find_unfilled, read_head, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

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
