"""The ``comparison`` block for several benchmarks: series × benchmark, with the average."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.comparisons import REPORTED, THESE_PROBLEMS, VERDICT_WORDS, Verdict
from reportgen.core.model import Cell, ResultTable, Stack
from reportgen.core.words import format_count, join_names
from reportgen.figures.plot import join_caption
from reportgen.figures.scores.comparison import (
    PAIR_COLUMNS,
    VERDICT_MARKS,
    describe_comparisons,
    describe_verdicts,
    list_pair_fields,
    list_reasons,
    write_answer,
)
from reportgen.figures.scores.wording import (
    describe_intervals,
    format_interval,
    format_p_text,
    format_plain_difference,
    format_score,
    format_score_estimate,
    half_width,
    is_percent,
    list_found_notes,
    list_protocol_notes,
    name_metric,
    share_digits,
)
from reportgen.figures.text import isolate_names, wrap_cell, write_table_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.core.comparisons import AcrossBenchmarks, BenchmarkCell, OutcomeNotes
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.score_blocks import ComparisonSettings


AVERAGE = "average"
"""Column name of the average over benchmarks."""

_MOST_WIDE = 6  # benchmarks whose intervals stand beside the scores
_SHADES = 6
_SHARED_NAMES = {"metric", "level", "low", "high", "estimand"}
_CSV_COLUMNS = (
    *("benchmark", "series", "metric", "score", "low", "high", "level", "problems", "estimand"),
    *("score_method", "score_reason"),
    *(f"against_{name}" if name in _SHARED_NAMES else name for name in PAIR_COLUMNS),
)


def draw_across(
    block_id: str,
    settings: ComparisonSettings,
    across: AcrossBenchmarks,
    contexts: Mapping[str, ScoreContext],
    context: ScoreContext,
    *,
    found: Mapping[str, OutcomeNotes] | None = None,
) -> Stack:
    """Draw the table, best average first.

    Scores and comparisons of ``across`` are adjusted together. ``contexts`` and ``found`` (notes on the
    outcomes) are by benchmark; ``context`` is that of the block.
    """
    context = _share_digits(context, [across.macro, *zip(*across.cells, strict=True)])
    scales = make_scales(across, contexts, context)
    # Sort rows by average; those without one come last, in the order of the data.
    sign = -1 if context.higher_is_better else 1
    averages = [cell.score.estimate for cell in across.macro]
    ranks = [float("inf") if value is None else sign * value for value in averages]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    cautions = _list_cautions(across, contexts, found or {})
    notes = dict.fromkeys(
        note for one in contexts.values() for note in one.notes if note not in context.notes
    )
    sentences = (*list_composites(across), *cautions, *notes)
    how = list_methods(across, contexts, scales)
    against = f"compared with {across.baseline}" if across.baseline else "no baseline to compare with"
    answer = _write_answer(across, order, context, average=settings.average)
    table = _build_table(block_id, across, order, scales, average=settings.average)
    return Stack(
        id=block_id,
        title=settings.title or f"{format_count(len(across.benchmarks), 'benchmark')} side by side",
        subtitle=f"{name_metric(settings.metric, context)}, {against}",
        parts=(isolate_names(answer, across.series), table),
        caption=join_caption(sentences, context, across.series, how),
    )


def _share_digits(context: ScoreContext, columns: Iterable[Sequence[BenchmarkCell]]) -> ScoreContext:
    cells = [cell for column in columns for cell in column]
    return share_digits(
        context, [cell.score for cell in cells], [cell.against for cell in cells if cell.against]
    )


def make_scales(
    across: AcrossBenchmarks, contexts: Mapping[str, ScoreContext], context: ScoreContext
) -> list[ScoreContext]:
    """Return the context of the average and of each benchmark: those on one scale share their digits."""
    columns = list(zip(*across.cells, strict=True))
    owns = [contexts.get(name, context) for name in across.benchmarks]
    ends = [(own.lowest, own.highest) for own in owns]
    if len(set(ends)) == 1:
        return [context] * (1 + len(columns))
    equal = [[column for column, at in zip(columns, ends, strict=True) if at == end] for end in ends]
    scaled = [replace(context, lowest=low, highest=high) for low, high in ends]
    return [context, *map(_share_digits, scaled, equal)]


def list_composites(across: AcrossBenchmarks) -> Iterator[str]:
    """Say which benchmarks are over others, and therefore in no average."""
    if names := across.composites:
        verb = "is a mean or total" if len(names) == 1 else "are means or totals"
        yield f"{join_names(names)} {verb} over others here, and in no average."


def _list_cautions(
    across: AcrossBenchmarks, contexts: Mapping[str, ScoreContext], found: Mapping[str, OutcomeNotes]
) -> list[str]:
    """List what is notable in the outcomes and protocols of each benchmark."""
    cautions = []
    for name in across.benchmarks:
        seen = list_found_notes(found[name], across.series) if name in found else ()
        # Only for series measured on this benchmark: the others have no protocol that could differ.
        mixed = list_protocol_notes(contexts[name])[0] if name in contexts else ()
        cautions += [f"{name}: {note}" for note in (*seen, *mixed)]
    return cautions


def _write_answer(across: AcrossBenchmarks, order: list[int], context: ScoreContext, *, average: bool) -> str:
    """Return which series beat the baseline on average or by benchmark, or which has the best average."""
    if across.baseline is None:
        return _write_best(across, order, context, average=average)
    baseline = f"{across.baseline}, the baseline"
    on_average = [pair for pair in (across.macro[place].against for place in order) if pair is not None]
    if on_average:
        own = across.macro[across.series.index(across.baseline)].score
        introduced = f"{baseline}, on average ({format_score_estimate(own, context)})"
        return write_answer(on_average, introduced, context)
    verdicts = []
    for column, name in enumerate(across.benchmarks):
        compared = [pair for pair in (across.cells[place][column].against for place in order) if pair]
        if compared:
            verdicts.append(f"{name}: {describe_verdicts(compared)}.")
    if not verdicts:
        return f"Nothing can be compared with {baseline}: see the reasons in the table."
    reason = ", whose average cannot be compared. " if average else ": "
    return f"Against {baseline}{reason}{' '.join(verdicts)}"


def _write_best(across: AcrossBenchmarks, order: list[int], context: ScoreContext, *, average: bool) -> str:
    """Return which series has the best average, if there is one, and that nothing is tested."""
    untested = "Set baseline: to test differences."
    if _has_totals_only(across):
        untested = "Totals are not tested: the problems behind them are not known."
    if not average:
        return untested
    best = across.macro[order[0]].score if order else None
    if best is None or best.estimate is None:
        whole = [all(cell.score.estimate for cell in row) for row in across.cells]
        missing = "No series has a score on every benchmark, so there is no average."
        return f"There is {across.macro[whole.index(True)].score.reason}." if any(whole) else missing
    return f"{best.series} has the best average: {format_score_estimate(best, context)}. {untested}"


def _has_totals_only(across: AcrossBenchmarks) -> bool:
    """Return whether all scores are used as reported."""
    scores = [cell.score for row in across.cells for cell in row if cell.score.estimate is not None]
    return all(score.is_reported or score.samples is None for score in scores)


def _build_table(
    block_id: str,
    across: AcrossBenchmarks,
    order: list[int],
    scales: Sequence[ScoreContext],
    *,
    average: bool,
) -> ResultTable:
    first = 0 if average else 1
    against = "; then verdict, difference, interval and adjusted p" if across.baseline else ""
    table = [(place, (across.macro[place], *across.cells[place])[first:]) for place in order]
    compact = not across.baseline and len(across.benchmarks) > _MOST_WIDE
    if compact:
        by_column = zip(*(cells for _, cells in table), strict=True)
        shaded = zip(*map(_shade_column, by_column, scales[first:]), strict=True)
        rows = tuple((Cell(across.series[place]), *cells) for place, cells in zip(order, shaded, strict=True))
    else:
        rows = tuple(
            (Cell(across.series[place]), *map(partial(_build_cell, across), cells, scales[first:]))
            for place, cells in table
        )
    columns = ((AVERAGE, across.macro), *zip(across.benchmarks, zip(*across.cells, strict=True), strict=True))
    way = "descending" if scales[0].higher_is_better else "ascending"
    return ResultTable(
        id=f"{block_id}-table",
        title=f"Score and interval{against}",
        header=("series", *(AVERAGE, *across.benchmarks)[first:]),
        rows=rows,
        caption=" ".join(["Best average first."] * average + ["Darker is better, by column."] * compact),
        csv=write_table_csv(_CSV_COLUMNS, _list_records(columns[first:])),
        sorted_by=(AVERAGE, way) if average else ("", ""),
        compact=compact,
    )


def _list_records(columns: Iterable[tuple[str, Sequence[BenchmarkCell]]]) -> Iterator[tuple[object, ...]]:
    """List all numbers of the table, the average first; unknown ones are empty."""
    for benchmark, cells in columns:
        for cell in cells:
            score, pair = cell.score, cell.against
            fields = list_pair_fields(pair) if pair else (None,) * len(PAIR_COLUMNS)
            own = (benchmark, score.series, score.metric, score.estimate, score.low, score.high, score.level)
            how = (score.problems, score.estimand, score.method, score.reason or cell.reason)
            yield (*own, *how, *fields)


def _shade_column(cells: Sequence[BenchmarkCell], context: ScoreContext) -> list[Cell]:
    """Return the cells of a leaderboard's column: shaded scores, with what else is known on further lines."""
    known = [cell.score.estimate for cell in cells if cell.score.estimate is not None]
    best, worst = max(known, default=0), min(known, default=0)
    if not context.higher_is_better:
        best, worst = worst, best
    shaded = []
    for cell in cells:
        score = cell.score
        if score.estimate is None:
            shaded.append(Cell(f"–\nmissing: {wrap_cell(cell.reason or score.reason)}", None, "missing"))
            continue
        part = (score.estimate - worst) / (best - worst) if best != worst else 0.0
        value = format_score(score.estimate, context, half=half_width(score))
        text = f"{value}\n{format_interval(score.low, score.high, context)}".rstrip()
        shaded.append(Cell(text, score.estimate, f"heat-{min(int(_SHADES * part), _SHADES - 1)}"))
    return shaded


def _build_cell(across: AcrossBenchmarks, cell: BenchmarkCell, context: ScoreContext) -> Cell:
    """Return a score with the verdict against the baseline and its numbers below."""
    score, pair = cell.score, cell.against
    if score.estimate is None:
        return Cell(f"missing\n{wrap_cell(cell.reason or score.reason)}", None, "missing")
    lines, mark = [format_score_estimate(score, context)], ""
    if score.series == across.baseline:
        lines, mark = [*lines, "baseline"], "self"
    elif pair is not None:
        mark = VERDICT_MARKS[pair.verdict]
        size = f"{pair.reason or 'no shared problem'}"
        if pair.difference is not None:
            size = format_plain_difference(pair, context)
        lines.append(f"{VERDICT_WORDS[pair.verdict]}: {size}")
        if pair.difference is not None and pair.shared:
            ends = format_interval(pair.low, pair.high, context, signed=True) or "no interval"
            few = pair.verdict is Verdict.TOO_FEW
            lines.append(f"{ends}, {f'{pair.shared} shared' if few else format_p_text(pair.adjusted_p)}")
    elif not across.baseline and score.is_reported:
        lines.append(REPORTED)
    elif cell.reason:
        lines, mark = [*lines, wrap_cell(f"not compared: {cell.reason}")], "missing"
    return Cell("\n".join(lines), score.estimate, mark)


def list_methods(
    across: AcrossBenchmarks,
    contexts: Mapping[str, ScoreContext],
    scales: Sequence[ScoreContext],
) -> Iterator[str]:
    """Describe scores, average and comparisons, and list notes on each benchmark."""
    cells = [cell for row in across.cells for cell in row]
    known = [cell.score for cell in cells if cell.score.low is not None]
    yield f"Brackets behind a score: {describe_intervals(known)}." if known else ""
    if any(cell.score.estimate is not None for cell in across.macro):
        reported, same = "made of those reported", "about these benchmarks with problems like theirs"
        if any(score.estimand == THESE_PROBLEMS for score in known):
            same = "about these benchmarks with these very problems"
        yield (
            "Average: every benchmark counts once, however many problems it has; its interval is "
            f"{reported if _has_totals_only(across) else same} (the square root of the summed squares of the "
            "benchmarks' half-widths, over their number) and says nothing about other benchmarks."
        )
    named = [(AVERAGE, across.macro), *zip(across.benchmarks, zip(*across.cells, strict=True), strict=True)]
    pairs = [(cell.against, name) for name, column in named for cell in column if cell.against]
    if paired := [pair for pair, _ in pairs if pair.shared]:
        absolute = next((scale for scale in scales if not is_percent(scale)), scales[0])
        yield from describe_comparisons(paired, absolute, "comparison")
    elif pairs:
        yield "Difference: of the scores shown."
    yield from list_reasons(pairs)
    for name in filter(contexts.__contains__, across.benchmarks):
        yield from (f"{name}: {note}" for note in list_protocol_notes(contexts[name])[1])
