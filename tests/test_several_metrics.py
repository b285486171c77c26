"""Several metrics in one plot, and names by patterns: the numbers are those of the raw file."""

from __future__ import annotations

import csv
import json
import re
import statistics
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from made_projects import write_report
from test_report import drafted, figure, problems

from reportgen.core.cache import Cache
from reportgen.figures.render import render_vega_lite
from reportgen.review.compare import compare_reports
from reportgen.review.model import Origin
from reportgen.review.snapshot import take_snapshot
from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from collections.abc import Iterator

CASE = Path(__file__).parent / "cases" / "several-metrics"
TWO_AXES = CASE.with_name("two-y-axes")
RUNS = "method,step,train/loss,eval/loss,eval/acc,wind (m/s)\n" + "".join(
    f"{method},{step},{2 - step / 10},{2.5 - step / 10},{step / 10},{step}\n"
    for method in ("base", "base-old", "ours")
    for step in range(5)
)


def list_rows(name: str) -> Iterator[tuple[tuple[str, str, float], float]]:
    """The numbers of a figure of the case, by series, metric and step."""
    text = (CASE / "expected/figures/index" / f"{name}.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        yield (row["series"], row["metric"], float(row["step"])), float(row["value"])


def read_means(case: Path = CASE) -> dict[tuple[str, str, float], float]:
    """The mean over seeds at each step, from the raw file."""
    values = defaultdict(list)
    for row in csv.DictReader((case / "data/runs.csv").read_text("utf-8").splitlines()):
        for metric in list(row)[3:]:
            values[row["method"], metric, float(row["step"])].append(float(row[metric]))
    return {key: statistics.fmean(numbers) for key, numbers in values.items()}


def test_each_line_is_the_mean_of_its_metric() -> None:
    """Each line holds the mean over seeds of its own series and metric, of those that were chosen."""
    means = read_means()
    for name, series, metrics in (
        ("losses", {"base", "ours"}, {"train/loss", "eval/loss"}),
        ("rewards", {"ours"}, {"rewards/format/mean", "rewards/math/mean"}),
        ("parts-1", {"base", "ours"}, {"rewards/math/mean"}),
    ):
        drawn = dict(list_rows(name))
        assert drawn.keys() == {key for key in means if key[0] in series and key[1] in metrics}
        assert all(abs(value - means[key]) < 1e-9 for key, value in drawn.items())


def find_ticks(svg: str, place: str) -> list[tuple[float, float]]:
    """The values of the ticks of a y axis and their pixels; ``place`` is the x of their labels."""
    return [
        (float(label), float(y))
        for y, label in re.findall(rf'<text x="{place}" y="([\d.]+)" dy="4">([\d.]+)</text>', svg)
    ]


def test_each_metric_is_drawn_on_its_own_axis() -> None:
    """The symbols of the case are where the ticks of their axis put the means of the raw file."""
    means = read_means(TWO_AXES)
    svg = (TWO_AXES / "expected/figures/index/loss-and-accuracy.svg").read_text("utf-8")
    for number, metric, place in ((0, "train/loss", "-8"), (1, "eval/accuracy", "9")):
        (first, low), *_, (last, high) = find_ticks(svg, place)
        drawn = re.findall(
            rf'<use href="#loss-and-accuracy-symbol-{number}" x="([\d.]+)%" y="([\d.]+)"/>', svg
        )
        assert len(drawn) == 11
        for step, y in drawn:
            value = first + (float(y) - low) / (high - low) * (last - first)
            assert abs(value - means["ours", metric, float(step)]) < 0.01


def test_words_of_two_axes_keep_the_metrics_apart() -> None:
    """Each metric has its own direction, leader and numbers; the CSV file is as without ``axis``."""
    report = json.loads((TWO_AXES / "expected/report.json").read_text("utf-8"))
    (both,) = [one for page in report["pages"] for one in page["figures"] if one["id"] == "both"]
    assert both["numbers"]["leaders"] == dict.fromkeys(("train/loss", "eval/loss", "eval/accuracy"), "ours")
    assert both["numbers"]["higher_is_better"] is None
    page = (TWO_AXES / "expected/pages/index.html").read_text("utf-8")
    assert "dotted with triangles: eval/accuracy (right axis)" in page
    assert "solid with circles: train/loss (lower is better)" in page
    assert "Right axis: eval/accuracy." in page
    header = (TWO_AXES / "expected/figures/index/both.csv").read_text("utf-8").splitlines()[0]
    assert header == "series,metric,step,value,low,high,n,raw"


def test_vega_draws_both_axes(tmp_path: Path) -> None:
    """The specification has ticks of both axes, the lines of each on its own, and a legend."""
    block = "id: one\nsource: runs\nmetric: [eval/loss, eval/acc]\naxis: {eval/acc: right}"
    page = f"# Small\n\n```curve\n{block}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": RUNS})
    made = figure(drafted(root).shown["index.md", "one"])
    spec = json.loads(str(made.spec))
    assert [len(side["layer"]) for side in spec["layer"]] == [2, 2]
    svg = render_vega_lite(spec)
    for word in (
        "0.1",
        "0.4",
        "2.2",
        "2.4",
        "eval/acc",
        "eval/loss",
        "ours · eval/acc (right)",
        "ours · eval/loss",
    ):
        assert f">{word}</text>" in svg, word


def test_right_alone_moves_the_last_metric(tmp_path: Path) -> None:
    """``axis: right`` is that of the last metric."""
    block = "```curve\nid: {id}\nsource: runs\nmetric: [eval/loss, eval/acc]\naxis: {axis}\n```\n"
    page = "# Small\n\n" + "\n".join(
        block.format(id=name, axis=axis) for name, axis in (("one", "right"), ("two", "{eval/acc: right}"))
    )
    report = drafted(write_report(tmp_path, {"content/index.md": page, "data/runs.csv": RUNS}))
    one, two = (figure(report.shown["index.md", name]) for name in ("one", "two"))
    assert "Right axis: eval/acc." in one.caption
    assert str(one.spec) == str(two.spec)


def test_the_report_names_lines_by_series_and_metric() -> None:
    """``report.json`` says of each line which series and metric it is, and ranks each metric by itself."""
    report = json.loads((CASE / "expected/report.json").read_text("utf-8"))
    (losses,) = [one for page in report["pages"] for one in page["figures"] if one["id"] == "losses"]
    numbers = losses["numbers"]
    assert [(one["series"], one["metric"]) for one in numbers["lines"]] == [
        *(("base", "train/loss"), ("base", "eval/loss"), ("ours", "train/loss"), ("ours", "eval/loss"))
    ]
    assert numbers["leader"] is None
    assert numbers["leaders"] == {"train/loss": "ours", "eval/loss": "ours"}


def draft_figure(tmp_path: Path, block: str) -> tuple[tuple[str, ...], tuple[int | None, ...], str]:
    """Names and slots of the lines of a curve block, and its subtitle."""
    page = f"# Small\n\n```curve\nid: one\nsource: runs\n{block}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": RUNS})
    one = figure(drafted(root).shown["index.md", "one"])
    return tuple(name for name, _ in one.legend), tuple(slot for _, slot in one.legend), one.subtitle


def test_colour_stands_for_the_series_and_dash_for_the_metric(tmp_path: Path) -> None:
    """Lines of one series share its colour, and the subtitle says what each dash means."""
    names, slots, subtitle = draft_figure(tmp_path, "metric: [train/loss, eval/loss]\nseries: [base, ours]")
    assert names == ("base · train/loss", "base · eval/loss", "ours · train/loss", "ours · eval/loss")
    assert slots == (0, 0, 1, 1)
    assert subtitle.startswith(
        "colour: series, solid with circles: train/loss, dashed with squares: eval/loss"
    )


def test_a_single_series_is_not_repeated_on_every_line(tmp_path: Path) -> None:
    """Where a series is alone, its lines are named after their metrics."""
    names, _, _ = draft_figure(tmp_path, 'metric: "*/loss"\nseries: [ours]')
    assert names == ("train/loss", "eval/loss")


def test_highlight_names_a_series_or_a_line(tmp_path: Path) -> None:
    """A highlighted series keeps its colour on all its lines, a highlighted line alone."""
    block = "metric: [train/loss, eval/loss]\nseries: [base, ours]\nhighlight: "
    assert draft_figure(tmp_path, block + "[ours]")[1] == (None, None, 1, 1)
    assert draft_figure(tmp_path, block + "[ours · eval/loss]")[1] == (None, None, None, 1)


def test_what_does_not_fit_or_matches_nothing_is_refused(tmp_path: Path) -> None:
    """Each mistake is an error at its block, with what there is and the next step."""
    blocks = [
        (
            "metric: [train/loss, eval/los]",
            '"eval/los" is not a metric of source "runs". Did you mean "eval/loss"?',
        ),
        ('metric: "reward/*"', '"reward/*" matches no metric of source "runs". It has "train/loss"'),
        ('metric: ["*/loss", "!test*"]', '"!test*" leaves out no metric of source "runs"'),
        (
            "metric: eval/loss\nseries: [bse*]",
            '"bse*" matches no series of source "runs". Did you mean "base"?',
        ),
        ('metric: eval/loss\nseries: ["!*"]', '!* together leave out all series of source "runs"'),
        ("metric: [eval/loss, eval/acc]", "metrics that do not fit on one y axis: of"),
        ("metric: [eval/loss, eval/acc]", 'or write axis: {"eval/acc": right}'),
        ("metric: [eval/acc, wind (m/s)]", "metrics of different units on one y axis:"),
        (
            "metric: [eval/loss, eval/acc]\naxis: {eval/ac: right}",
            'axis names "eval/ac", which is not a metric of this figure. Did you mean "eval/acc"?',
        ),
        ("metric: eval/loss\naxis: {eval/loss: right}", "axis puts every metric on the right y axis"),
        (
            "metric: [eval/loss, eval/acc, wind (m/s)]\naxis: {eval/acc: right, wind (m/s): right}",
            "metrics of different units on one y axis:",
        ),
        ("metric: [eval/loss, eval/acc]\naxis: {eval/acc: left}", "axis"),
        (
            "metric: {small: train/loss, large: 10000 * train/loss}",
            'metrics of different sizes on one y axis: "small" reaches 2, and "large" 20,000. Draw them',
        ),
        ('metric: ["*/loss"]\nhighlight: [mine]', '"mine" is not a series of this figure'),
    ]
    page = "".join(
        f"```curve\nid: b{i}\nsource: runs\n{block}\n```\n\n" for i, (block, _) in enumerate(blocks)
    )
    root = write_report(tmp_path, {"content/index.md": f"# Small\n\n{page}", "data/runs.csv": RUNS})
    found = problems(root)
    assert len(found) == len(blocks), "\n".join(found)
    for said, (_, expected) in zip(found, blocks, strict=True):
        assert expected in said
        assert said.startswith("content/index.md:")


def test_a_statement_names_the_metric_that_it_is_about(tmp_path: Path) -> None:
    """A figure of two metrics is open to both readings, and its parts are not."""
    page = "# Small\n\n```curve\nid: one\nsource: runs\nmetric: [train/loss, eval/loss]\n```\n\n"
    files = {"content/index.md": page + '[1.6]{value="final(ours)"}\n', "data/runs.csv": RUNS}
    (said,) = problems(write_report(tmp_path, files))
    assert 'Name one with of=: "one-1", "one-2"' in said
    files["content/index.md"] = page + '[2.1]{value="final(ours)" of="one-2"}\n'
    report = drafted(write_report(tmp_path, files))
    assert [one.as_expected for one in report.statements["index.md"]] == [True]


def test_a_review_keeps_metrics_apart(tmp_path: Path) -> None:
    """A change of one metric is a change of its line, not of the series as a whole."""
    block = "id: one\nsource: runs\nmetric: [train/loss, eval/loss]\nseries: [ours]"
    page, states, cache = f"# Small\n\n```curve\n{block}\n```\n", [], tmp_path / "cache"
    for name, text in (("before", RUNS), ("after", RUNS.replace("ours,4,1.6,2.1", "ours,4,1.6,2.4"))):
        root = write_report(tmp_path / name, {"content/index.md": page, "data/runs.csv": text})
        report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None, folder=cache)
        origin = Origin(kind="folder", name=name, tool="0.1.0")
        states.append(take_snapshot(origin, report, root, Cache(cache)))
    (changed,) = compare_reports(*states).figures
    assert {one.name: one.change for one in changed.series} == {
        "ours · train/loss": "same",
        "ours · eval/loss": "data",
    }
