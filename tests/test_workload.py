"""The benchmarks' workload: the same bytes every time, and the size it claims."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from unittest.mock import patch

from made_projects import files_below

_WORKLOAD = Path(__file__).parent.parent / "benchmarks" / "workload.py"


def _written(folder: Path, *options: str) -> dict[str, bytes]:
    words = [str(_WORKLOAD), str(folder), "--pages", "2", "--steps", "4", *options]
    with patch.object(sys, "argv", words):
        runpy.run_path(words[0], run_name="__main__")
    return files_below(folder)


def test_the_same_arguments_write_the_same_bytes(tmp_path: Path) -> None:
    """Five series, five seeds, three metrics, three figures a page; plain pages have the text alone."""
    files, plain = _written(tmp_path / "one"), _written(tmp_path / "plain", "--plain")
    assert files == _written(tmp_path / "two")
    assert files["data/runs-001.csv"].count(b"\n") == 1 + 5 * 5 * 3 * 4
    assert files["content/page-001.md"].count(b"```curve\nsource: runs-001\n") == 3
    assert sum(name.startswith("content/") for name in files) == 3
    lines = plain["content/page-000.md"].splitlines()
    assert set(lines) <= set(files["content/page-000.md"].splitlines())
    assert not any(line.startswith(b"```") for line in lines)
    assert not any(name.startswith("data/") for name in plain)
