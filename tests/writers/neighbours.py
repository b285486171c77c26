"""Packages of the environment of the validators, used in that of reportgen, where they are not installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from writers.test_validators import VALIDATORS
from writers.writing import OFFLINE, TESTS

WHO = {
    "AUTHOR_NAME": "A",
    "AUTHOR_EMAIL": "a@example.org",
    "COMMITTER_NAME": "A",
    "COMMITTER_EMAIL": "a@b.org",
}


def run_python(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a report, with the packages of both environments."""
    packages = next((VALIDATORS.parent / "lib").glob("python*/site-packages"))
    # reportgen first: the other environment has older versions of what both need.
    places = (TESTS.parent, sysconfig.get_path("purelib"), packages)
    environment = {
        **os.environ,
        **OFFLINE,
        **{f"GIT_{name}": value for name, value in WHO.items()},
        "HOME": str(root.parent),
        # Where mkdocs-jupyter finds the templates that it derives its own from.
        "JUPYTER_PATH": str(VALIDATORS.parent / "share" / "jupyter"),
        # Material for MkDocs prints its plans otherwise.
        "NO_MKDOCS_2_WARNING": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
