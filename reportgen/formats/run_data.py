"""Data of a run while it is read: metrics that grow value by value, and settings from files near a log."""

from __future__ import annotations

import json
import math
import re
from array import array
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.core.errors import Diagnostics
from reportgen.core.words import format_count, join_names
from reportgen.formats.runs import Finding, Points, UnreadableError
from reportgen.formats.text_files import Decoder, read_whole
from reportgen.settings.text import normalise_text
from reportgen.settings.yaml_tree import Origin, parse, to_values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting


MOST_POINTS: Final = 10_000_000
MOST_METRICS: Final = 100_000
_FEW: Final = 3
_LONGEST_NAME: Final = 60


def parse_number(cell: object) -> float | None:
    """A cell as a number: also ``true``, ``"0.5"``, ``"NaN"``, ``"-Infinity"``; None where it is none."""
    if isinstance(cell, float):
        return cell
    if isinstance(cell, int):
        try:
            return float(cell)
        except OverflowError:
            return None
    return parse_number_text(cell) if isinstance(cell, str) else None


def parse_number_text(text: str) -> float | None:
    """A text as a number; None where it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    # Python also reads 1_000 and digits of other scripts.
    return value if text.isascii() and "_" not in text else None


def check_metric_count(metrics: int, path: Path) -> None:
    """See that a run has not too many metrics, as where each step has names of its own.

    Raises:
        UnreadableError: it has.
    """
    if metrics > MOST_METRICS:
        message = f"the run has more than {MOST_METRICS:,} metrics"
        raise UnreadableError(path, message, "Name those to be read with metrics: in source.yml")


class MetricsBuilder:
    """The metrics of one run.

    ``add`` takes one value, ``extend`` many of one metric; ``count_dropped`` counts a cell that is no number.
    """

    def __init__(self, path: Path, selected: Collection[str] | None = None, *, timed: bool = False) -> None:
        self._path = path
        self._selected = selected
        self._timed = timed
        self._columns: dict[str, tuple[array[float], array[float], array[float]]] = {}
        self._dropped: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def is_selected(self, name: str) -> bool:
        """Whether somebody asked for this metric."""
        return self._selected is None or name in self._selected

    def add(self, name: str, step: float, value: float, time: float = math.nan) -> None:
        """Put a value behind the others of its metric.

        Raises:
            UnreadableError: the metric has too many, or the run has too many metrics.
        """
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
            raise self._describe_excess(name)

    def extend(self, name: str, steps: FloatArray, values: FloatArray) -> None:
        """Put values behind the others of their metric, in a log without times; see ``add``."""
        if not self.is_selected(name) or not len(values):
            return
        column = self._columns.setdefault(name, (array("d"), array("d"), array("d")))
        check_metric_count(len(self._columns), self._path)
        column[0].frombytes(steps.tobytes())
        column[1].frombytes(values.tobytes())
        if len(column[0]) > MOST_POINTS:
            raise self._describe_excess(name)

    def count_dropped(self, name: str, count: int = 1) -> None:
        """Count cells of a metric that are no numbers."""
        if count and self.is_selected(name):
            self._dropped[name] = self._dropped.get(name, 0) + count

    def build(self) -> dict[str, Points]:
        """Every metric that has a value, in the order of first appearance; an infinite step is none."""
        return {
            name: Points(
                _finite(np.frombuffer(steps, np.float64)),
                np.frombuffer(values, np.float64),
                np.frombuffer(times, np.float64) if times and not np.isnan(times).all() else None,
            )
            for name, (steps, values, times) in self._columns.items()
        }

    def list_findings(self) -> Iterator[Finding]:
        """At most one: cells that are no numbers in metrics that have some; a column of words is no fault."""
        mixed = {name: count for name, count in self._dropped.items() if name in self._columns}
        if mixed:
            cells = format_count(sum(mixed.values()), "value that is no number", "values that are no numbers")
            names = join_names([_quote(name) for name in mixed], most=_FEW)
            yield Finding(self._path, f"{cells} in {names}: left out")

    def _describe_excess(self, name: str) -> UnreadableError:
        message = f"the metric {_quote(name)} has more than {MOST_POINTS:,} values"
        return UnreadableError(self._path, message, "Thin it out before it is read")


def _finite(steps: FloatArray) -> FloatArray:
    steps[np.isinf(steps)] = np.nan
    return steps


def _quote(name: str) -> str:
    """A name for a message: one line, not too long."""
    line = " ".join(name.split())
    return f'"{line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"}"'


_LONGEST: Final = 2_000_000
_MOST_SETTINGS: Final = 10_000
# How Python's writer puts down a class or function: its name is in the tag, and the value is empty.
_NAMED: Final = re.compile(r"!!python/(?:name|module):([\w.]+)[ \t]+''")


def read_settings(path: Path) -> tuple[dict[str, Setting], tuple[Finding, ...]]:
    """What a ``.json``, ``.yaml`` or ``.yml`` file sets; a file that cannot be read is a finding.

    YAML tags run nothing: what stands behind one is taken as the text or tree that it is.
    """
    decoding = Decoder(path)
    try:
        text = decoding.decode(read_whole(path, _LONGEST))
    except UnreadableError as error:
        return {}, (Finding(path, f"{error.message}; the settings in it are left out", error.line),)
    problems: list[Finding] = []
    tree = _parse_json(path, text, problems) if path.suffix == ".json" else _parse_yaml(path, text, problems)
    if not isinstance(tree, dict) and not problems:
        what = "holds no names with values" if text.strip() else "is empty"
        problems.append(Finding(path, f"the file {what}: the run has no settings from it"))
    return flatten(tree), (*problems, *decoding.list_findings())


def flatten(tree: object) -> dict[str, Setting]:
    """Nested names joined by dots, lists, NaN and infinities as JSON; what is null or empty is left out."""
    found: dict[str, Setting] = {}
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting and len(found) < _MOST_SETTINGS:
        name, value = waiting.pop()
        if isinstance(value, dict):
            children = [(f"{name}.{key}" if name else str(key), child) for key, child in value.items()]
            waiting += reversed(children)
        elif isinstance(value, list):
            # A list of lists of lists may be deeper than Python recurses; nobody compares runs by one.
            if name and value and not any(isinstance(item, list | dict) for item in value):
                found[name] = json.dumps(value, ensure_ascii=False)
        elif name and isinstance(value, str | int | float) and value != "":
            found[name] = as_json_setting(value)
    return found


def as_json_setting(value: Setting) -> Setting:
    """A setting that can be a number of JSON: NaN and infinities become their names there."""
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value


def _parse_json(path: Path, text: str, problems: list[Finding]) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        problems.append(Finding(path, "this is no whole JSON; the settings in it are left out"))
        return None


def _parse_yaml(path: Path, text: str, problems: list[Finding]) -> object:
    problems_found = Diagnostics()
    with problems_found.collecting():
        tree = parse(_NAMED.sub(r"\1", normalise_text(text)), Origin(path.name), any_tag=True)
        return to_values(tree) if tree else None
    first = problems_found.found[0]
    message = f"{first.message}; the settings in this file are left out"
    problems.append(Finding(path, message, first.location.line))
    return None
