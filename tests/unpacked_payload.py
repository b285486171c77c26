"""Reads the numbers of a figure's payload as ``live-data.js`` does, from what ``payload.py`` documents."""

from __future__ import annotations

import json
import struct
from statistics import fmean, stdev
from typing import Any

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
Numbers = list[float | None]


def unpack_payload(text: str) -> dict[str, Any]:
    """The payload with values in ``y``, ``low``, ``high``, ``raw`` and in ``values`` of runs."""
    payload: dict[str, Any] = json.loads(text)
    for line in payload["series"]:
        line.update({name: unpack(line[name]) for name in ("y", "low", "high", "raw") if name in line})
        for run in line.get("runs", ()):
            run["values"] = unpack(run["y"])
        if "spread" in line:
            line.update(_summarise([run["values"] for run in line["runs"]], line["spread"]))
    return payload


def _summarise(runs: list[list[float]], spread: float) -> dict[str, Numbers]:
    rows = list(zip(*runs, strict=True))
    middle = [fmean(row) for row in rows]
    sides = [spread * stdev(row) if len({*row}) > 1 else None for row in rows]
    pairs = list(zip(middle, sides, strict=True))
    low: Numbers = [None if side is None else mean - side for mean, side in pairs]
    high: Numbers = [None if side is None else mean + side for mean, side in pairs]
    return {"y": [*middle], "low": low, "high": high}


def unpack(column: list[Any]) -> Numbers:
    """Values of a column, None at gaps."""
    if not (len(column) == 3 and isinstance(column[2], str)):
        return column
    decimals, whole, text = column
    values: Numbers = []
    for digits in zip(*text.split(" "), strict=True):
        number = sum(DIGITS.index(digit) << (6 * place) for place, digit in enumerate(digits))
        if number == 0:
            values.append(None)
            continue
        whole += (number - 1) // 2 * (-1 if (number - 1) % 2 else 1)
        values.append(_restore(whole) if decimals is None else whole / 10**decimals)
    return values


def _restore(whole: int) -> float:
    size = struct.unpack(">d", struct.pack(">Q", abs(whole) << 32))[0]
    return float(-size if whole < 0 else size)
