"""Where commands may write: through no link, and not where the files are that a report is made of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.errors import make_error
from reportgen.core.repository import find_checkout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.errors import ReportError

_GIT: Final = ".git"


class Output(Struct, frozen=True):
    """A folder or a file that a command writes.

    ``root`` is the folder of the report, or the one that a command is run in; ``inputs`` are folders that
    the report is made of. ``setting`` is where the output was chosen: ``mkdocs.yml``, or an option.
    """

    path: Path
    root: Path
    setting: str
    inputs: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """How messages name it: relative to ``root`` if it is there."""
        return self._format(self.absolute, str(self.path))

    def _format(self, path: Path, outside: str = "") -> str:
        root = os.path.abspath(self.root)  # noqa: PTH100 - keeps links
        return os.path.relpath(path, root) if path.is_relative_to(root) else outside or str(path)

    def refuse(self, message: str, step: str) -> ReportError:
        """Make an error that names the output: the message continues ``"site" ``."""
        return make_error(self.setting, f'"{self.name}" {message}', step)

    def check_location(self) -> None:
        """Raise a ReportError if it is a link, is below one, or concerns a folder that must not change.

        Folders are compared by what they are on disk, not by name: a file system may ignore case, and a
        folder may be mounted twice.
        """
        step = "Choose a folder of its own, such as site"
        if link := self.find_link():
            which = "is a link" if link == self.absolute else f'is below the link "{self._format(link)}"'
            target = os.readlink(link)  # noqa: PTH115 - as a text
            raise self.refuse(f"{which}, to {target!r}", "Remove the link, or choose another folder")
        own, real = _identify(self.absolute), Path(os.path.realpath(self.absolute))
        above = {_identify(folder) for folder in (real, *real.parents)}
        for folder, what, holds_inputs in self._list_protected():
            protected = Path(os.path.realpath(folder))
            identity = _identify(protected)
            if identity is None:
                continue
            if own == identity:
                raise self.refuse(f"is {what}", step)
            if own and own in map(_identify, protected.parents):
                raise self.refuse(f"holds {what}", step)
            if holds_inputs and identity in above:
                raise self.refuse(f"is in {what}", "Choose a folder outside it")
        if _GIT in (part.casefold() for part in real.parts):
            raise self.refuse("is in a folder of git", "Choose a folder outside it")
        if self.absolute.is_mount():
            message = "is a mount point, which cannot be replaced as a whole"
            raise self.refuse(message, f"Choose a folder inside it, such as {self.name}/site")

    @property
    def absolute(self) -> Path:
        """The path without ``.`` and ``..``, with its links."""
        return Path(os.path.abspath(self.path))  # noqa: PTH100 - keeps links

    def list_parts(self) -> tuple[Path, tuple[str, ...]]:
        """Return a folder whose links are followed, and the names below it, which must be no links.

        The folder is that of the checkout around ``root``, or the output's parent if it is elsewhere.
        """
        root = Path(os.path.realpath(self.root))
        identity = _identify(find_checkout(root) or root)
        for folder in reversed(self.absolute.parents):
            if _identify(folder) == identity:
                return folder, self.absolute.relative_to(folder).parts
        return self.absolute.parent, (self.absolute.name,)

    def find_link(self) -> Path | None:
        """Return the first link on the way to the output that is not to be followed, or None."""
        folder, parts = self.list_parts()
        for part in parts:
            folder /= part
            if folder.is_symlink():
                return folder
        return None

    def _list_protected(self) -> Iterator[tuple[Path, str, bool]]:
        """List folders that must not change, and whether nothing in them may either."""
        yield self.root, "the project folder", False
        yield Path(os.path.expanduser("~")), "your home folder", False  # noqa: PTH111 - never fails
        for folder in self.inputs:
            yield folder, f'the folder "{folder.name}", which the report is made of', True


def _identify(path: Path) -> tuple[int, int] | None:
    """Return what identifies a file or folder on this machine, or None if there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
