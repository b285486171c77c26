"""The store of curves and scores by request, which reads every source once for all blocks."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.comparisons import NoOutcomesError, ScoresError
from reportgen.core.errors import Diagnostic, ReportError, Stage, relocate_errors
from reportgen.core.model import CurveRequest, Lead, ScoreRequest
from reportgen.core.statements import ExpressionError
from reportgen.core.words import quote_names, suggest_name
from reportgen.settings.inputs import name_settings
from reportgen.settings.score_blocks import split_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TypeVar

    from reportgen.core.comparisons import (
        Comparison,
        Outcomes,
        Plan,
        ProblemScores,
        ReportedScore,
        SampleTexts,
        Score,
    )
    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import CurveSet, Ending, Formula, ReducedMetric, Request
    from reportgen.figures.plot import BenchmarkScores
    from reportgen.settings.inputs import Source

    _Value = TypeVar("_Value")


MOST_COMPARED = 300
"""Most series for comparing all pairs, which takes about ten seconds and makes a page of little use."""
MOST_SERIES = 5_000
"""Most series in a figure or table; more cannot be distinguished, and 20,000 fill the memory."""


@contextmanager
def place_score_errors(place: SourceLocation) -> Iterator[None]:
    """Report a ``ScoresError`` raised inside the context as a problem at ``place``."""
    try:
        yield
    except ScoresError as error:
        raise ReportError(Diagnostic(place, error.message, error.next_step, Stage.DATA)) from error


def use_every_step(request: CurveRequest) -> CurveRequest:
    """Return the request for the same curves unsmoothed and with every step, as facts need them."""
    return replace(request, smooth=0.0, max_points=None, peak="none", log=False)


def _select_curve_rows(request: CurveRequest) -> CurveRequest:
    """Reduce a request to what selects rows, without band, level, peak and a metric that is not derived."""
    metric = request.metric if request.formula else ""
    return replace(request, metric=metric, band="", level=0.0, peak="", value="", order="")


def _select_score_rows(request: ScoreRequest) -> ScoreRequest:
    """Reduce a request to what selects and groups rows."""
    return replace(request, metric="", level=0.0, higher_is_better=True)


class CurveResult(Struct, frozen=True):
    """The curves of a request, and the name and kind of its x."""

    curve_set: CurveSet
    step_name: str
    step_is_time: bool
    colours: Mapping[str, str] = field(default_factory=dict)  # what colours each series, if not itself
    notes: tuple[str, ...] = ()  # sentences about rows that were selected, grouped and computed
    settings: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)  # of each group of runs


class _ReadCurves(Struct, frozen=True):
    """The reduced runs by metric, the name and kind of the step, and the series that were chosen, if any."""

    metrics: Mapping[str, ReducedMetric]
    step_name: str
    step_is_time: bool
    series: tuple[str, ...] | None
    colours: Mapping[str, str]
    notes: tuple[str, ...]
    settings: Mapping[str, Mapping[str, str | None]]


class ResultsStore:
    """A lazy store of results: a source is never read if none of its figures changed.

    ``requests`` are all requests that will be made, so that rows are read once for all of them. ``places``
    are the locations for their problems; the default is the source itself.
    """

    def __init__(
        self,
        root: Path,
        sources: Mapping[str, Source],
        requests: Iterable[Request],
        places: Mapping[Request, SourceLocation] | None = None,
    ) -> None:
        self._root, self._sources, self._places = root, sources, places or {}
        self._results: dict[str, dict[tuple[str, Request | str], Any]] = defaultdict(dict)  # by source
        self._metrics: dict[CurveRequest, dict[str, None]] = defaultdict(dict)
        self._voting: set[ScoreRequest] = set()
        for request in requests:
            if isinstance(request, CurveRequest):
                self._metrics[_select_curve_rows(request)][request.metric] = None
            elif request.metric.startswith("maj@"):
                self._voting.add(_select_score_rows(request))

    def _compute_once(self, what: str, subject: Request | str, compute: Callable[[], _Value]) -> _Value:
        known = self._results[subject if isinstance(subject, str) else subject.source]
        key = what, subject
        if key not in known:
            known[key] = compute()
        result: _Value = known[key]
        return result

    def forget(self, source: str) -> None:
        """Drop what was read of a source; it is read again when it is requested again."""
        self._results.pop(source, None)

    def _locate(self, request: Request) -> SourceLocation:
        return self._places.get(request, self._sources[request.source].location)

    def get_series(self, request: Request) -> tuple[str, ...]:
        """Return the series of a request, in the order of its figure."""
        if isinstance(request, ScoreRequest):
            return self.get_problem_scores(request).series
        return tuple(curve.series for curve in self.get_curves(request).curve_set.curves)

    def get_colour_names(self, request: Request) -> tuple[str, ...]:
        """Return what has a colour in the figure of a request: its series, or the values of a setting."""
        if isinstance(request, CurveRequest) and request.colour:
            colours, series = self.get_curves(request).colours, self.get_series(request)
            return tuple(dict.fromkeys(colour for name, colour in colours.items() if name in series))
        return self.get_series(request)

    # ---- curves

    def get_curves(self, request: CurveRequest) -> CurveResult:
        """Return the aligned curves of a request."""
        return self._compute_once("curves", request, lambda: self._compute_curves(request))

    def get_every_step(self, request: CurveRequest) -> CurveResult:
        """Return the same curves unsmoothed and unbinned, reusing the drawn ones if they are."""
        if not request.smooth:
            drawn = self.get_curves(request)
            if drawn.curve_set.bins is None:
                return drawn
        return self.get_curves(use_every_step(request))

    def get_endings(self, request: CurveRequest, *, higher_is_better: bool) -> tuple[Ending, ...]:
        """Return the final value, peak and mean of each series of a request."""
        from reportgen.statistics.curves.mean_curves import summarise_curves  # noqa: PLC0415

        return summarise_curves(self.get_curves(request).curve_set, higher_is_better=higher_is_better)

    def get_other_metric(self, request: CurveRequest, metric: str) -> CurveSet:
        """Return another metric of the same runs, with every step; raise ``FactError`` if there is none."""
        from reportgen.claims.vocabulary import FactError  # noqa: PLC0415 - only where something is computed

        known = self._sources[request.source].metrics
        if metric == request.metric:
            return self.get_every_step(request).curve_set
        if metric not in known:
            step = f"{suggest_name(metric, known)}There are {quote_names(known)}"
            raise FactError(f'"{metric}" is no metric of source "{request.source}"', step)
        other = use_every_step(replace(request, metric=metric, formula=""))
        rows = _select_curve_rows(other)
        if metric not in self._metrics[rows]:  # read now, since nobody requested it
            self._metrics[rows][metric] = None
            self._results[request.source].pop(("rows", rows), None)
        return self.get_curves(other).curve_set

    def get_run_settings(self, source: str, *names: str) -> dict[tuple[str, str], dict[str, str | None]]:
        """Return the settings in which runs differ, and those of ``names`` that there are."""
        from reportgen.read import read_run_settings  # noqa: PLC0415 - imports the database

        return read_run_settings(self._root, self._sources[source], (), names)

    def _compute_curves(self, request: CurveRequest) -> CurveResult:
        from reportgen.statistics.curves.mean_curves import compute_curves  # noqa: PLC0415 - only where something is computed

        rows = _select_curve_rows(request)
        read = self._compute_once("rows", rows, lambda: self._read_curves(request))
        reduced = read.metrics.get(request.metric)
        if reduced is None or not any(run.values.size for run in reduced.runs):
            missing = f'a value of "{request.metric}"'
            raise self._make_no_row_error(request, missing, "Look at series and x of the block")
        names = {run.series for run in reduced.runs}
        count = len(names if read.series is None else names.intersection(read.series))
        if count > MOST_SERIES:  # refuse before computing, which could fill the memory
            said = f'"{request.source}" has {count:,} series; a figure or table shows {MOST_SERIES:,} at most'
            step = "Leave some out with filter: in source.yml, or join the runs of one series there"
            raise ReportError(Diagnostic(self._locate(request), said, step, Stage.DATA))
        settings = self._sources[request.source].settings
        curve_set = compute_curves(
            reduced,
            band=request.band,
            level=request.level,
            smooth=request.smooth,
            series=read.series,
            peak=request.peak,
            ends=None if request.formula else settings.find_ends(request.metric),
            illustrative=settings.illustrative,
        )
        more = (read.colours, read.notes, read.settings)
        return CurveResult(curve_set, read.step_name, read.step_is_time, *more)

    def _make_no_row_error(self, request: Request, missing: str, next_step: str) -> ReportError:
        """Make the error that no row has what is ``missing``; with a filter, it lists values."""
        from reportgen.read import list_values  # noqa: PLC0415 - imports the database

        said = f'no row of source "{request.source}" has {missing}'
        chosen = [
            f"{column} is {' or '.join(map(str, allowed)) or 'nothing'}" for column, allowed in request.where
        ]
        said += f" where {' and '.join(chosen)}" if chosen else ""
        found = list_values(self._root, self._sources[request.source], [name for name, _ in request.where])
        step = ". ".join(f"There {name} is {values}" for name, values in found.items())
        texts = [str(value).strip() for _, allowed in request.where for value in allowed]
        if turned := next((text for text in texts if text.startswith(("=<", "=>"))), ""):
            step = f'Did you mean "{turned[1]}={turned[2:]}"? {step}'
        return ReportError(Diagnostic(self._locate(request), said, step or next_step, Stage.DATA))

    def parse_formula(self, request: CurveRequest) -> Formula:
        """Parse the formula of a derived metric; raise a ``ReportError`` with its faults."""
        known = self._sources[request.source].metrics
        return self._parse(request, f"{request.metric}: {request.formula}", request.formula, known)

    def _parse(self, request: CurveRequest, written: str, text: str, known: Sequence[str]) -> Formula:
        from reportgen.claims.formulas import parse_formula  # noqa: PLC0415 - as above

        try:
            return parse_formula(text, known)
        except ExpressionError as error:
            place = self._locate(request)
            raise ReportError(
                *(
                    Diagnostic(place, f'"{written}": {fault.message}', fault.next_step, Stage.DATA)
                    for fault in error.faults
                )
            ) from error

    def _read_curves(self, request: CurveRequest) -> _ReadCurves:
        from reportgen.read import read_measurements  # noqa: PLC0415 - imports the database
        from reportgen.read.queries.reduce import reduce  # noqa: PLC0415

        source, metrics = self._sources[request.source], tuple(self._metrics[_select_curve_rows(request)])
        where = dict(request.where)
        x, x_formula = request.x, None
        if x is not None and request.x_formula:
            from reportgen.claims.formulas import is_formula  # noqa: PLC0415 - only where something is computed

            # Name and formula, whichever of both is written first.
            text, known = request.x_formula, tuple(dict.fromkeys(("step", *source.metrics, *source.columns)))
            if is_formula(x, known) and not is_formula(text, known):
                x, text = text, x
            x_formula = self._parse(request, f"x: {{{request.x}: {request.x_formula}}}", text, known)
        with relocate_errors(source.location, self._locate(request), *name_settings(source)):
            table = read_measurements(
                self._root,
                source,
                metrics,
                x=x,
                series=request.series,
                where=where,
                by=request.by,
                colour=request.colour,
                formula=self.parse_formula(request) if request.formula else None,
                x_formula=x_formula,
            )
            table.check_x()
        reduced = reduce(table, max_points=request.max_points, smooth=request.smooth, log=request.log)
        series = None if request.series is None or request.by else table.order
        named = (table.step_name, table.step_is_time)
        return _ReadCurves(reduced, *named, series, table.colours, table.notes, table.settings)

    # ---- scores

    def get_problem_scores(self, request: ScoreRequest) -> ProblemScores:
        """Return the scores of a request by problem; totals give only the names of series.

        Raises ``ReportError`` if the files are invalid or have no scores.
        """
        if totals := self._read_totals(request):
            from reportgen.statistics.scores import make_empty_scores  # noqa: PLC0415

            scores, ends = totals
            return make_empty_scores(tuple(dict.fromkeys(one.series for one in scores)), ends)
        from reportgen.read.queries.problem_scores import group_problem_scores  # noqa: PLC0415 - computes

        rows = _select_score_rows(request)
        answers = rows in self._voting
        return self._compute_once(
            "problems",
            rows,
            lambda: self._group(request, lambda table: group_problem_scores(table, answers=answers)),
        )

    def get_group_settings(self, request: ScoreRequest) -> Mapping[str, Mapping[str, str | None]]:
        """Return the settings of each group of runs of a request."""
        return self._group(request, lambda table: table.settings)

    def find_samples(self, request: ScoreRequest) -> SampleTexts:
        """Find the samples of a request, whose texts can be read; ``ReportError`` if there are none."""
        from reportgen.read.queries.sample_texts import find_samples  # noqa: PLC0415 - few blocks show them

        return self._group(request, find_samples)

    def get_slices(self, request: ScoreRequest, column: str) -> dict[str, ProblemScores]:
        """Return the problem scores of a request for each value of a column."""
        from reportgen.read.queries.problem_scores import group_problem_scores_by  # noqa: PLC0415

        return self._group(request, lambda table: group_problem_scores_by(table, column))

    def get_scores(self, request: ScoreRequest) -> tuple[Score, ...]:
        """Return the score of each series; raise the errors of ``score_benchmark``."""
        from reportgen.statistics.scores import hide_interval, score_series, score_totals  # noqa: PLC0415

        if totals := self._read_totals(request):
            scores = score_totals(totals[0], level=request.level, ends=totals[1])
        else:
            problems, metric = self.get_problem_scores(request), split_metric(request.metric)
            scores = score_series(problems, *metric, estimand=request.estimand, level=request.level)
        is_illustrative = self._sources[request.source].settings.illustrative
        return tuple(map(hide_interval, scores)) if is_illustrative else scores

    def score_benchmark(self, request: ScoreRequest) -> BenchmarkScores:
        """Compute scores, all pairs and groups of a benchmark; totals give only scores.

        Raises ``ReportError`` as ``get_problem_scores``, ``ScoresError`` if outcomes do not give the metric.
        """
        from reportgen.figures.plot import BenchmarkScores  # noqa: PLC0415
        from reportgen.statistics.verdicts import check_counted, find_leader, rank_groups, rank_ranges  # noqa: PLC0415

        scores, problems = self.get_scores(request), self.get_problem_scores(request)
        source, better, untested = self._sources[request.source], request.higher_is_better, ""
        check_counted(problems, higher_is_better=better)
        if source.settings.illustrative:
            untested = "illustrative answers"
        elif source.kind == "totals":
            untested = "the problems behind totals are not known"
        pairs = () if untested else self._compare_pairs(request)
        lead = Lead(None, tested=False, reason="no score")
        if known := {one.series: one.estimate for one in scores if one.estimate is not None}:
            first, *others = sorted(known, key=known.__getitem__, reverse=better)
            lead = find_leader(pairs, first, others, higher_is_better=better, missing=untested)
        return BenchmarkScores(
            problems=problems,
            scores=scores,
            comparisons=pairs,
            groups=() if untested else rank_groups(scores, pairs, higher_is_better=better),
            lead=lead,
            ranks=() if untested else rank_ranges(scores, pairs),
        )

    def plan_study(self, request: ScoreRequest, difference: float | None) -> Plan:
        """Estimate the power of other designs, with all pairs as the family.

        ``difference`` is the true one, in % points if scores go from 0 to 1. Raises as ``score_benchmark``.
        """
        from reportgen.statistics.power import plan  # noqa: PLC0415

        problems = self.get_problem_scores(request)
        if difference is not None and (problems.lowest, problems.highest) == (0, 1):
            difference /= 100
        pairs = self._compare_pairs(request)
        return plan(problems, pairs, *split_metric(request.metric), difference=difference)

    def _compare_pairs(self, request: ScoreRequest) -> tuple[Comparison, ...]:
        if self._sources[request.source].settings.illustrative:
            raise ScoresError(f'the answers of "{request.source}" are illustrative', "Take measured ones")
        from reportgen.statistics.compare import compare_all  # noqa: PLC0415

        problems = self.get_problem_scores(request)
        if (count := len(problems.series)) > MOST_COMPARED:
            said = f"all pairs of series are compared, and {count:,} series are too many for that"
            raise ScoresError(said, f"Keep {MOST_COMPARED:,} at most with filter: in source.yml")
        return self._compute_once(
            "pairs",
            request,
            lambda: compare_all(
                problems,
                *split_metric(request.metric),
                level=request.level,
                higher_is_better=request.higher_is_better,
                blocks=request.family_blocks,
                estimand=request.estimand,
                adjust=request.adjust,
            ),
        )

    def _read_totals(
        self, request: ScoreRequest
    ) -> tuple[tuple[ReportedScore, ...], tuple[float, float]] | None:
        """Return the totals of a request and their range, infinite if not known; None for outcomes."""
        place, source = self._locate(request), self._sources[request.source]
        if source.kind != "totals":
            return None
        from reportgen.read import open_totals  # noqa: PLC0415 - imports the database

        def read() -> tuple[tuple[ReportedScore, ...], tuple[float, float]]:
            with relocate_errors(source.location, place, *name_settings(source)):
                name = source.name
                table = self._compute_once("totals table", name, lambda: open_totals(self._root, source))
                found = table.get_scores(request.benchmark, request.series, dict(request.where))
            if not found:
                step = "Look at series and benchmark of the block"
                raise self._make_no_row_error(request, "a total of this benchmark and series", step)
            return found, table.get_range(found, higher_is_better=request.higher_is_better)

        return self._compute_once("totals", replace(request, metric="", level=0.0), read)

    def _group(self, request: ScoreRequest, group: Callable[[Outcomes], _Value]) -> _Value:
        """Read the rows of a request and group them."""
        place, source = self._locate(request), self._sources[request.source]

        def read() -> Outcomes:
            from reportgen.read import read_outcomes  # noqa: PLC0415 - imports the database

            return read_outcomes(
                self._root,
                source,
                benchmark=request.benchmark,
                series=request.series,
                where=dict(request.where),
                by=request.by,
            )

        with (
            relocate_errors(source.location, place, *name_settings(source)),
            place_score_errors(place),
        ):
            outcomes = self._compute_once("outcomes", _select_score_rows(request), read)
            try:
                return group(outcomes)
            except NoOutcomesError as error:
                step = "Look at series and benchmark of the block"
                raise self._make_no_row_error(request, "a series, a problem and a score", step) from error
