"""Charts of the author's own: a Vega-Lite specification, or a function that returns an Altair chart."""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from html import unescape
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import Figure, Table
from reportgen.core.words import suggest_name
from reportgen.figures.live import name_view, write_compact_json
from reportgen.figures.render import draw_chart
from reportgen.figures.style import apply_house_style, resolve_specification, resolve_svg
from reportgen.figures.text import write_table_csv
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd


Rows = list[dict[str, Any]]

_MOST_WORDS = 300
_MOST_TABLE_ROWS = 60
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
    """The Vega-Lite specification of the chart that ``file.py:function`` returns for a copy of ``frame``.

    Raises a ``ReportError`` where the file or function is missing, lies outside the report, raises, or
    returns something other than an Altair chart, or one that Altair refuses.
    """
    import altair as alt  # noqa: PLC0415 - slow to import

    file_name, _, name = function.partition(":")
    path = (root / file_name).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
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
    """The author's module, made from its source each time: a cached one may be a second too old."""
    name = f"reportgen_author_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses look their module up by name.
    sys.modules[name] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - what allow_code allows
    return module


def _locate_error(error: BaseException, path: Path, file_name: str) -> ReportError:
    """The author's error at the deepest line of the author's file."""
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
    """The figure of a Vega-Lite specification, drawn in the house style.

    ``data: {source: NAME}`` of the specification is replaced by that source's ``rows``. Without ``title`` and
    ``summary`` the specification's own title and a plain sentence stand; ``draw`` gives the picture. Raises a
    ``ReportError`` where Vega-Lite or Vega refuse the specification, or it takes too long.
    """
    own = specification.get("title")
    own = own.get("text") if isinstance(own, dict) else own
    name = title or (own if isinstance(own, str) else "") or "Author's chart"
    spec = apply_house_style(_insert_rows(specification, rows))
    spec.pop("title", None)
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
        inline_svg=_prepare_for_page(svg, block_id),
        file_svg=resolve_svg(svg) + "\n",
        table=_build_table(header, cells),
        csv=write_table_csv(header, cells),
        spec=write_compact_json(resolve_specification(spec) | {"title": name}) + "\n",
        view=view,
        payload=write_compact_json({"view": name_view(view), "author": True}),
        numbers={"rows": len(shown)},
        plot_class="rg-fixed",
    )


def _insert_rows(value: Any, rows: Mapping[str, Rows]) -> Any:  # noqa: ANN401 - any JSON
    """The specification with each ``data: {source: NAME}`` replaced by rows."""
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
    words = (
        tuple("" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v) for v in row)
        for row in cells[:_MOST_TABLE_ROWS]
    )
    note = f"The first {_MOST_TABLE_ROWS} of {len(cells):,} rows; the CSV file has them all."
    return Table(header, tuple(words), note if len(cells) > _MOST_TABLE_ROWS else "")


def _draw_svg(spec: dict[str, Any], place: SourceLocation, draw: Callable[[dict[str, Any]], str]) -> str:
    """The picture; one that would load something from elsewhere is refused, be it put together from data."""
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
            # The schema says what is wrong; Vega-Lite itself may stop at a detail of its code. One of the
            # marks that a misspelled one is compared with is as good as another.
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


def _prepare_for_page(svg: str, figure_id: str) -> str:
    """The SVG as one image: its ids made the figure's own (pictures of one page share them otherwise)."""

    def clean_tag(tag: re.Match[str]) -> str:
        # A strict policy refuses style attributes; the live view sets the same styles without one.
        text = re.sub(r' (?:role|class|style|aria-[a-z]+)="[^"]*"', "", tag[0])
        text = re.sub(r' id="([^"]+)"', rf' id="{figure_id}-\1"', text)
        text = re.sub(r"url\(#([^)]+)\)", rf"url(#{figure_id}-\1)", text)
        return re.sub(r'href="#([^"]+)"', rf'href="#{figure_id}-\1"', text)

    labels = f'<svg class="rg-picture" role="img" aria-labelledby="{figure_id}-title {figure_id}-summary" '
    return _TAG.sub(clean_tag, svg).replace("<svg ", labels, 1)
