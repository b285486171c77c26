r"""Regular expressions over paths, matched by RE2, which DuckDB has: its time grows with the paths only.

Python's own may take longer than a life for a pattern such as ``(?P<series>(a+)+)b``. RE2 has what patterns
of paths need, but for looking around and for groups that are referred to; ``\w``, ``\d`` and ``\Z`` mean what
they mean in Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reportgen.read.cells import Text

_PIECE: Final = re.compile(r"\\(.)|(\[\^?\]?)|(\])|\(\?P?<(\w+)>|(\((?!\?))|.", re.DOTALL)
# In Python these know the letters and digits of all languages.
_ESCAPES: Final = {"w": r"[\p{L}\p{N}_]", "W": r"[^\p{L}\p{N}_]", "d": r"\p{Nd}", "D": r"\P{Nd}", "Z": r"\z"}
_IN_A_CLASS: Final = {"w": r"\p{L}\p{N}_", "d": r"\p{Nd}", "D": r"\P{Nd}"}


def match_paths(pattern: str, paths: Iterable[str]) -> dict[str, dict[str, Text]]:
    """The paths that a pattern fits as a whole, each with its groups that have a name.

    A group that took no part, or is empty, is None.

    Raises:
        ValueError: RE2 knows no such pattern; the text is its own.
    """
    import duckdb  # noqa: PLC0415 - most sources have no such pattern

    from reportgen.read.engine import get_engine  # noqa: PLC0415 - as above

    # A name that is no UTF-8 is shown with a mark for each wrong byte, and matched as it is shown.
    by_text = {path.encode("utf-8", "replace").decode(): path for path in paths}
    translated = "".join(_translated(pattern))
    names = _group_names(pattern)
    if twice := next((name for index, name in enumerate(names) if name and name in names[:index]), ""):
        raise ValueError(f"two groups are called {twice}")
    listed = ", ".join(f"'{place}'" for place in range(len(names)))
    statement = (
        f"SELECT path, regexp_extract(path, $whole, [{listed}]) "  # noqa: S608 - numbers only
        "FROM (SELECT unnest($paths) AS path) WHERE regexp_full_match(path, $pattern)"
    )
    given = {"whole": f"^(?:{translated})$", "pattern": translated, "paths": list(by_text)}
    try:
        rows = get_engine().open_cursor().execute(statement, given).fetchall()
    except (duckdb.InvalidInputException, duckdb.BinderException) as error:
        said = str(error).partition("Error: ")[2] or str(error)
        raise ValueError(said.removesuffix(f": {translated}")) from None
    return {
        by_text[path]: {name: groups[str(place)] or None for place, name in enumerate(names) if name}
        for path, groups in rows
    }


def _split_pattern(pattern: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Escapes, brackets, openings of groups and other characters, with whether each stands in a class."""
    within = False
    for piece in _PIECE.finditer(pattern):
        yield piece, within
        if piece[2] and not within:
            within = True
        elif piece[3]:
            within = False


def _translated(pattern: str) -> Iterator[str]:
    for piece, within in _split_pattern(pattern):
        meaning = (_IN_A_CLASS if within else _ESCAPES).get(piece[1] or "")
        yield meaning or (f"(?P<{piece[4]}>" if piece[4] and not within else piece[0])


def _group_names(pattern: str) -> list[str]:
    """The name of each group in its order, empty where it has none."""
    return [
        piece[4] or "" for piece, within in _split_pattern(pattern) if not within and (piece[4] or piece[5])
    ]
