"""``untrusted: true``: what could run in a reader's browser or on the machine that builds is refused."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from example_site import ROOT
from html_tree import read_html
from made_projects import PAGE, write_file, write_report
from tries import tries

from reportgen.cli.main import cli
from reportgen.site.security import ENDINGS, EXTENSIONS

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = """
Words in *stress*, ~~struck~~, `<b>` and ``<script>`` in code, <https://example.org>, a < b and c > d,
<somebody@example.org>, a [link](other.md "a title"){: .wide }, a value
[0.82]{value="peak(MEL)"} and a note[^1].
{: .wide #x-place }

![a picture](a.png "a title"){: width="40" height="30" loading="lazy" }

## Part {: #part-2 }

    <div onclick="alert(1)">shown as code</div>

```html
<script>alert(1)</script>
```

~~~{.python title="a.py" linenums="1"}
x = "<b>"
~~~

- [ ] one
- [x] two

    ```text
    <p>
    ```

++ctrl+c++ ==mark== H~2~O

!!! note "A note"
    In it.

=== "First"

    text

=== "Second"

    text

| left | right |
|:-----|------:|
| 1    | `<td>` |

Term
:   What it means.

[^1]: At the end.

*[MEL]: a method
"""


def settings(**more: Any) -> str:  # noqa: ANN401 - whatever mkdocs.yml says
    """A ``mkdocs.yml`` with every extension that is allowed."""
    names = sorted(EXTENSIONS - {"fenced_code", "codehilite", "smarty", "nl2br"})
    said = {
        "site_name": "Small",
        "docs_dir": "content",
        "theme": {"name": "reportgen"},
        "plugins": ["search", {"reportgen": {"untrusted": True}}],
        "markdown_extensions": [
            {name: {"alternate_style": True}} if "tabbed" in name else name for name in names
        ],
    }
    return json.dumps(said | more)


def build(root: Path, *options: str) -> Result:
    """Build in this process."""
    return CliRunner().invoke(cli, ["build", "--config-file", str(root / "mkdocs.yml"), *options])


def report(root: Path, **files: str) -> Path:
    """A report that trusts nobody."""
    return write_report(root, {"mkdocs.yml": settings(), "content/other.md": "# Other\n", **files})


def test_plain_pages_are_built(tmp_path: Path) -> None:
    """Whatever Markdown and the known extensions can say is no problem; code stays code."""
    files = {"content/index.md": PAGE + PLAIN, "content/a.png": "x"}
    told = build(report(tmp_path, **files), "--strict")
    assert told.exit_code == 0, told.output
    html = (tmp_path / "site/index.html").read_text("utf-8")
    assert "<code>&lt;script&gt;</code>" in html
    assert 'class="rg-figure"' in html
    assert 'class="rg-bound' in html


RAW = {
    "<b>bold</b>": "<b>",
    "<script src=evil.js></script>": "<script src=evil.js>",
    "text <img src=x onerror=alert(1)> text": "<img src=x onerror=alert(1)>",
    '<div\n class="rg-badge">14 statements checked</div>': "<div",
    "<meta http-equiv=refresh content='0;url=//x'>": "<meta",
    "<!-- hidden -->": "<!--",
    "<?php x ?>": "<?",
    "> <iframe src=x></iframe>": "<iframe",
    "- item\n\n    <object data=x></object>": "<object",
    "!!! note\n    <form action=x>": "<form",
    "| a |\n|---|\n| <svg onload=x> |": "<svg",
    "# Heading <style>": "<style>",
    "a\\<base href=x>": "<base",
    "<MaRqUeE>": "<MaRqUeE>",
    "<a\thref=x>": "<a",
    "a <b and c> d": "<b and c>",
}


@pytest.mark.parametrize("raw", RAW)
def test_raw_html_is_refused_with_its_line(tmp_path: Path, raw: str) -> None:
    """Also where Markdown has it in a list, quote, table or heading."""
    page = f"{PAGE}\nwords\n\n{raw}\n\nmore words\n"
    told = build(report(tmp_path, **{"content/index.md": page}))
    assert told.exit_code == 1
    line = next(n for n, text in enumerate(page.splitlines(), 1) if RAW[raw].split()[0] in text)
    said = f"content/index.md:{line}: error: raw HTML is refused here, where nobody is trusted: {RAW[raw]}"
    assert said in told.output
    assert "put code in backticks." in told.output
    assert not (tmp_path / "site").exists()


def test_check_tells_raw_html_too(tmp_path: Path) -> None:
    """Before anything is built, with the line shown."""
    page = f"---\ntitle: A page\n---\n{PAGE}\n<b>x</b>\n"
    root = report(tmp_path, **{"content/index.md": page})
    told = CliRunner().invoke(cli, ["check", "--config-file", str(root / "mkdocs.yml")])
    assert told.exit_code == 1
    assert "content/index.md:11: error: raw HTML" in told.output
    assert "   11 | <b>x</b>" in told.output


def test_a_page_of_nothing_but_tags_is_told_in_bounds(tmp_path: Path) -> None:
    """Fifty lines at most are named, and what is nested too deep is told as such."""
    root = report(tmp_path, **{"content/index.md": "# x\n\n" + "<b>x</b> <i>\n" * 500})
    told = build(root)
    assert told.output.count("raw HTML is refused here") == 50
    write_file(root / "content/index.md", "".join("    " * n + "- <b>\n" for n in range(300)))
    told = build(root)
    assert isinstance(told.exception, SystemExit)
    assert "content/index.md:1: error: this page is nested too deep." in told.output


UNSAFE = {
    "[x](javascript:alert(1))": 'an address begins with "javascript:"',
    "[x](JaVa&#115;cript:alert(1))": 'an address begins with "JaVascript:"',
    "![x](data:image/svg+xml;base64,AAAA)": 'an address begins with "data:"',
    "[x][y]\n\n[y]: vbscript:x": 'an address begins with "vbscript:"',
    '[x](other.md){: onclick="alert(1)" }': 'an element has the attribute "onclick"',
    'words\n{: style="position:fixed" }': 'an element has the attribute "style"',
    'words\n{: srcdoc="x" }': 'an element has the attribute "srcdoc"',
    'words\n{: data-rg-block="a" }': 'an element has the attribute "data-rg-block"',
    "14 statements checked\n{: .rg-badge }": 'the class "rg-badge" belongs to reportgen',
    '!!! rg-badge "14 statements checked"\n    words': 'the class "rg-badge" belongs to reportgen',
    "![x](a.png){: srcset=x }": 'an element has the attribute "srcset"',
    '![x](//x.example/js/){name=currentScript data-js="../js/" }': 'an element has the attribute "name"',
    "![x](a.png){ #querySelector }": 'the id "querySelector" of an element does not begin with x-',
    "## Part {: #reportgenVersions }": 'the id "reportgenVersions" of an element',
    "```{ .python #head }\nx\n```": 'the id "head" of an element',
    "```{ .python data-js=x }\nx\n```": 'an element has the attribute "data-js"',
    "words\n{: title=x aria-label=x }": 'an element has the attribute "aria-label"',
}


@pytest.mark.parametrize("text", UNSAFE)
def test_what_markdown_makes_is_read_once_more(tmp_path: Path, text: str) -> None:
    """Addresses that are scripts, handlers, styles, and what imitates reportgen's own marks."""
    root = report(tmp_path, **{"content/index.md": PAGE})
    assert build(root).exit_code == 0
    before = (root / "site/index.html").read_bytes()
    write_file(root / "content/index.md", f"{PAGE}\n{text}\n")
    told = build(root)
    assert told.exit_code == 1
    assert "error: " + UNSAFE[text] in told.output
    assert "content/index.md" in told.output
    assert (root / "site/index.html").read_bytes() == before


def test_a_page_may_not_choose_its_template(tmp_path: Path) -> None:
    """One of them has no policy."""
    told = build(report(tmp_path, **{"content/index.md": f"---\ntemplate: sitemap.xml\n---\n{PAGE}"}))
    assert "content/index.md: error: a page may not choose its template" in told.output


@pytest.mark.parametrize(
    "name",
    [
        *("evil.js", "evil.mjs", "raw.html", "raw.HTM", "raw.xhtml", "pic.svg", "feed.xml", "a/b/style.css"),
        *("x.html.gz", "x.wasm", "x.swf", "noending", "x.shtml", "x.xht", "x.svgz", "page.html."),
    ],
)
def test_files_that_a_browser_could_run_are_not_published(tmp_path: Path, name: str) -> None:
    """Also those that only some servers send as a page; each is named."""
    told = build(report(tmp_path, **{f"content/{name}": "x"}))
    assert told.exit_code == 1
    assert f"content/{name}: error: " in told.output
    assert "is not published where nobody is trusted: a browser may run it. Remove it;" in told.output


def test_other_files_are_published(tmp_path: Path) -> None:
    """Pictures, data and documents."""
    names = [f"f.{ending}" for ending in sorted(ENDINGS - {"md"})] + ["PHOTO.JPG"]
    told = build(report(tmp_path, **{f"content/{name}": "x" for name in names}))
    assert told.exit_code == 0, told.output
    assert all((tmp_path / "site" / name).is_file() for name in names)


SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "theme": ({"theme": {"name": "mkdocs"}}, "only the theme reportgen has the policy"),
    "custom_dir": (
        {"theme": {"name": "reportgen", "custom_dir": "own"}},
        "the templates in custom_dir are run",
    ),
    "hooks": ({"hooks": ["hook.py"]}, "hooks has hook.py"),
    "extension": ({"markdown_extensions": ["md_in_html"]}, "markdown_extensions has md_in_html"),
    "snippets": ({"markdown_extensions": ["pymdownx.snippets"]}, "markdown_extensions has pymdownx.snippets"),
    "extra": ({"markdown_extensions": ["markdown.extensions.extra"]}, "markdown_extensions has markdown.ext"),
    "extra_javascript": ({"extra_javascript": ["https://example.org/x.js"]}, "extra_javascript has https:"),
    "extra_css": ({"extra_css": ["x.css"]}, "extra_css has x.css"),
    "extra_templates": ({"extra_templates": ["x.txt"]}, "extra_templates has x.txt"),
    "allow_code": (
        {"plugins": [{"reportgen": {"untrusted": True, "allow_code": True}}]},
        "allow_code: true and untrusted: true exclude each other",
    ),
    "follow_links": (
        {"plugins": [{"reportgen": {"untrusted": True, "follow_links": True}}]},
        "follow_links: true and untrusted: true exclude each other",
    ),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_that_let_code_in_are_refused(tmp_path: Path, case: str) -> None:
    """Each by its name, in ``mkdocs.yml``."""
    said, words = SETTINGS[case]
    files = {"mkdocs.yml": settings(**said), "own/x.txt": "x", "hook.py": "", "content/x.txt": "x"}
    told = build(report(tmp_path, **files))
    assert told.exit_code == 1
    assert words in told.output
    assert "mkdocs.yml" in told.output
    assert not (tmp_path / "site").exists()


def test_the_guide_lists_what_is_allowed() -> None:
    """Every ending of files and every extension of Markdown, and no other."""
    guide = (ROOT / "content/guide/security.md").read_text("utf-8").split("## untrusted")[1].split("## ")[0]
    told = set(re.findall(r"`\.([a-z0-9]+)`", guide))
    assert told == ENDINGS - {"md"}
    listed = guide.split("The allowed Markdown extensions are")[1].split("They read")[0]
    plain, own = (set(re.findall(r"`([a-z0-9_]+)`", part)) for part in listed.split("`pymdownx`"))
    assert {*plain, *(f"pymdownx.{name}" for name in own)} == EXTENSIONS


# What a page may be made of at random: pieces of Markdown, of HTML and of attribute lists.
PIECES = (
    *(
        "<",
        ">",
        "/",
        "<b>",
        "<script>",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "<!--",
        "-->",
        "<?",
        "?>",
    ),
    *(
        "<![CDATA[",
        "]]>",
        "&lt;",
        "&#60;",
        "\\",
        "`",
        "``",
        "```",
        "~~~",
        "    ",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "# ",
    ),
    *(
        "[x](",
        ")",
        "![",
        "](",
        "javascript:alert(1)",
        "[x]: ",
        "{: onclick=x }",
        "{.x}",
        '"',
        "'",
        "*",
        "_",
        "|",
    ),
    *(
        "!!! note\n    ",
        '=== "t"\n    ',
        "[^1]",
        "[^1]: ",
        "<a@b>",
        "<https://x>",
        "x",
        " ",
        "\t",
        "<DIV\n",
        "=x",
    ),
    *(
        "++",
        "[[",
        "]]",
        "*[x]: ",
        '!!! "',
        '??? note "',
        '=== "',
        "{: #x onclick=y }",
        "::: ",
        "%%%",
        "--8<-- ",
        "{{",
    ),
    *("{: data-toc-label='<img src=x onerror=alert(1)>' }", "<svg/onload=alert(1)>", "<<b>>", "<b\n\nc>"),
)
DANGEROUS = {"script", "img", "svg", "iframe", "object", "b", "style", "form", "base", "meta", "link"}


@pytest.mark.random
def test_no_page_of_pieces_brings_html_in(tmp_path: Path) -> None:
    """A page is refused, or its HTML has no element, handler or address that only raw HTML could give it."""
    chance = random.Random(11)  # noqa: S311 - no secret
    root = report(tmp_path)
    pages = {
        f"p{n}.md": "".join(chance.choices(PIECES, k=chance.randint(2, 25))) for n in range(tries(60, 600))
    }
    for name, text in pages.items():
        write_file(root / "content" / name, f"Page\n\n{text}\n")
    told = build(root)
    assert not isinstance(told.exception, Exception)
    refused = set(re.findall(r"^content/(p\d+\.md)", told.output, re.MULTILINE))
    for name in refused:
        (root / "content" / name).unlink()
    told = build(root)
    refused = set(re.findall(r"^content/(p\d+\.md)[:\d]*: error", told.output, re.MULTILINE))
    for name in refused:
        (root / "content" / name).unlink()
    told = build(root)
    assert told.exit_code == 0, told.output
    left = [name for name in pages if (root / "content" / name).exists()]
    assert 1 / 15 < len(left) / len(pages) < 14 / 15
    for name in left:
        html = (root / "site" / name.removesuffix(".md") / "index.html").read_text("utf-8")
        article = re.search(r'<article class="rg-prose">(.*?)</article>', html, re.DOTALL)
        toc = re.findall(r'<nav class="rg-toc.*?</nav>', html, re.DOTALL)
        assert article
        for part in (article[1], *toc):
            for element in read_html(f"<div>{part}</div>").iter():
                pictured = element.tag == "img" and "onerror" not in element.attrib
                assert pictured or element.tag not in DANGEROUS, (name, pages[name])
                assert not [one for one in element.attrib if one.startswith("on")], (name, pages[name])
                assert not str(element.get("href", "")).lower().startswith("javascript"), (name, pages[name])
