"""The example report of this repository and small reports, copied to a temporary folder and built there."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.site.starter import write_starter

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]
PARTS = ("content", "data", "mkdocs.yml")
REPORTGEN = (sys.executable, "-m", "reportgen")
# What a developer's shell or a CI server sets must not decide what a test sees.
_UNSET = ("SOURCE_DATE_EPOCH", "MKDOCSCONFIG", "PYTHONHASHSEED")


def copy_example(folder: Path) -> Path:
    """Copy the example report to a folder of its own, with new times, and return that folder."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__")
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
        timeout=120,
    )


def build(folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Path:
    """Build a report with ``reportgen build --strict`` and return its site."""
    built = run(folder, *REPORTGEN, "build", "--strict", *options, environment=environment)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


def build_example_once(shared: Path) -> Path:
    """Build the example report below a folder that test processes share; the first of them builds."""
    folder = shared / "example"
    with (shared / "example.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site").is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            build(copy_example(folder))
    return folder / "site"


def files_of(site: Path) -> dict[str, bytes]:
    """Every file of a site, by its path from the site's root."""
    return {p.relative_to(site).as_posix(): p.read_bytes() for p in sorted(site.rglob("*")) if p.is_file()}
