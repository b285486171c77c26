"""``reportgen check``: what is told in each format, and how it leaves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from command_line import call
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from made_projects import PAGE, RUNS, SETTINGS, files_below, share_cache, write_report
from made_statements import said_of, statement

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.statements import Statement, Truth
from reportgen.site.checking import (
    RULES,
    Check,
    describe_counts,
    format_annotations,
    format_json,
    format_sarif,
    make_findings,
)

HOLDS, FAILS = statement(Truth.HOLDS), statement(Truth.FAILS, line=4, column=7)
UNDECIDED = statement(Truth.UNDECIDED, "MEL is best", kind="claim", expression="better(MEL, GRPO)", line=5)
EXPECTED = statement(Truth.FAILS, "never falls", kind="claim", fails="noise", line=6)
UNEXPECTED = statement(Truth.HOLDS, "never rises", kind="claim", fails="noise", line=7)
STATEMENTS = (HOLDS, FAILS, UNDECIDED, EXPECTED, UNEXPECTED)
TORN = Diagnostic(
    SourceLocation("data/runs, 100%.csv", 10),
    "the last line\r\nis torn off",
    "",
    Stage.DATA,
    Severity.WARNING,
)


def made(*problems: Diagnostic, statements: tuple[Statement, ...] = ()) -> Check:
    """A check of a report whose pages are not on disk."""
    return Check(make_findings(problems, statements, Path("nowhere")), statements, is_whole=True)


def everything() -> Check:
    """One of each rule about statements, and a warning about data."""
    return made(said_of(FAILS), said_of(UNDECIDED), said_of(UNEXPECTED), TORN, statements=STATEMENTS)


# ---- what fails ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "fails"),
    [((), False), ((HOLDS, EXPECTED), False), ((FAILS,), True), ((UNDECIDED,), True), ((UNEXPECTED,), True)],
)
def test_a_statement_that_is_not_as_expected_fails_the_check(
    statements: tuple[Statement, ...], *, fails: bool
) -> None:
    """One that holds does not, and neither does a failure with its reason."""
    assert made(statements=statements).fails is fails


def test_an_error_fails_the_check_and_a_warning_does_not() -> None:
    """A torn line of data was handled, and is told."""
    assert not made(TORN).fails
    assert made(Diagnostic(SourceLocation("mkdocs.yml"), "no plugin", "", Stage.SETTINGS)).fails


def test_what_is_told_of_a_statement_is_an_error_here() -> None:
    """A build warns of it; all others keep what they are."""
    rules = [(finding.rule, finding.diagnostic.severity.value) for finding in everything().findings]
    assert rules == [
        ("statement-fails", "error"),
        ("statement-undecided", "error"),
        ("expected-failure-holds", "error"),
        ("data", "warning"),
    ]


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ((), "0 statements"),
        ((HOLDS,), "1 statement: 1 holds"),
        ((HOLDS, HOLDS, FAILS, FAILS, UNDECIDED), "5 statements: 2 hold, 2 fail, 1 cannot be decided"),
        ((HOLDS, EXPECTED), "2 statements: 1 holds, 1 fails as expected"),
        ((UNEXPECTED,), "1 statement: 1 holds unexpectedly"),
    ],
)
def test_the_closing_words_count(statements: tuple[Statement, ...], words: str) -> None:
    """Only what there is is named."""
    assert describe_counts(statements) == words


# ---- annotations --------------------------------------------------------------------------------


def test_annotations_name_file_line_column_and_title() -> None:
    """As GitHub reads them, from the folder of the repository."""
    lines = list(format_annotations(everything(), "reports/"))
    assert lines[0] == (
        "::error file=reports/content/index.md,line=4,col=7,title=Statement fails::"
        '"0.84" but peak(MEL) = 0.82 at step 10. Look again.'
    )
    assert lines[3] == (
        "::warning file=reports/data/runs%2C 100%25.csv,line=10,title=Problem in data::"
        "the last line%0D%0Ais torn off."
    )


def test_an_annotation_says_no_more_than_is_known() -> None:
    """A problem of a whole file has neither line nor column."""
    check = made(Diagnostic(SourceLocation("mkdocs.yml"), "a: b, 5%", "", Stage.SETTINGS))
    assert list(format_annotations(check, "")) == [
        "::error file=mkdocs.yml,title=Problem in settings::a: b, 5%25."
    ]


# ---- JSON ---------------------------------------------------------------------------------------


def test_json_holds_problems_and_statements() -> None:
    """With counts, sorted keys, and nothing left out."""
    text = format_json(everything())
    value = json.loads(text)
    assert text == json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert value["fails"] is True
    assert value["counts"] == {
        "statements": 5,
        "hold": 1,
        "fail": 1,
        "undecided": 1,
        "fail_as_expected": 1,
        "hold_unexpectedly": 1,
    }
    assert [one["truth"] for one in value["statements"]] == [
        *("holds", "fails", "cannot be decided", "fails", "holds")
    ]
    assert value["problems"][0] == {
        "file": "content/index.md",
        "line": 4,
        "column": 7,
        "length": None,
        "severity": "error",
        "stage": "narrative",
        "rule": "statement-fails",
        "message": '"0.84" but peak(MEL) = 0.82 at step 10',
        "next_step": "Look again",
    }


def test_json_of_an_unfinished_draft_has_no_statements() -> None:
    """None is not the same as nothing to check."""
    value = json.loads(format_json(Check((), (), is_whole=False)))
    assert (value["statements"], value["counts"]) == (None, None)


# ---- SARIF --------------------------------------------------------------------------------------

TEXT: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
POSITIVE = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def closed(*required: str, **properties: object) -> dict[str, Any]:
    """A schema of an object with these properties and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


# The parts of the standard's own schema that concern what is written here; it closes its objects, too.
REGION = closed(startLine=POSITIVE, startColumn=POSITIVE, endColumn=POSITIVE)
ARTIFACT = closed(uri={"type": "string", "format": "uri-reference"}, uriBaseId={"type": "string"})
LOCATION = closed(physicalLocation=closed("artifactLocation", artifactLocation=ARTIFACT, region=REGION))
RESULT = closed(
    "message",
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=TEXT,
    locations={"type": "array", "items": LOCATION},
)
RULE = closed(
    "id",
    id={"type": "string"},
    shortDescription=TEXT,
    fullDescription=TEXT,
    help=TEXT,
    defaultConfiguration=closed(level=LEVEL),
)
DRIVER = closed(
    "name",
    name={"type": "string"},
    semanticVersion={"type": "string"},
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
RUN = closed(
    "tool",
    tool=closed("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations={
        "type": "array",
        "items": closed("executionSuccessful", executionSuccessful={"type": "boolean"}),
    },
    results={"type": "array", "items": RESULT},
)
LOG = closed(
    "version",
    "runs",
    **{
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN},
    },
)


@pytest.mark.parametrize("check", [made(), everything(), made(TORN)], ids=["nothing", "everything", "data"])
def test_sarif_has_the_structure_of_the_standard(check: Check) -> None:
    """Required members are there, no other is, and each rule named is described at its index."""
    log = json.loads(format_sarif(check, ""))
    Draft7Validator(LOG).validate(log)
    (only,) = log["runs"]
    rules = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert rules == list(RULES)
    assert {stage.value for stage in Stage} < set(rules)
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in only["results"])


def test_sarif_addresses_are_relative_and_escaped() -> None:
    """From the folder of the repository, as code hosts want it."""
    log = json.loads(format_sarif(everything(), "reports/"))
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    addresses = [place["artifactLocation"]["uri"] for place in places]
    assert addresses[3] == "reports/data/runs%2C%20100%25.csv"
    assert unquote(addresses[3]) == "reports/data/runs, 100%.csv"
    assert places[0]["region"] == {"startLine": 4, "startColumn": 7}
    assert places[3]["region"] == {"startLine": 10}


def test_a_file_outside_the_report_has_its_whole_address() -> None:
    """Data may lie beside the repository, and then it is relative to nothing."""
    log = json.loads(
        format_sarif(made(Diagnostic(SourceLocation("/data/a b.csv", 3), "torn", "", Stage.DATA)), "reports/")
    )
    (found,) = log["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///data/a%20b.csv"}


# ---- the command --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report without statements, checked once."""
    root = write_report(tmp_path_factory.mktemp("check") / "report")
    done = call(root, "check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 statements\n", "")
    return root


def test_a_check_writes_nothing_but_its_cache(report: Path) -> None:
    """No site, and no page is touched."""
    assert not (report / "site").exists()
    assert {path.name for path in report.iterdir()} == {"content", "data", "mkdocs.yml"}


def test_problems_are_told_with_their_line_and_a_caret(report: Path, tmp_path: Path) -> None:
    """All at once on the output channel, since they are what was asked for."""
    wrong = PAGE.replace("title", "titel")
    root = write_report(tmp_path / "wrong", {"content/index.md": wrong, "data/other.csv": "a\n"})
    share_cache(report, root)
    done = call(root, "check")
    assert (done.returncode, done.stderr) == (1, "")
    first, line, caret, last = done.stdout.splitlines()
    assert first.startswith('content/index.md:5:1: error: "titel" is not a key of a curve block. ')
    assert (line, caret) == ("    5 | titel: Accuracy", "      | ^")
    assert last == "1 problem; statements are counted once there is none."


def test_warnings_about_data_do_not_fail_a_check(report: Path, tmp_path: Path) -> None:
    """They are told with their place; a line that was left out is shown."""
    root = write_report(tmp_path / "torn", {"data/runs.csv": RUNS + "GRPO,2,20"})
    share_cache(report, root)
    done = call(root, "check")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        (
            "data/runs.csv:10: warning: the last line is torn off and was left out. "
            "[last-line-torn-off-left-out]"
        ),
        "   10 | GRPO,2,20",
        "",
        "0 statements",
    ]


def test_a_merge_in_the_settings_is_named(tmp_path: Path) -> None:
    """With the line of its first mark; MkDocs only finds no colon."""
    marked = f"{SETTINGS}<<<<<<< HEAD\nsite_author: A\n=======\nsite_author: B\n>>>>>>> other\n"
    root = write_report(tmp_path, {"mkdocs.yml": marked})
    line = SETTINGS.count("\n") + 1
    said = f"mkdocs.yml:{line}: this line is a merge conflict mark of Git. Keep one of the two versions"
    for command in ("check", "build"):
        done = call(root, command)
        assert done.returncode == 1
        assert said in (done.stdout + done.stderr).replace("error: ", "")


def test_each_problem_of_our_settings_has_its_line(tmp_path: Path) -> None:
    """Not in one message of MkDocs, which names no line of its own; the same before pages are served."""
    settings = SETTINGS.replace("[reportgen]", "[reportgen: {colours: {a: grey}, bench: 4}]")
    root = write_report(tmp_path, {"mkdocs.yml": f"{settings}colour: red\n"})
    line = settings[: settings.index("grey")].count("\n") + 1
    checked = call(root, "check").stdout
    assert re.search(rf'^mkdocs.yml:{line}:\d+: error: "grey" is no colour', checked, re.MULTILINE)
    assert re.search(rf'^mkdocs.yml:{line}:\d+: error: "bench" is not a key', checked, re.MULTILINE)
    assert "mkdocs.yml: error: Config value 'colour': " in checked
    assert "option 'reportgen'" not in checked
    served = call(root, "serve").stderr
    assert re.search(rf'^mkdocs.yml:{line}:\d+: error: "grey" is no colour', served, re.MULTILINE)


def test_refused_settings_are_told_in_the_format_asked_for(tmp_path: Path) -> None:
    """A program that reads JSON gets JSON, whatever is wrong."""
    root = write_report(tmp_path, {"mkdocs.yml": SETTINGS.replace("[reportgen]", "[search]")})
    done = call(root, "check", "--format", "json")
    assert done.returncode == 1
    (problem,) = json.loads(done.stdout)["problems"]
    assert (problem["file"], problem["rule"], problem["column"]) == ("mkdocs.yml", "settings", None)
    sarif = json.loads(call(root, "check", "--format", "sarif").stdout)
    assert sarif["runs"][0]["invocations"] == [{"executionSuccessful": False}]


def test_files_are_named_as_the_repository_sees_them(tmp_path: Path) -> None:
    """From the workspace of the workflow if there is one, otherwise from where the command is run."""
    settings = SETTINGS.replace("[reportgen]", "[search]")
    root = write_report(tmp_path / "a" / "b", {"mkdocs.yml": settings})
    words = ("check", "--format", "github", "-f", str(root / "mkdocs.yml"))
    assert call(root, *words).stdout.startswith("::error file=mkdocs.yml,")
    assert call(tmp_path / "a", *words).stdout.startswith("::error file=b/mkdocs.yml,")
    assert call(root, *words, GITHUB_WORKSPACE=str(tmp_path)).stdout.startswith(
        "::error file=a/b/mkdocs.yml,"
    )


def test_a_check_leaves_the_last_build_as_it_was(report: Path, tmp_path: Path) -> None:
    """The next build still knows that nothing changed."""
    root = write_report(tmp_path / "built")
    share_cache(report, root)
    call(root, "build")
    before = files_below(root / "site")
    assert call(root, "check").returncode == 0
    assert files_below(root / "site") == before
    assert call(root, "build").stdout.startswith("Nothing changed: ")


def test_what_mkdocs_says_to_its_settings_is_a_warning(report: Path, tmp_path: Path) -> None:
    """It was handled, so the check goes on."""
    root = write_report(tmp_path / "odd", {"mkdocs.yml": SETTINGS + "colour: red\n"})
    share_cache(report, root)
    done = call(root, "check")
    assert done.returncode == 0
    assert re.match(r"mkdocs\.yml: warning: .*colour", done.stdout)
    assert done.stderr == ""


def test_an_unknown_format_is_wrong_usage(tmp_path: Path) -> None:
    """With the formats that there are."""
    done = call(write_report(tmp_path), "check", "--format", "xml")
    assert done.returncode == 2
    assert re.search("text.*github.*json.*sarif", done.stderr)
