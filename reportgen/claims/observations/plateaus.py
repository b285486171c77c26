"""The rules ``plateau`` and ``late decline``: where gains end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims.observations.field import observe
from reportgen.claims.observations.moves import CLEAR, find_move
from reportgen.core.digits import SAME
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation


_QUARTER = 0.25  # shortest plateau, as a share of the range of steps
_DRIFTS = 2.0  # a level still moves if its first and last thirds differ by this many standard errors
_SHORTEST = 3
_FEWEST, _FALL, _FALL_OF_RUNS = 3, 2.0, 1.5
_PART = 14  # means of this fraction of the curve are compared


class Rest(Struct, frozen=True):
    """Final level of a series."""

    place: int  # place of its first reading
    level: float  # the last value of the course, or of the readings
    moved: float  # largest distance of the series from it
    inferred: bool = False  # whether found by a test


def observe_plateaus(field: Field) -> Iterator[Observation]:
    """Yield series that end at a level for a quarter of the steps or more and were elsewhere before."""
    for name, series in field.series.items():
        rest = find_rest(series)
        if rest is None or (rest.inferred and find_move(series) is None):
            continue
        start, final, level = series.read(rest.place), series.read(-1), series.format(rest.level)
        if rest.inferred:
            label = f"plateau, about {level}"
            text = f"{name} levels off at about {level} from {start.step_words} on."
        else:
            inside = series.points.values[rest.place :]
            low, high = (series.format(float(value)) for value in (inside.min(), inside.max()))
            where = f"at {level}" if low == high else f"between {low} and {high}"
            label = f"from here {low}" if low == high else f"from here {low} to {high}"
            text = (
                f"The last {inside.size:,} readings of {name} are all {where}, "
                f"from {start.step_words} to {final.step_words}."
            )
        before = f"before, up to {field.format_size(rest.moved, name)} away from {level}"
        evidence = (start.format_fact(), final.format_fact("final"), before)
        words, strength = series.rate(rest.moved, inferred=rest.inferred)
        basis, steps = (words, strength / 4), (start.step, final.step)
        yield observe(Rule.PLATEAU, text, evidence, basis, (name,), steps=steps, mark=start, label=label)


def find_rest(series: Series) -> Rest | None:
    """Return the final level of the course, or of the readings if these are few."""
    least, own = series.field.least, series.points
    if not series.is_moving:
        return _locate_rest(own.steps, own.values, least) if series.field.few else None
    course, steps = series.course, series.course_steps
    rest = _locate_rest(steps, course.level, least)
    furthest = int(np.argmax(np.abs(course.level - course.level[-1])))
    if rest is None or rest.moved <= CLEAR * course.compute_error(furthest, -1):
        return None
    third = max((steps.size - rest.place) // 3, 1)
    if abs(course.compare_means(slice(rest.place, rest.place + third), slice(-third, None))) > _DRIFTS:
        return None
    return replace(rest, place=int(np.searchsorted(own.steps, steps[rest.place])), inferred=True)


def _locate_rest(steps: FloatArray, values: FloatArray, least: float) -> Rest | None:
    level = float(values[-1])
    apart = np.abs(values - level)
    outside = np.flatnonzero(apart > least * (1 + SAME))
    if not outside.size:
        return None
    long = steps[-1] - steps >= _QUARTER * (steps[-1] - steps[0])
    long[: int(outside[-1]) + 1] = False
    long[steps.size - _SHORTEST + 1 :] = False
    starts = np.flatnonzero(long)
    return Rest(int(starts[0]), level, float(apart.max())) if starts.size else None


class _Loss(Struct, frozen=True):
    """Decline, by places of the readings."""

    peak: int  # the best reading, the first of equal ones
    onset: int  # the last place that is as good as the best, of the course or the readings
    landed: int | None  # start of the final level, or None if there is none
    depth: float  # the best value minus the last, in the better direction
    inferred: bool  # whether found by a test

    def describe(self, series: Series) -> str:
        """Describe a lasting drop, a fall towards the end, or an end below an early peak."""
        name, up = series.name, series.field.sign > 0
        peak, onset, final = (series.read(place) for place in (self.peak, self.onset, -1))
        landed = None if self.landed is None else series.read(self.landed)
        if not self.inferred:
            beyond, extreme = ("below", "highest") if up else ("above", "lowest")
            size = series.field.format_size(self.depth, name)
            worst = f"{size} {beyond} its {extreme} reading of {peak}"
            head = f"The last reading of {name} is {final.placed}, {worst}"
            if landed is not None:
                return f"{head} {onset.position}; from {landed.step_words} on its readings are at {landed}."
            return f"{head} {(onset if str(onset) == str(peak) else peak).position}."
        verb, best, worse = ("falls", "peak", "lower") if up else ("rises", "lowest value", "higher")
        if landed is not None:
            return f"{name} {verb} from {onset.placed} to {landed.placed} and levels off there."
        falling = np.diff(series.field.sign * series.points.values[self.onset :]) <= 0
        if str(onset) == str(peak) and falling.all():
            return f"{name} {verb} from its {best}, {onset.placed}, to {final.placed}, where it ends."
        start = onset.position.removeprefix("at ")
        return f"{name} {verb} from {start} on and ends {worse}, at {final.placed}."


def observe_late_decline(field: Field) -> Iterator[Observation]:
    """Yield series that end worse than their best by more than noise, and where they lost it."""
    for name, series in field.series.items():
        if series.points.steps.size < _FEWEST:
            continue
        loss = _find_loss(series, inferred=True) or _find_loss(series, inferred=False)
        if loss is None:
            continue
        peak, onset, final = (series.read(place) for place in (loss.peak, loss.onset, -1))
        evidence = [peak.format_fact("peak")]
        evidence += [onset.format_fact()] if loss.onset != loss.peak else []
        evidence += [series.read(loss.landed).format_fact()] if loss.landed is not None else []
        evidence.append(final.format_fact("final"))
        best = "low" if field.sign < 0 else "peak" if loss.inferred else "high"
        basis = series.rate(loss.depth, inferred=loss.inferred)
        text, steps = loss.describe(series), (onset.step, final.step)
        yield observe(
            Rule.LATE_DECLINE, text, evidence, basis, (name,), steps=steps, mark=peak, label=f"{best} {peak}"
        )


def _find_loss(series: Series, *, inferred: bool) -> _Loss | None:
    """Find a decline of the course by a test, or of the readings."""
    field, steps = series.field, series.points.steps
    good = field.sign * series.points.values
    if inferred:
        if not series.is_moving:
            return None
        course = series.course
        level = field.sign * course.level
        best, top = float(level.max()), int(np.argmax(level))
        depth, width = best - float(level[-1]), max(level.size // _PART, 2)
        near, last = course.get_around(top, 3 * width), course.get_around(-1, width)
        fall = field.sign * course.compare_means(near, last)
        if depth <= field.least or fall < (_FALL_OF_RUNS if course.spread.known else _FALL):
            return None
        last_good = np.flatnonzero(level >= best - depth / 10)[-1]
        onset = int(np.searchsorted(steps, series.course_steps[last_good]))
    else:
        best = float(good.max())
        depth = best - float(good[-1])
        if not field.few or not field.readings_alone.is_exceeded(depth):
            return None
        onset = int(np.flatnonzero(good >= best - SAME * abs(best))[-1])
    # A series that is best at its first reading never rose, so this is not a late decline.
    if onset == 0 or onset >= good.size - 1:
        return None
    rest = find_rest(series)
    landed = rest.place if rest is not None and rest.place > onset else None
    return _Loss(int(np.argmax(good)), onset, landed, depth, inferred)
