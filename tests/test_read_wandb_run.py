"""Runs of W&B on disk: what was logged is what is read, up to where the log is torn."""

from __future__ import annotations

import math
import struct
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import made_wandb_log as made
import numpy as np
import pytest
from mutated_bytes import VARIANTS, mutations, survives
from tries import tries

from reportgen.formats import run_data
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.trackers import wandb, wandb_history
from reportgen.formats.trackers.wandb import RecordLog

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

FOLDER: Final = "offline-run-20260131_101112-abc"
SETTINGS: Final = {
    "_wandb": {"t": {"1": [1]}},
    "lr": 0.001,
    "seed": 7,
    "model": {"name": "gpt", "sizes": [1, 2]},
    "amp": True,
    "none": None,
    "word": "ü",
}
TORN: Final = "the last record is torn: the run was killed while writing, or is still running"
ROW: Final[dict[str, Any]] = {
    "loss": 0.3333333333333333,
    "train": {"acc": 0.1, "deep": {"x": -2}},
    "huge": 10**30,
    "nan": math.nan,
    "inf": -math.inf,
    "flag": True,
    "text": "words",
    "nothing": None,
    "list": [1, 2],
}


def rows(count: int = 3) -> list[bytes]:
    """Rows of one metric at steps 0, 1, 2 and so on."""
    return [
        made.history({"loss": 0.5 / (step + 1), "_timestamp": 1700000000 + step, "_step": step}, step)
        for step in range(count)
    ]


def written(folder: Path, records: Iterable[bytes], name: str = FOLDER) -> Path:
    """The log of a run in its folder."""
    return made.write(folder / name / f"run-{name[-3:]}.wandb", records)


def read(*files: Path, wanted: Collection[str] | None = None) -> LoggedRun:
    """The one run of files."""
    (unit,) = wandb.find_units(files)
    (run,) = wandb.read(unit, wanted)
    return run


def column(run: LoggedRun, name: str) -> list[tuple[float, float]]:
    """Steps and values of a metric."""
    points = run.metrics[name]
    return list(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def told(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


@pytest.mark.parametrize("row", [made.history, made.nested_history])
def test_history_becomes_metrics(tmp_path: Path, row: Any) -> None:  # noqa: ANN401 - either way of writing
    """Numbers of old and new logs are read exactly, nested names joined by dots; words and lists are none."""
    logged = [
        ROW | {"_step": 4, "_timestamp": 1700000000.5},
        {"loss": 1, "_step": 7, "_timestamp": 1700000009},
    ]
    records = [made.run(SETTINGS), *(row(values, values["_step"]) for values in logged), made.ended()]
    run = read(written(tmp_path, made.numbered(records)))
    assert sorted(run.metrics) == ["flag", "huge", "inf", "loss", "nan", "train.acc", "train.deep.x"]
    assert column(run, "loss") == [(4.0, 0.3333333333333333), (7.0, 1.0)]
    assert column(run, "train.deep.x") == [(4.0, -2.0)]
    assert column(run, "train.acc") == [(4.0, 0.1)]
    assert column(run, "huge") == [(4.0, 1e30)]
    assert column(run, "inf") == [(4.0, -math.inf)]
    assert column(run, "flag") == [(4.0, 1.0)]
    assert math.isnan(run.metrics["nan"].values[0])
    times = run.metrics["loss"].times
    assert times is not None
    assert times.tolist() == [1700000000500.0, 1700000009000.0]
    assert (run.step_name, told(run)) == ("_step", [])


def test_who_the_run_is(tmp_path: Path) -> None:
    """Id, display name, group and configuration come from the log; what is said later counts."""
    records = [
        made.run(SETTINGS, group="sweep"),
        made.config({"late": 5, "lr": 0.01, "gone": 1, "clip": math.inf, "weights": [math.nan]}),
        made.run({}, name="calm-river-1", group="sweep"),
        made.config({}, remove=["gone"]),
        *rows(),
        made.ended(),
    ]
    run = read(written(tmp_path, records))
    assert (run.path, run.name, run.id, run.group) == (tmp_path / FOLDER, "calm-river-1", "abc", "sweep")
    expected = {"lr": 0.01, "seed": 7, "model.name": "gpt", "model.sizes": "[1, 2]", "amp": True, "word": "ü"}
    assert run.config == expected | {"late": 5, "clip": "Infinity", "weights": "[NaN]"}
    bare = read(written(tmp_path / "other", [made.run({}), *rows()]))
    assert (bare.name, bare.group, bare.config) == ("", "p", {})


def test_config_file_serves_where_the_log_has_none(tmp_path: Path) -> None:
    """The settings of a run that was killed at once are those of config.yaml, without wandb's own."""
    log = written(tmp_path, [])
    config = log.parent / "files" / "config.yaml"
    config.parent.mkdir()
    text = "wandb_version: 1\n\nlr:\n  desc: null\n  value: 0.001\n_wandb:\n  value: {cli: '0.1'}\n"
    config.write_text(text + "model:\n  value:\n    name: gpt\n", encoding="utf-8")
    run = read(log, config)
    assert run.config == {"lr": 0.001, "model.name": "gpt"}
    (unit,) = wandb.find_units([log, config])
    assert unit == Unit("wandb", log.parent, (log, config))


def test_header_only_is_a_run_without_rows(tmp_path: Path) -> None:
    """A run that was killed after its first seven bytes, or before, is a run with nothing and a finding."""
    for size in range(len(made.HEADER) + 1):
        log = written(tmp_path / str(size), [])
        log.write_bytes(made.HEADER[:size])
        run = read(log)
        assert (run.metrics, len(run.findings)) == ({}, 1)


def test_metrics_come_by_first_row_and_name(tmp_path: Path) -> None:
    """Newer writers shuffle the items of a row, which makes no difference to the order of metrics."""
    records = [made.history({"b": 1, "a": 2, "_step": 0}), made.history({"0": 1, "b": 3, "_step": 1})]
    assert list(read(written(tmp_path, records)).metrics) == ["a", "b", "0"]


def test_steps_come_from_the_item_then_from_the_row(tmp_path: Path) -> None:
    """A row's own step counts where there is no ``_step``; rows without either are counted."""
    records = [
        made.history({"loss": 1, "_step": 10}, 3),
        made.history({"loss": 2}, 11),
        made.history({"loss": 3}, 0),
        made.history({"loss": 4, "_step": "twelve"}),
        made.history({"loss": 5, "_step": None}),
        made.history({"loss": 6, "_step": math.inf, "_timestamp": math.inf}),
        made.ended(),
    ]
    run = read(written(tmp_path, records))
    assert [step for step, _ in column(run, "loss")][:3] == [10.0, 11.0, 0.0]
    assert np.isnan(run.metrics["loss"].steps[3:]).all()
    assert run.metrics["loss"].times is None
    assert told(run) == ["3 rows without a step"]


def test_repeated_steps_keep_their_order(tmp_path: Path) -> None:
    """A step that was logged again after a resume is handed over twice, in the order of writing."""
    values = [(0, 1.0), (5, 2.0), (3, 3.0), (5, 4.0)]
    run = read(written(tmp_path, [made.history({"loss": value, "_step": step}) for step, value in values]))
    assert column(run, "loss") == [(float(step), value) for step, value in values]


def test_mixed_values_are_counted(tmp_path: Path) -> None:
    """Words among the numbers of a metric are dropped and counted; numbers as words are numbers."""
    cells = [1, "bad", "0.5", "NaN", [3], None, "-Infinity", "x" * 300, True]
    records = [made.history({"loss": cell, "_step": step}) for step, cell in enumerate(cells)]
    run = read(written(tmp_path, [*records, made.ended()]))
    assert run.metrics["loss"].steps.tolist() == [0, 2, 3, 6, 8]
    assert told(run) == ['3 values that are no numbers in "loss": left out']


def test_media_are_no_metrics(tmp_path: Path) -> None:
    """The width of an image is no curve, whether it stands in one object or in items of its own."""
    image = {"_type": "image-file", "width": 4, "height": 5}
    backwards = dict(reversed(image.items()))
    for write in (made.history, made.nested_history):
        records = [write({"img": image, "loss": 1, "old": backwards, "_step": step}) for step in range(2)]
        assert list(read(written(tmp_path, records)).metrics) == ["loss"]


def test_typed_fields_are_read(tmp_path: Path) -> None:
    """Values that stand in fields of the schema are read as JSON values are."""
    name = made.field(1, "m")
    number = made.varint(6 << 3 | 1) + struct.pack("<d", 0.1)
    values = [
        number,
        made.field(5, 7),
        made.field(4, 1),
        made.field(7, "2.5"),
        made.field(8, "3"),
        made.field(3, 0),
    ]
    records = [made.row_of([name + value], step) for step, value in enumerate(values)]
    run = read(written(tmp_path, [*records, made.ended()]))
    # Seven in zigzag is -4.
    assert column(run, "m") == [(0.0, 0.1), (1.0, -4.0), (2.0, 1.0), (3.0, 2.5), (4.0, 3.0)]


def test_odd_names_are_read(tmp_path: Path) -> None:
    """Names of any length and letters are kept; bytes that are not UTF-8 are replaced and told."""
    long = "n" * 5000
    strange = made.field(1, b"bad\xff") + made.field(16, "1")
    tagged = {"a\x82\x01b": 1.5, long: 2.5, "": 3.5, "é/ü (lr=1e-4)": 4.5}
    records = [made.history(tagged | {"_step": 0}), made.row_of([strange, made.item("_step", 1)])]
    run = read(written(tmp_path, [*records, made.ended()]))
    assert {name: column(run, name) for name in run.metrics} == {
        "a\x82\x01b": [(0.0, 1.5)],
        long: [(0.0, 2.5)],
        "é/ü (lr=1e-4)": [(0.0, 4.5)],
        "bad\ufffd": [(1.0, 1.0)],
    }
    assert told(run) == ["bytes that are not UTF-8 in 1 metric name are shown as U+FFFD"]


def test_numbers_are_those_that_were_logged(tmp_path: Path) -> None:
    """Any float comes back to its last bit and sign, under short names and long ones."""
    numbers = [-0.0, 0.1, 5e-324, -1.7976931348623157e308, 2**53 + 2, 1e22, 123456789.12345679, -1e-7]
    for name in ("loss", "n" * 200):
        for write in (made.history, made.nested_history):
            records = [write({name: value, "_step": step}) for step, value in enumerate(numbers)]
            records.append(made.row_of([made.item(name, b"-0"), made.item("_step", 99)]))
            run = read(written(tmp_path, records))
            assert [value.hex() for value in run.metrics[name].values.tolist()] == [
                float(value).hex() for value in (*numbers, -0.0)
            ]


def test_only_wanted_metrics(tmp_path: Path) -> None:
    """Only the metrics asked for are read, also where an old log has them within an object."""
    for write in (made.history, made.nested_history):
        run = read(written(tmp_path, [write(ROW | {"_step": 3})]), wanted=["train.acc", "huge"])
        assert {name: column(run, name) for name in run.metrics} == {
            "huge": [(3.0, 1e30)],
            "train.acc": [(3.0, 0.1)],
        }


def test_x_of_the_run_is_told(tmp_path: Path) -> None:
    """Metrics that the run draws over another are named, in one order, and the other stays a metric."""
    axes = [
        made.metric("epoch"),
        made.metric(glob="val/*", step_metric="epoch"),
        made.metric("acc", step_metric="epoch"),
        made.metric("loss", step_metric="_step"),
        made.metric("b", step_metric="_timestamp"),
        made.metric("c", step_metric="gone"),
    ]
    logged = [made.history({"val/acc": 0.5, "epoch": 2, "_timestamp": 7, "_step": 40}), made.ended()]
    log = written(tmp_path, [*axes, *logged])
    run = read(log)
    assert column(run, "epoch") == [(40.0, 2.0)]
    epoch = 'the run draws "acc" and "val/*" over "epoch": steps here are _step, '
    said = [
        'the run draws "b" over "_timestamp": steps here are _step, and "x: time" in a block does the same',
        epoch + 'and "x: epoch" in a block does the same',
        'the run draws "c" over "gone": steps here are _step, since "gone" has no values',
    ]
    assert told(run) == said
    assert told(read(log, wanted=["val/acc"]))[1] == epoch + 'and metrics: leaves "epoch" out'
    assert told(read(written(tmp_path, [*reversed(axes), *logged]))) == said


def test_how_the_run_ended(tmp_path: Path) -> None:
    """A run that failed and one that was killed say so; history may follow the end."""
    assert told(read(written(tmp_path, [*rows(), made.ended(1)]))) == [
        "the run failed: it ended with exit code 1"
    ]
    assert told(read(written(tmp_path, rows()))) == [
        "the log has no end: the run was killed, or is still running"
    ]
    assert len(column(read(written(tmp_path, [made.ended(), *rows()])), "loss")) == len(rows())


def test_a_run_without_a_value_says_what_is_known(tmp_path: Path) -> None:
    """Whether it ended, whether its settings are known, and that it logged something, but no numbers."""
    killed = "the run was killed before it logged anything, or has just started"
    assert told(read(written(tmp_path, []))) == [killed]
    begun = made.run({"lr": 0.1, "seed": 3})
    assert told(read(written(tmp_path, [begun]))) == [f"{killed}; 2 settings of it can be read"]
    assert told(read(written(tmp_path, [made.ended()]))) == ["the run ended without logging anything"]
    failed = ["the run failed: it ended with exit code 3", "the run ended without logging anything"]
    assert told(read(written(tmp_path, [made.ended(3)]))) == failed
    words = written(tmp_path, [made.history({"note": "a", "_step": 0}), made.ended()])
    assert told(read(words)) == ["1 row holds no numbers, but images, tables, texts or the like"]
    assert told(read(words, wanted=["loss"])) == []


def test_a_run_that_was_killed_at_once_has_the_id_of_its_file(tmp_path: Path) -> None:
    """Until the log tells the id, the name of the file does; another name tells none."""
    assert read(written(tmp_path, [])).id == "abc"
    assert read(written(tmp_path, [made.run({}, id_="own")])).id == "own"
    assert read(made.write(tmp_path / "logs" / "mine.wandb", [])).id == ""


def test_records_over_blocks(tmp_path: Path) -> None:
    """Records that fill several blocks, and ends of blocks without room for a chunk, lose nothing."""
    text = made.field(13, "x" * 100_000)
    for size in range(made.BLOCK - 30, made.BLOCK):
        filling = made.field(13, "y" * (size - 50))
        run = read(written(tmp_path, [*rows(2), filling, *rows(2), text, *rows(), made.ended()]))
        assert (len(column(run, "loss")), told(run)) == (7, [])


@pytest.mark.parametrize("row", [made.history, made.nested_history])
def test_truncation_at_every_byte(tmp_path: Path, row: Any) -> None:  # noqa: ANN401 - either way of writing
    """The whole rows before the tear are read, and every tear is told."""
    records = made.numbered(
        [made.run(SETTINGS), *(row({"a": {"b": step / 7}, "_step": step}) for step in range(6))]
    )
    sizes = list(accumulate((len(record) + 7 for record in records), initial=len(made.HEADER)))
    log = written(tmp_path, records)
    data = log.read_bytes()
    assert sizes[-1] == len(data)
    for size in range(len(data) + 1):
        log.write_bytes(data[:size])
        run = read(log)
        whole = max(0, sum(end <= size for end in sizes) - 2)
        assert (
            column(run, "a.b") == [(float(step), step / 7) for step in range(whole)]
            if whole
            else not run.metrics
        )
        torn = [message for message in told(run) if message.startswith("the last record is torn")]
        assert bool(torn) == (size not in {0, *sizes})
        assert told(run)


def test_tear_within_a_record_of_several_blocks(tmp_path: Path) -> None:
    """A record that was begun in one block and never ended is a tear; what stands before it is read."""
    log = written(tmp_path, [*rows(), made.field(13, "x" * 100_000)])
    data = log.read_bytes()
    for cut in (1, 40_000, 70_000):
        log.write_bytes(data[:-cut])
        run = read(log)
        assert len(column(run, "loss")) == len(rows())
        assert told(run) == [f"{TORN}; the 3 whole ones before it are read"]


def test_zeros_at_the_end_are_a_tear(tmp_path: Path) -> None:
    """A machine that crashed may leave zeros where the last records should be."""
    log = written(tmp_path, rows(1))
    log.write_bytes(log.read_bytes() + bytes(500))
    assert told(read(log)) == [f"{TORN}; the one before it is read"]


def test_units_are_known_by_their_folder(tmp_path: Path) -> None:
    """A run is known by its folder where that is its own, otherwise by its file; other files are none."""
    own = written(tmp_path, rows())
    loose = [made.write(tmp_path / "logs" / f"run-{name}.wandb", rows()) for name in "ab"]
    other = tmp_path / "notes.wandb"
    other.write_text("my own notes", encoding="utf-8")
    marker = tmp_path / FOLDER / "run-abc.wandb.synced"
    marker.write_text("", encoding="utf-8")
    units = wandb.find_units([own, *loose, other, marker])
    assert [unit.path for unit in units] == [own.parent, *loose]


def test_a_run_whose_log_begins_with_damage_is_told(tmp_path: Path) -> None:
    """Its name says that W&B wrote it: it is not passed over in silence."""
    log = written(tmp_path, rows())
    log.write_bytes(bytes(9) + log.read_bytes()[9:])
    (unit,) = wandb.find_units([log])
    with pytest.raises(UnreadableError, match="it does not begin as a log of wandb does"):
        list(wandb.read(unit))


def test_a_copy_of_the_latest_run_is_no_run(tmp_path: Path) -> None:
    """What copies a folder often follows its links; a folder of that name with other content is a run."""
    own = written(tmp_path, rows())
    copy = made.write(tmp_path / "latest-run" / own.name, rows())
    assert [unit.files for unit in wandb.find_units([copy, own])] == [(own,)]
    assert [unit.files for unit in wandb.find_units([copy])] == [(copy,)]
    made.write(copy, rows(4))
    assert [unit.files for unit in wandb.find_units([copy, own])] == [(copy,), (own,)]
    copy.write_bytes(own.read_bytes()[:-1] + b"?")
    assert [unit.files for unit in wandb.find_units([copy, own])] == [(copy,), (own,)]


def test_files_that_are_not_what_they_seem(tmp_path: Path) -> None:
    """A pointer of Git LFS, another version and a file that is gone are refused in words."""
    log = written(tmp_path, rows())
    (unit,) = wandb.find_units([log])
    log.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", encoding="utf-8")
    assert wandb.find_units([log]) == (unit,)
    with pytest.raises(UnreadableError, match="Git LFS pointer") as refused:
        list(wandb.read(unit))
    assert refused.value.next_step == "Run git lfs pull"
    log.write_bytes(made.HEADER[:-1] + b"\x09")
    assert wandb.find_units([log]) == (unit,)
    with pytest.raises(UnreadableError, match="in version 9"):
        list(wandb.read(unit))
    log.write_bytes(b"something else")
    with pytest.raises(UnreadableError, match="does not begin as a log of wandb does"):
        list(wandb.read(unit))
    log.unlink()
    with pytest.raises(UnreadableError, match="cannot be read: No such file"):
        list(wandb.read(unit))


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record or a metric beyond its limit is refused, not held in memory."""
    log = written(tmp_path, [made.field(13, "x" * 100_000), *rows(20)])
    monkeypatch.setattr(wandb, "LARGEST_PART", 90_000)
    with pytest.raises(UnreadableError, match="a record is larger than"):
        list(RecordLog(log))
    monkeypatch.undo()
    monkeypatch.setattr(wandb_history, "MOST_POINTS", 15)
    monkeypatch.setattr(run_data, "MOST_POINTS", 15)
    with pytest.raises(UnreadableError, match='the metric "loss" has more than 15 values'):
        read(log)


def test_too_many_metrics_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a step is in the name; those that are asked for can be read."""
    monkeypatch.setattr(run_data, "MOST_METRICS", 3)
    log = written(tmp_path, [made.history({f"m{step}": step, "_step": step}) for step in range(3)])
    assert list(read(log).metrics) == ["m0", "m1", "m2"]
    log = written(tmp_path, [made.history({f"m{step}": step, "_step": step}) for step in range(4)])
    with pytest.raises(UnreadableError, match="the run has more than 3 metrics"):
        read(log)
    assert list(read(log, wanted=["m3"]).metrics) == ["m3"]


@pytest.mark.random
def test_mutated_logs_are_read_or_refused(tmp_path: Path) -> None:
    """Bytes changed anywhere in a log: rows or a clean error."""
    records = [made.run(SETTINGS), *(made.nested_history(ROW | {"_step": step}, step) for step in range(5))]
    log = written(
        tmp_path, made.numbered([*records, made.metric(glob="*", step_metric="loss"), made.ended()])
    )
    (unit,) = wandb.find_units([log])
    assert survives(log, log.read_bytes(), wandb.read, unit) > 0


@pytest.mark.random
def test_mutated_records_are_read_or_counted(tmp_path: Path) -> None:
    """Bytes changed within records whose checksums are right: whatever is still a message is read."""
    records = [
        made.run(SETTINGS),
        made.history(ROW, 3),
        made.nested_history(ROW, 4),
        made.config({"a": {"b": 1}}),
    ]
    records += [made.metric(glob="*", step_metric="loss"), made.ended(3)]
    log = written(tmp_path, [])
    malformed, count = 0, tries(*VARIANTS)
    for place, record in enumerate(made.numbered(records)):
        for changed in mutations(record, count, seed=place):
            log.write_bytes(made.log([changed, *rows(1)]))
            run = read(log)
            assert run.metrics["loss"].values[-1] == 0.5
            malformed += any("malformed" in message for message in told(run))
    assert malformed / count > 1 / 3
