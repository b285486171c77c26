"""Curve tables with a column for each model, run or statistic, as long tables: a row for each value.

``step,GRPO,PPO`` in ``reward.csv`` has the metric ``reward`` of the series ``GRPO`` and ``PPO``. Only the
header and the name of the file can show that columns are no metrics; ``wide: series`` says it otherwise.
``model,step,mean,std,count`` has one metric with its interval, unless ``wide: metrics`` says otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from reportgen.core.directions import guess_direction
from reportgen.core.errors import Diagnostic, ReportError, Severity, Stage
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.files import split_ending
from reportgen.formats.messages import list_names
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import Candidate, split_seed
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun, name_part, write_query
from reportgen.read.tables.check import explain_faults
from reportgen.read.tables.layout import INTERVAL_PARTS, Layout, RunColumn, is_name_of
from reportgen.read.tables.rows import Rows, resolve_filters, select_fields
from reportgen.read.tables.statistics import HALF_WIDTH, ValueColumn, ask_spread, find_statistics
from reportgen.read.tables.wide import WideTables
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location


# Names of models, runs and usual algorithms; a metric is not called so.
_SERIES: Final = re.compile(
    r"(model|method|run|exp|experiment|baseline|base|ours|variant|agent|ablation|seed)([ _.\-]?\w{1,12})?"
    r"|(grpo|ppo|dpo|sft|rloo|dapo|kto|orpo|sac|td3|ddpg|dqn|a2c|a3c|trpo|reinforce(\+\+)?|impala|dreamer"
    r"|adamw?|sgd|muon|lion|adafactor|rmsprop|shampoo|soap|gpt|llama|qwen|mistral|gemma|bert|resnet|vit)"
    r"([ _.\-\d]\S*)?",
    re.IGNORECASE,
)
_COLUMNS: Final = ("series", "metric", "value")
_FEWEST: Final = 2


def map_wide_curves(
    location: Location,
    settings: SourceSettings,
    layout: Layout,
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> WideTables | None:
    """Write the values of tables whose columns are series or statistics to the cache; None for metrics."""
    other = layout.long or layout.outcomes or layout.totals or layout.spread
    if other or not layout.roles.step or settings.wide in {"metrics", "benchmarks"}:
        return None
    tables = _Tables(location, settings, layout, hashed, cache)
    if settings.wide is None and (found := _map_statistics(tables)):
        return found
    names = tuple(raw for every in layout.metrics.values() for raw in every)
    if layout.roles.series or not names or {*_COLUMNS} & layout.kinds.keys():
        return None
    stated = settings.wide == "series"
    if not (stated or _are_series(names, layout.files)):
        return None
    columns = _name_columns(names, layout)
    files = tables.write(str(columns), names, lambda index: _melt(tables, index, columns))
    named = {"series": "series", "metric": "metric", "value": "value", "step": layout.roles.step}
    parts = settings.columns.model_copy(update=named | {"seed": "seed", "run": "run"})
    update: dict[str, object] = {"form": "long", "wide": "series", "columns": parts, "filter": {}}
    warnings = []
    if not stated:
        message = f"the columns {list_names(names)} are read as series of one metric, going by their names"
        advice = "Confirm it with wide: series in source.yml, or say wide: metrics if each is a metric"
        warnings.append(tables.warn(message, advice))
    return WideTables(files, settings.model_copy(update=update), tuple(warnings))


class _Tables(Struct, frozen=True):
    """The tables of a source."""

    location: Location
    settings: SourceSettings
    layout: Layout
    hashed: Sequence[SourceFile]
    cache: Cache

    def write(
        self, identity: str, numbers: Collection[str], melt: Callable[[int], str]
    ) -> tuple[FileLayout, ...]:
        """Write the rows that a SELECT gives for each file to the cache; ``numbers`` are its columns."""
        location, cache, tables = self.location, self.cache, []
        for index, (file, known) in enumerate(zip(self.layout.files, self.hashed, strict=True)):
            more = f"{identity}{self.settings.model_dump_json()}"
            key = cache.make_key("curves", file.path, known.sha256, more)
            path = Path(cache.get_text_path(key, name_part(0)))
            if not path.exists():
                with explain_faults(location.root, location.place, [file], numbers):
                    write_query(cache, key, name_part(0), melt(index))
            copy = locate_file(path, location.root).file
            plain = {"format": "parquet", "compression": "", "skip": 0, "keep": None, "given": ()}
            tables.append(replace(file, copy=copy, **plain))
        return tuple(tables)

    def warn(self, message: str, advice: str) -> Diagnostic:
        return Diagnostic(self.location.place, message, advice, Stage.DATA, Severity.WARNING)


def _map_statistics(tables: _Tables) -> WideTables | None:
    """Write the values of tables with statistics of them to the cache; return None if there are none."""
    settings, layout = tables.settings, tables.layout
    columns, taken = settings.columns, {*astuple(layout.roles), *layout.series_parts}
    numbers = [
        name for name, kind in layout.kinds.items() if kind in {*NUMERIC, Kind.EMPTY} and name not in taken
    ]
    found = find_statistics(numbers)
    is_stated = columns.value or any(getattr(columns, part) for part in INTERVAL_PARTS)
    if is_stated or {*found.parts, *found.left_out} & {*(settings.metrics or ())}:
        return None
    warnings = [] if settings.metrics else [tables.warn(*words) for words in found.list_warnings()]
    if found.is_usual:
        return WideTables(layout.files, settings, tuple(warnings)) if warnings else None
    names = {*(settings.metrics or ()), *settings.rename_metrics}
    named = next((name for name in layout.kinds if is_name_of("metric", name)), None)
    values = {
        name: replace(
            one, metric=name if name in names else one.metric, parts=_settle(tables, name, one.parts)
        )
        for name, one in found.values.items()
        if one.parts or not named
    }
    with_parts = (name for name, one in values.items() if one.parts)
    gone = tuple(dict.fromkeys((*found.parts, *found.left_out, *with_parts)))
    files = tables.write(f"{values}{gone}", numbers, lambda index: _melt_values(tables, index, values, gone))
    parts = {"metric": named or "metric", "value": "value", "step": layout.roles.step}
    update = {"form": "long", "columns": columns.model_copy(update=parts), "filter": {}}
    return WideTables(files, settings.model_copy(update=update), tuple(warnings))


def _settle(tables: _Tables, value: str, parts: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of an interval, each with its column, with what ± is; raise if nothing says that."""
    kind = tables.settings.interval
    if "±" in parts and kind is None:
        raise ReportError(ask_spread(tables.layout.files[0].get_content(tables.location.root), value, 1))
    return {kind or part if part == "±" else part: name for part, name in parts.items()}


def _melt_values(
    tables: _Tables, index: int, values: Mapping[str, ValueColumn], gone: Collection[str]
) -> str:
    """Return the SELECT of a table's values with their intervals, a row for each, in the order of writing."""
    layout = tables.layout
    rows, stem = Rows(tables.location.root, layout, [index]), _get_stem(layout.files[index])
    held = {name: one for name, one in values.items() if rows.has(name)}

    fields = {
        "row": rows.get_position(),
        "metric": sql.unnest(sql.quote(one.metric or stem) for one in held.values()),
        **{name: rows.as_written(name) for name in layout.kinds if name not in gone},
        "value": sql.unnest(map(rows.as_number, held)),
    }
    intervals = [_select_interval(rows, one.parts) for one in held.values()]
    for part in INTERVAL_PARTS:
        if any(part in one for one in intervals):
            fields[part] = sql.unnest(one.get(part, "CAST(NULL AS DOUBLE)") for one in intervals)
    select = select_fields(rows, fields, resolve_filters(tables.settings.filter, tuple(layout.kinds)))
    return f'SELECT * EXCLUDE ("row") FROM ({select}) WHERE value IS NOT NULL ORDER BY "row"'  # noqa: S608 - quoted


def _select_interval(rows: Rows, parts: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of an interval by role: its ends, otherwise its standard error, and n."""
    cells = {part: rows.as_number(name) for part, name in parts.items()}
    interval: dict[str, str] = {part: cells[part] for part in ("low", "high", "n") if part in cells}
    if "se" in cells:
        interval["stderr"] = cells["se"]
    elif "ci95" in cells:
        interval["stderr"] = f"{cells['ci95']} / {HALF_WIDTH}"
    elif {"sd", "n"} <= cells.keys():
        interval["stderr"] = f"{cells['sd']} / sqrt(nullif({cells['n']}, 0))"
    return interval


def _are_series(names: Sequence[str], files: Iterable[FileLayout]) -> bool:
    """Return whether the header, or it and the names of the files, show that columns are no metrics."""
    if len(names) < _FEWEST:
        return False
    settings = [name.partition("=")[0].strip() for name in names if "=" in name]
    if len(settings) == len(names) and len(set(settings)) == 1:
        return True
    if all(map(_SERIES.fullmatch, names)) or all(split_seed(name)[1] is not None for name in names):
        return True
    metrics = any(guess_direction(name) is not None or "/" in name for name in names)
    return not metrics and all(guess_direction(_get_stem(file)) is not None for file in files)


def _get_stem(file: FileLayout) -> str:
    return split_ending(Path(file.path))[0]


def _name_columns(names: Sequence[str], layout: Layout) -> dict[str, RunColumn]:
    """Return the series and seed of each column; its metric is empty where the file's name is the metric."""
    runs = [Candidate(StoredRun(name, name, metrics={"": 1}), {}, "", "") for name in names]
    naming = name_runs(runs, SourceSettings(), layout.labels[0])
    rests = {split_seed(name)[0] for name in names}
    if len(rests) == 1 and guess_direction(metric := rests.pop()) is not None:
        # loss_seed1 and loss_seed2 are runs of one series.
        seeds = {name: split_seed(name)[1] for name in names}
        return {name: RunColumn(layout.labels[0], name, seed, metric) for name, seed in seeds.items()}
    return {
        name: RunColumn(one.series, one.run, one.seed, "")
        for name, one in zip(names, naming.names, strict=True)
    }


def _melt(tables: _Tables, index: int, columns: dict[str, RunColumn]) -> str:
    """Return the SELECT of a table's values, a row for each, in the order of writing."""
    layout, roles = tables.layout, tables.layout.roles
    rows = Rows(tables.location.root, layout, [index])
    held = {name: one for name, one in columns.items() if rows.has(name)}
    stem = _get_stem(layout.files[index])

    def name_part_of(own: str | None, values: Iterable[str | None]) -> str:
        cells = ["NULL::VARCHAR" if value is None else sql.quote(value) for value in values]
        return rows.as_text(own) if own else sql.unnest(cells)

    fields = {
        "row": rows.get_position(),
        **{name: rows.as_written(name) for name in layout.kinds if name not in columns},
        "series": sql.unnest(sql.quote(one.series) for one in held.values()),
        "run": name_part_of(roles.run, (one.run for one in held.values())),
        "seed": name_part_of(roles.seed, (one.seed for one in held.values())),
        "metric": sql.unnest(sql.quote(one.metric or stem) for one in held.values()),
        "value": sql.unnest(map(rows.as_number, held)),
    }
    for part in INTERVAL_PARTS:
        if any(rows.has(f"{name}_{part}") for name in held):
            fields[part] = sql.unnest(rows.as_number(f"{name}_{part}") for name in held)
    filters = resolve_filters(tables.settings.filter, tuple(layout.kinds))
    select = select_fields(rows, fields, filters)
    return f'SELECT * EXCLUDE ("row") FROM ({select}) WHERE value IS NOT NULL ORDER BY "row"'  # noqa: S608 - quoted
