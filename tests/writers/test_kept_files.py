"""The small files of ``tests/data``: they are what their scripts write, and tell nothing of a machine."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_files import copy_kept

from reportgen.formats.archive import open_archive
from writers.writing import assert_evaluated, assert_read, read_evaluations, read_runs, written

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = Path(__file__).parents[1] / "data"
PACKED = ".gz"
# Databases begin as hundreds of kilobytes of empty pages.
TO_PACK = {".db"}
README = """# Files by {writers}

Written by `tests/writers/write_{form}.py` with {versions}.
Read by `tests/test_read_mutated.py`. `make test-writers ACCEPT=1` writes them anew.
Databases are packed with gzip.
"""
LOGGERS = ["dvclive", "mlflow_files", "mlflow_sqlite", "tensorboard", "trackio", "wandb"]
LARGEST = 100_000
MACHINE = re.compile(rb"/(?:tmp|work|home|root|Users)/|pytest")


@pytest.mark.parametrize("form", LOGGERS)
def test_kept_runs_are_what_their_script_logs(
    form: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Whoever changes a script accepts what it writes; a new version of a writer need not be accepted."""
    fresh = written(form, tmp_path / "fresh", small=True)
    assert_read(fresh.folder, fresh.told.runs, read_runs(form, fresh.folder))
    if request.config.getoption("--accept"):
        keep(form, fresh.folder, fresh.told.writers)
    folder = unpacked(form, tmp_path / "kept")
    assert_read(folder, fresh.told.runs, read_runs(form, folder), places=False)


def test_kept_evaluations_are_what_their_script_logs(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The same for the logs of a harness."""
    fresh = written("inspect", tmp_path / "fresh", small=True)
    if request.config.getoption("--accept"):
        keep("inspect", fresh.folder, fresh.told.writers)
    folder = unpacked("inspect", tmp_path / "kept")
    read = read_evaluations("inspect", folder)
    assert_evaluated(folder, fresh.told.evaluations, read, places=False)


def test_kept_files_are_small_and_tell_nothing_of_a_machine(tmp_path: Path) -> None:
    """No folder of whoever ran the script stands in them."""
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < LARGEST
    for form in sorted(path.name for path in KEPT.iterdir()):
        for path in unpacked(form, tmp_path / form).rglob("*"):
            for content in contents(path):
                assert not MACHINE.search(content), path


def contents(path: Path) -> Iterator[bytes]:
    """What stands in a file, and in the members of an archive."""
    if path.suffix == ".eval":
        with open_archive(path) as archive:
            yield from (archive.read(name) for name in archive.names)
    elif path.is_file():
        yield path.read_bytes()


def unpacked(form: str, room: Path) -> Path:
    """The files of a format as their writer left them, in a folder called ``data``."""
    room.mkdir(parents=True, exist_ok=True)
    copy_kept(f"tests/data/{form}", room / "data")
    return room / "data"


def keep(form: str, folder: Path, writers: dict[str, str]) -> None:
    """Put files in place of those that are kept, and say what wrote them."""
    target = KEPT / form
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in TO_PACK:
            packed = gzip.compress(path.read_bytes(), mtime=0)
            place.with_name(place.name + PACKED).write_bytes(packed)
        elif path.stat().st_size:
            shutil.copyfile(path, place)
    versions = " and ".join(f"{name} {version}" for name, version in writers.items())
    text = README.format(form=form, writers=" and ".join(writers), versions=versions)
    (target / "README.md").write_text(text, encoding="utf-8")
