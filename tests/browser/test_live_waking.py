"""Figures come alive in a real browser, under a strict policy: when they do, and that nothing moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from browser.conftest import NO_IDLE, wait_until
from browser.live import (
    ALIVE,
    PLACES,
    ZOOMED,
    drag,
    figure_of,
    point_at,
    press,
    said,
    tool,
    tooltip_rows,
    wake,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

PAGES = {
    "points": ("points",),
    "marked": ("marked",),
    "dense": ("dense",),
    "cut": ("cut",),
    "crowded": ("crowded",),
    "many": ("many", "points"),
    "log": ("log",),
    "decay": ("decay",),
    "two-axes": ("two-axes",),
    "time": ("time",),
    "panels": ("diag-1", "diag-2", "diag-3"),
    "hostile": ("hostile",),
    "passk": ("passk",),
}
# What has come where figures would have woken by themselves: two frames, then two moments without work.
_REST = """async () => {
  for (let n = 0; n < 2; n++) await new Promise((done) => requestAnimationFrame(done));
  for (let n = 0; n < 2; n++) await new Promise((done) => requestIdleCallback(done));
  return [...document.scripts].filter((script) => script.src.endsWith("vega.js")).length;
}"""
_SCROLLING = """let scrolls = 0;
window.scrolling = setInterval(() => { scrolls++; document.dispatchEvent(new Event('scroll')); }, 20);"""
_LEADERS = """(figure, live) => {
  const all = (places) => [...figure.querySelectorAll(places)];
  const names = all(live ? ".rg-live .ends_marks text" : ".rg-plot > svg .rg-ends text");
  const leaders = all(live ? ".rg-live .leaders_marks line" : ".rg-plot > svg .rg-ends path");
  const box = (node) => node.getBoundingClientRect();
  const middle = (node) => (box(node).top + box(node).bottom) / 2;
  return leaders.map((leader) => {
    const ink = getComputedStyle(leader).stroke;
    const name = names.find((one) => getComputedStyle(one).fill === ink);
    const near = Math.min(...[box(leader).top, box(leader).bottom].map((y) => Math.abs(y - middle(name))));
    return [name.textContent, near, box(name).left - box(leader).right];
  }).sort((a, b) => a[0].localeCompare(b[0]));
}"""


# What waits for its time waits longer, as on a busy machine, or until the test lets it go on.
_SLOW = "const wait = setTimeout; window.setTimeout = (job, ms = 0) => wait(job, ms + 50);"
_HELD = """const wait = setTimeout;
let held = [];
window.setTimeout = (job, ms = 0) => (held ? held.push(job) : wait(job, ms));
window.proceed = () => { const jobs = held; held = null; jobs.forEach((job) => wait(job)); };"""


def loads_of_vega(tabs: Tabs) -> int:
    """How often Vega was asked for."""
    return sum(url.endswith("vega.js") for url in tabs.requests)


def find_moves(tab: Page, names: tuple[str, ...]) -> list[str]:
    """What stands more than a pixel from where it stood before these figures came alive."""
    tab.evaluate("document.fonts.ready")
    still = {one: figure_of(tab, one).evaluate(PLACES, arg=False) for one in names}
    tab.evaluate("window.scrollTo(0, 0)")
    before = tab.evaluate("[document.documentElement.scrollHeight, scrollY]")
    for one in names:
        figure_of(tab, one).dispatch_event("pointermove")
        expect(figure_of(tab, one)).to_have_class(ALIVE)
    moves = []
    for one in names:
        alive: list[list[Any]] = figure_of(tab, one).evaluate(PLACES, arg=True)
        if [place[0] for place in alive] != [place[0] for place in still[one]]:
            moves.append(f"{one}: other words or lines")
        moves += [
            f"{one}: {was[0]}"
            for was, now in zip(still[one], alive, strict=False)
            if now[1:] != pytest.approx(was[1:], abs=1)
        ]
    if tab.evaluate("[document.documentElement.scrollHeight, scrollY]") != before:
        moves.append("the page itself")
    return moves


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves(tabs: Tabs, width: int) -> None:
    """Every word, line and neighbour of a picture stands within a pixel of where it stood when still."""
    tab = tabs.open("points", width=width, script=NO_IDLE)
    moves = []
    for name, figures in PAGES.items():
        tabs.go(tab, name)
        moves += [f"{name}, {width} px: {one}" for one in find_moves(tab, figures)]
    assert moves == []


def test_comes_alive_when_idle_and_only_near_the_window(tabs: Tabs) -> None:
    """Figures in view wake by themselves, and Vega is asked for once; its names stay in its bundle."""
    tab = tabs.open("many", script="window.before = new Set(Object.keys(window));")
    for name in ("many", "points"):
        expect(figure_of(tab, name)).to_have_class(ALIVE)
    assert loads_of_vega(tabs) == 1
    new = tab.evaluate("Object.keys(window).filter(name => !before.has(name)).sort()")
    assert new == ["before", "reportgenLive", "vega"]


def test_wakes_only_where_scrolling_stops(tabs: Tabs) -> None:
    """A page that scrolls under the pointer stays smooth."""
    tab = tabs.open("points", script=_SCROLLING)
    figure_of(tab, "points").dispatch_event("pointerover")
    wait_until(tab, "scrolls > 25")
    assert tab.evaluate(_REST) == 0
    tab.evaluate("clearInterval(scrolling)")
    expect(figure_of(tab, "points")).to_have_class(ALIVE)


def test_saves_data_where_the_reader_asks_for_it(tabs: Tabs) -> None:
    """With Save-Data nothing is loaded until a figure is used."""
    saving = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
    tab = tabs.open("points", script=saving)
    assert tab.evaluate(_REST) == 0
    assert loads_of_vega(tabs) == 0
    press(figure_of(tab, "points"))
    expect(figure_of(tab, "points")).to_have_class(ALIVE)


def test_is_read_as_soon_as_it_looks_alive(tabs: Tabs) -> None:
    """No key is lost between the first drawing and what listens; the still picture is read before either."""
    figure = figure_of(tabs.open("panels", script=_SLOW), "diag-1")
    figure.locator(".rg-surface").focus()
    expect(figure).to_have_class(ALIVE)
    figure.page.keyboard.press("End")
    expect(said(figure)).not_to_be_empty()
    figure = figure_of(tabs.open("dense", script=NO_IDLE + _HELD), "dense")
    point_at(figure, 0.5)
    expect(figure.locator(".rg-tooltip")).to_be_visible()
    expect(figure).not_to_have_class(ALIVE)
    press(figure, "+")
    figure.page.evaluate("proceed()")
    expect(figure).to_have_class(ALIVE)
    expect(figure).to_have_class(ZOOMED)
    assert "200" not in figure.locator(".rg-live .role-axis-label text").all_text_contents()


def test_works_below_a_path_of_a_server_but_not_without_vega(tabs: Tabs) -> None:
    """Scripts find each other; a bundle that cannot be loaded leaves a readable page and one message."""
    figure = wake(tabs.open("points", served=True), "points")
    point_at(figure, 0.01)
    assert tooltip_rows(figure)[0] == ["Training step 0"]
    tab = tabs.open("points", script=NO_IDLE, fresh=True)
    tab.route("**/vega.js", lambda route: route.abort())
    tabs.go(tab, "points")
    said = "vega.js could not be loaded; figures stay still."
    figure = figure_of(tab, "points")
    with tab.expect_console_message(lambda message: message.text == said):
        figure.hover()
    expect(figure.locator(".rg-picture")).to_be_visible()
    assert f"console: {said}" in tabs.complaints
    tabs.complaints.clear()


def test_stays_still_without_script(tabs: Tabs) -> None:
    """Without JavaScript picture, summary, legend, table and downloads are there."""
    tab = tabs.open("many", javascript=False)
    figure = figure_of(tab, "many")
    expect(figure.locator("svg[role=img]")).to_be_visible()
    expect(figure.locator(".rg-summary")).to_be_visible()
    expect(figure.locator(".rg-legend")).to_contain_text("method 12")
    figure.get_by_text("Data table", exact=True).click()
    expect(figure.locator("table")).to_be_visible()
    expect(figure.get_by_role("link", name="CSV")).to_have_attribute("href", "figures/many.csv")


# ---- what the live picture has of the still one -----------------------------------------------------


def test_rings_on_the_edge_of_the_plot_are_whole(tabs: Tabs) -> None:
    """Lines end at the edge, rings do not: alive as they were when still, zoomed too."""
    figure = wake(tabs.open("cut", script=NO_IDLE), "cut")
    rings = figure.locator(".rg-live .mark-symbol path[stroke]")
    clipped = "all => all.map(one => Boolean(one.closest('[clip-path]')))"
    assert rings.evaluate_all(clipped) == [False, False]
    assert figure.locator(".rg-live .lines_marks path").evaluate_all(clipped) == [True, True]
    drag(figure, 0.3, 0.9)
    assert rings.evaluate_all(clipped) == [False, False]


def test_leaders_lead_to_names_that_are_moved(tabs: Tabs) -> None:
    """Each has the colour of its series and ends at its name: still, alive, and where the reader zooms."""
    for scheme in ("light", "dark"):
        tab = tabs.open("crowded", scheme=scheme, script=NO_IDLE)
        still = figure_of(tab, "crowded").evaluate(_LEADERS, arg=False)
        assert {"A", "B", "early"} <= {name for name, *_ in still}
        assert "apart" not in {name for name, *_ in still}
        figure = wake(tab, "crowded")
        alive = figure.evaluate(_LEADERS, arg=True)
        assert [name for name, *_ in alive] == [name for name, *_ in still]
        drag(figure, 0.3, 0.6)
        expect(tool(figure, "Reset zoom")).to_be_visible()
        zoomed = figure.evaluate(_LEADERS, arg=True)
        assert zoomed
        for _, near, apart in (*still, *alive, *zoomed):
            assert near < 3
            assert 0 < apart < 8


def test_annotations_have_a_halo_and_fade_with_their_series(tabs: Tabs) -> None:
    """Ring and words of a series that steps back are as faint as its line; words about all series are not."""
    figure = wake(tabs.open("marked"), "marked")
    opacity = "all => Object.fromEntries(all.map(a => [a.textContent, a.getAttribute('opacity') ?? '1']))"
    words = figure.locator(".rg-live .mark-text text")
    figure.get_by_role("button", name="MEL", exact=True).click()
    shown: dict[str, str] = words.evaluate_all(opacity)
    assert {text for text, value in shown.items() if value == "0.25"} == {"widest gap 0.02", "crossing"} | {
        text for text in shown if text.startswith("plateau")
    }
    rings = figure.locator(".rg-live .mark-symbol path[stroke]")
    faint = "all => all.filter(one => one.getAttribute('opacity') === '0.25').length"
    assert [rings.count(), rings.evaluate_all(faint)] == [6, 3]
    figure.get_by_role("button", name="MEL", exact=True).click()
    assert set(words.evaluate_all(opacity).values()) == {"1"}
    figure = wake(tabs.open("points"), "points")
    halo = "w => [getComputedStyle(w).paintOrder, getComputedStyle(w).strokeWidth]"
    for place in (".rg-picture .rg-annotation text", ".rg-live .notes_marks text"):
        assert figure.locator(place).first.evaluate(halo) == ["stroke", "3px"]


def test_words_at_marks_never_overlap_in_a_browser(tabs: Tabs) -> None:
    """As the browser draws them, still and alive, zoomed, on a log axis: no two words lie on each other."""
    words = ".rg-live :is(.mark-text) text"
    for width in (1280, 390):
        tab = tabs.open("marked", width=width, script=NO_IDLE)
        tab.evaluate("document.fonts.ready")
        figure = figure_of(tab, "marked")
        still = ".rg-picture :is(.rg-annotation, .rg-reference, .rg-ends) text"
        assert figure.locator(still).count() >= 8
        assert overlapping(figure, still) == [], width
        wake(tab, "marked")
        assert overlapping(figure, words) == [], width
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tool(figure, "Logarithmic y axis").click()
        expect(tool(figure, "Logarithmic y axis")).to_have_attribute("aria-pressed", "true")
        assert overlapping(figure, words) == [], width
        drag(figure, 0.6, 0.95)
        expect(figure).to_have_class(ZOOMED)
        assert overlapping(figure, words) == [], width
        shown = figure.locator(words).all_text_contents()
        assert "best 0.84" in shown
        assert "restart" not in shown


def overlapping(figure: Locator, selector: str) -> list[list[str]]:
    """Pairs of visible words whose boxes have more than their edges in common."""
    found: list[list[str]] = figure.locator(selector).evaluate_all(
        """nodes => {
          const seen = nodes.map(node => [node.textContent, node.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0);
          const beside = (a, b) => a.right <= b.left || b.right <= a.left;
          const lies = (a, b) => !beside(a, b) && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
          return seen.flatMap(([one, a], i) =>
            seen.slice(i + 1).filter(([, b]) => lies(a, b)).map(([other]) => [one, other]));
        }"""
    )
    return found
