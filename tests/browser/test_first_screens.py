"""The write-ups of the example: what their first screen holds, how long they are, and how many Tab stops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import resize
from browser.live import box_of

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

# Height in pixels at 1280, Tab stops, sheets of paper.
LIMITS = {
    "math500": (3_000, 60, 3),
    "aime": (4_500, 80, 4),
    "training-diagnostics": (3_500, 60, 3),
    "model-comparison": (8_000, 120, 6),
    "training-accuracy": (4_200, 60, 4),
}
_TITLES = "titles => titles.map(title => title.textContent)"
_SHOWN = "{ checkVisibilityCSS: true, contentVisibilityAuto: true }"
# What the first screen holds; visible words of two letters or more outside of pictures, and how many of them
# are not typed.
_SEEN = (
    r"""() => {
    const all = (parts) => [...document.querySelectorAll(parts)];
    const box = (node) => node.getBoundingClientRect();
    const size = (node) => getComputedStyle(node).fontSize;
    const shown = (node) => node.checkVisibility(SHOWN);
    const stops = all("a[href], button, input, summary, [tabindex]")
        .filter((node) => node.tabIndex >= 0 && !node.disabled && shown(node)).length;
    const made = ".rg-figure, .rg-stack, .rg-panels, .rg-result, .rg-observations, .rg-key-results, "
        + ".rg-evidence, .rg-checked, .rg-verdict";
    const texts = document.createTreeWalker(document.querySelector("main article"), NodeFilter.SHOW_TEXT);
    let [words, machine] = [0, 0];
    while (texts.nextNode()) {
        const { parentElement: parent, textContent } = texts.currentNode;
        if (!shown(parent) || parent.closest(".rg-unseen, script, style, svg")) continue;
        const found = textContent.match(/\p{L}{2,}/gu)?.length ?? 0;
        words += found;
        if (parent.closest(made)) machine += found;
    }
    const notes = all(":is(.rg-figure, .rg-stack, .rg-result) .rg-notes").filter(shown);
    const table = document.querySelector(".rg-figure .rg-data tbody").textContent;
    return {
        stops, words, machine, table,
        verdict: size(document.querySelector(".rg-key-results strong")),
        values: all(".rg-quantity").map((node) => [size(node), box(node).height < 30]),
        results: all(".rg-key-results .rg-quantity").map((node) => node.textContent),
        notes: notes.map((node) => [box(node).height, node.innerText]),
        plot: box(document.querySelector(".rg-plot")).bottom,
        crumbs: all(".rg-breadcrumbs").length,
        height: document.documentElement.scrollHeight,
        prose: document.querySelector("main article").innerText,
        quantities: all(".rg-prose > p").map((one) => one.innerText).join(" "),
    };
}"""
).replace("SHOWN", _SHOWN)
# Counts of the badge that are on two lines, however much room there is.
_FIND_BROKEN_COUNTS = """() => {
    const badge = document.querySelector(".rg-badge"), found = [];
    for (let room = badge.clientWidth; room > 200; room -= 10) {
        badge.style.width = `${room}px`;
        for (const count of badge.querySelectorAll(":scope > a > :is(span, strong)"))
            if (count.getClientRects().length !== 1) found.push(`${count.textContent} in ${room} px`);
    }
    badge.style.width = "";
    return found;
}"""
# Quantities whose parts are on two lines.
_FIND_BREAKS = r"""() => {
    const number = String.raw`[−+]?\d[\d,.]*%?(?:\s(?:points|runs|problems|samples))?(?:\s\[[^\]\n]+\])?`;
    const quantity = new RegExp(`${number}|p\\s[=<>]\\s[\\d.]+`, "g");
    const texts = document.createTreeWalker(document.querySelector("main article"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
        const { parentElement: parent, textContent } = texts.currentNode;
        const made = ".rg-figure, .rg-stack, .rg-panels, .rg-result, .rg-evidence, .rg-bound";
        if (!parent.closest(made) || parent.closest("svg, td, script, .rg-unseen")) continue;
        for (const match of textContent.matchAll(quantity)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, match.index);
            range.setEnd(texts.currentNode, match.index + match[0].length);
            const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
            if (lines.size > 1) found.push(match[0]);
        }
    }
    return found;
}"""


@pytest.fixture(scope="module")
def site(sites: Sites, example_site: Path) -> Site:
    """The example site."""
    return sites.find(example_site)


def open_page(tabs: Tabs, name: str) -> Page:
    """A page on a laptop's screen, from disk."""
    tab = tabs.open(name)
    tab.emulate_media(reduced_motion="reduce")
    resize(tab, 1280, 800)
    return tab


def find_faults(name: str, seen: dict[str, Any]) -> list[str]:
    """What is wrong with what is seen of a write-up on a laptop's screen."""
    height, stops, _ = LIMITS[name]
    # The table of the first figure has each value of the verdict, and its interval, digit by digit.
    values = [value.partition(" at ")[0].partition(" [") for value in seen["results"]]
    facts = {
        "the verdict has 20 px": seen["verdict"] == "20px",
        "values have 15 px, each on one line": all(one == ["15px", True] for one in seen["values"]),
        "there are values": len(seen["values"]) > 0 and len(values) > 0,
        "the first figure is whole": seen["plot"] <= 800,
        "no breadcrumbs": seen["crumbs"] == 0,
        "values are those of the table": all(
            number in seen["table"] and ends in seen["table"] for number, _, ends in values
        ),
        # A log's key is what the author names a metric by, not what a reader sees.
        "metrics have titles": not re.search(r"\b\w+/[\w-]+/\w+", seen["prose"]),
        f"at most {height} px": seen["height"] <= height,
        f"at most {stops} Tab stops": seen["stops"] <= stops,
        "notes have two lines": all(height <= 42 for height, _ in seen["notes"]),
        "half of the words are typed": seen["machine"] <= seen["words"] / 2,
        # A number has no break before its unit, nor has a step before its number.
        "no break in a quantity": not re.search(
            "[0-9] (points|runs|problems)\\b|at step [0-9]", seen["quantities"]
        ),
    }
    return [f"{name}: {fact}" for fact, holds in facts.items() if not holds]


def test_first_screens_of_write_ups(tabs: Tabs) -> None:
    """Verdict and whole figure, values in the same digits everywhere, short, and more typed than made."""
    tab, faults, whole = open_page(tabs, "index"), [], 0
    for name in LIMITS:
        tabs.go(tab, f"{name}/index")
        seen = tab.evaluate(_SEEN)
        faults += find_faults(name, seen)
        whole += len(re.findall("[0-9]\u00a0(points|runs|problems)\\b", seen["quantities"]))
    assert faults == []
    assert whole > 5


def test_contents_and_folds_of_write_ups(tabs: Tabs) -> None:
    """Statements take one line until they are asked for; navigation and contents stay in view."""
    tab = open_page(tabs, "index")
    for name in LIMITS:
        tabs.go(tab, f"{name}/index")
        assert tab.locator("#checked-1").is_hidden(), name
        bound, button = (
            tab.locator("a.rg-bound").first,
            tab.get_by_role("button", name="Show what was checked"),
        )
        line = "node => getComputedStyle(node).textDecorationStyle + node.tabIndex"
        assert bound.evaluate(line) == "dotted-1", name
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert bound.evaluate(line) == "solid0", name
        button.click()
        assert bound.evaluate(line) == "dotted-1", name
        assert indent_of(button) == 0, name
        tab.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        for part, current in ((".rg-toc-aside", "[aria-current]"), (".rg-nav", "[aria-current='page']")):
            expect(tab.locator(f"{part} a{current}")).to_have_count(1)
            assert 0 <= box_of(tab.locator(part).first)["y"] < 200, name
        tab.goto(f"{tab.url}#checked-1")
        assert tab.locator("#checked-1").is_visible(), name


def indent_of(button: Locator) -> float:
    """How far from the edge a button stands where it begins a line: nothing is before it."""
    indent: float = button.evaluate(
        """node => { const added = [document.createElement('br'), document.createElement('span')];
          node.before(...added);
          const indent = node.getBoundingClientRect().left - added[1].getBoundingClientRect().left;
          added.forEach((one) => one.remove());
          return indent; }"""
    )
    return indent


def test_no_quantity_breaks_across_lines(tabs: Tabs) -> None:
    """Number, unit and interval stay together, in folds too, and so does each count at any width."""
    tab, broken = open_page(tabs, "index"), []
    for name in LIMITS:
        tabs.go(tab, f"{name}/index")
        tab.evaluate("document.querySelectorAll('main details').forEach((fold) => { fold.open = true; })")
        for width in (1280, 700, 390):
            resize(tab, width, 800)
            found = [
                *tab.evaluate(_FIND_BROKEN_COUNTS),
                *(tab.evaluate(_FIND_BREAKS) if width != 700 else []),
            ]
            broken += [f"{name}, {width} px: {one}" for one in found]
    assert broken == []


def test_numbers_and_references_need_no_script(tabs: Tabs) -> None:
    """Figures are numbered in their order, and a reference has the number of the figure it leads to."""
    tab = tabs.open("model-comparison/index", javascript=False)
    for media in ("screen", "print"):
        tab.emulate_media(media="print" if media == "print" else "screen", reduced_motion="reduce")
        numbers = tab.locator(".rg-number", has_text="Figure").all_inner_texts()
        assert [number.split()[1] for number in numbers] == ["1.", "2.", "3.", "4.", "5.", "6."], media
        reference = tab.locator("main p a[href$='#contest-pairs']", has_text="Figure").first
        number = tab.locator("#contest-pairs .rg-number").first.inner_text()
        assert reference.inner_text().split() == number.strip().rstrip(".").split(), media
        assert tab.locator(".rg-show-checked").is_hidden()


def test_paper_has_no_folds_that_nobody_can_open(tabs: Tabs) -> None:
    """Closed tables and notes are left out; the number of statements and the provenance are printed."""
    tab, faults = tabs.open("index"), []
    for name, (_, _, most) in LIMITS.items():
        resize(tab, 700, 1000)
        tabs.go(tab, f"{name}/index")
        tab.emulate_media(media="print")
        lines = tab.locator("main details:not([open]) > summary:visible").all_inner_texts()
        if [line.partition(":")[0] for line in lines] != ["Checked statements"]:
            faults.append(f"{name}: {lines}")
        sheets = len(re.findall(rb"/Type /Page\b", tab.pdf(format="A4")))
        if sheets > most:
            faults.append(f"{name}: {sheets} sheets")
    assert faults == []


# ---- the overview ---------------------------------------------------------------------------------


def test_the_overview_begins_with_a_row_for_each_benchmark(tabs: Tabs) -> None:
    """Dots, a verdict and a link, all on the first screen; cards follow. A row is one stop of the Tab key."""
    tab = open_page(tabs, "index")
    rows = tab.locator(".rg-strip > li")
    assert rows.count() == tab.locator(".rg-card").count() == len(LIMITS)
    assert tab.locator(".rg-strip :is(a[href], button, [tabindex])").count() == rows.count()
    assert tab.locator(".rg-strip strong").first.inner_text() == "No clear winner"
    for row in rows.all():
        assert box_of(row)["bottom"] <= 800
        assert row.locator("svg path").count() >= 2
        assert row.locator("strong").inner_text()
        dots = row.locator("svg title").evaluate_all(_TITLES)
        assert len(dots) >= 2
        assert (row.locator("svg").get_attribute("aria-label") or "").endswith("; ".join(dots))
        # A name is where the pointer is, over the whole row of a dot.
        under = "svg => { const b = svg.getBoundingClientRect(); "
        under += "return document.elementFromPoint(b.x + b.width / 2, b.y + 2).textContent; }"
        assert row.locator("svg").evaluate(under) == dots[0]
    # On focus the dots are listed from above.
    listed = tab.locator(".rg-strip-names:visible")
    tab.locator(".rg-theme-button").focus()
    for row in rows.all():
        while not row.locator("a").evaluate("link => link === document.activeElement"):
            tab.keyboard.press("Tab")
        expect(listed.locator("li")).to_have_text(row.locator("svg title").evaluate_all(_TITLES))
        assert box_of(listed)["right"] <= 1280
    tab.keyboard.press("Escape")
    expect(listed).to_have_count(0)
    tab.keyboard.press("Shift+Tab")
    expect(listed).to_have_count(1)


def test_arrow_keys_read_the_dots_of_the_overview(tabs: Tabs) -> None:
    """From the first to the last and back, announced with their place; a row stays one stop of Tab."""
    tab = open_page(tabs, "index")
    row = tab.locator(".rg-strip > li").nth(2)
    dots = row.locator("svg title").evaluate_all(_TITLES)
    assert len(dots) == 4
    said, marked = tab.locator(".rg-overview [role=status]"), row.locator(".rg-strip-names .rg-spoken")
    row.locator("a").focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    keys = [*["ArrowRight"] * 5, *["ArrowLeft"] * 4, "End", "Home"]
    for key, place in zip(keys, [0, 1, 2, 3, 3, 2, 1, 0, 0, 3, 0], strict=True):
        tab.keyboard.press(key)
        expect(said).to_have_text(f"{dots[place]}, {place + 1} of 4")
        expect(marked).to_have_text(dots[place])
        drawn = row.locator("svg path[stroke-width='7']")
        shown = drawn.evaluate_all("dots => dots.map(dot => getComputedStyle(dot).strokeWidth)")
        assert [width == "12px" for width in shown] == [at == place for at in range(4)]
    assert row.locator("a").evaluate("link => link === document.activeElement")
    tab.keyboard.press("Escape")
    expect(row.locator(".rg-strip-names")).to_be_hidden()
    tab.keyboard.press("ArrowRight")
    expect(row.locator(".rg-strip-names")).to_be_visible()
    tab.keyboard.press("Tab")
    expect(tab.locator(".rg-spoken")).to_have_count(0)
