"""The package in a notebook: data frames in, a list of what there is, and a real kernel."""

from __future__ import annotations

import json
import pydoc
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient
from pyarrow.csv import read_csv  # type: ignore[import-untyped]  # no types here
from tries import slow_after

import reportgen as rg

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
RUNS, ANSWERS = ROOT / "data/aime/runs.csv", ROOT / "data/model-comparison/outcomes.csv"


def test_a_frame_gives_what_its_file_gives() -> None:
    """Curves, scores, comparisons and charts."""
    frame = pd.read_csv(RUNS)
    pd.testing.assert_frame_equal(rg.curves(frame), rg.curves(rg.read(RUNS)))
    assert rg.draw(frame).to_dict()["title"] == rg.draw(rg.read(RUNS)).to_dict()["title"]
    answers = pd.read_csv(ANSWERS)
    pd.testing.assert_frame_equal(rg.scores(answers, "pass@4"), rg.scores(rg.read(ANSWERS), "pass@4"))
    pd.testing.assert_frame_equal(rg.compare(answers, b="Birch"), rg.compare(rg.read(ANSWERS), b="Birch"))


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


def test_settings_of_a_frame_are_arguments() -> None:
    """A frame has no source.yml, so messages name the argument that takes its place."""
    frame = pd.DataFrame({"model": ["Elm", "Fir"], "AIME": ["75.5 ± 0.4", "70.1 ± 0.5"]})
    with pytest.raises(rg.ReportError, match=r"rg\.read\(frame, interval=…\)") as caught:
        rg.scores(frame)
    assert "source.yml" not in str(caught.value)
    found = rg.scores(rg.read(frame, interval="se"))
    assert found["stderr"].tolist() == [0.4, 0.5]
    algorithms = pd.DataFrame({"algo": ["a", "b"], "step": [0, 0], "loss": [1.0, 2.0]})
    table = rg.read(algorithms, columns={"series": "algo"}, rename={"a": "Ours"})
    assert rg.curves(table)["series"].tolist() == ["Ours", "b"]
    with pytest.raises(rg.ReportError, match='"intervall" is no argument of rg'):
        rg.read(frame, intervall="se")
    with pytest.raises(rg.ReportError, match="Write them into its source"):
        rg.read(RUNS, interval="se")


def test_tracebacks_end_at_the_function() -> None:
    """In a notebook they are shown in whole, and what is wrong are the data."""
    for call in (lambda: rg.read("nowhere"), lambda: rg.curves(rg.read(RUNS), metric="nothing")):
        with pytest.raises(rg.ReportError) as caught:
            call()
        assert len(traceback.extract_tb(caught.tb)) == 3


def make_sweep() -> pd.DataFrame:
    """Two series of two seeds, with two losses, an accuracy and a setting."""
    rows = [
        (f"{name}-{lr}", name, lr, seed, step, 2.0 - 0.1 * step - lr, 2.5 - 0.1 * step, 0.1 * step)
        for name in ("adam", "lion")
        for lr in (0.1, 0.2)
        for seed in (1, 2)
        for step in range(4)
    ]
    return pd.DataFrame(
        rows, columns=["series", "optimizer", "lr", "seed", "step", "train/loss", "eval/loss", "acc"]
    )


def test_what_is_drawn_is_chosen_as_in_a_block() -> None:
    """Lists, patterns, formulas and conditions, and settings as series."""
    frame, metrics = make_sweep(), ["train/loss", "eval/loss"]
    two = rg.curves(frame, metric=metrics)
    assert list(two["metric"].unique()) == metrics
    pd.testing.assert_frame_equal(rg.curves(frame, metric="*/loss"), two)
    error = rg.curves(frame, metric={"error": "1 - acc"}, where={"lr": "<= 0.1"}, series=["*", "!lion*"])
    assert error["metric"].unique() == ["error"]
    assert error["series"].unique() == ["adam-0.1"]
    assert error["value"].tolist() == pytest.approx([1.0, 0.9, 0.8, 0.7])
    tokens = rg.curves(frame, "acc", x={"step * 4096": "tokens"}, by="lr")
    assert sorted(tokens["series"].unique()) == ["lr=0.1", "lr=0.2"]
    assert sorted(tokens["step"].unique()) == [0, 4096, 8192, 12288]
    assert set(tokens["n"]) == {4}


def test_a_chart_has_the_look_that_its_options_say() -> None:
    """As a block with these keys: several metrics, colours, a setting as colour, percent, references."""
    frame = make_sweep()
    line = {"y": 0.25, "label": "Human"}
    options: dict[str, Any] = {"title": "T", "format": "percent", "reference": [line], "y_title": "Right"}
    text = rg.draw(frame, "acc", colours={"adam-0.1": "pink"}, **options).to_json()
    assert all(words in text for words in ('"Human"', '"Right"', '"T"', "%"))
    assert text != rg.draw(frame, "acc", **options).to_json()
    two = rg.draw(frame, ["train/loss", "eval/loss"], order="name").to_dict()
    assert two["title"]["text"] == "train/loss and eval/loss by step"
    assert {str(row["series"]) for row in next(iter(two["datasets"].values()))} > {"adam-0.1 · train/loss"}
    assert "lr" in str(rg.draw(frame, "acc", colour="lr").to_dict()["title"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colour": "lr"}, '"colour" is no option of rg.curves. It is one of rg.draw. There are "metric"'),
        ({"metrc": "acc"}, '"metrc" is no option of rg.curves. Did you mean "metric"? There are "metric"'),
        ({"band": "ic"}, '"band: ic" is not one of ci, simultaneous'),
        ({"metric": "*/error"}, '"*/error" matches no metric of source "frame"'),
        ({"series": ["none*"]}, '"none*" matches no series of source "frame"'),
    ],
)
def test_options_that_do_not_exist_are_named(options: dict[str, Any], said: str) -> None:
    """With those that there are."""
    with pytest.raises(rg.ReportError) as error:
        rg.curves(make_sweep(), **{"metric": "acc", **options})
    assert said in str(error.value)
    with pytest.raises(rg.ReportError, match=r'"facet" is no option of rg\.draw\. There are "where"'):
        rg.draw(make_sweep(), "acc", facet="series")


def test_frames_of_other_libraries_are_read() -> None:
    """Those that narwhals knows, such as Arrow's and Polars'."""
    pd.testing.assert_frame_equal(rg.curves(read_csv(RUNS)), rg.curves(rg.read(RUNS)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (3, "notebook: int is neither a path, the result of rg.read, nor a data frame. Give one of them."),
        (pd.DataFrame({"step": []}), "notebook: the frame has no rows."),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("A", 1), ("A", 2)])),
            (
                "notebook: the columns of the frame have several levels without names. Name them, as in "
                'frame.columns.names = ["series", "seed"].'
            ),
        ),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            'notebook: more than one column of the frame is called "a". Give each column a name of its own.',
        ),
        (
            pd.DataFrame({"model": ["A", "B"], "step": [1, 2], "note": ["x", "y"]}),
            (
                "the frame: the frame has no metric: no column of numbers other than the step. "
                "Give it a column of numbers for each metric."
            ),
        ),
        (
            pd.DataFrame({"step": [0, 1, 2], "loss": ["1", "x", "2"]}),
            'row 2 of the frame: "x" in column "loss" is not a number. Mend it, or leave the cell empty.',
        ),
        (
            pd.DataFrame({"step": [0, 1, 0, 1], "loss": [1, 2, 3, 4]}),
            (
                "row 3 of the frame: a second row for step 0 of series frame: loss is 1 in row 1 and 3 here; "
                "2 of 4 values repeat a step of their run. Set as an argument of rg.read repeat: runs (each "
                "row is of a run of its own), repeat: mean (they are averaged) or repeat: last (the last one "
                "counts)."
            ),
        ),
        (
            pd.DataFrame({"model": ["A", "A"], "loss": [1, 2]}),
            (
                "the frame: no column of the frame is known as the step; it has model and loss. Name it as "
                "an argument of rg.read, as in columns: {step: NAME}, or as x; a table of scores without "
                "steps is form: totals, or form: wide with a column for each benchmark or model."
            ),
        ),
    ],
    ids=["number", "empty", "levels", "twice", "no numbers", "a word", "repeated", "no step"],
)
def test_what_is_no_table_is_refused(data: Any, said: str) -> None:  # noqa: ANN401 - anything
    """With what to do."""
    with pytest.raises(rg.ReportError) as error:
        rg.curves(data)
    assert str(error.value) == said


def test_the_package_lists_what_it_has() -> None:
    """``dir``, which completes names, and ``help``."""
    assert {"read", "curves", "scores", "compare", "draw", "Table", "ReportError"} <= {*dir(rg)}
    text = pydoc.plain(pydoc.render_doc(rg))
    for name in ("curves(", "scores(", "compare(", "draw(", "read("):
        assert f"\n    {name}" in text


def test_a_table_names_itself_in_a_line() -> None:
    """Not with every setting of its source."""
    assert repr(rg.read(ROOT / "data/aime")) == '<reportgen.Table "aime": measurements, metrics "pass@1">'
    assert repr(rg.read(ANSWERS)) == (
        '<reportgen.Table "outcomes": outcomes, benchmarks "Contest", "Textbook">'
    )


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
