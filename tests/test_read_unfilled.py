"""Files that hold nothing yet, a pointer of Git LFS, or one endless line: told as what they are."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from test_read_logged_rows import KERAS, LIGHTNING
from test_read_logged_rows import only_csv as only
from test_read_logged_rows import told_csv as told
from test_read_logged_rows import write_csv as write

from reportgen.formats.runs import UnreadableError
from reportgen.formats.text_files import read_lines
from reportgen.formats.trackers import metrics_csv, step_json

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty: the run has no settings from it"),
        ("- 1\n- 2\n", "the file holds no names with values: the run has no settings from it"),
        ("words\n", "the file holds no names with values: the run has no settings from it"),
        ("{}\n", ""),
    ],
)
def test_settings_that_set_nothing_are_told(tmp_path: Path, text: str, words: str) -> None:
    """But for those of a run without any, which Lightning writes as an empty tree."""
    csv = write(tmp_path / "metrics.csv", LIGHTNING)
    _, run = only(csv, write(tmp_path / "hparams.yaml", text))
    assert (told(run), run.config) == ([words] if words else [], {})


@pytest.mark.parametrize("text", ["", "version https://git-lfs.github.com/spec/v1\n", "epo"])
def test_files_that_hold_nothing_are_runs(tmp_path: Path, text: str) -> None:
    """Where Lightning puts them, or beside others and with their ending; anything else may be empty."""
    lightning = write(tmp_path / "version_0" / "metrics.csv", text)
    keras, alike = write(tmp_path / "a.csv", KERAS), write(tmp_path / "b.csv", text)
    others = [write(tmp_path / name, text) for name in ("a.tsv", "b.log", "x/a.csv", "metrics.csv")]
    assert metrics_csv.find_units([alike, *others[:3]]) == ()
    assert [unit.files[0] for unit in metrics_csv.find_units([lightning, keras, alike, *others[:3]])] == [
        lightning,
        keras,
        alike,
    ]
    with pytest.raises(UnreadableError):
        only(lightning)


@pytest.mark.parametrize("text", ["", "version https://git-lfs.github.com/spec/v1\n", '{"step": 1, "da'])
def test_files_beside_that_hold_nothing_are_runs(tmp_path: Path, text: str) -> None:
    """Only where they lie and end as those that were found: anything may be empty elsewhere."""
    found = write(tmp_path / "a" / "a.jsonl", '{"step": 1, "data": {"loss": 0.5}}\n')
    alike, other, elsewhere = (write(tmp_path / name, text) for name in ("a/b.jsonl", "a/b.csv", "b/a.jsonl"))
    assert [unit.path for unit in step_json.find_units([found, alike, other, elsewhere])] == [found, alike]
    assert step_json.find_units([alike]) == ()


def test_an_endless_line_fits_into_memory(tmp_path: Path) -> None:
    """As of a file that was not written to its end: what is looked at is held twice at most."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(400 << 20)
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="the line is longer than 128 MiB"):
        list(read_lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6
