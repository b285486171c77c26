"""What changed in the results from one version of a report to the next, in words for a feed.

The versions are compared by the numbers and statements that their ``report.json`` hold, which takes
milliseconds; no data are read and no difference is tested.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.archive.publishing.feed_formats import isolate, write_html, write_table
from reportgen.archive.unpacking import open_archive
from reportgen.core import intact
from reportgen.core.cache import Cache
from reportgen.core.errors import make_error
from reportgen.core.words import format_count
from reportgen.review import words
from reportgen.review.model import Origin
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.review.model import NumberChange, Review
    from reportgen.review.snapshot import Snapshot

_LONGEST_NAME: Final = 60
_MOST_STATEMENTS: Final = 20
_REDEFINED: Final = frozenset({"not comparable", "measured differently"})
_HEADER: Final = ("series", "metric", "on", "before", "after", "difference", "")


class ResultChanges(Struct, frozen=True):
    """What changed: on one line, in a sentence or two, and as HTML."""

    title: str
    summary: str
    content: str


def describe_result_changes(before: Path, after: Path, cache: Cache) -> ResultChanges:
    """Describe what changed in the results from one archive to another, or find it in the cache.

    Raises a ReportError if one of them is no archive, or of a format that is not known.
    """
    identities = []
    for path in (before, after):
        with open_archive(path) as archive:
            identities.append(hashlib.sha256(archive.read(intact.MANIFEST)).hexdigest())
    key = Cache.make_key("feed", *identities)
    try:
        return cache.memo(key, ResultChanges, lambda: _describe(*map(_read_report, (before, after))))
    except (KeyError, TypeError, AttributeError) as error:  # where another version left something out
        step = "Was one of them written by another reportgen?"
        names = f"{before.name} and {after.name}"
        raise make_error(names, f"they cannot be compared ({error})", step) from error


def _read_report(path: Path) -> Snapshot:
    # It imports the statistics, which an answer from the cache does not need.
    from reportgen.review.snapshot import read_snapshot  # noqa: PLC0415

    with open_archive(path) as archive:
        content = archive.read("report.json")
    try:
        return read_snapshot(Origin(kind="report.json", name=""), content.decode())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        step = "Was it written by a newer reportgen?"
        raise make_error(f"{path.name}/report.json", f"it cannot be compared ({error})", step) from error


def _describe(base: Snapshot, head: Snapshot) -> ResultChanges:
    from reportgen.review.compare import compare_reports  # noqa: PLC0415 - as above

    review, pages = compare_reports(base, head), (*base.report["pages"], *head.report["pages"])
    # A benchmark is better known than the page that is about it, and its numbers come first.
    benchmarks = {page["path"]: page["benchmark"]["name"] for page in pages if page["benchmark"]}
    numbers = sorted(review.numbers, key=lambda one: not one.benchmark and one.page not in benchmarks)
    review = review.model_copy(update={"numbers": tuple(numbers)})
    places, counts = {page["path"]: page["title"] for page in pages} | benchmarks, review.counts
    statements = counts.flipped + counts.stale_values + counts.mended
    found = ", ".join(words.list_findings(review)) if statements else ""
    title = "; ".join(filter(None, [_describe_numbers(review, places), found]))
    changed = len(review.numbers) - counts.new - counts.gone
    counted = ((changed, "changed"), (counts.new, "new"), (counts.gone, "gone"), (counts.same, "unchanged"))
    parts = ", ".join(f"{count:,} {word}" for count, word in counted if count)
    said = [found, f"numbers: {parts}" if parts else ""]
    said += ["differences are not tested, since only what both versions show is compared"] if changed else []
    summary = " ".join(f"{one[0].upper()}{one[1:]}." for one in said if one)
    rows = []
    for one in review.numbers:
        name = [one.series, one.metric, _name_place(one, places)]
        sides = [words.format_side(one, side) for side in (one.before, one.after)]
        note = "" if one.verdict == "too few" else words.format_verdict(one)
        rows.append([*name, *sides, words.format_delta(one), note])
    table = write_table("Numbers that changed", _HEADER, rows) if rows else ""
    content = f"<p>{write_html(summary)}</p>{_list_statements(review, places)}{table}"
    return ResultChanges(title or "no number and no statement changed", summary, content)


def _describe_numbers(review: Review, places: Mapping[str, str]) -> str:
    """The first number that moved, and how many others; otherwise how many are new or gone."""
    moved: dict[tuple[object, ...], NumberChange] = {}
    for one in review.numbers:
        sides = (one.before, one.after)
        is_same_quantity = None not in sides and one.verdict not in _REDEFINED
        if is_same_quantity and len({words.format_side(one, side) for side in sides}) > 1:
            # Several pages may show it; the first is where it belongs.
            moved.setdefault((one.series, one.metric, *sides), one)
    if not moved:
        counts = ((review.counts.new, "new"), (review.counts.gone, "gone"))
        said = ((count, f"number is {word}", f"numbers are {word}") for count, word in counts if count)
        return ", ".join(format_count(*one) for one in said)
    first, *others = moved.values()
    names = (first.series, _name_place(first, places))
    series, place = (isolate(shorten(one, _LONGEST_NAME)) for one in names)
    more = f", {format_count(len(others), 'other number')} changed" if others else ""
    return f"{series} {words.format_change(first)} on {place}{more}"


def _name_place(number: NumberChange, places: Mapping[str, str]) -> str:
    return number.benchmark or places.get(number.page, number.page)


def _list_statements(review: Review, places: Mapping[str, str]) -> str:
    """Statements that became false, and then those that were put right, as a list."""
    found = [one for one in review.statements if one.is_broken]
    found += [one for one in review.statements if one.change == "mended"]
    items = []
    for one in found[:_MOST_STATEMENTS]:
        side, place = one.latest, places.get(one.page, one.page)
        said, quoted, where = map(write_html, (words.shorten_found(side) or side.found, side.words, place))
        became = words.describe_statement(one)
        items.append(f"<li>“<bdi>{quoted}</bdi>” on <bdi>{where}</bdi>: {became}. {said}</li>")
    rest = len(found) - _MOST_STATEMENTS
    items += [f"<li>and {rest:,} more</li>"] if rest > 0 else []
    return f"<ul>{''.join(items)}</ul>" if items else ""
