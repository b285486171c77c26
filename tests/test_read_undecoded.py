"""Bytes that are not UTF-8 and integers beyond 64 bits, in every kind of file: right numbers or a place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import call
from made_projects import SETTINGS, write_report


# Each with one place for broken bytes; the first two have it in the header.
def test_a_run_in_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """A log is read, with a mark for each byte of its name that is no text."""
    write_named(tmp_path / "runs", '{"step": 0, "data": {"loss": 1}}\n', b".jsonl")
    described = json.loads(call(tmp_path, "describe", "runs", "--format", "json").stdout)
    assert [run["series"] for run in described["runs"]] == ["a", "b?"]


def test_a_table_in_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """The database cannot open it, so the file is named."""
    write_named(tmp_path / "runs", "step,loss\n0,1\n1,2\n", b".csv")
    done = call(tmp_path, "describe", "runs")
    assert "runs/b?.csv: error: the name of the file has bytes that are not UTF-8. Rename it." in done.stdout
    assert done.returncode == 1


def write_named(folder: Path, text: str, ending: bytes) -> None:
    """Write a text into two files, one of which has a Latin-1 name."""
    folder.mkdir()
    for name in (b"a", b"b\xe9"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name + ending)).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("value", ["9" * 5000, "2026-02-30"], ids=["integer", "day"])
def test_a_value_that_mkdocs_cannot_read(tmp_path: Path, value: str) -> None:
    """Its reader of YAML raises whatever Python does."""
    write_report(tmp_path, {"mkdocs.yml": f"{SETTINGS}extra: {{x: {value}}}\n"})
    done = call(tmp_path, "check")
    line = SETTINGS.count("\n") + 1
    assert f"mkdocs.yml:{line}: error: MkDocs cannot read this value: " in done.stdout
    assert done.returncode == 1


def test_a_page_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """Its name would be an address."""
    write_report(tmp_path)
    page = tmp_path / "content/index.md"
    page.rename(os.fsdecode(os.fsencode(page.parent) + b"/b\xe9.md"))
    done = call(tmp_path, "check")
    assert (
        "content/b?.md: error: the name of this file has bytes that are not UTF-8. Rename it." in done.stdout
    )
    assert done.returncode == 1
