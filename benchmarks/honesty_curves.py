"""How often what is said of curves holds: simultaneous bands, peaks, leaders, bands of equal runs."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from simulated.curves import (
    NOISES,
    OTHERS,
    autoregressive,
    bands_without_width,
    coverage,
    leaders_ahead,
    leaders_among_equals,
)
from simulation import Row, Setting, Task, estimate_error, format_share

from reportgen.statistics.curves.bands import compute_band

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulated.curves import Coverage

_SKEWED = ("skewed", "uniform", "failing seeds", "lognormal seeds", "one of twenty fails", "accuracies")
_LEADERS = {
    "usual": ("white", "skewed", "failing seeds", "accuracies"),
    "other": ("GARCH", "Laplace", "lognormal seeds", "one of twenty fails"),
}
_AHEAD = ((5, 3, 2.1), (10, 3, 2.8), (4, 5, 2.1))
_STATED_SD = 0.5  # of the logarithm of readings, whose neighbours correlate by 0.5
_MEANS = {"usual": ("flat", "hump", "rise"), "other": ("power law", "two humps", "power law")}
_STEPS, _RUNS = (14, 50, 200), (3, 5, 10)
_DRAWS, _LED, _BANDED = {True: 60, False: 30}, {True: 500, False: 200}, {True: 200, False: 50}


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    draws = _DRAWS[setting.full]
    rows = []
    for noise in OTHERS if setting.is_other else (*NOISES, "accuracies"):
        tasks = [Task(cover, (setting, noise, *one, draws)) for one in product(_RUNS, _STEPS)]
        must = "said in the guide" if noise in _SKEWED else "93–97%, or more"
        what = f"{noise}: simultaneous band; peak: the mean at its step, the maximum (that step alone)"
        rows.append(Row(what, must, tasks, lambda cells: _describe(cells, draws)))
    rows.append(_plan_stated(setting))
    return rows + _plan_leaders(setting) + [_plan_widths(setting), *_plan_bounded(setting)]


def cover(setting: Setting, noise: str, runs: int, steps: int, draws: int) -> Coverage:
    """Return how often the intervals of one law, number of runs and number of steps hold the truth."""
    flat, hump, _ = _MEANS[setting.generators]
    seed = setting.derive_seed("curves", noise, runs, steps)
    return coverage(noise, hump if steps == _STEPS[1] else flat, runs, steps, draws=draws, seed=seed)


def _describe(cells: Sequence[Coverage], draws: int) -> str:
    """The means over runs and steps, with the cells of the smallest and the largest share of bands."""
    percent = 100 * np.array([(one.band, one.picked, one.highest, one.plain) for one in cells])
    band, picked, highest, plain = np.nanmean(percent, axis=0).tolist()
    error = 100 * estimate_error(0.95, draws * len(cells))
    least, most = (end(percent[:, 0]) for end in (np.min, np.max))
    return (
        f"{band:.1f} ({least:.0f} to {most:.0f}); {picked:.1f} ({np.nanmin(percent[:, 1]):.0f} at least), "
        f"{highest:.1f} (alone {plain:.0f}) %, ± {error:.1f}"
    )


def _plan_stated(setting: Setting) -> Row:
    draws = _BANDED[setting.full]
    return Row(
        "lognormal readings: simultaneous band with the range stated, and without",
        "said in the guide",
        [Task(cover_stated, (setting, runs, steps, draws)) for runs, steps in product(_RUNS, _STEPS)],
        lambda cells: (
            "; ".join(
                f"{100 * sum(side) / len(side):.1f} ({100 * min(side):.0f} at least)"
                for side in zip(*cells, strict=True)
            )
            + " %"
        ),
    )


def cover_stated(setting: Setting, runs: int, steps: int, draws: int) -> tuple[float, float]:
    """Return how often the band of a metric above 0 holds its mean, knowing that, and not knowing it."""
    rng = setting.make_rng("stated", runs, steps)
    mean, ranges = math.exp(_STATED_SD**2 / 2), ((0.0, math.inf), None)
    held = np.zeros((draws, 2), dtype=bool)
    for row in held:
        values = np.exp(_STATED_SD * autoregressive(rng, (runs, steps), 0.5))
        bands = [compute_band(values, "simultaneous", 0.95, ends) for ends in ranges]
        row[:] = [np.all((band.low <= mean) & (mean <= band.high)) for band in bands]
    known, unknown = held.mean(axis=0).tolist()
    return known, unknown


def _plan_leaders(setting: Setting) -> list[Row]:
    times = _LED[setting.full]
    return [
        Row(
            f"{series} equal series, 2, 3 and 5 runs: one is said to lead ({noise})",
            "≤ 5%",
            [Task(lead, (setting, noise, series, runs, times)) for runs in (2, 3, 5)],
            lambda shares: ", ".join(format_share(share * times, times) for share in shares) + " %",
        )
        for noise, series in product(_LEADERS[setting.generators], (2, 4))
    ] + [
        Row(
            f"{what}: 5 series of 3 runs, 2.1 sd ahead; 10 of 3 runs, 2.8 sd; 4 of 5 runs, 2.1 sd",
            must,
            [Task(lead_ahead, (setting, one, tied, times)) for one in _AHEAD],
            lambda shares: ", ".join(format_share(share * times, times) for share in shares) + " %",
        )
        for what, must, tied in (
            ("the best is said to lead", "≥ 40, ≥ 60 %; the exact test finds 38, 63", 1),
            ("one of two equal best is said to lead", "≤ 5%", 2),
        )
    ]


def lead_ahead(setting: Setting, field: tuple[int, int, float], tied: int, draws: int) -> float:
    """Return how often a series is said to lead, if one or two are ahead of the others."""
    return leaders_ahead(*field, tied, draws=draws, seed=setting.derive_seed("ahead", field, tied))


def lead(setting: Setting, noise: str, series: int, runs: int, draws: int) -> float:
    """Return how often one of several equal series is said to lead."""
    seed = setting.derive_seed("leaders", noise, series, runs)
    mean = _MEANS[setting.generators][2]
    return leaders_among_equals(noise, series, runs, draws=draws, seed=seed, mean=mean)


def _plan_widths(setting: Setting) -> Row:
    what, must = "steps with a band of zero width, 2 and 3 runs of 30 problems", "none without a word"
    draws = _BANDED[setting.full]
    return Row(
        what, must, [Task(measure_widths, (setting, runs, draws)) for runs in (2, 3)], _describe_widths
    )


def measure_widths(setting: Setting, runs: int, draws: int) -> tuple[float, float]:
    """Return the shares of steps whose runs are equal, and that have a band there."""
    return bands_without_width(runs, draws=draws, seed=setting.derive_seed("widths", runs))


def _describe_widths(found: Sequence[tuple[float, float]]) -> str:
    equal = " and ".join(f"{100 * share:.0f}%" for share, _ in found)
    return f"{100 * max(share for _, share in found):.0f}% banded ({equal} are equal, and said so)"


_BOUNDED = {
    "lognormal, sd 0.2": (math.inf, math.exp(0.02)),
    "lognormal, sd 0.5": (math.inf, math.exp(0.125)),
    "lognormal, sd 1": (math.inf, math.exp(0.5)),
    "beta(9, 1)": (1.0, 0.9),
    "beta(98, 2)": (1.0, 0.98),
}


def _plan_bounded(setting: Setting) -> list[Row]:
    draws = 20_000 if setting.full else 2_000
    return [
        Row(
            f"{law}: interval of the mean of 3, 5 and 10 runs with the range stated (t)",
            "as said in the guide",
            [Task(cover_bounded, (setting, law, runs, draws)) for runs in _RUNS],
            lambda found: ", ".join(f"{100 * own:.1f} ({100 * plain:.1f})" for own, plain in found) + " %",
        )
        for law in _BOUNDED
    ]


def cover_bounded(setting: Setting, law: str, runs: int, draws: int) -> tuple[float, float]:
    """Return how often the interval that knows the range holds the mean, and how often t does."""
    rng, (most, mean) = setting.make_rng("bounded", law, runs), _BOUNDED[law]
    if math.isinf(most):
        values = rng.lognormal(0.0, float(law.rpartition(" ")[2]), (runs, draws))
    else:
        values = rng.beta(*((9, 1) if law == "beta(9, 1)" else (98, 2)), (runs, draws))
    bands = [compute_band(values, "ci", 0.95, ends) for ends in ((0.0, most), None)]
    own, plain = (float(np.mean((band.low <= mean) & (mean <= band.high))) for band in bands)
    return own, plain
