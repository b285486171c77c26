"""The result of a draft: a report with everything that will be written, and nothing written yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import BenchmarkResult, Shown
    from reportgen.core.statements import Statement
    from reportgen.settings.inputs import Page, Source


@dataclass(frozen=True, slots=True)
class Report:
    """A drafted report: everything that will be written, and nothing written yet.

    Attributes:
        pages: in the order given by the author.
        shown: what each block shows, by the page's path and the block's id.
        benchmarks: results by the page's path.
        keys: what decided each block, as a cache key, by the same; equal keys show the same. Blocks that
            are drawn anew each time have none.
        sources: every source read, by name.
        problems: warnings; a draft with errors is never returned.
        statements: what the data say to each page's bound values and claims, by the page's path; pages
            without any are left out.
    """

    pages: tuple[Page, ...]
    shown: dict[tuple[str, str], Shown]
    benchmarks: dict[str, BenchmarkResult]
    keys: dict[tuple[str, str], str]
    sources: dict[str, Source]
    problems: tuple[Diagnostic, ...] = ()
    cache_hits: int = 0
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
