"""Results of asv (airspeed velocity): ``results/MACHINE/COMMIT-ENVIRONMENT.json``.

Schema: airspeed-velocity/asv, asv/results.py, version 2: ``results`` has a row for each benchmark, whose
cells are named by ``result_columns``: ``result``, the medians of all combinations of ``params``, and
``samples``, which are there with ``--record-samples``.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from reportgen.formats.json_files import as_list, as_mapping, as_word, read_json_object
from reportgen.formats.timings.repetitions import Repetitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.formats.runs import LoggedRun, Unit

_MEASURED: Final = ("time_", "timeraw_", "mem_", "peakmem_")  # track_ may be anything


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield a run for each sample; a commit is a series, and each combination of parameters a metric."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    sampled = Repetitions(path, is_time=lambda name: name.rpartition(".")[2].startswith(_MEASURED))
    commit = as_word(document.get("commit_hash"))[:12]
    columns = [*map(as_word, as_list(document.get("result_columns")))]
    for name, row in as_mapping(document.get("results")).items():
        cells = dict(zip(columns, as_list(row), strict=False))
        for metric, result, samples in _list_results(name, cells):
            if not samples and result is not None:
                sampled.single.append(metric)
            sampled.add(commit, metric, samples or [result])
    params = as_mapping(document.get("params"))
    said = {"machine": as_word(params.get("machine")), "environment": as_word(document.get("env_name"))}
    config = {key: value for key, value in said.items() if value}
    yield from sampled.list_runs(config, findings, "record them with asv run --record-samples")


def _list_results(name: str, cells: Mapping[str, Any]) -> Iterator[tuple[str, object, list[Any]]]:
    """Yield the name, the median and the samples of each combination of parameters."""
    results, samples = as_list(cells.get("result")), as_list(cells.get("samples"))
    combinations = [*product(*map(as_list, as_list(cells.get("params"))))]
    for index, result in enumerate(results):
        chosen = combinations[index] if index < len(combinations) else ()
        metric = f"{name}({', '.join(map(str, chosen))})" if chosen else name
        yield metric, result, as_list(samples[index]) if index < len(samples) else []
