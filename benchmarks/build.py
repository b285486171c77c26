"""Measures builds as ratios to plain MkDocs on the same Markdown without figures, in one run.

    python benchmarks/build.py [--pages 50] [--pages 10 --pages 200] [--text 1000] [--times 3] [--folder DIR]

For each number of pages: a cold build, one where nothing changed, one after the data of a single page
changed, one after its words changed, and the largest process' memory. For each number of pages of text, which
have no figures: the same but for data. ``--help`` is compared with an empty Python. Ratios are what
counts, each of two commands run one after the other; seconds depend on the machine and on what else it
does.
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

from measure import Paired, forget_cache, paired, run, table
from workload import Size, write_data, write_plain, write_report, write_text_report

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPORTGEN = [sys.executable, "-m", "reportgen"]
_MKDOCS = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
_HEADER = ("", "seconds", "ratio", "limit", "aim", "peak MB")
_MANY = 1000  # pages, for which a change of one has a limit in seconds


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
    build = [*_REPORTGEN, "build"]

    def plain() -> float:
        return run(_MKDOCS, plain_site).seconds

    def forget(_: int) -> None:
        _forget(report)

    def change(number: int) -> None:
        write_data(report, size, size.pages // 2, version=number + 1)

    def change_words(number: int) -> None:
        _change_words(report, size, number)

    yield _row(
        f"plain MkDocs, {size.pages} pages without figures", paired(_MKDOCS, plain_site, plain, max(times, 3))
    )
    cold = paired(build, report, plain, times, before=forget)
    yield _row(f"cold, {3 * size.pages} figures of {size.rows:,} rows", cold, "20", "12")
    yield _row("nothing changed", paired(build, report, plain, max(times, 3)), "0.5", "0.1 s")
    changed = paired(build, report, plain, max(times, 3), before=change)
    one_page = "1.5" if size.pages < _MANY else "1.5 s"
    yield _row("one page's data changed", changed, one_page)
    reworded = paired(build, report, plain, max(times, 3), before=change_words)
    yield _row("one page's words changed", reworded, one_page)


def measure_text(folder: Path, size: Size, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for pages without figures."""
    report, plain_site = folder / "report", folder / "plain"
    write_text_report(report, size)
    write_plain(plain_site, size)
    run(_MKDOCS, plain_site)
    build = [*_REPORTGEN, "build"]

    def plain() -> float:
        return run(_MKDOCS, plain_site).seconds

    def forget(_: int) -> None:
        _forget(report)

    def change_words(number: int) -> None:
        _change_words(report, size, number)

    yield _row(f"plain MkDocs, {size.pages} pages of text", paired(_MKDOCS, plain_site, plain, times))
    yield _row("cold", paired(build, report, plain, times, before=forget))
    yield _row("nothing changed", paired(build, report, plain, times), "0.3 s", "0.1 s")
    changed = paired(build, report, plain, times, before=change_words)
    yield _row("one page's words changed", changed, "1.5 s")


def _forget(report: Path) -> None:
    shutil.rmtree(report / "site", ignore_errors=True)
    forget_cache()


def _change_words(report: Path, size: Size, number: int) -> None:
    page = report / "content" / f"page-{size.pages // 2:03}.md"
    page.write_text(f"{page.read_text('utf-8')}\nChange {number}.\n", encoding="utf-8")


def starts(folder: Path, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for the start of the command line."""
    empty = [sys.executable, "-c", "pass"]

    def nothing() -> float:
        return run(empty, folder).seconds

    least = paired(empty, folder, nothing, times)
    yield _row("python -c pass", least)
    limit = (2 * least.seconds + 0.1) / least.seconds
    yield _row("reportgen --help", paired([*_REPORTGEN, "--help"], folder, nothing, times), f"{limit:.1f}")


def _row(what: str, found: Paired, limit: str = "", aim: str = "") -> tuple[str, ...]:
    return what, f"{found.seconds:.2f}", f"{found.ratio:.2f}", limit, aim, f"{found.megabytes:.0f}"


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, action="append", help="number of pages; may be repeated")
    parser.add_argument("--text", type=int, action="append", help="number of pages of text; may be repeated")
    parser.add_argument("--steps", type=int, default=1000, help="steps of a run")
    parser.add_argument("--times", type=int, default=3, help="runs of each build; the median counts")
    parser.add_argument("--folder", type=Path, help="write the workload here and keep it")
    wanted = parser.parse_args()
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("mkdocs-reportgen", "mkdocs", "duckdb", "altair")
    )
    print(f"Python {sys.version.split()[0]}, {packages}; {os.cpu_count()} cores.")
    print("Limits of the peak: 300 MB at 50 pages, 350 at 1,000.")
    with tempfile.TemporaryDirectory() as scratch:
        place = wanted.folder or Path(scratch)
        for pages in wanted.text or []:
            rows = measure_text(place / f"text-{pages}", Size(pages=pages), wanted.times)
            print(f"\n{table(_HEADER, rows)}", flush=True)
        for pages in wanted.pages or ([] if wanted.text else [50]):
            rows = measure(place / f"pages-{pages}", Size(pages=pages, steps=wanted.steps), wanted.times)
            print(f"\n{table(_HEADER, rows)}", flush=True)
        print(f"\n{table(_HEADER, starts(place, 7))}")


if __name__ == "__main__":
    main()
