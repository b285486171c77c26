"""What a script logged, told to the tests: written by the writers' Python, read by the project's.

Standard library only, for both read it.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

SMALL_STEPS = 5
Answer: TypeAlias = tuple[str, str, str, "float | None", "str | None", "str | None"]


@dataclass
class ToldRun:
    """One run as it was logged.

    Attributes:
        path: what a user would name, relative to the folder.
        name, id, group: what was said or given by the writer; empty where the format keeps none.
        config: nested names joined by dots; None where it is not looked at.
        metrics: steps and values in the order of logging, as the format can keep them.
    """

    path: str
    name: str = ""
    id: str = ""
    group: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def note(self, metric: str, step: float, value: float) -> None:
        """Note that a value was logged."""
        self.metrics.setdefault(metric, []).append((float(step), float(value)))


@dataclass
class ToldEvaluation:
    """One evaluation as it was logged.

    Attributes:
        path: the file, relative to the folder.
        model, benchmark, seed: what was evaluated, and how.
        finished: whether it came to its end.
        answers: problem, sample, scorer, score or None, answer or None, right answer.
        totals: the metric with its scorer and reducer, its value, its standard error or None.
    """

    path: str
    model: str
    benchmark: str
    seed: str | None = None
    finished: bool = True
    answers: list[Answer] = field(default_factory=list)
    totals: list[tuple[str, float, float | None]] = field(default_factory=list)


@dataclass
class Told:
    """All that a script logged, and the versions of what wrote it."""

    writers: dict[str, str]
    runs: list[ToldRun] = field(default_factory=list)
    evaluations: list[ToldEvaluation] = field(default_factory=list)


def tell(
    write: Callable[[Path, bool], Sequence[ToldRun] | Sequence[ToldEvaluation]], *distributions: str
) -> None:
    """Run a script: its arguments are the folder to write to, the file to tell in, and ``--small``."""
    folder, file, *more = sys.argv[1:]
    Path(folder).mkdir(parents=True)
    told = Told({name: version(name) for name in distributions})
    for one in write(Path(folder), "--small" in more):
        if isinstance(one, ToldRun):
            told.runs.append(one)
        else:
            told.evaluations.append(one)
    Path(file).write_text(json.dumps(asdict(told)), encoding="utf-8")


def heard(file: Path) -> Told:
    """What a script told."""
    told = json.loads(file.read_text(encoding="utf-8"))
    runs = []
    for run in told["runs"]:
        metrics = {name: [(step, value) for step, value in rows] for name, rows in run["metrics"].items()}
        runs.append(ToldRun(**{**run, "metrics": metrics}))
    evaluations = []
    for one in told["evaluations"]:
        lists = {name: [tuple(row) for row in one[name]] for name in ("answers", "totals")}
        evaluations.append(ToldEvaluation(**{**one, **lists}))
    return Told(told["writers"], runs, evaluations)


def small_runs() -> Iterator[tuple[str, int]]:
    """Series and seed of the runs that are kept in ``tests/data``."""
    for series in ("base", "wide"):
        for seed in (1, 2):
            yield series, seed


def small_values(series: str, seed: int) -> Iterator[tuple[int, dict[str, float]]]:
    """Steps and metrics of such a run: sums of powers of two, which every format keeps exactly."""
    for step in range(SMALL_STEPS):
        loss = 2.0**-step + seed / 8 + (0.5 if series == "base" else 0)
        yield step, {"loss": loss, "eval/accuracy": step / 8 + seed / 16}


def odd_values(rng: random.Random, count: int) -> list[float]:
    """Numbers of every kind: common, huge, tiny, whole, none, infinite."""
    kinds: list[Callable[[], float]] = [
        lambda: rng.gauss(0, 1),
        lambda: rng.random() * 10.0 ** rng.randint(-300, 300),
        lambda: float(rng.randint(-5, 10**12)),
        lambda: math.nan,
        lambda: rng.choice([math.inf, -math.inf]),
        lambda: rng.choice([0.0, -0.0, 5e-324, 1.7976931348623157e308]),
    ]
    return [rng.choice(kinds)() for _ in range(count)]
