"""Percent beside shares within a run and between series, and not where values truly span both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from pathlib import Path

CURVE = "# Runs\n\n```curve\nsource: x\n```\n"
COMPARISON = "# Runs\n\n```comparison\nsource: x\n```\n"
SCORES = "# Runs\n\n```scores\nsource: x\n```\n"


def check(root: Path, page: str, rows: list[str], settings: str = "") -> list[str]:
    """The first lines of what ``check`` reports of one table."""
    files = {"content/index.md": page, "data/x.csv": "\n".join(rows) + "\n", "data/runs.csv": None}
    write_report(root, files | ({"data/x.source.yml": settings} if settings else {}))
    return [line for line in call(root, "check").stdout.split("\n") if line.startswith(("data/", "content/"))]


def write_curves(metric: str, **curves: tuple[float, ...]) -> list[str]:
    """A table of one run a series."""
    rows = [f"{name},{step},{value}" for name, values in curves.items() for step, value in enumerate(values)]
    return [f"model,step,{metric}", *rows]


@pytest.mark.parametrize(
    ("metric", "values", "line"),
    [
        ("acc", (0.1, 0.3, 0.5, 0.55, 0.6, 62, 65, 66), 7),
        ("val/accuracy", (0, 0, 0.1, 0.3, 0.5, 55, 57), 7),
        ("f1", (10, 30, 50, 55, 0.6, 0.62, 0.65), 6),
        ("acc", (0.1, 20, 0.3, 40, 0.45, 50), 3),
        ("pass@1", (0.1, 0.2, 0.3, 40, 41, 0.42, 0.43), 5),
        ("acc", (0.31, 0.38, 0.30, 0.36, 33, 39, 35), 6),
        ("success_rate", (0.6, 0.6, 0.6, 70, 70), 5),
        ("value", (0.3, 0.5, 0.55, 0.6, 62, 65), 6),
        ("wer", (0.5, 0.4, 0.3, 0.25, 20, 18), 6),
    ],
)
def test_a_run_that_changes_its_unit_is_a_warning(
    tmp_path: Path, metric: str, values: tuple[float, ...], line: int
) -> None:
    """At the first value in the other unit."""
    steady = tuple(min(value, 0.5) for value in values)
    (problem,) = check(tmp_path, CURVE, write_curves(metric, a=values, b=steady))
    assert problem.startswith(f'data/x.csv:{line}: warning: {metric} of "a" is ')


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("loss", (12, 0.1, 0.08, 0.03)),
        ("loss", (0.31, 0.30, 0.3, 30, 0.3, 0.29)),
        ("value", (1.2, 0.5, 0.1, 0.02, 0.021, 2.303, 2.303, 2.303)),  # of ten classes, after a collapse
        ("episode_return", (0.5, 0.6, 0.9, 90, 92, 91)),
        ("response_length", (0.5, 0.5, 50, 50)),
        # Percent of a model before and after its training, and of one that fails.
        ("acc", (0.1, 12, 35, 60)),
        ("acc", (0.9, 85, 86, 87)),
        ("acc", (0.1, 0.2, 0.5, 1.2, 3, 10, 30, 60)),
        ("acc", (20, 50, 60, 63, 1.0, 1.0, 1.0)),
        ("score", (0.2, 0.9, 40, 80, 95)),
        ("rain", (0.3, 0, 5, 0.5, 0.3, 15.2, 12, 0.8, 0.3, 30, 2, 0.2, 15)),
    ],
)
def test_a_run_whose_values_span_both_is_none(tmp_path: Path, metric: str, values: tuple[float, ...]) -> None:
    """A loss, a return and the first steps of learning."""
    assert check(tmp_path, CURVE, write_curves(metric, a=values, b=values)) == []


def test_values_that_are_no_numbers_are_in_no_comparison(tmp_path: Path) -> None:
    """Infinite and tiny values, as a run that diverges has them."""
    values = (5e-324, 0.3, float("nan"), 0.5, float("inf"), 0.6, 62, 63)
    (problem,) = check(tmp_path, CURVE, write_curves("acc", a=values))
    assert problem.startswith("data/x.csv:8: warning: ")


def write_totals(**scores: tuple[float, ...]) -> list[str]:
    """A table of scores of benchmarks, by series."""
    rows = [f"{name},b{at},{value}" for name, values in scores.items() for at, value in enumerate(values)]
    return ["model,benchmark,score", *rows]


ANSWERS = [
    f"{name},q{number},{(number % 3 > 0) * factor}"
    for name, factor in (("A", 1), ("B", 100))
    for number in range(6)
]


@pytest.mark.parametrize(
    ("page", "rows", "settings"),
    [
        (SCORES, write_totals(A=(0.83,), B=(79.1,)), "form: totals\n"),
        (COMPARISON, write_totals(A=(0.8, 0.5), B=(79.1, 42.0), C=(60.5, 30.1)), "form: totals\n"),
        (COMPARISON, write_totals(A=(0.831, 50.1), B=(79.1, 42.2), C=(65.1, 30.1)), "form: totals\n"),
        (COMPARISON, ["model,mmlu,gsm8k", "A,0.83,0.71", "B,79.1,69.2"], ""),
        (CURVE, write_curves("acc", A=(0.1, 0.3, 0.5), B=(10, 20, 40)), ""),
        (SCORES, ["model,problem,score", *ANSWERS], "score_range: [0, 100]\n"),
    ],
)
def test_series_in_other_units_are_a_warning(
    tmp_path: Path, page: str, rows: list[str], settings: str
) -> None:
    """Once for all benchmarks, with a score of each."""
    (problem,) = check(tmp_path, page, rows, settings)
    assert all(part in problem for part in ("warning", 'for "A" and', 'for "B"'))


@pytest.mark.parametrize(
    ("page", "rows", "settings"),
    [
        # A weak model, a model that guesses, games and losses.
        (COMPARISON, write_totals(A=(0.8, 40.1), B=(79.1, 88.2)), "form: totals\n"),
        (COMPARISON, write_totals(A=(0.83, 40.1), B=(79.14, 88.2)), "form: totals\n"),
        (SCORES, write_totals(A=(1.0,), B=(79.1,)), "form: totals\n"),
        (COMPARISON, write_totals(A=(0.83, 9.5), B=(79.1, 88.2), C=(3.3, 20), D=(20, 70)), "form: totals\n"),
        (COMPARISON, ["model,Breakout,Pong,Freeway", "Random,1.7,0.2,0.0", "DQN,95.2,18.9,30.3"], ""),
        (
            COMPARISON,
            ["model,benchmark,ppl", "A,x,0.83", "B,x,79.1", "A,y,0.8", "B,y,80"],
            "form: totals\ncolumns: {score: ppl}\nlower_is_better: true\n",
        ),
        (CURVE, write_curves("return", A=(0, 0, 0.1, 0.9), B=(0, 20, 60, 90)), ""),
        (CURVE, write_curves("mse", A=(0.9, 0.5, 0.4), B=(80, 70, 50)), ""),
        (CURVE, write_curves("acc", A=(0.1, 0.1, 0.1), B=(0.1, 20, 40)), ""),
    ],
)
def test_series_that_differ_a_hundredfold_are_none(
    tmp_path: Path, page: str, rows: list[str], settings: str
) -> None:
    """Nothing shows that the unit differs."""
    assert check(tmp_path, page, rows, settings) == []
