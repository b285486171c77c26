"""The same problem of many files as one problem."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.words import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reportgen.errors import Problem

# So many are told one by one.
_FEW: Final = 3


def folded(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems, each that more than three files have only for the first of them, with how many others."""
    alike: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for problem in problems:
        alike[problem.message, problem.next_step, problem.stage, problem.severity].append(problem)
    for found in alike.values():
        files = list(dict.fromkeys(problem.place.file for problem in found))
        if len(files) > _FEW:
            message = f"{found[0].message}; the same in {len(files) - 1:,} more: {listing(files[1:], most=2)}"
            yield replace(found[0], message=message)
        else:
            yield from found
