"""The two states to compare, from whatever names them: a revision, a folder, a built site, a report.json.

Revisions are unpacked in a worker process from the very start, while this one imports what drafts need.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core import __version__
from reportgen.core.cache import (
    Cache,
    CachedText,
    cache_folder,
    get_stamp,
    make_temporary_folder,
)
from reportgen.core.errors import ReportError, make_error
from reportgen.core.intact import is_safe
from reportgen.core.repository import find_checkout, resolve_path
from reportgen.review.git import Commit, Repository, find_repository, unpack_report
from reportgen.site.worker import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.draft.report import Report
    from reportgen.review.model import Kind, Origin
    from reportgen.review.snapshot import Snapshot

_REPORT: Final = "report.json"
# What is looked at of a report.json, and of a file of its site: more than any report of ours has.
_LARGEST: Final = 500_000_000
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


class NamedState(NamedTuple):
    """What a name stands for; ``get_path`` waits until a revision is unpacked.

    The path is that of a built site or a report.json, otherwise of a ``mkdocs.yml``, which may not exist.
    """

    kind: Kind
    name: str
    get_path: Callable[[], Path]
    commit: Commit | None = None
    modified: bool = False  # whether the working tree differs from the commit


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
    warn: Callable[[str], None] = lambda _words: None,
) -> States:
    """Open the states that two names stand for.

    Without ``base`` it is where the branch or the pull request that is checked out began; without ``head`` it
    is the working tree of ``config_file``. A base that has no report, or one that cannot be drafted, is empty
    and says why; ``warn`` gets what of a state is not run. Raises a ReportError if a name stands for nothing,
    or the head cannot be drafted.
    """
    with _open_finder(config_file, progress, warn) as finder:
        before = finder.find_start() if base is None else finder.find(base)
        after = finder.find_working_tree() if head is None else finder.find(head)
        opened = finder.open(after, is_base=False)
        return States(finder.open(before, is_base=True), opened)


def open_base(
    name: str, config_file: Path, *, progress: Callable[[int, int], None], warn: Callable[[str], None]
) -> Snapshot:
    """Open the state that a report as it is built is to be compared with; as ``open_states``."""
    with _open_finder(config_file, progress, warn) as finder:
        return finder.open(finder.find(name), is_base=True)


def open_working_tree(
    config_file: Path, report: Report | None, *, progress: Callable[[int, int], None]
) -> Snapshot:
    """Open the report as it stands, and as it was drafted if ``report`` is given."""
    with _open_finder(config_file, progress) as finder:
        return finder.open(finder.find_working_tree(), is_base=False, report=report)


@contextmanager
def _open_finder(
    config_file: Path,
    progress: Callable[[int, int], None],
    warn: Callable[[str], None] = lambda _words: None,
) -> Iterator[_Finder]:
    """What finds states of the report of a ``mkdocs.yml``, with a worker process until it is done."""
    config_file = config_file.resolve()
    cache = cache_folder(config_file.parent)
    with WorkerProcess(Cache(cache)) as worker:
        yield _Finder(config_file, find_repository(config_file.parent), cache, worker, progress, warn)


class _Finder(Struct, frozen=True):
    """Finds what names stand for, and drafts or reads it.

    All but the report that is checked out are drafted with its cache, and nothing of them runs.
    """

    config_file: Path
    repository: Repository | None
    cache: Path
    worker: WorkerProcess
    progress: Callable[[int, int], None]
    warn: Callable[[str], None]

    def find_working_tree(self) -> NamedState:
        """The report as it stands."""
        state = NamedState("folder", "working tree", lambda: self.config_file)
        if self.repository and (head := self.repository.find_head()):
            modified = self.repository.is_modified(head.hash, _make_folder())
            return state._replace(commit=head, modified=modified)
        return state

    def find_start(self) -> NamedState:
        """Where the change that is checked out began."""
        if self.repository is None:
            step = "Name BASE and HEAD: two folders, sites or report.json files"
            raise make_error(self.config_file.name, "this report is in no git repository", step)
        return self._unpack(self.repository, self.repository.find_base())

    def find(self, name: str) -> NamedState:
        """A folder with a report, a built site, a report.json, or else a revision."""
        path = Path(name or os.devnull)
        short = path.resolve().name if path.exists() else ""
        if (path / self.config_file.name).is_file():
            return NamedState("folder", short, lambda: path.resolve() / self.config_file.name)
        if path.is_file() or (path / _REPORT).is_file():
            return NamedState(_REPORT if path.is_file() else "site", short, path.resolve)
        found = self.repository.resolve(name) if self.repository else None
        if self.repository is None or found is None:
            message = "this is no revision of the report's repository, no folder with a report, and no file"
            step = "Name a revision such as main, a project folder, a built site or its report.json"
            raise make_error(name or "''", message, step)
        called = name if found.startswith(name) else f"{name} ({found[:8]})"
        return self._unpack(self.repository, Commit(found, called))

    def _unpack(self, repository: Repository, commit: Commit) -> NamedState:
        root = self.config_file.parent
        wait = self.worker.call(unpack_report, repository, commit.hash, _make_folder(), root, self.cache)
        return NamedState("revision", commit.name, lambda: Path(wait(), self.config_file.name), commit)

    def open(self, state: NamedState, *, is_base: bool, report: Report | None = None) -> Snapshot:
        """Open a state, of which ``report`` is the draft if there is one.

        A base that cannot be drafted is empty, and says why.
        """
        from reportgen.review.model import Origin, clip  # noqa: PLC0415 - after unpacking has begun
        from reportgen.review.snapshot import Snapshot, take_snapshot  # noqa: PLC0415 - as above

        path, origin = state.get_path(), Origin.fit(kind=state.kind, name=state.name)
        if state.kind in {"site", _REPORT}:
            return _read_report(origin, path)
        commit = state.commit or Commit("", "")
        origin = origin.replace(
            commit=commit.merged or commit.hash,
            merge=commit.hash if commit.merged else "",
            modified=state.modified,
            tool=__version__,
        )
        try:
            if report is None:
                report = self._draft(path, origin.name)
        except ReportError as error:
            if not is_base:
                raise
            errors = [str(problem) for problem in error.problems if problem.severity == "error"]
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            why = clip(f"{errors[0] if errors else error}{more}")
            return Snapshot(origin.replace(built=False, why=why))
        taken = take_snapshot(origin, report, path.parent, Cache(self.cache))
        return replace(taken, skips_code=path != self.config_file)

    def _draft(self, config_file: Path, name: str) -> Report:
        from reportgen.site.checking import draft_report  # noqa: PLC0415 - as above
        from reportgen.site.security import list_omitted  # noqa: PLC0415 - as above

        if not config_file.is_file():
            raise make_error(config_file.name, f"there is no such file in {name}")
        if config_file == self.config_file:
            return draft_report(config_file, progress=self.progress)[0]
        report = draft_report(config_file, progress=self.progress, folder=self.cache)[0]
        if omitted := list_omitted(config_file):
            self.warn(f"{name}: not run, as this is not the report that is checked out: {', '.join(omitted)}")
        return report


def add_to_summary(comment: str) -> None:
    """Append a comment to the summary of the GitHub job that runs this, if any."""
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(comment)


def find_folders(config_file: Path) -> tuple[str, str]:
    """Return the folder of a report from the top of its repository, and that of its pages from there.

    Both have a slash at the end; the first is empty at the top.
    """
    from reportgen.site.checking import open_report  # noqa: PLC0415 - imports MkDocs

    project = open_report(config_file).project
    root = project.root.resolve()
    folder = root.relative_to(find_checkout(root) or root).as_posix()
    return "" if folder == "." else f"{folder}/", f"{project.content_dir}/"


def _make_folder() -> Path:
    return make_temporary_folder(Path(tempfile.gettempdir()))


def _read_report(origin: Origin, path: Path) -> Snapshot:
    """A report.json by itself, or the one of a site together with the site's figure files."""
    from reportgen.review.snapshot import read_snapshot  # noqa: PLC0415 - as above

    site = path if path.is_dir() else None

    def check_size(file: Path) -> Path:
        if file.stat().st_size > _LARGEST:
            raise ValueError(file.name)
        return file

    def find_figure_file(name: str) -> CachedText | None:
        file = site / name if site and is_safe(name) else None
        if file is None or not file.is_file() or not resolve_path(file).startswith(f"{path}{os.sep}"):
            return None
        digest = hashlib.sha256(check_size(file).read_bytes()).hexdigest()
        return CachedText(str(file), digest, *get_stamp(file))

    try:
        text = check_size(site / _REPORT if site else path).read_text(encoding="utf-8")
        return read_snapshot(origin, text, find_figure_file)
    except _UNREADABLE as error:
        message = f"this is no report.json of reportgen ({str(error) or type(error).__name__})"
        raise make_error(path.name, message, "Build the site again with this version") from error
