"""Small files by the real writers: see ``tests/data`` and ``make test-writers``."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

KEPT = Path(__file__).parent / "data"
PACKED = ".gz"
# Databases begin as hundreds of kilobytes of empty pages.
TO_PACK = {".db"}
README = """# Files by {writers}

Written by `tests/writers/write_{form}.py` with {versions}.
Read by `tests/test_read_mutated.py`. `make test-writers ACCEPT=1` writes them anew.
Databases are packed with gzip.
"""


def unpacked(form: str, room: Path) -> Path:
    """The files of a format as their writer left them, in a folder called ``data``."""
    folder = room / "data"
    shutil.copytree(KEPT / form, folder, ignore=shutil.ignore_patterns("README.md"))
    for path in list(folder.rglob(f"*{PACKED}")):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    return folder


def keep(form: str, folder: Path, writers: dict[str, str]) -> None:
    """Put files in place of those that are kept, and say what wrote them."""
    target = KEPT / form
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in TO_PACK:
            packed = gzip.compress(path.read_bytes(), mtime=0)
            place.with_name(place.name + PACKED).write_bytes(packed)
        elif path.stat().st_size:
            shutil.copyfile(path, place)
    versions = " and ".join(f"{name} {version}" for name, version in writers.items())
    text = README.format(form=form, writers=" and ".join(writers), versions=versions)
    (target / "README.md").write_text(text, encoding="utf-8")
