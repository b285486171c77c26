"""Pictures of every page of the built example site, light and dark, wide and narrow, for people to look at.

``python tests/take_screenshots.py [SITE [FOLDER]]``: from ``site/`` into ``screenshots/`` unless said
otherwise. The pages are opened from disk, as a reader without a server would. The pictures of the README
are made anew as well.
"""

from __future__ import annotations

import base64
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from find_chromium import find_chromium, what_is_missing
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
# Pages whose first screens the README shows, by the name of the picture.
SHOWN = {"page": "aime/index.html", "index": "index.html"}
ROOT = Path(__file__).parents[1]
MOST_BYTES = 200_000
"""Of the pictures of the README together."""


def readme_picture(name: str, scheme: str) -> Path:
    """The first screen of a page, as the README shows it."""
    return ROOT / ".github" / f"{name}-{scheme}.webp"


def take_for_readme(browser: Browser, site: Path) -> None:
    """Take the first screens in both schemes; finer than they are shown, for sharp text."""
    for scheme, (name, page) in product(SCHEMES, SHOWN.items()):
        context = browser.new_context(
            viewport={"width": 1280, "height": 800},
            device_scale_factor=1.5,
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        tab = context.new_page()
        tab.goto((site / page).as_uri(), wait_until="load")
        tab.wait_for_timeout(1000)
        # Playwright itself takes no WebP, which is a third of PNG here.
        settings = {"format": "webp", "quality": 72}
        taken = context.new_cdp_session(tab).send("Page.captureScreenshot", settings)
        readme_picture(name, scheme).write_bytes(base64.b64decode(taken["data"]))
        context.close()


def picture_name(page: str, width: int, scheme: str) -> str:
    """File name for one picture: ``guide/curve/index.html`` becomes ``guide-curve-1280-light.png``."""
    stem = page.removesuffix(".html").removesuffix("/index").replace("/", "-")
    return f"{stem}-{width}-{scheme}.png"


def take(browser: Browser, site: Path, folder: Path, pages: list[str]) -> int:
    """Take every picture and return how many there are."""
    for scheme in SCHEMES:
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": 800},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            tab = context.new_page()
            for page in pages:
                tab.goto((site / page).as_uri(), wait_until="load")
                tab.wait_for_timeout(300)  # figures come alive when the browser is idle
                tab.screenshot(path=folder / picture_name(page, width, scheme), full_page=True)
            context.close()
    return len(pages) * len(WIDTHS) * len(SCHEMES)


def main(arguments: list[str]) -> str | None:
    """Take the pictures; returns what is missing if that cannot be done."""
    site = Path(arguments[0] if arguments else "site").resolve()
    folder = Path(arguments[1] if len(arguments) > 1 else "screenshots")
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    if not pages:
        return f"There is no page in {site}: run make site first."
    chromium = find_chromium()
    if chromium is None:
        return what_is_missing("nothing was installed")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        count = take(browser, site, folder, pages)
        take_for_readme(browser, site)
        browser.close()
    sys.stdout.write(f"{count} pictures in {folder}\n")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
