"""``report.html``: every page is there word for word, every link leads somewhere, and nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from command_line import call
from example_site import build, write_small_report
from html_tree import classed, read_html, words
from hypothesis import given
from hypothesis import strategies as st
from made_projects import write_file

from reportgen.archive.one_file import write_one_file
from reportgen.core.errors import ReportError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from xml.etree.ElementTree import Element

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
_PAGE = """<!doctype html>
<html lang="en" data-theme="auto"><head><title>{title}</title>
<link rel="stylesheet" href="{root}css/theme.css"></head><body>
<nav class="rg-nav" id="navigation"><ul><li><a href="{root}index.html">First</a></li></ul></nav>
<main id="content" class="rg-main" tabindex="-1">
<div class="rg-above"><a href="gone.html">above</a></div>
<article class="rg-prose">
{content}
</article>
</main>
<footer class="rg-footer"><p>Built</p></footer></body></html>"""
LAST = '<h1 id="last">The last page</h1>'
_NAMING = ("aria-controls", "aria-describedby", "aria-labelledby", "for", "headers", "data-checked")


def write_site(folder: Path, pages: Mapping[str, str], files: Mapping[str, bytes] | None = None) -> Path:
    """Write pages, by their paths in the site with their content, and return the site's folder."""
    for path, content in pages.items():
        page = _PAGE.format(title=path, root="../" * path.count("/"), content=content)
        write_file(folder / path, page)
    for path, data in ({"css/theme.css": b""} | dict(files or {})).items():
        write_file(folder / path, data)
    return folder


def section(html: str, name: str) -> Element:
    """The section of a page in a packed file."""
    (found,) = [one for one in read_html(html).iter("section") if one.get("id") == name]
    return found


def find_dead_ends(html: str) -> list[str]:
    """Everything in a packed file that names an id which is not there, and each id that is there twice."""
    root = read_html(html)
    ids = [one.attrib["id"] for one in root.iter() if "id" in one.attrib]
    twice = [f"twice: {name}" for name in sorted({name for name in ids if ids.count(name) > 1})]
    named: list[str] = []
    for one in root.iter():
        for name in _NAMING:
            named += one.get(name, "").split()
        for name in ("href", "xlink:href"):
            if one.get(name, "").startswith("#"):
                named.append(one.attrib[name][1:])
        for value in one.attrib.values():
            named += re.findall(r"url\([\"']?#([^)\"']*)", value)
    known = set(ids)
    return twice + sorted({name for name in named if not {name, unquote(name)} & known})


def find_loaded(html: str) -> list[str]:
    """Everything in a packed file that would be loaded from elsewhere, or runs without the policy's leave."""
    root = read_html(html)
    policy = next(one.attrib["content"] for one in root.iter("meta") if one.get("http-equiv"))
    found = []
    for one in root.iter():
        if one.tag in {"style", "script"} and "type" not in one.attrib:
            digest = base64.b64encode(hashlib.sha256((one.text or "").encode()).digest()).decode()
            found += [f"{one.tag} without a hash"] * (f"'sha256-{digest}'" not in unescape(policy))
        for name, value in one.attrib.items():
            loads = name in {"src", "srcset", "poster", "data"} or (one.tag, name) == ("link", "href")
            if name.startswith("on") or name == "style" or (loads and not value.startswith("data:")):
                found.append(f'<{one.tag} {name}="{value}">')
        found += [f"<{one.tag}>"] * (one.tag in {"iframe", "object", "embed", "base"})
    style = "".join(one.text or "" for one in root.iter("style"))
    return found + re.findall(r"@import \"|url\([\"']?+(?!data:)[^)]*", style)


@pytest.fixture(scope="module")
def example(example_site: Path) -> str:
    """The example report in one file, for a folder that has its figures."""
    return write_one_file(example_site)


# ---- the example report


def test_it_is_complete_and_closed(example: str) -> None:
    """Links between pages, to anchors and to states of figures stay in the file; ids are there once.

    No address of a picture, font or script leads out, and the policy names each script by its hash. Links to
    states keep them, with the name of the page before it; each source is listed once.
    """
    assert find_dead_ends(example) == []
    assert find_loaded(example) == []
    links = [link.get("href", "") for link in section(example, "math500").iter("a")]
    assert "#math500--scores~series=MEL~mark=120@MEL" in links
    assert "#math500--checked-1" in links
    assert "#guide.reading-figures" in links
    (provenance,) = classed(read_html(example), "rg-provenance")
    sources = [words(one) for one in provenance.iter("h2")]
    assert "MATH500 validation scores math500" in sources
    assert len(sources) == len(set(sources))


def test_each_page_is_there_word_for_word(example: str, example_site: Path) -> None:
    """Texts, tables and payloads of figures are those of the site, in the order of its navigation."""
    sections = classed(read_html(example), "rg-report-page")
    names = [one.get("id", "") for one in sections]
    assert names[:3] == ["index", "math500", "aime"]
    for one in sections:
        path = (one.get("id", "") or "").replace(".", "/")
        file = example_site / path / "index.html" if path != "index" else example_site / "index.html"
        (article,) = classed(read_html(file.read_text("utf-8")), "rg-prose")
        assert words(one) == words(article), path
    others = {"404.html", "example-review.html"}
    assert len(names) == sum(path.name not in others for path in example_site.rglob("*.html"))


def test_files_of_figures_are_linked_or_embedded(example: str, example_site: Path) -> None:
    """Links are relative where figures/ stands next to the file; otherwise they hold the file itself.

    At most 0.95 MB and the pages with a twentieth more; 7.1 MB with the files of all figures.
    """
    whole = write_one_file(example_site, links="embedded")
    linked, embedded = (
        {
            link.get("download", ""): link.get("href", "")
            for link in section(html, "math500").iter("a")
            if "data-file" in link.attrib
        }
        for html in (example, whole)
    )
    assert linked[""].startswith("figures/math500/")
    assert set(embedded) == {"scores.csv", "scores.svg", "scores.vl.json"}
    start, _, data = embedded["scores.csv"].partition(",")
    assert start == "data:text/csv;base64"
    assert base64.b64decode(data) == (example_site / "figures/math500/scores.csv").read_bytes()
    pages = sum(path.stat().st_size for path in example_site.rglob("*.html") if path.name != "404.html")
    assert len(example.encode()) <= 950_000 + 1.05 * pages
    assert len(whole.encode()) <= 7_500_000


def test_equal_sites_give_equal_bytes(example: str, example_site: Path, tmp_path: Path) -> None:
    """Neither the folder nor its order on the disk is in the file."""
    copied = shutil.copytree(example_site, tmp_path / "elsewhere")
    assert write_one_file(copied) == example


def test_without_live_figures_the_pictures_stay(example: str, example_site: Path) -> None:
    """Payloads and Vega are left out, with the scripts that need them; nothing else is."""
    still = write_one_file(example_site, live=False)
    assert len(still) < len(example) - 700_000
    assert find_dead_ends(still) == []
    assert find_loaded(still) == []
    root, before = read_html(still), read_html(example)
    assert [one.attrib for one in root.iter("script")] == [{}, {}, {}]  # the theme's, and what folds
    assert len(classed(root, "rg-plot")) == len(classed(before, "rg-plot"))
    assert len(list(root.iter("td"))) == len(list(before.iter("td")))


# ---- a small report with what authors write

_WORDS = """# Words

[To a figure](first-benchmark.md#accuracy) and [to a state of it](
first-benchmark.md#accuracy~series=baseline), [a file](notes/paper.pdf), [nowhere](gone.md),
[no anchor](index.md#gone), [mail](mailto:a@example.org), [out](https://example.org/a#b), a note.[^1]

![a dot](dot.png) ![elsewhere](https://example.org/dot.png)

[^1]: The note.

=== "One"

    First tab.

=== "Two"

    Second tab.

<p style="color: red" onclick="alert(1)" id="raw">Raw</p>
<script>document.body.remove()</script>
<iframe src="notes/paper.pdf" title="The paper"></iframe>
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small report with files, raw HTML, a page out of the navigation, and plain addresses."""
    folder = write_small_report(tmp_path_factory.mktemp("small") / "report")
    content = folder / "content"
    (content / "words.md").write_text(_WORDS, "utf-8")
    (content / "content.md").write_text(_WORDS, "utf-8")
    (content / "größe ä.md").write_text("# Left out\n", "utf-8")
    (content / "notes").mkdir()
    (content / "notes/paper.pdf").write_bytes(b"%PDF-")
    (content / "dot.png").write_bytes(PIXEL)
    style = '@import "x.css"; h1 { background: url(dot.png) } h2 { background: url("https://example.org/x") }'
    (content / "own.css").write_text(f"/* @import; */ {style} h3::after {{ content: '</style>' }}", "utf-8")
    settings = folder / "mkdocs.yml"
    nav = "nav: [index.md, first-benchmark.md, words.md, content.md]\n"
    more = "use_directory_urls: false\nextra_css: [own.css]\nnot_in_nav: '*'\n"
    text = settings.read_text("utf-8").replace("markdown_extensions:", "markdown_extensions:\n  - footnotes")
    more += "validation: {links: {not_found: info, unrecognized_links: info, anchors: info}}\n"
    text = text.replace("- footnotes", "- footnotes\n  - pymdownx.tabbed: {alternate_style: true}")
    settings.write_text(text + nav + more, "utf-8")
    built = call(folder, "build")
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


def test_a_report_with_raw_html_is_complete_and_closed(small: Path) -> None:
    """Every link leads somewhere, and what would run or be loaded is not in the file."""
    for links in ("relative", "embedded"):
        html = write_one_file(small, links=links)
        assert find_dead_ends(html) == []
        assert find_loaded(html) == []
        assert "</style>'" not in html


def test_what_cannot_be_in_the_file_is_reported_once(small: Path) -> None:
    """Missing targets and pictures of other sites are named with their page."""
    warned: list[str] = []
    write_one_file(small, warn=warned.append)
    assert len(warned) == len(set(warned))
    assert [one for one in warned if one.startswith("words.html")] == [
        'words.html: "https://example.org/dot.png" is not of the site, so the file does not have it',
        'words.html: "gone.md" is not in the site, so the file does not have it',
        'words.html: "#gone" is not on index.html, so the link leads to the page\'s start',
    ]
    rest = " is not followed, since the file holds each style sheet itself"
    assert f'own.css: @import "x.css";{rest}' in warned


def test_links_of_authors(small: Path) -> None:
    """Pages and states are in the file, files are embedded, other sites stay linked."""
    found = section(write_one_file(small), "words")
    links = {words(link): link.attrib for link in found.iter("a")}
    assert links["To a figure"]["href"] == "#first-benchmark--accuracy"
    state = "#first-benchmark--accuracy~series=baseline"
    assert links["to a state of it"]["href"] == state
    assert links["a file"] == {"href": "data:application/pdf;base64,JVBERi0=", "download": "paper.pdf"}
    assert links["nowhere"] == {}
    assert links["no anchor"]["href"] == "#index"
    assert links["out"]["href"] == "https://example.org/a#b"
    assert links["mail"]["href"].startswith(("mailto:", "&"))
    assert links["The paper"]["download"] == "paper.pdf"
    pictures = {picture.get("alt"): picture.get("src") for picture in found.iter("img")}
    assert pictures == {
        "a dot": f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}",
        "elsewhere": None,
    }


def test_a_page_named_as_an_element_of_the_theme_gets_another_name(small: Path) -> None:
    """Sections have names of their own, and pages outside the navigation are linked at its end."""
    root = read_html(write_one_file(small))
    names = [one.get("id") for one in classed(root, "rg-report-page")]
    assert names == ["index", "first-benchmark", "words", "content-2", "gr-e"]
    (nav,) = classed(root, "rg-nav")
    assert [(words(link), link.get("href")) for link in nav.iter("a")][-2:] == [
        ("Words", "#content-2"),
        ("Left out", "#gr-e"),
    ]


def test_tabs_of_two_pages_are_two_groups(small: Path) -> None:
    """Otherwise a tab that is chosen on one page would close that of another."""
    html = write_one_file(small)
    groups = [
        {field.get("name") for field in section(html, name).iter("input")} for name in ("words", "content-2")
    ]
    assert [len(group) for group in groups] == [1, 1]
    assert groups[0] != groups[1]


def test_a_report_that_trusts_nobody(tmp_path: Path) -> None:
    """Its pages hold scripts and a policy of their own, which the file replaces."""
    folder = write_small_report(tmp_path / "report")
    settings = folder / "mkdocs.yml"
    text = settings.read_text("utf-8").replace("  - reportgen.math\n", "")  # which may not go with it
    assert "  - reportgen:" in text
    settings.write_text(text.replace("  - reportgen:", "  - reportgen:\n      untrusted: true", 1), "utf-8")
    html = write_one_file(build(folder))
    assert find_dead_ends(html) == []
    assert find_loaded(html) == []
    assert html.count("<script>") == 4


# ---- made sites


def test_a_site_in_another_theme_is_refused(tmp_path: Path) -> None:
    """The error says what to do."""
    (tmp_path / "index.html").write_text("<main class='md-main'>Words</main>", "utf-8")
    with pytest.raises(ReportError, match="this folder has no page in the theme reportgen") as error:
        write_one_file(tmp_path)
    assert "name: reportgen" in error.value.problems[0].next_step


_SVG = """<svg><defs><linearGradient id="g"/><clipPath id="c"><path d="M0 0"/></clipPath></defs>
<rect fill="url(#g)" clip-path='url( "#c" )'/><use xlink:href="#g"/>
<use href="dot.svg#g"/><title>A</title></svg>
<map name="m"><area href="#here" alt="a"></map><img src="dot.png" usemap="#m" alt="" srcset="a.png 2x">
<a name="here">here</a><label for="f">F</label><input id=f name=f aria-describedby="here  f" autofocus>"""


def test_names_inside_a_page_change_together(tmp_path: Path) -> None:
    """Gradients, clip paths, image maps, labels and descriptions of two pages stay apart."""
    site = write_site(tmp_path, {"index.html": _SVG, "b/index.html": _SVG}, {"dot.png": PIXEL})
    (tmp_path / "b/dot.png").write_bytes(PIXEL)
    found = section(write_one_file(site), "b")
    (rect,) = found.iter("rect")
    assert rect.attrib == {"fill": "url(#b--g)", "clip-path": 'url( "#b--c" )'}
    assert [one.attrib for one in found.iter("use")] == [{"xlink:href": "#b--g"}, {}]
    assert next(found.iter("map")).get("name") == "b--m"
    assert next(found.iter("img")).get("usemap") == "#b--m"
    assert "srcset" not in next(found.iter("img")).attrib
    assert next(found.iter("area")).get("href") == "#b--here"
    assert next(found.iter("a")).get("name") == "b--here"
    field = next(found.iter("input"))
    assert field.attrib == {"id": "b--f", "name": "b--f", "aria-describedby": "b--here b--f"}
    assert next(found.iter("title")).text == "A"


@pytest.mark.parametrize(
    "broken",
    [
        "<div><b><a href='#x'>open",
        "</div></article></main></section></body></html>",
        "<!-- never closed",
        "<script>var a = '</main>'",
        "<style>section { display: none }",
        "<textarea><p>",
        "<table><tr><td>cell",
        "<svg><g><path d='M0 0'",
        "<plaintext>all of it",
        "<base href='https://example.org/'><meta http-equiv=refresh content='0;url=x'>",
        '<p title="never closed>',
        "<a <!-- x -->b>",
        "&lt;<b title='>'\"</article>\">x</b>",
        "<li>one<li>two<p>three",
        "<template><select><option>x",
        "<img src='data:x\" onerror=\"alert(1)'><a title='\" onclick=\"alert(1)' href='\" onclick=\"'>x</a>",
        "<img src=''><img src='#x'><img src='/'><img src='//['><a href='//['>x</a>",
        "<A HREF=JavaScript:alert(1) ONCLICK=alert(1)>x</A>",
        "<a href='\tjava\nscript:alert(1)'>x</a>",
        '<object data="x"><embed src="y"><iframe srcdoc="<p>"></object>',
    ],
)
def test_what_is_broken_on_a_page_stays_there(tmp_path: Path, broken: str) -> None:
    """The next page begins where it should, whatever was left open or closed too often before."""
    html = write_one_file(write_site(tmp_path, {"index.html": broken, "z/index.html": LAST}))
    assert find_loaded(html) == []
    (main,) = read_html(html).iter("main")
    assert [one.get("id") for one in main] == ["index", "z"]
    assert words(main[1]) == "The last page"
    assert not re.search("script:|<[^>]* onclick=alert", html, re.IGNORECASE)


# fmt: off
_PIECES = st.sampled_from((
    "<div>", "</div>", "<p>", "</p>", "<b ", "<svg/>", "<svg>", "</svg>", "<path/>", "<!--", "-->",
    ">", "<", "</", "'", '"', "=", " ", "/", "&", "<script>", "</script>", "<a href='#a'>", "</a>",
    "<br>", "<table>", "<td>", "</section>", "</main>", "<title>", "</title>", "<id id=a>",
    "style='x'", "x", "é", "<iframe src=x>", "</iframe>", "onclick=x", "<?", "<!", "]]>", "<li>",
    "</ul>", "src=x", "\x00", "\n",
))
# fmt: on


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_any_text_at_all_stays_on_its_page(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    """Elements are properly nested, the last page stands in its section, and nothing is loaded."""
    site = write_site(tmp_path_factory.mktemp("soup"), {"index.html": content, "z/index.html": LAST})
    html = write_one_file(site)
    (main,) = read_html(html).iter("main")
    assert [one.get("id") for one in main] == ["index", "z"]
    assert words(main[1]) == "The last page"
    assert find_loaded(html) == []
    assert unquote(html)
