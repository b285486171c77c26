"""Files that a report adds to a site, with their paths from the site's root and contents."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from html import unescape
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from reportgen.core import __version__
from reportgen.core.cache import CachedText  # noqa: TC001 - msgspec reads it
from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.core.report_json import FORMAT, encode_json
from reportgen.core.statements import Fact, Truth
from reportgen.core.words import format_count
from reportgen.figures.text import name_view
from reportgen.narrative.prose import count_numbers
from reportgen.settings.blocks import is_authored
from reportgen.settings.text import read_caption

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import Shown
    from reportgen.core.statements import Statement
    from reportgen.draft.accepting import AcceptedWarning
    from reportgen.draft.report import Report
    from reportgen.settings.inputs import Page, Source
    from reportgen.site.reuse.manifest import Provenance

_FACT = Fact.__struct_fields__


@lru_cache(maxsize=1024)  # used for each file of a page
def get_page_folder(page: str) -> str:
    """Return the folder of a page's figure files: ``figures/`` and the page's path without its suffix."""
    return f"figures/{PurePosixPath(page).with_suffix('')}"


def list_figures(shown: Shown) -> tuple[Figure, ...]:
    """Return the figures that a block shows."""
    if isinstance(shown, Panels):
        return shown.figures
    parts = shown.parts if isinstance(shown, Stack) else (shown,)
    return tuple(part for part in parts if isinstance(part, Figure))


def list_tables(shown: Shown) -> tuple[ResultTable, ...]:
    """Return the tables that a block shows, without the data tables of its figures."""
    parts = shown.parts if isinstance(shown, Stack) else (shown,)
    return tuple(part for part in parts if isinstance(part, ResultTable))


def list_file_names(folder: str, shown: Figure | ResultTable) -> list[str]:
    """List the files of a figure or table, from the site's root, in the folder of its page's figures."""
    ends = ("csv",) if isinstance(shown, ResultTable) else ("svg", "csv", "vl.json", *["pdf"] * shown.has_pdf)
    return [f"{folder}/{shown.id}.{end}" for end in ends]


class View(Struct, frozen=True):
    """A Vega-Lite specification, which is compiled; one that an author wrote is left as compiled."""

    specification: str
    is_authored: bool


class FigureOutput(Struct, frozen=True):
    """Contents of the files of a figure."""

    id: str
    svg: str | CachedText
    csv: str | CachedText
    spec: str | CachedText
    samples: tuple[str | CachedText, ...]
    has_pdf: bool


class PageOutputs(Struct, frozen=True):
    """What a site writes of the blocks of a page.

    ``tables`` has id and CSV of each table, ``views`` are the views of all figures by name, ``described`` are
    members of the page's entry in ``report.json``, and ``texts`` is how many samples problem maps open, and
    the size of their texts in bytes.
    """

    figures: tuple[FigureOutput, ...]
    tables: tuple[tuple[str, str], ...]
    views: dict[str, View]
    described: dict[str, bytes]
    texts: tuple[int, int]

    def list_texts(self) -> Iterator[str | CachedText]:
        """List the contents of the files of figures."""
        for one in self.figures:
            yield from (one.svg, one.csv, one.spec, *one.samples)


def find_outputs(page: Page, report: Report, cache: Cache) -> PageOutputs:
    """Return what a site writes of the blocks of a page: from the cache if none of them has changed."""
    keys = [_describe_content((page.path, block.id), report) for block in page.blocks]
    lines = (str(None if page.generated else block.location.line) for block in page.blocks)
    key = cache.make_key("outputs", *lines, *keys) if keys and all(keys) else ""
    found = cache.load(key, PageOutputs) if key else None
    if found is None or not all(isinstance(one, str) or one.stands for one in found.list_texts()):
        found = _collect_outputs(page, report)
        if key:
            cache.store(key, found)
    return found


def _describe_content(place: tuple[str, str], report: Report) -> str:
    """Return a text that changes whenever a block does; empty for one that is always redrawn."""
    if key := report.keys.get(place):
        return key
    shown = report.shown[place]
    return repr(shown) if isinstance(shown, Overview) else ""


def _collect_outputs(page: Page, report: Report) -> PageOutputs:
    shown = [report.shown[page.path, block.id] for block in page.blocks]
    figures, views = collect_figures(*shown)
    counts = [one.numbers["texts"] for block in shown for one in list_figures(block) if one.samples]
    return PageOutputs(
        figures,
        tuple((table.id, table.csv) for block in shown for table in list_tables(block)),
        views,
        {name: encode_json(value) for name, value in _describe_blocks(page, shown).items()},
        (sum(one["samples"] for one in counts), sum(one["bytes"] for one in counts)),
    )


def collect_figures(*blocks: Shown) -> tuple[tuple[FigureOutput, ...], dict[str, View]]:
    """Collect the figures of blocks, and their views by name."""
    figures: list[FigureOutput] = []
    views: dict[str, View] = {}
    for one in (figure for shown in blocks for figure in list_figures(shown)):
        own = {name_view(view): view for view in (one.view, *one.other_views) if view}
        views |= {name: View(view, is_authored(one.kind)) for name, view in own.items() if name not in views}
        texts = one.file_svg, one.csv, one.spec, one.samples
        figures.append(FigureOutput(one.id, *texts, one.has_pdf))
    return tuple(figures), views


def list_figure_files(outputs: Mapping[str, PageOutputs]) -> Iterator[tuple[str, str | CachedText]]:
    """List SVG, CSV, Vega-Lite specification and samples of every figure, and the CSV of every table.

    ``outputs`` are those of each page by its path. A PDF is made from the SVG by a background job.
    """
    for page, output in outputs.items():
        folder = get_page_folder(page)
        for table, csv in output.tables:
            yield f"{folder}/{table}.csv", csv
        for figure in output.figures:
            yield f"{folder}/{figure.id}.svg", figure.svg
            yield f"{folder}/{figure.id}.csv", figure.csv
            yield f"{folder}/{figure.id}.vl.json", figure.spec
            for part, script in enumerate(figure.samples):
                yield f"{folder}/{figure.id}.samples-{part}.js", script


def format_report_json(
    report: Report,
    outputs: Mapping[str, PageOutputs],
    provenance: Provenance,
    stated: Mapping[str, object] = MappingProxyType({}),
) -> Iterator[bytes]:
    """Format the report as sorted JSON, one line per page and source, so that two can be compared.

    ``outputs`` are those of each page by its path, ``stated`` is what else the report says of itself.
    """
    value: dict[str, Any] = {
        **stated,
        "format": FORMAT,
        "generator": {"name": "reportgen", "version": __version__},
        "commit": provenance.commit or None,
        "date": provenance.date or None,
    }
    lists: dict[str, Iterable[bytes | dict[str, Any]]] = {
        "pages": (_describe_page(page, report, outputs[page.path]) for page in report.pages),
        "documents": (_describe_document(page, report) for page in report.documents),
        "sources": map(_describe_source, report.list_sources()),
        "problems": map(describe_diagnostic, report.problems),
    }
    if report.accepted:
        lists["accepted"] = (
            describe_diagnostic(one.problem) | {"reason": one.reason} for one in report.accepted
        )
    between = b"{\n"
    for name in sorted((*value, *lists)):
        yield b'%b"%b": ' % (between, name.encode())
        if name in value:
            yield encode_json(value[name])
        else:
            yield from _format_lines(lists[name])
        between = b",\n"
    yield b"\n}\n"


def _format_lines(values: Iterable[bytes | dict[str, Any]]) -> Iterator[bytes]:
    between = b"[\n"
    for value in values:
        yield between
        yield value if isinstance(value, bytes) else encode_json(value)
        between = b",\n"
    yield b"[]" if between == b"[\n" else b"\n]"


def pick(one: object, *names: str) -> dict[str, Any]:
    """Return attributes of a value by name, in this order."""
    return {name: getattr(one, name) for name in names}


def _describe_document(page: Page, report: Report) -> dict[str, Any]:
    statements = report.statements.get(page.path, ())
    return pick(page, "path", "title") | {"statements": [describe_statement(one) for one in statements]}


def _describe_source(source: Source) -> dict[str, Any]:
    return pick(source.settings, "title", "description", "approximate", "illustrative") | {
        "name": source.name,
        "provenance": source.settings.provenance.model_dump(exclude_none=True),
        "files": [pick(file, "path", "size", "sha256") for file in source.files],
    }


def _describe_page(page: Page, report: Report, outputs: PageOutputs) -> bytes:
    result = report.benchmarks.get(page.path)
    own = {
        # For feeds of dated pages, and for archives, whose content has the file that a page was made of.
        **(pick(page.front_matter, "date", "description") if page.front_matter.date else {}),
        **(pick(page, "template") if page.template else {}),
        **pick(page, "path", "title", "generated"),
        "benchmark": {"name": result.name, "facts": dict(result.facts)} if result else None,
        "statements": [describe_statement(one) for one in report.statements.get(page.path, ())],
    }
    members = {name: encode_json(value) for name, value in own.items()} | outputs.described
    named = (b'"%b": %b' % (name.encode(), members[name]) for name in sorted(members))
    return b"{%b}" % b", ".join(named)


def _describe_blocks(page: Page, shown: Sequence[Shown]) -> dict[str, Any]:
    folder = get_page_folder(page.path)
    # A generated page has no file, and its blocks no line.
    blocks = [
        (block.kind, None if page.generated else block.location.line, one)
        for block, one in zip(page.blocks, shown, strict=True)
    ]
    return {
        "figures": [
            pick(figure, "id", "kind", "title", "summary")
            | {"caption": join_words(figure)}
            | {"line": line, "files": list_file_names(folder, figure), "numbers": figure.numbers_as_json}
            for _, line, shown in blocks
            for figure in list_figures(shown)
        ],
        "tables": [
            pick(table, "id", "title", "header")
            | {"rows": [[{"text": cell.text, "value": cell.sort} for cell in row] for row in table.rows]}
            for _, _, shown in blocks
            for table in list_tables(shown)
        ],
        "stacks": [
            _describe_stack(shown, kind, line) for kind, line, shown in blocks if isinstance(shown, Stack)
        ],
        "observations": [
            pick(shown, "id", "title", "more") | {"line": line, "items": to_builtins(shown.items)}
            for _, line, shown in blocks
            if isinstance(shown, Observations)
        ],
        "overviews": [
            {"id": shown.id, "benchmarks": [row.name for row in shown.results]}
            for _, _, shown in blocks
            if isinstance(shown, Overview)
        ],
    }


def join_words(shown: Figure | Panels | ResultTable | Stack | Observations) -> str:
    """Return an author's words and the caption, as plain text."""
    return " ".join(filter(None, [read_caption(shown.words), shown.caption]))


def _describe_stack(stack: Stack, kind: str, line: int | None) -> dict[str, Any]:
    """Describe a block of several parts, with only the ids of its figures and tables."""
    own = pick(stack, "id", "title", "subtitle", "numbers") | {"caption": join_words(stack)}
    parts = [part if isinstance(part, str) else pick(part, "id") for part in stack.parts]
    return own | {"kind": kind, "line": line, "parts": parts}


def describe_diagnostic(problem: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic for JSON."""
    where = pick(problem.location, "file", "line")
    own = {"id": problem.id} if problem.id else {}
    return where | {"severity": problem.severity.value} | pick(problem, "message", "next_step") | own


def describe_statement(one: Statement) -> dict[str, Any]:
    """Return a statement and its judgement for JSON."""
    binding, judgement = one.binding, one.judgement
    return {
        **pick(one, "number", "as_expected", "metric", "figure", "state"),
        **pick(binding, "kind", "words", "expression", "of", "name"),
        **pick(binding.location, "line", "column"),
        **pick(judgement, "found", "repaired", "evidence"),
        "expected_to_fail": binding.fails,
        "truth": judgement.truth.value,
        "facts": [pick(fact, *_FACT) for fact in judgement.facts],
    }


def describe_truth(statement: Statement) -> str:
    """Describe a verdict: ``holds``, ``fails``, ``cannot be decided``, or how it was expected."""
    truth = statement.judgement.truth
    if statement.binding.fails:
        words = {Truth.FAILS: "fails as expected", Truth.HOLDS: "holds unexpectedly"}
        return words.get(truth, truth.value)
    return truth.value


def count_statements(statements: Sequence[Statement]) -> dict[str, int]:
    """Count all statements, and those that hold, fail, cannot be decided, or were expected to fail."""
    words = [describe_truth(statement) for statement in statements]
    return {
        "statements": len(words),
        "hold": words.count("holds"),
        "fail": words.count("fails"),
        "undecided": words.count("cannot be decided"),
        "fail_as_expected": words.count("fails as expected"),
        "hold_unexpectedly": words.count("holds unexpectedly"),
    }


_SETTINGS = ("lang", "separator", "min_search_length")
_LARGEST_PART = 128_000  # characters of a part of the texts; a browser indexes it in a moment


def make_index_scripts(index: Mapping[str, Any], hidden: Container[str | None]) -> Iterator[tuple[str, str]]:
    """Yield classic scripts, with their names, that pass MkDocs' search index to the theme.

    ``titles.js`` has the settings that a search needs, address and title of each document (as text; MkDocs
    writes HTML), and the number of the first document of each part of the texts. An address on the page of
    the one before is ``#`` and the id; the first page has an empty address. ``texts-0.js`` and so on have the
    texts. Pages at ``hidden`` addresses are left out. No script contains a character that can end it or a
    line of it.
    """
    config = {key: index["config"][key] for key in _SETTINGS if key in index["config"]}
    listed = [doc for doc in index["docs"] if doc["location"].partition("#")[0] not in hidden]
    pages = (doc["location"].partition("#")[0] for doc in listed)
    order = {page: place for place, page in enumerate(dict.fromkeys(["", *pages]))}
    docs = sorted(listed, key=lambda doc: order[doc["location"].partition("#")[0]])
    entries: list[list[str]] = []
    starts: list[int] = []
    parts: list[list[str]] = []
    last, room = "", 0
    for place, doc in enumerate(docs):
        page, mark, name = doc["location"].partition("#")
        entries.append([f"#{name}" if mark and page == last else doc["location"], unescape(doc["title"])])
        last, room = page, room - len(doc["text"])
        if not parts or room < 0:
            starts.append(place)
            parts.append([])
            room = _LARGEST_PART - len(doc["text"])
        parts[-1].append(doc["text"])
    titles = {"config": config, "docs": entries, "starts": starts, "texts": []}
    yield "titles.js", f"window.reportgenSearch{_write_script(titles)}"
    for number, part in enumerate(parts):
        yield f"texts-{number}.js", f"window.reportgenSearch.texts[{number}]{_write_script(part)}"


def _write_script(value: object) -> str:
    text = msgspec.json.encode(value, order="sorted").decode()
    for char in "<\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"={text};\n"


def group_states(statements: Iterable[Statement], shown: Iterable[Shown]) -> dict[str, list[str]]:
    """Return the linked states of figures by figure id, each once; a figure itself has an id already."""
    linked = [(one.figure, one.state) for one in statements]
    for block in shown:  # observations, and tables whose rows link to figures
        linked += ((one.figure, one.state) for one in getattr(block, "items", ()))
        links = (row[0].link for row in getattr(block, "rows", ()))
        linked += ((link.partition("~")[0], link) for link in links)
    by_figure: dict[str, list[str]] = defaultdict(list)
    for figure, state in linked:
        if state not in {"", figure, *by_figure[figure]}:
            by_figure[figure].append(state)
    return by_figure


def describe_accepted(one: AcceptedWarning) -> dict[str, str]:
    """Return what templates say of an accepted warning."""
    return {"place": str(one.problem.location), "text": one.problem.text, "reason": one.reason}


def describe_bound(page: Page) -> str:
    """Return a sentence about the bound numbers of a page; empty if it has none."""
    bound, whole = count_numbers(page)
    return f"{bound} of {format_count(whole, 'number')} in the text are bound to data." if bound else ""


def describe_source(source: Source) -> dict[str, Any]:
    """Return what templates say of a source."""
    return {
        "name": source.name,
        "title": source.settings.title or source.name,
        "approximate": source.settings.caution,
        "labels": [f"{label} is short for {name}" for name, label in source.settings.labels.items()],
        "files": [{"path": f.path, "sha256": f.sha256, "size": f.size} for f in source.files],
    }


def merge_single(
    stack: Stack, figures: Sequence[Figure], folded: Sequence[ResultTable]
) -> tuple[Stack, list[str] | None]:
    """Return a stack and None, or with one figure only, which takes its notes, also its sentences."""
    drawn = [one for one in stack.parts if not isinstance(one, str) and one not in folded]
    if not len(drawn) == len(figures) == 1:
        return stack, None
    texts, (figure,) = [one for one in stack.parts if isinstance(one, str)], figures
    if not figure.caption:
        figure, stack = replace(figure, caption=stack.caption), replace(stack, caption="")
    return replace(stack, parts=(figure, *folded)), texts


def collect_search_text(shown: Shown) -> str:
    """Return the searchable text: title, summary and caption."""
    if isinstance(shown, Figure):
        return f"{shown.title}. {shown.summary} {join_words(shown)}"
    if isinstance(shown, Panels):
        return " ".join([f"{shown.title}. {join_words(shown)}", *map(collect_search_text, shown.figures)])
    if isinstance(shown, ResultTable):
        names = ", ".join(row[0].text for row in shown.rows)
        return f"{': '.join(filter(None, [shown.title, names]))}. {join_words(shown)}"
    if isinstance(shown, Overview):
        return " ".join(f"{row.title or row.name}: {row.claim}" for row in shown.results)
    if isinstance(shown, Stack):
        parts = (part if isinstance(part, str) else collect_search_text(part) for part in shown.parts)
        return " ".join(filter(None, [f"{shown.title}.", shown.subtitle, *parts, join_words(shown)]))
    if isinstance(shown, Observations):
        return " ".join([f"{shown.title}.", *(one.text for one in shown.items)])
    raise TypeError(type(shown))
