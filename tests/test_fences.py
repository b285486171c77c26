"""Fences become marks in a page's HTML, and marks become figures once the search index has read it."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import markdown
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_figures import HOSTILE, curve, curve_set, figure
from pymdownx.superfences import SuperFencesException

from reportgen.core.model import BenchmarkResult, Cell, Overview, Panels, ResultTable
from reportgen.narrative.pages import read_page
from reportgen.settings.blocks import BLOCKS
from reportgen.site.fragments import Fences, collect_search_text, make_custom_fences

if TYPE_CHECKING:
    from reportgen.core.model import Shown

FIGURE = figure(curve_set(curve("MEL", [0.2, 0.84])))
BLOCK = "```curve\nsource: runs\n```\n"
MARK = '<div class="rg-block" data-rg-block="{}-{}">{}</div>'
SALT = hashlib.sha256(BLOCK.encode()).hexdigest()[:16]
"""What the marks of a page begin with that is nothing but the block."""


def entered(text: str, shown: Shown = FIGURE) -> Fences:
    """The fences of a page that Markdown is about to read."""
    page = read_page("page.md", text, "content/page.md")
    fences = Fences((page,), {("page.md", block.id): shown for block in page.blocks})
    fences.enter_page("page.md", page.text)
    return fences


def rendered(text: str, fences: Fences) -> str:
    """A page's HTML with marks, as MkDocs makes it."""
    page = read_page("page.md", text, "content/page.md")
    settings = {"pymdownx.superfences": {"custom_fences": make_custom_fences(fences.mark)}}
    return markdown.markdown(
        page.text, extensions=["pymdownx.superfences", "admonition", "tables"], extension_configs=settings
    )


def test_a_fence_becomes_a_mark_with_words_for_the_search() -> None:
    """Title, summary and caption can be found; numbers and markup of the picture cannot."""
    text = f"# Title\n\n{BLOCK}"
    fences = entered(text)
    html = rendered(text, fences)
    assert fences.list_marked_ids("page.md", html) == ["curve"]
    assert "Accuracy. MEL peaks at step 1" in html
    assert "<svg" not in html


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_kind_of_block_has_a_fence(kind: str) -> None:
    """What settings know, Markdown hands over."""
    assert kind in {fence["name"] for fence in make_custom_fences(lambda _kind, _text: "")}


def test_marks_keep_the_order_of_the_page() -> None:
    """Blocks with the same text are told apart by their order."""
    text = f"{BLOCK}\nwords\n\n- item\n\n    {BLOCK.replace(chr(10), chr(10) + '    ')}\n\n{BLOCK}"
    fences = entered(text)
    html = rendered(text, fences)
    assert fences.list_marked_ids("page.md", html) == ["curve", "curve-2", "curve-3"]


def test_a_fence_that_is_only_shown_is_left_alone() -> None:
    """A guide shows a block inside a longer fence, in a comment, or as indented code."""
    text = f"````text\n{BLOCK}````\n\n<!--\n{BLOCK}-->\n\n{BLOCK}"
    fences = entered(text)
    html = rendered(text, fences)
    assert fences.list_marked_ids("page.md", html) == ["curve"]
    assert "source: runs" in html


def test_two_pages_do_not_mix() -> None:
    """Each page's fences are its own, whatever was read before."""
    pages = tuple(read_page(name, BLOCK + BLOCK, name) for name in ("a.md", "b.md"))
    shown = {(page.path, block.id): FIGURE for page in pages for block in page.blocks}
    fences = Fences(pages, shown)
    fences.enter_page("a.md", pages[0].text)
    assert '-curve"' in fences.mark("curve")
    fences.enter_page("b.md", pages[1].text)
    assert '-curve"' in fences.mark("curve")
    assert '-curve-2"' in fences.mark("curve")


@pytest.mark.parametrize(("kind", "entered"), [("curve", "other.md"), ("table", "page.md")])
def test_a_fence_that_the_draft_did_not_find_is_an_error(kind: str, entered: str) -> None:
    """Another plugin may have changed the page; nobody gets another block's figure instead."""
    page = read_page("page.md", BLOCK, "content/page.md")
    fences = Fences((page,), {("page.md", "curve"): FIGURE})
    fences.enter_page(entered, page.text)
    with pytest.raises(SuperFencesException, match=f"put a {kind} block into this page after it was drafted"):
        fences.mark(kind)


def test_one_fence_too_many_is_an_error() -> None:
    """More fences than blocks."""
    page = read_page("page.md", BLOCK, "content/page.md")
    fences = Fences((page,), {("page.md", "curve"): FIGURE})
    fences.enter_page("page.md", page.text)
    fences.mark("curve")
    with pytest.raises(SuperFencesException):
        fences.mark("curve")


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]*", fullmatch=True)
TEXTS = st.text(max_size=30).map(lambda text: text.replace("<", "&lt;"))


@given(st.lists(st.tuples(TEXTS, NAMES, TEXTS), max_size=5), TEXTS)
def test_fill_replaces_marks_and_nothing_else(parts: list[tuple[str, str, str]], end: str) -> None:
    """The page around the marks is the same to the letter, whatever stands in it."""
    page = "".join(before + MARK.format(SALT, name, words) for before, name, words in parts) + end
    wanted = "".join(f"{before}<figure id={name}></figure>" for before, name, _ in parts) + end
    fences = entered(BLOCK)
    assert fences.fill("page.md", page, lambda name, _: f"<figure id={name}></figure>") == wanted
    assert fences.list_marked_ids("page.md", page) == [name for _, name, _ in parts]


@pytest.mark.parametrize("name", HOSTILE)
def test_words_of_a_hostile_name_do_not_end_their_mark(name: str) -> None:
    """Names are escaped in the mark, so that the whole of it goes when the figure comes."""
    shown = figure(curve_set(curve(name, [0.2, 0.8]), metric=name), title=name)
    text = f"before\n\n{BLOCK}\nafter"
    fences = entered(text, shown)
    html = fences.fill("page.md", rendered(text, fences), lambda *_: "FIGURE")
    assert re.sub(r"\s", "", html) == "<p>before</p>FIGURE<p>after</p>"


def test_a_fragment_that_holds_a_mark_is_not_filled_again() -> None:
    """A figure's data may hold anything, even our own mark."""
    mark = MARK.format(SALT, "a", "")
    assert entered(BLOCK).fill("page.md", mark, lambda *_: mark) == mark


@pytest.mark.parametrize("block", ["nope", "curve", "0123456789abcdef-curve", f"{SALT}-curve"])
def test_raw_html_that_looks_like_a_mark_is_left_alone(block: str) -> None:
    """An author cannot know the salt: it changes with every letter of the page, and so with itself."""
    raw = f'<div class="rg-block" data-rg-block="{block}">words</div>'
    text = f"{raw}\n\n{BLOCK}"
    fences = entered(text)
    html = rendered(text, fences)
    assert fences.list_marked_ids("page.md", html) == ["curve"]
    filled = fences.fill("page.md", html, lambda *_: "FIGURE")
    assert filled.count("FIGURE") == 1
    assert raw in filled


def card(name: str) -> BenchmarkResult:
    """A benchmark's card."""
    return BenchmarkResult(name, "a.md", "", "MEL", "0.84 accuracy", (), "", ())


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (FIGURE, ["Accuracy.", "MEL peaks at", "Each line is one run."]),
        (Panels("p", "Both", "A caption.", (FIGURE, FIGURE)), ["Both. A caption.", "MEL peaks at"]),
        (
            ResultTable("t", "Results", ("series",), ((Cell("MEL"),), (Cell("GRPO"),)), "A caption.", ""),
            ["Results: MEL, GRPO. A caption."],
        ),
        (Overview("o", "All", (card("AIME"),)), ["AIME: MEL 0.84 accuracy."]),
    ],
    ids=["figure", "panels", "table", "overview"],
)
def test_what_a_search_finds(shown: Shown, words: list[str]) -> None:
    """Every kind of block has words."""
    assert all(word in collect_search_text(shown) for word in words)


def test_an_unknown_kind_is_a_fault_of_ours() -> None:
    """A new kind needs words too."""
    with pytest.raises(TypeError):
        collect_search_text("text")  # type: ignore[arg-type]
