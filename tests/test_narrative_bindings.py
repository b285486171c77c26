"""The draft and the site agree on what is a bound value or claim, in whatever Markdown it stands."""

from __future__ import annotations

import re

import pytest
from markdown import Markdown

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation
from reportgen.core.statements import Binding
from reportgen.narrative import markup as module
from reportgen.narrative.headings import find_headings
from reportgen.narrative.markdown_extensions import BindingsExtension, Walk, find_marks
from reportgen.narrative.markup import find_bindings, strip_bindings
from reportgen.narrative.pages import read_page

EXTENSIONS = [
    "abbr",
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "tables",
    "toc",
    "smarty",
    "pymdownx.details",
    "pymdownx.tabbed",
    "pymdownx.highlight",
    "pymdownx.superfences",
    "pymdownx.inlinehilite",
    "pymdownx.magiclink",
    "pymdownx.betterem",
]
PEAK = '{value="peak(MEL)"}'


def drafted(text: str, first_line: int = 1, offset: int = 0) -> tuple[tuple[Binding, ...], list[Diagnostic]]:
    """What the draft finds, and its problems."""
    problems = Diagnostics()
    found = find_bindings(text, "a.md", first_line, offset, problems)
    return found, problems.found


def rendered(text: str) -> tuple[list[tuple[str, str, str]], str]:
    """What the site marks, by the order of writing, and the page's HTML."""
    spans = BindingsExtension()
    html = Markdown(extensions=[*EXTENSIONS, spans]).convert(text)
    numbers = sorted((mark.number, mark.salt) for mark in find_marks(html))
    found = [spans.seen[salt][number] for number, salt in numbers]
    return [(one.kind, one.words, one.expression) for one in found], html


def agree(text: str) -> tuple[Binding, ...]:
    """Hold what the draft finds against what the site marks, and each place against the text."""
    found, problems = drafted(text)
    assert problems == []
    shown, html = rendered(text)
    assert [(one.kind, one.words, one.expression) for one in found] == shown
    assert not re.search(r"rgb[0-9a-f]{16}", html.replace("<rg-bound", ""))
    lines = text.split("\n")
    for one in found:
        assert " ".join(re.sub(r"\n[> ]*", " ", text[one.start : one.end]).split()) == " ".join(
            one.words.split()
        )
        line, column = one.location.line, one.location.column
        assert line is not None
        assert column is not None
        assert lines[line - 1][column - 1] == "["
        line, column = one.expression_location.line, one.expression_location.column
        assert line is not None
        assert column is not None
        assert lines[line - 1][column - 1] == one.expression[0]
    return found


def test_a_binding_is_read_whole() -> None:
    """Kind, words, expression, attributes in any order, places and offsets."""
    text = (
        "So [MEL ends\nabove]{name='up' claim=\"final(MEL) >\n  final('G, \\'R')\" of=\"scores\" fails='so'}."
    )
    (found,), problems = drafted(text, 7, 100)
    assert not problems
    assert found == Binding(
        kind="claim",
        words="MEL ends above",
        expression="final(MEL) > final('G, \\'R')",
        of="scores",
        name="up",
        fails="so",
        location=SourceLocation("a.md", 7, 4),
        expression_location=SourceLocation("a.md", 8, 25),
        start=104,
        end=118,
    )


SHOWN = {
    "a paragraph": f"It is [0.84]{PEAK} now.",
    "two on a line": f"It is [0.84]{PEAK} and [0.85]{PEAK}.",
    "emphasis around": f"It is **[0.84]{PEAK}** now, _[0.84]{PEAK}_ too.",
    "emphasis inside": f"It is [**0.84**]{PEAK}, [_0.84_ at last]{PEAK}.",
    "code inside": f"It is [`0.84`]{PEAK} and `code` too.",
    "code of two marks": f"``a ` b`` [0.84]{PEAK} ``c``",
    "words over lines": 'It [ends\nabove the other]{claim="a > b"} now.',
    "braces over lines": 'It [ends]{claim="a\n> b"\n of="x"} now.',
    "a hard break in the braces": 'It [ends]{claim="a   \n> b"} now.',
    "a list": f"- It is [0.84]{PEAK}\n- and [0.85]{PEAK}\n\n1. [x]{PEAK}",
    "a list, wrapped": 'It:\n\n- It [is\n  so]{claim="a\n  > b"} now\n- next',
    "an item's second paragraph": f"- It is\n\n    here [0.84]{PEAK}\n",
    "a tab": f"- It is\n\n\there\t[0.84]{PEAK}\n",
    "a quote": f"> It is [0.84]{PEAK}.",
    "a quote over lines": '> It [is\n> so]{claim="a\n> > b"} here.',
    "a lazy quote": '> It [is\nso]{claim="a\n> b"} here.',
    "a quote in a list": '- item\n\n    > It [is\n    > so]{claim="a > b"} here.',
    "a table": f"| a | b |\n|---|---|\n| [0.84]{PEAK} | [x]{{claim=\"f('a|b') > 1\"}} |",
    "an admonition": f"!!! note\n    It is [0.84]{PEAK}.",
    "a title of an admonition": f'!!! note "It is [0.84]{PEAK}"\n    Text.',
    "details": f"??? note\n    It is [0.84]{PEAK}.",
    "a tab of content": f'=== "One"\n\n    It is [0.84]{PEAK}.\n\n=== "Two"\n\n    [0.85]{PEAK}',
    "a definition": f"word\n:   It is [0.84]{PEAK}.",
    "a note": f"Text[^1] here.\n\n[^1]: It is [0.84]{PEAK}.",
    "a heading": f"# Peak [0.84]{PEAK} here\n\nText.",
    "a heading with an id": f"## Peak [0.84]{PEAK} {{#here}}",
    "an underlined heading": f"Peak [0.84]{PEAK}\n===\n",
    "HTML with Markdown": f'<div markdown="1">\nIt is [0.84]{PEAK}.\n</div>',
    "HTML in a line": f"It <b>is [0.84]{PEAK}</b>.",
    "HTML code in a line": f"It <code>is [0.84]{PEAK}</code>.",
    "a link": f"See [the peak of [0.84]{PEAK} here](x.md).",
    "behind a link": f"See [it](x.md), [0.84]{PEAK}.",
    "before a reference": f"[0.84]{PEAK}[ref]\n\n[ref]: x.md",
    "beside an image": f"![it](x.png) [0.84]{PEAK}",
    "a fence before and after": f"```python\n[1]{PEAK}\n```\n[0.84]{PEAK}\n~~~\n[1]{PEAK}\n~~~\n",
    "beside a figure": f"```curve\na: 1\n\n\n```\n\n[0.84]{PEAK} and so on.",
    "an escaped back slash": f"It \\\\[0.84]{PEAK}.",
    "escapes around": f"It \\* is \\[not\\] [0.84]{PEAK}.",
    "an author's own braces": f"[x](y){{.big}} [0.84]{PEAK}{{: .big}} text",
    "less than": '[low]{claim="a < b"} and [x]{claim=\'a <b and c> "d"\'}',
    "an entity": "[low]{claim=\"f('&lt;') > 1\"}",
    "quotes in words": f'["0.84" -- it\'s]{PEAK}...',
    "letters behind": f"[0.84]{PEAK}abc",
    "a note's mark": f"[^0.84]{PEAK}",
    "a task": f"- [x]{PEAK} done",
    "an exclamation": f"![0.84]{PEAK}",
    "an abbreviation": f"MEL [MEL](x) [MEL is 0.84]{PEAK}\n\n*[MEL]: a method",
    "spaces in braces": '[0.84]{ value = "peak(MEL)" }',
    "other alphabets": f"Größe [süß 0.84]{PEAK} 数 [数]{PEAK}",
    "a comment before": f"<!-- [1]{PEAK} -->\n\n[0.84]{PEAK}",
    "after an unclosed tick": f"a ` tick [0.84]{PEAK}",
    "an address": f"https://a.b/[0.84]{PEAK}",
}
NOT_SHOWN = {
    "a code span": f"As `[0.84]{PEAK}` shows.",
    "a longer code span": f"As `` [0.84]{PEAK} ` `` and ```[0.84]{PEAK}``` show.",
    "a code span over lines": 'As `[0.84]{value="a\n> b"}` shows.',
    "indented code": f"Code:\n\n    [0.84]{PEAK}\n",
    "indented code with a language": f'Code:\n\n    :::python\n    x = [0.84]{PEAK} < "a"\n',
    "indented code over lines": 'Code:\n\n    [a\n    b]{claim="a <\n       b"}\n',
    "code with a language in a line": f"As `#!python [0.84]{PEAK}` shows.",
    "a comment": f"Text.\n\n<!-- [0.84]{PEAK} -->\n",
    "a comment in a line": f"Text <!-- [0.84]{PEAK} --> more.",
    "a comment over lines": f"Text\n\n<!--\n\n[0.84]{PEAK}\n\n-->\n",
    "an escaped bracket": f"As \\[0.84]{PEAK} shows.",
    "an escaped closing bracket": f"As [0.84\\]{PEAK} shows.",
    "a fence": f"```\n[0.84]{PEAK}\n```",
    "a longer fence": f"````markdown\n```\n[0.84]{PEAK}\n```\n````",
    "a fence in a quote": f"> ```\n> [0.84]{PEAK}\n> ```",
    "raw code": f"<pre><code>[0.84]{PEAK}</code></pre>",
    "a script": f"<script>\n[0.84]{PEAK}\n</script>",
    "an attribute": f"<b title='[0.84]{PEAK}'>x</b>",
    "an author's own": '[0.84]{.big} [x](y){title="z"} {value}',
    "no braces": "[0.84] value= {x}",
    "code that only begins": '`[0.84]{value="x`',
    "a wider code span": f"``a ` [0.84]{PEAK} ` b``",
    "a link's definition": f"[a]: x.md 'It is [0.84]{PEAK}'\n\nText.",
}


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
def test_what_the_site_shows_was_drafted(text: str) -> None:
    """Wherever Markdown shows words, they can be bound."""
    assert agree(text)


@pytest.mark.parametrize("text", NOT_SHOWN.values(), ids=NOT_SHOWN)
def test_what_the_site_shows_as_it_is_was_not_drafted(text: str) -> None:
    """Code, comments and escapes show how a binding is written, and bind nothing."""
    assert agree(text) == ()


PROBLEMS = {
    "a misspelt attribute": ('[a]{vale="1" value="x"}', 5, '"vale" is no attribute of a statement'),
    "a class": ('[a]{.big value="x"}', 5, '".big" is no attribute of a statement'),
    "no words": ('x []{value="x"}', 3, "there is nothing between the square brackets"),
    "an unclosed quote": ('[a]{value="x}\nmore', 5, "the quote behind value= is not closed"),
    "a quote closed too late": ('[a]{value="x\n\n"}', 5, "the quote behind value= is not closed"),
    "no quotes": ("[a]{value=x}", 5, "value= has no quotes around its text"),
    "braces of the author's own": ("[a]{value} [a]{x=claim} value=", 0, ""),
    "curly quotes": ("[a]{value=“x”}", 5, "value= has no quotes around its text"),
    "no opening bracket": ('a]{value="x"}', 2, "this ] has no ["),
    "a link in the words": ('[[a](b)]{value="x"}', 8, "hold a square bracket or a link"),
    "a space": ('[a] {value="x"}', 4, "there is a space between"),
    "an empty expression": ('[a]{value=" "}', 5, "value= is empty"),
    "an empty name": ('[a]{claim="x" of=""}', 15, "of= is empty"),
    "both kinds": ('[a]{value="x" claim="y"}', 5, "a statement has value= or claim=, not both"),
    "an attribute twice": ('[a]{value="x" value="y"}', 15, "value= is written twice"),
    "a named value": ('[a]{value="x" name="y"}', 15, "only a claim can have name="),
    "a value that may fail": ('[a]{value="x" fails="y"}', 15, "only a claim can have fails="),
    "no closing brace": ('[a]{value="x"\nmore\n\n}', 4, "this { is not closed"),
    "a stray text": ('[a]{value="x" "y"}', 4, "the text in these braces cannot be read"),
    "an endless expression": (f'[a]{{value="{"x" * 5000}"}}', 4, "longer than 4000 characters"),
    "raw HTML": ('<div>[a]{value="x"}</div>', 6, "Markdown does not read this as a bound value"),
    "words in two cells": ('|a|b|\n|-|-|\n|[x|y]{claim="x"}|', 2, "does not read this as a bound claim"),
    "words in two items": ('- [x\n- y]{claim="x"}', 3, "does not read this as a bound claim"),
}


@pytest.mark.parametrize(("text", "column", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_badly_written_is_a_problem(text: str, column: int, expected: str) -> None:
    """Each is told at its place, with the next step; braces without value= or claim= are the author's own."""
    found, problems = drafted(f"first line\n\n{text}", 10)
    assert found == ()
    if not expected:
        assert problems == []
        return
    assert expected in problems[0].message
    assert problems[0].next_step
    line = 12 + (2 if "|a|b|" in text else 0)
    assert problems[0].location == SourceLocation("a.md", line, column)


def test_all_problems_of_a_page_are_told_and_the_rest_is_found() -> None:
    """One bad binding does not hide another, nor the good ones."""
    found, problems = drafted(f'[a]{{value=x}} [0.84]{PEAK}\n\n[]{{claim="x" nam="y"}}')
    assert [one.words for one in found] == ["0.84"]
    assert [problem.location.line for problem in problems] == [1, 3, 3]
    assert 'Did you mean "name"?' in problems[1].next_step


def test_what_is_badly_written_in_code_is_no_problem() -> None:
    """A guide may show what goes wrong."""
    assert drafted('`[a]{value=x}`\n\n    []{value="x"}\n\n<!-- []{value="x"} -->') == ((), [])


def test_an_endless_page_is_refused() -> None:
    """Nobody waits for a page that no browser can show."""
    found, problems = drafted(f"[a]{PEAK}" + "x" * 2_000_001)
    assert found == ()
    assert "longer than 2000000 characters" in problems[0].message


def test_a_page_that_is_nested_too_deep_is_refused() -> None:
    """A problem, not a failure of Python."""
    found, problems = drafted("- " * 3000 + f"x\n\n<b>\n[a]{PEAK}")
    assert found == ()
    assert "nested too deep" in problems[0].message


def test_a_page_knows_its_bindings_by_lines_of_the_file() -> None:
    """Places count from the file's first line, offsets from the page's text; line ends do not matter."""
    text = f"---\ntitle: A\n---\n\n# B\n\nIt is [0.84]{PEAK}.\n"
    for written in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        page = read_page("a.md", written, "content/a.md")
        (one,) = page.bindings
        assert one.location == SourceLocation("content/a.md", 7, 7)
        assert page.text[one.start : one.end] == "0.84"


def test_problems_of_bindings_are_problems_of_the_page() -> None:
    """Together with those of its blocks."""
    with pytest.raises(ReportError) as caught:
        read_page("a.md", "[a]{value=x}\n\n```curve\nnonsense: 1\n```\n", "content/a.md")
    assert [problem.location.line for problem in caught.value.problems] == [1, 4]


HEADINGS = [
    f"# Peak [0.84]{PEAK}",
    f"# Peak [0.84]{PEAK} of *all* here",
    f"## [MEL **ends** above]{PEAK} {{#given}}",
    f"Peak [`0.84`]{PEAK}\n===",
    f"# Two [0.84]{PEAK} [and]{PEAK} more #",
    f"> # In a quote [0.84]{PEAK}",
    f"# As [0.84]{PEAK} (1)\n\n# As [0.84]{PEAK} (2)",
    f"Text [over\nlines]{PEAK}\n\n# Behind [0.84]{PEAK}",
]


@pytest.mark.parametrize("text", HEADINGS)
def test_a_heading_is_called_by_the_typed_words(text: str) -> None:
    """Its id, its entry in the contents and the page's title have no braces, on the page and in the draft."""
    markdown = Markdown(extensions=["toc", "attr_list", "smarty", BindingsExtension()])
    html = markdown.convert(text)
    tokens = getattr(markdown, "toc_tokens", [])
    assert len(tokens) == html.count("<h")
    for token in tokens:
        assert not re.search(r"[{}\[\]<]|value", token["name"])
    found = [one for one in find_headings(strip_bindings(text)) if not text.startswith(">")]
    flat = [(token["id"], token["name"]) for token in tokens]
    assert [(one.id, one.words) for one in found] == (flat if found else [])
    title = read_page("file.md", text, "file.md").title
    assert title == next((one.words for one in found if one.level == 1), "File")


def test_typed_text_keeps_lines_and_everything_else() -> None:
    """Code, comments and an author's own braces stay; each line stays the line that it was."""
    text = f'a [b\nc]{{value="x\ny"}} d `[e]{PEAK}` [f]{{.g}} \\[h]{PEAK}\n\n\t[i]{PEAK}\n'
    typed = strip_bindings(text)
    assert typed == f"a b\nc\n d `[e]{PEAK}` [f]{{.g}} \\[h]{PEAK}\n\n\t[i]{PEAK}\n"
    assert typed.count("\n") == text.count("\n")


def test_plain_prose_is_known_to_be_shown_without_a_conversion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred claims in plain prose cost no second conversion of the page."""

    def refuse(*_: object) -> str:
        pytest.fail("the page was converted")

    monkeypatch.setattr(Walk, "render", refuse)
    text = "".join(
        f"## Part {n}\n\n- **[0.84]{PEAK}** as `code` and [a link](x.md) say,\n  and [so\n  on]{PEAK}."
        f"\n\n> [{n}]{PEAK}\n\n"
        for n in range(70)
    )
    assert len(drafted(text)[0]) == 210


def test_a_page_without_bindings_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is looked at twice where neither value= nor claim= stands."""
    monkeypatch.setattr(module, "_scan_bindings", None)
    for text in ("# A\n\nWords [a](b) {.c}", "[a]{.b} value", "value= claim="):
        assert drafted(text) == ((), [])
        assert strip_bindings(text) == text
