"""Holds every bound value and claim against the data, and tells what does not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.drafting.subjects import describe_topic, link_topic
from reportgen.errors import Problem, ReportError, Severity, Stage
from reportgen.expressions.faults import ExpressionError
from reportgen.facts.vocabulary import FACTS
from reportgen.statements import Statement, Truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.drafting.desk import DrawInputs
    from reportgen.drafting.plan import Plan, PlannedStatement
    from reportgen.errors import Problems, SourceLocation
    from reportgen.expressions.faults import Fault
    from reportgen.facts.subject import Subject
    from reportgen.statements import Binding, Fact, Judgement


def judge_statements(plan: Plan, inputs: DrawInputs, problems: Problems) -> dict[str, tuple[Statement, ...]]:
    """What the data say to each page's statements, by the page's path.

    Args:
        plan: its statements are judged.
        inputs: the data, and what earlier drafts knew of them.
        problems: gets an error for each statement that cannot be read, and a warning for each that does not
            hold, cannot be decided, or was expected to fail and holds.
    """
    found: dict[str, list[Statement]] = {}
    for planned in plan.statements:
        with problems.collecting():
            statement = _make_statement(planned, inputs)
            found.setdefault(planned.page.path, []).append(statement)
            problems.add(list_warnings(statement))
    inputs.subjects.keep()
    return {path: tuple(statements) for path, statements in found.items()}


def list_warnings(statement: Statement) -> Iterator[Problem]:
    """The warnings that a statement deserves: for what became of it, and for old names of facts."""
    binding, judgement = statement.binding, statement.judgement
    for name in dict.fromkeys(fact.name for fact in judgement.facts):
        if instead := FACTS[name].instead:
            said = f'"{name}" is an old name of a fact'
            place = binding.expression_location
            yield Problem(place, said, f"Write {instead}", Stage.NARRATIVE, Severity.WARNING)
    if statement.as_expected:
        return
    if judgement.truth is Truth.UNDECIDED:
        said = f'"{binding.words}": {judgement.found}'
        step = "Say that it is not known, or remove the claim" if binding.kind == "claim" else ""
    elif binding.fails:
        said = f'"{binding.words}" holds, and was expected to fail ("{binding.fails}"): {judgement.found}'
        step = "Take fails= away"
    elif binding.kind == "value":
        said = f'"{binding.words}" but {judgement.found}'
        step = f'"reportgen fix" writes "{judgement.repaired}"' if judgement.repaired else ""
    else:
        said = f'"{binding.words}" is not so: {judgement.found}'
        step = "Rewrite the sentence, or say with fails= why it fails"
    yield Problem(binding.location, said, step, Stage.NARRATIVE, Severity.WARNING)


def judge_statement(planned: PlannedStatement, inputs: DrawInputs) -> Judgement:
    """What the data say to a statement.

    Raises:
        ReportError: every fault of its expression or of its words, each at its place.
    """
    binding = planned.binding
    try:
        return inputs.subjects.get_subject(planned.topic, binding.location).get_judgement(binding, _judge)
    except ExpressionError as error:
        raise ReportError(*(_problem(fault, planned) for fault in error.faults)) from error


def _judge(binding: Binding, subject: Subject) -> Judgement:
    from reportgen.judging.judge import judge  # noqa: PLC0415 - only where no earlier draft has judged it

    return judge(binding, subject)


def _make_statement(planned: PlannedStatement, inputs: DrawInputs) -> Statement:
    judgement = judge_statement(planned, inputs)
    return Statement(
        binding=planned.binding,
        number=planned.number,
        judgement=judgement,
        metric=describe_topic(planned.topic, inputs.sources),
        figure=planned.topic.figure,
        state=_link_facts(planned, judgement.facts),
    )


def _link_facts(planned: PlannedStatement, facts: Sequence[Fact]) -> str:
    """The figure with the series that the facts are about, and the first range and point that they name."""
    series = tuple(dict.fromkeys(name for fact in facts for name in fact.series))
    points = ((fact.step, fact.series[0]) for fact in facts if fact.step is not None and fact.series)
    spans = (
        (first, last)
        for fact in facts
        if (first := fact.from_step) is not None and (last := fact.to_step) is not None and first < last
    )
    return link_topic(planned.topic, series, next(spans, None), next(points, None))


def _problem(fault: Fault, planned: PlannedStatement) -> Problem:
    return Problem(_place(fault, planned), fault.message, fault.next_step, Stage.NARRATIVE)


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
