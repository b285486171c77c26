"""Evaluations of checkpoints as curves: the score of each benchmark over the step of training.

The step is the group ``step`` of ``files:``, what the evaluation says of its checkpoint or revision, or a
number after ``checkpoint``, ``step`` and the like in the model's name, the folders or the file name. A score
has the standard error of its problems or, without answers, that of the harness; of a share of right answers
without one it is that of a binomial, ``sqrt(p (1 - p) / n)``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Severity, Stage
from reportgen.formats import sql
from reportgen.formats.evaluations.scores import is_accuracy
from reportgen.formats.layout import FileLayout
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.find import locate_file
from reportgen.read.runs.imported import name_benchmark
from reportgen.read.runs.labels import get_value, split_seed
from reportgen.read.runs.stored import name_part, write_part
from reportgen.read.tables.notations import make_shares
from reportgen.settings.source import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.read.find import Location
    from reportgen.read.runs.imported import ImportedRuns
    from reportgen.read.runs.labels import Candidate
    from reportgen.read.runs.names import Naming, RunName
    from reportgen.settings.source import SourceSettings


_STEP: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:tmp-)?(?:checkpoint|chkpt|ckpt|global[_-]?step|steps?|iteration|iter|epoch)"
    r"[-_=. ]?(?P<number>\d+)(?P<unit>[kKmM]?)(?![A-Za-z0-9]|\.\d)",
    re.IGNORECASE,
)
_UNITS: Final = {"": 1, "k": 1_000, "m": 1_000_000}
_BETWEEN: Final = " /_-.,;:=+@"
_TEXTS: Final = ("step", "checkpoint", "revision")
_FEWEST: Final = 2


class Reading(Struct, frozen=True):
    """Score of a checkpoint: its value with standard error and number of problems, None if unknown."""

    series: str
    seed: str | None
    step: float
    metric: str
    value: float
    stderr: float | None
    n: int | None


_MOST_LABELS: Final = 4096


class CheckpointCurves(Struct, frozen=True):
    """A table of readings in the cache, the settings to read it, and the range of scores if it is known."""

    files: tuple[FileLayout, ...]
    settings: SourceSettings
    bounds: tuple[float, float] | None
    without_step: tuple[str, ...]  # series of evaluations that are in no curve


@lru_cache(_MOST_LABELS)
def _split_step(text: str) -> tuple[str, float | None]:
    """Return a text without the last step in it, and that step."""
    found = list(_STEP.finditer(text))
    if not found:
        return text, None
    left, right = text[: found[-1].start()].rstrip(_BETWEEN), text[found[-1].end() :].lstrip(_BETWEEN)
    step = float(found[-1]["number"]) * _UNITS[found[-1]["unit"].lower()]
    return "/".join(filter(None, (left, right))), step


def _find_step(candidate: Candidate, series: str) -> tuple[str, float | None]:
    """Return the name of the training and the step of a checkpoint; None if nothing says it."""
    label = candidate.labels.get("step")
    rest, step = _split_step(series)
    for name in _TEXTS:
        text = candidate.run.protocol.get(name) or (get_value(candidate, name) if name != "step" else None)
        if step is None and text:
            step = _parse(text) or _split_step(text)[1]
    step = _split_step(candidate.path)[1] if step is None else step
    return rest, step if label is None else _parse(label)


def _parse(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdecimal() else None


def name_checkpoints(candidates: Sequence[Candidate], naming: Naming) -> Naming:
    """Return a naming in which checkpoints that only their folders tell apart are series of their own."""
    keys = [
        (name.series, one.run.benchmark, name.seed)
        for one, name in zip(candidates, naming.names, strict=True)
    ]
    if len(set(keys)) == len(keys):
        return naming
    steps = [_find_step(one, name.series)[1] for one, name in zip(candidates, naming.names, strict=True)]
    together: dict[tuple[str, str, str | None], set[float | None]] = defaultdict(set)
    for one, key, step in zip(candidates, keys, steps, strict=True):
        if one.run.evaluated and _split_step(key[0])[1] is None:
            together[key].add(step)
    several = {key for key, found in together.items() if len(found - {None}) >= _FEWEST}
    if not several:
        return naming
    names = tuple(
        replace(name, series=f"{name.series}, step {step:.0f}")
        if key in several and step is not None
        else name
        for name, key, step in zip(naming.names, keys, steps, strict=True)
    )
    groups = [
        tuple(index for index in group if names[index].series == names[group[0]].series)
        for group in naming.indistinct
    ]
    return replace(naming, names=names, indistinct=tuple(group for group in groups if len(group) > 1))


def map_checkpoints(runs: ImportedRuns, ends: tuple[float, float], cache: Cache) -> CheckpointCurves | None:
    """Write the readings of checkpoints to the cache; return None if no training has several.

    ``ends`` are the lowest and highest possible score, unless totals are on another scale.
    """
    readings = list(_list_readings(runs))
    steps: dict[tuple[str, str | None, str], set[float]] = defaultdict(set)
    for one in readings:
        steps[one.series, one.seed, one.metric].add(one.step)
    if not any(len(found) >= _FEWEST for found in steps.values()):
        return None
    words = {name: [getattr(one, name) for one in readings] for name in ("series", "seed", "metric")}
    numbers = {name: [getattr(one, name) for one in readings] for name in ("step", "value", "stderr", "n")}
    words["run"] = [one.seed or "" for one in readings]
    columns = {name: np.array(cells, object) for name, cells in words.items()}
    columns |= {name: np.array(cells, float) for name, cells in numbers.items()}
    cells = {name: f"CAST({name} AS VARCHAR)" for name in words}
    cells |= {name: f"CASE WHEN NOT isnan({name}) THEN {name} END" for name in numbers}
    location = runs.location
    key, name = cache.make_key("checkpoints", location.name, repr(readings)), name_part(0)
    path = Path(cache.get_text_path(key, name))
    if not path.exists():
        write_part(cache, key, name, columns, cells)
    copy = locate_file(path, location.root).file
    file = FileLayout(runs.units[0].files[0].path, "parquet", "", copy=copy, label=location.name, shares=True)
    bounds = ends if all(ends[0] <= one.value <= ends[1] for one in readings) else None
    update = {
        "form": "long",
        "columns": Columns(),
        "filter": {},
        "rename": {},
        "files": None,
        "metrics": None,
        "percent": ("*",) if bounds == (0.0, 1.0) else (),
        "repeat": "last",
    }
    without = tuple(
        dict.fromkeys(name.series for _, _, name, _, step in _list_evaluations(runs) if step is None)
    )
    return CheckpointCurves((file,), runs.settings.model_copy(update=update), bounds, without)


def _list_evaluations(runs: ImportedRuns) -> Iterator[tuple[int, Candidate, RunName, str, float | None]]:
    """Yield the evaluations that pass the filter of the source, each with its training and step."""
    settings = runs.settings
    tests = [
        sql.check_texts([get_value(one, key) for one in runs.candidates], accepted)
        for key, accepted in settings.filter.items()
    ]
    for index, (candidate, name) in enumerate(zip(runs.candidates, runs.naming.names, strict=True)):
        if candidate.run.evaluated and all(test[index] for test in tests):
            yield index, candidate, name, *_find_step(candidate, name.series)


def _list_readings(runs: ImportedRuns) -> Iterator[Reading]:
    """Yield the scores of all checkpoints."""
    chosen, settings = runs.chosen, runs.settings
    answered = _summarise_answers(runs)
    for index, candidate, name, rest, step in _list_evaluations(runs):
        if step is None:
            continue
        run = candidate.run
        series, seed = split_seed(rest)
        # The seed of training is in the name; that of the configuration is of the sampling.
        shown = settings.rename.get(rest, settings.rename.get(series, series)) or runs.location.name
        totals = {total.metric: total for total in run.totals}
        for metric in chosen.get(run.benchmark, ()):
            benchmark = name_benchmark(run, metric, chosen) or metric or "score"
            found, total = answered.get((index, metric)), totals.get(metric)
            if found is None and total is not None:
                value, stderr = make_shares(settings, benchmark, total.value, total.stderr)
                if stderr is None and total.n and is_accuracy(total.metric) and 0 <= value <= 1:
                    stderr = math.sqrt(value * (1 - value) / total.n)
                found = value, stderr, total.n
            if found is not None:
                yield Reading(shown, seed or name.seed, step, benchmark, *found)


def _summarise_answers(
    runs: ImportedRuns,
) -> Mapping[tuple[int, str], tuple[float, float | None, int | None]]:
    """Return the mean over problems of each evaluation and metric, its standard error, and their number."""
    keys: list[tuple[int, str]] = []
    selects: list[str] = []
    for unit, indices in runs.iterate_units():
        for part, path in zip(unit.stored.parts, unit.parts, strict=True):
            if part.run is not None and "problem" in part.columns:
                file = sql.quote(str(runs.location.root / path))
                means = f"SELECT problem, avg(score) AS mean FROM read_parquet({file}) GROUP BY problem"  # noqa: S608
                selects.append(
                    f"SELECT {len(keys)}, avg(mean), stddev_samp(mean) / sqrt(count(mean)), count(mean) "  # noqa: S608
                    f"FROM ({means})"
                )
                keys.append((indices[part.run], part.metric))
    found = get_engine().fetch_rows(" UNION ALL ".join(selects)) if selects else []
    return {keys[index]: (mean, stderr, n) for index, mean, stderr, n in found if mean is not None}


def warn_without_step(curves: CheckpointCurves, location: Location) -> Iterator[Diagnostic]:
    """Warn of evaluations without a step, which curves of checkpoints leave out."""
    if curves.without_step:
        shown = list_names(f'"{name}"' for name in curves.without_step)
        message = f"curves of checkpoints leave out {shown}, whose step is not known"
        step = "Name it with files: and the group step, or show these in blocks of scores"
        yield Diagnostic(location.place, message, step, Stage.DATA, Severity.WARNING)
