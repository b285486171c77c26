"""Words for a picture: no name, however hostile, breaks the SVG it stands in."""

from __future__ import annotations

import re
from html import escape

# Everything but the Char production of XML 1.0: a reader of XML stops at any of these.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_text(text: str) -> str:
    """Text for an element or an attribute; a character that XML forbids becomes U+FFFD."""
    return escape(clean_text(text))


def clean_text(text: str) -> str:
    """Text with U+FFFD for every character that XML forbids."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
