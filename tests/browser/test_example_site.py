"""The example report as a reader meets it: every page, from disk and from a server's sub-path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import NO_IDLE, resize, wait_until
from browser.live import box_of, point_at, press, said

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

# A figure that Vega has drawn again, or one whose marks can be read out.
ALIVE_CLASS = re.compile("rg-is-(live|read)")
BENCHMARKS = ("math500", "aime", "model-comparison", "training-accuracy", "training-diagnostics")
ALIVE = (*BENCHMARKS, "guide/altair", "guide/vega-lite")
_OVERFLOW = """async () => {
    await document.fonts.ready;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    const width = document.scrollingElement.scrollWidth;
    if (width <= innerWidth) return [];
    const out = (node) => node.getBoundingClientRect().right > innerWidth + 0.5;
    return [width, ...[...document.querySelectorAll("*")].filter(out).map((node) => node.className)];
}"""
# Inline code whose next letter is a mark that begins a line, and how many have such a mark.
_PARTED = """() => {
    const codes = [...document.querySelectorAll(".rg-prose :not(pre) > code")];
    const marked = codes.filter(({ nextSibling: it }) => it instanceof Text && /^[.,:;!?)]/.test(it.data));
    const parted = marked.filter((code) => {
        const range = document.createRange();
        range.setStart(code.nextSibling, 0);
        range.setEnd(code.nextSibling, 1);
        return range.getBoundingClientRect().top > code.getBoundingClientRect().bottom - 4;
    });
    return [marked.length, parted.map((code) => code.textContent)];
}"""
# What a reader without scripts gets from each figure: its id and what of it has no size or no words.
_LACKING = """() => [...document.querySelectorAll(".rg-figure")].flatMap((figure) => {
    figure.querySelector(".rg-data").open = true;
    const shown = figure.closest(".tabbed-block"), tabs = shown && [...shown.parentElement.children];
    if (shown) shown.closest(".tabbed-set").querySelectorAll("input")[tabs.indexOf(shown)].click();
    return ["svg[role=img]", ".rg-title", ".rg-summary", "figcaption", ".rg-data table", ".rg-files a"]
        .filter((part) => {
            const stack = figure.querySelector(":scope > .rg-title.rg-unseen") && figure.closest(".rg-stack");
            const owner = part === ".rg-title" && stack ? stack : figure;  // a stack's title is its figure's
            const found = owner.querySelector(part), box = found && found.getBoundingClientRect();
            const words = part.startsWith("svg") || (found && found.innerText.trim());
            return !(box && box.width > 20 && box.height > 10 && words);
        }).map((part) => `${figure.id} ${part}`);
})"""
_WAKE = """() => document.querySelectorAll(".rg-figure").forEach((figure) =>
    figure.dispatchEvent(new PointerEvent("pointermove", { bubbles: true })))"""
_AWAKE = (
    '[...document.querySelectorAll(".rg-figure")].every((one) => /rg-is-(live|read)/.test(one.className))'
)


@pytest.fixture(scope="module")
def site(sites: Sites, example_site: Path) -> Site:
    """The example site, on disk and served below a path."""
    return sites.find(example_site)


@pytest.fixture(scope="module")
def pages(example_site: Path) -> list[str]:
    """Every page but the one for missing pages, whose addresses need a server of its own."""
    found = (
        path.relative_to(example_site).with_suffix("").as_posix() for path in example_site.rglob("*.html")
    )
    return sorted(set(found) - {"404"})


def wake_figures(tab: Page) -> int:
    """Let Vega draw the figures, as pointing at each does; gives their number."""
    tab.evaluate(_WAKE)
    wait_until(tab, _AWAKE)
    return tab.locator(".rg-figure").count()


# ---- every page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [0, 1])
def test_every_page_fits_and_axe_finds_nothing(tabs: Tabs, pages: list[str], half: int) -> None:
    """No page has a fault of accessibility in light or in dark, and no kind of live figure has one.

    On a phone every page fits, with its figures still and alive; whatever is wider scrolls in its own box. No
    line begins with the comma after a piece of code.
    """
    tab, faults, count = tabs.open("index", script=NO_IDLE), [], 0
    for name in pages[half::2]:
        tabs.go(tab, name)
        faults += tabs.find_faults(tab, widths=(1280,))
        faults += find_overflow(tab, name, "still", (360, 390))
        marked, parted = tab.evaluate(_PARTED)
        count += marked
        faults += [f"{name}: {one} is parted from what follows" for one in parted]
        if wake_figures(tab):
            faults += find_overflow(tab, name, "alive", (390, 360))
        if name.removesuffix("/index") in ALIVE:
            faults += tabs.find_faults(tab, widths=(1280,))
    assert faults == []
    assert count > 200


def find_overflow(tab: Page, name: str, state: str, widths: tuple[int, ...]) -> list[str]:
    """What is wider than windows of these widths."""
    found = []
    for width in widths:
        resize(tab, width)
        if wide := tab.evaluate(_OVERFLOW):
            found.append(f"{name}, {width} px, {state}: {wide}")
    return found


def test_everything_reads_without_javascript(tabs: Tabs, pages: list[str], example_site: Path) -> None:
    """Each figure shows picture, title, summary, caption, table and downloads."""
    tab, lacking, seen = tabs.open("index", javascript=False, served=True), [], 0
    for name in pages:
        if "rg-figure" not in (example_site / f"{name}.html").read_text("utf-8"):
            continue
        tabs.go(tab, name)
        lacking += [f"{name}: {one}" for one in tab.evaluate(_LACKING)]
        seen += tab.locator(".rg-figure").count()
    assert lacking == []
    assert seen >= 20


# ---- finding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "sub-path"])
def test_search_and_overview_lead_to_every_benchmark(tabs: Tabs, *, from_server: bool) -> None:
    """A reader finds the method by name and gets to the page; cards name benchmarks, and their links work."""
    tab = tabs.open("guide/index", served=from_server)
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("MEL")
    option = tab.get_by_role("option").filter(has_text="MATH500").first
    expect(option).to_be_visible()
    option.click()
    tab.wait_for_url(re.compile("/math500/"))
    expect(tab.get_by_role("heading", level=1)).to_contain_text("MATH500")
    tabs.go(tab, "index")
    links = tab.locator(".rg-card a").evaluate_all("links => links.map(link => link.href)")
    assert len(links) == len(BENCHMARKS)
    for name, link in zip(BENCHMARKS, links, strict=True):
        assert f"/{name}/" in link
        tab.goto(link)
        expect(tab.locator("main .rg-figure").first).to_be_visible()


def test_a_link_to_a_figure_leads_to_it(tabs: Tabs) -> None:
    """The address with the figure's id shows the figure, below the bar at the top."""
    tab = tabs.open("training-accuracy/index", served=True, fragment="#live-and-frozen")
    title = tab.locator("#live-and-frozen .rg-title")
    expect(title).to_be_in_viewport()
    assert box_of(title)["y"] >= box_of(tab.locator(".rg-bar"))["bottom"]


# ---- reading --------------------------------------------------------------------------------------


def read_tooltip(figure: Locator) -> list[str]:
    """Every cell of the tooltip but those of its head, with the pointer on the plot."""
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(ALIVE_CLASS)
    expect(figure.locator(".rg-toolbar")).to_be_attached()
    point_at(figure, 1 / 3)
    tooltip = figure.locator(".rg-tooltip")
    expect(tooltip).to_be_visible()
    cells: list[str] = tooltip.evaluate(
        "tip => [...tip.children].slice(1).flatMap(row => [...row.children].map(cell => cell.textContent))"
    )
    return cells


def test_figures_live_on_hover_and_the_tooltip_names_all(tabs: Tabs) -> None:
    """Pointing at a figure wakes it; its tooltip has a row for every series of the legend."""
    tab = tabs.open("index")
    for page in BENCHMARKS:
        tabs.go(tab, f"{page}/index")
        names = tab.locator(".rg-panels .rg-legend").first.locator(".rg-name")
        shared = names.all_text_contents() if names.count() else []
        figures = tab.locator(".rg-figure:not(.rg-of-marks)").all()
        assert figures
        for figure in figures:
            cells = read_tooltip(figure)
            series = figure.locator(".rg-legend .rg-name").all_text_contents() or shared
            assert sorted(cell for cell in cells if cell in series) == sorted(series), page


def test_a_figure_is_read_by_keyboard_alone_and_changes_colours(tabs: Tabs) -> None:
    """From the top of the page: skip to the content, Tab to the plot, and the arrows read values out."""
    tab = tabs.open("math500/index", fresh=True)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    figure = tab.locator("#scores")
    focused = "document.activeElement.classList.contains('rg-surface')"
    for _ in range(30):
        if tab.evaluate(focused):
            break
        tab.keyboard.press("Tab")
    else:
        pytest.fail("Tab never reached the plot")
    expect(figure).to_have_class(ALIVE_CLASS)
    press(figure, "End", "ArrowLeft")
    expect(said(figure)).to_have_text("Training step 120: MEL 0.840, GRPO 0.820, difference \u22120.020")
    press(figure, "Escape")
    expect(figure.locator(".rg-rule")).to_be_hidden()
    # The reader's button changes the colours of the very same elements.
    lines = [figure.locator(part).first for part in (".rg-live .lines_marks path", ".rg-picture .rg-line")]
    colour = "p => { const { marked } = p; p.marked = true; return [marked, getComputedStyle(p).stroke]; }"
    before = [line.evaluate(colour)[1] for line in lines]
    tab.get_by_role("button", name=re.compile("^Colours: ")).click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    for line, was in zip(lines, before, strict=True):
        marked, now = line.evaluate(colour)
        assert marked
        assert now != was
