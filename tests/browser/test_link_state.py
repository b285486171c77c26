"""Links to a state of a figure: what they name is shown, and can be left again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser.conftest import NO_IDLE, SAVED, opened
from browser.figure_pages import HOSTILE
from browser.live import (
    ALIVE,
    ZOOMED,
    copied_state,
    drag,
    faded,
    figure_of,
    follow,
    fragment,
    key_of,
    line,
    ring_place,
    said,
    tool,
    tooltip_rows,
    wake,
    x_labels,
    x_numbers,
)
from browser.score_pages import NAMES
from reportgen.figures.text import write_link_state

if TYPE_CHECKING:
    from browser.conftest import Pool, Site, Tabs

pytestmark = pytest.mark.browser

# An old link, or a broken one.
NOWHERE = (
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
)


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_a_link_shows_series_steps_and_point(tabs: Tabs, *, from_server: bool) -> None:
    """Alive at once, one series alone, zoomed with room, ringed and read out."""
    state = write_link_state("points", ("MEL",), (100, 140), (120, "MEL"))
    tab = tabs.open("points", fragment=f"#{state}", served=from_server, script=NO_IDLE)
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


def test_a_link_wakes_its_figure_and_scrolls_to_it(tabs: Tabs) -> None:
    """One far down wakes although nobody has seen it, and stands in the window; a plain link does so, too."""
    tab = tabs.open("many", fragment="#points~mark=120@MEL", script=NO_IDLE)
    figure = figure_of(tab, "points")
    expect(line(figure)).to_have_text("Marked: MEL 0.840 at training step 120.")
    expect(figure).to_be_in_viewport(ratio=0.5)
    expect(figure_of(tab, "many")).not_to_have_class(ALIVE)
    tabs.go(tab, "many", "#points")
    expect(figure).to_have_class(ALIVE)
    expect(figure.locator(".rg-state")).to_have_count(0)


def test_what_a_link_shows_can_be_left(tabs: Tabs) -> None:
    """Everything is shown again, and the address names the figure only."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    for way in ("Escape", "Show everything", "Reset zoom"):
        follow(tab, "points~series=GRPO~x=20..60~mark=40@GRPO")
        expect(line(figure)).to_contain_text("Showing GRPO")
        if way == "Escape":
            tab.keyboard.press("Escape")
        else:
            tool(figure, way).click()
        expect(figure.locator(".rg-state")).to_have_count(0)
        expect(figure.locator(".rg-state-ring")).to_be_hidden()
        assert faded(figure) == 0, way
        assert x_labels(figure) == ["0", "20", "40", "60", "80", "100", "120", "140"], way
        assert fragment(tab) == "#points", way


def test_one_state_follows_another_until_the_reader_shows_something_else(tabs: Tabs) -> None:
    """Links on the page and steps back load nothing; words never say what is not shown, nor the address."""
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
    follow(tab, "points~series=GRPO")
    expect(line(figure)).to_have_text("Showing GRPO.")
    key_of(figure, "MEL").click()
    expect(figure.locator(".rg-state")).to_have_count(0)
    expect(said(figure)).to_have_text("Showing MEL")
    assert fragment(tab) == "#points"
    follow(tab, "points~mark=120@MEL")
    expect(line(figure)).to_have_text("Marked: MEL 0.840 at training step 120.")
    drag(figure, 0.2, 0.6)
    expect(figure.locator(".rg-state")).to_have_count(0)
    # Names that are there are shown where a series is gone.
    follow(tab, "points~series=PPO,GRPO~x=500..900~mark=120@GRPO")
    expect(line(figure)).to_have_text("Showing GRPO. Marked: GRPO 0.820 at training step 120.")


def test_what_is_not_there_is_passed_over(tabs: Tabs) -> None:
    """The figure is shown as it is, whether the page is opened so or the reader follows a link on it."""
    tab, strange = tabs.open("points", fragment=f"#{NOWHERE[-1]}"), []
    figure = wake(tab, "points")
    for state in NOWHERE:
        # A state that is shown stands before: only its end tells that the next address was read.
        follow(tab, "points~series=MEL~x=20..60")
        expect(line(figure)).to_have_text("Showing MEL, training step 20 to 60.")
        tab.keyboard.press("Escape")
        expect(figure.locator(".rg-state")).to_have_count(0)
        follow(tab, state)
        tab.evaluate("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")
        if figure.locator(".rg-state").count() or faded(figure) or len(x_labels(figure)) != 8:
            strange.append(state)
    for state in (NOWHERE[0], NOWHERE[1], NOWHERE[7]):
        tabs.go(tab, "points", f"#{state}")
        wake(tab, "points")
        if figure.locator(".rg-state").count() or faded(figure) or len(x_labels(figure)) != 8:
            strange.append(f"opened with {state}")
    assert strange == []


def test_names_may_hold_any_character(tabs: Tabs) -> None:
    """Mark-up, names of objects' properties, letters from right to left: a name is a name, and fits."""
    tab = tabs.open("hostile")
    figure = wake(tab, "hostile")
    for name in HOSTILE:
        follow(tab, write_link_state("hostile", (name,), mark=(3, name)))
        expect(line(figure)).to_contain_text("at step 3.")
        expect(line(figure)).to_contain_text(name)
        assert faded(figure) == len(HOSTILE) - 1
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        tabs.go(tab, "hostile", f"#{write_link_state('hostile', HOSTILE, mark=(3, 'x' * 500))}")
        expect(figure.locator(".rg-state")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_the_link_button_copies_what_is_shown(tabs: Tabs) -> None:
    """The copied link leads to the same series and steps; where nothing was chosen it names nothing."""
    tab = tabs.open("dense", served=True, script=SAVED)
    figure = wake(tab, "dense")
    assert copied_state(figure) == "dense"
    keys = figure.locator(".rg-legend").get_by_role("button")
    keys.nth(1).click()
    keys.nth(3).click(modifiers=["Shift"])
    drag(figure, 0.25, 0.75)
    expect(figure).to_have_class(ZOOMED)
    zoomed, state = x_labels(figure), copied_state(figure)
    assert re.fullmatch(r"dense~series=B,D~x=\d+0\.\.\d+0", state)
    tabs.go(tab, "dense", f"#{state}")
    expect(line(figure)).to_contain_text("Showing B and D, step")
    assert x_labels(figure) == zoomed
    assert faded(figure) == 3
    # A range of one step is no range of no width.
    tabs.go(tab, "dense", "#dense~x=740..740")
    labels = x_numbers(wake(tab, "dense"))
    assert labels[0] < 740 < labels[-1]
    assert labels[-1] - labels[0] < 200
    # Where a drag ends between two steps, the link names those that it shows.
    tabs.go(tab, "points")
    figure = wake(tab, "points")
    drag(figure, 0.4, 0.9)
    assert copied_state(figure) == "points~x=60..120"


def test_a_link_keeps_what_the_toolbar_switches(tabs: Tabs) -> None:
    """Log axis, bands and runs are as they were; everything comes back, in the buttons too."""
    tab = tabs.open("dense", served=True, script=SAVED)
    figure = wake(tab, "dense")
    switches = [tool(figure, words) for words in ("Logarithmic y axis", "A thin line for each run", "95% CI")]
    for switch in switches:
        switch.click()
    state = copied_state(figure)
    assert state == "dense~y=log~band=0~runs=0"
    tabs.go(tab, "dense", f"#{state}")
    expect(line(figure)).to_have_text("Showing a logarithmic y axis, no bands, no single runs.")
    pressed = [switch.get_attribute("aria-pressed") for switch in switches]
    assert pressed == ["true", "false", "false"]
    expect(figure.locator(".rg-live .runs_marks path")).to_have_count(0)
    tool(figure, "Show everything").click()
    expect(figure.locator(".rg-live .runs_marks path")).to_have_count(25)
    pressed = [switch.get_attribute("aria-pressed") for switch in switches]
    assert pressed == ["false", "true", "true"]


def test_links_to_other_axes(tabs: Tabs) -> None:
    """A log axis has its room in factors and may be asked to be linear; times are milliseconds."""
    tab = tabs.open("log", fragment="#log~y=linear")
    figure = figure_of(tab, "log")
    expect(line(figure)).to_have_text("Showing a linear y axis.")
    expect(tool(figure, "Logarithmic y axis")).to_have_attribute("aria-pressed", "false")
    tool(figure, "Logarithmic y axis").click()
    expect(figure.locator(".rg-state")).to_have_count(0)
    assert fragment(tab) == "#log"
    follow(tab, "log~x=10..100~mark=1@A")
    expect(line(figure)).to_contain_text("Showing step 10")
    expect(figure.locator(".rg-state-ring")).to_be_hidden()
    week = 1_700_000_000_000 + 7 * 86_400_000
    tabs.go(tab, "time", f"#{write_link_state('time', mark=(week, 'A'))}")
    expect(line(figure_of(tab, "time"))).to_have_text("Marked: A −0.9 at step 2023-11-21.")


def test_a_panel_can_be_named_and_all_panels_kept(tabs: Tabs) -> None:
    """Series and steps are those of all panels, words and ring stand in one; one button copies all."""
    tab = tabs.open("panels", fragment="#diag-2~series=two~x=10..20~mark=15@two", script=SAVED, served=True)
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
    follow(tab, "diag")
    expect(first.locator(".rg-state")).to_have_count(0)
    shared = tab.locator("#diag > .rg-toolbar")
    log = tool(shared, "Logarithmic y axis")
    log.click()
    drag(named, 0.3, 0.7)
    state = copied_state(shared, "Copy a link to these panels")
    assert state == "diag~x=10..20~y=log"
    tabs.go(tab, "panels", f"#{state}")
    expect(line(first)).to_have_text("Showing step 10 to 20, a logarithmic y axis.")
    expect(log).to_have_attribute("aria-pressed", "true")
    tool(tab.locator("#diag"), "Show everything").click()
    expect(log).to_have_attribute("aria-pressed", "false")
    assert fragment(tab) == "#diag"


def test_rows_of_scores_can_be_named(pool: Pool, scores_site: Site) -> None:
    """Two rows stand out, in the table of the block too; a button shows all again."""
    with opened(pool, scores_site) as tabs:
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
    assert tabs.complaints == []
