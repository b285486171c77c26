"""Blocks and statements to HTML, with the templates of ``site_templates/fragments``."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from html import escape as escape_html
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.core.words import format_count
from reportgen.narrative.pages import strip_markup
from reportgen.site.checking.findings import count_statements, describe_truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reportgen.core.model import Shown
    from reportgen.core.statements import Observation, Statement

_ENVIRONMENT = Environment(
    loader=PackageLoader("reportgen.site_templates", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def render_fragment(name: str, **given: object) -> str:
    """A template of ``site_templates/fragments`` with what it is given; everything is escaped."""
    return render_template(f"fragments/{name}", **given)


def render_template(name: str, **given: object) -> str:
    """A template of ``site_templates`` with what it is given; everything is escaped."""
    return _ENVIRONMENT.get_template(name).render(**given)


def render_block(shown: Shown, link: Callable[[str], str], page_folder: str) -> str:
    """The HTML of what a block shows.

    ``link`` turns a path from the site's root, or a page's source path, into a relative address;
    ``page_folder`` is where the page's figure files are, from the site's root.
    """
    if isinstance(shown, Figure):
        return render_fragment("figure.html", **_make_part(shown, link, page_folder), with_legend=True)
    if isinstance(shown, Panels):
        parts = [_make_part(figure, link, page_folder) for figure in shown.figures]
        legend = dict(entry for figure in shown.figures for entry in figure.legend)
        return render_fragment("panels.html", panels=shown, parts=parts, legend=tuple(legend.items()))
    if isinstance(shown, ResultTable):
        return _render_table(shown, link, page_folder, title=shown.title, repeats=False)
    if isinstance(shown, Overview):
        links = [link(card.page) for card in shown.cards]
        return render_fragment("overview.html", overview=shown, links=links)
    if isinstance(shown, Stack):
        return _render_stack(shown, link, page_folder)
    if isinstance(shown, Observations):
        return render_fragment("observations.html", observations=shown)
    raise TypeError(type(shown))


def _render_stack(stack: Stack, link: Callable[[str], str], page_folder: str) -> str:
    """The parts one below the other; a part's own title is heard but not seen where it would say no more."""
    parts: list[dict[str, str]] = []
    for part in stack.parts:
        if isinstance(part, str):
            parts.append({"text": part, "html": ""})
            continue
        repeats = part.title in {"", stack.title}
        title = stack.title if repeats else part.title
        if isinstance(part, ResultTable):
            html = _render_table(part, link, page_folder, title=title, repeats=repeats)
        else:
            given = _make_part(part, link, page_folder) | {"title": title, "repeats": repeats}
            html = render_fragment("figure.html", **given, with_legend=True)
        parts.append({"html": Markup(html)})  # noqa: S704 - it comes from a template, which escaped it
    owns_id = all(isinstance(part, str) or part.id != stack.id for part in stack.parts)
    return render_fragment("stack.html", stack=stack, parts=parts, owns_id=owns_id)


def _render_table(
    table: ResultTable, link: Callable[[str], str], page_folder: str, *, title: str, repeats: bool
) -> str:
    files = {"csv": link(f"{page_folder}/{table.id}.csv")}
    return render_fragment("table.html", table=table, files=files, title=title, repeats=repeats)


def _make_part(figure: Figure, link: Callable[[str], str], page_folder: str) -> dict[str, Any]:
    stem = f"{page_folder}/{figure.id}"
    return {
        "figure": figure,
        "title": figure.title,
        "repeats": False,
        "files": {"svg": link(f"{stem}.svg"), "csv": link(f"{stem}.csv"), "spec": link(f"{stem}.vl.json")},
        "rows": render_data_rows(figure.table.rows),
        "payload_json": _escape_script(str(figure.payload)),
    }


_CELL, _ROW = "\x1f", "\x1e"
"""What ASCII has to stand between cells and rows; HTML allows neither."""


def render_data_rows(rows: Sequence[Sequence[str]]) -> Markup:
    """The rows of a figure's data table.

    All cells are escaped in one go, since there are a thousand on a page: one at a time, as a template
    would, they would cost more than everything else on it.
    """
    if not rows:
        return Markup("")
    joined = _ROW.join(map(_CELL.join, rows))
    if joined.count(_CELL) + joined.count(_ROW) + 1 != sum(map(len, rows)):
        return render_data_rows(
            [[cell.replace(_CELL, " ").replace(_ROW, " ") for cell in row] for row in rows]
        )
    lines = (line.partition(_CELL) for line in str(escape(joined)).split(_ROW))
    filled = (
        f'<th scope="row">{first}</th>' + (f"<td>{rest.replace(_CELL, '</td><td>')}</td>" if more else "")
        for first, more, rest in lines
    )
    return Markup("".join(f"<tr>{cells}</tr>" for cells in filled))  # noqa: S704 - escaped above


def render_view(name: str, view: str) -> str:
    """A compiled view that live figures run, by the name that they call it."""
    text = _escape_script(view)
    return f'<script type="application/json" class="rg-view" data-view="{name}">{text}</script>'


@cache
def hash_fragments() -> str:
    """SHA-256 in hex of the templates, which decide a page besides what it shows."""
    digest = hashlib.sha256()
    for path in sorted(Path(str(files("reportgen.site_templates") / "fragments")).iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _escape_script(json_text: str) -> str:
    """JSON that may stand in a script element: no tag can begin inside it."""
    return json_text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


BADGE = '<p class="rg-badge"></p>'
"""The placeholder of the badge until ``fill_statements``."""
CHECKED = '<section class="rg-checked"></section>'
"""The placeholder of the list until ``fill_statements``."""

_OUR_IDS = re.compile(
    r'\b(?:id="|data-rg-block="[0-9a-f]{16}-)(?:statement-\d+|checked-\d+|checked-statements(?:-title)?)"'
)
# By what became of a statement: its CSS class, and what a reader has to know at once.
_VERDICTS = {
    "holds": ("rg-holds", ""),
    "fails": ("rg-fails", "does not hold"),
    "cannot be decided": ("rg-undecided", "cannot be decided"),
    "fails as expected": ("rg-expected", "not borne out by these data"),
    "holds unexpectedly": ("rg-unexpected", "holds, against expectation"),
}


def choose_id_prefix(html: str) -> str:
    """What our ids begin with: nothing, or where a heading or block of the page has one of them ``rg-``."""
    return "rg-" if _OUR_IDS.search(html) else ""


def render_start(statement: Statement, prefix: str, *, in_link: bool, first: bool) -> str:
    """The markup in front of bound words: a link to the list, or where it would be in a link a span."""
    name = f' id="{prefix}statement-{statement.number}"' if first else ""
    kind = f"rg-bound {_VERDICTS[describe_truth(statement)][0]}"
    target = f"{prefix}checked-{statement.number}"
    if in_link:
        return f'<span class="{kind}"{name} data-checked="{target}">'
    return f'<a class="{kind}"{name} href="#{target}">'


def render_end(statement: Statement, *, in_link: bool) -> str:
    """The markup behind bound words: nothing more where they hold, otherwise a few words that say so."""
    truth = describe_truth(statement)
    repaired = strip_markup(statement.judgement.repaired) if truth == "fails" else ""
    verdict = f"the data say {repaired}" if repaired else _VERDICTS[truth][1]
    label = f' <span class="rg-verdict">({escape_html(verdict)})</span>' if verdict else ""
    return f"</{'span' if in_link else 'a'}>{label}"


def render_badge(statements: Sequence[Statement], prefix: str) -> str:
    """``14 statements checked against the data, 2 do not hold``; empty without statements."""
    counts = count_statements(statements)
    rest = [
        (format_count(counts[name], one, many), name != "fail_as_expected")
        for name, one, many in (
            ("fail", "does not hold", "do not hold"),
            ("undecided", "cannot be decided", "cannot be decided"),
            ("hold_unexpectedly", "holds against expectation", "hold against expectation"),
            ("fail_as_expected", "fails as expected", "fail as expected"),
        )
        if counts[name]
    ]
    words = format_count(len(statements), "statement")
    return render_fragment("badge.html", statements=words, rest=rest, prefix=prefix) if statements else ""


def render_checked_list(statements: Sequence[Statement], prefix: str) -> str:
    """The list at the page's end; empty without statements."""
    rows = []
    for one in statements:
        truth = describe_truth(one)
        # What is found says so already of claims.
        is_said = one.binding.kind == "claim" and truth == one.judgement.truth.value
        rows.append(
            {
                "number": one.number,
                "words": strip_markup(one.binding.words),
                "truth": "" if is_said else truth,
                "kind": _VERDICTS[truth][0],
                "found": one.judgement.found,
                "evidence": one.judgement.evidence,
                "reason": one.binding.fails,
                "metric": one.metric,
                "state": one.state,
            }
        )
    return render_fragment("checked_statements.html", rows=rows, prefix=prefix) if rows else ""


def fill_statements(html: str, badge_html: str, list_html: str) -> str:
    """The page with its badge and its list where ``BADGE`` and ``CHECKED`` stand."""
    before, _, after = html.partition(BADGE)
    page = before + badge_html + after
    before, mark, after = page.rpartition(CHECKED)
    return before + list_html + after if mark else page


def group_states(statements: Iterable[Statement], shown: Iterable[Shown]) -> dict[str, list[str]]:
    """By the figure's id, the states of figures that a page links to, each once."""
    linking: list[Statement | Observation] = [*statements]
    linking += (one for block in shown if isinstance(block, Observations) for one in block.items)
    by_figure: dict[str, list[str]] = {}
    for one in linking:
        states = by_figure.setdefault(one.figure, [])
        # The figure itself is a state, too, and an id already.
        if one.state not in {"", one.figure, *states}:
            states.append(one.state)
    return by_figure


def add_anchors(fragment_html: str, states: Iterable[str]) -> str:
    """A block with an anchor for each state, so that their links lead to it without JavaScript, too."""
    spans = "".join(f'<span class="rg-anchor" id="{escape_html(state)}"></span>' for state in states)
    start, end, rest = fragment_html.partition(">")
    return f"{start}{end}{spans}{rest}" if spans else fragment_html
