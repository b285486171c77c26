"""What happened on a benchmark of problems: the line of key results under a page's title, and its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.picture import get_colour
from reportgen.figures.score_words import (
    find_protocol_differences,
    format_difference,
    format_score,
    format_score_estimate,
    name_metric,
)
from reportgen.figures.svg_text import escape_text
from reportgen.model import BenchmarkResult
from reportgen.outcomes import TARGET_POWER, Verdict
from reportgen.words import describe_chance, format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.figures.score_context import BenchmarkScores, ScoreContext
    from reportgen.model import Lead
    from reportgen.outcomes import Score
    from reportgen.settings.front_matter import Benchmark

_ACROSS, _DOWN, _PIXELS = 600, 200, 56
_MOST_NAMED = 4


def summarize_score_benchmark(
    benchmark: Benchmark, page: str, scored: BenchmarkScores, context: ScoreContext
) -> BenchmarkResult:
    """Best score, who is in its group, how large a difference is found, and on how many problems.

    Args:
        benchmark: as its author declares it.
        page: the page's path below ``content/``.
        scored: all series; at least one of them has a score.
        context: of the benchmark.
    """
    known, lead = [one for one in scored.scores if one.estimate is not None], scored.lead
    leaders = _leaders(known, context)
    names = join_names([one.series for one in leaders], most=_MOST_NAMED)
    # Scores that read alike may have intervals of their own, which the blocks of the page tell.
    alone = (
        format_score_estimate(leaders[0], context)
        if len(leaders) == 1
        else _format_leader_score(leaders[0], context)
    )
    facts = [
        ("Best" if lead.series else _name_first(context), f"{names} {alone}"),
        ("No clear winner", "" if lead.series else _describe_level(leaders, scored)),
        ("Problems", _describe_problems(known)),
        ("Power", _describe_power(scored, context)),
        ("Date", benchmark.date or ""),
        ("Protocol", benchmark.protocol or _describe_protocol(context)),
        ("Caution", _caution(context)),
    ]
    return BenchmarkResult(
        name=benchmark.name,
        page=page,
        description=benchmark.description or "",
        leader=lead.series or "",
        score=_card(names, f"{alone} {name_metric(known[0].metric, context)}", lead, context),
        facts=tuple((label, text) for label, text in facts if text),
        spark=_draw_spark(known, benchmark, context),
        legend=tuple((one.series, context.slots.get(one.series)) for one in known),
    )


def _leaders(known: list[Score], context: ScoreContext) -> list[Score]:
    """The best series, with all whose score reads the same."""
    choose = max if context.higher_is_better else min
    best = _format_leader_score(choose(known, key=lambda one: one.estimate or 0.0), context)
    return [one for one in known if _format_leader_score(one, context) == best]


def _card(names: str, score: str, lead: Lead, context: ScoreContext) -> str:
    if lead.series:
        return score
    first = _name_first(context)
    return f"{f'No clear winner; {first.lower()}' if lead.tested else first}: {names} {score}"


def _name_first(context: ScoreContext) -> str:
    return "Highest score" if context.higher_is_better else "Lowest score"


def _describe_level(leaders: list[Score], scored: BenchmarkScores) -> str:
    """Whom the test of all pairs leaves as good as the best."""
    names = {one.series for one in leaders}
    first = leaders[0].series
    undecided = {
        name
        for one in scored.comparisons
        if first in {one.a, one.b} and one.verdict not in {Verdict.BETTER, Verdict.WORSE}
        for name in (one.a, one.b)
    }
    rest = [one.series for one in scored.scores if one.series in undecided - names]
    return f"no clear difference from {join_names(rest, most=_MOST_NAMED)}" if rest else ""


def _describe_problems(known: list[Score]) -> str:
    problems = sorted({one.problems for one in known if one.problems})
    if not problems:
        return f"not known, {format_count(len(known), 'series', 'series')}"
    samples = sorted({count for one in known for count in one.samples or ()})
    each = f" × {_format_range(samples)} {'sample' if samples == [1] else 'samples'}" if samples else ""
    return f"{_format_range(problems)}{each}, {format_count(len(known), 'series', 'series')}"


def _format_range(counts: list[int]) -> str:
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _describe_power(scored: BenchmarkScores, context: ScoreContext) -> str:
    """The difference that is found, among all pairs where there are several."""
    found = scored.power
    if found is None or found.difference is None:
        return ""
    said = format_difference(found.family_difference or found.difference, context, signed=False)
    among = f" among {found.together:,} pairs" if found.family_difference is not None else ""
    return f"a true difference of {said} is found {describe_chance(TARGET_POWER)}{among}"


def _describe_protocol(context: ScoreContext) -> str:
    """What the source says of all series alike, without the hash of its problems."""
    each = [dict(pairs) for _, pairs in context.protocol]
    shared = (
        (label, text)
        for label, text in (each[0] if each else {}).items()
        if label != "problem set" and all(one.get(label) == text for one in each)
    )
    return ", ".join(f"{label} {text}" for label, text in shared)


def _caution(context: ScoreContext) -> str:
    mixed = list(find_protocol_differences(context))
    flagged = f"mixed protocols: {join_names(mixed)} differ{'s' if len(mixed) == 1 else ''}" if mixed else ""
    return "; ".join(filter(None, [context.approximate, flagged]))


def _draw_spark(known: list[Score], benchmark: Benchmark, context: ScoreContext) -> str:
    """A small fluid picture of the scores with their intervals, the best series on top, without axes."""
    said = escape_text(
        f"{benchmark.name}: scores of {format_count(len(known), 'series', 'series')} with intervals"
    )
    rows = "".join(_draw_rows(known, context))
    return (
        f'<svg class="rg-spark" role="img" aria-label="{said}" width="100%" height="{_PIXELS}" '
        f'viewBox="0 0 {_ACROSS} {_DOWN}" preserveAspectRatio="none" overflow="visible" fill="none" '
        f'stroke-linecap="round">{rows}</svg>'
    )


def _draw_rows(known: list[Score], context: ScoreContext) -> Iterator[str]:
    ends = [end for one in known for end in (one.estimate, one.low, one.high) if end is not None]
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 1, high + 1

    def x(value: float) -> str:
        return f"{(value - low) / (high - low) * _ACROSS:.5g}"

    sign = -1 if context.higher_is_better else 1
    for place, one in enumerate(sorted(known, key=lambda one: sign * (one.estimate or 0.0))):
        y = f"{(place + 0.5) / len(known) * _DOWN:.5g}"
        stroke = f'stroke="{get_colour(context.slots.get(one.series))}" vector-effect="non-scaling-stroke"'
        if one.low is not None and one.high is not None:
            yield f'<path {stroke} stroke-width="1.75" d="M{x(one.low)} {y}H{x(one.high)}"/>'
        # A line of no length with round ends is a dot, and stays round however the picture is stretched.
        yield f'<path {stroke} stroke-width="7" d="M{x(one.estimate or 0.0)} {y}h0"/>'


def _format_leader_score(score: Score, context: ScoreContext) -> str:
    return format_score(score.estimate or 0.0, context)
