"""Tables of outcomes: what is one, which column plays which part, and what a score may look like."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from made_outcomes import outcomes as made_outcomes
from made_sources import Data

from reportgen.core.comparisons import ScoresError
from reportgen.core.errors import ReportError
from reportgen.read import hash_problem_set, read_measurements, read_outcomes
from reportgen.settings.loading import load_source_settings
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


def scored(data: Data, cells: list[str], settings: str = "") -> list[float | None]:
    """What cells of a score column mean."""
    data.write(
        "s/a.csv", "problem,score\n" + "".join(f"p{place},{cell}\n" for place, cell in enumerate(cells))
    )
    if settings:
        data.write("s/source.yml", settings)
    return [score for (score,) in rows_of(data, "s", "score")]


def test_a_table_of_outcomes_is_read_whole(tmp_path: Path) -> None:
    """Every part that it has, in the order of writing, and the rest as columns to slice by."""
    data = Data(tmp_path)
    data.write("aime.csv", TABLE)
    source = data.open("aime")
    assert (source.kind, source.slices, source.benchmarks) == ("outcomes", ("subject",), ())
    table = read_outcomes(tmp_path, source)
    assert (table.order, table.slices, table.lowest, table.highest) == (("A", "B"), ("subject",), 0.0, 1.0)
    assert table.has == {"answer", "gold", "tokens", "seconds", "cost"}
    columns = ("series", "run", "seed", "problem", "sample", "score", "answer", "gold", "tokens", "cost")
    assert rows_of(data, "aime", *columns) == [
        ("A", "1", "1", "p1", "1", 1.0, "204", "204", 10.0, 0.001),
        ("A", "1", "1", "p1", "2", 0.0, "7", "204", 20.0, 0.002),
        ("B", "1", "1", "p1", "1", 1.0, "204", "204", 30.0, None),
        ("B", "1", "1", "p2", "1", 0.0, None, "33", 40.0, 0.004),
    ]
    assert rows_of(data, "aime", "subject", "seconds")[-1] == ("number theory", 3.5)


def test_formats_agree(tmp_path: Path) -> None:
    """CSV, JSON Lines and Parquet with true and false give the scores of 1 and 0."""
    data = Data(tmp_path)
    data.write("csv.csv", "model,problem,score\nA,1,1\nA,2,0\nA,3,\n")
    lines = [("1", True), ("2", False), ("3", None)]
    data.write(
        "lines.jsonl",
        "".join(json.dumps({"model": "A", "problem": one, "score": score}) + "\n" for one, score in lines),
    )
    select = "FROM (VALUES ('A', 1, true), ('A', 2, false), ('A', 3, NULL)) AS t(model, problem, score)"
    data.parquet("typed.parquet", select)
    expected = [("A", "1", 1.0), ("A", "2", 0.0), ("A", "3", None)]
    for name in ("csv", "lines", "typed"):
        assert rows_of(data, name, "series", "problem", "score") == expected


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1", "0"),
        ("true", "false"),
        ("True", "FALSE"),
        ("correct", "incorrect"),
        ("Right", "wrong"),
        ("pass", "fail"),
        ("passed", " failed "),
        ("1.0", "0e0"),
    ],
)
def test_words_for_the_ends(tmp_path: Path, right: str, wrong: str) -> None:
    """Right and wrong may be said in several ways."""
    assert scored(Data(tmp_path), [right, wrong]) == [1.0, 0.0]


def test_words_stand_for_the_ends_of_the_stated_range(tmp_path: Path) -> None:
    """In a range from -1 to 100, a right answer has 100 and a wrong one -1; numbers are what they are."""
    cells = ["correct", "wrong", "1", "0", "99.5"]
    assert scored(Data(tmp_path), cells, "score_range: [-1, 100]") == [100.0, -1.0, 1.0, 0.0, 99.5]


def test_missing_scores_are_missing(tmp_path: Path) -> None:
    """Nothing, and words for nothing, are no wrong answers; NaN and infinity stay to be counted."""
    found = scored(Data(tmp_path), ["", "NA", "null", "nan", "inf", "1"])
    assert found[:3] == [None, None, None]
    assert math.isnan(found[3] or 0)
    assert found[4:] == [math.inf, 1.0]


def test_missing_scores_are_counted(tmp_path: Path) -> None:
    """What reading leaves in, the statistics count and leave out."""
    data = Data(tmp_path)
    data.write("a.csv", "problem,score\np,1\nq,\nr,nan\n")
    found = group_problem_scores(read_outcomes(tmp_path, data.open("a")))
    assert (found.notes.missing, found.mean.tolist()[0][0]) == (2, 1.0)


def test_scores_that_cannot_be_read(tmp_path: Path) -> None:
    """Every wrong cell of every file is told, with its line."""
    data = Data(tmp_path)
    data.write("s/a.csv", "problem,score\np,1\nq,maybe\nr,2\n")
    data.write("s/b.jsonl", '{"problem": "p", "score": -0.5}\n{"problem": "q", "score": [1]}\n')
    advice = "State the possible scores in source.yml, as in score_range: [0, 100], or mend it."
    words = "Write a number, true or false, or correct or incorrect."
    assert told(data, "s") == [
        f'data/s/a.csv:3: "maybe" in column "score" is not a score. {words}',
        f'data/s/a.csv:4: "2" in column "score" is outside 0 to 1. {advice}',
        f'data/s/b.jsonl:1: "-0.5" in column "score" is outside 0 to 1. {advice}',
        f'data/s/b.jsonl:2: "[1]" in column "score" is not a score. {words}',
    ]


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


def test_a_row_without_a_problem_is_told(tmp_path: Path) -> None:
    """It cannot be an answer to anything; neither can tokens be a word."""
    data = Data(tmp_path)
    data.write("a.csv", "problem,score,tokens\np,1,5\n,1,5\n")
    assert told(data, "a") == [
        'data/a.csv:3: an empty cell in column "problem" names nothing. Fill the cell, or leave the row out.'
    ]
    data.write("b.jsonl", '{"problem": "p", "score": 1}\n{"score": 1}\n')
    assert told(data, "b")[0].startswith('data/b.jsonl:2: an empty cell in column "problem" names nothing.')
    data.write("c.csv", "problem,score,tokens\np,1,5\nq,1,5\nr,1,6\ns,1,many\n")
    with pytest.raises(ReportError, match=r'data/c.csv:5: "many" in column "tokens" is not a number'):
        rows_of(data, "c", "tokens")


@pytest.mark.parametrize("name", ["problem", "Problem_ID", "question_id", "task_id", "doc_id", "idx", "id"])
def test_problem_columns(tmp_path: Path, name: str) -> None:
    """The usual names of a problem are known, whatever their capitals."""
    data = Data(tmp_path)
    data.write("a.csv", f"model,{name},score\nA,p7,1\n")
    assert data.open("a").kind == "outcomes"
    assert rows_of(data, "a", "problem") == [("p7",)]


@pytest.mark.parametrize("name", ["score", "correct", "is_correct", "acc", "Reward"])
def test_score_columns(tmp_path: Path, name: str) -> None:
    """The usual names of a score are known; a column that is left is one to slice by."""
    data = Data(tmp_path)
    data.write("a.csv", f"problem,{name},level\np,1,3\n")
    assert data.open("a").slices == ("level",)
    assert rows_of(data, "a", "score", "level") == [(1.0, "3")]


@pytest.mark.parametrize("name", ["sample", "sample_id", "attempt", "epoch"])
def test_sample_columns(tmp_path: Path, name: str) -> None:
    """The usual names of a sample are known; an epoch of a problem is one, not a step."""
    data = Data(tmp_path)
    data.write("a.csv", f"problem,{name},score\np,1,1\np,2,0\n")
    assert rows_of(data, "a", "sample", "score") == [("1", 1.0), ("2", 0.0)]


@pytest.mark.parametrize(
    ("columns", "answer", "gold"),
    [
        ("answer,target", "x", "y"),
        ("extracted,reference", "x", "y"),
        ("prediction,gold", "x", "y"),
        ("prediction,answer", "x", "y"),
    ],
)
def test_answers_and_what_is_right(tmp_path: Path, columns: str, answer: str, gold: str) -> None:
    """An answer is the model's, unless its answer is called prediction: then it is the right one."""
    data = Data(tmp_path)
    data.write("a.csv", f"problem,score,{columns}\np,1,x,y\n")
    assert rows_of(data, "a", "answer", "gold") == [(answer, gold)]


@pytest.mark.parametrize(
    ("tokens", "seconds"),
    [("tokens", "seconds"), ("completion_tokens", "latency"), ("num_tokens", "time")],
)
def test_what_an_answer_took(tmp_path: Path, tokens: str, seconds: str) -> None:
    """The usual names of tokens and seconds are known."""
    data = Data(tmp_path)
    data.write("a.csv", f"problem,score,{tokens},{seconds}\np,1,100,2.5\n")
    assert rows_of(data, "a", "tokens", "seconds") == [(100.0, 2.5)]


def test_a_time_that_is_a_date_is_not_how_long_it_took(tmp_path: Path) -> None:
    """It is a column like others."""
    data = Data(tmp_path)
    data.write("a.csv", "problem,score,time\np,1,2026-05-31T12:00:00Z\n")
    assert data.open("a").slices == ("time",)
    assert read_outcomes(tmp_path, data.open("a")).has == frozenset()


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("problem,step,score", "1,2,0.5"),
        ("id,epoch,score", "1,2,0.5"),
        ("problem,metric,value", "1,score,0.5"),
        ("problem,step,metric,value", "1,2,score,0.5"),
        ("run,reward", "1,0.5"),
    ],
)
def test_measurements_stay_measurements(tmp_path: Path, header: str, row: str) -> None:
    """A step, or a metric beside its value, or no problem: no outcomes."""
    data = Data(tmp_path)
    data.write("a.csv", f"{header}\n{row}\n")
    source = data.open("a")
    assert (source.kind, source.slices) == ("measurements", ())
    with pytest.raises(
        ReportError, match="has no outcomes, which need a column for the problem and one for the score"
    ):
        read_outcomes(tmp_path, source)


def test_outcomes_can_still_be_measured(tmp_path: Path) -> None:
    """A table that looks like outcomes is drawn as a curve where a block says what x is."""
    data = Data(tmp_path)
    data.write("a.csv", "model,id,reward\nA,1,0.5\nA,2,0.75\n")
    source = data.open("a")
    assert source.kind == "outcomes"
    table = read_measurements(tmp_path, source, ("reward",), x="id")
    assert table.frame.to_native().project("step, value").fetchall() == [(1.0, 0.5), (2.0, 0.75)]


def test_source_yml_decides(tmp_path: Path) -> None:
    """A table with a step has outcomes if the problem is named or form says so; form: wide prevents it."""
    data = Data(tmp_path)
    data.write("s/a.csv", "item,problem,step,points\nx,p,5,1\n")
    data.write("s/source.yml", "columns: {problem: item, score: points}\nscore_range: [0, 3]")
    source = data.open("s")
    assert (source.kind, source.slices, source.score_range) == ("outcomes", ("step",), (0.0, 3.0))
    assert rows_of(data, "s", "problem", "score", "step") == [("x", 1.0, "5")]
    data.write("s/source.yml", "form: outcomes")
    (problem,) = data.problems("s")
    assert problem.startswith(
        'data/s/source.yml: outcomes need a column "score"; there are item, problem, step and points.'
        " Name it in source.yml, as in columns: {score: NAME}."
    )
    data.write("u/a.csv", "model,points\nA,1\n")
    data.write("u/source.yml", "columns: {score: points}")
    (problem,) = data.problems("u")
    assert problem.endswith("if a row is the score of a whole benchmark, say form: totals there.")
    data.write("t/a.csv", "problem,score\np,1\n")
    data.write("t/source.yml", "form: wide")
    assert data.open("t").kind == "measurements"


def test_several_files_are_one_table(tmp_path: Path) -> None:
    """Files name series and runs as they do elsewhere; columns that a file lacks are missing there."""
    data = Data(tmp_path)
    data.write("s/one.csv", "problem,score,tokens\np,1,10\n")
    data.write("s/two.jsonl", '{"problem": "p", "score": false}\n')
    assert rows_of(data, "s", "series", "run", "problem", "score", "tokens") == [
        ("one", "one", "p", 1.0, 10.0),
        ("two", "two", "p", 0.0, None),
    ]
    data.write("s/three.csv", "problem,tokens\np,10\n")
    assert data.problems("s") == [
        (
            'data/s/three.csv: the file has no column "score", which others of the source have.'
            " Rename its columns, or leave the file out with files: in source.yml."
        )
    ]


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


def test_a_row_of_no_benchmark_is_told(tmp_path: Path) -> None:
    """It would be left out of every figure."""
    data = Data(tmp_path)
    data.write("a.csv", "benchmark,problem,score\nAIME,1,1\n,2,1\n")
    assert data.problems("a") == [
        (
            'data/a.csv:3: an empty cell in column "benchmark" names nothing.'
            " Fill the cell, or leave the row out."
        )
    ]


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


def test_columns_that_cannot_be_sliced_by(tmp_path: Path) -> None:
    """A free column that is called like a part gives way, as do two that differ in capitals alone."""
    data = Data(tmp_path)
    data.write("a.csv", "question_id,problem,score,acc,row,Level,level\nx,long text,1,0.5,3,a,b\n")
    data.write("a.source.yml", "columns: {problem: question_id}")
    assert data.open("a").slices == ("acc", "Level")
    assert rows_of(data, "a", "problem", "Level", "row") == [("x", "a", 1)]


def test_a_scores_cost_is_the_mean_of_its_samples(tmp_path: Path) -> None:
    """A: one problem with 0.001 and 0.002; B: one of two problems with a cost, 0.004."""
    data = Data(tmp_path)
    data.write("a.csv", TABLE)
    found = score_series(group_problem_scores(read_outcomes(tmp_path, data.open("a"))))
    assert [one.cost for one in found] == pytest.approx([0.0015, 0.004])
    assert [one.tokens for one in found] == pytest.approx([15.0, 35.0])


def test_unknown_series_of_protocols_are_told(tmp_path: Path) -> None:
    """As are other names in source.yml that the data do not have."""
    data = Data(tmp_path)
    data.write("s/a.csv", TABLE)
    data.write("s/source.yml", "protocols: {C: {samples: 4}}")
    assert data.warnings("s") == ['data/s/source.yml: protocols: there is no series "C". There are A and B.']


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


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("score_range: [1, 0]\n", "1:1", "score_range must begin with the smaller number"),
        ("protocol:\n  samples: 0\n", "2:3", '"samples: 0" must be at least 1'),
        ("protocols:\n  A: {top_p: 1.5}\n", "2:7", '"top_p: 1.5" must be at most 1'),
    ],
)
def test_what_source_yml_may_not_say(tmp_path: Path, text: str, place: str, message: str) -> None:
    """Each rule is told at the key's line."""
    path = Data(tmp_path).write("s/source.yml", text)
    with pytest.raises(ReportError) as caught:
        load_source_settings(path, "source.yml")
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"source.yml:{place}: {message}")


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
