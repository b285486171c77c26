"""Text logs of any program, by patterns of the author's, as in ``step:{step}/{total} val_loss:{val_loss}``.

A name in braces is a number, ``{}`` is any text that is not read, and a space is any white space. All else
stands as it is, anywhere in a line. Lines that fit no pattern are no data.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.formats.decode import LOG_ENDINGS, TORN_LINE, Count, Decoder, check_filled, read_lines
from reportgen.formats.files import get_ending
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.run_data import MetricsBuilder, number_or_nan
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


_LONGEST: Final = 120  # of a line in a message
_MOST_PATTERNS: Final = 3
_FIELD: Final = re.compile(r"\{([^{}]*)\}")
# A whole number as Python prints it, and not the beginning of 1,000. Groups give back no character, so that a
# long line is searched once.
_NUMBER: Final = r"((?>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?|(?i:nan|inf(?:inity)?))))(?![.,]?\d)"
_WORD: Final = r"(\S{1,100}?)"
_NAMED_NUMBER: Final = re.compile(
    r"""(?:(?P<name>[A-Za-z][\w/.-]{0,60})["'\s:=]{1,9})?"""
    r"(?P<number>(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?%?|(?:nan|inf)(?=(?:[mn]?s)?\b)))(?![A-Za-z]*\d)"
)
# Colours and cursor movements of a terminal (ECMA-48, sections 5.3 to 5.6).
_ANSI: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class _Pattern(Struct, frozen=True):
    """Parts of a pattern between its ``{}``, each of which is found after the one before."""

    names: tuple[str, ...]  # of the numbers, in order
    parts: tuple[re.Pattern[str], ...]

    def match(self, line: str) -> dict[str, str] | None:
        """Return the texts of the fields of a line; None if it does not fit."""
        at, texts = 0, list[str]()
        for part in self.parts:
            match = part.search(line, at)
            if not match:
                return None
            texts += match.groups()
            at = match.end()
        return dict(zip(self.names, texts, strict=True))


def _compile(pattern: str, field: str) -> _Pattern:
    names: list[str] = []
    parts = [""]
    for index, text in enumerate(_FIELD.split(pattern.strip())):
        if index % 2 and not text:
            parts.append("")
        elif index % 2:
            names.append(text)
            parts[-1] += field
        else:
            parts[-1] += r"\s+".join(map(re.escape, re.split(r"\s+", text)))
    # Where a pattern begins, ends or leaves something out, a number is a whole word, and not 1.5 of 1.5k.
    whole = [
        r"(?<![\w.,+-])" * part.startswith(field) + part + r"(?!\w)" * part.endswith(field) for part in parts
    ]
    return _Pattern(tuple(names), tuple(re.compile(part) for part in whole if part))


def suggest_patterns(text: str) -> list[str]:
    """Return patterns of the lines of a log that name a step and another number, the most frequent first."""
    counts = Counter(filter(None, map(_suggest_pattern, text.splitlines())))
    found = [pattern for pattern, count in counts.most_common(_MOST_PATTERNS) if count > 1]
    return found or [*counts][:1]


def _suggest_pattern(line: str) -> str:
    matches = list(_NAMED_NUMBER.finditer(line))
    named = Counter(match["name"] for match in matches if match["name"])
    # In "train loss 4.1, val loss 4.2" the word before tells the two apart.
    own = [_name_number(line, match, is_shared=named[match["name"]] > 1) for match in matches]
    names = dict.fromkeys(filter(None, own))
    steps = [name for usual in ROLE_NAMES["step"] for name in names if name.lower() == usual]
    if not steps or len(names) == 1:
        return ""
    pattern, at = "", -1
    for match, first in zip(matches, own, strict=True):
        name = first if names.pop(first, "") is None else ""
        if name or at >= 0:  # nothing is needed of what stands before the first name
            before = line[match.start() if at < 0 else at : match.start("number")]
            pattern += f"{before}{{{'step' if name == steps[0] else name}}}"
            at = match.end()
    pattern += line[at:].partition(" ")[0] if line[at : at + 1].isalpha() else ""  # a unit
    # Braces in a line would be taken for a field.
    values = {} if {*"{}"} & {*_FIELD.sub("", pattern)} else _compile(pattern, _NUMBER).match(line)
    return " ".join(pattern.split()) if values and "step" in values else ""


def _name_number(line: str, match: re.Match[str], *, is_shared: bool) -> str:
    before = re.search(r"([A-Za-z]\w*)[ _-]$", line[: match.start()]) if is_shared else None
    return f"{before[1]}_{match['name']}" if before else match["name"] or ""


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return every text file: only ``format:`` leads here."""
    return tuple(Unit(file, (file,)) for file in files if get_ending(file) in LOG_ENDINGS)


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a file."""
    (path,) = unit.files
    builder, decoding = MetricsBuilder(path, unit.selected), Decoder(path)
    strange, back = Count(), Count()
    patterns = [(_compile(text, _NUMBER), _compile(text, _WORD)) for text in unit.lines]
    last, torn, sample = -1.0, 0, ""
    for number, line in read_lines(path):
        whole = line.endswith(b"\n")
        # A progress bar overwrites what it has shown.
        pieces = _ANSI.sub("", decoding.decode(line, number)).rstrip("\r\n").split("\r")
        if not len(builder):
            sample = next((piece for piece in pieces if any(map(str.isdigit, piece))), sample)
        for piece, (exact, loose) in ((piece, pair) for piece in pieces for pair in patterns):
            values = exact.match(piece)
            if values and whole:
                step = number_or_nan(values.pop("step"))
                if step < last:
                    back.add(number)
                last = step
                for name, text in values.items():
                    builder.add_cell(name, step, text)
            elif values:
                torn = number  # the number may be the beginning of another one
            elif loose.match(piece):
                strange.add(number)
    if not len(builder):
        check_filled(path)
        advice = (
            f'Write a line of it with names in braces for its numbers: "{shorten(sample.strip(), _LONGEST)}"'
        )
        raise UnreadableError(
            path, "no line of it fits what lines: in source.yml says", advice if sample else ""
        )
    yield LoggedRun(
        path,
        metrics=builder.build(),
        findings=(*_list_findings(path, strange, back, torn), *decoding.list_findings()),
    )


def _list_findings(path: Path, strange: Count, back: Count, torn: int) -> Iterator[Diagnostic]:
    one, many = "line fits the pattern but for a number", "lines fit the pattern but for a number"
    yield from strange.describe(path, one, many, ": left out")
    rest = ": the run was resumed, or another one began in the same file"
    yield from back.describe(path, "step is", "steps are", f" smaller than the one before{rest}")
    if torn:
        yield warn(path, TORN_LINE, torn)
