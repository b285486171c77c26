"""Cache keys: everything that decides a result, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.cache import Cache
    from reportgen.model import CurveRequest, Source


def source_digest(source: Source) -> str:
    """What decides the numbers of a source: its files' content, in order, and its settings."""
    files = " ".join(f"{file.path} {file.sha256}" for file in source.files)
    return f"{source.name} {files} {source.settings.model_dump_json()}"


def request_key(cache: Cache, request: CurveRequest, source: Source) -> str:
    """The key of the series names behind a request."""
    return cache.key("series", repr(request), source_digest(source))


def block_key(cache: Cache, parts: Iterable[str], sources: Iterable[Source]) -> str:
    """The key of a drawn block."""
    return cache.key("block", *parts, *(source_digest(source) for source in sources))
