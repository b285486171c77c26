"""Measures ``reportgen hub``: many reports for the first time, then with one added, changed, and so on.

    python benchmarks/hub.py [--reports 1000] [--times 3] [--folder DIR]

One report with a page is built for real, and each of the hub is a copy of it with scores, a title and a date
of its own, whose other files are hard links. Each update is repeated, with another report each time, and the
median counts. Processor time is what an update takes on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, cast

from measure import forget_cache, run, table
from workload import Size, write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_REPORTGEN = [sys.executable, "-m", "reportgen"]
_HEADER = ("", "seconds", "limit", "processor", "peak MB", "limit", "files written")
_TEAMS, _BENCHMARKS = 20, 30
_REPORT = "report.json"
_HOME = "index.html"


def build_model(folder: Path) -> Path:
    """Build the report that all others are copies of, and return its site."""
    report = folder / "model"
    write_report(report, Size(pages=1, steps=50))
    run([*_REPORTGEN, "build"], report)
    return report / "site"


def write_site(model: Path, site: Path, number: int) -> None:
    """Write the site of a report: links to the model's files, with a title, a date and scores of its own."""
    shutil.copytree(model, site, copy_function=os.link)
    home, report = (model / _HOME).read_text("utf-8"), json.loads((model / _REPORT).read_bytes())
    start, _, rest = home.partition("<title>")
    benchmark = f"Benchmark {number % _BENCHMARKS}"
    score = {"series": f"Model {number}", "estimate": number % 97 / 97, "metric": "mean", "level": 0.95}
    score |= {"low": number % 97 / 97 - 0.05, "high": number % 97 / 97 + 0.05, "problems": 500}
    protocol = {score["series"]: {"harness": f"harness {number % 3}", "problem set": "0123456789ab"}}
    numbers = {"benchmark": benchmark, "higher_is_better": True, "scores": [score], "protocol": protocol}
    report["pages"][0]["stacks"].append({"id": "scores", "title": "Scores", "numbers": numbers})
    report |= {"date": f"2026-{1 + number % 12:02}-{1 + number % 28:02}", "version": "1.0"}
    for name, content in (
        (_HOME, f"{start}<title>Report {number}{rest[rest.index('<') :]}"),
        (_REPORT, json.dumps(report)),
    ):
        (site / name).unlink()
        (site / name).write_text(content, encoding="utf-8")


def list_reports(folder: Path, numbers: list[int]) -> None:
    """Write the ``hub.yml``; JSON is YAML."""
    reports = [
        {"name": f"report-{number}", "from": f"sites/{number}", "team": f"Team {number % _TEAMS}"}
        for number in numbers
    ]
    value = {"title": "Lab", "site_url": "https://lab.example/", "reports": reports}
    (folder / "hub.yml").write_text(json.dumps(value, indent=1), encoding="utf-8")


def measure(folder: Path, count: int, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table: a first update, and updates after each kind of change."""
    model, sites = build_model(folder), folder / "sites"
    for number in range(count):
        write_site(model, sites / str(number), number)
    present = list(range(count))

    def update(name: str, limit: str, changes: Iterable[Callable[[], None]]) -> tuple[str, ...]:
        command, found = [*_REPORTGEN, "hub", "hub.yml", "--to", "public"], []
        for change in changes:
            change()
            list_reports(folder, present)
            before = _list_times(folder / "public")
            # A report that is not up to date makes the command end with 3.
            found.append(run(command, folder, codes=(0, 3)))
        written = sum(before.get(path) != one for path, one in _list_times(folder / "public").items())
        seconds, work = median(one.seconds for one in found), median(one.processor for one in found)
        peak = max(one.megabytes for one in found)
        return name, f"{seconds:.2f}", limit, f"{work:.2f}", f"{peak:.0f}", "300", f"{written:,}"

    def add() -> None:
        present.append(len(present))
        write_site(model, sites / str(present[-1]), present[-1])

    def change(number: int) -> None:
        shutil.rmtree(sites / str(number))
        write_site(model, sites / str(number), number + 77_777)

    def keep() -> None:
        pass

    def damage(number: int) -> None:
        (sites / str(number) / _REPORT).write_text("{", encoding="utf-8")

    files = sum(path.is_file() for path in model.rglob("*"))
    yield update(f"{count:,} reports of {files} files", "", [keep])
    yield update("nothing changed", "1", [keep] * times)
    yield update("one added", "1", [add] * times)
    yield update("one changed", "1", [partial(change, number) for number in range(times)])
    yield update("one removed", "1", [cast("Callable[[], None]", present.pop)] * times)
    yield update("one broken", "1", [partial(damage, times + number) for number in range(times)])
    yield update("nothing changed, with an empty cache", "", [forget_cache])


def _list_times(folder: Path) -> dict[str, tuple[int, int]]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reports", type=int, default=1000, help="reports of the hub")
    parser.add_argument(
        "--times", type=int, default=3, help="updates after each kind of change; the median counts"
    )
    parser.add_argument("--folder", type=Path, help="write the reports here and keep them")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        print(table(_HEADER, measure(folder, chosen.reports, chosen.times)))


if __name__ == "__main__":
    main()
