"""Inputs and outputs of a build: fast detection of unchanged input, and the commit and date of a site.

``manifest.json`` in the report's cache holds size, modification time and SHA-256 of all input files; output
files are in the record of the site. A file with the same size and time is taken as unchanged; one with only
another time is hashed. Packages are identified by the names of their installed versions.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from reportgen.core.cache import cache_folder, get_stamp, replace_file
from reportgen.core.errors import make_error
from reportgen.core.plugins import identify_code
from reportgen.core.repository import find_checkout, find_git_folders, make_git_view, start_git
from reportgen.site.replacing.records import list_files, read_record, record_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def link(source: str, target: str) -> None:
    """Hard-link a file to a second name, making its folder if needed; raise an OSError if links fail."""
    try:
        os.link(source, target)
    except FileNotFoundError:  # cheaper than checking hundreds of files for their folder
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib takes longer
        os.link(source, target)


class LastBuild:
    """Site of the last build, which stays until the new one replaces it.

    ``written`` has its files: by path below it the key, the size, and the modification time in nanoseconds.
    ``keys`` collects the key of each file of this build that the next may reuse.
    """

    def __init__(self, site: Path, written: Mapping[str, tuple[str, int, int]]) -> None:
        self._site = site
        self._written = written
        self.keys: dict[str, str] = {}

    def link(self, path: str, key: str, site: Path) -> bool:
        """Link a file into a new site if it has this key and has not been modified since."""
        self.keys[path] = key
        known, size, changed = self._written.get(path, ("", 0, 0))
        if known != key:
            return False
        source = self._site / path
        try:
            if get_stamp(source) != (size, changed):
                return False
            link(str(source), str(site / path))
        except OSError:  # gone, or a file system without links
            return False
        return True


SITE_URL = "SITE_URL"
"""Environment variable with the address of a site, which ``site_url: !ENV [SITE_URL, ""]`` reads."""
_NAME = "manifest.json"
_FORMAT = 7
_PACKAGE = str(Path(__file__).parents[1])
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_IGNORED = {"__pycache__", ".git", ".venv"}


class Summary(Struct, frozen=True):
    """Results of a build, for its closing line."""

    pages: int
    figures: int
    cache_hits: int
    warnings: int
    texts: str = ""  # how many samples problem maps open, and the size of their texts


class Build(Struct, frozen=True):
    """A finished build; ``started`` is the file system's time in nanoseconds.

    A build is plain if nothing was added to the report, which would depend on more than its inputs.
    """

    config_file: Path
    site: Path
    summary: Summary
    started: int
    is_plain: bool = True


def check_unchanged(config_file: Path, *, strict: bool) -> Summary | None:
    """Return the summary of the last build if a plain one would give the same site, or None."""
    root = config_file.resolve().parent
    try:
        manifest = _load(root)
        summary = Summary(**manifest["summary"])
        same = (
            manifest["config"] == str(config_file.resolve())
            and manifest["plain"]
            and not (strict and summary.warnings)
            and _has_same_inputs(root, manifest)
            and _has_same_outputs(root, Path(manifest["site"]))
        )
    except _UNREADABLE:
        return None
    return summary if same else None


def _load(root: Path) -> dict[str, Any]:
    """Load the last build's manifest; raise a ValueError if another reportgen or other packages wrote it."""
    manifest = _read(root)
    if manifest["format"] != _FORMAT or manifest["environment"] != describe_environment():
        raise ValueError(manifest["format"])
    return manifest


def _read(root: Path) -> dict[str, Any]:
    path = _locate(root)
    return _read_file(path, get_stamp(path))


@lru_cache(maxsize=1)  # a build reads it three times
def _read_file(path: Path, _stamp: tuple[int, int]) -> dict[str, Any]:
    manifest: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    return manifest


def read_outputs(root: Path) -> dict[str, tuple[str, int, int]]:
    """Return the last build's files with a key: by path below its site the key, size and time."""
    try:
        manifest = _load(root)
        outputs = read_record(Path(manifest["site"]), cache_folder(root))
        return {path: (key, *outputs[path]) for path, key in manifest["keys"].items()}
    except _UNREADABLE:
        return {}


def write(build: Build, roots: Iterable[Path], known: Mapping[str, str], keys: Mapping[str, str]) -> None:
    """Record a build, unless its input was changed meanwhile.

    ``roots`` are the files and folders that determine the site, ``known`` has the SHA-256 by absolute path of
    files already hashed, ``keys`` the keys of files of the site, by path below it (``read_outputs``).
    """
    root = build.config_file.resolve().parent
    names = [str(path.resolve()) for path in roots]
    # What the previous build hashed.
    before: dict[str, list[Any]] = {}
    with suppress(*_UNREADABLE):
        before = _read(root)["inputs"]
    inputs = {}
    for path in dict.fromkeys(path for name in names for path in _walk(name)):
        now, (*last, digest) = get_stamp(path), before.get(path, ("",))
        # A file may have become readable, or unreadable, with the same size and modification time.
        is_known = digest and tuple(last) == now and os.access(path, os.R_OK)
        inputs[path] = (*now, known.get(path) or (digest if is_known else _hash_file(path)))
    if any(changed >= build.started for _, changed, _ in inputs.values()):
        remove(root)
        return
    manifest = {
        "format": _FORMAT,
        "environment": describe_environment(),
        "config": str(build.config_file.resolve()),
        "plain": build.is_plain,
        "site": str(build.site),
        "roots": names,
        "inputs": inputs,
        "keys": dict(keys),
        "summary": asdict(build.summary),
    }
    try:
        replace_file(str(_locate(root)), msgspec.json.encode(manifest))
    except (OSError, UnicodeEncodeError):  # a full disk, or a name that is no UTF-8
        remove(root)


def remove(root: Path) -> None:
    """Remove the manifest, so that the next build is a full one."""
    with suppress(OSError):
        _locate(root).unlink(missing_ok=True)


def record_in_place(site: Path, root: Path) -> None:
    """Record the files of a site that MkDocs wrote in place; the next build is a full one."""
    remove(root)
    record_folder(site, cache_folder(root))


def _locate(root: Path) -> Path:
    return cache_folder(root) / _NAME


def describe_environment() -> dict[str, str | None]:
    """Describe what determines a site outside the report's folder: code, versions, date and address."""
    # Installed packages with their versions, without importing any.
    packages = [
        name
        for folder in sys.path
        if folder.endswith(("site-packages", "dist-packages")) and os.path.isdir(folder)  # noqa: PTH112 - as below
        for name in sorted(os.listdir(folder))  # noqa: PTH208 - as below
        if name.endswith(".dist-info")
    ]
    return {
        EPOCH: os.environ.get(EPOCH),
        SITE_URL: os.environ.get(SITE_URL),
        "python": sys.version,
        "code": identify_code(),
        "packages": hashlib.sha256("\n".join(packages).encode()).hexdigest(),
    }


def list_repository_files(root: Path) -> Iterator[Path]:
    """List the files of a git repository that determine the checked-out commit."""
    checkout = find_checkout(root)
    if checkout is None:
        return
    folder, shared = find_git_folders(checkout)
    head = folder / "HEAD"
    yield head
    yield shared / "packed-refs"
    if head.is_file():
        yield shared / head.read_text(encoding="utf-8").removeprefix("ref:").strip()


def _has_same_inputs(root: Path, manifest: dict[str, Any]) -> bool:
    known: dict[str, list[Any]] = manifest["inputs"]
    paths = {path for name in manifest["roots"] for path in _walk(name)}
    if paths != known.keys():
        return False
    touched = False
    for path in paths:
        size, changed, digest = known[path]
        now = get_stamp(path)
        # An unreadable file may be readable now, with the same size and modification time.
        if not digest or now[0] != size or (now[1] != changed and _hash_file(path) != digest):
            return False
        if now[1] != changed:
            known[path] = [*now, digest]
            touched = True
    if touched:
        with suppress(OSError):
            replace_file(str(_locate(root)), msgspec.json.encode(manifest))
    return True


def _walk(path: str) -> Iterator[str]:
    """Walk the files below a folder, or the file itself; yield nothing if neither exists."""
    if os.path.isfile(path):  # noqa: PTH113 - pathlib costs more than the whole check
        yield path
        return
    waiting = [path]
    while waiting:
        place = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.name in _IGNORED:
                    continue
                if entry.is_file():
                    yield entry.path
                elif entry.is_dir():
                    # Skip links that lead back up, even to the whole disk.
                    real = os.path.realpath(entry.path).rstrip(os.sep) + os.sep if entry.is_symlink() else ""
                    if not real or not f"{os.path.realpath(place)}{os.sep}".startswith(real):
                        waiting.append(entry.path)
            except OSError:  # a link to itself, or to an unreadable folder
                continue


def _has_same_outputs(root: Path, site: Path) -> bool:
    recorded = read_record(site, cache_folder(root))
    return bool(recorded) and recorded == list_files(site)


def _hash_file(path: str) -> str:
    """Return the hash of a file's content, or "" if it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return ""


# Time and commit of a report come from its repository, never from the clock.
EPOCH = "SOURCE_DATE_EPOCH"
_LOG = ("log", "-1", "--no-show-signature", "--no-color", "--no-notes", "--format=%H %ct")
_NO_DATE = "0"
# In the year 2106, the last that the compressed site map can represent.
_LAST_SECOND = 2**32 - 1


class Provenance(Struct, frozen=True):
    """The report's last commit (empty without a repository) and its date, ``2026-11-20`` or empty."""

    commit: str
    date: str


def find_provenance(root: Path) -> Provenance:
    """Find commit and date; the date is ``SOURCE_DATE_EPOCH`` if set, otherwise that of the last commit."""
    commit, seconds = _find_last_commit(root)
    given = os.environ.get(EPOCH, "")
    seconds = given if given not in {"", _NO_DATE} else seconds
    date = datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds else ""
    return Provenance(commit, date)


def check_build_date() -> None:
    """Raise a ReportError if ``SOURCE_DATE_EPOCH`` is not a number of seconds up to the year 2106."""
    given = os.environ.get(EPOCH, "")
    if given and not _is_date(given):
        message = f'the environment variable {EPOCH} is "{given}", which is no number of seconds since 1970'
        step = "Set it to the seconds of a date, such as $(git log -1 --format=%ct), or unset it"
        raise make_error("mkdocs.yml", message, step)


def fix_build_date(root: Path) -> bool:
    """Set the date of MkDocs' site map to the report's; return whether the environment had none."""
    if os.environ.get(EPOCH, ""):
        return False
    os.environ[EPOCH] = _find_last_commit(root)[1] or _NO_DATE
    return True


def restore_build_date() -> None:
    """Restore the environment as it was before ``fix_build_date``."""
    os.environ.pop(EPOCH, None)


def _find_last_commit(root: Path) -> tuple[str, str]:
    """Return full hash and commit time in seconds, empty without git or a repository."""
    checkout = find_checkout(root)
    if checkout is None:
        return "", ""
    try:
        with tempfile.TemporaryDirectory() as folder:
            process = start_git(make_git_view(checkout, Path(folder)), *_LOG)
            printed = process.communicate()[0].decode("ascii", "replace").strip()
    except (OSError, UnicodeDecodeError):
        return "", ""
    commit, _, seconds = printed.partition(" ")
    return (commit, seconds) if process.returncode == 0 and _is_date(seconds) else ("", "")


def _is_date(seconds: str) -> bool:
    return re.fullmatch("[0-9]{1,12}", seconds) is not None and int(seconds) <= _LAST_SECOND
