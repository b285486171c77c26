"""The same problem of many files as one problem."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reportgen.errors import Problem

# So many are told one by one.
_MOST_FILES: Final = 3


def merge_problems(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems, each that more than three files have only for the first of them, with how many others."""
    groups: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for problem in problems:
        groups[problem.message, problem.next_step, problem.stage, problem.severity].append(problem)
    for found in groups.values():
        files = list(dict.fromkeys(problem.place.file for problem in found))
        if len(files) > _MOST_FILES:
            message = (
                f"{found[0].message}; the same in {len(files) - 1:,} more: {join_names(files[1:], most=2)}"
            )
            yield replace(found[0], message=message)
        else:
            yield from found
