"""Evaluations of checkpoints as curves over the step of training, with the intervals of their scores."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np
import pytest
from command_line import call
from made_evaluations import lm_eval_results, lm_eval_rows, write, write_lines
from made_projects import write_report
from made_sources import Data
from test_read_inspect_logs import archive, header_log, members, sample
from test_report import drafted, figure, problems

from reportgen.read import make_frame, read_measurements, read_outcomes
from reportgen.statistics.intervals import estimate_over_problems
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    import pandas as pd

DATA = Path(__file__).parents[1] / "data"
T_OF_SEVEN = 2.364624251592785  # 97.5 % of Student's t with 7 degrees of freedom
RIGHT = {500: [0, 1, 0, 0], 1000: [0, 1, 1, 0], 1500: [1, 1, 1, 0]}


def write_lm_eval(folder: Path, name: str, right: list[int], arguments: str) -> None:
    """An evaluation of one checkpoint by lm-eval, with its samples."""
    share = fmean(right)
    results = {"sums": {"alias": "sums", "exact_match,none": share, "exact_match_stderr,none": 0.1}}
    config = {**lm_eval_results()["config"], "model_args": arguments}
    path = arguments.split(",", maxsplit=1)[0].removeprefix("pretrained=")
    document = lm_eval_results(results=results, config=config, model_name=path, group_subtasks={"sums": []})
    date = f"2026-01-05T10-00-{name[-2:]}.000000"
    write(folder / f"results_{date}.json", document)
    write_lines(folder / f"samples_sums_{date}.jsonl", lm_eval_rows({"none": right}))


def write_checkpoints(root: Path, form: str) -> None:
    """Three checkpoints with their answers, as harnesses and people call them."""
    root.mkdir(parents=True, exist_ok=True)
    for index, (step, right) in enumerate(RIGHT.items()):
        match form:
            case "model":
                write_lm_eval(
                    root / f"e{step}", f"{index:02}", right, f"pretrained=out/grpo/checkpoint-{step}"
                )
            case "folder":
                write_lm_eval(root / f"checkpoint-{step}", f"{index:02}", right, "pretrained=out/grpo")
            case "revision":
                arguments = f"pretrained=out/grpo,revision=step{step}"
                write_lm_eval(root / f"r{index}", f"{index:02}", right, arguments)
            case "inspect" | "inspect local":
                samples = [sample(place, "C" if score else "I") for place, score in enumerate(right)]
                head = header_log()
                head["eval"] |= {
                    "model": "hf/local" if form == "inspect local" else f"hf/out/grpo/step_{step}",
                    "model_args": {"model_path": f"./out/grpo/step_{step}"},
                    "run_id": f"r{step}",
                    "eval_id": f"e{step}",
                }
                archive(root / f"{index}.eval", members(head, samples))


def read_curve(data: Data, *metrics: str) -> pd.DataFrame:
    """The curves of a source of evaluations."""
    source = data.open("s")
    assert source.kind == "outcomes"
    curves = source.checkpoints
    assert curves is not None
    return make_frame(read_measurements(data.root, curves, metrics or curves.metrics))


@pytest.mark.parametrize("form", ["model", "folder", "revision", "inspect", "inspect local"])
def test_scores_of_checkpoints_are_a_curve(tmp_path: Path, form: str) -> None:
    """Value, standard error and n are those of the answers; the step is in the model, folder or revision."""
    data = Data(tmp_path)
    write_checkpoints(tmp_path / "data/s", form)
    frame = read_curve(data)
    assert all(name.endswith("grpo") for name in frame["series"])
    found = [tuple(row) for row in frame[["step", "value", "stderr", "n"]].to_numpy().tolist()]
    assert sorted(found) == [
        pytest.approx((step, fmean(right), stdev(right) / math.sqrt(len(right)), len(right)))
        for step, right in RIGHT.items()
    ]


@pytest.mark.parametrize("form", ["model", "folder", "revision", "inspect", "inspect local"])
def test_checkpoints_are_paired_by_problem(tmp_path: Path, form: str) -> None:
    """Each is a series of its own for scores and comparisons, whatever tells it apart."""
    data = Data(tmp_path)
    write_checkpoints(tmp_path / "data/s", form)
    source = data.open("s")
    found = group_problem_scores(read_outcomes(data.root, source))
    assert len(found.series) == len(RIGHT)
    assert sorted(map(tuple, found.mean.tolist())) == sorted(map(tuple, RIGHT.values()))
    assert not [text for text in map(str, source.warnings) if "different runs" in text]


def test_a_curve_block_draws_an_evaluation(tmp_path: Path) -> None:
    """With the name of its source, its intervals, and a scores block of the same source beside it."""
    page = (
        "# Small\n\n```curve\nid: one\nsource: s\nmetric: sums\n```\n\n"
        "```table\nid: ends\nsource: s\nmetric: sums\n```\n\n"
        "```comparison\nsource: s\nbenchmark: sums\nbaseline: out/grpo/checkpoint-500\n```\n"
    )
    root = write_report(tmp_path, {"content/index.md": page})
    write_checkpoints(root / "data/s", "model")
    report = drafted(root)
    assert [one for one in report.problems if one.severity.value == "error"] == []
    said = str(report.shown["index.md", "ends"])
    assert "Interval: 95% CI of each score for problems like these (Student's t on the logit scale)." in said
    assert "across runs" not in said
    rows = list(csv.DictReader(io.StringIO(str(figure(report.shown["index.md", "one"]).csv))))
    assert [(float(row["step"]), float(row["value"])) for row in rows] == [
        (step, fmean(right)) for step, right in RIGHT.items()
    ]
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in rows)


def test_totals_of_lighteval_keep_their_standard_errors(tmp_path: Path) -> None:
    """Two trainings with a seed in their names, without any source.yml."""
    data = Data(tmp_path)
    shutil.copytree(DATA / "lighteval-checkpoints/results", tmp_path / "data/s/results")
    curves = data.open("s").checkpoints
    assert curves is not None
    frame = make_frame(read_measurements(data.root, curves, ("sums",)))
    expected = {}
    for file in (tmp_path / "data/s").rglob("*.json"):
        name, _, step = file.parent.name.partition("-seed1-step")
        scores = json.loads(file.read_text("utf-8"))["results"]["lighteval|sums|5"]
        error = scores["extractive_match_stderr"]
        expected[f"example/{name}", "1", float(step)] = (scores["extractive_match"], error)
    cells = frame[["series", "seed", "step", "value", "stderr"]].to_numpy()
    assert {tuple(row[:3]): tuple(row[3:]) for row in cells} == expected


def test_runs_of_helm_over_steps(tmp_path: Path) -> None:
    """The step is in the name of the model, and so in that of the folder."""
    data = Data(tmp_path)
    for step in (100, 200):
        target = tmp_path / f"data/s/runs/v1/sums,model=example_birch-1b-step{step}"
        shutil.copytree(DATA / "helm-example/runs/v1/sums,model=example_birch-1b", target)
        spec = target / "run_spec.json"
        text = spec.read_text("utf-8").replace("birch-1b", f"birch-1b-step{step}")
        spec.write_text(text, encoding="utf-8")
    frame = read_curve(data)
    assert {*zip(frame["series"], frame["step"], strict=True)} == {
        ("example/birch-1b", 100.0),
        ("example/birch-1b", 200.0),
    }


def test_totals_of_helm_without_a_number_of_problems_have_no_interval(tmp_path: Path) -> None:
    """Neither the curve nor a table says that there is one."""
    blocks = (f"```{kind}\nid: {kind}\nsource: s\nmetric: sums\n```\n" for kind in ("curve", "table"))
    root = write_report(tmp_path, {"content/index.md": "# S\n\n" + "\n".join(blocks)})
    for step in (100, 200):
        folder = root / f"data/s/runs/v1/sums:model=out_grpo-step{step}"
        spec = {"name": folder.name, "adapter_spec": {"model": f"out/grpo-step{step}"}}
        write(folder / "run_spec.json", {**spec, "scenario_spec": {"class_name": "Sums", "args": {}}})
        name = {"name": "exact_match", "split": "test"}
        write(folder / "stats.json", [{"name": name, "count": 1, "sum": step / 400, "mean": step / 400}])
    report = drafted(root)
    drawn = figure(report.shown["index.md", "curve"])
    assert "interval as given" not in drawn.subtitle
    assert "No band: the input gives no interval, and one across runs needs at least 2." in drawn.caption
    assert "One run per series: no interval." in str(report.shown["index.md", "table"])


def test_one_checkpoint_and_other_models_are_no_curve(tmp_path: Path) -> None:
    """A number in a name is a step only if another one of the same training has one, too."""
    data = Data(tmp_path)
    for number, name in enumerate(("base", "chat-step2", "Qwen2.5-7B-it-500")):
        write_lm_eval(tmp_path / f"data/s/{number}", f"{number:02}", [0, 1], f"pretrained=org/{name}")
    assert data.open("s").checkpoints is None


def test_an_evaluation_without_a_step_is_named(tmp_path: Path) -> None:
    """By the build and by the figure where a curve leaves it out, and not where scores show it."""
    page = "# S\n\n```scores\nid: one\nsource: s\n```\n"
    root = write_report(tmp_path, {"content/index.md": page})
    write_checkpoints(root / "data/s", "model")
    write_lm_eval(root / "data/s/base", "09", [0, 1, 0, 0], "pretrained=Qwen/Qwen2.5-7B")
    said = 'curves of checkpoints leave out "Qwen/Qwen2.5-7B", whose step is not known'
    assert not [one for one in drafted(root).problems if said in one.message]
    (root / "content/index.md").write_text(
        f"{page}\n```curve\nid: two\nsource: s\nmetric: sums\n```\n", "utf-8"
    )
    report = drafted(root)
    (warning,) = [one for one in report.problems if said in one.message]
    assert warning.severity.value == "warning"
    assert said in figure(report.shown["index.md", "two"]).caption
    assert said in call(root, "describe", "data/s").stdout


def test_a_verdict_on_checkpoints_names_the_block_that_can_decide_it(tmp_path: Path) -> None:
    """Their answers are paired, and a curve has one run of each."""
    text = "\n[one]{claim=\"better('out/grpo', 'out/ppo')\" of=\"one\"}\n"
    page = f"# S\n\n```curve\nid: one\nsource: s\nmetric: sums\n```\n{text}"
    root = write_report(tmp_path, {"content/index.md": page})
    for number, (name, right) in enumerate({"grpo": [1, 1, 0, 1], "ppo": [0, 0, 1, 0]}.items()):
        for step in (100, 200):
            arguments = f"pretrained=out/{name}/checkpoint-{step}"
            write_lm_eval(root / f"data/s/{name}{step}", f"{number}{step // 100}", right, arguments)
    said = call(root, "check").stdout
    assert "1 run of out/grpo and 1 run of out/ppo; a comparison or scores block can decide it" in said


def test_a_filter_of_the_source_holds_for_its_curve(tmp_path: Path) -> None:
    """What is not a checkpoint's own, such as a slice of problems, leaves no curve."""
    data = Data(tmp_path)
    write_checkpoints(tmp_path / "data/s", "model")
    data.write("s/source.yml", "filter: {model: [out/grpo/checkpoint-500, out/grpo/checkpoint-1000]}\n")
    assert sorted(read_curve(data)["step"]) == [500, 1000]
    data.write("s/source.yml", 'filter: {model: ["out/grpo/checkpoint-?000", "*-500"], benchmark: "s*"}\n')
    assert set(read_curve(data)["step"]) == {500, 1000}
    assert data.open("s").benchmarks == ("sums",)


def test_a_source_without_checkpoints_says_what_to_write(tmp_path: Path) -> None:
    """As before."""
    root = write_report(tmp_path, {"content/index.md": "# S\n\n```curve\nsource: s\nmetric: sums\n```\n"})
    write_lm_eval(root / "data/s/a", "00", [0, 1], "pretrained=org/base")
    assert any('a curve block draws measurements, and "s" holds scores' in one for one in problems(root))


@pytest.mark.parametrize("right", [[0, 1, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1]])
def test_the_band_is_an_interval_over_problems(tmp_path: Path, right: list[int]) -> None:
    """Within 0 and 1, and not of zero width where all answers are right; close to that of a scores block."""
    page = "# Small\n\n```curve\nid: one\nsource: s\nmetric: sums\n```\n"
    root = write_report(tmp_path, {"content/index.md": page})
    for number, (step, own) in enumerate({100: [0, 1, 0, 0, 1, 0], 200: right}.items()):
        name = f"pretrained=out/checkpoint-{step}"
        write_lm_eval(root / f"data/s/{number}", f"{number:02}", own, name)
    drawn = figure(drafted(root).shown["index.md", "one"])
    row = list(csv.DictReader(io.StringIO(str(drawn.csv))))[1]
    share, n = fmean(right), len(right)
    if share == 1:
        ends = [share - (1 - 0.025 ** (1 / n)), 1.0]
    else:
        half = T_OF_SEVEN * stdev(right) / math.sqrt(n) / (share * (1 - share))
        logit = math.log(share / (1 - share))
        ends = [1 / (1 + math.exp(-one)) for one in (logit - half, logit + half)]
    assert [float(row["low"]), float(row["high"])] == pytest.approx(ends, abs=1e-6)
    exact = estimate_over_problems(np.array(right, float), (0.0, 1.0), 0.95)
    assert [exact.low, exact.high] == pytest.approx(ends, abs=0.02)
    assert "95% CI of each score for problems like these" in drawn.caption


def test_describe_offers_the_curve(tmp_path: Path) -> None:
    """Beside the block of scores."""
    data = Data(tmp_path)
    write_checkpoints(tmp_path / "data/s", "model")
    done = call(data.root, "describe", "data/s")
    assert 0 < done.stdout.index("```curve") < done.stdout.index("```scores")
    assert "```scores\nsource: s\n```" in done.stdout
    assert "```curve\nsource: s\nmetric: sums\n```" in done.stdout
