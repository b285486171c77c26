"""Dicts that a Trainer prints a line each: numbers by epoch, since it prints no step.

SCHEMA: huggingface/transformers, src/transformers/trainer_callback.py, ``PrinterCallback`` and
``ProgressCallback``: ``{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.01}``, values since
version 5 as texts of four digits: ``{'loss': '0.5', 'epoch': '0.01'}``. modelscope/ms-swift,
swift/trainers/callback.py, adds ``'global_step/max_steps': '10/1000'``, in its Megatron trainers
``'iteration': '10/1000'``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reportgen.read.loggers.growing import parse_number_text

DICT_SIGN: Final = rb"'(?:epoch|global_step/max_steps|iteration)': "

# Behind a progress bar that was not wiped away, or the name of a process, but not within a logger's line.
_DICT: Final = re.compile(r"(?:^|[\])]:?)\s*(\{'.*\})$")
_TAIL: Final = re.compile(r"[^{}]*\}")
_HEAD: Final = re.compile(r"(?:^|[\])]:?)\s*\{'[^{}]*$")
_DICT_PAIR: Final = re.compile(
    r"""'([^']+)':\ ('[^']*'|"[^"]*"|\[[^\[\]]*\]|[\w.]+\([^()]*\)|[^,'"(){}\[\]]+)(?=,\ '|\}$)""", re.VERBOSE
)
_STEPS: Final = ("global_step/max_steps", "iteration")
_OF_ALL: Final = re.compile(r"(\d{1,15})/\d+")
_EPOCH: Final = "epoch"


@dataclass(frozen=True, slots=True)
class PrintedDict:
    """A dict of a line.

    Attributes:
        x: the epoch, or the step where it tells one; None for a piece of a line that was torn apart.
        by_epoch: whether ``x`` is an epoch.
        pairs: names and values as texts, without what ``x`` is.
    """

    x: float | None
    by_epoch: bool = True
    pairs: tuple[tuple[str, str], ...] = ()


def parse_dict(line: str) -> PrintedDict | None:
    """The dict of a line without colours; None where there is none by epoch or step."""
    line = line.rstrip()
    # Without its end, each of many beginnings would be looked at up to the end of the line.
    found = _DICT.search(line) if line.endswith("}") else None
    if not found:
        return PrintedDict(None) if _TAIL.fullmatch(line) or _HEAD.search(line) else None
    cells = {name: text.strip("'\"") for name, text in _DICT_PAIR.findall(found[1])}
    for name in _STEPS:
        if step := _OF_ALL.fullmatch(cells.get(name, "")):
            del cells[name]
            return PrintedDict(int(step[1]), by_epoch=False, pairs=tuple(cells.items()))
    epoch = parse_number_text(cells.pop(_EPOCH, ""))
    return None if epoch is None else PrintedDict(epoch, pairs=tuple(cells.items()))
