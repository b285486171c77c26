"""Small reports written in a test, with what an earlier build computed at hand, and installed packages."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from typing import TYPE_CHECKING, Any

from reportgen.core.cache import cache_folder
from reportgen.site.replacing.records import record_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pytest

SETTINGS = """
site_name: Small
docs_dir: content
theme: {name: reportgen}
plugins: [reportgen]
"""
RUNS = """series,seed,step,accuracy
MEL,1,0,0.20
MEL,1,10,0.84
MEL,2,0,0.22
MEL,2,10,0.80
GRPO,1,0,0.20
GRPO,1,10,0.70
GRPO,2,0,0.18
GRPO,2,10,0.74
"""
PAGE = """# Small

```curve
source: runs
title: Accuracy
```
"""
SMALL = {"mkdocs.yml": SETTINGS, "content/index.md": PAGE, "data/runs.csv": RUNS}


def write_report(root: Path, files: Mapping[str, str | bytes | None] | None = None) -> Path:
    """Write the small report into a folder; ``files`` are put in, replace its own, or (None) leave them out.

    Files look a minute old, as they do to somebody who writes and then builds.
    """
    for name, content in {**SMALL, **(files or {})}.items():
        if content is not None:
            write_file(root / name, content)
    return root


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file that looks a minute old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    then = path.stat().st_mtime_ns - 60 * 10**9
    os.utime(path, ns=(then, then))


def share_cache(source: Path, root: Path) -> None:
    """Give a report what another one's build computed, so that equal figures are not drawn again."""
    shutil.copytree(cache_folder(source), cache_folder(root), dirs_exist_ok=True)
    if (root / "site").is_dir():  # a copy of the source's, for which there is no record yet
        record_folder(root / "site", cache_folder(root))


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path from there."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


class WorkerHere:
    """Does the work here, on what would arrive in another process, and sends the result back."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.plans: list[Any] = []

    def __call__(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
        """As a second process is called."""
        self.called.append(work.__name__)
        self.plans.append(arguments[0])
        result = pickle.dumps(work(*pickle.loads(pickle.dumps(arguments))))  # noqa: S301 - made one line before
        return lambda: pickle.loads(result)  # noqa: S301 - as above


class Install:
    """Writes the code and the entry points of a package; what is installed again replaces it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        monkeypatch.syspath_prepend(folder / "environment")

    def __call__(self, code: str, entries: str, name: str = "acme-reports") -> None:
        """Install a package of one module, whose name is that of the package."""
        module = name.replace("-", "_")
        write_file(self.folder / f"environment/{module}.py", code)
        information = self.folder / f"environment/{module}-1.0.dist-info"
        write_file(information / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        write_file(information / "entry_points.txt", entries)
        # The path is new to whoever has listed it, and the code to whoever imported it for another test.
        self.monkeypatch.syspath_prepend(self.folder / f"with-{name}-{len(sys.path)}")
        self.monkeypatch.delitem(sys.modules, module, raising=False)
