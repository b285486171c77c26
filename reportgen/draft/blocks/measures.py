"""Drawing of ``scatter`` and ``distribution`` blocks: values of runs, or of problems, without their steps."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from reportgen.core.comparisons import Verdict
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import Estimate, ReducedMetric, Run
from reportgen.core.words import quote_names
from reportgen.draft.blocks.draw_inputs import make_curve_context
from reportgen.draft.blocks.results import place_score_errors
from reportgen.figures.curves.bands import describe_scale
from reportgen.figures.distribution import Distribution, Sample, draw_distribution
from reportgen.figures.scatter.figure import draw_scatter
from reportgen.figures.scatter.words import Scatter, ScatterPoint
from reportgen.settings.score_blocks import split_metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.comparisons import Comparison, Fit
    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import CurveRequest, Figure, Stack
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.settings.score_blocks import (
        DistributionSettings,
        LadderSettings,
        ScatterSettings,
        SweepSettings,
    )
    from reportgen.statistics.compare import Cost


_COSTS: Final[tuple[Cost, ...]] = ("tokens", "seconds", "cost")
_WELCH = (
    "Intervals: Student's t over runs{}. Front: Welch's t over runs; what is equal in all runs of each side "
    "is compared as it is."
)
_PAIRED = (
    "Intervals over problems: of scores on the logit scale, of {} Student's t. Front: the test of the "
    "scores' comparisons, and paired t over problems for {}."
)


def draw_scatter_block(planned: PlannedBlock, settings: ScatterSettings, inputs: DrawInputs) -> Figure:
    """Draw a ``scatter`` block; raise ``ReportError`` if no series has both measures."""
    return (_draw_scores if planned.outcomes else _draw_metrics)(planned, settings, inputs)


def _draw_metrics(planned: PlannedBlock, settings: ScatterSettings, inputs: DrawInputs) -> Figure:
    """Draw the final values of two metrics, each run a pair of them."""
    from reportgen.statistics.verdicts import find_front  # noqa: PLC0415 - computes

    context, (y, x) = make_curve_context(planned, inputs), planned.curves
    (first, second), level = (_list_finals(one, inputs) for one in (x, y)), settings.level
    pairs = {key: (first[key], value) for key, value in second.items() if key in first}
    if not pairs:
        said = f'no run has both "{x.metric}" and "{y.metric}"'
        step = "Name metrics of the same runs"
        raise ReportError(Diagnostic(planned.block.location, said, step, Stage.FIGURE))
    ways = (
        context.resolve_direction(x.metric, settings.x_higher_is_better),
        context.resolve_direction(y.metric, settings.higher_is_better),
    )
    source, colours = inputs.sources[x.source], _list_colours(y, inputs)
    is_apart = x.metric in source.numbers and not source.settings.series_from and _differs_within(pairs)
    if is_apart:
        # A mean over several values of a setting means nothing, unless the author names the repetitions.
        pairs = {(f"{series} / {run}", run): pair for (series, run), pair in pairs.items()}
        colours = {name: name.removesuffix(f" / {run}") for name, run in pairs}
    compared: list[Comparison] = []
    for index, way in enumerate(ways if not is_apart else ()):
        values = {key: pair[index] for key, pair in pairs.items()}
        compared += _compare_metric(values, level, higher_is_better=way is not False)
    points = _average_pairs(pairs, level, colours, [_get_ends(one, inputs) for one in (x, y)])
    last = "Each run gives its last value of both metrics." if context.step_title else ""
    scatter = Scatter(
        x_title=x.metric,
        y_title=y.metric,
        points=points,
        ways=ways,
        front=None if is_apart or None in ways else find_front([one.series for one in points], compared),
        units="runs",
        level=level,
        percent=context.is_percent(y.metric, settings.format),
        how=() if is_apart else (last, _WELCH.format(_describe_scale((x, y), inputs))),
        each="run" if is_apart else "series",
        fit=fit_pairs([(one.x.value, one.y.value) for one in points], settings, planned.block.location),
    )
    return draw_scatter(planned.block.id, settings, scatter, context)


def fit_pairs(
    points: Sequence[tuple[float, float]], settings: ScatterSettings | SweepSettings, place: SourceLocation
) -> Fit | None:
    """Return the line or power law that the block shows; raise a ``ReportError`` if the points have none."""
    from reportgen.statistics.intervals import fit_points  # noqa: PLC0415 - computes

    if settings.fit is None:
        return None
    x, y = np.array(points).T
    try:
        return fit_points(x, y, settings.fit, settings.level)
    except ValueError as error:
        step = "Leave fit: out, or show more points"
        raise ReportError(Diagnostic(place, str(error), step, Stage.FIGURE)) from error


def _average_pairs(
    pairs: Mapping[tuple[str, str], tuple[float, float]],
    level: float,
    colours: Mapping[str, str],
    ends: Sequence[tuple[float, float] | None],
) -> tuple[ScatterPoint, ...]:
    """Return a point for each series: the means of its runs, each a pair of x and y."""
    from reportgen.statistics.curves.bands import average_runs  # noqa: PLC0415 - computes

    points = []
    for name in dict.fromkeys(series for series, _ in pairs):
        runs = tuple((run, *pair) for (series, run), pair in pairs.items() if series == name)
        sides = zip(zip(*(run[1:] for run in runs), strict=True), ends, strict=True)
        x, y = (average_runs(values, level, own) for values, own in sides)
        points.append(ScatterPoint(name, x, y, runs if len(runs) > 1 else (), colours.get(name, "")))
    return tuple(points)


def _differs_within(pairs: Mapping[tuple[str, str], tuple[float, float]]) -> bool:
    """Return whether the runs of a series have several values of x."""
    return len({(series, x) for (series, _), (x, _) in pairs.items()}) > len({series for series, _ in pairs})


def _compare_metric(
    values: Mapping[tuple[str, str], float], level: float, *, higher_is_better: bool
) -> Iterator[Comparison]:
    """Compare the runs' values of one metric, as curves of a single step, and decide each pair of series."""
    from reportgen.statistics.curves.mean_curves import compute_curves  # noqa: PLC0415 - as above
    from reportgen.statistics.verdicts import compare_at_end  # noqa: PLC0415 - as above

    runs = tuple(
        Run(series, run, None, np.zeros(1), np.array([value])) for (series, run), value in values.items()
    )
    reduced = ReducedMetric("", runs, replaced=0, dropped=0, bins=None, given_interval=None)
    curves = compute_curves(reduced, level=level).curves
    for one in compare_at_end(curves, level=level, higher_is_better=higher_is_better):
        decided, fewest, difference = one, min(one.runs), one.difference
        # Sides may each have the same value in all of several runs, as a budget of tokens.
        if one.p is None and fewest >= 2 and difference:  # noqa: PLR2004 - one run says nothing about others
            better = (difference > 0) is higher_is_better
            decided = replace(one, adjusted_p=0.0, verdict=Verdict.BETTER if better else Verdict.WORSE)
        yield decided


def _list_finals(request: CurveRequest, inputs: DrawInputs) -> dict[tuple[str, str], float]:
    """Return the last value of each run, by series, with the value that gives it its colour, and run."""
    result = inputs.answers.get_curves(request)
    return {
        (_name_coloured(run.series, result.colours), run.run): float(run.values[-1])
        for curve in result.curve_set.curves
        for run in curve.runs
    }


def _get_ends(request: CurveRequest, inputs: DrawInputs) -> tuple[float, float] | None:
    """Return the smallest and largest possible value of a metric, if they are stated."""
    return inputs.answers.get_curves(request).curve_set.curves[0].ends


def _describe_scale(requests: Sequence[CurveRequest], inputs: DrawInputs) -> str:
    """Return the scale of the intervals of means, as ``describe_scale``."""
    return describe_scale(chain(*(inputs.answers.get_curves(one).curve_set.curves for one in requests)))


def _list_colours(request: CurveRequest, inputs: DrawInputs) -> dict[str, str]:
    """Return what gives each series its colour, if not the series itself, by its name in the figure."""
    colours = inputs.answers.get_curves(request).colours
    return {_name_coloured(series, colours): colour for series, colour in colours.items()}


def _name_coloured(series: str, colours: Mapping[str, str]) -> str:
    """Return the name of a series with what gives it its colour, as lines have it."""
    colour = colours.get(series, "")
    return series if colour in series else f"{series} · {colour}"


def _draw_scores(planned: PlannedBlock, settings: ScatterSettings, inputs: DrawInputs) -> Figure:
    """Draw the scores of a benchmark against tokens, seconds or cost of an answer."""
    from reportgen.draft.blocks.scores import make_score_context  # noqa: PLC0415 - only where there are scores
    from reportgen.figures.scores.wording import is_percent, name_metric  # noqa: PLC0415
    from reportgen.statistics.compare import compare_costs, estimate_costs  # noqa: PLC0415
    from reportgen.statistics.verdicts import find_front  # noqa: PLC0415

    (request,), place, page = planned.outcomes, planned.block.location, planned.page
    with place_score_errors(place):
        scored, source = inputs.answers.score_benchmark(request), inputs.sources[request.source]
    problems = scored.problems
    context = make_score_context(
        place, request, problems, source, benchmark=page.front_matter.benchmark, slots=inputs.colours.slots
    )
    known = [name for name in _COSTS if np.isfinite(getattr(problems, name)).any()]
    cost = next((name for name in known if name == settings.x), None)
    if cost is None:
        message = f'"{source.name}" does not give "{settings.x}" of its answers'
        step = f"It gives {quote_names(known) or 'none of tokens, seconds and cost'}"
        raise ReportError(Diagnostic(place, message, step, Stage.FIGURE))
    costs = estimate_costs(problems, cost, settings.level)
    points = [
        ScatterPoint(one.series, costs[one.series], Estimate(one.estimate, one.low, one.high, one.problems))
        for one in scored.scores
        if one.estimate is not None and one.series in costs
    ]
    comparisons = (*scored.comparisons, *compare_costs(problems, cost))
    scatter = Scatter(
        x_title=f"{settings.x} per answer",
        y_title=f"{name_metric(request.metric, context)} on {context.benchmark}",
        points=tuple(points),
        ways=(False, request.higher_is_better),
        front=find_front([point.series for point in points], comparisons),
        units="problems",
        level=settings.level,
        percent=is_percent(context),
        how=(_PAIRED.format(settings.x, settings.x),),
        fit=fit_pairs([(one.x.value, one.y.value) for one in points], settings, place),
    )
    return draw_scatter(planned.block.id, settings, scatter, context)


def draw_ladder_block(planned: PlannedBlock, settings: LadderSettings, inputs: DrawInputs) -> Stack:
    """Draw a ``ladder`` block; raise ``ReportError`` as ``read_ladder``."""
    from reportgen.draft.blocks.ladder import read_ladder  # noqa: PLC0415 - only where it is drawn
    from reportgen.figures.scatter.ladder import draw_ladder  # noqa: PLC0415 - as above

    (request,), place = planned.curves, planned.block.location
    result = inputs.answers.get_every_step(request)
    context = inputs.make_context(place, request.source, result, planned.page)
    better = context.resolve_direction(request.metric, settings.higher_is_better)
    ladder = read_ladder(request, result.curve_set, place, inputs.answers, better)
    percent = context.is_percent(request.metric, settings.format)
    return draw_ladder(planned.block.id, settings, ladder, context, percent=percent)


def draw_distribution_block(
    planned: PlannedBlock, settings: DistributionSettings, inputs: DrawInputs
) -> Figure:
    """Draw a ``distribution`` block; raise ``ReportError`` if there is no value."""
    if not planned.outcomes:
        from reportgen.statistics.curves.bands import average_runs  # noqa: PLC0415 - computes

        (request,), context = planned.curves, make_curve_context(planned, inputs)
        colours = _list_colours(request, inputs)
        by_series: dict[str, dict[str, float]] = {}
        for (series, run), value in _list_finals(request, inputs).items():
            by_series.setdefault(series, {})[run] = value
        samples = tuple(
            Sample(
                name,
                tuple(runs.items()),
                average_runs([*runs.values()], settings.level, _get_ends(request, inputs)),
                colours.get(name, ""),
            )
            for name, runs in by_series.items()
        )
        drawn = Distribution(
            title=f"final {request.metric}",
            where="over runs",
            unit="run",
            samples=samples,
            level=settings.level,
            method=f"Student's t over runs{_describe_scale([request], inputs)}",
            higher_is_better=context.resolve_direction(request.metric, settings.higher_is_better),
            percent=context.is_percent(request.metric, settings.format),
        )
        return draw_distribution(planned.block.id, settings, drawn, context)
    return _draw_problem_scores(planned, settings, inputs)


def _draw_problem_scores(planned: PlannedBlock, settings: DistributionSettings, inputs: DrawInputs) -> Figure:
    """Draw the score of each series on each problem."""
    from reportgen.draft.blocks.scores import make_score_context  # noqa: PLC0415 - only where there are scores
    from reportgen.figures.scores.wording import describe_method, is_percent, name_metric  # noqa: PLC0415
    from reportgen.statistics.metrics import compute_problem_values  # noqa: PLC0415

    (request,), place = planned.outcomes, planned.block.location
    with place_score_errors(place):
        problems, source = inputs.answers.get_problem_scores(request), inputs.sources[request.source]
        scores = inputs.answers.get_scores(request)
        values = compute_problem_values(problems, *split_metric(request.metric)).series
    benchmark, slots = planned.page.front_matter.benchmark, inputs.colours.slots
    context = make_score_context(place, request, problems, source, benchmark=benchmark, slots=slots)
    samples = []
    for score, row in zip(scores, values, strict=True):
        pairs = zip(problems.problems, row.tolist(), strict=True)
        own = {name: value for name, value in pairs if math.isfinite(value)}
        if own and score.estimate is not None:
            mean = Estimate(score.estimate, score.low, score.high, len(own))
            samples.append(Sample(score.series, tuple(own.items()), mean))
    method = describe_method(next((score.method for score in scores if score.method), ""))
    drawn = Distribution(
        title=f"{name_metric(request.metric, context)} per problem",
        where=f"on {context.benchmark}",
        unit="problem",
        samples=tuple(samples),
        level=settings.level,
        method=method,
        higher_is_better=request.higher_is_better,
        percent=is_percent(context),
        ends=(context.lowest, context.highest),
    )
    return draw_distribution(planned.block.id, settings, drawn, context)
