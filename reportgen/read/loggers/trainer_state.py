"""The state that the Hugging Face Trainer keeps of a run, with everything that it logged.

SCHEMA: huggingface/transformers, src/transformers/trainer_callback.py, class ``TrainerState``: a JSON object
whose ``log_history`` is a list of objects, each with ``step``, mostly ``epoch``, and what was logged there.
Python writes NaN and infinities bare. A checkpoint's file holds everything since the start of training, so
of a folder of checkpoints the newest whole file is read. TRL (DPO, GRPO) logs through the same Trainer.
"""

from __future__ import annotations

import gc
import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding, Logged, Unit, UnreadableError
from reportgen.read.loggers.json_objects import after_gap
from reportgen.read.loggers.json_rows import gather
from reportgen.read.loggers.settings_beside import flattened, settings_of
from reportgen.read.loggers.text_file import Decoding, head, whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.logged import Setting

NAME: Final = "trainer_state"
TITLE: Final = "Hugging Face trainer_state.json"

_FILE: Final = "trainer_state.json"
_CHECKPOINT: Final = re.compile(r"(?:tmp-)?checkpoint[-_](\d+)")
_HISTORY: Final = re.compile(rb'"log_history"\s*:\s*\[')
_TEXT_HISTORY: Final = re.compile(r'"log_history"\s*:\s*\[')
# The model's config.json is no setting of the run.
_SETTINGS: Final = re.compile(
    r"((train(ing|er)?_)?arg(ument)?s|train(ing|er)?_config|run_config|h?params)\.json"
)
# What a run was told to do, among what it has done.
_TOLD: Final = (
    *("max_steps", "num_train_epochs", "train_batch_size", "logging_steps", "eval_steps", "save_steps"),
    "trial_name",
)


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Runs: each folder of checkpoints, and every other file with a ``log_history``."""
    runs: dict[Path, list[Path]] = {}
    settings: dict[Path, list[Path]] = {}
    for file in files:
        if file.suffix == ".json" and _is_state(file):
            runs.setdefault(_run_of(file), []).append(file)
        elif _SETTINGS.fullmatch(file.name):
            settings.setdefault(file.parent, []).append(file)
    return tuple(_unit(path, states, settings) for path, states in runs.items())


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """The run of a unit.

    Raises:
        UnreadableError: no file of it has a history.
    """
    states = [file for file in unit.files if not _SETTINGS.fullmatch(file.name)]
    path, text, state, findings = _newest_whole(states)
    if state is None:
        rows, torn = _rows_before_the_tear(path, text)
        state = {"log_history": rows}
        findings = [torn, *findings]
    history = state.get("log_history")
    if not isinstance(history, list):
        raise UnreadableError(path, "it has no list log_history", "Check that the Trainer wrote this file")
    config: dict[str, Setting] = {}
    for file in unit.files:
        if file not in states:
            found, told = settings_of(file)
            config, findings = config | found, [*findings, *told]
    config |= flattened({name: state.get(name) for name in _TOLD})
    config |= flattened(state.get("trial_params"))
    metrics, told = gather(path, history, wanted)
    trial = state.get("trial_name")
    name = trial if isinstance(trial, str) else ""
    yield Logged(unit.path, name, "", "", config, metrics, "step", (*findings, *told))


def _is_state(file: Path) -> bool:
    return file.name == _FILE or bool(_HISTORY.search(head(file)))


def _run_of(file: Path) -> Path:
    """The folder of a run for a file that the Trainer named, otherwise the file itself."""
    if file.name != _FILE:
        return file
    return file.parent.parent if _CHECKPOINT.fullmatch(file.parent.name) else file.parent


def _unit(path: Path, states: list[Path], settings: dict[Path, list[Path]]) -> Unit:
    """A run with its settings: those beside its newest state, or beside the folder of checkpoints."""
    states = sorted(states, key=_progress, reverse=True)
    folders = dict.fromkeys((states[0].parent, path if states[0].name == _FILE else states[0].parent))
    beside = [file for folder in folders for file in settings.get(folder, ())]
    return Unit(NAME, path, (*states, *beside))


def _progress(file: Path) -> float:
    """How far training was: the state beside the checkpoints is written at the end."""
    found = _CHECKPOINT.fullmatch(file.parent.name)
    return int(found[1]) if found else float("inf")


def _newest_whole(
    states: Sequence[Path],
) -> tuple[Path, str, dict[str, Any] | None, list[Finding]]:
    """The state to read, with None where all are torn: then the first one's text is to be saved from."""
    texts: list[tuple[Path, str]] = []
    findings: list[Finding] = []
    best: tuple[Path, dict[str, Any], list[Finding]] | None = None
    for file in states:
        decoding = Decoding(file)
        text = decoding.text(whole(file))
        state = _parsed(text)
        if state is None:
            texts.append((file, text))
            findings.append(Finding(file, "the file is torn: it was cut off while it was written"))
            continue
        if best is None or _last_step(state) > _last_step(best[1]):
            best = file, state, list(decoding.findings())
        # A state beside checkpoints may be older than they are, where training went on after it.
        if _progress(file) <= _last_step(best[1]):
            break
    if best is None:
        path, text = texts[0]
        return path, text, None, findings[1:]
    kept = [
        Finding(finding.path, f"{finding.message}; {best[0].parent.name}/{best[0].name} is read instead")
        for finding in findings
    ]
    return best[0], "", best[1], [*kept, *best[2]]


def _last_step(state: dict[str, Any]) -> float:
    step = state.get("global_step")
    return step if isinstance(step, int) else -1


def _parsed(text: str) -> dict[str, Any] | None:
    with _without_collection():
        try:
            state = json.loads(text)
        except (ValueError, RecursionError):
            return None
    return state if isinstance(state, dict) else {}


def _rows_before_the_tear(path: Path, text: str) -> tuple[list[Any], Finding]:
    """The whole objects at the beginning of ``log_history``."""
    begin = _TEXT_HISTORY.search(text)
    rows: list[Any] = []
    at, decoder = begin.end() if begin else len(text), json.JSONDecoder()
    while True:
        try:
            row, at = decoder.raw_decode(text, after_gap(text, at))
        except (ValueError, RecursionError):
            break
        rows.append(row)
    if not rows:
        message = "the file is torn before the first values that were logged"
        raise UnreadableError(path, message, "Take the file of an earlier checkpoint")
    kept = "the 1 whole row before it is" if len(rows) == 1 else f"the {len(rows):,} whole rows before it are"
    message = f"the file is torn: it was cut off while it was written; {kept} read"
    return rows, Finding(path, message)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Millions of new objects, none of them garbage, are not worth looking through again and again."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
