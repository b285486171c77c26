"""Charts of authors in a browser without any policy: what passes the checks of the settings runs nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from browser.figure_pages import POLICY, chart, write_assets, write_page
from reportgen.core.errors import SourceLocation
from reportgen.settings.blocks import VegaLiteSettings
from reportgen.settings.loading import load_block

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

ROWS = [{"k": "constructor", "c": "red", "n": n} for n in range(3)]
X = {"field": "n", "type": "quantitative"}
BAR: dict[str, Any] = {"mark": "bar", "encoding": {"x": X}}
HOSTILE_WORDS = "<img src=x onerror=alert(1)><script>alert(2)</script>"
# What an author may write, as near to what is refused as it gets.
ALLOWED: dict[str, dict[str, Any]] = {
    "words": BAR | {"title": HOSTILE_WORDS, "description": HOSTILE_WORDS},
    "text": {"mark": {"type": "text", "text": HOSTILE_WORDS, "font": HOSTILE_WORDS}, "encoding": {"x": X}},
    "tooltip": BAR | {"encoding": {"x": X, "tooltip": {"value": HOSTILE_WORDS}}},
    "input": BAR
    | {"params": [{"name": "p", "value": "a", "bind": {"input": "text", "name": HOSTILE_WORDS}}]},
    "range": BAR
    | {"params": [{"name": "p", "value": 1, "bind": {"input": "range", "max": '9" onfocus="alert(1)'}}]},
    "select": BAR
    | {
        "params": [
            {
                "name": "p",
                "value": "n",
                "bind": {
                    "input": "select",
                    "options": ["n", "constructor", HOSTILE_WORDS],
                    "labels": ["a", HOSTILE_WORDS],
                },
            }
        ],
        "transform": [{"calculate": "datum[p]", "as": "z"}],
        "encoding": {"x": X, "tooltip": {"field": "z", "type": "nominal"}},
    },
    "prototype": BAR
    | {
        "transform": [{"calculate": "datum[datum.k]", "as": "z"}, {"calculate": "datum[datum.k]", "as": "y"}],
        "encoding": {"x": X, "text": {"field": "z", "type": "nominal"}},
        "mark": "text",
    },
    "selection": BAR
    | {
        "params": [
            {
                "name": "p",
                "select": {"type": "point", "on": "click[!event.shiftKey]", "toggle": "event.altKey"},
            }
        ],
        "encoding": {"x": X, "color": {"condition": {"param": "p", "value": "red"}, "value": "blue"}},
    },
    "colours": BAR | {"encoding": {"x": X, "color": {"field": "c", "type": "nominal", "scale": None}}},
    "cursor": {
        "mark": {"type": "bar", "cursor": "pointer"},
        "encoding": {"x": X},
        "background": "var(--rg-bg)",
    },
}


def settings_of(specification: dict[str, Any]) -> VegaLiteSettings:
    """The settings of a block with this body, which the checks let pass."""
    settings = load_block("vega-lite", json.dumps(specification), SourceLocation("content/a.md", 1))
    assert isinstance(settings, VegaLiteSettings)
    return settings


def write_bare(root: Path) -> Path:
    """Write pages with a chart each and no policy, as another theme may serve them."""
    write_assets(root)
    (root / "favicon.ico").write_bytes(b"")  # a picture alone has none, and the browser asks
    for name, specification in ALLOWED.items():
        page = write_page(root, name, chart(name, dict(settings_of(specification).spec), ROWS))
        text = page.read_text(encoding="utf-8")
        assert POLICY in text
        page.write_text(text.replace("Content-Security-Policy", "none"), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """Pages without a policy; no dialog, message, error or outside request may come of them."""
    return sites.make("bare", write_bare, at_root=True)


def awake(tab: Page, name: str) -> None:
    """Wake the chart of a page."""
    tab.locator(f"#{name}").dispatch_event("pointermove")
    expect(tab.locator(f"#{name}.rg-is-live")).to_be_attached()


_STRANGE = """() => [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes])
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


def test_an_allowed_chart_runs_nothing(tabs: Tabs) -> None:
    """Alive, pointed at and clicked, it makes no handler and no image, and changes no prototype."""
    tab = tabs.open("words", served=True)
    for name in ALLOWED:
        tabs.go(tab, name)
        awake(tab, name)
        tab.evaluate(_TOUCH, name)
        assert tab.evaluate(_STRANGE) == [], name


def test_the_file_of_an_allowed_chart_asks_nobody(tabs: Tabs) -> None:
    """The picture that a reader downloads, opened alone."""
    tab = tabs.open("words", served=True)
    for name in ALLOWED:
        tab.goto(f"{tabs.site.address}/figures/{name}.svg")
        assert tab.locator("image, script, foreignObject").count() == 0, name


def test_the_selection_function_of_vega_calls_nothing(tabs: Tabs) -> None:
    """CVE-2025-65110: what an expression hands over for a list is refused, should one ever get through."""
    tab = tabs.open("words", served=True)
    awake(tab, "words")
    said = tab.evaluate(
        """() => {
          window.called = [];
          const tuples = vega.expressionFunction("vlSelectionTuples");
          const tries = [[{map: () => window.called.push(1)}, {}], [[], "fields"], [[{datum: {}}], {}]];
          const said = (args) => {
             try { return tuples(...args) && "passed"; } catch (e) { return e.message; }};
          return tries.map(said).concat(window.called.length);
        }"""
    )
    assert said == ["this must be an array", "this must be an array", "passed", 0]
