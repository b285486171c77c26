"""Whether the parts of an archive agree: numbers, tables, the HTML file, provenance and metadata."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import math
import re
from collections import Counter, defaultdict
from contextlib import suppress
from html.parser import HTMLParser
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from reportgen.archive import crate, provenance
from reportgen.archive.one_file import ONE_FILE
from reportgen.core import intact
from reportgen.core.errors import make_error
from reportgen.core.words import escape_formula
from reportgen.draft.origin import hash_table, name_figure, read_metadata

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.archive.unpacking import OpenedArchive

_JSON: Final = "report.json"
_MARKS: Final = re.compile(r"[\\*_`\s]+")
# Readings of a curve in report.json, each at a step.
_READINGS: Final = ("first", "last", "best", "highest", "lowest")
_PRECISION: Final = 1e-8
"""Relative; tables are written with ten digits."""


def find_inconsistencies(
    archive: OpenedArchive, report: Mapping[str, Any], sources: Mapping[str, Any]
) -> list[str]:
    """Find what of an archive contradicts the rest, a line each; ``sources`` is its ``provenance.json``."""
    figures = sources["figures"]
    hashes = _hash_files(archive, {one["path"] for figure in figures for one in figure["inputs"]})
    page = _ReadPage()
    page.feed(archive.read(ONE_FILE).decode("utf-8", "replace"))
    page.close()
    return [
        *_compare_hashes(sources, hashes),
        *_compare_origins(archive, figures),
        *_compare_crate(archive, hashes),
        *_compare_tables(report, figures, page),
        *_compare_statements(report, page),
        *_compare_numbers(archive, report),
    ]


def _hash_files(archive: OpenedArchive, inputs: Collection[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of an archive; of inputs, which may be large, that of the manifest."""
    listed, problems = intact.read_manifest(archive.read(intact.MANIFEST))
    if problems:
        raise make_error(f"{archive.name}/{intact.MANIFEST}", problems[0])
    written = archive.sizes.keys() & (listed.keys() - inputs)
    return listed | {path: hashlib.sha256(archive.read(path)).hexdigest() for path in written}


def _compare_hashes(sources: Mapping[str, Any], hashes: Mapping[str, str]) -> Iterator[str]:
    """Compare files with the hashes that ``provenance.json`` has of them."""
    for figure in sources["figures"]:
        for one in figure["outputs"]:
            if hashes.get(one["path"]) != one["sha256"]:
                yield f"{one['path']}: not the file that was written for {figure['id']}"
    inputs = {one["path"]: one["sha256"] for figure in sources["figures"] for one in figure["inputs"]}
    for path, sha256 in sorted((inputs | sources["report"]).items()):
        if hashes.get(path, sha256) != sha256:
            yield f"{path}: not the file that {provenance.NAME} names"


def _compare_origins(archive: OpenedArchive, figures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Compare what SVG files say that they are drawn from with what ``provenance.json`` says."""
    for figure in figures:
        name = name_figure(*figure["id"].split("#", 1))
        paths = (one["path"] for one in figure["outputs"] if one["path"].endswith(".svg"))
        for path in paths if "origin" in figure else ():  # archives of earlier versions have none
            found = read_metadata(archive.read(path).decode("utf-8", "replace"))
            if found is None or (found[0], asdict(found[1])) != (name, figure["origin"]):
                yield f"{path}: it does not name the origin of {figure['id']} in {provenance.NAME}"


def _compare_crate(archive: OpenedArchive, hashes: Mapping[str, str]) -> Iterator[str]:
    try:
        graph = json.loads(archive.read(crate.NAME))["@graph"]
        described = {one["name"]: one["sha256"] for one in graph if one["@type"] == "File"}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise make_error(f"{archive.name}/{crate.NAME}", f"it cannot be read ({error})") from error
    for path, sha256 in sorted(described.items()):
        if hashes.get(path) != sha256:
            yield f"{path}: not the file that {crate.NAME} names"
    for path in sorted(hashes.keys() - described.keys() - {crate.NAME}):
        yield f"{path}: {crate.NAME} does not name it"


def _compare_tables(
    report: Mapping[str, Any], figures: Sequence[Mapping[str, Any]], page: _ReadPage
) -> Iterator[str]:
    shown = Counter(hash_table(rows[0], rows[1:]) for rows in page.tables if rows)
    known = {figure["id"]: figure["table"] for figure in figures}
    for sha256, count in Counter(known.values()).items():
        if shown[sha256] < count:  # several figures may have the same table
            named = " or ".join(figure for figure, own in known.items() if own == sha256)
            yield f"{ONE_FILE}: the table of {named} is not the one that was drawn"
    for one in report["pages"]:
        for table in one["tables"]:
            name, rows = (
                f"{one['path']}#{table['id']}",
                [[cell["text"] for cell in row] for row in table["rows"]],
            )
            if known.get(name) != hash_table(table["header"], rows):
                yield f"{_JSON}: the table {name} is not the one that was drawn"


def _compare_statements(report: Mapping[str, Any], page: _ReadPage) -> Iterator[str]:
    shown = Counter(map(_reduce_words, page.statements))
    places = defaultdict(list)
    for one in report["pages"]:
        for statement in one["statements"]:
            places[statement["words"]].append(f"{one['path']}:{statement['line']}")
    for words, those in places.items():
        if shown[_reduce_words(words)] < len(those):
            yield f'{ONE_FILE}: "{words}", of {" or ".join(those)}, is not there'


def _reduce_words(words: str) -> str:
    """Return words without spaces and the marks of Markdown, which ``report.json`` has and a page has not."""
    return _MARKS.sub("", html.unescape(words))


def _compare_numbers(archive: OpenedArchive, report: Mapping[str, Any]) -> Iterator[str]:
    """Compare the numbers of ``report.json`` with the points of each figure's CSV file."""
    for page in report["pages"]:
        for figure in page["figures"]:
            path = next((name for name in figure["files"] if name.endswith(".csv")), "")
            numbers = figure["numbers"]
            pair_own = _PAIRS.get(figure["kind"])
            listed = numbers["points"] if "points" in numbers else numbers.get("series")
            if not path or not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
                continue
            rows = list(csv.DictReader(io.StringIO(archive.read(path).decode("utf-8", "replace"))))
            for one in listed:
                pairs = pair_own(one, rows) if pair_own else _pair_numbers(one, numbers, rows)
                for what, expected, found in pairs:
                    if not any(_is_equal(expected, value) for value in found):
                        yield f"{path}: {what} of {one['name']} is not the {expected:g} of {_JSON}"


def _pair_points(
    one: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, float, list[str]]]:
    """Pair each number of a point of a sweep with the cells that have to hold it, of means or of runs."""
    if rows and "step" in rows[0]:
        at_x = [row for row in rows if _is_equal(one["x"], row["step"])]
        for name, column in (("mean", "value"), ("low", "low"), ("high", "high")):
            if one[name] is not None:
                yield f"the {name}", one[name], [row[column] for row in at_x]
    else:
        for run in one["runs"]:
            yield "a run", run, [[*row.values()][-1] for row in rows]


def _pair_means(
    one: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, float, list[str]]]:
    """Pair the two means of a series in a scatter plot, and their intervals, with its row without a run."""
    own = [row for row in rows if row.get("series") == escape_formula(one["name"]) and not row.get("run")]
    for axis in ("x", "y"):
        for column, number in zip((axis, f"{axis}_low", f"{axis}_high"), one[axis], strict=True):
            if number is not None:
                yield column, number, [row.get(column, "") for row in own]


def _pair_mean(
    one: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, float, list[str]]]:
    """Pair the mean of a distribution with that of its values."""
    own = [row.get("value", "") for row in rows if row.get("series") == escape_formula(one["name"])]
    with suppress(ValueError):  # also where there are none
        own = [repr(fmean(map(float, own)))]
    yield "the mean", one["mean"], own


_PAIRS: Final = {"sweep": _pair_points, "scatter": _pair_means, "distribution": _pair_mean}


def _pair_numbers(
    one: Mapping[str, Any], numbers: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, float, list[str]]]:
    """Pair each number of a series with the cells that have to hold it."""
    # A line of a plot of several metrics, or with a colour for a setting, has a name of its own.
    lines = {line["name"]: line for line in numbers.get("lines") or ()}
    line = lines.get(one["name"], {})
    own = [
        row
        for row in rows
        if row.get("series") == escape_formula(line.get("series", one["name"]))
        and ("metric" not in line or row.get("metric") == escape_formula(line["metric"]))
    ]
    if "score" in one:
        for name in ("score", "low", "high"):
            if one[name] is not None:
                yield name, one[name], [row.get(name, "") for row in own]
    elif not numbers.get("smooth") and not numbers.get("bins"):
        for name in _READINGS:
            reading = one.get(name)
            if reading:
                at_step = [
                    row.get("value", "") for row in own if _is_equal(reading["step"], row.get("step", ""))
                ]
                yield f"the {name} reading", reading["value"], at_step


def _is_equal(number: float, text: str) -> bool:
    try:
        return math.isclose(number, float(text), rel_tol=_PRECISION, abs_tol=1e-12)
    except ValueError:
        return False


class _ReadPage(HTMLParser):
    """Collects the texts of tables and of bound statements from a page of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.statements: list[str] = []
        self._cell = self._bound = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row, a cell or a statement."""
        classes = (dict(attrs).get("class") or "").split()
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self.tables and self.tables[-1]:
            self.tables[-1][-1].append("")
            self._cell = True
        if "rg-bound" in classes:
            self.statements.append("")
            self._bound = True

    def handle_endtag(self, tag: str) -> None:
        """End a cell or a statement."""
        if tag in {"td", "th"}:
            self._cell = False
        if tag in {"a", "span"}:
            self._bound = False

    def handle_data(self, data: str) -> None:
        """Add text to the cell and the statement that it is in."""
        if self._cell:
            self.tables[-1][-1][-1] += data
        if self._bound:
            self.statements[-1] += data
