"""Statements about data as values: facts, bound narrative, judgements, observations and descriptions."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the schema of stored descriptions needs it at run time
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from reportgen.core.digits import Precision  # noqa: TC001 - as above
from reportgen.core.errors import Diagnostic, SourceLocation  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import Iterable


class Quantity(StrEnum):
    """Kind of a number: only equal kinds are compared, but a plain number can be compared with any."""

    VALUE = "value"
    DIFFERENCE = "difference"
    STEP = "step"
    STEPS = "steps"
    PROBABILITY = "probability"
    NUMBER = "number"
    TRUTH = "truth"


class Truth(StrEnum):
    """Truth of a statement given the data; ``UNDECIDED`` comes with a reason."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "cannot be decided"


class Scale(Struct, frozen=True):
    """Meaning of the numbers of some results."""

    metric: str
    higher_is_better: bool | None = True  # None if it is not known or neither is better
    step_name: str = "step"  # name of a step in a sentence: ``iteration``; empty for scores
    step_is_time: bool = False  # whether steps are milliseconds since 1970 UTC
    bounds: tuple[float, float] | None = None  # lowest and highest possible value, if known
    percent: bool = False  # whether the data are percentages already, so that 84 is 84%
    precision: Precision | None = None  # of values in figures, if these are drawn
    of_runs: str = ""  # ``final``, ``best`` or ``mean`` if each run has that number alone, and no steps


class Fact(Struct, frozen=True):
    """A named, typed statement about results, with its evidence; None for what is not known."""

    call: str  # as an author writes it: ``peak(MEL)``, ``at('Series A', 15)``
    quantity: Quantity
    value: float | bool | None  # a finite number or a truth value
    reason: str = ""  # why there is no value, as a phrase such as ``1 run of MEL``
    series: tuple[str, ...] = ()  # in the order of the call
    step: float | None = None  # its position in the figure
    from_step: float | None = None  # the range of steps that it concerns
    to_step: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0  # number of runs or problems; 0 if that is not meaningful
    note: str = ""  # further evidence: ``difference +0.03 [+0.01, +0.05], adjusted p = 0.012``

    @property
    def name(self) -> str:
        """Name of the fact in the vocabulary: ``peak``."""
        return self.call.partition("(")[0]


class Binding(Struct, frozen=True):
    """A bound value or claim in an author's text: ``[0.84]{value="peak(MEL)"}``."""

    kind: Literal["value", "claim"]
    words: str  # between the square brackets, on one line
    expression: str  # after ``value=`` or ``claim=``, on one line
    of: str | None  # the id of a figure on the page, or a source; None for the page's benchmark
    name: str  # the claim's name, for ``annotate``; empty if it has none
    fails: str  # why the claim is expected to fail; empty if it is expected to hold
    location: SourceLocation  # of the opening bracket
    expression_location: SourceLocation  # of the expression's first character
    start: int  # offsets of the words in the page's text, without the brackets
    end: int
    ends: tuple[str, str] = ("[", "]{")  # what is typed directly before and after the words
    table: str | None = None  # of a table in a document, all text between its marks

    @property
    def in_notebook(self) -> bool:
        """Whether it is in a cell of a notebook, where nothing is repaired."""
        return ".ipynb" in self.location.file


class Judgement(Struct, frozen=True):
    """Judgement of a binding by the data, as formatted text."""

    truth: Truth  # a bound value ``HOLDS`` if its digits and unit are right
    # The expression with its result: ``peak(MEL) = 0.84 at step 120``, or for a claim
    # ``final(MEL) > final(GRPO) fails: 0.82 is not above 0.82``.
    found: str
    evidence: tuple[str, ...]  # every fact of the expression in words, except the one in ``found``
    sentences: tuple[str, ...]  # all of it for readers who do not know the language of claims
    written: str  # what the sentences are about, in that language: ``peak(MEL)``; a sum with its result
    repaired: str  # the words as they should be typed, in the author's style; empty unless a value fails
    facts: tuple[Fact, ...]  # every fact of the expression, each once


class Statement(Struct, frozen=True):
    """A binding with its judgement, as shown on a page and in the terminal."""

    binding: Binding
    number: int  # position among the page's statements, from 1
    judgement: Judgement
    metric: str  # subject of the facts, in a few words for the reader
    figure: str  # the id of the figure on the page that shows it; empty if there is none
    state: str  # the link fragment that shows it there; empty without a figure

    @property
    def as_expected(self) -> bool:
        """Whether it holds, or fails and is expected to."""
        return self.judgement.truth is (Truth.FAILS if self.binding.fails else Truth.HOLDS)


class Fault(Struct, frozen=True, order=True):
    """One fault in an expression for its author to fix; the texts are sentences without full stops."""

    position: int  # index of its start in the expression; its length if it is too short
    length: int  # number of characters it covers, at least 1
    message: str  # what was found
    next_step: str = ""  # what to do about it; may be empty


class ExpressionError(ValueError):
    """An expression that cannot be judged; ``faults`` are all of them in order, at least one."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(fault.message for fault in self.faults))


class Observation(Struct, frozen=True):
    """A sentence that a rule found in the data."""

    rule: str  # its name, such as ``late decline``
    text: str  # the sentence, with its full stop
    evidence: tuple[str, ...]  # facts in words, in the order of the sentence
    threshold: str  # comparison of the effect with its threshold: ``0.041 is more than 0.012, half the band``
    series: tuple[str, ...]
    strength: float  # effect divided by threshold, or another number ≥ 0 that ranks observations of all rules
    metric: str = ""
    from_step: float | None = None  # range of steps to show; None if there is no single one
    to_step: float | None = None
    mark_series: str | None = None  # series and step of the point to mark; None if there is none
    mark: float | None = None
    label: str = ""  # label of two or three words for that point: ``dip 0.76``
    figure: str = ""  # as in ``Statement``
    state: str = ""


class DescribedRun(Struct, frozen=True):
    """One run of a source of measurements; None for what is not known."""

    series: str
    run: str
    seed: str | None
    path: str  # its file or folder; empty if several runs are in one table
    metrics: int
    values: int  # including repeated and missing values
    first: float | None  # first and last step of all metrics together
    last: float | None
    begins: float | None = None  # times of its first and last value, in milliseconds since 1970 UTC
    ends: float | None = None
    # Settings as written by its logger, with nested names joined by dots.
    config: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    finite: bool = False  # whether one of its values is a finite number


class DescribedMetric(Struct, frozen=True):
    """One metric of all runs together; None for what is not known."""

    name: str
    runs: int
    values: int  # including repeated and missing values
    first: float | None
    last: float | None
    every: float | None  # distance between neighbouring steps in most runs
    # Steps missing between ``first`` and ``last`` in runs with that distance; a float if they are not exact.
    holes: int | float
    repeated: int  # values replaced by a later one of the same run and step
    missing: int  # empty values
    nan: int
    infinite: int
    without_step: int
    low: float | None  # the smallest and the largest finite value
    high: float | None


class DescribedEvaluation(Struct, frozen=True):
    """One run of one series on one benchmark, with an empty name if the data give none."""

    series: str
    run: str
    seed: str | None
    benchmark: str
    problems: int
    answers: int  # number of rows
    fewest: int  # fewest and most answers to one problem
    most: int
    missing: int  # answers without a score
    repeated: int  # answers replaced by a later one to the same problem and sample
    mean: float | None  # mean over problems of each problem's mean score


class DescribedTotal(Struct, frozen=True):
    """A reported score on a benchmark of ``n`` problems; see ``ReportedScore``."""

    series: str
    run: str
    seed: str | None
    benchmark: str
    metric: str
    value: float | None
    stderr: float | None
    n: int | None


class DescribedSource(Struct, frozen=True):
    """One of the sources in a folder, by a look at its files; without a ``title`` it cannot be read."""

    name: str  # in blocks, or the name of the file or folder where there is no report
    path: str
    kind: str = ""  # as in ``Description``
    title: str = ""
    series: int = 0  # in a sample of the rows
    metrics: int = 0
    benchmarks: int = 0
    files: int = 0
    size: int = 0
    problem: str = ""  # the first error


class Counts(Struct, frozen=True):
    """Contents of the rows of a source."""

    runs: tuple[DescribedRun, ...] = ()
    metrics: tuple[DescribedMetric, ...] = ()
    evaluations: tuple[DescribedEvaluation, ...] = ()
    totals: tuple[DescribedTotal, ...] = ()


class Description(Struct, frozen=True):
    """A file or folder of data, before any page is written about it."""

    path: str  # relative to the report or working folder if inside it
    name: str  # its name in blocks
    kind: str = ""  # ``measurements``, ``outcomes``, ``totals``; empty, like ``format``, if it cannot be read
    # Name of the format in ``source.yml``, or ``runs`` of tables of finished runs; ``title`` is for readers.
    format: str = ""
    title: str = ""
    shape: str = ""  # meaning of a row of its tables, in words; empty for runs of a logger or harness
    read: tuple[str, ...] = ()  # every file that is read; ``size`` is their total in bytes
    size: int = 0
    unread: tuple[tuple[str, int], ...] = ()  # extensions and counts of files not read, most frequent first
    series: tuple[str, ...] = ()  # in order of first appearance
    benchmarks: tuple[str, ...] = ()  # of outcomes and totals, as named in blocks; empty if none is named
    checkpoints: str = ""  # the first metric of evaluations of checkpoints, which are a curve; empty without
    series_by: str = ""  # how series were found, as words after "by"; empty if not known
    seed_by: str = ""
    step_name: str = ""
    step_is_time: bool = False
    other_axes: tuple[str, ...] = ()  # what curves can be drawn over besides the step: tokens, epochs, ...
    counts: Counts = field(default_factory=Counts)
    sources: tuple[DescribedSource, ...] = ()  # those in a folder that is no source itself
    problems: tuple[Diagnostic, ...] = ()  # errors if it cannot be read, or what was irregular or guessed
    roles: Mapping[str, object] = field(default_factory=dict)  # of a table, each with its column or columns
    without_role: tuple[str, ...] = ()  # columns of a table that only describe its rows
    settings: Mapping[str, object] = field(default_factory=dict)  # suggested contents of ``source.yml``
    # Settings that merge series differing only in a number or seed into runs of one series.
    repetitions: Mapping[str, object] = field(default_factory=dict)
    # Settings that name a column that may hold clusters of problems.
    clusters: Mapping[str, object] = field(default_factory=dict)
    settings_file: str = ""  # where ``source.yml`` is or would be
    has_settings: bool = False
    stated: tuple[str, ...] = ()  # the keys that it has
    illustrative: bool = False  # whether it says so

    @property
    def is_finished(self) -> bool:
        """Whether each run has one value of a metric, and no steps."""
        return self.format == "runs"

    @property
    def is_search(self) -> bool:
        """Whether its runs are attempts that were kept or discarded, as in a ``results.tsv``."""
        runs = self.counts.runs
        return bool(runs) and all({"status", "description"} <= run.config.keys() for run in runs)

    @property
    def has_repetitions(self) -> bool:
        """Whether runs of one series are repetitions, as far as is known: finished ones have own seeds."""
        runs = self.counts.runs
        return not self.is_finished or len({(one.series, one.seed) for one in runs}) == len(runs)
