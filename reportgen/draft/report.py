"""The spine: a project goes in, a whole report comes out as values, and nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostics
from reportgen.draft.blocks.draw_inputs import DrawInputs, choose_colours, read_series_names
from reportgen.draft.blocks.results import ResultsStore
from reportgen.draft.drawing import WorkerShare, add_overviews, draw_blocks, plan_report, split_plan
from reportgen.draft.gathering import fit_pages, gather_pages, gather_sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import BenchmarkResult, Shown
    from reportgen.core.statements import Statement
    from reportgen.draft.drawing import StartWorker
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project


@dataclass(frozen=True, slots=True)
class Report:
    """A drafted report: everything that will be written, and nothing written yet."""

    pages: tuple[Page, ...]  # in the order given by the author
    shown: dict[tuple[str, str], Shown]  # what each block shows, by the page's path and the block's id
    benchmarks: dict[str, BenchmarkResult]  # by the page's path
    # What decided each block, as a cache key, by the same; blocks that are drawn anew each time have none.
    keys: dict[tuple[str, str], str]
    sources: dict[str, Source]  # every source read, by name
    problems: tuple[Diagnostic, ...] = ()  # warnings; a draft with errors is never returned
    cache_hits: int = 0
    # What the data say to each page's bound values and claims, by the path of pages that have any.
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)


def draft(
    project: Project,
    cache: Cache,
    hashes: FileHashes,
    *,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    drawn: Callable[[str, Shown], None] = lambda _page, _shown: None,
    start_worker: StartWorker | None = None,
) -> Report:
    """Draft a whole report: read what its pages ask for, compute, draw, and write nothing.

    After each block ``progress`` is called with how many of how many are drawn, and ``drawn`` with its page's
    path and what it shows, so that more can be made of it while the rest is drawn. ``start_worker`` starts a
    function in another process and returns what waits for its result; some pages of a large report are read
    and drawn there. Raises ``ReportError`` with every problem of the report, when any of them is an error.
    """
    problems = Diagnostics()
    pages = gather_pages(project, problems)
    sources = gather_sources(project, pages, hashes, cache, problems)
    pages = fit_pages(pages, sources)
    plan = plan_report(pages, sources, problems)
    here, away = split_plan(plan, sources, cache, start_worker)
    worker = WorkerShare(away, project, sources, cache, start_worker)
    answers = ResultsStore(project.root, sources, here.list_all_requests(), here.places)
    names = read_series_names(here, sources, answers, cache, problems)
    names |= worker.fetch_names(problems)
    colours = choose_colours(plan, names, project.settings.series, problems)
    worker.start_drawing(colours)
    inputs = DrawInputs(project, sources, answers, colours, cache)
    done = count(1)

    def report_progress(page: str, block: Shown) -> None:
        drawn(page, block)
        progress(next(done), len(plan.blocks))

    parts = draw_blocks(here, inputs, problems, report_progress)
    worker.add_to(parts, problems, report_progress)
    whole = add_overviews(plan, parts, problems, report_progress)
    problems.raise_errors()
    found = problems.in_order()
    return Report(pages, whole.shown, whole.results, whole.keys, sources, found, cache.hits, whole.statements)
