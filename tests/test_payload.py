"""What the browser gets of a figure are the numbers of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import curve, curve_set, figure
from tries import tries
from unpacked_payload import unpack_payload

_SHORT = st.integers(-999, 999).map(lambda n: n / 100)
_VALUES = st.floats(1e-12, 1e12) | st.floats(-1e12, -1e-12) | _SHORT


def _read(values: list[float], half: float) -> dict[str, Any]:
    payload = unpack_payload(str(figure(curve_set(curve("a", values, half=half))).payload))
    line: dict[str, Any] = payload["series"][0]
    return line


@given(st.lists(_VALUES, min_size=2, max_size=20))
def test_a_small_figure_gets_the_values_themselves(values: list[float]) -> None:
    """Up to 2,000 of them, with the ends of their intervals."""
    line = _read(values, 3.0)
    assert line["y"] == values
    assert line["low"] == [value - 3 for value in values]


@pytest.mark.parametrize("half", [0.0, 0.01])
@settings(max_examples=tries(20, 80))
@given(st.integers(0, 2**32), st.sampled_from([1e-9, 1, 1e9]), st.sampled_from([(1,), (-1, 1)]))
def test_a_large_figure_gets_six_digits_of_each_value(
    half: float, seed: int, size: float, signs: tuple[int, ...]
) -> None:
    """Whatever the other values are."""
    random = np.random.default_rng(seed)
    values = np.exp(random.normal(0, 5, 2_001)) * size * random.choice(signs, 2_001)
    line = _read(values.tolist(), half)
    np.testing.assert_allclose(line["y"], values, rtol=1e-6, atol=0)
    if half:
        np.testing.assert_allclose(line["low"], values - half, rtol=1e-6, atol=0)
        np.testing.assert_allclose(line["high"], values + half, rtol=1e-6, atol=0)


@given(st.integers(0, 2**32), st.integers(0, 5))
def test_short_decimals_stay_themselves(seed: int, decimals: int) -> None:
    """However many they are."""
    values = np.random.default_rng(seed).normal(0, 1, 2_001).round(decimals).tolist()
    assert _read(values, 0.0)["y"] == values
