"""What fenced blocks have in common: their base, choices, reference lines and annotations."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from reportgen.core.words import parse_moment, suggest_name
from reportgen.settings.base import (
    ACCEPT,
    COLOURS,
    PDF,
    Accepted,
    CellValue,
    Colours,
    Name,
    Number,
    Settings,
    Sources,
    refuse_repeated_source,
)
from reportgen.settings.text import check_links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Derived: TypeAlias = Annotated[dict[Name, Name], Field(min_length=1)]
"""Names of derived metrics and their formulas."""
Metrics: TypeAlias = Name | Annotated[tuple[Name | Derived, ...], Field(min_length=1)] | Derived
"""A metric, several, or derived ones: ``loss``, ``[train/loss, eval/loss]``, ``{error: 1 - accuracy}``."""


def list_groupings(by: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the settings and columns of a ``by`` as a tuple."""
    return (by,) if isinstance(by, str) else by or ()


def list_formulas(metrics: Metrics | None) -> dict[str, str]:
    """Return metrics with their formulas, empty for those that the data have."""
    if isinstance(metrics, dict):
        return metrics
    if metrics is None or isinstance(metrics, str):
        return {} if metrics is None else {metrics: ""}
    return {name: formula for item in metrics for name, formula in list_formulas(item).items()}


RowFilter = Annotated[
    dict[str, CellValue | tuple[CellValue, ...]],
    Field(
        description="Only rows whose column or setting has this value, or one of these; also patterns such "
        "as qwen* and !qwen*, and comparisons such as <= 1e-5."
    ),
]
ShownSeries = Annotated[
    tuple[Name, ...] | None, Field(description="Only these series, in this order; also patterns.")
]
GroupedBy = Annotated[
    Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None,
    Field(description="Setting or column, or several, whose values are the series instead."),
]
Level = Annotated[float, Field(gt=0, lt=1, description="The confidence level.")]
ValueFormat: TypeAlias = Literal["number", "percent"]
FORMAT = "number, or percent, as in 84%; as on the rest of the page if left out."
PEAK = "Interval of the best value: none, or simultaneous, which allows for the choice of its step."


def find_sources(value: object) -> Iterator[str]:
    """Yield each ``data: {source: NAME}`` in a specification, outermost first."""
    if isinstance(value, dict):
        data = value.get("data")
        if isinstance(data, dict) and isinstance(data.get("source"), str):
            yield data["source"]
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from find_sources(item)


class Band(StrEnum):
    """What the band around a mean shows across runs."""

    CI = "ci"
    SIMULTANEOUS = "simultaneous"
    SE = "se"
    SD = "sd"
    RANGE = "range"
    IQR = "iqr"
    NONE = "none"


class Peak(StrEnum):
    """Which interval the best value of a curve has."""

    NONE = "none"
    SIMULTANEOUS = "simultaneous"


class Statistic(StrEnum):
    """A column of a ``table`` block; some have something behind: a step, a number, a metric or a level."""

    FINAL = "final"
    PEAK = "peak"
    MEAN = "mean"
    SD = "sd"
    N = "n"
    AT = "at"
    LAST = "last"
    BEST_BY = "best by"
    STEPS_TO = "steps to"
    VS = "vs"


_TAKES = {
    Statistic.AT: "a step",
    Statistic.LAST: "a number of readings",
    Statistic.BEST_BY: "a metric",
    Statistic.STEPS_TO: "a level",
    Statistic.VS: "a series",
}
COLUMNS = ", ".join(
    f"{kind} {_TAKES[kind].split()[1].upper()}" if kind in _TAKES else kind for kind in Statistic
)
_COUNTS = range(1, 1_000_000)
_SPELLINGS = {"best": "peak", "std": "sd", "time to": "steps to", "to": "steps to"}
_NEAR = {"max": "peak", "min": "peak"}
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")
_COLUMN = re.compile(r"(?i:(best by|steps to|time to|[a-z]+))(?:\s+(.+))?")


def parse_column_number(text: str) -> float | None:
    """Return the number or date behind a column, a date as milliseconds since 1970; None if it is neither."""
    try:
        return float(text)
    except ValueError:
        return parse_moment(text)


def split_column(text: str) -> tuple[Statistic, str]:
    """Return the statistic of a column and what is behind it: ``at`` and ``60``, ``best by`` and a metric.

    Raises a ``ValueError`` if there is no such column, or something else is behind it than it takes.
    """
    match = _COLUMN.fullmatch(text.strip())
    word, behind = (match[1].lower(), match[2] or "") if match else (text, "")
    word, given = _SPELLINGS.get(word, word), behind
    if word not in {*Statistic}:
        near = suggest_name(_NEAR.get(word, word), [*Statistic]).strip()
        raise ValueError(f'"{text}" is no column{"." * bool(near)} {near}'.strip())
    kind = Statistic(word)
    if behind and kind in _TAKES and kind not in {Statistic.BEST_BY, Statistic.VS}:
        number = parse_column_number(behind)
        if number is None or not math.isfinite(number) or (kind is Statistic.LAST and number not in _COUNTS):
            behind = ""
    if not behind and kind is Statistic.STEPS_TO and (share := _PERCENT.fullmatch(given)):
        behind = f"{share[1]}%"  # of metrics that are shares or percentages
    if bool(behind) is not (kind in _TAKES):
        raise ValueError(f'"{text}": {kind} takes {_TAKES.get(kind, "no parameter")}')
    return kind, behind


def _check_column(text: str) -> str:
    return " ".join(split_column(text)).strip()


_COLUMN_PATTERN = (
    r"^(final|peak|best|mean|sd|std|n|at .+|last [1-9]\d*|best by .+|vs .+|(steps to|time to|to) .+)$"
)
Column = Annotated[
    str, AfterValidator(_check_column), WithJsonSchema({"type": "string", "pattern": _COLUMN_PATTERN})
]
"""A column of a ``table`` block, as ``split_column`` reads it."""


class ReferenceLine(Settings):
    """A thin line across the figure."""

    x: Number | None = Field(None, description="Draw a vertical line at this step.")
    y: Number | None = Field(None, description="Draw a horizontal line at this value.")
    label: str = Field("", description="A few words at the line.")

    @model_validator(mode="after")
    def _check_axis(self) -> ReferenceLine:
        if (self.x is None) == (self.y is None):
            raise ValueError("a reference line must have either x or y")
        return self


class Annotation(Settings):
    """A short text at one step of one series."""

    x: Number = Field(description="The step the text belongs to.")
    text: Name = Field(description="The text; a few words.")
    series: Name | None = Field(None, description="The series it points at; none: the top of the figure.")


class Rule(StrEnum):
    """A rule that makes observations, in the order of showing; its name is what a reader sees."""

    BEST = "best"
    CROSSOVER = "crossover"
    LEAD = "lead"
    DECLINE = "decline"
    RISE = "rise"
    PLATEAU = "plateau"
    LEVEL = "level"
    TIERS = "tiers"
    ORDER = "order"
    CROSSING = "crossing"
    FALL = "fall from best"
    WIDEST_GAP = "widest gap"
    ENDS = "ends"
    PART_COMPANY = "part company"


class BlockSettings(Settings):
    """What every block may say."""

    # Kind of data that the block draws; without a source it takes that of the page's benchmark.
    data: ClassVar[Literal["", "curves", "scores"]] = ""
    # Whether statements can refer to the block.
    has_topics: ClassVar[bool] = False
    draws_figures: ClassVar[bool] = True
    # Whether it shows intervals or tests and little else, so that it would judge invented data. It has no
    # default: a kind that does not say so is an error at import.
    judges: ClassVar[bool]
    # Whether it shows means over the runs of a series, which have to be of one experiment.
    averages_runs: ClassVar[bool] = False
    # Whether it compares series problem by problem, so that they have to share some.
    pairs_problems: ClassVar[bool] = False
    # Whether it compares all pairs on a benchmark, so that an overview can show the verdicts.
    compares_pairs: ClassVar[bool] = False
    # Whether x is a setting of runs, so that lines are groups of runs.
    x_is_setting: ClassVar[bool] = False
    # Whether a metric may be a setting that is a number.
    takes_numbers: ClassVar[bool] = False
    # Whether it has a number of its own on the page, by which prose refers to it.
    is_numbered: ClassVar[bool] = True
    # Whether it draws one metric, which a pattern may choose.
    draws_one_metric: ClassVar[bool] = False
    # Keys of what it extends that it refuses.
    refused: ClassVar[frozenset[str]] = frozenset()
    # What follows the id and a hyphen in the ids of its parts, as a regular expression.
    part_names: ClassVar[str] = ""

    id: Name | None = Field(
        None,
        pattern=r"^[A-Za-z][A-Za-z0-9_-]*$",
        # Files are named after it, and file systems allow 255 characters with suffixes.
        max_length=100,
        description="The figure's id, for links; from the title if left out.",
    )
    title: Name | None = Field(None, description="What is shown.")
    caption: Annotated[str, AfterValidator(check_links)] | None = Field(
        None,
        description="Words put before the caption that reportgen writes, with emphasis, code and links in "
        "Markdown.",
    )
    accept: Accepted = Field(default_factory=dict, description=ACCEPT)
    pdf: bool | None = Field(None, description=PDF)

    @model_validator(mode="after")
    def _check_block(self) -> BlockSettings:
        if self.pdf and not self.draws_figures:
            raise ValueError("pdf: true is for blocks that draw figures")
        refuse_repeated_source(self.list_sources())
        return self

    def list_sources(self) -> tuple[str, ...]:
        """The sources that it names."""
        source = getattr(self, "source", None) or ()
        return (source,) if isinstance(source, str) else source

    def list_formulas(self) -> dict[str, str]:
        """The metrics that it names, each with its formula if it is derived, otherwise with an empty text."""
        return list_formulas(getattr(self, "metric", None))

    def list_metrics(self) -> tuple[str, ...]:
        """The metrics that it names."""
        return tuple(self.list_formulas())

    def resolve_metrics(self, resolve: Callable[[Metrics], Metrics]) -> BlockSettings:
        """The same block with each of its metrics, or patterns of metrics, replaced by what they choose."""
        metric = getattr(self, "metric", None)
        chosen = resolve(metric) if metric else None
        if self.draws_one_metric and isinstance(chosen, tuple):
            chosen = chosen[0] if len(chosen) == 1 else None  # several are refused where requests are made
        return self.model_copy(update={"metric": chosen}) if chosen else self

    def list_figures(self, block_id: str) -> tuple[str, ...]:
        """The ids of its figures that statements can be about, its own first."""
        return (block_id,) if self.has_topics else ()

    def list_names(self) -> tuple[str, ...]:
        """Names for a block without an id, best first."""
        metrics = list_formulas(getattr(self, "metric", None)) if self.data == "curves" else ()
        return (self.title or "", " ".join(metrics))


X: TypeAlias = Name | Annotated[dict[Name, Name], Field(min_length=1, max_length=1)]

ColouredBy: TypeAlias = Annotated[
    Name | None,
    Field(description="Setting or column whose values give the colours, instead of the series."),
]


class DataSettings(BlockSettings):
    """What every block that draws a source may say."""

    data = "curves"
    has_topics = True

    source: Sources | None = Field(
        None, description="A file or folder of data/, or a list of several; the page's benchmark if left out."
    )
    x: X | None = Field(
        None,
        description="The column or metric used as x, tokens, samples, epochs, relative time, wall time, or "
        "FORMULA: NAME; the step if left out.",
    )
    series: ShownSeries = None
    filter: RowFilter = Field(default_factory=dict)
    colours: Colours = Field(default_factory=dict, description=COLOURS)
    by: GroupedBy = None
    level: Level = 0.95
    higher_is_better: bool | None = Field(
        None,
        description="Whether a larger value is better; if left out as the benchmark or the name says.",
    )

    @model_validator(mode="after")
    def _check_domains(self) -> Self:
        for name in ("x_domain", "y_domain"):
            domain = getattr(self, name, None)
            if isinstance(domain, tuple) and not domain[0] < domain[1]:
                raise ValueError(f"{name} must begin with the smaller number")
        return self


Scale: TypeAlias = Annotated[Literal["linear", "log"], Field(description="linear or log.")]
References: TypeAlias = Annotated[
    tuple[ReferenceLine, ...], Field(description="Lines at an x or a y, as {y: NUMBER, label: TEXT}.")
]
Height: TypeAlias = Annotated[int, Field(ge=120, le=800, description="Height of the plot in pixels.")]
YDomain: TypeAlias = Annotated[
    Literal["auto"] | tuple[Number, Number] | None,
    Field(description="Lowest and highest y shown; or auto to leave out values far from all others."),
]
PointDomain: TypeAlias = Annotated[
    tuple[Number, Number] | None,
    Field(description="Lowest and highest value shown, with every point between them."),
]


class VegaLiteSettings(BlockSettings):
    """A ``vega-lite`` block: a specification of the author's own, with ``data: {source: NAME}``."""

    judges = False

    source: Name | None = Field(
        None, description="A file or folder of data/, written as data: {source: NAME}."
    )
    summary: str | None = Field(None, description="One sentence that says what the chart shows.")
    spec: dict[str, Any] = Field(description="The specification: everything else in the body.")

    def list_sources(self) -> tuple[str, ...]:
        """See ``BlockSettings``: its own, then each ``data: {source: NAME}``, outermost first."""
        return tuple(dict.fromkeys((*super().list_sources(), *find_sources(self.spec))))


class ChartSettings(BlockSettings):
    """What a block has to say whose chart a function makes of the rows of a source."""

    data = "curves"
    judges = False

    source: Sources | None = Field(
        None, description="A file or folder of data/, or a list of several; the page's benchmark if left out."
    )
    summary: str | None = Field(None, description="One sentence that says what the chart shows.")


class AltairSettings(ChartSettings):
    """An ``altair`` block: a function of the report's own folder that returns a chart."""

    function: Annotated[str, Field(pattern=r"^[^:]+\.py:[A-Za-z_]\w*$")] = Field(
        description="file.py:function, the file relative to mkdocs.yml; it is given the source's frame."
    )

    @model_validator(mode="after")
    def _check_function(self) -> AltairSettings:
        file = PurePosixPath(self.function.partition(":")[0].replace("\\", "/"))
        if file.is_absolute() or ".." in file.parts:
            raise ValueError("function names a file outside the report's folder")
        return self

    def list_names(self) -> tuple[str, ...]:
        """See ``BlockSettings``."""
        return (self.title or "", self.function.rpartition(":")[2])


class OverviewSettings(BlockSettings):
    """An ``overview`` block: one row for each benchmark."""

    draws_figures = False
    judges = False
    is_numbered = False

    benchmarks: tuple[Name, ...] = Field((), description="Only these, in this order; all if left out.")


class ObservationsSettings(BlockSettings):
    """An ``observations`` block: what rules find in a figure's data, in sentences."""

    draws_figures = False
    judges = False
    is_numbered = False

    of: Name | None = Field(
        None,
        description="Id of a figure or panels on the page, or a source; the page's benchmark if left out.",
    )
    count: Annotated[int, Field(ge=1, le=100)] = Field(
        8, description="The largest number of sentences: the strongest of each rule, then the next of each."
    )
    rules: tuple[Rule, ...] = Field((), description="Only these rules; all if left out.")
