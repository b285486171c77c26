"""What Vega itself makes of numbers and specifications: the reference for what we write ourselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree as ET

import vl_convert

if TYPE_CHECKING:
    from collections.abc import Iterable

_SVG = "{http://www.w3.org/2000/svg}"


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
