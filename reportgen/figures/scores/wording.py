"""Wording of scores, intervals, differences, p values and protocols, and the axis of scores."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.comparisons import REPORTED, THESE_PROBLEMS
from reportgen.core.digits import choose_decimals, choose_percent_decimals
from reportgen.core.words import (
    find_common_half,
    format_count,
    format_equation,
    format_nonzero,
    format_number,
    format_p,
    format_percent,
    join_names,
)
from reportgen.figures.axis import Axis, make_linear_axis

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.core.comparisons import Comparison, OutcomeNotes, RankRange, RunSpread, Score
    from reportgen.core.score_names import AnswerCounts
    from reportgen.figures.plot import ScoreContext


MOST_NAMES = 6
"""Most series that a sentence names."""
_NAMES, _SERIES = 4, 4
_DATE = "date"
_TICKS = 6
_ROOM = 0.04
_ESTIMANDS = {
    "problems like these": "the score on other problems like these",
    "these problems": "the score on these very problems with other samples",
}
_METHODS = {
    "Wilson": "Wilson's score interval over problems",
    "bound on unseen problems": "an exact bound on unseen problems",
    "t over samples": "Student's t over samples within problems",
    REPORTED: "normal, from the standard error that is reported with it",
}
_METRIC_NOTES = {
    "pass@": "{metric} is the chance that at least one of {k} samples is right, estimated without bias",
    "pass^": "{metric} is the chance that all of {k} samples are right, estimated without bias",
    "maj@": "{metric} is the score of the answer that most of {k} samples give",
    "avg@": "{metric} is the mean over samples: what one expects of the average of {k}",
}


def is_percent(context: ScoreContext) -> bool:
    """Return whether scores, from 0 to 1, are shown in percent and differences in points."""
    return (context.lowest, context.highest) == (0, 1)


def half_width(result: Score | RunSpread | Comparison) -> float | None:
    """Return half the interval's width, which determines the digits, or None without an interval."""
    return None if result.low is None or result.high is None else (result.high - result.low) / 2


def share_digits(
    context: ScoreContext, scores: Sequence[Score | RunSpread], pairs: Sequence[Comparison] = ()
) -> ScoreContext:
    """Return a context that writes all scores, and all differences, with those of a typical interval."""
    return replace(context, half=find_common_half(scores), difference_half=find_common_half(pairs))


def _choose_half(half: float | None, shared: float | None) -> float | None:
    """Return the half-width that determines digits: the shared one.

    A much narrower interval keeps digits of its own, so that it does not become empty.
    """
    return half if shared is None else min(shared, 10 * half) if half else shared


def format_score(value: float, context: ScoreContext, *, half: float | None = None) -> str:
    """Format a score: ``84.2%`` if scores range from 0 to 1, otherwise a plain number.

    ``half`` of its interval, or that of the context, determines the digits; percentages have at least one
    decimal. Scores inside the range are never rounded to its ends.

    Raises:
        ValueError: ``value`` is not finite.
    """
    half = _choose_half(half, context.half)
    if is_percent(context):
        return format_percent(value, decimals=choose_percent_decimals(half))
    return format_number(value, decimals=choose_decimals(half), within=(context.lowest, context.highest))


def format_difference(
    value: float, context: ScoreContext, *, signed: bool = True, half: float | None = None
) -> str:
    """Format a difference of scores: ``+3.2 points`` if they range from 0 to 1, otherwise a plain number.

    The digits are chosen as those of scores are. Raises a ``ValueError`` if ``value`` is not finite.
    """
    half = _choose_half(half, context.difference_half)
    if is_percent(context):
        points = format_nonzero(value * 100, decimals=choose_percent_decimals(half), signed=signed)
        return f"{points} points"
    return format_nonzero(value, decimals=choose_decimals(half), signed=signed)


def format_plain_difference(comparison: Comparison, context: ScoreContext) -> str:
    """Format a known difference without its unit."""
    difference = format_difference(comparison.difference or 0.0, context, half=half_width(comparison))
    return difference.removesuffix(" points")


def format_interval(
    low: float | None, high: float | None, context: ScoreContext, *, signed: bool = False
) -> str:
    """Format an interval to follow its value: ``[70.1, 92.3]``, or "" without one.

    With ``signed`` it is that of a difference: ``[+0.4, +6.0]``. An end other than 0 is not rounded to 0.
    Raises a ``ValueError`` if an end is not finite.
    """
    if low is None or high is None:
        return ""
    write, unit = (format_difference, " points") if signed else (format_score, "%")
    ends = [write(end, context, half=(high - low) / 2).removesuffix(unit) for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"


def format_score_estimate(score: Score, context: ScoreContext) -> str:
    """Format a score with its interval, if known: ``84.2% [70.1, 92.3]``; or ``no score``."""
    if score.estimate is None:
        return "no score"
    ends = format_interval(score.low, score.high, context)
    return f"{format_score(score.estimate, context, half=half_width(score))} {ends}".rstrip()


def format_p_text(p: float | None) -> str:
    """Format a p value: ``p = 0.012``, ``p < 0.001``; ``not tested`` for None.

    Rounding never reaches 0.05: 0.0496 is ``p = 0.049``, since the verdict uses the exact value.
    """
    return "not tested" if p is None else format_equation("p", format_p(p))


def format_level(level: float) -> str:
    """Format a confidence level: ``95%``."""
    return f"{level * 100:.10g}%"


def format_range(counts: Sequence[int], noun: str = "") -> str:
    """Format counts as ``30 problems`` or ``28 to 30 problems``, or "" without counts."""
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    last = format_count(high, noun) if noun else f"{high:,}"
    return last if low == high else f"{low:,} to {last}"


def describe_counts(scores: Sequence[Score]) -> str:
    """Count problems × samples, and runs: ``30 problems × 16 samples, 3 runs``."""
    problems = [score.problems for score in scores if score.problems]
    samples = [count for score in scores for count in score.samples or ()]
    runs = [score.runs for score in scores if score.runs]
    sizes = " × ".join(filter(None, [format_range(problems, "problem"), format_range(samples, "sample")]))
    return ", ".join(filter(None, [sizes, format_range(runs, "run") if runs and max(runs) > 1 else ""]))


def format_rank(ranks: RankRange) -> str:
    """Format a range of ranks as ``1`` or ``1 to 4``."""
    return str(ranks.best) if ranks.best == ranks.worst else f"{ranks.best} to {ranks.worst}"


def name_metric(metric: str, context: ScoreContext) -> str:
    """Name a metric for titles: ``mean score`` for ``mean``, others by their own name.

    The name of the score is included, if any: ``mean exact_match``, ``pass@4 of exact_match``.
    """
    if metric == "mean":
        return f"mean {context.score_name or 'score'}"
    return f"{metric} of {context.score_name}" if context.score_name else metric


def explain_metric(metric: str) -> str:
    """Return a sentence explaining a metric with a k, or "" for a mean."""
    if metric in {"pass@1", "pass^1"}:
        return f"{metric} is the chance that a sample is right."
    for start, words in _METRIC_NOTES.items():
        if metric.startswith(start):
            return f"{words.format(metric=metric, k=metric.removeprefix(start))}."
    return ""


def describe_estimand(score: Score) -> str:
    """Describe the estimand of an interval: ``the score on other problems like these``."""
    return _ESTIMANDS.get(score.estimand, "the score as it is reported")


def describe_method(method: str) -> str:
    """Describe the method of an interval: ``Student's t over problems``."""
    if method in _METHODS or not method.startswith("t over "):
        return _METHODS.get(method, method)
    return f"Student's {method}".replace("over clusters", "over clusters of problems")


def describe_intervals(known: Sequence[Score]) -> str:
    """Describe the estimands and methods of several intervals."""
    about = join_names(list(dict.fromkeys(map(describe_estimand, known))))
    methods = join_names(list(dict.fromkeys(describe_method(score.method) for score in known)))
    return f"{format_level(known[0].level)} CI of {about} ({methods})"


def describe_adjustment(compared: Sequence[Comparison], together: str) -> str:
    """Describe the adjustment of p for all ``together`` that were tested, such as ``pair``."""
    tested = max((pair.tested_together for pair in compared), default=0)
    if tested < 2:  # noqa: PLR2004 - one has nothing to be adjusted for
        return "one comparison, so no adjustment"
    how, meaning = "step-down test of the largest", ""
    if compared[0].adjust == "fdr":
        how, meaning = "false discovery rate, Benjamini\N{EN DASH}Hochberg", f": {FDR_NOTE}"
    elif compared[0].estimand == THESE_PROBLEMS:
        how = "Holm"
    return f"adjusted for {format_count(tested, together)} tested together ({how}){meaning}"


FDR_NOTE = "of the pairs called different, at most about 5% are expected to be wrong"
"""Meaning of verdicts by the false discovery rate."""


_NOISES = {"answers": "sampled answers", "problems": "problems", "runs": "runs"}


def describe_noises(compared: Sequence[Comparison], context: ScoreContext) -> Iterator[str]:
    """Describe where the standard error of a typical difference comes from, if it is known."""
    words = []
    for name, source in _NOISES.items():
        known = [getattr(one.noises, name) for one in compared if one.noises is not None]
        values = [value for value in known if value is not None]
        if values:
            words.append(f"{format_difference(median(values), context, signed=False)} from {source}")
    if words:
        which = "" if len(compared) == 1 else ", the median of the pairs"
        yield f"Standard error of a difference{which}: {join_names(words)}."


def describe_family_blocks(compared: Sequence[Comparison]) -> str:
    """Return a clause on the blocks of a page that form one family, or "" if there is only one."""
    blocks = max((comparison.family_blocks for comparison in compared), default=1)
    return f" and for the {blocks} blocks of this page that are one family" if blocks > 1 else ""


def group_reasons(reasons: Iterable[tuple[str, str]], *, most: int = MOST_NAMES) -> list[str]:
    """Return a sentence for each reason, listing its names; pairs without a reason are dropped."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason:
            names.setdefault(reason, []).append(name)
    return [f"{join_names(those, most=most)}: {reason}." for reason, those in names.items()]


def list_found_notes(found: OutcomeNotes, series: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return sentences about problems in the outcomes: duplicates, missing scores, missing problems and more.

    With ``series``, those shown, only notes on them or on the whole table are listed.
    """
    shown = None if series is None else set(series)
    incomplete = [entry for entry in found.incomplete if shown is None or entry[0] in shown]
    uneven = [entry for entry in found.uneven if shown is None or entry[0] in shown]
    partial = [entry for entry in found.partial if shown is None or entry[0] in shown]
    replaced = "replaced by a later row of the same series, run, problem and sample"
    counted = [entry for entry in found.statuses if shown is None or entry.series in shown]
    verb = "has" if len(found.differing_gold) == 1 else "have"
    sentences = [
        *describe_statuses(counted),
        _count_rows(found.replaced, "", replaced),
        _count_rows(found.missing, " without a usable score", "left out, and not taken for wrong"),
        *(f"{name} lacks {_name_problems(names)} that others have." for name, names in incomplete[:_SERIES]),
        f"{len(incomplete) - _SERIES} more series lack problems." if len(incomplete) > _SERIES else "",
        "Each series is scored on the problems that it has." if incomplete else "",
        *(f"{name} has {low} to {high} samples a problem." for name, low, high in uneven[:_SERIES]),
        f"{len(uneven) - _SERIES} more series are uneven, too." if len(uneven) > _SERIES else "",
        "Every problem counts the same, however many samples it has." if uneven else "",
        _describe_partial(partial),
        f"{_name_problems(found.differing_gold)} {verb} more than one gold answer: one name may stand for "
        "several."
        if found.differing_gold
        else "",
    ]
    return tuple(filter(None, sentences))


_STATUS_NOUNS = {
    "failed": "failed answer",
    "timed out": "time-out",
    "truncated": "truncated answer",
    "infrastructure": "infrastructure error",
    "not run": "answer not run",
    "": "answer without a score",
}


def describe_statuses(counted: Sequence[AnswerCounts]) -> Iterator[str]:
    """Yield a sentence on each series: the problems it answered, and what was left out or counts as wrong."""
    known = [entry for entry in counted if entry.left_out or entry.wrong]
    for entry in known[:_SERIES]:
        answered = f"{entry.answered:,} of {format_count(entry.problems, 'problem')} answered"
        ends = []
        for counts, what in ((entry.left_out, "left out"), (entry.wrong, "counted as wrong")):
            listed = [_count_status(count, status) for status, count in counts.items()]
            ends += [f"{join_names(listed)} {what}"] if listed else []
        yield f"{entry.series}: {answered}; {', '.join(ends)}."
    if len(known) > _SERIES:
        yield f"{len(known) - _SERIES} more series lack answers."


def _count_status(count: int, status: str) -> str:
    noun = _STATUS_NOUNS[status]
    first, _, rest = noun.partition(" ")
    many = f"{first}s {rest}" if rest.startswith(("not", "without")) else f"{noun}s"
    return format_count(count, noun, many)


def _describe_partial(partial: Sequence[tuple[str, str, int, int]]) -> str:
    """Return a sentence on runs that have not all problems of their series, or none and are left out."""
    if not partial:
        return ""
    words = [
        f"{f'run {run} of {series}' if run else series} ({f'{count:,}' if count else 'none'} of {every:,})"
        for series, run, count, every in partial
    ]
    verb, whose = ("has", "its") if len(words) == 1 else ("have", "their")
    left_out = "; a run with none is left out" if any(not count for *_, count, _ in partial) else ""
    listed = join_names(words, most=MOST_NAMES)
    return f"{format_count(len(words), 'run')} {verb} fewer problems than {whose} series: {listed}{left_out}."


def _count_rows(count: int, which: str, what: str) -> str:
    return f"{format_count(count, 'row')}{which} {'was' if count == 1 else 'were'} {what}." if count else ""


def _name_problems(names: Sequence[str]) -> str:
    return f"{format_count(len(names), 'problem')} ({join_names(names, most=_NAMES)})"


def find_protocol_differences(
    context: ScoreContext, series: Sequence[str] | None = None, *, dated: bool = False
) -> dict[str, dict[str, list[str]]]:
    """Return differences in protocol: label to texts, each with its series.

    Empty if all protocols agree or none is known. A missing statement is ``not stated``. The date of the
    answers is not part of the protocol: differing dates count only if ``dated`` is True.
    """
    protocol = _collect_protocols(context, series).items()
    return {label: texts for label, texts in protocol if len(texts) > 1 and (dated or label != _DATE)}


def list_protocol_notes(
    context: ScoreContext, series: Sequence[str] | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return sentences on differences in protocol between series, and one on what all of them share."""
    common: list[str] = []
    mixed: list[str] = []
    dates: list[str] = []
    for label, texts in _collect_protocols(context, series).items():
        if len(texts) == 1:
            common.append(f"{label} {next(iter(texts))}")
        else:
            each = (f"{text} for {join_names(names, most=_NAMES)}" for text, names in texts.items())
            (dates if label == _DATE else mixed).append(f"{label} is {', '.join(each)}")
    different = f"Mixed protocols: {'; '.join(mixed)}. Differences in score may come from these."
    return (
        (*([different] if mixed else []), *(f"The {words}." for words in dates)),
        (f"Protocol: {', '.join(common)}.",) if common else (),
    )


def _collect_protocols(
    context: ScoreContext, series: Sequence[str] | None
) -> dict[str, dict[str, list[str]]]:
    """Collect series by text by label, in the given order."""
    given = {name: dict(pairs) for name, pairs in context.protocol if series is None or name in set(series)}
    # A series without a protocol states nothing for any label of the others.
    names = list(given) if series is None or not given else list(dict.fromkeys(series))
    labels = dict.fromkeys(label for pairs in given.values() for label in pairs)
    protocol: dict[str, dict[str, list[str]]] = {label: {} for label in labels}
    for label, texts in protocol.items():
        for name in names:
            texts.setdefault(given.get(name, {}).get(label) or "not stated", []).append(name)
    return protocol


def make_score_axis(values: Iterable[float | None], context: ScoreContext, *, title: str) -> Axis:
    """Make an axis over scores and the ends of their intervals, within the range of scores.

    Values and domain are in the unit of the input. Without values, the axis covers the whole range.
    """
    ends = [context.lowest, context.highest]
    # An unknown range is shown as 0 to 1.
    whole = ends if all(map(math.isfinite, ends)) else [0.0, 1.0]
    known = [value for value in values if value is not None] or whole
    low, high = _add_room(known, context)
    # A reported interval that exceeds the range is shown in full.
    low, high = max(low, min(context.lowest, *known)), min(high, max(context.highest, *known))
    return _make_axis(title, low, high, context, signed=False)


def make_difference_axis(values: Iterable[float | None], context: ScoreContext, *, title: str) -> Axis:
    """Make an axis over differences of scores and the ends of their intervals, always including 0."""
    known = [0.0, *(value for value in values if value is not None)]
    low, high = _add_room(known, context)
    return _make_axis(title, low, high, context, signed=True)


def _add_room(known: list[float], context: ScoreContext) -> tuple[float, float]:
    """Pad the range of the values; equal values get a tenth of the range of scores.

    If that is unknown, a tenth of the value is used.
    """
    low, high = min(known), max(known)
    least = (context.highest - context.lowest) / 10
    if math.isinf(least):
        least = abs(high) / 10 or 1.0
    # A range within rounding error counts as one value.
    room = _ROOM * (high - low) if high - low > 1e-9 * least else least / 2
    return low - room, high + room


def _make_axis(title: str, low: float, high: float, context: ScoreContext, *, signed: bool) -> Axis:
    scale = 100.0 if is_percent(context) else 1.0
    axis = make_linear_axis(title, low * scale, high * scale, count=_TICKS)
    pairs = zip(axis.ticks, axis.labels, strict=True)
    labels = [f"+{label}" if signed and tick > 0 else label for tick, label in pairs]
    if scale == 1:
        return replace(axis, labels=tuple(labels))
    decimals = max(len(label.partition(".")[2]) for label in axis.labels) if axis.labels else 0
    return replace(
        axis,
        domain=(axis.domain[0] / scale, axis.domain[1] / scale),
        ticks=tuple(tick / scale for tick in axis.ticks),
        labels=tuple(labels if signed else (f"{label}%" for label in labels)),
        format=f".{decimals}%",
        read_format=f".{decimals + 1}%",
    )
