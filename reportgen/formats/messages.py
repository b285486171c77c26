"""Parts of messages: lists of names with suggestions, and summaries of repeated problems."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.core.words import join_names, suggest_name
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.core.errors import Diagnostic


_MOST_NAMES: Final = 12
_LONGEST: Final = 60
_MOST_FILES: Final = 3  # most files that are listed one by one
_MOST_PROBLEMS: Final = 5


def suggest_names(word: str, known: Sequence[str], says: str) -> str:
    """Return a next step for an unknown name: the nearest one, and all names after ``says`` ("It has")."""
    return f"{suggest_name(word, known)}{says} {list_names(known)}" if known else ""


def list_names(words: Iterable[str]) -> str:
    """Return names as a list in a sentence, at most the first twelve."""
    shown = [shorten(word, _LONGEST) for word in words]
    more = len(shown) - _MOST_NAMES
    if more > 1:
        shown = [*shown[:_MOST_NAMES], f"{more} more"]
    return join_names(shown)


def merge_problems(problems: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield problems, merging one that more than three files share into that of the first file."""
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
    """Return the first problems of a file, and one that counts the rest."""
    every = list(problems)
    shown, rest = every[:_MOST_PROBLEMS], every[_MOST_PROBLEMS:]
    if rest:
        message = f"there are {len(rest)} more problems like these in this file"
        shown.append(replace(rest[0], message=message, next_step="Mend these first"))
    return shown
