"""Variables of reportgen beside mkdocs-macros, in either order of the plugins."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest
from made_projects import write_report

from writers.test_validators import VALIDATORS
from writers.writing import OFFLINE, TESTS

if TYPE_CHECKING:
    from pathlib import Path

RUNS = "series,step,loss\n" + "".join(f"{name},{n},{1 / (n + 1)}\n" for name in "AB" for n in range(5))
PAGE = """---
level: 0.2
---
# Team {{ team }}, {{ shout("macros") }}

{% if team %}Shown by macros.{% endif %}

```curve
id: loss
source: {{ source }}
metric: loss
```

[0.2]{value="final(A)" of="loss"} is {{ level }}.
"""
LOOP = """---
for: {name: [One, Two]}
---
# Page {{ name }} of {{ team }}, {{ shout("here") }}
"""
MACROS = "def define_env(env):\n    env.macro(lambda text: text.upper(), 'shout')\n"


@pytest.mark.parametrize("order", [("reportgen", "macros"), ("macros", "reportgen")], ids="-".join)
def test_both_replace_what_is_theirs(tmp_path: Path, order: tuple[str, str]) -> None:
    """Variables are in blocks and in prose, macros are called, and a page is made for each value."""
    options = {
        "reportgen": "reportgen: {variables: {source: runs}}",
        "macros": "macros: {on_undefined: strict}",
    }
    settings = "site_name: m\ndocs_dir: content\nextra: {team: Lab}\nplugins:\n"
    settings += "".join(f"  - {options[name]}\n" for name in order)
    files = {
        "mkdocs.yml": settings,
        "main.py": MACROS,
        "data/runs.csv": RUNS,
        "content/index.md": PAGE,
        "content/all.md": LOOP,
    }
    root = write_report(tmp_path / "report", files)
    macros = next((VALIDATORS.parent / "lib").glob("python*/site-packages"))
    # reportgen first: the environment that macros is in has older versions of what both need.
    places = (TESTS.parent, sysconfig.get_path("purelib"), macros)
    environment = {**os.environ, **OFFLINE, "PYTHONPATH": os.pathsep.join(map(str, places))}
    command = [sys.executable, "-m", "reportgen", "build", "--strict"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    html = (root / "site" / "index.html").read_text("utf-8")
    assert "Team Lab, MACROS" in html
    assert "Shown by macros." in html
    assert 'id="loss"' in html
    assert re.search(r"</span> is 0\.2\.|is 0\.2\.", html)
    for name in ("One", "Two"):
        page = (root / "site" / f"all-{name.lower()}" / "index.html").read_text("utf-8")
        assert f"Page {name} of Lab, HERE" in page
