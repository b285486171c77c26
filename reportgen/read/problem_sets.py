"""Which problems were answered, as a short name: equal sets have equal names."""

from __future__ import annotations

import hashlib
import json
from itertools import chain, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def hash_problem_set(problems: Iterable[str], gold: Iterable[str | None] = ()) -> str:
    """The first 12 hex digits of SHA-256 over the problems' names, sorted, and their right answers.

    Args:
        problems: names, in any order; a name that comes twice counts once.
        gold: the right answer of each, None where it is unknown; none at all where none is known.

    Two sets of one name that differ in a single problem or right answer have different hashes. The hash of a
    set without right answers is another than that of the same set with them.
    """
    pairs = dict(zip(problems, chain(gold, repeat(None)), strict=False))
    named = [[name] if answer is None else [name, answer] for name, answer in sorted(pairs.items())]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:12]
