"""Timings of programs: what tells each format; their modules are imported only if it is there."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader

PYTEST_BENCHMARK: Final = Reader(
    "results of pytest-benchmark",
    ("*.json",),
    head=r'\s*\{\s*"machine_info"\s*:',
    rank=294,
    series_from="name",
    many_runs=True,
)
HYPERFINE: Final = Reader(
    "results of hyperfine",
    ("*.json",),
    head=r'\s*\{\s*"results"\s*:\s*\[\s*\{\s*"command"\s*:',
    rank=295,
    series_from="name",
    many_runs=True,
)
GOOGLE_BENCHMARK: Final = Reader(
    "results of Google Benchmark",
    ("*.json",),
    head=r'\s*\{\s*"context"\s*:\s*\{\s*"date"\s*:',
    rank=296,
    series_from="name",
    many_runs=True,
)
ASV: Final = Reader(
    "results of asv",
    ("*.json",),
    head=r'\s*\{\s*"commit_hash"\s*:',
    rank=297,
    series_from="name",
    many_runs=True,
)
