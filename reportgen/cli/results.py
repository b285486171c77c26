"""The results of commands, of which ``reportgen schema`` makes the JSON Schema of each envelope."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, field

from reportgen.cli.envelope import Envelope
from reportgen.core.comparisons import Plan  # noqa: TC001 - schemas need it at run time
from reportgen.core.report_json import ReportEntry
from reportgen.core.statements import (  # noqa: TC001 - as above
    DescribedEvaluation,
    DescribedMetric,
    DescribedRun,
    DescribedSource,
    DescribedTotal,
    Observation,
    Quantity,
)


class Result(Struct, frozen=True, forbid_unknown_fields=True):
    """What a command found or did."""


class InitResult(Result, frozen=True):
    """Files that were written."""

    files: tuple[str, ...]


class AddResult(Result, frozen=True):
    """A new source with its files, how its data came there, and the block that draws it."""

    source: str
    how: Literal["copy", "link", "freeze", "stay"]
    files: tuple[str, ...]
    block: str


class BuildResult(Result, frozen=True):
    """What the site holds; ``unchanged`` is whether it was up to date, and ``since`` what changed."""

    pages: int
    figures: int
    warnings: int
    cache_hits: int
    unchanged: bool
    since: tuple[str, ...] = ()


class Edit(Result, frozen=True):
    """One replacement; ``old`` begins in this line and column, which count from 1, and may have line ends."""

    file: str
    line: int
    column: int
    old: str
    new: str


class EditResult(Result, frozen=True):
    """Edits of pages and documents, and whether they were written."""

    edits: tuple[Edit, ...]
    written: bool


class CheckedStatement(Result, frozen=True):
    """A bound value or claim, what the data say of it, and the words to write instead."""

    file: str
    line: int | None
    column: int | None
    number: int
    kind: Literal["value", "claim"]
    words: str
    expression: str
    of: str | None
    name: str | None
    metric: str
    figure: str | None
    truth: Literal["holds", "fails", "cannot be decided"]
    as_expected: bool
    expected_to_fail: str | None
    found: str
    repaired: str | None
    evidence: tuple[str, ...]


class StatementCounts(Result, frozen=True):
    """How many statements there are, and how they turned out."""

    statements: int
    hold: int
    fail: int
    undecided: int
    fail_as_expected: int
    hold_unexpectedly: int


class UnboundCandidate(Result, frozen=True):
    """A fact that a number may be, and the number bound to it; empty where it cannot be bound."""

    words: str
    new: str


class UnboundNumber(Result, frozen=True):
    """A number that no binding covers; ``instead`` is a fact that its sentence names, with another value."""

    file: str
    line: int | None
    column: int | None
    words: str
    instead: str
    candidates: tuple[UnboundCandidate, ...]


class UnboundClaim(Result, frozen=True):
    """Words that may make a claim, its expression, and the words bound; empty where they cannot be bound."""

    file: str
    line: int | None
    column: int | None
    words: str
    expression: str
    new: str


class UnboundResult(Result, frozen=True):
    """How many numbers are bound, the others, and sentences that may be claims."""

    bound: int
    unbound: tuple[UnboundNumber, ...]
    claims: tuple[UnboundClaim, ...] = ()


class CheckResult(Result, frozen=True):
    """Statements with their counts; null if an error stopped the draft. ``numbers`` need --unbound."""

    counts: StatementCounts | None
    statements: tuple[CheckedStatement, ...] | None
    numbers: UnboundResult | None = None


class ListedFact(Result, frozen=True):
    """A fact with its value and evidence; null is what is not known."""

    call: str
    quantity: Quantity
    value: float | bool | None
    reason: str
    series: tuple[str, ...]
    step: float | None
    from_step: float | None
    to_step: float | None
    low: float | None
    high: float | None
    n: int
    note: str
    words: str


class ListedKind(Result, frozen=True):
    """How a kind of fact is written, and what it says."""

    signature: str
    quantity: Quantity
    says: str


class LikelyClaim(Result, frozen=True):
    """A claim that a sentence makes, and whether it holds, in a word and in a sentence."""

    expression: str
    truth: str
    words: str


class FactsResult(Result, frozen=True):
    """Facts of a source, or with --observations sentences about it."""

    of: str
    metric: str
    higher_is_better: bool | None
    series: tuple[str, ...]
    vocabulary: tuple[ListedKind, ...] = ()
    facts: tuple[ListedFact, ...] = ()
    observations: tuple[Observation, ...] = ()
    runs: str = ""
    claims: tuple[LikelyClaim, ...] = ()


class PlanResult(Result, frozen=True):
    """Which differences a source can show, in sentences and numbers."""

    sentences: tuple[str, ...]
    plan: Plan


class PageContext(Result, frozen=True):
    """A page or document, with its blocks in words and the number of its statements."""

    file: str
    title: str
    blocks: str
    statements: int


class SourceContext(Result, frozen=True):
    """A source that pages show, with names in words; of runs and problems the most in one block."""

    name: str
    kind: Literal["measurements", "outcomes", "totals"]
    metrics: str
    benchmarks: str
    series: str
    runs: int | None
    problems: int | None


class BenchmarkContext(Result, frozen=True):
    """A benchmark with its key facts by their labels."""

    name: str
    page: str
    facts: dict[str, str]


class StatementContext(Result, frozen=True):
    """A statement with its place, what the data say, and the words to write instead."""

    place: str
    words: str
    expression: str
    truth: str
    found: str
    repaired: str


class ContextResult(Result, frozen=True):
    """What a report is, or a page of it; ``left_out`` counts what was cut of each list.

    ``statements`` are those that are not as expected, and of a page all. ``places`` say what is where.
    """

    title: str
    page: str | None
    pages: tuple[PageContext, ...]
    sources: tuple[SourceContext, ...]
    unused: tuple[str, ...]
    benchmarks: tuple[BenchmarkContext, ...]
    problems: tuple[str, ...]
    statements: tuple[StatementContext, ...]
    places: dict[str, str]
    left_out: dict[str, int] = field(default_factory=dict)


class PublishResult(Result, frozen=True):
    """What was published, and where."""

    folder: str
    versions: tuple[str, ...]
    previews: tuple[str, ...]
    files: int
    bytes: int


class HubResult(Result, frozen=True):
    """What an update of a hub changed, by names of reports; ``files`` were written."""

    folder: str
    reports: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    not_updated: tuple[str, ...]
    files: int


class ArchiveResult(Result, frozen=True):
    """The file that was written; ``identity`` is the SHA-256 of an archive's manifest."""

    file: str
    files: int
    bytes: int
    identity: str | None


class VerifyResult(Result, frozen=True):
    """What each level of a check of an archive found; what is wrong is a diagnostic."""

    lines: tuple[str, ...]


class CiteResult(Result, frozen=True):
    """How the report is cited, in each form."""

    bibtex: str
    cff: str
    apa: str
    datacite: str


class Suggestion(Result, frozen=True, kw_only=True):
    """What to write into ``file``, by its purpose, and a block that draws the data."""

    file: str
    settled: str = field(name="source.yml")
    repetitions: str = field(name="source.yml for repetitions")
    clusters: str = field(name="source.yml for clusters")
    roles: str = field(name="source.yml for roles")
    block: str


class DescribeResult(Result, frozen=True):
    """What a file or folder contains, and what to write about it."""

    path: str
    name: str
    kind: str
    format: str
    title: str
    shape: str
    read: tuple[str, ...]
    size: int
    unread: dict[str, int]
    series: tuple[str, ...]
    benchmarks: tuple[str, ...]
    checkpoints: str
    series_by: str
    seed_by: str
    step_name: str
    step_is_time: bool
    other_axes: tuple[str, ...]
    sources: tuple[DescribedSource, ...]
    roles: dict[str, Any]
    without_role: tuple[str, ...]
    settings_file: str
    has_settings: bool
    illustrative: bool
    runs: tuple[DescribedRun, ...]
    metrics: tuple[DescribedMetric, ...]
    evaluations: tuple[DescribedEvaluation, ...]
    totals: tuple[DescribedTotal, ...]
    suggested: Suggestion


class FreezeResult(Result, frozen=True):
    """The table that was written, or with --check the one that is up to date."""

    files: tuple[str, ...] = ()
    bytes: int = 0
    replaced: bool = False


class ExportResult(Result, frozen=True):
    """The files that were written."""

    files: tuple[str, ...]


class SchemaResult(Result, frozen=True):
    """JSON Schemas by their names."""

    schemas: dict[str, Any]


RESULTS: Final[dict[str, type[Result]]] = {
    "init": InitResult,
    "skills": InitResult,
    "add": AddResult,
    "build": BuildResult,
    "context": ContextResult,
    "check": CheckResult,
    "fix": EditResult,
    "bind": EditResult,
    "facts": FactsResult,
    "plan": PlanResult,
    "publish": PublishResult,
    "hub": HubResult,
    "archive": ArchiveResult,
    "verify": VerifyResult,
    "cite": CiteResult,
    "describe": DescribeResult,
    "freeze": FreezeResult,
    "export": ExportResult,
    "schema": SchemaResult,
}
"""By command; that of ``review`` is the review itself."""


def make_output_schemas(dialect: str) -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the review, of ``report.json``, and of the envelope of each command."""
    from reportgen.review.model import Review

    review = {"$schema": dialect, **Review.model_json_schema(mode="serialization")}
    own = {name: _write_schema(kind) for name, kind in RESULTS.items()} | {"review": review}
    envelopes = {f"envelope {name}": _make_envelope(name, result) for name, result in own.items()}
    made = {"report": _write_schema(ReportEntry), **envelopes}
    return {"review": review, **{name: {"$schema": dialect, **schema} for name, schema in made.items()}}


def _write_schema(kind: type[Struct]) -> dict[str, Any]:
    """Return the schema of a type, which it begins with; the others are definitions."""
    others = _allow_null(msgspec.json.schema(kind)["$defs"])
    return {**others.pop(kind.__name__), "$defs": others}


def _allow_null(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Let each number be null, as one that is infinite or NaN is written."""
    if isinstance(part, list):
        return [*map(_allow_null, part)]
    if not isinstance(part, dict):
        return part
    same = {key: _allow_null(one) for key, one in part.items()}
    return {**same, "type": ["number", "null"]} if same.get("type") == "number" else same


def _make_envelope(command: str, result: dict[str, Any]) -> dict[str, Any]:
    parts = {name: part for name, part in result.items() if name not in {"$schema", "$defs"}}
    envelope = _write_schema(Envelope)
    envelope["properties"] |= {"command": {"const": command}, "result": {"anyOf": [parts, {"type": "null"}]}}
    return {**envelope, "$defs": envelope["$defs"] | result.get("$defs", {})}
