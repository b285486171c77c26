"""What pages of cases cannot say of tables of outcomes: questions, statistics, and laws."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_outcomes import outcomes as made_outcomes
from made_sources import Data

from reportgen.core.comparisons import ScoresError
from reportgen.core.errors import ReportError
from reportgen.formats import sql
from reportgen.formats.cells import MISSING, is_missing, is_number
from reportgen.formats.sql import get_engine
from reportgen.read import hash_problem_set, read_measurements, read_outcomes
from reportgen.read.tables.rows import RIGHT, WRONG, check_range, check_score, parse_score
from reportgen.statistics.problem_scores import group_problem_scores, group_problem_scores_by
from reportgen.statistics.scores import score_series

if TYPE_CHECKING:
    from pathlib import Path

TABLE = (
    "model,seed,problem,sample,score,answer,gold,tokens,seconds,cost,subject\n"
    "A,1,p1,1,1,204,204,10,0.5,0.001,algebra\n"
    "A,1,p1,2,0,7,204,20,1.5,0.002,algebra\n"
    "B,1,p1,1,1,204,204,30,2.5,,algebra\n"
    "B,1,p2,1,0,,33,40,3.5,0.004,number theory\n"
)


def rows_of(data: Data, name: str, *columns: str, **question: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - passed on
    """Columns of a source's outcomes, in the order of writing."""
    table = read_outcomes(data.root, data.open(name), **question)
    picked = ", ".join(f'"{column}"' for column in columns)
    with table.reading():
        found: list[tuple[Any, ...]] = table.frame.to_native().order('"row"').project(picked).fetchall()
    return found


def told(data: Data, name: str, **question: Any) -> list[str]:  # noqa: ANN401 - passed on
    """What is told of a source whose outcomes cannot be read."""
    with pytest.raises(ReportError) as caught:
        rows_of(data, name, "problem", "score", **question)
    return [str(problem) for problem in caught.value.problems]


def test_missing_scores_are_counted(tmp_path: Path) -> None:
    """What reading leaves in, the statistics count and leave out."""
    data = Data(tmp_path)
    data.write("a.csv", "problem,score\np,1\nq,\nr,nan\n")
    found = group_problem_scores(read_outcomes(tmp_path, data.open("a")))
    assert (found.notes.missing, found.mean.tolist()[0][0]) == (2, 1.0)


def test_a_typed_column_may_be_out_of_range_too(tmp_path: Path) -> None:
    """Parquet has rows instead of lines; a column of dates is no score at all."""
    data = Data(tmp_path)
    data.parquet("a.parquet", "FROM (VALUES ('p', 0.5), ('q', 50)) AS t(problem, score)")
    data.parquet("b.parquet", "FROM (VALUES ('p', DATE '2026-05-31')) AS t(problem, score)")
    assert told(data, "a")[0].startswith(
        'data/a.parquet: "50.0" in column "score" of row 2 is outside 0 to 1.'
    )
    assert told(data, "b")[0].startswith(
        'data/b.parquet: "2026-05-31" in column "score" of row 1 is not a score.'
    )


def test_a_wrong_score_that_is_filtered_out_does_no_harm(tmp_path: Path) -> None:
    """As a filter is the way to leave such rows out."""
    data = Data(tmp_path)
    data.write("a.csv", "model,problem,score,split\nA,p,1,test\nA,q,7,train\n")
    assert rows_of(data, "a", "score", where={"split": "test"}) == [(1.0,)]


def test_outcomes_can_still_be_measured(tmp_path: Path) -> None:
    """A table that looks like outcomes is drawn as a curve where a block says what x is."""
    data = Data(tmp_path)
    data.write("a.csv", "model,id,reward\nA,1,0.5\nA,2,0.75\n")
    source = data.open("a")
    assert source.kind == "outcomes"
    table = read_measurements(tmp_path, source, ("reward",), x="id")
    assert table.frame.to_native().project("step, value").fetchall() == [(1.0, 0.5), (2.0, 0.75)]


def test_benchmarks_of_one_table(tmp_path: Path) -> None:
    """Each can be asked for; together, problems of one name in two benchmarks are two problems."""
    data = Data(tmp_path)
    data.write("a.csv", "model,benchmark,problem,score\nA,MATH,1,1\nA,AIME,1,0\nB,MATH,1,1\n")
    source = data.open("a")
    assert source.benchmarks == ("MATH", "AIME")
    assert rows_of(data, "a", "problem", "score", benchmark="AIME") == [("1", 0.0)]
    table = read_outcomes(tmp_path, source)
    assert group_problem_scores(table).problems == ("AIME / 1", "MATH / 1")
    assert list(group_problem_scores_by(table, "benchmark")) == ["MATH", "AIME"]
    assert told(data, "a", benchmark="GSM8K") == [
        'data/a.csv: the source "a" has no benchmark "GSM8K". It has MATH and AIME.'
    ]


def test_benchmarks_are_all_known(tmp_path: Path) -> None:
    """Though a sample of the file shows one alone; the source's filter counts."""
    data = Data(tmp_path)
    many = "".join(f"A,easy,{place},1,dev\n" for place in range(20_000))
    text = "model,benchmark,problem,score,split\n" + many + "A,hard,1,0,dev\nA,gone,1,0,train\n" + many
    data.write("s/a.csv", text)
    data.write("s/source.yml", "filter: {split: dev}")
    assert data.open("s").benchmarks == ("easy", "hard")


def test_a_benchmark_of_a_source_without_any(tmp_path: Path) -> None:
    """And a series and a column that there are not are told together."""
    data = Data(tmp_path)
    data.write("a.csv", TABLE)
    found = told(data, "a", benchmark="AIME", series=("C",), where={"subjekt": "algebra"})
    assert found == [
        'data/a.csv: the source "a" has no series "C". It has A and B.',
        (
            'data/a.csv: the source "a" has no column "subjekt". Did you mean "subject"? It has model,'
            " seed, problem, sample, score, answer, gold, tokens, seconds, cost and subject."
        ),
        (
            'data/a.csv: the source "a" has no benchmark "AIME". It has no column of benchmarks; name it in'
            " source.yml, as in columns: {benchmark: NAME}."
        ),
    ]


def test_series_and_filters(tmp_path: Path) -> None:
    """Only these series, in this order, under their names in the report; only these rows."""
    data = Data(tmp_path)
    data.write("s/a.csv", TABLE)
    data.write("s/source.yml", "rename: {B: ours}")
    source = data.open("s")
    table = read_outcomes(tmp_path, source, series=("ours",), where={"subject": ("algebra", "logic")})
    assert table.order == ("ours",)
    assert rows_of(data, "s", "series", "problem", series=("ours",), where={"subject": "algebra"}) == [
        ("ours", "p1")
    ]
    assert rows_of(data, "s", "series", where={"seconds": 3.5}) == [("ours",)]


def test_rows_without_a_sample(tmp_path: Path) -> None:
    """The last of several rows counts, unless source.yml says that there are several samples."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,problem,score\nA,p,1\nA,q,1\nA,p,0\n")
    found = group_problem_scores(read_outcomes(tmp_path, data.open("s")))
    assert (found.notes.replaced, found.samples.tolist(), found.mean.tolist()) == (1, [[1, 1]], [[0.0, 1.0]])
    data.write("s/source.yml", "protocols: {A: {samples: 2}}")
    found = group_problem_scores(read_outcomes(tmp_path, data.open("s")))
    assert (found.notes.replaced, found.samples.tolist(), found.mean.tolist()) == (0, [[2, 1]], [[0.5, 1.0]])


def test_a_repeated_sample_is_replaced(tmp_path: Path) -> None:
    """In the order of writing, also across files of one run."""
    data = Data(tmp_path)
    data.write("s/1.csv", "model,run,problem,sample,score\nA,r,p,1,0\nA,r,p,2,0\n")
    data.write("s/2.csv", "model,run,problem,sample,score\nA,r,p,1,1\n")
    found = group_problem_scores(read_outcomes(tmp_path, data.open("s")))
    assert (found.notes.replaced, found.mean.tolist()) == (1, [[0.5]])


def test_a_scores_cost_is_the_mean_of_its_samples(tmp_path: Path) -> None:
    """A: one problem with 0.001 and 0.002; B: one of two problems with a cost, 0.004."""
    data = Data(tmp_path)
    data.write("a.csv", TABLE)
    found = score_series(group_problem_scores(read_outcomes(tmp_path, data.open("a"))))
    assert [one.cost for one in found] == pytest.approx([0.0015, 0.004])
    assert [one.tokens for one in found] == pytest.approx([15.0, 35.0])


def test_the_protocol_of_a_series(tmp_path: Path) -> None:
    """What is said of one series stands in place of what is said of all."""
    data = Data(tmp_path)
    data.write("s/a.csv", TABLE)
    data.write(
        "s/source.yml",
        "protocol: {samples: 1, temperature: 0.6, top_p: 0.95, max_tokens: 32768, date: 2026-05-31}\n"
        "protocols: {B: {samples: 16, harness: lighteval, version: 1.0, prompt: boxed, grader: exact}}\n",
    )
    settings = data.open("s").settings
    assert settings.get_protocol("A").list_stated() == (
        ("samples", "1"),
        ("temperature", "0.6"),
        ("top-p", "0.95"),
        ("max tokens", "32768"),
        ("date", "2026-05-31"),
    )
    assert dict(settings.get_protocol("B").list_stated()) == {
        "samples": "16",
        "temperature": "0.6",
        "top-p": "0.95",
        "max tokens": "32768",
        "prompt": "boxed",
        "harness": "lighteval",
        "version": "1.0",
        "grader": "exact",
        "date": "2026-05-31",
    }


def test_names_of_problem_sets() -> None:
    """Order and repetition make no difference; a problem or a right answer more does.

    The first is what `printf '[["p"], ["q"]]' | sha256sum | cut -c1-12` says.
    """
    plain = hash_problem_set(["q", "p"])
    assert plain == "d498279b4702"
    assert plain == hash_problem_set(["p", "q", "p"])
    assert len(plain) == 12
    known = hash_problem_set(["p", "q"], ["1", None])
    assert known == hash_problem_set(["q", "p"], [None, "1"])
    others = {hash_problem_set(["p"]), hash_problem_set(["p", "q"], ["2", None]), hash_problem_set(["pq"])}
    assert len({plain, known, *others}) == 5


def test_clusters_are_kept_by_problem(tmp_path: Path) -> None:
    """The column that ``source.yml`` names, and no other; it can still be sliced by."""
    data = Data(tmp_path)
    rows = "model,problem,score,passage,cluster\nA,p1,1,x,u\nA,p2,0,x,u\nB,p2,1,,u\nB,p3,1,,v\n"
    data.write("a/a.csv", rows)
    assert group_problem_scores(read_outcomes(tmp_path, data.open("a"))).clusters == ()
    assert data.open("a").slices == ("passage", "cluster")
    data.write("b/a.csv", rows)
    data.write("b/source.yml", "columns: {cluster: passage}\n")
    table = read_outcomes(tmp_path, data.open("b"))
    assert group_problem_scores(table).clusters == ("x", "x", None)
    assert table.slices == ("passage",)
    assert group_problem_scores_by(table, "passage")["x"].clusters == ("x", "x")


def test_a_problem_in_two_clusters(tmp_path: Path) -> None:
    """An error at the line that names the second one; without files it names the problem."""
    data = Data(tmp_path)
    data.write("a/a.csv", "model,problem,score,passage\nA,p1,1,x\nA,p2,0,\nB,p2,1,y\nB,p1,1,z\n")
    data.write("a/source.yml", "columns: {cluster: passage}\n")
    with pytest.raises(ReportError) as caught:
        group_problem_scores(read_outcomes(tmp_path, data.open("a")))
    (problem,) = caught.value.problems
    assert str(problem).startswith('data/a/a.csv:5: problem p1 is in the cluster "x" and here in "z". Give ')
    made = made_outcomes([{"cluster": name, "series": name, "score": 1.0} for name in "xy"])
    with pytest.raises(ScoresError, match="problem p is in more than one cluster: x, y"):
        group_problem_scores(made)


def test_right_answers_are_kept_by_problem(tmp_path: Path) -> None:
    """p2's is known from one series alone; p3 has two, so it is two problems under one name."""
    data = Data(tmp_path)
    data.write(
        "a.csv",
        "model,problem,score,gold\nA,p1,1,204\nB,p1,0,204\nA,p2,1,\nB,p2,1,33\nA,p3,1,5\nB,p3,1,6\n",
    )
    found = group_problem_scores(read_outcomes(tmp_path, data.open("a")))
    assert (found.problems, found.gold) == (("p1", "p2", "p3"), ("204", "33", None))
    assert found.notes.differing_gold == ("p3",)
    data.write("b.csv", "model,problem,score\nA,p1,1\n")
    assert group_problem_scores(read_outcomes(tmp_path, data.open("b"))).gold == ()


HOSTILE = [
    "'; DROP TABLE x; --",
    '"; SELECT 1; --',
    "</script><script>alert(1)</script>",
    "a.b/c d[0]{x}%s$1\\",
    "\u202eevil\u200b",
    "名前 🎉",
    "NULL",
    "line\nbreak",
    "comma, quote \" and 'tick'",
]

WORDS = sorted(RIGHT | WRONG | MISSING | {"maybe", "1,5", "true.", "truefalse", "nan"})
NUMBERS = st.floats(allow_nan=True, allow_infinity=True).map(repr) | st.sampled_from(["0", "1", "2", "-0.0"])
CELLS = (
    st.sampled_from(WORDS).flatmap(lambda word: st.sampled_from([word, word.upper(), f" {word} "])) | NUMBERS
)
ENDS = st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (0.0, 100.0)])


def read(cell: str, ends: tuple[float, float]) -> float | str | None:
    """What the database makes of a cell."""
    score = parse_score("cell", sql.TEXT, ends)
    checked = check_range("score", ends)
    select = f"SELECT {checked} FROM (SELECT {score} AS score FROM (SELECT {sql.quote(cell)} AS cell))"  # noqa: S608
    try:
        ((found,),) = get_engine().fetch_rows(select)
    except duckdb.Error:
        return "wrong"
    return None if found is None else float(found)


@given(CELLS, ENDS)
def test_python_and_the_database_agree(cell: str, ends: tuple[float, float]) -> None:
    """A cell fails in the database if and only if Python finds it wrong; otherwise both say its meaning."""
    found = read(cell, ends)
    word = cell.strip().lower()
    if check_score(cell, ends) is not None:
        assert found == "wrong"
    elif is_missing(cell):
        assert found is None
    elif word in RIGHT:
        assert found == ends[1]
    elif word in WRONG:
        assert found == ends[0]
    else:
        assert is_number(cell)
        assert repr(found) == repr(float(cell))


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    """Series, problems, benchmarks, answers and free columns may be called anything."""
    header = ["model", "problem", "score", "answer", "benchmark", *HOSTILE]
    cells = [[name, name, 1, name, name, *HOSTILE] for name in HOSTILE]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *cells])
    data = Data(tmp_path)
    data.write("a.csv", out.getvalue())
    source = data.open("a")
    assert (source.slices, source.benchmarks) == (tuple(HOSTILE), tuple(HOSTILE))
    for name in HOSTILE:
        table = read_outcomes(tmp_path, source, benchmark=name, series=(name,), where={name: name})
        found = group_problem_scores(table, where={name: name})
        assert (found.series, found.problems, found.notes.rows) == ((name,), (name,), 1)
