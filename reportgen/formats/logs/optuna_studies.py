"""Studies of Optuna: each trial is a run, with its parameters as settings and its values.

Schema: optuna/optuna, optuna/storages/_rdb/models.py: tables ``studies``, ``study_directions``, ``trials``,
``trial_params``, ``trial_values`` and ``trial_intermediate_values``. Since version 3 a type beside a value
marks infinities and NaN, which are NULL. A categorical parameter is the index into the choices of its
distribution. optuna/study/_dataframe.py, ``Study.trials_dataframe()``: columns ``number``, ``value`` or
``values_0``, ``params_NAME`` and ``state``. optuna/storages/journal/_storage.py: JSON Lines with an operation
each, by ``op_code``; trials and studies are numbered in the order of their creation. A study is a series: its
trials are points of one search.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

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
    ending = get_ending(unit.path)
    readers = {".csv": _read_table, **dict.fromkeys(_JOURNALS, _read_journal)}
    yield from readers.get(ending, _read_store)(unit.path, unit.selected)


class _Trial(Struct):
    """Trial of a study, as far as it is known."""

    study: int
    number: float
    state: str = ""
    end: object = None
    values: list[Any] = field(default_factory=list)  # of all objectives
    reports: dict[float, Any] = field(default_factory=dict)  # by step
    config: dict[str, Setting] = field(default_factory=dict)


def _make_run(
    path: Path, study: str, ways: Sequence[str], trial: _Trial, selected: Collection[str] | None
) -> LoggedRun:
    """Return a trial as a run; ``ways`` say whether each objective should be minimized or maximized."""
    builder, time = MetricsBuilder(path, selected, timed=True), number_or_nan(parse_time(trial.end))
    names = _name_objectives(len(ways) or len(trial.values) or 1)
    is_final = trial.state.rpartition(".")[2] not in _UNFINISHED
    for name, value in zip(names, trial.values if is_final else [math.nan] * len(names), strict=False):
        builder.add_cell(name, trial.number, value, time)
    for step, cell in trial.reports.items():
        builder.add_cell(_INTERMEDIATE, step, cell)
    config = {**trial.config, "state": trial.state, **({"direction": ways[0]} if len(ways) == 1 else {})}
    # A study of several objectives reports nothing on the way.
    better = zip((*names, _INTERMEDIATE), (*ways, *ways) if len(ways) == 1 else ways, strict=False)
    return LoggedRun(
        path,
        study,
        f"{study} {trial.number:.0f}",
        config=config,
        metrics=builder.build(),
        findings=tuple(builder.list_findings()),
        higher_is_better={name: way == "maximize" for name, way in better if way in {"minimize", "maximize"}},
    )


def _name_objectives(count: int) -> tuple[str, ...]:
    return (_VALUE,) if count == 1 else tuple(f"values_{number}" for number in range(count))


def _read_store(path: Path, selected: Collection[str] | None) -> Iterator[LoggedRun]:
    with open_store(path) as store:
        store.check_columns("trials", _COLUMNS, "study of Optuna")
        names = {study: str(name) for study, name in _select(store, "studies", "study_id", "study_name")}
        ways: dict[int, list[str]] = defaultdict(list)
        for study, _, way in _select(store, "study_directions", "study_id", "objective", "direction"):
            ways[study].append(str(way).lower())
        rows = _select(store, "trials", "study_id", "number", "trial_id", "state", "datetime_complete")
        trials = {key: _Trial(study, number, str(state), end) for study, number, key, state, end in rows}
        lost = _Trial(0, 0)  # what damage left of a trial without its row
        for key, _, value, kind in _select(
            store, "trial_values", "trial_id", "objective", "value", "value_type"
        ):
            trials.get(key, lost).values.append(_INFINITIES.get(kind, value))
        if "value" in store.columns["trials"]:  # before version 2.4
            for key, _, value in _select(store, "trials", "trial_id", "number", "value"):
                trials.get(key, lost).values += [value] if value is not None else []
        reports = ("trial_id", "step", _INTERMEDIATE, f"{_INTERMEDIATE}_type")
        for key, step, value, kind in _select(store, "trial_intermediate_values", *reports):
            trials.get(key, lost).reports[number_or_nan(step)] = _INFINITIES.get(kind, value)
        params = ("trial_id", "param_id", "param_name", "param_value", "distribution_json")
        for key, _, name, value, distribution in _select(store, "trial_params", *params):
            if value is not None:
                trials.get(key, lost).config[str(name)] = _choose_param(value, distribution)
        findings = tuple(store.list_findings())
        for trial in trials.values():
            run = _make_run(path, names.get(trial.study, ""), ways[trial.study], trial, selected)
            yield replace(run, findings=(*run.findings, *findings))
            findings = ()


def _select(store: SqliteStore, table: str, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield cells of a table by its first two columns, of trials that there are; none if it has not these."""
    if not {*names[:2]} <= store.columns.get(table, frozenset()):
        return iter(())
    columns = ", ".join(store.name_column(table, name) for name in names)
    known = "WHERE trial_id IN (SELECT trial_id FROM trials)" if names[0] == "trial_id" else ""
    order = "ORDER BY 1, 2"
    return store.select(f"SELECT {columns} FROM {table} {known} {order}")  # noqa: S608 - names of ours


def _choose_param(value: float, distribution: object) -> Setting:
    """Return a parameter as it was suggested, of which the value of a category is its index."""
    described = parse_object(str(distribution)) or {}
    choices = as_list(as_mapping(described.get("attributes")).get("choices"))
    whole = str(described.get("name")).startswith("Int") and float(value).is_integer()
    chosen = int(value) if whole else value
    chosen = choices[int(value)] if choices and 0 <= value < len(choices) else chosen
    return chosen if isinstance(chosen, str | int | float) else str(chosen)


def _read_journal(path: Path, selected: Collection[str] | None) -> Iterator[LoggedRun]:
    """Yield the trials of all studies that were not deleted."""
    lines, trials = JsonLines(path), list[_Trial]()
    studies: list[tuple[str, list[str]]] = []
    deleted = set[int]()
    counts: Counter[int] = Counter()
    for item in lines.read_objects():
        code, study, place = (_get_int(item.get(key)) for key in ("op_code", "study_id", "trial_id"))
        if code == _CREATE_STUDY:
            ways = [_get_item(_WAYS, one) for one in as_list(item.get("directions"))]
            studies.append((as_word(item.get("study_name")), ways))
        elif code == _DELETE_STUDY:
            deleted.add(study)
        elif code == _CREATE_TRIAL:
            trials.append(_Trial(study, counts[study], _STATES[0]))
            counts[study] += 1
            _apply(trials[-1], item)
        elif 0 <= place < len(trials):
            _apply(trials[place], item)
    findings = tuple(lines.list_findings())
    for trial in trials:
        if trial.study not in deleted and 0 <= trial.study < len(studies):
            run = _make_run(path, *studies[trial.study], trial, selected)
            yield replace(run, findings=(*findings, *run.findings))
            findings = ()


def _apply(trial: _Trial, item: Mapping[str, Any]) -> None:
    """Apply an operation of a journal, or the state in which the trial was created."""
    trial.state = _get_item(_STATES, item["state"]) if "state" in item else trial.state
    trial.end = item.get("datetime_complete", trial.end)
    if values := as_list(item.get("values")) or [one for one in (item.get("value"),) if one is not None]:
        trial.values = values
    reports = as_mapping(item.get("intermediate_values"))
    reports |= {as_word(item["step"]): item.get(_INTERMEDIATE)} if "step" in item else {}
    trial.reports |= {number_or_nan(step): cell for step, cell in reports.items()}
    params, kinds = as_mapping(item.get("params")), as_mapping(item.get("distributions"))
    if name := as_word(item.get("param_name")):
        params, kinds = {name: item.get("param_value_internal")}, {name: item.get("distribution")}
    for key, value in params.items():
        if isinstance(value, int | float):
            trial.config[key] = _choose_param(value, kinds.get(key))


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
    runs: list[LoggedRun] = []
    for cells in reader:
        row = dict(zip(header, cells, strict=False))
        number = parse_number_text(row.get("number", ""))
        if len(cells) != len(header) or number is None:
            strange.add(None)
            continue
        trial = _Trial(0, number, row.get("state", ""), row.get("datetime_complete"))
        trial.values = [cell for name, cell in row.items() if name == _VALUE or name.startswith("values_")]
        for part in ("params_", "user_attrs_"):
            own = {
                name.removeprefix(part): cell for name, cell in row.items() if name.startswith(part) and cell
            }
            trial.config |= {name: _parse_setting(cell) for name, cell in own.items()}
        runs.append(_make_run(path, path.stem, (), trial, selected))
    message = " with another number of cells than the header, or without a number: left out"
    findings = (*strange.describe(path, "row", "rows", message), *decoding.list_findings())
    for run in runs:
        yield replace(run, findings=(*findings, *run.findings))
        findings = ()
