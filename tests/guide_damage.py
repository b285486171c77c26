"""Damage to the files of a folder, for what the guide says goes wrong.

Each function makes something that happens to a folder. A pattern is the end of a file's path, with ``*`` for
any name; of several files the first suffers.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Happens = Callable[[Path], None]

_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1\n"


def _bytewise(pattern: str, change: Callable[[bytes], bytes]) -> Happens:
    def happens(folder: Path) -> None:
        path = min(folder.rglob(pattern))
        data = path.read_bytes()
        assert change(data) != data
        path.write_bytes(change(data))

    return happens


def cut(pattern: str, count: int) -> Happens:
    """A file loses its last bytes."""
    return _bytewise(pattern, lambda data: data[:-count])


def kept(pattern: str, count: int) -> Happens:
    """A file keeps its first bytes only."""
    return _bytewise(pattern, lambda data: data[:count])


def changed(pattern: str, at: int) -> Happens:
    """A byte of a file becomes another."""

    def change(data: bytes) -> bytes:
        found = bytearray(data)
        found[at] ^= 1
        return bytes(found)

    return _bytewise(pattern, change)


def replaced(pattern: str, old: str, new: str) -> Happens:
    """A text becomes another, wherever it stands in a file."""
    return _bytewise(pattern, lambda data: data.replace(old.encode(), new.encode()))


def changed_text(pattern: str, old: str, new: str, count: int = 1) -> Happens:
    """The first text that fits a regular expression becomes another; with a ``count`` of 0 every one."""
    return _bytewise(pattern, lambda data: re.sub(old, new, data.decode(), count=count).encode())


def pointed(pattern: str) -> Happens:
    """Git LFS keeps a file elsewhere."""
    return _bytewise(pattern, lambda _: _POINTER.encode())


def removed(pattern: str) -> Happens:
    """Files are gone: all that have the name."""

    def happens(folder: Path) -> None:
        paths = list(folder.glob(pattern))
        assert paths
        for path in paths:
            path.unlink()

    return happens


def copied(old: str, new: str, *, behind: bool = False) -> Happens:
    """A file or folder is there a second time, or stands behind what another file holds."""

    def happens(folder: Path) -> None:
        if (folder / old).is_dir():
            shutil.copytree(folder / old, folder / new)
        else:
            before = (folder / new).read_bytes() if behind else b""
            (folder / new).write_bytes(before + (folder / old).read_bytes())

    return happens
