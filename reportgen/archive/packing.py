"""Packing a report into a zip file whose manifest follows from the report alone."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from base64 import urlsafe_b64encode
from contextlib import suppress
from importlib.metadata import distributions
from importlib.resources import files as resource_files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.archive.crate import PackedFile
from reportgen.core import __version__, intact
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.plugins import READERS, list_plugins
from reportgen.site.replacing.records import check_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reportgen.archive.contents import Member
    from reportgen.site.replacing.locations import Output

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


class FileChangedError(ReportError):
    """A file is not as it was when the report was drafted, or changed while it was packed."""

    def __init__(self, path: str) -> None:
        step = "Wait until it is complete, and run the command again"
        message = "the file changed while it was archived"
        super().__init__(Diagnostic(SourceLocation(path), message, step, Stage.SITE))


def hash_members(members: Iterable[Member]) -> dict[str, PackedFile]:
    """Return size and SHA-256 of members, by path.

    Raises a FileChangedError if a file is not as it was when the report was drafted.
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
            raise FileChangedError(member.path)
        found[member.path] = PackedFile(size, digest)
    return found


def write_archive(
    output: Output,
    members: Iterable[Member],
    files: Mapping[str, PackedFile],
    date: str,
    *,
    environment: Mapping[str, Any],
    progress: Callable[[int, int], None],
) -> Packed:
    """Write an archive of members, whose sizes and hashes are known, in place of what ``output`` was.

    All times in it are midnight of ``date`` (``2026-11-20``, or empty). ``environment``, what it was written
    with, becomes the zip file's comment, which the manifest does not cover. ``progress`` is called with the
    number of bytes packed and of all. Raises a FileChangedError if a file changes meanwhile, and a
    ReportError if somebody has written the output meanwhile.
    """
    target = output.path
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
            packed.comment = json.dumps(environment, sort_keys=True).encode()
        Path(name).chmod(0o644)
        check_file(output)
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
        raise FileChangedError(member.path)


_WHEEL: Final = """\
Wheel-Version: 1.0
Generator: reportgen
Root-Is-Purelib: true
Tag: py3-none-any
"""


def make_wheel() -> tuple[str, bytes]:
    """Make the wheel of this reportgen from its installed files; returns its name and bytes.

    It need not have been installed from a wheel. Members are not deflated, so that the same files give the
    same bytes with every Python.
    """
    # A checkout may have metadata of its own, which setuptools left there.
    found = ((one, one.read_text("METADATA")) for one in distributions(name="mkdocs-reportgen"))
    installed, described = next((one, text) for one, text in found if text)
    stem = f"mkdocs_reportgen-{__version__}"
    about = f"{stem}.dist-info"
    content = {
        f"{about}/METADATA": described.encode(),
        f"{about}/WHEEL": _WHEEL.encode(),
        f"{about}/entry_points.txt": _list_points(installed.read_text("entry_points.txt") or "").encode(),
    }
    for one in installed.files or ():
        if "licenses" in one.parts:
            content[f"{about}/licenses/{one.name}"] = one.read_binary()
    theme = Path(str(resource_files("reportgen.site_templates")))
    for folder, below in ((Path(__file__).parents[1], "reportgen"), (theme, "reportgen/site_templates")):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content[f"{below}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()
    hashes = {name: urlsafe_b64encode(hashlib.sha256(data).digest()) for name, data in content.items()}
    lines = [f"{name},sha256={hashes[name].decode().rstrip('=')},{len(content[name])}\n" for name in content]
    content[f"{about}/RECORD"] = "".join([*lines, f"{about}/RECORD,,\n"]).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as wheel:
        for member, data in content.items():
            wheel.writestr(_make_info(member, _FIRST_DATE), data, zipfile.ZIP_STORED)
    return f"{stem}-py3-none-any.whl", stream.getvalue()


def _list_points(installed: str) -> str:
    """Return entry points as they were installed, with the readers of now: a checkout may be newer."""
    others = re.sub(rf"^\[{re.escape(READERS)}\]\n[^\[]*", "", installed, flags=re.MULTILINE).rstrip("\n")
    readers = [f"{one.name} = {one.value}\n" for one in list_plugins(READERS).values() if one.own]
    return f"{others}\n\n[{READERS}]\n{''.join(readers)}"


def _make_info(path: str, moment: str) -> zipfile.ZipInfo:
    year, month, day = map(int, moment.split("-"))
    info = zipfile.ZipInfo(path, (min(year, 2107), month, day, 0, 0, 0))
    is_packed = path.rpartition(".")[2].lower() in _PACKED
    info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, which has the mode
    info.external_attr = 0o100644 << 16
    return info
