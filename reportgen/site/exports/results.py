"""The scores that a report shows, each with its interval and figure, for every export; as CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import replace_file
from reportgen.core.comparisons import RankRange
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage, make_error
from reportgen.core.model import Estimate, Stack
from reportgen.core.report_json import list_values
from reportgen.core.words import escape_formula, format_count, format_estimate, suggest_name
from reportgen.draft.gathering import read_answers
from reportgen.figures.scores.wording import format_rank
from reportgen.settings.inputs import get_settings_file
from reportgen.site.citation import LATEX
from reportgen.site.markdown.blocks import clean, write_table
from reportgen.site.outputs import list_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import ScoreRequest, Shown
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.report import Report
    from reportgen.settings.inputs import Source
    from reportgen.site.citation import CitedReport


class Result(Struct, frozen=True):
    """A score of a series, in the unit of its data; None for what is not known.

    ``step`` is that of the last value of a curve, which has 0 ``problems`` and ``samples``. ``block`` is what
    shows it first, and ``sources`` are those of that block. ``read_answers`` returns rows with ``run``,
    ``seed``, ``problem``, ``sample`` and ``score``; it is None for a score without answers.
    """

    series: str
    benchmark: str
    metric: str
    estimate: Estimate
    level: float
    stderr: float | None
    problems: int
    samples: int
    runs: int
    step: float | None
    method: str
    reason: str
    rank: RankRange | None
    lower_is_better: bool
    ends: tuple[float, float] | None
    protocol: Mapping[str, str]
    block: PlannedBlock
    sources: tuple[Source, ...]
    read_answers: Callable[[], list[dict[str, Any]]] | None

    @property
    def is_share(self) -> bool:
        """Whether it is a share, which is written in percent."""
        stated = any(self.metric in names for names in self.block.page.percent.values())
        return stated or (self.step is None and self.ends == (0.0, 1.0))

    @property
    def published(self) -> float:
        """The score as the Hub has it: a share in percent."""
        return 100 * self.estimate.value if self.is_share else self.estimate.value

    @property
    def caution(self) -> str:
        """What readers have to know of its data, such as that they are synthetic."""
        return "; ".join(filter(None, dict.fromkeys(source.settings.caution for source in self.sources)))

    @property
    def figure(self) -> str:
        """The page that shows it, and the id of its figure there."""
        return f"{self.block.page.path}#{self.block.block.id}"

    @property
    def words(self) -> str:
        """The score with its interval as a reader sees it."""
        return format_estimate(self.estimate, percent=self.is_share)

    def describe(self) -> str:
        """Say in a line how it was measured and what its interval is."""
        counts = [(self.problems, "problem"), (self.samples, "sample"), (self.runs, "run")]
        parts = [", ".join(format_count(count, noun) for count, noun in counts if count)]
        if self.estimate.low is not None:
            parts.append(f"{100 * self.level:g}% CI ({self.method})" if self.method else "interval as drawn")
        if self.step is not None:
            parts.append(f"at step {self.step:g}")
        return "; ".join(filter(None, [self.words, *parts, self.reason, self.caution]))


def collect_results(
    report: Report, root: Path, names: Sequence[str], metric: str | None = None
) -> list[Result]:
    """Collect the scores that a report in ``root`` shows of some sources and a metric, or of all of them.

    A score that several blocks show is that of the first. Raises a ReportError if a source has none.
    """
    known = {source.name for source in report.list_sources()}
    for name in names:
        if name not in known:
            step = f"{suggest_name(name, known)}reportgen context lists the sources"
            raise make_error(name, "no page shows a source of this name", step, Stage.DATA)
    found: dict[tuple[Any, ...], Result] = {}
    for planned in report.plan.blocks:
        if not names or {*names} & {*planned.sources}:
            shown = report.shown[planned.page.path, planned.block.id]
            for one in _list_results(planned, shown, report, root):
                if metric not in {None, one.metric}:
                    continue
                key = (one.series, one.benchmark, one.metric, one.step, one.estimate, one.level)
                found.setdefault(key, one)
    without = [one for one in names if not any(one in result.block.sources for result in found.values())]
    if without or not found:
        message = f"no page shows {metric or 'a score or a curve'} of it"
        step = "Show it in a block of kind scores, table or curve"
        raise make_error(without[0] if without else "the report", message, step, Stage.DATA)
    return list(found.values())


def choose_whole(results: Sequence[Result]) -> list[Result]:
    """Choose one score of each series, benchmark and metric: the first that is of all rows."""
    chosen: dict[tuple[str, str, str], Result] = {}
    for one in results:
        if not any(request.where or request.by for request in one.block.requests):
            chosen.setdefault((one.series, one.benchmark, one.metric), one)
    return list(chosen.values())


def choose_first(results: Sequence[Result]) -> list[Result]:
    """Choose one score of each series and benchmark: the first of those that are of all rows."""
    chosen: dict[tuple[str, str], Result] = {}
    for one in choose_whole(results):
        chosen.setdefault((one.series, one.benchmark), one)
    return list(chosen.values())


def _list_results(planned: PlannedBlock, shown: Shown, report: Report, root: Path) -> Iterator[Result]:
    sources = tuple(report.sources[name] for name in planned.sources)
    if not sources:
        return
    page = report.benchmarks.get(planned.page.path)
    about = page.name if page else sources[0].settings.title or sources[0].name
    numbers = [shown.numbers] if isinstance(shown, Stack) else [one.numbers for one in list_figures(shown)]
    for own in numbers:
        if isinstance(own.get("series"), list) and "baseline" in own:  # differences, which are no scores
            continue
        for series, benchmark, value, protocol in list_values(own):
            if value["value"] is not None:
                name = benchmark or own.get("benchmark") or about
                result = _make_result((series, name), value, protocol, own, planned, sources)
                yield _add_answers(result, report, root)


def _make_result(  # noqa: PLR0917 - a value, and what it is of
    names: tuple[str, str],
    value: Mapping[str, Any],
    protocol: Mapping[str, str],
    numbers: Mapping[str, Any],
    planned: PlannedBlock,
    sources: tuple[Source, ...],
) -> Result:
    """Make a result of a series and benchmark (``names``) from what ``list_values`` yields."""
    step, metric = value.get("step"), value.get("metric") or numbers["metric"]
    of_curve = step is not None
    request = None if of_curve else _find_request(planned, names[1])
    return Result(
        *names,
        metric,
        Estimate(value["value"], value["low"], value["high"], value.get("n") or value["problems"]),
        level=request.level if request else numbers["level"],
        stderr=value.get("stderr"),
        problems=value.get("problems", 0),
        samples=(value.get("samples") or (0,))[0],
        runs=value["n"] if of_curve else value["runs"],
        step=step,
        method=numbers.get("band", "") if of_curve else value["method"],
        reason=value.get("reason", ""),
        rank=RankRange(names[0], **value["rank"], count=0) if value.get("rank") else None,
        lower_is_better=(request.higher_is_better if request else numbers["higher_is_better"]) is False,
        ends=sources[0].settings.find_ends(metric) if of_curve else sources[0].score_range,
        protocol=protocol,
        block=planned,
        sources=sources,
        read_answers=None,
    )


def _find_request(planned: PlannedBlock, benchmark: str) -> ScoreRequest:
    """Find the request of a block for the scores on a benchmark; without benchmarks there is one."""
    requests = planned.outcomes
    return next((one for one in requests if one.benchmark == benchmark), requests[0])


def _add_answers(result: Result, report: Report, root: Path) -> Result:
    """Add how the answers behind a score are read, if there are some."""
    if result.step is not None:
        return result
    request = _find_request(result.block, result.benchmark)
    source = report.sources[request.source]
    if source.kind != "outcomes":
        return result

    read = partial(read_answers, root, source, request, result.series)
    return replace(result, read_answers=read)


def find_models(results: Sequence[Result]) -> dict[str, str]:
    """Return the model of each series, as organisation/name; raise a ReportError with all missing ones."""
    models: dict[str, str] = {}
    problems: dict[str, Diagnostic] = {}
    for one in results:
        models |= {name: model for source in one.sources for name, model in source.settings.models.items()}
    for one in results:
        if one.series not in models:
            message = f'it does not say which model "{one.series}" is'
            step = f'Write models: {{"{one.series}": organisation/name}}'
            place = SourceLocation(get_settings_file(one.sources[0]))
            problems[one.series] = Diagnostic(place, message, step, Stage.SETTINGS)
    if problems:
        raise ReportError(*problems.values())
    return models


# ---- as tables

_COLUMNS = (
    *("series", "benchmark", "metric", "score", "low", "high", "level", "stderr"),
    *("problems", "samples", "runs", "step", "method", "reason", "sources", "figure"),
)


def write_csv(results: Sequence[Result], _cited: CitedReport) -> dict[str, str]:
    """Return one table of all scores: numbers in the unit of the data, empty for what is not known."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in results:
        value = one.estimate
        level = None if value.low is None else one.level
        numbers = (value.value, value.low, value.high, level, one.stderr)
        counts = (one.problems or None, one.samples or None, one.runs or None, one.step)
        sources = " + ".join(source.name for source in one.sources)
        words = map(escape_formula, (one.method, one.reason, sources, one.figure))
        names = map(escape_formula, (one.series, one.benchmark, one.metric))
        writer.writerow([*names, *numbers, *counts, *words])
    return {"results.csv": text.getvalue()}


def write_latex(results: Sequence[Result], _cited: CitedReport) -> dict[str, str]:
    r"""Return a ``tabular`` of series by benchmark and metric, of kernel commands alone, for ``\input``."""
    results = choose_whole(results)
    columns = list(dict.fromkeys((one.benchmark, one.metric) for one in results))
    cells: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for one in results:
        cells[one.series][one.benchmark, one.metric] = one.words

    def join(cells: Sequence[str]) -> str:
        return f"{' & '.join(cell.translate(LATEX).replace(chr(0x2212), '$-$') for cell in cells)} \\\\\n"

    rows = [join([name, *(own.get(column, "") for column in columns)]) for name, own in cells.items()]
    head = join(["", *(benchmark for benchmark, _ in columns)]) + join(["", *(name for _, name in columns)])
    note = "".join(f"% {one.series}, {one.benchmark}, {one.metric}: {one.describe()}\n" for one in results)
    begin = f"\\begin{{tabular}}{{l{'r' * len(columns)}}}\n\\hline\n"
    return {"results.tex": f"{note}{begin}{head}\\hline\n{''.join(rows)}\\hline\n\\end{{tabular}}\n"}


def write_markdown(results: Sequence[Result], _cited: CitedReport) -> dict[str, str]:
    """Return a Markdown table for each benchmark and metric, best first, with ranks that tests leave open."""
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for one in choose_whole(results):
        groups[one.benchmark, one.metric].append(one)
    parts = []
    for (benchmark, metric), own in groups.items():
        own.sort(key=lambda one: one.estimate.value * (1 if one.lower_is_better else -1))
        rows = [
            (format_rank(one.rank) if one.rank else "", one.series, one.words, f"{one.problems or one.runs}")
            for one in own
        ]
        counted = "problems" if own[0].problems else "runs"
        table = write_table(("rank", "series", metric, counted), rows)
        first = sum(one.rank is not None and one.rank.best == 1 for one in own)
        problems = format_count(own[0].problems, "problem")
        said = f"\n\n{first} series may be first: these {problems} do not separate them." if first > 1 else ""
        parts.append(f"## {clean(benchmark)}\n\n{table}{said}\n")
    return {"results.md": "\n".join(parts)}


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder by their names in it; those of the same name are replaced."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(str(path), text.encode())
