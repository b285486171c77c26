"""Bytes that are not UTF-8 and integers beyond 64 bits, in every kind of file: right numbers or a place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import call
from made_projects import SETTINGS, write_report

BROKEN = (b"\xff", b"\xe9", b"\0\xff", b"\xff\0", b"\xed\xa0\x80")
# Each with one place for broken bytes; the first two have it in the header.
TEXTS = {
    "header.csv": b"series,step,loss@\na,0,1\na,1,2\n",
    "wide.csv": b"Model,GPQA@,MMLU\nElm,51.2,70.1\nFir,48.1,65.2\n",
    "cell.tsv": b"series\tstep\tloss\na\t0\t1\na@\t1\t2\n",
    "answers.csv": b"series,problem,score,answer\na,p1,1,x\na,p2,0,y@\n",
    "rows.jsonl": b'{"step": 0, "loss": 1}\n{"step": 1, "loss": 2, "note": "@"}\n',
    "rows.json": b'[{"step": 0, "loss": 1},\n {"step": 1, "loss": 2, "note@": 1}]\n',
    "rows.yaml": b"- {step: 0, loss: 1}\n- {step: 1, loss: 2, note: x@}\n",
}
LARGE = (2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**300)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("broken", BROKEN, ids=ascii)
def test_broken_characters_have_a_line(tmp_path: Path, name: str, broken: bytes) -> None:
    """Also beside NUL, and in headers, which are read before any row."""
    before, after = TEXTS[name].split(b"@")
    (tmp_path / name).write_bytes(before + broken + after)
    done = call(tmp_path, "describe", name)
    line = before.count(b"\n") + 1
    assert f"{name}:{line}: error: the line has bytes that are not UTF-8" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "yaml"])
@pytest.mark.parametrize("large", LARGE)
def test_large_steps_are_numbers(tmp_path: Path, form: str, large: int) -> None:
    """A step beyond 64 bits, as each format writes integers."""
    steps = sorted((0, 1, 2, large))
    texts = {
        "csv": "step,loss\n" + "".join(f"{step},0.5\n" for step in steps),
        "json": json.dumps([{"step": step, "loss": 0.5} for step in steps]),
        "jsonl": "".join(json.dumps({"step": step, "loss": 0.5}) + "\n" for step in steps),
        "yaml": "".join(f"- {{step: {step}, loss: 0.5}}\n" for step in steps),
    }
    (tmp_path / f"a.{form}").write_text(texts[form], encoding="utf-8")
    done = call(tmp_path, "describe", f"a.{form}", "--format", "json")
    (metric,) = json.loads(done.stdout)["metrics"]
    assert (metric["first"], metric["last"]) == (float(steps[0]), float(steps[-1]))
    assert metric["without_step"] == 0


@pytest.mark.parametrize("large", LARGE)
def test_large_settings_stay_apart(tmp_path: Path, large: int) -> None:
    """Seeds that a double would make equal are two runs."""
    for seed in (large, large + 1):
        folder = tmp_path / f"runs/{str(seed)[-9:]}"
        folder.mkdir(parents=True)
        (folder / "log.csv").write_text("step,loss\n0,1\n1,2\n", encoding="utf-8")
        (folder / "config.json").write_text(json.dumps({"seed": seed}), encoding="utf-8")
    described = json.loads(call(tmp_path, "describe", "runs", "--format", "json").stdout)
    assert {run["seed"] for run in described["runs"]} == {str(large), str(large + 1)}


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
