"""A chart that W&B exported as a source: its columns are runs, whose names give series and seed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.messages import list_names
from reportgen.formats.tables import delimited
from reportgen.read.runs.labels import Candidate
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.read.tables.check import check_columns
from reportgen.read.tables.layout import (
    Roles,
    RunColumn,
    Survey,
    find_wide_metrics,
    get_mapped_columns,
    select_metrics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.formats.files import Content
    from reportgen.formats.layout import Look
    from reportgen.read.runs.names import Naming
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.source import SourceSettings


_SEPARATELY: Final = "For intervals, export the runs ungrouped, or put the folders wandb/run-* here"


def detect_chart(content: Content, look: Look, settings: SourceSettings) -> Look:
    """A CSV file as what it shows to be; a ``ReportError`` of W&B's table of runs, or of what is no chart."""
    columns = look.file.columns
    if settings.format == delimited.WANDB_CHART:
        if not delimited.parse_chart(columns):
            message = "its header is not that of a chart that W&B exported"
            raise content.make_error(message, 'After the first, columns are called "RUN - METRIC"', 1)
    elif settings.format is not None or look.file.format != "csv":
        return look
    elif delimited.is_table_of_runs(columns, look.rows[0] if look.rows else ()):
        advice = f"{delimited.RUNS_TABLE_ADVICE}; format: csv reads it as any table"
        raise content.make_error(delimited.TABLE_OF_RUNS, advice, 1)
    elif not delimited.is_chart(columns):
        return look
    return replace(look, file=replace(look.file, format=delimited.WANDB_CHART))


def survey_chart(
    layout: Layout, looks: Sequence[Look], settings: SourceSettings, place: SourceLocation
) -> Survey:
    """The survey of files of which some is a chart; a ``ReportError`` if some are not, or x differs."""
    others = [look.file.path for look in looks if look.file.format != delimited.WANDB_CHART]
    if others:
        message = f"charts that W&B exported are beside other tables: {list_names(others)}"
        advice = "Make the others a source of their own, or leave them out with files: in source.yml"
        raise ReportError(Diagnostic(place, message, advice, Stage.DATA))
    step = get_mapped_columns(settings).get("step") or looks[0].file.columns[0]
    layout = replace(layout, roles=Roles(step=step), exhaustive=True)
    absent = check_columns(layout, looks)
    for key in ("series_from", "seed_from", "run_from"):
        if getattr(settings, key) not in {None, "name", ("name",)}:
            message = f"{key}: a chart that W&B exported has nothing of its runs but their names"
            advice = f"Say {key}: name, or put the folders wandb/run-* here, which have their settings"
            raise ReportError(Diagnostic(place, message, advice, Stage.SETTINGS))
    spread, naming = _build_spread(layout, looks, settings)
    raw = tuple(dict.fromkeys(one.metric for one in spread.values()))
    read = {*spread, *(end for one in spread.values() for end in (one.low, one.high)), step}
    # A chart has millions of cells, so that columns of numbers are read as such at once.
    types = {name: "DOUBLE" for name in read if layout.kinds.get(name) is not Kind.TIME}
    layout = replace(
        layout,
        files=tuple(
            replace(file, types=tuple(types.get(name, sql.TEXT) for name in file.columns))
            for file in layout.files
        ),
        spread=spread,
        metrics={
            name: tuple(column for column, one in spread.items() if one.metric in known)
            for name, known in select_metrics(raw, settings).items()
        },
        series=tuple(dict.fromkeys(settings.rename.get(one.series, one.series) for one in spread.values())),
    )
    return Survey(layout, tuple(layout.kinds), raw, (*_list_warnings(looks, naming, place), *absent))


def _build_spread(
    layout: Layout, looks: Sequence[Look], settings: SourceSettings
) -> tuple[dict[str, RunColumn], Naming]:
    """What each numeric column holds, and how its run was named."""
    held = {column: one for look in looks for column, one in delimited.parse_chart(look.file.columns).items()}
    sampled = not all(look.exhaustive for look in looks)
    metrics = find_wide_metrics(layout.kinds, layout.roles, sampled=sampled)
    numeric = sorted(
        (name for name in metrics if name in held), key=lambda name: held[name].metric == delimited.WANDB_STEP
    )
    runs = list(dict.fromkeys((held[name].run, held[name].twin) for name in numeric))
    candidates = [Candidate(StoredRun(run, run), {}, "", "") for run, _ in runs]
    naming = name_runs(candidates, settings, layout.labels[0])
    named = dict(zip(runs, naming.names, strict=True))
    several = {column for look in looks for column in delimited.find_joined(look.file.columns, look.rows)}
    spread = {}
    for name in numeric:
        run, twin, metric = held[name]
        one = named[run, twin]
        ends = delimited.name_extremes(name) if name in several else ("", "")
        spread[name] = RunColumn(one.series, one.run, one.seed, metric, *ends)
    return spread, naming


def _list_warnings(looks: Sequence[Look], naming: Naming, place: SourceLocation) -> Iterator[Diagnostic]:
    for look in looks:
        yield from look.warnings
        if joined := delimited.find_joined(look.file.columns, look.rows):
            # Nothing says of how many values they are the mean.
            runs = list_names(dict.fromkeys(one.run for one in joined.values()))
            message = (
                f"a value of {runs} stands for several, of the runs of a group or of neighbouring steps: "
                "the band is from its __MIN to its __MAX"
            )
            yield Diagnostic(
                SourceLocation(look.file.path), message, _SEPARATELY, Stage.DATA, Severity.WARNING
            )
    if naming.guessed:
        series = list_names(dict.fromkeys(name.series for name in naming.names))
        seeds = f", and seeds by {naming.seed_by}" if naming.seed_by else ""
        message = f"series were told apart by {naming.series_by}{seeds}: {series}"
        seed = " and seed_from: name" if naming.seed_by else ""
        advice = f"Settle it with series_from: name{seed} in source.yml"
        yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
    for indices in naming.indistinct:
        name = naming.names[indices[0]]
        seed = f"seed {name.seed}" if name.seed is not None else "no seed"
        message = f'{len(indices)} runs have the series "{name.series}" and {seed}'
        message = f"{message}; they are read as different runs"
        yield Diagnostic(place, message, "", Stage.DATA, Severity.WARNING)
