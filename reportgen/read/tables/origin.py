"""``origin.json``: which table of a database or a cluster a frozen folder was reduced from, and how."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from reportgen.core.errors import Stage, make_error
from reportgen.core.words import join_names
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.sql import get_engine, quote
from reportgen.read.find import SETTINGS
from reportgen.read.tables.layout import match_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


ORIGIN: Final = "origin.json"
POINTS: Final = "points.parquet"
OUTCOMES: Final = "outcomes.parquet"
_FORMAT: Final = 1
_LEFT: Final = re.compile(r"\.\d+$")


class FrozenPart(Struct, frozen=True):
    """One metric or benchmark of a frozen table: its rows, their SHA-256, and its bins if there are any."""

    rows: int
    sha256: str
    bins: int | None = None


class TableOrigin(Struct, frozen=True):
    """A table that was reduced where it lies, and what it was reduced to."""

    format: int
    engine: str  # with its version: "Spark 4.1.4"
    table: str  # as its user names it, such as "lake.runs@snapshot 4711"; may be empty
    rows: int  # before freezing
    columns: dict[str, str]  # those that the user named, by role
    metrics: tuple[str, ...] | None
    reduce: int
    types: dict[str, str]  # of all columns of the table, as narwhals names them
    schema_sha256: str
    parts: dict[str, FrozenPart]
    file: str
    sha256: str
    reportgen: str


def hash_types(types: Mapping[str, str]) -> str:
    """Return the SHA-256 of a schema: names and types of columns in any order."""
    return hashlib.sha256(msgspec.json.encode(sorted(types.items()))).hexdigest()


def encode_origin(origin: TableOrigin) -> bytes:
    """Return an origin as JSON with a line for each key."""
    return msgspec.json.format(msgspec.json.encode(origin), indent=2) + b"\n"


def read_origin(folder: Path) -> TableOrigin | None:
    """Read the origin of a frozen folder; None without one, ``ReportError`` if it is damaged."""
    path = folder / ORIGIN
    if not path.is_file():
        return None
    try:
        origin = msgspec.json.decode(path.read_bytes(), type=TableOrigin)
    except msgspec.MsgspecError as error:
        raise _fail(path, f"it is damaged: {error}") from None
    if origin.format != _FORMAT:
        raise _fail(path, f"it has format {origin.format}, and this version reads {_FORMAT}")
    return origin


def check_intact(folder: Path, origin: TableOrigin) -> None:
    """Raise ``ReportError`` unless the frozen file is the one that its origin describes."""
    path = folder / origin.file
    if not path.is_file():
        raise _fail(path, "the frozen table is missing")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != origin.sha256:
        raise _fail(path, f"it is not the table that was frozen: its SHA-256 is {digest[:12]}…")


def refuse_foreign(folder: Path) -> None:
    """Raise ``ReportError`` if a folder is a file, or holds files that freezing a table did not write."""
    if folder.exists() and not folder.is_dir():
        raise _fail(folder, "there is already a file with this name", "Name a folder")
    # A file with a number at its end is what a killed process left.
    names = {_LEFT.sub("", path.name) for path in folder.iterdir()} if folder.is_dir() else set()
    if names and (ORIGIN not in names or names - {ORIGIN, SETTINGS, POINTS, OUTCOMES}):
        message = "the folder holds files that reportgen.freeze did not write"
        raise _fail(folder, message, "Name a folder that is empty or does not exist yet")


def list_differences(old: TableOrigin, new: TableOrigin) -> Iterator[str]:
    """Yield a sentence for each way in which a table differs from when it was frozen."""
    for verb, before, after in (("lost", old, new), ("gained", new, old)):
        if names := [name for name in before.types if name not in after.types]:
            yield f"The table {verb} the columns {join_names(names, most=8)}."
    for name in (name for name in old.types if name in new.types and old.types[name] != new.types[name]):
        yield f"The column {name} was {old.types[name]} and is {new.types[name]}."
    if old.rows != new.rows:
        yield f"The table had {old.rows:,} rows and has {new.rows:,}."
    for name in dict.fromkeys((*old.parts, *new.parts)):
        part, other = old.parts.get(name), new.parts.get(name)
        if part is None or other is None:
            yield f"{name} is {'new' if part is None else 'gone'}."
        elif part.sha256 != other.sha256:
            yield f"The values of {name} differ."


def match_usual_columns(
    names: Sequence[str], given: Mapping[str, str], roles: Sequence[str]
) -> dict[str, str]:
    """Return the column of each role: one that is given, otherwise one with a usual name, as in a file."""
    return match_columns({role: ROLE_NAMES.get(role, (role,)) for role in roles}, names, given)


def encode_rows(columns: Mapping[str, Any], file: Path, select: str = "FROM frozen") -> bytes:
    """Return a SELECT of columns called ``frozen`` as the bytes of Parquet, written to ``file`` first."""
    cursor = get_engine().open_cursor()
    cursor.register("frozen", dict(columns))
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    cursor.execute(f"COPY ({select}) TO {quote(str(file))} ({options})")
    cursor.unregister("frozen")
    return file.read_bytes()


def _fail(path: Path, message: str, step: str = "Freeze the table again, or restore the file") -> Exception:
    return make_error(str(path), message, step, Stage.DATA)
