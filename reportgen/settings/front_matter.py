"""What the front matter of a page may say to reportgen; other keys belong to MkDocs and its themes."""

from __future__ import annotations

from pydantic import ConfigDict, Field, PrivateAttr

from reportgen.settings.base import Name, Settings


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
