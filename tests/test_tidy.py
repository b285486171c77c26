"""The figure's numbers as CSV: nothing is lost, and nothing runs in a spreadsheet.

Its columns and what is quoted stand in ``transcripts/csv_files.md``.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from made_figures import HOSTILE, curve, curve_set, spec, wave
from msgspec.structs import replace

from reportgen.figures.live import write_curves_csv

if TYPE_CHECKING:
    from reportgen.core.model import CurveSet

NAN = float("nan")
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30)
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def rows(text: str) -> list[dict[str, str]]:
    """A CSV file as the csv module reads it."""
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@given(hnp.arrays(np.float64, 5, elements=st.floats(-1e307, 1e307) | st.just(NAN)))
def test_numbers_keep_ten_digits(values: np.ndarray) -> None:
    """A number read back is the number to ten significant digits, however large or small."""
    read = [row["value"] for row in rows(write_curves_csv(curve_set(curve("a", values.tolist()))))]
    for text, value in zip(read, values.tolist(), strict=True):
        assert text == "" if np.isnan(value) else float(text) == pytest.approx(value, rel=6e-10, abs=1e-320)


def test_every_point_is_there_with_its_step() -> None:
    """The picture is thinned to its pixels, the file is not; what is missing is empty, neither nan nor 0."""
    assert len(rows(write_curves_csv(curve_set(curve("a", wave(5000)))))) == 5000
    steps = [1_700_000_000_124.0, 987_654_321_987_654.0]
    first, last = rows(write_curves_csv(curve_set(curve("a", [1, NAN], steps=steps))))
    assert (first["step"], last["step"]) == ("1700000000124", "987654321987654")
    assert [last[name] for name in ("value", "low", "high", "n")] == ["", "", "", "1"]


@given(NAMES, NAMES)
def test_any_name_comes_back(series: str, metric: str) -> None:
    """Commas, quotes and line breaks survive; a formula has an apostrophe before it."""
    made = replace(curve_set(curve(series, [0.5, NAN], half=0.1)), metric=metric)
    for row in rows(write_curves_csv(made)):
        assert row["series"] in {series, f"'{series}"}
        assert row["metric"] in {metric, f"'{metric}"}
        assert row["step"] in {"0", "1"}


def test_hostile_names_come_back() -> None:
    """What no browser may run, a CSV file may hold."""
    for name in HOSTILE:
        if "\x00" not in name:
            (row,) = rows(write_curves_csv(curve_set(curve(name, [0.5]))))
            assert row["series"] in {name, f"'{name}"}


@given(NAMES)
def test_no_cell_is_a_formula(name: str) -> None:
    """A spreadsheet runs cells that begin with one of these marks, as OWASP lists them."""
    (row,) = rows(write_curves_csv(curve_set(curve(name, [0.5]))))
    assert not row["series"].startswith(DANGEROUS)


def test_a_formula_gets_an_apostrophe() -> None:
    """It is shown as it is written."""
    for formula in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"):
        (row,) = rows(write_curves_csv(curve_set(curve(formula, [0.5]))))
        assert row["series"] == f"'{formula}"


def test_runs_are_thinned_to_what_can_be_seen() -> None:
    """The runs of a Vega-Lite file are its picture's thin lines, with their extremes."""
    curves = curve_set(curve("a", wave(5000), runs=2, half=0.1))
    read = [row for row in spec(curves)["data"]["values"] if "run" in row]
    assert {row["run"] for row in read} == {"run 0", "run 1"}
    assert len(read) < 2 * 200
    for run in curves.curves[0].runs:
        values = [row["value"] for row in read if row["run"] == run.run]
        assert max(values) == pytest.approx(run.values.max(), rel=1e-5)
        assert min(values) == pytest.approx(run.values.min(), rel=1e-5)


def test_a_smoothed_run_is_drawn_smoothed() -> None:
    """The thin line of a smoothed figure is the smoothed run, as in the picture."""
    curves: CurveSet = curve_set(curve("a", [0.5, 0.5], raw=[0.0, 1.0], runs=2), smooth=0.5)
    smooth = tuple(replace(run, smoothed=np.array([0.25, 0.75])) for run in curves.curves[0].runs)
    curves = replace(curves, curves=(replace(curves.curves[0], runs=smooth),))
    shown = spec(curves)["data"]["values"]
    assert [row["value"] for row in shown if "run" in row] == [0.25, 0.75] * 2
