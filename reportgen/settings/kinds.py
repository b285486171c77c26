"""Every kind of fenced block, and what its body may say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.settings.blocks import CHART_BLOCKS
from reportgen.settings.observation_blocks import OBSERVATION_BLOCKS
from reportgen.settings.score_blocks import SCORE_BLOCKS

if TYPE_CHECKING:
    from reportgen.settings.blocks import BlockSettings

BLOCKS: dict[str, type[BlockSettings]] = {**CHART_BLOCKS, **SCORE_BLOCKS, **OBSERVATION_BLOCKS}
