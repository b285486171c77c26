"""DVCLive folders of every age: their tables, last values and parameters, and what is torn or odd."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from mutated_bytes import survives

from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.trackers import dvclive

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

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

UNFILLED = (
    ("", "the file is empty, nothing was logged into it yet: left out"),
    (
        "version https://git-lfs.github.com/spec/v1\n",
        "it is a Git LFS pointer, not the data themselves: left out. Run git lfs pull",
    ),
)


def write(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Files with their folders, in the order of a walk."""
    files = [folder / name for name in sorted(texts)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts[file.relative_to(folder).as_posix()], encoding="utf-8", newline="")
    return files


def only(files: Collection[Path], wanted: Collection[str] | None = None) -> tuple[Unit, LoggedRun]:
    """The one run of files."""
    (unit,) = dvclive.find_units(list(files))
    (run,) = dvclive.read(unit, wanted)
    return unit, run


def column(run: LoggedRun, name: str) -> list[tuple[float, float]]:
    """Steps and values of a metric."""
    points = run.metrics[name]
    return list(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def told(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_a_folder_of_today(tmp_path: Path) -> None:
    """Tables are metrics, parameters the configuration, and a metric without a table has its last value."""
    files = write(tmp_path / "dvclive", FOLDER)
    unit, run = only([*files, tmp_path / "dvclive" / "report.html"])
    assert (unit.format, unit.path) == ("dvclive", tmp_path / "dvclive")
    assert set(unit.files) == set(files)
    assert column(run, "train/loss") == [(0, 1.0), (1, 0.5), (2, 0.3333333333333333)]
    times = run.metrics["val/acc(top-1)"].times
    assert times is not None
    assert times.tolist() == [1795287396297, 1795287396301, 1795287396304]
    assert math.isnan(column(run, "val/acc(top-1)")[1][1])
    assert run.metrics["train/loss"].times is None
    assert column(run, "final") == [(2, 0.5)]
    assert run.config == {"lr": 0.1, "seed": 3, "opt.name": "adam"}
    assert told(run) == ["metrics without a table of their own have their last value only"]


@pytest.mark.parametrize("folder", ["metrics/", "scalars/", ""])
def test_folders_of_older_versions(tmp_path: Path, folder: str) -> None:
    """Tables lay in other folders, and each row had its time."""
    table = "timestamp\tstep\tacc\n1651005963170\t6\t0.176\n1651005974309\t7\t0.2092\n"
    files = write(tmp_path / "run", {f"{folder}acc.tsv": table})
    unit, run = only(files)
    assert unit.path == tmp_path / "run"
    assert column(run, "acc") == [(6, 0.176), (7, 0.2092)]
    assert run.findings == ()


def test_nested_names_in_an_old_folder(tmp_path: Path) -> None:
    """A metric with a slash in its name lies deeper, below a folder with something else of the run."""
    table = "timestamp\tstep\tloss\n1651005963170\t6\t0.5\n"
    _, run = only(write(tmp_path, {"scalars/train/loss.tsv": table, "summary.json": '{"loss": 0.5}'}))
    assert list(run.metrics) == ["train/loss"]


def test_many_runs_below_a_folder_called_metrics(tmp_path: Path) -> None:
    """A folder of that name further up is somebody's, not DVCLive's."""
    table = "step\tloss\n0\t0.5\n"
    files = write(tmp_path, {"metrics/a/loss.tsv": table, "metrics/b/loss.tsv": table})
    assert [unit.path.name for unit in dvclive.find_units(files)] == ["a", "b"]


def test_a_table_with_times_alone(tmp_path: Path) -> None:
    """Without a column for the step there is no step, but a time."""
    _, run = only(write(tmp_path, {"scalars/loss.tsv": "timestamp\tloss\n1651005963170\t0.5\n"}))
    assert math.isnan(run.metrics["loss"].steps[0])
    assert run.metrics["loss"].times is not None


def test_last_values_alone(tmp_path: Path) -> None:
    """A run that logged no curve has its last values, if its parameters show whose it is."""
    texts = {"metrics.json": '{"step": 4, "acc": 0.5, "word": "a"}', "params.yaml": "lr: 0.5\n"}
    _, run = only(write(tmp_path, texts))
    assert {name: column(run, name) for name in run.metrics} == {"acc": [(4, 0.5)]}


def test_what_is_left_to_others(tmp_path: Path) -> None:
    """Tables of other shapes and summaries of other tools are not ours."""
    texts = {
        "a.tsv": "step\tloss\n0\t1\n",
        "loss.tsv": "step\tloss\tacc\n0\t1\t2\n",
        "acc.tsv": "epoch\tacc\n0\t1\n",
        "metrics.json": '{"step": 1}',
        "deep/params.yaml": "a: 1\n",
    }
    assert dvclive.find_units(write(tmp_path, texts)) == ()


def test_only_wanted_metrics(tmp_path: Path) -> None:
    """Tables that nobody asks for are not even opened."""
    files = write(tmp_path, FOLDER)
    (unit,) = dvclive.find_units(files)
    (tmp_path / "plots/metrics/train/loss.tsv").unlink()
    (run,) = dvclive.read(unit, ["val/acc(top-1)"])
    assert list(run.metrics) == ["val/acc(top-1)"]
    assert run.findings == ()


def test_odd_rows_are_counted(tmp_path: Path) -> None:
    """Words among numbers and rows of another width are told, steps that come twice handed over."""
    table = "step\tloss\r\n0\t1\r\n1\tbest\r\n\r\n0\t2\r\n3\r\nx\tInfinity\r\n"
    _, run = only(write(tmp_path, {"plots/metrics/loss.tsv": table}))
    assert column(run, "loss")[:2] == [(0, 1), (0, 2)]
    assert math.isnan(run.metrics["loss"].steps[2])
    assert told(run) == [
        "1 line with another number of columns: left out",
        '1 value that is no number in "loss": left out',
    ]


def test_every_tear_leaves_the_rows_before_it(tmp_path: Path) -> None:
    """Cut at any byte, no half number is taken for a whole one."""
    (file,) = write(tmp_path, {"plots/metrics/loss.tsv": FOLDER["plots/metrics/train/loss.tsv"]})
    data = file.read_bytes()
    rows = [(0, 1.0), (1, 0.5), (2, 0.3333333333333333)]
    for cut in range(data.index(b"\n") + 1, len(data) + 1):
        file.write_bytes(data[:cut])
        _, run = only([file])
        whole = data[:cut].count(b"\n") - 1
        assert (column(run, "loss") if whole else []) == rows[:whole]
        cut_off = not data[:cut].endswith(b"\n")
        assert told(run) == ["the last line has no end and may be cut off: it was left out"] * cut_off


def test_torn_last_values_and_parameters_are_told(tmp_path: Path) -> None:
    """The curves are worth reading without them; a tag in the parameters runs nothing."""
    texts = {**FOLDER, "metrics.json": '{"step": 2, "fi', "params.yaml": "a: [1, 2\n"}
    _, run = only(write(tmp_path, texts))
    assert "train/loss" in run.metrics
    first, second = told(run)
    assert first == "the last values are torn or no JSON: left out"
    assert second.endswith("; the settings in this file are left out")


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    """A file may change between looking and reading."""
    (file,) = write(tmp_path, {"plots/metrics/loss.tsv": "step\tloss\n"})
    (unit,) = dvclive.find_units([file])
    for text, words in (
        ("", "the file is empty, nothing was logged into it yet"),
        ("step\tlo", "its first line breaks off, so it holds no whole value yet"),
        ("1\t2\n", "does not name a step"),
        ("version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UnreadableError, match=words):
            list(dvclive.read(unit))


@pytest.mark.parametrize(("text", "words"), UNFILLED)
def test_a_table_that_holds_nothing_is_told(tmp_path: Path, text: str, words: str) -> None:
    """It is no table of something else; of its metric the last value is known, and the rest is read."""
    files = write(
        tmp_path,
        {
            "plots/metrics/acc.tsv": text,
            "plots/metrics/loss.tsv": "step\tloss\n1\t0.5\n",
            "metrics.json": '{"acc": 0.25, "step": 9}',
        },
    )
    _, run = only(files)
    assert (column(run, "loss"), column(run, "acc")) == ([(1, 0.5)], [(9, 0.25)])
    assert told(run) == ["metrics without a table of their own have their last value only", words]


def test_a_file_that_a_user_names_wrongly(tmp_path: Path) -> None:
    """Asked for by name, a file of another name is refused in words."""
    (file,) = write(tmp_path, {"notes.txt": "step\tnotes\n"})
    with pytest.raises(UnreadableError, match="its name is none that DVCLive gives"):
        list(dvclive.read(Unit("dvclive", file, (file,))))


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    files = write(tmp_path, FOLDER)
    (unit,) = dvclive.find_units(files)
    for file in files:
        whole = file.read_bytes()
        assert survives(file, whole, dvclive.read, unit) > 0.2
        file.write_bytes(whole)
