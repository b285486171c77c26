"""Points that a figure marks because something is said of them: observations, and claims by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.drafting.plan import OBSERVATIONS, PlannedStatement
from reportgen.settings.blocks import Annotation
from reportgen.statements import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.drafting.desk import DrawInputs
    from reportgen.drafting.plan import PlannedBlock
    from reportgen.settings.blocks import CurveSettings
    from reportgen.statements import Fact, Scale

_WITH_NUMBER = {Quantity.VALUE, Quantity.DIFFERENCE}
"""Facts whose number belongs beside their point; where a step stands is seen."""
_MOST = 6
"""More observations than this would hide what they point at."""


def mark_points(planned: PlannedBlock, settings: CurveSettings, inputs: DrawInputs) -> tuple[Annotation, ...]:
    """What a figure wants marked, each point once: its claims, then the most telling observations.

    Raises:
        ReportError: what the data have wrong, or a claim that cannot be read.
    """
    found = [*_mark_claims(planned, inputs)]
    if OBSERVATIONS in settings.annotate:
        found += list(_mark_observations(planned, inputs))[:_MOST]
    taken = {(note.x, note.series) for note in settings.annotations}
    marked: dict[tuple[float, str | None], Annotation] = {}
    for note in found:
        if (note.x, note.series) not in taken:
            marked.setdefault((note.x, note.series), note)
    return tuple(marked.values())


def _mark_claims(planned: PlannedBlock, inputs: DrawInputs) -> Iterator[Annotation]:
    from reportgen.drafting.statements import judge_statement  # noqa: PLC0415 - only where something is stated

    for claim in planned.claims:
        (topic,) = planned.topics
        judgement = judge_statement(PlannedStatement(planned.page, claim, 0, topic), inputs)
        scale = inputs.subjects.get_subject(topic, claim.location).scale
        for fact in judgement.facts:
            if fact.step is not None and fact.series:
                yield Annotation(x=fact.step, text=_label(fact, scale), series=fact.series[0])


def _mark_observations(planned: PlannedBlock, inputs: DrawInputs) -> Iterator[Annotation]:
    from reportgen.drafting.observing import find_observations  # noqa: PLC0415 - as above

    for one in find_observations(planned.topics, planned.block.location, inputs.answers, inputs.sources):
        if one.mark is not None and one.label:
            yield Annotation(x=one.mark, text=one.label, series=one.mark_series)


def _label(fact: Fact, scale: Scale) -> str:
    """Two or three words: ``peak 0.84``."""
    from reportgen.facts.fact_words import format_fact_value  # noqa: PLC0415 - as above

    name = fact.name.replace("_", " ").removesuffix(" step")
    return f"{name} {format_fact_value(fact, scale)}".strip() if fact.quantity in _WITH_NUMBER else name
