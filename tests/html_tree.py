"""A page's elements as a tree, read strictly: an element left open or closed out of order is an error."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
# HTML lets these be left open.
_OPTIONAL = frozenset(("li", "p", "dt", "dd", "tr", "td", "th", "thead", "tbody", "option"))


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.builder = ET.TreeBuilder()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in _VOID:
            self.builder.end(tag)
        else:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in _OPTIONAL:
            self.builder.end(self.open.pop())
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}> at {self.getpos()}"
        self.builder.end(self.open.pop())

    def handle_data(self, data: str) -> None:
        if self.open:
            self.builder.data(data)


def read_html(html: str) -> ET.Element:
    """Read a page.

    Raises:
        AssertionError: elements are not properly nested.
    """
    reader = _Builder()
    reader.feed(html)
    reader.close()
    assert not reader.open, f"left open: {reader.open}"
    return reader.builder.close()


def words(element: ET.Element) -> str:
    """All text inside an element, with single spaces."""
    return " ".join("".join(element.itertext()).split())


def classed(element: ET.Element, name: str) -> list[ET.Element]:
    """The elements inside that carry a class."""
    return [found for found in element.iter() if name in found.get("class", "").split()]


def table_rows(table: ET.Element) -> list[list[str]]:
    """A table's cells as words, its head first."""
    return [[words(cell) for cell in row if cell.tag in {"th", "td"}] for row in table.iter("tr")]
