"""Parts of messages: names in a sentence with the nearest one, and many problems of one kind as one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.core.words import join_names, suggest_name
from reportgen.settings.text import shorten
from reportgen.settings.validation_errors import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.core.errors import Diagnostic


_MOST_NAMES: Final = 12
_LONGEST: Final = 60


def suggest_names(word: str, known: Sequence[str], says: str) -> str:
    """A next step: the name that was most likely meant, and what names there are.

    Args:
        word: the unknown name.
        known: the names there are.
        says: how the list begins, such as "It has".
    """
    if not known:
        return ""
    return f"{suggest_name(word, known)}{says} {list_names(known)}"


def list_names(words: Iterable[str]) -> str:
    """Names as a list in a sentence, of very many the first twelve."""
    shown = [shorten(word, _LONGEST) for word in words]
    more = len(shown) - _MOST_NAMES
    if more > 1:
        shown = [*shown[:_MOST_NAMES], f"{more} more"]
    return join_words(shown)


# So many are told one by one.
_MOST_FILES: Final = 3


def merge_problems(problems: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Problems, each that more than three files have only for the first of them, with how many others."""
    groups: dict[tuple[str, ...], list[Diagnostic]] = defaultdict(list)
    for problem in problems:
        groups[problem.message, problem.next_step, problem.stage, problem.severity].append(problem)
    for found in groups.values():
        files = list(dict.fromkeys(problem.location.file for problem in found))
        if len(files) > _MOST_FILES:
            message = (
                f"{found[0].message}; the same in {len(files) - 1:,} more: {join_names(files[1:], most=2)}"
            )
            yield replace(found[0], message=message)
        else:
            yield from found


_MOST_PROBLEMS: Final = 5


def limit_problems(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The first problems of a file, and how many more there are."""
    found = list(problems)
    shown, rest = found[:_MOST_PROBLEMS], found[_MOST_PROBLEMS:]
    if rest:
        message = f"there are {len(rest)} more problems like these in this file"
        shown.append(replace(rest[0], message=message, next_step="Mend these first"))
    return shown
