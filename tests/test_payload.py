"""What the browser reads of a figure reads as the data table does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from made_figures import curve, curve_set, figure
from unpacked_payload import unpack, unpack_payload

from reportgen.figures.number_format import format_d3
from reportgen.figures.payload import pack_numbers

_VALUES = st.lists(st.floats(-1000, 1000, allow_subnormal=False), min_size=2, max_size=20)


@given(st.lists(st.none() | st.integers(-(2**41), 2**41), max_size=20))
def test_packed_numbers_are_read_back(numbers: list[int | None]) -> None:
    """Any whole numbers, and gaps."""
    packed = pack_numbers(np.array([np.nan if one is None else float(one) for one in numbers]))
    assert unpack(packed) == numbers
    assert not set(packed) & set("\"\\<>&'")


@given(_VALUES, st.integers(0, 3))
def test_values_read_as_in_the_data_table(values: list[float], half: int) -> None:
    """Also where rounding to levels would end in the middle of what is read out."""
    near = [round(value, 2) + sign * 0.005 - 1e-9 for value in values for sign in (1, -1)]
    column = np.array([*values, *near])
    payload = unpack_payload(str(figure(curve_set(curve("a", column.tolist(), half=float(half)))).payload))
    (line,), read = payload["series"], payload["y"]["read"]
    for name, expected in (("y", column), ("low", column - half), ("high", column + half)):
        if name in line:
            shown = [format_d3(value, read) for value in line[name]]
            assert shown == [format_d3(value, read) for value in expected.tolist()]
