"""Templates of our theme: where they are, what determines them, and rendering one outside a page.

Compiled templates are stored where Python stores compiled modules of the package, since running them is
running code: the user's cache holds only data.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files as resource_files
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reportgen.core.cache import Cache, replace_file
from reportgen.core.words import keep_together
from reportgen.settings.text import convert_caption

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

THEME = Path(str(resource_files("reportgen.site_templates")))


class CompiledTemplates(jinja2.BytecodeCache):
    """Compiled templates of our theme, in ``__pycache__`` beside each; those of others are not stored.

    ``name`` (letters and digits) tells apart environments that compile a template differently.
    """

    def __init__(self, name: str) -> None:
        version = "".join(filter(str.isalnum, jinja2.__version__))
        self._tag = f"jinja{version}{name}"

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - as Jinja calls it
        """Return the path of a compiled template, or nothing if it is not one of ours."""
        if filename is None or not Path(filename).is_relative_to(THEME):
            return ""
        return cache_from_source(filename, optimization=self._tag)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a compiled template if it is of the same source."""
        with suppress(OSError), open(bucket.key, "rb") as file:  # noqa: PTH123 - pathlib takes longer
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a compiled template, unless Python stores no compiled modules or the folder is read-only."""
        if bucket.key and not sys.dont_write_bytecode:
            with suppress(OSError):
                replace_file(bucket.key, bucket.bytecode_to_string())


_ENVIRONMENT = Environment(
    loader=PackageLoader("reportgen.site_templates", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
    bytecode_cache=CompiledTemplates("fragments"),
)
_ENVIRONMENT.filters["keep_together"] = keep_together
_ENVIRONMENT.filters["convert_caption"] = lambda text: Markup(convert_caption(keep_together(text)))  # noqa: S704 - it escapes


_SOURCE = re.compile(r"^(.*?)(?:Source: (.*)\.)?$")


def split_caption(caption: str) -> tuple[str, str, str]:
    """Return what to know of the data, the source, and the method, as ``join_caption`` joins them."""
    first, _, method = caption.partition("\n")
    match = _SOURCE.match(first)
    note, source = match.groups() if match else (first, None)
    return note.strip(), source or "", method


_ENVIRONMENT.filters["split_caption"] = split_caption


def render_fragment(name: str, **given: object) -> str:
    """Render a template of ``site_templates/fragments`` with escaped variables."""
    return render_template(f"fragments/{name}", **given)


def render_template(name: str, **given: object) -> str:
    """Render a template of ``site_templates`` with escaped variables."""
    return _ENVIRONMENT.get_template(name).render(**given)


@cache
def hash_templates() -> str:
    """Return the SHA-256 (hex) of our theme's templates, which also determine a page."""
    texts = [part for path in sorted(THEME.rglob("*.html")) for part in (str(path), path.read_bytes())]
    return Cache.make_key(*texts)
