"""What a file or folder of data holds, as values, before any page is written about it."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the schema of stored descriptions needs it at run time
from dataclasses import dataclass, field

from reportgen.core.errors import Diagnostic  # noqa: TC001 - as above


@dataclass(frozen=True, slots=True)
class DescribedRun:
    """One run of a source of measurements; None where something is not known.

    Attributes:
        path: its file or folder; empty where several runs stand in one table.
        metrics, values: how many it has; repeated and missing values count.
        first, last: its steps, of all metrics together.
        begins, ends: times of its first and last value, milliseconds since 1970 UTC.
        config: its settings as its logger wrote them, nested names joined by dots.
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
    """One metric of all runs together; None where something is not known.

    Attributes:
        runs, values: how many have it, and how many were written; repeated and missing values count.
        every: the distance between neighbouring steps that most runs have.
        holes: steps that are missing between ``first`` and ``last`` in runs with such a distance.
        repeated: values that a later one of the same run and step replaces.
        missing, nan, infinite: values that are empty, not a number, or infinite.
        without_step: values that have no step.
        low, high: the smallest and the largest finite value.
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
    """One run of one series on one benchmark, whose name is empty where the data name none.

    Attributes:
        answers: how many rows there are.
        fewest, most: answers to one problem.
        missing: answers without a score.
        repeated: answers that a later one to the same problem and sample replaces.
        mean: over the problems, of each problem's mean score; None without scores.
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
    """A reported score of a benchmark over ``n`` problems; see ``outcomes.ReportedScore``."""

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
        path: relative to the report or working folder if it is below it.
        name: what blocks call it.
        kind: ``measurements``, ``outcomes`` or ``totals``; empty where it cannot be read, as is ``format``.
        format, title: what ``source.yml`` and people call the format.
        shape: what a row of its tables is, in words; empty for runs that a logger or harness wrote.
        read, size: every file that is read, and their bytes together.
        unread: endings of files that are not read, and how many there are of each, most first.
        series: in order of first appearance.
        benchmarks: of outcomes and totals, as blocks call them; empty where the data name none.
        series_by, seed_by: how they were found, as words after "by"; empty where they are not known.
        problems: errors where it cannot be read, otherwise what was irregular, guessed or left out.
        settings: keys of ``source.yml`` that are worth writing, and their values.
        repetitions: keys that make series which differ in a number or seed only runs of fewer series.
        clusters: keys that name a column which may hold clusters of problems.
        settings_file, has_settings: where ``source.yml`` is or would be, and whether it is there.
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
