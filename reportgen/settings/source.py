"""What the ``source.yml`` of a source of data may say."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from reportgen.core.directions import Direction, guess_direction
from reportgen.core.plugins import READERS, list_plugins
from reportgen.core.score_names import Status
from reportgen.core.words import choose_names
from reportgen.settings.base import (
    ACCEPT,
    COLOURS,
    LABELS,
    Accepted,
    CellValue,
    Colours,
    Labels,
    Name,
    Number,
    Settings,
)
from reportgen.settings.citation import HubTask, ModelName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


TABLES: Final = (
    *("csv", "wandb-csv", "tsv", "jsonl", "json", "parquet", "mapped", "xlsx", "yaml", "npz"),
    *("markdown", "latex"),
)
"""Formats of tables; all others are names of readers."""


def _check_format(name: str) -> str:
    known = (*TABLES, *list_plugins(READERS))
    if name not in known:
        expected = " or ".join(f"'{one}'" for one in known)
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
    return name


Format: TypeAlias = Annotated[str, AfterValidator(_check_format)]


class Columns(Settings):
    """Which column plays which part, where the usual names are not used."""

    series: Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(
        None,
        description="The column that names the series, or a list of several that are joined; by name model, "
        "method, series, algorithm, variant, name or label.",
    )
    run: Name | None = Field(
        None, description="The column that names the run; by name run, run_id or run_name."
    )
    seed: Name | None = Field(None, description="The column with the seed.")
    step: Name | None = Field(
        None,
        description="The column used as x: numbers, or times in UTC; by name step, global_step, iteration, "
        "iter, epoch, _step, steps, timesteps, x or episode; date or year if a run has several.",
    )
    metric: Name | None = Field(
        None,
        description="Long form: the column that names the metric; by name metric, variable, tag or "
        "metricName.",
    )
    value: Name | None = Field(
        None, description="Long form: the column with the value; by name value or metricValue."
    )
    low: Name | None = Field(None, description="Lower end of an interval that the data already have.")
    high: Name | None = Field(None, description="Upper end of an interval that the data already have.")
    stderr: Name | None = Field(
        None, description="Standard error that the data already have; by name stderr, sem or se."
    )
    std: Name | None = Field(
        None, description="Standard deviation over n that the data already have; by name std or sd."
    )
    n: Name | int | None = Field(
        None,
        description="Number of runs behind std; totals: number of problems. By name n or count, of totals "
        "also problems or num_problems. A number applies to all rows.",
    )
    problem: Name | None = Field(
        None,
        description="Outcomes: the column that names the problem; by name problem, problem_id, question_id, "
        "task_id, doc_id, idx or id.",
    )
    sample: Name | None = Field(
        None,
        description="Outcomes: the column that numbers a problem's samples; by name sample, sample_id, "
        "attempt or epoch. Without it, rows are counted if the protocol has samples.",
    )
    score: Name | None = Field(
        None,
        description="Outcomes and totals: the column with the score; by name score, correct, is_correct, "
        "passed, acc or reward, of totals also value or accuracy.",
    )
    status: Name | None = Field(
        None, description="Outcomes: what became of the answer, such as timed out; see statuses."
    )
    answer: Name | None = Field(
        None,
        description="Outcomes: the answer given, for majority votes; by name prediction, extracted or "
        "answer.",
    )
    gold: Name | None = Field(
        None,
        description="Outcomes: the right answer; by name gold, target, reference, or answer next to a "
        "prediction.",
    )
    prompt: Name | None = Field(None, description="Outcomes: the prompt, which samples: true publishes.")
    response: Name | None = Field(None, description="Outcomes: the whole answer, likewise.")
    explanation: Name | None = Field(None, description="Outcomes: what the grader said, likewise.")
    cluster: Name | None = Field(
        None, description="Outcomes: what groups problems that belong together, such as their passage."
    )
    tokens: Name | None = Field(
        None, description="Outcomes: tokens of the answer; by name tokens, completion_tokens or num_tokens."
    )
    seconds: Name | None = Field(
        None, description="Outcomes: seconds that the answer took; by name seconds, time or latency."
    )
    cost: Name | None = Field(None, description="Outcomes: what the answer cost.")
    benchmark: Name | None = Field(
        None,
        description="Outcomes and totals: the column that names the benchmark; by name benchmark, of totals "
        "also task or dataset.",
    )

    @model_validator(mode="after")
    def _check_n(self) -> Columns:
        if isinstance(self.n, int) and self.n < 2:  # noqa: PLR2004 - one run has no deviation
            raise ValueError("n must be a column, or the number of runs of all rows, from 2")
        return self


class Provenance(Settings):
    """Where the data came from."""

    code: str | None = Field(None, description="URL of the code that made the data.")
    commit: str | None = Field(None, description="The commit of that code.")
    licence: str | None = Field(None, description="Licence of the data.")
    date: str | None = Field(None, description="When the data were made.")
    note: str | None = Field(None, description="Anything else a reader should know.")
    tool: str | None = Field(None, description="The program and version that wrote these files from others.")
    files: dict[str, str] | None = Field(
        None, description="The files that these were written from, and the SHA-256 of each."
    )
    found: tuple[str, ...] | None = Field(
        None, description="What was irregular or left out when they were written: a sentence each."
    )
    contents: tuple[str, ...] | None = Field(
        None, description="What these files hold, for reviewers: a line for each run, metric or evaluation."
    )


class Protocol(Settings):
    """How outcomes were measured; scores are comparable where this is the same."""

    samples: Annotated[int, Field(ge=1)] | None = Field(None, description="Answers to each problem.")
    temperature: Annotated[Number, Field(ge=0)] | None = Field(None, description="Sampling temperature.")
    top_p: Annotated[Number, Field(gt=0, le=1)] | None = Field(None, description="Nucleus sampling: top-p.")
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Largest number of tokens of an answer."
    )
    prompt: str | None = Field(None, description="The prompt, or its name.")
    harness: str | None = Field(None, description="The program that ran and graded the evaluation.")
    version: str | None = Field(None, description="The harness's version.")
    grader: str | None = Field(None, description="What graded the answers.")
    date: str | None = Field(None, description="When the answers were given.")

    def list_stated(self) -> tuple[tuple[str, str], ...]:
        """The keys that have a value, as pairs of a label and a text."""
        labels = {"top_p": "top-p", "max_tokens": "max tokens"}
        return tuple(
            (labels.get(name, name), f"{value:g}" if isinstance(value, float) else str(value))
            for name, value in self
            if value is not None
        )


@cache
def make_protocol(said: tuple[tuple[str, str], ...]) -> Protocol:
    """The protocol from what a harness says of each key; what does not fit a key is left out."""
    values: dict[str, Any] = {}
    for name, text in said:
        with suppress(ValidationError):
            values |= Protocol.model_validate({name: text}).model_dump(exclude_none=True)
    return Protocol(**values)


class SourceSettings(Settings):
    """A source: which files, which columns, and where they came from."""

    title: Name | None = Field(None, description="The source's name for readers.")
    description: str | None = Field(None, description="What was measured.")
    approximate: str | None = Field(
        None, description="Say so where numbers are not exact, such as: digitised from a figure."
    )
    illustrative: bool = Field(
        False,
        description="Runs or answers are invented: values are drawn, and nothing is tested or inferred.",
    )
    precision: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="By how much a value may be off, such as 0.005 where it is read off a figure; "
        "in observations, values that differ by no more are level.",
    )
    provenance: Provenance = Field(default_factory=Provenance, description="Where the data came from.")
    files: Name | tuple[Name, ...] | None = Field(
        None,
        description="File names or patterns below the source's folder; all data files if left out. A pattern "
        "with (?P<name>...) is a regular expression, and its groups are columns.",
    )
    format: Format | None = Field(None, description="Read every file as this format, whatever its name.")
    sheet: Name | None = Field(
        None,
        description="Excel files: the sheet to read, also with a range, as in Scores!B3:F20; the only one "
        "that is filled if left out.",
    )
    query: Name | None = Field(
        None,
        description="An SQLite database of your own: the statement that selects the rows, as in SELECT step, "
        "loss FROM logs.",
    )
    lines: Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(
        None,
        description="format: lines: a line of a text log with names in braces for its numbers and {} for any "
        "text, as in step:{step}/{total} val_loss:{val_loss}; or a list of several.",
    )
    series_from: Name | tuple[Name, ...] | None = Field(
        None,
        description="Runs of loggers and harnesses: what names the series: a key of their configuration, a "
        "group of files:, or name, folder, group or id; of several, all of them together.",
    )
    seed_from: Name | None = Field(None, description="What names the seed, likewise.")
    run_from: Name | None = Field(None, description="What names the run, likewise.")
    rows: Name | None = Field(
        None, description="format: mapped: where the rows are in a JSON file, as in $.results[*]."
    )
    fields: dict[Name, Name] = Field(
        default_factory=dict,
        description="format: mapped: further columns, and where each is in a row, as in $.meta.subject.",
    )
    columns: Columns = Field(default_factory=Columns, description="Which column plays which part.")
    form: Literal["long", "wide", "outcomes", "totals", "runs"] | None = Field(
        None,
        description="long: a metric and a value column; wide: a column for each metric; "
        "outcomes: a row for each answer to a problem; totals: a row for each score of a whole benchmark; "
        "runs: a row for each finished run, with the metrics that metrics names. A wide table without steps "
        "holds totals.",
    )
    wide: Literal["series", "benchmarks", "metrics"] | None = Field(
        None,
        description="What the columns of a wide table are: series, benchmarks or metrics; if left out, as "
        "their names or that of the column next to them show. A table with steps has series or metrics.",
    )
    interval: Literal["se", "ci95", "sd"] | None = Field(
        None,
        description="What the number after ± is: se, the standard error; ci95, half of a 95% CI; sd, the "
        "standard deviation of the n runs.",
    )
    repeat: Literal["last", "mean", "runs"] | None = Field(
        None,
        description="What several rows of one step of a run, or of one problem, are: last, mean or runs.",
    )
    score_range: tuple[Number, Number] = Field(
        (0.0, 1.0), description="Outcomes and totals: the lowest and the highest possible score."
    )
    statuses: dict[Name, Status] = Field(
        default_factory=dict,
        description="Outcomes: the status that each word of the data stands for, as in OOM: infrastructure.",
    )
    count: tuple[Status, ...] = Field(
        ("failed", "timed out", "truncated"),
        description="Outcomes: the statuses of answers that count as wrong where they have no score; answers "
        "of the others are left out, whatever their score.",
    )
    score_name: Name | dict[str, Name] | None = Field(
        None,
        description="Outcomes: what their score is called, or that of each benchmark; as the harness says it "
        "if left out.",
    )
    lower_is_better: bool | tuple[Name, ...] | None = Field(
        None,
        description="Totals and curves: whether a smaller value is better: true, or the benchmarks or "
        "metrics on which it is; inferred from the harness, the study or their names if left out.",
    )
    protocol: Protocol = Field(
        default_factory=Protocol, description="Outcomes and totals: how they were measured, for all series."
    )
    protocols: dict[str, Protocol] = Field(
        default_factory=dict, description="Outcomes and totals: what was different for a series, by its name."
    )
    metrics: tuple[Name, ...] | None = Field(None, description="Only these metrics.")
    rename: dict[str, Name] = Field(
        default_factory=dict, description="Series as written in the data: its name in the report."
    )
    labels: Labels = Field(default_factory=dict, description=LABELS)
    percent: tuple[Name, ...] = Field(
        (),
        description="Metrics that are shares and are written in percent, as in 84% for 0.84; also patterns "
        "such as accuracy/*.",
    )
    rename_metrics: dict[str, Name] = Field(
        default_factory=dict, description="Metric as written in the data: its name in the report."
    )
    rename_benchmarks: dict[str, Name] = Field(
        default_factory=dict,
        description="Outcomes and totals: benchmark as written in the data: its name in the report.",
    )
    unit: Literal["percent"] | dict[Name, Literal["percent"]] | None = Field(
        None,
        description="percent: the numbers are percentages, read as shares, as 12.3 is read as 0.123; or of "
        "which metrics of curves, or benchmarks of totals, they are.",
    )
    at_least: Number | dict[Name, Number] | None = Field(
        None,
        description="The smallest possible value of the metrics of curves, or of some: METRIC: NUMBER. "
        "Intervals of means stay above it, and a smaller value is an error.",
    )
    at_most: Number | dict[Name, Number] | None = Field(
        None, description="The largest possible value, likewise: 1 for shares, also those of unit: percent."
    )
    filter: dict[str, CellValue | tuple[CellValue, ...]] = Field(
        default_factory=dict, description="Only rows whose column has this value, or one of these."
    )

    models: dict[Name, ModelName] = Field(
        default_factory=dict, description="For export: the model of a series, as organisation/name."
    )
    hub: dict[Name, HubTask] = Field(
        default_factory=dict,
        description="For export: the dataset and task of a benchmark on the Hugging Face Hub.",
    )
    colours: Colours = Field(default_factory=dict, description=COLOURS)
    accept: Accepted = Field(default_factory=dict, description=ACCEPT)

    @model_validator(mode="after")
    def _check_mapping(self) -> SourceSettings:
        if self.format != "mapped" and (self.rows or self.fields):
            raise ValueError("rows and fields go with format: mapped")
        if self.format == "mapped" and not (self.fields or self.columns.model_dump(exclude_none=True)):
            raise ValueError("format: mapped needs columns, as in columns: {problem: $.id, score: $.correct}")
        return self

    @model_validator(mode="after")
    def _check_runs(self) -> SourceSettings:
        if self.form == "runs":
            if not self.metrics:
                raise ValueError("form: runs needs metrics, as in metrics: [loss, accuracy]")
            if {*self.columns.model_dump(exclude_none=True)} - {"series", "run", "seed"}:
                raise ValueError("form: runs has columns of series, run and seed; others are settings")
            if self.series_from or self.seed_from or self.run_from:
                raise ValueError("form: runs reads a table; name runs by columns, as in {series: model}")
        return self

    @model_validator(mode="after")
    def _check_lines(self) -> SourceSettings:
        if (self.format == "lines") != (self.lines is not None):
            raise ValueError("format: lines goes with lines, as in lines: step:{step} loss:{loss}")
        for pattern in self.list_lines():
            names = list(filter(None, re.findall(r"\{([^{}]*)\}", pattern)))
            if len({*names}) < len(names) or "step" not in names or len(names) == 1:
                raise ValueError("lines must name {step} and other numbers, each once")
        return self

    @model_validator(mode="after")
    def _check_score_range(self) -> SourceSettings:
        if not self.score_range[0] < self.score_range[1]:
            raise ValueError("score_range must begin with the smaller number")
        if self.unit and "score_range" in self.model_fields_set:
            raise ValueError("unit: percent reads scores as shares, from 0 to 1: leave out score_range")
        return self

    @model_validator(mode="after")
    def _check_ends(self) -> SourceSettings:
        for name in self.list_bounded(""):
            low, high = self.find_ends(name) or (-math.inf, math.inf)
            of = f" of {name}" if name else ""
            if not low < high:
                raise ValueError(f"at_most{of} must be above at_least, {low:g}")
            percent = name in self.unit if isinstance(self.unit, dict) else self.unit
            if percent and 1 < high < math.inf:
                raise ValueError(f"at_most{of} is {high:g}, and unit: percent reads shares: say 1")
        return self

    def list_bounded(self, *metrics: str) -> tuple[str, ...]:
        """Return these metrics and those that ``at_least`` and ``at_most`` name."""
        named = (one for one in (self.at_least, self.at_most) if isinstance(one, dict))
        return tuple(dict.fromkeys(chain(metrics, *named)))

    def find_ends(self, metric: str) -> tuple[float, float] | None:
        """Return the smallest and largest possible value of a metric of curves, ±inf if open on one side."""
        given = (one.get(metric) if isinstance(one, dict) else one for one in (self.at_least, self.at_most))
        low, high = given
        if low is None and high is None:
            return None
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)

    @property
    def caution(self) -> str:
        """What readers have to know of the numbers: that they are illustrative, why they are not exact."""
        return ": ".join(filter(None, ("illustrative" if self.illustrative else "", self.approximate)))

    def add_labels(self, labels: Mapping[str, str]) -> SourceSettings:
        """Return the settings with these short names, which go before names that ``rename`` gives."""
        renamed = {old: labels.get(new, new) for old, new in self.rename.items()}
        return self.model_copy(update={"labels": {**self.labels, **labels}, "rename": {**labels, **renamed}})

    def list_lines(self) -> tuple[str, ...]:
        """Return the patterns of lines; empty without any."""
        return (self.lines,) if isinstance(self.lines, str) else self.lines or ()

    def list_percent(self, metrics: Sequence[str]) -> frozenset[str]:
        """Return which of these metrics are written in percent."""
        return frozenset(choose_names(self.percent, metrics).names if self.percent else ())

    def resolve_directions(self, metrics: Iterable[str], logged: Mapping[str, bool]) -> dict[str, bool]:
        """Return whether higher is better for metrics of curves: as stated, otherwise as logged.

        A list of metrics says of the others that higher is better, unless their names say something else.
        """
        lower, found = self.lower_is_better, dict(logged)
        for metric in metrics if lower is not None else ():
            known = guess_direction(metric)
            if isinstance(lower, tuple):
                found |= {metric: metric not in lower} if metric in lower or known is None else {}
            elif known is not Direction.NEITHER:
                found[metric] = not lower
        return found

    def get_protocol(self, series: str) -> Protocol:
        """How a series was measured: what ``protocols`` says of it goes before ``protocol``."""
        own = self.protocols.get(series, Protocol())
        return self.protocol.model_copy(update={name: value for name, value in own if value is not None})
