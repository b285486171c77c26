r"""Bindings in text files beyond the report's pages: comments in Markdown, macros in LaTeX.

In Markdown, ``<!-- rg value="peak(MEL)" of="math500" -->0.84<!-- /rg -->`` shows the words alone, whatever
renders it. In LaTeX, ``\rgvalue{peak(MEL)}{math500}{0.84}`` and ``\rgclaim`` print their last argument.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reportgen.core.errors import Diagnostic, SourceLocation, Stage, make_error
from reportgen.core.statements import Binding
from reportgen.narrative.binding_syntax import LONGEST, Fault, read_mark_attributes
from reportgen.narrative.markup import report_conflict_marks
from reportgen.settings.inputs import Page
from reportgen.settings.report import FrontMatter
from reportgen.settings.text import MAX_CHARACTERS, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.errors import Diagnostics
    from reportgen.settings.report import Project


SUFFIXES: Final = (".md", ".markdown", ".tex")
"""Endings of the files that can be documents."""
_CARD: Final = re.compile(r"(?:^|/)\.eval_results/[^/]+\.ya?ml$")

BLANK: Final = re.compile(r"\n[ \t>]*\n")


class _Bound(NamedTuple):
    """A binding as it was found, with offsets in the text."""

    kind: Literal["value", "claim"]
    attributes: dict[str, str]  # by name: of, name, fails
    expression: str
    expression_start: int
    start: int  # the words without surrounding spaces, or all between the marks of a table
    end: int
    is_table: bool = False


def is_card(file: str) -> bool:
    """Return whether a file has a model's results for the Hugging Face Hub, which need no bindings."""
    return _CARD.search(file) is not None


def read_documents(project: Project, problems: Diagnostics) -> tuple[Page, ...]:
    """Read the documents of a report as pages without blocks, adding their problems to ``problems``."""
    pages = []
    for file in project.documents:
        with problems.collecting():
            text = read_text(project.root / file, file, Stage.NARRATIVE)
            pages.append(_read_document(text, file, problems))
    return tuple(pages)


def _read_document(text: str, file: str, problems: Diagnostics) -> Page:
    if len(text) > MAX_CHARACTERS:
        message = f"this document is longer than {MAX_CHARACTERS:,} characters"
        raise make_error(file, message, "Split it, or take it out of documents:", Stage.NARRATIVE)
    is_tex = file.endswith(".tex")
    problems.add(() if is_tex else report_conflict_marks(text, file))
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def locate(offset: int) -> SourceLocation:
        row = bisect_right(starts, offset) - 1
        return SourceLocation(file, row + 1, offset - starts[row] + 1)

    bindings = []
    found = () if is_card(file) else _scan_tex(text) if is_tex else _scan_markdown(text)
    for one in found:
        if isinstance(one, Fault):
            problems.add([Diagnostic(locate(one.offset), one.message, one.next_step)])
        else:
            places = locate(one.start), locate(one.expression_start)
            bindings.append(_make_binding(one, text, places, is_tex=is_tex))
    path = file if file.startswith("../") else f"./{file}"
    return Page(path, file, file, FrontMatter(), (), text, bindings=tuple(bindings))


def _make_binding(
    one: _Bound, text: str, places: tuple[SourceLocation, SourceLocation], *, is_tex: bool
) -> Binding:
    raw = text[one.start : one.end]
    words = "".join(plain for plain, _ in split_tex(raw)) if is_tex else " ".join(raw.split())
    return Binding(
        kind=one.kind,
        words=f"table of {one.expression}" if one.is_table else words,
        expression=one.expression,
        of=one.attributes["of"],
        name=one.attributes.get("name", ""),
        fails=one.attributes.get("fails", ""),
        location=places[0],
        expression_location=places[1],
        start=one.start,
        end=one.end,
        ends=(text[one.start - 1], text[one.end]) if is_tex else ("-->", "<!--"),
        table=raw if one.is_table else None,
    )


# ---- Markdown

_FENCE: Final = re.compile(r"[ \t>]*(?:[-+*][ \t]+|\d+[.)][ \t]+)*(`{3,}|~{3,})(.*)")
_ITEM: Final = re.compile(r"[ \t>]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
_FRONT: Final = re.compile(r"---\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOKEN: Final = re.compile(r"\\.|<!--(?P<inside>.*?)(?P<closed>-->|\Z)|`+", re.DOTALL)
_MARK: Final = re.compile(r"\s*(?P<end>/?)\s*rg(?![\w-])", re.IGNORECASE)
# Of a line before an HTML block: spaces, marks of quotes and items.
_NOTHING_BEFORE: Final = re.compile(r"[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)*")
_TABLE: Final = re.compile(r"\s*rg\s.*?(?<![\w-])table\s*=", re.IGNORECASE)
FREE: Final = re.compile(r"\s*rg\s+free\s*", re.IGNORECASE)
_REST: Final = re.compile(r"[ \t]*$", re.MULTILINE)
_IN_WORD: Final = re.compile(r"\w[*_~]+\Z")
_BEFORE_WORD: Final = re.compile(r"[*_~]+\w")
_NAME_OF: Final = 'Name a source, a benchmark or a figure: of="math500", of="math500.md#accuracy"'
_LINE_START: Final = "a mark at the start of a line makes Markdown show the rest of the line as it is typed"


def _scan_markdown(text: str) -> Iterator[_Bound | Fault]:
    """Yield bindings and errors in order; code and other comments hold none."""
    opened: list[re.Match[str]] = []
    is_broken = False
    for token in iterate_marks(text):
        mark = _MARK.match(token["inside"])
        if not mark:
            continue
        is_in_table = bool(opened) and _TABLE.match(opened[-1]["inside"]) is not None
        stands_alone = _TABLE.match(token["inside"]) or (mark["end"] and is_in_table)
        fault = _check_table_mark(token, text) if stands_alone else _check_mark(token, text)
        yield from (fault,) if fault else ()
        if FREE.fullmatch(token["inside"]):
            continue
        is_broken = is_broken or fault is not None
        if not mark["end"]:
            if opened and not is_in_table and BLANK.search(text, opened[-1].end(), token.start()):
                yield from () if is_broken else (_make_endless(opened[0]),)
                opened, is_broken = [], bool(fault)
            if opened:
                is_broken = True
                step = "End that first, with <!-- /rg -->"
                yield Fault(token.start(), "this mark is inside another", step)
            opened.append(token)
        elif not opened:
            step = "Remove it, or write a mark before the words"
            yield Fault(token.start(), "this mark ends nothing", step)
        else:
            opening = opened.pop()
            if not is_broken:
                yield from _read_bound(opening, token, text)
        is_broken = is_broken and bool(opened)
    if opened and not is_broken:
        yield _make_endless(opened[0])


def _make_endless(opening: re.Match[str]) -> Fault:
    return Fault(opening.start(), "this mark has no end", "Write <!-- /rg --> after its words")


def iterate_marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the comments outside code."""
    prose = hide_code(text)
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", prose):
        ticks.setdefault(len(run[0]), []).append(run.start())
    blanks = [match.start() for match in BLANK.finditer(prose)]
    offset = 0
    while token := _TOKEN.search(prose, offset):
        offset = token.end()
        if token[0].startswith("`"):
            runs = ticks.get(len(token[0]), [])
            after = bisect_right(runs, token.start())
            paragraph = bisect_right(blanks, token.start())
            end = blanks[paragraph] if paragraph < len(blanks) else len(text)
            if after < len(runs) and runs[after] < end:
                offset = runs[after] + len(token[0])
        elif token["inside"] is not None:
            yield token


def hide_code(text: str) -> str:
    """Replace front matter, fenced and indented code by as many spaces."""
    front = _FRONT.match(text)
    first = text.count("\n", 0, front.end()) if front else 0
    lines, fence, in_item, was_blank, in_comment = text.split("\n"), "", False, True, False
    for number, line in enumerate(lines):
        is_code = number < first
        if fence:
            is_code = True
            stripped = line.strip(" \t>")
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
        elif in_comment or ("<!--" in line and "-->" not in line[line.rfind("<!--") :]):
            in_comment = "-->" not in line
        elif (match := _FENCE.fullmatch(line)) and not (match[1][0] == "`" and "`" in match[2]):
            is_code, fence = True, match[1]
        elif was_blank and not in_item and line.startswith(("    ", "\t")):
            is_code = True
        elif line.strip():
            in_item = _ITEM.match(line) is not None or (in_item and (not was_blank or line[0] in " \t"))
        was_blank = is_code or not line.strip()
        if is_code:
            lines[number] = " " * len(line)
    return "\n".join(lines)


def _check_mark(token: re.Match[str], text: str) -> Fault | None:
    """Return what is wrong with a mark as a comment, if anything."""
    start, inside = token.start(), token["inside"]
    if not token["closed"] or len(inside) > LONGEST:
        return Fault(start, "this comment is not closed", "Write --> at its end")
    if "\n" in inside:
        return Fault(start, "this mark goes over several lines", "Write it on one line")
    if "--" in inside or "|" in inside:
        message = 'this mark holds "--" or "|", which ends it where Markdown is read by others'
        return Fault(start, message, "Give the series another name, with rename: in its source.yml")
    line = text.rfind("\n", 0, start) + 1
    is_alone = FREE.fullmatch(inside) and _REST.match(text, token.end())
    if _NOTHING_BEFORE.fullmatch(text, line, start) and not is_alone:
        return Fault(start, _LINE_START, "Put a word in front of it, or break the line elsewhere")
    if _IN_WORD.search(text[max(line, start - 20) : start]) or _BEFORE_WORD.match(text, token.end()):
        message = "emphasis around this mark is next to a letter, so that Markdown does not read it"
        return Fault(start, message, "Put a space between, or the emphasis inside the marks")
    return None


def _check_table_mark(token: re.Match[str], text: str) -> Fault | None:
    start, end = token.span()
    if (
        token["closed"]
        and "\n" not in token[0]
        and text[start - 1 : start] in {"", "\n"}
        and _REST.match(text, end)
    ):
        return None
    return Fault(start, "the marks of a table stand alone on their lines", "Begin them at the margin")


def _read_bound(opening: re.Match[str], ending: re.Match[str], text: str) -> Iterator[_Bound | Fault]:
    """Yield the binding between two marks, or what is wrong with it."""
    mark = _MARK.match(opening["inside"])
    first = opening.start("inside") + (mark.end() if mark else 0)
    found = read_mark_attributes(text, first, opening.end("inside"))
    faults = list(found.faults)
    if "of" not in found.texts and not faults:
        faults.append(Fault(opening.start(), "a statement in a document has of=", _NAME_OF))
    raw = text[opening.end() : ending.start()]
    is_table = _TABLE.match(opening["inside"]) is not None
    start = opening.end() + (0 if is_table else len(raw) - len(raw.lstrip()))
    faults += () if is_table else _check_words(raw, start)
    if faults:
        yield from faults
        return
    kind: Literal["value", "claim"] = "claim" if "claim" in found.texts else "value"
    expression, place = found.texts.pop(kind)
    texts = {name: words.strip() for name, (words, _) in found.texts.items()}
    end = ending.start() if is_table else start + len(raw.strip())
    yield _Bound(kind, texts, expression.strip(), place, start, end, is_table)


def _check_words(raw: str, start: int) -> Iterator[Fault]:
    if not raw.strip():
        yield Fault(start, "there is nothing to check here", "Write the words or the number that are bound")
    elif BLANK.search(raw):
        yield Fault(start, "these words go over several paragraphs", "End the binding before the empty line")


# ---- LaTeX

_TEX_HIDDEN: Final = re.compile(
    r"\\begin\{(?P<name>verbatim\*?|lstlisting|minted|comment|filecontents\*?)\}.*?(?:\\end\{(?P=name)\}|\Z)"
    r"|\\(?:verb|lstinline)\*?(?P<mark>[^A-Za-z\s*{\[])[^\n]*?(?P=mark)|(?P<escape>\\.)|%[^\n]*",
    re.DOTALL,
)
_MACRO: Final = re.compile(r"\\rg(value|claim)(?![A-Za-z])")
_DEFINES: Final = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|NewDocumentCommand|def|let)\*?\s*\{?\s*"
)
_TEX_SPACE: Final = re.compile(r"\s*")
_TEX_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_TEX_STYLE: Final = re.compile(r"\\(?:text(?:bf|it|tt|rm|sf)|emph|num|math(?:bf|rm|it)|underline)\{")
_TEX_PIECE: Final = re.compile(
    r"\\(?P<escaped>[%&#_$])|(?P<space>\\[,;: ]|~|\s+)|(?P<comma>\{,\})|.", re.DOTALL
)


def hide_tex(text: str) -> str:
    """Replace comments and verbatim text by as many spaces."""
    return _TEX_HIDDEN.sub(lambda m: m[0] if m["escape"] else re.sub(r"[^\n]", " ", m[0]), text)


def _scan_tex(text: str) -> Iterator[_Bound | Fault]:
    """Yield bindings and errors in order; comments and verbatim text hold none."""
    shown = hide_tex(text)
    offset = 0
    while macro := _MACRO.search(shown, offset):
        offset = macro.end()
        before = shown[max(0, macro.start() - 40) : macro.start()]
        if any(match.end() == len(before) for match in _DEFINES.finditer(before)):
            continue
        found = _read_arguments(shown, macro)
        if isinstance(found, Fault):
            yield found
            if found.offset > macro.start():
                return  # of what is not closed, the end is not known
            continue
        offset = found[2][1]
        yield from _read_macro(text, shown, macro, found)


def _read_arguments(shown: str, macro: re.Match[str]) -> tuple[tuple[int, int], ...] | Fault:
    """Return start and end of the three arguments of a macro, without their braces."""
    spans, offset = [], macro.end()
    for _ in range(3):
        space = _TEX_SPACE.match(shown, offset)
        offset = space.end() if space else offset
        if shown[offset : offset + 1] != "{":
            message = f"{macro[0]} has three arguments in braces: expression, source and words"
            return Fault(macro.start(), message, f"Write {macro[0]}{{peak(MEL)}}{{math500}}{{0.84}}")
        depth, start = 1, offset + 1
        for brace in _TEX_BRACE.finditer(shown, start, start + LONGEST):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                break
        else:
            return Fault(offset, "this { is not closed", f"Write a }} within {LONGEST:,} characters")
        spans.append((start, brace.start()))
        offset = brace.end()
    return tuple(spans)


def _read_macro(
    text: str, shown: str, macro: re.Match[str], spans: tuple[tuple[int, int], ...]
) -> Iterator[_Bound | Fault]:
    (first, last), (of_start, of_end), (start, end) = spans
    names = [
        re.sub(r"\\([_%&#$ ])", r"\1", " ".join(shown[slice(*span)].split()))
        for span in ((first, last), (of_start, of_end))
    ]
    faults = list(_check_words(text[start:end], start))
    if not names[0]:
        faults.append(Fault(first, "there is no expression here", "Write one, such as peak(MEL)"))
    if not names[1]:
        faults.append(Fault(of_start, "a statement in a document names what it is about", _NAME_OF))
    if text[start:end] != shown[start:end]:
        faults.append(
            Fault(start, "these words hold a comment or verbatim text", "Put it outside the braces")
        )
    elif _MACRO.search(shown, start, end):
        faults.append(Fault(start, "these words hold another statement", "Bind the words around it"))
    if faults:
        yield from faults
        return
    kind: Literal["value", "claim"] = "value" if macro[1] == "value" else "claim"
    yield _Bound(kind, {"of": names[1]}, names[0], first, *_trim_tex(text, start, end))


def _trim_tex(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where words begin and end within spaces, dollars and commands of style."""
    while True:
        raw = text[start:end]
        first, last = start + len(raw) - len(raw.lstrip()), start + len(raw.rstrip())
        style = _TEX_STYLE.match(text, first, last)
        if style and text[last - 1] == "}" and text.find("}", first) == last - 1:
            start, end = style.end(), last - 1
        elif last - first > 2 and text[first] == text[last - 1] == "$":  # noqa: PLR2004 - two dollars
            start, end = first + 1, last - 1
        else:
            return first, last


def split_tex(raw: str) -> list[tuple[str, str]]:
    """Split words in LaTeX into characters as they are printed, each with what is typed for it."""
    return [
        (match["escaped"] or (" " if match["space"] else "," if match["comma"] else match[0]), match[0])
        for match in _TEX_PIECE.finditer(raw)
    ]
