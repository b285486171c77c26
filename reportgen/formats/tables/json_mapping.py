"""The keys of ``source.yml`` that map a JSON file which is no table, from the keys that it has."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.core.score_names import is_run_score
from reportgen.core.words import join_names
from reportgen.formats.layout import BENCHMARKS, ENDED_WELL, ROLE_NAMES, STATE_NAMES
from reportgen.settings.yaml_tree import write_flow, write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MOST_KEYS: Final = 8
_MOST_FIELDS: Final = 40
_DEEPEST: Final = 6
_PLAIN: Final = re.compile(r"[$^][\w.]*")


class _Leaf(Struct, frozen=True):
    """A single value in a row, with its last key and its path."""

    name: str
    path: str
    value: str | float

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value, str | bool)


class _Rows(Struct, frozen=True):
    """Where rows are, these, what stands around them, and the path to what names each."""

    path: str
    rows: Sequence[Mapping[str, Any]]
    around: Mapping[str, Any]
    key: str = ""

    @property
    def first(self) -> Mapping[str, Any]:
        return self.rows[0]

    @property
    def place(self) -> str:
        """The key of ``source.yml`` for the path; nothing for a list or lines, whose items are rows."""
        return f"rows: {self.path}, " if self.path else ""


def suggest_mapping(document: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return the next step for JSON that is no table, with the keys that map it; "" if none are known."""
    if isinstance(document, list) and document and all(isinstance(row, list) for row in document):
        mapped = "format: mapped, rows: $[*][*] and columns: {problem: ^@, sample: '@', score: $}"
        return f"If each list has the scores of a problem, say {mapped} in source.yml"
    several = _list_rows(document)
    for rows in several:
        leaves = [*_list_leaves(rows.first, "$"), *_list_leaves(rows.around, "^", depth=_DEEPEST)]
        keys = _map_leaves(leaves, rows)
        if keys and len(leaves) <= _MOST_FIELDS:
            return f"Say {keys} in source.yml, or leave the file out with files:"
    if not several:
        return _suggest_total(document) if isinstance(document, dict) else ""
    rows = several[0]
    names = join_names([*rows.first], most=_MOST_KEYS)
    place = f", rows: {rows.path}" if rows.path else ""
    mapped = f"format: mapped{place} and columns:"
    return "" if rows.first is document else f"Say {mapped} in source.yml; a row has {names}"


def has_named_rows(document: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Return whether an object has rows of single cells by the names of series, which share a key."""
    rows = list(document.values()) if isinstance(document, dict) else []
    if len(rows) < 2 or not all(isinstance(row, dict) for row in rows):  # noqa: PLR2004 - a row is no table
        return False
    is_flat = not any(isinstance(cell, dict | list) for row in rows for cell in row.values())
    return is_flat and bool(set.intersection(*({*row} for row in rows)))


def _list_rows(document: Any) -> list[_Rows]:  # noqa: ANN401 - whatever JSON holds
    """Return what may be the rows: items of lists, objects with the same keys, or the file itself."""
    if _is_list_of_objects(document):
        return [_Rows("", document, {})]
    if not isinstance(document, dict) or not document:
        return []
    lists = {name: rows for name, rows in document.items() if _is_list_of_objects(rows)}
    if len(lists) == len(document) > 1:
        return [_Rows("$[*][*]", [row for every in lists.values() for row in every], {}, "^@")]
    objects = [one for one in document.values() if isinstance(one, dict) and one]
    if len(objects) == len(document) > 1 and all({*one} == {*objects[0]} for one in objects):
        return [_Rows("$[*]", objects, {}, "@")]
    found = _find_lists(document, "$", document)
    return [*found, *([_Rows("$", [document], {})] if objects and not lists else [])]


def _find_lists(
    item: Mapping[str, Any], path: str, around: Mapping[str, Any], depth: int = 0
) -> Iterator[_Rows]:
    """Yield the lists of objects at any depth, those of an object before those below it."""
    lists = {name: one for name, one in item.items() if _is_list_of_objects(one)}
    yield from (_Rows(f"{_join(path, name)}[*]", rows, around) for name, rows in lists.items())
    for name, one in item.items() if depth < _DEEPEST else ():
        if isinstance(one, dict):
            yield from _find_lists(one, _join(path, name), around, depth + 1)
        elif name in lists:
            yield from _find_lists(one[0], f"{_join(path, name)}[*]", one[0], depth + 1)


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) and row for row in value)


def _list_leaves(item: Mapping[str, Any], path: str, depth: int = 0) -> Iterator[_Leaf]:
    for name, value in item.items():
        below = _join(path, name)
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _list_leaves(value, below, depth + 1)
        elif isinstance(value, str | int | float):
            yield _Leaf(name, below, value)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name, ensure_ascii=False)}]"


def _map_leaves(leaves: list[_Leaf], rows: _Rows) -> str:
    """Return the keys for measurements at steps, or for results with a usual metric; "" for others."""
    columns = {"series": rows.key} if rows.key else {}
    known = {role: ROLE_NAMES[role] for role in ("series", "run", "seed", "step")} | {"benchmark": BENCHMARKS}
    numbers = {leaf.path for leaf in leaves if leaf.is_number}
    named = {leaf.name.casefold(): leaf.path for leaf in reversed(leaves)}
    for role, usual in known.items():
        found = next((named[name] for name in usual if name in named), "")
        if found and (role != "step" or found in numbers):
            columns.setdefault(role, found)
    if "step" in columns or "series" not in columns:
        columns.pop("benchmark", None)
    names: dict[str, str] = {}
    for leaf in leaves:
        if leaf.path not in columns.values():
            # Of two equal names the second one is named by its whole path.
            names[leaf.path.lstrip("$^.") if leaf.name in names else leaf.name] = leaf.path
    if "step" not in columns:
        scores = (name for name, path in names.items() if path in numbers)
        metrics = [name for name in scores if is_run_score(name.rpartition(".")[2])]
        return _write_results(columns, names, metrics, rows) if metrics else ""
    fields = {name: path for name, path in names.items() if path in numbers}
    keys = f"format: mapped, {rows.place}{_write('columns', columns)} and {_write('fields', fields)}"
    return keys if fields and rows.path != "$" else ""


def _write_results(
    columns: Mapping[str, str], names: Mapping[str, str], metrics: Sequence[str], rows: _Rows
) -> str:
    """Return the keys for scores of benchmarks, otherwise for finished runs; "" if no state ended well."""
    states = _find_states(names, rows)
    ended = {name: [one for one in cells if one.casefold() in ENDED_WELL] for name, cells in states.items()}
    if any(len(cells) > 1 and not ended[name] for name, cells in states.items()):
        return ""  # the author has to choose some
    chosen = {name: cells for name, cells in ended.items() if cells}
    are_totals = "benchmark" in columns
    if are_totals:
        columns = {**columns, "score": names[metrics[0]]}
        names = {name: names[name] for name in chosen}
    parts = [_write("columns", columns)] if columns else []
    parts += [_write("fields", names)] if names else []
    parts += [] if are_totals else [f"metrics: {write_flow(metrics)}"]
    parts += [f"filter: {write_flow(chosen)}"] if chosen else []
    return f"format: mapped, form: {'totals' if are_totals else 'runs'}, {rows.place}{join_names(parts)}"


def _find_states(names: Mapping[str, str], rows: _Rows) -> dict[str, list[str]]:
    """Return the states by the fields, with their paths, that say how runs ended."""
    paths = {name: path for name, path in names.items() if name.rpartition(".")[2].casefold() in STATE_NAMES}
    leaves = [{one.path: one.value for one in _list_leaves(row, "$")} for row in rows.rows if paths]
    return {name: [*dict.fromkeys(str(row.get(path, "")) for row in leaves)] for name, path in paths.items()}


def _write(key: str, items: Mapping[str, str]) -> str:
    """Write a key of names and paths, whose signs ``$`` and ``^`` YAML takes without quotes."""
    paths = (
        path if _PLAIN.fullmatch(path) else json.dumps(path, ensure_ascii=False) for path in items.values()
    )
    pairs = zip(map(write_scalar, items), paths, strict=True)
    return f"{key}: {{{', '.join(f'{name}: {path}' for name, path in pairs)}}}"


def _suggest_total(table: Mapping[str, Any]) -> str:
    """Return the keys that map the score in a file whose name says model and benchmark; "" without one."""
    usual = [name for name, cell in table.items() if isinstance(cell, int | float) and is_run_score(name)]
    score = "score" if isinstance(table.get("score"), int | float) else next(iter(usual), "")
    if not score:
        return ""
    keys = f"format: mapped, form: totals, rows: $, {_write('columns', {'score': _join('$', score)})}"
    pattern = "files: (?P<benchmark>[^_]+)_(?P<series>.+)[.]json"
    return f"If its name says model and benchmark, say {keys} and a pattern such as {pattern} in source.yml"
