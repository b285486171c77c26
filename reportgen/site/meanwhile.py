"""Files of a site that are written in a thread, while MkDocs makes the pages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from concurrent.futures import Future

    from mkdocs.config.defaults import MkDocsConfig


class Meanwhile:
    """Writes files one after another; to make and write hundreds takes longer than to render the pages."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._writing: list[Future[None]] = []

    def file(self, config: MkDocsConfig, path: str, content: str | bytes) -> File:
        """A file of the site for MkDocs, which knows it, links to it, and leaves the writing to us."""
        file = cast("_Written", _Written.generated(config, path, content=content))
        file.meanwhile = self
        return file

    def write(self, path: Path, content: bytes) -> None:
        """Write a file soon; the folder is made if need be."""
        self._writing.append(self._thread.submit(write_file, path, content))

    def finish(self) -> None:
        """Wait until all is written.

        Raises:
            OSError: a file could not be written.
        """
        self._thread.shutdown()
        for writing in self._writing:
            writing.result()

    def abandon(self) -> None:
        """Leave the rest unwritten: the build has failed."""
        self._thread.shutdown(cancel_futures=True)


class _Written(File):
    meanwhile: Meanwhile

    def copy_file(self, dirty: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - MkDocs' signature
        self.meanwhile.write(Path(self.abs_dest_path), self.content_bytes)


def write_file(path: Path, content: bytes) -> None:
    """Write a file into a folder that is made if need be."""
    try:
        path.write_bytes(content)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
