"""Console logs of reinforcement learning trainers: verl, rllm and OpenRLHF.

SCHEMA: see ``console_lines`` for the lines and ``console_config`` for what verl prints before them. All other
lines of a log, and there are many, are none of our business and no fault.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding, Logged, Unit, UnreadableError
from reportgen.read.loggers.console_config import PrintedConfig
from reportgen.read.loggers.console_lines import WORTH_A_LOOK, told_by, without_colours
from reportgen.read.loggers.growing import Growing
from reportgen.read.loggers.settings_beside import flattened
from reportgen.read.loggers.text_file import Decoding, head, lines, size
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.loggers.console_lines import Told

NAME: Final = "console"
TITLE: Final = "Console logs of verl, rllm and OpenRLHF"

_ENDINGS: Final = frozenset((".log", ".txt", ".out", ".err"))
# Before the first step stand pages of configuration and warnings, and a line of a step has a few thousand
# characters: windows all over the file, and the whole of a small one.
_WINDOW: Final = 16 << 10
_WINDOWS: Final = 16
_STEP: Final = "step"


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
    log = _Log(path, Growing(path, wanted), Growing(path, wanted))
    for place, raw in lines(path):
        *pieces, last = raw.split(b"\r")
        for piece in pieces:
            log.take(piece, place)
        log.take(last, place, whole=raw.endswith(b"\n"))
    log.finish_bar()
    if not log.told:
        advice = "verl and rllm write step:1 - loss:0.5, OpenRLHF writes Global step 1: {…}"
        raise UnreadableError(path, "no line of it tells the values of a step", advice)
    # Where lines tell the steps, bars only repeat some of their numbers.
    growing = log.from_lines if log.by_line else log.from_bars
    findings = (*growing.findings(), *log.findings())
    trainer = log.config.tree.get("trainer")
    name, group = (_text(trainer, key) for key in ("experiment_name", "project_name"))
    config = flattened(log.config.tree)
    yield Logged(path, name, "", group, config, growing.points(), _STEP, findings)


@dataclass(slots=True)
class _Log:
    """What was met in a log so far.

    Attributes:
        told: lines that told values; by_line those that are no progress bar.
        commas: values with a comma as their decimal mark.
        broken: lines that end in the middle, and the first of them.
        back: how often the step was smaller than the one before, and in which line first.
        torn: the last line, if it told values and has no end.
    """

    path: Path
    from_lines: Growing
    from_bars: Growing
    config: PrintedConfig = field(default_factory=PrintedConfig)
    told: int = 0
    by_line: int = 0
    commas: int = 0
    broken: int = 0
    first_broken: int | None = None
    step: float = -math.inf
    back: int = 0
    first_back: int | None = None
    torn: int | None = None
    bar: Told | None = None
    decoding: Decoding = field(init=False)

    def __post_init__(self) -> None:
        self.decoding = Decoding(self.path)

    def take(self, piece: bytes, line: int, *, whole: bool = True) -> None:
        """Take a line, or one of the texts that were written over each other in it."""
        if WORTH_A_LOOK.search(piece):
            told = told_by(without_colours(self.decoding.text(piece, line)))
            if told and not whole and not told.bar:
                self.torn = line
            elif told:
                self._take(told, line)
        elif not self.config.tree and (self.config.waits or b"{'" in piece):
            self.config.take(without_colours(piece.decode(errors="replace")))

    def _take(self, told: Told, line: int) -> None:
        self.told += 1
        if told.bar:
            # A bar is drawn again and again: the numbers belong to the last step that they are shown at.
            if self.bar and self.bar.bar != told.bar:
                self.finish_bar()
            self.bar = told
            return
        self.by_line += 1
        self.commas += told.commas
        if told.broken:
            self.broken += 1
            self.first_broken = self.first_broken or line
        if told.step < self.step:
            self.back += 1
            self.first_back = self.first_back or line
        self.step = told.step
        _put(told, self.from_lines)

    def finish_bar(self) -> None:
        """Put the numbers of a bar that will not be drawn again."""
        if self.bar:
            _put(self.bar, self.from_bars)
        self.bar = None

    def findings(self) -> Iterator[Finding]:
        """What was irregular."""
        if self.commas:
            message = f"{counted(self.commas, 'value')} with a decimal comma: read as decimals"
            yield Finding(self.path, message)
        if self.broken:
            found = counted(self.broken, "line of a step breaks off", "lines of steps break off")
            message = f"{found} before a value, as in text copied from a terminal: what follows is not read"
            yield Finding(self.path, message, self.first_broken)
        if self.back:
            times = counted(self.back, "time")
            message = f"the steps go back {times}: the run was resumed, or another one began in the same file"
            yield Finding(self.path, message, self.first_back)
        if self.torn:
            message = (
                "the last line is torn: the writer was killed, or still writes; those before it are read"
            )
            yield Finding(self.path, message, self.torn)
        yield from self.decoding.findings()


def _put(told: Told, growing: Growing) -> None:
    for name, value in told.values:
        growing.add(name, told.step, value)
    for name in told.wrong:
        growing.drop(name)


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
