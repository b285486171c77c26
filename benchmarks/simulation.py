"""Rows of simulated rates, as independent tasks for several processes, with seeds that derive from names."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NORMAL = 1.96


class Task(NamedTuple):
    """A function of a module, with its arguments, that any process can call."""

    call: Callable[..., Any]
    arguments: tuple[Any, ...]


class Row(NamedTuple):
    """A line of the table: what is measured, what it must be, and the words for the tasks' results."""

    what: str
    must: str
    tasks: Sequence[Task]
    describe: Callable[[list[Any]], str]


class Setting(NamedTuple):
    """How much is simulated, from which seed, and of which generators: ``usual`` or ``other``."""

    full: bool
    seed: int
    generators: str

    @property
    def is_other(self) -> bool:
        """Whether the laws are others than those of the tests."""
        return self.generators == "other"

    def derive_seed(self, *names: object) -> int:
        """Return a seed of these names' own, whatever else is simulated and in which process."""
        return zlib.crc32(repr((self.seed, self.generators, *names)).encode())

    def make_rng(self, *names: object) -> np.random.Generator:
        """Make the generator of that seed."""
        return np.random.default_rng(self.derive_seed(*names))


def estimate_error(share: float, times: int) -> float:
    """Return half the width of the 95% interval of a share (Wilson 1927)."""
    square = _NORMAL**2 / times
    return _NORMAL / (1 + square) * math.sqrt(share * (1 - share) / times + square / 4 / times)


def format_share(count: float, times: int) -> str:
    """Format a share in per cent with its error: ``3.5 ± 1.8``."""
    share = count / times
    return f"{100 * share:.1f} ± {100 * estimate_error(share, times):.1f}"
