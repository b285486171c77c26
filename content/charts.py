# noqa: INP001 - a file beside the pages that use it, not a package
"""Charts that pages draw with an ``altair`` block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 2  # of a bar, in degrees Celsius


def distribution(frame: pd.DataFrame) -> alt.Chart:
    """How many days reached which highest temperature, in bars of 2 °C."""
    start = frame["highest temperature (°C)"].floordiv(WIDTH).mul(WIDTH)
    days = start.value_counts().sort_index().rename_axis("start").reset_index(name="days")
    days["end"] = days["start"] + WIDTH
    return (
        alt.Chart(days)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("start", type="quantitative", bin="binned", title="Highest temperature (°C)"),
            x2=alt.X2("end"),
            y=alt.Y("days", type="quantitative", title="Days in four years"),
            tooltip=[
                alt.Tooltip("start", type="quantitative", title="from °C"),
                alt.Tooltip("days", type="quantitative", title="days"),
            ],
        )
        .properties(width=600, height=260)
    )
