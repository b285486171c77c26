"""The metadata of archives, by the validators of the people who write the formats."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

from made_archives import REPORT, archive, commit, unpack
from made_projects import write_report

from writers.writing import OFFLINE, TESTS

if TYPE_CHECKING:
    from pathlib import Path

VALIDATORS = TESTS.parent / ".venv-validators" / "bin"
# Process Run Crate 0.5 is a profile of RO-Crate 1.1, and its validator holds a crate of 1.2 against that.
OLDER = (
    "ro-crate-1.1_5.3: The RO-Crate metadata file descriptor MUST have a `conformsTo` property with the "
    "RO-Crate specification version"
)


def validate(folder: Path, *profiles: str) -> dict[str, list[str]]:
    """What a crate lacks, by profile."""
    command = [*map(str, (VALIDATORS / "python", TESTS / "writers" / "check_crate.py", folder)), *profiles]
    environment = {**os.environ, **OFFLINE, "HOME": str(folder.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_an_archive_is_a_crate_with_a_process_run(tmp_path: Path) -> None:
    """With and without its data, and with a version that is newer than its own."""
    root = commit(write_report(tmp_path / "report", REPORT))
    whole = unpack(archive(root), tmp_path / "whole")
    profiles = ("ro-crate-1.2", "process-run-crate-0.5")
    assert validate(whole, *profiles) == {"ro-crate-1.2": [], "process-run-crate-0.5": [OLDER]}
    bare = unpack(archive(root, "bare.zip", "--data", "none"), tmp_path / "bare")
    assert validate(bare, *profiles) == {"ro-crate-1.2": [], "process-run-crate-0.5": [OLDER]}
    metadata = whole / "ro-crate-metadata.json"
    newer = metadata.read_text("utf-8").replace("w3id.org/ro/crate/1.2", "w3id.org/ro/crate/1.3")
    metadata.write_text(newer, "utf-8")
    assert validate(whole, "ro-crate-1.3") == {"ro-crate-1.3": []}


def test_how_to_cite_an_archive_is_as_the_format_requires(tmp_path: Path) -> None:
    """CITATION.cff, by the schema of version 1.2.0."""
    folder = unpack(archive(commit(write_report(tmp_path / "report", REPORT))), tmp_path / "there")
    cff = folder / "CITATION.cff"
    command = [str(VALIDATORS / "cffconvert"), "--validate", "-i", str(cff)]
    done = subprocess.run(command, env={**os.environ, **OFFLINE}, capture_output=True, text=True, check=False)
    assert "valid according to schema version 1.2.0" in done.stdout, done.stderr
    cff.write_text(cff.read_text("utf-8").replace("CC-BY-4.0", "Creative"), "utf-8")
    assert subprocess.run(command, capture_output=True, check=False).returncode


def test_a_crate_without_a_licence_is_refused(tmp_path: Path) -> None:
    """The validator finds what is missing."""
    folder = unpack(archive(commit(write_report(tmp_path / "report", REPORT))), tmp_path / "there")
    metadata = folder / "ro-crate-metadata.json"
    crate = json.loads(metadata.read_text("utf-8"))
    (entity,) = [one for one in crate["@graph"] if one["@id"] == "./"]
    del entity["license"]
    metadata.write_text(json.dumps(crate), "utf-8")
    (found,) = validate(folder, "ro-crate-1.2").values()
    assert any("license" in one for one in found)
