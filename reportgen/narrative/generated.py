"""Generates a page for each benchmark that nobody has written about: a figure, a table and few words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import yaml

from reportgen.core.errors import Diagnostic, Diagnostics, SourceLocation
from reportgen.narrative.pages import make_slug, read_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.settings.inputs import Page
    from reportgen.settings.report import Benchmark


# What Markdown and its extensions read as markup inside a line, and at its beginning.
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]#|~^$<>&]")
_LINE_MARKUP: Final = re.compile(r"^(?:[-+=:!?/]|\d+[.)])")


def generate_pages(
    benchmarks: Sequence[Benchmark], pages: Sequence[Page], project_file: str = "mkdocs.yml"
) -> tuple[Page, ...]:
    """A page for each declared benchmark that no page has as its own.

    Returns:
        Pages marked as generated; ``file`` is where the benchmark is declared, which is also the place of
        their blocks.

    Raises:
        ReportError: two benchmarks of one name, two pages at one address, or no address within the report.
    """
    declared = [(benchmark, project_file) for benchmark in benchmarks]
    declared += [(benchmark, page.file) for page in pages for benchmark in page.front_matter.benchmarks]
    problems = Diagnostics()
    problems.add(_find_same_names([(b, page.file) for page in pages if (b := page.front_matter.benchmark)]))
    problems.add(_find_same_names(declared))
    written = {page.front_matter.benchmark.name for page in pages if page.front_matter.benchmark}
    missing = [(benchmark, file) for benchmark, file in declared if benchmark.name not in written]
    problems.add(_find_clashes(missing, pages))
    problems.raise_errors()
    return tuple(_generate_page(benchmark, file) for benchmark, file in missing)


def generate_for_scores(page: Page, *, totals: bool = False) -> Page:
    """A generated page again, for a benchmark whose data hold outcomes or totals; another page as it is."""
    benchmark = page.front_matter.benchmark
    if not page.generated or benchmark is None:
        return page
    blocks = ("scores",) if totals else ("scores", "comparison", "problems")
    return _generate_page(benchmark.model_copy(update={"page": page.path}), page.file, blocks)


def generate_text(benchmark: Benchmark, score_blocks: Sequence[str] = ()) -> str:
    """The Markdown of a benchmark's generated page, with these blocks if its data hold scores."""
    about = benchmark.model_dump(exclude_none=True, exclude={"page"})
    front = {"title": benchmark.name, "description": benchmark.description, "benchmark": about}
    data = {"source": benchmark.source, "metric": benchmark.metric}
    drawn = [f"```curve\n{_write_yaml(data)}```", f"```table\n{_write_yaml({'id': 'values', **data})}```"]
    if score_blocks:
        drawn = [f"```{kind}\n```" for kind in score_blocks]
    shown = "the figures and tables come" if len(score_blocks) > 1 else "the figure and the table come"
    parts = (
        f"---\n{_write_yaml(front)}---",
        f"# {_escape(benchmark.name)}",
        _escape(benchmark.description or ""),
        f"Nobody has written about this benchmark yet: {shown} from its data alone.",
        *drawn,
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def get_page_path(benchmark: Benchmark) -> str:
    """Where a benchmark's generated page stands below the content folder."""
    return benchmark.page or f"{make_slug(benchmark.name) or 'benchmark'}.md"


def _generate_page(benchmark: Benchmark, file: str, score_blocks: Sequence[str] = ()) -> Page:
    page = read_page(get_page_path(benchmark), generate_text(benchmark, score_blocks), file)
    # The lines of a text that nobody has on disk would mislead.
    blocks = tuple(replace(block, location=SourceLocation(file, benchmark.line)) for block in page.blocks)
    front_matter = page.front_matter
    if front_matter.benchmark:
        own = front_matter.benchmark.place_at_line(benchmark.line)
        front_matter = front_matter.model_copy(update={"benchmark": own})
    return replace(page, title=benchmark.name, front_matter=front_matter, blocks=blocks, generated=True)


def _find_same_names(benchmarks: Sequence[tuple[Benchmark, str]]) -> Iterator[Diagnostic]:
    first: dict[str, str] = {}
    for benchmark, file in benchmarks:
        if benchmark.name in first:
            said = f'two benchmarks are called "{benchmark.name}"; the first is in {first[benchmark.name]}'
            yield Diagnostic(SourceLocation(file, benchmark.line), said, "Rename one, or remove it")
        first.setdefault(benchmark.name, file)


def _find_clashes(benchmarks: Sequence[tuple[Benchmark, str]], pages: Sequence[Page]) -> Iterator[Diagnostic]:
    taken = {_get_address(page.path): page.file for page in pages}
    for benchmark, file in benchmarks:
        path = get_page_path(benchmark)
        address, place = _get_address(path), SourceLocation(file, benchmark.line)
        parts = PurePosixPath(path).parts
        within = not path.startswith("/") and "\\" not in path and ":" not in path and ".." not in parts
        if not (within and path.endswith(".md") and str(PurePosixPath(path)) == path):
            said = f'"page: {path}" of benchmark "{benchmark.name}" is no Markdown file of this report'
            yield Diagnostic(place, said, "Write a path below the content folder that ends with .md")
            continue
        if address in taken:
            said = f'benchmark "{benchmark.name}" would get the page {path}, which {taken[address]} has'
            yield Diagnostic(place, said, "Give it another page:, or name it as benchmark: in that page")
        taken.setdefault(address, f'benchmark "{benchmark.name}"')


def _get_address(path: str) -> str:
    """What two pages may not share: an index page has the address of its folder."""
    page = PurePosixPath(path.lower())
    return str(page.parent if page.stem in {"index", "readme"} else page.with_suffix(""))


def _write_yaml(values: Mapping[str, object]) -> str:
    """Keys and values as YAML; texts are quoted, so that a name can be anything."""
    present = {key: value for key, value in values.items() if value is not None}
    lines: list[str] = []
    for key, value in present.items():
        if isinstance(value, dict):
            lines += [f"{key}:\n", *(f"  {line}\n" for line in _write_yaml(value).splitlines())]
        elif isinstance(value, bool):
            lines.append(f"{key}: {str(value).lower()}\n")
        else:
            quoted: str = yaml.safe_dump(
                str(value), default_style='"', allow_unicode=True, width=float("inf")
            )
            lines.append(f"{key}: {quoted.strip()}\n")
    return "".join(lines)


def _escape(words: str) -> str:
    """Words as Markdown that shows them as they are: on one line, without markup or HTML."""
    line = _MARKUP.sub(_encode_entities, " ".join(words.split()))
    return _LINE_MARKUP.sub(_encode_entities, line)


def _encode_entities(match: re.Match[str]) -> str:
    return "".join(f"&#{ord(character)};" for character in match.group())
