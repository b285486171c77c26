"""All kinds of blocks, and the settings of those that draw lines, tables and an author's own charts.

A kind says everything in which it differs from others in its entry of ``KINDS``, and in its settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable  # noqa: TC003 - msgspec reads it
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from msgspec import Struct
from pydantic import Field, model_validator

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.core.plugins import BLOCKS as PLUGINS
from reportgen.core.plugins import import_object, list_plugins, locate_failure
from reportgen.settings import score_blocks as scores
from reportgen.settings.base import Name, Number, Settings
from reportgen.settings.block_parts import (
    COLUMNS,
    FORMAT,
    PEAK,
    AltairSettings,
    Annotation,
    Band,
    BlockSettings,
    ChartSettings,
    ColouredBy,
    Column,
    DataSettings,
    Derived,
    Height,
    Metrics,
    ObservationsSettings,
    OverviewSettings,
    Peak,
    References,
    Scale,
    ValueFormat,
    VegaLiteSettings,
    X,
    YDomain,
    list_formulas,
)
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.core.plugins import Plugin

_PLAIN: Final = re.compile("[a-z][a-z0-9-]*")


class LineSettings(DataSettings):
    """What the blocks that draw lines share."""

    judges = False
    averages_runs = True

    band: Band = Field(
        Band.CI, description="What the band shows: ci, simultaneous, se, sd, range, iqr or none."
    )
    peak: Peak = Field(Peak.NONE, description=PEAK)
    smooth: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="0 for none, towards 1 for more; the raw mean stays as a faint line."
    )
    runs: bool | None = Field(
        None, description="Thin line for every run; drawn up to 10 runs a series if left out."
    )
    max_points: Annotated[int, Field(ge=10, le=10_000)] = Field(
        400, description="More distinct steps than this are binned."
    )
    other_x: Literal["auto"] | tuple[X, ...] = Field(
        (),
        description="What a reader can choose as x instead, each as in x; or auto for the step, tokens, "
        "samples, epochs and relative time, as far as the data have them.",
    )
    x_title: Name | None = Field(None, description="Title of the x axis.")
    x_domain: tuple[Number, Number] | None = Field(None, description="First and last x shown.")
    x_scale: Scale = "linear"
    order: Literal["given", "final", "best", "name"] = Field(
        "given", description="Order of the series: given in the data, or by final, best or name."
    )
    colour: ColouredBy = None
    highlight: tuple[Name, ...] = Field((), description="These series keep colour, the rest turn grey.")
    format: ValueFormat | None = Field(None, description=FORMAT)
    height: Height = 320

    def list_other_axes(self, known: tuple[str, ...]) -> tuple[Self, ...]:
        """Return the settings with each other x, without what the author placed along x.

        ``known`` are those that the data have, for ``auto``.
        """
        axes = known if self.other_x == "auto" else self.other_x
        return tuple(self.model_copy(update=self._clear_x() | {"x": x}) for x in axes)

    def _clear_x(self) -> dict[str, object]:
        return {"other_x": (), "x_title": None, "x_domain": None, "x_scale": "linear"}


class CurveSettings(LineSettings):
    """A ``curve`` block: one metric against the step, a line for each series."""

    metric: Metrics | None = Field(
        None,
        description="The metric, several as a list or by a pattern such as rewards/*, or NAME: FORMULA; the "
        "benchmark's if left out.",
    )
    facet: Literal["series"] | None = Field(
        None, description="series for small multiples: a panel for each series, with the others in grey."
    )
    axis: Literal["right"] | dict[Name, Literal["right"]] = Field(
        default_factory=dict,
        description="Metrics, of several, with a y axis of their own at the right: METRIC: right; or right "
        "for the last metric.",
    )
    y_title: Name | None = Field(None, description="Title of the y axis; the metric if left out.")
    y_domain: YDomain = None
    y_scale: Scale = "linear"
    reference: References = ()
    annotations: tuple[Annotation, ...] = Field((), description="Short texts at a step.")
    annotate: tuple[Name, ...] = Field(
        (), description="Mark what was found: observations, or the names of claims on the page."
    )
    difference: bool = Field(True, description="Draw the difference of two series below them.")
    baseline: Name | None = Field(
        None, description="A series: the lines are the differences of the others from it."
    )

    @model_validator(mode="after")
    def _check_lines(self) -> CurveSettings:
        keys = ("facet", "axis", "colour", "smooth", "annotations", "annotate")
        given = [name for name in keys if getattr(self, name)] + ["y_scale"] * (self.y_scale == "log")
        rest = f"so leave out {' and '.join(given)}" if given else "whose band is ci or none"
        if self.baseline and (given or self.band not in {Band.CI, Band.NONE}):
            raise ValueError(f"baseline draws differences, {rest}")
        coloured = [name for name in ("colour", "axis", "highlight") if getattr(self, name)]
        if self.facet and coloured:
            raise ValueError(f"facet: series sets the colours itself, so leave out {' and '.join(coloured)}")
        return self

    def _clear_x(self) -> dict[str, object]:
        across = tuple(line for line in self.reference if line.x is None)
        return super()._clear_x() | {"reference": across, "annotations": (), "annotate": ()}

    def list_figures(self, block_id: str) -> tuple[str, ...]:
        """See ``BlockSettings``: the block, then each of several metrics."""
        count = len(self.list_metrics())
        return (block_id, *(f"{block_id}-{number}" for number in range(1, count + 1) if count > 1))


class PanelSettings(Settings):
    """One panel of a ``panels`` block."""

    metric: Name | Derived = Field(description="The metric of this panel, or NAME: FORMULA.")
    title: Name | None = Field(None, description="The panel's title; the metric if left out.")
    y_title: Name | None = Field(None, description="Title of the y axis.")
    y_domain: YDomain = None
    y_scale: Scale = "linear"
    format: ValueFormat | None = Field(None, description="number or percent; the block's if left out.")
    higher_is_better: bool | None = Field(
        None, description="Whether a larger value is better; the block's if left out."
    )

    @model_validator(mode="before")
    @classmethod
    def _read_formula(cls, given: object) -> object:
        if isinstance(given, dict) and len(given) == 1 and not given.keys() & cls.model_fields.keys():
            return {"metric": given}
        return given

    @property
    def name(self) -> str:
        """The name of its metric."""
        return next(iter(list_formulas(self.metric)))


class PanelsSettings(LineSettings):
    """A ``panels`` block: several metrics of the same runs, side by side."""

    part_names = r"\d+"

    metrics: Annotated[tuple[Name | PanelSettings, ...] | Derived, Field(min_length=1)] = Field(
        description="The metrics, each a name, a pattern such as rewards/*, or a mapping with metric, title, "
        "y_title, y_domain, y_scale; or NAME: FORMULA."
    )
    height: Height = Field(220, description="Height of a panel in pixels.")

    @property
    def panels(self) -> tuple[PanelSettings, ...]:
        """Its panels; a name alone is a panel without further wishes."""
        if isinstance(self.metrics, dict):
            return tuple(PanelSettings(metric={name: text}) for name, text in self.metrics.items())
        return tuple(p if isinstance(p, PanelSettings) else PanelSettings(metric=p) for p in self.metrics)

    def list_formulas(self) -> dict[str, str]:
        """See ``BlockSettings``."""
        return list_formulas(tuple(panel.metric for panel in self.panels))

    def list_metrics(self) -> tuple[str, ...]:
        """See ``BlockSettings``: one for each panel."""
        return tuple(panel.name for panel in self.panels)

    def resolve_metrics(self, resolve: Callable[[Metrics], Metrics]) -> PanelsSettings:
        """See ``BlockSettings``: a pattern becomes a panel for each of its metrics."""
        panels: list[PanelSettings] = []
        negations = tuple(panel.name for panel in self.panels if panel.name.startswith("!"))
        others = [panel for panel in self.panels if panel.name not in negations]
        for panel in others or self.panels[:1]:
            named = panel.metric if isinstance(panel.metric, dict) else (panel.name, *negations)
            chosen = list_formulas(resolve(named))
            title = panel.title if len(chosen) == 1 else None
            panels += (
                panel.model_copy(update={"metric": {name: text} if text else name, "title": title})
                for name, text in chosen.items()
            )
        return self.model_copy(update={"metrics": tuple(panels)})

    def list_figures(self, block_id: str) -> tuple[str, ...]:
        """See ``BlockSettings``: the block, then each panel."""
        return (block_id, *(f"{block_id}-{number}" for number in range(1, len(self.panels) + 1)))


class TableSettings(DataSettings):
    """A ``table`` block: final, peak and mean of each series."""

    draws_figures = False
    judges = False
    averages_runs = True

    metric: Metrics | None = Field(
        None, description="The metric, several, or NAME: FORMULA; the benchmark's if left out."
    )
    metrics: tuple[Name | Derived, ...] | Derived = Field(
        (), description="Several metrics, one group of columns each, or NAME: FORMULA."
    )
    columns: tuple[Column, ...] = Field(
        ("final", "peak", "mean"), min_length=1, description=f"Which of {COLUMNS}."
    )
    baseline: Name | None = Field(
        None, description="A series: a last column has the difference of each other from it."
    )
    order: Literal["given", "final", "best", "name"] = Field("final", description="Order of the rows.")
    format: ValueFormat | None = Field(None, description=FORMAT)
    peak: Peak = Field(Peak.NONE, description=PEAK)

    def list_formulas(self) -> dict[str, str]:
        """See ``BlockSettings``."""
        return list_formulas(self.metrics) or super().list_formulas()

    def resolve_metrics(self, resolve: Callable[[Metrics], Metrics]) -> TableSettings:
        """See ``BlockSettings``."""
        metrics = resolve(self.metrics or self.metric or ())
        return self.model_copy(update={"metrics": (metrics,) if isinstance(metrics, str) else metrics})


class RunsTableSettings(TableSettings):
    """A ``runs-table`` block: a row for each run."""

    refused = frozenset({"by", "baseline"})
    averages_runs = False

    columns: tuple[Column, ...] = Field(("final", "peak"), min_length=1, description=f"Which of {COLUMNS}.")
    settings: tuple[Name, ...] = Field(
        (), description="Settings or columns shown, also patterns; those in which runs differ if left out."
    )

    @model_validator(mode="after")
    def _check_by(self) -> RunsTableSettings:
        if self.by:
            raise ValueError("a runs-table has a row for each run: name columns of settings with settings:")
        if self.baseline or any(column.startswith("vs ") for column in self.columns):
            raise ValueError("a runs-table has no differences of series: a table block has them")
        return self


class BlockKind(Struct, frozen=True):
    """A kind of block.

    Functions are ``module:function``, as in an entry point: what plans and draws is imported when needed.
    """

    settings: type[BlockSettings]
    shows: Any  # the type of what it shows, or a union of types
    # From the planned block, its settings and the inputs; an overview is drawn from the results of all pages.
    draw: str
    # From the block, its settings and page, and all sources.
    plan: str = "reportgen.draft.blocks.kinds:plan_requests"
    stored: bool = True  # whether it is cached
    charts: str = ""  # what matplotlib, seaborn and W&B call charts that show the same
    chart: Callable[..., Any] | None = None  # of another package: an Altair chart of a frame and the settings

    def __post_init__(self) -> None:
        if not hasattr(self.settings, "judges"):
            raise TypeError(f"{self.settings.__name__} does not say whether such a block judges")


class ChartBlock(Struct, frozen=True):
    """A kind of block that a package declares as an entry point in the group ``reportgen.blocks``.

    ``draw`` takes the rows of the block's source, a pandas frame, and its settings, and returns an Altair
    chart.
    """

    settings: type[ChartSettings]
    draw: Callable[..., Any]


KINDS: Final = {
    "curve": BlockKind(
        CurveSettings,
        Figure | Panels,
        "reportgen.draft.blocks.charts:draw_curve_block",
        plan="reportgen.draft.blocks.observations:plan_curve",
        charts="line lineplot lines plot timeseries",
    ),
    "panels": BlockKind(
        PanelsSettings,
        Panels,
        "reportgen.draft.blocks.charts:draw_panels_block",
        charts="subplots facet facets facetgrid grid",
    ),
    "table": BlockKind(TableSettings, ResultTable, "reportgen.draft.blocks.tables:draw_table"),
    "runs-table": BlockKind(
        RunsTableSettings,
        ResultTable,
        "reportgen.draft.blocks.tables:draw_runs_table",
        plan="reportgen.draft.blocks.kinds:plan_runs_table",
    ),
    "sweep": BlockKind(scores.SweepSettings, Stack, "reportgen.draft.blocks.sweeps:draw_sweep_block"),
    "ladder": BlockKind(scores.LadderSettings, Stack, "reportgen.draft.blocks.measures:draw_ladder_block"),
    "scatter": BlockKind(
        scores.ScatterSettings,
        Figure,
        "reportgen.draft.blocks.measures:draw_scatter_block",
        plan="reportgen.draft.blocks.kinds:plan_measures",
        charts="scatterplot points pareto",
    ),
    "distribution": BlockKind(
        scores.DistributionSettings,
        Figure,
        "reportgen.draft.blocks.measures:draw_distribution_block",
        plan="reportgen.draft.blocks.kinds:plan_measures",
        charts="hist histogram histplot box boxplot violin violinplot kde strip stripplot",
    ),
    "overview": BlockKind(OverviewSettings, Overview, "reportgen.draft.blocks.kinds:draw_overview"),
    "vega-lite": BlockKind(
        VegaLiteSettings,
        Figure,
        "reportgen.draft.blocks.charts:draw_vega_lite",
        charts="chart vega pie radar",
    ),
    # The author's function can change although its block does not.
    "altair": BlockKind(AltairSettings, Figure, "reportgen.draft.blocks.charts:draw_altair", stored=False),
    "scores": BlockKind(
        scores.ScoresSettings,
        Stack,
        "reportgen.draft.blocks.scores:draw_scores_block",
        charts="bar barplot bars barchart leaderboard",
    ),
    "passk": BlockKind(scores.PasskSettings, Figure, "reportgen.draft.blocks.scores:draw_passk_block"),
    "comparison": BlockKind(
        scores.ComparisonSettings, Stack, "reportgen.draft.blocks.across:draw_comparison_block"
    ),
    "problems": BlockKind(
        scores.ProblemsSettings, Stack, "reportgen.draft.blocks.scores:draw_problems_block"
    ),
    "heatmap": BlockKind(
        scores.HeatmapSettings,
        Figure,
        "reportgen.draft.blocks.heatmap:draw_heatmap",
        charts="matrix confusion imshow matshow",
    ),
    "flips": BlockKind(
        scores.FlipsSettings,
        Figure,
        "reportgen.draft.blocks.flips:draw_flips",
        charts="mcnemar regressions",
    ),
    "run-scores": BlockKind(scores.RunsSettings, Stack, "reportgen.draft.blocks.scores:draw_runs_block"),
    "plan": BlockKind(scores.PlanSettings, Stack, "reportgen.draft.blocks.scores:draw_plan_block"),
    "observations": BlockKind(
        ObservationsSettings,
        Observations,
        "reportgen.draft.blocks.observations:draw_observations",
        plan="reportgen.draft.blocks.observations:plan_observations",
    ),
}
"""Every kind of block of reportgen's own by the name of its fence."""


def list_kinds() -> tuple[str, ...]:
    """Return the names of all kinds of blocks, those of other packages last; their code is not imported.

    Raises ``ReportError`` for a name that two packages have.
    """
    return (*KINDS, *_list_installed())


def get_kind(name: str) -> BlockKind:
    """Return a kind of ``list_kinds``; raise ``ReportError`` if its package cannot be loaded."""
    return KINDS.get(name) or _load_kind(name, _list_installed()[name])


def is_authored(kind: str) -> bool:
    """Return whether a kind of figure is a chart of an author's, whose live view is as they made it."""
    own = KINDS.get(kind)
    return issubclass(own.settings, ChartSettings | VegaLiteSettings) if own else kind in _list_installed()


def _list_installed() -> Mapping[str, Plugin]:
    plugins = list_plugins(PLUGINS)
    for name, plugin in plugins.items():
        if name in KINDS or not _PLAIN.fullmatch(name):
            message = f'the package {plugin.package} cannot call a block "{name}"'
            advice = f"Uninstall it, or let it use a word of small letters that is none of {', '.join(KINDS)}"
            raise ReportError(Diagnostic(SourceLocation(plugin.package), message, advice, Stage.SETTINGS))
    return plugins


@cache
def _load_kind(name: str, plugin: Plugin) -> BlockKind:
    with report_failures(name, SourceLocation(plugin.package), "cannot be loaded"):
        block = import_object(plugin.value)
        if not isinstance(block, ChartBlock):
            raise TypeError(f"{plugin.value} is no ChartBlock of reportgen.blocks")
        if not issubclass(block.settings, ChartSettings):
            raise TypeError("its settings are no ChartSettings of reportgen.blocks")
    return BlockKind(block.settings, Figure, "reportgen.draft.blocks.charts:draw_installed", chart=block.draw)


@contextmanager
def report_failures(name: str, place: SourceLocation, what: str = "failed") -> Iterator[None]:
    """Turn whatever the code of a block of another package raises into a ``ReportError``."""
    try:
        yield
    except ReportError:
        raise
    except (Exception, SystemExit) as error:
        plugin = _list_installed()[name]
        cause = f"{type(error).__name__}: {shorten(str(error))}{locate_failure(error, plugin.value)}"
        message = f'the block "{name}" of the package {plugin.package} {what}: {cause}'
        advice = "Install another version of the package, or uninstall it"
        raise ReportError(Diagnostic(place, message, advice, Stage.FIGURE)) from error
