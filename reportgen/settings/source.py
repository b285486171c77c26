"""What ``data/<source>/source.yml`` may say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from reportgen.settings.base import Name, Settings
from reportgen.settings.blocks import Cell


class Columns(Settings):
    """Which column plays which part, where the usual names are not used."""

    series: Name | None = Field(None, description="The column that names the series.")
    run: Name | None = Field(None, description="The column that names the run.")
    seed: Name | None = Field(None, description="The column with the seed.")
    step: Name | None = Field(None, description="The column used as x.")
    metric: Name | None = Field(None, description="Long form: the column that names the metric.")
    value: Name | None = Field(None, description="Long form: the column with the value.")
    low: Name | None = Field(None, description="Lower end of an interval that the data already have.")
    high: Name | None = Field(None, description="Upper end of an interval that the data already have.")
    stderr: Name | None = Field(None, description="Standard error that the data already have.")
    std: Name | None = Field(None, description="Standard deviation over n that the data already have.")
    n: Name | None = Field(None, description="Number of runs behind std.")


class Provenance(Settings):
    """Where the data came from."""

    code: str | None = Field(None, description="URL of the code that made the data.")
    commit: str | None = Field(None, description="The commit of that code.")
    licence: str | None = Field(None, description="Licence of the data.")
    date: str | None = Field(None, description="When the data were made.")
    note: str | None = Field(None, description="Anything else a reader should know.")


class SourceSettings(Settings):
    """A source: which files, which columns, and where they came from."""

    title: Name | None = Field(None, description="The source's name for readers.")
    description: str | None = Field(None, description="What was measured.")
    approximate: str | None = Field(
        None, description="Say so where numbers are not exact, such as: digitised from a figure."
    )
    provenance: Provenance = Field(default_factory=Provenance, description="Where the data came from.")
    files: Name | tuple[Name, ...] | None = Field(
        None, description="File names or patterns below the source's folder; all data files if left out."
    )
    format: Literal["csv", "tsv", "jsonl", "json", "parquet"] | None = Field(
        None, description="Read every file as this format, whatever its name."
    )
    columns: Columns = Field(default_factory=Columns, description="Which column plays which part.")
    form: Literal["long", "wide"] | None = Field(
        None, description="long: a metric and a value column; wide: a column for each metric."
    )
    metrics: tuple[Name, ...] | None = Field(None, description="Only these metrics.")
    rename: dict[str, Name] = Field(
        default_factory=dict, description="Series as written in the data: its name in the report."
    )
    rename_metrics: dict[str, Name] = Field(
        default_factory=dict, description="Metric as written in the data: its name in the report."
    )
    filter: dict[str, Cell | tuple[Cell, ...]] = Field(
        default_factory=dict, description="Only rows whose column has this value, or one of these."
    )
