"""The Vega-Lite file of a figure: valid, complete, of numbers only, and asking no other site."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import altair as alt
import pytest
from made_figures import HOSTILE, context, curve, curve_set, figure, spec, wave
from unpacked_payload import unpack_payload

from reportgen.figures.live import compile_view
from reportgen.figures.render import compile_to_vega, render_vega_lite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.model import CurveSet

NAN = float("nan")
PLAIN = curve_set(
    curve("MEL", wave(30), half=0.3, runs=3), curve("GRPO", wave(30, shift=1), half=0.2, runs=3)
)
BLOCK: dict[str, Any] = {
    "reference": [{"y": 2.0, "label": "chance"}, {"x": 20}],
    "annotations": [{"x": 3, "text": "restart", "series": "MEL"}, {"x": 5, "text": "warm-up"}],
}
CASES: list[tuple[CurveSet, dict[str, Any]]] = [
    (PLAIN, {}),
    (PLAIN, BLOCK),
    (PLAIN, {"x_scale": "log", "y_scale": "log", "x_domain": (1, 20), "y_domain": (1, 4)}),
    (curve_set(curve("a", [0.5])), {}),
    (curve_set(curve("a", [NAN, 0.5, NAN, 0.7])), {}),
    (curve_set(curve("a", wave(), raw=wave(shift=0.1)), smooth=0.5), {}),
    (curve_set(*(curve(f"series {n}", wave(8, shift=n)) for n in range(12))), {"highlight": ["series 3"]}),
    (curve_set(*(curve(name, wave(8, shift=i)) for i, name in enumerate(HOSTILE))), {}),
]
NAMES = ["plain", "marks", "log", "point", "gaps", "smooth", "twelve", "hostile"]


def parts_of(value: object) -> Iterator[tuple[str, object]]:
    """Every key and value inside a specification, its rows left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            if key != "datasets":
                yield from parts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts_of(inner)


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_it_is_valid_vega_lite(curves: CurveSet, block: dict[str, Any]) -> None:
    """The schema of Vega-Lite accepts it, and Vega draws it."""
    written = json.loads(str(figure(curves, **block).spec))
    alt.LayerChart.from_dict(written, validate=True)
    assert render_vega_lite(written).startswith("<svg")


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_it_draws_numbers_and_computes_none(curves: CurveSet, block: dict[str, Any]) -> None:
    """No aggregate, no error band, no bin: the interval in the picture is the one in the table."""
    keys = {key for key, _ in parts_of(spec(curves, **block))}
    assert keys.isdisjoint(
        {"aggregate", "bin", "timeUnit", "impute", "loess", "regression", "window", "stack"}
    )
    marks = {mark["type"] for key, mark in parts_of(spec(curves, **block)) if key == "mark"}  # type: ignore[index]
    assert marks <= {"area", "line", "point", "rule", "text"}


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_it_names_no_other_site(curves: CurveSet, block: dict[str, Any]) -> None:
    """The one address in it is the name of its schema, and its data are inside."""
    written = spec(curves, **block)
    outside = [
        (key, value) for key, value in parts_of(written) if re.search("//", str(value)) and key != "datasets"
    ]
    assert {key for key, _ in outside} <= {"$schema"}
    named = {layer["data"]["name"] for layer in written["layer"]}
    assert named <= set(written["datasets"])
    assert not any(key in {"url", "href"} for key, _ in parts_of(written))


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_it_holds_the_numbers_of_the_csv(curves: CurveSet, block: dict[str, Any]) -> None:
    """The data of the means are the figure's CSV file, to the letter."""
    made = figure(curves, **block)
    assert json.loads(str(made.spec))["datasets"]["means"] == made.csv


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_it_is_strict_json(curves: CurveSet, block: dict[str, Any]) -> None:
    """NaN and Infinity are no JSON; what is missing is empty or null."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    made = figure(curves, **block)
    for text in (made.spec, made.view, made.payload):
        json.loads(str(text), parse_constant=refuse)


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_every_series_keeps_its_colour(curves: CurveSet, block: dict[str, Any]) -> None:
    """The keys of the colours are the names in the data, so that no line is drawn without its own."""
    written = spec(curves, **block)
    rows = csv.DictReader(io.StringIO(written["datasets"]["means"]))
    (lines,) = [layer for layer in written["layer"] if layer.get("name") == "lines"]
    scale = lines["encoding"]["color"]["scale"]
    assert scale["domain"] == list(dict.fromkeys(row["series"] for row in rows))
    assert len(scale["range"]) == len(scale["domain"])
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in scale["range"])


def test_tooltips_name_every_number() -> None:
    """In an editor, a point tells its series, step, value, interval and number of runs."""
    (lines,) = [layer for layer in spec(PLAIN)["layer"] if layer.get("name") == "lines"]
    shown = [channel["field"] for channel in lines["encoding"]["tooltip"]]
    assert shown == ["series", "step", "value", "low", "high", "n"]


def test_a_legend_stands_where_names_do_not_fit() -> None:
    """Either names at the line ends or a legend, never neither."""
    many = curve_set(*(curve(f"series {n}", wave(8, shift=n)) for n in range(12)))
    for curves, legend in ((PLAIN, None), (many, "right")):
        (lines,) = [layer for layer in spec(curves)["layer"] if layer.get("name") == "lines"]
        found = lines["encoding"]["color"].get("legend")
        assert (found and found["orient"]) == legend


def test_a_time_axis_is_in_utc() -> None:
    """A reader in another zone sees the same days."""
    curves = curve_set(curve("a", wave(5), steps=[1.7e12 + day * 86400e3 for day in range(5)]))
    written = spec(curves, context(curves, step_is_time=True))
    scales = [layer["encoding"]["x"].get("scale", {}) for layer in written["layer"]]
    assert {scale["type"] for scale in scales if scale} == {"utc"}


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_the_live_view_holds_no_data_of_its_own(curves: CurveSet, block: dict[str, Any]) -> None:
    """One compiled view serves all figures of its shape: names, titles and numbers come by signals."""
    view = json.loads(compile_view(figure(curves, **block).view))
    assert all("values" not in data and "url" not in data for data in view["data"])
    assert {signal["name"] for signal in view["signals"]} >= {
        "x_domain",
        "y_domain",
        "colours",
        "keys",
        "margins",
    }
    assert all(set(signal) == {"name"} for signal in view["signals"])


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_lines_and_bands_of_the_live_view_are_paths(curves: CurveSet, block: dict[str, Any]) -> None:
    """Rows of a path have no step or value that a filter of points, such as that of a log axis, could use."""
    view = json.loads(compile_view(figure(curves, **block).view))
    sets = {data["name"]: data for data in view["data"]}
    paths = [mark for mark in view["marks"] if mark["type"] == "path"]
    assert any(mark["name"] == "lines_marks" for mark in paths)
    assert all(sets[mark["from"]["data"]] == {"name": mark["from"]["data"]} for mark in paths)
    assert not {mark["type"] for mark in view["marks"]} & {"group", "line", "area"}
    assert {data["source"] for data in view["data"] if "source" in data} <= sets.keys()


def test_figures_of_one_shape_share_a_view() -> None:
    """Two figures of three curves differ in payload only."""
    one = figure(PLAIN)
    other = figure(curve_set(curve("x", wave(90), half=9.0, runs=5), metric="loss"), title="Other")
    assert one.view == other.view
    assert one.payload != other.payload


def test_the_payload_gives_the_numbers_back() -> None:
    """Steps, means, intervals and runs read from the payload are the curves'."""
    payload = unpack_payload(str(figure(PLAIN).payload))
    for line, source in zip(payload["series"], PLAIN.curves, strict=True):
        assert steps_of(payload["xs"][line["x"]]) == source.steps.tolist()
        assert line["n"] == 3
        for name, values in (("y", source.values), ("low", source.low), ("high", source.high)):
            assert line[name] == values.tolist()
        assert [run["values"] for run in line["runs"]] == [run.values.tolist() for run in source.runs]


def steps_of(column: Any) -> list[float]:  # noqa: ANN401 - a list, or a rule
    """The steps of a column of ``xs``."""
    if isinstance(column, dict):
        return [float(f"{column['from'] + column['by'] * i:.15g}") for i in range(column["count"])]
    return [float(step) for step in column]


def test_the_payload_keeps_gaps() -> None:
    """A value that is missing is null, in means and in runs."""
    gaps = curve_set(curve("a", [0.1, NAN, 0.3] * 20, runs=2, half=0.01))
    (line,) = unpack_payload(str(figure(gaps).payload))["series"]
    for column in (line["y"], line["low"], line["high"], line["runs"][0]["values"]):
        assert [value is None for value in column[:3]] == [False, True, False]


def test_a_compiled_view_runs_without_evaluating_code() -> None:
    """The compiled view has no expression that a strict policy's interpreter cannot read."""
    text = json.dumps(compile_to_vega(spec(PLAIN, **BLOCK))) + compile_view(figure(PLAIN, **BLOCK).view)
    assert "Function(" not in text
    assert "eval(" not in text
