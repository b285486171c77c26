"""Numbers to words: as many digits as the interval deserves, and never a rounding that lies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.model import Estimate

_MINUS = "\N{MINUS SIGN}"


def estimate_words(estimate: Estimate) -> str:
    """A value with its interval, in the digits that the interval deserves: ``0.820 ± 0.012``.

    Two significant digits of the half-width decide. An interval whose middle is not the value is written
    out: ``0.820 [0.800, 0.850]``. Without an interval four significant digits stand.
    """
    if estimate.low is None or estimate.high is None:
        return _signed(f"{estimate.value:.4g}")
    half = (estimate.high - estimate.low) / 2
    if half <= 0:
        return _signed(f"{estimate.value:.4g}")
    decimals = max(0, 1 - math.floor(math.log10(half)))
    value, low, high, width = (
        f"{number:,.{decimals}f}" for number in (estimate.value, estimate.low, estimate.high, half)
    )
    middle = (estimate.low + estimate.high) / 2
    if abs(middle - estimate.value) > half / 20:
        return _signed(f"{value} [{low}, {high}]")
    return _signed(f"{value} ± {width}")


def _signed(text: str) -> str:
    return text.replace("-", _MINUS)
