"""Building blocks of run readers: metrics that grow value by value, and settings from files near a log."""

from __future__ import annotations

import json
import math
import re
from array import array
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from reportgen.core.errors import Diagnostics
from reportgen.core.words import format_count, join_names
from reportgen.formats.cells import is_missing, parse_percent
from reportgen.formats.decode import Decoder, read_whole
from reportgen.formats.json_files import iterate_cells
from reportgen.formats.runs import Points, UnreadableError, warn
from reportgen.settings.text import normalise_text, shorten
from reportgen.settings.yaml_tree import Origin, parse, to_values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting
    from reportgen.settings.yaml_tree import Node


MOST_POINTS: Final = 10_000_000
MOST_METRICS: Final = 100_000
FEW_NAMES: Final = 3
"""Number of metrics that a finding names."""
_LONGEST_NAME: Final = 60
# With fewer rows per set of keys on average, arrays do not pay off.
_FEWEST_OF_SHAPE: Final = 8


def parse_number(cell: object) -> float | None:
    """Return a cell as a number, also ``true``, ``"0.5"``, ``"51.2%"`` and ``"-Infinity"``; else None."""
    if isinstance(cell, float):
        return cell
    if isinstance(cell, int):
        try:
            return float(cell)
        except OverflowError:
            return None
    return parse_number_text(cell) if isinstance(cell, str) else None


def parse_number_text(text: str) -> float | None:
    """Return a text as a number, a percentage as a share; None if it is not one."""
    try:
        value = float(text)
    except ValueError:
        return parse_percent(text)
    # Python also accepts 1_000 and digits of other scripts.
    return value if text.isascii() and "_" not in text else None


def number_or_nan(cell: object) -> float:
    """Return a cell as a number; NaN if it is not one."""
    value = parse_number(cell)
    return math.nan if value is None else value


def parse_time(cell: object) -> float | None:
    """Parse an ISO 8601 time as milliseconds since 1970 UTC; without a zone it is UTC; None for others."""
    if not isinstance(cell, str):
        return None
    try:
        moment = datetime.fromisoformat(cell)
        return 1000 * (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def check_metric_count(metrics: int, path: Path) -> None:
    """Raise ``UnreadableError`` for too many metrics, as when each step has its own names."""
    if metrics > MOST_METRICS:
        message = f"the run has more than {MOST_METRICS:,} metrics"
        raise UnreadableError(path, message, "Name those to be read with metrics: in source.yml")


def check_value_count(values: int, path: Path, name: str) -> None:
    """Raise ``UnreadableError`` for a metric with too many values."""
    if values > MOST_POINTS:
        message = f"the metric {quote_metric(name)} has more than {MOST_POINTS:,} values"
        raise UnreadableError(path, message, "Thin it out before it is read")


def describe_dropped(path: Path, dropped: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Yield at most one finding: the cells that are not numbers, counted over all metrics."""
    if dropped:
        cells = format_count(sum(dropped.values()), "value that is no number", "values that are no numbers")
        names = join_names([quote_metric(name) for name in dropped], most=FEW_NAMES)
        yield warn(path, f"{cells} in {names}: left out")


def quote_metric(name: str) -> str:
    """Return a metric's name for a message, shortened to one line."""
    return f'"{shorten(name, _LONGEST_NAME)}"'


Row: TypeAlias = "tuple[float, float, Mapping[str, Any]]"
"""Step, time and cells of a row, which may be nested."""


class MetricsBuilder:
    """Builder of one run's metrics: ``add`` appends one value, ``extend`` many of one metric.

    The methods raise ``UnreadableError`` for too many values of a metric, or too many metrics.
    """

    def __init__(self, path: Path, selected: Collection[str] | None = None, *, timed: bool = False) -> None:
        self._path = path
        self._selected = selected
        self._timed = timed
        self._columns: dict[str, tuple[array[float], array[float], array[float]]] = {}
        self._dropped: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def is_selected(self, name: str) -> bool:
        """Return whether this metric is read."""
        return self._selected is None or name in self._selected

    def add(self, name: str, step: float, value: float, time: float = math.nan) -> None:
        """Append a value to a metric."""
        column = self._columns.get(name)
        if column is None:
            if not self.is_selected(name):
                return
            column = self._columns[name] = (array("d"), array("d"), array("d"))
            check_metric_count(len(self._columns), self._path)
        column[0].append(step)
        column[1].append(value)
        if self._timed:
            column[2].append(time)
        if len(column[0]) > MOST_POINTS:
            check_value_count(len(column[0]), self._path, name)

    def add_cell(self, name: str, step: float, cell: object, time: float = math.nan) -> None:
        """Append a cell as a number; count one that is not a number, and skip a missing value."""
        value = parse_number(cell)
        if value is not None:
            self.add(name, step, value, time)
        elif not (cell is None or (isinstance(cell, str) and is_missing(cell))):
            self.count_dropped(name)

    def add_rows(self, rows: Sequence[Row], wrappers: frozenset[str] = frozenset()) -> None:
        """Append the cells of rows, with nested names joined as in ``iterate_cells``.

        Rows are read column by column if many have the same keys and all cells are numbers.
        """
        columns = _build_columns(rows, wrappers)
        if columns is None:
            for step, time, cells in rows:
                for name, cell in iterate_cells(cells, wrappers):
                    self.add_cell(name, step, cell, time)
            return
        for name, pieces in columns.items():
            # Restore the order of the rows across sets of keys.
            places, steps, times = np.concatenate([positions for positions, _ in pieces], axis=1)
            order = np.argsort(places, kind="stable")
            values = np.concatenate([column for _, column in pieces])
            self.extend(name, steps[order], values[order], times[order])

    def extend(
        self, name: str, steps: FloatArray, values: FloatArray, times: FloatArray | None = None
    ) -> None:
        """Append values to a metric; ``times`` are unknown if they are left out."""
        if not self.is_selected(name) or not len(values):
            return
        column = self._columns.setdefault(name, (array("d"), array("d"), array("d")))
        check_metric_count(len(self._columns), self._path)
        column[0].frombytes(steps.tobytes())
        column[1].frombytes(values.tobytes())
        if self._timed:
            known = np.full(len(values), np.nan) if times is None else times
            column[2].frombytes(known.tobytes())
        check_value_count(len(column[0]), self._path, name)

    def count_dropped(self, name: str, count: int = 1) -> None:
        """Count cells of a metric that are not numbers."""
        if count and self.is_selected(name):
            self._dropped[name] = self._dropped.get(name, 0) + count

    def build(self) -> dict[str, Points]:
        """Return every metric that has a value, in order of first appearance; infinite steps become NaN."""
        metrics = {}
        for name, column in self._columns.items():
            steps, values, times = (np.frombuffer(cells, np.float64) for cells in column)
            steps[np.isinf(steps)] = np.nan
            metrics[name] = Points(steps, values, None if np.isnan(times).all() else times)
        return metrics

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield at most one finding: values that are not numbers in metrics that have numbers."""
        mixed = {name: count for name, count in self._dropped.items() if name in self._columns}
        yield from describe_dropped(self._path, mixed)


def _build_columns(
    rows: Sequence[Row], wrappers: frozenset[str]
) -> dict[str, list[tuple[FloatArray, FloatArray]]] | None:
    """Return for each metric, by set of keys: indices, steps and times (3, n), and values (n,).

    Return None if rows are too different, or a cell is not a number: a text, a list, null, a number beyond a
    double, or an object within an object.
    """
    shapes: dict[tuple[Any, ...], list[int]] = {}
    for index, (_, _, cells) in enumerate(rows):
        nested = dict in map(type, cells.values())
        inner = [(name, *cell) for name, cell in cells.items() if isinstance(cell, dict)] if nested else ()
        shapes.setdefault((nested, *cells, *inner), []).append(index)
    if len(rows) < _FEWEST_OF_SHAPE * len(shapes):
        return None
    columns: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
    for (nested, *_), members in shapes.items():
        names = [name for name, _ in iterate_cells(rows[members[0]][2], wrappers)]
        numbers = chain.from_iterable(rows[index][2].values() for index in members)
        if nested:
            numbers = chain.from_iterable(
                cell.values() if isinstance(cell, dict) else (cell,) for cell in numbers
            )
        try:
            table = np.array(array("d", numbers)).reshape(len(members), len(names))
        except (TypeError, OverflowError, ValueError):
            return None
        positions = np.array([(index, *rows[index][:2]) for index in members], np.float64).T
        for place, name in enumerate(names):
            columns.setdefault(name, []).append((positions, table[:, place]))
    return columns


_LONGEST: Final = 2_000_000
_MOST_SETTINGS: Final = 10_000
# Python's YAML writer puts the name of a class or function in the tag, with an empty value.
_NAMED: Final = re.compile(r"!!python/(?:name|module):([\w.]+)[ \t]+''")

# It writes an ordered dictionary, as RL Zoo has, as a list that holds the list of its pairs.
_ORDERED: Final = "!!python/object/apply:collections.OrderedDict"


def read_settings(path: Path) -> tuple[dict[str, Setting], tuple[Diagnostic, ...]]:
    """Return the settings in a JSON or YAML file, whatever its tags; an unreadable file is a finding."""
    decoding = Decoder(path)
    try:
        text = decoding.decode(read_whole(path, _LONGEST))
    except UnreadableError as error:
        problem = error.problem
        message = f"{problem.message}; the settings in it are left out"
        return {}, (warn(path, message, problem.location.line),)
    tree: object = None
    problems: list[Diagnostic] = []
    if path.suffix == ".json":
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            problems.append(warn(path, "this is no whole JSON; the settings in it are left out"))
    else:
        node, fault = parse_yaml(path, _NAMED.sub(r"\1", text))
        tree = to_values(node) if node else None
        if fault:
            message = f"{fault.message}; the settings in this file are left out"
            problems.append(warn(path, message, fault.location.line))
    if _ORDERED in text and isinstance(tree, list) and tree and isinstance(tree[0], list):
        pairs = [pair for pair in tree[0] if isinstance(pair, list) and len(pair) == 2]  # noqa: PLR2004
        tree = {str(key): value for key, value in pairs}
    if not isinstance(tree, dict) and not problems:
        what = "holds no names with values" if text.strip() else "is empty"
        problems.append(warn(path, f"the file {what}: the run has no settings from it"))
    return flatten(tree), (*problems, *decoding.list_findings())


def parse_yaml(path: Path, text: str) -> tuple[Node | None, Diagnostic | None]:
    """Parse YAML with any tags; return the tree, if any, and the first problem if it is not valid."""
    collected = Diagnostics()
    with collected.collecting():
        return parse(normalise_text(text), Origin(path.name), any_tag=True), None
    return None, collected.found[0]


def flatten(tree: object) -> dict[str, Setting]:
    """Join nested names by dots; lists, NaN and infinities become JSON, null and empty are left out."""
    settings: dict[str, Setting] = {}
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting and len(settings) < _MOST_SETTINGS:
        name, value = waiting.pop()
        if isinstance(value, dict):
            children = [(f"{name}.{key}" if name else str(key), child) for key, child in value.items()]
            waiting += reversed(children)
        elif isinstance(value, list):
            # Deeper lists may exceed Python's recursion limit, and are no use for comparing runs.
            if name and value and not any(isinstance(item, list | dict) for item in value):
                settings[name] = json.dumps(value, ensure_ascii=False)
        elif name and isinstance(value, str | int | float) and value != "":
            settings[name] = as_json_setting(value)
    return settings


def as_json_setting(value: Setting) -> Setting:
    """Return a setting that JSON can hold: NaN and infinities become text."""
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
