"""Check that an archive of a report is as it was written: every file is there and has its SHA-256.

It is also the verify.py in each archive, and needs nothing but Python 3.8 or newer:

    python3 verify.py                this archive, after unpacking
    python3 verify.py REPORT.zip     one that is still packed

Exit code 0: all files are there and unchanged. 1: they are not; a line each says what is wrong.
"""

from __future__ import annotations

import hashlib
import re
import stat
import sys
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

MANIFEST = "manifest-sha256.txt"
MOST_MANIFEST = 100_000_000
"""Bytes of a manifest: more than a million files have."""
# Too long, a drive of Windows, what no name has, or git's settings, which run programs, or a folder above.
_UNSAFE = re.compile(rb"(?si).{1025}|.*[^/]{256}|[a-z]:|.*[\\\0-\x1f\x7f]|(.*/)?(\.git|git~1|)[. ]*(/|$)")
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n\r]+)")
_CHUNK = 1 << 20
# What reading a damaged zip file raises.
READING_ERRORS = OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error


def is_safe(name: object) -> bool:
    """Return whether a name from elsewhere is that of a file below the folder it is put into."""
    return isinstance(name, str) and not _UNSAFE.match(name.encode("utf-8", "replace"))


def read_manifest(content: bytes) -> tuple[dict[str, str], list[str]]:
    """Read the hash of each file by its name, and what is wrong with the manifest."""
    files: dict[str, str] = {}
    problems = []
    lines = content.decode("utf-8", "replace").split("\n")
    if lines.pop():
        problems.append(f"{MANIFEST}: its last line has no end")
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line)
        if not found or not is_safe(found[2]) or found[2] in files or found[2] == MANIFEST:
            problems.append(f"{MANIFEST}, line {number}: not a SHA-256, two spaces and the name of a file")
        else:
            files[found[2]] = found[1]
    if not files and not problems:
        problems.append(f"{MANIFEST}: it names no file")
    return files, problems


def compare(names: list[str], open_file: Callable[[str], IO[bytes]]) -> tuple[str, list[str]]:
    """Compare files with the manifest among them; return its SHA-256 and what is wrong, worst first."""
    if MANIFEST not in names:
        return "", [f"{MANIFEST}: missing, so this is no archive of a report"]
    with open_file(MANIFEST) as file:
        content = file.read(MOST_MANIFEST + 1)
    if len(content) > MOST_MANIFEST:
        return "", [f"{MANIFEST}: larger than {MOST_MANIFEST:,} bytes"]
    files, problems = read_manifest(content)
    there = set(names) - {MANIFEST}
    changed = []
    for name in sorted(files.keys() & there):
        try:
            with open_file(name) as file:
                digest = hash_file(file)
        except READING_ERRORS as error:
            changed.append(f"{name}: cannot be read ({error})")
        else:
            if digest != files[name]:
                changed.append(f"{name}: changed")
    missing = [f"{name}: missing" for name in sorted(files.keys() - there)]
    added = [f"{name}: not in the manifest" for name in sorted(there - files.keys())]
    return hashlib.sha256(content).hexdigest(), [*problems, *changed, *missing, *added]


def hash_file(file: IO[bytes]) -> str:
    """Return the SHA-256 of an open file, which may be larger than memory."""
    digest = hashlib.sha256()
    while True:
        chunk = file.read(_CHUNK)
        if not chunk:
            return digest.hexdigest()
        digest.update(chunk)


def check_folder(folder: Path) -> tuple[str, list[str]]:
    """Return an archive's identity, the SHA-256 of its manifest, and what is wrong with its files."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir()]
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    # Opening a pipe would wait for somebody to write to it.
    odd = [name for name, path in files.items() if path.is_symlink() or not path.is_file()]
    if odd:
        return "", [f"{name}: not a file but a link, a pipe or a device" for name in odd]
    return compare([*files], lambda name: files[name].open("rb"))


def list_members(file: zipfile.ZipFile) -> tuple[dict[str, zipfile.ZipInfo], list[str]]:
    """Return the members of a packed archive by name, and which are not as an archive has them."""
    members: dict[str, zipfile.ZipInfo] = {}
    problems = []
    for one in file.infolist():
        kind = stat.S_IFMT(one.external_attr >> 16)
        if not is_safe(one.filename) or one.filename != one.orig_filename:
            problems.append(f"{one.orig_filename!r}: a name that leads elsewhere")
        elif one.filename in members:
            problems.append(f"{one.filename}: there twice")
        elif one.flag_bits & 1:
            problems.append(f"{one.filename}: encrypted")
        elif kind not in {0, stat.S_IFREG}:
            problems.append(f"{one.filename}: not a file but a link or a device")
        members[one.filename] = one
    return members, problems


def check_zip(path: Path) -> tuple[str, list[str]]:
    """Return the same of an archive that is still packed."""
    try:
        with zipfile.ZipFile(path) as file:
            members, problems = list_members(file)
            if problems:
                return "", problems
            return compare(sorted(members), lambda name: file.open(members[name]))
    except READING_ERRORS as error:
        return "", [f"{path.name}: not a whole zip file ({error})"]


def main(arguments: list[str]) -> int:
    """Check the archive that is named, or the one around this file; print the result."""
    path = Path(arguments[0]) if arguments else Path(__file__).resolve().parent
    identity, problems = check_folder(path) if path.is_dir() else check_zip(path)
    for problem in problems:
        sys.stdout.write(f"{ascii(problem)[1:-1]}\n")
    result = (
        f"{len(problems)} problems" if problems else f"intact: every file is as it was written\n{identity}"
    )
    sys.stdout.write(f"{result}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
