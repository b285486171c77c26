"""The results store: curves and scores of each request; every source is read once for all blocks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostic, ReportError, Stage, relocate_errors
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.settings.blocks import split_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import TypeVar

    from reportgen.core.comparisons import Comparison, Plan
    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import Lead, Request
    from reportgen.core.outcomes import Outcomes, ProblemScores, ReportedScore, Score
    from reportgen.figures.plot import BenchmarkScores
    from reportgen.read import TotalsTable
    from reportgen.settings.inputs import Source

    _Value = TypeVar("_Value")
    from collections.abc import Collection

    from reportgen.core.model import CurveSet, Ending, ReducedMetric


MOST_COMPARED = 300
"""Series of which every pair is compared: they take ten seconds or so, and a page of them says little."""


@dataclass(frozen=True, slots=True)
class ScoreErrorsAt:
    """A context manager: what the outcomes cannot give is a problem at ``location``."""

    place: SourceLocation

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise a ``ScoresError`` again as a ``ReportError`` with a place."""
        if error is None:
            return
        from reportgen.core.outcomes import ScoresError  # noqa: PLC0415 - reports without scores need none of it

        if isinstance(error, ScoresError):
            problem = Diagnostic(self.place, error.message, error.next_step, Stage.DATA)
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
            from reportgen.statistics.scores import make_empty_scores  # noqa: PLC0415

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
        from reportgen.figures.plot import BenchmarkScores  # noqa: PLC0415
        from reportgen.statistics.power import estimate_power, find_half_step  # noqa: PLC0415
        from reportgen.statistics.verdicts import estimate_best_probabilities, rank_groups, rank_ranges  # noqa: PLC0415

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
        from reportgen.statistics.power import plan  # noqa: PLC0415 - as above

        problems = self.get_problem_scores(request)
        if difference is not None and (problems.lowest, problems.highest) == (0, 1):
            difference /= 100
        metric, k = split_metric(request.metric)
        return plan(problems, self._compare_pairs(request), metric, k, difference=difference)

    def get_scores(self, request: ScoreRequest, estimand: str = "problems like these") -> tuple[Score, ...]:
        """The score of each series; raises as ``score_benchmark``."""
        if self._is_of_totals(request):
            from reportgen.statistics.scores import score_totals  # noqa: PLC0415

            return score_totals(
                self._read_totals(request), level=request.level, ends=self._get_range(request)
            )
        from reportgen.statistics.scores import score_series  # noqa: PLC0415

        metric, k = split_metric(request.metric)
        return score_series(
            self.get_problem_scores(request), metric, k, estimand=estimand, level=request.level
        )

    def _compare_pairs(self, request: ScoreRequest) -> tuple[Comparison, ...]:
        from reportgen.core.outcomes import ScoresError  # noqa: PLC0415 - as above
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
            with relocate_errors(self._sources[request.source].location, place):
                table = self._open_totals(request.source)
                found = table.get_scores(request.benchmark, request.series, dict(request.where))
            if not found:
                said = f'no row of source "{request.source}" has a total of this benchmark and series'
                raise ReportError(
                    Diagnostic(place, said, "Look at filter, series and benchmark of the block", Stage.DATA)
                )
            self._totals[rows] = found
        return self._totals[rows]

    def _place(self, request: ScoreRequest) -> SourceLocation:
        return self._places.get(request, self._sources[request.source].location)

    def _read(self, request: ScoreRequest, group: Callable[[Outcomes], _Value]) -> _Value:
        """The rows of a request, grouped."""
        rows, place = _select_score_rows(request), self._place(request)
        with relocate_errors(self._sources[request.source].location, place), ScoreErrorsAt(place):
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
    from reportgen.core.model import Lead  # noqa: PLC0415 - as above
    from reportgen.statistics.verdicts import find_leader  # noqa: PLC0415

    known = {one.series: one.estimate for one in scores if one.estimate is not None}
    if not known:
        return Lead(None, tested=False)
    first = (max if higher_is_better else min)(known, key=known.__getitem__)
    return find_leader(pairs, first, [name for name in known if name != first])


MOST_SERIES = 5_000
"""In one figure or table; nobody could tell more apart, and 20,000 of them fill the memory."""
_STEP_TITLES = {"_step": "step", "global_step": "step", "iter": "iteration"}


@dataclass(frozen=True, slots=True)
class CurveResult:
    """The curves of a request, and what became its x."""

    curve_set: CurveSet
    step_name: str
    step_is_time: bool


@dataclass(frozen=True, slots=True)
class _ReducedRows:
    metrics: Mapping[str, ReducedMetric]
    order: tuple[str, ...]
    step_name: str
    step_is_time: bool


class ResultsStore:
    """Reads lazily: a source none of whose figures changed is never opened.

    Attributes:
        scores: the answers about outcomes.
    """

    def __init__(
        self,
        root: Path,
        sources: Mapping[str, Source],
        requests: Iterable[Request],
        places: Mapping[Request, SourceLocation] | None = None,
    ) -> None:
        all_requests = tuple(requests)
        about_scores = [request for request in all_requests if isinstance(request, ScoreRequest)]
        self._places = places or {}
        self.scores = ScoreResults(root, sources, about_scores, self._places)
        self._root = root
        self._sources = sources
        self._metrics: dict[CurveRequest, list[str]] = defaultdict(list)
        self._reduced: dict[CurveRequest, _ReducedRows] = {}
        self._answers: dict[CurveRequest, CurveResult] = {}
        for request in all_requests:
            if isinstance(request, ScoreRequest):
                continue
            metrics = self._metrics[_select_curve_rows(request)]
            if request.metric not in metrics:
                metrics.append(request.metric)

    def get_series(self, request: Request) -> tuple[str, ...]:
        """The names behind one of the requests given at the start, in the order of its figure."""
        if isinstance(request, ScoreRequest):
            return self.scores.get_problem_scores(request).series
        return tuple(curve.series for curve in self.get_curves(request).curve_set.curves)

    def get_curves(self, request: CurveRequest) -> CurveResult:
        """The aligned curves of one of the requests given at the start."""
        if request in self._answers:
            return self._answers[request]
        from reportgen.statistics.curves.mean_curves import compute_curves  # noqa: PLC0415 - only where something is computed

        rows = self._read(request)
        curve_set = compute_curves(
            self._find_metric(rows, request),
            band=request.band,
            level=request.level,
            smooth=request.smooth,
            series=request.series,
            peak=request.peak,
        )
        self._answers[request] = CurveResult(curve_set, rows.step_name, rows.step_is_time)
        return self._answers[request]

    def get_every_step(self, request: CurveRequest) -> CurveResult:
        """The same curves, unsmoothed and unbinned: as they were drawn, where that is how they were drawn."""
        if not request.smooth:
            drawn = self.get_curves(request)
            if drawn.curve_set.bins is None:
                return drawn
        return self.get_curves(use_every_step(request))

    def get_endings(self, request: CurveRequest, *, higher_is_better: bool) -> tuple[Ending, ...]:
        """Final value, peak and mean of each series of a request."""
        from reportgen.statistics.curves.mean_curves import summarise_curves  # noqa: PLC0415

        return summarise_curves(self.get_curves(request).curve_set, higher_is_better=higher_is_better)

    def _find_metric(self, rows: _ReducedRows, request: CurveRequest) -> ReducedMetric:
        """The runs of the request's metric; none left is the author's filter or choice of series."""
        found = rows.metrics.get(request.metric)
        if found is not None and any(run.values.size for run in found.runs):
            self._check_count({run.series for run in found.runs}, request)
            return found
        said = f'no row of source "{request.source}" has a value of "{request.metric}"'
        chosen = [f"{column} is {' or '.join(map(str, allowed))}" for column, allowed in request.where]
        said += f" where {' and '.join(chosen)}" if chosen else ""
        raise ReportError(
            Diagnostic(self._place(request), said, "Look at filter, series and x of the block", Stage.DATA)
        )

    def _check_count(self, names: Collection[str], request: CurveRequest) -> None:
        """Refuse more series than a figure can show, before they are computed: they may fill the memory."""
        count = len(names if request.series is None else set(request.series).intersection(names))
        if count > MOST_SERIES:
            said = f'"{request.source}" has {count:,} series; a figure or table shows {MOST_SERIES:,} at most'
            step = "Leave some out with filter: in source.yml, or join the runs of one series there"
            raise ReportError(Diagnostic(self._place(request), said, step, Stage.DATA))

    def _place(self, request: CurveRequest) -> SourceLocation:
        return self._places.get(request, self._sources[request.source].location)

    def _read(self, request: CurveRequest) -> _ReducedRows:
        rows = _select_curve_rows(request)
        if rows not in self._reduced:
            from reportgen.read import read_measurements  # noqa: PLC0415 - imports the database
            from reportgen.statistics.curves.reduce import reduce  # noqa: PLC0415

            source = self._sources[rows.source]
            with relocate_errors(source.location, self._place(request)):
                table = read_measurements(
                    self._root,
                    source,
                    tuple(self._metrics[rows]),
                    x=rows.x,
                    series=rows.series,
                    where=dict(rows.where),
                )
            metrics = reduce(table, max_points=rows.max_points, smooth=rows.smooth)
            self._reduced[rows] = _ReducedRows(metrics, table.order, table.step_name, table.step_is_time)
        return self._reduced[rows]


def use_every_step(request: CurveRequest) -> CurveRequest:
    """The same curves unsmoothed, and with every step: what facts are about."""
    return replace(request, smooth=0.0, max_points=None, peak="none")


def format_step_title(column: str) -> str:
    """What the steps of a column are called."""
    return _STEP_TITLES.get(column, column.replace("_", " ").strip())


def _select_curve_rows(request: CurveRequest) -> CurveRequest:
    """The part of a request that decides which rows are read, without metric, band, level and peak."""
    return replace(request, metric="", band="", level=0.0, peak="")
