"""Charts of the author's own: in the house style, drawn as one picture that loads and runs nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from made_figures import HOSTILE

from reportgen.core.errors import SourceLocation
from reportgen.figures.author_charts import draw_author_figure, run_chart_function
from reportgen.figures.style import apply_house_style

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.model import Figure

PLACE = SourceLocation("content/page.md", 7)
BARS: dict[str, Any] = {
    "data": {"source": "scores"},
    "mark": "bar",
    "encoding": {"x": {"field": "name", "type": "nominal"}, "y": {"field": "score", "type": "quantitative"}},
}
SCORES = [{"name": "MEL", "score": 0.84, "n": 5}, {"name": "GRPO", "score": -0.123456789012, "n": None}]


def made(specification: dict[str, Any], rows: list[dict[str, Any]] = SCORES) -> Figure:
    """The figure of a specification with one source."""
    said: dict[str, Any] = {"title": None, "caption": "A caption.", "summary": None}
    return draw_author_figure("mine", "vega-lite", specification, {"scores": rows}, place=PLACE, **said)


def parse(svg: object) -> ET.Element:
    """A picture as a tree."""
    return ET.fromstring(str(svg))  # noqa: S314 - our own


def test_the_author_overrules_the_house_style() -> None:
    """What the author says stands; what is left unsaid is ours, inside a part of the config as well."""
    spec = apply_house_style({"width": 300, "config": {"axis": {"grid": False}, "font": "Georgia"}})
    assert (spec["width"], spec["height"]) == (300, 320)
    assert spec["config"]["axis"] == apply_house_style({})["config"]["axis"] | {"grid": False}
    assert spec["config"]["font"] == "Georgia"
    assert apply_house_style({"config": 7})["config"] == 7
    # A picture has no container that could have a width.
    assert apply_house_style({"width": "container"})["width"] == 640


@pytest.mark.parametrize(
    ("said", "drawn"),
    [
        ("month", "utcmonth"),
        ("binnedyearmonth", "binnedutcyearmonth"),
        ("utcday", "utcday"),
        ({"unit": "month", "step": 3}, {"utc": True, "unit": "month", "step": 3}),
        ({"unit": "month", "utc": False}, {"unit": "month", "utc": False}),
    ],
)
def test_units_of_time_are_those_of_utc(said: object, drawn: object) -> None:
    """A month begins at the same moment for everybody, in an encoding and in a transform."""
    encoding = {"color": {"field": "day", "timeUnit": said}}
    transform = [{"timeUnit": said, "field": "day", "as": "month"}]
    spec = apply_house_style({"transform": transform, "encoding": encoding})
    assert spec["transform"][0]["timeUnit"] == spec["encoding"]["color"]["timeUnit"] == drawn


def test_time_axes_are_in_utc() -> None:
    """The axis of an author's chart says the same day everywhere, unless the author chose another scale."""
    temporal = {"field": "day", "type": "temporal"}
    values = [{"x": {"type": "temporal"}, "timeUnit": "month"}]
    layer = {"encoding": {"x": temporal, "y": temporal | {"scale": {"type": "time", "zero": False}}}}
    spec = apply_house_style({"data": {"values": values}, "layer": [layer]})
    assert spec["layer"][0]["encoding"]["x"]["scale"] == {"type": "utc"}
    assert spec["layer"][0]["encoding"]["y"]["scale"] == {"type": "time", "zero": False}
    assert spec["data"]["values"] == values
    assert "scale" not in apply_house_style({"encoding": {"tooltip": temporal}})["encoding"]["tooltip"]


def test_a_picture_takes_its_colours_and_rows_from_the_page() -> None:
    """Variables on the page, so that a theme switch reaches it; resolved in the file, with rows in layers."""
    figure = made({"layer": [BARS, {**BARS, "mark": "rule"}]})
    assert "var(--rg-series-1)" in str(figure.inline_svg)
    assert "var(" not in str(figure.file_svg) + str(figure.spec)
    assert str(figure.spec).count('"GRPO"') == 2
    assert '"source"' not in str(figure.spec)


def test_a_picture_is_one_image_with_ids_of_its_own_and_loads_nothing() -> None:
    """Two charts of one page share no id, a strict policy refuses nothing, and a gradient is drawn."""
    stops = [{"offset": 0, "color": "red"}, {"offset": 1, "color": "blue"}]
    look = {"clip": True, "blend": "multiply", "cursor": "pointer"}
    mark = {"type": "bar", **look, "color": {"gradient": "linear", "stops": stops}}
    svg = str(made({**BARS, "mark": mark}).inline_svg)
    root = parse(f"<p>{svg}</p>")
    for picture in root:
        assert (picture.get("role"), picture.get("aria-labelledby")) == ("img", "mine-title mine-summary")
    assert [one for one in root.iter() if one.get("role")] == list(root)
    assert [picture.get("class") for picture in root] == ["rg-picture rg-wide", "rg-picture rg-narrow"]
    named = [str(one.get("id")) for one in root.iter() if one.get("id")]
    ids = set(named)
    assert 0 < len(ids) == len(named)
    assert all(name.startswith("mine-") for name in ids)
    clips = {one.get("clip-path") for one in root.iter() if one.get("clip-path")}
    assert {f"url(#{name})" for name in ids} >= clips
    assert clips
    assert "url(#mine-gradient" in svg
    assert not re.search(r"\sstyle=|<(script|style|image|foreignObject)\b", svg)


@pytest.mark.parametrize("name", ['see id="x" role="y" url(#z) style="s"', *HOSTILE])
def test_no_value_breaks_the_picture(name: str) -> None:
    """Names from data, titles, fonts and what looks like attributes are words in it, whatever they hold."""
    encoding = {**BARS["encoding"], "text": {"field": "name", "type": "nominal"}}
    spec = {**BARS, "mark": {"type": "text", "font": f"{name} Sans"}, "encoding": encoding, "title": name}
    figure = made(spec, [{"name": name, "score": 1.0}])
    for root in (*parse(f"<p>{figure.inline_svg}</p>"), parse(figure.file_svg)):
        found = {element.tag.split("}")[1] for element in root.iter()}
        assert found <= {"svg", "g", "path", "line", "text", "tspan", "defs", "clipPath", "rect"}
        assert name in HOSTILE or any(name in (one.text or "") for one in root.iter())


def test_ctrl_c_in_a_function_ends_the_build(tmp_path: Path) -> None:
    """Unlike what it raises otherwise."""
    (tmp_path / "charts.py").write_text("def bars(frame):\n    raise KeyboardInterrupt\n", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        run_chart_function(tmp_path, "charts.py:bars", pd.DataFrame({"series": ["a"]}), PLACE)
