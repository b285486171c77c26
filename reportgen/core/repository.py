"""The git repository around a report, and which paths are outside it: links must not lead there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from msgspec import Struct

_GIT = ".git"


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
            real = os.path.realpath(link)
        except OSError:  # not permitted to resolve it
            return str(link)
        return None if self.contains(real) else real

    def add(self, path: Path) -> Boundary:
        """Return this boundary with one more folder or file, resolving links in its path."""
        return Boundary(self.repository, (*self.others, os.path.realpath(path)))


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
