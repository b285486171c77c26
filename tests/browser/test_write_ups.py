"""The write-ups of the example: what their first screen holds, how long they are, and how many Tab stops."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.gestures import box_of, resize, wait_until
from reportgen.figures.text import Weight, measure_text

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

_SCRIPTS = (Path(__file__).parent / "write_ups.js").read_text("utf-8")
# Height in pixels at 1280, Tab stops, sheets of paper.
LIMITS = {
    "math500": (2_600, 40, 3),
    "aime": (3_800, 50, 4),
    "training-diagnostics": (2_600, 45, 3),
    "model-comparison": (5_000, 70, 6),
    "training-accuracy": (3_600, 50, 4),
}


def open_page(tabs: Tabs, name: str) -> Page:
    """A page on a laptop's screen, from disk."""
    tab = tabs.open(f"example/{name}")
    tab.emulate_media(reduced_motion="reduce")
    resize(tab, 1280, 800)
    return tab


def find_faults(name: str, seen: dict[str, Any]) -> list[str]:
    """What is wrong with what is seen of a write-up on a laptop's screen."""
    height, stops, _ = LIMITS[name]
    # The table of the first figure has each value of the claim, digit by digit.
    values = re.findall(r"(?<=at )[\d.]*\d%?", seen["claim"])
    facts = {
        "the verdict has 20 px": seen["verdict"] == "20px",
        "the first figure is whole on a laptop": seen["plot"] <= 680,
        "no breadcrumbs": seen["crumbs"] == 0,
        "values are those of the table": all(number in seen["table"] for number in values),
        # A log's key is what the author names a metric by, not what a reader sees.
        "metrics have titles": not re.search(r"\b\w+/[\w-]+/\w+", seen["prose"]),
        f"at most {height} px": seen["height"] <= height,
        f"at most {stops} Tab stops": seen["stops"] <= stops,
        "notes have two lines": all(height <= 42 for height, _ in seen["notes"]),
        "three words in five are typed": seen["machine"] <= seen["words"] * 0.4,
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
        tabs.go(tab, f"example/{name}/index")
        seen = tab.evaluate(_SCRIPTS, "see")
        faults += find_faults(name, seen)
        whole += len(re.findall("[0-9]\u00a0(points|runs|problems)\\b", seen["quantities"]))
    assert faults == []
    assert whole > 5


def test_contents_and_folds_of_write_ups(tabs: Tabs) -> None:
    """Statements take one line until they are asked for; navigation and contents stay in view."""
    tab = open_page(tabs, "index")
    for name in LIMITS:
        tabs.go(tab, f"example/{name}/index")
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
            wait_until(tab, f'document.querySelectorAll("{part} a{current}").length === 1')
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


def test_no_quantity_breaks_across_lines(looking: Tabs) -> None:
    """Number, unit and interval stay together, in folds too, and so does each count at any width."""
    tab, broken = open_page(looking, "index"), []
    for number, name in enumerate(LIMITS):
        widths = (1280, 700, 390) if looking.thorough else ((390,), (1280, 700))[number % 2]
        looking.go(tab, f"example/{name}/index")
        tab.evaluate("document.querySelectorAll('main details').forEach((fold) => { fold.open = true; })")
        for width in widths:
            resize(tab, width, 800)
            found = [
                *tab.evaluate(_SCRIPTS, "findBrokenCounts"),
                *(tab.evaluate(_SCRIPTS, "findBreaks") if width != 700 else []),
            ]
            broken += [f"{name}, {width} px: {one}" for one in found]
    assert broken == []


def test_paper_has_no_folds_that_nobody_can_open(tabs: Tabs) -> None:
    """Closed tables and notes are left out; the number of statements and the provenance are printed."""
    tab, faults = tabs.open("example/index"), []
    for name, (_, _, most) in LIMITS.items():
        resize(tab, 700, 1000)
        tabs.go(tab, f"example/{name}/index")
        tab.emulate_media(media="print")
        lines = tab.locator("main details:not([open]) > summary:visible").all_inner_texts()
        if [line.partition(":")[0] for line in lines] != ["Checked statements"]:
            faults.append(f"{name}: {lines}")
        sheets = len(re.findall(rb"/Type /Page\b", tab.pdf(format="A4")))
        if sheets > most:
            faults.append(f"{name}: {sheets} sheets")
    assert faults == []


# ---- the overview ---------------------------------------------------------------------------------


def test_the_overview_has_a_row_for_each_benchmark(tabs: Tabs) -> None:
    """Page, dots beside names and values, and a verdict, all on the first screen; a row is one Tab stop."""
    tab = open_page(tabs, "index")
    rows = tab.locator(".rg-strip > li")
    assert rows.count() == len(LIMITS)
    assert tab.locator(".rg-overview :is(a[href], button, [tabindex])").count() == rows.count()
    assert tab.evaluate("document.documentElement.scrollHeight") <= 1800
    for row in rows.all():
        assert row.locator(".rg-strip-verdict strong").first.inner_text()
        names, lines = row.locator(".rg-strip-values > li").all(), box_of(row.locator(".rg-dots"))
        assert lines["height"] == 20 * len(names)
        assert box_of(names[0])["y"] == pytest.approx(lines["y"], abs=0.5)
        for line in (*names, row.locator(".rg-scale")):
            assert line.evaluate("node => node.scrollWidth <= node.clientWidth + 1")


# ---- letters ------------------------------------------------------------------------------------

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
    tab = tabs.open("theme/index", served=True)
    weights: tuple[Weight, ...] = (400, 600)
    for weight in weights:
        plain, kerned = tab.evaluate(_WIDTHS, [_TEXT, weight])
        assert plain == pytest.approx(measure_text(_TEXT, 100, weight), abs=0.5)
        assert kerned == pytest.approx(measure_text(_TEXT, 100, weight), rel=0.03)
