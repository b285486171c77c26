"""The theme in a real browser: search, colours, menu, print, disk, and what a screen reader is told."""

from __future__ import annotations

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from theme_site import HASH, PAGES, build_site

from reportgen.figures.text import Weight, measure_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

ADDRESSES = ("", "math500/", "guide/", "guide/elements/", "endless/", "404.html")
ENDLESS = f"# {'Endless' * 40}\n\n## {'Section' * 40}\n\n{'letters' * 40}\n\n## B\n\n- `{'code' * 60}`\n"
FAR = f"# Far\n\n{'filler ' * 20_000}\n\n## End\n\nA rare kestrel.\n"
HOSTILE = "# Hostile\n\nThe run </script><img src=x onerror=alert(1)> won.\n"


class Quiet(SimpleHTTPRequestHandler):
    """A file server that says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Site(NamedTuple):
    """A built site: its folder and its address below a path of a server."""

    folder: Path
    address: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The theme's site, served below ``/reports/``."""
    folder = tmp_path_factory.mktemp("theme")
    built = build_site(
        folder,
        PAGES | {"hostile.md": HOSTILE, "endless.md": ENDLESS, "far.md": FAR},
        site_dir=str(folder / "served" / "reports"),
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built.parent)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield Site(built, f"http://127.0.0.1:{server.server_port}/reports/")
    server.shutdown()
    thread.join()
    server.server_close()


class Opener:
    """Opens tabs, and notes what a clean page must not do: console messages, errors, outside requests."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self._browser = browser
        self.site = site
        self.complaints: list[str] = []

    def open(
        self, path: str = "", *, width: int = 1280, dark: bool = False, script: str = "", js: bool = True
    ) -> Page:
        """Open a page of the site in a new, clean profile."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=js,
        )
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda request: self._note(request.url))
        if script:
            tab.add_init_script(script)
        tab.goto(path if path.startswith("file:") else self.site.address + path)
        return tab

    def _note(self, url: str) -> None:
        if not url.startswith((self.site.address, self.site.folder.as_uri())):
            self.complaints.append(f"outside request: {url}")


@pytest.fixture
def opener(browser: Browser, site: Site) -> Iterator[Opener]:
    """A way to open pages; afterwards every page must have been clean."""
    made = Opener(browser, site)
    yield made
    for context in browser.contexts:
        context.close()
    assert not made.complaints


def violations(tab: Page) -> list[str]:
    """What axe-core has to object to, with the first element of each objection."""
    found = Axe().run(tab).response["violations"]
    return [f"{violation['id']}: {violation['nodes'][0]['html']}" for violation in found]


def search_for(tab: Page, query: str) -> None:
    """Open the search by its key and ask."""
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill(query)
    expect(tab.locator(".rg-search-status")).to_have_text(re.compile("result"))


# ---- every page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing(opener: Opener, width: int, *, dark: bool) -> None:
    """Landmarks, names, contrast and order are right on every page."""
    tab = opener.open(width=width, dark=dark)
    for address in ADDRESSES:
        tab.goto(opener.site.address + address)
        assert not violations(tab), address


@pytest.mark.parametrize("width", [1280, 768, 390, 360])
def test_nothing_scrolls_sideways(opener: Opener, width: int) -> None:
    """Only a wide table or a long line of code does, in its own box."""
    tab = opener.open(width=width)
    for address in ADDRESSES:
        tab.goto(opener.site.address + address)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, address


def test_wide_boxes_can_be_scrolled_with_the_keyboard(opener: Opener) -> None:
    """A box that scrolls takes the focus; one that does not stays out of the way."""
    tab = opener.open("guide/elements/", width=390)
    box = tab.locator(".rg-scroll")
    box.focus()
    tab.keyboard.press("ArrowRight")
    for _ in range(50):
        if box.evaluate("box => box.scrollLeft"):
            break
        tab.wait_for_timeout(50)
    else:
        pytest.fail("the table did not scroll")
    assert tab.get_by_role("table").count() == 1


@pytest.mark.parametrize("width", [1280, 1700])
def test_lines_have_66_to_72_characters(opener: Opener, width: int) -> None:
    """The column holds, on average, a line that reads well."""
    tab = opener.open("", width=width)
    tab.evaluate("document.fonts.ready")
    lines = tab.evaluate("""() => {
        const text = [...document.querySelectorAll('article p')].at(-1).firstChild, range = new Range()
        let lines = [], last = -1
        for (let i = 0; i < text.length; i++) {
            range.setStart(text, i); range.setEnd(text, i + 1)
            const top = range.getBoundingClientRect().top
            if (Math.abs(top - last) > 4) { lines.push(0); last = top }
            lines[lines.length - 1]++
        }
        return lines.slice(0, -1)
    }""")
    assert 66 <= sum(lines) / len(lines) <= 72


@pytest.mark.parametrize("weight", [400, 600])
def test_measured_and_drawn_text_agree(opener: Opener, weight: Weight) -> None:
    """The browser sets a text as wide as the build measured it; kerning makes the rest."""
    text = "GRPO 0.82 ± 0.01, Validation score, αβγ → ≈ 10⁻⁴, VAWA Tokyo"
    tab = opener.open("")
    widths = tab.evaluate(
        """async ([text, weight]) => {
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
        }""",
        [text, weight],
    )
    assert widths[0] == pytest.approx(measure_text(text, 100, weight), abs=0.5)
    assert widths[1] == pytest.approx(measure_text(text, 100, weight), rel=0.03)


# ---- theme -----------------------------------------------------------------------------------------


def test_the_chosen_theme_stays(opener: Opener) -> None:
    """One button goes round, first to other colours; the choice is there before the next page paints."""
    tab = opener.open("", dark=True)
    button = tab.get_by_role("button", name=re.compile("^Colours: "))
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(ground)
    expect(button).to_have_accessible_name("Colours: as the system. Change to light")
    button.click()
    light = tab.evaluate(ground)
    assert light == "rgb(255, 255, 255)" != dark
    tab.goto(opener.site.address + "math500/", wait_until="commit")
    tab.wait_for_selector("main")
    assert tab.evaluate(ground) == light
    for _ in range(2):
        button.click()
    expect(button).to_have_accessible_name("Colours: as the system. Change to light")
    assert tab.evaluate(ground) == dark


@pytest.mark.parametrize(("dark", "first"), [(False, "dark"), (True, "light")])
def test_the_first_press_changes_the_colours(opener: Opener, *, dark: bool, first: str) -> None:
    """From "as the system" to what is not shown, then to what the system has, and back."""
    tab = opener.open("", dark=dark)
    ground = "getComputedStyle(document.body).backgroundColor"
    system = tab.evaluate(ground)
    button = tab.get_by_role("button", name=re.compile("^Colours: "))
    seen = []
    for _ in range(3):
        button.click()
        seen.append((tab.evaluate("document.documentElement.dataset.theme"), tab.evaluate(ground) == system))
    other = "light" if first == "dark" else "dark"
    assert seen == [(first, False), (other, True), ("auto", True)]


@pytest.mark.parametrize("clipboard", [True, False])
def test_code_is_copied(opener: Opener, *, clipboard: bool) -> None:
    """By keyboard too; where the clipboard is closed the code is selected for the old way."""
    taken = "{ writeText: async (text) => { window.copied = text; } }" if clipboard else "undefined"
    script = f"Object.defineProperty(navigator, 'clipboard', {{ value: {taken} }});"
    script += "document.execCommand = () => { window.copied = String(getSelection()); return true; };"
    tab = opener.open("guide/elements/", script=script)
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


def test_the_theme_can_be_changed_where_storage_is_refused(opener: Opener) -> None:
    """A browser that keeps nothing still changes the page at hand."""
    refuse = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused') } })"
    tab = opener.open("", script=refuse)
    tab.get_by_role("button", name=re.compile("^Colours: ")).click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


# ---- search ----------------------------------------------------------------------------------------


def test_search_finds_while_typing_and_leads_there(opener: Opener) -> None:
    """Keys alone: open, type, choose, go."""
    tab = opener.open("math500/")
    search_for(tab, "seedl")
    options = tab.get_by_role("option")
    expect(options.first).to_contain_text("Table")
    box = tab.get_by_role("combobox")
    expect(box).to_have_attribute("aria-expanded", "true")
    assert not violations(tab)
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/guide/elements/#table")


def test_the_arrow_keys_go_round_the_results(opener: Opener) -> None:
    """Down and up move through the options and around their ends; the box keeps the focus."""
    tab = opener.open("")
    search_for(tab, "text")
    box, options = tab.get_by_role("combobox"), tab.get_by_role("option")
    last = options.count() - 1
    assert last > 0
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    for key, chosen in (("ArrowUp", last), ("ArrowDown", 0), ("ArrowDown", 1)):
        tab.keyboard.press(key)
        expect(options.nth(chosen)).to_have_attribute("aria-selected", "true")
        expect(box).to_have_attribute("aria-activedescendant", f"search-result-{chosen}")
    expect(tab.locator("[aria-selected=true]")).to_have_count(1)
    expect(box).to_be_focused()


def test_escape_closes_and_gives_the_focus_back(opener: Opener) -> None:
    """A reader is where they were."""
    tab = opener.open("")
    button = tab.get_by_role("button", name="Search")
    button.click()
    expect(tab.get_by_role("combobox")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
    tab.keyboard.press("Control+k")
    expect(tab.get_by_role("combobox")).to_be_focused()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("seedlinf", "1 result"),
        ("qqqq", "No results for “qqqq”."),
        ("*", "No results for “*”."),
        ("<b>zzz", "No results for “<b>zzz”."),
    ],
)
def test_search_answers_every_query_in_words(opener: Opener, query: str, expected: str) -> None:
    """A letter may be wrong; nothing found is said."""
    tab = opener.open("")
    search_for(tab, query)
    expect(tab.locator(".rg-search-status")).to_have_text(expected)


def test_what_is_found_is_text_never_markup(opener: Opener) -> None:
    """A run named like a script is shown as its name."""
    tab = opener.open("")
    search_for(tab, "hostile won")
    option = tab.get_by_role("option").first
    expect(option).to_contain_text("won")
    assert option.locator("mark").count() >= 2
    assert tab.locator(".rg-search img").count() == 0


def test_the_index_is_loaded_only_when_it_is_wanted(opener: Opener) -> None:
    """A reader who does not search pays nothing for it."""
    tab = opener.open("")
    loaded = "performance.getEntriesByType('resource').some(entry => entry.name.includes('/search/'))"
    assert not tab.evaluate(loaded)
    with tab.expect_response("**/search/titles.js"):
        tab.get_by_role("button", name="Search").focus()


def test_titles_are_found_before_texts_and_texts_in_every_part(opener: Opener) -> None:
    """Texts of a large site come in parts; a failing one leaves the titles, and the search says so."""
    tab = opener.open("")
    loaded = "performance.getEntriesByType('resource').filter(entry => entry.name.includes('texts-')).length"
    tab.get_by_role("button", name="Search").click()
    assert tab.evaluate(loaded) == 0
    tab.get_by_role("combobox").fill("kestrel")
    expect(tab.locator(".rg-search-status")).to_have_text("1 result")
    assert tab.evaluate(loaded) > 1
    expect(tab.get_by_role("option")).to_contain_text("End")
    broken = opener.open("")
    broken.route("**/texts-*.js", lambda route: route.fulfill(status=204))
    search_for(broken, "far")
    expect(broken.locator(".rg-search-status")).to_contain_text("in titles only")


# ---- narrow, without JavaScript, from a disk, on paper ---------------------------------------------


def test_the_menu_opens_and_closes_by_key(opener: Opener) -> None:
    """On a narrow screen the navigation stands behind a button that says its state."""
    tab = opener.open("guide/elements/", width=390)
    menu, pages = tab.get_by_role("button", name="Menu"), tab.get_by_role("navigation", name="Pages")
    expect(menu).to_have_attribute("aria-expanded", "false")
    expect(pages).to_be_hidden()
    menu.focus()
    tab.keyboard.press("Space")
    expect(pages).to_be_visible()
    expect(pages).to_be_focused()
    assert not violations(tab)
    tab.keyboard.press("Escape")
    expect(pages).to_be_hidden()
    expect(menu).to_be_focused()


def test_the_folded_contents_close_when_used(opener: Opener) -> None:
    """On a narrow screen the list of sections unfolds over the text, and is gone afterwards."""
    tab = opener.open("math500/", width=390)
    tab.get_by_text("On this page").locator("visible=true").click()
    tab.get_by_role("link", name="A & B").locator("visible=true").first.click()
    assert tab.url.endswith("#a-b")
    expect(tab.get_by_role("navigation", name="On this page")).to_have_count(0)


def test_without_javascript_everything_can_be_reached(opener: Opener) -> None:
    """No button is shown that would do nothing, and the menu leads to the navigation."""
    tab = opener.open("guide/elements/", width=390, js=False)
    expect(tab.locator("button:visible")).to_have_count(0)
    tab.get_by_role("link", name="Menu").click()
    pages = tab.get_by_role("navigation", name="Pages")
    expect(pages.get_by_role("link", name="Overview")).to_be_in_viewport()
    wide = opener.open("guide/elements/", dark=True, js=False)
    assert wide.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") != "rgb(255, 255, 255)"


def test_a_report_on_a_disk_is_complete(opener: Opener) -> None:
    """From ``file://`` the font arrives, links lead to pages, and search finds; the console stays silent."""
    tab = opener.open(f"{opener.site.folder.as_uri()}/index.html")
    assert tab.evaluate("document.fonts.load('16px \"Reportgen Sans\"').then(found => found.length)")
    search_for(tab, "seedling")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/guide/elements/index.html#table")
    tab.get_by_role("link", name="Overview").first.click()
    tab.wait_for_url(f"{opener.site.folder.as_uri()}/index.html")


def test_paper_has_the_text_and_its_provenance(opener: Opener) -> None:
    """In print there is no navigation; hashes are whole, outside links show their address, paper is white."""
    tab = opener.open("guide/elements/", dark=True)
    tab.emulate_media(media="print")
    for name in ("Sections", "Pages", "Breadcrumbs", "On this page"):
        expect(tab.get_by_role("navigation", name=name)).to_have_count(0)
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hash_box = tab.locator(".rg-hash").first
    expect(hash_box).to_be_visible()
    assert hash_box.inner_text() == HASH
    assert hash_box.evaluate("box => box.scrollWidth <= box.clientWidth")
    outside = tab.get_by_role("link", name="outside link")
    shown = outside.evaluate("link => getComputedStyle(link, '::after').content")
    assert "https://example.org/x" in shown


def test_the_skip_link_is_first_and_works(opener: Opener) -> None:
    """The first Tab shows a way past the bar and the navigation."""
    tab = opener.open("math500/")
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()
