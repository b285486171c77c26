"""CSV logs of Lightning and Keras: holes in rows, settings beside them, and what is torn or odd."""

from __future__ import annotations

import math
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from mutated_bytes import survives

from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.formats.trackers import metrics_csv

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.formats.runs import Unit

LIGHTNING = "epoch,step,train_loss,val_acc\n0,49,0.5,\n0,99,,0.25\n1,149,nan,\n1,199,,0.75\n"
KERAS = "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.1,2.3,0.2,2.1\n1,0.2,2.2,NA,NA\n2,0.3,2.0,0.35,1.9\n"
SETTINGS = (
    "act: !!python/name:torch.nn.modules.activation.ReLU ''\nbetas: !!python/tuple\n- 0.9\n- 0.99\nlr: 1e-3\n"
    "model: !!python/object:my.Model\n  hidden: 3\nname: null\nseed: 4\n"
    "x: !!python/object/apply:os.mkdir ['pwned']\n"
)


def write(file: Path, text: str) -> Path:
    """A file with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    return file


def only(*files: Path, wanted: Sequence[str] | None = None) -> tuple[Unit, LoggedRun]:
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


def told(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_a_folder_of_lightning(tmp_path: Path) -> None:
    """Run and group are the folders; a hole is no measurement, but ``nan`` is one."""
    folder = tmp_path / "my_model" / "version_3"
    unit, run = only(write(folder / "metrics.csv", LIGHTNING))
    assert (unit.path, unit.files) == (folder, (folder / "metrics.csv",))
    assert (run.name, run.group, run.step_name) == ("version_3", "my_model", "step")
    found = columns(run)
    assert found["epoch"] == [(49, 0), (99, 0), (149, 1), (199, 1)]
    assert found["val_acc"] == [(99, 0.25), (199, 0.75)]
    assert found["train_loss"][:1] == [(49, 0.5)]
    assert math.isnan(found["train_loss"][1][1])
    assert run.findings == ()


def test_the_default_name_of_lightning_names_nothing(tmp_path: Path) -> None:
    """Whoever gave no name to an experiment has none."""
    _, run = only(write(tmp_path / "lightning_logs" / "version_0" / "metrics.csv", LIGHTNING))
    assert (run.name, run.group) == ("version_0", "")


def test_settings_beside_run_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's tags are the text or tree that stands behind them."""
    monkeypatch.chdir(tmp_path)
    csv = write(tmp_path / "run" / "metrics.csv", LIGHTNING)
    unit, run = only(csv, write(tmp_path / "run" / "hparams.yaml", SETTINGS))
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


def test_broken_settings_are_a_finding(tmp_path: Path) -> None:
    """The curves are worth reading without them."""
    csv = write(tmp_path / "metrics.csv", LIGHTNING)
    _, run = only(csv, write(tmp_path / "hparams.yaml", "lr: [1\n"))
    assert told(run)[0].endswith("; the settings in this file are left out")
    assert run.config == {}


@pytest.mark.parametrize("name", ["training.log", "history.csv"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_log_of_keras(tmp_path: Path, name: str, between: str) -> None:
    """The epoch is the step, and NA is no measurement."""
    unit, run = only(write(tmp_path / name, KERAS.replace(",", between)))
    assert unit.path == tmp_path / name
    assert run.step_name == "epoch"
    assert columns(run) == {
        "accuracy": [(0, 0.1), (1, 0.2), (2, 0.3)],
        "loss": [(0, 2.3), (1, 2.2), (2, 2.0)],
        "val_accuracy": [(0, 0.2), (2, 0.35)],
        "val_loss": [(0, 2.1), (2, 1.9)],
    }
    assert (run.name, run.findings) == ("", ())


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("metrics.csv", "step,loss"),
        ("metrics.csv", "step,epoch,seed,loss"),
        ("table.csv", "step,epoch,loss"),
        ("table.csv", "epoch,loss"),
        ("table.csv", "epoch,model,loss,val_loss"),
        ("table.csv", "epoch,loss,accuracy"),
        ("table.csv", "epoch,accuracy,val_accuracy"),
        ("table.csv", "epoch,loss,val_f1"),
        ("notes.txt", "epoch"),
        ("table.csv", ""),
    ],
)
def test_what_is_left_to_others(tmp_path: Path, name: str, header: str) -> None:
    """A table that any tool may have written is a table."""
    assert metrics_csv.find_units([write(tmp_path / name, f"{header}\n1,2\n")]) == ()


def test_only_wanted_metrics(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    _, run = only(write(tmp_path / "a.csv", KERAS), wanted=["val_loss"])
    assert list(run.metrics) == ["val_loss"]


def test_odd_rows_are_counted(tmp_path: Path) -> None:
    """Rows of another width, words, missing steps and wrong bytes are told; a second header is not."""
    rows = [
        "0,1,0.5,",
        "0,2,0.5",
        "0,3,oops,0.5",
        ",,0.25,0.5",
        '"1",4,0.125,0.25',
        "epoch,step,train_loss,val_acc",
    ]
    file = write(tmp_path / "version_0" / "metrics.csv", "")
    text = "\ufeffepoch,step,train_loss,val_acc\r\n" + "\r\n".join(rows) + "\r\n1,5,0.0625,\x00\r\n"
    file.write_bytes(text.encode().replace(b"\x00", b"\xff"))
    _, run = only(file)
    found = columns(run)
    assert [value for _, value in found["train_loss"]] == [0.5, 0.25, 0.125, 0.0625]
    assert math.isnan(found["train_loss"][1][0])
    assert found["epoch"] == [(1, 0), (3, 0), (4, 1), (5, 1)]
    assert told(run) == [
        "1 row with another number of cells than the header: left out",
        "1 row without a step",
        "1 line with bytes that are not UTF-8: a replacement mark stands for them",
        '2 values that are no numbers in "train_loss" and "val_acc": left out',
    ]


def test_repeated_steps_are_handed_over(tmp_path: Path) -> None:
    """Training that goes on appends epochs again; whoever reduces them keeps the last."""
    _, run = only(write(tmp_path / "a.csv", KERAS + "2,0.4,1.9,0.4,1.8\n"))
    assert columns(run)["loss"][-2:] == [(2, 2.0), (2, 1.9)]


def test_many_rows(tmp_path: Path) -> None:
    """Values keep their order over the pieces that a long file is read in, within a small memory."""
    text = "step,epoch," + ",".join(f"m{place}" for place in range(10)) + "\n"
    text += "".join(f"{step},{step // 100}," + ",".join(["", "0.5"] * 5) + "\n" for step in range(25_000))
    unit = metrics_csv.find_units([write(tmp_path / "version_1" / "metrics.csv", text)])[0]
    tracemalloc.start()
    (run,) = metrics_csv.read(unit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.metrics["m9"].steps.tolist() == list(range(25_000))
    assert list(run.metrics) == ["epoch", "m1", "m3", "m5", "m7", "m9"]
    assert peak < 500e6 / 40


def test_every_tear_leaves_the_rows_before_it(tmp_path: Path) -> None:
    """Cut at any byte, no half number is taken for a whole one."""
    file = write(tmp_path / "version_0" / "metrics.csv", LIGHTNING)
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
            told(run)
            == ["the last line has no end and may be cut off: it was left out"] * cut_off
            + ["the file has a header and no rows, nothing was logged into it yet"] * empty
        )


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    csv, settings = write(tmp_path / "metrics.csv", LIGHTNING), write(tmp_path / "hparams.yaml", SETTINGS)
    (unit,) = metrics_csv.find_units([csv, settings])
    assert survives(csv, csv.read_bytes(), metrics_csv.read, unit) > 0.5
    csv.write_text(LIGHTNING, encoding="utf-8")
    assert survives(settings, settings.read_bytes(), metrics_csv.read, unit) == 1


def test_decimal_commas(tmp_path: Path) -> None:
    """A log that a spreadsheet wrote anew has them; where a column has points, a comma is none."""
    rows = '0;0,5;1,25e-1;2,5\n1;-,25;3;"1,5"\n2;;1,0;0.5\n'
    _, run = only(write(tmp_path / "log.csv", f"epoch;accuracy;loss;val_loss\n{rows}"))
    assert columns(run) == {
        "accuracy": [(0, 0.5), (1, -0.25)],
        "loss": [(0, 0.125), (1, 3), (2, 1)],
        "val_loss": [(2, 0.5)],
    }
    assert told(run) == [
        "4 values with a decimal comma: read as decimals",
        '2 values that are no numbers in "val_loss": left out',
    ]


def test_percentages_are_shares(tmp_path: Path) -> None:
    """A column with a % is read, and a value on the other scale is not: it may be off by a factor of 100."""
    text = "epoch,step,train_loss,val_acc\n0,49,0.5,51.2%\n0,99,,\n1,149,0.25,0.5 %\n1,199,,100%\n"
    _, run = only(write(tmp_path / "logs" / "version_0" / "metrics.csv", text))
    assert columns(run)["val_acc"] == [(49, 0.512), (149, 0.005), (199, 1.0)]
    assert run.findings == ()
    keras = "epoch,accuracy,loss,val_accuracy,val_loss\n0,51.2%,2,49%,2\n1,60,2,0,3\n2,0.6,2,48%,1\n"
    _, run = only(write(tmp_path / "history.csv", keras))
    assert [value for _, value in columns(run)["val_accuracy"]] == [0.49, 0, 0.48]
    assert [math.isnan(value) for _, value in columns(run)["accuracy"]] == [False, True, True]
    assert told(run) == ["2 values without %, where others of the metric have one: read as NaN"]


def test_numbers_are_read_as_they_are_printed(tmp_path: Path) -> None:
    """Words are no numbers, and a table with ± is no log."""
    text = 'epoch,step,loss,tokens,phase\n0,1,0.5,,warm\n0,2,**0.4**,"1,234",warm\n0,3,0.3,"2,468",main\n'
    _, run = only(write(tmp_path / "metrics.csv", text))
    assert columns(run)["tokens"] == [(2, 1234), (3, 2468)]
    assert [value for _, value in columns(run)["loss"]] == [0.5, 0.4, 0.3]
    assert run.findings == ()
    own = write(tmp_path / "own.csv", "epoch,acc,loss\n1,75.5 ± 0.4,0.5\n")
    assert metrics_csv.find_units([own]) == ()
