"""Columns of ``table`` blocks: what each shows, computed from the raw file, and equal to its fact."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

import pytest
from command_line import call
from made_projects import write_report
from scipy import stats

from reportgen.settings.block_parts import split_column

CASE = Path(__file__).parent / "cases" / "best-checkpoint"
COLUMNS = ("final", "at 60", "last 5", "mean", "best by eval/loss", "sd", "n", "steps to 0.6")


def read_runs() -> dict[str, list[list[tuple[int, float, float]]]]:
    """The steps, losses and accuracies of each run, by series, from the file itself."""
    runs: dict[tuple[str, str], list[tuple[int, float, float]]] = defaultdict(list)
    with (CASE / "data" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            values = (int(row["step"]), float(row["eval/loss"]), float(row["test/accuracy"]))
            runs[row["series"], row["seed"]].append(values)
    found = defaultdict(list)
    for (series, _), rows in runs.items():
        found[series].append(rows)
    return found


def half(values: list[float]) -> float:
    """Half of Student's 95% CI of a mean."""
    return float(stats.t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a statement about each fact is answered."""
    root = tmp_path_factory.mktemp("columns") / "report"
    shutil.copytree(CASE, root, ignore=shutil.ignore_patterns("expected"))
    calls = [
        *("last(S, 5)", "mean(S)", "best_by(S, 'eval/loss')", "sd(S)", "n(S)", "at(S, 60)"),
        *("best_by(S, 'lowest eval/loss')", "best_by(S, 'highest eval/loss')"),
    ]
    named = [call_.replace("S", series, 1) for series in ("base", "wide") for call_ in calls]
    page = root / "content" / "index.md"
    lines = [f'[9999]{{value="{one}" of="checkpoints"}}' for one in named]
    page.write_text(page.read_text() + "\n" + "\n".join(lines) + "\n")
    done = call(root, "check", "--format", "json")
    statements = [
        one
        for one in json.loads(done.stdout)["statements"]
        if one["expression"] in named and one["words"] == "9999"
    ]
    return {one["expression"]: one["found"] for one in statements}


@pytest.mark.parametrize("series", ["base", "wide"])
def test_facts_are_those_of_the_file(facts: dict[str, str], series: str) -> None:
    """Last readings, means, spread and picked checkpoints, each with a few lines of the standard library."""
    runs = read_runs()[series]
    values = {
        f"last({series}, 5)": [mean(row[2] for row in run[-5:]) for run in runs],
        f"mean({series})": [mean(row[2] for row in run) for run in runs],
        f"best_by({series}, 'eval/loss')": [min(run, key=lambda row: row[1])[2] for run in runs],
        f"best_by({series}, 'highest eval/loss')": [max(run, key=lambda row: row[1])[2] for run in runs],
    }
    for text, of_runs in values.items():
        number, low, high = (
            float(one) for one in re.findall(r"(?<![\w./])\d\.\d+", facts[text].partition(" = ")[2])[:3]
        )
        assert (number, low, high) == pytest.approx(
            (mean(of_runs), mean(of_runs) - half(of_runs), mean(of_runs) + half(of_runs)), abs=6e-4
        ), text
    finals = [run[-1][2] for run in runs]
    assert float(re.findall(r"= (\S+)", facts[f"sd({series})"])[0]) == pytest.approx(stdev(finals), rel=1e-3)
    assert f"n({series}) = 3 at step 100" in facts[f"n({series})"]
    same = f"best_by({series}, 'lowest eval/loss')"
    assert facts[same].partition(" = ")[2] == facts[f"best_by({series}, 'eval/loss')"].partition(" = ")[2]


def test_what_picking_costs_is_said(facts: dict[str, str]) -> None:
    """How far each run stays behind the best of the same checkpoints, on average."""
    for series, runs in read_runs().items():
        cost = mean(max(row[2] for row in run) - min(run, key=lambda row: row[1])[2] for run in runs)
        said = facts[f"best_by({series}, 'eval/loss')"]
        (number,) = re.findall(r"lowest eval/loss of 10 checkpoints, (\S+) behind the best of each run", said)
        assert float(number) == pytest.approx(cost, rel=0.05)


def test_the_file_of_a_table_has_every_number_in_full(tmp_path: Path) -> None:
    """Values, ends of intervals and steps are those of the raw rows, in columns of their own."""
    root = tmp_path / "report"
    shutil.copytree(CASE, root, ignore=shutil.ignore_patterns("expected"))
    assert call(root, "build").returncode == 0
    (table,) = (root / "site" / "figures").rglob("checkpoints.csv")
    with table.open(encoding="utf-8-sig") as file:
        rows = {row["series"]: row for row in csv.DictReader(file)}
    for series, runs in read_runs().items():
        row = rows[series]
        picked = [min(run, key=lambda one: one[1]) for run in runs]
        chosen = {
            "best by eval/loss": [one[2] for one in picked],
            "final": [run[-1][2] for run in runs],
            "at 60": [one[2] for run in runs for one in run if one[0] == 60],
            "last 5": [mean(one[2] for one in run[-5:]) for run in runs],
        }
        for column, values in chosen.items():
            assert float(row[column]) == pytest.approx(mean(values), rel=1e-9)
            ends = float(row[f"{column} low"]), float(row[f"{column} high"])
            assert ends == pytest.approx((mean(values) - half(values), mean(values) + half(values)), rel=1e-9)
        assert float(row["final step"]) == max(one[0] for one in runs[0])
        places = {row[f"best by eval/loss {name}"] for name in ("step", "first step", "last step")}
        assert {str(one[0]) for one in picked} >= places - {""} != set()
        assert float(row["sd"]) == pytest.approx(stdev(chosen["final"]), rel=1e-9)
        assert row["n"] == "3"


@pytest.mark.parametrize(
    ("text", "kind", "behind"),
    [
        ("best", "peak", ""),
        ("std", "sd", ""),
        ("time to 0.8", "steps to", "0.8"),
        ("at 2024-05-01", "at", "2024-05-01"),
        ("best by  eval/loss", "best by", "eval/loss"),
        ("Best by lowest kl", "best by", "lowest kl"),
    ],
)
def test_spellings_of_columns(text: str, kind: str, behind: str) -> None:
    """The words that people try first."""
    assert split_column(text) == (kind, behind)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("max", '"max" is no column. columns: Which of final'),
        ("finale", '"finale" is no column. Did you mean "final"?'),
        ("at noon", '"at noon": at takes a step'),
        ("last 0", '"last 0": last takes a number of readings'),
        ("last 2.5", '"last 2.5": last takes a number of readings'),
        ("best by", '"best by": best by takes a metric'),
        ("final 3", '"final 3": final takes no parameter'),
        ("best by los", '"los" is no metric of source "runs". Did you mean "loss"?'),
        ("best by margin", 'It is not known whether a higher or a lower "margin" is better. Write \'lowest'),
        ("at 900", "A has no value at step 900. It has values from step 0 to step 2"),
    ],
)
def test_a_column_that_cannot_be_shown(tmp_path: Path, column: str, said: str) -> None:
    """Said at the block, with the nearest name and what to write."""
    table = "series,step,acc,loss,margin\n" + "".join(f"A,{n},{n},{-n},{n}\n" for n in range(3))
    page = f"```table\nsource: runs\nmetric: acc\ncolumns: [{column}]\n```\n"
    report = write_report(tmp_path / "report", {"data/runs.csv": table, "content/index.md": page})
    done = call(report, "check")
    assert done.returncode == 1
    assert said in done.stdout
    assert "content/index.md:" in done.stdout


def test_steps_without_both_metrics_are_not_picked(tmp_path: Path) -> None:
    """A checkpoint counts if it was tested; without one there is no value, and no guess."""
    rows = [
        "series,step,acc,loss",
        "A,1,0.5,",
        "A,2,,0.1",
        "A,3,0.6,0.3",
        "A,4,0.7,0.4",
        "B,1,0.5,",
        "B,2,,0.1",
    ]
    page = (
        "```table\nid: t\nsource: runs\nmetric: acc\ncolumns: [best by loss]\n```\n\n"
        '[0.6]{value="best_by(A, loss)" of="t"} [0.6]{value="best_by(B, loss)" of="t"}\n'
    )
    files = {"data/runs.csv": "\n".join(rows) + "\n", "content/index.md": page}
    done = call(write_report(tmp_path / "report", files), "check")
    assert (
        "best_by(A, loss) = 0.6 at step 3: lowest loss of 2 checkpoints, 0.10 behind the best" in done.stdout
    )
    assert 'a run of B has no step with both "acc" and "loss"' in done.stdout


def draft_table(root: Path, block: str) -> tuple[list[str], str]:
    """The header of a table of runs with 6 or 8 readings, and its page; 90 seconds and 128 samples a step."""
    rows = [
        f"{series},{seed},{step},{1_760_000_000 + 90 * step},{128 * step},{0.3 + 0.02 * step}"
        for series, readings in (("A", (6, 6)), ("B", (6, 8)))
        for seed, last in enumerate(readings)
        for step in range(1, last + 1)
    ]
    data = "\n".join(["series,seed,step,wall_time,samples,score", *rows]) + "\n"
    page = f"# Table\n\n```table\nid: cells\nmetric: score\nsource: runs\n{block}\n```\n"
    done = call(write_report(root, {"content/index.md": page, "data/runs.csv": data}), "build")
    assert done.returncode == 0, done.stdout
    (one,) = (
        one
        for one in json.loads((root / "site/report.json").read_text())["pages"]
        if one["path"] == "index.md"
    )
    (table,) = one["tables"]
    html = (root / "site/index.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    return table["header"], html


@pytest.mark.parametrize(
    ("x", "head"),
    [
        ("step", "steps to 0.36"),
        ("relative time", "minutes to 0.36"),
        ("samples", "samples to 0.36"),
        ("wall time", "wall time at 0.36"),
        ("{thousands: samples / 1000}", "thousands to 0.36"),
    ],
)
def test_the_head_of_a_level_names_x_and_its_unit(tmp_path: Path, x: str, head: str) -> None:
    """Whatever the author calls the column; the caption says the same."""
    header, html = draft_table(tmp_path / "r", f"x: {x}\ncolumns: [time to 0.36]")
    assert header == ["series", "runs", head]
    assert f"{head[0].upper()}{head[1:]}: where the mean curve first reaches it, interpolated." in html


@pytest.mark.parametrize(
    ("minutes", "texts"),
    [((60, 30), ["0.33", "1.00"]), ((60, 60), ["0.67", "1.00"]), ((6000, 5100), ["100", "57"])],
)
def test_a_time_to_a_level_is_never_rounded_to_whole_hours(
    tmp_path: Path, minutes: tuple[int, int], texts: list[str]
) -> None:
    """With digits that show the smallest, also if the largest is a whole number; A reaches 2 at a reading."""
    start, levels = 1_760_000_000, {"A": (1, 2, 3), "B": (1, 2.5, 3.5)}
    rows = [
        f"{series},{step},{start + 60 * step * one},{levels[series][step]}"
        for series, one in zip("AB", minutes, strict=True)
        for step in range(3)
    ]
    page = "# T\n\n```table\nsource: runs\nmetric: reward\nx: relative time\ncolumns: [time to 2]\n```\n"
    data = "\n".join(["series,step,wall_time,reward", *rows]) + "\n"
    root = write_report(tmp_path / "r", {"content/index.md": page, "data/runs.csv": data})
    assert call(root, "build").returncode == 0
    pages = json.loads((root / "site/report.json").read_text())["pages"]
    (table,) = next(one["tables"] for one in pages if one["path"] == "index.md")
    assert table["header"][-1] == "hours to 2"
    assert sorted(row[-1]["text"] for row in table["rows"]) == texts


def test_a_mean_of_the_last_readings_says_how_many_there_are(tmp_path: Path) -> None:
    """If a run has fewer than the column takes; otherwise nothing."""
    few = "or of all if there are fewer (A: each run has 6 readings; B: each run has 6 to 8 readings)."
    _, html = draft_table(tmp_path / "many", "columns: [last 50]")
    assert f"Last 50: the mean of the last 50 readings of each run, {few}" in html
    _, html = draft_table(tmp_path / "some", "columns: [last 7]")
    assert "the last 7 readings of each run, or of all if there are fewer (A: each run has 6" in html
    _, html = draft_table(tmp_path / "few", "columns: [last 6]")
    assert "Last 6: the mean of the last 6 readings of each run." in html


SHARES = "series,seed,step,acc,acc (%),cost\n" + "".join(
    f"{series},1,{step},{value},{100 * value:g},{20 * value:g}\n"
    for series, values in (("A", (0.1, 0.5, 0.9)), ("B", (0.2, 0.3, 0.4)))
    for step, value in enumerate(values)
)


@pytest.mark.parametrize("metric", ["acc", "acc (%)"])
@pytest.mark.parametrize("column", ["steps to 60%", "time to 60 %"])
def test_a_level_in_percent_is_that_of_shares_and_of_percentages(
    tmp_path: Path, metric: str, column: str
) -> None:
    """The same step as by hand: 0.6 lies a quarter of the way from 0.5 to 0.9."""
    block = f"```table\nid: t\nsource: runs\nmetric: {metric}\ncolumns: [{column}]\n```\n"
    root = write_report(tmp_path, {"content/index.md": f"# Shares\n\n{block}", "data/runs.csv": SHARES})
    assert call(root, "build").returncode == 0
    (row, never), _ = list_rows(root / "site" / "figures" / "index" / "t.csv")
    assert float(row[-1]) == pytest.approx(1.25)
    assert never[-1] == ""


def list_rows(path: Path) -> tuple[list[list[str]], list[str]]:
    """The rows and the header of a CSV file."""
    with path.open() as file:
        header, *rows = csv.reader(file)
    return rows, header
