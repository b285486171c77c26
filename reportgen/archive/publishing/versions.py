"""Versions of a report: their names and order, and the sites in their archives, as they were built."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from packaging.version import InvalidVersion
from packaging.version import Version as ParsedVersion

from reportgen.archive.publishing.sites import (
    DOMAIN,
    LARGEST,
    Given,
    LeftOut,
    State,
    Tree,
    open_given,
    read_state,
)
from reportgen.archive.unpacking import open_archive
from reportgen.core import intact
from reportgen.core.errors import Diagnostics, make_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FOLDER: Final = "v"
_LATEST: Final = "latest"
_SITE: Final = "site/"
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._+-]*[A-Za-z0-9_+-])?")
_LONGEST_NAME: Final = 100


class Version(Struct, frozen=True):
    """A published version: its archive, which was checked, and the site that was in it."""

    name: str
    archive: Path
    identity: str  # the SHA-256 of the archive's manifest
    state: State
    tree: Tree


def select_names(versions: Iterable[Given]) -> tuple[list[Given], list[LeftOut]]:
    """Select the versions whose names can be those of folders, and only one of each name, sorted by name."""
    listed = sorted(versions, key=lambda one: one.name)
    counts, taken = Counter(one.name for one in listed), dict[str, str]()
    selected, left_out = [], dict[LeftOut, None]()
    for one in listed:
        reason = ""
        if counts[one.name] > 1:
            reason = "it is given more than once"
        elif one.name.casefold() == _LATEST:
            reason = f'"{_LATEST}" is another name of the newest version'
        elif len(one.name) > _LONGEST_NAME:
            reason = f"its name has more than {_LONGEST_NAME} characters"
        elif not _NAME.fullmatch(one.name):
            reason = "its name becomes a folder's, and may only have letters, digits and . _ + -"
        elif one.name.casefold() in taken:
            reason = f"on some systems its name is the same as {taken[one.name.casefold()]}"
        if reason:
            left_out[LeftOut("version", one.name, reason)] = None
        else:
            taken[one.name.casefold()] = one.name
            selected.append(one)
    return selected, [*left_out]


def publish_version(given: Given, folder: Path) -> Version | LeftOut:
    """Copy the site of a version's archive into a folder if the archive is intact.

    Raises an OSError if the site cannot be written, and a ReportError if the archive changes meanwhile.
    """
    path, problems, state, identity = given.path, Diagnostics(), None, ""
    with problems.collecting(), open_given(path) as archive:
        identity, changes = intact.check_folder(path) if path.is_dir() else intact.check_zip(path)
        if changes:
            more = f", and {len(changes) - 1} more" if len(changes) > 1 else ""
            raise make_error(path.name, f"{changes[0]}{more}")
        if sum(archive.sizes.values()) > LARGEST:
            raise make_error(path.name, "it is larger than 10 GB")
        if f"{_SITE}index.html" not in archive.sizes:
            raise make_error(path.name, "it has no site; archive it with --site")
        state = read_state(archive, _SITE)
    if state is None:
        return LeftOut("version", given.name, "; ".join(map(str, problems.found)))
    tree = Tree(folder)
    with open_archive(path) as archive:
        with archive.open_file(intact.MANIFEST) as file:
            hashes, _ = intact.read_manifest(file.read())
        for name in archive.sizes:
            # GitHub Pages reads the domain only at the root, where that of main is.
            if name.startswith(_SITE) and name != f"{_SITE}{DOMAIN}":
                with archive.open_file(name) as file:
                    tree.copy(name.removeprefix(_SITE), file)
                if tree.hashes[name.removeprefix(_SITE)] != hashes[name]:
                    raise make_error(f"{archive.name}/{name}", "it changed while it was copied", "Try again")
    return Version(given.name, path, identity, state, tree)


def sort_versions(versions: Iterable[Version]) -> list[Version]:
    """Sort versions, newest first; those that are not numbered go after all others, by their dates."""

    def get_place(version: Version) -> tuple[bool, Any, str, str]:
        parsed = _parse(version.name)
        return parsed is not None, parsed or "", version.state.date, version.name

    return sorted(versions, key=get_place, reverse=True)


def list_versions(versions: Sequence[Version]) -> str:
    """List sorted versions as JSON in the form of mike; the newest that is no prerelease is the latest."""
    releases = [one for one in versions if not (parsed := _parse(one.name)) or not parsed.is_prerelease]
    listed = [
        {"version": one.name, "title": one.name, "aliases": [_LATEST] if one in releases[:1] else []}
        for one in versions
    ]
    return json.dumps(listed, indent=2)


def _parse(name: str) -> ParsedVersion | None:
    try:
        return ParsedVersion(name)
    except InvalidVersion:
        return None
