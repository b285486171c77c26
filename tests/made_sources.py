"""A report's data folder, accidents in its files, and measurements without files, made in a test."""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import pytest

from reportgen.core.errors import ReportError
from reportgen.core.model import Measurements
from reportgen.read import make_frame, open_source, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pandas as pd

    from reportgen.settings.inputs import Source

LONG = (
    "model,seed,step,metric,value\n"
    "A,1,0,loss,2.5\nA,1,10,loss,1.5\nA,2,0,loss,2.25\nA,2,10,loss,1.25\n"
    "B,1,0,loss,3\nB,1,10,loss,2\nB,1,10,eval/acc,0.5\n"
)


@dataclass(frozen=True)
class Data:
    """The folder of a report, with ``data/`` in it."""

    root: Path

    def write(self, name: str, content: str | bytes) -> Path:
        """A file below ``data/``; ``.gz`` and ``.zst`` are compressed on the way."""
        path = self.root / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        if name.endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        if name.endswith(".zst"):
            return zstd(path, data)
        path.write_bytes(data)
        return path

    def parquet(self, name: str, select: str) -> Path:
        """A Parquet file with the rows of an SQL statement."""
        path = self.root / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        duckdb.sql(f"COPY ({select}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
        return path

    def open(self, name: str) -> Source:
        """An opened source."""
        return open_source(self.root, "data", name, load_settings=load_source_settings)

    def frame(self, name: str, *metrics: str, **question: Any) -> pd.DataFrame:  # noqa: ANN401 - passed on
        """Metrics of a source as a frame; all of them if none is named."""
        source = self.open(name)
        return make_frame(read_measurements(self.root, source, metrics or source.metrics, **question))

    def problems(self, name: str, *metrics: str, **question: Any) -> list[str]:  # noqa: ANN401 - passed on
        """What is told of a source that cannot be read."""
        with pytest.raises(ReportError) as caught:
            self.frame(name, *metrics, **question)
        return [str(problem) for problem in caught.value.problems]

    def warnings(self, name: str) -> list[str]:
        """What is told of a source that can be read."""
        return [str(problem) for problem in self.open(name).warnings]


def zstd(path: Path, data: bytes) -> Path:
    """Lines as a zstd file, which DuckDB writes; Python before 3.14 cannot."""
    lines = ", ".join(
        "'" + line.replace("'", "''") + "'" for line in data.decode().removesuffix("\n").split("\n")
    )
    options = "FORMAT csv, COMPRESSION zstd, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01'"
    duckdb.sql(f"COPY (SELECT unnest([{lines}])) TO '{path}' ({options})")
    return path


# Files as accidents leave them

_SPITEFUL = (b"\0", b"\n", b"\r", b'"', b"{", b"}", b"[", b"\t", b",", b":", b"\xff\xfe", b"9" * 400, b"-")
# How many variants of a file a test reads, without and with --slow.
VARIANTS = 30, 400
# Where Parquet files have what they say of their columns.
_FOOT, _ANYWHERE = 2000, 0.3


def mutations(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Variants of a file, each with one to four accidents."""
    chance = random.Random(seed)  # noqa: S311 - accidents, not secrets
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            begin = chance.randrange(len(changed) + 1)
            end = min(len(changed), begin + chance.choice((0, 1, 1, 8, 200)))
            piece = changed[begin:end]
            put = chance.choice((b"", piece * 2, bytes(reversed(piece)), chance.choice(_SPITEFUL)))
            changed[begin:end] = put
        yield bytes(changed)


def flips(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Variants of a file of the same length, each with one to four flipped bits, mostly near its end.

    Databases and Parquet files find their parts by place: whatever moves these is refused at once.
    """
    chance = random.Random(seed)  # noqa: S311 - accidents, not secrets
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            end = len(changed) if chance.random() < _ANYWHERE else min(len(changed), _FOOT)
            changed[len(changed) - 1 - chance.randrange(end)] ^= 1 << chance.randrange(8)
        yield bytes(changed)


# Measurements that are in no file, as lazy as those that are

_COLUMNS = {
    "series": "VARCHAR",
    "run": "VARCHAR",
    "seed": "VARCHAR",
    "metric": "VARCHAR",
    "step": "DOUBLE",
    "value": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "stderr": "DOUBLE",
    "n": "DOUBLE",
}


def make_lazy_frame(
    rows: Sequence[dict[str, Any]], kinds: dict[str, str], defaults: dict[str, Any]
) -> nw.LazyFrame[Any]:
    """Rows as a table of the database; ``row`` counts them unless they say it themselves."""
    lists = {name: [row.get(name, defaults.get(name)) for row in rows] for name in kinds}
    picked = ", ".join(f"unnest(${name}::{kind}[]) AS {name}" for name, kind in kinds.items())
    connection = duckdb.connect()
    connection.execute(
        f'CREATE TABLE made AS SELECT {picked}, unnest($at::BIGINT[]) AS "row"',
        {**lists, "at": [row.get("row", place) for place, row in enumerate(rows)]},
    )
    return nw.from_native(connection.sql("FROM made"))


def measurements(
    rows: Iterable[dict[str, Any]],
    *,
    order: Sequence[str] | None = None,
    given_interval: str | None = None,
) -> Measurements:
    """Rows of names and numbers as ``Measurements``."""
    listed = list(rows)
    given = [name for name in ("low", "high", "stderr", "n") if any(name in row for row in listed)]
    columns = ["series", "run", "seed", "metric", "step", "value", *given]
    defaults: dict[str, Any] = {"series": "A", "run": "1", "metric": "score"}
    return Measurements(
        frame=make_lazy_frame(listed, {name: _COLUMNS[name] for name in columns}, defaults),
        step_name="step",
        step_is_time=False,
        given_interval=given_interval,
        order=tuple(order if order is not None else dict.fromkeys(row.get("series", "A") for row in listed)),
    )
