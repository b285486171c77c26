"""Metrics in documents: histories of Keras, final results of the Trainer, and what trackers export.

Schemas:

- Keras: keras-team/keras, keras/src/callbacks/history.py: ``History.history`` is an object with a list for
  each metric, an entry an epoch, as ``json.dump`` writes it; ``to_json`` of pandas writes an object by epoch.
- Hugging Face: huggingface/transformers, src/transformers/trainer_pt_utils.py, ``save_metrics``:
  ``SPLIT_results.json`` is a flat object, and ``all_results.json`` has those of all splits.
- ClearML: ``Task.get_reported_scalars()`` returns ``{title: {series: {"x": [...], "y": [...]}}}``.
- Comet: ``APIExperiment.get_metrics()`` returns a list of objects with ``metricName``, ``metricValue``,
  ``step``, ``epoch`` and ``timestamp`` in milliseconds; the REST API has it under ``metrics``.

A document is described by how it begins and by a function that lists its values; a further one is a constant
at the end, and an entry of ``formats.logs``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator  # noqa: TC003 - the type of a field of a Struct
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from reportgen.formats.decode import read_head
from reportgen.formats.files import get_ending, strip_compression
from reportgen.formats.json_files import as_list, as_mapping, read_json
from reportgen.formats.layout import RUN_SETTINGS
from reportgen.formats.registry import get_title
from reportgen.formats.run_data import MetricsBuilder, number_or_nan, parse_number, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import Setting


Value: TypeAlias = tuple[str, float, object, float]
"""Metric, step, cell and time of a value; NaN for an unknown step or time."""

_HEAD: Final = 16 << 10
_RESULTS: Final = tuple(f"{split}_results.json" for split in ("all", "train", "eval", "predict", "test"))
_MONITORED: Final = ":monitor:"


class DocumentReader(Struct, frozen=True):
    """Reader of one kind of document; see ``Reader`` in ``formats.registry``."""

    beginning: re.Pattern[str]
    list_values: Callable[[Any], Iterator[Value]]
    step_name: str
    names: tuple[str, ...] = ()  # names of its files, of which a folder is one run; empty: any, each a run

    def find(self, files: Sequence[Path]) -> tuple[Unit, ...]:
        """Return runs: a file, or a folder if the documents have names of their own."""
        settings = {file.parent: file for file in files if RUN_SETTINGS.fullmatch(file.name)}
        folders: dict[Path, list[Path]] = defaultdict(list)
        for file in files:
            named = strip_compression(file) in self.names if self.names else get_ending(file) == ".json"
            if named and self.beginning.match(read_head(file, _HEAD).decode(errors="replace")):
                folders[file.parent if self.names else file].append(file)
        units = []
        for path, own in folders.items():
            folder = own[0].parent
            more = (settings[folder],) if folder in settings and settings[folder] not in own else ()
            own.sort(key=lambda file: file.name)  # all_results.json comes first
            units.append(Unit(path, (*own, *more)))
        return tuple(units)

    def read(self, unit: Unit) -> Iterator[LoggedRun]:
        """Yield the run of a file or folder."""
        builder = MetricsBuilder(unit.files[0], unit.selected, timed=True)
        config: dict[str, Setting] = {}
        findings: list[Diagnostic] = []
        seen: set[str] = set()
        for file in unit.files:
            if RUN_SETTINGS.fullmatch(file.name) and file != unit.files[0]:
                config, more = read_settings(file)
                findings += more
                continue
            document, more = read_json(file)
            findings += more
            values = [value for value in self.list_values(document) if value[0] not in seen]
            for name, step, cell, time in values:
                builder.add_cell(name, step, cell, time)
            seen |= {name for name, *_ in values}
        if not seen:
            advice = f"Check that it is of {get_title(unit.format)}"
            raise UnreadableError(unit.files[0], "there is no metric with values in it", advice)
        findings += builder.list_findings()
        yield LoggedRun(unit.path, "", "", "", config, builder.build(), self.step_name, tuple(findings))


def _list_keras(document: object) -> Iterator[Value]:
    for name, column in as_mapping(document).items():
        pairs = enumerate(column) if isinstance(column, list) else as_mapping(column).items()
        for epoch, cell in pairs:
            yield name, number_or_nan(epoch), cell, math.nan


def _list_results(document: object) -> Iterator[Value]:
    # Without training there is no epoch, and a single reading of each metric.
    epoch = parse_number(as_mapping(document).get("epoch"))
    for name, cell in as_mapping(document).items():
        if name != "epoch" and parse_number(cell) is not None:
            yield name, 0.0 if epoch is None else epoch, cell, math.nan


def _list_clearml(document: object) -> Iterator[Value]:
    for title, graphs in as_mapping(document).items():
        for series, graph in as_mapping(graphs).items():
            columns = (as_list(as_mapping(graph).get(axis)) for axis in ("x", "y"))
            if not title.startswith(_MONITORED):
                for step, cell in zip(*columns, strict=False):
                    yield f"{title}/{series}", number_or_nan(step), cell, math.nan


def _list_comet(document: object) -> Iterator[Value]:
    for item in map(as_mapping, as_list(as_mapping(document).get("metrics") or document)):
        name, step = item.get("metricName"), number_or_nan(item.get("step"))
        if isinstance(name, str):
            step = number_or_nan(item.get("epoch")) if math.isnan(step) else step
            yield name, step, item.get("metricValue"), number_or_nan(item.get("timestamp"))


_NUMBERS: Final = r'"\s*:\s*(?:\[\s*(?:-?[\d.]|NaN)|\{\s*"0"\s*:)'
# Lists with a step, a run or a model are a table.
_OF_TABLES: Final = r'"(?i:step|steps|global_step|_step|iteration|iter|epoch|x|model|seed|run)"\s*:'
_HISTORY: Final = re.compile(rf'\s*\{{(?=.*"loss{_NUMBERS})(?!.*{_OF_TABLES})\s*"[^"]+{_NUMBERS}', re.DOTALL)
_SCALARS: Final = re.compile(
    r'\s*\{(?=.*"[xy]"\s*:\s*\[)\s*"[^"]*"\s*:\s*\{\s*"[^"]*"\s*:\s*\{\s*"(?:name|x|y)"\s*:\s*["\[]',
    re.DOTALL,
)
_METRICS: Final = re.compile(r'\s*(?:\{\s*"metrics"\s*:\s*)?\[\s*\{[^{}]*"metricName"\s*:')
_FLAT: Final = re.compile(r'\s*\{\s*"(?:epoch|eval_|train_|predict_|test_|total_flos)[^"]*"\s*:\s*[-\d."]')

KERAS_HISTORY: Final = DocumentReader(_HISTORY, _list_keras, "epoch")
TRAINER_RESULTS: Final = DocumentReader(_FLAT, _list_results, "epoch", _RESULTS)
CLEARML: Final = DocumentReader(_SCALARS, _list_clearml, "iteration")
COMET: Final = DocumentReader(_METRICS, _list_comet, "step")
