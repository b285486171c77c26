"""The pages of a draft that have bound values to type anew, and what is left for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.site.checking.fixing import apply_repairs, find_repairs, make_diff, write_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reportgen.statements import Statement


@dataclass(frozen=True, slots=True)
class PageRepair:
    """A page with bound values that no longer match.

    Attributes:
        file: the page relative to the project.
        path: where it is.
        original, fixed: its bytes before and after.
        values: how many bound values are typed anew.
    """

    file: str
    path: Path
    original: bytes
    fixed: bytes
    values: int

    @property
    def difference(self) -> str:
        """What changes, as a unified diff."""
        return make_diff(self.file, self.original, self.fixed)

    def write(self) -> None:
        """Put the new page in place of the old one.

        Raises:
            ReportError: the page was changed meanwhile, or cannot be written.
        """
        write_page(self.path, self.original, self.fixed, self.file)


def plan_repairs(root: Path, statements: Iterable[Statement]) -> tuple[PageRepair, ...]:
    """Every page with something to type anew; nothing is written.

    Raises:
        ReportError: a page is not as the draft read it.
    """
    found = []
    for file, several in find_repairs(statements).items():
        path = root / file
        original = _read_page(path, file)
        found.append(PageRepair(file, path, original, apply_repairs(original, several), len(several)))
    return tuple(found)


def find_unrepaired(
    statements: Iterable[Statement], repaired: Sequence[PageRepair]
) -> tuple[SourceLocation, ...]:
    """Where the statements stand that are not as expected, and that no repair makes so."""
    files = {one.file for one in repaired}
    return tuple(
        one.binding.location
        for one in statements
        if not one.as_expected and not (one.judgement.repaired and one.binding.location.file in files)
    )


def _read_page(path: Path, file: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        said = f"this page cannot be read ({error.strerror or type(error).__name__})"
        raise ReportError(Problem(SourceLocation(file), said, "", Stage.NARRATIVE)) from error
