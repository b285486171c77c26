"""A session of a reader: what is done in a browser, a command a line, and what the page shows of it.

``open SITE/PAGE`` comes first; its words (``OPTIONS``) say how. ``wake ID`` brings figures to life and
watches them, ``watch ID`` watches parts of a page. After a command that does something, what is seen of the
watched parts (``observe.js``) is printed where it changed: ``key: value``, or ``key: –`` where it is gone.
Commands that read print what they read: ``text``, ``count``, ``css``, ``attribute``, ``js`` and others.
Both are waited for: a page has time to show what was accepted. Places are fractions of a plot's width and
height from its top left: ``point 0.5,0.2``. A target is ``button:NAME`` or another role and name within the
figures that are watched, ``text:WORDS`` there, or a selector in the page.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error

from browser.gestures import (
    NO_IDLE,
    PATIENCE,
    ROLE,
    SAVED,
    Gestures,
    read_fraction,
    resize,
    wait_briefly,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator, Page

    from browser.conftest import Tabs

_PROMPT = "$ "
_OF_PAGES = ("address", "copied", "menu", "dialog", "popover", "scrolls sideways")
_OBSERVE = (Path(__file__).parent / "observe.js").read_text("utf-8")
_STABLE = 1.5  # seconds that a page has to look the same before it is accepted
_REFUSED = """const refuse = () => Promise.reject(new Error("refused"));
if (navigator.clipboard) navigator.clipboard.writeText = refuse;
document.execCommand = () => false;"""
_OLD_WAY = """Object.defineProperty(navigator, 'clipboard', { value: undefined });
document.execCommand = () => {
  const { activeElement: field } = document;
  window.copied = field.value || String(getSelection()); return true; };"""
# What waits for its time waits longer, as on a busy machine, or until the test lets it go on.
_SLOW = "const wait = setTimeout; window.setTimeout = (job, ms = 0) => wait(job, ms + 50);"
_HELD = """const wait = setTimeout;
let held = [];
window.setTimeout = (job, ms = 0) => (held ? held.push(job) : wait(job, ms));
window.proceed = () => { const jobs = held; held = null; jobs.forEach((job) => wait(job)); };"""
# What a page shows for a while stays.
_PATIENT = "const wait = setTimeout; window.setTimeout = (job, ms = 0) => wait(job, ms < 1000 ? ms : 1e8);"
_SAVING = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
# How a page is opened: words for the arguments of ``Tabs.open``; what has a script is joined.
OPTIONS: dict[str, dict[str, Any]] = {
    "served": {"served": True},
    "narrow": {"width": 390},
    "touch": {"touch": True},
    "light": {},
    "dark": {"scheme": "dark"},
    "scriptless": {"javascript": False},
    "fresh": {"fresh": True},
    "asleep": {"script": NO_IDLE},
    "copying": {"script": SAVED},
    "copying-by-hand": {"script": _OLD_WAY},
    "copying-refused": {"script": _REFUSED},
    "slow": {"script": _SLOW},
    "held": {"script": _HELD},
    "patient": {"script": _PATIENT},
    "saving": {"script": _SAVING},
}
_FOCUSED = """() => { const { activeElement: node } = document;
  const words = node.textContent.replace(/\\s+/g, " ").trim().slice(0, 60);
  return node.getAttribute("aria-label") || node.id || words || node.className; }"""
_REST = """async () => {
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  for (let n = 0; n < 2; n++) await frame();
  for (let n = 0; n < 2; n++) await new Promise((done) => requestIdleCallback(done, { timeout: 1000 }));
}"""
_WAKE = """(figure) => {
  figure.scrollIntoView({ block: "nearest" });
  figure.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
}"""
_READINGS = """async (figure, [fractions, down]) => {
  const surface = figure.querySelector(".rg-surface");
  const { left, top, width, height } = surface.getBoundingClientRect();
  const frame = () => new Promise((shown) => { requestAnimationFrame(shown); setTimeout(shown, 100); });
  const said = [];
  for (const across of fractions) {
    const place = { clientX: left + across * width, clientY: top + down * height };
    surface.dispatchEvent(new PointerEvent("pointermove", { ...place, bubbles: true, pointerType: "mouse" }));
    await frame();
    await frame();
    const rows = [...figure.querySelector(".rg-tooltip").children];
    said.push(rows.map((row) => [...row.children].map((cell) => cell.textContent).filter(Boolean)));
  }
  return said;
}"""


class Session(Gestures):
    """Runs the commands of a session in tabs."""

    def __init__(self, tabs: Tabs, folder: Path, *, accepting: bool = False) -> None:
        self._tabs, self._folder, self._accepting = tabs, folder, accepting
        self._seen: dict[str, Any] = {}
        self._watched: list[str] = []
        self._here = ""
        self._still = False  # a page without scripts draws no frame that could be waited for
        self.tab: Page

    def run(self, session: str) -> str:
        """Do what a session says, and return it with what the page shows now.

        It ends where something else is shown than was accepted, unless that is to be accepted.
        """
        told = []
        lines = session.splitlines(keepends=True)
        places = [n for n, line in enumerate(lines) if line.startswith(_PROMPT)]
        for start in places:
            rest = takewhile(lambda line: not line.startswith(_PROMPT), lines[start + 1 :])
            wanted = "".join(rest)
            shown = self._follow(lines[start].removeprefix(_PROMPT).strip(), wanted)
            told += [lines[start], shown]
            if shown != wanted and not self._accepting:
                break
        return "".join(told)

    def do(self, *commands: str) -> None:
        """Do what some commands say, whatever the page then shows; none of them reads."""
        for command in commands:
            name, *words = shlex.split(command)
            getattr(self, f"do_{name.replace('-', '_')}")(*words)

    def _follow(self, command: str, wanted: str) -> str:
        """What is shown after a command: as soon as it is what is wanted, otherwise when nothing changes."""
        name, *words = shlex.split(command)
        name = name.replace("-", "_")
        if once := getattr(self, f"once_{name}", None):
            return _write_lines(once(*words))
        if act := getattr(self, f"do_{name}", None):
            act(*words)
            read: Callable[[], tuple[str, Any]] = self._look
        else:
            reading = getattr(self, f"read_{name}")
            read = lambda: (_write_lines(reading(*words)), None)  # noqa: E731
        start = changed = time.monotonic()
        said, state = self._read(read)
        while time.monotonic() < start + PATIENCE / 1000:
            if time.monotonic() > changed + _STABLE if self._accepting else said == wanted:
                break
            self._wait()
            before, (said, state) = said, self._read(read)
            changed = changed if said == before else time.monotonic()
        if state is not None:
            self._seen = state
        return said

    def _look(self) -> tuple[str, dict[str, Any]]:
        """What changed on the page, and all that is seen; of one that it leads to, nothing is watched."""
        here = self.tab.url.partition("#")[0]
        if here != self._here:
            self._here, self._watched = here, []
            self._seen = {key: value for key, value in self._seen.items() if key in _OF_PAGES}
        state = {} if self._still else self._tell(self.tab.evaluate(_OBSERVE, [self._watched]))
        lines, seen = [], self._seen
        tools = [key for key in state if "[" in key]
        if tools and not any("[" in key for key in seen):
            said = [key if state[key] == "there" else f"{key} {state[key]}" for key in tools]
            lines.append(f"tools: {', '.join(said)}")
            seen = seen | {key: state[key] for key in tools}
        for key in [*state, *(key for key in seen if key not in state)]:
            if state.get(key) == seen.get(key):
                continue
            value = state.get(key, "–")
            lines += (
                [f"{key}:", *(f"  {one}" for one in value)]
                if isinstance(value, list)
                else [f"{key}: {value}"]
            )
        return _write_lines(lines), state

    def _read(self, read: Callable[[], tuple[str, Any]]) -> tuple[str, Any]:
        """What is read of the page, of the next one where the page is just left."""
        try:
            return read()
        except Error as problem:
            if "context was destroyed" not in problem.message:
                raise
            self.tab.wait_for_load_state()
            return read()

    def _wait_for_a_frame(self) -> tuple[str, Any]:
        wait_briefly(self.tab)
        return "", None

    def _wait(self) -> None:
        if not self._still:
            self._read(self._wait_for_a_frame)

    def _tell(self, value: Any) -> Any:  # noqa: ANN401 - values of JSON
        """The value with the places of sites by their names."""
        text = json.dumps(value, ensure_ascii=False)
        for name, site in sorted(self._tabs.opened.items(), key=lambda one: -len(one[1].folder.parts)):
            for place in (site.folder.as_uri(), site.address):
                text = text.replace(place, name)
        text = re.sub(r"([A-Za-z])\1{20,}", lambda match: f"{match[1]}×{len(match[0])}", text)
        return json.loads(text)

    # ---- pages ------------------------------------------------------------------------------------

    def do_open(self, address: str, *options: str) -> None:
        """Open a page: ``open SITE/PAGE[#FRAGMENT] [OPTION | script:SCRIPT]…``."""
        page, mark, fragment = address.partition("#")
        said: dict[str, Any] = {"fragment": mark + fragment}
        for option in options:
            kind, colon, own = option.partition(":")
            more = {"script": own} if colon else OPTIONS[kind]
            script = "\n".join(filter(None, (said.get("script"), more.get("script"))))
            said |= more | ({"script": script} if script else {})
        self._tabs.requests.clear()
        self._seen, self._watched, self._still = {}, [], "scriptless" in options
        self.tab = self._tabs.open(page, **said)
        self._seen = self._look()[1]

    def do_go(self, address: str) -> None:
        """Show another page in the tab."""
        page, mark, fragment = address.partition("#")
        self._watched = []
        self._tabs.go(self.tab, page, mark + fragment)
        self._seen = self._look()[1]

    def do_follow(self, fragment: str) -> None:
        """Follow a link to a fragment."""
        self.tab.evaluate("state => { location.hash = state; }", fragment)

    def do_block(self, addresses: str) -> None:
        """Let requests to such addresses fail; the tab has to be a fresh one."""
        self.tab.route(addresses, lambda route: route.abort())

    def do_back(self) -> None:
        """Go back."""
        self.tab.go_back()

    def do_watch(self, *ids: str) -> None:
        """Watch these parts of the page and no other."""
        self._seen, self._watched = {}, list(ids)

    def do_wake(self, *ids: str) -> None:
        """Bring figures to life, and watch them."""
        for one in ids:
            figure = self.tab.locator(f"[id='{one}']")
            figure.evaluate(_WAKE)
            quoted = json.dumps(one)
            awake = f"document.getElementById({quoted}).matches('.rg-is-live, .rg-is-read')"
            wait_until(self.tab, awake)
        self._seen, self._watched = {}, list(ids)

    def do_resize(self, width: str, height: str = "900") -> None:
        """Give the window another size."""
        resize(self.tab, int(width), int(height))

    def do_media(self, media: str) -> None:
        """``print``, ``screen``, ``dark`` or ``light``."""
        if media in {"print", "screen"}:
            self.tab.emulate_media(media=media)  # type: ignore[arg-type]
        else:
            self.tab.emulate_media(color_scheme=media)  # type: ignore[arg-type]

    def do_choose(self, menu: str, words: str) -> None:
        """Choose something in a menu of the toolbar."""
        self.find(f"button:{menu}").click()
        self.tab.locator(".rg-menu").get_by_role("button", name=words, exact=True).filter(
            visible=True
        ).click()

    def do_copy(self, words: str, kind: str = "figure") -> None:
        """Choose what is copied in the menu of a figure or table."""
        self.tab.evaluate("window.copied = null")
        self._seen.pop("copied", None)
        self.do_choose(f"Cite or copy this {kind}", f"Copy {words}")
        wait_until(self.tab, "window.copied")

    def do_copy_link(self, words: str = "Share a link to this figure") -> None:
        """Copy the link of a figure, or by another button."""
        self.tab.evaluate("window.copied = null")
        self._seen.pop("copied", None)
        self.find(f"button:{words}").click()
        wait_until(self.tab, "window.copied")

    def once_copy_file(self, words: str, path: str, kind: str = "figure") -> list[str]:
        """Copy something that is a file of the site, and compare the two."""
        self.do_copy(words, kind)
        copied = self.tab.evaluate("window.copied")
        (site,) = (
            one
            for one in self._tabs.opened.values()
            if self.tab.url.startswith((one.folder.as_uri(), one.address))
        )
        return [f"the same as {path}" if copied == (site.folder / path).read_text("utf-8") else copied]

    def do_do(self, script: str) -> None:
        """Run a script in the page."""
        self.tab.evaluate(script)

    def do_wait(self, condition: str) -> None:
        """Wait for a state of the page."""
        wait_until(self.tab, condition)

    def do_rest(self) -> None:
        """Wait until two frames have come, and two moments without work."""
        self.tab.evaluate(_REST)

    # ---- reading ----------------------------------------------------------------------------------

    def read_text(self, target: str) -> list[str]:
        """The words of each visible element."""
        found = self._all(target).filter(visible=True).all_text_contents()
        return [" ".join(words.split()) for words in found] or ["(none)"]

    def read_count(self, target: str) -> list[str]:
        """How many elements are visible."""
        return [str(self._all(target).filter(visible=True).count())]

    def read_attribute(self, name: str, target: str) -> list[str]:
        """An attribute of each element."""
        return [str(self._tell(one.get_attribute(name))) for one in self._all(target).all()]

    def read_css(self, name: str, target: str) -> list[str]:
        """A property of each element's style, the same ones in a row once."""
        script = "(all, name) => all.map((one) => getComputedStyle(one)[name])"
        found = self._all(target).evaluate_all(script, name)
        return [one for n, one in enumerate(found) if not n or one != found[n - 1]]

    def read_js(self, script: str) -> list[str]:
        """The value of an expression: a line each of a list."""
        value = self._tell(self.tab.evaluate(script))
        values = value if isinstance(value, list) else [value]
        return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values]

    def read_focused(self) -> list[str]:
        """What has the focus."""
        return [str(self._tell(self.tab.evaluate(_FOCUSED)))]

    def read_page(self) -> list[str]:
        """The page's address."""
        return [str(self._tell(self.tab.url))]

    def read_requests(self, ending: str) -> list[str]:
        """The files with such names that were asked for."""
        names = (url.partition("#")[0].rpartition("/")[2] for url in self._tabs.requests)
        return [name for name in names if re.search(ending, name)] or ["(none)"]

    def read_said(self) -> list[str]:
        """What the page said to the console, or asked for against its policy, which is forgotten."""
        said = [re.sub(r" at line \d+", "", str(self._tell(one))) for one in self._tabs.complaints]
        return said or ["(nothing)"]

    def once_forget(self) -> list[str]:
        """Forget what the page said."""
        self._tabs.complaints.clear()
        return []

    def once_stops(self, count: str) -> list[str]:
        """What Tab leads to, press by press."""
        found = []
        for _ in range(int(count)):
            self.tab.keyboard.press("Tab")
            found.append(str(self._tell(self.tab.evaluate(_FOCUSED))))
        return found

    def once_readings(self, *places: str) -> list[str]:
        """The tooltip with the pointer at each place."""
        found = self.read_at([read_fraction(one) for one in places])
        return [" | ".join(" · ".join(row) for row in rows) for rows in found]

    def read_at(self, places: list[float]) -> list[list[list[str]]]:
        """The rows of the tooltip with the pointer at each of these fractions of the plot's width."""
        found: list[list[list[str]]] = self.figure.evaluate(_READINGS, [places, 0.5])
        return found

    def once_save(self, words: str) -> list[str]:
        """Save a file by the figure's menu: its name, and how it begins; of a picture its words."""
        self.find("button:Save").click()
        with self.tab.expect_download() as download:
            self.tab.locator(".rg-menu").filter(visible=True).get_by_text(words).click()
        path = self._folder / download.value.suggested_filename
        download.value.save_as(path)
        return [path.name, *_describe(path)]

    def once_sheets(self) -> list[str]:
        """How many sheets of paper the page takes."""
        return [str(len(re.findall(rb"/Type /Page\b", self.tab.pdf(format="A4"))))]

    def once_axe(self, *parts: str) -> list[str]:
        """What axe-core objects to, in light and dark."""
        return self._tabs.find_faults(self.tab, (int(self.tab.evaluate("innerWidth")),), *parts)

    def _all(self, target: str) -> Locator:
        if match := ROLE.fullmatch(target):
            return self.tab.get_by_role(match[1], **({"name": match[2], "exact": True} if match[2] else {}))  # type: ignore[arg-type]
        return self.tab.locator(target)


def _describe(path: Path) -> Iterator[str]:
    content = path.read_bytes()
    if path.suffix == ".svg":
        text = content.decode()
        yield " | ".join(filter(None, re.findall(r"<text[^>]*>(?:<tspan[^>]*>)?([^<]*)", text)))
        paths, variables, scripts = (text.count(part) for part in ("<path", "var(", "<script"))
        yield f"{paths} paths, {variables} variables, {scripts} scripts"
        yield "grounds: " + ", ".join(sorted(set(re.findall(r'<rect[^>]* fill="([^"]*)"', text))))
    elif path.suffix in {".csv", ".json"}:
        yield content.decode()[:120].partition("\n")[0]
    else:
        yield repr(content[:8])[2:-1]
        if path.suffix == ".png":
            yield f"{int.from_bytes(content[16:20], 'big')} pixels wide"


def _write_lines(lines: list[str]) -> str:
    # What begins like a prompt would be taken for a command when the page is read again.
    written = ("".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in line) for line in lines)
    return "".join(f"\\{line}\n" if line.startswith(_PROMPT) else f"{line}\n" for line in written)
