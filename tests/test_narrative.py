"""Laws of reading pages: what the draft finds is what the site shows, whatever the Markdown is made of."""

from __future__ import annotations

import json
import re
from functools import cache
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_notebooks import find_place, make_notebook, write_notebook
from made_projects import write_report
from markdown import Markdown
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.plugins import BasePlugin
from mkdocs.structure.toc import get_toc
from test_fences import EXTENSIONS, list_texts, only_problems
from tries import tries

from reportgen.core.cache import Cache
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError
from reportgen.narrative import markup
from reportgen.narrative.pages import generate_pages, generate_text, read_page, read_pages
from reportgen.settings.report import Benchmark, Project, ProjectSettings
from reportgen.site.fragments import match_statements

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from reportgen.core.statements import Binding

HERE = Path(__file__).parent
CONTENT = sorted((HERE.parent / "content").rglob("*.md"))
MORE = [
    "toc",
    "smarty",
    *(f"pymdownx.{name}" for name in ("highlight", "inlinehilite", "magiclink", "betterem")),
]
PEAK = '{value="peak(MEL)"}'


# ---- statements ---------------------------------------------------------------------------------


def draft_bindings(text: str) -> tuple[tuple[Binding, ...], list[Diagnostic]]:
    """What the draft finds, and its problems."""
    problems = Diagnostics()
    return markup.find_bindings(text, "a.md", 1, 0, problems), problems.found


@cache
def load_marking() -> Any:  # noqa: ANN401 - the plugin's own
    """The extension of Markdown by which the site marks the words of statements."""
    with TemporaryDirectory() as folder:
        config = load_config(str(write_report(Path(folder)) / "mkdocs.yml"))
        config = config.plugins.on_config(config)
    return next(one for one in config.markdown_extensions if hasattr(one, "seen"))


def render_bindings(text: str) -> tuple[list[tuple[str, str, str]], str]:
    """What the site marks, by the order of writing, and the page's HTML."""
    spans = load_marking()
    html = Markdown(extensions=[*EXTENSIONS, *MORE, spans]).convert(text)
    found = match_statements(html, spans.seen, ()).unchecked
    return [(one.kind, one.words, one.expression) for one in found], html


def check_bindings(text: str) -> int:
    """Hold what the draft finds against what the site marks, and each place against the text."""
    found, problems = draft_bindings(text)
    assert all(problem.message and problem.next_step and problem.location.line for problem in problems)
    shown, html = render_bindings(text)
    assert [(one.kind, one.words, one.expression) for one in found] == shown
    assert not re.search(r"rgb[0-9a-f]{16}", html.replace("<rg-bound", ""))
    assert len({one.start for one in found}) == len(found)
    return len(found)


def test_statements_of_the_pages_of_cases_are_those_that_the_site_marks() -> None:
    """On the whole page and in each section of it, with their places in the text."""
    texts = list_texts("statements")
    assert sum(map(check_bindings, texts)) > 100
    for text in texts:
        lines = text.split("\n")
        for one in draft_bindings(text)[0]:
            written = " ".join(re.sub(r"\n[> ]*", " ", text[one.start : one.end]).split())
            assert written == " ".join(one.words.split())
            for place, first in ((one.location, "["), (one.expression_location, one.expression[0])):
                assert place.line is not None
                assert place.column is not None
                assert lines[place.line - 1][place.column - 1] == first


BOUND = st.sampled_from(
    [
        *(
            f"[0.84]{PEAK}",
            f"[**0.84**]{PEAK}",
            f"[`0.84`]{PEAK}",
            '[a]{value="x"',
            "[a]{value=x}",
            f"[]{PEAK}",
        ),
        '[MEL ends\nabove]{claim="final(MEL) >\n final(GRPO)"}',
        *("[is]{claim='a < b' of=\"x|y\" name='`n`'}", f"[a](b){PEAK}", "]{claim='*'}"),
    ]
)
ODD = "` `` ``` ~~~ * ** _ [ ] ( ) ](x.md) ![ \\ <b> </b> <!-- --> <div> </div> < > | |---| { } {.a} $ : ]:"
ODD += " &lt; </a> <code> </code> <pre> </pre> \" ' <x.md> #!py ^"
MARKS = st.sampled_from([*ODD.split(), "<a href='x'>", '<div markdown="1">', '<b title="'])
STARTS = st.sampled_from(
    [
        *("\n", "\n\n", "\n    ", "\n\n    ", "\n\n        ", "\n\t", "\n> ", "\n> > ", "\n- ", "\n1. "),
        *("\n# ", "\n===\n", "\n---\n", "\n```\n", "\n~~~curve\n", "\n!!! note\n    ", '\n=== "T"\n    '),
        *("\n:   ", "\n| ", "\n[^1]: ", "\n[r]: ", "\n*[w]: ", "\n>     ", "\n  ", "  \n", "\n- [ ] "),
        *("\n???+ note\n    ", "\n- > ", "\n- - ", "\n: "),
    ]
)
WORDS = st.sampled_from([" ", "w", " w ", "0.84", "[^1]", "[r]", "word word", "é", "\x02", "\ud800", "\t"])
PAGES = st.lists(st.one_of(BOUND, BOUND, MARKS, STARTS, WORDS), min_size=1, max_size=14).map("".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PAGES)
@example(f"x `[a]{PEAK} [b]{PEAK}` y")
@example(f"[a [b]{PEAK} c](x.md) <!-- [b]{PEAK} -->")
@example(f"| a |\n|---|\n| `[a]{PEAK}` | [b]{PEAK} |")
def test_what_is_drafted_is_what_the_site_marks(text: str) -> None:
    """Every binding that is shown as checked was drafted, every drafted one is shown, and no sign is left."""
    check_bindings(text)


SIMPLE = "` `` * ** _ ( ) [a](b) [a] [^1] ![x](y) < > {.a} $ : &lt; ' = - # + 1. w é"
PLAIN_MARKS = st.sampled_from(SIMPLE.split())
PLAIN_STARTS = st.sampled_from(
    [
        *("\n", "\n\n", "\n> ", "\n- ", "\n1. ", "\n# ", "\n===\n", "\n---\n", "\n- [ ] ", "\n  ", "  \n"),
        *("\n\n> ", "\n   - ", "\n* * *\n", "\n- - ", "\n> - ", "\n- > ", "\n```\n", "\n{: .a}\n", "\n: "),
    ]
)
PLAIN = st.lists(st.one_of(BOUND, BOUND, PLAIN_MARKS, PLAIN_STARTS, WORDS), max_size=12).map("".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PLAIN)
@example('[a\nb]{claim="x"}\n\n: meaning')
@example("- > \tx [a]{claim='x'}")
@example("> - #x [a\n> b]{claim='x'}")
def test_plain_prose_is_shown(text: str) -> None:
    """What needs no conversion to be known to be shown is marked by the site as any other."""
    check_bindings(text)


def test_plain_prose_is_known_to_be_shown_without_a_conversion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred claims in plain prose cost no second conversion; a page without claims costs nothing."""
    monkeypatch.setattr(Markdown, "convert", lambda *_: pytest.fail("the page was converted"))
    text = "".join(
        f"## Part {n}\n\n- **[0.84]{PEAK}** as `code` and [a link](x.md) say,\n  and [so\n  on]{PEAK}."
        f"\n\n> [{n}]{PEAK}\n\n"
        for n in range(70)
    )
    assert len(draft_bindings(text)[0]) == 210
    monkeypatch.setattr(markup, "_scan_bindings", None)
    for text in ("# A\n\nWords [a](b) {.c}", "[a]{.b} value", "value= claim="):
        assert draft_bindings(text) == ((), [])
        assert markup.strip_bindings(text) == text


HEADINGS = [
    f"# Peak [0.84]{PEAK}",
    f"# Peak [0.84]{PEAK} of *all* here",
    f"## [MEL **ends** above]{PEAK} {{#given}}",
    f"Peak [`0.84`]{PEAK}\n===",
    f"# Two [0.84]{PEAK} [and]{PEAK} more #",
    f"> # In a quote [0.84]{PEAK}",
    f"# As [0.84]{PEAK} (1)\n\n# As [0.84]{PEAK} (2)",
    f"Text [over\nlines]{PEAK}\n\n# Behind [0.84]{PEAK}",
    "# Pass@1 on *AIME*\n\n## Größe & `code`\n\nSetext _one_\n---\n\n### A [link](x) {#own}\n\n#Close\n",
]


TOC = re.compile(r'<a href="#([^"]+)">(.*?)</a>')


@pytest.mark.parametrize("text", HEADINGS)
def test_a_heading_is_called_by_the_typed_words(text: str) -> None:
    """Its id, its entry in the contents and the page's title have no braces, on the page and in the draft."""
    markdown = Markdown(extensions=["toc", "attr_list", "smarty", load_marking()])
    html = markdown.convert(text)
    tokens = {(found[1], unescape(found[2])) for found in TOC.finditer(getattr(markdown, "toc", ""))}
    assert not any(re.search(r"[{}\[\]<]|value", words) for _, words in tokens)
    titles = re.findall(r"<h1[^>]*>(.*?)</h1>", html) if not text.startswith(">") else []
    page = read_page("file.md", text, "file.md")
    assert page.title == next((unescape(re.sub("<[^>]+>", "", one)).strip() for one in titles), "File")
    for name, words in tokens:
        assert f'id="{name}"' in html
        # No block takes the id of a heading.
        (block,) = read_page("file.md", f"{text}\n\n```curve\ntitle: {words!r}\n```\n", "file.md").blocks
        assert f'id="{block.id}"' not in html


def test_typed_text_keeps_lines_and_everything_else() -> None:
    """Code, comments and an author's own braces stay; each line stays the line that it was."""
    text = f'a [b\nc]{{value="x\ny"}} d `[e]{PEAK}` [f]{{.g}} \\[h]{PEAK}\n\n\t[i]{PEAK}\n'
    typed = markup.strip_bindings(text)
    assert typed == f"a b\nc\n d `[e]{PEAK}` [f]{{.g}} \\[h]{PEAK}\n\n\t[i]{PEAK}\n"
    assert typed.count("\n") == text.count("\n")


# ---- notebooks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("layout", [{"indent": 1}, {"indent": 2}, {"indent": "\t", "ensure_ascii": False}])
def test_cells_are_read_with_their_places_in_the_file(
    layout: dict[str, Any], ends: str, tmp_path: Path
) -> None:
    """Blocks and bound values of Markdown cells alone, as Jupyter, Colab and others indent them."""
    title = '# Results\n\nSaid "twice": [0.72]{value="final(GRPO)" of="runs"}.\n'
    figure = "Text.\n\n```curve\nsource: runs\ntitle: In a notebook\n```"
    said = "é 🙂 [72%]{value=\"final(GRPO)\" of='runs'} and\n[so it is]{claim='final(GRPO) > 0' of='runs'}"
    code = ("# source:\nprint('```curve')",)
    text = json.dumps(make_notebook(title, code, figure, said), **layout)
    (tmp_path / "a.ipynb").write_bytes(text.replace("\n", ends).encode())
    problems = Diagnostics()
    (page,) = read_pages(Project(tmp_path, "", ("a.ipynb",), ProjectSettings()), problems)
    assert problems.found == []
    assert (page.title, page.text) == ("Results", f"{title}\n\n{figure}\n\n{said}")
    assert [(one.kind, one.location.line) for one in page.blocks] == [
        ("curve", find_place(text, ["Text.", "```curve"])[0])
    ]
    words = ("[0.72]", "[72%]", "[so it is]")
    for one, word in zip(page.bindings, words, strict=True):
        places = [(place.line, place.column) for place in (one.location, one.expression_location)]
        assert places == [find_place(text, [word]), find_place(text, [word, "final("])]
        assert page.text[one.start : one.end] == word[1:-1]


class Jupyter(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
    """What stands for mkdocs-jupyter: notebooks are pages with this HTML, by their names."""

    def __init__(self, html: dict[str, str]) -> None:
        super().__init__()
        self.html = html

    def on_files(self, files: Files, **_: object) -> Files:
        """Make notebooks pages."""
        for file in files:
            if file.name in self.html:
                file.is_documentation_page = lambda: True  # type: ignore[method-assign]
        return files

    def on_pre_page(self, page: Page, **_: object) -> None:
        """Render a notebook."""
        if page.file.name in self.html:
            page.content, page.toc = self.html[page.file.name], get_toc([])
            page.render = lambda *_: None  # type: ignore[method-assign]


def write_cells(*cells: str, given: bool = True) -> str:
    """Markdown cells as mkdocs-jupyter renders them, each a number and what it shows."""
    ids = [f' id="cell-id=cell-{cell[0]}"' if given else "" for cell in cells]
    return "<pre>code</pre>".join(
        f'<div{name}><div class="jp-RenderedMarkdown jp-MarkdownOutput">{cell[1:]}</div></div>\n'
        for name, cell in zip(ids, cells, strict=True)
    )


def test_a_cell_is_replaced_where_it_stands_and_matched_by_its_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With what is nested in it, and nothing behind it; without ids, or with one twice, all must be there."""
    one, three = (f'{word} [0.82]{{value="peak(MEL)" of="runs"}}' for word in ("One", "Three"))
    text = write_notebook(one, ("1",), "Two", three)
    nested = "<div><div>old</div>&lt;/div&gt;</div>"
    one, two, three = f"1{nested}", "3first", f"4{nested}"
    new = [f"{number}\n<p>{word} BOUND</p>\n" for number, word in ((1, "One"), (4, "Three"))]
    html = {
        "all": write_cells(one, two, three),
        "fewer": write_cells(one, three),
        "lost": write_cells(one, two),
        "twice": write_cells(one, two, three) * 2,
        "older": write_cells(one, two, three, given=False),
        "older_fewer": write_cells(one, three, given=False),
    }
    expected = {
        "all": write_cells(new[0], two, new[1]),
        "fewer": write_cells(*new),
        "older": write_cells(new[0], two, new[1], given=False),
    }
    older = re.sub(r'"id": "cell-\d",', "", text)
    notebooks = {f"content/{name}.ipynb": older if "older" in name else text for name in html}
    root = write_report(tmp_path / "report", {"content/index.md": "# Home\n", **notebooks})
    config = load_config(str(root / "mkdocs.yml"))
    config.plugins["mkdocs-jupyter"] = Jupyter(html)
    build(config)
    for name, rendered in html.items():
        page = (root / f"site/{name}.ipynb").read_text("utf-8")
        page = re.sub(r'<a class="rg-bound.*?</a>', "BOUND", page)
        assert expected.get(name, rendered) in page, name
    left_out = [one for one in caplog.messages if "leaves out Markdown cells" in one]
    assert sorted(one.partition(":")[0] for one in left_out) == [
        f"content/{name}.ipynb" for name in ("lost", "older_fewer", "twice")
    ]


# ---- pages --------------------------------------------------------------------------------------

CHARACTERS = st.sampled_from(
    ["", "`", "```", "\n", "\t", "  ", "> ", "- ", ": ", "[", "<!--", "---\n", "\x00", "\ud800", "é"]
)
CUTS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(CHARACTERS, BOUND, MARKS, STARTS)), max_size=6
)


@settings(max_examples=tries(20, 400), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(CONTENT), CUTS)
def test_damaged_pages_give_pages_or_problems(path: Path, cuts: list[tuple[float, int, str]]) -> None:
    """Real pages with bindings, marks and other characters cut out and put in are read or refused."""
    text = path.read_text(encoding="utf-8")
    for where, length, instead in cuts:
        start = int(where * len(text))
        text = text[:start] + instead + text[start + length :]
    found, _ = draft_bindings(text)
    assert [(one.kind, one.words, one.expression) for one in found] == render_bindings(text)[0]
    problems = Diagnostics()
    with problems.collecting():
        page = read_page("a.md", text, "content/a.md")
        assert len({block.id.lower() for block in page.blocks}) == len(page.blocks)
    assert not problems.found or only_problems(ReportError(*problems.found))


def test_pages_of_an_earlier_build_are_those_of_their_text(tmp_path: Path) -> None:
    """Every page of the guide, with blocks of all kinds, is free of problems and as it was read."""
    root = HERE.parent / "content"
    paths = tuple(path.relative_to(root).as_posix() for path in CONTENT)
    project = Project(root.parent, root.name, paths, ProjectSettings())
    first, again, problems = Cache(tmp_path), Cache(tmp_path), Diagnostics()
    parsed = read_pages(project, problems, first)
    restored = read_pages(project, problems, again)
    assert (first.hits, again.misses) == (0, 0)
    assert again.hits >= len(paths)
    assert restored == parsed
    assert repr(restored) == repr(parsed)
    assert problems.found == []
    assert all(page.title for page in parsed)


def test_pages_with_a_problem_are_read_again(tmp_path: Path) -> None:
    """The next build says the same; a page that was removed meanwhile is told."""
    (tmp_path / "a.md").write_text("```curve\nmetirc: loss\n```\n", encoding="utf-8")
    project, found = (
        Project(tmp_path, "", ("a.md", "c.md"), ProjectSettings()),
        [Diagnostics(), Diagnostics()],
    )
    for problems in found:
        read_pages(project, problems, Cache(tmp_path / "cache"))
    assert found[0].found == found[1].found
    assert [problem.location.file for problem in found[0].found] == ["a.md", "c.md"]


def test_another_plugin_may_replace_what_we_do_not_know(tmp_path: Path) -> None:
    """Marks that are no variables of ours are left to it, and are a problem where there is none."""
    text = "# Of {{ tean }}\n\n{{ team|upper }} {{ team() }}\n"
    (tmp_path / "a.md").write_text(text, "utf-8")
    for macros in (True, False):
        problems = Diagnostics()
        pages = read_pages(Project(tmp_path, "", ("a.md",), ProjectSettings(), macros=macros), problems)
        assert [page.text for page in pages] == [text] * macros
        assert len(problems.found) == (0 if macros else 3)


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(str.strip)


@given(NAMES, NAMES, st.none() | NAMES, st.none() | NAMES)
def test_any_name_makes_a_page(name: str, source: str, metric: str | None, description: str | None) -> None:
    """Whatever a benchmark is called, its page is read back as it was meant and shows the name as text."""
    benchmark = Benchmark(name=name, source=source, metric=metric, description=description)
    (page,) = generate_pages([benchmark], [])
    assert page.front_matter.benchmark == benchmark
    assert [block.kind for block in page.blocks] == ["curve", "table"]
    prose = generate_text(benchmark).split("---\n\n", 1)[1].split("```curve")[0]
    assert "<" not in prose
    assert "[" not in prose
