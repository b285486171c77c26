"""What earlier builds computed, stored by content in the user's cache folder.

A key is the SHA-256 of everything that decides a value, so no value is ever thrown away for being old; it is
pruned when it was not used for long. Nothing that comes with a checkout is believed, so it lies outside.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reportgen.core import CACHE_DIR, __version__
from reportgen.core.repository import find_checkout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import TypeAdapter


_Value = TypeVar("_Value")
_DAY = 24 * 3600
_UNUSED_SECONDS = 30 * _DAY
_SEAL = 4
"""Bytes of the checksum before each value: it detects damage, at ten times the speed of a hash."""
_ENTRY = re.compile(r"[0-9a-f]{62}(\..+)?")
_TAG_FILE = "CACHEDIR.TAG"
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# A cache of reportgen, which may be deleted at any time. See https://bford.info/cachedir/\n"
)


@functools.cache
def cache_folder(root: Path) -> Path:
    """The folder of what builds of the report in ``root`` computed; made if need be.

    It lies in the user's cache folder, or in the one that ``REPORTGEN_CACHE_DIR`` names. Where it cannot be
    written, or where the user's cache folder lies inside the report's own checkout, it is a temporary one of
    this process.
    """
    from platformdirs import user_cache_path  # noqa: PLC0415 - not every command has a cache

    root = root.resolve()
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    name = f"{re.sub(r'[^A-Za-z0-9-]+', '-', root.name)[:40]}-{digest}"
    named = os.environ.get(CACHE_DIR)
    caches = Path(named).absolute() if named else user_cache_path("reportgen")
    folder = caches / name
    inside = caches.resolve().is_relative_to(find_checkout(root) or root)
    if (named or not inside) and not folder.is_symlink():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / _TAG_FILE).write_text(_TAG, encoding="utf-8")
            return folder
    return make_temporary_folder(Path(tempfile.gettempdir()))


def make_temporary_folder(parent: Path) -> Path:
    """A folder that goes with this process; those that killed processes left a day ago go as well."""
    folder = Path(tempfile.mkdtemp(prefix=f"reportgen-{os.getpid()}-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    now = folder.stat().st_mtime
    for left in parent.glob("reportgen-*-*"):
        process = left.name.split("-")[1]
        if not process.isdecimal() or int(process) == os.getpid():
            continue
        with suppress(OSError):
            # In another container the same number may be that of a process which runs, so it has to be old.
            # Anybody may write where temporary files are: it has to be a folder, no link, of this user's.
            found = left.lstat()
            ours = stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
            if ours and now - found.st_mtime > _DAY and not is_running(int(process)):
                shutil.rmtree(left, ignore_errors=True)
    return folder


def is_running(process: int) -> bool:
    """Whether another process has this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, and is another user's
        return True
    return process != os.getpid()


@dataclass(frozen=True, slots=True)
class CachedText:
    """A long text in a file of its own in the cache; ``str()`` reads it."""

    path: str = field(compare=False)
    sha256: str  # of its bytes, in hex
    size: int  # with ``changed`` its stamp, see ``get_stamp``
    changed: int = field(compare=False)

    def __str__(self) -> str:
        return Path(self.path).read_text(encoding="utf-8")

    @property
    def stands(self) -> bool:
        """Whether the file is there, and as it was written; hashed only if its time of change differs."""
        try:
            size, changed = get_stamp(self.path)
            if size == self.size and changed != self.changed:  # as after a restored backup
                return hashlib.sha256(Path(self.path).read_bytes()).hexdigest() == self.sha256
        except OSError:
            return False
        return size == self.size


def get_digest(text: str | CachedText) -> str:
    """SHA-256 of a text in hex, wherever it is."""
    return hashlib.sha256(text.encode()).hexdigest() if isinstance(text, str) else text.sha256


class Cache:
    """Bytes by key; two processes may use one folder, and a damaged entry is a missing one.

    ``hits`` and ``misses`` count the entries that were found and not found so far.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._root = folder, str(folder)
        self._opened: float | None = None
        self.hits = 0
        self.misses = 0

    @property
    def is_new(self) -> bool:
        """Whether no build has ever finished with it."""
        return not (self._folder / "pruned").exists()

    @staticmethod
    def make_key(*parts: str | bytes) -> str:
        """The key of a value that these parts decide; the tool's own version and code are among them."""
        digest = hashlib.sha256(_hash_code().encode())
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        path = self._get_path(key)
        used, data = 0.0, b""
        with suppress(OSError), open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib takes longer
            used, data = os.fstat(file.fileno()).st_mtime, file.readall()
        value = data[_SEAL:]
        if len(data) < _SEAL or _calculate_checksum(value) != data[:_SEAL]:
            self.misses += 1
            return None
        if used < self._get_time() - _DAY:
            with suppress(OSError):
                # Marks the use, for pruning; another process may have pruned it just now.
                os.utime(path)
        self.hits += 1
        return value

    def has_entry(self, key: str) -> bool:
        """Whether there is an entry, which may still turn out to be damaged."""
        return os.path.isfile(self._get_path(key))  # noqa: PTH113 - pathlib takes longer

    def put(self, key: str, value: bytes) -> None:
        """Store a value, unless the disk is full or read-only: a cache that cannot be written is none.

        Whoever reads at the same time sees the whole of it or nothing.
        """
        with suppress(OSError):
            replace_file(self._get_path(key), _calculate_checksum(value) + value)

    def load(self, key: str, kind: type[_Value]) -> _Value | None:
        """The value of a key as a value of this type; None where there is none that can be read."""
        data = self.get(key)
        if data is None:
            return None
        try:
            return _get_adapter(kind).validate_json(data)
        except ValueError:
            return None

    def store(self, key: str, kind: type[_Value], value: _Value) -> None:
        """Store a value of this type as JSON, so that reading a cache never runs code."""
        self.put(key, _get_adapter(kind).dump_json(value))

    def memo(self, key: str, kind: type[_Value], make: Callable[[], _Value]) -> _Value:
        """The stored value of a key, made and stored where there is none; None is never stored."""
        value = self.load(key, kind)
        if value is None:
            value = make()
            self.store(key, kind, value)
        return value

    def put_text(self, key: str, name: str, text: str) -> CachedText:
        """Store a long text of the value with this key, in a file that a site can link to.

        Raises ``OSError`` if the disk is full or read-only.
        """
        path, data = self.get_text_path(key, name), text.encode()
        replace_file(path, data)
        size, changed = get_stamp(path)
        return CachedText(path, hashlib.sha256(data).hexdigest(), size, changed)

    @contextmanager
    def write_file(self, key: str, name: str) -> Iterator[Path]:
        """A path for a file of the value with this key; after the block the whole file is in its place."""
        fresh = Path(f"{self.get_text_path(key, name)}.{os.getpid()}")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield fresh
            fresh.replace(self.get_text_path(key, name))
        finally:
            fresh.unlink(missing_ok=True)

    def get_text_path(self, key: str, name: str) -> str:
        """The path of the text or file of this name of a key's value."""
        return f"{self._get_path(key)}.{name}"

    def prune(self, unused_seconds: float = _UNUSED_SECONDS) -> int:
        """Remove entries not used for so long before the newest one; returns how many files."""
        groups: dict[str, list[tuple[float, Path]]] = defaultdict(list)
        for path in self._folder.glob("??/*"):
            if _ENTRY.fullmatch(path.name) and path.is_file():
                # The texts of a value go with it.
                groups[path.name.partition(".")[0]].append((path.stat().st_mtime, path))
        last = {name: max(used for used, _ in files) for name, files in groups.items()}
        newest = max(last.values(), default=0.0)
        stale = (name for name, used in last.items() if newest - used > unused_seconds)
        unused = [path for name in stale for _, path in groups[name]]
        for path in unused:
            path.unlink(missing_ok=True)
        return len(unused)

    def prune_daily(self) -> None:
        """Prune, unless that was done within a day: to look at every entry takes longer than to use some."""
        mark = self._folder / "pruned"
        with suppress(OSError):
            if self._get_time() - mark.stat().st_mtime < _DAY:
                return
        with suppress(OSError):
            self.prune()
            if not self._folder.is_dir():
                return
            mark.touch()
            # Other reports that were not built for long may never be built again.
            for tag in self._folder.parent.glob(f"*/{_TAG_FILE}"):
                with suppress(OSError):
                    used = (tag.parent / "used").stat().st_mtime
                    if self._get_time() - used > _UNUSED_SECONDS and tag.read_text("utf-8") == _TAG:
                        shutil.rmtree(tag.parent)

    def _get_time(self) -> float:
        """When this cache was first used, by the file system's clock, which marks entries too."""
        if self._opened is None:
            mark = self._folder / "used"
            self._opened = 0.0
            with suppress(OSError):
                mark.touch()
                self._opened = mark.stat().st_mtime
        return self._opened

    def _get_path(self, key: str) -> str:
        return f"{self._root}{os.sep}{key[:2]}{os.sep}{key[2:]}"


class FileHashes:
    """SHA-256 of files, remembered by path, size and time of change; hand it to whoever needs a hash."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "hashes.json"
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        self._known: dict[str, list[str | int]] = known if isinstance(known, dict) else {}
        self._used: set[str] = set()
        self._changed = False

    def __call__(self, path: Path) -> str:
        """The file's SHA-256 in hex; raises ``OSError`` if the file cannot be read."""
        name, mark = str(path), get_stamp(path)
        self._used.add(name)
        match self._known.get(name):
            case [int(size), int(changed), str(digest)] if (size, changed) == mark:
                return digest
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if get_stamp(path) == mark:
            # A file that was written while it was read is read again next time.
            self._known[name] = [*mark, digest]
            self._changed = True
        return digest

    def save(self) -> None:
        """Remember for the next build; files that were not hashed are forgotten."""
        if self._changed:
            current = {name: self._known[name] for name in sorted(self._used) if name in self._known}
            with suppress(OSError):
                replace_file(str(self._file), json.dumps(current).encode())


_adapters: dict[Any, TypeAdapter[Any]] = {}


def _get_adapter(kind: type[_Value]) -> TypeAdapter[_Value]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - not every command reads such values

    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def get_stamp(path: str | Path) -> tuple[int, int]:
    """A file's size in bytes and time of change in nanoseconds; while both stay, so do its bytes."""
    found = os.stat(path)  # noqa: PTH116 - pathlib takes longer
    return found.st_size, found.st_mtime_ns


def replace_file(path: str, data: bytes) -> None:
    """Write a file whole or not at all, and make its folder if need be; raises ``OSError`` if that fails."""
    fresh = f"{path}.{os.getpid()}"
    try:
        file = open(fresh, "wb")  # noqa: PTH123, SIM115 - pathlib takes longer; it is closed below
    except FileNotFoundError:  # cheaper than to ask of each of hundreds whether its folder is there
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = open(fresh, "wb")  # noqa: PTH123, SIM115 - as above
    try:
        with file:
            file.write(data)
        os.replace(fresh, path)  # noqa: PTH105 - as above
    except OSError:
        with suppress(OSError):
            os.unlink(fresh)  # noqa: PTH108 - as above
        raise


def _calculate_checksum(value: bytes) -> bytes:
    return zlib.crc32(value).to_bytes(_SEAL, "big")


@functools.cache
def _hash_code() -> str:
    """The version; in a checkout also when its code last changed, so that work on reportgen is seen."""
    package = Path(__file__).parents[1]
    if (package.parent / "pyproject.toml").is_file():
        # At each start: pathlib takes three times as long over it.
        newest = max(
            os.stat(f"{folder}/{name}").st_mtime_ns  # noqa: PTH116
            for folder, _, names in os.walk(package)
            for name in names
            if name.endswith(".py")
        )
        return f"{__version__} {newest}"
    return __version__
