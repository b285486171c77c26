"""The settings that every kind of block has."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from reportgen.settings.base import ACCEPT, Accepted, Name, Settings, refuse_repeated_source
from reportgen.settings.block_parts import Metrics, list_formulas

if TYPE_CHECKING:
    from collections.abc import Callable


class BlockSettings(Settings):
    """What every block may say."""

    # Kind of data that the block draws; without a source it takes that of the page's benchmark.
    data: ClassVar[Literal["", "curves", "scores"]] = ""
    # Whether statements can refer to the block.
    has_topics: ClassVar[bool] = False

    id: Name | None = Field(
        None,
        pattern=r"^[A-Za-z][A-Za-z0-9_-]*$",
        # Files are named after it, and file systems allow 255 characters with suffixes.
        max_length=100,
        description="The figure's id, for links; from the title if left out.",
    )
    title: Name | None = Field(None, description="What is shown.")
    caption: str | None = Field(None, description="Words put before the caption that reportgen writes.")
    accept: Accepted = Field(default_factory=dict, description=ACCEPT)

    @model_validator(mode="after")
    def _check_sources(self) -> BlockSettings:
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
        return self.model_copy(update={"metric": resolve(metric)}) if metric else self

    def list_figures(self, block_id: str) -> tuple[str, ...]:
        """The ids of its figures that statements can be about, its own first."""
        return (block_id,) if self.has_topics else ()

    def list_names(self) -> tuple[str, ...]:
        """Names for a block without an id, best first."""
        metrics = list_formulas(getattr(self, "metric", None)) if self.data == "curves" else ()
        return (self.title or "", " ".join(metrics))
