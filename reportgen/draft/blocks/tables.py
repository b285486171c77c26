"""Drawing of the blocks that are a table: ``table`` and ``runs-table``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import Lead, ReducedMetric
from reportgen.draft.blocks.draw_inputs import link_topic, make_curve_context, make_curve_scale
from reportgen.figures.curves.bands import describe_given_band, describe_scale
from reportgen.figures.curves.decimals import choose_precision
from reportgen.figures.curves.key_results import list_known_curves
from reportgen.figures.curves.result_table import build_result_table, make_column_call
from reportgen.figures.curves.runs_table import RunRow, build_runs_table, name_run
from reportgen.narrative.topics import Topic
from reportgen.settings.block_parts import Statistic, split_column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.digits import Precision
    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import CurveSet, Ending, ResultTable
    from reportgen.core.statements import Fact
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.blocks.results import ResultsStore
    from reportgen.figures.plot import DrawContext
    from reportgen.settings.blocks import RunsTableSettings, TableSettings

    _Settings = TypeVar("_Settings", bound=TableSettings)


_WITHOUT_STEPS: Final = (Statistic.FINAL, Statistic.SD, Statistic.N, Statistic.VS)
_MOST_RUNS = 1_000
"""Most rows of a table of runs: more would make a page slow, and nobody reads them."""


def draw_table(planned: PlannedBlock, settings: TableSettings, inputs: DrawInputs) -> ResultTable:
    """Draw a ``table`` block."""
    context, answers = make_curve_context(planned, inputs), inputs.answers
    place = planned.block.location
    settings = _choose_columns(settings, context, place)
    if settings.baseline:
        columns = (*settings.columns, f"{Statistic.VS} {settings.baseline}")
        settings = settings.model_copy(update={"columns": columns})
    metrics, better, leads, facts, precisions = [], [], [], [], []
    curves = [answers.get_curves(request).curve_set for request in planned.curves]
    for request, curve_set in zip(planned.curves, curves, strict=True):
        way = context.resolve_direction(request.metric, settings.higher_is_better)
        metrics.append((request.metric, answers.get_endings(request, higher_is_better=way is not False)))
        better.append(way)
        leads.append(curve_set.leads[int(way is False)])
        percent = context.is_percent(request.metric, settings.format)
        precisions.append(choose_precision(curve_set.curves, percent=percent))
        topic = Topic(request, way, "", percent=percent)
        get_subject = partial(inputs.get_subject, topic, place)
        facts.append(_find_column_facts(settings.columns, get_subject, curve_set, place))
    return build_result_table(
        planned.block.id,
        settings,
        tuple(metrics),
        context,
        better=tuple(better),
        leads=tuple(leads),
        facts=facts,
        precisions=precisions,
        given={"": describe_scale(curve for curve_set in curves for curve in curve_set.curves)}
        | {
            curve.series: describe_given_band(curve_set)
            for curve_set in curves
            for curve in curve_set.curves
            if curve.given
        },
        runs_with=answers.get_curves(planned.curves[0]).settings if settings.by else None,
    )


def _choose_columns(settings: _Settings, context: DrawContext, place: SourceLocation) -> _Settings:
    """Return settings with columns that runs without steps have; refuse others that the author names."""
    if context.step_title:
        return settings
    columns = settings.columns if "columns" in settings.model_fields_set else (Statistic.FINAL.value,)
    if wrong := [one for one in columns if split_column(one)[0] not in _WITHOUT_STEPS]:
        message = f'"{wrong[0]}" is about steps, and these runs have none'
        step = f"Write some of columns: [{', '.join(_WITHOUT_STEPS)}]"
        raise ReportError(Diagnostic(place, message, step, Stage.FIGURE))
    return settings.model_copy(update={"columns": columns})


def _find_column_facts(
    columns: Sequence[str], get_subject: Callable[[], Subject], curve_set: CurveSet, place: SourceLocation
) -> dict[tuple[str, str], Fact]:
    """Return the facts of a table's cells by series and column, as statements have them.

    Raises ``ReportError`` if no series has an answer, for example since a metric does not exist.
    """
    from reportgen.claims.vocabulary import FactError  # noqa: PLC0415 - only where something is computed

    found: dict[tuple[str, str], Fact] = {}
    one_percent = _find_one_percent(curve_set)
    for column in columns:
        if column.endswith("%") and one_percent is None:
            said = f'"{column}" of "{curve_set.metric}" is a share of values that are no shares'
            step = f"Write the level as in the data, such as {column.rstrip('% ')}"
            raise ReportError(Diagnostic(place, said, step, Stage.FIGURE))
        if (call := make_column_call(column, one_percent)) is None:
            continue
        subject, (name, arguments) = get_subject(), call
        errors: list[FactError] = []
        others = [series for series in subject.series if name != "gap" or series not in arguments]
        for series in others:
            steps = _find_end(curve_set, (series, *arguments)) if name == "gap" else ()
            try:
                found[series, column] = subject.fact(name, (series, *arguments, *steps))
            except FactError as error:
                errors.append(error)
        if errors and len(errors) == len(others):
            said = f'"{column}": {errors[0].message}'
            raise ReportError(Diagnostic(place, said, errors[0].next_step, Stage.FIGURE))
    return found


def _find_end(curve_set: CurveSet, pair: Sequence[str | float]) -> tuple[float, ...]:
    """Return the last step that two series share, or 0, the only one of runs without steps."""
    from reportgen.statistics.verdicts import find_last_common_step  # noqa: PLC0415 - as above

    curves = {curve.series: curve for curve in curve_set.curves}
    if not all(name in curves for name in pair):
        return (0.0,)
    step = find_last_common_step(*(curves[str(name)] for name in pair))
    return (0.0 if step is None else step,)


def _find_one_percent(curve_set: CurveSet) -> float | None:
    """Return 1% in values of a metric, if these are percentages or shares."""
    if "%" in curve_set.metric:
        return 1.0
    curves = list_known_curves(curve_set)
    are_shares = all(np.nanmin(one.values) >= 0 and np.nanmax(one.values) <= 1 for one in curves)
    return 0.01 if are_shares else None


def draw_runs_table(planned: PlannedBlock, settings: RunsTableSettings, inputs: DrawInputs) -> ResultTable:
    """Draw a ``runs-table`` block; raise ``ReportError`` if it has too many runs."""
    from reportgen.read import read_run_settings  # noqa: PLC0415 - imports the database

    context, answers = make_curve_context(planned, inputs), inputs.answers
    place = planned.block.location
    settings = _choose_columns(settings, context, place)
    curves = [curve for one in planned.curves for curve in answers.get_curves(one).curve_set.curves]
    runs = {(run.series, run.run): run for curve in curves for run in curve.runs}
    if len(runs) > _MOST_RUNS:
        message = f"this table has {len(runs):,} runs, and {_MOST_RUNS:,} are shown at most"
        step = "Choose some with series: or filter:"
        raise ReportError(Diagnostic(place, message, step, Stage.FIGURE))
    better = [context.resolve_direction(one.metric, settings.higher_is_better) for one in planned.curves]
    topics = [
        Topic(one, way, "", percent=context.is_percent(one.metric, settings.format))
        for one, way in zip(planned.curves, better, strict=True)
    ]
    found = [_summarise_runs(topic, settings.columns, answers, place) for topic in topics]
    endings, facts, precisions = zip(*found, strict=True)
    table = build_result_table(
        planned.block.id,
        settings,
        tuple(zip((one.metric for one in planned.curves), endings, strict=True)),
        context,
        better=tuple(better),
        leads=(Lead(None, tested=False),) * len(better),
        facts=facts,
        precisions=precisions,
    )
    source = inputs.sources[planned.curves[0].source]
    known = read_run_settings(inputs.project.root, source, settings.settings)
    # Those that draw it.
    figures = {series: topic for topic in planned.topics for series in answers.get_series(topic.request)}
    rows = []
    for key, run in runs.items():
        # Where no lines of runs are drawn, the link shows the series.
        topic = figures.get(run.series)
        link = link_topic(topic, (run.series,), None, None, (run.run, run.series)) if topic else ""
        rows.append(RunRow(run, known.get(key, {}), link))
    return build_runs_table(table, rows, settings, context)


def _summarise_runs(
    topic: Topic, columns: Sequence[str], answers: ResultsStore, place: SourceLocation
) -> tuple[tuple[Ending, ...], dict[tuple[str, str], Fact], Precision]:
    """Return final value, peak and mean of each run of a metric, facts of other columns, and precision."""
    from reportgen.claims.subjects import CurveSubject  # noqa: PLC0415 - only where something is computed
    from reportgen.statistics.curves.mean_curves import summarise_curves  # noqa: PLC0415 - as above

    request: Any = topic.request
    result = answers.get_curves(request)
    alone = _split_runs(result.curve_set)
    subject = CurveSubject(
        alone,
        make_curve_scale(topic, result),
        lambda metric: _split_runs(answers.get_other_metric(request, metric)),
    )
    facts = _find_column_facts(columns, lambda: subject, alone, place)
    endings = summarise_curves(alone, higher_is_better=topic.higher_is_better is not False)
    return endings, facts, choose_precision(alone.curves, percent=topic.percent)


def _split_runs(curve_set: CurveSet) -> CurveSet:
    """Return a curve for each run, by its series and run."""
    from reportgen.statistics.curves.mean_curves import compute_curves  # noqa: PLC0415 - as above

    runs = tuple(replace(run, series=name_run(run)) for curve in curve_set.curves for run in curve.runs)
    return compute_curves(
        ReducedMetric(
            curve_set.metric, runs, replaced=0, dropped=0, bins=None, given_interval=curve_set.given_interval
        ),
        level=curve_set.level,
        ends=curve_set.curves[0].ends if curve_set.curves else None,
    )
