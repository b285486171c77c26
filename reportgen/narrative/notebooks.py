"""Jupyter notebooks as pages: their Markdown cells, and these cells in what mkdocs-jupyter renders.

Notebooks are read as nbformat 4 describes them; nothing of Jupyter is needed. Each cell is Markdown of its
own, as in Jupyter, so that nothing that is left open in one cell affects the next.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import SourceLocation, make_error
from reportgen.settings.text import normalise_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SUFFIX: Final = ".ipynb"
LARGEST: Final = 256 << 20
"""Bytes of a notebook, whose outputs can hold pictures and tables."""

# Strings, each with the colon of a key, and brackets; what else JSON has does not matter here.
_TOKEN: Final = re.compile(r'("(?:[^"\\]++|\\.)*+")(\s*:)?|[{}\[\]]')
_CELLS: Final = ["", '"cells"']
# One character of a string: two escapes of a pair, a line break that counts as one, an escape, or itself.
_CHARACTER: Final = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\r\\n|\\u.{4}|\\.|.", re.DOTALL)


class Cell(Struct, frozen=True):
    """A Markdown cell of a notebook.

    Its text begins at ``first_line`` of ``file``, which names the cell too if the notebook does not have each
    line of the text on a line of its own. ``rows`` are these lines: the column at which each begins, and its
    text as JSON has it.
    """

    text: str
    id: str  # empty before nbformat 4.5
    file: str
    first_line: int
    rows: tuple[tuple[int, str], ...] = ()

    def locate(self, place: SourceLocation) -> SourceLocation:
        """Return a location in the cell with the column of the notebook's line, in which JSON escapes."""
        index = (place.line or 0) - self.first_line
        if place.column is None or not 0 <= index < len(self.rows):
            return place
        start, raw = self.rows[index]
        before = _CHARACTER.findall(raw)[: place.column - 1]
        return replace(place, column=start + len("".join(before)))


def is_notebook(path: str) -> bool:
    """Return whether a page is written as a notebook."""
    return path.endswith(SUFFIX)


def read_cells(text: str, file: str) -> tuple[Cell, ...]:
    """Return the Markdown cells of a notebook; none if it is older than nbformat 4.

    Raises:
        ReportError: the text is not JSON.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        message, step = "this notebook is not JSON", "Open it in Jupyter and save it again"
        raise make_error(SourceLocation(file, line), message, step) from error
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    cells = []
    for number, (kind, name, source) in enumerate(_iterate_sources(text), 1):
        if kind != '"markdown"':
            continue
        lines = [str(json.loads(f'"{raw}"', strict=False)) for _, raw in source]
        # Halves of characters cannot be written to a page.
        content = normalise_text("".join(lines)).encode("utf-8", "replace").decode()
        places = [bisect_right(starts, offset) for offset, _ in source]
        # Whether the strings of the source are its lines, each on the next line of the notebook.
        whole = all(line.find("\n") == len(line) - 1 for line in lines[:-1])
        whole = whole and not any("\n" in line[:-1] for line in lines[-1:])
        if lines and whole and places == list(range(places[0], places[0] + len(places))):
            columns = (
                offset - starts[line - 1] + 1 for line, (offset, _) in zip(places, source, strict=True)
            )
            rows = zip(columns, (raw for _, raw in source), strict=True)
            cells.append(Cell(content, name, file, places[0], tuple(rows)))
        else:
            cells.append(Cell(content, name, f"{file}:cell {number}", 1))
    return tuple(cells)


def _iterate_sources(text: str) -> Iterator[tuple[str, str, list[tuple[int, str]]]]:
    """Yield kind and id of each cell and the strings of its source, with offsets, as JSON has them."""
    path: list[str] = []  # the key of each object and list that is open
    key = kind = name = ""
    source: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in {"{", "["}:
            path.append(key)
            key = ""
        elif word in {"}", "]"}:
            path.pop()
            key = ""
            if path == _CELLS:
                yield kind, name, source
                kind, name, source = "", "", []
        elif token[2]:
            key = token[1]
        elif path == [*_CELLS, "", '"source"'] or (path == [*_CELLS, ""] and key == '"source"'):
            source.append((token.start() + 1, word[1:-1]))
        elif path == [*_CELLS, ""] and key == '"cell_type"':
            kind = word
        elif path == [*_CELLS, ""] and key == '"id"':
            name = word[1:-1]


# ---- cells on a page

# A Markdown cell of nbconvert's template "lab", from which mkdocs-jupyter's is derived; the id of any cell.
_OUTPUT: Final = re.compile(r'<div\b[^>]*\bclass="[^"]*\bjp-MarkdownOutput\b[^"]*"[^>]*>')
_ID: Final = re.compile(r'\bid="cell-id=([^"]*)"')
_DIV: Final = re.compile(r"<(/?)div\b")


def match_cells(html: str, cells: Sequence[Cell]) -> tuple[int, ...]:
    """Return the index of each Markdown cell that a rendered notebook shows, in order.

    Tags may remove cells; if these have no ids, it is unclear which, and the result is empty.
    """
    outputs = [match.start() for match in _OUTPUT.finditer(html)]
    ids = [(match.start(), match[1]) for match in _ID.finditer(html)]
    before = (bisect_right(ids, output, key=lambda pair: pair[0]) - 1 for output in outputs)
    names = [ids[index][1] if index >= 0 else "" for index in before]
    indexes = {cell.id: index for index, cell in enumerate(cells) if cell.id}
    if len(indexes) == len(cells) and len(set(names)) == len(names) and indexes.keys() >= {*names}:
        return tuple(indexes[name] for name in names)
    return tuple(range(len(cells))) if len(outputs) == len(cells) else ()


def replace_cells(html: str, shown: Sequence[int], contents: Mapping[int, str]) -> str:
    """Replace the contents of Markdown cells, by index, in a rendered notebook that shows some."""
    parts, end = [], 0
    for index, match in zip(shown, _OUTPUT.finditer(html), strict=True):
        if index in contents:
            parts += [html[end : match.end()], "\n", contents[index], "\n"]
            # Up to the tag that closes the element: nbconvert parses what it has rendered and writes it anew,
            # so every element is closed.
            depth, end = 1, len(html)
            for tag in _DIV.finditer(html, match.end()):
                depth += -1 if tag[1] else 1
                if not depth:
                    end = tag.start()
                    break
    return "".join([*parts, html[end:]])
