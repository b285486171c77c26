"""The git repository around a report, and which paths lie outside of it: links must not lead there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_GIT = ".git"


@dataclass(frozen=True, slots=True)
class Boundary:
    """The folders that links may lead into, without links in their own paths.

    What git itself has in ``repository``, such as the token of a workflow's checkout, lies outside.
    ``others`` are further folders or files that may be read.
    """

    repository: str
    others: tuple[str, ...] = ()

    def contains(self, real: str) -> bool:
        """Whether a path without links lies within."""
        if _is_inside(real, self.repository):
            return _GIT not in (part.casefold() for part in Path(real).relative_to(self.repository).parts)
        return any(_is_inside(real, other) for other in self.others)

    def resolve_outside(self, link: Path) -> str | None:
        """Where a path leads if that is outside; None if it is within."""
        try:
            real = os.path.realpath(link)
        except OSError:  # nobody may ask where it leads
            return str(link)
        return None if self.contains(real) else real

    def add(self, path: Path) -> Boundary:
        """The same with one more folder or file, wherever its path leads."""
        return Boundary(self.repository, (*self.others, os.path.realpath(path)))


def find_checkout(folder: Path) -> Path | None:
    """The folder of the git repository around a folder; None where there is none."""
    # A commit cannot hold anything that is called .git.
    return next((around for around in (folder, *folder.parents) if os.path.lexists(around / _GIT)), None)


def find_boundary(root: Path) -> Boundary:
    """The repository around the folder of ``mkdocs.yml``, or that folder where there is no ``.git``."""
    real = Path(os.path.realpath(root))
    return Boundary(str(find_checkout(real) or real))


@cache
def find_data_boundary(root: Path, data_dir: str) -> Boundary:
    """Where links in data may lead: into the repository, and into a data folder outside of it.

    ``data_dir`` is written as in ``mkdocs.yml``, relative to its folder ``root``.
    """
    boundary = find_boundary(root)
    named = os.path.normpath(os.path.join(os.path.realpath(root), data_dir))  # noqa: PTH118 - keeps links
    return boundary if boundary.contains(named) else boundary.add(Path(named))


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
