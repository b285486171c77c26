"""Whether what a results file of lm-eval says of a task can be true, and fits the answers beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.checking import (
    counts_right,
    disagreement,
    impossible,
    other_mean,
    spelled_alike,
)
from reportgen.read.harnesses.documents import mapping, told, word
from reportgen.read.harnesses.scoring import count_of
from reportgen.read.logged import Finding
from reportgen.words import counted
from reportgen.words import number as written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.harnesses.lm_eval_samples import Samples
    from reportgen.read.logged import Total

_MEANS: Final = frozenset(("", "mean", "nanmean"))
_MOST_PROBLEMS: Final = 1e9


@dataclass(frozen=True, slots=True)
class Run:
    """A results file: its parts, and the date in its name."""

    path: Path
    document: Mapping[str, Any]
    date: str

    def config(self, task: str) -> dict[str, Any]:
        """The settings of a task."""
        return mapping(mapping(self.document.get("configs")).get(task))

    def problems(self, task: str, key: str) -> int | None:
        """How many problems a task has (``original``), or was asked (``effective``)."""
        return count_of(mapping(mapping(self.document.get("n-samples")).get(task)).get(key))

    def subtasks(self, task: str) -> list[str] | None:
        """What a group is a score over, where that is said; None for a task with problems of its own."""
        named = mapping(self.document.get("group_subtasks")).get(task)
        if isinstance(named, list) and named:
            return [word(name) for name in named]
        return [] if named or task in mapping(self.document.get("groups")) else None

    def problems_of(self, task: str) -> int | None:
        """How many problems a score is over: a group's are those of its tasks, if all of these are known."""
        inside, leaves, seen = [task], list[str](), {task}
        while inside:
            one = inside.pop()
            named = [name for name in self.subtasks(one) or () if name not in seen]
            seen.update(named)
            inside += named
            leaves += [] if self.subtasks(one) is not None else [one]
        counts = [self.problems(leaf, "effective") for leaf in leaves]
        return sum(filter(None, counts)) if counts and all(counts) else None


def problems_inferred(total: Total) -> int | None:
    """The number of problems from a share of right answers and its standard error; see ``lm_eval``."""
    share, error = total.value, total.stderr
    if not counts_right(total.metric) or not error or not 0 < share < 1:
        return None
    n = share * (1 - share) / error / error + 1  # the square of a tiny error would be 0
    if not n <= _MOST_PROBLEMS:
        return None
    right = share * round(n)
    whole = abs(n - round(n)) < 1e-3 and abs(right - round(right)) < 1e-3  # noqa: PLR2004 - both are whole
    return round(n) if whole else None


def scores_of_answers(
    run: Run, task: str, totals: Sequence[Total], own: Samples
) -> tuple[Samples, tuple[Finding, ...]]:
    """Answers without the values that are no scores of theirs, and what was left out.

    A perplexity or BLEU is not the mean of what stands beside each document, which is a likelihood or a
    count: ``metric_list`` names another aggregation, and the mean is another number.
    """
    how = {
        word(one.get("metric")): word(one.get("aggregation"))
        for one in map(mapping, _list(run.config(task).get("metric_list")))
    }
    findings = []
    dropped = set()
    for total in totals:
        mean = other_mean(own.answers, total)
        if mean is None or how.get(total.metric.partition(" (")[0], "") in _MEANS:
            continue
        dropped.add(total.metric)
        said, other = (written(value, significant=6) for value in (total.value, mean))
        message = f"{told(task)}: {told(total.metric)} is {said}, and the mean of its values is {other}"
        findings.append(Finding(own.path or run.path, f"{message}: they are no scores, and left out"))
    kept = tuple(answer for answer in own.answers if answer.metric not in dropped)
    return replace(own, answers=kept), tuple(findings)


def irregular(run: Run, task: str, totals: Sequence[Total], own: Samples) -> Iterator[Finding]:
    """What cannot be so, or does not fit together."""
    problems = {answer.problem for answer in own.answers}
    asked, all_ = (run.problems(task, key) for key in ("effective", "original"))
    if asked and all_ and asked < all_:
        message = f"{told(task)}: the limit leaves {asked:,} of {counted(all_, 'problem')}"
        yield Finding(run.path, message)
    if asked and problems and len(problems) != asked:
        message = f"{told(task)}: the answers are to {counted(len(problems), 'problem')}, the scores over"
        yield Finding(own.path or run.path, f"{message} {asked:,}")
    repeats = count_of(run.config(task).get("repeats")) or 1
    if repeats > 1 and own.answers:
        message = f"{told(task)}: each problem was asked {repeats:,} times, and each answer here is what a"
        yield Finding(own.path or run.path, f"{message} filter made of these")
    for total in totals:
        if not own.answers and (finding := impossible(run.path, total, repeats=repeats)):
            yield replace(finding, message=f"{told(task)}: {finding.message}")
    means = {total.metric: total for total in totals}
    for finding in disagreement(own.path or run.path, own.answers, means):
        yield replace(finding, message=f"{told(task)}: {finding.message}")
    yield from spelled_alike(own.path or run.path, own.answers)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
