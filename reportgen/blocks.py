"""What a block of your own is written with; the guide's page "Your own block" shows one.

A package declares it as an entry point in the group ``reportgen.blocks``, whose name is the word of the fence
and whose object is a ``ChartBlock``.
"""

from pydantic import Field

from reportgen.settings.block_parts import ChartSettings
from reportgen.settings.blocks import ChartBlock

__all__ = ["ChartBlock", "ChartSettings", "Field"]
