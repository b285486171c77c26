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
