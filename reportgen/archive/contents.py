"""Which files of a report belong into its archive, and which may not leave the machine."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.intact import is_safe
from reportgen.core.repository import find_boundary
from reportgen.site.describe import format_bytes
from reportgen.site.files import filter_shown, list_content_files
from reportgen.site.sources.freezing import ORIGIN, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.archive.provenance import RecordedSource, ReportRecord


class Member(Struct, frozen=True):
    """A file of an archive: its bytes, or the file that has them.

    ``sha256`` is that of the file when the report was drafted, empty if the draft did not read it.
    """

    path: str
    content: bytes | Path
    sha256: str = ""


def list_project_files(config: MkDocsConfig, root: Path, record: ReportRecord) -> Iterator[Member]:
    """List ``mkdocs.yml``, the content, the theme's own folder and the code that charts are drawn by."""
    config_file = Path(config.config_file_path or root / "mkdocs.yml")
    paths = [config_file, *(Path(path) for path in config.hooks)]
    paths += [Path(file.abs_src_path or "") for file in filter_shown(list_content_files(config, root))]
    paths += [root / name for name in (*record.code, *record.documents)]
    paths += [path for path in sorted(root.glob("LICEN[CS]E*")) if path.is_file()]
    if config.theme.custom_dir:
        paths += [path for path in sorted(Path(config.theme.custom_dir).rglob("*")) if path.is_file()]
    for path in dict.fromkeys(paths):
        yield Member(Path(os.path.relpath(path, root)).as_posix(), path)


def list_data_files(root: Path, sources: Iterable[RecordedSource]) -> Iterator[Member]:
    """List the data files of sources that the report reads, and the sources' settings."""
    for source in sources:
        if source.place.endswith(SETTINGS):
            yield Member(source.place, root / source.place)
            # Which table of a cluster it was reduced from.
            origin = Path(source.place).with_name(ORIGIN)
            if (root / origin).is_file() and origin.as_posix() not in source.files:
                yield Member(origin.as_posix(), root / origin)
        for path, sha256 in source.files.items():
            yield Member(path, root / path, sha256)


_LARGE_DATA: Final = 2_000_000_000


def check_size(data: Iterable[Member]) -> Iterator[str]:
    """Yield a warning if data files are so large that an archive of them is hard to store or to fetch."""
    size = sum(one.content.stat().st_size for one in data if isinstance(one.content, Path))
    if size > _LARGE_DATA:
        yield f"the data have {format_bytes(size)}; --data frozen packs each source as one small table"


_LONGEST_NAME: Final = 255
_UNPORTABLE: Final = re.compile(r'[:*?"<>|]|[. ](?:/|$)')
_POINTER: Final = b"version https://git-lfs.github.com/spec/"


def check_members(members: Iterable[Member], root: Path) -> Iterator[Diagnostic]:
    """Find members that cannot be packed, and names that not every system can unpack."""
    boundary, twins = find_boundary(root), defaultdict(list)
    for member in members:
        twins[unicodedata.normalize("NFC", member.path).casefold()].append(member.path)
        if member.path.startswith(("../", "/")):
            step = "Move it into the folder of mkdocs.yml; data may also be left out with --data none"
            yield _make_problem(member.path, "it lies outside the folder of the report", step)
            continue
        if max(len(part.encode()) for part in member.path.split("/")) > _LONGEST_NAME:
            yield _make_problem(member.path, f"its name has more than {_LONGEST_NAME} bytes", "Shorten it")
        elif not member.path.isprintable() or not is_safe(member.path):
            step = "Give it another one: at most 1,024 bytes, without control characters and backslashes"
            yield _make_problem(ascii(member.path), "not every system can unpack this name", step)
        elif _UNPORTABLE.search(member.path):
            yield _make_problem(member.path, "Windows cannot unpack this name", "", Severity.WARNING)
        if isinstance(member.content, Path):
            yield from _check_file(member, member.content, boundary.resolve_outside(member.content))
    for paths in twins.values():
        if len(paths) > 1:
            message = f"on some systems this is the same name as {', '.join(paths[1:])}"
            yield _make_problem(paths[0], message, "", Severity.WARNING)


def _check_file(member: Member, path: Path, outside: str | None) -> Iterator[Diagnostic]:
    if outside and path.is_symlink():
        yield _make_problem(
            member.path, "it is a link that leads out of the repository", "Copy the file here"
        )
    else:
        with path.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                message = "it is a Git LFS pointer, not the file itself"
                yield _make_problem(member.path, message, "Run git lfs pull")


_SECRET_NAMES: Final = (
    *(".env", ".env.*", ".netrc", "_netrc", ".npmrc", ".pypirc", "*.pem", "*.key", "*.p12", "*.pfx"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.kdbx", "credentials", "credentials.json"),
)
_SECRETS: Final = {
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access key of AWS": re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a token of GitHub": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    "a token of GitLab": re.compile(rb"\bglpat-[A-Za-z0-9_-]{20,}"),
    "a token of Hugging Face": re.compile(rb"\bhf_[A-Za-z0-9]{30,}\b"),
    "a key of an API": re.compile(rb"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{32,}"),
    "a token of Slack": re.compile(rb"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    "a password or token": re.compile(
        rb"(?i)(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|passwd|password)['\"]?\s*[:=]\s*"
        rb"['\"]?(?=[A-Za-z0-9_+/-]*[0-9])[A-Za-z0-9_+/-]{16,}"
    ),
}
# Longer files are data: their names are checked, and their text is that of many runs.
_LONGEST_CHECKED: Final = 1_000_000


def find_secrets(members: Iterable[Member], allowed: Iterable[str]) -> Iterator[Diagnostic]:
    """Find files that look like credentials, and short texts that hold some; ``allowed`` are paths."""
    permitted = set(allowed)
    for member in members:
        if member.path in permitted:
            continue
        step = f"Remove it, or archive it anyway with --allow {member.path}"
        name = member.path.rpartition("/")[2].lower()
        if any(fnmatchcase(name, pattern) for pattern in _SECRET_NAMES):
            yield _make_problem(member.path, "by its name, this file holds credentials", step)
            continue
        text = member.content
        if isinstance(text, Path):
            text = text.read_bytes() if text.stat().st_size <= _LONGEST_CHECKED else b""
        for meaning, pattern in _SECRETS.items():
            if found := pattern.search(text):
                line = text.count(b"\n", 0, found.start()) + 1
                yield _make_problem(member.path, f"this looks like {meaning}", step, line=line)


def _make_problem(
    file: str, message: str, step: str, severity: Severity = Severity.ERROR, line: int | None = None
) -> Diagnostic:
    return Diagnostic(SourceLocation(file, line), message, step, Stage.SITE, severity)
