"""Names of data files: endings, formats and order; and their hashes."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

TABLE_ENDINGS: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
# Settings and weights have these endings too: they are data where they are named, or where no table is.
WEAK_ENDINGS: Final = {".yaml": "yaml", ".yml": "yaml", ".npz": "npz", ".md": "markdown", ".tex": "latex"}
PRINTED: Final = frozenset(("markdown", "latex"))
"""Formats of texts, which are data only where they are named."""
ARCHIVE_ENDINGS: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")
COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}

_DIGITS: Final = re.compile(r"(\d+)")


def get_compression(path: PurePath) -> str:
    """Return ``gzip``, ``zstd`` or an empty string, as a file's name says."""
    return COMPRESSIONS.get(path.suffix.lower(), "")


def strip_compression(path: PurePath) -> str:
    """Return the name of a file without the ending of its compression."""
    return path.name[: -len(path.suffix)] if get_compression(path) else path.name


def get_ending(path: Path) -> str:
    """Return the last ending of a file's name but that of its compression, in lower case."""
    return PurePosixPath(strip_compression(path)).suffix.lower()


def get_stem(path: Path) -> str:
    """Return a file's name without that ending and that of its compression."""
    return PurePosixPath(strip_compression(path)).stem


def split_ending(path: Path) -> tuple[str, str | None]:
    """Return the name without suffixes, and the format; None if it is unknown."""
    name = strip_compression(path)
    suffix = PurePosixPath(name).suffix
    kind = TABLE_ENDINGS.get(suffix.lower())
    return (name[: -len(suffix)] if kind else name), kind


def split_weak_ending(path: Path) -> tuple[str, str | None]:
    """Return the same as ``split_ending`` where formats count that are often no data."""
    name, kind = split_ending(path)
    weak = WEAK_ENDINGS.get(get_ending(path)) if kind is None else None
    return (PurePosixPath(name).stem, weak) if weak else (name, kind)


def is_table_name(path: Path, stated: str | None = None) -> bool:
    """Return whether a file's ending is that of a table; of texts only if their format is stated."""
    kind = split_weak_ending(path)[1]
    return kind is not None and (kind not in PRINTED or kind == stated)


def get_archive_ending(name: str) -> str:
    """Return the ending of an archive's name, as written; empty if it is none."""
    longest = max((len(one) for one in ARCHIVE_ENDINGS if name.lower().endswith(one)), default=0)
    return name[-longest:] if 0 < longest < len(name) else ""


def natural_key(path: Path) -> list[tuple[tuple[int, int, str], ...]]:
    """Return a sort key that puts ``run2`` before ``run10``."""
    return [rank_digits(part) for part in path.parts]


def rank_digits(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key of a text that orders the whole numbers in it by value."""
    # Python does not convert texts of thousands of digits, so numbers are compared by length and digits.
    pieces = ((piece, piece.lstrip("0")) for piece in _DIGITS.split(text))
    return tuple(
        (0, len(digits), digits + piece) if piece.isdecimal() else (1, 0, piece) for piece, digits in pieces
    )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the file's bytes on disk, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
