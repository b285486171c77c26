"""Tables too large for one machine, reduced where they lie and written as a source of a few megabytes."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

import narwhals as nw
import numpy as np
from msgspec import Struct

from reportgen.core import __version__
from reportgen.core.cache import replace_file
from reportgen.core.model import Measurements
from reportgen.core.terminal import clean_text
from reportgen.core.words import format_count, join_names, suggest_name
from reportgen.notebook.frozen_outcomes import OUTCOMES_SELECT, count_outcomes
from reportgen.notebook.lazy_tables import INTERVAL, LazyTable, fail, open_table, refuse_repeats
from reportgen.read.find import SETTINGS
from reportgen.read.freeze import (
    ORIGIN,
    OUTCOMES,
    POINTS,
    FrozenPart,
    TableOrigin,
    encode_origin,
    encode_rows,
    hash_types,
    list_differences,
    read_origin,
    refuse_foreign,
)
from reportgen.read.queries.engines import (
    EngineError,
    TooManyRowsError,
    describe_engine,
    explain_engine_errors,
    fetch,
    redact,
)
from reportgen.read.queries.points import as_counts
from reportgen.read.queries.reduce import reduce_large
from reportgen.read.runs.stored import get_temporary_cache
from reportgen.settings.loading import load_source_settings
from reportgen.settings.yaml_tree import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from reportgen.core.model import ReducedMetric, Run


MOST_POINTS: Final = 1_000_000
"""Points of one metric, or rows of outcomes, that are fetched; a tenth as many runs of all metrics."""


class Frozen(Struct, frozen=True):
    """A frozen table: its folder, rows before and after, and how it differs from when it was frozen before.

    ``differences`` are sentences; with ``check=True`` and none, the table is what was frozen.
    """

    folder: Path
    engine: str
    rows: int
    points: int
    differences: tuple[str, ...]


class Columns(TypedDict, total=False):
    """The columns of a table with these roles, as keyword arguments of ``freeze``."""

    series: str
    run: str
    seed: str
    step: str
    metric: str
    value: str
    order: str
    low: str
    high: str
    stderr: str
    n: str
    problem: str
    sample: str
    score: str
    benchmark: str


def freeze(
    frame: Any,  # noqa: ANN401 - a frame of any engine
    to: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    reduce: int = 400,
    table: str = "",
    check: bool = False,
    **columns: Unpack[Columns],
) -> Frozen:
    """Reduce a table where it lies, and write the few rows that are left as a source of a report.

    Args:
        frame: a frame of Spark, Spark Connect, DuckDB, Polars or another engine that narwhals knows.
        to: the folder to write, such as ``data/sweep``.
        metrics: the columns that are metrics, in a table with a column a metric.
        reduce: the largest number of steps of a metric, above which they are put into that many bins.
        table: what the table is called, best with its version, such as ``lake.runs@snapshot 4711``.
        check: compare with what was frozen before, with the options of then, and write nothing.
        columns: the columns with a role, found by their usual names if left out: ``series``, ``run``,
            ``seed`` and ``step``; ``metric`` and ``value`` in a table with a row a value; in a table of
            answers ``problem``, ``sample``, ``score`` and ``benchmark``. Not found by name are ``order``,
            whole numbers that grow as rows are written, so that of several rows of a run and step the last
            counts; and ``low`` and ``high``, or ``stderr`` and ``n``, of an interval that the table has.

    Returns:
        What was written or compared.

    Raises:
        ReportError: the table cannot be reduced, or the folder holds anything else. Nothing is written then.
    """
    if unknown := [role for role in columns if role not in Columns.__annotations__]:
        roles = [*Columns.__annotations__]
        step = f"{suggest_name(unknown[0], roles)}Its roles are {join_names(roles)}"
        raise fail(f'"{unknown[0]}" is no role of a column', step)
    folder = Path(to)
    refuse_foreign(folder)
    before = read_origin(folder)
    named = {role: str(name) for role, name in columns.items() if name is not None}
    options = _Options(named, tuple(metrics) if metrics else None, reduce, redact(table))
    if check:
        if before is None:
            raise fail(f"{folder}: no table was frozen here", "Call it without check=True first")
        options = _Options(before.columns, before.metrics, before.reduce, before.table)
    if options.reduce < 1:
        raise fail(f"reduce must be at least 1, not {options.reduce}")
    reduced = _reduce_table(frame, options, folder.resolve().name)
    origin, content = reduced.encode(options)
    if not check:
        _write(folder, origin, content, reduced.found)
    differences = tuple(list_differences(before, origin)) if before else ()
    rows = sum(part.rows for part in origin.parts.values())
    return Frozen(folder, origin.engine, origin.rows, rows, differences)


class _Options(Struct, frozen=True):
    """How a table is reduced: columns of roles, columns that are metrics, number of bins, and its name."""

    columns: dict[str, str]
    metrics: tuple[str, ...] | None
    reduce: int
    table: str


class _Reduced(Struct, frozen=True):
    """The rows that are left of a table, and what was found on the way."""

    engine: str
    rows: int
    types: dict[str, str]
    file: str
    parts: Mapping[str, Mapping[str, npt.NDArray[Any]]]  # of each metric or benchmark, the columns
    bins: Mapping[str, int | None]
    found: list[str]

    def encode(self, options: _Options) -> tuple[TableOrigin, bytes]:
        """Return the bytes of the frozen table, and its origin."""
        names = list(dict.fromkeys(name for part in self.parts.values() for name in part))
        empty = {name for name in names if all(_is_empty(part.get(name)) for part in self.parts.values())}
        columns = {
            name: np.concatenate([part[name] for part in self.parts.values()])
            for name in names
            if name not in empty
        }
        key = hashlib.sha256(repr((options, sorted(columns))).encode()).hexdigest()
        with get_temporary_cache().write_file(key, self.file) as path:
            content = encode_rows(columns, path, OUTCOMES_SELECT if self.file == OUTCOMES else "FROM frozen")
        origin = TableOrigin(
            format=1,
            engine=self.engine,
            table=options.table,
            rows=self.rows,
            columns=options.columns,
            metrics=options.metrics,
            types=self.types,
            schema_sha256=hash_types(self.types),
            reduce=options.reduce,
            parts={
                name: FrozenPart(len(next(iter(part.values()))), _hash_columns(part), self.bins.get(name))
                for name, part in self.parts.items()
            },
            file=self.file,
            sha256=hashlib.sha256(content).hexdigest(),
            reportgen=__version__,
        )
        return origin, content


def _is_empty(column: npt.NDArray[Any] | None) -> bool:
    return column is None or (column.dtype == object and all(cell is None for cell in column))


def _hash_columns(columns: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name, column in columns.items():
        digest.update(name.encode())
        digest.update("\0".join(map(str, column)).encode() if column.dtype == object else column.tobytes())
    return digest.hexdigest()


def _reduce_table(frame: Any, options: _Options, title: str) -> _Reduced:  # noqa: ANN401 - as above
    """Reduce a table on its engine; raise ``ReportError`` for what the engine cannot do or reports."""
    try:
        with explain_engine_errors():
            table = open_table(frame, options.columns, options.metrics, title)
            engine = describe_engine(table.frame)
            rows = _count_rows(table)
            if "problem" in table.roles:
                parts, found = count_outcomes(table, MOST_POINTS)
                bins: dict[str, int | None] = {}
            else:
                metrics = dict(_reduce_metrics(table, options.reduce))
                parts = {name: _make_columns(metric) for name, metric in metrics.items()}
                bins = {name: metric.bins for name, metric in metrics.items()}
                found = list(_describe_reduction(metrics.values()))
            after = _count_rows(table)
    except EngineError as error:
        step = "Nothing was written; freeze it again once the engine answers"
        raise fail(f"the engine failed: {error}".rstrip("."), step) from None
    except TooManyRowsError as error:
        what = "points of one metric" if error.most == MOST_POINTS else "runs of metrics"
        step = "Lower reduce=, or freeze a part of the table: fewer runs or metrics"
        raise fail(f"more than {error.most:,} {what} are left of the table", step) from None
    if after != rows:
        message = f"the table changed while it was read: it had {rows:,} rows, and has {after:,} now"
        step = "Freeze one version of it, such as a snapshot of Iceberg or a version of Delta"
        raise fail(message, step)
    if not any(column.size for part in parts.values() for column in part.values()):
        raise fail("the table has no row with a step and a value")
    binned = "Binned" if any(bins.values()) else "Read"
    of_table = f" of {options.table}" if options.table else ""
    words = f"{binned} by {engine.split()[0]} from {rows:,} rows{of_table} before freezing."
    types = {name: str(kind) for name, kind in table.types.items()}
    file = OUTCOMES if "problem" in table.roles else POINTS
    return _Reduced(engine, rows, types, file, parts, bins, [words, *found])


def _count_rows(table: LazyTable) -> int:
    """Count the rows of a table, and refuse one that is empty or has rows without a name."""
    named = {role: table.get(role).null_count().alias(f"{role}_nulls") for role in table.key}
    counted = fetch(table.frame.select(nw.len().alias("rows"), *named.values()))
    rows = as_counts(counted["rows"])[0]
    if not rows:
        raise fail("the table has no rows")
    for role in named:
        if nulls := as_counts(counted[f"{role}_nulls"])[0]:
            have = f"{format_count(nulls, 'row')} {'has' if nulls == 1 else 'have'} no {role}"
            raise fail(
                f'{have}: the column "{table.roles[role]}" is empty there', "Fill or filter them first"
            )
    return rows


def _reduce_metrics(table: LazyTable, most_steps: int) -> Iterator[tuple[str, ReducedMetric]]:
    """Yield the metrics of a table, reduced on its engine."""
    given = " and ".join(role for role in INTERVAL if role in table.roles)
    for metric in table.metrics or (None,):
        tidy = table.select_metric(metric)
        measured = Measurements(tidy, "step", step_is_time=False, given_interval=given or None, order=())
        reduced = reduce_large(measured, max_points=most_steps, smooth=0, most=MOST_POINTS)
        if any(one.replaced for one in reduced.values()):
            refuse_repeats(
                table, tidy.filter(~nw.col("value").is_null()), ("series", "run", "metric", "step")
            )
        yield from reduced.items()


def _make_columns(metric: ReducedMetric) -> dict[str, npt.NDArray[Any]]:
    """Return the points of a metric, run after run, as the columns of a table."""
    lengths = [run.steps.size for run in metric.runs]

    def spread(names: Iterable[str | None]) -> npt.NDArray[Any]:
        return np.repeat(np.array([*names], dtype=object), lengths)

    def join(pick: Callable[[Run], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return np.concatenate([pick(run) for run in metric.runs])

    columns = {
        "series": spread(run.series for run in metric.runs),
        "run": spread(run.run for run in metric.runs),
        "seed": spread(run.seed for run in metric.runs),
        "metric": spread(metric.metric for _ in metric.runs),
        "step": join(lambda run: run.steps),
        "value": join(lambda run: run.values),
        "lowest": join(lambda run: run.values if run.low is None else run.low),
        "highest": join(lambda run: run.values if run.high is None else run.high),
        "steps_in_bin": join(
            lambda run: np.ones(run.steps.size, np.int64) if run.counts is None else run.counts
        ),
    }
    for name in INTERVAL:
        if all(getattr(run.given, name, None) is not None for run in metric.runs):
            columns[name] = join(partial(_get_given, name))
    return columns


def _get_given(name: str, run: Run) -> npt.NDArray[Any]:
    given: npt.NDArray[Any] = getattr(run.given, name)
    return given


def _describe_reduction(metrics: Iterable[ReducedMetric]) -> Iterator[str]:
    """Yield sentences on what was binned and left out, for the captions of figures."""
    listed = list(metrics)
    if binned := [metric for metric in listed if metric.bins]:
        names = join_names([metric.metric for metric in binned], most=4)
        of = "" if len(binned) == len(listed) else f" of {names}"
        yield f"Steps{of} are averaged in {binned[0].bins} bins."
    if dropped := sum(metric.dropped for metric in listed):
        be = "was" if dropped == 1 else "were"
        yield f"Before freezing, {format_count(dropped, 'value')} {be} missing or not finite."
    if replaced := sum(metric.replaced for metric in listed):
        be = "was" if replaced == 1 else "were"
        yield f"Before freezing, {format_count(replaced, 'row')} {be} replaced by a later one of its step."


def _write(folder: Path, origin: TableOrigin, content: bytes, found: list[str]) -> None:
    """Write a frozen table; its origin comes first, so that one without the other is noticed."""
    path = folder / SETTINGS
    stated = {}
    if path.is_file():
        settings = load_source_settings(path, str(path))
        stated = settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    lines = [f"{name}: {format_count(part.rows, 'row')}" for name, part in origin.parts.items()]
    provenance = {
        **stated.get("provenance", {}),
        "tool": f"reportgen {__version__} freeze",
        "found": [*map(clean_text, found)],
        "contents": [*map(clean_text, lines)],
    }
    form = "long" if origin.file == POINTS else "outcomes"
    stated |= {"files": origin.file, "form": form, "provenance": provenance}
    replace_file(str(folder / ORIGIN), encode_origin(origin))
    replace_file(str(folder / origin.file), content)
    replace_file(str(path), write_yaml(stated).encode())
