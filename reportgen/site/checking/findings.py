"""Findings of a check: which rule each diagnostic breaks, as text and for other programs.

These read annotations of a GitHub workflow, JSON, and SARIF 2.1.0 (OASIS, 2020).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reportgen.core import __version__
from reportgen.core.errors import Severity, Stage
from reportgen.core.statements import Truth
from reportgen.core.words import format_count
from reportgen.site.outputs import describe_diagnostic, describe_statement
from reportgen.site.terminal import clean_json, format_annotation, read_source_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.statements import Statement

_FAILS, _UNDECIDED, _UNEXPECTED = "statement-fails", "statement-undecided", "expected-failure-holds"
# Every rule by its id: what breaking it is called, and what it means.
RULES: dict[str, tuple[str, str]] = {
    _FAILS: ("Statement fails", "The data say otherwise; reportgen fix repairs bound values."),
    _UNDECIDED: ("Statement cannot be decided", "The data do not suffice to tell whether it is true."),
    _UNEXPECTED: ("Expected failure holds", "A claim that is marked with fails= holds."),
    Stage.SETTINGS.value: ("Problem in settings", "Something in mkdocs.yml, a source.yml or a block."),
    Stage.DATA.value: ("Problem in data", "Something in the data folder, or in what is asked of it."),
    Stage.NARRATIVE.value: ("Problem in a page", "Something in a Markdown page."),
    Stage.FIGURE.value: ("Problem in a figure", "A figure cannot be drawn as asked."),
    Stage.SITE.value: ("Problem of the site", "What MkDocs or the site's folder says."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic of a check, which is an error if it is about a statement, and the rule that is broken.

    ``line`` is the text of the line, None where there is none to show; ``length`` is how many characters of
    it the finding is about, from its column on, 0 where that is not known.
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
    """Every diagnostic of a draft with its rule; locations are relative to ``root``."""
    broken = {one.binding.location: one for one in statements if not one.as_expected}
    findings = []
    for problem in problems:
        line, statement = read_source_line(root, problem.location), broken.get(problem.location)
        if statement is None or problem.severity is Severity.ERROR:
            findings.append(Finding(problem, problem.stage.value, line, 0))
            continue
        rules = {Truth.UNDECIDED: _UNDECIDED, Truth.FAILS: _FAILS}
        rule = rules.get(statement.judgement.truth, _UNEXPECTED)
        length = statement.binding.end - statement.binding.start + len("[]")
        rest = len(line or "") - (problem.location.column or 1) + 1
        failed = replace(problem, severity=Severity.ERROR)
        findings.append(Finding(failed, rule, line, max(min(length, rest), 0)))
    return tuple(findings)


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
        expected = all(statement.as_expected for statement in self.statements)
        return any(finding.fails for finding in self.findings) or not expected


FORMAT = 1
"""Of the JSON; a new number says that something was renamed or taken away."""


def _add_prefix(prefix: str, file: str) -> str:
    """A file as the repository sees it; one outside the report has its whole path already."""
    return file if file.startswith("/") else f"{prefix}{file}"


def format_annotations(check: Check, prefix: str) -> Iterator[str]:
    """Workflow commands ``::error file=content/index.md,line=5,…::…``; ``prefix`` is the report's folder."""
    for finding in check.findings:
        place, severity = finding.diagnostic.location, finding.diagnostic.severity
        values: dict[str, str | int | None] = {
            "file": _add_prefix(prefix, place.file),
            "line": place.line,
            "col": place.column,
            "endColumn": place.column + finding.length if place.column and finding.length else None,
            "title": RULES[finding.rule][0],
        }
        yield format_annotation(severity, values, finding.diagnostic.text)


def format_json(check: Check) -> str:
    """The whole check."""
    problems = []
    for finding in check.findings:
        own = {
            "column": finding.diagnostic.location.column,
            "length": finding.length or None,
            "stage": finding.diagnostic.stage.value,
            "rule": finding.rule,
        }
        problems.append(describe_diagnostic(finding.diagnostic) | own)
    statements = []
    for one in check.statements:
        value = describe_statement(one) | {"file": one.binding.location.file}
        del value["facts"], value["state"]
        optional = ("name", "expected_to_fail", "repaired", "figure")
        statements.append(value | {key: value[key] or None for key in optional})
    return _encode_json(
        {
            "format": FORMAT,
            "fails": check.fails,
            "counts": count_statements(check.statements) if check.is_whole else None,
            "problems": problems,
            "statements": statements if check.is_whole else None,
        }
    )


def _encode_json(value: object) -> str:
    """JSON to read and to compare, keys sorted; the same value gives the same bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{clean_json(text)}\n"


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def format_sarif(check: Check, prefix: str) -> str:
    """A SARIF log with one run; ``prefix`` is the report's folder in the repository, such as ``docs/``."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": f"{title}."},
            "fullDescription": {"text": meaning},
            "help": {"text": meaning},
            "defaultConfiguration": {"level": "error"},
        }
        for name, (title, meaning) in RULES.items()
    ]
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": list(RULES).index(finding.rule),
            "level": finding.diagnostic.severity.value,
            "message": {"text": finding.diagnostic.text},
            "locations": [{"physicalLocation": _describe_location(finding, prefix)}],
        }
        for finding in check.findings
    ]
    run = {
        "tool": {"driver": {"name": "reportgen", "semanticVersion": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": check.is_whole}],
        "results": results,
    }
    return _encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _describe_location(finding: Finding, prefix: str) -> dict[str, Any]:
    place = finding.diagnostic.location
    uri = quote(_add_prefix(prefix, place.file))
    # A file outside the report has a whole path, which is not relative to anything.
    artifact = {"uri": f"file://{uri}"} if uri.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    if not place.line:
        return {"artifactLocation": artifact}
    region = {"startLine": place.line}
    if place.column:
        region["startColumn"] = place.column
        if finding.length:
            region["endColumn"] = place.column + finding.length
    return {"artifactLocation": artifact, "region": region}
