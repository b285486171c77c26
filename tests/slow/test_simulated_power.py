"""The power that a page states is the power simulated, alone and within a family of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from simulated.power import ALONE, FAMILIES, measure_power

if TYPE_CHECKING:
    from simulated.answers import Field

_APART = 0.05


@pytest.mark.parametrize("field", [*ALONE[:2], ALONE[5]], ids=repr)
def test_alone(field: Field) -> None:
    """Two models, right or wrong answers of several laws: within 5 points and the error of 400 draws."""
    found = measure_power(field, 400, np.random.default_rng(2026))
    assert abs(found.furthest) <= _APART + 2 * (0.2 / 400) ** 0.5, found


@pytest.mark.parametrize("field", FAMILIES[:1], ids=repr)
def test_in_a_family(field: Field) -> None:
    """One pair apart among six models of one ability."""
    found = measure_power(field, 250, np.random.default_rng(2026))
    assert abs(found.furthest) <= _APART + 2 * (0.2 / 250) ** 0.5, found
