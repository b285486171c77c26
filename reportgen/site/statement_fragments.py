"""Statements to HTML: the words in the text, the badge under the title, the list at the page's end.

The page gets them once the search index has read it: it finds the author's words alone.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from reportgen.model import Observations
from reportgen.narrative.headings import plain_words
from reportgen.site.checking.findings import counts, truth_words
from reportgen.site.fragments import fragment
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.model import Shown
    from reportgen.statements import Statement

BADGE = '<p class="rg-badge"></p>'
"""What stands for the badge until ``filled``."""
CHECKED = '<section class="rg-checked"></section>'
"""What stands for the list until ``filled``."""

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


def id_prefix(html: str) -> str:
    """What our ids begin with: nothing, or where a heading or block of the page has one of them ``rg-``."""
    return "rg-" if _OUR_IDS.search(html) else ""


def bound_start(statement: Statement, prefix: str, *, in_link: bool, first: bool) -> str:
    """What stands in front of bound words: a link to the list, or where it would be in a link a span."""
    name = f' id="{prefix}statement-{statement.number}"' if first else ""
    kind = f"rg-bound {_CLASSES[truth_words(statement)]}"
    target = f"{prefix}checked-{statement.number}"
    if in_link:
        return f'<span class="{kind}"{name} data-checked="{target}">'
    return f'<a class="{kind}"{name} href="#{target}">'


def bound_end(statement: Statement, *, in_link: bool) -> str:
    """What stands behind bound words: nothing more where they hold, otherwise a few words that say so."""
    verdict = verdict_words(statement)
    said = f' <span class="rg-verdict">({escape(verdict)})</span>' if verdict else ""
    return f"</{'span' if in_link else 'a'}>{said}"


def verdict_words(statement: Statement) -> str:
    """What a reader has to know at once: ``the data say 0.86``, ``does not hold``; empty where it holds."""
    truth = truth_words(statement)
    if truth == "fails":
        repaired = plain_words(statement.judgement.repaired)
        return f"the data say {repaired}" if repaired else "does not hold"
    known = {
        "fails as expected": "not borne out by these data",
        "holds unexpectedly": "holds, against expectation",
    }
    return "" if truth == "holds" else known.get(truth, truth)


def badge(statements: Sequence[Statement], prefix: str) -> str:
    """``14 statements checked against the data, 2 do not hold``; empty without statements."""
    found = counts(statements)
    rest = [
        (counted(found[name], one, many), name != "fail_as_expected")
        for name, one, many in (
            ("fail", "does not hold", "do not hold"),
            ("undecided", "cannot be decided", "cannot be decided"),
            ("hold_unexpectedly", "holds against expectation", "hold against expectation"),
            ("fail_as_expected", "fails as expected", "fail as expected"),
        )
        if found[name]
    ]
    words = counted(len(statements), "statement")
    return fragment("badge.html", statements=words, rest=rest, prefix=prefix) if statements else ""


def checked_list(statements: Sequence[Statement], prefix: str) -> str:
    """The list at the page's end; empty without statements."""
    rows = [
        {
            "number": one.number,
            "words": plain_words(one.binding.words),
            "truth": _told_truth(one),
            "kind": _CLASSES[truth_words(one)],
            "found": one.judgement.found,
            "evidence": one.judgement.evidence,
            "reason": one.binding.fails,
            "metric": one.metric,
            "state": one.state,
        }
        for one in statements
    ]
    return fragment("checked_statements.html", rows=rows, prefix=prefix) if rows else ""


def _told_truth(statement: Statement) -> str:
    """What became of it, unless what was found says so already, as it does of claims."""
    truth = truth_words(statement)
    told = statement.binding.kind == "claim" and truth == statement.judgement.truth.value
    return "" if told else truth


def filled(html: str, badge_html: str, list_html: str) -> str:
    """The page with its badge and its list where ``BADGE`` and ``CHECKED`` stand."""
    before, _, after = html.partition(BADGE)
    page = before + badge_html + after
    before, mark, after = page.rpartition(CHECKED)
    return before + list_html + after if mark else page


def states_on(statements: Iterable[Statement], shown: Iterable[Shown]) -> dict[str, list[str]]:
    """By the figure's id, the states of figures that a page links to, each once."""
    found: dict[str, list[str]] = {}
    for figure, state in _states(statements, shown):
        states = found.setdefault(figure, [])
        # The figure itself is a state, too, and an id already.
        if state not in {"", figure, *states}:
            states.append(state)
    return found


def anchored(fragment_html: str, states: Iterable[str]) -> str:
    """A block with an anchor for each state, so that their links lead to it without JavaScript, too."""
    spans = "".join(f'<span class="rg-anchor" id="{escape(state)}"></span>' for state in states)
    start, end, rest = fragment_html.partition(">")
    return f"{start}{end}{spans}{rest}" if spans else fragment_html


def _states(statements: Iterable[Statement], shown: Iterable[Shown]) -> Iterator[tuple[str, str]]:
    yield from ((one.figure, one.state) for one in statements)
    for block in shown:
        if isinstance(block, Observations):
            yield from ((one.figure, one.state) for one in block.items)
