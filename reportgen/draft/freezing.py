"""Freezes a source: its table, its ``source.yml``, and what it holds in lines for a reviewer's diff."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from reportgen.blocks.draw_inputs import list_notes
from reportgen.core.words import format_count
from reportgen.settings.loading import load_source_settings
from reportgen.settings.yaml_tree import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.repository import Boundary
    from reportgen.core.statements import DescribedEvaluation, DescribedMetric, DescribedRun, DescribedTotal
    from reportgen.read.freeze import FrozenTable
    from reportgen.settings.inputs import Source


def list_contents(root: Path, source: Source) -> tuple[str, ...]:
    """A line for every run and metric of a source, or for every evaluation, in the order of the data.

    Numbers have six digits; whether anything at all changed is told by the hashes of the files.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    from reportgen.read.describe.counts import count_answers, count_curves, list_totals  # noqa: PLC0415

    if source.kind == "outcomes":
        return tuple(map(_describe_evaluation, count_answers(root, source)))
    if source.kind == "totals":
        return tuple(map(_describe_total, list_totals(root, source)))
    runs, metrics = count_curves(root, source)
    return (*map(_describe_run, runs), *map(_describe_metric, metrics))


def _describe_run(one: DescribedRun) -> str:
    metrics, values = format_count(one.metrics, "metric"), format_count(one.values, "value")
    return f"{_name_run(one)}: {metrics}, {values}, {_format_steps(one.first, one.last)}"


def _describe_metric(one: DescribedMetric) -> str:
    ends = f" from {_format_number(one.low)} to {_format_number(one.high)}" if one.low is not None else ""
    said = (
        f"{format_count(one.runs, 'run')}, {format_count(one.values, 'value')}{ends}, "
        f"{_format_steps(one.first, one.last)}"
    )
    odd = {"repeated": one.repeated, "empty": one.missing, "NaN": one.nan, "infinite": one.infinite}
    odd["without a step"] = one.without_step
    return ", ".join([f"metric {one.name}: {said}", *(f"{n:,} {what}" for what, n in odd.items() if n)])


def _describe_evaluation(one: DescribedEvaluation) -> str:
    mean = "no score" if one.mean is None else f"mean {_format_number(one.mean)}"
    said = f"{format_count(one.problems, 'problem')}, {format_count(one.answers, 'answer')}, {mean}"
    odd = {"without a score": one.missing, "repeated": one.repeated}
    return ", ".join([f"{_name_evaluation(one)}: {said}", *(f"{n:,} {what}" for what, n in odd.items() if n)])


def _describe_total(one: DescribedTotal) -> str:
    score = "no score" if one.value is None else _format_number(one.value)
    error = f"standard error {_format_number(one.stderr)}" if one.stderr is not None else "no standard error"
    problems = f", {format_count(one.n, 'problem')}" if one.n is not None else ""
    return f"{_name_evaluation(one)}: {one.metric} {score}, {error}{problems}"


def _name_run(one: DescribedRun | DescribedEvaluation | DescribedTotal) -> str:
    seed = f", seed {one.seed}" if one.seed is not None else ""
    run = f"run {one.run}" if one.run else ""
    inside = f"{run}{seed}".removeprefix(", ")
    return f"{one.series} ({inside})" if inside else one.series


def _name_evaluation(one: DescribedEvaluation | DescribedTotal) -> str:
    return f"{_name_run(one)} on {one.benchmark}" if one.benchmark else _name_run(one)


def _format_steps(first: float | None, last: float | None) -> str:
    if first is None or last is None:
        return "no steps"
    return (
        f"step {_format_number(first)}"
        if first == last
        else f"steps {_format_number(first)} to {_format_number(last)}"
    )


def _format_number(value: float | None) -> str:
    """Six digits, and all of a whole number such as a step or a time."""
    if value is None:
        return "unknown"
    whole = math.isfinite(value) and value == round(value) and abs(value) < 1e15  # noqa: PLR2004 - exact
    return str(round(value)) if whole else f"{value:.6g}"


@dataclass(frozen=True, slots=True)
class FrozenSource:
    """A source that is ready to be written.

    Attributes:
        root: what its paths are relative to.
        source: the source.
        table: it as a table.
        settings: the text of its ``source.yml``.
    """

    root: Path
    source: Source
    table: FrozenTable
    settings: str

    def write(self, path: Path) -> None:
        """Write the table as Parquet.

        Raises:
            ReportError: everything that is wrong in the files.
        """
        from reportgen.read.freeze import write_table  # noqa: PLC0415 - imports the database

        write_table(self.root, self.source, self.table, path)


def freeze_source(
    path: Path,
    root: Path,
    tool: str,
    hashes: Callable[[Path], str],
    cache: Cache | None,
    *,
    boundary: Boundary | None = None,
) -> FrozenSource:
    """Read a source for freezing, with what was irregular in it and what it holds.

    Args:
        path: its file or folder, which is there.
        root: what its paths are relative to.
        tool: what writes it, with its version.
        hashes: SHA-256 of a file in hex.
        cache: what was read before; None where nothing is stored.
        boundary: where links in it may lead; anywhere if None.

    Raises:
        ReportError: everything that is wrong with the source.
    """
    from reportgen.read.freeze import freeze_table, open_at  # noqa: PLC0415 - imports the database

    source = open_at(path, root, load_source_settings, hashes, cache, boundary=boundary)
    table = freeze_table(root, source)
    said = source.settings.provenance
    # What was frozen before came from the files that it names.
    files = said.files or {_shorten_path(file.path, path, root): file.sha256 for file in source.files}
    notes = {"found": list(list_notes(source)), "contents": list(list_contents(root, source))}
    provenance = {**said.model_dump(exclude_none=True), "tool": tool, "files": files}
    provenance |= {key: lines for key, lines in notes.items() if lines}
    return FrozenSource(root, source, table, write_yaml({**table.settings, "provenance": provenance}))


def _shorten_path(file: str, path: Path, root: Path) -> str:
    """A file's path from the source's own folder on, which no machine's folders are told by."""
    whole = root / file
    return (
        whole.relative_to(path.parent).as_posix()
        if whole.is_relative_to(path.parent)
        else PurePath(file).name
    )
