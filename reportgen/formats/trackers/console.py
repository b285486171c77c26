"""Console logs of trainers: verl, rllm, OpenRLHF, transformers, Megatron and others that print similar lines.

SCHEMA: volcengine/verl, verl/utils/logger/aggregate_logger.py (rllm prints the same): ``step:12 -
actor/kl_loss:0.01 - …``, values as Python writes them. Before training, verl prints its configuration as a
Python dict over many lines (verl/trainer/main_ppo.py: ``pprint(OmegaConf.to_container(config,
resolve=True))``); only its literals are read, and nothing is executed. OpenRLHF/OpenRLHF,
openrlhf/trainer/ppo_trainer.py: ``Global step 12: {'policy_loss': 0.01, …}``; its other trainers put the
numbers into a tqdm progress bar: ``Train step of epoch 0:  50%|…| 3/6 [01:02<01:02, …, kl=0.1]``.
NVIDIA/Megatron-LM, megatron/training/training.py, and nearly the same in nanotron: ``iteration 10/ 100 | lm
loss: 1.0E+00 | …`` and ``validation loss at iteration 10 on test set | lm loss value: 1.0E+00 | …``, which
becomes ``test/lm loss value`` here. pytorch/torchtune, torchtune/training/metric_logging.py: ``Step 1 |
loss:1.5 lr:2e-05``. huggingface/transformers, src/transformers/trainer_callback.py, ``PrinterCallback`` and
``ProgressCallback``, prints no step: ``{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch':
0.01}``, values since version 5 as texts of four digits: ``{'loss': '0.5', 'epoch': '0.01'}``.
modelscope/ms-swift, swift/trainers/callback.py, adds ``'global_step/max_steps': '10/1000'``, in its Megatron
trainers ``'iteration': '10/1000'``. All other lines of a log are ignored without a finding; logs of other
programs are read by ``format: lines``.
"""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.core.words import format_count
from reportgen.formats.cells import is_other_number
from reportgen.formats.decode import LOG_ENDINGS, TORN_LINE, Count, Decoder, read_head, read_lines
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import as_mapping
from reportgen.formats.run_data import MetricsBuilder, flatten, parse_number_text, quote_metric
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


# In every line that has numbers, and in few others. The first letters of all alternatives come first: without
# them matching takes 50% longer.
_SIGN: Final = re.compile(
    rb"(?=[slETiS'])(?:step:\d+ - |lobal[_ ]step \d+|Episode \[\d|Train step of epoch \d|"
    rb"iteration:? +\d+[^|]{0,40}\||Step \d+ \| |'(?:epoch|global_step/max_steps|iteration)': )"
)
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
_DICT_PAIR: Final = re.compile(
    r"""'([^']+)':\ ('[^']*'|"[^"]*"|\[[^\[\]]*\]|[\w.]+\([^()]*\)|[^,'"(){}\[\]]+)(?=,\ '|\}$)""", re.VERBOSE
)
_STEPS: Final = ("global_step/max_steps", "iteration")
_OF_ALL: Final = re.compile(r"(\d{1,15})/\d+")
# The rest of a line that a terminal wrapped: the end of a name or number, and mostly more of them.
_REST: Final = re.compile(
    r"(?:[^\s:|]*:)?[-+\d.einfa]* ?- [^:|]+: ?[-+\dni]|[-+]?[\d.]+(?:[eE][-+]?\d+)?$", re.ASCII
)
# A number as numpy and torch write it: np.float64(0.5).
_WRAPPED: Final = re.compile(r"[\w.]+\(([^(),]+)(?:,[^()]*)?\)")
_TRUTH: Final = {"True": 1.0, "False": 0.0}
_HEAD: Final = 8 << 20
_STEP, _EPOCH, _BAR = "step", "epoch", "bar"  # what steps are, the best first: bars only repeat some numbers


class _Line(Struct, frozen=True):
    """Values of a line as texts."""

    kind: str
    step: float
    pairs: Sequence[tuple[str, str]]
    bar: str = ""  # the progress bar that shows them


def _parse_line(line: str) -> _Line | None:
    """Parse a line without colours; return None if it has no values."""
    if match := _BY_KEY.search(line):
        return _Line(_STEP, int(match[1]), _split_at_dashes(line[match.end() :].partition(" [repeated ")[0]))
    if match := _BY_DICT.search(line):
        return _Line(_STEP, int(match[1]), _PAIR.findall(line, match.end()))
    if match := _BY_BAR.search(line):
        before = int(match["episode"]) - 1 if match["episode"] else int(match["epoch"])
        step = before * int(match["all"]) + int(match["done"])
        return _Line(_BAR, step, _split_pairs(match["shown"].split(", "), "="), match["bar"] + match["shown"])
    if match := _BY_PIPES.search(line):
        prefix = f"{match['set'] or 'validation'}/" if match["valid"] else ""
        pairs = _split_pairs(line[match.end() :].split("|"), ":", prefix)
        return _Line(_STEP, int(match["step"]), pairs)
    if match := _BY_SPACES.match(line):
        return _Line(_STEP, int(match[1]), _split_pairs(line[match.end() :].split(), ":"))
    return _parse_dict_line(line)


def _parse_dict_line(line: str) -> _Line | None:
    """Parse a dict with a step or an epoch."""
    # Checking for the end avoids matching each of many starts up to the end of the line.
    dictionary = _DICT.search(line) if line.endswith("}") else None
    cells = {
        name: text.strip("'\"") for name, text in _DICT_PAIR.findall(dictionary[1] if dictionary else "")
    }
    for name in _STEPS:
        if part := _OF_ALL.fullmatch(cells.get(name, "")):
            del cells[name]
            return _Line(_STEP, int(part[1]), [*cells.items()])
    epoch = parse_number_text(cells.pop("epoch", ""))
    return None if epoch is None else _Line(_EPOCH, epoch, [*cells.items()])


def _split_at_dashes(rest: str) -> list[tuple[str, str]]:
    """Return names and values: the value follows the last colon, and a name may contain a dash."""
    pairs, begun = list[tuple[str, str]](), list[str]()
    for part in rest.split(" - "):
        name, colon, value = part.rpartition(":")
        if colon:
            pairs.append((" - ".join((*begun, name)).strip(), value))
            begun = []
        else:
            begun.append(part)
    return pairs


def _split_pairs(texts: Iterable[str], sign: str, prefix: str = "") -> list[tuple[str, str]]:
    pairs = (text.rpartition(sign) for text in texts)
    return [(prefix + name.strip(), value) for name, found, value in pairs if found]


def _parse_value(text: str) -> float | None:
    text = text.strip()
    wrapped = _WRAPPED.fullmatch(text)
    return parse_number_text(wrapped[1]) if wrapped else _TRUTH.get(text, parse_number_text(text))


# Ray's prefix, which names the process.
_WHO: Final = re.compile(r"^(\([^()]*pid=\d+[^()]*\))\s")
_LONGEST: Final = 1 << 20
# The configuration has nested groups; a dict of numbers on one line is something else.
_FEWEST_GROUPS: Final = 2


class _PrintedConfig:
    """Configuration that a log prints over many lines; ``tree`` is empty until its end was read."""

    def __init__(self) -> None:
        self.tree: Mapping[str, Any] = {}
        self._who = self._text = ""
        self._open = 0

    def add_line(self, line: str) -> None:
        """Read a line without colours, unless another process wrote it in between."""
        prefix = _WHO.match(line)
        who, text = (prefix[1], line[prefix.end() :]) if prefix else ("", line)
        if not self._text and text.lstrip().startswith("{'"):
            self._who, self._open = who, 0
        elif not self._text or who != self._who:
            return
        self._text += f"{text.strip()}\n"
        self._open += text.count("{") - text.count("}")
        if self._open <= 0:
            try:
                tree = as_mapping(ast.literal_eval(self._text))
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                tree = {}
            groups = sum(isinstance(value, dict) for value in tree.values())
            self.tree = tree if groups >= _FEWEST_GROUPS else {}
        if self._open <= 0 or len(self._text) > _LONGEST:
            self._text = ""


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return every text file that shows steps at its beginning, behind its configuration and warnings."""
    units = []
    for file in files:
        text = read_head(file, _HEAD) if get_ending(file) in LOG_ENDINGS else b""
        pieces = (piece for piece in text.replace(b"\r", b"\n").split(b"\n") if _SIGN.search(piece))
        if any(found and found.pairs for found in map(_parse_piece, pieces)):
            units.append(Unit(file, (file,)))
    return tuple(units)


def _parse_piece(piece: bytes) -> _Line | None:
    return _parse_line(_ANSI.sub("", piece.decode(errors="replace")).rstrip())


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a file."""
    (path,) = unit.files
    log = _Log(path, {kind: _Values(MetricsBuilder(path, unit.selected)) for kind in (_STEP, _EPOCH, _BAR)})
    for number, line in read_lines(path):
        *pieces, last = line.split(b"\r")  # texts that overwrite each other
        for piece in pieces:
            log.add_piece(piece, number)
        log.add_piece(last, number, whole=line.endswith(b"\n"))
    log.complete_bar()
    kind = next((kind for kind, values in log.values.items() if values.lines), "")
    if not kind:
        advice = (
            "verl writes step:1 - loss:0.5, OpenRLHF Global step 1: {…}, transformers {'loss': …, 'epoch': …}"
        )
        raise UnreadableError(path, "no line has the values of a step", advice)
    tree = log.config.tree
    texts = (as_mapping(tree.get("trainer")).get(key) for key in ("experiment_name", "project_name"))
    name, group = (text if isinstance(text, str) else "" for text in texts)
    values, step_name = log.values[kind], _EPOCH if kind == _EPOCH else _STEP
    findings = (*values.list_findings(path), *log.list_findings(kind))
    yield LoggedRun(path, name, "", group, flatten(tree), values.builder.build(), step_name, findings)


class _Values(Struct):
    """Values of the lines of one kind."""

    builder: MetricsBuilder
    lines: int = 0
    step: float = -math.inf
    names: set[str] = field(default_factory=set)  # of the values of this step so far
    back: Count = field(default_factory=Count)  # lines whose step is smaller than the previous one
    again: Count = field(default_factory=Count)  # lines that repeat a metric at an epoch

    def add(self, found: _Line, path: Path, line: int) -> None:
        self.lines += 1
        if found.step < self.step:
            self.back.add(line)
        names = {name for name, _ in found.pairs}
        if found.step != self.step:
            self.names = set()
        elif found.kind == _EPOCH and names & self.names:
            self.again.add(line)
        self.step, self.names = found.step, self.names | names
        for name, text in found.pairs:
            value = _parse_value(text)
            if value is None and is_other_number(text):
                message = f"{text.strip()} in {quote_metric(name)} is not written as a program writes numbers"
                raise UnreadableError(path, message, "Write it with a decimal point", line)
            if value is None:
                self.builder.count_dropped(name)
            else:
                self.builder.add(name, found.step, value)

    def list_findings(self, path: Path) -> Iterator[Diagnostic]:
        yield from self.builder.list_findings()
        if back := self.back.number:
            times = format_count(back, "time")
            message = f"the steps go back {times}: the run was resumed, or another one began in the same file"
            yield warn(path, message, self.back.line)
        rest = " the epoch of the line before: the Trainer rounds epochs and prints no steps"
        rest += "; its trainer_state.json has both"
        yield from self.again.describe(path, "line has", "lines have", rest)


class _Log:
    """Values of a log by kind, and its configuration."""

    def __init__(self, path: Path, values: Mapping[str, _Values]) -> None:
        self.config, self.values = _PrintedConfig(), values
        self._path, self._decoding = path, Decoder(path)
        self._bar: _Line | None = None
        self._torn: int | None = None
        self._continues = False  # whether the line before is one that a terminal may have wrapped

    def add_piece(self, piece: bytes, line: int, *, whole: bool = True) -> None:
        """Read a line, or one of the texts in it that overwrite each other."""
        has_sign = _SIGN.search(piece)
        text = self._decoding.decode(piece, line) if has_sign else piece.decode(errors="replace")
        text = _ANSI.sub("", text).rstrip()
        found = _parse_line(text) if has_sign else None
        if self._continues and text and not found and _REST.match(text.strip()):
            message = "the line goes on in the next one, as in text that was copied from a terminal"
            advice = "Let the program write its output to a file, or join the lines"
            raise UnreadableError(self._path, message, advice, line - 1)
        self._continues = bool(found and found.kind == _STEP and not text.endswith(("}", "|")))
        if found and found.bar:
            # A bar is redrawn repeatedly: the numbers belong to the last step that they are shown with.
            if self._bar and self._bar.bar != found.bar:
                self.complete_bar()
            self._bar = found
        elif found and not whole:
            self._torn = line
        elif found:
            self.values[found.kind].add(found, self._path, line)
        elif not self.config.tree and not self.values[_STEP].lines:
            self.config.add_line(text)

    def complete_bar(self) -> None:
        """Add the values of the last bar."""
        if self._bar:
            self.values[_BAR].add(self._bar, self._path, 0)
        self._bar = None

    def list_findings(self, kind: str) -> Iterator[Diagnostic]:
        """Yield the irregularities of a log whose values are of one kind."""
        if kind == _STEP:
            rest = " with an epoch and no step, among others with a step: left out"
            yield from Count(self.values[_EPOCH].lines).describe(self._path, "line", "lines", rest)
        if self._torn:
            yield warn(self._path, TORN_LINE, self._torn)
        yield from self._decoding.list_findings()
