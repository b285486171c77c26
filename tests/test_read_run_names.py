"""Series, seeds and runs of what loggers and harnesses wrote: by settings, configuration, name or folder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reportgen.read.runs.labels import (
    Candidate,
    find_config_seed,
    get_value,
    list_value_names,
    shorten_paths,
    split_seed,
    split_short_seeds,
)
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.settings.source import SourceSettings

NOTHING = SourceSettings()


def runs(
    *told: StoredRun, paths: tuple[str, ...] = (), labels: tuple[dict[str, str | None], ...] = ()
) -> list[Candidate]:
    """Candidates of runs with their paths below the source."""
    paths = paths or tuple(f"r{place}" for place in range(len(told)))
    labels = labels or ({},) * len(told)
    folders = shorten_paths(paths)
    return [Candidate(*one) for one in zip(told, labels, paths, folders, strict=True)]


def at(*paths: str) -> list[Candidate]:
    """Runs of which nothing is known but where they lie."""
    return runs(*(StoredRun(path, "") for path in paths), paths=paths)


def called(*names: str) -> list[Candidate]:
    """Runs of which nothing is known but their names."""
    return runs(*(StoredRun("x", name) for name in names))


def named(candidates: list[Candidate], settings: SourceSettings = NOTHING) -> list[tuple[str, str | None]]:
    """Series and seed of each run."""
    return [(one.series, one.seed) for one in name_runs(candidates, settings, "the source").names]


@pytest.mark.parametrize(
    ("label", "rest", "seed"),
    [
        ("seed_3", "", "3"),
        ("grpo-seed3", "grpo", "3"),
        ("grpo-seed=3-lr1e-4", "grpo-lr1e-4", "3"),
        ("grpo (seed 12)", "grpo", "12"),
        ("grpo [seed=1] long", "grpo long", "1"),
        ("(a) seed 1", "(a)", "1"),
        ("A/seed_03", "A", "3"),
        ("seed_3/A", "A", "3"),
        ("A/seed_3/train", "A/train", "3"),
        ("random_seed=5,lr=1", "lr=1", "5"),
        ("Seed:7 ppo", "ppo", "7"),
        ("seedling_3", "seedling_3", None),
        ("proceed3", "proceed3", None),
        ("seed3b", "seed3b", None),
        ("seed_1-seed_2", "seed_1", "2"),
        ("s3", "s3", None),
        ("Seed-1.5-thinking", "Seed-1.5-thinking", None),
        ("Seed1.5-VL", "Seed1.5-VL", None),
        ("ppo-seed1.csv", "ppo-csv", "1"),
        ("", "", None),
    ],
)
def test_a_seed_in_a_label(label: str, rest: str, seed: str | None) -> None:
    """It is taken off with the signs around it; what only looks like one stays."""
    assert split_seed(label) == (rest, seed)


@given(st.text(max_size=30))
def test_a_label_without_a_seed_stays(label: str) -> None:
    """Whatever else is in it; and taking off twice what has one seed finds no second."""
    rest, seed = split_seed(label)
    assert (seed is None) == (rest == label)
    assert seed is None or seed.isdecimal()


def test_short_seeds_need_other_runs() -> None:
    """``s1`` may be the name of a model, so runs have to differ in it alone."""
    assert split_short_seeds(["a-s1", "a-s2", "b-s1"]) == [("a", "1"), ("a", "2"), ("b", "1")]
    assert split_short_seeds(["s1-32B", "qwen"]) is None
    assert split_short_seeds(["s1-32B", "s2-7B"]) is None
    assert named(called("ppo_s1", "ppo_s2")) == [("ppo", "1"), ("ppo", "2")]
    assert named(called("s1-32B", "qwen-32B")) == [("s1-32B", None), ("qwen-32B", None)]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("A/seed_1/trainer_state.json", "B/seed_1/trainer_state.json"), ["A", "B"]),
        (("runs/A/1/x", "runs/A/2/x", "runs/B/1/x"), ["A/1", "A/2", "B/1"]),
        (("a.jsonl", "b.jsonl"), ["a", "b"]),
        (("v1.5", "v2.5"), ["v1.5", "v2.5"]),
        (("x/a", "x/b/c"), ["a", "b/c"]),
        (("", "train"), ["", "train"]),
        (("only/one",), [""]),
        (("same", "same"), ["", ""]),
        ((), []),
    ],
)
def test_what_tells_paths_apart(paths: tuple[str, ...], expected: list[str]) -> None:
    """What all share is left out, and the endings of files."""
    assert shorten_paths(paths) == expected


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4).map("/".join), unique=True, max_size=6))
def test_different_paths_stay_different(paths: list[str]) -> None:
    """Nothing that tells two runs apart is lost."""
    assert len(set(shorten_paths(paths))) == len(paths)


@pytest.mark.parametrize(
    ("config", "seed"),
    [
        ({"seed": 3}, "3"),
        ({"Seed": 3.0}, "3"),
        ({"trainer.seed": "7", "trainer.lr": 1}, "7"),
        ({"seed": 1, "data.seed": 2}, "1"),
        ({"data.seed": 1, "trainer.seed": 2}, None),
        ({"data.seed": 2, "trainer.seed": 2}, "2"),
        ({"random_seed": 5}, "5"),
        ({"data_seed": 5, "seeds": 3}, None),
        ({}, None),
    ],
)
def test_the_seed_of_a_configuration(config: dict[str, str | int | float | bool], seed: str | None) -> None:
    """The nearest to the top; none where several disagree."""
    assert find_config_seed(config) == seed


def test_names_stand_before_folders() -> None:
    """A run is called as its logger calls it, without the seed; without a name as its folder."""
    assert named(called("grpo-seed1", "grpo-seed2", "ppo-seed1")) == [
        ("grpo", "1"),
        ("grpo", "2"),
        ("ppo", "1"),
    ]
    assert named(at("A/seed_1", "A/seed_2", "B/seed_1")) == [("A", "1"), ("A", "2"), ("B", "1")]
    assert named(at("seed_1", "seed_2")) == [("the source", "1"), ("the source", "2")]
    assert named(at("deep/only")) == [("the source", None)]


def test_folders_tell_apart_what_names_do_not() -> None:
    """Where all runs have one name, or runs of one name and seed lie in several folders."""
    same = [StoredRun("x", "train", config={"seed": seed}) for seed in (1, 2, 1, 2)]
    found = name_runs(runs(*same, paths=("A/1", "A/2", "B/1", "B/2")), NOTHING, "s")
    assert {name.series for name in found.names} == {"A/1", "A/2", "B/1", "B/2"}
    assert (found.series_by, found.indistinct) == ("their folders", ())


def test_seeds_of_configurations_stand_before_those_in_names() -> None:
    """Unless the configuration has one default for all runs, and their names tell several."""
    told = [StoredRun("x", f"a-seed{seed}", config={"seed": 10 + seed}) for seed in (1, 2)]
    assert named(runs(*told)) == [("a", "11"), ("a", "12")]
    default = [StoredRun("x", f"a-seed{seed}", config={"seed": 42}) for seed in (1, 2)]
    assert named(runs(*default)) == [("a", "1"), ("a", "2")]


def test_groups_bring_runs_of_different_seeds_together() -> None:
    """Where each run has a name of its own; not where seeds of one group are the same or unknown."""
    told = [
        StoredRun("x", name, group=group, config={"seed": seed})
        for name, group, seed in (("calm-sun-1", "A", 1), ("red-moon-2", "A", 2), ("old-star-3", "B", 1))
    ]
    found = name_runs(runs(*told), NOTHING, "s")
    assert [name.series for name in found.names] == ["A", "A", "B"]
    assert (found.series_by, found.guessed) == ("their groups", True)
    same = [StoredRun("x", name, group="A", config={"seed": 1}) for name in ("calm-sun", "red-moon")]
    assert named(runs(*same)) == [("calm-sun", "1"), ("red-moon", "1")]


def test_a_run_that_logged_nothing_has_no_say_in_the_names_of_others() -> None:
    """Neither in their groups, nor in short seeds, nor is it one more run of the same seed."""
    logged = {"loss": 3}
    told = [
        StoredRun("x", name, group=name[:1], config={"seed": seed}, metrics=logged)
        for name, seed in (("a sun", 1), ("a moon", 2), ("b star", 1))
    ]
    killed = StoredRun("x", "", config={})
    found = name_runs(runs(*told, killed), NOTHING, "s")
    assert [(one.series, one.seed) for one in found.names] == [
        ("a", "1"),
        ("a", "2"),
        ("b", "1"),
        ("r3", None),
    ]
    again = StoredRun("x", "a sun", group="a", config={"seed": 1, "algo": "a"})
    by_algo = SourceSettings(series_from="algo")
    told = [replace(one, config={**one.config, "algo": one.group}) for one in told]
    found = name_runs(runs(*told, again), by_algo, "s")
    assert found.names[3].series == "a"
    assert (found.names[3].seed, found.indistinct) == ("1", ())
    found = name_runs(runs(*told, again, told[0]), by_algo, "s")
    assert found.indistinct == ((0, 4),)


def test_what_is_guessed_is_known() -> None:
    """Seeds taken off names, and short ones, are guesses; plain names and configured seeds are none."""
    told = {
        "names": name_runs(called("a-seed1", "a-seed2"), NOTHING, "s").guessed,
        "plain": name_runs(called("a", "b"), NOTHING, "s").guessed,
        "config": name_runs(runs(StoredRun("x", "a", config={"seed": 1})), NOTHING, "s").guessed,
    }
    assert told == {"names": True, "plain": False, "config": False}


def test_settings_name_series_seeds_and_runs() -> None:
    """Keys of the configuration, also behind dots; numbers are told with their names."""
    told = [
        StoredRun("x", f"n{place}", config={"algo.name": name, "algo.lr": rate, "rng": place})
        for place, (name, rate) in enumerate((("ppo", 0.1), ("ppo", 1.0), ("grpo", 0.1)))
    ]
    settings = SourceSettings(series_from=("algo.name", "lr"), seed_from="rng", run_from="name")
    found = name_runs(runs(*told), settings, "s")
    assert [(name.series, name.seed, name.run) for name in found.names] == [
        ("ppo, lr=0.1", "0", "n0"),
        ("ppo, lr=1", "1", "n1"),
        ("grpo, lr=0.1", "2", "n2"),
    ]
    assert (found.series_by, found.guessed) == ('"algo.name" and "lr"', False)


def test_a_guess_can_be_confirmed() -> None:
    """``series_from: name`` is the name without its seed, ``seed_from: folder`` the seed in the folder."""
    settings = SourceSettings(series_from="name", seed_from="name")
    candidates = called("a-seed1", "a-seed2")
    assert (named(candidates, settings), name_runs(candidates, settings, "s").guessed) == (
        named(candidates),
        False,
    )
    settings = SourceSettings(series_from="folder", seed_from="folder")
    assert named(at("A/seed_1", "A/seed_2"), settings) == [("the source", "1"), ("the source", "2")]


def test_some_runs_have_no_such_setting() -> None:
    """They are one series without a name; what was killed before it logged anything is none of it."""
    told = [StoredRun("x", "a", config={"algo": "ppo"}), StoredRun("x", "b", metrics={"loss": 1})]
    settings = SourceSettings(series_from="algo")
    assert named(runs(*told), settings) == [("ppo", None), ("(unnamed)", None)]
    killed = [told[0], StoredRun("x", "b"), StoredRun("x", "")]
    assert named(runs(*killed), settings) == [("ppo", None), ("b", None), ("r2", None)]


def test_runs_of_one_name_are_one_series_whatever_the_logger_calls_their_folders() -> None:
    """Ids in paths tell no method; folders that someone chose do, and so do groups."""
    ids = ("44d295d9", "b1d14135", "bcb6cc17")
    same = [StoredRun("x", "train", id=one, group="sweep") for one in ids]
    stored = runs(*same, paths=tuple(f"mlruns/6034/{one}" for one in ids))
    found = name_runs(stored, NOTHING, "s")
    assert [(one.series, one.run) for one in found.names] == [("train", one) for one in ids]
    assert (found.series_by, found.indistinct) == ("their names", ((0, 1, 2),))
    logged = tuple(f"{place}/run-20241022_232419-{one}" for place, one in zip("ABB", ids, strict=True))
    assert named(runs(*same, paths=logged)) == [("A", None), ("B", None), ("B", None)]
    by_folder = SourceSettings(series_from="folder")
    assert named(runs(*same, paths=logged), by_folder) == [("A", None), ("B", None), ("B", None)]
    grouped = [replace(one, group=group) for one, group in zip(same, "ABB", strict=True)]
    experiments = ("334386441918322440", *2 * ("603412332981141850",))
    paths = tuple(f"mlruns/{experiment}/{one}" for experiment, one in zip(experiments, ids, strict=True))
    found = name_runs(runs(*grouped, paths=paths), NOTHING, "s")
    assert [one.series for one in found.names] == ["A train", "B train", "B train"]
    assert found.series_by == "groups and names"


def test_groups_with_other_settings_are_no_series() -> None:
    """Runs of one project differ in more than their seeds; paths and names in settings may hold these."""
    told = [
        StoredRun(
            "x",
            name,
            id=name,
            group="p",
            config={"seed": seed, "lr": lr, "env.rng_seed": seed, "out": f"o/{name}"},
        )
        for name, seed, lr in (("calm-sun", 0, 0.0), ("red-moon", 1, 0.1))
    ]
    assert named(runs(*told)) == [("calm-sun", "0"), ("red-moon", "1")]
    alike = [replace(one, config={**one.config, "lr": 0.1}) for one in told]
    assert named(runs(*alike)) == [("p", "0"), ("p", "1")]
    lacking = [alike[0], replace(alike[1], config={"seed": 1})]
    assert named(runs(*lacking)) == [("calm-sun", "0"), ("red-moon", "1")]


def test_a_run_whose_configuration_has_no_seed_may_have_it_in_its_name() -> None:
    """Whatever the configurations of the others say."""
    told = [StoredRun("x", name) for name in ("ppo_seed0", "ppo_seed1")]
    told.append(StoredRun("x", "hp", config={"seed": 5}))
    found = name_runs(runs(*told), NOTHING, "s")
    assert [(one.series, one.seed) for one in found.names] == [("ppo", "0"), ("ppo", "1"), ("hp", "5")]
    assert found.guessed
    assert found.seed_by == "the configuration or, where it has none, the names"


def test_groups_of_a_pattern_stand_before_everything_found() -> None:
    """What the author wrote for series, seed and run is taken as it is."""
    told = [StoredRun("x", "n", config={"seed": 9}), StoredRun("x", "n", config={"seed": 9})]
    labels: tuple[dict[str, str | None], ...] = (
        {"series": "A", "seed": "1", "run": "first"},
        {"series": "A", "seed": "2", "run": "second"},
    )
    found = name_runs(runs(*told, labels=labels), NOTHING, "s")
    assert [(name.series, name.seed, name.run) for name in found.names] == [
        ("A", "1", "first"),
        ("A", "2", "second"),
    ]


def test_runs_of_one_series_have_names_that_differ() -> None:
    """By folder, otherwise by number; two runs are never one by accident."""
    told = [StoredRun("x", "n", config={"algo": "A"}) for _ in range(3)]
    settings = SourceSettings(series_from="algo")
    apart = name_runs(runs(*told, paths=("a", "b", "c")), settings, "s")
    assert [name.run for name in apart.names] == ["a", "b", "c"]
    together = name_runs(runs(*told, paths=("a", "a", "a")), settings, "s")
    assert [name.run for name in together.names] == ["n", "n (2)", "n (3)"]
    assert together.indistinct == ()


def test_runs_alike_are_known() -> None:
    """The same series and seed; without seeds only where nobody chose the series."""
    told = [
        StoredRun("x", "n", config={"seed": 1}),
        StoredRun("x", "n", config={"seed": 1}),
        StoredRun("x", "m"),
    ]
    assert name_runs(runs(*told, paths=("a", "a", "a")), NOTHING, "s").indistinct == ((0, 1),)
    bare = [StoredRun("x", "n"), StoredRun("x", "n")]
    assert name_runs(runs(*bare, paths=("a", "a")), NOTHING, "s").indistinct == ((0, 1),)
    assert name_runs(runs(*bare, paths=("a", "a")), SourceSettings(series_from="name"), "s").indistinct == ()


def test_parts_of_one_run_are_in_order_of_time() -> None:
    """They share an id, are called as the first of them, and are not alike."""
    told = [
        StoredRun("x", "n", id="7", begins=2e12, config={"seed": 1}),
        StoredRun("x", "n", id="7", begins=1e12, config={"seed": 1}),
        StoredRun("x", "n", id="8", config={"seed": 2}),
    ]
    found = name_runs(runs(*told), NOTHING, "s")
    assert (found.resumed, found.indistinct) == (((1, 0),), ())
    assert found.names[0] == found.names[1] != found.names[2]


def test_evaluations_are_called_as_their_models() -> None:
    """On different benchmarks a model has one series, and the same seed is no clash."""
    told = [StoredRun("x", "monday", model="M", benchmark=name, seed="0") for name in ("a", "b")]
    found = name_runs(runs(*told), NOTHING, "s")
    assert [(name.series, name.run, name.seed) for name in found.names] == [("M", "monday", "0")] * 2
    assert found.indistinct == ()


def test_what_runs_can_be_named_by() -> None:
    """What differs first; what no run has is not offered."""
    told = [
        StoredRun("x", "n", config={"lr": 1, "algo": "A"}),
        StoredRun("x", "n", config={"lr": 2, "algo": "A"}),
    ]
    candidates = runs(*told)
    assert list_value_names(candidates) == ["folder", "lr", "name", "algo"]
    assert [get_value(candidates[0], name) for name in ("lr", "folder", "group", "none")] == [
        "1",
        "r0",
        None,
        None,
    ]
