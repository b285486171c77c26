"""Decimals of single numbers: those of the interval where there is one, otherwise significant digits.

Numbers of prose are found here, too.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNIFICANT = 3
_ONE_DIGIT_FROM = 3.55
"""Half-widths from here, times a power of ten, need only one digit: the rule of the Particle Data Group."""
_SMALL, _LARGE = 1e-4, 1e15
_MOST_ZEROS = 4  # after the point, before a smaller number has an exponent
_TENTH_OF_A_POINT = 0.001
_MOST_DECIMALS = 6
SAME = 1e-9
"""Numbers with a smaller relative difference are equal up to rounding."""


class Precision(NamedTuple):
    """Decimals that values of one metric usually have: beside an interval, and without one."""

    usual: int
    plain: int


def find_decimals(
    value: float,
    precision: Precision,
    half: float | None = None,
    *,
    percent: bool = False,
    significant: int = _SIGNIFICANT,
) -> int:
    """Return the decimals of a value: the usual ones of its metric, or others where these do not suit it.

    With ``half``, half the width of its interval, these are two significant digits of that, unless the usual
    ones show enough of it and not much more. Without, the value has at least ``significant`` digits, less
    zeros at its end. Of percentages (``percent``), the half-width has one digit, and only 0 and 100
    themselves are shown as such. Decimals of −1 stand for tens. ``site/assets/live-data.js`` does the same.
    """
    usual, plain = precision
    if half is not None and 0 < half < math.inf:
        mantissa, exponent = _split(half, 2)
        own = 1 - exponent
        if percent:
            return max(usual, own - 1)
        enough = own - (float(mantissa) >= _ONE_DIGIT_FROM)
        return usual if enough <= usual <= own + 1 else own
    size = abs(value)
    if percent:
        edge = min(size, abs(100 - size))
        return max(usual, -_split(edge, 1)[1]) if 0 < edge < 10.0**-usual / 2 else usual
    if not size:
        return plain if plain <= _MOST_ZEROS else 0
    mantissa, exponent = _split(size, significant)
    own = significant - 1 - exponent
    needed = len(mantissa.rstrip("0").replace(".", "")) - 1 - exponent
    decimals = max(needed, usual if usual <= own + 1 else plain)
    rest = 1 - size
    return max(decimals, -_split(rest, 1)[1]) if 0 < rest <= 10.0**-decimals / 2 else decimals


def choose_percent_decimals(half: float | None) -> int:
    """Return the decimals of a percentage: one, or more if its half-width is below a tenth of a point."""
    if half is None or not 0 < half < _TENTH_OF_A_POINT:
        return 1
    return min(_MOST_DECIMALS, -math.floor(math.log10(half * 100)))


def choose_decimals(half: float | None) -> int | None:
    """Return the decimals that give a half-width two significant digits.

    None if it is not known, or if the number needs an exponent: 0.000000 would hide it.
    """
    if half is None or half <= 0:
        return None
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return decimals if decimals <= _MOST_DECIMALS else None


def needs_exponent(*parts: float) -> bool:
    """Whether numbers that are written alike are so small or so large that they need an exponent."""
    largest = max((abs(part) for part in parts if math.isfinite(part)), default=0.0)
    return 0 < largest < _SMALL or largest >= _LARGE


def is_same(a: float, b: float) -> bool:
    """Whether two numbers are equal up to rounding errors of floats."""
    return math.isclose(a, b, rel_tol=SAME)


def _split(size: float, digits: int) -> tuple[str, int]:
    """Return mantissa and exponent of a number above 0 that is rounded to significant digits."""
    mantissa, _, exponent = f"{size:.{digits - 1}e}".partition("e")
    return mantissa, int(exponent)


# ---- numbers in prose


class FoundNumber(Struct, frozen=True):
    """A number in prose with the sentence around it; offsets are in the text."""

    start: int
    end: int
    words: str
    sentence: str
    place: int  # of the number in the sentence
    is_cell: bool = False  # of a table: the sentence is made of its row and column


_LONGEST: Final = 2_000  # characters of a sentence; what is longer is none
_STEP: Final = r"(?:steps?|iterations?|epochs?|updates?)"
NUMBER: Final = re.compile(
    rf"(?<![\w.,/:$€£#@=±–^-])(?:p\s*[=<>≤]\s*|{_STEP}\s)?(?<![±])[+−-]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)?(?:\.\d+|(?<=\d))"
    rf"(?:\s?%|\s(?:percentage\s)?points?|\spp|\s{_STEP})?(?![\w^/]|[.,:]\d|\s?±|-\w)",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"(?:\b(?:figures?|figs?\.?|tables?|sections?|sec\.?|eq\.?|equation|appendix|chapter|line|page|version|v|python|seeds?"
    r"|top|level|no\.?|#)\s*|\[\s*|[\[(]\s*[\d.,%−-]+,\s*|±\s*)$",
    re.IGNORECASE,
)
# The level of an interval, and the power of a test.
_LEVEL: Final = re.compile(
    r"[ -](?:simultaneous |pointwise )?(?:CIs?|confidence|credible|interval|power)\b", re.IGNORECASE
)
_INTERVAL: Final = re.compile(r"\(\s*[+−-]?[\d.]+\s?%?\s*[,–]\s*[+−-]?[\d.]+\s?%?\s*\)")
_SENTENCE: Final = re.compile(
    r"(?<=[.!?])[)\"'”*_]*\s+(?=[A-Z\[\"“*_(\\<])|\n\s*\n|\n(?=\s*(?:[-*+#]|\d+[.)])\s)|\|"
)


def find_numbers(prose: str) -> Iterator[FoundNumber]:
    """Yield the numbers of prose that could be facts, with their sentences.

    Whole numbers without a unit are counts, years, versions and sizes; only steps and percentages are not.
    Levels of intervals are none, either.
    """
    for start, sentence in split_sentences(prose):
        for match in NUMBER.finditer(sentence):
            words = match[0].strip()
            is_count = re.fullmatch(r"[+−-]?[\d,]+", words) is not None
            if (
                is_count
                or not re.search(r"\d", words)
                or _NAMED.search(sentence[max(0, match.start() - 40) : match.start()])
                or _INTERVAL.match(sentence, match.start() - 1)
                or _LEVEL.match(sentence, match.end())
            ):
                continue
            first = match.start() + len(match[0]) - len(match[0].lstrip())
            place, said = start + first, _name_cell(prose, start)
            whole, at = f"{said}{sentence}", len(said) + first
            yield FoundNumber(place, place + len(words), words, whole, at, bool(said))


def split_sentences(prose: str) -> Iterator[tuple[int, str]]:
    """Yield sentences, and cells of tables, with their offset; what is too long for a sentence is empty."""
    start = 0
    for end in (*(match.end() for match in _SENTENCE.finditer(prose)), len(prose)):
        yield start, prose[start:end] if end - start <= _LONGEST else ""
        start = end


_MOST_ROWS: Final = 200  # below its head, in which a cell knows its column


def _name_cell(prose: str, start: int) -> str:
    """Return row and column of a cell of a table in Markdown, ``"MEL, final score: "``, or nothing."""
    line = prose.rfind("\n", 0, start) + 1
    row = prose[line:start]
    column = row.count("|")
    if not row.lstrip(" \t>").startswith("|"):
        return ""
    for _ in range(_MOST_ROWS):
        above = prose.rfind("\n", 0, line - 1) + 1
        if not line or not prose[above:line].lstrip(" \t>").startswith("|"):
            break
        line = above
    head = prose[line : prose.find("\n", line)].split("|")
    names = (row.split("|")[1] if column > 1 else "", head[column] if column < len(head) else "")
    # A capital at the start of a cell makes no name.
    words = [name.strip(" *_") for name in names]
    words = [word[:1].lower() + word[1:] if word[1:2].islower() else word for word in words]
    return f"{', '.join(filter(None, words))}: "
