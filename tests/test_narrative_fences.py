"""The finder and superfences agree: same fences, same text, same lines, same pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown import Markdown
from pygments.lexers import get_all_lexers

from reportgen.core.errors import ReportError
from reportgen.narrative.markup import Fence, find_fences
from reportgen.settings.blocks import BLOCKS

EXTENSIONS = [
    "abbr",
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "tables",
    "pymdownx.details",
    "pymdownx.tabbed",
    "pymdownx.superfences",
]


def rendered(text: str) -> tuple[list[tuple[str, str]], set[int]]:
    """What the site's formatters are handed, in order, and which of it stands on the page."""
    calls: list[tuple[str, str]] = []

    def draw(source: str, language: str, *_: Any, **__: Any) -> str:  # noqa: ANN401
        calls.append((language, source))
        return f'<figure data-n="{len(calls) - 1}"></figure>'

    fences = [{"name": kind, "class": kind, "format": draw} for kind in BLOCKS]
    converter = Markdown(
        extensions=EXTENSIONS, extension_configs={"pymdownx.superfences": {"custom_fences": fences}}
    )
    page = re.sub(r"<!--.*?-->", "", converter.convert(text), flags=re.DOTALL)
    return calls, {int(n) for n in re.findall(r'<figure data-n="(\d+)">', page)}


def agree(text: str) -> tuple[Fence, ...]:
    """Find the fences and hold them against what the page becomes."""
    found = find_fences(text, "a.md")
    calls, shown = rendered(text)
    assert [(fence.kind, fence.body) for fence in found] == calls
    assert {n for n, fence in enumerate(found) if fence.shown} == shown
    for fence in found:
        opening = text.split("\n")[fence.line - 1]
        assert fence.kind in opening
        assert opening.expandtabs(4)[fence.column - 1] in "`~"
    return found


def problems(text: str, first_line: int = 1) -> list[str]:
    """What the finder refuses."""
    with pytest.raises(ReportError) as caught:
        find_fences(text, "a.md", first_line)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "opening",
    [
        "```curve",
        "````curve",
        "~~~curve",
        "~~~~~ curve",
        "``` curve  ",
        "```.curve",
        "```{.curve}",
        "``` { .curve }",
    ],
)
def test_every_form_of_an_opening_fence_is_found(opening: str) -> None:
    """Back ticks or tildes, three or more, with or without braces."""
    closing = opening.split("c", maxsplit=1)[0].split("{", maxsplit=1)[0].split(".", maxsplit=1)[0].strip()
    (fence,) = agree(f"# A\n\n{opening}\nsource: a\n\n  more: b\n{closing}\n\nend")
    assert fence == Fence("curve", "source: a\n\n  more: b", 3, 1, shown=True)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("- item\n\n    ```curve\n    a: 1\n      b: 2\n    ```", 3, 5),
        ("- item\n\n\t```curve\n\ta: 1\n\t  b: 2\n\t```", 3, 5),
        ("1. item\n\n    - deeper\n\n        ```curve\n        a: 1\n          b: 2\n        ```", 5, 9),
        ("!!! note\n\n    ```curve\n    a: 1\n      b: 2\n    ```", 3, 5),
        ("??? note\n    ```curve\n    a: 1\n      b: 2\n    ```", 2, 5),
        ('=== "Tab"\n\n    ```curve\n    a: 1\n      b: 2\n    ```', 3, 5),
        ("> ```curve\n> a: 1\n>   b: 2\n> ```", 1, 3),
        ("> > ```curve\n> > a: 1\n> >   b: 2\n> > ```", 1, 5),
        ("word\n:   meaning\n\n    ```curve\n    a: 1\n      b: 2\n    ```", 4, 5),
        ("[^1]: note\n\n    ```curve\n    a: 1\n      b: 2\n    ```\n\nx[^1]", 3, 5),
        ('<div markdown="1">\n```curve\na: 1\n  b: 2\n```\n</div>', 2, 1),
        ("text before\n```curve\na: 1\n  b: 2\n```\ntext after", 2, 1),
        ("  ```curve\n  a: 1\n    b: 2\n  ```", 1, 3),
        ("text <!-- \n\n```curve\na: 1\n  b: 2\n```\n\n--> more", 3, 1),
    ],
)
def test_a_fence_may_stand_wherever_markdown_allows_it(text: str, line: int, column: int) -> None:
    """Lists, admonitions, details, tabs, quotes, definitions and notes."""
    (fence,) = agree(text)
    assert fence == Fence("curve", "a: 1\n  b: 2", line, column, shown=True)


@pytest.mark.parametrize(
    "text",
    [
        "`````markdown\n```curve\na: 1\n```\n`````",
        "~~~~\n```curve\na: 1\n```\n~~~~",
        "```vegalite\na: 1\n```",
        "```tableau\na: 1\n```",
        "<!--\n```curves\na: 1\n```\n-->",
        "`````markdown\n```Curve\na: 1\n```\n`````",
        "```python\ncurve\n```",
        "Inline ```curve``` code",
        "```curve``` begins a line",
        "a curve",
        "",
        "```\n```curve\n```",
    ],
)
def test_what_is_no_fence_of_ours_is_not_found(text: str) -> None:
    """A fence shown inside a longer fence, other languages, and code within a line."""
    assert agree(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Code:\n\n    ```curve\n    a: 1\n    ```\n",
        "<!--\n```curve\na: 1\n```\n-->",
        ">     ```curve\n>     a: 1\n>     ```",
        "- item\n\n        ```curve\n        a: 1\n        ```",
    ],
)
def test_a_fence_in_a_comment_or_in_code_is_not_shown(text: str) -> None:
    """Superfences hands these over, but they do not reach the page."""
    (fence,) = agree(text)
    assert not fence.shown


def test_many_fences_keep_their_order_and_lines() -> None:
    """Blocks of one page, some shown and some not, in the order of the page."""
    text = (
        "```curve\na: 1\n```\n\n    ```curve\n    a: 1\n    ```\n\n~~~table\n~~~\n\n"
        "- x\n\n    ```panels\n\n    b: 2\n    ```"
    )
    assert agree(text) == (
        Fence("curve", "a: 1", 1, 1, shown=True),
        Fence("curve", "a: 1", 5, 5, shown=False),
        Fence("table", "", 9, 1, shown=True),
        Fence("panels", "\nb: 2", 14, 5, shown=True),
    )


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("```curve\na: 1\n", 1, "this curve block is not closed. End it with a line of ```"),
        ("```curve\na: 1\n````\n", 1, "this curve block is not closed"),
        ("- x\n\n    ```curve\n    a: 1\n```\n", 3, "this curve block is not closed"),
        ("~~~python\nx\n\n```curve\na: 1\n```\n", 4, "is inside the fence of line 1, which is not closed"),
        (
            '```curve title="x"\na: 1\n```',
            1,
            "can only name the language. Write ```curve and put the settings",
        ),
        ("```curve a: 1\n```", 1, "can only name the language"),
        ("``` {.curve #x}\na: 1\n```", 1, "can only name the language"),
        ("``` {.curve .wide}\na: 1\n```", 1, "can only name the language"),
        ("``` {.curve smooth=1}\na: 1\n```", 1, "can only name the language"),
        ("    code\n```curve\na: 1\n```", 2, "read as part of the indented code above it"),
        ("``` {.curve\na: 1\n```", 1, "can only name the language"),
        ("```curve hl_lines='1'\na: 1\n```", 1, "can only name the language"),
        ("- x\n\n    ```curve hl_lines='1'\n    a: 1\n    ```", 3, "can only name the language"),
    ],
)
def test_a_fence_that_was_meant_is_a_problem(text: str, line: int, expected: str) -> None:
    """What superfences would pass over in silence is told with its line."""
    said = problems(text)[0]
    assert said.startswith(f"a.md:{line}: ")
    assert expected in said


@pytest.mark.parametrize(
    "text",
    [
        "Shown as code:\n\n    ```curve title='x'\n    a: 1\n    ```\n",
        "Shown as code:\n\n    ```curve\n    a: 1\n\nand text\n",
        "<!-- later:\n```curve smooth=1\na: 1\n```\n-->",
        "```curve block``` in a sentence",
    ],
)
def test_what_nobody_sees_is_no_problem(text: str) -> None:
    """A fence that is only shown, or commented out, may be as it likes."""
    assert not any(fence.shown for fence in find_fences(text, "a.md"))


def test_lines_count_from_the_first_line_given() -> None:
    """Front matter before the text shifts the lines."""
    assert find_fences("```curve\n```", "a.md", 7)[0].line == 7
    assert problems("~~~\n```curve\n```", 7)[0].startswith(
        "a.md:8: this curve block is inside the fence of line 7"
    )


def test_very_deep_and_very_long_pages_are_problems() -> None:
    """Nothing that a page holds makes the finder fail."""
    assert "nested too deep" in problems("- " * 3000 + "x\n\n<b>\n```curve\n```\n")[0]
    assert "longer than" in problems("```curve\n```\n" + "x" * 2_000_000)[0]


PIECES = st.sampled_from(
    [
        "```curve",
        "``` {.table}",
        "~~~panels",
        "````vega-lite",
        "```",
        "~~~",
        "````",
        "```python",
        "`````",
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
        "<div>",
        "</div>",
        '<div markdown="1">',
        "<pre>",
        "# Title",
        "[^1]: note",
        "word",
        ":   meaning",
        "| a | b |",
        "|---|---|",
        "[x]: y",
        "---",
        "`a",
        "\\",
    ]
)
PREFIXES = st.sampled_from(
    ["", "", "", "  ", "    ", "    ", "\t", "        ", "> ", "> > ", ">     ", "   > "]
)
LINES = st.tuples(PREFIXES, PIECES).map("".join)
BLOCK = st.tuples(
    PREFIXES,
    st.sampled_from(["curve", "panels", "table", "vega-lite"]),
    st.lists(st.sampled_from(["a: 1", "", "  b: 2", "```x", "\tc"]), max_size=3),
).map(lambda b: "\n".join(f"{b[0]}{line}" for line in (f"~~~~{b[1]}", *b[2], "~~~~")))
COMMENT = st.lists(st.one_of(LINES, BLOCK), max_size=4).map(lambda lines: "\n".join(["<!--", *lines, "-->"]))
DOCUMENTS = st.lists(st.one_of(LINES, BLOCK, COMMENT), max_size=14).map("\n".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_any_document_is_read_as_superfences_reads_it(text: str) -> None:
    """Either the finder and the page agree, or the finder tells a problem."""
    try:
        find_fences(text, "a.md")
    except ReportError:
        return
    agree(text)


@pytest.mark.parametrize(
    ("opening", "kind"),
    [
        ("```curves", "curve"),
        ("```Curve", "curve"),
        ("~~~Curve", "curve"),
        ("```{.Curve}", "curve"),
        ("```{ .panel }", "panels"),
        ("``` TABLE title=x", "table"),
        ("> ```vega-light", "vega-lite"),
        ("```comparision", "comparison"),
        ("```pass@k", "passk"),
        ("```observation", "observations"),
        ("    ```score", "scores"),
    ],
)
def test_a_block_that_is_nearly_named_is_refused(opening: str, kind: str) -> None:
    """With its line, the name that was meant and all others; closed or not."""
    before = "- item\n\n" if opening.startswith(" ") else "# A\n\n"
    for body in ("", "\na: 1\n```", "\n    a: 1\n    ```"):
        (said,) = problems(f"{before}{opening}{body}", 8)
        assert said.startswith('a.md:10: there is no block called "')
        assert f'Did you mean "{kind}"? There are curve, panels, ' in said


def test_an_unknown_language_above_a_source_is_refused() -> None:
    """Such as ``chart``: the body is ours, and no other language begins so."""
    for opening, word in (("```chart", "chart"), ("~~~ lineplot", "lineplot"), ("```bar-chart", "bar-chart")):
        (said,) = problems(f"# A\n\n{opening}\nsource: runs\n{opening[:3]}\n", 8)
        assert said.startswith(f'a.md:10: there is no block called "{word}". There are curve, ')
    assert find_fences("```yaml\nsource: runs\n```\n\n```chart\ntype: bar\n```\n", "a.md") == ()


def test_no_language_is_taken_for_a_block() -> None:
    """Of the hundreds of names that Pygments knows, and those that other plugins draw."""
    names = sorted({alias for _, aliases, *_ in get_all_lexers() for alias in aliases})
    others = ["mermaid", "math", "vegalite", "vega", "plotly", "text", "plain", "echarts", "markmap", "kroki"]
    assert len(names) > 500
    for name in [*names, *others]:
        if name not in BLOCKS:
            assert find_fences(f"```{name}\na: 1\n```\n\n~~~ {name}\n~~~\n", "a.md") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# A\n\n``curve\na: 1\n``\n", "a.md:3: a fence has three marks, and this has two. Write ```curve."),
        ("- ```curve\n  a: 1\n  ```\n", "a.md:1: this curve block begins on the line of its list item."),
        ("1. ~~~curve\n    a: 1\n    ~~~\n", "a.md:1: this curve block begins on the line of its list item."),
    ],
)
def test_what_is_no_fence_to_markdown_is_refused(text: str, said: str) -> None:
    """It would stand on the page as words, or as code."""
    assert [one[: len(said)] for one in problems(text)] == [said]
    assert find_fences("Words with ``curve`` and ``table`` in them\n", "a.md") == ()
