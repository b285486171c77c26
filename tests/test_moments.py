"""Moments: read as people write them, in UTC, and written so that they can be read."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.words import format_moment, parse_moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-02", 86_400_000.0),
        ("1970-01-01T00:00:01.5", 1500.0),
        ("1970-01-01 01:00+01:00", 0.0),
        ("1970-01-01T00:00Z", 0.0),
        ("1969-12-31", -86_400_000.0),
        ("2024-02-30", None),
        ("20240501", None),
        ("2024-W18", None),
        ("0001-01-01T00:00+23:59", -62_135_683_140_000.0),
        ("", None),
    ],
)
def test_moments_are_read_in_utc(text: str, moment: float | None) -> None:
    """ISO dates and times, UTC without an offset, and no other spelling."""
    assert parse_moment(text) == moment


@given(st.floats(-62_135_596_800_000, 253_402_300_799_000))
def test_moments_are_read_back(milliseconds: float) -> None:
    """A date that is written for a step is that step, to the microsecond that calendars count."""
    text = format_moment(milliseconds)
    assert text is not None
    read = parse_moment(text)
    assert read is not None
    assert math.isclose(read, milliseconds, abs_tol=1e-3, rel_tol=1e-15)


def test_there_are_no_dates_before_the_first_year_or_behind_the_last() -> None:
    """Steps so far away are told as numbers."""
    assert format_moment(-62_135_596_800_001) is None
    assert format_moment(253_402_300_800_000) is None
