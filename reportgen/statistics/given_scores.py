"""Totals that a harness reports, without the problems behind them."""

from __future__ import annotations

import math

from reportgen.outcomes import Score
from reportgen.statistics.intervals import checked_level, normal_quantile


def given_score(
    series: str,
    value: float | None,
    stderr: float | None = None,
    *,
    metric: str = "mean",
    problems: int = 0,
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> Score:
    """A total that a harness reports, such as ``acc`` with ``acc_stderr``, used as given.

    The interval is value ± z stderr, cut at the range of scores if it is stated. Without problems nothing can
    be paired: such a score is never compared.

    Args:
        series: its name.
        value: the total; None or not finite where there is none.
        stderr: its standard error; None where it is not given.
        metric: as the harness names it.
        problems: how many the harness says; 0 where it does not say.
        level: confidence level.
        ends: the smallest and the largest possible score; None where the range is not known.
    """
    known = value is not None and math.isfinite(value)
    reason, half = "", None
    lowest, highest = ends or (-math.inf, math.inf)
    if not known:
        reason = "no score is reported"
    elif stderr is None or not math.isfinite(stderr):
        reason = "no standard error is reported"
    elif stderr <= 0:
        reason = f"the reported standard error is {stderr:g}, which leaves nothing to build an interval from"
    else:
        half = normal_quantile(checked_level(level)) * stderr
    return Score(
        series=series,
        metric=metric,
        estimand="",
        level=level,
        estimate=value if known else None,
        low=max(value - half, min(lowest, value)) if value is not None and half is not None else None,
        high=min(value + half, max(highest, value)) if value is not None and half is not None else None,
        method="reported by harness",
        reason=reason,
        problems=problems,
        stderr=stderr if half is not None else None,
    )
