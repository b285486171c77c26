"""Packing a report into a zip file whose manifest follows from the report alone."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.archive import intact
from reportgen.archive.crate import PackedFile
from reportgen.core.errors import ReportError, make_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reportgen.archive.contents import Member

# What is packed already; deflating it again gains nothing.
_PACKED: Final = {
    *("gz", "bz2", "xz", "zst", "zip", "png", "jpg", "jpeg", "gif", "webp", "mp4"),
    *("woff", "woff2", "parquet", "npz"),
}
_CHUNK: Final = 1 << 20
_FIRST_DATE: Final = "1980-01-01"
"""Zip files know no earlier one."""


class Packed(Struct, frozen=True):
    """A written archive: its identity is the SHA-256 of its manifest."""

    path: Path
    identity: str
    size: int
    files: Mapping[str, PackedFile]


def hash_members(members: Iterable[Member]) -> dict[str, PackedFile]:
    """Return size and SHA-256 of members, by path.

    Raises a ReportError if a file is not as it was when the report was drafted.
    """
    found = {}
    for member in members:
        if isinstance(member.content, bytes):
            content = member.content
            found[member.path] = PackedFile(len(content), hashlib.sha256(content).hexdigest())
            continue
        with member.content.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        if member.sha256 not in {"", digest}:
            raise _make_changed_error(member.path)
        found[member.path] = PackedFile(size, digest)
    return found


def _make_changed_error(path: str) -> ReportError:
    step = "Wait until it is complete, and run the command again"
    return make_error(path, "the file changed while it was archived", step)


def write_archive(
    target: Path,
    members: Iterable[Member],
    files: Mapping[str, PackedFile],
    date: str,
    *,
    progress: Callable[[int, int], None],
) -> Packed:
    """Write an archive of members, whose sizes and hashes are known, in place of what ``target`` was.

    All times in it are midnight of ``date`` (``2026-11-20``, or empty). ``progress`` is called with the
    number of bytes packed and of all. Raises a ReportError if a file changes meanwhile.
    """
    manifest = "".join(f"{one.sha256}  {path}\n" for path, one in sorted(files.items())).encode()
    moment = max(date or _FIRST_DATE, _FIRST_DATE)
    whole, done = sum(one.size for one in files.values()), 0
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w") as packed:
            for member in sorted(members, key=lambda one: one.path):
                _write_member(packed, member, files[member.path], moment)
                done += files[member.path].size
                progress(done, whole)
            packed.writestr(_make_info(intact.MANIFEST, moment), manifest)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    finally:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
    return Packed(target, hashlib.sha256(manifest).hexdigest(), target.stat().st_size, files)


def _write_member(packed: zipfile.ZipFile, member: Member, known: PackedFile, moment: str) -> None:
    info = _make_info(member.path, moment)
    if isinstance(member.content, bytes):
        packed.writestr(info, member.content)
        return
    info.file_size = known.size
    digest = hashlib.sha256()
    with member.content.open("rb") as file, packed.open(info, "w") as entry:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            entry.write(chunk)
    if digest.hexdigest() != known.sha256:
        raise _make_changed_error(member.path)


def _make_info(path: str, moment: str) -> zipfile.ZipInfo:
    year, month, day = map(int, moment.split("-"))
    info = zipfile.ZipInfo(path, (min(year, 2107), month, day, 0, 0, 0))
    is_packed = path.rpartition(".")[2].lower() in _PACKED
    info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, which has the mode
    info.external_attr = 0o100644 << 16
    return info
