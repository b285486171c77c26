"""What a report is, in at most 2,000 tokens: ``reportgen context``, for who is about to write in it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec.structs import replace

from reportgen.cli.envelope import Answer, format_json, prints_json
from reportgen.cli.output import (
    cache_dir_option,
    config_option,
    json_option,
    print_line,
    report_problems,
    show_progress,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.cli.results import (
        BenchmarkContext,
        ContextResult,
        PageContext,
        SourceContext,
        StatementContext,
    )
    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import Observed, Shown
    from reportgen.core.statements import Statement
    from reportgen.draft.report import Report
    from reportgen.settings.inputs import Page, Source

_MOST_CHARACTERS: Final = 7_600
"""Of a context: 2,000 tokens of four characters, without those of the envelope."""
_MOST_NAMES, _LONGEST = 12, 300


@click.command()
@click.argument("page", required=False)
@config_option
@json_option
@cache_dir_option
def context(page: str | None, config_file: Path) -> Answer:
    """Print what the report is, in 2,000 tokens.

    For who is about to write in it, such as a coding agent: pages, sources with series, metrics and runs,
    benchmarks, open problems, statements that are not as expected, and what may be written where. With PAGE,
    such as content/index.md, only what concerns it, and all of its statements. Long lists are cut.

    \b
    Examples:
      reportgen context
      reportgen context content/math500.md --format json
    """
    from reportgen.site.checking import draft_report

    with report_problems("there is no context until they are solved"):
        with show_progress() as advance:
            report, problems = draft_report(config_file, progress=advance)
        found = trim(_describe_report(report, problems, config_file, _choose_page(report, page)))
    for line in _write_lines(found):
        print_line(line)
    return Answer(found)


def _choose_page(report: Report, name: str | None) -> Page | None:
    """Return the page or document of a file; raise a ReportError if there is none."""
    from reportgen.core.errors import make_error
    from reportgen.core.words import suggest_name

    if name is None:
        return None
    pages = {page.file: page for page in (*report.pages, *report.documents) if not page.generated}
    known = pages | {page.path: page for page in pages.values()}
    if name not in known:
        step = f"{suggest_name(name, tuple(pages))}reportgen context lists the pages"
        raise make_error(name, "the report has no such page", step)
    return known[name]


def _describe_report(
    report: Report, problems: Iterable[Diagnostic], config_file: Path, chosen: Page | None
) -> ContextResult:
    from reportgen.cli.results import ContextResult

    pages = [chosen] if chosen else [*report.pages, *report.documents]
    paths = {page.path for page in pages}
    planned = [one for one in report.plan.blocks if one.page.path in paths]
    names = {*chain.from_iterable(one.sources for one in planned)}
    names |= {one.request.source for one in report.plan.benchmarks if one.page.path in paths}
    names |= {one.topic.request.source for one in report.plan.statements if one.page.path in paths}
    sources = [one for one in report.list_sources() if not chosen or one.name in names]
    judged = {one.binding.location: one for page in pages for one in report.statements.get(page.path, ())}
    files = {page.file for page in pages} | {one.location.file for one in sources}
    return ContextResult(
        report.pages[0].title if report.pages else "",
        chosen.file if chosen else None,
        tuple(_describe_page(page, report) for page in pages if not page.generated),
        tuple(_describe_source(source, report) for source in sources),
        () if chosen else tuple(_list_unused(report, config_file)),
        tuple(_describe_benchmark(path, report) for path in report.benchmarks if path in paths),
        tuple(
            str(one)[:_LONGEST]
            for one in problems
            if one.location not in judged and (not chosen or one.location.file in files)
        ),
        tuple(map(_describe_statement, (one for one in judged.values() if chosen or not one.as_expected))),
        _say_where_to_write(report, config_file),
    )


def _describe_page(page: Page, report: Report) -> PageContext:
    from reportgen.cli.results import PageContext
    from reportgen.core.words import join_names

    sources = {one.block.id: one.sources for one in report.plan.blocks if one.page.path == page.path}
    blocks = []
    for block in page.blocks:
        name = block.kind if block.kind == block.id else f"{block.kind} {block.id}"
        of = " + ".join(sources.get(block.id, ()))
        blocks.append(f"{name} of {of}" if of else name)
    count = len(report.statements.get(page.path, ()))
    return PageContext(page.file, page.title, join_names(blocks, most=_MOST_NAMES), count)


def _describe_source(source: Source, report: Report) -> SourceContext:
    from reportgen.cli.results import SourceContext
    from reportgen.core.words import join_names

    series: dict[str, None] = {}
    metrics = dict.fromkeys(source.metrics if source.kind == "measurements" else ())
    observed: list[Observed] = []
    for one in report.plan.blocks:
        if one.sources == (source.name,):
            place = (one.page.path, one.block.id)
            series |= dict.fromkeys(_list_series(report.shown[place]))
            metrics |= dict.fromkeys(request.metric for request in one.requests)
            observed += report.observed.get(place, ())
    for planned in report.plan.statements:
        if planned.topic.request.source == source.name:
            judged = report.statements[planned.page.path][planned.number - 1]
            series |= dict.fromkeys(name for fact in judged.judgement.facts for name in fact.series)
    return SourceContext(
        source.name,
        source.kind,
        join_names([*metrics], most=_MOST_NAMES),
        join_names(source.benchmarks, most=_MOST_NAMES),
        join_names([*series], most=_MOST_NAMES),
        max((one.runs for one in observed), default=None),
        max((one.problems for one in observed if one.problems is not None), default=None),
    )


def _list_series(shown: Shown) -> Iterator[str]:
    """Yield the names of series that a block shows."""
    from reportgen.core.model import Stack
    from reportgen.site.outputs import list_figures

    numbers: list[Mapping[str, Any]] = [one.numbers for one in list_figures(shown)]
    numbers += [shown.numbers] if isinstance(shown, Stack) else []
    for one in numbers:
        for entry in one.get("series") or one.get("scores") or ():
            name = entry.get("name", entry.get("series")) if isinstance(entry, dict) else entry
            if isinstance(name, str):
                yield name


def _list_unused(report: Report, config_file: Path) -> Iterator[str]:
    """Yield the files and folders of the data folder that no source of a page has."""
    from reportgen.core.cache import list_entries
    from reportgen.settings.loading import read_data_settings

    folder, _ = read_data_settings(config_file, config_file.name)
    used = {source.name.partition("/")[0] for source in report.list_sources()}
    for name in sorted(list_entries(config_file.resolve().parent / folder)):
        is_settings = name.endswith((".source.yml", ".source.yaml")) or name == "source.yml"
        if not (name in used or name.partition(".")[0] in used or is_settings or name.startswith(".")):
            yield f"{folder}/{name}"


def _describe_benchmark(path: str, report: Report) -> BenchmarkContext:
    from reportgen.cli.results import BenchmarkContext

    result = report.benchmarks[path]
    return BenchmarkContext(result.name, path, {label: text[:_LONGEST] for label, text in result.facts})


def _describe_statement(one: Statement) -> StatementContext:
    from reportgen.cli.results import StatementContext
    from reportgen.site.outputs import describe_truth

    place, judgement = one.binding.location, one.judgement
    words = (one.binding.words, one.binding.expression, describe_truth(one), judgement.found[:_LONGEST])
    return StatementContext(f"{place}", *words, judgement.repaired)


def _say_where_to_write(report: Report, config_file: Path) -> dict[str, str]:
    from reportgen.settings.loading import read_data_settings

    folder, _ = read_data_settings(config_file, config_file.name)
    pages = [page for page in report.pages if not page.generated]
    content = pages[0].file.removesuffix(pages[0].path).rstrip("/") if pages else "the folder of docs_dir"
    places = {f"{content}/": "pages: write prose, blocks and bound values here"}
    if report.documents:
        places["documents"] = ", ".join(page.file for page in report.documents)[:_LONGEST]
    return places | {
        f"{folder}/": "data: reportgen add puts them there; never change a number",
        "source.yml": "settings of a source, beside its data",
        config_file.name: "settings of the report, and nav: for new pages",
        "site/": "generated, as is what review, archive and hub write: never edit it",
    }


def trim(found: ContextResult) -> ContextResult:
    """Cut the largest lists, from their ends, until the whole is short enough in the form that is printed."""
    while _measure(found) > _MOST_CHARACTERS:
        lists: dict[str, tuple[Any, ...]] = {name: getattr(found, name) for name in _LISTS}
        name = max(lists, key=lambda name: len(format_json(lists[name])))
        cut = max(1, len(lists[name]) // 10)
        left = found.left_out | {name: found.left_out.get(name, 0) + cut}
        found = replace(found, left_out=left, **{name: lists[name][:-cut]})
    return found


def _measure(found: ContextResult) -> int:
    if prints_json():
        return len(format_json([found]))
    return sum(len(line) + 1 for line in _write_lines(found))


def _write_lines(found: ContextResult) -> Iterator[str]:
    yield f"# {found.title}"
    for name, (title, write, step) in _LISTS.items():
        listed, left = getattr(found, name), found.left_out.get(name, 0)
        if listed or left:
            whole = name == "statements" and found.page is None
            yield from ("", f"## {title}{' that are not as expected' if whole else ''}", "")
            yield from (f"- {write(one)}" for one in listed)
        if left:
            yield f"- and {left:,} more: {step}"
    yield from ("", "## What may be written where", "")
    yield from (f"- {place}: {what}" for place, what in found.places.items())


def _write_page(page: PageContext) -> str:
    from reportgen.core.words import format_count

    blocks = f" – {page.blocks}" if page.blocks else ""
    statements = f"; {format_count(page.statements, 'statement')}" if page.statements else ""
    return f'{page.file}: "{page.title}"{blocks}{statements}'


def _write_source(source: SourceContext) -> str:
    from reportgen.core.words import format_count

    named = (("metrics", source.metrics), ("benchmarks", source.benchmarks), ("series", source.series))
    counts = (("run", source.runs), ("problem", source.problems))
    parts = [f"{label} {names}" for label, names in named if names]
    parts += [format_count(count, noun) for noun, count in counts if count]
    return f"{source.name} ({source.kind}): {'; '.join(parts)}"


def _write_benchmark(benchmark: BenchmarkContext) -> str:
    facts = " ".join(f"{label}: {text.rstrip('.')}." for label, text in benchmark.facts.items())
    return f"{benchmark.name} on {benchmark.page}: {facts}"


def _write_statement(one: StatementContext) -> str:
    instead = f'; write "{one.repaired}"' if one.repaired else ""
    return f'{one.place}: "{one.words}" {one.truth}: {one.found}{instead}'


# Of each list its title, how an entry is written, and what prints the rest.
_LISTS: Final[dict[str, tuple[str, Callable[[Any], str], str]]] = {
    "pages": ("Pages", _write_page, "reportgen context PAGE"),
    "sources": ("Sources", _write_source, "reportgen describe data, or reportgen facts SOURCE"),
    "unused": ("Data that no page shows", str, "reportgen describe data"),
    "benchmarks": ("Benchmarks", _write_benchmark, "reportgen context PAGE"),
    "problems": ("Open problems", str, "reportgen check"),
    "statements": ("Statements", _write_statement, "reportgen check"),
}
