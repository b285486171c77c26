"""A server of Spark Connect: prints READY once it answers, and stops when its standard input is closed.

    python serve_connect.py PORT [MEMORY [CORES]]

It needs Java 17 or newer and ``pip install pyspark``; its clients need neither.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_session(memory: str, cores: str, settings: Mapping[str, str]) -> Any:  # noqa: ANN401 - of Spark
    """Open a session of Spark in this process and one of Java, on this machine alone."""
    known = {
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        **settings,
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for key, value in known.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main() -> None:
    """Serve until whoever started this closes the pipe, or dies."""
    port, memory, cores = [*sys.argv[1:], *["1g", "2"][len(sys.argv) - 2 :]]
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
    }
    session = open_session(memory, cores, settings)
    print("READY", flush=True)
    sys.stdin.read()
    session.stop()


if __name__ == "__main__":
    main()
