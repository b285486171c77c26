"""Statements as a draft makes them, for tests of what is told about them."""

from __future__ import annotations

from typing import Literal

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.statements import Binding, Judgement, Statement, Truth

FILE = "content/index.md"


def statement(
    truth: Truth,
    words: str = "0.84",
    *,
    kind: Literal["value", "claim"] = "value",
    expression: str = "peak(MEL)",
    fails: str = "",
    line: int = 3,
    column: int = 5,
) -> Statement:
    """A statement of a page, by default a bound value in line 3; see ``Binding``."""
    binding = Binding(
        kind=kind,
        words=words,
        expression=expression,
        of=None,
        name="",
        fails=fails,
        location=SourceLocation(FILE, line, column),
        expression_location=SourceLocation(FILE, line, column + len(words) + len('[]{value="')),
        start=0,
        end=len(words),
    )
    judgement = Judgement(
        truth, f"{expression} = 0.82 at step 10", ("2 runs",), ("MEL has 0.82",), expression, "", ()
    )
    return Statement(binding, line, judgement, "accuracy", "accuracy", "accuracy~mark=10@MEL")


def said_of(one: Statement) -> Diagnostic:
    """The warning that a draft gives for a statement."""
    said = f'"{one.binding.words}" but {one.judgement.found}'
    return Diagnostic(one.binding.location, said, "Look again", Stage.NARRATIVE, Severity.WARNING)
