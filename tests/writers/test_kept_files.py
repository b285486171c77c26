"""The small files of ``tests/data``: they are what their scripts write, and tell nothing of a machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from kept_files import KEPT, keep, unpacked

from reportgen.formats.archive import open_archive
from writers.writing import assert_evaluated, assert_read, read_evaluations, read_runs, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
