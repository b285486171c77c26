"""A small MkDocs site in our theme, with what the plugin would tell its templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.plugins import BasePlugin

from reportgen.site.security import POLICY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
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
    "plugins": ["search", "reportgen"],
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
        {"pymdownx.quotes": {"callouts": True}},
        "pymdownx.superfences",
        "pymdownx.tasklist",
        {"pymdownx.tabbed": {"alternate_style": True}},
    ],
}


class Teller(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
    """Tells the templates something else of the site and its pages than our plugin, which goes first."""

    def __init__(self, site: Mapping[str, Any], page: Mapping[str, Any]) -> None:
        self._site = dict(site)
        self._page = dict(page)

    def on_env(self, env: Environment, *, config: MkDocsConfig, **_: object) -> Environment:
        """Render every template, also where a report of these pages would not need it."""
        config.theme.static_templates.update({"problems.html", "pages.html"})
        return env

    def on_template_context(self, context: TemplateContext, **_: object) -> TemplateContext:
        """Tell what the site's own templates are told: nothing of a page."""
        return self._tell(context, self._site)

    def on_page_context(self, context: TemplateContext, **_: object) -> TemplateContext:
        """Tell a page about itself."""
        return self._tell(context, self._site | self._page)

    def _tell(self, context: TemplateContext, told: dict[str, Any]) -> TemplateContext:
        listed: Any = context["rg"]  # type: ignore[typeddict-item]
        return context | {"rg": told | {"navigation": listed["navigation"]}}  # type: ignore[return-value]


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
