"""What other numbers of problems, samples and runs would find, and what reported scores come to."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_outcomes import matrix
from msgspec.structs import replace
from scipy import stats
from simulated.answers import Field

from reportgen.core.comparisons import ReportedScore, RunOfSeries
from reportgen.statistics.compare import compare_all
from reportgen.statistics.power import estimate_power, plan
from reportgen.statistics.scores import score_total, score_totals

if TYPE_CHECKING:
    from reportgen.core.comparisons import Plan, ProblemScores


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
    assert parts["problems"] == pytest.approx(math.sqrt(2 * 0.6**2 / 3000 + 2 * 0.5**2 / cells), rel=0.06)
    assert parts["answers"] == pytest.approx(math.sqrt(2 / (4 * cells)), rel=0.03)
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
    """In the family: the same difference four times in five."""
    scores, runs = field.draw(np.random.default_rng(2)), field.runs
    whole = estimate_power(compare_all(scores), 1 / 160)
    found = planned(scores, difference=whole.family_difference or 0.0)
    now = next(one for one in found.designs if (one.problems, one.samples, one.runs) == (40, 4, runs))
    assert now.found == pytest.approx(whole.family_difference or 0.0, rel=1e-6)
    assert now.together == pytest.approx(0.8, rel=1e-6)
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


# ---- scores that are used as reported ------------------------------------------------------------------

_totals = st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 0.5)), min_size=1, max_size=6)


@given(_totals, st.floats(-1, 1))
def test_several_totals_are_averaged_with_no_smaller_an_error(
    totals: list[tuple[float, float]], correlation: float
) -> None:
    """However the runs depend on each other, the error of their mean is at most the one that is taken."""
    (score,) = score_totals([ReportedScore("A", "", None, "acc", *total, 9) for total in totals])
    values, errors = (np.array(column) for column in zip(*totals, strict=True))
    assert score.estimate == pytest.approx(values.mean())
    assert score.runs == len(totals)
    assert score.low is not None
    assert score.high is not None
    assert score.low - 1e-12 <= values.mean() <= score.high + 1e-12
    count = len(totals)
    # The least correlation that all pairs of so many runs can have is -1/(count - 1).
    shared = max(correlation, -1 / (count - 1)) if count > 1 else 1.0
    covariance = np.outer(errors, errors) * np.where(np.eye(count) == 1, 1.0, shared)
    assert score.stderr is not None
    assert math.sqrt(max(0.0, covariance.sum())) / count <= score.stderr * (1 + 1e-9)
    if count > 1:
        assert score.between_runs == pytest.approx(statistics.stdev(values.tolist()))


@given(st.integers(2, 50), st.floats(0.01, 1), st.sampled_from([0.8, 0.95]))
def test_a_mean_that_is_reported_with_the_deviation_of_its_runs_has_an_interval_by_t(
    runs: int, sd: float, level: float
) -> None:
    """As from the runs themselves: the mean, ± t with n - 1 degrees of freedom · sd / √n."""
    total = ReportedScore("A", "", None, "acc", 0.5, sd / math.sqrt(runs), None, runs)
    (score,) = score_totals([total], level=level)
    assert score.high is not None
    assert score.high - 0.5 == pytest.approx(stats.t.ppf((1 + level) / 2, runs - 1) * sd / math.sqrt(runs))
    assert score.between_runs == pytest.approx(sd)
    assert score.runs == runs


def test_a_total_outside_of_the_range_is_inside_its_own_interval() -> None:
    """It is shown as given."""
    score = score_total("A", 84.0, 0.05, ends=(0, 1))
    assert (score.low or 85) <= 84.0 <= (score.high or 83)
