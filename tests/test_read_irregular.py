"""Irregular input: each kind is either handled and told, or an error with file, line and next step."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING

import pytest
from made_sources import LONG, Data

from reportgen.core.errors import ReportError, Severity
from reportgen.read import read_measurements, read_raw_frame
from reportgen.statistics.curves.reduce import reduce

if TYPE_CHECKING:
    from pathlib import Path

MEND = "Mend it, or leave the cell empty."
MANY = 5_000


def many(header: str, row: str, rows: int = MANY) -> str:
    """A file much larger than what is looked at when it is opened; ``#`` in a row is its number."""
    return header + "\n" + "".join(row.replace("#", str(number)) + "\n" for number in range(rows))


def test_byte_order_marks(tmp_path: Path) -> None:
    """A byte order mark is no part of the first name, in any text format."""
    data = Data(tmp_path)
    data.write("a.csv", "\ufeffmodel,step,loss\nA,0,1\n")
    data.write("b.jsonl", '\ufeff{"model": "A", "step": 0, "loss": 1}\n')
    data.write("c.json", '\ufeff[{"model": "A", "step": 0, "loss": 1}]')
    data.write("d.jsonl.gz", '\ufeff{"model": "A", "step": 0, "loss": 1}\n')
    data.write("e.json", '\ufeff{"model": ["A"], "step": [0], "loss": [1]}')
    for name in "abcde":
        assert list(data.frame(name).iloc[0]) == ["A", "", None, "loss", 0.0, 1.0]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends(tmp_path: Path, end: str) -> None:
    """Lines may end as on any system, ever."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\nA,0,1\nB,1,2\n".replace("\n", end))
    assert list(data.frame("a")["value"]) == [1, 2]


@pytest.mark.parametrize("text", ["model,step,loss\r\nA,0,1\nB,1,2\r\n", "model,step,loss\nA,0,1\r\nB,1,2"])
def test_mixed_line_ends(tmp_path: Path, text: str) -> None:
    """A file that two systems wrote to is read as if one had."""
    data = Data(tmp_path)
    data.write("a.csv", text)
    data.write("b.csv.gz", text)
    assert list(data.frame("a")["value"]) == list(data.frame("b")["value"]) == [1, 2]


def test_quotes(tmp_path: Path) -> None:
    """Commas, quotes and line breaks inside quotes belong to the cell."""
    data = Data(tmp_path)
    data.write("a.csv", '"model",step,"loss"\n"A, ""best""\nof all",0,1\n"B",1,"2"\n')
    assert list(data.frame("a")["series"]) == ['A, "best"\nof all', "B"]


def test_missing_and_non_finite_cells(tmp_path: Path) -> None:
    """Words for nothing are missing, NaN and infinity are values; which of them count is not decided here."""
    data = Data(tmp_path)
    words = [
        "",
        "NA",
        "n/a",
        "null",
        "None",
        "-",
        " na ",
        "#N/A",
        "<NA>",
        "Missing",
        "\u2013",
        "\u2014",
        "\u2212",
    ]
    values = ["nan", "NaN", "inf", "-Infinity", " 0.5 ", "1e3"]
    data.write("a.csv", "step,loss\n" + "".join(f"0,{cell}\n" for cell in words + values))
    data.write("b.jsonl", "".join(f'{{"step": 0, "loss": "{cell}"}}\n' for cell in words + values))
    for name in "ab":
        column = data.frame(name)["value"]
        assert column.isna().sum() == len(words) + 2
        assert list(column)[-4:] == [float("inf"), float("-inf"), 0.5, 1000.0]


def test_series_are_words_whatever_they_say(tmp_path: Path) -> None:
    """A series called None or NA is not a missing one."""
    data = Data(tmp_path)
    data.write("a.csv", "augmentation,step,loss\nNone,0,1\nNA,0,2\n1.0,0,3\n")
    data.write("a.source.yml", "columns: {series: augmentation}")
    assert list(data.frame("a")["series"]) == ["None", "NA", "1.0"]


def test_repeated_and_unsorted_steps_stay_as_written(tmp_path: Path) -> None:
    """A step written twice is there twice, in the order of writing; ``repeat: last`` keeps one."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\nA,2,9\nA,1,5\nA,2,7\n")
    data.write("a.source.yml", "repeat: last")
    source = data.open("a")
    (run,) = reduce(read_measurements(tmp_path, source, ("loss",)))["loss"].runs
    assert list(data.frame("a")["value"]) == [9, 5, 7]
    assert (list(run.steps), list(run.values)) == ([1, 2], [5, 7])


def test_runs_that_end_early(tmp_path: Path) -> None:
    """A run has the steps that it has."""
    data = Data(tmp_path)
    data.write("a.csv", "model,seed,step,loss\nA,1,0,9\nA,1,1,5\nA,2,0,7\n")
    assert data.frame("a").groupby("run").size().to_dict() == {"1": 2, "2": 1}


@pytest.mark.parametrize("filler", [3, MANY])
@pytest.mark.parametrize(
    ("name", "row", "last"),
    [
        ("a.csv", "A,#,1.5", "A,77"),
        ("a.csv", "A,#,1.5", "A"),
        ("a.csv", "A,#,1.5", "A,7,1e-"),
        ("a.csv", '"A",#,1.5', '"A'),
        ("a.csv", '"A",#,1.5', '"A",7'),
        ("a.csv", '1.5,#,"A\nB"', '1.5,7,"A'),
        ("a.jsonl", '{"model": "A", "step": #, "loss": 1.5}', '{"model": "A", "st'),
        ("a.json", '{"model": "A", "step": #, "loss": 1.5}', '{"model": "A", "st'),
    ],
)
def test_a_torn_last_line_is_left_out_and_told(
    tmp_path: Path, name: str, row: str, last: str, filler: int
) -> None:
    """What was being written when the run was killed is dropped, with file and line."""
    data = Data(tmp_path)
    header = {"A": "model,step,loss\n", '"': "model,step,loss\n", "1": "loss,step,model\n"}.get(row[0], "")
    text = header + many("", row, filler).removeprefix("\n") + last
    data.write(name, text)
    line = text.count("\n") + 1
    assert data.warnings("a") == [f"data/{name}:{line}: the last line is torn off and was left out."]
    assert data.open("a").warnings[0].severity is Severity.WARNING
    assert len(data.frame("a")) == filler


@pytest.mark.parametrize("filler", [3, MANY])
@pytest.mark.parametrize(
    ("header", "row", "last"),
    [
        ("model,step,loss", "A,#,1.5", "A,7,2"),
        ("model,step,loss", "A,#,1.5", "A,7,"),
        ("model,step,loss", "A,#,1.5", "A,7,NA"),
        ("model,step,loss", '"A",#,1.5', '"A\nB, C",7,2'),
        ("step,loss,model", '#,1.5,"A"', '7,2,"A\nB"'),
        ("step,loss,model", '#,1.5,"A"', "7,2,B"),
    ],
)
def test_a_last_line_without_an_end_is_a_row(
    tmp_path: Path, header: str, row: str, last: str, filler: int
) -> None:
    """A file need not end with a line end."""
    data = Data(tmp_path)
    data.write("a.csv", many(header, row, filler) + last)
    assert data.warnings("a") == []
    assert len(data.frame("a")) == filler + 1


def test_all_broken_files_are_told_together(tmp_path: Path) -> None:
    """Of forty files every problem of every file is told, also where each would come up at another time."""
    data = Data(tmp_path)
    for number in range(40):
        data.write(f"runs/{number:02}.csv", many("model,step,metric,value", f"{number},#,loss,1.5", 1_000))
    data.write("runs/07.csv", many("model,step,metric,value", "7,#,loss,1.5", 900) + "7,900\n7,901,loss,1\n")
    data.write("runs/13.csv", "")
    data.write("runs/21.csv.gz", b"x")
    (tmp_path / "data/runs/21.csv.gz").write_bytes(b"no gzip")
    data.write("runs/30.csv", b"model,step,metric,value\nA\xff,0,loss,1\n")
    assert data.problems("runs") == [
        (
            "data/runs/07.csv:902: the row has 2 cells where the header has 4."
            " Look for a missing delimiter or an open quote."
        ),
        "data/runs/13.csv: the file is empty. Remove it or write it again.",
        (
            "data/runs/21.csv.gz: its name says gzip, but it is not compressed so."
            " Compress it, or take .gz off its name."
        ),
        "data/runs/30.csv:2: the line has bytes that are not UTF-8. Save the file as UTF-8.",
    ]


@pytest.mark.parametrize("where", [0, 50, 4_321])
def test_a_word_among_numbers_is_told_with_its_line(tmp_path: Path, where: int) -> None:
    """A cell that is no number is an error with file, line, column and what was found."""
    data = Data(tmp_path)
    lines = many("model,step,metric,value", "A,#,loss,1.5").splitlines(keepends=True)
    lines[where + 1] = "A,0,loss,n/a?\n"
    data.write("s/a.csv", "".join(lines))
    lines[where + 1] = "A,0,loss,28.7?\n"
    data.write("s/b.csv", "".join(lines))
    data.write("s/c.csv", LONG)
    assert data.problems("s") == [
        f'data/s/a.csv:{where + 2}: "n/a?" in column "value" is not a number. {MEND}',
        f'data/s/b.csv:{where + 2}: "28.7?" in column "value" is not a number. {MEND}',
    ]


def test_words_in_other_formats_are_told_with_line_or_row(tmp_path: Path) -> None:
    """JSON has lines, too; Parquet and columns have numbered rows."""
    data = Data(tmp_path)
    data.write(
        "a.jsonl",
        '{"step": 0, "loss": 1}\n{"step": 1, "loss": true}\n{"step": 2, "loss": [1]}\n{"loss": 4}\n',
    )
    data.write("b.json", '[{"step": 0, "loss": 1},\n {"step": 1,\n "loss": "x"}, {"step": 2, "loss": 3}]')
    data.write("c.json", '{"step": [0, 1, 2], "loss": [1, 2, "x"]}')
    data.parquet("d.parquet", "FROM (VALUES (0, '1'), (1, 'x'), (2, '3')) AS t(step, loss)")
    assert data.problems("a") == [
        f'data/a.jsonl:2: "true" in column "loss" is not a number. {MEND}',
        f'data/a.jsonl:3: "[1]" in column "loss" is not a number. {MEND}',
    ]
    assert data.problems("b") == [f'data/b.json:2: "x" in column "loss" is not a number. {MEND}']
    assert data.problems("c") == [f'data/c.json: "x" in column "loss" of row 3 is not a number. {MEND}']
    assert data.problems("d") == [f'data/d.parquet: "x" in column "loss" of row 2 is not a number. {MEND}']


def test_of_very_many_problems_the_first_are_told(tmp_path: Path) -> None:
    """Five a file, and how many more there are."""
    data = Data(tmp_path)
    data.write("a.csv", many("model,step,metric,value", "A,#,loss,x#", 100))
    told = data.problems("a")
    assert len(told) == 6
    assert told[-1] == ("data/a.csv:7: there are 95 more problems like these in this file. Mend these first.")


@pytest.mark.parametrize(("cell", "kind"), [("ten", "number"), ("[1]", "number"), ("1,5", "number")])
def test_a_step_that_is_no_number(tmp_path: Path, cell: str, kind: str) -> None:
    """A word where the step should be is told like one among the values."""
    data = Data(tmp_path)
    data.write("a.csv", f'model,step,loss\nA,0,1\nA,"{cell}",2\n')
    assert data.problems("a") == [f'data/a.csv:3: "{cell}" in column "step" is not a {kind}. {MEND}']


def test_a_step_that_is_no_time(tmp_path: Path) -> None:
    """Among times a word is told with how times are written; so is one that no calendar has."""
    data = Data(tmp_path)
    data.write("a.csv", "step,loss\n2026-01-01,1\n2026-01-02,1\n31.1.2026,2\n")
    assert data.problems("a") == [
        (
            'data/a.csv:4: "31.1.2026" in column "step" is not a time.'
            " Write times as 2026-05-31 or 2026-05-31T12:00:00Z."
        )
    ]
    data.write("b.csv", "step,loss\n2026-01-01,1\n2026-02-30,1\n")
    assert data.problems("b")[0].startswith('data/b.csv:3: "2026-02-30" in column "step" is not a time.')


@pytest.mark.parametrize("text", ["", "model,step,loss\n", "model,step,loss", "model,step,loss\n\n"])
def test_no_rows(tmp_path: Path, text: str) -> None:
    """An empty file and one with only a header are errors."""
    data = Data(tmp_path)
    data.write("a.csv", text)
    assert len(data.problems("a")) == 1
    assert "Remove it or write it again" in data.problems("a")[0]


def test_a_row_of_another_length(tmp_path: Path) -> None:
    """Too few and too many cells are told with their lines, also far behind what was looked at."""
    data = Data(tmp_path)
    text = many("model,step,loss", "A,#,1.5")
    data.write("a.csv", text + 'A,1\nA,1,2,3\nA,"x\ny",2\n' + many("A,1,2", "A,#,1.5", 50))
    line = MANY + 2
    assert data.problems("a")[:2] == [
        (
            f"data/a.csv:{line}: the row has 2 cells where the header has 3."
            " Look for a missing delimiter or an open quote."
        ),
        (
            f"data/a.csv:{line + 1}: the row has 4 cells where the header has 3."
            " Look for a missing delimiter or an open quote."
        ),
    ]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Latin-1 and UTF-16 are told with the line and what to do, wherever they stand."""
    data = Data(tmp_path)
    far = many("model,step,loss", "A,#,1.5").encode()
    data.write("a.csv", far + b"\xe9t\xe9,1,2\n" + b"A,1,2\n" * 100)
    data.write("b.csv", "model,step,loss\nA,0,1\n".encode("utf-16"))
    data.write("c.jsonl", b'{"step": 0, "model": "\xe9", "loss": 1}\n')
    data.write("d.json", b'[{"step": 0},\n{"model": "\xe9", "loss": 1}]')
    told = "the line has bytes that are not UTF-8. Save the file as UTF-8."
    assert data.problems("a") == [f"data/a.csv:{MANY + 2}: {told}"]
    assert data.problems("b") == ["data/b.csv:1: the text is UTF-16, not UTF-8. Save it as UTF-8."]
    assert data.problems("c") == [f"data/c.jsonl:1: {told}"]
    assert data.problems("d") == [f"data/d.json:2: {told}"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.json", "a.csv.gz"])
def test_git_lfs_pointers(tmp_path: Path, name: str) -> None:
    """A pointer in place of the data says what to run."""
    data = Data(tmp_path)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    data.write(name, "x")
    (tmp_path / "data" / name).write_text(pointer)
    assert data.problems("a") == [
        (
            f"data/{name}: it is a Git LFS pointer, not the data themselves."
            " Run git lfs pull, and check out with LFS where the site is built."
        )
    ]


def test_compression_that_does_not_fit_the_name(tmp_path: Path) -> None:
    """Neither a .gz that is none nor a .csv that is compressed is read as garbage."""
    data = Data(tmp_path)
    for name, content in (
        ("a.csv.gz", b"model,step,loss\n"),
        ("b.csv.zst", gzip.compress(b"x")),
        ("c.csv", gzip.compress(b"x")),
    ):
        data.write("x", "")
        (tmp_path / "data" / name).write_bytes(content)
    assert data.problems("a")[0].startswith("data/a.csv.gz: its name says gzip, but it is not compressed so")
    assert data.problems("b")[0].startswith("data/b.csv.zst: its name says zstd, but it is not compressed so")
    assert data.problems("c") == [
        "data/c.csv: it is compressed with gzip, which its name does not say. Add .gz to its name."
    ]


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_files_that_end_early(tmp_path: Path, ending: str) -> None:
    """A stream that was cut is told, when it is opened or when it is read."""
    data = Data(tmp_path)
    noise = random.Random(1)  # noqa: S311 - seeded noise, so that it does not compress away
    rows = "".join(f"A,{step},{noise.random()}\n" for step in range(20_000))
    path = data.write(f"a.csv.{ending}", "model,step,loss\n" + rows)
    whole = path.read_bytes()
    for size in (100, len(whole) - 1_000):
        path.write_bytes(whole[:size])
        (told,) = data.problems("a")
        assert told.startswith(
            f"data/a.csv.{ending}: the {'gzip' if ending == 'gz' else 'zstd'} stream is damaged"
        )


def test_files_with_different_columns(tmp_path: Path) -> None:
    """Metrics of all files are there; what a file lacks is missing, and told."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,seed,step,loss\nA,1,0,1\n")
    data.write("s/b.csv", "model,step,acc,loss\nB,0,0.5,2\n")
    assert data.open("s").metrics == ("loss", "acc")
    assert data.warnings("s") == [
        'data/s/a.csv: the file has no column "acc", which others of the source have.',
        'data/s/b.csv: the file has no column "seed", which others of the source have.',
    ]
    assert len(data.frame("s")) == 3
    assert list(data.frame("s", "acc")["series"]) == ["B"]


def test_files_without_series_or_step(tmp_path: Path) -> None:
    """A file that lacks what every row needs is an error, told for every such file."""
    data = Data(tmp_path)
    data.write("s/a.csv", "model,step,loss\nA,0,1\n")
    data.write("s/b.csv", "Modell,step,loss\nB,0,2\n")
    data.write("s/c.csv", "model,schritt,loss\nB,0,2\n")
    advice = "Rename its columns, or leave the file out with files: in source.yml."
    assert data.problems("s") == [
        f'data/s/b.csv: the file has no column "model", which others of the source have. {advice}',
        f'data/s/c.csv: the file has no column "step", which others of the source have. {advice}',
    ]


def test_a_column_of_mixed_kinds_is_a_metric_only_if_numbers_prevail(tmp_path: Path) -> None:
    """A column of notes with a number in it is no metric; one of numbers with a note is, and is refused."""
    data = Data(tmp_path)
    data.write("a.csv", "step,note,loss\n0,fine,1\n1,7,oops\n2,bad,3\n")
    source = data.open("a")
    assert source.metrics == ("loss",)
    assert data.problems("a") == [f'data/a.csv:3: "oops" in column "loss" is not a number. {MEND}']
    assert list(read_raw_frame(tmp_path, source)["loss"]) == ["1", "oops", "3"]


def test_a_column_that_is_empty_at_first(tmp_path: Path) -> None:
    """A metric that is first written late in a large file is one of its metrics."""
    data = Data(tmp_path)
    data.write("a.csv", many("step,loss,eval", "#,1.5,") + "1,1,0.5\n")
    data.write("b.csv", "step,loss,eval\n0,1,\n")
    assert data.open("a").metrics == ("loss", "eval")
    assert list(data.frame("a", "eval")["value"]) == [0.5]
    assert data.open("b").metrics == ("loss",)


def test_names_that_no_sample_meets(tmp_path: Path) -> None:
    """A metric or series of a single row of a large file is found when it is asked for."""
    data = Data(tmp_path)
    rows = many("model,step,metric,value", "A,#,loss,1.5").splitlines(keepends=True)
    rows[4_000] = "B,0,rare,0.5\n"
    data.write("a.csv", "".join(rows))
    lines = many("", '{"model": "A", "step": #, "loss": 1.5}', 20_000).splitlines(keepends=True)
    lines[12_345] = '{"model": "B", "step": 0, "rare": 0.5}\n'
    data.write("b.jsonl", "".join(lines))
    for name in "ab":
        assert "rare" not in data.open(name).metrics
        assert list(data.frame(name, "rare")["value"]) == [0.5]
        assert list(data.frame(name, "rare", series=("B",))["value"]) == [0.5]
        assert 'has no metric "rar". Did you mean "rare"?' in data.problems(name, "rar")[0]


@pytest.mark.parametrize("sorted_by", ["metric", "model"])
def test_names_of_sorted_tables_are_met(tmp_path: Path, sorted_by: str) -> None:
    """A table made by melting a wide one is sorted by metric; all forty are found without reading it all."""
    data = Data(tmp_path)
    rows = [f"m{a:02},{step},k{b:02},1\n" for a in range(40) for b in range(2) for step in range(200)]
    if sorted_by == "metric":
        rows = [f"m{b:02},{step},k{a:02},1\n" for a in range(40) for b in range(2) for step in range(200)]
    data.write("a.csv", "model,step,metric,value\n" + "".join(rows))
    source = data.open("a")
    assert len(source.metrics) == (40 if sorted_by == "metric" else 2)
    assert len(read_measurements(tmp_path, source, source.metrics).order) == (
        2 if sorted_by == "metric" else 40
    )


def test_a_file_that_vanishes_is_told(tmp_path: Path) -> None:
    """A file that is removed between opening and reading is an error in words."""
    data = Data(tmp_path)
    path = data.write("a.csv", LONG)
    source = data.open("a")
    path.unlink()
    with pytest.raises(ReportError, match=r"data/a\.csv: the file cannot be read"):
        read_measurements(tmp_path, source, ("loss",))


def test_a_stray_quote_is_told_with_its_line(tmp_path: Path) -> None:
    """What only the database stumbles over is told in its words, at the line that it names."""
    data = Data(tmp_path)
    data.write("s/a.csv", 'model,step,loss\nA,0,1\n"A"b,1,2\nA,2,3\n')
    data.write("s/b.csv", "model,step,loss\nA,0,1\n" + "A" * 3_000_000 + ",1,2\n")
    assert data.problems("s") == [
        (
            "data/s/a.csv:3: the row cannot be read: value with unterminated quote found."
            " Look for a stray quote or an overlong line."
        )
    ]
    (tmp_path / "data/s/a.csv").unlink()
    assert data.problems("s")[0].startswith("data/s/b.csv:3: the row cannot be read: maximum line size of")


def test_what_nobody_can_explain_is_told_at_the_source(tmp_path: Path) -> None:
    """A failure that no row accounts for names the source and what the database says."""
    data = Data(tmp_path)
    path = data.parquet("a.parquet", "SELECT i AS step, i AS loss FROM range(5000) AS t(i)")
    table = read_measurements(tmp_path, data.open("a"), ("loss",))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ReportError, match=r"data/a\.parquet: the data cannot be read: "), table.reading():
        reduce(table)


MERGED = {
    "a.csv": ("model,step,loss\nA,0,1\n", "A,1,{}\n"),
    "a.tsv": ("model\tstep\tloss\nA\t0\t1\n", "A\t1\t{}\n"),
    "one.csv": ("loss\n1\n", "{}\n"),
    "header.csv": ("", "model,step,{}\n"),
    "a.jsonl": ('{"step": 0, "loss": 1}\n', '{{"step": 1, "loss": {}}}\n'),
    "a.json": ('[{"step": 0, "loss": 1},\n', '{{"step": 1, "loss": {}}}]\n'),
    "a/rows.yaml": ("- step: 0\n  loss: 1\n", "- {{step: 1, loss: {}}}\n"),
    "a/source.yml": ("title: A\n", "description: {}\n"),
    "a/version_0/metrics.csv": ("epoch,step,loss\n0,0,1\n", "0,1,{}\n"),
    "a/verl.jsonl": ('{"step": 0, "data": {"loss": 1}}\n', '{{"step": 1, "data": {{"loss": {}}}}}\n'),
}


@pytest.mark.parametrize("name", MERGED)
def test_marks_of_a_merge_are_named_with_the_line_of_the_first(tmp_path: Path, name: str) -> None:
    """Once for each file, instead of what is wrong with such a row."""
    data = Data(tmp_path)
    before, line = MERGED[name]
    merged = f"<<<<<<< HEAD\n{line.format(2)}=======\n{line.format(3)}>>>>>>> other\n"
    data.write(name, before + merged)
    if name == "a/source.yml":
        data.write("a/a.csv", "step,loss\n0,1\n")
    place = f"data/{name}:{before.count(chr(10)) + 1}"
    step = "Keep one of the two versions, and remove the lines with the marks."
    source = name.partition("/")[0].partition(".")[0]
    assert data.problems(source) == [f"{place}: this line is a merge conflict mark of Git. {step}"]


def test_a_merge_deep_in_a_large_table_is_named(tmp_path: Path) -> None:
    """Also where no sample reaches, when the rows are read."""
    data = Data(tmp_path)
    rows = [f"{step},0.5\n" for step in range(200_000)]
    rows.insert(150_000, "<<<<<<< HEAD\n")
    data.write("a.csv", f"step,loss\n{''.join(rows)}")
    assert [one.split(". ")[0] for one in data.problems("a")] == [
        "data/a.csv:150002: this line is a merge conflict mark of Git"
    ]


def test_an_answer_may_show_a_merge(tmp_path: Path) -> None:
    """In a cell of several lines, as models write edits."""
    data = Data(tmp_path)
    edit = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"
    data.write("a.csv", f'model,step,loss,response\nA,0,1,"{edit}"\nA,1,2,no\n')
    assert list(data.frame("a", "loss")["value"]) == [1, 2]
