"""What Vega makes of figures, what the live view reads of them, and the script of Vega that sites have.

Vega is the reference for what we write ourselves; the reading of a payload, as ``payload.py`` documents it,
for ``live-data.js``. The script is built from vl-convert, without Node or network. It is committed, so
that builds need not make it, and a report has the same script whatever is installed; run this by hand if
vl-convert includes a new Vega::

    python tests/vega.py
"""

from __future__ import annotations

import json
import re
import struct
from importlib.metadata import version as version_of
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree as ET

import vl_convert

from reportgen.figures.render import render_vega_lite

if TYPE_CHECKING:
    from collections.abc import Iterable

    Numbers = list[float | None]

_SVG = "{http://www.w3.org/2000/svg}"
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_PLACE = re.compile(r"-?[\d.]+(?:e-?\d+)?")


def vega_words(
    pairs: Iterable[tuple[float, str]], function: Literal["format", "utcFormat"] = "format"
) -> list[str]:
    """Each value in the words that Vega's ``format`` or ``utcFormat`` makes of it with its specifier.

    Values travel as texts, since the JSON reader of vl-convert is off by one in the last place.
    """
    rows = [{"value": repr(value), "specifier": specifier} for value, specifier in pairs]
    words = {"type": "formula", "as": "words", "expr": f"{function}(toNumber(datum.value), datum.specifier)"}
    # A description is written as it is; the width of a long text would be measured for minutes.
    said = {"signal": "join(pluck(data('rows'), 'words'), '|')"}
    specification = {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "data": [{"name": "rows", "values": rows, "transform": [words]}],
        "marks": [{"type": "rect", "encode": {"enter": {"description": said}}}],
    }
    svg = ET.fromstring(vl_convert.vega_to_svg(json.dumps(specification)))  # noqa: S314 - our own
    (found,) = (path.get("aria-label", "") for path in svg.iter(f"{_SVG}path") if path.get("aria-label"))
    return found.split("|")


class VegaPicture:
    """What Vega draws of a Vega-Lite specification: its marks by their names."""

    def __init__(self, specification: dict[str, Any], *, width: int) -> None:
        self._root = ET.fromstring(render_vega_lite(specification | {"width": width}))  # noqa: S314 - our own

    def paths(self, name: str) -> list[list[list[tuple[float, float]]]]:
        """Each path of a named layer as stretches of points in pixels."""
        found = self._marked(f"{name}_marks")
        return [stretches(path.get("d", "")) for group in found for path in group.iter(f"{_SVG}path")]

    def places(self, name: str) -> list[tuple[float, float]]:
        """Where each symbol or text of a named layer stands, in pixels."""
        found = [mark for group in self._marked(f"{name}_marks") for mark in group]
        return [tuple(map(float, _PLACE.findall(mark.get("transform", ""))[:2])) for mark in found]  # type: ignore[misc]

    def words(self, role: str) -> list[str]:
        """Every text of a role, such as ``role-axis-label``."""
        return [text.text or "" for group in self._marked(role) for text in group.iter(f"{_SVG}text")]

    def _marked(self, name: str) -> list[ET.Element]:
        return [group for group in self._root.iter(f"{_SVG}g") if name in group.get("class", "").split()]


def stretches(path: str) -> list[list[tuple[float, float]]]:
    """The points of each stretch of a path of absolute steps."""
    return [
        [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.e-]+),(-?[\d.e-]+)", part)]
        for part in path.split("M")[1:]
    ]


def unpack_payload(text: str) -> dict[str, Any]:
    """The payload with values in ``y``, ``low``, ``high``, ``raw`` and in ``values`` of runs."""
    payload: dict[str, Any] = json.loads(text)
    for line in payload["series"]:
        line.update({name: unpack_column(line[name]) for name in ("y", "low", "high", "raw") if name in line})
        for run in line.get("runs", ()):
            run["values"] = unpack_column(run["y"])
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


def unpack_column(column: list[Any]) -> Numbers:
    """Values of a column, None at gaps."""
    if not (len(column) == 3 and isinstance(column[2], str)):
        return column
    decimals, whole, text = column
    values: Numbers = []
    for digits in zip(*text.split(" "), strict=True):
        number = sum(_DIGITS.index(digit) << (6 * place) for place, digit in enumerate(digits))
        if number == 0:
            values.append(None)
            continue
        whole += (number - 1) // 2 * (-1 if (number - 1) % 2 else 1)
        values.append(_restore(whole) if decimals is None else whole / 10**decimals)
    return values


def _restore(whole: int) -> float:
    size = struct.unpack(">d", struct.pack(">Q", abs(whole) << 32))[0]
    return float(-size if whole < 0 else size)


# ---- the script of Vega

BUNDLE = Path(__file__).parents[1] / "reportgen" / "site" / "assets" / "vega.js"
# vl-convert does not include the interpreter: it is at the end of the bundle, and stays there.
_INTERPRETER = "/* vega-interpreter "
# vl-convert resolves this path to the copy it includes. The name "vega" in its documentation resolves to that
# package's default export, which is null.
_SNIPPET = 'import * as all from "/npm/vega@{version}/+esm"; window.vega={{...all}};'
# Vega-Lite's function calls the method "map" of whatever an expression gives it (CVE-2025-65110). From
# vega-selections 6.1.2 on it checks that; vl-convert includes an earlier one, so the same check is added.
_UNCHECKED = re.compile(
    r"(function (?P<name>\w+)\((?P<array>\w+),(?P<base>\w+)\)\{)(?=return (?P=array)\.map\()"
)
_CHECKED = "must be an array"


def make_bundle() -> str:
    """Make a classic script that sets ``window.vega``, with ``vega.expressionInterpreter`` for a strict CSP.

    The bundle's own names are one letter long, so the script is wrapped in a function. Raises a RuntimeError
    if vl-convert returned no Vega, which may happen in a new version.
    """
    version = vl_convert.get_vega_version()
    vega = vl_convert.javascript_bundle(_SNIPPET.format(version=version))
    if "View:" not in vega or "expressionFunction:" not in vega:
        carrier = f"vl-convert {version_of('vl-convert-python')}"
        raise RuntimeError(f"{carrier} bundled no Vega {version}")
    # ``vlSelectionTuples`` has another name in the script.
    registered = re.search(r'"vlSelectionTuples",(\w+)\)', vega)
    for match in _UNCHECKED.finditer(vega):
        if registered and match["name"] == registered[1]:
            array, base = match["array"], match["base"]
            check = f'if(!Array.isArray({array})||Object({base})!=={base})throw Error("this {_CHECKED}");'
            vega = vega[: match.end()] + check + vega[match.end() :]
            break
    else:
        if _CHECKED not in vega:
            raise RuntimeError(
                "vlSelectionTuples is another function in this Vega: see whether it is checked"
            )
    _, mark, interpreter = BUNDLE.read_text(encoding="utf-8").partition(_INTERPRETER)
    return f'(function(){{"use strict";{vega}}})();\n{mark}{interpreter}'


if __name__ == "__main__":
    BUNDLE.write_text(make_bundle(), encoding="utf-8")
