"""The course of a curve: what noise does not explain, found change by change.

A course is a level plus changes: ramps, bumps and saturating curves, each from a fixed list of positions and
widths. The noise around it is first-order autoregressive, with a local size if that varies along the curve. A
change is added if the best one explains more than the best of all would explain in noise.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims.observations.noise import cut_outliers, estimate_from_one, estimate_from_runs
from reportgen.statistics.distributions import t_quantile, t_tail

if TYPE_CHECKING:
    from reportgen.claims.observations.noise import NoiseModel
    from reportgen.core.model import FloatArray, IntArray


MOST_READINGS = 160  # longer curves are reduced to means of neighbouring readings
_STRENGTHS = (0.0, 0.2, 0.4, 0.55, 0.7, 0.8, 0.87, 0.92, 0.95, 0.97, 0.985)
_NARROWEST, _WIDEST, _WIDER = 4, 0.7, 1.5
_NARROW = (1, 2)  # widths of the last kinds, used for several runs
_MOST_CHANGES = 6
_SURE, _USUAL = 0.05, 0.0125
_ONE_RUN, _FALLS = ((0.19, 5.0), (0.38, 8.0)), 0.55  # of bumps, of other shapes: p at 0, cost of φ
_SECOND = (-0.8, -0.6, -0.4, -0.2, 0.2, 0.4, 0.6)  # of second-order noise
_SECOND_WEIGHTS = ((20, 60), (0.0, -3.0))  # logarithms of its weight, by the number of readings
_PLACES = 0.8
_UNEVEN, _UNEVEN_COSTS = 1.5, 1.0
_PAIR, _SHARED, _SHARED_NARROW, _SHARED_BY_TWO = 2, 0.005, 0.015, 0.05
_NOTHING = 1e-9
_NEARLY = 0.995
_GEARY, _DOUBT = math.sqrt(2 / math.pi), 0.4


class Course(Struct, frozen=True):
    """Fitted course."""

    values: FloatArray  # fitted readings, (n,)
    columns: FloatArray  # the level and its changes, (q, n): ones first
    weights: FloatArray  # coefficients of the columns, (q,)
    covariance: FloatArray  # covariance of the weights, (q, q)
    p: tuple[float, ...]  # cumulative maximum of the changes' p values over all positions and widths
    spread: NoiseModel  # the noise around it

    @property
    def level(self) -> FloatArray:
        """Course at each reading, shape (n,)."""
        return np.asarray(self.weights @ self.columns)

    def compute_error(self, one: int, other: int) -> float:
        """Return the standard error of the difference of the course between two places."""
        apart = self.columns[:, one] - self.columns[:, other]
        return math.sqrt(max(float(apart @ self.covariance @ apart), 0.0))

    def compare_means(self, one: slice, other: slice) -> float:
        """Return the difference of the mean readings of two slices, in standard errors."""
        weights = np.zeros(self.values.size)
        weights[one] = 1 / weights[one].size
        weights[other] -= 1 / weights[other].size
        at = np.flatnonzero(weights)
        strength = min(self.spread.strength, _NEARLY)
        correlation = strength ** np.abs(at[:, None] - at[None, :]) / (1 - strength**2)
        by = weights[at] * self.spread.along[at]
        error = self.spread.innovation * math.sqrt(max(float(by @ correlation @ by), 0.0))
        apart = float(weights @ self.values)
        return apart / error if error > 0 else math.copysign(math.inf, apart) if apart else 0.0

    def get_around(self, place: int, width: int) -> slice:
        """Return ``width`` neighbouring places around one, shifted to fit at the ends."""
        first = min(max(place % self.values.size - width // 2, 0), max(self.values.size - width, 0))
        return slice(first, first + width)


class _Moments(NamedTuple):
    """Sums of products of two sets of columns at lags 0 and 1, from which those at any φ follow."""

    now: FloatArray
    mixed: FloatArray
    before: FloatArray
    first: FloatArray

    def combine(self, strength: float) -> FloatArray:
        """Return products of whitened columns; the first reading has weight (1 − φ²)."""
        whole = self.now - strength * self.mixed + strength**2 * self.before
        return np.asarray(whole + max(1 - strength**2, 1e-6) * self.first)


def _compute_moments(one: FloatArray, other: FloatArray, size: FloatArray) -> _Moments:
    """Compute weighted products of rows of ``one`` (K, n) and ``other`` (q, n), each of shape (K, q)."""
    now, before = one[:, 1:], one[:, :-1]
    there = (other * 1.0)[:, 1:] * size[1:], other[:, :-1] * size[1:]
    return _Moments(
        now @ there[0].T,
        now @ there[1].T + before @ there[0].T,
        before @ there[1].T,
        np.outer(one[:, 0], other[:, 0]) * size[0],
    )


class _Shapes(NamedTuple):
    """Candidate changes, (K, n), an index for each kind and width, and the number of bumps."""

    every: FloatArray
    kinds: IntArray
    bumps: int


@lru_cache(maxsize=64)
def _make_shapes(n: int, narrowest: int) -> _Shapes:
    """Make bumps, ramps and saturating curves over n readings, plus narrow bumps for several runs."""
    t = np.arange(n, dtype=np.float64)
    widths = [narrowest]
    while widths[-1] * _WIDER <= _WIDEST * n:
        widths.append(round(widths[-1] * _WIDER))

    def place(margin: float, last: float, width: float) -> list[float]:
        if last < margin:
            return [(margin + last) / 2]
        return np.arange(margin, last + 1e-9, max(width / 5, 1.0)).tolist()

    shapes: list[list[FloatArray]] = [
        [
            (1 + np.cos(np.pi * np.clip(np.abs(t - middle) / (width / 2), 0, 1))) / 2
            for middle in place(width / 2, n - 1 - width / 2, width)
        ]
        for width in widths
    ]
    bumps = sum(len(kind) for kind in shapes)
    for width in (1, *widths, n):
        margin = max(width / 2, narrowest / 2 + 1)
        middles = place(margin, n - margin, width)
        shapes.append([np.clip((t - middle) / width + 0.5, 0, 1) for middle in middles])
    shapes.append([1 - np.exp(-t / (n * share)) for share in (0.03, 0.06, 0.12, 0.25)])
    if narrowest <= _NARROWEST:
        for width in _NARROW:
            starts = range(1, n - width)
            shapes.append([((t >= start) & (t < start + width)).astype(np.float64) for start in starts])
    kinds = np.repeat(np.arange(len(shapes)), [len(kind) for kind in shapes])
    return _Shapes(np.stack([shape for kind in shapes for shape in kind]), kinds, bumps)


def fit_course(runs: FloatArray, share: float = _SURE) -> Course:
    """Fit the course of a run, or of the mean of several, to readings at shared steps, shape (r, n).

    Changes are added one by one while their p over all positions and widths is at most ``share``. After each,
    earlier ones are searched for again given the others, and dropped if no longer needed.
    """
    data = _CourseData.from_runs(cut_outliers(runs) if runs.shape[0] > 1 else runs)
    chosen: list[int] = []
    p: list[float] = []
    while len(p) < _MOST_CHANGES:
        best, p_of_best = data.find_best(chosen)
        if p_of_best > share:
            break
        p.append(max([p_of_best, *p]))
        chosen = [*chosen, best]
        place = 0
        while len(chosen) > 1 and place < len(chosen) - 1:
            others = chosen[:place] + chosen[place + 1 :]
            best, p_of_best = data.find_best(others)
            if p_of_best > share:
                chosen = others
            else:
                chosen = [*chosen[:place], best, *chosen[place + 1 :]]
                place += 1
        if len(chosen) < len(p):
            p = p[: len(chosen)]
            break
    columns = data.get_columns(chosen)
    weights, inverse, spread = _fit_weights(data.y, columns, data.size, data.spread, data.scale)
    weights = data.scale * weights
    weights[0] += float(data.values.mean())
    return Course(data.values, columns, weights, inverse * spread.innovation**2, tuple(p), spread)


class _Step(NamedTuple):
    """Step of the search: readings, the columns so far, and the products of all shapes with both."""

    y: FloatArray
    columns: FloatArray
    to_y: _Moments
    to_columns: _Moments


class _Gains(NamedTuple):
    """What K shapes explain in addition to q columns at one φ."""

    left: float  # residual sum of squares of the columns
    along: FloatArray  # numerator and denominator of each shape's estimate, (K,)
    alone: FloatArray
    gram: FloatArray  # products of the columns, (q, q)


class _CourseData(Struct, frozen=True, dict=True):
    """Readings and all candidate shapes."""

    values: FloatArray  # readings of a run or means of several, (n,)
    y: FloatArray  # the same, less their mean and divided by ``scale``, (1, n)
    scale: float
    size: FloatArray  # weight of each reading, (n,)
    spread: NoiseModel
    shapes: _Shapes
    own: _Moments  # products of the shapes with themselves
    to_y: _Moments  # and with the readings
    runs: FloatArray  # each run less the mean of all, divided by ``scale``, (r, n)
    each: FloatArray | None  # products of all shapes with these, (K, r); None for one run

    @classmethod
    def from_runs(cls, runs: FloatArray) -> _CourseData:
        spread = estimate_from_runs(runs) if runs.shape[0] > 1 else estimate_from_one(runs[0])
        values, n = runs.mean(axis=0), runs.shape[1]
        size = 1 / spread.along**2
        scale = float(np.abs(values - values.mean()).max()) or 1.0
        y = ((values - values.mean()) / scale)[None]
        shapes = _make_shapes(n, _NARROWEST if spread.known else max(min(n // 8, 8), 6))
        every, apart = shapes.every, (runs - values) / scale
        each = _compute_moments(every, apart, size).combine(spread.strength) if spread.known else None
        now, before = every[:, 1:], every[:, :-1]
        whole, mixed, lagged = (now**2) @ size[1:], 2 * (now * before) @ size[1:], (before**2) @ size[1:]
        own = _Moments(whole, mixed, lagged, every[:, 0] ** 2 * size[0])
        to_y = _compute_moments(every, y, size)
        return cls(values, y, scale, size, spread, shapes, own, to_y, apart, each)

    def get_columns(self, chosen: list[int]) -> FloatArray:
        """Return the level (ones) and the chosen shapes, (q, n)."""
        return np.vstack([np.ones(self.values.size), self.shapes.every[chosen]])

    @cached_property
    def deviates(self) -> FloatArray:
        """Normal quantiles of ranks 0, 1/2, 1 and so on up to n among n."""
        n, law = self.values.size, NormalDist()
        shares = (half / 2 / (n + 1) for half in range(2 * n + 2))
        return np.array([law.inv_cdf(max(min(share, 1 - 1e-9), 1e-9)) for share in shares])

    def find_best(self, chosen: list[int]) -> tuple[int, float]:
        """Return the shape that explains most in addition to those chosen, and its p over all shapes."""
        columns = self.get_columns(chosen)
        at, to_at = self.y, self.to_y
        if self.each is None:
            along = self.spread.along
            rest = (self.y[0] - _fit_weights(self.y, columns, self.size, self.spread)[0] @ columns) / along
            if not looks_normal(rest):
                # Normal scores of the ranks, equal for ties (van der Waerden).
                _, place, counts = np.unique(rest, return_inverse=True, return_counts=True)
                ranks = np.cumsum(counts) - (counts - 1) / 2
                rest = self.deviates[np.rint(2 * ranks[place]).astype(np.int64)]
            at = rest[None] * along
            to_at = _compute_moments(self.shapes.every, at, self.size)
        to_columns = _compute_moments(self.shapes.every, columns, self.size)
        step = _Step(at, columns, to_at, to_columns)
        if self.each is None:
            return self.search_one_run(step)
        strength = self.spread.strength
        # The part of each shape's products with the runs that the columns explain.
        run_products = _compute_moments(columns, self.runs, self.size).combine(strength)
        gram = _compute_moments(columns, columns, self.size).combine(strength)
        weights = np.linalg.pinv(gram, hermitian=True) @ run_products
        return self.search_runs(step, self.each - np.asarray(to_columns.combine(strength) @ weights))

    def compute_gains(self, step: _Step, strength: float) -> _Gains:
        """Return what each shape explains in addition to the columns."""
        gram = _compute_moments(step.columns, step.columns, self.size).combine(strength)
        with_y = _compute_moments(step.columns, step.y, self.size).combine(strength)[:, 0]
        left = float(_compute_moments(step.y, step.y, self.size).combine(strength)[0, 0])
        inverse = np.linalg.pinv(gram, hermitian=True)
        mixed = step.to_columns.combine(strength)
        alone = self.own.combine(strength) - np.einsum("kq,qr,kr->k", mixed, inverse, mixed)
        along = step.to_y.combine(strength)[:, 0] - mixed @ (inverse @ with_y)
        # A shape that the columns already span explains nothing.
        alone = np.where(alone > 1e-8 * self.own.combine(strength), alone, np.inf)
        return _Gains(max(left - float(with_y @ inverse @ with_y), 1e-30), along, alone, gram)

    def search_one_run(self, step: _Step) -> tuple[int, float]:
        """Return the best shape for one run, and p of all bumps together or of all other shapes together.

        The statistic compares the likelihood with a change, averaged over shapes, sizes and φ, with that of
        noise alone, averaged over φ: twice the logarithm of a Bayes factor, with flat sizes and the reference
        prior of φ (Berger and Yang 1994). It needs less than the likeliest change would, whose place, width
        and φ are chosen. Noise may also be of second order, with a small weight: its waves are no changes. p
        is how often noise exceeds it, by simulation of first-order noise with φ from 0 to 0.98 and 20 to 160
        readings. A high φ costs, more so for ramps, which such noise produces.
        """
        bumps, free = self.shapes.bumps, step.y.size - step.columns.shape[0]
        grid = [self.compute_gains(step, strength) for strength in _STRENGTHS]
        determinants = np.array([np.linalg.slogdet(gains.gram)[1] for gains in grid])
        noise = -(determinants + free * np.log([gains.left for gains in grid])) / 2
        # Next to a change, what the course does not follow yet would pass for waves.
        second = self.weigh_second_order(step) if len(step.columns) == 1 else -math.inf
        fits = np.stack(
            [np.log(np.maximum(one.left - one.along**2 / one.alone, 1e-12 * one.left)) for one in grid]
        )
        sizes = np.log([gains.alone for gains in grid])
        changes = -(determinants[:, None] + free * fits + sizes) / 2
        first = np.log(1 - np.array(_STRENGTHS) ** 2)[:, None]
        likeliest = (first - step.y.size * fits).max(axis=0)
        along = self.spread.along
        costs = _UNEVEN_COSTS if float(along.max()) > _UNEVEN * float(along.min()) else 0.0
        best = []
        for places, (share, strong) in zip((slice(bumps), slice(bumps, None)), _ONE_RUN, strict=True):
            by_strength = np.logaddexp.reduce(changes[:, places], axis=1) - math.log(likeliest[places].size)
            together = np.logaddexp.reduce(by_strength)
            strength = float(np.exp(by_strength - together) @ _STRENGTHS)
            alone = np.logaddexp(np.logaddexp.reduce(noise), second)
            ratio = 2 * float(together - alone) - costs - strong * strength
            at = (places.start or 0) + int(np.argmax(likeliest[places]))
            best.append((min(share * math.exp(-_FALLS * ratio), 1.0), -float(likeliest[at]), at))
        p, _, place = min(best, key=lambda one: (one[0] > _USUAL, one[1]))
        return place, p

    def weigh_second_order(self, step: _Step) -> float:
        """Return the log likelihood of the columns in second-order autoregressive noise, averaged over it.

        The correlation of neighbours is one of ``_STRENGTHS``, the second coefficient one of ``_SECOND``, and
        the first one the correlation times 1 less the second; scaled as in ``search_one_run``.
        """
        rows = np.vstack([step.columns, step.y]) * np.sqrt(self.size)
        now, before, earlier = rows[:, 2:], rows[:, 1:-1], rows[:, :-2]
        parts = now, before, earlier
        inner = np.stack([one @ other.T for one in parts for other in parts]).reshape(3, 3, len(rows), -1)
        start = np.stack([np.outer(one, other) for one in rows.T[:2] for other in rows.T[:2]])
        start = start.reshape(2, 2, len(rows), -1)
        correlation, second = (one.ravel() for one in np.meshgrid(_STRENGTHS, _SECOND))
        weights = np.stack([np.ones(second.size), -correlation * (1 - second), -second])
        gram = np.einsum("ag,bg,abij->gij", weights, weights, inner)
        # The first reading has the variance of all, the second one that given the first.
        own = (1 - second**2) * (1 - correlation**2)
        lag = np.stack([-correlation, np.ones(second.size)])
        gram += own[:, None, None] * start[0, 0] + (1 - second**2)[:, None, None] * np.einsum(
            "ag,bg,abij->gij", lag, lag, start
        )
        whole, columns = np.linalg.slogdet(gram)[1], np.linalg.slogdet(gram[:, :-1, :-1])[1]
        free = step.y.size - step.columns.shape[0]
        chances = -(columns + free * (whole - columns)) / 2
        weight = float(np.interp(step.y.size, *_SECOND_WEIGHTS))
        return float(np.logaddexp.reduce(chances)) - math.log(len(_SECOND)) + weight

    def search_runs(self, step: _Step, each: FloatArray) -> tuple[int, float]:
        """Return the best shape for the mean of several runs, and its p over all shapes.

        If the runs' own estimates of shapes of one kind differ by more than the noise explains, their spread
        is the error. A shape that the runs do not share is rejected. ``each`` holds the numerators of the
        runs' own estimates given the columns, less their mean, shape (K, r).
        """
        spread, runs, kinds = self.spread, each.shape[1], self.shapes.kinds
        _, along, alone, _ = self.compute_gains(step, spread.strength)
        apart = (each**2).sum(axis=1) / (runs - 1) / runs
        usual = alone * (spread.innovation / self.scale) ** 2
        there = np.isfinite(alone) & (usual > 0)
        ratios = np.where(there, apart / np.where(there, usual, 1.0), 1.0)
        counts = np.bincount(kinds)
        more = np.maximum(np.bincount(kinds, ratios) / counts, 1.0)[kinds]
        error = np.sqrt(np.where(there, usual, np.inf) * more)
        own = np.sqrt(np.maximum(apart, 1e-300))
        tails = (_SHARED, _SHARED_NARROW) if runs > _PAIR else (_SHARED_BY_TWO, _SHARED_BY_TWO)
        wide, narrow = (t_quantile(1 - tail / 2, runs - 1) for tail in tails)
        shared = np.abs(along) > np.where(kinds < kinds.max() + 1 - len(_NARROW), wide, narrow) * own
        z = np.where(shared, np.abs(along) / error, 0.0)
        if not spread.innovation:
            size = np.where(np.isfinite(alone) & (np.abs(along) > _NOTHING), np.abs(along), 0.0)
            z = 1e6 * size / np.sqrt(alone)
        candidates = []
        for kind in range(counts.size):
            own_kind = np.flatnonzero(kinds == kind)
            best = int(own_kind[np.argmax(z[own_kind])])
            # Places overlap fivefold, except narrow ones; in random walks each counts twice.
            overlap = 1 if kind >= counts.size - len(_NARROW) else 5
            places = _PLACES * (1 + spread.strength**40) * counts.size * (counts[kind] / overlap + 1)
            candidates.append((2 * t_tail(float(z[best]), spread.df) * places, -float(z[best]), best))
        p, _, best = min(candidates)
        return best, min(p, 1.0)


def _fit_weights(
    y: FloatArray, columns: FloatArray, size: FloatArray, spread: NoiseModel, scale: float = 1.0
) -> tuple[FloatArray, FloatArray, NoiseModel]:
    """Fit weights by generalised least squares; return them, their covariance and the likeliest noise."""
    n, q = y.size, columns.shape[0]
    between, to_y = _compute_moments(columns, columns, size), _compute_moments(columns, y, size)
    whole = _compute_moments(y, y, size)

    def solve(strength: float) -> tuple[float, FloatArray, FloatArray]:
        inverse = np.asarray(np.linalg.pinv(between.combine(strength), hermitian=True), dtype=np.float64)
        with_y: FloatArray = to_y.combine(strength)[:, 0]
        rest = float(whole.combine(strength)[0, 0] - with_y @ inverse @ with_y)
        weights: FloatArray = inverse @ with_y
        return max(rest, 1e-300), inverse, weights

    if spread.known:
        _, inverse, weights = solve(spread.strength)
        return weights, inverse, spread
    chances = [math.log(1 - one**2) / 2 - n / 2 * math.log(solve(one)[0]) for one in _STRENGTHS]
    likeliest = _STRENGTHS[int(np.argmax(chances))]
    rest, inverse, weights = solve(likeliest)
    free = float(max(n - q, 1))
    innovation = scale * math.sqrt(rest / free)
    return weights, inverse, replace(spread, strength=likeliest, innovation=innovation, df=free)


def looks_normal(rest: FloatArray) -> bool:
    """Return whether changes between neighbours have a mean deviation like normal ones (Geary 1935).

    Otherwise ranks are used, so that outliers, skew or unsteady noise are not mistaken for changes.
    """
    change = np.diff(rest)
    size = math.sqrt(float((change**2).mean()))
    return size == 0 or float(np.abs(change).mean()) / size > _GEARY - _DOUBT / math.sqrt(change.size)
