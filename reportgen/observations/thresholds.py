"""What an effect is held against: a number of the metric's unit, or a test over runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from reportgen.outcomes import Verdict
from reportgen.words import format_equation, format_number, format_p

if TYPE_CHECKING:
    from reportgen.outcomes import Comparison

# Numbers that differ by less than this share are one number, computed in two ways.
SAME = 1e-9
_MOST_STRENGTH = 100.0
# More decimals than these are an exponent's.
_MOST_DECIMALS = 12
_MOST_SIGNIFICANT = 6

SMALL = 1e-4
"""Of numbers below it the zeros are hard to count."""


class Criterion(Protocol):
    """Whatever can say whether an effect is more than noise."""

    @property
    def noisy(self) -> bool:
        """Whether it is open what an effect is that is not, instead of just small."""

    def is_exceeded(self, effect: float) -> bool:
        """Whether it is."""

    def describe(self, effect: float) -> str:
        """The comparison in words, a phrase."""

    def strength(self, effect: float) -> float:
        """How clear it is: 1 where it is just enough."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """What an effect is held against.

    Attributes:
        value: an effect has to be larger.
        source: where it comes from, a phrase.
        noisy: it is noise, so that an effect within it is open; otherwise it is just too small to be told.
    """

    value: float
    source: str
    noisy: bool = False

    def is_exceeded(self, effect: float) -> bool:
        """Whether an effect is larger, and not only by the last digits of a computation."""
        return abs(effect) > self.value * (1 + SAME)

    def describe(self, effect: float) -> str:
        """The comparison in words: ``0.041 is more than 0.012, half the band of 5 runs``."""
        relation = "more" if self.is_exceeded(effect) else "not more"
        parts = (abs(effect), self.value)
        for significant in range(2, _MOST_SIGNIFICANT + 1):
            said = [format_at_scale(part, max(self.value, SAME * abs(effect)), significant) for part in parts]
            # As many digits as tell the two apart.
            if said[0] != said[1]:
                break
        return f"{said[0]} is {relation} than {said[1]}, {self.source}"

    def strength(self, effect: float) -> float:
        """How many times the threshold the effect is; finite even where nothing is held against it."""
        return abs(effect) / self.value if self.value > 0 else _MOST_STRENGTH


@dataclass(frozen=True, slots=True)
class Tested:
    """Two last readings, held against each other by the test over runs that claims are held to, too.

    Attributes:
        comparison: tested, and adjusted together with all pairs of the figure.
        share: of an error of 5 % of the block what this question may use.
    """

    comparison: Comparison
    share: float

    @property
    def noisy(self) -> bool:
        """A test always leaves a doubt."""
        return True

    def is_exceeded(self, effect: float) -> bool:
        """Whether the test tells the two apart; that is the test's to say, whatever the effect."""
        del effect
        one = self.comparison
        return one.verdict in {Verdict.BETTER, Verdict.WORSE} and (one.adjusted_p or 0.0) <= self.share

    def describe(self, effect: float) -> str:
        """``adjusted p = 0.0012, by Welch's t over runs; the block asks for 0.005``."""
        del effect
        one = self.comparison
        name = "adjusted p" if one.tested_together > 1 else "p"
        p = format_equation(name, format_p(one.adjusted_p or 0.0))
        return f"{p}, by Welch's t over runs; {describe_share(self.share)}"

    def strength(self, effect: float) -> float:
        """The difference by half its interval."""
        one = self.comparison
        if one.low is None or one.high is None or one.high <= one.low:
            return 1.0
        return min(abs(effect) / ((one.high - one.low) / 2), _MOST_STRENGTH)


@dataclass(frozen=True, slots=True)
class Decided:
    """A difference of two series that a test over windows of readings has decided.

    Attributes:
        clear: whether there is one.
        share: as in ``Tested``.
    """

    clear: bool
    share: float

    @property
    def noisy(self) -> bool:
        """A test always leaves a doubt."""
        return True

    def is_exceeded(self, effect: float) -> bool:
        """What the test has said."""
        del effect
        return self.clear

    def describe(self, effect: float) -> str:
        """``means of the last readings differ, by t; the block asks for p ≤ 0.0075``."""
        del effect
        verb = "differ" if self.clear else "do not differ clearly"
        return f"means of neighbouring readings {verb}, by t; {describe_share(self.share)}"

    def strength(self, effect: float) -> float:
        """Clear or not."""
        del effect
        return 2.0 if self.clear else 1.0


def describe_share(share: float) -> str:
    """What a question's share of the block's error is: ``the block asks for 0.015``."""
    return f"the block asks for p ≤ {format_number(share, significant=2)}"


def count_decimals(noise: float, significant: int) -> int:
    """Decimals at which a number has so many digits; 4 for a number that is 0."""
    if noise <= 0:
        return 4
    return min(significant - 1 - math.floor(math.log10(noise)), _MOST_DECIMALS)


def format_at_scale(value: float, scale: float, significant: int) -> str:
    """A number of which ``scale`` has so many digits; small ones with an exponent."""
    decimals = count_decimals(scale, significant)
    if 0 < scale < SMALL:
        return format_scientific(value, decimals)
    return trim_zeros(format_number(value, decimals=decimals))


def format_scientific(value: float, decimals: int) -> str:
    """A number with an exponent, to so many decimals of the number itself: ``1.6e−6``, ``0``."""
    value = round(value, decimals)
    if not value:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = format_number(value * 10.0**-exponent, decimals=max(decimals + exponent, 0))
    return f"{mantissa}e{format_number(exponent)}"


def trim_zeros(text: str) -> str:
    """A number without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
