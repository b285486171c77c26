"""Built sites as they are given to be published, what none may hold, and the copies that are made of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct, field

from reportgen.archive.publishing.pages import list_absolute_paths, read_canonical
from reportgen.archive.unpacking import open_archive
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage, make_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import IO

    from reportgen.archive.unpacking import OpenedArchive

LARGEST: Final = 10_000_000_000
"""Bytes of a site that is refused; GitHub Pages takes a tenth of it."""
LARGE: Final = 900_000_000
NOT_FOUND: Final = "404.html"
DOMAIN: Final = "CNAME"
_CHUNK: Final = 1 << 20
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
# What assembling writes next to the files of main.
_OURS: Final = frozenset(("v", "pr", "versions.json", "versions.js", "publish.json", "feed.xml", "feed.json"))


class State(Struct, frozen=True):
    """The commit that a site was built from and its date, such as ``2026-11-20``; empty if unknown."""

    commit: str
    date: str


def read_state(site: OpenedArchive, prefix: str = "") -> State:
    """Read what ``report.json`` says; raise a ReportError if what is below ``prefix`` is no site of ours."""
    for name in ("index.html", "report.json"):
        if f"{prefix}{name}" not in site.sizes:
            message = f"there is no {prefix}{name}, so it is no site that reportgen built"
            raise make_error(site.name, message, "Name the folder that reportgen build writes")
    try:
        report: dict[str, Any] = json.loads(site.read(f"{prefix}report.json"))
        is_ours = report["generator"]["name"] == "reportgen"
        commit, date = (str(report.get(key) or "") for key in ("commit", "date"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_ours, commit, date = False, "", ""
    if not is_ours:
        raise make_error(
            f"{site.name}/{prefix}report.json", "reportgen did not write it", "Build the site again"
        )
    return State(commit if _COMMIT.fullmatch(commit) else "", date if _DATE.fullmatch(date) else "")


def find_unusable(folder: Path) -> Iterator[Diagnostic]:
    """Find what no published site may have: links, pipes and the like, and names that are not readable."""
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(above, name)
            place = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                step = "Put a copy of what it leads to in its place"
                yield _make_problem(place, "this is a link, or no file", step)
            elif not name.isprintable():
                yield _make_problem(ascii(place), "not every system can read this name", "Rename it")


class Given(Struct, frozen=True):
    """A version or a preview as it is given: its name, and the file or folder that has it."""

    name: str
    path: Path


class LeftOut(Struct, frozen=True):
    """What is not published, and why."""

    kind: str  # "version" or "preview"
    name: str
    reason: str


@contextmanager
def open_given(path: Path) -> Iterator[OpenedArchive]:
    """Open an archive or a site of somebody; raise a ReportError if it is none, or has what none may have."""
    if path.is_dir() and (problem := next(find_unusable(path), None)):
        raise ReportError(problem)
    with open_archive(path) as opened:
        yield opened


def parse_base_url(text: str) -> str:
    """Return a site's address with a slash at its end; raise a ValueError if it is none."""
    parts = urlsplit(text.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f'"{text}" is not an address such as https://lab.github.io/report/')
    path = quote(unquote(parts.path).strip("/"))
    return f"{parts.scheme}://{parts.netloc}/{path}{'/' if path else ''}"


def list_pages(files: Iterable[str]) -> list[str]:
    """List the pages among the files of a site, sorted, without the one for addresses that do not exist."""
    return sorted(path for path in files if path.endswith(".html") and path != NOT_FOUND)


def format_address(path: str) -> str:
    """Format the address of a page, from the site's root."""
    folder, _, name = path.rpartition("/")
    return quote(f"{folder}/" if folder and name == "index.html" else "" if name == "index.html" else path)


def find_page_address(path: str, is_file: Callable[[str], bool]) -> str | None:
    """Find the address of the page of a Markdown file by the rules of MkDocs; None if it is not there."""
    stem = str(PurePosixPath(path).with_suffix(""))
    above, slash, name = stem.rpartition("/")
    if name in {"index", "README"}:
        return f"{above}{slash}" if is_file(f"{above}{slash}index.html") else None
    if is_file(f"{stem}.html"):
        return f"{stem}.html"
    return f"{stem}/" if is_file(f"{stem}/index.html") else None


def check_main(main: Path, files: Mapping[str, int], base_url: str) -> Iterator[Diagnostic]:
    """Find what main may not have, or what does not work where it is published."""
    yield from find_unusable(main)
    if sum(files.values()) > LARGEST:
        yield _make_problem(main.name, "it is larger than 10 GB", "GitHub Pages takes 1 GB")
    twins = defaultdict(list)
    for path in files:
        twins[unicodedata.normalize("NFC", path).casefold()].append(path)
        if path.partition("/")[0].casefold() in _OURS:
            message = "versions, previews and what describes them are published under this name"
            yield _make_problem(path, message, "Give the page or file another name")
    for paths in twins.values():
        if len(paths) > 1:
            message = f"on some systems this is the same name as {', '.join(paths[1:])}"
            yield _make_problem(paths[0], message, "Rename one", Severity.WARNING)
    host = urlsplit(base_url).hostname
    if DOMAIN in files and host:
        domain = (main / DOMAIN).read_text("utf-8", "replace").strip()
        if domain.lower() != host:
            message = f"it says {domain}, and the site is to be published at {base_url}"
            yield _make_problem(DOMAIN, message, "Correct it, or --base-url", Severity.WARNING)
    yield from _check_addresses(main, files, base_url)


def _check_addresses(main: Path, files: Mapping[str, int], base_url: str) -> Iterator[Diagnostic]:
    """Find the first of the addresses that lead out of the published site, and count them."""
    root, found = unquote(urlsplit(base_url).path), dict[str, str]()
    for path in (*list_pages(files), NOT_FOUND) if base_url else ():
        html = (main / path).read_bytes() if path in files else b""
        canonical = read_canonical(html)
        outside = [one for one in list_absolute_paths(html) if not unquote(one).startswith(root)]
        if canonical and not unquote(canonical).startswith(unquote(base_url)):
            outside = [canonical, *outside]
        if outside:
            found[path] = outside[0]
    if found:
        path, address = next(iter(found.items()))
        more = f", and so do addresses on {len(found) - 1} more" if len(found) > 1 else ""
        message = f'"{address}" leads out of {base_url}{more}'
        step = f"Set site_url: {base_url} in mkdocs.yml and build the site, or correct --base-url"
        yield _make_problem(path, message, step, Severity.WARNING)


def _make_problem(file: str, message: str, step: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(SourceLocation(file), message, step, Stage.SITE, severity)


class Tree(Struct):
    """A folder that is being published: SHA-256 of its files by path, and their size in bytes together."""

    folder: Path
    hashes: dict[str, str] = field(default_factory=dict)
    size: int = 0
    _made: set[Path] = field(default_factory=set)

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        self._place(path).write_bytes(content)
        self.hashes[path] = hashlib.sha256(content).hexdigest()
        self.size += len(content)

    def copy(self, path: str, file: IO[bytes]) -> None:
        """Write what an open file holds, which may be larger than memory."""
        digest = hashlib.sha256()
        with self._place(path).open("wb") as copy:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                self.size += copy.write(chunk)
        self.hashes[path] = digest.hexdigest()

    def describe(self, path: str, state: State) -> dict[str, object]:
        """Describe it for ``publish.json``; ``tree`` is the SHA-256 of its hashes as sha256sum lists them."""
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(self.hashes.items()))
        tree = hashlib.sha256(lines.encode()).hexdigest()
        known = {"path": path, "commit": state.commit or None, "date": state.date or None}
        return {**known, "files": len(self.hashes), "bytes": self.size, "tree": tree}

    def _place(self, path: str) -> Path:
        target = self.folder / path
        if target.parent not in self._made:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(target.parent)
        return target
