"""Pages about scores for the browser tests: blocks of made answers, in the real fragments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from made_outcomes import matrix, score_context, scored

from browser.figure_pages import HOSTILE, points, write_assets, write_page
from reportgen.core.comparisons import RunScore, RunSpread
from reportgen.core.model import Cell, ResultTable, Stack
from reportgen.figures.scores.comparison import draw_comparison
from reportgen.figures.scores.problems import draw_problems
from reportgen.figures.scores.runs import draw_runs
from reportgen.figures.scores.scores import draw_scores
from reportgen.settings.score_blocks import ComparisonSettings, ProblemsSettings, RunsSettings, ScoresSettings
from reportgen.statistics.scores import build_problem_grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.comparisons import ProblemScores

NAMES = ("Large", "Medium-long-name/with-parts and more words", "Small", "Tiny")
PROBLEMS = 40


def write_scores(folder: Path) -> Path:
    """Write every page of the tests about scores, with the assets of a site; returns the folder."""
    write_assets(folder)
    write_page(folder, "rows", rows_stack(NAMES))
    write_page(folder, "heat", heat_stack(NAMES))
    write_page(folder, "pairs", pairs_stack(NAMES))
    write_page(folder, "hostile", rows_stack(HOSTILE), heat_stack(HOSTILE))
    write_page(folder, "curves", points())
    write_page(folder, "both", points(), rows_stack(NAMES))
    return folder


def rows_stack(names: Sequence[str]) -> Stack:
    """Scores in groups, a table with the colours of verdicts, and the spread of runs, as one block."""
    context = score_context(*names)
    first = draw_scores("scores", ScoresSettings(), scored(_answers(names)), context)
    second = draw_runs("runs", RunsSettings(), tuple(map(_spread, names, range(len(names)))), context)
    words = "Large is better than Small."
    return Stack(
        "all", "Scores", "mean score", (words, first.parts[0], _pairs(names), *second.parts), "Made."
    )


def pairs_stack(names: Sequence[str]) -> Stack:
    """Who is better than whom: a matrix and rows of differences."""
    return draw_comparison("pairs", ComparisonSettings(), scored(_answers(names)), score_context(*names))


def heat_stack(names: Sequence[str]) -> Stack:
    """Who solves what; the first series lacks the first problem, and nobody solves the last."""
    grid = build_problem_grid(_answers(names))
    return draw_problems("problems", ProblemsSettings(), grid, {}, score_context(*names))


def _answers(names: Sequence[str]) -> ProblemScores:
    """Four samples of every problem: each series is worse than the one before, each problem harder."""
    drawn = np.random.default_rng(3).random((len(names), PROBLEMS, 4))
    ability = np.linspace(0.4, -0.2, len(names))[:, np.newaxis, np.newaxis]
    hardness = np.linspace(0.05, 0.95, PROBLEMS)[:, np.newaxis]
    scores = np.where(drawn + ability > hardness, 1.0, 0.0)
    scores[0, 0] = np.nan
    scores[:, -1] = 0.0
    return matrix(scores, series=names)


def _spread(name: str, place: int) -> RunSpread:
    """Three runs, 2 points apart."""
    mean = 0.8 - 0.08 * place
    runs = tuple(RunScore(str(run), None, mean + 0.02 * (run - 2)) for run in (1, 2, 3))
    return RunSpread(name, "mean", 0.95, runs, mean, 0.02, mean - 0.0497, mean + 0.0497, "", PROBLEMS, 0)


def _pairs(names: Sequence[str]) -> ResultTable:
    """A cell for each verdict, in every row."""
    verdicts = ("better", "worse", "unclear", "missing")
    cells = tuple(Cell(f"{mark}\n+1.0\n[-1.0, +3.0]", 1.0, mark) for mark in verdicts)
    rows = tuple((Cell(name), Cell("–", None, "self"), *cells) for name in names)
    return ResultTable("pairs", "Verdicts", ("series", "itself", *verdicts), rows, "Best first.", "a,b\n")
