"""Parts of messages: names in a sentence with the nearest one, and many problems of one kind as one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.core.words import join_names, suggest_name
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.core.errors import Diagnostic


_MOST_NAMES: Final = 12
_LONGEST: Final = 60
_MOST_FILES: Final = 3  # named one by one
_MOST_PROBLEMS: Final = 5


def suggest_names(word: str, known: Sequence[str], says: str) -> str:
    """A next step for an unknown name: the nearest one, and all names after ``says``, such as "It has"."""
    return f"{suggest_name(word, known)}{says} {list_names(known)}" if known else ""


def list_names(words: Iterable[str]) -> str:
    """Names as a list in a sentence, of very many the first twelve."""
    shown = [shorten(word, _LONGEST) for word in words]
    more = len(shown) - _MOST_NAMES
    if more > 1:
        shown = [*shown[:_MOST_NAMES], f"{more} more"]
    return join_names(shown)


def merge_problems(problems: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Problems; one that more than three files have is given for the first, with the number of others."""
    groups: dict[tuple[str, ...], list[Diagnostic]] = defaultdict(list)
    for problem in problems:
        groups[problem.message, problem.next_step, problem.stage, problem.severity].append(problem)
    for group in groups.values():
        files = list(dict.fromkeys(problem.location.file for problem in group))
        if len(files) > _MOST_FILES:
            others = f"the same in {len(files) - 1:,} more: {join_names(files[1:], most=2)}"
            yield replace(group[0], message=f"{group[0].message}; {others}")
        else:
            yield from group


def limit_problems(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The first problems of a file, and how many more there are."""
    every = list(problems)
    shown, rest = every[:_MOST_PROBLEMS], every[_MOST_PROBLEMS:]
    if rest:
        message = f"there are {len(rest)} more problems like these in this file"
        shown.append(replace(rest[0], message=message, next_step="Mend these first"))
    return shown
