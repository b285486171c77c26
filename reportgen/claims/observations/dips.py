"""The rules ``dip`` and ``spike``: turns of a curve, by prominence, that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.observations.course import MOST_READINGS, fit_course, looks_normal
from reportgen.claims.observations.field import observe
from reportgen.core.digits import SAME
from reportgen.core.words import format_number
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation


_NEARLY = 0.9  # a shoulder is the nearest reading that differs by this share of the prominence
_MOST_TURNS = 50

# A dip that recovers less than this share is a lasting loss, and such a spike a lasting rise.
_COMES_BACK = 0.35


class Turn(NamedTuple):
    """A low point between two higher ones, by places in the curve."""

    place: int  # the lowest reading, the first of equal ones
    last: int  # the last of the equal readings after it
    left: int  # the shoulders: the nearest readings almost as high as the lower side
    right: int
    prominence: float  # height of the lower side above it
    fall: float  # height of the left side above it
    recovery: float  # height of the right side above it

    @property
    def comes_back(self) -> bool:
        """Whether enough of the fall is recovered."""
        return self.recovery >= _COMES_BACK * self.fall


class Setback(NamedTuple):
    """A fall from one reading to a later, lower one, by places in the curve."""

    start: int
    end: int
    depth: float


def find_dips(values: FloatArray, threshold: float) -> list[Turn]:
    """Find interior low points with a prominence above the threshold, at most 50, deepest first.

    Prominence is topographic: on each side, the highest reading before a lower one or the end of the curve;
    the smaller of the two less the point itself. For negated values, shape (n,), these are the peaks.
    """
    lows, highs = _find_swings(values.tolist(), threshold * (1 + SAME))
    candidates = []
    for at in range(1, len(lows) - 1):
        low = values[lows[at]]
        lower = np.flatnonzero(values[lows[:at]] <= low)
        left = int(lower[-1]) if lower.size else 0
        lower = np.flatnonzero(values[lows[at + 1 :]] < low)
        right = at + 1 + int(lower[0]) if lower.size else len(lows) - 1
        sides = float(values[highs[left:at]].max() - low), float(values[highs[at:right]].max() - low)
        if min(sides) > threshold * (1 + SAME):
            candidates.append((-min(sides), lows[at], sides))
    turns = []
    for _, place, sides in sorted(candidates)[:_MOST_TURNS]:
        last = place
        while values[last + 1] == values[place]:
            last += 1
        level = values[place] + _NEARLY * min(sides)
        left = int(np.flatnonzero(values[:place] >= level)[-1])
        right = last + 1 + int(np.argmax(values[last + 1 :] >= level))
        turns.append(Turn(place, last, left, right, min(sides), *sides))
    return turns


def _find_swings(values: list[float], threshold: float) -> tuple[list[int], list[int]]:
    """Find the places of lows and highs between which a curve swings by more than the threshold.

    They alternate as lows[i], highs[i], lows[i + 1] and so on, from the start, which counts as a low, to the
    last low, which may be the end. A high is the first highest place between its lows, a low the first lowest
    between its highs. Every low with a prominence above the threshold is included.
    """
    lows, highs = [0], []
    low = high = 0
    rising = True
    for place, value in enumerate(values):
        if rising:
            if value > values[high]:
                high = place
            elif values[high] - value > threshold:
                highs.append(high)
                low, rising = place, False
        elif value < values[low]:
            low = place
        elif value - values[low] > threshold:
            lows.append(low)
            high, rising = place, True
    if rising:
        highs.append(high)
        low = len(values) - 1
    lows.append(low)
    return lows, highs


def find_setbacks(values: FloatArray) -> list[Setback]:
    """Find all maximal falls of ``values``, deepest first, ties in order."""
    falling = np.concatenate([[False], np.diff(values) < 0, [False]])
    edges = np.flatnonzero(falling[1:] != falling[:-1]).reshape(-1, 2)
    setbacks = [Setback(start, end, float(values[start] - values[end])) for start, end in edges.tolist()]
    return sorted(setbacks, key=lambda setback: (-setback.depth, setback.start))


def find_deepest_fall(values: FloatArray) -> Setback:
    """Find the largest fall from any reading to any later one; depth is 0 if there is none."""
    highest = np.maximum.accumulate(values)
    end = int(np.argmax(highest - values))
    start = int(np.flatnonzero(values[: end + 1] == highest[end])[-1])
    return Setback(start, end, float(highest[end] - values[end]))


def format_fall(series: Series, fall: Setback) -> tuple[str, str]:
    """Format a fall as ``0.02`` and ``from 0.84 at step 120 to 0.82 at step 140``."""
    size = series.field.format_size(fall.depth, series.name)
    return size, f"from {series.read(fall.start).placed} to {series.read(fall.end).placed}"


_BACK = 0.9  # share of the fall that counts as back
_MOST_SHOWN = 4  # largest number of observations of one series
_NARROW = 0.15  # a peak within this share of the steps is a spike
_FLANK = 1.64  # height of each flank of a turn in standard errors: 5%, one-sided
# Required ratio of a lone reading's deviation to the next: without autocorrelation, with it, and with it in
# noise that looks normal.
_LONE, _LONE_UNUSUAL, _LONE_SIMILAR = 8.0, 2.83, 2.0
_LONE_WIDEST, _LONE_AMONG, _LONE_INSIDE = 3, 60, 10  # largest width, fewest readings, distance from both ends
_NOT_SIMILAR, _SIMILAR = 0.5, 0.8


def observe_turns(field: Field, *, sign: float) -> Iterator[Observation]:
    """Yield the dips of each series, as measured, that come back; with −1, its spikes and peaks."""
    for series in field.series.values():
        tested = _find_clear_turns(series, sign) if series.is_moving else []
        yield from (_make_turn(series, turn, sign, series.describe_test()) for turn in tested)
        lone = _find_lone_reading(series, sign)
        if lone and not any(turn.left <= lone[0].place <= turn.right for turn in tested):
            yield _make_turn(series, lone[0], sign, lone[1])
            tested.append(lone[0])
        if field.few:
            turns = find_dips(sign * series.points.values, field.readings_alone.value)
            places = {turn.place for turn in tested}
            others = [turn for turn in turns if turn.comes_back and turn.place not in places]
            yield from (_make_turn(series, turn, sign) for turn in others[: _MOST_SHOWN - len(tested)])


def _find_clear_turns(series: Series, sign: float) -> list[Turn]:
    """Find the turns of a course that have two clear flanks, by places of the readings."""
    course = series.course
    clear = []
    for turn in find_dips(sign * course.level, series.field.least):
        wide = turn.right - turn.left
        middle = course.get_around(turn.place, max(wide // 3, 1))
        before = slice(max(turn.left - wide // 2, 0), turn.left + 1)
        after = slice(turn.right, turn.right + wide // 2 + 1)
        flanks = min(sign * course.compare_means(side, middle) for side in (before, after))
        if flanks >= _FLANK and turn.comes_back:
            # Locate the turn in the readings, at the most extreme one in its middle.
            steps, values = series.points
            middles = (turn.left + turn.place) // 2, -(-(turn.place + turn.right) // 2)
            first, left, place, right, last = (
                int(np.argmin(np.abs(steps - series.course_steps[at])))
                for at in (middles[0], turn.left, turn.place, turn.right, middles[1])
            )
            inside = slice(max(first, left + 1), max(min(last, right - 1), place) + 1)
            place = inside.start + int(np.argmin(sign * values[inside]))
            clear.append(turn._replace(place=place, last=place, left=left, right=right))
    return clear[:_MOST_SHOWN]


def _find_lone_reading(series: Series, sign: float) -> tuple[Turn, str] | None:
    """Find one to three readings that stand out beyond any noise distribution, and state the criterion.

    The largest of many readings exceeds the second r times with probability 1/r³ if the tails are those of
    Student's t with three degrees of freedom, and less often if they are lighter. If noise is autocorrelated,
    going out and back takes two such deviations, hence 1/r⁶.
    """
    values = sign * series.points.values
    if values.size < _LONE_AMONG or not series.is_noise_known:
        return None
    candidates = []
    for width in range(1, _LONE_WIDEST + 1):
        inside = np.lib.stride_tricks.sliding_window_view(values, width).max(axis=1)[1:-1]
        depth = np.minimum(values[: -width - 1], values[width + 1 :]) - inside
        left = _LONE_INSIDE + int(np.argmax(depth[_LONE_INSIDE:-_LONE_INSIDE]))
        candidates.append((float(depth[left]), left, left + width + 1))
    out, left, right = max(candidates)
    change, places = np.abs(np.diff(values)), np.arange(1, values.size - 1)
    # The first readings of a loss change more than any noise.
    near = np.abs(places - left) <= max(values.size // 4, _LONE_AMONG // 2)
    outside = near & ((places < left) | (places > right))
    following = float(np.minimum(change[:-1], change[1:])[outside].max())
    if out <= _LONE_SIMILAR * following:
        return None
    # Required ratio to the next largest deviation.
    window = slice(max(left - MOST_READINGS // 2, 0), right + MOST_READINGS // 2)
    others = values.copy()
    others[left:right] = np.linspace(values[left], values[right], right - left, endpoint=False)
    strength = fit_course(others[None, window], series.field.share_of_course).spread.strength
    similar = min(max((strength - _NOT_SIMILAR) / (_SIMILAR - _NOT_SIMILAR), 0.0), 1.0)
    least = _LONE_SIMILAR if looks_normal(others[window]) else _LONE_UNUSUAL
    times = float(_LONE ** (1 - similar) * least**similar)
    if out <= times * following:
        return None
    place = left + 1 + int(np.argmin(values[left + 1 : right]))
    sides = float(values[left] - values[place]), float(values[right] - values[place])
    ratio = format_number(times, significant=2)
    basis = f"this stands out more than {ratio} times as far as any other reading"
    return Turn(place, place, left, right, min(sides), *sides), basis


def _make_turn(series: Series, turn: Turn, sign: float, basis: str = "") -> Observation:
    """Make the observation of a turn found by the test of ``basis``, or of readings without one."""
    before, extreme, after = (series.read(place) for place in (turn.left, turn.place, turn.right))
    words, strength = series.rate(turn.prominence, inferred=False)
    if basis:
        all_steps = series.points.steps
        narrow = after.step - before.step <= _NARROW * (all_steps[-1] - all_steps[0])
        label = "dip" if sign > 0 else "spike" if narrow else "peak"
        head = f"{series.name} {label}s from {before.placed} to {extreme.placed}"
        if label == "peak":
            head = f"{series.name} peaks at {extreme.placed}, up from {before.placed}"
        fall, recovery = (sign * (side.value - extreme.value) for side in (before, after))
        back = "back at" if _BACK * fall <= recovery <= fall / _BACK else "at"
        text = f"{head}; by {after.step_words} it is {back} {after}."
    else:  # regardless of noise
        until = f" and stay there until {series.read(turn.last).step_words}" if turn.last > turn.place else ""
        label, verb, again = ("low", "down", "up") if sign > 0 else ("high", "up", "down")
        text = (
            f"The readings of {series.name} go {verb} from {before.placed} "
            f"to {extreme.placed}{until}, and {again} to {after.placed}."
        )
    return observe(
        Rule.DIP if sign > 0 else Rule.SPIKE,
        text,
        [reading.format_fact() for reading in (before, extreme, after)],
        (basis or words, strength),
        (series.name,),
        steps=(before.step, after.step),
        mark=extreme,
        label=f"{label} {extreme}",
    )
