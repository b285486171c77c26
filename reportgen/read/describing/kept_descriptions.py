"""Descriptions in the cache: a source whose files and settings stand is not counted again."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.description import (
    Counts,
    DescribedEvaluation,
    DescribedMetric,
    DescribedRun,
    DescribedTotal,
)

if TYPE_CHECKING:
    from reportgen.cache import Cache
    from reportgen.description import Description
    from reportgen.model import Source

# What only the rows and the loggers tell; the rest is at hand once a source is open.
_SUGGESTED: Final = ("settings", "repetitions", "clusters")
_TOLD: Final = ("series", "format", "title", "shape", "series_by", "seed_by", *_SUGGESTED)


def keep_description(cache: Cache, source: Source, told: Description) -> None:
    """Keep what was counted of a source."""
    parts = {name: getattr(told, name) for name in (*_TOLD, "counts")}
    cache.put(_key(cache, source), json.dumps(parts, default=_fields).encode())


def _fields(one: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the values here
    return {field.name: getattr(one, field.name) for field in fields(one)}


def kept_description(cache: Cache, source: Source, told: Description) -> Description | None:
    """A description with what ``keep_description`` kept; None where there is nothing."""
    data = cache.get(_key(cache, source))
    if data is None:
        return None
    parts = json.loads(data)
    counts = parts["counts"]
    return replace(
        told,
        **{**{name: parts[name] for name in _TOLD}, "series": tuple(parts["series"])},
        counts=Counts(
            tuple(DescribedRun(**one) for one in counts["runs"]),
            tuple(DescribedMetric(**one) for one in counts["metrics"]),
            tuple(DescribedEvaluation(**one) for one in counts["evaluations"]),
            tuple(DescribedTotal(**one) for one in counts["totals"]),
        ),
    )


def _key(cache: Cache, source: Source) -> str:
    return cache.key("described source", source.digest)
