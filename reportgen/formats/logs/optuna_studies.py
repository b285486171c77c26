"""Studies of Optuna: each trial is a run, with its parameters as settings and its values.

Schema: optuna/optuna, optuna/storages/_rdb/models.py: tables ``studies``, ``study_directions``, ``trials``,
``trial_params``, ``trial_values`` and ``trial_intermediate_values``. Before version 2.4 the value was in
``trials``; since version 3 a type beside a value marks infinities and NaN, which are NULL. A categorical
parameter is the index into the choices of its distribution. optuna/study/_dataframe.py,
``Study.trials_dataframe()``: columns ``number``, ``value`` or ``values_0``, ``params_NAME`` and ``state``.
optuna/storages/journal/_storage.py: JSON Lines with an operation each, by ``op_code``; trials and studies are
numbered in the order of their creation.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.formats.decode import Count, Decoder
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import (
    JsonLines,
    as_list,
    as_mapping,
    as_word,
    parse_object,
    read_head_text,
)
from reportgen.formats.run_data import MetricsBuilder, number_or_nan, parse_number_text, parse_time
from reportgen.formats.runs import LoggedRun, Unit
from reportgen.formats.sqlite import find_stores, open_store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Setting
    from reportgen.formats.sqlite import SqliteStore


"""A study is a series: its trials are points of one search."""

_COLUMNS: Final = {"trial_id", "number", "study_id", "state"}
_VALUE: Final = "value"
_INTERMEDIATE: Final = "intermediate_value"
_JOURNALS: Final = frozenset((".log", ".jsonl"))
_FIRST_OPERATION: Final = re.compile(r'\{"op_code": ?0, ?[^\n]*"study_name": ?"')
_CREATE_STUDY, _DELETE_STUDY, _CREATE_TRIAL = 0, 1, 4
# Of enumerations of Optuna, in their order.
_STATES: Final = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
# States of trials without a value, which is NaN: that of a pruned one is its last report.
_UNFINISHED: Final = frozenset(_STATES) - {"COMPLETE"}
_WAYS: Final = ("not_set", "minimize", "maximize")
_INFINITIES: Final = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return databases with trials, and tables of trials."""
    stores = find_stores(files, _COLUMNS, lambda file: "optuna" in file.name.lower(), table="trials")
    journals = (Unit(one, (one,)) for one in files if get_ending(one) in _JOURNALS and _is_journal(one))
    tables = []
    for file in (one for one in files if get_ending(one) == ".csv"):
        names = {name.strip('"\r') for name in read_head_text(file).partition("\n")[0].split(",")}
        is_valued = bool(names & {_VALUE, "values_0"}) and {"number", "state"} <= names
        if is_valued and any(name.startswith("params_") for name in names):
            tables.append(Unit(file, (file,)))
    return (*stores, *journals, *tables)


def _is_journal(file: Path) -> bool:
    return bool(_FIRST_OPERATION.match(read_head_text(file)))


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield every trial: its reports by step and, if it is complete, its values at its number."""
    if get_ending(unit.path) == ".csv":
        yield from _read_table(unit.path, unit.selected)
        return
    if get_ending(unit.path) in _JOURNALS:
        yield from _read_journal(unit.path, unit.selected)
        return
    with open_store(unit.path) as store:
        store.check_columns("trials", _COLUMNS, "study of Optuna")
        directions, objectives = _read_directions(store), _count_objectives(store)
        named = [store.name_column("trials", name) for name in (_VALUE, "datetime_complete")]
        columns = ", ".join(["trial_id, number, trials.study_id, study_name, state", *named])
        order = "FROM trials JOIN studies USING (study_id) ORDER BY trials.study_id, number"
        trials = list(store.select(f"SELECT {columns} {order}"))
        for trial, number, study, name, state, value, end in trials:
            builder = MetricsBuilder(unit.path, unit.selected, timed=True)
            time = number_or_nan(parse_time(end))
            ways = directions.get(study, ())
            if state in _UNFINISHED:
                for objective in _name_objectives(objectives.get(study, 1)):
                    builder.add(objective, number, math.nan, time)
            elif value is not None:
                builder.add_cell(_VALUE, number, value, time)
            else:
                _add_values(store, trial, number, builder, time)
            _add_reports(store, trial, builder)
            config = {**_read_params(store, trial), "state": str(state)}
            config |= {"direction": ways[0]} if len(ways) == 1 else {}
            id_ = f"{name} {number}"
            found = (*builder.list_findings(), *store.list_findings())
            better = _name_directions(ways)
            yield LoggedRun(unit.path, str(name), id_, "", config, builder.build(), "step", found, better)


def _read_directions(store: SqliteStore) -> dict[int, tuple[str, ...]]:
    """Return whether each study should ``minimize`` or ``maximize``, for each of its objectives."""
    columns = store.columns.get("study_directions", ())
    if "direction" not in columns:
        return {}
    order = "objective" if "objective" in columns else "study_id"
    query = f"SELECT study_id, direction FROM study_directions ORDER BY {order}"  # noqa: S608 - our names
    found: dict[int, tuple[str, ...]] = {}
    for study, direction in store.select(query):
        found[study] = (*found.get(study, ()), str(direction).lower())
    return found


def _name_directions(ways: Sequence[str]) -> dict[str, bool]:
    """Return whether higher is better by metric; a study of several objectives reports nothing on the way."""
    metrics = (_VALUE, _INTERMEDIATE) if len(ways) == 1 else _name_objectives(len(ways))
    by_metric = zip(metrics, (*ways, *ways) if len(ways) == 1 else ways, strict=True)
    return {metric: way == "maximize" for metric, way in by_metric if way in {"maximize", "minimize"}}


def _count_objectives(store: SqliteStore) -> dict[int, int]:
    """Return how many values the trials of each study have, if any."""
    if "objective" not in store.columns.get("trial_values", ()):
        return {}
    query = "SELECT study_id, max(objective) + 1 FROM trial_values JOIN trials USING (trial_id) GROUP BY 1"
    return dict(store.select(query))


def _name_objectives(count: int) -> tuple[str, ...]:
    return (_VALUE,) if count == 1 else tuple(f"values_{number}" for number in range(count))


def _add_values(store: SqliteStore, trial: int, number: float, builder: MetricsBuilder, time: float) -> None:
    """Add the values of all objectives."""
    if "objective" in store.columns.get("trial_values", ()):
        kind = store.name_column("trial_values", "value_type")
        query = f"SELECT objective, value, {kind} FROM trial_values WHERE trial_id = ? ORDER BY 1"  # noqa: S608
        rows = list(store.select(query, (trial,)))
        for objective, value, type_ in rows:
            name = _VALUE if len(rows) == 1 else f"values_{objective}"
            builder.add_cell(name, number, _INFINITIES.get(type_, value), time)


def _add_reports(store: SqliteStore, trial: int, builder: MetricsBuilder) -> None:
    """Add the values that a trial reported on the way."""
    if _INTERMEDIATE in store.columns.get("trial_intermediate_values", ()):
        kind = store.name_column("trial_intermediate_values", "intermediate_value_type")
        query = (
            f"SELECT step, intermediate_value, {kind} FROM trial_intermediate_values "  # noqa: S608 - our names
            "WHERE trial_id = ? ORDER BY step"
        )
        for step, value, type_ in store.select(query, (trial,)):
            builder.add_cell(_INTERMEDIATE, step, _INFINITIES.get(type_, value))


def _read_params(store: SqliteStore, trial: int) -> dict[str, Setting]:
    if "param_name" not in store.columns.get("trial_params", ()):
        return {}
    columns = "param_name, param_value, distribution_json"
    query = f"SELECT {columns} FROM trial_params WHERE trial_id = ? ORDER BY param_id"  # noqa: S608 - our own
    params: dict[str, Setting] = {}
    for name, value, distribution in store.select(query, (trial,)):
        if value is not None:
            params[str(name)] = _choose_param(value, distribution)
    return params


def _choose_param(value: float, distribution: object) -> Setting:
    """Return a parameter as it was suggested, of which the value of a category is its index."""
    described = parse_object(str(distribution)) or {}
    choices = as_list(as_mapping(described.get("attributes")).get("choices"))
    whole = str(described.get("name")).startswith("Int") and float(value).is_integer()
    chosen = int(value) if whole else value
    chosen = choices[int(value)] if choices and 0 <= value < len(choices) else chosen
    return chosen if isinstance(chosen, str | int | float) else str(chosen)


class _Trial(Struct):
    """Trial of a journal, as far as it was replayed."""

    study: int
    number: int
    state: object = 0
    end: object = None
    values: list[Any] = field(default_factory=list)
    reports: dict[float, Any] = field(default_factory=dict)
    config: dict[str, Setting] = field(default_factory=dict)

    def apply(self, item: Mapping[str, Any]) -> None:
        """Apply an operation, or the state in which the trial was created."""
        self.state = item.get("state", self.state)
        self.end = item.get("datetime_complete", self.end)
        if values := as_list(item.get("values")) or [one for one in (item.get("value"),) if one is not None]:
            self.values = values
        reports = as_mapping(item.get("intermediate_values"))
        reports |= {as_word(item["step"]): item.get(_INTERMEDIATE)} if "step" in item else {}
        self.reports |= {number_or_nan(step): cell for step, cell in reports.items()}
        params, kinds = as_mapping(item.get("params")), as_mapping(item.get("distributions"))
        if name := as_word(item.get("param_name")):
            params, kinds = {name: item.get("param_value_internal")}, {name: item.get("distribution")}
        for key, value in params.items():
            if isinstance(value, int | float):
                self.config[key] = _choose_param(value, kinds.get(key))


def _read_journal(path: Path, selected: Collection[str] | None) -> Iterator[LoggedRun]:
    """Yield the trials of all studies that were not deleted."""
    lines, trials = JsonLines(path), list[_Trial]()
    studies: list[tuple[str, tuple[str, ...]]] = []
    deleted = set[int]()
    counts: Counter[int] = Counter()
    for item in lines.read_objects():
        code, study, place = (_get_int(item.get(key)) for key in ("op_code", "study_id", "trial_id"))
        if code == _CREATE_STUDY:
            ways = (_get_item(_WAYS, one) for one in as_list(item.get("directions")))
            studies.append((as_word(item.get("study_name")), tuple(ways)))
        elif code == _DELETE_STUDY:
            deleted.add(study)
        elif code == _CREATE_TRIAL:
            trials.append(_Trial(study, counts[study]))
            counts[study] += 1
            trials[-1].apply(item)
        elif 0 <= place < len(trials):
            trials[place].apply(item)
    findings = tuple(lines.list_findings())
    for trial in trials:
        if trial.study in deleted or not 0 <= trial.study < len(studies):
            continue
        name, directions = studies[trial.study]
        builder, time = MetricsBuilder(path, selected, timed=True), number_or_nan(parse_time(trial.end))
        state = _get_item(_STATES, trial.state)
        values = [math.nan] * len(directions) if state in _UNFINISHED else trial.values
        for metric, value in zip(_name_objectives(len(values)), values, strict=True):
            builder.add_cell(metric, trial.number, value, time)
        for step, cell in trial.reports.items():
            builder.add_cell(_INTERMEDIATE, step, cell)
        config = {**trial.config, "state": state}
        config |= {"direction": directions[0]} if len(directions) == 1 else {}
        found, findings = (*findings, *builder.list_findings()), ()
        better = _name_directions(directions)
        id_ = f"{name} {trial.number}"
        yield LoggedRun(path, name, id_, "", config, builder.build(), "step", found, better)


def _get_int(cell: object) -> int:
    return cell if type(cell) is int else -1


def _get_item(names: Sequence[str], place: object) -> str:
    return names[place] if 0 <= (place := _get_int(place)) < len(names) else ""


def _parse_setting(cell: str) -> Setting:
    number = parse_number_text(cell)
    if number is None:
        return cell
    return int(number) if cell.isdecimal() and number.is_integer() else number


def _read_table(path: Path, selected: Collection[str] | None) -> Iterator[LoggedRun]:
    """Yield the trials of a table that ``trials_dataframe`` made."""
    decoding, strange = Decoder(path), Count()
    reader = csv.reader(line.replace("\r", "") for _, line in decoding.read_lines())
    header = next(reader, [])
    runs = []
    for cells in reader:
        row = dict(zip(header, cells, strict=False))
        number = parse_number_text(row.get("number", ""))
        if len(cells) != len(header) or number is None:
            strange.add(None)
            continue
        builder = MetricsBuilder(path, selected, timed=True)
        time = number_or_nan(parse_time(row.get("datetime_complete")))
        config: dict[str, Setting] = {"state": row.get("state", "")}
        is_final = row.get("state", "").rpartition(".")[2] not in _UNFINISHED
        for name, cell in row.items():
            if name == _VALUE or name.startswith("values_"):
                builder.add_cell(name, number, cell if is_final else math.nan, time)
            for part in ("params_", "user_attrs_"):
                if name.startswith(part) and cell:
                    config[name.removeprefix(part)] = _parse_setting(cell)
        runs.append((config, builder))
    message = " with another number of cells than the header, or without a number: left out"
    findings = (*strange.describe(path, "row", "rows", message), *decoding.list_findings())
    for index, (config, builder) in enumerate(runs):
        found = findings if not index else ()
        yield LoggedRun(
            path, path.stem, f"{path.stem} {index}", "", config, builder.build(), "step", tuple(found)
        )
