"""``review.html`` in a real browser: what it allows, what can be reached without a script, where it fits.

The same of the sections that ``reportgen build --since`` adds to a site's pages.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from example_site import ROOT
from made_reviews import BASE, CHANGES, SETTINGS, write_state
from playwright.sync_api import expect
from shown_reviews import make_everything, make_hostile, make_long, make_many_figures, make_nothing

from browser.conftest import opened, resize, wait_until
from browser.live import box_of
from reportgen.cli.main import cli
from reportgen.review.page.document import write_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

NAMES = ("nothing", "everything", "hostile", "long", "many")
PAPER = 680  # A4 within its margins
# Material would otherwise ask another place for its fonts.
THEMES = {"reportgen": "{name: reportgen}", "material": "{name: material, font: false}"}
_UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = !fold.open"
_CHOOSE = "(buttons) => buttons.forEach((button) => button.click())"
_FOCUSED = """(() => { const { activeElement: node } = document;
  return [node.tagName, node === document.body || getComputedStyle(node).outlineStyle !== "none"]; })()"""


def write_reviews(folder: Path) -> Path:
    """Write a file for each review; returns their folder."""
    folder.mkdir()
    reviews = (make_nothing(), make_everything(), make_hostile(), make_long(), make_many_figures(8))
    for name, review in zip(NAMES, reviews, strict=True):
        (folder / f"{name}.html").write_text(write_page(review), encoding="utf-8")
    shutil.copyfile(ROOT / "content/guide/example-review.html", folder / "example.html")
    return folder


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """A file for each review."""
    return sites.make("reviews", write_reviews)


@pytest.fixture
def tabs(pool: Pool, site: Site) -> Iterator[Tabs]:
    """A way to open pages; afterwards none may have said anything, or asked for anything but itself."""
    with opened(pool, site) as tabs:
        yield tabs
    assert tabs.complaints == []
    asked = {url.partition("#")[0] for url in tabs.requests}
    assert asked <= {tabs.place(name, served=False) for name in (*NAMES, "example")}


@pytest.mark.parametrize("name", NAMES)
def test_pages_fit_and_axe_finds_nothing(tabs: Tabs, name: str) -> None:
    """Landmarks, names, contrast and order are right, folds open and shut; only wide tables scroll."""
    tab, faults = tabs.open(name), []
    for _ in range(2):
        faults += tabs.find_faults(tab)
        tab.evaluate(_UNFOLD)
    for view in ("both", "side", "after"):
        tab.locator(f".rv-choose-{view}").evaluate_all(_CHOOSE)
        for width in (1280, 768, 390, 360):
            resize(tab, width)
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                faults.append(f"{name}, {width} px, {view}: scrolls sideways")
    assert faults == []


def test_everything_can_be_reached_without_a_script(tabs: Tabs) -> None:
    """Pictures are chosen by pointer and keyboard, folds open by themselves, links lead to places."""
    tab = tabs.open("everything", javascript=False)
    figure = tab.locator("#figure-1")
    views = {state: figure.locator(f".rv-of-{state}") for state in ("both", "before", "after")}
    seen = {"Overlay": {"both"}, "Side by side": {"before", "after"}, "After alone": {"after"}}
    for label, states in seen.items():
        figure.get_by_text(label, exact=True).click()
        for state, view in views.items():
            expect(view).to_be_visible(visible=state in states)
    figure.locator(".rv-choose-after").press("ArrowLeft")
    expect(views["before"]).to_be_visible()
    expect(tab.locator("#figure-2 .rv-of-both")).to_be_visible()
    fold = tab.locator("details.rv-why").first
    fold.locator("summary").click()
    expect(fold.get_by_text("final(GRPO) > final(MEL)")).to_be_visible()
    tab.get_by_role("navigation").get_by_role("link", name="Figures").click()
    expect(tab.locator("#figures")).to_be_in_viewport()
    tab.get_by_role("link", name="paired").click()
    expect(tab.locator("#method-paired")).to_be_in_viewport()


def test_wide_and_narrow_screens(tabs: Tabs) -> None:
    """The verdict first, in 18 px; before left of after or above it; a row of numbers is a card there."""
    tab = tabs.open("everything")
    for width in (1280, 390):
        resize(tab, width, 800)
        verdict = tab.locator(".rv-verdict")
        tab.evaluate("scrollTo(0, 0)")
        expect(verdict).to_be_in_viewport(ratio=1)
        assert verdict.evaluate("e => getComputedStyle(e).fontSize") == "18px"
        tab.locator("#figure-1 .rv-choose-side").check()
        before, after = (
            box_of(tab.locator(f"#figure-1 .rv-of-{state} svg.rg-picture")) for state in ("before", "after")
        )
        if width == 1280:
            assert before["y"] == after["y"]
            assert before["right"] < after["x"]
        else:
            assert before["x"] == after["x"]
            assert before["bottom"] < after["y"]
    row = tab.get_by_role("table", name="Numbers", exact=True).get_by_role("row", name="DAPO")
    expect(row.get_by_role("rowheader")).to_be_visible()
    expect(row.get_by_role("cell")).to_have_count(5)
    assert all(box_of(cell)["right"] <= 390 for cell in row.get_by_role("cell").all())


def test_the_keyboard_reaches_all_that_can_be_used(tabs: Tabs) -> None:
    """The first stop leads to the content, and each has a ring."""
    tab = tabs.open("everything")
    tab.keyboard.press("Tab")
    expect(tab.get_by_text("Skip to content")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()
    kinds = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        kind, ringed = tab.evaluate(_FOCUSED)
        assert ringed, kind
        kinds.add(kind)
    assert {"A", "SUMMARY", "INPUT", "DIV"} <= kinds


def test_paper_has_the_pictures_and_the_reasons(tabs: Tabs) -> None:
    """White, without what can only be clicked, with what is folded, but for what is only reworded."""
    tab = tabs.open("everything", scheme="dark")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(tab.locator(".rv-choose").first).to_be_hidden()
    expect(tab.locator("#figure-1 .rv-of-both svg.rg-picture")).to_be_visible()
    expect(tab.get_by_text("GRPO has 5 runs, MEL 5.").first).to_be_visible()
    assert len(tab.pdf(format="A4")) > 20_000
    tab.emulate_media(media="screen")
    tabs.go(tab, "example")
    tab.emulate_media(media="print")
    expect(tab.locator(".rv-fold > summary")).to_be_visible()
    expect(tab.locator(".rv-fold .rv-statement").first).to_be_hidden()
    # The numbers follow the statement that became false, which has its reasons.
    expect(tab.locator(".rv-broken .rv-why li").first).to_be_visible()
    assert box_of(tab.locator("#numbers"))["y"] < 1000


def test_a_script_would_be_refused(tabs: Tabs) -> None:
    """Whatever got into the page, the policy stops it."""
    tab = tabs.open("nothing")
    tab.evaluate(
        """() => {
            window.refused = [];
            document.addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
            document.body.insertAdjacentHTML("beforeend", "<img src=http://127.0.0.1:9/x onerror=boo()>");
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        }"""
    )
    wait_until(tab, "refused.length >= 2")
    assert set(tab.evaluate("refused")) >= {"img-src", "script-src-elem"}
    assert tab.evaluate("window.ran") is None
    tabs.complaints.clear()
    tabs.requests.clear()


# ---- what changed, on the pages of a site ---------------------------------------------------------


def build_changed(sites: Sites, theme: str) -> Site:
    """A site that says what changed, in a theme."""

    def make(folder: Path) -> Path:
        text = f"{BASE['content/training.md']}\n## Setup\n\n[Changed](#accuracy) with {'a-long-name-' * 9}.\n"
        settings = {"mkdocs.yml": SETTINGS.replace("{name: reportgen}", THEMES[theme])}
        changes = {**settings, **CHANGES["claim-becomes-false"]}
        base = write_state(folder / "base", settings)
        root = write_state(folder / "report", {**changes, "content/training.md": text})
        words = ["build", "-f", str(root / "mkdocs.yml"), "--since", str(base)]
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
        return root / "site"

    return sites.make(f"changed-{theme}", make)


@pytest.mark.parametrize("theme", THEMES)
def test_what_changed_fits_and_leads_to_the_review(pool: Pool, sites: Sites, theme: str) -> None:
    """On the front page and a changed one, on paper too; links go to section, figure, before and after."""
    with opened(pool, build_changed(sites, theme)) as tabs:
        tab, faults = tabs.open("index", served=True), []
        for name in ("index", "training/index"):
            tabs.go(tab, name)
            faults += tabs.find_faults(tab, (1280, 390), ".rg-changed", ".rg-since")
            tab.emulate_media(media="print")
            resize(tab, PAPER)
            if not tab.locator(".rg-changed").evaluate("one => one.scrollWidth <= one.clientWidth"):
                faults.append(f"{name}: wider than paper")
            tab.emulate_media(media="screen")
        assert faults == []
        resize(tab, 1280)
        tab.locator(".rg-since a").click()
        expect(tab.get_by_role("heading", name="What changed since base")).to_be_in_viewport()
        tab.locator(".rg-changed").get_by_role("link", name="Accuracy", exact=True).click()
        expect(tab.locator("figure.rg-figure")).to_be_in_viewport()
        tab.get_by_role("link", name="Before and after: Accuracy").click()
        expect(tab.get_by_role("heading", name="Accuracy", exact=True)).to_be_in_viewport()
        assert tab.url.startswith(f"{tabs.site.address}/review.html#figure-")
    assert tabs.complaints == []
