"""Small files in the form of each tool: what is read is what the raw file has."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from command_line import call

from reportgen.formats.registry import find_format, find_units, load_reader
from reportgen.formats.runs import Evaluation, LoggedRun
from reportgen.read import (
    TotalsTable,
    get_benchmark_parts,
    make_frame,
    open_path,
    read_measurements,
    read_outcomes,
)
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    import pandas as pd

    from reportgen.settings.inputs import Source

SHAPES = Path(__file__).parent / "shapes"


def open_shape(form: str) -> tuple[Path, Source]:
    """The sample of a format as a source, found by itself."""
    return open_path(SHAPES / form, load_settings=load_source_settings)


def read_frame(form: str, *metrics: str, **query: Any) -> pd.DataFrame:  # noqa: ANN401 - passed on
    """Metrics of a sample, or all of them."""
    root, source = open_shape(form)
    return make_frame(read_measurements(root, source, metrics or source.metrics, **query))


def list_values(frame: pd.DataFrame) -> dict[tuple[str, str | None, str, float], float]:
    """Values by series, seed, metric and step."""
    names = ["series", "seed", "metric", "step"]
    return {tuple(row[:4]): row[4] for row in frame[[*names, "value"]].to_numpy()}


def test_trials_of_ray_are_runs() -> None:
    """Nested names are joined, a trial without result.json has progress.csv, settings name the series."""
    found = list_values(read_frame("ray"))
    expected = {}
    for folder in (SHAPES / "ray").glob("*/*"):
        config = json.loads((folder / "params.json").read_text("utf-8"))
        name, seed = f"PPO_CartPole-v1, lr={config['lr']}", str(config["seed"])
        if (folder / "result.json").exists():
            for line in (folder / "result.json").read_text("utf-8").splitlines():
                row = json.loads(line)
                step = row["training_iteration"]
                for part, inner in (("env_runners", row["env_runners"]), ("", {"time_total_s": 10.5 * step})):
                    for key, value in inner.items():
                        expected[name, seed, f"{part}/{key}".strip("/"), step] = value
            continue
        for row in csv.DictReader(io.StringIO((folder / "progress.csv").read_text("utf-8"))):
            for key in ("env_runners/episode_return_mean", "env_runners/episode_len_mean", "time_total_s"):
                expected[name, seed, key, int(row["training_iteration"])] = float(row[key])
    assert len(expected) == 3 * 5 * 4 + 5 * 3
    assert {key: found[key] for key in expected} == expected
    assert {name for _, _, name, _ in found} == {
        *("env_runners/episode_return_mean", "env_runners/episode_len_mean", "env_runners/num_episodes"),
        *("learners/default_policy/total_loss", "num_env_steps_sampled_lifetime"),
        *("time_this_iter_s", "time_total_s"),
    }


def test_a_trial_of_ray_that_failed_at_once_is_left_out(tmp_path: Path) -> None:
    """Its files are empty, and no table next to the trials."""
    shutil.copytree(SHAPES / "ray", tmp_path / "ray")
    (last, *_) = (tmp_path / "ray").glob("*/*_00003_*")
    (last / "result.json").write_text("")
    (last / "progress.csv").write_text("")
    _, source = open_path(tmp_path / "ray", load_settings=load_source_settings)
    said = [str(one) for one in source.warnings if last.name in str(one)]
    assert len(said) == 1
    assert "result.json: the file is empty, nothing was logged into it yet; this run is left out" in said[0]


def test_runs_of_rllib_without_tune_are_named_by_their_folders() -> None:
    """The algorithm and environment are in the name, the seed is a setting, ``null`` is missing."""
    root = SHAPES.parent / "cases/rllib/data/rllib"
    path, source = open_path(root, load_settings=load_source_settings)
    assert source.warnings == ()
    names = ("env_runners/episode_return_mean", "learners/default_policy/vf_explained_var")
    found = list_values(make_frame(read_measurements(path, source, names)))
    expected = {}
    for folder in root.iterdir():
        series = folder.name.partition("_2026-")[0]
        seed = str(json.loads((folder / "params.json").read_text("utf-8"))["seed"])
        for line in (folder / "result.json").read_text("utf-8").splitlines():
            row = json.loads(line)
            for name in names:
                cell: Any = row
                for part in name.split("/"):
                    cell = cell[part]
                if cell != "null":
                    expected[series, seed, name, row["training_iteration"]] = cell
        rows = list(csv.DictReader(io.StringIO((folder / "progress.csv").read_text("utf-8"))))
        last = float(rows[-1][names[0]])
        assert last == expected[series, seed, names[0], len(rows)]
    assert {series for series, *_ in found} == {"PPO_CartPole-v1", "APPO_CartPole-v1"}
    assert len(expected) == 4 * 6 + 4 * 5
    assert found == expected


def test_episodes_of_stable_baselines_are_at_the_steps_so_far() -> None:
    """Two environments in the order of time, as ``load_results`` and ``ts2xy`` put them."""
    found = list_values(read_frame("stable_baselines", "r", "rollout/ep_rew_mean"))
    expected = {}
    for algo in ("a2c", "ppo"):
        for seed in ("1", "2"):
            folder = SHAPES / f"stable_baselines/{algo}_seed{seed}"
            episodes = []
            for file in folder.glob("*.monitor.csv"):
                first, table = file.read_text("utf-8").split("\n", 1)
                begin = json.loads(first[1:])["t_start"]
                rows = csv.DictReader(io.StringIO(table))
                episodes += [(begin + float(row["t"]), int(row["l"]), float(row["r"])) for row in rows]
            steps = 0
            for _, length, value in sorted(episodes):
                steps += length
                expected[algo, seed, "r", float(steps)] = value
            for row in csv.DictReader(io.StringIO((folder / "progress.csv").read_text("utf-8"))):
                key = (algo, seed, "rollout/ep_rew_mean", float(row["time/total_timesteps"]))
                expected[key] = float(row["rollout/ep_rew_mean"])
    assert found == expected
    assert len(found) == 4 * (8 + 4)


def test_histories_of_keras_count_epochs_from_0() -> None:
    """As ``json.dump`` and as ``to_json`` of pandas write them."""
    found = list_values(read_frame("keras_history"))
    expected: dict[tuple[str, None, str, int], float] = {}
    for file in (SHAPES / "keras_history").glob("*/*.json"):
        for name, column in json.loads(file.read_text("utf-8")).items():
            cells = column.values() if isinstance(column, dict) else column
            expected |= {(file.parent.name, None, name, n): cell for n, cell in enumerate(cells)}
    assert found == pytest.approx(expected, nan_ok=True)


def test_final_results_of_the_trainer_are_readings_at_the_last_epoch() -> None:
    """Whatever is in several files is read once; without training there is no epoch."""
    found = list_values(read_frame("trainer_results"))
    expected: dict[tuple[str, None, str, float], float] = {}
    for file in (SHAPES / "trainer_results").rglob("*.json"):
        document = json.loads(file.read_text("utf-8"))
        epoch = document.pop("epoch", 0)
        expected |= {(file.parent.name, None, name, epoch): value for name, value in document.items()}
    assert found == expected


def test_scalars_of_clearml() -> None:
    """Title and series name the metric; what the machine did is left out."""
    found = list_values(read_frame("clearml"))
    expected: dict[tuple[str, None, str, float], float] = {}
    for file in (SHAPES / "clearml").glob("*.json"):
        for title, graphs in json.loads(file.read_text("utf-8")).items():
            for series, graph in graphs.items():
                for x, y in zip(graph["x"], graph["y"], strict=True):
                    expected[file.stem, None, f"{title}/{series}", x] = y
    machine = {key for key in expected if key[2].startswith(":monitor")}
    assert len(machine) == 2
    assert found == {key: value for key, value in expected.items() if key not in machine}


def test_metrics_of_comet_as_a_table(tmp_path: Path) -> None:
    """The same list as pandas writes it, whatever the file is called."""
    rows = json.loads((SHAPES / "comet/calm_fox.json").read_text("utf-8"))
    rows = [row for row in rows if row["step"] is not None]
    with (tmp_path / "metrics.csv").open("w", newline="") as file:
        writer = csv.DictWriter(
            file, ["metricName", "metricValue", "timestamp", "step", "epoch"], extrasaction="ignore"
        )
        writer.writeheader()
        writer.writerows(rows)
    _, source = open_path(tmp_path / "metrics.csv", load_settings=load_source_settings)
    frame = make_frame(read_measurements(tmp_path, source, source.metrics))
    found = {(row.metric, row.step): row.value for row in frame.itertuples()}
    assert found == {(row["metricName"], row["step"]): float(row["metricValue"]) for row in rows}


def test_metrics_of_comet() -> None:
    """Values are texts, and a metric without steps has epochs."""
    found = list_values(read_frame("comet"))
    expected = {}
    for file in (SHAPES / "comet").glob("*.json"):
        document = json.loads(file.read_text("utf-8"))
        for row in document["metrics"] if isinstance(document, dict) else document:
            step = row["epoch"] if row["step"] is None else row["step"]
            expected[file.stem, None, row["metricName"], step] = float(row["metricValue"])
    assert found == expected


def test_runs_of_neptune() -> None:
    """Steps may be decimals; parameters are settings, and the series has the one that differs."""
    found = list_values(read_frame("neptune"))
    rows = duckdb.connect().execute(f"FROM '{SHAPES}/neptune/*/*.parquet'").df()
    rates, seeds = (
        dict(zip(part["run_id"], part[column], strict=True))
        for name, column in (("config/lr", "float_value"), ("config/seed", "int_value"))
        for part in [rows[rows.attribute_path == name]]
    )
    series = rows[
        (rows.attribute_type == "float_series") & ~rows.attribute_path.str.startswith("monitoring/")
    ]
    assert found == {
        (
            f"base, config.lr={rates[row.run_id]:g}",
            str(int(seeds[row.run_id])),
            row.attribute_path,
            row.step,
        ): (row.float_value)
        for row in series.itertuples()
    }
    assert len(found) == 2 * 5
    assert set(read_frame("neptune", "metrics/loss", by=("lr",))["series"]) == {"lr=0.1", "lr=0.01"}


def test_trials_of_optuna_are_runs_of_a_study() -> None:
    """Parameters are settings, categories by their names; infinities and NaN are as they were reported."""
    frame = read_frame("optuna", "value", by=("optimizer", "lr"))
    path = SHAPES / "optuna/study.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
        values = dict(store.execute("SELECT trial_id - 1, value FROM trial_values"))
        rates = dict(store.execute("SELECT trial_id - 1, param_value FROM trial_params WHERE param_id % 2"))
        reports = store.execute("SELECT step, intermediate_value FROM trial_intermediate_values").fetchall()
    expected = {number: math.inf if value is None else value for number, value in values.items()}
    known = frame[frame["value"].notna()]
    assert dict(zip(known["step"], known["value"], strict=True)) == expected
    assert sorted(frame["step"]) == [0, 1, 2, 3, 4, 5]  # a trial that was pruned or failed has no value
    groups = {
        f"optimizer={name}, lr={rates[number]}"
        for number, name in ((0, "adam"), (1, "adam"), (3, "sgd"), (5, "adam"))
    }
    assert set(known["series"]) == {group.replace("optimizer=", "") for group in groups}
    found = read_frame("optuna", "intermediate_value")
    known = found[found["value"].notna()]
    assert sorted(zip(known["step"], known["value"], strict=True)) == sorted(
        pair for pair in reports if pair[1] is not None
    )
    assert (len(found), len(known), set(found["series"])) == (len(reports), len(reports) - 1, {"mnist"})


@pytest.mark.parametrize("ways", [("MINIMIZE",), ("MAXIMIZE",), ("MINIMIZE", "MAXIMIZE"), ("NOT_SET",)])
def test_the_direction_of_a_study_is_that_of_its_values(tmp_path: Path, ways: tuple[str, ...]) -> None:
    """One for each objective, and none where the study has none; the setting is that of a single one."""
    shutil.copy(SHAPES / "optuna/study.db", tmp_path)
    with closing(sqlite3.connect(tmp_path / "study.db")) as store, store:
        store.execute("DELETE FROM study_directions")
        for objective, way in enumerate(ways):
            insert = "INSERT INTO study_directions (study_id, objective, direction) SELECT study_id, ?, ?"
            store.execute(f"{insert} FROM studies", (objective, way))
    _, source = open_path(tmp_path, load_settings=load_source_settings)
    assert call(tmp_path, "freeze", "study.db", "--to", "cold").returncode == 0
    _, cold = open_path(tmp_path / "cold", load_settings=load_source_settings)
    expected = {
        ("MINIMIZE",): {"value": False, "intermediate_value": False},
        ("MAXIMIZE",): {"value": True, "intermediate_value": True},
        ("MINIMIZE", "MAXIMIZE"): {"values_0": False, "values_1": True},
    }
    assert source.higher_is_better == expected.get(ways, {})
    assert cold.higher_is_better.items() == {one for one in expected.get(ways, {}).items() if len(ways) == 1}


def test_a_journal_of_trials_is_a_study_too() -> None:
    """The trials that Optuna itself has of it: of one study, of two objectives, and none of a deleted one.

    A pruned trial has reports, and no value: Optuna's is the last report.
    """
    path = SHAPES / "optuna_journal.log"
    (unit,) = find_units([path]).units
    form = find_format(unit.format)
    assert form is not None
    assert form.name == "optuna"
    runs = [run for run in load_reader(form).read(unit) if isinstance(run, LoggedRun)]
    found = [
        (run.name, run.config["state"], {name: [*one.values] for name, one in run.metrics.items()})  # noqa: PD011
        for run in runs
    ]
    reports = [[2.5, 3.5, 4.5], [3.017826497151387, 4.017826497151387, 5.017826497151387]]
    reports += [[1.0027559267640274, 2.0027559267640274, 3.0027559267640274]]
    reports += [[3.015498955191377, 4.015498955191378, 5.015498955191378]]
    reports += [[4.004105412016859, 5.004105412016859], [9.0, 8.0]]
    values = [2.5, math.nan, 1.0027559267640274, math.nan, math.nan, 7.5]
    states = ["COMPLETE", "FAIL", "COMPLETE", "FAIL", "PRUNED", "COMPLETE"]
    for (name, state, metrics), ended, value, several in zip(found[:6], states, values, reports, strict=True):
        assert (name, state, metrics["intermediate_value"]) == ("single", ended, several)
        assert metrics["value"] == pytest.approx([value], nan_ok=True)
    assert found[6:] == [
        ("multi", "COMPLETE", {"values_0": [value], "values_1": [2.0]})
        for value in (0.43599490214200376, 0.025926231827891333, 0.5496624778787091)
    ]
    first, last = runs[0], runs[-1]
    assert first.config == {
        "lr": 0.05,
        "layers": 2,
        "opt": "sgd",
        "state": "COMPLETE",
        "direction": "minimize",
    }
    assert (first.higher_is_better["value"], last.higher_is_better) == (
        False,
        {"values_0": False, "values_1": True},
    )


def test_a_table_of_trials_is_a_study_too(tmp_path: Path) -> None:
    """As ``trials_dataframe().to_csv()`` writes it, index included."""
    text = (
        ",number,value,datetime_start,datetime_complete,duration,params_lr,params_opt,state\n"
        "0,0,0.25,2026-01-05 10:00:00,2026-01-05 10:00:30,0 days 00:00:30,0.1,adam,COMPLETE\n"
        "1,1,0.5,2026-01-05 10:01:00,2026-01-05 10:01:30,0 days 00:00:30,2,sgd,COMPLETE\n"
        "2,2,,2026-01-05 10:02:00,2026-01-05 10:02:30,0 days 00:00:30,0.01,sgd,FAIL\n"
    )
    (tmp_path / "mnist.csv").write_text(text, encoding="utf-8")
    root, source = open_path(tmp_path, load_settings=load_source_settings)
    frame = make_frame(read_measurements(root, source, ("value",), by=("lr",)))
    assert not source.higher_is_better
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = {f"lr={row['params_lr']}": float(row["value"] or "nan") for row in rows}
    assert dict(zip(frame["series"], frame["value"], strict=True)) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("runs.json", '{"step": [0, 1], "loss": [2.0, 1.0]}'),
        ("runs.json", '{"loss": [{"a": 1}], "b": []}'),
        ("all_results.json", '{"results": {"mmlu": {"acc": 0.5}}}'),
        ("metrics.json", '{"a": {"b": {"c": 1}}}'),
        ("results.json", '{"results": {"sums": {"name": "sums", "acc,none": 0.5}}}'),
        ("progress.csv", "step,loss\n0,1\n"),
        ("monitor.csv", "r,l,t\n1,2,3\n"),
    ],
)
def test_what_only_looks_like_it_is_not_taken(tmp_path: Path, name: str, text: str) -> None:
    """Other files may be called so, or have such keys."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    forms = ("ray", "stable_baselines", "keras_history", "trainer_results", "clearml", "comet", "optuna")
    assert [form for form in forms if find_units([file], form).units] == []


def read_totals(path: Path) -> dict[tuple[str, str, str], float]:
    """Totals by series, benchmark and metric, whichever is drawn."""
    (unit, *units) = find_units(sorted(one for one in path.rglob("*") if one.is_file())).units
    form = find_format(unit.format)
    assert form is not None
    runs = [run for one in (unit, *units) for run in load_reader(form).read(one)]
    evaluations = [run for run in runs if isinstance(run, Evaluation)]
    assert len(evaluations) == len(runs)
    return {
        (one.model, one.benchmark, total.metric): total.value for one in evaluations for total in one.totals
    }


def test_totals_of_simple_evals() -> None:
    """Evaluation and model are in the name of the file; standard deviations and all results are not read."""
    expected = {}
    folder = SHAPES / "simple_evals"
    for file in {*folder.iterdir()} - {*folder.glob("*_allresults.json")}:
        name, _, rest = file.stem.partition("_")
        for metric, value in json.loads(file.read_text("utf-8")).items():
            if not metric.endswith(":std") and metric != "chars":
                expected[rest.partition("_")[0], name, metric] = value
    assert read_totals(folder) == expected
    root, source = open_shape("simple_evals")
    assert (source.kind, source.benchmarks) == ("totals", ("drop", "mmlu"))
    assert [one.value for one in TotalsTable(root, source).get_scores("mmlu")] == [0.52, 0.66]


def test_totals_of_bigcode() -> None:
    """A task is a benchmark; the configuration names model and sampling."""
    expected: dict[tuple[str, str, str], float] = {}
    for file in (SHAPES / "bigcode").rglob("*.json"):
        document = json.loads(file.read_text("utf-8"))
        config = document.pop("config")
        for task, metrics in document.items():
            expected |= {(config["model"], task, name): value for name, value in metrics.items()}
    assert read_totals(SHAPES / "bigcode") == expected
    protocol = open_shape("bigcode")[1].settings.protocol
    assert (protocol.samples, protocol.temperature, protocol.top_p) == (20, 0.2, 0.95)


def test_answers_and_summaries_of_opencompass() -> None:
    """Details are answers; a summary alone has the totals in percent, as it is written."""
    root, source = open_shape("opencompass")
    found = group_problem_scores(read_outcomes(root, source))
    expected = {}
    for file in (SHAPES / "opencompass").rglob("*.json"):
        details = json.loads(file.read_text("utf-8"))["details"]
        expected[file.parent.name] = [float(one["correct"]) for one in details.values()]
    assert dict(zip(found.series, found.mean.tolist(), strict=True)) == expected
    assert source.warnings == ()
    summary = SHAPES / "opencompass/20260105_100000/summary"
    assert open_path(summary, load_settings=load_source_settings)[1].warnings == ()
    shares = {name: 100 * sum(scores) / len(scores) for name, scores in expected.items()}
    assert read_totals(summary) == {
        (name, "sums", "accuracy"): pytest.approx(share) for name, share in shares.items()
    }


def test_groups_of_opencompass_are_means_of_other_datasets(tmp_path: Path) -> None:
    """Next to their members they are in no average."""
    (tmp_path / "summary").mkdir()
    text = "dataset,version,metric,mode,elm\nmmlu,-,naive_average,gen,55.0\n"
    text += "gsm8k,1d7fe4,accuracy,gen,70.0\nlukaemon_mmlu_art,2db373,accuracy,gen,55.0\n"
    (tmp_path / "summary/summary_20260105_100000.csv").write_text(text, encoding="utf-8")
    _, source = open_path(tmp_path, load_settings=load_source_settings)
    assert (get_benchmark_parts(source), source.warnings) == ({"mmlu": ("lukaemon_mmlu_art",)}, ())


def test_attempts_of_matharena() -> None:
    """A folder is a model on a competition, and each attempt a sample."""
    root, source = open_shape("matharena")
    found = group_problem_scores(read_outcomes(root, source))
    expected: dict[str, list[float]] = {}
    for file in sorted((SHAPES / "matharena").rglob("*.json")):
        document = json.loads(file.read_text("utf-8"))
        expected.setdefault(f"example/{file.parent.name}", []).append(document["pass_at_1"])
    assert dict(zip(found.series, found.mean.tolist(), strict=True)) == expected
    assert (source.benchmarks, source.slices, source.warnings) == (("aime_2025",), ("type",), ())


@pytest.mark.parametrize(
    "kept", ["aime/aime_2025/", "aime_2025/", "outputs/aime/aime_2025/", "outputs/aime_2025/"]
)
def test_parts_of_outputs_of_matharena(tmp_path: Path, kept: str) -> None:
    """The folder of the maker is part of the model's name: two makers' models answer the same problems."""
    for maker, model in (("elm", "birch-1b"), ("oak", "cedar-3b")):
        shutil.copytree(
            SHAPES / f"matharena/outputs/aime/aime_2025/example/{model}",
            tmp_path / "ma" / kept / maker / model,
        )
    root, source = open_path(tmp_path / "ma", load_settings=load_source_settings)
    found = group_problem_scores(read_outcomes(root, source, benchmark="aime_2025"))
    assert dict.fromkeys(found.series) == dict.fromkeys(("elm/birch-1b", "oak/cedar-3b"))


@pytest.mark.parametrize("kept", ["aime_2025", "hmmt_feb_2026", "euler", "outputs/euler"])
def test_results_of_matharena_without_makers(tmp_path: Path, kept: str) -> None:
    """A competition directly above its models is the benchmark, with a year in its name or not."""
    for model in ("birch-1b", "cedar-3b"):
        shutil.copytree(
            SHAPES / f"matharena/outputs/aime/aime_2025/example/{model}", tmp_path / "ma" / kept / model
        )
    root, source = open_path(tmp_path / "ma", load_settings=load_source_settings)
    assert source.benchmarks == (kept.rpartition("/")[2],)
    found = group_problem_scores(read_outcomes(root, source))
    assert dict.fromkeys(found.series) == dict.fromkeys(("birch-1b", "cedar-3b"))
