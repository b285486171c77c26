"""What rules find in the data of figures: for blocks of observations, and for marks in figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.drafting.score_answers import MOST_COMPARED, ScoreErrorsAt
from reportgen.drafting.subjects import describe_topic, link_topic, make_curve_scale, make_score_scale
from reportgen.errors import Problem, ReportError, Stage
from reportgen.model import CurveRequest, Observations, ScoreRequest
from reportgen.settings.observation_blocks import Rule
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.drafting.answers import ResultsStore
    from reportgen.drafting.desk import DrawInputs
    from reportgen.drafting.plan import PlannedBlock
    from reportgen.errors import SourceLocation
    from reportgen.model import Source
    from reportgen.narrative.topics import Topic
    from reportgen.settings.observation_blocks import ObservationsSettings
    from reportgen.statements import Observation


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
    titles = [inputs.sources[name].settings.title or name for name in sources]
    cautions = dict.fromkeys(
        said for name in sources if (said := inputs.sources[name].settings.approximate) is not None
    )
    caution = f" ({', '.join(cautions)})" if cautions else ""
    sentence = "Sentences made by rules from the data, each with what it rests on."
    if not found:
        sentence = "No rule has found anything to say."
    more = max(0, len(found) - settings.count)
    left_out = f" {format_count(more, 'further one is', 'further ones are')} left out." if more else ""
    caption = f"{sentence}{left_out} Source: {join_names(titles)}{caution}."
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

    Args:
        topics: of one block: the metrics of panels are looked at together.
        place: who asks, for problems.
        answers: the data.
        sources: every source, for the names of what is measured.
        rules: only these; all if empty.

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
    from reportgen.observations.choosing import observe_curves as found_in  # noqa: PLC0415 - computes

    fields, precisions = [], []
    about: dict[str, Topic] = {}
    for topic in topics:
        if isinstance(topic.request, CurveRequest):
            answer = answers.get_every_step(topic.request)
            count = len(answer.curve_set.curves)
            if count > MOST_COMPARED:
                said = f"observations compare every pair, and {count:,} series are too many for that"
                step = f"Keep {MOST_COMPARED:,} at most with series: in the figure, or filter: in source.yml"
                raise ReportError(Problem(place, said, step, Stage.DATA))
            scale = make_curve_scale(topic, answer.step_name, is_time=answer.step_is_time)
            fields.append((answer.curve_set, scale))
            precisions.append(sources[topic.request.source].settings.precision or 0.0)
            about.setdefault(scale.metric, topic)
    for one in found_in(fields, rules, precisions) if fields else ():
        yield one, about[one.metric]


def _find_in_scores(
    request: ScoreRequest, place: SourceLocation, answers: ResultsStore, rules: Collection[Rule]
) -> tuple[Observation, ...]:
    from reportgen.observations.choosing import observe_scores  # noqa: PLC0415 - as above

    with ScoreErrorsAt(place):
        scored = answers.scores.score_benchmark(request)
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
