"""Points that a figure marks because something is said of them: observations, and claims by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.drafting.plan import OBSERVATIONS, PlannedStatement
from reportgen.settings.blocks import Annotation
from reportgen.statements import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.drafting.desk import Desk
    from reportgen.drafting.plan import PlannedBlock
    from reportgen.settings.blocks import CurveSettings
    from reportgen.statements import Fact, Scale

_TOLD = {Quantity.VALUE, Quantity.DIFFERENCE}
"""Facts whose number belongs beside their point; where a step stands is seen."""
_MOST = 6
"""More observations than this would hide what they point at."""


def marked_points(planned: PlannedBlock, settings: CurveSettings, desk: Desk) -> tuple[Annotation, ...]:
    """What a figure wants marked, each point once: its claims, then the most telling observations.

    Raises:
        ReportError: what the data have wrong, or a claim that cannot be read.
    """
    found = [*_claims(planned, desk)]
    if OBSERVATIONS in settings.annotate:
        found += list(_observations(planned, desk))[:_MOST]
    taken = {(note.x, note.series) for note in settings.annotations}
    marked: dict[tuple[float, str | None], Annotation] = {}
    for note in found:
        if (note.x, note.series) not in taken:
            marked.setdefault((note.x, note.series), note)
    return tuple(marked.values())


def _claims(planned: PlannedBlock, desk: Desk) -> Iterator[Annotation]:
    from reportgen.drafting.statements import judgement_of  # noqa: PLC0415 - only where something is stated

    for claim in planned.claims:
        (topic,) = planned.topics
        judgement = judgement_of(PlannedStatement(planned.page, claim, 0, topic), desk)
        scale = desk.subjects.of(topic, claim.place).scale
        for fact in judgement.facts:
            if fact.step is not None and fact.series:
                yield Annotation(x=fact.step, text=_label(fact, scale), series=fact.series[0])


def _observations(planned: PlannedBlock, desk: Desk) -> Iterator[Annotation]:
    from reportgen.drafting.observing import observed  # noqa: PLC0415 - as above

    for one in observed(planned.topics, planned.block.place, desk.answers, desk.sources):
        if one.mark is not None and one.label:
            yield Annotation(x=one.mark, text=one.label, series=one.mark_series)


def _label(fact: Fact, scale: Scale) -> str:
    """Two or three words: ``peak 0.84``."""
    from reportgen.facts.fact_words import found_words  # noqa: PLC0415 - as above

    name = fact.name.replace("_", " ").removesuffix(" step")
    return f"{name} {found_words(fact, scale)}".strip() if fact.quantity in _TOLD else name
