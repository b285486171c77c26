"""The ``comparison`` block for several benchmarks: series × benchmark, with the average of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.core.comparisons import Verdict
from reportgen.core.model import Cell, ResultTable, Stack
from reportgen.core.outcomes import REPORTED
from reportgen.core.words import format_count
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.plot import describe_source
from reportgen.figures.scores.pairs import (
    FOUND_NOTE,
    PAIR_COLUMNS,
    VERDICT_MARKS,
    VERDICT_WORDS,
    describe_comparisons,
    describe_power,
    describe_verdicts,
    format_plain_difference,
    list_pair_fields,
    list_reasons,
    write_answer,
)
from reportgen.figures.scores.wording import (
    describe_intervals,
    format_interval,
    format_p_text,
    format_score_estimate,
    list_found_notes,
    list_protocol_notes,
    name_metric,
)
from reportgen.figures.text import isolate_names, wrap_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.core.comparisons import AcrossBenchmarks, BenchmarkCell, Comparison, Power
    from reportgen.core.outcomes import OutcomeNotes
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.blocks import ComparisonSettings


AVERAGE = "average"
"""What the average over benchmarks is called."""

_CSV_COLUMNS = (
    *("benchmark", "series", "metric", "score", "low", "high", "level", "problems", "estimand"),
    *("score_method", "score_reason"),
    *(f"against_{name}" if name in {"metric", "level", "low", "high"} else name for name in PAIR_COLUMNS),
)


def write_across_csv(across: AcrossBenchmarks) -> str:
    """Every number behind the table, the average first; what is not known is empty."""
    return write_table_csv(_CSV_COLUMNS, _list_csv_rows(across))


def _list_csv_rows(across: AcrossBenchmarks) -> Iterator[tuple[object, ...]]:
    columns = ((AVERAGE, across.macro), *zip(across.benchmarks, zip(*across.cells, strict=True), strict=True))
    for benchmark, cells in columns:
        for cell in cells:
            one, against = cell.score, cell.against
            yield (
                *(benchmark, one.series, one.metric, one.estimate, one.low, one.high, one.level),
                *(one.problems, one.estimand, one.method, one.reason or cell.reason),
                *(list_pair_fields(against) if against else (None,) * len(PAIR_COLUMNS)),
            )


def draw_across(  # noqa: PLR0917 - the block's id and settings, then what it shows
    block_id: str,
    settings: ComparisonSettings,
    across: AcrossBenchmarks,
    powers: Mapping[str, Power],
    contexts: Mapping[str, ScoreContext],
    context: ScoreContext,
    *,
    found: Mapping[str, OutcomeNotes] | None = None,
) -> Stack:
    """The table, best average first, then how large a difference each benchmark finds.

    Args:
        block_id: id of the block on its page.
        settings: title, caption, metric and level.
        across: scores and comparisons with the baseline, all adjusted together.
        powers: by benchmark; one that is not there has a reason said.
        contexts: protocols and notes by benchmark.
        context: unit, source and place of the block.
        found: what was found in the outcomes of each benchmark.
    """
    order = _order(across, higher_is_better=context.higher_is_better)
    power = [
        describe_power(
            name,
            powers.get(name),
            contexts.get(name, context),
            together="comparisons",
            reported=all(row[index].score.samples is None for row in across.cells),
        )
        for index, name in enumerate(across.benchmarks)
    ]
    sentences = (
        settings.caption or "",
        *_describe_method(across, context),
        FOUND_NOTE if any(one.difference for one in powers.values()) else "",
        *_list_notes(across, contexts, found or {}),
        *dict.fromkeys(note for each in (context, *contexts.values()) for note in each.notes),
        f"Source: {describe_source(context)}.",
    )
    against = f"held against {across.baseline}" if across.baseline else "no baseline to hold them against"
    table = _build_table(block_id, across, order, context)
    parts: list[Any] = [_write_answer(across, order, context), table, *power]
    return Stack(
        id=block_id,
        title=settings.title or f"{format_count(len(across.benchmarks), 'benchmark')} side by side",
        subtitle=f"{name_metric(settings.metric, context)}, {against}",
        parts=tuple(isolate_names(part, across.series) if isinstance(part, str) else part for part in parts),
        caption=isolate_names(" ".join(filter(None, sentences)), across.series),
    )


def _order(across: AcrossBenchmarks, *, higher_is_better: bool) -> list[int]:
    """Rows by their average; those without one last, in the order of the data."""
    sign = -1 if higher_is_better else 1
    known = [cell.score.estimate for cell in across.macro]
    ranks = [float("inf") if value is None else sign * value for value in known]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def _write_answer(across: AcrossBenchmarks, order: list[int], context: ScoreContext) -> str:
    """Who is better than the baseline on average, or who has the best average."""
    if across.baseline is not None:
        return _describe_against_baseline(across, order, across.baseline, context)
    best = across.macro[order[0]].score if order else None
    if best is None or best.estimate is None:
        return "No series has a score on every benchmark, so there is no average."
    leads = f"{best.series} has the best average: {format_score_estimate(best, context)}."
    if _has_totals_only(across):
        return f"{leads} Totals are not tested: the problems behind them are not known."
    return f"{leads} Without a baseline nothing is tested: name one to see which differences are real."


def _has_totals_only(across: AcrossBenchmarks) -> bool:
    """Whether all scores are used as reported."""
    scores = [cell.score for row in across.cells for cell in row if cell.score.estimate is not None]
    return all(score.method == REPORTED or score.samples is None for score in scores)


def _describe_against_baseline(
    across: AcrossBenchmarks, order: list[int], baseline: str, context: ScoreContext
) -> str:
    """Who is better than the baseline on average; where averages cannot be compared, on each benchmark."""
    average = across.macro[across.series.index(baseline)].score
    on_average = [one for one in (across.macro[place].against for place in order) if one is not None]
    if on_average:
        introduced = f"{baseline}, the baseline, on average ({format_score_estimate(average, context)})"
        return write_answer(on_average, introduced, context)
    said = []
    for column, name in enumerate(across.benchmarks):
        compared = [one for one in (across.cells[place][column].against for place in order) if one]
        if compared:
            said.append(f"{name}: {describe_verdicts(compared)}.")
    if not said:
        return f"Nothing can be held against {baseline}, the baseline: see the reasons in the table."
    return f"Against {baseline}, the baseline, whose average cannot be compared. {' '.join(said)}"


def _build_table(
    block_id: str, across: AcrossBenchmarks, order: list[int], context: ScoreContext
) -> ResultTable:
    against = "; then verdict, difference, interval and adjusted p" if across.baseline else ""
    rows = [
        (
            Cell(across.series[place]),
            *(_build_cell(cell, across, context) for cell in (across.macro[place], *across.cells[place])),
        )
        for place in order
    ]
    return ResultTable(
        id=f"{block_id}-table",
        title=f"Score and interval{against}",
        header=("series", AVERAGE, *across.benchmarks),
        rows=tuple(rows),
        caption="Best average first.",
        csv=write_across_csv(across),
    )


def _build_cell(cell: BenchmarkCell, across: AcrossBenchmarks, context: ScoreContext) -> Cell:
    """A score, and under it the verdict against the baseline with its numbers."""
    score, one = cell.score, cell.against
    if score.estimate is None:
        return Cell(f"missing\n{wrap_cell(cell.reason or score.reason)}", None, "missing")
    lines = [format_score_estimate(score, context)]
    if score.series == across.baseline:
        return Cell("\n".join([*lines, "baseline"]), score.estimate, "self")
    if one is None and not across.baseline and score.method == REPORTED:
        return Cell("\n".join([*lines, score.method]), score.estimate)
    if one is None:
        lines += [wrap_cell(f"not compared: {cell.reason}")] if cell.reason else []
        return Cell("\n".join(lines), score.estimate, "missing" if cell.reason else "")
    return Cell(
        "\n".join([*lines, *_describe_verdict(one, context)]), score.estimate, VERDICT_MARKS[one.verdict]
    )


def _describe_verdict(one: Comparison, context: ScoreContext) -> Iterator[str]:
    if one.difference is None:
        yield f"{VERDICT_WORDS[one.verdict]}: {one.reason or 'no shared problem'}"
        return
    ends = format_interval(one.low, one.high, context, signed=True) or "no interval"
    few = one.verdict is Verdict.TOO_FEW
    yield f"{VERDICT_WORDS[one.verdict]}: {format_plain_difference(one, context)}"
    yield f"{ends}, {f'{one.shared} shared' if few else format_p_text(one.adjusted_p)}"


def _describe_method(across: AcrossBenchmarks, context: ScoreContext) -> Iterator[str]:
    """How scores, the average and the comparisons came about."""
    cells = [cell for row in across.cells for cell in row]
    compared = [cell.against for cell in (*across.macro, *cells) if cell.against]
    known = [cell.score for cell in cells if cell.score.low is not None]
    yield f"Brackets behind a score: {describe_intervals(known)}." if known else ""
    yield _describe_average(across)
    if compared:
        yield from describe_comparisons(compared, context, "comparison")
        yield from list_reasons(compared)


def _list_notes(
    across: AcrossBenchmarks, contexts: Mapping[str, ScoreContext], found: Mapping[str, OutcomeNotes]
) -> Iterator[str]:
    """What readers should know of each benchmark's outcomes and protocols."""
    for name in across.benchmarks:
        notes = list_found_notes(found[name], across.series) if name in found else ()
        # Of those that have the benchmark alone: who was not measured has no protocol to differ.
        protocols = list_protocol_notes(contexts[name]) if name in contexts else ()
        yield from (f"{name}: {note}" for note in (*notes, *protocols))


def _describe_average(across: AcrossBenchmarks) -> str:
    """How the average's column came about, and what it is about."""
    if not any(cell.score.estimate is not None for cell in across.macro):
        return ""
    about = (
        "made of those reported"
        if _has_totals_only(across)
        else "about these benchmarks with problems like theirs"
    )
    return (
        f"Average: every benchmark counts once, however many problems it has; its interval is {about} (the "
        "square root of the summed squares of the benchmarks' half-widths, over their number) and says "
        "nothing about other benchmarks."
    )
