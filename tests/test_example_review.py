"""The review that the guide shows: made of two states of the example report, and said as accepted.

The first is as it is, the second what a branch could make: v10 was trained again from iteration 1100 on,
v1 has two more seeds, and v10 was sampled again at iteration 900. The words of the AIME page follow, and one
sentence of MATH500 is reworded; those of the overview were forgotten. ``python tests/test_example_review.py``
takes the picture of the comment, drawn about as GitHub does. What it was made of stands in it, so that a test
sees when the comment has become another.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import random
import re
import struct
import sys
import zlib
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

import pytest
from command_line import call
from example_site import ROOT, copy_example, made_once, run
from find_chromium import find_chromium, what_is_missing
from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable

COMMENT: Final = Path(__file__).parent / "example_review/comment.md"
GUIDE: Final = ROOT / "content/guide/review.md"
PICTURE: Final = ROOT / "content/guide/review-comment.png"
PRINTED: Final = re.compile(r"(?<=^```text\n)Before: .*?(?=^```$)", re.MULTILINE | re.DOTALL)
MOST_BYTES: Final = 120_000
MOST_ENTRIES: Final = 3
"""Of one kind, in what the guide shows of what is printed."""
BEFORE: Final = "main"
AFTER: Final = "retrained-v10"

_WORDS: Final = Path(__file__).parent / "example_review/words.patch"
_V10: Final = "v10-l1-length-4096"
_V1: Final = "v1-l1-length-4096"
# How far each of five seeds is above what it was.
_GAINS: Final = {
    "1200": (0.0305, 0.0205, 0.022, 0.018, 0.024),
    "1300": (0.0115, 0.0045, 0.0035, 0.0105, 0.005),
    "1400": (0.019, 0.018, 0.012, 0.013, 0.018),
}

Rows = list[dict[str, str]]


def write_states(folder: Path) -> None:
    """Write both states without the guide, each into a folder of its name."""
    copy_example(folder / BEFORE, "guide")
    root = copy_example(folder / AFTER, "guide")
    changed = run(root, "git", "apply", str(_WORDS))
    assert changed.returncode == 0, f"change {_WORDS} with the pages of the example:\n{changed.stderr}"
    # The runs of the example are illustrative; here they stand for measured ones, which are tested.
    for state in (BEFORE, AFTER):
        source = folder / state / "data/aime/source.yml"
        source.write_text(source.read_text("utf-8").replace("illustrative: true\n", ""), "utf-8")
    _change_rows(root / "data/aime/runs.csv", _train_again)
    _change_rows(root / "data/aime-outcomes/outcomes.csv", _sample_again)


def _change_rows(file: Path, change: Callable[[Rows], Rows]) -> None:
    rows = change(list(csv.DictReader(file.read_text("utf-8").splitlines())))
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _train_again(rows: Rows) -> Rows:
    """Three checkpoints of v10 are others; seeds 6 and 7 of v1 lie on both sides of its mean."""
    before: dict[str, list[float]] = {}
    for row in rows:
        if row["series"] == _V1:
            before.setdefault(row["iteration"], []).append(float(row["pass@1"]))
        elif row["iteration"] in _GAINS:
            gain = _GAINS[row["iteration"]][int(row["seed"]) - 1]
            row["pass@1"] = f"{float(row['pass@1']) + gain:.6f}"
    for seed, share in (("6", 0.8), ("7", -0.8)):
        for iteration, values in before.items():
            # The first two checkpoints are said to be equal to those of v10.
            mean = fmean(values) + (0.001 if int(iteration) > 200 else 0)
            value = f"{mean + share * (values[0] - fmean(values)):.6f}"
            rows.append({"series": _V1, "seed": seed, "iteration": iteration, "pass@1": value})
    return rows


def _sample_again(rows: Rows) -> Rows:
    """Each answer of v10 is drawn again: right as often as its run was on the problem."""
    draw = random.Random(2)  # noqa: S311 - answers, not secrets
    drawn = [row for row in rows if row["series"] == _V10]
    scores: dict[tuple[str, str], list[int]] = {}
    for row in drawn:
        scores.setdefault((row["seed"], row["problem"]), []).append(int(row["score"]))
    for row in drawn:
        row["score"] = str(int(draw.random() < fmean(scores[row["seed"], row["problem"]])))
    return rows


# ---- tests


def review_states(folder: Path) -> Path:
    """Both states, and beside them what the commands write about them."""
    write_states(folder)
    settings = ("-f", f"{BEFORE}/mkdocs.yml")
    reviewed = call(folder, "review", BEFORE, AFTER, *settings)
    assert reviewed.returncode == 1
    assert re.fullmatch(r"warning: \S+: not run, as .*: functions of altair blocks\n", reviewed.stderr)
    (folder / "printed.txt").write_text(reviewed.stdout, "utf-8")
    link = "https://example.org/review.html"
    commented = call(folder, "review", "--read", "review/review.json", "--format", "markdown", "--link", link)
    (folder / "comment.md").write_text(commented.stdout, "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands write; nobody may change it."""
    return made_once(tmp_path_factory, "example-review", review_states)


def shorten(printed: str) -> str:
    """The first entries of each kind, and how many more there are."""
    blocks = []
    for block in printed.rstrip("\n").split("\n\n"):
        title, *entries = re.split(r"\n(?=  \S)", block)
        rest = len(entries) - MOST_ENTRIES
        blocks.append("\n".join((title, *entries[:MOST_ENTRIES], *[f"  … {rest} more"][: max(rest, 0)])))
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize("name", ["example-review.html", "comment.md", "review.md"])
def test_the_example_is_as_accepted(name: str, made: Path, request: pytest.FixtureRequest) -> None:
    """The page that the guide links to, the comment behind its picture, and what it says is printed."""
    file = COMMENT if name == COMMENT.name else GUIDE.with_name(name)
    if name == GUIDE.name:
        printed = shorten((made / "printed.txt").read_text("utf-8"))
        found, count = PRINTED.subn(lambda _: printed, GUIDE.read_text("utf-8"))
        assert count == 1
    else:
        found = (made / {"example-review.html": "review/review.html"}.get(name, name)).read_text("utf-8")
    if request.config.getoption("--accept"):
        file.write_text(found, "utf-8")
    how = "Look at the change; if it is right:\n    python -m pytest tests/test_example_review.py --accept"
    assert file.read_text("utf-8") == found, how


def test_the_example_shows_one_of_each(made: Path) -> None:
    """A false statement, a forgotten one, a number that moved, one within noise and one with more runs."""
    counts = json.loads((made / "review/review.json").read_text("utf-8"))["counts"]
    shown = ("flipped", "stale_values", "differences", "worse", "unclear", "re_estimated")
    assert [counts[name] for name in shown] == [1, 1, 1, 0, 1, 1]
    assert GUIDE.with_name("example-review.html").stat().st_size < 300_000


def test_a_changed_reading_names_its_places_in_every_document(tmp_path: Path) -> None:
    """README, model card and paper, with line; the page beside them, too."""
    for state in (BEFORE, AFTER):
        others = ("guide", "index.md", "training-*.md", "model-comparison.md", "charts.py")
        root = copy_example(tmp_path / state, *others)
        (root / "mkdocs.yml").write_text(_SETTINGS, "utf-8")
    _change_rows(tmp_path / AFTER / "data/math500/points.csv", _read_again)
    settings = ("-f", f"{BEFORE}/mkdocs.yml")
    said = call(tmp_path, "review", BEFORE, AFTER, *settings, "--format", "markdown").stdout
    named = set(re.findall(r"`(?:\./)?([\w/-]+\.\w+):\d+`", said))
    documents = {"README.md", "content/documents/model-card.md", "content/documents/paper.tex"}
    assert named == {"math500.md", *documents}


def _read_again(rows: Rows) -> Rows:
    peak = next(row for row in rows if (row["series"], row["step"]) == ("MEL", "120"))
    peak["validation score"] = "0.83"
    return rows


_SETTINGS = """site_name: Documents
docs_dir: content
exclude_docs: /documents/
theme: {name: reportgen}
plugins: [{reportgen: {documents: [README.md, content/documents/*]}}]
"""


def test_the_picture_is_of_this_comment() -> None:
    """It holds the digest of what it was drawn from, and is small."""
    how = "the comment has changed: run python tests/test_example_review.py and look at the picture"
    assert (
        b"tEXtComment\0" + hashlib.sha256(COMMENT.read_bytes()).hexdigest().encode() in PICTURE.read_bytes()
    ), how
    assert PICTURE.stat().st_size <= MOST_BYTES


# ---- the picture of the comment

_COLOURS = 20

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><style>
body { margin: 0; padding: 12px; width: max-content; background: #fff; color: #1f2328;
  font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }
article { border: 1px solid #d1d9e0; border-radius: 6px; }
header { padding: 8px 16px; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; background: #f6f8fa;
  color: #59636e; }
header b { color: #1f2328; }
header span { margin: 0 4px; padding: 0 6px; border: 1px solid #d1d9e0; border-radius: 2em; font-size: 12px; }
main { padding: 16px; width: 700px; }
main > :first-child { margin-top: 0; }
main > :last-child { margin-bottom: 0; }
h3 { margin: 24px 0 16px; font-size: 1.25em; line-height: 1.25; }
p, ul, pre, table, blockquote, details { margin: 0 0 16px; }
ul { padding-left: 2em; }
ul ul { margin: 0; }
code, pre { font-family: ui-monospace, "Liberation Mono", Menlo, monospace; }
code { padding: 0.2em 0.4em; border-radius: 6px; background: #818b981f; font-size: 85%; }
pre { padding: 16px; overflow: hidden; border-radius: 6px; background: #f6f8fa; font-size: 85%;
  line-height: 1.45; }
pre code { padding: 0; background: none; font-size: 100%; }
table { border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid #d1d9e0; }
tr:nth-child(2n) td { background: #f6f8fa; }
blockquote { padding: 8px 16px; border-left: 0.25em solid var(--alert); }
blockquote p { margin: 0; white-space: pre-line; }
blockquote i { color: var(--alert); font-style: normal; font-weight: 500; }
a { color: #0969da; }
.note { --alert: #0969da; }
.warning { --alert: #9a6700; }
.caution { --alert: #d1242f; }
</style><body><article>
<header><b>github-actions</b><span>bot</span> commented</header>
<main>COMMENT</main></article>"""
# As wide as the widest line of its strips.
_FIT = """() => {
    const widths = [...document.querySelectorAll("pre")].map((strips) => strips.scrollWidth + 16);
    document.querySelector("main").style.width = `${Math.max(700, ...widths)}px`;
}"""
_ALERT = re.compile(r"<blockquote>\n<p>\[!(\w+)\]")


def draw_page(comment: str) -> str:
    """The comment as a page of its own, drawn about as GitHub does."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(comment)
    html = _ALERT.sub(
        lambda found: f'<blockquote class="{found[1].lower()}"><p><i>{found[1].title()}</i>', html
    )
    return _PAGE.replace("COMMENT", html)


# Each pixel as the nearest of the commonest colours: their list, and a byte for each pixel.
_COUNT_COLOURS = """async ([address, most]) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const pixels = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
    const counts = new Map();
    for (const one of pixels) counts.set(one, (counts.get(one) || 0) + 1);
    const all = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b);
    const split = (one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255];
    const colours = all.slice(0, most).map(split);
    const far = (a, b) => a.reduce((sum, part, i) => sum + (part - b[i]) ** 2, 0);
    const nearest = new Map(all.map((one) => {
        const sums = colours.map((colour) => far(split(one), colour));
        return [one, sums.indexOf(Math.min(...sums))];
    }));
    let bytes = "";
    for (const one of pixels) bytes += String.fromCharCode(nearest.get(one));
    return [image.width, colours.flat(), btoa(bytes)];
}"""


def write_picture(width: int, colours: bytes, pixels: bytes, digest: str) -> bytes:
    """A PNG with a list of colours."""
    rows = b"".join(b"\0" + pixels[start : start + width] for start in range(0, len(pixels), width))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, len(pixels) // width, 8, 3, 0, 0, 0)),
        (b"PLTE", colours),
        (b"tEXt", b"Comment\0" + digest.encode()),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def main() -> str | None:
    """Take the picture; returns what is missing if that cannot be done."""
    chromium = find_chromium()
    if chromium is None:
        return what_is_missing("nothing was installed")
    comment = COMMENT.read_text("utf-8")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        tab = browser.new_page(device_scale_factor=2, viewport={"width": 1280, "height": 600})
        tab.set_content(draw_page(comment))
        tab.evaluate(_FIT)
        shot = base64.b64encode(tab.locator("body").screenshot()).decode()
        width, colours, pixels = tab.evaluate(_COUNT_COLOURS, [f"data:image/png;base64,{shot}", _COLOURS])
        browser.close()
    PICTURE.write_bytes(
        write_picture(
            width, bytes(colours), base64.b64decode(pixels), hashlib.sha256(comment.encode()).hexdigest()
        )
    )
    sys.stdout.write(f"{PICTURE.stat().st_size:,} bytes in {PICTURE}\n")
    return None


if __name__ == "__main__":
    sys.exit(main())
