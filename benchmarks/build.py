"""Measures builds as ratios to plain MkDocs on the same Markdown without figures, in one run.

    python benchmarks/build.py [--pages 50] [--pages 10 --pages 200] [--times 3] [--folder KEPT]

For each number of pages: a cold build, one where nothing changed, one after the data of a single page
changed, and the largest process' memory. ``--help`` is held against an empty Python. Ratios are what
counts; seconds depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from measure import Measured, median, run, table
from workload import Size, write_data, write_plain, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPORTGEN = [sys.executable, "-m", "reportgen"]
_MKDOCS = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
_HEADER = ("", "seconds", "ratio", "limit", "aim", "peak MB")


def measure(folder: Path, size: Size, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for one size.

    Args:
        folder: where the workload is written.
        size: how large it is.
        times: how often each build is run.
    """
    report, plain_site = folder / "report", folder / "plain"
    write_report(report, size)
    write_plain(plain_site, size)
    run(_MKDOCS, plain_site)  # compiles and caches what every later build finds
    plain = median(_MKDOCS, plain_site, max(times, 3))
    build = [*_REPORTGEN, "build"]

    def forget(_: int) -> None:
        for name in ("site", ".reportgen"):
            shutil.rmtree(report / name, ignore_errors=True)

    def change(number: int) -> None:
        write_data(report, size, size.pages // 2, version=number + 1)

    cold = median(build, report, times, before=forget)
    nothing = median(build, report, max(times, 3))
    changed = median(build, report, times, before=change)
    yield _row(f"plain MkDocs, {size.pages} pages without figures", plain, plain)
    yield _row(f"cold, {3 * size.pages} figures of {size.rows:,} rows", cold, plain, "20", "12")
    yield _row("nothing changed", nothing, plain, "0.5", "0.1 s")
    yield _row("one page's data changed", changed, plain, "3", "")


def starts(folder: Path, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for the start of the command line."""
    empty = median([sys.executable, "-c", "pass"], folder, times)
    helped = median([*_REPORTGEN, "--help"], folder, times)
    yield _row("python -c pass", empty, empty)
    limit = (2 * empty.seconds + 0.1) / empty.seconds
    yield _row("reportgen --help", helped, empty, f"{limit:.1f}", "")


def _row(what: str, found: Measured, against: Measured, limit: str = "", aim: str = "") -> tuple[str, ...]:
    ratio = found.seconds / against.seconds
    return what, f"{found.seconds:.2f}", f"{ratio:.2f}", limit, aim, f"{found.megabytes:.0f}"


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, action="append", help="number of pages; may be repeated")
    parser.add_argument("--steps", type=int, default=1000, help="steps of a run")
    parser.add_argument("--times", type=int, default=3, help="runs of each build; the median counts")
    parser.add_argument("--folder", type=Path, help="write the workload here and keep it")
    wanted = parser.parse_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("reportgen", "mkdocs", "duckdb", "altair"))
    print(f"Python {sys.version.split()[0]}, {packages}; {os.cpu_count()} cores. Peak limit 400 MB, aim 300.")
    with tempfile.TemporaryDirectory() as scratch:
        place = wanted.folder or Path(scratch)
        for pages in wanted.pages or [50]:
            rows = measure(place / f"pages-{pages}", Size(pages=pages, steps=wanted.steps), wanted.times)
            print(f"\n{table(_HEADER, rows)}", flush=True)
        print(f"\n{table(_HEADER, starts(place, 7))}")


if __name__ == "__main__":
    main()
