"""What to tell of runs of one series that have one seed, or that are no repetitions of one experiment."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Stage
from reportgen.read.runs.imported_parts import choose_metrics, list_scored_runs, list_scores
from reportgen.read.runs.run_repeats import find_differences
from reportgen.read.wording import list_names
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.find import Location
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.read.runs.run_names import Naming
    from reportgen.read.runs.run_settings import Candidate
    from reportgen.settings.source import SourceSettings

_MOST: Final = 20
_MOST_KEYS: Final = 5


def report_indistinct_runs(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Problem]:
    """Runs that are read as different runs of one series, what is the same on many benchmarks once."""
    naming = runs.naming
    unread = _find_unread(settings, runs)
    same_seed, mixed = (
        [
            read
            for places in groups
            if len(read := tuple(index for index in places if index not in unread)) > 1
        ]
        for groups in (naming.indistinct, naming.mixed)
    )
    found = [*_group_by_series(naming, same_seed, mixed=False), *_group_by_series(naming, mixed, mixed=True)]
    for message, places, more in found[:_MOST]:
        candidates = [runs.candidates[place] for place in places]
        same = f"; likewise on {format_count(more, 'more benchmark', 'more benchmarks')}" if more else ""
        where = list_names(_places(candidates))
        yield Problem(location.place, f"{message}: {where}{same}", _suggest_keys(candidates), Stage.DATA)
    if (rest := len(found) - _MOST) > 0:
        message = f"the same holds of {format_count(rest, 'more series or seed', 'more series and seeds')}"
        yield Problem(location.place, message, "", Stage.DATA)


def _find_unread(settings: SourceSettings, runs: ImportedRuns) -> set[int]:
    """The places of evaluations of which no score is taken."""
    chosen = choose_metrics(list_scored_runs(runs), settings)
    return {
        index
        for index, one in enumerate(runs.candidates)
        if (taken := chosen.get(one.run.benchmark))
        and one.run.evaluated
        and not {*taken} & {*list_scores(one.run)}
    }


def _group_by_series(
    naming: Naming, groups: Sequence[tuple[int, ...]], *, mixed: bool
) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Of each series and seed what to tell, the places on its first benchmark, and how many more."""
    by_name: dict[tuple[str, str | None], list[tuple[int, ...]]] = defaultdict(list)
    for places in groups:
        name = naming.names[places[0]]
        by_name[name.series, None if mixed else name.seed].append(places)
    for (series, seed), found in by_name.items():
        seed_text = f"seed {seed}" if seed is not None else "no seed"
        message = f'{len(found[0])} runs have the series "{series}" and {seed_text}'
        if mixed:
            message = f'{len(found[0])} runs of the series "{series}" differ in more than seeds'
        yield message, found[0], len(found) - 1


def _places(candidates: Sequence[Candidate]) -> list[str]:
    """Where runs lie, or what they are called where they lie in one place."""
    paths = [one.run.path for one in candidates]
    return paths if len(set(paths)) > 1 else [one.run.name or one.run.id for one in candidates]


def _suggest_keys(candidates: Sequence[Candidate]) -> str:
    """What to do about runs that are alike: by which of their settings they could be told apart."""
    known = find_differences(candidates)
    several = known.list_differing(range(len(candidates)))
    advice = "They are read as different runs of one series"
    if not several:
        return f"{advice}. If they are not, tell them apart with series_from: or seed_from:"
    shown = join_names(several, most=_MOST_KEYS)
    first = (known.choose_keys([""] * len(candidates)) or several)[0]
    first = f"[model, {first}]" if all(one.run.model for one in candidates) else first
    return f"{advice}, but differ in {shown}: tell them apart with series_from: {first}, if that matters"
