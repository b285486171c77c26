"""Which columns or rows of numbers are scores, by their names and spelling; and the statuses of answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec import Struct

from reportgen.core.directions import Direction, guess_direction, has_better_direction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Status: TypeAlias = Literal["scored", "failed", "timed out", "truncated", "infrastructure", "not run"]
"""What became of an answer: the model failed to give one, was stopped, or had no chance to."""
STATUSES: Final[tuple[str, ...]] = get_args(Status)
STATUS: Final = "answer_status"
"""The column of statuses in tables that reportgen makes."""


class AnswerCounts(Struct, frozen=True):
    """What became of the answers of a series; counts are by status, "" where it is not known."""

    series: str
    problems: int  # of the benchmark, also those that only others answered
    answered: int  # those with a score
    left_out: Mapping[str, int]
    wrong: Mapping[str, int]  # answers that count as wrong, without a score of their own


# Last words of columns that describe a model rather than its score, and units that may follow them.
_DESCRIPTION: Final = re.compile(
    r"#|\$|no|rank(ing)?|year|params?|parameters?|size|tokens|latency|time|runtime|costs?|price|mem(ory)?|vram"
    r"|[kmgtp]?flops?|throughput|speed|versions?|threads|ms|secs?|seconds|minutes|hours"
)
_UNIT: Final = re.compile(r"s|ms|secs?|seconds|min|minutes|h|hours|b|m|k|[mg]i?b|usd|eur")
_NAME_END: Final = re.compile(r"[(\[/]|[ _]per[ _]", re.IGNORECASE)
_NAME_PART: Final = re.compile(r"[#$%]|[a-z0-9]+")
# First and last words of counts, which are whole numbers.
_COUNT: Final = frozenset(("n", "num", "nb", "number", "count", "counts", "errors", "losses", "total"))
# Last words that count what was reached, or say of one attempt whether it was.
_REACHED: Final = frozenset(("solved", "resolved", "correct", "passed", "pass", "successes", "hits"))
# Beginning of the name of one fold, beside the mean of all.
_FOLD: Final = re.compile(r"(split|fold|cv)[ _-]?\d+[ _-]", re.IGNORECASE)
# First words of measures of variation.
_SPREAD: Final = frozenset(("std", "sd", "stdev", "stddev", "var", "stderr", "se", "sem", "ci", "ci95"))
# A scale in the name of a rating: (1-10), /10.
_SCALE: Final = re.compile(r"\(\d+ ?[-\u2013] ?\d+\)|/ ?\d+\)?$")
# Last words of shares, which may be whole numbers of percent.
_SHARE: Final = frozenset(("rate", "rates", "share", "percent", "percentage", "pct", "%"))
# Means over the other columns, and their sums.
_MEAN: Final = re.compile(
    r"(?:macro |micro |weighted |overall )?(?:all|avg\.?|average|mean|overall|total|sum|combined)(?: score)?"
    r"(?:\s*[(\[].*)?",
    re.IGNORECASE,
)
_PERCENT: Final = 100


class WrittenNumber(NamedTuple):
    """A number of a table, and whether it is marked as only scores are: by %, bold or a spread."""

    value: float
    is_marked: bool


def is_mean(name: str) -> bool:
    """Return whether a name is that of a mean or sum over others, such as ``Overall``."""
    plain = re.sub(r"\\\w+\{([^{}]*)\}", r"\1", name)  # as in \textbf{Overall}
    return bool(_MEAN.fullmatch(re.sub("[_*-]", " ", plain).strip()))


def find_families(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return names that, with a separator, begin at least two others, with these: ``mmlu``, ``mmlu_stem``."""
    names, families = list(names), {}
    for name in names:
        start = name.casefold()
        others = [one for one in names if one.casefold().startswith(start) and one != name]
        if len(parts := [one for one in others if not one[len(name) :][:1].isalnum()]) > 1:
            families[name] = tuple(parts)
    return families


def find_descriptions(
    numbers: Mapping[str, Sequence[WrittenNumber]], *, of_series: bool = False
) -> list[str]:
    """Return the names of columns of numbers that are no scores: sizes, counts, settings, versions.

    A name or unit may say so. Otherwise columns with the usual name of a metric are scores, and beside these
    only shares. Without any, others are if their numbers look like scores; and all ``of_series`` are, which
    have any name.
    """
    others = {name for name, cells in numbers.items() if is_mean(name) or _describes(name, cells)}
    metrics = {name for name in numbers if name not in others and is_metric(name)}
    if not of_series:
        rest = numbers.keys() - others - metrics
        named = {name for name in rest if not metrics or _is_share(name)}
        others |= rest - _find_likely_scores(numbers, metrics, named)
    return [name for name in numbers if name in others and not is_mean(name)]


def _find_likely_scores(
    numbers: Mapping[str, Sequence[WrittenNumber]], metrics: Iterable[str], names: Iterable[str]
) -> set[str]:
    """Return those of these columns whose numbers look like scores, on the scale of the metrics, if any.

    Such numbers are marked as scores, or lie within -100 to 100 and differ, some with a fraction, as shares
    need not have, and some not as round as settings are.
    """
    marked = {name for name in names if any(cell.is_marked for cell in numbers[name])}
    plain = {name: {cell.value for cell in numbers[name]} for name in {*names} - marked}
    likely = {
        name
        for name, values in plain.items()
        if all(abs(value) <= _PERCENT for value in values)
        and (_is_share(name) or any(value % 1 for value in values))
        and not all(map(_is_round, values))
        and len(values) >= min(2, len(numbers[name]))
    }
    exceed = {name for name in numbers if any(abs(cell.value) > 1 for cell in numbers[name])}
    in_percent = bool(exceed.intersection(metrics or likely))
    return marked | {name for name in likely if (name in exceed) == in_percent}


def _is_round(value: float) -> bool:
    """Return whether a number has one significant digit, or a second one that is 5: 0.1, 0.95, 3e-4."""
    written = f"{value:.1e}"
    return float(written) == value and written.partition("e")[0][-1] in "05"


def is_metric(name: str) -> bool:
    """Return whether a name is that of a usual score, such as an accuracy or a loss, or has a scale."""
    return bool(has_better_direction(name) or _SCALE.search(name))


def is_result(name: str) -> bool:
    """Return whether a name is that of a usual score, and not of a count, spread, fold or rank of such."""
    words = _split_words(name)
    is_other = _COUNT & {*words[:1], *words[-1:]} or _SPREAD & {*words} or _FOLD.match(name)
    return is_metric(name) and not (is_other or any(map(describes_model, words[:1])))


def is_run_score(name: str) -> bool:
    """Return whether a name is that of a usual score of a whole run, also not of answers or their number."""
    return is_result(name) and not _REACHED & {*_split_words(name)[-1:]}


def _is_share(name: str) -> bool:
    return bool(_SHARE & {*_split_words(name)[-1:]})


def _split_words(name: str) -> list[str]:
    return _NAME_PART.findall(name.casefold())


def describes_model(name: str) -> bool:
    """Return whether a name is about a model rather than its scores: ``Params (B)``, ``latency_ms``."""
    words = _split_words(_NAME_END.split(name)[0])
    while len(words) > 1 and _UNIT.fullmatch(words[-1]):
        words.pop()
    return bool(words) and bool(_DESCRIPTION.fullmatch(words[-1]))


def names_no_score(name: str, value: float) -> bool:
    """Return whether a number is no score by its name: a count such as ``num_total``, a time or a size.

    A name that ends in "score", as ``total_score``, is that of a score.
    """
    return _split_words(name)[-1:] != ["score"] and _describes(name, (WrittenNumber(value, is_marked=False),))


def _describes(name: str, cells: Sequence[WrittenNumber]) -> bool:
    """Return whether a name shows that a column has no scores, as ``n_wins`` of whole numbers."""
    words = _split_words(name)
    reached = _REACHED & {*words[-1:]} and any(cell.value > 1 for cell in cells)
    counted = _COUNT & {*words[:1], *words[-1:]} or reached
    counts = counted and not any(cell.value % 1 for cell in cells)
    if _SCALE.search(name):
        return False
    return describes_model(name) or bool(counts) or guess_direction(name) is Direction.NEITHER
