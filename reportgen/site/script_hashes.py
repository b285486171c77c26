"""Scripts that a page names by their hashes, where nobody may put another one beside them.

A browser can check the hash of a script file that comes from a server, and refuses one from a disk. So the
policy names two scripts that stand in the page itself: the first one of the theme, and a loader, which may
load the others ('strict-dynamic') and has them checked wherever that works.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Final

from reportgen.site.fragments import render_fragment

_ASSETS: Final = Path(__file__).with_name("assets")


def read_inline_scripts(assets: str, *, searching: bool) -> dict[str, str]:
    """The texts of the two scripts in a page: ``boot`` for its beginning, ``loader`` for its end.

    Args:
        assets: where our own scripts stand in the site.
        searching: whether the site can be searched.
    """
    theme = Path(str(files("reportgen.site_templates") / "js"))
    names = ("theme.js", "search.js") if searching else ("theme.js",)
    loaded = {f"js/{name}": theme / name for name in names} | {f"{assets}/live.js": _ASSETS / "live.js"}
    scripts = [(path, _hash(file.read_bytes())) for path, file in loaded.items()]
    return {
        "boot": (theme / "boot.js").read_text("utf-8"),
        "loader": render_fragment("script_loader.html", scripts=scripts),
    }


def make_script_policy(texts: dict[str, str]) -> str:
    """The directive of a content security policy that lets these scripts run, and what they load."""
    hashes = " ".join(f"'{_hash(text.encode())}'" for text in texts.values())
    return f"script-src {hashes} 'strict-dynamic'"


def _hash(content: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()
