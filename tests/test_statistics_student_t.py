"""Student's t without SciPy, held to SciPy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reportgen.statistics.distributions import t_quantile, t_tail

_PROBABILITIES = st.floats(0.001, 0.999)
_DEGREES = st.floats(0.5, 2000)


@given(_PROBABILITIES, _DEGREES)
def test_the_quantile_is_scipys(probability: float, df: float) -> None:
    """To ten digits, for whole and for broken degrees of freedom."""
    assert t_quantile(probability, df) == pytest.approx(
        float(stats.t.ppf(probability, df)), rel=1e-10, abs=1e-10
    )


@given(st.floats(0, 1e4), _DEGREES)
def test_the_tail_is_scipys(value: float, df: float) -> None:
    """Far out too, where the tail is tiny."""
    assert t_tail(value, df) == pytest.approx(float(stats.t.sf(value, df)), rel=1e-9, abs=1e-300)


@given(_PROBABILITIES, _DEGREES)
def test_the_quantile_is_symmetric_about_zero(probability: float, df: float) -> None:
    """As the distribution is."""
    assert t_quantile(1 - probability, df) == pytest.approx(-t_quantile(probability, df), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    ("df", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (29, 2.045), (math.inf, 1.960)]
)
def test_the_quantiles_of_every_textbook(df: float, quantile: float) -> None:
    """Two-sided 95 %, to the three digits that tables print."""
    assert round(t_quantile(0.975, df), 3) == quantile


@pytest.mark.parametrize(("probability", "df"), [(0, 3), (1, 3), (0.5, 0), (0.9, -1), (math.nan, 3)])
def test_what_has_no_quantile_is_refused(probability: float, df: float) -> None:
    """Rather than answered with a number that means nothing."""
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(probability, df)
