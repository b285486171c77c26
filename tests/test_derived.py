"""Derived metrics and what x may be: computed for each run from the raw file, then put together."""

from __future__ import annotations

import csv
import json
import shutil
import statistics
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_projects import write_report
from test_report import drafted, figure, problems

from reportgen.claims.formulas import parse_formula
from reportgen.claims.language import ExpressionError
from reportgen.core.errors import ReportError
from reportgen.figures.text import name_view
from reportgen.site.outputs import list_figures

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.model import Figure

CASE = Path(__file__).parent / "cases" / "derived"
DATA = Path(__file__).parents[1] / "data"
TEXT = (CASE / "data/runs.csv").read_text("utf-8")
ROWS = list(csv.DictReader(TEXT.splitlines()))
T4 = 4.302652729749464  # the 97.5% point of Student's t with 2 degrees of freedom


def list_drawn(name: str) -> list[dict[str, str]]:
    """The rows of a figure's CSV file in the case."""
    return list(
        csv.DictReader((CASE / "expected/figures/index" / f"{name}.csv").read_text("utf-8").splitlines())
    )


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
    for row in ROWS:
        if row["eval/acc"] or metric == "train error":
            values[row["method"], float(row["step"])].append(compute(row))
    drawn = {(row["series"], float(row["step"])): row for row in list_drawn(name) if row["metric"] == metric}
    assert drawn.keys() == values.keys()
    for key, numbers in values.items():
        mean, half = statistics.fmean(numbers), T4 * statistics.stdev(numbers) / len(numbers) ** 0.5
        row = drawn[key]
        assert abs(float(row["value"]) - mean) < 1e-9
        assert abs(float(row["low"]) - (mean - half)) < 1e-8
        assert abs(float(row["high"]) - (mean + half)) < 1e-8


def test_x_by_a_word_is_the_metric_that_counts_it() -> None:
    """``x: tokens`` puts every run on its own tokens: single readings of runs lie on the drawn steps."""
    drawn = {float(row["step"]) for row in list_drawn("tokens")}
    assert drawn == {float(row["train/num_tokens"]) for row in ROWS}


def test_x_by_a_formula_is_computed_from_the_step() -> None:
    """``x: {step * 4096: tokens}`` moves every value, and changes none."""
    values = defaultdict(list)
    for row in ROWS:
        values[row["method"], 4096 * float(row["step"])].append(float(row["loss"]))
    drawn = {(row["series"], float(row["step"])): float(row["value"]) for row in list_drawn("counted")}
    assert drawn.keys() == values.keys()
    assert all(abs(value - statistics.fmean(values[key])) < 1e-9 for key, value in drawn.items())


def draft_block(tmp_path: Path, block: str, source: str = "runs") -> Figure:
    """One figure with these lines in its block."""
    page = f"# Small\n\n```curve\nid: one\nsource: {source}\n{block}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": TEXT})
    if source != "runs":
        shutil.copytree(DATA / source, root / "data" / source)
    return figure(drafted(root).shown["index.md", "one"])


def test_the_caption_says_what_is_computed_and_the_axis_its_unit(tmp_path: Path) -> None:
    """A formula is in the caption as it is written; its unit, if it has one, is in the title of the axis."""
    one = draft_block(tmp_path, "metric: {gap: train/acc - eval/acc}")
    assert "gap = train/acc - eval/acc, computed for each run at each step that has all of it." in one.caption
    block = "metric: {range: highest temperature (°C) - lowest temperature (°C)}\nx_domain: [1, 365]"
    warm = draft_block(tmp_path, block, "seattle-weather")
    assert "range (°C)" in str(warm.inline_svg)


def test_either_side_of_x_may_be_the_formula(tmp_path: Path) -> None:
    """``{tokens: step * 4096}`` is as natural as ``{step * 4096: tokens}``."""
    one = draft_block(tmp_path, "metric: train/acc\nx: {step * 2: tokens}")
    other = draft_block(tmp_path, "metric: train/acc\nx: {tokens: step * 2}")
    assert str(one.csv) == str(other.csv)
    assert "tokens" in str(one.inline_svg)


def test_relative_time_begins_with_the_first_value_of_a_run(tmp_path: Path) -> None:
    """Times of a logger count from the first value of each run, of whatever metric, in a fitting unit."""
    one = draft_block(tmp_path, "metric: val/loss\nx: relative time", "mlflow-example")
    steps = [float(line.split(",")[2]) for line in str(one.csv).splitlines()[1:]]
    assert min(steps) == 0
    assert "time since start (" in str(one.inline_svg)


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
    files = {"data/runs.csv": TEXT, "content/index.md": f"# Small\n\n{page}"}
    report = drafted(write_report(tmp_path, files))
    chosen, *alone = (list_figures(report.shown["index.md", name]) for name in "abc")
    for number, one in enumerate(chosen):
        own = json.loads(str(one.payload))
        assert own["x"]["title"] == "Own"
        for other, figures in zip(own["others"], alone, strict=True):
            expected = json.loads(str(figures[number].payload))
            expected.pop("of", None)
            place = {name: own[name] for name in ("margins", "height")}
            assert other == expected | place
            assert expected["view"] in {name_view(view) for view in (one.view, *one.other_views)}


WITH_COUNTS = "model,seed,step,epoch,tokens,samples,timestamp,loss\n" + "".join(
    f"{model},{seed},{step * 10},{step / 5},{step * 4096},64,2026-01-0{seed} 10:0{step}:00,{1 / (step + 1)}\n"
    for model in "AB"
    for seed in (1, 2)
    for step in range(6)
)


@pytest.mark.parametrize(
    ("block", "offered"),
    [
        ("metric: loss", ["tokens", "epochs", "time since start (min)"]),
        ("metric: tokens", ["epochs", "time since start (min)"]),
        ("metric: loss\nx: tokens", ["step", "epochs", "time since start (min)"]),
        ("metric: loss\nx: {step * 64: seen}", ["step", "tokens", "epochs", "time since start (min)"]),
    ],
)
def test_auto_offers_the_axes_that_the_data_have(tmp_path: Path, block: str, offered: list[str]) -> None:
    """Not the one drawn, nor a metric over itself, nor samples that stand still at 64."""
    page = f"```curve\nsource: runs\n{block}\nother_x: auto\nid: a\n```\n"
    report = drafted(write_report(tmp_path, {"data/runs.csv": WITH_COUNTS, "content/index.md": page}))
    payload = json.loads(str(figure(report.shown["index.md", "a"]).payload))
    assert [other["x"]["title"] for other in payload["others"]] == offered


def test_auto_adds_nothing_where_the_data_have_nothing(tmp_path: Path) -> None:
    """The figure has the same bytes as without."""
    page = "```curve\nsource: runs\n{}id: a\n```\n"
    payloads = []
    for name, line in (("plain", ""), ("auto", "other_x: auto\n")):
        report = drafted(write_report(tmp_path / name, {"content/index.md": page.format(line)}))
        payloads.append(str(figure(report.shown["index.md", "a"]).payload))
    assert payloads[0] == payloads[1]


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        *((name, 0) for name in ("timestamp", "_timestamp", "time", "wall_time", "Date")),
        *((name, 1) for name in ("timestamp", "_timestamp", "time", "Wall time")),
        *(("timestamp", unit) for unit in (1_000, 1_000_000, 1_000_000_000)),
    ],
)
def test_wall_and_relative_time_find_the_column_of_times(
    tmp_path: Path,
    column: str,
    unit: int,  # in a second, of numbers since 1970; 0 for dates
) -> None:
    """A table has the time under a name of its own, as a date or as a number since 1970."""
    days = [datetime(2026, 5, step, 12, tzinfo=UTC) for step in range(1, 5)]
    times = [(day.timestamp() + 0.25) * unit if unit else f"{day:%Y-%m-%d %H:%M:%S}" for day in days]
    rows = f"model,step,{column},loss\n" + "".join(
        f"A,{step},{time},{1 / step}\n" for step, time in enumerate(times, 1)
    )
    block = "```curve\nid: {}\nsource: s\nmetric: loss\nx: {} time\n```\n"
    page = "\n".join(["# Small\n", *(block.format(word, word) for word in ("wall", "relative"))])
    report = drafted(write_report(tmp_path, {"content/index.md": page, "data/s.csv": rows}))
    wall, relative = (figure(report.shown["index.md", word]) for word in ("wall", "relative"))
    assert [row[0][:10] for row in wall.table.rows] == [f"2026-05-0{day}" for day in range(1, 5)]
    assert [float(row[0]) for row in relative.table.rows] == [0, 24, 48, 72]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("back", '"back" goes back from 5 to 4 at step 1 of A'),
        ("flat", '"flat" stands still at 1 at all 3 steps of A'),
        ("nowhere", 'has no column or metric "nowhere"'),
    ],
)
@pytest.mark.parametrize("metric", ["acc", "{error: 1 - acc}"])
def test_x_of_a_derived_metric_is_checked_as_that_of_any_other(
    tmp_path: Path, metric: str, x: str, message: str
) -> None:
    """The same rows give the same error."""
    rows = "model,step,back,flat,acc\nA,0,5,1,0.5\nA,1,4,1,0.6\nA,2,3,1,0.7\n"
    page = f"# Small\n```curve\nsource: s\nmetric: {metric}\nx: {x}\n```\n"
    with pytest.raises(ReportError, match=message):
        drafted(write_report(tmp_path, {"content/index.md": page, "data/s.csv": rows}))


def test_a_derived_metric_joins_steps_rather_than_values_of_x(tmp_path: Path) -> None:
    """Two steps of one epoch are two values, of which the last written counts, as for any metric."""
    rows = "step,epoch,loss,tokens\n0,1,8,2\n1,1,6,1\n2,2,4,4\n"
    block = "```curve\nid: {}\nsource: s\nmetric: {}\nx: epoch\n```\n"
    page = "# Small\n" + block.format("a", "{share: loss / tokens}") + block.format("b", "loss")
    report = drafted(write_report(tmp_path, {"content/index.md": page, "data/s.csv": rows}))
    derived, plain = (figure(report.shown["index.md", name]).table.rows for name in "ab")
    assert [float(row[0]) for row in derived] == [float(row[0]) for row in plain] == [1, 2]
    assert [float(row[1]) for row in derived] == [6, 1]


def test_formulas_take_the_longest_name_and_know_units() -> None:
    """A metric's name needs no quotes, whatever characters it has; units follow the arithmetic."""
    known = ("loss", "tokens", "loss/tokens", "a-b", "pass@1", "t (K)", "u (K)", "w (m)")
    assert parse_formula("loss/tokens", known).parts == ("$loss/tokens",)
    assert parse_formula("loss / tokens", known).parts == ("$loss", "$tokens", "/")
    assert parse_formula("1 - a-b", known).parts == (1.0, "$a-b", "-")
    assert parse_formula("-pass@1 * 100 + 2", known).parts == ("$pass@1", "neg", 100.0, "*", 2.0, "+")
    assert [
        parse_formula(text, known).unit for text in ("t (K) - u (K)", "t (K) / u (K)", "w (m) / t (K)")
    ] == [*("K", "", "m/K")]
    for text in ("t (K) + w (m)", "loss +", "los", "max(loss)", "loss > 1", "loss and tokens", "2 3"):
        with pytest.raises(ExpressionError):
            parse_formula(text, known)


def test_what_cannot_be_computed_is_refused(tmp_path: Path) -> None:
    """Each mistake is an error at its block that says what was found and the next step."""
    rows = "series,seed,step,a,b,up (m),t (s)\n" + "".join(
        f"{name},{seed},{step},{step},{'' if step % 2 else step},{step % 3},{step}\n"
        for name in ("one", "two")
        for seed in (1, 2)
        for step in range(1, 6)
    )
    apart = "series,step,a,b\none,1,1,\none,2,,2\none,3,3,\n"
    partial = "series,step,loss,tokens\none,1,1,10\none,2,2,20\ntwo,1,1,\ntwo,2,2,\n"
    batch = "series,seed,step,loss,tokens\n" + "".join(
        f"{name},{seed},{step},{1 / step},4096\n"
        for name in ("one", "two")
        for seed in (1, 2)
        for step in range(1, 6)
    )
    blocks = [
        (
            "batch",
            "metric: loss\nx: tokens",
            (
                '"tokens" stands still at 4096 at all 5 steps of run 1 of one, and of 3 other runs. Use an x '
                "that grows; if each step has so many, multiply them, as in x: {step * 4096: total tokens}."
            ),
        ),
        (
            "runs",
            "metric: {error: 1 - acc}",
            '"error: 1 - acc": "acc" is not a metric here. There are "a"',
        ),
        ("runs", "metric: {c: up (m) + t (s)}", "what is added or subtracted has different units: m and s"),
        ("runs", "metric: {c: a / (a - a)}", '"c: a / (a - a)" divides by zero at every step'),
        ("runs", "metric: {c: a > 1}", '"c: a > 1": "'),
        ("apart", "metric: {c: a - b}", '"c: a - b" has no value: no run has a and b at one step'),
        ("runs", "metric: a\nx: up (m)", '"up (m)" goes back from 2 to 0 at step 3 of run 1 of one'),
        ("runs", "metric: a\nx: {10 - step: left}", '"left" goes back from 9 to 8 at step 2 of run 1 of one'),
        ("partial", "metric: loss\nx: tokens", '"tokens" is not known in 1 of 2 runs: two'),
        ("runs", "metric: a\nx: tokens", "Say how many one step has, as in x: {step * 4096: tokens}"),
        ("runs", "metric: a\nx: relative time", '"relative time" is not known: source "runs" has no times'),
        ("runs", "metric: 1 - a", 'To compute it, write {NAME: 1 - a}. Its metrics are "a"'),
        ("runs", "metric: a * 2", "To compute it, write {NAME: a * 2}"),
        ("runs", "metric: a\nx: step * 2", "To compute it, write {NAME: step * 2}."),
        ("runs", "metric: a\nother_x: [epoch]", 'has no column or metric "epoch"'),
        ("runs", "metric: a\nx: {stp * 2: tokens}", '"stp" is not a metric here. Did you mean "step"?'),
    ]
    fence = "```curve\nid: b{}\nsource: {}\n{}\n```\n\n"
    page = "".join(fence.format(number, source, text) for number, (source, text, _) in enumerate(blocks))
    files = {
        "data/runs.csv": rows,
        "data/apart.csv": apart,
        "data/partial.csv": partial,
        "data/batch.csv": batch,
    }
    found = problems(write_report(tmp_path, {**files, "content/index.md": f"# Small\n\n{page}"}))
    assert len(found) == len(blocks), "\n".join(found)
    for said, (_, _, expected) in zip(found, blocks, strict=True):
        assert said.startswith("content/index.md:")
        assert expected in said


def test_an_x_may_grow_by_stages(tmp_path: Path) -> None:
    """A run that is still in its first epoch does not stop those that have several."""
    rows = "series,step,loss,epoch\none,1,4,0\none,2,3,0\none,3,2,1\ntwo,1,4,0\ntwo,2,3,0\n"
    page = "# Small\n\n```curve\nid: one\nsource: s\nmetric: loss\nx: epoch\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/s.csv": rows})
    one = figure(drafted(root).shown["index.md", "one"])
    assert [row[0] for row in one.table.rows] == ["0", "1"]


def test_a_division_by_zero_is_a_missing_value(tmp_path: Path) -> None:
    """It is never 0, is counted below the figure, and the other steps are drawn."""
    rows = "series,step,loss,tokens\none,1,4,2\none,2,3,0\none,3,6,4\n"
    page = "# Small\n\n```curve\nid: one\nsource: s\nmetric: {per_token: loss / tokens}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/s.csv": rows})
    one = figure(drafted(root).shown["index.md", "one"])
    assert [row[-1] for row in one.table.rows] == ["2.0", "1.5"]
    assert "per_token is missing where a divisor is 0: 1 of 3 values." in one.caption
