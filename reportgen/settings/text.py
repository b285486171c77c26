"""Text that users write: decoded from UTF-8, with one kind of line end, and captions in Markdown."""

from __future__ import annotations

import os
import re
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING, Final, TypeVar

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage, make_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from markdown import Markdown

_Value = TypeVar("_Value")


def normalise_text(text: str) -> str:
    """The text without a byte order mark, its lines ended by a line feed."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


MAX_CHARACTERS: Final = 2_000_000
"""Of a page, or of settings in YAML."""
NESTED_TOO_DEEP: Final = ("this page is nested too deep", "Indent and quote less")
LARGEST: Final = 16 << 20
"""Bytes of a page or a settings file: more are no text that a person wrote."""


CONFLICT: Final = (
    "this line is a merge conflict mark of Git",
    "Keep one of the two versions, and remove the lines with the marks",
)
_CONFLICT_MARK: Final = re.compile(r"^(?:<{7}|>{7}) \S", re.MULTILINE)


def find_conflict_marks(text: str) -> list[int]:
    """Return the lines, 1-based, that are merge conflict marks; ``=======`` may be a heading."""
    if "<<<<<<<" not in text and ">>>>>>>" not in text:  # found in far less time than a pattern
        return []
    return [text.count("\n", 0, match.start()) + 1 for match in _CONFLICT_MARK.finditer(text)]


def make_settings_problem(place: SourceLocation, message: str, next_step: str) -> Diagnostic:
    """A mistake in settings."""
    return Diagnostic(place, message, next_step, Stage.SETTINGS)


def make_size_problem(file: str, stage: Stage, largest: int = LARGEST) -> Diagnostic:
    """The problem of a page or a settings file of more than ``largest`` bytes."""
    page = stage is Stage.NARRATIVE
    step = "Split it into several pages" if page else "Keep data in files of the data folder"
    return Diagnostic(SourceLocation(file), f"this file is larger than {largest >> 20} MiB", step, stage)


def read_text(path: Path, file: str, stage: Stage, largest: int = LARGEST) -> str:
    """Read a file that has to be UTF-8; ``file`` is its name relative to the project.

    Raises:
        ReportError: it cannot be read, is too large, or is not UTF-8, as its name has to be, too; the problem
            names the line.
    """
    shown = file.encode("utf-8", "replace").decode()
    if shown != file:
        raise make_error(shown, "the name of this file has bytes that are not UTF-8", "Rename it", stage)
    try:
        with path.open("rb") as opened:
            # Room for the largest file takes longer than reading a page. What is no file has no size.
            size = os.fstat(opened.fileno()).st_size or largest
            data = opened.read(min(size, largest) + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise make_error(file, f"this file cannot be read ({reason})", stage=stage) from error
    if len(data) > largest:
        raise ReportError(make_size_problem(file, stage, largest))
    try:
        return normalise_text(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"this is not UTF-8: byte {data[error.start]:#04x} is where a character should be"
        step = "Save the file with the encoding UTF-8"
        raise make_error(SourceLocation(file, line), message, step, stage) from error


def shorten(text: str, limit: int = 80) -> str:
    """A text of the user's for a message: one line, at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


_LONGEST_TEXT: Final = 4_000
# Of a longer text: its beginning, and its end, where answers often are.
_HEAD: Final = 2_500
_TAIL: Final = 1_400


def cut_text(text: str) -> str:
    """Return a text of at most 4,000 characters, which says how many are left out."""
    if len(text) <= _LONGEST_TEXT:
        return text
    lost = f"{len(text) - _HEAD - _TAIL:,}"
    return f"{text[:_HEAD]} … [{lost} characters left out] … {text[-_TAIL:]}"


def read_markdown(text: str, place: SourceLocation, read: Callable[[str], _Value]) -> _Value:
    """What ``read`` makes of a page, unless that is longer or nested deeper than Markdown can be read.

    Raises:
        ReportError: a problem at ``place``, the page's beginning.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"this page is longer than {MAX_CHARACTERS} characters"
        raise make_error(place, message, "Split it into several pages", Stage.NARRATIVE)
    try:
        return read(text)
    except RecursionError as error:
        raise make_error(place, *NESTED_TOO_DEEP, Stage.NARRATIVE) from error


# What a caption has none of: HTML, images, lists, headings and other blocks.
_LEFT_OUT: Final = {
    "preprocessors": "html_block",
    "blockprocessors": "code hashheader hr indent olist quote reference setextheader ulist",
    "inlinePatterns": "automail entity html image_link image_reference linebreak reference short_image_ref "
    "short_reference",
    "postprocessors": "raw_html",
}
_MARKUP: Final = re.compile(r"[`*_\\<\[]")
_TAG: Final = re.compile(r"<[^>]*>")
_ADDRESS: Final = re.compile(r"(?i:https?://|mailto:)\S+|#\S+")


@cache
def _make_converter() -> Markdown:
    """Return a converter of emphasis, code and links; of HTML, images and blocks it knows nothing."""
    from markdown import Markdown  # noqa: PLC0415 - most captions have no markup

    markdown = Markdown()
    for part, names in _LEFT_OUT.items():
        for name in names.split():
            getattr(markdown.parser if part == "blockprocessors" else markdown, part).deregister(name)
    return markdown


def convert_caption(text: str) -> str:
    """The HTML of a caption, without a paragraph of its own; its links lead outside, or to the same page."""
    if not _MARKUP.search(text):
        return escape(" ".join(text.split()))
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    converter = _make_converter()
    html = (converter.reset().convert(part) for part in paragraphs if part)
    return " ".join(part.removeprefix("<p>").removesuffix("</p>") for part in html)


def read_caption(text: str) -> str:
    """The words of a caption without its markup."""
    return unescape(_TAG.sub("", convert_caption(text))) if text else ""


def check_links(text: str) -> str:
    """Return a caption; raise a ``ValueError`` for a link that is neither an address nor to the same page."""
    for address in re.findall(r'<a href="([^"]*)"', convert_caption(text)):
        if not _ADDRESS.fullmatch(unescape(address)):
            message = f'a link of a caption leads to "{address}"'
            raise ValueError(message, "Write an address (https://…), or a heading of the same page (#…)")
    return text


def write_tex(words: str) -> str:
    """Write plain characters in LaTeX."""
    return re.sub(r"[%&#_$]", r"\\\g<0>", words).replace("\u2212", "-")
