"""Console logs of trainers: verl, rllm, OpenRLHF, transformers, Megatron and others that print alike.

SCHEMA: see ``console_lines`` for the lines and ``console_config`` for what verl prints before them. All other
lines of a log, and there are many, are none of our business and no fault.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding, Logged, Unit, UnreadableError
from reportgen.read.loggers.console_config import PrintedConfig
from reportgen.read.loggers.console_lines import WORTH_A_LOOK, goes_on, told_by, without_colours
from reportgen.read.loggers.growing import Growing
from reportgen.read.loggers.settings_beside import flattened
from reportgen.read.loggers.text_file import Decoding, head, lines, size
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.loggers.console_lines import Told

NAME: Final = "console"
TITLE: Final = "Console logs of trainers"

_ENDINGS: Final = frozenset((".log", ".txt", ".out", ".err"))
# Before the first step stand pages of configuration and warnings, and a line of a step has a few thousand
# characters: windows all over the file, and the whole of a small one.
_WINDOW: Final = 16 << 10
_WINDOWS: Final = 16
_STEP, _EPOCH = "step", "epoch"


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every text file that tells steps at its beginning, at its end or at places between."""
    return tuple(
        Unit(NAME, file, (file,)) for file in files if file.suffix.lower() in _ENDINGS and _tells_steps(file)
    )


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """The run of a file.

    Raises:
        UnreadableError: no line of it tells a step.
    """
    (path,) = unit.files
    log = _Log(path, wanted)
    for place, raw in lines(path):
        *pieces, last = raw.split(b"\r")
        for piece in pieces:
            log.take(piece, place)
        log.take(last, place, whole=raw.endswith(b"\n"))
    log.let_go()
    log.finish_bar()
    values, step_name = log.chosen()
    if not values.lines:
        advice = (
            "verl writes step:1 - loss:0.5, OpenRLHF Global step 1: {…}, transformers {'loss': …, 'epoch': …}"
        )
        raise UnreadableError(path, "no line of it tells the values of a step", advice)
    trainer = log.config.tree.get("trainer")
    name, group = (_text(trainer, key) for key in ("experiment_name", "project_name"))
    config = flattened(log.config.tree)
    findings = (*values.findings(path), *log.findings())
    yield Logged(path, name, "", group, config, values.growing.points(), step_name, findings)


@dataclass(slots=True)
class _Values:
    """The values that lines of one kind told so far.

    Attributes:
        lines: how many there were.
        commas: values with a comma as their decimal mark.
        broken: lines that end in the middle, and the first of them.
        back: how often the step was smaller than the one before, and in which line first.
        again: lines by epoch that told a metric at the epoch of the line before, and the first of them.
    """

    growing: Growing
    lines: int = 0
    commas: int = 0
    broken: int = 0
    first_broken: int | None = None
    step: float = -math.inf
    names: frozenset[str] = frozenset()
    back: int = 0
    first_back: int | None = None
    again: int = 0
    first_again: int | None = None

    def take(self, told: Told, line: int) -> None:
        """Take the values of a line."""
        self.lines += 1
        self.commas += told.commas
        if told.broken:
            self.broken += 1
            self.first_broken = self.first_broken or line
        if told.step < self.step:
            self.back += 1
            self.first_back = self.first_back or line
        if told.by_epoch:
            names = frozenset(name for name, _ in told.values)
            if told.step == self.step and names & self.names:
                self.again += 1
                self.first_again = self.first_again or line
            self.names = names | (self.names if told.step == self.step else frozenset())
        self.step = told.step
        for name, value in told.values:
            self.growing.add(name, told.step, value)
        for name in told.wrong:
            self.growing.drop(name)

    def findings(self, path: Path) -> Iterator[Finding]:
        """What was irregular."""
        yield from self.growing.findings()
        if self.commas:
            message = f"{counted(self.commas, 'value')} with a decimal comma: read as decimals"
            yield Finding(path, message)
        if self.broken:
            found = counted(self.broken, "line of a step breaks off", "lines of steps break off")
            message = f"{found} before a value, as in text copied from a terminal: what follows is not read"
            yield Finding(path, message, self.first_broken)
        if self.back:
            times = counted(self.back, "time")
            message = f"the steps go back {times}: the run was resumed, or another one began in the same file"
            yield Finding(path, message, self.first_back)
        if self.again:
            same = counted(self.again, "line has", "lines have")
            message = f"{same} the epoch of the line before: the Trainer rounds epochs and prints no steps"
            yield Finding(path, f"{message}; its trainer_state.json has both", self.first_again)


class _Log:
    """What was met in a log so far."""

    def __init__(self, path: Path, wanted: Collection[str] | None) -> None:
        self.config = PrintedConfig()
        self._path = path
        self._by_step, self._by_epoch, self._by_bar = (_Values(Growing(path, wanted)) for _ in range(3))
        self._bar: Told | None = None
        # The last line of a step and its number, until it is known whether the next one goes on with it.
        self._held: tuple[Told, int] | None = None
        # Pieces of lines by epoch, and the first of them.
        self._pieces = 0
        self._first_piece: int | None = None
        self._torn: int | None = None
        self._decoding = Decoding(path)

    def take(self, piece: bytes, line: int, *, whole: bool = True) -> None:
        """Take a line, or one of the texts that were written over each other in it."""
        looked = WORTH_A_LOOK.search(piece)
        told = told_by(without_colours(self._decoding.text(piece, line))) if looked else None
        if self._held and piece.strip():
            self.let_go(half=not told and goes_on(piece.decode(errors="replace")))
        if told and not whole and not told.bar:
            self._torn = line
        elif told:
            self._take(told, line)
            if piece.rstrip().endswith((b"}", b"|")):
                self.let_go()
        # The configuration stands before the first step.
        if (not told or math.isnan(told.step)) and not self.config.tree and not self._by_step.lines:
            self._take_config(piece)

    def let_go(self, *, half: bool = False) -> None:
        """Take the values of the last line of a step, the last of them only if it is no half one."""
        if self._held:
            told, line = self._held
            if half and not told.broken:
                told = replace(told, values=told.values[:-1], broken=True)
            self._by_step.take(told, line)
        self._held = None

    def _take_config(self, piece: bytes) -> None:
        if self.config.waits or b"{'" in piece:
            self.config.take(without_colours(piece.decode(errors="replace")))

    def _take(self, told: Told, line: int) -> None:
        if told.bar:
            # A bar is drawn again and again: the numbers belong to the last step that they are shown at.
            if self._bar and self._bar.bar != told.bar:
                self.finish_bar()
            self._bar = told
        elif math.isnan(told.step):
            self._pieces += 1
            self._first_piece = self._first_piece or line
        elif told.by_epoch:
            self._by_epoch.take(told, line)
        else:
            self._held = told, line

    def finish_bar(self) -> None:
        """Take the numbers of a bar that will not be drawn again."""
        if self._bar:
            self._by_bar.take(self._bar, 0)
        self._bar = None

    def chosen(self) -> tuple[_Values, str]:
        """The values of the log, and what its steps are."""
        # Where lines tell the steps, bars only repeat some of their numbers.
        if self._by_step.lines or not self._by_epoch.lines:
            return self._by_step if self._by_step.lines else self._by_bar, _STEP
        return self._by_epoch, _EPOCH

    def findings(self) -> Iterator[Finding]:
        """What was irregular beside the values."""
        if self._by_step.lines and self._by_epoch.lines:
            message = (
                f"{counted(self._by_epoch.lines, 'line')} with an epoch and no step, beside those with one"
            )
            yield Finding(self._path, f"{message}: left out")
        elif self._pieces and self._by_epoch.lines:
            pieces = counted(self._pieces, "piece of a line", "pieces of lines")
            message = f"{pieces} of the Trainer's, as where a progress bar was written between: left out"
            yield Finding(self._path, message, self._first_piece)
        if self._torn:
            message = (
                "the last line is torn: the writer was killed, or still writes; those before it are read"
            )
            yield Finding(self._path, message, self._torn)
        yield from self._decoding.findings()


def _tells_steps(file: Path) -> bool:
    """Whether a step is told in a small file, or in one of the windows over a large one."""
    length = size(file)
    if length <= _WINDOW * _WINDOWS:
        return _told_in(head(file, length))
    places = (place * (length - _WINDOW) // (_WINDOWS - 1) for place in range(_WINDOWS))
    return any(_told_in(head(file, _WINDOW, place)) for place in places)


def _told_in(data: bytes) -> bool:
    if not WORTH_A_LOOK.search(data):
        return False
    pieces = data.replace(b"\r", b"\n").split(b"\n")
    found = (piece.decode(errors="replace") for piece in pieces if WORTH_A_LOOK.search(piece))
    return any((told := told_by(without_colours(line))) and told.values for line in found)


def _text(tree: Any, key: str) -> str:  # noqa: ANN401 - whatever was printed
    value: object = tree.get(key) if isinstance(tree, dict) else None
    return value if isinstance(value, str) else ""
