"""Drafting a report without writing a site, and the rules that its diagnostics break.

Findings are printed as text, GitHub workflow annotations, JSON, and SARIF 2.1.0 (OASIS, 2020).
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core import __version__
from reportgen.core.cache import OTHER_STATES, Cache, FileHashes, cache_folder
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, Stage, StatementRule
from reportgen.core.terminal import clean_json, format_annotation
from reportgen.core.words import format_count, join_names
from reportgen.site.citation import compare_files, find_cited_report
from reportgen.site.files import iterate_languages
from reportgen.site.outputs import count_statements
from reportgen.site.publishing import collect_warnings, load_configuration, make_mkdocs_problem
from reportgen.site.repairs import get_words, suggest_binding
from reportgen.site.worker import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import SourceLocation
    from reportgen.core.statements import Statement
    from reportgen.draft.report import Report
    from reportgen.draft.unbound import PageNumbers
    from reportgen.settings.report import Project


# Maximum number of characters read from a line: a JSON file may be a single line of any length.
_LONGEST = 1_000_000


class OpenedReport(Struct, frozen=True):
    """A report on disk, ready to be drafted.

    ``translations`` are the same project with the pages of each further language, ``hashes`` those of its
    data files, ``warnings`` those of MkDocs, and what files beside ``mkdocs.yml`` contradict in it.
    """

    project: Project
    translations: tuple[Project, ...]
    cache: Cache
    hashes: FileHashes
    warnings: tuple[Diagnostic, ...]


def open_report(config_file: Path, folder: Path | None = None) -> OpenedReport:
    """Open the report of a ``mkdocs.yml``; raise a ReportError if it is refused or our plugin is missing.

    ``folder`` is used as the cache instead of the report's own, for another state of the report or one from
    elsewhere, of which nothing runs.
    """
    foreign = folder is not None
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=False, words=words, foreign=foreign)
        projects = [plugin.make_project(config) for _ in iterate_languages(config)]
    if foreign:
        # Its other plugins are left out, and so may be those that replace the names between braces.
        projects = [replace(one, macros=True, skips_code=True) for one in projects]
    project, *translations = projects
    cited = find_cited_report(project.settings, config, project.root)
    hashes = FileHashes(folder / OTHER_STATES if folder else cache_folder(project.root))
    warnings = tuple(make_mkdocs_problem(word, Severity.WARNING) for word in words)
    cache = Cache(folder or cache_folder(project.root))
    contradictions = tuple(compare_files(cited, project.root)) if cited else ()
    return OpenedReport(project, tuple(translations), cache, hashes, (*warnings, *contradictions))


def draft_report(
    config_file: Path, *, progress: Callable[[int, int], None], folder: Path | None = None
) -> tuple[Report, tuple[Diagnostic, ...]]:
    """Draft a report and return it with all warnings; only the cache is written.

    ``progress`` is called after each block with the numbers of drawn blocks and of all; ``folder`` is as in
    ``open_report``. Raises a ReportError with every problem if any of them is an error.
    """
    from reportgen.draft.report import draft  # noqa: PLC0415 - imports the statistics

    report = open_report(config_file, folder)
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
    # The drafts of all languages are one report.
    pages = {page.path: page for one in drafts for page in one.pages}
    statements = {path: checked for one in drafts for path, checked in one.statements.items()}
    whole = replace(drafts[0], pages=tuple(pages.values()), statements=statements)
    return whole, (*report.warnings, *problems.in_order())


# Every rule by its id: name and explanation.
RULES: dict[str, tuple[str, str]] = {
    StatementRule.FAILS.value: (
        "Statement fails",
        "The data say otherwise; reportgen fix --write corrects bound values.",
    ),
    StatementRule.UNDECIDED.value: (
        "Statement cannot be decided",
        "The data do not show whether it is true.",
    ),
    StatementRule.UNEXPECTED.value: ("Expected failure holds", "A claim that is marked with fails= holds."),
    StatementRule.UNBOUND.value: (
        "Numbers are not bound",
        "A page has fewer bound numbers than --require-bound says.",
    ),
    Stage.SETTINGS.value: ("Problem in settings", "Something in mkdocs.yml, a source.yml or a block."),
    Stage.DATA.value: ("Problem in data", "Something in the data folder, or in how it is read."),
    Stage.NARRATIVE.value: ("Problem in a page", "Something in a Markdown page."),
    Stage.FIGURE.value: ("Problem in a figure", "A figure cannot be drawn with its settings."),
    Stage.SITE.value: ("Problem of the site", "What MkDocs or the site's folder says."),
}


class Finding(Struct, frozen=True):
    """A diagnostic of a check and the rule it breaks; it is an error if it is about a statement.

    ``line`` is the text of the line, or None; ``length`` is the number of characters from its column on that
    the finding covers, 0 if unknown.
    """

    diagnostic: Diagnostic
    rule: str
    line: str | None
    length: int

    @property
    def fails(self) -> bool:
        """Whether it fails the check."""
        return self.diagnostic.severity is Severity.ERROR


def read_source_line(root: Path, place: SourceLocation) -> str | None:
    """Read the line of a location; None if there is none, or if it has a million characters."""
    if place.line is None:
        return None
    try:
        with (root / place.file).open(encoding="utf-8-sig") as file:
            for number in range(1, place.line + 1):
                line = file.readline(_LONGEST)
                if not line or (not line.endswith("\n") and len(line) == _LONGEST):
                    return None
                if number == place.line:
                    return line.rstrip("\n")
    except (OSError, UnicodeDecodeError):
        pass
    return None


def make_findings(
    problems: Iterable[Diagnostic], statements: Iterable[Statement], root: Path
) -> tuple[Finding, ...]:
    """Return every diagnostic of a draft with its rule; locations are relative to ``root``."""
    broken = {one.binding.location: one for one in statements if not one.as_expected}
    findings = []
    for problem in problems:
        line, statement = read_source_line(root, problem.location), broken.get(problem.location)
        if statement is None or problem.rule is None:
            findings.append(Finding(problem, problem.stage.value, line, 0))
            continue
        # Of a page, the brackets around the words are marked, too.
        length = statement.binding.end - statement.binding.start
        length += len("[]") if statement.binding.ends[0] == "[" else 0
        rest = len(line or "") - (problem.location.column or 1) + 1
        failed = replace(problem, severity=Severity.ERROR)
        findings.append(Finding(failed, problem.rule.value, line, max(min(length, rest), 0)))
    return tuple(findings)


def describe_counts(statements: Sequence[Statement]) -> str:
    """Return counts such as ``41 statements: 39 hold, 1 fails, 1 cannot be decided``."""
    counts = count_statements(statements)
    phrases = {
        "hold": ("holds", "hold"),
        "fail": ("fails", "fail"),
        "undecided": ("cannot be decided", "cannot be decided"),
        "fail_as_expected": ("fails as expected", "fail as expected"),
        "hold_unexpectedly": ("holds unexpectedly", "hold unexpectedly"),
    }
    parts = ", ".join(format_count(counts[name], *words) for name, words in phrases.items() if counts[name])
    return f"{format_count(len(statements), 'statement')}{': ' if statements else ''}{parts}"


class Check(Struct, frozen=True):
    """Results of a check; incomplete and without statements if an error stopped the draft."""

    findings: tuple[Finding, ...]
    statements: tuple[Statement, ...]
    is_whole: bool
    numbers: tuple[PageNumbers, ...] | None = None  # bound and unbound ones, if they were counted

    @property
    def fails(self) -> bool:
        """Whether there is an error or a statement that is not as expected; warnings do not count."""
        expected = all(statement.as_expected for statement in self.statements)
        return any(finding.fails for finding in self.findings) or not expected


def check(
    config_file: Path,
    *,
    progress: Callable[[int, int], None],
    counts_numbers: bool = False,
    required: int = 0,
    is_new: Callable[[SourceLocation], bool] | None = None,
) -> Check:
    """Check a report; its problems are returned, not raised.

    Numbers are looked for if ``counts_numbers``, or if a percentage of them is ``required`` to be bound.
    Statements and numbers of lines that are not new are left out, if ``is_new`` is given.
    """
    root = config_file.resolve().parent
    numbers = None
    try:
        report, problems = draft_report(config_file, progress=progress)
        if counts_numbers or required:
            from reportgen.draft.unbound import find_unbound  # noqa: PLC0415 - imports the statistics

            numbers = find_unbound(report, root)
    except ReportError as error:
        return Check(make_findings(error.problems, (), root), (), is_whole=False)
    pages = (*report.pages, *report.documents)
    statements = tuple(one for page in pages for one in report.statements.get(page.path, ()))
    from reportgen.site.exports.model_cards import compare_cards  # noqa: PLC0415 - few reports have some

    findings = make_findings(problems, statements, root)
    if is_new is not None:
        numbers = tuple(one.choose(is_new) for one in numbers) if numbers is not None else None
        old = {one.binding.location for one in statements if not is_new(one.binding.location)}
        statements = tuple(one for one in statements if one.binding.location not in old)
        findings = tuple(one for one in findings if one.diagnostic.location not in old)
    findings += tuple(_find_unbound_pages(numbers or (), required, root))
    findings += make_findings(compare_cards(report, root), (), root)
    return Check(findings, statements, is_whole=True, numbers=numbers)


_MOST_NAMED = 3


def _find_unbound_pages(numbers: Iterable[PageNumbers], required: int, root: Path) -> Iterator[Finding]:
    """Yield an error for each page with too few bound numbers, and how to bind the first of the others."""
    for one in numbers:
        count, whole = len(one.bound), len(one.bound) + len(one.unbound)
        if 100 * count >= required * whole:
            continue
        place, match = one.unbound[0]
        others = (
            (suggest_binding(one.page, found) or get_words(one.page, found), at) for at, found in one.unbound
        )
        named = join_names([f"{words} (line {at.line})" for words, at in others], most=_MOST_NAMED)
        message = f"{count} of {whole} numbers are bound, less than {required}%; the others are {named}"
        step = "Bind those that are results, and write <!-- rg free --> in a paragraph without any"
        problem = Diagnostic(place, message, step, Stage.NARRATIVE, rule=StatementRule.UNBOUND)
        yield Finding(
            problem, StatementRule.UNBOUND.value, read_source_line(root, place), len(match.number.words)
        )


def _add_prefix(prefix: str, file: str) -> str:
    """Return a file's path in the repository; a file outside the report already has an absolute one."""
    # A document may lie above the report.
    return file if file.startswith("/") else posixpath.normpath(f"{prefix}{file}")


def format_annotations(check: Check, prefix: str) -> Iterator[str]:
    """Format workflow commands ``::error file=content/index.md,line=5,…::…`` for a report in ``prefix``."""
    for finding in check.findings:
        place, severity = finding.diagnostic.location, finding.diagnostic.severity
        values: dict[str, str | int | None] = {
            "file": _add_prefix(prefix, place.file),
            "line": place.line,
            "col": place.column,
            "endColumn": place.column + finding.length if place.column and finding.length else None,
            "title": RULES[finding.rule][0],
        }
        yield format_annotation(severity, values, finding.diagnostic.text)


def _encode_json(value: object) -> str:
    """Return readable JSON with sorted keys; the same value gives the same bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{clean_json(text)}\n"


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def format_sarif(check: Check, prefix: str) -> str:
    """Format a SARIF log with one run; ``prefix`` is the report's folder in the repository."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": f"{title}."},
            "fullDescription": {"text": meaning},
            "help": {"text": meaning},
            "defaultConfiguration": {"level": "error"},
        }
        for name, (title, meaning) in RULES.items()
    ]
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": list(RULES).index(finding.rule),
            "level": finding.diagnostic.severity.value,
            "message": {"text": finding.diagnostic.text},
            "locations": [{"physicalLocation": _describe_location(finding, prefix)}],
        }
        for finding in check.findings
    ]
    run = {
        "tool": {"driver": {"name": "reportgen", "semanticVersion": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": check.is_whole}],
        "results": results,
    }
    return _encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _describe_location(finding: Finding, prefix: str) -> dict[str, Any]:
    place = finding.diagnostic.location
    uri = quote(_add_prefix(prefix, place.file))
    # A file outside the report has an absolute path.
    artifact = {"uri": f"file://{uri}"} if uri.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    if not place.line:
        return {"artifactLocation": artifact}
    region = {"startLine": place.line}
    if place.column:
        region["startColumn"] = place.column
        if finding.length:
            region["endColumn"] = place.column + finding.length
    return {"artifactLocation": artifact, "region": region}
