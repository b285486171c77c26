"""Finished values to HTML, with the templates of ``site_templates/fragments``: no rule stands in them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reportgen.model import Figure, Observations, Overview, Panels, ResultTable, Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Template

    from reportgen.model import BenchmarkResult, Shown


def block_html(shown: Shown, link: Callable[[str], str], page_folder: str) -> str:
    """The HTML of what a block shows.

    Args:
        shown: the figure, panels, table, overview, stack of such, or observations.
        link: turns a path from the site's root, or a page's source path, into a relative address.
        page_folder: where the page's figure files stand, from the site's root.
    """
    if isinstance(shown, Figure):
        return _template("figure.html").render(**_part(shown, link, page_folder), with_legend=True)
    if isinstance(shown, Panels):
        parts = [_part(figure, link, page_folder) for figure in shown.figures]
        legend = dict(entry for figure in shown.figures for entry in figure.legend)
        return _template("panels.html").render(panels=shown, parts=parts, legend=tuple(legend.items()))
    if isinstance(shown, ResultTable):
        return _table_html(shown, link, page_folder)
    if isinstance(shown, Overview):
        links = [link(card.page) for card in shown.cards]
        return _template("overview.html").render(overview=shown, links=links)
    if isinstance(shown, Stack):
        return _stack_html(shown, link, page_folder)
    if isinstance(shown, Observations):
        return _template("observations.html").render(observations=shown)
    raise TypeError(type(shown))


def _stack_html(stack: Stack, link: Callable[[str], str], page_folder: str) -> str:
    """The parts one below the other; a part's own title is heard but not seen where it would say no more."""

    def html(part: Figure | ResultTable) -> str:
        repeats = part.title in {"", stack.title}
        title = stack.title if repeats else part.title
        if isinstance(part, ResultTable):
            return _table_html(part, link, page_folder, title=title, repeats=repeats)
        finished = _part(part, link, page_folder) | {"title": title, "repeats": repeats}
        return _template("figure.html").render(**finished, with_legend=True)

    # What is marked as finished comes from a template, which escaped it.
    parts = [
        {"text": part, "html": ""} if isinstance(part, str) else {"html": Markup(html(part))}  # noqa: S704
        for part in stack.parts
    ]
    owns_id = all(isinstance(part, str) or part.id != stack.id for part in stack.parts)
    return _template("stack.html").render(stack=stack, parts=parts, owns_id=owns_id)


def _table_html(
    table: ResultTable,
    link: Callable[[str], str],
    page_folder: str,
    *,
    title: str | None = None,
    repeats: bool = False,
) -> str:
    files = {"csv": link(f"{page_folder}/{table.id}.csv")}
    given = {"title": table.title if title is None else title, "repeats": repeats}
    return _template("table.html").render(table=table, files=files, **given)


def benchmark_head(result: BenchmarkResult, description: str) -> str:
    """What happened, in a sentence, and the line of key results under a benchmark page's title."""
    return _template("benchmark_head.html").render(benchmark=result, description=description)


_CELL, _ROW = "\x1f", "\x1e"
"""What ASCII has to stand between cells and rows; HTML allows neither."""


def data_rows(rows: Sequence[Sequence[str]]) -> Markup:
    """The rows of a figure's data table.

    All cells are escaped in one go, since there are a thousand on a page: one at a time, as a template
    would, they would cost more than everything else on it.
    """
    if not rows:
        return Markup("")
    joined = _ROW.join(map(_CELL.join, rows))
    if joined.count(_CELL) + joined.count(_ROW) + 1 != sum(map(len, rows)):
        return data_rows([[cell.replace(_CELL, " ").replace(_ROW, " ") for cell in row] for row in rows])
    lines = (line.partition(_CELL) for line in str(escape(joined)).split(_ROW))
    filled = (f'<th scope="row">{first}</th>{_cells(rest) if more else ""}' for first, more, rest in lines)
    return Markup("".join(f"<tr>{cells}</tr>" for cells in filled))  # noqa: S704 - escaped above


def _cells(joined: str) -> str:
    return f"<td>{joined.replace(_CELL, '</td><td>')}</td>"


def view_html(name: str, view: str) -> str:
    """A compiled view that live figures run, by the name that they call it."""
    return f'<script type="application/json" class="rg-view" data-view="{name}">{script_safe(view)}</script>'


@cache
def fragments_digest() -> str:
    """SHA-256 in hex of the templates, which decide a page besides what it shows."""
    digest = hashlib.sha256()
    for path in sorted(Path(str(files("reportgen.site_templates") / "fragments")).iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def script_safe(json_text: str) -> str:
    """JSON that may stand in a script element: no tag can begin inside it."""
    return json_text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _part(figure: Figure, link: Callable[[str], str], page_folder: str) -> dict[str, Any]:
    stem = f"{page_folder}/{figure.id}"
    files = {"svg": link(f"{stem}.svg"), "csv": link(f"{stem}.csv"), "spec": link(f"{stem}.vl.json")}
    return {
        "figure": figure,
        "title": figure.title,
        "repeats": False,
        "files": files,
        "rows": data_rows(figure.table.rows),
        "payload_json": script_safe(str(figure.payload)),
    }


def fragment(name: str, **given: object) -> str:
    """A template of ``site_templates/fragments`` with what it is given; everything is escaped."""
    return _template(name).render(**given)


@cache
def _template(name: str) -> Template:
    return _environment().get_template(f"fragments/{name}")


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("reportgen.site_templates", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
