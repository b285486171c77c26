"""Series and seeds in the names of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_sources import Data

from reportgen.core.cache import FileHashes
from reportgen.draft import describing

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.statements import Description

TABLE = "step,loss\n0,2\n1,1\n"
ANSWERS = "problem,correct\np1,1\np2,0\n"


def tables(tmp_path: Path, *names: str, content: str = TABLE) -> Data:
    """The source ``s`` of tables that are called so."""
    data = Data(tmp_path)
    for name in names:
        data.write(f"s/{name}", content)
    return data


def described(data: Data, path: str = "data/s") -> Description:
    """A source."""
    return describing.describe_path(data.root / path, data.root, "s", FileHashes(data.root / ".kept"), None)


def named(data: Data, path: str = "data/s") -> list[tuple[str, str | None]]:
    """Series and seed of each run."""
    counts = described(data, path).counts
    runs = [(one.series, one.seed) for one in counts.runs]
    return [*runs, *((one.series, one.seed) for one in counts.evaluations)]


@pytest.mark.parametrize(
    ("names", "expected", "files"),
    [
        (
            "base_seed1.csv base_seed2.csv new_seed1.csv",
            [("base", "1"), ("base", "2"), ("new", "1")],
            "(?P<series>.+)_seed(?P<seed>[0-9]+)[.]csv",
        ),
        (
            "base/seed_1.csv base/seed_2.csv new/seed_3.csv",
            [("base", "1"), ("base", "2"), ("new", "3")],
            "(?P<series>.+)/seed_(?P<seed>[0-9]+)[.]csv",
        ),
        (
            "seed=0/base.csv seed=0/new.csv seed=1/base.csv",
            [("base", "0"), ("new", "0"), ("base", "1")],
            "seed=(?P<seed>[0-9]+)/(?P<series>.+)[.]csv",
        ),
        (
            "a-s1.jsonl a-s2.jsonl b-s1.jsonl",
            [("a", "1"), ("a", "2"), ("b", "1")],
            "(?P<series>.+)-s(?P<seed>[0-9]+)[.]jsonl",
        ),
        ("a_s1.csv a_s2.csv baseline.csv", [("a", "1"), ("a", "2"), ("baseline", None)], ""),
        ("seed1.csv seed2.csv", [("s", "1"), ("s", "2")], ""),
        ("a_seed01.csv a_seed02.csv", [("a", "1"), ("a", "2")], ""),
    ],
)
def test_seeds_in_file_names(
    tmp_path: Path, names: str, expected: list[tuple[str, str | None]], files: str
) -> None:
    """They are found, told as a guess, and settled by the pattern that the message has."""
    content = '{"step": 0, "loss": 2}\n{"step": 1, "loss": 1}\n' if ".jsonl" in names else TABLE
    data = tables(tmp_path, *names.split(), content=content)
    assert named(data) == expected
    (warning,) = data.warnings("s")
    assert "series and seeds come from the names of files: " in warning
    confirmed = f"or change it with files: {files}" if files else "it with series_from: name"
    assert f"Confirm {confirmed} in source.yml" in warning
    told = described(data)
    assert (told.series_by, told.seed_by) == ("the names of files", "the names of files")
    assert told.settings.get("files", "") == files
    if files:
        data.write("s/source.yml", describing.suggest_settings(told)["settled"])
        assert (named(data), data.warnings("s")) == (expected, [])


@pytest.mark.parametrize("content", [TABLE, ANSWERS])
def test_answers_and_frozen_tables_keep_the_seeds(tmp_path: Path, content: str) -> None:
    """Tables of outcomes are named so, too, and what is frozen has the names as columns."""
    data = tables(tmp_path, "base_seed1.csv", "base_seed2.csv", content=content)
    assert named(data) == [("base", "1"), ("base", "2")]
    assert call(data.root, "freeze", "data/s", "--to", "frozen").returncode == 0
    assert named(data, "frozen") == named(data)


@pytest.mark.parametrize(
    ("names", "content"),
    [
        ("base_seed1.csv base_seed2.csv", "model,step,loss\nA,0,2\nA,1,1\n"),
        ("base_seed1.csv base_seed2.csv", "seed,step,loss\n7,0,2\n7,1,1\n"),
        ("a-seed1.csv a_seed1.csv", TABLE),
        ("seedling1.csv seedling7.csv", TABLE),
        ("base_seed1.csv", TABLE),
    ],
    ids=["a column of series", "a column of seeds", "twice the same", "no seeds", "one file"],
)
def test_nothing_is_taken_apart_without_need(tmp_path: Path, names: str, content: str) -> None:
    """What columns tell stands, and nothing is told of it."""
    data = tables(tmp_path, *names.split(), content=content)
    assert [one for one in data.warnings("s") if "differ only in case" not in one] == []
    assert {seed for _, seed in named(data)} <= {None, "7"}


@pytest.mark.parametrize("names", ["lr=0.1.csv lr=0.2.csv lr=0.3.csv", "lr_1e-1.csv lr_1e-2.csv"])
def test_a_part_of_a_value_counts_no_repetitions(tmp_path: Path, names: str) -> None:
    """Rates are series, and nothing has to be settled."""
    data = tables(tmp_path, *names.split())
    assert described(data).series == tuple(name.removesuffix(".csv") for name in names.split())
    assert data.warnings("s") == []


def test_numbers_that_may_count_repetitions(tmp_path: Path) -> None:
    """Series stay as the files are called, and the message says what to write in either case."""
    data = tables(tmp_path, "base_1.csv", "base_2.csv", "new_1.csv")
    assert described(data).series == ("base_1", "base_2", "new_1")
    (warning,) = data.warnings("s")
    assert warning == (
        "data/s: each of 3 files is a series of its own, though numbers alone tell some apart. If these "
        "count repetitions, say files: (?P<series>.+)_(?P<run>[0-9]+)[.]csv in source.yml, if they are "
        "seeds with seed in place of run; if neither, say files: (?P<series>.+)[.]csv."
    )
    pattern = "(?P<series>.+)_(?P<run>[0-9]+)[.]csv"
    for files, series in (
        (pattern, ("base", "new")),
        (pattern.replace("run", "seed"), ("base", "new")),
        ("(?P<series>.+)[.]csv", ("base_1", "base_2", "new_1")),
    ):
        data.write("s/source.yml", f"files: {files}\n")
        assert (described(data).series, data.warnings("s")) == (series, [])
