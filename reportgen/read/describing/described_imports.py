"""What loggers and harnesses say of runs beside their values: where they lie, settings, totals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.description import DescribedRun, DescribedTotal
from reportgen.read.describing.settling import settled_runs
from reportgen.read.runs.run_methods import method_of
from reportgen.read.units import title_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reportgen.description import Description
    from reportgen.read.runs.importing import Imported
    from reportgen.settings.source import SourceSettings


def with_imported(told: Description, imported: Imported, settings: SourceSettings) -> Description:
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
    described = told.counts.runs
    if told.kind == "measurements":
        described = tuple(_described_runs(told.counts.runs, imported, settings))
    form = imported.found.units[0].format
    return replace(
        told,
        format=form,
        shape="",
        title=title_of(form),
        series_by=names_by.series_by,
        seed_by=names_by.seed_by,
        counts=replace(told.counts, runs=described, totals=totals),
        settings=settled_runs(settings, imported),
        repetitions={"series_from": method} if (method := method_of(settings, runs)) else {},
    )


def _described_runs(
    counted: Iterable[DescribedRun], imported: Imported, settings: SourceSettings
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
