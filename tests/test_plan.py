"""What other numbers of problems, samples and runs would find: variances, designs, block and command."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from command_line import call
from made_outcomes import matrix
from made_projects import RUNS, write_report
from made_scored import score_context
from msgspec.structs import replace
from simulated.answers import Field

from reportgen.core.comparisons import RunOfSeries, ScoresError
from reportgen.core.model import Figure, ResultTable
from reportgen.figures.altair_chart import write_chart_spec
from reportgen.figures.scores.plan import draw_plan
from reportgen.settings.score_blocks import PlanSettings
from reportgen.statistics.compare import compare_all
from reportgen.statistics.power import estimate_power, plan

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.comparisons import Plan, ProblemScores

OUTCOMES = "model,problem,sample,correct\n" + "".join(
    f"{model},{problem},{sample},{int((problem * 7 + sample * 3) % 10 < skill + problem % 3)}\n"
    for model, skill in (("Aspen", 5), ("Birch", 3), ("Cedar", 4))
    for problem in range(40)
    for sample in range(4)
)


def normal(problems: int = 3000, runs: int = 3, samples: int = 4) -> ProblemScores:
    """Two series of normal scores: SD 0.6 of a series between problems, 0.5 run × problem, 1 an answer."""
    rng = np.random.default_rng(8)
    base = rng.normal(0, 0.6, (2, 1, problems, 1)) + rng.normal(0, 1, (1, 1, problems, 1))
    own = rng.normal(0, 0.5, (2, runs, problems, 1)) + rng.normal(0, 0.2, (2, runs, 1, 1))
    values = base + own + rng.normal(0, 1, (2, runs, problems, samples))
    made = matrix(values.reshape(2 * runs, problems, samples), lowest=-20, highest=20)
    places = tuple(RunOfSeries(place // runs, str(place % runs), None) for place in range(2 * runs))
    return replace(made, series=("A", "B"), runs=places, binary=(False, False))


def planned(scores: ProblemScores, difference: float | None = None, metric: str = "mean") -> Plan:
    """The plan of all pairs."""
    return plan(scores, compare_all(scores, metric), metric, difference=difference)


def test_the_parts_of_the_standard_error() -> None:
    """Each is what the scores were drawn with, for both sides together, over the design; squares add up."""
    scores = normal()
    found = planned(scores)
    parts = {one.name: one.stderr or 0.0 for one in found.components}
    cells = 3000 * 3
    assert parts["problems"] == pytest.approx(math.sqrt(2 * 0.6**2 / 3000), rel=0.06)
    assert parts["answers"] == pytest.approx(math.sqrt(2 / (4 * cells)), rel=0.03)
    assert parts["run_problem"] == pytest.approx(math.sqrt(2 * 0.5**2 / cells), rel=0.06)
    whole = math.sqrt(sum(part**2 for part in parts.values()))
    assert whole == pytest.approx(found.power.stderr or 0.0, rel=1e-6)


@pytest.mark.parametrize(
    "field",
    [
        Field(models=4, problems=40, samples=4),
        Field(models=4, problems=40, samples=4, runs=3, tau=0.3, shape="failing"),
    ],
    ids=["one run", "runs that vary more in one series"],
)
def test_the_present_design_finds_what_its_power_says(field: Field) -> None:
    """In the family: the same difference four times in five, and half of it as often as is stated."""
    scores, runs = field.draw(np.random.default_rng(2)), field.runs
    whole = estimate_power(compare_all(scores), 1 / 160)
    found = planned(scores, difference=(whole.family_difference or 0.0) / 2)
    now = next(one for one in found.designs if (one.problems, one.samples, one.runs) == (40, 4, runs))
    assert now.found == pytest.approx(whole.family_difference or 0.0, rel=1e-6)
    assert now.together == pytest.approx(whole.family_half or 0.0, rel=1e-6)
    assert now.stderr == pytest.approx(whole.stderr or 0.0)
    assert (found.samples, found.runs, found.power) == (4, runs, whole)


def test_more_of_anything_never_finds_less() -> None:
    """More problems, samples or runs, one at a time."""
    for scores in (normal(60), Field(models=3, problems=30, runs=3, tau=0.3).draw(np.random.default_rng(4))):
        designs = {(one.problems, one.samples, one.runs): one for one in planned(scores, 0.1).designs}
        for here, one in designs.items():
            for there, other in designs.items():
                if there != here and all(b >= a for a, b in zip(here, there, strict=True)):
                    assert other.stderr <= one.stderr * (1 + 1e-9)
                    assert other.found <= one.found * (1 + 1e-9)


def test_halving_is_four_times_the_problems_without_runs() -> None:
    """Answers are half of the variance at most, so no number of samples halves it; runs are not known."""
    scores = Field(models=3, problems=40, samples=4, taste=1.0).draw(np.random.default_rng(3))
    found = {one.what: one for one in planned(scores).halvings}
    assert (found["problems"].needed, found["problems"].reason) == (160, "")
    assert (found["samples"].needed, found["samples"].reason) == (None, "")
    assert found["runs"].needed is None
    assert found["runs"].reason == "each series has 1 run, so what another seed would change is not known"


def test_halving_by_samples_or_runs() -> None:
    """Where answers or runs are nearly all of the variance, their number does it; the result is checked."""
    rng = np.random.default_rng(5)
    answers = matrix(rng.normal(0, 1, (2, 200, 2)), lowest=-20, highest=20)
    found = {one.what: one.needed for one in planned(answers).halvings}
    assert found["samples"] is not None
    assert 8 <= found["samples"] <= 12
    runs = normal(3000)
    found = {one.what: one.needed for one in planned(runs).halvings}
    assert found["problems"] is None
    assert found["runs"] is not None
    assert found["runs"] > 12


def test_what_the_data_do_not_show() -> None:
    """One sample hides the answers among the problems; another metric than a mean has no plan of samples."""
    scores = Field(models=3, samples=1).draw(np.random.default_rng(6))
    found = planned(scores)
    reasons = {one.name: one.reason for one in found.components}
    assert reasons["answers"] == "with 1 sample a problem it is part of what stands under problems"
    assert {one.samples for one in found.designs} == {1}
    several = Field(models=3, samples=4).draw(np.random.default_rng(6))
    chance = plan(several, compare_all(several, "pass@k", 2), "pass@k", 2)
    assert next(one for one in chance.halvings if one.what == "samples").reason.startswith(
        "how pass@2 varies"
    )


def test_nothing_to_plan_with() -> None:
    """A series and its copy, or a difference that is none."""
    alike = matrix(np.ones((2, 10, 1)))
    with pytest.raises(ScoresError, match="nothing to plan with: no two series whose differences"):
        planned(alike)
    with pytest.raises(ScoresError, match="a difference of -1 is none to look for"):
        planned(normal(20), difference=-1.0)


def test_the_block() -> None:
    """Sentences, a line for each design, and a table whose present row says so."""
    scores = Field(models=4, problems=40, samples=4, taste=1.5).draw(np.random.default_rng(2))
    stack = draw_plan(
        "more",
        PlanSettings(),
        planned(scores, 0.1),
        score_context(*scores.series),
        get_chart_spec=write_chart_spec,
    )
    first, parts, half, figure, table = stack.parts
    assert str(first).startswith("With the 40 problems of Contest, a true difference of ")
    assert " would be detected four times in five among 6 pairs. " in str(first)
    assert "from sampled answers; their squares add up. Each series has 1 run" in str(parts)
    assert str(half).startswith("Half the width of an interval takes 160 problems instead of 40.")
    assert str(half).endswith("What more runs would do is not known.")
    assert isinstance(figure, Figure)
    assert [name for name, _ in figure.legend] == ["1 sample", "4 samples", "16 samples"]
    assert "four times in five" in str(figure.inline_svg)
    assert isinstance(table, ResultTable)
    assert table.title == "How often a true difference of 10.0 points is found, among 6 pairs"
    assert table.header == ("problems", "1 sample", "4 samples", "16 samples")
    assert [row[0].text for row in table.rows] == ["20", "40 (now)", "80", "160", "320"]
    assert table.csv.count("\n") == 16


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with answers, and with curves."""
    folder = tmp_path_factory.mktemp("plan") / "report"
    return write_report(folder, {"data/answers.csv": OUTCOMES, "data/runs.csv": RUNS})


def test_the_command(report: Path) -> None:
    """Sentences and the table; every number as JSON."""
    done = call(report, "plan", "answers", "--difference", "10")
    assert (done.returncode, done.stderr) == (0, "")
    first, _, _, blank, title, header, *rows = done.stdout.splitlines()
    assert first.startswith("With the 40 problems of answers, a true difference of ")
    assert (blank, title) == ("", "How often a true difference of 10.0 points is found, among 3 pairs")
    assert header.split("  ")[0] == "problems"
    assert [row.split("  ")[0] for row in rows] == ["20", "40 (now)", "80", "160", "320"]
    told = json.loads(call(report, "plan", "answers", "--format", "json").stdout)
    assert told["power"]["together"] == 3
    assert {one["problems"] for one in told["designs"]} == {20, 40, 80, 160, 320}


def test_what_cannot_be_planned(report: Path) -> None:
    """Curves have no problems."""
    done = call(report, "plan", "runs")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'a plan needs answers to problems, and source "runs" has none' in done.stderr
