"""How many random inputs a test tries: few in ``make test``, many in ``make test-slow``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterable

FEW, MANY = 20, 500


def is_slow() -> bool:
    """Whether ``--slow`` was given."""
    return settings().max_examples == MANY


def tries(few: int, many: int) -> int:
    """The first number, or with ``--slow`` the second: where ``FEW`` and ``MANY`` do not fit a test."""
    return many if is_slow() else few


def slow_after(count: int, values: Iterable[object]) -> list[object]:
    """Values of a parameter: so many for the fast tests, the others for the slow ones."""
    own = list(values)
    return own[:count] + [pytest.param(one, marks=pytest.mark.slow) for one in own[count:]]
