"""What only the page says: meanings of verdicts and methods, how to read a picture; and long lists, cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Struct

from reportgen.core.words import join_names
from reportgen.figures.text import clean_text
from reportgen.review.model import Review

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.review.model import FigureChange, Method, Verdict

MOST_LISTED: Final = 200
"""Statements, tables, pages, sources or problems of one kind."""

_MOST_NAMES: Final = 4

MEANINGS: Final[dict[Verdict, str]] = {
    "higher": "The interval of the difference lies above 0, and p stays below 5 % after adjusting.",
    "lower": "The interval of the difference lies below 0, and p stays below 5 % after adjusting.",
    "unclear": "A difference of this size is not unusual where nothing changed.",
    "re-estimated": "The same thing measured with more or fewer runs.",
    "same": "Nothing that decides this number changed.",
    "measured differently": "The protocol changed, so the difference is not judged.",
    "not comparable": "Before and after are not the same quantity.",
    "too few": "One run says nothing about how much runs differ.",
    "new": "There was no such number before.",
    "gone": "There is no such number any more.",
}
METHODS: Final[dict[Method, tuple[str, str]]] = {
    "paired": (
        "paired",
        "Before and after answered the same problems, so the difference is taken problem by problem.",
    ),
    "welch": (
        "Welch's t",
        "Before and after have different runs. Student's t for unequal variances; a shared run counts once.",
    ),
    "nested runs": (
        "nested runs",
        "Runs were only added, or only removed: the interval is about these, as shared runs cannot move.",
    ),
    "given": (
        "given errors",
        "From the standard errors that the input gives, as if before and after shared nothing.",
    ),
    "none": ("no test", "There is nothing that an interval could be built from."),
}

# Characters that turn the words around them, or that nobody sees.
_TURNING: Final = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x2060, 0xFEFF, *range(0x7F, 0xA0)),
    "\N{REPLACEMENT CHARACTER}",
)

_Thing = TypeVar("_Thing")


def make_visible(review: Review) -> Review:
    """The review with U+FFFD for characters that turn words, that nobody sees, or that XML forbids."""

    def clean(value: Any) -> Any:  # noqa: ANN401 - any part of a review
        if isinstance(value, str):
            return clean_text(value).translate(_TURNING)
        if isinstance(value, tuple):
            # Points are many, and numbers.
            return value if value and isinstance(value[0], tuple) else tuple(map(clean, value))
        return {name: clean(part) for name, part in value.items()} if isinstance(value, dict) else value

    return Review.model_validate(clean(review.model_dump()))


class Listed(Struct, frozen=True):
    """The first of several things, and a sentence about the rest."""

    shown: tuple[Any, ...]
    count: int
    rest: str = ""


def cut(
    things: Sequence[_Thing], describe: Callable[[_Thing], Any] | None = None, most: int = MOST_LISTED
) -> Listed:
    """The first ``most`` of several things, or what ``describe`` makes of them."""
    rest = len(things) - most
    shown = tuple(map(describe, things[:most]) if describe else things[:most])
    return Listed(shown, len(things), f"{rest:,} more are in review.json." if rest > 0 else "")


def describe_both(figure: FigureChange) -> str:
    """How to read the picture of both."""
    if figure.change in {"new", "gone"}:
        return "As it is now" if figure.change == "new" else "As it was"
    rows = figure.x.scale == "series"
    faint = any(one.change in {"same", "renamed"} and not one.before for one in figure.series)
    if rows:
        return "Before hollow and grey, after in colour" + (
            ", unchanged series filled and grey" if faint else ""
        )
    words = "Before grey and dashed, after in colour" + (", unchanged series faint" if faint else "")
    return f"{words}; an arrow where a series moved most"


def describe_unchanged(figure: FigureChange) -> str:
    """Which series did not change: ``No change in PPO and 3 more.``."""
    names = [one.name for one in figure.series if one.change == "same"]
    return f"No change in {join_names(names, most=_MOST_NAMES)}." if names else ""
