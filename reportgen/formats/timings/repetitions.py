"""Repetitions of timings as finished runs: the n-th of every benchmark of a file is its n-th run."""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from reportgen.core.words import format_count, join_names
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import LoggedRun, Points, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import Setting


class Repetitions(Struct):
    """Values of each benchmark of each series of a file, in the order of writing."""

    path: Path
    values: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(dict))
    is_time: Callable[[str], bool] = field(default=lambda _name: True)  # whether less of it is better
    single: list[str] = field(default_factory=list)  # benchmarks of which only a summary is there

    def add(self, series: str, benchmark: str, cells: Iterable[object]) -> None:
        """Add what was measured of a benchmark; cells that are no numbers are left out."""
        found = [value for value in map(parse_number, cells) if value is not None and np.isfinite(value)]
        self.values[series].setdefault(benchmark, []).extend(found)

    def list_runs(
        self, config: Mapping[str, Setting], findings: Iterable[Diagnostic], advice: str
    ) -> Iterator[LoggedRun]:
        """Yield the runs; ``advice`` says how repetitions are written where only a summary is there.

        Raises ``UnreadableError`` if no benchmark has a value.
        """
        problems = [*findings]
        if self.single:
            names = join_names(self.single, most=3)
            said = format_count(len(self.single), "benchmark has", "benchmarks have")
            problems.append(warn(self.path, f"{said} a summary and no repetitions ({names}): {advice}"))
        if not any(values for own in self.values.values() for values in own.values()):
            raise UnreadableError(self.path, f"no benchmark in it has a value: {advice}")
        for series, own in self.values.items():
            for number, row in enumerate(zip_longest(*own.values()), start=1):
                values = {name: value for name, value in zip(own, row, strict=True) if value is not None}
                metrics = {name: Points(np.zeros(1), np.array([value])) for name, value in values.items()}
                better = {name: False for name in values if self.is_time(name)}
                name, text = f"{number}", tuple(problems)
                yield LoggedRun(self.path, series, name, "", config, metrics, "repetition", text, better)
                problems = []
