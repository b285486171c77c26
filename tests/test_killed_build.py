"""A build that is killed, at whatever moment, leaves the old site complete, and the next build works."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from example_site import REPORTGEN, build, files_of, made_once, run, write_small_report
from made_projects import share_cache
from tries import slow_after

from reportgen.core.cache import cache_folder

# Builds, and dies without a word when a function is called for the n-th time.
KILLER = """
import os, shutil, signal, sys  # shutil looks at what functions of os can do when it is imported
from pkgutil import resolve_name

if __name__ == "__main__":
    module, name, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
    place = resolve_name(module)
    real = getattr(place, name)

    def dying(*args, **kwargs):
        global calls
        calls -= 1
        if not calls:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    setattr(place, name, dying)
    from reportgen.cli.main import cli

    cli(["build", "--force"])
"""
MOMENTS = {
    "while MkDocs writes pages": ("reportgen.site.fragments.Fences", "fill", 1),
    "before anything": ("reportgen.site.publishing", "load_configuration", 1),
    "while drafting": ("reportgen.site.plugin", "Assembly", 1),
    "while our files are written": ("reportgen.site.assembly", "_write", 1),
    "before the swap": ("os", "rename", 1),
    "before the manifest": ("reportgen.site.reuse.manifest", "write", 1),
    "in the manifest": ("reportgen.site.reuse.manifest", "_walk", 1),
}
# Between the two renames of the swap there is no site: the test above has that moment.
CALLS = [
    (name, calls)
    for name in ("mkdir", "rename", "replace", "unlink")
    for calls in (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 21, 27, 34, 44, 55)
    if (name, calls) != ("rename", 2)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a site, to be copied."""
    return made_once(tmp_path_factory, "killed", lambda folder: build(write_small_report(folder)).parent)


@pytest.fixture
def report(made: Path, tmp_path: Path) -> Path:
    """A built report whose text changed since, so that old and new site can be told apart."""
    folder = tmp_path / "report"
    subprocess.run(["cp", "-a", made, folder], check=True)  # noqa: S607 - found on PATH everywhere
    share_cache(made, folder)
    page = folder / "content" / "index.md"
    page.write_text(page.read_text("utf-8") + "\nWritten after the first build.\n", "utf-8")
    return folder


def kill_at(report: Path, moment: tuple[str, str, int]) -> None:
    """Build and die at a moment."""
    killer = report / "killer.py"
    killer.write_text(KILLER, "utf-8")
    module, name, calls = moment
    ended = run(report, sys.executable, str(killer), module, name, str(calls))
    assert ended.returncode == -signal.SIGKILL, ended.stdout + ended.stderr


def is_new(site: Path) -> bool:
    """Whether a site has what was written after the first build."""
    return "Written after the first build" in (site / "index.html").read_text("utf-8")


def left_over(report: Path) -> list[str]:
    """What unfinished builds have beside the site, and in the cache."""
    found = (*report.glob(".site.*"), *cache_folder(report).glob("build-*"))
    return sorted(path.name for path in found)


@pytest.mark.parametrize("moment", slow_after(1, MOMENTS))
def test_a_killed_build_leaves_a_complete_site(report: Path, made: Path, moment: str) -> None:
    """Until the swap the old site stands byte for byte, then the new; the next build cleans up."""
    kill_at(report, MOMENTS[moment])
    site = report / "site"
    if "manifest" in moment:
        assert is_new(site)
        assert files_of(site).keys() == files_of(made / "site").keys()
    else:
        assert files_of(site) == files_of(made / "site")
    assert is_new(build(report))
    assert left_over(report) == []


@pytest.mark.slow
def test_a_swap_that_was_killed_half_way_is_mended(report: Path, made: Path) -> None:
    """Between its two renames the old site is put aside; the next build puts it back, even one that fails."""
    kill_at(report, ("os", "rename", 2))
    (report / "data/first-benchmark/runs.csv").unlink()
    failed = run(report, *REPORTGEN, "build")
    assert failed.returncode == 1, failed.stderr
    assert files_of(report / "site") == files_of(made / "site")
    assert left_over(report) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "calls"), CALLS)
def test_a_build_killed_at_any_call_leaves_a_site(report: Path, made: Path, name: str, calls: int) -> None:
    """From start to end a site is there, whole: the old one or, also after so many calls, the new one."""
    (report / "killer.py").write_text(KILLER, "utf-8")
    ended = run(report, sys.executable, "killer.py", "os", name, str(calls))
    assert ended.returncode in {0, -signal.SIGKILL}, ended.stderr
    old, site = files_of(made / "site"), files_of(report / "site")
    assert site == old or (is_new(report / "site") and site.keys() == old.keys())
    assert is_new(build(report))
    assert left_over(report) == []


def test_a_killed_build_leaves_no_process_behind(report: Path) -> None:
    """The process that draws beside a build ends with it, even if the build had no time to say so."""
    shutil.rmtree(cache_folder(report))
    shutil.rmtree(report / "site")
    cache_folder.cache_clear()
    kill_at(report, ("reportgen.site.fragments.Fences", "fill", 1))
    for _ in range(100):
        left = processes_in(report)
        if not left:
            return
        time.sleep(0.1)
    for process in left:
        os.kill(process, signal.SIGKILL)
    pytest.fail(f"{len(left)} processes still run 10 s after the build was killed")


def processes_in(folder: Path) -> list[int]:
    """Processes whose working folder this is; nothing where the system does not tell."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
        except OSError:  # it ended, or is another user's
            continue
    return found


@pytest.mark.slow
def test_an_interrupted_build_says_so_and_leaves_the_site(report: Path, made: Path) -> None:
    """Ctrl+C ends a build as it ends other programs, without a traceback."""
    driver = KILLER.replace("signal.SIGKILL", "signal.SIGINT")
    (report / "killer.py").write_text(driver, "utf-8")
    ended = run(report, sys.executable, "killer.py", "reportgen.site.fragments.Fences", "fill", "1")
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert files_of(report / "site") == files_of(made / "site")
    assert is_new(build(report))
    assert left_over(report) == []
