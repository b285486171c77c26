"""Results of earlier builds, stored by content in the user's cache folder.

A key is the SHA-256 of everything that determines a value, so values never go stale; they are pruned after
a long time without use. The cache is outside the checkout because nothing in a checkout is trusted.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import Struct

from reportgen.core import CACHE_DIR
from reportgen.core.plugins import identify_code
from reportgen.core.repository import find_checkout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Value = TypeVar("_Value")
_DAY = 24 * 3600
_UNUSED_SECONDS = 30 * _DAY
_SEAL = 4
"""Bytes of the checksum before each value, which detects damage ten times as fast as a hash."""
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_ENTRY = re.compile(r"[0-9a-f]{62}(\..+)?")
RECORDED = "written-"  # files of these names say what commands wrote elsewhere, and are not pruned
OTHER_STATES = "other"
"""Folder in a cache of what is only known of other states of the report, such as an older commit."""
_TAG_FILE = "CACHEDIR.TAG"
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# A cache of reportgen, which may be deleted at any time. See https://bford.info/cachedir/\n"
)


@functools.cache
def cache_folder(root: Path) -> Path:
    """Return the cache folder of the report in ``root``, creating it if necessary.

    It is in the user's cache folder, or in the folder given by ``REPORTGEN_CACHE_DIR``. It is a temporary
    folder of this process if it cannot be written or the user's cache folder is inside the report's checkout.
    """
    from platformdirs import user_cache_path  # noqa: PLC0415 - not every command has a cache

    root = root.resolve()
    name = re.sub(r"[^A-Za-z0-9-]+", "-", root.name)[:40]
    name += f"-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"
    named = os.environ.get(CACHE_DIR)
    caches = Path(named).absolute() if named else user_cache_path("reportgen")
    folder = caches / name
    inside = caches.resolve().is_relative_to(find_checkout(root) or root)
    if (named or not inside) and not folder.is_symlink():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tag = folder / _TAG_FILE
            if tag.is_file() or tag.write_text(_TAG, encoding="utf-8"):
                return folder  # on a full disk, what is there can still be read
    return make_temporary_folder(Path(tempfile.gettempdir()))


def make_temporary_folder(parent: Path) -> Path:
    """Make a folder that is removed at exit, and remove those that killed processes left over a day ago."""
    folder = Path(tempfile.mkdtemp(prefix=f"reportgen-{os.getpid()}-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _remove_leftovers(parent)
    return folder


@functools.cache
def _remove_leftovers(parent: Path) -> None:
    """Remove the folders of killed processes; once for each process, as ``/tmp`` may hold thousands."""
    now = parent.stat().st_mtime  # a folder was just made in it
    for left in parent.glob("reportgen-*-*"):
        process = left.name.split("-")[1]
        if not process.isdecimal() or int(process) == os.getpid():
            continue
        with suppress(OSError):
            # The number may belong to a running process in another container, so the folder has to be old.
            # Anyone can write to the temporary folder, so it has to be a folder of this user and not a link.
            found = left.lstat()
            ours = stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
            if ours and now - found.st_mtime > _DAY and not is_running(int(process)):
                shutil.rmtree(left, ignore_errors=True)


def is_running(process: int) -> bool:
    """Return whether another process has this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is running and belongs to another user
        return True
    return process != os.getpid()


class CachedText(Struct, frozen=True, eq=False):
    """A long text in its own file in the cache; ``str()`` reads it. Equal texts are equal in any cache."""

    path: str
    sha256: str  # in hex
    size: int  # ``size`` and ``changed`` are the stamp, see ``get_stamp``
    changed: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CachedText) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __str__(self) -> str:
        return Path(self.path).read_text(encoding="utf-8")

    @property
    def stands(self) -> bool:
        """Whether the file exists unchanged; it is hashed only if its modification time differs."""
        try:
            size, changed = get_stamp(self.path)
            if size == self.size and changed != self.changed:  # as after restoring a backup
                return hashlib.sha256(Path(self.path).read_bytes()).hexdigest() == self.sha256
        except OSError:
            return False
        return size == self.size


def get_digest(text: str | CachedText) -> str:
    """Return the SHA-256 of a text in hex."""
    return hashlib.sha256(text.encode()).hexdigest() if isinstance(text, str) else text.sha256


class Cache:
    """Bytes by key. Several processes can share a folder, and a damaged entry counts as missing.

    ``hits`` and ``misses`` count the entries found and not found so far.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._root = folder, str(folder)
        self._opened: float | None = None
        self.hits = self.misses = 0

    @property
    def is_new(self) -> bool:
        """Whether no build has finished with this cache yet."""
        return not (self._folder / "pruned").exists()

    @staticmethod
    def make_key(*parts: str | bytes) -> str:
        """Return the key of a value determined by these parts, and by reportgen's and its plug-ins' code."""
        # The name of a file may have bytes that are not UTF-8.
        texts = (part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts)
        return hashlib.sha256(_ENCODER.encode((identify_code(), *texts))).hexdigest()

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None if there is none."""
        path = self._get_path(key)
        used, data = 0.0, b""
        with suppress(OSError):
            file = os.open(path, _READ)  # a file object would make twice as many system calls
            try:
                found = os.fstat(file)
                used, data = found.st_mtime, os.read(file, found.st_size)
            finally:
                os.close(file)
        value = data[_SEAL:]
        if len(data) < _SEAL or _calculate_checksum(value) != data[:_SEAL]:
            self.misses += 1
            return None
        self._record_use(path, used)
        self.hits += 1
        return value

    def has_entry(self, key: str) -> bool:
        """Return whether an entry exists, which counts as a use of it; it may still be damaged."""
        path = self._get_path(key)
        with suppress(OSError):
            self._record_use(path, os.stat(path).st_mtime)  # noqa: PTH116 - pathlib takes longer
            return True
        return False

    def _record_use(self, path: str, used: float) -> None:
        """Record a use for pruning if the last is a day ago."""
        if used < self._get_time() - _DAY:
            with suppress(OSError):  # another process may just have pruned the entry
                os.utime(path)

    def put(self, key: str, value: bytes) -> None:
        """Store a value atomically, or do nothing if the disk is full or read-only."""
        with suppress(OSError):
            replace_file(self._get_path(key), _calculate_checksum(value) + value)

    def load(self, key: str, kind: type[_Value]) -> _Value | None:
        """Return the value of a key as this type, or None if it is missing or cannot be read."""
        data = self.get(key)
        if data is None:
            return None
        try:
            if kind not in _decoders:
                _decoders[kind] = msgspec.msgpack.Decoder(kind)
            decoder: msgspec.msgpack.Decoder[_Value] = _decoders[kind]
            return decoder.decode(data)
        except (ValueError, RecursionError):
            return None

    def store(self, key: str, value: object) -> None:
        """Store a value as MessagePack, so that NaN stays NaN and reading the cache never runs code."""
        with suppress(UnicodeEncodeError):  # a file's name may hold bytes that are no UTF-8
            self.put(key, _ENCODER.encode(value))

    def memo(self, key: str, kind: type[_Value], make: Callable[[], _Value]) -> _Value:
        """Return the stored value of a key, or make and store it if there is none; it must not be None."""
        value = self.load(key, kind)
        if value is None:
            value = make()
            self.store(key, value)
        return value

    def put_text(self, key: str, name: str, text: str) -> CachedText:
        """Store a long text of a value in a file that a site can link to; raise ``OSError`` if it fails."""
        path, data = self.get_text_path(key, name), text.encode()
        replace_file(path, data)
        return CachedText(path, hashlib.sha256(data).hexdigest(), *get_stamp(path))

    def remove_text(self, text: CachedText) -> None:
        """Remove the file of a text that is stored elsewhere, too."""
        Path(text.path).unlink(missing_ok=True)

    @contextmanager
    def write_file(self, key: str, name: str) -> Iterator[Path]:
        """Yield a path to write a file of a key's value to; it is moved into place after the block."""
        fresh = Path(f"{self.get_text_path(key, name)}.{os.getpid()}")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield fresh
            fresh.replace(self.get_text_path(key, name))
        finally:
            fresh.unlink(missing_ok=True)

    def write_folder(self, key: str, name: str, files: Iterable[tuple[str, bytes]]) -> Path:
        """Write files, by their relative paths, as a folder of a key's value, and return its path.

        An earlier folder is replaced. Raises ``OSError`` if a file cannot be written.
        """
        folder = Path(self.get_text_path(key, name))
        fresh = Path(f"{folder}.{os.getpid()}")
        try:
            fresh.mkdir(parents=True, exist_ok=True)
            for inner, data in files:
                path = fresh / inner
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            shutil.rmtree(folder, ignore_errors=True)
            fresh.replace(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return folder

    def get_text_path(self, key: str, name: str) -> str:
        """Return the path of a named text or file of a key's value."""
        return f"{self._get_path(key)}.{name}"

    def prune(self, unused_seconds: float = _UNUSED_SECONDS) -> int:
        """Remove entries last used this long before the newest one, and return the number of files."""
        groups: dict[str, list[tuple[float, Path]]] = defaultdict(list)
        for path in self._folder.glob("??/*"):
            if _ENTRY.fullmatch(path.name):
                # A value and its texts are removed together.
                groups[path.name.partition(".")[0]].append((path.stat().st_mtime, path))
        last = {name: max(used for used, _ in files) for name, files in groups.items()}
        newest = max(last.values(), default=0.0)
        stale = (name for name, used in last.items() if newest - used > unused_seconds)
        unused = [path for name in stale for _, path in groups[name]]
        for path in unused:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return len(unused)

    def prune_daily(self) -> None:
        """Prune at most once a day, since looking at every entry takes longer than using some."""
        mark = self._folder / "pruned"
        with suppress(OSError):
            if self._get_time() - mark.stat().st_mtime < _DAY:
                return
        with suppress(OSError):
            self.prune()
            if not self._folder.is_dir():
                return
            mark.touch()
            # Reports that have not been built for a long time may never be built again.
            for tag in self._folder.parent.glob(f"*/{_TAG_FILE}"):
                with suppress(OSError):
                    used = (tag.parent / "used").stat().st_mtime
                    if self._get_time() - used > _UNUSED_SECONDS and tag.read_text("utf-8") == _TAG:
                        for path in (path for path in tag.parent.iterdir() if RECORDED not in path.name):
                            shutil.rmtree(path) if path.is_dir() else path.unlink()
                        tag.parent.rmdir()

    def _get_time(self) -> float:
        """Return when this cache was first used, by the file system's clock, as the times of entries are."""
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
    """SHA-256 of files, remembered by path, size and modification time."""

    def __init__(self, folder: Path) -> None:
        self._file, known = folder / "hashes.json", None
        with suppress(OSError, ValueError):
            known = json.loads(self._file.read_text(encoding="utf-8"))
        self._known: dict[str, list[str | int]] = known if isinstance(known, dict) else {}
        self._used: set[str] = set()
        self._changed = False

    def __call__(self, path: Path) -> str:
        """Return the file's SHA-256 in hex; raise ``OSError`` if the file cannot be read."""
        mark = get_stamp(path)
        if digest := self.recall(path):
            return digest
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        # A file that changed while it was read is not remembered, so it is read again next time.
        if get_stamp(path) == mark:
            self.remember(path, digest, mark)
        return digest

    def recall(self, path: Path | str) -> str | None:
        """Return the SHA-256 of an unchanged file that is remembered; raise ``OSError`` if there is none."""
        match self._known.get(str(path)):
            case [int(size), int(changed), str(digest)] if (size, changed) == get_stamp(path):
                self._used.add(str(path))
                return digest
        return None

    def remember(self, path: Path, digest: str, mark: tuple[int, int]) -> None:
        """Remember the SHA-256 of a file while it has this stamp."""
        self._used.add(str(path))
        self._known[str(path)] = [*mark, digest]
        self._changed = True

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of the files that the last build hashed."""
        return tuple(self._known)

    def save(self) -> None:
        """Save the hashes for the next build, without files that this build did not hash."""
        if self._changed:
            current = {name: self._known[name] for name in sorted(self._used) if name in self._known}
            with suppress(OSError):
                replace_file(str(self._file), json.dumps(current).encode())


# A numpy number is stored as the plain number that it is.
_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=lambda value: value.item())
_decoders: dict[Any, msgspec.msgpack.Decoder[Any]] = {}


def get_stamp(path: str | Path) -> tuple[int, int]:
    """Return a file's size in bytes and modification time in ns; while both are the same, so is the file."""
    found = os.stat(path)  # noqa: PTH116 - pathlib takes longer
    return found.st_size, found.st_mtime_ns


def list_entries(folder: Path) -> list[str]:
    """Return the names of all that is directly in a folder; empty if there is no such folder."""
    return os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 - pathlib takes ten times as long


def stamp_tree(path: str) -> str:
    """Stamp a file or folder: while the stamp is the same, so are names, sizes, times and permissions in it.

    The stamp is empty, and not to be relied on, if it is missing, or if there are links in it or names that
    are no UTF-8.
    """
    # This runs for each file of a thousand reports, so that texts and calls are few.
    seen: list[tuple[str, int, int, int]] = []
    try:
        found = os.stat(path)  # noqa: PTH116 - pathlib takes longer
        seen.append((str(found.st_ino), found.st_size, found.st_mtime_ns, found.st_mode))
        folders = [path] if stat.S_ISDIR(found.st_mode) else []
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    one = entry.stat(follow_symlinks=False)
                    seen.append((entry.path, one.st_size, one.st_mtime_ns, one.st_mode))
                    if stat.S_ISDIR(one.st_mode):
                        folders.append(entry.path)
                    elif stat.S_ISLNK(one.st_mode):
                        return ""
        seen.sort()
        return hashlib.sha256(msgspec.msgpack.encode(seen)).hexdigest()
    except (OSError, UnicodeEncodeError, OverflowError):  # a time may be longer than 64 bits
        return ""


def replace_file(path: str, data: bytes) -> None:
    """Write a file atomically, creating its folder if necessary; raise ``OSError`` if that fails."""
    fresh = f"{path}.{os.getpid()}"
    try:
        try:
            file = open(fresh, "wb")  # noqa: PTH123, SIM115 - pathlib takes longer; it is closed below
        except FileNotFoundError:  # cheaper than checking for the folder of each of hundreds of files
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            file = open(fresh, "wb")  # noqa: PTH123, SIM115 - as above
        with file:
            file.write(data)
        os.replace(fresh, path)  # noqa: PTH105 - as above
    except OSError as error:
        with suppress(OSError):
            os.unlink(fresh)  # noqa: PTH108 - as above
        error.filename = path  # users do not know the other name
        raise


def _calculate_checksum(value: bytes) -> bytes:
    return zlib.crc32(value).to_bytes(_SEAL, "big")
