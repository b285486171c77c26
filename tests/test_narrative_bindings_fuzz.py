"""Whatever Markdown is made of, the site marks exactly the bindings that the draft found."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_narrative_bindings import PEAK, drafted, rendered
from tries import tries

from reportgen.narrative.binding_syntax import find_candidates
from reportgen.narrative.markdown_extensions import BindingsExtension, find_marks, put_placeholders, walk
from reportgen.narrative.markup import find_surely_shown

CONTENT = sorted((Path(__file__).parents[1] / "content").rglob("*.md"))
BOUND = st.sampled_from(
    [
        f"[0.84]{PEAK}",
        f"[**0.84**]{PEAK}",
        f"[`0.84`]{PEAK}",
        '[MEL ends\nabove]{claim="final(MEL) >\n final(GRPO)"}',
        "[is]{claim='a < b' of=\"x|y\" name='`n`'}",
        '[a]{value="x"',
        "[a]{value=x}",
        f"[]{PEAK}",
        f"[a](b){PEAK}",
        "]{claim='*'}",
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
    """Every binding that is shown as checked was drafted, and every drafted one is shown."""
    found, problems = drafted(text)
    shown, _ = rendered(text)
    assert [(one.kind, one.words, one.expression) for one in found] == shown
    assert all(problem.message and problem.location.line for problem in problems)
    assert len({one.start for one in found}) == len(found)


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
    """What needs no conversion to be known to be shown is shown by one."""
    walked = walk(text)
    left = "\n".join(walked.left)
    sure = find_surely_shown(put_placeholders(left, find_candidates(left)).text)
    assert sure <= {mark.number for mark in find_marks(walked.render(BindingsExtension(restoring=False)))}


CUTS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(BOUND, MARKS, STARTS)), max_size=5)


@settings(max_examples=tries(20, 200), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(CONTENT), CUTS)
def test_pages_of_the_example_report_with_bindings_anywhere_agree(
    path: Path, cuts: list[tuple[float, int, str]]
) -> None:
    """Bindings and marks put into real pages, anywhere."""
    text = path.read_text(encoding="utf-8")
    for where, length, instead in cuts:
        start = int(where * len(text))
        text = text[:start] + instead + text[start + length :]
    found, _ = drafted(text)
    assert [(one.kind, one.words, one.expression) for one in found] == rendered(text)[0]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PAGES)
def test_what_is_not_bound_comes_out_as_without_us(text: str) -> None:
    """No sign is left on a page."""
    _, html = rendered(text)
    assert not re.search(r"rgb[0-9a-f]{16}", html)
