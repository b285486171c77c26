"""The ``comparison`` block for several benchmarks: series × benchmark, with the average of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.across_csv import AVERAGE, across_csv
from reportgen.figures.cell_lines import in_lines
from reportgen.figures.comparison_words import (
    FOUND,
    answer,
    half_width,
    how_compared,
    power_words,
    reasons,
    verdict_words,
)
from reportgen.figures.pairs import MARKS, WORDS
from reportgen.figures.score_words import (
    difference_text,
    estimand_words,
    estimate_text,
    found_notes,
    interval_text,
    level_text,
    method_words,
    metric_text,
    p_text,
    protocol_notes,
)
from reportgen.figures.wording import isolated
from reportgen.model import Cell, ResultTable, Stack
from reportgen.outcomes import REPORTED, Verdict
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import AcrossBenchmarks, BenchmarkCell, Comparison, Found, Power, Score
    from reportgen.settings.score_blocks import ComparisonSettings


def across_block(  # noqa: PLR0917 - the block's id and settings, then what it shows
    block_id: str,
    settings: ComparisonSettings,
    across: AcrossBenchmarks,
    powers: Mapping[str, Power],
    contexts: Mapping[str, ScoreContext],
    context: ScoreContext,
    *,
    found: Mapping[str, Found] | None = None,
) -> Stack:
    """The table, best average first, then how large a difference each benchmark finds.

    Args:
        block_id: id of the block on its page.
        settings: title, caption, metric and level.
        across: scores and comparisons with the baseline, all adjusted together.
        powers: by benchmark; one that is not there has a reason said.
        contexts: protocols and notes by benchmark.
        context: unit, source and place of the block.
        found: what was found in the outcomes of each benchmark, to be told.
    """
    order = _order(across, higher_is_better=context.higher_is_better)
    power = [
        power_words(
            name,
            powers.get(name),
            contexts.get(name, context),
            together="comparisons",
            reported=all(row[place].score.samples is None for row in across.cells),
        )
        for place, name in enumerate(across.benchmarks)
    ]
    sentences = (
        settings.caption or "",
        *_how(across, context),
        FOUND if any(one.difference for one in powers.values()) else "",
        *_told(across, contexts, found or {}),
        *dict.fromkeys(note for each in (context, *contexts.values()) for note in each.notes),
        f"Source: {context.source}{f' ({context.approximate})' if context.approximate else ''}.",
    )
    against = f"held against {across.baseline}" if across.baseline else "no baseline to hold them against"
    parts: list[Any] = [_answer(across, order, context), _table(block_id, across, order, context), *power]
    return Stack(
        id=block_id,
        title=settings.title or f"{counted(len(across.benchmarks), 'benchmark')} side by side",
        subtitle=f"{metric_text(settings.metric, context)}, {against}",
        parts=tuple(isolated(part, across.series) if isinstance(part, str) else part for part in parts),
        caption=isolated(" ".join(filter(None, sentences)), across.series),
    )


def _order(across: AcrossBenchmarks, *, higher_is_better: bool) -> list[int]:
    """Rows by their average; those without one last, in the order of the data."""
    sign = -1 if higher_is_better else 1
    known = [cell.score.estimate for cell in across.macro]
    return sorted(
        range(len(known)), key=lambda n: float("inf") if known[n] is None else sign * _real(known[n])
    )


def _real(value: float | None) -> float:
    return 0.0 if value is None else value


def _answer(across: AcrossBenchmarks, order: list[int], context: ScoreContext) -> str:
    """Who is better than the baseline on average, or who has the best average."""
    if across.baseline is not None:
        return _against(across, order, across.baseline, context)
    best = across.macro[order[0]].score if order else None
    if best is None or best.estimate is None:
        return "No series has a score on every benchmark, so there is no average."
    leads = f"{best.series} has the best average: {estimate_text(best, context)}."
    if _totals_only(across):
        return f"{leads} Totals are not tested: the problems behind them are not known."
    return f"{leads} Without a baseline nothing is tested: name one to see which differences are real."


def _totals_only(across: AcrossBenchmarks) -> bool:
    """Whether all scores are used as reported."""
    scores = [cell.score for row in across.cells for cell in row if cell.score.estimate is not None]
    return all(score.method == REPORTED or score.samples is None for score in scores)


def _against(across: AcrossBenchmarks, order: list[int], baseline: str, context: ScoreContext) -> str:
    """Who is better than the baseline on average; where averages cannot be compared, on each benchmark."""
    average = across.macro[across.series.index(baseline)].score
    on_average = [one for one in (across.macro[place].against for place in order) if one is not None]
    if on_average:
        introduced = f"{baseline}, the baseline, on average ({estimate_text(average, context)})"
        return answer(on_average, introduced, context)
    said = []
    for column, name in enumerate(across.benchmarks):
        compared = [one for one in (across.cells[place][column].against for place in order) if one]
        if compared:
            said.append(f"{name}: {verdict_words(compared)}.")
    if not said:
        return f"Nothing can be held against {baseline}, the baseline: see the reasons in the table."
    return f"Against {baseline}, the baseline, whose average cannot be compared. {' '.join(said)}"


def _table(block_id: str, across: AcrossBenchmarks, order: list[int], context: ScoreContext) -> ResultTable:
    against = "; then verdict, difference, interval and adjusted p" if across.baseline else ""
    rows = [
        (
            Cell(across.series[place]),
            *(_cell(cell, across, context) for cell in (across.macro[place], *across.cells[place])),
        )
        for place in order
    ]
    return ResultTable(
        id=f"{block_id}-table",
        title=f"Score and interval{against}",
        header=("series", AVERAGE, *across.benchmarks),
        rows=tuple(rows),
        caption="Best average first.",
        csv=across_csv(across),
    )


def _cell(cell: BenchmarkCell, across: AcrossBenchmarks, context: ScoreContext) -> Cell:
    """A score, and under it the verdict against the baseline with its numbers."""
    score, one = cell.score, cell.against
    if score.estimate is None:
        return Cell(f"missing\n{in_lines(cell.reason or score.reason)}", None, "missing")
    lines = [estimate_text(score, context)]
    if score.series == across.baseline:
        return Cell("\n".join([*lines, "baseline"]), score.estimate, "self")
    if one is None and not across.baseline and score.method == REPORTED:
        return Cell("\n".join([*lines, score.method]), score.estimate)
    if one is None:
        lines += [in_lines(f"not compared: {cell.reason}")] if cell.reason else []
        return Cell("\n".join(lines), score.estimate, "missing" if cell.reason else "")
    return Cell("\n".join([*lines, *_verdict(one, context)]), score.estimate, MARKS[one.verdict])


def _verdict(one: Comparison, context: ScoreContext) -> Iterator[str]:
    if one.difference is None:
        yield f"{WORDS[one.verdict]}: {one.reason or 'no shared problem'}"
        return
    said = difference_text(one.difference, context, half=half_width(one)).removesuffix(" points")
    ends = interval_text(one.low, one.high, context, signed=True) or "no interval"
    few = one.verdict is Verdict.TOO_FEW
    yield f"{WORDS[one.verdict]}: {said}"
    yield f"{ends}, {f'{one.shared} shared' if few else p_text(one.adjusted_p)}"


def _how(across: AcrossBenchmarks, context: ScoreContext) -> Iterator[str]:
    """How scores, the average and the comparisons came about."""
    cells = [cell for row in across.cells for cell in row]
    compared = [cell.against for cell in (*across.macro, *cells) if cell.against]
    yield _scores([cell.score for cell in cells if cell.score.low is not None])
    yield _average(across)
    if compared:
        yield from how_compared(compared, context, "comparison")
        yield from reasons(compared)


def _told(
    across: AcrossBenchmarks, contexts: Mapping[str, ScoreContext], found: Mapping[str, Found]
) -> Iterator[str]:
    """What readers should know of each benchmark's outcomes and protocols."""
    for name in across.benchmarks:
        notes = found_notes(found[name], across.series) if name in found else ()
        # Of those that have the benchmark alone: who was not measured has no protocol to differ.
        protocols = protocol_notes(contexts[name]) if name in contexts else ()
        yield from (f"{name}: {note}" for note in (*notes, *protocols))


def _scores(known: list[Score]) -> str:
    if not known:
        return ""
    about = listing(list(dict.fromkeys(estimand_words(one) for one in known)))
    methods = listing(list(dict.fromkeys(method_words(one.method) for one in known)))
    return f"Brackets behind a score: {level_text(known[0].level)} interval of {about} ({methods})."


def _average(across: AcrossBenchmarks) -> str:
    """How the average's column came about, and what it is about."""
    if not any(cell.score.estimate is not None for cell in across.macro):
        return ""
    about = (
        "made of those reported"
        if _totals_only(across)
        else "about these benchmarks with problems like theirs"
    )
    return (
        f"Average: every benchmark counts once, however many problems it has; its interval is {about} (the "
        "square root of the summed squares of the benchmarks' half-widths, over their number) and says "
        "nothing about other benchmarks."
    )
