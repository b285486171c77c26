"""An unchanged source is not looked at again, and is understood as it was."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import duckdb
import pytest

from reportgen.core.cache import Cache
from reportgen.read import open_source, sources
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.settings.inputs import Source

LONG = "model,seed,step,metric,value\nMEL,1,0,loss,0.5\nMEL,1,1,loss,0.25\nbase,1,0,acc,1\n"
WIDE = "model,step,reward,loss\nMEL,0,0.1,2.0\nMEL,1,,1.0\n"
OUTCOMES = "model,benchmark,problem,score,level\nMEL,AIME,p,1,easy\nMEL,MATH,p,0.5,hard\n"


def opened(root: Path, name: str = "runs") -> Source:
    """The source, with what earlier openings kept."""
    cache = Cache(root / "cache")
    return open_source(root, "data", name, load_settings=load_source_settings, cache=cache)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder for data files."""
    folder = tmp_path / "data" / "runs"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, form: str) -> None:
    """The same kind of data in one of several forms."""
    if form == "parquet":
        rows = "SELECT 'MEL' AS model, 1 AS step, 0.5 AS loss"
        duckdb.sql(f"COPY ({rows}) TO '{folder / 'a.parquet'}' (FORMAT parquet)")
    elif form == "gzip":
        (folder / "a.csv.gz").write_bytes(gzip.compress(LONG.encode()))
    elif form == "settings":
        (folder / "a.csv").write_text(WIDE)
        (folder / "source.yml").write_text("title: Runs\nrename: {MEL: ours}\nmetrics: [loss]\n")
    elif form == "jsonl":
        (folder / "a.jsonl").write_text('{"model": "MEL", "step": 1, "loss": 0.5}\n')
    elif form == "outcomes":
        (folder / "a.csv").write_text(OUTCOMES)
        (folder / "source.yml").write_text("score_range: [0, 2]\nprotocol: {samples: 2}\n")
    else:
        (folder / "a.csv").write_text(LONG)
        (folder / "b.tsv").write_text(LONG.replace(",", "\t"))


@pytest.mark.parametrize("form", ["text", "gzip", "jsonl", "parquet", "settings", "outcomes"])
def test_the_second_opening_looks_at_nothing(data: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And gives the same source, with the same way to read it."""
    write(data, form)
    root = data.parents[1]
    first = opened(root)
    monkeypatch.setattr(sources, "survey", None)
    second = opened(root)
    assert second == first
    assert not first.warnings
    assert second.layout == first.layout


def test_a_changed_file_is_looked_at(data: Path) -> None:
    """By its content, not by its name."""
    (data / "a.csv").write_text(WIDE)
    assert opened(data.parents[1]).metrics == ("reward", "loss")
    (data / "a.csv").write_text(WIDE.replace("reward", "return"))
    assert opened(data.parents[1]).metrics == ("return", "loss")


def test_changed_settings_count(data: Path) -> None:
    """Though no data file changed."""
    (data / "a.csv").write_text(WIDE)
    opened(data.parents[1])
    (data / "source.yml").write_text("metrics: [loss]\n")
    assert opened(data.parents[1]).metrics == ("loss",)


def test_what_was_handled_is_told_every_time(data: Path) -> None:
    """A torn line is a warning of the second build, too."""
    (data / "a.csv").write_text(WIDE + "MEL,2,0.")
    assert len(opened(data.parents[1]).warnings) == len(opened(data.parents[1]).warnings) == 1


def test_outcomes_are_known_again(data: Path) -> None:
    """With their benchmarks, what they can be sliced by, and their range."""
    write(data, "outcomes")
    opened(data.parents[1])
    again = opened(data.parents[1])
    assert (again.kind, again.benchmarks, again.slices) == ("outcomes", ("AIME", "MATH"), ("level",))
    assert again.score_range == (0.0, 2.0)
