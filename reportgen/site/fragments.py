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


def render_block(shown: Shown, link: Callable[[str], str], page_folder: str) -> str:
    """The HTML of what a block shows.

    Args:
        shown: the figure, panels, table, overview, stack of such, or observations.
        link: turns a path from the site's root, or a page's source path, into a relative address.
        page_folder: where the page's figure files stand, from the site's root.
    """
    if isinstance(shown, Figure):
        return _load_template("figure.html").render(**_make_part(shown, link, page_folder), with_legend=True)
    if isinstance(shown, Panels):
        parts = [_make_part(figure, link, page_folder) for figure in shown.figures]
        legend = dict(entry for figure in shown.figures for entry in figure.legend)
        return _load_template("panels.html").render(panels=shown, parts=parts, legend=tuple(legend.items()))
    if isinstance(shown, ResultTable):
        return _render_table(shown, link, page_folder)
    if isinstance(shown, Overview):
        links = [link(card.page) for card in shown.cards]
        return _load_template("overview.html").render(overview=shown, links=links)
    if isinstance(shown, Stack):
        return _render_stack(shown, link, page_folder)
    if isinstance(shown, Observations):
        return _load_template("observations.html").render(observations=shown)
    raise TypeError(type(shown))


def _render_stack(stack: Stack, link: Callable[[str], str], page_folder: str) -> str:
    """The parts one below the other; a part's own title is heard but not seen where it would say no more."""

    def render_part(part: Figure | ResultTable) -> str:
        repeats = part.title in {"", stack.title}
        title = stack.title if repeats else part.title
        if isinstance(part, ResultTable):
            return _render_table(part, link, page_folder, title=title, repeats=repeats)
        finished = _make_part(part, link, page_folder) | {"title": title, "repeats": repeats}
        return _load_template("figure.html").render(**finished, with_legend=True)

    # What is marked as finished comes from a template, which escaped it.
    parts = [
        {"text": part, "html": ""} if isinstance(part, str) else {"html": Markup(render_part(part))}  # noqa: S704
        for part in stack.parts
    ]
    owns_id = all(isinstance(part, str) or part.id != stack.id for part in stack.parts)
    return _load_template("stack.html").render(stack=stack, parts=parts, owns_id=owns_id)


def _render_table(
    table: ResultTable,
    link: Callable[[str], str],
    page_folder: str,
    *,
    title: str | None = None,
    repeats: bool = False,
) -> str:
    files = {"csv": link(f"{page_folder}/{table.id}.csv")}
    given = {"title": table.title if title is None else title, "repeats": repeats}
    return _load_template("table.html").render(table=table, files=files, **given)


def render_benchmark_head(result: BenchmarkResult, description: str) -> str:
    """What happened, in a sentence, and the line of key results under a benchmark page's title."""
    return _load_template("benchmark_head.html").render(benchmark=result, description=description)


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
    filled = (f'<th scope="row">{first}</th>{_cells(rest) if more else ""}' for first, more, rest in lines)
    return Markup("".join(f"<tr>{cells}</tr>" for cells in filled))  # noqa: S704 - escaped above


def _cells(joined: str) -> str:
    return f"<td>{joined.replace(_CELL, '</td><td>')}</td>"


def render_view(name: str, view: str) -> str:
    """A compiled view that live figures run, by the name that they call it."""
    return (
        f'<script type="application/json" class="rg-view" data-view="{name}">{escape_script(view)}</script>'
    )


@cache
def hash_fragments() -> str:
    """SHA-256 in hex of the templates, which decide a page besides what it shows."""
    digest = hashlib.sha256()
    for path in sorted(Path(str(files("reportgen.site_templates") / "fragments")).iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def escape_script(json_text: str) -> str:
    """JSON that may stand in a script element: no tag can begin inside it."""
    return json_text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _make_part(figure: Figure, link: Callable[[str], str], page_folder: str) -> dict[str, Any]:
    stem = f"{page_folder}/{figure.id}"
    files = {"svg": link(f"{stem}.svg"), "csv": link(f"{stem}.csv"), "spec": link(f"{stem}.vl.json")}
    return {
        "figure": figure,
        "title": figure.title,
        "repeats": False,
        "files": files,
        "rows": render_data_rows(figure.table.rows),
        "payload_json": escape_script(str(figure.payload)),
    }


def render_fragment(name: str, **given: object) -> str:
    """A template of ``site_templates/fragments`` with what it is given; everything is escaped."""
    return _load_template(name).render(**given)


@cache
def _load_template(name: str) -> Template:
    return _make_environment().get_template(f"fragments/{name}")


@cache
def _make_environment() -> Environment:
    return Environment(
        loader=PackageLoader("reportgen.site_templates", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
