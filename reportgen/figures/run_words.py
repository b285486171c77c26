"""Words around a picture of runs: how many there are, how far they spread, and what that is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.score_captions import describe_source, explain_metric
from reportgen.figures.score_words import (
    format_difference,
    format_interval,
    format_level,
    format_score,
    list_protocol_notes,
    name_metric,
)
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import RunSpread

_MOST_NAMES = 6


def write_subtitle(spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """Metric, runs and level, in a few words."""
    if not spreads:
        return ""
    counts = sorted({len(one.runs) for one in spreads})
    each = "a series" if len(counts) == 1 else "each series"
    runs = format_count(counts[0], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    interval = f"{format_level(spreads[0].level)} interval of the mean over runs"
    parts = [
        name_metric(spreads[0].metric, context),
        f"{runs} of {each}",
        interval if any(one.low is not None for one in spreads) else "no interval",
        "" if context.higher_is_better else "lower is better",
    ]
    return ", ".join(filter(None, parts))


def write_summary(spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """One sentence: which series moves most from run to run, and within what each one's runs lie."""
    known = [one for one in spreads if one.sd is not None]
    if not known:
        if not spreads:
            return "No series has a run."
        return "With one run of each series, nothing can be said about how much runs vary."
    widest = max(known, key=lambda one: one.sd or 0.0)
    said = format_difference(widest.sd or 0.0, context, signed=False)
    runs = [run.score for run in widest.runs]
    ends = " to ".join(format_score(end, context) for end in (min(runs), max(runs)))
    lead = f"{format_count(len(runs), 'run')} of {widest.series} reach {ends}, a standard deviation of {said}"
    if len(known) == 1:
        return f"{lead}{_describe_mean(widest, context)}."
    return f"{lead}, the largest of {format_count(len(known), 'series', 'series')} with several runs."


def _describe_mean(one: RunSpread, context: ScoreContext) -> str:
    ends = format_interval(one.low, one.high, context)
    if one.mean is None or not ends:
        return ""
    half = ((one.high or 0.0) - (one.low or 0.0)) / 2
    return f" about their mean of {format_score(one.mean, context, half=half)} {ends}"


def write_caption(spreads: Sequence[RunSpread], context: ScoreContext, *, words: str | None = None) -> str:
    """What dots and lines are, what was left out, the protocol and the source; the author's words first."""
    names = [one.series for one in spreads]
    sentences = [
        words or "",
        _describe_counts(spreads),
        "Small dot: the score of one run, on the problems that every run of its series answered.",
        _describe_line(spreads),
        explain_metric(spreads[0].metric) if spreads else "",
        *_list_reasons(spreads),
        *(
            f"{one.series}: {format_count(one.left_out, 'problem')} that only some of its runs answered left out."
            for one in spreads
            if one.left_out
        ),
        "" if context.higher_is_better else "Lower is better.",
        *list_protocol_notes(context, names),
        *context.notes,
        f"Source: {describe_source(context)}.",
    ]
    return " ".join(filter(None, sentences))


def _describe_counts(spreads: Sequence[RunSpread]) -> str:
    by_count: dict[int, list[str]] = {}
    for one in spreads:
        by_count.setdefault(len(one.runs), []).append(one.series)
    if len(by_count) == 1:
        return f"n = {format_count(next(iter(by_count)), 'run')} of each series."
    said = [
        f"{format_count(n, 'run')} of {join_names(names, most=_MOST_NAMES)}" for n, names in by_count.items()
    ]
    return f"n: {'; '.join(said)}." if said else ""


def _describe_line(spreads: Sequence[RunSpread]) -> str:
    if all(one.low is None for one in spreads):
        return "Hollow dot: their mean, without an interval."
    level = format_level(spreads[0].level)
    return (
        f"Large dot and line: their mean with its {level} interval (Student's t over runs), for the mean of "
        "other runs like these on these problems; how much problems vary is not in it."
    )


def _list_reasons(spreads: Sequence[RunSpread]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for one in spreads:
        if one.reason:
            reasons.setdefault(one.reason, []).append(one.series)
    return [f"{join_names(names, most=_MOST_NAMES)}: {reason}." for reason, names in reasons.items()]
