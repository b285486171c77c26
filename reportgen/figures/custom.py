"""Charts of the author's own: a Vega-Lite specification, or a function that returns a chart."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from reportgen.errors import Problem, ReportError, Stage
from reportgen.figures.live import compact_json, view_name
from reportgen.figures.render import svg_of_vega_lite
from reportgen.figures.tidy import table_csv
from reportgen.figures.tokens import resolve
from reportgen.model import Figure, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.errors import Place

_MOST_TABLE_ROWS = 60
_WIDTH, _HEIGHT = 640, 320
Rows = list[dict[str, Any]]


def author_figure(
    block_id: str,
    kind: str,
    specification: dict[str, Any],
    rows: Mapping[str, Rows],
    *,
    title: str | None,
    caption: str,
    summary: str | None,
    place: Place,
) -> Figure:
    """The figure of a Vega-Lite specification, drawn in the house style.

    Args:
        block_id: id of the block on its page.
        kind: ``vega-lite`` or ``altair``.
        specification: the author's; ``data: {source: NAME}`` is replaced by that source's rows.
        rows: source name to its rows.
        title: what is shown; the specification's own title if None.
        caption: finished sentences.
        summary: one sentence in words; a plain one if None.
        place: the block, for problems.

    Raises:
        ReportError: Vega-Lite or Vega refuse the specification.
    """
    name = title or _title(specification) or "Author's chart"
    spec = _house_style() | _with_rows(specification, rows)
    spec["config"] = _house_config() | spec.get("config", {})
    spec.pop("title", None)
    try:
        svg = svg_of_vega_lite(spec)
    except ValueError as error:
        said = str(error).splitlines()[1 if "\n" in str(error) else 0].removeprefix("Error: ")
        problem = Problem(place, f"Vega-Lite refuses this specification: {said}", "", Stage.FIGURE)
        raise ReportError(problem) from error
    view = compact_json(spec)
    standalone = json.loads(resolve(json.dumps(spec | {"title": name})))
    shown = next(iter(rows.values()), [])
    header = tuple(shown[0]) if shown else ("no data",)
    words = tuple(tuple(_word(row.get(column)) for column in header) for row in shown)
    return Figure(
        id=block_id,
        kind=kind,
        title=name,
        subtitle="",
        caption=caption,
        summary=summary or f"{name}: the data table below has its numbers.",
        inline_svg=_for_page(svg, block_id),
        file_svg=resolve(svg) + "\n",
        table=Table(header, words[:_MOST_TABLE_ROWS], _table_note(len(words))),
        csv=table_csv(header, words),
        spec=compact_json(standalone),
        view=view,
        payload=compact_json({"view": view_name(view), "author": True}),
        numbers={"rows": len(shown)},
        plot_class="rg-fixed",
    )


def _title(specification: Mapping[str, Any]) -> str | None:
    title = specification.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    return text if isinstance(text, str) else None


def _with_rows(value: Any, rows: Mapping[str, Rows]) -> Any:  # noqa: ANN401 - any JSON
    """The specification with each ``data: {source: NAME}`` replaced by rows."""
    if isinstance(value, list):
        return [_with_rows(item, rows) for item in value]
    if not isinstance(value, dict):
        return value
    filled = {key: _with_rows(item, rows) for key, item in value.items()}
    data = value.get("data")
    if isinstance(data, dict) and isinstance(data.get("source"), str):
        rest = {key: item for key, item in data.items() if key != "source"}
        filled["data"] = rest | {"values": rows[data["source"]]}
    return filled


def _house_style() -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": _WIDTH,
        "height": _HEIGHT,
        "background": "transparent",
    }


def _house_config() -> dict[str, Any]:
    text, muted = "var(--rg-text)", "var(--rg-muted)"
    labels = {"labelColor": muted, "titleColor": text, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "font": "Reportgen Sans",
        "view": {"stroke": None},
        "axis": labels
        | {
            "titleFontWeight": 400,
            "gridColor": "var(--rg-grid)",
            "domainColor": "var(--rg-rule)",
            "tickColor": "var(--rg-rule)",
        },
        "legend": labels | {"titleFontWeight": 400},
        "header": {"labelColor": text, "titleColor": text},
        "text": {"color": text},
        "mark": {"color": "var(--rg-series-1)"},
        "range": {"category": [f"var(--rg-series-{slot})" for slot in range(1, 9)]},
    }


def _for_page(svg: str, figure_id: str) -> str:
    """The SVG as one image: its ids made the figure's own (pictures of one page share them otherwise)."""
    svg = re.sub(r' (?:role|class|aria-[a-z]+)="[^"]*"', "", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{figure_id}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{figure_id}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{figure_id}-\1"', svg)
    labelled = f'<svg class="rg-picture" role="img" aria-labelledby="{figure_id}-title {figure_id}-summary" '
    return svg.replace("<svg ", labelled, 1)


def _word(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table_note(count: int) -> str:
    if count <= _MOST_TABLE_ROWS:
        return ""
    return f"The first {_MOST_TABLE_ROWS} of {count:,} rows; the CSV file has them all."
