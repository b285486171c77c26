"""What is told of runs of one series that are no repetitions of one experiment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from made_sources import Data

from reportgen.read.tables.layout import get_layout

if TYPE_CHECKING:
    from pathlib import Path

DATES = ("2024-01-01T00-00-00.000000", "2024-01-02T00-00-00.000000")


def evaluated(data: Data, date: str, score: float, shots: int, seed: int, **arguments: str) -> None:
    """Results as lm-eval writes them."""
    said = ",".join(f"{key}={value}" for key, value in {"pretrained": "org/m", **arguments}.items())
    document = {
        "results": {"arc": {"alias": "arc", "acc,none": score, "acc_stderr,none": 0.01}},
        "configs": {"arc": {"task": "arc", "num_fewshot": shots}},
        "versions": {"arc": 1},
        "n-shot": {"arc": shots},
        "higher_is_better": {"arc": {"acc": True}},
        "n-samples": {"arc": {"original": 2000, "effective": 2000}},
        "config": {"model": "hf", "model_args": said, "random_seed": seed},
        "model_name": "org/m",
    }
    data.write(f"s/org__m/results_{date}.json", json.dumps(document))


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


def trained(data: Data, folder: str, **settings: float) -> None:
    """A run of a trainer with the name that all have."""
    rows = [{"step": step, "loss": 1 / step} for step in (1, 2, 3)]
    state = {"log_history": rows, "global_step": 3, "max_steps": 3, "trial_name": "run"}
    data.write(f"s/{folder}/trainer_state.json", json.dumps(state))
    data.write(f"s/{folder}/training_args.json", json.dumps(settings))


def series_of(data: Data) -> tuple[str, ...]:
    """The series of the source."""
    return get_layout(data.open("s")).series


def test_evaluations_with_other_shots_are_told_and_the_advice_works(tmp_path: Path) -> None:
    """Whatever their seeds: a mean of 0 and 25 shots says nothing."""
    data = Data(tmp_path)
    evaluated(data, DATES[0], 0.2, 0, 1)
    evaluated(data, DATES[1], 0.6, 25, 2)
    assert series_of(data) == ("org/m",)
    where = " and ".join(f"data/s/org__m/results_{date}.json" for date in DATES)
    (told,) = data.warnings("s")
    assert told == (
        f'data/s: 2 runs of the series "org/m" differ in more than seeds: {where}. '
        "They are read as different runs of one series, but differ in prompt: "
        "tell them apart with series_from: [model, prompt], or confirm it with series_from: model, in "
        "source.yml."
    )
    data.write("s/source.yml", "series_from: model\n")
    assert (series_of(data), data.warnings("s")) == (("org/m",), [])
    data.write("s/source.yml", "series_from: [model, prompt]\n")
    assert series_of(data) == ("org/m, 0-shot", "org/m, 25-shot")
    assert data.warnings("s") == []


def test_evaluations_with_other_seeds_alone_are_repetitions(tmp_path: Path) -> None:
    """On another day, too."""
    data = Data(tmp_path)
    evaluated(data, DATES[0], 0.2, 5, 1)
    evaluated(data, DATES[1], 0.3, 5, 2)
    assert (series_of(data), data.warnings("s")) == (("org/m",), [])


@pytest.mark.parametrize(
    ("arguments", "series"),
    [
        (({"revision": "step1000"}, {"revision": "step143000"}), ("org/m@step1000", "org/m@step143000")),
        (({"revision": "main"}, {"subfolder": "last"}), ("org/m", "org/m@main/last")),
        (({"revision": "None"}, {"revision": "v1", "subfolder": "a"}), ("org/m", "org/m@v1/a")),
    ],
)
def test_a_revision_of_a_model_is_another_model(
    tmp_path: Path, arguments: tuple[dict[str, str], dict[str, str]], series: tuple[str, ...]
) -> None:
    """Checkpoints of one repository lie in one folder, under one ``model_name``."""
    data = Data(tmp_path)
    for date, said in zip(DATES, arguments, strict=True):
        evaluated(data, date, 0.5, 0, 1234, **said)
    assert (series_of(data), data.warnings("s")) == (series, [])


def test_runs_that_few_settings_do_not_tell_apart_are_told(tmp_path: Path) -> None:
    """Where all lie in one table of names, and six settings differ."""
    data = Data(tmp_path)
    for place in range(6):
        trained(data, f"seed_{place}", **{f"beta{place}": 0.5}, weight_decay=0.1)
    (message,) = [one for one in data.warnings("s") if "differ in more" in one]
    assert message.startswith('data/s: 6 runs of the series "run" differ in more than seeds: ')


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
