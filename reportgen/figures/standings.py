"""How series stand on a benchmark: one finding in words, and a strip of dots on a scale with two ends.

Pages, overviews, feeds and cards for link previews all say what is written here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.comparisons import write_verdict
from reportgen.core.digits import choose_decimals, choose_percent_decimals
from reportgen.core.model import Strip
from reportgen.core.words import MINUS, format_nonzero, join_names
from reportgen.figures.axis import make_linear_axis, make_log_axis, position, tick_step, use_percent
from reportgen.figures.style import get_colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Estimate, Lead
    from reportgen.figures.axis import Axis

_ROW: Final = 20  # pixels of a line of the strip, as in figure.css
_ACROSS: Final = 600
_MOST_ROWS: Final = 6
_STEPS: Final = 3
_ROUNDING: Final = 1e-9
_INSIDE = 'vector-effect="non-scaling-stroke" stroke-linecap="round"'


class Dot(NamedTuple):
    """A value of a series as a number, and as text with its interval; ends are NaN without one."""

    series: str
    slot: int | None
    value: float
    low: float
    high: float
    text: str
    interval: str


class Standing(NamedTuple):
    """How series stand on a benchmark, in words."""

    finding: str  # what is seen, as the start of a sentence: "v1 ends at 30.2%, v10 at 30.0%"
    verdict: str = ""  # what is tested, as ``write_verdict`` writes it; empty without other series
    pair: str = ""  # that decides: "Aspen − Cedar"
    difference: str = ""  # of that pair, with its interval; empty if nothing is tested
    is_clear: bool = False  # whether a series is better than all others


def make_standing(finding: str, lead: Lead, *, percent: bool, has_direction: bool = True) -> Standing:
    """Return the words for who leads: what is seen, what the test says, and by how much."""
    verdict = write_verdict(lead, has_direction=has_direction)
    difference = _write_difference(lead.difference, percent=percent) if lead.difference else ""
    pair = f" {MINUS} ".join(lead.pair)
    return Standing(finding, verdict, pair, difference, lead.tested and bool(lead.series))


def _write_difference(found: Estimate, *, percent: bool) -> str:
    """Write ``+16.0 points [+8.4, +23.7]``, or "" without an interval."""
    if found.low is None or found.high is None:
        return ""
    half = (found.high - found.low) / 2
    factor, unit = (100, " points") if percent else (1, "")
    decimals = choose_percent_decimals(half) if percent else choose_decimals(half)
    size, low, high = (
        format_nonzero(factor * value, decimals=decimals, signed=True)
        for value in (found.value, found.low, found.high)
    )
    return f"{size}{unit} [{low}, {high}]"


def write_claims(every: Sequence[tuple[str, Standing]]) -> dict[str, Any]:
    """Return the words of a ``BenchmarkResult`` from names and standings of benchmarks, its own first.

    A claim is the verdict, after what is seen unless a series is better.
    """
    first, several = every[0][1], len(every) > 1
    names = [f"{name}: " if several else "" for name, _ in every]
    claims = [f"{name}{_write_claim(one)}" for name, (_, one) in zip(names, every, strict=True)]
    lines = [
        (
            f"{name}{one.verdict or one.finding}",
            _join_pairs([("", one)]) or (one.finding if one.verdict else ""),
        )
        for name, (_, one) in zip(names, every, strict=True)
    ]
    difference = _join_pairs([(f" on {name}" if several else "", one) for name, one in every])
    if several and first.is_clear and len({one.verdict for _, one in every}) == 1:
        claims = [f"On {join_names([name for name, _ in every])}, {first.verdict}."]
        lines = [(first.verdict, difference)]
    return {"claim": " ".join(claims), "difference": difference, "lines": tuple(lines)}


def _join_pairs(every: Sequence[tuple[str, Standing]]) -> str:
    """Write the differences that decide, each pair once: ``Aspen − Cedar: +16.0 points [+8.4, +23.7]``."""
    pairs: dict[str, list[str]] = {}
    for where, one in every:
        if one.difference:
            pairs.setdefault(one.pair, []).append(f"{one.difference}{where}")
    return "; ".join(f"{pair}: {', '.join(sizes)}" for pair, sizes in pairs.items())


def _write_claim(standing: Standing) -> str:
    parts = [standing.verdict] if standing.is_clear else [standing.finding, standing.verdict]
    return " ".join(f"{part}." for part in parts if part)


def draw_strip(dots: Sequence[Dot], reach: Sequence[float], *, percent: bool, log: bool = False) -> Strip:
    """Draw the values of series, the best first; more than six share the last line from the sixth on.

    ``reach`` are further values that the scale includes, so that small differences look small.
    """
    ends = [end for dot in dots for end in (dot.value, dot.low, dot.high) if math.isfinite(end)]
    axis = _make_scale([*ends, *reach], percent=percent, log=log)
    shown = dots if len(dots) <= _MOST_ROWS else dots[: _MOST_ROWS - 1]
    hidden, lines = dots[len(shown) :], len(shown) + (len(shown) < len(dots))
    strokes = [
        f'<path stroke="var(--rg-rule)" vector-effect="non-scaling-stroke" d="M{x:g} 0v{lines * _ROW}"/>'
        for x in (0, _ACROSS)
    ]
    strokes += [_draw_dot(dot, axis, place) for place, dot in enumerate(shown)]
    strokes += [_draw_dot(dot._replace(slot=None, low=math.nan), axis, len(shown)) for dot in hidden]
    rest = ""
    if hidden:
        way = "down" if hidden[-1].value < dots[0].value else "up"
        rest = f"{len(hidden):,} others, {way} to {hidden[-1].text}"
    return Strip(
        svg=f'<svg class="rg-dots" aria-hidden="true" width="100%" height="{lines * _ROW}" '
        f'viewBox="0 0 {_ACROSS} {lines * _ROW}" preserveAspectRatio="none" overflow="visible" fill="none">'
        f"{''.join(strokes)}</svg>",
        ends=(axis.labels[0], axis.labels[-1]),
        rows=tuple((dot.series, dot.slot, dot.text, dot.interval) for dot in shown),
        rest=rest,
    )


def _draw_dot(dot: Dot, axis: Axis, line: int) -> str:
    """Draw a value as a dot, and its interval as a line; a stroke without length stays round."""
    y, ink = (line + 0.5) * _ROW, f'stroke="{get_colour(dot.slot)}" {_INSIDE}'
    x = position(axis, dot.value) * _ACROSS
    drawn = f'<path {ink} stroke-width="8" d="M{x:.5g} {y:g}h0"/>'
    if not (math.isfinite(dot.low) and math.isfinite(dot.high)):
        return drawn
    low, high = (position(axis, end) * _ACROSS for end in (dot.low, dot.high))
    return f'<path {ink} stroke-width="2" d="M{low:.5g} {y:g}H{high:.5g}"/>{drawn}'


def _make_scale(values: Sequence[float], *, percent: bool, log: bool) -> Axis:
    """Make a scale around all values that begins and ends with round numbers."""
    low, high = min(values), max(values)
    if log and low > 0:
        return make_log_axis("", 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))
    if math.isclose(low, high):
        low, high = make_linear_axis("", low, high, count=_STEPS).domain
    step = tick_step(low, high, _STEPS)
    low, high = (math.floor(low / step + _ROUNDING) * step, math.ceil(high / step - _ROUNDING) * step)
    axis = make_linear_axis("", low, high, count=round((high - low) / step))
    return use_percent(axis) if percent else axis
