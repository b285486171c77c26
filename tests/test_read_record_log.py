"""The record log that wandb writes: what is whole is read, and what is not is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import made_wandb_log as made

from reportgen.formats.trackers import wandb
from reportgen.formats.trackers.wandb import RecordLog

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

HEAD: Final = 7
RECORDS: Final = [f"record {number}".encode() * 5 for number in range(1000, 3000)]


def read(folder: Path, data: bytes) -> tuple[list[bytes], list[str]]:
    """The records of a file with this content, and what was found irregular."""
    path = folder / "run-abc.wandb"
    path.write_bytes(data)
    log = RecordLog(path)
    return list(log), [finding.message for finding in log.list_findings()]


def flipped(data: bytes, *places: int) -> bytes:
    """Data with one bit changed in some bytes."""
    changed = bytearray(data)
    for place in places:
        changed[place] ^= 1 << place % 8
    return bytes(changed)


def size_of(records: Sequence[bytes]) -> int:
    """Of a file with these records, so that it is where the next one begins."""
    return len(made.log(records))


def test_damage_costs_one_record(tmp_path: Path) -> None:
    """After a damaged chunk, head or content, reading goes on with the next whole one."""
    whole, begin, size = made.log(RECORDS[:99]), size_of(RECORDS[:50]), HEAD + len(RECORDS[50])
    for place in range(begin, begin + size):
        records, said = read(tmp_path, flipped(whole, place))
        assert records == [*RECORDS[:50], *RECORDS[51:99]]
        lost = f"the file is damaged at byte {begin + 1:,}: {size} bytes there cannot be read"
        assert said == [f"{lost}; the records behind are read"]


def test_damage_in_several_places(tmp_path: Path) -> None:
    """Also within a record of several blocks: what is whole is read, and bytes are counted once."""
    long = b"x" * 100_000
    whole = made.log([*RECORDS[:20], long, *RECORDS[20:50], long])
    begin, end = size_of(RECORDS[:20]), size_of([*RECORDS[:20], long])
    records, said = read(tmp_path, flipped(whole, 2 * made.BLOCK, end + 100))
    assert records == [*RECORDS[:21], *RECORDS[22:50], long]
    lost = end - begin + HEAD + len(RECORDS[21])
    where = f"in 2 places, the first at byte {begin + 1:,}: {lost:,} bytes there cannot be read"
    assert said == [f"the file is damaged {where}; the records behind are read"]


def test_damage_at_the_end_is_no_tear(tmp_path: Path) -> None:
    """The last record is there but is not what was written: nobody was killed."""
    whole, size = made.log(RECORDS[:3]), HEAD + len(RECORDS[2])
    records, said = read(tmp_path, flipped(whole, len(whole) - 3))
    damaged = f"a record is damaged, and the last {size} bytes of the file cannot be read"
    assert records == RECORDS[:2]
    assert said == [f"{damaged}; the 2 whole ones before it are read"]
    records, said = read(tmp_path, made.HEADER + b"\x07" * 20)
    assert records == []
    damaged = "a record is damaged, and the last 20 bytes of the file cannot be read"
    assert said == [f"{damaged}; no whole one stands before it"]


def test_noise_is_searched_in_a_few_places_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond them reading goes on with the first record of the next block."""
    monkeypatch.setattr(wandb, "_MOST_SEARCHES", 1)
    whole, size = made.log(RECORDS), HEAD + len(RECORDS[0])
    second = made.BLOCK + 10 * size
    records, said = read(tmp_path, flipped(whole, 1000, second))
    lost = sorted(set(RECORDS) - set(records))
    begin = (second - len(made.HEADER)) // size
    assert lost == [RECORDS[(1000 - len(made.HEADER)) // size], *RECORDS[begin : begin + len(lost) - 1]]
    assert len(lost) > (made.BLOCK - 11 * size) // size
    assert said[0].startswith("the file is damaged in 2 places")
