"""``review.html`` in a real browser: what it allows, what can be reached without a script, where it fits.

The same of the sections that ``reportgen build --since`` adds to a site's pages.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from example_site import ROOT, made_once
from made_reviews import BASE, CHANGES, SETTINGS, write_state
from playwright.sync_api import expect
from shown_reviews import make_everything, make_hostile, make_long, make_many_figures, make_nothing

from browser.conftest import Site, Tabs, served
from reportgen.cli.main import cli
from reportgen.review.page.document import write_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NAMES = ("nothing", "everything", "hostile", "long", "many")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for each review."""
    folder = tmp_path_factory.mktemp("reviews")
    reviews = (make_nothing(), make_everything(), make_hostile(), make_long(), make_many_figures(8))
    for name, review in zip(NAMES, reviews, strict=True):
        (folder / f"{name}.html").write_text(write_page(review), encoding="utf-8")
    shutil.copyfile(ROOT / "content/guide/example-review.html", folder / "example.html")
    return folder


class Opener:
    """Opens pages from disk, and notes messages, errors and requests."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.complaints: list[str] = []

    def open(self, name: str, *, width: int = 1280, dark: bool = False, js: bool = True) -> Page:
        """Open a page in a new, clean profile."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=js,
        )
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        address = (self._folder / f"{name}.html").as_uri()
        tab.on("request", lambda request: self._note(request.url, address))
        tab.goto(address)
        return tab

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:")):
            self.complaints.append(f"request: {url}")


@pytest.fixture
def opener(browser: Browser, folder: Path) -> Iterator[Opener]:
    """A way to open pages; afterwards none may have said or asked for anything."""
    made = Opener(browser, folder)
    yield made
    for context in browser.contexts:
        context.close()
    assert made.complaints == []


def find_violations(tab: Page) -> list[str]:
    """What axe-core has to object to, with the first element of each objection."""
    found = Axe().run(tab).response["violations"]
    return [f"{violation['id']}: {violation['nodes'][0]['html']}" for violation in found]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing(opener: Opener, name: str, width: int, *, dark: bool) -> None:
    """Landmarks, names, contrast and order are right, folds open and shut."""
    tab = opener.open(name, width=width, dark=dark)
    assert find_violations(tab) == []
    tab.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = !fold.open")
    assert find_violations(tab) == []


@pytest.mark.parametrize("view", ["both", "side", "after"])
@pytest.mark.parametrize("width", [1280, 768, 390, 360])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_scrolls_sideways(opener: Opener, name: str, width: int, view: str) -> None:
    """Only a wide table does, in its own box."""
    tab = opener.open(name, width=width)
    for button in tab.locator(f".rv-choose-{view}").all():
        button.check()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_pictures_are_chosen_without_a_script(opener: Opener) -> None:
    """By pointer and by keyboard; what is chosen is what is seen."""
    tab = opener.open("everything", js=False)
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


def test_side_by_side_stand_side_by_side(opener: Opener) -> None:
    """On a wide screen before is left of after, on a narrow one above it."""
    for width in (1280, 390):
        tab = opener.open("everything", width=width)
        tab.locator("#figure-1 .rv-choose-side").check()
        before, after = (
            tab.locator(f"#figure-1 .rv-of-{state} svg.rg-picture").bounding_box()
            for state in ("before", "after")
        )
        assert before
        assert after
        if width == 1280:
            assert before["y"] == after["y"]
            assert before["x"] + before["width"] < after["x"]
        else:
            assert before["x"] == after["x"]
            assert before["y"] + before["height"] < after["y"]


def test_everything_can_be_read_without_a_script(opener: Opener) -> None:
    """Folds open by themselves, links lead to their places."""
    tab = opener.open("everything", js=False)
    fold = tab.locator("details.rv-why").first
    fold.locator("summary").click()
    expect(fold.get_by_text("final(GRPO) > final(MEL)")).to_be_visible()
    tab.get_by_role("navigation").get_by_role("link", name="Figures").click()
    expect(tab.locator("#figures")).to_be_in_viewport()
    tab.get_by_role("link", name="paired").click()
    expect(tab.locator("#method-paired")).to_be_in_viewport()


def test_the_keyboard_reaches_all_that_can_be_used(opener: Opener) -> None:
    """The first stop leads to the content, and each has a ring."""
    tab = opener.open("everything")
    tab.keyboard.press("Tab")
    expect(tab.get_by_text("Skip to content")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()
    kinds = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        kinds.add(tab.evaluate("document.activeElement.tagName"))
        ring = "getComputedStyle(document.activeElement).outlineStyle"
        assert tab.evaluate(f"document.activeElement === document.body || {ring} !== 'none'")
    assert {"A", "SUMMARY", "INPUT", "DIV"} <= kinds


def test_the_verdict_is_on_the_first_screen_in_eighteen_pixels(opener: Opener) -> None:
    """A reviewer reads it first."""
    for width in (1280, 390):
        tab = opener.open("everything", width=width)
        verdict = tab.locator(".rv-verdict")
        expect(verdict).to_be_in_viewport(ratio=1)
        assert verdict.evaluate("e => getComputedStyle(e).fontSize") == "18px"


def test_a_row_of_numbers_is_a_card_on_a_telephone(opener: Opener) -> None:
    """It is still a table to a screen reader."""
    tab = opener.open("everything", width=390)
    table = tab.get_by_role("table", name="Numbers", exact=True)
    row = table.get_by_role("row", name="DAPO")
    expect(row.get_by_role("rowheader")).to_be_visible()
    expect(row.get_by_role("cell")).to_have_count(5)
    boxes = [cell.bounding_box() for cell in row.get_by_role("cell").all()]
    assert all(box and box["x"] + box["width"] <= 390 for box in boxes)


def test_paper_has_the_pictures_and_the_reasons(opener: Opener) -> None:
    """White, without what can only be clicked, with what is folded."""
    tab = opener.open("everything", dark=True)
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(tab.locator(".rv-choose").first).to_be_hidden()
    expect(tab.locator("#figure-1 .rv-of-both svg.rg-picture")).to_be_visible()
    expect(tab.get_by_text("GRPO has 5 runs, MEL 5.").first).to_be_visible()
    assert len(tab.pdf(format="A4")) > 20_000


def test_paper_leaves_folded_what_is_only_reworded(opener: Opener) -> None:
    """The numbers follow the statement that became false, which has its reasons."""
    tab = opener.open("example")
    tab.emulate_media(media="print")
    expect(tab.locator(".rv-fold > summary")).to_be_visible()
    expect(tab.locator(".rv-fold .rv-statement").first).to_be_hidden()
    expect(tab.locator(".rv-broken .rv-why li").first).to_be_visible()
    top = tab.locator("#numbers").bounding_box()
    assert top
    assert top["y"] < 1000


def test_a_script_would_be_refused(opener: Opener) -> None:
    """Whatever got into the page, the policy stops it."""
    tab = opener.open("nothing")
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
    tab.wait_for_function("refused.length >= 2")
    assert set(tab.evaluate("refused")) >= {"img-src", "script-src-elem"}
    assert tab.evaluate("window.ran") is None
    opener.complaints.clear()


PAPER = 680  # A4 within its margins
# Material would otherwise ask another place for its fonts.
THEMES = {"reportgen": "{name: reportgen}", "material": "{name: material, font: false}"}


@pytest.fixture(scope="module", params=THEMES)
def changed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that says what changed, in our theme and in a foreign one."""
    theme: str = request.param

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

    site = made_once(tmp_path_factory, f"changed-{theme}", make)
    with served(site) as address:
        yield Site(site, address)


@pytest.fixture
def tabs(browser: Browser, changed: Site) -> Iterator[Tabs]:
    """A way to open pages; no message, error, violation or outside request may come of it."""
    opened = Tabs(browser, changed)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["index", "training/index"])
def test_what_changed_fits_and_axe_finds_nothing(tabs: Tabs, name: str, width: int, scheme: str) -> None:
    """On the front page and on a changed one, on paper too."""
    tab = tabs.open(name, width=width, scheme=scheme, served=True)
    found = Axe().run(tab, context=[[".rg-changed"], [".rg-since"]]).response
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": PAPER, "height": 900})
    assert tab.locator(".rg-changed").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_links_lead_from_the_title_to_the_review(tabs: Tabs) -> None:
    """Down to the section, to the figure on the page, and to the figure before and after."""
    tab = tabs.open("training/index", served=True)
    tab.locator(".rg-since a").click()
    expect(tab.get_by_role("heading", name="What changed since base")).to_be_in_viewport()
    tab.locator(".rg-changed").get_by_role("link", name="Accuracy", exact=True).click()
    expect(tab.locator("figure.rg-figure")).to_be_in_viewport()
    tab.get_by_role("link", name="Before and after: Accuracy").click()
    expect(tab.get_by_role("heading", name="Accuracy", exact=True)).to_be_in_viewport()
    assert tab.url.startswith(f"{tabs.site.address}/review.html#figure-")
