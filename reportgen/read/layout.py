"""What is known of a source's files before they are read: values that pass between the modules here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from reportgen.read import sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.errors import Problem
    from reportgen.model import Source
    from reportgen.read.cells import Kind, Text
    from reportgen.read.content import Content
    from reportgen.settings.blocks import CellValue

# Raw names that a metric of the report stands for: usually one.
RawNames: TypeAlias = tuple[str, ...]
# Columns as written, and the cells they may hold.
Filters: TypeAlias = "tuple[tuple[str, CellValue | tuple[CellValue, ...]], ...]"


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How one file is read.

    Attributes:
        path: relative to the project.
        format: a key of ``formats.FORMATS``.
        compression: ``gzip``, ``zstd`` or nothing.
        columns: names as written, in order; empty where a column has none.
        types: the SQL types that they are read as; ``VARCHAR`` in most text formats.
        variant: what the format needs beside that: the delimiter, or the shape of JSON.
        skip: bytes left out at the beginning.
        keep: bytes that count from the beginning, when the rest is torn off.
        even_ends: False where lines end now with one sign, now with two.
        copy: where its rows lie if another place than ``path`` is read, relative to the project or absolute.
        given: columns that the file does not have: their names, and for each a value of every row or, with
            ``code``, one for each of its codes.
        code: the column with the place in the values of ``given``; empty where one value holds for all rows.
    """

    path: str
    format: str
    compression: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    variant: str = ""
    skip: int = 0
    keep: int | None = None
    even_ends: bool = True
    copy: str = ""
    given: tuple[tuple[str, tuple[Text, ...]], ...] = ()
    code: str = ""

    @property
    def place(self) -> str:
        """Where the rows lie, relative to the project or absolute."""
        return self.copy or self.path

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, with those that are given."""
        return tuple(dict.fromkeys((*self.columns, *(name for name, _ in self.given))))

    def get_given(self, name: str) -> tuple[Text, ...] | None:
        """The values of a column that the file does not have; None where it is one of its own."""
        return next((values for given, values in self.given if given == name), None)

    @property
    def as_it_is(self) -> bool:
        """Whether DuckDB can read the file itself, not a copy that was put right."""
        return self.skip == 0 and self.keep is None and self.even_ends

    def type_of(self, name: str) -> str:
        """The SQL type of a column."""
        return sql.TEXT if self.get_given(name) is not None else self.types[self.columns.index(name)]


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is written: its line or, in a format without lines, its number, and cells by column."""

    line: int | None
    number: int
    cells: Mapping[str, Text]


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at a file found.

    Attributes:
        file: how it is read.
        rows: a sample, cells in the order of the columns.
        exhaustive: whether the sample is the whole file.
        warnings: what was found and handled.
    """

    file: FileLayout
    rows: list[tuple[Text, ...]]
    exhaustive: bool
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Roles:
    """The column, as written, that plays each part; None where none does."""

    series: str | None = None
    run: str | None = None
    seed: str | None = None
    step: str | None = None
    metric: str | None = None
    value: str | None = None
    low: str | None = None
    high: str | None = None
    stderr: str | None = None
    std: str | None = None
    n: str | None = None


@dataclass(frozen=True, slots=True)
class OutcomeRoles:
    """The column, as written, for each part of outcomes; ``Roles`` has those of series, run and seed."""

    problem: str
    score: str
    sample: str | None = None
    answer: str | None = None
    gold: str | None = None
    cluster: str | None = None
    tokens: str | None = None
    seconds: str | None = None
    cost: str | None = None
    benchmark: str | None = None


@dataclass(frozen=True, slots=True)
class TotalRoles:
    """The column, as written, for each part of totals: scores of whole benchmarks."""

    score: str
    stderr: str | None = None
    n: str | None = None
    benchmark: str | None = None
    metric: str | None = None


@dataclass(frozen=True, slots=True)
class RunColumn:
    """Whose values a column holds where runs are columns, as in a chart that W&B exported.

    ``low`` and ``high`` are the columns of the smallest and largest of the values that one stands for; empty
    where each stands for itself.
    """

    series: str
    run: str
    seed: str | None
    metric: str
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a source is read.

    Attributes:
        files: in reading order.
        labels: for each file the name it gives its rows where no column does.
        kinds: what every column holds.
        roles: which column plays which part.
        long: whether a row is one value beside its metric.
        metrics: name in the report: names in the data.
        series: names in the report, in order of first appearance as far as was looked.
        exhaustive: whether ``metrics`` and ``series`` are known to be all.
        gapless: text columns of Parquet files that are known to have no empty cell.
        outcomes: the columns of outcomes; None where the source has none.
        totals: the columns of totals; None where the source has none.
        benchmarks: every value of the benchmark column, in order of first appearance.
        lower_is_better: those of them on which a smaller total is the better one, as the harness or the name
            of the metric says; an empty name stands for totals without benchmarks.
        score_names: benchmark to what a harness calls its score; without those whose score has no name.
        step_name: what the step is called where that is not the name of its column.
        spread: for each column that holds a metric of one run, whose it is; empty where rows tell that.
        repeat: what several rows of one step mean where the format says it, as ``repeat:`` of a source does;
            empty where it does not.
    """

    files: tuple[FileLayout, ...]
    labels: tuple[str, ...]
    kinds: Mapping[str, Kind]
    roles: Roles
    long: bool
    metrics: Mapping[str, RawNames]
    series: tuple[str, ...]
    exhaustive: bool
    gapless: frozenset[str] = field(default_factory=frozenset)
    outcomes: OutcomeRoles | None = None
    totals: TotalRoles | None = None
    benchmarks: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    score_names: Mapping[str, str] = field(default_factory=dict)
    step_name: str = ""
    spread: Mapping[str, RunColumn] = field(default_factory=dict)
    repeat: str = ""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a source.

    Attributes:
        content: its bytes.
        format: a key of ``formats.FORMATS``.
        label: the name it gives its rows where no column does.
        given: columns that hold one value in all of its rows, as ``files:`` tells them.
        copy: where its rows lie if they were brought into another form, relative to the project or absolute.
    """

    content: Content
    format: str
    label: str
    given: tuple[tuple[str, Text], ...] = ()
    copy: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a source without reading it, and what was found and handled on the way."""

    layout: Layout
    columns: tuple[str, ...]
    raw_metrics: tuple[str, ...]
    warnings: tuple[Problem, ...]


def get_layout(source: Source) -> Layout:
    """The layout that ``open_source`` gave a source.

    Raises:
        TypeError: the source was made by something else.
    """
    if not isinstance(source.layout, Layout):
        raise TypeError(f"the source {source.name!r} was not opened by reportgen.read")
    return source.layout
