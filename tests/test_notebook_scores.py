"""Scores and comparisons in a notebook: the numbers and words of the statistics, as frames."""

from __future__ import annotations

import doctest
import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from made_outcomes import outcomes

import reportgen as rg
from reportgen.core.comparisons import Comparison, Score
from reportgen.core.errors import ReportError
from reportgen.notebook.score_frames import MACRO
from reportgen.read import read_outcomes as outcomes_of
from reportgen.statistics.compare import compare_all, compare_benchmarks
from reportgen.statistics.problem_scores import group_problem_scores
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import rank_groups

if TYPE_CHECKING:
    from reportgen.core.comparisons import Outcomes

_ROOT = Path(__file__).parents[1]
_TEXT = {"best": "11111111", "good": "11111110", "poor": "00000001"}


def _made() -> Outcomes:
    """Three series, eight problems of two samples; ``poor`` has one more problem."""
    rows = [
        {"series": name, "problem": f"p{place}", "sample": sample, "score": float(right), "answer": right}
        for name, row in _TEXT.items()
        for place, right in enumerate(row)
        for sample in "12"
    ]
    extra = {"series": "poor", "problem": "extra", "sample": "1", "score": 0.0, "answer": "0"}
    return outcomes([*rows, extra])


def test_one_more_series_does_not_change_the_numbers_of_a_pair() -> None:
    """Five models, ``a`` better by 20 of 100 problems; a sixth answered 12, and three others 7 of them.

    Averaged standard errors made p of these pairs 0.3 and more. Interval and p stay; so does the verdict.
    """
    rows = [
        {"series": name, "problem": f"p{place}", "score": float((place * step + 13 * shift) % 100 < right)}
        for shift, (name, step, right) in enumerate(
            [("a", 1, 70), ("b", 3, 50), ("c", 7, 50), ("d", 9, 50), ("e", 11, 50)]
        )
        for place in range(100)
    ]
    few = [
        {"series": name, "problem": f"p{8 * place}", "score": float(place % 3 == 0)}
        for name, count in (("few", 12), ("x", 7), ("y", 7), ("z", 7))
        for place in range(count)
    ]
    same = ["difference", "low", "high", "p", "verdict"]
    alone = rg.compare(outcomes(rows)).set_index(["a", "b"])
    among = rg.compare(outcomes([*rows, *few])).set_index(["a", "b"])
    assert alone.loc["a"]["verdict"].tolist() == ["better"] * 4
    assert among.loc[alone.index, same].equals(alone[same])
    assert (among.loc[alone.index, "adjusted_p"] < 0.05).sum() == 4


def test_scores_are_those_of_the_statistics_with_their_groups_best_first() -> None:
    """Every number and word of each score, in the order of a page."""
    made = group_problem_scores(_made())
    frame = rg.scores(_made())
    ranks = {
        name: group.rank
        for group in rank_groups(score_series(made), compare_all(made))
        for name in group.series
    }
    assert frame["series"].tolist() == ["best", "good", "poor"]
    assert ranks == {"best": 1, "good": 1, "poor": 1}
    for score, row in zip(score_series(made), frame.to_dict("records"), strict=True):
        for name in ("series", "metric", "estimate", "low", "high", "level", "estimand", "method", "reason"):
            assert row[name] == getattr(score, name), name
        assert (row["fewest_samples"], row["most_samples"]) == score.samples
        assert (row["problems"], row["runs"], row["group"]) == (score.problems, 1, ranks[score.series])
        assert math.isnan(row["tokens"])
        assert math.isnan(row["between_runs"])
    assert frame.loc[0, "reason"] == score_series(made)[0].reason != ""
    assert {str(kind) for kind in frame[["group", "problems", "runs"]].dtypes} == {"Int64"}


def test_nothing_that_a_page_knows_is_left_out() -> None:
    """Each field of a score and of a comparison is a column; the samples of a problem are two."""
    known = set(Score.__struct_fields__) - {"samples"} | {"fewest_samples", "most_samples"}
    assert set(rg.scores(_made()).columns) == known | {"benchmark", "group"}
    compared = set(Comparison.__struct_fields__) - {"runs"} | {"runs_a", "runs_b", "benchmark"}
    assert set(rg.compare(_made()).columns) == compared


def test_where_lower_is_better_the_order_and_the_groups_turn() -> None:
    """And no interval moves."""
    frame, turned = rg.scores(_made()), rg.scores(_made(), higher_is_better=False)
    assert turned["series"].tolist() == ["poor", "good", "best"]
    assert turned["group"].tolist() == [1, 1, 1]
    columns = ["series", "estimate", "low", "high"]
    pd.testing.assert_frame_equal(frame[columns], turned[columns][::-1].reset_index(drop=True))


@pytest.mark.parametrize("metric", ["pass@k", "pass^k", "maj@k", "avg@n"])
def test_metrics_are_named_as_in_a_block(metric: str) -> None:
    """``pass@1`` is pass@k with 1; a majority needs the answers, which are asked for."""
    frame = rg.scores(_made(), f"{metric[:-1]}1", level=0.8)
    wanted = score_series(group_problem_scores(_made(), answers=True), metric, 1, level=0.8)
    assert set(frame["metric"]) == {f"{metric[:-1]}1"}
    assert frame["low"].tolist() == sorted((score.low or 0 for score in wanted), reverse=True)


def test_too_few_samples_are_told_with_the_problem() -> None:
    """As on a page, at the place that the outcomes have."""
    with pytest.raises(ReportError, match=r"notebook: pass@k with k = 2 .* poor has 1 of problem extra"):
        rg.scores(_made(), "pass@2")


def test_the_interval_can_be_about_these_problems() -> None:
    """Samples that never differ say nothing about noise: NA, and the reason."""
    frame = rg.scores(_made(), estimand="these problems")
    assert frame["low"].isna().all()
    assert frame["reason"].str.len().gt(0).all()
    assert set(frame["estimand"]) == {"these problems"}


def test_comparisons_are_those_of_the_statistics() -> None:
    """Every number and word of each pair, with the problems that only one side answered."""
    together = compare_all(group_problem_scores(_made()))
    frame = rg.compare(_made())
    assert len(frame) == 3
    for one, row in zip(together, frame.to_dict("records"), strict=True):
        assert (row["runs_a"], row["runs_b"]) == one.runs
        for name in set(row) - {"benchmark", "runs_a", "runs_b"}:
            assert row[name] == getattr(one, str(name)), name
        assert type(row["verdict"]) is str
    assert frame["only_b"].tolist() == [(), ("extra",), ("extra",)]
    assert frame["verdict"].tolist() == ["unclear", "better", "unclear"]


def test_a_side_can_be_named() -> None:
    """One pair, one against all, all against one: only what is shown is adjusted together."""
    assert rg.compare(_made(), "good", "best")[["a", "b"]].to_numpy().tolist() == [["good", "best"]]
    assert rg.compare(_made(), "good")[["a", "b"]].to_numpy().tolist() == [["good", "best"], ["good", "poor"]]
    baseline = rg.compare(_made(), b="best")
    assert baseline[["a", "b"]].to_numpy().tolist() == [["good", "best"], ["poor", "best"]]
    assert baseline["tested_together"].tolist() == [2, 2]
    assert rg.compare(_made(), "best", "poor")["p"].equals(rg.compare(_made(), "best", "poor")["adjusted_p"])


def test_missing_numbers_are_na_with_a_reason() -> None:
    """Two problems: no p and no verdict but "too few"."""
    made = outcomes(
        [{"series": name, "problem": place, "score": 1.0} for name in ("A", "B") for place in "pq"]
    )
    (row,) = rg.compare(made).to_dict("records")
    assert math.isnan(row["p"])
    assert (row["verdict"], row["reason"]) == ("too few", "2 shared problems: fewer than 6 cannot decide")


def test_mistakes_are_told_with_the_next_step() -> None:
    """No such metric, no such series, and outcomes that cannot be narrowed any more."""
    for metric in ("accuracy", "pass@k", "pass@0", "mean@4"):
        with pytest.raises(ReportError, match=r'^notebook: "\S+" is not a metric of scores\. Write mean, or'):
            rg.scores(_made(), metric)
    with pytest.raises(ReportError, match=r"notebook: there is no series Z\. There are best, good, poor"):
        rg.compare(_made(), "Z")
    frame = pd.DataFrame({"model": ["A", "B"], "step": [1, 2], "loss": [0.5, 0.25]})
    for function in (rg.scores, rg.compare):
        with pytest.raises(ReportError, match=r'^notebook: the frame has no scores: .* and "score"\. For a'):
            function(frame)
    one = pd.DataFrame({"model": ["A", "B"], "Puzzles": [51.2, 48.0]})
    with pytest.raises(ReportError, match=r'also for one alone, give rg\.read\(frame, form="wide"\) instead'):
        rg.scores(one)
    assert rg.scores(rg.read(one, form="wide"))["estimate"].tolist() == [51.2, 48.0]
    with pytest.raises(ValueError, match="narrowed where they are read"):
        rg.scores(_made(), series=("best",))


@pytest.mark.parametrize("module", ["", ".score_frames"])
def test_the_examples_of_the_docstrings_run(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each as it stands, in a checkout, and with the results it shows."""
    monkeypatch.chdir(_ROOT)
    found = doctest.testmod(importlib.import_module(f"reportgen.notebook{module}"))
    assert found.attempted >= 3
    assert found.failed == 0


def _example() -> rg.Table:
    return rg.read(_ROOT / "data/model-comparison")


def test_several_benchmarks_are_those_of_the_page_with_their_average() -> None:
    """Scores of each and of the average; against a baseline every number of the table across benchmarks."""
    table = _example()
    parts = {
        name: group_problem_scores(outcomes_of(table.root, table.source, benchmark=name))
        for name in table.source.benchmarks
    }
    page = compare_benchmarks(parts, "pass@k", 4, baseline="Birch")
    rows = {(row["benchmark"], row["series"]): row for row in rg.scores(table, "pass@4").to_dict("records")}
    pairs = {
        (row["benchmark"], row["a"]): row
        for row in rg.compare(table, b="Birch", metric="pass@4").to_dict("records")
    }
    assert len(rows) == 4 * 3
    assert len(pairs) == 3 * 3
    for series, cells, macro in zip(page.series, page.cells, page.macro, strict=True):
        for name, cell in zip((*page.benchmarks, MACRO), (*cells, macro), strict=True):
            for word in ("estimate", "low", "high", "estimand", "method", "reason"):
                assert rows[name, series][word] == getattr(cell.score, word)
            if cell.against is not None:
                for word in ("difference", "low", "high", "p", "adjusted_p", "verdict", "reason"):
                    assert pairs[name, series][word] == getattr(cell.against, word)
    assert rg.scores(table)["group"].isna().tolist() == [False] * 8 + [True] * 4


def test_the_average_of_these_problems_says_so() -> None:
    """Its interval is made of theirs: noise of samples, not of problems, so it is narrower."""
    wide, narrow = (
        rg.scores(_example(), estimand="problems like these"),
        rg.scores(_example(), estimand="these problems"),
    )
    average = narrow[narrow["benchmark"] == MACRO]
    assert set(average["estimand"]) == {"these benchmarks, these problems"}
    assert (narrow["high"] - narrow["low"] < wide["high"] - wide["low"]).all()
    assert narrow["estimate"].equals(wide["estimate"])


def test_rows_are_narrowed_as_in_a_block() -> None:
    """One benchmark, some series, some rows; a majority vote reads the answers."""
    frame = rg.scores(
        _example(), "maj@8", benchmark="Contest", series=("Birch", "Aspen"), where={"level": (4, 5)}
    )
    assert frame["benchmark"].tolist() == ["Contest"] * 2
    assert set(frame["series"]) == {"Birch", "Aspen"}
    assert frame["problems"].tolist() == [12, 12]


def test_settings_are_the_series_of_scores_and_comparisons() -> None:
    """As with by: in a block; totals have no runs to group."""
    runs = [(lr, seed) for lr in (0.1, 0.3) for seed in (1, 2)]
    rows = [(lr, seed, f"p{n}", int(n < 5 + 10 * lr)) for lr, seed in runs for n in range(9)]
    frame = pd.DataFrame(rows, columns=["lr", "seed", "problem", "score"]).assign(model="A")
    found = rg.scores(frame, by="lr").set_index("series")
    assert found["estimate"].to_dict() == pytest.approx({"lr=0.1": 6 / 9, "lr=0.3": 8 / 9})
    pairs = rg.compare(frame, by=["lr"])
    assert pairs[["a", "b"]].to_numpy().tolist() == [["lr=0.1", "lr=0.3"]]
    assert pairs["difference"].tolist() == pytest.approx([-2 / 9])
    totals = rg.read(pd.DataFrame({"model": ["A"], "AIME": [51.2]}), form="wide")
    with pytest.raises(ReportError, match="by groups runs by their settings"):
        rg.scores(totals, by="lr")


def test_what_a_table_cannot_give_is_told_at_its_source() -> None:
    """Unknown names with the nearest, too few samples, curves of outcomes and outcomes of curves."""
    for asked, told in (
        ({"benchmark": "Kontest"}, 'no benchmark "Kontest". Did you mean "Contest"?'),
        ({"series": ("Aspn",)}, 'no series "Aspn". Did you mean "Aspen"?'),
        ({"metric": "pass@17"}, "Aspen has 16 of problem contest-01"),
    ):
        with pytest.raises(ReportError) as error:
            rg.scores(_example(), **asked)
        assert told in str(error.value)
        assert str(error.value).startswith("data/model-comparison/source.yml: ")
    with pytest.raises(ReportError, match=r'"model-comparison" holds scores\. Use rg\.scores'):
        rg.curves(_example(), metric="score")
    with pytest.raises(ReportError, match='the source "math500" has no outcomes'):
        rg.scores(rg.read(_ROOT / "data/math500"))
