"""A report: what ``mkdocs.yml`` and the front matter of its pages may say to reportgen, and where it is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import Struct
from pydantic import ConfigDict, Field, PrivateAttr, StringConstraints, field_validator, model_validator

from reportgen.settings.base import (
    ACCEPT,
    COLOURS,
    LABELS,
    PDF,
    Accepted,
    Colours,
    Labels,
    Name,
    Settings,
    Sources,
    name_joined,
    refuse_repeated_source,
)
from reportgen.settings.citation import Citation

if TYPE_CHECKING:
    from pathlib import Path

# Of the forms of ISO 8601 those of RFC 3339, where it leaves no doubt which moment is meant.
_DATE: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2}))?"
)
# RFC 4151: who names, a date when the name was theirs, and what they name.
_TAG: Final = r"^tag:[a-z0-9][a-z0-9._@-]*,[0-9]{4}(-[0-9]{2}){0,2}:[A-Za-z0-9._~!$&'()*+,;=:@/?%-]+$"


def read_moment(date: str) -> datetime:
    """The moment of a date, such as 2026-11-20, at 00:00 UTC, or of a date and time with offset.

    Raises a ValueError if it is neither.
    """
    if not _DATE.fullmatch(date):
        raise ValueError(date)
    moment = datetime.fromisoformat(date)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Benchmark(Settings):
    """A benchmark: what was measured, for a page and for the overview."""

    name: Name = Field(description="The benchmark's name.")
    source: Sources = Field(description="A file or folder of data/, or a list of several.")
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
        None, description="For outcomes: the series that the others are compared with."
    )
    page: Name | None = Field(None, description="Path of its page below content/; generated if left out.")
    higher_is_better: bool | None = Field(
        None, description="Whether a larger value is better; inferred from the metric's name if left out."
    )
    description: str | None = Field(None, description="One sentence about it.")
    date: str | None = Field(None, description="When it was measured.")
    protocol: str | None = Field(None, description="How it was measured, in a few words.")

    _line: int | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _check_sources(self) -> Benchmark:
        refuse_repeated_source(self.sources)
        return self

    @property
    def sources(self) -> tuple[str, ...]:
        """Its sources, usually one."""
        return (self.source,) if isinstance(self.source, str) else self.source

    @property
    def source_name(self) -> str:
        """The name of its source, or of several together."""
        return name_joined(self.sources)

    @property
    def line(self) -> int | None:
        """The 1-based line of its name in the file that declares it, where that is known."""
        return self._line

    def place_at_line(self, line: int | None) -> Benchmark:
        """The same benchmark, declared at a line."""
        placed = self.model_copy()
        placed._line = line  # noqa: SLF001 - its own
        return placed


class PageSearch(Settings):
    """What search does with a page; themes have other keys, too."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    exclude: bool = Field(False, description="Leave the page out of the search.")


class FrontMatter(Settings):
    """The keys of a page's front matter that reportgen reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: str | None = Field(None, description="The page's title.")
    description: str | None = Field(None, description="One sentence that answers: what happened?")
    date: str | None = Field(
        None, description="When the page was published, such as 2026-11-20; it is then an entry of the feed."
    )
    draft: bool = Field(False, description="Show the page in reportgen serve only.")
    tags: tuple[Name, ...] = Field((), description="Words that group pages; a page Tags lists them.")
    search: PageSearch = Field(default_factory=PageSearch, description="What search does with the page.")
    benchmark: Benchmark | None = Field(None, description="The benchmark this page is about.")
    benchmarks: tuple[Benchmark, ...] = Field((), description="Benchmarks that get a page of their own.")
    labels: Labels = Field(default_factory=dict, description=LABELS)
    accept: Accepted = Field(default_factory=dict, description=ACCEPT)

    @field_validator("date")
    @classmethod
    def _check_date(cls, date: str | None) -> str | None:
        if date is None:
            return None
        try:
            moment = read_moment(date)
        except ValueError:
            message = (
                f'"date: {date[:50]}" is neither a date such as 2026-11-20 nor a date and time with offset'
            )
            raise ValueError(message) from None
        return date if ":" not in date else moment.isoformat()


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
    documents: tuple[Name, ...] = Field(
        (),
        description="Markdown and LaTeX files outside the site to check, as patterns: paper/*.tex.",
    )
    series: dict[Name, int] = Field(
        default_factory=dict, description="Series name: its place in the palette, 1 to 8."
    )
    colours: Colours = Field(default_factory=dict, description=COLOURS)
    pdf: bool = Field(False, description=PDF)
    llms_full: bool = Field(False, description="Write llms-full.txt: all pages as Markdown in one file.")
    variables: dict[str, Any] = Field(
        default_factory=dict, description="Values that pages write as {{ name }}; also those of extra:."
    )
    citation: Citation | None = Field(None, description="How the report is cited: authors, licence, DOI.")
    feed_id: Annotated[str, StringConstraints(pattern=_TAG, max_length=200)] | None = Field(
        None,
        description="A tag URI such as tag:example.org,2026:scaling, by which feed readers know the report "
        "wherever it moves; made of the site's host and site_name if left out.",
    )

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
    macros: bool = False  # whether another plugin replaces what is left between {{ and }}
    skips_code: bool = False  # whether charts of functions stay empty, as the report is from elsewhere
    documents: tuple[str, ...] = ()  # text files with statements, relative to root
