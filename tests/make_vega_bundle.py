"""Builds the Vega script of a site from vl-convert, without Node or network.

Run by hand if vl-convert includes a new Vega; the result is committed, so that builds need not make it,
and a report has the same script whatever is installed::

    python tests/make_vega_bundle.py
"""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from pathlib import Path

import vl_convert

BUNDLE = Path(__file__).parents[1] / "reportgen" / "site" / "assets" / "vega.js"
# vl-convert does not include the interpreter: it is at the end of the bundle, and stays there.
_INTERPRETER = "/* vega-interpreter "
# vl-convert resolves this path to the copy it includes. The name "vega" in its documentation resolves to that
# package's default export, which is null.
_SNIPPET = 'import * as all from "/npm/vega@{version}/+esm"; window.vega={{...all}};'
# Vega-Lite's function calls the method "map" of whatever an expression gives it (CVE-2025-65110). From
# vega-selections 6.1.2 on it checks that; vl-convert includes an earlier one, so the same check is added.
_UNCHECKED = re.compile(
    r"(function (?P<name>\w+)\((?P<array>\w+),(?P<base>\w+)\)\{)(?=return (?P=array)\.map\()"
)
_CHECKED = "must be an array"


def make_bundle() -> str:
    """Make a classic script that sets ``window.vega``, with ``vega.expressionInterpreter`` for a strict CSP.

    The bundle's own names are one letter long, so the script is wrapped in a function. Raises a RuntimeError
    if vl-convert returned no Vega, which may happen in a new version.
    """
    version = vl_convert.get_vega_version()
    vega = vl_convert.javascript_bundle(_SNIPPET.format(version=version))
    if "View:" not in vega or "expressionFunction:" not in vega:
        carrier = f"vl-convert {version_of('vl-convert-python')}"
        raise RuntimeError(f"{carrier} bundled no Vega {version}")
    # ``vlSelectionTuples`` has another name in the script.
    registered = re.search(r'"vlSelectionTuples",(\w+)\)', vega)
    for match in _UNCHECKED.finditer(vega):
        if registered and match["name"] == registered[1]:
            array, base = match["array"], match["base"]
            check = f'if(!Array.isArray({array})||Object({base})!=={base})throw Error("this {_CHECKED}");'
            vega = vega[: match.end()] + check + vega[match.end() :]
            break
    else:
        if _CHECKED not in vega:
            raise RuntimeError(
                "vlSelectionTuples is another function in this Vega: see whether it is checked"
            )
    _, mark, interpreter = BUNDLE.read_text(encoding="utf-8").partition(_INTERPRETER)
    return f'(function(){{"use strict";{vega}}})();\n{mark}{interpreter}'


if __name__ == "__main__":
    BUNDLE.write_text(make_bundle(), encoding="utf-8")
