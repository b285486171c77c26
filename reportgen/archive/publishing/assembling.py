"""Assembling what is published: main, its versions and previews of pull requests in one folder.

The folder follows from what is given alone, without network, git and clock, and has copies only. What cannot
be published of versions and previews is left out and named; problems of main leave the folder as it was.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, urlsplit

from msgspec import Struct, field
from msgspec.structs import asdict

from reportgen.archive.publishing import previews, versions
from reportgen.archive.publishing.feeds import FeedVersion, make_feeds
from reportgen.archive.publishing.pages import decode, encode, insert_into_head, read_canonical
from reportgen.archive.publishing.previews import Preview, publish_preview, read_main
from reportgen.archive.publishing.sites import (
    LARGE,
    LARGEST,
    NOT_FOUND,
    Given,
    LeftOut,
    Tree,
    check_main,
    format_address,
    list_pages,
    parse_base_url,
    read_state,
)
from reportgen.archive.publishing.versions import (
    Version,
    list_versions,
    publish_version,
    select_names,
    sort_versions,
)
from reportgen.archive.unpacking import open_archive
from reportgen.core import __version__
from reportgen.core.cache import cache_folder
from reportgen.core.errors import ReportError, Severity, make_error
from reportgen.settings.loading import find_input_folders
from reportgen.site.describe import format_bytes
from reportgen.site.replacing.locations import Output
from reportgen.site.replacing.stage import open_stage, recover_killed
from reportgen.site.worker import start_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from reportgen.archive.publishing.sites import State
    from reportgen.archive.unpacking import OpenedArchive

# Calls a function with each of its arguments, as map does.
Run: TypeAlias = "Callable[..., Iterator[Any]]"

FORMAT: Final = 1
RECORD: Final = "publish.json"
_ROBOTS: Final = "robots.txt"
_SITEMAP: Final = "sitemap.xml"
# They are those of a site without versions, and of another address if none is known.
_OUTDATED: Final = frozenset((_SITEMAP, f"{_SITEMAP}.gz"))
_MOST_ADDRESSES: Final = 50_000
"""Addresses that a sitemap may have."""
_MENU: Final = '<meta name="reportgen-versions">\n'
_ATOM: Final = "feed.xml"
_JSON_FEED: Final = "feed.json"
_MANY: Final = 8
_MOST_PROCESSES: Final = 8
_FEEDS: Final = {_ATOM: "application/atom+xml", _JSON_FEED: "application/feed+json"}


class Inputs(Struct, frozen=True):
    """What is to be published: a built site, archives of versions and built sites of pull requests.

    Without ``base_url`` it is the address that main was built for, if it was built for one.
    """

    main: Path
    versions: Sequence[Given] = ()
    previews: Sequence[Given] = ()
    base_url: str = ""


def assemble(inputs: Inputs, public: Path, warn: Callable[[str], None]) -> Published:
    """Publish into a folder, in place of what was published there before.

    Raises a ReportError with every problem of main, or if the folder holds anything else; it is left as it
    was then. ``warn`` gets what is left out and what may not work where it is published.
    """
    output = Output(public, Path.cwd(), "--to", find_input_folders(Path("mkdocs.yml")))
    public = output.absolute
    recover_killed(cache_folder(public.parent))
    _refuse_folder(public, inputs)
    with open_archive(inputs.main) as main:
        state = read_state(main)
        base_url = inputs.base_url or _read_base_url(main)
        problems = [*check_main(inputs.main, main.sizes, base_url)]
        if any(one.severity is Severity.ERROR for one in problems):
            raise ReportError(*problems)
        for problem in problems:
            warn(str(problem))
        with open_stage(output, cache_folder(public.parent)) as stage:
            made = Published(main, Tree(stage.new), base_url)
            with _open_processes(len(inputs.versions) + len(inputs.previews)) as run:
                made.publish_versions(inputs.versions, run)
                finish_previews = made.start_previews(inputs.previews, run)
                known = [
                    FeedVersion(one.name, one.archive, one.state.date, one.state.commit)
                    for one in made.versions
                ]
                feeds = make_feeds(inputs.main, known[::-1], base_url)
                if feeds and feeds.atom:
                    made.added |= {_ATOM: feeds.atom, _JSON_FEED: feeds.json}
                made.publish_main()
                finish_previews()
            made.write_record(state)
            for one in made.left_out:
                warn(f"{one.kind} {one.name}: left out: {one.reason}")
            for words in feeds.left_out if feeds else ():
                warn(words)
            size, step = format_bytes(made.size), "Publish fewer versions"
            if made.size > LARGEST:
                raise make_error(str(public), f"it would have {size}, more than 10 GB", step)
            if made.size > LARGE:
                warn(f"the site has {size}; GitHub Pages takes 1 GB. {step}")
            for why in stage.swap():
                warn(f"{stage.old} stays, as it cannot be removed: {why}")
    return made


@contextmanager
def _open_processes(jobs: int) -> Iterator[Run]:
    """Start processes for many jobs; few take less time here."""
    if jobs < _MANY:
        yield map
        return
    pool = start_pool(min(os.cpu_count() or 1, _MOST_PROCESSES))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _read_base_url(main: OpenedArchive) -> str:
    """Return the address that a site was built for, or ""."""
    try:
        return parse_base_url(read_canonical(main.read("index.html")))
    except ValueError:
        return ""


def _refuse_folder(public: Path, inputs: Inputs) -> None:
    """Raise a ReportError if a folder may not be replaced by what is published."""
    for path in (inputs.main, *(one.path for one in (*inputs.versions, *inputs.previews))):
        given = path.resolve()
        if given.is_relative_to(public.resolve()) or public.resolve().is_relative_to(given):
            message = f"it is to be replaced, and holds {path}, or is in it"
            raise make_error(str(public), message, "Choose a folder of its own, such as public")


class Published(Struct):
    """What is published in a folder; newest versions and highest numbers of pull requests come first."""

    main: OpenedArchive
    tree: Tree
    base_url: str
    versions: list[Version] = field(default_factory=list)
    previews: list[Preview] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    added: dict[str, bytes] = field(default_factory=dict)

    @property
    def trees(self) -> list[Tree]:
        """The folders that are published."""
        return [self.tree, *(one.tree for one in self.versions), *(one.tree for one in self.previews)]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(tree.size for tree in self.trees)

    def publish_versions(self, given: Iterable[Given], run: Run) -> None:
        """Publish the versions whose names and archives are as they have to be."""
        selected, self.left_out = select_names(given)
        folders = [self.tree.folder / versions.FOLDER / one.name for one in selected]
        tried = [*run(publish_version, selected, folders)]
        self.left_out += [one for one in tried if isinstance(one, LeftOut)]
        self.versions = sort_versions(one for one in tried if isinstance(one, Version))

    def start_previews(self, given: Sequence[Given], run: Run) -> Callable[[], None]:
        """Start to publish previews, highest numbers first; what is returned waits for them.

        Others take the places of those that cannot be published.
        """
        counts = Counter(one.name for one in given)
        left_out = [
            LeftOut("preview", name, "it is given more than once") for name in counts if counts[name] > 1
        ]
        waiting = sorted((one for one in given if counts[one.name] == 1), key=lambda one: -int(one.name))
        main = read_main(self.main) if waiting else None

        def start() -> Iterator[Preview | LeftOut]:
            free = previews.MOST - len(self.previews)
            tried, waiting[:] = waiting[:free], waiting[free:]
            folders = [self.tree.folder / previews.FOLDER / one.name for one in tried]
            return run(publish_preview, tried, folders, [main] * len(tried))

        def finish() -> None:
            results = started
            while made := [*results]:
                left_out.extend(one for one in made if isinstance(one, LeftOut))
                self.previews += [one for one in made if isinstance(one, Preview)]
                results = start()
            reason = f"{previews.MOST} pull requests with higher numbers have previews"
            left_out.extend(LeftOut("preview", one.name, reason) for one in waiting)
            self.left_out += sorted(left_out, key=lambda one: -int(one.name))

        started = start()
        return finish

    def publish_main(self) -> None:
        """Publish main, whose pages name what was added to it, and the files about the whole site."""
        listed = list_versions(self.versions)
        base = urlsplit(self.base_url).path or "/"
        robots = f"User-agent: *\nDisallow: {base}{previews.FOLDER}/\n".encode()
        if _ROBOTS in self.main.sizes:
            robots = self.main.read(_ROBOTS).rstrip() + b"\n\n" + robots
        if self.base_url:
            robots += f"\nSitemap: {self.base_url}{_SITEMAP}\n".encode()
            addresses = [format_address(page) for page in list_pages(self.main.sizes)]
            for version in self.versions:
                folder = f"{versions.FOLDER}/{quote(version.name)}/"
                addresses += [f"{folder}{format_address(page)}" for page in list_pages(version.tree.hashes)]
            # The oldest versions are left out if there are too many.
            urls = (escape(self.base_url + one) for one in addresses[:_MOST_ADDRESSES])
            lines = [_SITEMAP_START, *(f"<url><loc>{url}</loc></url>" for url in urls), "</urlset>", ""]
            self.added[_SITEMAP] = "\n".join(lines).encode()
        self.added |= {
            ".nojekyll": b"",
            _ROBOTS: robots,
            "versions.json": f"{listed}\n".encode(),
            "versions.js": f"globalThis.reportgenVersions = {listed};\n".encode(),
        }
        for path, content in self.added.items():
            self.tree.write(path, content)
        head = _MENU if self.versions else ""
        for name in (name for name in _FEEDS if name in self.added):
            head += f'<link rel="alternate" type="{_FEEDS[name]}" href="{escape(self.base_url + name)}">\n'
        pages = {*list_pages(self.main.sizes), NOT_FOUND} if head else set()
        for path in self.main.sizes:
            if path in pages:
                self.tree.write(path, encode(insert_into_head(decode(self.main.read(path)), head)))
            elif path not in self.added and path not in _OUTDATED:
                with self.main.open_file(path) as file:
                    self.tree.copy(path, file)

    def write_record(self, main: State) -> None:
        """Write which state is where, and what was left out."""
        listed = [
            {"version": one.name, "identity": one.identity}
            | one.tree.describe(f"{versions.FOLDER}/{one.name}/", one.state)
            for one in self.versions
        ]
        numbered = [
            {"number": int(one.number), "changed": one.changed}
            | one.tree.describe(f"{previews.FOLDER}/{one.number}/", one.state)
            for one in self.previews
        ]
        record = {
            "format": FORMAT,
            "generator": {"name": "reportgen", "version": __version__},
            "base_url": self.base_url or None,
            "main": self.tree.describe("", main),
            "versions": listed,
            "previews": numbered,
            "left_out": [asdict(one) for one in self.left_out],
        }
        (self.tree.folder / RECORD).write_text(f"{json.dumps(record, indent=2)}\n", encoding="utf-8")


_SITEMAP_START: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
)
