"""Curve tables with statistics that were computed before: one metric with its interval."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from made_sources import Data

from reportgen.read import TotalsTable

if TYPE_CHECKING:
    from pathlib import Path

HALF_WIDTH = 1.959964  # of a 95% interval, in standard errors


@pytest.fixture
def data(tmp_path: Path) -> Data:
    """An empty data folder."""
    return Data(tmp_path)


def test_mean_std_and_count_are_one_metric_named_after_the_file(data: Data) -> None:
    """The standard error is std / sqrt(count)."""
    data.write("accuracy.csv", "model,step,mean,std,count\nA,0,0.1,0.06,9\nA,10,0.2,0.04,4\nB,0,0.3,0.5,1\n")
    frame = data.frame("accuracy")
    assert list(data.open("accuracy").metrics) == ["accuracy"]
    assert frame["value"].tolist() == [0.1, 0.2, 0.3]
    assert frame["stderr"].tolist() == pytest.approx([0.06 / 3, 0.04 / 2, 0.5])
    assert frame["n"].tolist() == [9, 4, 1]
    assert data.warnings("accuracy") == []


@pytest.mark.parametrize(
    ("header", "stderr"),
    [
        ("step,loss_mean,loss_sem", 0.5),
        ("step,loss (mean),loss (se)", 0.5),
        ("step,loss.avg,loss.ci95", 0.5 / HALF_WIDTH),
        ("step,loss,sem", 0.5),
    ],
)
def test_names_say_what_a_spread_is(data: Data, header: str, stderr: float) -> None:
    """Endings of names are statistics."""
    data.write("runs.csv", f"{header}\n0,2.5,0.5\n")
    frame = data.frame("runs", "loss")
    assert frame["value"].tolist() == [2.5]
    assert frame["stderr"].tolist() == pytest.approx([stderr])


def test_several_metrics_have_their_own_intervals_and_settings_stay(data: Data) -> None:
    """A setting is a column that groups runs, and a metric."""
    data.write(
        "runs.csv",
        "step,lr,loss_mean,loss_std,loss_count,acc_mean,acc_sem\n0,0.1,1,0.06,9,0.25,0.02\n1,0.1,,,,0.5,0.03\n",
    )
    assert {*data.open("runs").metrics} == {"loss", "acc", "lr"}
    assert data.frame("runs", "loss")["stderr"].tolist() == pytest.approx([0.02])
    assert data.frame("runs", "acc", by=("lr",))["series"].unique().tolist() == ["lr=0.1"]
    assert data.frame("runs", "acc")["stderr"].tolist() == pytest.approx([0.02, 0.03])


def test_a_column_of_metrics_names_the_mean(data: Data) -> None:
    """A metric column names the mean, or the value of a long table."""
    rows = "A,0,loss,0.5,0.06,9\nA,0,acc,0.1,0.04,4\n"
    for name, value in (("mean", "mean"), ("plain", "value")):
        data.write(f"{name}.csv", f"model,step,metric,{value},std,count\n{rows}")
        assert data.frame(name, "acc")["stderr"].tolist() == pytest.approx([0.02])
        assert data.frame(name, "loss")["value"].tolist() == [0.5]


def test_a_missing_number_of_runs_and_what_is_left_out_are_warnings(data: Data) -> None:
    """Warnings say both."""
    data.write("alone.csv", "step,mean,std\n0,1,0.5\n")
    (warning,) = data.warnings("alone")
    assert "gives no interval without the number of runs" in warning
    assert data.frame("alone")["value"].tolist() == [1.0]
    data.write("agg.csv", "step,count,mean,std,min,50%,max\n0,4,1,0.5,0.1,1,2\n")
    (warning,) = data.warnings("agg")
    assert "min, 50% and max are left out" in warning
    assert data.frame("agg")["stderr"].tolist() == pytest.approx([0.25])


def test_a_spread_of_another_column_is_asked_for(data: Data) -> None:
    """What is not certain is a question."""
    data.write("open.csv", "model,step,accuracy,std\nA,0,0.1,0.05\n")
    (warning,) = data.warnings("open")
    assert '"std" is read as a metric' in warning
    assert "accuracy_std" in warning
    data.write("open.source.yml", "wide: metrics\n")
    assert data.warnings("open") == []
    data.write("marked.csv", "step,mean,±\n0,1,0.5\n")
    (problem,) = data.problems("marked")
    assert "Say interval: in data/marked.source.yml" in problem
    data.write("marked.source.yml", "interval: se\n")
    assert data.frame("marked")["stderr"].tolist() == [0.5]


@pytest.mark.parametrize("settings", ["wide: metrics\n", "metrics: [mean, std, count]\n"])
def test_settings_make_each_column_a_metric(data: Data, settings: str) -> None:
    """A user can say that they are metrics."""
    data.write("accuracy.csv", "model,step,mean,std,count\nA,0,0.1,0.06,9\n")
    data.write("accuracy.source.yml", settings)
    assert list(data.open("accuracy").metrics) == ["mean", "std", "count"]


def test_statistics_of_a_batch_stay_metrics(data: Data) -> None:
    """Trainers log these."""
    data.write("log.csv", "step,score/mean,score/std,score/max\n0,1,0.5,2\n1,1,0.5,2\n")
    assert list(data.open("log").metrics) == ["score/mean", "score/std", "score/max"]


def test_totals_with_a_mean_and_its_spread_are_one_benchmark(data: Data) -> None:
    """Flat names of two levels of pandas."""
    data.write("totals.csv", "model,AIME_mean,AIME_std,AIME_count\nA,0.25,0.06,9\nB,0.5,0.04,4\n")
    source = data.open("totals")
    assert source.benchmarks == ("AIME",)

    scores = TotalsTable(data.root, source).get_scores("AIME")
    assert [one.value for one in scores] == [0.25, 0.5]
    assert [one.stderr for one in scores] == pytest.approx([0.06 / math.sqrt(9), 0.04 / math.sqrt(4)])


SUMMARY = pd.DataFrame({"step": [0, 1, 2], "loss": [0.5, 0.25, 0.125], "value": [1, 2, 3]}).describe()


@pytest.mark.parametrize("frame", [SUMMARY, SUMMARY.T, SUMMARY[["loss"]]])
def test_a_summary_of_pandas_is_refused(data: Data, frame: pd.DataFrame) -> None:
    """It has no data, whichever way it lies."""
    data.write("summary.csv", frame.to_csv())
    (problem,) = data.problems("summary")
    assert "this is a summary, as df.describe() of pandas writes it: count, mean, std, min" in problem
    assert "Export the data themselves, as in df.to_csv()" in problem


@pytest.mark.parametrize("frame", [SUMMARY, SUMMARY.T, SUMMARY[["loss"]].reset_index()])
def test_a_summary_of_pandas_in_parquet_is_refused(data: Data, frame: pd.DataFrame) -> None:
    """Its index is a column behind the others, or has become one in front of them."""
    frame.to_parquet(data.write("summary.parquet", ""))
    (problem,) = data.problems("summary")
    assert "this is a summary, as df.describe() of pandas writes it: count, mean, std, min" in problem


def test_a_standard_deviation_without_a_count_is_a_metric(data: Data) -> None:
    """Trainers log both of a batch; with the number of runs it is an interval."""
    data.write("batches.csv", "step,reward,reward_std\n1,0.5,0.2\n2,0.75,0.1\n")
    assert {*data.open("batches").metrics} == {"reward", "reward_std"}
    data.write("runs.csv", "step,reward,reward_std,n\n1,0.5,0.2,3\n2,0.75,0.1,3\n")
    assert {*data.open("runs").metrics} == {"reward"}


def test_a_summary_of_groups_is_a_score_with_its_error(data: Data) -> None:
    """The median and the ends are left out."""
    frame = pd.DataFrame({"model": ["A", "A", "A", "A"], "acc": [0.1, 0.2, 0.3, 0.4]})
    data.write("acc.csv", frame.groupby("model")["acc"].describe().to_csv())
    (one,) = TotalsTable(data.root, data.open("acc")).get_scores("acc")
    assert one.value == pytest.approx(0.25)
    assert one.stderr == pytest.approx(frame["acc"].std() / 2)


RECORDS = [
    {"model": "A", "step": 0, "acc": "0.83", "share": "51.2%", "tokens": "1,234", "score": "75.5 ± 0.4"},
    {"model": "A", "step": 1, "acc": "NaN", "share": "-", "tokens": "null", "score": "**76.5** ± 0.5"},
]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
def test_texts_are_numbers_in_every_format(data: Data, ending: str) -> None:
    """The same texts give the same values, and the same missing ones."""
    frame = pd.DataFrame(RECORDS)
    if ending == "parquet":
        data.write("s/t.parquet", b"")
        frame.to_parquet(data.root / "data" / "s" / "t.parquet")
    else:
        rows = [json.dumps(row) for row in RECORDS]
        texts = {"csv": frame.to_csv(index=False), "jsonl": "\n".join(rows), "json": f"[{', '.join(rows)}]"}
        data.write(f"s/t.{ending}", f"{texts[ending]}\n")
    data.write("s/source.yml", "interval: se\n")
    assert data.warnings("s") == []
    values = {name: data.frame("s", name)["value"].tolist() for name in ("share", "tokens", "score")}
    assert values == {"share": [0.512], "tokens": [1234.0], "score": [75.5, 76.5]}
    assert data.frame("s", "score")["stderr"].tolist() == [0.4, 0.5]
    first, second = data.frame("s", "acc")["value"]
    assert first == 0.83
    assert math.isnan(second)


def test_a_broken_line_between_printed_numbers_is_an_error(data: Data) -> None:
    """No row gets lost in the copy."""
    data.write("s.jsonl", '{"step": 0, "n": "1,000"}\nno\n{"step": 1, "n": "1,000"}\n')
    (problem,) = data.problems("s")
    assert "s.jsonl:2" in problem


@pytest.mark.parametrize(
    ("header", "metric"),
    [
        ("accuracy,std,count", "accuracy"),
        ("score,std,n", "score"),
        ("mean,std,count", "mean"),
        ("accuracy_mean,accuracy_std,accuracy_count", "accuracy"),
    ],
)
def test_totals_of_series_and_benchmarks_have_the_name_of_their_column(
    data: Data, header: str, metric: str
) -> None:
    """The file's name is none of a metric here."""
    data.write("results.csv", f"model,benchmark,{header}\nA,AIME,0.25,0.06,9\nB,AIME,0.5,0.04,4\n")
    scores = TotalsTable(data.root, data.open("results")).get_scores("AIME")
    assert [(one.metric, one.value) for one in scores] == [(metric, 0.25), (metric, 0.5)]
    assert [one.stderr for one in scores] == pytest.approx([0.02, 0.02])
