"""What is around a path that may not be looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.core.errors import ReportError
from reportgen.site.describe import locate_data


def test_a_path_that_may_not_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told; a folder above it that cannot be looked into is that of no report."""
    plain = Path.stat
    closed = {tmp_path / "closed" / "a.csv", tmp_path / "closed" / "mkdocs.yml"}

    def stat(path: Path, **more: bool) -> object:
        if path in closed:
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, **more)

    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a.csv").touch()
    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(ReportError, match="it may not be looked at: Permission denied"):
        locate_data(tmp_path / "closed" / "a.csv")
    assert locate_data(tmp_path / "closed").data_dir == ""
    with pytest.raises(ReportError, match="there is no such file or folder"):
        locate_data(tmp_path / "gone")
