"""Plots as values: settings, text, lines, axes and the context for drawing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from reportgen.core.directions import find_direction
from reportgen.core.errors import Diagnostic, Stage
from reportgen.core.model import Lead
from reportgen.core.words import lower_axis_title
from reportgen.figures.axis import position
from reportgen.figures.text import isolate_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reportgen.core.comparisons import Comparison, ProblemScores, RankGroup, RankRange, Score
    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.figures.axis import Axis, ScaleKind
    from reportgen.settings.block_parts import Annotation, ReferenceLine, ValueFormat
    from reportgen.settings.blocks import CurveSettings, PanelsSettings


Anchor: TypeAlias = Literal["start", "middle", "end"]
Look: TypeAlias = Literal["full", "plain", "pale", "before"]
"""How a line is drawn: as ever; without symbols; faint, as nothing of it changed; grey and dashed, behind
what it became."""
_LONGEST_UNIT = 3  # letters in a title that may be a unit alone, such as kWh or °C
ON_THE_RIGHT = " (right)"
"""What the name of a line on the right axis ends in where no axis is near; ``live-data.js`` writes it too."""


class RunLine(Struct, frozen=True):
    """Thin line of one run. Arrays are 1-d, of equal length; ``seed`` is None where the name says it."""

    name: str
    steps: FloatArray
    values: FloatArray
    seed: str | None = None


class SeriesLine(Struct, frozen=True):
    """Mean line, band and runs of one series. Arrays are 1-d, of equal length; NaN is a gap."""

    name: str
    slot: int | None
    steps: FloatArray
    values: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray
    runs: tuple[RunLine, ...] = ()
    raw: FloatArray | None = None
    look: Look = "full"
    dash: int | None = None  # index of its dash and symbol; those of its slot if None
    right: bool = False  # whether its values are on the right y axis
    shift: float = 0.0  # part of the plot's width by which all its marks are moved to the right
    bars: bool = False  # whether its intervals are a line at each point, not a band

    @property
    def label(self) -> str:
        """Its name in a legend, which says so if its axis is the right one."""
        return f"{self.name}{ON_THE_RIGHT}" if self.right else self.name


class Label(Struct, frozen=True):
    """Label of a mark and its offset in pixels (from the top if the mark is a vertical line)."""

    text: str
    short: str  # the text in a narrow picture
    anchor: Anchor  # the end of the label that is ``dx`` pixels to the right of the mark
    dx: float
    dy: float  # down to the baseline
    leader: tuple[float, float] | None = None  # ends of a thin line to a label away from its point


class Mark(Struct, frozen=True):
    """A reference line (``x`` or ``y``) or an annotation (``x`` and ``y``, with its series and slot).

    ``label`` is None for a horizontal line, whose text has a fixed place, and if there is no room.
    """

    text: str
    x: float | None = None
    y: float | None = None
    slot: int | None = None
    series: str | None = None
    label: Label | None = None
    right: bool = False  # whether ``y`` is on the right axis
    found: bool = False  # whether it is from data: without room for its words it is left out


NEAR = 10  # pixels from the right edge of a plot to names at its line ends, unless lines lead to some of them


class EndLabel(Struct, frozen=True):
    """Series name at the end of its line; heights are in pixels from the top of the plot."""

    text: str
    slot: int | None
    y: float
    dx: float = NEAR  # pixels from the right edge of the plot
    at: float | None = None  # height of the line's end, from which a leader starts; None without one
    step: float | None = None  # where the line ends, if that is before the edge

    def list_fields(self) -> dict[str, float | str]:
        """List what a live figure needs: ``dx`` and the ends of a leader only where there are leaders."""
        fields: dict[str, float | str] = {"text": self.text, "y": self.y}
        fields |= {"dx": self.dx} if self.dx != NEAR else {}
        fields |= {} if self.at is None else {"at": self.at}
        return fields | ({} if self.step is None else {"step": self.step})


class Margins(Struct, frozen=True):
    """Margins of the plot in pixels, left and right in multiples of 8 (each has a CSS class)."""

    top: int
    right: int
    bottom: int
    left: int


GAP, STRIP_HEIGHT = 36, 60  # pixels above the strip below a plot, for its title, and of the strip


class Plot(Struct, frozen=True):
    """Lines over two axes.

    ``height`` is that of the plot rectangle in pixels, without margins; the width is the page's. If
    ``symbols`` is True (few points), each point gets its series' symbol and lines are solid.
    """

    id: str
    x: Axis
    y: Axis
    lines: tuple[SeriesLine, ...]
    margins: Margins
    height: int
    symbols: bool
    clip: bool
    band: str
    whiskers: bool = False  # draw intervals as lines at their steps, and runs as points
    references: tuple[Mark, ...] = ()
    annotations: tuple[Mark, ...] = ()
    ends: tuple[EndLabel, ...] = ()
    right: Axis | None = None  # a second y axis; lines on it say so
    strip: Plot | None = None  # the difference of the two lines, drawn below over the same x axis

    @property
    def bottom(self) -> int:
        """Pixels from the top of the plot down to its x axis."""
        return self.height + (GAP + self.strip.height if self.strip else 0)

    def get_y(self, part: SeriesLine | Mark) -> Axis:
        """Return the y axis of a line or mark."""
        return self.right if part.right and self.right else self.y

    def find_pixel(self, value: float, axis: Axis | None = None) -> float:
        """Return the distance of a value from the top of the plot in pixels; of the left axis by default."""
        return (1 - position(axis or self.y, value)) * self.height


CURVES: Final = "curves"
"""Name of the rows of means and runs in the charts of files."""
MEANS, RUNS, ENDS, REFERENCES, ANNOTATIONS = "means", "runs", "ends", "references", "annotations"


class ChartShape(Struct, frozen=True):
    """Features that determine chart layers; plots of one shape differ only in data, titles and colours."""

    x_scale: ScaleKind
    y_scale: ScaleKind
    band: bool
    runs: bool
    raw: bool = False
    symbols: bool = False
    across: bool = False
    down: bool = False
    annotations: bool = False
    ends: bool = False
    whiskers: bool = False
    right: bool = False
    bars: bool = False


USUAL_SHAPE: Final = ChartShape("linear", "linear", band=True, runs=True, ends=True)
"""Shape of curves of several runs, named at their ends."""


def get_shape(plot: Plot) -> ChartShape:
    """Return the shape of a plot's chart."""
    return ChartShape(
        x_scale=plot.x.scale,
        y_scale=plot.y.scale,
        band=plot.band != "none",
        runs=any(line.runs for line in plot.lines),
        raw=any(line.raw is not None for line in plot.lines),
        symbols=plot.symbols,
        across=any(mark.y is not None for mark in plot.references),
        down=any(mark.x is not None for mark in plot.references),
        annotations=bool(plot.annotations),
        ends=bool(plot.ends),
        whiskers=plot.whiskers,
        right=plot.right is not None,
        bars=any(line.bars for line in plot.lines),
    )


class SourceContext(Struct, frozen=True, kw_only=True):
    """Context of any figure: its block and its source."""

    place: SourceLocation  # of the block, for diagnostics
    slots: Mapping[str, int]  # palette slot of every series of the report
    source: str  # the source's title, for the caption
    approximate: str | None  # why the numbers are not exact
    precision: float = 0.0  # by how much a value may be off, as the source says
    illustrative: bool = False  # whether the source says that its runs are invented
    notes: tuple[str, ...] = ()  # sentences on problems found in the source and handled


class DrawContext(SourceContext, frozen=True, kw_only=True):
    """Context for drawing a figure of curves."""

    higher_is_better: bool | None  # direction of ``ranked_by`` in the benchmark's settings, or None
    step_title: str  # title of the x axis unless the author gives one
    step_is_time: bool  # whether steps are milliseconds since 1970 UTC
    get_chart: Callable[[ChartShape], str]
    ranked_by: str | None = None  # the metric that a benchmark is ranked by
    full_names: Mapping[str, str] = {}  # of series that have a short name in the report
    logged_directions: Mapping[str, bool] = {}  # whether higher is better, of metrics whose data say it
    percent: frozenset[str] = frozenset()  # metrics that the page writes in percent

    def resolve_direction(self, metric: str, *settings: bool | None) -> bool | None:
        """Return whether larger values of a metric are better, by panel, block, benchmark, then data.

        Returns None if that is unknown, or if neither is. The benchmark decides only for its own metric.
        """
        ranks = metric == self.ranked_by
        stated = (*settings, self.higher_is_better if ranks else None, self.logged_directions.get(metric))
        return find_direction(metric, *stated, ranks=ranks)

    def is_percent(self, metric: str, *formats: ValueFormat | None) -> bool:
        """Return whether a metric is written in percent, by the formats of panel and block, then the page."""
        stated = next(filter(None, formats), None)
        return stated == "percent" if stated else metric in self.percent


class RightAxis(Struct, frozen=True):
    """The metrics on the right y axis, its title, and the direction that they share as in ``PlotSpec``."""

    metrics: tuple[str, ...]
    title: str
    higher_is_better: bool | None


class PlotSpec(Struct, frozen=True, kw_only=True):
    """Specification of one plot.

    ``marked`` are annotations from data or claims, most important first: those outside the plot are dropped,
    while an author's annotation outside it is an error. ``higher_is_better`` is None if unknown, or if
    neither is. Where there is a right y axis, this, all of y and reference lines are about the left one.
    """

    id: str
    kind: str
    title: str
    metric: str
    x_title: str
    y_title: str
    height: int
    higher_is_better: bool | None
    note: str = ""  # what the caption says first
    x_domain: tuple[float, float] | None = None
    y_domain: Literal["auto"] | tuple[float, float] | None = None
    x_scale: Literal["linear", "log", "log2"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    order: str = "given"
    highlight: tuple[str, ...] = ()
    runs: bool | None = None
    percent: bool = False  # write values in percent
    precision: float = 0.0  # values that are no further apart are level
    whiskers: bool = False  # steps are a few settings that were tried: nothing is known between them
    references: tuple[ReferenceLine, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    marked: tuple[Annotation, ...] = ()
    right: RightAxis | None = None

    @property
    def measured(self) -> str:
        """What was measured, in a sentence: the title of the y axis, unless that is only a unit."""
        is_word = sum(map(str.isalpha, self.y_title)) > _LONGEST_UNIT
        return lower_axis_title(self.y_title) if is_word and self.right is None else self.metric


def make_curve_spec(
    block_id: str,
    settings: CurveSettings,
    metric: str,
    context: DrawContext,
    marked: tuple[Annotation, ...] = (),
) -> PlotSpec:
    """Make the plot of a ``curve`` block; ``marked`` is the result of ``annotate``, most important first."""
    x_title = settings.x_title or context.step_title
    return PlotSpec(
        id=block_id,
        kind="curve",
        title=settings.title or f"{metric} by {lower_axis_title(x_title)}",
        metric=metric,
        x_title=x_title,
        y_title=settings.y_title or metric,
        higher_is_better=context.resolve_direction(metric, settings.higher_is_better),
        y_domain=settings.y_domain,
        y_scale=settings.y_scale,
        references=settings.reference,
        annotations=settings.annotations,
        marked=marked,
        percent=context.is_percent(metric, settings.format),
        precision=context.precision,
        **_copy_shared(settings),
    )


def make_panel_specs(block_id: str, settings: PanelsSettings, context: DrawContext) -> tuple[PlotSpec, ...]:
    """Make the plots of a ``panels`` block, one for each metric."""
    return tuple(
        PlotSpec(
            id=f"{block_id}-{number}",
            kind="panel",
            title=panel.title or panel.name,
            metric=panel.name,
            x_title=settings.x_title or context.step_title,
            y_title=panel.y_title or panel.name,
            higher_is_better=context.resolve_direction(
                panel.name, panel.higher_is_better, settings.higher_is_better
            ),
            y_domain=panel.y_domain,
            y_scale=panel.y_scale,
            percent=context.is_percent(panel.name, panel.format, settings.format),
            precision=context.precision,
            **_copy_shared(settings),
        )
        for number, panel in enumerate(settings.panels, start=1)
    )


def _copy_shared(settings: CurveSettings | PanelsSettings) -> dict[str, Any]:
    """Return the settings that curves and panels copy unchanged."""
    names = ("height", "x_domain", "x_scale", "order", "highlight", "runs")
    return {key: getattr(settings, key) for key in names}


class ScoreContext(SourceContext, frozen=True, kw_only=True):
    """Context of a block of scores."""

    benchmark: str  # the name, for titles
    higher_is_better: bool
    lowest: float  # range of scores; 0 to 1 is shown in percent and points
    highest: float
    # Protocol of each series: name, and pairs of label and text; empty if unknown.
    protocol: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    score_name: str = ""  # name of the score of an answer, such as ``exact_match``
    half: float | None = None  # half-width that determines the digits of all scores; None for each its own
    difference_half: float | None = None  # the same of all differences


def make_step_context(
    context: SourceContext,
    step_title: str,
    get_chart: Callable[[ChartShape], str],
    *,
    higher_is_better: bool | None,
) -> DrawContext:
    """Make the context of curves over something other than steps, such as k or a setting."""
    return DrawContext(
        **{name: getattr(context, name) for name in SourceContext.__struct_fields__},
        higher_is_better=higher_is_better,
        step_title=step_title,
        step_is_time=False,
        get_chart=get_chart,
    )


class BenchmarkScores(Struct, frozen=True, eq=False):
    """Results of one benchmark: scores, all pairs and groups."""

    problems: ProblemScores
    scores: tuple[Score, ...]
    comparisons: tuple[Comparison, ...]
    groups: tuple[RankGroup, ...]
    ranks: tuple[RankRange, ...] = ()
    lead: Lead = field(default=Lead(None, tested=False))
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # with the answers left out


class FigureText(Struct, frozen=True, kw_only=True):
    """Finished text of a figure, as in ``Figure``, with ``source`` and a short name of the band.

    ``of`` is what statements call the figure if not its id; lines that are ``comparable`` can be subtracted,
    and statements name the steps of a figure ``of_steps``.
    """

    id: str
    kind: str
    title: str
    subtitle: str
    summary: str
    source: str
    numbers: dict[str, Any]
    caption: str = ""
    band: str = ""
    of: str = ""
    comparable: bool = True
    of_steps: bool = True


def describe_source(context: SourceContext) -> str:
    """Return the source's title, and why its numbers are not exact, if so."""
    return f"{context.source} ({context.approximate})" if context.approximate else context.source


def name_caution(approximate: str | None) -> str:
    """Return why numbers are no plain measurement in a word or two: ``synthetic``, ``illustrative``."""
    return re.split("[,;:.]| from | by ", approximate or "")[0].strip()


def join_caption(
    sentences: Iterable[str], context: SourceContext, names: Sequence[str] = (), how: Iterable[str] = ()
) -> str:
    """Join non-empty sentences, the notes on the source, and the source itself.

    ``how`` are sentences on the method: a second line, which pages fold.
    """
    lines = (*sentences, *context.notes, f"Source: {describe_source(context)}."), how
    joined = (" ".join(filter(None, line)).replace("\n", " ") for line in lines)
    return isolate_names("\n".join(filter(None, joined)), names)


def make_diagnostic(context: SourceContext, message: str, next_step: str = "") -> Diagnostic:
    """Make a diagnostic of a figure, located at its block."""
    return Diagnostic(context.place, message, next_step, Stage.FIGURE)
