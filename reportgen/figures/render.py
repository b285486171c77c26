"""The one place that calls vl-convert: Vega-Lite to Vega, to SVG, and SVG to PNG. No network, no Node."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import vl_convert

from reportgen.figures.text import FONTS, clean_text

# An escaped backslash, so that what follows it is not taken for an escape; then those of control characters.
_CONTROL = re.compile(r"\\\\|\\[bf]|\\u00[01][0-9a-f]")


def compile_to_vega(specification: dict[str, Any]) -> dict[str, Any]:
    """The Vega specification of a Vega-Lite one (a few milliseconds; the first call half a second)."""
    _register_fonts()
    vega: dict[str, Any] = vl_convert.vegalite_to_vega(_write_legible_json(specification))
    return vega


def render_vega_lite(specification: dict[str, Any]) -> str:
    """The SVG of a complete Vega-Lite specification; its data must be inline, nothing is fetched.

    Raises:
        ValueError: when Vega-Lite or Vega refuse the specification; the text is theirs.
    """
    _register_fonts()
    svg: str = vl_convert.vegalite_to_svg(_write_legible_json(specification), allowed_base_urls=[])
    return svg


def render_png(svg: str, *, scale: float = 1.0) -> bytes:
    """The PNG of an SVG of fixed size with resolved colours; ``scale`` is pixels per unit."""
    _register_fonts()
    png: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return png


def _write_legible_json(specification: dict[str, Any]) -> str:
    """JSON without characters that XML forbids: vl-convert 1.9 aborts the whole process at one of them."""
    text = clean_text(json.dumps(specification, ensure_ascii=False))
    return _CONTROL.sub(lambda found: found[0] if found[0] == "\\\\" else "\\ufffd", text)


@cache
def _register_fonts() -> None:
    vl_convert.register_font_directory(str(FONTS))
