"""Values passed between stages: frozen and without logic.

A missing value is ``None`` with a reason elsewhere, or NaN inside a numeric array; it is never 0, and no
NaN reaches an output file.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct, field

from reportgen.core.cache import CachedText  # noqa: TC001 - the schema of cached figures needs it at run time
from reportgen.core.statements import Observation  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    import narwhals as nw
    import numpy as np
    import numpy.typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]


class SourceFile(Struct, frozen=True):
    """One file of a source: path relative to the project, size in bytes, SHA-256 in hex."""

    path: str
    size: int
    sha256: str


class Measurements(Struct, frozen=True):
    """A lazy tidy table of measured values.

    ``frame`` has columns ``series: str, run: str, seed: str | null, metric: str, step: float64,
    value: float64, row: int64``; ``row`` is the order in which rows were written. If the input gives its own
    interval, it also has ``low, high: float64``, or ``stderr, n: float64`` with ``n`` null if not given.
    Null, NaN and infinite values are still included. An empty cell in a wide table of several metrics is not
    a measurement, since such tables have rows for one metric alone.
    """

    frame: nw.LazyFrame[Any]
    step_name: str  # the column used as ``step``, for the axis title
    step_is_time: bool  # whether ``step`` is milliseconds since 1970 UTC
    # "low and high", "minimum and maximum", "stderr", "std and n", "standard errors of scores"
    given_interval: str | None
    # Series in order of first appearance in a sample: late series of a large file may be missing.
    order: tuple[str, ...]
    colours: Mapping[str, str] = field(default_factory=dict)  # setting of each series that gives its colour
    settings: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)  # of each group of runs
    notes: tuple[str, ...] = ()  # sentences about rows that were selected, grouped and computed
    # Call it before drawing over x: raises a ``ReportError`` if x goes back, or some runs do not have it.
    check_x: Callable[[], None] = field(default=lambda: None)
    # Enter this context to read the frame: it turns errors in files into a ``ReportError`` with their lines.
    reading: Callable[[], AbstractContextManager[None]] = field(default=nullcontext)
    # Call it if a run and step has several rows: raises a ``ReportError`` unless it is known which to use.
    check_repeats: Callable[[], None] = field(default=lambda: None)
    # Call it before averaging: raises a ``ReportError`` if runs of one series differ in words.
    check_runs: Callable[[], None] = field(default=lambda: None)
    # Call it if steps go back within a run: raises one if they count two things.
    check_counters: Callable[[], None] = field(default=lambda: None)
    # Series, run and seed of every run of the same rows, also of those without any of the metrics.
    list_runs: Callable[[], tuple[tuple[str, str, str | None], ...]] = field(default=tuple)


class Estimate(Struct, frozen=True):
    """A number with its interval; ``low`` and ``high`` are None if no interval can be known."""

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str = ""


class GivenInterval(Struct, frozen=True):
    """Intervals given by the input at each step of a run, or NaN at steps without one.

    Either ``low`` and ``high``, or ``stderr`` with or without ``n``, its number of runs, or all four: a score
    over ``n`` problems, which ``low`` and ``high`` bound. A bin has the means
    over its steps, and the smallest ``n``: intervals of neighbouring steps are not independent, so averaging
    does not narrow them.
    """

    low: FloatArray | None = None
    high: FloatArray | None = None
    stderr: FloatArray | None = None
    n: FloatArray | None = None


class Run(Struct, frozen=True):
    """One metric of one run after reduction: 1-d arrays of equal length, steps strictly increasing.

    The arrays are empty if the run has no finite value.
    """

    series: str
    run: str
    seed: str | None
    steps: FloatArray
    values: FloatArray
    low: FloatArray | None = None  # the smallest value in each bin, ``high`` the largest; None without bins
    high: FloatArray | None = None
    smoothed: FloatArray | None = None
    given: GivenInterval | None = None
    counts: IntArray | None = None  # the steps in each bin; None without bins
    not_finite: FloatArray | None = (
        None  # steps with a value that is no finite number, if the rows were fetched
    )


class ReducedMetric(Struct, frozen=True):
    """Every run of one metric with one value per step, and a record of the reduction."""

    metric: str
    runs: tuple[Run, ...]
    replaced: int  # rows replaced by a later row of the same run and step
    dropped: int  # values that are missing or not finite; ``empty`` of them had no value at all
    bins: int | None  # None if steps are not binned
    given_interval: str | None
    empty: int = 0
    # Series of which no run has the metric, and the number of their runs.
    absent: Mapping[str, int] = field(default_factory=dict)
    # The runs before their steps were binned; empty if they were not, or if a database or a cluster did it.
    every_step: tuple[Run, ...] = ()


class Formula(Struct, frozen=True):
    """Arithmetic over named metrics, as written and in postfix order.

    A part is a number, ``$`` and a name, one of ``+ - * /``, ``neg`` for a sign, or ``exp`` or ``log``.
    """

    text: str
    parts: tuple[float | str, ...]
    names: tuple[str, ...]
    unit: str = ""


class LineKey(Struct, frozen=True):
    """What a line stands for if it is named after more than its series.

    ``dash`` is the index of its metric or, if there is one metric, of the line among those of its colour.
    """

    series: str
    metric: str
    colour: str
    dash: int


class Curve(Struct, frozen=True):
    """Estimates of one series of one metric at each step, as 1-d arrays of equal, nonzero length."""

    series: str
    steps: FloatArray
    values: FloatArray
    low: FloatArray  # NaN if no interval can be known, like ``high``
    high: FloatArray
    n: IntArray  # number of runs at each step
    runs: tuple[Run, ...] = ()
    raw: FloatArray | None = None  # the unsmoothed centre of a smoothed curve
    given: bool = False  # whether ``low``, ``high`` and ``n`` come from the input
    equal: int = 0  # number of steps without a band because all runs are equal
    # The highest and lowest unsmoothed values, with intervals that account for the selection of their steps.
    extremes: tuple[Estimate, Estimate] | None = None
    key: LineKey | None = None  # in a plot of several metrics, where ``series`` is the name of the line
    gaps: FloatArray | None = None  # steps inside at which runs have values and none of them is finite
    every_step: Curve | None = None  # the curve before its steps were binned, if they were and it is known
    ends: tuple[float, float] | None = None  # the smallest and largest possible value, infinite if open
    illustrative: bool = False  # its runs are invented: only its values say anything


class Lead(Struct, frozen=True):
    """The series that a test finds better than every other one, or None."""

    series: str | None
    tested: bool  # not for a ``reason``, or of a series without others
    reason: str = ""
    rival: str = ""  # the other series if there is only one
    single: bool = False  # each side has one run
    pair: tuple[str, str] = ("", "")  # the best series and the one that decides
    difference: Estimate | None = None  # between these two, if tested
    fragile: bool = False  # whether answers that are left out could overturn it


class Ending(Struct, frozen=True):
    """Final value, peak and mean of one series of one metric, with the steps of the first two."""

    series: str
    final: Estimate
    final_step: float
    peak: Estimate
    peak_step: float
    mean: Estimate
    runs: int  # number of runs of the series; ``n`` of an estimate may be smaller
    readings: int  # number of steps from which the peak was selected


class CurveSet(Struct, frozen=True):
    """All series of one metric that have values, aligned, with the options that produced them."""

    metric: str
    curves: tuple[Curve, ...]
    band: str
    level: float
    smooth: float = 0.0
    exact: bool = True  # no interpolation: the runs of each series share their steps
    replaced: int = 0
    dropped: int = 0
    bins: int | None = None
    given_interval: str | None = None  # None unless a curve's band comes from the input
    empty: int = 0
    given_ignored: bool = False  # the input gave an interval, but the band across several runs was used
    # Pairs of series and run without a finite value, which are not drawn; the run is None for a whole series.
    without_values: tuple[tuple[str, str | None], ...] = ()
    missing: int = 0  # number of runs without a finite value, also of ``absent`` series
    absent: tuple[str, ...] = ()  # series that are not drawn since none of their runs has the metric
    # The series that ends above all others, and the one that ends below.
    leads: tuple[Lead, Lead] = (Lead(None, tested=False), Lead(None, tested=False))
    # Pairs of 1 / df and the quantile of Student's t for ``level``, for differences of two curves.
    quantiles: tuple[tuple[float, float], ...] = ()


class Observed(Struct, frozen=True, omit_defaults=True):
    """How much a figure was computed from; None for what its kind of data does not have."""

    series: int
    runs: int
    problems: int | None = None
    dropped: int | None = None  # values that are missing or not finite
    replaced: int | None = None  # rows replaced by a later row of the same run and step, or sample


class Origin(Struct, frozen=True):
    """The first 16 hex digits of two SHA-256: of paths and contents of data files, and of settings."""

    inputs: str
    definition: str


class Table(Struct, frozen=True):
    """The data table of a figure as formatted text: header cells and rows of equal length."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class Figure(Struct, frozen=True, tag=True):
    """A finished figure as values. Its long texts are in files once the cache has stored them."""

    id: str  # unique on its page; also the file stem in ``figures/<page>/``
    kind: str  # ``curve``, ``panel``, ``vega-lite``, ``altair``
    title: str
    subtitle: str  # metric, band, n
    caption: str  # sentences: n, band and level, smoothing, alignment, dropped values
    summary: str  # one sentence: which series leads, where, and how certain that is
    inline_svg: str | CachedText  # the static picture for the page, fluid in width, coloured by CSS variables
    file_svg: str | CachedText  # a standalone picture with title, legend and resolved colours
    table_data: Table | bytes  # shown in ``<details>``; encoded once the cache has stored it, see ``table``
    csv: str | CachedText  # the points drawn, before thinning
    spec: str | CachedText  # a complete Vega-Lite specification, as JSON with a newline at the end
    view: str  # Vega-Lite that the live figure is compiled from; shared by figures of one shape
    payload: str | CachedText  # JSON that makes the figure live in the browser (see ``site/assets/live.js``)
    numbers_data: dict[str, Any] | bytes  # for ``report.json``; as ``table_data``
    legend: tuple[tuple[str, int | None], ...] = ()  # series and palette slot; None is the muted grey
    dashes: tuple[int, ...] = ()  # of the entries of the legend, if they do not follow from the slots
    words: str = ""  # what the author put before the caption, in Markdown; so in other parts of a block
    plot_class: str = ""  # CSS classes for the margins of the plot
    other_views: tuple[str, ...] = ()  # those for other x axes in the payload
    # Scripts with the texts of samples, which the browser loads once a cell is opened.
    samples: tuple[str | CachedText, ...] = ()
    has_pdf: bool = False  # whether a PDF of the standalone picture is written, too
    # Where it comes from, and the SHA-256 of its table's texts, for the record of an archive.
    origin: Origin = Origin("", "")
    table_sha256: str = ""

    @property
    def table(self) -> Table:
        """The data table. Most figures of a build are unchanged, and it takes less memory encoded."""
        data = self.table_data
        return msgspec.msgpack.decode(data, type=Table) if isinstance(data, bytes) else data

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers for ``report.json``."""
        data = self.numbers_data
        return msgspec.json.decode(data, type=dict[str, Any]) if isinstance(data, bytes) else data

    @property
    def numbers_as_json(self) -> dict[str, Any] | msgspec.Raw:
        """The numbers to encode as JSON, which need not be decoded for it."""
        return msgspec.Raw(self.numbers_data) if isinstance(self.numbers_data, bytes) else self.numbers_data


class Panels(Struct, frozen=True, tag=True):
    """Figures side by side with a common legend and pointer."""

    id: str
    title: str
    caption: str
    figures: tuple[Figure, ...]
    words: str = ""


class Cell(Struct, frozen=True):
    """A finished table cell; ``sort`` is its sort key, or None if it has none.

    ``mark`` is a CSS class, without ``rg-``, that repeats the text's meaning: ``better``, ``worse``,
    ``unclear``, ``missing``, ``self``, ``heat-0`` to ``heat-5``. ``link`` leads to a figure of the page.
    """

    text: str
    sort: float | None = None
    mark: str = ""
    link: str = ""


class ResultTable(Struct, frozen=True, tag=True):
    """A table with a row for each series, starting with its name.

    ``sorted_by`` is the head of the column that orders the rows, and the order as ``aria-sort`` names it.
    ``folded`` is the line that unfolds a table whose main numbers a figure above it shows, otherwise empty.
    A ``complete`` one replaces the figure's data table; of a ``compact`` one, first lines of cells are shown.
    """

    id: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str
    csv: str
    folded: str = ""
    complete: bool = False
    compact: bool = False
    sorted_by: tuple[str, str] = ("", "")
    words: str = ""


class Strip(Struct, frozen=True):
    """The values of a benchmark's series, one below the other: a picture with a line for each row."""

    svg: str
    ends: tuple[str, str]  # of the scale
    rows: tuple[tuple[str, int | None, str, str], ...]  # series, palette slot, value and interval
    rest: str = ""  # how many more series share the last line, and how far they reach


class BenchmarkResult(Struct, frozen=True):
    """Results on a benchmark as formatted text, for the head of its page and its row in overviews."""

    name: str
    page: str
    claim: str  # who leads, in sentences
    difference: str = ""  # that decides, with its interval; of each benchmark that the page compares
    lines: tuple[tuple[str, str], ...] = ()  # the same for overviews: verdict and difference or finding
    measure: str = ""  # what its values are
    size: str = ""  # how many runs, problems and samples
    best: str = ""  # the best values of curves, and how many they were picked from
    flag: str = ""  # why its numbers are no plain measurement, in a word or two
    facts: tuple[tuple[str, str], ...] = ()  # label and text: verdict, best, runs, date, protocol
    strip: Strip | None = None
    title: str = ""  # of its page
    published: str = ""  # the date of its page
    date: str = ""


class Overview(Struct, frozen=True):
    """An ``overview`` block with a row for each benchmark."""

    id: str
    title: str
    results: tuple[BenchmarkResult, ...]


class Stack(Struct, frozen=True):
    """A block of several parts, one below the other: figures, tables and paragraphs (strings).

    ``parts`` have their own ids, ``<id>`` or ``<id>-<word>``; ``numbers`` go into ``report.json``.
    """

    id: str
    title: str
    subtitle: str
    parts: tuple[Figure | ResultTable | str, ...]
    caption: str
    numbers: dict[str, Any] = field(default_factory=dict)
    words: str = ""


class Observations(Struct, frozen=True):
    """An ``observations`` block: findings of rules, strongest first; ``more`` are left out."""

    id: str
    title: str
    items: tuple[Observation, ...]
    caption: str
    more: int = 0
    words: str = ""


Shown: TypeAlias = Figure | Panels | ResultTable | Overview | Stack | Observations


class CurveRequest(Struct, frozen=True):
    """Curves requested by a block, with the page's defaults filled in; equal requests share one answer."""

    source: str
    metric: str
    x: str | None
    series: tuple[str, ...] | None
    where: tuple[tuple[str, tuple[str | int | float | bool, ...]], ...]  # columns and their allowed values
    max_points: int | None  # None for every step
    smooth: float
    band: str
    level: float
    peak: str = "none"  # kind of interval of a peak
    formula: str = ""  # of a derived metric, as written; empty for a metric of the source
    x_formula: str = ""  # of x, as written; empty for the step, a column or a metric
    by: tuple[str, ...] = ()  # settings or columns whose values are the series
    colour: str | None = None  # the setting or column that colours lines
    value: str = ""  # ``final``, ``best`` or ``mean`` if each run counts with that number alone
    log: bool = False  # whether bins are equally wide on a log axis
    order: str = ""  # the setting that numbers runs which are attempts of one search


class ScoreRequest(Struct, frozen=True):
    """Outcomes requested by a block and how to score them, defaults filled in; equal ones share an answer."""

    source: str
    benchmark: str | None  # a value of the benchmark column; None if the data have no such column
    series: tuple[str, ...] | None
    where: tuple[tuple[str, tuple[str | int | float | bool, ...]], ...]
    metric: str  # with its k: ``pass@8``
    level: float
    higher_is_better: bool
    family_blocks: int = 1  # number of blocks of the page in the same family of comparisons
    by: tuple[str, ...] = ()  # settings or columns whose values are the series
    estimand: str = "problems like these"
    adjust: str = "fwer"


Request: TypeAlias = CurveRequest | ScoreRequest
