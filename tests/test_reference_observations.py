"""The reference figures: what a careful reader wrote about each, found again from its data by the rules.

Each statement stands here in a few words of our own, with the numbers, steps and series that some one
observation has to hold in its sentence or its evidence. What a description says against its own points is
listed apart, and it is the points that are held. What the data cannot carry is listed, too.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from made_measurements import measurements

from reportgen.claims.observations.choosing import observe_curves
from reportgen.claims.observations.field import Field
from reportgen.core.directions import find_direction
from reportgen.core.statements import Scale
from reportgen.statistics.curves.mean_curves import compute_curves
from reportgen.statistics.curves.readings import (
    compute_differences,
    find_crossings,
    interpolate_value,
    volatility,
)
from reportgen.statistics.curves.reduce import reduce

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.model import Curve, CurveSet
    from reportgen.core.statements import Observation

DATA = Path(__file__).parents[1] / "data"
V1, V10 = "v1-l1-length-4096", "v10-l1-length-4096"
ACCURACY, ENTROPY, KL = "eval/math-eval/accuracy/mean", "actor/entropy_loss", "actor/kl_loss"


class Source(NamedTuple):
    """Where a figure's values stand: file, columns of step and value."""

    file: str
    value: str
    step: str = "step"


SOURCES = {
    "math500": Source("math500/points.csv", "validation score"),
    "aime": Source("aime/runs.csv", "pass@1", "iteration"),
    "five models": Source("training-accuracy/points.csv", "accuracy"),
    "live and frozen": Source("live-vs-frozen/points.csv", "accuracy"),
    "diagnostics": Source("rl-diagnostics/points.csv", "value"),
}


class Said(NamedTuple):
    """A reader's statement, the rule that finds it, and what one of its observations has to hold."""

    figure: str
    statement: str
    rule: str
    holds: tuple[str, ...]
    metric: str = ""


STATEMENTS = (
    # ---- math500 ----
    Said("math500", "both start at 0.74", "same start", ("GRPO", "MEL", "0.74", "step 0")),
    Said("math500", "both have 0.77 at step 20", "same start", ("GRPO", "MEL", "the same up to step 20")),
    Said(
        "math500",
        "GRPO rises gradually, without a setback",
        "steady",
        ("GRPO", "0.74", "0.82", "none of the 8 is below"),
    ),
    Said(
        "math500", "GRPO stays at 0.82 from step 120 on", "steady", ("GRPO", "0.82 at step 120", "stay there")
    ),
    Said("math500", "MEL is the more volatile", "instability", ("MEL", "GRPO", "4 times")),
    Said("math500", "MEL dips to 0.76 at step 30", "dip", ("MEL", "0.76 at step 30")),
    Said(
        "math500",
        "the dip comes from 0.77 and goes to 0.79 at 40",
        "dip",
        ("0.77 at step 20", "step 40", "0.79"),
    ),
    Said(
        "math500",
        "MEL falls from 0.81 at 60 to 0.80 at 70",
        "dip",
        ("MEL", "0.81 at step 60", "0.8 at step 70"),
    ),
    Said(
        "math500",
        "MEL falls from 0.82 at 100 to 0.81 at 110",
        "dip",
        ("0.82 at step 100", "0.81 at step 110"),
    ),
    Said(
        "math500",
        "MEL is highest of all, 0.84 at step 120",
        "best",
        ("The highest reading is 0.84, of MEL at step 120",),
    ),
    Said("math500", "MEL drops to 0.82 by step 140", "best", ("MEL", "final(MEL) = 0.82 at step 140")),
    Said("math500", "GRPO reaches 0.82 at step 120", "best", ("peak(GRPO) = 0.82 at step 120",)),
    Said("math500", "both end at 0.82", "converge", ("GRPO", "MEL", "level at 0.82", "step 140")),
    Said(
        "math500",
        "both are at 0.80 at step 80",
        "converge",
        ("readings of GRPO and MEL meet at step 80", "at 0.8"),
    ),
    # ---- aime ----
    Said("aime", "both start at 0.294", "same start", (V1, V10, "0.294", "iteration 100")),
    Said("aime", "they are alike at first", "same start", ("the same up to iteration 200",)),
    Said("aime", "v10 is ahead from 400 on", "crossing", (V10, "iterations 400 to 900")),
    Said("aime", "they change places again and again", "crossing", (f"crossings({V1}, {V10}) = 6",)),
    Said("aime", "v1 is ahead at 1000 and 1200", "crossing", (f"{V1} at iterations 300, 1,000, 1,200",)),
    Said("aime", "v1 rises at first", "spike", (V1, "peaks", "iteration 400")),
    Said("aime", "v10 peaks at 0.325 at 500", "rise", (V10, "0.325", "iteration 500")),
    Said("aime", "v10 has a first low of 0.292 at 200", "dip", (V10, "0.292 at iteration 200")),
    Said("aime", "v10 peaks higher than v1", "best", ("0.325 at iteration 500", "0.318 at iteration 400")),
    Said("aime", "one run may give another order", "best", ("no clear winner",)),
    Said("aime", "v10 is at 0.321 again at 900, its second peak", "dip", (V10, "iteration 900", "0.321")),
    Said("aime", "v10 is lowest at 1200, 0.278", "dip", (V10, "0.278 at iteration 1,200")),
    Said("aime", "v10 declines to 0.300 in the end", "best", (V10, "0.300 at iteration 1,400", "0.325")),
    Said("aime", "v1 is lowest at 900, 0.280", "dip", (V1, "0.280 at iteration 900")),
    Said("aime", "v1 comes back by 1000", "dip", (V1, "iteration 1,000", "0.306")),
    Said("aime", "v1 has fallen from its peak by 600, to 0.289", "spike", (V1, "iteration 600", "0.289")),
    Said("aime", "the gap is widest at 900", "widest gap", ("iteration 900", "0.041", "0.321", "0.280")),
    Said("aime", "both end between 0.300 and 0.302", "best", (V1, V10, "0.300 at iteration 1,400", "0.302")),
    Said("aime", "at the end they cannot be told apart", "best", ("0.302", "0.300", "no clear winner")),
    Said(
        "aime",
        "the band of v10 is widest from 400 to 600 and 800 to 1000",
        "uncertain here",
        (V10, "iterations 400 to 600 and 800 to 1,000"),
    ),
    Said("aime", "the band of v1 is wide at 900", "uncertain here", (V1, "iteration 900")),
    # ---- five models ----
    Said("five models", "starts: 0, 0.2, 0.3, 0.4, 0.5", "same start", ("0 (Llama3.2)", "0.5 (Gemma3)")),
    Said("five models", "Qwen3 starts at 0.3", "same start", ("start(Qwen3) = 0.3 at step 0",)),
    Said("five models", "SmolLM3 starts at 0.4", "same start", ("start(SmolLM3) = 0.4 at step 0",)),
    Said("five models", "Qwen2.5 starts at 0.2", "same start", ("start(Qwen2.5) = 0.2 at step 0",)),
    Said(
        "five models",
        "Qwen3 is best, 0.9 by step 40",
        "best",
        ("highest reading is 0.9, of Qwen3 at step 40",),
    ),
    Said(
        "five models",
        "SmolLM3 is next, 0.85 by step 40",
        "best",
        ("SmolLM3 (0.85) is next", "0.85 at step 40"),
    ),
    Said(
        "five models",
        "Llama3.2 drops from 0.7 at 40 to 0.5 at 60",
        "late decline",
        ("Llama3.2", "0.7 at step 40", "0.5 at step 120"),
    ),
    Said("five models", "Gemma3 peaks at 0.75 at 40", "best", ("peak(Gemma3) = 0.75 at step 40",)),
    Said("five models", "Gemma3 dips to 0.55 at 60", "dip", ("Gemma3", "0.75 at step 40", "0.55 at step 60")),
    Said("five models", "Gemma3 is back at 0.7 by 100", "dip", ("Gemma3", "step 100", "0.7")),
    Said("five models", "Qwen2.5 is slowest, there at 100 only", "rise", ("Qwen2.5 by step 100",)),
    Said(
        "five models",
        "the others are there by 40",
        "rise",
        ("Qwen3", "SmolLM3", "Gemma3", "Llama3.2", "step 40"),
    ),
    Said(
        "five models",
        "Qwen2.5 is at 0.7 at 100 and stays",
        "best",
        ("peak(Qwen2.5) = 0.7 at step 100", "final(Qwen2.5) = 0.7"),
    ),
    Said(
        "five models",
        "Qwen3 and SmolLM3 are the top",
        "tiers",
        ("best first: Qwen3 (0.9) and SmolLM3 (0.85);",),
    ),
    # ---- live and frozen ----
    Said(
        "live and frozen",
        "Gemma3 and Qwen2.5 start higher",
        "same start",
        ("Frozen Gemma3 (0.38)", "Frozen Qwen2.5 (0.37)"),
    ),
    Said("live and frozen", "the others start at 0.25 to 0.28", "same start", ("other 5", "0.25 to 0.28")),
    Said(
        "live and frozen",
        "Live Qwen3 peaks at 0.95 at 70 to 80",
        "best",
        ("highest reading is 0.95, of Live Qwen3 at step 75",),
    ),
    Said(
        "live and frozen",
        "Live Qwen3 ends at 0.92, highest",
        "best",
        ("highest last reading is 0.92, of Live Qwen3", "step 110"),
    ),
    Said(
        "live and frozen", "Frozen Qwen2.5 is next, ends at 0.91", "best", ("Frozen Qwen2.5 (0.91) is next",)
    ),
    Said(
        "live and frozen",
        "Frozen Qwen2.5 peaks between 0.92 and 0.94",
        "best",
        ("peak('Frozen Qwen2.5') = 0.93",),
    ),
    Said(
        "live and frozen",
        "Frozen Qwen3 peaks between 0.90 and 0.92",
        "best",
        ("peak('Frozen Qwen3') = 0.91",),
    ),
    Said(
        "live and frozen",
        "Live Qwen3 stays ahead of Frozen Qwen3",
        "crossing",
        ("Live Qwen3 is ahead of Frozen Qwen3 from step 40 on", "0.02 to 0.04"),
    ),
    Said(
        "live and frozen",
        "Frozen Qwen2.5 is close behind",
        "crossing",
        ("ahead of Frozen Qwen2.5", "0.01 to 0.02"),
    ),
    Said(
        "live and frozen",
        "Gemma3 does not keep its first place",
        "crossing",
        ("Frozen Gemma3 is ahead at step 0", "Live Qwen3"),
    ),
    Said(
        "live and frozen",
        "SmolLM3 is below all others throughout",
        "crossing",
        ("Frozen SmolLM3 is last at every step",),
    ),
    Said(
        "live and frozen",
        "Llama3.2 stays at 0.88 to 0.90",
        "steady",
        ("Frozen Llama3.2", "0.89 at step 75 and stay there"),
    ),
    Said(
        "live and frozen",
        "Mistral declines from 0.90 at 60 to 0.84",
        "late decline",
        ("Frozen Mistral", "0.9 at step 60", "0.84 at step 110"),
    ),
    Said(
        "live and frozen",
        "SmolLM3 declines after 90, to 0.75",
        "late decline",
        ("Frozen SmolLM3", "0.835 at step 90", "0.75 at step 110"),
    ),
    Said(
        "live and frozen",
        "Gemma3 drops after 100, to 0.84",
        "late decline",
        ("Frozen Gemma3", "0.89 at step 100", "0.84 at step 110"),
    ),
    Said(
        "live and frozen",
        "the first tier",
        "tiers",
        ("Live Qwen3 (0.92), Frozen Qwen2.5 (0.91), Frozen Qwen3 (0.9) and Frozen Llama3.2 (0.89);",),
    ),
    Said("live and frozen", "the middle tier", "tiers", ("; Frozen Gemma3 and Frozen Mistral (both 0.84);",)),
    Said("live and frozen", "SmolLM3 is the last tier", "tiers", ("; Frozen SmolLM3 (0.75).",)),
    Said(
        "live and frozen",
        "the rise is mostly over between 40 and 75",
        "rise",
        ("step 40", "step 60", "step 65", "step 75"),
    ),
    # ---- diagnostics ----
    Said(
        "diagnostics",
        "A starts at 0.24, B at 0.20",
        "same start",
        ("first reading of Series A is higher", "0.24", "0.2"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "both peak at 0.35, B at 10, A at 15",
        "best",
        ("highest reading is 0.35", "Series B at step 10", "Series A at step 15"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "A ends at 0.32, B at 0.31",
        "best",
        ("Series A (0.32)", "Series B (0.31)"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "B rises faster",
        "rise",
        ("Series B by step 10", "Series A by step 15"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "A is ahead after 15, B at 5 and 10",
        "crossing",
        ("Series A is ahead at steps 0 and 15 to 30", "Series B from step 5 to 10"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "A holds its level until 25 and declines",
        "late decline",
        ("Series A", "0.35 at step 25", "0.32 at step 30"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "B declines from 0.35 at 10 to 0.31",
        "late decline",
        ("Series B", "0.35 at step 10", "0.31 at step 30"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "A is steadier than B",
        "instability",
        ("Series B", "Series A", "0.32 at step 20"),
        ACCURACY,
    ),
    Said(
        "diagnostics",
        "both start at 0.2",
        "same start",
        ("first readings of Series A and Series B are 0.2",),
        ENTROPY,
    ),
    Said(
        "diagnostics",
        "A drops to 0.05 by 10",
        "rise",
        ("Series A by step 10", "0.05"),
        ENTROPY,
    ),
    Said("diagnostics", "A has a spike of 0.12 at 20", "spike", ("Series A", "0.12 at step 20"), ENTROPY),
    Said("diagnostics", "A is the more volatile", "instability", ("Series A moves", "Series B"), ENTROPY),
    Said(
        "diagnostics",
        "B falls to 0.02 at 30",
        "best",
        ("lowest reading is 0.02, of Series B at step 30",),
        ENTROPY,
    ),
    Said(
        "diagnostics",
        "B falls steadily",
        "steady",
        ("Series B go down from 0.2 at step 0 to 0.02 at step 30",),
        ENTROPY,
    ),
    Said("diagnostics", "A ends at 0.06", "best", ("final('Series A') = 0.06 at step 30",), ENTROPY),
    Said(
        "diagnostics", "both start at 0", "same start", ("first readings of Series A and Series B are 0",), KL
    ),
    Said("diagnostics", "A peaks at 0.6 at 10", "spike", ("Series A", "0.6 at step 10"), KL),
    Said(
        "diagnostics", "B peaks at 1.0 at 20", "best", ("highest reading is 1, of Series B at step 20",), KL
    ),
    Said("diagnostics", "B comes down to 0.55 at 30", "best", ("Series B", "0.55"), KL),
    Said("diagnostics", "A ends at 0.38", "best", ("Series A (0.38)",), KL),
    Said(
        "diagnostics",
        "the runs are furthest apart at 20",
        "widest gap",
        ("step 20", "0.6", "Series B 1", "Series A 0.4"),
        KL,
    ),
    Said(
        "diagnostics",
        "B overtakes A",
        "crossing",
        ("Series A is highest from step 5 to 10", "Series B from step 15 on"),
        KL,
    ),
    Said(
        "diagnostics",
        "B's accuracy falls while its KL loss doubles",
        "part company",
        ("Series B, by its readings, from step 10 to 20", "0.5 to 1", "0.35 to 0.32"),
        ACCURACY,
    ),
)


@cache
def figure(name: str) -> tuple[tuple[CurveSet, Scale], ...]:
    """The curves of a figure's metrics, as the report makes them from the data."""
    source = SOURCES[name]
    rows: list[dict[str, object]] = []
    with (DATA / source.file).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            run = row.get("seed") or "1"
            metric = row.get("metric") or source.value
            numbers = {"step": float(row[source.step]), "value": float(row[source.value])}
            rows.append({"series": row["series"], "run": run, "seed": run, "metric": metric, **numbers})
    reduced = reduce(measurements(rows), max_points=None)
    return tuple(
        (compute_curves(one), Scale(metric, find_direction(metric), source.step))
        for metric, one in reduced.items()
    )


@cache
def found(name: str) -> tuple[Observation, ...]:
    """What the rules find in a figure."""
    return observe_curves(figure(name))


def curve(name: str, series: str, metric: str = "") -> Curve:
    """One curve of a figure."""
    (chosen,) = [one for one, scale in figure(name) if metric in {"", scale.metric}]
    return next(one for one in chosen.curves if one.series == series)


def at(name: str, series: str, step: float, metric: str = "") -> float:
    """A curve's value at a step."""
    value = interpolate_value(curve(name, series, metric), step)
    assert value is not None
    return round(value, 12)


def tells(one: Observation, part: str) -> bool:
    """Whether an observation holds some words: whole numbers and names, so that 0.8 is not found in 0.82.

    How many zeros a number ends with is no difference.
    """
    part, words = plain(part), plain("\n".join([one.text, *one.evidence]))
    before = r"(?<![\w.,])" if part[0].isalnum() else ""
    after = r"(?![\w]|[.,]\d)" if part[-1].isalnum() else ""
    return bool(re.search(before + re.escape(part) + after, words))


def plain(words: str) -> str:
    """Words whose decimals have no zeros at their end."""
    return re.sub(r"(?<=\d)(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), words)


@pytest.mark.parametrize("said", STATEMENTS, ids=[f"{one.figure}: {one.statement}" for one in STATEMENTS])
def test_what_a_reader_says_is_found(said: Said) -> None:
    """Some one observation of the rule holds every number, step and series of the statement."""
    candidates = [
        one for one in found(said.figure) if one.rule == said.rule and said.metric in {"", one.metric}
    ]
    assert any(all(tells(one, part) for part in said.holds) for one in candidates), "\n".join(
        [f"{said.holds} not in:", *(f"{one.text} {one.evidence}" for one in candidates)]
    )


# ---- what the points contradict -------------------------------------------------------------------


def _grpo_at_100() -> bool:
    return at("math500", "GRPO", 100) == 0.815


def _grpo_has_no_fluctuation() -> bool:
    return bool((np.diff(curve("math500", "GRPO").values) >= 0).all())


def _v1_leads_at_1000_and_1200() -> bool:
    return all(at("aime", V1, step) > at("aime", V10, step) for step in (1000, 1200))


def _v1_dip_is_not_sustained() -> bool:
    return at("aime", V1, 600) < at("aime", V1, 700) and at("aime", V1, 1000) > at("aime", V10, 1000)


def _v10_falls_before_it_rises() -> bool:
    return at("aime", V10, 200) < at("aime", V10, 100)


def _gemma_stops_at_100() -> bool:
    return bool(curve("five models", "Gemma3").steps[-1] == 100)


def _llama_rises_fastest_to_40() -> bool:
    names = ("Qwen3", "Llama3.2", "SmolLM3", "Gemma3")
    rises = {name: at("five models", name, 40) - at("five models", name, 0) for name in names}
    return max(rises, key=rises.__getitem__) == "Llama3.2"


def _nobody_is_above_088_at_40() -> bool:
    (one,) = [chosen for chosen, _ in figure("live and frozen")]
    return max(at("live and frozen", series.series, 40) for series in one.curves) == 0.85


def _smol_rises_until_90() -> bool:
    return at("live and frozen", "Frozen SmolLM3", 90) > at("live and frozen", "Frozen SmolLM3", 65)


def _qwen_declines_too() -> bool:
    names = ("Live Qwen3", "Frozen Qwen3", "Frozen Qwen2.5")
    return all(at("live and frozen", name, 75) > at("live and frozen", name, 110) for name in names)


def _a_stays_at_its_peak_until_25() -> bool:
    return {at("diagnostics", "Series A", step, ACCURACY) for step in (15, 20, 25)} == {0.35}


def _entropy_of_a_leaves_its_range() -> bool:
    return at("diagnostics", "Series A", 20, ENTROPY) == 0.12


def _entropy_of_b_rises_at_15() -> bool:
    return at("diagnostics", "Series B", 15, ENTROPY) > at("diagnostics", "Series B", 10, ENTROPY)


def _entropy_of_a_is_the_more_volatile() -> bool:
    a, b = (volatility(curve("diagnostics", name, ENTROPY)) for name in ("Series A", "Series B"))
    return a is not None and b is not None and a > b


def _kl_of_a_leaves_its_range() -> bool:
    return at("diagnostics", "Series A", 30, KL) == 0.38


CONTRADICTED: dict[tuple[str, str], tuple[Callable[[], bool], str, tuple[str, ...]]] = {
    ("math500", "GRPO is stable at 0.82 after step 100"): (
        _grpo_at_100,
        "steady",
        ("GRPO", "0.82 at step 120 and stay there"),
    ),
    ("math500", "GRPO rises with minor fluctuations"): (
        _grpo_has_no_fluctuation,
        "steady",
        ("GRPO", "none of the 8 is below the one before"),
    ),
    ("aime", "v10 stays ahead from 400 until 1300"): (
        _v1_leads_at_1000_and_1200,
        "crossing",
        (
            f"{V1} at iterations 300, 1,000, 1,200 and 1,400",
            f"{V10} at iterations 400 to 900, 1,100 and 1,300",
        ),
    ),
    ("aime", "v1 stays down from 600 to 1000"): (
        _v1_dip_is_not_sustained,
        "dip",
        (V1, "0.280 at iteration 900", "iteration 1,000"),
    ),
    ("aime", "v10 rises from 100 to 500"): (
        _v10_falls_before_it_rises,
        "dip",
        (V10, "down from 0.294 at iteration 100 to 0.292 at iteration 200"),
    ),
    ("five models", "all five are shown over 120 steps"): (
        _gemma_stops_at_100,
        "tiers",
        ("Gemma3 (0.7 at step 100)",),
    ),
    ("five models", "Llama3.2 rises gradually, Qwen3 sharply"): (
        _llama_rises_fastest_to_40,
        "rise",
        ("start(Llama3.2) = 0", "0.7", "step 40"),
    ),
    ("live and frozen", "the first tier is above 0.88 after step 40"): (
        _nobody_is_above_088_at_40,
        "rise",
        ("Live Qwen3", "step 75"),
    ),
    ("live and frozen", "SmolLM3 drops after step 80"): (
        _smol_rises_until_90,
        "late decline",
        ("Frozen SmolLM3", "0.835 at step 90"),
    ),
    ("live and frozen", "the Qwen models do not decline"): (
        _qwen_declines_too,
        "late decline",
        ("Frozen Qwen2.5", "0.93 at step 75", "0.91 at step 110"),
    ),
    ("diagnostics", "A declines gradually after its peak at 15"): (
        _a_stays_at_its_peak_until_25,
        "late decline",
        ("Series A", "0.35 at step 25"),
    ),
    ("diagnostics", "A's entropy loss stays between 0.05 and 0.1"): (
        _entropy_of_a_leaves_its_range,
        "spike",
        ("Series A", "0.12 at step 20"),
    ),
    ("diagnostics", "B's entropy loss falls smoothly"): (
        _entropy_of_b_rises_at_15,
        "steady",
        ("Series B", "0.08 at step 10", "0.09 at step 15"),
    ),
    ("diagnostics", "B is the more volatile in entropy loss"): (
        _entropy_of_a_is_the_more_volatile,
        "instability",
        ("Series A moves",),
    ),
    ("diagnostics", "A's KL loss stays between 0.4 and 0.5 after 10"): (
        _kl_of_a_leaves_its_range,
        "late decline",
        ("Series A", "0.38 at step 30"),
    ),
}


@pytest.mark.parametrize(("name", "statement"), CONTRADICTED)
def test_where_points_contradict_their_description_the_points_win(name: str, statement: str) -> None:
    """The points say otherwise, and so does an observation."""
    contradicts, rule, parts = CONTRADICTED[name, statement]
    assert contradicts()
    assert any(one.rule == rule and all(tells(one, part) for part in parts) for one in found(name))


# ---- what the data cannot carry -------------------------------------------------------------------


def test_no_model_of_aime_is_called_the_better_one() -> None:
    """That v10 is superior: the peaks differ by 0.007 and the ends by 0.002, both within the bands."""
    (told,) = [one for one in found("aime") if one.rule == "best"]
    assert "no clear winner" in told.text
    assert "ends highest" not in told.text


def test_the_kl_loss_of_b_is_no_more_volatile_as_a_whole() -> None:
    """That A is stable and B volatile holds after step 10 only: over all steps the factor is below 1.5."""
    a, b = (volatility(curve("diagnostics", name, KL)) for name in ("Series A", "Series B"))
    assert a is not None
    assert b is not None
    assert 1 < b / a < 1.5
    assert not any(one.rule == "instability" and one.metric == KL for one in found("diagnostics"))
    after = {name: np.diff(curve("diagnostics", name, KL).values[2:]) for name in ("Series A", "Series B")}
    assert np.abs(after["Series A"]).max() < np.abs(after["Series B"]).max()


def test_neither_curve_of_aime_is_called_steady() -> None:
    """The readings do not rise all along: no observation may say that one does."""
    assert not any(one.rule == "steady" for one in found("aime"))


# ---- what the observations of a figure are --------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_the_first_eight_are_of_many_kinds(name: str) -> None:
    """The default block shows a mix of rules, no rule more than twice, and who is best before all else."""
    first = [one.rule for one in found(name)[:8]]
    assert first[0] == "best"
    assert len(set(first)) >= 6
    assert max(first.count(rule) for rule in first) <= 2


@pytest.mark.parametrize("name", SOURCES)
def test_every_number_told_is_one_of_the_curves(name: str) -> None:
    """A marked point is a reading of its series; steps lie inside the data."""
    by_metric = {scale.metric: one for one, scale in figure(name)}
    for told in found(name):
        steps = np.concatenate([one.steps for one in by_metric[told.metric].curves])
        for step in (told.from_step, told.to_step, told.mark):
            assert step is None or steps.min() <= step <= steps.max()
        assert (told.mark is None) == (told.mark_series is None)
        assert bool(told.label) == (told.mark is not None)


def test_the_crossings_told_are_those_of_the_facts() -> None:
    """Observations and claims count the same."""
    a, b = curve("aime", V1), curve("aime", V10)
    assert find_crossings(a, b).size == 6
    steps, difference = compute_differences(a, b)
    assert float(steps[np.argmax(np.abs(difference))]) == 900
    field = Field(figure("aime")[0][0].curves, figure("aime")[0][1], "ci")
    assert field.series[V1].noise.known
