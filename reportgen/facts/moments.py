"""Dates as authors write them, for curves over time."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_moment(text: str) -> float | None:
    """Milliseconds since 1970 UTC of ``2024-05-01`` or ``2024-05-01T12:00``; None if it is no date.

    A date without a time is its first moment; a time without an offset is UTC.
    """
    if not _ISO.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None
    return since.total_seconds() * 1000
