"""What happened on a benchmark: its leader, how it ended, on how many runs, and a card for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from made_figures import HOSTILE, context, curve, curve_set, wave
from msgspec.structs import replace

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.draft.blocks.kinds import collect_overview
from reportgen.figures.curves.key_results import summarize_benchmark
from reportgen.settings.blocks import OverviewSettings
from reportgen.settings.inputs import Block
from reportgen.settings.report import Benchmark

if TYPE_CHECKING:
    from reportgen.core.model import BenchmarkResult, CurveSet

MEL = curve("MEL", [0.2, 0.84, 0.80], steps=[0, 120, 150], half=0.05, runs=5)
GRPO = curve("GRPO", [0.2, 0.70, 0.82], steps=[0, 120, 150], half=0.05, runs=5)


def result(curves: CurveSet, around: dict[str, Any] | None = None, **said: Any) -> BenchmarkResult:  # noqa: ANN401
    """The result of a benchmark on these curves."""
    benchmark = Benchmark(name="AIME", source="aime", **said)
    here = context(curves, higher_is_better=benchmark.higher_is_better, **(around or {}))
    return summarize_benchmark(benchmark, "aime.md", curves, here)


def facts(curves: CurveSet, **said: Any) -> dict[str, str]:  # noqa: ANN401
    """The line of key results."""
    return dict(result(curves, **said).facts)


def test_the_key_results() -> None:
    """How it ended, the best with its step and from how many, runs, and what the author said."""
    made = result(
        curve_set(MEL, GRPO),
        {"approximate": "digitised from a figure", "step_title": "Training step"},
        date="2026-05-01",
        protocol="avg@16",
        description="Thirty problems.",
    )
    assert made.facts == (
        ("At the end", "no clear winner; highest mean 0.82 [0.77, 0.87] (GRPO)"),
        ("Best of 3 checkpoints", "MEL 0.84 at training step 120"),
        ("Runs", "5 for each of 2 series"),
        ("Date", "2026-05-01"),
        ("Protocol", "avg@16"),
        ("Caution", "digitised from a figure"),
    )
    assert (made.name, made.page, made.description) == ("AIME", "aime.md", "Thirty problems.")
    assert made.leader == ""
    assert made.score == "No clear winner; highest mean 0.82 [0.77, 0.87] accuracy at the end (GRPO)"
    assert made.legend == (("MEL", 0), ("GRPO", 1))


def test_a_clear_winner_leads() -> None:
    """By the test at the end, whoever had the best checkpoint on the way."""
    ahead = curve("GRPO", [0.2, 0.70, 0.95], steps=[0, 120, 150], half=0.01, runs=5)
    made = result(curve_set(MEL, ahead))
    assert (made.leader, made.score) == ("GRPO", "leads with 0.950 [0.940, 0.960] accuracy at the end")
    assert dict(made.facts)["At the end"] == "GRPO leads with 0.950 [0.940, 0.960]"


def test_different_numbers_of_checkpoints_are_said() -> None:
    """The best of three is no fair match for the best of two."""
    made = result(curve_set(MEL, curve("GRPO", [0.2, 0.7])))
    assert made.facts[1] == ("Best of 3 against best of 2 checkpoints", "MEL 0.84 at step 120")


def test_what_is_not_said_is_left_out() -> None:
    """No empty fact stands in the line."""
    assert set(facts(curve_set(MEL))) == {"Best of 3 checkpoints", "At the end", "Runs"}


def test_where_lower_is_better() -> None:
    """The lowest value leads."""
    loss = curve_set(curve("a", [2.0, 0.5, 0.7]), curve("b", [2.0, 0.6, 0.6]), metric="loss")
    assert facts(loss, higher_is_better=False) == {
        "At the end": "lowest reading 0.6 (b)",
        "Best of 3 checkpoints": "a 0.5 at step 1",
        "Runs": "1 for each of 2 series",
    }


def test_series_that_lead_together_are_all_named() -> None:
    """To the digits shown nobody is ahead, so nobody is named alone."""
    even = curve_set(curve("a", [0.1, 0.9, 0.5]), curve("b", [0.9, 0.1, 0.5]), curve("c", [0.1, 0.2, 0.3]))
    made = result(even)
    assert (made.leader, made.score) == ("", "Highest reading 0.5 accuracy at the end (a and b)")
    assert made.facts[:2] == (
        ("At the end", "highest reading 0.5 (a and b)"),
        ("Best of 3 checkpoints", "a and b 0.9 at step 1 and 0"),
    )


def test_unequal_numbers_of_runs() -> None:
    """From the fewest to the most."""
    assert facts(curve_set(MEL, curve("base", [0.1])))["Runs"] == "1 to 5 for each of 2 series"


def test_intervals_of_the_input() -> None:
    """One row a step does not mean one run where the input says how many are behind it."""
    given = replace(curve("a", [0.1, 0.2], half=0.1, n=[8, 8]), given=True)
    assert facts(curve_set(given, given_interval="std and n"))["Runs"] == "as given, n = 8, 1 series"


def test_a_metric_without_values_is_a_problem() -> None:
    """There is no leader among nothing."""
    with pytest.raises(ReportError, match='"accuracy" has no value that could be drawn'):
        result(curve_set(curve("a", [float("nan")])))


def test_the_pictures_of_a_card_use_the_title_of_the_metric() -> None:
    """With the range of what is drawn; a log key is shown only where the figures show it too."""
    curves = curve_set(MEL, GRPO, metric="val/acc")
    named = summarize_benchmark(
        Benchmark(name="AIME", source="aime"), "aime.md", curves, context(curves), "Accuracy"
    )
    labels = [ET.fromstring(svg).get("aria-label") for svg in (named.spark, named.strip)]  # noqa: S314 - our own
    assert labels == [
        "AIME: accuracy by step, from 0.20 to 0.84",
        "AIME, accuracy at the end: GRPO 0.82 [0.77, 0.87]; MEL 0.80 [0.75, 0.85]",
    ]
    assert "0.87] accuracy at the end" in named.score
    unnamed = ET.fromstring(result(curves).spark)  # noqa: S314 - our own
    assert unnamed.get("aria-label") == "AIME: val/acc by step, from 0.20 to 0.84"


@pytest.mark.parametrize("name", HOSTILE)
def test_the_spark_line_survives_any_name(name: str) -> None:
    """A small picture with the series' colours, one image, no style, whatever the names."""
    curves = curve_set(curve(name, wave()), curve("b", wave(shift=1)), metric=name)
    svg = replace(result(curves), name=name).spark
    root = ET.fromstring(svg)  # noqa: S314 - our own
    assert root.get("role") == "img"
    assert [path.get("stroke") for path in root] == ["var(--rg-series-1)", "var(--rg-series-2)"]
    assert not re.search(r"\sstyle=|\son\w+=", re.sub(r'aria-label="[^"]*"', "", svg))


def cards(*asked: str) -> tuple[str, ...]:
    """The names of an overview's cards."""
    results = {f"{name}.md": replace(result(curve_set(MEL)), name=name) for name in ("AIME", "MATH500")}
    settings = OverviewSettings(benchmarks=asked)
    block = Block("overview", "overview", settings, SourceLocation("content/index.md", 3), "")
    return tuple(card.name for card in collect_overview(block, settings, results).cards)


def test_the_overview_shows_all_in_the_order_of_the_report() -> None:
    """A card for each benchmark, or for those that the author names, in that order."""
    assert cards() == ("AIME", "MATH500")
    assert cards("MATH500", "AIME") == ("MATH500", "AIME")
    assert cards("MATH500") == ("MATH500",)


def test_an_unknown_benchmark_is_told() -> None:
    """Each of them, with what there is."""
    with pytest.raises(ReportError) as told:
        cards("AIMEE", "GSM8K")
    assert [str(problem) for problem in told.value.problems] == [
        f'content/index.md:3: "{name}" is not a benchmark of this report. '
        'The report\'s benchmarks are "AIME", "MATH500".'
        for name in ("AIMEE", "GSM8K")
    ]
