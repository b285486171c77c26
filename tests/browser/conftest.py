"""One Chromium for all browser tests, and tabs that complain about what a clean page must not do."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import pytest
from find_chromium import find_chromium, what_is_missing
from playwright.sync_api import sync_playwright

from browser.figure_pages import write_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

# Each new window would load two pages that draw the list under the address bar. Chromium takes the last of
# these flags only, so what Playwright disables is repeated where it concerns pages or requests.
_WITHOUT = (
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,HttpsUpgrades,MediaRouter,OptimizationHints,"
    "PaintHolding,ThirdPartyStoragePartitioning,AimEnabled,PreconnectToSearch"
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # widths of letters are not rounded, as on a screen of a reader's
    _WITHOUT,
)
_NOTE_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
    noteViolation(`${event.violatedDirective} ${event.blockedURI} at line ${event.lineNumber}`));"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium; without one the tests fail and say what is missing."""
    path = find_chromium()
    if path is None:
        pytest.fail(what_is_missing("nothing was installed"))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


class Quiet(SimpleHTTPRequestHandler):
    """A file server that says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Site(NamedTuple):
    """Pages of figures: their folder, and their address below a path of a server."""

    folder: Path
    address: str


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve a folder and everything below it; gives the server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def figures_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pages of ``figure_pages``, on disk and served below ``/reports/``."""
    root = tmp_path_factory.mktemp("served")
    folder = root / "reports"
    write_site(folder)
    with served(root) as address:
        yield Site(folder, f"{address}/reports")


class Tabs:
    """Opens pages of figures, and notes messages, errors, violations and requests to other places."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.site = site
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def open(
        self,
        name: str,
        *,
        fragment: str = "",
        width: int = 1280,
        scheme: str = "light",
        served: bool = False,
        script: str = "",
        javascript: bool = True,
        touch: bool = False,
    ) -> Page:
        """Open a page, from disk or served, in a new profile; ``script`` runs before the page's own."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=javascript,
            has_touch=touch,
        )
        self._contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        tab.on("request", lambda request: self._note(request.url))
        if javascript:
            tab.expose_function("noteViolation", lambda what: self.complaints.append(f"violation: {what}"))
            tab.add_init_script(_NOTE_VIOLATIONS + script)
        where = self.site.address if served else self.site.folder.as_uri()
        tab.goto(f"{where}/{name}.html{fragment}")
        return tab

    def _note(self, url: str) -> None:
        self.requests.append(url)
        here = (self.site.folder.as_uri(), self.site.address, "blob:")
        if not url.startswith(here):
            self.complaints.append(f"request to another place: {url}")

    def close(self) -> None:
        """Close every profile."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def tabs(browser: Browser, figures_site: Site) -> Iterator[Tabs]:
    """A way to open pages; afterwards each of them must have been clean."""
    opened = Tabs(browser, figures_site)
    yield opened
    opened.close()
    assert opened.complaints == []
