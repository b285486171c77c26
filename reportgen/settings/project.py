"""What the ``reportgen`` plugin of ``mkdocs.yml`` may say."""

from __future__ import annotations

from pydantic import Field

from reportgen.settings.base import Name, Settings
from reportgen.settings.front_matter import Benchmark


class ProjectSettings(Settings):
    """Settings of the whole report."""

    data_dir: Name = Field("data", description="The folder with the data, relative to mkdocs.yml.")
    allow_code: bool = Field(
        False, description="Run the functions that altair blocks name. A pull request may bring them."
    )
    benchmarks: tuple[Benchmark, ...] = Field((), description="Benchmarks; each without a page gets one.")
    series: dict[Name, int] = Field(
        default_factory=dict, description="Series name: its place in the palette, 1 to 8."
    )
