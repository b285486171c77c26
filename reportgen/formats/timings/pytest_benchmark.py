"""Results of pytest-benchmark: ``pytest --benchmark-json FILE`` or ``--benchmark-save-data``.

Schema: ionelmc/pytest-benchmark, src/pytest_benchmark/session.py and stats.py: ``machine_info``,
``commit_info``, and ``benchmarks`` with ``fullname`` and ``stats``, whose ``data`` are the seconds of each
round. What is saved without them has only their mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.formats.files import get_stem
from reportgen.formats.json_files import as_list, as_mapping, as_word, read_json_object
from reportgen.formats.timings.repetitions import Repetitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import LoggedRun, Setting, Unit


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield a run for each round; a file is a series, and each test a metric in seconds."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    rounds, series = Repetitions(path), get_stem(path)
    for entry in map(as_mapping, as_list(document.get("benchmarks"))):
        name, stats = as_word(entry.get("fullname") or entry.get("name")), as_mapping(entry.get("stats"))
        data = as_list(stats.get("data"))
        if not data:
            rounds.single.append(name)
        rounds.add(series, name, data or [stats.get("mean")])
    commit, machine = (as_mapping(document.get(key)) for key in ("commit_info", "machine_info"))
    said: dict[str, Setting] = {
        "commit": as_word(commit.get("id"))[:12],
        "branch": as_word(commit.get("branch")),
    }
    said |= {"machine": as_word(machine.get("node")), "dirty": commit.get("dirty") is True}
    config = {key: value for key, value in said.items() if value}
    yield from rounds.list_runs(config, findings, "save them with pytest --benchmark-save-data")
