"""The example report of this repository and small reports, copied to a temporary folder and built there."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from command_line import call

from reportgen.site.starter import write_starter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("content", "data", "README.md", "mkdocs.yml")
REPORTGEN = (sys.executable, "-m", "reportgen")
# What a developer's shell or a CI server sets must not decide what a test sees.
_UNSET = ("SOURCE_DATE_EPOCH", "MKDOCSCONFIG", "PYTHONHASHSEED")


def copy_example(folder: Path, *without: str) -> Path:
    """Copy the example report to a folder of its own, without what is so named, and return that folder."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__", *without)
            shutil.copytree(source, folder / part, copy_function=shutil.copyfile, ignore=left_out)
        else:
            shutil.copyfile(source, folder / part)
    return folder


def write_small_report(folder: Path, *, theme: str = "reportgen") -> Path:
    """Write the report of ``reportgen init``, with a theme, and return its folder."""
    write_starter(folder)
    settings = folder / "mkdocs.yml"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace("name: reportgen", f"name: {theme}"), "utf-8")
    return folder


def run(
    folder: Path, *command: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a report's folder and return what it said, whatever came of it."""
    clean = {name: value for name, value in os.environ.items() if name not in _UNSET}
    return subprocess.run(
        command,
        cwd=folder,
        env=clean | dict(environment or {}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def build(folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Path:
    """Build a report with ``reportgen build --strict`` and return its site."""
    built = call(folder, "build", "--strict", *options, **dict(environment or {}))
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


def build_example_once(shared: Path) -> Path:
    """Build the example report below a folder that test processes share; the first of them builds."""
    return _made_once(shared, "example", lambda folder: build(copy_example(folder)))


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """Make something slow once for all test processes; nobody may change it.

    Args:
        factory: pytest's ``tmp_path_factory``.
        name: the name of its folder, of letters.
        make: fills a folder that does not exist yet and returns the path that the test wants.
    """
    own = factory.getbasetemp()
    # Each process of pytest-xdist has its own folder inside one that all share.
    return _made_once(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own, name, make)


def _made_once(shared: Path, name: str, make: Callable[[Path], Path]) -> Path:
    done = shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file():
            shutil.rmtree(shared / name, ignore_errors=True)
            done.write_text(str(make(shared / name)), "utf-8")
    return Path(done.read_text("utf-8"))


def files_of(site: Path) -> dict[str, bytes]:
    """Every file of a site, by its path from the site's root."""
    return {p.relative_to(site).as_posix(): p.read_bytes() for p in sorted(site.rglob("*")) if p.is_file()}
