"""A server of Spark Connect: prints READY once it answers, and stops when its standard input is closed.

Usage: python serve_connect.py PORT [MEMORY [CORES]]
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def main() -> None:
    """Serve until whoever started this closes the pipe, or dies."""
    port, memory, cores = (*sys.argv[1:], "1g", "2")[:3] if len(sys.argv) < 4 else sys.argv[1:4]
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    builder.getOrCreate()
    print("READY", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
