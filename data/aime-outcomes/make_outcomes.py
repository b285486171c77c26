# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make ``outcomes.csv``: synthetic answers behind iteration 900 of ``../aime/runs.csv``.

The figure that ``../aime`` comes from gives one mean a checkpoint and no single answer. This table shows
what the answers could have looked like: for each of the five runs of both configurations 30 problems with
16 samples each. Of the 480 samples of a run as many are right as come nearest to the run's Pass@1 at
iteration 900, and over the five runs as many as come nearest to the mean read off the figure. Which
problems are solved is drawn at random: how the two configurations differ by problem shows nothing about
them.

Run it from anywhere: ``python data/aime-outcomes/make_outcomes.py``. The same file comes out each time.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

PROBLEMS = 30
SAMPLES = 16
ITERATION = 900

# The five runs of ../aime/runs.csv at this iteration.
PASS_AT_1 = {
    "v10-l1-length-4096": (0.305396, 0.330923, 0.328294, 0.318864, 0.321523),
    "v1-l1-length-4096": (0.254551, 0.292511, 0.282261, 0.289446, 0.281231),
}
# Standard deviations on the scale of log odds: of the problems, of what each configuration and each run
# makes of a problem.
EASE, FIT, RUN_FIT = 2.5, 0.8, 0.4


def generator(*names: str) -> np.random.Generator:
    """Random numbers that belong to these names and to nothing else."""
    return np.random.default_rng([2024, *"/".join(names).encode()])


def right_samples(pass_at_1: tuple[float, ...]) -> np.ndarray:
    """How many samples of each run are right: whole numbers whose sum is the whole number nearest to all."""
    upto = np.rint(np.cumsum(pass_at_1) * PROBLEMS * SAMPLES)
    return np.diff(upto, prepend=0).astype(int)


def scores(series: str, run: int, right: int) -> np.ndarray:
    """The score of each sample, shape (problems, samples): the ``right`` ones with the highest log odds."""
    odds = generator("ease").normal(0, EASE, PROBLEMS)
    odds = odds + generator(series, "fit").normal(0, FIT, PROBLEMS)
    own = generator(series, str(run))
    odds = odds + own.normal(0, RUN_FIT, PROBLEMS)
    drawn: np.ndarray = odds[:, None] + own.logistic(size=(PROBLEMS, SAMPLES))
    ranked = np.argsort(np.argsort(-drawn, axis=None, kind="stable"), kind="stable")
    return (ranked < right).reshape(drawn.shape).astype(int)


def main() -> None:
    """Write ``outcomes.csv`` beside this file."""
    with (Path(__file__).parent / "outcomes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("series", "seed", "problem", "sample", "score"))
        for series, pass_at_1 in PASS_AT_1.items():
            for run, right in enumerate(right_samples(pass_at_1), start=1):
                for problem, samples in enumerate(scores(series, run, right), start=1):
                    for sample, score in enumerate(samples, start=1):
                        writer.writerow((series, run, f"p{problem:02}", sample, score))


if __name__ == "__main__":
    main()
