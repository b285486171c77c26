"""Measures cold builds as ratios to MkDocs with its charts plugin and pandas, in one run.

    python -m pip install mkdocs-charts-plugin
    python benchmarks/charts_plugin.py [--pages 50] [--times 5] [--bins 150] [--folder DIR]

Both read the workload of ``workload.py`` and show the mean of the runs with its 95% CI at each step. For the
plugin, a script computes these with pandas and writes a CSV file for each figure, and the pages have a
Vega-Lite specification, which the reader's browser draws. reportgen also draws each figure as a picture.
With ``--bins``, the script first averages each run within so many bins of steps, about as many as a reader
can see, while reportgen computes each step as ever.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from measure import forget_cache, paired, run, table
from workload import METRICS, Size, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

_T_QUANTILE = 2.776  # of Student's t for a 95% CI over the five runs of the workload
_SETTINGS = """\
site_name: Benchmark
theme:
  name: mkdocs
docs_dir: content
plugins:
  - search
  - charts
extra_javascript: [vega.js, vega-lite.js, vega-embed.js]
markdown_extensions:
  - pymdownx.superfences:
      custom_fences:
        - name: vegalite
          class: vegalite
          format: !!python/name:mkdocs_charts_plugin.fences.fence_vegalite
"""
_FENCE = re.compile(r"```curve\nsource: (.*)\nmetric: (.*)\ntitle: (.*)\n```")
_CHART = """\
```vegalite
{{"title": "{title}", "data": {{"url": "data/{name}"}},
"encoding": {{"x": {{"field": "step", "type": "quantitative"}}, "color": {{"field": "series"}}}},
"layer": [
  {{"mark": {{"type": "area", "opacity": 0.2}},
   "encoding": {{"y": {{"field": "low", "type": "quantitative"}}, "y2": {{"field": "high"}}}}}},
  {{"mark": "line", "encoding": {{"y": {{"field": "mean", "type": "quantitative"}}}}}}
]}}
```"""


def name_table(source: str, metric: str) -> str:
    """Return the file of a figure's means and intervals."""
    return f"{source}-{METRICS.index(metric)}.csv"


def write_charts(report: Path, charts: Path) -> None:
    """Write the pages of a report with charts of the plugin in place of its figures."""
    (charts / "content").mkdir(parents=True, exist_ok=True)
    (charts / "mkdocs.yml").write_text(_SETTINGS, encoding="utf-8")

    def write_chart(fence: re.Match[str]) -> str:
        return _CHART.format(title=fence[3], name=name_table(fence[1], fence[2]))

    for page in (report / "content").glob("*.md"):
        text = _FENCE.sub(write_chart, page.read_text("utf-8"))
        (charts / "content" / page.name).write_text(text, encoding="utf-8")


def aggregate(data: Path, target: Path, *, bins: int) -> None:
    """Write mean and 95% CI over runs at each step or bin, for each metric of each file."""
    target.mkdir()
    for path in sorted(data.glob("*.csv")):
        rows = pd.read_csv(path)
        if bins:
            width = (rows["step"].max() + 1) / bins
            rows["step"] = (rows["step"] // width + 0.5) * width
            rows = rows.groupby(["metric", "series", "seed", "step"])["value"].mean().reset_index()
        found = (
            rows.groupby(["metric", "series", "step"])["value"].agg(["mean", "std", "count"]).reset_index()
        )
        half = _T_QUANTILE * found["std"] / found["count"] ** 0.5
        found["low"], found["high"] = found["mean"] - half, found["mean"] + half
        for metric, one in found.groupby("metric"):
            columns = one[["series", "step", "mean", "low", "high"]]
            columns.to_csv(target / name_table(path.stem, str(metric)), index=False, float_format="%.6g")


def measure(folder: Path, size: Size, times: int, bins: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table: the plugin with pandas, and a cold build."""
    report, charts = folder / "report", folder / "charts"
    write_report(report, size)
    write_charts(report, charts)
    seconds = []

    def build_charts() -> float:
        for written in (charts / "content" / "data", charts / "site"):
            shutil.rmtree(written, ignore_errors=True)
        table_files = [sys.executable, __file__, "--bins", str(bins)]
        table_files += ["--aggregate", str(report / "data"), "content/data"]
        mkdocs = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
        seconds.append(sum(run(command, charts).seconds for command in (table_files, mkdocs)))
        return seconds[-1]

    def forget(_: int) -> None:
        shutil.rmtree(report / "site", ignore_errors=True)
        forget_cache()

    build_charts()  # compiles and caches what every later build finds
    cold = paired([sys.executable, "-m", "reportgen", "build"], report, build_charts, times, before=forget)
    yield "MkDocs with charts plugin and pandas", f"{sorted(seconds)[len(seconds) // 2]:.2f}", "", "", ""
    yield "reportgen, cold", f"{cold.seconds:.2f}", f"{cold.ratio:.2f}", "1", f"{cold.megabytes:.0f}"


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=50, help="number of pages, of three figures each")
    parser.add_argument("--times", type=int, default=5, help="runs of each build; the median counts")
    parser.add_argument("--bins", type=int, default=0, help="bins that the script averages runs in; 0: none")
    parser.add_argument("--folder", type=Path, help="write the workload here and keep it")
    parser.add_argument("--aggregate", type=Path, nargs=2, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.aggregate:
        aggregate(*wanted.aggregate, bins=wanted.bins)
        return
    if not find_spec("mkdocs_charts_plugin"):
        parser.error("mkdocs-charts-plugin is not installed: python -m pip install mkdocs-charts-plugin")
    with tempfile.TemporaryDirectory() as scratch:
        folder = wanted.folder or Path(scratch)
        header = ("", "seconds", "ratio", "limit", "peak MB")
        print(table(header, measure(folder, Size(pages=wanted.pages), wanted.times, wanted.bins)))


if __name__ == "__main__":
    main()
