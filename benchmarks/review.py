"""Measures ``reportgen review`` as ratios to a cold build of one page, and a comment on many changed figures.

    python benchmarks/review.py [--pages 50] [--figures 5000] [--times 3] [--folder DIR]

The reviewed report is in a repository of its own, with a cache that knows the commit; before each review the
data of one page change. The figures are those of two built sites, every one with other numbers. Ratios are
what counts, see ``build.py``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measure import paired, run, table
from workload import Size, write_data, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPORTGEN = [sys.executable, "-m", "reportgen"]
_HEADER = ("", "seconds", "ratio", "limit", "peak MB")
_STEPS = 400
_MOST_CHARACTERS = 60_000


def review_pages(folder: Path, size: Size, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for a review of one page's changed data, next to cold builds of a single page.

    Args:
        folder: where both reports are written.
        size: how large the reviewed one is.
        times: how often each command is run.
    """
    one_page, report = folder / "one-page", folder / "report"
    write_report(one_page, Size(pages=1, steps=size.steps))
    write_report(report, size)
    _commit(report)
    build = [*_REPORTGEN, "build"]
    run(build, one_page)  # compiles and caches what every later build finds
    run([*_REPORTGEN, "check"], report)
    seconds = []

    def build_page() -> float:
        shutil.rmtree(one_page / "site")
        for cache in Path(os.environ["REPORTGEN_CACHE_DIR"]).glob("one-page-*"):
            shutil.rmtree(cache)
        seconds.append(run(build, one_page).seconds)
        return seconds[-1]

    def change(number: int) -> None:
        write_data(report, size, size.pages // 2, version=number + 1)

    review = [*_REPORTGEN, "review", "HEAD", "--fail-on", "never"]
    found = paired(review, report, build_page, times, before=change)
    least = sorted(seconds)[len(seconds) // 2]
    yield "cold build of one page", f"{least:.2f}", "1.00", "", ""
    limit = f"{1.3 + 0.5 / least:.2f}"
    what = f"review of {size.pages} pages, one source changed"
    yield what, f"{found.seconds:.2f}", f"{found.ratio:.2f}", limit, f"{found.megabytes:.0f}"


def _commit(root: Path) -> None:
    (root / ".gitignore").write_text("/review/\n", encoding="utf-8")
    author = ["-c", "user.name=Benchmark", "-c", "user.email=benchmark@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "--message=Base"]):
        subprocess.run(["git", *words], cwd=root, check=True)  # noqa: S607 - fixed words


def review_figures(folder: Path, count: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for a review of so many changed figures, and its comment."""
    for version in range(2):
        write_site(folder / f"site-{version}", count, version=version)
    (folder / "mkdocs.yml").write_text("site_name: Figures\n", encoding="utf-8")
    review = [*_REPORTGEN, "review", "site-0", "site-1", "--fail-on", "never"]
    markdown = ("--format", "markdown", "--fail-on", "never")
    for what, command in (
        (f"review of {count:,} changed figures", review),
        (f"comment on {count:,} changed figures", [*review[:-4], "--read", "review/review.json", *markdown]),
    ):
        found = run(command, folder)
        yield what, f"{found.seconds:.2f}", "", "400 MB", f"{found.megabytes:.0f}"
    comment = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    yield "its characters", f"{len(comment):,}", "", f"{_MOST_CHARACTERS:,}", ""


def write_site(folder: Path, count: int, *, version: int) -> None:
    """The files of a built site that a review reads: report.json and the points of each figure.

    Args:
        folder: the site.
        count: how many figures it has, of two series each, 50 on a page.
        version: another one has other numbers.
    """
    pages: list[dict[str, object]] = []
    for start in range(0, count, 50):
        path = f"page-{start // 50:03}.md"
        places = range(start, min(start + 50, count))
        figures = [_describe_figure(f"figure-{place}", place, version) for place in places]
        lists: dict[str, object] = {"statements": [], "stacks": [], "tables": [], "observations": []}
        page = {"path": path, "title": path, **lists}
        pages.append({**page, "figures": figures})
        for place in places:
            points = folder / f"figure-{place}.csv"
            points.parent.mkdir(parents=True, exist_ok=True)
            points.write_text("".join(_list_points(place, version)), encoding="utf-8")
    report = {"format": 1, "generator": {"version": "0"}, "pages": pages, "sources": [], "problems": []}
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")


def _describe_figure(name: str, place: int, version: int) -> dict[str, object]:
    ends = [(series, _read_curve(place, shift, version, _STEPS - 1)) for shift, series in enumerate("ab")]
    numbers = {
        "metric": f"metric {place}",
        "band": "ci",
        "level": 0.95,
        "series": [
            {
                "name": series,
                "last": {"value": end, "low": end - 0.1, "high": end + 0.1, "n": 5, "step": _STEPS - 1},
            }
            for series, end in ends
        ],
    }
    words = {"title": f"Metric {place}", "caption": "A line is a mean of 5 runs.", "summary": "Both rise."}
    return {"id": name, "kind": "curve", "numbers": numbers, "files": [f"{name}.csv"], **words}


def _list_points(place: int, version: int) -> Iterator[str]:
    yield "series,step,value,low,high\n"
    for shift, series in enumerate("ab"):
        for step in range(_STEPS):
            value = _read_curve(place, shift, version, step)
            yield f"{series},{step},{value:.6f},{value - 0.1:.6f},{value + 0.1:.6f}\n"


def _read_curve(place: int, shift: int, version: int, step: int) -> float:
    pace = 0.005 + 0.003 * math.sin(place + 1000 * shift)
    return 1 - math.exp(-pace * step) + 0.01 * math.sin((7 + version) * step + place)


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=50, help="pages of the reviewed report")
    parser.add_argument("--steps", type=int, default=1000, help="steps of a run")
    parser.add_argument("--figures", type=int, default=5000, help="changed figures of the other case")
    parser.add_argument("--times", type=int, default=3, help="runs of each command; the median counts")
    parser.add_argument("--folder", type=Path, help="write the workloads here and keep them")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        size = Size(pages=chosen.pages, steps=chosen.steps)
        print(table(_HEADER, review_pages(folder / "pages", size, chosen.times)), flush=True)
        print(f"\n{table(_HEADER, review_figures(folder / 'figures', chosen.figures))}")


if __name__ == "__main__":
    main()
