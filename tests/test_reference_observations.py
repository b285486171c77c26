"""The numbers that observations of the reference figures rest on, computed again from the raw points.

What is said is in ``transcripts/reference_figures.md``, beside what careful readers wrote.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from case_pages import Case, read_pages

ROOT = Path(__file__).parents[1]
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


def compute(name: str, lines: list[Line], at: float | None) -> set[float]:
    """What a fact may be: where lower is better, the best is the lowest."""
    steps, values = lines[0]
    if name in {"start", "final"}:
        return {values[0 if name == "start" else -1]}
    if name in {"peak", "trough"}:
        return {max(values), min(values)}
    if name == "at":
        return {float(np.interp(at or 0, *lines[0]))}
    other = lines[1]
    both = [
        step for step in sorted({*steps, *other[0]}) if max(steps[0], other[0][0]) <= step
        <= min(steps[-1], other[0][-1])
    ]  # fmt: skip
    gaps = [float(np.interp(step, *lines[0]) - np.interp(step, *other)) for step in both]
    if name == "gap":
        return {gaps[both.index(at or 0)]}
    if name == "widest_gap":
        return {max(map(abs, gaps))}
    signs = [np.sign(round(gap, 9)) for gap in gaps if abs(gap) > 1e-9]
    assert name == "crossings"
    return {float(sum(one != following for one, following in pairwise(signs)))}


def check_fact(found: re.Match[str], lines: dict[tuple[str, str], Line]) -> None:
    """Compare a fact with the points, to the digits that it has."""
    words = re.findall(r"'[^']*'|[^,\s][^,]*", found["arguments"])
    names = [word.strip("'") for word in words if not word.strip().isdigit()]
    at = next((float(word) for word in words if word.strip().isdigit()), None)
    text = found["value"].replace("−", "-").replace(",", "")
    shown, unit = float(text), 10.0 ** -len(text.partition(".")[2])
    factor = 100 if found["percent"] or "points" in found[0] else 1
    metrics = {metric for metric, _ in lines if (found["metric"] or metric) == metric}
    told = [
        value * factor
        for metric in metrics
        for value in compute(found["name"], [lines[metric, name] for name in names], at)
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
    assert len(facts) > 20
    for found in facts:
        check_fact(found, read_lines(copied))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_first_eight_are_of_many_kinds(case: Case) -> None:
    """No rule more than twice; who is best stands before all else."""
    first = re.findall(r'^(?:  |Rule ")([a-z][a-z ]+)(?:: |", threshold)', case.expected, re.MULTILINE)[:8]
    assert first[0] == "best"
    assert len(set(first)) >= 6
    assert max(first.count(rule) for rule in first) <= 2
