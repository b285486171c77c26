"""``reportgen pictures``: PNG files for a comment, whatever a stranger's review says."""

from __future__ import annotations

import re
import struct
import time
import zlib
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from command_line import call, run
from shown_reviews import (
    HOSTILE,
    make_curve,
    make_curve_figure,
    make_everything,
    make_hostile,
    make_long,
    make_nothing,
    make_score_figure,
)

from reportgen.figures.style import DARK, LIGHT
from reportgen.review.comment import PICTURE_WIDTH, CommentContext, name_pictures, write_comment
from reportgen.review.images import draw_pictures, draw_svgs
from reportgen.review.model import Axis, Place, SeriesChange, read_review, write_review

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.review.model import FigureChange, Review

BASE = CommentContext(picture_base="https://example.org/p")
FARTHEST = 1e300


def say(*figures: FigureChange) -> Review:
    """A review of which these figures changed."""
    return make_nothing().model_copy(update={"figures": figures})


def name_figures(*pairs: tuple[str, str]) -> Review:
    """A review of figures on these pages with these ids, which are their titles, too."""
    figure = make_curve_figure()
    return say(*(figure.model_copy(update={"page": page, "id": id_, "title": id_}) for page, id_ in pairs))


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


def list_links(review: Review) -> list[str]:
    """Names of the files that a comment shows."""
    comment = write_comment(review, surroundings=BASE)
    return re.findall(r'(?:src|srcset)="https://example\.org/p/([^"]*)"', comment)


def test_each_figure_has_a_light_and_a_dark_picture() -> None:
    """Twice as wide as it is shown, on the ground of GitHub's page, in the colours of the report."""
    files = dict(draw_pictures(make_everything(), 4))
    names = ("aime-accuracy", "aime-entropy", "math-scores", "new-reward")
    expected = {f"benchmarks-{name}-{ground}.png" for name in names for ground in ("light", "dark")}
    assert {*files} == expected
    for name, content in files.items():
        width, height, palette, pixels = read_png(content)
        assert width == 2 * PICTURE_WIDTH
        assert height < 1000
        tokens = LIGHT if name.endswith("-light.png") else DARK | {"bg": "#0d1117"}
        assert palette[pixels[0]] == palette[pixels[-1]] == bytes.fromhex(tokens["bg"][1:])
        assert bytes.fromhex(tokens["text"][1:]) in palette
        assert any(bytes.fromhex(tokens[f"series-{slot}"][1:]) in palette for slot in range(1, 9))
        assert len(content) < 50_000


def test_what_was_is_dashed_and_grey_behind_what_is() -> None:
    """With bands, names, axis titles and units, in the order in which they lie."""
    svg = dict(draw_svgs(make_everything(), 4))["benchmarks-aime-accuracy-light"]
    root = ET.fromstring(svg)  # noqa: S314 - our own
    lines = [one for one in root.iter() if one.get("class") == "rg-line"]
    dashed = [one.get("stroke") for one in lines if one.get("stroke-dasharray")]
    assert dashed == [LIGHT["series-muted"]] * 2
    inks = [one.get("stroke") for one in lines]
    assert inks[-2:] == [LIGHT["series-1"], LIGHT["series-2"]]
    assert len([one for one in root.iter() if one.get("class") == "rg-band"]) == 4
    words = ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("}text")]
    assert {"Accuracy by step", "pass@1 (%)", "Step", "GRPO", "MEL", "PPO", "SFT"} <= {*words}
    assert "Before grey and dashed, after in colour, unchanged series faint" in words
    assert "benchmarks/aime.md, 3bb89e4a → c0ffee12" in words
    scores = dict(draw_svgs(make_everything(), 4))["benchmarks-math-scores-light"]
    assert {"40.2% → 45.5%", "40%", "pass@8", "gone: 39.0%"} <= {*re.findall(r">([^<]+)</text>", scores)}


@pytest.mark.slow
def test_equal_reviews_give_equal_bytes(tmp_path: Path) -> None:
    """In another process, too, whose names have other hashes; no other file is written."""
    (tmp_path / "review.json").write_text(write_review(make_everything()), encoding="utf-8")
    found = []
    for seed in ("1", "2"):
        done = run(tmp_path, "pictures", "review.json", "--to", f"to/{seed}", PYTHONHASHSEED=seed)
        assert (done.returncode, done.stderr) == (0, "")
        files = {path.name: path.read_bytes() for path in (tmp_path / "to" / seed).iterdir()}
        assert sorted(done.stdout.split()) == sorted(f"to/{seed}/{name}" for name in files)
        found.append(files)
    assert found[0] == found[1]
    assert len(found[0]) == 8
    assert {path.name for path in tmp_path.iterdir()} == {"review.json", "to"}


@pytest.mark.parametrize(
    "review",
    [
        make_everything(),
        make_hostile(),
        make_long(),
        name_figures(("../../x", "y"), ("../../x", "y"), ("", "\u202e"), ("/etc/passwd", "</svg>")),
        name_figures(("a.md", "\u200b"), ("a.md", "\u2060"), ("a.md", "🎉"), ("a.md", "評測"), ("b", "")),
    ],
    ids=["everything", "hostile", "long", "paths", "invisible"],
)
def test_a_comment_shows_no_picture_that_is_not_drawn(review: Review) -> None:
    """Both choose and name pictures by one rule, before anything is made visible."""
    drawn = [name for name, _svg in draw_svgs(review, 4)]
    assert len(drawn) == len({*drawn}) == 2 * min(4, len(review.figures))
    assert sorted(list_links(review)) == sorted(f"{name}.png" for name in drawn)
    assert all(re.fullmatch(r"[a-z0-9-]{1,90}", name) for name in drawn)
    more = [name for name, _svg in draw_svgs(review, 60)]
    assert more[: len(drawn)] == drawn


def test_hostile_words_stay_words() -> None:
    """A picture is shown where no style sheet isolates its words, and holds nothing but drawing elements."""
    review = make_hostile()
    for _name, svg in draw_svgs(review, 60):
        assert "var(--rg" not in svg
        assert "\u202e" not in svg
        assert HOSTILE not in svg
        assert {element.tag.partition("}")[2] for element in ET.fromstring(svg).iter()} <= {  # noqa: S314
            *("svg", "title", "rect", "g", "line", "text", "path", "circle", "defs", "use")
        }
        assert not re.search(r'(?:href|src)="[^#]|url\(|@import', svg)


def test_many_series_are_those_that_moved_most() -> None:
    """As many as colours can distinguish; the words say how many there are."""
    series = tuple(
        SeriesChange(
            name=f"s{n}",
            change="data",
            at=Place(step=20.0, delta=(-1) ** n * n / 100, beyond_band=False),
            before=make_curve(0.3, steps=3),
            after=make_curve(0.3 + n / 100, steps=3),
        )
        for n in range(40)
    )
    figure = make_curve_figure().model_copy(update={"series": series})
    svg = dict(draw_svgs(say(figure), 4))["benchmarks-aime-accuracy-light"]
    assert "8 of 40 series" in svg
    assert set(re.findall(r">(s\d+)</text>", svg)) == {f"s{n}" for n in range(32, 40)}
    assert all(LIGHT[f"series-{slot}"] in svg for slot in range(1, 9))


def test_many_rows_are_cut() -> None:
    """A figure with many runs would be as high as a house."""
    points = tuple((None, n / 100, None, None) for n in range(90))
    one = SeriesChange(name="runs", change="data", before=points, after=points[::-1])
    figure = make_score_figure().model_copy(update={"series": (one,)})
    svg = dict(draw_svgs(say(figure), 4))["benchmarks-math-scores-dark"]
    assert "the first 16 rows" in svg
    assert svg.count("→ ") == 16 + 1
    assert int(re.findall(r'height="(\d+)"', svg)[0]) < 1000


def make_worst(scale: str) -> FigureChange:
    """As many series as a figure may have, of huge numbers, with names as long as they may be."""
    points = tuple((float(n), (-1) ** n * FARTHEST, -FARTHEST, FARTHEST) for n in range(60))
    series = tuple(
        SeriesChange(name=f"{n} 🎉" * 50, change="data", before=points, after=points[::-1])
        for n in range(200)
    )
    axes = {"x": Axis(title="x" * 300), "y": Axis.model_validate({"title": "y" * 300, "scale": scale})}
    return make_curve_figure().model_copy(update={"title": "评" * 2000, "series": series, **axes})


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_worst_review_takes_seconds(scale: str) -> None:
    """And makes files of an ordinary size."""
    review = read_review(write_review(say(make_worst(scale))))
    start = time.perf_counter()
    files = dict(draw_pictures(review, 4))
    assert time.perf_counter() - start < 20
    for content in files.values():
        width, height, _palette, _pixels = read_png(content)
        assert (width, height < 1500, len(content) < 300_000) == (880, True, True)


def test_a_figure_without_points_has_no_picture() -> None:
    """As after a large review was thinned; neither is there anything to write."""
    empty = SeriesChange(name="a", change="data")
    new = SeriesChange(name="a", change="new", before=make_curve(0.1))
    figure = make_curve_figure()
    assert name_pictures(say(figure.model_copy(update={"series": (empty,)}))) == {}
    # Of a new figure, only what is now is drawn, though a stranger says more.
    for x in (Axis(), Axis(scale="series")):
        strange = figure.model_copy(update={"series": (empty, new), "change": "new", "x": x})
        assert len(list(draw_pictures(say(strange), 4))) == 2


@pytest.mark.filterwarnings("ignore:Exception ignored in")  # click leaves a file open where options are wrong
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("review.json", "--to", "x", "--most", "3"), "'--most'"),
        (("review.json",), "'--to'"),
        (("none.json", "--to", "x"), "none.json"),
        (("mkdocs.yml", "--to", "x"), "this is not a review of format 1"),
        (("review.json", "--to", "review.json/x"), "the review cannot be written"),
    ],
)
def test_mistakes_are_said(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    """In words, and nothing is written."""
    (tmp_path / "review.json").write_text(write_review(make_everything()), encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: x", encoding="utf-8")
    done = call(tmp_path, "pictures", *words)
    assert done.returncode in {1, 2}
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"review.json", "mkdocs.yml"}
