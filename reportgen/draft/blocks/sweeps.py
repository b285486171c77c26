"""Drawing of ``sweep`` blocks: values of runs, or scores, against a setting."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import Estimate, ReducedMetric, Run
from reportgen.core.words import format_count, is_pattern, join_names
from reportgen.draft.blocks.draw_inputs import check_colours, make_curve_context
from reportgen.draft.blocks.measures import fit_pairs
from reportgen.draft.blocks.results import place_score_errors
from reportgen.figures.curves.bands import describe_scale
from reportgen.figures.curves.sweep import Sweep, SweepPoint, draw_sweep
from reportgen.settings.block_parts import list_groupings
from reportgen.settings.score_blocks import split_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.comparisons import Fit, ProblemScores, Score
    from reportgen.core.model import CurveSet, ScoreRequest, Stack
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.figures.plot import ScoreContext, SourceContext
    from reportgen.settings.score_blocks import SweepSettings


_OF_NUMBERS = ("x_title", "x_domain", "x_scale", "fit")
_MOST_NAMES = 6


def draw_sweep_block(planned: PlannedBlock, settings: SweepSettings, inputs: DrawInputs) -> Stack:
    """Draw a ``sweep`` block; raise ``ReportError`` if runs lack the setting, or it has a single value."""
    sweep, context = (_sweep_scores if planned.outcomes else _sweep_metric)(planned, settings, inputs)
    check_colours(planned, settings.colours, tuple(dict.fromkeys(map(sweep.name_colour, sweep.points))))
    if settings.fit:
        points = [(point.number or 0.0, point.estimate.value) for point in sweep.points]
        sweep = replace(sweep, fit=_fit_line(planned, settings, sweep, points))
    return draw_sweep(planned.block.id, settings, sweep, context, inputs.get_chart)


def _fit_line(
    planned: PlannedBlock, settings: SweepSettings, sweep: Sweep, points: Sequence[tuple[float, float]]
) -> Fit | None:
    """Return the line through the points; raise a ``ReportError`` for several lines or if there is none."""
    if len(lines := dict.fromkeys(point.line for point in sweep.points)) > 1:
        message = f"fit is of one line of points, and {settings.x} has {len(lines)}: {join_names([*lines])}"
        step = "Leave out by, or choose one with filter"
        raise ReportError(Diagnostic(planned.block.location, message, step, Stage.FIGURE))
    return fit_pairs(points, settings, planned.block.location)


def _sweep_metric(
    planned: PlannedBlock, settings: SweepSettings, inputs: DrawInputs
) -> tuple[Sweep, SourceContext]:
    """Return the points of a metric, one number of each run."""
    from reportgen.statistics.curves.bands import average_runs, measure_runs  # noqa: PLC0415 - as above
    from reportgen.statistics.curves.mean_curves import measure_curves  # noqa: PLC0415 - only where something is computed

    (request,), context = planned.curves, make_curve_context(planned, inputs)
    if settings.value != "final" and not context.step_title:
        message = f"value: {settings.value} is about steps, and these runs have none"
        raise ReportError(Diagnostic(planned.block.location, message, "Leave it out", Stage.FIGURE))
    result = inputs.answers.get_curves(request)
    better = context.resolve_direction(request.metric, settings.higher_is_better)
    higher, points = better is not False, []
    for curve in result.curve_set.curves:
        values = measure_runs(curve, settings.value, higher_is_better=higher)
        estimate = average_runs(values, settings.level, curve.ends)
        own = result.settings[curve.series]
        points.append(_make_point(curve.series, own, request.metric, estimate, values))
    runs = {curve.series: [run.run for run in curve.runs] for curve in result.curve_set.curves}
    _check_points(planned, settings, points, runs)
    measured = measure_curves(result.curve_set, settings.value, higher_is_better=higher)
    sweep = Sweep(
        metric=request.metric,
        value=settings.value,
        measured=f"{settings.value} {request.metric}",
        where="",
        points=tuple(points),
        line_title=_name_lines(settings),
        curve_set=_make_curves(request.metric, points, settings.level, result.curve_set.curves[0].ends),
        lead=measured.leads[int(better is False)],
        higher_is_better=better,
        percent=context.is_percent(request.metric, settings.format),
        **_describe_runs(points, settings, describe_scale(result.curve_set.curves)),
        test="t over runs" if settings.value == "final" else "",
    )
    return sweep, context


def _describe_runs(points: Sequence[SweepPoint], settings: SweepSettings, scale: str) -> dict[str, Any]:
    """Return what points and intervals over runs are: ``averaged``, ``interval`` and ``how`` of a sweep."""
    counts, mark = sorted({len(point.values) for point in points}), _name_mark(settings)
    runs = format_count(counts[0], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    several, level = counts[-1] > 1, f"{settings.level * 100:g}%"
    each = "the mean over runs with that {}; each small dot is a run" if several else "one run with that {}"
    how = (
        f"Each {mark} is {each.format(settings.x)}.",
        f"Interval: {level} CI of the mean across runs (Student t{scale})."
        if several
        else "No interval: it needs at least 2 runs.",
        "Best: picked among the steps of each run." if settings.value == "best" else "",
    )
    averaged = f"mean of {runs} per value" if several else "1 run per value"
    return {"averaged": averaged, "interval": f"{level} CI" if several else "", "how": how}


def _sweep_scores(
    planned: PlannedBlock, settings: SweepSettings, inputs: DrawInputs
) -> tuple[Sweep, SourceContext]:
    """Return the scores of runs that share a setting, with their intervals over problems."""
    from reportgen.draft.blocks.scores import find_apart, make_score_context  # noqa: PLC0415 - only where there are scores
    from reportgen.figures.scores.wording import is_percent, name_metric  # noqa: PLC0415

    (request,), place = planned.outcomes, planned.block.location
    benchmark, slots = planned.page.front_matter.benchmark, inputs.colours.slots
    with place_score_errors(place):
        scored, source = inputs.answers.score_benchmark(request), inputs.sources[request.source]
        groups = inputs.answers.get_group_settings(request)
        values = _list_run_scores(scored.problems, request)
    context = make_score_context(place, request, scored.problems, source, benchmark=benchmark, slots=slots)
    if apart := find_apart(source, scored.problems):
        context = replace(context, notes=(f"{apart}.", *context.notes))
    line = name_metric(request.metric, context)
    points = []
    for score in scored.scores:
        if score.estimate is not None:
            estimate = Estimate(score.estimate, score.low, score.high, score.problems)
            own = groups[score.series], line, estimate, values.get(score.series) or (score.estimate,)
            points.append(_make_point(score.series, *own))
    names = scored.problems.series
    runs = {name: [one.run for one in scored.problems.runs if names[one.series] == name] for name in names}
    _check_points(planned, settings, points, runs)
    sweep = Sweep(
        metric=request.metric,
        value=None,
        measured=line,
        where=f" on {context.benchmark}",
        points=tuple(points),
        line_title=_name_lines(settings),
        curve_set=_make_curves(line, points, settings.level, given=True),
        lead=scored.lead,
        higher_is_better=request.higher_is_better,
        percent=settings.format == "percent" if settings.format else is_percent(context),
        **_describe_scores(scored.scores, scored.problems, settings, context),
        test="the paired test over problems",
    )
    return sweep, context


def _list_run_scores(problems: ProblemScores, request: ScoreRequest) -> dict[str, tuple[float, ...]]:
    """Return the score of each run on the problems that all runs of its group answered, by group."""
    from reportgen.statistics.scores import measure_run_spreads  # noqa: PLC0415 - as above

    spreads = measure_run_spreads(problems, *split_metric(request.metric), level=request.level)
    return {one.series: tuple(run.score for run in one.runs) for one in spreads}


def _describe_scores(
    every: Sequence[Score], problems: ProblemScores, settings: SweepSettings, context: ScoreContext
) -> dict[str, Any]:
    """Return what points and intervals of scores are: ``averaged``, ``interval`` and ``how`` of a sweep."""
    from reportgen.figures.scores import wording  # noqa: PLC0415 - as above

    scores = [score for score in every if score.estimate is not None]
    names, several = [score.series for score in scores], any(score.runs > 1 for score in scores)
    ways: dict[str, list[str]] = {}
    for score in scores:
        if score.low is not None:
            ways.setdefault(wording.describe_intervals([score]), []).append(score.series)
    sizes, mark = wording.describe_counts(scores), _name_mark(settings)
    dots = ", runs averaged within each problem; each small dot is a run" if several else ""
    how = (
        f"Each {mark} is the score with that {settings.x} over {sizes}{dots}.",
        wording.explain_metric(scores[0].metric),
        *(
            f"Interval{f' of {join_names(those, most=wording.MOST_NAMES)}' if len(ways) > 1 else ''}: {way}."
            for way, those in ways.items()
        ),
        "" if ways else "No interval is known.",
        "" if several else "One run each: about these checkpoints, not about other seeds.",
        *wording.group_reasons((score.series, score.reason) for score in every),
        *wording.list_protocol_notes(context, names)[0],
        *wording.list_found_notes(problems.notes, names),
    )
    about = next((score.estimand for score in scores if score.low is not None), "")
    level = wording.format_level(settings.level)
    return {"averaged": sizes, "interval": f"{level} CI for {about}" if about else "", "how": how}


def _name_lines(settings: SweepSettings) -> str:
    by = list_groupings(settings.by)
    return "line" if not by or any(map(is_pattern, by)) else ", ".join(by)


def _name_mark(settings: SweepSettings) -> str:
    return "bar" if settings.mark == "bar" else "point"


def _make_point(
    group: str,
    settings: Mapping[str, str | None],
    line: str,
    estimate: Estimate,
    values: tuple[float, ...],
) -> SweepPoint:
    """Return the point of a group; ``line`` is its line where the setting on x is the only one."""
    text, number = next(iter(settings.values())) or "", math.nan
    with suppress(ValueError):
        number = float(text)
    # The first part of the group's name is x, which may have commas of its own.
    rest = ", ".join(group.split(", ")[1 + text.count(", ") :])
    known = number if math.isfinite(number) else None
    return SweepPoint(group, rest or line, text, known, estimate, values)


def _check_points(
    planned: PlannedBlock,
    settings: SweepSettings,
    points: Sequence[SweepPoint],
    runs: Mapping[str, Sequence[str]],
) -> None:
    """Refuse points that cannot be compared, or not on the axis; ``runs`` are those of each group."""
    x, message = settings.x, ""
    step = f'Leave them out, as with filter: {{{x}: ">= 0"}}, or fill in the column'
    if missing := [run for point in points if not point.text for run in runs[point.group]]:
        have = "run has" if len(missing) == 1 else "runs have"
        message = f'{len(missing)} {have} no "{x}": {join_names(missing, most=_MOST_NAMES)}'
    elif len({point.text for point in points}) == 1:
        message = f'all runs have the same "{x}", {points[0].text}: there is nothing to compare'
        step = "Name a setting that differs"
    elif given := _list_keys_of_numbers(settings):
        words = [point.text for point in points if point.number is None]
        low = min((point.number for point in points if point.number is not None), default=1.0)
        if settings.mark == "bar" or words:
            what = f'"{words[0]}" is none' if words else "bars are in rows"
            message = f"{given[0]} is about an axis of numbers, and {what}"
            step = f"Leave out {join_names(given)}"
        elif settings.x_scale == "log" and low <= 0:
            message = f'a log axis has no place for "{x}" {low:g}'
            step = f'Leave out x_scale, or such runs with filter: {{{x}: "> 0"}}'
    if message:
        raise ReportError(Diagnostic(planned.block.location, message, step, Stage.FIGURE))


def _list_keys_of_numbers(settings: SweepSettings) -> list[str]:
    """Return the keys of a block that need an axis of numbers."""
    keys = [name for name in _OF_NUMBERS if getattr(settings, name) is not None]
    return [*keys, *(["reference: x"] if any(line.x is not None for line in settings.reference) else [])]


def _make_curves(
    metric: str,
    points: Sequence[SweepPoint],
    level: float,
    ends: tuple[float, float] | None = None,
    *,
    given: bool = False,
) -> CurveSet | None:
    """Return a curve for each line, with the settings as steps and each run at one of them.

    None if a setting is no number. Estimates that are ``given`` replace the means of the runs.
    """
    from reportgen.statistics.curves.mean_curves import compute_curves  # noqa: PLC0415 - as above

    if any(point.number is None for point in points):
        return None
    ordered = sorted(points, key=lambda one: one.number or 0.0)
    runs = [
        Run(point.line, f"{point.group} {count}", None, np.array([point.number]), np.array([value]))
        for point in ordered
        for count, value in enumerate(point.values, start=1)
    ]
    reduced = ReducedMetric(metric, tuple(runs), 0, 0, bins=None, given_interval=None)
    curve_set = compute_curves(reduced, level=level, ends=ends)
    if not given:
        return curve_set
    curves = []
    for curve in curve_set.curves:
        own = [point.estimate for point in ordered if point.line == curve.series]
        rows = [(one.value, one.low, one.high) for one in own]  # None is NaN in an array of floats
        values, low, high = np.array(rows, dtype=np.float64).T
        curves.append(replace(curve, values=values, low=low, high=high, given=True))
    return replace(curve_set, curves=tuple(curves))
