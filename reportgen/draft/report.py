"""The spine: a project goes in, a whole report comes out as values, and nothing is written."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from reportgen.blocks.draw_inputs import DrawInputs, choose_colours, read_series_names
from reportgen.blocks.plan import list_requests, plan_report
from reportgen.blocks.results import ResultsStore
from reportgen.core.errors import Diagnostics
from reportgen.draft.drawing import add_overviews, draw_blocks
from reportgen.draft.gathering import fit_pages, gather_pages, gather_sources
from reportgen.draft.result import Report
from reportgen.draft.worker import WorkerShare, split_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.model import Shown
    from reportgen.draft.worker import StartWorker
    from reportgen.settings.report import Project


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

    Args:
        project: where the report stands and what its settings say.
        cache: what earlier drafts computed, by content.
        hashes: SHA-256 of data files, remembered by size and time of change.
        progress: called after each block with how many of how many are drawn.
        drawn: called after each block with its page's path and what it shows, so that more can be made of it
            while the rest is drawn.
        start_worker: starts a function in another process and returns what waits for its result; some pages
            of a large report are read and drawn there.

    Returns:
        Pages with what each block shows, results, sources, and warnings.

    Raises:
        ReportError: with every problem of the report, when any of them is an error.
    """
    problems = Diagnostics()
    pages = gather_pages(project, problems)
    sources = gather_sources(project, pages, hashes, cache, problems)
    pages = fit_pages(pages, sources)
    plan = plan_report(pages, sources, problems)
    here, away = split_plan(plan, sources, cache, start_worker)
    worker = WorkerShare(away, project, sources, cache, start_worker)
    answers = ResultsStore(project.root, sources, list_requests(here), here.places)
    names = read_series_names(here, sources, answers, cache, problems)
    names |= worker.fetch_names(problems)
    colours = choose_colours(plan, names, project.settings.series, problems)
    worker.start_drawing(colours)
    inputs = DrawInputs.gather(project, sources, answers, colours, cache)
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
