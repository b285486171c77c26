"""What is asked of a table: series, filters and another x, whatever its format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from made_sources import Data

from reportgen.core.errors import ReportError
from reportgen.read import read_measurements, read_outcomes
from reportgen.statistics.curves.reduce import reduce
from reportgen.statistics.problem_scores import group_problem_scores

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


# ---- rows of one step, as they are drawn --------------------------------------------------------------


def list_curves(data: Data, name: str, metric: str, **question: Any) -> dict[tuple[str, str], list[float]]:  # noqa: ANN401 - passed on
    """The values of each run, as they are drawn."""
    found = reduce(read_measurements(data.root, data.open(name), (metric,), **question))[metric]
    return {(one.series, one.run): one.values.tolist() for one in found.runs}


def write_steps(data: Data, name: str, steps: list[int]) -> None:
    """A table with these steps, and values in the order of writing."""
    data.write(name, "step,loss\n" + "".join(f"{step},{place}\n" for place, step in enumerate(steps)))


@pytest.mark.parametrize(
    ("steps", "resumed"),
    [
        ([*range(50), *range(40, 100)], True),
        ([*range(50), *range(40, 60), *range(55, 100)], True),
        ([*range(50), 49, *range(50, 100)], False),
        ([*range(50), *range(10, 100)], False),
        ([step for step in range(20) for _ in range(3)], False),
        ([step for step in range(40) for _ in range(1 + (step in {7, 21}))], False),
        ([step for step in range(40) for _ in range(1 + (step % 5 == 0))], False),
        ([*range(20)] * 3, False),
    ],
)
def test_of_a_resumed_run_the_later_rows_count(tmp_path: Path, steps: list[int], *, resumed: bool) -> None:
    """Anything else is an error that counts the repeated values."""
    data = Data(tmp_path)
    write_steps(data, "a.csv", steps)
    if resumed:
        last = {step: float(place) for place, step in enumerate(steps)}
        assert list_curves(data, "a", "loss") == {("a", ""): [last[step] for step in sorted(last)]}
    else:
        with pytest.raises(ReportError) as caught:
            list_curves(data, "a", "loss")
        assert f"; {len(steps) - len(set(steps))} of {len(steps)} values repeat a step" in str(caught.value)


def test_settings_of_repeats_are_drawn(tmp_path: Path) -> None:
    """The last one counts, or their mean; an equal row counts once, and another metric replaces nothing."""
    data = Data(tmp_path)
    write_steps(data, "a.csv", [0, 1, 0, 1])
    data.write("a.source.yml", "repeat: last")
    assert list_curves(data, "a", "loss") == {("a", ""): [2, 3]}
    data.write("b.csv", "step,loss\n0,1\n1,2\n0,1\n1,2\n")
    assert list_curves(data, "b", "loss") == {("b", ""): [1, 2]}
    data.write("c.csv", "step,train,val\n0,1,\n0,,0.5\n1,2,\n1,,0.25\n")
    assert list_curves(data, "c", "train") == {("c", ""): [1, 2]}
    data.write("d.csv", "step,hours,loss\n0,1,2\n0,3,4\n1,5,NaN\n1,7,6\n2,9,NaN\n")
    data.write("d.source.yml", "repeat: mean")
    assert list_curves(data, "d", "loss") == {("d", ""): [3, 6]}
    (one,) = reduce(read_measurements(tmp_path, data.open("d"), ("loss",), x="hours"))["loss"].runs
    assert (one.steps.tolist(), one.values.tolist()) == ([2, 6], [3, 6])


def test_another_x_may_repeat(tmp_path: Path) -> None:
    """Steps of one epoch are no rows of one step."""
    data = Data(tmp_path)
    rows = "".join(f"{step},{step // 10},{step}\n" for step in range(40))
    data.write("a.csv", f"step,epoch,loss\n{rows}")
    assert list_curves(data, "a", "loss", x="epoch") == {("a", ""): [9, 19, 29, 39]}


def test_a_question_may_decide_about_runs_that_differ(tmp_path: Path) -> None:
    """What a block says, of curves and of answers."""
    data = Data(tmp_path)
    data.write("a.csv", "model,run_id,optimizer,step,loss\nm,r0,adam,0,1\nm,r1,adam,0,2\nm,r2,sgd,0,3\n")
    assert {series for series, _ in list_curves(data, "a", "loss", by=("optimizer",))} == {"adam", "sgd"}
    assert len(list_curves(data, "a", "loss", where={"optimizer": "adam"})) == 2
    data.write("b.csv", "model,seed,prompt,problem,correct\nm,0,cot,q0,0\nm,1,direct,q0,1\n")
    with pytest.raises(ReportError, match='differ in "prompt"'):
        group_problem_scores(read_outcomes(tmp_path, data.open("b")))
    found = group_problem_scores(read_outcomes(tmp_path, data.open("b"), by=("prompt",)))
    assert list(found.series) == ["cot", "direct"]
    data.write("d.csv", "model,env,step,reward\nA,x,0,1\nA,x,1,2\nA,y,0,3\nA,y,1,4\n")
    assert len(list_curves(data, "d", "reward", where={"env": "x"})) == 1


def test_a_few_answers_that_were_repeated_are_replaced(tmp_path: Path) -> None:
    """As after a crash: the last one counts, and the page says how many were replaced."""
    data = Data(tmp_path)
    rows = "".join(f"p{place},{place % 2}\n" for place in range(8))
    data.write("a.csv", f"problem,correct\n{rows}p1,1\np2,1\n")
    assert group_problem_scores(read_outcomes(tmp_path, data.open("a"))).notes.replaced == 2


def test_tables_that_are_reduced_in_the_database_are_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As smaller ones, and Parquet with rows instead of lines."""
    monkeypatch.setattr("reportgen.statistics.curves.reduce.FULL_ROWS", 10)
    data = Data(tmp_path)
    write_steps(data, "a.csv", [*range(20), *range(20)])
    data.parquet("p.parquet", "SELECT i // 2 AS step, i AS loss FROM range(10) AS t(i)")
    for name, said in (
        ("a", "a second row for step 0 of series a"),
        ("p", "loss is 0 in row 1 and 1 in row 2"),
    ):
        with pytest.raises(ReportError, match=said):
            list_curves(data, name, "loss")


@pytest.mark.parametrize("size", [10_000, 4_000_000])
def test_a_large_file_is_looked_at_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """The names that stand behind the sample count like those in it; some steps are enough to find them."""
    monkeypatch.setattr(sys.modules["reportgen.read.tables.distinguish"], "SAMPLED_BYTES", size)
    data = Data(tmp_path)
    rows = "".join(f"agent {place},{step},{step * place}\n" for place in range(5) for step in range(4_000))
    data.write("a.csv", f"Agent,step,reward\n{rows}")
    found = reduce(read_measurements(tmp_path, data.open("a"), ("reward",)), max_points=None)["reward"]
    assert [(one.series, one.values.size) for one in found.runs] == [(f"agent {n}", 4_000) for n in range(5)]
    assert found.replaced == 0
    write_steps(data, "b.csv", [*range(4_000)] * 5)
    with pytest.raises(ReportError, match="; 16,000 of 20,000 values repeat a step"):
        list_curves(data, "b", "loss")
    write_steps(data, "c.csv", [*range(3_000), *range(2_000, 5_000)])
    assert reduce(read_measurements(tmp_path, data.open("c"), ("loss",)))["loss"].replaced == 1_000
