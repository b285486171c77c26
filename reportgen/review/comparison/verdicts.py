"""What a change of a number means, in a word and a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from reportgen.review.comparison.effects import ALPHA, Effect
from reportgen.review.model import Delta, NumberChange, bound, clip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.review.model import Cause, Estimate, Flips, ItemCounts, RunCounts, Verdict

_NOT_KNOWN = Effect("none", None)
# Of one side of a definition: a specification of an author's has no end.
_LONGEST = 200


class Moved(Struct, frozen=True, kw_only=True):
    """A number that may have changed, before anything is tested; one side is None where it is new or gone."""

    page: str
    block: str
    title: str = ""
    source: str = ""
    benchmark: str = ""
    series: str
    was_series: str = ""
    metric: str
    percent: bool = False
    step: float | None = None
    before: Estimate | None = None
    after: Estimate | None = None
    runs: RunCounts | None = None
    problems: ItemCounts | None = None
    flips: Flips | None = None
    higher_is_better: bool | None = None
    definitions: tuple[str, ...] = ()  # what of its definition changed: smooth: 0 → 0.6
    protocol: tuple[str, ...] = ()  # what of how it was measured changed
    lost: str = ""  # how many more answers are lost to infrastructure
    causes: tuple[Cause, ...] = ()
    effect: Effect | None = None  # None where nothing of it changed but what is named here
    is_reported: bool = False  # whether it was given, without an interval, and is another one

    @property
    def is_nested(self) -> bool:
        """Whether runs were only added, or only removed."""
        runs = self.runs
        return runs is not None and runs.shared > 0 and not (runs.replaced or (runs.added and runs.removed))

    @property
    def is_testable(self) -> bool:
        """Whether a test of the difference would say something."""
        both = self.before is not None and self.after is not None
        return both and not self.definitions and not self.protocol and not self.is_reported


def list_differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """What differs between two definitions: ``smooth: 0 → 0.6``."""
    return tuple(
        f"{name}: {clip(was, _LONGEST)} → {clip(now, _LONGEST)}"
        for name in sorted({*before, *after})
        if (was := before.get(name, "not set")) != (now := after.get(name, "not set"))
    )


def judge(moved: Moved, p_adjusted: float | None) -> NumberChange | None:
    """The number with its verdict; None if it is the same number, defined and measured in the same way."""
    effect = moved.effect or _NOT_KNOWN
    verdict, why = _decide(moved, effect, p_adjusted)
    if verdict == "same":
        return None
    difference = effect.difference
    if difference is None and moved.protocol and moved.before and moved.after:
        difference = moved.after.value - moved.before.value
    delta = None
    if difference is not None and verdict != "not comparable":
        low, high = (None if end is None else bound(end) for end in (effect.low, effect.high))
        delta = Delta(value=bound(difference), low=low, high=high, p=effect.p, p_adjusted=p_adjusted)
    good = None
    if verdict in {"higher", "lower"} and moved.higher_is_better is not None:
        good = (verdict == "higher") is moved.higher_is_better
    return NumberChange.fit(
        moved,
        delta=delta,
        method=effect.method if delta else "none",
        verdict=verdict,
        good=good,
        why="; ".join(filter(None, [moved.lost, *why])),
    )


def _decide(moved: Moved, effect: Effect, p_adjusted: float | None) -> tuple[Verdict, list[str]]:
    """The verdict and its reasons, by the table of methods."""
    if moved.before is None or moved.after is None:
        return ("new" if moved.before is None else "gone"), []
    if moved.definitions or moved.protocol:
        changed = moved.definitions or moved.protocol
        return ("not comparable" if moved.definitions else "measured differently"), list(changed)
    if moved.effect is None or moved.is_reported:
        return ("reported value changed" if moved.is_reported else "same"), []
    clear = p_adjusted is not None and p_adjusted < ALPHA and effect.excludes_zero
    if moved.is_nested:
        return "re-estimated", ["the new runs differ from the old" if clear else "", effect.reason]
    if clear and effect.difference is not None:
        return ("higher" if effect.difference > 0 else "lower"), [effect.reason]
    return ("too few" if effect.low is None else "unclear"), [effect.reason]
