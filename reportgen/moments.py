"""Moments on an axis of times: milliseconds since 1970 UTC, and dates as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def to_datetime(milliseconds: float) -> datetime:
    """The moment so many milliseconds after the beginning of 1970, in UTC.

    Raises:
        OverflowError: it is outside the years 1 to 9999, for which there are dates.
    """
    return _FIRST + timedelta(milliseconds=milliseconds)


def format_moment(milliseconds: float) -> str | None:
    """A moment as ``2024-05-03``, or ``2024-05-03T12:30`` where it is not midnight, in UTC.

    None outside the years 1 to 9999.
    """
    try:
        moment = to_datetime(milliseconds)
    except OverflowError:
        return None
    part = "milliseconds" if moment.microsecond % 1000 == 0 else "microseconds"
    day, _, clock = moment.replace(tzinfo=None).isoformat(timespec=part).partition("T")
    shortest = clock.removesuffix(".000").removesuffix(":00")
    return day if shortest == "00:00" else f"{day}T{shortest}"


def parse_moment(text: str) -> float | None:
    """Milliseconds since 1970 of ``2024-05-01`` or ``2024-05-01T12:00``; None if it is no date.

    A date without a time is its first moment; a time without an offset is UTC.
    """
    if not _ISO.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _FIRST
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None
    return since / timedelta(milliseconds=1)
