"""``review.html`` and the pictures of a review, read as text and as trees."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from html_tree import read_html
from hypothesis import given, settings
from made_comments import ANY_REVIEW
from shown_reviews import (
    HOSTILE,
    make_curve,
    make_curve_figure,
    make_everything,
    make_hostile,
    make_many_figures,
    make_nothing,
    make_number,
    make_score_figure,
    make_statement,
)
from tries import tries

from reportgen.review.comment import write_comment
from reportgen.review.images import draw_svgs
from reportgen.review.model import (
    Axis,
    Counts,
    Delta,
    Estimate,
    Origin,
    Place,
    Review,
    SeriesChange,
)
from reportgen.review.page.document import MOST_FIGURES, write_page
from reportgen.review.page.judged import MOST_ROWS
from reportgen.review.page.pictures import assign_review_slots, draw_view, list_states
from reportgen.review.text import list_lines as list_text
from reportgen.review.words import describe_findings

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.review.model import FigureChange

MADE = {
    "nothing": make_nothing,
    "everything": make_everything,
    "hostile": make_hostile,
    "many": lambda: make_many_figures(12),
}


def read_words(html: str) -> str:
    """What a page says, without its style sheet and its pictures."""
    body = re.sub(r"<(style|svg)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def say(**given: object) -> Review:
    """A review of which something is other than nothing."""
    return make_nothing().model_copy(update=given)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_equal_reviews_give_equal_bytes(make: Callable[[], Review]) -> None:
    """Nothing depends on when or where the page is written."""
    assert write_page(make()) == write_page(make())


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_the_page_loads_and_runs_nothing(make: Callable[[], Review]) -> None:
    """No script, no handler, no address but data; the policy allows the one style sheet by its hash."""
    html = write_page(make())
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy
    assert unescape(policy[1]) == (
        f"default-src 'none'; style-src 'sha256-{digest}'; font-src data:; img-src data:"
        "; base-uri 'none'; form-action 'none'"
    )
    root = read_html(html)
    for element in root.iter():
        assert element.tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name != "style"
            if name in {"href", "src"}:
                assert value.startswith("#") or value == "data:,"
    assert set(re.findall(r"url\(\"?([a-z]+:)", style[1])) == {"data:"}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_ids_are_there_once_and_links_lead_to_them(make: Callable[[], Review]) -> None:
    """Names of strangers are in no id, and every label has its button."""
    root = read_html(write_page(make()))
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in ids)
    for element in root.iter():
        targets = [element.attrib.get("for"), element.attrib.get("href", "")[1:] or None]
        targets += element.attrib.get("aria-labelledby", "").split()
        assert {target for target in targets if target and target != "ata:,"} <= set(ids)


def test_hostile_words_stay_words() -> None:
    """They are escaped, each has a direction of its own, and what turns or hides words is made visible."""
    html = write_page(make_hostile())
    assert HOSTILE not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert read_words(html).count(HOSTILE) > 40
    body = html.partition("<body>")[2]
    outside = re.sub(r"<bdi>.*?</bdi>|<div class=\"rg-plot.*?</div>|<[^>]+>", " ", body, flags=re.DOTALL)
    legends = re.findall(r'<span class="rg-name" dir="auto">([^<]*)</span>', body)
    assert outside.count("onerror") == sum("onerror" in name for name in legends)


def test_a_page_of_nothing_says_so() -> None:
    """It is a normal page with both states, and without a list of contents."""
    words = read_words(write_page(make_nothing()))
    assert "longer-training against main Nothing changed." in words
    assert "main 3bb89e4a reportgen 0.3.0" in words
    assert "longer-training c0ffee12 built as merge deadbeef · reportgen 0.3.0" in words
    assert "Both states have the same statements" in words
    assert "<nav" not in write_page(make_nothing())


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        (
            Counts(flipped=2, differences=3, unclear=5),
            "2 claims became false, 3 numbers moved by more than noise, 5 changes may be noise.",
        ),
        (Counts(unclear=1), "1 change may be noise."),
        (Counts(stale_values=1), "1 number in the text no longer matches the data."),
        (Counts(new=2), "No statement became false, and no number moved by more than noise."),
    ],
)
def test_the_verdict_is_a_sentence(counts: Counts, verdict: str) -> None:
    """What matters most comes first, in words."""
    changed = say(counts=counts, pages=make_everything().pages)
    assert describe_findings(changed) == verdict
    assert verdict in read_words(write_page(changed))


def test_a_flipped_claim_has_its_sentence_its_reasons_and_its_cause() -> None:
    """A sentence that stayed is there once; one that was reworded is there twice."""
    claim = make_statement()
    words = read_words(write_page(say(statements=(claim,))))
    assert "became false benchmarks/aime.md:44 because the data changed GRPO ends above MEL. Before" in words
    assert "After fails. GRPO ends at 29.0% [26.5, 31.5], MEL at 30.2% [28.3, 32.1]." in words
    assert "Checked as final(GRPO) > final(MEL)" in words
    assert words.count("GRPO ends above MEL.") == 1
    assert claim.after
    other = claim.after.model_copy(update={"words": "GRPO leads."})
    words = read_words(write_page(say(statements=(claim.model_copy(update={"after": other}),))))
    assert "GRPO ends above MEL." in words
    assert "GRPO leads." in words


def test_numbers_are_sorted_by_how_clear_they_are() -> None:
    """By the difference in half widths; what has no interval comes last."""
    numbers = (
        make_number("far", (0.2, 0.02), (0.9, 0.02), 0.5, "higher"),
        make_number("sharp", (0.2, 0.02), (0.3, 0.02), 0.01, "lower"),
        make_number("bare", (0.2, 0.02), (0.9, 0.02), 0.0, "higher", delta=Delta(value=0.7)),
        make_number("noise", (0.2, 0.02), (0.9, 0.02), 0.001, "unclear"),
    )
    html = write_page(say(numbers=numbers))
    places = [html.index(f"<bdi>{name}</bdi>") for name in ("sharp", "far", "bare", "noise")]
    assert places == sorted(places)


def test_only_a_known_direction_is_coloured_and_it_is_said_too() -> None:
    """Colour is never alone."""
    html = write_page(make_everything())
    rows = re.findall(r'<tr role="row"( class="rv-is-(better|worse)")?>(.*?)</tr>', html, re.DOTALL)
    for _, good, row in rows:
        said = re.findall(r'<span class="rv-line">(better|worse)</span>', row)
        assert said == ([good] if good else [])
    assert [good for _, good, _ in rows if good] == ["better", "worse"]
    words = read_words(html)
    assert "▲ higher better p < 0.001 adjusted" in words
    assert "−3.4 points [−5.5, −1.3] ▼ lower worse" in words


def test_a_state_that_could_not_be_built_is_said_at_the_top() -> None:
    """With the reason."""
    base = Origin(kind="revision", name="main", built=False, why="content/a.md has an error.")
    words = read_words(write_page(say(base=base)))
    assert "Before could not be built. content/a.md has an error." in words


def test_long_lists_are_cut_and_say_so() -> None:
    """The page stays small whatever the review holds."""
    numbers = tuple(
        make_number(f"s{index}", (0.2, 0.02), (0.3, 0.02), 0.05, "higher") for index in range(MOST_ROWS + 30)
    )
    words = read_words(
        write_page(make_many_figures(MOST_FIGURES + 5).model_copy(update={"numbers": numbers}))
    )
    assert "30 more are in review.json." in words
    assert "5 more are in review.json." in words


# ---- pictures


def draw(figure: FigureChange, state: str = "both") -> ET.Element:
    """One picture as a tree."""
    review = say(figures=(figure,))
    (name,) = (one for one in list_states(figure) if one == state)
    view = draw_view(figure, name, assign_review_slots(review), name="one", labelled_by="a b")
    return ET.fromstring(view.svg)  # noqa: S314 - our own


def list_lines(root: ET.Element) -> list[ET.Element]:
    """The lines of series, from back to front."""
    return [path for path in root.iter("path") if path.get("class") == "rg-line"]


def test_what_was_is_grey_dashed_and_behind() -> None:
    """What did not change is faint behind it, and what is stands in front, solid and in colour."""
    lines = list_lines(draw(make_curve_figure()))
    looks = [(line.get("stroke"), line.get("stroke-dasharray"), line.get("stroke-opacity")) for line in lines]
    assert looks == [
        ("var(--rg-series-3)", None, ".4"),
        ("var(--rg-series-4)", None, ".4"),
        ("var(--rg-series-muted)", "3 3", None),
        ("var(--rg-series-muted)", "3 3", None),
        ("var(--rg-series-1)", None, None),
        ("var(--rg-series-2)", None, None),
    ]


def test_lines_have_the_colours_of_the_report() -> None:
    """Where the review says them; a series without one is grey, as on the report's page."""
    figure = make_curve_figure()
    slots = (6, None, 2, 3)
    series = tuple(
        one.model_copy(update={"slot": slot}) for one, slot in zip(figure.series, slots, strict=True)
    )
    drawn = list_lines(draw(figure.model_copy(update={"series": series}), "after"))
    names = sorted(line.get("stroke", "").removeprefix("var(--rg-series-") for line in drawn)
    assert names == ["3)", "4)", "7)", "muted)"]


def test_differences_are_in_points() -> None:
    """Of shares; 0 is on their axis, with a line, and no word says percent."""
    figure = make_score_figure()
    root = draw(figure.model_copy(update={"y": figure.y.model_copy(update={"difference": True})}))
    words = [text.text or "" for text in root.iter("text")]
    assert "pass@8 (points)" in words
    assert "0" in words
    assert "+40.2 points → +45.5 points" in words
    assert not [word for word in words if "%" in word]


def test_no_band_tints_a_line() -> None:
    """All bands are drawn before the first line."""
    drawn = [path.get("class") for path in draw(make_curve_figure()).iter("path")]
    kinds = [kind for kind in drawn if kind in {"rg-band", "rg-line"}]
    assert kinds == ["rg-band"] * 4 + ["rg-line"] * 6


def test_an_arrow_leads_from_before_to_after() -> None:
    """Where a series differs most, and nowhere else than in the picture of both."""
    figure = make_curve_figure()
    (arrow,) = [group for group in draw(figure).iter("g") if group.get("class") == "rv-move"]
    line = arrow.find("line")
    assert line is not None
    assert line.get("x1") == "67.7966%"
    assert float(line.get("y2", "")) > float(line.get("y1", ""))
    assert "rv-move" not in ET.tostring(draw(figure, "after"), "unicode")


def test_all_pictures_of_a_figure_have_one_pair_of_axes() -> None:
    """Side by side, equal heights are equal values."""
    labels = [
        [text.text for group in draw(make_curve_figure(), state).iter("g")
         if group.get("class") in {"rg-x-labels", "rg-y-labels"} for text in group.iter("text")]
        for state in ("both", "before", "after")
    ]  # fmt: skip
    assert labels[0]
    assert all(one == other for one, other in pairwise(labels))


def test_scores_are_dots_with_what_was_above() -> None:
    """Hollow and grey above the new one; what did not change is one grey dot."""
    circles = [
        (circle.get("fill", ""), circle.get("stroke"), float(circle.get("cy", "")))
        for circle in draw(make_score_figure()).iter("circle")
    ]
    hollow = ("var(--rg-bg)", "var(--rg-series-muted)")
    assert circles[0][:2] == hollow
    assert circles[1][0] == "var(--rg-series-1)"
    assert circles[1][2] > circles[0][2]
    assert [circle[0] for circle in circles].count("var(--rg-series-muted)") == 1
    assert circles[-1][:2] == hollow


def test_only_what_was_is_hollow() -> None:
    """Also where no interval is known, as of single runs."""
    changed = SeriesChange(
        name="a", change="data", before=((None, 0.2, None, None),), after=((None, 0.3, None, None),)
    )
    same = SeriesChange(name="b", change="same", after=((None, 0.4, None, None),))
    root = draw(make_score_figure().model_copy(update={"series": (changed, same)}))
    fills = [circle.get("fill") for circle in root.iter("circle")]
    assert fills == ["var(--rg-bg)", "var(--rg-series-1)", "var(--rg-series-muted)"]


@settings(max_examples=tries(20, 200))
@given(ANY_REVIEW)
def test_no_number_breaks_an_output(review: Review) -> None:
    """Whatever a file holds that follows the schema: lines, page and pictures, each of a decent length."""
    assert max(map(len, list_text(review))) < 1_700
    assert not re.search(r'"(nan|inf)', write_page(review))
    for _, svg in draw_svgs(review, 4):
        assert not re.search(r'"(nan|inf)', svg)
        ET.fromstring(svg)  # noqa: S314 - our own


@pytest.mark.parametrize("scale", ["linear", "log", "time"])
@pytest.mark.parametrize(
    "points",
    [
        ((0.0, 0.0, None, None),),
        ((-1e308, 1e308, -1e308, 1e308), (1e308, -1e308, None, None)),
        ((5e-324, 5e-324, 0.0, 1.0), (1.0, 1e-310, None, None)),
        ((3.0, 1.0, 2.0, 0.5), (1.0, 1.0, 2.0, 0.5), (1.0, 2.0, None, None)),
        ((None, 1.0, None, None),),
        ((None, 1.0, None, None), (2.0, 1.0, None, None)),
    ],
)
def test_any_number_can_be_drawn(points: tuple[tuple[float | None, ...], ...], scale: str) -> None:
    """A review may come from a stranger: its numbers are finite, and no more is known of them."""
    one = SeriesChange.model_validate(
        {"name": "a", "change": "data", "before": points, "after": points[:1],
         "at": Place(step=points[0][0], delta=1e308, beyond_band=True)}
    )  # fmt: skip
    axes = [Axis.model_validate({"scale": scale, "percent": percent}) for percent in (False, True)]
    for y in axes:
        for x in (axes[0], Axis(scale="series")):
            figure = make_curve_figure().model_copy(update={"series": (one,), "x": x, "y": y})
            review = say(figures=(figure,))
            assert "nan" not in read_words(write_page(review)).lower()
            for _name, svg in draw_svgs(review, 4):
                assert not re.search(r'"(nan|inf)', svg)
                ET.fromstring(svg)  # noqa: S314 - our own


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-9, 1e12, 1e308])
@pytest.mark.parametrize("percent", [False, True])
def test_any_number_can_be_said(size: float, *, percent: bool) -> None:
    """In a few words: on the page, in the terminal, and in the comment with its strips."""
    number = make_number("a", (0.1, 0.1), (0.2, 0.1), 0.1, "higher").model_copy(
        update={
            "percent": percent,
            "before": Estimate(value=size, low=-size, high=size),
            "after": Estimate(value=-size),
            "delta": Delta(value=-2 * size if size < 1e308 else -size, low=-size, high=size, p=0.0),
        }
    )
    review = say(numbers=(number,))
    assert max(map(len, re.findall(r">([^<]+)</span>", write_page(review).partition("<tbody")[2]))) < 120
    assert max(map(len, list_text(review))) < 120
    assert max(map(len, write_comment(review).splitlines())) < 220


def test_many_series_keep_colour_where_they_changed() -> None:
    """Of more than eight, those that changed come first."""
    same = tuple(SeriesChange(name=f"s{n}", change="same", after=make_curve(0.2)) for n in range(12))
    changed = SeriesChange(name="last", change="data", before=make_curve(0.3), after=make_curve(0.4))
    figure = make_curve_figure().model_copy(update={"series": (*same, changed)})
    assert list_lines(draw(figure))[-1].get("stroke") == "var(--rg-series-1)"
