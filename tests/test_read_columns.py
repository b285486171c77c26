"""Columns: which part each plays, and what a question about metrics gets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from made_sources import LONG, Data

from reportgen.read import read_measurements

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["model", "Method", "SERIES", "algorithm", "variant", "name", "label"])
def test_series_columns(tmp_path: Path, name: str) -> None:
    """The usual names of what is compared are known, whatever their capitals."""
    data = Data(tmp_path)
    data.write("a.csv", f"step,{name},loss\n0,A,1\n")
    assert list(data.frame("a")["series"]) == ["A"]


def test_name_and_label_are_series_only_where_nothing_else_is(tmp_path: Path) -> None:
    """A column called name beside one called model is an ordinary column."""
    data = Data(tmp_path)
    data.write("a.csv", "name,model,step,loss\nfirst,A,0,1\n")
    assert list(data.frame("a")["series"]) == ["A"]


@pytest.mark.parametrize("name", ["step", "global_step", "iteration", "iter", "Epoch", "_step", "steps", "x"])
def test_step_columns(tmp_path: Path, name: str) -> None:
    """The usual names of x are known, and the axis keeps the name as written."""
    data = Data(tmp_path)
    data.write("a.csv", f"model,{name},loss\nA,7,1\n")
    source = data.open("a")
    table = read_measurements(tmp_path, source, ("loss",))
    assert (table.step_name, source.metrics) == (name, ("loss",))
    assert list(data.frame("a")["step"]) == [7.0]


def test_the_best_step_column_wins(tmp_path: Path) -> None:
    """Of several columns that could be x the first of the list is; the others are metrics."""
    data = Data(tmp_path)
    data.write("a.csv", "_step,epoch,global_step,loss\n1,0.5,100,2\n")
    assert data.open("a").metrics == ("_step", "epoch", "loss")
    assert list(data.frame("a", "loss")["step"]) == [100.0]


@pytest.mark.parametrize(
    ("header", "row", "run", "seed"),
    [
        ("run_id,seed", "r7,3", "r7", "3"),
        ("run,seed", ",3", "3", "3"),
        ("seed", "3", "3", "3"),
        ("Run_Name", "r7", "r7", None),
        ("other", "z", "", None),
    ],
)
def test_a_run_is_a_run_or_a_seed(tmp_path: Path, header: str, row: str, run: str, seed: str | None) -> None:
    """Runs are told apart by their name, otherwise by their seed, otherwise there is one a series."""
    data = Data(tmp_path)
    data.write("a.csv", f"{header},step,loss\n{row},0,1\n")
    frame = data.frame("a", "loss")
    assert (frame["run"][0], frame["seed"][0]) == (run, seed)


def test_files_are_series_where_no_column_is(tmp_path: Path) -> None:
    """Several files are a series and a run each; of equal names the folders tell them apart."""
    data = Data(tmp_path)
    for name in ("grpo/progress.csv", "mel/progress.csv"):
        data.write(f"runs/{name}", "step,loss\n0,1\n")
    frame = data.frame("runs")
    assert list(frame["series"]) == list(frame["run"]) == ["grpo/progress", "mel/progress"]


def test_files_are_runs_where_a_column_names_the_series(tmp_path: Path) -> None:
    """Several files of one model are its runs."""
    data = Data(tmp_path)
    for name in ("one", "two"):
        data.write(f"runs/{name}.csv", "model,step,loss\nA,0,1\n")
    frame = data.frame("runs")
    assert list(frame["series"]) == ["A", "A"]
    assert list(frame["run"]) == ["one", "two"]


def test_one_file_is_one_series_named_by_its_source(tmp_path: Path) -> None:
    """Without any column the source's title, otherwise its name, is the series."""
    data = Data(tmp_path)
    data.write("sub/runs/a.csv", "step,loss\n0,1\n")
    assert list(data.frame("sub/runs")["series"]) == ["sub/runs"]
    data.write("sub/runs/source.yml", "title: Baseline")
    assert list(data.frame("sub/runs")["series"]) == ["Baseline"]


def test_a_row_without_a_series_is_called_unnamed(tmp_path: Path) -> None:
    """An empty cell in the series column does not lose the row."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\n,0,1\nB,0,2\n")
    data.parquet("b.parquet", "FROM (VALUES (NULL, 0, 1), ('B', 0, 2)) AS t(model, step, loss)")
    for name in "ab":
        assert list(data.frame(name)["series"]) == ["(unnamed)", "B"]
        assert data.open(name).layout.series == ("(unnamed)", "B")  # type: ignore[attr-defined]


def test_mapped_columns(tmp_path: Path) -> None:
    """source.yml says what each column is, and a recognised name gives way to it."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,algo,trial,tokens,step,score\nm,GRPO,1,1000,1,0.5\n")
    data.write("s/source.yml", "columns: {series: algo, run: trial, step: tokens}")
    frame = data.frame("s", "score")
    assert tuple(frame.iloc[0]) == ("GRPO", "1", None, "score", 1000.0, 0.5)
    assert data.open("s").metrics == ("step", "score")


def test_unknown_columns_in_the_settings_are_told_together(tmp_path: Path) -> None:
    """Every column that source.yml names and the data lack is told, with the nearest one."""
    data = Data(tmp_path)
    data.write("s/a.csv", "algo,step,score\nGRPO,1,0.5\n")
    data.write("s/source.yml", "columns: {series: algos, run: trial}\nfilter: {splitt: test}")
    assert data.problems("s") == [
        (
            'data/s/source.yml: columns: series names the column "algos", which the data do not have.'
            ' Did you mean "algo"? They have algo, step and score.'
        ),
        (
            'data/s/source.yml: columns: run names the column "trial", which the data do not have.'
            " They have algo, step and score."
        ),
        (
            'data/s/source.yml: filter names the column "splitt", which the data do not have.'
            " They have algo, step and score."
        ),
    ]


def test_long_form_by_decision(tmp_path: Path) -> None:
    """form: and columns: make a long table of other names, or a wide one of a table that looks long."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,step,tag,scalar\nA,0,loss,1\nA,0,acc,0.5\n")
    settings = data.write("s/source.yml", "form: long\ncolumns: {metric: tag, value: scalar}")
    assert data.open("s").metrics == ("loss", "acc")
    settings.write_text("columns: {metric: tag, value: scalar}")
    assert list(data.frame("s", "acc")["value"]) == [0.5]
    settings.write_text("form: wide")
    assert data.open("s").metrics == ("scalar",)
    settings.write_text("form: long\ncolumns: {metric: tag}")
    assert data.problems("s") == [
        (
            'data/s/source.yml: a long table needs a column "value"; there are model, step, tag and scalar.'
            " Name it in source.yml, as in columns: {value: NAME}."
        )
    ]


def test_a_value_column_alone_is_a_metric(tmp_path: Path) -> None:
    """Without a metric column the table is wide, and its value column a metric called value."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,value\nA,0,1\n")
    assert data.open("a").metrics == ("value",)


def test_metrics_are_chosen_and_renamed(tmp_path: Path) -> None:
    """metrics: leaves out others; rename_metrics: and rename: give names for readers."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,step,loss,acc,lr\nm1,0,1,0.5,1e-4\nm2,0,2,0.25,1e-4\n")
    data.write("s/source.yml", "metrics: [acc, loss]\nrename_metrics: {acc: Accuracy}\nrename: {m1: Model 1}")
    assert data.open("s").metrics == ("loss", "Accuracy")
    frame = data.frame("s", "Accuracy")
    assert list(frame["metric"]) == ["Accuracy"] * 2
    assert list(frame["series"]) == ["Model 1", "m2"]
    assert list(data.frame("s", "loss", series=("m2", "Model 1"))["value"]) == [1.0, 2.0]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_names_of_one_metric_become_one(tmp_path: Path, ending: str) -> None:
    """A benchmark whose key changed during training is one metric after renaming both."""
    data = Data(tmp_path)
    settings = "rename_metrics: {aime: AIME, aime24: AIME}"
    data.write("long/a.csv", "step,metric,value\n0,aime,0.1\n1,aime24,0.2\n1,other,9\n")
    if ending == "csv":
        data.write("wide/a.csv", "step,aime,aime24,other\n0,0.1,,8\n1,,0.2,9\n")
    else:
        rows = "(0, 0.1, NULL, 8), (1, NULL, 0.2, 9)"
        data.parquet("wide/a.parquet", f"FROM (VALUES {rows}) AS t(step, aime, aime24, other)")
    for name in ("long", "wide"):
        data.write(f"{name}/source.yml", settings)
        assert data.open(name).metrics == ("AIME", "other")
        assert list(data.frame(name, "AIME")["value"]) == [0.1, 0.2]
        assert sorted(data.frame(name, "AIME", "other").query("step == 1")["value"]) == [0.2, 9]


def test_names_in_the_settings_that_the_data_lack(tmp_path: Path) -> None:
    """An unknown metric is an error; a renaming of something that is not there is a warning."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    settings = data.write("s/source.yml", "rename: {a: Alpha}\nrename_metrics: {los: Loss}")
    assert data.warnings("s") == [
        (
            'data/s/source.yml: rename_metrics: there is no metric "los".'
            ' Did you mean "loss"? There are loss and eval/acc.'
        ),
        'data/s/source.yml: rename: there is no series "a". Did you mean "A"? There are A and B.',
    ]
    settings.write_text("metrics: [accuracy]")
    assert data.problems("s") == [
        'data/s/source.yml: metrics: there is no metric "accuracy". There are loss and eval/acc.'
    ]


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


def test_a_missing_step_is_told_with_the_columns_there_are(tmp_path: Path) -> None:
    """A table without a known step says how to name one, and works once it is named."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,tokens,loss\nA,1000,1\n")
    assert data.problems("s", "loss") == [
        (
            'data/s: no column of the source "s" is known as the step; it has model, tokens and loss.'
            " Name it in source.yml, as in columns: {step: NAME}, or as x: of the block;"
            " a table of scores without steps is form: totals, or form: wide"
            " with a column for each benchmark or model."
        )
    ]
    assert list(data.frame("s", "loss", x="tokens")["step"]) == [1000.0]


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


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "stamps"])
def test_times_are_milliseconds(tmp_path: Path, form: str) -> None:
    """Dates and times of ISO 8601 become milliseconds since 1970; a time without a zone is UTC."""
    data = Data(tmp_path)
    stamps = ["2024-05-31", "2024-05-31 12:00", "2024-05-31T12:00:00.250Z", "2024-05-31T14:00:00+02:00"]
    if form == "csv":
        data.write("a.csv", "date,loss\n" + "".join(f"{stamp},1\n" for stamp in stamps) + "NA,1\n")
    elif form == "jsonl":
        data.write("a.jsonl", "".join(f'{{"date": "{stamp}", "loss": 1}}\n' for stamp in stamps))
    else:
        kind = "TIMESTAMPTZ" if form == "stamps" else "VARCHAR"
        cells = ", ".join(
            f"'{stamp}{'' if len(stamp) > 16 else '+00'}'" if form == "stamps" else f"'{stamp}'"
            for stamp in stamps
        )
        cells = cells.replace("31+00", "31 00:00+00")
        data.parquet("a.parquet", f"SELECT CAST(unnest([{cells}]) AS {kind}) AS date, 1 AS loss")
    table = read_measurements(tmp_path, data.open("a"), ("loss",), x="date")
    assert table.step_is_time
    steps = list(table.frame.sort("row").to_native().fetchnumpy()["step"])
    midnight = 1_717_113_600_000
    noon = midnight + 12 * 3_600_000
    assert steps[:4] == [midnight, noon, noon + 250, noon]
    frame = data.frame("a", "loss", x="date")
    assert str(frame["step"][1]) == "2024-05-31 12:00:00+00:00"


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
def test_times_of_parquet(tmp_path: Path, kind: str) -> None:
    """Every type of time that Parquet has is one."""
    data = Data(tmp_path)
    data.parquet("a.parquet", f"SELECT CAST('2024-05-31' AS {kind}) AS day, 1 AS loss")
    frame = data.frame("a", "loss", x="day")
    assert str(frame["step"][0]) == "2024-05-31 00:00:00+00:00"


@pytest.mark.parametrize(
    ("header", "row", "given", "expected"),
    [
        ("low,high", "0.25,0.75", "low and high", {"low": 0.25, "high": 0.75}),
        ("stderr", "0.5", "stderr", {"stderr": 0.5, "n": math.nan}),
        ("stderr,n", "0.5,4", "stderr", {"stderr": 0.5, "n": 4}),
        ("std,n", "1,16", "std and n", {"stderr": 0.25, "n": 16}),
        ("std,n", "1,0", "std and n", {"stderr": math.nan, "n": 0}),
        ("std", "1", None, {}),
        ("n", "4", None, {}),
        ("low", "4", None, {}),
    ],
)
def test_given_intervals(
    tmp_path: Path, header: str, row: str, given: str | None, expected: dict[str, float]
) -> None:
    """An interval of the data's own is handed over in long form, and in wide form by its metric's name."""
    data = Data(tmp_path)
    wide = ",".join(name if name == "n" else f"acc_{name}" for name in header.split(","))
    data.write("long.csv", f"model,step,metric,value,{header}\nA,0,acc,0.5,{row}\n")
    data.write("wide.csv", f"model,step,acc,loss,{wide}\nA,0,0.5,2,{row}\n")
    data.write("mapped/a.csv", f"model,step,acc,{header.upper()}\nA,0,0.5,{row}\n")
    data.write(
        "mapped/source.yml", f"columns: {{{', '.join(f'{n}: {n.upper()}' for n in header.split(','))}}}"
    )
    for name in ("long", "wide", "mapped"):
        source = data.open(name)
        assert read_measurements(tmp_path, source, ("acc",)).given_interval == given
        frame = data.frame(name, "acc")
        found = {column: frame[column][0] for column in frame.columns[6:]}
        assert found.keys() == expected.keys()
        for column, value in expected.items():
            assert found[column] == pytest.approx(value, nan_ok=True)


def test_a_metric_without_an_interval_has_none(tmp_path: Path) -> None:
    """Beside a metric with an interval another has NULL there, and the ends are no metrics."""
    data = Data(tmp_path)
    data.write("a.csv", "step,acc,acc_low,acc_high,loss\n0,0.5,0.25,0.75,2\n")
    assert data.open("a").metrics == ("acc", "loss")
    frame = data.frame("a").set_index("metric")
    assert frame.loc["acc", "low"] == 0.25
    assert list(frame["low"].isna()) == [False, True]


def test_highs_and_lows_without_a_metric_are_metrics(tmp_path: Path) -> None:
    """Columns called low and high in a wide table are measurements of their own."""
    data = Data(tmp_path)
    data.write("a.csv", "step,open,high,low,close,n\n0,1,2,3,4,5\n")
    assert data.open("a").metrics == ("open", "high", "low", "close", "n")


def test_empty_cells_of_a_shared_table_are_no_measurements(tmp_path: Path) -> None:
    """Where several metrics share rows a gap is not a missing value; with one metric alone it is."""
    data = Data(tmp_path)
    data.write("many.csv", "step,train,eval\n0,1,\n1,2,\n1,,0.5\n2,NaN,\n")
    data.write("one.csv", "step,train\n0,1\n1,\n")
    data.write("long.csv", "step,metric,value\n0,train,1\n1,train,\n")
    assert list(map(str, data.frame("many", "train")["value"])) == ["1.0", "2.0", "nan"]
    assert len(data.frame("many")) == 4
    assert list(data.frame("one")["value"].isna()) == [False, True]
    assert list(data.frame("long")["value"].isna()) == [False, True]


def test_missing_metric_and_order_of_series(tmp_path: Path) -> None:
    """The order of series is that of the data, or the one asked for."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\nz,0,1\na,0,2\nm,0,3\n")
    source = data.open("a")
    assert read_measurements(tmp_path, source, ("loss",)).order == ("z", "a", "m")
    assert read_measurements(tmp_path, source, ("loss",), series=("m", "z")).order == ("m", "z")
    assert read_measurements(tmp_path, source, ()).frame.collect_schema().names()[:2] == ["series", "run"]


def test_the_order_of_writing_is_kept(tmp_path: Path) -> None:
    """``row`` rises by file and line, also where files of two shapes take turns."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,step,loss\nA,1,1\nA,0,2\n")
    data.write("s/b.csv", "step,model,loss\n1,A,3\n")
    data.write("s/c.csv", "model,step,loss\nA,1,4\n")
    assert list(data.frame("s")["value"]) == [1, 2, 3, 4]


def test_percentages_are_shares(tmp_path: Path) -> None:
    """As exact as they are written, in wide and long tables, and in the scores of answers and totals."""
    data = Data(tmp_path)
    data.write("wide.csv", "step,loss,acc\n1,0.5,51.2%\n2,0.4,\n3,0.3, 7 % \n")
    assert data.frame("wide", "acc")["value"].dropna().tolist() == [0.512, 0.07]
    data.write("long.csv", "step,metric,value\n1,acc,51.2%\n2,acc,60.0%\n")
    assert data.frame("long", "acc")["value"].tolist() == [0.512, 0.6]
    data.write("rows.jsonl", '{"step": 1, "acc": "51.2%"}\n{"step": 2, "acc": "60%"}\n')
    assert data.frame("rows", "acc")["value"].tolist() == [0.512, 0.6]
    assert data.warnings("wide") == data.warnings("long") == data.warnings("rows") == []


def test_a_column_with_and_without_percent_signs_is_refused(tmp_path: Path) -> None:
    """0.4 may be 0.4% or 40%; zero and missing values are the same on both scales."""
    data = Data(tmp_path)
    data.write("s.csv", "step,acc\n1,0.4\n2,51.2%\n3,60\n4,0\n5,\n6,NaN\n7,530%\n")
    rest = 'in column "acc" has no %, but "51.2%" in line 3 has: it could be'
    step = "Write all of them in one way, as 51% or as 0.51."
    assert data.problems("s") == [
        f'data/s.csv:2: "0.4" {rest} 0.4% or 40%. {step}',
        f'data/s.csv:4: "60" {rest} 60% or 6000%. {step}',
    ]


def test_metrics_of_a_long_table_may_differ_in_percent_signs(tmp_path: Path) -> None:
    """A loss has no % beside an accuracy that has; each metric is checked by itself."""
    data = Data(tmp_path)
    data.write("long.csv", "step,metric,value\n1,acc,51.2%\n1,loss,2.5\n2,acc,60%\n2,loss,2\n")
    assert data.frame("long", "acc")["value"].tolist() == [0.512, 0.6]
    assert data.frame("long", "loss")["value"].tolist() == [2.5, 2]
    data.write("long.csv", "step,metric,value\n1,acc,51.2%\n1,loss,2.5\n2,acc,0.6\n2,loss,2\n")
    assert [problem.split(",")[0] for problem in data.problems("long")] == [
        'data/long.csv:4: "0.6" in column "value" has no %'
    ]


def test_a_decimal_comma_is_reported(tmp_path: Path) -> None:
    """A column is not left out without a word where its cells look like numbers."""
    data = Data(tmp_path)
    data.write("s.csv", 'step,loss,acc\n1,0.5,\n2,0.4,"0,5"\n3,0.3,"0,5"\n')
    assert data.warnings("s")[0] == (
        'data/s.csv:3: "0,5" in column "acc" is not a plain number; this column is left out. '
        "Write numbers as 0.5, 1234.5 or 51.2%, and a ± in a column of its own."
    )


PRINTED = [("1,234.5", 1234.5), ("**76.8**", 76.8), ("51.2%", 0.512), ("-0.5", -0.5), ("$\\mathbf{7}$", 7.0)]


@pytest.mark.parametrize(("cell", "value"), PRINTED)
@pytest.mark.parametrize("columns", ["step,epoch,acc", "model,step,metric,value", "step,GRPO,PPO"])
def test_numbers_are_read_as_they_are_printed(tmp_path: Path, columns: str, cell: str, value: float) -> None:
    """Wide and long, with columns of metrics or of series, and so are the steps."""
    data = Data(tmp_path)
    other = "25%" if "%" in cell else "0.25"
    rows = [f'"1,000",1,"{cell}"', f'"2,000",2,"{other}"']
    if "metric" in columns:
        rows = [f'A,"1,000",acc,"{cell}"', f'A,"2,000",acc,"{other}"']
    data.write("s.csv", "\n".join([columns, *rows]))
    frame = data.frame("s", "s" if "PPO" in columns else "acc")
    frame = frame[frame["series"] != "GRPO"]
    assert dict(zip(frame["step"], frame["value"], strict=True)) == {1000.0: value, 2000.0: 0.25}


@pytest.mark.parametrize(
    ("interval", "expected"), [("se", 0.4), ("ci95", 0.4 / 1.959963984540054), ("sd", 0.4 / 3)]
)
@pytest.mark.parametrize("columns", ["step,loss,acc,n", "step,metric,value,n", "step,GRPO,PPO,PPO_n"])
def test_what_stands_after_plus_minus_is_an_interval(
    tmp_path: Path, columns: str, interval: str, expected: float
) -> None:
    """As in tables without steps, and said once."""
    data = Data(tmp_path)
    rows = ["1,0.5,75.5 ± 0.4,9", "2,0.4,**76.8**,9"]
    if "metric" in columns:
        rows = ["1,acc,75.5 ± 0.4,9", "2,acc,**76.8**,9"]
    data.write("s/acc.csv", "\n".join([columns, *rows]))
    data.write("s/source.yml", f"interval: {interval}\n")
    frame = data.frame("s", "acc")
    frame = frame[frame["series"] != "GRPO"]
    assert frame["value"].tolist() == [75.5, 76.8]
    assert frame["stderr"].tolist()[0] == pytest.approx(expected)
    assert frame["stderr"].isna().tolist() == [False, True]


def test_an_open_plus_minus_is_an_error_with_its_line(tmp_path: Path) -> None:
    """Neither what it is nor, of a standard deviation, the number of runs is guessed."""
    data = Data(tmp_path)
    data.write("s/a.csv", "step,loss,acc\n1,0.5,75\n2,0.4,75.5 ± 0.4\n")
    assert data.problems("s") == [
        (
            'data/s/a.csv:3: the meaning of ± in column "acc" is not stated. Say interval: in source.yml '
            "with one of se (the standard error), ci95 (half of a 95% CI) and sd (the standard deviation)."
        )
    ]
    data.write("s/source.yml", "interval: sd\n")
    (alone,) = data.problems("s")
    assert alone.endswith("Add a column n or acc_n, or give the standard error.")
