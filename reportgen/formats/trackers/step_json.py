"""JSON Lines of trainers: a step, and the metrics of that step nested or next to it.

SCHEMA: volcengine/verl, verl/utils/tracking.py, class ``FileLogger``: a line is ``{"step": n, "data":
{"actor/lr": …}}``, newer ones with ``elapsed_seconds`` next to the step. Others group by phase: ``{"step": n,
"train": {"loss": …}, "eval": {"acc": …}}``. Nested names are joined by ``/``; ``data`` and ``metrics`` only
wrap and add no name. Lines of two trainers are flat. modelscope/ms-swift, swift/trainers/callback.py:
``{"loss": 2.1, "epoch": 0.3, "global_step/max_steps": "5/16"}``, with Megatron ``"iteration": "5/16"``.
hiyouga/LLaMA-Factory, src/llamafactory/train/callbacks.py: ``{"current_steps": 5, "total_steps": 16, "loss":
2.1}``. All other flat JSON Lines are a table, which ``tables/json_tables`` reads.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from reportgen.formats.cells import convert_unix_time
from reportgen.formats.decode import TORN_LINE, Count, Decoder, check_filled, find_unfilled, read_lines
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import iterate_cells, parse_beginning, parse_object, read_head_text
from reportgen.formats.run_data import MetricsBuilder, number_or_nan, parse_number, parse_time
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.run_data import Row


_ENDINGS: Final = frozenset((".jsonl", ".ndjson", ".json", ".log"))
# Step names of ms-swift and LLaMA-Factory; in the former a step is a text such as "10/500".
_OF_ALL: Final = ("global_step/max_steps", "current_steps")
_STEPS: Final = (*_OF_ALL, "step", "_step", "global_step", "iteration", "iter", "epoch")
_TIMES: Final = ("timestamp", "_timestamp", "time", "ts")
_WRAPPERS: Final = frozenset(("data", "metrics"))
# Numbers next to the metrics that are not metrics; any other number there is one, as in a table.
_NO_METRICS: Final = frozenset((*_STEPS, *_TIMES, "elapsed_seconds"))
# Names of a run, of which a file has one; an id may change when it is resumed.
_NAMES: Final = ("model", "method", "algorithm", "run", "run_name", "seed")
_PART: Final = re.compile(r"([0-9]{1,15})/[0-9]+")
# Bytes of lines that are read at once, so that the objects fit a processor's cache.
_AT_ONCE: Final = 3 << 16


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return files that start with a step and numbers in a nested object, then those that are still empty."""
    own = [
        file
        for file in files
        if get_ending(file) in _ENDINGS and any(map(_is_nested_line, read_head_text(file).split("\n")))
    ]
    return tuple(Unit(file, (file,)) for file in (*own, *find_unfilled(files, set(own))))


def _is_nested_line(line: str) -> bool:
    """Return whether a line starts an object with a step, and with numbers only in nested objects.

    A step with a name that only certain trainers use is enough.
    """
    item = parse_beginning(line) if line.startswith("{") else None
    if not item or not any(_is_step(item.get(name)) for name in _STEPS):
        return False
    # A step of two numbers, "5/16", does not occur in a table.
    if any(key in item for key in _OF_ALL) or "/" in str(item.get("iteration")):
        return True
    if any(key not in _NO_METRICS and parse_number(cell) is not None for key, cell in item.items()):
        return False
    inner = {key: value for key, value in item.items() if isinstance(value, dict)}
    return any(parse_number(cell) is not None for _, cell in iterate_cells(inner))


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a file."""
    (path,) = unit.files
    decoding, builder = Decoder(path), MetricsBuilder(path, unit.selected, timed=True)
    strange, without, torn, step_name = Count(), Count(), None, ""
    rows: list[Row] = []
    names: dict[str, object] = {}
    words = _Words()
    length = 0
    for number, line in read_lines(path):
        if not line.strip():
            continue
        item = parse_object(decoding.decode(line, number))
        if item is not None:
            step_name = step_name or next((name for name in _STEPS if _is_step(item.get(name))), "")
            _check_names(item, names, path)
            rows.append(_split_row(item, step_name))
            words.add(item, rows[-1][0])
            without.number += math.isnan(rows[-1][0])
        elif line.endswith(b"\n"):
            strange.add(number)
        else:
            torn = number
        length += len(line)
        if length > _AT_ONCE:
            builder.add_rows(rows, _WRAPPERS)
            rows, length = [], 0
    builder.add_rows(rows, _WRAPPERS)
    if not step_name:
        check_filled(path)
        raise UnreadableError(path, "no line of it is a JSON object with a step", "Look at its first lines")
    words.check(path)
    findings = [*builder.list_findings(), *without.describe(path, "row", "rows", " without a step")]
    one, many = "line that is no JSON object", "lines that are no JSON objects"
    findings += strange.describe(path, one, many, ": left out")
    if torn:
        findings.append(warn(path, TORN_LINE, torn))
    findings += decoding.list_findings()
    step_name = "step" if step_name in _OF_ALL else step_name
    yield LoggedRun(path, "", "", "", {}, builder.build(), step_name, tuple(findings))


class _Words:
    """Words next to nested metrics, such as a split, of which most steps have several."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._held: dict[tuple[str, float], tuple[str, set[tuple[str, str]]]] = {}
        self._mixed: dict[str, list[tuple[str, str, float]]] = defaultdict(list)

    def add(self, item: Mapping[str, Any], step: float) -> None:
        """Add the words of a line, and those that share a metric and step with other ones."""
        texts = {key: cell for key, cell in item.items() if isinstance(cell, str) and key not in _NO_METRICS}
        metrics = {(outer, name) for outer, one in item.items() if isinstance(one, dict) for name in one}
        for key, cell in texts.items() if metrics else ():
            self._counts[key][cell] += 1
            word, held = self._held.setdefault((key, step), (cell, {*metrics}))
            if word == cell:
                held |= metrics
            elif not held.isdisjoint(metrics):
                self._mixed[key].append((word, cell, step))

    def check(self, path: Path) -> None:
        """Raise if the second word of a step stands beside the first as a rule, not where a run resumed."""
        for key, mixed in self._mixed.items():
            first, second, step = mixed[0]
            if 2 * len(mixed) > self._counts[key][second] > 1:
                reason = f'its lines of step {step:g} have two values of a metric, which differ in "{key}" '
                reason += f"({first} and {second})"
                raise UnreadableError(path, reason, "Write a file for each, or name metrics by it")


def _check_names(item: Mapping[str, Any], names: dict[str, object], path: Path) -> None:
    """Raise if a line is of another run than those before it, whose names it adds to."""
    for key in _NAMES:
        cell = item.get(key)
        if isinstance(cell, str | int) and names.setdefault(key, cell) != cell:
            reason = f'its lines are of several runs: "{key}" is {names[key]} in one and {cell} in another'
            raise UnreadableError(path, reason, "Write a file for each run")


def _split_row(item: Mapping[str, Any], step_name: str) -> Row:
    """Return step, time and metrics of an object; NaN if it has no step or time."""
    # The first cell that is a time since 1970, as a number or in ISO 8601.
    times = (_parse_time(cell) for cell in map(item.get, _TIMES))
    time = next((one for one in times if not math.isnan(one)), math.nan)
    skipped = {step_name} if math.isnan(time) else {step_name, *_TIMES}
    step = _parse_step(item.get(step_name))
    cells = {key: value for key, value in item.items() if key not in skipped}
    return math.nan if step is None else step, time, cells


def _parse_time(cell: object) -> float:
    number = parse_number(cell)
    return number_or_nan(parse_time(cell)) if number is None else convert_unix_time(number)


def _parse_step(cell: object) -> float | None:
    """Parse a step: a number, or the first of two such as ``"10/500"``."""
    of_all = _PART.fullmatch(cell) if isinstance(cell, str) else None
    return float(of_all[1]) if of_all else parse_number(cell)


def _is_step(cell: object) -> bool:
    return _parse_step(cell) is not None
