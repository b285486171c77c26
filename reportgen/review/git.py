"""Revisions of the repository around a report, unpacked without touching it or believing its settings.

Everything is looked up in a git folder of our own that only borrows the repository's objects and names: no
hook, filter, monitor, remote or attribute of the repository applies, nor of a submodule.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from msgspec import Struct

from reportgen.core.cache import OTHER_STATES, FileHashes, get_stamp, replace_file
from reportgen.core.errors import make_error
from reportgen.core.intact import is_safe
from reportgen.core.repository import (
    Boundary,
    find_checkout,
    find_git_folders,
    make_git_view,
    resolve_path,
    start_git,
)
from reportgen.settings.text import normalise_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.errors import SourceLocation

_DEEPER: Final = "Fetch more of the history: fetch-depth: 2 in actions/checkout, or git fetch --deepen=1"
# Of a file that stands for one in Git LFS.
_POINTER: Final = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)
_LONGEST_POINTER: Final = 1024
# Entries of git ls-tree, of a file whose name means itself in .gitattributes, and of a submodule.
_FILE: Final = re.compile(r"100644 blob (?P<blob>[0-9a-f]+)\t(?P<name>[\w./@=+,-]+)", re.ASCII)
_SUBMODULE: Final = re.compile(r"160000 commit (?P<commit>[0-9a-f]+)\t(?P<name>.+)", re.DOTALL)
# What GitHub calls the merge of a pull request that its workflows check out.
_TRIAL_MERGE: Final = re.compile(r"Merge [0-9a-f]{40} into [0-9a-f]{40}\s*")
_DEFAULT_BRANCHES: Final = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


class Commit(Struct, frozen=True):
    """A commit by its full hash, what it is called, and the hash of the tree of its files.

    Of a pull request's trial merge ``merged`` is the request's head, and ``into`` what it is merged into.
    """

    hash: str
    name: str
    merged: str = ""
    into: str = ""
    tree: str = ""


class Repository(Struct, frozen=True):
    """A checkout, its git folder, and the git folder with the commits, which work trees share."""

    checkout: Path
    folder: Path
    shared: Path

    def resolve(self, name: str) -> str | None:
        """The full hash of the commit that a name stands for; None if there is none."""
        if name.startswith("-"):
            return None
        found = self._try("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return found or None

    def find_head(self) -> Commit | None:
        """The commit that is checked out; None before the first one."""
        commit = self.resolve("HEAD")
        if commit is None:
            return None
        # A shallow clone has no parents, but the commit names them.
        head, _, message = (self._try("cat-file", "commit", commit) or "").partition("\n\n")
        parents = re.findall(r"^parent ([0-9a-f]+)$", head, re.MULTILINE)
        trial = _TRIAL_MERGE.fullmatch(message) or os.environ.get("GITHUB_REF", "").endswith("/merge")
        tree = head.partition("\n")[0].removeprefix("tree ")
        is_trial = len(parents) == 2 and bool(trial)  # noqa: PLR2004 - of a merge
        merged, into = (parents[1], parents[0]) if is_trial else ("", "")
        return Commit(commit, "HEAD", merged, into, tree)

    def is_modified(self, commit: str, folder: Path) -> bool:
        """Whether a file that git knows differs from the commit; ``folder`` is an empty one for us."""
        index = self.folder / "index"
        if not index.is_file():
            return False
        shutil.copy2(index, folder / "index")  # a file as new as the index is compared by its content
        view, code = make_git_view(self.checkout, folder), 0
        # Git itself would run the filters of a submodule's own settings.
        for words in (
            ("update-index", "-q", "--ignore-submodules", "--refresh"),
            ("diff-index", "--quiet", "--ignore-submodules=all", "--no-ext-diff", "--no-textconv", commit),
        ):
            with start_git(view, *words, work_tree=self.checkout) as process:
                process.communicate()
            code = process.returncode
        return code == 1 or any(self._list_changed_submodules(commit))

    def _list_changed_submodules(self, commit: str) -> Iterator[str]:
        listed = (self._try("ls-tree", "-r", "-z", commit) or "").split("\0")
        for found in filter(None, map(_SUBMODULE.fullmatch, listed)):
            place = self.checkout / found["name"]
            if not is_safe(found["name"]) or find_checkout(place) != place:
                continue  # not checked out
            inner = Repository(place, *find_git_folders(place))
            with tempfile.TemporaryDirectory() as folder:
                known = resolve_path(place) == str(place) and inner.resolve(found["commit"])
                if not known or inner.is_modified(found["commit"], Path(folder)):
                    yield found["name"]

    def find_base(self) -> Commit:
        """Where the change that is checked out began.

        Of a pull request's trial merge it is the first parent, otherwise the last commit that this branch
        shares with the default branch. Raises a ReportError if that is not here.
        """
        head = self.find_head()
        if head is None:
            raise make_error("HEAD", "there is no commit yet to compare with", "Commit, or name BASE")
        if head.merged:
            if self.resolve(head.into) is None:
                raise make_error("HEAD", "the commit that this merge began from is not in the clone", _DEEPER)
            return Commit(head.into, f"{head.into[:8]}, the first parent of HEAD")
        target = os.environ.get("GITHUB_BASE_REF") or os.environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
        for branch in (f"origin/{target}", target) if target else _DEFAULT_BRANCHES:
            if self.resolve(branch) is None:
                continue
            found = self._try("merge-base", "HEAD", branch)
            if not found:
                raise make_error("HEAD", f"no commit is known that this branch shares with {branch}", _DEEPER)
            return Commit(found, f"{found[:8]}, where this branch left {branch}")
        message = "it is not known which branch is the default one"
        raise make_error("HEAD", message, "Name BASE, such as reportgen review main")

    def list_blobs(self, commit: str) -> dict[str, str]:
        """The objects of a commit's files, by the names of those that have plain ones."""
        listed = self._try("ls-tree", "-r", "-z", commit) or ""
        found = (_FILE.fullmatch(entry) for entry in listed.split("\0"))
        return {one["name"]: one["blob"] for one in found if one and is_safe(one["name"])}

    def list_files_since(self, commit: str) -> dict[str, str]:
        """The objects of all files by their names, at the last commit that HEAD shares with another."""
        began = self._try("merge-base", "HEAD", commit) or commit
        entries = (self._try("ls-tree", "-r", "-z", began) or "").split("\0")
        return {name: head.rpartition(" ")[2] for head, _, name in (one.partition("\t") for one in entries)}

    def read_lines(self, blob: str) -> frozenset[str]:
        """The lines of a file's object."""
        text = self._try("cat-file", "blob", blob) or ""
        return frozenset(normalise_text(text.removeprefix("\ufeff")).split("\n"))

    def unpack(self, commit: str, folder: Path, left_out: Sequence[str] = ()) -> None:
        """Write the files of a commit into the folder ``checkout`` of a folder, but for those left out.

        Raises a ReportError if objects are missing, as in a partial clone.
        """
        target = folder / "checkout"
        # Looks like a checkout, so that links may lead anywhere within it; there is nothing in it to run.
        (target / ".git").mkdir(parents=True)
        view = make_git_view(self.checkout, folder)
        with (view / "info/attributes").open("a", encoding="utf-8") as file:
            file.writelines(f"/{name} export-ignore\n" for name in left_out)
        links: list[tarfile.TarInfo] = []
        with start_git(view, "archive", "--format=tar", commit) as process:
            with suppress(tarfile.ReadError), tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for member in archive:
                    if member.issym():
                        links.append(member)
                    elif is_safe(member.name):  # as in every commit that git itself made
                        _write_member(archive, member, target / member.name)
            words = cast("IO[bytes]", process.stderr).read().decode("utf-8", "replace").strip()
        if process.returncode:
            message = f"git cannot read all files of {commit[:8]}: {words.splitlines()[-1] if words else ''}"
            raise make_error("BASE", message.rstrip(": "), "Fetch them: git fetch, without --filter")
        # Put files of Git LFS in place of their pointers where the repository has them.
        store = self.shared / "lfs" / "objects"
        for path in target.rglob("*") if store.is_dir() else ():
            if not path.is_file() or path.stat().st_size > _LONGEST_POINTER:
                continue
            if match := _POINTER.fullmatch(path.read_bytes()):
                oid = match[1].decode()
                stored = Path(resolve_path(store), oid[:2], oid[2:4], oid)
                is_own = stored.is_file() and resolve_path(stored) == str(stored)
                if is_own and stored.stat().st_size == int(match[2]):
                    path.unlink()
                    shutil.copyfile(stored, path)
        _make_links(links, target)

    def _try(self, *words: str) -> str | None:
        """What git says; None if it fails."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                view = make_git_view(self.checkout, Path(folder))
                with start_git(view, *words) as process:
                    said = process.communicate()[0]
        except FileNotFoundError as error:
            raise make_error("HEAD", "git is not installed", "Install it, or name two folders") from error
        return said.decode("utf-8", "replace").strip() if process.returncode == 0 else None


def unpack_report(repository: Repository, commit: str, folder: Path, root: Path, cache: Path) -> Path:
    """Unpack a commit into a folder, and return the folder of it that stands for ``root``, a report's.

    Files of which an earlier call knows that the working tree has them, too, are copied from there.
    What the last draft of the report hashed is hashed here, too, as this may be another process.
    """
    target = folder / "checkout"
    store = cache / OTHER_STATES / "blobs.json"
    known: dict[str, str] = {}
    with suppress(OSError, ValueError):
        known = dict(json.loads(store.read_text("utf-8")))
    blobs, current, hashes = repository.list_blobs(commit), FileHashes(cache), FileHashes(store.parent)
    copied = []
    for name, blob in blobs.items():
        path, copy, digest = repository.checkout / name, target / name, known.get(blob)
        with suppress(OSError):
            if digest and current.recall(path) == digest:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
                if current.recall(path) == digest:
                    copied.append(name)
                    hashes.remember(copy, digest, get_stamp(copy))
    repository.unpack(commit, folder, copied)
    hashed = {}
    for path in map(Path, current.names):
        with suppress(OSError, ValueError):
            place = path.relative_to(repository.checkout)
            hashed[blobs.get(place.as_posix(), "")] = hashes(target / place)
    hashes.save()
    with suppress(OSError):
        replace_file(str(store), json.dumps(hashed).encode())
    return target / root.relative_to(repository.checkout)


def find_repository(folder: Path) -> Repository | None:
    """The repository around a folder; None where there is none."""
    checkout = find_checkout(folder.resolve())
    return Repository(checkout, *find_git_folders(checkout)) if checkout else None


class NewLines:
    """The lines of a report's files that they did not have where this branch left a revision.

    Raises a ReportError if there is no such revision.
    """

    def __init__(self, root: Path, base: str) -> None:
        repository = find_repository(root)
        commit = repository.resolve(base) if repository else None
        if repository is None or commit is None:
            message = "this is no revision of the report's repository"
            raise make_error(base or "''", message, "Name one, such as main")
        self._root, self._repository = root.resolve(), repository
        self._blobs = repository.list_files_since(commit)
        self._found: dict[str, frozenset[int]] = {}

    def include(self, place: SourceLocation) -> bool:
        """Return whether a line is new, as all places in the cells of notebooks are."""
        if not (self._root / place.file).is_file():
            return True
        if place.file not in self._found:
            self._found[place.file] = frozenset(self._find_lines(self._root / place.file))
        return place.line in self._found[place.file]

    def _find_lines(self, path: Path) -> Iterator[int]:
        data = path.read_bytes()
        blob = self._blobs.get(os.path.relpath(path, self._repository.checkout), "")
        # What git would call the file; most have not changed, and need no process.
        if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob:
            return
        old = self._repository.read_lines(blob) if blob else frozenset[str]()
        lines = normalise_text(data.decode("utf-8-sig", "replace")).split("\n")
        yield from (number for number, line in enumerate(lines, 1) if line not in old)


def _write_member(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    """Write a file or folder; the filters of ``tarfile`` are not in every Python 3.11."""
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
    elif member.isreg() and (content := archive.extractfile(member)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        os.utime(path, (member.mtime, member.mtime))


def _make_links(links: Sequence[tarfile.TarInfo], target: Path) -> None:
    """Make links once all files are written, so that none is written through one; not those that lead out."""
    made = []
    for link in filter(lambda one: is_safe(one.name), links):
        (target / link.name).parent.mkdir(parents=True, exist_ok=True)
    for link in filter(lambda one: is_safe(one.name), links):
        with suppress(OSError):  # there is a file or a folder of that name
            (target / link.name).symlink_to(link.linkname)
            made.append(target / link.name)
    boundary = Boundary(resolve_path(target))
    for path in [one for one in made if boundary.resolve_outside(one)]:
        path.unlink()
