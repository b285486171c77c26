"""A report that is served reloads when it changes, and its policy lets nothing but that script run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_projects import PAGE, write_report
from playwright.sync_api import expect
from served_report import serving
from test_serving import free_port

from browser.conftest import Site, opened

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Pool

pytestmark = pytest.mark.browser

INLINE = "<script>document.documentElement.dataset.evil = 'ran';</script>"


def test_a_served_report_reloads_shows_problems_and_runs_nothing_else(pool: Pool, tmp_path: Path) -> None:
    """Figures come alive, a failed build keeps the page and names each problem, and a script is refused."""
    report = write_report(tmp_path / "report")
    page = report / "content/index.md"
    with (
        serving(report, free_port()) as port,
        opened(pool, Site(tmp_path, f"http://127.0.0.1:{port}")) as tabs,
    ):
        tab = tabs.open("index", served=True, fresh=True)
        problems, figure = tab.get_by_role("alert"), tab.locator(".rg-figure")
        expect(problems).to_have_count(0)
        figure.scroll_into_view_if_needed()
        figure.hover()
        expect(figure).to_have_class("rg-figure rg-is-live")
        page.write_text(f"{PAGE}\n\n```curv\n```\n\n```tabel\n<b>bold</b>\n```\n", "utf-8")
        expect(problems).to_be_visible()
        expect(problems.locator("summary")).to_have_text("2 problems: this page is as it was before")
        for number, kind in enumerate(("curve", "table")):
            expect(problems.locator("li").nth(number)).to_contain_text(f'Did you mean "{kind}"?')
        expect(problems.locator("b")).to_have_count(0)
        expect(figure).to_be_visible()
        assert problems.evaluate("element => getComputedStyle(element).position") == "fixed"
        page.write_text(f"{PAGE}\n\n## Mended\n", "utf-8")
        expect(tab.get_by_role("heading", name="Mended")).to_be_visible()
        expect(problems).to_have_count(0)
        assert tabs.complaints == ["console: Enabled live reload"] * 3
        page.write_text(f"{PAGE}\n\n{INLINE}\n\n## It changed\n", "utf-8")
        expect(tab.get_by_role("heading", name="It changed")).to_be_visible()
        assert tab.evaluate("document.documentElement.dataset.evil") is None
        assert any("violation: script-src" in one for one in tabs.complaints), tabs.complaints
