"""What a file or folder of data holds, as values, before any page is written about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.errors import Diagnostic


@dataclass(frozen=True, slots=True)
class DescribedRun:
    """One run of a source of measurements.

    Attributes:
        series, run, seed: its names in the report; the seed is None where it is unknown.
        path: its file or folder; empty where several runs stand in one table.
        metrics: how many it has.
        values: how many values it has, repeated and missing ones too.
        first, last: its steps, of all metrics together; None where it has none.
        begins, ends: times of its first and last value, milliseconds since 1970 UTC; None where they are
            not written.
        config: its hyperparameters and settings as its logger wrote them, nested names joined by dots.
    """

    series: str
    run: str
    seed: str | None
    path: str
    metrics: int
    values: int
    first: float | None
    last: float | None
    begins: float | None = None
    ends: float | None = None
    config: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DescribedMetric:
    """One metric of all runs together.

    Attributes:
        name: in the report.
        runs: how many have it.
        values: how many values were written, repeated and missing ones too.
        first, last: its steps; None where no value has one.
        every: the distance between neighbouring steps that most runs keep to; None where there is none.
        holes: steps that are missing between first and last where a run keeps to a distance.
        repeated: values that a later one of the same run and step replaces.
        missing, nan, infinite: values that are empty, not a number, or without bounds.
        without_step: values that have no step.
        low, high: the smallest and the largest finite value; None where there is none.
    """

    name: str
    runs: int
    values: int
    first: float | None
    last: float | None
    every: float | None
    holes: int
    repeated: int
    missing: int
    nan: int
    infinite: int
    without_step: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class DescribedEvaluation:
    """One run of one series on one benchmark.

    Attributes:
        series, run, seed, benchmark: its names; the benchmark is empty where the data name none.
        problems: how many were answered.
        answers: how many rows there are.
        fewest, most: answers to one problem.
        missing: answers without a score.
        repeated: answers that a later one to the same problem and sample replaces.
        mean: over the problems, of each the mean of its scores; None where there are none.
    """

    series: str
    run: str
    seed: str | None
    benchmark: str
    problems: int
    answers: int
    fewest: int
    most: int
    missing: int
    repeated: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class DescribedTotal:
    """A score of a whole benchmark as it was reported; see ``outcomes.ReportedScore``.

    Attributes:
        benchmark: empty where the data name none.
        n: how many problems it is over.
    """

    series: str
    run: str
    seed: str | None
    benchmark: str
    metric: str
    value: float | None
    stderr: float | None
    n: int | None


@dataclass(frozen=True, slots=True)
class Counts:
    """What the rows of a source hold."""

    runs: tuple[DescribedRun, ...] = ()
    metrics: tuple[DescribedMetric, ...] = ()
    evaluations: tuple[DescribedEvaluation, ...] = ()
    totals: tuple[DescribedTotal, ...] = ()


@dataclass(frozen=True, slots=True)
class Description:
    """A file or folder of data.

    Attributes:
        path: where it is, relative to the report or working folder if it is below it.
        name: what blocks call it.
        kind: ``measurements``, ``outcomes`` or ``totals``; empty where it cannot be read.
        format: what ``format:`` of ``source.yml`` calls it; empty where it cannot be read.
        title: the same as people call it.
        shape: what a row of its tables is, in words; empty of runs that a logger or harness wrote.
        read: every file that is read.
        size: their bytes together.
        unread: endings of files that are not read, and how many there are of each, most first.
        series: in order of first appearance.
        benchmarks: of outcomes and totals, as blocks call them; empty where the data name none.
        series_by, seed_by: how they were found, as words after "by"; empty where they are not known.
        step_name: what a step is called.
        step_is_time: whether steps are milliseconds since 1970 UTC.
        counts: what its rows hold.
        problems: errors where it cannot be read, otherwise what was irregular, guessed or left out.
        settings: keys of ``source.yml`` that are worth writing, and their values.
        repetitions: keys of ``source.yml`` that make series that only a number or seed tells apart runs of
            fewer series; empty where there are none of these.
        clusters: columns for ``source.yml`` that name one which may hold clusters of problems, if any.
        settings_file: where ``source.yml`` is or would be.
        has_settings: whether it is there.
    """

    path: str
    name: str
    kind: str = ""
    format: str = ""
    title: str = ""
    shape: str = ""
    read: tuple[str, ...] = ()
    size: int = 0
    unread: tuple[tuple[str, int], ...] = ()
    series: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    series_by: str = ""
    seed_by: str = ""
    step_name: str = ""
    step_is_time: bool = False
    counts: Counts = field(default_factory=Counts)
    problems: tuple[Diagnostic, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    repetitions: Mapping[str, object] = field(default_factory=dict)
    clusters: Mapping[str, object] = field(default_factory=dict)
    settings_file: str = ""
    has_settings: bool = False
