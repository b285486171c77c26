"""The git repository around a report: what is outside it, and git without the repository's settings."""

from __future__ import annotations

import errno
import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from subprocess import Popen

_GIT = ".git"
# Whoever opens such a path fails, too.
_NOWHERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES))


class Boundary(Struct, frozen=True):
    """Folders that links may lead into, as paths without links.

    Git's own files in ``repository`` are outside: they may hold the token of a workflow's checkout.
    ``others`` are further folders or files that may be read.
    """

    repository: str
    others: tuple[str, ...] = ()

    def contains(self, real: str) -> bool:
        """Return whether a path without links is inside."""
        if _is_inside(real, self.repository):
            return _GIT not in (part.casefold() for part in Path(real).relative_to(self.repository).parts)
        return any(_is_inside(real, other) for other in self.others)

    def resolve_outside(self, link: Path) -> str | None:
        """Return where a path leads if that is outside, or None if it is inside."""
        try:
            real = resolve_path(link)
        except OSError:  # not permitted to resolve it
            return str(link)
        return None if self.contains(real) else real

    def add(self, path: Path) -> Boundary:
        """Return this boundary with one more folder or file, resolving links in its path."""
        return Boundary(self.repository, (*self.others, os.path.realpath(path)))


def is_hidden(name: str) -> bool:
    """Return whether a file or folder is passed over, as those of git are; results of the Hub are read."""
    return name.startswith(".") and name != ".eval_results"


def resolve_path(path: str | Path) -> str:
    """Return a path without links, as the system follows it; raise an OSError if a link cannot be read.

    Of a way that is longer than a path may be, it is a text that is in no folder. There, ``realpath`` takes a
    link for a file, and ``..`` behind it for the folder that has the link.
    """
    try:
        return os.path.realpath(path, strict=True)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return f"(too long to follow) {path}"
        if error.errno not in _NOWHERE:
            raise
        return os.path.realpath(path)


def find_checkout(folder: Path) -> Path | None:
    """Return the root of the git repository that contains a folder, or None if there is none."""
    # A commit cannot contain anything named .git.
    return next((around for around in (folder, *folder.parents) if os.path.lexists(around / _GIT)), None)


def find_boundary(root: Path) -> Boundary:
    """Return the repository around the folder of ``mkdocs.yml``, or that folder if there is no ``.git``."""
    real = Path(os.path.realpath(root))
    return Boundary(str(find_checkout(real) or real))


@cache
def find_data_boundary(root: Path, data_dir: str) -> Boundary:
    """Return where links in data may lead: into the repository, and into a data folder outside it.

    ``data_dir`` is as in ``mkdocs.yml``, relative to its folder ``root``.
    """
    boundary = find_boundary(root)
    named = os.path.normpath(os.path.join(os.path.realpath(root), data_dir))  # noqa: PTH118 - keeps links
    return boundary if boundary.contains(named) else boundary.add(Path(named))


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def find_git_folders(checkout: Path) -> tuple[Path, Path]:
    """Return git's folder of a checkout, and the one with the commits, which work trees share."""
    folder = checkout / _GIT
    if folder.is_file():  # a second work tree, or a submodule
        folder = checkout / folder.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    common = folder / "commondir"
    return folder, folder / common.read_text(encoding="utf-8").strip() if common.is_file() else folder


_SHA256 = re.compile(r"^\s*objectFormat\s*=\s*sha256\s*$", re.IGNORECASE | re.MULTILINE)
# These go before the .gitattributes of a commit: its files come out, and are compared, byte for byte.
_ATTRIBUTES = "* -export-ignore -export-subst -filter -text -eol -ident -working-tree-encoding -diff\n"


def make_git_view(checkout: Path, folder: Path) -> Path:
    """Make a git folder below ``folder`` with the commits and branches of a checkout, but not its settings.

    Settings of a repository can run programs: filters, hooks, monitors, remotes that missing objects are
    fetched from, and whatever files they include.
    """
    private, shared = (one.resolve() for one in find_git_folders(checkout))
    view = folder / "git"
    for name in ("objects/info", "info"):
        (view / name).mkdir(parents=True)
    (view / "objects/info/alternates").write_text(f"{shared / 'objects'}\n", "utf-8")
    (view / "info/attributes").write_text(_ATTRIBUTES, "utf-8")
    for name in ("refs", "packed-refs", "shallow", "logs", "reftable"):
        if (shared / name).is_file() or (shared / name).is_dir():
            (view / name).symlink_to(shared / name)
    (view / "refs").mkdir(exist_ok=True)
    for name in ("HEAD", "ORIG_HEAD", "FETCH_HEAD"):
        if (private / name).is_file():
            shutil.copyfile(private / name, view / name)
    extensions = "\trefStorage = reftable\n" if (view / "reftable").exists() else ""
    config = shared / "config"
    if config.is_file() and _SHA256.search(config.read_text("utf-8", "replace")):
        extensions += "\tobjectFormat = sha256\n"
    settings = f"[core]\n\trepositoryFormatVersion = {int(bool(extensions))}\n\tbare = true\n"
    (view / "config").write_text(f"{settings}[extensions]\n{extensions}", "utf-8")
    return view


def start_git(view: Path, *words: str, work_tree: Path | None = None) -> Popen[bytes]:
    """Start git on what ``make_git_view`` made; it reads no other settings, and nothing is fetched or asked.

    With a work tree, its index is ``index`` next to the view. Raises a FileNotFoundError without git.
    """
    import subprocess  # noqa: PLC0415 - a build that finds nothing changed asks no git

    own = ("GIT_", "SSH_ASKPASS", "HOME", "XDG_CONFIG_HOME")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    settings = {"HOME": str(view), "XDG_CONFIG_HOME": str(view)}
    settings |= dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM", "GIT_NO_LAZY_FETCH"), "1")
    settings |= {"GIT_ALLOW_PROTOCOL": "", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    settings |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_INDEX_FILE": str(view.with_name("index")), "LC_ALL": "C"}
    tree = (f"--work-tree={work_tree}",) if work_tree else ()
    return subprocess.Popen(  # noqa: S603 - fixed words, and names that begin with no hyphen
        ["git", f"--git-dir={view}", *tree, *words],  # noqa: S607 - whichever git the user has
        cwd=work_tree or view,
        env=inherited | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
