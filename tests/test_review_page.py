"""Pages and pictures of reviews, read as text and as trees; what they say is in ``review_comments.md``."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import time
import zlib
from html import unescape
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from command_line import call, run
from html_tree import classed, read_html
from hypothesis import given, settings
from made_projects import write_file, write_report
from made_reviews import (
    ANY_REVIEW,
    EVERYTHING,
    MARKUP,
    NOTHING,
    make_curve,
    make_figure,
    make_hostile,
    make_long,
    make_many_figures,
    make_number,
    make_review,
)
from made_states import make_review_page, review_again
from tries import tries

from reportgen.figures.style import DARK, LIGHT
from reportgen.review.comment import PICTURE_WIDTH, CommentContext, name_pictures, write_comment
from reportgen.review.images import draw_pictures, draw_svgs
from reportgen.review.model import Axis, Delta, Estimate, Place, SeriesChange, read_review, write_review

if TYPE_CHECKING:
    from reportgen.review.model import FigureChange, Point, Review

CURVES, SCORES = EVERYTHING.figures[:2]
MADE = {
    "nothing": NOTHING,
    "everything": EVERYTHING,
    "hostile": make_hostile(),
    "long": make_long(),
    "many": make_many_figures(12),
}
BASE = CommentContext(picture_base="https://example.org/p")
FARTHEST = 1e300
# A real review, as the guide shows it; test_example_review holds what it says.
EXAMPLE = Path(__file__).parents[1] / "content/guide/example-review.html"


def read_words(html: str) -> str:
    """The words that a reader sees, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html.partition("<body class=")[2])).split())


@pytest.mark.parametrize("review", MADE.values(), ids=MADE)
def test_the_page_loads_and_runs_nothing_and_its_links_lead_somewhere(review: Review, tmp_path: Path) -> None:
    """No script, no handler, no address but data; the policy allows the one style sheet by its hash.

    Each id is there once, none has the name of a stranger, and every label has its button.
    """
    html = make_review_page(tmp_path, review)
    assert html == make_review_page(tmp_path, review)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert style
    assert policy
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert unescape(policy[1]) == (
        f"default-src 'none'; style-src 'sha256-{digest}'; font-src data:; img-src data:"
        "; base-uri 'none'; form-action 'none'"
    )
    assert set(re.findall(r"url\(\"?([a-z]+:)", style[1])) == {"data:"}
    elements = list(read_html(html).iter())
    ids = [one.attrib["id"] for one in elements if "id" in one.attrib]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in ids)
    for element in elements:
        assert element.tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name != "style"
            assert name not in {"href", "src"} or value.startswith("#") or value == "data:,"
        targets = [element.attrib.get("for"), element.attrib.get("href", "")[1:] or None]
        targets += element.attrib.get("aria-labelledby", "").split()
        assert {target for target in targets if target and target != "ata:,"} <= set(ids)


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    """They are escaped, each has a direction of its own, and what turns or hides words is made visible.

    A picture is shown where no style sheet isolates its words, and holds nothing but drawing elements.
    """
    html = make_review_page(tmp_path, MADE["hostile"])
    assert MARKUP not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert read_words(html).count(MARKUP) > 40
    body = html.partition("<body class=")[2]
    outside = re.sub(r"<bdi>.*?</bdi>|<div class=\"rg-plot.*?</div>|<[^>]+>", " ", body, flags=re.DOTALL)
    legends = re.findall(r'<span class="rg-name" dir="auto">([^<]*)</span>', body)
    assert outside.count("onerror") == sum("onerror" in name for name in legends)
    for _name, svg in draw_svgs(MADE["hostile"], 60):
        assert "var(--rg" not in svg
        assert "\u202e" not in svg
        assert MARKUP not in svg
        assert {element.tag.partition("}")[2] for element in ET.fromstring(svg).iter()} <= {  # noqa: S314
            *("svg", "title", "rect", "g", "line", "text", "path", "circle", "defs", "use")
        }
        assert not re.search(r'(?:href|src)="[^#]|url\(|@import', svg)


def test_long_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    """The page stays small whatever the review holds."""
    numbers = tuple(make_number(f"s{index}", verdict="higher") for index in range(130))
    html = make_review_page(tmp_path, make_many_figures(65).model_copy(update={"numbers": numbers}))
    shown = len(re.findall(r"<bdi>s\d+</bdi>", html)), html.count('<article class="rg-shown"')
    left = [int(count) for count in re.findall(r"(\d+) more are in review\.json\.", read_words(html))]
    assert sorted(left) == sorted((130 - shown[0], 65 - shown[1]))
    assert min(shown) > 20


# ---- pictures on the page


class Drawn:
    """The pictures of a figure on the page of a review."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, figure: FigureChange, state: str = "both") -> ET.Element:
        """One picture as a tree."""
        html = make_review_page(self._folder, make_review(figures=(figure,)))
        (view,) = classed(read_html(html), f"rg-of-{state}")
        return classed(view, "rg-plot")[0]


@pytest.fixture
def draw(tmp_path: Path) -> Drawn:
    """What draws a figure."""
    return Drawn(tmp_path)


def list_lines(root: ET.Element) -> list[ET.Element]:
    """The lines of series, from back to front."""
    return [path for path in root.iter("path") if path.get("class") == "rg-line"]


def test_what_was_is_grey_dashed_and_behind(draw: Drawn) -> None:
    """What did not change is faint behind it, and what is stands in front, solid and in colour.

    All bands are drawn before the first line, so that none tints one.
    """
    drawn = [path for path in draw(CURVES).iter("path") if path.get("class") in {"rg-band", "rg-line"}]
    assert [path.get("class") for path in drawn] == ["rg-band"] * 4 + ["rg-line"] * 6
    looks = [
        (line.get("stroke"), line.get("stroke-dasharray"), line.get("stroke-opacity")) for line in drawn[4:]
    ]
    assert looks == [
        ("var(--rg-series-3)", None, ".4"),
        ("var(--rg-series-4)", None, ".4"),
        ("var(--rg-series-muted)", "3 3", None),
        ("var(--rg-series-muted)", "3 3", None),
        ("var(--rg-series-1)", None, None),
        ("var(--rg-series-2)", None, None),
    ]


def test_of_more_series_than_colours_changed_ones_come_first(draw: Drawn) -> None:
    """They have the first colour, and stand in front."""
    same = tuple(SeriesChange(name=f"s{n}", change="same", after=make_curve(0.2)) for n in range(12))
    changed = SeriesChange(name="last", change="data", before=make_curve(0.3), after=make_curve(0.4))
    assert list_lines(draw(make_figure(series=(*same, changed))))[-1].get("stroke") == "var(--rg-series-1)"


def test_differences_are_in_points() -> None:
    """Of shares; 0 is on their axis, with a line, and no word says percent."""
    root = read_html(EXAMPLE.read_text("utf-8"))
    (figure,) = (one for one in root.iter() if one.get("id") == "figure-3")
    (view,) = classed(figure, "rg-of-both")
    words = [text.text or "" for text in classed(view, "rg-plot")[0].iter("text")]
    assert {"difference (points)", "0", "−4.1 points → −3.2 points"} <= {*words}
    assert not [word for word in words if "%" in word]


def test_an_arrow_leads_from_before_to_after(draw: Drawn) -> None:
    """Where a series differs most, and nowhere else than in the picture of both, which share their axes."""
    roots = [draw(CURVES), draw(CURVES, "before"), draw(CURVES, "after")]
    line, other = (group.find("line") for group in roots[0].iter("g") if group.get("class") == "rg-move")
    assert line is not None
    assert other is not None
    assert float(other.get("y2", "")) < float(other.get("y1", ""))
    assert line.get("x1") == "80%"  # step 960 of 1,200
    assert float(line.get("y2", "")) > float(line.get("y1", ""))
    assert "rg-move" not in ET.tostring(roots[2], "unicode")
    labels = [
        [text.text for group in root.iter("g")
         if group.get("class") in {"rg-x-labels", "rg-y-labels"} for text in group.iter("text")]
        for root in roots
    ]  # fmt: skip
    assert labels[0]
    assert all(one == other for one, other in pairwise(labels))


def test_scores_are_dots_with_what_was_above(draw: Drawn) -> None:
    """Hollow and grey above the new one; what did not change is one grey dot, also without an interval."""
    circles = [
        (circle.get("fill", ""), circle.get("stroke"), float(circle.get("cy", "")))
        for circle in draw(SCORES).iter("circle")
    ]
    hollow = ("var(--rg-bg)", "var(--rg-series-muted)")
    assert circles[0][:2] == circles[-1][:2] == hollow
    assert circles[1][0] == "var(--rg-series-1)"
    assert circles[1][2] > circles[0][2]
    assert [circle[0] for circle in circles].count("var(--rg-series-muted)") == 1
    changed = SeriesChange(
        name="a", change="data", before=((None, 0.2, None, None),), after=((None, 0.3, None, None),)
    )
    same = SeriesChange(name="b", change="same", after=((None, 0.4, None, None),))
    root = draw(SCORES.model_copy(update={"series": (changed, same)}))
    fills = [circle.get("fill") for circle in root.iter("circle")]
    assert fills == ["var(--rg-bg)", "var(--rg-series-1)", "var(--rg-series-muted)"]


# ---- pictures for a comment


def read_png(content: bytes) -> tuple[int, int, list[bytes], bytes]:
    """Width, height, palette and pixels of a PNG with a palette; fails if its parts are not whole."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    parts, place = {}, 8
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        kind, data = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        assert struct.unpack(">I", content[place + 8 + length :][:4]) == (zlib.crc32(kind + data),)
        parts[kind] = data
        place += length + 12
    assert list(parts) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, *kinds = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert kinds == [8, 3, 0, 0, 0]
    rows = zlib.decompress(parts[b"IDAT"])
    assert len(rows) == height * (width + 1)
    colours = parts[b"PLTE"]
    pixels = b"".join(rows[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height))
    return width, height, [colours[n : n + 3] for n in range(0, len(colours), 3)], pixels


def test_each_figure_has_a_light_and_a_dark_picture() -> None:
    """Twice as wide as it is shown, on the ground of GitHub's page, in the colours of the report."""
    files = dict(draw_pictures(EVERYTHING, 4))
    names = ("aime-accuracy", "aime-entropy", "math-scores", "new-reward")
    assert {*files} == {f"benchmarks-{name}-{ground}.png" for name in names for ground in ("light", "dark")}
    for name, content in files.items():
        width, height, palette, pixels = read_png(content)
        assert width == 2 * PICTURE_WIDTH
        assert height < 1000
        tokens = LIGHT if name.endswith("-light.png") else DARK | {"bg": "#0d1117"}
        assert palette[pixels[0]] == palette[pixels[-1]] == bytes.fromhex(tokens["bg"][1:])
        assert bytes.fromhex(tokens["text"][1:]) in palette
        assert any(bytes.fromhex(tokens[f"series-{slot}"][1:]) in palette for slot in range(1, 9))
        assert len(content) < 50_000


def test_pictures_have_names_titles_and_units() -> None:
    """In the order in which they lie; what was is dashed and grey behind what is."""
    drawn = dict(draw_svgs(EVERYTHING, 4))
    root = ET.fromstring(drawn["benchmarks-aime-accuracy-light"])  # noqa: S314 - our own
    lines = [one for one in root.iter() if one.get("class") == "rg-line"]
    dashed = [one.get("stroke") for one in lines if one.get("stroke-dasharray")]
    assert dashed == [LIGHT["series-muted"]] * 2
    assert [one.get("stroke") for one in lines][-2:] == [LIGHT["series-1"], LIGHT["series-2"]]
    words = {"".join(one.itertext()) for one in root.iter() if one.tag.endswith("}text")}
    assert {"Accuracy by step", "pass@1 (%)", "Step", "GRPO", "MEL", "PPO", "SFT"} <= words
    assert "Before grey and dashed, after in colour, unchanged series faint" in words
    assert "benchmarks/aime.md, 3bb89e4a → c0ffee12" in words
    scores = re.findall(r">([^<]+)</text>", drawn["benchmarks-math-scores-light"])
    assert {"40.2% → 45.5%", "40%", "pass@8", "gone: 39.0%"} <= {*scores}


@pytest.mark.slow
def test_equal_reviews_give_equal_pictures(tmp_path: Path) -> None:
    """In another process, too, whose names have other hashes; no other file is written."""
    (tmp_path / "review.json").write_text(write_review(EVERYTHING), encoding="utf-8")
    found = []
    for seed in ("1", "2"):
        done = run(
            tmp_path,
            *("review", "--read", "review.json", "--fail-on", "never", "--pictures", f"to/{seed}"),
            PYTHONHASHSEED=seed,
        )
        assert done.returncode == 0
        files = {path.name: path.read_bytes() for path in (tmp_path / "to" / seed).iterdir()}
        assert sorted(done.stderr.split()) == sorted(f"to/{seed}/{name}" for name in files)
        found.append(files)
    assert found[0] == found[1]
    assert len(found[0]) == 8
    assert {path.name for path in tmp_path.iterdir()} == {"review.json", "to"}


def name_figures(*pairs: tuple[str, str]) -> Review:
    """A review of figures on these pages with these ids, which are their titles, too."""
    return make_review(figures=tuple(make_figure(page, name, name) for page, name in pairs))


@pytest.mark.parametrize(
    "review",
    [
        *(MADE[name] for name in ("everything", "hostile", "long")),
        name_figures(("../../x", "y"), ("../../x", "y"), ("", "\u202e"), ("/etc/passwd", "</svg>")),
        name_figures(("a.md", "\u200b"), ("a.md", "\u2060"), ("a.md", "🎉"), ("a.md", "評測"), ("b", "")),
    ],
    ids=["everything", "hostile", "long", "paths", "invisible"],
)
def test_a_comment_shows_no_picture_that_is_not_drawn(review: Review) -> None:
    """Both choose and name pictures by one rule, before anything is made visible."""
    drawn = [name for name, _svg in draw_svgs(review, 4)]
    assert len(drawn) == len({*drawn}) == 2 * min(4, len(review.figures))
    shown = re.findall(
        r'(?:src|srcset)="https://example\.org/p/([^"]*)"', write_comment(review, surroundings=BASE)
    )
    assert sorted(shown) == sorted(f"{name}.png" for name in drawn)
    assert all(re.fullmatch(r"[a-z0-9-]{1,90}", name) for name in drawn)
    assert [name for name, _svg in draw_svgs(review, 60)][: len(drawn)] == drawn


def test_many_series_and_rows_are_cut() -> None:
    """To the series that moved most, as many as colours can distinguish; the words say how many there are."""
    series = tuple(
        SeriesChange(
            name=f"s{n}",
            change="data",
            at=Place(step=20.0, delta=(-1) ** n * n / 100, beyond_band=False),
            before=make_curve(0.3, 3),
            after=make_curve(0.3 + n / 100, 3),
        )
        for n in range(40)
    )
    for first in (0, 31):
        review = make_review(figures=(make_figure(series=series[first:]),))
        svg = dict(draw_svgs(review, 4))["a-a-light"]
        assert f"8 of {40 - first} series" in svg
        assert set(re.findall(r">(s\d+)</text>", svg)) == {f"s{n}" for n in range(32, 40)}
        assert all(LIGHT[f"series-{slot}"] in svg for slot in range(1, 9))
    points = tuple((None, n / 100, None, None) for n in range(90))
    one = SeriesChange(name="runs", change="data", before=points, after=points[::-1])
    figure = SCORES.model_copy(update={"series": (one,)})
    svg = dict(draw_svgs(make_review(figures=(figure,)), 4))["benchmarks-math-scores-dark"]
    assert "the first 16 rows" in svg
    assert svg.count("→ ") == 16 + 1
    assert int(re.findall(r'height="(\d+)"', svg)[0]) < 1000


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_worst_review_takes_seconds(scale: str) -> None:
    """As many series as may be, of huge numbers and with long names, make files of an ordinary size."""
    points = tuple((float(n), (-1) ** n * FARTHEST, -FARTHEST, FARTHEST) for n in range(60))
    series = tuple(
        SeriesChange(name=f"{n} 🎉" * 50, change="data", before=points, after=points[::-1])
        for n in range(200)
    )
    y = Axis.model_validate({"title": "y" * 300, "scale": scale})
    worst = make_figure(title="评" * 2000, series=series, x=Axis(title="x" * 300), y=y)
    review = read_review(write_review(make_review(figures=(worst,))))
    start = time.process_time()
    files = dict(draw_pictures(review, 4))
    assert time.process_time() - start < 20
    for content in files.values():
        width, height, _palette, _pixels = read_png(content)
        assert (width, height < 1500, len(content) < 300_000) == (880, True, True)


def test_a_figure_without_points_has_no_picture() -> None:
    """As after a large review was thinned; neither is there anything to write."""
    empty = SeriesChange(name="a", change="data")
    new = SeriesChange(name="a", change="new", before=make_curve(0.1))
    assert name_pictures(make_review(figures=(make_figure(series=(empty,)),))) == {}
    # Of a new figure, only what is now is drawn, though a stranger says more.
    for x in (Axis(), Axis(scale="series")):
        strange = make_figure(series=(empty, new), change="new", x=x)
        assert len(list(draw_pictures(make_review(figures=(strange,)), 4))) == 2


# ---- numbers of strangers

POINTS: tuple[tuple[Point, ...], ...] = (
    ((0.0, 0.0, None, None),),
    ((-1e308, 1e308, -1e308, 1e308), (1e308, -1e308, None, None)),
    ((5e-324, 5e-324, 0.0, 1.0), (1.0, 1e-310, None, None)),
    ((3.0, 1.0, 2.0, 0.5), (1.0, 1.0, 2.0, 0.5), (1.0, 2.0, None, None)),
    ((None, 1.0, None, None),),
    ((None, 1.0, None, None), (2.0, 1.0, None, None)),
)


@settings(max_examples=tries(20, 200))
@given(ANY_REVIEW)
def test_no_number_breaks_an_output(review: Review) -> None:
    """Whatever a file holds that follows the schema: lines, page and pictures, each of a decent length."""
    with TemporaryDirectory() as folder:
        done = review_again(Path(folder), review)
        html = Path(folder, "review/review.html").read_text("utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) < 1_700
    assert not re.search(r'"(nan|inf)', html)
    for _, svg in draw_svgs(review, 4):
        assert not re.search(r'"(nan|inf)', svg)
        ET.fromstring(svg)  # noqa: S314 - our own


def make_extreme(points: tuple[Point, ...], name: str = "a", **axes: Any) -> FigureChange:  # noqa: ANN401 - axes of a figure
    """A figure of which a series has these points."""
    at = Place(step=points[0][0], delta=1e308, beyond_band=True)
    one = SeriesChange(name="a", change="data", before=points, after=points[:1], at=at)
    return make_figure(name=name, series=(one,), **axes)


@pytest.mark.parametrize("scale", ["linear", "log", "time"])
@pytest.mark.parametrize("points", POINTS)
def test_any_number_can_be_drawn(points: tuple[Point, ...], scale: str) -> None:
    """A review may come from a stranger: its numbers are finite, and no more is known of them."""
    axes = [Axis.model_validate({"scale": scale, "percent": percent}) for percent in (False, True)]
    for y in axes:
        for x in (axes[0], Axis(scale="series")):
            for _name, svg in draw_svgs(make_review(figures=(make_extreme(points, x=x, y=y),)), 4):
                assert not re.search(r'"(nan|inf)', svg)
                ET.fromstring(svg)  # noqa: S314 - our own


def test_any_number_can_be_drawn_on_a_page(tmp_path: Path) -> None:
    """By the same rules, and every figure that changed has a picture."""
    figures = tuple(make_extreme(points, f"f{place}") for place, points in enumerate(POINTS))
    html = make_review_page(tmp_path, make_review(figures=figures))
    assert "nan" not in read_words(html).lower()
    assert not re.search(r'"(nan|inf)', html)
    assert len(classed(read_html(html), "rg-of-both")) == sum(len(points) > 1 for points in POINTS)


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-9, 1e12, 1e308])
@pytest.mark.parametrize("percent", [False, True])
def test_any_number_can_be_said_in_a_comment(size: float, *, percent: bool) -> None:
    """In a few words, and strips."""
    number = make_number(
        "a",
        percent=percent,
        verdict="higher",
        before=Estimate(value=size, low=-size, high=size),
        after=Estimate(value=-size),
        delta=Delta(value=-2 * size if size < 1e308 else -size, low=-size, high=size, p=0.0),
    )
    assert max(map(len, write_comment(make_review(numbers=(number,))).splitlines())) < 220


SMALL = ((0.0, 5e-324), (5e-324, 1e-9), (1e-9, -1e-9))
SIZES = {"numbers": (*SMALL, (1e12, -1e12), (1e300, -1e300)), "shares": SMALL}


def test_any_number_can_be_said(tmp_path: Path) -> None:
    """In a few words: on the page, and in the terminal."""
    blocks = "```curve\nsource: numbers\n```\n\n```curve\nsource: shares\nformat: percent\n```\n"
    for place, state in enumerate(("before", "after")):
        root = write_report(
            tmp_path / state, {"content/index.md": f"# Any\n\n{blocks}", "data/runs.csv": None}
        )
        for name, sizes in SIZES.items():
            rows = (
                f"s{number},{run},1,{pair[place] * (1 + run / 10)!r}\n"
                for number, pair in enumerate(sizes)
                for run in range(3)
            )
            write_file(root / f"data/{name}.csv", "series,seed,step,accuracy\n" + "".join(rows))
    done = call(tmp_path, "review", "before", "after", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    review = read_review((tmp_path / "review/review.json").read_bytes())
    html = (tmp_path / "review/review.html").read_text("utf-8")
    assert [one.percent for one in review.numbers] == [False] * 5 + [True] * 3
    assert max(map(len, done.stdout.splitlines())) < 130
    assert (
        max(map(len, re.findall(r">([^<]+)</span>", html.partition("<tbody")[2].partition("</table>")[0])))
        < 120
    )
