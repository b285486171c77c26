"""Runs of HELM: trials, splits, bookkeeping, perturbed instances, and stats without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from made_evaluations import messages, only, scores, survives, write

from reportgen.formats.evaluations import helm
from reportgen.formats.runs import Evaluation, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SPEC: dict[str, Any] = {
    "name": "mmlu:subject=anatomy,method=joint,model=org_base",
    "scenario_spec": {"class_name": "MMLUScenario"},
    "adapter_spec": {
        "method": "multiple_choice_joint",
        "max_train_instances": 5,
        "max_eval_instances": 1000,
        "num_train_trials": 2,
        "model": "org/base",
        "model_deployment": "somewhere/base",
        "temperature": 0.0,
        "max_tokens": 5,
    },
    "groups": ["mmlu"],
}


def stat(metric: str, mean: float | None, split: str = "test", **named: Any) -> dict[str, Any]:  # noqa: ANN401
    """A stat over two trials; without a mean it has counted nothing."""
    counted = {"count": 0, "sum": 0} if mean is None else {"count": 2, "sum": 2 * mean, "mean": mean}
    return {"name": {"name": metric, "split": split, **named}, **counted}


def instances(right: dict[str, Sequence[float]], split: str = "test") -> list[dict[str, Any]]:
    """Instances with a score for each trial."""
    return [
        {
            "instance_id": problem,
            "train_trial_index": trial,
            "stats": [
                stat("exact_match", score, split),
                stat("num_output_tokens", 3.0, split),
                stat("inference_runtime", 0.25, split),
                stat("training_co2_cost", None, split),
            ],
        }
        for problem, trials in right.items()
        for trial, score in enumerate(trials)
    ]


def run(folder: Path, stats: object, of: object) -> Path:
    """The folder of a run."""
    write(folder / "run_spec.json", SPEC)
    write(folder / "stats.json", stats)
    write(folder / "per_instance_stats.json", of)
    return folder


def unit_of(folder: Path) -> Unit:
    """The one unit of a folder."""
    (unit,) = helm.find_units(sorted(path for path in folder.rglob("*") if path.is_file()))
    return unit


def read(folder: Path) -> Evaluation:
    """The one evaluation of a folder."""
    return only(helm.read(unit_of(folder)))


def test_trials_are_samples_of_their_instance(tmp_path: Path) -> None:
    """Four rows are two problems with two trials; tokens and time stand beside the score."""
    stats = [stat("exact_match", 0.75), stat("num_output_tokens", 3.0), stat("inference_runtime", 0.25)]
    one = read(run(tmp_path / "runs" / "v1" / "x", stats, instances({"id1": (1, 0), "id2": (1, 1)})))
    assert scores(one, "exact_match") == [1.0, 0.0, 1.0, 1.0]
    assert [(answer.problem, answer.sample) for answer in one.answers[:2]] == [("id1", "0"), ("id1", "1")]
    assert {(answer.tokens, answer.seconds) for answer in one.answers} == {(3.0, 0.25)}
    assert one.totals == (Total("exact_match", 0.75, None, 2),)
    assert (one.model, one.benchmark, one.run) == ("org/base", "mmlu:subject=anatomy,method=joint", "v1")
    assert messages(one) == []


def test_the_protocol_says_how_it_was_measured(tmp_path: Path) -> None:
    """As the adapter is specified; samples are the trials that there are."""
    one = read(run(tmp_path, [stat("exact_match", 1.0)], instances({"id1": (1, 1)})))
    assert one.protocol == {
        "samples": "2",
        "temperature": "0",
        "max_tokens": "5",
        "prompt": "5-shot, multiple_choice_joint",
        "harness": "HELM",
        "split": "test",
        "limit": "1000",
        "backend": "somewhere/base",
    }


def test_splits_are_benchmarks_of_their_own(tmp_path: Path) -> None:
    """Training instances are no scores at all."""
    stats = [stat("exact_match", 1.0, split) for split in ("train", "valid", "test")]
    found = list(helm.read(unit_of(run(tmp_path, stats, instances({"id1": (1, 1)}, "valid")))))
    assert [one.benchmark.rpartition("joint")[2] for one in found] == ["", " (valid)"]
    assert [len(one.answers) for one in found] == [0, 2]


def test_perturbed_instances_and_empty_stats_are_left_out_and_told(tmp_path: Path) -> None:
    """The worst case stands there even where nothing was perturbed, and is not told."""
    typos = {"name": "typos", "robustness": True, "computed_on": "perturbed"}
    worst = {"name": "robustness", "robustness": True, "computed_on": "worst"}
    stats = [
        stat("exact_match", 0.5),
        stat("exact_match", 0.0, perturbation=typos),
        stat("exact_match", 0.0, perturbation=worst),
        stat("bleu_1", None),
    ]
    of = instances({"id1": (1, 0)})
    of += [{**one, "perturbation": typos} for one in instances({"id1": (0, 0)})]
    one = read(run(tmp_path, stats, of))
    assert scores(one, "exact_match") == [1.0, 0.0]
    assert messages(one) == ["1 stat of perturbed instances: left out", "1 stat without a value: left out"]


def test_totals_that_their_instances_do_not_give_are_told(tmp_path: Path) -> None:
    """And one that is impossible where there are no instances to ask."""
    one = read(run(tmp_path / "a", [stat("exact_match", 0.25)], instances({"id1": (1, 0)})))
    assert messages(one) == ["exact_match is said to be 0.25, and its 2 answers give 0.5"]
    one = read(run(tmp_path / "b", [stat("exact_match", 1.5e2)], []))
    assert messages(one) == ["exact_match is 150, and a share of right answers lies between 0 and 1"]


def test_what_tells_how_a_run_went_is_read_only_if_named(tmp_path: Path) -> None:
    """Tokens are no score."""
    stats = [stat("exact_match", 0.5), stat("num_output_tokens", 3.0)]
    unit = unit_of(run(tmp_path, stats, instances({"id1": (1, 0)})))
    one = only(helm.read(unit, ["num_output_tokens"]))
    assert [total.metric for total in one.totals] == ["num_output_tokens"]
    assert scores(one, "num_output_tokens") == [3.0, 3.0]


def test_a_run_without_its_specification_is_named_after_its_folder(tmp_path: Path) -> None:
    """HELM names the folder after the specification; how it was measured is not known."""
    folder = run(
        tmp_path / "mmlu:subject=anatomy,model=org_base",
        [stat("exact_match", 0.5)],
        instances({"id1": (1, 0)}),
    )
    (folder / "run_spec.json").unlink()
    one = read(folder)
    assert (one.model, one.benchmark) == ("org_base", "mmlu:subject=anatomy")
    assert scores(one, "exact_match") == [1.0, 0.0]
    assert messages(one) == [
        (
            "there is no run_spec.json: model and benchmark are named after the folder, and how it was "
            "measured is unknown"
        )
    ]
    (folder / "per_instance_stats.json").unlink()
    assert read(folder).totals == (Total("exact_match", 0.5),)
    assert read(folder.rename(tmp_path / "odd")).model == "odd"


def test_the_number_of_instances_is_known_without_them(tmp_path: Path) -> None:
    """A share that no number of them gives is told."""
    one = read(run(tmp_path, [stat("num_instances", 10.0), stat("exact_match", 0.43)], []))
    assert one.totals == (Total("exact_match", 0.43, None, 10),)
    (message,) = messages(one)
    assert message.startswith("exact_match is 0.43, which no whole number of right answers out of 10 gives")


def test_any_mean_is_compared_with_its_instances(tmp_path: Path) -> None:
    """Graded stats, too: F1 is a mean like any other."""
    of = instances({"id1": (1, 0)})
    of[0]["stats"].append(stat("f1_score", 0.5))
    one = read(run(tmp_path, [stat("f1_score", 0.75)], of))
    assert messages(one) == ["f1_score is said to be 0.75, and its 1 answer has the mean 0.5"]


def test_a_run_that_is_not_finished_is_told(tmp_path: Path) -> None:
    """A specification alone, or stats of the training instances, stop no other run from being read."""
    unfinished = "there is no stat of a test or validation split: the run is not finished"
    write(tmp_path / "a" / "run_spec.json", SPEC)
    run(tmp_path / "b", [stat("exact_match", 1.0, "train")], [])
    run(tmp_path / "c", [], [])
    for name in "abc":
        one = read(tmp_path / name)
        assert (one.model, one.finished, one.totals, one.answers) == ("org/base", False, (), ())
        assert messages(one) == [unfinished]


@pytest.mark.random
def test_other_and_damaged_files(tmp_path: Path) -> None:
    """A run has a specification or stats."""
    write(tmp_path / "a" / "stats.json", [])
    write(tmp_path / "b" / "run_spec.json", {"spec": 1})
    write(tmp_path / "b" / "stats.json", [])
    assert helm.find_units(sorted(tmp_path.rglob("*.json"))) == ()
    alone = write(tmp_path / "a" / "other.json", [])
    with pytest.raises(UnreadableError, match=r"has a run_spec\.json, stats\.json or"):
        list(helm.read(Unit(helm.NAME, alone, (alone,))))
    unit = unit_of(run(tmp_path / "c", {"exact_match": 1}, []))
    with pytest.raises(UnreadableError, match="a list is expected in the file"):
        list(helm.read(unit))
    unit = unit_of(run(tmp_path / "c", [stat("exact_match", 0.5)], instances({"id1": (1, 0)})))
    for path in unit.files:
        kept = path.read_bytes()
        survives(path, helm.read, unit)
        path.write_bytes(kept)
    assert only(helm.read(unit)).totals
