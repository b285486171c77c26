"""Pages for the browser tests: figures of the real stages, in the real fragments, under a strict policy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from made_outcomes import matrix, score_context
from msgspec.structs import replace
from vega import BUNDLE

from reportgen.core.errors import SourceLocation
from reportgen.core.model import Cell, Curve, CurveSet, ResultTable, Run
from reportgen.figures.altair_chart import write_chart_spec
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.curves.figure import draw_curve, draw_panels
from reportgen.figures.curves.several_metrics import draw_keyed_lines
from reportgen.figures.live import compile_view, write_compact_json
from reportgen.figures.plot import DrawContext, PlotSpec, RightAxis
from reportgen.figures.render import compile_to_vega, render_pdf
from reportgen.figures.scores.pass_curve import draw_passk
from reportgen.figures.style import assign_slots
from reportgen.figures.text import name_view, write_link_state
from reportgen.settings.block_parts import Annotation, ReferenceLine
from reportgen.settings.blocks import PanelsSettings
from reportgen.settings.score_blocks import PasskSettings
from reportgen.site.fragments import render_block, render_view
from reportgen.site.outputs import list_figures
from reportgen.statistics.scores import score_pass_at_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Figure, FloatArray, Panels, Shown

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
_CSS = """html { color-scheme: light dark; }
body { margin: 0; background: var(--rg-bg); color: var(--rg-text); font: 16px/1.6 var(--rg-font); }
main { max-width: 860px; margin: 0 auto; padding: 16px; }
"""
_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>\n'


def curve(
    series: str, steps: Sequence[float], *runs: Sequence[float] | FloatArray, half: float = 0.0
) -> Curve:
    """A series of one or more runs on the same steps; ``half`` is half the width of its band."""
    x = np.array(steps, dtype=np.float64)
    values = np.array(runs, dtype=np.float64)
    mean: FloatArray = values.mean(axis=0)
    spread: FloatArray = np.full(x.size, half or np.nan)
    made = tuple(Run(series, f"{series}-{n}", str(n), x, y) for n, y in enumerate(values))
    count = np.full(x.size, len(made), dtype=np.int64)
    return Curve(series, x, mean, mean - spread, mean + spread, count, made)


def curve_set(*curves: Curve, metric: str = "accuracy", band: str = "ci") -> CurveSet:
    """Curves of one metric, aligned exactly."""
    return CurveSet(
        metric, curves, band, 0.95, 0.0, exact=True, replaced=0, dropped=0, bins=None, given_interval=None
    )


def wanted(figure_id: str, metric: str, **changes: Any) -> PlotSpec:  # noqa: ANN401 - any field of Wanted
    """A plot with every default, but for ``changes``."""
    values: dict[str, Any] = {
        "id": figure_id,
        "kind": "curve",
        "title": f"{metric} by step",
        "caption": None,
        "metric": metric,
        "x_title": "step",
        "y_title": metric,
        "x_domain": None,
        "y_domain": None,
        "x_scale": "linear",
        "y_scale": "linear",
        "order": "given",
        "highlight": (),
        "height": 320,
        "runs": None,
        "higher_is_better": True,
    }
    return PlotSpec(**(values | changes))


def context(*sets: CurveSet, time: bool = False) -> DrawContext:
    """What figures of these curves need to know."""
    names = [tuple(curve.series for curve in curves.curves) for curves in sets]
    place = SourceLocation("content/index.md", 1)
    slots = assign_slots(names)
    return DrawContext(
        place=place,
        slots=slots,
        source="test data",
        approximate=None,
        higher_is_better=True,
        step_title="step",
        step_is_time=time,
        get_chart_spec=write_chart_spec,
    )


def figure(figure_id: str, curves: CurveSet, *, time: bool = False, **changes: Any) -> Figure:  # noqa: ANN401
    """A finished ``curve`` figure."""
    return draw_curve(curves, wanted(figure_id, curves.metric, **changes), context(curves, time=time))


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


def diagnostics(block_id: str, *sets: CurveSet) -> Panels:
    """Finished panels, one for each metric."""
    wishes = tuple(
        wanted(f"{block_id}-{n}", curves.metric, kind="panel", title=curves.metric, height=220)
        for n, curves in enumerate(sets, start=1)
    )
    metrics = tuple(curves.metric for curves in sets)
    settings = PanelsSettings(metrics=metrics, title="Diagnostics")
    return draw_panels(block_id, settings, sets, wishes, context(*sets))


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
    write_page(folder, "points", points())
    write_page(folder, "percent", percent())
    write_page(folder, "marked", marked())
    write_page(folder, "dense", dense())
    write_page(folder, "cut", cut())
    write_page(folder, "crowded", crowded())
    write_page(folder, "many", replace(many(), has_pdf=True), points())
    write_page(folder, "log", log_axes())
    write_page(folder, "decay", decay())
    write_page(folder, "wide", wide())
    write_page(folder, "smooth", smooth())
    write_page(folder, "two-axes", two_axes())
    write_page(folder, "time", over_time())
    write_page(
        folder, "panels", diagnostics("diag", *(_metric(name) for name in ("accuracy", "entropy", "kl")))
    )
    write_page(folder, "hostile", hostile())
    write_page(folder, "author", authors())
    write_page(folder, "results", results())
    ranked = sorted(results().rows, key=lambda row: -(row[1].sort or 0.0))
    write_page(folder, "sorted", replace(results(), rows=tuple(ranked), sorted_by=("final", "descending")))
    write_page(folder, "runs", dense(), table_of_runs())
    write_page(folder, "linked", points(), longer(), over_time())
    write_page(folder, "passk", pass_at_k())
    return folder


def points() -> Figure:
    """Two series of one run, read at different steps, with symbols and names at the line ends."""
    grpo = curve("GRPO", [0, 20, 40, 60, 80, 100, 120, 140], [0.74, 0.77, 0.795, 0.8, 0.8, 0.815, 0.82, 0.82])
    mel = curve("MEL", [0, 20, 30, 40, 60, 80, 120, 140], [0.74, 0.77, 0.76, 0.79, 0.81, 0.8, 0.84, 0.82])
    notes = (Annotation(x=120, text="best reading", series="MEL"),)
    lines = (ReferenceLine(y=0.8, label="start of the field"), ReferenceLine(x=60, label="new data"))
    return figure(
        "points",
        curve_set(grpo, mel, metric="score"),
        x_title="Training step",
        annotations=notes,
        references=lines,
    )


def percent() -> Figure:
    """Two series of shares, in percent."""
    ours, base = curve("ours", [0, 50, 100], [0.3, 0.5, 0.62]), curve("base", [0, 50, 100], [0.3, 0.45, 0.5])
    return figure("percent", curve_set(ours, base), percent=True)


def longer() -> Figure:
    """Two series over the same axis as ``points`` and more of it."""
    lines = (curve(name, range(0, 310, 10), *make_runs(n, 3, 31), half=0.02) for n, name in enumerate("AB"))
    return figure("longer", curve_set(*lines), x_title="Training step", height=200)


def marked() -> Figure:
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
    found = tuple(Annotation(x=x, text=text, series=series) for series, x, text in notes)
    return figure("marked", curve_set(grpo, mel, metric="score"), x_title="Training step", marked=found)


def dense() -> Figure:
    """Five series of five runs over 150 steps, with bands."""
    steps = range(0, 1500, 10)
    return figure(
        "dense",
        curve_set(*(curve(name, steps, *make_runs(n, 5, 150), half=0.02) for n, name in enumerate("ABCDE"))),
    )


def cut() -> Figure:
    """Two series of which the y axis shows a part, with rings on its upper and lower edge."""
    upper = curve("upper", range(0, 60, 10), [0.9, 1.0, 1.0, 1.2, 0.95, 0.9])
    lower = curve("lower", range(0, 60, 10), [0.5, 0.6, 0.7, 0.5, 0.3, 0.52])
    notes = (
        Annotation(x=20, text="at the top", series="upper"),
        Annotation(x=30, text="at the foot", series="lower"),
    )
    return figure("cut", curve_set(upper, lower), y_domain=(0.5, 1.0), annotations=notes)


def crowded() -> Figure:
    """Six series that end within a hundredth, one of them early, and one apart."""
    ends = {"A": 0.8, "B": 0.803, "C": 0.806, "D": 0.809, "E": 0.797, "early": 0.801, "apart": 0.4}
    steps = {name: range(0, 80 if name == "early" else 110, 10) for name in ends}
    lines = (
        curve(name, steps[name], [end * n / len(steps[name]) for n, _ in enumerate(steps[name], 1)])
        for name, end in ends.items()
    )
    return figure("crowded", curve_set(*lines))


def many() -> Figure:
    """Twelve series: a legend row, and some of them grey."""
    names = [f"method {n}" for n in range(1, 13)]
    lines = (curve(name, range(80), *make_runs(n, 1, 80)) for n, name in enumerate(names))
    return figure("many", curve_set(*lines))


def log_axes() -> Figure:
    """Two series over two log axes."""
    steps = np.geomspace(1, 10_000, 40).tolist()
    lines = (
        curve(name, steps, *(np.exp(-6 * run) for run in make_runs(n, 3, 40))) for n, name in enumerate("AB")
    )
    return figure("log", curve_set(*lines, metric="loss", band="none"), x_scale="log", y_scale="log")


def decay() -> Figure:
    """Runs that fall by the same factor at each step, on a log axis, over nine powers of ten."""
    runs = [[start * 0.178**step for step in range(13)] for start in (120, 140, 160)]
    named = curve_set(curve("base", range(13), *runs, half=1e-8), metric="loss")
    (base,) = named.curves
    spread = base.values * 0.36
    wide = replace(base, low=base.values - spread, high=base.values + spread)
    return figure("decay", replace(named, curves=(wide,)), y_scale="log", higher_is_better=False)


def wide() -> Figure:
    """Values, some of them with intervals, far below what the height of the plot shows."""
    fall = (900, 3, 0.52, 0.41, -0.0042, 3e-8, 0)
    near = curve("near", range(7), [0.99987, 1.5, 12, 250, 0.5, 1e-9, 0.03], half=0.0049)
    return figure("wide", curve_set(curve("fall", range(7), fall), near, metric="loss"))


def smooth() -> Figure:
    """A large figure of a curve that falls steadily, from a first value that is a thousand times as high."""
    fall = [50_257.0, *(19 + 11 * 0.997**step for step in range(2_500))]
    return figure("smooth", curve_set(curve("A", range(2_501), fall), metric="perplexity"))


def two_axes() -> Figure:
    """Losses of two series on the left axis, accuracies below 1 of the same runs on the right one."""
    steps = range(0, 110, 10)
    rises = {name: make_runs(n, 3, 11) for n, name in enumerate(("one", "two"))}
    losses = (curve(name, steps, *(3 - 2.5 * run for run in rise), half=0.1) for name, rise in rises.items())
    accuracies = (curve(name, steps, *rise, half=0.02) for name, rise in rises.items())
    sets = (curve_set(*losses, metric="loss"), curve_set(*accuracies, metric="accuracy"))
    spec = wanted(
        "two-axes",
        "loss and accuracy",
        y_title="loss",
        higher_is_better=False,
        annotations=(Annotation(x=50, text="half of it", series="two · accuracy"),),
        references=(ReferenceLine(y=1.5, label="teacher"),),
        right=RightAxis(("accuracy",), "accuracy", higher_is_better=True),
    )
    return draw_keyed_lines(sets, spec, context(*sets), {}, "series")


def pass_at_k() -> Figure:
    """pass@k of three series on 30 problems, two with 24 samples and one with 16."""
    rng = np.random.default_rng(20260101)
    ease = rng.beta(0.6, 0.4, size=30)[:, np.newaxis]
    scores = np.stack([rng.random((30, 24)) < ease**power for power in (1, 1.5, 3)]).astype(np.float64)
    scores[2, 5, 16:] = np.nan
    problems = matrix(scores, series=("large", "middle", "small"))
    context = score_context(*problems.series, source="made answers", benchmark="AIME")
    return draw_passk("passk", PasskSettings(), score_pass_at_k(problems), context, problems=problems)


def over_time() -> Figure:
    """One series a week over a year, below zero at first, in UTC."""
    steps = [1_700_000_000_000 + 7 * 86_400_000 * week for week in range(52)]
    return figure("time", curve_set(curve("A", steps, [n / 10 - 1 for n in range(52)])), time=True)


def hostile() -> Figure:
    """Series whose names try to be mark-up, properties of objects, or unreadable."""
    lines = (curve(name, range(10), np.arange(10) / 10 + n) for n, name in enumerate(HOSTILE))
    return figure(
        "hostile", curve_set(*lines, metric="<b>\"'&</b>"), title="</script><img src=x onerror=alert(2)>"
    )


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


def _metric(name: str) -> CurveSet:
    lines = (curve(series, range(0, 35, 5), *make_runs(n, 2, 7)) for n, series in enumerate(("one", "two")))
    return curve_set(*lines, metric=name, band="none")


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
