"""Words around a picture of runs: how many there are, how far they spread, and what that is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.score_captions import metric_note, origin
from reportgen.figures.score_words import (
    difference_text,
    interval_text,
    level_text,
    metric_text,
    protocol_notes,
    score_text,
)
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import RunSpread

_MOST_NAMES = 6


def subtitle(spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """Metric, runs and level, in a few words."""
    if not spreads:
        return ""
    counts = sorted({len(one.runs) for one in spreads})
    each = "a series" if len(counts) == 1 else "each series"
    runs = counted(counts[0], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    interval = f"{level_text(spreads[0].level)} interval of the mean over runs"
    parts = [
        metric_text(spreads[0].metric, context),
        f"{runs} of {each}",
        interval if any(one.low is not None for one in spreads) else "no interval",
        "" if context.higher_is_better else "lower is better",
    ]
    return ", ".join(filter(None, parts))


def summary(spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """One sentence: which series moves most from run to run, and within what each one's runs lie."""
    known = [one for one in spreads if one.sd is not None]
    if not known:
        if not spreads:
            return "No series has a run."
        return "With one run of each series, nothing can be said about how much runs vary."
    widest = max(known, key=lambda one: one.sd or 0.0)
    said = difference_text(widest.sd or 0.0, context, signed=False)
    runs = [run.score for run in widest.runs]
    ends = " to ".join(score_text(end, context) for end in (min(runs), max(runs)))
    lead = f"{counted(len(runs), 'run')} of {widest.series} reach {ends}, a standard deviation of {said}"
    if len(known) == 1:
        return f"{lead}{_mean(widest, context)}."
    return f"{lead}, the largest of {counted(len(known), 'series', 'series')} with several runs."


def _mean(one: RunSpread, context: ScoreContext) -> str:
    ends = interval_text(one.low, one.high, context)
    if one.mean is None or not ends:
        return ""
    half = ((one.high or 0.0) - (one.low or 0.0)) / 2
    return f" about their mean of {score_text(one.mean, context, half=half)} {ends}"


def caption(spreads: Sequence[RunSpread], context: ScoreContext, *, words: str | None = None) -> str:
    """What dots and lines are, what was left out, the protocol and the source; the author's words first."""
    names = [one.series for one in spreads]
    sentences = [
        words or "",
        _counts(spreads),
        "Small dot: the score of one run, on the problems that every run of its series answered.",
        _line(spreads),
        metric_note(spreads[0].metric) if spreads else "",
        *_reasons(spreads),
        *(
            f"{one.series}: {counted(one.left_out, 'problem')} that only some of its runs answered left out."
            for one in spreads
            if one.left_out
        ),
        "" if context.higher_is_better else "Lower is better.",
        *protocol_notes(context, names),
        *context.notes,
        f"Source: {origin(context)}.",
    ]
    return " ".join(filter(None, sentences))


def _counts(spreads: Sequence[RunSpread]) -> str:
    by_count: dict[int, list[str]] = {}
    for one in spreads:
        by_count.setdefault(len(one.runs), []).append(one.series)
    if len(by_count) == 1:
        return f"n = {counted(next(iter(by_count)), 'run')} of each series."
    said = [f"{counted(n, 'run')} of {listing(names, most=_MOST_NAMES)}" for n, names in by_count.items()]
    return f"n: {'; '.join(said)}." if said else ""


def _line(spreads: Sequence[RunSpread]) -> str:
    if all(one.low is None for one in spreads):
        return "Hollow dot: their mean, without an interval."
    level = level_text(spreads[0].level)
    return (
        f"Large dot and line: their mean with its {level} interval (Student's t over runs), for the mean of "
        "other runs like these on these problems; how much problems vary is not in it."
    )


def _reasons(spreads: Sequence[RunSpread]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for one in spreads:
        if one.reason:
            reasons.setdefault(one.reason, []).append(one.series)
    return [f"{listing(names, most=_MOST_NAMES)}: {reason}." for reason, names in reasons.items()]
