"""Pages of all sites: axe-core finds nothing, nothing scrolls sideways, all reads without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.built_sites import LONG, SECTIONS
from browser.gestures import NO_IDLE, box_of, resize, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import Sites, Tabs
    from browser.session import Session

pytestmark = pytest.mark.browser


# ---- the example ----------------------------------------------------------------------------------

# One page of every kind of block and layout; the others are looked at with --slow.
FEW = (
    "index",
    "math500/index",
    "model-comparison/index",
    "training-diagnostics/index",
    "guide/blocks/index",
    "guide/vega-lite/index",
    "guide/problems/index",
    "guide/observations/index",
    "guide/example-review",
)
# One of every kind of live figure.
ALIVE = ("math500/index", "model-comparison/index", "training-diagnostics/index", "guide/vega-lite/index")
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
_WAKE = """() => document.querySelectorAll(".rg-figure").forEach((figure) =>
  figure.dispatchEvent(new PointerEvent("pointermove", { bubbles: true })))"""
_AWAKE = (
    '[...document.querySelectorAll(".rg-figure")].every((one) => /rg-is-(live|read)/.test(one.className))'
)


def find_overflow(tab: Page, state: str, widths: tuple[int, ...]) -> list[str]:
    """What is wider than windows of these widths."""
    found = []
    for width in widths:
        resize(tab, width)
        if wide := tab.evaluate(_OVERFLOW):
            found.append(f"{tab.url}, {width} px, {state}: {wide}")
    return found


def find_faults_of_pages(tabs: Tabs, pages: list[str], alive: tuple[str, ...]) -> tuple[list[str], int]:
    """What is wrong with pages of the example, and how many pieces of code have a mark behind them."""
    tab, faults, count = tabs.open("example/index", script=NO_IDLE), [], 0
    for number, name in enumerate(pages):
        narrow = (360, 390) if tabs.thorough else (360, 390)[number % 2 :][:1]
        tabs.go(tab, f"example/{name}")
        faults += tabs.find_faults(tab, (1280,))
        faults += find_overflow(tab, "still", narrow)
        marked, parted = tab.evaluate(_PARTED)
        count += marked
        faults += [f"{name}: {one} is parted from what follows" for one in parted]
        if tab.locator(".rg-figure").count():
            tab.evaluate(_WAKE)
            wait_until(tab, _AWAKE)
            faults += find_overflow(tab, "alive", narrow[::-1])
        if name in alive:
            faults += tabs.find_faults(tab, (1280,))
    return faults, count


def test_pages_of_every_kind_fit_and_axe_finds_nothing(tabs: Tabs) -> None:
    """None has a fault of accessibility, in light or in dark in turn, and no kind of live figure has one.

    On a phone every page fits, with its figures still and alive; whatever is wider scrolls in its own box. No
    line begins with the comma after a piece of code.
    """
    tabs.thorough = False
    faults, count = find_faults_of_pages(tabs, list(FEW), ALIVE)
    assert faults == []
    assert count > 40


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_every_page_fits_and_axe_finds_nothing(tabs: Tabs, sites: Sites, part: int) -> None:
    """Every page of the example but the one for missing pages, as those of every kind."""
    folder = sites.get("example").folder
    found = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html"))
    pages = sorted(set(found) - {"404"})[part::2]
    faults, count = find_faults_of_pages(tabs, pages, (*ALIVE, "aime/index", "training-accuracy/index"))
    assert faults == []
    assert count > 100


# What a reader without scripts gets from each figure: its id and what of it has no size or no words.
_LACKING = """() => [...document.querySelectorAll(".rg-figure")].flatMap((figure) => {
  for (const fold of figure.querySelectorAll(".rg-foot > details")) fold.open = true;
  const shown = figure.closest(".tabbed-block"), tabs = shown && [...shown.parentElement.children];
  if (shown) shown.closest(".tabbed-set").querySelectorAll("input")[tabs.indexOf(shown)].click();
  return ["svg[role=img]", ".rg-title", ".rg-summary", "figcaption", ".rg-data table", ".rg-files a"]
    .filter((part) => {
      const stack = figure.querySelector(":scope > .rg-title.rg-unseen") && figure.closest(".rg-stack");
      const owner = part === ".rg-title" && stack ? stack : figure;  // a stack's title is its figure's
      const found = owner.querySelector(part), box = found && found.getBoundingClientRect();
      const words = part.startsWith("svg") || (found && found.innerText.trim());
      // What panels say together is under all of them, that of each one for screen readers only.
      return !(box && words && (found.matches(".rg-unseen") || (box.width > 20 && box.height > 10)));
    }).map((part) => `${figure.id} ${part}`);
})"""


def test_figures_read_without_javascript(tabs: Tabs) -> None:
    """Each shows picture, title, summary, caption, table and downloads, on one page of every kind."""
    tab, lacking, seen = tabs.open("example/index", javascript=False, served=True), [], 0
    for name in FEW:
        tabs.go(tab, f"example/{name}")
        lacking += [f"{name}: {one}" for one in tab.evaluate(_LACKING)]
        seen += tab.locator(".rg-figure").count()
    assert lacking == []
    assert seen >= 15


_READ_ALL = """async () => {
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  const words = (root, part) => [...root.querySelectorAll(part)].map((one) => one.textContent);
  const lacking = [];
  for (const figure of document.querySelectorAll(".rg-figure:not(.rg-of-marks)")) {
    const panels = figure.closest(".rg-panels");
    const legend = (panels ?? figure).querySelector(".rg-legend");
    const series = words(legend, ".rg-name");
    const surface = figure.querySelector(".rg-surface");
    const { left, top, width, height } = surface.getBoundingClientRect();
    const place = { clientX: left + width / 3, clientY: top + height / 2, pointerType: "mouse" };
    surface.dispatchEvent(new PointerEvent("pointermove", { ...place, bubbles: true }));
    await frame();
    await frame();
    const cells = [...figure.querySelectorAll(".rg-tooltip > * > *")].map((cell) => cell.textContent);
    const missing = series.filter((one) => !cells.includes(one));
    if (!series.length || missing.length) lacking.push(`${figure.id}: ${missing} not in ${cells}`);
  }
  return lacking;
}"""


def test_tooltips_of_the_example_name_all_series(tabs: Tabs) -> None:
    """Pointing at a figure wakes it; its tooltip has a row for every series of the legend."""
    tab, lacking = tabs.open("example/index", script=NO_IDLE), []
    for page in FEW[1:4]:
        tabs.go(tab, f"example/{page}")
        tab.evaluate(_WAKE)
        wait_until(tab, _AWAKE)
        lacking += [f"{page}, {one}" for one in tab.evaluate(_READ_ALL)]
    assert lacking == []


# ---- pages of other sites -------------------------------------------------------------------------

FIGURES = {"many": ("many", "points"), "panels": ("diag-1", "diag-2", "diag-3"), "results": ()}


def test_live_figures_are_accessible(looking: Tabs, reader: Session) -> None:
    """axe-core has nothing to object to on any page of ours, in light and dark."""
    reader.tab, faults = looking.open("figures/points", served=True), []
    for name in ("points", "many", "panels", "hostile", "author", "results", "passk"):
        looking.go(reader.tab, f"figures/{name}")
        if figures := FIGURES.get(name, (name,)):
            reader.do(f"wake {' '.join(figures)}")
        faults += looking.find_faults(reader.tab, (1280,))
    for name in ("rows", "pairs", "heat", "hostile"):
        looking.go(reader.tab, f"scores/{name}")
        reader.tab.locator(".rg-of-marks .rg-toolbar").first.wait_for(state="attached")
        faults += looking.find_faults(reader.tab, (1280,))
    assert faults == []


def test_pages_of_the_theme_and_of_hubs_are_accessible(looking: Tabs) -> None:
    """Landmarks, names, contrast and order are right; only a wide table or code scrolls, in its box."""
    tab, faults = looking.open("theme/index", served=True), []
    for name in ("index", "math500/index", "guide/index", "guide/elements/index", "endless/index", "404"):
        looking.go(tab, f"theme/{name}")
        faults += looking.find_faults(tab, (1280, 360))
        for width in (768, 390):
            resize(tab, width)
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                faults.append(f"{name}, {width} px: scrolls sideways")
    for name in HUB:
        looking.go(tab, f"hub/{name}")
        faults += looking.find_faults(tab)
    looking.go(tab, "published/pr/12/other/index")
    faults += looking.find_faults(tab, (1280, 390), ".rg-preview")
    assert faults == []


def test_open_menus_and_one_file_are_accessible(looking: Tabs, reader: Session) -> None:
    """They have names, landmarks and contrast, and fit the screen; so do some pages in one file."""
    reader.do("open versions/v/0.9/guide/elements/index served", "click '.rg-versions summary'")
    faults = []
    for width in (1280, 390):
        reader.do(f"resize {width}")
        faults += [
            *looking.find_faults(reader.tab, (width,)),
            *find_outside(reader.tab, ".rg-versions ul", width),
        ]
    reader.do("go cited/first-benchmark/index", "wake accuracy")
    for width in (1280, 390):
        reader.do(f"resize {width}")
        for part, kind in (("accuracy", "figure"), ("accuracies", "table")):
            reader.do(f"watch {part}", f'click "button:Cite or copy this {kind}"')
            reader.tab.locator(".rg-menu").filter(visible=True).wait_for()
            faults += looking.find_faults(reader.tab, (width,))
            faults += find_outside(reader.tab, ".rg-menu >> visible=true", width)
            reader.do("press Escape")
    reader.do("open one-file/few", "wake math500--scores")
    faults += looking.find_faults(reader.tab)
    assert faults == []


def find_outside(tab: Page, part: str, width: int) -> list[str]:
    """Whether a part is outside of the window."""
    box = box_of(tab.locator(part).first)
    return [f"{part} at {width} px"] if box["x"] < 0 or box["right"] > width else []


# ---- reviews --------------------------------------------------------------------------------------

REVIEWS = ("nothing", "everything", "hostile", "long", "many")
PAPER = 680  # A4 within its margins
_UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = !fold.open"
_CHOOSE = "(buttons) => buttons.forEach((button) => button.click())"


def test_reviews_are_accessible_and_fit(looking: Tabs) -> None:
    """Folds open and shut, before and after in each arrangement; only wide tables scroll."""
    tab, faults = looking.open("reviews/nothing"), []
    for name in REVIEWS:
        looking.go(tab, f"reviews/{name}")
        faults += looking.find_faults(tab)
        tab.evaluate(_UNFOLD)
        faults += looking.find_faults(tab)
        for number, view in enumerate(("both", "side", "after")):
            tab.locator(f".rg-choose-{view}").evaluate_all(_CHOOSE)
            widths = (1280, 768, 390, 360)
            for width in widths if looking.thorough else widths[number % 2 :: 2]:
                resize(tab, width)
                if tab.evaluate("document.documentElement.scrollWidth") > width:
                    faults.append(f"{name}, {width} px, {view}: scrolls sideways")
    assert faults == []
    # None asks for anything but itself.
    assert {url.partition("#")[0] for url in looking.requests} <= {
        looking.place(f"reviews/{one}") for one in REVIEWS
    }


@pytest.mark.parametrize("site", ["changed", "changed-material"])
def test_what_changed_fits_and_is_accessible(looking: Tabs, site: str) -> None:
    """On the front page and a changed one, on paper too, in our theme and a foreign one."""
    tab, faults = looking.open(f"{site}/index", served=True), []
    for name in ("index", "training/index"):
        looking.go(tab, f"{site}/{name}")
        faults += looking.find_faults(tab, (1280, 390), ".rg-changed", ".rg-since")
        tab.emulate_media(media="print")
        resize(tab, PAPER)
        if not tab.locator(".rg-changed").evaluate("one => one.scrollWidth <= one.clientWidth"):
            faults.append(f"{name}: wider than paper")
        tab.emulate_media(media="screen")
    assert faults == []


_FOCUSED = """(() => { const { activeElement: node } = document;
  return [node.tagName, node === document.body || getComputedStyle(node).outlineStyle !== "none"]; })()"""


def test_each_stop_of_a_review_has_a_ring(tabs: Tabs) -> None:
    """The keyboard reaches all that can be used."""
    tab, kinds = tabs.open("reviews/everything"), set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        kind, ringed = tab.evaluate(_FOCUSED)
        assert ringed, kind
        kinds.add(kind)
    assert {"A", "SUMMARY", "INPUT", "DIV"} <= kinds


def test_reviews_on_wide_and_narrow_screens(tabs: Tabs) -> None:
    """The verdict first, large; before left of after or above it; a row of numbers is a card there."""
    tab = tabs.open("reviews/everything")
    for width in (1280, 390):
        resize(tab, width, 800)
        tab.evaluate("scrollTo(0, 0)")
        verdict = tab.locator("h1 + p")
        assert verdict.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") > 17
        assert 0 <= box_of(verdict)["y"] < box_of(verdict)["bottom"] <= 800
        tab.locator("#figure-1 .rg-choose-side").check()
        before, after = (
            box_of(tab.locator(f"#figure-1 .rg-of-{state} svg.rg-picture")) for state in ("before", "after")
        )
        if width == 1280:
            assert before["y"] == after["y"]
            assert before["right"] < after["x"]
        else:
            assert before["x"] == after["x"]
            assert before["bottom"] < after["y"]
    row = tab.get_by_role("table", name="Numbers that changed").get_by_role("row", name="DAPO")
    cells = row.get_by_role("cell").filter(visible=True).all()
    assert len(cells) == 5
    assert row.get_by_role("rowheader").is_visible()
    assert all(box_of(cell)["right"] <= 390 for cell in cells)


# ---- where room is short, or scripts are missing --------------------------------------------------

HUB = ("index", "team-foundation-models", "benchmark-contest")


def test_a_hub_reads_without_scripts(tabs: Tabs) -> None:
    """Each list and number is in the page; what needs a script is not shown."""
    tab = tabs.open("hub/index", width=390, javascript=False, served=True)
    for name in HUB:
        tabs.go(tab, f"hub/{name}")
        assert tab.get_by_role("link", name=LONG).first.is_visible()
        assert tab.get_by_role("button", name="Search").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, name
        for words in tab.locator(".rg-hub-list td", has_text="as expected").all_inner_texts():
            assert "statement" in words, name


_ROWS = """box => [box.getBoundingClientRect().top + box.clientHeight, box.scrollHeight > box.clientHeight,
  [...box.querySelectorAll('tr')].map(row => row.getBoundingClientRect().bottom)]"""


def test_sections_and_rows_where_room_is_short(tabs: Tabs) -> None:
    """Every section is listed whole, once; a table's box ends with a row."""
    tab, faults = tabs.open("edges/index", served=True), []
    tab.locator(".rg-data > summary").click()
    for width in (1280, 1024, 960, 390):
        resize(tab, width)
        links = {title: tab.get_by_role("link", name=title, exact=True) for title in SECTIONS}
        if width > 390:  # there they are in a menu
            faults += [f"{title}, {width} px" for title, link in links.items() if link.count() != 1]
        end, scrolls, rows = tab.locator(".rg-data .rg-scroll").evaluate(_ROWS)
        if not scrolls or min(abs(end - bottom) for bottom in rows) >= 1:
            faults.append(f"a row is cut at {width} px")
    assert faults == []


def test_the_404_page_has_its_style_anywhere(tabs: Tabs) -> None:
    """A server shows it at any depth and below any folder."""
    tab = tabs.open("edges/a/b/404", served=True)
    bar = tab.locator(".rg-bar")
    bar.wait_for()
    assert bar.evaluate("one => getComputedStyle(one).position") == "sticky"
    assert not [one for one in tabs.complaints if "violat" in one]
    tabs.complaints.clear()


def test_lines_have_66_to_72_characters(tabs: Tabs) -> None:
    """The column holds, on average, a line that reads well."""
    tab = tabs.open("theme/index", served=True)
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
