"""The Trainer's state: its history as metrics, its checkpoints as one run, and what is torn or odd."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from mutated_bytes import survives

from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.trackers import trainer_state

if TYPE_CHECKING:
    from pathlib import Path

ROWS: list[dict[str, Any]] = [
    {"epoch": 0.5, "grad_norm": 1.25, "loss": 2.0, "rewards/format_func": 0.5, "step": 1},
    {"epoch": 0.5, "eval_loss": 1.75, "eval_runtime": 3.0, "step": 1},
    {"epoch": 1.0, "grad_norm": math.nan, "loss": 1.5, "rewards/format_func": 0.75, "step": 2},
    {"epoch": 1.0, "train_loss": 1.75, "train_runtime": 9.0, "step": 2},
]


def state(rows: list[Any], **more: Any) -> str:  # noqa: ANN401 - whatever stands in a state
    """A state as the Trainer writes it."""
    steps = [row["step"] for row in rows if isinstance(row, dict) and isinstance(row.get("step"), int)]
    last = {"global_step": max(steps, default=0), "log_history": rows, "max_steps": 2, "num_train_epochs": 1}
    return (
        json.dumps({"best_metric": None, "epoch": 1.0, **last, "trial_params": None, **more}, indent=2) + "\n"
    )


def write(file: Path, text: str) -> Path:
    """A file with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def only(*files: Path) -> tuple[Unit, LoggedRun]:
    """The one run of files."""
    (unit,) = trainer_state.find_units(files)
    (run,) = trainer_state.read(unit)
    return unit, run


def told(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def column(run: LoggedRun, name: str) -> list[tuple[float, float]]:
    """Steps and values of a metric."""
    points = run.metrics[name]
    return list(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def test_merge_conflict_marks_are_named(tmp_path: Path) -> None:
    """As in every other file of data."""
    whole = state(ROWS)
    middle = whole.index('"grad_norm"')
    text = f"{whole[:middle]}\n<<<<<<< HEAD\n=======\n>>>>>>> other\n{whole[middle:]}"
    write(tmp_path / "run/trainer_state.json", text)
    line = text[: text.index("<<<<<<<")].count("\n") + 1
    done = call(tmp_path, "describe", "run")
    assert done.returncode == 1
    said = f"run/trainer_state.json:{line}: error: this line is a merge conflict mark of Git. Keep one"
    assert said in done.stdout + done.stderr


def test_history_becomes_metrics(tmp_path: Path) -> None:
    """Each key but the step is a metric, in the order of writing, with rows of other keys between."""
    file = write(tmp_path / "run" / "trainer_state.json", state(ROWS))
    unit, run = only(file)
    assert (unit.format, unit.path, unit.files) == ("trainer_state", file.parent, (file,))
    assert column(run, "loss") == [(1, 2.0), (2, 1.5)]
    assert column(run, "eval_loss") == [(1, 1.75)]
    assert column(run, "epoch") == [(1, 0.5), (1, 0.5), (2, 1.0), (2, 1.0)]
    assert column(run, "rewards/format_func") == [(1, 0.5), (2, 0.75)]
    assert math.isnan(column(run, "grad_norm")[1][1])
    assert "step" not in run.metrics
    assert run.config == {"max_steps": 2, "num_train_epochs": 1}
    assert (run.step_name, run.findings) == ("step", ())


def test_only_wanted_metrics(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    file = write(tmp_path / "trainer_state.json", state(ROWS))
    (run,) = trainer_state.read(trainer_state.find_units([file])[0], ("loss", "other"))
    assert list(run.metrics) == ["loss"]


def test_odd_cells_are_dropped_and_counted(tmp_path: Path) -> None:
    """Numbers as text are numbers, null is nothing, words and lists are counted; rows are kept in order."""
    rows = [
        {"step": 1, "loss": "0.5", "tag": "a"},
        {"step": "2", "loss": "NaN", "kl": 10**400},
        {"step": 3, "loss": [1], "kl": True},
        {"step": 4, "loss": None},
        {"loss": -0.0},
        "no row",
        {"step": 6, "loss": "oops", "kl": "-Infinity"},
    ]
    _, run = only(write(tmp_path / "trainer_state.json", state(rows)))
    steps, values = zip(*column(run, "loss"), strict=True)
    assert steps[:2] == (1, 2)
    assert values[0] == 0.5
    assert math.isnan(values[1])
    assert math.isnan(steps[2])
    assert math.copysign(1, values[2]) == -1
    assert column(run, "kl") == [(3, 1.0), (6, -math.inf)]
    assert "tag" not in run.metrics
    assert told(run) == [
        '3 values that are no numbers in "kl" and "loss": left out',
        "1 row that is no object: left out",
        "1 row without a step",
    ]


def test_rows_of_many_shapes_agree_with_rows_of_one(tmp_path: Path) -> None:
    """However many sets of keys there are, values stand in the order of writing."""
    rows = [{"step": place, "loss": place / 2, f"only_{place}": 1} for place in range(400)]
    _, run = only(write(tmp_path / "trainer_state.json", state(rows)))
    assert column(run, "loss") == [(place, place / 2) for place in range(400)]
    assert len(run.metrics) == 401


def test_rows_that_nest_lists_of_objects(tmp_path: Path) -> None:
    """A long history is parsed in pieces, which may seem to end inside a row, or in a text."""
    within = [{"a": 1}, {"b": '}, {"step": 9}, {'}] * 40
    rows = [{"step": place, "loss": place / 2, "within": within} for place in range(600)]
    text = state(rows)
    assert len(text) > 1 << 20
    _, run = only(write(tmp_path / "trainer_state.json", text))
    assert column(run, "loss") == [(place, place / 2) for place in range(600)]
    assert run.findings == ()


def test_a_renamed_file_is_known_by_its_content(tmp_path: Path) -> None:
    """People collect states of many runs in one folder under names of their own."""
    first = write(tmp_path / "a.json", state(ROWS))
    second = write(tmp_path / "b.json", state(ROWS))
    other = write(tmp_path / "c.json", '{"history": []}')
    assert [unit.path for unit in trainer_state.find_units([first, second, other])] == [first, second]


def checkpoints(folder: Path, **texts: str) -> list[Path]:
    """A folder of checkpoints, in the order of a walk."""
    return [
        write(folder / name.replace("_", "-") / "trainer_state.json", text) for name, text in texts.items()
    ]


def test_the_newest_checkpoint_speaks_for_its_run(tmp_path: Path) -> None:
    """Each checkpoint repeats what was logged before it, so one of them is enough."""
    files = checkpoints(tmp_path / "run", checkpoint_1=state(ROWS[:2]), checkpoint_2=state(ROWS))
    unit, run = only(*files)
    assert unit.path == tmp_path / "run"
    assert unit.files == (files[1], files[0])
    assert len(column(run, "loss")) == 2
    assert not run.findings


def test_a_torn_checkpoint_is_told_and_the_one_before_read(tmp_path: Path) -> None:
    """A run that was killed while it saved has a whole checkpoint before the torn one."""
    whole = state(ROWS)
    files = checkpoints(tmp_path, checkpoint_9=state(ROWS[:2]), checkpoint_10=whole[:150], checkpoint_11="")
    _, run = only(*files)
    assert column(run, "loss") == [(1, 2.0)]
    found = ("the file is empty", "the file is torn: its JSON breaks off in the middle")
    assert told(run) == [f"{what}; checkpoint-9/trainer_state.json is read instead" for what in found]
    assert [finding.path.parent.name for finding in run.findings] == ["checkpoint-11", "checkpoint-10"]


def test_a_checkpoint_that_cannot_be_read_leaves_the_one_before(tmp_path: Path) -> None:
    """As a pointer of Git LFS; what is read is told, and the next step."""
    pointer = "version https://git-lfs.github.com/spec/v1\n"
    files = checkpoints(tmp_path, checkpoint_9=state(ROWS[:2]), checkpoint_10=pointer)
    _, run = only(*files)
    assert column(run, "loss") == [(1, 2.0)]
    found = "it is a Git LFS pointer, not the data themselves"
    assert told(run) == [f"{found}: checkpoint-9/trainer_state.json is read instead. Run git lfs pull"]
    torn = state(ROWS)[:-20]
    _, run = only(*checkpoints(tmp_path / "torn", checkpoint_9=torn, checkpoint_10=pointer))
    assert told(run)[0] == f"{found}: left out. Run git lfs pull"
    with pytest.raises(UnreadableError, match="Git LFS pointer"):
        only(*checkpoints(tmp_path / "none", checkpoint_9="{", checkpoint_10=pointer))


def test_the_state_at_the_end_of_training_comes_before_checkpoints(tmp_path: Path) -> None:
    """The Trainer writes a last state beside the checkpoints; a later checkpoint counts more."""
    end = write(tmp_path / "end" / "trainer_state.json", state(ROWS))
    _, run = only(end, *checkpoints(tmp_path / "end", checkpoint_1=state(ROWS[:2])))
    assert "train_loss" in run.metrics
    early = write(tmp_path / "resumed" / "trainer_state.json", state(ROWS[:2]))
    _, run = only(early, *checkpoints(tmp_path / "resumed", checkpoint_2=state(ROWS)))
    assert "train_loss" in run.metrics


def test_settings_come_from_the_trial_and_from_files_beside(tmp_path: Path) -> None:
    """Arguments in JSON and the trial of a search are the run's configuration; pickles are never opened."""
    (file,) = checkpoints(tmp_path, checkpoint_2=state(ROWS, trial_name="t3", trial_params={"lr": 1e-5}))
    arguments = write(
        tmp_path / "training_args.json", '{"seed": 7, "optim": {"name": "adam", "betas": [1, 2]}}'
    )
    model = write(file.with_name("config.json"), '{"hidden_size": 64}')
    pickled = write(file.with_name("training_args.bin"), "not looked at")
    unit, run = only(file, arguments, model, pickled)
    assert unit.files == (file, arguments)
    assert run.name == "t3"
    wanted = {"seed": 7, "optim.name": "adam", "optim.betas": "[1, 2]", "lr": 1e-5, "trial_name": "t3"}
    assert run.config == {**wanted, "max_steps": 2, "num_train_epochs": 1}


def test_broken_settings_are_a_finding(tmp_path: Path) -> None:
    """The run is worth reading without them."""
    file = write(tmp_path / "trainer_state.json", state(ROWS))
    _, run = only(file, write(tmp_path / "args.json", '{"seed": '))
    assert told(run) == ["this is no whole JSON; the settings in it are left out"]


def test_every_tear_leaves_the_rows_before_it(tmp_path: Path) -> None:
    """Cut at any byte, what was whole is read and nothing is invented."""
    text = state(ROWS)
    file = tmp_path / "trainer_state.json"
    seen = set()
    for cut in range(len(text) - 2):
        file.write_text(text[:cut], encoding="utf-8")
        try:
            _, run = only(file)
        except UnreadableError:
            assert "\n    }" not in text[:cut]
            continue
        rows = len(run.metrics["epoch"].steps)
        seen.add(rows)
        assert rows == text[:cut].count("\n    }")
        kept = "the 1 whole row before is" if rows == 1 else f"the {rows} whole rows before are"
        assert told(run) == [f"the file is torn: its JSON breaks off in the middle; {kept} read"]
    assert seen == {1, 2, 3, 4}
    with pytest.raises(UnreadableError, match="the file is empty"):
        only(write(file, ""))


def test_a_pointer_of_git_lfs_says_what_to_do(tmp_path: Path) -> None:
    """The data are not there until they are fetched."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    file = write(tmp_path / "trainer_state.json", pointer)
    with pytest.raises(UnreadableError, match="Git LFS pointer") as caught:
        only(file)
    assert caught.value.next_step == "Run git lfs pull"


def test_bytes_that_are_not_utf8_are_replaced_and_told(tmp_path: Path) -> None:
    """One wrong byte in a path does not cost a run."""
    file = tmp_path / "trainer_state.json"
    file.write_bytes(state(ROWS, trial_name="x").encode().replace(b'"x"', b'"\xff"'))
    _, run = only(file)
    assert run.name == "\ufffd"
    assert told(run) == ["some bytes of the file are not UTF-8: a replacement mark stands for them"]


def test_a_state_without_a_history_is_refused(tmp_path: Path) -> None:
    """A file of that name need not be one."""
    with pytest.raises(UnreadableError, match="no list log_history"):
        only(write(tmp_path / "trainer_state.json", "[1, 2]"))


def test_any_name_will_do_where_a_user_says_what_it_is(tmp_path: Path) -> None:
    """Asked for by name, a state may even be called like a file of settings."""
    file = write(tmp_path / "args.json", state(ROWS))
    (run,) = trainer_state.read(Unit("trainer_state", file, (file,)))
    assert len(column(run, "loss")) == 2


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    file = write(tmp_path / "trainer_state.json", state(ROWS))
    unit = Unit("trainer_state", tmp_path, (file,))
    assert survives(file, file.read_bytes(), trainer_state.read, unit) > 0.125
