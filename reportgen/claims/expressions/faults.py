"""What is wrong with an expression, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing in an expression for its author to mend; the texts are sentences without their full stops."""

    position: int  # where it starts in the expression, from 0; its length where it is too short
    length: int  # how many characters it covers, at least 1
    message: str  # what was found
    next_step: str = ""  # what to do about it; may be empty


class ExpressionError(ValueError):
    """An expression that cannot be judged; ``faults`` are all of them in order, at least one."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(fault.message for fault in self.faults))


def shorten(text: str, most: int = 60) -> str:
    """Words of an expression inside a sentence."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
