"""Console logs of trainers: verl, rllm, OpenRLHF, transformers, Megatron and others that print similar lines.

SCHEMA: see ``console_lines`` for the lines. Before training, verl prints its configuration as a Python
dict over many lines (volcengine/verl, verl/trainer/main_ppo.py: ``pprint(OmegaConf.to_container(config,
resolve=True))``);
only literals of it are read, and nothing runs. All other lines of a log, and there are many, are none of our
business and no fault.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.json_files import as_mapping
from reportgen.formats.run_data import MetricsBuilder, flatten
from reportgen.formats.runs import Finding, LoggedRun, Unit, UnreadableError
from reportgen.formats.text_files import TORN_LINE, Count, Decoder, get_size, read_head, read_lines
from reportgen.formats.trackers.console_lines import STEP_SIGN, is_continuation, parse_line, strip_colours

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.trackers.console_lines import LineValues


# Ray's prefix: who says it.
_WHO: Final = re.compile(r"^(\([^()]*pid=\d+[^()]*\))\s")
_LONGEST: Final = 1 << 20
_MOST_LINES: Final = 5_000
# The configuration nests its groups; a dict of numbers on one line is something else.
_FEWEST_GROUPS: Final = 2


class PrintedConfig:
    """Takes the lines of a log until a whole configuration was read; until then ``tree`` is empty."""

    def __init__(self) -> None:
        self.tree: Mapping[str, Any] = {}
        self._who = ""
        self._lines: list[str] = []
        self._length = 0
        self._open = 0

    @property
    def is_open(self) -> bool:
        """Whether the beginning was read, but not the end."""
        return bool(self._lines)

    def add_line(self, line: str) -> None:
        """Take a line without colours; one that another process wrote in between is left out."""
        prefix = _WHO.match(line)
        who, text = (prefix[1], line[prefix.end() :]) if prefix else ("", line)
        if not self._lines:
            if not text.lstrip().startswith("{'"):
                return
            self._who, self._length, self._open = who, 0, 0
        elif who != self._who:
            return
        self._lines.append(text.strip())
        self._length += len(text)
        self._open += text.count("{") - text.count("}")
        if self._open <= 0:
            self._parse()
        elif self._length > _LONGEST or len(self._lines) > _MOST_LINES:
            self._lines = []

    def _parse(self) -> None:
        try:
            tree = ast.literal_eval("\n".join(self._lines))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            tree = None
        self._lines = []
        if (
            isinstance(tree, dict)
            and sum(isinstance(value, dict) for value in tree.values()) >= _FEWEST_GROUPS
        ):
            self.tree = tree


NAME: Final = "console"
TITLE: Final = "Console logs of trainers"

_ENDINGS: Final = frozenset((".log", ".txt", ".out", ".err"))
# Before the first step stand pages of configuration and warnings, and a line of a step has a few thousand
# characters: windows all over the file, and the whole of a small one.
_WINDOW: Final = 16 << 10
_WINDOWS: Final = 16
_STEP, _EPOCH = "step", "epoch"


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every text file that shows steps at its beginning, at its end or at places between."""
    return tuple(
        Unit(NAME, file, (file,)) for file in files if file.suffix.lower() in _ENDINGS and _has_steps(file)
    )


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a file."""
    (path,) = unit.files
    log = _Log(path, selected)
    for place, raw in read_lines(path):
        *pieces, last = raw.split(b"\r")
        for piece in pieces:
            log.add_line(piece, place)
        log.add_line(last, place, whole=raw.endswith(b"\n"))
    log.complete_step()
    log.complete_bar()
    values, step_name = log.choose_values()
    if not values.lines:
        advice = (
            "verl writes step:1 - loss:0.5, OpenRLHF Global step 1: {…}, transformers {'loss': …, 'epoch': …}"
        )
        raise UnreadableError(path, "no line of it tells the values of a step", advice)
    trainer = as_mapping(log.config.tree.get("trainer"))
    texts = (trainer.get(key) for key in ("experiment_name", "project_name"))
    name, group = (text if isinstance(text, str) else "" for text in texts)
    config = flatten(log.config.tree)
    findings = (*values.list_findings(path), *log.list_findings())
    yield LoggedRun(path, name, "", group, config, values.builder.build(), step_name, findings)


@dataclass(slots=True)
class _Values:
    """The values of the lines of one kind so far.

    Attributes:
        lines: how many there were.
        commas: values with a comma as their decimal mark.
        broken: lines that end in the middle.
        back: lines whose step is smaller than the one before.
        again: lines by epoch with a metric of the line before at the same epoch.
    """

    builder: MetricsBuilder
    lines: int = 0
    commas: int = 0
    step: float = -math.inf
    names: frozenset[str] = frozenset()
    broken: Count = field(default_factory=Count)
    back: Count = field(default_factory=Count)
    again: Count = field(default_factory=Count)

    def add_line(self, values: LineValues, line: int) -> None:
        """Take the values of a line."""
        self.lines += 1
        self.commas += values.commas
        if values.broken:
            self.broken.add(line)
        if values.step < self.step:
            self.back.add(line)
        if values.by_epoch:
            names = frozenset(name for name, _ in values.values)
            if values.step == self.step and names & self.names:
                self.again.add(line)
            self.names = names | (self.names if values.step == self.step else frozenset())
        self.step = values.step
        for name, value in values.values:
            self.builder.add(name, values.step, value)
        for name in values.wrong:
            self.builder.count_dropped(name)

    def list_findings(self, path: Path) -> Iterator[Finding]:
        """What was irregular."""
        yield from self.builder.list_findings()
        if self.commas:
            message = f"{format_count(self.commas, 'value')} with a decimal comma: read as decimals"
            yield Finding(path, message)
        if broken := self.broken.number:
            lines = format_count(broken, "line of a step breaks off", "lines of steps break off")
            message = f"{lines} before a value, as in text copied from a terminal: what follows is not read"
            yield Finding(path, message, self.broken.line)
        if back := self.back.number:
            times = format_count(back, "time")
            message = f"the steps go back {times}: the run was resumed, or another one began in the same file"
            yield Finding(path, message, self.back.line)
        if again := self.again.number:
            same = format_count(again, "line has", "lines have")
            message = f"{same} the epoch of the line before: the Trainer rounds epochs and prints no steps"
            yield Finding(path, f"{message}; its trainer_state.json has both", self.again.line)


class _Log:
    """What was found in a log so far."""

    def __init__(self, path: Path, selected: Collection[str] | None) -> None:
        self.config = PrintedConfig()
        self._path = path
        self._by_step, self._by_epoch, self._by_bar = (
            _Values(MetricsBuilder(path, selected)) for _ in range(3)
        )
        self._bar: LineValues | None = None
        # The last line of a step and its number, until it is known whether the next one goes on with it.
        self._held: tuple[LineValues, int] | None = None
        self._pieces = Count()  # of lines by epoch
        self._torn: int | None = None
        self._decoding = Decoder(path)

    def add_line(self, piece: bytes, line: int, *, whole: bool = True) -> None:
        """Take a line, or one of the texts that were written over each other in it."""
        looked = STEP_SIGN.search(piece)
        values = parse_line(strip_colours(self._decoding.decode(piece, line))) if looked else None
        if self._held and piece.strip():
            self.complete_step(half=not values and is_continuation(piece.decode(errors="replace")))
        if values and not whole and not values.progress_bar:
            self._torn = line
        elif values:
            self._add_values(values, line)
            if piece.rstrip().endswith((b"}", b"|")):
                self.complete_step()
        # The configuration stands before the first step.
        before_steps = (not values or math.isnan(values.step)) and not self._by_step.lines
        if before_steps and not self.config.tree and (self.config.is_open or b"{'" in piece):
            self.config.add_line(strip_colours(piece.decode(errors="replace")))

    def complete_step(self, *, half: bool = False) -> None:
        """Take the values of the last line of a step, the last of them only if it is no half one."""
        if self._held:
            values, line = self._held
            if half and not values.broken:
                values = replace(values, values=values.values[:-1], broken=True)
            self._by_step.add_line(values, line)
        self._held = None

    def _add_values(self, values: LineValues, line: int) -> None:
        if values.progress_bar:
            # A bar is drawn again and again: the numbers belong to the last step that they are shown at.
            if self._bar and self._bar.progress_bar != values.progress_bar:
                self.complete_bar()
            self._bar = values
        elif math.isnan(values.step):
            self._pieces.add(line)
        elif values.by_epoch:
            self._by_epoch.add_line(values, line)
        else:
            self._held = values, line

    def complete_bar(self) -> None:
        """Take the numbers of a bar that will not be drawn again."""
        if self._bar:
            self._by_bar.add_line(self._bar, 0)
        self._bar = None

    def choose_values(self) -> tuple[_Values, str]:
        """The values of the log, and what its steps are."""
        # Where lines have steps, bars only repeat some of their numbers.
        if self._by_step.lines or not self._by_epoch.lines:
            return self._by_step if self._by_step.lines else self._by_bar, _STEP
        return self._by_epoch, _EPOCH

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular apart from the values."""
        if self._by_step.lines and self._by_epoch.lines:
            lines = format_count(self._by_epoch.lines, "line")
            message = f"{lines} with an epoch and no step, beside those with one: left out"
            yield Finding(self._path, message)
        elif self._pieces.number and self._by_epoch.lines:
            pieces = format_count(self._pieces.number, "piece of a line", "pieces of lines")
            message = f"{pieces} of the Trainer's, as where a progress bar was written between: left out"
            yield Finding(self._path, message, self._pieces.line)
        if self._torn:
            yield Finding(self._path, TORN_LINE, self._torn)
        yield from self._decoding.list_findings()


def _has_steps(file: Path) -> bool:
    """Whether a step stands in a small file, or in one of the windows over a large one."""
    length = get_size(file)
    if length <= _WINDOW * _WINDOWS:
        return _has_values(read_head(file, length))
    places = (place * (length - _WINDOW) // (_WINDOWS - 1) for place in range(_WINDOWS))
    return any(_has_values(read_head(file, _WINDOW, place)) for place in places)


def _has_values(data: bytes) -> bool:
    if not STEP_SIGN.search(data):
        return False
    pieces = data.replace(b"\r", b"\n").split(b"\n")
    found = (piece.decode(errors="replace") for piece in pieces if STEP_SIGN.search(piece))
    return any((values := parse_line(strip_colours(line))) and values.values for line in found)
