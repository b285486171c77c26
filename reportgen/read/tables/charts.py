"""Charts that W&B exported as CSV: their columns are runs, whose names give series and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.messages import list_names
from reportgen.formats.tables import delimited
from reportgen.read.runs.names import name_alone, warn_guessed, write_keys
from reportgen.read.tables.layout import find_wide_metrics, get_mapped_columns
from reportgen.read.tables.roles import LongForm, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.formats.layout import Content, FileLayout, Look
    from reportgen.formats.tables.delimited import ChartColumn
    from reportgen.read.runs.names import Naming, RunName
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.source import SourceSettings


def detect_chart(content: Content, look: Look, settings: SourceSettings) -> Look:
    """Return a look with a W&B chart marked as such; raises for a table of runs, or if it is none."""
    columns = look.file.columns
    if look.file.format not in {"csv", delimited.WANDB_CHART}:
        return look
    if settings.format == delimited.WANDB_CHART:
        if not delimited.parse_chart(columns):
            message = "its header is not that of a chart that W&B exported"
            raise content.make_error(message, 'Each column after the first must be called "RUN - METRIC"', 1)
    elif settings.format is not None:
        return look
    elif settings.form != "runs" and delimited.is_table_of_runs(columns, look.rows[0] if look.rows else ()):
        raise content.make_error(delimited.TABLE_OF_RUNS, delimited.advise_runs(columns), 1)
    elif not delimited.is_chart(columns):
        return look
    return replace(look, file=replace(look.file, format=delimited.WANDB_CHART))


def find_chart_step(looks: Sequence[Look], settings: SourceSettings, place: SourceLocation) -> str:
    """Return the column of x of charts; raises if other tables are among them, or for keys of logs."""
    others = [look.file.path for look in looks if look.file.format != delimited.WANDB_CHART]
    if others:
        message = f"charts exported from W&B are mixed with other tables: {list_names(others)}"
        advice = "Make the others a source of their own, or leave them out with files: in source.yml"
        raise ReportError(Diagnostic(place, message, advice, Stage.DATA))
    for key in ("series_from", "seed_from", "run_from"):
        if getattr(settings, key) not in {None, "name", ("name",)}:
            message = f"{key}: a chart exported from W&B has only the names of its runs"
            advice = f"Say {key}: name, or put the folders wandb/run-* here, which have their settings"
            raise ReportError(Diagnostic(place, message, advice, Stage.SETTINGS))
    return get_mapped_columns(settings).get("step") or looks[0].file.columns[0]


def list_chart_columns(layout: Layout) -> dict[str, ChartColumn]:
    """Return the columns of values, with the run and metric of each; that of W&B's own step comes last."""
    held: dict[str, ChartColumn] = {}
    for file in layout.files:
        held |= delimited.parse_chart(file.header or file.columns)
    if layout.long:  # as it is in the cache
        return held
    metrics = find_wide_metrics(layout.kinds, layout.roles, sampled=not layout.exhaustive)
    numeric = [name for name in metrics if name in held]
    numeric.sort(key=lambda name: held[name].metric == delimited.WANDB_STEP)
    return {name: held[name] for name in numeric}


def warn_joined(looks: Sequence[Look]) -> Iterator[Diagnostic]:
    """Warn of values that summarise several."""
    for look in looks:
        if joined := delimited.find_joined(look.file.columns, look.rows):
            runs = list_names(dict.fromkeys(one.run for one in joined.values()))
            message = (
                f"a value of {runs} summarises several values, of a group of runs or of neighbouring steps: "
                "the band goes from its __MIN to its __MAX"
            )
            advice = "For intervals, export the runs ungrouped, or put the folders wandb/run-* here"
            yield Diagnostic(SourceLocation(look.file.path), message, advice, Stage.DATA, Severity.WARNING)


def assign_charts(
    layout: Layout, settings: SourceSettings, place: SourceLocation
) -> tuple[list[FileLayout], list[LongForm], tuple[Diagnostic, ...]]:
    """Return charts with columns of numbers, the roles in each, and warnings of guessed names."""
    columns = list_chart_columns(layout)
    runs = dict.fromkeys((one.run, one.twin) for one in columns.values())
    naming, keys, different = name_alone([run for run, _ in runs], settings, layout.labels[0])
    named = dict(zip(runs, naming.names, strict=True))
    # A chart may have millions of cells, so columns of numbers are read as such at once.
    read = {*columns, *(end for name in layout.joined for end in delimited.name_extremes(name))}
    read = {name for name in (*read, layout.roles.step or "") if layout.kinds.get(name) is not Kind.TIME}
    files = []
    for file in layout.files:
        types = tuple("DOUBLE" if name in read else sql.TEXT for name in file.columns)
        files.append(replace(file, types=types))
    forms = [_make_form(file, layout, columns, named) for file in files]
    return files, forms, tuple(_warn_names(naming, keys, different, place))


def _make_form(
    file: FileLayout,
    layout: Layout,
    columns: Mapping[str, ChartColumn],
    named: Mapping[tuple[str, int], RunName],
) -> LongForm:
    has_seeds, values = any(one.seed for one in named.values()), []
    for column in (name for name in columns if name in file.columns):
        held = columns[column]
        one = named[held.run, held.twin]
        names = {"series": one.series, "run": one.run, "metric": held.metric}
        names |= {"seed": one.seed or ""} if has_seeds else {}
        ends = delimited.name_extremes(column) if column in layout.joined else ()
        values.append(Value(column, names, dict(zip(("low", "high"), ends, strict=False))))
    step = layout.roles.step or ""
    roles = {"step": step, **{part: part for one in values for part in one.names}}
    return LongForm({step: step}, tuple(values), roles, by_columns=True)


def _warn_names(
    naming: Naming, keys: dict[str, object], different: dict[str, object], place: SourceLocation
) -> Iterator[Diagnostic]:
    yield from warn_guessed(naming, keys, place)
    for indices in naming.indistinct:
        name = naming.names[indices[0]]
        seed = f"seed {name.seed}" if name.seed is not None else "no seed"
        message = f'{len(indices)} runs have the series "{name.series}" and {seed}'
        message = f"{message}; they are read as different runs"
        advice = f"Confirm it with {write_keys(different)} in source.yml" if different else ""
        yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
