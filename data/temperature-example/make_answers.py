# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make ``answers.csv``: synthetic answers of an invented model, sampled at six temperatures.

No model was run. A problem is solved with a chance that depends on its ease: at a low temperature nearly
always or never, so that more samples help little; at a high one answers vary, and some are wrong because of
it. The same file comes out each time: ``python data/temperature-example/make_answers.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

TEMPERATURES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
PROBLEMS, SAMPLES = 24, 8
LOSS = 1.1  # of ability, on the scale of log odds, for each unit of temperature


def main() -> None:
    """Write the answers, one row each."""
    random = np.random.default_rng(20261127)
    ease = random.normal(0.0, 1.6, PROBLEMS)
    with (Path(__file__).parent / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("model", "temperature", "problem", "sample", "score"))
        for temperature in TEMPERATURES:
            # The lower the temperature, the more certain is the right or the wrong answer.
            odds = (ease - LOSS * temperature**2) / (0.25 + temperature)
            chances = 1 / (1 + np.exp(-odds))
            for problem, chance in enumerate(chances, start=1):
                for sample in range(SAMPLES):
                    score = int(random.random() < chance)
                    rows.writerow(("Alder", temperature, f"p{problem:02}", sample, score))


if __name__ == "__main__":
    main()
