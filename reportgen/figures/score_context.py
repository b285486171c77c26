"""What the blocks about scores need to know beyond their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reportgen.model import Lead

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.errors import SourceLocation
    from reportgen.outcomes import Comparison, Power, ProblemScores, RankGroup, RankRange, Score


@dataclass(frozen=True, slots=True)
class ScoreContext:
    """What a block about scores needs to know beyond its numbers.

    Attributes:
        place: the block, for problems.
        slots: palette slot of every series of the report.
        source: the source's title, for the caption.
        benchmark: the benchmark's name, for titles.
        approximate: why its numbers are not exact, or None.
        higher_is_better: whether a larger score is better.
        lowest, highest: the stated range of scores; 0 to 1 is shown in percent and points.
        protocol: how each series was measured: name, and pairs of a label and a text; empty where unknown.
        score_name: what the score of an answer is called, such as ``exact_match``; empty without a name.
        notes: sentences about the source that its readers should see: what was found and handled.
    """

    place: SourceLocation
    slots: Mapping[str, int]
    source: str
    benchmark: str
    approximate: str | None
    higher_is_better: bool
    lowest: float
    highest: float
    protocol: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    score_name: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkScores:
    """One benchmark with everything that is told of it: scores, all pairs, groups, and its power."""

    problems: ProblemScores
    scores: tuple[Score, ...]
    comparisons: tuple[Comparison, ...]
    groups: tuple[RankGroup, ...]
    power: Power | None
    ranks: tuple[RankRange, ...] = ()
    lead: Lead = field(default=Lead(None, tested=False))
