"""Ids of blocks: each once on its page, the author's own first, and none that the page needs itself."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Problems
from reportgen.narrative.headings import make_slug
from reportgen.settings.blocks import AltairSettings, CurveSettings, TableSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.errors import SourceLocation
    from reportgen.settings.blocks import BlockSettings

# The theme's landmarks; a figure of such an id would take their links.
RESERVED: Final = frozenset({"content", "navigation", "search-results", "toc", "toc-title"})


def make_block_ids(
    blocks: Sequence[tuple[str, BlockSettings, SourceLocation]], headings: Mapping[str, int]
) -> tuple[str, ...]:
    """The id of each block of a page.

    Args:
        blocks: kind, settings and place of each block in the page's order.
        headings: the ids of the page's headings, each with its line in the file.

    Returns:
        ``id:`` where it is given; otherwise the slug of the title, metric, function or kind, with ``-2``,
        ``-3`` where that is taken. Letters' case is no difference: the ids become file names.

    Raises:
        ReportError: a given id stands twice on the page, or is that of a heading or of the theme.
    """
    problems = Problems()
    given: dict[str, SourceLocation] = {}
    for _, settings, place in blocks:
        if settings.id:
            problems.add(_find_clashes(settings.id, place, given, headings))
            given.setdefault(settings.id.lower(), place)
    problems.raise_errors()
    taken = {*given, *(name.lower() for name in headings), *RESERVED}
    return tuple(settings.id or _free(_suggest_id(kind, settings), taken) for kind, settings, _ in blocks)


def _find_clashes(
    name: str, place: SourceLocation, given: Mapping[str, SourceLocation], headings: Mapping[str, int]
) -> Iterable[Problem]:
    another = f'Choose another, such as "{name}-figure"'
    if name.lower() in given:
        said = f'"id: {name}" is used twice; the first is in line {given[name.lower()].line}'
        yield Problem(place, said, "Change one of them")
    elif name in headings:
        said = f'"id: {name}" is also the id of the heading in line {headings[name]}'
        yield Problem(place, said, another)
    elif name in RESERVED:
        yield Problem(place, f'"id: {name}" belongs to the page itself', another)


def _suggest_id(kind: str, settings: BlockSettings) -> str:
    """What a block is called where it has no id."""
    candidates = [settings.title or ""]
    if isinstance(settings, CurveSettings | TableSettings):
        candidates.append(settings.metric or "")
    if isinstance(settings, AltairSettings):
        candidates.append(settings.function.rpartition(":")[2])
    base = next((name for words in candidates if (name := make_slug(words))), kind)
    # An id begins with a letter.
    return base if base[0].isalpha() else f"{kind}-{base}"


def _free(base: str, taken: set[str]) -> str:
    name = next(name for n in count(1) if (name := base if n == 1 else f"{base}-{n}") not in taken)
    taken.add(name)
    return name
