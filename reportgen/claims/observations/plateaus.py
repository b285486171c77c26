"""Where gains end: the rules ``plateau`` and ``late decline``, and ``part company`` of two metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.fact_words import format_range
from reportgen.claims.observations.field import observe
from reportgen.claims.observations.moves import CLEAR, find_move
from reportgen.claims.observations.thresholds import SAME
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation


_QUARTER = 0.25  # a level that is held for less of the steps' range is not called a plateau
_DRIFTS = 2.0  # what has a first third so many standard errors from its last still moves
_SHORTEST = 3
_FEWEST, _FALL, _FALL_OF_RUNS = 3, 2.0, 1.5
_PART = 14  # means of so small a part of the curve are compared


@dataclass(frozen=True, slots=True)
class Rest:
    """A level that a series comes to rest at."""

    place: int  # the first of its readings' places in the curve
    level: float  # the last value of its course, or of its readings
    moved: float  # how far from it the series has been
    inferred: bool = False  # whether a test has found that


def observe_plateaus(field: Field) -> Iterator[Observation]:
    """Series that end at a level, held for a quarter of the steps or more, and were elsewhere before."""
    for name, series in field.series.items():
        rest = find_rest(series)
        if rest is None or (rest.inferred and find_move(series) is None):
            continue
        start, final, level = series.read(rest.place), series.read(-1), series.format(rest.level)
        if rest.inferred:
            text = f"{name} levels off at about {level} from {start.step_words} on."
        else:
            inside = series.points.values[rest.place :]
            low, high = (series.format(float(value)) for value in (inside.min(), inside.max()))
            where = f"at {level}" if low == high else f"between {low} and {high}"
            text = (
                f"The last {inside.size:,} readings of {name} are all {where}, "
                f"from {start.step_words} to {final.step_words}."
            )
        before = f"before, up to {field.format_size(rest.moved, name)} away from {level}"
        evidence = (start.format_fact(), final.format_fact("final"), before)
        words, strength = series.rate(rest.moved, inferred=rest.inferred)
        basis, label = (words, strength / 4), f"{'plateau' if rest.inferred else 'from here'} {level}"
        steps = start.step, final.step
        yield observe(Rule.PLATEAU, text, evidence, basis, (name,), steps=steps, mark=start, label=label)


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


@dataclass(frozen=True, slots=True)
class _Loss:
    """A decline, by places of the readings."""

    peak: int  # the best reading, the first of equal ones
    onset: int  # the last place at which it is as good as ever: of the course, or of the readings
    landed: int | None  # from here on it stays at its final level; None where it does not come to rest
    depth: float  # how much worse it ends than it has been
    inferred: bool  # whether a test has found it

    def describe(self, series: Series) -> str:
        """A drop that lasts, a fall towards the end, or an end below an early peak."""
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
    """Series that end worse than their best by more than noise, and by when they have lost it."""
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
    """A decline of the course that a test has found, or of the readings."""
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
    # What is best at the first reading has not declined late: it has never risen.
    if onset == 0 or onset >= good.size - 1:
        return None
    rest = find_rest(series)
    landed = rest.place if rest is not None and rest.place > onset else None
    return _Loss(int(np.argmax(good)), onset, landed, depth, inferred)


# ---- part company ------------------------------------------------------------------------------------

_MOST_STEPS = 300  # of more steps evenly spaced ones are used, since every pair of them is compared
_SHARE = 0.1  # what is less than this share of the plotted range is no parting of ways


class _Change(NamedTuple):
    """What one metric of a series does between two steps: its values there, and whether that is tested."""

    series: Series
    steps: tuple[float, float]
    values: tuple[float, float]
    inferred: bool

    @property
    def size(self) -> float:
        return abs(self.values[1] - self.values[0])

    @property
    def is_clear(self) -> bool:
        """Whether it is more than the least that is reported; of a course also more than its error."""
        field = self.series.field
        if not self.inferred:
            return field.readings_alone.is_exceeded(self.size)
        places = (self.series.find_course_place(step) for step in self.steps)
        return self.size > max(CLEAR * self.series.course.compute_error(*places), field.least)

    def describe(self) -> tuple[str, list[str]]:
        """``loss rises from 1 to 2 (lower is better)``, and both values: ``loss: at(A, 10) = 0.3``."""
        series, scale = self.series, self.series.field.scale
        moves = "rises" if self.values[1] > self.values[0] else "falls"
        words = [series.format(value) for value in self.values]
        lower = " (lower is better)" if scale.higher_is_better is False else ""
        text = f"{scale.metric} {moves if self.inferred else 'goes'} from {' to '.join(words)}{lower}"
        calls = (series.field.format_call("at", series.name, step) for step in self.steps)
        return text, [f"{scale.metric}: {call} = {one}" for call, one in zip(calls, words, strict=True)]


def observe_part_company(fields: Sequence[Field]) -> Iterator[Observation]:
    """For each series and two metrics the steps over which one improves while the other worsens most.

    The steps are those where the smaller of the two moves is largest, each as a share of its plotted range.
    A metric of which neither way is better, such as a KL, may move either way while the other worsens; it
    never worsens. The order of the metrics does not matter.
    """
    for one, other in combinations(sorted(fields, key=lambda field: field.scale.metric), 2):
        if one.scale.metric != other.scale.metric and min(one.plotted_range, other.plotted_range) > 0:
            for name in sorted(set(one.series) & set(other.series)):
                pair = one.series[name], other.series[name]
                partings = [_find_parting(*pair), _find_parting(*reversed(pair))]
                found = [observation for observation in partings if observation is not None]
                if found:
                    yield max(found, key=lambda observation: observation.strength)


def _find_parting(better: Series, worse: Series) -> Observation | None:
    inferred = better.is_moving and worse.is_moving
    if not inferred and not (better.field.few and worse.field.few):
        return None
    steps, up, down = _align_metrics(better, worse, inferred=inferred)
    if not worse.field.ranks or steps.size < 2:  # noqa: PLR2004 - nothing moves at one step
        return None
    gain = (up[None, :] - up[:, None]) / better.field.plotted_range
    gain = gain if better.field.ranks else np.abs(gain)
    loss = (down[:, None] - down[None, :]) / worse.field.plotted_range
    both = np.triu(np.minimum(gain, loss), 1)
    largest = float(both.max())
    if largest < _SHARE:
        return None
    # Of equal ones the shortest, then the first.
    starts, ends = np.nonzero(both >= largest * (1 - SAME))
    first = int(np.lexsort((starts, ends - starts))[0])
    places = [int(starts[first]), int(ends[first])]
    start, end = steps[places].tolist()
    changes = []
    for series, values in ((better, up), (worse, down)):
        before, after = (series.field.sign * values[places]).tolist()
        changes.append(_Change(series, (start, end), (before, after), inferred))
    if not all(change.is_clear for change in changes):
        return None
    rated = [
        (change.series.field.scale.metric, *change.series.rate(change.size, inferred=inferred))
        for change in changes
    ]
    metric, words, strength = min(rated, key=lambda one: one[2])
    (gains, evidence), (loses, more) = (change.describe() for change in changes)
    name, where = worse.name, f"from {format_range(start, end, worse.field.scale)}"
    text = f"{name}{'' if inferred else ', by its readings,'} {where}: {gains}, while {loses}."
    basis, evidence = (f"{metric}: {words}", strength), [*evidence, *more]
    observation = observe(Rule.PART_COMPANY, text, evidence, basis, (name,), steps=(start, end))
    return replace(observation, metric=worse.field.scale.metric)


def _align_metrics(
    better: Series, worse: Series, *, inferred: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps that both metrics reach, and the courses or readings of both there, more being better."""
    sides = []
    for series in (better, worse):
        steps, values = (series.course_steps, series.course.level) if inferred else series.points
        sides.append((steps, series.field.sign * values))
    steps = np.union1d(sides[0][0], sides[1][0])
    start, end = max(side[0][0] for side in sides), min(side[0][-1] for side in sides)
    steps = steps[(steps >= start) & (steps <= end)]
    if steps.size > _MOST_STEPS:
        steps = steps[np.unique(np.linspace(0, steps.size - 1, _MOST_STEPS).round().astype(np.int64))]
    return steps, *(np.interp(steps, *side) for side in sides)
