"""Laws of reading: what is written comes out, whatever it is, and names never become statements."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_sources import Data
from tries import tries

from reportgen.core.errors import ReportError
from reportgen.formats.cells import is_missing, is_number, is_time, parse_reported
from reportgen.formats.sql import get_engine, parse_number, parse_time, quote
from reportgen.read import make_frame, read_measurements
from reportgen.read.queries.reduce import reduce

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

HOSTILE = [
    "'; DROP TABLE x; --",
    '"; SELECT 1; --',
    "</script><script>alert(1)</script>",
    "__proto__",
    "=cmd|' /C calc'!A0",
    "a.b/c d[0]{x}%s$1\\",
    "é",
    "e\u0301",
    "\u202eevil\u200b",
    "名前 🎉",
    "x" * 500,
    "NULL",
    "line\nbreak",
    "comma, quote \" and 'tick'",
]
# Lone surrogates are no text; NUL and line returns are changed by CSV itself.
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=30)
VALUES = st.floats(allow_nan=False) | st.integers(-(10**6), 10**6).map(float)


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows as a CSV file, quoted where needed."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize("form", ["long", "wide"])
def test_hostile_names_stay_names(tmp_path: Path, ending: str, form: str) -> None:
    """Series, runs and metrics may be called anything; asking for one gets exactly its rows."""
    data = Data(tmp_path)
    metrics = [f"{name}." for name in HOSTILE]
    if form == "long":
        header = ["model", "run", "step", "metric", "value"]
        rows = [[name, name, 0, metrics[i], i] for i, name in enumerate(HOSTILE)]
    else:
        header = ["model", "run", "step", *metrics]
        rows = [
            [name, name, 0, *([None] * i), i, *([None] * (len(metrics) - i - 1))]
            for i, name in enumerate(HOSTILE)
        ]
    records = [dict(zip(header, row, strict=True)) for row in rows]
    if ending == "csv":
        data.write("a.csv", as_csv([header, *rows]))
    elif ending == "jsonl":
        data.write("a.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    else:
        path = data.write("a.json", json.dumps(records))
        if ending == "parquet":
            duckdb.sql(
                f"COPY (FROM read_json('{path}')) TO '{path.with_suffix('.parquet')}' (FORMAT parquet)"
            )
            path.unlink()
    source = data.open("a")
    assert sorted(source.metrics) == sorted(metrics)
    for number_of, name in enumerate(HOSTILE):
        table = data.frame("a", metrics[number_of], series=(name,), where={"run": name})
        assert list(table.iloc[0])[:2] == [name, name]
        assert list(table["value"]) == [number_of]


def test_hostile_columns_and_renames(tmp_path: Path) -> None:
    """Columns mapped, filtered and renamed by hostile names are columns, nothing else."""
    data = Data(tmp_path)
    for place, name in enumerate(HOSTILE):
        data.write(
            f"s{place}/a.csv", as_csv([[f"s{name}", f"t{name}", "loss"], [name, 1, 0.5], ["other", 2, 1.5]])
        )
        stated = {
            "columns": {"series": f"s{name}".strip(), "step": f"t{name}".strip()},
            "filter": {f"s{name}": name},
            "rename": {name: f"{name}!"},
            "rename_metrics": {"loss": f"{name}?"},
        }
        data.write(f"s{place}/source.yml", json.dumps(stated))
        table = data.frame(f"s{place}")
        assert [tuple(row) for row in table.to_numpy()] == [(f"{name}!", "", None, f"{name}?", 1.0, 0.5)]


def test_hostile_file_names(tmp_path: Path) -> None:
    """Files may be called like patterns, statements or links to elsewhere."""
    data = Data(tmp_path)
    names = [
        "run[1]",
        "a*b",
        "what?",
        "it's",
        "{a,b}",
        "http:x",
        "100%",
        "back\\slash",
        "new\nline",
        "a b",
        "é",
    ]
    for place, name in enumerate(names):
        data.write(f"s/{name}.csv", f"step,loss\n0,{place}\n")
    data.write("s/run1.csv", "step,loss\n0,99\n")
    table = data.frame("s").set_index("series")["value"]
    assert {name: table[name] for name in names} == {name: place for place, name in enumerate(names)}


@settings(max_examples=tries(20, 200))
@given(rows=st.lists(st.tuples(NAMES, st.integers(0, 10**9), VALUES), min_size=1, max_size=8))
@example(rows=[("NA", 0, 1.0), ("", 1, 2.0), (" ", 2, 3.0)])
def test_what_is_written_comes_out(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, float]]
) -> None:
    """Names, steps and values come out as they were written, in order, from CSV and from JSON Lines."""
    data = Data(tmp_path_factory.mktemp("data"))
    header = ("model", "step", "loss")
    data.write("a.csv", as_csv([list(header), *([*row] for row in rows)]))
    data.write("b.jsonl", "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows))
    expected = [(name or "(unnamed)", float(step), value) for name, step, value in rows]
    for source in ("a", "b"):
        table = data.frame(source)
        assert list(zip(table["series"], table["step"], table["value"], strict=True)) == expected


@given(cell=st.text(max_size=12) | st.from_regex(r"\A[-+ ]?[0-9_]{0,4}[.,]?[0-9]{0,3}(e[+-]?\d{1,3})?\Z"))
@example(cell="1_000")
@example(cell="\uff11\uff12")
@example(cell=" - ")
@example(cell="\u2014 ")
@example(cell="N/A")
@example(cell="Infinity")
@example(cell="0x1F")
@example(cell="true")
@example(cell="\t1\n")
@example(cell="1d")
def test_python_and_the_database_agree_on_numbers(cell: str) -> None:
    """A cell that Python takes for a number or for nothing, DuckDB takes for the same, and no other."""
    cell = cell.replace("\0", "")
    statement = f"SELECT {parse_number('cell', 'VARCHAR')} FROM (SELECT {quote(cell)} AS cell)"  # noqa: S608 - quoted
    try:
        ((found,),) = get_engine().fetch_rows(statement)
    except duckdb.Error:
        assert not is_number(cell)
        assert not is_missing(cell)
    else:
        printed = parse_reported(cell)  # such as 1,234
        assert is_missing(cell) if found is None else is_number(cell) or printed is not None
        if found is not None and not math.isnan(found):
            assert found == (float(cell) if is_number(cell) else printed and printed.value)


@pytest.mark.parametrize(
    "cell",
    [
        "2024-05-31",
        "2024-05-31 12:00",
        "2024-05-31T12:00:01",
        "2024-05-31 12:00:00.123456789",
        "2024-05-31T12:00Z",
        "2024-05-31 12:00:00 UTC",
        "2024-05-31T12:00+02",
        "2024-05-31T12:00-0230",
        " 2024-05-31 ",
        "0001-01-01",
        "2024-5-1",
        "31.05.2024",
        "12:00",
        "2024",
        "20240531",
        "2024-05-31T",
        "2024-05-31 25:00x",
    ],
)
def test_python_and_the_database_agree_on_times(cell: str) -> None:
    """What Python takes for a time DuckDB can read as one, so that no good cell is refused."""
    statement = f"SELECT {parse_time('cell', 'VARCHAR')} FROM (SELECT '{cell}' AS cell)"  # noqa: S608 - a test's own
    if is_time(cell):
        ((found,),) = get_engine().fetch_rows(statement)
        assert isinstance(found, float)


@settings(max_examples=tries(20, 200))
@given(
    steps=st.lists(st.integers(0, 12), min_size=1, max_size=40),
    labels=st.lists(st.sampled_from(["a", "b", "c"]), min_size=40, max_size=40),
    column=st.sampled_from(["Agent", "algo", "опыт", "x y", "note"]),
)
def test_no_value_is_lost_without_a_word(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], labels: list[str], column: str
) -> None:
    """Every row is drawn, or counted as replaced in what looks like a resumed run, or there is an error."""
    data = Data(tmp_path_factory.mktemp("law"))
    rows = [(label, step, place) for place, (step, label) in enumerate(zip(steps, labels, strict=False))]
    data.write("a.csv", as_csv([(column, "step", "loss"), *rows]))
    try:
        found = reduce(read_measurements(data.root, data.open("a"), ("loss",)))["loss"]
    except ReportError as error:
        expected = "a second row for step |rows that differ in .* take turns along one line"
        assert re.search(expected, str(error))  # noqa: PT017 - either may happen
        return
    assert sum(run.values.size for run in found.runs) + found.replaced == len(rows)
    if {run.series for run in found.runs} <= {"a", "b", "c"} and len(found.runs) > 1:
        assert found.replaced == 0
    elif found.replaced > 1:
        back = sum(later < earlier for earlier, later in pairwise(steps))
        assert steps[-1] == max(steps)
        assert 3 * back <= len(set(steps)) or back == 1


def test_reading_twice_gives_the_same(tmp_path: Path) -> None:
    """The same question has the same answer, row for row."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,a,b\n" + "".join(f"m{i % 3},{i},{i / 7},{i / 3}\n" for i in range(3_000)))
    source = data.open("a")
    first, second = (make_frame(read_measurements(tmp_path, source, ("a", "b"))) for _ in range(2))
    assert first.equals(second)


# ---- charts of W&B ----------------------------------------------------------------------------------------

RUN_NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\u00a0"), min_size=1, max_size=12
)
RUN_VALUES = st.dictionaries(
    st.integers(0, 10**6).map(float), st.floats(allow_nan=False), min_size=1, max_size=8
)


def write_chart(columns: Mapping[str, Mapping[float, float]], x: str = "Step") -> str:
    """A chart as W&B exports it: every cell in quotes, a column a run, and its extremes beside it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([x, *(name + ending for name in columns for ending in ("", "__MIN", "__MAX"))])
    for step in sorted({step for values in columns.values() for step in values}):
        cells = [
            repr(values[step]) if step in values else "" for values in columns.values() for _ in range(3)
        ]
        writer.writerow([f"{step:g}", *(cell.replace("inf", "Infinity") for cell in cells)])
    return text.getvalue()


@settings(max_examples=tries(20, 200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=st.dictionaries(RUN_NAMES, RUN_VALUES, min_size=1, max_size=5), metric=RUN_NAMES)
def test_what_a_chart_exports_is_what_is_read(
    tmp_path: Path, runs: dict[str, dict[float, float]], metric: str
) -> None:
    """Whatever names, steps and values a chart has, they come back."""
    data = Data(tmp_path)
    data.write("chart.csv", write_chart({f"{run} - {metric}": values for run, values in runs.items()}))
    frame = data.frame("chart", metric)
    found = {run: dict(zip(rows["step"], rows["value"], strict=True)) for run, rows in frame.groupby("run")}
    assert found == {
        run: {float(f"{step:g}"): value for step, value in values.items()} for run, values in runs.items()
    }


# ---- rows of one step, in tables that are too large to be looked at row by row -----------------------


def write_steps(data: Data, name: str, steps: list[int]) -> None:
    """A table with these steps, and values in the order of writing."""
    data.write(name, "step,loss\n" + "".join(f"{step},{place}\n" for place, step in enumerate(steps)))


def test_tables_that_are_reduced_in_the_database_are_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As smaller ones, and Parquet with rows instead of lines."""
    monkeypatch.setattr(sys.modules["reportgen.read.queries.reduce"], "FULL_ROWS", 10)
    data = Data(tmp_path)
    write_steps(data, "a.csv", [*range(20), *range(20)])
    data.parquet("p.parquet", "SELECT i // 2 AS step, i AS loss FROM range(10) AS t(i)")
    for name, said in (
        ("a", "a second row for step 0 of series a"),
        ("p", "loss is 0 in row 1 and 1 in row 2"),
    ):
        with pytest.raises(ReportError, match=said):
            reduce(read_measurements(tmp_path, data.open(name), ("loss",)))


@pytest.mark.parametrize("size", [10_000, 4_000_000])
def test_a_large_file_is_looked_at_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """The names that stand behind the sample count like those in it; some steps are enough to find them."""
    monkeypatch.setattr(sys.modules["reportgen.read.tables.distinguish"], "SAMPLED_BYTES", size)
    data = Data(tmp_path)
    rows = "".join(f"agent {place},{step},{step * place}\n" for place in range(5) for step in range(4_000))
    data.write("a.csv", f"Agent,step,reward\n{rows}")
    with pytest.raises(ReportError, match=r'; 16,000 of 20,000 .*, and differ in "Agent"'):
        reduce(read_measurements(tmp_path, data.open("a"), ("reward",)))
    write_steps(data, "b.csv", [*range(4_000)] * 5)
    with pytest.raises(ReportError, match="; 16,000 of 20,000 values repeat a step"):
        reduce(read_measurements(tmp_path, data.open("b"), ("loss",)))
    write_steps(data, "c.csv", [*range(3_000), *range(2_000, 5_000)])
    assert reduce(read_measurements(tmp_path, data.open("c"), ("loss",)))["loss"].replaced == 1_000
