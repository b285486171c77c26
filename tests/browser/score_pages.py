"""Pages about scores for the browser tests: blocks of made answers, in the real fragments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from drafted_blocks import draft_block, write_table

from browser.figure_pages import HOSTILE, points, write_assets, write_page
from reportgen.core.model import Cell, ResultTable, Stack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.model import Figure

NAMES = ("Large", "Medium-long-name/with-parts and more words", "Small", "Tiny")
PROBLEMS = 40


def write_scores(folder: Path) -> Path:
    """Write every page of the tests about scores, with the assets of a site; returns the folder."""
    write_assets(folder)
    rows, curves = rows_stack(folder, NAMES), points(folder)
    write_page(folder, "rows", rows)
    write_page(folder, "heat", heat_stack(folder, NAMES))
    write_page(folder, "grid", grid(folder))
    write_page(folder, "pairs", pairs_stack(folder, NAMES))
    write_page(folder, "hostile", rows_stack(folder, HOSTILE), heat_stack(folder, HOSTILE))
    write_page(folder, "curves", curves)
    write_page(folder, "both", curves, rows)
    return folder


def rows_stack(folder: Path, names: Sequence[str]) -> Stack:
    """Scores in groups, a table with the colours of verdicts, and the spread of runs, as one block."""
    first = _draw(folder, "scores", _write_answers(names), "scores")
    second = _draw(folder, "run-scores", _write_runs(names), "runs")
    words = "Large is better than Small."
    return Stack(
        "all", "Scores", "mean score", (words, first.parts[0], _pairs(names), *second.parts), "Made."
    )


def pairs_stack(folder: Path, names: Sequence[str]) -> Stack:
    """Who is better than whom: a matrix and rows of differences."""
    return _draw(folder, "comparison", _write_answers(names), "pairs")


def heat_stack(folder: Path, names: Sequence[str]) -> Stack:
    """Who solves what; the first series lacks the first problem, and nobody solves the last."""
    return _draw(folder, "problems", _write_answers(names), "problems")


def grid(folder: Path) -> Figure:
    """A number in each cell: four series on two contests, of which one has no answer to the second."""
    root = folder / "reports" / "grid"
    easy, hard = _write_answers(NAMES), _write_answers(NAMES[:3])
    data = {"Easy.csv": easy, "Hard.csv": hard}
    made: Figure = draft_block(root, "heatmap", data, id="grid", sources=["Easy", "Hard"])
    return made


def _draw(folder: Path, kind: str, answers: str, block_id: str) -> Stack:
    """What a block of this kind shows of some answers to a contest."""
    root, data = folder / "reports" / block_id, {"Contest.csv": answers}
    made: Stack = draft_block(root, kind, data, id=block_id, source="Contest")
    return made


def _write_answers(names: Sequence[str]) -> str:
    """Four samples of every problem: each series is worse than the one before, each problem harder."""
    drawn = np.random.default_rng(3).random((len(names), PROBLEMS, 4))
    ability = np.linspace(0.4, -0.2, len(names))[:, np.newaxis, np.newaxis]
    hardness = np.linspace(0.05, 0.95, PROBLEMS)[:, np.newaxis]
    scores = drawn + ability > hardness
    scores[:, -1] = False
    rows = (
        (names[series], f"p{problem:05}", sample, int(score))
        for (series, problem, sample), score in np.ndenumerate(scores)
        if series or problem
    )
    return write_table(("series", "problem", "sample", "score"), rows)


def _write_runs(names: Sequence[str]) -> str:
    """Three runs, 2 points apart, each with the same score for every problem."""
    rows = (
        (name, run, f"p{problem:05}", round(0.8 - 0.08 * place + 0.02 * (run - 2), 2))
        for place, name in enumerate(names)
        for run in (1, 2, 3)
        for problem in range(PROBLEMS)
    )
    return write_table(("series", "run", "problem", "score"), rows)


def _pairs(names: Sequence[str]) -> ResultTable:
    """A cell for each verdict, in every row."""
    verdicts = ("better", "worse", "unclear", "missing")
    cells = tuple(Cell(f"{mark}\n+1.0\n[-1.0, +3.0]", 1.0, mark) for mark in verdicts)
    rows = tuple((Cell(name), Cell("–", None, "self"), *cells) for name in names)
    return ResultTable("pairs", "Verdicts", ("series", "itself", *verdicts), rows, "Best first.", "a,b\n")
