"""Event files of TensorBoard, byte by byte: what pages of cases cannot say of damage, numbers and limits."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from described_sources import list_messages, list_points, list_units, read_run, read_unit
from hypothesis import given
from hypothesis import strategies as st
from made_logs import (
    EVENTS,
    VERSION,
    WALL,
    calculate_crc,
    event,
    field,
    frame,
    hparams,
    mask_crc,
    plugin,
    simple,
    tensor,
    varint,
    write_events,
)
from made_sources import mutations

from reportgen.core.cache import Cache
from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.read import open_source, read_raw_frame
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SMALL = [event(step, simple(b"loss", step / 3)) for step in range(5)]
SCALAR = plugin(b"scalars")
# The code of each type of a tensor, a value, and how it is written as bytes and in a list of its type.
TENSORS = {
    "float": (1, float(np.float32(0.1)), np.float32(0.1).tobytes(), field(5, np.float32(0.1).tobytes())),
    "double": (2, 0.1, np.float64(0.1).tobytes(), field(6, np.float64(0.1).tobytes())),
    "int32": (3, -7, np.int32(-7).tobytes(), field(7, varint(-7 & (1 << 64) - 1))),
    "uint8": (4, 200, b"\xc8", field(7, 200)),
    "int16": (5, -300, np.int16(-300).tobytes(), field(7, -300)),
    "int8": (6, -3, np.int8(-3).tobytes(), field(7, -3)),
    "int64": (9, -(2**40), np.int64(-(2**40)).tobytes(), field(10, varint(-(2**40) & (1 << 64) - 1))),
    "bool": (10, 1, b"\x01", field(11, 1)),
    "bfloat16": (14, 1.5, b"\xc0\x3f", field(13, 0x3FC0)),
    "uint16": (17, 60_000, np.uint16(60_000).tobytes(), field(7, 60_000)),
    "half": (19, -1.5, np.float16(-1.5).tobytes(), field(13, varint(0xBE00))),
    "uint32": (22, 2**31 + 5, np.uint32(2**31 + 5).tobytes(), field(16, 2**31 + 5)),
    "uint64": (23, 2**63, np.uint64(2**63).tobytes(), field(17, varint(2**63))),
}


def round_values(logged: Iterable[Sequence[object]]) -> dict[str, list[tuple[float, float]]]:
    """Return steps and values of each tag, as the float of an event file has them."""
    found: dict[str, list[tuple[float, float]]] = {}
    with np.errstate(over="ignore"):
        for tag, step, value, *_ in logged:
            found.setdefault(str(tag), []).append((float(step), float(np.float32(value))))  # type: ignore[arg-type]
    return found


def test_checksums_are_those_of_the_standard() -> None:
    """The vectors of RFC 3720, B.4, and the check value of the catalogue of CRCs."""
    vectors = {bytes(32): 0x8A9136AA, b"\xff" * 32: 0x62A8AB43, bytes(range(32)): 0x46DD794E}
    for data, crc in {**vectors, b"123456789": 0xE3069283}.items():
        assert calculate_crc(data) == crc


@given(st.integers(0, 2**64 - 1), st.integers(20, 2**20), st.binary(max_size=300))
def test_unknown_fields_are_passed_over(
    tmp_path_factory: pytest.TempPathFactory, value: int, number: int, content: bytes
) -> None:
    """Numbers, field numbers and lengths of any size, before and behind those that are known."""
    unknown = field(number, value) + field(number, content) + varint(number << 3 | 5) + b"abcd"
    unknown += varint(number << 3 | 1) + b"abcdefgh"
    messages = [unknown + event(1, simple(b"x", 0.5, unknown)) + unknown]
    run = read_run(write_events(tmp_path_factory.mktemp("run") / EVENTS, messages))
    assert (list_points(run), run.findings) == ({"x": [(1, 0.5)]}, ())


@pytest.mark.parametrize("count", [1, 40])
def test_tensors_of_every_type(count: int, tmp_path: Path) -> None:
    """TensorFlow 2 and PyTorch's newer style: one element, as bytes or in a list of its type."""
    messages = []
    for name, (code, _, raw, listed) in TENSORS.items():
        for way, content in (("bytes", field(4, raw)), ("list", listed)):
            tag = f"{name} {way}".encode()
            messages += [event(step, tensor(tag, code, content, SCALAR)) for step in range(count)]
    run = read_run(write_events(tmp_path / EVENTS, messages))
    assert run.findings == ()
    assert list_points(run) == {
        f"{name} {way}": [(step, value) for step in range(count)]
        for name, (_, value, _, _) in TENSORS.items()
        for way in ("bytes", "list")
    }


def test_many_tags_and_values_of_an_event(tmp_path: Path) -> None:
    """A thousand metrics, and a tag twice in one event, in the order of writing; chosen ones alone."""
    logged = [
        (f"l{tag % 7}/{'x' * (tag % 13)}/{tag}", step, tag / 4) for step in (0, 1) for tag in range(1000)
    ]
    messages = [event(step, simple(tag.encode(), value)) for tag, step, value in logged]
    for step in range(100):
        row = [("a", step, step / 3), ("b/c", step, step / 7), ("a", step, -step)]
        logged += row
        other = field(1, field(1, b"h") + field(5, b"\x08" + bytes([step])))
        values = [simple(tag.encode(), value) for tag, _, value in row]
        messages.append(event(step, *values, *[other] * (step % 10 == 0)))
    path = write_events(tmp_path / EVENTS, messages)
    assert list_points(read_run(path)) == round_values(logged)
    chosen = read_run(path, selected=["b/c", "nothing"])
    assert list_points(chosen) == round_values(row for row in logged if row[0] == "b/c")
    assert not read_run(path, selected=["nothing"]).findings


WRITTEN = st.lists(
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
        return event(step, tensor(name, 1, field(4, raw), SCALAR))
    if style == "described":
        return event(step, simple(name, value, field(9, field(2, b"shown"))))
    summary = field(5, simple(name, value))
    if style == "late step":
        return b"\x09" + struct.pack("<d", WALL) + summary + field(2, step)
    return field(2, step) + summary if style == "no time" else event(step, simple(name, value))


@given(st.lists(WRITTEN, min_size=1, max_size=3), st.sampled_from([1, 40, 1 << 24]))
def test_any_events_are_read_alike_in_bulk_and_one_by_one(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[tuple[str, int, float, str]]],
    block: int,
) -> None:
    """However they are written, cut into blocks, rows are those that were logged."""
    folder = tmp_path_factory.mktemp("run")
    for place, logged in enumerate(files):
        write_events(folder / f"events.out.tfevents.{place}", [as_message(*row) for row in logged])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reportgen.formats.tfrecord._BLOCK", block)
        run = read_run(folder)
    right = round_values(row for logged in files for row in logged)
    assert repr(list_points(run)) == repr(right)
    assert list(run.metrics) == list(right)


def test_settings_that_change_are_read_again(tmp_path: Path) -> None:
    """A source with a cache keeps a run only as long as the settings beside its events stand."""
    folder = tmp_path / "data" / "runs" / "a"
    write_events(folder / EVENTS, [event(1, simple(b"loss", 2))])
    kept = Cache(tmp_path / "cache")
    for seed in ("3", "4"):
        (folder / "hparams.yaml").write_text(f"seed: {seed}\n")
        source = open_source(tmp_path, "data", "runs", load_settings=load_source_settings, cache=kept)
        assert read_raw_frame(tmp_path, source)["seed"].tolist() == [seed]


def test_a_file_cut_at_every_byte(tmp_path: Path) -> None:
    """Whole records before the tear are read; anything but a clean end is reported."""
    path = write_events(tmp_path / EVENTS, SMALL)
    whole = path.read_bytes()
    ends = np.cumsum([len(frame(message)) for message in [VERSION, *SMALL]]).tolist()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        run = read_run(path)
        records = sum(end <= cut for end in ends)
        values = [(step, float(np.float32(step / 3))) for step in range(records - 1)]
        assert list_points(run) == ({"loss": values} if values else {})
        said = list_messages(run)
        torn = [words for words in said if f"record {records + 1}, the last one, is torn" in words]
        assert len(torn) == (cut not in {0, *ends})
        assert len(said) == len(torn) + (not values) + (cut == 0)


@pytest.mark.parametrize("count", [5, 100])
def test_a_file_with_any_byte_changed(tmp_path: Path, count: int) -> None:
    """A damaged message costs its record, a damaged length the rest of the file; both are reported."""
    messages = [event(step, simple(b"loss", step / 3)) for step in range(count)]
    path = write_events(tmp_path / EVENTS, messages)
    whole = path.read_bytes()
    values = [(step, float(np.float32(step / 3))) for step in range(count)]
    begins = np.cumsum([len(frame(message)) for message in [VERSION, *messages]]).tolist()
    for place in range(0, len(whole), 1 if count == 5 else 61):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        if place < 12:
            with pytest.raises(UnreadableError):
                read_run(path)
            continue
        run = read_run(path)
        record = sum(begin <= place for begin in begins)
        begin = begins[record - 1] if record else 0
        (said,) = list_messages(run)[:1]
        if place >= begin + 12:
            kept = [value for step, value in enumerate(values) if step != record - 1]
            assert list_points(run)["loss"] == kept
            assert said.startswith(f"record {record + 1} is damaged")
        else:
            assert list_points(run).get("loss", []) == values[: record - 1]
            assert f"{len(whole) - begin:,} bytes are not read" in said


def test_a_file_that_went_away_says_so(tmp_path: Path) -> None:
    """Between looking and reading."""
    (unit,) = list_units(write_events(tmp_path / EVENTS, SMALL))
    (tmp_path / EVENTS).unlink()
    with pytest.raises(UnreadableError, match="cannot be read"):
        list(read_unit(unit))


def test_a_huge_record_is_passed_over(tmp_path: Path) -> None:
    """One beyond the limit is reported and not loaded; the records behind it are read."""
    length = struct.pack("<Q", 200 << 20)
    path = write_events(tmp_path / EVENTS, SMALL)
    with path.open("r+b") as file:
        file.seek(0, 2)
        file.write(length + mask_crc(length))
        file.seek((200 << 20) + 4, 1)
        file.write(frame(event(7, simple(b"loss", 7))))
    run = read_run(path)
    assert [step for step, _ in list_points(run)["loss"]] == [0, 1, 2, 3, 4, 7]
    assert list_messages(run) == ["record 7 has 200 MiB and is passed over"]
    os.truncate(path, 1000)
    assert "record 7, the last one, is torn" in list_messages(read_run(path))[0]


MIXED = [
    hparams({"lr": 0.1, "model": {"d": 3.0}}),
    *(event(step, simple(b"loss", step), simple(b"acc", -step)) for step in range(20)),
    *(event(step, tensor(b"t", 1, field(5, bytes(4)), SCALAR)) for step in range(20)),
    *(event(step, tensor(b"i", 3, field(7, varint(step)))) for step in range(4)),
    event(3, field(1, field(1, b"h") + field(5, b"\x08\x01" * 40))),
]


@given(seed=st.integers(0, 2**32), right=st.booleans())
def test_mutated_files_give_rows_findings_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, seed: int, *, right: bool
) -> None:
    """Bytes changed, cut out and doubled, with checksums that are wrong or made right again."""
    messages = [VERSION, *MIXED]
    for place in range(seed % 11 + 1) if right else ():
        messages[place * 7 % len(messages)] = next(mutations(messages[place], 1, seed + place))
    data = b"".join(map(frame, messages))
    data = data if right else next(mutations(data, 1, seed))
    path = tmp_path_factory.mktemp("run") / EVENTS
    path.write_bytes(data)
    try:
        runs = [run for unit in list_units(path) for run in read_unit(unit)]
    except UnreadableError:
        assert not right
        return
    for run in runs:
        assert isinstance(run, LoggedRun)
        for points in run.metrics.values():
            assert points.times is not None
            assert len(points.steps) == len(points.values) == len(points.times) > 0
