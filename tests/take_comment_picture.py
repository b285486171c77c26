"""The picture of a comment on a pull request that the guide shows: ``content/guide/review-comment.png``.

``python tests/take_comment_picture.py``: draws ``tests/example_review/comment.md`` as GitHub does. What the
picture was made of stands in it, so that a test sees when the comment has become another.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import sys
import zlib
from pathlib import Path

from find_chromium import find_chromium, what_is_missing
from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
COMMENT = Path(__file__).parent / "example_review/comment.md"
PICTURE = ROOT / "content/guide/review-comment.png"
MOST_BYTES = 120_000

_COLOURS = 32

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


def sign(comment: str) -> str:
    """What tells this comment from others."""
    return hashlib.sha256(comment.encode()).hexdigest()


def read_digest(picture: bytes) -> str:
    """The digest of the comment that a picture was made of; empty if there is none."""
    found = re.search(rb"tEXtComment\0([0-9a-f]{64})", picture)
    return found[1].decode() if found else ""


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
    PICTURE.write_bytes(write_picture(width, bytes(colours), base64.b64decode(pixels), sign(comment)))
    sys.stdout.write(f"{PICTURE.stat().st_size:,} bytes in {PICTURE}\n")
    return None


if __name__ == "__main__":
    sys.exit(main())
