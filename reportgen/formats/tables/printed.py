r"""Tables as documents print them: the pipe table of a Markdown file, and a ``tabular`` of LaTeX.

Markdown: "Tables (extension)" in the GitHub Flavored Markdown specification. LaTeX: the environments tabular,
tabular*, tabularx and longtable, with the rules of booktabs. Nothing is expanded: a command that is not known
to leave a cell's text as it is would change what is read, so it is an error.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html import unescape
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError
from reportgen.formats.cells import parse_reported
from reportgen.formats.decode import MOST_COLUMNS
from reportgen.formats.files import split_weak_ending
from reportgen.formats.layout import Content
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.tables.delimited import write_separated
from reportgen.settings.text import CONFLICT, MAX_CHARACTERS, find_conflict_marks, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_LONGEST: Final = 60


class _Line(NamedTuple):
    """A row of cells, and its line in the file."""

    line: int
    cells: list[str]


def write_printed(content: Content, text: str, form: str) -> tuple[str, int]:
    """Return the only table of a text as tab-separated text, and the line at which it begins.

    Further lines of the copy are as far from its first one as in the file. Raises ``ReportError`` unless
    there is one table, and for cells that are not read.
    """
    if marks := find_conflict_marks(text):
        raise content.make_error(*CONFLICT, marks[0])
    rows = _read_markdown(content, text) if form == "markdown" else _read_latex(content, text)
    rows = [row for row in rows if any(row.cells)]
    if not rows:
        raise content.make_error("the table is empty", "Remove it or write it again")
    return write_separated(content, _place_rows(rows)), rows[0].line


def holds_table(path: Path) -> bool:
    """Return whether a file directly in the data folder is a source by its text, unlike a readme without."""
    sign = {"markdown": rb"^[ |:]*-+[ :]*\|[-|: \r]*$", "latex": rb"\\begin\{(?:tabular|longtable)"}
    form = split_weak_ending(path)[1]
    if form not in sign:
        return False
    with suppress(ReportError), Content(path, path.name).open() as file:
        return bool(re.search(sign[form], file.read(MAX_CHARACTERS), re.MULTILINE))
    return False


def _place_rows(rows: Iterable[_Line]) -> Iterator[list[str]]:
    """Yield the cells of each row, after empty lines as there are lines between rows in the file."""
    following = 0
    for line, cells in rows:
        if following and len(cells) > 1:
            yield from ([] for _ in range(line - following))
        yield cells
        following = max(following, line) + 1


def _check_only(content: Content, kind: str, lines: list[int], advice: str) -> None:
    """Raise unless a file has one table; ``lines`` are those at which tables begin."""
    if not lines:
        raise content.make_error(f"the file has no {kind}", advice)
    if len(lines) > 1:
        message = f"the file has {len(lines)} tables, which begin in lines {list_names(map(str, lines))}"
        raise content.make_error(message, "Keep one table a file", lines[1])


# ---- Markdown ----------------------------------------------------------------------------------------------

_HIDDEN: Final = re.compile(
    r"^ *(?P<mark>`{3,}|~{3,})[^`\n]*$.*?(?:^ *(?P=mark)|\Z)|<!--.*?(?:-->|\Z)", re.MULTILINE | re.DOTALL
)
_CELL: Final = re.compile(r"(?:^|\|)((?:\\.?|[^|\\])*)")
_DASHES: Final = re.compile(r":?-+:?")
_OTHER_BLOCK: Final = re.compile(r"[#>`~<{:]|[-*+] |\d+[.)] ")
_SIGNS: Final = re.compile(r"[\\`*_\[<&\0\u00a0]")
_LITERAL: Final = re.compile(r"\\([!-/:-@\[-`{-~])|(?<!`)(`{1,3})(?!`)(.{1,100}?)(?<!`)\2(?!`)")
# What is left of marks. A link or footnote directly after a number would add its digits to it.
_MARKS: Final = (
    (re.compile(r"\[\^[^\[\]]*\]"), ""),
    (re.compile(r"(?<![\w%])!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"), r"\1"),
    (re.compile(r"</?(?:b|strong|i|em|u|code)>", re.IGNORECASE), ""),
    (re.compile(r"<br */?>", re.IGNORECASE), " "),
    (re.compile(r"(\*\*)(?=\S)(.{1,100}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)(\*|__?)(?=\S)(.{1,100}?)(?<=\S)\1(?!\w)"), r"\2"),
)


def _read_markdown(content: Content, text: str) -> list[_Line]:
    """Return the rows of the only pipe table, its header first."""
    lines = _HIDDEN.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    begins = [
        number
        for number, (above, line) in enumerate(pairwise(lines), 1)
        if "|" in above and "|" in line and all(map(_DASHES.fullmatch, _split(line) or [""]))
    ]
    example = "Write one, with a line such as |---|---| below its header"
    _check_only(content, "pipe table", begins, example)
    top = begins[0]
    end = next((at for at in range(top + 1, len(lines)) if _ends_table(lines[at])), len(lines))
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("|") and not top <= number <= end:
            message = f"the line begins with | and is not in the table of line {top}"
            raise content.make_error(message, "Remove the empty line before it, or the line", number)
    if len(_split(lines[top - 1])) != len(_split(lines[top])):
        message = "the header and the line of dashes below it have different numbers of cells"
        raise content.make_error(message, "Give each column one of both", top)
    body = enumerate(lines[top + 1 : end], top + 2)
    rows = ((number, line) for number, line in [(top, lines[top - 1]), *body])
    return [_Line(number, [_read_inline(cell) for cell in _split(line)]) for number, line in rows]


def _ends_table(line: str) -> bool:
    return not line.strip() or ("|" not in line and bool(_OTHER_BLOCK.match(line.lstrip())))


def _split(line: str) -> list[str]:
    """Return the cells of a line, with or without a pipe at either end."""
    cells = [cell.strip() for cell in _CELL.findall(line.strip())]
    return cells[cells[0] == "" and len(cells) > 1 : len(cells) - (cells[-1] == "" and len(cells) > 1)]


def _read_inline(cell: str) -> str:
    """Return a cell's text without marks; what is in code or behind a backslash stays as it is."""
    if not _SIGNS.search(cell):
        return cell
    literal: list[str] = []

    def keep(found: re.Match[str]) -> str:
        literal.append(found[1] or found[3].replace("\\|", "|").strip())
        return f"\0{len(literal) - 1}\0"

    text = _LITERAL.sub(keep, cell.replace("\0", " "))
    for pattern, left in _MARKS:
        text = pattern.sub(left, text)
    text = re.sub("\0(\\d+)\0", lambda found: literal[int(found[1])], unescape(text))
    return text.replace("\u00a0", " ").strip()


# ---- LaTeX -------------------------------------------------------------------------------------------------

_COMMENT: Final = re.compile(r"(\\.)|%[^\n]*", re.DOTALL)
_TABLE: Final = re.compile(r"\\(begin|end)\{(tabular\*?|tabularx|longtable)\}")
# Of a longtable: what is repeated on each page stands between the first of these and the last.
_REPEATED: Final = re.compile(
    r"\\end(?:first)?head\b(?:.*\\end(?:(?:first)?head|(?:last)?foot)\b)?", re.DOTALL
)
_CAPTION: Final = re.compile(r"\\caption\*?(?:\[[^\]\\]*\])?\{[^{}\\]*\}(?:\s*\\label\{[^{}\\]*\})?\s*\\\\")
_RULE: Final = (
    r"\\(?:(?:top|mid|bottom)rule|hline|addlinespace|(?:cline|cmidrule)(?:\([^)\\]*\))?\{[^}\\]*\})"
    r"(?![A-Za-z])(?:\[[^\]\\]*\])?"
)
_PART: Final = re.compile(
    rf"(?P<rule>{_RULE})|(?P<end>\\\\\*?(?:[ \t]*\[[^\]\n\\]*\])?|\\tabularnewline(?![A-Za-z]))"
    r"|\\.?|[{}&]|[^\\{}&]+",
    re.DOTALL,
)
_UNPRINTED: Final = re.compile(
    r"\\(?:cite[a-z]*\*?|label|h?phantom|hspace\*?|cellcolor|rowcolor|textcolor|color|href)"
    r"\s*(?:\[[^\[\]\\]*\]\s*)*\{[^{}\\]*\}"
)
_OPTIONAL: Final = re.compile(r"\s*(?:\[[^\]]*\]\s*)*")
_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_MOST_DIGITS: Final = 15  # of a number of columns or rows; Python converts 4,300 at most
_SPAN: Final = re.compile(r"\\multi(column|row)(?![A-Za-z])")
_TOKEN: Final = re.compile(r"\\(?P<word>[A-Za-z]+)\s*|\\(?P<sign>.?)|[{}$~^_]|[^\\{}$~^_]+", re.DOTALL)
# Commands that change only how their text looks.
_LOOKS: Final = re.compile(
    r"(?:text|math)(?:bf|it|tt|rm|sf|sc|sl|up|md|normal)?|emph|underline|mbox|boldsymbol|bf|it|em|tt|rm|sf|sc"
    r"|(?:bf|md)series|(?:it|sl|sc|up)shape|(?:rm|sf|tt)family|tiny|scriptsize|footnotesize|small|normalsize"
)
_SYMBOLS: Final = {
    **dict.fromkeys(("pm", "textpm"), "±"),
    **dict(zip(("dagger", "ddagger", "ast", "uparrow", "downarrow"), "†‡*↑↓", strict=True)),
    **{sign: sign for sign in "%_&#${}"},
    **dict.fromkeys((" ", "\n", ",", ";", ":", "quad", "qquad"), " "),
    "!": "",
}
_AFTER_NUMBER: Final = re.compile(r"[\s{$]*(?:±|\\(?:text)?pm|[*†‡]|\\d?dagger|\\ast)")


def _read_latex(content: Content, text: str) -> list[_Line]:
    """Return the rows of the only table, with cells over several columns or rows in each of them."""
    text = _COMMENT.sub(lambda found: found[1] or "", text)
    begin, end = _find_table(content, text)
    at = begin.end()
    for _ in range(1 if begin[2] in {"tabular", "longtable"} else 2):
        at = _read_argument(text, at)[1]
    body = text[at : end.start()]
    for pattern in (_REPEATED, _CAPTION):
        body = pattern.sub(lambda found: "\n" * found[0].count("\n"), body)
    problems: list[Diagnostic] = []
    rows: list[_Line] = []
    count = 0
    spans: list[tuple[int, int, int]] = []  # row, column and number of rows
    for line, cells in _split_rows(body, text.count("\n", 0, at) + 1):
        row = _Line(line, [])
        for cell in cells:
            try:
                printed, across, down = _read_span(cell)
            except ValueError as error:
                shown = shorten(" ".join(cell.split()), _LONGEST)
                advice = "Write the cell as it is to be read"
                problems.append(content.make_problem(f'"{shown}" has {error}', advice, line))
                continue
            count += across
            if count > MAX_CHARACTERS:
                message = f"the table has more than {MAX_CHARACTERS:,} cells"
                raise content.make_error(message, "Write it as CSV")
            spans += [(len(rows), len(row.cells), down)] if down > 1 else []
            row.cells.extend([printed] * across)
        if any(row.cells):
            rows.append(row)
    if problems:
        raise ReportError(*limit_problems(problems))
    _fill_down(rows, spans)
    return rows


def _find_table(content: Content, text: str) -> tuple[re.Match[str], re.Match[str]]:
    """Return the begin and the end of the only table that is in no other."""
    tables: list[tuple[re.Match[str], re.Match[str]]] = []
    open_tables: list[re.Match[str]] = []
    for found in _TABLE.finditer(text):
        if found[1] == "begin":
            open_tables.append(found)
        elif open_tables:
            begin = open_tables.pop()
            tables += [] if open_tables else [(begin, found)]
    if open_tables:
        line = text.count("\n", 0, open_tables[0].start()) + 1
        message = f"\\begin{{{open_tables[0][2]}}} has no \\end"
        raise content.make_error(message, "Copy the whole table", line)
    places = [0, *(begin.start() for begin, _ in tables)]
    counts = (text.count("\n", *ends) for ends in pairwise(places))
    lines = [1 + below for below in accumulate(counts)]
    example = r"Write one, as in \begin{tabular}{lc} Model & Score \\ Elm & 51.2 \end{tabular}"
    _check_only(content, "table: no tabular, tabular*, tabularx or longtable", lines, example)
    return tables[0]


def _split_rows(body: str, line: int) -> Iterator[_Line]:
    """Yield the rows of a table as written; what is in braces is not split."""
    begin, depth, cells = 0, 0, [list[str]()]
    for part in _PART.finditer(body):
        piece = part[0]
        if part["end"] and not depth:
            yield _Line(begin or line, ["".join(cell) for cell in cells])
            begin, cells = 0, [[]]
        elif piece == "&" and not depth:
            begin = begin or line
            cells.append([])
        elif not part["rule"]:
            begin = begin or (line + piece[: -len(piece.lstrip())].count("\n") if piece.strip() else 0)
            depth += {"{": 1, "}": -1}.get(piece, 0)
            cells[-1].append(piece)
        line += piece.count("\n")
    yield _Line(begin or line, ["".join(cell) for cell in cells])


def _read_argument(text: str, at: int) -> tuple[str, int]:
    """Return what stands in the braces at or after a place, and where they end; skip what is optional."""
    found = _OPTIONAL.match(text, at)
    start = found.end() if found else at
    if text[start : start + 1] != "{":
        return "", start
    depth = 0
    for part in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if not depth:
            return text[start + 1 : part.start()], part.end()
    return "", len(text)


def _read_span(cell: str) -> tuple[str, int, int]:
    """Return a cell's text, and over how many columns and rows it is; ``ValueError`` says what is wrong."""
    text, size = _UNPRINTED.sub("", cell).strip(), {"column": 1, "row": 1}
    # Each of both once, in either order; what is left of a third is refused.
    for _ in range(2):
        found = _SPAN.match(text)
        if not found:
            break
        number, at = _read_argument(text, found.end())
        inner, at = _read_argument(text, _read_argument(text, at)[1])
        if not number.strip().isascii() or not number.strip().isdecimal():
            shown = shorten(number.strip(), _LONGEST) or "nothing"
            raise ValueError(f"{found[0]} of {shown}, which is no whole number")
        size[found[1]] = int(number.strip()[:_MOST_DIGITS])
        text = (inner + text[at:]).strip()
    if not 0 < size["column"] <= MOST_COLUMNS:
        raise ValueError(f"\\multicolumn of {size['column']:,} columns")
    return _read_printed(text), size["column"], size["row"]


def _read_printed(cell: str) -> str:
    """Return the text of a cell of LaTeX; ``ValueError`` names what cannot be read."""
    cell = re.sub(r"(?<=\d)\\,(?=\d)", "", cell)
    text = ""
    for token in _TOKEN.finditer(cell):
        piece = token[0]
        name = token["word"] if token["word"] is not None else token["sign"]
        if name is not None and name not in _SYMBOLS and not _LOOKS.fullmatch(name):
            raise ValueError(f"the command \\{name}, which is not read")
        if name is not None:
            text += _SYMBOLS.get(name, "")
        elif piece in {"^", "_"} and text[-_LONGEST:].rstrip()[-1:].isdigit():
            if not _AFTER_NUMBER.match(cell, token.end()):
                raise ValueError(f"a number with {piece} after it, which may be a mark or an interval")
        elif piece not in {"{", "}", "$"}:
            text += " " if piece == "~" else piece
    text = " ".join(text.split())
    return "\u2014" if text == "---" else text  # as it is printed, which is a word for missing values


def _fill_down(rows: list[_Line], spans: list[tuple[int, int, int]]) -> None:
    """Write cells over several rows into the empty ones below, except in the header."""
    body = (at for at, row in enumerate(rows) if any(map(parse_reported, row.cells[1:])))
    top = next(body, len(rows))
    for begin, column, height in spans:
        for at in range(begin + 1, min(begin + height, len(rows))) if begin >= top else ():
            cells = rows[at].cells
            if column >= len(cells) or cells[column]:
                break
            cells[column] = rows[begin].cells[column]
