"""A state of a report, to be compared: what ``report.json`` holds and, of a draft, what stands behind it."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.directions import find_direction
from reportgen.core.errors import Diagnostics
from reportgen.core.model import CurveRequest, Observations, ScoreRequest
from reportgen.core.report_json import FORMAT, NO_METHOD
from reportgen.draft.blocks.draw_inputs import read_series_names
from reportgen.draft.blocks.results import ResultsStore, use_every_step
from reportgen.draft.drawing import plan_report
from reportgen.site.outputs import find_outputs, format_report_json, list_figures, list_tables
from reportgen.site.reuse.manifest import Provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.cache import Cache, CachedText
    from reportgen.core.model import Request
    from reportgen.draft.report import Report
    from reportgen.review.model import Origin
    from reportgen.settings.inputs import Block, Page, Source

# What only a draft knows of a figure or table, by its page and id.
Known: TypeAlias = "tuple[tuple[str, str], dict[str, Any]]"

# Settings of a source that decide which numbers its rows give; how it is described, and measured, is apart.
_DEFINING_SOURCE: Final = (
    *(
        "at_least",
        "at_most",
        "columns",
        "count",
        "fields",
        "filter",
        "form",
        "interval",
        "repeat",
        "rows",
        "score_name",
        "score_range",
        "statuses",
        "unit",
        "wide",
    ),
)
# Settings of a block that decide what it shows; the others decide how that looks.
_DEFINING_BLOCK: Final = (
    *("source", "sources", "x", "series", "level", "band", "peak", "smooth"),
    *("benchmark", "benchmarks", "baseline", "estimand", "family", "higher_is_better", "slices"),
    *("difference", "columns", "spec", "function", "of", "count", "rules"),
)
# What ``report.json`` says of how numbers are defined, and its name among settings.
_DEFINING_NUMBERS: Final = {
    **{name: name for name in ("metric", "band", "level", "smooth", "estimand", "higher_is_better")},
    "reference": "baseline",
}


class FigureState(Struct, frozen=True):
    """A figure as one state shows it. ``csv`` are the points drawn, None where they are not known."""

    page: str
    id: str
    kind: str
    title: str
    words: str  # its caption and summary
    numbers: Mapping[str, Any]
    definition: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)  # of its block; empty where they are not known
    sources: tuple[str, ...] | None = None  # None where it is not known which they are
    slots: Mapping[str, int] = field(default_factory=dict)  # of the palette, by series
    key: str = ""  # equal keys: nothing changed
    percent: bool = False  # whether its values are shares, shown times 100
    csv: str | CachedText | None = None
    spec: str | CachedText | None = None


class TableState(Struct, frozen=True):
    """A table as one state shows it, in finished words."""

    page: str
    id: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    definition: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] | None = None


class RequestedNumbers(Struct, frozen=True):
    """What a block asks of a source: the numbers of these series."""

    page: str
    block: str
    title: str
    request: Request
    series: tuple[str, ...]
    higher_is_better: bool | None
    percent: bool  # whether they are shares, shown times 100
    definition: Mapping[str, str]


class Drafted(Struct, frozen=True):
    """What a draft knows beyond ``report.json``: sources, and results, which are read where they changed."""

    sources: Mapping[str, Source]
    numbers: tuple[RequestedNumbers, ...]
    results: ResultsStore
    texts: Mapping[str, str]  # of pages, by path


class Snapshot(Struct, frozen=True):
    """A state: ``report`` is its ``report.json``; ``drafted`` is None where there is nothing but that."""

    origin: Origin
    report: Mapping[str, Any] = field(default_factory=lambda: {"pages": [], "sources": [], "problems": []})
    figures: tuple[FigureState, ...] = ()
    tables: tuple[TableState, ...] = ()
    drafted: Drafted | None = None
    skips_code: bool = False  # whether charts of functions are empty

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """The SHA-256 of each file, by source and path."""
        return {
            source["name"]: {file["path"]: file["sha256"] for file in source["files"]}
            for source in self.report["sources"]
        }


def take_snapshot(origin: Origin, report: Report, root: Path, cache: Cache) -> Snapshot:
    """The state of a drafted report, whose data files have to stay where they are."""
    # Of a site in several languages, only the pages of the first have what they show.
    whole = (page for page in report.pages if all((page.path, one.id) in report.shown for one in page.blocks))
    report = replace(report, pages=tuple(whole))
    # Of a large report, the numbers in memory twice would be too much: a snapshot has those of report.json.
    outputs = {page.path: find_outputs(page, report, cache) for page in report.pages}
    described = b"".join(format_report_json(report, outputs, Provenance(origin.commit, "")))
    read = read_snapshot(origin, described.decode())
    drafted = _collect_numbers(report, root, cache)
    # With the page's metric, which a block need not name.
    metrics: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for one in drafted.numbers:
        metrics[one.page, one.block][one.request.metric] = None
    blocks = [
        (page, block, ", ".join(metrics[page.path, block.id]), report)
        for page in report.pages
        for block in page.blocks
    ]
    figures = {(one.page, one.id): one for one in read.figures}
    tables = {(one.page, one.id): one for one in read.tables}
    return replace(
        read,
        origin=origin.replace(report_sha256=read.origin.report_sha256),
        figures=tuple(
            replace(figures[key], **known) for one in blocks for key, known in _describe_figures(*one)
        ),
        tables=tuple(
            replace(tables[key], **known) for one in blocks for key, known in _describe_tables(*one)
        ),
        drafted=drafted,
    )


def _describe_figures(page: Page, block: Block, metric: str, report: Report) -> Iterator[Known]:
    settings, sources = block.settings.model_dump(mode="json", exclude_none=True), _list_sources(block, page)
    for figure in list_figures(report.shown[page.path, block.id]):
        yield (
            (page.path, figure.id),
            {
                "settings": settings,
                "definition": _define_block(settings, metric) | define_numbers(figure.numbers),
                "sources": sources,
                "slots": report.slots,
                "key": report.keys.get((page.path, block.id), ""),
                # pass@k is drawn in percent already
                "percent": figure.kind != "passk"
                and _is_share(
                    page, block, [report.sources[one] for one in sources], figure.numbers.get("metric")
                ),
                "csv": figure.csv,
                "spec": figure.spec,
            },
        )


def _describe_tables(page: Page, block: Block, metric: str, report: Report) -> Iterator[Known]:
    shown, sources = report.shown[page.path, block.id], _list_sources(block, page)
    definition = _define_block(block.settings.model_dump(mode="json"), metric)
    for numbers in (getattr(shown, "numbers", {}), *(one.numbers for one in list_figures(shown))):
        definition |= define_numbers(numbers)
    for table in list_tables(shown):
        yield (page.path, table.id), {"definition": definition, "sources": sources}
    if isinstance(shown, Observations):
        # They are about a source, or about a figure of the page.
        name = getattr(block.settings, "of", None)
        about = next((one for one in page.blocks if name in one.settings.list_figures(one.id)), None)
        observed = (name,) if name and not about else _list_sources(about or block, page)
        yield (page.path, shown.id), {"definition": definition, "sources": observed}


def read_snapshot(
    origin: Origin, text: str, read_file: Callable[[str], CachedText | None] = lambda _name: None
) -> Snapshot:
    """The state that a ``report.json`` holds; ``read_file`` gives files of its site where there is one.

    Raises a ValueError, KeyError or TypeError if it is none.
    """
    report = json.loads(text)
    if report["format"] != FORMAT:
        raise ValueError(f"format {report['format']}")
    figures, tables = [], []
    for page in report["pages"]:
        for one in page["figures"]:
            files = {path.rpartition(".")[2]: path for path in one["files"]}
            figures.append(
                FigureState(
                    page=page["path"],
                    id=one["id"],
                    kind=one["kind"],
                    title=one["title"],
                    words=f"{one['caption']}\n{one['summary']}",
                    numbers=one["numbers"],
                    definition=define_numbers(one["numbers"]),
                    csv=read_file(files.get("csv", "")),
                    spec=read_file(files.get("json", "")),
                )
            )
        # What rules found is a table, too: its sentences are numbers in words.
        observed = [
            one
            | {"header": ("rule", "found"), "rows": [(each["rule"], each["text"]) for each in one["items"]]}
            for one in page["observations"]
        ]
        for one in page["tables"] + observed:
            rows = ((cell if isinstance(cell, str) else cell["text"] for cell in row) for row in one["rows"])
            header = tuple(one["header"])
            tables.append(TableState(page["path"], one["id"], one["title"], header, tuple(map(tuple, rows))))
    origin = origin.replace(
        report_sha256=hashlib.sha256(text.encode()).hexdigest(),
        tool=str(report["generator"]["version"]),
        commit=report.get("commit") or "",
    )
    return Snapshot(origin, report, tuple(figures), tuple(tables))


def define_numbers(numbers: Mapping[str, Any]) -> dict[str, str]:
    """How numbers of ``report.json`` are defined, as far as they say it."""
    found = {label: numbers.get(name) for name, label in _DEFINING_NUMBERS.items()}
    return {label: _to_text(value) for label, value in found.items() if value is not None}


def define_protocol(source: Source, series: str) -> dict[str, str]:
    """How a series was measured, by the name of each setting."""
    stated = dict(source.settings.get_protocol(series).list_stated())
    return {name: value for name, value in stated.items() if name not in NO_METHOD}


def _collect_numbers(report: Report, root: Path, cache: Cache) -> Drafted:
    problems = Diagnostics()  # a draft that has any is never returned
    plan = plan_report(report.pages, report.sources, problems)
    requests = plan.list_all_requests()
    exact = [use_every_step(request) for request in requests if isinstance(request, CurveRequest)]
    results = ResultsStore(root, report.sources, dict.fromkeys((*requests, *exact)))
    names = read_series_names(plan, report.sources, results, cache, problems)
    numbers = []
    for planned in plan.blocks:
        page, block = planned.page, planned.block
        for request in planned.requests:
            source = report.sources[request.source]
            if request.metric in source.numbers:
                continue  # a setting of finished runs, which a scatter block has as x, is no result
            # What decides the numbers apart from the source's files, each in a few words. Smoothing and
            # bands do not: numbers are those of unsmoothed runs.
            definition = {"metric": request.metric}
            if isinstance(request, CurveRequest):
                definition["x"] = request.x or "step"
            found = RequestedNumbers(
                page=page.path,
                block=block.id,
                title=getattr(report.shown[page.path, block.id], "title", ""),
                request=request,
                series=names.get(request, ()),
                higher_is_better=_find_direction(request, block, page, source),
                percent=_is_share(page, block, [source], request.metric),
                definition=definition | _define_filter(dict(request.where)) | define_source(source),
            )
            numbers.append(found)
    texts = {page.path: page.text for page in report.pages if not page.generated}
    return Drafted(report.sources, tuple(numbers), results, texts)


def _is_share(page: Page, block: Block, sources: Iterable[Source], metric: str | None) -> bool:
    """Whether a block shows scores from 0 to 1, or a metric of curves, that are written in percent."""
    if block.settings.data == "scores":
        return all(one.score_range == (0, 1) for one in sources)
    if stated := getattr(block.settings, "format", None):
        return bool(stated == "percent")
    return any(metric in page.percent.get(one.name, ()) for one in sources)


def _find_direction(request: Request, block: Block, page: Page, source: Source) -> bool | None:
    if isinstance(request, ScoreRequest):
        return request.higher_is_better
    benchmark = page.front_matter.benchmark
    names = {part.source.name for part in source.parts} or {source.name}
    own_source = benchmark is not None and names.issuperset(benchmark.sources)
    ranks = own_source and benchmark is not None and benchmark.metric in {None, request.metric}
    stated = getattr(block.settings, "higher_is_better", None)
    own = benchmark.higher_is_better if benchmark and ranks else None
    return find_direction(request.metric, stated, own, ranks=ranks)


def _define_filter(columns: Mapping[str, Any]) -> dict[str, str]:
    """Which values of each column are taken."""
    listed = {
        name: values if isinstance(values, tuple | list) else (values,) for name, values in columns.items()
    }
    return {f"filter on {name}": " or ".join(map(str, values)) for name, values in listed.items()}


def define_source(source: Source) -> dict[str, str]:
    """What a ``source.yml`` says that decides the source's numbers, each in a few words."""
    if source.parts:
        parts = [define_source(part.source) for part in source.parts]
        return {name: words for part in parts for name, words in part.items()}
    settings = source.settings.model_dump(mode="json", include=set(_DEFINING_SOURCE), exclude_defaults=True)
    return {f"{name} of {source.name}": _to_text(value) for name, value in settings.items()}


def _define_block(settings: Mapping[str, Any], metric: str) -> dict[str, str]:
    stated = {name: _to_text(settings[name]) for name in _DEFINING_BLOCK if settings.get(name)}
    return stated | _define_filter(settings.get("filter", {})) | ({"metric": metric} if metric else {})


def _list_sources(block: Block, page: Page) -> tuple[str, ...]:
    benchmark = page.front_matter.benchmark
    return block.settings.list_sources() or (benchmark.sources if benchmark else ())


def _to_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
