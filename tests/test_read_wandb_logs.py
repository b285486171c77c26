"""Logs of W&B, byte by byte: what pages of cases cannot say of damage, blocks and limits."""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import made_wandb_log as made
import pytest
from mutated_bytes import VARIANTS, mutations
from read_units import list_messages, list_points, list_units, read_run, read_unit
from tries import tries

from reportgen.formats.runs import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

HEAD: Final = 7
SETTINGS: Final = {"_wandb": {"t": {"1": [1]}}, "lr": 0.001, "model": {"name": "gpt", "sizes": [1, 2]}}
ROW: Final[dict[str, Any]] = {
    "loss": 0.3333333333333333,
    "train": {"acc": 0.1, "deep": {"x": -2}},
    "huge": 10**30,
    "text": "words",
    "list": [1, 2],
}


def rows(count: int) -> list[bytes]:
    """Rows of one size, of one metric at steps 1000, 1001 and so on."""
    return [made.history({"loss": step, "_step": step}) for step in range(1000, 1000 + count)]


def steps_of(path: Path, data: bytes) -> tuple[list[float], list[str]]:
    """The steps of a log with this content, counted from the first, and what was found irregular."""
    path.write_bytes(data)
    run = read_run(path)
    steps = [step - 1000 for step, _ in list_points(run).get("loss", [])]
    return steps, [message for message in list_messages(run) if "the log has no end" not in message]


def flip(data: bytes, *places: int) -> bytes:
    """Data with one bit changed in some bytes."""
    changed = bytearray(data)
    for place in places:
        changed[place] ^= 1 << place % 8
    return bytes(changed)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a log."""
    return tmp_path / "run-abc.wandb"


@pytest.mark.parametrize("write", [made.history, made.nested_history])
def test_chosen_metrics_and_typed_fields(path: Path, write: Any) -> None:  # noqa: ANN401 - ways of writing
    """Only those metrics are read, also within an object; values may be in fields of the schema."""
    made.write(path, [write(ROW | {"_step": 3})])
    found = read_run(path, selected=["train.acc", "huge"])
    assert list_points(found) == {"huge": [(3.0, 1e30)], "train.acc": [(3.0, 0.1)]}
    name, number = made.field(1, "m"), made.varint(6 << 3 | 1) + struct.pack("<d", 0.1)
    fields: list[tuple[int, int | str]] = [(5, 7), (4, 1), (7, "2.5"), (8, "3"), (3, 0)]
    values = [number, *(made.field(kind, value) for kind, value in fields), made.field(16, "-0")]
    records = [made.row_of([name + value], step) for step, value in enumerate(values)]
    strange = made.field(1, b"bad\xff") + made.field(16, "1")
    made.write(path, [*records, made.row_of([strange, made.item("_step", 9)]), made.ended()])
    run = read_run(path)
    # Seven in zigzag is -4.
    assert repr(list_points(run)) == repr(
        {
            "m": [(0.0, 0.1), (1.0, -4.0), (2.0, 1.0), (3.0, 2.5), (4.0, 3.0), (6.0, -0.0)],
            "bad\ufffd": [(9.0, 1.0)],
        }
    )
    assert list_messages(run) == ["bytes that are not UTF-8 in 1 metric name are shown as U+FFFD"]


def test_records_over_blocks(path: Path) -> None:
    """Records that fill several blocks, and ends of blocks without room for a chunk, lose nothing."""
    text, some = made.field(13, "x" * 100_000), rows(9)
    for size in range(made.BLOCK - 30, made.BLOCK):
        filling = made.field(13, "y" * (size - 50))
        whole = made.log([*some[:2], filling, *some[2:4], text, *some[4:], made.ended()])
        assert steps_of(path, whole) == ([*range(9)], [])


@pytest.mark.parametrize("write", [made.history, made.nested_history])
def test_truncation_at_every_byte(path: Path, write: Any) -> None:  # noqa: ANN401 - either way of writing
    """The whole rows before the tear are read, and every tear is reported."""
    logged = [write({"a": {"b": step / 7}, "_step": step}) for step in range(6)]
    records = made.numbered([made.run(SETTINGS), *logged])
    sizes = list(accumulate((len(record) + HEAD for record in records), initial=len(made.HEADER)))
    data = made.log(records)
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        run = read_run(path)
        whole = max(0, sum(end <= size for end in sizes) - 2)
        assert list_points(run) == ({"a.b": [(step, step / 7) for step in range(whole)]} if whole else {})
        torn = [message for message in list_messages(run) if message.startswith("the last record is torn")]
        assert bool(torn) == (size not in {0, *sizes})
        assert list_messages(run)


def test_tears_of_several_blocks_and_zeros(path: Path) -> None:
    """A record that was begun in one block and never ended, and zeros where the last records should be."""
    data = made.log([*rows(3), made.field(13, "x" * 100_000)])
    torn = "the last record is torn: the run was killed while writing, or is still running"
    for cut in (1, 40_000, 70_000):
        expected = [0, 1, 2], [f"{torn}; the 3 whole ones before it are read"]
        assert steps_of(path, data[:-cut]) == expected
    assert steps_of(path, made.log(rows(1)) + bytes(500)) == ([0], [f"{torn}; the one before it is read"])


def test_damage_costs_one_record(path: Path) -> None:
    """After a damaged chunk, head or content, reading goes on with the next whole one."""
    some = rows(99)
    whole, begin, size = made.log(some), len(made.log(some[:50])), HEAD + len(some[50])
    for place in range(begin, begin + size):
        steps, (said,) = steps_of(path, flip(whole, place))
        assert steps == [*range(50), *range(51, 99)]
        assert said.startswith(
            f"the file is damaged at byte {begin + 1:,}: {size} bytes there cannot be read"
        )


def test_damage_in_several_places(path: Path) -> None:
    """Also within a record of several blocks: what is whole is read, and bytes are counted once."""
    some, long = rows(50), made.field(13, "x" * 100_000)
    whole = made.log([*some[:20], long, *some[20:], long])
    begin, end = len(made.log(some[:20])), len(made.log([*some[:20], long]))
    steps, (said,) = steps_of(path, flip(whole, 2 * made.BLOCK, end + 100))
    size = HEAD + len(some[0])
    hit = 20 + 100 // size
    assert steps == [*range(hit), *range(hit + 1, 50)]
    where = f"in 2 places, the first at byte {begin + 1:,}: {end - begin + size:,} bytes there cannot be read"
    assert said == f"the file is damaged {where}; the records behind are read"


def test_damage_at_the_end_is_no_tear(path: Path) -> None:
    """The last record is there but is not what was written: nobody was killed."""
    some = rows(3)
    whole, size = made.log(some), HEAD + len(some[2])
    steps, (said,) = steps_of(path, flip(whole, len(whole) - 3))
    assert steps == [0, 1]
    assert said.startswith(f"a record is damaged, and the last {size} bytes of the file cannot be read")
    steps, (said,) = steps_of(path, made.HEADER + b"\x07" * 20)
    assert steps == []
    assert said.startswith("a record is damaged, and the last 20 bytes of the file cannot be read")


def test_noise_is_searched_in_a_few_places_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond them reading goes on with the first record of the next block."""
    monkeypatch.setattr("reportgen.formats.trackers.wandb._MOST_SEARCHES", 1)
    some = rows(2000)
    whole, size = made.log(some), HEAD + len(some[0])
    second = made.BLOCK + 10 * size
    steps, said = steps_of(path, flip(whole, 1000, second))
    lost = sorted(set(range(2000)) - {int(step) for step in steps})
    begin = (second - len(made.HEADER)) // size
    assert lost == [(1000 - len(made.HEADER)) // size, *range(begin, begin + len(lost) - 1)]
    assert len(lost) > (made.BLOCK - 11 * size) // size
    assert said[0].startswith("the file is damaged in 2 places")


def test_a_record_beyond_the_limit_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not held in memory; and a file that went away says so."""
    made.write(path, [made.field(13, "x" * 100_000), *rows(20)])
    monkeypatch.setattr("reportgen.formats.trackers.wandb.LARGEST_PART", 90_000)
    with pytest.raises(UnreadableError, match="a record is larger than"):
        read_run(path)
    (unit,) = list_units(path)
    path.unlink()
    with pytest.raises(UnreadableError, match="cannot be read: No such file"):
        list(read_unit(unit))


@pytest.mark.random
def test_mutated_records_are_read_or_counted(path: Path) -> None:
    """Bytes changed within records whose checksums are right: whatever is still a message is read."""
    records = [made.run(SETTINGS), made.history(ROW, 3), made.nested_history(ROW, 4)]
    records += [made.config({"a": {"b": 1}}), made.metric(glob="*", step_metric="loss"), made.ended(3)]
    malformed, count = 0, tries(*VARIANTS)
    for place, record in enumerate(made.numbered(records)):
        for changed in mutations(record, count, seed=place):
            path.write_bytes(made.log([changed, *rows(1)]))
            run = read_run(path)
            assert run.metrics["loss"].values[-1] == 1000
            malformed += any("malformed" in message for message in list_messages(run))
    assert malformed / count > 1 / 3
