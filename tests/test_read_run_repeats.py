"""Runs of one name with other settings are not taken for repetitions of one experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reportgen.read.runs.labels import Candidate, find_config_seed, find_differences, get_value, shorten_paths
from reportgen.read.runs.names import Naming, name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from reportgen.formats.runs import Setting

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
