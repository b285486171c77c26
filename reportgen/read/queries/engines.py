"""What engines do differently: fetching rows, the last of repeated rows, names of columns, and their errors.

All else is written once, as expressions of narwhals, and gives the same bits on every engine.
"""

from __future__ import annotations

import math
import re
import sys
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class TooManyRowsError(Exception):
    """A result has more rows than may be fetched; ``most`` is that number."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most:,} rows")
        self.most = most


class EngineError(Exception):
    """An engine failed. The text is the engine's own, shortened and without credentials."""


def fetch(frame: nw.LazyFrame[Any], most: int | None = None) -> dict[str, npt.NDArray[np.generic]]:
    """Return the columns of a lazy table as arrays, with nulls masked, None or NaN.

    Raises ``TooManyRowsError`` if there are more than ``most`` rows, of which no more are fetched.
    """
    limited = frame if most is None else rows_up_to(frame, most + 1)
    if frame.implementation.is_duckdb():
        # Without a data frame library.
        columns: dict[str, npt.NDArray[np.generic]] = limited.to_native().fetchnumpy()
    else:
        eager = limited.collect(engine="streaming") if frame.implementation.is_polars() else limited.collect()
        columns = {name: np.asarray(eager[name].to_numpy()) for name in eager.columns}
    if most is not None and any(column.size > most for column in columns.values()):
        raise TooManyRowsError(most)
    return columns


def last_written(
    frame: nw.LazyFrame[Any], keys: Sequence[str], order: str, columns: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return each group's row with the largest ``order``, by its keys; ``columns`` have no nulls."""
    if frame.implementation.is_duckdb():
        # Narwhals would sort the rows of every group; arg_max has one row a group in memory.
        chosen = ", ".join(f'arg_max("{name}", "{order}") AS "{name}"' for name in columns)
        names = ", ".join(f'"{key}"' for key in keys)
        relation = frame.to_native().aggregate(f"{names}, {chosen}", names)
        found: nw.LazyFrame[Any] = nw.from_native(relation)
        return found
    if frame.implementation.is_spark_like():
        # The largest of tuples that begin with the order: Spark has no ordered last in a grouping.
        largest = frame.group_by(*keys).agg(nw.struct(order, *columns).max().alias("last"))
        return largest.select(*keys, *(nw.col("last").struct.field(name).alias(name) for name in columns))
    if frame.implementation.is_polars():
        return frame.group_by(*keys).agg(*(nw.col(name).last(order_by=order) for name in columns))
    newest = frame.filter(nw.col(order) == nw.col(order).max().over(*keys))
    return newest.select(*keys, *columns)


def rows_up_to(frame: nw.LazyFrame[Any], count: int) -> nw.LazyFrame[Any]:
    """Return the first rows of a lazy table, in no particular order."""
    return frame.head(count)


def number_columns(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Name columns ``c0``, ``c1`` and so on, whatever dots, quotes or twins in another case were in names."""
    names = frame.collect_schema().names()
    numbered = [f"c{place}" for place in range(len(names))]
    if frame.implementation.is_spark_like():
        # A dot would be taken for a field of a structure, and names are found regardless of case.
        renamed: nw.LazyFrame[Any] = nw.from_native(frame.to_native().toDF(*numbered))
        return renamed
    return frame.rename(dict(zip(names, numbered, strict=True)))


_TITLES: Final = {"duckdb": "DuckDB", "polars": "Polars", "pyspark": "Spark", "pyspark_connect": "Spark"}


def describe_engine(frame: nw.LazyFrame[Any]) -> str:
    """Return an engine with its version, as in ``Spark 4.1.4``."""
    name: str = frame.implementation.value.replace("-", "_").removesuffix("[connect]")
    title = _TITLES.get(name, name)
    if title == "Spark":
        return f"Spark {frame.to_native().sparkSession.version}"
    try:
        return f"{title} {version(name)}"
    except PackageNotFoundError:
        return title


_OLDEST_SPARK: Final = (3, 5)


def find_version_fault(frame: nw.LazyFrame[Any]) -> tuple[str, str] | None:
    """Return what is wrong with the versions of Spark's server and client, and the next step."""
    if not describe_engine(frame).startswith("Spark "):
        return None
    server = frame.to_native().sparkSession.version
    client = getattr(sys.modules.get("pyspark"), "__version__", server)
    served, own = (tuple(map(int, re.findall(r"\d+", version)[:2])) for version in (server, client))
    oldest = ".".join(map(str, _OLDEST_SPARK))
    if served < _OLDEST_SPARK:
        return f"Spark {server} is older than {oldest}", f"Use a cluster with Spark {oldest} or newer"
    if own > served:
        message = f"the client is Spark {client}, newer than the server's Spark {server}"
        return message, f'Install the client of the server: pip install "pyspark-client=={server}"'
    return None


_SECRETS: Final = (
    # A key of a connection string or a header, and who logs in by an address.
    (re.compile(r"(?i)\b(token|password|passwd|secret|api[_-]?key|access[_-]?key|sig)(\s*[=:]\s*['\"]?)[^\s;&,'\")]+"),
     r"\1\2***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), r"\1 ***"),
    (re.compile(r"://[^/\s:@]+:[^/\s@]+@"), "://***@"),
    (re.compile(r"\bdapi[0-9a-f]{16,}\b"), "***"),
)  # fmt: skip
_LONGEST_ERROR: Final = 600


def redact(text: str) -> str:
    """Return a text without tokens and passwords."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


@contextmanager
def explain_engine_errors() -> Iterator[None]:
    """Raise what an engine raises as an ``EngineError``."""
    try:
        yield
    except _list_errors() as error:
        # Spark adds its plan and a stack trace of Java's; the first lines say what happened.
        text = redact(str(error)).split("\n\nJVM stacktrace")[0].split("\n\tat ")[0]
        text = " ".join(text.split()) or type(error).__name__
        raise EngineError(text[:_LONGEST_ERROR]) from None


def _list_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of all engines that something has imported."""
    known = {
        "duckdb": "Error",
        "polars.exceptions": "PolarsError",
        "pyspark.errors": "PySparkException",
        "py4j.protocol": "Py4JError",
        "grpc": "RpcError",
        "narwhals.exceptions": "NarwhalsError",
    }
    loaded = ((sys.modules.get(module), name) for module, name in known.items())
    found = (getattr(module, name, None) for module, name in loaded if module)
    return (*(kind for kind in found if isinstance(kind, type)), ConnectionError, OSError)


_LEVELS = 4
_MANTISSA = 53


def split_column(
    frame: nw.LazyFrame[Any], column: str, largest: float, count: int
) -> tuple[nw.LazyFrame[Any], list[str]]:
    """Add columns with the parts of a column whose sums are exact, hence independent of order.

    ExtractVector in Rump, Ogita and Oishi, "Accurate Floating-Point Summation" (2008); used for reproducible
    sums by Demmel and Nguyen (2013): adding and subtracting a large power of two cuts a number at a fixed
    bit, and up to ``count`` multiples of one unit add up without rounding. The remainder of the last level is
    not summed; with a million rows it is below 2^-125 of ``largest``, which no absolute value exceeds.
    """
    bits = max(1, math.ceil(math.log2(max(count, 1))) + 1)
    exponent = (math.frexp(largest)[1] if largest > 0 else 0) + bits
    rest = f"{column}_rest"
    frame = frame.with_columns(nw.col(column).alias(rest))
    names = [f"{column}_{level}" for level in range(_LEVELS)]
    for name in names:
        # 1.5 keeps sum and difference within one power of two for either sign.
        cut = 1.5 * 2.0 ** min(max(exponent, -900), 1000)
        frame = frame.with_columns(((nw.col(rest) + cut) - cut).alias(name))
        frame = frame.with_columns((nw.col(rest) - nw.col(name)).alias(rest))
        exponent += bits - _MANTISSA + 1
    return frame, names
