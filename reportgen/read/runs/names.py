"""Series, seed and run of imported runs and evaluations: as the settings say, otherwise as found.

The seed is that of a run's configuration, otherwise that in its name or folder (``seed_3``, ``-seed=3``, and
``s3`` if other runs differ in it alone). The series of an evaluation is its model. That of a run is its name
or, if names are missing or do not distinguish runs, its folder, both without the seed; or its group, if names
make each run a series and groups combine runs of different seeds. A run without a known seed does not prevent
the others from being combined.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reportgen.read.runs.labels import (
    SCHEMES,
    Candidate,
    Labels,
    find_config_seed,
    find_differences,
    get_value,
    join_values,
    list_schemes,
    make_scheme,
    parse_seed,
    shorten_paths,
    split_rest,
    split_seed,
)
from reportgen.read.runs.stored import StoredRun

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from reportgen.read.runs.labels import Differences, Scheme
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
    mixed: Groups = ()  # runs of a guessed series that differ in more than their seeds
    seedless: tuple[int, ...] = ()  # runs that are separate series since their seed is unknown
    keys: tuple[str, ...] = ()  # ``series_from`` for a guess that uses settings


def name_runs(candidates: Sequence[Candidate], settings: SourceSettings, source: str) -> Naming:
    """Name all runs, given in the order of writing; ``source`` is the series of runs without a name."""
    # A run that was killed before it logged anything does not affect the names of the others.
    informative = [one for one in candidates if one.run.metrics or one.run.totals] or candidates
    series, seeds, seedless = _find_names(informative, settings, source)
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
        key, later = (name.series, one.run.benchmark), begins[index] != index
        stated = get_value(one, settings.run_from) if settings.run_from else one.labels.get("run")
        equal.append(index if later or (name.seed is None and chosen) else (*key, name.seed, stated))
        together.append(index if later or id(one) not in logged else key)
    guided = chosen or any("series" in one.labels for one in candidates)
    mixed = [group for group in _group_equal(together) if not (guided or known.is_repeated(group))]
    indistinct = [group for group in _group_equal(equal) if len(group) > 1]
    distinct = (tuple(index for index in group if id(candidates[index]) in logged) for group in indistinct)
    return Naming(
        names=names,
        series_by=series.by,
        seed_by=seeds.by if any(seeds.values) else "",
        guessed=series.guessed or (seeds.guessed and any(seeds.values)),
        indistinct=tuple(group for group in distinct if len(group) > 1),
        resumed=resumed,
        mixed=tuple(group for group in mixed if group not in indistinct),
        seedless=tuple(index for index, one in enumerate(candidates) if id(one) in seedless),
        keys=series.keys,
    )


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
    series: list[tuple[str, ...]] = [*SCHEMES.values(), ("group",), ("model",), naming.keys]
    series = (
        [_list_keys(settings)]
        if settings.series_from
        else [keys for keys in series if there.issuperset(keys)]
    )
    seeds = [key for key in ("name", "folder", *configured) if key in there and not settings.seed_from]
    for keys, seed, run in product(
        filter(None, series), (None, *seeds), (None, *filter(there.__contains__, runs))
    ):
        chosen: dict[str, object] = (
            {} if settings.series_from else {"series_from": keys[0] if len(keys) == 1 else [*keys]}
        )
        chosen |= ({"seed_from": seed} if seed else {}) | ({"run_from": run} if run else {})
        new = name_runs(candidates, settings.model_copy(update=chosen), source)
        if new.names == naming.names and not new.guessed:
            yield chosen, new


def advise_confirmation(keys: Mapping[str, object]) -> str:
    """Return the next step of a warning of guessed names; ``keys`` are those of ``find_confirmation``."""
    lines = write_keys(keys) or "series_from: and seed_from:, or with files: and groups,"
    return f"Confirm or change it with {lines} in source.yml"


def write_keys(keys: Mapping[str, object]) -> str:
    """Return keys of ``source.yml`` and their values in a sentence."""
    texts = [f"[{', '.join(value)}]" if isinstance(value, list) else value for value in keys.values()]
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
    keys = _list_keys(settings)
    names: list[RunName] = []
    for one in candidates:
        series, seed = known.get(id(one), (None, None))
        if id(one) not in known:
            # A run without values is named by its own data only.
            series = join_values(one, one.folder, keys, "") or one.labels.get("series")
            seed = _get_seed(one, settings.seed_from) if settings.seed_from else one.labels.get("seed")
            seed = seed or parse_seed(one.run.seed) or find_config_seed(one.run.config)
        # A missing name matters only if the run logged anything.
        own = "" if one.run.metrics else one.run.name or one.folder
        label = get_value(one, settings.run_from) if settings.run_from else one.labels.get("run")
        label = label or one.run.name or one.folder or one.run.id
        names.append(RunName(series or own or UNNAMED, label, seed))
    labels = {
        index: (names[index].series, candidates[index].run.benchmark, names[index].run) for index in begins
    }
    shared = Counter(labels.values())
    seen: Counter[tuple[str, str, str]] = Counter()
    runs: dict[int, str] = {}
    for index, label_key in labels.items():
        name, benchmark, label = label_key
        run = (candidates[index].folder or label) if shared[label_key] > 1 else label
        seen[name, benchmark, run] += 1
        count = seen[name, benchmark, run]
        runs[index] = run if count == 1 else f"{run} ({count})"
    return tuple(replace(name, run=runs[begin]) for name, begin in zip(names, begins, strict=True))


def _find_names(
    candidates: Sequence[Candidate], settings: SourceSettings, source: str
) -> tuple[Labels, Labels, frozenset[int]]:
    """Return series and seeds of all runs, and the ``id`` of each run that is a series for lack of a seed.

    The settings of such a run are unknown, so it may repeat any other run, or none.
    """
    series, seeds = _find_series(candidates, settings, source)
    seeded = [index for index, seed in enumerate(seeds.values) if seed is not None]
    if settings.series_from or not 0 < len(seeded) < len(candidates):
        return series, seeds, frozenset()
    found, own = _find_series([candidates[index] for index in seeded], settings, source)
    if len({*found.values}) >= len({series.values[index] for index in seeded}):
        return series, seeds, frozenset()
    names, values = dict(zip(seeded, found.values, strict=True)), dict(zip(seeded, own.values, strict=True))
    rest = [index for index in range(len(candidates)) if index not in names]
    for index in rest:
        name = series.values[index]
        names[index] = candidates[index].folder or name if name in found.values else name
    return (
        replace(found, values=tuple(names[index] for index in range(len(candidates)))),
        replace(own, values=tuple(values.get(index) for index in range(len(candidates)))),
        frozenset(id(candidates[index]) for index in rest),
    )


def _find_series(
    candidates: Sequence[Candidate], settings: SourceSettings, source: str
) -> tuple[Labels, Labels]:
    """Return the series of all runs and their seeds, which may come from the labels of series."""
    seeds = _find_seeds(candidates, settings)
    known = find_differences(candidates)
    if keys := _list_keys(settings):
        by = " and ".join(f'"{name}"' for name in keys)
        series, seeds = _read_labels(make_scheme(candidates, keys, by), seeds, source, known)
        return replace(series, guessed=False), seeds
    if any("series" in one.labels for one in candidates):
        return Labels(tuple(one.labels.get("series") for one in candidates), _PATTERN), seeds
    if all(one.run.model for one in candidates):
        return Labels(tuple(one.run.model for one in candidates), "the model"), seeds
    schemes = list_schemes(candidates)
    tried = [_read_labels(scheme, seeds, source, known) for scheme in schemes]
    clashes = [_count_clashes(candidates, *labels, known) for labels in tried]
    index = clashes.index(min(clashes))
    series, seeds = tried[index]
    added = known.choose_keys([name or "" for name in series.values]) if clashes[index] else ()
    if added:
        # Settings added to the labels may distinguish runs that are not repetitions.
        keys, by = (*schemes[index].keys, *added), f"{schemes[index].by} with {' and '.join(added)}"
        more, own = _read_labels(make_scheme(candidates, keys, by), seeds, source, known)
        if all(map(known.is_repeated, _group_equal(more.values))):
            return replace(more, guessed=True, keys=keys), own
    # Groups are series if each run would be one and those of a group differ in their seeds.
    groups = Labels(tuple(one.run.group for one in candidates), "their groups", guessed=True)
    alone = len(set(series.values)) == len(candidates) > len(set(groups.values))
    grouped = alone and all(groups.values) and all(seeds.values)
    return (groups if grouped and not _count_clashes(candidates, groups, seeds, known) else series), seeds


def _find_seeds(candidates: Sequence[Candidate], settings: SourceSettings) -> Labels:
    named = tuple(split_seed(one.run.name)[1] or split_seed(one.path)[1] for one in candidates)
    if name := settings.seed_from:
        values = [_get_seed(one, name) for one in candidates]
        if name in {"name", "folder"}:
            folders = shorten_paths(one.plain_path for one in candidates)
            texts = [one.run.name for one in candidates] if name == "name" else folders
            _, values = split_rest(texts, values)
            # Names that recur in several folders.
            values = values if any(values) else [split_seed(text, short=True)[1] for text in texts]
        # What a name says of its seed counts where there is nothing else.
        return Labels(tuple(one or other for one, other in zip(values, named, strict=True)), f'"{name}"')
    if any("seed" in one.labels for one in candidates):
        return Labels(tuple(one.labels.get("seed") for one in candidates), _PATTERN)
    configured = tuple(parse_seed(one.run.seed) or find_config_seed(one.run.config) for one in candidates)
    # A configuration may hold a default that was overridden when the runs were started.
    defaulted = all(named) and len(set(configured)) == 1 and len(set(named)) > 1
    if defaulted or not any(configured):
        return Labels(named, "the names", guessed=True)
    filled = tuple(seed or other for seed, other in zip(configured, named, strict=True))
    if filled == configured:
        return Labels(configured, "the configuration")
    return Labels(filled, "the configuration or, where it has none, the names", guessed=True)


def _get_seed(candidate: Candidate, name: str) -> str | None:
    """Return a run's value under a name, but only the seed in it for its own name or folder."""
    value = candidate.path if name == "folder" else get_value(candidate, name)
    if value is None or name not in {"name", "folder"}:
        return parse_seed(value)
    return split_seed(value)[1]


def _read_labels(scheme: Scheme, seeds: Labels, source: str, known: Differences) -> tuple[Labels, Labels]:
    """Return labels without seeds as series, and the seeds, short ones included.

    Short ones do not count if runs that differ in them differ in their settings, as stages do.
    """
    (labels, own), (shorter, found) = (scheme.join(source, short=short) for short in (False, True))
    guessed = any(seed is not None for seed in own)
    if shorter != labels and all(map(known.is_repeated, _group_equal(shorter))):
        if not any(seeds.values) or (seeds.guessed and seeds.values == own):
            seeds = Labels(found, "the names", guessed=True)
        if found == seeds.values:
            labels, guessed = shorter, True
    return Labels(labels, scheme.by, guessed), seeds


def _count_clashes(candidates: Sequence[Candidate], series: Labels, seeds: Labels, known: Differences) -> int:
    """Count the runs that share series and seed with another, or a series but not its settings."""
    count = 0
    for group in _group_equal(
        (name, one.run.benchmark) for name, one in zip(series.values, candidates, strict=True)
    ):
        runs = {(seeds.values[index], _make_id(candidates[index]) or index) for index in group}
        apart = {seed for seed, _ in runs} if known.is_repeated(group) else {None}
        count += len(runs) - len(apart)
    return count
