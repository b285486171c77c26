"""Hostile names, scripts and lists: reports work as any other, and nothing runs but their own scripts."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from command_line import serving
from hostile_report import LAST, WRITABLE
from made_projects import PAGE, write_report
from playwright.sync_api import expect
from test_serving import free_port

from browser.built_sites import ADDRESS, ALLOWED, write_versions
from browser.conftest import Site, opened
from browser.gestures import resize, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page, Route

    from browser.conftest import Pool, Sites, Tabs
    from browser.session import Session

pytestmark = pytest.mark.browser

ALIVE = re.compile("rg-is-(live|read)")
_REST = "new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))"


def find_menu(tab: Page) -> list[str]:
    """The words of the menu of versions."""
    tab.locator(".rg-versions summary").click()
    return tab.locator(".rg-versions a").all_inner_texts()


# ---- a report whose every name is hostile ---------------------------------------------------------

PAGES = {"index": 0, "series": 5, "metrics": len(WRITABLE), "words": len(WRITABLE), "scores": 5}
# What no page of ours has: an image, a handler, an address that is a script, another prototype.
_STRANGE = """() => [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes]
    .filter((a) => a.name.startsWith("on") || /^\\s*javascript:/i.test(a.value) && a.name.match(/href|src/))
    .map((a) => `${node.localName} ${a.name}=${a.value}`)
    .concat(["IMG", "IFRAME", "B", "OBJECT"].includes(node.tagName) ? [node.outerHTML] : []))
  .concat(Object.keys(Object.prototype))"""
_WAKE = """() => document.querySelectorAll(".rg-figure").forEach((figure) =>
  figure.dispatchEvent(new PointerEvent("pointermove", { bubbles: true })))"""
_AWAKE = (
    '[...document.querySelectorAll(".rg-figure")].every((one) => /rg-is-(live|read)/.test(one.className))'
)


@pytest.mark.parametrize(
    "page", [pytest.param(one, marks=pytest.mark.slow) if one == "metrics" else one for one in PAGES]
)
def test_a_page_with_hostile_names_opens_whole_and_runs_nothing(tabs: Tabs, page: str) -> None:
    """Every figure wakes, the last heading stands, no element comes of a name, and none widens a page."""
    tab = tabs.open("hostile/index" if page == "index" else f"hostile/{page}/index")
    assert tab.locator(".rg-figure").count() == PAGES[page]
    tab.evaluate(_WAKE)
    wait_until(tab, _AWAKE)
    expect(tab.get_by_role("heading", name=LAST)).to_be_visible()
    assert tab.evaluate(_STRANGE) == []
    for width in (1280, 360):
        resize(tab, width)
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= width


def test_scripts_of_a_served_page_draw_hostile_names_alike(tabs: Tabs) -> None:
    """They are found in another way from a server."""
    tab = tabs.open("hostile/series/index", served=True)
    tab.locator(".rg-figure").first.dispatch_event("pointermove")
    expect(tab.locator(".rg-figure").first).to_have_class(ALIVE)
    assert tab.evaluate(_STRANGE) == []


def test_hostile_names_are_said_and_found_as_they_are(tabs: Tabs, reader: Session) -> None:
    """Tooltips and marks have all series, also those named like properties; search has words."""
    reader.do("open hostile/series/index", "wake all", "keys End")
    tooltip = reader.figure.locator(".rg-tooltip")
    expect(tooltip).to_be_visible()
    cells = "tip => [...tip.children].flatMap(row => [...row.children].map(cell => cell.textContent))"
    assert set(WRITABLE) <= set(tooltip.evaluate(cells))
    reader.do("go hostile/scores/index", "wake dots")
    said = reader.figure.locator(".rg-mark").evaluate_all("marks => marks.map(mark => mark.dataset.rgSeries)")
    assert set(WRITABLE) <= set(said)
    reader.do("go hostile/index", "press /")
    reader.tab.get_by_role("combobox").fill("hostile")
    expect(reader.tab.get_by_role("option").first).to_be_visible()
    assert reader.tab.evaluate(_STRANGE) == []
    assert tabs.complaints == []


# ---- a report that trusts nobody ------------------------------------------------------------------

EVIL = "document.documentElement.dataset.evil = 'ran';\n"
INTRUDERS = (
    '<script src="../evil.js"></script>',
    f"<script>{EVIL}</script>",
    f'<svg onload="{EVIL}"></svg>',
    '<iframe srcdoc="&lt;script src=../evil.js&gt;&lt;/script&gt;"></iframe>',
)


def use_page(tab: Page, figure_id: str) -> None:
    """Wake a figure, change the colours, and search: all by scripts that the loader brings."""
    figure = tab.locator(f"#{figure_id}")
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(ALIVE)
    tab.get_by_role("button", name=re.compile("Colours")).click()
    expect(tab.locator("html")).to_have_attribute("data-theme", re.compile("light|dark"))
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("hostile")
    expect(tab.get_by_role("option").first).to_be_visible()
    tab.keyboard.press("Escape")


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_an_untrusted_report_works(tabs: Tabs, *, from_server: bool) -> None:
    """Scripts that the loader brings do what they did; nothing is refused or asked for elsewhere."""
    tab = tabs.open("untrusted/series/index", served=from_server, fresh=True)
    use_page(tab, "all")
    if from_server:  # from a disk this page has no place of its own
        tabs.go(tab, "untrusted/404")
        expect(tab.locator("html")).to_have_class(re.compile(r"\bjs\b"))
        # Each script in the page has the hash that the loader asks for; a changed one would be refused.
        tabs.go(tab, "untrusted/index")
        found = tab.evaluate("[...document.scripts].filter(s => s.src).map(s => [s.src, s.integrity])")
        assert {address.rpartition("/")[2] for address, _ in found} == {"theme.js", "search.js", "live.js"}
        assert all(integrity.startswith("sha256-") for _, integrity in found)
        # Nothing runs because of where it lies.
        policy = tab.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content") or ""
        (scripts,) = [part for part in policy.split("; ") if part.startswith("script-src")]
        assert "self" not in scripts
        assert "unsafe" not in scripts


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_a_script_that_got_into_a_page_does_not_run(
    pool: Pool, sites: Sites, tmp_path: Path, *, from_server: bool
) -> None:
    """The policy would hold even if all the other walls had fallen, in one file, too."""
    page = (sites.get("untrusted").folder / "index.html").read_text("utf-8")
    pages = [page.replace("</article>", f"{intruder}</article>") for intruder in INTRUDERS]
    whole = (sites.get("one-file").folder / "still.html").read_text("utf-8")
    pages.append(whole.replace("<article", f'<script>{EVIL}</script><img src="x.png"><article', 1))
    (tmp_path / "evil.js").write_text(EVIL, "utf-8")
    for number, changed in enumerate(pages):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/index.html").write_text(changed, "utf-8")
        with opened(pool, sites, changed=sites.find(tmp_path)) as tabs:
            tab = tabs.open(f"changed/{number}/index", served=from_server)
            expect(tab.locator("h1, h2").first).to_be_visible()
            tab.evaluate(_REST)
            assert tab.evaluate("document.documentElement.dataset.evil") is None, number
        found = " ".join(
            one for one in tabs.complaints if "violat" in one or "Content Security Policy" in one
        )
        assert found, (number, tabs.complaints)
    assert "script-src" in found
    assert "img-src" in found


# What scripts read of a document, and of a window that has it only later or never.
OF_DOCUMENT = (
    *("activeElement", "addEventListener", "appendChild", "baseURI", "body", "contains", "createElement"),
    *("createElementNS", "createTextNode", "currentScript", "defaultView", "documentElement", "execCommand"),
    *("fonts", "fullscreenElement", "getElementById", "head", "implementation", "nodeType", "ownerDocument"),
    *("querySelector", "querySelectorAll", "readyState", "removeEventListener", "scripts", "title"),
)
OF_WINDOW = (
    *("define", "exports", "global", "lunr", "module", "reportgenFreeDocument", "reportgenLive"),
    *("reportgenSamples", "reportgenSearch", "reportgenSearchDialog", "reportgenVersions", "vega"),
    *("checked-1", "navigation", "search-results"),
)
ELSEWHERE = 'src="https://elsewhere.example/picture/" data-js="https://elsewhere.example/js/"'
NAMED = {
    "images": f"<img {{0}} {ELSEWHERE}>",
    "forms": '<form {0}><input name="removeAttribute"><input name="src"></form>',
    "embedded": "<object {0}></object><iframe {0}></iframe><embed {0}>",
}
STATEMENT = """<a class="rg-bound" href="#checked-1">bound</a> <section class="rg-checked"><ol>
<li id="checked-1"><span class="rg-says">it holds</span></li></ol></section>"""


@pytest.mark.parametrize(("kind", "from_server"), [("images", True), ("forms", False), ("embedded", True)])
def test_names_of_elements_do_not_change_what_scripts_do(
    pool: Pool, sites: Sites, tmp_path: Path, kind: str, *, from_server: bool
) -> None:
    """Every script of ours works beside elements with the names of what it reads, and loads ours only."""
    folder = tmp_path / "named"
    ignored = shutil.ignore_patterns("*.csv", "*.pdf", "*.png")
    shutil.copytree(sites.get("untrusted").folder, folder, ignore=ignored)
    write_versions(folder, [{"version": "1.0"}])
    names = "".join(NAMED[kind].format(f'id="{name}" name="{name}"') for name in OF_DOCUMENT)
    names += "".join(f'<span id="{name}"></span>' for name in OF_WINDOW)
    for name in ("series", "scores"):
        page = (folder / name / "index.html").read_text("utf-8")
        page = page.replace('<article class="rg-prose">', f'<article class="rg-prose">{names}', 1)
        page = page.replace("</article>", f"{STATEMENT}</article>", 1)
        page = page.replace("</head>", '<meta name="reportgen-versions" content=""></head>', 1)
        (folder / name / "index.html").write_text(page, "utf-8")
    with opened(pool, sites, named=sites.find(folder)) as tabs:
        tab = tabs.open("named/series/index", served=from_server, fresh=True)
        expect(tab.locator(".rg-versions")).to_be_visible()
        use_page(tab, "all")
        tab.get_by_text("bound", exact=True).hover()
        expect(tab.get_by_role("tooltip")).to_have_text("it holds")
        tab.locator("#results").get_by_role("button", name=re.compile("Cite")).click()
        expect(tab.get_by_role("button", name="Copy LaTeX table")).to_be_visible()
        tabs.go(tab, "named/scores/index")
        expect(tab.locator("#dots .rg-surface, #dots .rg-toolbar").first).to_be_attached()
    assert [one for one in tabs.requests if "elsewhere" in one and "/picture/" not in one] == []
    assert [one for one in tabs.complaints if one.startswith("error:")] == []


# ---- charts of authors ----------------------------------------------------------------------------

_MADE = """() => [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes])
    .filter((a) => a.name.startsWith("on") || a.name === "autofocus").map((a) => a.name)
    .concat([...document.querySelectorAll("img, iframe, foreignObject")].map((node) => node.outerHTML))
    .concat(Object.keys(Object.prototype))"""
_TOUCH = """name => {
  const marks = [...document.querySelectorAll(`#${name} .rg-live svg path, #${name} .rg-live svg text`)];
  for (const mark of marks.slice(0, 5)) {
    for (const type of ["pointerover", "click"]) mark.dispatchEvent(new MouseEvent(type, { bubbles: true }));
  }
  document.querySelectorAll(".vega-bind input, .vega-bind select").forEach((field) => field.focus());
}"""
_CALLED = """() => {
  window.called = [];
  const tuples = vega.expressionFunction("vlSelectionTuples");
  const tries = [[{map: () => window.called.push(1)}, {}], [[], "fields"], [[{datum: {}}], {}]];
  const said = (args) => { try { return tuples(...args) && "passed"; } catch (e) { return e.message; }};
  return tries.map(said).concat(window.called.length);
}"""


def test_an_allowed_chart_runs_nothing(tabs: Tabs, reader: Session) -> None:
    """Without any policy: alive, pointed at and clicked, it makes no handler and no image.

    Nor does its file ask anybody for anything. The selection function of Vega refuses what an expression
    hands over for a list (CVE-2025-65110), should one ever get through.
    """
    reader.tab = tabs.open("bare/charts", served=True)
    reader.do(f"wake {' '.join(ALLOWED['charts'])}")
    for name in ALLOWED["charts"]:
        reader.tab.evaluate(_TOUCH, name)
    assert reader.tab.evaluate(_MADE) == []
    refused = "this must be an array"
    assert reader.tab.evaluate(_CALLED) == [refused, refused, "passed", 0]
    for name in ALLOWED["charts"]:
        reader.tab.goto(f"{tabs.site('bare').address}/figures/{name}.svg")
        assert reader.tab.locator("image, script, foreignObject").count() == 0, name


def test_a_script_in_a_review_is_refused(tabs: Tabs) -> None:
    """Whatever got into the page, the policy stops it."""
    tab = tabs.open("reviews/nothing")
    tab.evaluate(
        """() => {
            window.refused = [];
            document.addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
            document.body.insertAdjacentHTML("beforeend", "<img src=http://127.0.0.1:9/x onerror=boo()>");
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        }"""
    )
    wait_until(tab, "refused.length >= 2")
    assert set(tab.evaluate("refused")) >= {"img-src", "script-src-elem"}
    assert tab.evaluate("window.ran") is None
    tabs.complaints.clear()


# ---- versions -------------------------------------------------------------------------------------

NO_VERSIONS = ("../../x", "javascript:alert(1)", "//example.org", "", "a" * 101, 1, ["1.0"])
STRANGE: tuple[object, ...] = (
    *(None, 7, "x", [], {"title": "no version"}),
    *({"version": version} for version in NO_VERSIONS),
    {"version": "1.1", "title": "<img src=x onerror=alert(1)>", "aliases": "latest"},
    {"version": "0.9", "title": {"toString": 1}, "aliases": {"includes": 1}},
)


def test_a_damaged_list_of_versions_does_no_harm(pool: Pool, sites: Sites, tmp_path: Path) -> None:
    """What is no version is passed over, names stay text, and links stay within the site."""
    for place in ("v/1.1", "pr/12"):
        shutil.copytree(sites.get("versions").folder / place, tmp_path / "repo" / place)
    with opened(pool, sites, repo=sites.find(tmp_path / "repo")) as tabs:
        write_versions(tmp_path / "repo")
        tab = tabs.open("repo/v/1.1/index", served=True, fresh=True)
        tab.route("**/versions.js", lambda route: route.fulfill(path=tmp_path / "repo/versions.js"))
        for listed in (STRANGE, None, {"length": 3}, "text", 5):
            write_versions(tmp_path / "repo", listed)
            tabs.go(tab, "repo/v/1.1/index")  # has loaded what its scripts asked for
            if listed is STRANGE:
                assert find_menu(tab) == ["main (unreleased)", "<img src=x onerror=alert(1)>", "0.9"]
                current = tab.locator(".rg-versions a[aria-current]")
                assert current.all_inner_texts() == ["<img src=x onerror=alert(1)>"]
            else:
                assert tab.locator(".rg-versions summary").count() == 0
            links = tab.evaluate("[...document.querySelectorAll('.rg-versions a')].map((link) => link.href)")
            assert all(link.startswith(f"{tabs.site('repo').address}/") for link in links)
            # A preview leads back to main, whatever the list says.
            tabs.go(tab, "repo/pr/12/index")
            expect(tab.locator(".rg-versions summary")).to_have_text("Version: Preview 12")
    assert tabs.complaints == []


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_versions_alone_and_where_nobody_is_trusted(
    pool: Pool, sites: Sites, tmp_path: Path, *, from_server: bool
) -> None:
    """A version that somebody unpacked alone has no menu; an untrusted one lets its script load the list."""
    shutil.copytree(sites.get("versions").folder / "v/1.1", tmp_path / "alone/v/1.1")
    with opened(pool, sites, alone=sites.find(tmp_path / "alone")) as tabs:
        tab = tabs.open("alone/v/1.1/index", served=from_server)
        tab.evaluate(_REST)
        assert tab.locator(".rg-versions summary").count() == 0
    # The browser itself says that the file is not there.
    assert all("Failed to load resource" in one for one in tabs.complaints), tabs.complaints
    ignored = shutil.ignore_patterns("figures", "metrics", "words")
    shutil.copytree(sites.get("untrusted").folder, tmp_path / "repo/v/1.0+b", ignore=ignored)
    write_versions(tmp_path / "repo")
    with opened(pool, sites, repo=sites.find(tmp_path / "repo")) as tabs:
        tab = tabs.open("repo/v/1.0+b/series/index", served=from_server)
        assert "strict-dynamic" in tab.content()
        assert "1.1 (latest)" in find_menu(tab)
        expect(tab.get_by_role("note")).to_contain_text("The newest is 1.1.")
    assert tabs.complaints == []


def test_a_version_is_cited_where_it_stands(pool: Pool, sites: Sites, tmp_path: Path) -> None:
    """On the site that the report names, the address is that of the page at hand, as below /v/1.0/."""
    folder = sites.get("cited").folder

    def answer(route: Route) -> None:
        file = folder / (route.request.url.removeprefix(f"{ADDRESS}v/1.0/").partition("#")[0] or "index.html")
        route.fulfill(path=file / "index.html" if file.is_dir() else file)

    from browser.session import Session  # noqa: PLC0415

    with opened(pool, sites) as tabs:
        reader: Any = Session(tabs, tmp_path)
        reader.do("open cited/pages/tables copying fresh")
        reader.tab.route(f"{ADDRESS}v/1.0/**", answer)
        reader.tab.route(f"{ADDRESS}versions.js", lambda route: route.fulfill(body=""))
        reader.tab.goto(f"{ADDRESS}v/1.0/first-benchmark/")
        reader.do("watch accuracies", "copy BibTeX table")
        assert f"url = {{{ADDRESS}v/1.0/first-benchmark/#accuracies}}" in reader.tab.evaluate("copied")


# ---- a report that is served while it is written --------------------------------------------------

INLINE = "<script>document.documentElement.dataset.evil = 'ran';</script>"


def test_a_served_report_reloads_shows_problems_and_runs_nothing_else(
    pool: Pool, sites: Sites, tmp_path: Path
) -> None:
    """Figures come alive, a failed build keeps the page and names each problem, and a script is refused."""
    report = write_report(tmp_path / "report")
    page = report / "content/index.md"
    with serving(report, free_port()) as port:
        site = Site(tmp_path, f"http://127.0.0.1:{port}")
        with opened(pool, sites, served=site) as tabs:
            tab = tabs.open("served/index", served=True, fresh=True)
            problems, figure = tab.get_by_role("alert"), tab.locator(".rg-figure")
            expect(problems).to_have_count(0)
            figure.scroll_into_view_if_needed()
            figure.hover()
            expect(figure).to_have_class(ALIVE)
            page.write_text(f"{PAGE}\n\n```curv\n```\n\n```tabel\n<b>bold</b>\n```\n", "utf-8")
            expect(problems).to_be_visible()
            expect(problems.locator("summary")).to_have_text("2 problems: this page is as it was before")
            for number, kind in enumerate(("curve", "table")):
                expect(problems.locator("li").nth(number)).to_contain_text(f'Did you mean "{kind}"?')
            expect(problems.locator("b")).to_have_count(0)
            expect(figure).to_be_visible()
            assert problems.evaluate("element => getComputedStyle(element).position") == "fixed"
            page.write_text(f"{PAGE}\n\n## Mended\n", "utf-8")
            expect(tab.get_by_role("heading", name="Mended")).to_be_visible()
            expect(problems).to_have_count(0)
            assert {*tabs.complaints} == {"console: Enabled live reload"}  # the last page may say it later
            page.write_text(f"{PAGE}\n\n{INLINE}\n\n## It changed\n", "utf-8")
            expect(tab.get_by_role("heading", name="It changed")).to_be_visible()
            assert tab.evaluate("document.documentElement.dataset.evil") is None
            assert any("violation: script-src" in one for one in tabs.complaints), tabs.complaints
