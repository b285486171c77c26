"""A published report in a real browser, under a path and from disk: main, a version, and a preview."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from made_archives import CITED, REPORT, archive, commit, invoke
from made_projects import RUNS, files_below, share_cache, write_report
from made_sites import pack_site
from playwright.sync_api import expect

from browser.conftest import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

THIRD = {"content/third.md": "# Third\n\nNobody changes it.\n"}
UNTRUSTED = {"mkdocs.yml": CITED.replace("  - reportgen:\n", "  - reportgen:\n      untrusted: true\n")}


def assemble(folder: Path, changes: dict[str, str]) -> Path:
    """A report that is published with a version and a preview."""
    folder.mkdir()
    files = REPORT | THIRD | changes
    report = commit(write_report(folder / "report", files))
    packed = archive(report, "1.zip", "--site")
    other = write_report(folder / "changed", files | {"data/other.csv": RUNS.replace("0.84", "0.90")})
    share_cache(report, other)
    assert invoke("build", "--config-file", commit(other) / "mkdocs.yml")[0] == 0
    changed = pack_site(folder / "12.zip", files_below(other / "site"))
    options = (f"--version=1.0={packed}", f"--preview=12={changed}", "--to", folder / "repo")
    assert invoke("publish", "assemble", "--main", report / "site", *options)[0] == 0
    return folder / "repo"


@pytest.fixture(scope="module", params=["own", "untrusted"])
def site(request: pytest.FixtureRequest, sites: Sites) -> Site:
    """A report with either policy of its pages, published below ``/repo/``."""
    policy: str = request.param
    changes = UNTRUSTED if policy == "untrusted" else {}
    return sites.make(f"published-{policy}", lambda folder: assemble(folder, changes))


@pytest.fixture
def tabs(pool: Pool, site: Site) -> Iterator[Tabs]:
    """A way to open pages of either policy; no message, error, violation or other request may come of it."""
    with opened(pool, site) as tabs:
        yield tabs
    assert tabs.complaints == []


def wake(tab: Page) -> None:
    """Hover over the first figure, which comes alive if its scripts are found."""
    figure = tab.locator(".rg-figure").first
    figure.scroll_into_view_if_needed()
    figure.dispatch_event("pointermove")
    expect(figure).to_have_class(re.compile("rg-is-live"))


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_main_version_and_preview_lead_to_each_other(tabs: Tabs, *, from_server: bool) -> None:
    """Figures are alive in all of them, and links of the preview lead to main and back."""
    place = tabs.place("", served=from_server).removesuffix("/.html")
    end = "" if from_server else "index.html"
    banner = ".rg-preview"
    tab = tabs.open("other/index", served=from_server)
    for name in (None, "v/1.0/other/index"):
        if name:
            tabs.go(tab, name)
        wake(tab)
        expect(tab.locator(banner)).to_have_count(0)
    tab.get_by_role("link", name="Third").first.click()
    expect(tab).to_have_url(f"{place}/v/1.0/third/{end}")

    tabs.go(tab, "pr/12/index")
    wake(tab)
    expect(tab.locator(banner)).to_contain_text("Preview of pull request #12")
    tab.locator(banner).get_by_role("link", name="Other").click()
    expect(tab).to_have_url(f"{place}/pr/12/other/{end}")
    wake(tab)
    tab.locator(banner).get_by_role("link", name="All that differs").click()
    expect(tab).to_have_url(f"{place}/pr/12/{end}")
    tab.get_by_role("link", name="Third").first.click()
    expect(tab).to_have_url(f"{place}/third/{end}")
    tab.go_back()
    tab.locator(banner).get_by_role("link", name="This page as published").click()
    expect(tab).to_have_url(f"{place}/{end}")


def test_the_banner_fits_and_can_be_read(tabs: Tabs) -> None:
    """Without a script, on narrow and wide screens; nothing scrolls sideways, and contrasts suffice."""
    tab = tabs.open("pr/12/index", javascript=False)
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 900})
        expect(tab.locator(".rg-preview")).to_be_in_viewport(ratio=1)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab = tabs.open("pr/12/other/index", served=True)
    assert tabs.find_faults(tab, (1280, 390), ".rg-preview") == []
