"""The ``table`` block: each series in three numbers, in the digits that they deserve."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from made_figures import context, curve, curve_set
from made_projects import write_report
from msgspec.structs import replace

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.model import Ending, Estimate, Figure, Lead, Observations, ResultTable
from reportgen.draft.report import draft
from reportgen.figures.curves.decimals import choose_precision
from reportgen.figures.curves.result_table import build_result_table
from reportgen.settings.blocks import TableSettings
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.digits import Precision


def ending(
    series: str,
    final: float,
    peak: float,
    mean: float,
    *,
    half: float | None = None,
    runs: int = 1,
    step: float = 120.0,
    readings: int = 13,
) -> Ending:
    """A series whose final value and mean have an interval of ``half`` on both sides."""

    def estimate(value: float) -> Estimate:
        if half is None:
            return Estimate(value, None, None, runs)
        return Estimate(value, value - half, value + half, runs)

    best = Estimate(peak, None, None, runs)
    return Ending(series, estimate(final), step, best, step / 2, estimate(mean), runs, readings)


UNTESTED = Lead(None, tested=False)
MEL, GRPO = ending("MEL", 0.80, 0.84, 0.61), ending("GRPO", 0.82, 0.83, 0.60)


def made(
    *metrics: tuple[str, tuple[Ending, ...]],
    better: bool = True,
    lead: Lead = UNTESTED,
    around: dict[str, Any] | None = None,
    **settings: Any,  # noqa: ANN401 - settings of the block
) -> ResultTable:
    """The table of these endings."""
    block = TableSettings.model_validate(settings)
    here = context(curve_set(), **(around or {}))
    count = len(metrics)
    return build_result_table(
        "table",
        block,
        metrics,
        here,
        better=(better,) * count,
        leads=(lead,) * count,
        precisions=[precision_of(endings) for _, endings in metrics],
    )


def precision_of(endings: tuple[Ending, ...]) -> Precision:
    """The digits of a figure of these values."""
    curves = []
    for one in endings:
        half = 0.0 if one.final.high is None else one.final.high - one.final.value
        curves.append(curve(one.series, [one.final.value, one.peak.value, one.mean.value], half=half))
    return choose_precision(curves)


def words(table: ResultTable) -> list[list[str]]:
    """The table's cells as they are shown."""
    return [[cell.text for cell in row] for row in table.rows]


def test_a_row_for_each_series() -> None:
    """Name, runs, and final, best and mean with the steps at which they stand; the best end first."""
    table = made(("accuracy", (MEL, GRPO)))
    assert table.header == ("series", "runs", "final", "best of 13 checkpoints", "mean over steps")
    assert words(table) == [
        ["GRPO", "1", "0.82 at 120", "0.83 at 60", "0.60"],
        ["MEL", "1", "0.80 at 120", "0.84 at 60", "0.61"],
    ]
    assert table.title == "accuracy"


def test_an_interval_decides_the_digits() -> None:
    """Two digits of half the interval, and the value to the same place; the best value has no more."""
    (row,) = words(made(("accuracy", (ending("a", 0.8123, 0.90009, 0.7, half=0.0123, runs=5),))))
    assert row == ["a", "5", "0.812 ± 0.012 at 120", "0.900 at 60", "0.700 ± 0.012"]


def test_different_numbers_of_readings_stand_beside_the_best_values() -> None:
    """The best of 14 is higher than the best of 8 for being one of more."""
    table = made(("accuracy", (replace(MEL, readings=14), replace(GRPO, readings=8))), columns=["peak"])
    assert table.header[-1] == "best"
    assert [row[-1] for row in words(table)] == ["0.83 at 60, of 8", "0.84 at 60, of 14"]


def test_a_best_value_that_has_an_interval() -> None:
    """It is shown, and said to know that its step was picked."""
    best = replace(MEL, peak=Estimate(0.84, 0.70, 0.86, 5))
    table = made(("accuracy", (best,)), columns=["peak"])
    assert words(table)[0][-1] == "0.84 [0.70, 0.86] at 60"
    assert "picked by looking; its interval allows for the choice." in table.caption


@pytest.mark.parametrize(
    ("lead", "said"),
    [
        (Lead("MEL", tested=True), "At the end MEL leads (Welch's t over runs, Holm over all pairs)."),
        (Lead(None, tested=True), "At the end no clear winner (Welch's t over runs, Holm over all pairs)."),
        (UNTESTED, "One run per series: no interval. Source: a source.\nBest: the"),
    ],
)
def test_the_caption_says_who_leads(lead: Lead, said: str) -> None:
    """As the one test does that cards and summaries ask; nothing where it was not possible."""
    assert made(("accuracy", (MEL, GRPO)), lead=lead).caption.startswith(said)


def test_equal_runs_have_no_interval_and_a_word() -> None:
    """No certainty is made of three seeds that happen to agree."""
    table = made(("accuracy", (ending("a", 0.8, 0.9, 0.7, runs=3),)))
    assert "a: all runs are equal at the last step, so no interval." in table.caption


@pytest.mark.parametrize(
    ("order", "better", "names"),
    [
        ("best", True, ["MEL", "GRPO"]),
        ("best", False, ["GRPO", "MEL"]),
        ("final", True, ["GRPO", "MEL"]),
        ("final", False, ["MEL", "GRPO"]),
        ("name", True, ["GRPO", "MEL"]),
        ("given", True, ["MEL", "GRPO"]),
    ],
)
def test_the_order_of_rows(order: str, better: bool, names: list[str]) -> None:  # noqa: FBT001 - a case of the table
    """By best or last value with the metric's direction, by name, or as in the data; the table says how."""
    table = made(("accuracy", (MEL, GRPO)), better=better, order=order, columns=["peak"])
    assert [row[0] for row in words(table)] == names
    column = {"best": table.header[2], "name": "series"}.get(order, "")
    assert table.sorted_by[0] == column
    assert not column or (table.sorted_by[1] == "descending") == (order == "best" and better)


def test_several_metrics_stand_side_by_side() -> None:
    """Each column says its metric; a series without one of them has no data there, and no 0."""
    table = made(("accuracy", (MEL, GRPO)), ("loss", (MEL,)), columns=["final"])
    assert table.header == ("series", "runs", "accuracy: final", "loss: final")
    assert words(table)[0] == ["GRPO", "1", "0.82 at 120", "no data"]
    assert table.rows[0][3].sort is None
    assert table.title == "Results"


def test_a_series_that_only_the_second_metric_has_is_shown() -> None:
    """No series is lost because the first metric does not know it; it stands last."""
    table = made(("accuracy", (MEL,)), ("loss", (MEL, ending("base", 2.0, 1.5, 1.7))), columns=["final"])
    assert words(table)[1] == ["base", "1", "no data", "2.00 at 120"]


def test_numbers_sort_by_value() -> None:
    """A reader who sorts a column sorts numbers, not words."""
    row = made(("accuracy", (MEL,))).rows[0]
    assert [cell.sort for cell in row] == [None, 1.0, 0.80, 0.84, 0.61]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((1.234e-7, 5.0e-8), ["1.234e−7", "5e−8"]),
        ((0.0, 3.21e-6), ["0", "3.21e−6"]),
        ((1.5e24, 2e24), ["1.5e24", "2e24"]),
        ((0.5, 12.25), ["0.5", "12.3"]),
        ((1000.0, 2.0), ["1,000", "2"]),
        ((-0.125, 0.0), ["−0.125", "0.000"]),
    ],
)
def test_a_column_has_digits_that_tell_its_values(values: tuple[float, float], texts: list[str]) -> None:
    """Values of a column share their decimals; none is rounded to a 0 that it is not."""
    rows = [ending(f"{n}", value, value, value) for n, value in enumerate(values)]
    assert [row[2] for row in words(made(("m", tuple(rows)), order="given", columns=["mean"]))] == texts


@pytest.mark.parametrize(
    ("step", "around", "text"),
    [
        (1_200_000.0, {}, "1,200,000"),
        (1e-5, {}, "1e-5"),
        (0.25, {}, "0.25"),
        (1.7e12, {"step_is_time": True}, "2023-11-14 22:13"),
        (19_675 * 86_400e3, {"step_is_time": True}, "2023-11-14"),
    ],
)
def test_steps_are_said_as_the_axis_says_them(step: float, around: dict[str, Any], text: str) -> None:
    """Whole steps to the last digit, small ones not as 0, times as dates."""
    table = made(("accuracy", (ending("a", 0.5, 0.5, 0.5, step=step),)), around=around, columns=["final"])
    assert words(table)[0][2] == f"0.5 at {text}"


def test_the_caption_says_what_stands_behind_the_sign() -> None:
    """Half of which interval, what a best value is, which direction is better, and where numbers are from."""
    table = made(
        ("loss", (ending("a", 0.5, 0.4, 0.6, half=0.1, runs=3),)),
        better=False,
        level=0.9,
        caption="Three seeds.",
        around={"approximate": "digitised", "notes": ("One file was empty.",)},
    )
    assert table.caption == (
        "Three seeds. Lower is better. One file was empty. Source: a source (digitised).\n"
        "Best: the best value of the mean curve, picked by looking; it has no interval. "
        "± is half the 90% CI across runs (Student t), at each step by itself."
    )


def test_the_caption_without_an_interval() -> None:
    """One run has none, and a table without best values does not explain them."""
    table = made(("accuracy", (MEL,)), columns=["final"])
    assert table.caption == "One run per series: no interval. Source: a source."


def test_the_csv_has_every_number_in_full() -> None:
    """With columns for ends, runs and steps where there are any; formulas guarded, missing values empty."""
    few = replace(ending("c", 1 / 3, 0.4, 0.3, half=0.0125, runs=5), readings=4)
    third = replace(few, final=replace(few.final, n=2))
    table = made(("accuracy", (ending("=a,b", 143_704.0, 0.5, 0.5), third)), order="given")
    named, first, second = csv.reader(io.StringIO(table.csv))
    final = ["final", "final low", "final high", "final n", "final step"]
    best = ["best", "best step", "best checkpoints"]
    mean = [f"mean over steps{end}" for end in ("", " low", " high")]
    assert named == ["series", "runs", *final, *best, *mean]
    assert first == ["'=a,b", "1", "143704", "", "", "1", "120", "0.5", "60", "13", "0.5", "", ""]
    assert second[2:7] == ["0.3333333333", "0.3208333333", "0.3458333333", "2", "120"]
    table = made(("loss", (MEL,)), around={"step_is_time": True}, columns=["final"])
    assert table.csv.splitlines()[1] == "MEL,1,0.8,1970-01-01 00:00:00"


def test_the_caption_says_of_which_metric_lower_is_better() -> None:
    """One table may hold an accuracy, a loss and an entropy; the peak of the last is its highest value."""
    three = (("accuracy", (MEL,)), ("loss", (GRPO,)), ("entropy", (GRPO,)))
    block, here = TableSettings.model_validate({"metrics": [name for name, _ in three]}), context(curve_set())
    precisions = [precision_of(endings) for _, endings in three]
    said = build_result_table(
        "table",
        block,
        three,
        here,
        better=(True, False, None),
        leads=(UNTESTED,) * 3,
        precisions=precisions,
    ).caption
    assert "Best: the best value of the mean curve (of entropy the highest), picked by looking; it" in said
    assert "Lower is better for loss." in said
    alone = build_result_table(
        "table", block, three[2:], here, better=(None,), leads=(UNTESTED,), precisions=precisions[2:]
    ).caption
    assert "Highest: the highest value of the mean curve, picked by looking" in alone
    assert "better" not in alone


@pytest.mark.parametrize("percent", ["", "format: percent\n"])
def test_figures_tables_and_observations_have_the_same_digits(tmp_path: Path, percent: str) -> None:
    """Those of the data, whatever the height of the picture and however noisy the line is."""
    values = [0.74, 0.795, 0.81, 0.76, 0.83, 0.78, 0.82]
    rows = [
        f"{name},{step},{value - less:.3f}"
        for name, less in (("A", 0), ("B", 0.05))
        for step, value in enumerate(values)
    ]
    blocks = (
        f"curve\nid: free\nsource: runs\n{percent}",
        f"curve\nsource: runs\ny_domain: [0, 1]\n{percent}",
        f"curve\nsource: runs\ny_domain: [0.5, 0.9]\nreference: [{{y: 0.51234}}]\n{percent}",
        "observations\nof: free\n",
        f"table\nsource: runs\n{percent}",
        f"runs-table\nsource: runs\n{percent}",
    )
    page = "".join(f"```{block}```\n\n" for block in blocks)
    files = {"data/runs.csv": "\n".join(["series,step,accuracy", *rows, ""]), "content/index.md": page}
    root = write_report(tmp_path, files)
    report = draft(
        Project(root, "content", ("index.md",), ProjectSettings()), Cache(root / "c"), FileHashes(root / "c")
    )
    shown = tuple(report.shown.values())
    texts = [one.summary for one in shown if isinstance(one, Figure)]
    texts += [one.items[0].text for one in shown if isinstance(one, Observations)]
    texts += [" ".join(words(one)[0]) for one in shown if isinstance(one, ResultTable)]
    assert len(texts) == len(blocks)
    for text in texts:
        assert re.search(r"\b83\.0%" if percent else r"\b0\.830\b", text), text
