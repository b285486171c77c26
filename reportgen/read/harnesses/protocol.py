"""How something was measured, in the keys of a source's ``protocol:`` where they fit.

The keys ``samples``, ``temperature``, ``top_p``, ``max_tokens``, ``prompt``, ``harness``, ``version``,
``grader`` and ``date`` mean what ``settings.source.Protocol`` says, and hold what it allows. Others are the
field's words as they are: ``task version``, ``few-shot``, ``limit``, ``dataset``, ``split``. ``SUBTASKS``
stands only where scores are means over other benchmarks, which are its value: such a benchmark is a group,
and has no problems of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reportgen.read.harnesses.documents import as_word, shorten_cell
from reportgen.read.harnesses.scoring import parse_count
from reportgen.read.logged import Finding
from reportgen.read.loggers.growing import parse_number
from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SUBTASKS: Final = "subtasks"
_FEW: Final = 3
_COUNT_KEYS: Final = frozenset(("samples", "max_tokens"))


def build_protocol(said: Mapping[str, object]) -> dict[str, str]:
    """What is said of a protocol as texts; what is missing, or not what its key allows, is left out."""
    texts = {key: _format_entry(key, value) for key, value in said.items()}
    return {key: text for key, text in texts.items() if text}


def warn_group_scores(path: Path, groups: Sequence[str]) -> Iterator[Finding]:
    """That some scores are means over others of the same file: together they count twice."""
    if groups:
        shown = join_names([shorten_cell(name) for name in groups], most=_FEW)
        each = "is a score" if len(groups) == 1 else "are scores"
        message = f"{shown} {each} over other benchmarks of this file, which count twice in a mean of all"
        yield Finding(path, message)


def _format_entry(key: str, value: object) -> str:
    if key in _COUNT_KEYS:
        count = parse_count(value)
        return "" if count is None else str(count)
    if key in {"temperature", "top_p"}:
        at = parse_number(value)
        if at is None or isinstance(value, bool) or not math.isfinite(at) or at < 0:
            return ""
        return "" if key == "top_p" and not 0 < at <= 1 else f"{at:g}"
    return as_word(value)
