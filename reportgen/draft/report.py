"""Drafting of a whole report from a project, as values and without writing anything."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from msgspec import Struct, field

from reportgen.core.errors import Diagnostics
from reportgen.draft.accepting import accept_warnings
from reportgen.draft.blocks.draw_inputs import (
    DrawInputs,
    choose_colours,
    list_fixed_places,
    read_series_names,
)
from reportgen.draft.blocks.plan import Plan
from reportgen.draft.blocks.results import ResultsStore
from reportgen.draft.drawing import WorkerShare, add_overviews, draw_blocks, plan_report, split_plan
from reportgen.draft.gathering import fit_pages, gather_pages, gather_sources
from reportgen.draft.stored_blocks import DrawnParts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import BenchmarkResult, Observed, Shown
    from reportgen.core.statements import Statement
    from reportgen.draft.accepting import AcceptedWarning
    from reportgen.draft.drawing import StartWorker
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project


class Report(Struct, frozen=True):
    """A drafted report: everything to be written."""

    pages: tuple[Page, ...]  # in the author's order
    documents: tuple[Page, ...]  # text files with statements, which are no pages of the site
    shown: Mapping[tuple[str, str], Shown]  # what each block shows, by page path and block id
    benchmarks: dict[str, BenchmarkResult]  # by page path
    # Cache key of each block, by page path and block id; blocks that are always redrawn have none.
    keys: dict[tuple[str, str], str]
    sources: dict[str, Source]  # every opened source, and several joined for a block, by name
    problems: tuple[Diagnostic, ...] = ()  # warnings; a draft with errors is never returned
    cache_hits: int = 0
    # Judged bound values and claims, by path of pages that have any.
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
    slots: Mapping[str, int] = field(default_factory=dict)  # palette slot of each series
    # What each block was computed from, by page path and block id: of each panel, or of all of it.
    observed: Mapping[tuple[str, str], tuple[Observed, ...]] = field(default_factory=dict)
    accepted: tuple[AcceptedWarning, ...] = ()  # warnings that their authors accept
    plan: Plan = Plan((), ())

    def list_sources(self) -> tuple[Source, ...]:
        """List the sources that were opened, without those that only join others for a block."""
        return tuple(source for source in self.sources.values() if not source.parts)


def draft(
    project: Project,
    cache: Cache,
    hashes: FileHashes,
    *,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    drawn: Callable[[str, Shown | None], None] = lambda _page, _shown: None,
    start_worker: StartWorker | None = None,
) -> Report:
    """Draft a whole report: read the data its pages request, compute and draw, without writing anything.

    After each block, ``drawn`` is called with its page's path and what it shows, so that the caller can use
    it while the rest is drawn, or None if nothing on its page has changed, and ``progress`` with the number
    of drawn blocks and of all. ``start_worker`` starts a function in another process, which reads and draws
    some pages of a large report, and returns a function that waits for its result. Raises ``ReportError``
    with all problems if any of them is an error.
    """
    problems = Diagnostics()
    pages = gather_pages(project, problems, cache)
    sources = gather_sources(project, pages, hashes, cache, problems)
    pages = fit_pages(pages, sources)
    plan = plan_report(pages, sources, problems)
    here, away = split_plan(plan, sources, cache, start_worker)
    worker = WorkerShare(away, project, sources, cache, start_worker)
    answers = ResultsStore(project.root, sources, here.list_all_requests(), here.places)
    names = read_series_names(here, sources, answers, cache, problems)
    names |= worker.fetch_names(problems)
    colours = choose_colours(plan, names, list_fixed_places(project.settings, sources.values()), problems)
    worker.start_drawing(colours)
    inputs = DrawInputs(project, sources, answers, colours, cache)
    done = count(1)

    def report_progress(page: str, block: Shown | None) -> None:
        drawn(page, block)
        progress(next(done), len(plan.blocks))

    parts = draw_blocks(here, inputs, problems, report_progress)
    worker.add_to(parts, problems, report_progress)
    whole = add_overviews(plan, parts, problems, report_progress)
    found, accepted = accept_warnings(problems.in_order(), pages, sources, whole.statements)
    shown, observed = (DrawnParts(whole.blocks, part) for part in (0, 1))
    documents = tuple(page for page in pages if page.is_document)
    pages = tuple(page for page in pages if not page.is_document)
    parts_shown = (pages, documents, shown, whole.results, whole.keys)
    notes = (colours.slots, observed, accepted, plan)
    return Report(*parts_shown, sources, found, cache.hits, whole.statements, *notes)
