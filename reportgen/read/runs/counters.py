"""Steps that count two things in one column, such as iterations in training and epochs in validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.check_repeats import make_keys
from reportgen.read.tables.distinguish import sample_keys
from reportgen.read.tables.rows import locate_row

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from reportgen.read.plan import Plan
    from reportgen.read.tables.distinguish import RowKeys


_FEWEST: Final = 2
# Rows are behind if a row before them has more than twice their step: as with a restart, but again and again.
# A metric has a counter of its own if all of its rows are behind, in rising order, and each after others have
# advanced; rows that are sorted by metric, and a resumed run, are not like that.
_BEHIND_SQL: Final = """
WITH places AS (
    SELECT series, run, part, step, "row" FROM ({select}) WHERE step BETWEEN -{largest} AND {largest}
), ordered AS (
    SELECT *, max(step) OVER (w RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS furthest,
        lag(step) OVER (PARTITION BY series, run, part ORDER BY "row") AS before
    FROM places WINDOW w AS (PARTITION BY series, run ORDER BY "row")
)
SELECT series, run, part, count(*) AS rows, count(*) FILTER (2 * step < furthest) AS behind,
    count(DISTINCT furthest) AS advances, count(DISTINCT step) AS steps,
    count(*) FILTER (step < before) AS returns,
    arg_min({{'row': "row", 'step': step, 'furthest': furthest}}, "row")
        FILTER (2 * step < furthest AND before < step) AS example
FROM ordered GROUP BY series, run, part ORDER BY min("row"), part
"""


class _Part(NamedTuple):
    series: str
    run: str
    metric: str
    rows: int
    behind: int
    advances: int
    steps: int
    returns: int
    example: dict[str, float] | None

    @property
    def is_apart(self) -> bool:
        """Whether it has a counter of its own."""
        is_rising = self.steps >= _FEWEST and self.advances == self.steps and not self.returns
        return self.behind == self.rows and is_rising


def check_counters(root: Path, plan: Plan) -> None:
    """Raise ``ReportError`` if the steps of a plan's metrics count two things.

    It reads the rows in the order of writing, which is slow: only needed if steps go back within a run.
    """
    layout = plan.layout
    # The rows of loggers are not in the order of writing across metrics.
    if plan.step != plan.own_step or layout.repeat:
        return
    drawn, every = (
        sample_keys(make_keys(root, layout, plan.filters, tuple(names), x=plan.step))
        for names in (plan.metrics, layout.metrics)
    )
    if mixed := _find_two_counters(drawn, every, plan.metrics):
        raise ReportError(mixed)


def _find_two_counters(own: RowKeys, every: RowKeys, metrics: Collection[str]) -> Diagnostic | None:
    """Return the problem of ``metrics`` of a figure, with these keys, whose steps count two things.

    ``every`` has the keys of all metrics, which show what a metric with both kinds of steps is.
    """
    if not any(part.behind for part in _list_parts(own)):
        return None
    runs: dict[tuple[str, str], list[_Part]] = {}
    for part in _list_parts(every):
        runs.setdefault((part.series, part.run), []).append(part)
    for parts in runs.values():
        apart = [part for part in parts if part.is_apart]
        first = [part.metric for part in parts if not part.behind]
        drawn = [part for part in parts if part.metric in metrics]
        both = [part for part in drawn if 0 < part.behind < part.rows]
        if apart and first and (both or ({*first} & {*metrics} and any(part in apart for part in drawn))):
            return _report(every, apart, first, both)
    return None


def _list_parts(keys: RowKeys) -> list[_Part]:
    statement = _BEHIND_SQL.format(select=keys.select, largest=sql.LARGEST)
    return [_Part(*row) for row in get_engine().fetch_rows(statement)]


def _report(keys: RowKeys, apart: list[_Part], first: list[str], both: list[_Part]) -> Diagnostic:
    example = apart[0].example or {"row": 0, "step": 0.0, "furthest": 0.0}
    path, line, _ = locate_row(keys.root, keys.layout, int(example["row"]))
    names = list_names(dict.fromkeys(part.metric for part in apart))
    column = keys.layout.step_name or keys.layout.roles.step or "step"
    message = f'"{column}" counts two things, such as iterations and epochs: that of {names} is '
    message += f"{example['step']:.12g} after {example['furthest']:.12g} of {list_names(first)}"
    advice = "Draw them in blocks of their own"
    if both:
        mixed = list_names(dict.fromkeys(part.metric for part in both))
        message += f", and {mixed} has both"
        advice = f"Leave {mixed} out"
    return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA)
