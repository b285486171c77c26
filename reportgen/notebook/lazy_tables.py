"""Lazy tables of any engine: the column of each role, its type, and the tidy table of a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
from msgspec import Struct

from reportgen.core.errors import SourceLocation, Stage, make_error
from reportgen.core.words import quote_names, suggest_name
from reportgen.read.freeze import match_usual_columns
from reportgen.read.queries.engines import fetch, find_version_fault, number_columns, rows_up_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.errors import ReportError


FREEZING: Final = SourceLocation("reportgen.freeze")
_NAMES: Final = ("series", "run", "seed", "metric", "problem", "sample", "benchmark")
INTERVAL: Final = ("low", "high", "stderr", "n")


def fail(message: str, step: str = "") -> ReportError:
    """Make the error of a table that cannot be frozen."""
    return make_error(FREEZING, message, step, Stage.DATA)


class LazyTable(Struct, frozen=True):
    """A lazy table with numbered columns, and the roles that its columns play."""

    frame: nw.LazyFrame[Any]
    types: Mapping[str, nw.dtypes.DType]  # of all columns, by their own names
    roles: Mapping[str, str]  # the column of a role
    metrics: tuple[str, ...]  # columns of a wide table that are metrics
    title: str  # the series of a table that has no column for it

    @property
    def key(self) -> tuple[str, ...]:
        """The roles that name a row, as far as the table has them."""
        run = "run" if "run" in self.roles else "seed"
        named = ("series", run, "metric", "problem", "benchmark", "order")
        return tuple(role for role in named if role in self.roles)

    def get(self, role: str) -> nw.Expr:
        """Return the column of a role."""
        return self.get_column(self.roles[role])

    def get_column(self, name: str) -> nw.Expr:
        """Return a column by its own name."""
        return nw.col(f"c{list(self.types).index(name)}")

    def get_text(self, role: str, default: str | None) -> nw.Expr:
        """Return the column of a role as text, or one text for every row."""
        column = self.get(role) if role in self.roles else nw.lit(default, dtype=nw.String())
        return column.cast(nw.String()).alias(role)

    def select_runs(self) -> tuple[nw.Expr, ...]:
        """Return the columns series, run, seed and row; without an order, all rows have one."""
        run = "run" if "run" in self.roles else "seed"
        order = self.get("order") if "order" in self.roles else nw.lit(0)
        return (
            self.get_text("series", self.title),
            self.get_text(run, "1").alias("run"),
            self.get_text("seed", None),
            order.cast(nw.Int64()).alias("row"),
        )

    def select_metric(self, metric: str | None) -> nw.LazyFrame[Any]:
        """Return the tidy table of a column that is a metric, or of a table with a row a value."""
        frame = self.frame
        value = self.get_column(metric) if metric is not None else self.get("value")
        if metric is not None and len(self.metrics) > 1:
            # An empty cell of a wide table is not a measurement.
            frame = frame.filter(~value.is_null())
        name = self.get_text("metric", None) if metric is None else nw.lit(metric).alias("metric")
        given = (as_number(self.get(role)).alias(role) for role in INTERVAL if role in self.roles)
        numbers = (as_number(self.get("step")).alias("step"), as_number(value).alias("value"), *given)
        return frame.select(*self.select_runs(), name, *numbers)


def as_number(column: nw.Expr) -> nw.Expr:
    """Return a column as float64. Engines differ in which zero is the smaller one, so there is only 0.0."""
    number = column.cast(nw.Float64())
    return nw.when(number == 0).then(nw.lit(0.0)).otherwise(number)


def open_table(
    data: Any,  # noqa: ANN401 - a frame of any engine
    given: Mapping[str, str],
    metrics: Sequence[str] | None,
    title: str,
) -> LazyTable:
    """Open a frame of any engine; ``given`` has the columns of roles that its user names.

    Raises ``ReportError`` if a column does not exist, is named twice, or has a type that engines read
    differently.
    """
    frame = _open_lazy(data)
    if fault := find_version_fault(frame):
        raise fail(*fault)
    names = list(frame.to_native().columns if frame.implementation.is_spark_like() else frame.columns)
    if twins := sorted({name for name in names if names.count(name) > 1}):
        raise fail(f"two columns are called {quote_names(twins)}", "Rename one of them")
    numbered = number_columns(frame)
    # By place, since an engine may write the names of its schema with quotes of its own.
    types = dict(zip(names, numbered.collect_schema().dtypes(), strict=True))
    for role, name in [*given.items(), *(("metrics", name) for name in metrics or ())]:
        if name not in types:
            step = f"{suggest_name(name, names)}Its columns are {quote_names(names)}"
            raise fail(f'{role}: there is no column "{name}"', step)
    roles = _match_roles(names, given, metrics)
    table = LazyTable(numbered, types, roles, _list_metrics(roles, metrics), title)
    _check_roles(table)
    problems = list(_list_type_faults(table))
    if problems:
        raise fail(*problems[0])
    return table


def _open_lazy(data: Any) -> nw.LazyFrame[Any]:  # noqa: ANN401 - as above
    try:
        frame = nw.from_native(data, pass_through=True)
    except ValueError as error:  # an engine that is older than narwhals knows
        raise fail(str(error).rstrip("."), "Install a newer version of it") from None
    if isinstance(frame, nw.DataFrame):
        return frame.lazy() if frame.implementation.is_polars() else frame.lazy(backend="duckdb")
    if isinstance(frame, nw.LazyFrame):
        return frame
    message = f"{type(data).__name__} is no table that narwhals knows"
    raise fail(message, "Give a frame of Spark, DuckDB, Polars or pandas, such as spark.table(NAME)")


def _match_roles(
    names: Sequence[str], given: Mapping[str, str], metrics: Sequence[str] | None
) -> dict[str, str]:
    """Return the columns of roles: those given, and others by their usual names, as in a file."""
    own: tuple[str, ...] = () if metrics else ("metric", "value")
    own = (
        ("problem", "sample", "score", "benchmark") if {"problem", "score"} & given.keys() else ("step", *own)
    )
    roles = match_usual_columns(names, given, ("series", "run", "seed", *own))
    for role, name in roles.items():
        twins = [other for other in names if other.casefold() == name.casefold()]
        if role not in given and len(twins) > 1:
            raise fail(f"columns differ in case only: {quote_names(twins)}", f'Name one: {role}="{name}"')
    return {**roles, **given}


def _list_metrics(roles: Mapping[str, str], metrics: Sequence[str] | None) -> tuple[str, ...]:
    if metrics:
        return tuple(dict.fromkeys(metrics))
    # One column of values without a column that names them is a metric of its own name.
    return (roles["value"],) if "value" in roles and "metric" not in roles else ()


def _check_roles(table: LazyTable) -> None:
    """Raise unless the table has the columns that it needs."""
    roles = table.roles
    if "problem" in roles or "score" in roles:
        needed: tuple[str, ...] = ("problem", "score")
    else:
        needed = ("step",) if table.metrics else ("step", "value")
    for role in needed:
        if role not in roles:
            several = ", or metrics=[COLUMN, …] of a table with a column a metric" if role == "value" else ""
            columns = quote_names(list(table.types))
            raise fail(
                f"no column is the {role}", f"Name it: {role}=COLUMN{several}. Its columns are {columns}"
            )
    if len(table.metrics) > 1 and (given := [role for role in INTERVAL if role in roles]):
        raise fail(f"{given[0]}= needs one column of values", "Freeze metrics with intervals one by one")


def _list_type_faults(table: LazyTable) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the type of a column, and the next step."""
    for role, name in [*table.roles.items(), *(("value", name) for name in table.metrics)]:
        kind = table.types[name]
        whole = kind.is_integer()
        named = whole or kind in {nw.String, nw.Categorical, nw.Enum}
        number = whole or kind.is_float() or (role == "score" and kind == nw.Boolean)
        fits = named if role in _NAMES else whole if role == "order" else number
        if not fits:
            yield f'{role}: the column "{name}" is of type {kind}', _advise_cast(role, kind)


def _advise_cast(role: str, kind: nw.dtypes.DType) -> str:
    to = "text" if role in _NAMES else "a whole number" if role == "order" else "double"
    if kind.is_decimal():
        return f"Cast it to {to} in the table: engines round decimals differently"
    if kind.is_temporal():
        return (
            "Select it as a number, such as unix_millis(t) in Spark or epoch_ms(t) in DuckDB: "
            "what a time is as text or number depends on the zone of the session"
        )
    if kind.is_nested() or kind in {nw.Binary, nw.Object, nw.Unknown}:
        return f"Select the part of it that is {to} as a column of its own"
    if role in _NAMES:
        return "Cast it to text in the table: engines write numbers differently"
    return f"Cast it to {to} in the table; try_cast makes words that are no number empty"


def refuse_repeats(table: LazyTable, tidy: nw.LazyFrame[Any], key: Sequence[str]) -> None:
    """Raise if several rows of one key are there without an order that says which was written last."""
    ordered = "order" in table.roles
    of_one = (*key, "row") if ordered else tuple(key)
    repeated = tidy.group_by(*of_one).agg(nw.len().alias("count")).filter(nw.col("count") > 1)
    # Engines give groups in any order.
    found = fetch(rows_up_to(repeated.sort(*of_one), 1))
    if not found["count"].size:
        return
    where = ", ".join(f"{name} {found[name].tolist()[0]}" for name in key)
    message = f"{found['count'].tolist()[0]} rows are of {where}"
    if ordered:
        message += f', and of one order in "{table.roles["order"]}"'
    step = "Name a column of whole numbers that grows as rows are written: order=COLUMN; or filter the rows"
    raise fail(f"{message}: which is the last?", step)
