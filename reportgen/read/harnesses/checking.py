"""Whether what a harness says of a benchmark can be true, and agrees with its own answers."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from reportgen.read.harnesses.documents import shorten_cell
from reportgen.read.logged import Finding
from reportgen.read.loggers.growing import parse_number
from reportgen.words import format_count
from reportgen.words import format_number as written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.logged import ScoredAnswer, Total

# Metrics that count right answers; each answer is right or wrong, unless a standard error shows otherwise.
_ACCURACY_METRICS: Final = frozenset(
    (
        *("acc", "accuracy", "acc_norm", "em", "exact_match", "quasi_exact_match", "prefix_exact_match"),
        *("quasi_prefix_exact_match", "extractive_match", "pass@1", "correct"),
    )
)
_HUNDRED: Final = 100.0
_ROUNDING: Final = 1e-6


@dataclass(slots=True)
class _Sum:
    """Scores of one metric: how many answers have none and how many one, their sum, and it by problem."""

    unscored: int = 0
    scored: int = 0
    total: float = 0.0
    problems: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add(self, problem: str, score: float) -> None:
        """Count a score."""
        self.scored += 1
        self.total += score
        total, count = self.problems.get(problem, (0.0, 0))
        self.problems[problem] = (total + score, count + 1)

    def calculate_means(self) -> tuple[float, float]:
        """Over all answers, and over the means of the problems; harnesses take one or the other."""
        by_problem = (total / count for total, count in self.problems.values())
        return self.total / self.scored, sum(by_problem) / len(self.problems)

    def is_match(self, total: Total) -> bool:
        """Whether a total is one of these means."""
        return any(
            math.isclose(mean, total.value, rel_tol=1e-4, abs_tol=1e-4) for mean in self.calculate_means()
        )


def is_accuracy(metric: str) -> bool:
    """Whether a metric is known to count right answers: ``acc``, ``exact_match (strict)``."""
    return metric.partition(" (")[0].partition("@5")[0].lower() in _ACCURACY_METRICS


def check_accuracy(path: Path, total: Total, *, repeats: int = 1, partial: bool = False) -> Finding | None:
    """A share of right answers that no whole number of right answers gives.

    Args:
        path: where it stands.
        total: the share, of 1 or in percent; metrics that do not count right answers pass.
        repeats: answers to each problem.
        partial: an answer may be half right.
    """
    if not is_accuracy(total.metric):
        return None
    if not 0 <= total.value <= _HUNDRED:
        said = written(total.value)
        return Finding(
            path, f"{shorten_cell(total.metric)} is {said}, and a share of right answers lies between 0 and 1"
        )
    if total.n is None:
        return None
    unit = _HUNDRED if total.value > 1 else 1.0
    answers = total.n * repeats * (2 if partial else 1)
    right = total.value / unit * answers
    # A value may have been rounded to the digits that it is written in.
    rounding = 0.5 * 10.0 ** _get_exponent(total.value) / unit * answers
    if abs(right - round(right)) <= rounding + _ROUNDING * answers or _is_graded(total, unit):
        return None
    said, nearest = (written(value, significant=6) for value in (total.value, round(right) / answers * unit))
    message = f"{shorten_cell(total.metric)} is {said}, which no whole number of right answers out of {answers:,} gives"
    return Finding(path, f"{message}; the nearest is {nearest}")


def compare_means(
    path: Path, answers: Sequence[ScoredAnswer], totals: Mapping[str, Total], what: str = "answers"
) -> Iterator[Finding]:
    """Totals that are not the mean of their answers, and answers that no total counts.

    Args:
        path: where it stands.
        answers: of one benchmark.
        totals: by the metric of the answers that they are the mean of.
        what: what the answers are called.
    """
    sums = _sum_scores(answers)
    for metric, total in totals.items():
        one = sums[metric] if metric in sums else _Sum()
        if not one.scored:
            continue
        if one.is_match(total):
            if one.unscored:
                over = f"{one.scored:,} of {one.scored + one.unscored:,} {what}"
                counts = "counts" if one.unscored == 1 else "count"
                failed = f"the {one.unscored:,} without a score {counts} neither as right nor as wrong"
                yield Finding(path, f"{shorten_cell(total.metric)} is over {over}: {failed}")
        else:
            said, own = (written(value, significant=6) for value in (total.value, one.calculate_means()[0]))
            share = is_accuracy(total.metric)
            verb = (("give", "gives") if share else ("have the mean", "has the mean"))[one.scored == 1]
            by = format_count(one.scored, what.removesuffix("s"))
            yield Finding(
                path, f"{shorten_cell(total.metric)} is said to be {said}, and its {by} {verb} {own}"
            )


def find_other_mean(answers: Sequence[ScoredAnswer], total: Total) -> float | None:
    """The mean of the answers by the metric of a total, if that is another number; None if there is none."""
    one = _sum_scores(answer for answer in answers if answer.metric == total.metric).get(total.metric)
    return one.calculate_means()[0] if one and one.scored and not one.is_match(total) else None


def warn_equal_answers(path: Path, answers: Sequence[ScoredAnswer]) -> Iterator[Finding]:
    """Answers that count as wrong though they are the gold answer as a number: ``16.00`` and ``16``."""
    equal = [
        answer
        for answer in answers
        if answer.score == 0 and answer.answer and answer.gold and _is_same(answer.answer, answer.gold)
    ]
    if equal:
        first = equal[0]
        message = (
            f"{format_count(len(equal), 'answer counts', 'answers count')} as wrong though equal to the gold"
        )
        example = f'"{shorten_cell(first.answer)}" and "{shorten_cell(first.gold)}" for problem {shorten_cell(first.problem)}'
        yield Finding(path, f"{message} answer as numbers, such as {example}; they are left as scored")


def _sum_scores(answers: Iterable[ScoredAnswer]) -> dict[str, _Sum]:
    sums: dict[str, _Sum] = defaultdict(_Sum)
    for answer in answers:
        one = sums[answer.metric]
        if answer.score is None:
            one.unscored += 1
        else:
            one.add(answer.problem, answer.score)
    return sums


def _get_exponent(value: float) -> int:
    """The power of ten of the last digit that a number is written with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _is_same(answer: str, gold: str) -> bool:
    mine, right = (parse_number(text.strip().rstrip(".").replace(",", "")) for text in (answer, gold))
    return mine is not None and mine == right


def _is_graded(total: Total, unit: float) -> bool:
    """Whether the standard error is not that of right or wrong: then answers are graded in between."""
    if total.stderr is None or total.n is None or total.n < 2:  # noqa: PLR2004 - no deviation of one
        return False
    share = min(total.value / unit, 1.0)
    return not any(
        math.isclose(total.stderr / unit, math.sqrt(share * (1 - share) / n), rel_tol=0.02, abs_tol=1e-9)
        for n in (total.n, total.n - 1)
    )
