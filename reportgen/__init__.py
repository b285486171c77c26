"""reportgen: static report sites for machine-learning results.

In a notebook: ``read`` opens run data, ``curves`` gives a frame, ``draw`` an Altair chart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.notebook import Table, curves, draw, read

__version__ = "0.1.0"
__all__ = ["Table", "__version__", "curves", "draw", "read"]


def __getattr__(name: str) -> object:
    """Import the notebook's functions when they are first used: the command line does without them."""
    if name in {"Table", "curves", "draw", "read"}:
        from reportgen import notebook  # noqa: PLC0415

        found: object = getattr(notebook, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
