"""What ``reportgen describe`` tells of runs beside their values: settings, times, and numbers in names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import made_wandb_log as wandb
import pytest
from command_line import run_on_terminal
from made_projects import write_file
from test_describe_command import known, told

from reportgen.site.describe import format_duration, format_logged

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = 1_767_225_600.0
"""2026-01-01 in UTC, in seconds."""


def wandb_run(folder: Path, name: str, settings: dict[str, object], rows: int, code: int = 0) -> None:
    """A W&B run with a row a minute."""
    records = [wandb.run(settings, id_=name, name=name)]
    records += [wandb.history({"acc": row, "_timestamp": BEGIN + 60 * row}, row) for row in range(rows)]
    wandb.write(folder / f"run-{name}" / f"run-{name}.wandb", [*wandb.numbered(records), wandb.ended(code)])


def trainings(folder: Path, *paths: str) -> None:
    """Runs of a trainer, one in each folder."""
    for path in paths:
        rows = [{"step": step, "epoch": step / 10, "loss": sum(path.encode()) / step} for step in range(1, 6)]
        state = {"best_metric": None, "epoch": 0.5, "global_step": 5, "log_history": rows, "max_steps": 5}
        text = json.dumps({**state, "num_train_epochs": 1, "trial_params": None}, indent=2)
        write_file(folder / path / "trainer_state.json", f"{text}\n")


def test_runs_without_values_are_told_with_their_settings(tmp_path: Path) -> None:
    """What they are, what was set, and why they hold nothing; still nothing can be drawn."""
    wandb_run(tmp_path / "early", "sad-sun", {"lr": 0.1, "model": "small"}, 0, code=1)
    said = told(tmp_path, "early", code=1)
    assert said.startswith("early – Weights & Biases runs, without any values\n1 run in 1 file (")
    assert re.search(r"\nSettings  of the runs\n.*\nlr +0\.1\nmodel +small\n", said)
    assert "run-sad-sun.wandb: warning: the run failed: it ended with exit code 1.\n" in said
    assert said.endswith(
        "early: error: the runs hold no values yet. Wait for the first, or name other files with files:.\n"
    )
    (run,) = known(tmp_path, "early", code=1)["runs"]
    assert (run["series"], run["values"], run["config"]) == ("sad-sun", 0, {"lr": 0.1, "model": "small"})


def test_what_cannot_be_read_for_another_reason_is_no_run_without_values(tmp_path: Path) -> None:
    """Runs with values whose settings name something in vain."""
    wandb_run(tmp_path / "runs", "calm-sun", {}, 3)
    write_file(tmp_path / "runs" / "source.yml", "series_from: nothing\n")
    said = told(tmp_path, "runs", code=1)
    assert said.startswith("runs – cannot be read as it is\n")
    assert 'series_from: no run has "nothing"' in said


def test_settings_that_differ_are_told(tmp_path: Path) -> None:
    """What all runs share, what a run without values has and the seeds that stand above are left out."""
    for place, (name, kl) in enumerate((("a", 0.1), ("b", 0.2), ("c", 0.2))):
        wandb_run(tmp_path / "runs", name, {"seed": place, "kl": kl, "lr": 1}, 2)
    wandb_run(tmp_path / "runs", "d", {"dropout": 1}, 0)
    said = told(tmp_path, "runs")
    found = re.search(
        r"\nSettings  that differ between the runs; series_from: takes any of them\n(.*?)\n\n",
        said,
        re.DOTALL,
    )
    assert found
    assert [line.split(maxsplit=1) for line in found[1].split("\n")][1:] == [["kl", "0.1 and 0.2"]]
    assert [run["config"] for run in known(tmp_path, "runs")["runs"]][3] == {"dropout": 1}


def test_settings_that_json_cannot_hold_are_texts(tmp_path: Path) -> None:
    """A loss that may be endless is a setting, too."""
    wandb_run(tmp_path / "runs", "a", {"clip": float("inf"), "floor": float("nan")}, 2)
    (run,) = known(tmp_path, "runs")["runs"]
    assert run["config"] == {"clip": "Infinity", "floor": "NaN"}


def test_totals_that_are_not_finite_are_missing(tmp_path: Path) -> None:
    """Neither a number nor a crash."""
    write_file(tmp_path / "runs" / "a.csv", "model,benchmark,score\nA,sums,nan\nB,sums,0.5\n")
    write_file(tmp_path / "runs" / "source.yml", "form: totals\n")
    assert [one["value"] for one in known(tmp_path, "runs")["totals"]] == [None, 0.5]
    assert re.search(r"\nA +sums +score +–\n", told(tmp_path, "runs"))


def test_runs_are_told_with_their_times(tmp_path: Path) -> None:
    """When the first value was logged, and how long it took to the last."""
    wandb_run(tmp_path / "runs", "a", {}, 91)
    assert re.search(r" 0 to 90 +2026-01-01 00:00, 1 h 30 min\n", told(tmp_path, "runs"))
    (run,) = known(tmp_path, "runs")["runs"]
    assert (run["begins"], run["ends"]) == (BEGIN * 1000, (BEGIN + 90 * 60) * 1000)
    trainings(tmp_path / "states", "A")
    assert "UTC" not in told(tmp_path, "states")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "< 1 s"),
        (59.6, "1 min"),
        (3599, "59 min 59 s"),
        (3605, "1 h"),
        (90000, "1 d 1 h"),
        (1e8, "1,157 d 9 h"),
    ],
)
def test_durations_have_two_units(seconds: float, words: str) -> None:
    """What is small beside them is left out."""
    assert format_duration(seconds) == words


def test_times_that_no_calendar_has_are_not_told() -> None:
    """A sentinel is no time."""
    assert format_logged(None, None) == "–"
    assert format_logged(0.0, 1e18) == "–"
    assert format_logged(0.0, 0.0) == "1970-01-01 00:00"


@pytest.mark.parametrize(
    ("paths", "series"),
    [
        (("strict/run_1", "strict/run_2", "loose/run_1"), {"strict": 2, "loose": 1}),
        (("lightning_logs/version_0", "lightning_logs/version_1"), {"many": 2}),
        (("a.1_1", "a.1_2", "b_1"), {"a.1": 2, "b": 1}),
    ],
)
def test_numbers_may_count_repetitions(
    tmp_path: Path, paths: tuple[str, ...], series: dict[str, int]
) -> None:
    """It is only suggested, and what is suggested works."""
    trainings(tmp_path / "many", *paths)
    said = known(tmp_path, "many")
    assert len(said["series"]) == len(paths)
    settings = said["suggested"]["source.yml for repetitions"]
    shown = told(tmp_path, "many")
    assert f"many/source.yml  if the numbers in their names only count repetitions\n{settings}" in shown
    write_file(tmp_path / "many" / "source.yml", settings)
    after = known(tmp_path, "many")
    found = [one["series"] for one in after["runs"]]
    assert {name: found.count(name) for name in found} == series
    assert len({(one["series"], one["run"]) for one in after["runs"]}) == len(paths)
    assert after["suggested"]["source.yml for repetitions"] == ""


def test_numbers_of_runs_with_other_settings_count_no_repetitions(tmp_path: Path) -> None:
    """Lightning's ``version_2`` may be another learning rate as well as another seed."""
    for rates, series in (((0.1, 0.1, 0.1), 1), ((0.1, 0.1, 0.01), 0)):
        folder = tmp_path / f"many{series}"
        for place, rate in enumerate(rates):
            trainings(folder, f"version_{place}")
            write_file(
                folder / f"version_{place}" / "training_args.json", json.dumps({"learning_rate": rate})
            )
        settings = known(tmp_path, folder.name)["suggested"]["source.yml for repetitions"]
        assert settings.count("(?P<series>") == series


def test_tables_may_be_repetitions(tmp_path: Path) -> None:
    """Files of one table each, too."""
    for name in ("ppo_1", "ppo_2", "dqn_1"):
        write_file(tmp_path / "many" / f"{name}.csv", "step,loss\n1,2\n2,1\n")
    settings = known(tmp_path, "many")["suggested"]["source.yml for repetitions"]
    write_file(tmp_path / "many" / "source.yml", settings)
    assert [(one["series"], one["run"]) for one in known(tmp_path, "many")["runs"]] == [
        ("dqn", "1"),
        ("ppo", "1"),
        ("ppo", "2"),
    ]


def test_a_terminal_shows_what_is_read(tmp_path: Path) -> None:
    """Which is taken away in the end; elsewhere nothing of it is told."""
    trainings(tmp_path / "many", "a", "b")
    assert "Reading file 2: trainer_state.json" in run_on_terminal(tmp_path, "describe", "many")
    assert "Reading" not in told(tmp_path, "many")


def test_a_narrow_terminal_keeps_what_matters(tmp_path: Path) -> None:
    """Columns that have no room are named, and those that stay are not squeezed."""
    for name in ("a-name-that-goes-on-and-on", "another-name-that-goes-on"):
        wandb_run(tmp_path / "deep" / "folder" / name, name, {"seed": 1}, 9)
    said = run_on_terminal(tmp_path, "describe", "deep", NO_COLOR="1", TERM="dumb", COLUMNS="64")
    (line,) = (line for line in said.split("\n") if line.startswith("a-name-that"))
    assert line.split()[-3:] == ["0", "to", "8"]
    assert "A wider terminal has room for: metrics, logged (UTC) and where." in said
    wide = run_on_terminal(tmp_path, "describe", "deep", NO_COLOR="1", TERM="dumb", COLUMNS="200")
    assert "wider" not in wide
