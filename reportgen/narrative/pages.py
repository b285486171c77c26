"""Parsing of Markdown files into pages: front matter, title, headings and blocks with ids and settings.

A page is generated for each benchmark without one: a figure, a table and little text.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import chain, count
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, TypeAlias

import yaml
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.statements import Binding  # noqa: TC001 - msgspec reads it
from reportgen.narrative import notebooks
from reportgen.narrative.headings import find_headings, make_slug
from reportgen.narrative.markup import find_bindings, find_fences, report_conflict_marks, strip_bindings
from reportgen.narrative.references import find_references
from reportgen.narrative.templates import expand_page, list_variables, split_front_matter
from reportgen.settings.blocks import get_kind
from reportgen.settings.inputs import Block, Page, Reference
from reportgen.settings.loading import load_block, load_front_matter
from reportgen.settings.report import FrontMatter
from reportgen.settings.text import normalise_text, read_markdown, read_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.narrative.markup import Fence
    from reportgen.settings.block_parts import BlockSettings
    from reportgen.settings.report import Benchmark, Project


_Loaded: TypeAlias = "tuple[Fence, BlockSettings]"

_BETWEEN: Final = "\n\n"
"""Between two cells of a notebook."""

# Landmarks of the theme, whose links a figure with the same id would take.
_RESERVED: Final = frozenset({"content", "navigation", "search-results", "toc", "toc-title"})


# ---- pages as earlier builds read them, apart from front matter, whose benchmarks know their lines


class _StoredBlock(Struct, frozen=True):
    kind: str
    id: str
    settings: str  # JSON of what the author wrote
    location: SourceLocation
    body: str

    def restore(self) -> Block:
        settings = get_kind(self.kind).settings.model_validate_json(self.settings)
        return Block(self.kind, self.id, settings, self.location, self.body)


class _StoredPage(Struct, frozen=True):
    title: str
    blocks: tuple[_StoredBlock, ...]
    bindings: tuple[Binding, ...]
    references: tuple[Reference, ...]


@lru_cache(maxsize=1)
def _describe_readers() -> tuple[str, ...]:
    return version("pymdown-extensions"), version("Markdown")


def _make_page_key(cache: Cache, path: str, file: str, text: str) -> str:
    return cache.make_key("page", *_describe_readers(), path, file, text)


def _restore_page(cache: Cache, path: str, file: str, text: str, front_matter: FrontMatter) -> Page | None:
    """Return a page as an earlier build read the same text, or None if none has stored it."""
    stored = cache.load(_make_page_key(cache, path, file, text), _StoredPage)
    if stored is None:
        return None
    try:
        blocks = tuple(block.restore() for block in stored.blocks)
    except (KeyError, ValueError):  # pydantic's errors are ValueErrors
        return None
    parts = (path, file, stored.title, front_matter, blocks, text)
    return Page(*parts, bindings=stored.bindings, references=stored.references)


def _store_page(cache: Cache, page: Page) -> None:
    """Store a page that has no problem, unless its settings change on their way through JSON."""
    blocks = []
    for one in page.blocks:
        settings = one.settings.model_dump_json(exclude_unset=True, warnings=False)
        blocks.append(_StoredBlock(one.kind, one.id, settings, one.location, one.body))
    try:
        is_same = repr([block.restore() for block in blocks]) == repr([*page.blocks])
    except ValueError:
        return
    if is_same:
        stored = _StoredPage(page.title, tuple(blocks), page.bindings, page.references)
        cache.store(_make_page_key(cache, page.path, page.file, page.text), stored)


# ---- pages of a report


def read_pages(project: Project, problems: Diagnostics, cache: Cache | None = None) -> tuple[Page, ...]:
    """Read a report's Markdown files and notebooks, adding the problems of every page to ``problems``.

    In an ``untrusted`` report raw HTML is a problem too. Blocks that have a problem and files that cannot be
    read are left out. A file with ``for:`` becomes several pages. A page that an earlier build with this
    ``cache`` read is not parsed again.
    """
    pages: list[Page] = []
    given = list_variables(project.settings.variables)
    for path in project.page_paths:
        file = str(PurePosixPath(project.content_dir) / path)
        place = project.root / project.content_dir / path
        with problems.collecting():
            if notebooks.is_notebook(path):
                text = read_text(place, file, Stage.NARRATIVE, notebooks.LARGEST)
                pages.append(_parse_notebook(path, text, file, problems))
                continue
            text = read_text(place, file, Stage.NARRATIVE)
            for one in expand_page(path, text, file, given, others=project.macros):
                if one.template and one.path in project.page_paths:
                    message = f"for makes a page {one.path}, and there is such a file"
                    raise ReportError(Diagnostic(SourceLocation(file, 1), message, "Rename one of them"))
                page = _parse_page(one.path, one.text, file, problems, cache)
                pages.append(replace(page, variables=one.variables, template=one.template))
            if project.settings.untrusted:
                from reportgen.narrative.raw_html import find_raw_html  # noqa: PLC0415 - few reports need it

                _, body, first_line = split_front_matter(text, file)
                problems.add(find_raw_html(body, file, first_line))
    return tuple(pages)


def read_page(path: str, text: str, file: str) -> Page:
    """Read one page from the text of the whole file, front matter included.

    ``path`` is relative to the content folder and ``file`` to the project. Fences inside comments or indented
    code are not blocks of the page.

    Raises:
        ReportError: every problem of the page.
    """
    problems = Diagnostics()
    page = _parse_page(path, text, file, problems)
    problems.raise_errors()
    return page


def _parse_page(path: str, text: str, file: str, problems: Diagnostics, cache: Cache | None = None) -> Page:
    text = normalise_text(text)
    if marks := report_conflict_marks(text, file):
        raise ReportError(*marks)
    front_text, body, first_line = split_front_matter(text, file)
    front_matter: FrontMatter | None = None
    with problems.collecting():
        front_matter = load_front_matter(front_text, file)
    if cache and front_matter and (stored := _restore_page(cache, path, file, text, front_matter)):
        return stored
    found = Diagnostics()
    bindings = find_bindings(body, file, first_line, len(text) - len(body), found)
    references: tuple[Reference, ...] = ()
    with found.collecting():
        if "{ref=" in body:
            scan = partial(find_references, path=path, file=file, first_line=first_line)
            references = read_markdown(body, SourceLocation(file, first_line), scan)
    outline = strip_bindings(body)
    blocks: tuple[Block, ...] = ()
    with found.collecting():
        loaded = _load_blocks(body, file, first_line, found)
        # Only ids of blocks can clash with those of headings.
        headings = find_headings(strip_bindings(body, with_values=False)) if loaded else ()
        lines = {heading.id: first_line + heading.line for heading in headings}
        blocks = _make_blocks(loaded, file, lines)
    if front_matter is None:
        # Without valid front matter, settings that blocks omit are unknown, so none is reported as missing.
        front_matter, blocks, bindings = FrontMatter(), (), ()
    title = front_matter.title or _make_title(path, [outline])
    page = Page(path, file, title, front_matter, blocks, text, bindings=bindings, references=references)
    if cache and not found.found:
        _store_page(cache, page)
    problems.add(found.found)
    return page


def _load_blocks(text: str, file: str, first_line: int, problems: Diagnostics) -> list[_Loaded]:
    """Return the blocks of a text; wrong fences and settings are added to ``problems``."""
    loaded: list[_Loaded] = []
    for fence in find_fences(text, file, first_line, problems):
        if fence.shown:
            with problems.collecting():
                place = SourceLocation(file, fence.line, fence.column)
                loaded.append((fence, load_block(fence.kind, fence.body, place)))
    return loaded


def _make_title(path: str, outlines: Sequence[str]) -> str:
    """Return the title that MkDocs makes of a page, but an index page is named after its folder."""
    page = PurePosixPath(path)
    name = (page.parent.name or "Home") if page.stem.lower() in {"index", "readme"} else page.stem
    words = re.sub("[-_]", " ", name)
    headings = chain.from_iterable(map(find_headings, outlines))
    first = next((heading.words for heading in headings if heading.level == 1), "")
    return first or (words.capitalize() if words.lower() == words else words)


def _parse_notebook(path: str, text: str, file: str, problems: Diagnostics) -> Page:
    """Parse a notebook: a page whose text is that of its Markdown cells, without front matter."""
    cells = notebooks.read_cells(text, file)
    outlines = [strip_bindings(cell.text) for cell in cells]
    loaded: list[_Loaded] = []
    places: list[SourceLocation] = []
    bindings: list[Binding] = []
    headings: dict[str, int] = {}
    offset = 0
    for cell in cells:
        found = Diagnostics()
        bindings += (
            replace(
                one,
                location=cell.locate(one.location),
                expression_location=cell.locate(one.expression_location),
            )
            for one in find_bindings(cell.text, cell.file, cell.first_line, offset, found)
        )
        with found.collecting():
            own = _load_blocks(cell.text, cell.file, cell.first_line, found)
            loaded += own
            places += [SourceLocation(cell.file, fence.line) for fence, _ in own]
        problems.add(replace(one, location=cell.locate(one.location)) for one in found.found)
        for heading in find_headings(strip_bindings(cell.text, with_values=False)):
            headings.setdefault(heading.id, cell.first_line + heading.line)
        offset += len(cell.text) + len(_BETWEEN)
    blocks: tuple[Block, ...] = ()
    with problems.collecting():
        made = zip(_make_blocks(loaded, file, headings), places, strict=True)
        blocks = tuple(replace(block, location=place) for block, place in made)
    joined, title = _BETWEEN.join(cell.text for cell in cells), _make_title(path, outlines)
    return Page(path, file, title, FrontMatter(), blocks, joined, bindings=tuple(bindings))


def _make_blocks(loaded: Sequence[_Loaded], file: str, headings: Mapping[str, int]) -> tuple[Block, ...]:
    """Return the blocks of a page. Their ids are ``id:`` if given, otherwise the slug of a title or similar.

    A slug that is taken gets ``-2``, ``-3``, or ``-no-2`` where panels have these. Case is ignored, since the
    ids become file names.

    Raises:
        ReportError: a given id is used twice on the page, or is that of a heading (each with its line in the
            file), of a part of another block or of the theme.
    """
    problems = Diagnostics()
    given: dict[str, int] = {}
    parts = [one for _, settings in loaded if settings.id for one in _match_parts(settings.id, settings)]
    for fence, name in ((fence, settings.id) for fence, settings in loaded if settings.id):
        message, step = "", f'Choose another, such as "{name}-figure"'
        if name.lower() in given:
            message = f'"id: {name}" is used twice; the first is in line {given[name.lower()]}'
            step = "Change one of them"
        elif name in headings:
            message = f'"id: {name}" is also the id of the heading in line {headings[name]}'
        elif any(part.fullmatch(name) for part in parts):
            message = f'"id: {name}" may also be the id of a part of another figure'
        elif name in _RESERVED:
            message = f'"id: {name}" belongs to the page itself'
        if message:
            problems.add([Diagnostic(SourceLocation(file, fence.line), message, step)])
        given.setdefault(name.lower(), fence.line)
    problems.raise_errors()
    taken = {*given, *(name.lower() for name in headings), *_RESERVED}
    blocks = []
    for fence, settings in loaded:
        slugs = filter(None, map(make_slug, settings.list_names()))
        slug = next(slugs, fence.kind)
        # An id must begin with a letter.
        base = slug if slug[0].isalpha() else f"{fence.kind}-{slug}"
        # Panels are numbered, too, and all numbers may be theirs.
        numbered = [f"{base}-{number}" for number in range(2, len(loaded) + 2)]
        names = chain([base], numbered, (f"{base}-no-{number}" for number in count(2)))
        name = settings.id or next(one for one in names if _is_free(one, settings, taken, parts))
        blocks.append(Block(fence.kind, name, settings, SourceLocation(file, fence.line), fence.body))
        taken.add(name)
        parts += _match_parts(name, settings)
    return tuple(blocks)


def _match_parts(block_id: str, settings: BlockSettings) -> list[re.Pattern[str]]:
    """Return the pattern of the ids of a block's parts, if it has any."""
    names = r"\d+" if getattr(settings, "facet", None) else settings.part_names
    return [re.compile(f"{re.escape(block_id)}-(?:{names})", re.IGNORECASE)] if names else []


def _is_free(
    block_id: str, settings: BlockSettings, taken: Collection[str], parts: Iterable[re.Pattern[str]]
) -> bool:
    """Return whether an id and those of the block's parts are neither taken nor those of other parts."""
    own = _match_parts(block_id, settings)
    return not (
        block_id in taken
        or any(part.fullmatch(block_id) for part in parts)
        or any(part.fullmatch(one) for part in own for one in taken)
    )


# ---- generated pages

# Markup of Markdown and its extensions inside a line, and at its beginning.
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]#|~^$<>&]")
_LINE_MARKUP: Final = re.compile(r"^(?:[-+=:!?/]|\d+[.)])")


def generate_pages(benchmarks: Sequence[Benchmark], pages: Sequence[Page]) -> tuple[Page, ...]:
    """Generate a page for each declared benchmark without its own page.

    Its ``file`` is where the benchmark is declared, which is also the location of its blocks.

    Raises:
        ReportError: two benchmarks of one name, two pages at one address, or an address outside the report.
    """
    declared = [(benchmark, "mkdocs.yml") for benchmark in benchmarks]
    declared += [(benchmark, page.file) for page in pages for benchmark in page.front_matter.benchmarks]
    written = [(b, page.file) for page in pages if (b := page.front_matter.benchmark)]
    names = {benchmark.name for benchmark, _ in written}
    missing = [(benchmark, file) for benchmark, file in declared if benchmark.name not in names]
    problems = Diagnostics()
    problems.add([*_find_same_names(written), *_find_same_names(declared)])
    taken = {_get_address(page.path): page.file for page in pages}
    for benchmark, file in missing:
        path = _get_page_path(benchmark)
        address, place = _get_address(path), SourceLocation(file, benchmark.line)
        parts = PurePosixPath(path).parts
        within = not path.startswith("/") and "\\" not in path and ":" not in path and ".." not in parts
        if not (within and path.endswith(".md") and str(PurePosixPath(path)) == path):
            message = f'"page: {path}" of benchmark "{benchmark.name}" is no Markdown file of this report'
            step = "Write a path below the content folder that ends with .md"
            problems.add([Diagnostic(place, message, step)])
            continue
        if address in taken:
            message = f'benchmark "{benchmark.name}" would get the page {path}, which {taken[address]} has'
            step = "Give it another page:, or name it as benchmark: in that page"
            problems.add([Diagnostic(place, message, step)])
        taken.setdefault(address, f'benchmark "{benchmark.name}"')
    problems.raise_errors()
    return tuple(_generate_page(benchmark, file) for benchmark, file in missing)


def generate_for_scores(page: Page, *, totals: bool = False) -> Page:
    """Regenerate a generated page for a benchmark with outcomes or totals; return others unchanged."""
    benchmark = page.front_matter.benchmark
    if not page.generated or benchmark is None:
        return page
    blocks = ("scores",) if totals else ("scores", "comparison", "problems")
    return _generate_page(benchmark.model_copy(update={"page": page.path}), page.file, blocks)


def generate_text(benchmark: Benchmark, score_blocks: Sequence[str] = ()) -> str:
    """Return the Markdown of a benchmark's generated page, with these blocks if its data hold scores."""
    about = benchmark.model_dump(exclude_none=True, exclude={"page"})
    front = {"title": benchmark.name, "description": benchmark.description, "benchmark": about}
    data = {"source": benchmark.source, "metric": benchmark.metric}
    drawn = [f"```curve\n{_write_yaml(data)}```", f"```table\n{_write_yaml({'id': 'values', **data})}```"]
    if score_blocks:
        drawn = [f"```{kind}\n```" for kind in score_blocks]
    shown = "the figures and tables come" if len(score_blocks) > 1 else "the figure and the table come"
    parts = (
        f"---\n{_write_yaml(front)}---",
        f"# {escape_markdown(benchmark.name)}",
        f"Nobody has written about this benchmark yet: {shown} from its data alone.",
        *drawn,
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _get_page_path(benchmark: Benchmark) -> str:
    return benchmark.page or f"{make_slug(benchmark.name) or 'benchmark'}.md"


def _generate_page(benchmark: Benchmark, file: str, score_blocks: Sequence[str] = ()) -> Page:
    page = read_page(_get_page_path(benchmark), generate_text(benchmark, score_blocks), file)
    # Lines of a text that is not on disk would mislead.
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
            message = f'two benchmarks are called "{benchmark.name}"; the first is in {first[benchmark.name]}'
            yield Diagnostic(SourceLocation(file, benchmark.line), message, "Rename one, or remove it")
        first.setdefault(benchmark.name, file)


def _get_address(path: str) -> str:
    """Return the address that two pages may not share; an index page has that of its folder."""
    page = PurePosixPath(path.lower())
    return str(page.parent if page.stem in {"index", "readme"} else page.with_suffix(""))


def _write_yaml(values: Mapping[str, object], indent: str = "") -> str:
    """Return keys and values as YAML, with quoted texts, so that a name can be anything."""
    lines: list[str] = []
    for key, value in values.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{key}:\n{_write_yaml(value, f'{indent}  ')}")
        elif value is not None:
            text = str(value).lower()
            if not isinstance(value, bool):
                text = yaml.safe_dump(str(value), default_style='"', allow_unicode=True, width=float("inf"))
            lines.append(f"{indent}{key}: {text.strip()}\n")
    return "".join(lines)


def escape_markdown(words: str) -> str:
    """Return words as Markdown that shows them literally: on one line, without markup or HTML."""

    def encode(match: re.Match[str]) -> str:
        return "".join(f"&#{ord(character)};" for character in match.group())

    return _LINE_MARKUP.sub(encode, _MARKUP.sub(encode, " ".join(words.split())))
