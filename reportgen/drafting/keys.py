"""Cache keys: everything that decides a result, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.cache import Cache
    from reportgen.model import CurveRequest, Source


def request_key(cache: Cache, request: CurveRequest, source: Source) -> str:
    """The key of the series names behind a request."""
    return cache.key("series", repr(request), source.digest)


def block_key(cache: Cache, parts: Iterable[str], sources: Iterable[Source]) -> str:
    """The key of a drawn block."""
    return cache.key("block", *parts, *(source.digest for source in sources))
