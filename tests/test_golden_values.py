"""Accepted numbers of cases, computed again from raw files, and data of the example report, made again."""

from __future__ import annotations

import csv
import json
import re
import runpy
import shutil
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from made_projects import files_below, write_report

from reportgen.figures.render import render_vega_lite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CASES = Path(__file__).parent / "cases"
DATA = Path(__file__).parents[1] / "data"
# Scripts that need none of the tools whose form they write.
SCRIPTS = [path for path in sorted(DATA.glob("*/make_*.py")) if "It needs" not in path.read_text("utf-8")]
Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_drawn(case: str, figure: str, *keys: str) -> dict[tuple[str, ...], float]:
    """The drawn values of an accepted figure by series, step and further columns."""
    rows = read_rows(CASES / case / "expected/figures/index" / f"{figure}.csv")
    return {tuple(row[key] for key in ("series", "step", *keys)): float(row["value"]) for row in rows}


def read_report(case: str, kind: str, name: str) -> dict[str, Any]:
    """The numbers of an accepted block."""
    report = json.loads((CASES / case / "expected/report.json").read_text("utf-8"))
    (found,) = (one for page in report["pages"] for one in page[kind] if one["id"] == name)
    numbers: dict[str, Any] = found["numbers"]
    return numbers


def average(pairs: Iterable[tuple[tuple[str, ...], str]]) -> dict[tuple[str, ...], float]:
    """The mean of the values of each key."""
    values = defaultdict(list)
    for key, value in pairs:
        values[key].append(float(value))
    return {key: fmean(each) for key, each in values.items()}


def name_joined(source: str, name: str, shared: str) -> str:
    """The name of a series of two sources, one of whose names both have."""
    return f"{source} / {name}" if name == shared else name


def test_curves_of_several_sources_are_means_of_their_own_files() -> None:
    """Over seeds at each step."""
    sources = ("ours", "baseline-2026-10")
    raw = [(one, row) for one in sources for row in read_rows(CASES / f"several-sources/data/{one}.csv")]
    means = average(((name_joined(one, row["algo"], "GRPO"), row["step"]), row["reward"]) for one, row in raw)
    assert len({name for name, _ in means}) == 4
    assert read_drawn("several-sources", "reward") == pytest.approx(means)


def test_scores_of_several_sources_are_paired_by_problem() -> None:
    """Scores over the problems of a source; differences over those that two sources share."""
    sources = ("eval-ours", "eval-baseline")
    raw = [(one, r) for one in sources for r in read_rows(CASES / f"several-sources/data/{one}/answers.csv")]
    means = average(((name_joined(one, row["model"], "A"), row["problem"]), row["score"]) for one, row in raw)
    by_series: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, problem), mean in means.items():
        by_series[name][problem] = mean
    numbers = read_report("several-sources", "stacks", "comparison")
    estimates = {one["series"]: one["estimate"] for one in numbers["scores"]}
    assert estimates == pytest.approx({name: fmean(each.values()) for name, each in by_series.items()})
    ours, base = by_series["eval-ours / A"], by_series["eval-baseline / A"]
    shared = sorted(ours.keys() & base.keys())
    assert len(shared) < len(ours)
    names = {"eval-ours / A", "eval-baseline / A"}
    (pair,) = (one for one in numbers["comparisons"] if {one["a"], one["b"]} == names)
    difference = fmean(ours[problem] - base[problem] for problem in shared)
    assert (pair["shared"], abs(pair["difference"])) == (len(shared), pytest.approx(difference))


@pytest.mark.parametrize(
    ("figure", "keep", "group"),
    [
        ("by-lr", lambda _: True, lambda row: f"lr={row['lr']}"),
        (
            "by-both",
            lambda row: float(row["lr"]) <= 0.01 and row["optimizer"].startswith("adam"),
            lambda row: f"{row['optimizer']}, lr={row['lr']}",
        ),
        ("coloured", lambda row: row["method"] != "base-sgd", lambda row: row["method"]),
    ],
)
def test_each_line_is_the_mean_of_the_runs_of_a_setting(
    figure: str, keep: Callable[[Row], bool], group: Callable[[Row], str]
) -> None:
    """Values and numbers of runs are those of the raw rows with the setting."""
    kept = [row for row in read_rows(CASES / "settings/data/runs.csv") if keep(row)]
    means = average(((group(row), row["step"]), row["loss"]) for row in kept)
    assert read_drawn("settings", figure) == pytest.approx(means, abs=1e-9)
    counts = {tuple(key[:2]): 0 for key in means}
    for row in kept:
        counts[group(row), row["step"]] += 1
    drawn = read_rows(CASES / f"settings/expected/figures/index/{figure}.csv")
    assert {(row["series"], row["step"]): int(row["n"]) for row in drawn} == counts


def read_metrics(case: str) -> dict[tuple[str, ...], float]:
    """The mean over seeds by series, step and metric."""
    rows = read_rows(CASES / case / "data/runs.csv")
    return average(((r["method"], r["step"], m), r[m]) for r in rows for m in list(r)[3:])


@pytest.mark.parametrize(
    ("figure", "series", "metrics"),
    [
        ("losses", {"base", "ours"}, {"train/loss", "eval/loss"}),
        ("rewards", {"ours"}, {"rewards/format/mean", "rewards/math/mean"}),
        ("parts-1", {"base", "ours"}, {"rewards/math/mean"}),
    ],
)
def test_each_line_is_the_mean_of_its_metric(figure: str, series: set[str], metrics: set[str]) -> None:
    """Each line holds the mean over seeds of its own series and metric, of those that were chosen."""
    means = {key: mean for key, mean in read_metrics("several-metrics").items() if key[0] in series}
    chosen = {key: mean for key, mean in means.items() if key[2] in metrics}
    assert read_drawn("several-metrics", figure, "metric") == pytest.approx(chosen, abs=1e-9)


def test_each_metric_is_drawn_on_its_own_axis() -> None:
    """The symbols are where the ticks of their axis put the means of the raw file; Vega has both axes."""
    means, folder = read_metrics("two-y-axes"), CASES / "two-y-axes/expected/figures/index"
    svg = (folder / "loss-and-accuracy.svg").read_text("utf-8")
    for number, metric, place in ((0, "train/loss", "-8"), (1, "eval/accuracy", "9")):
        ticks = re.findall(rf'<text x="{place}" y="([\d.]+)" dy="4">([\d.]+)</text>', svg)
        (low, first), (high, last) = (map(float, ticks[at]) for at in (0, -1))
        drawn = re.findall(
            rf'<use href="#loss-and-accuracy-symbol-{number}" x="([\d.]+)%" y="([\d.]+)"/>', svg
        )
        assert len(drawn) == 11
        for step, y in drawn:
            value = first + (float(y) - low) / (high - low) * (last - first)
            assert abs(value - means["ours", f"{float(step):g}", metric]) < 0.01


def test_vega_draws_both_axes(tmp_path: Path) -> None:
    """The specification has ticks of both axes, the lines of each on its own, and a legend."""
    block = "id: one\nsource: runs\nmetric: [eval/loss, eval/acc]\naxis: {eval/acc: right}"
    rows = (f"{name},{n},{2.5 - n / 10},{n / 10}\n" for name in ("base", "ours") for n in range(5))
    files = {"content/index.md": f"# A\n\n```curve\n{block}\n```\n"}
    root = write_report(
        tmp_path, {**files, "data/runs.csv": "method,step,eval/loss,eval/acc\n" + "".join(rows)}
    )
    assert call(root, "build").returncode == 0
    spec = json.loads((root / "site/figures/index/one.vl.json").read_text("utf-8"))
    assert [len(side["layer"]) for side in spec["layer"]] == [2, 2]
    svg = render_vega_lite(spec)
    named = ("eval/acc", "eval/loss", "ours · eval/acc (right)", "ours · eval/loss")
    for word in ("0.1", "0.4", "2.2", "2.4", *named):
        assert f">{word}</text>" in svg, word


def test_a_table_of_a_paper_has_the_scores_of_its_file() -> None:
    """Every score in the comparison's numbers."""
    rows = read_rows(CASES / "wide-tables/data/paper.csv")
    benchmarks = ("AIME", "MATH", "GSM8K")
    expected = {
        (row["Model"], name): float(row[name].strip("*%")) / 100 for row in rows for name in benchmarks
    }
    series = read_report("wide-tables", "stacks", "paper")["series"]
    found = {
        (s, name): cell["score"]["estimate"] for s, cells in series.items() for name, cell in cells.items()
    }
    assert found == pytest.approx(expected)


# ---- data of the example report ---------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.parent.name)
def test_scripts_make_the_same_data_again(script: Path, tmp_path: Path) -> None:
    """A folder that a script made holds what the script makes now, and nothing else but settings."""
    runpy.run_path(str(shutil.copy(script, tmp_path)), run_name="__main__")
    made, kept = (
        {k: v for k, v in files_below(one).items() if k != "source.yml"} for one in (tmp_path, script.parent)
    )
    assert made == kept


def read_aime() -> dict[tuple[str, int], list[Fraction]]:
    """Runs of the example by series and step."""
    runs = defaultdict(list)
    for row in read_rows(DATA / "aime/runs.csv"):
        runs[row["series"], int(row["iteration"])].append(Fraction(row["pass@1"]))
    return runs


def test_the_mean_of_the_aime_runs_is_the_digitised_point() -> None:
    """Five runs a step, whose mean is exactly the value read off the figure."""
    runs = read_aime()
    assert {len(values) for values in runs.values()} == {5}
    mean = {key: sum(values) / 5 for key, values in runs.items()}
    assert mean["v10-l1-length-4096", 900] == Fraction("0.321")
    assert mean["v1-l1-length-4096", 900] == Fraction("0.280")
    assert all(value == round(value, 3) for value in mean.values())


def test_the_spread_of_the_aime_runs_follows_the_description() -> None:
    """Widest between 400 and 600 and between 800 and 1000; the second series is wide at 900."""
    width = {key: max(values) - min(values) for key, values in read_aime().items()}
    first = {step: size for (series, step), size in width.items() if series.startswith("v10")}
    assert sorted(sorted(first, key=first.__getitem__)[-6:]) == [400, 500, 600, 800, 900, 1000]
    second = {step: size for (series, step), size in width.items() if series.startswith("v1-")}
    assert max(second, key=second.__getitem__) == 900


def test_the_reference_points_are_there() -> None:
    """Points that the pages quote."""
    scores = {(r["series"], r["step"]): r["validation score"] for r in read_rows(DATA / "math500/points.csv")}
    found = [float(scores[key]) for key in (("MEL", "120"), ("GRPO", "100"), ("GRPO", "140"))]
    assert found == [0.84, 0.815, 0.82]
    losses = read_rows(DATA / "rl-diagnostics/points.csv")
    wanted = ("Series B", "actor/kl_loss", "20")
    assert [float(r["value"]) for r in losses if (r["series"], r["metric"], r["step"]) == wanted] == [1.0]
