"""Sums that come out the same to the last bit, however a database spreads rows over threads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.model import FloatArray

_LEVELS = 4
_MANTISSA = 53


def split_column(
    frame: nw.LazyFrame[Any], column: str, largest: float, count: int
) -> tuple[nw.LazyFrame[Any], list[str]]:
    """Split a column into parts whose sums are exact, hence the same in any order.

    Adding and subtracting a large power of two cuts a number at a fixed bit. All parts of one level are
    then multiples of one unit, and up to ``count`` of them add up without rounding. What the last level
    leaves is not summed; with a million rows it is below 2^-125 of ``largest``.

    Source: ExtractVector in Rump, Ogita and Oishi, "Accurate Floating-Point Summation" (2008); used for
    reproducible sums by Demmel and Nguyen, "Fast Reproducible Floating-Point Summation" (2013).

    Args:
        frame: the table.
        column: a float64 column without null; NaN stays NaN.
        largest: no absolute value is larger.
        count: no group has more rows.

    Returns:
        The table with the parts as further columns, and their names.
    """
    bits = max(1, math.ceil(math.log2(max(count, 1))) + 1)
    exponent = (math.frexp(largest)[1] if largest > 0 else 0) + bits
    rest = f"{column}_rest"
    frame = frame.with_columns(nw.col(column).alias(rest))
    names = [f"{column}_{level}" for level in range(_LEVELS)]
    for name in names:
        # 1.5 keeps sum and difference within one power of two for either sign.
        cut = 1.5 * 2.0 ** min(max(exponent, -900), 1000)
        frame = frame.with_columns(((nw.col(rest) + cut) - cut).alias(name))
        frame = frame.with_columns((nw.col(rest) - nw.col(name)).alias(rest))
        exponent += bits - _MANTISSA + 1
    return frame, names


def add_parts(sums: Mapping[str, FloatArray], names: list[str]) -> FloatArray:
    """The sum of the parts' sums, from the smallest part to the largest."""
    result = sums[names[-1]]
    for name in reversed(names[:-1]):
        result = result + sums[name]
    return result
