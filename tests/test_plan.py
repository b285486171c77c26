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
from simulated.answers import Field

from reportgen.core.comparisons import ReportedScore, RunOfSeries, ScoresError
from reportgen.statistics.compare import compare_all
from reportgen.statistics.power import estimate_power, plan
from reportgen.statistics.scores import score_total, score_totals

if TYPE_CHECKING:
    from reportgen.core.comparisons import Plan, ProblemScores, Score


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


# ---- scores that are used as reported ------------------------------------------------------------------

_totals = st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 0.5)), min_size=1, max_size=6)


def _ends(score: Score) -> tuple[float, float]:
    assert score.low is not None
    assert score.high is not None
    return score.low, score.high


def reported(
    value: float | None, stderr: float | None, series: str = "A", n: int | None = 9
) -> ReportedScore:
    """One total."""
    return ReportedScore(series, "", None, "acc", value, stderr, n)


def test_a_harness_interval_ends_at_the_stated_range() -> None:
    """0.97 ± 1.96 · 0.05 reaches 1.068: cut at 1 where scores are known to end there, and only there."""
    stated = score_total("A", 0.97, 0.05, ends=(0, 1))
    assert _ends(stated) == pytest.approx((0.97 - 1.959964 * 0.05, 1), abs=1e-6)
    assert _ends(score_total("A", 0.03, 0.05, ends=(0, 1)))[0] == 0
    assert _ends(score_total("A", 0.97, 0.05))[1] > 1
    # A total outside of the range is shown as given, inside its own interval.
    low, high = _ends(score_total("A", 84.0, 0.05, ends=(0, 1)))
    assert low <= 84.0 <= high


def test_a_harness_total_is_used_as_given() -> None:
    """0.62 ± 1.959964 · 0.05; without a standard error, or with one of 0, a reason."""
    score = score_total("A", 0.62, 0.05, metric="acc", problems=100)
    assert _ends(score) == pytest.approx((0.62 - 1.959964 * 0.05, 0.62 + 1.959964 * 0.05), abs=1e-6)
    assert (score.method, score.metric, score.estimand) == ("as reported", "acc", "")
    for value, stderr, reason in (
        (0.62, None, "no standard error is reported"),
        (0.62, math.nan, "no standard error is reported"),
        (1.0, 0.0, "the reported standard error is 0, which leaves nothing to build an interval from"),
        (None, 0.1, "no score is reported"),
        (math.nan, 0.1, "no score is reported"),
    ):
        missing = score_total("A", value, stderr)
        assert (missing.low, missing.high, missing.reason) == (None, None, reason)
        assert missing.estimate is None or math.isfinite(missing.estimate)


@given(_totals, st.floats(-1, 1))
def test_several_totals_are_averaged_with_no_smaller_an_error(
    totals: list[tuple[float, float]], correlation: float
) -> None:
    """However the runs depend on each other, the error of their mean is at most the one that is taken."""
    (score,) = score_totals([reported(*total) for total in totals])
    values, errors = (np.array(column) for column in zip(*totals, strict=True))
    assert score.estimate == pytest.approx(values.mean())
    assert score.runs == len(totals)
    low, high = _ends(score)
    assert low <= values.mean() + 1e-12
    assert values.mean() <= high + 1e-12
    count = len(totals)
    # The least correlation that all pairs of so many runs can have is -1/(count - 1).
    shared = max(correlation, -1 / (count - 1)) if count > 1 else 1.0
    covariance = np.outer(errors, errors) * np.where(np.eye(count) == 1, 1.0, shared)
    assert score.stderr is not None
    assert math.sqrt(max(0.0, covariance.sum())) / count <= score.stderr * (1 + 1e-9)
    if count > 1:
        assert score.between_runs == pytest.approx(statistics.stdev(values.tolist()))


def test_totals_that_lack_something() -> None:
    """A run without a value counts nowhere; one without a standard error leaves no interval."""
    (score,) = score_totals([reported(0.5, 0.1), reported(None, 0.3), reported(0.7, 0.2)])
    assert score.estimate == pytest.approx(0.6)
    assert score.stderr == pytest.approx(0.15)
    assert score.runs == 2
    assert score.reason == "1 of 3 runs have no score"
    (score,) = score_totals([reported(0.5, 0.1), reported(0.7, None)])
    assert (score.low, score.reason) == (None, "1 of 2 report no standard error")
    (score,) = score_totals([reported(0.5, None), reported(0.7, None)])
    assert (score.low, score.reason) == (None, "no standard error is reported")
    (score,) = score_totals([reported(None, None)])
    assert (score.estimate, score.runs, score.reason) == (None, 0, "no score is reported")


def test_problems_that_differ_between_runs_are_not_known() -> None:
    """Series stand in the order of writing."""
    first, second = score_totals(
        [reported(0.5, 0.1, "B", 10), reported(0.5, 0.1), reported(0.5, 0.1, "B", 20)]
    )
    assert [(one.series, one.problems) for one in (first, second)] == [("B", 0), ("A", 9)]
