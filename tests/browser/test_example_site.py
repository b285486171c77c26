"""The example report as a reader meets it: every page, from disk and from a server's sub-path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Site, Tabs, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# A figure that Vega has drawn again, or one whose marks can be read out.
ALIVE_CLASS = re.compile("rg-is-(live|read)")
BENCHMARKS = ("math500", "aime", "model-comparison", "training-accuracy", "training-diagnostics")
ALIVE = (*BENCHMARKS, "guide/altair", "guide/vega-lite")
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
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
# Quantities in prose that a line may break, among those that it may not.
_BROKEN = """() => {
    const words = [...document.querySelectorAll(".rg-prose > p")].map((one) => one.innerText).join(" ");
    return [/\\d\\u00a0(points|runs|problems)\\b/g, /\\d (points|runs|problems)\\b|at step \\d/g].map(
        (pattern) => words.match(pattern) ?? []);
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


@pytest.fixture(scope="module")
def example(example_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The example site, on disk and served below ``/a/b/``."""
    root = tmp_path_factory.mktemp("root")
    (root / "a").mkdir()
    (root / "a/b").symlink_to(example_site, target_is_directory=True)
    with served(root) as address:
        yield Site(example_site, f"{address}/a/b")


@pytest.fixture
def tabs(browser: Browser, example: Site) -> Iterator[Tabs]:
    """A way to open pages; afterwards each of them must have been clean."""
    opened = Tabs(browser, example)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.fixture(scope="module")
def pages(example_site: Path) -> list[str]:
    """Every page but the one for missing pages, whose addresses need a server of its own."""
    found = (
        path.relative_to(example_site).with_suffix("").as_posix() for path in example_site.rglob("*.html")
    )
    return sorted(set(found) - {"404"})


def go(tab: Page, tabs: Tabs, name: str) -> None:
    """Show another page in the same tab, from where the tab's page came; a new tab each takes longer."""
    start = tabs.site.address if tab.url.startswith("http") else tabs.site.folder.as_uri()
    tab.goto(f"{start}/{name}.html")


def alive(figure: Locator) -> Locator:
    """A figure, after the pointer has come over it."""
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(ALIVE_CLASS)
    expect(figure.locator(".rg-toolbar")).to_be_attached()
    return figure


def wake_figures(figures: Locator) -> None:
    """Let Vega draw the figures, as pointing at each does."""
    for figure in figures.all():
        figure.dispatch_event("pointermove")
        expect(figure).to_have_class(ALIVE_CLASS)


# ---- every page -----------------------------------------------------------------------------------


def test_axe_finds_nothing(tabs: Tabs, pages: list[str]) -> None:
    """No page has a fault of accessibility in light or in dark, and no kind of live figure has one."""
    tab = tabs.open("index", scheme="light", served=True)
    faults = []
    for name in pages:
        go(tab, tabs, name)
        if name.removesuffix("/index") in ALIVE:
            wake_figures(tab.locator(".rg-figure"))
        complaints = list(tabs.complaints)
        for scheme in _SCHEMES:
            tab.emulate_media(color_scheme=scheme)
            tab.evaluate("Promise.all(document.getAnimations().map((fading) => fading.finished))")
            # Only colours differ between the two.
            rules = {} if scheme == "light" else {"runOnly": ["color-contrast", "link-in-text-block"]}
            found = Axe().run(tab, options={"resultTypes": ["violations"], **rules}).response["violations"]
            faults += [f"{name}, {scheme}: {fault['id']}: {fault['nodes'][0]['html']}" for fault in found]
        tab.emulate_media(color_scheme="light")
        tabs.complaints[:] = complaints  # axe-core itself asks for more than the policy allows
    assert faults == []


def test_nothing_scrolls_sideways(tabs: Tabs, pages: list[str]) -> None:
    """On a phone every page fits, from disk; whatever is wider scrolls in its own box.

    No line begins with the comma after a piece of code.
    """
    tab, count = tabs.open("index", width=390), 0

    def list_overflowing(width: int) -> list[object]:
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function("(width) => innerWidth === width", arg=width)  # it may come some frames later
        found: list[object] = tab.evaluate(_OVERFLOW)
        return found

    for name in pages:
        go(tab, tabs, name)
        assert list_overflowing(390) == [], f"{name}, 390 px"
        marked, parted = tab.evaluate(_PARTED)
        assert parted == [], name
        count += marked
        assert list_overflowing(360) == [], f"{name}, 360 px"
        wake_figures(tab.locator(".rg-figure"))
        assert list_overflowing(360) == [], f"{name}, 360 px, figures alive"
        assert list_overflowing(390) == [], f"{name}, 390 px, figures alive"
    assert count > 500


def test_quantities_of_the_prose_stay_on_a_line(tabs: Tabs) -> None:
    """A number has no break before its unit, nor has a step before its number."""
    tab, whole = tabs.open("index"), 0
    for name in BENCHMARKS:
        go(tab, tabs, f"{name}/index")
        joined, broken = tab.evaluate(_BROKEN)
        assert broken == [], name
        whole += len(joined)
        for width in range(300, 1300, 50):
            tab.set_viewport_size({"width": width, "height": 800})
            counts = tab.locator(".rg-badge > a > :is(span, strong)")
            lines = counts.evaluate_all("all => all.map(one => one.getClientRects().length)")
            assert set(lines) == {1}, (name, width)
    assert whole > 5


def test_everything_reads_without_javascript(tabs: Tabs, pages: list[str]) -> None:
    """Each figure shows picture, title, summary, caption, table and downloads."""
    tab = tabs.open("index", javascript=False)
    seen = 0
    for name in pages:
        go(tab, tabs, name)
        assert tab.evaluate(_LACKING) == [], name
        seen += tab.locator(".rg-figure").count()
    assert seen >= 20


# ---- finding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("served", [False, True], ids=["file", "sub-path"])
def test_search_finds_mel(tabs: Tabs, *, served: bool) -> None:
    """A reader finds the method by name and gets to the page, from disk and below a path."""
    tab = tabs.open("guide/index", served=served)
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("MEL")
    options = tab.get_by_role("option")
    expect(options.filter(has_text="MATH500").first).to_be_visible()
    options.filter(has_text="MATH500").first.click()
    tab.wait_for_url(re.compile("/math500/"))
    expect(tab.get_by_role("heading", level=1)).to_contain_text("MATH500")


@pytest.mark.parametrize("served", [False, True], ids=["file", "sub-path"])
def test_the_overview_leads_to_every_benchmark(tabs: Tabs, *, served: bool) -> None:
    """Cards name benchmark and best series, and their links work."""
    tab = tabs.open("index", served=served)
    links = tab.locator(".rg-card a").evaluate_all("links => links.map(link => link.href)")
    assert len(links) == len(BENCHMARKS)
    for name, link in zip(BENCHMARKS, links, strict=True):
        assert f"/{name}/" in link
        tab.goto(link)
        expect(tab.locator("main .rg-figure").first).to_be_visible()


# ---- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "figure", "step", "cells"),
    [
        ("math500", "scores", "120", {"MEL": "0.840", "GRPO": "0.820"}),
        ("math500", "scores", "140", {"GRPO": "0.820"}),
        ("aime", "pass-at-1", "900", {"v10": "32.1%", "v1": "28.0%"}),
    ],
)
def test_facts_can_be_read_from_the_data_table(
    tabs: Tabs, page: str, figure: str, step: str, cells: dict[str, str]
) -> None:
    """A reader without scripts opens the table under the figure and reads the number."""
    tab = tabs.open(f"{page}/index", javascript=False)
    drawn = tab.locator(f"#{figure}")
    drawn.get_by_text("Data table", exact=True).click()
    head = drawn.locator("thead th").all_inner_texts()
    row = drawn.locator("tbody tr").filter(has=tab.get_by_role("rowheader", name=step, exact=True))
    expect(row).to_be_visible()
    shown = dict(zip(head[1:], row.locator("td").all_inner_texts(), strict=True))
    for series, value in cells.items():
        assert shown[series].startswith(value), shown


@pytest.mark.parametrize("page", BENCHMARKS)
def test_figures_live_on_hover_and_the_tooltip_names_all(tabs: Tabs, page: str) -> None:
    """Pointing at a figure wakes it; its tooltip has a row for every series of the legend."""
    tab = tabs.open(f"{page}/index")
    names = tab.locator(".rg-panels .rg-legend").first.locator(".rg-name")
    shared = names.all_text_contents() if names.count() else []
    figures = tab.locator(".rg-figure:not(.rg-of-marks)").all()
    assert figures
    for figure in figures:
        alive(figure)
        surface = figure.locator(".rg-surface").bounding_box()
        assert surface
        tab.mouse.move(surface["x"] + surface["width"] / 3, surface["y"] + surface["height"] / 2)
        tooltip = figure.locator(".rg-tooltip")
        expect(tooltip).to_be_visible()
        rows = tooltip.evaluate("t => [...t.children].map(r => [...r.children].map(c => c.textContent))")
        series = figure.locator(".rg-legend .rg-name").all_text_contents() or shared
        assert sorted(cell for row in rows[1:] for cell in row if cell in series) == sorted(series)


def test_theme_switch_recolours_without_drawing_again(tabs: Tabs) -> None:
    """The reader's button changes the colours of the very same elements."""
    tab = tabs.open("math500/index")
    figure = alive(tab.locator("#scores"))
    line = figure.locator(".rg-live .lines_marks path").first
    still = figure.locator(".rg-picture .rg-line").first
    colour = "p => { p.marked = true; return getComputedStyle(p).stroke; }"
    before = [line.evaluate(colour), still.evaluate(colour)]
    button = tab.get_by_role("button", name=re.compile("^Colours: "))
    button.click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    for path, was in zip((line, still), before, strict=True):
        assert path.evaluate("p => p.marked")
        assert path.evaluate("p => getComputedStyle(p).stroke") != was


def test_a_figure_is_read_by_keyboard_alone(tabs: Tabs) -> None:
    """From the top of the page: skip to the content, Tab to the plot, and the arrows read values out."""
    tab = tabs.open("math500/index")
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
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowLeft")
    said = "Training step 120: MEL 0.840, GRPO 0.820, difference \u22120.020"
    expect(figure.get_by_role("status")).to_have_text(said)
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-rule")).to_be_hidden()


def test_a_link_to_a_figure_leads_to_it(tabs: Tabs) -> None:
    """The address with the figure's id shows the figure, below the bar at the top."""
    tab = tabs.open("training-accuracy/index", served=True)
    tab.goto(f"{tab.url}#live-and-frozen")
    expect(tab.locator("#live-and-frozen .rg-title")).to_be_in_viewport()
    bar, title = (tab.locator(part).bounding_box() for part in (".rg-bar", "#live-and-frozen .rg-title"))
    assert bar
    assert title
    assert title["y"] >= bar["y"] + bar["height"]
