# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make ``outcomes.csv``: synthetic answers of four invented models to two invented benchmarks.

No model was run. Each model has a true score on each benchmark, in ``MODELS``, such that there are three
kinds of pairs, which a comparison has to tell apart:

- different: Aspen is better than the others by more than the benchmarks' resolution;
- tied: Birch and Cedar have the same true score, with strengths on different problems;
- below resolution: Damson is worse than Birch and Cedar, by less than the benchmarks can show.

The chance that a model solves a problem is 1 / (1 + exp(-(ability + ease + fit))): ``ease`` belongs to the
problem and falls with its level, ``fit`` to the problem and the model. The ability is the number that
makes the mean chance over the benchmark's problems the true score. Samples are then drawn independently.
A wrong answer is the problem's common mistake or one of three rare ones.

Run it from anywhere: ``python data/model-comparison/make_outcomes.py``. The same file comes out each time,
and each random number depends only on the names of what it is for.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

COLUMNS = (
    "benchmark",
    "model",
    "problem",
    "subject",
    "level",
    "sample",
    "answer",
    "gold",
    "score",
    "tokens",
)
SAMPLES = 16
BENCHMARKS = {"Contest": 30, "Textbook": 40}  # number of problems
# model: true score on each benchmark, typical number of tokens of an answer
MODELS = {
    "Aspen": ({"Contest": 0.60, "Textbook": 0.84}, 5200),
    "Birch": ({"Contest": 0.43, "Textbook": 0.71}, 2600),
    "Cedar": ({"Contest": 0.43, "Textbook": 0.71}, 2400),
    "Damson": ({"Contest": 0.40, "Textbook": 0.68}, 1500),
}
SUBJECTS = ("algebra", "geometry", "number theory", "combinatorics")
LEVELS = 5
EASE_BY_LEVEL = 1.6  # each level is this much harder, on the scale of log odds
EASE_SPREAD = 1.2
FIT_SPREAD = 0.8
COMMON_MISTAKE = 0.55  # of the wrong answers to a problem


def generator(*names: str) -> np.random.Generator:
    """Random numbers that belong to these names and to nothing else."""
    return np.random.default_rng([2026, *"/".join(names).encode()])


def chances(benchmark: str, model: str) -> np.ndarray:
    """The chance of a model to solve each problem of a benchmark; their mean is its true score."""
    count = BENCHMARKS[benchmark]
    ease = -EASE_BY_LEVEL * (levels(count) - (LEVELS + 1) / 2)
    ease += generator(benchmark, "ease").normal(0, EASE_SPREAD, count)
    odds = ease + generator(benchmark, model, "fit").normal(0, FIT_SPREAD, count)
    low, high = -20.0, 20.0
    for _ in range(100):
        ability = (low + high) / 2
        solved = 1 / (1 + np.exp(-(ability + odds)))
        low, high = (ability, high) if solved.mean() < MODELS[model][0][benchmark] else (low, ability)
    return solved


def levels(count: int) -> np.ndarray:
    """The level of each problem, 1 to 5, each equally often: the problems are listed by difficulty."""
    return 1 + np.arange(count) * LEVELS // count


def answers_to(problem: str) -> list[int]:
    """The right answer to a problem, its common mistake and three rare ones: different numbers below 1000."""
    return [int(answer) for answer in generator(problem, "answers").choice(1000, size=5, replace=False)]


def rows(benchmark: str, model: str) -> list[tuple[object, ...]]:
    """All samples of a model on a benchmark."""
    draw = generator(benchmark, model, "samples")
    found: list[tuple[object, ...]] = []
    for number, chance in enumerate(chances(benchmark, model)):
        problem = f"{benchmark.lower()}-{number + 1:02}"
        subject, level = SUBJECTS[number % len(SUBJECTS)], levels(BENCHMARKS[benchmark])[number]
        gold, common, *rare = answers_to(problem)
        for sample in range(1, SAMPLES + 1):
            solved = draw.random() < chance
            wrong = common if draw.random() < COMMON_MISTAKE else rare[draw.integers(3)]
            # Problems that a model finds hard make it write more.
            tokens = MODELS[model][1] * np.exp(draw.normal(0.8 * (0.5 - chance), 0.35))
            answer = gold if solved else wrong
            found.append(
                (benchmark, model, problem, subject, level, sample, answer, gold, int(solved), int(tokens))
            )
    return found


def main() -> None:
    """Write ``outcomes.csv`` beside this file."""
    with (Path(__file__).parent / "outcomes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for benchmark in BENCHMARKS:
            for model in MODELS:
                writer.writerows(rows(benchmark, model))


if __name__ == "__main__":
    main()
