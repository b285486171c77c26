"""Measures ``reportgen.freeze`` of one table on DuckDB, Polars, Spark and Spark Connect.

    .venv-spark/bin/python benchmarks/spark.py [--rows 1,10,100] [--memory 2g] [--folder DIR]
        [--engines duckdb,polars,spark,connect]

``--rows`` are millions. Each size is written once, as Parquet files, by DuckDB's range. Each engine reads
them in a process of its own, whose memory is the client's; that of Java, which both kinds of Spark need, is
the server's. The time is that of ``freeze`` alone, in a session that has answered a query before. The last
column begins the SHA-256 of the points: it is one for all engines. ``make test-spark`` makes the environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from measure import table

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINES = ("duckdb", "polars", "spark", "connect")
_HEADER = ("million rows", "engine", "seconds", "client MB", "server MB", "points", "SHA-256")
_FILES = 8
_ROWS = """SELECT 'model ' || (i % 4) AS model, (i // 4) % 8 AS seed, i // 32 AS step,
    exp(-(i // 32) / {scale}) + 0.1 * sin(i * 0.7) + (i % 4) * 0.01 AS loss
    FROM range({start}, {stop}) r(i)"""


def write_rows(folder: Path, millions: int) -> None:
    """Write a table of 32 runs as Parquet files."""
    folder.mkdir()
    rows = millions * 1_000_000
    for number in range(_FILES):
        start, stop = (rows * place // _FILES for place in (number, number + 1))
        part = _ROWS.format(scale=rows / 96, start=start, stop=stop)
        duckdb.sql(f"COPY ({part}) TO '{folder}/{number}.parquet' (FORMAT parquet, COMPRESSION zstd)")


def add_tests_to_path() -> None:
    """Let the server of the tests be imported."""
    sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("tests", "tests/spark")]


@contextmanager
def open_frame(engine: str, source: Path, memory: str) -> Iterator[tuple[Any, int | None]]:
    """Open the table on an engine, and the process of its server if that is another one."""
    if engine == "duckdb":
        connection = duckdb.connect(config={"memory_limit": "2GB", "threads": 2})
        yield connection.read_parquet(f"{source}/*.parquet"), None
    elif engine == "polars":
        import polars as pl  # noqa: PLC0415 - only here

        yield pl.scan_parquet(f"{source}/*.parquet"), None
    elif engine == "spark":
        from find_java import find_java  # noqa: PLC0415 - as above
        from serve_connect import open_session  # noqa: PLC0415 - imports Spark
        from started_server import find_child  # noqa: PLC0415 - as above

        os.environ |= {"JAVA_HOME": find_java() or "", "SPARK_LOCAL_IP": "127.0.0.1"}
        session = open_session(memory, "2", {"spark.ui.showConsoleProgress": "false"})
        session.range(9).count()
        yield session.read.parquet(str(source)), find_child(os.getpid())
        session.stop()
    else:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - only here
        from started_server import find_child, start_server  # noqa: PLC0415 - as above

        with start_server(memory) as server:
            session = SparkSession.builder.remote(server.address).getOrCreate()
            session.range(9).count()
            yield session.read.parquet(str(source)), find_child(server.process.pid)
            session.stop()


def read_peak(process: int | str) -> int:
    """Return the largest memory that a process ever held, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) // 1024


def measure(engine: str, source: Path, folder: Path, memory: str) -> dict[str, object]:
    """Freeze a table on one engine, in this process."""
    import reportgen  # noqa: PLC0415 - the parent process needs it not

    add_tests_to_path()
    with open_frame(engine, source, memory) as (frame, server):
        start = time.perf_counter()
        frozen = reportgen.freeze(frame, folder, metrics=["loss"])
        seconds = time.perf_counter() - start
        origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
        return {
            "engine": frozen.engine + (" Connect" if engine == "connect" else ""),
            "seconds": f"{seconds:.1f}",
            "client": f"{read_peak('self'):,}",
            "server": f"{read_peak(server):,}" if server else "",
            "points": f"{frozen.points:,}",
            "sha256": origin["parts"]["loss"]["sha256"][:12],
        }


def list_measured(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a row of the table for each size and engine, each measured in a new process."""
    for millions in map(int, arguments.rows.split(",")):
        source = folder / f"rows-{millions}"
        write_rows(source, millions)
        for engine in arguments.engines.split(","):
            command = [sys.executable, __file__, "--measure", engine, "--memory", arguments.memory]
            command += ["--folder", str(folder), "--rows", str(millions)]
            environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
            row = json.loads(done.stdout.splitlines()[-1])
            print(f"{millions} million rows: {row}", file=sys.stderr, flush=True)
            yield str(millions), *row.values()


def main() -> None:
    """Print the table, or one row of it as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="1,10,100")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--memory", default="2g")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        target = arguments.folder / f"frozen-{arguments.rows}-{arguments.measure}"
        source = arguments.folder / f"rows-{arguments.rows}"
        print(json.dumps(measure(arguments.measure, source, target, arguments.memory)))
        return
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        print(table(_HEADER, list_measured(arguments, Path(folder))))


if __name__ == "__main__":
    main()
