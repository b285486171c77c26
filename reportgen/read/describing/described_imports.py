"""What loggers and harnesses say of runs beside their values: where they lie, settings, totals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.description import DescribedRun, DescribedTotal
from reportgen.read.describing.settling import suggest_for_runs
from reportgen.read.runs.run_methods import find_method
from reportgen.read.units import get_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reportgen.description import Description
    from reportgen.read.runs.importing import ImportedSource
    from reportgen.settings.source import SourceSettings


def add_imported(description: Description, imported: ImportedSource, settings: SourceSettings) -> Description:
    """What loggers and harnesses say beside their values."""
    runs, names_by = imported.runs, imported.runs.naming
    totals = tuple(
        DescribedTotal(
            settings.rename.get(name.series, name.series),
            name.run,
            name.seed,
            candidate.run.benchmark,
            total.metric,
            total.value,
            total.stderr,
            total.n,
        )
        for candidate, name in zip(runs.candidates, names_by.names, strict=True)
        for total in candidate.run.totals
    )
    described = description.counts.runs
    if description.kind == "measurements":
        described = tuple(_add_run_details(description.counts.runs, imported, settings))
    form = imported.found.units[0].format
    return replace(
        description,
        format=form,
        shape="",
        title=get_title(form),
        series_by=names_by.series_by,
        seed_by=names_by.seed_by,
        counts=replace(description.counts, runs=described, totals=totals),
        settings=suggest_for_runs(settings, imported),
        repetitions={"series_from": method} if (method := find_method(settings, runs)) else {},
    )


def _add_run_details(
    counted: Iterable[DescribedRun], imported: ImportedSource, settings: SourceSettings
) -> Iterator[DescribedRun]:
    """Runs with what their loggers say of them, those without values last."""
    runs = imported.runs
    known = {
        (settings.rename.get(name.series, name.series), name.run): (candidate.run, name.seed)
        for candidate, name in zip(runs.candidates, runs.naming.names, strict=True)
    }
    for one in counted:
        found = known.pop((one.series, one.run), None)
        yield replace(one, path=found[0].path, config=found[0].config) if found else one
    for (series, run), (said, seed) in known.items():
        yield DescribedRun(series, run, seed, said.path, 0, 0, None, None, config=said.config)
