"""Writes seeded workloads for the benchmarks: run data, pages that draw them, and the same pages without.

    python benchmarks/workload.py FOLDER [--pages 50] [--steps 1000] [--plain]

Workload ``medium`` is the default: 50 pages of 3 curve figures, each of 5 series × 5 seeds × 1000 steps;
that is one CSV file of 75 000 rows a page, 3.75 million in all. The same arguments always write the same
bytes.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = ("train/loss", "eval/accuracy", "policy entropy")
SERIES = ("baseline", "large batch", "long warm-up", "no dropout", "mixed data")

_REPORT = """\
site_name: Benchmark
theme:
  name: reportgen
plugins:
  - search
  - reportgen
"""
_PLAIN = """\
site_name: Benchmark
theme:
  name: mkdocs
plugins:
  - search
"""
_WORDS = re.findall(
    r"\S+",
    "run series step value loss accuracy early late after before rises falls slowly quickly again between "
    "seeds spread narrow wide higher lower same data batch model training evaluation stays near level",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a workload is."""

    pages: int = 50
    steps: int = 1000
    seeds: int = 5

    @property
    def rows(self) -> int:
        """Rows of all data files together."""
        return self.pages * len(METRICS) * len(SERIES) * self.seeds * self.steps


def write_report(folder: Path, size: Size) -> None:
    """A report with one data file and one page of three curve figures for each page number."""
    for sub in ("content", "data"):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    (folder / "mkdocs.yml").write_text(f"{_REPORT}docs_dir: content\n", encoding="utf-8")
    (folder / "content" / "index.md").write_text(
        "# Benchmark\n\nEvery page has three figures.\n", encoding="utf-8"
    )
    for page in range(size.pages):
        text = "\n".join(_page(page, figures=True))
        (folder / "content" / f"page-{page:03}.md").write_text(text, encoding="utf-8")
        write_data(folder, size, page)


def write_plain(folder: Path, size: Size) -> None:
    """The same Markdown without its figures, for MkDocs alone."""
    (folder / "content").mkdir(parents=True, exist_ok=True)
    (folder / "mkdocs.yml").write_text(f"{_PLAIN}docs_dir: content\n", encoding="utf-8")
    (folder / "content" / "index.md").write_text(
        "# Benchmark\n\nEvery page has three figures.\n", encoding="utf-8"
    )
    for page in range(size.pages):
        text = "\n".join(_page(page, figures=False))
        (folder / "content" / f"page-{page:03}.md").write_text(text, encoding="utf-8")


def write_text_report(folder: Path, size: Size) -> None:
    """A report of the pages without figures."""
    write_plain(folder, size)
    (folder / "mkdocs.yml").write_text(f"{_REPORT}docs_dir: content\n", encoding="utf-8")


def write_data(folder: Path, size: Size, page: int, *, version: int = 0) -> None:
    """The data file of one page, in long form; another ``version`` has other numbers of the same kind."""
    path = folder / "data" / f"runs-{page:03}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("series,seed,step,metric,value\n")
        for place, series in enumerate(SERIES):
            for seed in range(size.seeds):
                # A generator for each run: another page or seed moves no other number.
                rng = random.Random(f"{page}/{series}/{seed}/{version}")  # noqa: S311 - not for secrets
                file.writelines(_run(rng, series, place, seed, size.steps))


def _run(rng: random.Random, series: str, place: int, seed: int, steps: int) -> Iterator[str]:
    pace = (0.004 + 0.002 * place) * 1000 / steps
    offset = rng.gauss(0, 0.02)
    for step in range(steps):
        learned = 1 - math.exp(-pace * step)
        loss = 2.5 - 2 * learned + offset + rng.gauss(0, 0.05)
        accuracy = 0.25 + 0.5 * learned - offset + rng.gauss(0, 0.01)
        entropy = 1.2 - 0.9 * learned * (1 + 0.1 * place) + rng.gauss(0, 0.03)
        for metric, value in zip(METRICS, (loss, accuracy, entropy), strict=True):
            yield f"{series},{seed},{step},{metric},{value:.6f}\n"


def _page(page: int, *, figures: bool) -> Iterator[str]:
    rng = random.Random(f"page {page}")  # noqa: S311 - not for secrets
    yield f"# Page {page}\n"
    yield _paragraph(rng)
    for metric in METRICS:
        yield f"## {metric.capitalize()} of page {page}\n"
        yield _paragraph(rng)
        if figures:
            yield f"```curve\nsource: runs-{page:03}\nmetric: {metric}\ntitle: {metric.capitalize()}\n```\n"
        yield _paragraph(rng)


def _paragraph(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=60)).capitalize() + ".\n"


def main() -> None:
    """Write one workload."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--plain", action="store_true", help="pages without figures, for MkDocs alone")
    wanted = parser.parse_args()
    size = Size(pages=wanted.pages, steps=wanted.steps)
    if wanted.plain:
        write_plain(wanted.folder, size)
    else:
        write_report(wanted.folder, size)


if __name__ == "__main__":
    main()
