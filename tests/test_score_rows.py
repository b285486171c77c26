"""Rows of dots and intervals: harmless, complete, in their place, and where Vega draws the same."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import altair as alt
import pytest
from drafted_blocks import draft_block, write_table
from hypothesis import given
from hypothesis import strategies as st
from made_figures import HOSTILE
from made_reviews import EVERYTHING
from vega import VegaPicture

import reportgen
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.style import LABEL_SIZE
from reportgen.figures.text import NARROWEST, WIDEST_NAME, break_name, measure_text, shorten_name
from reportgen.review.images import draw_svgs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reportgen.core.model import Figure

    Draw = Callable[..., Figure]

SVG = "{http://www.w3.org/2000/svg}"
LABELS = re.compile(r"(\[.*\])\[round")
# Of 40 problems, how many each series solves; None for answers without a score.
SOLVED = {"Aspen": 36, "Cedar": 16, "Birch": 12, "Damson": None}
RUNS = {"Aspen": (0.7, 0.8, 0.9), "Cedar": (0.5, 0.5, 0.5, 0.6), "Birch": (0.4,)}


@pytest.fixture(scope="module")
def draw(tmp_path_factory: pytest.TempPathFactory) -> Draw:
    """Draws the rows of a block of a kind from a table of scores of problems."""

    def draw_rows(kind: str, table: str, said: str = "{}\n", **settings: object) -> Figure:
        data = {"Contest.csv": table, "Contest.source.yml": said}
        block: Any = draft_block(
            tmp_path_factory.mktemp("rows"), kind, data, id="one", source="Contest", **settings
        )
        made: Figure = next(part for part in block.parts if hasattr(part, "inline_svg"))
        return made

    return draw_rows


def answers(solved: Mapping[str, int | None]) -> str:
    """One sample of each of 40 problems."""
    rows = (
        (name, f"p{problem:02}", "" if count is None else int(problem < count))
        for name, count in solved.items()
        for problem in range(40)
    )
    return write_table(("series", "problem", "score"), rows)


def repeated(runs: Mapping[str, Sequence[float]]) -> str:
    """Runs of which each has one score for all of ten problems."""
    rows = (
        (name, run, f"p{problem}", value)
        for name, values in runs.items()
        for run, value in enumerate(values, 1)
        for problem in range(10)
    )
    return write_table(("series", "run", "problem", "score"), rows)


@pytest.fixture(scope="module")
def mixed(draw: Draw) -> Figure:
    """Scores in two groups, and a series without a score."""
    return draw("scores", answers(SOLVED), title="Scores")


@pytest.fixture(scope="module")
def spread(draw: Draw) -> Figure:
    """Series with their runs below them, and one with a single run."""
    return draw("run-scores", repeated(RUNS))


def parsed(made: Figure) -> ET.Element:
    """The inline picture as XML, which is stricter than HTML."""
    return ET.fromstring(f'<body xmlns="http://www.w3.org/2000/svg">{made.inline_svg}</body>')  # noqa: S314 - our own


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    """Every element with a class, in the order of the picture."""
    return [element for element in root.iter() if name in (element.get("class") or "").split()]


def words(element: ET.Element) -> list[str]:
    """Every text inside an element."""
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def specification(made: Figure) -> dict[str, Any]:
    """The Vega-Lite specification of the same rows."""
    spec: dict[str, Any] = json.loads(str(made.spec))
    return spec


def axis_of(made: Figure) -> tuple[list[float], list[float], list[str]]:
    """Domain, ticks and labels of the axis."""
    (x,) = [one["encoding"]["x"] for one in specification(made)["layer"] if one["name"] == "points"]
    labels = LABELS.match(x["axis"]["labelExpr"])
    assert labels
    return x["scale"]["domain"], x["axis"]["values"], json.loads(labels[1])


def share(value: str | None) -> float:
    """A place in percent of the plot's width."""
    return float(str(value).removesuffix("%"))


@pytest.mark.parametrize("kind", ["scores", "run-scores"])
def test_no_name_breaks_a_picture(draw: Draw, kind: str) -> None:
    """Both pictures are XML of drawing elements only, and the specification is JSON, whatever the names."""
    # A file may hold no NUL, and a line break in a cell is one character.
    names = {name.replace("\x00", "").replace("\r\n", "\n") for name in HOSTILE}
    made = draw(
        kind, repeated(dict.fromkeys(sorted(names), (0.4, 0.5))), title=HOSTILE[0], caption=HOSTILE[1]
    )
    for root in (parsed(made), ET.fromstring(str(made.file_svg))):  # noqa: S314 - our own
        found = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert found <= {"body", "svg", "g", "line", "text", "rect", "circle", "title", "metadata"}
        assert not any(key == "style" or key.startswith("on") for e in root.iter() for key in e.keys())  # noqa: SIM118
    shown = {row["name"] for row in specification(made)["datasets"]["rows"]}
    assert shown == names


def test_every_row_and_every_run_is_a_mark_with_its_words(mixed: Figure, spread: Figure) -> None:
    """The picture is one image that says what labels it; a line of a tip is a line of the attribute."""
    root = parsed(spread)
    images = [element for element in root.iter() if element.get("role") == "img"]
    assert [image.get("aria-labelledby") for image in images] == ["one-title one-summary"]
    marks = of_class(root, "rg-mark")
    listed = [
        name for name, values in RUNS.items() for name in [name] * (1 + len(values) * (len(values) > 1))
    ]
    assert [mark.get("data-rg-series") for mark in marks] == listed
    assert marks[2].get("data-rg-tip") == "Aspen\nrun 2: 80.0%"
    assert all(mark.get("data-rg-tip") for mark in marks)
    # No interval is a hollow dot, and not an interval without width; no score is said, without a dot at zero.
    birch, damson = marks[-1], of_class(parsed(mixed), "rg-mark")[-1]
    assert list(birch.iter(f"{SVG}line")) == []
    (dot,) = birch.iter(f"{SVG}circle")
    assert (dot.get("fill"), dot.get("stroke")) == ("var(--rg-bg)", "var(--rg-series-3)")
    assert (words(damson), list(damson.iter(f"{SVG}circle"))) == (["no score"], [])
    # Runs at one value stay apart.
    dots = [next(mark.iter(f"{SVG}circle")) for mark in marks if mark.get("data-rg-series") == "Cedar"]
    assert len({(dot.get("cx"), dot.get("cy")) for dot in dots}) == 5


def test_a_row_of_a_difference_isolates_its_series(draw: Draw) -> None:
    """Its dot is at the difference, the rule at none, and the axis has both in signed points."""
    made = draw("comparison", answers({name: SOLVED[name] for name in ("Aspen", "Cedar", "Birch")}))
    root, ((low, high), ticks, labels) = parsed(made), axis_of(made)
    assert [mark.get("data-rg-series") for mark in of_class(root, "rg-mark")] == ["Cedar", "Birch"]
    (rule,) = of_class(root, "rg-zero")
    assert rule.get("x1") == rule.get("x2")
    assert share(rule.get("x1")) == pytest.approx(100 * -low / (high - low), abs=1e-3)
    assert low < -0.6 < 0 < high
    zero = labels.index("0")
    assert ticks[zero] == 0
    assert all(label.startswith("−") for label in labels[:zero])
    assert [label.lstrip("−+") for label in labels] == [f"{abs(tick) * 100:.0f}" for tick in ticks]


@pytest.mark.parametrize("kind", ["scores", "run-scores"])
def test_dots_and_intervals_stand_at_their_values(draw: Draw, kind: str) -> None:
    """In percent of the plot's width, inside of it, and the dot within its interval."""
    made = draw(kind, repeated({str(n): (0.1 * n, 0.1 * n + 0.04 * (n % 3)) for n in range(10)}))
    (low, high), _, _ = axis_of(made)
    marks = [mark for mark in of_class(parsed(made), "rg-mark") if list(mark.iter(f"{SVG}line"))]
    rows = {row["name"]: row for row in specification(made)["datasets"]["rows"] if row["low"] is not None}
    assert len(marks) == len(rows) >= 6
    for mark in marks:
        row, (line,), (dot,) = (
            rows[str(mark.get("data-rg-series"))],
            mark.iter(f"{SVG}line"),
            mark.iter(f"{SVG}circle"),
        )
        places = [share(value) for value in (line.get("x1"), dot.get("cx"), line.get("x2"))]
        known = [100 * (row[name] - low) / (high - low) for name in ("low", "value", "high")]
        assert places == pytest.approx(known, abs=1e-3)
        assert 0 <= places[0] <= places[1] + 1e-3 <= places[2] + 2e-3 <= 100 + 3e-3


def test_words_of_wide_and_narrow_pictures_stand_twice(mixed: Figure) -> None:
    """The style sheet shows one of each, and may hide every second tick and its label in a narrow one."""
    root, labels = parsed(mixed), axis_of(mixed)[2][1::2]
    for name in ("rg-wide", "rg-narrow"):
        assert [words(one) for one in of_class(root, name)][:2] == [["Aspen", "90.0%"], ["Cedar", "40.0%"]]
    assert {one.get("display") for one in of_class(root, "rg-narrow")} == {"none"}
    assert [one.text for one in of_class(root, "rg-odd") if one.text] == labels
    assert len(of_class(root, "rg-odd")) == 2 * len(labels)


def test_the_style_sheet_moves_dots_as_far_as_rows_have_room_for(mixed: Figure, spread: Figure) -> None:
    """Below their name in a narrow picture, and still inside their row."""
    css = (Path(reportgen.__file__).parent / "site/assets/figure.css").read_text(encoding="utf-8")
    moved = re.search(r"\.rg-drawn {\s*transform: translateY\((\d+)px\)", css)
    assert moved
    for made in (mixed, spread):
        root = parsed(made)
        circles = [one for mark in of_class(root, "rg-mark") for one in mark.iter(f"{SVG}circle")]
        low = max(float(one.get("cy") or 0) + float(one.get("r") or 0) for one in circles)
        assert low + int(moved[1]) <= float(root[0].get("height") or 0)
    # A picture of a review, which has no style sheet, has them there.
    page, file = str(mixed.inline_svg), dict(draw_svgs(EVERYTHING, 4))["benchmarks-math-scores-light"]
    (still, below), (first, dot) = (
        [
            float(re.findall(where, svg)[0])
            for where in (rf'<text x="{x}" y="([\d.]+)">', r'<circle[^>]* cy="([\d.]+)"')
        ]
        for svg, x in ((page.partition("rg-narrow")[2], 8), (file, -16))
    )
    assert dot - first == below - still + int(moved[1])


def test_groups_are_bands_with_their_word(mixed: Figure) -> None:
    """Every second is shaded, a band a stretch."""
    root = parsed(mixed)
    assert words(of_class(root, "rg-tier-words")[0]) == ["Group 1", "Group 2"]
    (shade,) = of_class(root, "rg-tiers")[0].iter(f"{SVG}rect")
    first, second = of_class(root, "rg-mark")[:2]
    top, bottom = float(shade.get("y") or 0), float(shade.get("y") or 0) + float(shade.get("height") or 0)
    inside = [top < float(next(m.iter(f"{SVG}circle")).get("cy") or 0) < bottom for m in (first, second)]
    assert inside == [True, False]


def test_groups_that_the_order_mixes_are_named_again(draw: Draw) -> None:
    """By their name, and those of one name have one shade."""
    given = {"Cedar": 16, "Aspen": 36, "Birch": 15}
    root = parsed(draw("scores", answers(given), order="given"))
    assert words(of_class(root, "rg-tier-words")[0]) == ["Group 2", "Group 1", "Group 2"]
    assert len(list(of_class(root, "rg-tiers")[0])) == 2


@given(st.text(min_size=1, max_size=80))
def test_a_name_fits_beside_its_row(name: str) -> None:
    """At most two lines, none wider than its room; a short name is whole."""
    lines = break_name(name)
    assert 1 <= len(lines) <= 2
    assert all(measure_text(line, LABEL_SIZE) <= WIDEST_NAME for line in lines)
    for words in ("", "84.2%", "+23.3 points"):
        taken = measure_text(shorten_name(name, words), LABEL_SIZE) + measure_text(words, LABEL_SIZE)
        assert taken < NARROWEST - 16


@pytest.mark.parametrize("name", ["A", "m" * 300])
def test_long_names_break_at_their_joints(draw: Draw, name: str) -> None:
    """As a reader would; margins have a class, in eights up to 200, as the style sheet has them."""
    long = "meta-llama/Meta-Llama-3.1-70B-Instruct"
    assert break_name(long) == ("meta-llama/Meta-Llama-3.1-", "70B-Instruct")
    assert break_name("GRPO") == ("GRPO",)
    assert break_name("m" * 200)[0].endswith("…")
    classes = re.fullmatch(
        r"rg-rows rg-left-(\d+) rg-right-(\d+)", draw("scores", answers({name: 20})).plot_class
    )
    assert classes
    left, right = map(int, classes.groups())
    assert {left % 8, right % 8} == {0}
    assert max(left, right) <= 200
    assert left >= min(200, measure_text(break_name(name)[0], LABEL_SIZE) + 12)
    assert right >= measure_text("50.0%", LABEL_SIZE) + 12


def test_a_file_and_a_specification_need_no_page(mixed: Figure) -> None:
    """Colours are resolved, nothing of a page's script is left, and Altair's schema accepts the whole."""
    made = str(mixed.file_svg)
    assert "var(" not in made
    assert "data-rg" not in made
    shown = set(words(ET.fromstring(made)))  # noqa: S314 - our own
    assert {"Scores", "Source: Contest", "Aspen", "Group 1", "no score"} <= shown
    spec = specification(mixed)
    alt.LayerChart.from_dict(spec, validate=True)
    assert "var(" not in json.dumps({**spec, "datasets": {}})
    assert [one["head"] for one in spec["datasets"]["rows"]] == ["Group 1", "Group 2", "", ""]
    assert spec["datasets"]["rows"][3]["value"] is None


def test_vega_draws_the_same_dots(spread: Figure) -> None:
    """In the same order, at the same places along the axis, with the same labels."""
    vega = VegaPicture(specification(spread), width=PIXELS_WIDE)
    ours = [
        share(circle.get("cx")) / 100 * PIXELS_WIDE
        for mark in of_class(parsed(spread), "rg-mark")
        for circle in mark.iter(f"{SVG}circle")
        if circle.get("r") != "3"
    ]
    places, labels = vega.places("points"), axis_of(spread)[2]
    assert [x for x, _ in places] == pytest.approx(ours, abs=0.01)
    assert [y for _, y in places] == sorted(y for _, y in places)
    assert vega.words("role-axis-label")[: len(labels)] == labels


@pytest.mark.parametrize("values", [(), (0.5,), (0.3, 0.3), (0.0, 1.0), (0.98, 1.0), (0.2, 0.21, 0.9)])
def test_an_axis_of_scores_shows_them_all_and_nothing_beyond_their_range(
    draw: Draw, values: tuple[float, ...]
) -> None:
    """With labels in percent, also for one value, equal ones and none."""
    table = repeated({str(n): (value,) for n, value in enumerate(values)}) if values else answers({"A": None})
    made = draw("run-scores" if values else "scores", table)
    (low, high), ticks, labels = axis_of(made)
    assert 0 <= low < high <= 1
    assert all(low <= value <= high for value in values)
    assert [float(label.removesuffix("%")) / 100 for label in labels] == pytest.approx(ticks)
    assert all(label.endswith("%") for label in labels)


def test_reported_scores_are_shown_whole(draw: Draw) -> None:
    """An interval ends where scores do; a score above 1, where no range is given, is not cut."""
    said = "form: totals\n"
    for score, high in ((0.98, 1.0), (1.05, 1.05 + 1.96 * 0.035)):
        table = write_table(("series", "score", "stderr"), [("A", 0.9, 0.01), ("B", score, 0.035)])
        made = draw("scores", table, said)
        ends = [row["high"] for row in specification(made)["datasets"]["rows"]]
        assert max(ends) == pytest.approx(high, abs=1e-5)
        assert max(ends) <= axis_of(made)[0][1] <= max(1.0, 1.02 * high)


def test_other_ranges_are_plain_numbers(draw: Draw) -> None:
    """Of scores up to 10, and of their differences, which have a sign."""
    rows = ((name, f"p{n}", (n * step) % 11) for name, step in (("A", 3), ("B", 4)) for n in range(11))
    table = write_table(("series", "problem", "score"), rows)
    scores, differences = (
        axis_of(draw(kind, table, "score_range: [0, 10]\n"))[2] for kind in ("scores", "comparison")
    )
    assert not [label for label in (*scores, *differences) if label.endswith("%")]
    assert "0" in {label.removesuffix(".0") for label in differences}
    assert {label[0] for label in differences} == {"−", "+", "0"}


@pytest.mark.parametrize("average", [True, False])
def test_only_the_average_stands_apart_in_a_heat_map(average: bool, tmp_path: Path) -> None:  # noqa: FBT001 - pytest gives it
    """All columns are equally wide and fill the plot, with a gap behind the average if there is one."""
    rows = [(name, part, f"p{n}", n % 2) for name in "AB" for part in ("easy", "hard") for n in range(8)]
    data = {"contest.csv": write_table(("series", "benchmark", "problem", "score"), rows)}
    made = draft_block(tmp_path, "heatmap", data, id="one", source="contest", average=average)
    tiles = re.findall(r'class="rg-tile" x="([\d.]+)%" y="0" width="([\d.]+)%"', str(made.inline_svg))
    starts, widths = zip(*((float(start), float(width)) for start, width in tiles), strict=True)
    assert len(set(widths)) == 1
    of_a_row = starts[: 2 + average]
    gaps = [after - before - widths[0] for before, after in pairwise((*of_a_row, 100.0))]
    assert gaps == pytest.approx([widths[0] / 10, 0, 0] if average else [0, 0], abs=0.01)


def test_marks_of_many_lines_at_one_setting_stay_apart_from_the_next(tmp_path: Path) -> None:
    """At each setting they take three fifths of the way to the next one at most, also where it is short."""
    rows = [(name, seed, lr, lr + seed) for name in "ABCDEFGHIJ" for lr in range(1, 31) for seed in (0, 1)]
    data = {
        "runs.csv": write_table(("series", "seed", "lr", "loss"), rows),
        "runs.source.yml": "form: runs\ncolumns: {series: series, seed: seed}\nmetrics: [loss]\n",
    }
    made = draft_block(
        tmp_path, "sweep", data, id="one", source="runs", metric="loss", x="lr", by="series", x_scale="linear"
    )
    payload = json.loads(str(made.parts[0].payload))
    shifts = [line["shift"] for line in payload["series"]]
    low, high = payload["x"]["domain"]
    assert len(shifts) == 10
    assert 0 < max(shifts) - min(shifts) <= 0.6 / (high - low)
