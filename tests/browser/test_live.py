"""Live figures by measure: nothing moves, is covered or outside; numbers are those of table and lines."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.gestures import NO_IDLE, box_of, read_rows, resize, wait_briefly

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from browser.conftest import Tabs
    from browser.session import Session

pytestmark = pytest.mark.browser

_PLACES = (Path(__file__).parent / "places.js").read_text("utf-8")
FIGURES = {
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


# ---- nothing moves --------------------------------------------------------------------------------


def see_places(tab: Page, names: tuple[str, ...], *, live: bool) -> dict[str, Any]:
    """Where everything of these figures stands, and how far the page reaches."""
    tab.evaluate("document.fonts.ready")
    tab.evaluate("window.scrollTo(0, 0)")
    places = {one: tab.locator(f"#{one}").evaluate(_PLACES, arg=live) for one in names}
    return places | {"the page": [["height", tab.evaluate("document.documentElement.scrollHeight")]]}


def find_moves(still: dict[str, Any], alive: dict[str, Any]) -> list[str]:
    """What stands more than a pixel from where it stood."""
    moves = []
    for one, places in still.items():
        if [place[0] for place in alive[one]] != [place[0] for place in places]:
            moves.append(f"{one}: other words or lines")
        moves += [
            f"{one}: {was[0]}"
            for was, now in zip(places, alive[one], strict=False)
            if now[1:] != pytest.approx(was[1:], abs=1)
        ]
    return moves


def test_nothing_moves(looking: Tabs, reader: Session) -> None:
    """Every word, line, band and neighbour of a picture stands where it stood when still.

    At both widths in every fourth page, in the others at each in turn, or at both with --slow.
    """
    reader.tab, moves = looking.open("figures/points", script=NO_IDLE), []
    for number, (name, figures) in enumerate(FIGURES.items()):
        looking.go(reader.tab, f"figures/{name}")
        still = {}
        widths: tuple[int, ...] = (1280, 390) if number % 2 else (390, 1280)
        if number % 4 and not looking.thorough:
            widths = widths[:1]
        for width in widths:
            resize(reader.tab, width)
            still[width] = see_places(reader.tab, figures, live=False)
        reader.do(f"wake {' '.join(figures)}")  # as wide as it is now, then as wide as before
        for width in reversed(widths):
            resize(reader.tab, width)
            for _ in range(50):
                found = find_moves(still[width], see_places(reader.tab, figures, live=True))
                if not found:
                    break
                wait_briefly(reader.tab)
            moves += [f"{name}, {width} px: {one}" for one in found]
    assert moves == []


# Places of every word and line of a page of marks, the added parts apart.
_MARKS = """async () => {
  await document.fonts.ready;
  const parts = ".rg-picture :is(text, circle, line, path), .rg-title, .rg-plot, .rg-summary, td";
  const boxes = [...document.querySelectorAll(parts)].map((node) => node.getBoundingClientRect());
  return boxes.flatMap(({ left, top, right, bottom }) => [left, top, right, bottom]);
}"""


def test_marks_do_not_move(tabs: Tabs) -> None:
    """A page is the same to the pixel with and without its scripts, and scrolls sideways in neither."""
    still, tab, moves = tabs.open("scores/rows", javascript=False), tabs.open("scores/rows"), []
    for name in ("rows", "pairs", "heat"):
        tabs.go(still, f"scores/{name}")
        tabs.go(tab, f"scores/{name}")
        tab.locator(".rg-of-marks .rg-toolbar").first.wait_for(state="attached")
        for width in (1280, 390):
            still.set_viewport_size({"width": width, "height": 900})
            resize(tab, width)
            if tab.evaluate(_MARKS) != pytest.approx(still.evaluate(_MARKS), abs=0.01):
                moves.append(f"{name}, {width} px: something moves")
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                moves.append(f"{name}, {width} px: scrolls sideways")
    assert moves == []


# ---- nothing is covered or outside ----------------------------------------------------------------


def find_outside(reader: Session, width: int) -> list[str]:
    """Where the tooltip is outside of the window, or widens the page."""
    box = box_of(reader.figure.locator(".rg-tooltip"))
    found = [] if box["x"] >= 0 and box["y"] >= 0 and box["right"] <= width else [f"tooltip at {box}"]
    return found + ["wide"] * (reader.tab.evaluate("document.documentElement.scrollWidth") > width)


def test_tooltips_stay_inside_the_window(reader: Session) -> None:
    """From the first to the last step or mark, on a wide page and a narrow one."""
    outside: list[str] = []
    reader.do("open figures/dense", "wake dense")
    for width in (1280, 390):
        reader.do(f"resize {width}")
        for across in (0.001, 0.5, 0.999):
            reader.do(f"point {across}")
            assert read_rows(reader.figure)
            outside += find_outside(reader, width)
    for page, name in (("rows", "scores"), ("heat", "problems-map")):
        reader.do(f"go scores/{page}", f"wake {name}")
        for width in (1280, 390):
            for key in ("Home", "End"):
                reader.do(f"resize {width}", f"keys {key}")
                assert read_rows(reader.figure)
                outside += find_outside(reader, width)
    assert outside == []


def test_the_tooltip_leaves_the_dots_free(reader: Session) -> None:
    """Read by keys it stands beside what it says: below the dots at the end, above them at the start."""
    reader.do("open figures/points", "wake points")
    for key, above in (("End", False), ("Home", True)):
        reader.do(f"keys {key}")
        read_rows(reader.figure)
        tip = box_of(reader.figure.locator(".rg-tooltip"))
        dots = [box_of(dot) for dot in reader.figure.locator(".rg-dot").filter(visible=True).all()]
        assert dots
        for dot in dots:
            assert (tip["bottom"] < dot["y"]) if above else (tip["y"] > dot["bottom"])


_HIT = """buttons => buttons.map((button) => {
  const { left, right, top, bottom, width } = button.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const over = dy => button.contains(document.elementFromPoint(x, y + dy));
  return [width >= 32, over(-17), over(17)]; })"""


def test_fingers_hit_buttons(reader: Session) -> None:
    """A button answers 36 pixels high and 32 wide."""
    reader.do("open figures/dense narrow touch", "wake dense")
    buttons = reader.figure.locator(".rg-toolbar .rg-tool").filter(visible=True)
    assert buttons.evaluate_all(_HIT) == [[True, True, True]] * buttons.count() != []


def test_names_stand_over_the_words_they_replace(reader: Session) -> None:
    """On a wide page the buttons lie on the names that the picture draws; on a narrow one they are a row.

    Names of marks stand beside wide rows and above narrow ones.
    """
    reader.do("open figures/points", "wake points")
    ends = reader.figure.locator(".rg-live .ends_marks text")
    drawn, button = box_of(ends.filter(has_text="MEL")), box_of(reader.find("button:MEL"))
    assert button["x"] <= drawn["x"]
    assert drawn["y"] >= button["y"] - 2
    assert drawn["right"] <= button["right"]
    reader.do("resize 390", "wait \"!document.querySelector('.rg-live .ends_marks text')\"")
    row, plot = (box_of(reader.figure.locator(part)) for part in (".rg-legend", ".rg-plot"))
    assert row["bottom"] <= plot["y"] + 12
    reader.do("go scores/rows", "wake scores")
    for width in (1280, 390):
        reader.do(f"resize {width}")
        words = reader.figure.locator("svg text", has_text="Tiny").filter(visible=True)
        assert words.count() == 1
        name, dot = box_of(words), box_of(reader.figure.locator('.rg-mark[data-rg-tip^="Tiny"]'))
        assert name["x"] >= 0
        # A halo of 3 px around the words belongs to their box, and may reach a mark.
        assert name["right"] < dot["x"] if width == 1280 else name["bottom"] <= dot["y"] + 5


_COVERED = """all => all.filter(one => { const { left, right, top, bottom } = one.getBoundingClientRect();
  return [...document.querySelectorAll(".rg-toolbar")].map(bar => bar.getBoundingClientRect()).some(bar =>
    left < bar.right && bar.left < right && top < bar.bottom && bar.top < bottom); })
  .map(one => one.textContent)"""


def test_panels_stand_beside_each_other(reader: Session) -> None:
    """Their plots are level, values at the rule inside and apart, and no toolbar covers titles or legend."""
    reader.do("open figures/panels", "wake diag-1 diag-3 diag-2")
    tops = "ps => ps.map(p => Math.round(p.getBoundingClientRect().top))"
    found = reader.tab.locator("#diag .rg-plot").evaluate_all(tops)
    assert found == found[:1] * 3
    for across in (0.02, 0.5, 0.98):
        reader.do(f"point {across}")
        read_rows(reader.figure)
        for panel in (reader.tab.locator(f"#diag-{n}") for n in (1, 3)):
            values = panel.locator(".rg-at-rule").filter(visible=True)
            boxes = sorted((box_of(one) for one in values.all()), key=lambda box: box["y"])
            plot = box_of(panel.locator(".rg-surface"))
            assert all(plot["x"] <= box["x"] and box["right"] <= plot["right"] for box in boxes)
            assert boxes[0]["bottom"] <= boxes[1]["y"] + 1
    reader.do("drag 0 0.5")
    words = ".rg-live .role-axis-title text, #diag > .rg-legend .rg-series, #diag > .rg-title, .rg-subtitle"
    parts = reader.tab.locator("#diag").locator(words)
    assert parts.count() > 6
    assert parts.evaluate_all(_COVERED) == []


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_leaders_lead_to_names_that_are_moved(reader: Session, scheme: str) -> None:
    """Each has the colour of its series and ends at its name: still, alive, and where the reader zooms."""
    reader.do(f"open figures/crowded asleep {scheme}")
    still = reader.tab.locator("#crowded").evaluate(_LEADERS, arg=False)
    assert {"A", "B", "early"} <= {name for name, *_ in still}
    assert "apart" not in {name for name, *_ in still}
    reader.do("wake crowded")
    alive = reader.figure.evaluate(_LEADERS, arg=True)
    assert [name for name, *_ in alive] == [name for name, *_ in still]
    reader.do("drag 0.3 0.6", "wait \"document.querySelector('.rg-is-zoomed')\"")
    zoomed = reader.figure.evaluate(_LEADERS, arg=True)
    assert zoomed
    for _, near, apart in (*still, *alive, *zoomed):
        assert near < 3
        assert 0 < apart < 8


_OVERLAPPING = """nodes => {
  const seen = nodes.map(node => [node.textContent, node.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0);
  const beside = (a, b) => a.right <= b.left || b.right <= a.left;
  const lies = (a, b) => !beside(a, b) && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  return seen.flatMap(([one, a], i) =>
    seen.slice(i + 1).filter(([, b]) => lies(a, b)).map(([other]) => [one, other]));
}"""


@pytest.mark.parametrize("width", ["", "narrow"])
def test_words_at_marks_never_overlap(reader: Session, width: str) -> None:
    """As the browser draws them, still and alive, zoomed, on a log axis: no two words lie on each other."""
    reader.do(f"open figures/marked asleep {width}", "watch marked")
    reader.tab.evaluate("document.fonts.ready")
    still = reader.figure.locator(".rg-picture :is(.rg-annotation, .rg-reference, .rg-ends) text")
    assert still.count() >= 8
    assert still.evaluate_all(_OVERLAPPING) == []
    reader.do("wake marked")
    words = reader.figure.locator(".rg-live .mark-text text")
    assert words.evaluate_all(_OVERLAPPING) == []
    reader.do("follow marked~y=log", "wait \"document.querySelector('[aria-pressed=true]')\"")
    assert words.evaluate_all(_OVERLAPPING) == []
    reader.do("drag 0.6 0.95", "wait \"document.querySelector('.rg-is-zoomed')\"")
    assert words.evaluate_all(_OVERLAPPING) == []
    shown = words.all_text_contents()
    assert "best 0.84" in shown
    assert "restart" not in shown


def test_an_authors_chart_keeps_its_place_and_its_brush_follows(reader: Session) -> None:
    """At both widths the brush is where the pointer dragged."""
    for width in ("", "narrow"):
        reader.do(f"open figures/author asleep {width}", "watch author")
        still = reader.figure.locator(".rg-plot > svg:visible").bounding_box()
        reader.do("wake author")
        live = reader.figure.locator(".rg-live svg").bounding_box()
        assert live == pytest.approx(still, abs=3)  # browser and build measure the legend's words apart
        box = box_of(reader.figure.locator(".rg-live .mark-symbol.role-mark path").nth(4))
        mouse = reader.tab.mouse
        mouse.move(box["x"] - 20, box["y"] - 30)
        mouse.down()
        mouse.move(box["x"], box["y"])
        mouse.move(box["right"] + 4, box["bottom"] + 4)
        mouse.up()
        place = (
            "p => { const b = p.getBBox(), m = p.getScreenCTM(); return [m.e + m.a * b.x, m.a * b.width]; }"
        )
        brush = reader.figure.locator(".rg-live .brush_brush path").evaluate(place)
        assert brush == pytest.approx([box["x"] - 20, box["width"] + 24], abs=1)


# ---- numbers are those of the table and of the lines ----------------------------------------------


@pytest.mark.parametrize(
    ("name", "few"),
    [
        ("decay", ["2.51e-5 [1.61e-5, 3.42e-5]", "1.42e-7 [9.1e-8, 1.93e-7]"]),
        ("wide", ["900", "3", "0.5200", "\u22120.0042", "3e-8", "0.0300 [0.0251, 0.0349]"]),
    ],
)
def test_the_tooltip_says_what_the_data_table_does(reader: Session, name: str, few: list[str]) -> None:
    """At each step, with the interval: digits of the values, whatever the height of the plot."""
    reader.do(f"open figures/{name}", f"wake {name}")
    header, *rows = read_table(reader.figure)
    places = [0.002 + 0.996 * place / (len(rows) - 1) for place in range(len(rows))]
    for row, (_, *read) in zip(rows, reader.read_at(places), strict=True):
        shown = {words[0]: " ".join(words[1:3]) for words in read if words[0] in header}
        assert shown == dict(zip(header[1:], row[1:], strict=True))
    assert set(few) <= {cell for row in rows for cell in row}


def read_table(figure: Locator) -> list[list[str]]:
    """The cells of a figure's data table."""
    cells = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    found: list[list[str]] = figure.locator(".rg-data tr").evaluate_all(cells)
    return found


def test_a_smooth_curve_has_no_stairs_when_zoomed(reader: Session) -> None:
    """Each of its values is below the one before."""
    reader.do("open figures/smooth", "wake smooth", "drag 0.5 0.6")
    path = reader.figure.locator(".lines_marks path").first.get_attribute("d") or ""
    heights = [float(height) for height in re.findall(r"[ML][\d.-]+,([\d.-]+)", path)]
    assert len(heights) > 200
    assert all(before < after for before, after in pairwise(heights))


_INSIDE = """() => {
  const payload = JSON.parse(document.querySelector("#dense .rg-payload").textContent);
  const [one] = new reportgenLive.Data(payload).series;
  const [from, to] = [(one.steps[1] + one.steps[2]) / 2, (one.steps[3] + 3 * one.steps[4]) / 4];
  const data = new reportgenLive.Data(payload);
  const axis = { scale: "linear", domain: [from, to] };
  const columns = [one.low, one.high, ...one.runs.map((run) => run.values)];
  return [data.valuesInside(one, axis, true, one.runs), columns];
}"""


def test_y_is_fitted_to_what_crosses_the_edges(reader: Session) -> None:
    """Band and single runs between two steps, at both ends of the range; what is shown fills the plot."""
    reader.do("open figures/dense", "wake dense")
    inside, columns = reader.tab.evaluate(_INSIDE)
    for values in columns:
        for expected in ((values[1] + values[2]) / 2, (values[3] + 3 * values[4]) / 4):
            assert min(abs(value - expected) for value in inside) < 1e-9
    reader.do("drag 0.6 0.9", "wait \"document.querySelector('.rg-is-zoomed')\"")
    bands = [box_of(one) for one in reader.figure.locator(".rg-live .bands_marks path").all()]
    height = max(box["bottom"] for box in bands) - min(box["y"] for box in bands)
    assert height > 0.5 * box_of(reader.figure.locator(".rg-surface"))["height"]


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
_STATE = """async () => {
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  for (let n = 0; n < 2; n++) await frame();
  const all = (parts) => [...document.querySelectorAll(`#points ${parts}`)];
  const isFaint = (one) => one.getAttribute("stroke")?.includes("color-mix");
  const faint = all(".rg-live .lines_marks path").filter(isFaint);
  return [all(".rg-state").length, faint.length, document.querySelectorAll("#points.rg-is-zoomed").length];
}"""


def test_links_to_what_is_not_there_are_passed_over(reader: Session) -> None:
    """The figure is shown as it is, whether the page is opened so or the reader follows a link on it."""
    reader.do(f"open 'figures/points#{NOWHERE[-1]}'", "wake points")
    strange = []
    for state in NOWHERE:
        # A state that is shown stands before: only its end tells that the next address was read.
        reader.do(
            "follow points~series=MEL~x=20..60",
            "wait \"document.querySelector('.rg-state')\"",
            "press Escape",
            "wait \"!document.querySelector('.rg-state')\"",
            f"follow '{state}'",
        )
        if reader.tab.evaluate(_STATE) != [0, 0, 0]:
            strange.append(state)
    for state in (NOWHERE[0], NOWHERE[1], NOWHERE[7]):
        reader.do(f"go 'figures/points#{state}'", "wake points")
        if reader.tab.evaluate(_STATE) != [0, 0, 0]:
            strange.append(f"opened with {state}")
    assert strange == []
