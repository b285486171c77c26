"""A score means the same to the database, which reads it, and to Python, which says what is wrong with it."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import duckdb
from hypothesis import given
from hypothesis import strategies as st
from made_sources import Data

from reportgen.formats import sql
from reportgen.formats.cells import MISSING, is_missing, is_number
from reportgen.formats.sql import get_engine
from reportgen.read import read_outcomes
from reportgen.read.tables.rows import RIGHT, WRONG, check_range, check_score, parse_score
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from pathlib import Path

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
