"""From requests to scored problems: each benchmark's outcomes are grouped once for all blocks about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.errors import Placing, Problem, ReportError, Stage
from reportgen.settings.score_blocks import split_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import TypeVar

    from reportgen.errors import SourceLocation
    from reportgen.figures.score_context import BenchmarkScores
    from reportgen.model import Lead, Request, ScoreRequest, Source
    from reportgen.outcomes import Comparison, Outcomes, Plan, ProblemScores, ReportedScore, Score
    from reportgen.read import TotalsTable

    _Value = TypeVar("_Value")

MOST_COMPARED = 300
"""Series of which every pair is compared: they take ten seconds or so, and a page of them says little."""


@dataclass(frozen=True, slots=True)
class ScoreErrorsAt:
    """A context manager: what the outcomes cannot give is a problem of whoever asked for it, at ``location``."""

    place: SourceLocation

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise a ``ScoresError`` again as a ``ReportError`` with a place."""
        if error is None:
            return
        from reportgen.outcomes import ScoresError  # noqa: PLC0415 - reports without scores need none of it

        if isinstance(error, ScoresError):
            problem = Problem(self.place, error.message, error.next_step, Stage.DATA)
            raise ReportError(problem) from error


class ScoreResults:
    """Reads lazily: outcomes of which no block changed are never opened."""

    def __init__(
        self,
        root: Path,
        sources: Mapping[str, Source],
        requests: Iterable[ScoreRequest],
        places: Mapping[Request, SourceLocation],
    ) -> None:
        self._root = root
        self._sources = sources
        self._places = places
        self._voting = {
            _select_score_rows(request) for request in requests if request.metric.startswith("maj@")
        }
        self._tables: dict[ScoreRequest, Outcomes] = {}
        self._problems: dict[ScoreRequest, ProblemScores] = {}
        self._pairs: dict[ScoreRequest, tuple[Comparison, ...]] = {}
        self._totals: dict[ScoreRequest, tuple[ReportedScore, ...]] = {}
        self._totals_tables: dict[str, TotalsTable] = {}

    def get_problem_scores(self, request: ScoreRequest) -> ProblemScores:
        """All series of one of the requests given at the start, by problem; of totals their names only.

        Raises:
            ReportError: what the files have wrong, or why they hold no scores, at whoever asks first.
        """
        if self._is_of_totals(request):
            from reportgen.statistics.given_scores import make_empty_scores  # noqa: PLC0415

            names = dict.fromkeys(one.series for one in self._read_totals(request))
            return make_empty_scores(tuple(names), self._get_range(request))
        rows = _select_score_rows(request)
        if rows not in self._problems:
            from reportgen.statistics.problem_scores import group_problem_scores  # noqa: PLC0415 - computes

            answers = rows in self._voting
            self._problems[rows] = self._read(
                request, lambda table: group_problem_scores(table, answers=answers)
            )
        return self._problems[rows]

    def get_slices(self, request: ScoreRequest, column: str) -> dict[str, ProblemScores]:
        """The same by the values of a column to slice by.

        Raises:
            ReportError: as ``get_problem_scores``.
        """
        from reportgen.statistics.problem_scores import group_problem_scores_by  # noqa: PLC0415

        return self._read(request, lambda table: group_problem_scores_by(table, column))

    def score_benchmark(
        self, request: ScoreRequest, estimand: str = "problems like these"
    ) -> BenchmarkScores:
        """Scores with intervals, all pairs, groups, and the power of the benchmark; of totals no pairs.

        Raises:
            ReportError: as ``get_problem_scores``.
            ScoresError: the outcomes do not give the metric.
        """
        from reportgen.figures.score_context import BenchmarkScores  # noqa: PLC0415
        from reportgen.statistics.power import estimate_power, find_half_step  # noqa: PLC0415
        from reportgen.statistics.ranks import estimate_best_probabilities, rank_groups, rank_ranges  # noqa: PLC0415

        scores = self.get_scores(request, estimand)
        if self._is_of_totals(request):
            return BenchmarkScores(
                self.get_problem_scores(request), scores, comparisons=(), groups=(), power=None
            )
        pairs, problems = self._compare_pairs(request), self.get_problem_scores(request)
        metric, k = split_metric(request.metric)
        better = request.higher_is_better
        often = estimate_best_probabilities(problems, metric, k, higher_is_better=better)
        ranges = rank_ranges(scores, pairs)
        return BenchmarkScores(
            problems=problems,
            scores=scores,
            comparisons=pairs,
            groups=rank_groups(scores, pairs, higher_is_better=better),
            lead=_find_lead(scores, pairs, higher_is_better=better),
            ranks=tuple(replace(one, best_probability=often.get(one.series)) for one in ranges),
            power=estimate_power(pairs, find_half_step(problems, request.metric)) if pairs else None,
        )

    def plan(self, request: ScoreRequest, difference: float | None = None) -> Plan:
        """What other designs would find, with all pairs as the family.

        Args:
            request: the benchmark, its series and metric.
            difference: the true one; in points where scores go from 0 to 1.

        Raises:
            ReportError: as ``get_problem_scores``.
            ScoresError: there is nothing to plan with.
        """
        from reportgen.statistics.plan import plan  # noqa: PLC0415 - as above

        problems = self.get_problem_scores(request)
        if difference is not None and (problems.lowest, problems.highest) == (0, 1):
            difference /= 100
        metric, k = split_metric(request.metric)
        return plan(problems, self._compare_pairs(request), metric, k, difference=difference)

    def get_scores(self, request: ScoreRequest, estimand: str = "problems like these") -> tuple[Score, ...]:
        """The score of each series; raises as ``score_benchmark``."""
        if self._is_of_totals(request):
            from reportgen.statistics.given_scores import score_totals  # noqa: PLC0415

            return score_totals(
                self._read_totals(request), level=request.level, ends=self._get_range(request)
            )
        from reportgen.statistics.scores import score_series  # noqa: PLC0415

        metric, k = split_metric(request.metric)
        return score_series(
            self.get_problem_scores(request), metric, k, estimand=estimand, level=request.level
        )

    def _compare_pairs(self, request: ScoreRequest) -> tuple[Comparison, ...]:
        from reportgen.outcomes import ScoresError  # noqa: PLC0415 - as above
        from reportgen.statistics.compare import compare_all  # noqa: PLC0415

        count = len(self.get_problem_scores(request).series)
        if count > MOST_COMPARED:
            said = f"all pairs of series are compared, and {count:,} series are too many for that"
            raise ScoresError(said, f"Keep {MOST_COMPARED:,} at most with filter: in source.yml")
        if request not in self._pairs:
            metric, k = split_metric(request.metric)
            self._pairs[request] = compare_all(
                self.get_problem_scores(request),
                metric,
                k,
                level=request.level,
                higher_is_better=request.higher_is_better,
                blocks=request.family_blocks,
            )
        return self._pairs[request]

    def _is_of_totals(self, request: ScoreRequest) -> bool:
        return self._sources[request.source].kind == "totals"

    def _get_range(self, request: ScoreRequest) -> tuple[float, float]:
        """The range of totals; both ends infinite where it is not known."""
        reported = self._read_totals(request)
        return self._open_totals(request.source).get_range(
            reported, higher_is_better=request.higher_is_better
        )

    def _open_totals(self, name: str) -> TotalsTable:
        from reportgen.read import TotalsTable  # noqa: PLC0415 - imports the database

        if name not in self._totals_tables:
            self._totals_tables[name] = TotalsTable(self._root, self._sources[name])
        return self._totals_tables[name]

    def _read_totals(self, request: ScoreRequest) -> tuple[ReportedScore, ...]:
        """The totals of a request, which are few.

        Raises:
            ReportError: what the files have wrong, or there is none.
        """
        rows, place = _select_score_rows(request), self._place(request)
        if rows not in self._totals:
            with Placing(self._sources[request.source].location, place):
                table = self._open_totals(request.source)
                found = table.get_scores(request.benchmark, request.series, dict(request.where))
            if not found:
                said = f'no row of source "{request.source}" has a total of this benchmark and series'
                raise ReportError(
                    Problem(place, said, "Look at filter, series and benchmark of the block", Stage.DATA)
                )
            self._totals[rows] = found
        return self._totals[rows]

    def _place(self, request: ScoreRequest) -> SourceLocation:
        return self._places.get(request, self._sources[request.source].location)

    def _read(self, request: ScoreRequest, group: Callable[[Outcomes], _Value]) -> _Value:
        """The rows of a request, grouped."""
        rows, place = _select_score_rows(request), self._place(request)
        with Placing(self._sources[request.source].location, place), ScoreErrorsAt(place):
            if rows not in self._tables:
                from reportgen.read import read_outcomes  # noqa: PLC0415 - imports the database

                table = read_outcomes(
                    self._root,
                    self._sources[request.source],
                    benchmark=request.benchmark,
                    series=request.series,
                    where=dict(request.where),
                )
                self._tables[rows] = replace(table, order=request.series or table.order)
            return group(self._tables[rows])


def _select_score_rows(request: ScoreRequest) -> ScoreRequest:
    """The part of a request that decides which rows are read and how they are grouped."""
    return replace(request, metric="", level=0.0, higher_is_better=True)


def _find_lead(scores: Sequence[Score], pairs: Sequence[Comparison], *, higher_is_better: bool) -> Lead:
    """Whether the series with the best score is better than each other one."""
    from reportgen.model import Lead  # noqa: PLC0415 - as above
    from reportgen.statistics.leading import find_leader  # noqa: PLC0415

    known = {one.series: one.estimate for one in scores if one.estimate is not None}
    if not known:
        return Lead(None, tested=False)
    first = (max if higher_is_better else min)(known, key=known.__getitem__)
    return find_leader(pairs, first, [name for name in known if name != first])
