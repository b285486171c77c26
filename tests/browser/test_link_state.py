"""Links to a state of a figure: what they name is shown, and can be left again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Tabs, served
from browser.figure_pages import HOSTILE
from browser.score_pages import NAMES
from browser.score_pages import write_site as write_scores
from browser.test_live import NO_IDLE, drag, figure_of, said, tool, tooltip_rows, wake, x_labels, y_labels
from reportgen.figures.text import write_link_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from browser.conftest import Site

pytestmark = pytest.mark.browser

SAVED = "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };"


def faded(figure: Locator) -> int:
    """How many lines have stepped back."""
    strokes = figure.locator(".rg-live .lines_marks path")
    return sum("color-mix" in (path.get_attribute("stroke") or "") for path in strokes.all())


def line(figure: Locator) -> Locator:
    """The words below the plot that say what a link shows."""
    return figure.locator(".rg-state > span")


def ring_place(figure: Locator) -> tuple[float, float]:
    """The middle of the ring, as fractions of the plot's width and height from its top left."""
    ring, plot = (figure.locator(part).bounding_box() for part in (".rg-state-ring", ".rg-surface"))
    assert ring
    assert plot
    x, y = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    return (x - plot["x"]) / plot["width"], (y - plot["y"]) / plot["height"]


def follow(tab: Page, state: str) -> None:
    """Go to a fragment as a link on the page does."""
    tab.evaluate("state => { location.hash = state; }", state)


def fragment(tab: Page) -> str:
    """The address behind its #."""
    return str(tab.evaluate("location.hash"))


@pytest.mark.parametrize("served_page", [False, True])
def test_a_link_shows_series_steps_and_point(tabs: Tabs, *, served_page: bool) -> None:
    """From disk and from a server: alive at once, one series alone, zoomed with room, ringed and read out."""
    state = write_link_state("points", ("MEL",), (100, 140), (120, "MEL"))
    tab = tabs.open("points", fragment=f"#{state}", served=served_page, script=NO_IDLE)
    figure = figure_of(tab, "points")
    words = "Showing MEL, training step 100 to 140. Marked: MEL 0.840 at training step 120."
    expect(line(figure)).to_have_text(words)
    expect(said(figure)).to_have_text(words)
    assert faded(figure) == 1
    assert x_labels(figure)[0] == "100"
    assert tooltip_rows(figure) == [["Training step 120"], ["MEL", "0.840"]]
    expect(figure.locator(".rg-state-ring")).to_be_visible()
    across, down = ring_place(figure)
    assert across == pytest.approx((120 - 96) / (140 - 96), abs=0.01)
    assert down == pytest.approx(0.04 / 1.08, abs=0.05)
    assert fragment(tab) == f"#{state}"


def test_a_link_scrolls_to_its_figure(tabs: Tabs) -> None:
    """A figure far down wakes although nobody has seen it, and stands in the window."""
    tab = tabs.open("many", fragment="#points~mark=120@MEL", script=NO_IDLE)
    figure = figure_of(tab, "points")
    expect(line(figure)).to_have_text("Marked: MEL 0.840 at training step 120.")
    expect(figure).to_be_in_viewport(ratio=0.5)
    expect(figure_of(tab, "many")).not_to_have_class(re.compile("rg-is-live"))


def test_a_figure_that_the_address_names_wakes_at_once(tabs: Tabs) -> None:
    """A plain link needs no pointer either."""
    tab = tabs.open("many", fragment="#points", script=NO_IDLE)
    expect(figure_of(tab, "points")).to_have_class(re.compile("rg-is-live"))
    expect(figure_of(tab, "points").locator(".rg-state")).to_have_count(0)


@pytest.mark.parametrize("way", ["Escape", "Show everything", "Reset zoom"])
def test_what_a_link_shows_can_be_left(tabs: Tabs, way: str) -> None:
    """Everything is shown again, and the address names the figure only."""
    tab = tabs.open("points", fragment="#points~series=GRPO~x=20..60~mark=40@GRPO")
    figure = figure_of(tab, "points")
    expect(line(figure)).to_contain_text("Showing GRPO")
    if way == "Escape":
        tab.keyboard.press("Escape")
    else:
        tool(figure, way).click()
    expect(figure.locator(".rg-state")).to_have_count(0)
    expect(figure.locator(".rg-state-ring")).to_be_hidden()
    assert faded(figure) == 0
    assert x_labels(figure) == ["0", "20", "40", "60", "80", "100", "120", "140"]
    assert fragment(tab) == "#points"


def test_a_state_ends_when_the_reader_shows_something_else(tabs: Tabs) -> None:
    """The words below the plot never say what is not shown, and the address neither."""
    tab = tabs.open("points", fragment="#points~series=GRPO")
    figure = figure_of(tab, "points")
    expect(line(figure)).to_have_text("Showing GRPO.")
    figure.locator(".rg-legend").get_by_role("button", name="MEL").click()
    expect(figure.locator(".rg-state")).to_have_count(0)
    expect(said(figure)).to_have_text("Showing MEL")
    assert fragment(tab) == "#points"
    follow(tab, "points~mark=120@MEL")
    expect(line(figure)).to_have_text("Marked: MEL 0.840 at training step 120.")
    drag(figure, 0.2, 0.6)
    expect(figure.locator(".rg-state")).to_have_count(0)


def test_one_state_follows_another(tabs: Tabs) -> None:
    """Links on the page work without loading it again, as do the browser's own steps back."""
    tab = tabs.open("points", fragment="#points~series=GRPO~x=20..60")
    figure = figure_of(tab, "points")
    expect(line(figure)).to_have_text("Showing GRPO, training step 20 to 60.")
    follow(tab, "points~mark=30@MEL")
    expect(line(figure)).to_have_text("Marked: MEL 0.760 at training step 30.")
    assert x_labels(figure)[-1] == "140"
    assert fragment(tab) == "#points~mark=30@MEL"
    tab.go_back()
    expect(line(figure)).to_have_text("Showing GRPO, training step 20 to 60.")
    follow(tab, "points")
    expect(figure.locator(".rg-state")).to_have_count(0)


@pytest.mark.parametrize(
    "state",
    [
        "points~series=PPO",
        "points~x=500..900",
        "points~x=60..20",
        "points~x=a..b",
        "points~mark=120@PPO",
        "points~mark=900@MEL",
        "points~mark=@MEL",
        "points~series=%E0%A4%A",
        "points~~=~x~series~mark",
        "points~fit=0",
        "points~y=cubic~band=0~runs=0",
        "points~y=linear~band=1~runs=~y",
        "nowhere~series=MEL",
        "%E0%A4%A~series=MEL",
    ],
)
def test_what_is_not_there_is_passed_over(tabs: Tabs, state: str) -> None:
    """An old link, or a broken one, shows the figure as it is and complains of nothing."""
    tab = tabs.open("points", fragment=f"#{state}")
    figure = wake(tab, "points")
    tab.wait_for_timeout(100)
    expect(figure.locator(".rg-state")).to_have_count(0)
    assert faded(figure) == 0
    assert len(x_labels(figure)) == 8


def test_the_rest_of_a_link_works_where_a_series_is_gone(tabs: Tabs) -> None:
    """Names that are there are shown."""
    tab = tabs.open("points", fragment="#points~series=PPO,GRPO~x=500..900~mark=120@GRPO")
    expect(line(figure_of(tab, "points"))).to_have_text(
        "Showing GRPO. Marked: GRPO 0.820 at training step 120."
    )


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_names_may_hold_any_character(tabs: Tabs, number: int) -> None:
    """Mark-up, names of objects' properties, letters from right to left: a name is a name."""
    state = write_link_state("hostile", (HOSTILE[number],), mark=(3, HOSTILE[number]))
    tab = tabs.open("hostile", fragment=f"#{state}")
    figure = figure_of(tab, "hostile")
    expect(line(figure)).to_contain_text("at step 3.")
    assert HOSTILE[number] in line(figure).inner_text()
    assert faded(figure) == len(HOSTILE) - 1


def test_the_link_button_copies_what_is_shown(tabs: Tabs) -> None:
    """The copied link leads to the same series and the same steps."""
    tab = tabs.open("dense", served=True, script=SAVED)
    figure = wake(tab, "dense")
    keys = figure.locator(".rg-legend").get_by_role("button")
    keys.nth(1).click()
    keys.nth(3).click(modifiers=["Shift"])
    drag(figure, 0.25, 0.75)
    expect(figure).to_have_class(re.compile("rg-is-zoomed"))
    zoomed = x_labels(figure)
    tool(figure, "Copy a link to this figure").click()
    expect(tool(figure, "Copy a link to this figure")).to_have_attribute("data-words", "Link copied")
    copied = tab.evaluate("copied")
    assert re.search(r"dense\.html#dense~series=B,D~x=\d+0\.\.\d+0$", copied)
    other = tabs.open("dense", served=True, fragment=f"#{copied.partition('#')[2]}")
    again = figure_of(other, "dense")
    expect(line(again)).to_contain_text("Showing B and D, step")
    assert x_labels(again) == zoomed
    assert faded(again) == 3


def test_a_link_keeps_what_the_toolbar_switches(tabs: Tabs) -> None:
    """Log axis, bands and runs are as they were; everything comes back, in the buttons too."""
    tab = tabs.open("dense", served=True, script=SAVED)
    figure = wake(tab, "dense")
    switches = ("Logarithmic y axis", "A thin line for each run", "95% CI")
    for words in switches:
        tool(figure, words).click()
    tool(figure, "Copy a link to this figure").click()
    expect(tool(figure, "Copy a link to this figure")).to_have_attribute("data-words", "Link copied")
    state = tab.evaluate("copied").partition("#")[2]
    assert state == "dense~y=log~band=0~runs=0"
    again = figure_of(tabs.open("dense", served=True, fragment=f"#{state}"), "dense")
    expect(line(again)).to_have_text("Showing a logarithmic y axis, no bands, no single runs.")
    pressed = [tool(again, words).get_attribute("aria-pressed") for words in switches]
    assert pressed == ["true", "false", "false"]
    expect(again.locator(".rg-live .runs_marks path")).to_have_count(0)
    tool(again, "Show everything").click()
    expect(again.locator(".rg-live .runs_marks path")).to_have_count(25)
    pressed = [tool(again, words).get_attribute("aria-pressed") for words in switches]
    assert pressed == ["false", "true", "true"]


def test_a_link_may_ask_for_the_whole_y_axis(tabs: Tabs) -> None:
    """What the reader did not want fitted is not fitted by the link."""
    tab = tabs.open("dense", served=True, script=SAVED)
    figure = wake(tab, "dense")
    drag(figure, 0.5, 0.9)
    tool(figure, "y: fit, change to whole").click()
    tool(figure, "Copy a link to this figure").click()
    expect(tool(figure, "Copy a link to this figure")).to_have_attribute("data-words", "Link copied")
    state = tab.evaluate("copied").partition("#")[2]
    assert state.endswith("~fit=0")
    again = figure_of(tabs.open("dense", fragment=f"#{state}"), "dense")
    expect(line(again)).to_contain_text("the whole y axis")
    assert y_labels(again) == y_labels(figure)
    tool(again, "Show everything").click()
    drag(again, 0.5, 0.9)
    assert y_labels(again) != y_labels(figure)


def test_a_link_to_a_log_axis_may_ask_for_a_linear_one(tabs: Tabs) -> None:
    """What the author chose needs no words, what the reader chose does; a switch ends the state."""
    figure = figure_of(tabs.open("log", fragment="#log~y=linear"), "log")
    expect(line(figure)).to_have_text("Showing a linear y axis.")
    expect(tool(figure, "Logarithmic y axis")).to_have_attribute("aria-pressed", "false")
    tool(figure, "Logarithmic y axis").click()
    expect(figure.locator(".rg-state")).to_have_count(0)
    assert fragment(figure.page) == "#log"


def test_a_copied_range_ends_at_steps_of_the_data(tabs: Tabs) -> None:
    """Where a drag ends between two steps, the link names those that it shows."""
    tab = tabs.open("points", served=True, script=SAVED)
    figure = wake(tab, "points")
    drag(figure, 0.4, 0.9)
    tool(figure, "Copy a link to this figure").click()
    expect(tool(figure, "Copy a link to this figure")).to_have_attribute("data-words", "Link copied")
    assert tab.evaluate("copied").endswith("#points~x=60..120")


def test_a_link_to_a_whole_figure_names_nothing_else(tabs: Tabs) -> None:
    """As long as nothing was chosen the link is the figure's own."""
    tab = tabs.open("points", served=True, script=SAVED)
    figure = wake(tab, "points")
    tool(figure, "Copy a link to this figure").click()
    expect(tool(figure, "Copy a link to this figure")).to_have_attribute("data-words", "Link copied")
    assert tab.evaluate("copied").endswith("points.html#points")


def test_a_panel_can_be_named(tabs: Tabs) -> None:
    """Series and steps are those of all panels, the words and the ring stand in the one named."""
    tab = tabs.open("panels", fragment="#diag-2~series=two~x=10..20~mark=15@two")
    named, first = figure_of(tab, "diag-2"), figure_of(tab, "diag-1")
    expect(line(named)).to_contain_text("Showing two, step 10 to 20. Marked: two ")
    expect(named.locator(".rg-state-ring")).to_be_visible()
    expect(first.locator(".rg-state")).to_have_count(0)
    expect(first.locator(".rg-state-ring")).to_be_hidden()
    assert faded(first) == 1
    follow(tab, "diag-1~mark=15@one")
    expect(line(first)).to_contain_text("Marked: one ")
    expect(named.locator(".rg-state")).to_have_count(0)
    assert faded(first) == 0
    assert fragment(tab) == "#diag-1~mark=15@one"


def test_a_link_to_panels_keeps_what_they_show(tabs: Tabs) -> None:
    """One button copies the state of all panels; leaving the state leaves it everywhere."""
    tab = tabs.open("panels", served=True, script=SAVED)
    wake(tab, "diag-2")
    shared = tab.locator("#diag > .rg-toolbar")
    tool(shared, "Logarithmic y axis").click()
    drag(figure_of(tab, "diag-2"), 0.3, 0.7)
    tool(shared, "Copy a link to these panels").click()
    expect(tool(shared, "Copy a link to these panels")).to_have_attribute("data-words", "Link copied")
    state = tab.evaluate("copied").partition("#")[2]
    assert state == "diag~x=10..20~y=log"
    again = tabs.open("panels", served=True, fragment=f"#{state}")
    expect(line(figure_of(again, "diag-1"))).to_have_text("Showing step 10 to 20, a logarithmic y axis.")
    shared = again.locator("#diag > .rg-toolbar")
    expect(tool(shared, "Logarithmic y axis")).to_have_attribute("aria-pressed", "true")
    tool(again.locator("#diag"), "Show everything").click()
    expect(tool(shared, "Logarithmic y axis")).to_have_attribute("aria-pressed", "false")
    assert fragment(again) == "#diag"


def test_steps_on_other_axes_can_be_named(tabs: Tabs) -> None:
    """A log axis has its room in factors, and times are milliseconds."""
    tab = tabs.open("log", fragment="#log~x=10..100~mark=1@A")
    expect(line(figure_of(tab, "log"))).to_contain_text("Showing step 10")
    expect(figure_of(tab, "log").locator(".rg-state-ring")).to_be_hidden()
    week = 1_700_000_000_000 + 7 * 86_400_000
    tab = tabs.open("time", fragment=f"#{write_link_state('time', mark=(week, 'A'))}")
    expect(line(figure_of(tab, "time"))).to_have_text("Marked: A −0.9 at step 2023-11-21.")


def test_a_single_step_is_shown_with_its_surroundings(tabs: Tabs) -> None:
    """A range of one step is no range of no width."""
    tab = tabs.open("dense", fragment="#dense~x=740..740")
    labels = [float(word.replace(",", "")) for word in x_labels(wake(tab, "dense"))]
    assert labels[0] < 740 < labels[-1]
    assert labels[-1] - labels[0] < 200


@pytest.mark.parametrize("width", [1280, 390])
def test_what_a_link_shows_fits_the_window(tabs: Tabs, width: int) -> None:
    """The words and the ring stay inside, and the page never scrolls sideways."""
    tab = tabs.open(
        "hostile", width=width, fragment=f"#{write_link_state('hostile', HOSTILE, mark=(3, 'x' * 500))}"
    )
    expect(figure_of(tab, "hostile").locator(".rg-state")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_words_at_marks_never_overlap_in_a_browser(tabs: Tabs, width: int) -> None:
    """As the browser draws them, still and alive, zoomed, on a log axis: no two words lie on each other."""
    tab = tabs.open("marked", width=width, script=NO_IDLE)
    tab.evaluate("document.fonts.ready")
    figure = figure_of(tab, "marked")
    still = ".rg-picture :is(.rg-annotation, .rg-reference, .rg-ends) text"
    assert figure.locator(still).count() >= 8
    assert overlapping(figure, still) == []
    wake(tab, "marked")
    words = ".rg-live :is(.mark-text) text"
    assert overlapping(figure, words) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tool(figure, "Logarithmic y axis").click()
    expect(tool(figure, "Logarithmic y axis")).to_have_attribute("aria-pressed", "true")
    assert overlapping(figure, words) == []
    drag(figure, 0.6, 0.95)
    expect(figure).to_have_class(re.compile("rg-is-zoomed"))
    assert overlapping(figure, words) == []
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


@pytest.fixture(scope="module")
def scores_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pages of ``score_pages``."""
    from browser.conftest import Site as Pages  # noqa: PLC0415 - a name of types above

    folder = tmp_path_factory.mktemp("scores") / "reports"
    write_scores(folder)
    with served(folder.parent) as address:
        yield Pages(folder, f"{address}/reports")


def test_rows_of_scores_can_be_named(browser: Browser, scores_site: Site) -> None:
    """Two rows stand out, in the table of the block too; a button shows all again."""
    tabs = Tabs(browser, scores_site)
    tab = tabs.open("rows", fragment=f"#{write_link_state('scores', (NAMES[0], NAMES[2]))}")
    figure = figure_of(tab, "scores")
    expect(tool(figure, "Show all series")).to_be_visible()
    kept = figure.locator("[data-rg-series]:not(.rg-faded)").evaluate_all(
        "parts => [...new Set(parts.map(part => part.dataset.rgSeries))].sort()"
    )
    assert kept == sorted((NAMES[0], NAMES[2]))
    expect(tab.locator("#pairs tr.rg-chosen")).to_have_count(2)
    tool(figure, "Show all series").click()
    expect(tab.locator(".rg-faded")).to_have_count(0)
    assert fragment(tab) == "#scores"
    expect(figure).not_to_have_class(re.compile("rg-pointed-out"))
    follow(tab, write_link_state("scores", NAMES))
    expect(figure).to_have_class(re.compile("rg-pointed-out"))
    expect(said(figure)).to_have_text("Showing all series")
    expect(tab.locator("tr.rg-chosen")).to_have_count(0)
    tabs.close()
    assert tabs.complaints == []
