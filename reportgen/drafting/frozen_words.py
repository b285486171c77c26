"""What a frozen table holds, in lines that a reviewer reads in a diff, as Parquet is not text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reportgen.description import DescribedEvaluation, DescribedMetric, DescribedRun, DescribedTotal
    from reportgen.model import Source


def contents(root: Path, source: Source) -> tuple[str, ...]:
    """A line for every run and metric of a source, or for every evaluation, in the order of the data.

    Numbers have six digits; whether anything at all changed is told by the hashes of the files.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    from reportgen.read.describing.described_answers import (  # noqa: PLC0415 - imports the database
        described_answers,
        described_totals,
    )
    from reportgen.read.describing.described_curves import described_curves  # noqa: PLC0415

    if source.kind == "outcomes":
        return tuple(map(_evaluation, described_answers(root, source)))
    if source.kind == "totals":
        return tuple(map(_total, described_totals(root, source)))
    runs, metrics = described_curves(root, source)
    return (*map(_run, runs), *map(_metric, metrics))


def _run(one: DescribedRun) -> str:
    metrics, values = counted(one.metrics, "metric"), counted(one.values, "value")
    return f"{_named(one)}: {metrics}, {values}, {_steps(one.first, one.last)}"


def _metric(one: DescribedMetric) -> str:
    ends = f" from {_number(one.low)} to {_number(one.high)}" if one.low is not None else ""
    said = f"{counted(one.runs, 'run')}, {counted(one.values, 'value')}{ends}, {_steps(one.first, one.last)}"
    odd = _odd(
        *((one.repeated, "repeated"), (one.missing, "empty"), (one.nan, "NaN"), (one.infinite, "infinite")),
        (one.without_step, "without a step"),
    )
    return ", ".join([f"metric {one.name}: {said}", *odd])


def _evaluation(one: DescribedEvaluation) -> str:
    mean = "no score" if one.mean is None else f"mean {_number(one.mean)}"
    said = f"{counted(one.problems, 'problem')}, {counted(one.answers, 'answer')}, {mean}"
    odd = _odd((one.missing, "without a score"), (one.repeated, "repeated"))
    return ", ".join([f"{_named(one)}{_on(one.benchmark)}: {said}", *odd])


def _total(one: DescribedTotal) -> str:
    score = "no score" if one.value is None else _number(one.value)
    error = f"standard error {_number(one.stderr)}" if one.stderr is not None else "no standard error"
    problems = f", {counted(one.n, 'problem')}" if one.n is not None else ""
    return f"{_named(one)}{_on(one.benchmark)}: {one.metric} {score}, {error}{problems}"


def _named(one: DescribedRun | DescribedEvaluation | DescribedTotal) -> str:
    seed = f", seed {one.seed}" if one.seed is not None else ""
    run = f"run {one.run}" if one.run else ""
    inside = f"{run}{seed}".removeprefix(", ")
    return f"{one.series} ({inside})" if inside else one.series


def _on(benchmark: str) -> str:
    return f" on {benchmark}" if benchmark else ""


def _odd(*counts: tuple[int, str]) -> Iterator[str]:
    return (f"{count:,} {what}" for count, what in counts if count)


def _steps(first: float | None, last: float | None) -> str:
    if first is None or last is None:
        return "no steps"
    return f"step {_number(first)}" if first == last else f"steps {_number(first)} to {_number(last)}"


def _number(value: float | None) -> str:
    """Six digits, and all of a whole number such as a step or a time."""
    if value is None:
        return "unknown"
    whole = math.isfinite(value) and value == round(value) and abs(value) < 1e15  # noqa: PLR2004 - exact
    return str(round(value)) if whole else f"{value:.6g}"
