"""Opening run data in a notebook, and the parts of it that statistics ask for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.errors import SourceLocation, Stage, make_error
from reportgen.core.outcomes import Outcomes, ScoresError
from reportgen.settings.blocks import MetricSettings, split_metric
from reportgen.statistics.problem_scores import group_problem_scores
from reportgen.statistics.scores import score_totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from reportgen.core.outcomes import ProblemScores, Score
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


@dataclass(frozen=True, slots=True)
class Table:
    """A file or folder of run data, opened and not yet read; ``source`` says what is in it."""

    root: Path
    source: Source

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its metrics."""
        return self.source.metrics


def read(path: str | Path) -> Table:
    """Open a file or folder of run data, with its ``source.yml`` if it has one.

    Args:
        path: a data file, or a folder of them.

    Raises:
        ReportError: nothing is there, or it cannot be understood; the error has every problem.
    """
    from reportgen.read import open_path  # noqa: PLC0415 - imports the database
    from reportgen.settings.loading import load_source_settings  # noqa: PLC0415

    return Table(*open_path(path, load_settings=load_source_settings))


MACRO: Final = "macro average"
"""The benchmark of the rows that average several."""

_NOTEBOOK: Final = SourceLocation("notebook")
_COUNTS: Final = (
    *("group", "problems", "fewest_samples", "most_samples", "runs", "tested_together", "shared"),
    *("runs_a", "runs_b", "family_blocks"),
)
_NUMBERS: Final = (
    *("estimate", "low", "high", "level", "between_runs", "stderr", "tokens", "seconds", "cost"),
    *("difference", "spread", "p", "adjusted_p", "run_stderr", "df", "family_stderr", "critical"),
)


class Totals(NamedTuple):
    """The totals of one benchmark, with their range, which may be infinite, and their direction."""

    scores: tuple[Score, ...]
    ends: tuple[float, float]
    higher_is_better: bool


def parse_metric(metric: str) -> tuple[str, int]:
    """A metric as the statistics take it, read as a block reads it: ``pass@8`` is ``pass@k`` and 8.

    Raises:
        ReportError: there is no such metric.
    """
    try:
        return split_metric(MetricSettings(metric=metric).metric)
    except ValueError:
        message = f'"{metric}" is not a metric of scores'
        advice = "Write mean, or avg@N, pass@K, maj@K or pass^K with a number, such as pass@8"
        raise make_error(_NOTEBOOK, message, advice, Stage.DATA) from None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a table or of outcomes a call is about, and how its scores are compared."""

    data: Table | Outcomes
    benchmark: str | None
    series: tuple[str, ...] | None
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None
    level: float
    higher_is_better: bool

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """A context in which an error of the outcomes gets the location that they came from."""
        try:
            yield
        except ScoresError as error:
            place = _NOTEBOOK if isinstance(self.data, Outcomes) else self.data.source.location
            raise make_error(place, error.message, error.next_step, Stage.DATA) from error

    def list_benchmarks(self, source: Source) -> dict[str | None, str]:
        """The benchmarks of a source and how they are called in a frame."""
        benchmarks: Sequence[str | None] = [self.benchmark] if self.benchmark else source.benchmarks or [None]
        return {title: title or source.settings.title or source.name for title in benchmarks}


def read_problem_scores(chosen: Selection, *, answers: bool) -> dict[str, ProblemScores]:
    """The problem scores of a selection by the name of their benchmark, with ``answers`` if needed."""
    data = chosen.data
    if isinstance(data, Outcomes):
        if chosen.benchmark or chosen.series or chosen.where:
            raise ValueError("outcomes are narrowed where they are read")
        return {"": group_problem_scores(data, answers=answers)}
    from reportgen.read import read_outcomes  # noqa: PLC0415 - imports the database

    return {
        name: group_problem_scores(
            read_outcomes(
                data.root, data.source, benchmark=title, series=chosen.series, where=chosen.where or {}
            ),
            answers=answers,
        )
        for title, name in chosen.list_benchmarks(data.source).items()
    }


def read_totals(table: Table, chosen: Selection) -> dict[str, Totals]:
    """The totals of a table by the name of their benchmark."""
    from reportgen.read import TotalsTable  # noqa: PLC0415 - imports the database

    source = table.source
    totals = TotalsTable(table.root, source)
    found = {}
    for title, name in chosen.list_benchmarks(source).items():
        reported = totals.get_scores(title, chosen.series, chosen.where or {})
        better = chosen.higher_is_better and (title or "") not in source.lower_is_better
        ends = totals.get_range(reported, higher_is_better=better)
        found[name] = Totals(score_totals(reported, level=chosen.level, ends=ends), ends, better)
    return found


def as_frame(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Rows as a frame of these columns: numbers float64, counts Int64, words and tuples objects."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    frame = pd.DataFrame([[row[name] for name in columns] for row in rows], columns=list(columns))
    kinds = {name: "float64" if name in _NUMBERS else "Int64" for name in (*_NUMBERS, *_COUNTS)}
    return frame.astype({name: kind for name, kind in kinds.items() if name in columns})
