"""Columns of statistics that were computed before, such as ``mean``, ``std`` and ``count``.

``mean`` and ``std`` at each step are one metric that the name of the file says; ``loss_mean``, ``loss_std``
and ``loss_count`` are the metric ``loss``. A mean and a standard deviation of a batch, as trainers log them,
have no number of runs with them and stay metrics.
"""

from __future__ import annotations

import re
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from reportgen.core.words import join_names
from reportgen.formats.messages import list_names
from reportgen.read.tables.layout import INTERVAL_PARTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.layout import Content


STATISTICS: Final = {
    **dict.fromkeys(("se", "stderr", "sem", "standard_error"), "se"),
    **dict.fromkeys(("sd", "std", "stdev"), "sd"),
    **dict.fromkeys(("ci95", "ci"), "ci95"),
    **dict.fromkeys(("±", "+/-", "+-"), "±"),
    **dict.fromkeys(("n", "count"), "n"),
    **dict.fromkeys(("mean", "avg", "average", "score", "value"), "value"),
}
"""What endings of the columns beside a column of scores mean, and names in a header of several rows."""
OTHER_STATISTICS: Final = re.compile(
    r"min(imum)?|max(imum)?|median|var(iance)?|\d{1,2}(\.\d+)?%|q\d+|first|last", re.IGNORECASE
)
"""Names of statistics that are no value and no part of an interval, such as those of pandas' ``describe``."""
HALF_WIDTH: Final = NormalDist().inv_cdf(0.975)
"""Half of a 95% CI in standard errors."""
_SPREADS: Final = {
    "se": "the standard error",
    "ci95": "half of a 95% CI",
    "sd": "the standard deviation",
}
SD_ALONE: Final = "± is a standard deviation, which gives no interval without the number of runs"
_PARTS: Final = frozenset(("low", "high", "se", "ci95", "sd", "±", "n"))
NAMES: Final = STATISTICS | {"low": "low", "lower": "low", "high": "high", "upper": "high"}
"""Names of a value and of the parts of its interval."""
_MEANS: Final = frozenset(("mean", "avg", "average", "value"))
_ENDING: Final = re.compile(r"(?P<name>.*[^ _./-])[ _./-]\(?(?P<part>[^ _./()-]+)\)?")


def ask_spread(content: Content, column: str, line: int | None) -> Diagnostic:
    """Return the error of a ± of which neither the table nor ``source.yml`` says what it is."""
    choices = join_names([f"{key} ({words})" for key, words in _SPREADS.items()])
    message = f'the meaning of ± in column "{column}" is not stated'
    return content.make_problem(message, f"Say interval: in source.yml with one of {choices}", line)


def name_statistics(labels: Sequence[str]) -> bool:
    """Return whether labels name a value, and how sure it is, once each."""
    different = {label.casefold() for label in labels}
    kinds = {STATISTICS.get(label) for label in different}
    return 1 < len(kinds) == len(different) and {"value"} <= kinds <= {*STATISTICS.values()}


class ValueColumn(Struct, frozen=True):
    """A column of values: its metric, and the columns of its interval by part."""

    metric: str  # empty where the name of the file is the metric
    parts: Mapping[str, str] = field(default_factory=dict)  # low, high, se, ci95, sd, ± and n


class Statistics(Struct, frozen=True):
    """The columns of values of a table, and other statistics."""

    values: Mapping[str, ValueColumn]
    left_out: tuple[str, ...]  # of a value, but no part of an interval, such as the median
    open: tuple[str, ...]  # may be parts of an interval, and are read as metrics

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the columns that are parts of an interval."""
        parts = ((value, name) for value, one in self.values.items() for name in one.parts.values())
        return tuple(name for value, name in parts if name != value)

    @property
    def is_usual(self) -> bool:
        """Whether each interval has columns called as in any wide table: ``loss`` and ``loss_std``."""
        return all(
            name in {f"{value}_{role}" for role in INTERVAL_PARTS}
            for value, one in self.values.items()
            for name in one.parts.values()
        )

    def list_warnings(self) -> Iterator[tuple[str, str]]:
        """Yield messages about what is left out or not certain, each with the next step."""
        if self.left_out:
            advice = "Say wide: metrics in source.yml if each column is a metric"
            yield (
                f"{list_names(self.left_out)} are left out, since the interval of a mean comes from its ±",
                advice,
            )
        for name in self.open:
            first = next((value for value in self.values if value not in self.open), "loss")
            advice = f"If so, name it after that column, as in {first}_{name}"
            message = f'"{name}" is read as a metric, but may be the spread of another column'
            yield message, f"{advice}; otherwise say wide: metrics in source.yml"


def find_statistics(
    names: Sequence[str],
    estimates: Collection[str] = (),
    count: str | None = None,
    *,
    are_scores: bool = False,
) -> Statistics:
    """Return what the numeric columns of a table are, going by their names.

    ``estimates`` have a ±, and ``count`` the number of runs behind each deviation. Beside a score, a standard
    deviation is not that of a batch.
    """
    values: dict[str, ValueColumn] = {}
    left_out: list[str] = []
    for base, group in _group_names(names).items():
        kinds = {NAMES.get(part, ""): name for name, part in group.items()}
        parts = {kind: name for kind, name in kinds.items() if kind in _PARTS}
        value = kinds.get("value", base if base in names else _find_only(names, parts))
        # A mean and a standard deviation alone may be those of a batch.
        is_interval = bool(parts.keys() & {"se", "ci95", "±"} or parts.keys() >= {"low", "high"})
        if count and parts.keys() & {"sd", "±"}:
            parts.setdefault("n", count)
        known = is_interval or ("sd" in parts and (are_scores or "n" in parts or not base))
        if value is not None and known:
            metric = base or ("" if group.get(value) in _MEANS else value)
            values[value] = ValueColumn(metric, parts)
            left_out += [name for name, part in group.items() if OTHER_STATISTICS.fullmatch(part)]
    for name in estimates:
        own = values.get(name, ValueColumn(name))
        counts = [("n", n) for n in (count, "n", f"{name}_n") if n and (n in names or n == count)]
        values[name] = ValueColumn(own.metric, {**dict(counts), **own.parts, "±": name})
    taken = {*left_out, *(name for one in values.values() for name in one.parts.values())} | {*values}
    spreads = {name: NAMES.get(name.casefold()) for name in names if name not in taken}
    found = {*values, *spreads}
    values = {name: values.get(name) or ValueColumn(name) for name in names if name in found}
    left = tuple(name for name, kind in spreads.items() if kind in {"se", "sd", "ci95", "±"})
    return Statistics(values, tuple(left_out), left)


def _find_only(names: Sequence[str], parts: Mapping[str, str]) -> str | None:
    """Return the only column not called as a statistic, if an interval without a base is surely its own."""
    others = [name for name in names if name.casefold() not in NAMES and not OTHER_STATISTICS.fullmatch(name)]
    is_sure = bool({"se", "ci95", "±"} & parts.keys()) or {"sd", "n"} <= parts.keys()
    return others[0] if is_sure and len(others) == 1 else None


def _group_names(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the statistics of each base, by column; those without a base have an empty one."""
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        match = _ENDING.fullmatch(name)
        base, part = (match["name"], match["part"]) if match else ("", name)
        if part.casefold() in NAMES or OTHER_STATISTICS.fullmatch(part):
            groups.setdefault(base, {})[name] = part.casefold()
    return groups
