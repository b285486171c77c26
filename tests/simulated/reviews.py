"""Changes with a known truth, as the command line reviews them: how often intervals and verdicts are right.

Runs are draws of one distribution; the runs of a benchmark differ by a common shift of every item's chance.
Items have chances of their own, and a state is another set of answers to them. Each series of a report is a
change by itself, so that one review says thousands of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from command_line import ask
from made_projects import write_report

from reportgen.review.model import read_review
from reportgen.statistics.verdicts import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reportgen.core.model import FloatArray
    from reportgen.review.model import Delta, NumberChange

_SAMPLES, _ALPHA = 4, 0.05
# As many series as a table has.
_MOST = 5_000

RUNS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, n),
    "t(5)": lambda rng, n: rng.standard_t(5, n) / (5 / 3) ** 0.5,
}
"""Laws of the mean of a run."""

CHANCES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "beta": lambda rng, n: rng.beta(0.6, 0.4, n),
    "logit t(3)": lambda rng, n: 1 / (1 + np.exp(-0.5 - 1.2 * rng.standard_t(3, n))),
}
"""Laws of the chance that an item is solved."""


class Laws(NamedTuple):
    """Names of the laws of runs and of items."""

    runs: str = "normal"
    chances: str = "beta"


USUAL = Laws()


class Overlap(NamedTuple):
    """How many runs two states do not share, and share."""

    removed: int
    shared: int
    added: int


class Runs(NamedTuple):
    """What each run of a series measured, a run a row: removed, shared by both states, added."""

    removed: FloatArray
    shared: FloatArray
    added: FloatArray


class Shares(NamedTuple):
    """Of simulated changes: intervals that hold the truth, and those that have an interval."""

    covered: float
    known: float


# ---- two states and their review


def _review(block: str, header: str, rows: Sequence[Iterable[str]]) -> list[NumberChange]:
    """What a review says of two states whose rows are given, in the order of the series."""
    with TemporaryDirectory() as folder:
        for state, listed in zip(("before", "after"), rows, strict=True):
            files = {"content/index.md": f"# Many\n\n{block}", "data/runs.csv": None}
            table = "\n".join((header, *listed, ""))
            write_report(Path(folder, state), {**files, "data/many.csv": table})
        said = ask(Path(folder), "review", "before", "after", "--fail-on", "never")
    assert said["ok"], said
    return sorted(read_review(json.dumps(said["result"])).numbers, key=lambda number: int(number.series[1:]))


def _list_rows(
    listed: Sequence[Runs], left_out: str, write: Callable[[FloatArray], Iterable[str]]
) -> Iterable[str]:
    """The rows of all series without their removed or added runs."""
    for place, runs in enumerate(listed):
        for name, group in runs._asdict().items():
            for number, measured in enumerate(group if name != left_out else ()):
                yield from (f"s{place},{name}{number},{row}" for row in write(measured))


def review_runs(listed: Sequence[Runs]) -> list[NumberChange]:
    """Series by their last values; as many as fit into a review are one family."""
    found: list[NumberChange] = []
    for first in range(0, len(listed), _MOST):
        some = listed[first : first + _MOST]
        rows = [
            _list_rows(some, one, lambda value: [f"1,{10 + value.item()!r}"]) for one in ("added", "removed")
        ]
        block = "```table\nsource: many\ncolumns: [final]\n```\n"
        found += _review(block, "series,seed,step,value", rows)
    return found


def review_items(listed: Sequence[Runs]) -> list[NumberChange]:
    """Series by their scores on the items of a benchmark."""
    rows = [
        _list_rows(
            listed, one, lambda scores: [f"{item},{score}" for item, score in enumerate(scores.tolist())]
        )
        for one in ("added", "removed")
    ]
    return _review("```run-scores\nsource: many\n```\n", "series,run,problem,score", rows)


def review_given(before: FloatArray, after: FloatArray, errors: tuple[float, float]) -> list[NumberChange]:
    """Series with one value a state, whose 95% interval is given by a standard error."""
    rows = [
        [
            f"s{place},1,{value!r},{value - 1.959964 * error!r},{value + 1.959964 * error!r}"
            for place, value in enumerate(values.tolist())
        ]
        for values, error in zip((before, after), errors, strict=True)
    ]
    return _review("```table\nsource: many\ncolumns: [final]\n```\n", "series,step,value,low,high", rows)


def get_delta(number: NumberChange) -> Delta:
    """The difference of a number that both states have."""
    assert number.delta is not None
    return number.delta


def measure_coverage(numbers: Sequence[NumberChange], truths: Sequence[float]) -> Shares:
    """How often intervals hold these differences, a truth a number."""
    deltas = [get_delta(number) for number in numbers]
    held = [
        one.low <= truth <= one.high
        for one, truth in zip(deltas, truths, strict=True)
        if one.low is not None and one.high is not None
    ]
    return Shares(float(np.mean(held)) if held else 0.0, len(held) / len(deltas))


# ---- runs and items between whose states nothing changed


def draw_runs(rng: np.random.Generator, overlap: Overlap, laws: Laws = USUAL) -> Runs:
    """Runs of two states between which nothing changed."""
    return Runs(*(RUNS[laws.runs](rng, count) for count in overlap))


def cover_runs(
    overlap: Overlap, *, draws: int, seed: int = 0, difference: float = 0.0, laws: Laws = USUAL
) -> Shares:
    """How often the interval holds the truth.

    Added runs of every second series are better by ``difference``, which is 0 if any run is shared.
    """
    rng = np.random.default_rng([seed, *overlap])
    truths = [difference * (number % 2) for number in range(draws)]
    drawn = [draw_runs(rng, overlap, laws) for _ in range(draws)]
    moved = [one._replace(added=one.added + truth) for one, truth in zip(drawn, truths, strict=True)]
    return measure_coverage(review_runs(moved), truths)


def draw_items(
    rng: np.random.Generator, overlap: Overlap, items: int, shift: float = 0.0, laws: Laws = USUAL
) -> Runs:
    """Runs of one series on one benchmark, by item; ``shift`` is what a run adds."""
    chance = CHANCES[laws.chances](rng, items)
    groups = []
    for count in overlap:
        moved = np.clip(chance + shift * RUNS[laws.runs](rng, count)[:, None], 0, 1)
        groups.append(rng.binomial(_SAMPLES, moved) / _SAMPLES)
    return Runs(*groups)


def cover_items(
    overlap: Overlap, items: int, *, draws: int, seed: int = 0, shift: float = 0.0, laws: Laws = USUAL
) -> Shares:
    """How often the interval holds 0 where nothing changed but runs and answers."""
    rng = np.random.default_rng([seed, items, *overlap])
    found = review_items([draw_items(rng, overlap, items, shift, laws) for _ in range(draws)])
    return measure_coverage(found, [0.0] * draws)


def is_clear(number: NumberChange, p_adjusted: float | None) -> bool:
    """Whether an adjusted p and the interval give a verdict."""
    one = get_delta(number)
    ends = (one.low, one.high)
    return p_adjusted is not None and p_adjusted < _ALPHA and None not in ends and not _holds_zero(*ends)


def _holds_zero(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low <= 0 <= high


def find_false_verdicts(
    overlaps: Sequence[Overlap],
    *,
    numbers: int,
    draws: int,
    seed: int = 0,
    items: int = 0,
    laws: Laws = USUAL,
) -> float:
    """The share of changes of so many numbers that give any verdict where nothing changed.

    Numbers are means of runs or, where there are ``items``, scores of one benchmark over these, for which the
    ``overlaps`` have no shared run. One run a side is about these very runs, which differ by answers alone.
    A change of means is a part of a large review, adjusted by itself.
    """
    rng = np.random.default_rng([seed, numbers, items])
    chosen = [overlaps[number % len(overlaps)] for number in range(numbers)]
    families: list[list[tuple[NumberChange, float | None]]]
    if items:
        families = []
        for _ in range(draws):
            shifts = [0.0 if one.added == 1 else 0.05 for one in chosen]
            both = zip(chosen, shifts, strict=True)
            found = review_items([draw_items(rng, one, items, by, laws) for one, by in both])
            families.append([(one, get_delta(one).p_adjusted) for one in found])
    else:
        every = review_runs([draw_runs(rng, one, laws) for _ in range(draws) for one in chosen])
        families = [
            list(zip(some, holm([get_delta(one).p or 0.0 for one in some]), strict=True))
            for some in (every[first : first + numbers] for first in range(0, len(every), numbers))
        ]
    return float(np.mean([any(is_clear(*one) for one in family) for family in families]))
