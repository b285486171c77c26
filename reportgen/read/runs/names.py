"""Series, seed and run of imported runs and evaluations: as the settings say, otherwise what differs.

The seed is that of a run's configuration, otherwise that in its name or folder (``seed_3``, ``-seed=3``). The
series of an evaluation is its model. That of a run is its name or, if names are missing or do not distinguish
runs, its folder, both without the seed; or its group, if names make each run a series and groups combine runs
of different seeds. Nothing else is guessed: what these do not distinguish is reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Severity, Stage
from reportgen.formats.messages import list_names
from reportgen.read.runs.labels import (
    SCHEMES,
    Candidate,
    find_config_seed,
    find_differences,
    find_named_seed,
    find_seeds,
    get_value,
    join_labels,
    parse_seed,
    shorten_paths,
    split_seed,
)
from reportgen.read.runs.stored import StoredRun
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.errors import SourceLocation
    from reportgen.read.runs.labels import Differences
    from reportgen.settings.source import SourceSettings


Groups: TypeAlias = tuple[tuple[int, ...], ...]  # runs by their indices
UNNAMED: Final = "(unnamed)"
_PATTERN: Final = "the pattern of files:"


class RunName(Struct, frozen=True):
    """Name of a run in the report."""

    series: str
    run: str
    seed: str | None


class Naming(Struct, frozen=True):
    """The names of all runs, in the order of the runs."""

    names: tuple[RunName, ...]
    series_by: str  # how series were found, as words after "by"
    seed_by: str  # how seeds were found, likewise; empty if there are none
    guessed: bool = False  # whether a name or folder was split, or a group used as a series
    indistinct: Groups = ()  # runs that have the same series and seed
    resumed: Groups = ()  # runs that are parts of one
    mixed: Groups = ()  # runs of a series that nobody chose and that differ in more than their seeds
    keys: tuple[str, ...] = ()  # ``series_from`` for series by settings that differ
    numbered: bool = False  # whether series differ in ``s1`` and ``s2`` alone, and may be seeds
    seedless: tuple[int, ...] = ()  # runs without a seed, if the others would be combined by theirs


class _Labels(Struct, frozen=True):
    """Series, or seeds, of all runs: one value per run."""

    values: tuple[str | None, ...]
    by: str  # what they are, as words after "by"
    guessed: bool = False
    keys: tuple[str, ...] = ()  # ``series_from`` for series by settings that differ


def name_runs(candidates: Sequence[Candidate], settings: SourceSettings, source: str) -> Naming:
    """Name all runs, given in the order of writing; ``source`` is the series of runs without a name."""
    # A run that was killed before it logged anything does not affect the names of the others.
    informative = [one for one in candidates if one.run.metrics or one.run.totals] or candidates
    seeds = _find_seeds(informative, settings)
    series = _find_series(informative, seeds, settings, source)
    logged = dict(zip(map(id, informative), zip(series.values, seeds.values, strict=True), strict=True))
    times = [candidate.run.begins or 0.0 for candidate in candidates]
    ids = _group_equal(_make_id(candidate) or index for index, candidate in enumerate(candidates))
    resumed = tuple(tuple(sorted(group, key=times.__getitem__)) for group in ids if len(group) > 1)
    first = {index: group[0] for group in resumed for index in group}
    begins = [first.get(index, index) for index in range(len(candidates))]
    names = _name_each(candidates, logged, settings, begins)
    # Runs with the same series and seed, or without a seed if the series was not chosen, and runs of one
    # series that differ in more than their seeds. Later parts of a resumed run do not count.
    chosen, known = settings.series_from is not None, find_differences(candidates)
    equal: list[Hashable] = []
    together: list[Hashable] = []
    for index, (one, name) in enumerate(zip(candidates, names, strict=True)):
        key, counts = (name.series, one.run.benchmark), begins[index] == index and id(one) in logged
        stated = get_value(one, settings.run_from) if settings.run_from else one.labels.get("run")
        equal.append((*key, name.seed, stated) if counts and (name.seed or not chosen) else index)
        together.append(key if counts else index)
    guided = chosen or any("series" in one.labels for one in candidates)
    indistinct = tuple(group for group in _group_equal(equal) if len(group) > 1)
    mixed = [group for group in _group_equal(together) if not (guided or known.is_repeated(group))]
    return Naming(
        names=names,
        series_by=series.by,
        seed_by=seeds.by if any(seeds.values) else "",
        guessed=series.guessed or (seeds.guessed and any(seeds.values)),
        indistinct=indistinct,
        resumed=resumed,
        mixed=tuple(group for group in mixed if group not in indistinct),
        keys=series.keys,
        numbered=not guided and _is_numbered(names, known),
        seedless=() if guided else _find_seedless(candidates, names, settings, source),
    )


def _is_numbered(names: Sequence[RunName], known: Differences) -> bool:
    """Return whether series with the same settings, as far as known, differ in ``s1`` and ``s2`` alone."""
    found = [None if name.seed else find_named_seed(name.series) for name in names]
    rests = [split_seed(name.series, seed)[0] for name, seed in zip(names, found, strict=True)]
    groups = [[index for index in group if found[index]] for group in _group_equal(rests)]
    return any(len({found[index] for index in group}) > 1 and known.is_repeated(group) for group in groups)


def _find_seedless(
    candidates: Sequence[Candidate], names: Sequence[RunName], settings: SourceSettings, source: str
) -> tuple[int, ...]:
    """Return the runs without a seed because of which the others are series of their own, if any are."""
    logged = [index for index, one in enumerate(candidates) if one.run.metrics and not one.run.evaluated]
    seeded = [index for index in logged if names[index].seed is not None]
    if not 0 < len(seeded) < len(logged):
        return ()
    others = name_runs([candidates[index] for index in seeded], settings, source)
    is_fewer = len({name.series for name in others.names}) < len({names[index].series for index in seeded})
    return tuple(index for index in logged if index not in seeded) if is_fewer else ()


def name_alone(
    names: Iterable[str], settings: SourceSettings, source: str
) -> tuple[Naming, dict[str, object], dict[str, object]]:
    """Name runs of which only a name is known; return also ``find_confirmation`` and ``confirm_runs``."""
    candidates = [Candidate(StoredRun(name, name), {}, "", "") for name in names]
    naming = name_runs(candidates, settings, source)
    known = (naming, candidates, settings, source)
    return naming, find_confirmation(*known), confirm_runs(*known) if naming.indistinct else {}


def find_confirmation(
    naming: Naming, candidates: Sequence[Candidate], settings: SourceSettings, source: str
) -> dict[str, object]:
    """Return the ``series_from`` and ``seed_from`` that give all runs their names without a guess.

    Empty if nothing was guessed, or if none does.
    """
    keys = _list_namings(naming, candidates, settings, source) if naming.guessed else ()
    return next((chosen for chosen, _ in keys), {})


def confirm_runs(
    naming: Naming, candidates: Sequence[Candidate], settings: SourceSettings, source: str
) -> dict[str, object]:
    """Return the keys that say, in addition, that runs of one series are different ones; empty if none do."""
    runs = () if settings.run_from else ("name", "folder")
    keys = _list_namings(naming, candidates, settings, source, runs)
    return next((chosen for chosen, new in keys if not (new.indistinct or new.mixed)), {})


def _list_namings(
    naming: Naming,
    candidates: Sequence[Candidate],
    settings: SourceSettings,
    source: str,
    runs: Sequence[str] = (),
) -> Iterator[tuple[dict[str, object], Naming]]:
    """Yield keys of ``source.yml`` that give all runs their names without a guess, and their naming."""
    configured = dict.fromkeys(
        key for one in candidates for key in one.run.config if find_config_seed({key: 1})
    )
    fields = [key for key in ("name", "group", "model") if any(get_value(one, key) for one in candidates)]
    there = {"folder", *fields, *configured, *naming.keys}
    ways = [*SCHEMES.values(), ("group",), ("model",), *filter(None, [naming.keys])]
    ways = [keys for keys in ways if there.issuperset(keys)]
    series: list[object] = [keys[0] if len(keys) == 1 else [*keys] for keys in ways]
    seeds = [key for key in ("name", "folder", *configured) if key in there]
    for values in product(
        [None] if settings.series_from else series,
        [None, *([] if settings.seed_from else seeds)],
        [None, *filter(there.__contains__, runs)],
    ):
        keys = zip(("series_from", "seed_from", "run_from"), values, strict=True)
        chosen = {key: value for key, value in keys if value}
        new = name_runs(candidates, settings.model_copy(update=chosen), source)
        if new.names == naming.names and not new.guessed:
            yield chosen, new


def warn_guessed(naming: Naming, keys: Mapping[str, object], place: SourceLocation) -> Iterator[Diagnostic]:
    """Warn of guessed names, which ``keys`` of ``find_confirmation`` state, and of seeds such as ``s1``."""
    series = list_names(dict.fromkeys(name.series for name in naming.names))
    if naming.guessed:
        seeds = f", and seeds by {naming.seed_by}" if naming.seed_by else ""
        message = f"series were distinguished by {naming.series_by}{seeds}: {series}"
        lines = write_keys(keys) or "series_from: and seed_from:, or with files: and groups,"
        advice = f"Confirm or change it with {lines} in source.yml"
        yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
    if naming.numbered and (ways := SCHEMES.get(naming.series_by)):
        message = f"series that differ in s and a number alone are not combined: {series}"
        own = write_keys({"series_from": ways})
        advice = f"If these are seeds, say {own} and seed_from: {ways[-1]} in source.yml; if not, say {own}"
        yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def write_keys(keys: Mapping[str, object]) -> str:
    """Return keys of ``source.yml`` and their values in a sentence, a list of one value without brackets."""
    texts = []
    for value in keys.values():
        parts = [*map(write_scalar, value if isinstance(value, list | tuple) else [value])]
        texts.append(parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]")
    return " and ".join(f"{key}: {text}" for key, text in zip(keys, texts, strict=True))


def _group_equal(keys: Iterable[Hashable]) -> Groups:
    """Group the indices of runs with equal keys."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        groups[key].append(index)
    return tuple(map(tuple, groups.values()))


def _list_keys(settings: SourceSettings) -> tuple[str, ...]:
    return (settings.series_from,) if isinstance(settings.series_from, str) else settings.series_from or ()


def _make_id(candidate: Candidate) -> tuple[str, str, str] | None:
    """Return what the parts of one run share, its id and names, or None without an id."""
    run = candidate.run
    return (run.id, run.name, run.group) if run.id else None


def _name_each(
    candidates: Sequence[Candidate],
    known: Mapping[int, tuple[str | None, str | None]],
    settings: SourceSettings,
    begins: Sequence[int],
) -> tuple[RunName, ...]:
    """Return names with a unique run in each series; parts of one run are named after the first."""
    names: list[RunName] = []
    for one in candidates:
        if id(one) in known:
            series, seed = known[id(one)]
        else:
            # A run without values is named by its own data only.
            seed = one.labels.get("seed") or _get_seed(one, settings) or find_seeds(one)[0]
            joined, _ = join_labels([one], _list_keys(settings), [seed], "", [one.folder])
            series = joined[0] or one.labels.get("series") or one.run.name or one.folder
        label = get_value(one, settings.run_from) if settings.run_from else one.labels.get("run")
        label = label or one.run.name or one.folder or one.run.id
        names.append(RunName(series or UNNAMED, label, seed))
    labels = {
        index: (names[index].series, candidates[index].run.benchmark, names[index].run) for index in begins
    }
    shared = Counter(labels.values())
    seen: Counter[tuple[str, str, str]] = Counter()
    runs: dict[int, str] = {}
    for index, (name, benchmark, label) in labels.items():
        run = (candidates[index].folder or label) if shared[name, benchmark, label] > 1 else label
        seen[name, benchmark, run] += 1
        count = seen[name, benchmark, run]
        runs[index] = run if count == 1 else f"{run} ({count})"
    return tuple(replace(name, run=runs[begin]) for name, begin in zip(names, begins, strict=True))


def _find_series(
    candidates: Sequence[Candidate], seeds: _Labels, settings: SourceSettings, source: str
) -> _Labels:
    """Return the series of all runs: as chosen, otherwise the first way that distinguishes most of them."""
    if keys := _list_keys(settings):
        values, _ = join_labels(candidates, keys, seeds.values, source)
        return _Labels(values, " and ".join(f'"{name}"' for name in keys))
    if any("series" in one.labels for one in candidates):
        return _Labels(tuple(one.labels.get("series") for one in candidates), _PATTERN)
    if all(one.run.model for one in candidates):
        return _Labels(tuple(one.run.model for one in candidates), "the model")
    known = find_differences(candidates)
    series, count = _distinguish(candidates, seeds, known, source)
    added = known.choose_keys([name or "" for name in series.values]) if count else ()
    if added:
        # Settings in which runs of one name differ, if they leave repetitions only.
        keys = (*series.keys, *added)
        values, _ = join_labels(candidates, keys, seeds.values, source)
        if all(map(known.is_repeated, _group_equal(values))):
            return _Labels(values, f"{series.by} with {' and '.join(added)}", guessed=True, keys=keys)
    # Groups are series if each run would be one and those of a group differ in their seeds.
    groups = tuple(one.run.group for one in candidates)
    alone = len(set(series.values)) == len(candidates) > len(set(groups))
    is_clear = alone and all(groups) and all(seeds.values)
    if is_clear and not _count_clashes(candidates, groups, seeds, known):
        return _Labels(groups, "their groups", guessed=True)
    return replace(series, keys=())


def _distinguish(
    candidates: Sequence[Candidate], seeds: _Labels, known: Differences, source: str
) -> tuple[_Labels, int]:
    """Return the first of the ways that distinguish most runs, and the number of those that it does not."""
    groups = {one.run.group for one in candidates}
    ways, folders = SCHEMES, shorten_paths(one.plain_path for one in candidates)
    if not any(one.run.name for one in candidates):
        ways, folders = {"their folders": ("folder",)}, [one.folder for one in candidates]
    elif len(groups) == 1 or "" in groups:
        ways = {by: keys for by, keys in ways.items() if "group" not in keys}
    found = []
    for by, keys in ways.items():
        values, is_split = join_labels(candidates, keys, seeds.values, source, folders)
        count = _count_clashes(candidates, values, seeds, known)
        found.append((_Labels(values, by, is_split, keys), count))
    return min(found, key=lambda pair: pair[1])


def _find_seeds(candidates: Sequence[Candidate], settings: SourceSettings) -> _Labels:
    # A chart whose columns are all empty has no runs.
    configured, named = zip(*map(find_seeds, candidates), strict=True) if candidates else ((), ())
    if settings.seed_from:
        # What a name says of its seed counts where there is nothing else.
        pairs = zip(candidates, named, strict=True)
        values = tuple(_get_seed(one, settings) or other for one, other in pairs)
        return _Labels(values, f'"{settings.seed_from}"')
    if any("seed" in one.labels for one in candidates):
        return _Labels(tuple(one.labels.get("seed") for one in candidates), _PATTERN)
    # A configuration may hold a default that was overridden when the runs were started.
    defaulted = all(named) and len(set(configured)) == 1 and len(set(named)) > 1
    if defaulted or not any(configured):
        return _Labels(named, "the names", guessed=True)
    filled = tuple(seed or other for seed, other in zip(configured, named, strict=True))
    if filled == configured:
        return _Labels(configured, "the configuration")
    return _Labels(filled, "the configuration or, where it has none, the names", guessed=True)


def _get_seed(candidate: Candidate, settings: SourceSettings) -> str | None:
    """Return a run's value under ``seed_from``, but only the seed in it for its own name or folder."""
    name = settings.seed_from
    value = get_value(candidate, name) if name else None
    if name not in {"name", "folder"}:
        return parse_seed(value)
    return find_named_seed(value or "") or (split_seed(candidate.path)[1] if name == "folder" else None)


def _count_clashes(
    candidates: Sequence[Candidate], series: Sequence[str | None], seeds: _Labels, known: Differences
) -> int:
    """Count the runs that share series and seed with another, or a series but not its settings."""
    count = 0
    for group in _group_equal(
        (name, one.run.benchmark) for name, one in zip(series, candidates, strict=True)
    ):
        runs = {(seeds.values[index], _make_id(candidates[index]) or index) for index in group}
        apart = {seed for seed, _ in runs} if known.is_repeated(group) else {None}
        count += len(runs) - len(apart)
    return count
