"""Tables of measurements in which no column is a metric."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from reportgen.errors import Problem, Severity, Stage
from reportgen.read.cells import NUMERIC, Kind
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.errors import SourceLocation
    from reportgen.read.layout import Survey


def warn_no_metrics(found: Survey, place: SourceLocation) -> Iterator[Problem]:
    """A warning of a source of measurements that has nothing to draw, as where decimals have commas."""
    layout = found.layout
    if layout.metrics or layout.outcomes or layout.totals:
        return
    played = astuple(layout.roles)
    rest = {name: kind for name, kind in layout.kinds.items() if name not in played and kind not in NUMERIC}
    texts = [f'"{name}"' for name, kind in rest.items() if kind is not Kind.EMPTY]
    empty = [f'"{name}"' for name, kind in rest.items() if kind is Kind.EMPTY]
    message = "no column holds the numbers of a metric"
    advice = "Write numbers as 0.5, not as 0,5, and commas, semicolons or tabs between cells"
    if layout.long:
        message = f'no row names a metric: the column "{layout.roles.metric}" is empty'
        advice = "Fill it with what each value is of"
    elif texts:
        message = f"{message}: {list_names(texts)} {'holds' if len(texts) == 1 else 'hold'} texts"
    elif empty:
        message = f"{message}: {list_names(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        advice = "Wait for the first values, or name other files with files:"
    yield Problem(place, message, advice, Stage.DATA, Severity.WARNING)
