"""Drafts a report without writing a site: its problems, and what the data say to its statements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import Diagnostics, ReportError, Severity
from reportgen.site.checking.findings import Check, make_findings
from reportgen.site.files import iterate_languages
from reportgen.site.publishing import collect_warnings, load_configuration, make_mkdocs_problem
from reportgen.site.worker import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.draft.report import Report
    from reportgen.settings.report import Project


@dataclass(frozen=True, slots=True)
class OpenedReport:
    """A report on disk, ready to be drafted.

    ``translations`` are the same project with the pages of each further language, ``hashes`` are of its data
    files, ``warnings`` are what MkDocs complains of.
    """

    project: Project
    translations: tuple[Project, ...]
    cache: Cache
    hashes: FileHashes
    warnings: tuple[Diagnostic, ...]


def open_report(config_file: Path) -> OpenedReport:
    """The report of a ``mkdocs.yml``.

    Raises:
        ReportError: the file is refused, or our plugin is not switched on.
    """
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=False, words=words)
        project, *translations = (plugin.make_project(config) for _ in iterate_languages(config))
    folder = cache_folder(project.root)
    warnings = tuple(make_mkdocs_problem(word, Severity.WARNING) for word in words)
    return OpenedReport(project, tuple(translations), Cache(folder), FileHashes(folder), warnings)


def draft_report(
    config_file: Path, *, progress: Callable[[int, int], None]
) -> tuple[Report, tuple[Diagnostic, ...]]:
    """The draft of a report and all its warnings; nothing but the cache is written.

    ``progress`` is called after each block with how many of how many are drawn.

    Raises:
        ReportError: every problem of the report, when any of them is an error.
    """
    from reportgen.draft.report import draft  # noqa: PLC0415 - imports the statistics

    report = open_report(config_file)
    problems = Diagnostics()
    drafts = []
    with WorkerProcess(report.cache) as worker:
        for project in (report.project, *report.translations):
            with problems.collecting():
                drafts.append(
                    draft(project, report.cache, report.hashes, progress=progress, start_worker=worker.call)
                )
                problems.add(drafts[-1].problems)
    if problems.errors:
        raise ReportError(*problems.in_order())
    # The drafts of several languages are one report.
    pages = {page.path: page for one in drafts for page in one.pages}
    statements = {path: checked for one in drafts for path, checked in one.statements.items()}
    whole = replace(drafts[0], pages=tuple(pages.values()), statements=statements)
    return whole, (*report.warnings, *problems.in_order())


def check(config_file: Path, *, progress: Callable[[int, int], None]) -> Check:
    """Check a report; its problems are returned, not raised."""
    root = config_file.resolve().parent
    try:
        report, problems = draft_report(config_file, progress=progress)
    except ReportError as error:
        return Check(make_findings(error.problems, (), root), (), is_whole=False)
    statements = tuple(one for page in report.pages for one in report.statements.get(page.path, ()))
    return Check(make_findings(problems, statements, root), statements, is_whole=True)
