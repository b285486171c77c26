"""The two states to compare, from whatever names them: a revision, a folder, a built site, a report.json."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core import __version__
from reportgen.core.cache import (
    Cache,
    CachedText,
    cache_folder,
    get_stamp,
    make_temporary_folder,
    replace_file,
)
from reportgen.core.errors import ReportError, diagnose_disk_error, make_error
from reportgen.core.repository import find_checkout
from reportgen.review.git import Commit, Repository, find_repository
from reportgen.review.model import LONGEST_NAME, Origin, clip
from reportgen.review.snapshot import Snapshot, read_snapshot, take_snapshot
from reportgen.site.checking import draft_report, open_report

if TYPE_CHECKING:
    from collections.abc import Callable

_REPORT: Final = "report.json"
_WORKING_TREE: Final = "working tree"
# What is looked at of a report.json, and of a file of its site: more than any report of ours has.
_LARGEST: Final = 500_000_000
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


class States(NamedTuple):
    """Before and after."""

    base: Snapshot
    head: Snapshot


def open_states(
    base: str | None,
    head: str | None,
    config_file: Path,
    *,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> States:
    """Open the states that two names stand for.

    Without ``base`` it is where the branch or the pull request that is checked out began; without ``head`` it
    is the working tree of ``config_file``. A base that has no report, or one that cannot be drafted, is empty
    and says why. Raises a ReportError if a name stands for nothing, or the head cannot be drafted.
    """
    config_file = config_file.resolve()
    root = config_file.parent
    opener = _Opener(config_file, find_repository(root), cache_folder(root), progress)
    after = opener.open_working_tree() if head is None else opener.open(head, is_base=False)
    before = opener.open_start() if base is None else opener.open(base, is_base=True)
    return States(before, after)


@dataclass(frozen=True)
class _Opener:
    """Opens states; revisions are drafted with the cache of the report that is checked out."""

    config_file: Path
    repository: Repository | None
    cache: Path
    progress: Callable[[int, int], None]

    def open_working_tree(self) -> Snapshot:
        """The report as it stands."""
        origin = Origin(kind="folder", name=_WORKING_TREE, tool=__version__)
        if self.repository and (head := self.repository.find_head()):
            update = {
                "commit": head.merged or head.hash,
                "merge": head.hash if head.merged else "",
                "modified": self.repository.is_modified(head.hash, _make_folder()),
            }
            origin = origin.model_copy(update=update)
        return self._draft(origin, self.config_file, is_base=False)

    def open_start(self) -> Snapshot:
        """Where the change that is checked out began."""
        if self.repository is None:
            step = "Name BASE and HEAD: two folders, sites or report.json files"
            raise make_error(self.config_file.name, "this report is in no git repository", step)
        return self._open_commit(self.repository.find_base(), is_base=True)

    def open(self, name: str, *, is_base: bool) -> Snapshot:
        """A folder with a report, a built site, a report.json, or else a revision."""
        path = self._find_path(name)
        if path is None:
            return self._open_commit(self._resolve(name), is_base=is_base)
        short = clip(path.name, LONGEST_NAME)
        config_file = path / self.config_file.name
        if config_file.is_file():
            origin = Origin(kind="folder", name=short, tool=__version__)
            return self._draft(origin, config_file, is_base=is_base)
        site = path if path.is_dir() else None
        return _read_report(Origin(kind="site" if site else "report.json", name=short), path, site)

    def _find_path(self, name: str) -> Path | None:
        """The file, or the folder with a report or a site, of this name; None for all others."""
        path = Path(name)
        held = (self.config_file.name, _REPORT)
        there = path.is_file() or any((path / one).is_file() for one in held)
        return path.resolve() if there else None

    def _resolve(self, name: str) -> Commit:
        found = self.repository.resolve(name) if self.repository else None
        if found is None:
            message = "this is no revision of the report's repository, no folder with a report, and no file"
            step = "Name a revision such as main, a project folder, a built site or its report.json"
            raise make_error(name, message, step)
        return Commit(found, name if found.startswith(name) else f"{name} ({found[:8]})")

    def _open_commit(self, commit: Commit, *, is_base: bool) -> Snapshot:
        if self.repository is None:
            raise LookupError(commit)
        checkout = self.repository.unpack(commit.hash, _make_folder())
        config_file = checkout / self.config_file.relative_to(self.repository.checkout)
        name = clip(commit.name, LONGEST_NAME)
        origin = Origin(kind="revision", name=name, commit=commit.hash, tool=__version__)
        return self._draft(origin, config_file, is_base=is_base)

    def _draft(self, origin: Origin, config_file: Path, *, is_base: bool) -> Snapshot:
        folder = None if config_file == self.config_file else self.cache
        try:
            if not config_file.is_file():
                raise make_error(config_file.name, f"there is no such file in {origin.name}")
            report, _ = draft_report(config_file, progress=self.progress, folder=folder)
        except ReportError as error:
            if not is_base:
                raise
            errors = [str(problem) for problem in error.problems if problem.severity == "error"]
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            why = clip(f"{errors[0] if errors else error}{more}")
            return Snapshot(origin.model_copy(update={"built": False, "why": why}))
        return take_snapshot(origin, report, config_file.parent, Cache(self.cache))


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all, with its folder; raise a ReportError if that fails."""
    try:
        replace_file(str(path), text.encode())
    except OSError as error:
        raise ReportError(diagnose_disk_error(error, str(path), "the review cannot be written")) from error


def add_to_summary(comment: str) -> None:
    """Append a comment to the summary of the GitHub job that runs this, if any."""
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(comment)


def find_pages_folder(config_file: Path) -> str:
    """Return the folder of a report's pages from the top of its repository, with a slash at the end."""
    project = open_report(config_file).project
    folder = project.root.resolve() / project.content_dir
    top = find_checkout(folder) or project.root.resolve()
    return f"{folder.relative_to(top).as_posix()}/"


def _make_folder() -> Path:
    return make_temporary_folder(Path(tempfile.gettempdir()))


def _read_report(origin: Origin, path: Path, site: Path | None) -> Snapshot:
    """A report.json by itself, or the one of a site together with the site's figure files."""

    def check_size(file: Path) -> Path:
        if file.stat().st_size > _LARGEST:
            raise ValueError(file.name)
        return file

    def find_figure_file(name: str) -> CachedText | None:
        file = site / name if site and name else None
        if file is None or not file.is_file() or not file.resolve().is_relative_to(path):
            return None
        digest = hashlib.sha256(check_size(file).read_bytes()).hexdigest()
        return CachedText(str(file), digest, *get_stamp(file))

    try:
        text = check_size(site / _REPORT if site else path).read_text(encoding="utf-8")
        return read_snapshot(origin, text, find_figure_file)
    except _UNREADABLE as error:
        message = f"this is no report.json of reportgen ({str(error) or type(error).__name__})"
        raise make_error(path.name, message, "Build the site again with this version") from error
