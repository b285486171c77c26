"""A small MkDocs site in our theme, with what the plugin would tell its templates."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import Environment, StrictUndefined
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.plugins import BasePlugin

from reportgen.site.assembly import find_lunr
from reportgen.site.navigation import NavigationTree
from reportgen.site.outputs import make_index_scripts
from reportgen.site.security import POLICY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext

TOKENS = Path(__file__).parent.parent / "reportgen" / "site" / "assets" / "tokens.css"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
SOURCE = {
    "name": "math500",
    "title": "MATH500 <validation>",
    "labels": [],
    "approximate": "digitised from a figure",
    "files": [{"path": "data/math500/runs.csv", "sha256": HASH, "size": 2381}],
}
SITE = {"version": "0.1.0", "csp": POLICY, "commit": "517d30f2aa00", "date": "2025-11-20"}
PAGE = {"sources": [SOURCE], "all_sources": [SOURCE], "og_image": "card.png", "description": ""}

LONG = "One run each cannot say which of two methods is better, and a second run could change the order. "
PAGES = {
    "index.md": f"# What is here\n\nTwo benchmarks.\n\n## Recent\n\n{LONG * 3}\n\n## Older\n\n{LONG * 9}\n",
    "math500.md": "# MEL & &lt;GRPO&gt; `x`\n\nLevel.\n\n## A & B\n\nText.\n\n## C\n\nText.\n",
    "guide/index.md": "# Getting started\n\nTwo commands.\n",
    "guide/elements.md": f"""# Elements

A sentence with `code`, a [link](../math500.md), an [outside link](https://example.org/x), a note.[^1]

## Table

| key | {" | ".join(f"column {i}" for i in range(12))} |
| --- | {" | ".join("---:" for i in range(12))} |
| seedling | {" | ".join(f"0.{i}234567" for i in range(12))} |

## Code

```python
result = compare("{"long " * 40}")  # a comment
```

!!! warning "One run"
    Nothing can be said about seeds.

??? note "Folded"
    Inside.

=== "Python"

    One.

=== "Shell"

    Two.

- [x] done

Term
:   Definition.

> {LONG}

[^1]: A footnote.
""",
}
SETTINGS: dict[str, Any] = {
    "site_name": "Reports & <more>",
    "site_url": "https://example.org/reports/",
    "site_description": "Every number from its data",
    "repo_url": "https://example.org/lab/report",
    "edit_uri": "edit/main/docs/",
    "theme": {"name": "reportgen"},
    "plugins": ["search"],
    "nav": [
        {"Overview": "index.md"},
        {"MATH & 500": "math500.md"},
        {"Guide": ["guide/index.md", "guide/elements.md"]},
    ],
    "markdown_extensions": [
        "admonition",
        "def_list",
        "footnotes",
        {"tables": {"use_align_attribute": True}},
        {"toc": {"permalink": True}},
        "pymdownx.details",
        "pymdownx.highlight",
        "pymdownx.superfences",
        "pymdownx.tasklist",
        {"pymdownx.tabbed": {"alternate_style": True}},
    ],
}


class Teller(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
    """Tells the templates what reportgen's plugin would."""

    def __init__(self, site: Mapping[str, Any], page: Mapping[str, Any]) -> None:
        self._site = dict(site)
        self._page = dict(page)

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Load the design tokens."""
        config.extra_css = ["assets/tokens.css", *config.extra_css]
        return config

    def on_nav(self, nav: Navigation, **_: object) -> None:
        """Note the pages."""
        self._nav = nav

    def on_env(self, env: Environment, **_: object) -> Environment:
        """Escape what is printed, and refuse names that nobody defined."""
        self._tree = NavigationTree(self._nav)
        env.autoescape = True
        env.undefined = StrictUndefined
        return env

    def on_template_context(self, context: TemplateContext, **_: object) -> TemplateContext:
        """Tell what the site's own templates are told: nothing of a page."""
        return context | {"rg": self._site | {"navigation": self._tree.make_context(None)}}  # type: ignore[return-value]

    def on_page_context(self, context: TemplateContext, *, page: Page, **_: object) -> TemplateContext:
        """Tell a page about itself."""
        listed = {"navigation": self._tree.make_context(page)}
        return context | {"rg": self._site | self._page | listed}  # type: ignore[return-value]

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Write the tokens and the scripts of the search."""
        site = Path(config.site_dir)
        (site / "assets").mkdir()
        shutil.copy(TOKENS, site / "assets")
        index = site / "search" / "search_index.json"
        if index.exists():
            for name, script in make_index_scripts(json.loads(index.read_bytes())):
                index.with_name(name).write_text(script, "utf-8")
            shutil.copy(find_lunr(), index.with_name("lunr.js"))


def build_site(
    folder: Path,
    pages: Mapping[str, str] = PAGES,
    site: Mapping[str, Any] = SITE,
    page: Mapping[str, Any] = PAGE,
    **settings: object,
) -> Path:
    """Build a site below ``folder`` and return where it is; a setting of None is left out."""
    for path, text in pages.items():
        file = folder / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    kept = {key: value for key, value in (SETTINGS | settings).items() if value is not None}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(kept), encoding="utf-8")
    config = load_config(str(folder / "mkdocs.yml"))
    config.plugins["teller"] = Teller(site, page)
    build(config)
    return Path(config.site_dir)
