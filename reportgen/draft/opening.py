"""Opening of sources, or their retrieval from the cache while nothing in their files has changed."""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from bisect import bisect_left
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import get_stamp, list_entries, stamp_tree
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.repository import find_data_boundary
from reportgen.core.words import find_nearest
from reportgen.settings.inputs import Source  # noqa: TC001 - the schema of stored sources needs it
from reportgen.settings.loading import load_source_settings
from reportgen.settings.source import SourceSettings
from reportgen.settings.text import read_text
from reportgen.settings.validation_errors import validate_tree
from reportgen.settings.yaml_tree import Node, Origin, parse, write_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.cache import Cache, FileHashes
    from reportgen.settings.report import Project


_SETTINGS: Final = "source.yml"
# What settings may be written in, and the last word before it: runs.csv.source.yml, soruce.yml, runs.toml.
_ENDING: Final = re.compile(r"(\.ya?ml|\.ym|\.y[aml]{3}|\.json5?|\.toml)?(?:\.txt)?$")
_LAST_WORD: Final = re.compile(r"\.?(?:(.+)[. _-])?([^. _-]+)")
# Characters of a file that is read to see whether it holds settings.
_LARGEST: Final = 100_000


class DataEntries:
    """Names of what is directly in a data folder, which may hold a thousand sources."""

    def __init__(self, folder: Path) -> None:
        self.names = list_entries(folder)
        self._folded = sorted((name.casefold(), name) for name in self.names)

    def find_near(self, name: str) -> Iterator[str]:
        """Yield those that begin as a name does, whatever the case, which some file systems ignore."""
        folded = name.casefold()
        for one, entry in islice(self._folded, bisect_left(self._folded, (folded, "")), None):
            if not one.startswith(folded):
                return
            yield entry

    @cached_property
    def orphans(self) -> tuple[str, ...]:
        """The names of sources that have settings but are not there."""
        ends = [one.removesuffix(f".{_SETTINGS}") for one in self.names if one.endswith(f".{_SETTINGS}")]
        return tuple(end for end in ends if not self._has_source(end))

    def _has_source(self, name: str) -> bool:
        files = {*self.find_near(f"{name}.")} - {f"{name}.{_SETTINGS}"}
        return bool(files) or name in self.find_near(name)


class _Opened(Struct, frozen=True):
    """An opened source, and the stamps of what it was converted to."""

    source: Source
    copies: dict[str, tuple[int, int]]


# Only what the author stated is stored of settings, so that it can be distinguished from defaults.
_ENCODER: Final = msgspec.msgpack.Encoder(
    enc_hook=lambda settings: settings.model_dump_json(exclude_unset=True, warnings=False)
)
_load_settings = lru_cache(maxsize=1024)(SourceSettings.model_validate_json)  # most sources have none
_DECODER: Final = msgspec.msgpack.Decoder(
    _Opened,
    dec_hook=lambda kind, value: _load_settings(value) if kind is SourceSettings else value,
)


def open_project_source(
    project: Project,
    name: str,
    hashes: FileHashes,
    cache: Cache,
    *,
    entries: DataEntries | None = None,
    labels: Mapping[str, str] | None = None,
    texts: bool = False,
) -> Source:
    """Open a source of a report; raise ``ReportError`` if it does not exist or cannot be opened.

    ``entries`` are those of the data folder, if known; ``labels`` are short names that pages give series,
    and ``texts`` is whether prompts and whole answers are read.
    """
    data = project.root / project.settings.data_dir
    entries = entries or DataEntries(data)
    if problem := check_settings_names(data, project.settings.data_dir, name, entries):
        raise ReportError(problem)
    request = (project.settings.follow_links, sorted((labels or {}).items()), texts)
    key = _make_key(project, name, entries, cache, repr(request))
    if key and (stored := _restore(key, project.root, hashes, cache)):
        return stored
    from reportgen.read import open_source  # noqa: PLC0415 - imports the database

    source = open_source(
        project.root,
        project.settings.data_dir,
        name,
        load_settings=load_source_settings,
        hashes=hashes,
        cache=cache,
        follow_links=project.settings.follow_links,
        entries=entries.names,
        labels=labels,
        texts=texts,
    )
    # What changed while it was opened is opened again next time.
    if key and key == _make_key(project, name, DataEntries(data), cache, repr(request)):
        _store(key, source, project.root, cache)
    return source


def check_settings_names(
    data: Path, data_dir: str, name: str, entries: DataEntries | None = None
) -> Diagnostic | None:
    """Return the error of a file that was meant as the settings of a source but is not read.

    Its name is nearly right, or it is in the folder above. ``entries`` are those of the data folder.
    """
    entries = entries or DataEntries(data)
    path, last = data / name, name.rpartition("/")[2]
    own = path / _SETTINGS if path.is_dir() else path.with_name(f"{last}.{_SETTINGS}")
    siblings = [*entries.find_near(last)] if path.parent == data else list_entries(path.parent)
    files = [one for one in siblings if one.startswith(f"{last}.") and not one.endswith(_SETTINGS)]
    if not last or not (path.is_dir() or any((path.parent / one).is_file() for one in files)):
        return None
    for found in _find_meant(path, data, own, siblings, entries):
        rest = [one for one in files if one != found.name]
        if not path.is_dir() and not rest:  # it is the source itself
            continue
        subject = f"{last}/" if path.is_dir() else rest[0]
        target = own.relative_to(path.parent).as_posix()
        message = f"this file is read for no source; the settings of {subject} are those in {target}"
        advice = "Remove it" if own.is_file() else f"Rename it to {target}"
        if found.name == _SETTINGS and not path.is_dir():
            advice += ", or move it into the folder that it is for"
        place = os.path.relpath(found, data).replace(os.sep, "/")
        return Diagnostic(
            SourceLocation(os.path.normpath(f"{data_dir}/{place}")), message, advice, Stage.SETTINGS
        )
    return None


def _find_meant(
    path: Path, data: Path, own: Path, siblings: Iterable[str], entries: DataEntries
) -> Iterator[Path]:
    """Yield files that were meant as the settings of a source at a path, whose own file is ``own``."""
    linked = path.with_name(f"{path.name}.{_SETTINGS}") if path.is_symlink() and path.is_dir() else own
    subjects = {path.name.casefold(), *(one.casefold() for one in siblings)}
    found = [path.parent / one for one in siblings if _is_for(path.parent / one, subjects)]
    if path.is_dir():
        names = list_entries(path)
        inside = {"", path.name.casefold()}
        parts = {one.casefold() for name in names for one in (name, PurePath(name).stem)}
        found += [path / one for one in names if _is_for(path / one, inside, named=inside | parts)]
    if path.parent == data and not (path.is_dir() and own.is_file()):
        near = [*entries.find_near("source"), *entries.find_near(".source")]
        above = [*(data / one for one in near), data.parent / _SETTINGS]
        found += [one for one in above if _is_for(one, set(), named={""})]
        orphan = "" if own.is_file() else find_nearest(path.name, entries.orphans, 0.8)
        found += [data / f"{orphan}.{_SETTINGS}"] if orphan else []
    for one in found:
        # File systems that ignore case find a file by several names.
        with suppress(OSError):
            if one.is_file() and not any(same.is_file() and one.samefile(same) for same in (own, linked)):
                yield one


def _is_for(path: Path, subjects: Collection[str], *, named: Collection[str] | None = None) -> bool:
    """Return whether a file is meant as the settings of one of some subjects, by its name or its content.

    It is if it is called ``source``, or nearly, after one of ``named``, and some of its keys are those of
    settings; or if it has the name of a subject, and all of it is valid as settings.
    """
    written = _ENDING.search(folded := path.name.casefold())
    name, ending = (folded[: written.start()], written[1] or "") if written else (folded, "")
    match = _LAST_WORD.fullmatch(name)
    if match is None:
        return False
    subject, word = match[1] or "", match[2]
    is_named = subject in (subjects if named is None else named)
    is_named = is_named and bool(word == "source" or (ending and find_nearest(word, ["source"], 0.75)))
    is_yaml = ending in {".yml", ".yaml", ".ym"}
    is_same = name in subjects
    if not is_named and not (ending and (is_same or (subject and subject in subjects))):
        return False
    if not path.is_file() or (is_named and is_yaml and word == "source"):
        return path.is_file()
    with suppress(ReportError, ValueError):
        node = _read_settings(path, ending)
        if not is_named and node:
            validate_tree(SourceSettings, node, path.name)
        # A title and a description alone may be for another program.
        free = () if is_named or is_same else ("title", "description")
        keys = {*(node.keys if node else ())}.difference(free)
        return not keys.isdisjoint(SourceSettings.model_fields)
    return is_named and is_yaml


def _read_settings(path: Path, ending: str) -> Node | None:
    """Return the content of a file as a tree; raise a ReportError or a ValueError if it is none."""
    text = read_text(path, path.name, Stage.SETTINGS, _LARGEST)
    if ending == ".toml":
        text = write_yaml(tomllib.loads(text))
    return parse(text, Origin(path.name))


def _make_key(project: Project, name: str, entries: DataEntries, cache: Cache, request: str) -> str:
    """Return the key of a source by the names, sizes and times of its files; empty if they are not known.

    Its settings and the parts of a database are next to it, with names that begin as its own.
    """
    root, data_dir = project.root, project.settings.data_dir
    top = name.partition("/")[0]
    if top in {"", ".", ".."}:  # no source
        return ""
    stamps, folder = [], f"{root}{os.sep}{data_dir}{os.sep}"
    for one in sorted({top, *entries.find_near(top)}):
        path = f"{folder}{one}"
        with suppress(OSError, ValueError):  # a name may contain a NUL
            is_link = stat.S_ISLNK(os.lstat(path).st_mode)
            stamps.append((path, os.path.realpath(path) if is_link else "", stamp_tree(path)))
    if not stamps or not all(stamp for *_, stamp in stamps):
        return ""
    # Another user may not be allowed to read the same files.
    user = getattr(os, "geteuid", int)()
    boundary = find_data_boundary(root, data_dir)
    return cache.make_key("opened", ascii((name, request, stamps, boundary, user)))


def _restore(key: str, root: Path, hashes: FileHashes, cache: Cache) -> Source | None:
    """Return a stored source, or None if there is none, or if its files have changed after all."""
    with suppress(OSError, ValueError):
        opened = _DECODER.decode(cache.get(key) or b"")
        start = f"{root}{os.sep}"
        is_same = all(hashes.recall(f"{start}{file.path}") == file.sha256 for file in opened.source.files)
        if is_same and all(get_stamp(path) == stamp for path, stamp in opened.copies.items()):
            return opened.source
    return None


def _store(key: str, source: Source, root: Path, cache: Cache) -> None:
    """Store an opened source if it can be restored exactly; its layout stays encoded until it is needed."""
    from reportgen.read.tables.layout import get_layout  # noqa: PLC0415 - as above

    with suppress(OSError, OverflowError, TypeError, ValueError):
        parts = [part for part in (source, source.checkpoints) if part]
        light = [replace(part, layout=msgspec.msgpack.encode(part.layout)) for part in parts]
        paths = [str(root / file.place) for part in parts for file in get_layout(part).files]
        own = {str(root / file.path) for file in source.files}
        opened = _Opened(
            replace(light[0], checkpoints=light[1] if len(light) > 1 else None),
            {path: get_stamp(path) for path in paths if path not in own},
        )
        data = _ENCODER.encode(opened)
        read = _DECODER.decode(data)
        layouts = zip(map(get_layout, light), map(get_layout, parts), strict=True)
        same = all(one == other for one, other in layouts)
        if same and repr(read) == repr(opened) and _ENCODER.encode(read) == data:
            cache.put(key, data)


def free_memory() -> None:
    """Close the database if any data were read: it holds memory that the pages of a large site need."""
    if "reportgen.read" in sys.modules:
        from reportgen.read import close_database  # noqa: PLC0415 - as above

        close_database()
