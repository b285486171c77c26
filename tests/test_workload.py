"""The benchmarks' workload: the same bytes every time, and the size it claims."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from unittest.mock import patch

_WORKLOAD = Path(__file__).parent.parent / "benchmarks" / "workload.py"


def _written(folder: Path, *options: str) -> dict[str, bytes]:
    words = [str(_WORKLOAD), str(folder), "--pages", "2", "--steps", "4", *options]
    with patch.object(sys, "argv", words):
        runpy.run_path(words[0], run_name="__main__")
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_same_arguments_write_the_same_bytes(tmp_path: Path) -> None:
    """Benchmarks of two days measure the same work."""
    assert _written(tmp_path / "one") == _written(tmp_path / "two")


def test_it_has_the_rows_and_figures_it_claims(tmp_path: Path) -> None:
    """Five series, five seeds, three metrics; three figures a page."""
    files = _written(tmp_path / "report")
    assert files["data/runs-001.csv"].count(b"\n") == 1 + 5 * 5 * 3 * 4
    assert files["content/page-001.md"].count(b"```curve\nsource: runs-001\n") == 3
    assert sum(name.startswith("content/") for name in files) == 3


def test_the_plain_pages_have_the_same_text_without_figures(tmp_path: Path) -> None:
    """So that the ratio to MkDocs alone is fair."""
    report, plain = _written(tmp_path / "report"), _written(tmp_path / "plain", "--plain")
    lines = plain["content/page-000.md"].splitlines()
    assert set(lines) <= set(report["content/page-000.md"].splitlines())
    assert not any(line.startswith(b"```") for line in lines)
    assert not any(name.startswith("data/") for name in plain)
