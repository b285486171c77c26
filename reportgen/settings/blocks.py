"""Settings of fenced blocks: a model for each kind, and the table of kinds."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from reportgen.settings.base import COLOURS, Colours, Name, Number, Settings, Sources
from reportgen.settings.block_parts import (
    COLUMNS,
    FORMAT,
    PEAK,
    Annotation,
    Band,
    BlockSettings,
    ColouredBy,
    Column,
    Derived,
    GroupedBy,
    Height,
    Level,
    Metrics,
    Peak,
    PointDomain,
    References,
    RowFilter,
    Rule,
    Scale,
    ShownSeries,
    ValueFormat,
    X,
    YDomain,
    find_sources,
    list_formulas,
)
from reportgen.settings.score_blocks import (
    ComparisonSettings,
    PasskSettings,
    PlanSettings,
    ProblemsSettings,
    RunsSettings,
    ScoresSettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class DataSettings(BlockSettings):
    """What every block that draws a source may say."""

    data = "curves"
    has_topics = True

    source: Sources | None = Field(
        None, description="A file or folder of data/, or a list of several; the page's benchmark if left out."
    )
    x: X | None = Field(
        None,
        description="The column or metric used as x, tokens, samples, epochs, relative time, wall time, or "
        "FORMULA: NAME; the step if left out.",
    )
    series: ShownSeries = None
    filter: RowFilter = Field(default_factory=dict)
    colours: Colours = Field(default_factory=dict, description=COLOURS)
    by: GroupedBy = None
    level: Level = 0.95
    higher_is_better: bool | None = Field(
        None,
        description="Whether a larger value is better; if left out as the benchmark says of its metric, "
        "otherwise inferred from the metric's name.",
    )

    @model_validator(mode="after")
    def _check_domains(self) -> Self:
        for name in ("x_domain", "y_domain"):
            domain = getattr(self, name, None)
            if isinstance(domain, tuple) and not domain[0] < domain[1]:
                raise ValueError(f"{name} must begin with the smaller number")
        return self


class LineSettings(DataSettings):
    """What the blocks that draw lines share."""

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
        "given", description="Order of the series: as in the data, by final value, by best value, by name."
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

    @model_validator(mode="after")
    def _check_facet(self) -> CurveSettings:
        given = [name for name in ("colour", "axis", "highlight") if getattr(self, name)]
        if self.facet and given:
            raise ValueError(f"facet: series sets the colours itself, so leave out {' and '.join(given)}")
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


class SweepSettings(DataSettings):
    """A ``sweep`` block: one value of each run, or its score, against a setting."""

    draws_one_metric = True
    part_names = "table"

    x: Name = Field(description="The setting or column: a number or a word, the same throughout a run.")
    metric: Name | Derived | None = Field(
        None, description="The metric, of scores mean or such as pass@8; the benchmark's if left out."
    )
    benchmark: Name | None = Field(None, description="Of scores: only rows of this benchmark.")
    value: Literal["final", "best", "mean"] = Field("final", description="final, best or mean of each run.")
    x_scale: Literal["linear", "log"] | None = Field(
        None, description="linear or log; log where the values span a factor of 10 if left out."
    )
    mark: Literal["dot", "bar"] = Field("dot", description="dot, or bar for a bar from 0 in each row.")
    x_title: Name | None = Field(None, description="Title of the x axis; the setting if left out.")
    x_domain: tuple[Number, Number] | None = Field(None, description="First and last x shown.")
    y_title: Name | None = Field(None, description="Title of the y axis; value and metric if left out.")
    y_domain: YDomain = None
    y_scale: Scale = "linear"
    reference: References = ()
    format: ValueFormat | None = Field(None, description=FORMAT)
    height: Height = 320


class ScatterSettings(DataSettings):
    """A ``scatter`` block: two measures of each series, such as its score and its cost."""

    draws_one_metric = True
    has_topics = False

    x: Name = Field(description="The other metric; of scores tokens, seconds or cost of an answer.")
    metric: Name | None = Field(
        None, description="The metric, of scores mean or such as pass@8; the benchmark's if left out."
    )
    benchmark: Name | None = Field(None, description="Of scores: only rows of this benchmark.")
    x_higher_is_better: bool | None = Field(
        None, description="Whether a larger x is better; inferred from its name if left out."
    )
    x_scale: Literal["linear", "log"] | None = Field(
        None, description="linear or log; log where the values span a factor of 10 if left out."
    )
    x_title: Name | None = Field(None, description="Title of the x axis; the measure if left out.")
    x_domain: PointDomain = None
    y_title: Name | None = Field(None, description="Title of the y axis; the metric if left out.")
    y_domain: PointDomain = None
    y_scale: Scale = "linear"
    fit: Literal["linear", "power"] | None = Field(
        None, description="linear for a straight line through the points, power for a power law."
    )
    colour: ColouredBy = None
    format: ValueFormat | None = Field(None, description=FORMAT)
    height: Height = 320


class DistributionSettings(DataSettings):
    """A ``distribution`` block: the last value of each run, or the score of each problem."""

    draws_one_metric = True
    has_topics = False

    metric: Name | None = Field(
        None, description="The metric, of scores mean or such as pass@8; the benchmark's if left out."
    )
    benchmark: Name | None = Field(None, description="Of scores: only rows of this benchmark.")
    mark: Literal["strip", "histogram"] | None = Field(
        None, description="strip, a dot for each value, or histogram; by the number of values if left out."
    )
    order: Literal["given", "best", "name"] = Field("given", description="Order of the rows.")
    y_title: Name | None = Field(None, description="Title of the axis of values; the metric if left out.")
    y_domain: PointDomain = None
    colour: ColouredBy = None
    format: ValueFormat | None = Field(None, description=FORMAT)


class OverviewSettings(BlockSettings):
    """An ``overview`` block: one card for each benchmark."""

    draws_figures = False

    benchmarks: tuple[Name, ...] = Field((), description="Only these, in this order; all if left out.")


class VegaLiteSettings(BlockSettings):
    """A ``vega-lite`` block: a specification of the author's own, with ``data: {source: NAME}``."""

    source: Name | None = Field(
        None, description="A file or folder of data/, written as data: {source: NAME}."
    )
    summary: str | None = Field(None, description="One sentence that says what the chart shows.")
    spec: dict[str, Any] = Field(description="The specification: everything else in the body.")

    def list_sources(self) -> tuple[str, ...]:
        """See ``BlockSettings``: its own, then each ``data: {source: NAME}``, outermost first."""
        return tuple(dict.fromkeys((*super().list_sources(), *find_sources(self.spec))))


class AltairSettings(DataSettings):
    """An ``altair`` block: a function of the report's own folder that returns a chart."""

    has_topics = False

    function: Annotated[str, Field(pattern=r"^[^:]+\.py:[A-Za-z_]\w*$")] = Field(
        description="file.py:function, the file relative to mkdocs.yml; it is given the source's frame."
    )
    summary: str | None = Field(None, description="One sentence that says what the chart shows.")

    @model_validator(mode="after")
    def _check_function(self) -> AltairSettings:
        file = PurePosixPath(self.function.partition(":")[0].replace("\\", "/"))
        if file.is_absolute() or ".." in file.parts:
            raise ValueError("function names a file outside the report's folder")
        return self

    def list_names(self) -> tuple[str, ...]:
        """See ``BlockSettings``."""
        return (self.title or "", self.function.rpartition(":")[2])


class ObservationsSettings(BlockSettings):
    """An ``observations`` block: what rules find in a figure's data, in sentences."""

    draws_figures = False

    of: Name | None = Field(
        None,
        description="Id of a figure or panels on the page, or a source; the page's benchmark if left out.",
    )
    count: Annotated[int, Field(ge=1, le=100)] = Field(
        8, description="The largest number of sentences, the most important first."
    )
    rules: tuple[Rule, ...] = Field((), description="Only these rules; all if left out.")


BLOCKS: dict[str, type[BlockSettings]] = {
    "curve": CurveSettings,
    "panels": PanelsSettings,
    "table": TableSettings,
    "runs-table": RunsTableSettings,
    "sweep": SweepSettings,
    "scatter": ScatterSettings,
    "distribution": DistributionSettings,
    "overview": OverviewSettings,
    "vega-lite": VegaLiteSettings,
    "altair": AltairSettings,
    "scores": ScoresSettings,
    "passk": PasskSettings,
    "comparison": ComparisonSettings,
    "problems": ProblemsSettings,
    "runs": RunsSettings,
    "plan": PlanSettings,
    "observations": ObservationsSettings,
}
