"""Measures ``reportgen publish`` of a large report, versions of it and previews of pull requests.

    python benchmarks/publish.py [--pages 1000] [--versions 10] [--previews 25] [--times 3] [--folder DIR]

One page with a figure is built for real, and repeated under other names. A version is the archive of a tenth
of the report; a pull request's site is all of it from another commit, packed, and ten of its pages say
something else. The least time counts, since what else runs on a machine only adds to it; the second row
is how long it takes to copy the same files to another folder of the same disk.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from measure import run, table
from workload import Size, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPORTGEN = [sys.executable, "-m", "reportgen"]
_HEADER = ("", "seconds", "limit", "peak MB", "limit")
_CHANGED = 10
_PAGE = "page-000"


def write_inputs(folder: Path, pages: int, versions: int, previews: int) -> list[str]:
    """Write main, archives and packed sites, and return the options that name them."""
    report = folder / "report"
    write_report(report, Size(pages=1, steps=50))
    text = (report / "content" / f"{_PAGE}.md").read_text(encoding="utf-8")
    first, second = text.split("\n## ")[:2]  # one of its figures is enough
    (report / "content" / f"{_PAGE}.md").write_text(f"{first}\n## {second}", encoding="utf-8")
    run([*_REPORTGEN, "build"], report)
    main = folder / "main"
    for name, content in list_files(report / "site", pages, ""):
        path = main / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    options = ["--main", "main"]
    for number in range(versions):
        files = dict(list_files(report / "site", pages // 10, f"version {number}"))
        members = {f"site/{name}": content for name, content in sorted(files.items())}
        manifest = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items())
        _pack(folder / f"v{number}.zip", {**members, "manifest-sha256.txt": manifest.encode()})
        options += ["--version", f"{number}.0=v{number}.zip"]
    for number in range(1, previews + 1):
        site = report / "site"
        _pack(folder / f"p{number}.zip", dict(list_files(site, pages, f"commit {number}", changed=number)))
        options += ["--preview", f"{number}=p{number}.zip"]
    return options


def list_files(site: Path, pages: int, commit: str, *, changed: int = -1) -> Iterator[tuple[str, bytes]]:
    """List the files of a site whose one page is repeated; every page ends with its commit."""
    places = range(changed * _CHANGED, (changed + 1) * _CHANGED) if changed >= 0 else range(0)
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        name, content = path.relative_to(site).as_posix(), path.read_bytes()
        if _PAGE not in name:
            yield name, content + f"<!-- {commit} -->".encode() * (path.suffix == ".html")
            continue
        for number in range(pages):
            repeated = content.replace(_PAGE.encode(), f"page-{number:03}".encode())
            if path.suffix == ".html":
                repeated += f"<!-- {commit} -->".encode()
            if number in places:
                repeated = repeated.replace(b"Train/loss", f"Loss of pull request {changed}".encode())
            yield name.replace(_PAGE, f"page-{number:03}"), repeated


def _pack(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def measure(folder: Path, options: list[str], times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table: assembling, and copying what came out."""
    command = [*_REPORTGEN, "publish", *options, "--to", "public"]
    command += ["--base-url", "https://example.org/report/"]
    found = [run(command, folder) for _ in range(times)]
    files = [path for path in (folder / "public").rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    least, peak = min(one.seconds for one in found), max(one.megabytes for one in found)
    yield f"{len(files):,} files, {size / 1e6:.0f} MB", f"{least:.2f}", "10", f"{peak:.0f}", "200"
    start = time.perf_counter()
    shutil.copytree(folder / "public", folder / "copy")
    yield "copying them", f"{time.perf_counter() - start:.2f}", "", "", ""


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1000, help="pages of main and of each pull request")
    parser.add_argument("--versions", type=int, default=10, help="versions, with a tenth of the pages each")
    parser.add_argument("--previews", type=int, default=25, help="pull requests")
    parser.add_argument("--times", type=int, default=3, help="runs of the command; the fastest counts")
    parser.add_argument("--folder", type=Path, help="write the inputs here and keep them")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        options = write_inputs(folder, chosen.pages, chosen.versions, chosen.previews)
        print(table(_HEADER, measure(folder, options, chosen.times)))


if __name__ == "__main__":
    main()
