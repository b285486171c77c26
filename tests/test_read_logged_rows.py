"""What pages of cases cannot say of rows that loggers write: chosen metrics, settings, memory, and damage."""

from __future__ import annotations

import json
import math
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from mutated_bytes import survives

from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.trackers import dvclive, metrics_csv, step_json, trainer_state

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

VERL = [
    {"step": 0, "data": {"val-core/math/acc/mean@1": 0.25}},
    {"step": 1, "elapsed_seconds": 5.5, "data": {"actor/lr": 1e-06, "critic/score/mean": 0.5}},
    {"step": 2, "elapsed_seconds": 9.0, "data": {"actor/lr": 2e-06, "critic/score/mean": math.nan}},
]


def write_json(file: Path, items: Sequence[Any]) -> Path:
    """A file with an object a line."""
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return file


def only_json(file: Path, wanted: Sequence[str] | None = None) -> LoggedRun:
    """The one run of a file."""
    (unit,) = step_json.find_units([file])
    assert (unit.format, unit.path, unit.files) == ("step_json", file, (file,))
    (run,) = step_json.read(unit, wanted)
    return run


def told_json(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_only_wanted_metrics_json(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    run = only_json(write_json(tmp_path / "metrics.jsonl", VERL), ["actor/lr"])
    assert list(run.metrics) == ["actor/lr"]


@pytest.mark.parametrize(
    "stamp", [1_700_000_000, 1_700_000_000_000, "2023-11-14T22:13:20", "2023-11-14T23:13:20+01:00"]
)
def test_times_of_every_kind(tmp_path: Path, stamp: object) -> None:
    """Seconds, milliseconds and dates become milliseconds since 1970 UTC, and are no metric."""
    run = only_json(write_json(tmp_path / "a.jsonl", [{"step": 1, "timestamp": stamp, "data": {"loss": 1}}]))
    times = run.metrics["loss"].times
    assert times is not None
    assert times.tolist() == [1.7e12]
    assert list(run.metrics) == ["loss"]


def test_a_first_line_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    """A line of verl with two hundred metrics is recognised by its beginning."""
    items = [{"step": 1, "data": {f"actor/metric_{place}": place / 2 for place in range(500)}}]
    file = write_json(tmp_path / "a.jsonl", items)
    assert file.stat().st_size > 8192
    assert len(only_json(file).metrics) == 500


def test_every_tear_leaves_the_lines_before_it(tmp_path: Path) -> None:
    """Cut at any byte, the whole lines are read, and the tear is told."""
    file = write_json(tmp_path / "a.jsonl", VERL)
    (unit,) = step_json.find_units([file])
    data = file.read_bytes()
    ends = [place for place, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(len(data) + 1):
        file.write_bytes(data[:cut])
        # A line without its end is whole where its last brace is there.
        whole = sum(end <= cut for end in ends)
        if not whole:
            words = (
                "its first line breaks off" if cut else "the file is empty, nothing was logged into it yet"
            )
            with pytest.raises(UnreadableError, match=words):
                list(step_json.read(unit))
            continue
        (run,) = step_json.read(unit)
        values = [len(points.values) for points in run.metrics.values()]
        assert sum(values) == (1, 4, 7)[whole - 1]
        torn = cut not in ends and cut - 1 not in ends
        assert (
            told_json(run)
            == ["the last line is torn: the writer was killed, or still writes; those before it are read"]
            * torn
        )


def test_memory_holds_numbers_not_objects(tmp_path: Path) -> None:
    """Ten thousand steps of ten metrics take a hundredth of what a million may."""
    items = [
        {"step": step, "data": {f"m{place}": step + place / 8 for place in range(10)}}
        for step in range(10_000)
    ]
    file = write_json(tmp_path / "a.jsonl", items)
    (unit,) = step_json.find_units([file])
    tracemalloc.start()
    (run,) = step_json.read(unit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(run.metrics["m9"].values) == 10_000
    assert peak < 500e6 / 100


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words_json(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    file = write_json(tmp_path / "a.jsonl", VERL)
    (unit,) = step_json.find_units([file])
    assert survives(file, file.read_bytes(), step_json.read, unit) > 0.5


LIGHTNING = "epoch,step,train_loss,val_acc\n0,49,0.5,\n0,99,,0.25\n1,149,nan,\n1,199,,0.75\n"
KERAS = "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.1,2.3,0.2,2.1\n1,0.2,2.2,NA,NA\n2,0.3,2.0,0.35,1.9\n"
SETTINGS = (
    "act: !!python/name:torch.nn.modules.activation.ReLU ''\nbetas: !!python/tuple\n- 0.9\n- 0.99\nlr: 1e-3\n"
    "model: !!python/object:my.Model\n  hidden: 3\nname: null\nseed: 4\n"
    "x: !!python/object/apply:os.mkdir ['pwned']\n"
)


def write_csv(file: Path, text: str) -> Path:
    """A file with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    return file


def only_csv(*files: Path, wanted: Sequence[str] | None = None) -> tuple[Unit, LoggedRun]:
    """The one run of files."""
    (unit,) = metrics_csv.find_units(files)
    assert unit.format == "metrics_csv"
    (run,) = metrics_csv.read(unit, wanted)
    return unit, run


def columns(run: LoggedRun) -> dict[str, list[tuple[float, float]]]:
    """Steps and values of every metric."""
    return {
        name: list(zip(points.steps.tolist(), points.values.tolist(), strict=True))
        for name, points in run.metrics.items()
    }


def told_csv(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_settings_beside_run_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's tags are the text or tree that stands behind them."""
    monkeypatch.chdir(tmp_path)
    csv = write_csv(tmp_path / "run" / "metrics.csv", LIGHTNING)
    unit, run = only_csv(csv, write_csv(tmp_path / "run" / "hparams.yaml", SETTINGS))
    assert unit.path == tmp_path / "run"
    assert run.config == {
        "act": "torch.nn.modules.activation.ReLU",
        "betas": "[0.9, 0.99]",
        "lr": 1e-3,
        "model.hidden": 3,
        "seed": 4,
        "x": '["pwned"]',
    }
    assert not (tmp_path / "pwned").exists()


def test_only_wanted_metrics_csv(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    _, run = only_csv(write_csv(tmp_path / "a.csv", KERAS), wanted=["val_loss"])
    assert list(run.metrics) == ["val_loss"]


def test_many_rows(tmp_path: Path) -> None:
    """Values keep their order over the pieces that a long file is read in, within a small memory."""
    text = "step,epoch," + ",".join(f"m{place}" for place in range(10)) + "\n"
    text += "".join(f"{step},{step // 100}," + ",".join(["", "0.5"] * 5) + "\n" for step in range(25_000))
    unit = metrics_csv.find_units([write_csv(tmp_path / "version_1" / "metrics.csv", text)])[0]
    tracemalloc.start()
    (run,) = metrics_csv.read(unit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.metrics["m9"].steps.tolist() == list(range(25_000))
    assert list(run.metrics) == ["epoch", "m1", "m3", "m5", "m7", "m9"]
    assert peak < 500e6 / 40


def test_every_tear_leaves_the_rows_before_it_csv(tmp_path: Path) -> None:
    """Cut at any byte, no half number is taken for a whole one."""
    file = write_csv(tmp_path / "version_0" / "metrics.csv", LIGHTNING)
    (unit,) = metrics_csv.find_units([file])
    (whole,) = metrics_csv.read(unit)
    data = file.read_bytes()
    for cut in range(len(data)):
        file.write_bytes(data[:cut])
        rows = data[:cut].count(b"\n") - 1
        if rows < 0:
            words = (
                "its first line breaks off" if cut else "the file is empty, nothing was logged into it yet"
            )
            with pytest.raises(UnreadableError, match=words):
                list(metrics_csv.read(unit))
            continue
        (run,) = metrics_csv.read(unit)
        assert columns(run).get("epoch", []) == columns(whole)["epoch"][:rows]
        cut_off = not data[:cut].endswith(b"\n")
        empty = not rows and not cut_off
        assert (
            told_csv(run)
            == ["the last line has no end and may be cut off: it was left out"] * cut_off
            + ["the file has a header and no rows, nothing was logged into it yet"] * empty
        )


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words_csv(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    csv, settings = (
        write_csv(tmp_path / "metrics.csv", LIGHTNING),
        write_csv(tmp_path / "hparams.yaml", SETTINGS),
    )
    (unit,) = metrics_csv.find_units([csv, settings])
    assert survives(csv, csv.read_bytes(), metrics_csv.read, unit) > 0.5
    csv.write_text(LIGHTNING, encoding="utf-8")
    assert survives(settings, settings.read_bytes(), metrics_csv.read, unit) == 1


# As dvclive 3.49.1 wrote them for log_params, log_metric("train/loss", …), log_metric("final", …, plot=False)
# and log_metric("val/acc(top-1)", …, timestamp=True).
FOLDER = {
    "plots/metrics/train/loss.tsv": "step\tloss\n0\t1.0\n1\t0.5\n2\t0.3333333333333333\n",
    "plots/metrics/val/acc(top-1).tsv": (
        "timestamp\tstep\tacc(top-1)\n1795287396297\t0\t0.0\n1795287396301\t1\tnan\n1795287396304\t2\t0.4\n"
    ),
    "metrics.json": (
        '{\n    "train": {\n        "loss": 0.3333333333333333\n    },\n    "val": {\n'
        '        "acc(top-1)": 0.4\n    },\n    "step": 2,\n    "final": 0.5\n}\n'
    ),
    "params.yaml": "lr: 0.1\nseed: 3\nopt:\n  name: adam\n",
}


def write_dvclive(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Files with their folders, in the order of a walk."""
    files = [folder / name for name in sorted(texts)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts[file.relative_to(folder).as_posix()], encoding="utf-8", newline="")
    return files


def only_dvclive(files: Collection[Path], wanted: Collection[str] | None = None) -> tuple[Unit, LoggedRun]:
    """The one run of files."""
    (unit,) = dvclive.find_units(list(files))
    (run,) = dvclive.read(unit, wanted)
    return unit, run


def column_dvclive(run: LoggedRun, name: str) -> list[tuple[float, float]]:
    """Steps and values of a metric."""
    points = run.metrics[name]
    return list(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def told_dvclive(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_a_folder_of_today(tmp_path: Path) -> None:
    """Tables are metrics, parameters the configuration, and a metric without a table has its last value."""
    files = write_dvclive(tmp_path / "dvclive", FOLDER)
    unit, run = only_dvclive([*files, tmp_path / "dvclive" / "report.html"])
    assert (unit.format, unit.path) == ("dvclive", tmp_path / "dvclive")
    assert set(unit.files) == set(files)
    assert column_dvclive(run, "train/loss") == [(0, 1.0), (1, 0.5), (2, 0.3333333333333333)]
    times = run.metrics["val/acc(top-1)"].times
    assert times is not None
    assert times.tolist() == [1795287396297, 1795287396301, 1795287396304]
    assert math.isnan(column_dvclive(run, "val/acc(top-1)")[1][1])
    assert run.metrics["train/loss"].times is None
    assert column_dvclive(run, "final") == [(2, 0.5)]
    assert run.config == {"lr": 0.1, "seed": 3, "opt.name": "adam"}
    assert told_dvclive(run) == ["metrics without a table of their own have their last value only"]


def test_only_wanted_metrics_dvclive(tmp_path: Path) -> None:
    """Tables that nobody asks for are not even opened."""
    files = write_dvclive(tmp_path, FOLDER)
    (unit,) = dvclive.find_units(files)
    (tmp_path / "plots/metrics/train/loss.tsv").unlink()
    (run,) = dvclive.read(unit, ["val/acc(top-1)"])
    assert list(run.metrics) == ["val/acc(top-1)"]
    assert run.findings == ()


def test_every_tear_leaves_the_rows_before_it_dvclive(tmp_path: Path) -> None:
    """Cut at any byte, no half number is taken for a whole one."""
    (file,) = write_dvclive(tmp_path, {"plots/metrics/loss.tsv": FOLDER["plots/metrics/train/loss.tsv"]})
    data = file.read_bytes()
    rows = [(0, 1.0), (1, 0.5), (2, 0.3333333333333333)]
    for cut in range(data.index(b"\n") + 1, len(data) + 1):
        file.write_bytes(data[:cut])
        _, run = only_dvclive([file])
        whole = data[:cut].count(b"\n") - 1
        assert (column_dvclive(run, "loss") if whole else []) == rows[:whole]
        cut_off = not data[:cut].endswith(b"\n")
        assert told_dvclive(run) == ["the last line has no end and may be cut off: it was left out"] * cut_off


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words_dvclive(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    files = write_dvclive(tmp_path, FOLDER)
    (unit,) = dvclive.find_units(files)
    for file in files:
        whole = file.read_bytes()
        assert survives(file, whole, dvclive.read, unit) > 0.2
        file.write_bytes(whole)


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


def write_state(file: Path, text: str) -> Path:
    """A file with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def only_state(*files: Path) -> tuple[Unit, LoggedRun]:
    """The one run of files."""
    (unit,) = trainer_state.find_units(files)
    (run,) = trainer_state.read(unit)
    return unit, run


def told_state(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def column_state(run: LoggedRun, name: str) -> list[tuple[float, float]]:
    """Steps and values of a metric."""
    points = run.metrics[name]
    return list(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def test_only_wanted_metrics_state(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    file = write_state(tmp_path / "trainer_state.json", state(ROWS))
    (run,) = trainer_state.read(trainer_state.find_units([file])[0], ("loss", "other"))
    assert list(run.metrics) == ["loss"]


def test_rows_of_many_shapes_agree_with_rows_of_one(tmp_path: Path) -> None:
    """However many sets of keys there are, values stand in the order of writing."""
    rows = [{"step": place, "loss": place / 2, f"only_{place}": 1} for place in range(400)]
    _, run = only_state(write_state(tmp_path / "trainer_state.json", state(rows)))
    assert column_state(run, "loss") == [(place, place / 2) for place in range(400)]
    assert len(run.metrics) == 401


def test_rows_that_nest_lists_of_objects(tmp_path: Path) -> None:
    """A long history is parsed in pieces, which may seem to end inside a row, or in a text."""
    within = [{"a": 1}, {"b": '}, {"step": 9}, {'}] * 40
    rows = [{"step": place, "loss": place / 2, "within": within} for place in range(600)]
    text = state(rows)
    assert len(text) > 1 << 20
    _, run = only_state(write_state(tmp_path / "trainer_state.json", text))
    assert column_state(run, "loss") == [(place, place / 2) for place in range(600)]
    assert run.findings == ()


def checkpoints(folder: Path, **texts: str) -> list[Path]:
    """A folder of checkpoints, in the order of a walk."""
    return [
        write_state(folder / name.replace("_", "-") / "trainer_state.json", text)
        for name, text in texts.items()
    ]


def test_settings_come_from_the_trial_and_from_files_beside(tmp_path: Path) -> None:
    """Arguments in JSON and the trial of a search are the run's configuration; pickles are never opened."""
    (file,) = checkpoints(tmp_path, checkpoint_2=state(ROWS, trial_name="t3", trial_params={"lr": 1e-5}))
    arguments = write_state(
        tmp_path / "training_args.json", '{"seed": 7, "optim": {"name": "adam", "betas": [1, 2]}}'
    )
    model = write_state(file.with_name("config.json"), '{"hidden_size": 64}')
    pickled = write_state(file.with_name("training_args.bin"), "not looked at")
    unit, run = only_state(file, arguments, model, pickled)
    assert unit.files == (file, arguments)
    assert run.name == "t3"
    wanted = {"seed": 7, "optim.name": "adam", "optim.betas": "[1, 2]", "lr": 1e-5, "trial_name": "t3"}
    assert run.config == {**wanted, "max_steps": 2, "num_train_epochs": 1}


def test_every_tear_leaves_the_rows_before_it_state(tmp_path: Path) -> None:
    """Cut at any byte, what was whole is read and nothing is invented."""
    text = state(ROWS)
    file = tmp_path / "trainer_state.json"
    seen = set()
    for cut in range(len(text) - 2):
        file.write_text(text[:cut], encoding="utf-8")
        try:
            _, run = only_state(file)
        except UnreadableError:
            assert "\n    }" not in text[:cut]
            continue
        rows = len(run.metrics["epoch"].steps)
        seen.add(rows)
        assert rows == text[:cut].count("\n    }")
        kept = "the 1 whole row before is" if rows == 1 else f"the {rows} whole rows before are"
        assert told_state(run) == [f"the file is torn: its JSON breaks off in the middle; {kept} read"]
    assert seen == {1, 2, 3, 4}
    with pytest.raises(UnreadableError, match="the file is empty"):
        only_state(write_state(file, ""))


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words_state(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    file = write_state(tmp_path / "trainer_state.json", state(ROWS))
    unit = Unit("trainer_state", tmp_path, (file,))
    assert survives(file, file.read_bytes(), trainer_state.read, unit) > 0.125
