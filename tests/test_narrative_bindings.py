"""The draft and the site agree on what is a bound value or claim, in whatever Markdown it stands."""

from __future__ import annotations

import re

import pytest
from markdown import Markdown

from reportgen.errors import Place, Problem, Problems
from reportgen.narrative.bindings import find_bindings
from reportgen.narrative.spans import Spans, marks
from reportgen.statements import Binding

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


def drafted(text: str, first_line: int = 1, offset: int = 0) -> tuple[tuple[Binding, ...], list[Problem]]:
    """What the draft finds, and its problems."""
    problems = Problems()
    found = find_bindings(text, "a.md", first_line, offset, problems)
    return found, problems.found


def rendered(text: str) -> tuple[list[tuple[str, str, str]], str]:
    """What the site marks, by the order of writing, and the page's HTML."""
    spans = Spans()
    html = Markdown(extensions=[*EXTENSIONS, spans]).convert(text)
    numbers = sorted((mark.number, mark.salt) for mark in marks(html))
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
        line, column = one.place.line, one.place.column
        assert line is not None
        assert column is not None
        assert lines[line - 1][column - 1] == "["
        line, column = one.expression_place.line, one.expression_place.column
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
        place=Place("a.md", 7, 4),
        expression_place=Place("a.md", 8, 25),
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
