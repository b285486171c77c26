"""The example report's own words, and the numbers that observations of its figures rest on.

What a changed number does is in ``transcripts/example_changes.md``, and what rules find in the figures
in ``transcripts/reference_figures.md``, beside what careful readers wrote.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from case_pages import Case, read_pages
from example_site import ROOT

from reportgen.core.model import Observations
from reportgen.core.statements import Truth
from reportgen.settings.blocks import CurveSettings
from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.draft.report import Report

# A page, how many statements it has at least, and how many blocks of observations.
PAGES = {
    "index.md": (3, 0),
    "math500.md": (20, 1),
    "aime.md": (40, 1),
    "model-comparison.md": (25, 0),
    "training-accuracy.md": (30, 2),
    "training-diagnostics.md": (35, 1),
    "search.md": (6, 0),
}
GUIDE = {"guide/statements.md": 6, "guide/scores.md": 3}

# Decimals in the prose that the data do not give: what a script or a formula knows, and limits that are set.
OWN_NUMBERS = {
    "math500.md": {"0.82", "0.18", "0.017", "0.005"},  # a standard error, and the precision of reading
    "aime.md": {"3.3"},  # one problem of 30, in points
    "model-comparison.md": {"17.0", "13.0", "3.0", "0.0"},  # true differences
}
BOUND = re.compile(r"\[[^\[\]]*\]\{[^{}]*\}")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+")


@pytest.fixture(scope="module")
def report(example_site: Path) -> Report:
    """The draft of the example report."""
    return draft_report(example_site.parent / "mkdocs.yml", progress=lambda _done, _all: None)[0]


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


# ---- observations of the reference figures --------------------------------------------------------

CASES = [case for case in read_pages(ROOT / "tests/transcripts") if case.page.name == "reference_figures.md"]
FACT = re.compile(
    r"(?:(?P<metric>[\w-]+/[\w/-]+): )?(?P<name>\w+)\((?P<arguments>[^()]*)\) = (?P<value>−?[\d.,]+)"
    r"(?P<percent>%?)(?: points)?(?: at (?:step|iteration) (?P<step>[\d,]+))?"
)
Line = tuple[list[float], list[float]]


@cache
def read_lines(file: str) -> dict[tuple[str, str], Line]:
    """The steps and mean values of each metric and series."""
    found: dict[tuple[str, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in csv.DictReader((ROOT / file).read_text("utf-8").splitlines()):
        step = float(row.get("step") or row["iteration"])
        value = next(row[name] for name in ("value", "accuracy", "pass@1", "validation score") if name in row)
        found[row.get("metric", ""), row["series"]][step].append(float(value))
    return {
        key: ([*sorted(values)], [float(np.mean(values[step])) for step in sorted(values)])
        for key, values in found.items()
    }


def compute(name: str, lines: list[Line], at: float = 0, until: float = 0) -> set[float]:
    """What a fact may be: where lower is better, the best is the lowest."""
    steps, values = lines[0]
    if name in {"start", "final"}:
        return {values[0 if name == "start" else -1]}
    if name in {"peak", "trough"}:
        return {max(values), min(values)}
    if name in {"at", "mean"}:
        until = until or at
        return {float(np.mean([one for step, one in zip(steps, values, strict=True) if at <= step <= until]))}
    other = lines[1]
    both = [
        step for step in sorted({*steps, *other[0]}) if max(steps[0], other[0][0]) <= step
        <= min(steps[-1], other[0][-1])
    ]  # fmt: skip
    gaps = [float(np.interp(step, *lines[0]) - np.interp(step, *other)) for step in both]
    if name == "gap":
        return {gaps[both.index(at)]}
    if name == "widest_gap":
        return {max(map(abs, gaps))}
    signs = [np.sign(round(gap, 9)) for gap in gaps if abs(gap) > 1e-9]
    assert name == "crossings"
    return {float(sum(one != following for one, following in pairwise(signs)))}


def check_fact(found: re.Match[str], lines: dict[tuple[str, str], Line]) -> None:
    """Compare a fact with the points, to the digits that it has."""
    words = re.findall(r"'[^']*'|[^,\s][^,]*", found["arguments"])
    names = [word.strip("'") for word in words if not word.strip().isdigit()]
    steps = [float(word) for word in words if word.strip().isdigit()]
    text = found["value"].replace("−", "-").replace(",", "")
    shown, unit = float(text), 10.0 ** -len(text.partition(".")[2])
    factor = 100 if found["percent"] or "points" in found[0] else 1
    metrics = {metric for metric, _ in lines if (found["metric"] or metric) == metric}
    told = [
        value * factor
        for metric in metrics
        for value in compute(found["name"], [lines[metric, name] for name in names], *steps)
    ]
    assert min(abs(shown - value) for value in told) <= unit / 2 + 1e-9, found[0]
    if found["step"]:
        step = float(found["step"].replace(",", ""))
        values = [[np.interp(step, *lines[metric, name]) * factor for name in names] for metric in metrics]
        there = [abs(one[0] - one[1]) if len(one) > 1 else one[0] for one in values]
        assert min(abs(shown - value) for value in there) <= unit / 2 + 1e-9, found[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_fact_is_that_of_the_points(case: Case) -> None:
    """Values, steps, widest gaps and numbers of crossings."""
    (copied,) = (file.text.strip() for file in case.files if file.kind == "copied")
    facts = list(FACT.finditer(case.expected))
    assert len(facts) > 10
    for found in facts:
        check_fact(found, read_lines(copied))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_first_eight_are_of_many_kinds(case: Case) -> None:
    """No rule more than twice; who is best stands before all else."""
    first = re.findall(r'^(?:  |Rule ")([a-z][a-z ]+)(?:: |", threshold)', case.expected, re.MULTILINE)[:8]
    assert first[0] == "best"
    assert len(set(first)) >= 6
    assert max(first.count(rule) for rule in first) <= 2
