"""Search that works from a disk too.

A page opened from ``file://`` may neither fetch JSON nor start the worker of MkDocs' own search, so the
index comes as a classic script.
"""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

from mkdocs.contrib import search

SETTINGS = ("lang", "separator", "min_search_length")


def make_index_script(index_json: str) -> str:
    """Return a classic script that hands MkDocs' search index to the theme.

    Args:
        index_json: the text of ``search/search_index.json``: ``{"config": {…}, "docs": [{"location",
            "title", "text"}, …]}``.

    Returns:
        ``window.reportgenSearch={…};`` with the documents and the settings that a search needs, titles
        as text (MkDocs writes them as HTML). No character in it can end a script or a line of one.
    """
    index = json.loads(index_json)
    config = {key: index["config"][key] for key in SETTINGS if key in index["config"]}
    docs = [doc | {"title": unescape(doc["title"])} for doc in index["docs"]]
    content = {"config": config, "docs": docs}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for char in "<\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"window.reportgenSearch={text};\n"


def find_lunr() -> Path:
    """Return the file of lunr, the library that MkDocs ships; a site serves it as ``search/lunr.js``."""
    return Path(str(search.__file__)).with_name("templates") / "search" / "lunr.js"
