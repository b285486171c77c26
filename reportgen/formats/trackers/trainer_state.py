"""State of a run saved by the Hugging Face Trainer, including everything that it logged.

SCHEMA: huggingface/transformers, src/transformers/trainer_callback.py, class ``TrainerState``: a JSON object
whose ``log_history`` is a list of objects, each with ``step``, mostly ``epoch``, and the values logged there.
Python writes NaN and infinities bare. A checkpoint's file holds everything since the start of training, so
the newest whole file in a folder of checkpoints is read. TRL (DPO, GRPO) logs through the same Trainer.
"""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct

from reportgen.formats.decode import Count, Decoder, report_left_out
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import JsonListItems, parse_object, parse_or_none, read_head_text
from reportgen.formats.run_data import MetricsBuilder, flatten, number_or_nan, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn
from reportgen.settings.text import CONFLICT, find_conflict_marks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import Points, Setting


_STEP: Final = "step"
# Few enough rows to stay in the processor's cache between parsing and counting.
_MANY: Final = 1024
_FILE: Final = "trainer_state.json"
# Some users rename them: checkpoint-500-epoch-2, checkpoint-best.
_CHECKPOINT: Final = re.compile(r"(?:tmp-)?checkpoint[-_](?:(\d+)|best|last|latest|final)(?:[-_].*)?")
_HISTORY: Final = re.compile(r'"log_history"\s*:\s*\[')
# The model's config.json has no settings of the run.
_SETTINGS: Final = re.compile(
    r"((train(ing|er)?_)?arg(ument)?s|train(ing|er)?_config|run_config|h?params)\.json"
)
_OTHER: Final = "the file holds other values at the same steps, as of another run in the same folder"
_TORN: Final = "the file is torn: its JSON breaks off in the middle"
_EMPTY: Final = "the file is empty"
# Settings of a run among its results.
_TRAINER_SETTINGS: Final = (
    *("max_steps", "num_train_epochs", "train_batch_size", "logging_steps", "eval_steps", "save_steps"),
    "trial_name",
)


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return runs: each folder of checkpoints, and every other file with a ``log_history``."""
    runs: dict[Path, list[Path]] = {}
    settings: dict[Path, list[Path]] = {}
    for file in files:
        if file.name == _FILE:
            in_checkpoint = _CHECKPOINT.fullmatch(file.parent.name)
            run = file.parent.parent if in_checkpoint else file.parent
            runs.setdefault(run, []).append(file)
        elif get_ending(file) == ".json" and _HISTORY.search(read_head_text(file)):
            runs.setdefault(file, []).append(file)
        elif _SETTINGS.fullmatch(file.name):
            settings.setdefault(file.parent, []).append(file)
    units = []
    for path, states in runs.items():
        states.sort(key=_measure_progress, reverse=True)
        # Settings are next to the newest state, or next to the folder of checkpoints.
        newest = states[0]
        folders = dict.fromkeys((newest.parent, path if newest.name == _FILE else newest.parent))
        settings_files = [file for folder in folders for file in settings.get(folder, ())]
        units.append(Unit(path, (*states, *settings_files)))
    return tuple(units)


def _measure_progress(file: Path) -> float:
    """Return how far training was: the state next to the checkpoints is written at the end."""
    match = _CHECKPOINT.fullmatch(file.parent.name)
    return int(match[1]) if match and match[1] else math.inf


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a unit."""
    states = [file for file in unit.files if not _SETTINGS.fullmatch(file.name)] or list(unit.files)
    state, findings = _choose_state(states, unit.selected)
    config: dict[str, Setting] = {}
    for file in (file for file in unit.files if file not in states):
        settings, problems = read_settings(file)
        config |= settings
        findings += problems
    config |= flatten({name: state.rest.get(name) for name in _TRAINER_SETTINGS})
    config |= flatten(state.rest.get("trial_params"))
    trial = state.rest.get("trial_name")
    name = trial if isinstance(trial, str) else ""
    yield LoggedRun(unit.path, name, "", "", config, state.metrics, _STEP, tuple(findings))


class _State(Struct, frozen=True):
    path: Path
    metrics: Mapping[str, Points]
    rows: int  # whole rows of its history
    rest: Mapping[str, Any]  # the state without its history; empty if the file is torn
    tear: str  # message if its JSON breaks off; empty if it is whole
    findings: tuple[Diagnostic, ...]

    @property
    def last_step(self) -> float:
        step = self.rest.get("global_step")
        return step if isinstance(step, int) else -1

    def is_different(self, later: _State) -> bool:
        """Return whether values differ from those of a later state before the steps do.

        A run that ended has a final row that a later state does not have.
        """
        for name in self.metrics.keys() & later.metrics.keys():
            points, others = self.metrics[name], later.metrics[name]
            length = min(len(points.steps), len(others.steps))
            unequal = np.flatnonzero(points.steps[:length] != others.steps[:length])
            same_steps = slice(unequal[0] if len(unequal) else length)
            if not np.array_equal(points.values[same_steps], others.values[same_steps], equal_nan=True):
                return True
        return False


def _choose_state(files: Sequence[Path], selected: Collection[str] | None) -> tuple[_State, list[Diagnostic]]:
    torn: list[_State] = []
    states: list[_State] = []
    refused: list[UnreadableError] = []
    for file in files:
        try:
            state = _read_state(file, selected)
        except UnreadableError as error:
            refused.append(error)
            continue
        (torn if state.tear else states).append(state)
        # A state next to checkpoints may be older than they are if training was continued after it.
        if states and _measure_progress(file) <= max(state.last_step for state in states):
            break
    if states:
        best = max(states, key=lambda state: state.last_step)
        instead = f"{best.path.parent.name}/{best.path.name} is read instead"
        findings = [report_left_out(error, instead) for error in refused]
        findings += [warn(state.path, f"{state.tear}; {instead}") for state in torn]
        different = (state for state in states if state.is_different(best))
        findings += [warn(state.path, f"{_OTHER}; {instead}") for state in different]
        return best, [*findings, *best.findings]
    part = next((state for state in torn if state.rows), None)
    if part is None and refused:
        raise refused[0]
    if part is None:
        before = "the file is torn before the first values that were logged"
        message = _EMPTY if torn[0].tear == _EMPTY else before
        raise UnreadableError(torn[0].path, message, "Take the file of an earlier checkpoint")
    remainder = "1 whole row before is" if part.rows == 1 else f"{part.rows:,} whole rows before are"
    findings = [report_left_out(error) for error in refused]
    return part, [*findings, warn(part.path, f"{part.tear}; the {remainder} read"), *part.findings]


def _read_state(path: Path, selected: Collection[str] | None) -> _State:
    """Read the state in a file; parse its history row by row, since all of it at once takes gigabytes."""
    decoding = Decoder(path)
    text = decoding.read_whole()
    begin = _HISTORY.search(text)
    items = JsonListItems(text, begin.end() if begin else len(text))
    builder, strange, without = MetricsBuilder(path, selected), 0, 0
    rows = iter(items)
    while many := list(islice(rows, _MANY)):
        objects = [row for row in many if isinstance(row, dict)]
        strange += len(many) - len(objects)
        without += sum(bool(row) and _STEP not in row for row in objects)
        builder.add_rows([(number_or_nan(row.pop(_STEP, None)), math.nan, row) for row in objects])
    one, several = "row that is no object", "rows that are no objects"
    findings = [*builder.list_findings(), *Count(strange).describe(path, one, several, ": left out")]
    findings += Count(without).describe(path, "row", "rows", " without a step")
    rest = parse_object(text[: begin.end()] + text[items.at :]) if begin and items.ended else None
    if rest is None and (marks := find_conflict_marks(text)):
        raise UnreadableError(path, *CONFLICT, marks[0])
    if begin is None and (parse_or_none(text) is not None or text.strip() == "null"):
        raise UnreadableError(path, "it has no list log_history", "Check that the Trainer wrote this file")
    tear = "" if rest is not None else _TORN if text.strip() else _EMPTY
    if rest and not items.count:
        findings = [warn(path, "its log_history is empty: the run logged nothing")]
    findings += decoding.list_findings()
    return _State(path, builder.build(), items.count, rest or {}, tear, tuple(findings))
