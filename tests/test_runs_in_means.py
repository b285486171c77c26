"""No row, run or trial enters or leaves a mean unsaid: ``check`` reports it, or the caption counts it."""

from __future__ import annotations

import json
import re
from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

CURVE = "# Runs\n\n```curve\nsource: x\nmetric: acc\n```\n"
SCORES = "# Runs\n\n```scores\nsource: x\n```\n"
HEADER = "model,seed,step,acc"
TWO_METHODS = [
    f"{name},{seed},{step},{0.1 * step + 0.01 * seed}" for name in "ab" for seed in (1, 2) for step in (1, 2)
]
ANSWERS = [f"{name},{seed},q{number},1" for name in "ab" for seed in (1, 2) for number in (1, 2)]
PASSED = "0 statements"
TWO_RUNS = ["a,1,1,0.5", "a,1,2,0.61", "a,2,1,0.6", "a,2,2,0.72"]


def write(root: Path, page: str, rows: list[str], settings: str = "") -> Path:
    """A report of one page and one table."""
    files = {"content/index.md": page, "data/x.csv": "\n".join(rows) + "\n", "data/runs.csv": None}
    return write_report(root, files | ({"data/x.source.yml": settings} if settings else {}))


def check(root: Path, page: str, rows: list[str], settings: str = "") -> str:
    """What ``check`` reports of one table."""
    return call(write(root, page, rows, settings), "check").stdout.strip()


def read_captions(root: Path) -> str:
    """The notes below the figures and tables of a report that builds."""
    done = call(root, "build")
    assert done.returncode == 0, done.stdout
    page = (root / "site/index.html").read_text().replace("\xa0", " ")
    return "\n".join(re.findall(r'<p class="rg-notes"[^>]*>(.*?)</p>', page))


@pytest.mark.parametrize(
    ("page", "rows", "form", "place"),
    [
        (CURVE, [HEADER, *TWO_METHODS], "", "x.csv:6: error: "),
        (SCORES, ["model,seed,problem,score", *ANSWERS], "", "x.csv:6: error: "),
        (
            SCORES,
            ["model,seed,benchmark,score", "a,1,m,0.5", "b,1,m,0.2"],
            "form: totals\n",
            "x.csv:3: error: ",
        ),
    ],
)
def test_two_series_of_one_name_with_a_run_in_common_are_refused(
    tmp_path: Path, page: str, rows: list[str], form: str, place: str
) -> None:
    """Otherwise the rows of one would replace those of the other, or be averaged with them."""
    for names in ("rename: {a: X, b: X}", "labels: {a: b}"):
        found = check(tmp_path, page, rows, form + names)
        assert place in found
        assert 'series "a" and "b" are both called' in found
        assert check(tmp_path, page, rows, f"{form}{names}\nrepeat: runs") == PASSED


def test_two_series_of_one_name_with_runs_of_their_own_are_one_series(tmp_path: Path) -> None:
    """They are what ``rename`` is for."""
    rows = [HEADER, "a,1,1,0.5", "a,2,1,0.6", "b,3,1,0.4"]
    assert check(tmp_path, CURVE, rows, "rename: {a: X, b: X}") == PASSED


@pytest.mark.parametrize("name", ["mean", "Average", "avg of seeds"])
def test_a_row_of_means_is_no_run(tmp_path: Path, name: str) -> None:
    """Found by its value within rounding, at every step; a filter leaves it out."""
    rows = [HEADER, *TWO_RUNS, f"a,{name},1,0.55", f"a,{name},2,0.665"]
    found = check(tmp_path, CURVE, rows)
    assert f'x.csv:6: error: seed "{name}" is the mean of the 2 other runs of "a" (0.55)' in found
    assert check(tmp_path, CURVE, rows, f'filter: {{seed: "!{name}"}}') == PASSED


RUNS = {1: (0.5123, 0.6234, 0.7011), 2: (0.5312, 0.6098, 0.7345), 3: (0.5207, 0.6401, 0.7222)}
MEANS = [round(fmean(values), 4) for values in zip(*RUNS.values(), strict=True)]


def write_runs(runs: Mapping[str, Sequence[float]]) -> list[str]:
    """Rows of runs, each a model and a seed, with these values."""
    return [
        HEADER,
        *(f"{run},{step},{value}" for run, values in runs.items() for step, value in enumerate(values)),
    ]


@pytest.mark.parametrize("name", ["-1", "999", "7", "all"])
def test_a_run_of_means_is_found_whatever_number_its_seed_is(tmp_path: Path, name: str) -> None:
    """Too many digits agree for a coincidence; the suggested filter leaves it out."""
    rows = write_runs({**{f"a,{seed}": values for seed, values in RUNS.items()}, f"a,{name}": MEANS})
    found = check(tmp_path, CURVE, rows)
    assert f'x.csv:11: warning: seed "{name}" is the mean of the 3 other runs of "a" (0.5214)' in found
    assert check(tmp_path, CURVE, rows, f'filter: {{seed: "!{name}"}}') == PASSED


@pytest.mark.parametrize("seeds", [(0, 1, 2), (7, 13, 42), (1, 3, 2), (7, 42, 13)])
def test_a_middle_run_of_runs_at_equal_distances_is_no_mean(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    """As data that were made by a formula."""
    runs = {
        f"a,{seed}": [round(0.5 + 0.01 * sorted(seeds).index(seed) + 0.0213 * t, 4) for t in range(9)]
        for seed in seeds
    }
    assert check(tmp_path, CURVE, write_runs(runs)) == PASSED


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, 'the mean of the 3 runs of "a"'),
        ({"b,1": (0.8, 0.9, 0.9)}, 'the mean of the 3 runs of "a"'),
        ({"c,1": MEANS, "d,1": (0.8, 0.9, 0.9)}, 'equal to "c"'),
    ],
)
def test_a_series_of_means_is_called_what_it_is(
    tmp_path: Path, others: dict[str, Sequence[float]], expected: str
) -> None:
    """It is the least of the others at each step, too."""
    runs = others if "c,1" in others else {**{f"a,{seed}": values for seed, values in RUNS.items()}, **others}
    found = check(tmp_path, CURVE, write_runs({**runs, "Mean,1": MEANS}))
    assert f'model "Mean" is {expected} (0.5214), and counts as one' in found
    assert "minimum" not in found


@pytest.mark.parametrize(
    ("page", "rows", "settings", "expected"),
    [
        # Of seeds, one that is empty, and one that is a word and no statistic of the others.
        (
            CURVE,
            [HEADER, *TWO_RUNS, "a,,1,0.55", "a,,2,0.665"],
            "",
            "x.csv:6: warning: seed that is empty is the mean",
        ),
        (
            CURVE,
            [HEADER, *TWO_RUNS, "a,greedy,1,0.7"],
            "",
            'x.csv:6: warning: rows of "a" with seed "greedy"',
        ),
        (CURVE, [HEADER, *TWO_RUNS, "a,1.0,3,0.7"], "", "x.csv:6: warning: seed 1 and 1.0"),
        # Of series, problems and totals.
        (
            CURVE,
            [HEADER, *TWO_RUNS, "b,1,1,0.7", "b,2,1,0.8", "mean,1,1,0.65"],
            "",
            'model "mean" is the mean of the 2 other series',
        ),
        (
            SCORES,
            ["model,problem,score", *(f"a,{n},{n % 2}" for n in range(5)), "a,Average,0.4"],
            "",
            'x.csv:7: error: problem "Average" is the mean of the 5 other problems (0.4)',
        ),
        (
            SCORES,
            ["model,seed,benchmark,score", "a,1,m,0.5", "a,2,m,0.6", "a,std,m,0.0707"],
            "form: totals",
            'x.csv:4: error: seed "std" is the standard deviation',
        ),
        # Percent beside shares.
        (
            CURVE,
            [HEADER, *TWO_RUNS[:2], "a,2,1,52", "a,2,2,63"],
            "",
            'x.csv:4: warning: acc of "a" is 0.61 in run 1 and 63 in run 2',
        ),
        (
            SCORES,
            ["model,seed,benchmark,score", "a,1,m,0.62", "a,2,m,63.5"],
            "form: totals",
            'm score of "a" is 0.62 in run 1 and 63.5 in run 2',
        ),
        (
            SCORES,
            [
                "model,seed,problem,score",
                *(
                    f"a,{seed},q{n},{factor * 0.2 * n}"
                    for seed, factor in ((1, 1), (2, 100))
                    for n in (1, 3, 4)
                ),
            ],
            "score_range: [0, 100]",
            'score of "a" is 0.8 in run 1 and 80 in run 2',
        ),
        # Names that differ in no letter.
        (CURVE, [HEADER, "GRPO,1,1,0.5", '"GRPO ",2,1,0.6'], "", "are read as 2 series"),
        (CURVE, [HEADER, "GRPO v1,1,1,0.5", "grpo-v1,2,1,0.6"], "", "are read as 2 series"),
    ],
)
def test_rows_that_are_no_run_as_the_others_are_reported(
    tmp_path: Path, page: str, rows: list[str], settings: str, expected: str
) -> None:
    """At the line of the row, with the numbers."""
    assert expected in check(tmp_path, page, rows, settings)


@pytest.mark.parametrize(
    ("page", "rows", "settings"),
    [
        # A loss that diverges, a return that a second seed learns, a seed that is the mean of the others.
        (CURVE, [HEADER, "a,1,0,0.69", "a,1,1,0.3", "a,2,0,0.7", "a,2,1,45"], ""),
        (CURVE, [HEADER, "a,1,0,0.1", "a,1,1,0.9", "a,2,0,0.2", "a,2,1,95"], ""),
        (CURVE, [HEADER, *TWO_RUNS, "a,3,1,0.55", "a,3,2,0.665"], ""),
        # A setting that is logged and meant to differ, and a time.
        (
            CURVE,
            [
                "model,seed,step,acc,coef,time",
                *(f"a,{s},{t},0.{t}{s},{c},{c * (t + 1)}" for s, c in ((1, 0.1), (2, 10)) for t in (1, 2)),
            ],
            "columns: {series: model}",
        ),
        # Names that differ in a sign or an exponent, and a method that is called after a mean.
        (CURVE, [HEADER, "lr -1,1,1,0.5", "lr 1,1,1,0.6", "lr 1e-4,1,1,0.6", "lr 1e4,1,1,0.7"], ""),
        (CURVE, [HEADER, *TWO_RUNS, "b,1,1,0.7", "b,2,1,0.8", "mean teacher,1,1,0.71"], ""),
        (
            SCORES,
            [
                "model,problem,score",
                *(f"a,{name},{n % 2}" for n, name in enumerate(("mean", "max", "sd", "x"))),
            ],
            "",
        ),
    ],
)
def test_usual_data_give_no_warning(tmp_path: Path, page: str, rows: list[str], settings: str) -> None:
    """What only looks like it is left alone."""
    assert check(tmp_path, page, rows, settings) == PASSED


LOGS = {
    "wide": [
        "model,seed,step,acc,loss",
        *(f"a,{seed},{step},{0.1 * step if seed < 3 else ''},1" for seed in (1, 2, 3) for step in (1, 2)),
    ],
    "long": [
        "model,seed,step,metric,value",
        *(
            f"a,{seed},{step},{name},{0.1 * step}"
            for seed in (1, 2, 3)
            for step in (1, 2)
            for name in ("acc", "loss")
            if name == "loss" or seed < 3
        ),
    ],
}


@pytest.mark.parametrize("form", LOGS)
def test_runs_without_the_metric_and_runs_that_end_early_are_counted(tmp_path: Path, form: str) -> None:
    """Below the figure and the table, whatever the form of the table."""
    longer = [f"a,2,{step},{'acc,' if form == 'long' else ''}0.5{',1' * (form == 'wide')}" for step in (3, 4)]
    page = f"{CURVE}\n```table\nsource: x\nmetric: acc\n```\n"
    captions = read_captions(write(tmp_path, page, [*LOGS[form], *longer]))
    assert captions.count("1 of 3 runs has no value of acc, and is left out: run 3 of a.") == 2
    assert captions.count("1 of 2 runs ends before the others: run 1 of a at step 2.") == 2


def test_runs_without_scores_count_in_no_mean_of_scores(tmp_path: Path) -> None:
    """One that has no usable score is left out, and one that has few problems is named."""
    problems = {1: 4, 2: 4, 3: 1, 4: 0}
    rows = [
        f"a,{seed},q{number},{number % 2 if number < count else ''}"
        for seed, count in problems.items()
        for number in range(4)
    ]
    captions = read_captions(write(tmp_path, SCORES, ["model,seed,problem,score", *rows]))
    assert "run 3 of a (1 of 4) and run 4 of a (none of 4); a run with none is left out." in captions
    assert "over 4 problems × 1 sample, 3 runs" in captions


def test_a_run_without_the_metric_of_a_logger_is_counted(tmp_path: Path) -> None:
    """The runs of a logger are those of its files, whatever they logged."""
    for seed in (1, 2, 3):
        rows = [{"step": step, ("acc" if seed < 3 else "loss"): 0.1 * step, "other": 1} for step in (1, 2)]
        folder = tmp_path / f"data/x/a-seed{seed}"
        folder.mkdir(parents=True)
        lines = [
            "step,epoch," + ",".join(list(rows[0])[1:]),
            *(",".join(map(str, (one["step"], 0, *list(one.values())[1:]))) for one in rows),
        ]
        (folder / "metrics.csv").write_text("\n".join(lines) + "\n")
    root = write_report(tmp_path, {"content/index.md": CURVE, "data/runs.csv": None})
    found = call(root, "check").stdout
    assert 'has no "acc", which 2 other runs have, but "loss", which none of these has' in found
    assert "1 of 3 runs has no value of acc" in read_captions(root)


def test_pruned_trials_have_no_final_value(tmp_path: Path) -> None:
    """Optuna's is their last report: a sweep is of complete trials, and counts the others."""
    page = "# Runs\n\n```sweep\nsource: x\nmetric: value\nx: lr\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": None})
    (root / "data/x").mkdir(parents=True)
    header = "number,value,params_lr,state"
    rows = [
        f"{n},{0.1 * n},{0.01 * (n + 1)},{state}"
        for n, state in enumerate(("COMPLETE", "PRUNED", "COMPLETE", "FAIL"))
    ]
    (root / "data/x/trials.csv").write_text("\n".join([header, *rows]) + "\n")
    done = call(root, "build", "--strict")
    assert done.returncode == 0, done.stdout
    (page_,) = json.loads((root / "site/report.json").read_text())["pages"]
    (figure,) = page_["figures"]
    assert [point["x"] for point in figure["numbers"]["points"]] == [0.01, 0.03]
    assert "2 of 4 runs have no value of value, and are left out: lr=0.02 and lr=0.04." in figure["caption"]
