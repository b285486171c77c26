"""Packages that tests put onto Python's path, as an installation does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from made_projects import write_file

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
