"""Permanent links to a state of a figure: which series stand out, which steps are shown, which point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST_WHOLE = 2**53


def write_link_state(
    figure: str,
    series: Sequence[str] = (),
    x: tuple[float, float] | None = None,
    mark: tuple[float, str] | None = None,
) -> str:
    """The fragment of a link to a state of a figure: ``scores~series=MEL,GRPO~x=100..140~mark=120@MEL``.

    ``site/assets/live-state.js`` reads it. Names are percent-encoded, so none of the marks between the parts
    can stand in one; only the parts that are given are written, in this order.

    Args:
        figure: the figure's id; for panels that of the panel.
        series: names of the series to show, the others fade; all where empty.
        x: the range of steps to show; all where None.
        mark: the step and the series of the point to mark.

    Raises:
        ValueError: a step is not finite.
    """
    parts = [_name(figure)]
    if series:
        parts.append("series=" + ",".join(map(_name, series)))
    if x is not None:
        parts.append("x=" + "..".join(map(_number, x)))
    if mark is not None:
        step, name = mark
        parts.append(f"mark={_number(step)}@{_name(name)}")
    return "~".join(parts)


def _name(name: str) -> str:
    # A lone surrogate cannot be encoded; a tilde, which parts the parts, never is unless asked.
    return quote(name.encode("utf-8", "replace"), safe="").replace("~", "%7E")


def _number(value: float) -> str:
    if not math.isfinite(value):
        msg = f"a link cannot name the step {value}"
        raise ValueError(msg)
    if float(value).is_integer() and abs(value) <= _LARGEST_WHOLE:
        return str(int(value))
    return repr(float(value))
