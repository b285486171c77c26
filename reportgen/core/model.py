"""The values that travel between stages: frozen, without logic.

Missing is ``None`` with a reason elsewhere, or NaN inside a numeric array; it is never 0, and no NaN
reaches an output file.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.core.cache import CachedText  # noqa: TC001 - the schema of cached figures needs it at run time
from reportgen.core.statements import Observation  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import narwhals as nw


FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file behind a source: path relative to the project, size in bytes, SHA-256 in hex."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Measurements:
    """A lazy tidy table of measured values.

    ``frame`` has columns ``series: str, run: str, seed: str | null, metric: str, step: float64,
    value: float64, row: int64``; ``row`` is the order of writing. Where the input gives its own interval it
    also has ``low, high: float64``, or ``stderr, n: float64`` with ``n`` null where it is not given. Null,
    NaN and infinite values are still in, except that an empty cell in a wide table of several metrics is no
    measurement: such tables have rows for one metric alone.
    """

    frame: nw.LazyFrame[Any]
    step_name: str  # the column that became ``step``, for the axis title
    step_is_time: bool  # whether ``step`` is milliseconds since 1970 UTC
    given_interval: str | None  # "low and high", "minimum and maximum", "stderr", "std and n"
    # Series in order of first appearance, as far as a sample shows: late ones of a large file may be missing.
    order: tuple[str, ...]
    # Enter it to read the frame: errors of the files are then a ``ReportError`` with every file and line.
    reading: Callable[[], AbstractContextManager[None]] = field(
        default=nullcontext, repr=False, compare=False
    )
    # Call it where a run and step has several rows: raises a ``ReportError`` unless it is known which counts.
    check_repeats: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and how sure we are; ``low`` and ``high`` are None where nobody can know."""

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class GivenInterval:
    """The interval that the input itself gives, at each step of a run; NaN where it gives none.

    Either ``low`` and ``high``, or ``stderr`` with or without ``n``, the number of runs behind it. In a
    bin these are the means over its steps, for ``n`` the smallest: intervals of neighbouring steps are
    not independent, so averaging does not make them narrower.
    """

    low: FloatArray | None = None
    high: FloatArray | None = None
    stderr: FloatArray | None = None
    n: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One metric of one run after reduction: 1-d arrays of equal length, steps strictly increasing.

    The arrays are empty where the run has no finite value.
    """

    series: str
    run: str
    seed: str | None
    steps: FloatArray
    values: FloatArray
    low: FloatArray | None = None  # the smallest value of each bin, ``high`` the largest; None without bins
    high: FloatArray | None = None
    smoothed: FloatArray | None = None
    given: GivenInterval | None = None


@dataclass(frozen=True, slots=True)
class ReducedMetric:
    """Every run of one metric, one value a step, and what reduction did on the way."""

    metric: str
    runs: tuple[Run, ...]
    replaced: int  # rows that a later row of the same run and step replaced
    dropped: int  # values that are not finite or missing; ``empty`` of them had no value at all
    bins: int | None  # None where every step stays
    given_interval: str | None
    empty: int = 0


@dataclass(frozen=True, slots=True)
class Curve:
    """One series of one metric: an estimate at each step. Arrays are 1-d and of equal length, 1 or more."""

    series: str
    steps: FloatArray
    values: FloatArray
    low: FloatArray  # NaN where no interval can be known, as ``high`` is
    high: FloatArray
    n: IntArray  # runs that support each step
    runs: tuple[Run, ...] = ()
    raw: FloatArray | None = None  # the unsmoothed centre of a smoothed curve
    given: bool = False  # whether ``low``, ``high`` and ``n`` are the input's own
    equal: int = 0  # steps without a band because all their runs are equal
    # The highest and the lowest unsmoothed value, with intervals that allow for their steps being picked.
    extremes: tuple[Estimate, Estimate] | None = None


@dataclass(frozen=True, slots=True)
class Lead:
    """The series that a test finds better than every other one, or None.

    ``tested`` is False where a pair that decides it could not be tested, as with one run: then only readings
    can be compared.
    """

    series: str | None
    tested: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """One series of one metric in three numbers, with the steps at which two of them stand."""

    series: str
    final: Estimate
    final_step: float
    peak: Estimate
    peak_step: float
    mean: Estimate
    runs: int  # runs of the series; an estimate's own ``n`` may be smaller
    readings: int  # steps that the peak was picked from


@dataclass(frozen=True, slots=True)
class CurveSet:
    """All series of one metric that have values, aligned, with the choices that made them."""

    metric: str
    curves: tuple[Curve, ...]
    band: str
    level: float
    smooth: float = 0.0
    exact: bool = True  # nothing was interpolated: the runs of each series share their steps
    replaced: int = 0
    dropped: int = 0
    bins: int | None = None
    given_interval: str | None = None  # None unless a curve's band is the input's own
    empty: int = 0
    given_ignored: bool = False  # the input gave an interval, and the band across several runs was used
    # Pairs of series and run that have no finite value and are not drawn; the run is None for a whole series.
    without_values: tuple[tuple[str, str | None], ...] = ()
    # Who ends above all others, and who below.
    leads: tuple[Lead, Lead] = (Lead(None, tested=False), Lead(None, tested=False))


@dataclass(frozen=True, slots=True)
class Table:
    """The table behind a figure, in finished words: header cells and rows of equal length."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A finished figure, as values. Its long texts wait in files once the cache has them."""

    id: str  # unique on its page; also the file stem in ``figures/<page>/``
    kind: str  # ``curve``, ``panel``, ``vega-lite``, ``altair``
    title: str
    subtitle: str  # metric, band, n
    caption: str  # sentences: n, band and level, smoothing, alignment, what was dropped
    summary: str  # one sentence: who leads, where, how sure
    inline_svg: str | CachedText  # the static picture for the page, fluid in width, coloured by CSS variables
    file_svg: str | CachedText  # the same as a picture of its own, with title, legend and resolved colours
    table: Table  # what ``<details>`` shows
    csv: str | CachedText  # the points drawn, before thinning
    spec: str | CachedText  # a complete Vega-Lite specification, as JSON with a newline at the end
    view: str  # what the live figure is compiled from, as Vega-Lite; figures of one shape share it
    payload: str | CachedText  # JSON that makes the figure live in the browser (see ``site/assets/live.js``)
    numbers: dict[str, Any]  # for ``report.json``
    legend: tuple[tuple[str, int | None], ...] = ()  # series and palette slot; None is the muted grey
    plot_class: str = ""  # CSS classes that give the plot its margins


@dataclass(frozen=True, slots=True)
class Panels:
    """Figures side by side that share a legend and a pointer."""

    id: str
    title: str
    caption: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A finished table cell; ``sort`` orders its column, and is None where there is nothing to order by.

    ``mark`` is a CSS class without its ``rg-`` for the meaning that the text has, too: ``better``, ``worse``,
    ``unclear``, ``missing``, ``self``.
    """

    text: str
    sort: float | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table: a row for each series, its name first."""

    id: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str
    csv: str


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """What happened on a benchmark, in finished words, for its page's head and its card."""

    name: str
    page: str
    description: str
    leader: str  # the series that a test finds better than all others; empty where there is none
    score: str  # what else its card says
    facts: tuple[tuple[str, str], ...]  # a label and a text: at the end, best, runs, date, protocol
    spark: str  # a small SVG
    legend: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """An ``overview`` block: one card for each benchmark."""

    id: str
    title: str
    cards: tuple[BenchmarkResult, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """A block of several parts, one below the other: figures, tables and paragraphs (texts).

    ``parts`` have ids of their own, ``<id>`` or ``<id>-<word>``; ``numbers`` go into ``report.json``.
    """

    id: str
    title: str
    subtitle: str
    parts: tuple[Figure | ResultTable | str, ...]
    caption: str
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observations:
    """An ``observations`` block: what rules found, most telling first; ``more`` are left out."""

    id: str
    title: str
    items: tuple[Observation, ...]
    caption: str
    more: int = 0


Shown: TypeAlias = Figure | Panels | ResultTable | Overview | Stack | Observations


@dataclass(frozen=True, slots=True)
class CurveRequest:
    """Which curves a block asks for, with the page's defaults filled in. Equal requests have one answer."""

    source: str
    metric: str
    x: str | None
    series: tuple[str, ...] | None
    where: tuple[tuple[str, tuple[str | int | float | bool, ...]], ...]  # columns and their allowed values
    max_points: int | None  # None where every step counts
    smooth: float
    band: str
    level: float
    peak: str = "none"  # which interval a peak has


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """Which outcomes a block asks for and how they are scored, with the page's defaults filled in.

    Equal requests have one answer.
    """

    source: str
    benchmark: str | None  # a value of the benchmark column; None where the data have none
    series: tuple[str, ...] | None
    where: tuple[tuple[str, tuple[str | int | float | bool, ...]], ...]
    metric: str  # with its k: ``pass@8``
    level: float
    higher_is_better: bool
    family_blocks: int = 1  # blocks of the page that are one family of comparisons with this one


Request: TypeAlias = CurveRequest | ScoreRequest
