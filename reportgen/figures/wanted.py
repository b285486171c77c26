"""What one plot should be, with every default decided: the author's words meet the data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reportgen.directions import find_direction
from reportgen.settings.blocks import PanelSettings
from reportgen.words import lower_axis_title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.errors import SourceLocation
    from reportgen.figures.shape import ChartShape
    from reportgen.settings.blocks import (
        Annotation,
        CurveSettings,
        LineSettings,
        PanelsSettings,
        ReferenceLine,
    )


@dataclass(frozen=True, slots=True)
class DrawContext:
    """What a figure needs to know beyond its numbers.

    Attributes:
        place: the block, for problems.
        slots: palette slot of every series of the report.
        higher_is_better: whether a larger value of ``ranked_by`` is better, as the benchmark says; None if
            nothing is said.
        step_title: title of the x axis when the author gives none.
        step_is_time: True where steps are milliseconds since 1970 UTC.
        source: the source's title, for the caption.
        approximate: why its numbers are not exact, or None.
        get_chart_spec: the Vega-Lite specification of a shape, as JSON, made or kept.
        notes: sentences about the source that its readers should see.
        ranked_by: the metric that a benchmark is ranked by; None without one.
    """

    place: SourceLocation
    slots: Mapping[str, int]
    higher_is_better: bool | None
    step_title: str
    step_is_time: bool
    source: str
    approximate: str | None
    get_chart_spec: Callable[[ChartShape], str]
    notes: tuple[str, ...] = ()
    ranked_by: str | None = None

    def resolve_direction(self, metric: str, *said: bool | None) -> bool | None:
        """Whether a larger value of a metric is better; ``said`` by panel and block, before the benchmark.

        None where that is not known, or where neither is. What the benchmark says is of its own metric only.
        """
        ranks = metric == self.ranked_by
        return find_direction(metric, *said, self.higher_is_better if ranks else None, ranks=ranks)


@dataclass(frozen=True, slots=True)
class PlotSpec:
    """One plot as its author wants it.

    ``marked`` are annotations that data or claims ask for, most telling first: what does not fit into the
    plot is left out, while an author's own annotation that does not is an error. ``higher_is_better`` is None
    where that is not known, or where neither is.
    """

    id: str
    kind: str
    title: str
    caption: str | None
    metric: str
    x_title: str
    y_title: str
    x_domain: tuple[float, float] | None
    y_domain: tuple[float, float] | None
    x_scale: Literal["linear", "log", "log2"]
    y_scale: Literal["linear", "log"]
    order: str
    highlight: tuple[str, ...]
    height: int
    runs: bool | None
    higher_is_better: bool | None
    references: tuple[ReferenceLine, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    marked: tuple[Annotation, ...] = ()


def make_curve_spec(
    block_id: str,
    settings: CurveSettings,
    metric: str,
    context: DrawContext,
    marked: tuple[Annotation, ...] = (),
) -> PlotSpec:
    """A ``curve`` block's plot; ``marked`` is what its ``annotate`` came to, most telling first."""
    return _make_spec(
        block_id,
        "curve",
        settings,
        metric,
        context,
        title=settings.title or f"{metric} by {lower_axis_title(settings.x_title or context.step_title)}",
        y_title=settings.y_title or metric,
        y_domain=settings.y_domain,
        y_scale=settings.y_scale,
        references=settings.reference,
        annotations=settings.annotations,
        marked=marked,
    )


def make_panel_specs(block_id: str, settings: PanelsSettings, context: DrawContext) -> tuple[PlotSpec, ...]:
    """A ``panels`` block's plots, one for each metric."""
    panels = [PanelSettings(metric=m) if isinstance(m, str) else m for m in settings.metrics]
    return tuple(
        _make_spec(
            f"{block_id}-{number}",
            "panel",
            settings,
            panel.metric,
            context,
            title=panel.title or panel.metric,
            y_title=panel.y_title or panel.metric,
            y_domain=panel.y_domain,
            y_scale=panel.y_scale,
            better=panel.higher_is_better,
        )
        for number, panel in enumerate(panels, start=1)
    )


def _make_spec(
    figure_id: str,
    kind: str,
    settings: LineSettings,
    metric: str,
    context: DrawContext,
    *,
    title: str,
    y_title: str,
    y_domain: tuple[float, float] | None,
    y_scale: Literal["linear", "log"],
    references: tuple[ReferenceLine, ...] = (),
    annotations: tuple[Annotation, ...] = (),
    marked: tuple[Annotation, ...] = (),
    better: bool | None = None,
) -> PlotSpec:
    return PlotSpec(
        id=figure_id,
        kind=kind,
        title=title,
        caption=settings.caption if kind == "curve" else None,
        metric=metric,
        x_title=settings.x_title or context.step_title,
        y_title=y_title,
        x_domain=settings.x_domain,
        y_domain=y_domain,
        x_scale=settings.x_scale,
        y_scale=y_scale,
        order=settings.order,
        highlight=settings.highlight,
        height=settings.height,
        runs=settings.runs,
        higher_is_better=context.resolve_direction(metric, better, settings.higher_is_better),
        references=references,
        annotations=annotations,
        marked=marked,
    )
