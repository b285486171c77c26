"""Console logs of trainers: verl, rllm, OpenRLHF, transformers, Megatron and others that print similar lines.

SCHEMA: volcengine/verl, verl/utils/logger/aggregate_logger.py (rllm prints the same): ``step:12 -
actor/kl_loss:0.01 - …``, values as Python writes them. Before training, verl prints its configuration as a
Python dict over many lines (verl/trainer/main_ppo.py: ``pprint(OmegaConf.to_container(config,
resolve=True))``); only its literals are read, and nothing is executed. OpenRLHF/OpenRLHF,
openrlhf/trainer/ppo_trainer.py: ``Global step 12: {'policy_loss': 0.01, …}``; older versions and its other
trainers put the numbers into a tqdm progress bar: ``Episode [1/2]:  50%|…| 3/6 [01:02<01:02, …, kl=0.1]``.
NVIDIA/Megatron-LM, megatron/training/training.py, and nearly the same in nanotron: ``iteration 10/ 100 | lm
loss: 1.0E+00 | …`` and ``validation loss at iteration 10 on test set | lm loss value: 1.0E+00 | …``, which
becomes ``test/lm loss value`` here. pytorch/torchtune, torchtune/training/metric_logging.py: ``Step 1 |
loss:1.5 lr:2e-05``. huggingface/transformers, src/transformers/trainer_callback.py, ``PrinterCallback`` and
``ProgressCallback``, prints no step: ``{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch':
0.01}``, values since version 5 as texts of four digits: ``{'loss': '0.5', 'epoch': '0.01'}``.
modelscope/ms-swift, swift/trainers/callback.py, adds ``'global_step/max_steps': '10/1000'``, in its Megatron
trainers ``'iteration': '10/1000'``. All other lines of a log are ignored without a finding.
"""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.words import format_count
from reportgen.formats.decode import (
    LOG_ENDINGS,
    TORN_LINE,
    Count,
    Decoder,
    get_size,
    read_head,
    read_lines,
)
from reportgen.formats.files import get_compression, get_ending
from reportgen.formats.json_files import as_mapping
from reportgen.formats.run_data import MetricsBuilder, flatten, parse_number_text
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


_DICT_SIGN: Final = rb"'(?:epoch|global_step/max_steps|iteration)': "
STEP_SIGN: Final = re.compile(
    # The first letters of all alternatives: without them matching takes 50% longer.
    rb"(?=[slETiS'])(?:step:\d+ - |lobal[_ ]step \d+|Episode \[\d|Train step of epoch \d|"
    rb"iteration:? +\d+[^|]{0,40}\||Step \d+ \| |" + _DICT_SIGN + rb")"
)
"""Pattern in every line that has numbers, and in few others."""

# Colours and cursor movements of a terminal (ECMA-48, sections 5.3 to 5.6), and window titles.
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_BY_KEY: Final = re.compile(r"(?:^|[\s)\]|>])step:(\d{1,15}) - (?=\S)")
_BY_DICT: Final = re.compile(r"[Gg]lobal[_ ]step (\d{1,15})\b[^{]{0,80}\{(?=['\"])")
_BY_BAR: Final = re.compile(
    r"(?P<bar>Episode \[(?P<episode>\d{1,15})/\d+\]|Train step of epoch (?P<epoch>\d{1,15})):\s*\d+%\|[^|]*\|"
    # Brackets end the groups: otherwise many unclosed starts would each be matched up to the end of the line.
    r"\s*(?P<done>\d{1,15})/(?P<all>\d{1,15}) \[[^\[\],]*,[^\[\],]*, (?P<shown>[^\[\]=]*=[^\[\]]*)\]"
)
_BY_PIPES: Final = re.compile(
    r"(?P<valid>validation loss at )?\biteration:? +(?P<step>\d{1,15})"
    r"(?(valid)(?: on (?P<set>\w+) set)?| */ *\d+) *\|"
)
_BY_SPACES: Final = re.compile(r"Step (\d{1,15}) \| (?=[^\s:]+:\S)")
_PAIR: Final = re.compile(r"""['"]([^'"]+)['"]: ((?:[\w.]+\()?[-+\w.]+\)?)(?=[,}])""")
# After an unfinished progress bar or a process name, but not within a logger's line.
_DICT: Final = re.compile(r"(?:^|[\])]:?)\s*(\{'.*\})$")
_DICT_TAIL: Final = re.compile(r"[^{}]*\}")
_DICT_HEAD: Final = re.compile(r"(?:^|[\])]:?)\s*\{'[^{}]*$")
_DICT_PAIR: Final = re.compile(
    r"""'([^']+)':\ ('[^']*'|"[^"]*"|\[[^\[\]]*\]|[\w.]+\([^()]*\)|[^,'"(){}\[\]]+)(?=,\ '|\}$)""", re.VERBOSE
)
_STEPS: Final = ("global_step/max_steps", "iteration")
_OF_ALL: Final = re.compile(r"(\d{1,15})/\d+")
# The rest of a line that a terminal wrapped: the end of a name or number, and mostly more of them.
_REST: Final = re.compile(
    r"(?:[^\s:|]*:)?[-+\d.einfa]* ?[-|] [^:|]+: ?[-+\dni]|[-+]?[\d.]+(?:[eE][-+]?\d+)?$", re.ASCII
)
# Ray's mark for lines that it shows once.
_REPEATED: Final = re.compile(r"\[repeated \d+x [^\]]*\]\s*")
# A number as numpy and torch write it: np.float64(0.5).
_WRAPPED: Final = re.compile(r"[\w.]+\(([^(),]+)(?:,[^()]*)?\)")
_WITH_COMMA: Final = re.compile(r"[-+]?\d[\d.]*(?:,\d[\d.]*)+(?:[eE][-+]?\d+)?")
_WITH_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+\.\d+")


class LineValues(Struct, frozen=True):
    """Values of a line."""

    step: float  # of all its values; NaN for part of a line that a progress bar interrupted
    values: tuple[tuple[str, float], ...]
    wrong: tuple[str, ...]  # names whose values are not numbers
    commas: int = 0  # number of values with a decimal comma
    # The progress bar that shows them, with its text; empty for a line that is printed once.
    progress_bar: str = ""
    # Whether the line ends before the value of its last name, since a terminal wrapped it.
    broken: bool = False
    by_epoch: bool = False  # whether the step is an epoch


def strip_colours(text: str) -> str:
    """Remove terminal escape sequences from a line."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def parse_line(line: str) -> LineValues | None:
    """Parse a line without colours; return None if it has no values."""
    if match := _BY_KEY.search(line):
        mark = line.rfind("[repeated ", match.end())
        end = mark if mark >= 0 and _REPEATED.fullmatch(line, mark) else len(line)
        return _parse_pairs(int(match[1]), _split_at_dashes(line[match.end() : end]))
    if match := _BY_DICT.search(line):
        return _parse_pairs(int(match[1]), _PAIR.findall(line, match.end()))
    if match := _BY_BAR.search(line):
        before = int(match["episode"]) - 1 if match["episode"] else int(match["epoch"])
        step = before * int(match["all"]) + int(match["done"])
        shown = [pair.partition("=") for pair in match["shown"].split(", ")]
        pairs = [(name.strip(), value) for name, _, value in shown]
        return replace(_parse_pairs(step, pairs), progress_bar=f"{match['bar']} {match['shown']}")
    if match := _BY_PIPES.search(line):
        prefix = f"{match['set'] or 'validation'}/" if match["valid"] else ""
        return _parse_pairs(int(match["step"]), _split_at_colons(line[match.end() :].split("|"), prefix))
    if match := _BY_SPACES.match(line):
        return _parse_pairs(int(match[1]), _split_at_colons(line[match.end() :].split()))
    return _parse_dict_line(line.rstrip())


def _split_at_dashes(rest: str) -> Iterator[tuple[str, str]]:
    """Yield names and values: the value follows the last colon, and a name may contain a dash."""
    name_parts: list[str] = []
    for part in rest.split(" - "):
        name, colon, value = part.rpartition(":")
        if colon:
            yield " - ".join((*name_parts, name)).strip(), value
            name_parts = []
        elif name_parts or part:
            name_parts.append(part)
    if name_parts:
        yield " - ".join(name_parts), ""


def _split_at_colons(texts: Iterable[str], prefix: str = "") -> Iterator[tuple[str, str]]:
    pairs = (text.rpartition(":") for text in texts)
    return ((prefix + name.strip(), value) for name, colon, value in pairs if colon)


def _parse_dict_line(line: str) -> LineValues | None:
    """Parse a dict with an epoch or step; part of an interrupted one has no values."""
    # Checking for the end avoids matching each of many starts up to the end of the line.
    match = _DICT.search(line) if line.endswith("}") else None
    if not match:
        torn = _DICT_TAIL.fullmatch(line) or _DICT_HEAD.search(line)
        return LineValues(math.nan, (), (), by_epoch=True) if torn else None
    cells = {name: text.strip("'\"") for name, text in _DICT_PAIR.findall(match[1])}
    for name in _STEPS:
        if step := _OF_ALL.fullmatch(cells.get(name, "")):
            del cells[name]
            return _parse_pairs(int(step[1]), cells.items())
    epoch = parse_number_text(cells.pop("epoch", ""))
    return None if epoch is None else replace(_parse_pairs(epoch, cells.items()), by_epoch=True)


def _parse_pairs(step: float, pairs: Iterable[tuple[str, str]]) -> LineValues:
    texts = [(name, value.strip()) for name, value in pairs]
    with_comma = [text for _, text in texts if "," in text and _WITH_COMMA.fullmatch(text)]
    # A value with a decimal point shows that commas separate thousands.
    points = bool(with_comma) and any(
        ("." in text and parse_number_text(text) is not None) or _WITH_THOUSANDS.fullmatch(text)
        for _, text in texts
    )
    values: list[tuple[str, float]] = []
    wrong: list[str] = []
    for name, text in texts:
        value = parse_number_text(text)
        if value is None and (wrapped := _WRAPPED.fullmatch(text)):
            value = parse_number_text(wrapped[1])
        elif value is None and _WITH_COMMA.fullmatch(text):
            is_decimal = not points and text.count(",") == 1
            plain = text.replace(".", "").replace(",", ".") if is_decimal else text.replace(",", "")
            value = parse_number_text(plain)
        elif value is None:
            value = {"True": 1.0, "False": 0.0}.get(text)
        if value is None:
            wrong.append(name)
        else:
            values.append((name, value))
    broken = bool(texts) and not texts[-1][1]
    commas = 0 if points else len(with_comma)
    return LineValues(step, tuple(values), tuple(wrong), commas, broken=broken)


# Ray's prefix, which names the process.
_WHO: Final = re.compile(r"^(\([^()]*pid=\d+[^()]*\))\s")
_LONGEST: Final = 1 << 20
_MOST_LINES: Final = 5_000
# The configuration has nested groups; a dict of numbers on one line is something else.
_FEWEST_GROUPS: Final = 2


class PrintedConfig:
    """Reader of a log's lines up to the end of its configuration; until then ``tree`` is empty."""

    def __init__(self) -> None:
        self.tree: Mapping[str, Any] = {}
        self._who = ""
        self._lines: list[str] = []
        self._length = self._open = 0

    @property
    def is_open(self) -> bool:
        """Whether the start was read, but not the end."""
        return bool(self._lines)

    def add_line(self, line: str) -> None:
        """Read a line without colours, unless another process wrote it in between."""
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
            try:
                tree = ast.literal_eval("\n".join(self._lines))
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                tree = None
            groups = [value for value in as_mapping(tree).values() if isinstance(value, dict)]
            self.tree = tree if len(groups) >= _FEWEST_GROUPS else self.tree
            self._lines = []
        elif self._length > _LONGEST or len(self._lines) > _MOST_LINES:
            self._lines = []


# Pages of configuration and warnings precede the first step, and the line of a step has a few thousand
# characters: read windows all over a large file, and all of a small one.
_WINDOW: Final = 16 << 10
_WINDOWS: Final = 16


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return every text file that shows steps at its start, at its end or in between."""
    units = []
    for file in files:
        if get_ending(file) not in LOG_ENDINGS:
            continue
        length = get_size(file)
        windows = [(_WINDOW * _WINDOWS, 0)]
        if length > _WINDOW * _WINDOWS and not get_compression(file):
            windows = [(_WINDOW, index * (length - _WINDOW) // (_WINDOWS - 1)) for index in range(_WINDOWS)]
        texts = (read_head(file, size, start).replace(b"\r", b"\n") for size, start in windows)
        pieces = (piece for text in texts for piece in text.split(b"\n") if STEP_SIGN.search(piece))
        lines = (parse_line(strip_colours(piece.decode(errors="replace"))) for piece in pieces)
        if any(values and values.values for values in lines):
            units.append(Unit(file, (file,)))
    return tuple(units)


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a file."""
    (path,) = unit.files
    log = _Log(path, unit.selected)
    for number, line in read_lines(path):
        *pieces, last = line.split(b"\r")
        for piece in pieces:
            log.add_line(piece, number)
        log.add_line(last, number, whole=line.endswith(b"\n"))
    log.complete_step()
    log.complete_bar()
    # If lines have steps, bars only repeat some of their numbers.
    values, step_name = log.by_step, "step"
    if not log.by_step.lines:
        values, step_name = (log.by_epoch, "epoch") if log.by_epoch.lines else (log.by_bar, "step")
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


class _Values(Struct):
    builder: MetricsBuilder
    lines: int = 0
    commas: Count = field(default_factory=Count)  # values with a decimal comma
    step: float = -math.inf
    names: frozenset[str] = frozenset()
    broken: Count = field(default_factory=Count)  # lines that end in the middle
    back: Count = field(default_factory=Count)  # lines whose step is smaller than the previous one
    # Lines by epoch that repeat a metric of the previous line at the same epoch.
    again: Count = field(default_factory=Count)

    def add_line(self, values: LineValues, line: int) -> None:
        self.lines += 1
        self.commas.number += values.commas
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

    def list_findings(self, path: Path) -> Iterator[Diagnostic]:
        yield from self.builder.list_findings()
        yield from self.commas.describe(path, "value", "values", " with a decimal comma: read as decimals")
        rest = " before a value, as in text copied from a terminal: what follows is not read"
        one, many = "line of a step breaks off", "lines of steps break off"
        yield from self.broken.describe(path, one, many, rest)
        if back := self.back.number:
            times = format_count(back, "time")
            message = f"the steps go back {times}: the run was resumed, or another one began in the same file"
            yield warn(path, message, self.back.line)
        rest = " the epoch of the line before: the Trainer rounds epochs and prints no steps"
        rest += "; its trainer_state.json has both"
        yield from self.again.describe(path, "line has", "lines have", rest)


class _Log:
    def __init__(self, path: Path, selected: Collection[str] | None) -> None:
        self.config = PrintedConfig()
        self.by_step, self.by_epoch, self.by_bar = (_Values(MetricsBuilder(path, selected)) for _ in range(3))
        self._path = path
        self._bar: LineValues | None = None
        # The last line of a step and its number, until it is known whether the next line continues it.
        self._last: tuple[LineValues, int] | None = None
        self._pieces = Count()  # parts of lines by epoch
        self._torn: int | None = None
        self._decoding = Decoder(path)

    def add_line(self, piece: bytes, line: int, *, whole: bool = True) -> None:
        """Read a line, or one of the texts in it that overwrite each other."""
        has_sign = STEP_SIGN.search(piece)
        values = parse_line(strip_colours(self._decoding.decode(piece, line))) if has_sign else None
        if self._last and piece.strip():
            is_rest = not values and _REST.match(piece.decode(errors="replace").strip())
            self.complete_step(half=bool(is_rest))
        if values and values.progress_bar:
            # A bar is redrawn repeatedly: the numbers belong to the last step that they are shown with.
            if self._bar and self._bar.progress_bar != values.progress_bar:
                self.complete_bar()
            self._bar = values
        elif values and not whole:
            self._torn = line
        elif values and math.isnan(values.step):
            self._pieces.add(line)
        elif values and values.by_epoch:
            self.by_epoch.add_line(values, line)
        elif values:
            self._last = values, line
            if piece.rstrip().endswith((b"}", b"|")):
                self.complete_step()
        # The configuration precedes the first step.
        before_steps = (not values or math.isnan(values.step)) and not self.by_step.lines
        if before_steps and not self.config.tree and (self.config.is_open or b"{'" in piece):
            self.config.add_line(strip_colours(piece.decode(errors="replace")))

    def complete_step(self, *, half: bool = False) -> None:
        """Add the values of the last line of a step, except for the last value if it was cut in two."""
        if self._last:
            values, line = self._last
            if half and not values.broken:
                values = replace(values, values=values.values[:-1], broken=True)
            self.by_step.add_line(values, line)
        self._last = None

    def complete_bar(self) -> None:
        if self._bar:
            self.by_bar.add_line(self._bar, 0)
        self._bar = None

    def list_findings(self) -> Iterator[Diagnostic]:
        if self.by_step.lines and self.by_epoch.lines:
            rest = " with an epoch and no step, among others with a step: left out"
            yield from Count(self.by_epoch.lines).describe(self._path, "line", "lines", rest)
        elif self.by_epoch.lines:
            rest = " of the Trainer's, as where a progress bar was written between: left out"
            yield from self._pieces.describe(self._path, "piece of a line", "pieces of lines", rest)
        if self._torn:
            yield warn(self._path, TORN_LINE, self._torn)
        yield from self._decoding.list_findings()
