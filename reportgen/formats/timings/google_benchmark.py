"""Results of Google Benchmark: ``--benchmark_out=FILE --benchmark_out_format=json``.

Schema: google/benchmark, src/json_reporter.cc: ``context`` and ``benchmarks`` with ``run_name``,
``run_type``, ``real_time`` and ``time_unit``; each of ``--benchmark_repetitions`` is an entry, and aggregates
of them are others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.formats.files import get_stem
from reportgen.formats.json_files import as_list, as_mapping, as_word, read_json_object
from reportgen.formats.run_data import parse_number
from reportgen.formats.timings.repetitions import Repetitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import LoggedRun, Unit

_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield a run for each repetition; a file is a series, and each benchmark a metric in seconds."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    repeated, series = Repetitions(path), get_stem(path)
    for entry in map(as_mapping, as_list(document.get("benchmarks"))):
        if entry.get("run_type", "iteration") != "iteration" or entry.get("error_occurred"):
            continue
        time = parse_number(entry.get("real_time"))
        unit_size = _SECONDS.get(as_word(entry.get("time_unit")) or "ns")
        name = as_word(entry.get("run_name") or entry.get("name"))
        if time is not None and unit_size is not None:
            repeated.add(series, name, [time * unit_size])
    host = as_word(as_mapping(document.get("context")).get("host_name"))
    advice = "write them with --benchmark_repetitions and without --benchmark_report_aggregates_only"
    yield from repeated.list_runs({"machine": host} if host else {}, findings, advice)
