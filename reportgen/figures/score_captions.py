"""Words around a picture of scores: its subtitle, who leads and how sure that is, and how it came about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reportgen.figures.score_words import (
    blocks_words,
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
from reportgen.outcomes import REPORTED, Verdict
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import ScoreContext, Scored
    from reportgen.outcomes import Comparison, Score

_MOST_NAMES = 6
_METRICS = {
    "pass@": "{metric} is the chance that at least one of {k} samples is right, estimated without bias",
    "pass^": "{metric} is the chance that all of {k} samples are right, estimated without bias",
    "maj@": "{metric} is the score of the answer that most of {k} samples give",
    "avg@": "{metric} is the mean over samples: what one expects of the average of {k}",
}


def subtitle(scores: Sequence[Score], context: ScoreContext) -> str:
    """Metric, problems × samples, level and estimand, in a few words."""
    first = scores[0]
    parts = [
        metric_text(first.metric, context),
        counts_text(scores),
        f"{level_text(first.level)} interval for {first.estimand}" if first.estimand else "",
        "" if context.higher_is_better else "lower is better",
    ]
    return ", ".join(filter(None, parts))


def counts_text(scores: Sequence[Score]) -> str:
    """Problems × samples of all scores, and runs: ``30 problems × 16 samples, 3 runs``."""
    problems = [score.problems for score in scores if score.problems]
    samples = [count for score in scores for count in score.samples or ()]
    runs = [score.runs for score in scores if score.runs]
    said = " × ".join(filter(None, [_span(problems, "problem"), _span(samples, "sample")]))
    return ", ".join(filter(None, [said, _span(runs, "run") if runs and max(runs) > 1 else ""]))


def summary(ranked: Sequence[Score], scored: Scored, context: ScoreContext) -> str:
    """One sentence: who has the highest score, and what the test says of it against the second.

    Args:
        ranked: the scores that are shown, best first, those without a score last.
        scored: has the comparisons.
        context: words for scores.
    """
    known = [score for score in ranked if score.estimate is not None]
    if not known:
        return "No series has a score."
    first = known[0]
    if len(known) == 1:
        return f"{first.series} scores {estimate_text(first, context)} on {_problems(first)}."
    second = known[1]
    level = [score.series for score in known if score.estimate == first.estimate]
    if scored.lead.series == first.series:
        others = "" if len(known) == 2 else f" than each of the {len(known) - 1} others"  # noqa: PLR2004 - the other
        better = f", better{others}" if others else ""
        lead = f"{first.series} leads with {estimate_text(first, context)}{better}"
    elif len(level) > 1:
        best = "highest" if context.higher_is_better else "lowest"
        said = f"{listing(level, most=_MOST_NAMES)} share the {best} score, {estimate_text(first, context)}"
        return f"No clear winner: {said}{_sureness(first, second, scored, context)}."
    else:
        best = "highest" if context.higher_is_better else "lowest"
        lead = f"No clear winner: {first.series} has the {best} score, {estimate_text(first, context)}"
        if not scored.comparisons:
            lead = lead.removeprefix("No clear winner: ")
    follows = f"; {second.series} follows with {estimate_text(second, context)}"
    return f"{lead}{follows}{_sureness(first, second, scored, context)}."


def _sureness(first: Score, second: Score, scored: Scored, context: ScoreContext) -> str:
    """What the paired comparison of the first two says."""
    one = next((c for c in scored.comparisons if {c.a, c.b} == {first.series, second.series}), None)
    if one is None or one.difference is None:
        return ": the two were not compared problem by problem"
    if one.verdict is Verdict.TOO_FEW:
        return f": {counted(one.shared, 'shared problem')} cannot decide"
    low, high = (one.low, one.high) if one.a == first.series else (_turned(one.high), _turned(one.low))
    half = None if low is None or high is None else (high - low) / 2
    value = one.difference if one.a == first.series else 0.0 - one.difference
    size = [
        difference_text(value, context, half=half),
        interval_text(low, high, context, signed=True),
    ]
    said = f"{' '.join(filter(None, size))}, {_adjusted(one)}"
    shared = counted(one.shared, "problem")
    if one.verdict is Verdict.UNCLEAR:
        return f": on {shared} no difference is clear ({said})"
    return f": on {shared} the two differ ({said})"


def _adjusted(one: Comparison) -> str:
    return f"adjusted {p_text(one.adjusted_p)}" if one.tested_together > 1 else p_text(one.adjusted_p)


def _turned(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def caption(
    shown: Sequence[Score], scored: Scored, context: ScoreContext, *, words: str | None = None
) -> str:
    """What a dot and its line are, what ranks are, the protocol, what was found, and the source.

    Args:
        shown: the scores in the picture.
        scored: has the comparisons, and what was found.
        context: protocol, notes and source.
        words: the author's, put first.
    """
    names = [score.series for score in shown]
    sentences = [
        words or "",
        _dots(shown, context),
        metric_note(shown[0].metric) if shown else "",
        *_intervals(shown),
        _runs(shown, context),
        *_reasons(shown),
        _groups(shown, scored),
        "" if context.higher_is_better else "Lower is better.",
        *protocol_notes(context, names),
        *found_notes(scored.problems.found, names),
        *context.notes,
        f"Source: {origin(context)}.",
    ]
    return " ".join(filter(None, sentences))


def origin(context: ScoreContext) -> str:
    """The source's title, and why its numbers are not exact if they are not."""
    return f"{context.source} ({context.approximate})" if context.approximate else context.source


def metric_note(metric: str) -> str:
    """What a metric with a k means, a sentence; empty for a mean."""
    if metric in {"pass@1", "pass^1"}:
        return f"{metric} is the chance that a sample is right."
    for start, words in _METRICS.items():
        if metric.startswith(start):
            return f"{words.format(metric=metric, k=metric.removeprefix(start))}."
    return ""


def _dots(shown: Sequence[Score], context: ScoreContext) -> str:
    """What a dot is made of."""
    if not shown:
        return ""
    runs = max((score.runs for score in shown), default=0)
    averaged = ", runs averaged within each problem" if runs > 1 else ""
    counts = counts_text(shown)
    over = f" over {counts}{averaged}" if counts else ""
    if any(score.method == REPORTED for score in shown):
        return _reported_dots(shown, context)
    return f"Dot: {metric_text(shown[0].metric, context)}{over}; every problem counts the same."


def _reported_dots(shown: Sequence[Score], context: ScoreContext) -> str:
    """What a dot is where there are totals only."""
    problems = [score.problems for score in shown if score.problems]
    over = f" over {_span(problems, 'problem')}" if problems else ""
    runs = [score.runs for score in shown]
    errors = ", with the mean of their standard errors, which is not too small"
    known = any(score.stderr is not None for score in shown)
    several = f"; of {_span(runs, 'run')} the mean{errors if known else ''}" if max(runs) > 1 else ""
    metric = metric_text(shown[0].metric, context)
    return f"Dot: {metric}{over}, as reported: the problems behind it are not known{several}."


def _intervals(shown: Sequence[Score]) -> list[str]:
    """What the lines are; several sentences where they were not all made in one way."""
    ways: dict[tuple[str, str], list[str]] = {}
    for score in shown:
        if score.low is not None:
            ways.setdefault((estimand_words(score), method_words(score.method)), []).append(score.series)
    if not ways:
        return ["No interval is known."] if shown else []
    level = level_text(shown[0].level)
    if len(ways) == 1:
        ((estimand, method),) = ways
        return [f"Line: {level} interval for {estimand} ({method})."]
    return [
        f"Line of {listing(names, most=_MOST_NAMES)}: {level} interval for {estimand} ({method})."
        for (estimand, method), names in ways.items()
    ]


def _reasons(shown: Sequence[Score]) -> list[str]:
    """Why an interval is missing or unusual, once for all series that it holds for."""
    reasons: dict[str, list[str]] = {}
    for score in shown:
        if score.reason:
            reasons.setdefault(score.reason, []).append(score.series)
    return [f"{listing(names, most=_MOST_NAMES)}: {reason}." for reason, names in reasons.items()]


def _groups(shown: Sequence[Score], scored: Scored) -> str:
    if len(shown) < 2:  # noqa: PLR2004 - one alone is in no group
        return ""
    if not scored.groups:
        return "No ranks: nothing was compared problem by problem."
    together = max((one.tested_together for one in scored.comparisons), default=0)
    alike = all(score.estimand != "these problems" for score in shown)
    other = "" if alike else " Ranks are about other problems like these, lines are not."
    family = f", adjusted for {counted(together, 'pair')} tested together" if together > 1 else ""
    family += blocks_words(scored.comparisons)
    borders = (
        "Every series of a group is better than every one of the groups below. "
        if len(scored.groups) > 1
        else ""
    )
    return (
        f"Ranks: those that the test of pairs leaves open (paired by problem{family}, p < 0.05). {borders}"
        f"Intervals of two series may overlap although they differ.{other}"
    )


def _runs(shown: Sequence[Score], context: ScoreContext) -> str:
    """What of an interval comes from runs; with one run, that nothing does."""
    several = [
        score for score in shown if score.run_stderr is not None and score.stderr and score.low is not None
    ]
    if not several:
        single = shown and all(score.runs == 1 and score.estimand == "problems like these" for score in shown)
        return "One run each: about these checkpoints, not about training again." if single else ""
    widest = max(several, key=lambda score: score.stderr or 0.0)
    half = ((widest.high or 0.0) - (widest.low or 0.0)) / 2
    part = half / (widest.stderr or 1.0)
    of_runs = widest.run_stderr or 0.0
    of_problems = math.sqrt(max((widest.stderr or 0.0) ** 2 - of_runs**2, 0.0))
    whole, problems, runs = (
        difference_text(value, context, half=half, signed=False)
        for value in (half, part * of_problems, part * of_runs)
    )
    return (
        f"Intervals are of methods: of {widest.series}'s ± {whole}, {problems} come from problems and {runs} "
        f"from {counted(widest.runs, 'run')} (they add as squares)."
    )


def _problems(score: Score) -> str:
    return counted(score.problems, "problem") if score.problems else "problems that are not known"


def _span(counts: Sequence[int], noun: str) -> str:
    """``30 problems``, or ``28 to 30 problems``."""
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return counted(low, noun) if low == high else f"{low:,} to {counted(high, noun)}"
