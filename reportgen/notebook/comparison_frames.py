"""Comparisons in a notebook: as a frame, with every number and word of a page."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from reportgen.notebook.answers import MACRO, as_frame, locate_errors, parse_metric, read_problem_scores
from reportgen.statistics.pairs_across import compare_pairs_across

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from reportgen.notebook.table import Table
    from reportgen.outcomes import Outcomes
    from reportgen.settings.blocks import CellValue

_PAIR_COLUMNS: Final = (
    *("benchmark", "a", "b", "metric", "difference", "low", "high", "level", "spread", "p"),
    *("adjusted_p", "tested_together", "verdict", "reason", "shared", "only_a", "only_b"),
    *("method", "interval_method", "runs_a", "runs_b", "stderr", "run_stderr", "df"),
    *("family_stderr", "critical", "family_blocks"),
)


def compare(
    data: Table | Outcomes,
    a: str | None = None,
    b: str | None = None,
    *,
    metric: str = "mean",
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> pd.DataFrame:
    """Paired differences of series, a minus b, each with interval, adjusted p and verdict.

    Every pair if neither side is named; with ``b`` alone each other series against it, as a baseline.

    - ``difference``: the mean of d_p, the difference of the two values of problem p (see ``scores``), over
      the P problems that both answered. Its estimand is the mean difference over problems like these; with
      several runs a side also over runs like these: of methods, otherwise of these checkpoints.
    - ``low``, ``high``: difference ± t √(s_d²/P + τ_a²/r_a + τ_b²/r_b), each pair by itself, with τ² the
      variance between runs that their answers do not explain.
    - ``p``: two-sided, the share of sign vectors that bring Σ ± d_p as far from 0 as it is (Fisher 1935):
      of all up to 20 problems that differ, otherwise of 20 000 seeded ones, (1 + r)/(1 + 20 000) (Phipson
      and Smyth 2010); from Student's t where runs add to the variance.
    - ``adjusted_p``: by a step-down test of the largest statistic (Westfall and Young 1993) over all rows of
      this frame together. A pair picked out of many after a look at them is not one comparison: then ask for
      all of them.
    - ``verdict``, of a: ``better`` or ``worse`` where adjusted p < 0.05 and the interval leaves 0 out,
      otherwise ``unclear``; ``too few`` under 6 shared problems.

    Where there are several benchmarks, a row of the benchmark ``macro average`` follows for each pair, in
    which each benchmark counts once.

    Args:
        data: from ``read``, or outcomes that are narrowed already.
        a: only this series on the first side.
        b: only this one on the second.
        metric: as in ``scores``.
        benchmark: only this one of a table with several; all if None.
        series: only these.
        where: column to the values it may have.
        level: confidence level of the intervals.
        higher_is_better: whether a larger score is the better one.

    Returns:
        Columns ``benchmark, a, b, metric, difference, low, high, level, spread, p, adjusted_p,
        tested_together, verdict, reason, shared, only_a, only_b, method, interval_method, runs_a, runs_b,
        stderr, run_stderr, df, family_stderr, critical,
        family_blocks``, one row a benchmark and pair. ``spread`` is s_d,
        ``only_a`` and ``only_b`` are tuples of the problems that only one side answered. What is missing is
        NA, and ``reason`` says why.

    Raises:
        ReportError: as ``scores``.

    Example:
        >>> import reportgen as rg
        >>> frame = rg.compare(rg.read("data/model-comparison"), b="Birch", benchmark="Contest")
        >>> frame[["a", "verdict", "tested_together"]].to_numpy().tolist()
        [['Aspen', 'better', 3], ['Cedar', 'unclear', 3], ['Damson', 'unclear', 3]]
    """
    name, k = parse_metric(metric)
    with locate_errors(data):
        parts = read_problem_scores(data, benchmark, series, where, answers=name == "maj@k")
        names = tuple(dict.fromkeys(one for part in parts.values() for one in part.series))
        pairs = _choose_pairs(names, a, b)
        found = compare_pairs_across(
            parts, name, k, pairs=pairs, level=level, higher_is_better=higher_is_better
        )
    rows = [
        asdict(one)
        | {"benchmark": MACRO if title is None else title, "verdict": str(one.verdict)}
        | dict(zip(("runs_a", "runs_b"), one.runs, strict=True))
        for title, one in found
    ]
    return as_frame(rows, _PAIR_COLUMNS)


def _choose_pairs(names: Sequence[str], a: str | None, b: str | None) -> list[tuple[str, str]]:
    if a is not None and b is not None:
        return [(a, b)]
    if a is not None:
        return [(a, name) for name in names if name != a]
    if b is not None:
        return [(name, b) for name in names if name != b]
    return list(combinations(names, 2))
