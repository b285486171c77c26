"""Measures ``reportgen archive`` and ``reportgen verify`` of the example report as ratios to a build of it.

    python benchmarks/archive.py [--times 5]

The build draws nothing anew: it finds all in the cache and writes the site. Before each archive the site is
up to date, as after ``reportgen build``. Ratios are what counts, see ``build.py``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import paired, run, table

_REPORTGEN = [sys.executable, "-m", "reportgen"]
_HEADER = ("", "seconds", "ratio", "limit", "peak MB")
_ROOT = Path(__file__).parents[1]


def copy_example(folder: Path) -> None:
    """Copy the example report into a repository of its own."""
    for name in ("content", "data", "examples"):
        shutil.copytree(_ROOT / name, folder / name)
    for name in ("README.md", "mkdocs.yml"):
        shutil.copy(_ROOT / name, folder)
    author = ["-c", "user.name=Benchmark", "-c", "user.email=benchmark@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "--message=Base"]):
        subprocess.run(["git", *words], cwd=folder, check=True)  # noqa: S607 - fixed words


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=5, help="how often each command is run")
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "report"
        copy_example(folder)
        build = [*_REPORTGEN, "build", "--force"]
        run(build, folder)

        def build_again() -> float:
            return run(build, folder).seconds

        archive = [*_REPORTGEN, "archive", "--to", "../report.zip"]
        rows = [("build of the example, all from the cache", f"{build_again():.2f}", "1.00", "", "")]
        for what, limit, command in (
            ("archive of it", "3 s", archive),
            ("archive with its site", "3 s", [*archive, "--site"]),
            ("one HTML file", "0.75", [*_REPORTGEN, "archive", "--one-file", "../report.html"]),
            ("verify, consistent", "0.75", [*_REPORTGEN, "verify", "../report.zip"]),
        ):
            found = paired(command, folder, build_again, times)
            rows.append((what, f"{found.seconds:.2f}", f"{found.ratio:.2f}", limit, f"{found.megabytes:.0f}"))
    print(table(_HEADER, rows))


if __name__ == "__main__":
    main()
