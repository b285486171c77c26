"""Pages for the browser tests: figures of small reports, in the real fragments, under a strict policy."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from drafted_blocks import draft_block, write_table
from msgspec.structs import replace
from vega import BUNDLE

from reportgen.core.errors import SourceLocation
from reportgen.core.model import Cell, ResultTable
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.live import compile_view
from reportgen.figures.render import compile_to_vega, render_pdf
from reportgen.figures.text import name_view, write_compact_json, write_link_state
from reportgen.site.fragments import render_block, render_view
from reportgen.site.outputs import list_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.model import Figure, FloatArray, Panels, Shown

    Rows = list[tuple[str, str, str, float, float]]

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "reportgen" / "site" / "assets"
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "__proto__",
    "constructor",
    "مرحبا",
    "a\u200b\u202elive",
    "x" * 500,
)
# Stricter than a site's own: figures need no image from data either.
POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
_PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="auto"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>Figures</title>
<link rel="icon" href="assets/icon.svg">
<link rel="stylesheet" href="assets/fonts/fonts.css">
<link rel="stylesheet" href="assets/tokens.css">
<link rel="stylesheet" href="assets/page.css">
<link rel="stylesheet" href="assets/figure.css">
<script src="assets/live.js" defer></script>
</head><body><main><h1>Figures</h1>
{body}
{views}
</main><footer>Built from commit <code class="rg-commit">1234567</code></footer></body></html>
"""
_COLUMNS = ("series", "run", "seed", "step")
_TITLE = "title: test data\n"
_POWERS = {"large": 1, "middle": 1.5, "small": 3}
# Where three and five runs lie at a step, in order.
_PLACES = {3: (-1.0, 0.0, 1.0), 5: (-7.0, -5.0, 0.0, 5.0, 7.0)}
_QUANTILES = {3: 4.302652729911275, 5: 2.7764451051977987}  # of Student's t at 0.975, by the number of runs
_CSS = """html { color-scheme: light dark; }
body { margin: 0; background: var(--rg-bg); color: var(--rg-text); font: 16px/1.6 var(--rg-font); }
main { max-width: 860px; margin: 0 auto; padding: 16px; }
"""
_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>\n'


def curve(
    series: str, steps: Sequence[float], *runs: Sequence[float] | FloatArray, half: float = 0.0
) -> Rows:
    """Rows of a series of one or more runs on the same steps.

    ``half`` is half the width of the 95 % interval of the mean: the runs keep their order and lie within it.
    """
    values = np.array(runs, dtype=np.float64)
    if half:
        places, count = np.array(_PLACES[len(runs)]), len(runs)
        places = places * half * np.sqrt(count) / (_QUANTILES[count] * places.std(ddof=1))
        values = values.mean(axis=0) + places[values.argsort(axis=0).argsort(axis=0)]
    return [
        (series, f"{series}-{n}", str(n), step, value)
        for n, run in enumerate(values.tolist())
        for step, value in zip(steps, run, strict=True)
    ]


def write_runs(*curves: Rows, metric: str = "accuracy") -> dict[str, str]:
    """The data of a report: rows of one metric, from a source called "test data"."""
    rows = [row for curve in curves for row in curve]
    return {"runs.csv": write_table((*_COLUMNS, metric), rows), "runs.source.yml": _TITLE}


def figure(
    folder: Path, figure_id: str, *curves: Rows, metric: str = "accuracy", **settings: object
) -> Figure:
    """The figure of a ``curve`` block in a report of its own, of which higher is better."""
    told = {"id": figure_id, "source": "runs", "title": f"{metric} by step", "higher_is_better": True}
    made: Figure = draft_block(
        folder / "reports" / figure_id, "curve", write_runs(*curves, metric=metric), **told | settings
    )
    return made


def chart(figure_id: str, specification: dict[str, Any], rows: list[dict[str, Any]]) -> Figure:
    """A finished figure of an author's own specification; its source is called ``here``."""
    place = SourceLocation("content/index.md", 1)
    return draw_author_figure(
        figure_id,
        "vega-lite",
        specification | {"data": {"source": "here"}},
        {"here": rows},
        title="An author's chart",
        caption="",
        summary="What it shows, in words.",
        place=place,
    )


def write_page(folder: Path, name: str, *shown: Shown) -> Path:
    """Write one page, and the files of its figures; the assets must be there (``write_assets``)."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    figures = tuple(figure for one in shown for figure in list_figures(one))
    for one in figures:
        for ending, text in (("svg", one.file_svg), ("csv", one.csv), ("vl.json", one.spec)):
            (folder / "figures" / f"{one.id}.{ending}").write_text(str(text), encoding="utf-8")
        if one.has_pdf:
            (folder / "figures" / f"{one.id}.pdf").write_bytes(render_pdf(str(one.file_svg)))
    body = "\n".join(render_block(one, lambda target: target, "figures") for one in shown)
    page = folder / f"{name}.html"
    views = "".join(
        render_view(*view)
        for view in {name_view(one.view): _compiled(one) for one in figures if one.view}.items()
    )
    page.write_text(_PAGE.format(policy=POLICY, body=body, views=views), encoding="utf-8")
    return page


def _compiled(made: Figure) -> str:
    """The view that a site compiles beside its build."""
    if made.plot_class == "rg-fixed":
        return write_compact_json(compile_to_vega(json.loads(made.view)))
    return compile_view(made.view)


def write_figures(folder: Path) -> Path:
    """Write every page of the live tests, with the assets of a site; returns the folder."""
    write_assets(folder)
    pages: dict[str, Callable[[Path], Shown]] = {
        "points": points, "percent": percent, "marked": marked, "dense": dense, "cut": cut,
        "crowded": crowded, "log": log_axes, "decay": decay, "wide": wide, "smooth": smooth,
        "two-axes": two_axes, "time": over_time, "panels": diagnostics, "hostile": hostile,
        "passk": pass_at_k, "bounded": bounded,
    }  # fmt: skip
    made = {name: draw(folder) for name, draw in pages.items()}
    for name, shown in made.items():
        write_page(folder, name, shown)
    write_page(folder, "many", replace(many(folder), has_pdf=True), made["points"])
    write_page(folder, "author", authors())
    write_page(folder, "results", results())
    ranked = sorted(results().rows, key=lambda row: -(row[1].sort or 0.0))
    write_page(folder, "sorted", replace(results(), rows=tuple(ranked), sorted_by=("final", "descending")))
    write_page(folder, "runs", made["dense"], table_of_runs())
    write_page(folder, "linked", made["points"], longer(folder), made["time"])
    return folder


def points(folder: Path) -> Figure:
    """Two series of one run, read at different steps, with symbols and names at the line ends."""
    grpo = curve("GRPO", [0, 20, 40, 60, 80, 100, 120, 140], [0.74, 0.77, 0.795, 0.8, 0.8, 0.815, 0.82, 0.82])
    mel = curve("MEL", [0, 20, 30, 40, 60, 80, 120, 140], [0.74, 0.77, 0.76, 0.79, 0.81, 0.8, 0.84, 0.82])
    notes = [{"x": 120, "text": "best reading", "series": "MEL"}]
    lines = [{"y": 0.8, "label": "start of the field"}, {"x": 60, "label": "new data"}]
    told: dict[str, Any] = {"x_title": "Training step", "annotations": notes, "reference": lines}
    return figure(folder, "points", grpo, mel, metric="score", **told)


def percent(folder: Path) -> Figure:
    """Two series of shares, in percent."""
    ours, base = curve("ours", [0, 50, 100], [0.3, 0.5, 0.62]), curve("base", [0, 50, 100], [0.3, 0.45, 0.5])
    return figure(folder, "percent", ours, base, format="percent")


def longer(folder: Path) -> Figure:
    """Two series over the same axis as ``points`` and more of it."""
    lines = (curve(name, range(0, 310, 10), *make_runs(n, 3, 31), half=0.02) for n, name in enumerate("AB"))
    return figure(folder, "longer", *lines, x_title="Training step", height=200)


def marked(folder: Path) -> Figure:
    """Two series with more marks than their points have room for side by side, and long words at two."""
    grpo = curve("GRPO", range(0, 160, 20), [0.74, 0.77, 0.795, 0.8, 0.8, 0.815, 0.82, 0.82])
    mel = curve("MEL", range(0, 160, 20), [0.74, 0.77, 0.79, 0.81, 0.8, 0.81, 0.84, 0.82])
    notes = [
        ("MEL", 120, "best 0.84"),
        ("GRPO", 120, "widest gap 0.02"),
        ("MEL", 80, "dip 0.80"),
        ("GRPO", 80, "crossing"),
        ("MEL", 140, "late decline"),
        ("GRPO", 60, "plateau from here on, at 0.80 and later a little above it"),
        (None, 66, "new data, of which nobody knows where it came from"),
        (None, 70, "restart"),
    ]
    found = [{"x": x, "text": text, **({"series": series} if series else {})} for series, x, text in notes]
    return figure(folder, "marked", grpo, mel, metric="score", x_title="Training step", annotations=found)


def dense(folder: Path) -> Figure:
    """Five series of five runs over 150 steps, with bands."""
    steps = range(0, 1500, 10)
    lines = (curve(name, steps, *make_runs(n, 5, 150), half=0.02) for n, name in enumerate("ABCDE"))
    return figure(folder, "dense", *lines)


def cut(folder: Path) -> Figure:
    """Two series of which the y axis shows a part, with rings on its upper and lower edge."""
    upper = curve("upper", range(0, 60, 10), [0.9, 1.0, 1.0, 1.2, 0.95, 0.9])
    lower = curve("lower", range(0, 60, 10), [0.5, 0.6, 0.7, 0.5, 0.3, 0.52])
    notes = [
        {"x": 20, "text": "at the top", "series": "upper"},
        {"x": 30, "text": "at the foot", "series": "lower"},
    ]
    return figure(folder, "cut", upper, lower, y_domain=[0.5, 1.0], annotations=notes)


def bounded(folder: Path) -> Figure:
    """Two series of three runs of a share, close to 1, whose intervals stay below it."""
    steps = (0, 50, 100)
    ours = curve("ours", steps, [0.5, 0.9, 0.99], [0.6, 0.94, 0.995], [0.7, 0.98, 0.97])
    base = curve("base", steps, [0.5, 0.8, 0.9], [0.55, 0.85, 0.93], [0.6, 0.9, 0.96])
    data = write_runs(ours, base)
    data["runs.source.yml"] += "at_least: 0\nat_most: 1\n"
    told = {"id": "bounded", "source": "runs", "title": "accuracy by step", "higher_is_better": True}
    made: Figure = draft_block(folder / "reports/bounded", "curve", data, **told)
    return made


def crowded(folder: Path) -> Figure:
    """Six series that end within a hundredth, one of them early, and one apart."""
    ends = {"A": 0.8, "B": 0.803, "C": 0.806, "D": 0.809, "E": 0.797, "early": 0.801, "apart": 0.4}
    steps = {name: range(0, 80 if name == "early" else 110, 10) for name in ends}
    lines = (
        curve(name, steps[name], [end * n / len(steps[name]) for n, _ in enumerate(steps[name], 1)])
        for name, end in ends.items()
    )
    return figure(folder, "crowded", *lines)


def many(folder: Path) -> Figure:
    """Twelve series: a legend row, and some of them grey."""
    names = [f"method {n}" for n in range(1, 13)]
    lines = (curve(name, range(80), *make_runs(n, 1, 80)) for n, name in enumerate(names))
    return figure(folder, "many", *lines)


def log_axes(folder: Path) -> Figure:
    """Two series over two log axes."""
    steps = np.geomspace(1, 10_000, 40).tolist()
    lines = (
        curve(name, steps, *(np.exp(-6 * run) for run in make_runs(n, 3, 40))) for n, name in enumerate("AB")
    )
    return figure(folder, "log", *lines, metric="loss", band="none", x_scale="log", y_scale="log")


def decay(folder: Path) -> Figure:
    """Runs that fall by the same factor at each step, on a log axis, over nine powers of ten.

    Half the interval of a mean is 36 % of it.
    """
    runs = [[start * 0.178**step for step in range(13)] for start in (119.71125, 140, 160.28875)]
    base = curve("base", range(13), *runs)
    return figure(folder, "decay", base, metric="loss", y_scale="log", higher_is_better=False)


def wide(folder: Path) -> Figure:
    """Values, some of them with intervals, far below what the height of the plot shows."""
    falls = zip(range(7), (900, 3, 0.52, 0.41, -0.0042, 3e-8, 0), strict=True)
    nears = zip(range(7), (0.99987, 1.5, 12, 250, 0.5, 1e-9, 0.03), strict=True)
    rows: list[tuple[object, ...]] = [("fall", step, "loss", value, "", "") for step, value in falls]
    rows += [("near", step, "loss", value, value - 0.0049, value + 0.0049) for step, value in nears]
    header = ("series", "step", "metric", "value", "low", "high")
    data = {"runs.csv": write_table(header, rows), "runs.source.yml": _TITLE}
    told = {"id": "wide", "source": "runs", "title": "loss by step", "higher_is_better": True}
    made: Figure = draft_block(folder / "reports/wide", "curve", data, **told)
    return made


def smooth(folder: Path) -> Figure:
    """A large figure of a curve that falls steadily, from a first value that is a thousand times as high."""
    fall = [50_257.0, *(19 + 11 * 0.997**step for step in range(2_500))]
    return figure(folder, "smooth", curve("A", range(2_501), fall), metric="perplexity", max_points=2_501)


def two_axes(folder: Path) -> Figure:
    """Losses of two series on the left axis, accuracies below 1 of the same runs on the right one."""
    rows = []
    for n, name in enumerate(("one", "two")):
        rise = make_runs(n, 3, 11)
        losses = curve(name, range(0, 110, 10), *(3 - 2.5 * run for run in rise), half=0.1)
        accuracies = curve(name, range(0, 110, 10), *rise, half=0.02)
        rows += [(*row, other[-1]) for row, other in zip(losses, accuracies, strict=True)]
    data = {"runs.csv": write_table((*_COLUMNS, "loss", "accuracy"), rows), "runs.source.yml": _TITLE}
    told: dict[str, Any] = {
        "id": "two-axes",
        "source": "runs",
        "metric": ["loss", "accuracy"],
        "axis": {"accuracy": "right"},
        "title": "loss and accuracy by step",
        "annotations": [{"x": 50, "text": "half of it", "series": "two · accuracy"}],
        "reference": [{"y": 1.5, "label": "teacher"}],
    }
    made: Figure = draft_block(folder / "reports/two-axes", "curve", data, **told)
    return made


def pass_at_k(folder: Path) -> Figure:
    """pass@k of three series on 30 problems, two with 24 samples and one with 16."""
    rng = np.random.default_rng(20260101)
    ease = rng.beta(0.6, 0.4, size=30)[:, np.newaxis]
    scores = {name: rng.random((30, 24)) < ease**power for name, power in _POWERS.items()}
    rows = [
        (name, f"p{problem:05}", sample, int(score))
        for name, solved in scores.items()
        for (problem, sample), score in np.ndenumerate(solved)
        if (name, problem) != ("small", 5) or sample < 16
    ]
    data = {"AIME.csv": write_table(("series", "problem", "sample", "score"), rows)}
    made: Figure = draft_block(folder / "reports/passk", "passk", data, id="passk", source="AIME")
    return made


def over_time(folder: Path) -> Figure:
    """One series a week over a year, below zero at first, in UTC."""
    rows = [
        ("A", datetime.fromtimestamp(1_700_000_000 + 7 * 86_400 * week, UTC).isoformat(), week / 10 - 1)
        for week in range(52)
    ]
    data = {"runs.csv": write_table(("series", "step", "accuracy"), rows), "runs.source.yml": _TITLE}
    told = {"id": "time", "source": "runs", "title": "accuracy by step", "higher_is_better": True}
    made: Figure = draft_block(folder / "reports/time", "curve", data, **told)
    return made


def diagnostics(folder: Path) -> Panels:
    """Finished panels, one for each metric."""
    rows = []
    for n, name in enumerate(("one", "two")):
        made = curve(name, range(0, 35, 5), *make_runs(n, 2, 7))
        rows += [(*row, row[-1], row[-1]) for row in made]
    metrics = ["accuracy", "entropy", "kl"]
    data = {"runs.csv": write_table((*_COLUMNS, *metrics), rows), "runs.source.yml": _TITLE}
    told: dict[str, Any] = {"id": "diag", "source": "runs", "title": "Diagnostics", "metrics": metrics}
    panels: Panels = draft_block(
        folder / "reports/diag", "panels", data, **told, band="none", higher_is_better=True
    )
    return panels


def hostile(folder: Path) -> Figure:
    """Series whose names try to be mark-up, properties of objects, or unreadable."""
    lines = (curve(name, range(10), np.arange(10) / 10 + n) for n, name in enumerate(HOSTILE))
    title = "</script><img src=x onerror=alert(2)>"
    return figure(folder, "hostile", *lines, metric="<b>\"'&</b>", title=title)


def authors() -> Figure:
    """A chart of an author's own with a brush and tooltips."""
    rows = [
        {"series": name, "step": n, "value": n + k} for k, name in enumerate(HOSTILE[:2]) for n in range(10)
    ]
    x, y = ({"field": name, "type": "quantitative"} for name in ("step", "value"))
    colour = {"condition": {"param": "brush", "field": "series", "type": "nominal"}, "value": "grey"}
    spec = {
        "mark": {"type": "point", "size": 200, "filled": True},
        "width": 600,
        "height": 280,
        "params": [{"name": "brush", "select": "interval"}],
        "encoding": {"x": x, "y": y, "color": colour, "tooltip": [{"field": "series"}, {"field": "value"}]},
    }
    return chart("author", spec, rows)


def results() -> ResultTable:
    """A table with a missing value."""
    rows = (("GRPO", 0.82, 0.3), ("MEL", 0.84, None), ("PPO", 0.79, 0.2))
    cells = tuple(
        (Cell(name), Cell(f"{final:.2f} ± 0.01", final), Cell("" if mean is None else f"{mean:.2f}", mean))
        for name, final, mean in rows
    )
    return ResultTable("results", "Results", ("series", "final", "mean"), cells, "In words.", "")


def table_of_runs() -> ResultTable:
    """A table of the runs of two series of ``dense``, as a ``runs-table`` block links them."""
    rows = tuple(
        (
            Cell(name, link=write_link_state("dense", (name,), run=(f"{name}-{n}", name))),
            Cell(str(n), float(n)),
        )
        for name in "AB"
        for n in range(5)
    )
    return ResultTable("runs", "Runs", ("series", "seed"), rows, "A caption.", "series,seed\nA,0\n")


def make_runs(series: int, runs: int, steps: int) -> FloatArray:
    """Runs that rise and level off, positive, the same at each call."""
    noise = np.random.default_rng([series, runs, steps]).normal(0, 0.01, (runs, steps))
    rise = 1 - np.exp(-4 * (1 + series / 5) * np.linspace(0, 1, steps))
    made: FloatArray = 0.3 + 0.5 * rise + noise
    return made


def write_assets(folder: Path) -> None:
    """Styles, fonts and scripts, with the Vega that a site serves."""
    assets = folder / "assets"
    shutil.copytree(ASSETS, assets)
    shutil.copytree(ROOT / "site_templates" / "fonts", assets / "fonts")
    shutil.copy(BUNDLE, assets / "vega.js")
    (assets / "page.css").write_text(_CSS, encoding="utf-8")
    (assets / "icon.svg").write_text(_ICON, encoding="utf-8")
