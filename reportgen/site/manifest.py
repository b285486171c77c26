"""Tells in milliseconds that nothing changed since the last build, before anything heavy is imported.

``.reportgen/manifest.json`` holds size, time of change and SHA-256 of everything that went in, and size
and time of everything that came out. A file whose size and time stand is taken as unchanged; one whose
time alone differs is hashed.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PATH = Path(".reportgen", "manifest.json")
_FORMAT = 1
_IGNORED = {"__pycache__", ".git", ".reportgen", ".venv"}


@dataclass(frozen=True, slots=True)
class Summary:
    """What a build made, for its closing line."""

    pages: int
    figures: int
    cache_hits: int
    warnings: int


def unchanged(root: Path, *, strict: bool) -> Summary | None:
    """The summary of the last build if building again would give the same site, otherwise None."""
    try:
        manifest = json.loads((root / PATH).read_text(encoding="utf-8"))
        if manifest["format"] != _FORMAT or manifest["environment"] != environment():
            return None
        summary = Summary(**manifest["summary"])
        same = (
            not (strict and summary.warnings)
            and _outputs(Path(manifest["site"])) == manifest["outputs"]
            and _inputs_stand(root, manifest)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return summary if same else None


def write(root: Path, site: Path, roots: Iterable[Path], summary: Summary, known: Mapping[str, str]) -> None:
    """Record a build.

    Args:
        root: the report's folder.
        site: the site that was built.
        roots: the files and folders that decide it.
        summary: what the build made.
        known: SHA-256 by absolute path of files that were hashed already.
    """
    names = [str(path.resolve()) for path in roots]
    manifest = {
        "format": _FORMAT,
        "environment": environment(),
        "site": str(site.resolve()),
        "roots": names,
        "inputs": {path: [*_stat(path), known.get(path) or _sha256(path)] for path in _files(names)},
        "outputs": _outputs(site.resolve()),
        "summary": asdict(summary),
    }
    target = root / PATH
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_suffix(".new")
    fresh.write_text(json.dumps(manifest), encoding="utf-8")
    fresh.replace(target)


def forget(root: Path) -> None:
    """Make the next build a real one."""
    (root / PATH).unlink(missing_ok=True)


def environment() -> dict[str, str | None]:
    """Settings outside files that decide a site."""
    return {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH")}


def repository_files(root: Path) -> Iterator[Path]:
    """The files of a git repository that say which commit is checked out."""
    folder = next((p / ".git" for p in (root, *root.parents) if (p / ".git").is_dir()), None)
    if folder is None:
        return
    head = folder / "HEAD"
    yield head
    yield folder / "packed-refs"
    if head.is_file():
        name = head.read_text(encoding="utf-8").removeprefix("ref:").strip()
        yield folder / name


def _inputs_stand(root: Path, manifest: dict[str, Any]) -> bool:
    known: dict[str, list[Any]] = manifest["inputs"]
    found = _files(manifest["roots"])
    if sorted(found) != sorted(known):
        return False
    touched = False
    for path in found:
        size, changed, digest = known[path]
        now = _stat(path)
        if now[0] != size or (now[1] != changed and _sha256(path) != digest):
            return False
        if now[1] != changed:
            known[path] = [*now, digest]
            touched = True
    if touched:
        (root / PATH).write_text(json.dumps(manifest), encoding="utf-8")
    return True


def _files(roots: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(path for root in roots for path in _walk(root)))


def _walk(path: str) -> Iterator[str]:
    """Files below a folder, or the file itself; nothing where there is neither."""
    if os.path.isfile(path):  # noqa: PTH113 - pathlib costs more than the whole check
        yield path
        return
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _IGNORED:
            continue
        if entry.is_dir():
            # A link that leads back up is not followed.
            if not f"{os.path.realpath(path)}{os.sep}".startswith(f"{os.path.realpath(entry.path)}{os.sep}"):
                yield from _walk(entry.path)
        elif entry.is_file():
            yield entry.path


def _outputs(site: Path) -> dict[str, list[int]]:
    return {path: list(_stat(path)) for path in _walk(str(site))}


def _stat(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - pathlib costs more than the whole check
    return found.st_size, found.st_mtime_ns


def _sha256(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return hashlib.file_digest(file, "sha256").hexdigest()
