"""What the browser is told of a figure reads as the data table does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reportgen.figures.number_format import format_d3
from reportgen.figures.payload import round_values

_VALUES = st.lists(st.floats(-1000, 1000, allow_subnormal=False), min_size=1, max_size=20)


@given(_VALUES, st.integers(1, 4), st.integers(1, 4))
def test_rounding_twice_reads_as_rounding_once(values: list[float], read: int, more: int) -> None:
    """Also where the payload's rounding would end in the middle of what is read out."""
    near = [round(value, read) + sign * 0.5 * 10**-read - 1e-9 for value in values for sign in (1, -1)]
    column = np.array([*values, *near])
    for told, value in zip(round_values(column, read + more, read), column.tolist(), strict=True):
        assert told is not None
        assert format_d3(told, f",.{read}f") == format_d3(value, f",.{read}f")


def test_a_column_is_short_where_that_reads_the_same() -> None:
    """Every digit costs room on the page."""
    assert round_values(np.array([74.94999, 0.123456789, np.nan]), 4, 1) == [74.94999, 0.1235, None]
    assert round_values(np.array([74.94999]), 4) == [74.95]
