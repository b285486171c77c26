"""Find a Chromium for the browser tests, and install Debian's where that is allowed.

``python tests/find_chromium.py`` prints its path. With ``--install`` and none found, it installs one of
``PACKAGES`` on Debian and Ubuntu, as root or where ``sudo`` asks no password. If there is still none it
says exactly what is missing and exits with 1. ``REPORTGEN_CHROMIUM`` names one of your own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The headless shell is the same engine without windows. It opens a tab in a fifth of the time, but is no
# browser of a reader's, so it comes last.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chromium-headless-shell")
PACKAGES = ("chromium", "chromium-headless-shell")
VARIABLE = "REPORTGEN_CHROMIUM"
DEBIAN = Path("/etc/debian_version")


def find_chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """Path of the Chromium to test with: the one the environment names, otherwise the first on PATH."""
    if environ.get(VARIABLE):
        return shutil.which(environ[VARIABLE])
    found = (shutil.which(name, path=environ.get("PATH")) for name in NAMES)
    return next((path for path in found if path), None)


def privilege() -> tuple[str, ...] | None:
    """The prefix that runs a command as root: empty for root, sudo if it asks nothing, None if neither."""
    if os.geteuid() == 0:
        return ()
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return (sudo, "-n")
    return None


def install(debian: Path = DEBIAN, packages: Sequence[str] = PACKAGES) -> str:
    """Install one of Debian's packages; returns what stood in the way, for the end of a sentence."""
    if not debian.exists() or not shutil.which("apt-get"):
        return "this is not Debian or Ubuntu, so it cannot be installed from here"
    prefix = privilege()
    if prefix is None:
        return "installing it needs root, and sudo would ask for a password"
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}

    def run(*words: str) -> bool:
        command = [*prefix, "apt-get", *words]
        return not subprocess.run(command, check=False, env=environ, stdout=sys.stderr).returncode

    if not run("update", "-qq"):
        return "apt-get update failed, see above"
    if not any(run("install", "-y", "-qq", package) for package in packages):
        return "apt-get install failed, see above"
    return "a package is installed, but brought no program of these names"


def what_is_missing(reason: str) -> str:
    """The text for a person who has to install Chromium by hand."""
    return (
        "The browser tests need Chromium, and none was found.\n"
        f"Looked for {', '.join(NAMES)} on PATH; {reason}.\n"
        "Install it (on Debian: apt-get install chromium), "
        f"or set {VARIABLE} to the path of a Chromium or Chrome."
    )


def main(arguments: list[str]) -> int:
    """Print the path of a Chromium; exit code 1 and a text on stderr if there is none."""
    path = find_chromium()
    reason = "nothing was installed"
    if path is None and "--install" in arguments:
        reason = install()
        path = find_chromium()
    if path is None:
        sys.stderr.write(what_is_missing(reason) + "\n")
        return 1
    sys.stdout.write(path + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
