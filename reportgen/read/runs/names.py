"""Series, seed and run of what loggers and harnesses wrote: as the settings say, otherwise as found.

The seed is that of a run's configuration, otherwise that in its name or folder (``seed_3``, ``-seed=3``,
and ``s3`` where other runs differ in it alone). The series is the model of an evaluation; of a run it is
its name or, where runs have none or it does not distinguish them, its folder, both without the seed; or
its group, where names make each run a series and groups bring runs of different seeds together. A run
without a known seed does not prevent those that have one from being brought together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from reportgen.read.runs.labels import (
    find_config_seed,
    find_differences,
    get_value,
    join_labels,
    join_values,
    list_schemes,
    parse_seed,
    split_seed,
    split_short_seeds,
)

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Sequence

    from reportgen.read.runs.labels import Candidate, Differences, Scheme
    from reportgen.settings.source import SourceSettings


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


UNNAMED: Final = "(unnamed)"
_PATTERN: Final = "the pattern of files:"


@dataclass(frozen=True, slots=True)
class Naming:
    """The names of all runs.

    Attributes:
        names: one a run, in the order of the runs.
        series_by: how series were found, as words after "by".
        seed_by: how seeds were found, the same; empty where there are none.
        guessed: whether a name or folder was taken apart, or a group taken for a series.
        indistinct: places of runs that have the same series and seed.
        resumed: places of runs that are parts of one.
        mixed: places of runs of one series that differ in more than their seeds, though nobody chose it.
        seedless: places of runs that are series of their own for want of a seed, which the others have.
        keys: what ``series_from`` would call a guess that settings were taken for; empty otherwise.
    """

    names: tuple[RunName, ...]
    series_by: str
    seed_by: str
    guessed: bool = False
    indistinct: tuple[tuple[int, ...], ...] = ()
    resumed: tuple[tuple[int, ...], ...] = ()
    mixed: tuple[tuple[int, ...], ...] = ()
    seedless: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Labels:
    """Values of all runs, and by what they were found."""

    values: tuple[str | None, ...]
    by: str
    guessed: bool = False
    keys: tuple[str, ...] = ()


def name_runs(candidates: Sequence[Candidate], settings: SourceSettings, source: str) -> Naming:
    """The names of all runs of a source.

    Args:
        candidates: the runs, in the order of writing.
        settings: ``series_from``, ``seed_from`` and ``run_from`` count.
        source: the name of a series where nothing else names it.
    """
    # A run that was killed before it logged anything has no say in what the others are called.
    informative = [one for one in candidates if one.run.metrics or one.run.totals] or candidates
    series, seeds, seedless = _find_names(informative, settings, source)
    known = dict(zip(map(id, informative), zip(series.values, seeds.values, strict=True), strict=True))
    resumed = find_resumed_runs(candidates)
    names = [
        RunName(name or _without_series(candidate), "", seed)
        for candidate in candidates
        for name, seed in [known.get(id(candidate)) or _get_own_name(candidate, settings)]
    ]
    labels = [_label_run(candidate, settings.run_from) for candidate in candidates]
    named = make_unique_names(candidates, names, labels, resumed)
    indistinct = find_indistinct_runs(candidates, named, resumed, chosen=settings.series_from is not None)
    logged = [tuple(index for index in places if id(candidates[index]) in known) for places in indistinct]
    guided = settings.series_from is not None or any("series" in one.labels for one in candidates)
    mixed = () if guided else find_mixed_runs(candidates, named, resumed, logged={*known})
    return Naming(
        names=named,
        series_by=series.by,
        seed_by=seeds.by if any(seeds.values) else "",
        guessed=series.guessed or (seeds.guessed and any(seeds.values)),
        indistinct=tuple(places for places in logged if len(places) > 1),
        resumed=resumed,
        mixed=tuple(places for places in mixed if places not in indistinct),
        seedless=tuple(place for place, one in enumerate(candidates) if id(one) in seedless),
        keys=series.keys,
    )


def _find_names(
    candidates: Sequence[Candidate], settings: SourceSettings, source: str
) -> tuple[_Labels, _Labels, frozenset[int]]:
    """Series and seeds of all runs, and the ``id`` of each that is a series of its own for want of a seed.

    Its settings are not known, so it may be a repetition of any of the others, or of none.
    """
    series, seeds = _find_series(candidates, settings, _find_seeds(candidates, settings), source)
    seeded = [index for index, seed in enumerate(seeds.values) if seed is not None]
    if settings.series_from or not 0 < len(seeded) < len(candidates):
        return series, seeds, frozenset()
    known = [candidates[place] for place in seeded]
    found, own = _find_series(known, settings, _find_seeds(known, settings), source)
    if len({*found.values}) >= len({series.values[place] for place in seeded}):
        return series, seeds, frozenset()
    names, values = dict(zip(seeded, found.values, strict=True)), dict(zip(seeded, own.values, strict=True))
    rest = [place for place in range(len(candidates)) if place not in names]
    taken = {*found.values}
    for place in rest:
        name = series.values[place]
        names[place] = candidates[place].folder or name if name in taken else name
    return (
        replace(found, values=tuple(names[place] for place in range(len(candidates)))),
        replace(own, values=tuple(values.get(place) for place in range(len(candidates)))),
        frozenset(id(candidates[place]) for place in rest),
    )


def _get_own_name(candidate: Candidate, settings: SourceSettings) -> tuple[str | None, str | None]:
    """Series and seed of a run without values among others: what it says itself."""
    keys = (settings.series_from,) if isinstance(settings.series_from, str) else settings.series_from or ()
    series = join_values(candidate, candidate.folder, keys, "") or candidate.labels.get("series")
    seed = _get_seed(candidate, settings.seed_from) if settings.seed_from else candidate.labels.get("seed")
    return series, seed or parse_seed(candidate.run.seed) or find_config_seed(candidate.run.config)


def _without_series(candidate: Candidate) -> str:
    """The series of a run that lacks what names the others, which matters only if it logged anything."""
    return UNNAMED if candidate.run.metrics else candidate.run.name or candidate.folder or UNNAMED


def _label_run(candidate: Candidate, name: str | None) -> str:
    """What a run is called, which need not tell it from others."""
    label = get_value(candidate, name) if name else candidate.labels.get("run")
    return label or candidate.run.name or candidate.folder or candidate.run.id


def _find_seeds(candidates: Sequence[Candidate], settings: SourceSettings) -> _Labels:
    if settings.seed_from:
        return _Labels(
            tuple(_get_seed(candidate, settings.seed_from) for candidate in candidates),
            f'"{settings.seed_from}"',
        )
    if any("seed" in candidate.labels for candidate in candidates):
        return _Labels(tuple(candidate.labels.get("seed") for candidate in candidates), _PATTERN)
    configured = tuple(
        parse_seed(candidate.run.seed) or find_config_seed(candidate.run.config) for candidate in candidates
    )
    named = tuple(
        split_seed(candidate.run.name)[1] or split_seed(candidate.path)[1] for candidate in candidates
    )
    # A configuration may keep a default that the one who started the runs went past.
    if all(named) and len(set(configured)) == 1 and len(set(named)) > 1:
        return _Labels(named, "the names", guessed=True)
    if not any(configured):
        return _Labels(named, "the names", guessed=True)
    filled = tuple(one or other for one, other in zip(configured, named, strict=True))
    if filled == configured:
        return _Labels(configured, "the configuration")
    return _Labels(filled, "the configuration or, where it has none, the names", guessed=True)


def _get_seed(candidate: Candidate, name: str) -> str | None:
    """What a run has under a name, of its own name and folder only the seed in it."""
    found = candidate.path if name == "folder" else get_value(candidate, name)
    if found is None or name not in {"name", "folder"}:
        return parse_seed(found)
    return split_seed(found)[1]


def _find_series(
    candidates: Sequence[Candidate], settings: SourceSettings, seeds: _Labels, source: str
) -> tuple[_Labels, _Labels]:
    """The series of all runs, and their seeds, which the labels of series may tell, too."""
    if settings.series_from:
        keys = (settings.series_from,) if isinstance(settings.series_from, str) else settings.series_from
        labels = join_labels(candidates, keys, source)
        return _Labels(labels, " and ".join(f'"{name}"' for name in keys)), seeds
    if any("series" in candidate.labels for candidate in candidates):
        return _Labels(tuple(candidate.labels.get("series") for candidate in candidates), _PATTERN), seeds
    if all(candidate.run.model for candidate in candidates):
        return _Labels(tuple(candidate.run.model for candidate in candidates), "the model"), seeds
    known = find_differences(candidates)
    tried = list_schemes(candidates)
    found = [_read_labels(scheme, seeds, source, known) for scheme in tried]
    clashes = [_count_clashes(candidates, *one, known) for one in found]
    place = clashes.index(min(clashes))
    best = found[place]
    if clashes[place] and (apart := _add_settings(candidates, best[0], tried[place], source, known)):
        return apart, best[1]
    return _find_groups(candidates, *best, known) or best


def _add_settings(
    candidates: Sequence[Candidate], series: _Labels, scheme: Scheme, source: str, known: Differences
) -> _Labels | None:
    """Series with the settings behind them that tell apart runs which are not repetitions."""
    keys = known.choose_keys([name or "" for name in series.values])
    values = join_labels(candidates, (*scheme.keys, *keys), source)
    found = _Labels(
        values, f"{scheme.by} with {' and '.join(keys)}", guessed=True, keys=(*scheme.keys, *keys)
    )
    return found if keys and all(map(known.is_repeated, _group_equal(values))) else None


def _read_labels(scheme: Scheme, seeds: _Labels, source: str, known: Differences) -> tuple[_Labels, _Labels]:
    """Labels without seeds as series, and the seeds, also short ones."""
    parted = [split_seed(label) for label in scheme.labels]
    guessed = any(seed is not None for _, seed in parted)
    short = None if guessed else _short_seeds(scheme.labels, known)
    if short and not any(seeds.values):
        parted, guessed = [(rest, seed) for rest, seed in short], True
        seeds = _Labels(tuple(seed for _, seed in parted), "the names", guessed=True)
    elif short and tuple(seed for _, seed in short) == seeds.values:
        parted, guessed = [(rest, seed) for rest, seed in short], True
    return _Labels(tuple(rest or source for rest, _ in parted), scheme.by, guessed), seeds


def _short_seeds(labels: Sequence[str], known: Differences) -> list[tuple[str, str | None]] | None:
    """Labels without ``s3``; None where runs that differ in it differ in their settings, as stages do."""
    found = split_short_seeds(labels)
    together = _group_equal([rest for rest, _ in found or ()])
    return found if all(map(known.is_repeated, together)) else None


def _group_equal(labels: Sequence[Hashable]) -> list[list[int]]:
    """The places of equal labels."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for index, label in enumerate(labels):
        places[label].append(index)
    return list(places.values())


def _count_clashes(
    candidates: Sequence[Candidate], series: _Labels, seeds: _Labels, known: Differences
) -> int:
    """How many runs share series and seed with another, or a series without being its repetition."""
    labels = [(name, one.run.benchmark) for name, one in zip(series.values, candidates, strict=True)]
    count = 0
    for places in _group_equal(labels):
        runs = {(seeds.values[index], make_run_key(candidates[index]) or index) for index in places}
        apart = {seed for seed, _ in runs} if known.is_repeated(places) else {None}
        count += len(runs) - len(apart)
    return count


def _find_groups(
    candidates: Sequence[Candidate], series: _Labels, seeds: _Labels, known: Differences
) -> tuple[_Labels, _Labels] | None:
    """Groups as series, where each run would be a series and those of a group differ in their seeds."""
    groups = tuple(candidate.run.group for candidate in candidates)
    alone = len(set(series.values)) == len(candidates) > len(set(groups))
    found = _Labels(groups, "their groups", guessed=True)
    fits = alone and all(groups) and all(seeds.values)
    return (found, seeds) if fits and not _count_clashes(candidates, found, seeds, known) else None
