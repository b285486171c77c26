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
_STORED_FIELDS: Final = ("series", "format", "title", "shape", "series_by", "seed_by", *_SUGGESTED)


def store_description(cache: Cache, source: Source, description: Description) -> None:
    """Keep what was counted of a source."""
    parts = {name: getattr(description, name) for name in (*_STORED_FIELDS, "counts")}
    cache.put(_make_key(cache, source), json.dumps(parts, default=_fields).encode())


def _fields(one: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the values here
    return {field.name: getattr(one, field.name) for field in fields(one)}


def load_description(cache: Cache, source: Source, description: Description) -> Description | None:
    """A description with what ``store_description`` kept; None where there is nothing."""
    data = cache.get(_make_key(cache, source))
    if data is None:
        return None
    parts = json.loads(data)
    counts = parts["counts"]
    return replace(
        description,
        **{**{name: parts[name] for name in _STORED_FIELDS}, "series": tuple(parts["series"])},
        counts=Counts(
            tuple(DescribedRun(**one) for one in counts["runs"]),
            tuple(DescribedMetric(**one) for one in counts["metrics"]),
            tuple(DescribedEvaluation(**one) for one in counts["evaluations"]),
            tuple(DescribedTotal(**one) for one in counts["totals"]),
        ),
    )


def _make_key(cache: Cache, source: Source) -> str:
    return cache.make_key("described source", source.digest)
