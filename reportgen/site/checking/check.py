"""Drafts a report without writing a site: problems, what the data say to its statements, repairs, facts.

Repairs are of bound values that no longer match the data: nothing else of a page changes.
"""

from __future__ import annotations

import os
import re
import shutil
import string
from bisect import bisect_left
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, unified_diff
from typing import TYPE_CHECKING

from reportgen.claims.fact_words import describe_fact
from reportgen.claims.vocabulary import FactError, ParameterKind, collect_facts, list_fact_kinds
from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import (
    Diagnostic,
    Diagnostics,
    ReportError,
    Severity,
    SourceLocation,
    Stage,
    make_error,
)
from reportgen.core.statements import Truth
from reportgen.settings.text import normalise_text
from reportgen.site.checking.findings import Check, make_findings
from reportgen.site.files import iterate_languages
from reportgen.site.publishing import collect_warnings, load_configuration, make_mkdocs_problem
from reportgen.site.worker import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.claims.vocabulary import FactKind, Subject
    from reportgen.core.statements import Fact, Statement
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


def open_report(config_file: Path, folder: Path | None = None) -> OpenedReport:
    """The report of a ``mkdocs.yml``; raises a ReportError if it is refused, or our plugin is not in it.

    ``folder`` is the cache to use in place of the report's own, for another state of the same report.
    """
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=False, words=words)
        project, *translations = (plugin.make_project(config) for _ in iterate_languages(config))
    hashes = FileHashes(folder / "other" if folder else cache_folder(project.root))
    warnings = tuple(make_mkdocs_problem(word, Severity.WARNING) for word in words)
    cache = Cache(folder or cache_folder(project.root))
    return OpenedReport(project, tuple(translations), cache, hashes, warnings)


def draft_report(
    config_file: Path, *, progress: Callable[[int, int], None], folder: Path | None = None
) -> tuple[Report, tuple[Diagnostic, ...]]:
    """The draft of a report and all its warnings; nothing but the cache is written.

    ``progress`` is called after each block with how many of how many are drawn, ``folder`` is as in
    ``open_report``. Raises a ReportError of every problem when any of them is an error.
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


# Between two words of a binding: spaces, or a line's end with the marks of a quote before the next line.
_GAP = r"([ \t\r\n]+[ \t\r\n>]*)"
# So far from the words, and no further, their brackets are looked for.
_NEAR = 1000
# What git writes as it is in the name of a file that it puts in quotes.
_PLAIN = frozenset(string.printable) - frozenset(string.whitespace) - set('"\\#') | {" "}
_NO_LINE_END = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True, order=True)
class Repair:
    """A bound value to type anew: words on one line, and their offsets in the page's text (``Binding``)."""

    start: int
    end: int
    old: str
    new: str
    location: SourceLocation


def find_repairs(statements: Iterable[Statement]) -> dict[str, tuple[Repair, ...]]:
    """What to type anew, by file relative to the project and in the order of its text; never a claim."""
    repairs: dict[str, set[Repair]] = {}
    for statement in statements:
        binding, judgement = statement.binding, statement.judgement
        if binding.kind == "value" and judgement.truth is Truth.FAILS and judgement.repaired:
            repair = Repair(binding.start, binding.end, binding.words, judgement.repaired, binding.location)
            repairs.setdefault(binding.location.file, set()).add(repair)
    return {file: tuple(sorted(several)) for file, several in sorted(repairs.items())}


def apply_repairs(original: bytes, repairs: Sequence[Repair]) -> bytes:
    """A page's UTF-8 with its repairs; raises a ReportError if the file is not as the draft read it."""
    try:
        text = original.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(*(_report_changed_words(repair) for repair in repairs)) from error
    # The draft counts a pair of carriage return and line feed as one character, and no byte order mark.
    skipped = 1 if text.startswith("\ufeff") else 0
    pairs = [match.start() - skipped - count for count, match in enumerate(re.finditer("\r\n", text))]
    parts, done, problems = [], 0, []
    for repair in sorted(repairs):
        start, end = (n + skipped + bisect_left(pairs, n) for n in (repair.start, repair.end))
        before, behind = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
        words = None
        if before.rstrip(" \t\r\n>").endswith("[") and behind.lstrip(" \t\r\n>").startswith("]{"):
            words = _replace_words(text[start:end], repair)
        if words is None or start < done:
            problems.append(_report_changed_words(repair))
            continue
        parts += [text[done:start], words]
        done = end
    if problems:
        raise ReportError(*problems)
    return "".join([*parts, text[done:]]).encode("utf-8")


def _replace_words(raw: str, repair: Repair) -> str | None:
    """The repaired words, over as many lines as the old ones; None if ``raw`` is not the old ones."""
    words = re.split("( +)", repair.old)
    match = re.fullmatch("".join(_GAP if word.isspace() else f"({re.escape(word)})" for word in words), raw)
    if match is None:
        return None
    places: list[int] = []
    for number, word in enumerate(words, 1):
        start, end = match.span(number)
        places += [start, *[end] * (len(word) - 1)] if word.isspace() else range(start, end)
    places.append(len(raw))
    matcher = SequenceMatcher(None, repair.old, repair.new, autojunk=False)
    return "".join(
        raw[places[start] : places[end]] if kind == "equal" else repair.new[first:last]
        for kind, start, end, first, last in matcher.get_opcodes()
    )


def _report_changed_words(repair: Repair) -> Diagnostic:
    message = f'"{repair.old}" no longer stands here: the page has changed since it was read'
    return Diagnostic(repair.location, message, "Run this again", Stage.NARRATIVE)


def make_diff(file: str, original: bytes, fixed: bytes) -> str:
    """What a repair changes, as a unified diff with line feeds; empty where it changes nothing."""

    def split_lines(content: bytes) -> list[str]:
        # A last line without an end has git's remark.
        lines = normalise_text(content.decode("utf-8", "replace")).split("\n")
        last = lines.pop()
        return [*lines, f"{last}\n{_NO_LINE_END}"] if last else lines

    old, new = (split_lines(content) for content in (original, fixed))
    lines = unified_diff(old, new, _quote_name(f"a/{file}"), _quote_name(f"b/{file}"), lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _quote_name(file: str) -> str:
    """A file's name as git writes it into a patch, so that no log obeys a part of it."""
    if file.isprintable() and not set('"\\#') & set(file):
        return file
    written = (chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03o}" for byte in os.fsencode(file))
    return f'"{"".join(written)}"'


def write_page(path: Path, original: bytes, fixed: bytes, file: str) -> None:
    """Put a repaired page in place of the old one, whole or not at all, with the old one's mode.

    Where ``path`` is a link, its target is written; ``file`` is its name relative to the project. Raises a
    ReportError if the page is not ``original`` any more, or cannot be written.
    """
    path = path.resolve()
    fresh = path.with_name(f".{path.name}.reportgen-new")
    try:
        if path.read_bytes() != original:
            message = "this page has changed since it was read"
            raise make_error(file, message, "Run this again", Stage.NARRATIVE)
        if not os.access(path, os.W_OK):
            raise PermissionError(0, "it may not be written")
        try:
            with fresh.open("wb") as writing:
                writing.write(fixed)
                writing.flush()
                os.fsync(writing.fileno())
            shutil.copymode(path, fresh)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        message = f"this page cannot be written ({error.strerror or type(error).__name__})"
        step = "Make the file and its folder writable, and run this again"
        raise make_error(file, message, step, Stage.NARRATIVE) from error


@dataclass(frozen=True, slots=True)
class PageRepair:
    """A page with bound values that no longer match; ``file`` is relative to the project."""

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
        """Put the new page in place of the old one; see ``write_page``."""
        write_page(self.path, self.original, self.fixed, self.file)


def plan_repairs(root: Path, statements: Iterable[Statement]) -> tuple[PageRepair, ...]:
    """Every page with something to type anew; raises a ReportError if one is not as the draft read it."""
    pages = []
    for file, several in find_repairs(statements).items():
        path = root / file
        try:
            original = path.read_bytes()
        except OSError as error:
            message = f"this page cannot be read ({error.strerror or type(error).__name__})"
            raise make_error(file, message, "", Stage.NARRATIVE) from error
        pages.append(PageRepair(file, path, original, apply_repairs(original, several), len(several)))
    return tuple(pages)


def find_unrepaired(
    statements: Iterable[Statement], repaired: Sequence[PageRepair]
) -> tuple[SourceLocation, ...]:
    """Where the statements stand that are not as expected, and that no repair makes so."""
    files = {page.file for page in repaired}
    return tuple(
        one.binding.location
        for one in statements
        if not one.as_expected and not (one.judgement.repaired and one.binding.location.file in files)
    )


@dataclass(frozen=True, slots=True)
class FactGroup:
    """One fact of the vocabulary and its value for each series or pair.

    ``signature`` is how it is written, such as ``peak(s)``, ``says`` its meaning; ``rows`` are pairs of a
    call to paste and what the data say; ``note`` says why there are no rows, or that they are one example.
    """

    signature: str
    says: str
    rows: tuple[tuple[str, str], ...]
    note: str = ""


def group_facts(subject: Subject) -> tuple[FactGroup, ...]:
    """The facts that there are for what a subject holds, in the order of the vocabulary."""
    known: dict[str, list[Fact]] = {}
    for fact in collect_facts(subject):
        known.setdefault(fact.name, []).append(fact)
    groups = []
    for kind in list_fact_kinds(subject.holds):
        chosen = any(parameter.kind is not ParameterKind.SERIES for parameter in kind.parameters)
        facts = _find_example(kind, known, subject) if chosen else known.get(kind.name, [])
        rows = []
        for fact in facts:
            words = describe_fact(fact, subject.scale).removeprefix(fact.call).strip()
            rows.append((fact.call, words.removeprefix("= ").removeprefix("is ")))
        note = "For example:" if rows and chosen else ""
        if not rows and len(subject.series) < _count_series(kind):
            note = "It needs two series."
        groups.append(FactGroup(kind.signature, kind.says, tuple(rows), note))
    return tuple(groups)


def _find_example(kind: FactKind, known: dict[str, list[Fact]], subject: Subject) -> Iterator[Fact]:
    """The fact of the first series or pair, at a step or level that its curve has."""
    needed = _count_series(kind)
    series = subject.series[:needed]
    bounds = subject.scale.bounds
    worst, best = _find_value(known, "trough"), _find_value(known, "peak")
    numbers = {
        "x": _find_value(known, "widest_gap_step" if needed > 1 else "peak_step"),
        "from": known["start"][0].step if "start" in known else None,
        "to": known["final"][0].step if "final" in known else None,
        # Between the first series' worst and best value, in two digits.
        "level": None if worst is None or best is None else float(f"{(worst + best) / 2:.2g}"),
        # A fiftieth of the range that values may have.
        "margin": (bounds[1] - bounds[0]) / 50 if bounds else None,
    }
    chosen = [numbers[one.name] for one in kind.parameters if one.kind is not ParameterKind.SERIES]
    given = [number for number in chosen if number is not None]
    if len(series) < needed or len(given) < len(chosen):
        return
    try:
        yield subject.fact(kind.name, (*series, *given))
    except FactError:
        # A curve without such a step: the signature alone says how the fact is written.
        return


def _count_series(kind: FactKind) -> int:
    return sum(parameter.kind is ParameterKind.SERIES for parameter in kind.parameters)


def _find_value(known: dict[str, list[Fact]], name: str) -> float | None:
    value = known[name][0].value if name in known else None
    return None if value is None else float(value)
