"""What the cache holds of a unit that was read: its runs, and the Parquet files with their values."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from reportgen.core.cache import Cache
from reportgen.formats.engine import get_engine
from reportgen.formats.runs import Total

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.formats.runs import Setting


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run of a logger, or one evaluation of a harness, without its values.

    Attributes:
        path: its file or folder, relative to the project where it is below it.
        name, id, group, config: as in ``LoggedRun``; the name of an evaluation is its ``run``.
        metrics: how many values each has, of an evaluation how many answers.
        step_name: what a step is called.
        begins: the earliest time of a value, milliseconds since 1970 UTC; None where there are none.
        evaluated: whether it is an evaluation.
        model, benchmark, seed, protocol, totals, finished: as in ``Evaluation``.
    """

    path: str
    name: str
    id: str = ""
    group: str = ""
    config: Mapping[str, Setting] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)
    step_name: str = "step"
    begins: float | None = None
    evaluated: bool = False
    model: str = ""
    benchmark: str = ""
    seed: str | None = None
    protocol: Mapping[str, str] = field(default_factory=dict)
    totals: tuple[Total, ...] = ()
    finished: bool = True


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A piece of a unit's rows as a Parquet file of so many bytes, with names and SQL types of its columns.

    ``run`` is the index of the only run in it, None where a column tells the run of each row; ``metric`` is
    what scored a run's answers. The file is called ``name`` after the key of the unit.
    """

    name: str
    size: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    run: int | None = None
    metric: str = ""


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """Something irregular that was handled; see ``Finding``."""

    path: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """A unit that was read: its runs and its rows in the order of writing, and what was irregular."""

    runs: tuple[StoredRun, ...]
    parts: tuple[StoredPart, ...]
    findings: tuple[StoredFinding, ...]


def get_temporary_cache() -> Cache:
    """A cache for as long as the process lives, as in a notebook."""
    return Cache(get_engine().folder / "units")


def store_unit(cache: Cache, key: str, unit: StoredUnit) -> None:
    """Store what is known of a unit, after its parts are in their places."""
    cache.put(key, dump_json(unit))


def load_unit(cache: Cache, key: str) -> StoredUnit | None:
    """What ``store_unit`` wrote; None where there is nothing, or a part of it is gone."""
    data = cache.get(key)
    if data is None:
        return None
    loaded = json.loads(data)
    runs = [{**run, "totals": tuple(Total(**total) for total in run["totals"])} for run in loaded["runs"]]
    parts = [
        {**part, "columns": tuple(part["columns"]), "types": tuple(part["types"])} for part in loaded["parts"]
    ]
    unit = StoredUnit(
        tuple(StoredRun(**run) for run in runs),
        tuple(StoredPart(**part) for part in parts),
        tuple(StoredFinding(**finding) for finding in loaded["findings"]),
    )
    return unit if all(_is_whole(cache.get_text_path(key, part.name), part) for part in unit.parts) else None


def dump_json(value: object) -> bytes:
    """Frozen dataclasses, and lists and mappings of them, as JSON."""

    def list_fields(one: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
        return {field.name: getattr(one, field.name) for field in fields(one)}

    # ``asdict`` copies every name and number first, which takes longer than all the rest.
    return json.dumps(value, default=list_fields).encode()


def _is_whole(path: str, part: StoredPart) -> bool:
    try:
        return os.stat(path).st_size == part.size  # noqa: PTH116 - pathlib takes longer
    except OSError:
        return False
