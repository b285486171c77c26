"""The ``runs`` block: every run is there, and no interval where nobody can know one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from made_figures import HOSTILE
from made_scored import score_context

from reportgen.core.comparisons import RunScore, RunSpread
from reportgen.core.model import Figure, ResultTable
from reportgen.figures.scores.runs import draw_runs
from reportgen.settings.score_blocks import RunsSettings

if TYPE_CHECKING:
    from reportgen.figures.plot import ScoreContext


def spread(series: str = "A", *scores: float, **fields: Any) -> RunSpread:  # noqa: ANN401 - fields of a RunSpread
    """Runs of a series; of several the mean has an interval of 10 points on either side."""
    mean = sum(scores) / len(scores) if scores else None
    known = len(scores) > 1 and mean is not None
    plain: dict[str, Any] = {
        "metric": "mean",
        "level": 0.95,
        "runs": tuple(RunScore(f"r{n}", str(n), score) for n, score in enumerate(scores)),
        "mean": mean,
        "sd": 0.02 if known else None,
        "low": mean - 0.1 if known and mean else None,
        "high": mean + 0.1 if known and mean else None,
        "reason": "" if known else "1 run: no spread between runs",
        "problems": 30,
        "left_out": 0,
    }
    return RunSpread(series=series, **{**plain, **fields})


def drawn(
    *spreads: RunSpread,
    context: ScoreContext | None = None,
    **settings: Any,  # noqa: ANN401 - of a block
) -> tuple[Figure, ResultTable]:
    """The picture and the table of a block with these settings."""
    names = [one.series for one in spreads]
    made = RunsSettings.model_validate(settings)
    stack = draw_runs("one", made, spreads, context or score_context(*names))
    figure, table = stack.parts
    assert isinstance(figure, Figure)
    assert isinstance(table, ResultTable)
    assert (stack.id, figure.id, table.id) == ("one", "one", "one-table")
    assert stack.title == figure.title == table.title
    return figure, table


def tips(figure: Figure) -> list[list[str]]:
    """The words of every mark, line by line."""
    return [tip.split("&#10;") for tip in re.findall(r'data-rg-tip="([^"]*)"', str(figure.inline_svg))]


def test_every_run_is_a_dot_with_its_name() -> None:
    """After the mean of its series."""
    assert tips(drawn(spread("A", 0.5, 0.54, 0.52))[0]) == [
        ["A", "mean of 3 runs: 52.0%", "95% CI [42.0, 62.0]", "SD 2.0 points", "30 problems"],
        ["A", "run r0, seed 0: 50.0%"],
        ["A", "run r1, seed 1: 54.0%"],
        ["A", "run r2, seed 2: 52.0%"],
    ]


def test_a_lone_run_has_no_interval() -> None:
    """It is its own mean, drawn once and hollow; everybody is told."""
    figure, table = drawn(spread("A", 0.5))
    assert tips(figure) == [["A", "1 run: 50.0%", "30 problems", "1 run: no spread between runs"]]
    assert 'class="rg-interval"' not in str(figure.inline_svg)
    assert [cell.text for cell in table.rows[0]][2:4] == ["50.0%", "not known"]
    assert figure.summary == "With one run of each series, nothing can be said about how much runs vary."
    assert "A: 1 run: no spread between runs." in figure.caption
    assert "no interval" in figure.subtitle


def test_the_number_of_runs_is_said() -> None:
    """One number for all, or each with its series."""
    same = drawn(spread("A", 0.5, 0.6, 0.7), spread("B", 0.5, 0.6, 0.7))[0]
    assert "n = 3 runs of each series." in same.caption
    assert "3 runs of a series" in same.subtitle
    mixed = drawn(spread("A", 0.5, 0.6, 0.7), spread("B", 0.5))[0]
    assert "n: 3 runs of A; 1 run of B." in mixed.caption
    assert "1 to 3 runs of each series" in mixed.subtitle


def test_the_summary_names_the_series_that_moves_most() -> None:
    """With the ends of its runs."""
    figure, _ = drawn(spread("A", 0.5, 0.52, sd=0.014), spread("B", 0.4, 0.6, sd=0.141), spread("C", 0.5))
    assert figure.summary == (
        "The 2 runs of B range from 40.0% to 60.0% (SD 14.1 points), the widest spread of 2 series "
        "with several runs."
    )
    alone, _ = drawn(spread("A", 0.5, 0.52))
    assert alone.summary.endswith("(SD 2.0 points) about their mean of 51.0% [41.0, 61.0].")


def test_the_caption_says_what_the_interval_is_about() -> None:
    """Runs on these problems, not problems; and what was left out."""
    protocol = (("A", (("samples", "16"),)),)
    context = score_context("A", approximate="synthetic", protocol=protocol, higher_is_better=False)
    said = drawn(spread("A", 0.5, 0.6, left_out=2), context=context, caption="Mine.")[0].caption
    for part in (
        "Mine. n = 2 runs of each series.",
        "95% CI (Student's t over runs), for the mean of other runs like these on these problems",
        "A: 2 problems that only some of its runs answered left out.",
        "Lower is better.",
        "Protocol: samples 16.",
        "Source: a source (synthetic).",
    ):
        assert part in said


def test_the_table_has_a_row_a_series() -> None:
    """Runs, mean, spread, ends and problems; what cannot be known is said."""
    _, table = drawn(
        spread("A", 0.5, 0.54), spread("B", problems=0, reason="no problem that every run answered")
    )
    assert [cell.text for cell in table.rows[0]] == [
        *("A", "2", "52.0% [42.0, 62.0]", "2.0 points", "50.0%", "54.0%", "30"),
    ]
    assert [cell.mark for cell in table.rows[1]] == ["", "", "missing", "missing", "missing", "missing", ""]
    assert all(len(row) == len(table.header) for row in table.rows)
    assert table.csv.splitlines()[1] == "A,mean,0.95,2,0.52,0.02,0.42,0.62,30,0,"


def test_the_csv_of_the_picture_has_every_run() -> None:
    """In the unit of the input."""
    figure, _ = drawn(spread("A", 0.5, 0.54), spread("B", 0.4))
    assert str(figure.csv).splitlines()[1:] == [
        "A,r0,0,mean,0.5,30",
        "A,r1,1,mean,0.54,30",
        "B,r0,0,mean,0.4,30",
    ]
    assert [row[:3] for row in figure.table.rows] == [("A", "r0", "0"), ("A", "r1", "1"), ("B", "r0", "0")]


def test_a_seed_that_is_the_name_of_the_run_is_said_once() -> None:
    """Nobody needs to read it twice."""
    figure, _ = drawn(spread("A", 0.5, 0.6, runs=(RunScore("7", "7", 0.5), RunScore("8", None, 0.6))))
    assert [tip[1] for tip in tips(figure)[1:]] == ["run 7: 50.0%", "run 8: 60.0%"]


def test_nothing_is_nothing() -> None:
    """No series, or none with a score: words, no NaN, and JSON that may be kept."""
    assert drawn()[0].summary == "No series has a run."
    figure, _ = drawn(spread("A"))
    json.dumps(figure.numbers, allow_nan=False)
    assert "nan" not in (str(figure.inline_svg) + str(figure.spec)).casefold()


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_may_be_a_run(name: str) -> None:
    """Nothing breaks, and the CSV runs no formula."""
    runs = (RunScore(name, name, 0.5), RunScore("b", None, 0.6))
    figure, table = drawn(spread(name, 0.5, 0.6, runs=runs), title=name.strip())
    assert table.rows[0][0].text == name
    assert "<script" not in str(figure.inline_svg)
    assert not any(line.startswith("=") for line in str(figure.csv).splitlines())


def test_the_same_runs_give_the_same_bytes() -> None:
    """Nothing depends on the run of the program."""
    assert drawn(spread("A", 0.5, 0.6)) == drawn(spread("A", 0.5, 0.6))
