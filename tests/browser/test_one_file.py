"""``report.html`` in a real browser: all pages alive from disk, readable without a script, and on paper."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser.conftest import SAVED, opened
from browser.live import ALIVE as LIVE
from browser.live import copied_state, drag, figure_of, point_at, said, save, tool, tooltip_rows, wake
from reportgen.archive.one_file import write_one_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

# All pages take a busy machine ten seconds to lay out, and axe a minute.
ALIVE = ("index", "math500", "aime", "model-comparison", "training-diagnostics", "problems", "vega-lite")
FEW = ("index", "math500", "aime")


@pytest.fixture(scope="module")
def site(sites: Sites, example_site: Path) -> Site:
    """Parts of the example report in one file each: most, the same without live figures, and few pages."""

    def make(folder: Path) -> Path:
        folder.mkdir()
        for name, pages, live in (("report", ALIVE, True), ("still", ALIVE, False), ("few", FEW, True)):
            copied = shutil.copytree(example_site, folder / f"whole-{name}")
            for page in copied.rglob("index.html"):
                if (page.parent.name if page.parent != copied else "index") not in pages:
                    page.unlink()
            html = write_one_file(copied, live=live, links="embedded")
            (folder / f"{name}.html").write_text(html, "utf-8", newline="\n")
            shutil.rmtree(copied)
        return folder

    return sites.make("one-file", make)


@pytest.fixture
def tabs(pool: Pool, site: Site) -> Iterator[Tabs]:
    """A way to open the files; no message, error, violation or request may come of it."""
    with opened(pool, site) as opened_tabs:
        yield opened_tabs
    assert opened_tabs.complaints == []
    asked = {address.partition("#")[0] for address in opened_tabs.requests if not address.startswith("blob:")}
    places = [
        opened_tabs.place(name, served=one) for name in ("report", "still", "few") for one in (True, False)
    ]
    assert asked <= set(places)


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_curves_are_alive(tabs: Tabs, tmp_path: Path, *, from_server: bool) -> None:
    """Tooltip, zoom and legend work as in the site, a copied link leads back, and files can be saved."""
    tab = tabs.open("report", served=from_server, script=SAVED)
    figure = wake(tab, "math500--scores")
    point_at(figure, 0.5)
    assert [row[0] for row in tooltip_rows(figure)[1:]] == ["MEL", "GRPO"]
    drag(figure, 0.2, 0.6)
    expect(said(figure)).to_have_text(re.compile("Zoomed: "))
    tool(figure, "Reset zoom").click()
    figure.locator(".rg-legend").get_by_role("button", name="MEL").click()
    expect(said(figure)).to_have_text("Showing MEL")
    assert copied_state(figure) == "math500--scores~series=MEL"
    assert "report.html#" in tab.evaluate("window.copied")
    if from_server:
        return
    # From the menu and from the link below the table, under the names of the report and of the figure.
    assert save(figure, "PNG", tmp_path).name == "report-math500--scores.png"
    assert save(figure, "CSV", tmp_path).read_text("utf-8").startswith("series,metric,step")
    figure.get_by_text("Data table").click()
    with tab.expect_download() as download:
        figure.get_by_role("link", name="Vega-Lite").click()
    assert download.value.suggested_filename == "scores.vl.json"


def test_marks_charts_and_states_are_shown(tabs: Tabs) -> None:
    """Figures that need no Vega, those of an author, and the state that an address or statement names."""
    tab = tabs.open("report", fragment="#math500--scores~series=MEL~mark=120@MEL")
    figure = figure_of(tab, "math500--scores")
    expect(figure.locator(".rg-state")).to_contain_text("Showing MEL.")
    expect(figure).to_be_in_viewport()
    tab.locator("#math500--statement-6").hover()
    expect(tab.get_by_role("tooltip")).to_be_visible()
    tab.locator(".rg-popover").get_by_role("link").click()
    assert "#math500--scores~" in tab.url
    expect(figure).to_be_in_viewport()
    for name in ("model-comparison--contest-scores", "guide.problems--problems-2-map"):
        figure = figure_of(tab, name.replace(".", r"\."))
        figure.scroll_into_view_if_needed()
        point_at(figure, 0.5)
        expect(figure.locator(".rg-tooltip")).to_be_visible()
    chart = tab.locator("[id='guide.vega-lite'] .rg-figure").first
    chart.scroll_into_view_if_needed()
    chart.dispatch_event("pointermove")
    expect(chart).to_have_class(LIVE)


def test_the_list_of_pages_stays_in_view_or_closes(tabs: Tabs) -> None:
    """On a wide screen it is next to the text, on a narrow one over it, by keyboard too."""
    tab = tabs.open("report", width=390, fresh=True)
    tab.locator(".rg-menu-button").press("Enter")
    pages = tab.get_by_role("navigation", name="Pages")
    link = pages.get_by_role("link", name="AIME")
    link.press("Enter")
    expect(link).to_be_hidden()
    expect(tab.locator("#aime h1")).to_be_in_viewport()
    tab.set_viewport_size({"width": 1280, "height": 900})
    pages.get_by_role("link", name="Training").click()
    expect(tab.locator("#training-diagnostics h1")).to_be_in_viewport()
    expect(link).to_be_in_viewport()
    tab.get_by_role("button", name=re.compile("Colours")).click()
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("name", ["report", "still"])
def test_all_reads_without_a_script(tabs: Tabs, name: str) -> None:
    """Texts, pictures and tables of every page, the way from one to the next, and the system's colours."""
    for width in (1280, 390):
        tab = tabs.open(name, width=width, scheme="dark", javascript=False)
        pages = tab.get_by_role("navigation", name="Pages")
        expect(pages.get_by_role("link").first).to_be_in_viewport()
        pages.get_by_role("link", name="MATH500").click()
        expect(tab.locator("#math500 h1")).to_be_in_viewport()
        figure = figure_of(tab, "math500--scores")
        figure.get_by_text("Data table").click()
        expect(figure.get_by_role("rowheader").first).to_be_visible()
        expect(figure.locator("svg[role=img]")).to_be_visible()
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tabs.close()


def test_each_page_begins_on_a_sheet_of_its_own(tabs: Tabs) -> None:
    """Paper is white, and has the pictures and what is folded at the end."""
    tab = tabs.open("report", scheme="dark")
    tab.emulate_media(media="print")
    breaks = "all => all.map(one => getComputedStyle(one).breakBefore)"
    first, *rest = tab.locator(".rg-report-page").evaluate_all(breaks)
    assert first == "auto"
    assert set(rest) == {"page"}
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(tab.locator(".rg-bar")).to_be_hidden()
    expect(tab.locator("#aime .rg-figure svg[role=img]").first).to_be_visible()
    pages = re.findall(rb"/Type /Page\b", tab.pdf(format="A4"))
    assert len(pages) > len(rest)


def test_axe_finds_nothing(tabs: Tabs) -> None:
    """Landmarks, names, contrast and order are right, and nothing is wider than the screen."""
    tab = tabs.open("few")
    wake(tab, "math500--scores")
    assert tabs.find_faults(tab) == []


def test_a_script_that_got_into_the_file_does_not_run(
    pool: Pool, site: Site, sites: Sites, tmp_path: Path
) -> None:
    """The policy runs the report's own scripts and no other."""
    evil = '<script>document.documentElement.dataset.evil = "ran"</script><img src="x.png">'
    html = (site.folder / "still.html").read_text("utf-8")
    (tmp_path / "still.html").write_text(html.replace("<article", f"{evil}<article", 1), "utf-8")
    with opened(pool, sites.find(tmp_path)) as tabs:
        tab = tabs.open("still")
        expect(tab.locator("html")).to_have_class(re.compile(r"\bjs\b"))
        assert tab.evaluate("document.documentElement.dataset.evil") is None
    violations = " ".join(tabs.complaints)
    assert "script-src" in violations
    assert "img-src" in violations
