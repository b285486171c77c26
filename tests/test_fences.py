"""Fences: the draft finds those of the site, where they become marks, words for the search, and figures."""

from __future__ import annotations

import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import markdown
import pytest
from case_pages import read_page as read_page_of_cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_figures import HOSTILE, curve, curve_set, figure
from msgspec.structs import replace
from pygments.lexers import get_all_lexers
from pymdownx.superfences import SuperFencesException

from reportgen.core.errors import ReportError
from reportgen.core.model import BenchmarkResult, Cell, Overview, Panels, ResultTable
from reportgen.narrative import markup
from reportgen.narrative.pages import read_page
from reportgen.settings.blocks import KINDS
from reportgen.site.fragments import Fences, make_custom_fences
from reportgen.site.outputs import collect_search_text, make_index_scripts

if TYPE_CHECKING:
    from reportgen.core.model import Shown

HERE = Path(__file__).parent
PARTS = [*("abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables")]
EXTENSIONS = [*PARTS, *("pymdownx.details", "pymdownx.tabbed", "pymdownx.superfences")]


def only_problems(error: ReportError) -> bool:
    """Whether a refusal has problems, few and with words."""
    texts = [str(problem) for problem in error.problems if problem.message]
    return 0 < len(texts) <= 200 and all(len(text) < 2000 for text in texts)


def list_texts(page: str) -> list[str]:
    """The Markdown files of a page of transcripts, without front matter, and their sections one by one."""
    files = [file for case in read_page_of_cases(HERE / "transcripts" / f"{page}.md") for file in case.files]
    texts = [re.sub(r"\A---\n.*?\n---\n", "", one.text, flags=re.DOTALL) for one in files if not one.kind]
    return [*texts, *(part for text in texts for part in re.split(r"^## .*\n", text, flags=re.MULTILINE)[1:])]


def render_fences(text: str) -> tuple[list[tuple[str, str]], set[int]]:
    """What the site's formatters are handed, in order, and which of it stands on the page."""
    calls: list[tuple[str, str]] = []

    def draw(source: str, language: str, *_: Any, **__: Any) -> str:  # noqa: ANN401
        calls.append((language, source))
        return f'<figure data-n="{len(calls) - 1}"></figure>'

    fences = [{"name": kind, "class": kind, "format": draw} for kind in KINDS]
    converter = markdown.Markdown(
        extensions=EXTENSIONS, extension_configs={"pymdownx.superfences": {"custom_fences": fences}}
    )
    page = re.sub(r"<!--.*?-->", "", converter.convert(text), flags=re.DOTALL)
    return calls, {int(n) for n in re.findall(r'<figure data-n="(\d+)">', page)}


def check_fences(text: str) -> bool:
    """Hold the fences of a text against what the page becomes; False if the text is refused."""
    try:
        found = markup.find_fences(text, "a.md")
    except ReportError as error:
        return not only_problems(error)
    calls, shown = render_fences(text)
    assert [(fence.kind, fence.body) for fence in found] == calls
    assert {n for n, fence in enumerate(found) if fence.shown} == shown
    for fence in found:
        opening = text.split("\n")[fence.line - 1]
        assert fence.kind in opening
        assert opening.expandtabs(4)[fence.column - 1] in "`~"
    return True


def test_fences_of_the_pages_of_cases_are_those_of_superfences() -> None:
    """Same fences, same text, same lines."""
    assert sum(map(check_fences, list_texts("fences"))) >= 5


PIECES = st.sampled_from(
    [
        *(
            "```curve",
            "``` {.table}",
            "~~~panels",
            "````vega-lite",
            "```",
            "~~~",
            "````",
            "```python",
            "`````",
        ),
        *(
            "a: 1",
            "  b: [x]",
            "",
            "",
            "text",
            "- item",
            "1. item",
            "!!! note",
            "??? note",
            '=== "Tab"',
            "-->",
        ),
        *("<div>", "</div>", '<div markdown="1">', "<pre>", "# Title", "[^1]: note", "word", ":   meaning"),
        *("| a | b |", "|---|---|", "[x]: y", "---", "`a", "\\"),
    ]
)
PREFIXES = st.sampled_from(
    ["", "", "", "  ", "    ", "    ", "\t", "        ", "> ", "> > ", ">     ", "   > "]
)
LINES = st.tuples(PREFIXES, PIECES).map("".join)
ANY_BLOCK = st.tuples(
    PREFIXES,
    st.sampled_from(["curve", "panels", "table", "vega-lite"]),
    st.lists(st.sampled_from(["a: 1", "", "  b: 2", "```x", "\tc"]), max_size=3),
).map(lambda b: "\n".join(f"{b[0]}{line}" for line in (f"~~~~{b[1]}", *b[2], "~~~~")))
COMMENT = st.lists(st.one_of(LINES, ANY_BLOCK), max_size=4).map(
    lambda lines: "\n".join(["<!--", *lines, "-->"])
)
DOCUMENTS = st.lists(st.one_of(LINES, ANY_BLOCK, COMMENT), max_size=14).map("\n".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_any_document_is_read_as_superfences_reads_it(text: str) -> None:
    """Either the finder and the page agree, or the finder tells a problem."""
    check_fences(text)


def test_no_language_is_taken_for_a_block() -> None:
    """Of the hundreds of names that Pygments knows, and those that other plugins draw."""
    names = sorted({alias for _, aliases, *_ in get_all_lexers() for alias in aliases})
    others = ["mermaid", "math", "vegalite", "vega", "plotly", "text", "plain", "echarts", "markmap", "kroki"]
    assert len(names) > 500
    chosen = [name for name in [*names, *others] if name not in KINDS]
    text = "\n".join(f"```{name}\na: 1\n```\n\n~~~ {name}\n~~~\n" for name in chosen)
    assert markup.find_fences(text, "a.md") == ()


# ---- marks ---------------------------------------------------------------------------------------

FIGURE = replace(figure(curve_set(curve("MEL", [0.2, 0.84]))), words="Our *runs*.")
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


def test_fences_become_marks_with_words_for_the_search() -> None:
    """Title, summary and caption, but no numbers; in the order of the page, without what is only shown."""
    nested = BLOCK.replace("\n", "\n    ")
    text = f"{BLOCK}\n````text\n{BLOCK}````\n\n<!--\n{BLOCK}-->\n\n- item\n\n    {nested}\n\n{BLOCK}"
    fences = entered(text)
    html = rendered(text, fences)
    assert fences.list_marked_ids("page.md", html) == ["curve", "curve-2", "curve-3"]
    assert "Accuracy. The series are MEL." in html
    assert "<svg" not in html
    assert "source: runs" in html
    assert {fence["name"] for fence in make_custom_fences(lambda *_: "")} >= set(KINDS)


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


def test_a_fence_that_the_draft_did_not_find_is_an_error() -> None:
    """Of another page or kind, or one too many: nobody gets another block's figure instead."""
    page = read_page("page.md", BLOCK, "content/page.md")
    for kind, path, before in (("curve", "other.md", 0), ("table", "page.md", 0), ("curve", "page.md", 1)):
        fences = Fences((page,), {("page.md", "curve"): FIGURE})
        fences.enter_page(path, page.text)
        assert len([fences.mark(kind) for _ in range(before)]) == before
        with pytest.raises(SuperFencesException, match=f"put a {kind} block into this page after it was"):
            fences.mark(kind)


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
    """A benchmark's results."""
    return BenchmarkResult(name, "a.md", "MEL ends at 0.84. No clear winner.")


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (FIGURE, ["Accuracy.", "The series are MEL.", "Our runs."]),
        (Panels("p", "Both", "A caption.", (FIGURE, FIGURE)), ["Both. A caption.", "The series are MEL."]),
        (
            ResultTable("t", "Results", ("series",), ((Cell("MEL"),), (Cell("GRPO"),)), "A caption.", ""),
            ["Results: MEL, GRPO. A caption."],
        ),
        (Overview("o", "All", (card("AIME"),)), ["AIME: MEL ends at 0.84. No clear winner."]),
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


# ---- search --------------------------------------------------------------------------------------

PAGES = ("", "a/", "b/c/")
LOCATIONS = st.builds("".join, st.tuples(st.sampled_from(PAGES), st.sampled_from(("", "#one", "#two"))))
DOCS = st.lists(st.fixed_dictionaries({"location": LOCATIONS, "title": st.text(), "text": st.text()}))
CONFIG = {"lang": ["en"], "separator": r"[\s\-]+", "prebuild_index": False}


def write_scripts(docs: list[dict[str, str]]) -> dict[str, str]:
    """Return the scripts for these documents, with the settings MkDocs writes."""
    escaped = [doc | {"title": escape(doc["title"])} for doc in docs]
    return dict(make_index_scripts({"config": CONFIG, "docs": escaped}, ()))


def read_scripts(scripts: dict[str, str]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return settings and documents as the theme's script reads them."""
    values = [json.loads(text.partition("=")[2].removesuffix(";\n")) for text in scripts.values()]
    titles, *parts = values
    assert [*scripts] == ["titles.js", *(f"texts-{n}.js" for n in range(len(titles["starts"])))]
    texts: list[str] = []
    for start, part in zip(titles["starts"], parts, strict=True):
        assert start == len(texts)
        texts += part
    docs, page = [], ""
    for (location, title), text in zip(titles["docs"], texts, strict=True):
        place = page + location if location.startswith("#") else location
        page = place.partition("#")[0]
        docs.append({"location": place, "title": title, "text": text})
    return titles["config"], docs


@given(DOCS)
def test_the_scripts_carry_the_documents_unchanged(docs: list[dict[str, str]]) -> None:
    """What MkDocs indexed is what the browser searches, each page with its sections."""
    config, read = read_scripts(write_scripts(docs))
    assert config == {"lang": ["en"], "separator": r"[\s\-]+"}
    pages = [*dict.fromkeys(["", *(doc["location"].partition("#")[0] for doc in docs)])]
    assert read == sorted(docs, key=lambda doc: pages.index(doc["location"].partition("#")[0]))


def test_long_texts_come_in_parts() -> None:
    """A browser gets and indexes one of them in a moment; a text is never torn."""
    docs = [{"location": f"{n}/", "title": f"Page {n}", "text": "word " * 10_000} for n in range(9)]
    scripts = write_scripts(docs)
    assert len(scripts) == 6
    assert all(len(text) < 130_000 for text in scripts.values())
    assert read_scripts(scripts)[1] == docs


@given(st.lists(st.fixed_dictionaries({"location": st.text(), "title": st.text(), "text": st.text()})))
def test_nothing_in_the_scripts_ends_them(docs: list[dict[str, str]]) -> None:
    """Neither a tag nor one of Unicode's line ends stands in a script as itself."""
    for script in write_scripts(docs).values():
        assert not set(script) & set("<\u2028\u2029")
