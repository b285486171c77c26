"""Runs that only a number tells apart, as ``strict/run_1`` and ``strict/run_2``: they may be one series."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Words before a number that mean a repetition; other numbers are as often sizes or rates.
_WORDS: Final = "run|rep|repeat|replicate|repetition|trial|try|attempt|version|rollout"
_MARK: Final = rf"(?:[_.\- ]|(?<![A-Za-z]))(?:{_WORDS})[_.\- ]?|[_.\- ]|"
_PART: Final = re.compile(
    rf"(?P<series>.*?)(?P<mark>{_MARK})(?P<run>[0-9]+)(?P<end>\.[A-Za-z].*)?", re.IGNORECASE
)
_WORD: Final = re.compile(rf"({_WORDS})(.*)", re.IGNORECASE)
# Folders that name no method.
_PLAIN: Final = frozenset(("runs", "run", "logs", "log", "lightning_logs", "outputs", "output", "results"))
# Written as a class of one, since YAML would double backslashes; where that is none, behind one.
_SPECIAL: Final = re.compile(r"([.$*+?{}|()])|([\[\]^\\])")
_RUN_GROUP: Final = "(?P<run>[0-9]+)"


class NumberedRuns(NamedTuple):
    """How runs become a few series of several runs.

    Attributes:
        files: a pattern for ``files:`` of ``source.yml``.
        rename: series as the pattern gives them, and the name that they should have.
        series: how many there are then.
    """

    files: str
    rename: dict[str, str]
    series: int


def detect_numbered_runs(paths: Sequence[str], source: str) -> NumberedRuns | None:
    """Runs as repetitions of a few series, where their paths say so; None where they do not.

    They do where all have the same form, some differ in one number alone, and either a word such as ``run``
    or ``version`` stands before the numbers or those of each series count up from 0 or 1.

    Args:
        paths: of the files or folders of all runs, relative to the source.
        source: its name, for runs that nothing but the number tells apart.
    """
    parts = [PurePosixPath(path).parts for path in paths]
    if len({len(one) for one in parts}) != 1:
        return None
    differing = [index for index in range(len(parts[0])) if len({one[index] for one in parts}) > 1]
    for place in reversed(differing):
        others = [other for other in differing if other != place]
        matches = [_PART.fullmatch(one[place]) for one in parts]
        found = [match for match in matches if match]
        uniform = len({(match["mark"], match["end"]) for match in found}) == 1
        if len(found) == len(parts) and len(others) <= 1 and uniform:
            return _build_pattern(parts, others, place, found, source)
    return None


def _build_pattern(
    parts: Sequence[tuple[str, ...]],
    others: Sequence[int],
    place: int,
    found: Sequence[re.Match[str]],
    source: str,
) -> NumberedRuns | None:
    """The same, where numbers stand in one part of the paths, and their series before them or in another."""
    mark, end = found[0]["mark"], escape_text(found[0]["end"] or "")
    pattern, rename = [escape_text(part) for part in parts[0]], {}
    pattern[place] = f"{escape_text(mark)}{_RUN_GROUP}{end}"
    if any(match["series"] for match in found):
        if others or not mark:
            return None
        series = [match["series"] for match in found]
        pattern[place] = f"(?P<series>.+){pattern[place]}"
    elif others:
        series = [one[others[0]] for one in parts]
        pattern[others[0]] = "(?P<series>[^/]+)"
    elif place > 0:
        series = [parts[0][place - 1]] * len(parts)
        pattern[place - 1] = f"(?P<series>{pattern[place - 1]})"
        rename = {series[0]: source} if series[0] in _PLAIN else {}
    elif word := _WORD.fullmatch(mark):
        series, rename = [word[1]] * len(parts), {word[1]: source}
        pattern[place] = f"(?P<series>{word[1]}){escape_text(word[2])}{_RUN_GROUP}{end}"
    else:
        return None
    runs: dict[str, list[int]] = defaultdict(list)
    for name, match in zip(series, found, strict=True):
        runs[name].append(int(match["run"]))
    known = _WORD.search(mark) is not None
    return (
        NumberedRuns("/".join(pattern), rename, len(runs))
        if _is_repetition(runs.values(), known=known)
        else None
    )


def _is_repetition(runs: Iterable[list[int]], *, known: bool) -> bool:
    """Whether numbers tell repetitions: each once, and counted up where no word says so."""
    numbers = [sorted(several) for several in runs]
    if all(len(several) == 1 for several in numbers):
        return False
    if any(len(set(several)) < len(several) for several in numbers):
        return False
    counted = ([*range(first, first + len(several))] for several in numbers for first in several[:1])
    return known or all(
        several == count and several[0] in {0, 1} for several, count in zip(numbers, counted, strict=True)
    )


def escape_text(text: str) -> str:
    """A text as a regular expression that fits it alone."""
    return _SPECIAL.sub(lambda sign: f"[{sign[1]}]" if sign[1] else f"\\{sign[2]}", text)
