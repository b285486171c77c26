"""What is no score or of another kind is in no average, and captions count the runs that are left out."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from made_projects import write_report

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.model import Stack
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path


def describe(folder: Path, text: str, settings: str = "", name: str = "table.csv") -> dict[str, Any]:
    """What the command prints of one table, as JSON."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / name).write_text(text)
    if settings:
        (source / "source.yml").write_text(settings)
    found: dict[str, Any] = json.loads(call(folder, "describe", "source", "--format", "json").stdout)
    return found


def compare(root: Path, files: dict[str, str], more: str = "") -> tuple[dict[str, Any], str, list[str]]:
    """The averages of a comparison of a source, its caption, and what the build warns of."""
    page = f"# Page\n\n```comparison\nid: all\nsource: s\n{more}```\n"
    write_report(root, {"content/index.md": page, **{f"data/s/{name}": text for name, text in files.items()}})
    report = draft(
        Project(root, "content", ("index.md",), ProjectSettings()), Cache(root / "c"), FileHashes(root / "c")
    )
    (shown,) = report.shown.values()
    assert isinstance(shown, Stack)
    macro = {name: cell["score"]["estimate"] for name, cell in shown.numbers["macro"].items()}
    return macro, str(shown.caption), [str(problem) for problem in report.problems]


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("model,MATH500,top_p,accuracy\nElm,51.2,0.95,48.1\nFir,48.0,0.9,44.0\n", ["MATH500", "accuracy"]),
        ("model,loss,accuracy\nElm,1.2,48.1\nFir,1.3,44.0\n", ["loss", "accuracy"]),
        ("model,accuracy,top_p\nElm,51.2,0.9\nFir,48.0,0.8\n", []),
    ],
)
def test_the_suggested_settings_take_every_usual_score(
    tmp_path: Path, text: str, suggested: list[str]
) -> None:
    """As totals, one of several would be read without a word on the others."""
    settings = describe(tmp_path, text)["suggested"]["source.yml"]
    found = describe(tmp_path, text, settings)
    assert (found["benchmarks"], found["problems"], found["kind"]) == (suggested, [], "totals")
    assert found["suggested"]["source.yml"] == ""


@pytest.mark.parametrize(
    "text",
    [
        "model,benchmark,top_p,pass@1\nElm,A,0.95,51.2\nElm,B,0.95,48.0\nFir,A,0.9,41.2\nFir,B,0.9,43.0\n",
        "model,benchmark,metric,value\nElm,A,num_total,30\nElm,A,pass@1,0.5\nFir,A,num_total,30\nFir,A,pass@1,0.4\n",
    ],
)
def test_the_suggested_metric_is_a_usual_score(tmp_path: Path, text: str) -> None:
    """Not the setting or count that comes first."""
    assert "filter:\n  metric: pass@1\n" in describe(tmp_path, text)["suggested"]["source.yml"]


def test_a_harness_that_writes_settings_first_has_a_usual_score(tmp_path: Path) -> None:
    """The guess is a warning with the line that confirms it."""
    results = {"sums": {"alias": "sums", "temperature": 0.6, "top_p": 0.95, "pass@1": 0.4}}
    document = {"results": results, "model_name": "elm", "lm_eval_version": "0.4.11"}
    name = "elm/results_2026-01-05T10-00-00.000000.json"
    (tmp_path / "source/elm").mkdir(parents=True)
    found = describe(tmp_path, json.dumps(document), name=name)
    assert [one["value"] for one in found["totals"] if one["metric"] == "pass@1"] == [0.4]
    assert "metrics: [pass@1]," in found["problems"][0]["next_step"]
    assert describe(tmp_path, json.dumps(document), "metrics: [pass@1]\n", name)["problems"] == []


_PARTS = {"Law": (0.512, 0.401), "Maths": (0.702, 0.612), "Physics": (0.886, 0.811)}


def write_totals(rows: dict[str, tuple[float, ...]], *, n: dict[str, int] | None = None) -> dict[str, str]:
    """A table with a row a score, of the models Elm, Fir and so on."""
    lines = [f"model,benchmark,score{',n' if n else ''}"]
    for name, values in rows.items():
        lines += [
            f"{model},{name},{value}{f',{n[name]}' if n else ''}"
            for model, value in zip(("Elm", "Fir", "Gum", "Hop"), values, strict=False)
        ]
    settings = "form: totals\nlower_is_better: false\n"
    return {"scores.csv": "\n".join(lines) + "\n", "source.yml": settings}


@pytest.mark.parametrize(
    ("whole", "values", "n"),
    [
        # By its name, whatever it weighs.
        ("Overall", (0.72, 0.58), None),
        ("Total", (0.4, 0.9), None),
        ("macro_avg", (0.72, 0.58), None),
        # By its scores: the mean of the others, their mean by problems, in one series, too.
        ("MMLU", (0.7, 0.608), None),
        ("All subjects", (0.793,), {"Law": 100, "Maths": 300, "Physics": 600, "All subjects": 1000}),
        ("Points", (2.1, 1.824), None),
    ],
)
def test_a_total_is_in_no_average_with_its_parts(
    tmp_path: Path, whole: str, values: tuple[float, ...], n: dict[str, int] | None
) -> None:
    """Shown beside the others, the average is of these, and the caption names it."""
    rows = {name: parts[: len(values)] for name, parts in _PARTS.items()} | {whole: values}
    files = write_totals(rows, n=n)
    files["source.yml"] += "score_range: [0, 3]\n"
    macro, caption, _ = compare(tmp_path, files)
    assert macro["Elm"] == pytest.approx(0.7)
    assert f"{whole} is a mean or total over others here, and in no average" in caption


@pytest.mark.parametrize(
    "rows",
    [
        # One series, or whole numbers, agree by chance.
        {"Law": (0.5,), "Maths": (0.7,), "Physics": (0.6,)},
        {"Law": (50, 61), "Maths": (60, 62), "Physics": (55, 61)},
        {"Law": (0.5, 0.5), "Maths": (0.5, 0.5), "Physics": (0.5, 0.5)},
        {"Law": (0.5, 0.62), "Maths": (0.7, 0.58), "Physics": (0.6, 0.61)},
    ],
)
def test_benchmarks_that_agree_by_chance_are_averaged(
    tmp_path: Path, rows: dict[str, tuple[float, ...]]
) -> None:
    """Nothing is left out without evidence."""
    files = write_totals(rows)
    files["source.yml"] += "score_range: [0, 100]\n"
    macro, caption, _ = compare(tmp_path, files)
    assert macro["Elm"] == pytest.approx(sum(values[0] for values in rows.values()) / 3)
    assert "in no average" not in caption


def test_a_group_of_lm_eval_is_in_no_average_with_its_tasks(tmp_path: Path) -> None:
    """The harness names its tasks, also those of groups inside; 1,000 problems count once."""
    score = {"law": 0.4, "maths": 0.6, "part": 0.5, "all": 0.5, "other": 0.8}
    sizes = {name: {"original": 500, "effective": 500} for name in ("law", "maths", "other")}
    document = {
        "results": {
            name: {"alias": name, "acc,none": value, "acc_stderr,none": 0.02} for name, value in score.items()
        },
        "groups": {name: {"acc,none": 0.5} for name in ("part", "all")},
        "group_subtasks": {"all": ["part"], "part": ["law", "maths"], "law": [], "maths": [], "other": []},
        "n-samples": sizes,
        "model_name": "elm",
    }
    name = "elm/results_2026-01-05T10-00-00.000000.json"
    macro, caption, problems = compare(tmp_path / "a", {name: json.dumps(document)})
    assert macro == {"elm": pytest.approx(0.6)}
    assert "part and all are means or totals over others here, and in no average" in caption
    assert problems == []
    # Without its tasks, a group is a benchmark as any other.
    macro, caption, _ = compare(tmp_path / "b", {name: json.dumps(document)}, "benchmarks: [all, other]\n")
    assert (macro, "in no average" in caption) == ({"elm": pytest.approx(0.65)}, False)


@pytest.mark.parametrize(
    ("text", "series"),
    [
        (
            "agent,iteration,reward\n"
            + "".join(
                f"{agent},{step},{run * step}\n" for run, agent in enumerate("aabbcc") for step in range(4)
            ),
            3,
        ),
        (
            "model,optimizer,step,loss\n"
            + "".join(
                f"{model},{optimizer},{step},{step + run}\n"
                for run, (model, optimizer) in enumerate(product("AABB", ("adam", "sgd")))
                for step in range(4)
            ),
            4,
        ),
        # Words that change along the steps, remarks and nothing divide no rows.
        ("step,loss,phase\n" + "0,1,warm\n1,2,main\n2,3,main\n0,2,warm\n1,3,main\n2,1,main\n", 1),
        ("step,loss,status\n" + "0,1,ok\n1,2,slow\n2,3,ok\n0,2,slow\n1,3,ok\n2,1,ok\n", 1),
    ],
)
def test_the_suggested_settings_explain_repeated_steps(tmp_path: Path, text: str, series: int) -> None:
    """Pasted, they leave no problem: runs that begin anew, of the series that words name."""
    found = describe(tmp_path, text)
    assert [problem["severity"] for problem in found["problems"]] == ["error"]
    followed = describe(tmp_path, text, found["suggested"]["source.yml"])
    assert (followed["problems"], len(followed["series"])) == ([], series)


def test_a_row_a_run_with_several_metrics_is_drawn_over_what_is_the_same_in_each_series(
    tmp_path: Path,
) -> None:
    """As totals, its loss, sizes and compute would be gone."""
    lines = ["model,seed,params,compute,loss,accuracy"]
    for size, seed in product((2, 4, 8), (1, 2, 3)):
        lines.append(
            f"mlp-{size},{seed},{size * 10},{size * 600},{3 / size + seed / 90},{1 - 1 / size - seed / 80}"
        )
    text = "\n".join(lines) + "\n"
    found = describe(tmp_path, text)
    assert found["suggested"]["source.yml"] == "columns:\n  step: params\n"
    followed = describe(tmp_path, text, found["suggested"]["source.yml"])
    assert (followed["problems"], len(followed["runs"])) == ([], 9)
    assert [metric["name"] for metric in followed["metrics"]] == ["compute", "loss", "accuracy"]


# ---- runs that are left out ---------------------------------------------------------------------------

CURVE = "# Runs\n\n```curve\nsource: x\nmetric: acc\n```\n"
SCORES = "# Runs\n\n```scores\nsource: x\n```\n"


def write(root: Path, page: str, rows: list[str], settings: str = "") -> Path:
    """A report of one page and one table."""
    files = {"content/index.md": page, "data/x.csv": "\n".join(rows) + "\n", "data/runs.csv": None}
    return write_report(root, files | ({"data/x.source.yml": settings} if settings else {}))


def read_captions(root: Path) -> str:
    """The notes below the figures and tables of a report that builds."""
    done = call(root, "build")
    assert done.returncode == 0, done.stdout
    page = (root / "site/index.html").read_text().replace("\xa0", " ")
    return "\n".join(re.findall(r'<p class="rg-notes"[^>]*>(.*?)</p>', page))


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
