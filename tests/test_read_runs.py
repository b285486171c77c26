"""Runs that only a number tells apart, what is suggested of their series, and what is said of many."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_projects import write_report
from made_sources import Data
from test_report import drafted, figure

from reportgen.core.cache import FileHashes
from reportgen.draft import describing
from reportgen.read.runs.file_names import detect_numbered_runs
from reportgen.read.runs.labels import Candidate, find_config_seed, find_differences, get_value, shorten_paths
from reportgen.read.runs.names import Naming, name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.statements import Description
    from reportgen.formats.runs import Setting

NAMES = st.lists(st.text("ab1(+$[]^\\", min_size=1, max_size=4), min_size=1, max_size=2)


@pytest.mark.parametrize(
    ("paths", "files", "series"),
    [
        ("strict/run_1 strict/run_3", "(?P<series>strict)/run_(?P<run>[0-9]+)", ["strict", "strict"]),
        ("A/run_1 B/run_1 B/run_2", "(?P<series>[^/]+)/run_(?P<run>[0-9]+)", ["A", "B", "B"]),
        ("x/A/1 x/A/2 x/B/1", "x/(?P<series>[^/]+)/(?P<run>[0-9]+)", ["A", "A", "B"]),
        ("A/Hop-v1_1 A/Hop-v1_2 B/Hop-v1_1", "(?P<series>[^/]+)/Hop-v1_(?P<run>[0-9]+)", ["A", "A", "B"]),
        ("ppo_run1.csv ppo_run7.csv", "(?P<series>.+)_run(?P<run>[0-9]+)[.]csv", ["ppo", "ppo"]),
        ("ppo-0/log.txt dqn-0/log.txt dqn-1/log.txt", "(?P<series>.+)-(?P<run>[0-9]+)/log[.]txt", None),
        ("version_2 version_4", "(?P<series>version)_(?P<run>[0-9]+)", ["version", "version"]),
    ],
)
def test_repetitions_have_a_pattern(paths: str, files: str, series: list[str] | None) -> None:
    """It fits every path and takes series and run out of it."""
    found = detect_numbered_runs(paths.split(), "mine")
    assert found is not None
    assert found.files == files
    matches = [re.fullmatch(found.files, path) for path in paths.split()]
    told = [match["series"] for match in matches if match]
    assert told == (series or ["ppo", "dqn", "dqn"])
    assert found.series == len(set(told))


def test_a_series_without_a_name_gets_that_of_the_source() -> None:
    """What stands in its place says nothing."""
    named = {
        "run1.csv run2.csv": {"run": "mine"},
        "lightning_logs/version_0 lightning_logs/version_1": {"lightning_logs": "mine"},
        "A/run_1 A/run_2": {},
    }
    for paths, rename in named.items():
        found = detect_numbered_runs(paths.split(), "mine")
        assert found is not None
        assert found.rename == rename


@pytest.mark.parametrize(
    "paths",
    [
        "bert-512 bert-768",  # sizes
        "gpt-2 gpt-3",
        "lr_1 lr_10",
        "A/run_1 B/run_2",  # no series has two
        "A/run_1 run_2",  # not of one form
        "a1 a2",  # part of a name
        "1 2",  # nothing to call the series
        "A/x_1/b A/y_2/c",  # more than numbers differ
        "A/run_1 A/run_01",  # one number twice
        "A/gpt-512 A/gpt-768 B/gpt-512",  # sizes again
        "A/Hop-v1 A/Hop-v2 B/Hop-v1",  # versions
        "only",
        "",
    ],
)
def test_other_numbers_are_no_repetitions(paths: str) -> None:
    """Sizes, rates and parts of names stay what they are."""
    assert detect_numbered_runs(paths.split(), "mine") is None


@given(NAMES, st.integers(2, 4))
def test_a_pattern_fits_whatever_names_hold(parts: list[str], count: int) -> None:
    """Signs of regular expressions in names are names."""
    paths = ["/".join([*parts, f"run_{number}"]) for number in range(count)]
    found = detect_numbered_runs(paths, "mine")
    assert found is not None
    assert [match["run"] for path in paths if (match := re.fullmatch(found.files, path))] == [
        str(number) for number in range(count)
    ]


def described_methods(data: Data) -> Description:
    """The source ``s``."""
    return describing.describe_path(
        data.root / "data/s", data.root, "s", FileHashes(data.root / ".kept"), None
    )


def runs(tmp_path: Path, *configs: Mapping[str, object]) -> Data:
    """Logs of Lightning with these settings, in folders that say nothing."""
    data = Data(tmp_path)
    for number, config in enumerate(configs):
        folder = f"s/lightning_logs/version_{number}"
        data.write(f"{folder}/metrics.csv", f"epoch,step,loss\n0,0,{number}\n1,10,{number / 2}\n")
        data.write(f"{folder}/hparams.yaml", "\n".join(f"{key}: {value}" for key, value in config.items()))
    return data


def test_a_method_is_suggested(tmp_path: Path) -> None:
    """Six series stay six; two are offered, and work."""
    data = runs(tmp_path, *({"method": one, "seed": seed, "lr": 0.1} for one in "AB" for seed in (1, 2, 3)))
    assert len(described_methods(data).series) == 6
    assert data.warnings("s") == [
        (
            "data/s: each of 6 runs is a series of its own, though method and the seed tell them apart. "
            "If those of one method are repetitions, say series_from: method in source.yml; "
            "if not, say series_from: name."
        )
    ]
    told = described_methods(data)
    assert describing.suggest_settings(told)["settled"] == ""
    data.write("s/source.yml", describing.suggest_settings(told)["repetitions"])
    assert described_methods(data).series == ("A", "B")
    assert data.warnings("s") == []
    data.write("s/source.yml", "series_from: name")
    assert (len(described_methods(data).series), data.warnings("s")) == (6, [])


def test_a_setting_with_a_name_that_is_a_number(tmp_path: Path) -> None:
    """Few values of a number are as good as names."""
    data = runs(tmp_path, *({"lr": lr, "seed": seed} for lr in (0.1, 0.01) for seed in (1, 2)))
    assert described_methods(data).repetitions == {"series_from": "lr"}


DATES = ("2024-01-01T00-00-00.000000", "2024-01-02T00-00-00.000000")


def evaluated_on(data: Data, series: int, tasks: int) -> None:
    """Two evaluations of each model on each task, with other shots."""
    for model in range(series):
        for date, shots in zip(DATES, (0, 5), strict=True):
            names = [f"t{task}" for task in range(tasks)]
            document = {
                "results": {name: {"alias": name, "acc,none": 0.5} for name in names},
                "configs": {name: {"task": name, "num_fewshot": shots} for name in names},
                "n-shot": dict.fromkeys(names, shots),
                "config": {"model": "hf", "random_seed": shots},
                "model_name": f"m{model}",
            }
            data.write(f"s/m{model}/results_{date}.json", json.dumps(document))


def test_what_is_the_same_on_many_benchmarks_is_told_once(tmp_path: Path) -> None:
    """And of many series the first, with how many more there are."""
    data = Data(tmp_path)
    evaluated_on(data, series=22, tasks=3)
    *several, last = [
        one for one in data.warnings("s") if "more than seeds" in one or "the same holds" in one
    ]
    assert len(several) == 20
    assert all("; likewise on 2 more benchmarks. They are read as" in one for one in several)
    assert last == "data/s: the same holds of 2 more series and seeds."


CURVE = "step,loss,note\n0,2.5,\n10,{end},\n"


def write_runs(root: Path, name: str = "config.json") -> Data:
    """Four runs: two learning rates with two seeds each, the settings beside each table."""
    data = Data(root)
    for lr in (0.1, 0.01):
        for seed in (1, 2):
            folder = f"s/run-{lr}-{seed}"
            data.write(f"{folder}/log.csv", CURVE.format(end=lr + seed))
            settings = {"seed": seed, "optim": {"lr": lr}}
            text = json.dumps(settings) if name.endswith("json") else f"seed: {seed}\noptim:\n  lr: {lr}\n"
            data.write(f"{folder}/{name}", text)
    return data


def test_a_block_filters_by_a_setting_beside_the_table(tmp_path: Path) -> None:
    """As it does with what a logger wrote; the mean is that of the raw tables."""
    write_runs(tmp_path)
    block = "```curve\nid: one\nsource: s\nmetric: loss\nfilter: {lr: '<= 0.05'}\nby: lr\n```\n"
    root = write_report(tmp_path, {"content/index.md": f"# Small\n\n{block}"})
    one = figure(drafted(root).shown["index.md", "one"])
    rows = csv.DictReader(io.StringIO(str(one.csv)))
    values = {float(row["step"]): float(row["value"]) for row in rows}
    assert [name for name, _ in one.legend] == ["lr=0.01"]
    assert values == {0: 2.5, 10: pytest.approx((0.01 + 1 + 0.01 + 2) / 2)}


NOTHING = SourceSettings()


def candidates(*told: StoredRun) -> list[Candidate]:
    """Runs at their paths."""
    paths = [one.path for one in told]
    folders = shorten_paths(paths)
    return [Candidate(run, {}, path, folder) for run, path, folder in zip(told, paths, folders, strict=True)]


def named(*told: StoredRun, settings: SourceSettings = NOTHING) -> Naming:
    """Their names."""
    return name_runs(candidates(*told), settings, "the source")


def series(naming: Naming) -> list[tuple[str, str | None]]:
    """Series and seed of each run."""
    return [(one.series, one.seed) for one in naming.names]


def trained(path: str, seed: int, rate: float, **config: Setting) -> StoredRun:
    """A run with the name that all have."""
    return StoredRun(path, "train", config={"lr": rate, "seed": seed, **config})


def test_settings_tell_apart_runs_of_one_name_whatever_their_seeds() -> None:
    """Otherwise runs of different learning rates would be one series with one interval."""
    rates = ((1, 0.1), (2, 0.1), (3, 0.01), (4, 0.01))
    found = named(*(trained("x", seed, rate, size=rate * 10) for seed, rate in rates))
    assert series(found) == [(f"train, lr={rate}", str(seed)) for seed, rate in rates]
    assert (found.series_by, found.guessed, found.keys, found.mixed) == (
        "their names with lr",
        True,
        ("name", "lr"),
        (),
    )
    settled = SourceSettings(series_from=found.keys)
    assert series(named(*(trained("x", *one) for one in rates), settings=settled)) == series(found)


def test_folders_tell_apart_runs_with_other_settings() -> None:
    """Where someone chose them."""
    found = named(*(trained(f"{folder}/a", *one) for folder, one in (("A", (1, 0.1)), ("B", (2, 0.01)))))
    assert (series(found), found.series_by) == ([("A", "1"), ("B", "2")], "their folders")
    repeated = named(trained("A/a", 1, 0.1), trained("B/a", 2, 0.1))
    assert series(repeated) == [("train", "1"), ("train", "2")]


def test_two_settings_where_one_does_not_do() -> None:
    """The one that tells most first, and never more than are needed."""
    found = named(*(trained("x", 0, rate, kl=kl, size=1) for rate in (0.1, 0.2) for kl in (0, 1)))
    assert [one for one, _ in series(found)] == [
        "train, lr=0.1, kl=0",
        "train, lr=0.1, kl=1",
        "train, lr=0.2, kl=0",
        "train, lr=0.2, kl=1",
    ]


def test_what_no_few_settings_tell_apart_is_known() -> None:
    """Four settings, each of which another run has to itself: the runs stay together, which is told."""
    runs = [trained("x", place, 0.1, **{f"s{place}": 1}) for place in range(6)]
    found = named(*runs)
    assert series(found) == [("train", str(place)) for place in range(6)]
    assert (found.mixed, found.indistinct) == ((tuple(range(6)),), ())
    assert named(*runs, settings=SourceSettings(series_from="name")).mixed == ()


@pytest.mark.parametrize(
    "key",
    [
        *("output_dir", "logging_dir", "trainer.default_root_dir", "run_name", "exp_name", "name"),
        *("hydra.job.num", "hostname", "master_port", "start_time", "wandb.id", "local_rank", "resume"),
        *("trainer.rollout_data_dir", "save_steps", "wandb_run_name", "use_wandb", "checkpoint_dir", "track"),
        *("data_seed", "cuda", "args.device", "hub_model_id", "git_commit", "visible_devices", "uuid"),
    ],
)
def test_what_a_start_of_a_run_has_of_its_own_makes_no_other_experiment(key: str) -> None:
    """Where its values lie, what it is called, and on which machine it ran."""
    assert (
        find_differences(candidates(trained("x", 1, 0.1, **{key: 1}), trained("x", 2, 0.1, **{key: 2}))).keys
        == ()
    )


@pytest.mark.parametrize(
    "key",
    [
        *("model_name", "env_name", "algo.name", "model_path", "data_dir", "data.path", "model_name_or_path"),
        *("per_device_train_batch_size", "time_limit", "world_size", "total_timesteps", "experiment", "runs"),
        *("rank_loss", "lora_rank", "checkpoint", "num_gpus", "grouping", "date_range", "digit"),
    ],
)
def test_every_other_setting_counts(key: str) -> None:
    """Also one whose name only sounds like a place or a time."""
    found = find_differences(
        candidates(trained("x", 1, 0.1, **{key: "a"}), trained("x", 2, 0.1, **{key: "b"}))
    )
    assert found.keys == (key,)


def test_a_text_may_hold_what_names_the_run() -> None:
    """Its name, id, seed or time; but a text that is nothing else may be the name of a method."""
    config: list[dict[str, Setting]] = [
        {"save": f"o/{name}-seed{seed}"} for name, seed in (("sun", 1), ("sea", 2))
    ]
    sun, sea = StoredRun("x", "sun", config=config[0]), StoredRun("x", "sea", config=config[1])
    assert find_differences(candidates(sun, sea)).is_repeated((0, 1))
    numbered: list[StoredRun] = [StoredRun("x", "a", id=id_, config={"model": "v12"}) for id_ in ("1", "3")]
    assert find_differences(candidates(*numbered)).keys == ()
    times: list[dict[str, Setting]] = [{"to": f"o/2024-01-0{day}_10-00-0{day}"} for day in (1, 2)]
    assert find_differences(candidates(*(StoredRun("x", "a", config=one) for one in times))).is_repeated(
        (0, 1)
    )
    methods = [
        StoredRun("x", name, group="p", config={"algo": name, "seed": place})
        for place, name in enumerate("ab")
    ]
    assert series(named(*methods)) == [("a", "0"), ("b", "1")]


def test_a_run_of_which_nothing_is_known_is_no_other_experiment() -> None:
    """Nor is one that says the same in another way."""
    found = find_differences(candidates(trained("x", 1, 1), StoredRun("x", "train"), trained("x", 2, 1.0)))
    assert (found.keys, found.is_repeated((0, 1, 2))) == ((), True)


def test_short_seeds_are_seeds_only_of_repetitions() -> None:
    """``s1`` and ``s2`` are also stages and sizes, and then the settings differ."""
    stages = [StoredRun("x", f"sft-s{stage}", config={"lr": 0.1 / stage}) for stage in (1, 2)]
    assert series(named(*stages)) == [("sft-s1", None), ("sft-s2", None)]
    seeds = [StoredRun("x", f"sft-s{seed}", config={"lr": 0.1}) for seed in (1, 2)]
    assert series(named(*seeds)) == [("sft", "1"), ("sft", "2")]


def test_evaluations_under_other_protocols_are_known() -> None:
    """Whatever their seeds; on another day, or of another benchmark, they are not."""
    told = [
        StoredRun(
            "x", day, model="M", benchmark=benchmark, seed=seed, protocol={"prompt": prompt, "date": day}
        )
        for day, benchmark, seed, prompt in (
            ("2024-01-01", "a", "1", "0-shot"),
            ("2024-01-02", "a", "2", "25-shot"),
            ("2024-01-02", "b", "1", "5-shot"),
            ("2024-01-03", "b", "2", "5-shot"),
        )
    ]
    found = named(*told)
    assert {one for one, _ in series(found)} == {"M"}
    assert (found.mixed, found.indistinct) == (((0, 1),), ())
    by_prompt = named(*told, settings=SourceSettings(series_from=("model", "prompt")))
    assert [one for one, _ in series(by_prompt)] == ["M, 0-shot", "M, 25-shot", "M, 5-shot", "M, 5-shot"]
    assert by_prompt.mixed == ()


def test_a_number_of_a_protocol_is_told_with_its_name() -> None:
    """A number alone says nothing."""
    run = StoredRun("x", "", model="M", protocol={"limit": "100"})
    (candidate,) = candidates(run)
    assert get_value(candidate, "limit") == "100"
    settings = SourceSettings(series_from=("model", "limit"))
    assert series(named(run, settings=settings)) == [("M, limit=100", None)]


def test_a_long_text_names_no_series() -> None:
    """As a prompt would; the runs stay together, which is told."""
    found = named(*(trained("x", seed, 0.1, prompt=sign * 61) for seed, sign in ((1, "a"), (2, "b"))))
    assert (series(found), found.mixed) == ([("train", "1"), ("train", "2")], ((0, 1),))
    short = named(*(trained("x", seed, 0.1, prompt=sign * 60) for seed, sign in ((1, "a"), (2, "b"))))
    assert series(short) == [(f"train, {'a' * 60}", "1"), (f"train, {'b' * 60}", "2")]


def test_what_says_nothing_by_itself_is_told_with_its_name() -> None:
    """MLflow keeps everything as a text."""
    found = named(*(trained("x", 1, 0.1, clip=clip) for clip in ("True", "None")))
    assert [one for one, _ in series(found)] == ["train, clip=True", "train, clip=None"]


@pytest.mark.parametrize("seed", ["None", "null", "", True, False, "NaN"])
def test_what_says_that_there_is_no_seed_is_none(seed: Setting) -> None:
    """In a configuration, of an evaluation, and where ``seed_from`` asks for it."""
    assert find_config_seed({"seed": seed}) is None
    assert find_config_seed({"seed": seed, "trainer.random_seed": 4}) == "4"
    found = named(StoredRun("x", "a", config={"seed": seed}), settings=SourceSettings(seed_from="seed"))
    assert series(found) == [("a", None)]
    assert series(named(StoredRun("x", "a", seed=str(seed), model="m"))) == [("m", None)]


def test_one_id_under_two_names_is_no_resumed_run() -> None:
    """Such as ``1`` in two folders: parts of one run have its name and group, too."""
    first = StoredRun("A/1", "a", id="1", group="g")
    assert named(first, StoredRun("B/1", "b", id="1", group="g")).resumed == ()
    assert named(first, StoredRun("B/1", "a", id="1", group="h")).resumed == ()
    assert named(first, StoredRun("B/1", "a", id="1", group="g")).resumed == ((0, 1),)
