"""The configuration that verl prints before training: a Python dict over many lines, between others' lines.

SCHEMA: volcengine/verl, verl/trainer/main_ppo.py: ``pprint(OmegaConf.to_container(config, resolve=True))``.
Only literals are read; nothing runs.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Ray's prefix: who says it.
_WHO: Final = re.compile(r"^(\([^()]*pid=\d+[^()]*\))\s")
_LONGEST: Final = 1 << 20
_MOST_LINES: Final = 5_000
# The configuration nests its groups; a dict of numbers on one line is something else.
_FEWEST_GROUPS: Final = 2


class PrintedConfig:
    """Takes the lines of a log until a whole configuration has been met.

    Attributes:
        tree: what was printed; empty until it is whole.
    """

    def __init__(self) -> None:
        self.tree: Mapping[str, Any] = {}
        self._who = ""
        self._lines: list[str] = []
        self._length = 0
        self._open = 0

    @property
    def waits(self) -> bool:
        """Whether the beginning was met, but not the end."""
        return bool(self._lines)

    def add_line(self, line: str) -> None:
        """Take a line without colours; one that another process says in between is passed over."""
        found = _WHO.match(line)
        who, said = (found[1], line[found.end() :]) if found else ("", line)
        if not self._lines:
            if not said.lstrip().startswith("{'"):
                return
            self._who, self._length, self._open = who, 0, 0
        elif who != self._who:
            return
        self._lines.append(said.strip())
        self._length += len(said)
        self._open += said.count("{") - said.count("}")
        if self._open <= 0:
            self._parse()
        elif self._length > _LONGEST or len(self._lines) > _MOST_LINES:
            self._lines = []

    def _parse(self) -> None:
        try:
            tree = ast.literal_eval("\n".join(self._lines))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            tree = None
        self._lines = []
        groups = (
            [value for value in tree.values() if isinstance(value, dict)] if isinstance(tree, dict) else []
        )
        if len(groups) >= _FEWEST_GROUPS:
            self.tree = tree
