"""A disk that takes no more: an error in words, the old site as it was, and no result that lacks a run."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from command_line import call
from limited_disk import NO_SPACE, limited_disk
from made_projects import PAGE, files_below, write_file, write_report

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


FIRST = f"cache-{1 << 30}-build"
LOG = {
    f"data/logged/{run}/trainer_state.json": (
        '{"log_history": ['
        + ", ".join(f'{{"step": {step}, "loss": {1 / (step + run)}}}' for step in range(1, 400))
        + "]}"
    )
    for run in (1, 2)
}
FILES = {**LOG, "content/index.md": PAGE + "\n```curve\nsource: logged\nmetric: loss\n```\n"}


def run(root: Path, size: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line on a disk where no file may become larger than ``size`` bytes, with an empty cache."""
    cache = root.parent / f"cache-{size}-{words[0]}"
    if not cache.exists() and (root.parent / FIRST).is_dir():  # empty, but for what the first build wrote
        shutil.copytree(root.parent / FIRST, cache, ignore=shutil.ignore_patterns("??", "*.json"))
    with limited_disk(size):
        return call(root, *words, REPORTGEN_CACHE_DIR=str(cache))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a site, and a page that was changed since."""
    root = write_report(tmp_path_factory.mktemp("full") / "report", FILES)
    built = run(root, 1 << 30, "build")
    assert built.returncode == 0, built.stderr
    write_file(root / "content" / "index.md", FILES["content/index.md"] + "\nOther words.\n")
    return root


@pytest.mark.parametrize("size", [0, 200, 3_000, 20_000, 60_000])
def test_a_build_on_a_full_disk_leaves_the_old_site(report: Path, size: int) -> None:
    """And says where there is no space."""
    before = files_below(report)
    built = run(report, size, "build")
    assert "Traceback" not in built.stderr
    assert built.returncode == 1
    assert NO_SPACE.search(built.stderr)
    assert "the site was left as it was" in built.stderr
    assert files_below(report) == before
    assert not list(report.glob(".*"))


@pytest.mark.parametrize("command", [["check"], ["facts", "logged"], ["describe", "data/logged"]])
def test_a_command_on_a_full_disk_is_right_or_refused(report: Path, command: list[str]) -> None:
    """What cannot be kept is computed again; a run that cannot be kept is not passed over."""
    whole = run(report, 1 << 30, *command)
    for size in (0, 200, 3_000, 20_000):
        done = run(report, size, *command)
        assert "Traceback" not in done.stderr, size
        if done.returncode == 0:
            assert done.stdout == whole.stdout, size
        else:
            assert NO_SPACE.search(done.stderr + done.stdout), size


@pytest.mark.parametrize("size", [0, 200, 3_000])
def test_freezing_on_a_full_disk_leaves_nothing(report: Path, size: int) -> None:
    """No half of a frozen source stands where it would be taken for the whole."""
    done = run(report, size, "freeze", "data/logged", "--to", "data/frozen")
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    assert NO_SPACE.search(done.stderr)
    assert not (report / "data" / "frozen").exists()
