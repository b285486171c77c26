"""Curve tables with a column for each model or run, as long tables: a row for each value.

``step,GRPO,PPO`` in ``reward.csv`` has the metric ``reward`` of the series ``GRPO`` and ``PPO``. Only the
header and the name of the file can show that columns are no metrics; ``wide: series`` says it otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.core.directions import guess_direction
from reportgen.core.errors import Diagnostic, Severity, Stage
from reportgen.formats import sql
from reportgen.formats.files import split_ending
from reportgen.formats.messages import list_names
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import Candidate, split_seed
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun, name_part, write_query
from reportgen.read.tables.check import explain_faults
from reportgen.read.tables.layout import INTERVAL_PARTS, Layout, RunColumn, resolve_filters
from reportgen.read.tables.rows import Rows, select_fields
from reportgen.read.tables.wide import WideTables
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    """Write the values of tables whose columns are series to the cache; return None if they are metrics."""
    names = tuple(raw for every in layout.metrics.values() for raw in every)
    roles, stated = layout.roles, settings.wide == "series"
    other = layout.long or layout.outcomes or layout.totals or layout.spread or roles.series
    if other or not (roles.step and names) or {*_COLUMNS} & layout.kinds.keys():
        return None
    if settings.wide in {"metrics", "benchmarks"} or not (stated or _are_series(names, layout.files)):
        return None
    columns = _name_columns(names, layout)
    tables = []
    for index, (file, known) in enumerate(zip(layout.files, hashed, strict=True)):
        key = cache.make_key("curves", file.path, known.sha256, f"{columns}{settings.model_dump_json()}")
        path = Path(cache.get_text_path(key, name_part(0)))
        if not path.exists():
            with explain_faults(location.root, location.place, [file], names):
                write_query(cache, key, name_part(0), _melt(location, settings, layout, index, columns))
        copy = locate_file(path, location.root).file
        tables.append(replace(file, format="parquet", compression="", copy=copy, skip=0, keep=None, given=()))
    named = {"series": "series", "metric": "metric", "value": "value", "step": roles.step}
    parts = settings.columns.model_copy(update=named | {"seed": "seed", "run": "run"})
    update: dict[str, object] = {"form": "long", "wide": "series", "columns": parts, "filter": {}}
    warnings = []
    if not stated:
        message = f"the columns {list_names(names)} are read as series of one metric, going by their names"
        advice = "Confirm it with wide: series in source.yml, or say wide: metrics if each is a metric"
        warnings.append(Diagnostic(location.place, message, advice, Stage.DATA, Severity.WARNING))
    return WideTables(tuple(tables), settings.model_copy(update=update), tuple(warnings))


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


def _melt(
    location: Location,
    settings: SourceSettings,
    layout: Layout,
    index: int,
    columns: dict[str, RunColumn],
) -> str:
    """Return the SELECT of a table's values, a row for each, in the order of writing."""
    rows, roles = Rows(location.root, layout, [index]), layout.roles
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
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    select = select_fields(rows, fields, filters)
    return f'SELECT * EXCLUDE ("row") FROM ({select}) WHERE value IS NOT NULL ORDER BY "row"'  # noqa: S608 - quoted
