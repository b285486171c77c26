"""A report's data folder, made in a test."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from reportgen.core.errors import ReportError
from reportgen.read import make_frame, open_source, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
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
