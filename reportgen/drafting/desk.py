"""What every block is drawn from: sources, their curves and facts, the palette, what earlier drafts drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.drafting.answers import format_step_title
from reportgen.drafting.notes import list_notes
from reportgen.figures.wanted import DrawContext
from reportgen.narrative.ranking import get_ranked_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.cache import Cache
    from reportgen.drafting.answers import CurveResult, ResultsStore
    from reportgen.drafting.colours import SeriesColours
    from reportgen.drafting.kept_subjects import SubjectStore
    from reportgen.drafting.project import Project
    from reportgen.drafting.skeletons import SpecCache
    from reportgen.errors import SourceLocation
    from reportgen.model import Source
    from reportgen.settings.front_matter import Benchmark


@dataclass(frozen=True, slots=True)
class DrawInputs:
    """The materials of a draft, gathered before the first block is drawn."""

    project: Project
    sources: Mapping[str, Source]
    answers: ResultsStore
    subjects: SubjectStore
    colours: SeriesColours
    cache: Cache
    spec_cache: SpecCache

    def make_context(
        self, place: SourceLocation, source: str, answer: CurveResult, benchmark: Benchmark | None
    ) -> DrawContext:
        """What a figure of one source needs to know beyond its numbers."""
        opened = self.sources[source]
        ranked = benchmark is not None and benchmark.source == source
        return DrawContext(
            place=place,
            slots=self.colours.slots,
            higher_is_better=benchmark.higher_is_better if ranked and benchmark else None,
            ranked_by=get_ranked_metric(benchmark, opened),
            step_title=format_step_title(answer.step_name),
            step_is_time=answer.step_is_time,
            source=opened.settings.title or source,
            approximate=opened.settings.approximate,
            get_chart_spec=self.spec_cache,
            notes=list_notes(opened),
        )
