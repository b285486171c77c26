"""Tables of measurements in which no column is a metric."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from reportgen.errors import Problem, Severity, Stage
from reportgen.read.cells import NUMERIC
from reportgen.read.wording import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.errors import Place
    from reportgen.read.layout import Survey


def unmeasured(found: Survey, place: Place) -> Iterator[Problem]:
    """A warning of a source of measurements that has nothing to draw, as where decimals have commas."""
    layout = found.layout
    if layout.metrics or layout.outcomes or layout.totals:
        return
    played = astuple(layout.roles)
    texts = [f'"{name}"' for name, kind in layout.kinds.items() if name not in played and kind not in NUMERIC]
    message = "no column holds the numbers of a metric"
    if texts:
        message = f"{message}: {names(texts)} {'holds' if len(texts) == 1 else 'hold'} texts"
    advice = "Write numbers as 0.5, not as 0,5, and commas, semicolons or tabs between cells"
    yield Problem(place, message, advice, Stage.DATA, Severity.WARNING)
