"""Pages of cases: files in, and what the program says of them, all in Markdown that anybody can read.

A page has a case under each heading of second level: a sentence that says why, its files, each in a fence
behind its path, and in the last fence, without a path, what is expected. Files above the first heading belong
to every case of the page. A word behind the mark of a fence says how its text becomes a file (``KINDS``).
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, NamedTuple

from made_files import KINDS, copy_kept

if TYPE_CHECKING:
    from pathlib import Path

_HEADING = re.compile(r"^## ", re.MULTILINE)
_FENCE = re.compile(
    r"(?:^`(?P<path>[^`\n]+)`\n\n)?^(?P<mark>````*)(?P<kind>\w*)\n(?P<text>.*?)^(?P=mark)$",
    re.MULTILINE | re.DOTALL,
)


class File(NamedTuple):
    """A file of a case, as its page has it."""

    path: str
    kind: str
    text: str

    def write(self, root: Path) -> None:
        """Write the file below a folder; what is ``copied`` is a file or folder of the repository."""
        path = root / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.kind == "copied":
            copy_kept(self.text.strip(), path)
            return
        path.write_bytes(KINDS[self.kind](self.text))


class Case(NamedTuple):
    """Files of a case, and what is expected of them."""

    page: Path
    name: str
    reason: str
    files: tuple[File, ...]
    kind: str
    expected: str
    head: str

    def write_files(self, root: Path) -> None:
        """Write the files of the page's head and those of the case, which may replace them."""
        for file in (*_read_files(self.head)[0], *self.files):
            file.write(root)

    def format(self) -> str:
        """Return the case as it stands in its page."""
        files = (f"`{file.path}`\n\n{_fence(file.kind, file.text)}" for file in self.files)
        return "\n".join((f"## {self.name}\n\n{self.reason}\n", *files, _fence(self.kind, self.expected)))

    def compare(self, found: str, *, accept: bool) -> None:
        """Fail where something else was found, or write it into the page if it is to be accepted.

        Raises:
            AssertionError: with the lines that differ, and the command that accepts them.
        """
        if found == self.expected:
            return
        if accept:
            head, cases = _split(self.page.read_text("utf-8"), self.page)
            now = (one._replace(expected=found) if one.name == self.name else one for one in cases)
            parts = (head.rstrip("\n") + "\n", *(one.format() for one in now))
            self.page.write_text("\n".join(parts), "utf-8")
            return
        lines = difflib.unified_diff(
            self.expected.splitlines(), found.splitlines(), "accepted", "now", "", "", 2, ""
        )
        how = f'If the change is right: python -m pytest {self.page.parent} -k "{self.page.stem}" --accept'
        raise AssertionError("\n".join((f"{self.page.name}, {self.name}", *lines, how)))


def read_pages(folder: Path) -> list[Case]:
    """Return the cases of all pages in a folder.

    Raises:
        AssertionError: two cases of a page have one name.
    """
    cases = [case for path in sorted(folder.glob("*.md")) for case in read_page(path)]
    names = [name_case(case) for case in cases]
    assert len(set(names)) == len(names), sorted({name for name in names if names.count(name) > 1})
    return cases


def read_page(path: Path) -> list[Case]:
    """Return the cases of a page."""
    return _split(path.read_text("utf-8"), path)[1]


def name_case(case: Case) -> str:
    """Name a case by its page and heading."""
    return f"{case.page.stem}-{case.name}"


def _split(text: str, page: Path) -> tuple[str, list[Case]]:
    # A heading in a fence is one of a file.
    bare = _FENCE.sub(lambda fence: " " * len(fence[0]), text)
    headings = [heading.span() for heading in _HEADING.finditer(bare)]
    ends = [start for start, _ in headings[1:]] + [len(text)]
    parts = [text[start:end] for (_, start), end in zip(headings, ends, strict=True)]
    head = text[: headings[0][0]] if headings else text
    return head, [_read_case(part, head, page) for part in parts]


def _read_case(text: str, head: str, page: Path) -> Case:
    name, _, rest = text.partition("\n")
    files, fence = _read_files(rest)
    reason = rest[: first.start() if (first := _FENCE.search(rest)) else None]
    return Case(
        page,
        name,
        reason.strip(),
        files,
        fence["kind"] if fence else "",
        fence["text"] if fence else "",
        head,
    )


def _read_files(text: str) -> tuple[tuple[File, ...], re.Match[str] | None]:
    files, last = [], None
    for fence in _FENCE.finditer(text):
        if fence["path"]:
            files.append(File(fence["path"], fence["kind"], fence["text"]))
        else:
            last = fence
    return tuple(files), last


def _fence(kind: str, text: str) -> str:
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}{kind}\n{text}{mark}\n"
