"""The example report's own words: bound throughout, true, and told of one by one when a number changes."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from example_site import ROOT
from made_projects import share_cache

from reportgen.cli.main import cli
from reportgen.core.model import Observations
from reportgen.core.statements import Truth
from reportgen.settings.blocks import CurveSettings
from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.draft.report import Report

# A page, how many statements it has at least, and how many blocks of observations.
PAGES = {
    "index.md": (3, 0),
    "math500.md": (25, 1),
    "aime.md": (40, 1),
    "model-comparison.md": (25, 0),
    "training-accuracy.md": (30, 2),
    "training-diagnostics.md": (35, 2),
}
GUIDE = {"guide/statements.md": 6, "guide/scores.md": 3}

# Decimals in the prose that the data do not give: what a script or a formula knows, and limits that are set.
OWN_NUMBERS = {
    "math500.md": {"0.82", "0.18", "0.017", "0.005"},  # a standard error, and the precision of reading
    "aime.md": {"3.3"},  # one problem of 30, in points
    "model-comparison.md": {"17.0", "13.0", "3.0", "0.0", "0.05"},  # true differences, and a level
}
VALUE = re.compile(r"\[[^\[\]]*\]\{value=")
BOUND = re.compile(r"\[[^\[\]]*\]\{[^{}]*\}")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+")


@pytest.fixture(scope="module")
def example(example_site: Path) -> Path:
    """The example report with what its build computed; nobody may change it."""
    return example_site.parent


@pytest.fixture(scope="module")
def report(example: Path) -> Report:
    """The draft of the example report."""
    return draft_report(example / "mkdocs.yml", progress=lambda _done, _all: None)[0]


@pytest.fixture
def changed(example: Path, tmp_path: Path) -> Callable[[str, str, str], Path]:
    """A way to copy the five pages with their data and to put one line of data in place of another."""

    def change(file: str, old: str, new: str) -> Path:
        root = tmp_path / "report"
        shutil.copytree(example, root, ignore=shutil.ignore_patterns("guide", "site"))
        share_cache(example, root)
        data = root / "data" / file
        text = data.read_text("utf-8")
        assert text.count(f"\n{old}\n") == 1
        data.write_text(text.replace(f"\n{old}\n", f"\n{new}\n"), "utf-8")
        return root

    return change


# ---- the report as it is ------------------------------------------------------------------------


def test_every_statement_is_as_expected(report: Report) -> None:
    """What the example says of its data is so."""
    statements = [one for several in report.statements.values() for one in several]
    assert [one.judgement.found for one in statements if not one.as_expected] == []
    assert report.problems == ()


@pytest.mark.parametrize(
    ("page", "least"), [*((page, least) for page, (least, _) in PAGES.items()), *GUIDE.items()]
)
def test_pages_state_what_they_say(report: Report, page: str, least: int) -> None:
    """The narrative is bound throughout, by values and by claims."""
    statements = report.statements[page]
    assert len(statements) >= least
    assert "claim" in {one.binding.kind for one in statements}


@pytest.mark.parametrize(("page", "blocks"), [(page, blocks) for page, (_, blocks) in PAGES.items()])
def test_pages_show_observations(report: Report, page: str, blocks: int) -> None:
    """Beside each figure of curves stands what rules find in it, linked to it."""
    found = [one for (path, _), one in report.shown.items() if path == page and isinstance(one, Observations)]
    assert len(found) == blocks
    assert all(one.items and all(item.state for item in one.items) for one in found)


def test_claims_are_marked_in_two_figures(report: Report) -> None:
    """Two figures mark claims by name, and two mark what rules find."""
    marked = [
        (page.path, set(block.settings.annotate))
        for page in report.pages
        for block in page.blocks
        if isinstance(block.settings, CurveSettings) and page.path in PAGES
    ]
    named = {page: {one.binding.name for one in report.statements[page]} for page, _ in marked}
    assert sum(bool(names & named[page]) for page, names in marked) >= 2
    assert sum("observations" in names for _, names in marked) >= 2


def test_one_claim_is_known_to_fail(report: Report) -> None:
    """Damson is worse by the script's own numbers, and thirty problems cannot show it."""
    failing = [one for page in PAGES for one in report.statements[page] if one.binding.fails]
    assert [(one.binding.words, one.judgement.truth) for one in failing] == [
        ("Damson is worse than Birch and Cedar", Truth.FAILS)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_no_number_of_the_data_is_unbound(page: str) -> None:
    """Every decimal in the prose is bound, but for those that are no result."""
    text = (ROOT / "content" / page).read_text("utf-8").split("\n---\n", 1)[1]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert set(DECIMAL.findall(BOUND.sub("", prose))) == OWN_NUMBERS.get(page, set())


# ---- one number changes -------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One line of data changed.

    Attributes:
        file: below ``data/``.
        old, new: the line before and after.
        values: bound values that no longer match, by page: what is typed, and what should be.
        claims: claims that fail, by page.
    """

    file: str
    old: str
    new: str
    values: dict[str, list[tuple[str, str]]]
    claims: dict[str, list[str]]


V1 = "v1-l1-length-4096"
CHANGES = {
    "a higher best": Change(
        "math500/points.csv",
        "MEL,120,0.84",
        "MEL,120,0.86",
        values={
            "math500.md": [
                *(("0.84", "0.86"), ("0.02", "0.04"), ("step 30", "step 120")),
                *(("0.022", "0.040"), ("0.02", "0.04"), ("0.02", "0.04")),
            ]
        },
        claims={},
    ),
    "another end": Change(
        "math500/points.csv",
        "MEL,140,0.82",
        "MEL,140,0.83",
        values={"math500.md": [("0.82", "0.83"), ("0.82", "0.83"), ("0.02", "0.01")]},
        claims={
            "index.md": ["start together and end together"],
            "math500.md": ["MEL ends in the same place", "At four of them the scores are equal"],
        },
    ),
    "a step back": Change(
        "math500/points.csv",
        "GRPO,60,0.8",
        "GRPO,60,0.79",
        values={"math500.md": [("0.01", "0.02")]},
        claims={"math500.md": ["without once stepping back"]},
    ),
    "one fall less": Change(
        "math500/points.csv",
        "MEL,70,0.8",
        "MEL,70,0.81",
        values={},
        claims={"math500.md": ["It falls back four times"]},
    ),
    "one run at a checkpoint": Change(
        "aime/runs.csv",
        f"{V1},3,900,0.282261",
        f"{V1},3,900,0.312261",
        values={
            "aime.md": [
                *(("28.0%", "28.6%"), ("4.1 points", "3.5 points"), ("28.0%", "28.6%")),
                ("3.7 points", "5.2 points"),
            ]
        },
        claims={"aime.md": ["the two are about equally deep"]},
    ),
    "one run at the end": Change(
        "aime/runs.csv",
        f"{V1},3,1400,0.303671",
        f"{V1},3,1400,0.352",
        values={"aime.md": [("30.2%", "31.2%"), ("0.2 points", "1.2 points"), ("0.5 points", "0.4 points")]},
        claims={"aime.md": ["each ends more than 1.5 points below it"]},
    ),
    "one answer of a run": Change(
        "aime-outcomes/outcomes.csv",
        "v10-l1-length-4096,1,p01,1,1",
        "v10-l1-length-4096,1,p01,1,0",
        values={"aime.md": [("32.1%", "32.0%"), ("4.1 points", "4.0 points"), ("p = 0.128", "p = 0.133")]},
        claims={},
    ),
    "one answer of a model": Change(
        "model-comparison/outcomes.csv",
        "Contest,Damson,contest-01,algebra,1,1,5,5,1,1380",
        "Contest,Damson,contest-01,algebra,1,1,5,5,0,1380",
        values={
            "model-comparison.md": [
                *(("41.9%", "41.7%"), ("+2.9 points", "+3.1 points"), ("+3.1 points", "+3.3 points"))
            ]
        },
        claims={},
    ),
    "a shallower fall": Change(
        "training-accuracy/points.csv",
        "Llama3.2,60,0.5",
        "Llama3.2,60,0.55",
        values={"training-accuracy.md": [("0.20", "0.15")]},
        claims={"training-accuracy.md": ["the same depth", "Llama3.2 stays where it fell to"]},
    ),
    "no late fall": Change(
        "live-vs-frozen/points.csv",
        "Frozen SmolLM3,110,0.75",
        "Frozen SmolLM3,110,0.85",
        values={"training-accuracy.md": [("0.085", "0.000"), ("step 90", "step 110")]},
        claims={
            "training-accuracy.md": [
                *("The lower three have been higher", "Frozen SmolLM3 falls back below 0.8")
            ]
        },
    ),
    "another start": Change(
        "live-vs-frozen/points.csv",
        "Frozen Qwen3,0,0.28",
        "Frozen Qwen3,0,0.29",
        values={},
        claims={"training-accuracy.md": ["Live Qwen3 and Frozen Qwen3 start together"]},
    ),
    "the best of one run alone": Change(
        "rl-diagnostics/points.csv",
        "Series B,eval/math-eval/accuracy/mean,10,0.35",
        "Series B,eval/math-eval/accuracy/mean,10,0.36",
        values={"training-diagnostics.md": [("0.04", "0.05")]},
        claims={"training-diagnostics.md": ["Both reach the same accuracy"]},
    ),
    "another metric": Change(
        "rl-diagnostics/points.csv",
        "Series B,actor/kl_loss,20,1.0",
        "Series B,actor/kl_loss,20,0.9",
        values={"training-diagnostics.md": [("1.0", "0.9")]},
        claims={"training-diagnostics.md": ["doubles"]},
    ),
}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


def command(root: Path, *words: str) -> tuple[int, str]:
    """Run a command on a report; gives how it leaves and its output."""
    done = CliRunner().invoke(cli, [*words, "--config-file", str(root / "mkdocs.yml")], prog_name="reportgen")
    return done.exit_code, done.stdout


def unexpected(root: Path) -> list[dict[str, Any]]:
    """What ``reportgen check`` says of each statement that is not as expected."""
    code, said = command(root, "check", "--format", "json")
    found = [one for one in json.loads(said)["statements"] if not one["as_expected"]]
    assert code == (1 if found else 0)
    return found


def by_page(found: list[dict[str, Any]], kind: str) -> dict[str, list[dict[str, Any]]]:
    """Statements of one kind, by page, in its order."""
    pages: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        if one["kind"] == kind:
            pages.setdefault(one["file"].removeprefix("content/"), []).append(one)
    return pages


def claims(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The words of claims, by page."""
    return {page: [one["words"] for one in several] for page, several in by_page(found, "claim").items()}


def values(found: list[dict[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """The words of bound values and what they should be, by page."""
    return {
        page: [(one["words"], one["repaired"]) for one in several]
        for page, several in by_page(found, "value").items()
    }


def texts(root: Path) -> dict[str, str]:
    """Every page without the words of its bound values."""
    pages = {path.name: path.read_text("utf-8") for path in (root / "content").glob("*.md")}
    return {name: VALUE.sub("[]{value=", text) for name, text in pages.items()}


@each_change
def test_a_change_is_told_statement_by_statement(
    changed: Callable[[str, str, str], Path], change: Change
) -> None:
    """A check names the values and claims that one number has made wrong, and no others."""
    found = unexpected(changed(change.file, change.old, change.new))
    assert values(found) == change.values
    assert claims(found) == change.claims


@each_change
def test_a_fix_types_the_values_and_leaves_the_claims(
    changed: Callable[[str, str, str], Path], change: Change
) -> None:
    """Afterwards the pages differ in their bound values alone, and only claims are left to people."""
    root = changed(change.file, change.old, change.new)
    before = texts(root)
    assert command(root, "fix", "--write")[0] == 0
    assert texts(root) == before
    left = unexpected(root)
    assert (values(left), claims(left)) == ({}, change.claims)
    assert command(root, "fix") == (0, "")
