"""What figures are beside pictures: a Vega-Lite file, a view and a payload, of their own numbers only."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import HOSTILE, context, curve, curve_set, figure, spec, wave
from tries import tries
from vega import unpack_column, unpack_payload

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
            if key != "values":
                yield from parts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts_of(inner)


def refuse(word: str) -> None:
    """NaN and Infinity are no JSON; what is missing is empty or null."""
    raise AssertionError(word)


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_a_file_is_valid_complete_and_of_numbers(curves: CurveSet, block: dict[str, Any]) -> None:
    """Vega-Lite's schema accepts it, and Vega draws it; the interval in the picture is the one in the table.

    Its one address is the name of its schema; its data are those of the CSV file, to the letter, whose names
    are the keys of the colours, so that no line is drawn without its own.
    """
    made = figure(curves, **block)
    written = json.loads(str(made.spec), parse_constant=refuse)
    alt.LayerChart.from_dict(written, validate=True)
    assert render_vega_lite(written).startswith("<svg")
    parts = list(parts_of(written))
    # The one aggregate is the last row of a series, at which its name stands.
    assert {"bin", "timeUnit", "impute", "loess", "regression", "window", "stack"}.isdisjoint(dict(parts))
    assert {str(value) for key, value in parts if key == "aggregate"} <= {"max", "{'argmax': 'step'}"}
    assert {key for key, value in parts if re.search("//", str(value))} <= {"$schema", "data"}
    assert not any(key in {"url", "href", "labelExpr", "datasets"} for key, _ in parts)
    shown = [row for row in written["data"]["values"] if "run" not in row]
    rows = list(csv.DictReader(io.StringIO(str(made.csv))))
    names = ("step", "value", "low", "high", "n")
    told = [[row.get(name) for name in names] for row in shown]
    assert told == [[float(row[name]) if row[name] else None for name in names] for row in rows]
    scale = written["encoding"]["color"]["scale"]
    assert scale["domain"] == list(dict.fromkeys(row["series"] for row in shown))
    assert len(scale["range"]) == len(scale["domain"])
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in scale["range"])


def test_names_with_the_words_of_numbers_stay() -> None:
    """A name is no number that is unknown, whatever it holds, and a percent sign no place of one."""
    names = ['"loss":nan', "95% of:inf", "%s"]
    curves = curve_set(*(curve(name, [1.0, NAN, 2.0], half=0.1) for name in names))
    rows = spec(curves)["data"]["values"]
    assert list(dict.fromkeys(row["series"] for row in rows)) == names
    assert [row["value"] for row in rows] == [1.0, None, 2.0] * 3
    assert ["low" in row for row in rows] == [True, False, True] * 3


def test_a_file_is_short_enough_to_read() -> None:
    """Two series with bands take at most 120 lines without their rows, and a row is a line."""
    lines = str(figure(curve_set(curve("a", wave(), half=1), curve("b", wave(), half=1))).spec).splitlines()
    assert sum(line.startswith('    {"series":') for line in lines) == 120
    assert len(lines) - 120 <= 120


@pytest.mark.parametrize(("curves", "block"), CASES, ids=NAMES)
def test_a_view_holds_no_data_of_its_own(curves: CurveSet, block: dict[str, Any]) -> None:
    """One compiled view serves all figures of its shape: names, titles and numbers come by signals.

    Lines and bands are paths, whose rows have no step or value that a filter of points could use.
    """
    made = figure(curves, **block)
    json.loads(str(made.payload), parse_constant=refuse)
    json.loads(str(made.view), parse_constant=refuse)
    view = json.loads(compile_view(made.view))
    assert all("values" not in data and "url" not in data for data in view["data"])
    signals = {"x_domain", "y_domain", "colours", "keys", "margins"}
    assert {signal["name"] for signal in view["signals"]} >= signals
    assert all(set(signal) == {"name"} for signal in view["signals"])
    sets = {data["name"]: data for data in view["data"]}
    paths = [mark for mark in view["marks"] if mark["type"] == "path"]
    assert any(mark["name"] == "lines_marks" for mark in paths)
    assert all(sets[mark["from"]["data"]] == {"name": mark["from"]["data"]} for mark in paths)
    assert not {mark["type"] for mark in view["marks"]} & {"group", "line", "area"}
    assert {data["source"] for data in view["data"] if "source" in data} <= sets.keys()


def test_tooltips_and_legends_name_everything() -> None:
    """A point tells its series, step, value, interval and runs; names stand at lines or in a legend."""
    many = curve_set(*(curve(f"series {n}", wave(8, shift=n)) for n in range(12)))
    for curves, is_named in ((PLAIN, True), (many, False)):
        written = spec(curves)
        (points,) = [layer for layer in written["layer"] if layer["name"] == "points"]
        shown = [channel["field"] for channel in points["encoding"]["tooltip"]]
        assert shown[:3] == ["description", "step", "value"]
        assert shown[3:] == (["n"] if curves is many else ["low", "high", "n"])
        assert (written["encoding"]["color"]["legend"] is None) is is_named
        assert ("names" in {layer["name"] for layer in written["layer"]}) is is_named


def test_a_time_axis_is_in_utc() -> None:
    """A reader in another zone sees the same days."""
    curves = curve_set(curve("a", wave(5), steps=[1.7e12 + day * 86400e3 for day in range(5)]))
    written = spec(curves, context(curves, step_is_time=True))
    assert written["encoding"]["x"]["scale"]["type"] == "utc"


def test_figures_of_one_shape_share_a_view() -> None:
    """Two figures of three curves differ in payload only."""
    one = figure(PLAIN)
    other = figure(curve_set(curve("x", wave(90), half=9.0, runs=5), metric="loss"), title="Other")
    assert one.view == other.view
    assert one.payload != other.payload


def test_a_compiled_view_runs_without_evaluating_code() -> None:
    """The compiled view has no expression that a strict policy's interpreter cannot read."""
    text = json.dumps(compile_to_vega(spec(PLAIN, **BLOCK))) + compile_view(figure(PLAIN, **BLOCK).view)
    assert "Function(" not in text
    assert "eval(" not in text


# ---- the payload gives the numbers back -------------------------------------------------------------------


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
    return [float(step) for step in unpack_column(column) if step is not None]


def test_the_payload_keeps_gaps() -> None:
    """A value that is missing is null, in means and in runs."""
    gaps = curve_set(curve("a", [0.1, NAN, 0.3] * 20, runs=2, half=0.01))
    (line,) = unpack_payload(str(figure(gaps).payload))["series"]
    for column in (line["y"], line["low"], line["high"], line["runs"][0]["values"]):
        assert [value is None for value in column[:3]] == [False, True, False]


_SHORT = st.integers(-999, 999).map(lambda n: n / 100)
_VALUES = st.floats(1e-12, 1e12) | st.floats(-1e12, -1e-12) | _SHORT


def read_line(values: list[float], half: float) -> dict[str, Any]:
    """What the browser gets of a curve with these values."""
    payload = unpack_payload(str(figure(curve_set(curve("a", values, half=half))).payload))
    line: dict[str, Any] = payload["series"][0]
    return line


@given(st.lists(_VALUES, min_size=2, max_size=20))
def test_a_small_figure_gets_the_values_themselves(values: list[float]) -> None:
    """Up to 2,000 of them, with the ends of their intervals."""
    line = read_line(values, 3.0)
    assert line["y"] == values
    assert line["low"] == [value - 3 for value in values]


@pytest.mark.parametrize("half", [0.0, 0.01])
@settings(max_examples=tries(20, 80))
@given(st.integers(0, 2**32), st.sampled_from([1e-9, 1, 1e9]), st.sampled_from([(1,), (-1, 1)]))
def test_a_large_figure_gets_six_digits_of_each_value(
    half: float, seed: int, size: float, signs: tuple[int, ...]
) -> None:
    """Whatever the other values are."""
    random = np.random.default_rng(seed)
    values = np.exp(random.normal(0, 5, 2_001)) * size * random.choice(signs, 2_001)
    line = read_line(values.tolist(), half)
    np.testing.assert_allclose(line["y"], values, rtol=1e-6, atol=0)
    if half:
        np.testing.assert_allclose(line["low"], values - half, rtol=1e-6, atol=0)
        np.testing.assert_allclose(line["high"], values + half, rtol=1e-6, atol=0)


@given(st.integers(0, 2**32), st.integers(0, 5))
def test_short_decimals_stay_themselves(seed: int, decimals: int) -> None:
    """However many they are."""
    values = np.random.default_rng(seed).normal(0, 1, 2_001).round(decimals).tolist()
    assert read_line(values, 0.0)["y"] == values
