"""Parts of the bodies of fenced blocks: choices, reference lines and annotations."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field, model_validator

from reportgen.settings.base import Name, Number, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

Derived: TypeAlias = Annotated[dict[Name, Name], Field(min_length=1)]
"""Names of derived metrics and their formulas."""
Metrics: TypeAlias = Name | Annotated[tuple[Name | Derived, ...], Field(min_length=1)] | Derived
"""A metric, several, or derived ones: ``loss``, ``[train/loss, eval/loss]``, ``{error: 1 - accuracy}``."""


def list_formulas(metrics: Metrics | None) -> dict[str, str]:
    """Return metrics with their formulas, empty for those that the data have."""
    if isinstance(metrics, dict):
        return metrics
    if metrics is None or isinstance(metrics, str):
        return {} if metrics is None else {metrics: ""}
    return {name: formula for item in metrics for name, formula in list_formulas(item).items()}


FILTER = (
    "Only rows whose column or setting has this value, or one of these; also patterns such as qwen* and "
    "!qwen*, and comparisons such as <= 1e-5."
)


PEAK = "Interval of the best value: none, or simultaneous, which allows for the choice of its step."


def find_sources(value: object) -> Iterator[str]:
    """Yield each ``data: {source: NAME}`` in a specification, outermost first."""
    if isinstance(value, dict):
        data = value.get("data")
        if isinstance(data, dict) and isinstance(data.get("source"), str):
            yield data["source"]
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from find_sources(item)


class Band(StrEnum):
    """What the band around a mean shows across runs."""

    CI = "ci"
    SIMULTANEOUS = "simultaneous"
    SE = "se"
    SD = "sd"
    RANGE = "range"
    IQR = "iqr"
    NONE = "none"


class Peak(StrEnum):
    """Which interval the best value of a curve has."""

    NONE = "none"
    SIMULTANEOUS = "simultaneous"


class Statistic(StrEnum):
    """A column of a ``table`` block."""

    FINAL = "final"
    PEAK = "peak"
    MEAN = "mean"


class ReferenceLine(Settings):
    """A thin line across the figure."""

    x: Number | None = Field(None, description="Draw a vertical line at this step.")
    y: Number | None = Field(None, description="Draw a horizontal line at this value.")
    label: str = Field("", description="A few words at the line.")

    @model_validator(mode="after")
    def _check_axis(self) -> ReferenceLine:
        if (self.x is None) == (self.y is None):
            raise ValueError("a reference line takes either x or y")
        return self


class Annotation(Settings):
    """A short text at one step of one series."""

    x: Number = Field(description="The step the text belongs to.")
    text: Name = Field(description="The text; a few words.")
    series: Name | None = Field(None, description="The series it points at; none: the top of the figure.")


class Rule(StrEnum):
    """A rule that makes observations; its name is what a reader sees."""

    SAME_START = "same start"
    BEST = "best"
    RISE = "rise"
    PLATEAU = "plateau"
    STEADY = "steady"
    DIP = "dip"
    SPIKE = "spike"
    LATE_DECLINE = "late decline"
    CROSSING = "crossing"
    WIDEST_GAP = "widest gap"
    CONVERGE = "converge"
    TIERS = "tiers"
    INSTABILITY = "instability"
    UNCERTAIN_HERE = "uncertain here"
    PART_COMPANY = "part company"
