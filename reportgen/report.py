"""The spine: a project goes in, a whole report comes out as values, and nothing is written."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from reportgen.drafting.answers import Answers
from reportgen.drafting.blocks import draw, with_overviews
from reportgen.drafting.colours import colours_of, series_names
from reportgen.drafting.desk import Desk
from reportgen.drafting.gathering import fitted, gather_pages, gather_sources
from reportgen.drafting.kept_subjects import Subjects
from reportgen.drafting.plan import plan_of
from reportgen.drafting.second import Second, shared
from reportgen.drafting.skeletons import Skeletons
from reportgen.drafting.subjects import asked_of
from reportgen.errors import Problems
from reportgen.model import Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.cache import Cache, FileHashes
    from reportgen.drafting.project import Project
    from reportgen.drafting.second import Elsewhere
    from reportgen.model import Shown


def draft(
    project: Project,
    cache: Cache,
    hashes: FileHashes,
    *,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    drawn: Callable[[str, Shown], None] = lambda _page, _shown: None,
    elsewhere: Elsewhere | None = None,
) -> Report:
    """Draft a whole report: read what its pages ask for, compute, draw, and write nothing.

    Args:
        project: where the report stands and what its settings say.
        cache: what earlier drafts computed, by content.
        hashes: SHA-256 of data files, remembered by size and time of change.
        progress: told after each block how many of how many are drawn.
        drawn: told after each block its page's path and what it shows, so that more can be made of it
            while the rest is drawn.
        elsewhere: starts a function in another process and returns what waits for its result; some pages
            of a large report are read and drawn there.

    Returns:
        Pages with what each block shows, results, sources, and warnings.

    Raises:
        ReportError: with every problem of the report, when any of them is an error.
    """
    problems = Problems()
    pages = gather_pages(project, problems)
    sources = gather_sources(project, pages, hashes, cache, problems)
    pages = fitted(pages, sources)
    plan = plan_of(pages, sources, problems)
    here, away = shared(plan, sources, cache, elsewhere)
    second = Second(away, project, sources, cache, elsewhere)
    answers = Answers(project.root, sources, asked_of(here), here.places)
    names = series_names(here, sources, answers, cache, problems)
    names |= second.names(problems)
    colours = colours_of(plan, names, project.settings.series, problems)
    second.start_drawing(colours)
    subjects = Subjects(answers, sources, cache)
    desk = Desk(project, sources, answers, subjects, colours, cache, Skeletons(cache))
    done = count(1)

    def told(page: str, block: Shown) -> None:
        drawn(page, block)
        progress(next(done), len(plan.blocks))

    parts = draw(here, desk, problems, told)
    second.add_to(parts, problems, told)
    whole = with_overviews(plan, parts, problems, told)
    problems.raise_errors()
    found = problems.in_order()
    return Report(pages, whole.shown, whole.results, whole.keys, sources, found, cache.hits, whole.statements)
