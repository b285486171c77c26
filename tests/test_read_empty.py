"""Tables with nothing in them where something should be: described and frozen, or refused in words."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import duckdb
import pytest
from made_sources import Data
from tries import slow_after

from reportgen.core.errors import ReportError
from reportgen.draft import describing
from reportgen.draft.describing import freeze_source
from reportgen.formats.files import hash_file

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.statements import Description

HEADS = {
    "long": "model,step,metric,value",
    "wide": "model,step,loss",
    "outcomes": "model,problem,correct",
    "totals": "model,benchmark,score",
    "chart": '"Step","A - acc","A - acc__MIN","A - acc__MAX"',
}
FULL = {
    "long": ("A,0,loss,1", "A,1,loss,2"),
    "wide": ("A,0,1", "A,1,2"),
    "outcomes": ("A,p,1", "A,q,0"),
    "totals": ("A,x,1", "B,x,0"),
    "chart": ('"0","1","1","1"', '"1","2","2","2"'),
}
ENDINGS = ("csv", "parquet", "tsv", "jsonl", "json")
# What may be left out of every row, or be no number.
GONE = [(shape, place) for shape, head in HEADS.items() for place in range(head.count(",") + 1)]


def table(data: Data, shape: str, rows: list[list[str]], ending: str) -> Path:
    """A table of this shape, in a file of its own."""
    settings = "form: totals\n" if shape == "totals" else ""
    data.write("a.source.yml", settings)
    header = HEADS[shape].replace('"', "").split(",")
    if ending in {"csv", "tsv"}:
        sign = "," if ending == "csv" else "\t"
        return data.write(f"a.{ending}", "".join(f"{sign.join(row)}\n" for row in (header, *rows)))
    path = data.root / "data" / f"a.{ending}"
    data.write("rows.txt", "".join(f"{','.join(row)}\n" for row in (header, *rows)))
    read = f"SELECT * FROM read_csv('{data.root}/data/rows.txt', header=true)"  # noqa: S608 - our own
    if ending == "parquet":
        data.parquet(path.name, read)
    else:
        array = "true" if ending == "json" else "false"
        duckdb.sql(f"COPY ({read}) TO '{path}' (FORMAT json, ARRAY {array})")
    (data.root / "data/rows.txt").unlink()
    return path


def known(told: Description) -> bool:
    """Whether nothing keeps it from being frozen: rows of one problem do not, totals of one run do."""
    return not any(
        problem.severity == "error" and ("repeat:" not in problem.next_step or told.kind == "totals")
        for problem in told.problems
    )


def handled(data: Data, path: Path) -> tuple[str, list[str]]:
    """What kind of source it is, and what is told of it; it is frozen unless an error is told."""
    told = describing.describe_path(path, data.root, "a", hash_file, None)
    with nullcontext() if known(told) else pytest.raises(ReportError):
        freeze_source(path, data.root, "a test", hash_file, None).write(data.root / "frozen.parquet")
    return told.kind, [str(problem) for problem in told.problems]


@pytest.mark.parametrize("ending", slow_after(2, ENDINGS))
@pytest.mark.parametrize(("shape", "place"), GONE)
@pytest.mark.parametrize("word", slow_after(1, ["", "nan"]))
def test_a_column_without_values(tmp_path: Path, shape: str, place: int, ending: str, word: str) -> None:
    """In all rows or in the last one; whatever column it is, nothing breaks."""
    data = Data(tmp_path)
    for first in (0, 1):
        rows = [row.replace('"', "").split(",") for row in FULL[shape]]
        for row in rows[first:]:
            row[place] = word
        kind, _ = handled(data, table(data, shape, rows, ending))
        assert kind in {"", "measurements", "outcomes", "totals"}


@pytest.mark.parametrize("shape", HEADS)
def test_a_header_alone(tmp_path: Path, shape: str) -> None:
    """It is told with its line."""
    data = Data(tmp_path)
    message = "data/a.csv:1: the file has a header and no rows. Remove it or write it again."
    data.write("a.csv", f"{HEADS[shape]}\n")
    assert handled(data, data.root / "data/a.csv") == ("", [message])


@pytest.mark.parametrize("content", ["", "{}\n{}\n", "[]", "{}", "[{}]", "\n\n"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_a_file_that_says_nothing(tmp_path: Path, ending: str, content: str) -> None:
    """It is refused by its name, and what can be read of it all the same has nothing to draw."""
    data = Data(tmp_path)
    kind, told = handled(data, data.write(f"a.{ending}", content))
    assert kind in {"", "measurements"}
    assert told
    assert told[0].startswith(f"data/a.{ending}")


@pytest.mark.parametrize(
    ("shape", "rows", "message"),
    [
        ("wide", ["A,0,", "A,1,"], 'no column holds the numbers of a metric: "loss" is empty'),
        ("wide", ["A,0,x", "A,1,y"], 'no column holds the numbers of a metric: "loss" holds texts'),
        ("long", ["A,0,,1", "A,1,,2"], 'no row names a metric: the column "metric" is empty'),
    ],
)
def test_why_there_is_no_metric(tmp_path: Path, shape: str, rows: list[str], message: str) -> None:
    """An empty column is told as that, not as texts."""
    data = Data(tmp_path)
    kind, (told,) = handled(data, table(data, shape, [row.split(",") for row in rows], "csv"))
    assert kind == "measurements"
    assert message in told
