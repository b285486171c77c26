"""Pages as earlier builds read them: the blocks and bindings of an unchanged text are not searched for again.

Front matter is read anew: its benchmarks know their lines, and few pages have much of it.
"""

from __future__ import annotations

from functools import cache as remember
from importlib.metadata import version
from typing import TYPE_CHECKING

from msgspec import Struct

from reportgen.core.errors import SourceLocation  # noqa: TC001 - msgspec reads it
from reportgen.core.statements import Binding  # noqa: TC001 - as above
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.inputs import Block, Page, Reference

if TYPE_CHECKING:
    from reportgen.core.cache import Cache
    from reportgen.settings.report import FrontMatter


class _StoredBlock(Struct, frozen=True):
    kind: str
    id: str
    settings: str  # JSON of what the author wrote
    location: SourceLocation
    body: str

    def restore(self) -> Block:
        settings = BLOCKS[self.kind].model_validate_json(self.settings)
        return Block(self.kind, self.id, settings, self.location, self.body)


class _StoredPage(Struct, frozen=True):
    title: str
    blocks: tuple[_StoredBlock, ...]
    bindings: tuple[Binding, ...]
    references: tuple[Reference, ...]


@remember
def _describe_readers() -> tuple[str, ...]:
    return version("pymdown-extensions"), version("Markdown")


def _make_key(cache: Cache, path: str, file: str, text: str) -> str:
    return cache.make_key("page", *_describe_readers(), path, file, text)


def restore_page(cache: Cache, path: str, file: str, text: str, front_matter: FrontMatter) -> Page | None:
    """Return a page as an earlier build read the same text, or None if none has stored it."""
    stored = cache.load(_make_key(cache, path, file, text), _StoredPage)
    if stored is None:
        return None
    try:
        blocks = tuple(block.restore() for block in stored.blocks)
    except (KeyError, ValueError):  # pydantic's errors are ValueErrors
        return None
    parts = (path, file, stored.title, front_matter, blocks, text)
    return Page(*parts, bindings=stored.bindings, references=stored.references)


def store_page(cache: Cache, page: Page) -> None:
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
        cache.store(_make_key(cache, page.path, page.file, page.text), stored)
