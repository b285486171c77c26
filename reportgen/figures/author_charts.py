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
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.render_worker import draw_chart
from reportgen.figures.style import apply_house_style, resolve_specification, resolve_svg
from reportgen.figures.vega.live import name_view, write_compact_json
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd


_MOST_WORDS = 300


def run_chart_function(
    root: Path, function: str, frame: pd.DataFrame, place: SourceLocation
) -> dict[str, Any]:
    """The Vega-Lite specification of the chart that ``file.py:function`` returns for a copy of ``frame``.

    Raises:
        ReportError: the file or function is missing, lies outside the report, raises, or returns
            something other than an Altair chart, or one that Altair refuses.
    """
    import altair as alt  # noqa: PLC0415 - slow to import

    file_name, _, name = function.partition(":")
    path = (root / file_name).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        raise _make_error(
            place, f'there is no file "{file_name}" in the report', "Give it relative to mkdocs.yml"
        )
    make = _find_function(_load(path, file_name), file_name, name, place)
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
        said = shorten(str(error), _MOST_WORDS).removesuffix(".")
        raise _make_error(place, f'Altair refuses the chart of "{function}": {said}') from error
    return specification


def _load(path: Path, file_name: str) -> ModuleType:
    """The author's module, made from its source each time: a cached one may be a second too old."""
    name = f"reportgen_author_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses look their module up by name.
    sys.modules[name] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - what allow_code allows
    except (Exception, SystemExit) as error:
        raise _locate_error(error, path, file_name) from error
    return module


def _find_function(
    module: ModuleType, file_name: str, name: str, place: SourceLocation
) -> Callable[..., object]:
    make = getattr(module, name, None)
    if callable(make):
        found: Callable[..., object] = make
        return found
    known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    raise _make_error(place, f'"{file_name}" has no function "{name}"', suggest_name(name, known).rstrip())


def _locate_error(error: BaseException, path: Path, file_name: str) -> ReportError:
    """The author's error at the deepest line of the author's file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    said = shorten(f"{type(error).__name__}: {error}", _MOST_WORDS).removesuffix(".")
    return _make_error(SourceLocation(file_name, line), said)


def _make_error(place: SourceLocation, message: str, next_step: str = "") -> ReportError:
    return ReportError(Diagnostic(place, message, next_step, Stage.FIGURE))


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
Rows = list[dict[str, Any]]


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
    ``summary`` the specification's own title and a plain sentence stand; ``draw`` gives the picture.

    Raises:
        ReportError: Vega-Lite or Vega refuse the specification, or it takes too long.
    """
    name = title or _title(specification) or "Author's chart"
    spec = apply_house_style(_insert_rows(specification, rows))
    spec.pop("title", None)
    svg = _draw(spec, place, draw)
    _refuse_addresses(svg, place)
    view = write_compact_json(spec)
    standalone = resolve_specification(spec) | {"title": name}
    shown = next(iter(rows.values()), [])
    header = tuple(shown[0]) if shown else ("no data",)
    note = f"The first {_MOST_TABLE_ROWS} of {len(shown):,} rows; the CSV file has them all."
    words = tuple(tuple(_word(row.get(column)) for column in header) for row in shown)
    return Figure(
        id=block_id,
        kind=kind,
        title=name,
        subtitle="",
        caption=caption,
        summary=summary or f"{name}: the data table below has its numbers.",
        inline_svg=_prepare_for_page(svg, block_id),
        file_svg=resolve_svg(svg) + "\n",
        table=Table(header, words[:_MOST_TABLE_ROWS], note if len(words) > _MOST_TABLE_ROWS else ""),
        csv=write_table_csv(header, ([row.get(column) for column in header] for row in shown)),
        spec=write_compact_json(standalone) + "\n",
        view=view,
        payload=write_compact_json({"view": name_view(view), "author": True}),
        numbers={"rows": len(shown)},
        plot_class="rg-fixed",
    )


def _title(specification: Mapping[str, Any]) -> str | None:
    title = specification.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    return text if isinstance(text, str) else None


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


def _draw(spec: dict[str, Any], place: SourceLocation, draw: Callable[[dict[str, Any]], str]) -> str:
    try:
        return draw(spec)
    except ValueError as error:
        message = f"Vega-Lite refuses this specification: {_explain_error(spec, error)}"
        raise _make_error(place, message) from error
    except TimeoutError as error:
        message = f"the chart was not drawn within {error.args[0]:g} seconds"
        raise _make_error(place, message, _ADVICE) from error
    except ChildProcessError as error:
        message = "drawing the chart broke off, as it does where the memory does not suffice"
        raise _make_error(place, message, _ADVICE) from error


def _refuse_addresses(svg: str, place: SourceLocation) -> None:
    """Refuse a picture that would ask another site: colours may come from data or be put together.

    Raises:
        ReportError: an attribute names something outside of the picture.
    """
    for tag in _TAG.findall(svg):
        for name, text in _ATTRIBUTE.findall(tag):
            if name.startswith("xmlns"):
                continue
            said = _CSS_ESCAPE.sub(lambda escape: chr(int(escape[1], 16) % 0x110000), unescape(text))
            if _LOADS.search(said) or (name.endswith("href") and not said.startswith("#")):
                message = f'the drawn chart would load "{shorten(said, 60)}" from elsewhere'
                step = "Give colours as names or numbers such as #0d4795, in the data too"
                raise _make_error(place, message, step)


def _explain_error(spec: dict[str, Any], error: ValueError) -> str:
    """What the schema of Vega-Lite finds wrong, since Vega-Lite itself may stop at a detail of its code."""
    import altair as alt  # noqa: PLC0415 - slow to import, and only needed for an error
    from jsonschema import ValidationError  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        alt.Chart.from_dict(spec)
    except ValidationError as found:
        where = ".".join(str(step) for step in found.absolute_path)
        # One of the marks that a misspelled one is compared with is as good as another.
        fault = f"{found.instance!r} is not known" if found.validator == "const" else found.message
        return shorten(f"{where}: {fault}" if where else fault)
    said = str(error).splitlines()
    return shorten(said[min(1, len(said) - 1)].removeprefix("Error: "))


def _prepare_for_page(svg: str, figure_id: str) -> str:
    """The SVG as one image: its ids made the figure's own (pictures of one page share them otherwise)."""

    def clean_tag(found: re.Match[str]) -> str:
        # A strict policy refuses style attributes; the live view sets the same styles without one.
        text = re.sub(r' (?:role|class|style|aria-[a-z]+)="[^"]*"', "", found[0])
        text = re.sub(r' id="([^"]+)"', rf' id="{figure_id}-\1"', text)
        text = re.sub(r"url\(#([^)]+)\)", rf"url(#{figure_id}-\1)", text)
        return re.sub(r'href="#([^"]+)"', rf'href="#{figure_id}-\1"', text)

    svg = _TAG.sub(clean_tag, svg)
    labelled = f'<svg class="rg-picture" role="img" aria-labelledby="{figure_id}-title {figure_id}-summary" '
    return svg.replace("<svg ", labelled, 1)


def _word(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
