"""A report that is served reloads when it changes, and its policy lets nothing but that script run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_projects import PAGE, write_report
from playwright.sync_api import expect
from served_report import serving
from test_serving import free_port

from browser.conftest import Site, Tabs

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

INLINE = "<script>document.documentElement.dataset.evil = 'ran';</script>"


def test_a_served_report_reloads_and_runs_nothing_else(browser: Browser, tmp_path: Path) -> None:
    """Figures come alive, a change shows, and a script in a page is refused by the policy."""
    report = write_report(tmp_path / "report")
    with serving(report, free_port()) as port:
        tabs = Tabs(browser, Site(tmp_path, f"http://127.0.0.1:{port}"))
        tab = tabs.open("index", served=True)
        figure = tab.locator(".rg-figure")
        figure.scroll_into_view_if_needed()
        figure.hover()
        expect(figure).to_have_class("rg-figure rg-is-live")
        assert tabs.complaints == ["console: Enabled live reload"]
        (report / "content/index.md").write_text(f"{PAGE}\n\n{INLINE}\n\n## It changed\n", "utf-8")
        expect(tab.get_by_role("heading", name="It changed")).to_be_visible(timeout=30_000)
        assert tab.evaluate("document.documentElement.dataset.evil") is None
        assert any("violation: script-src" in one for one in tabs.complaints), tabs.complaints
        tabs.close()


def test_a_served_page_shows_the_problems_of_the_last_build(browser: Browser, tmp_path: Path) -> None:
    """It reloads when a build fails, keeps what it showed, names each problem, and shows the mended page."""
    report = write_report(tmp_path / "report")
    page = report / "content/index.md"
    with serving(report, free_port()) as port:
        tabs = Tabs(browser, Site(tmp_path, f"http://127.0.0.1:{port}"))
        tab = tabs.open("index", served=True)
        problems = tab.get_by_role("alert")
        expect(problems).to_have_count(0)
        page.write_text(f"{PAGE}\n\n```curv\n```\n\n```tabel\n<b>bold</b>\n```\n", "utf-8")
        expect(problems).to_be_visible(timeout=30_000)
        expect(problems.locator("summary")).to_have_text("2 problems: this page is as it was before")
        expect(problems.locator("li").first).to_contain_text('Did you mean "curve"?')
        expect(problems.locator("li").nth(1)).to_contain_text('Did you mean "table"?')
        expect(problems.locator("b")).to_have_count(0)
        expect(tab.locator(".rg-figure")).to_be_visible()
        assert problems.evaluate("element => getComputedStyle(element).position") == "fixed"
        tab.screenshot(path=tmp_path / "problems.png")
        page.write_text(f"{PAGE}\n\n## Mended\n", "utf-8")
        expect(tab.get_by_role("heading", name="Mended")).to_be_visible(timeout=30_000)
        expect(problems).to_have_count(0)
        assert tabs.complaints == ["console: Enabled live reload"] * 3
        tabs.close()
