"""Several sources in one block that filters, groups, derives or draws several metrics, as in the raw rows."""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from made_projects import write_report
from test_report import drafted, figure, problems

from reportgen.core.model import Figure, Stack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "series,lr,seed,step,time,loss,acc,late_loss\n"


def make_rows(start: float, minutes: int, *series: str) -> str:
    """A table of runs of each series with two rates and two seeds, whose steps take so many minutes."""
    rows = [
        (name, rate, seed, step, step * minutes * 60, start + place + seed + 100 * rate - step, step / 100)
        for place, name in enumerate(series)
        for rate, seed in ((0.1, 1), (0.1, 2), (0.001, 3), (0.001, 4))
        for step in range(LAST + 1)
    ]
    return HEAD + "".join(
        f"{name},{rate},{seed},{step},2026-10-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:00Z,"
        f"{loss + 10:.3f},{acc},{loss + 5:.3f}\n"
        for name, rate, seed, step, seconds, loss, acc in rows
    )


LAST = 3  # the last step
OURS, BASE = make_rows(0.0, 100, "GRPO", "DAPO"), make_rows(20.0, 1, "GRPO", "PPO")


RATE = BASE.replace("lr,", "rate,", 1)
ELAPSED = BASE.replace("2026-10-01T00:0", "").replace(":00Z", "").replace("time,", "elapsed,", 1)


def write_block(root: Path, block: str, kind: str = "curve", base: str = BASE) -> Path:
    """A report with one block of two sources."""
    page = f"# Page\n\n```{kind}\nid: one\nsource: [ours, base]\n{block}\n```\n"
    return write_report(root, {"data/ours.csv": OURS, "data/base.csv": base, "content/index.md": page})


def read_points(root: Path) -> dict[tuple[str, float], float]:
    """The drawn values by series and step."""
    shown = figure(drafted(root).shown["index.md", "one"])
    rows = csv.DictReader(str(shown.csv).splitlines())
    return {(row["series"], float(row["step"])): float(row["value"]) for row in rows}


def compute_means(
    metric: str, group: Callable[[str, dict[str, str]], str | None]
) -> dict[tuple[str, float], float]:
    """The mean of the raw rows at each step, by the group of their source and row; None leaves a row out."""
    values = defaultdict(list)
    for source, text in (("ours", OURS), ("base", BASE)):
        for row in csv.DictReader(text.splitlines()):
            if (name := group(source, row)) is not None:
                values[name, float(row["step"])].append(float(row[metric]))
    return {key: statistics.fmean(found) for key, found in values.items()}


def name_series(source: str, row: dict[str, str]) -> str:
    """The name of a row's series among those of both sources."""
    return f"{source} / GRPO" if row["series"] == "GRPO" else row["series"]


def test_a_filter_keeps_the_same_rows_of_each_source(tmp_path: Path) -> None:
    """Means are those of the raw rows that pass, and the caption says so once."""
    root = write_block(tmp_path, 'metric: loss\nfilter: {lr: "<= 0.01"}')
    drawn = read_points(root)
    means = compute_means("loss", lambda *one: name_series(*one) if one[1]["lr"] == "0.001" else None)
    assert drawn == pytest.approx(means)
    assert figure(drafted(root).shown["index.md", "one"]).caption.count("Only rows with lr") == 1


def test_several_metrics_are_those_of_each_source(tmp_path: Path) -> None:
    """Each metric has a line for each series of both."""
    shown = figure(drafted(write_block(tmp_path, "metric: [loss, late_loss]")).shown["index.md", "one"])
    rows = list(csv.DictReader(str(shown.csv).splitlines()))
    for metric in ("loss", "late_loss"):
        drawn = {
            (row["series"], float(row["step"])): float(row["value"])
            for row in rows
            if row["metric"] == metric
        }
        assert drawn == pytest.approx(compute_means(metric, name_series))


def test_groups_keep_the_runs_of_sources_apart(tmp_path: Path) -> None:
    """Each group has its source behind it, in the order of the settings and then of the sources."""
    drawn = read_points(write_block(tmp_path, "metric: loss\nby: lr"))
    assert drawn == pytest.approx(compute_means("loss", lambda source, row: f"lr={row['lr']}, {source}"))
    assert list(dict.fromkeys(name for name, _ in drawn)) == [
        f"lr={rate}, {source}" for rate in ("0.001", "0.1") for source in ("ours", "base")
    ]


def test_each_series_has_the_colour_of_its_setting(tmp_path: Path) -> None:
    """A setting has one colour in both sources."""
    root = write_block(tmp_path, "metric: loss\nfilter: {lr: 0.1}\ncolour: lr")
    one = figure(drafted(root).shown["index.md", "one"])
    assert {name.split(" · ")[1] for name, _ in one.legend} == {"lr=0.1"}
    assert len({colour for _, colour in one.legend}) == 1
    assert {name for name, _ in read_points(root)} == {"ours / GRPO", "DAPO", "base / GRPO", "PPO"}


def test_a_sweep_has_a_line_for_each_source(tmp_path: Path) -> None:
    """Runs of two sources with one rate are never pooled."""
    stack = drafted(write_block(tmp_path, "metric: loss\nx: lr", "sweep")).shown["index.md", "one"]
    assert isinstance(stack, Stack)
    one = stack.parts[0]
    assert isinstance(one, Figure)
    points = {point["name"]: point["mean"] for point in one.numbers["points"]}
    means = compute_means("loss", lambda source, row: f"lr={row['lr']}, {source}")
    assert points == pytest.approx({name: value for (name, step), value in means.items() if step == LAST})
    assert [name for name, _ in one.legend] == ["ours", "base"]


def test_a_derived_metric_is_computed_in_each_source(tmp_path: Path) -> None:
    """It is the formula of each run's own values."""
    drawn = read_points(write_block(tmp_path, "metric: {error: 1 - acc}"))
    means = compute_means("acc", name_series)
    assert drawn == pytest.approx({key: 1 - value for key, value in means.items()})


@pytest.mark.parametrize(
    ("series", "names"),
    [
        ("[GR*]", ["ours / GRPO", "base / GRPO"]),
        ('["!GRPO"]', ["DAPO", "PPO"]),
        ('[ours*, "?PO"]', ["ours / GRPO", "PPO"]),
        ('["*PO", "!base / GRPO"]', ["ours / GRPO", "DAPO", "PPO"]),
    ],
)
def test_patterns_choose_series_by_either_name(tmp_path: Path, series: str, names: list[str]) -> None:
    """A pattern matches what a source calls its series, and what the block calls it."""
    drawn = read_points(write_block(tmp_path, f"metric: los*\nseries: {series}"))
    assert list(dict.fromkeys(name for name, _ in drawn)) == names


def test_relative_times_are_in_one_unit(tmp_path: Path) -> None:
    """Hours of one source, and minutes of the other as parts of hours."""
    drawn = read_points(write_block(tmp_path, "metric: loss\nx: relative time"))
    steps = {name: sorted(x for series, x in drawn if series == name) for name, _ in drawn}
    assert steps["DAPO"] == pytest.approx([0, 5 / 3, 10 / 3, 5])
    assert steps["PPO"] == pytest.approx([0, 1 / 60, 2 / 60, 3 / 60])


def test_scores_take_filters_and_patterns_of_both_sources(tmp_path: Path) -> None:
    """The scores are those of the raw rows that pass, of the series that a pattern matches."""
    answers = "model,subject,problem,score\n" + "".join(
        f"{name},{('maths', 'law')[problem % 2]},q{problem},{int(problem % 4 < 2)}\n"
        for name in ("grpo-1", "ppo-1")
        for problem in range(16)
    )
    page = (
        "# Page\n\n```scores\nid: one\nsource: [ours, base]\nseries: [grpo*]\nfilter: {subject: maths}\n```\n"
    )
    files = {"data/ours.csv": answers, "data/base.csv": answers.replace(",1\n", ",0\n")}
    shown = drafted(write_report(tmp_path, {**files, "content/index.md": page})).shown["index.md", "one"]
    assert isinstance(shown, Stack)
    one = shown.parts[0]
    assert isinstance(one, Figure)
    rows = {row["series"]: float(row["score"]) for row in csv.DictReader(str(one.csv).splitlines())}
    assert rows == {"ours / grpo-1": 0.5, "base / grpo-1": 0.0}


@pytest.mark.parametrize(
    ("block", "base", "words"),
    [
        (
            "metric: loss\nfilter: {lr: 0.1}",
            RATE,
            'source "base" has no column "lr"',
        ),
        ("metric: loss\nby: rate", RATE, 'source "ours" has no column "rate"'),
        ("metric: los?t", BASE, "matches no metric of source"),
        ("metric: loss\nseries: [QQ*]", BASE, "matches no series of source"),
        (
            "metric: loss\nx: elapsed",
            ELAPSED,
            "x is the time since each run began",
        ),
        ("metric: loss\nx: wall time", ELAPSED, 'source "base" has no times'),
        ("metric: {gap: loss - none}", BASE, "none"),
        (
            "metric: loss\nfilter: {lr: 7}",
            BASE,
            'There lr is 0.001 and 0.1 in "ours" and 0.001 and 0.1 in "base"',
        ),
    ],
)
def test_what_a_source_lacks_is_named_at_the_block(tmp_path: Path, block: str, base: str, words: str) -> None:
    """The error names the source, and its place is the block."""
    found = problems(write_block(tmp_path, block, base=base))
    assert words in found[0]
    assert found[0].startswith("content/index.md:3: ")
