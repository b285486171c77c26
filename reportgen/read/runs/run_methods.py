"""Runs that are series of their own, though one setting and the seed tell them all apart."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from reportgen.read.runs.run_repeats import find_differences

if TYPE_CHECKING:
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.settings.source import SourceSettings


def find_method(settings: SourceSettings, runs: ImportedRuns) -> str | None:
    """The setting whose values may be the series of all runs, and the seeds their repetitions.

    Returns:
        None where names or ``source.yml`` bring runs together already, or nothing says that they belong so:
        of each value there are several runs, and no two of them have the same seed.
    """
    logged = [
        (candidate, name)
        for candidate, name in zip(runs.candidates, runs.naming.names, strict=True)
        # What nothing is known of says nothing of the others.
        if candidate.run.metrics and (candidate.run.config or name.seed is not None)
    ]
    alone = len({name.series for _, name in logged}) == len(logged)
    named = settings.series_from or any("series" in candidate.labels for candidate, _ in logged)
    if named or not alone or runs.naming.resumed or any(one.run.evaluated for one, _ in logged):
        return None
    known = find_differences([candidate for candidate, _ in logged])
    keys = known.choose_keys([""] * len(logged))
    if len(keys) != 1 or None in known.values:
        return None
    place, seeds = known.keys.index(keys[0]), defaultdict(list)
    for values, (_, name) in zip(known.values, logged, strict=True):
        seeds[values[place] if values else None].append(name.seed)
    repeated = all(
        len(several) > 1 and len({*several} - {None}) == len(several) for several in seeds.values()
    )
    return keys[0] if repeated else None
