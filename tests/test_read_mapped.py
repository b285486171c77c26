"""A mapping: JSON of any shape as a table, by where its rows and columns are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_sources import Data

from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.formats.tables.json_path import PathError, parse_path
from reportgen.read import open_source, read_outcomes
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

EVALUATION = {
    "model": "Base",
    "seed": 3,
    "results": [
        {"id": "p1", "meta": {"subject": "algebra"}, "judge": {"correct": True}},
        {"id": "p2", "meta": {"subject": "geometry"}, "judge": {"correct": False}},
        {"id": "p3", "meta": {}, "judge": {"correct": None}},
    ],
}
MAPPING = """
format: mapped
rows: $.results[*]
columns: {problem: $.id, score: $.judge.correct, series: ^.model, seed: ^.seed}
fields: {subject: $.meta.subject}
"""


def made(tmp_path: Path, settings: str, **files: Any) -> Data:  # noqa: ANN401 - whatever JSON holds
    """A source ``s`` with settings and JSON files."""
    data = Data(tmp_path)
    for name, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value)
        data.write(f"s/{name.replace('_', '.')}", text)
    data.write("s/source.yml", settings)
    return data


def told(data: Data) -> list[str]:
    """What is told of a source that cannot be opened."""
    with pytest.raises(ReportError) as caught:
        data.open("s")
    return [str(problem) for problem in caught.value.problems]


def rows_of(data: Data, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of the outcomes of the source ``s``."""
    table = read_outcomes(data.root, data.open("s"))
    with table.reading():
        picked = table.frame.to_native().order('"row"').project(", ".join(columns))
        found: list[tuple[Any, ...]] = picked.fetchall()
    return found


def test_outcomes_of_an_unknown_shape(tmp_path: Path) -> None:
    """Five lines of settings make a table of outcomes out of nested results."""
    data = made(tmp_path, MAPPING, a_json=EVALUATION, b_json={**EVALUATION, "model": "Long"})
    source = data.open("s")
    assert (source.kind, source.slices, source.warnings) == ("outcomes", ("subject",), ())
    assert [file.path for file in source.files] == ["data/s/a.json", "data/s/b.json"]
    expected = [("Base", "3", "p1", 1.0, "algebra"), ("Base", "3", "p2", 0.0, "geometry")]
    assert rows_of(data, "series", "seed", "problem", "score", "subject")[:2] == expected
    assert len(rows_of(data, "series")) == 6


def test_measurements_of_json_lines(tmp_path: Path) -> None:
    """A line is a row where nothing else is said, and further fields are metrics."""
    lines = "".join(json.dumps({"at": {"step": step}, "m": [step / 2, 1]}) + "\n" for step in range(3))
    settings = "format: mapped\ncolumns: {step: $.at.step}\nfields: {loss: '$.m[0]'}\n"
    frame = made(tmp_path, settings, run_jsonl=lines).frame("s")
    assert list(frame["value"]) == [0.0, 0.5, 1.0]
    assert set(frame["metric"]) == {"loss"}


def test_an_answer_a_row_of_lists_within_objects(tmp_path: Path) -> None:
    """Rows below rows know what stands around them, and the keys that lead there."""
    document = {
        "model": "M",
        "by problem": {"p1": {"answers": [1, 0], "level": 2}, "p2": {"answers": [0]}, "p3": {}},
    }
    settings = (
        "format: mapped\nrows: '$[\"by problem\"][*].answers[*]'\n"
        "columns: {problem: ^@, sample: '@', score: $, series: ^^.model}\nfields: {level: ^.level}\n"
    )
    data = made(tmp_path, settings, a_json=document)
    expected = [("p1", "0", 1.0, "M", "2"), ("p1", "1", 0.0, "M", "2"), ("p2", "0", 0.0, "M", None)]
    assert rows_of(data, "problem", "sample", "score", "series", "level") == expected


@pytest.mark.parametrize(
    ("path", "rows", "message"),
    [
        ("id", False, "does not begin with $, ^ or @, as in $.id"),
        ("^.x", True, "does not begin with $, as in $.^.x"),
        ("$.a..b", False, 'cannot be understood from "..b" on'),
        ("$.a[", False, 'cannot be understood from "[" on'),
        ("$[*].a", False, "has [*], which only rows: can have"),
        ("$.a[@]", True, "has [@], which only columns can have"),
        ("$[-1]", False, 'cannot be understood from "[-1]" on'),
    ],
)
def test_what_is_no_path(path: str, message: str, *, rows: bool) -> None:
    """Each fault names the place from which it cannot be understood."""
    with pytest.raises(PathError) as caught:
        parse_path(path, rows=rows)
    assert str(caught.value) == message


def test_all_paths_that_are_wrong_are_told(tmp_path: Path) -> None:
    """Rows and columns at once, each by its key."""
    advice = 'Write it as in $.meta.subject, $["a key"] or $.scores[0].'
    settings = "format: mapped\nrows: results\ncolumns: {problem: id, score: $.x}\n"
    assert told(made(tmp_path, settings, a_json=EVALUATION)) == [
        f'data/s/source.yml: rows: "results" does not begin with $, as in $.results. {advice}',
        f'data/s/source.yml: columns: problem: "id" does not begin with $, ^ or @, as in $.id. {advice}',
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("$.resuls[*]", 'rows: "$.resuls[*]" finds no resuls; there are model, seed and results'),
        (
            "$.model[*]",
            'rows: "$.model[*]" needs a list or an object at model for [*], where there is a text',
        ),
        ("$.results[*].judges[*]", 'rows: "$.results[*].judges[*]" finds no rows'),
    ],
)
def test_rows_that_are_not_there(tmp_path: Path, rows: str, message: str) -> None:
    """The file is named, what it has, and the key to mend."""
    settings = f"format: mapped\nrows: {rows}\ncolumns: {{problem: $.id, score: $.x}}\n"
    (problem,) = told(made(tmp_path, settings, a_json=EVALUATION))
    assert problem.startswith(f"data/s/a.json: {message}. Mend rows: in source.yml")


def test_a_column_that_no_row_has(tmp_path: Path) -> None:
    """The path is named with what a row has; a column that only some rows lack is fine."""
    data = made(tmp_path, MAPPING.replace("$.id", "$.idd"), a_json=EVALUATION)
    (problem,) = told(data)
    assert problem.endswith('the column "problem", finds nothing in any row. A row has id, meta and judge.')


def test_lists_side_by_side_are_columns(tmp_path: Path) -> None:
    """The item of another list at the row's own place; one that is too short has none."""
    document = [{"id": "p", "answers": ["4", "5"], "correct": [1, 0], "tokens": {"0": 7}, "cost": [3]}]
    settings = (
        "format: mapped\nrows: '$[*].correct[*]'\n"
        "columns: {problem: ^.id, sample: '@', score: $, answer: '^.answers[@]', cost: '^.cost[@]'}\n"
        "fields: {named: '^.tokens[@]'}\n"
    )
    data = made(tmp_path, settings, a_json=document)
    found = rows_of(data, "sample", "score", "answer", "cost", "named")
    assert found == [("0", 1.0, "4", 3.0, "7"), ("1", 0.0, "5", None, None)]


def test_a_column_of_lists_is_told(tmp_path: Path) -> None:
    """Its items may be the rows; a column that holds a list in some rows alone is told at its cell."""
    document = {"results": [{"id": 1, "scores": [1, 0]}, {"id": 2, "scores": [1]}]}
    settings = "format: mapped\nrows: $.results[*]\ncolumns: {problem: $.id, score: $.scores}\n"
    message = '"$.scores", the column "score", is a list or an object in every row. Select one value, as in'
    advice = "$.scores[0] or $.scores.name, or make its items the rows, with rows: $.results[*].scores[*]."
    assert told(made(tmp_path, settings, a_json=document)) == [f"data/s/source.yml: {message} {advice}"]


def test_a_file_without_rows_is_told_and_others_are_read(tmp_path: Path) -> None:
    """A run that has no results yet is no fault of the mapping; where no file has any it is one."""
    data = made(tmp_path, MAPPING, a_json=EVALUATION, b_json={**EVALUATION, "results": []})
    alone = made(tmp_path / "alone", MAPPING, a_json=EVALUATION)
    assert rows_of(data, "problem") == rows_of(alone, "problem")
    assert data.warnings("s") == ['data/s/b.json: rows: "$.results[*]" finds no rows.']


def test_rows_that_are_no_objects_are_told_as_what_they_are(tmp_path: Path) -> None:
    """Without rows: the values of an object are taken for rows."""
    settings = "format: mapped\ncolumns: {problem: $.id, score: $.score}\n"
    problems = told(made(tmp_path, settings, a_json={"results": [{"id": 1, "score": 1}]}))
    assert len(problems) == 2
    assert problems[0].endswith(
        "finds nothing in any row. A row is a list. Say where they are, as in rows: $.results[*]."
    )


def test_a_name_stands_for_one_column(tmp_path: Path) -> None:
    """A field of the name of a column would take its place."""
    settings = "format: mapped\ncolumns: {step: $.s}\nfields: {step: $.l, loss: $.l}\n"
    assert told(made(tmp_path, settings, a_json=[{"s": 1, "l": 2}])) == [
        "data/s/source.yml: fields: step: is already a column. Give it another name."
    ]


def test_cells_that_are_wrong_are_told_at_their_file(tmp_path: Path) -> None:
    """The rows lie in the cache, but a person has the file."""
    document = {**EVALUATION, "results": [{"id": "p", "judge": {"correct": "perhaps"}}]}
    data = made(tmp_path, MAPPING.replace("fields: {subject: $.meta.subject}\n", ""), a_json=document)
    with pytest.raises(ReportError) as caught:
        rows_of(data, "score")
    assert str(caught.value).startswith('data/s/a.json: "perhaps" in column "score" of row 1 is not a score')


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    """Whole lines count, and the tear is told; a bad line before it is an error with its number."""
    settings = "format: mapped\ncolumns: {step: $.s}\nfields: {loss: $.l}\n"
    data = made(tmp_path, settings, a_jsonl='{"s": 1, "l": 2}\n{"s": 2, "l"')
    assert data.warnings("s") == ["data/s/a.jsonl:2: the last line is torn off and was left out."]
    assert list(data.frame("s")["value"]) == [2.0]
    data = made(tmp_path, settings, a_jsonl='{"s": 1, "l": 2}\n{"s"\n{"s": 3, "l": 4}\n')
    assert told(data) == ["data/s/a.jsonl:2: the line is not JSON. Mend or remove it."]


def test_a_mapping_and_its_format_go_together(tmp_path: Path) -> None:
    """Rows without the format, and the format without columns, are told at the settings."""
    (problem,) = told(made(tmp_path, "rows: $.a[*]\n", a_json=EVALUATION))
    assert "rows and fields go with format: mapped" in problem
    (problem,) = told(made(tmp_path, "format: mapped\n", a_json=EVALUATION))
    assert "format: mapped needs columns" in problem


def test_rows_are_read_once(tmp_path: Path) -> None:
    """A second opening takes them from the cache, until the file or the mapping changes."""
    data = made(tmp_path, MAPPING, a_json=EVALUATION)
    cache = Cache(tmp_path / "cache")

    def opened() -> tuple[int, int]:
        cache.hits = cache.misses = 0
        open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache)
        return cache.hits, cache.misses

    assert [opened(), opened()] == [(0, 1), (1, 0)]
    data.write("s/source.yml", MAPPING.replace("$.meta.subject", "$.id"))
    assert opened() == (0, 1)


def test_characters_cut_in_half_are_replaced(tmp_path: Path) -> None:
    """JSON can hold half of a surrogate pair, UTF-8 cannot."""
    document = [{"id": "p\ud83d", "score": 1}]
    data = made(tmp_path, "format: mapped\ncolumns: {problem: $.id, score: $.score}\n", a_json=document)
    assert rows_of(data, "problem") == [("p?",)]
