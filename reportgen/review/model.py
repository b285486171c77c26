"""``review.json``, format 1: what changed between two states of a report, in plain numbers and short texts.

A review may come from a stranger's pull request, so a program that has rights validates it here before it
shows anything: unknown keys are refused, texts and lists are bounded, and no number is NaN or infinite. Every
text is plain text, to be escaped by whoever shows it.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationInfo

FORMAT: Final = 1
MOST_BYTES: Final = 5_000_000
"""Of a review as JSON; a larger one is thinned, see ``limits``."""
MOST_POINTS: Final = 400
"""Of one series of a figure, before and after each."""
LONGEST_NAME: Final = 300
LONGEST_TEXT: Final = 2_000
MOST_ENTRIES: Final = 20_000
"""In each list of a review."""
MOST_SERIES: Final = 200
"""In one figure or table."""


def _clip_to(most: int) -> BeforeValidator:
    """Cuts texts of our own, see ``Value.fit``; those of a file are refused if they are too long."""

    def cut(text: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - validated afterwards
        return clip(text, most) if info.context and isinstance(text, str) else text

    return BeforeValidator(cut)


Name: TypeAlias = Annotated[str, StringConstraints(max_length=LONGEST_NAME), _clip_to(LONGEST_NAME)]
Text: TypeAlias = Annotated[str, StringConstraints(max_length=LONGEST_TEXT), _clip_to(LONGEST_TEXT)]
Hash: TypeAlias = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")]
Count: TypeAlias = Annotated[int, Field(ge=0, le=2**53 - 1)]
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
Probability: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Names: TypeAlias = Annotated[tuple[Name, ...], Field(max_length=MOST_ENTRIES)]

Cause: TypeAlias = Literal["data", "text", "definition", "tool"]
Causes: TypeAlias = Annotated[tuple[Cause, ...], Field(max_length=4)]
Kind: TypeAlias = Literal["revision", "folder", "site", "report.json"]
Method: TypeAlias = Literal["paired", "welch", "nested runs", "given", "none"]
Correction: TypeAlias = Literal["none", "holm", "step-down", "step-down and holm"]
StatementOutcome: TypeAlias = Literal["broken", "mended", "changed", "new", "gone"]
SeriesOutcome: TypeAlias = Literal["data", "definition", "same", "new", "gone", "renamed"]
FigureOutcome: TypeAlias = Literal["data", "definition", "looks", "new", "gone"]
TableOutcome: TypeAlias = Literal["data", "definition", "new", "gone"]
SourceOutcome: TypeAlias = Literal["changed", "new", "gone"]
Verdict: TypeAlias = Literal[
    "higher",
    "lower",
    "unclear",
    "re-estimated",
    "same",
    "reported value changed",
    "measured differently",
    "not comparable",
    "too few",
    "new",
    "gone",
]


class Value(BaseModel):
    """Frozen and strict about keys and types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def fit(cls, source: object = None, /, **more: Any) -> Self:  # noqa: ANN401 - validated
        """Make one of ``more`` and of what ``source``, a value or a dict, has of its fields.

        Texts and lists are cut to what a review may hold.
        """
        given = dict(more)
        for name, field in cls.model_fields.items():
            if name not in more and isinstance(source, dict) and name in source:
                given[name] = source[name]
            elif name not in more and hasattr(source, name):
                given[name] = getattr(source, name)
            if isinstance(value := given.get(name), list | tuple):
                limits = (getattr(one, "max_length", None) for one in field.metadata)
                given[name] = tuple(value[: next(filter(None, limits), None)])
        return cls.model_validate(given, context=True)

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401 - of any field
        """A copy with other values of some fields, which are not validated."""
        return self.model_copy(update=changes)


class Generator(Value):
    """The program that wrote the review."""

    name: Name
    version: Name


class Origin(Value):
    """One of the two states."""

    kind: Kind
    name: Name = Field(description="As it was given on the command line, without folders of the machine.")
    commit: Hash = Field("", description="The commit; of a pull request its head. Empty if there is none.")
    merge: Hash = Field("", description="The merge commit that was built in place of that head.")
    modified: bool = Field(False, description="Whether the working tree differs from the commit.")
    report_sha256: Hash = Field("", description="SHA-256 of report.json; empty where there is no report.")
    tool: Name = Field("", description="Version of the reportgen that computed its numbers.")
    built: bool = Field(True, description="Whether there is a report, and it could be drafted.")
    why: Text = Field("", description="Why there is none.")


class Counts(Value):
    """How much changed. ``same`` to ``gone`` count numbers by their verdict."""

    flipped: Count = Field(0, description="Claims that are not as expected, and were before.")
    stale_values: Count = Field(0, description="Bound values that no longer match the data, and did before.")
    mended: Count = Field(0, description="Statements that are as expected, and were not before.")
    differences: Count = Field(0, description="Numbers that are higher or lower by more than noise.")
    worse: Count = Field(0, description="Differences in the direction that is known to be the worse one.")
    unclear: Count = Field(0, description="Numbers that moved by no more than noise, or too few to tell.")
    re_estimated: Count = 0
    measured_differently: Count = 0
    not_comparable: Count = 0
    new: Count = 0
    gone: Count = 0
    same: Count = 0
    figures: Count = Field(0, description="Figures that changed, new and gone ones included.")
    tables: Count = 0
    pages: Count = 0


class Family(Value):
    """The tests of the whole change, which are adjusted together."""

    tests: Count = 0
    correction: Correction = "none"
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95


class StatementSide(Value):
    """A statement in one state."""

    line: Count | None = Field(None, description="In the page's file.")
    words: Text
    expression: Text
    truth: Literal["holds", "fails", "cannot be decided"]
    expected: bool = Field(description="Whether nobody has to look at it: it holds, or fails as expected.")
    found: Text = Field(description="What the data say, as a sentence.")
    evidence: Annotated[tuple[Text, ...], Field(max_length=20)] = ()


_NOWHERE: Final = StatementSide(words="", expression="", truth="cannot be decided", expected=True, found="")


class StatementChange(Value):
    """A claim or bound value that flipped, or was written, rewritten or removed.

    ``broken`` is as expected before and not after, ``mended`` the reverse; ``changed`` is neither: its truth,
    words or expression are others.
    """

    page: Name
    kind: Literal["value", "claim"]
    change: StatementOutcome
    before: StatementSide | None
    after: StatementSide | None
    causes: Causes = ()

    @property
    def latest(self) -> StatementSide:
        """It after the change, or before if it is gone."""
        return self.after or self.before or _NOWHERE

    @property
    def is_broken(self) -> bool:
        """Whether it is not as expected because of this change: a new one counts, too."""
        new = self.change == "new" and self.after is not None and not self.after.expected
        return new or self.change == "broken"


class Estimate(Value):
    """A number in one state."""

    value: Number
    low: Number | None = None
    high: Number | None = None
    n: Count | None = Field(None, description="Runs, or items where there is one run or none is known.")


class Delta(Value):
    """After minus before."""

    value: Number
    low: Number | None = None
    high: Number | None = None
    p: Probability | None = None
    p_adjusted: Probability | None = Field(None, description="For all tests of the change.")


class RunCounts(Value):
    """Runs by their rows."""

    shared: Count = 0
    replaced: Count = Field(0, description="Of equal name, with other rows; not counted as added or removed.")
    added: Count = 0
    removed: Count = 0


class ItemCounts(Value):
    """Problems of a benchmark."""

    shared: Count = 0
    only_base: Count = 0
    only_head: Count = 0


Flip: TypeAlias = tuple[Name, Count, Count, Count, Count]
"""A problem, its right answers and all its answers before, and the same after."""


class Flips(Value):
    """Problems whose answers are mostly right in one state and mostly wrong in the other."""

    gained: Count = Field(description="Problems that turned mostly right.")
    lost: Count
    problems: Annotated[tuple[Flip, ...], Field(max_length=50)] = Field(
        description="The largest changes of the share of right answers first."
    )


class NumberChange(Value):
    """The score of a series, or the last value of its curve, where it changed."""

    page: Name
    block: Name = Field(description="Id of the first block that shows it.")
    title: Name = Field("", description="The block's title.")
    source: Name = ""
    benchmark: Name = Field("", description="Where a block shows several.")
    series: Name
    was_series: Name = Field("", description="Its name before, where it was renamed.")
    metric: Name
    percent: bool = Field(False, description="Whether values are shares, to be shown times 100 with %.")
    step: Number | None = Field(None, description="Of a curve: the last step that both states have.")
    before: Estimate | None
    after: Estimate | None
    delta: Delta | None = None
    method: Method = "none"
    runs: RunCounts | None = None
    problems: ItemCounts | None = None
    flips: Flips | None = Field(None, description="Where the score is of answers, and some differ.")
    verdict: Verdict
    good: bool | None = Field(None, description="Only of a difference whose better direction is known.")
    causes: Causes = ()
    why: Text = ""


Point: TypeAlias = tuple[Number | None, Number, Number | None, Number | None]
"""Step (None for a score), value, low, high."""
Points: TypeAlias = Annotated[tuple[Point, ...], Field(max_length=MOST_POINTS)]


class Place(Value):
    """Where two lines of a series differ most."""

    step: Number | None
    delta: Number
    beyond_band: bool = Field(description="Whether the new value lies outside the old band there.")


class SeriesChange(Value):
    """A series of a changed figure; ``before`` is empty where nothing of it changed."""

    name: Name
    was_name: Name = ""
    change: SeriesOutcome
    slot: Annotated[int, Field(ge=0, le=7)] | None = Field(
        None, description="Its place in the palette on the report's page; empty if grey, or not known."
    )
    at: Place | None = None
    before: Points = ()
    after: Points = ()


class Axis(Value):
    """An axis of a figure; a figure of scores has the series as its x."""

    title: Name = ""
    scale: Literal["linear", "log", "time", "series"] = "linear"
    percent: bool = False
    difference: bool = Field(False, description="Whether its values are differences: of shares, in points.")


Definitions: TypeAlias = Annotated[tuple[Text, ...], Field(max_length=50)]
"""What of its definition changed: ``smooth: 0 → 0.6``."""


class FigureChange(Value):
    """A figure that changed."""

    page: Name
    id: Name
    was_page: Name = ""
    was_id: Name = ""
    kind: Name
    title: Text
    change: FigureOutcome
    causes: Causes = ()
    definitions: Definitions = ()
    x: Axis = Axis()
    y: Axis = Axis()
    series: Annotated[tuple[SeriesChange, ...], Field(max_length=MOST_SERIES)] = ()

    @property
    def has_points(self) -> bool:
        """Whether there is something to draw."""
        return any(one.before or one.after for one in self.series)


Cells: TypeAlias = Annotated[tuple[Text, ...], Field(max_length=MOST_SERIES)]


class RowChange(Value):
    """A row of a table, in finished words; one side is None where the row is new or gone."""

    before: Cells | None
    after: Cells | None


class TableChange(Value):
    """A table that changed, with the rows that did."""

    page: Name
    id: Name
    title: Text
    change: TableOutcome
    causes: Causes = ()
    definitions: Definitions = ()
    header: Cells = ()
    rows: Annotated[tuple[RowChange, ...], Field(max_length=MOST_SERIES)] = ()


class PageChange(Value):
    """A page that is new, gone, renamed, or whose text changed."""

    path: Name
    was_path: Name = ""
    title: Text
    change: Literal["new", "gone", "renamed", "text"]
    lines_added: Count = 0
    lines_removed: Count = 0


class SourceChange(Value):
    """A source whose files or settings changed."""

    name: Name
    change: SourceOutcome = "changed"
    files_added: Names = ()
    files_removed: Names = ()
    files_changed: Names = ()
    settings_changed: Names = Field((), description="Keys of source.yml.")


class ReviewProblem(Value):
    """An error or warning."""

    file: Name
    line: Count | None = None
    severity: Literal["error", "warning", "note"]
    message: Text


class ProblemChanges(Value):
    """Problems that only one state has."""

    new: Annotated[tuple[ReviewProblem, ...], Field(max_length=MOST_ENTRIES)] = ()
    gone: Annotated[tuple[ReviewProblem, ...], Field(max_length=MOST_ENTRIES)] = ()


class Review(Value):
    """What changed from ``base`` to ``head``."""

    format: Literal[1] = FORMAT
    generator: Generator
    base: Origin
    head: Origin
    counts: Counts = Counts()
    family: Family = Family()
    statements: Annotated[tuple[StatementChange, ...], Field(max_length=MOST_ENTRIES)] = ()
    numbers: Annotated[tuple[NumberChange, ...], Field(max_length=MOST_ENTRIES)] = ()
    figures: Annotated[tuple[FigureChange, ...], Field(max_length=MOST_ENTRIES)] = ()
    tables: Annotated[tuple[TableChange, ...], Field(max_length=MOST_ENTRIES)] = ()
    pages: Annotated[tuple[PageChange, ...], Field(max_length=MOST_ENTRIES)] = ()
    sources: Annotated[tuple[SourceChange, ...], Field(max_length=MOST_ENTRIES)] = ()
    problems: ProblemChanges = ProblemChanges()
    truncated: Annotated[tuple[Text, ...], Field(max_length=50)] = Field(
        (), description="What was left out for size, a sentence each."
    )

    @property
    def reported(self) -> int:
        """How many values that are given without an interval were edited."""
        return sum(one.verdict == "reported value changed" for one in self.numbers)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        problems = self.problems.new or self.problems.gone
        listed = self.statements or self.numbers or self.figures or self.tables or self.pages
        return not (listed or self.sources or problems)


def read_review(text: str | bytes) -> Review:
    """A review from JSON; raises a ValueError (pydantic's ``ValidationError``) if it is none."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"a review has {MOST_BYTES:,} bytes at most, and this has {len(text):,}")
    return Review.model_validate_json(text)


def write_review(review: Review) -> str:
    """A review as JSON, keys sorted, each entry of a list on a line of its own; its bytes follow from it."""
    members = []
    for name, member in sorted(review.model_dump(mode="json").items()):
        entries = isinstance(member, list) and member
        text = "[\n" + ",\n".join(map(encode_json, member)) + "\n]" if entries else encode_json(member)
        members.append(f"{encode_json(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


encode_json = json.JSONEncoder(sort_keys=True, allow_nan=False, ensure_ascii=False).encode
"""JSON on one line, keys sorted."""


def bound(number: float) -> float:
    """A number that a review may hold: a sum of two may be infinite."""
    return min(max(number, -sys.float_info.max), sys.float_info.max)


def clip(text: str, most: int = LONGEST_TEXT) -> str:
    """A text on one line, cut to what a review may hold; what is no Unicode becomes ``?``."""
    line = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
