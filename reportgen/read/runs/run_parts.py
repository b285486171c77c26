"""Runs that are parts of one, runs that cannot be told apart, and names of runs that differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from reportgen.read.runs.run_repeats import find_differences

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from reportgen.read.runs.run_settings import Candidate

Places: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class RunName:
    """What a run is called in the report."""

    series: str
    run: str
    seed: str | None


def make_run_key(candidate: Candidate) -> tuple[str, str, str] | None:
    """What parts of one run share: the id, and what it is called; None without an id."""
    run = candidate.run
    return (run.id, run.name, run.group) if run.id else None


def find_resumed_runs(candidates: Sequence[Candidate]) -> Places:
    """Runs that have the same id, name and group, in the order of time where it is known, or of writing."""
    places: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        if key := make_run_key(candidate):
            places[key].append(index)
    begins = [candidate.run.begins or 0.0 for candidate in candidates]
    found = (tuple(sorted(several, key=begins.__getitem__)) for several in places.values())
    return tuple(several for several in found if len(several) > 1)


def make_unique_names(
    candidates: Sequence[Candidate], names: Sequence[RunName], labels: Sequence[str], resumed: Places
) -> tuple[RunName, ...]:
    """Names with a run that no other of the series has; parts of one run are called as its beginning.

    Args:
        candidates: the runs.
        names: their series and seeds.
        labels: what each run is called, which need not tell it from others.
        resumed: places of runs that are parts of one.
    """
    first = _map_first(resumed)
    begins = [first.get(index, index) for index in range(len(names))]
    keys = {
        place: (names[place].series, candidates[place].run.benchmark, labels[place])
        for place in dict.fromkeys(begins)
    }
    shared = Counter(keys.values())
    seen: Counter[tuple[str, str, str]] = Counter()
    runs: dict[int, str] = {}
    for place, (series, benchmark, label) in keys.items():
        run = (candidates[place].folder or label) if shared[series, benchmark, label] > 1 else label
        seen[series, benchmark, run] += 1
        count = seen[series, benchmark, run]
        runs[place] = run if count == 1 else f"{run} ({count})"
    return tuple(replace(names[place], run=runs[place]) for place in begins)


def find_indistinct_runs(
    candidates: Sequence[Candidate], names: Sequence[RunName], resumed: Places, *, chosen: bool
) -> Places:
    """Places of runs with the same series and seed; without seeds only where nobody chose the series."""
    first = _map_first(resumed)
    places: dict[tuple[str, str | None, str], list[int]] = defaultdict(list)
    for index, (candidate, name) in enumerate(zip(candidates, names, strict=True)):
        if first.get(index, index) == index and (name.seed is not None or not chosen):
            places[name.series, name.seed, candidate.run.benchmark].append(index)
    return tuple(tuple(several) for several in places.values() if len(several) > 1)


def find_mixed_runs(
    candidates: Sequence[Candidate], names: Sequence[RunName], resumed: Places, logged: Container[int]
) -> Places:
    """Places of runs of one series and benchmark that differ in more than their seeds.

    Args:
        candidates: the runs.
        names: their series.
        resumed: places of runs that are parts of one.
        logged: the ``id`` of each candidate that counts.
    """
    first, known = _map_first(resumed), find_differences(candidates)
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, (candidate, name) in enumerate(zip(candidates, names, strict=True)):
        if first.get(index, index) == index and id(candidate) in logged:
            places[name.series, candidate.run.benchmark].append(index)
    return tuple(tuple(several) for several in places.values() if not known.is_repeated(several))


def _map_first(resumed: Places) -> dict[int, int]:
    """For each part of a run the place of its beginning."""
    return {place: several[0] for several in resumed for place in several}
