"""What facts are about, made from the curves or scores of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.drafting.answers import format_step_title, use_every_step
from reportgen.drafting.score_answers import ScoreErrorsAt
from reportgen.figures.link_states import write_link_state
from reportgen.model import CurveRequest, ScoreRequest
from reportgen.narrative.score_requests import name_benchmark
from reportgen.statements import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.drafting.answers import ResultsStore
    from reportgen.drafting.plan import Plan
    from reportgen.errors import SourceLocation
    from reportgen.facts.subject import Subject
    from reportgen.model import Request, Source
    from reportgen.narrative.topics import Topic

_PERCENT = (0.0, 100.0)


def list_requests(plan: Plan) -> tuple[Request, ...]:
    """Every request of a plan with those of its statements and observations, which want every step."""
    topics = [topic.request for topic in plan.topics]
    exact = [use_every_step(request) for request in topics if isinstance(request, CurveRequest)]
    return tuple(dict.fromkeys((*plan.requests, *topics, *exact)))


def make_subject(topic: Topic, place: SourceLocation, answers: ResultsStore) -> Subject:
    """The subject of a topic, from data that are read if they were not yet.

    Raises:
        ReportError: what the data have wrong, or do not give, told at ``place``.
    """
    request = topic.request
    if isinstance(request, ScoreRequest):
        from reportgen.facts.score_facts import ScoreSubject  # noqa: PLC0415 - only where something is computed

        with ScoreErrorsAt(place):
            scored = answers.scores.score_benchmark(request)
            return ScoreSubject(
                scored.scores,
                scored.comparisons,
                scored.groups,
                make_score_scale(request, scored.problems.lowest, scored.problems.highest),
            )
    from reportgen.facts.curve_facts import CurveSubject  # noqa: PLC0415 - as above

    answer = answers.get_every_step(request)
    return CurveSubject(
        answer.curve_set, make_curve_scale(topic, answer.step_name, is_time=answer.step_is_time)
    )


def make_curve_scale(topic: Topic, step_name: str, *, is_time: bool) -> Scale:
    """What the numbers of a topic's curves mean."""
    metric = topic.request.metric
    return Scale(
        metric=topic.title or metric,
        higher_is_better=topic.higher_is_better,
        step_name=format_step_title(step_name),
        step_is_time=is_time,
        percent="%" in metric,
    )


def make_score_scale(request: ScoreRequest, lowest: float, highest: float) -> Scale:
    """What the numbers of scores mean."""
    return Scale(
        metric=request.metric,
        higher_is_better=request.higher_is_better,
        step_name="",
        bounds=(lowest, highest),
        percent=(lowest, highest) == _PERCENT,
    )


def describe_topic(topic: Topic, sources: Mapping[str, Source]) -> str:
    """What statements of a topic are about, for their reader: the metric, and the benchmark of scores."""
    request = topic.request
    if isinstance(request, CurveRequest):
        return topic.title or request.metric
    metric = "score" if request.metric == "mean" else request.metric
    return f"{metric} on {name_benchmark(request, sources[request.source], None)}"


def link_topic(
    topic: Topic,
    series: tuple[str, ...],
    x: tuple[float, float] | None,
    mark: tuple[float, str] | None,
) -> str:
    """The fragment of the link that shows something in a topic's figure; empty where none shows it.

    Args:
        topic: what it is about; scores have no steps, and so neither range nor point.
        series: whom it is about.
        x: the range of steps to look at; a single step is none.
        mark: the step and series of the point to mark.
    """
    if not topic.figure:
        return ""
    if isinstance(topic.request, ScoreRequest):
        return write_link_state(topic.figure, series)
    return write_link_state(topic.figure, series, x if x and x[0] < x[1] else None, mark)
