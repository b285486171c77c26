"""Findings of rules and claims: blocks of observations, and the points that a figure marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Stage
from reportgen.core.model import CurveSet, Observations, ScoreRequest
from reportgen.core.statements import ExpressionError, Quantity, Scale
from reportgen.core.words import join_names, quote_names
from reportgen.draft.blocks.draw_inputs import (
    describe_topic,
    link_topic,
    list_cautions,
    make_curve_scale,
    make_score_scale,
)
from reportgen.draft.blocks.plan import PlannedBlock, PlannedStatement, find_topic
from reportgen.draft.blocks.results import MOST_COMPARED, place_score_errors
from reportgen.figures.text import name_line
from reportgen.narrative.requests import check_steps, make_requests
from reportgen.narrative.topics import find_topics, list_block_sources
from reportgen.settings.block_parts import Annotation, Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reportgen.core.errors import SourceLocation
    from reportgen.core.statements import Judgement, Observation
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.results import ResultsStore
    from reportgen.narrative.topics import Topic
    from reportgen.settings.block_parts import ObservationsSettings
    from reportgen.settings.blocks import CurveSettings
    from reportgen.settings.inputs import Block, Page, Source


_OBSERVATIONS = "observations"
"""Value of ``annotate`` for the observations of the figure."""
_MOST = 6
"""Most observations in a figure, since more would hide the curves."""
_WITH_NUMBER = {Quantity.VALUE, Quantity.DIFFERENCE}
"""Facts with their number in the label; the figure itself shows the position of a step."""


def plan_observations(
    block: Block, settings: ObservationsSettings, page: Page, sources: Mapping[str, Source]
) -> PlannedBlock:
    """Plan an ``observations`` block with its topics."""
    topics = find_topics(settings.of, page, sources, block.location)
    return PlannedBlock(page, block, list_block_sources(block, page), topics=topics)


def draw_observations(
    planned: PlannedBlock, settings: ObservationsSettings, inputs: DrawInputs
) -> Observations:
    """Draw an ``observations`` block, in the order of rules."""
    place = planned.block.location
    found = find_observations(planned.topics, place, inputs.answers, inputs.sources, settings.rules)
    sources = [inputs.sources[name] for name in dict.fromkeys(one.request.source for one in planned.topics)]
    titles = join_names([source.settings.title or source.name for source in sources])
    sentence = "Generated from the data" if found else "No rule has found anything to say"
    runs = describe_topic_runs(planned.topics, inputs.answers)
    more = max(0, len(found) - settings.count)
    left_out = f"; {more:,} more" if more else ""
    caption = f"{sentence}{left_out}. Source: {titles}{list_cautions(sources)}."
    return Observations(
        id=planned.block.id,
        title=settings.title or "Observations",
        items=found[: settings.count],
        caption=" ".join(filter(None, [runs, caption])),
        more=more,
    )


def describe_topic_runs(topics: Sequence[Topic], answers: ResultsStore) -> str:
    """Say of which series nothing is inferred for want of runs; nothing of scores."""
    from reportgen.claims.observations.choosing import describe_runs  # noqa: PLC0415 - computes

    requests = [topic.request for topic in topics if not isinstance(topic.request, ScoreRequest)]
    return describe_runs([answers.get_every_step(request).curve_set for request in requests])


def find_observations(
    topics: Sequence[Topic],
    place: SourceLocation,
    answers: ResultsStore,
    sources: Mapping[str, Source],
    rules: Collection[Rule] = (),
) -> tuple[Observation, ...]:
    """Find observations about some topics, in the order of rules, each linked to its figure.

    The topics belong to one block, since the metrics of panels are examined together. Only ``rules`` are
    applied, or all if empty. Raises ``ReportError`` if the data are invalid.
    """
    from reportgen.claims.observations.choosing import observe_curves, observe_scores  # noqa: PLC0415 - computes
    from reportgen.figures.curves.decimals import choose_precision  # noqa: PLC0415 - as above

    found: list[tuple[Observation, Topic]] = []
    curves: list[tuple[CurveSet, Scale]] = []
    precisions: list[float] = []
    about: dict[str, Topic] = {}
    for topic in topics:
        if isinstance(topic.request, ScoreRequest):
            with place_score_errors(place):
                scored = answers.score_benchmark(topic.request)
                scale = make_score_scale(topic.request, scored.problems.lowest, scored.problems.highest)
                observed = observe_scores(scored.scores, scored.comparisons, scored.groups, scale, rules)
            found += ((one, topic) for one in observed)
            continue
        check_steps(sources[topic.request.source], place, "an observation")
        result = answers.get_every_step(topic.request)
        if (count := len(result.curve_set.curves)) > MOST_COMPARED:
            said = f"observations compare every pair, and {count:,} series are too many for that"
            step = f"Keep {MOST_COMPARED:,} at most with series: in the figure, or filter: in source.yml"
            raise ReportError(Diagnostic(place, said, step, Stage.DATA))
        drawn = answers.get_curves(topic.request).curve_set.curves
        precision = choose_precision(drawn, percent=topic.percent)
        scale = replace(make_curve_scale(topic, result), precision=precision)
        curves.append((result.curve_set, scale))
        precisions.append(sources[topic.request.source].settings.precision or 0.0)
        about.setdefault(scale.metric, topic)
    if curves:
        found += ((one, about[one.metric]) for one in observe_curves(curves, rules, precisions))
    named = sources if len(topics) > 1 else None
    return tuple(_finish(one, topic, named) for one, topic in found)


def _finish(one: Observation, topic: Topic, sources: Mapping[str, Source] | None) -> Observation:
    """Add the figure that shows an observation, and its state.

    With ``sources``, start the sentence with its topic, since other observations have other topics; a
    sentence about two metrics that part company already names both.
    """
    if sources is not None and one.rule != Rule.PART_COMPANY:
        starts_with_name = any(one.text.startswith(name) for name in one.series)
        text = one.text if starts_with_name else one.text[:1].lower() + one.text[1:]
        one = replace(one, text=f"{describe_topic(topic, sources)}: {text}")
    x = None if one.from_step is None or one.to_step is None else (one.from_step, one.to_step)
    mark = None if one.mark is None or one.mark_series is None else (one.mark, one.mark_series)
    return replace(one, figure=topic.figure, state=link_topic(topic, one.series, x, mark))


def judge_statement(planned: PlannedStatement, inputs: DrawInputs) -> Judgement:
    """Judge a statement by the data.

    Raises ``ReportError`` with every fault in its expression or words, each at its location.
    """
    binding, start = planned.binding, planned.binding.expression_location

    def locate(position: int) -> SourceLocation:
        """Locate a fault in the expression, or at its start if that is on another line."""
        if position < 0:
            return binding.location
        column = (start.column or 1) - 1
        # The lines of a notebook are not those of its text.
        line = "".join(planned.page.text.split("\n")[(start.line or 1) - 1 :][:1])
        before = line[column : column + position] if start.line else ""
        same_line = before == binding.expression[:position]
        return replace(start, column=column + 1 + position) if same_line else start

    try:
        return inputs.get_subject(planned.topic, binding.location).get_judgement(binding)
    except ExpressionError as error:
        raise ReportError(
            *(
                Diagnostic(locate(fault.position), fault.message, fault.next_step, Stage.NARRATIVE)
                for fault in error.faults
            )
        ) from error


def plan_curve(
    block: Block, settings: CurveSettings, page: Page, sources: Mapping[str, Source]
) -> PlannedBlock:
    """Plan a ``curve`` block, with the topic and the claims that it marks.

    Raises ``ReportError`` for a claim that is missing from the page, is there twice, or has another topic.
    """
    names, requests = list_block_sources(block, page), make_requests(block, page, sources)
    if not settings.annotate:
        return PlannedBlock(page, block, names, requests)
    topics = find_topics(block.id, page, sources, block.location)
    problems, claims = Diagnostics(), []
    for name in settings.annotate:
        named = [binding for binding in page.bindings if binding.name == name]
        with problems.collecting():
            if name == _OBSERVATIONS:
                continue
            if len(named) != 1:
                known = tuple(dict.fromkeys(binding.name for binding in page.bindings if binding.name))
                said = (
                    f'"annotate: {name}" names {len(named) or "no"} claim{"s" if named else ""} of this page'
                )
                step = f"Name a claim of this page: {quote_names(known) or 'none has a name yet'}"
                step = "Give each claim a name of its own" if named else step
            elif find_topic(named[0], page, sources).request not in {topic.request for topic in topics}:
                said = f'the claim "{name}" is about something else than this figure'
                step = f'Give the claim of="{block.id}"'
            else:
                claims += named
                continue
            raise ReportError(Diagnostic(block.location, said, step, Stage.NARRATIVE))
    problems.raise_errors()
    return PlannedBlock(page, block, names, requests, topics, tuple(claims))


def mark_points(planned: PlannedBlock, settings: CurveSettings, inputs: DrawInputs) -> tuple[Annotation, ...]:
    """List the points that a figure marks, each once: its claims, then the strongest observations.

    Raises ``ReportError`` if the data are invalid or a claim cannot be read.
    """
    found, answers = [], inputs.answers
    names = {name for topic in planned.topics for name in answers.get_series(topic.request)}

    def name_series(series: str, metric: str) -> str:
        """Return the line of a series, which is named after its metric, too, if there are several."""
        return name_line(series, metric, alone=len(names) == 1) if len(planned.topics) > 1 else series

    for claim in planned.claims:
        from reportgen.claims.fact_words import format_fact_value  # noqa: PLC0415 - only for claims

        topic = find_topic(claim, planned.page, inputs.sources)
        judgement = judge_statement(PlannedStatement(planned.page, claim, 0, topic), inputs)
        scale = inputs.get_subject(topic, claim.location).scale
        for fact in judgement.facts:
            if fact.step is not None and fact.series:
                label = fact.name.replace("_", " ").removesuffix(" step")
                if fact.quantity in _WITH_NUMBER:
                    label = f"{label} {format_fact_value(fact, scale)}".strip()
                line = name_series(fact.series[0], topic.request.metric)
                found.append(Annotation(x=fact.step, text=label, series=line))
    if _OBSERVATIONS in settings.annotate:
        place = planned.block.location
        observed = find_observations(planned.topics, place, inputs.answers, inputs.sources)
        marked = [one for one in observed if one.mark is not None and one.label][:_MOST]
        found += [
            Annotation(
                x=one.mark,
                text=one.label,
                series=one.mark_series and name_series(one.mark_series, one.metric),
            )
            for one in marked
        ]
    taken = {(note.x, note.series) for note in settings.annotations}
    notes: dict[tuple[float, str | None], Annotation] = {}
    for note in found:
        if (note.x, note.series) not in taken:
            notes.setdefault((note.x, note.series), note)
    return tuple(notes.values())
