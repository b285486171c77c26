"""reportgen: static report sites for machine-learning results.

In a notebook, ``read`` opens run data; ``curves``, ``scores`` and ``compare`` return data frames, and
``draw`` returns an Altair chart. ``freeze`` reduces a table of a database or a cluster to a source of a
report.
"""

from __future__ import annotations

import sys

# "python -m reportgen" puts the working folder first on sys.path, so a report's file could shadow a module.
# This is the first line of ours that runs. The path does not change under any other command.
if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] in {"reportgen", "-mreportgen"}:
    del sys.path[: not sys.flags.safe_path]

from types import ModuleType
from typing import TYPE_CHECKING

from reportgen.core import __version__

if TYPE_CHECKING:
    from reportgen.core.errors import ReportError
    from reportgen.notebook import Table, compare, curves, draw, freeze, read, scores

__all__ = ["ReportError", "Table", "__version__", "compare", "curves", "draw", "freeze", "read", "scores"]


def __getattr__(name: str) -> object:
    """Import the notebook functions on first use, since the command line does not need them."""
    if name == "ReportError":
        from reportgen.core.errors import ReportError  # noqa: PLC0415

        return ReportError
    if name in __all__:
        from reportgen import notebook  # noqa: PLC0415

        found: object = getattr(notebook, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, which ``__getattr__`` imports on first use."""
    return __all__


class _Package(ModuleType):
    """Module type that keeps ``reportgen.read`` a function when the subpackage ``read`` is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name == "read" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
