"""Repairs of bound values that no longer match the data: nothing else on a page changes."""

from __future__ import annotations

import os
import re
import shutil
import string
from bisect import bisect_left
from difflib import SequenceMatcher, unified_diff
from typing import TYPE_CHECKING

from msgspec import Struct

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage, make_error
from reportgen.core.statements import Truth
from reportgen.narrative.documents import split_tex
from reportgen.settings.text import normalise_text, write_tex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from reportgen.core.statements import Statement
    from reportgen.draft.finding import Match
    from reportgen.draft.proposals import Proposal
    from reportgen.draft.unbound import PageNumbers
    from reportgen.settings.inputs import Page

# Between two words of a binding: spaces, or a line break with the quote marks of the next line.
_GAP = r"([ \t\r\n]+[ \t\r\n>]*)"
_LINE_END = re.compile(r"\r\n?|\n")
# Brackets are searched within this distance of the words.
_NEAR = 1000
# Characters that git does not escape in a quoted file name.
_PLAIN = frozenset(string.printable) - frozenset(string.whitespace) - set('"\\#') | {" "}
_NO_LINE_END = "\\ No newline at end of file"


class Repair(Struct, frozen=True, order=True):
    """A bound value to replace: words on one line, and their offsets in the page's text (``Binding``)."""

    start: int
    end: int
    old: str
    new: str
    location: SourceLocation
    ends: tuple[str, str]  # what is typed before and after the words

    @property
    def is_tex(self) -> bool:
        """Whether the words are written in LaTeX."""
        return self.location.file.endswith(".tex")


def find_repairs(statements: Iterable[Statement]) -> dict[str, tuple[Repair, ...]]:
    """Find values to replace, by file relative to the project and in text order.

    Claims are left to their author, and so are notebooks, which Jupyter may have open.
    """
    repairs: dict[str, set[Repair]] = {}
    for statement in statements:
        binding, judgement = statement.binding, statement.judgement
        if binding.in_notebook:
            continue
        if binding.kind == "value" and judgement.truth is Truth.FAILS and judgement.repaired:
            old = binding.words if binding.table is None else binding.table
            words = old, judgement.repaired
            repair = Repair(binding.start, binding.end, *words, binding.location, binding.ends)
            repairs.setdefault(binding.location.file, set()).add(repair)
    return {file: tuple(sorted(several)) for file, several in sorted(repairs.items())}


class Edit(Struct, frozen=True):
    """Text of a file to replace: its offset, line and column, which count from 1; it may have line ends."""

    start: int
    line: int
    column: int
    old: str
    new: str


def make_edit(text: str, start: int, end: int, new: str) -> Edit:
    """Make the edit of a part of a file's text."""
    lines = _LINE_END.split(text[:start].removeprefix("\ufeff"))
    return Edit(start, len(lines), len(lines[-1]) + 1, text[start:end], new)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made, which are in its order."""
    parts, done = [], 0
    for edit in edits:
        parts += [text[done : edit.start], edit.new]
        done = edit.start + len(edit.old)
    return "".join([*parts, text[done:]])


def plan_edits(original: bytes, repairs: Sequence[Repair]) -> tuple[Edit, ...]:
    """Plan the repairs of a page's UTF-8; raise a ReportError if the file is not as the draft read it."""
    try:
        text = original.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(*(_report_changed_words(repair) for repair in repairs)) from error
    locate = _count_line_ends(text)
    edits: list[Edit] = []
    done, problems = 0, []
    for repair in sorted(repairs):
        start, end = locate(repair.start), locate(repair.end)
        before, behind = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
        words = None
        # In a document, quote marks around the words may be part of a comment's.
        spaces = " \t\r\n>" if repair.ends[0] == "[" else " \t\r\n"
        first, last = repair.ends
        if before.rstrip(spaces).endswith(first) and behind.lstrip(spaces).startswith(last):
            replace = _replace_tex if repair.is_tex else _replace_words
            replace = _replace_table if "\n" in repair.old else replace
            words = replace(text[start:end], repair)
        if words is None or start < done:
            problems.append(_report_changed_words(repair))
            continue
        edits.append(make_edit(text, start, end, words))
        done = end
    if problems:
        raise ReportError(*problems)
    return tuple(edits)


def _count_line_ends(text: str) -> Callable[[int], int]:
    """Return a function of a draft's offset, which counts CRLF as one and no byte order mark."""
    skipped = 1 if text.startswith("\ufeff") else 0
    pairs = [match.start() - skipped - count for count, match in enumerate(re.finditer("\r\n", text))]
    return lambda offset: offset + skipped + bisect_left(pairs, offset)


def _replace_words(raw: str, repair: Repair) -> str | None:
    """Return the repaired words, on as many lines as the old ones, or None if ``raw`` differs from those."""
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


def _replace_table(raw: str, repair: Repair) -> str | None:
    """Return a new table with the line ends of the old one, or None if ``raw`` is another."""
    new = repair.new.replace("\n", "\r\n" if "\r\n" in raw else "\n")
    return new if normalise_text(raw) == repair.old else None


def _replace_tex(raw: str, repair: Repair) -> str | None:
    """Return the repaired words in LaTeX, or None if ``raw`` prints other words than the old ones."""
    pieces = split_tex(raw)
    if "".join(plain for plain, _ in pieces) != repair.old:
        return None
    matcher = SequenceMatcher(None, repair.old, repair.new, autojunk=False)
    return "".join(
        "".join(typed for _, typed in pieces[start:end])
        if kind == "equal"
        else write_tex(repair.new[first:last])
        for kind, start, end, first, last in matcher.get_opcodes()
    )


def _report_changed_words(repair: Repair) -> Diagnostic:
    message = f'"{repair.old}" is no longer here: the page has changed since it was read'
    return Diagnostic(repair.location, message, "Run this again", Stage.NARRATIVE)


class PageRepair(Struct, frozen=True):
    """A page with bound values that no longer match; ``file`` is relative to the project."""

    file: str
    path: Path
    original: bytes
    edits: tuple[Edit, ...]

    @property
    def fixed(self) -> bytes:
        """The page with the edits made."""
        return apply_edits(self.original.decode("utf-8"), self.edits).encode("utf-8")

    @property
    def difference(self) -> str:
        """The changes as a unified diff with line feeds; empty if there are none."""

        def split_lines(content: bytes) -> list[str]:
            # A last line without a newline gets git's remark.
            lines = normalise_text(content.decode("utf-8", "replace")).split("\n")
            last = lines.pop()
            return [*lines, f"{last}\n{_NO_LINE_END}"] if last else lines

        old, new = split_lines(self.original), split_lines(self.fixed)
        before, after = (_quote_name(f"{side}/{self.file}") for side in "ab")
        return "".join(f"{line}\n" for line in unified_diff(old, new, before, after, lineterm=""))

    def write(self) -> None:
        """Replace the page atomically, preserving the old one's mode.

        If ``path`` is a link, its target is written. Raises a ReportError if the page is not ``original`` any
        more, or cannot be written.
        """
        path = self.path.resolve()
        fresh = path.with_name(f".{path.name}.reportgen-new")
        try:
            if path.read_bytes() != self.original:
                message = "this page has changed since it was read"
                raise make_error(self.file, message, "Run this again", Stage.NARRATIVE)
            if not os.access(path, os.W_OK):
                raise PermissionError(0, "it may not be written")
            try:
                with fresh.open("wb") as writing:
                    writing.write(self.fixed)
                    writing.flush()
                    os.fsync(writing.fileno())
                shutil.copymode(path, fresh)
                fresh.replace(path)
            finally:
                fresh.unlink(missing_ok=True)
        except OSError as error:
            message = f"this page cannot be written ({error.strerror or type(error).__name__})"
            step = "Make the file and its folder writable, and run this again"
            raise make_error(self.file, message, step, Stage.NARRATIVE) from error


def _quote_name(file: str) -> str:
    """Quote a file's name as git does in a patch, so that no log obeys a part of it."""
    if file.isprintable() and not set('"\\#') & set(file):
        return file
    written = (chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03o}" for byte in os.fsencode(file))
    return f'"{"".join(written)}"'


def plan_repairs(root: Path, statements: Iterable[Statement]) -> tuple[PageRepair, ...]:
    """Plan the repairs of every page without variables.

    Raises a ReportError if one is not as the draft read it.
    """
    pages = []
    for file, several in find_repairs(statements).items():
        path = root / file
        try:
            original = path.read_bytes()
        except OSError as error:
            message = f"this page cannot be read ({error.strerror or type(error).__name__})"
            raise make_error(file, message, "", Stage.NARRATIVE) from error
        # With variables, what was read is not what is written; documents have none.
        if b"{{" not in original or several[0].ends[0] != "[":
            pages.append(PageRepair(file, path, original, plan_edits(original, several)))
    return tuple(pages)


def find_unrepaired(
    statements: Iterable[Statement], repaired: Sequence[PageRepair]
) -> tuple[SourceLocation, ...]:
    """Find statements that are not as expected, and that no repair fixes."""
    files = {page.file for page in repaired}
    return tuple(
        one.binding.location
        for one in statements
        if not one.as_expected and not (one.judgement.repaired and one.binding.location.file in files)
    )


def plan_bindings(root: Path, pages: Iterable[PageNumbers]) -> tuple[PageRepair, ...]:
    """Plan the bindings of numbers whose words leave no other fact.

    Numbers where the syntax has no place for one are left out: in brackets, or at the start of a line.
    """
    planned = []
    for found in pages:
        path, text = root / found.page.file, found.page.text
        original = path.read_bytes()
        written = original.decode("utf-8", "replace")
        if normalise_text(written) != text:
            raise ReportError(_report_changed_page(found.page.file))
        locate, edits = _count_line_ends(written), []
        for _, match in found.unbound:
            number = match.number
            start, end = locate(number.start), locate(number.end)
            sure = match.sure
            bound = sure and write_binding(found.page, written[start:end], sure.call, sure.of)
            if bound and _has_place(found.page, number.start, number.end):
                edits.append(make_edit(written, start, end, bound))
        if edits:
            planned.append(PageRepair(found.page.file, path, original, tuple(edits)))
    return tuple(planned)


def _report_changed_page(file: str) -> Diagnostic:
    message = "this page has changed since it was read"
    return Diagnostic(SourceLocation(file), message, "Run this again", Stage.NARRATIVE)


def write_binding(page: Page, words: str, expression: str, of: str | None, kind: str = "value") -> str:
    """Return words bound in the syntax of their page; empty if the expression cannot be written there."""
    if page.file.endswith(".tex"):
        command = "" if set(expression) & set("#%{}\\~^") else f"\\rg{kind}"
        return f"{command}{{{expression}}}{{{of}}}{{{words}}}" if command else ""
    if '"' in expression or "--" in expression or "|" in expression:
        return ""
    named = f' of="{of}"' if of else ""
    if page.is_document:
        return f'<!-- rg {kind}="{expression}"{named} -->{words}<!-- /rg -->'
    return f'[{words}]{{{kind}="{expression}"{named}}}'


def write_claim(page: Page, claim: Proposal) -> str:
    """Return the words of a sentence bound to its claim; empty if they cannot be bound there."""
    words = page.text[claim.start : claim.end]
    fits = _has_place(page, claim.start, claim.end)
    return write_binding(page, words, claim.expression, claim.of, "claim") if fits else ""


def get_words(page: Page, match: Match) -> str:
    """Return a number as it is typed, in LaTeX with its backslashes."""
    return page.text[match.number.start : match.number.end]


def suggest_binding(page: Page, match: Match) -> str:
    """Return the binding of a number to its likeliest fact; empty if there is none."""
    first = next(iter(match.candidates), None)
    return write_binding(page, get_words(page, match), first.call, first.of) if first else ""


def describe_number(page: Page, match: Match) -> str:
    """Say which facts a number may be, or what the data say instead; empty if there is no such fact."""
    words = get_words(page, match)
    if match.instead:
        return f"{words}, but {match.instead}"
    return f"{words} may be {' or '.join(one.words for one in match.candidates)}" if match.candidates else ""


def _has_place(page: Page, start: int, end: int) -> bool:
    """Return whether a binding can stand here: not in brackets, nor where a comment would begin a line."""
    text = page.text
    line = text[text.rfind("\n", 0, start) + 1 : start]
    rest = text[end : text.find("\n", end) if "\n" in text[end:] else len(text)]
    if page.file.endswith(".tex"):
        return True
    in_brackets = line.rfind("[") > line.rfind("]") and "]" in rest
    begins = page.is_document and not line.strip("> \t-+*0123456789.)")
    return not in_brackets and not begins and re.search(r"\w[*_~]+$", line) is None
