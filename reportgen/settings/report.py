"""A report: what ``mkdocs.yml`` and the front matter of its pages may say to reportgen, and where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from reportgen.settings.base import Name, Settings
from reportgen.settings.citation import Citation

if TYPE_CHECKING:
    from pathlib import Path


class Benchmark(Settings):
    """A benchmark: what was measured, for a page and for the overview."""

    name: Name = Field(description="The benchmark's name.")
    source: Name = Field(description="A file or folder of data/.")
    metric: Name | None = Field(
        None,
        description="The metric that ranks the series; the only one if left out. For outcomes: mean if left "
        "out, or avg@N, pass@K, maj@K, pass^K with a number.",
    )
    benchmark: Name | None = Field(
        None,
        description="Only rows of this benchmark, where the data have a benchmark column; the name if left "
        "out.",
    )
    baseline: Name | None = Field(
        None, description="For outcomes: the series that the others are held against."
    )
    page: Name | None = Field(None, description="Path of its page below content/; generated if left out.")
    higher_is_better: bool | None = Field(
        None, description="Whether a larger value is better; told by the metric's name if left out."
    )
    description: str | None = Field(None, description="One sentence about it.")
    date: str | None = Field(None, description="When it was measured.")
    protocol: str | None = Field(None, description="How it was measured, in a few words.")

    _line: int | None = PrivateAttr(None)

    @property
    def line(self) -> int | None:
        """The 1-based line of its name in the file that declares it, where that is known."""
        return self._line

    def place_at_line(self, line: int | None) -> Benchmark:
        """The same benchmark, declared at a line."""
        placed = self.model_copy()
        placed._line = line  # noqa: SLF001 - its own
        return placed


class FrontMatter(Settings):
    """The keys of a page's front matter that reportgen reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: str | None = Field(None, description="The page's title.")
    description: str | None = Field(None, description="One sentence that answers: what happened?")
    benchmark: Benchmark | None = Field(None, description="The benchmark this page is about.")
    benchmarks: tuple[Benchmark, ...] = Field((), description="Benchmarks that get a page of their own.")


class ProjectSettings(Settings):
    """Settings of the whole report."""

    data_dir: Name = Field("data", description="The folder with the data, relative to mkdocs.yml.")
    allow_code: bool = Field(
        False, description="Run the functions that altair blocks name. A pull request may bring them."
    )
    follow_links: bool = Field(
        False,
        description="Follow links in the data folder that lead out of the git repository. A pull request may "
        "bring some.",
    )
    untrusted: bool = Field(
        False,
        description="Refuse what could run code in a reader's browser or on the machine that builds: for "
        "pages of people you do not know.",
    )
    benchmarks: tuple[Benchmark, ...] = Field((), description="Benchmarks; each without a page gets one.")
    series: dict[Name, int] = Field(
        default_factory=dict, description="Series name: its place in the palette, 1 to 8."
    )
    citation: Citation | None = Field(None, description="How the report is cited: authors, licence, DOI.")

    @model_validator(mode="after")
    def _check_untrusted(self) -> ProjectSettings:
        for name in ("allow_code", "follow_links"):
            if self.untrusted and getattr(self, name):
                raise ValueError(f"{name}: true and untrusted: true exclude each other")
        return self


class Project(Struct, frozen=True):
    """A report on disk."""

    root: Path  # the folder of mkdocs.yml
    content_dir: str  # relative to root
    page_paths: tuple[str, ...]  # Markdown files below content_dir, in the order of the report
    settings: ProjectSettings
