"""What happened on a benchmark of problems: leaders, who is level with them, what it could show, cautions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import made_scored
import numpy as np
import pytest
from made_figures import HOSTILE
from made_outcomes import matrix

from reportgen.core.errors import SourceLocation
from reportgen.core.model import Lead
from reportgen.figures.plot import BenchmarkScores, ScoreContext
from reportgen.figures.scores.key_results import summarize_score_benchmark
from reportgen.settings.report import Benchmark
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import rank_groups

if TYPE_CHECKING:
    from reportgen.core.model import BenchmarkResult, FloatArray

PROBLEMS = 20
# Ten of twenty problems by everybody; "B" one more and "A" all.
HALF = np.repeat([1.0, 0.0], 10)
ONE_MORE = np.where(np.arange(PROBLEMS) == 10, 1.0, HALF)


def result(
    answers: dict[str, FloatArray],
    around: dict[str, Any] | None = None,
    *,
    better: bool = True,
    highest: float = 1.0,
    **said: Any,  # noqa: ANN401 - keys of a benchmark
) -> BenchmarkResult:
    """The result of a benchmark with these scores, shape (problems, samples) a series."""
    problems = matrix(
        np.array([one.reshape(PROBLEMS, -1) for one in answers.values()]),
        series=list(answers),
        highest=highest,
    )
    benchmark = Benchmark(**{"name": "Contest", "source": "suite", "higher_is_better": better, **said})
    scored = made_scored.scored(problems, higher_is_better=better)
    context: dict[str, Any] = {
        "place": SourceLocation("content/a.md"),
        "slots": {name: place for place, name in enumerate(answers)},
        "source": "Suite",
        "benchmark": "Contest",
        "approximate": None,
        "higher_is_better": better,
        "lowest": 0.0,
        "highest": highest,
    }
    return summarize_score_benchmark(
        benchmark, "contest.md", scored, ScoreContext(**{**context, **(around or {})})
    )


def test_the_key_results() -> None:
    """The best with its interval, who is level with it, problems, power, and what the author said."""
    made = result(
        {"A": ONE_MORE, "B": HALF, "C": np.zeros(PROBLEMS)},
        date="2026-05-01",
        protocol="greedy",
        description="Twenty problems.",
    )
    facts = dict(made.facts)
    # Wilson for 11 of 20.
    assert facts["Highest score"] == "A 55.0% [34.2, 74.2]"
    assert facts["No clear winner"] == "no clear difference from B"
    assert facts["Problems"] == "20 × 1 sample, 3 series"
    assert re.fullmatch(
        r"a true difference of \d+\.\d points would be detected four times in five among 3 pairs",
        facts["Power"],
    )
    assert (facts["Date"], facts["Protocol"]) == ("2026-05-01", "greedy")
    assert "Caution" not in facts
    assert (made.leader, made.score) == (
        "",
        "No clear winner; highest score: A 55.0% [34.2, 74.2] mean score",
    )
    assert (made.name, made.page, made.description) == ("Contest", "contest.md", "Twenty problems.")
    assert made.legend == (("A", 0), ("B", 1), ("C", 2))


def test_scores_that_read_alike_lead_together() -> None:
    """No order is made up between them; the group holds nobody else."""
    made = result({"A": HALF, "B": HALF, "C": np.zeros(PROBLEMS)})
    assert dict(made.facts)["Highest score"] == "A and B 50.0%"
    assert "No clear winner" not in dict(made.facts)


def test_lower_is_better() -> None:
    """The smallest score leads, in the unit of the data."""
    errors = np.arange(PROBLEMS) / 2
    made = result({"A": 1.5 * errors + 4, "B": errors}, better=False, highest=20.0)
    assert made.leader == "B"
    assert dict(made.facts)["Best"].startswith("B 4.8 [")
    assert "points" not in dict(made.facts)["Power"]


def test_mixed_protocols_are_a_caution() -> None:
    """With what makes the numbers inexact; what all share is the protocol."""
    measured = (
        ("A", (("samples", "1"), ("temperature", "0"), ("problem set", "aa"))),
        ("B", (("samples", "1"), ("temperature", "0.7"), ("problem set", "aa"))),
    )
    made = result({"A": ONE_MORE, "B": HALF}, {"protocol": measured, "approximate": "copied by hand"})
    facts = dict(made.facts)
    assert facts["Protocol"] == "samples 1"
    assert facts["Caution"] == "copied by hand; mixed protocols: temperature differs"


def test_one_series_is_compared_with_nobody() -> None:
    """It leads, and nothing is said about differences."""
    made = result({"A": HALF})
    assert [label for label, _ in made.facts] == ["Best", "Problems"]


def drawn(made: BenchmarkResult) -> list[list[float]]:
    """The numbers of each line of the small picture, top down: dots and intervals."""
    root = ET.fromstring(made.spark)  # noqa: S314 - made a line before
    return [
        [float(word) for word in re.findall(r"-?[\d.]+", path.get("d", ""))] for path in root if path.get("d")
    ]


def test_the_small_picture_shows_scores_and_intervals() -> None:
    """Best on top, within the picture, a dot inside its interval."""
    rows = drawn(result({"low": HALF, "high": ONE_MORE}))
    assert [row[1] for row in rows] == [50, 50, 150, 150]
    for interval, dot in zip(rows[::2], rows[1::2], strict=True):
        assert 0 <= interval[0] < dot[0] < interval[2] <= 600
    assert rows[1][0] > rows[3][0]


def test_one_score_without_an_interval_stands_in_the_middle() -> None:
    """A picture of one number has no range of its own."""
    problems = matrix([[[1.0]]], series=["A"])
    given = score_series(problems)
    assert given[0].low is None
    context = ScoreContext(
        place=SourceLocation("a"),
        slots={"A": 0},
        source="S",
        benchmark="C",
        approximate=None,
        higher_is_better=True,
        lowest=0,
        highest=1,
    )
    scored = BenchmarkScores(problems, given, (), rank_groups(given, ()), None, lead=Lead("A", tested=False))
    made = summarize_score_benchmark(Benchmark(name="C", source="s"), "c.md", scored, context)
    assert drawn(made) == [[300, 100, 0]]
    assert dict(made.facts) == {"Best": "A 100.0%", "Problems": "1 × 1 sample, 1 series"}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_a_name(name: str) -> None:
    """In the picture, which is put into pages as it is."""
    made = result({name: HALF, "B": ONE_MORE}, name=name)
    root = ET.fromstring(made.spark)  # noqa: S314
    assert {child.tag for child in root.iter()} == {"svg", "rect", "path", "title"}
    assert set(root.attrib) >= {"class", "role", "aria-label"}
    assert not any(key.startswith("on") for key in root.attrib)
