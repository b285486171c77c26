"""Sweeps and computed metrics: what is drawn is computed again from the raw files, and lies where it belongs.

What is said of them is in ``transcripts/sweep.md`` and ``transcripts/derived_metrics.md``.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
from collections import defaultdict
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from made_projects import write_report
from test_report import drafted, figure
from vega import unpack_payload

from reportgen.core.model import Figure, Stack
from reportgen.figures.text import name_view
from reportgen.site.outputs import list_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reportgen.core.model import Shown

CASES = Path(__file__).parent / "cases"
SWEPT = (CASES / "sweep/data/runs.csv").read_text("utf-8")
DERIVED = (CASES / "derived/data/runs.csv").read_text("utf-8")
ANSWERS = (CASES / "recipe-sweep-scores/data/answers.csv").read_text("utf-8")
T4 = 4.302652729749464  # the 97.5% point of Student's t with 2 degrees of freedom


def read_rows(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(text.splitlines()))


def find_interval(values: list[float]) -> tuple[float, float, float]:
    """The mean of three runs, and the ends of its t interval."""
    mean, half = statistics.fmean(values), T4 * statistics.stdev(values) / len(values) ** 0.5
    return mean, mean - half, mean + half


def draw(root: Path, page: str, **sources: str) -> dict[str, Shown]:
    """The blocks of a page about sources, by id."""
    files = {f"data/{name}.csv": text for name, text in sources.items()}
    write_report(root, {"data/runs.csv": None, **files, "content/index.md": f"# Small\n\n{page}"})
    return {name: shown for (_, name), shown in drafted(root).shown.items()}


def find_drawn(shown: Shown) -> Figure:
    """The figure of a sweep, which stands above its table."""
    assert isinstance(shown, Stack)
    drawn = shown.parts[0]
    assert isinstance(drawn, Figure)
    return drawn


# ---- sweeps ---------------------------------------------------------------------------------------


def read_points(case: str, drawn_oneid: str) -> list[dict[str, Any]]:
    """The points of a sweep in the ``report.json`` of a case."""
    report = json.loads((CASES / case / "expected/report.json").read_text("utf-8"))
    (page,) = report["pages"]
    figures = [*page["figures"], *(one for stack in page["stacks"] for one in stack.get("figures", ()))]
    (numbers,) = [one["numbers"] for one in figures if one["id"] == drawn_oneid]
    return list(numbers["points"])


def test_each_point_is_the_mean_of_the_values_of_its_runs() -> None:
    """Means and t intervals over last values are those of the raw file; ``value: best`` takes the lowest."""
    runs = defaultdict(list)
    for row in read_rows(SWEPT):
        runs[row["optimizer"], row["lr"], row["seed"]].append(float(row["loss"]))
    ends, best = defaultdict(list), defaultdict(list)
    for (optimizer, rate, _), losses in runs.items():
        ends[f"lr={rate}, {optimizer}"].append(losses[-1])
        if rate == "0.0001":
            best[optimizer].append(min(losses))
    points = {one["name"]: one for one in read_points("sweep", "rates")}
    assert {name: one["runs"] for name, one in points.items()} == ends
    for name, finals in ends.items():
        found = [points[name][key] for key in ("mean", "low", "high")]
        assert found == pytest.approx(find_interval(finals), abs=1e-9)
    assert {one["name"]: one["runs"] for one in read_points("sweep", "optimizers")} == best


def test_points_of_scores_are_means_over_problems() -> None:
    """Each is the mean over problems of the runs' mean pass@2, and each run is a dot."""
    solved: dict[str, dict[str, dict[str, list[int]]]] = {}
    for row in read_rows(ANSWERS):
        of_run = solved.setdefault(row["lr"], {}).setdefault(row["seed"], {})
        of_run.setdefault(row["problem"], []).append(int(row["score"]))
    report = json.loads((CASES / "recipe-sweep-scores/expected/report.json").read_text("utf-8"))
    points = report["pages"][0]["figures"][0]["numbers"]["points"]
    assert [point["x"] for point in points] == [float(rate) for rate in solved]
    for point, runs in zip(points, solved.values(), strict=True):
        # Of two samples, at least one is right.
        scores = [statistics.fmean(max(samples) for samples in run.values()) for run in runs.values()]
        assert point["runs"] == pytest.approx(scores)
        assert point["mean"] == pytest.approx(statistics.fmean(scores))
        assert point["low"] < point["mean"] <= point["high"] <= 1


def test_scores_of_a_sweep_are_those_of_the_scores_block(tmp_path: Path) -> None:
    """Grouped by the same setting, values and intervals are equal, and statements are about them."""
    blocks = (
        "```sweep\nid: swept\nsource: answers\nx: lr\nlevel: 0.9\n```\n\n"
        "```scores\nid: scored\nsource: answers\nby: lr\nlevel: 0.9\norder: given\n```\n\n"
        "[It is better]{claim=\"score('lr=0.0001') > score('lr=0.001')\" of=\"swept\"}.\n"
    )
    shown = draw(tmp_path, blocks, answers=ANSWERS)
    swept, scored = (find_drawn(shown[name]) for name in ("swept", "scored"))
    drawn = [(one["name"], one["mean"], one["low"], one["high"]) for one in swept.numbers["points"]]
    assert drawn == [(one["name"], one["score"], one["low"], one["high"]) for one in scored.numbers["series"]]
    payload = json.loads(str(swept.payload))
    # Scores of one set of problems are not independent, and a reader copies no value at a step.
    assert "quantiles" not in payload
    assert "of" not in payload


def test_bars_begin_at_zero_and_end_at_the_mean(tmp_path: Path) -> None:
    """In a row for each value, also of numbers, with the interval over it."""
    block = "id: one\nsource: runs\nmetric: loss\nx: lr\nfilter: {optimizer: sgd}\nmark: bar"
    drawn = find_drawn(draw(tmp_path, f"```sweep\n{block}\n```\n", runs=SWEPT)["one"])
    picture, points = str(drawn.inline_svg), drawn.numbers["points"]
    bars = re.findall(r'<rect x="([\d.]+)%" y="\d+" width="([\d.]+)%"', picture)
    dots = re.findall(r'<circle cx="([\d.]+)%" cy="\d+" r="5.5"', picture)
    assert len(bars) == len(dots) == len(points) > 1
    for (x, width), dot in zip(bars, dots, strict=True):
        assert float(x) + float(width) == pytest.approx(float(dot), abs=0.01)
    widths = [float(width) / point["mean"] for (_, width), point in zip(bars, points, strict=True)]
    assert widths == pytest.approx([widths[0]] * len(points), rel=1e-3)
    layers = {layer["name"]: layer for layer in json.loads(str(drawn.spec))["layer"]}
    assert layers["bars"]["encoding"]["x"]["field"] == "zero"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    """Sweeps with a line for each of 3 and 12 models, and with rows and bars of given colours."""
    models = "model,lr,seed,step,loss\n" + "".join(
        f"m{model},{rate},{seed},10,{0.5 + model / 100 + seed / 50}\n"
        for model in range(1, 13)
        for rate in (0.001, 0.01, 0.1)
        for seed in (1, 2)
    )
    chosen = ", ".join(f"m{model}" for model in (1, 2, 3))
    colours = "colours: {adamw: red, sgd: pink}\nby: optimizer\nsource: runs"
    page = (
        "".join(
            f"```sweep\nmetric: loss\nx: lr\nid: {name}\n{text}\n```\n\n"
            for name, text in {
                "few": f"source: models\nby: model\nfilter: {{model: [{chosen}]}}",
                "many": "source: models\nby: model",
                "dot": f"mark: dot\n{colours}",
                "bar": f"mark: bar\n{colours}",
            }.items()
        )
        .replace("id: 3\n", "")
        .replace("id: 12\n", "")
    )
    shown = draw(tmp_path_factory.mktemp("lines"), page, models=models, runs=SWEPT)
    return {name: find_drawn(one) for name, one in shown.items()}


@pytest.mark.parametrize("name", ["few", "many"])
def test_intervals_of_several_lines_are_next_to_each_other(lines: dict[str, Figure], name: str) -> None:
    """At each setting, in the order of the lines, in the picture and the live figure by the same parts."""
    drawn = lines[name]
    paths = re.findall(r'class="rg-band"[^>]* d="([^"]*)"', str(drawn.inline_svg))
    places = sorted([int(x) / 2400 for x in re.findall(r"M(\d+)", path)] for path in paths)
    shifts = [one["shift"] for one in json.loads(str(drawn.payload))["series"]]
    assert shifts == sorted(shifts)
    assert sum(shifts) == pytest.approx(0)
    for row, shift in zip(places, shifts, strict=True):
        settings = [x - shifts[0] for x in places[0]]
        assert [x - shift for x in row] == pytest.approx(settings, abs=5e-4)
    assert min(right - left for left, right in pairwise(shifts)) * 600 > 4  # pixels
    rows = json.loads(str(drawn.spec))["data"]["values"]
    assert sorted({row["shift"] for row in rows}) == shifts


def test_lines_of_a_sweep_are_in_natural_order_and_differ(lines: dict[str, Figure]) -> None:
    """m2 is before m10; lines that share the grey have dashes and symbols of their own."""
    drawn = lines["many"]
    assert [name for name, _ in drawn.legend] == [f"m{number}" for number in range(1, 13)]
    looks = [(slot, dash) for (_, slot), dash in zip(drawn.legend, drawn.dashes, strict=True)]
    assert len(set(looks)) == 12
    series = json.loads(str(drawn.payload))["series"]
    assert len({(one["colour"], tuple(one["dash"]), one["shape"]) for one in series}) == 12
    for name in ("dot", "bar"):  # as its block gives them
        assert set(re.findall(r"--rg-series-(\w+)", str(lines[name].inline_svg))) == {"5", "8"}


# ---- computed metrics, and what x may be ----------------------------------------------------------


def list_drawn(name: str) -> list[dict[str, str]]:
    """The rows of a figure's CSV file in the case."""
    return read_rows((CASES / "derived/expected/figures/index" / f"{name}.csv").read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "metric", "compute"),
    [
        ("gap", "gap", lambda row: float(row["train/acc"]) - float(row["eval/acc"])),
        ("error", "train error", lambda row: 1 - float(row["train/acc"])),
        ("error", "eval error", lambda row: 1 - float(row["eval/acc"])),
    ],
)
def test_a_derived_metric_is_computed_run_by_run(
    name: str, metric: str, compute: Callable[[dict[str, str]], float]
) -> None:
    """Mean and t interval are those of the derived values of the runs, at the steps that have all of them."""
    values = defaultdict(list)
    for row in read_rows(DERIVED):
        if row["eval/acc"] or metric == "train error":
            values[row["method"], float(row["step"])].append(compute(row))
    drawn = {(row["series"], float(row["step"])): row for row in list_drawn(name) if row["metric"] == metric}
    assert drawn.keys() == values.keys()
    for key, numbers in values.items():
        found = [float(drawn[key][column]) for column in ("value", "low", "high")]
        assert found == pytest.approx(find_interval(numbers), abs=1e-8)


def test_x_is_another_metric_or_a_formula_of_the_step() -> None:
    """By a word, runs stand on their own tokens; a formula moves values and changes none."""
    rows = read_rows(DERIVED)
    assert {float(row["step"]) for row in list_drawn("tokens")} == {
        float(row["train/num_tokens"]) for row in rows
    }
    values = defaultdict(list)
    for row in rows:
        values[row["method"], 4096 * float(row["step"])].append(float(row["loss"]))
    drawn = {(row["series"], float(row["step"])): float(row["value"]) for row in list_drawn("counted")}
    assert drawn == pytest.approx({key: statistics.fmean(one) for key, one in values.items()}, abs=1e-9)


@pytest.mark.parametrize("kind", ["curve", "panels"])
def test_another_x_shows_what_a_block_of_its_own_would(tmp_path: Path, kind: str) -> None:
    """Each axis of ``other_x`` has the numbers that ``x`` draws, without what was placed along the first."""
    metric = "metric: train/acc" if kind == "curve" else "metrics: [train/acc, eval/acc]"
    placed = "x_title: Own\nx_domain: [0, 2]\n"
    if kind == "curve":
        placed += "annotations: [{x: 1, text: here}]\nreference: [{x: 1}, {y: 0.5}]\n"
    with_choice = f"{metric}\n{placed}other_x: [step, {{step * 2: tokens}}]\nid: a"
    across = "reference: [{y: 0.5}]\n" if kind == "curve" else ""
    blocks = [with_choice, f"{metric}\n{across}id: b", f"{metric}\n{across}x: {{step * 2: tokens}}\nid: c"]
    page = "".join(f"```{kind}\nsource: runs\n{block}\n```\n\n" for block in blocks)
    shown = draw(tmp_path, page, runs=DERIVED)
    chosen, *alone = (list_figures(shown[name]) for name in "abc")
    for number, one in enumerate(chosen):
        own = json.loads(str(one.payload))
        assert own["x"]["title"] == "Own"
        for other, figures in zip(own["others"], alone, strict=True):
            expected = json.loads(str(figures[number].payload))
            expected.pop("of", None)
            place = {name: own[name] for name in ("margins", "height")}
            assert other == expected | place
            assert expected["view"] in {name_view(view) for view in (one.view, *one.other_views)}


def test_auto_adds_nothing_where_the_data_have_nothing(tmp_path: Path) -> None:
    """The figure has the same bytes as without."""
    block = "```curve\nsource: runs\nid: a\n{}```\n"
    rows = "series,step,acc\nA,0,1\nA,1,2\n"
    plain, auto = (
        figure(draw(tmp_path / str(len(line)), block.format(line), runs=rows)["a"]).payload
        for line in ("", "other_x: auto\n")
    )
    assert str(plain) == str(auto)


# The name of a column of times, and what numbers since 1970 are in a second (0: dates).
TIMES = [
    *((name, 0) for name in ("timestamp", "_timestamp", "time", "wall_time", "Date")),
    *((name, 1) for name in ("timestamp", "_timestamp", "time", "Wall time")),
    *(("timestamp", unit) for unit in (1_000, 1_000_000, 1_000_000_000)),
]


def write_times(column: str, unit: int) -> Iterable[str]:
    """Rows at noon of four days."""
    yield f"model,step,{column},loss"
    for step, day in enumerate((datetime(2026, 5, day, 12, tzinfo=UTC) for day in range(1, 5)), 1):
        yield f"A,{step},{(day.timestamp() + 0.25) * unit if unit else f'{day:%Y-%m-%d %H:%M:%S}'},{1 / step}"


def test_wall_and_relative_time_find_the_column_of_times(tmp_path: Path) -> None:
    """A table has the time under a name of its own, as a date or as a number since 1970."""
    sources = {f"s{n}": "\n".join(write_times(*one)) + "\n" for n, one in enumerate(TIMES)}
    page = "".join(
        f"```curve\nid: {name}-{word}\nsource: {name}\nmetric: loss\nx: {word} time\n```\n\n"
        for name in sources
        for word in ("wall", "relative")
    )
    shown = draw(tmp_path, page, **sources)
    for name, of in zip(sources, TIMES, strict=True):
        wall, relative = (figure(shown[f"{name}-{word}"]).table.rows for word in ("wall", "relative"))
        assert [row[0][:10] for row in wall] == [f"2026-05-0{day}" for day in range(1, 5)], of
        assert [float(row[0]) for row in relative] == [0, 24, 48, 72], of


# ---- gaps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [400, 100], ids=["every step", "bins"])
def test_a_gap_stays_where_no_run_has_a_value(tmp_path: Path, most: int) -> None:
    """Line, band and runs end before it and begin after it; where another run has a value, there is none."""
    rows = [
        (series, seed, step, "nan" if (series, seed) == ("a", 1) and step == 20 else step)
        if series == "b" or not 100 <= step < 150
        else (series, seed, step, "nan")
        for series in "ab"
        for seed in (1, 2)
        for step in range(300)
    ]
    text = "\n".join(["series,seed,step,loss", *(",".join(map(str, row)) for row in rows)]) + "\n"
    block = f"```curve\nid: one\nsource: gaps\nmax_points: {most}\n```\n"
    drawn_one = draw(tmp_path, block, gaps=text)["one"]
    assert isinstance(drawn_one, Figure)
    lines = unpack_payload(str(drawn_one.payload))["series"]
    for line, breaks in zip(lines, (1, 0), strict=True):
        for values in (line["y"], *(run["values"] for run in line["runs"])):
            assert values.count(None) == breaks
    missing = [row for row in csv.DictReader(str(drawn_one.csv).splitlines()) if not row["value"]]
    assert [(row["series"], row["n"]) for row in missing] == [("a", "0")]
    assert 100 <= float(missing[0]["step"]) < 150


# ---- fits -----------------------------------------------------------------------------------------

T5 = 2.570581835636314  # the 97.5% point of Student's t with 5 degrees of freedom


@pytest.mark.parametrize(("kind", "name"), [("linear", "slope"), ("power", "exponent")])
def test_a_fit_is_that_of_numpy(tmp_path: Path, kind: str, name: str) -> None:
    """Least squares over the means of series, with the interval of its covariance; the line is drawn."""
    sizes = [1e6, 4e6, 2e7, 1e8, 4e8, 2e9, 7e9]
    lines, means = ["step,series,seed,params,loss"], []
    for number, size in enumerate(sizes):
        losses = [2 * size**-0.1 + 0.01 * ((number * 7 + seed * 5) % 4) for seed in (1, 2)]
        lines += [f"1,m{number},{seed},{size},{loss}" for seed, loss in enumerate(losses)]
        means.append(statistics.fmean(losses))
    page = f"```scatter\nid: law\nsource: runs\nmetric: loss\nx: params\nfit: {kind}\n```\n"
    drawn = figure(draw(tmp_path, page, runs="\n".join(lines) + "\n")["law"])
    is_power = kind == "power"
    x, y = (np.log(one) if is_power else np.array(one) for one in (sizes, means))
    (slope, constant), covariance = np.polyfit(x, y, 1, cov=True)
    half = T5 * covariance[0, 0] ** 0.5
    found = json.loads(json.dumps(drawn.numbers))["fit"]
    assert found["kind"] == kind
    assert found["constant"] == pytest.approx(np.exp(constant) if is_power else constant, rel=1e-9)
    assert found[name] == pytest.approx([slope, slope - half, slope + half], rel=1e-7)
    line = json.loads(str(drawn.spec))["layer"][1]["data"]["values"]
    ends = np.polyval([slope, constant], x[[0, -1]])
    assert [line[0]["y"], line[-1]["y"]] == pytest.approx(np.exp(ends) if is_power else ends, rel=1e-9)
    widths = [row["high"] / row["low"] if is_power else row["high"] - row["low"] for row in line]
    assert 0 < int(np.argmin(widths)) < len(line) - 1
