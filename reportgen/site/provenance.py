"""When and from which commit a report was built: from its repository, never from the clock."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from reportgen.core.errors import make_error
from reportgen.core.repository import find_checkout

if TYPE_CHECKING:
    from pathlib import Path

EPOCH = "SOURCE_DATE_EPOCH"
_NO_DATE = "0"
# Of the year 9999, the last one that a date can be written of.
_LAST_SECOND = 253402300799
# What no settings of a repository may do: ask for signatures, which runs a program, start a monitor of files,
# or fetch what is not there. Files next to ``mkdocs.yml`` that look like a bare repository are none.
_GIT = (
    *("git", "-c", "safe.bareRepository=explicit", "-c", "log.showSignature=false"),
    *("-c", "core.fsmonitor=false", "-c", "protocol.allow=never"),
)
_LOG = ("log", "-1", "--no-show-signature", "--no-color", "--no-notes", "--format=%H %ct")


@dataclass(frozen=True, slots=True)
class Provenance:
    """The report's last commit (empty without a repository) and its date, ``2026-11-20`` or empty."""

    commit: str
    date: str


def find_provenance(root: Path) -> Provenance:
    """``SOURCE_DATE_EPOCH`` decides the date if it is set, otherwise the last commit does."""
    commit, seconds = _find_last_commit(root)
    given = os.environ.get(EPOCH, "")
    seconds = given if given not in {"", _NO_DATE} else seconds
    date = datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds else ""
    return Provenance(commit, date)


def check_build_date() -> None:
    """Raise a ReportError if ``SOURCE_DATE_EPOCH`` is no number of seconds up to the year 9999."""
    given = os.environ.get(EPOCH, "")
    if given and not _is_date(given):
        message = f'the environment variable {EPOCH} is "{given}", which is no number of seconds since 1970'
        step = "Set it to the seconds of a date, such as $(git log -1 --format=%ct), or unset it"
        raise make_error("mkdocs.yml", message, step)


def fix_build_date(root: Path) -> bool:
    """Give MkDocs another date than the clock's for the site map; True where the environment had none."""
    if os.environ.get(EPOCH, ""):
        return False
    os.environ[EPOCH] = _find_last_commit(root)[1] or _NO_DATE
    return True


def restore_build_date() -> None:
    """Leave the environment as it was before ``fix_build_date``."""
    os.environ.pop(EPOCH, None)


def _find_last_commit(root: Path) -> tuple[str, str]:
    """Full hash and commit time in seconds; empty where git or a repository is missing."""
    checkout = find_checkout(root)
    if checkout is None:
        return "", ""
    # Git starts where ``.git`` is, which no commit can hold, and looks nowhere else.
    outside = {"GIT_CEILING_DIRECTORIES": str(checkout.parent), "GIT_NO_LAZY_FETCH": "1"}
    try:
        log = subprocess.run(  # noqa: S603 - fixed words, in a folder
            [*_GIT, *_LOG],
            cwd=checkout,
            env={**os.environ, **outside, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, UnicodeDecodeError, subprocess.TimeoutExpired):
        return "", ""
    commit, _, seconds = log.stdout.strip().partition(" ")
    return (commit, seconds) if log.returncode == 0 and _is_date(seconds) else ("", "")


def _is_date(seconds: str) -> bool:
    return re.fullmatch("[0-9]{1,12}", seconds) is not None and int(seconds) <= _LAST_SECOND
