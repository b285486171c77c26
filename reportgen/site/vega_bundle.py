"""The one Vega that a site serves, made from what vl-convert carries: no Node and no network.

``python -m reportgen.site.vega_bundle PATH`` writes it. Making it takes a second and holds the
interpreter lock, so a build runs this beside its own work.
"""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

import vl_convert

INTERPRETER = Path(__file__).parent / "assets" / "vega-interpreter.js"
# vl-convert resolves this path to the copy it carries. The name "vega" that its documentation offers
# stands for that package's default export, which is null.
_SNIPPET = 'import * as all from "/npm/vega@{version}/+esm"; window.vega={{...all}};'


def bundle() -> str:
    """A classic script that sets ``window.vega``, with ``vega.expressionInterpreter`` for a strict CSP.

    The bundle's own names are one letter long, so the script is a function of its own.

    Raises:
        RuntimeError: vl-convert made no Vega of it, which a new version of it may do.
    """
    version = vl_convert.get_vega_version()
    vega = vl_convert.javascript_bundle(_SNIPPET.format(version=version))
    if "View:" not in vega or "expressionFunction:" not in vega:
        carrier = f"vl-convert {version_of('vl-convert-python')}"
        raise RuntimeError(f"{carrier} bundled no Vega {version}")
    interpreter = INTERPRETER.read_text(encoding="utf-8")
    return f'(function(){{"use strict";{vega}}})();\n{interpreter}'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(bundle(), encoding="utf-8")
