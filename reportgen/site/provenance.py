"""When and from which commit a report was built: from its repository, never from the clock."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

EPOCH = "SOURCE_DATE_EPOCH"
_NO_DATE = "0"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The report's last commit (empty without a repository) and its date, ``2026-11-20`` or empty."""

    commit: str
    date: str


def provenance_of(root: Path) -> Provenance:
    """``SOURCE_DATE_EPOCH`` decides the date if it is set, otherwise the last commit does."""
    commit, seconds = _last_commit(root)
    given = os.environ.get(EPOCH, "")
    seconds = given if given not in {"", _NO_DATE} else seconds
    date = datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds.isdecimal() else ""
    return Provenance(commit, date)


def fix_build_date(root: Path) -> bool:
    """Give MkDocs the date it writes into the site map; without one it would take the clock's.

    Returns:
        True where the environment had none and now has one, to be taken away after the build.
    """
    if os.environ.get(EPOCH, "").isdecimal():
        return False
    os.environ[EPOCH] = _last_commit(root)[1] or _NO_DATE
    return True


def unfix_build_date() -> None:
    """Leave the environment as it was before ``fix_build_date``."""
    os.environ.pop(EPOCH, None)


def _last_commit(root: Path) -> tuple[str, str]:
    """Full hash and commit time in seconds; empty where git or a repository is missing."""
    command = ["git", "-C", str(root), "log", "-1", "--format=%H %ct"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 - fixed words and a folder
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    commit, _, seconds = found.stdout.strip().partition(" ")
    return (commit, seconds) if found.returncode == 0 else ("", "")
