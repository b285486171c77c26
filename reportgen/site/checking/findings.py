"""Findings of a check: the rule that each problem or statement breaks, and whether it fails the check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.core.errors import Severity, Stage
from reportgen.core.statements import Truth
from reportgen.core.words import format_count
from reportgen.site.terminal import read_source_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.statements import Statement


FAILS, UNDECIDED, UNEXPECTED = "statement-fails", "statement-undecided", "expected-failure-holds"
RULES: dict[str, tuple[str, str]] = {
    FAILS: ("Statement fails", "The data say otherwise; reportgen fix repairs bound values."),
    UNDECIDED: ("Statement cannot be decided", "The data do not suffice to tell whether it is true."),
    UNEXPECTED: ("Expected failure holds", "A claim that is marked with fails= holds."),
    Stage.SETTINGS.value: ("Problem in settings", "Something in mkdocs.yml, a source.yml or a block."),
    Stage.DATA.value: ("Problem in data", "Something in the data folder, or in what is asked of it."),
    Stage.NARRATIVE.value: ("Problem in a page", "Something in a Markdown page."),
    Stage.FIGURE.value: ("Problem in a figure", "A figure cannot be drawn as asked."),
    Stage.SITE.value: ("Problem of the site", "What MkDocs or the site's folder says."),
}
"""Every rule by its id: what breaking it is called, and what it means."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic of a check, and the rule that is broken.

    Attributes:
        diagnostic: as the draft gave it; about a statement it is an error, since that fails the check.
        rule: a key of ``RULES``.
        line: the text of the line; None where there is none to show.
        length: how many characters of the line it is about, from its column on; 0 where that is not known.
    """

    diagnostic: Diagnostic
    rule: str
    line: str | None
    length: int

    @property
    def fails(self) -> bool:
        """Whether it fails the check."""
        return self.diagnostic.severity is Severity.ERROR


def make_findings(
    problems: Iterable[Diagnostic], statements: Iterable[Statement], root: Path
) -> tuple[Finding, ...]:
    """Every diagnostic with its rule, in the given order.

    Args:
        problems: what the draft reports.
        statements: those that it checked.
        root: the folder that locations are relative to.
    """
    broken = {one.binding.location: one for one in statements if not one.as_expected}
    return tuple(_make_finding(problem, broken.get(problem.location), root) for problem in problems)


def _make_finding(problem: Diagnostic, broken: Statement | None, root: Path) -> Finding:
    line = read_source_line(root, problem.location)
    if broken is None or problem.severity is Severity.ERROR:
        return Finding(problem, problem.stage.value, line, 0)
    length = broken.binding.end - broken.binding.start + len("[]")
    rest = len(line or "") - (problem.location.column or 1) + 1
    failed = replace(problem, severity=Severity.ERROR)
    return Finding(failed, find_rule(broken), line, max(min(length, rest), 0))


def find_rule(statement: Statement) -> str:
    """The rule that a statement breaks which is not as expected."""
    truth = statement.judgement.truth
    if truth is Truth.UNDECIDED:
        return UNDECIDED
    return FAILS if truth is Truth.FAILS else UNEXPECTED


def add_prefix(prefix: str, file: str) -> str:
    """A file as the repository sees it, which has the report in the folder ``prefix``, such as ``docs/``.

    A file outside the report has its whole path already.
    """
    return file if file.startswith("/") else f"{prefix}{file}"


def describe_truth(statement: Statement) -> str:
    """What became of a statement: ``holds``, ``fails``, ``cannot be decided``, or how it was expected."""
    truth = statement.judgement.truth
    if statement.binding.fails:
        words = {Truth.FAILS: "fails as expected", Truth.HOLDS: "holds unexpectedly"}
        return words.get(truth, truth.value)
    return truth.value


def count_statements(statements: Sequence[Statement]) -> dict[str, int]:
    """How many statements there are, hold, fail, cannot be decided, and how many were expected to fail."""
    words = [describe_truth(statement) for statement in statements]
    return {
        "statements": len(words),
        "hold": words.count("holds"),
        "fail": words.count("fails"),
        "undecided": words.count("cannot be decided"),
        "fail_as_expected": words.count("fails as expected"),
        "hold_unexpectedly": words.count("holds unexpectedly"),
    }


def describe_counts(statements: Sequence[Statement]) -> str:
    """``41 statements: 39 hold, 1 fails, 1 cannot be decided``."""
    counts = count_statements(statements)
    phrases = {
        "hold": ("holds", "hold"),
        "fail": ("fails", "fail"),
        "undecided": ("cannot be decided", "cannot be decided"),
        "fail_as_expected": ("fails as expected", "fail as expected"),
        "hold_unexpectedly": ("holds unexpectedly", "hold unexpectedly"),
    }
    parts = ", ".join(format_count(counts[name], *words) for name, words in phrases.items() if counts[name])
    return f"{format_count(len(statements), 'statement')}{': ' if statements else ''}{parts}"


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found; it is not whole, and has no statements, where an error stopped the draft."""

    findings: tuple[Finding, ...]
    statements: tuple[Statement, ...]
    is_whole: bool

    @property
    def fails(self) -> bool:
        """Whether there is an error, or a statement that is not as expected; warnings do not count."""
        return any(finding.fails for finding in self.findings) or not all(
            statement.as_expected for statement in self.statements
        )
