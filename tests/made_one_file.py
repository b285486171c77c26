"""A built site of two pages in our theme, with whatever stands in them, and what a packed file says."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from html_tree import read_html

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from xml.etree.ElementTree import Element

_PAGE = """<!doctype html>
<html lang="en" data-theme="auto"><head><title>{title}</title>
<link rel="stylesheet" href="{root}css/theme.css"></head><body>
<nav class="rg-nav" id="navigation"><ul><li><a href="{root}index.html">First</a></li></ul></nav>
<main id="content" class="rg-main" tabindex="-1">
<div class="rg-above"><a href="gone.html">above</a></div>
<article class="rg-prose">
{content}
</article>
</main>
<footer class="rg-footer"><p>Built</p></footer></body></html>"""
LAST = '<h1 id="last">The last page</h1>'


def write_site(folder: Path, pages: Mapping[str, str], files: Mapping[str, bytes] | None = None) -> Path:
    """Write pages, by their paths in the site with their content, and return the site's folder."""
    for path, content in pages.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        page = _PAGE.format(title=path, root="../" * path.count("/"), content=content)
        file.write_text(page, "utf-8")
    for path, data in ({"css/theme.css": b""} | dict(files or {})).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder


def section(html: str, name: str) -> Element:
    """The section of a page in a packed file."""
    (found,) = [one for one in read_html(html).iter("section") if one.get("id") == name]
    return found


def find_dead_ends(html: str) -> list[str]:
    """Everything in a packed file that names an id which is not there, and each id that is there twice."""
    root = read_html(html)
    ids = [one.attrib["id"] for one in root.iter() if "id" in one.attrib]
    twice = [f"twice: {name}" for name in sorted({name for name in ids if ids.count(name) > 1})]
    named: list[str] = []
    for one in root.iter():
        for name in (
            "aria-controls",
            "aria-describedby",
            "aria-labelledby",
            "for",
            "headers",
            "data-checked",
        ):
            named += one.get(name, "").split()
        for name in ("href", "xlink:href"):
            if one.get(name, "").startswith("#"):
                named.append(one.attrib[name][1:])
        for value in one.attrib.values():
            named += re.findall(r"url\([\"']?#([^)\"']*)", value)
    known = set(ids)
    return twice + sorted({name for name in named if not {name, unquote(name)} & known})


def find_loaded(html: str) -> list[str]:
    """Everything in a packed file that would be loaded from elsewhere, or runs without the policy's leave."""
    root = read_html(html)
    policy = next(one.attrib["content"] for one in root.iter("meta") if one.get("http-equiv"))
    found = []
    for one in root.iter():
        if one.tag in {"style", "script"} and "type" not in one.attrib:
            digest = base64.b64encode(hashlib.sha256((one.text or "").encode()).digest()).decode()
            found += [f"{one.tag} without a hash"] * (f"'sha256-{digest}'" not in unescape(policy))
        for name, value in one.attrib.items():
            loads = name in {"src", "srcset", "poster", "data"} or (one.tag, name) == ("link", "href")
            if name.startswith("on") or name == "style" or (loads and not value.startswith("data:")):
                found.append(f'<{one.tag} {name}="{value}">')
        found += [f"<{one.tag}>"] * (one.tag in {"iframe", "object", "embed", "base"})
    style = "".join(one.text or "" for one in root.iter("style"))
    return found + re.findall(r"@import \"|url\([\"']?+(?!data:)[^)]*", style)
