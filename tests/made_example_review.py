"""Two states of the example report: ``main`` is as it is, ``retrained-v10`` what a branch could make of it.

On the branch v10 was trained again from iteration 1100 on, v1 has two more seeds, and v10 was sampled again
at iteration 900. The words of the AIME page follow, and one sentence of MATH500 is reworded; those of the
overview were forgotten. ``content/guide/review.md`` shows what a review of it says.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from example_site import copy_example, run

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE: Final = "main"
AFTER: Final = "retrained-v10"

_WORDS: Final = Path(__file__).parent / "example_review/words.patch"
_V10: Final = "v10-l1-length-4096"
_V1: Final = "v1-l1-length-4096"
# How far each of five seeds is above what it was.
_GAINS: Final = {
    "1200": (0.0305, 0.0205, 0.022, 0.018, 0.024),
    "1300": (0.0115, 0.0045, 0.0035, 0.0105, 0.005),
    "1400": (0.019, 0.018, 0.012, 0.013, 0.018),
}

Rows = list[dict[str, str]]


def write_states(folder: Path) -> None:
    """Write both states without the guide, each into a folder of its name."""
    copy_example(folder / BEFORE, "guide")
    root = copy_example(folder / AFTER, "guide")
    changed = run(root, "git", "apply", str(_WORDS))
    assert changed.returncode == 0, f"change {_WORDS} with the pages of the example:\n{changed.stderr}"
    _change_rows(root / "data/aime/runs.csv", _train_again)
    _change_rows(root / "data/aime-outcomes/outcomes.csv", _sample_again)


def _change_rows(file: Path, change: Callable[[Rows], Rows]) -> None:
    rows = change(list(csv.DictReader(file.read_text("utf-8").splitlines())))
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _train_again(rows: Rows) -> Rows:
    """Three checkpoints of v10 are others; seeds 6 and 7 of v1 lie on both sides of its mean."""
    before: dict[str, list[float]] = {}
    for row in rows:
        if row["series"] == _V1:
            before.setdefault(row["iteration"], []).append(float(row["pass@1"]))
        elif row["iteration"] in _GAINS:
            gain = _GAINS[row["iteration"]][int(row["seed"]) - 1]
            row["pass@1"] = f"{float(row['pass@1']) + gain:.6f}"
    for seed, share in (("6", 0.8), ("7", -0.8)):
        for iteration, values in before.items():
            # The first two checkpoints are said to be equal to those of v10.
            mean = fmean(values) + (0.001 if int(iteration) > 200 else 0)
            value = f"{mean + share * (values[0] - fmean(values)):.6f}"
            rows.append({"series": _V1, "seed": seed, "iteration": iteration, "pass@1": value})
    return rows


def _sample_again(rows: Rows) -> Rows:
    """Each answer of v10 is drawn again: right as often as its run was on the problem."""
    draw = random.Random(2)  # noqa: S311 - answers, not secrets
    drawn = [row for row in rows if row["series"] == _V10]
    scores: dict[tuple[str, str], list[int]] = {}
    for row in drawn:
        scores.setdefault((row["seed"], row["problem"]), []).append(int(row["score"]))
    for row in drawn:
        row["score"] = str(int(draw.random() < fmean(scores[row["seed"], row["problem"]])))
    return rows
