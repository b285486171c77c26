"""Links to a state of a figure can be read back, whatever the names."""

from __future__ import annotations

import math
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.figures.text import write_link_state

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
STEPS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (write_link_state("scores"), "scores"),
        (
            write_link_state("scores", ("MEL", "GRPO"), (100, 140), (120, "MEL")),
            "scores~series=MEL,GRPO~x=100..140~mark=120@MEL",
        ),
        (write_link_state("diagnostics-2", x=(-0.5, 1e6)), "diagnostics-2~x=-0.5..1000000"),
        (write_link_state("a", mark=(0.1, "Series A")), "a~mark=0.1@Series%20A"),
        (
            write_link_state("a", ("x~y,z@w/%", "é−")),
            "a~series=x%7Ey%2Cz%40w%2F%25,%C3%A9%E2%88%92",
        ),
    ],
)
def test_a_link_says_only_what_is_given(link: str, said: str) -> None:
    """Parts that are not given are not written; whole steps have no decimals."""
    assert link == said


@given(st.lists(NAMES), st.tuples(STEPS, STEPS), st.tuples(STEPS, NAMES))
def test_a_link_can_be_read_back(series: list[str], x: tuple[float, float], mark: tuple[float, str]) -> None:
    """Names may hold any character, the marks between the parts too, and no step is rounded."""
    figure, *parts = write_link_state("a", series, x, mark).split("~")
    found = dict(part.split("=") for part in parts)
    assert figure == "a"
    assert [unquote(name) for name in found.get("series", "").split(",") if name] == series
    assert tuple(float(step) for step in found["x"].split("..")) == x
    step, name = found["mark"].split("@")
    assert (float(step), unquote(name)) == mark


@given(NAMES)
def test_a_link_needs_no_quoting(name: str) -> None:
    """It stands in an attribute and in an address as it is."""
    assert write_link_state("a", (name,)).isascii()
    assert not set(write_link_state("a", (name,))) & set(" \"'<>&#?/")


@pytest.mark.parametrize("step", [math.nan, math.inf])
def test_a_step_that_is_no_number_is_refused(step: float) -> None:
    """It would be a link to nowhere."""
    with pytest.raises(ValueError, match="cannot name the step"):
        write_link_state("a", mark=(step, "b"))
