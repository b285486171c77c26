"""Statements to HTML: the words in the text, the badge under the title, the list at the page's end.

The page gets them once the search index has read it: it finds the author's words alone.
"""

from __future__ import annotations

import re
from html import escape as escape_html
from typing import TYPE_CHECKING

from reportgen.model import Observations
from reportgen.narrative.headings import strip_markup
from reportgen.site.checking.findings import count_statements, describe_truth
from reportgen.site.fragments import render_fragment
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.model import Shown
    from reportgen.statements import Statement

BADGE = '<p class="rg-badge"></p>'
"""What stands for the badge until ``fill_statements``."""
CHECKED = '<section class="rg-checked"></section>'
"""What stands for the list until ``fill_statements``."""

_OUR_IDS = re.compile(
    r'\b(?:id="|data-rg-block="[0-9a-f]{16}-)(?:statement-\d+|checked-\d+|checked-statements(?:-title)?)"'
)
_CLASSES = {
    "holds": "rg-holds",
    "fails": "rg-fails",
    "cannot be decided": "rg-undecided",
    "fails as expected": "rg-expected",
    "holds unexpectedly": "rg-unexpected",
}


def choose_id_prefix(html: str) -> str:
    """What our ids begin with: nothing, or where a heading or block of the page has one of them ``rg-``."""
    return "rg-" if _OUR_IDS.search(html) else ""


def render_start(statement: Statement, prefix: str, *, in_link: bool, first: bool) -> str:
    """What stands in front of bound words: a link to the list, or where it would be in a link a span."""
    name = f' id="{prefix}statement-{statement.number}"' if first else ""
    kind = f"rg-bound {_CLASSES[describe_truth(statement)]}"
    target = f"{prefix}checked-{statement.number}"
    if in_link:
        return f'<span class="{kind}"{name} data-checked="{target}">'
    return f'<a class="{kind}"{name} href="#{target}">'


def render_end(statement: Statement, *, in_link: bool) -> str:
    """What stands behind bound words: nothing more where they hold, otherwise a few words that say so."""
    verdict = describe_verdict(statement)
    said = f' <span class="rg-verdict">({escape_html(verdict)})</span>' if verdict else ""
    return f"</{'span' if in_link else 'a'}>{said}"


def describe_verdict(statement: Statement) -> str:
    """What a reader has to know at once: ``the data say 0.86``, ``does not hold``; empty where it holds."""
    truth = describe_truth(statement)
    if truth == "fails":
        repaired = strip_markup(statement.judgement.repaired)
        return f"the data say {repaired}" if repaired else "does not hold"
    known = {
        "fails as expected": "not borne out by these data",
        "holds unexpectedly": "holds, against expectation",
    }
    return "" if truth == "holds" else known.get(truth, truth)


def render_badge(statements: Sequence[Statement], prefix: str) -> str:
    """``14 statements checked against the data, 2 do not hold``; empty without statements."""
    found = count_statements(statements)
    rest = [
        (format_count(found[name], one, many), name != "fail_as_expected")
        for name, one, many in (
            ("fail", "does not hold", "do not hold"),
            ("undecided", "cannot be decided", "cannot be decided"),
            ("hold_unexpectedly", "holds against expectation", "hold against expectation"),
            ("fail_as_expected", "fails as expected", "fail as expected"),
        )
        if found[name]
    ]
    words = format_count(len(statements), "statement")
    return render_fragment("badge.html", statements=words, rest=rest, prefix=prefix) if statements else ""


def render_checked_list(statements: Sequence[Statement], prefix: str) -> str:
    """The list at the page's end; empty without statements."""
    rows = [
        {
            "number": one.number,
            "words": strip_markup(one.binding.words),
            "truth": _describe_result(one),
            "kind": _CLASSES[describe_truth(one)],
            "found": one.judgement.found,
            "evidence": one.judgement.evidence,
            "reason": one.binding.fails,
            "metric": one.metric,
            "state": one.state,
        }
        for one in statements
    ]
    return render_fragment("checked_statements.html", rows=rows, prefix=prefix) if rows else ""


def _describe_result(statement: Statement) -> str:
    """What became of it, unless what was found says so already, as it does of claims."""
    truth = describe_truth(statement)
    is_said = statement.binding.kind == "claim" and truth == statement.judgement.truth.value
    return "" if is_said else truth


def fill_statements(html: str, badge_html: str, list_html: str) -> str:
    """The page with its badge and its list where ``BADGE`` and ``CHECKED`` stand."""
    before, _, after = html.partition(BADGE)
    page = before + badge_html + after
    before, mark, after = page.rpartition(CHECKED)
    return before + list_html + after if mark else page


def group_states(statements: Iterable[Statement], shown: Iterable[Shown]) -> dict[str, list[str]]:
    """By the figure's id, the states of figures that a page links to, each once."""
    found: dict[str, list[str]] = {}
    for figure, state in _list_states(statements, shown):
        states = found.setdefault(figure, [])
        # The figure itself is a state, too, and an id already.
        if state not in {"", figure, *states}:
            states.append(state)
    return found


def add_anchors(fragment_html: str, states: Iterable[str]) -> str:
    """A block with an anchor for each state, so that their links lead to it without JavaScript, too."""
    spans = "".join(f'<span class="rg-anchor" id="{escape_html(state)}"></span>' for state in states)
    start, end, rest = fragment_html.partition(">")
    return f"{start}{end}{spans}{rest}" if spans else fragment_html


def _list_states(statements: Iterable[Statement], shown: Iterable[Shown]) -> Iterator[tuple[str, str]]:
    yield from ((one.figure, one.state) for one in statements)
    for block in shown:
        if isinstance(block, Observations):
            yield from ((one.figure, one.state) for one in block.items)
