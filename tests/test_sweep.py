"""The ``sweep`` block: a value of each run against a setting, compared with the raw file."""

from __future__ import annotations

import csv
import json
import re
import statistics
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from made_projects import write_report
from test_report import drafted, problems

from reportgen.core.model import Figure, ResultTable, Stack

CASE = Path(__file__).parent / "cases" / "sweep"
TEXT = (CASE / "data/runs.csv").read_text("utf-8")
T4 = 4.302652729749464  # the 97.5% point of Student's t with 2 degrees of freedom


def read_runs() -> dict[tuple[str, str, str], list[float]]:
    """The losses of each run, in the order of steps, by optimizer, rate and seed."""
    runs = defaultdict(list)
    for row in csv.DictReader(TEXT.splitlines()):
        runs[row["optimizer"], row["lr"], row["seed"]].append(float(row["loss"]))
    return runs


def read_points(figure_id: str) -> dict[str, dict[str, Any]]:
    """The points of a sweep in ``report.json``, by name."""
    report = json.loads((CASE / "expected/report.json").read_text("utf-8"))
    (page,) = report["pages"]
    figures = [*page["figures"], *(one for stack in page["stacks"] for one in stack.get("figures", ()))]
    (numbers,) = [one["numbers"] for one in figures if one["id"] == figure_id]
    return {one["name"]: one for one in numbers["points"]}


def test_each_point_is_the_mean_of_the_last_values_of_its_runs() -> None:
    """Means and t intervals over runs are those of the raw file, and each run is there."""
    points = read_points("rates")
    groups = defaultdict(list)
    for (optimizer, rate, _), losses in read_runs().items():
        groups[f"lr={rate}, {optimizer}"].append(losses[-1])
    assert points.keys() == groups.keys()
    for name, finals in groups.items():
        mean, half = statistics.fmean(finals), T4 * statistics.stdev(finals) / len(finals) ** 0.5
        assert abs(points[name]["mean"] - mean) < 1e-12
        assert abs(points[name]["low"] - (mean - half)) < 1e-9
        assert abs(points[name]["high"] - (mean + half)) < 1e-9
        assert points[name]["runs"] == finals


def test_best_is_that_of_each_run() -> None:
    """``value: best`` takes the lowest loss of each run, and words are in rows."""
    points = read_points("optimizers")
    best = defaultdict(list)
    for (optimizer, rate, _), losses in read_runs().items():
        if rate == "0.0001":
            best[optimizer].append(min(losses))
    assert {name: one["runs"] for name, one in points.items()} == best


def draft_sweep(tmp_path: Path, block: str) -> tuple[Figure, ResultTable]:
    """The figure and the table of a sweep of the runs of the case."""
    page = f"# Small\n\n```sweep\nid: one\nsource: runs\nmetric: loss\n{block}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": TEXT})
    shown = drafted(root).shown["index.md", "one"]
    assert isinstance(shown, Stack)
    drawn, table = shown.parts
    assert isinstance(drawn, Figure)
    assert isinstance(table, ResultTable)
    return drawn, table


def test_numbers_are_on_a_log_axis_and_words_in_rows(tmp_path: Path) -> None:
    """A rate over two decades is logarithmic; an optimizer has no axis."""
    rates, _ = draft_sweep(tmp_path, "x: lr\nby: optimizer")
    assert json.loads(str(rates.payload))["x"]["scale"] == "log"
    assert [name for name, _ in rates.legend] == ["adamw", "sgd"]
    words, table = draft_sweep(tmp_path, "x: optimizer")
    assert "rg-of-marks" not in words.plot_class
    assert [row[0].text for row in table.rows] == ["adamw", "sgd"]


def test_the_summary_says_what_was_compared(tmp_path: Path) -> None:
    """The best of several values is said to be one of so many, and whether a test tells it apart."""
    rates, _ = draft_sweep(tmp_path, "x: lr\nby: optimizer")
    summary = rates.summary
    assert "of 8 values compared." in summary
    assert "Welch's t over runs" in summary


@pytest.mark.parametrize("mark", ["dot", "bar"])
def test_rows_and_lines_have_the_colours_of_their_block(tmp_path: Path, mark: str) -> None:
    """``by`` makes the colours, also in rows, and a block may choose them."""
    block = f"x: lr\nby: optimizer\nmark: {mark}\ncolours: {{adamw: red, sgd: pink}}"
    drawn, _ = draft_sweep(tmp_path, block)
    slots = set(re.findall(r"--rg-series-(\w+)", str(drawn.inline_svg)))
    assert slots == {"5", "8"}


def test_what_is_no_setting_is_refused(tmp_path: Path) -> None:
    """Each mistake is an error at its block, with what was found and the next step."""
    blocks = [
        ("metric: loss", 'a sweep block needs "x"'),
        ("metric: loss\nx: rate", 'has no column "rate"'),
        ("metric: loss\nx: step", "step changes within run 1 of adamw 1e-05"),
        ("metric: loss\nx: optimizer\nfilter: {optimizer: sgd}", 'all runs have the same "optimizer", sgd'),
        ("metric: los\nx: lr", 'Did you mean "loss"?'),
        ("metric: loss\nx: lr\nby: optimizer\ncolours: {sdg: red}", 'colours names "sdg"'),
    ]
    fence = "```sweep\nid: b{}\nsource: runs\n{}\n```\n\n"
    page = "# Small\n\n" + "".join(fence.format(number, text) for number, (text, _) in enumerate(blocks))
    found = problems(write_report(tmp_path, {"content/index.md": page, "data/runs.csv": TEXT}))
    assert len(found) == len(blocks), "\n".join(found)
    for said, (_, expected) in zip(found, blocks, strict=True):
        assert said.startswith("content/index.md:")
        assert expected in said


def test_bars_begin_at_zero_and_end_at_the_mean(tmp_path: Path) -> None:
    """In a row for each value, also of numbers, with the interval over it."""
    drawn, _ = draft_sweep(tmp_path, "x: lr\nfilter: {optimizer: sgd}\nmark: bar")
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


TRIALS = "number,value,params_lr,state\n" + "".join(
    f"{number},{value},{rate},COMPLETE\n"
    for number, (value, rate) in enumerate([(0.5, 0.1), (0.25, 0.2), (0.75, 0.1), (0.35, 0.2)])
)


@pytest.mark.parametrize(("value", "fact"), [("final", "final"), ("best", "peak"), ("mean", "mean")])
def test_a_statement_is_about_the_mean_that_is_drawn(tmp_path: Path, value: str, fact: str) -> None:
    """Runs of different lengths count alike, as each has one dot."""
    runs = "a,1,0.1,0.5\na,2,0.1,0.25\nb,1,0.1,0.3\nb,2,0.1,0.9\nb,3,0.1,0.65\nc,1,0.2,1\nc,2,0.2,2\n"
    means = {"final": (0.25 + 0.65) / 2, "best": (0.25 + 0.3) / 2, "mean": (0.375 + 1.85 / 3) / 2}
    expected = means[value]
    block = f"```sweep\nid: one\nsource: runs\nmetric: loss\nx: lr\nvalue: {value}\n```\n"
    bound = f'[{expected:.3f}]{{value="{fact}(\'lr=0.1\')" of="one"}}'
    files = {
        "content/index.md": f"# Small\n\n{block}\n{bound}\n",
        "data/runs.csv": f"run,step,lr,loss\n{runs}",
    }
    report = drafted(write_report(tmp_path, files))
    (statement,) = report.statements["index.md"]
    (one,) = statement.judgement.facts
    stack = report.shown["index.md", "one"]
    assert isinstance(stack, Stack)
    figure = stack.parts[0]
    assert isinstance(figure, Figure)
    assert one.value == pytest.approx(figure.numbers["points"][0]["mean"]) == pytest.approx(expected)
    assert statement.as_expected
    assert one.note == f"mean of the {value} values of 2 runs"


def test_trials_of_a_setting_are_compared_as_they_are_drawn(tmp_path: Path) -> None:
    """Each trial of a study has its value at another step; the last alone says nothing of the setting."""
    block = "```sweep\nid: one\nsource: runs\nmetric: value\nx: lr\n```\n"
    claims = [
        '[0.3]{value="final(\'lr=0.2\')" of="one"}',
        '[0.625]{value="final(\'lr=0.1\')" of="one"}',
        "[within noise]{claim=\"unclear('lr=0.1', 'lr=0.2')\" of=\"one\"}",
    ]
    page = f"# Small\n\n{block}\n{' '.join(claims)}\n"
    report = drafted(write_report(tmp_path, {"content/index.md": page, "data/runs.csv": TRIALS}))
    assert all(one.as_expected for one in report.statements["index.md"])
    page += '\n[0.5]{value="at(\'lr=0.1\', 0)" of="one"}\n'
    (found,) = problems(write_report(tmp_path / "x", {"content/index.md": page, "data/runs.csv": TRIALS}))
    assert '"at" is about steps, and the figure has the final value of each run. Say final(s)' in found


ANSWERS = Path(__file__).parent / "cases/recipe-sweep-scores/data/answers.csv"


def test_points_of_scores_are_means_over_problems() -> None:
    """Each is the mean over problems of the runs' mean pass@2, and each run is a dot."""
    report = json.loads((ANSWERS.parent.parent / "expected/report.json").read_text("utf-8"))
    (figure,) = report["pages"][0]["figures"]
    solved: dict[str, dict[str, dict[str, list[int]]]] = {}
    for row in csv.DictReader(ANSWERS.read_text("utf-8").splitlines()):
        of_run = solved.setdefault(row["lr"], {}).setdefault(row["seed"], {})
        of_run.setdefault(row["problem"], []).append(int(row["score"]))
    points = figure["numbers"]["points"]
    assert [point["x"] for point in points] == [float(rate) for rate in solved]
    for point, runs in zip(points, solved.values(), strict=True):
        # Of two samples, at least one is right.
        scores = [statistics.fmean(max(samples) for samples in run.values()) for run in runs.values()]
        assert point["runs"] == pytest.approx(scores)
        assert point["mean"] == pytest.approx(statistics.fmean(scores))
        assert point["low"] < point["mean"] <= point["high"] <= 1


def draft_scores(tmp_path: Path, blocks: str) -> dict[str, Stack]:
    """The stacks of blocks about the answers of the case, by id."""
    files = {"content/index.md": f"# Small\n\n{blocks}\n", "data/answers.csv": ANSWERS.read_text("utf-8")}
    shown = drafted(write_report(tmp_path, files)).shown
    return {name: stack for (_, name), stack in shown.items() if isinstance(stack, Stack)}


def test_scores_of_a_sweep_are_those_of_the_scores_block(tmp_path: Path) -> None:
    """Grouped by the same setting, values and intervals are equal, and statements are about them."""
    blocks = (
        "```sweep\nid: swept\nsource: answers\nx: lr\nlevel: 0.9\n```\n\n"
        "```scores\nid: scored\nsource: answers\nby: lr\nlevel: 0.9\norder: given\n```\n\n"
        "[It is better]{claim=\"score('lr=0.0001') > score('lr=0.001')\" of=\"swept\"}.\n"
    )
    shown = draft_scores(tmp_path, blocks)
    swept, scored = (shown[name].parts[0] for name in ("swept", "scored"))
    assert isinstance(swept, Figure)
    assert isinstance(scored, Figure)
    drawn = [(one["name"], one["mean"], one["low"], one["high"]) for one in swept.numbers["points"]]
    assert drawn == [(one["name"], one["score"], one["low"], one["high"]) for one in scored.numbers["series"]]
    payload = json.loads(str(swept.payload))
    # Scores of one set of problems are not independent, and a reader copies no value at a step.
    assert payload["independent"] is False
    assert "of" not in payload
    assert "by the paired test over problems" in swept.summary


def test_what_only_measurements_have_is_refused_of_scores(tmp_path: Path) -> None:
    """Steps, metrics of logs and totals are errors at the block."""
    blocks = [
        ("answers\nvalue: best", 'value: best picks a step of each run, and "answers" holds scores'),
        ("answers\nmetric: loss", '"loss" is no metric of scores, and "answers" holds scores'),
        ("answers\nbenchmark: AIME", 'source "answers" has no column that names benchmarks'),
        ("answers\nfilter: {lr: 0.001}", 'all runs have the same "lr", 0.001'),
        ("totals", 'by groups runs by their settings, and "totals" holds totals only'),
    ]
    fence = "```sweep\nid: b{}\nx: lr\nsource: {}\n```\n\n"
    page = "# Small\n\n" + "".join(fence.format(number, text) for number, (text, _) in enumerate(blocks))
    files = {
        "content/index.md": page,
        "data/answers.csv": ANSWERS.read_text("utf-8"),
        "data/totals.csv": "model,lr,AIME\na,0.1,0.5\nb,0.2,0.6\n",
        "data/totals.source.yml": "form: wide\nmetrics: [AIME]\n",
    }
    found = problems(write_report(tmp_path, files))
    assert len(found) == len(blocks), "\n".join(found)
    for said, (_, expected) in zip(found, blocks, strict=True):
        assert said.startswith("content/index.md:")
        assert expected in said


RUNS = "lr,run,step,loss\n" + "".join(
    f"{rate},{rate}{run},1,{loss}\n" for rate, loss in ((1, 0.5), (2, 0.5), (0, 0.8)) for run in "ab"
)


def test_equal_points_share_the_best_value(tmp_path: Path) -> None:
    """No one of several is called the lowest."""
    page = "# Small\n\n```sweep\nid: one\nsource: runs\nmetric: loss\nx: lr\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": RUNS})
    stack = drafted(root).shown["index.md", "one"]
    assert isinstance(stack, Stack)
    figure = stack.parts[0]
    assert isinstance(figure, Figure)
    assert figure.summary.startswith("lr=1 and lr=2 share the lowest final loss, 0.5, of 3 values compared.")


def test_what_an_axis_cannot_show_is_refused(tmp_path: Path) -> None:
    """Nothing is left out without a word, and a pattern stands for one metric."""
    blocks = [
        ("x_scale: log", 'a log axis has no place for "lr" 0. Leave out x_scale, or such runs with filter'),
        ("mark: bar\nx_scale: log", "x_scale is about an axis of numbers, and bars are in rows"),
        ('metric: "*o*"', 'this sweep block draws one metric, and "*o*" matches 3'),
        ("benchmark: AIME", 'benchmark: AIME chooses rows of scores, and "runs" holds measurements'),
        ('filter: {run: "a*"}\nx: more', '2 runs have no "more": runs / a1 and runs / a2'),
    ]
    runs = ("1,1a,1,0.5,1,1", "2,2a,1,0.5,1,2", "0,0a,1,0.8,1,3", "4,a1,1,1,1,", "5,a2,1,1,1,")
    rows = "\n".join(("lr,run,step,loss,other,more", *runs, ""))
    page = "# Small\n\n" + "".join(
        f"```sweep\nid: b{number}\nsource: runs\n"
        + ("" if "metric" in text else "metric: loss\n")
        + ("" if "x: " in text else "x: lr\n")
        + f"{text}\n```\n\n"
        for number, (text, _) in enumerate(blocks)
    )
    found = problems(write_report(tmp_path, {"content/index.md": page, "data/runs.csv": rows}))
    for said, (_, expected) in zip(found, blocks, strict=False):  # the last is a warning about the runs
        assert expected in said


def write_answers(rates: dict[str, int], models: tuple[str, ...] = ("E", "F")) -> str:
    """Answers of models at rates, to ten problems from the first one of each rate."""
    rows = [
        f"{model},{rate},{seed},q{problem},{(problem + seed) % 2}\n"
        for rate, first in rates.items()
        for model in models
        for seed in (1, 2)
        for problem in range(first, first + 10)
    ]
    return "model,lr,seed,problem,score\n" + "".join(rows)


def test_pooled_models_and_partly_shared_problems_are_named(tmp_path: Path) -> None:
    """A point with runs of two models says so; one shared problem shows that a column is a setting."""
    page = "# Small\n\n```sweep\nid: one\nsource: answers\nx: lr\n```\n"
    page += "\n```scores\nid: two\nsource: answers\nby: lr\n```\n"
    files = {"content/index.md": page, "data/answers.csv": write_answers({"0.1": 0, "0.2": 9})}
    shown = drafted(write_report(tmp_path, files)).shown
    for name in ("one", "two"):
        stack = shown["index.md", name]
        assert isinstance(stack, Stack)
        figure = stack.parts[0]
        assert isinstance(figure, Figure)
        assert "Grouped by lr: each has runs of E and F." in figure.caption
        assert "lr=0.1 lacks 9 problems" in figure.caption


def test_only_the_setting_that_changes_is_named(tmp_path: Path) -> None:
    """Of two, with the way to read it as a series."""
    page = "# Small\n\n```sweep\nid: one\nsource: answers\nx: lr\nby: model\n```\n"
    answers = write_answers({"0.1": 0, "0.2": 10})
    (said,) = problems(write_report(tmp_path, {"content/index.md": page, "data/answers.csv": answers}))
    assert "lr changes within run 1 of E: 0.1 and 0.2" in said
    assert "columns: {series: [NAME, lr]}" in said


def test_a_log_axis_says_what_it_leaves_out(tmp_path: Path) -> None:
    """A step of 0, and values that are not above 0."""
    page = "# Small\n\n```curve\nid: one\nsource: runs\nmetric: loss\nx_scale: log\ny_scale: log\n```\n"
    rows = "step,loss\n0,1\n1,0.5\n2,0\n3,0.1\n"
    figure = drafted(write_report(tmp_path, {"content/index.md": page, "data/runs.csv": rows})).shown[
        "index.md", "one"
    ]
    assert isinstance(figure, Figure)
    assert "Not on a log axis: 1 value of x of 0 or below and 1 value of y of 0 or below." in figure.caption


MODELS = "model,lr,seed,step,loss\n" + "".join(
    f"m{model},{rate},{seed},10,{0.5 + model / 100 + seed / 50}\n"
    for model in range(1, 13)
    for rate in (0.001, 0.01, 0.1)
    for seed in (1, 2)
)


def draw_models(tmp_path: Path, most: int) -> Figure:
    """The figure of a sweep with a line for each of the first models."""
    names = ", ".join(f"m{number}" for number in range(1, most + 1))
    block = f"id: one\nsource: runs\nmetric: loss\nx: lr\nby: model\nfilter: {{model: [{names}]}}"
    page = f"# Small\n\n```sweep\n{block}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": MODELS})
    stack = drafted(root).shown["index.md", "one"]
    assert isinstance(stack, Stack)
    drawn, _ = stack.parts
    assert isinstance(drawn, Figure)
    return drawn


@pytest.mark.parametrize("most", [3, 12])
def test_intervals_of_several_lines_are_next_to_each_other(tmp_path: Path, most: int) -> None:
    """At each setting, in the order of the lines, in the picture and the live figure by the same parts."""
    drawn = draw_models(tmp_path, most)
    paths = re.findall(r'class="rg-band"[^>]* d="([^"]*)"', str(drawn.inline_svg))
    places = sorted([int(x) / 2400 for x in re.findall(r"M(\d+)", path)] for path in paths)
    shifts = [one["shift"] for one in json.loads(str(drawn.payload))["series"]]
    assert shifts == sorted(shifts)
    assert sum(shifts) == pytest.approx(0)
    for row, shift in zip(places, shifts, strict=True):
        settings = [x - shifts[0] for x in places[0]]
        assert [x - shift for x in row] == pytest.approx(settings, abs=5e-4)
    gaps = [right - left for left, right in pairwise(shifts)]
    assert min(gaps) * 600 > 4  # pixels
    at = json.loads(str(drawn.spec))["params"]
    (own,) = (one["value"].values() for one in at if one["name"] == "shifts")
    assert sorted(own) == shifts


def test_lines_of_a_sweep_are_in_natural_order_and_differ(tmp_path: Path) -> None:
    """m2 is before m10; lines that share the grey have dashes and symbols of their own."""
    drawn = draw_models(tmp_path, 12)
    assert [name for name, _ in drawn.legend] == [f"m{number}" for number in range(1, 13)]
    looks = [(slot, dash) for (_, slot), dash in zip(drawn.legend, drawn.dashes, strict=True)]
    assert len(set(looks)) == 12
    series = json.loads(str(drawn.payload))["series"]
    assert len({(one["colour"], tuple(one["dash"]), one["shape"]) for one in series}) == 12


def test_a_curve_over_trials_of_several_settings_warns(tmp_path: Path) -> None:
    """Their mean is about no setting; grouped, chosen or accepted there is no warning, nor in a sweep."""
    extra = {
        "mean": "",
        "grouped": "by: lr",
        "chosen": "filter: {lr: 0.1}",
        "accepted": "accept: {run-differ-lr-averaged-one: a search as a whole}",
    }
    fences = [f"```curve\nid: {name}\nsource: trials\n{text}\n```\n" for name, text in extra.items()]
    fences += [
        "```sweep\nid: sweep\nsource: trials\nx: lr\n```\n",
        "```runs-table\nid: runs\nsource: trials\n```\n",
    ]
    page = "# Small\n\n" + "\n".join(fences)
    root = write_report(tmp_path, {"content/index.md": page, "data/trials/trials.csv": TRIALS})
    for _ in range(2):  # also where everything is stored
        (said,) = [str(problem) for problem in drafted(root).problems]
        assert said.startswith('content/index.md:3: runs of "trials" differ in lr (0.1 and 0.2)')
        assert "by: lr" in said
        assert "filter: {lr: …}" in said


def test_a_benchmark_that_cannot_be_scored_is_the_cause(tmp_path: Path) -> None:
    """The sweep separates what the score of the page would mix, so that the error names the benchmark."""
    rows = "model,temperature,problem,sample,correct\n" + "".join(
        f"A,{rate},q{problem},1,{problem % 2}\n" for rate in (0.1, 0.2) for problem in (1, 2)
    )
    front = "---\ntitle: Small\nbenchmark: {name: X, source: answers}\n---\n"
    page = f"{front}# Small\n\n```sweep\nid: one\nx: temperature\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/answers.csv": rows})
    cause, said = sorted(problems(root))
    assert said.startswith("data/answers.csv:4: a second row for problem q1")
    assert cause.startswith("content/index.md:3: this benchmark cannot be scored, as data/answers.csv:4 says")
    assert "remove benchmark: and write source: answers" in cause
    alone = page.removeprefix(front).replace("x: ", "source: answers\nx: ")
    assert not drafted(write_report(tmp_path, {"content/index.md": alone, "data/answers.csv": rows})).problems
    both = page + "\n```scores\nid: two\n```\n"
    found = problems(write_report(tmp_path, {"content/index.md": both, "data/answers.csv": rows}))
    assert "cannot be scored" not in "".join(found)
