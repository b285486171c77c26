"""What is said of curves: who leads and how sure that is, and how the lines came about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from made_figures import context, curve, curve_set, plot, wanted
from msgspec.structs import replace

from reportgen.core.model import Estimate
from reportgen.core.words import lower_axis_title
from reportgen.figures.curves.figure import name_band, write_caption, write_subtitle, write_summary

if TYPE_CHECKING:
    from reportgen.core.model import Curve, CurveSet

NAN = float("nan")
ONE_RUN = curve_set(curve("MEL", [0.2, 0.84, 0.80]), curve("GRPO", [0.2, 0.7, 0.82]))
FIVE_RUNS = curve_set(
    curve("MEL", [0.2, 0.84, 0.80], half=0.05, runs=5), curve("GRPO", [0.2, 0.7, 0.82], half=0.05, runs=5)
)


def said(curves: CurveSet, *, around: dict[str, Any] | None = None, **settings: Any) -> str:  # noqa: ANN401
    """The summary of a figure of these curves."""
    here = context(curves, **(around or {}))
    return write_summary(curves, plot(curves, here, **settings), wanted(curves, here, **settings))


def below(curves: CurveSet, *, around: dict[str, Any] | None = None, **settings: Any) -> str:  # noqa: ANN401
    """The caption of a figure of these curves."""
    here = context(curves, **(around or {}))
    return write_caption(curves, wanted(curves, here, **settings), here)


def beneath(curves: CurveSet, **settings: Any) -> str:  # noqa: ANN401
    """The subtitle of a figure of these curves."""
    return write_subtitle(curves, wanted(curves, **settings))


# ---- the summary --------------------------------------------------------------------------------


def test_the_summary_of_one_run_a_series() -> None:
    """Readings at the end, then the best one and of how many it is; nobody wins, and it is said why."""
    assert said(ONE_RUN) == (
        "At the end (step 2), the highest reading is 0.82 (GRPO), then 0.80 (MEL). MEL reaches the highest "
        "accuracy, 0.84 at step 1, best of 3 checkpoints."
    )


def test_the_summary_of_several_runs() -> None:
    """Final means have their intervals, and a test says whether one of them leads; a best one has none."""
    assert said(FIVE_RUNS) == (
        "At the end (step 2), there is no clear winner: GRPO has 0.82 [0.77, 0.87], MEL 0.80 "
        "[0.75, 0.85]. MEL reaches the highest mean accuracy, 0.84 at step 1, best of 3 checkpoints."
    )


def test_a_clear_winner() -> None:
    """It leads where the test says so; where neither way is better, it only ends above the others."""
    far = curve_set(curve("a", [0.2, 0.9], half=0.05, runs=3), curve("b", [0.2, 0.5], half=0.05, runs=3))
    ends = "with 0.900 [0.850, 0.950], before b with 0.500 [0.450, 0.550]. "
    assert said(far).startswith(f"At the end (step 1), a leads {ends}")
    nobody = {"higher_is_better": None, "ranked_by": None}
    neutral = replace(far, metric="entropy")
    assert said(neutral, around=nobody).startswith(f"At the end (step 1), a ends above all others {ends}")
    assert said(neutral, around=nobody).endswith("0.900 at step 1, highest of 2 checkpoints.")


def test_a_best_value_with_an_interval_that_allows_for_its_choice() -> None:
    """It stands beside the value, and the caption says what it knows."""
    best = Estimate(0.84, 0.70, 0.86, 5)
    picked = curve_set(replace(FIVE_RUNS.curves[0], extremes=(best, best)))
    assert "MEL peaks at step 1, with a mean of 0.84 [0.70, 0.86], best of 3 checkpoints." in said(picked)
    assert "The interval of the best value (95%) allows for the choice of its step among all." in below(
        picked
    )


def test_bests_of_different_numbers_are_said() -> None:
    """The best of more checkpoints is higher for that alone; times and bins are no checkpoints."""
    three = curve_set(ONE_RUN.curves[0], curve("a", [0.1]), curve("b", [0.1, 0.2]))
    assert "step 1, best of 3 against best of 1 to 2 checkpoints." in said(three)
    assert "best of 3 bin means." in said(replace(ONE_RUN, bins=3))
    assert "best of 3 readings." in said(ONE_RUN, around={"step_is_time": True})


def test_where_lower_is_better() -> None:
    """The lowest value leads."""
    loss = curve_set(
        curve("a", [2.0, 0.5], half=0.05, runs=3), curve("b", [2.0, 0.9], half=0.05, runs=3), metric="loss"
    )
    assert said(loss, around={"higher_is_better": False}) == (
        "At the end (step 1), a leads with 0.500 [0.450, 0.550], before b with 0.900 [0.850, 0.950]. "
        "a reaches the lowest mean loss, 0.500 at step 1, best of 2 checkpoints."
    )
    assert beneath(loss, higher_is_better=False) == (
        "loss, mean of 3 runs per series, band: 95% CI, lower is better"
    )


def test_a_median_is_called_one() -> None:
    """With the interquartile band the centre is the median, in every text."""
    middle = curve_set(*FIVE_RUNS.curves, band="iqr")
    assert "the highest median accuracy" in said(middle)
    assert "median of 5 runs per series, band: IQR" in beneath(middle)
    assert "Each line is the median of n = 5 runs." in below(middle)


def test_one_series_alone() -> None:
    """There is no leader among one."""
    assert said(curve_set(curve("MEL", [0.2, 0.84], half=0.1, runs=3))) == (
        "MEL peaks at step 1, with a mean of 0.84, best of 2 checkpoints."
    )


def test_series_that_reach_the_same_value_are_all_named() -> None:
    """Where values are equal nobody leads, neither at the best value nor at the end."""
    even = curve_set(curve("a", [0.1, 0.9, 0.5]), curve("b", [0.9, 0.1, 0.5]), curve("c", [0.1, 0.2, 0.5]))
    assert said(even).startswith(
        "At the end (step 2), a, b and c are level at 0.5. "
        "a (at step 1) and b (at step 0) reach the highest accuracy, 0.9, best of 3 checkpoints."
    )


def test_series_that_end_at_different_steps() -> None:
    """A run that ended early is not compared at a step it never reached."""
    uneven = curve_set(curve("a", [0.1, 0.9]), curve("b", [0.1, 0.2, 0.3]))
    assert "At their ends the highest reading is 0.9 (a), then 0.3 (b)." in said(uneven)


def test_the_summary_uses_values_that_are_not_smoothed() -> None:
    """The smoothed line's band belongs to the smoothed line, so no interval is given with a raw value."""
    smooth = curve_set(
        curve("a", [0.3, 0.4], raw=[0.2, 0.7], half=0.1, runs=3),
        curve("b", [0.3, 0.3], raw=[0.2, 0.6], half=0.1, runs=3),
        smooth=0.5,
    )
    assert said(smooth) == (
        "At the end (step 1), there is no clear winner: a has 0.70, b 0.60. "
        "a reaches the highest mean accuracy, 0.70 at step 1, best of 2 checkpoints."
    )


def test_missing_values_are_passed_over() -> None:
    """A series that ends in a gap ends at its last known value."""
    assert "the highest reading is 0.82 (GRPO), then 0.50 (MEL)." in said(
        curve_set(curve("MEL", [0.2, 0.5, NAN]), ONE_RUN.curves[1])
    )


def test_times_are_said_as_times() -> None:
    """A step in milliseconds is a date in a sentence."""
    days = curve_set(curve("a", [0.1, 0.2, 0.3], steps=[1.7e12, 1.7e12 + 2e9, 1.7e12 + 4e9]))
    assert "at day 2023-12-31" in said(days, around={"step_is_time": True, "step_title": "Day"})


@pytest.mark.parametrize(
    ("title", "word"), [("Training step", "training step"), ("GPU hours", "GPU hours"), ("x", "x"), ("", "")]
)
def test_an_axis_title_inside_a_sentence(title: str, word: str) -> None:
    """A sentence has no capital in its middle, but an abbreviation keeps its own."""
    assert lower_axis_title(title) == word


# ---- subtitle and caption -----------------------------------------------------------------------


def test_the_subtitle_of_one_run_and_of_several() -> None:
    """Metric, centre, number of runs and band, in a few words."""
    assert beneath(ONE_RUN) == "accuracy, 1 run per series"
    assert beneath(FIVE_RUNS) == "accuracy, mean of 5 runs per series, band: 95% CI"
    mixed = curve_set(ONE_RUN.curves[0], FIVE_RUNS.curves[1])
    assert beneath(mixed) == "accuracy, mean of 1 to 5 runs per series, band: 95% CI"


@pytest.mark.parametrize(
    ("band", "name", "sentence"),
    [
        ("ci", "90% CI", "Band: 90% CI of the mean across runs (Student t), at each step"),
        (
            "simultaneous",
            "90% simultaneous",
            "Band: the whole mean curve of runs like these lies in it with",
        ),
        ("se", "± standard error", "Band: standard error of the mean across runs, at each step by itself."),
        ("sd", "± SD", "Band: standard deviation across runs, at each step by itself."),
        ("range", "range", "Band: smallest to largest run, at each step by itself."),
        ("iqr", "IQR", "Band: middle half of the runs at each step by itself, with the median as the line."),
    ],
)
def test_each_band_has_its_name(band: str, name: str, sentence: str) -> None:
    """What a band shows is said in the subtitle, the tooltip and the caption."""
    curves = curve_set(*FIVE_RUNS.curves, band=band, level=0.9)
    assert name_band(curves) == name
    assert sentence in below(curves)


def test_no_band() -> None:
    """Where the author wants none, nothing is said of it."""
    curves = curve_set(curve("a", [0.1, 0.2], runs=3), band="none")
    assert name_band(curves) == ""
    assert "and" not in below(curves)


def test_the_caption_of_one_run_a_series() -> None:
    """One run has no band, and the caption says why."""
    assert below(ONE_RUN) == (
        "Each line is one run. No band: an interval needs at least 2 runs. Source: a source.\nNot smoothed."
    )


def test_the_caption_of_five_runs() -> None:
    """n, band and level, smoothing, alignment, source."""
    assert below(FIVE_RUNS, caption="Five seeds.") == (
        "Five seeds. Each line is the mean of n = 5 runs. Band: 95% CI of the mean across "
        "runs (Student t), at each step by itself. Source: a source.\n"
        "Not smoothed. All runs share their steps."
    )


def test_the_caption_of_unequal_numbers_of_runs() -> None:
    """Each series has its n, and one without a band is named."""
    mixed = below(curve_set(ONE_RUN.curves[0], FIVE_RUNS.curves[1]))
    assert "Each line is the mean of n runs: MEL 1, GRPO 5." in mixed
    assert "MEL: 1 run, no band." in mixed


def test_equal_runs_are_told() -> None:
    """A band without width would look like certainty: it is not drawn, and said."""
    mel, grpo = FIVE_RUNS.curves
    one = curve_set(replace(mel, equal=3))
    assert "at each step by itself. 3 steps have equal readings in all runs: no band there." in below(one)
    both = curve_set(replace(mel, equal=1), replace(grpo, equal=2))
    assert "1 step of MEL and 2 steps of GRPO have equal readings in all runs: no band" in below(both)
    middle = curve_set(replace(mel, equal=1), band="iqr")
    assert "1 step has an equal middle half of the runs: no band there." in below(middle)


def test_runs_that_end_early_are_told() -> None:
    """Where n falls, line and band are of those that are left, as is the value at the end."""
    short = curve("a", [0.1, 0.2, 0.3], half=0.1, runs=3, n=[3, 3, 2])
    fewer = "Where fewer runs reach, it is drawn from those that do: n = 2 to 3 for a."
    assert f"Each line is the mean of n = 3 runs. {fewer}" in below(curve_set(short))
    both = curve_set(short, curve("b", [0.1, 0.2, 0.5], half=0.1, runs=3))
    assert "winner: b has 0.50 [0.40, 0.60], a 0.30 [0.20, 0.40] (2 of 3 runs)." in said(both)
    more = curve_set(
        short, curve("b", [0.1, 0.2, 0.3], runs=2, n=[2, 2, 1]), curve("c", [1, 1, 1], runs=3, n=[2, 3, 3])
    )
    assert "that do: n = 2 to 3 for a and c; 1 to 2 for b." in below(more)
    assert fewer in below(both)
    level = curve_set(short, curve("b", [0.1, 0.2, 0.3], half=0.1, runs=3))
    assert "a with 2 of 3 runs and b are level at 0.30." in said(level)
    assert "a peaks at step 2, with a mean of 0.30 (2 of 3 runs), best of 3 checkpoints." in said(
        curve_set(short)
    )
    assert "Where fewer" not in below(FIVE_RUNS)
    assert "of 5 runs" not in said(FIVE_RUNS)


def test_the_caption_of_smoothed_lines() -> None:
    """How strong, and what the faint line is."""
    curves = curve_set(curve("a", [0.1, 0.2], raw=[0.1, 0.3]), smooth=0.6)
    assert "Smoothed by a time-weighted exponential average, 0.6; the faint line is not smoothed." in below(
        curves
    )


def test_interpolation_is_told() -> None:
    """Runs that do not share their steps are interpolated, never extrapolated."""
    assert "each run is interpolated linearly within its own range" in below(
        curve_set(*FIVE_RUNS.curves, exact=False)
    )


def test_what_was_left_out_is_counted() -> None:
    """Bins, replaced rows and missing values, each with its number."""
    told = below(curve_set(*FIVE_RUNS.curves, bins=400, replaced=1, dropped=1200))
    assert "Steps are averaged in 400 bins." in told
    assert "1 row was replaced by a later row of the same run and step." in told
    assert "1,200 missing or non-finite values were left out." in told


def test_an_interval_that_the_input_gives() -> None:
    """It is used as given, and said to be the input's."""
    low_high = curve_set(*given_curves(1), given_interval="low and high")
    assert name_band(low_high) == "interval as given"
    assert beneath(low_high) == "accuracy, as given, band: interval as given"
    assert below(low_high).startswith(
        "Each line is as given by the input. Band: interval given by the input (low and high)."
    )
    stderr = curve_set(*given_curves(5), given_interval="std and n")
    assert beneath(stderr) == "accuracy, as given, n = 5, band: interval as given"
    assert below(stderr).startswith(
        "Each line is as given by the input, n = 5. Band: 95% CI computed from the "
        "input's std and n, at each step by itself."
    )


def given_curves(n: int) -> list[Curve]:
    """Two curves whose band is the input's own."""
    return [replace(curve(name, [0.1, 0.2], half=0.1, n=[n, n]), given=True) for name in ("a", "b")]


def test_a_given_interval_beside_several_runs() -> None:
    """One series has its own interval, the other that across its runs: both are told."""
    mixed = curve_set(given_curves(1)[0], FIVE_RUNS.curves[1], given_interval="stderr", given_ignored=True)
    told = below(mixed)
    assert "Band: 95% CI of the mean across runs (Student t), at each step by itself." in told
    assert "a: 95% CI computed from the input's stderr, at each step by itself." in told
    assert "no band" not in told
    assert "Where a series has several runs, intervals that the input gives are not used." in told


def test_a_caution_and_notes_stand_at_the_end() -> None:
    """A reader learns that numbers were read from a picture, and what was handled in the files."""
    told = below(ONE_RUN, around={"approximate": "digitised from a figure", "notes": ("One line was torn.",)})
    visible, _, _ = told.partition("\n")
    assert visible.endswith("One line was torn. Source: a source (digitised from a figure).")


@pytest.mark.parametrize("curves", [ONE_RUN, FIVE_RUNS, curve_set(curve("a", [0.1]))])
def test_sentences_are_set_cleanly(curves: CurveSet) -> None:
    """No double space, no space at an end, and a full stop after each sentence."""
    for text in (said(curves), below(curves)):
        assert not re.search(r"^ |  | $|\.\.", text)
        assert text.endswith(".")
