"""``report.html`` in a real browser: all pages alive from disk, readable without a script, and on paper."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from browser.conftest import Site, Tabs, served
from browser.test_live import drag, figure_of, point_at, said, save, tool, tooltip_rows, wake
from reportgen.archive.one_file import write_one_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# All pages take a busy machine ten seconds to lay out, and axe a minute.
ALIVE = ("index", "math500", "aime", "model-comparison", "training-diagnostics", "problems", "vega-lite")
FEW = ("index", "math500", "aime")


@pytest.fixture(scope="module")
def site(example_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Parts of the example report in one file each: most, the same without live figures, and few pages."""
    folder = tmp_path_factory.mktemp("files")
    for name, pages, live in (("report", ALIVE, True), ("still", ALIVE, False), ("few", FEW, True)):
        copied = shutil.copytree(example_site, tmp_path_factory.mktemp("whole") / "site")
        for page in copied.rglob("index.html"):
            if (page.parent.name if page.parent != copied else "index") not in pages:
                page.unlink()
        html = write_one_file(copied, live=live, links="embedded")
        (folder / f"{name}.html").write_text(html, "utf-8", newline="\n")
    with served(folder) as address:
        yield Site(folder, address)


@pytest.fixture
def tabs(browser: Browser, site: Site) -> Iterator[Tabs]:
    """A way to open the files; no message, error, violation or request may come of it."""
    opened = Tabs(browser, site)
    yield opened
    opened.close()
    assert [one for one in opened.complaints if "request to another place: data:" not in one] == []
    pages = {address.partition("#")[0] for address in opened.requests if not address.startswith("data:")}
    assert len(pages - {address for address in pages if address.startswith("blob:")}) == 1


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_curves_are_alive(tabs: Tabs, *, from_server: bool) -> None:
    """Tooltip, zoom and legend work as in the site, and a copied link leads back."""
    tab = tabs.open("report", served=from_server)
    figure = wake(tab, "math500--scores")
    point_at(figure, 0.5)
    assert [row[0] for row in tooltip_rows(figure)[1:]] == ["MEL", "GRPO"]
    drag(figure, 0.2, 0.6)
    expect(said(figure)).to_have_text(re.compile("Zoomed: "))
    tool(figure, "Reset zoom").click()
    figure.locator(".rg-legend").get_by_role("button", name="MEL").click()
    expect(said(figure)).to_have_text("Showing MEL")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tool(figure, "Copy a link to this figure").click()
    expect(said(figure)).to_have_text("Link copied")
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("report.html#math500--scores~series=MEL")


def test_marks_heat_maps_and_authors_charts_are_alive(tabs: Tabs) -> None:
    """Figures that need no Vega, and those that an author wrote."""
    tab = tabs.open("report")
    for name in ("model-comparison--contest-scores", "guide.problems--problems-2-map"):
        figure = figure_of(tab, name.replace(".", r"\."))
        figure.scroll_into_view_if_needed()
        box = figure.locator(".rg-surface").bounding_box()
        assert box
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(figure.locator(".rg-tooltip")).to_be_visible()
    chart = tab.locator("[id='guide.vega-lite'] .rg-figure").first
    chart.scroll_into_view_if_needed()
    chart.dispatch_event("pointermove")
    expect(chart).to_have_class(re.compile("rg-is-live"))


def test_a_state_is_shown_by_its_address_and_by_a_statement(tabs: Tabs) -> None:
    """The figure of the right page shows it, although others have the same id on their own pages."""
    tab = tabs.open("report", fragment="#math500--scores~series=MEL~mark=120@MEL")
    figure = figure_of(tab, "math500--scores")
    expect(figure.locator(".rg-state")).to_contain_text("Showing MEL.")
    expect(figure).to_be_in_viewport()
    bound = tab.locator("#math500--statement-6")
    bound.hover()
    expect(tab.get_by_role("tooltip")).to_be_visible()
    tab.locator(".rg-popover").get_by_role("link").click()
    assert "#math500--scores~" in tab.url
    expect(figure).to_be_in_viewport()


def test_files_of_figures_can_be_saved(tabs: Tabs, tmp_path: Path) -> None:
    """From the menu and from the link below the table, under the names of the report and of the figure."""
    tab = tabs.open("report")
    figure = wake(tab, "math500--scores")
    assert save(figure, "PNG", tmp_path).name == "report-math500--scores.png"
    assert save(figure, "CSV", tmp_path).read_text("utf-8").startswith("series,metric,step")
    figure.get_by_text("Data table").click()
    with tab.expect_download() as download:
        figure.get_by_role("link", name="Vega-Lite").click()
    assert download.value.suggested_filename == "scores.vl.json"


def test_the_menu_leads_to_a_page_and_closes(tabs: Tabs) -> None:
    """On a narrow screen the list lies over the text; by keyboard, too."""
    tab = tabs.open("report", width=390)
    tab.locator(".rg-menu-button").press("Enter")
    link = tab.get_by_role("navigation", name="Pages").get_by_role("link", name="AIME")
    link.press("Enter")
    expect(link).to_be_hidden()
    expect(tab.locator("#aime h1")).to_be_in_viewport()


def test_the_list_of_pages_stays_in_view(tabs: Tabs) -> None:
    """On a wide screen it is next to the text, wherever that is, and the theme can be changed."""
    tab = tabs.open("report")
    tab.get_by_role("navigation", name="Pages").get_by_role("link", name="Training").click()
    expect(tab.locator("#training-diagnostics h1")).to_be_in_viewport()
    expect(tab.get_by_role("navigation", name="Pages").get_by_role("link", name="AIME")).to_be_in_viewport()
    tab.get_by_role("button", name=re.compile("Colours")).click()
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("name", ["report", "still"])
@pytest.mark.parametrize("width", [1280, 390])
def test_all_reads_without_a_script(tabs: Tabs, name: str, width: int) -> None:
    """Texts, pictures and tables of every page, the way from one to the next, and the system's colours."""
    tab = tabs.open(name, width=width, scheme="dark", javascript=False)
    expect(tab.get_by_role("navigation", name="Pages").get_by_role("link").first).to_be_in_viewport()
    tab.get_by_role("navigation", name="Pages").get_by_role("link", name="MATH500").click()
    expect(tab.locator("#math500 h1")).to_be_in_viewport()
    figure = figure_of(tab, "math500--scores")
    figure.get_by_text("Data table").click()
    expect(figure.get_by_role("rowheader").first).to_be_visible()
    expect(figure.locator("svg[role=img]")).to_be_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(tabs: Tabs, width: int, *, dark: bool) -> None:
    """Landmarks, names, contrast and order are right, and nothing is wider than the screen."""
    tab = tabs.open("few", width=width, scheme="dark" if dark else "light")
    wake(tab, "math500--scores")
    assert find_violations(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def find_violations(tab: Page) -> list[str]:
    """What axe-core has to object to, with the first element of each objection."""
    found = Axe().run(tab).response["violations"]
    return [f"{violation['id']}: {violation['nodes'][0]['html']}" for violation in found]


def test_a_script_that_got_into_the_file_does_not_run(browser: Browser, site: Site, tmp_path: Path) -> None:
    """The policy runs the report's own scripts and no other."""
    evil = '<script>document.documentElement.dataset.evil = "ran"</script><img src="x.png">'
    html = (site.folder / "still.html").read_text("utf-8")
    (tmp_path / "still.html").write_text(html.replace("<article", f"{evil}<article", 1), "utf-8")
    opened = Tabs(browser, Site(tmp_path, tmp_path.as_uri()))
    tab = opened.open("still")
    expect(tab.locator("html")).to_have_class(re.compile(r"\bjs\b"))
    assert tab.evaluate("document.documentElement.dataset.evil") is None
    opened.close()
    violations = " ".join(opened.complaints)
    assert "script-src" in violations
    assert "img-src" in violations
