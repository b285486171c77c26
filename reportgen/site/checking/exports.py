"""A check for other programs: annotations of a GitHub workflow, JSON, and SARIF 2.1.0 (OASIS, 2020)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reportgen.core import __version__
from reportgen.core.errors import Severity
from reportgen.site.checking.findings import RULES, add_prefix, count_statements
from reportgen.site.terminal import clean_json, clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.statements import Statement
    from reportgen.site.checking.findings import Check, Finding


FORMAT = 1
"""Of the JSON; a new number says that something was renamed or taken away."""


def format_annotations(check: Check, prefix: str) -> Iterator[str]:
    """A workflow command a finding, such as ``::error file=content/index.md,line=5,col=3,title=…::…``.

    Args:
        check: what was found.
        prefix: the report's folder as the repository sees it, with a slash at its end, or empty.
    """
    for finding in check.findings:
        yield (
            f"::{finding.problem.severity} "
            f"{_format_properties(finding, prefix)}::{_escape_data(finding.message)}"
        )


def _format_properties(finding: Finding, prefix: str) -> str:
    place = finding.problem.location
    values: dict[str, str | int | None] = {
        "file": add_prefix(prefix, place.file),
        "line": place.line,
        "col": place.column,
        "endColumn": place.column + finding.length if place.column and finding.length else None,
        "title": RULES[finding.rule][0],
    }
    return ",".join(
        f"{name}={_escape_property(str(value))}" for name, value in values.items() if value is not None
    )


def _escape_data(text: str) -> str:
    """As the workflow commands of GitHub Actions want a message escaped."""
    lines = (clean_lines(line).replace("%", "%25").replace("\n", "%0A") for line in text.split("\r"))
    return "%0D".join(lines)


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def format_json(check: Check) -> str:
    """The whole check."""
    value = {
        "format": FORMAT,
        "fails": check.fails,
        "counts": count_statements(check.statements) if check.is_whole else None,
        "problems": [_describe_problem(finding) for finding in check.findings],
        "statements": [_describe_statement(statement) for statement in check.statements]
        if check.is_whole
        else None,
    }
    return encode_json(value)


def encode_json(value: object) -> str:
    """JSON to read and to compare, keys sorted; the same value gives the same bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{clean_json(text)}\n"


def _describe_problem(finding: Finding) -> dict[str, Any]:
    problem = finding.problem
    return {
        "file": problem.location.file,
        "line": problem.location.line,
        "column": problem.location.column,
        "length": finding.length or None,
        "severity": problem.severity.value,
        "stage": problem.stage.value,
        "rule": finding.rule,
        "message": problem.message,
        "next_step": problem.next_step,
    }


def _describe_statement(statement: Statement) -> dict[str, Any]:
    binding, judgement = statement.binding, statement.judgement
    return {
        "file": binding.location.file,
        "line": binding.location.line,
        "column": binding.location.column,
        "number": statement.number,
        "kind": binding.kind,
        "words": binding.words,
        "expression": binding.expression,
        "of": binding.of,
        "name": binding.name or None,
        "expected_to_fail": binding.fails or None,
        "truth": judgement.truth.value,
        "as_expected": statement.as_expected,
        "found": judgement.found,
        "evidence": list(judgement.evidence),
        "repaired": judgement.repaired or None,
        "metric": statement.metric,
        "figure": statement.figure or None,
    }


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def format_sarif(check: Check, prefix: str) -> str:
    """A check as a SARIF log with one run.

    Args:
        check: what was found.
        prefix: the report's folder as the repository sees it, with a slash at its end, or empty; addresses
            of files are relative to the repository.
    """
    driver = {
        "name": "reportgen",
        "semanticVersion": __version__,
        "rules": [_describe_rule(name) for name in RULES],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": check.is_whole}],
        "results": [_describe_result(finding, prefix) for finding in check.findings],
    }
    return encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _describe_rule(name: str) -> dict[str, Any]:
    title, says = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": f"{title}."},
        "fullDescription": {"text": says},
        "help": {"text": says},
        "defaultConfiguration": {"level": "error"},
    }


def _describe_result(finding: Finding, prefix: str) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "ruleIndex": list(RULES).index(finding.rule),
        "level": _LEVELS[finding.problem.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": _describe_location(finding, prefix)}],
    }


def _describe_location(finding: Finding, prefix: str) -> dict[str, Any]:
    place = finding.problem.location
    uri = quote(add_prefix(prefix, place.file))
    within = {"uri": uri, "uriBaseId": "%SRCROOT%"}
    # A file outside the report has a whole path, which is not relative to anything.
    location: dict[str, Any] = {
        "artifactLocation": {"uri": f"file://{uri}"} if uri.startswith("/") else within
    }
    region: dict[str, Any] = {}
    if place.line:
        region["startLine"] = place.line
        if place.column:
            region["startColumn"] = place.column
            if finding.length:
                region["endColumn"] = place.column + finding.length
        location["region"] = region
    return location
