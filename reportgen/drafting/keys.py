"""Cache keys: everything that decides a result, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.cache import Cache
    from reportgen.model import Request, Source


def make_names_key(cache: Cache, requests: tuple[Request, ...], source: Source) -> str:
    """The key of the series names behind all requests to a source."""
    return cache.make_key("series", repr(requests), source.digest)


def make_block_key(cache: Cache, parts: Iterable[str], sources: Iterable[Source]) -> str:
    """The key of a drawn block."""
    return cache.make_key("block", *parts, *(source.digest for source in sources))
