"""Scores, totals, protocols and slices as harnesses write them, and checks whether they can be true.

Scores are numbers, truth values, marks such as C and I, and texts with a ±. A protocol has the keys of a
source's ``protocol:`` where they fit, with the meaning of ``settings.source.Protocol``; other keys are the
field's words as they are: ``task version``, ``few-shot``, ``limit``, ``dataset``, ``split``. ``SUBTASKS``
stands only where scores are means over other benchmarks, which are its value: such a benchmark is a group,
and has no problems of its own. Checks give messages; ``make_findings`` says where they stand.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.json_files import as_mapping, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Finding, Total

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Evaluation, ScoredAnswer


# The marks of Inspect's scorers (inspect_ai, scorer/_metric.py: value_to_float), and what others write.
_MARKS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("C", "c", "yes", "true", "correct", "right", "pass", "passed"), 1.0),
    **dict.fromkeys(("I", "i", "N", "n", "no", "false", "incorrect", "wrong", "fail", "failed"), 0.0),
    **dict.fromkeys(("P", "p"), 0.5),
}
_LONGEST_CELL: Final = 40
_MOST: Final = 1e12
_DAY: Final = len("2026-01-31")
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
    metric: str,
    cell: object,
    stderr: object = None,
    *,
    n: int | None = None,
    higher_is_better: bool | None = None,
) -> tuple[Total | None, list[str]]:
    """A score of a whole benchmark, and what was irregular about it.

    Texts such as ``28.7±4.8`` give their first number alone: nothing says whether the second is a standard
    error or half an interval. A standard error such as ``N/A`` is none, which is no irregularity.
    """
    value, messages = parse_number(cell), list[str]()
    name, shown = shorten_cell(metric), shorten_cell(cell, _LONGEST_CELL)
    if value is None and isinstance(cell, str) and (match := _PLUS_MINUS.fullmatch(cell)):
        value = float(match["value"].replace("\N{MINUS SIGN}", "-"))
        text = f'{name} is the text "{shown}": {match["value"]} is read'
        messages = [f"{text}, and {match['half']} is left out, since nothing says what interval it is"]
    if value is None or not math.isfinite(value):
        if cell in (None, "", " "):
            return None, []
        return None, [f"{name} is no number ({shown or f'a {type(cell).__name__}'}): left out"]
    error = parse_number(stderr)
    if error is not None and not (math.isfinite(error) and error >= 0):
        error = None
    return Total(metric, value, error, n, higher_is_better), messages


def parse_count(cell: object) -> int | None:
    """A cell as a number of things; None where it is none, not even one, or beyond belief."""
    value = None if isinstance(cell, bool) else parse_number(cell)
    return int(value) if value is not None and 1 <= value <= _MOST and value.is_integer() else None


def get_inner(tree: object, *keys: str) -> Any:  # noqa: ANN401 - JSON can be anything
    """What stands at a path of keys in a document; None where there is nothing, or no object on the way."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def get_mapping(tree: object, *keys: str) -> dict[str, Any]:
    """The object at a path of keys; an empty one where there is none."""
    return as_mapping(get_inner(tree, *keys))


def find_word(*cells: object) -> str:
    """The first of several cells that is a word; empty where none is."""
    return next(filter(None, map(as_word, cells)), "")


def find_seed(*cells: object) -> str | None:
    """The first of several cells that can be a seed, as written."""
    return find_word(*(cell for cell in cells if not isinstance(cell, bool))) or None


SUBTASKS: Final = "subtasks"
FEW: Final = 3
"""How many names a message shows."""


def build_protocol(entries: Mapping[str, object]) -> dict[str, str]:
    """A protocol as texts, times as days; what is missing, or not what its key allows, is left out."""
    texts: dict[str, str] = {}
    for key, value in entries.items():
        if key in {"samples", "max_tokens"}:
            texts[key] = str(parse_count(value) or "")
        elif key in {"temperature", "top_p"}:
            number = None if isinstance(value, bool) else parse_number(value)
            most = 1 if key == "top_p" else math.inf
            if number is not None and math.isfinite(number) and 0 <= number <= most and (number or most > 1):
                texts[key] = f"{number:g}"
        else:
            texts[key] = as_word(value)[: _DAY if key == "date" else None]
    return {key: text for key, text in texts.items() if text}


_DATE: Final = re.compile(r"_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")


def find_date(path: Path) -> str:
    """The date at the end of a file's name, such as ``2026-01-31T12-00-00.5``; empty without one."""
    match = _DATE.search(path.stem)
    return match["date"] if match else ""


def strip_date(path: Path) -> str:
    """A file's name without its date and ending."""
    return _DATE.sub("", path.stem)


def make_findings(path: Path, messages: Iterable[str], task: str = "") -> Iterator[Finding]:
    """Messages as findings in a file, each after the task that it is about."""
    prefix = f"{shorten_cell(task)}: " if task else ""
    return (Finding(path, prefix + message) for message in messages)


def add_to_first(
    evaluations: Iterable[Evaluation], findings: Iterable[Finding], of_groups: Iterable[Finding] = ()
) -> Iterator[Evaluation]:
    """Evaluations of a file, the first with the findings about all of it, the first group with its own."""
    for evaluation in evaluations:
        if SUBTASKS in evaluation.protocol:
            findings, of_groups = (*findings, *of_groups), ()
        yield replace(evaluation, findings=(*findings, *evaluation.findings))
        findings = ()


def list_shortened(names: Iterable[str]) -> str:
    """The first names of several in a message."""
    return join_names([shorten_cell(name) for name in names], most=FEW)


def warn_group_scores(path: Path, groups: Sequence[str]) -> Iterator[Finding]:
    """That some scores are means over others of the same file: together they count twice."""
    if groups:
        each = "is a score" if len(groups) == 1 else "are scores"
        which = f"{each} over other benchmarks of this file, which count twice in a mean of all"
        yield Finding(path, f"{list_shortened(groups)} {which}")


def warn_limit(limit: int | None, all_: int | None, *, what: str = "problem") -> Iterator[str]:
    """That a limit left problems out."""
    if limit and all_ and limit < all_:
        yield f"the limit leaves {limit:,} of {format_count(all_, what)}"


def warn_no_scores(counts: Mapping[str, int], where: str = "in") -> Iterator[str]:
    """How many cells of each metric were no scores."""
    if counts:
        cells = format_count(sum(counts.values()), "value that is no score", "values that are no scores")
        yield f"{cells} {where} {list_shortened(counts)}: left out"


_LONGEST_GROUP: Final = 60
_MOST_GROUPS: Final = 50
_LEAST_GROUPS: Final = 2
_MOST_KEYS: Final = 20
_Problem = TypeVar("_Problem")


def name_groups(fields: Mapping[str, Any]) -> dict[str, str | None]:
    """Fields of a problem as names of groups: empty where missing, None where no group is called so."""
    names: dict[str, str | None] = {}
    for key, value in fields.items():
        whole = isinstance(value, str | int | None) or (isinstance(value, float) and value.is_integer())
        text = as_word(value)
        names[key] = text if whole and len(text) <= _LONGEST_GROUP else None
    return names


def find_slices(
    problems: Mapping[_Problem, Mapping[str, str | None]], hidden: Collection[str] = ()
) -> dict[_Problem, dict[str, str]]:
    """For each problem the keys that group it, such as ``subject`` and ``level``; see ``name_groups``.

    A key groups if its values are short words, whole numbers or truth values, if there are 2 to 50 of them,
    and if at least half of the problems share theirs with another: ids and questions do not, and neither does
    the right answer, which callers hide.
    """
    values: dict[str, Counter[str]] = defaultdict(Counter)
    excluded = set(hidden)
    for groups in problems.values():
        for key, text in groups.items():
            if key in excluded:
                continue
            counts = values[key]
            if text is None or (text not in counts and len(counts) == _MOST_GROUPS):
                excluded.add(key)
            elif text:
                counts[text] += 1
    names: dict[str, str] = {}
    for key, counts in values.items():
        alone = sum(count == 1 for count in counts.values())
        shared = len(counts) >= _LEAST_GROUPS and alone * 2 <= sum(counts.values())
        if shared and key not in excluded and len(names) < _MOST_KEYS:
            names[key] = as_word(key)
    return {
        problem: {name: text for key, name in names.items() if (text := groups.get(key))}
        for problem, groups in problems.items()
    }


# Metrics that count right answers; each answer is right or wrong, unless a standard error shows otherwise.
_ACCURACY_METRICS: Final = frozenset(
    (
        *("acc", "accuracy", "acc_norm", "em", "exact_match", "quasi_exact_match", "prefix_exact_match"),
        *("quasi_prefix_exact_match", "extractive_match", "pass@1", "correct"),
    )
)
_HUNDRED: Final = 100.0
_ROUNDING: Final = 1e-6


def is_accuracy(metric: str) -> bool:
    """Whether a metric is known to count right answers: ``acc``, ``exact_match (strict)``."""
    return metric.partition(" (")[0].partition("@5")[0].lower() in _ACCURACY_METRICS


def check_totals(
    answers: Sequence[ScoredAnswer],
    totals: Sequence[tuple[str, Total]],
    *,
    repeats: int = 1,
    partial: bool = False,
    what: str = "answers",
) -> Iterator[str]:
    """What ``compare_means`` says or, without answers, ``check_accuracy`` of each total."""
    if not answers:
        for _, total in totals:
            yield from check_accuracy(total, repeats=repeats, partial=partial)
    yield from compare_means(answers, dict(totals), what)


def check_accuracy(total: Total, *, repeats: int = 1, partial: bool = False) -> Iterator[str]:
    """A share of right answers, of 1 or in percent, that no whole number of right answers gives.

    Each problem has ``repeats`` answers, and with ``partial`` an answer may be half right. Metrics that do
    not count right answers pass.
    """
    if not is_accuracy(total.metric):
        return
    if not 0 <= total.value <= _HUNDRED:
        value = written(total.value)
        yield f"{shorten_cell(total.metric)} is {value}, and a share of right answers lies between 0 and 1"
        return
    if total.n is None:
        return
    unit = _HUNDRED if total.value > 1 else 1.0
    answers = total.n * repeats * (2 if partial else 1)
    right = total.value / unit * answers
    # A value may have been rounded to the digits that it is written in.
    exponent = Decimal(repr(total.value)).as_tuple().exponent
    rounding = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0) / unit * answers
    # Answers are graded in between where the standard error is not that of right or wrong.
    spread = total.stderr / unit if total.stderr is not None and total.n > 1 else None
    share = min(total.value / unit, 1.0)
    deviations = (math.sqrt(share * (1 - share) / n) for n in (total.n, total.n - 1))
    graded = spread is not None and not any(
        math.isclose(spread, deviation, rel_tol=0.02, abs_tol=1e-9) for deviation in deviations
    )
    if abs(right - round(right)) > rounding + _ROUNDING * answers and not graded:
        value, nearest = (written(one, significant=6) for one in (total.value, round(right) / answers * unit))
        yield (
            f"{shorten_cell(total.metric)} is {value}, which no whole number of right answers out of "
            f"{answers:,} gives; the nearest is {nearest}"
        )


def compare_means(
    answers: Sequence[ScoredAnswer], totals: Mapping[str, Total], what: str = "answers"
) -> Iterator[str]:
    """Totals that are not the mean of their answers, and answers that no total counts.

    The answers are of one benchmark, and called ``what``; totals have the metric of their answers as keys.
    """
    by_metric: dict[str, list[ScoredAnswer]] = defaultdict(list)
    for answer in answers:
        by_metric[answer.metric].append(answer)
    for metric, total in totals.items():
        own = by_metric.get(metric, [])
        scored = sum(answer.score is not None for answer in own)
        name, mean = shorten_cell(total.metric), find_other_mean(own, total, metric)
        if mean is not None:
            said, actual = (written(one, significant=6) for one in (total.value, mean))
            verbs = ("give", "gives") if is_accuracy(total.metric) else ("have the mean", "has the mean")
            by = format_count(scored, what.removesuffix("s"))
            yield f"{name} is said to be {said}, and its {by} {verbs[scored == 1]} {actual}"
        elif scored and (unscored := len(own) - scored):
            counts = "counts" if unscored == 1 else "count"
            failed = f"the {unscored:,} without a score {counts} neither as right nor as wrong"
            yield f"{name} is over {scored:,} of {len(own):,} {what}: {failed}"


def find_other_mean(answers: Iterable[ScoredAnswer], total: Total, metric: str) -> float | None:
    """The mean of the answers by a metric, if a total is another number; None if there is none.

    Harnesses take the mean over answers or over problems, so that a total may be either.
    """
    scores: list[float] = []
    by_problem: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        if answer.metric == metric and answer.score is not None:
            scores.append(answer.score)
            by_problem[answer.problem].append(answer.score)
    if not scores:
        return None
    mean = sum(scores) / len(scores)
    over_problems = sum(sum(own) / len(own) for own in by_problem.values()) / len(by_problem)
    is_mean = any(math.isclose(one, total.value, rel_tol=1e-4, abs_tol=1e-4) for one in (mean, over_problems))
    return None if is_mean else mean


def warn_equal_answers(answers: Sequence[ScoredAnswer]) -> Iterator[str]:
    """Answers that count as wrong though they are the gold answer as a number: ``16.00`` and ``16``."""
    equal = []
    for answer in answers:
        if answer.score == 0 and answer.answer and answer.gold:
            texts = (text.strip().rstrip(".").replace(",", "") for text in (answer.answer, answer.gold))
            mine, right = map(parse_number, texts)
            equal += [answer] if mine is not None and mine == right else []
    if equal:
        first, gold, problem = map(shorten_cell, (equal[0].answer, equal[0].gold, equal[0].problem))
        count = format_count(len(equal), "answer counts", "answers count")
        yield (
            f"{count} as wrong though equal to the gold answer as numbers, such as "
            f'"{first}" and "{gold}" for problem {problem}; they are left as scored'
        )
