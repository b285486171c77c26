"""What likelihood ratio tests find of planted effects, by what an observer knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from simulated.observations import EFFECT

if TYPE_CHECKING:
    from simulated.observations import Planted

    from reportgen.core.model import FloatArray

_ANY_STRENGTH = (0.0, 0.2, 0.4, 0.55, 0.7, 0.8, 0.87, 0.92, 0.95, 0.97, 0.985)
# The part of a block's 5% for the course of one of two series, and for who leads, by the number of runs.
_COURSE, _LEADS = {1: 0.05 * 0.75 / 2, 5: 0.05 * 0.55 / 2}, {1: 0.05 * 0.2, 5: 0.05 * 0.3}
_DRAWS, _PLACES = 1000, 101
_WIDTHS = (0.67, 1.0, 1.5, 2.25)  # relative
_FEARED, _CALIBRATED = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8), 4000


def _whitened(values: FloatArray, strength: float) -> FloatArray:
    """Rows less what the reading before tells of each, in innovations of noise with a deviation of 1."""
    before = np.pad(values[:, :-1], ((0, 0), (1, 0)))
    scale = np.sqrt(1 - strength**2)
    made: FloatArray = (values - strength * before) / scale
    made[:, 0] *= scale
    return made


def _beside(columns: FloatArray, others: FloatArray) -> FloatArray:
    """Each row less what the others make up of it, at length 1."""
    rest = columns - (columns @ np.linalg.pinv(others)) @ others if others.size else columns
    made: FloatArray = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    return made


def _places(planted: Planted, n: int) -> FloatArray:
    return np.stack([planted.truth(np.linspace(0, 1, n), one) for one in np.linspace(0, 1, min(n, _PLACES))])


def find_by_knowing(planted: Planted, strength: float, n: int, runs: int, seed: int) -> float:
    """How often the likeliest place of the known shape in known noise is clear.

    A change of the lead is clear where both leads are, at one place.
    """
    rng = np.random.default_rng([seed, n, runs])
    truths = _places(planted, n)
    leads = planted.rule == "crossing"
    parts = [np.clip(truths, 0, None), np.clip(truths, None, 0)]
    parts = [one for one in parts if one.any()] if leads else [truths]
    size = np.sqrt((2 if leads else 1) / runs)
    fixed = np.zeros((0, n)) if leads else _whitened(np.ones((1, n)), strength)
    white = [_whitened(one, strength) for one in parts]
    rows = []
    for part in white:
        others = [one for one in white if one is not part]
        beside = [np.vstack([fixed, *(one[[k]] for one in others)]) for k in range(len(part))]
        rows.append(np.vstack([_beside(part[[k]], beside[k]) for k in range(len(part))]))
    noise = size * rng.standard_normal((_DRAWS, n))
    level = _LEADS[runs] / 2 if leads else _COURSE[runs]
    needed = max(float(np.quantile((noise @ one.T).max(axis=1), 1 - level)) for one in rows)
    there = _whitened(truths, strength)[rng.integers(len(truths), size=_DRAWS)] + noise
    least = np.minimum.reduce([there @ one.T for one in rows])
    return float((least.max(axis=1) > needed).mean())


def find_by_learning(planted: Planted, strength: float, n: int, seed: int, *, search_widths: bool) -> float:
    """Return the same where strength and size of the noise are fitted, at the strength that needs most.

    ``search_widths`` searches several, relative to the true one, which otherwise is known.
    """
    rng = np.random.default_rng([seed, n])
    truths = searched = _places(planted, n)
    if search_widths:
        middle, places = np.linspace(-0.5, 0.5, n), np.linspace(-1, 2, 2 * min(n, _PLACES))
        every = np.stack([planted.truth(0.5 + middle / width, at) for width in _WIDTHS for at in places])
        searched = every[np.ptp(every, axis=1) > EFFECT / 2]

    def made(alike: float) -> FloatArray:
        noise = rng.standard_normal((_DRAWS, n))
        for at in range(1, n):
            noise[:, at] = alike * noise[:, at - 1] + np.sqrt(1 - alike**2) * noise[:, at]
        return noise

    needed = max(
        float(np.quantile(_ratios(made(alike), searched), 1 - _COURSE[1]))
        for alike in (0.0, 0.3, 0.5, 0.7, 0.9, 0.97)
    )
    there = made(strength) + truths[rng.integers(len(truths), size=_DRAWS)]
    return float((_ratios(there, searched) > needed).mean())


def _ratios(values: FloatArray, truths: FloatArray) -> FloatArray:
    """The likelihood ratio of noise with the shape at its best place and without, each at its likeliest."""
    n = values.shape[1]
    without, most = np.full(len(values), -np.inf), np.full(len(values), -np.inf)
    for alike in _ANY_STRENGTH:
        fixed = _whitened(np.ones((1, n)), alike)
        rows = _beside(_whitened(truths, alike), fixed)
        white = _whitened(values, alike)
        white -= white @ np.linalg.pinv(fixed) @ fixed
        left = (white**2).sum(axis=1)
        gain = np.maximum((white @ rows.T).max(axis=1), 0) ** 2
        first = np.log(1 - alike**2) / 2 - n / 2 * np.log(1 - alike**2)
        without = np.maximum(without, first - n / 2 * np.log(left))
        most = np.maximum(most, first - n / 2 * np.log(np.maximum(left - gain, 1e-12 * left)))
    ratios: FloatArray = 2 * (most - without)
    return ratios


def find_at_most(planted: Planted, n: int, seed: int, *, search_widths: bool) -> float:
    """Return a bound of what any test finds among white noise, averaged over places and, if so, widths.

    A test that is wrong in its share of autoregressive noise of every strength, level and size is so in that
    of any one strength. There nothing finds more on average than the likelihood ratio of the average effect
    (Neyman and Pearson 1933; invariance by Hunt and Stein). The bound is the least over strengths.
    """
    rng = np.random.default_rng([seed, n])
    truths = _places(planted, n)
    if search_widths:
        truths = np.concatenate([_stretch(planted, n, width) for width in _WIDTHS])
    there = truths[rng.integers(len(truths), size=_DRAWS)] + rng.standard_normal((_DRAWS, n))
    found = []
    for strength in _FEARED:
        noise = rng.standard_normal((_CALIBRATED, n))
        for at in range(1, n):
            noise[:, at] = strength * noise[:, at - 1] + np.sqrt(1 - strength**2) * noise[:, at]
        needed = np.quantile(_weigh_average(noise, truths, strength), 1 - _COURSE[1])
        found.append(float((_weigh_average(there, truths, strength) > needed).mean()))
    return min(found)


def _stretch(planted: Planted, n: int, width: float) -> FloatArray:
    """Effects of a relative width at places where they have their whole size."""
    middle, places = np.linspace(-0.5, 0.5, n), np.linspace(-1, 2, 2 * min(n, _PLACES))
    every = np.stack([planted.truth(0.5 + middle / width, at) for at in places])
    chosen: FloatArray = every[np.abs(every).max(axis=1) > 0.99 * EFFECT]
    return chosen


def _weigh_average(values: FloatArray, truths: FloatArray, strength: float) -> FloatArray:
    """Log likelihood ratio of white noise with the average effect to autoregressive noise without any.

    Level and size of the noise are integrated out with their invariant measures; an effect has a known size
    in deviations of the noise.
    """
    n = values.shape[1]
    fixed = _whitened(np.ones((1, n)), strength)
    noise = _whitened(values, strength)
    noise -= noise @ np.linalg.pinv(fixed) @ fixed
    without = -(n - 1) / 2 * np.log((noise**2).sum(axis=1))
    apart = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((apart**2).sum(axis=1))
    shapes = truths - truths.mean(axis=1, keepdims=True)
    along, squares = apart / size[:, None] @ shapes.T, (shapes**2).sum(axis=1)
    each = [
        (n - 2) * np.log(root) - root**2 / 2 + root * along - squares / 2
        for root in np.linspace(0.3, 2.5, 40) * np.sqrt(n)
    ]
    average = np.logaddexp.reduce([np.logaddexp.reduce(one, axis=1) for one in each])
    ratios: FloatArray = average - (n - 1) * np.log(size) - without
    return ratios
