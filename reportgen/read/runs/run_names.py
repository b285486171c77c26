"""Series, seed and run of what loggers and harnesses wrote: as the settings say, otherwise as found.

The seed is that of a run's configuration, otherwise that in its name or folder (``seed_3``, ``-seed=3``, and
``s3`` where other runs differ in it alone). The series is the model of an evaluation; of a run it is its
name or, where runs have none or it does not tell them apart, its folder, both without the seed; or its group,
where names make each run a series and groups bring runs of different seeds together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.read.runs.run_labels import chosen_path, distinct_paths, short_seeds, without_seed
from reportgen.read.runs.run_parts import RunName, alike_runs, resumed_runs, tell_apart
from reportgen.read.runs.run_settings import is_word, repeated, seed_of_config, value_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.read.runs.run_settings import Candidate
    from reportgen.settings.source import SourceSettings

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
        alike: places of runs that have the same series and seed.
        resumed: places of runs that are parts of one.
    """

    names: tuple[RunName, ...]
    series_by: str
    seed_by: str
    guessed: bool = False
    alike: tuple[tuple[int, ...], ...] = ()
    resumed: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """Values of all runs, and by what they were found."""

    values: tuple[str | None, ...]
    by: str
    guessed: bool = False


def name_runs(candidates: Sequence[Candidate], settings: SourceSettings, source: str) -> Naming:
    """The names of all runs of a source.

    Args:
        candidates: the runs, in the order of writing.
        settings: ``series_from``, ``seed_from`` and ``run_from`` count.
        source: the name of a series where nothing else names it.
    """
    # A run that was killed before it logged anything has no say in what the others are called.
    telling = [one for one in candidates if one.run.metrics or one.run.totals] or candidates
    series, seeds = _series(telling, settings, _seeds(telling, settings), source)
    told = dict(zip(map(id, telling), zip(series.values, seeds.values, strict=True), strict=True))
    resumed = resumed_runs(candidates)
    names = [
        RunName(name or _without_series(candidate), "", seed)
        for candidate in candidates
        for name, seed in [told.get(id(candidate)) or _bare_name(candidate, settings)]
    ]
    labels = [_label(candidate, settings.run_from) for candidate in candidates]
    named = tell_apart(candidates, names, labels, resumed)
    alike = alike_runs(candidates, named, resumed, chosen=settings.series_from is not None)
    logged = [tuple(place for place in places if id(candidates[place]) in told) for places in alike]
    return Naming(
        names=named,
        series_by=series.by,
        seed_by=seeds.by if any(seeds.values) else "",
        guessed=series.guessed or (seeds.guessed and any(seeds.values)),
        alike=tuple(places for places in logged if len(places) > 1),
        resumed=resumed,
    )


def _bare_name(candidate: Candidate, settings: SourceSettings) -> tuple[str | None, str | None]:
    """Series and seed of a run without values among others: what it says itself."""
    wanted = (settings.series_from,) if isinstance(settings.series_from, str) else settings.series_from or ()
    series = _joined(candidate, candidate.folder, wanted, "") or candidate.labels.get("series")
    seed = _seed_in(candidate, settings.seed_from) if settings.seed_from else candidate.labels.get("seed")
    return series, seed or candidate.run.seed or seed_of_config(candidate.run.config)


def _without_series(candidate: Candidate) -> str:
    """The series of a run that lacks what names the others, which matters only if it logged anything."""
    return UNNAMED if candidate.run.metrics else candidate.run.name or candidate.folder or UNNAMED


def _label(candidate: Candidate, name: str | None) -> str:
    """What a run is called, which need not tell it from others."""
    told = value_named(candidate, name) if name else candidate.labels.get("run")
    return told or candidate.run.name or candidate.folder or candidate.run.id


def _seeds(candidates: Sequence[Candidate], settings: SourceSettings) -> _Found:
    if settings.seed_from:
        return _Found(
            tuple(_seed_in(candidate, settings.seed_from) for candidate in candidates),
            f'"{settings.seed_from}"',
        )
    if any("seed" in candidate.labels for candidate in candidates):
        return _Found(tuple(candidate.labels.get("seed") for candidate in candidates), _PATTERN)
    told = tuple(candidate.run.seed or seed_of_config(candidate.run.config) for candidate in candidates)
    named = tuple(
        without_seed(candidate.run.name)[1] or without_seed(candidate.path)[1] for candidate in candidates
    )
    # A configuration may keep a default that the one who started the runs went past.
    if all(named) and len(set(told)) == 1 and len(set(named)) > 1:
        return _Found(named, "the names", guessed=True)
    if not any(told):
        return _Found(named, "the names", guessed=True)
    filled = tuple(one or other for one, other in zip(told, named, strict=True))
    if filled == told:
        return _Found(told, "the configuration")
    return _Found(filled, "the configuration or, where it has none, the names", guessed=True)


def _seed_in(candidate: Candidate, name: str) -> str | None:
    """What a run has under a name, of its own name and folder only the seed in it."""
    found = candidate.path if name == "folder" else value_named(candidate, name)
    if found is None or name not in {"name", "folder"}:
        return found
    return without_seed(found)[1]


def _series(
    candidates: Sequence[Candidate], settings: SourceSettings, seeds: _Found, source: str
) -> tuple[_Found, _Found]:
    """The series of all runs, and their seeds, which the labels of series may tell, too."""
    if settings.series_from:
        wanted = (settings.series_from,) if isinstance(settings.series_from, str) else settings.series_from
        folders = _chosen_folders(candidates)
        told = tuple(_joined(*one, wanted, source) for one in zip(candidates, folders, strict=True))
        return _Found(told, " and ".join(f'"{name}"' for name in wanted)), seeds
    if any("series" in candidate.labels for candidate in candidates):
        return _Found(tuple(candidate.labels.get("series") for candidate in candidates), _PATTERN), seeds
    if all(candidate.run.model for candidate in candidates):
        return _Found(tuple(candidate.run.model for candidate in candidates), "the model"), seeds
    schemes = _schemes(candidates)
    found = [_read_labels(labels, by, seeds, source) for by, labels in schemes.items()]
    clashes = [_clashes(candidates, *one) for one in found]
    best = found[clashes.index(min(clashes))]
    return _grouped(candidates, *best) or best


def _schemes(candidates: Sequence[Candidate]) -> dict[str, list[str]]:
    """Labels that may name the series of all runs, the plainest first, by what they are."""
    names, folders = [one.run.name for one in candidates], [one.folder for one in candidates]
    if not any(names):
        return {"their folders": folders}
    # Ids in folders say nothing of runs that have names.
    pairs = list(zip(names, distinct_paths(_chosen_paths(candidates)), strict=True))
    schemes = {
        "their names": [name or folder for name, folder in zip(names, folders, strict=True)],
        "their folders": [folder or name for name, folder in pairs],
        "folders and names": [f"{folder} {name}".strip() for name, folder in pairs],
    }
    if len(groups := {one.run.group for one in candidates}) > 1 and all(groups):
        schemes["groups and names"] = [f"{one.run.group} {one.run.name}".strip() for one in candidates]
    return schemes


def _chosen_paths(candidates: Sequence[Candidate]) -> list[str]:
    return [chosen_path(one.path, one.run.id) for one in candidates]


def _chosen_folders(candidates: Sequence[Candidate]) -> list[str]:
    """What tells paths apart, without ids unless nothing else does."""
    chosen = distinct_paths(_chosen_paths(candidates))
    return chosen if any(chosen) else [one.folder for one in candidates]


def _joined(candidate: Candidate, folder: str, wanted: Sequence[str], source: str) -> str | None:
    """What a run has under several names; a number is told with its name."""
    parts = []
    for name in wanted:
        value = folder if name == "folder" else value_named(candidate, name)
        if name == "folder" or (name == "name" and value is not None):
            value = without_seed(value or "")[0] or source
        if value:
            parts.append(value if is_word(candidate, name) else f"{name}={value}")
    return ", ".join(parts) or None


def _read_labels(labels: Sequence[str], by: str, seeds: _Found, source: str) -> tuple[_Found, _Found]:
    """Labels without seeds as series, and the seeds, also short ones."""
    parted = [without_seed(label) for label in labels]
    guessed = any(seed is not None for _, seed in parted)
    if not guessed and not any(seeds.values) and (short := short_seeds(labels)):
        parted, guessed = [(rest, seed) for rest, seed in short], True
        seeds = _Found(tuple(seed for _, seed in parted), "the names", guessed=True)
    elif not guessed and (short := short_seeds(labels)) and tuple(seed for _, seed in short) == seeds.values:
        parted, guessed = [(rest, seed) for rest, seed in short], True
    return _Found(tuple(rest or source for rest, _ in parted), by, guessed), seeds


def _clashes(candidates: Sequence[Candidate], series: _Found, seeds: _Found) -> int:
    """How many runs share series and seed with another."""
    runs = {
        (name, seed, candidate.run.benchmark, candidate.run.id or str(place))
        for place, (candidate, name, seed) in enumerate(
            zip(candidates, series.values, seeds.values, strict=True)
        )
    }
    return len(runs) - len({run[:3] for run in runs})


def _grouped(candidates: Sequence[Candidate], series: _Found, seeds: _Found) -> tuple[_Found, _Found] | None:
    """Groups as series, where each run would be a series and those of a group differ in their seeds."""
    groups = tuple(candidate.run.group for candidate in candidates)
    alone = len(set(series.values)) == len(candidates) > len(set(groups))
    found = _Found(groups, "their groups", guessed=True)
    if not (alone and all(groups) and all(seeds.values)) or _clashes(candidates, found, seeds):
        return None
    together = ([one for one in candidates if one.run.group == group] for group in dict.fromkeys(groups))
    return (found, seeds) if all(map(repeated, together)) else None
