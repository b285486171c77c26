"""Whether everything that determines a site is known, and our templates, which are a part of it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files as resource_files
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.core.cache import Cache
from reportgen.site import manifest

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

THEME = Path(str(resource_files("reportgen.site_templates")))

# The inputs of other plugins, of extensions that read files, and of settings that point elsewhere are
# unknown: with one of these, every build is a full one.
_KNOWN_PLUGINS = {"reportgen", "search", "material/search"}
_KNOWN_EXTENSIONS = re.compile(r"[^.]+|(?:markdown\.extensions|material\.extensions|pymdownx)\..+")
_READING_EXTENSIONS = {"pymdownx.snippets", "pymdownx.b64"}
# What determines a site besides its files. The address that workflows set is known.
_ADDRESS = rf"{manifest.SITE_URL}|\[{manifest.SITE_URL}, [\"'][^\"'\n]*[\"']\]"
_FUNCTION = r"!!python/(?!name:(?:pymdownx|material)\.)"
_OUTSIDE = re.compile(rf"!ENV\b(?! (?:{_ADDRESS})\s*$)|^\s*INHERIT\s*:|{_FUNCTION}", re.MULTILINE)


def has_known_inputs(config: MkDocsConfig) -> bool:
    """Return whether everything that determines the site is known."""
    # Extensions of ours are objects.
    listed: list[object] = [*config.markdown_extensions]
    extensions = {name for name in listed if isinstance(name, str)}
    text = Path(config.config_file_path or "mkdocs.yml").read_text(encoding="utf-8")
    return (
        set(config.plugins) <= _KNOWN_PLUGINS
        and all(_KNOWN_EXTENSIONS.fullmatch(name) for name in extensions)
        and not extensions & _READING_EXTENSIONS
        and not _OUTSIDE.search(text)
    )


@cache
def hash_templates() -> str:
    """Return the SHA-256 (hex) of our theme's templates, which also determine a page."""
    texts = [part for path in sorted(THEME.rglob("*.html")) for part in (str(path), path.read_bytes())]
    return Cache.make_key(*texts)
