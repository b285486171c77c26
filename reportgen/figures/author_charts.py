"""Custom charts: a Vega-Lite specification, or a Python function that returns an Altair chart."""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import Figure, Table
from reportgen.core.repository import resolve_path
from reportgen.core.words import suggest_name
from reportgen.figures.render import draw_chart
from reportgen.figures.style import apply_house_style, resolve_specification, resolve_svg
from reportgen.figures.text import name_view, write_compact_json, write_table_csv
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd


Rows = list[dict[str, Any]]

_MOST_WORDS = 300
_MOST_TABLE_ROWS = 60
_PHONE = 350  # pixels of a figure on most phones
_ADVICE = (
    "Let it have fewer rows or marks, a smaller size, or simpler expressions; or compute its data beforehand"
)
_TAG = re.compile("<[^<>]+>")
_ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
_CSS_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{1,6})\s?")
_LOADS = re.compile(
    r"(?<![\w-])(?:url\((?!\s*[\"']?#)|src\(|image(?:-set)?\(|cross-fade\(|@import)", re.IGNORECASE
)


def run_chart_function(
    root: Path, function: str, frame: pd.DataFrame, place: SourceLocation
) -> dict[str, Any]:
    """Call ``file.py:function`` with a copy of ``frame`` and return its chart's Vega-Lite specification.

    Raises a ``ReportError`` if the file or function is missing, is outside the report or raises, or if the
    result is not an Altair chart or is one that Altair rejects.
    """
    file_name, _, name = function.partition(":")
    path = Path(resolve_path(root / file_name))
    if not path.is_relative_to(resolve_path(root)) or not path.is_file():
        message = f'there is no file "{file_name}" in the report'
        raise _make_error(place, message, "Give it relative to mkdocs.yml")
    try:
        module = _load_module(path)
    except (Exception, SystemExit) as error:
        raise _locate_error(error, path, file_name) from error
    make = getattr(module, name, None)
    if not callable(make):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        message = f'"{file_name}" has no function "{name}"'
        raise _make_error(place, message, suggest_name(name, known).rstrip())
    try:
        chart = make(frame.copy())
    except (Exception, SystemExit) as error:
        raise _locate_error(error, path, file_name) from error
    return make_specification(chart, function, place)


def make_specification(chart: object, function: str, place: SourceLocation) -> dict[str, Any]:
    """Return the Vega-Lite specification of what a function returned.

    Raises a ``ReportError`` if that is not an Altair chart or is one that Altair rejects.
    """
    import altair as alt  # noqa: PLC0415 - slow to import

    if not isinstance(chart, alt.TopLevelMixin):
        raise _make_error(place, f'"{function}" returned {type(chart).__name__}, not an Altair chart')
    try:
        with alt.data_transformers.enable("default", max_rows=None):
            specification: dict[str, Any] = chart.to_dict()
    except Exception as error:
        words = shorten(str(error), _MOST_WORDS).removesuffix(".")
        raise _make_error(place, f'Altair refuses the chart of "{function}": {words}') from error
    return specification


def _load_module(path: Path) -> ModuleType:
    """Load the author's module from source each time, since bytecode can be up to a second out of date."""
    name = f"reportgen_author_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses look up their module in sys.modules.
    sys.modules[name] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - what allow_code allows
    return module


def _locate_error(error: BaseException, path: Path, file_name: str) -> ReportError:
    """Convert an exception to an error at the deepest line of the author's file in its traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    words = shorten(f"{type(error).__name__}: {error}", _MOST_WORDS).removesuffix(".")
    return _make_error(SourceLocation(file_name, line), words)


def _make_error(place: SourceLocation, message: str, next_step: str = "") -> ReportError:
    return ReportError(Diagnostic(place, message, next_step, Stage.FIGURE))


def draw_author_figure(
    block_id: str,
    kind: str,
    specification: dict[str, Any],
    rows: Mapping[str, Rows],
    *,
    title: str | None,
    caption: str,
    summary: str | None,
    place: SourceLocation,
    draw: Callable[[dict[str, Any]], str] = draw_chart,
) -> Figure:
    """Draw a Vega-Lite specification in the house style, its values as tooltips unless it has others.

    ``rows`` of the named source replace each ``data: {source: NAME}``. ``title`` and ``summary`` default to
    the specification's own title and a generic sentence; ``draw`` renders the SVG. Raises a ``ReportError``
    if Vega-Lite or Vega rejects the specification or drawing takes too long.
    """
    own = specification.get("title")
    own = own.get("text") if isinstance(own, dict) else own
    name = title or (own if isinstance(own, str) else "") or "Author's chart"
    spec = apply_house_style(_insert_rows(specification, rows))
    spec.pop("title", None)
    spec["config"]["mark"] = {"tooltip": True} | spec["config"]["mark"]
    svg = _draw_svg(spec, place, draw)
    view = write_compact_json(spec)
    shown = next(iter(rows.values()), [])
    header = tuple(shown[0]) if shown else ("no data",)
    cells = [[row.get(column) for column in header] for row in shown]
    return Figure(
        id=block_id,
        kind=kind,
        title=name,
        subtitle="",
        caption=caption,
        summary=summary or f"{name}: the data table below has its numbers.",
        inline_svg=_make_pictures(svg, spec, block_id, lambda narrow: _draw_svg(narrow, place, draw)),
        file_svg=resolve_svg(svg) + "\n",
        table_data=_build_table(header, cells),
        csv=write_table_csv(header, cells),
        spec=write_compact_json(resolve_specification(spec) | {"title": name}) + "\n",
        view=view,
        payload=write_compact_json({"view": name_view(view), "author": True}),
        numbers_data={"rows": len(shown)},
        plot_class="rg-fixed",
    )


def _insert_rows(value: Any, rows: Mapping[str, Rows]) -> Any:  # noqa: ANN401 - any JSON
    """Replace each ``data: {source: NAME}`` of the specification by that source's rows."""
    if isinstance(value, list):
        return [_insert_rows(item, rows) for item in value]
    if not isinstance(value, dict):
        return value
    filled = {key: _insert_rows(item, rows) for key, item in value.items()}
    data = value.get("data")
    if isinstance(data, dict) and isinstance(data.get("source"), str):
        rest = {key: item for key, item in data.items() if key != "source"}
        filled["data"] = rest | {"values": rows[data["source"]]}
    return filled


def _build_table(header: tuple[str, ...], cells: list[list[object]]) -> Table:
    columns = (_write_column(column) for column in zip(*cells[:_MOST_TABLE_ROWS], strict=True))
    words = zip(*columns, strict=True)
    note = f"The first {_MOST_TABLE_ROWS} of {len(cells):,} rows; the CSV file has them all."
    return Table(header, tuple(words), note if len(cells) > _MOST_TABLE_ROWS else "")


def _write_column(values: tuple[object, ...]) -> list[str]:
    """Write the cells of a column, numbers with the decimals of the one that has most of them."""
    texts = ["" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v) for v in values]
    numbers = [text for text, v in zip(texts, values, strict=True) if isinstance(v, float)]
    if not all(re.fullmatch(r"-?[\d.]+", text) for text in numbers):  # an exponent, or no finite number
        return texts
    most = max((len(text.partition(".")[2]) for text in numbers), default=0)
    return [f"{v:.{most}f}" if isinstance(v, float) else text for text, v in zip(texts, values, strict=True)]


def _draw_svg(spec: dict[str, Any], place: SourceLocation, draw: Callable[[dict[str, Any]], str]) -> str:
    """Draw the SVG, rejecting any that would load external resources, even through values in the data."""
    try:
        svg = draw(spec)
    except ValueError as error:
        import altair as alt  # noqa: PLC0415 - slow to import, and only needed for an error
        from jsonschema import ValidationError  # type: ignore[import-untyped]  # noqa: PLC0415

        lines = str(error).splitlines()
        fault = lines[min(1, len(lines) - 1)].removeprefix("Error: ")
        try:
            alt.Chart.from_dict(spec)
        except ValidationError as found:
            # The schema's error is clearer than Vega-Lite's, which may be about its internals. For an unknown
            # mark, the schema lists one error for each valid name, and any of them will do.
            where = ".".join(str(step) for step in found.absolute_path)
            fault = f"{found.instance!r} is not known" if found.validator == "const" else found.message
            fault = f"{where}: {fault}" if where else fault
        message = f"Vega-Lite refuses this specification: {shorten(fault)}"
        raise _make_error(place, message) from error
    except TimeoutError as error:
        message = f"the chart was not drawn within {error.args[0]:g} seconds"
        raise _make_error(place, message, _ADVICE) from error
    except ChildProcessError as error:
        message = "drawing the chart broke off, as it does where the memory does not suffice"
        raise _make_error(place, message, _ADVICE) from error
    for tag in _TAG.findall(svg):
        for name, text in _ATTRIBUTE.findall(tag):
            value = _CSS_ESCAPE.sub(lambda escape: chr(int(escape[1], 16) % 0x110000), unescape(text))
            loads = _LOADS.search(value) or (name.endswith("href") and not value.startswith("#"))
            if loads and not name.startswith("xmlns"):
                message = f'the drawn chart would load "{shorten(value, 60)}" from elsewhere'
                step = "Give colours as names or numbers such as #0d4795, in the data too"
                raise _make_error(place, message, step)
    return svg


def _make_pictures(
    svg: str, spec: dict[str, Any], figure_id: str, draw: Callable[[dict[str, Any]], str]
) -> str:
    """Return the picture of a page, and of a chart that can be narrower also the one for phones.

    The words of one picture for both would be half as large on a phone as those around it.
    """
    picture = _prepare_for_page(svg, figure_id)
    width = spec.get("width")
    if not ({"mark", "layer"} & spec.keys() and isinstance(width, int | float) and width > _PHONE):
        return picture
    narrow = _prepare_for_page(draw(_make_narrow(spec)), figure_id, "-narrow")
    wide = picture.replace("rg-picture", "rg-picture rg-wide", 1)
    return wide + narrow.replace("rg-picture", "rg-picture rg-narrow", 1)


def _make_narrow(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification for phones: as wide as the page, with legends below unless they have a place."""
    legend = {"orient": "bottom", "direction": "horizontal", "columns": 2} | spec["config"].get("legend", {})
    fit = {"type": "fit-x", "contains": "padding"}
    return spec | {"width": _PHONE, "autosize": fit, "config": spec["config"] | {"legend": legend}}


def _prepare_for_page(svg: str, figure_id: str, suffix: str = "") -> str:
    """Turn the SVG into one labelled image with ids unique on the page; ``suffix`` is that of its ids."""
    own = f"{figure_id}{suffix}"

    def clean_tag(tag: re.Match[str]) -> str:
        # A strict CSP rejects style attributes; the live view sets the same styles by script.
        text = re.sub(r' (?:role|class|style|aria-[a-z]+)="[^"]*"', "", tag[0])
        text = re.sub(r' id="([^"]+)"', rf' id="{own}-\1"', text)
        text = re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", text)
        return re.sub(r'href="#([^"]+)"', rf'href="#{own}-\1"', text)

    labels = f'<svg class="rg-picture" role="img" aria-labelledby="{figure_id}-title {figure_id}-summary" '
    return _TAG.sub(clean_tag, svg).replace("<svg ", labels, 1)
