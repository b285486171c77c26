"""How a source is read, before any row is: its files, the part of each column, its metrics and series."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the schema of stored surveys needs it at run time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from reportgen.core.errors import Diagnostic  # noqa: TC001 - as above
from reportgen.formats.cells import Kind  # noqa: TC001 - as above
from reportgen.formats.layout import FileLayout  # noqa: TC001 - as above

if TYPE_CHECKING:
    from reportgen.formats.cells import Text
    from reportgen.formats.files import Content
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


# Raw names that a metric of the report stands for: usually one.
RawNames: TypeAlias = tuple[str, ...]
# Columns as written, and the cells they may hold.
Filters: TypeAlias = "tuple[tuple[str, CellValue | tuple[CellValue, ...]], ...]"


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
        long: whether a row is one value with its metric.
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
        spread: for each column that holds a metric of one run, whose it is; empty where rows say that.
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
        given: columns that hold one value in all of its rows, as ``files:`` says.
        copy: where its rows lie if they were brought into another form, relative to the project or absolute.
    """

    content: Content
    format: str
    label: str
    given: tuple[tuple[str, Text], ...] = ()
    copy: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a source without reading it, and warnings of what was irregular."""

    layout: Layout
    columns: tuple[str, ...]
    raw_metrics: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


def get_layout(source: Source) -> Layout:
    """The layout that ``open_source`` gave a source.

    Raises:
        TypeError: the source was made by something else.
    """
    if not isinstance(source.layout, Layout):
        raise TypeError(f"the source {source.name!r} was not opened by reportgen.read")
    return source.layout
