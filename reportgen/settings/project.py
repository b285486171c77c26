"""What the ``reportgen`` plugin of ``mkdocs.yml`` may say."""

from __future__ import annotations

from pydantic import Field, model_validator

from reportgen.settings.base import Name, Settings
from reportgen.settings.front_matter import Benchmark


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

    @model_validator(mode="after")
    def _check_untrusted(self) -> ProjectSettings:
        for name in ("allow_code", "follow_links"):
            if self.untrusted and getattr(self, name):
                raise ValueError(f"{name}: true and untrusted: true exclude each other")
        return self
