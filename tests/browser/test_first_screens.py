"""The write-ups of the example: what their first screen holds, how long they are, and how many Tab stops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# Height in pixels at 1280, Tab stops.
LIMITS = {
    "math500": (3_000, 60),
    "aime": (4_500, 80),
    "training-diagnostics": (3_500, 60),
    "model-comparison": (8_000, 120),
    "training-accuracy": (4_200, 60),
}
_COUNT_STOPS = """() => [...document.querySelectorAll("a[href], button, input, summary, [tabindex]")].filter(
    (node) => node.tabIndex >= 0 && !node.disabled
        && node.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true })).length"""

# Visible words of two letters or more, outside of pictures: all of them, and those that are not typed.
_COUNT_WORDS = r"""() => {
    const made = ".rg-figure, .rg-stack, .rg-panels, .rg-result, .rg-observations, .rg-key-results, "
        + ".rg-evidence, .rg-checked, .rg-verdict";
    const main = document.querySelector("main article");
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    let [all, machine] = [0, 0];
    while (texts.nextNode()) {
        const { parentElement: parent, textContent } = texts.currentNode;
        const shown = parent.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true });
        if (!shown || parent.closest(".rg-unseen, script, style, svg")) continue;
        const words = textContent.match(/\p{L}{2,}/gu)?.length ?? 0;
        all += words;
        if (parent.closest(made)) machine += words;
    }
    return [all, machine];
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


@pytest.fixture(params=LIMITS)
def page(request: pytest.FixtureRequest, browser: Browser, example_site: Path) -> Iterator[tuple[str, Page]]:
    """A write-up on a laptop's screen, from disk."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    tab = context.new_page()
    tab.goto((example_site / request.param / "index.html").as_uri())
    yield request.param, tab
    context.close()


def test_the_first_screen_has_verdict_and_whole_figure(page: tuple[str, Page]) -> None:
    """Who leads in 20 px, its values in 15 px and each on one line, then a figure that is not cut."""
    _, tab = page
    verdict = tab.locator(".rg-key-results strong").first
    assert verdict.evaluate("node => getComputedStyle(node).fontSize") == "20px"
    for value in tab.locator(".rg-quantity").all():
        assert value.evaluate("node => getComputedStyle(node).fontSize") == "15px"
        assert value.evaluate("node => node.getBoundingClientRect().height") < 30
    box = tab.locator(".rg-plot").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    assert tab.locator(".rg-breadcrumbs").count() == 0


def test_a_value_has_the_same_digits_wherever_it_is(page: tuple[str, Page]) -> None:
    """The table of the first figure has each value of the verdict, and its interval, digit by digit."""
    _, tab = page
    cells = tab.locator(".rg-figure .rg-data").first.locator("tbody").text_content() or ""
    for value in tab.locator(".rg-key-results .rg-quantity").all_text_contents():
        number, _, ends = value.partition(" at ")[0].partition(" [")
        assert number in cells
        assert ends in cells


def test_metrics_are_called_by_their_titles(page: tuple[str, Page]) -> None:
    """A log's key is what the author names a metric by, not what a reader sees."""
    _, tab = page
    assert not re.search(r"\b\w+/[\w-]+/\w+", tab.locator("main article").inner_text())


def test_write_ups_stay_short(page: tuple[str, Page]) -> None:
    """Neither scrolling nor the Tab key takes forever."""
    name, tab = page
    height, stops = LIMITS[name]
    assert tab.evaluate("document.documentElement.scrollHeight") <= height
    assert tab.evaluate(_COUNT_STOPS) <= stops


def test_notes_are_two_lines_and_statements_one(page: tuple[str, Page]) -> None:
    """The method is folded, and a link to a statement unfolds the list without a script."""
    _, tab = page
    for note in tab.locator(":is(.rg-figure, .rg-stack, .rg-result) .rg-notes").all():
        if note.is_visible():
            assert note.evaluate("node => node.getBoundingClientRect().height") <= 42, note.inner_text()
    assert tab.locator("#checked-1").is_hidden()
    tab.goto(f"{tab.url}#checked-1")
    assert tab.locator("#checked-1").is_visible()


def test_at_most_half_of_the_words_are_made_by_the_machine(page: tuple[str, Page]) -> None:
    """A write-up is somebody's text with figures, not a log."""
    name, tab = page
    words, machine = tab.evaluate(_COUNT_WORDS)
    assert machine <= words / 2, f"{name}: {machine} of {words}"


@pytest.mark.parametrize("width", [1280, 390])
def test_no_quantity_breaks_across_lines(page: tuple[str, Page], width: int) -> None:
    """Number, unit and interval stay together, in folds too."""
    _, tab = page
    tab.set_viewport_size({"width": width, "height": 800})
    tab.evaluate("document.querySelectorAll('main details').forEach((fold) => { fold.open = true; })")
    assert tab.evaluate(_FIND_BREAKS) == []


def test_contents_stay_in_view_and_mark_the_section(page: tuple[str, Page]) -> None:
    """At the end of a page, navigation and contents are still there, and each marks one entry."""
    _, tab = page
    tab.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    for part, current in ((".rg-toc-aside", "[aria-current]"), (".rg-nav", "[aria-current='page']")):
        box = tab.locator(part).first.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 200
        expect(tab.locator(f"{part} a{current}")).to_have_count(1)


@pytest.mark.parametrize("media", ["screen", "print"])
def test_numbers_and_references_need_no_script(
    browser: Browser, example_site: Path, media: Literal["screen", "print"]
) -> None:
    """Figures are numbered in their order, and a reference has the number of the figure it leads to."""
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    tab = context.new_page()
    tab.emulate_media(media=media)
    tab.goto((example_site / "model-comparison/index.html").as_uri())
    numbers = tab.locator(".rg-number", has_text="Figure").all_inner_texts()
    figures = [number.split()[1] for number in numbers]
    assert figures == ["1.", "2.", "3.", "4.", "5.", "6."]
    reference = tab.locator("main p a[href$='#contest-pairs']", has_text="Figure").first
    number = tab.locator("#contest-pairs .rg-number").first.inner_text()
    assert reference.inner_text().split() == number.strip().rstrip(".").split()
    assert tab.locator(".rg-show-checked").is_hidden()
    context.close()


def test_what_was_checked_is_shown_on_request(page: tuple[str, Page]) -> None:
    """Bound words are quiet and out of the Tab order, until the button beside the count is pressed."""
    _, tab = page
    bound, button = tab.locator("a.rg-bound").first, tab.get_by_role("button", name="Show what was checked")
    line = "node => getComputedStyle(node).textDecorationStyle + node.tabIndex"
    assert bound.evaluate(line) == "dotted-1"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert bound.evaluate(line) == "solid0"
    button.click()
    assert bound.evaluate(line) == "dotted-1"
    # Where the button begins a line, nothing is before it.
    indent = button.evaluate(
        "node => { const added = [document.createElement('br'), document.createElement('span')];"
        "  node.before(...added);"
        "  const indent = node.getBoundingClientRect().left - added[1].getBoundingClientRect().left;"
        "  added.forEach((one) => one.remove());"
        "  return indent; }"
    )
    assert indent == 0


def test_the_overview_begins_with_a_row_for_each_benchmark(browser: Browser, example_site: Path) -> None:
    """Dots, a verdict and a link, all on the first screen; cards follow."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto((example_site / "index.html").as_uri())
    rows = tab.locator(".rg-strip > li")
    assert rows.count() == tab.locator(".rg-card").count() == len(LIMITS)
    for row in rows.all():
        box = row.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800
        assert row.locator("svg path").count() >= 2
        assert row.locator("strong").inner_text()
        dots = row.locator("svg title").evaluate_all("titles => titles.map(title => title.textContent)")
        named = row.locator("svg").get_attribute("aria-label") or ""
        assert len(dots) >= 2
        assert named.endswith("; ".join(dots))
        # A name is where the pointer is, over the whole row of a dot.
        under = "svg => { const b = svg.getBoundingClientRect(); "
        under += "return document.elementFromPoint(b.x + b.width / 2, b.y + 2).textContent; }"
        assert row.locator("svg").evaluate(under) == dots[0]
    assert tab.locator(".rg-strip strong").first.inner_text() == "No clear winner"
    tab.close()


def test_dots_of_the_overview_have_names_on_focus(browser: Browser, example_site: Path) -> None:
    """A row is one stop of the Tab key, which lists its dots from above; Escape closes the list."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto((example_site / "index.html").as_uri())
    rows = tab.locator(".rg-strip > li")
    assert tab.locator(".rg-strip :is(a[href], button, [tabindex])").count() == rows.count()
    listed = tab.locator(".rg-strip-names:visible")
    tab.locator(".rg-theme-button").focus()
    for row in rows.all():
        while not row.locator("a").evaluate("link => link === document.activeElement"):
            tab.keyboard.press("Tab")
        dots = row.locator("svg title").evaluate_all("titles => titles.map(title => title.textContent)")
        expect(listed.locator("li")).to_have_text(dots)
        box = listed.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 1280
    tab.keyboard.press("Escape")
    expect(listed).to_have_count(0)
    tab.keyboard.press("Shift+Tab")
    expect(listed).to_have_count(1)
    tab.close()


def test_arrow_keys_read_the_dots_of_the_overview(browser: Browser, example_site: Path) -> None:
    """From the first to the last and back, announced with their place; a row stays one stop of Tab."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto((example_site / "index.html").as_uri())
    row = tab.locator(".rg-strip > li").nth(2)
    dots = row.locator("svg title").evaluate_all("titles => titles.map(title => title.textContent)")
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
    tab.close()


_MOST_SHEETS = {
    "math500": 3,
    "aime": 4,
    "training-diagnostics": 3,
    "model-comparison": 6,
    "training-accuracy": 4,
}


@pytest.mark.parametrize("name", LIMITS)
def test_paper_has_no_folds_that_nobody_can_open(browser: Browser, example_site: Path, name: str) -> None:
    """Closed tables and notes are left out; the number of statements and the provenance are printed."""
    tab = browser.new_page(viewport={"width": 700, "height": 1000})
    tab.goto((example_site / name / "index.html").as_uri())
    tab.emulate_media(media="print")
    lines = tab.locator("main details:not([open]) > summary:visible").all_inner_texts()
    assert [line.partition(":")[0] for line in lines] == ["Checked statements"]
    sheets = re.findall(rb"/Type /Page\b", tab.pdf(format="A4"))
    assert len(sheets) <= _MOST_SHEETS[name]
    tab.close()


def test_a_card_says_what_its_page_says(browser: Browser, example_site: Path) -> None:
    """The page's name, its verdict in words, the same values, and the date."""
    tab = browser.new_page()
    tab.goto((example_site / "index.html").as_uri())
    cards = []
    compared = tab.locator(".rg-card").filter(has=tab.get_by_role("link", name="Model comparison"))
    assert "two benchmarks" in compared.inner_text()
    assert compared.locator("dt:text-is('Benchmark') + dd").inner_text() == "Contest"
    assert compared.locator(".rg-card-verdict").all_inner_texts() == [
        "Contest: Aspen is better than all others",
        "Textbook: Aspen is better than all others",
    ]
    for card in tab.locator(".rg-card").all():
        values = card.locator(".rg-card-score").all_inner_texts()
        link, verdict = card.locator("a"), card.locator(".rg-card-verdict").first.inner_text()
        cards.append(
            (link.evaluate("node => node.href"), link.inner_text(), verdict, values, card.inner_text())
        )
    for address, name, verdict, values, words in cards:
        tab.goto(address)
        assert tab.locator("h1").inner_text().rstrip("¶") == name
        assert tab.locator(".rg-key-results strong").first.inner_text() == verdict.removeprefix("Contest: ")
        assert tab.locator(".rg-key-results div").first.locator(".rg-quantity").all_inner_texts() == values
        assert tab.locator(".rg-evidence time").inner_text() in words
    tab.close()
