"""Parquet files of neptune-exporter: a row for each parameter and each value of a run.

Schema: neptune-ai/neptune-exporter, README.md and src/neptune_exporter/model.py: ``RUN_part_N.parquet`` with
the columns ``run_id``, ``attribute_path``, ``attribute_type``, ``step``, ``timestamp`` and one for each type.
``sys/name`` is the name of a run's experiment, and ``monitoring/`` holds what its machine did.
"""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.formats import sql
from reportgen.formats.run_data import MetricsBuilder
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.sql import get_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Setting


_PART: Final = re.compile(r"(?P<run>.+)_part_\d+\.parquet")
_COLUMNS: Final = {"run_id", "attribute_path", "attribute_type", "step", "float_value"}
_NAME: Final = "sys/name"
# What Neptune itself records, and what its machine did.
_OWN: Final = ("sys/", "monitoring/")


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return runs: the parts of each that lie in one folder."""
    runs: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for file in files:
        if match := _PART.fullmatch(file.name):
            runs[file.parent, match["run"]].append(file)
    if not runs:
        return ()
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    units = []
    for own in runs.values():
        query = f"SELECT name FROM parquet_schema({sql.quote(str(own[0]))})"  # noqa: S608 - quoted
        with suppress(duckdb.Error, UnicodeDecodeError):
            if {name for (name,) in get_engine().fetch_rows(query)} >= _COLUMNS:
                units.append(Unit(own[0], tuple(own)))
    return tuple(units)


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the runs of a unit, usually one."""
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    source = f"read_parquet({sql.quote_paths(unit.files)})"
    try:
        runs = get_engine().fetch_rows(f"SELECT DISTINCT run_id FROM {source} ORDER BY 1")  # noqa: S608 - quoted
        for (id_,) in runs:
            run = str(id_)
            builder = MetricsBuilder(unit.path, unit.selected, timed=True)
            where = f"FROM {source} WHERE run_id = {sql.quote(run)} AND attribute_type"
            values = f"SELECT attribute_path, step::DOUBLE, float_value, epoch_ms(timestamp)::DOUBLE {where}"
            rows = get_engine().fetch_rows(f"{values} = 'float_series' ORDER BY attribute_path, step")
            by_metric: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
            for name, *cells in rows:
                if not name.startswith(_OWN):
                    step, value, time = (np.nan if cell is None else float(cell) for cell in cells)
                    by_metric[name].append((step, value, time))
            for name, points in by_metric.items():
                steps, numbers, times = np.array(points, float).T
                builder.extend(name, steps, numbers, times)
            typed = "string_value, float_value, int_value, bool_value"
            kinds = "IN ('float', 'int', 'string', 'bool')"
            rows = get_engine().fetch_rows(f"SELECT attribute_path, {typed} {where} {kinds} ORDER BY 1")
            params = {name: next((cell for cell in cells if cell is not None), "") for name, *cells in rows}
            config: dict[str, Setting] = {
                name.replace("/", "."): cell for name, cell in params.items() if not name.startswith(_OWN)
            }
            named = params.get(_NAME) or run
            yield LoggedRun(unit.path, str(named), run, "", config, builder.build())
    except (duckdb.Error, UnicodeDecodeError) as error:
        message = "the file is damaged, or of another shape than neptune-exporter writes"
        raise UnreadableError(unit.path, message, "Export it again") from error
