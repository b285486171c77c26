"""TensorBoard event files, built byte by byte: what was logged is what is read, and no byte can break it."""

from __future__ import annotations

import gzip
import math
import os
import random
import struct
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.cache import Cache
from reportgen.formats import run_data, tfrecord
from reportgen.formats.protobuf import (
    MalformedError,
    as_signed,
    iterate_delimited,
    iterate_fields,
    iterate_spans,
    read_varint,
)
from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.formats.tfrecord import calculate_checksum
from reportgen.formats.trackers import tensorboard as reader
from reportgen.formats.trackers import tensorboard_events
from reportgen.read import open_source, read_raw_frame
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Row: TypeAlias = tuple[str, int, float]
"""Tag, step, value."""

NAME = "events.out.tfevents.1700000000.host.1.0"
WALL = 1.7e9


# The format, written down a second time: plainly, and without what is under test.


def crc_table() -> list[int]:
    """The register after one byte."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # noqa: PLW2901 - the definition itself
        table.append(byte)
    return table


CRC_TABLE = crc_table()


def crc_of(data: bytes) -> int:
    """The checksum, byte by byte."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    """The checksum as a file has it."""
    crc = crc_of(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(message: bytes) -> bytes:
    """A record."""
    length = struct.pack("<Q", len(message))
    return length + masked_length(length) + message + masked(message)


masked_length = cache(masked)


def number(value: int) -> bytes:
    """A varint."""
    digits, value = bytearray(), value & (1 << 64) - 1
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def inside(field: int, content: bytes) -> bytes:
    """A field with a length."""
    return number(field << 3 | 2) + number(len(content)) + content


def plain(field: int, value: int) -> bytes:
    """A field that is a varint."""
    return number(field << 3) + number(value)


def simple(tag: bytes, value: float, more: bytes = b"") -> bytes:
    """A Summary.Value with a ``simple_value``."""
    with np.errstate(over="ignore"):
        return inside(1, inside(1, tag) + b"\x15" + np.float32(value).tobytes() + more)


def tensor(tag: bytes, kind: int, content: bytes, more: bytes = b"") -> bytes:
    """A Summary.Value with a scalar TensorProto."""
    return inside(1, inside(1, tag) + inside(8, plain(1, kind) + inside(2, b"") + content) + more)


def plugin(name: bytes, content: bytes = b"") -> bytes:
    """SummaryMetadata."""
    return inside(9, inside(1, inside(1, name) + (inside(2, content) if content else b"")))


def event(step: int, *values: bytes, wall: float = WALL) -> bytes:
    """An Event with a Summary."""
    start = b"\x09" + struct.pack("<d", wall) + (plain(2, step) if step else b"")
    return start + inside(5, b"".join(values))


VERSION = b"\x09" + struct.pack("<d", WALL) + inside(3, b"brain.Event:2")


def hparams(*entries: tuple[str, bytes]) -> bytes:
    """The event that starts a session of the plugin ``hparams``; values are google.protobuf.Value."""
    pairs = b"".join(inside(1, inside(1, key.encode()) + inside(2, value)) for key, value in entries)
    metadata = plugin(b"hparams", plain(1, 0) + inside(3, pairs))
    return event(0, inside(1, inside(1, b"_hparams_/session_start_info") + metadata))


def double(value: float) -> bytes:
    """A google.protobuf.Value that is a number."""
    return b"\x11" + struct.pack("<d", value)


def write(path: Path, messages: Iterable[bytes]) -> Path:
    """An event file, its folder and its version record included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(frame, [VERSION, *messages])))
    return path


def read(folder: Path, wanted: Sequence[str] | None = None) -> LoggedRun:
    """The one run below a folder."""
    (unit,) = reader.find_units(sorted(folder.rglob("*")))
    (run,) = reader.read(unit, wanted)
    return run


def rows(run: LoggedRun) -> dict[str, list[tuple[float, float]]]:
    """Steps and values of each metric."""
    return {
        name: list(zip(points.steps.tolist(), points.values.tolist(), strict=True))
        for name, points in run.metrics.items()
    }


def expected(logged: Iterable[Row]) -> dict[str, list[tuple[float, float]]]:
    """The same of what was logged."""
    found: dict[str, list[tuple[float, float]]] = {}
    with np.errstate(over="ignore"):
        for tag, step, value in logged:
            found.setdefault(tag, []).append((float(step), float(np.float32(value))))
    return found


def said(run: LoggedRun) -> list[str]:
    """The findings' words."""
    return [finding.message for finding in run.findings]


# Checksums and messages


def test_checksums_are_those_of_the_standard() -> None:
    """The vectors of RFC 3720, B.4, and the check value of the catalogue of CRCs."""
    vectors = {bytes(32): 0x8A9136AA, b"\xff" * 32: 0x62A8AB43, bytes(range(32)): 0x46DD794E}
    for data, crc in {**vectors, b"123456789": 0xE3069283}.items():
        assert crc_of(data) == crc
        assert calculate_checksum(data) == int.from_bytes(masked(data), "little")


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**20), st.binary(max_size=300))
def test_fields_are_what_was_written(value: int, field: int, content: bytes) -> None:
    """Numbers, field numbers and lengths of any size."""
    message = memoryview(plain(field, value) + inside(field, content) + b"\x15abcd\x19abcdefgh")
    found = [
        (one, wire, part if isinstance(part, int) else bytes(part))
        for one, wire, part in iterate_fields(message)
    ]
    assert found == [(field, 0, value), (field, 2, content), (2, 5, b"abcd"), (3, 1, b"abcdefgh")]
    assert [(one, bytes(part)) for one, part in iterate_delimited(message)] == [(field, content)]
    assert as_signed(value) == (value if value < 2**63 else value - 2**64)


@pytest.mark.parametrize(
    "message",
    [b"\x80", b"\xff" * 11, b"\x0a\x05abcd", b"\x09abc", b"\x03", b"\x04", b"\x06", b"\x00\x01", b"\x08"],
)
def test_what_is_no_message_says_so(message: bytes) -> None:
    """No end, a length beyond the end, groups, unknown wire types, no number."""
    with pytest.raises(MalformedError):
        list(iterate_spans(memoryview(message), 0, len(message)))


def test_a_number_ends_within_ten_bytes() -> None:
    """As long as int64 needs, and not longer."""
    assert read_varint(number(-1), 0) == (2**64 - 1, 10)
    with pytest.raises(MalformedError):
        read_varint(b"\x80" * 10 + b"\x01", 0)


# What was logged is what is read

TAGS = ("loss", "train/loss", "train/später", "a" * 130, "")
TRAINED = [(tag, step, math.sin(step) * 10 ** (step % 9 - 4)) for step in range(300) for tag in TAGS]


def test_scalars_are_read_exactly(tmp_path: Path) -> None:
    """Every float as it is, widened, in the order of writing, with its step and its time."""
    messages = [
        event(step, simple(tag.encode(), value), wall=WALL + step / 8) for tag, step, value in TRAINED
    ]
    write(tmp_path / "run" / NAME, messages)
    run = read(tmp_path)
    assert rows(run) == expected(TRAINED)
    assert list(run.metrics) == list(TAGS)
    assert (run.path, run.name, run.step_name, run.findings) == (tmp_path / "run", "", "step", ())
    times = run.metrics["loss"].times
    assert times is not None
    assert times.tolist() == [WALL * 1000 + 125 * step for step in range(300)]


def test_odd_steps_and_values(tmp_path: Path) -> None:
    """Negative and huge steps, NaN and infinities, a step written twice: all are handed over."""
    odd = [-1, -(2**63), 2**53, 2**62, 127, 128, 0, 0, 5, 5, 4]
    values = [math.nan, math.inf, -math.inf, 1e-45, -0.0, 3e38, 1e300, 0.1, 1.0, 2.0, 3.0]
    logged = [("x", step, value) for step, value in zip(odd, values, strict=True)] * 20
    write(tmp_path / NAME, [event(step, simple(b"x", value)) for _, step, value in logged])
    run = read(tmp_path)
    assert repr(rows(run)) == repr(expected(logged))
    assert said(run) == ["40 steps beyond 2 to the power of 53: a double holds these only roughly"]


def test_times_that_are_none(tmp_path: Path) -> None:
    """A wall time that is missing, not finite or too large for milliseconds is no time."""
    walls = [math.nan, math.inf, 1e308, 0.0, -1.5]
    messages = [event(1, simple(b"x", 1), wall=wall) for wall in walls] + [inside(5, simple(b"x", 2))]
    write(tmp_path / NAME, messages)
    times = read(tmp_path).metrics["x"].times
    assert times is not None
    assert repr(times.tolist()) == repr([math.nan, math.nan, math.nan, 0.0, -1500.0, math.nan])


SIXTEEN = {"half": (19, np.float16(-1.5).tobytes(), -1.5), "bfloat16": (14, b"\xc0\x3f", 1.5)}
WIDE = {
    "float": (1, np.float32(0.1).tobytes(), float(np.float32(0.1))),
    "double": (2, np.float64(0.1).tobytes(), 0.1),
    "int32": (3, np.int32(-7).tobytes(), -7.0),
    "uint8": (4, b"\xc8", 200.0),
    "int16": (5, np.int16(-300).tobytes(), -300.0),
    "int8": (6, np.int8(-3).tobytes(), -3.0),
    "int64": (9, np.int64(-(2**40)).tobytes(), -(2.0**40)),
    "bool": (10, b"\x01", 1.0),
    "uint16": (17, np.uint16(60_000).tobytes(), 60_000.0),
    "uint32": (22, np.uint32(2**31 + 5).tobytes(), 2.0**31 + 5),
    "uint64": (23, np.uint64(2**63).tobytes(), 2.0**63),
}
LISTS = {
    "float": inside(5, np.float32(0.1).tobytes()),
    "double": inside(6, np.float64(0.1).tobytes()),
    "int32": inside(7, number(-7)),
    "uint8": plain(7, 200),
    "int16": plain(7, -300),
    "int8": plain(7, -3),
    "int64": inside(10, number(-(2**40))),
    "bool": plain(11, 1),
    "uint16": plain(7, 60_000),
    "uint32": plain(16, 2**31 + 5),
    "uint64": inside(17, number(2**63)),
    "half": inside(13, number(0xBE00)),
    "bfloat16": plain(13, 0x3FC0),
}


@pytest.mark.parametrize("kind", [*WIDE, *SIXTEEN])
@pytest.mark.parametrize("count", [1, 40])
def test_tensors_of_every_type(kind: str, count: int, tmp_path: Path) -> None:
    """TensorFlow 2 and PyTorch's newer style: one element, as bytes or in a list of its type."""
    code, raw, value = (WIDE | SIXTEEN)[kind]
    for content in (inside(4, raw), LISTS[kind]):
        messages = [event(step, tensor(b"x", code, content, plugin(b"scalars"))) for step in range(count)]
        write(tmp_path / NAME, messages)
        run = read(tmp_path)
        assert rows(run) == {"x": [(float(step), value) for step in range(count)]}
        assert not run.findings


def test_what_is_no_scalar_is_passed(tmp_path: Path) -> None:
    """Images, histograms, texts, vectors and other plugins' numbers are no metrics."""
    shape = inside(2, inside(2, plain(1, 3)))
    vector = inside(1, inside(1, b"v") + inside(8, plain(1, 1) + shape + inside(4, bytes(12))))
    image, histogram = (inside(1, inside(1, b"i") + inside(field, b"\x08\x01")) for field in (4, 5))
    text = tensor(b"t", 7, inside(8, b"words"), plugin(b"text"))
    first = tensor(b"p", 1, inside(4, bytes(4)), plugin(b"pr_curves"))
    later = tensor(b"p", 1, inside(4, bytes(4)))
    messages = [event(step, one) for one in (vector, image, histogram, text, first) for step in range(30)]
    write(tmp_path / NAME, [*messages, *(event(step, later) for step in range(30))])
    run = read(tmp_path)
    assert not run.metrics
    assert said(run) == ["no scalars are in its event files"]
    broken = tensor(b"s", 1, inside(4, bytes(3)), plugin(b"scalars"))
    write(tmp_path / NAME, [event(1, broken), event(2, simple(b"s", 4)), b"\x0a\xff"])
    run = read(tmp_path)
    assert rows(run) == {"s": [(2.0, 4.0)]}
    assert said(run) == [
        "1 record that cannot be parsed: left out",
        "1 scalar without exactly one number: left out",
    ]


def test_several_values_in_one_event(tmp_path: Path) -> None:
    """TensorFlow 1 merges summaries: numbers and others, and a tag twice, in the order of writing."""
    logged: list[Row] = []
    messages = []
    for step in range(100):
        values = [("a", step, step / 3), ("b/c", step, step / 7), ("a", step, -float(step))]
        logged += values
        histogram = (
            [inside(1, inside(1, b"h") + inside(5, b"\x08" + bytes([step])))] if step % 10 == 0 else []
        )
        messages.append(event(step, *(simple(tag.encode(), value) for tag, _, value in values), *histogram))
    write(tmp_path / NAME, messages)
    assert rows(read(tmp_path)) == expected(logged)


def test_ten_thousand_tags(tmp_path: Path) -> None:
    """Each is a metric of its own."""
    logged = [
        (f"layer{tag % 7}/{'x' * (tag % 13)}/{tag}", step, tag + step / 4)
        for step in (0, 1)
        for tag in range(10_000)
    ]
    write(tmp_path / NAME, [event(step, simple(tag.encode(), value)) for tag, step, value in logged])
    assert rows(read(tmp_path)) == expected(logged)


def test_only_the_metrics_that_are_wanted(tmp_path: Path) -> None:
    """The rest is left out, and that is nothing to tell."""
    write(tmp_path / NAME, [event(step, simple(tag.encode(), value)) for tag, step, value in TRAINED])
    assert rows(read(tmp_path, ["loss", "nothing"])) == expected(row for row in TRAINED if row[0] == "loss")
    assert not read(tmp_path, ["nothing"]).findings


def test_tags_that_are_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are shown as such."""
    write(tmp_path / NAME, [event(step, simple(b"lo\xffss", step)) for step in range(20)])
    run = read(tmp_path)
    assert list(run.metrics) == ["lo\N{REPLACEMENT CHARACTER}ss"]
    assert said(run) == [
        "1 tag that is no UTF-8 text: what cannot be read in it is shown as \N{REPLACEMENT CHARACTER}"
    ]


written = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "loss", "eval/später"]),
        st.one_of(st.integers(0, 300), st.integers(-(2**63), 2**63 - 1)),
        st.floats(width=32),
        st.sampled_from(["simple", "tensor", "described", "late step", "no time"]),
    ),
    max_size=60,
)


def as_message(tag: str, step: int, value: float, style: str) -> bytes:
    """One scalar in one of many ways to write it."""
    name, raw = tag.encode(), np.float32(value).tobytes()
    if style == "tensor":
        return event(step, tensor(name, 1, inside(4, raw), plugin(b"scalars")))
    if style == "described":
        return event(step, simple(name, value, inside(9, inside(2, b"shown"))))
    summary = inside(5, simple(name, value))
    wall = b"\x09" + struct.pack("<d", WALL)
    if style == "late step":
        return wall + summary + plain(2, step)
    return plain(2, step) + summary if style == "no time" else event(step, simple(name, value))


@given(
    st.lists(written, min_size=1, max_size=3), st.sampled_from([1, 2, 16]), st.sampled_from([1, 40, 1 << 24])
)
def test_any_events_are_read_alike_in_bulk_and_one_by_one(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[tuple[str, int, float, str]]],
    few: int,
    block: int,
) -> None:
    """However they are written, cut into blocks and taken together, rows are those that were logged."""
    folder = tmp_path_factory.mktemp("run")
    for place, logged in enumerate(files):
        write(folder / f"events.out.tfevents.{place}", [as_message(*row) for row in logged])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tfrecord, "FEWEST_IN_ARRAY", few)
        patch.setattr(tensorboard_events, "FEWEST_IN_ARRAY", few)
        patch.setattr(tfrecord, "_BLOCK", block)
        run = read(folder)
    right = expected(row[:3] for logged in files for row in logged)
    assert repr(rows(run)) == repr(right)
    assert list(run.metrics) == list(right)


# Files that belong together


def test_a_resumed_run_keeps_all_rows(tmp_path: Path) -> None:
    """Older files first, by the time in their names; how far the newer one goes back is told."""
    files = {"9": range(120), "10": range(100, 150), "11": range(150, 170)}
    for time, steps in reversed(files.items()):
        messages = [event(step, simple(b"loss", step + int(time) / 32), simple(b"lr", 1)) for step in steps]
        write(tmp_path / f"events.out.tfevents.{time}.host", messages)
    run = read(tmp_path)
    assert rows(run)["loss"] == [
        (step, step + int(time) / 32) for time, steps in files.items() for step in steps
    ]
    (told,) = said(run)
    assert "goes back over 20 steps of earlier files (100 to 119); the rows of both are kept" in told
    assert run.findings[0].path.name == "events.out.tfevents.10.host"


def test_a_restart_with_its_step_leaves_out_what_it_gave_up(tmp_path: Path) -> None:
    """As with ``purge_step``, in TensorBoard; a session that only ends leaves out nothing."""
    before = [event(step, simple(b"loss", step), wall=WALL + step) for step in range(20)]
    before.append(event(18, simple(b"late", 1), wall=WALL + 19))
    write(tmp_path / "events.out.tfevents.9.host", before)
    after = [event(step, simple(b"loss", -step), wall=WALL + 60) for step in (15, 16)]
    for status, kept in ((1, 15), (2, 20)):
        message = event(15, wall=WALL + 50) + inside(7, plain(1, status))
        write(tmp_path / "events.out.tfevents.10.host", [message, *after])
        run = read(tmp_path)
        assert rows(run)["loss"] == [*((step, step) for step in range(kept)), (15, -15), (16, -16)]
        assert ("late" in rows(run)) == (status == 2)
        assert (
            "the run was restarted at step 15: left out 6 values of earlier files (steps 15 to 19), logged "
            "again or given up, as TensorBoard does" in said(run)
        ) == (status == 1)


def test_a_restart_beside_a_process_that_still_writes_leaves_out_nothing(tmp_path: Path) -> None:
    """Its values are later than the restart: another process wrote them, and nobody gave them up."""
    write(
        tmp_path / "events.out.tfevents.9.host",
        [event(step, simple(b"loss", step), wall=WALL + step) for step in range(20)],
    )
    begins = event(15, wall=WALL + 3) + inside(7, plain(1, 1))
    write(tmp_path / "events.out.tfevents.10.host", [begins, event(15, simple(b"loss", 1), wall=WALL + 4)])
    run = read(tmp_path)
    assert [step for step, _ in rows(run)["loss"]] == [*range(20), 15]
    (told,) = said(run)
    assert told.startswith("several processes wrote at once: this file goes back over 5 steps")


def test_files_of_one_time_are_no_resumption(tmp_path: Path) -> None:
    """Several processes wrote into one folder, which their times tell."""
    for process in "12":
        messages = [event(step, simple(b"loss", 1), wall=WALL + step) for step in range(20)]
        write(tmp_path / f"events.out.tfevents.{process}.host", messages)
    (told,) = said(read(tmp_path))
    assert told == (
        "several processes wrote at once: this file goes back over 20 steps of earlier files (0 to 19); "
        "the rows of all are kept, those of this file last"
    )


def test_hyperparameters_are_the_configuration(tmp_path: Path) -> None:
    """Numbers, texts, truth, lists and nested settings of the session's start."""
    nested = inside(5, inside(1, inside(1, b"depth") + inside(2, double(3))))
    listed = inside(6, inside(1, double(1)) + inside(1, inside(3, b"x")))
    session = hparams(
        *[("lr", double(0.001)), ("batch", double(32)), ("opt", inside(3, b"adam")), ("amp", plain(4, 1))],
        *[("model", nested), ("sizes", listed), ("nothing", plain(1, 0)), ("clip", double(-math.inf))],
    )
    write(tmp_path / NAME, [session, event(1, simple(b"loss", 2))])
    run = read(tmp_path)
    config = {"lr": 0.001, "batch": 32, "opt": "adam", "amp": True, "model.depth": 3, "sizes": '[1, "x"]'}
    config["clip"] = "-Infinity"
    assert run.config == config
    assert [type(value) for value in run.config.values()] == [type(value) for value in config.values()]
    assert rows(run) == {"loss": [(1.0, 2.0)]}


def test_a_folder_of_add_hparams_belongs_to_its_run(tmp_path: Path) -> None:
    """One such folder is part of the run above; several are runs of their own."""
    write(tmp_path / "run" / NAME, [event(step, simple(b"loss", step)) for step in range(3)])
    results = [event(0, simple(b"hparam/acc", 0.5)), event(0, simple(b"loss", 9))]
    write(tmp_path / "run" / "1700000001.25" / NAME, [hparams(("lr", double(0.1))), *results])
    run = read(tmp_path)
    assert run.path == tmp_path / "run"
    assert run.config == {"lr": 0.1}
    assert rows(run) == {"loss": [(0, 0), (1, 1), (2, 2)], "hparam/acc": [(0, 0.5)]}
    assert said(run) == [
        "1 metric of the run is in a folder below, too, as add_hparams keeps them: left out there"
    ]
    write(tmp_path / "run" / "1700000002.25" / NAME, [hparams(("lr", double(0.2))), *results])
    units = reader.find_units(sorted(tmp_path.rglob("*")))
    assert [len(unit.files) for unit in units] == [1, 1, 1]
    assert {unit.path.name: dict(run.config) for unit in units for run in reader.read(unit)} == {
        "run": {},
        "1700000001.25": {"lr": 0.1},
        "1700000002.25": {"lr": 0.2},
    }


def test_settings_beside_event_files_are_the_configuration(tmp_path: Path) -> None:
    """Those of Lightning and others; what the event files say counts more, and a broken file is told."""
    path = write(tmp_path / NAME, [hparams(("lr", double(0.5))), event(1, simple(b"loss", 2))])
    hparams_yaml = tmp_path / "hparams.yaml"
    hparams_yaml.write_text("lr: 0.1\nseed: 3\nmodel: {depth: 2}\nloss: !!python/name:torch.l1 ''\n")
    (tmp_path / "params.json").write_text('{"seed": 4, "batch": 8}')
    (tmp_path / "notes.yaml").write_text("other: 1\n")
    files = sorted(tmp_path.iterdir())
    (unit,) = reader.find_units(files)
    assert unit.files == (path, tmp_path / "params.json", hparams_yaml)
    (run,) = reader.read(unit)
    assert run.config == {"seed": 3, "batch": 8, "lr": 0.5, "model.depth": 2, "loss": "torch.l1"}
    assert (rows(run), said(run)) == ({"loss": [(1, 2)]}, [])
    hparams_yaml.write_text("lr: [1\n")
    (run,) = reader.read(unit)
    assert run.config == {"seed": 4, "batch": 8, "lr": 0.5}
    assert [finding.path for finding in run.findings] == [hparams_yaml]
    path.write_bytes(bytes(5_000))
    with pytest.raises(UnreadableError, match="does not begin with a record"):
        list(reader.read(unit))


def test_settings_that_change_are_read_again(tmp_path: Path) -> None:
    """A source with a cache keeps a run only as long as the settings beside its events stand."""
    folder = tmp_path / "data" / "runs" / "a"
    write(folder / NAME, [event(1, simple(b"loss", 2))])
    kept = Cache(tmp_path / "cache")
    for seed in ("3", "4"):
        (folder / "hparams.yaml").write_text(f"seed: {seed}\n")
        source = open_source(tmp_path, "data", "runs", load_settings=load_source_settings, cache=kept)
        assert read_raw_frame(tmp_path, source)["seed"].tolist() == [seed]


def test_every_folder_is_a_run(tmp_path: Path) -> None:
    """Found by name and content, wherever they lie."""
    for place in ("a/train", "a/validation", "b"):
        write(tmp_path / place / NAME, [event(0, simple(b"loss", 1))])
    (tmp_path / "b" / "tfevents.csv").write_text("step,loss\n0,1\n")
    (tmp_path / "b" / "notes.txt").write_text("text")
    units = reader.find_units(sorted(tmp_path.rglob("*")))
    assert [unit.path.relative_to(tmp_path).as_posix() for unit in units] == ["a/train", "a/validation", "b"]
    assert all(unit.format == reader.NAME and [file.name for file in unit.files] == [NAME] for unit in units)


# Files that are not whole

SMALL = [event(step, simple(b"loss", step / 3)) for step in range(5)]


def test_a_file_cut_at_every_byte(tmp_path: Path) -> None:
    """Whole records before the tear are read; anything but a clean end is told."""
    whole = write(tmp_path / NAME, SMALL).read_bytes()
    ends = np.cumsum([len(frame(message)) for message in [VERSION, *SMALL]]).tolist()
    for cut in range(len(whole) + 1):
        (tmp_path / NAME).write_bytes(whole[:cut])
        run = read(tmp_path)
        records = sum(end <= cut for end in ends)
        values = [(step, float(np.float32(step / 3))) for step in range(records - 1)]
        assert rows(run) == ({"loss": values} if values else {})
        torn = [words for words in said(run) if f"record {records + 1}, the last one, is torn" in words]
        assert len(torn) == (cut not in {0, *ends})
        assert len(said(run)) == len(torn) + (not values) + (cut == 0)


@pytest.mark.parametrize("count", [5, 100])
def test_a_file_with_any_byte_changed(tmp_path: Path, count: int) -> None:
    """A damaged message costs its record, a damaged length the rest of the file; both are told."""
    messages = [event(step, simple(b"loss", step / 3)) for step in range(count)]
    whole = write(tmp_path / NAME, messages).read_bytes()
    values = [(step, float(np.float32(step / 3))) for step in range(count)]
    begins = np.cumsum([len(frame(message)) for message in [VERSION, *messages]]).tolist()
    for place in range(12, len(whole), 1 if count == 5 else 61):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        (tmp_path / NAME).write_bytes(changed)
        run = read(tmp_path)
        record = sum(begin <= place for begin in begins)
        begin = begins[record - 1] if record else 0
        if place >= begin + 12:
            kept = [value for step, value in enumerate(values) if step != record - 1]
            assert rows(run)["loss"] == kept
            assert said(run) == [f"record {record + 1} is damaged (its checksum is wrong) and left out"]
            continue
        assert rows(run).get("loss", []) == values[: record - 1]
        before = f"{record} records before it are read" if record > 1 else "1 record before it is read"
        left = f"the last {len(whole) - begin:,} bytes are not read"
        damaged = f"record {record + 1} is damaged (the checksum of its length is wrong)"
        assert said(run)[0] == f"{damaged}, and {left}; {before}"
    for place in range(12):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / NAME).write_bytes(changed)
        with pytest.raises(UnreadableError, match="does not begin with a record"):
            read(tmp_path)


def test_damaged_records_are_counted(tmp_path: Path) -> None:
    """Also where all records of a length are damaged, and where the file ends in a tear, too."""
    messages = [event(step, simple(tag, 1)) for tag in (b"loss", b"accuracy") for step in range(1, 41)]
    data = bytearray(write(tmp_path / NAME, messages).read_bytes())
    at = len(frame(VERSION)) + len(frame(messages[0])) - 6
    for _ in range(40):
        data[at] ^= 1
        at += len(frame(messages[0]))
    (tmp_path / NAME).write_bytes(data[:-1])
    run = read(tmp_path)
    assert [step for step, _ in rows(run)["accuracy"]] == list(range(1, 40))
    assert list(rows(run)) == ["accuracy"]
    damaged = "40 records are damaged (their checksums are wrong) and left out, the first of them record 2"
    torn = (
        "record 81, the last one, is torn: the run still writes or was killed; 40 records before it are read"
    )
    assert said(run) == [damaged, torn]


def test_a_pointer_of_git_lfs_says_what_to_do(tmp_path: Path) -> None:
    """Alone it is an error, beside readable files a finding."""
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n"
    (tmp_path / NAME).write_text(text)
    with pytest.raises(UnreadableError, match="Git LFS pointer") as raised:
        read(tmp_path)
    assert raised.value.path == tmp_path / NAME
    assert raised.value.next_step == "Run git lfs pull"
    write(tmp_path / "events.out.tfevents.1", SMALL)
    run = read(tmp_path)
    assert len(rows(run)["loss"]) == 5
    assert said(run) == [
        "it is a Git LFS pointer, not the data themselves: the file is left out. Run git lfs pull"
    ]


def test_an_empty_file_beside_another_is_told(tmp_path: Path) -> None:
    """A writer makes it before it writes."""
    write(tmp_path / NAME, SMALL)
    (tmp_path / "events.out.tfevents.9999999999.host").write_bytes(b"")
    run = read(tmp_path)
    assert len(rows(run)["loss"]) == 5
    assert said(run) == ["the file is empty, nothing was logged into it yet"]


def test_a_file_of_zeros_is_refused(tmp_path: Path) -> None:
    """Space that was reserved and never written is no event file."""
    (tmp_path / NAME).write_bytes(bytes(5_000))
    with pytest.raises(UnreadableError, match="does not begin with a record"):
        read(tmp_path)


def test_a_compressed_file_says_what_to_do(tmp_path: Path) -> None:
    """TensorBoard does not read one either."""
    path = tmp_path / f"{NAME}.gz"
    path.write_bytes(gzip.compress(b"".join(map(frame, SMALL))))
    with pytest.raises(UnreadableError, match="it is compressed") as raised:
        read(tmp_path)
    assert (raised.value.path, raised.value.next_step) == (path, "Unpack it with gunzip")


def test_a_file_that_went_away_says_so(tmp_path: Path) -> None:
    """Between looking and reading."""
    write(tmp_path / NAME, SMALL)
    (unit,) = reader.find_units([tmp_path / NAME])
    (tmp_path / NAME).unlink()
    with pytest.raises(UnreadableError, match="cannot be read"):
        list(reader.read(unit))


def test_a_huge_record_is_passed_over(tmp_path: Path) -> None:
    """One beyond the limit is told and not loaded; the records behind it are read."""
    length = struct.pack("<Q", 200 << 20)
    path = write(tmp_path / NAME, SMALL)
    with path.open("r+b") as file:
        file.seek(0, 2)
        file.write(length + masked(length))
        file.seek((200 << 20) + 4, 1)
        file.write(frame(event(7, simple(b"loss", 7))))
    run = read(tmp_path)
    assert [step for step, _ in rows(run)["loss"]] == [0, 1, 2, 3, 4, 7]
    assert said(run) == ["record 7 has 200 MiB and is passed over"]
    os.truncate(path, 1000)
    assert "record 7, the last one, is torn" in said(read(tmp_path))[0]


def test_too_many_values_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the metric and says what to do."""
    monkeypatch.setattr(run_data, "MOST_POINTS", 4)
    write(tmp_path / NAME, SMALL)
    with pytest.raises(UnreadableError, match='"loss" has more than 4 values') as raised:
        read(tmp_path)
    assert raised.value.next_step == "Thin it out before it is read"


def test_too_many_metrics_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a step is in the name; those that are asked for can be read."""
    monkeypatch.setattr(run_data, "MOST_METRICS", 2)
    path = write(tmp_path / NAME, [event(1, simple(b"m%d" % number, 1)) for number in range(2)])
    assert len(rows(read(tmp_path))) == 2
    write(tmp_path / NAME, [event(1, simple(b"m%d" % number, 1)) for number in range(3)])
    with pytest.raises(UnreadableError, match="the run has more than 2 metrics") as raised:
        read(tmp_path)
    assert (raised.value.path, "metrics: in source.yml" in raised.value.next_step) == (path, True)
    assert list(rows(read(tmp_path, ["m2"]))) == ["m2"]


MIXED = [
    hparams(("lr", double(0.1)), ("model", inside(5, inside(1, inside(1, b"d") + inside(2, double(3)))))),
    *(event(step, simple(b"loss", step), simple(b"acc", -step)) for step in range(20)),
    *(event(step, tensor(b"t", 1, inside(5, bytes(4)), plugin(b"scalars"))) for step in range(20)),
    *(event(step, tensor(b"i", 3, inside(7, number(-step)))) for step in range(4)),
    event(3, inside(1, inside(1, b"h") + inside(5, b"\x08\x01" * 40))),
]


@given(st.integers(0, 2**32), st.sampled_from(["right", "wrong"]))
def test_mutated_files_give_rows_findings_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sums: str
) -> None:
    """Bytes changed, cut out and doubled, with checksums that are wrong or made right again."""
    chance = random.Random(seed)  # noqa: S311 - the same bytes each time
    messages = [bytearray(message) for message in [VERSION, *MIXED]]
    if sums == "right":
        for message in chance.choices(messages, k=chance.randrange(1, 12)):
            mutate(message, chance)
        data = bytearray(b"".join(frame(bytes(message)) for message in messages))
    else:
        data = bytearray(b"".join(frame(bytes(message)) for message in messages))
        for _ in range(chance.randrange(1, 4)):
            mutate(data, chance)
    path = tmp_path_factory.mktemp("run") / NAME
    path.write_bytes(data)
    try:
        runs = [run for unit in reader.find_units([path]) for run in reader.read(unit)]
    except UnreadableError:
        assert sums == "wrong"
        return
    for run in runs:
        for points in run.metrics.values():
            assert points.times is not None
            assert len(points.steps) == len(points.values) == len(points.times) > 0


def mutate(data: bytearray, chance: random.Random) -> None:
    """Change, cut out, double or insert a few bytes."""
    at, width = chance.randrange(len(data)), chance.randrange(1, 9)
    kind = chance.randrange(4)
    if kind == 0:
        data[at] = chance.randrange(256)
    elif kind == 1 and len(data) > width:
        del data[at : at + width]
    elif kind == 2:
        data[at:at] = data[at : at + width]
    else:
        data[at:at] = chance.randbytes(width)
