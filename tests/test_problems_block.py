"""The ``problems`` block: every cell of the heat map is its score, missing is missing, slices have n."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_figures import HOSTILE
from made_outcomes import matrix, outcomes
from made_scored import score_context

from reportgen.core.model import Figure, ResultTable
from reportgen.figures.render import render_png, render_vega_lite
from reportgen.figures.scores.problems import (
    LEVELS,
    MOST_COLUMNS,
    OPACITIES,
    PITCH,
    build_heat_map,
    draw_problems,
)
from reportgen.settings.score_blocks import ProblemsSettings
from reportgen.statistics.problem_scores import group_problem_scores_by
from reportgen.statistics.scores import build_problem_grid, score_series, score_slices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.comparisons import ProblemScores, Score
    from reportgen.core.model import FloatArray, Stack

# Problems p0 (all right), p1 (half, and a miss), p2 (A alone), p3 (nobody).
SOME = np.array([[[1, 1], [1, 0], [1, 0], [0, 0]], [[1, 1], [np.nan, np.nan], [0, 0], [0, 0]]], dtype=float)


def block(
    problems: ProblemScores, sliced: Mapping[str, Mapping[str, tuple[Score, ...]]] | None = None
) -> Stack:
    """The block of these problem scores."""
    context = score_context(*problems.series, lowest=problems.lowest, highest=problems.highest)
    return draw_problems("grid", ProblemsSettings(), build_problem_grid(problems), sliced or {}, context)


def picture(stack: Stack) -> Figure:
    """The heat map."""
    (figure,) = [part for part in stack.parts if isinstance(part, Figure)]
    return figure


def tables(stack: Stack) -> dict[str, ResultTable]:
    """The tables by title."""
    return {part.title: part for part in stack.parts if isinstance(part, ResultTable)}


def drawn(figure: Figure, columns: int) -> FloatArray:
    """The step of colour of each cell, read back from the paths; -1 for a thin line, NaN for nothing."""
    root = ET.fromstring(str(figure.inline_svg))  # noqa: S314 - our own
    levels = []
    for row in root.iter("svg"):
        if row.get("class") != "rg-heat-cells":
            continue
        found = np.full(columns, np.nan)
        for path in row.iter("path"):
            opacity = path.get("stroke-opacity")
            level = -1 if opacity is None else OPACITIES.index(float(opacity))
            for start, wide in re.findall(r"M(\d+) 5h(\d+)", path.get("d") or ""):
                first = int(start) // 10
                found[first : first + -(-int(wide) // 10)] = level
        levels.append(found)
    return np.array(levels)


def test_every_cell_has_the_step_of_its_score() -> None:
    """0 and the highest score have steps of their own; fifths lie between; the hardest stands last."""
    values = [0.0, 0.001, 0.199, 0.2, 0.5, 0.79, 0.8, 0.999, 1.0]
    stack = block(matrix(np.array(values)[np.newaxis, :, np.newaxis]))
    assert drawn(picture(stack), 9).tolist() == [[6, 5, 5, 4, 3, 2, 1, 1, 0]]


@pytest.mark.parametrize("count", [1, 119, 121, MOST_COLUMNS])
def test_the_paths_of_a_row_are_its_cells(count: int) -> None:
    """With gaps between cells and without, no cell is lost and none stands twice."""
    generator = np.random.default_rng(count)
    values = np.where(generator.random((3, count, 1)) < 0.2, np.nan, generator.random((3, count, 1)).round(1))
    problems = matrix(values)
    heat = build_heat_map(build_problem_grid(problems), score_context(*problems.series))
    assert np.array_equal(drawn(picture(block(problems)), count), heat.level)
    assert ((heat.level < 0) == ~np.isfinite(heat.score)).all()
    assert heat.level.max() < LEVELS


def test_a_missing_cell_is_said_to_be_missing_everywhere() -> None:
    """In the picture, the browser's data, the table, the CSV file and the specification, and never 0."""
    stack = block(matrix(SOME))
    figure = picture(stack)
    assert drawn(figure, 4)[1].tolist() == [6, -1, 0, 0]
    assert json.loads(str(figure.payload))["score"][1][1] is None
    assert "missing: no answer" in {cell for row in figure.table.rows for cell in row}
    rows = [row for row in csv.DictReader(io.StringIO(str(figure.csv))) if row["samples"] == "0"]
    assert [(row["problem"], row["series"], row["score"]) for row in rows] == [("p00001", "B", "")]
    assert "missing" in str(figure.inline_svg)
    assert "no answer with a score (problems): B 1" in stack.caption
    assert len(json.loads(str(figure.spec))["data"]["values"].splitlines()) == 1 + 7


def test_what_only_one_series_solves_is_named() -> None:
    """A alone has p1 and p2 right, but B never tried p1."""
    table = tables(block(matrix(SOME)))["Solved by one series only"]
    assert [[cell.text for cell in row] for row in table.rows] == [["A", "1", "p00002"]]
    assert "A single correct sample may be luck" in table.caption
    assert "There is none for B." in table.caption
    assert table.csv == "problem,series\np00002,A\n"


def test_the_summary_counts_what_all_and_none_solve() -> None:
    """One problem is always right, one never."""
    figure = picture(block(matrix(SOME)))
    assert figure.summary == "Of 4 problems, all series score 100% on 1 and 0% on 1."


def test_neighbours_share_a_column_where_there_are_too_many_problems() -> None:
    """1 500 problems in columns of 3: the mean of the answered ones, and a caption that says so."""
    values = np.random.default_rng(0).random((2, 1500, 1))
    problems = matrix(values)
    grid = build_problem_grid(problems)
    heat = build_heat_map(grid, score_context(*problems.series))
    assert (heat.shared, len(heat.columns)) == (3, 500)
    assert heat.score[1, 7] == pytest.approx(grid.score[1, 21:24].mean())
    assert heat.columns[0] == f"{grid.problems[0]} to {grid.problems[2]} (3 problems)"
    figure = picture(block(problems))
    assert "A column is the mean of 3 problems" in figure.caption
    assert len(str(figure.csv).splitlines()) == 1 + 3000


def test_the_picture_has_few_elements() -> None:
    """20 series of 600 problems are 12 000 cells, and some hundred elements."""
    values = np.random.default_rng(0).random((20, 600, 1))
    figure = picture(block(matrix(values)))
    root = ET.fromstring(str(figure.inline_svg))  # noqa: S314 - our own
    assert len(list(root.iter())) < 20 * (LEVELS + 5) + 30


def test_the_browser_finds_cells_by_place() -> None:
    """The rows fill their box evenly, and the data have a name for every column and row."""
    figure = picture(block(matrix(SOME)))
    root = ET.fromstring(str(figure.inline_svg))  # noqa: S314 - our own
    (box,) = [part for part in root if part.get("class") == "rg-cells"]
    data = json.loads(str(figure.payload))
    assert root.get("data-rg-columns") == "problems"
    assert box.get("height") == str(PITCH * len(data["series"]))
    assert data["problems"] == ["p00000", "p00001", "p00002", "p00003"]
    assert data["samples"][1] == [2, 0, 2, 2]
    assert data["right"] == [[2, 1, 1, 0], [2, 0, 0, 0]]
    assert "right" not in json.loads(str(picture(block(matrix(SOME / 2))).payload))
    assert data["tags"][0] == "on average 100.0%"
    assert data["words"] == ["100.0%", "50.0%", "0.0%"]
    assert data["score"][0][0] == 0


def test_the_script_gets_the_words_of_a_score() -> None:
    """It rounds nothing: 0.9996 is not always, 0.0004 not never, wherever a score is told."""
    data = json.loads(str(picture(block(matrix(np.array([[[0.9996], [0.0004], [0.99999]]])))).payload))
    assert [data["words"][place] for place in data["score"][0]] == ["99.9%", "99.9%", "0.1%"]


def test_slices_have_intervals_n_and_reasons() -> None:
    """A slice that a series lacks says so; its header says how many problems stand behind the numbers."""
    rows = [
        {"series": name, "problem": f"{subject}{n}", "score": float((n + len(name)) % 2), "subject": subject}
        for name in ("A", "BB")
        for subject, count in (("algebra", 8), ("geometry", 3))
        for n in range(count)
        if (name, subject) != ("BB", "geometry")
    ]
    parts = group_problem_scores_by(outcomes(rows, slices=("subject",)), "subject")
    by_value = score_slices(parts)
    stack = block(matrix(SOME), {"subject": by_value})
    table = tables(stack)["By subject"]
    assert table.header == ("series", "algebra (8 problems)", "geometry (3 problems)")
    (own,) = [one for one in score_series(parts["algebra"]) if one.series == "A"]
    assert own.estimate is not None
    assert table.rows[0][1].text.startswith(f"{100 * own.estimate:.1f}% [")
    assert table.rows[1][2].text.startswith("missing\nno answers in")
    assert table.rows[1][2].mark == "missing"
    assert "nothing is adjusted for many" in table.caption
    assert "95% CI of the score on other problems like these" in table.caption
    assert len(list(csv.reader(io.StringIO(table.csv)))) == 1 + 4


def test_no_problem_at_all_is_a_sentence() -> None:
    """No picture without a cell."""
    stack = block(matrix(np.empty((1, 0, 1))))
    assert stack.parts == ("Contest has no problem with a score.",)


def test_scores_of_another_range_are_plain_numbers() -> None:
    """0 to 10: the key has no percent, and the steps are those of the range."""
    stack = block(matrix(np.array([[[0.0], [5.0], [10.0]]]), highest=10.0))
    figure = picture(stack)
    assert drawn(figure, 3).tolist() == [[6, 3, 0]]
    assert "%</text>" not in str(figure.inline_svg)
    assert json.loads(str(figure.payload))["words"] == ["10", "5", "0"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_break_neither_picture_nor_data(name: str) -> None:
    """They stay text, as names of series and of problems."""
    problems = matrix(SOME, series=(name, "B"), problems=[name, "p1", "p2", "p3"])
    figure = picture(block(problems))
    for drawing in (figure.inline_svg, figure.file_svg):
        assert not list(ET.fromstring(str(drawing)).iter("script"))  # noqa: S314 - our own
    assert name in json.loads(str(figure.payload))["series"]
    assert len(list(csv.reader(io.StringIO(str(figure.csv))))) == 9


def test_the_file_and_the_specification_can_be_drawn() -> None:
    """The file is an SVG of its own with resolved colours; the specification opens in Vega-Lite."""
    figure = picture(block(matrix(SOME)))
    assert "var(" not in str(figure.file_svg)
    assert render_png(str(figure.file_svg)).startswith(b"\x89PNG")
    svg = render_vega_lite(json.loads(str(figure.spec)))
    assert svg.count('aria-roledescription="rect mark"') == 7
    assert svg.startswith("<svg")
