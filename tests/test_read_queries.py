"""What is asked of a table: series, filters and another x, whatever its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_sources import Data

from reportgen.read import read_measurements

if TYPE_CHECKING:
    from pathlib import Path


def test_filters(tmp_path: Path) -> None:
    """Numbers are compared by value, words by letter, truth in any spelling, lists as alternatives."""
    data = Data(tmp_path)
    data.write(
        "s/a.csv",
        "model,split,k,done,step,acc\nA,test,1.0,True,0,1\nA,train,1,true,0,2\nA,test,2,False,0,3\nA,,,,0,4\n",
    )
    settings = data.write("s/source.yml", "filter: {Split: test}")
    assert list(data.frame("s", "acc")["value"]) == [1, 3]
    assert list(data.frame("s", "acc", where={"k": 1})["value"]) == [1]
    settings.unlink()
    assert list(data.frame("s", "acc", where={"k": 1})["value"]) == [1, 2]
    assert list(data.frame("s", "acc", where={"done": True})["value"]) == [1, 2]
    assert list(data.frame("s", "acc", where={"split": ("train", "test"), "k": (2, 3)})["value"]) == [3]
    assert list(data.frame("s", "acc", where={"series": "A", "k": "1"})["value"]) == [2]
    assert list(data.frame("s", "acc", where={"split": ()})["value"]) == []


def test_unknown_names_in_a_question_are_told_together(tmp_path: Path) -> None:
    """Metric, series, column and x that are not there are each told with the nearest name."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,accuracy\nGRPO,0,1\nMEL,0,2\n")
    told = data.problems("a", "acuracy", x="stepp", series=("GRP",), where={"modell": "GRPO"})
    assert told == [
        'data/a.csv: the source "a" has no metric "acuracy". Did you mean "accuracy"? It has accuracy.',
        'data/a.csv: the source "a" has no series "GRP". Did you mean "GRPO"? It has GRPO and MEL.',
        (
            'data/a.csv: the source "a" has no column "modell". Did you mean "model"?'
            " It has model, step and accuracy."
        ),
        (
            'data/a.csv: the source "a" has no column or metric "stepp". Did you mean "step"?'
            " It has model, step and accuracy."
        ),
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_x_is_another_metric(tmp_path: Path, ending: str) -> None:
    """In wide form a metric of the same row is x; in long form the last of the same run and step."""
    data = Data(tmp_path)
    wide = "('A', 1, 0, 100, 2.0), ('A', 1, 1, 200, 1.5), ('A', 2, 0, 150, 3.0)"
    long = (
        "('A',1,0,'loss',2.0),('A',1,0,'tokens',90),('A',1,0,'tokens',100),('A',1,1,'tokens',200),"
        "('A',1,1,'loss',1.5),('A',2,0,'loss',3.0),('A',2,0,'tokens',150),('B',1,0,'loss',9.0)"
    )
    for name, rows, header in (
        ("wide", wide, "model, seed, step, tokens, loss"),
        ("long", long, "model, seed, step, metric, value"),
    ):
        path = data.parquet(f"{name}/a.parquet", f"FROM (VALUES {rows}) AS t({header})")
        if ending == "csv":
            data.write(f"{name}/a.csv", "".join(_csv(rows, header)))
            path.unlink()
        source = data.open(name)
        table = read_measurements(tmp_path, source, ("loss",), x="tokens")
        assert (table.step_name, table.step_is_time) == ("tokens", False)
        frame = data.frame(name, "loss", x="tokens")
        assert list(zip(frame["step"], frame["value"], strict=True)) == [(100, 2), (200, 1.5), (150, 3)]
        both = data.frame(name, "loss", "tokens", x="tokens")
        assert list(both.query("metric == 'tokens'")["step"])[-2:] == [200, 150]


def _csv(rows: str, header: str) -> list[str]:
    lines = rows.replace("'", "").removeprefix("(").removesuffix(")").replace("), (", "),(").split("),(")
    return [line.replace(", ", ",") + "\n" for line in (header, *lines)]


def test_missing_metric_and_order_of_series(tmp_path: Path) -> None:
    """The order of series is that of the data, or the one asked for."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\nz,0,1\na,0,2\nm,0,3\n")
    source = data.open("a")
    assert read_measurements(tmp_path, source, ("loss",)).order == ("z", "a", "m")
    assert read_measurements(tmp_path, source, ("loss",), series=("m", "z")).order == ("m", "z")
    assert read_measurements(tmp_path, source, ()).frame.collect_schema().names()[:2] == ["series", "run"]


def test_a_table_without_a_known_step_has_the_x_of_the_question(tmp_path: Path) -> None:
    """Its message says so."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,tokens,loss\nA,1000,1\n")
    assert list(data.frame("s", "loss", x="tokens")["step"]) == [1000.0]


def test_series_may_be_by_a_setting(tmp_path: Path) -> None:
    """A number that groups runs."""
    data = Data(tmp_path)
    data.write("runs.csv", "step,lr,acc_mean,acc_sem\n0,0.1,0.25,0.02\n1,0.1,0.5,0.03\n")
    assert data.frame("runs", "acc", by=("lr",))["series"].unique().tolist() == ["lr=0.1"]
