"""What the data say to bound words: in the text, under the title, at the page's end, and in report.json."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from html_tree import classed, read_html, words
from made_projects import PAGE, RUNS, SETTINGS, files_below, write_file, write_report
from markdown import Markdown
from msgspec.structs import replace

from reportgen.core.errors import Diagnostics, SourceLocation
from reportgen.core.model import Observations
from reportgen.core.statements import Judgement, Observation, Statement, Truth
from reportgen.narrative.markdown_extensions import BindingsExtension
from reportgen.narrative.markup import find_bindings
from reportgen.site.fragments import (
    BADGE,
    CHECKED,
    BoundMarks,
    add_anchors,
    find_unmatched,
    insert_statements,
    match_statements,
)
from reportgen.site.outputs import group_states
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

PEAK = '{value="peak(MEL)"}'
OTHER = '{claim="a > b" fails="it is old"}'


def stated(text: str, *truths: Truth, repaired: str = "", found: str = "peak(MEL) = 0.86") -> list[Statement]:
    """The statements of a text as a draft makes them; those without a truth hold."""
    bindings = find_bindings(text, "content/a.md", 1, 0, Diagnostics())
    told = [*truths, *[Truth.HOLDS] * len(bindings)]
    return [
        Statement(
            one,
            n,
            Judgement(truth, found, ("2 runs",), (found, "2 runs"), one.expression, repaired, ()),
            "accuracy",
            "f",
            f"f~series=A{n}",
        )
        for n, (one, truth) in enumerate(zip(bindings, told, strict=False), start=1)
    ]


def converted(text: str) -> tuple[str, BindingsExtension]:
    """A page as MkDocs makes it."""
    spans = BindingsExtension()
    markdown = Markdown(extensions=["attr_list", "footnotes", "pymdownx.superfences", "toc", spans])
    return f"{BADGE}\n{markdown.convert(text)}{CHECKED}", spans


def shown(text: str, statements: list[Statement]) -> tuple[str, BoundMarks]:
    """The page with what the data say."""
    html, spans = converted(text)
    bound = match_statements(html, spans.seen, statements)
    return insert_statements(html, bound), bound


def tree(html: str) -> ET.Element:
    """A page's HTML as a tree."""
    return read_html(f"<html><body>{html}</body></html>")


def test_words_that_hold_are_a_discreet_link() -> None:
    """Nothing is added to the text but the link to the list, and a way back."""
    text = f"It is **[0.84]{PEAK}** now."
    html, _ = shown(text, stated(text))
    link = '<a class="rg-bound rg-holds" id="statement-1" href="#checked-1" tabindex="-1">0.84</a>'
    assert f"It is <strong>{link}</strong> now." in html
    (row,) = tree(html).iter("li")
    assert row.get("id") == "checked-1"
    assert [a.get("href") for a in row.iter("a")] == ["#statement-1", "#f~series=A1"]
    assert words(row) == "0.84 holds peak(MEL) = 0.86. 2 runs. peak(MEL) accuracy Show in the figure"


@pytest.mark.parametrize(
    ("binding", "truth", "repaired", "kind", "said"),
    [
        (PEAK, Truth.FAILS, "**0.86**", "rg-fails", "(the data say 0.86)"),
        (PEAK, Truth.FAILS, "", "rg-fails", "(does not hold)"),
        ('{claim="x"}', Truth.FAILS, "", "rg-fails", "(does not hold)"),
        ('{claim="x"}', Truth.UNDECIDED, "", "rg-undecided", "(cannot be decided)"),
        (OTHER, Truth.FAILS, "", "rg-expected", "(not borne out by these data)"),
        (OTHER, Truth.HOLDS, "", "rg-unexpected", "(holds, against expectation)"),
        (OTHER, Truth.UNDECIDED, "", "rg-undecided", "(cannot be decided)"),
    ],
)
def test_what_does_not_hold_says_so_in_words(
    binding: str, truth: Truth, repaired: str, kind: str, said: str
) -> None:
    """Right behind the words, for whoever sees no colours, prints or listens."""
    text = f"It is [so]{binding}."
    html, _ = shown(text, stated(text, truth, repaired=repaired))
    assert f'<a class="rg-bound {kind}" id="statement-1" href="#checked-1" tabindex="-1">so</a>' in html
    assert [words(one) for one in classed(tree(html), "rg-verdict")] == [said]


def test_words_that_nobody_checked_never_look_checked() -> None:
    """A macro or include may bring a binding into a page after the draft."""
    text = f"It is [0.84]{PEAK} and [0.9]{PEAK}."
    html, bound = shown(text, stated(f"It is [0.84]{PEAK}."))
    assert html.count("rg-bound") == 1
    assert "and 0.9." in html
    (problem,) = find_unmatched(bound, "content/a.md")
    assert str(problem).startswith('content/a.md: "0.9" was not checked')


def test_a_statement_that_the_page_does_not_show_is_told() -> None:
    """And neither counted nor listed."""
    text = f"It is [0.84]{PEAK}."
    html, bound = shown("It is 0.84.", stated(text))
    assert "checked" not in html
    (problem,) = find_unmatched(bound, "content/a.md")
    assert problem.location == SourceLocation("content/a.md", 1, 7)


def test_equal_statements_go_by_their_order() -> None:
    """What is shown as code between them is no statement."""
    text = f"[a]{PEAK} `[a]{PEAK}` [b]{PEAK} <!-- [a]{PEAK} --> [a]{PEAK}\n\nNote[^1]\n\n[^1]: [b]{PEAK}"
    html, bound = shown(text, stated(text))
    assert not list(find_unmatched(bound, "a.md"))
    assert re.findall(r'id="statement-(\d)"[^>]*>(\w)<', html) == [
        ("1", "a"),
        ("2", "b"),
        ("3", "a"),
        ("4", "b"),
    ]
    assert f"<code>[a]{PEAK}</code>" in html


def test_a_statement_in_a_link_is_no_link() -> None:
    """Links do not stand in links; the popover knows its row all the same."""
    text = f"See [the peak of [0.84]{PEAK}](x.md)."
    html, _ = shown(text, stated(text))
    assert '<span class="rg-bound rg-holds" id="statement-1" data-checked="checked-1">0.84</span></a>' in html


def test_our_ids_give_way_to_those_of_the_page() -> None:
    """A heading "Checked statements" of the author's own keeps its address."""
    text = f"# Checked statements\n\nIt is [0.84]{PEAK}."
    html, _ = shown(text, stated(text))
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(set(ids)) == len(ids)
    for target in re.findall(r'href="#([^"~]*)"', html):
        assert target in ids
    assert 'href="#rg-checked-statements"' in html


def test_the_badge_counts() -> None:
    """How many, and what somebody should look at; one statement is told as one."""
    text = f"[a]{PEAK} [b]{PEAK} [c]{PEAK} [d]{OTHER} [e]{OTHER}"
    html, _ = shown(text, stated(text, Truth.FAILS, Truth.UNDECIDED, Truth.HOLDS, Truth.FAILS, Truth.HOLDS))
    (badge,) = classed(tree(html), "rg-badge")
    assert words(badge) == (
        "5 statements checked against the data, 1 does not hold, 1 cannot be decided, "
        "1 holds against expectation, 1 fails as expected Show what was checked"
    )
    assert len(list(badge.iter("strong"))) == 3
    one, _ = shown(f"[a]{PEAK}", stated(f"[a]{PEAK}"))
    assert "1 statement</span> checked against the data</a>" in one


def test_hostile_words_stay_words() -> None:
    """Whatever data and authors write comes out as text."""
    evil = "<script>alert(1)</script>"
    text = f"[x & y]{{claim=\"f('{evil}') > 1\" fails='{evil}'}}"
    statements = [
        replace(one, metric=evil, state='f~series="><b>')
        for one in stated(text, Truth.FAILS, repaired=evil, found=evil)
    ]
    html, bound = shown(text, statements)
    assert not list(find_unmatched(bound, "a.md"))
    assert "<script" not in html
    assert "<b>" not in html
    assert "<b>" not in add_anchors("<p>x</p>", ['f"><b>'])


def test_anchors_lead_to_states_of_a_figure() -> None:
    """Each state once, at the figure it names; the figure itself is an address already."""
    text = f"[a]{PEAK} [b]{PEAK} [c]{PEAK}"
    first, second, third = stated(text)
    seen = Observation("rise", "A rises.", (), "", ("A",), 1.0, figure="g-2", state="g-2~mark=1@A")
    block = Observations("o", "Seen", (seen, seen), "", 0)
    states = group_states([first, second, replace(third, state="f")], [block])
    assert states == {"f": ["f~series=A1", "f~series=A2"], "g-2": ["g-2~mark=1@A"]}
    html = add_anchors('<figure id="f"><p>x</p></figure>', states["f"])
    assert [one.get("id") for one in classed(tree(html), "rg-anchor")] == states["f"]
    assert html.startswith('<figure id="f"><span class="rg-anchor"')
    assert add_anchors("<p>x</p>", []) == "<p>x</p>"


STATED = (
    PAGE
    + f"""
## Peak [0.82]{PEAK}

At [step 10]{{value="peak_step(MEL)" of="accuracy"}}, [MEL ends
above GRPO]{{claim="final(MEL) > final(GRPO)"}}; see [here](#statement-1) and [there](#checked-statements).
"""
)
FILES = {
    "mkdocs.yml": SETTINGS.replace("[reportgen]", "[search, reportgen]"),
    "content/index.md": "---\ntitle: Small\n---\n" + STATED.replace("Accuracy", "Accuracy\nid: accuracy"),
    "content/words.md": '# Peak of [0.84]{value="peak(MEL)" of="runs"}\n\nWords.\n',
}


def build(root: Path) -> dict[str, bytes]:
    """Every file of the site."""
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return files_below(root / "site")


def test_a_site_tells_what_is_checked(tmp_path: Path) -> None:
    """From data and Markdown to the page, report.json, and an index and contents with typed words alone."""
    root = write_report(tmp_path, FILES | {"content/words.md": None})
    site = build(root)
    page = read_html(site["index.html"].decode())
    assert [words(one) for one in classed(page, "rg-bound")] == ["0.82", "step 10", "MEL ends above GRPO"]
    assert (
        words(classed(page, "rg-badge")[0]) == "3 statements checked against the data Show what was checked"
    )
    ids = [one.get("id") for one in page.iter() if one.get("id")]
    assert len(set(ids)) == len(ids)
    links = [a.get("href", "") for a in page.iter("a")]
    assert all(link[1:] in ids for link in links if link.startswith("#"))
    assert "peak-082" in ids
    titles, texts = site["search/titles.js"].decode(), site["search/texts-0.js"].decode()
    found = json.loads(titles.partition("=")[2].removesuffix(";\n"))["docs"]
    assert [title for location, title in found if "peak" in location] == ["Peak 0.82"]
    told = " ".join(json.loads(texts.partition("=")[2].removesuffix(";\n")))
    assert "value=" not in told
    assert "checked" not in told
    report = json.loads(site["report.json"])
    first = report["pages"][0]["statements"][0]
    assert (first["words"], first["truth"], first["line"], first["expression"]) == (
        "0.82",
        "holds",
        12,
        "peak(MEL)",
    )


def test_a_page_of_words_alone_depends_on_its_statements(tmp_path: Path) -> None:
    """Its HTML is as before when data change, what the data say is not."""
    root = write_report(tmp_path, FILES)
    before = build(root)["words/index.html"].decode()
    write_file(root / "data/runs.csv", RUNS.replace("0.84", "0.88"))
    after = build(root)["words/index.html"].decode()
    assert "the data say 0.82" in before
    assert "<title>Peak of 0.84 · Small</title>" in before
    assert "Peak of 0.84</a>" in before
    assert "the data say 0.84" not in before
    assert "the data say" not in after
