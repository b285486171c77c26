"""Values of bound narrative: what authors state, how the data judge it, and what rules observe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reportgen.core.errors import SourceLocation


class Quantity(StrEnum):
    """What a number is: only equal quantities are compared. A plain number goes with all of them."""

    VALUE = "value"
    DIFFERENCE = "difference"
    STEP = "step"
    STEPS = "steps"
    PROBABILITY = "probability"
    NUMBER = "number"
    TRUTH = "truth"


class Truth(StrEnum):
    """What the data say to a statement; ``UNDECIDED`` comes with a reason."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "cannot be decided"


@dataclass(frozen=True, slots=True)
class Scale:
    """What the numbers of some results mean.

    Attributes:
        higher_is_better: facts such as ``peak`` follow it; None where it is not known, or neither is better.
        step_name: what a step is called in a sentence: ``step``, ``iteration``, ``epoch``; empty for scores.
        step_is_time: True where steps are milliseconds since 1970 UTC.
        bounds: the lowest and highest value there can be, where that is known: (0, 1) for a share.
        percent: True where the data write percentages already, so that 84 is 84 %.
    """

    metric: str
    higher_is_better: bool | None = True
    step_name: str = "step"
    step_is_time: bool = False
    bounds: tuple[float, float] | None = None
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A named, typed statement about results, with its evidence; None where something is not known.

    Attributes:
        call: how an author writes it: ``peak(MEL)``, ``at('Series A', 15)``.
        value: a finite number or a truth.
        reason: why there is no value, a phrase such as ``1 run of MEL``; otherwise empty.
        series: whom it is about, in the order of the call.
        step: where in the figure it stands.
        from_step, to_step: the range of steps it is about.
        n: number of runs or problems behind it; 0 where that says nothing.
        note: what else stands behind it, a phrase: ``difference +0.03 [+0.01, +0.05], adjusted p = 0.012``.
    """

    call: str
    quantity: Quantity
    value: float | bool | None
    reason: str = ""
    series: tuple[str, ...] = ()
    step: float | None = None
    from_step: float | None = None
    to_step: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    note: str = ""

    @property
    def name(self) -> str:
        """Which fact of the vocabulary it is: ``peak``."""
        return self.call.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Binding:
    """A bound value or a claim in an author's prose: ``[0.84]{value="peak(MEL)"}``.

    Attributes:
        kind: ``value`` or ``claim``.
        words: what stands between the square brackets, on one line.
        expression: what stands behind ``value=`` or ``claim=``, on one line.
        of: the id of a figure on the page, or a source; None for the page's benchmark.
        name: the claim's name, for ``annotate``; empty without one.
        fails: why the claim is expected to fail; empty where it is expected to hold.
        location: file, line and column of the opening bracket.
        expression_location: file, line and column of the expression's first character.
        start, end: the words' offsets in the page's text, without the brackets.
    """

    kind: Literal["value", "claim"]
    words: str
    expression: str
    of: str | None
    name: str
    fails: str
    location: SourceLocation
    expression_location: SourceLocation
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the data say to a binding, in finished words.

    Attributes:
        truth: for a bound value ``HOLDS`` where the typed digits and unit are right.
        found: the expression with what the data say: ``peak(MEL) = 0.84 at step 120``; for a claim
            ``final(MEL) > final(GRPO) fails: 0.82 is not above 0.82``.
        evidence: every fact of the expression in words, each once, without the one in ``found``.
        repaired: the words as they should be typed, in the author's style; empty unless a value fails.
        facts: every fact of the expression, each once.
    """

    truth: Truth
    found: str
    evidence: tuple[str, ...]
    repaired: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A binding and what the data say to it, as a page and the terminal show it.

    Attributes:
        number: counts the page's statements from 1.
        metric: what the facts are about, in a few words for the reader.
        figure: the id of the figure on the page that shows it; empty where none does.
        state: the fragment of the link that shows it there (see ``link_state``); empty without a figure.
    """

    binding: Binding
    number: int
    judgement: Judgement
    metric: str
    figure: str
    state: str

    @property
    def as_expected(self) -> bool:
        """Whether nobody has to look at it: it holds, or fails where that is expected."""
        return self.judgement.truth is (Truth.FAILS if self.binding.fails else Truth.HOLDS)


@dataclass(frozen=True, slots=True)
class Observation:
    """A sentence that a rule found in the data.

    Attributes:
        rule: its name, such as ``late decline``.
        text: the sentence, with its full stop.
        evidence: facts in words, in the order of the sentence.
        threshold: what the effect was compared with: ``0.041 is more than 0.012, half the band``.
        strength: effect by threshold, or another number from 0 that orders observations of all rules.
        from_step, to_step: the steps to look at; None where there is no one place.
        mark_series, mark: the series and step of the one point to mark; None where there is none.
        label: two or three words for that point in a figure: ``dip 0.76``; empty without a mark.
        figure, state: as in ``Statement``.
    """

    rule: str
    text: str
    evidence: tuple[str, ...]
    threshold: str
    series: tuple[str, ...]
    strength: float
    metric: str = ""
    from_step: float | None = None
    to_step: float | None = None
    mark_series: str | None = None
    mark: float | None = None
    label: str = ""
    figure: str = ""
    state: str = ""
