"""One Chromium a process with a few tabs that tests take in turn, and note what a clean page must not do."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from example_site import build_example_once, made_once
from find_chromium import find_chromium, what_is_missing
from playwright.sync_api import expect, sync_playwright

from browser.built_sites import MADE
from browser.gestures import PATIENCE, resize
from browser.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, Request

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
    "--renderer-process-limit=1",  # what one page has compiled is there for the next
    "--js-flags=--no-opt --no-maglev",  # no page lives long enough to gain by it
    "--font-render-hinting=none",  # widths of letters are not rounded, as on a screen of a reader's
    _WITHOUT,
)
# Scripts arrange a page of another width some frames later.
_SCROLLS = """async (width) => {
  const scrolls = () => document.scrollingElement.scrollWidth > width;
  for (let n = 0; n < 50 && scrolls(); n++) await new Promise((next) => setTimeout(next, 100));
  return scrolls();
}"""
_AXE = (Path(__file__).parent / "axe.js").read_text("utf-8")
_NOTE_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
    noteViolation(`${event.violatedDirective} ${event.blockedURI} at line ${event.lineNumber}`));"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium; without one the tests fail and say what is missing."""
    expect.set_options(timeout=PATIENCE)
    path = find_chromium()
    if path is None:
        pytest.fail(what_is_missing("nothing was installed"))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


# ---- sites ----------------------------------------------------------------------------------------


class Quiet(SimpleHTTPRequestHandler):
    """A file server that says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Site(NamedTuple):
    """Pages: their folder, and their address below a path of a server."""

    folder: Path
    address: str


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve a folder and everything below it; gives the server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:  # otherwise the thread would keep the process from ending
        server.shutdown()
        thread.join()
        server.server_close()


class Sites:
    """Sites that test processes share, served below the folder that they lie in."""

    def __init__(self, factory: pytest.TempPathFactory, servers: ExitStack) -> None:
        self._factory, self._servers = factory, servers
        own = factory.getbasetemp()
        self._root = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
        self._address = servers.enter_context(served(self._root))
        self._made: dict[str, Site] = {}

    def get(self, name: str) -> Site:
        """The site of this name, which the first process that wants it makes; nobody may change it."""
        if name not in self._made:
            if name == "example":
                folder = build_example_once(self._root)
            else:
                made = MADE[name]
                needed = [self.get(other).folder for other in made.needs]
                folder = made_once(self._factory, name, lambda path: made.make(path, *needed))
            root = {"theme": folder.parent, "untrusted": folder, "bare": folder}.get(name)
            self._made[name] = self.find(folder, root)
        return self._made[name]

    def find(self, folder: Path, root: Path | None = None) -> Site:
        """A site that lies in a folder of the tests; with another root than theirs by a server of its own."""
        address = self._servers.enter_context(served(root)) if root else self._address
        path = folder.relative_to(root or self._root).as_posix()
        return Site(folder, f"{address}/{path}".removesuffix("/."))


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """All sites, on disk and served."""
    with ExitStack() as servers:
        yield Sites(tmp_path_factory, servers)


# ---- tabs -----------------------------------------------------------------------------------------


@dataclass
class _Tab:
    """A tab, who has it now, and the scripts that run before those of its page."""

    page: Page
    client: CDPSession
    kind: tuple[bool, bool]
    owner: Tabs | None = None  # whoever opened the page that is shown
    taker: Tabs | None = None
    scripts: list[str] = field(default_factory=list)


class Pool:
    """Tabs that were used before: a new one, not to speak of a new profile, takes longer than most tests."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._contexts: dict[tuple[bool, bool], BrowserContext] = {}
        self._tabs: list[_Tab] = []
        self._front: _Tab | None = None

    def take(self, owner: Tabs, *, javascript: bool, touch: bool, fresh: bool) -> _Tab:
        """A tab that nobody has; a fresh one has a profile of its own, with nothing stored."""
        kind = (javascript, touch)
        free = (one for one in self._tabs if one.kind == kind and one.taker is None and not fresh)
        tab = next(free, None) or self._open(kind, fresh=fresh)
        if tab is not self._front:
            tab.page.bring_to_front()  # one behind others draws once a second
        self._front, tab.taker = tab, owner
        return tab

    def _open(self, kind: tuple[bool, bool], *, fresh: bool) -> _Tab:
        context = None if fresh else self._contexts.get(kind)
        if context is None:
            context = self.browser.new_context(java_script_enabled=kind[0], has_touch=kind[1])
            if kind[0]:
                context.expose_binding("noteViolation", self._note_violation)
                context.add_init_script(_NOTE_VIOLATIONS)
            if not fresh:
                self._contexts[kind] = context
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        client = context.new_cdp_session(page)
        client.send("Page.enable")  # otherwise it runs no scripts before those of a page
        tab = _Tab(page, client, kind)
        self._listen(tab)
        self._tabs.append(tab)
        return tab

    def _listen(self, tab: _Tab) -> None:
        def note(words: str) -> None:
            if tab.owner is not None:
                tab.owner.complaints.append(words)

        def note_request(request: Request) -> None:
            if request.is_navigation_request() and request.frame == tab.page.main_frame:
                tab.owner = tab.taker  # what the page before it begins is nobody's
            if tab.owner is not None:
                tab.owner.note_request(request.url)

        tab.page.on("console", lambda message: note(f"console: {message.text}"))
        tab.page.on("pageerror", lambda error: note(f"error: {error}"))
        tab.page.on("dialog", lambda dialog: note(f"dialog: {dialog.message}"))
        tab.page.on("request", note_request)

    def _note_violation(self, source: dict[str, Page], what: str) -> None:
        for tab in self._tabs:
            if tab.page is source["page"] and tab.owner is not None:
                tab.owner.complaints.append(f"violation: {what}")

    def release(self, tab: _Tab) -> None:
        """Take a tab back; a fresh one is closed. A test that routes requests needs a fresh one."""
        if tab.page.context is not self._contexts.get(tab.kind):
            self._tabs.remove(tab)
            tab.page.context.close()
            return
        tab.page.mouse.move(0, 0)
        tab.owner = tab.taker = None
        for script in tab.scripts:
            tab.client.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
        tab.scripts.clear()


@pytest.fixture(scope="session")
def pool(browser: Browser) -> Pool:
    """The tabs of a process."""
    return Pool(browser)


class Tabs:
    """Opens pages of sites, and notes messages, errors, violations and requests to other places."""

    def __init__(self, pool: Pool, sites: Sites, **others: Site) -> None:
        self._pool, self._sites = pool, sites
        self._taken: list[_Tab] = []
        self._kinds: set[str] = set()  # of texts whose contrast suffices
        self._looked = 0
        self.thorough = True
        self.opened = others
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def site(self, name: str) -> Site:
        """A site of ``MADE``, or one that was given by name."""
        if name not in self.opened:
            self.opened[name] = self._sites.get(name)
        return self.opened[name]

    def open(
        self,
        address: str,
        *,
        fragment: str = "",
        width: int = 1280,
        scheme: str = "light",
        served: bool = False,
        script: str = "",
        javascript: bool = True,
        touch: bool = False,
        fresh: bool = False,
    ) -> Page:
        """Open a page, as ``site/page``, from disk or served; ``script`` runs before the page's own."""
        place = self.place(address, fragment, served=served)
        tab = self._pool.take(self, javascript=javascript, touch=touch, fresh=fresh)
        self._taken.append(tab)
        if tab.page.viewport_size != {"width": width, "height": 900}:
            tab.page.set_viewport_size({"width": width, "height": 900})
        colours: Literal["light", "dark"] = "dark" if scheme == "dark" else "light"
        tab.page.emulate_media(media="null", color_scheme=colours, reduced_motion="null")
        if script:
            added = tab.client.send("Page.addScriptToEvaluateOnNewDocument", {"source": script})
            tab.scripts.append(added["identifier"])
        self._show(tab.page, place)
        return tab.page

    def go(self, page: Page, address: str, fragment: str = "") -> None:
        """Show another page in a tab, from disk or served as the tab's page was."""
        self._show(page, self.place(address, fragment, served=page.url.startswith("http")))

    def _show(self, page: Page, place: str) -> None:
        if page.url.partition("#")[0] == place.partition("#")[0]:
            page.goto("about:blank")  # otherwise only the fragment would change
        page.goto(place)

    def place(self, address: str, fragment: str = "", *, served: bool = False) -> str:
        """The address of a page."""
        name, _, page = address.partition("/")
        site = self.site(name)
        return f"{site.address if served else site.folder.as_uri()}/{page}.html{fragment}"

    def note_request(self, url: str) -> None:
        """Note a request, and complain if it leaves the sites."""
        if url == "about:blank" or url.startswith("data:"):
            return
        self.requests.append(url)
        places = [start for site in self.opened.values() for start in (site.folder.as_uri(), site.address)]
        if not url.startswith(("blob:", *places)):
            self.complaints.append(f"request to another place: {url}")

    def find_violations(self, page: Page, *context: str, only_colours: bool = False) -> list[str]:
        """What axe-core objects to in a page, or in parts of it, with the first element of each objection."""
        complaints = list(self.complaints)
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE_SCRIPT)
        parts = [part for part in context if page.locator(part).count()] or None
        found, kinds = page.evaluate(_AXE, [parts, only_colours, sorted(self._kinds)])
        self._kinds.update(kinds)
        self.complaints[:] = complaints  # axe-core itself asks for more than the policy allows
        return list(found)

    def find_faults(self, page: Page, widths: Sequence[int] = (1280, 390), *context: str) -> list[str]:
        """What axe-core objects to at each width, in light and dark, and what scrolls sideways.

        One that is not thorough takes one width and scheme at a time, and another one for the next page.
        """
        looks = [(width, scheme) for width in widths for scheme in ("light", "dark")]
        if not self.thorough:
            looks = [looks[(3 * self._looked) % len(looks)]]
            self._looked += 1
        faults = []
        for number, (width, scheme) in enumerate(looks):
            if not number or width != looks[number - 1][0]:
                resize(page, width)
                if page.evaluate(_SCROLLS, width):
                    faults.append(f"{page.url}, {width} px: scrolls sideways")
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            only_colours = self.thorough and scheme == "dark"
            found = self.find_violations(page, *context, only_colours=only_colours)
            faults += [f"{page.url}, {width} px, {scheme}: {one}" for one in found]
        page.emulate_media(color_scheme="light")
        return faults

    def close(self) -> None:
        """Give every tab back."""
        while self._taken:
            self._pool.release(self._taken.pop())


@contextmanager
def opened(pool: Pool, sites: Sites, **others: Site) -> Iterator[Tabs]:
    """A way to open pages of all sites, and of others by name, whatever they complain of."""
    tabs = Tabs(pool, sites, **others)
    try:
        yield tabs
    finally:
        tabs.close()


@pytest.fixture
def tabs(pool: Pool, sites: Sites) -> Iterator[Tabs]:
    """A way to open pages; afterwards each of them must have been clean."""
    with opened(pool, sites) as tabs:
        yield tabs
    assert tabs.complaints == []


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["a look", "every look"])
def looking(request: pytest.FixtureRequest, tabs: Tabs) -> Tabs:
    """A way to look at many pages: at each once, or (slow) at every width, in light and dark."""
    tabs.thorough = request.param
    return tabs


@pytest.fixture
def reader(tabs: Tabs, tmp_path: Path) -> Session:
    """A reader who does in a browser what is said in the words of a session."""
    return Session(tabs, tmp_path)
