"""Foreign words in Markdown: text that no reader of the Markdown takes for markup, a mention or a link.

Names of series, pages and problems, and sentences of authors, may come from a stranger's pull request, and a
comment is posted with rights that the stranger does not have. A name is put into a code span, which mentions
(``@``), references (``#12``), links and HTML do not reach into, on one line and without characters that
change the direction of text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.terminal import clean_text
from reportgen.figures.text import clean_text as clean_xml
from reportgen.review.model import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.review.model import Review

LONGEST_QUOTED = 300
"""Characters of a foreign sentence in a comment."""
LONGEST_NAME = 60
"""Characters of a name in a comment."""

_EMPTY = "–"
_BACKTICKS = re.compile(r"`+")
# GitHub's parser reads no code span with more than 80 backticks on a side (MAXBACKTICKS in cmark-gfm,
# inlines.c), and the sides are longer than each run in the text. So many show that there are some.
_MOST_BACKTICKS: Final = 8
_LONG_RUN = re.compile(rf"`{{{_MOST_BACKTICKS + 1},}}")
# Next to its own backticks these would be read with them: $`…`$ is a formula on GitHub.
_NEEDS_ROOM = ("`", "$")
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_LEFT_TO_RIGHT_MARK = "\N{LEFT-TO-RIGHT MARK}"
# Characters that turn the words around them, or that nobody sees.
_TURNING: Final = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x2060, 0xFEFF, *range(0x7F, 0xA0)),
    "\N{REPLACEMENT CHARACTER}",
)


def clean_words(text: str, most: int = LONGEST_QUOTED) -> str:
    """A text on one line, of at most so many characters, without unseen ones and long runs of backticks."""
    line = " ".join(clean_text(" ".join(text.split())).split())
    line = _LONG_RUN.sub(f"{'`' * _MOST_BACKTICKS}…", line)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def quote(text: str, most: int = LONGEST_QUOTED) -> str:
    """A text as a code span; ``–`` where it is empty."""
    words = clean_words(text, most)
    if not words:
        return _EMPTY
    fence = "`" * (_find_longest_run(words) + 1)
    room = " " if words.startswith(_NEEDS_ROOM) or words.endswith(_NEEDS_ROOM) else ""
    return f"{fence}{room}{words}{room}{fence}"


def quote_in_table(text: str, most: int = LONGEST_NAME) -> str:
    """The same for a cell of a table, where ``|`` would begin the next one even inside a code span."""
    return f"<code>{escape_words(text, most)}</code>" if "|" in text else quote(text, most)


def escape_words(text: str, most: int = LONGEST_NAME) -> str:
    """A text for HTML, also in attributes; of ASCII only letters, digits and blanks stay as they are."""
    return "".join(
        one if one.isalnum() or one == " " or not one.isascii() else f"&#{ord(one)};"
        for one in clean_words(text, most)
    )


def fence_lines(lines: Iterable[str]) -> str:
    """Lines as a code block, which none of them can end."""
    text = "\n".join(lines)
    fence = "`" * max(3, _find_longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def fit_name(text: str, cells: int) -> str:
    """A name in exactly so many cells of a code block; right-to-left letters do not turn their line round."""
    name = clean_words(text, cells)
    while measure_width(name) > cells:
        name = f"{name.removesuffix('…')[:-1]}…"
    padding = " " * (cells - measure_width(name))
    if any(unicodedata.bidirectional(one) in _RIGHT_TO_LEFT for one in name):
        name = f"{_LEFT_TO_RIGHT_MARK}{name}{_LEFT_TO_RIGHT_MARK}"
    return f"{name}{padding}"


def _find_longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def measure_width(text: str) -> int:
    """How many cells a terminal or a code block takes for it."""
    marks = {"Mn", "Me"}
    wide = {"W", "F"}
    return sum(
        0 if unicodedata.category(one) in marks else 2 if unicodedata.east_asian_width(one) in wide else 1
        for one in text
    )


def make_visible(review: Review) -> Review:
    """The review with U+FFFD for characters that turn words, that nobody sees, or that XML forbids."""

    def clean(value: Any) -> Any:  # noqa: ANN401 - any part of a review
        if isinstance(value, str):
            return clean_xml(value).translate(_TURNING)
        if isinstance(value, Value):
            return value.replace(**{name: clean(part) for name, part in value})
        # Points are many, and numbers.
        is_text = isinstance(value, tuple) and not (value and isinstance(value[0], tuple))
        return tuple(map(clean, value)) if is_text else value

    visible: Review = clean(review)
    return visible
