"""How often blocks of observations on two series infer something from noise, and find what is planted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from simulated.observations import (
    CHANGED,
    CHANGED_WALKS,
    EFFECT,
    LAWS,
    NARROW,
    PLANTED,
    WALKS,
    false_block,
    found_in_block,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulated.observations import Planted

    from reportgen.core.model import FloatArray

_BLOCKS, _PLANTS = {True: 200, False: 40}, {True: 50, False: 15}
_LENGTHS = {True: (20, 30, 60, 100, 300, 1000), False: (20, 60, 300)}
_FROM = (60, 100, 300, 1000)
# A random walk of one run is a trend: of five each wanders its own way.
_LAWS = {1: LAWS | CHANGED, 5: LAWS | WALKS | CHANGED | CHANGED_WALKS}
_MUST = {"white": "≥ 90 %", "AR(.9)": "≥ 75 %"}
_STRENGTH = {"white": 0.0, "AR(.9)": 0.9}
_ANY_STRENGTH = (0.0, 0.2, 0.4, 0.55, 0.7, 0.8, 0.87, 0.92, 0.95, 0.97, 0.985)
# The part of a block's 5 % for the course of one of two series, and for who leads, by the number of runs.
_COURSE, _LEADS = {1: 0.05 * 0.75 / 2, 5: 0.05 * 0.55 / 2}, {1: 0.05 * 0.2, 5: 0.05 * 0.3}
_DRAWS, _PLACES = 1000, 101
_WIDTHS, _SHORT = (0.67, 1.0, 1.5, 2.25), 100  # relative widths, and the most readings to search them all


def measure(*, full: bool, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Rows of what, measured, and what it must be.

    Args:
        full: as many repetitions as the figures need; otherwise about a fifth.
        seed: of the generators.
    """
    yield from _false(seed, full=full)
    yield from _found(seed, full=full)


def _false(first: int, *, full: bool) -> list[tuple[str, str, str]]:
    """The share of blocks with any false inference, by runs and law, at each length."""
    rows = []
    for runs, laws in _LAWS.items():
        for name, law in laws.items():
            listed = name in LAWS or name in WALKS
            blocks = _BLOCKS[full] if listed else _BLOCKS[full] // 2
            shares = []
            for n in _LENGTHS[full] if listed else _LENGTHS[False]:
                wrong = sum(bool(false_block(law, n, runs, seed)) for seed in range(first, first + blocks))
                shares.append(f"{n}: {100 * wrong / blocks:.1f}")
            what = f"blocks with a false inference, {runs} run{'s' * (runs > 1)} each, {name}"
            rows.append((what, f"{', '.join(shares)} %", "≤ 5 %"))
    return rows


def _found(first: int, *, full: bool) -> list[tuple[str, str, str]]:
    """The share of planted effects that are found, by runs and law, at each length.

    Next to it, what likelihood ratio tests find at the same error: of an observer who knows the law of the
    noise and the effect's shape; for one run, of one who has to estimate the autocorrelation; and of one who
    has to find the width of the effect as well.
    """
    rows = []
    for runs, (name, planted), law in product((1, 5), (PLANTED | NARROW).items(), _MUST):
        plants = _PLANTS[full]
        lengths = _FROM[: 4 if full else 2]
        seen = [
            sum(found_in_block(planted, LAWS[law], n, runs, seed) for seed in range(first, first + plants))
            for n in lengths
        ]
        said = [_shares(lengths, [one / plants for one in seen])]
        known = [_found_by_knowing(planted, _STRENGTH[law], n, runs, first) for n in lengths]
        said.append(f"who knows noise and shape: {_shares(lengths, known)}")
        if runs == 1 and planted.rule != "crossing":
            learned = [_found_by_learning(planted, _STRENGTH[law], n, first) for n in lengths]
            said.append(f"who knows shape and width: {_shares(lengths, learned)}")
            short = tuple(n for n in lengths if n <= _SHORT and name in PLANTED)
            searched = [_found_by_learning(planted, _STRENGTH[law], n, first, _WIDTHS) for n in short]
            said += [f"who knows the shape alone: {_shares(short, searched)}"] if short else []
        rows.append(
            (f"{name}, 3 deviations, {runs} run{'s' * (runs > 1)} each, {law}", "; ".join(said), _MUST[law])
        )
    return rows


def _shares(lengths: tuple[int, ...], shares: list[float]) -> str:
    return ", ".join(f"{n}: {100 * one:.0f}" for n, one in zip(lengths, shares, strict=True)) + " %"


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


def _found_by_knowing(planted: Planted, strength: float, n: int, runs: int, seed: int) -> float:
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


def _found_by_learning(
    planted: Planted, strength: float, n: int, seed: int, widths: tuple[float, ...] = ()
) -> float:
    """The same where the strength and size of the noise are fitted, held to the strength that needs most.

    ``widths`` are those to search, relative to the true one, which otherwise is known.
    """
    rng = np.random.default_rng([seed, n])
    truths = searched = _places(planted, n)
    if widths:
        middle, places = np.linspace(-0.5, 0.5, n), np.linspace(-1, 2, 2 * min(n, _PLACES))
        every = np.stack([planted.truth(0.5 + middle / width, at) for width in widths for at in places])
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
