"""A check as SARIF 2.1.0, which code hosts and editors read.

The format: Static Analysis Results Interchange Format, OASIS Standard, 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reportgen import __version__
from reportgen.errors import Severity
from reportgen.site.checking.findings import RULES, add_prefix
from reportgen.site.checking.statement_reports import encode_json

if TYPE_CHECKING:
    from reportgen.site.checking.checking import Check
    from reportgen.site.checking.findings import Finding

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
    place = finding.problem.place
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
