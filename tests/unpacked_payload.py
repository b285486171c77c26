"""Reads the numbers of a figure's payload as ``live-data.js`` does, from what ``payload.py`` documents."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

CHARACTERS = "#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}"
BASE = len(CHARACTERS) // 2
Numbers = list[int | None]


def unpack_payload(text: str) -> dict[str, Any]:
    """The payload with values in ``y``, ``low``, ``high``, ``raw`` and in ``values`` of runs."""
    payload: dict[str, Any] = json.loads(text)
    for line in payload["series"]:
        axis = payload["right" if line.get("right") else "y"]
        if isinstance(line["y"], str):
            line.update(_unpack_columns(line, *axis["levels"]))
        start, unit = axis["run_levels"]
        for run in line.get("runs", ()):
            run["values"] = _place(add_up(unpack(run["q"])), start, unit)
    return payload


def _unpack_columns(line: dict[str, Any], start: float, unit: float) -> dict[str, Any]:
    middle = add_up(unpack(line["y"]))
    columns = {"y": middle} | ({"raw": add_up(unpack(line["raw"]))} if "raw" in line else {})
    if "high" in line:
        parts = list(zip(middle, add_up(unpack(line["high"])), unpack(line["low"]), strict=True))
        columns["high"] = [None if m is None or up is None else m + up for m, up, _ in parts]
        columns["low"] = [
            None if m is None or up is None or more is None else m - up + more for m, up, more in parts
        ]
    return {name: _place(column, start, unit) for name, column in columns.items()}


def _place(levels: Numbers, start: float, unit: float) -> list[float | None]:
    return [None if level is None else start + level * unit for level in levels]


def unpack(text: str) -> Numbers:
    """Whole numbers, None at gaps."""
    numbers: Numbers = []
    number, place = 0, 1
    for letter in text:
        if letter == "!":
            numbers.append(None)
            continue
        digit = CHARACTERS.index(letter)
        number, place = number + digit % BASE * place, place * BASE
        if digit < BASE:
            numbers.append(-(number // 2) if number % 2 else number // 2)
            number, place = 0, 1
    return numbers


def add_up(differences: Numbers) -> Numbers:
    """The sum of all differences so far, None at gaps."""
    sums = iter(accumulate(one for one in differences if one is not None))
    return [None if one is None else next(sums) for one in differences]
