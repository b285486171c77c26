"""One line of a trainer's console log: its step, and its numbers.

SCHEMA: volcengine/verl, verl/utils/logger/aggregate_logger.py (rllm prints the same):
``step:12 - actor/kl_loss:0.01 - …``, values as Python writes them. OpenRLHF/OpenRLHF,
openrlhf/trainer/ppo_trainer.py: ``Global step 12: {'policy_loss': 0.01, …}``; older versions and its other
trainers put the numbers into a progress bar of tqdm: ``Episode [1/2]:  50%|…| 3/6 [01:02<01:02, …, kl=0.1]``.
NVIDIA/Megatron-LM, megatron/training/training.py, and nearly the same in nanotron: ``iteration 10/ 100 | lm
loss: 1.0E+00 | …`` and ``validation loss at iteration 10 on test set | lm loss value: 1.0E+00 | …``, these
called ``test/lm loss value`` here. pytorch/torchtune, torchtune/training/metric_logging.py: ``Step 1 |
loss:1.5 lr:2e-05``. huggingface/transformers, src/transformers/trainer_callback.py, ``PrinterCallback`` and
``ProgressCallback``, prints no step: ``{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch':
0.01}``,
values since version 5 as texts of four digits: ``{'loss': '0.5', 'epoch': '0.01'}``. modelscope/ms-swift,
swift/trainers/callback.py, adds ``'global_step/max_steps': '10/1000'``, in its Megatron trainers
``'iteration': '10/1000'``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reportgen.formats.run_data import parse_number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
        x: the epoch, or the step where it has one; None for a piece of a line that was torn apart.
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


STEP_SIGN: Final = re.compile(
    # Letters that any of it begins with: without them it takes half as long again.
    rb"(?=[slETiS'])(?:step:\d+ - |lobal[_ ]step \d+|Episode \[\d|Train step of epoch \d|"
    rb"iteration:? +\d+[^|]{0,40}\||Step \d+ \| |" + DICT_SIGN + rb")"
)
"""Stands in every line that has numbers, and in few others."""

# Colours and movements of a terminal (ECMA-48, sections 5.3 to 5.6), and titles of its window.
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_BY_KEY: Final = re.compile(r"(?:^|[\s)\]|>])step:(\d{1,15}) - (?=\S)")
_BY_DICT: Final = re.compile(r"[Gg]lobal[_ ]step (\d{1,15})\b[^{]{0,80}\{(?=['\"])")
_BY_BAR: Final = re.compile(
    r"(?P<bar>Episode \[(?P<episode>\d{1,15})/\d+\]|Train step of epoch (?P<epoch>\d{1,15})):\s*\d+%\|[^|]*\|"
    # Brackets end them: many beginnings without an end would each be looked at up to the end of the line.
    r"\s*(?P<done>\d{1,15})/(?P<all>\d{1,15}) \[[^\[\],]*,[^\[\],]*, (?P<shown>[^\[\]=]*=[^\[\]]*)\]"
)
_BY_PIPES: Final = re.compile(
    r"(?P<valid>validation loss at )?\biteration:? +(?P<step>\d{1,15})"
    r"(?(valid)(?: on (?P<set>\w+) set)?| */ *\d+) *\|"
)
_BY_SPACES: Final = re.compile(r"Step (\d{1,15}) \| (?=[^\s:]+:\S)")
_PAIR: Final = re.compile(r"""['"]([^'"]+)['"]: ((?:[\w.]+\()?[-+\w.]+\)?)(?=[,}])""")
# The rest of a line that a terminal broke: the end of a name or number, and mostly more of them.
_REST: Final = re.compile(
    r"(?:[^\s:|]*:)?[-+\d.einfa]* ?[-|] [^:|]+: ?[-+\dni]|[-+]?[\d.]+(?:[eE][-+]?\d+)?$", re.ASCII
)
# Ray's mark of lines that it shows once.
_REPEATED: Final = re.compile(r"\[repeated \d+x [^\]]*\]\s*")
# How numpy and torch write a number: np.float64(0.5).
_WRAPPED: Final = re.compile(r"[\w.]+\(([^(),]+)(?:,[^()]*)?\)")
_WITH_COMMA: Final = re.compile(r"[-+]?\d[\d.]*(?:,\d[\d.]*)+(?:[eE][-+]?\d+)?")
_WITH_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+\.\d+")
_WORDS: Final = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True, slots=True)
class LineValues:
    """The values of a line.

    Attributes:
        step: of all its values.
        values: names and numbers, in the order of writing.
        wrong: names whose values are no numbers.
        commas: how many values have a comma as their decimal mark.
        progress_bar: the progress bar that shows them, with its text; empty for a line that is printed once.
        broken: whether the line ends before the value of its last name: a terminal broke it in two.
        by_epoch: whether the step is an epoch; NaN for a piece of a line that a progress bar tore apart.
    """

    step: float
    values: tuple[tuple[str, float], ...]
    wrong: tuple[str, ...]
    commas: int = 0
    progress_bar: str = ""
    broken: bool = False
    by_epoch: bool = False


def strip_colours(text: str) -> str:
    """A line as a reader sees it."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def is_continuation(line: str) -> bool:
    """Whether a line looks like the rest of a line of a step, which then ends in half a name or number."""
    return _REST.match(line.strip()) is not None


def parse_line(line: str) -> LineValues | None:
    """The values of a line without colours; None where it is any other line."""
    if match := _BY_KEY.search(line):
        mark = line.rfind("[repeated ", match.end())
        end = mark if mark >= 0 and _REPEATED.fullmatch(line, mark) else len(line)
        return _parse_pairs(int(match[1]), list(_split_at_dashes(line[match.end() : end])))
    if match := _BY_DICT.search(line):
        return _parse_pairs(int(match[1]), _PAIR.findall(line, match.end()))
    if match := _BY_BAR.search(line):
        before = int(match["episode"]) - 1 if match["episode"] else int(match["epoch"])
        step = before * int(match["all"]) + int(match["done"])
        pairs = [pair.partition("=") for pair in match["shown"].split(", ")]
        shown = f"{match['bar']} {match['shown']}"
        return _parse_pairs(step, [(name.strip(), value) for name, _, value in pairs], shown)
    if match := _BY_PIPES.search(line):
        prefix = f"{match['set'] or 'validation'}/" if match["valid"] else ""
        return _parse_pairs(int(match["step"]), _split_at_colons(line[match.end() :].split("|"), prefix))
    if match := _BY_SPACES.match(line):
        return _parse_pairs(int(match[1]), _split_at_colons(line[match.end() :].split()))
    return _parse_epoch_line(line)


def _split_at_colons(texts: Iterable[str], prefix: str = "") -> list[tuple[str, str]]:
    pairs = (text.rpartition(":") for text in texts)
    return [(prefix + name.strip(), value) for name, colon, value in pairs if colon]


def _parse_epoch_line(line: str) -> LineValues | None:
    printed = parse_dict(line)
    if printed is None:
        return None
    values = _parse_pairs(math.nan if printed.x is None else printed.x, printed.pairs)
    return replace(values, by_epoch=printed.by_epoch)


def _parse_pairs(step: float, pairs: Iterable[tuple[str, str]], bar: str = "") -> LineValues:
    texts = [(name, value.strip()) for name, value in pairs]
    with_comma = [text for _, text in texts if "," in text and _WITH_COMMA.fullmatch(text)]
    # A value with a decimal point shows that commas part thousands.
    points = bool(with_comma) and any(
        ("." in text and parse_number_text(text) is not None) or _WITH_THOUSANDS.fullmatch(text)
        for _, text in texts
    )
    cells = [(name, _number(text, decimal_comma=not points)) for name, text in texts]
    values = tuple((name, value) for name, value in cells if value is not None)
    wrong = tuple(name for name, value in cells if value is None)
    broken = bool(texts) and not texts[-1][1]
    return LineValues(step, values, wrong, 0 if points else len(with_comma), bar, broken)


def _split_at_dashes(rest: str) -> Iterator[tuple[str, str]]:
    """Names and values: the value stands behind the last colon, and a name may hold a dash itself."""
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


def _number(text: str, *, decimal_comma: bool) -> float | None:
    value = parse_number_text(text)
    if value is not None:
        return value
    if wrapped := _WRAPPED.fullmatch(text):
        return parse_number_text(wrapped[1])
    if _WITH_COMMA.fullmatch(text):
        if decimal_comma and text.count(",") == 1:
            return parse_number_text(text.replace(".", "").replace(",", "."))
        return parse_number_text(text.replace(",", ""))
    return _WORDS.get(text)
