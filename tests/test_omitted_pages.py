"""A page that the navigation leaves out is told by a build: nobody would find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import PAGE, SETTINGS, write_report

if TYPE_CHECKING:
    from pathlib import Path

NAV = "nav: [{Overview: index.md}]\n"
SAID = 'not included in the "nav" configuration'
SETTLED = {
    "no navigation": SETTINGS,
    "on purpose": f"{SETTINGS}{NAV}not_in_nav: /new.md\n",
    "said otherwise": f"{SETTINGS}{NAV}validation: {{nav: {{omitted_files: ignore}}}}\n",
    "the navigation of another theme": SETTINGS.replace("reportgen}", "mkdocs}") + NAV,
}


def test_it_is_a_warning(tmp_path: Path) -> None:
    """Also for --strict."""
    files = {"mkdocs.yml": f"{SETTINGS}{NAV}", "content/new.md": PAGE}
    done = call(write_report(tmp_path, files), "build", "--strict")
    assert done.returncode == 1
    assert SAID in done.stderr
    assert "new.md" in done.stderr


@pytest.mark.parametrize("settled", SETTLED)
def test_what_is_meant_is_not_told(tmp_path: Path, settled: str) -> None:
    """MkDocs' own settings for it hold, and so does what an existing site is used to."""
    root = write_report(tmp_path, {"mkdocs.yml": SETTLED[settled], "content/new.md": PAGE})
    done = call(root, "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "warning: The following pages exist" not in done.stderr


def test_a_generated_page_need_not_be_in_the_navigation(tmp_path: Path) -> None:
    """Cards lead to it, and its author cannot know its name."""
    settings = f"{SETTINGS}{NAV}".replace(
        "plugins: [reportgen]", "plugins: [{reportgen: {benchmarks: [{name: Quiz, source: runs}]}}]"
    )
    done = call(write_report(tmp_path, {"mkdocs.yml": settings}), "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/quiz/index.html").is_file()
