"""A check for other programs: annotations of a GitHub workflow, JSON, and SARIF 2.1.0 (OASIS, 2020)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reportgen.core import __version__
from reportgen.site.checking.findings import RULES, add_prefix, count_statements
from reportgen.site.outputs import describe_diagnostic, describe_statement
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
        check: the findings.
        prefix: the report's folder as the repository sees it, with a slash at its end, or empty.
    """
    for finding in check.findings:
        place, severity = finding.diagnostic.location, finding.diagnostic.severity
        values: dict[str, str | int | None] = {
            "file": add_prefix(prefix, place.file),
            "line": place.line,
            "col": place.column,
            "endColumn": place.column + finding.length if place.column and finding.length else None,
            "title": RULES[finding.rule][0],
        }
        properties = ",".join(
            f"{name}={_escape_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for name, value in values.items()
            if value is not None
        )
        yield f"::{severity} {properties}::{_escape_data(finding.diagnostic.text)}"


def _escape_data(text: str) -> str:
    """A message as the workflow commands of GitHub Actions want it escaped."""
    lines = (clean_lines(line).replace("%", "%25").replace("\n", "%0A") for line in text.split("\r"))
    return "%0D".join(lines)


def format_json(check: Check) -> str:
    """The whole check."""
    value = {
        "format": FORMAT,
        "fails": check.fails,
        "counts": count_statements(check.statements) if check.is_whole else None,
        "problems": [_describe_finding(finding) for finding in check.findings],
        "statements": [_describe_statement(one) for one in check.statements] if check.is_whole else None,
    }
    return encode_json(value)


def encode_json(value: object) -> str:
    """JSON to read and to compare, keys sorted; the same value gives the same bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{clean_json(text)}\n"


def _describe_finding(finding: Finding) -> dict[str, Any]:
    return describe_diagnostic(finding.diagnostic) | {
        "column": finding.diagnostic.location.column,
        "length": finding.length or None,
        "stage": finding.diagnostic.stage.value,
        "rule": finding.rule,
    }


def _describe_statement(statement: Statement) -> dict[str, Any]:
    value = describe_statement(statement) | {"file": statement.binding.location.file}
    del value["facts"], value["state"]
    return value | {key: value[key] or None for key in ("name", "expected_to_fail", "repaired", "figure")}


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def format_sarif(check: Check, prefix: str) -> str:
    """A check as a SARIF log with one run.

    Args:
        check: the findings.
        prefix: the report's folder as the repository sees it, with a slash at its end, or empty; addresses
            of files are relative to the repository.
    """
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
    return encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _describe_location(finding: Finding, prefix: str) -> dict[str, Any]:
    place = finding.diagnostic.location
    uri = quote(add_prefix(prefix, place.file))
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
