"""Accepted numbers of cases, computed again from raw files, and data of the example report, made again."""

from __future__ import annotations

import csv
import itertools
import json
import re
import runpy
import shutil
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_line import call
from made_projects import files_below, write_report
from scipy import stats
from scipy.special import expit, logit

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
    with path.open(encoding="utf-8-sig", newline="") as file:
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
    assert [[layer["name"] for layer in side["layer"]][-2:] for side in spec["layer"]] == [
        ["lines_0", "points_0"],
        ["right_lines_1", "right_points_1"],
    ]
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


def test_the_accepted_bands_are_student_s() -> None:
    """Mean and 95 % interval of five runs at every step, by scipy, from the data of the case."""
    values = defaultdict(list)
    for row in read_rows(CASES / "five-runs-with-bands/data/runs.csv"):
        values[row["model"], float(row["step"])].append(float(row["accuracy"]))
    drawn = read_rows(CASES / "five-runs-with-bands/expected/figures/index/accuracy-during-training.csv")
    assert len(drawn) == len(values) == 12
    for row in drawn:
        runs = np.array(values[row["series"], float(row["step"])])
        interval = stats.t.interval(0.95, runs.size - 1, runs.mean(), stats.sem(runs))
        assert float(row["value"]) == pytest.approx(runs.mean())
        assert (float(row["low"]), float(row["high"])) == pytest.approx(interval)
        assert row["n"] == "5"


def test_the_accepted_irregular_data_are_what_is_left_of_them() -> None:
    """The last of two rows of a step, no value that is not finite, no run beyond its end, by hand."""
    drawn = read_rows(CASES / "irregular-data/expected/figures/index/figure.csv")
    mel = [(row["step"], row["n"]) for row in drawn if row["series"] == "MEL"]
    # At step 30 the only run that is left has NaN: a gap.
    assert mel == [("0", "2"), ("10", "2"), ("20", "2"), ("30", "0"), ("40", "1")]
    # Run 1: 0.1, 0.3, 0.5, 0.6 at 0, 10, 20, 40; run 2: 0.14, 0.45 at 0, 20, so 0.295 at 10.
    values = [float(row["value"]) for row in drawn if row["series"] == "MEL" and row["value"]]
    assert values == pytest.approx([0.12, (0.3 + 0.295) / 2, 0.475, 0.6])
    assert {row["series"] for row in drawn} == {"MEL", "GRPO, tuned"}


def by_problem(case: str, file: str, benchmark: str) -> dict[str, dict[str, float]]:
    """Mean score of each series on each problem, the last of repeated rows counts."""
    samples: dict[tuple[str, str, str], float] = {}
    for row in read_rows(CASES / case / file):
        if row["benchmark"] == benchmark and row["score"]:
            samples[row["model"], row["problem"], row["sample"]] = float(row["score"])
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (series, problem, _), score in samples.items():
        found[series][problem].append(score)
    return {
        series: {problem: float(np.mean(scores)) for problem, scores in of_series.items()}
        for series, of_series in found.items()
    }


def test_the_accepted_scores_are_student_s_over_problems() -> None:
    """Mean and interval of every series, by scipy, on the logit scale.

    Where half of the problems are at one end of the range, and the bound on unseen problems reaches at least
    half as far as t, the limit on that side leaves out 5 % by itself.
    """
    case = "scores-two-benchmarks"
    means = by_problem(case, "data/suite/outcomes.csv", "contest")
    scores = read_report(case, "stacks", "scores-on-the-contest")["scores"]
    assert {one["series"] for one in scores} == set(means) == {"base", "tuned", "large, greedy"}
    for one in scores:
        values = np.array(list(means[one["series"]].values()))
        mean, bound = values.mean(), 1 - 0.025 ** (1 / values.size)
        scale = stats.sem(values) / (mean * (1 - mean))
        tails = [0.025, 0.025]
        law = stats.t(values.size - 1, logit(mean), scale)
        low, high = (float(expit(law.ppf(tail))) for tail in (0.025, 0.975))
        wrong, right = np.count_nonzero(values == 0), np.count_nonzero(values == 1)
        if 2 * wrong >= values.size and wrong > right and high - mean <= 2 * bound * (1 - mean):
            tails[0] = 0.05
        elif 2 * right >= values.size and right > wrong and mean - low <= 2 * bound * mean:
            tails[1] = 0.05
        ends = tuple(float(expit(law.ppf(tail))) for tail in (tails[0], 1 - tails[1]))
        assert one["problems"] == values.size
        assert one["estimate"] == pytest.approx(mean)
        assert (one["low"], one["high"]) == pytest.approx(ends)


def test_the_accepted_comparison_is_the_exact_permutation_test() -> None:
    """Each pair on the problems that both answered: every flip of signs, by enumeration."""
    case = "scores-two-benchmarks"
    means = by_problem(case, "data/suite/outcomes.csv", "contest")
    pairs = read_report(case, "stacks", "against-base")["comparisons"]
    expected = []
    for one in pairs:
        a, b = means[one["a"]], means[one["b"]]
        differences = np.array([a[problem] - b[problem] for problem in sorted(a.keys() & b.keys())])
        flips = np.array(list(itertools.product((-1, 1), repeat=differences.size)))
        sums = np.abs(flips @ differences)
        expected.append(float(np.mean(sums >= abs(differences.sum()) - 1e-9)))
        assert (one["shared"], one["difference"]) == (differences.size, pytest.approx(differences.mean()))
    assert [one["p"] for one in pairs] == pytest.approx(expected)
    assert all(one["p"] <= one["adjusted_p"] <= 1 for one in pairs)


def test_the_accepted_report_says_what_is_missing_and_what_is_mixed() -> None:
    """A repeated row, a problem that one lacks, a series without a benchmark, protocols that differ."""
    case = "scores-two-benchmarks"
    contest = read_report(case, "stacks", "scores-on-the-contest")
    assert (contest["found"]["replaced"], contest["found"]["lacking"]) == (1, [["large, greedy", ["c2"]]])
    assert set(contest["mixed_protocol"]) == {"temperature", "problem set"}
    assert contest["mixed_protocol"]["temperature"] == {"0.7": ["base", "tuned"], "0": ["large, greedy"]}
    both = read_report(case, "stacks", "both")
    assert both["benchmarks"]["textbook"]["found"]["missing"] == 1
    assert both["series"]["unranked"]["contest"]["score"]["estimate"] is None
    assert both["macro"]["unranked"]["score"]["estimate"] is None
    assert both["macro"]["unranked"]["reason"] or both["macro"]["unranked"]["score"]["reason"]
    assert "unranked" not in json.dumps(both["benchmarks"]["contest"])


def test_the_accepted_errors_are_better_where_they_are_fewer() -> None:
    """Verdicts turn with the direction, a single run leaves them open; runs have Student's interval."""
    case = "scores-lower-is-better"
    groups = read_report(case, "stacks", "comparison")
    estimates = {one["series"]: one["estimate"] for one in groups["scores"]}
    assert sorted(estimates, key=lambda name: estimates[name]) == ["reader-2", "reader-3", "reader-1"]
    assert groups["groups"] == [["reader-2", "reader-3", "reader-1"]]
    for one in groups["comparisons"]:
        clear = "better" if one["difference"] < 0 else "worse"
        assert one["verdict"] == ("unclear" if "reader-3" in {one["a"], one["b"]} else clear)
    lines = (CASES / case / "data/errors/outcomes.jsonl").read_text("utf-8").splitlines()
    runs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for answer in map(json.loads, lines):
        runs[answer["series"], answer["run"]].append(answer["score"])
    for one in read_report(case, "stacks", "three-runs-of-each-reader")["spreads"]:
        means = [float(np.mean(scores)) for (series, _), scores in runs.items() if series == one["series"]]
        assert one["mean"] == pytest.approx(np.mean(means))
        if len(means) == 1:
            assert (one["sd"], one["low"], one["high"]) == (None, None, None)
            continue
        interval = stats.t.interval(0.95, len(means) - 1, np.mean(means), stats.sem(means))
        assert (one["low"], one["high"]) == pytest.approx(interval)


def test_a_table_in_percent_is_that_of_the_raw_file() -> None:
    """Means and spreads of the last values; the CSV files have shares."""
    finals = defaultdict(list)
    for row in read_rows(CASES / "percent/data/runs.csv"):
        if row["step"] == "20":
            finals[row["series"]].append(float(row["accuracy"]))
    table = {row["series"]: row for row in read_rows(CASES / "percent/expected/figures/index/results.csv")}
    drawn = read_drawn("percent", "accuracy")
    for series, values in finals.items():
        assert float(table[series]["final"]) == pytest.approx(fmean(values))
        assert float(table[series]["sd"]) == pytest.approx(stdev(values))
        assert drawn[series, "20"] == pytest.approx(fmean(values))


def test_points_of_two_measures_are_means_with_student_s_intervals() -> None:
    """Of last values over runs, and of what answers cost over problems, whose front paired t decides."""
    last = defaultdict(list)
    for row in read_rows(CASES / "explore/data/runs.csv"):
        if row["step"] == "100":
            last[row["method"]].append((float(row["tokens"]), float(row["accuracy"])))
    points = {one["name"]: one for one in read_report("explore", "figures", "trade-off")["points"]}
    assert points.keys() == last.keys()
    for name, pairs in last.items():
        ys = [y for _, y in pairs]
        interval = stats.t.interval(0.95, 2, fmean(ys), stats.sem(ys))
        assert points[name]["y"] == pytest.approx([fmean(ys), *interval])
        assert points[name]["x"] == [pairs[0][0], None, None]
    costs = average(
        ((row["model"], row["problem"]), row["tokens"])
        for row in read_rows(CASES / "explore/data/answers.csv")
    )
    found = read_report("explore", "figures", "score-and-tokens")
    own = {
        one["name"]: [cost for (name, _), cost in costs.items() if name == one["name"]]
        for one in found["points"]
    }
    for one in found["points"]:
        values = own[one["name"]]
        interval = stats.t.interval(0.95, len(values) - 1, fmean(values), stats.sem(values))
        assert one["x"] == pytest.approx([fmean(values), *interval])
    assert stats.ttest_rel(own["short"], own["wordy"]).pvalue < 0.025
    assert found["front"] == ["short", "long"]


# ---- data of the example report ---------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.parent.name)
def test_scripts_make_the_same_data_again(script: Path, tmp_path: Path) -> None:
    """A folder that a script made holds what the script makes now, and nothing else but settings."""
    runpy.run_path(str(shutil.copy(script, tmp_path)), run_name="__main__")
    made, kept = (
        {k: v for k, v in files_below(one).items() if k != "source.yml"} for one in (tmp_path, script.parent)
    )
    assert made == kept


def test_the_aime_runs_are_those_of_the_figure() -> None:
    """Five runs a step, whose mean is exactly the value read off; the first series spreads as described."""
    runs = defaultdict(list)
    for row in read_rows(DATA / "aime/runs.csv"):
        runs[row["series"], int(row["iteration"])].append(Fraction(row["pass@1"]))
    assert {len(values) for values in runs.values()} == {5}
    mean = {key: sum(values) / 5 for key, values in runs.items()}
    assert mean["v10-l1-length-4096", 900] == Fraction("0.321")
    assert mean["v1-l1-length-4096", 900] == Fraction("0.280")
    assert all(value == round(value, 3) for value in mean.values())
    width = {key: max(values) - min(values) for key, values in runs.items()}
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
