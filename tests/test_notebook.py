"""The package in a notebook: the numbers and words of reading and of the statistics, and a real kernel."""

from __future__ import annotations

import doctest
import importlib
import json
import math
import pydoc
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import nbformat
import pandas as pd
import pytest
from made_outcomes import outcomes
from nbclient import NotebookClient
from pyarrow.csv import read_csv  # type: ignore[import-untyped]  # no types here
from tries import slow_after

import reportgen as rg
from reportgen.core.comparisons import Comparison, Noises, Score
from reportgen.read import read_outcomes as outcomes_of
from reportgen.read.queries.problem_scores import group_problem_scores
from reportgen.statistics.compare import compare_all, compare_benchmarks
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import rank_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.comparisons import Outcomes

ROOT = Path(__file__).parents[1]
RUNS, ANSWERS = ROOT / "data/aime/runs.csv", ROOT / "data/model-comparison/outcomes.csv"
MADE = {"best": "11111111", "good": "11111110", "poor": "00000001"}


def test_a_frame_gives_what_its_file_gives() -> None:
    """Curves, scores, comparisons and charts."""
    frame = pd.read_csv(RUNS)
    pd.testing.assert_frame_equal(rg.curves(frame), rg.curves(rg.read(RUNS)))
    assert rg.draw(frame).to_dict()["title"] == rg.draw(rg.read(RUNS)).to_dict()["title"]
    answers = pd.read_csv(ANSWERS)
    pd.testing.assert_frame_equal(rg.scores(answers, "pass@4"), rg.scores(rg.read(ANSWERS), "pass@4"))
    pd.testing.assert_frame_equal(rg.compare(answers, b="Birch"), rg.compare(rg.read(ANSWERS), b="Birch"))
    # Frames that narwhals knows, such as Arrow's and Polars'.
    pd.testing.assert_frame_equal(rg.curves(read_csv(RUNS)), rg.curves(rg.read(RUNS)))


@pytest.mark.parametrize(
    "reshape",
    [
        lambda frame: frame.pivot_table(index="iteration", columns=["series", "seed"], values="pass@1"),
        lambda frame: frame.set_index(["series", "seed", "iteration"]),
        lambda frame: frame.set_index(["seed", "iteration"]).astype({"series": "category"}),
        lambda frame: frame.convert_dtypes(),
    ],
    ids=["pivot", "index", "category", "nullable"],
)
def test_a_frame_may_have_the_shape_that_pandas_gives_it(
    reshape: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    """Names of an index and of columns are columns."""
    frame = pd.read_csv(RUNS)
    expected, found = (
        rg.curves(one).sort_values(["series", "step"], ignore_index=True).drop(columns="metric")
        for one in (frame, reshape(frame))
    )
    pd.testing.assert_frame_equal(found, expected)


def test_tracebacks_end_at_the_function() -> None:
    """In a notebook they are shown in whole, and what is wrong are the data."""
    for call in (lambda: rg.read("nowhere"), lambda: rg.curves(rg.read(RUNS), metric="nothing")):
        with pytest.raises(rg.ReportError) as caught:
            call()
        assert len(traceback.extract_tb(caught.tb)) == 3


def test_the_package_lists_what_it_has() -> None:
    """``dir``, which completes names, and ``help``."""
    assert {"read", "curves", "scores", "compare", "draw", "Table", "ReportError"} <= {*dir(rg)}
    text = pydoc.plain(pydoc.render_doc(rg))
    for name in ("curves(", "scores(", "compare(", "draw(", "read("):
        assert f"\n    {name}" in text


CELLS = (
    "import reportgen as rg, pandas as pd",
    f"table = rg.read({str(RUNS)!r})\ntable",
    "rg.curves(table)",
    "rg.draw(pd.read_csv(table.root / table.source.files[0].path))",
    f"rg.scores(pd.read_csv({str(ANSWERS)!r}), benchmark='Contest')",
    "try:\n    import ipywidgets\nexcept ModuleNotFoundError:\n    ipywidgets = None\nipywidgets is not None",
)


@pytest.mark.parametrize("has_widgets", slow_after(1, [True, False]), ids=["with ipywidgets", "without"])
def test_a_notebook_runs(has_widgets: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    """In a real kernel: a table, a frame and a chart are shown, and nothing else is printed."""
    hidden = "" if has_widgets else "import sys; sys.modules['ipywidgets'] = None; "
    cells = [f"{hidden}{CELLS[0]}", *CELLS[1:]]
    made: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        for cell in cells
    ]
    written = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made}
    notebook = nbformat.reads(json.dumps(written), as_version=4)  # type: ignore[no-untyped-call]  # no types here
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=100, kernel_name="python3", resources=folder).execute()
    assert [len(cell.outputs) for cell in notebook.cells] == [0, 1, 1, 1, 1, 1]
    _, table, frame, chart, scores, widgets = (
        [output["data"] for output in cell.outputs] for cell in notebook.cells
    )
    assert table[0]["text/plain"] == '<reportgen.Table "runs": measurements, metrics "pass@1">'
    assert "<table" in frame[0]["text/html"]
    assert "vega-lite" in chart[0]["text/html"]
    assert "Aspen" in scores[0]["text/html"]
    assert widgets[0]["text/plain"] == str(has_widgets)


COMPOSED: dict[str, Callable[[Any], Any]] = {
    "beside": lambda chart: chart | rg.draw(rg.read(RUNS), title="Again"),
    "below": lambda chart: chart & rg.draw(rg.read(RUNS), title="Again"),
    "over": lambda chart: chart + alt.Chart(pd.DataFrame({"y": [0.5]})).mark_rule().encode(y="y"),
    "interactive": lambda chart: chart.interactive(),
    "with a parameter": lambda chart: chart.add_params(alt.selection_interval()),
    "faceted": lambda chart: chart.facet("series:N"),
    "small": lambda chart: chart.properties(width=200, height=100),
    "configured": lambda chart: chart.configure_axis(grid=False),
    "recoloured": lambda chart: chart.encode(alt.Color("series:N").scale(scheme="dark2")),
}


@pytest.mark.parametrize("compose", COMPOSED.values(), ids=COMPOSED)
def test_a_chart_can_be_combined_like_any_other(compose: Callable[[Any], Any], tmp_path: Path) -> None:
    """Altair accepts what is made of it, and draws every line of it."""
    path = tmp_path / "chart.svg"
    compose(rg.draw(rg.read(RUNS))).save(str(path))
    drawn = path.read_text("utf-8")
    assert drawn.count("lines_marks") + drawn.count('class="mark-line') >= 1
    assert ">v10-l1-length-4096<" in drawn


def test_the_house_style_is_a_theme() -> None:
    """A chart of a notebook has none of its own, so that it can stand beside others."""
    chart = rg.draw(rg.read(RUNS))
    assert "reportgen" in alt.theme.names()
    with alt.theme.enable("reportgen"):
        assert chart.to_dict()["config"]["view"] == {"stroke": None}


@pytest.mark.parametrize("module", ["", ".score_frames"])
def test_the_examples_of_the_docstrings_run(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each as it stands, in a checkout, and with the results it shows."""
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(importlib.import_module(f"reportgen.notebook{module}"))
    assert found.attempted >= 3
    assert found.failed == 0


# ---- scores and comparisons ---------------------------------------------------------------------


def _made() -> Outcomes:
    """Three series, eight problems of two samples; ``poor`` has one more problem."""
    rows = [
        {"series": name, "problem": f"p{place}", "sample": sample, "score": float(right), "answer": right}
        for name, row in MADE.items()
        for place, right in enumerate(row)
        for sample in "12"
    ]
    extra = {"series": "poor", "problem": "extra", "sample": "1", "score": 0.0, "answer": "0"}
    return outcomes([*rows, extra])


def test_one_more_series_does_not_change_the_numbers_of_a_pair() -> None:
    """Five models, ``a`` better by 20 of 100 problems; a sixth answered 12, and three others 7 of them.

    Averaged standard errors made p of these pairs 0.3 and more. Interval and p stay; so does the verdict.
    """
    rows = [
        {"series": name, "problem": f"p{place}", "score": float((place * step + 13 * shift) % 100 < right)}
        for shift, (name, step, right) in enumerate(
            [("a", 1, 70), ("b", 3, 50), ("c", 7, 50), ("d", 9, 50), ("e", 11, 50)]
        )
        for place in range(100)
    ]
    few = [
        {"series": name, "problem": f"p{8 * place}", "score": float(place % 3 == 0)}
        for name, count in (("few", 12), ("x", 7), ("y", 7), ("z", 7))
        for place in range(count)
    ]
    same = ["difference", "low", "high", "p", "verdict"]
    alone = rg.compare(outcomes(rows)).set_index(["a", "b"])
    among = rg.compare(outcomes([*rows, *few])).set_index(["a", "b"])
    assert alone.loc["a"]["verdict"].tolist() == ["better"] * 4
    assert among.loc[alone.index, same].equals(alone[same])
    assert (among.loc[alone.index, "adjusted_p"] < 0.05).sum() == 4


def test_scores_are_those_of_the_statistics_with_their_groups_best_first() -> None:
    """Every number and word of each score, in the order of a page."""
    made = group_problem_scores(_made())
    frame = rg.scores(_made())
    ranks = {
        name: group.rank
        for group in rank_groups(score_series(made), compare_all(made))
        for name in group.series
    }
    assert frame["series"].tolist() == ["best", "good", "poor"]
    assert ranks == {"best": 1, "good": 1, "poor": 1}
    for score, row in zip(score_series(made), frame.to_dict("records"), strict=True):
        for name in ("series", "metric", "estimate", "low", "high", "level", "estimand", "method", "reason"):
            assert row[name] == getattr(score, name), name
        assert (row["fewest_samples"], row["most_samples"]) == score.samples
        assert (row["problems"], row["runs"], row["group"]) == (score.problems, 1, ranks[score.series])
        assert math.isnan(row["tokens"])
        assert math.isnan(row["between_runs"])
    assert frame.loc[0, "reason"] == score_series(made)[0].reason != ""
    assert {str(kind) for kind in frame[["group", "problems", "runs"]].dtypes} == {"Int64"}
    with pytest.raises(ValueError, match="narrowed where they are read"):
        rg.scores(_made(), series=("best",))


def test_nothing_that_a_page_knows_is_left_out() -> None:
    """Each field of a score and of a comparison is a column; the samples of a problem are two."""
    known = set(Score.__struct_fields__) - {"samples"} | {"fewest_samples", "most_samples"}
    assert set(rg.scores(_made()).columns) == known | {"benchmark", "group"}
    own = set(Comparison.__struct_fields__) - {"runs", "noises"}
    more = {"runs_a", "runs_b", "benchmark", "answer_stderr", "problem_stderr"}
    assert set(rg.compare(_made()).columns) == own | more


@pytest.mark.parametrize("metric", ["pass@k", "pass^k", "maj@k", "avg@n"])
def test_metrics_are_named_as_in_a_block(metric: str) -> None:
    """``pass@1`` is pass@k with 1; a majority needs the answers, which are asked for."""
    frame = rg.scores(_made(), f"{metric[:-1]}1", level=0.8)
    wanted = score_series(group_problem_scores(_made(), answers=True), metric, 1, level=0.8)
    assert set(frame["metric"]) == {f"{metric[:-1]}1"}
    assert frame["low"].tolist() == sorted((score.low or 0 for score in wanted), reverse=True)


def test_comparisons_are_those_of_the_statistics() -> None:
    """Every number and word of each pair, with the problems that only one side answered."""
    together = compare_all(group_problem_scores(_made()))
    frame = rg.compare(_made())
    assert len(frame) == 3
    for one, row in zip(together, frame.to_dict("records"), strict=True):
        assert (row["runs_a"], row["runs_b"]) == one.runs
        noises = one.noises or Noises(None, math.nan, None)
        assert row["problem_stderr"] == noises.problems
        for name in set(row) - {"benchmark", "runs_a", "runs_b", "answer_stderr", "problem_stderr"}:
            assert row[name] == getattr(one, str(name)), name
        assert type(row["verdict"]) is str
    assert frame["only_b"].tolist() == [(), ("extra",), ("extra",)]
    assert frame["verdict"].tolist() == ["unclear", "better", "unclear"]


def test_several_benchmarks_are_those_of_the_page_with_their_average() -> None:
    """Scores of each and of the average; against a baseline every number of the table across benchmarks."""
    table = rg.read(ROOT / "data/model-comparison")
    parts = {
        name: group_problem_scores(outcomes_of(table.root, table.source, benchmark=name))
        for name in table.source.benchmarks
    }
    page = compare_benchmarks(parts, "pass@k", 4, baseline="Birch")
    rows = {(row["benchmark"], row["series"]): row for row in rg.scores(table, "pass@4").to_dict("records")}
    pairs = {
        (row["benchmark"], row["a"]): row
        for row in rg.compare(table, b="Birch", metric="pass@4").to_dict("records")
    }
    assert len(rows) == 4 * 3
    assert len(pairs) == 3 * 3
    for series, cells, macro in zip(page.series, page.cells, page.macro, strict=True):
        for name, cell in zip((*page.benchmarks, "macro average"), (*cells, macro), strict=True):
            for word in ("estimate", "low", "high", "estimand", "method", "reason"):
                assert rows[name, series][word] == getattr(cell.score, word)
            if cell.against is not None:
                for word in ("difference", "low", "high", "p", "adjusted_p", "verdict", "reason"):
                    assert pairs[name, series][word] == getattr(cell.against, word)
    wide, narrow = rg.scores(table), rg.scores(table, estimand="these problems")
    assert wide["group"].isna().tolist() == [False] * 8 + [True] * 4
    # Noise of samples, not of problems, so each interval is narrower, and that of the average, too.
    assert (narrow["high"] - narrow["low"] < wide["high"] - wide["low"]).all()
    assert narrow["estimate"].equals(wide["estimate"])
