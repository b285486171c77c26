"""Which column of a table may be the step where none is called one: it goes up within each run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problems
from reportgen.read.cells import NUMERIC, Kind
from reportgen.read.engine import get_engine
from reportgen.read.tabular.faults import explain_errors
from reportgen.read.tabular.rows import group_files, select_run, select_series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.model import Source
    from reportgen.read.layout import Layout

# What a step is called more often than other columns are, the likeliest first.
_STEPS: Final = (
    *("steps?", "iters?|iterations?", "epochs?", "timesteps?", "times?|timestamps?", "dates?|days?"),
    *("tokens?", "samples?|examples?", "rounds?", "generations?|gens?"),
)
# Settings, and what tells when a run was made: neither goes on within a run.
_OTHERS: Final = re.compile(
    r"max|min|warmup|save|log|logging|eval|every|per|interval|freq|limit|patience|budget|size|horizon"
    r"|cfg|config|args|hparams|params|settings?|created?|creation|started?|start|begin|end|ended|finish(ed)?"
    r"|modified|updated|submitted|queued|launched|runtime|duration|latency",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])")
_MOST: Final = 12
# A step may have a row for training and one for validation, and runs in one file begin anew now and then.
_LEAST_DIFFERENT, _MOST_BACK = 0.25, 0.05
# Of each column whether its values differ within each run, and go up.
_STATEMENT: Final = """
WITH rows AS ({rows}), ahead AS (
    SELECT series, run, {gaps} FROM rows
), runs AS (
    SELECT series, run, {counts} FROM ahead GROUP BY series, run
)
SELECT {sums} FROM runs
"""


def find_likely_steps(root: Path, source: Source, layout: Layout) -> list[str]:
    """Columns that may be the step, the likeliest first; none where nothing says so.

    A column counts only if it is called as steps are, not as settings or as dates of runs are, and its values
    differ and go up within every run that has several rows.

    Args:
        root: the folder that the files' paths start from.
        source: a table of measurements.
        layout: the same, in which no column is the step.
    """
    times = [name for name, kind in layout.kinds.items() if kind is Kind.TIME]
    numbers = [name for name, kind in layout.kinds.items() if kind in NUMERIC]
    words = {name: [word.casefold() for word in _WORD.findall(name)] for name in (*times, *numbers)}
    called = [
        name
        for part in _STEPS
        for name, parts in words.items()
        if any(re.fullmatch(part, word) for word in parts)
    ]
    called += times
    fitting = [name for name in dict.fromkeys(called) if not any(map(_OTHERS.fullmatch, words[name]))]
    with Problems().collecting():
        return _keep_rising(root, source, layout, fitting[:_MOST])
    return []


def _keep_rising(root: Path, source: Source, layout: Layout, names: Sequence[str]) -> list[str]:
    """Those of the columns that go up within every run.

    Raises:
        ReportError: the cells of one cannot be read.
    """
    if not names:
        return []
    selects = []
    for rows in group_files(root, layout):
        cells = [
            rows.as_time(name) if layout.kinds[name] is Kind.TIME else rows.as_number(name) for name in names
        ]
        listed = ", ".join(f"{cell} AS c{index}" for index, cell in enumerate(cells))
        named = f"{select_series(rows, layout, {})} AS series, {select_run(rows, layout)} AS run"
        position = rows.get_position()
        selects.append(f"SELECT {named}, {listed}, {position} AS place FROM {rows.build_source()}")  # noqa: S608
    places = range(len(names))
    window = "OVER (PARTITION BY series, run ORDER BY place)"
    statement = _STATEMENT.format(
        rows=" UNION ALL ".join(selects),
        gaps=", ".join(f"c{place}, c{place} - lag(c{place}) {window} AS g{place}" for place in places),
        counts=", ".join(
            f"count(DISTINCT c{place}) AS d{place}, count(c{place}) AS n{place}, "
            f"count_if(g{place} < 0) AS b{place}"
            for place in places
        ),
        sums=", ".join(
            f"bool_and(d{place} > 1 AND d{place} >= {_LEAST_DIFFERENT} * n{place}) FILTER (n{place} > 1), "
            f"sum(b{place}) <= {_MOST_BACK} * sum(n{place})"
            for place in places
        ),
    )
    with explain_errors(root, source.location, list):
        (found,) = get_engine().fetch_rows(statement)
    pairs = zip(names, found[::2], found[1::2], strict=True)
    return [name for name, differing, forward in pairs if differing and forward]
