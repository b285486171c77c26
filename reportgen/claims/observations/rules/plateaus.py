"""The rules ``plateau`` and ``late decline``: where a series stays level, and what it loses at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.observations.rules.moves import CLEAR, find_move
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray


_QUARTER = 0.25
"""A level that is held for less of the steps' range is not called a plateau."""

_DRIFTS = 2.0
"""What has a first third so many standard errors from its last still moves."""

_SHORTEST = 3
_FEWEST, _FALL, _FALL_OF_RUNS = 3, 2.0, 1.5
_PART = 14
"""Means of so small a part of the curve are compared."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A level that a series comes to rest at.

    Attributes:
        place: the first of its readings' places in the curve.
        level: the last value of its course, or of its readings.
        moved: how far from it the series has been.
        inferred: whether a test has found that.
    """

    place: int
    level: float
    moved: float
    inferred: bool = False


def observe_plateaus(field: Field) -> Iterator[Observation]:
    """Series that end at a level, held for a quarter of the steps or more, and were elsewhere before."""
    for series in field.series.values():
        rest = find_rest(series)
        if rest is not None and (not rest.inferred or find_move(series) is not None):
            yield _make_plateau(series, rest)


def find_rest(series: Series) -> Rest | None:
    """The final level of the course of a series, or of its readings where these are few."""
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


def _make_plateau(series: Series, rest: Rest) -> Observation:
    start, final, level = series.read(rest.place), series.read(-1), series.format(rest.level)
    if rest.inferred:
        text = f"{series.name} levels off at about {level} from {start.step_words} on."
    else:
        inside = series.points.values[rest.place :]
        low, high = (series.format(float(value)) for value in (inside.min(), inside.max()))
        where = f"at {level}" if low == high else f"between {low} and {high}"
        text = (
            f"The last {inside.size:,} readings of {series.name} are all {where}, "
            f"from {start.step_words} to {final.step_words}."
        )
    moved = series.field.format_size(rest.moved, series.name)
    return Observation(
        rule=Rule.PLATEAU,
        text=text,
        evidence=(
            start.format_at(),
            final.format_fact("final"),
            f"before, up to {moved} away from {level}",
        ),
        threshold=series.describe_threshold(rest.moved, inferred=rest.inferred),
        series=(series.name,),
        strength=series.field.readings_alone.strength(rest.moved) / 4,
        from_step=start.step,
        to_step=final.step,
        mark_series=series.name,
        mark=start.step,
        label=f"{'plateau' if rest.inferred else 'from here'} {level}",
    )


@dataclass(frozen=True, slots=True)
class _Loss:
    """A decline, by places of the readings.

    Attributes:
        peak: the best reading, the first of equal ones.
        onset: the last place at which it is as good as ever: of the course, or of the readings.
        landed: from here on it stays at its final level; None where it does not come to rest after it.
        depth: how much worse it ends than it has been.
        inferred: whether a test has found it.
    """

    peak: int
    onset: int
    landed: int | None
    depth: float
    inferred: bool


def observe_late_decline(field: Field) -> Iterator[Observation]:
    """Series that end worse than their best by more than noise, and by when they have lost it."""
    for series in field.series.values():
        if series.points.steps.size >= _FEWEST:
            loss = _find_course_loss(series) if series.is_moving else None
            loss = loss or _find_reading_loss(series)
            if loss is not None:
                yield _make_decline(series, loss)


def _find_course_loss(series: Series) -> _Loss | None:
    course, sign = series.course, series.field.sign
    level = sign * course.level
    best = float(level.max())
    top, depth = int(np.argmax(level)), best - float(level[-1])
    width = max(level.size // _PART, 2)
    fall = sign * course.compare_means(course.get_around(top, 3 * width), course.get_around(-1, width))
    if depth <= series.field.least or fall < (_FALL_OF_RUNS if course.spread.known else _FALL):
        return None
    step = series.course_steps[_find_last_good(level, best, depth / 10)]
    return _make_loss(series, int(np.searchsorted(series.points.steps, step)), depth, inferred=True)


def _find_reading_loss(series: Series) -> _Loss | None:
    good = series.field.sign * series.points.values
    best = float(good.max())
    depth = best - float(good[-1])
    if not series.field.few or not series.field.readings_alone.is_exceeded(depth):
        return None
    return _make_loss(series, _find_last_good(good, best, SAME * abs(best)), depth, inferred=False)


def _find_last_good(good: FloatArray, best: float, near: float) -> int:
    return int(np.flatnonzero(good >= best - near)[-1])


def _make_loss(series: Series, onset: int, depth: float, *, inferred: bool) -> _Loss | None:
    good = series.field.sign * series.points.values
    # What is best at the first reading has not declined late: it has never risen.
    if onset == 0 or onset >= good.size - 1:
        return None
    rest = find_rest(series)
    landed = rest.place if rest is not None and rest.place > onset else None
    return _Loss(int(np.argmax(good)), onset, landed, depth, inferred)


def _make_decline(series: Series, loss: _Loss) -> Observation:
    peak, onset, final = (series.read(place) for place in (loss.peak, loss.onset, -1))
    evidence = [peak.format_fact("peak")]
    if loss.onset != loss.peak:
        evidence.append(onset.format_at())
    if loss.landed is not None:
        evidence.append(series.read(loss.landed).format_at())
    best = "low" if series.field.sign < 0 else "peak" if loss.inferred else "high"
    return Observation(
        rule=Rule.LATE_DECLINE,
        text=_describe_course_decline(series, loss) if loss.inferred else _describe_decline(series, loss),
        evidence=(*evidence, final.format_fact("final")),
        threshold=series.describe_threshold(loss.depth, inferred=loss.inferred),
        series=(series.name,),
        strength=series.field.readings_alone.strength(loss.depth),
        from_step=onset.step,
        to_step=final.step,
        mark_series=series.name,
        mark=peak.step,
        label=f"{best} {peak}",
    )


def _describe_decline(series: Series, loss: _Loss) -> str:
    """An end of the readings below an early peak."""
    peak, onset, final = (series.read(place) for place in (loss.peak, loss.onset, -1))
    beyond, extreme = ("below", "highest") if series.field.sign > 0 else ("above", "lowest")
    size = series.field.format_size(loss.depth, series.name)
    head = (
        f"The last reading of {series.name} is {final} {final.position}, "
        f"{size} {beyond} its {extreme} reading of {peak}"
    )
    if loss.landed is not None:
        landed = series.read(loss.landed)
        return f"{head} {onset.position}; from {landed.step_words} on its readings are at {landed}."
    return f"{head} {(onset if str(onset) == str(peak) else peak).position}."


def _describe_course_decline(series: Series, loss: _Loss) -> str:
    """A drop that lasts, a fall towards the end, or an end below an early peak."""
    peak, onset, final = (series.read(place) for place in (loss.peak, loss.onset, -1))
    up = series.field.sign > 0
    verb, best, worse = ("falls", "peak", "lower") if up else ("rises", "lowest value", "higher")
    if loss.landed is not None:
        landed = series.read(loss.landed)
        return (
            f"{series.name} {verb} from {onset} {onset.position} to {landed} {landed.position} "
            "and levels off there."
        )
    falling = np.diff(series.field.sign * series.points.values[loss.onset :]) <= 0
    if str(onset) == str(peak) and falling.all():
        return (
            f"{series.name} {verb} from its {best}, {onset} {onset.position}, to {final} {final.position}, "
            "where it ends."
        )
    start = onset.position.removeprefix("at ")
    return f"{series.name} {verb} from {start} on and ends {worse}, at {final} {final.position}."
