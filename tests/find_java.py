"""Find a Java for the tests with Spark, and install Debian's where that is allowed.

``python tests/find_java.py`` prints the folder of a Java 17 or newer. With ``--install`` and none found, it
installs Debian's, as root or where ``sudo`` asks no password. If there is still none it says exactly what is
missing and exits with 1. ``JAVA_HOME`` names one of your own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from find_chromium import install

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "openjdk-17-jre-headless"
# What Spark 4 runs on; where there are several, the first.
VERSIONS = (17, 21)
FOLDER = Path("/usr/lib/jvm")


def find_java(environ: Mapping[str, str] = os.environ, folder: Path = FOLDER) -> str | None:
    """The folder of a Java that Spark runs on: the environment's, one of Debian's, or that on PATH."""
    if environ.get("JAVA_HOME"):
        return environ["JAVA_HOME"] if Path(environ["JAVA_HOME"], "bin/java").exists() else None
    on_path = shutil.which("java", path=environ.get("PATH"))
    homes = [*sorted(folder.glob("java-*-openjdk*"))]
    homes += [Path(on_path).resolve().parent.parent] if on_path else []
    versions = {home: read_version(home / "bin/java") for home in homes}
    fitting = [home for home in homes if versions[home] in VERSIONS]
    return str(min(fitting, key=lambda home: VERSIONS.index(versions[home] or 0))) if fitting else None


def read_version(java: Path) -> int | None:
    """The major version of a Java; None if it cannot be run."""
    if not java.exists():
        return None
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else None


def what_is_missing(reason: str) -> str:
    """The text for a person who has to install Java by hand."""
    versions = " or ".join(map(str, VERSIONS))
    return (
        f"The tests with Spark need Java {versions}, and none was found.\n"
        f"Looked in JAVA_HOME, {FOLDER} and on PATH; {reason}.\n"
        f"Install it (on Debian: apt-get install {PACKAGE}), or set JAVA_HOME to the folder of one."
    )


def main(arguments: list[str]) -> int:
    """Print the folder of a Java; exit code 1 and a text on stderr if there is none."""
    path = find_java()
    reason = "nothing was installed"
    if path is None and "--install" in arguments:
        reason = install(packages=(PACKAGE,))
        path = find_java()
    if path is None:
        sys.stderr.write(what_is_missing(reason) + "\n")
        return 1
    sys.stdout.write(path + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
