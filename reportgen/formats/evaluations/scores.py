"""Scores, totals, protocols and slices as harnesses write them, and checks whether they can be true.

Scores are numbers, truth values, marks such as C and I, and texts with a ±. A protocol has the keys of a
source's ``protocol:`` where they fit (``samples``, ``temperature``, ``top_p``, ``max_tokens``, ``prompt``,
``harness``, ``version``, ``grader`` and ``date``), with the meaning of ``settings.source.Protocol``.
Others are
the field's words as they are: ``task version``, ``few-shot``, ``limit``, ``dataset``, ``split``. ``SUBTASKS``
stands only where scores are means over other benchmarks, which are its value: such a benchmark is a group,
and has no problems of its own.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.json_files import as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Finding, Total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import ScoredAnswer


# The marks of Inspect's scorers (inspect_ai, scorer/_metric.py: value_to_float), and what others write.
_MARKS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("C", "c", "yes", "true", "correct", "right", "pass", "passed"), 1.0),
    **dict.fromkeys(("I", "i", "N", "n", "no", "false", "incorrect", "wrong", "fail", "failed"), 0.0),
    **dict.fromkeys(("P", "p"), 0.5),
}
_LONGEST_CELL: Final = 40
_MOST: Final = 1e12
_PLUS_MINUS: Final = re.compile(
    r"\s*(?P<value>[-+\N{MINUS SIGN}]?\d+(?:\.\d+)?)\s*(?:±|\+/-|\+-|\\pm)\s*(?P<half>\d+(?:\.\d+)?)\s*%?\s*"
)


def parse_score(cell: object) -> float | None:
    """A cell as the score of one answer; None where it is none or not finite."""
    value = parse_number(cell)
    if value is None and isinstance(cell, str):
        mark = cell.strip()
        value = _MARKS.get(mark, _MARKS.get(mark.lower()))
    return value if value is not None and math.isfinite(value) else None


def parse_total(
    path: Path,
    metric: str,
    cell: object,
    stderr: object = None,
    *,
    n: int | None = None,
    higher_is_better: bool | None = None,
) -> tuple[Total | None, Finding | None]:
    """A score of a whole benchmark, and what was irregular about it.

    Texts such as ``28.7±4.8`` give their first number alone: nothing says whether the second is a standard
    error or half an interval. A standard error such as ``N/A`` is none, which is no irregularity.
    """
    value, finding = parse_number(cell), None
    if value is None and isinstance(cell, str) and (match := _PLUS_MINUS.fullmatch(cell)):
        value = float(match["value"].replace("\N{MINUS SIGN}", "-"))
        message = (
            f'{shorten_cell(metric)} is the text "{shorten_cell(cell, _LONGEST_CELL)}": '
            f"{match['value']} is read"
        )
        left = f"{match['half']} is left out, since nothing says what interval it is"
        finding = Finding(path, f"{message}, and {left}")
    if value is None or not math.isfinite(value):
        if cell in (None, "", " "):
            return None, None
        what = shorten_cell(cell, _LONGEST_CELL) or f"a {type(cell).__name__}"
        return None, Finding(path, f"{shorten_cell(metric)} is no number ({what}): left out")
    error = parse_number(stderr)
    if error is not None and not (math.isfinite(error) and error >= 0):
        error = None
    return Total(metric, value, error, n, higher_is_better), finding


def parse_count(cell: object) -> int | None:
    """A cell as a number of things; None where it is none, not even one, or beyond belief."""
    value = parse_number(cell)
    if (
        value is None
        or isinstance(cell, bool)
        or not math.isfinite(value)
        or not 1 <= value <= _MOST
        or value != int(value)
    ):
        return None
    return int(value)


SUBTASKS: Final = "subtasks"
_FEW: Final = 3
_COUNT_KEYS: Final = frozenset(("samples", "max_tokens"))


def build_protocol(said: Mapping[str, object]) -> dict[str, str]:
    """What is said of a protocol as texts; what is missing, or not what its key allows, is left out."""
    texts = {key: _format_entry(key, value) for key, value in said.items()}
    return {key: text for key, text in texts.items() if text}


def warn_group_scores(path: Path, groups: Sequence[str]) -> Iterator[Finding]:
    """That some scores are means over others of the same file: together they count twice."""
    if groups:
        shown = join_names([shorten_cell(name) for name in groups], most=_FEW)
        each = "is a score" if len(groups) == 1 else "are scores"
        message = f"{shown} {each} over other benchmarks of this file, which count twice in a mean of all"
        yield Finding(path, message)


def _format_entry(key: str, value: object) -> str:
    if key in _COUNT_KEYS:
        count = parse_count(value)
        return "" if count is None else str(count)
    if key in {"temperature", "top_p"}:
        at = parse_number(value)
        if at is None or isinstance(value, bool) or not math.isfinite(at) or at < 0:
            return ""
        return "" if key == "top_p" and not 0 < at <= 1 else f"{at:g}"
    return as_word(value)


_LONGEST_GROUP: Final = 60
_MOST_GROUPS: Final = 50
_LEAST_GROUPS: Final = 2
_MOST_KEYS: Final = 20


def find_slices(
    said: Sequence[Mapping[str, Any]], hidden: frozenset[str] = frozenset()
) -> list[dict[str, str]]:
    """For each problem the keys that group it, such as ``subject`` and ``level``.

    A key groups if its values are short words, whole numbers or truth values, if there are 2 to 50 of them,
    and if at least half of the problems share theirs with another: ids and questions do not, and neither does
    the right answer, which callers hide.

    Args:
        said: what is said of each problem, by key.
        hidden: keys that never group.
    """
    values: dict[str, dict[str, int]] = {}
    spoilt = set(hidden)
    for one in said:
        for key, value in one.items():
            if key in spoilt:
                continue
            text = _name_group(value)
            counts = values.setdefault(key, {})
            if text is None or (text not in counts and len(counts) == _MOST_GROUPS):
                spoilt.add(key)
            elif text:
                counts[text] = counts.get(text, 0) + 1
    keys = [key for key in values if key not in spoilt and _is_grouping(values[key])][:_MOST_KEYS]
    names = {key: as_word(key) for key in keys}
    return [{names[key]: text for key in keys if (text := _name_group(one.get(key)))} for one in said]


def select_group_fields(said: Mapping[str, Any]) -> dict[str, Any]:
    """What something may be grouped by; a long text or a list stands as what never groups, and is gone."""
    return {
        key: value
        if value is None or (isinstance(value, str | int | float) and len(str(value)) <= _LONGEST_GROUP)
        else ()
        for key, value in said.items()
    }


def _is_grouping(counts: Mapping[str, int]) -> bool:
    alone = sum(count == 1 for count in counts.values())
    return len(counts) >= _LEAST_GROUPS and alone * 2 <= sum(counts.values())


def _name_group(value: object) -> str | None:
    """A value as the name of a group: empty where it is missing, None where no such value groups."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return None
    if not isinstance(value, str | int | float):
        return None
    text = as_word(value)
    return text if len(text) <= _LONGEST_GROUP else None


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
    message = (
        f"{shorten_cell(total.metric)} is {said}, which no whole number of right answers "
        f"out of {answers:,} gives"
    )
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
        example = (
            f'"{shorten_cell(first.answer)}" and "{shorten_cell(first.gold)}" for problem '
            f"{shorten_cell(first.problem)}"
        )
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
