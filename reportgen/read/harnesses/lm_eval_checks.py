"""Whether what a results file of lm-eval says of a task can be true, and fits the answers beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.checking import (
    check_accuracy,
    compare_means,
    find_other_mean,
    is_accuracy,
    warn_equal_answers,
)
from reportgen.read.harnesses.documents import as_mapping, as_word, shorten_cell
from reportgen.read.harnesses.scoring import parse_count
from reportgen.read.logged import Finding
from reportgen.words import format_count
from reportgen.words import format_number as written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.harnesses.lm_eval_samples import TaskAnswers
    from reportgen.read.logged import Total

_MEANS: Final = frozenset(("", "mean", "nanmean"))
_MOST_PROBLEMS: Final = 1e9


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A results file: its parts, and the date in its name."""

    path: Path
    document: Mapping[str, Any]
    date: str

    def get_config(self, task: str) -> dict[str, Any]:
        """The settings of a task."""
        return as_mapping(as_mapping(self.document.get("configs")).get(task))

    def count_problems(self, task: str, key: str) -> int | None:
        """How many problems a task has (``original``), or was asked (``effective``)."""
        return parse_count(as_mapping(as_mapping(self.document.get("n-samples")).get(task)).get(key))

    def list_subtasks(self, task: str) -> list[str] | None:
        """What a group is a score over, where that is said; None for a task with problems of its own."""
        named = as_mapping(self.document.get("group_subtasks")).get(task)
        if isinstance(named, list) and named:
            return [as_word(name) for name in named]
        return [] if named or task in as_mapping(self.document.get("groups")) else None

    def count_all_problems(self, task: str) -> int | None:
        """How many problems a score is over: a group's are those of its tasks, if all of these are known."""
        inside, leaves, seen = [task], list[str](), {task}
        while inside:
            one = inside.pop()
            named = [name for name in self.list_subtasks(one) or () if name not in seen]
            seen.update(named)
            inside += named
            leaves += [] if self.list_subtasks(one) is not None else [one]
        counts = [self.count_problems(leaf, "effective") for leaf in leaves]
        return sum(filter(None, counts)) if counts and all(counts) else None


def infer_problems(total: Total) -> int | None:
    """The number of problems from a share of right answers and its standard error; see ``lm_eval``."""
    share, error = total.value, total.stderr
    if not is_accuracy(total.metric) or not error or not 0 < share < 1:
        return None
    n = share * (1 - share) / error / error + 1  # the square of a tiny error would be 0
    if not n <= _MOST_PROBLEMS:
        return None
    right = share * round(n)
    whole = abs(n - round(n)) < 1e-3 and abs(right - round(right)) < 1e-3  # noqa: PLR2004 - both are whole
    return round(n) if whole else None


def exclude_aggregates(
    run: ResultsFile, task: str, totals: Sequence[Total], own: TaskAnswers
) -> tuple[TaskAnswers, tuple[Finding, ...]]:
    """Answers without the values that are no scores of theirs, and what was left out.

    A perplexity or BLEU is not the mean of what stands beside each document, which is a likelihood or a
    count: ``metric_list`` names another aggregation, and the mean is another number.
    """
    how = {
        as_word(one.get("metric")): as_word(one.get("aggregation"))
        for one in map(as_mapping, _as_list(run.get_config(task).get("metric_list")))
    }
    findings = []
    dropped = set()
    for total in totals:
        mean = find_other_mean(own.answers, total)
        if mean is None or how.get(total.metric.partition(" (")[0], "") in _MEANS:
            continue
        dropped.add(total.metric)
        said, other = (written(value, significant=6) for value in (total.value, mean))
        message = f"{shorten_cell(task)}: {shorten_cell(total.metric)} is {said}, and the mean of its values is {other}"
        findings.append(Finding(own.path or run.path, f"{message}: they are no scores, and left out"))
    scored_answers = tuple(answer for answer in own.answers if answer.metric not in dropped)
    return replace(own, answers=scored_answers), tuple(findings)


def check_results(
    run: ResultsFile, task: str, totals: Sequence[Total], own: TaskAnswers
) -> Iterator[Finding]:
    """What cannot be so, or does not fit together."""
    problems = {answer.problem for answer in own.answers}
    limited_to, all_ = (run.count_problems(task, key) for key in ("effective", "original"))
    if limited_to and all_ and limited_to < all_:
        message = f"{shorten_cell(task)}: the limit leaves {limited_to:,} of {format_count(all_, 'problem')}"
        yield Finding(run.path, message)
    if limited_to and problems and len(problems) != limited_to:
        message = f"{shorten_cell(task)}: the answers are to {format_count(len(problems), 'problem')}, the scores over"
        yield Finding(own.path or run.path, f"{message} {limited_to:,}")
    repeats = parse_count(run.get_config(task).get("repeats")) or 1
    if repeats > 1 and own.answers:
        message = (
            f"{shorten_cell(task)}: each problem was asked {repeats:,} times, and each answer here is what a"
        )
        yield Finding(own.path or run.path, f"{message} filter made of these")
    for total in totals:
        if not own.answers and (finding := check_accuracy(run.path, total, repeats=repeats)):
            yield replace(finding, message=f"{shorten_cell(task)}: {finding.message}")
    means = {total.metric: total for total in totals}
    for finding in compare_means(own.path or run.path, own.answers, means):
        yield replace(finding, message=f"{shorten_cell(task)}: {finding.message}")
    yield from warn_equal_answers(own.path or run.path, own.answers)


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
