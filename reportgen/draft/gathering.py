"""Reads the pages and opens every source that they name; all problems of both are collected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostics, SourceLocation, move_diagnostics
from reportgen.narrative.pages import generate_for_scores, generate_pages, read_pages
from reportgen.narrative.topics import is_figure, list_block_sources, list_figures, list_named_sources
from reportgen.settings.blocks import ObservationsSettings
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.errors import Diagnostic
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project


def gather_pages(project: Project, problems: Diagnostics) -> tuple[Page, ...]:
    """The author's pages, then those generated for benchmarks without one."""
    pages = read_pages(
        project.root,
        project.content_dir,
        project.page_paths,
        problems,
        untrusted=project.settings.untrusted,
    )
    with problems.collecting():
        pages += generate_pages(project.settings.benchmarks, pages)
    return pages


def gather_sources(
    project: Project, pages: tuple[Page, ...], hashes: FileHashes, cache: Cache, problems: Diagnostics
) -> dict[str, Source]:
    """Every source that a page names, opened; one that cannot be opened is left out and told."""
    data = project.settings.data_dir
    sources: dict[str, Source] = {}
    opening_problems: dict[str, Diagnostics] = {}
    for name, place, page in _iterate_sources(pages):
        if name not in opening_problems:
            opening_problems[name] = Diagnostics()
            with opening_problems[name].collecting():
                sources[name] = open_project_source(project, name, hashes, cache)
                opening_problems[name].add(sources[name].warnings)
        # A source that is not there is the problem of everybody who names it.
        found = opening_problems[name].found
        if page and [problem.location for problem in found] == [SourceLocation(data)]:
            found = [_or_figure(found[0], name, page)]
        problems.add(move_diagnostics(found, SourceLocation(data), place))
    hashes.save()
    return sources


def open_project_source(project: Project, name: str, hashes: FileHashes, cache: Cache) -> Source:
    """A source of a report, opened.

    Raises:
        ReportError: there is none of this name, or it cannot be opened.
    """
    from reportgen.read import open_source  # noqa: PLC0415 - imports the database

    return open_source(
        project.root,
        project.settings.data_dir,
        name,
        load_settings=load_source_settings,
        hashes=hashes,
        cache=cache,
        follow_links=project.settings.follow_links,
    )


def fit_pages(pages: tuple[Page, ...], sources: Mapping[str, Source]) -> tuple[Page, ...]:
    """The pages; one generated for a benchmark is about scores if its source turns out to hold such."""

    def fit(page: Page) -> Page:
        benchmark = page.front_matter.benchmark
        source = sources.get(benchmark.source) if benchmark else None
        if source is None or source.kind == "measurements":
            return page
        return generate_for_scores(page, totals=source.kind == "totals")

    return tuple(map(fit, pages))


def _or_figure(problem: Diagnostic, of: str, page: Page) -> Diagnostic:
    """The problem of a source that is not there, for an ``of`` that may have meant a figure as well."""
    said = f'there is no figure "{of}" on this page, and {problem.message}'
    return replace(problem, message=said, next_step=f"{list_figures(of, page)}. {problem.next_step}".strip())


def _iterate_sources(pages: tuple[Page, ...]) -> Iterator[tuple[str, SourceLocation, Page | None]]:
    """Sources and who names them, in the order of the report; with the page where it is an ``of``."""
    for page in pages:
        benchmark = page.front_matter.benchmark
        if benchmark:
            yield benchmark.source, SourceLocation(page.file, benchmark.line), None
        for block in page.blocks:
            of = block.settings.of if isinstance(block.settings, ObservationsSettings) else None
            for name in list_block_sources(block, page):
                yield name, block.location, page if name == of and not is_figure(name, page) else None
        for binding in page.bindings:
            for name in list_named_sources(binding.of, page):
                yield (
                    name,
                    binding.location,
                    page if name == binding.of and not is_figure(name, page) else None,
                )
