"""What is said of data, as values: facts, bound narrative and its judgements, observations, descriptions."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the schema of stored descriptions needs it at run time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from reportgen.core.errors import Diagnostic  # noqa: TC001 - as above

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
    """What the numbers of some results mean."""

    metric: str
    higher_is_better: bool | None = True  # None where it is not known, or neither is better
    step_name: str = "step"  # what a step is called in a sentence: ``iteration``; empty for scores
    step_is_time: bool = False  # whether steps are milliseconds since 1970 UTC
    bounds: tuple[float, float] | None = None  # the lowest and highest value there can be, if known
    percent: bool = False  # whether the data write percentages already, so that 84 is 84 %


@dataclass(frozen=True, slots=True)
class Fact:
    """A named, typed statement about results, with its evidence; None where something is not known."""

    call: str  # how an author writes it: ``peak(MEL)``, ``at('Series A', 15)``
    quantity: Quantity
    value: float | bool | None  # a finite number or a truth
    reason: str = ""  # why there is no value, a phrase such as ``1 run of MEL``
    series: tuple[str, ...] = ()  # in the order of the call
    step: float | None = None  # where in the figure it stands
    from_step: float | None = None  # the range of steps it is about
    to_step: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0  # runs or problems behind it; 0 where that says nothing
    note: str = ""  # what else stands behind it: ``difference +0.03 [+0.01, +0.05], adjusted p = 0.012``

    @property
    def name(self) -> str:
        """Which fact of the vocabulary it is: ``peak``."""
        return self.call.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Binding:
    """A bound value or a claim in an author's prose: ``[0.84]{value="peak(MEL)"}``."""

    kind: Literal["value", "claim"]
    words: str  # between the square brackets, on one line
    expression: str  # behind ``value=`` or ``claim=``, on one line
    of: str | None  # the id of a figure on the page, or a source; None for the page's benchmark
    name: str  # the claim's name, for ``annotate``; empty without one
    fails: str  # why the claim is expected to fail; empty where it is expected to hold
    location: SourceLocation  # of the opening bracket
    expression_location: SourceLocation  # of the expression's first character
    start: int  # the words' offsets in the page's text, without the brackets
    end: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the data say to a binding, in finished words."""

    truth: Truth  # of a bound value ``HOLDS`` where the typed digits and unit are right
    # The expression with what the data say: ``peak(MEL) = 0.84 at step 120``; of a claim
    # ``final(MEL) > final(GRPO) fails: 0.82 is not above 0.82``.
    found: str
    evidence: tuple[str, ...]  # every fact of the expression in words, but for the one in ``found``
    repaired: str  # the words as they should be typed, in the author's style; empty unless a value fails
    facts: tuple[Fact, ...]  # every fact of the expression, each once


@dataclass(frozen=True, slots=True)
class Statement:
    """A binding and what the data say to it, as a page and the terminal show it."""

    binding: Binding
    number: int  # counts the page's statements from 1
    judgement: Judgement
    metric: str  # what the facts are about, in a few words for the reader
    figure: str  # the id of the figure on the page that shows it; empty where none does
    state: str  # the fragment of the link that shows it there; empty without a figure

    @property
    def as_expected(self) -> bool:
        """Whether nobody has to look at it: it holds, or fails where that is expected."""
        return self.judgement.truth is (Truth.FAILS if self.binding.fails else Truth.HOLDS)


@dataclass(frozen=True, slots=True)
class Observation:
    """A sentence that a rule found in the data."""

    rule: str  # its name, such as ``late decline``
    text: str  # the sentence, with its full stop
    evidence: tuple[str, ...]  # facts in words, in the order of the sentence
    threshold: str  # what the effect was compared with: ``0.041 is more than 0.012, half the band``
    series: tuple[str, ...]
    strength: float  # effect by threshold, or another number from 0 that orders observations of all rules
    metric: str = ""
    from_step: float | None = None  # the steps to look at; None where there is no one place
    to_step: float | None = None
    mark_series: str | None = None  # the series and step of the one point to mark; None where there is none
    mark: float | None = None
    label: str = ""  # two or three words for that point in a figure: ``dip 0.76``
    figure: str = ""  # as in ``Statement``
    state: str = ""


@dataclass(frozen=True, slots=True)
class DescribedRun:
    """One run of a source of measurements; None where something is not known."""

    series: str
    run: str
    seed: str | None
    path: str  # its file or folder; empty where several runs stand in one table
    metrics: int
    values: int  # repeated and missing ones count
    first: float | None  # steps, of all metrics together
    last: float | None
    begins: float | None = None  # times of its first and last value, milliseconds since 1970 UTC
    ends: float | None = None
    # Its settings as its logger wrote them, nested names joined by dots.
    config: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DescribedMetric:
    """One metric of all runs together; None where something is not known."""

    name: str
    runs: int
    values: int  # repeated and missing ones count
    first: float | None
    last: float | None
    every: float | None  # the distance between neighbouring steps that most runs have
    holes: int  # steps that are missing between ``first`` and ``last`` in runs with such a distance
    repeated: int  # values that a later one of the same run and step replaces
    missing: int  # values that are empty
    nan: int
    infinite: int
    without_step: int
    low: float | None  # the smallest and the largest finite value
    high: float | None


@dataclass(frozen=True, slots=True)
class DescribedEvaluation:
    """One run of one series on one benchmark, whose name is empty where the data name none."""

    series: str
    run: str
    seed: str | None
    benchmark: str
    problems: int
    answers: int  # rows
    fewest: int  # answers to one problem
    most: int
    missing: int  # answers without a score
    repeated: int  # answers that a later one to the same problem and sample replaces
    mean: float | None  # over the problems, of each problem's mean score


@dataclass(frozen=True, slots=True)
class DescribedTotal:
    """A reported score of a benchmark over ``n`` problems; see ``ReportedScore``."""

    series: str
    run: str
    seed: str | None
    benchmark: str
    metric: str
    value: float | None
    stderr: float | None
    n: int | None


@dataclass(frozen=True, slots=True)
class Counts:
    """What the rows of a source hold."""

    runs: tuple[DescribedRun, ...] = ()
    metrics: tuple[DescribedMetric, ...] = ()
    evaluations: tuple[DescribedEvaluation, ...] = ()
    totals: tuple[DescribedTotal, ...] = ()


@dataclass(frozen=True, slots=True)
class Description:
    """A file or folder of data, before any page is written about it."""

    path: str  # relative to the report or working folder if it is below it
    name: str  # what blocks call it
    kind: str = ""  # ``measurements``, ``outcomes``, ``totals``; as ``format`` empty where it cannot be read
    format: str = ""  # what ``source.yml`` calls the format, as ``title`` is what people call it
    title: str = ""
    shape: str = ""  # what a row of its tables is, in words; empty for runs that a logger or harness wrote
    read: tuple[str, ...] = ()  # every file that is read; ``size`` is their bytes together
    size: int = 0
    unread: tuple[tuple[str, int], ...] = ()  # endings of files that are not read, and how many, most first
    series: tuple[str, ...] = ()  # in order of first appearance
    benchmarks: tuple[str, ...] = ()  # of outcomes and totals, as blocks call them; empty where none is named
    series_by: str = ""  # how series were found, as words after "by"; empty where that is not known
    seed_by: str = ""
    step_name: str = ""
    step_is_time: bool = False
    counts: Counts = field(default_factory=Counts)
    problems: tuple[Diagnostic, ...] = ()  # errors where it cannot be read, or what was irregular or guessed
    settings: Mapping[str, object] = field(default_factory=dict)  # of ``source.yml``, those worth writing
    # Settings that make series which differ in a number or seed only runs of fewer series.
    repetitions: Mapping[str, object] = field(default_factory=dict)
    # Settings that name a column which may hold clusters of problems.
    clusters: Mapping[str, object] = field(default_factory=dict)
    settings_file: str = ""  # where ``source.yml`` is or would be
    has_settings: bool = False
