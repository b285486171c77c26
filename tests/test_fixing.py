"""Repairs in a page's bytes: the words alone change, whatever the lines end with."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.core.statements import Binding, Judgement, Statement, Truth
from reportgen.narrative.pages import read_page
from reportgen.settings.text import normalise_text
from reportgen.site.repairs import PageRepair, Repair, apply_repairs, find_repairs

if TYPE_CHECKING:
    from pathlib import Path

BOUND = re.compile(r"\[([^][]*)\]\{value=[^{}]*\}")
NEW = {"0.84": "0.86", "84 %": "86 %", "**84 %**": "**86 %**", "1 step": "3 steps", "p < 0.001": "p = 0.030"}


def wanted(text: str) -> list[Repair]:
    """A repair for each bound value of a text that has a new reading."""
    found = []
    for match in BOUND.finditer(normalise_text(text)):
        words = re.sub(r" *\n *(?:> *)*", " ", match[1])
        if words in NEW:
            place = SourceLocation("content/page.md", normalise_text(text).count("\n", 0, match.start()) + 1)
            found.append(Repair(match.start(1), match.end(1), words, NEW[words], place))
    return found


def fixed(text: str) -> str:
    """A text after its repairs."""
    return apply_repairs(text.encode("utf-8"), wanted(text)).decode("utf-8")


def page_repair(path: Path, old: bytes = b"old", new: bytes = b"new") -> PageRepair:
    """One value repaired in a page."""
    return PageRepair("content/page.md", path, old, new, 1)


def statement(words: str, truth: Truth = Truth.FAILS, new: str = "0.86", kind: str = "value") -> Statement:
    """A judged binding on line 3 of a page."""
    place = SourceLocation("content/page.md", 3, 5)
    binding = Binding(
        "claim" if kind == "claim" else "value", words, "peak(MEL)", None, "", "", place, place, 9, 13
    )
    return Statement(
        binding, 1, Judgement(truth, "peak(MEL) = 0.86", (), (), "peak(MEL)", new, ()), "accuracy", "", ""
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('at [0.84]{value="peak(MEL)"}.\n', 'at [0.86]{value="peak(MEL)"}.\n'),
        ('at [**84 %**]{value="a"} and [0.84]{value="b"}', 'at [**86 %**]{value="a"} and [0.86]{value="b"}'),
        ('a [84\n%]{value="a"} b\n', 'a [86\n%]{value="a"} b\n'),
        ('> a [84\r\n> %]{value="a"} b\r\n', '> a [86\r\n> %]{value="a"} b\r\n'),
        ('a [**84\r%**]{value="a"} b\r', 'a [**86\r%**]{value="a"} b\r'),
        ('a [1\nstep]{value="a"} b\n', 'a [3\nsteps]{value="a"} b\n'),
        ('a [p <\n  0.001]{value="a"} b\n', 'a [p =\n  0.030]{value="a"} b\n'),
        ('0.84 [0.84]{claim="a"} [0.84]{value="a"}\n', '0.84 [0.84]{claim="a"} [0.86]{value="a"}\n'),
        ('\ufeff# É 😀\r\n\r\n[0.84]{value="a"}\r\n', '\ufeff# É 😀\r\n\r\n[0.86]{value="a"}\r\n'),
        ("nothing\r\n", "nothing\r\n"),
    ],
)
def test_the_words_alone_change(text: str, after: str) -> None:
    """Line ends, the byte order mark, marks of quotes and all other text stay; nothing changes twice."""
    assert fixed(text) == after
    assert fixed(after) == after


LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
PIECES = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]{}"), max_size=8),
        LINE_ENDS,
        st.sampled_from([f'[{words}]{{value="peak(MEL)"}}' for words in NEW]),
        st.builds('[84{}%]{{value="a"}}'.format, LINE_ENDS),
    ),
    max_size=12,
)


@given(pieces=PIECES, mark=st.sampled_from(["", "\ufeff"]))
def test_any_text_with_any_line_ends(pieces: list[str], mark: str) -> None:
    """What is repaired is what would be repaired in a plain text, and everything else is the same bytes."""
    text = mark + "".join(pieces)
    after = fixed(text)
    plain = normalise_text(text)
    for repair in reversed(wanted(text)):
        words = (
            plain[repair.start : repair.end].replace("84", "86")
            if "\n" in plain[repair.start : repair.end]
            else ""
        )
        plain = plain[: repair.start] + (words or repair.new) + plain[repair.end :]
    assert normalise_text(after) == plain
    assert [*re.findall("\r\n|\r|\n", after)] == [*re.findall("\r\n|\r|\n", text)]
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert fixed(after) == after


@pytest.mark.parametrize(
    "now",
    [
        'at [0.85]{value="peak(MEL)"}.\n',
        'and at [0.84]{value="peak(MEL)"}.\n',
        'at (0.84){value="peak(MEL)"}.\n',
        "at [0.84](value.md).\n",
        "",
        "at",
    ],
)
def test_a_page_that_has_changed_is_left_alone(now: str) -> None:
    """Places of an older text mean nothing in a newer one; the problem names the line."""
    asked = wanted('at [0.84]{value="peak(MEL)"}.\n')
    with pytest.raises(ReportError) as caught:
        apply_repairs(now.encode(), asked)
    (problem,) = caught.value.problems
    assert str(problem) == (
        'content/page.md:1: "0.84" is no longer here: the page has changed since it was read. Run this again.'
    )


def test_bytes_that_are_no_longer_text() -> None:
    """A file that stopped being UTF-8 has changed too."""
    with pytest.raises(ReportError, match="has changed since it was read"):
        apply_repairs(b"at [0.84\xff]{", wanted('at [0.84]{value="peak(MEL)"}.\n'))


def test_repairs_of_statements() -> None:
    """Values that fail are repaired, by file and once; claims and what cannot be decided are not."""
    other = replace(
        statement("0.84").binding, location=SourceLocation("content/a.md", 1, 1), start=20, end=24
    )
    found = find_repairs(
        [
            statement("0.84"),
            statement("0.84"),
            replace(statement("0.84"), binding=other),
            statement("0.84", Truth.HOLDS, ""),
            statement("0.84", Truth.UNDECIDED, ""),
            statement("MEL leads", kind="claim"),
        ]
    )
    assert list(found) == ["content/a.md", "content/page.md"]
    assert found["content/page.md"] == (
        Repair(9, 13, "0.84", "0.86", SourceLocation("content/page.md", 3, 5)),
    )


def test_places_of_a_page_are_those_of_its_bindings() -> None:
    """Offsets count in the text as it is read: front matter in, byte order mark and carriage returns out."""
    raw = '\ufeff---\r\ntitle: É\r\n---\r\n# T\r\n\r\nIt is [84\r\n  %]{value="peak(MEL)"} here.\r\n'
    (binding,) = read_page("page.md", raw, "content/page.md").bindings
    judged = replace(statement("84 %", new="86 %"), binding=binding)
    after = apply_repairs(raw.encode(), find_repairs([judged])["content/page.md"])
    assert after.decode() == raw.replace("84", "86")


def test_a_difference_as_tools_read_it(tmp_path: Path) -> None:
    """Unified, with line feeds, and with the mark for a text that ends without a line."""
    text = 'One\r\n\r\nat [0.84]{value="a"}.'
    said = page_repair(tmp_path, text.encode(), fixed(text).encode()).difference
    assert said.splitlines() == [
        "--- a/content/page.md",
        "+++ b/content/page.md",
        "@@ -1,3 +1,3 @@",
        " One",
        " ",
        '-at [0.84]{value="a"}.',
        "\\ No newline at end of file",
        '+at [0.86]{value="a"}.',
        "\\ No newline at end of file",
    ]
    assert said.endswith("\n")
    assert not page_repair(tmp_path, text.encode(), text.encode()).difference


def test_writing_keeps_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The page is replaced as a whole; a link to it stays a link."""
    page = tmp_path / "deep" / "page.md"
    page.parent.mkdir()
    page.write_bytes(b"old\r\n")
    page.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(page)
    page_repair(link, b"old\r\n", b"new\r\n").write()
    assert page.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(page.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert [path.name for path in page.parent.iterdir()] == ["page.md"]


def test_a_page_saved_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """What an editor saved between reading and writing is worth more than a repair."""
    page = tmp_path / "page.md"
    page.write_bytes(b"newer")
    with pytest.raises(ReportError, match="has changed since it was read"):
        page_repair(page).write()
    assert page.read_bytes() == b"newer"


def test_what_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing page, a read-only one and a full disk: the old page stays, and nothing beside it."""
    with pytest.raises(ReportError, match=r"content/page\.md: this page cannot be written \(No such file"):
        page_repair(tmp_path / "none.md").write()
    page = tmp_path / "page.md"
    page.write_bytes(b"old")
    with monkeypatch.context() as patched:
        patched.setattr("os.access", lambda *_: False)
        with pytest.raises(ReportError, match="it may not be written"):
            page_repair(page).write()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ReportError, match="No space left on device"):
        page_repair(page).write()
    assert page.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [page]
