"""Files as accidents leave them: bytes changed, cut out, doubled or put in."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tries import tries

from reportgen.formats.runs import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reportgen.formats.runs import LoggedRun, Unit

_SPITEFUL = (b"\0", b"\n", b"\r", b'"', b"{", b"}", b"[", b"\t", b",", b":", b"\xff\xfe", b"9" * 400, b"-")


# How many variants of a file a test reads, without and with --slow.
VARIANTS = 30, 400

# Where Parquet files have what they say of their columns.
_FOOT, _ANYWHERE = 2000, 0.3


def mutations(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Variants of a file, each with one to four accidents."""
    chance = random.Random(seed)  # noqa: S311 - accidents, not secrets
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            begin = chance.randrange(len(changed) + 1)
            end = min(len(changed), begin + chance.choice((0, 1, 1, 8, 200)))
            piece = changed[begin:end]
            put = chance.choice((b"", piece * 2, bytes(reversed(piece)), chance.choice(_SPITEFUL)))
            changed[begin:end] = put
        yield bytes(changed)


def flips(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Variants of a file of the same length, each with one to four flipped bits, mostly near its end.

    Databases and Parquet files find their parts by place: whatever moves these is refused at once.
    """
    chance = random.Random(seed)  # noqa: S311 - accidents, not secrets
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            end = len(changed) if chance.random() < _ANYWHERE else min(len(changed), _FOOT)
            changed[len(changed) - 1 - chance.randrange(end)] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def survives(file: Path, data: bytes, read: Callable[[Unit], Iterator[LoggedRun]], unit: Unit) -> float:
    """The share of variants that were read; a reader may refuse the others, but only in words."""
    whole, count = 0, tries(*VARIANTS)
    for changed in mutations(data, count):
        file.write_bytes(changed)
        try:
            runs = list(read(unit))
        except UnreadableError:
            continue
        whole += 1
        for run in runs:
            assert all(len(points.steps) == len(points.values) > 0 for points in run.metrics.values())
    return whole / count
