"""What every block is drawn from: sources, their curves and facts, the palette, what earlier drafts drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.drafting.answers import step_title
from reportgen.drafting.notes import notes_of
from reportgen.figures.wanted import Context
from reportgen.narrative.ranking import ranked_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.cache import Cache
    from reportgen.drafting.answers import Answer, Answers
    from reportgen.drafting.colours import Colours
    from reportgen.drafting.kept_subjects import Subjects
    from reportgen.drafting.project import Project
    from reportgen.drafting.skeletons import Skeletons
    from reportgen.errors import Place
    from reportgen.model import Source
    from reportgen.settings.front_matter import Benchmark


@dataclass(frozen=True, slots=True)
class Desk:
    """The materials of a draft, gathered before the first block is drawn."""

    project: Project
    sources: Mapping[str, Source]
    answers: Answers
    subjects: Subjects
    colours: Colours
    cache: Cache
    skeletons: Skeletons

    def context(self, place: Place, source: str, answer: Answer, benchmark: Benchmark | None) -> Context:
        """What a figure of one source needs to know beyond its numbers."""
        opened = self.sources[source]
        ranked = benchmark is not None and benchmark.source == source
        return Context(
            place=place,
            slots=self.colours.slots,
            higher_is_better=benchmark.higher_is_better if ranked and benchmark else None,
            ranked_by=ranked_metric(benchmark, opened),
            step_title=step_title(answer.step_name),
            step_is_time=answer.step_is_time,
            source=opened.settings.title or source,
            approximate=opened.settings.approximate,
            skeleton_of=self.skeletons,
            notes=notes_of(opened),
        )
