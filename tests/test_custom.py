"""Charts of the author's own: in the house style, harmless, and refused in words where Vega-Lite refuses."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from made_figures import HOSTILE

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.draft.blocks.charts import _convert_rows
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.style import apply_house_style

if TYPE_CHECKING:
    from reportgen.core.model import Figure

BARS: dict[str, Any] = {
    "data": {"source": "scores"},
    "mark": "bar",
    "encoding": {"x": {"field": "name", "type": "nominal"}, "y": {"field": "score", "type": "quantitative"}},
}
SCORES = [{"name": "MEL", "score": 0.84, "n": 5}, {"name": "GRPO", "score": -0.123456789012, "n": None}]


def made(specification: dict[str, Any], rows: list[dict[str, Any]] = SCORES, **words: Any) -> Figure:  # noqa: ANN401
    """The figure of a specification with one source."""
    said: dict[str, Any] = {"title": None, "caption": "A caption.", "summary": None, **words}
    place = SourceLocation("content/page.md", 7)
    return draw_author_figure("mine", "vega-lite", specification, {"scores": rows}, place=place, **said)


def fault(specification: dict[str, Any]) -> str:
    """What the author of a specification is told."""
    with pytest.raises(ReportError) as told:
        made(specification)
    return str(told.value)


def test_the_source_becomes_rows() -> None:
    """The file that a reader downloads holds the numbers, and no source that only a report knows."""
    spec = json.loads(str(made(BARS).spec))
    assert spec["data"] == {"values": SCORES}


def test_a_source_inside_a_layer_becomes_rows_too() -> None:
    """Wherever Vega-Lite takes data."""
    layered = {"layer": [BARS, {**BARS, "mark": "rule"}]}
    spec = json.loads(str(made(layered).spec))
    assert [layer["data"] for layer in spec["layer"]] == [{"values": SCORES}] * 2


def test_the_author_overrules_the_house_style() -> None:
    """What the author says stands; what is left unsaid is ours, inside a part of the config as well."""
    spec = apply_house_style({"width": 300, "config": {"axis": {"grid": False}, "font": "Georgia"}})
    assert (spec["width"], spec["height"]) == (300, 320)
    assert spec["config"]["axis"] == apply_house_style({})["config"]["axis"] | {"grid": False}
    assert spec["config"]["font"] == "Georgia"
    assert apply_house_style({"config": 7})["config"] == 7


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
    spec = apply_house_style(
        {
            "transform": [{"timeUnit": said, "field": "day", "as": "month"}],
            "encoding": {"color": {"field": "day", "timeUnit": said}},
        }
    )
    assert spec["transform"][0]["timeUnit"] == drawn
    assert spec["encoding"]["color"]["timeUnit"] == drawn


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


def test_a_container_has_a_width() -> None:
    """A picture has no container to ask, so it gets the width of its page."""
    assert apply_house_style({"width": "container"})["width"] == 640


def test_the_page_s_picture_takes_its_colours_from_the_page() -> None:
    """Variables on the page, so that a theme switch reaches it; resolved in the file."""
    figure = made(BARS)
    assert "var(--rg-series-1)" in str(figure.inline_svg)
    assert "var(" not in str(figure.file_svg) + str(figure.spec)


def test_the_picture_is_one_image_with_ids_of_its_own() -> None:
    """Two charts of one page share no id, so one does not clip the other."""
    clipped = {**BARS, "mark": {"type": "bar", "clip": True}}
    svg = str(made(clipped).inline_svg)
    root = ET.fromstring(svg)  # noqa: S314 - our own
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "mine-title mine-summary"
    assert [e for e in root.iter() if e.get("role")] == [root]
    ids = {e.get("id") for e in root.iter() if e.get("id")}
    assert ids
    assert all(name is not None and name.startswith("mine-") for name in ids)
    assert {f"url(#{name})" for name in ids} >= {
        e.get("clip-path") for e in root.iter() if e.get("clip-path")
    }


def test_words_that_look_like_attributes_stay() -> None:
    """Only tags are rewritten, not what a label says."""
    said = 'see id="x" role="y" url(#z) style="s"'
    svg = str(made({**BARS, "mark": {"type": "text", "text": said}}).inline_svg)
    texts = [e.text for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own
    assert said in texts


def test_a_strict_policy_finds_nothing_to_refuse() -> None:
    """Vega writes a blend mode as a style attribute, which the policy would refuse."""
    svg = str(made({**BARS, "mark": {"type": "bar", "blend": "multiply", "cursor": "pointer"}}).inline_svg)
    assert not re.search(r"\sstyle=", svg)
    assert not re.search(r"<(script|style|image|foreignObject)\b", svg)


@pytest.mark.parametrize(
    "colour",
    ["url(http://127.0.0.1:9/x)", "URL( '//127.0.0.1:9')", "u\\72l(\\2f\\2f 127.0.0.1)", "image-set('x' 1x)"],
)
def test_a_picture_that_would_load_something_is_refused(colour: str) -> None:
    """Colours may come from data, or be put together by an expression; the picture tells."""
    by_field = {**BARS["encoding"], "color": {"field": "name", "type": "nominal", "scale": None}}
    with pytest.raises(ReportError, match=r"content/page.md:7: the drawn chart would load .* from elsewhere"):
        made({**BARS, "encoding": by_field}, [{"name": colour, "score": 1}])
    expression = "'ur' + 'l(' + '/' + '/127.0.0.1:9' + ')'"
    assert "would load" in fault({**BARS, "mark": {"type": "bar", "fill": {"expr": expression}}})


def test_a_gradient_of_the_picture_s_own_is_drawn() -> None:
    """Its address is a place in the same file."""
    stops = [{"offset": 0, "color": "red"}, {"offset": 1, "color": "blue"}]
    gradient = {"gradient": "linear", "stops": stops}
    assert "url(#mine-gradient" in str(made({**BARS, "mark": {"type": "bar", "color": gradient}}).inline_svg)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_value_breaks_the_picture(name: str) -> None:
    """Names from data, titles and fonts are words in it, whatever they hold."""
    encoding = {**BARS["encoding"], "text": {"field": "name", "type": "nominal"}}
    spec = {**BARS, "mark": {"type": "text", "font": f"{name} Sans"}, "encoding": encoding, "title": name}
    figure = made(spec, [{"name": name, "score": 1.0}])
    for svg in (str(figure.inline_svg), str(figure.file_svg)):
        found = {element.tag.split("}")[1] for element in ET.fromstring(svg).iter()}  # noqa: S314 - our own
        assert found <= {"svg", "g", "path", "line", "text", "tspan", "defs", "clipPath", "rect"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mark": "barr"}, "mark: 'barr' is not known"),
        ({"mark": None}, "mark"),
        ({"encoding": {"x": {"field": "name", "type": "nominall"}}}, "'nominall' is not one of"),
        ({"transform": [{"calculate": "foo(", "as": "z"}]}, "Unexpected end of input"),
        ({"mark": {"type": "point", "shape": "no path"}}, "Invalid SVG path"),
        ({"data": {"url": "https://example.org/rows.csv"}}, "External data url not allowed"),
    ],
)
def test_a_refused_specification_is_told_in_words(wrong: dict[str, Any], words: str) -> None:
    """With the place of the block, and what is wrong rather than where Vega-Lite stumbled."""
    told = fault({**BARS, **wrong})
    assert told.startswith("content/page.md:7: Vega-Lite refuses this specification: ")
    assert words in told
    assert len(told) < 200


def test_a_specification_without_a_mark() -> None:
    """Vega-Lite would print the whole specification."""
    told = fault({key: value for key, value in BARS.items() if key != "mark"})
    assert "'mark' is a required property" in told


def test_the_csv_holds_every_row_with_its_digits() -> None:
    """Numbers with ten digits, a negative one no text, what is missing empty, a formula guarded."""
    rows = [*SCORES, {"name": "=1+1", "score": 1e-12, "n": 7}]
    read = list(csv.DictReader(io.StringIO(str(made(BARS, rows).csv))))
    assert [row["score"] for row in read] == ["0.84", "-0.123456789", "1e-12"]
    assert [row["n"] for row in read] == ["5", "", "7"]
    assert read[2]["name"] == "'=1+1"


def test_a_long_table_is_cut_and_says_so() -> None:
    """The page shows the first rows, the file has them all."""
    figure = made(BARS, [{"name": f"{n}", "score": n} for n in range(1234)])
    assert len(figure.table.rows) == 60
    assert figure.table.note == "The first 60 of 1,234 rows; the CSV file has them all."
    assert len(str(figure.csv).splitlines()) == 1235


def test_a_column_of_the_table_has_one_precision() -> None:
    """Numbers have the decimals of the one with most of them; whole numbers, words and exponents stay."""
    rows: list[dict[str, Any]] = [
        {"x": 10.0, "n": 3, "y": 1e-9},
        {"x": 0.85, "n": 12, "y": 2.5},
        {"x": -4.5, "n": None, "y": 1.0},
    ]
    table = made(BARS, rows).table
    assert table.rows == (("10.00", "3", "1e-09"), ("0.85", "12", "2.5"), ("-4.50", "", "1"))


def test_no_rows_are_no_data() -> None:
    """An empty source is a table that says so."""
    assert made(BARS, []).table.header == ("no data",)


def test_title_and_summary_have_a_fallback() -> None:
    """The block's title, else the specification's, else a plain one; a summary is never empty."""
    assert made({**BARS, "title": "Scores"}).title == "Scores"
    assert made({**BARS, "title": {"text": "Scores", "anchor": "end"}}, title="Mine").title == "Mine"
    plain = made(BARS)
    assert plain.title == "Author's chart"
    assert plain.summary == "Author's chart: the data table below has its numbers."
    assert made(BARS, summary="MEL leads.").summary == "MEL leads."


def test_rows_of_a_frame_keep_every_digit() -> None:
    """A frame's numbers reach the chart as they are; infinite ones are missing, times are ISO 8601."""
    frame = pd.DataFrame(
        {
            "x": [1.23456789012e-20, float("inf"), float("nan")],
            "n": [1, 2, 3],
            "at": pd.to_datetime(
                pd.Series(["2024-01-02T03:04:05.678", None, "2024-01-01"]), format="ISO8601"
            ),
            "name": ["a", None, "b"],
        }
    )
    assert _convert_rows(frame) == [
        {"x": 1.23456789012e-20, "n": 1, "at": "2024-01-02T03:04:05.678", "name": "a"},
        {"x": None, "n": 2, "at": None, "name": None},
        {"x": None, "n": 3, "at": "2024-01-01T00:00:00.000", "name": "b"},
    ]
    json.dumps(_convert_rows(frame), allow_nan=False)
