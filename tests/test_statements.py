"""Statements: facts computed once, links that lead somewhere, and checks for programs and terminals.

What drafts, built pages and checks say of statements is in ``transcripts/statements_in_words.md``,
``drafted_statements.md``, ``bound_words.md``, ``references.md`` and ``check_formats.md``.
"""

from __future__ import annotations

import json
import math
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from command_line import call, run_on_terminal
from html_tree import classed, read_html, words
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from made_projects import PAGE, RUNS, SETTINGS, files_below, write_file, write_report
from test_report import drafted

from reportgen.core.errors import Diagnostic, SourceLocation, Stage
from reportgen.figures.text import write_link_state
from reportgen.site.checking import RULES, Check, format_annotations, format_sarif, make_findings

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

HEAD = "---\nbenchmark: {name: Small, source: runs, metric: accuracy}\n---\n\n# Small\n\n"
CURVE = "```curve\nid: scores\n```\n\n"
LINKED = f"""{HEAD}{CURVE}## Peak [0.82]{{value="peak(MEL)"}}

See [Figure]{{ref="scores"}}, [the panels in Fig.]{{ref='rates'}} and [Table]{{ref="last"}}.
[MEL ends above]{{claim="final(MEL) > final(GRPO)"}};
see [here](#statement-1) and [there](#checked-statements).

```observations
```

## Error rates

```panels
id: rates
source: runs
metrics: [accuracy]
title: Rates
```

### Ends at last

```table
id: last
source: runs
title: Ends
```
"""


def test_facts_are_computed_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft with other words about the same facts reads no data."""
    page = f'{HEAD}{CURVE}MEL ends at [0.82]{{value="final(MEL)"}}.\n'
    report = drafted(write_report(tmp_path, {"content/index.md": page}))
    (statement,) = report.statements["index.md"]
    assert statement.state == write_link_state("scores", ["MEL"], mark=(10, "MEL"))
    monkeypatch.setattr(
        import_module("reportgen.read"),
        "read_measurements",
        lambda *_, **__: pytest.fail("the data were read again"),
    )
    write_file(tmp_path / "content/index.md", page.replace("0.82", "0.9"))
    (problem,) = drafted(tmp_path).problems
    assert "final(MEL) = 0.82" in problem.message


def test_pages_and_figures_of_one_metric_share_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None forgets what another one stored: nothing is judged again."""
    two = "```curve\nid: again\n```\n\n"
    bound = 'MEL ends at [0.82]{value="final(MEL)"} and GRPO at [0.72]{value="final(GRPO)" of="again"}.'
    other = f'{HEAD}{CURVE}MEL [wins]{{claim="final(MEL) > final(GRPO)"}}.'.replace(
        "name: Small", "name: Same"
    )
    write_report(tmp_path, {"content/index.md": HEAD + CURVE + two + bound, "content/other.md": other})
    before = drafted(tmp_path, "index.md", "other.md").statements
    assert [len(found) for found in before.values()] == [2, 1]
    monkeypatch.setattr(import_module("reportgen.claims.judge"), "judge", None)
    assert drafted(tmp_path, "index.md", "other.md").statements == before


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> ET.Element:
    """A built page with statements, observations, references and blocks of three kinds."""
    root = write_report(tmp_path_factory.mktemp("stated"), {"content/index.md": LINKED})
    built = call(root, "build")
    assert (built.returncode, built.stderr) == (0, "")
    return read_html((root / "site/index.html").read_text("utf-8"))


def test_ids_differ_and_links_lead_to_them(page: ET.Element) -> None:
    """From statements to their rows and back, to states of figures, and from what an author wrote."""
    ids = [one.get("id") for one in page.iter() if one.get("id")]
    assert len(set(ids)) == len(ids)
    links = [href for a in page.iter("a") if (href := a.get("href", "")).startswith("#")]
    assert {link[1:] for link in links} <= set(ids)
    states = {one.get("id") for one in classed(page, "rg-anchor")}
    assert states == {link[1:] for link in links if "~" in link}
    assert len(states) > 4
    assert [words(one) for one in classed(page, "rg-bound")] == ["0.82", "MEL ends above"]


def test_titles_are_headings_beneath_their_section(page: ET.Element) -> None:
    """With the number that prose refers to, in the contents, too."""
    titles = [(one.tag, words(one)) for one in classed(page, "rg-title") if one.tag != "figcaption"]
    numbered = [(tag, text.replace("\N{NO-BREAK SPACE}", " ")) for tag, text in titles]
    assert [one for one in numbered if re.match(r"(Figure|Table) \d", one[1])] == [
        ("h2", "Figure 1. accuracy by step"),
        ("h3", "Figure 2. Rates"),
        ("h4", "Table 1. Ends"),
    ]


# ---- links to states of figures -------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
STEPS = st.floats(allow_nan=False, allow_infinity=False)


def test_a_link_says_only_what_is_given() -> None:
    """Parts that are not given are not written; whole steps have no decimals, and none is no number."""
    series = write_link_state("scores", ("MEL", "GRPO"), (100, 140), (120, "MEL"))
    assert series == "scores~series=MEL,GRPO~x=100..140~mark=120@MEL"
    assert write_link_state("scores") == "scores"
    assert write_link_state("diagnostics-2", x=(-0.5, 1e6)) == "diagnostics-2~x=-0.5..1000000"
    assert write_link_state("a", mark=(0.1, "Series A")) == "a~mark=0.1@Series%20A"
    odd = write_link_state("a", ("x~y,z@w/%", "é−"))
    assert odd == "a~series=x%7Ey%2Cz%40w%2F%25,%C3%A9%E2%88%92"
    for step in (math.nan, math.inf):
        with pytest.raises(ValueError, match="cannot name the step"):
            write_link_state("a", mark=(step, "b"))


@given(st.lists(NAMES), st.tuples(STEPS, STEPS), st.tuples(STEPS, NAMES))
def test_a_link_can_be_read_back(series: list[str], x: tuple[float, float], mark: tuple[float, str]) -> None:
    """Names may hold any character, and no step is rounded; in an address it needs no quotes."""
    link = write_link_state("a", series, x, mark)
    assert link.isascii()
    assert not set(link) & set(" \"'<>&#?/")
    figure, *parts = link.split("~")
    found = dict(part.split("=") for part in parts)
    assert figure == "a"
    assert [unquote(name) for name in found.get("series", "").split(",") if name] == series
    assert tuple(float(step) for step in found["x"].split("..")) == x
    step, name = found["mark"].split("@")
    assert (float(step), unquote(name)) == mark


# ---- checks for programs and terminals ------------------------------------------------------------

# One of each kind: holds, fails, cannot be decided, fails as expected, and holds against expectation.
STATED = f"""{PAGE}
[0.82]{{value="final(MEL)"}} [0.9]{{value="final(MEL)"}} [better]{{claim="better(Solo, MEL)"}}
[falls]{{claim="final(MEL) < 0.5" fails="noise"}} [never rises]{{claim="final(MEL) > 0.5" fails="noise"}}
"""
SOLO = f"{RUNS}Solo,1,0,0.2\nSolo,1,10,0.7\nGRPO,3"
ORDERS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with statements of each kind and a torn line of data; to be left as it is."""
    files = {"content/index.md": STATED, "data/runs.csv": SOLO}
    return write_report(tmp_path_factory.mktemp("stated") / "report", files)


# ---- SARIF ----------------------------------------------------------------------------------------

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


def read_sarif(text: str) -> dict[str, Any]:
    """The only run of a log that is as the standard says."""
    log = json.loads(text)
    Draft7Validator(LOG).validate(log)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_has_the_structure_of_the_standard(stated: Path) -> None:
    """Required members are there, no other is, and each rule named is described at its index."""
    run = read_sarif(call(stated, "check", "--format", "sarif").stdout)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == list(RULES)
    assert {stage.value for stage in Stage} < set(rules)
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("statement-fails", "error"),
        ("statement-undecided", "error"),
        ("expected-failure-holds", "error"),
        ("data", "warning"),
    ]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert places[0]["region"] == {"startLine": 8, "startColumn": 28, "endColumn": 33}
    assert places[3]["region"] == {"startLine": 12}
    nothing = read_sarif(format_sarif(Check((), (), is_whole=True), ""))
    assert nothing["results"] == []


def test_a_statement_that_is_not_as_expected_fails_a_check(stated: Path) -> None:
    """Also where nothing was said of it; one that holds does not, nor one that fails with its reason."""
    statements = drafted(stated).statements["index.md"]
    found = [Check((), (one,), is_whole=True).fails for one in statements]
    assert found == [False, True, True, False, True]


def check_only(root: Path, *problems: Diagnostic) -> Check:
    """A check of a report with these problems and no statements."""
    return Check(make_findings(problems, (), root), (), is_whole=True)


def test_addresses_and_annotations_are_escaped(tmp_path: Path) -> None:
    """From the folder of the repository; data beside it have their whole address."""
    torn = "the last line\r\nis torn off"
    inside = Diagnostic(SourceLocation("data/runs, 100%.csv", 10), torn, "", Stage.DATA)
    outside = Diagnostic(SourceLocation("/data/a b.csv", 3), "torn", "", Stage.DATA)
    found = read_sarif(format_sarif(check_only(tmp_path, inside, outside), "reports/"))["results"]
    first, last = (one["locations"][0]["physicalLocation"]["artifactLocation"] for one in found)
    assert first["uri"] == "reports/data/runs%2C%20100%25.csv"
    assert unquote(first["uri"]) == "reports/data/runs, 100%.csv"
    assert last == {"uri": "file:///data/a%20b.csv"}
    assert next(iter(format_annotations(check_only(tmp_path, inside), "reports/"))) == (
        "::error file=reports/data/runs%2C 100%25.csv,line=10,title=Problem in data::"
        "the last line%0D%0Ais torn off."
    )
    whole = Diagnostic(SourceLocation("mkdocs.yml"), "a: b, 5%", "", Stage.SETTINGS)
    assert list(format_annotations(check_only(tmp_path, whole), "")) == [
        "::error file=mkdocs.yml,title=Problem in settings::a: b, 5%25."
    ]


def test_files_are_named_as_the_repository_sees_them(tmp_path: Path) -> None:
    """From the workspace of the workflow if there is one."""
    root = write_report(tmp_path / "a" / "b", {"mkdocs.yml": SETTINGS.replace("[reportgen]", "[search]")})
    said = call(root, "check", "--format", "github", GITHUB_WORKSPACE=str(tmp_path)).stdout
    assert said.startswith("::error file=a/b/mkdocs.yml,")


# ---- the command ----------------------------------------------------------------------------------


def test_the_same_report_gives_the_same_bytes(stated: Path) -> None:
    """In every format, so that two checks can be compared."""
    said = {}
    for form in ("text", "github", "json", "sarif"):
        said[form] = call(stated, "check", "--format", form)
        assert (said[form].returncode, said[form].stderr) == (1, "")
        assert said[form].stdout == call(stated, "check", "--format", form).stdout
    text = said["json"].stdout
    value = json.loads(text)
    assert text == json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    assert value["result"]["counts"] == {
        "statements": 5,
        **dict.fromkeys(("hold", "fail", "undecided", "fail_as_expected", "hold_unexpectedly"), 1),
    }


def test_a_check_leaves_the_last_build_as_it_was(tmp_path: Path) -> None:
    """The next build still knows that nothing changed."""
    root = write_report(tmp_path)
    call(root, "build")
    before = files_below(root / "site")
    assert call(root, "check").returncode == 0
    assert files_below(root / "site") == before
    assert call(root, "build").stdout.startswith("Nothing changed: ")


def test_a_terminal_gets_a_table_of_its_width_with_colours(stated: Path) -> None:
    """Long cells are broken into lines, and no line is longer than the terminal is wide."""
    shown = run_on_terminal(stated, "check", COLUMNS="90")
    assert "\x1b[32mholds" in shown
    lines = [ORDERS.sub("", line).rstrip() for line in shown.splitlines()]
    head = next(n for n, line in enumerate(lines) if line.endswith("the data say"))
    assert lines[head].split()[:4] == ["where", "kind", "words", "truth"]
    assert all(len(line) <= 90 for line in lines[head:-1])
    assert len(lines) > head + 7
    assert lines[-1].startswith("5 statements: ")


def test_who_wants_no_colours_gets_none(stated: Path) -> None:
    """``NO_COLOR`` is set: no order of the terminal is a colour, in problems, in the table or in a diff."""
    colour = re.compile(r"\x1b\[(?:3\d|9\d|38;[\d;]+)m")
    for command in ("check", "fix"):
        assert colour.search(run_on_terminal(stated, command))
        assert not colour.search(run_on_terminal(stated, command, NO_COLOR="1"))
