"""A line with a caret: under the right character, whatever the line holds and however long it is."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.errors import SourceLocation
from reportgen.core.terminal import clean_json, clean_lines, clean_text, format_excerpt
from reportgen.site.checking import read_source_line

if TYPE_CHECKING:
    from pathlib import Path

LINE = 'MEL peaks at [0.84]{value="peak(MEL)"}.'


def at(column: int | None, line: int = 12) -> SourceLocation:
    """A place in some page."""
    return SourceLocation("content/index.md", line, column)


def test_a_caret_stands_under_its_column() -> None:
    """With the line's number before the line."""
    assert format_excerpt(LINE, at(14)) == (f"   12 | {LINE}", "      |              ^")


def test_carets_stand_under_the_whole_part() -> None:
    """And never beyond the line's end."""
    assert format_excerpt(LINE, at(14), 6)[1] == "      |              ^^^^^^"
    assert format_excerpt("[0.8", at(1), 60)[1] == "      | ^^^^"


def test_without_a_column_there_is_only_the_line() -> None:
    """Nothing is pointed at that is not known."""
    assert format_excerpt(LINE, at(None)) == (f"   12 | {LINE}",)


def test_a_column_behind_the_line_is_its_end() -> None:
    """As where a quote is not closed."""
    assert format_excerpt("[a]{", at(5)) == ("   12 | [a]{", "      |     ^")
    assert format_excerpt("", at(1)) == ("   12 |", "      | ^")


@pytest.mark.parametrize(
    ("before", "cells"),
    [("\t", 4), ("ab\t", 4), ("数据", 4), ("é", 1), ("e\u0301", 1), ("\u200b", 0), ("🙂", 2), ("\x1b", 1)],
)
def test_carets_count_cells_of_the_terminal(before: str, cells: int) -> None:
    """Tabs, wide characters and those that take no room."""
    line, carets = format_excerpt(f"{before}[x]", at(len(before) + 1), 3)
    assert carets == "      | " + " " * cells + "^^^"
    assert line.endswith("[x]")


def test_a_line_that_gives_orders_to_the_terminal_gives_none() -> None:
    """Escape sequences and marks that turn text around are not passed on."""
    (line,) = format_excerpt("a\x1b[31mb\u202ec\x07", at(None))
    assert line == "   12 | a\N{REPLACEMENT CHARACTER}[31mbc\N{REPLACEMENT CHARACTER}"
    assert clean_text("a\x9bb\u2028c") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


@pytest.mark.parametrize("column", [1, 40, 150, 299, 300])
def test_a_long_line_is_cut_around_its_caret(column: int) -> None:
    """An ellipsis stands for what is left out, and the caret under the right character."""
    whole = "".join(chr(ord("a") + n % 26) for n in range(300))
    line, carets = format_excerpt(whole, at(column), width=60)
    assert len(line) <= 60
    assert line[carets.index("^")] == whole[column - 1]
    assert ("…" in line[:10]) == (column > 20)
    assert line.endswith("…") == (column < 280)


@given(st.text(max_size=200), st.integers(1, 210), st.integers(1, 30), st.integers(20, 90))
def test_no_line_breaks_an_excerpt(line: str, column: int, length: int, width: int) -> None:
    """Two lines of printable text, carets in the second, whatever was written."""
    shown, carets = format_excerpt(line, at(column), length, width=width)
    assert re.fullmatch(r"      \|  *\^+", carets)
    assert not any(unicodedata.category(character) in {"Cc", "Cf"} for character in shown)
    assert shown.startswith("   12 |")


# ---- lines of files -----------------------------------------------------------------------------


def test_lines_are_those_of_the_text(tmp_path: Path) -> None:
    """A byte order mark is no character, and any line end ends a line."""
    (tmp_path / "a.md").write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    assert [read_source_line(tmp_path, SourceLocation("a.md", n)) for n in (1, 2, 3, 4)] == [
        "one",
        "two",
        "three",
        None,
    ]


def test_what_is_no_text_has_no_line(tmp_path: Path) -> None:
    """Packed data, other encodings, endless lines, missing files, and places without a line."""
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"step,value\n"))
    (tmp_path / "latin.csv").write_bytes("caf\xe9\n".encode("latin-1"))
    (tmp_path / "one.json").write_text("x" * 2_000_000, encoding="utf-8")
    (tmp_path / "a.md").write_text("one\n", encoding="utf-8")
    for place in (
        SourceLocation("a.csv.gz", 1),
        SourceLocation("latin.csv", 1),
        SourceLocation("one.json", 1),
        SourceLocation("none.md", 1),
    ):
        assert read_source_line(tmp_path, place) is None
    assert read_source_line(tmp_path, SourceLocation("a.md")) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::a", ": :error::a"),
        ("\u3000\u202e::error::a", "\u3000: :error::a"),
        ("a ::error::", "a ::error::"),
        ("a ##[error]b", "a ## [error]b"),
        ("##vso[x]", "##vso [x]"),
        ("a\n::error::b", "a\N{REPLACEMENT CHARACTER}::error::b"),
    ],
)
def test_the_log_of_a_workflow_obeys_nothing(text: str, shown: str) -> None:
    """Where a line begins as a command of GitHub does, or holds one of Azure, a space is put in."""
    assert clean_text(text) == shown
    assert clean_lines(f"a\n{text}").split("\n")[1] == shown.split("\N{REPLACEMENT CHARACTER}", maxsplit=1)[0]
    assert not re.search(r"##\w*\[", format_excerpt(text, at(1))[0])


@given(st.text() | st.text('#[]vso:\\"\n\x1b\u202e\ud800'))
def test_printable_json_says_the_same(text: str) -> None:
    """Escapes change no text, and leave nothing that a terminal or a log obeys."""
    shown = clean_json(json.dumps({"text": text}, ensure_ascii=False, indent=2))
    assert json.loads(shown) == {"text": text}
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert not re.search(r"##\w*\[", shown)
