"""Settings of the blocks that show scores of benchmarks, or a value or two of each run or series."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from reportgen.settings.base import COLOURS, Colours, Name, Number, Sources
from reportgen.settings.block_parts import (
    FORMAT,
    BlockSettings,
    ColouredBy,
    DataSettings,
    Derived,
    GroupedBy,
    Height,
    Level,
    PointDomain,
    References,
    RowFilter,
    Scale,
    ShownSeries,
    ValueFormat,
    YDomain,
)

_METRIC = r"^(mean|(avg@|pass@|maj@|pass\^)[1-9]\d{0,5})$"
ScoreMetric = Annotated[str, StringConstraints(strip_whitespace=True, pattern=_METRIC)]
"""``mean``, or one of ``avg@``, ``pass@``, ``maj@`` and ``pass^`` with its k, such as ``pass@8``."""


Fitted: TypeAlias = Annotated[
    Literal["linear", "power"] | None,
    Field(description="linear for a straight line through the points, power for a power law."),
]


def is_score_metric(metric: str) -> bool:
    """Whether a text is a ``ScoreMetric``."""
    return re.fullmatch(_METRIC, metric.strip()) is not None


def split_metric(metric: str) -> tuple[str, int]:
    """A ``ScoreMetric`` as the statistics take it: ``pass@8`` is ``pass@k`` and 8, ``mean`` has 1."""
    match = re.fullmatch(r"(\D+)(\d+)", metric)
    return (match[1] + ("n" if match[1] == "avg@" else "k"), int(match[2])) if match else (metric, 1)


class OutcomeSettings(BlockSettings):
    """What every block about scores may say."""

    data = "scores"
    has_topics = True

    source: Sources | None = Field(
        None,
        description="Files or folders of data/ with scores; the page's benchmark if left out.",
    )
    benchmark: Name | None = Field(
        None, description="Only rows of this benchmark, where the data have a benchmark column."
    )
    series: ShownSeries = None
    filter: RowFilter = Field(default_factory=dict)
    colours: Colours = Field(default_factory=dict, description=COLOURS)
    by: GroupedBy = None
    level: Level = 0.95
    higher_is_better: bool | None = Field(
        None, description="Whether a larger score is better; the benchmark's if left out."
    )

    @property
    def takes_several(self) -> bool:
        """Whether it shows all benchmarks of a source where it names none."""
        return False


class MetricSettings(OutcomeSettings):
    """What the blocks share that show one metric."""

    metric: ScoreMetric = Field(
        "mean", description="mean, or avg@N, pass@K, maj@K, pass^K with a number, such as pass@8."
    )


class ComparedSettings(MetricSettings):
    """What the blocks share that test differences."""

    family: Literal["block", "page"] = Field(
        "block",
        description="Which comparisons are adjusted together: those of this block, or those of all blocks of "
        "the page that say page.",
    )
    estimand: Literal["problems like these", "these problems"] = Field(
        "problems like these",
        description="What intervals and tests are about: problems like these, or these problems with other "
        "samples.",
    )
    adjust: Literal["fwer", "fdr"] = Field(
        "fwer",
        description="What the adjustment of p limits: fwer the chance of any wrong verdict in the block, fdr "
        "the expected share of wrong ones among the pairs called different, to explore many.",
    )

    @model_validator(mode="after")
    def _check_adjust(self) -> Self:
        if self.adjust == "fdr" and self.family == "page":
            raise ValueError("adjust: fdr is about the pairs of one block, so leave out family: page")
        return self


class ScoresSettings(ComparedSettings):
    """A ``scores`` block: each series' score with its interval, in groups."""

    part_names = "table"
    judges = False

    order: Literal["best", "given", "name"] = Field(
        "best", description="Order of the series: best first, given as in the data, or by name."
    )


class PasskSettings(OutcomeSettings):
    """A ``passk`` block: pass@k against k, a line for each series."""

    judges = False

    highlight: tuple[Name, ...] = Field((), description="These series keep colour, the rest turn grey.")
    height: Annotated[int, Field(ge=120, le=800)] = Field(320, description="Height of the plot in pixels.")


class BenchmarksSettings(MetricSettings):
    """What the blocks share that show several benchmarks side by side."""

    sources: tuple[Name, ...] = Field(
        (), description="Several sources, each of them a benchmark; instead of source."
    )
    benchmarks: Literal["all", "shared"] | tuple[Name, ...] = Field(
        "shared",
        description="These benchmarks of the source, side by side. Of several sources under source: shared, "
        "those that each has, or all.",
    )
    average: bool = Field(default=True, description="Whether there is a column of the average.")

    @property
    def takes_several(self) -> bool:
        """See ``OutcomeSettings``."""
        return True

    @property
    def named_benchmarks(self) -> tuple[str, ...]:
        """The benchmarks that the block names."""
        return () if isinstance(self.benchmarks, str) else self.benchmarks

    def list_sources(self) -> tuple[str, ...]:
        """See ``BlockSettings``."""
        return tuple(dict.fromkeys((*super().list_sources(), *self.sources)))


class ComparisonSettings(BenchmarksSettings, ComparedSettings):
    """A ``comparison`` block: all pairs on one benchmark, or all series on several benchmarks."""

    part_names = "table|pairs|differences"
    judges = True
    pairs_problems = True
    compares_pairs = True

    baseline: Name | None = Field(
        None, description="The series that the others are compared with; the benchmark's if left out."
    )


class HeatmapSettings(BenchmarksSettings):
    """A ``heatmap`` block: a colour and a number for each series on each benchmark, or on each problem."""

    judges = True
    pairs_problems = True

    rows: Literal["series", "problems"] = Field(
        "series",
        description="series, with columns of benchmarks, or problems, with columns of series.",
    )

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        given = [name for name in ("metric", "sources", "benchmarks") if name in self.model_fields_set]
        if self.rows == "problems" and given:
            raise ValueError(
                f"rows: problems shows mean scores of the problems of one benchmark, so leave out {given[0]}"
            )
        return self

    @property
    def takes_several(self) -> bool:
        """See ``OutcomeSettings``."""
        return self.rows == "series"


class FlipsSettings(OutcomeSettings):
    """A ``flips`` block: which problems turned right or wrong from one series to another."""

    judges = True
    pairs_problems = True

    before: Name = Field(description="The series to compare with.")
    after: Name = Field(description="The series whose problems turned right or wrong.")

    @model_validator(mode="after")
    def _check_sides(self) -> Self:
        if self.before == self.after:
            raise ValueError("before and after are the same series", "Name two series")
        return self


class ProblemsSettings(OutcomeSettings):
    """A ``problems`` block: who solves which problem."""

    part_names = r"map|alone|\d+"
    judges = False
    pairs_problems = True

    slices: tuple[Name, ...] = Field((), description="Columns to slice the scores by, such as subject.")
    samples: bool = Field(
        default=False,
        description="Whether a cell opens the prompt and answer of each sample, and what the grader said.",
    )


class RunsSettings(MetricSettings):
    """A ``run-scores`` block: the spread of each series between its runs."""

    part_names = "table"
    judges = True


class PlanSettings(MetricSettings):
    """A ``plan`` block: what more problems, samples or runs would find."""

    part_names = "table"
    judges = True

    difference: Annotated[float, Field(gt=0)] | None = Field(
        None, description="The true difference to find: in points where scores go from 0 to 1."
    )
    height: Annotated[int, Field(ge=120, le=800)] = Field(320, description="Height of the plot in pixels.")


class SweepSettings(DataSettings):
    """A ``sweep`` block: one value of each run, or its score, against a setting."""

    draws_one_metric = True
    judges = True
    x_is_setting = True
    part_names = "table"

    x: Name = Field(description="The setting or column: a number or a word, the same throughout a run.")
    metric: Name | Derived | None = Field(
        None, description="The metric, of scores mean or such as pass@8; the benchmark's if left out."
    )
    benchmark: Name | None = Field(None, description="Of scores: only rows of this benchmark.")
    value: Literal["final", "best", "mean"] = Field("final", description="final, best or mean of each run.")
    x_scale: Literal["linear", "log"] | None = Field(
        None, description="linear or log; log where the values span a factor of 10 if left out."
    )
    mark: Literal["dot", "bar"] = Field("dot", description="dot, or bar for a bar from 0 in each row.")
    x_title: Name | None = Field(None, description="Title of the x axis; the setting if left out.")
    x_domain: tuple[Number, Number] | None = Field(None, description="First and last x shown.")
    y_title: Name | None = Field(None, description="Title of the y axis; value and metric if left out.")
    y_domain: YDomain = None
    y_scale: Scale = "linear"
    reference: References = ()
    fit: Fitted = None
    format: ValueFormat | None = Field(None, description=FORMAT)
    height: Height = 320


class LadderSettings(DataSettings):
    """A ``ladder`` block: the attempts of a search, the best so far, and what luck would show."""

    draws_one_metric = True
    judges = True
    part_names = "table"
    refused = frozenset({"x", "by", "colours"})

    metric: Name | None = Field(None, description="The metric; the benchmark's if left out.")
    order: Name | None = Field(
        None, description="The setting that numbers the attempts; if left out, as their log does."
    )
    y_title: Name | None = Field(None, description="Title of the y axis; the metric if left out.")
    y_domain: PointDomain = None
    y_scale: Scale = "linear"
    reference: References = ()
    format: ValueFormat | None = Field(None, description=FORMAT)
    height: Height = 320

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if given := [name for name in sorted(self.refused) if getattr(self, name)]:
            raise ValueError(f"a ladder has its attempts in their order, so leave out {given[0]}")
        return self


class ScatterSettings(DataSettings):
    """A ``scatter`` block: two measures of each series, such as its score and its cost."""

    draws_one_metric = True
    judges = True
    takes_numbers = True
    has_topics = False

    x: Name = Field(description="The other metric; of scores tokens, seconds or cost of an answer.")
    metric: Name | None = Field(
        None, description="The metric, of scores mean or such as pass@8; the benchmark's if left out."
    )
    benchmark: Name | None = Field(None, description="Of scores: only rows of this benchmark.")
    x_higher_is_better: bool | None = Field(
        None, description="Whether a larger x is better; inferred from its name if left out."
    )
    x_scale: Literal["linear", "log"] | None = Field(
        None, description="linear or log; log where the values span a factor of 10 if left out."
    )
    x_title: Name | None = Field(None, description="Title of the x axis; the measure if left out.")
    x_domain: PointDomain = None
    y_title: Name | None = Field(None, description="Title of the y axis; the metric if left out.")
    y_domain: PointDomain = None
    y_scale: Scale = "linear"
    reference: References = ()
    fit: Fitted = None
    colour: ColouredBy = None
    format: ValueFormat | None = Field(None, description=FORMAT)
    height: Height = 320


class DistributionSettings(DataSettings):
    """A ``distribution`` block: the last value of each run, or the score of each problem."""

    draws_one_metric = True
    judges = True
    has_topics = False

    metric: Name | None = Field(
        None, description="The metric, of scores mean or such as pass@8; the benchmark's if left out."
    )
    benchmark: Name | None = Field(None, description="Of scores: only rows of this benchmark.")
    mark: Literal["strip", "histogram"] | None = Field(
        None, description="strip, a dot for each value, or histogram; by the number of values if left out."
    )
    order: Literal["given", "best", "name"] = Field(
        "given", description="Order of the rows: given as in the data, best first, or by name."
    )
    y_title: Name | None = Field(None, description="Title of the axis of values; the metric if left out.")
    y_domain: PointDomain = None
    y_scale: Scale = "linear"
    reference: References = ()
    colour: ColouredBy = None
    format: ValueFormat | None = Field(None, description=FORMAT)

    @model_validator(mode="after")
    def _check_reference(self) -> Self:
        if any(line.x is not None for line in self.reference):
            message = "reference: x is for figures with an x axis, and the values of a distribution are y"
            raise ValueError(message, "Write reference: {y: NUMBER}")
        return self
