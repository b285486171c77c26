"""What the body of an ``observations`` block may say."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from reportgen.settings.base import Name  # noqa: TC001 - pydantic reads the annotations
from reportgen.settings.blocks import BlockSettings


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


class ObservationsSettings(BlockSettings):
    """An ``observations`` block: what rules find in a figure's data, in sentences."""

    of: Name | None = Field(
        None,
        description="Id of a figure or panels on the page, or a source; the page's benchmark if left out.",
    )
    count: Annotated[int, Field(ge=1, le=100)] = Field(
        8, description="How many sentences at most, most telling first."
    )
    rules: tuple[Rule, ...] = Field((), description="Only these rules; all if left out.")


OBSERVATION_BLOCKS: dict[str, type[BlockSettings]] = {"observations": ObservationsSettings}
