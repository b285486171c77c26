"""What a page shows where room is short: sections in its bar, rows of a data table, and a 404 page."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from made_projects import PAGE, SETTINGS, write_report
from playwright.sync_api import expect

from browser.conftest import opened, resize
from browser.live import box_of
from reportgen.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

SECTIONS = (
    "MATH500",
    "AIME Pass@1",
    "Model comparison",
    "Training accuracy",
    "Training diagnostics",
    "Guide",
)
ROWS = "".join(f"{name},0,{step},0.{step}\n" for name in ("MEL", "GRPO") for step in range(10, 50))


def build_edges(root: Path) -> Path:
    """Build a report with six sections and a long data table, without ``site_url``."""
    pages = {f"content/{n}.md": f"# {title}\n" for n, title in enumerate(SECTIONS)}
    files = {"content/index.md": PAGE, "data/runs.csv": f"series,seed,step,accuracy\n{ROWS}", **pages}
    write_report(root, {"mkdocs.yml": SETTINGS, **files})
    done = CliRunner().invoke(cli, ["build", "--strict", "--config-file", str(root / "mkdocs.yml")])
    assert done.exit_code == 0, done.output
    (root / "site/a/b").mkdir(parents=True)
    shutil.copy(root / "site/404.html", root / "site/a/b/404.html")
    return root / "site"


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The report, served below a folder."""
    return sites.make("edges", build_edges)


def test_sections_and_rows_where_room_is_short(tabs: Tabs) -> None:
    """Long names of sections are shortened in the bar, none is left out; a table's box ends with a row."""
    tab, faults = tabs.open("index", served=True), []
    tab.get_by_text("Data table").click()
    for width in (1280, 1024, 960, 390):
        resize(tab, width)
        for title in SECTIONS if width > 390 else ():
            box = box_of(tab.locator(".rg-tabs a", has_text=title))
            if box["bottom"] > 60 or box["width"] <= 40:
                faults.append(f"{title}, {width} px")
        end, scrolls, rows = tab.locator(".rg-data .rg-scroll").evaluate(
            "box => [box.getBoundingClientRect().top + box.clientHeight, box.scrollHeight > box.clientHeight,"
            " [...box.querySelectorAll('tr')].map(row => row.getBoundingClientRect().bottom)]"
        )
        if not scrolls or min(abs(end - bottom) for bottom in rows) >= 1:
            faults.append(f"a row is cut at {width} px")
    assert faults == []


def test_the_404_page_has_its_style_anywhere(pool: Pool, site: Site) -> None:
    """A server shows it at any depth and below any folder."""
    with opened(pool, site) as tabs:
        tab = tabs.open("a/b/404", served=True)
        expect(tab.locator(".rg-bar")).to_have_css("position", "sticky")
    assert not [one for one in tabs.complaints if "violat" in one]
