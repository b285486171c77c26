"""``report.json`` for whoever reads it: its format, and the numbers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from reportgen.core.statements import Fact, Observation  # noqa: TC001 - the schema needs it at run time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT: Final = 1
NO_METHOD: Final = ("date", "samples")
"""What of a protocol says when and how often something was measured, and not how."""


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of ``report.json``; the texts of a part that has none are empty."""


class ProblemEntry(_Entry, frozen=True):
    """A warning; one that is accepted has a reason."""

    file: str
    line: int | None
    severity: Literal["error", "warning"]
    message: str
    next_step: str
    id: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class StatementEntry(_Entry, frozen=True):
    """A bound value or claim, with what the data say of it."""

    number: int
    kind: Literal["value", "claim"]
    words: str
    expression: str
    of: str | None
    name: str
    line: int
    column: int
    metric: str
    figure: str
    state: str
    truth: Literal["holds", "fails", "cannot be decided"]
    as_expected: bool
    expected_to_fail: str
    found: str
    repaired: str
    evidence: tuple[str, ...]
    facts: tuple[Fact, ...]


class FigureEntry(_Entry, frozen=True):
    """A figure; what its numbers are depends on its kind, which of a chart in panels is ``panel``."""

    id: str
    kind: str
    line: int | None
    title: str
    summary: str
    caption: str
    files: tuple[str, ...]
    numbers: dict[str, Any]


class CellEntry(_Entry, frozen=True):
    """A cell of a table as text, and the number by which its column is sorted."""

    text: str
    value: float | None


class TableEntry(_Entry, frozen=True):
    """A table."""

    id: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[CellEntry, ...], ...]


class PartEntry(_Entry, frozen=True):
    """The id of a figure or table in a stack."""

    id: str


class StackEntry(_Entry, frozen=True):
    """A block of several parts: figures, tables and sentences."""

    id: str
    kind: str
    line: int | None
    title: str
    subtitle: str
    caption: str
    parts: tuple[str | PartEntry, ...]
    numbers: dict[str, Any]


class ObservationsEntry(_Entry, frozen=True):
    """A list of observations; ``more`` is how many it leaves out."""

    id: str
    title: str
    line: int | None
    more: int
    items: tuple[Observation, ...]


class OverviewEntry(_Entry, frozen=True):
    """An overview, with the names of its benchmarks."""

    id: str
    benchmarks: tuple[str, ...]


class BenchmarkEntry(_Entry, frozen=True):
    """A benchmark that a page is about, with its key facts by their labels."""

    name: str
    facts: dict[str, str]


class DocumentEntry(_Entry, frozen=True):
    """A document whose statements are checked."""

    path: str
    title: str
    statements: tuple[StatementEntry, ...]


class PageEntry(_Entry, frozen=True):
    """A page; a generated one has no file, and only a dated one has a date and a description."""

    path: str
    title: str
    generated: bool
    benchmark: BenchmarkEntry | None
    statements: tuple[StatementEntry, ...]
    figures: tuple[FigureEntry, ...]
    tables: tuple[TableEntry, ...]
    stacks: tuple[StackEntry, ...]
    observations: tuple[ObservationsEntry, ...]
    overviews: tuple[OverviewEntry, ...]
    date: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    template: str | UnsetType = UNSET


class FileEntry(_Entry, frozen=True):
    """A file that was read."""

    path: str
    size: int
    sha256: str


class SourceEntry(_Entry, frozen=True):
    """A source, with what its settings say of it."""

    name: str
    title: str | None
    description: str | None
    approximate: str | None
    illustrative: bool
    provenance: dict[str, Any]
    files: tuple[FileEntry, ...]


class GeneratorEntry(_Entry, frozen=True):
    """The program that wrote it."""

    name: str
    version: str


class ReportEntry(_Entry, frozen=True):
    """All of a report: what ``report.json`` holds."""

    format: Literal[1]
    generator: GeneratorEntry
    commit: str | None
    date: str | None
    pages: tuple[PageEntry, ...]
    documents: tuple[DocumentEntry, ...]
    sources: tuple[SourceEntry, ...]
    problems: tuple[ProblemEntry, ...]
    accepted: tuple[ProblemEntry, ...] | UnsetType = UNSET
    authors: tuple[str, ...] | UnsetType = UNSET
    version: str | UnsetType = UNSET
    doi: str | UnsetType = UNSET
    feed_id: str | UnsetType = UNSET


# Sorted, a value that is no number is null, and numbers of NumPy are plain ones.
_ENCODER: Final = msgspec.json.Encoder(order="sorted", enc_hook=lambda value: value.item())


def encode_json(value: object) -> bytes:
    """Encode as sorted JSON in one line: a third of the time of the standard library's, for each page."""
    return msgspec.json.format(_ENCODER.encode(value), indent=0)


def list_values(
    numbers: Mapping[str, Any],
) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, str]]]:
    """List series, benchmark, value with its interval, and protocol from ``numbers`` of ``report.json``."""
    series, protocols = numbers.get("series"), numbers.get("protocol", {})
    for one in numbers.get("scores", ()):
        yield one["series"], "", {**one, "value": one["estimate"]}, protocols.get(one["series"], {})
    if isinstance(series, list):
        for one in series:
            if isinstance(one, dict) and "last" in one:
                yield one["name"], "", one["last"], {}
    if isinstance(series, dict):
        for name, cells in series.items():
            for benchmark, cell in cells.items():
                score = cell["score"]
                protocol = numbers["benchmarks"][benchmark]["protocol"].get(name, {})
                yield name, benchmark, {**score, "value": score["estimate"]}, protocol
