"""Results of hyperfine: ``hyperfine --export-json FILE``.

Schema: sharkdp/hyperfine, src/benchmark/benchmark_result.rs: ``results`` with ``command``, the seconds of
each run in ``times``, ``exit_codes`` and ``parameters``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.core.words import format_count
from reportgen.formats.json_files import as_list, as_mapping, as_word, read_json_object
from reportgen.formats.runs import warn
from reportgen.formats.timings.repetitions import Repetitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import LoggedRun, Unit

_METRIC: Final = "seconds"


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield a run for each run of a command, which is a series; one that failed has no time."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    timed = Repetitions(path)
    for entry in map(as_mapping, as_list(document.get("results"))):
        command, times = as_word(entry.get("command")), as_list(entry.get("times"))
        codes = as_list(entry.get("exit_codes")) or [0] * len(times)
        ended = [time for time, code in zip(times, codes, strict=False) if code == 0]
        if failed := len(times) - len(ended):
            said = f"{format_count(failed, 'run')} of {command} failed: left out"
            findings = (*findings, warn(path, said))
        if not times:
            timed.single.append(command)
        timed.add(command, _METRIC, ended if times else [entry.get("mean")])
    yield from timed.list_runs({}, findings, "hyperfine writes them with --export-json")
