"""The theme in a real browser: search, colours, menu, print, disk, and what a screen reader is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect
from theme_site import HASH, PAGES, build_site

from browser.conftest import resize, wait_until
from reportgen.figures.text import Weight, measure_text

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

ADDRESSES = ("index", "math500/index", "guide/index", "guide/elements/index", "endless/index", "404")
ENDLESS = f"# {'Endless' * 40}\n\n## {'Section' * 40}\n\n{'letters' * 40}\n\n## B\n\n- `{'code' * 60}`\n"
FAR = f"# Far\n\n{'filler ' * 20_000}\n\n## End\n\nA rare kestrel.\n"
HOSTILE = "# Hostile\n\nThe run </script><img src=x onerror=alert(1)> won.\n"


GROUND = "getComputedStyle(document.body).backgroundColor"
# The ground of every frame until the page has all that it asked for.
FRAMES = """window.grounds = new Set();
const note = () => {
  if (document.body) grounds.add(getComputedStyle(document.body).backgroundColor);
  if (document.readyState !== "complete") requestAnimationFrame(note);
};
requestAnimationFrame(note);"""


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The theme's site, served below ``/reports/``, where its 404 page looks for what it needs."""

    def make(folder: Path) -> Path:
        pages = PAGES | {"hostile.md": HOSTILE, "endless.md": ENDLESS, "far.md": FAR}
        return build_site(folder, pages, site_dir=str(folder / "reports"))

    folder = sites.make("theme", make).folder
    return sites.find(folder, folder.parent)


def search_for(tab: Page, query: str) -> None:
    """Open the search by its key and ask."""
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill(query)
    expect(tab.locator(".rg-search-status")).to_have_text(re.compile("result"))


# ---- every page ------------------------------------------------------------------------------------


def test_axe_finds_nothing_and_nothing_scrolls_sideways(tabs: Tabs) -> None:
    """Landmarks, names, contrast and order are right; only a wide table or code scrolls, in its box."""
    tab, faults = tabs.open("index", served=True), []
    for name in ADDRESSES:
        tabs.go(tab, name)
        faults += tabs.find_faults(tab, widths=(1280, 360))
        for width in (768, 390):
            resize(tab, width)
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                faults.append(f"{name}, {width} px: scrolls sideways")
    assert faults == []


def test_wide_boxes_can_be_scrolled_with_the_keyboard(tabs: Tabs) -> None:
    """A box that scrolls takes the focus; one that does not stays out of the way."""
    tab = tabs.open("guide/elements/index", served=True, width=390)
    tab.locator(".rg-scroll").focus()
    tab.keyboard.press("ArrowRight")
    wait_until(tab, "document.querySelector('.rg-scroll').scrollLeft > 0")
    assert tab.get_by_role("table").count() == 1


def test_lines_have_66_to_72_characters(tabs: Tabs) -> None:
    """The column holds, on average, a line that reads well."""
    tab = tabs.open("index", served=True)
    for width in (1280, 1700):
        resize(tab, width)
        lines = tab.evaluate(_LINES)
        assert 66 <= sum(lines) / len(lines) <= 72, width


_LINES = """async () => {
        await document.fonts.ready;
        const text = [...document.querySelectorAll('article p')].at(-1).firstChild, range = new Range()
        let lines = [], last = -1
        for (let i = 0; i < text.length; i++) {
            range.setStart(text, i); range.setEnd(text, i + 1)
            const top = range.getBoundingClientRect().top
            if (Math.abs(top - last) > 4) { lines.push(0); last = top }
            lines[lines.length - 1]++
        }
        return lines.slice(0, -1)
    }"""


_TEXT = "GRPO 0.82 ± 0.01, Validation score, αβγ → ≈ 10⁻⁴, VAWA Tokyo"
_WIDTHS = """async ([text, weight]) => {
    await document.fonts.load(weight + ' 100px "Reportgen Sans"')
    const span = document.createElement('span'), widths = []
    span.style.font = weight + ' 100px "Reportgen Sans"'
    span.style.whiteSpace = 'nowrap'
    span.style.position = 'fixed'
    span.textContent = text
    document.body.append(span)
    for (const kerning of ['none', 'normal']) {
        span.style.fontKerning = kerning
        widths.push(span.getBoundingClientRect().width)
    }
    return widths
}"""


def test_measured_and_drawn_text_agree(tabs: Tabs) -> None:
    """The browser sets a text as wide as the build measured it; kerning makes the rest."""
    tab = tabs.open("index", served=True)
    weights: tuple[Weight, ...] = (400, 600)
    for weight in weights:
        plain, kerned = tab.evaluate(_WIDTHS, [_TEXT, weight])
        assert plain == pytest.approx(measure_text(_TEXT, 100, weight), abs=0.5)
        assert kerned == pytest.approx(measure_text(_TEXT, 100, weight), rel=0.03)


# ---- theme -----------------------------------------------------------------------------------------


def theme_button(tab: Page) -> Locator:
    """The button that changes the colours."""
    return tab.get_by_role("button", name=re.compile("^Colours: "))


@pytest.mark.parametrize(
    ("scheme", "first", "other"), [("light", "dark", "light"), ("dark", "light", "dark")]
)
def test_the_chosen_theme_stays(tabs: Tabs, scheme: str, first: str, other: str) -> None:
    """From the system's to other colours, to those that the system has, and back; no frame has others."""
    tab = tabs.open("index", served=True, scheme=scheme, script=FRAMES, fresh=True)
    button, system = theme_button(tab), tab.evaluate(GROUND)
    expect(button).to_have_accessible_name(f"Colours: as the system. Change to {first}")
    button.click()
    chosen = tab.evaluate(GROUND)
    assert (
        {first: chosen, other: system}["light"]
        == "rgb(255, 255, 255)"
        != {first: chosen, other: system}["dark"]
    )
    tabs.go(tab, "math500/index")
    wait_until(tab, "grounds.size && document.readyState === 'complete'")
    assert tab.evaluate("[...grounds]") == [chosen]
    expect(button).to_have_accessible_name(f"Colours: {first}. Change to {other}")
    seen = [(tab.evaluate("document.documentElement.dataset.theme"), tab.evaluate(GROUND))]
    for _ in range(2):
        button.click()
        seen.append((tab.evaluate("document.documentElement.dataset.theme"), tab.evaluate(GROUND)))
    assert seen == [(first, chosen), (other, system), ("auto", system)]
    expect(button).to_have_accessible_name(f"Colours: as the system. Change to {first}")


def test_the_theme_can_be_changed_where_storage_is_refused(tabs: Tabs) -> None:
    """A browser that keeps nothing still changes the page at hand."""
    refuse = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused') } })"
    tab = tabs.open("index", served=True, script=refuse)
    theme_button(tab).click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_code_is_copied(tabs: Tabs) -> None:
    """By keyboard too; where the clipboard is closed the code is selected for the old way."""
    for taken in ("{ writeText: async (text) => { window.copied = text; } }", "undefined"):
        script = f"Object.defineProperty(navigator, 'clipboard', {{ value: {taken} }});"
        script += "document.execCommand = () => { window.copied = String(getSelection()); return true; };"
        tab = tabs.open("guide/elements/index", served=True, script=script)
        button = tab.get_by_role("button", name="Copy this code").first
        button.focus()
        expect(button).to_have_css("opacity", "1")
        tab.keyboard.press("Enter")
        expect(button).to_have_text("Copied")
        expect(tab.locator(".rg-code").first.get_by_role("status")).to_have_text("Copied")
        code = tab.locator(".rg-code code").first.text_content() or ""
        assert tab.evaluate("copied").strip() == code.strip() != ""
        expect(button).to_have_text("Copy")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 1280


# ---- search ----------------------------------------------------------------------------------------


def test_search_finds_while_typing_and_leads_there(tabs: Tabs) -> None:
    """Keys alone: open, type, choose, go; Escape gives the focus back. Who does not search loads no index."""
    tab = tabs.open("math500/index", served=True)
    loaded = "performance.getEntriesByType('resource').some(entry => entry.name.includes('/search/'))"
    assert not tab.evaluate(loaded)
    button, box = tab.get_by_role("button", name="Search"), tab.get_by_role("combobox")
    with tab.expect_response("**/search/titles.js"):
        button.focus()
    button.click()
    expect(box).to_be_focused()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
    tab.keyboard.press("Control+k")
    expect(box).to_be_focused()
    tab.keyboard.press("Escape")
    search_for(tab, "seedl")
    expect(tab.get_by_role("option").first).to_contain_text("Table")
    expect(box).to_have_attribute("aria-expanded", "true")
    assert tabs.find_violations(tab) == []
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/guide/elements/#table")


def test_search_answers_every_query_in_words(tabs: Tabs) -> None:
    """A letter may be wrong; nothing found is said; what is found is text, never markup."""
    tab = tabs.open("index", served=True)
    box, status, options = (
        tab.get_by_role("combobox"),
        tab.locator(".rg-search-status"),
        tab.get_by_role("option"),
    )
    tab.keyboard.press("/")
    for query, answer in (
        ("seedlinf", "1 result"),
        ("qqqq", "No results for “qqqq”."),
        ("*", "No results for “*”."),
        ("<b>zzz", "No results for “<b>zzz”."),
    ):
        box.fill(query)
        expect(status).to_have_text(answer)
    box.fill("hostile won")
    expect(options.first).to_contain_text("won")
    assert options.first.locator("mark").count() >= 2
    assert tab.locator(".rg-search img").count() == 0
    # Down and up move through the options and around their ends; the box keeps the focus.
    box.fill("text")
    expect(options.nth(1)).to_be_visible()
    last = options.count() - 1
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    for key, chosen in (("ArrowUp", last), ("ArrowDown", 0), ("ArrowDown", 1)):
        tab.keyboard.press(key)
        expect(options.nth(chosen)).to_have_attribute("aria-selected", "true")
        expect(box).to_have_attribute("aria-activedescendant", f"search-result-{chosen}")
    expect(tab.locator("[aria-selected=true]")).to_have_count(1)
    expect(box).to_be_focused()


def test_titles_are_found_before_texts_and_texts_in_every_part(tabs: Tabs) -> None:
    """Texts of a large site come in parts; a failing one leaves the titles, and the search says so."""
    tab = tabs.open("index", served=True, fresh=True)
    loaded = "performance.getEntriesByType('resource').filter(entry => entry.name.includes('texts-')).length"
    tab.get_by_role("button", name="Search").click()
    assert tab.evaluate(loaded) == 0
    tab.get_by_role("combobox").fill("kestrel")
    expect(tab.locator(".rg-search-status")).to_have_text("1 result")
    assert tab.evaluate(loaded) > 1
    expect(tab.get_by_role("option")).to_contain_text("End")
    tab.route("**/texts-*.js", lambda route: route.fulfill(status=204))
    tabs.go(tab, "index")
    search_for(tab, "far")
    expect(tab.locator(".rg-search-status")).to_contain_text("in titles only")


# ---- narrow, without JavaScript, from a disk, on paper ---------------------------------------------


def test_the_menus_of_narrow_screens(tabs: Tabs) -> None:
    """The navigation stands behind a button that says its state; the folded contents close when used."""
    tab = tabs.open("guide/elements/index", served=True, width=390)
    menu, pages = tab.get_by_role("button", name="Menu"), tab.get_by_role("navigation", name="Pages")
    expect(menu).to_have_attribute("aria-expanded", "false")
    expect(pages).to_be_hidden()
    menu.focus()
    tab.keyboard.press("Space")
    expect(pages).to_be_visible()
    expect(pages).to_be_focused()
    assert tabs.find_violations(tab) == []
    tab.keyboard.press("Escape")
    expect(pages).to_be_hidden()
    expect(menu).to_be_focused()
    tabs.go(tab, "math500/index")
    tab.get_by_text("On this page").locator("visible=true").click()
    tab.get_by_role("link", name="A & B").locator("visible=true").first.click()
    assert tab.url.endswith("#a-b")
    expect(tab.get_by_role("navigation", name="On this page")).to_have_count(0)


def test_without_javascript_everything_can_be_reached(tabs: Tabs) -> None:
    """No button is shown that would do nothing, and the menu leads to the navigation."""
    tab = tabs.open("guide/elements/index", served=True, width=390, javascript=False)
    expect(tab.locator("button:visible")).to_have_count(0)
    tab.get_by_role("link", name="Menu").click()
    pages = tab.get_by_role("navigation", name="Pages")
    expect(pages.get_by_role("link", name="Overview")).to_be_in_viewport()
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(GROUND) != "rgb(255, 255, 255)"


def test_a_report_on_a_disk_is_complete(tabs: Tabs) -> None:
    """From ``file://`` the font arrives, links lead to pages, and search finds; the console stays silent."""
    tab = tabs.open("index")
    assert tab.evaluate("document.fonts.load('16px \"Reportgen Sans\"').then(found => found.length)")
    search_for(tab, "seedling")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/guide/elements/index.html#table")
    tab.get_by_role("link", name="Overview").first.click()
    tab.wait_for_url(tabs.place("index", served=False))


def test_paper_has_the_text_and_its_provenance(tabs: Tabs) -> None:
    """In print there is no navigation; hashes are whole, outside links show their address, paper is white."""
    tab = tabs.open("guide/elements/index", served=True, scheme="dark")
    tab.emulate_media(media="print")
    for name in ("Sections", "Pages", "Breadcrumbs", "On this page"):
        expect(tab.get_by_role("navigation", name=name)).to_have_count(0)
    assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    hash_box = tab.locator(".rg-hash").first
    expect(hash_box).to_be_visible()
    assert hash_box.inner_text() == HASH
    assert hash_box.evaluate("box => box.scrollWidth <= box.clientWidth")
    outside = tab.get_by_role("link", name="outside link")
    shown = outside.evaluate("link => getComputedStyle(link, '::after').content")
    assert "https://example.org/x" in shown


def test_the_skip_link_is_first_and_works(tabs: Tabs) -> None:
    """The first Tab shows a way past the bar and the navigation."""
    tab = tabs.open("math500/index", served=True)
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()
