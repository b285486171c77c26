"""What rules and claims find in data: blocks of observations, and the points that a figure marks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.blocks.draw_inputs import list_cautions
from reportgen.blocks.plan import OBSERVATIONS, PlannedStatement
from reportgen.blocks.results import MOST_COMPARED, place_score_errors
from reportgen.blocks.subjects import describe_topic, link_topic, make_curve_scale, make_score_scale
from reportgen.claims.expressions.faults import ExpressionError
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import CurveRequest, Observations, ScoreRequest
from reportgen.core.statements import Quantity
from reportgen.core.words import format_count, join_names
from reportgen.settings.blocks import Annotation, Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.blocks.draw_inputs import DrawInputs
    from reportgen.blocks.plan import PlannedBlock
    from reportgen.blocks.results import ResultsStore
    from reportgen.claims.expressions.faults import Fault
    from reportgen.claims.facts.vocabulary import Subject
    from reportgen.core.errors import SourceLocation
    from reportgen.core.statements import Binding, Fact, Judgement, Observation, Scale
    from reportgen.narrative.topics import Topic
    from reportgen.settings.blocks import CurveSettings, ObservationsSettings
    from reportgen.settings.inputs import Source


def draw_observations(
    planned: PlannedBlock, settings: ObservationsSettings, inputs: DrawInputs
) -> Observations:
    """An ``observations`` block: the most telling sentences first.

    Raises:
        ReportError: what the data have wrong.
    """
    found = find_observations(
        planned.topics, planned.block.location, inputs.answers, inputs.sources, settings.rules
    )
    sources = dict.fromkeys(topic.request.source for topic in planned.topics)
    titles = join_names([inputs.sources[name].settings.title or name for name in sources])
    caution = list_cautions(inputs.sources[name] for name in sources)
    sentence = "Sentences made by rules from the data, each with what it rests on."
    if not found:
        sentence = "No rule has found anything to say."
    more = max(0, len(found) - settings.count)
    left_out = f" {format_count(more, 'further one is', 'further ones are')} left out." if more else ""
    caption = f"{sentence}{left_out} Source: {titles}{caution}."
    return Observations(
        id=planned.block.id,
        title=settings.title or "Observations",
        items=found[: settings.count],
        caption=" ".join(filter(None, [settings.caption, caption])),
        more=more,
    )


def find_observations(
    topics: Sequence[Topic],
    place: SourceLocation,
    answers: ResultsStore,
    sources: Mapping[str, Source],
    rules: Collection[Rule] = (),
) -> tuple[Observation, ...]:
    """What the rules find about some topics, most telling first, each linked to its figure.

    The topics are of one block, since the metrics of panels are looked at together; of the rules only
    ``rules``, all if empty.

    Raises:
        ReportError: what the data have wrong.
    """
    several = len(topics) > 1
    found = [
        (one, topic)
        for topic in topics
        if isinstance(topic.request, ScoreRequest)
        for one in _find_in_scores(topic.request, place, answers, rules)
    ]
    found += _find_in_curves(topics, place, answers, sources, rules)
    # Two metrics that part company are both named in the sentence.
    return tuple(
        _add_link(_add_name(one, topic, sources) if several and one.rule != Rule.PART_COMPANY else one, topic)
        for one, topic in found
    )


def _find_in_curves(
    topics: Sequence[Topic],
    place: SourceLocation,
    answers: ResultsStore,
    sources: Mapping[str, Source],
    rules: Collection[Rule],
) -> Iterator[tuple[Observation, Topic]]:
    """What is found in all of them together, each with the topic that it is about.

    Raises:
        ReportError: there are too many series to hold each against each other.
    """
    from reportgen.claims.observations.choosing import observe_curves as found_in  # noqa: PLC0415 - computes

    fields, precisions = [], []
    about: dict[str, Topic] = {}
    for topic in topics:
        if isinstance(topic.request, CurveRequest):
            answer = answers.get_every_step(topic.request)
            count = len(answer.curve_set.curves)
            if count > MOST_COMPARED:
                said = f"observations compare every pair, and {count:,} series are too many for that"
                step = f"Keep {MOST_COMPARED:,} at most with series: in the figure, or filter: in source.yml"
                raise ReportError(Diagnostic(place, said, step, Stage.DATA))
            scale = make_curve_scale(topic, answer.step_name, is_time=answer.step_is_time)
            fields.append((answer.curve_set, scale))
            precisions.append(sources[topic.request.source].settings.precision or 0.0)
            about.setdefault(scale.metric, topic)
    for one in found_in(fields, rules, precisions) if fields else ():
        yield one, about[one.metric]


def _find_in_scores(
    request: ScoreRequest, place: SourceLocation, answers: ResultsStore, rules: Collection[Rule]
) -> tuple[Observation, ...]:
    from reportgen.claims.observations.choosing import observe_scores  # noqa: PLC0415 - as above

    with place_score_errors(place):
        scored = answers.score_benchmark(request)
        scale = make_score_scale(request, scored.problems.lowest, scored.problems.highest)
        return observe_scores(scored.scores, scored.comparisons, scored.groups, scale, rules)


def _add_name(one: Observation, topic: Topic, sources: Mapping[str, Source]) -> Observation:
    """An observation that begins with what it is about, since its neighbours are about something else."""
    starts_with_name = any(one.text.startswith(name) for name in one.series)
    text = one.text if starts_with_name else one.text[:1].lower() + one.text[1:]
    return replace(one, text=f"{describe_topic(topic, sources)}: {text}")


def _add_link(one: Observation, topic: Topic) -> Observation:
    """An observation with the state of the figure that shows it."""
    x = None if one.from_step is None or one.to_step is None else (one.from_step, one.to_step)
    mark = None if one.mark is None or one.mark_series is None else (one.mark, one.mark_series)
    return replace(one, figure=topic.figure, state=link_topic(topic, one.series, x, mark))


def judge_statement(planned: PlannedStatement, inputs: DrawInputs) -> Judgement:
    """What the data say to a statement.

    Raises:
        ReportError: every fault of its expression or of its words, each at its place.
    """
    binding = planned.binding
    try:
        return inputs.subjects.get_subject(planned.topic, binding.location).get_judgement(binding, _judge)
    except ExpressionError as error:
        raise ReportError(
            *(
                Diagnostic(_place(fault, planned), fault.message, fault.next_step, Stage.NARRATIVE)
                for fault in error.faults
            )
        ) from error


def _judge(binding: Binding, subject: Subject) -> Judgement:
    from reportgen.claims.judging.judge import judge  # noqa: PLC0415 - only where no earlier draft has judged it

    return judge(binding, subject)


def _place(fault: Fault, planned: PlannedStatement) -> SourceLocation:
    """Where a fault stands: in the expression if that begins on one line with it, otherwise at its start."""
    binding = planned.binding
    if fault.position < 0:
        return binding.location
    start = binding.expression_location
    lines = planned.page.text.split("\n")
    column = (start.column or 1) - 1
    before = lines[(start.line or 1) - 1][column : column + fault.position] if start.line else ""
    if before != binding.expression[: fault.position]:
        return start
    return replace(start, column=column + 1 + fault.position)


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

    for claim in planned.claims:
        (topic,) = planned.topics
        judgement = judge_statement(PlannedStatement(planned.page, claim, 0, topic), inputs)
        scale = inputs.subjects.get_subject(topic, claim.location).scale
        for fact in judgement.facts:
            if fact.step is not None and fact.series:
                yield Annotation(x=fact.step, text=_label(fact, scale), series=fact.series[0])


def _mark_observations(planned: PlannedBlock, inputs: DrawInputs) -> Iterator[Annotation]:

    for one in find_observations(planned.topics, planned.block.location, inputs.answers, inputs.sources):
        if one.mark is not None and one.label:
            yield Annotation(x=one.mark, text=one.label, series=one.mark_series)


def _label(fact: Fact, scale: Scale) -> str:
    """Two or three words: ``peak 0.84``."""
    from reportgen.claims.facts.fact_words import format_fact_value  # noqa: PLC0415 - as above

    name = fact.name.replace("_", " ").removesuffix(" step")
    return f"{name} {format_fact_value(fact, scale)}".strip() if fact.quantity in _WITH_NUMBER else name
