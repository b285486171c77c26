"""From requests to aligned curves: each source is read once for all blocks that share its rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.drafting.score_answers import ScoreResults
from reportgen.errors import Placing, Problem, ReportError, Stage
from reportgen.model import CurveRequest, ScoreRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from reportgen.errors import SourceLocation
    from reportgen.model import CurveSet, Ending, ReducedMetric, Request, Source


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
        from reportgen.statistics.curves import compute_curves  # noqa: PLC0415 - only where something is computed

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
        from reportgen.statistics.endings import summarise_curves  # noqa: PLC0415

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
            Problem(self._place(request), said, "Look at filter, series and x of the block", Stage.DATA)
        )

    def _check_count(self, names: Collection[str], request: CurveRequest) -> None:
        """Refuse more series than a figure can show, before they are computed: they may fill the memory."""
        count = len(names if request.series is None else set(request.series).intersection(names))
        if count > MOST_SERIES:
            said = f'"{request.source}" has {count:,} series; a figure or table shows {MOST_SERIES:,} at most'
            step = "Leave some out with filter: in source.yml, or join the runs of one series there"
            raise ReportError(Problem(self._place(request), said, step, Stage.DATA))

    def _place(self, request: CurveRequest) -> SourceLocation:
        return self._places.get(request, self._sources[request.source].location)

    def _read(self, request: CurveRequest) -> _ReducedRows:
        rows = _select_curve_rows(request)
        if rows not in self._reduced:
            from reportgen.read import read_measurements  # noqa: PLC0415 - imports the database
            from reportgen.statistics.reduce import reduce  # noqa: PLC0415

            source = self._sources[rows.source]
            with Placing(source.location, self._place(request)):
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
