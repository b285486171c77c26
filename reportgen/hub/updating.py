"""Bringing a hub up to date: only reports that changed are read, and only files that differ are written.

What was seen of a report's source is in the cache, so that an unchanged one costs a look at its files. The
hub itself has everything else: with an empty cache, all reports are read and compared, and none is written.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.cache import Cache, cache_folder, get_stamp, stamp_tree
from reportgen.core.errors import Diagnostics, make_error
from reportgen.hub.entries import FOLDER, VERSIONS, Hub, HubEntry
from reportgen.hub.listings import RECORD
from reportgen.hub.pages import LISTED, make_files, stamp_templates
from reportgen.hub.reading import REPORT, Summary, open_report, summarize_report
from reportgen.hub.staging import StagedReport, find_published, is_stage, link_tree, open_hub_stage
from reportgen.settings.hub import FOLDER_NAME, load_hub
from reportgen.settings.loading import find_input_folders
from reportgen.site.replacing.locations import Output
from reportgen.site.replacing.records import (
    describe_unrecorded,
    filter_unrecorded,
    has_record,
    list_files,
    read_record,
    record_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import SourceLocation
    from reportgen.hub.staging import Stage
    from reportgen.settings.hub import HubSettings, ListedReport
    from reportgen.site.replacing.records import Files


class _Known(Struct, frozen=True):
    """What the last update saw of a report.

    ``stamp`` is that of its source, empty if it has to be read again, and ``published`` that of the
    ``report.json`` in the hub.
    """

    stamp: str
    published: tuple[int, int] | None
    summary: Summary | None
    versions: tuple[str, ...] = ()
    problem: str = ""


class _State(Struct, frozen=True):
    """What the last update saw of each report, and the digests of the pages that it wrote."""

    reports: dict[str, _Known] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)


class Update(Struct):
    """What an update did, by the names of reports; ``written`` counts files.

    ``places`` are the lines of ``hub.yml`` that name the reports. ``without_feed`` says why there is no feed,
    and ``remaining`` are files that appeared in replaced folders meanwhile.
    """

    reports: int = 0
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    places: dict[str, SourceLocation] = field(default_factory=dict)
    unpublished: list[str] = field(default_factory=list)
    written: int = 0
    without_feed: str = ""
    remaining: list[str] = field(default_factory=list)


def update_hub(hub_file: Path, public: Path, progress: Callable[[int, int], None]) -> Update:
    """Bring the hub of a ``hub.yml`` in a folder up to date.

    ``progress`` is called after each report with how many were looked at, and how many there are. A report
    that cannot be published stays as it is in the hub, and is named. Raises a ReportError if the ``hub.yml``
    is wrong or the folder holds anything else, and an OSError if it cannot be written; the hub is unchanged
    then.
    """
    hub = load_hub(hub_file)
    root = hub_file.resolve().parent
    output = Output(public, root, "--to", find_input_folders(root / "mkdocs.yml"))
    output.check_location()
    public = output.absolute
    _refuse_folder(public, hub.reports)
    folder = cache_folder(public.parent)
    cache, key = Cache(folder), Cache.make_key("hub", str(public), stamp_templates())
    with open_hub_stage(public, folder) as stage:
        state = cache.load(key, _State) or _State()
        pages = {path: digest for path, digest in state.pages.items() if (public / path).is_file()}
        updating = _Updating(stage, hub.settings, _recall(public, state.reports), pages)
        for number, report in enumerate(sorted(hub.reports, key=lambda one: one.name), 1):
            updating.add(report)
            progress(number, len(hub.reports))
        updating.commit()
        cache.store(key, updating.remember())
    cache.prune_daily()
    return updating.update


def _refuse_folder(public: Path, reports: tuple[ListedReport, ...]) -> None:
    """Raise a ReportError if a folder is in or around a report, or is no hub.

    What a hub holds is checked before it is changed.
    """
    folder = f"{os.path.realpath(public)}{os.sep}"
    for one in reports:
        source = f"{os.path.realpath(one.path)}{os.sep}"  # pathlib takes three times as long
        if source.startswith(folder) or folder.startswith(source):
            message = f"{one.source} and {public}, the folder that is written, must not contain each other"
            raise make_error(one.location, message, "Choose a folder of its own, such as public")
    for path in (public / FOLDER, *(public / FOLDER / one.name for one in reports)):
        if path.is_symlink():
            raise make_error("--to", f"{path} is a link, to {os.readlink(path)!r}", "Remove the link")  # noqa: PTH115 - as a text
    names = [one.name for one in public.iterdir()] if public.is_dir() else []
    if all(map(is_stage, names)) and not (public.exists() and not public.is_dir()):
        return
    if not (public / RECORD).is_file():
        message = "it holds something that reportgen hub did not write"
        raise make_error(str(public), message, "Choose another folder, or move its files elsewhere")


def _recall(public: Path, stored: Mapping[str, _Known]) -> dict[str, _Known]:
    """Recall what is published; what was stored of it counts while it is still there."""
    known = {}
    recorded: dict[str, dict[str, Any]] = {}
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        recorded = {one["name"]: one for one in json.loads((public / RECORD).read_bytes())["reports"]}
    folder = public / FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        one = stored.get(path.name)
        published = _stamp_published(path)
        if one is None or one.published != published:
            one = _read_published(path, recorded.get(path.name, {}))
        known[path.name] = one
    # Those that were never published have no folder.
    return {name: one for name, one in stored.items() if one.summary is None and name not in known} | known


def _stamp_published(folder: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        return get_stamp(f"{folder}{os.sep}{REPORT}")
    return None


def _read_published(folder: Path, recorded: Mapping[str, Any]) -> _Known:
    """Read what is published of a report that nothing was stored of."""
    summary: Summary | None = None
    versions: tuple[str, ...] = ()
    with Diagnostics().collecting(), open_report(folder, folder.name) as report:
        summary = summarize_report(report)
    if summary and isinstance(recorded, dict):
        # What an archive states is not in its site.
        stated = {name: str(recorded[name]) for name in ("version", "doi") if recorded.get(name)}
        summary = replace(summary, **stated)
        listed = recorded.get("versions")
        named = (str(one) for one in (listed if isinstance(listed, list) else ()))
        versions = tuple(
            one for one in named if FOLDER_NAME.fullmatch(one) and (folder / VERSIONS / one).is_dir()
        )
    return _Known("", _stamp_published(folder), summary, versions)


_LONGEST_PROBLEM: Final = 500


class _Updating(Struct):
    """An update that is going on."""

    stage: Stage
    settings: HubSettings
    known: dict[str, _Known]
    pages: dict[str, str]
    update: Update = field(default_factory=Update)
    entries: dict[str, HubEntry] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)

    def add(self, listed: ListedReport) -> None:
        """Look at a report, and stage it if it differs from the published one."""
        name, known = listed.name, self.known.get(listed.name)
        stamp = stamp_tree(str(listed.path))
        entry = HubEntry(name, listed.team, None)
        if known:
            entry = replace(entry, summary=known.summary, versions=known.versions, problem=known.problem)
        is_known = known is not None and bool(stamp) and known.stamp == f"{listed.path}\0{stamp}"
        if not is_known or len(entry.versions) > self.settings.keep_versions:
            problems = Diagnostics()
            entry = replace(entry, problem="")
            with problems.collecting():
                entry = self._stage(listed, entry, stamp)
            if problems.found:
                first = problems.found[0]
                entry = replace(entry, problem=f"{first.location}: {first.text}"[:_LONGEST_PROBLEM])
        self.entries[name] = entry
        self.update.places[name] = listed.location
        self.stamps[name] = f"{listed.path}\0{stamp}" if stamp else ""

    def _stage(self, listed: ListedReport, entry: HubEntry, stamp: str) -> HubEntry:
        """Stage a report; raise a ReportError if it cannot be published."""
        path = f"{FOLDER}/{listed.name}"
        folder, published = self.stage.new / path, self.stage.public / path
        with open_report(listed.path, listed.source) as report:
            summary, staged = summarize_report(report), StagedReport(report, published)
            versions = self._choose_versions(entry, summary)
            if staged.compare(entry.versions) and versions == entry.versions:
                if not (versions or has_record(published, self.stage.cache)):
                    record_folder(published, self.stage.cache)  # as it is in the report
                return replace(entry, summary=summary)
            if unrecorded := self.stage.find_unrecorded(path):
                message = f"its folder in the hub holds {describe_unrecorded(unrecorded)}"
                raise make_error(listed.source, message, f"Remove {published} if you need nothing in it")
            written = staged.stage(folder)
            owns_versions = any(one.startswith(f"{VERSIONS}/") for one in staged.sizes)
        versions = () if owns_versions else versions
        for version in versions:
            here = f"{VERSIONS}/{version}/"
            if version in entry.versions:
                link_tree(
                    published, folder, (one for one in find_published(published) if one.startswith(here))
                )
            else:
                inner = tuple(f"{VERSIONS}/{one}/" for one in entry.versions)
                own = (one for one in find_published(published) if not one.startswith(inner))
                link_tree(published, folder / here, own)
        if stamp_tree(str(listed.path)) != stamp:
            raise make_error(listed.source, "it changed while it was read", "Run this again")
        self.moved.append(path)
        self.update.written += written
        return replace(entry, summary=summary, versions=versions)

    def _choose_versions(self, entry: HubEntry, summary: Summary) -> tuple[str, ...]:
        """Choose the versions that stay published, newest first, where a report has a new one."""
        before = entry.summary.version if entry.summary else ""
        present, earlier = summary.version, list(entry.versions)
        if before and present and before != present and FOLDER_NAME.fullmatch(before):
            earlier = [before, *earlier]
        earlier = [one for one in dict.fromkeys(earlier) if one != present]
        return tuple(earlier[: self.settings.keep_versions])

    def commit(self) -> None:
        """Put everything that changed into its place, and remove what is gone."""
        stage, public = self.stage, self.stage.public
        entries = tuple(self.entries.values())
        made = make_files(Hub(self.settings, entries), self.pages)
        present = made.content.keys() | made.digests.keys()
        self.pages = made.digests
        folder = public / FOLDER
        gone = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
        self.update.removed = [one for one in gone if one not in self.entries]
        removed = [f"{FOLDER}/{one}" for one in self.update.removed]
        for pattern in LISTED:
            removed += sorted(one.name for one in public.glob(pattern) if one.name not in present)
        removed += [one for one in _FEEDS if one not in present and (public / one).exists()]
        changed = [path for path, content in made.content.items() if not _holds(public / path, content)]
        others = self._check_replaced(made.content, removed)
        for path in changed:
            (stage.new / path).parent.mkdir(parents=True, exist_ok=True)
            (stage.new / path).write_bytes(made.content[path])
        # The record comes first where there is none: by it, the folder is known as a hub's.
        first = [RECORD] if RECORD in changed and not (public / RECORD).exists() else []
        last = [RECORD] if RECORD in changed and not first else []
        stage.record(self.moved, removed, others)
        stage.commit([*first, *self.moved, *(one for one in changed if one != RECORD), *last], removed)
        self.update.remaining = stage.remove_replaced()
        others = {path: stamp for path, stamp in others.items() if path not in removed}
        written = {path: get_stamp(public / path) for path in made.content}
        record_folder(public, stage.cache, files=others | written)
        moved = [one.removeprefix(f"{FOLDER}/") for one in self.moved]
        self.update.added = [one for one in moved if one not in self.known or not self.known[one].summary]
        self.update.changed = [one for one in moved if one not in self.update.added]
        self.update.written += len(changed)
        self.update.reports = sum(one.summary is not None for one in entries)
        self.update.broken = {one.name: one.problem for one in entries if one.problem}
        self.update.unpublished = [one.name for one in entries if one.summary is None]
        if _FEEDS[0] not in made.content:
            no_date = "no report has a date. Commit a report before it is built"
            self.update.without_feed = (
                no_date if self.settings.site_url else "it needs site_url: in the hub's file"
            )

    def _check_replaced(self, content: Mapping[str, bytes], removed: Sequence[str]) -> Files:
        """Return the present files of no report, which updates wrote.

        Raises a ReportError if others are among them, or in reports that are removed.
        """
        public, cache = self.stage.public, self.stage.cache
        files = list_files(public, without=(FOLDER, self.stage.folder.name))
        foreign = [
            path
            for path in filter_unrecorded(files, read_record(public, cache))
            if not (path in content and _holds(public / path, content[path]))
        ]
        for path in (path for path in removed if path.startswith(f"{FOLDER}/")):
            is_folder = (public / path).is_dir() and not (public / path).is_symlink()
            foreign += self.stage.find_unrecorded(path) if is_folder else [path]
        if foreign:
            step = "Move them if you need them; then remove the folder and run this again"
            raise make_error(str(public), f"it holds {describe_unrecorded(foreign)}", step)
        return files

    def remember(self) -> _State:
        """Return what the next update has to know."""
        published = {name: known.published for name, known in self.known.items()}
        published |= {
            path.name: _stamp_published(path) for path in map(self.stage.public.joinpath, self.moved)
        }
        seen = {
            name: _Known(self.stamps[name], published.get(name), one.summary, one.versions, one.problem)
            for name, one in self.entries.items()
        }
        return _State(seen, self.pages)


_FEEDS: Final = ("feed.xml", "feed.json")


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False
