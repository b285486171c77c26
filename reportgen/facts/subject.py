"""What facts are about: the results of one metric, asked by the name of a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from reportgen.statements import Fact, Scale

Argument: TypeAlias = str | float
"""A series' name, or a step or level."""


class FactError(ValueError):
    """A question that the results have no answer to, such as a step outside a series' range.

    Not for what nobody can know: that is a fact without a value.

    Attributes:
        message: what was found, a sentence without its full stop.
        next_step: what to do about it, a sentence without its full stop; may be empty.
    """

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class Subject(Protocol):
    """Curves or scores of one metric, and the facts about them."""

    @property
    def holds(self) -> Literal["curves", "scores"]:
        """Which of the vocabulary's facts there are."""

    @property
    def scale(self) -> Scale:
        """What its numbers mean."""

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series."""

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """A fact of the vocabulary.

        Args:
            name: a fact that there is for what it holds.
            arguments: as many and of the kinds that the vocabulary says; names of its series.

        Raises:
            FactError: the results have no answer.
        """
