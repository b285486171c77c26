"""What a page shows where room is short: sections in its bar, rows of a data table, and a 404 page."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from made_projects import PAGE, SETTINGS, write_report
from playwright.sync_api import expect

from browser.conftest import Site, Tabs, served
from reportgen.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A report with six sections and a long data table, without ``site_url``, served below a folder."""
    root = tmp_path_factory.mktemp("edges")
    pages = {f"content/{n}.md": f"# {title}\n" for n, title in enumerate(SECTIONS)}
    files = {"content/index.md": PAGE, "data/runs.csv": f"series,seed,step,accuracy\n{ROWS}", **pages}
    write_report(root, {"mkdocs.yml": SETTINGS, **files})
    done = CliRunner().invoke(cli, ["build", "--strict", "--config-file", str(root / "mkdocs.yml")])
    assert done.exit_code == 0, done.output
    (root / "site/a/b").mkdir(parents=True)
    shutil.copy(root / "site/404.html", root / "site/a/b/404.html")
    with served(root) as address:
        yield Site(root / "site", f"{address}/site")


@pytest.fixture
def tabs(browser: Browser, site: Site) -> Iterator[Tabs]:
    """A way to open pages."""
    opened = Tabs(browser, site)
    yield opened
    opened.close()


@pytest.mark.parametrize("width", [1280, 1024, 960])
def test_every_section_is_in_the_bar(tabs: Tabs, width: int) -> None:
    """Long names are shortened where they find no room; none is left out."""
    tab = tabs.open("index", served=True, width=width)
    for title in SECTIONS:
        box = tab.locator(".rg-tabs a", has_text=title).bounding_box()
        assert box
        assert box["y"] + box["height"] <= 60
        assert box["width"] > 40
    assert tabs.complaints == []


@pytest.mark.parametrize("width", [1280, 1024, 390])
def test_no_row_of_a_data_table_is_cut(tabs: Tabs, width: int) -> None:
    """The box ends where a row ends."""
    tab = tabs.open("index", served=True, width=width)
    tab.get_by_text("Data table").click()
    box = tab.locator(".rg-data .rg-scroll")
    ends = box.evaluate(
        "box => [box.getBoundingClientRect().top + box.clientHeight, box.scrollHeight > box.clientHeight,"
        " [...box.querySelectorAll('tr')].map(row => row.getBoundingClientRect().bottom)]"
    )
    assert ends[1]
    assert min(abs(ends[0] - bottom) for bottom in ends[2]) < 1


def test_the_404_page_has_its_style_anywhere(tabs: Tabs) -> None:
    """A server shows it at any depth and below any folder."""
    tab = tabs.open("a/b/404", served=True)
    expect(tab.locator(".rg-bar")).to_have_css("position", "sticky")
    assert not [one for one in tabs.complaints if "violat" in one]
