"""A review in lines for the terminal: the states, what changed, and the verdict last, where it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.review.document import Document, Entry, Row, Text

_WIDTH = 100


def list_lines(document: Document) -> Iterator[str]:
    """The document in lines, headings without an indent."""
    for label, state in document.states:
        yield f"{label + ':':<8}{write_plain(state)}"
    yield from map(write_plain, document.warnings)
    for section in document.sections:
        if section.rows:
            yield from ("", f"{section.title}:")
            for row in section.rows:
                yield from _list_cells(row, section.header)
            yield from _count_rest(section.count - len(section.rows))
        for group in section.groups:
            yield from ("", f"{group.title or section.title}:")
            for entry in group.entries:
                yield from _list_entry(entry)
            yield from _count_rest(group.count - len(group.entries))
    yield from ("", document.verdict, *filter(None, (document.rest,)))


def write_plain(text: Text) -> str:
    """A text without marks, but quotes around what somebody says."""
    return "".join(
        part if isinstance(part, str) else f'"{part.words}"' if part.look == "said" else part.words
        for part in text
    )


def join_lines(lines: Sequence[str]) -> str:
    """The lines of a cell on one: ``0.72 [0.71, 0.74], n = 4``."""
    return ", ".join(filter(None, lines)).replace(", [", " [")


def _list_entry(entry: Entry) -> Iterator[str]:
    yield f"  {': '.join(filter(None, (entry.place, write_plain(entry.title), write_plain(entry.what))))}"
    for label, text in entry.lines:
        yield f"    {write_plain(label)}: {write_plain(text)}"


def _list_cells(row: Row, header: Sequence[str]) -> Iterator[str]:
    """The first cell, and as many of the others on a line as fit, each behind its name."""
    name, *cells = (join_lines([*map(write_plain, cell)]) for cell in row.cells)
    yield f"  {name}"
    line = ""
    for title, cell in zip(header[1:], cells, strict=True):
        said = f"{title.lower().partition(',')[0]} {cell}" if cell else ""
        if line and len(line) + len(said) > _WIDTH:
            yield line
            line = ""
        line += (f"; {said}" if line else f"    {said}") if said else ""
    yield line


def _count_rest(count: int) -> Iterator[str]:
    if count > 0:
        yield f"  {count:,} more are in review.json"
