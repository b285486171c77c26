"""What the program says of each source below ``data/``, and what readers of formats give of files."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reportgen.core.errors import ReportError
from reportgen.formats import registry
from reportgen.formats.registry import find_units
from reportgen.formats.runs import Evaluation, LoggedRun
from reportgen.formats.sql import fetch_frame
from reportgen.read import (
    find_sources,
    list_axes,
    make_frame,
    open_source,
    open_totals,
    read_measurements,
    read_outcomes,
)
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Unit
    from reportgen.settings.inputs import Source

_MOST_ROWS = 16
_MOST_RUNS = 8
_SCORES = ("series", "run", "seed", "metric", "value", "stderr", "problems")
# Settings of a run that its rows show.
_SHOWN = frozenset(("name", "folder", "model", "benchmark"))


def describe_sources(root: Path, *, outer: bool = False) -> str:
    """Return what every source below ``data/`` is: its kind, names, diagnostics and rows.

    With ``outer``, only of those that lie in no other source.
    """
    try:
        names = find_sources(root, "data")
    except ReportError as error:
        return "".join(f"error: {problem}\n" for problem in error.problems)
    if outer:
        names = tuple(name for name in names if not any(name.startswith(f"{one}/") for one in names))
    text = "\n".join("".join(f"{line}\n" for line in _describe(root, name)) for name in names)
    return text.encode("utf-8", "backslashreplace").decode()


def _describe(root: Path, name: str) -> Iterator[str]:
    try:
        source = open_source(root, "data", name, load_settings=load_source_settings)
    except ReportError as error:
        yield f"{name}: refused"
        yield from (f"error: {problem}" for problem in error.problems)
        return
    yield from _describe_source(root, name, source)
    if source.checkpoints:
        yield ""
        yield from _describe_source(root, f"{name}, checkpoints", source.checkpoints)


def _describe_source(root: Path, name: str, source: Source) -> Iterator[str]:
    yield f"{name}: {source.kind}"
    for part in ("metrics", "benchmarks", "slices", "lower_is_better"):
        if names := getattr(source, part):
            yield f"{part}: {', '.join(names)}"
    if source.score_range != (0.0, 1.0):
        yield f"score_range: {source.score_range[0]:g} to {source.score_range[1]:g}"
    if source.higher_is_better:
        yield f"higher_is_better: {source.higher_is_better}"
    yield from _list_settings(source)
    yield from (f"warning: {problem}" for problem in source.warnings)
    yield from _list_reported(root, source)
    try:
        yield from _read_rows(root, source)
    except ReportError as error:
        yield from (f"error: {problem}" for problem in error.problems)


def _list_settings(source: Source) -> Iterator[str]:
    """Yield how series were measured, and the other settings of runs: what all share, then those of each."""
    layout: Any = source.layout
    protocols = {name: dict(source.settings.get_protocol(name).list_stated()) for name in layout.series}
    yield from _list_shared("protocol", [*protocols.items()])
    labels = {"top_p": "top-p", "max_tokens": "max tokens"}
    stated = {name for protocol in protocols.values() for name in protocol} | _SHOWN
    runs = [
        (
            run.get("benchmark") or run.get("name") or run.get("folder") or run.get("model", ""),
            {name: text for name, text in run.items() if labels.get(name, name) not in stated},
        )
        for run in layout.settings
    ]
    yield from _list_shared("settings", runs)


def _list_shared(word: str, stated: Sequence[tuple[str, Mapping[str, str]]]) -> Iterator[str]:
    if not stated:
        return
    shared = set.intersection(*(set(values.items()) for _, values in stated))
    lines = [(word, {name: text for name, text in stated[0][1].items() if (name, text) in shared})]
    for label, values in stated:
        own = {name: text for name, text in values.items() if (name, text) not in shared}
        lines.append((f"{word} of {label}", own))
    lines = [(label, values) for label, values in lines if values]
    for label, values in lines[:_MOST_RUNS]:
        yield f"{label}: {', '.join(f'{name} {_write_cell(text)}' for name, text in values.items())}"
    if len(lines) > _MOST_RUNS:
        yield f"… {len(lines)} {word}"


def _list_reported(root: Path, source: Source) -> Iterator[str]:
    """Yield the totals that a harness reports beside its answers."""
    files = [root / file.path for file in source.files]
    if source.kind != "outcomes" or not all(file.is_file() for file in files):
        return
    for unit in find_units(files, source.settings.format).units:
        for one in registry.read_unit(unit):
            if isinstance(one, Evaluation) and one.answers:
                for total in one.totals:
                    cells = [one.model, one.benchmark, total.metric, total.value, total.stderr, total.n]
                    yield f"total: {', '.join(map(_write_cell, cells))}"


def _read_rows(root: Path, source: Source) -> list[str]:
    if source.kind == "totals":
        return _read_totals(root, source)
    if source.kind == "outcomes":
        outcomes = read_outcomes(root, source)
        with outcomes.reading():
            frame = fetch_frame(outcomes.frame.sort("row").drop("row"))
        outcomes.check_repeats()
        outcomes.check_runs()
        if "cluster" in outcomes.has:
            outcomes.check_clusters()
        return _write_rows(frame)
    if not source.metrics:
        return []
    measurements = read_measurements(root, source, source.metrics)
    frame = make_frame(measurements)
    measurements.check_repeats()
    steps_of_runs = frame.groupby(["series", "run"], dropna=False)["step"]
    if not all(steps.is_monotonic_increasing for _, steps in steps_of_runs):  # as a report does
        measurements.check_counters()
    measurements.check_runs()
    named = [f"step: {measurements.step_name}"] if measurements.step_name != "step" else []
    return [*named, *_list_times(root, source), *_write_rows(frame)]


def _list_times(root: Path, source: Source) -> list[str]:
    """Return the first and last time of the values of runs, where they have times besides steps."""
    layout: Any = source.layout
    if not layout.settings or "relative time" not in list_axes(source, None, source.metrics):
        return []
    times = make_frame(read_measurements(root, source, source.metrics, x="wall time"))["step"].dropna()
    return [f"times: {' to '.join(str(one).removesuffix('+00:00') for one in (times.min(), times.max()))}"]


def _read_totals(root: Path, source: Source) -> list[str]:
    table, lines = open_totals(root, source), []
    for benchmark in source.benchmarks or (None,):
        lines.append(f"benchmark {benchmark}" if benchmark else "no benchmark")
        scores = table.get_scores(benchmark)
        for one in scores:
            of_runs = [f"of {one.runs} runs"] if one.runs else []
            lines.append("  " + ", ".join([*(_write_cell(getattr(one, part)) for part in _SCORES), *of_runs]))
    return lines


def _write_rows(frame: Any) -> list[str]:  # noqa: ANN401 - of pandas
    """Return the rows of a frame without columns that are empty, or a digest of many."""
    frame = frame.dropna(axis="columns", how="all")
    rows = [", ".join(map(_write_cell, row)) for row in frame.itertuples(index=False, name=None)]
    digest = hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    more = [f"… {len(rows)} rows, {digest}"] if len(rows) > _MOST_ROWS else []
    return [", ".join(frame.columns), *("  " + row for row in rows[:_MOST_ROWS]), *more]


def _write_cell(value: Any) -> str:  # noqa: ANN401 - a cell of a frame
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "-" if value is None else "nan"
    text = repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)
    return repr(text) if re.search(r"[,\n\r]|^\s|\s$|^$|^-$", text) else text


# ---- runs and evaluations in files, by the reader of whatever format they have ----------------------------


def list_units(*files: Path, form: str | None = None) -> tuple[Unit, ...]:
    """Return the units of files, or of all files below a folder, in the format that they have."""
    found = [sorted(one.rglob("*")) if one.is_dir() else [one] for one in files]
    return find_units([path for paths in found for path in paths if path.is_file()], form).units


def read_unit(unit: Unit, selected: Sequence[str] | None = None) -> Iterator[LoggedRun | Evaluation]:
    """Yield what a unit holds."""
    yield from registry.read_unit(replace(unit, selected=None if selected is None else frozenset(selected)))


def read_run(*files: Path, selected: Sequence[str] | None = None) -> LoggedRun:
    """Return the one run of files or of a folder."""
    (unit,) = list_units(*files)
    (run,) = read_unit(unit, selected)
    assert isinstance(run, LoggedRun)
    return run


def list_points(run: LoggedRun) -> dict[str, list[tuple[float, float]]]:
    """Return steps and values of each metric."""
    return {
        name: list(zip(points.steps.tolist(), points.values.tolist(), strict=True))
        for name, points in run.metrics.items()
    }


def list_messages(one: LoggedRun | Evaluation) -> list[str]:
    """Return what was found irregular."""
    return [finding.message for finding in one.findings]
