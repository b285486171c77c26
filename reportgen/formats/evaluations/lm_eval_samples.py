"""Answers that lm-eval kept, and whether what its results file says of a task can be true and fits them.

A row is a document and filter, with a column for each metric. In older files a row does not name its filter:
all rows of the first stand before those of the second.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations.scores import (
    check_accuracy,
    compare_means,
    find_other_mean,
    find_slices,
    is_accuracy,
    parse_count,
    parse_score,
    select_group_fields,
    warn_equal_answers,
)
from reportgen.formats.json_files import JsonLines, as_answer, as_mapping, as_word, shorten_cell
from reportgen.formats.runs import Finding, ScoredAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Total


_NO_METRIC: Final = frozenset(
    (
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    )
)
# The right answer groups problems too, but says nothing about them.
_HIDDEN: Final = frozenset(
    ("answer", "answerKey", "answer_key", "target", "label", "gold", "gold_label", "correct", "id", "idx")
)
# What a filter takes where its pattern fits nothing (lm_eval/filters/extraction.py).
_NO_ANSWER: Final = "[invalid]"
_FEW: Final = 3


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """Answers of one task."""

    answers: tuple[ScoredAnswer, ...] = ()
    findings: tuple[Finding, ...] = ()
    path: Path | None = None


@dataclass(slots=True)
class _Row:
    """What is kept of a row."""

    problem: str
    chosen: str
    cells: dict[str, float | None]
    answer: str | None
    gold: str | None


@dataclass(slots=True)
class _SampleRows:
    """All rows of a file, and what was irregular in them."""

    filters: Sequence[str] = ()
    unnamed: Counter[str] = field(default_factory=Counter)
    rows: list[_Row] = field(default_factory=list)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    unnumbered: dict[str, int] = field(default_factory=dict)
    differing: set[str] = field(default_factory=set)
    repeated: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def add(self, row: dict[str, Any], selected: Collection[str] | None) -> None:
        """Keep a row."""
        problem = as_word(row.get("doc_id"))
        chosen = as_word(row.get("filter")) if "filter" in row else self._guess_filter(problem)
        if not problem:
            self.unnumbered[chosen] = self.unnumbered.get(chosen, -1) + 1
            problem = str(self.unnumbered[chosen])
        fingerprint = as_word(row.get("doc_hash"))
        if fingerprint and self.hashes.setdefault(problem, fingerprint) != fingerprint:
            self.differing.add(problem)
        self.repeated += (problem, chosen) in self.seen
        self.seen.add((problem, chosen))
        if problem not in self.said:
            self.said[problem] = select_group_fields(as_mapping(row.get("doc")))
        gold = as_answer(row.get("target"))
        self.rows.append(
            _Row(problem, chosen, self._parse_cells(row, chosen, selected), _find_answer(row), gold)
        )

    def _guess_filter(self, problem: str) -> str:
        """The filter of a row that names none; the last where a document has more rows than there are."""
        self.unnamed[problem] += 1
        return self.filters[min(self.unnamed[problem], len(self.filters)) - 1] if self.filters else ""

    def _parse_cells(
        self, row: Mapping[str, Any], chosen: str, selected: Collection[str] | None
    ) -> dict[str, float | None]:
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_METRIC]
        cells = {}
        for name in names:
            label = label_metric(as_word(name), chosen)
            if not isinstance(name, str) or (selected is not None and not {label, name} & set(selected)):
                continue
            cell = row.get(name)
            cells[label] = parse_score(cell)
            if cells[label] is None and cell is not None:
                self.dropped[label] = self.dropped.get(label, 0) + 1
        return cells

    def build_answers(self) -> Iterator[ScoredAnswer]:
        """One a row and metric that has a score somewhere."""
        slices = dict(zip(self.said, find_slices([*self.said.values()], _HIDDEN), strict=True))
        scored = {label for row in self.rows for label, score in row.cells.items() if score is not None}
        for row in self.rows:
            for label, score in row.cells.items():
                if label in scored:
                    yield ScoredAnswer(
                        problem=row.problem,
                        score=score,
                        metric=label,
                        answer=row.answer,
                        gold=row.gold,
                        slices=slices[row.problem],
                    )

    def list_findings(self, path: Path) -> Iterator[Finding]:
        """What was irregular."""
        if self.differing:
            message = (
                f"{format_count(len(self.differing), 'document number stands', 'document numbers stand')} for"
            )
            names = join_names([shorten_cell(one) for one in sorted(self.differing)], most=_FEW)
            yield Finding(path, f"{message} different documents: {names}")
        if self.repeated:
            message = f"{format_count(self.repeated, 'row repeats', 'rows repeat')} a document and filter"
            yield Finding(path, message)
        if self.dropped:
            cells = format_count(
                sum(self.dropped.values()), "value that is no score", "values that are no scores"
            )
            yield Finding(
                path,
                f"{cells} in "
                f"{join_names([shorten_cell(label) for label in self.dropped], most=_FEW)}: left out",
            )


@lru_cache(maxsize=1024)
def label_metric(metric: str, chosen: str) -> str:
    """A metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return as_word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


def read_samples(path: Path, selected: Collection[str] | None, filters: Sequence[str] = ()) -> TaskAnswers:
    """All answers of a file.

    Args:
        path: the file.
        selected: only these metrics, with or without their filter.
        filters: of the task, in the order of its results, for rows that name none.

    Raises:
        UnreadableError: it cannot be read.
    """
    lines, rows = JsonLines(path), _SampleRows(filters)
    for row in lines.read_objects():
        rows.add(row, selected)
    answers = tuple(rows.build_answers())
    return TaskAnswers(answers, (*lines.list_findings(), *rows.list_findings(path)), path)


def _find_answer(row: Mapping[str, Any]) -> str | None:
    """The answer that a filter took; None for a choice by likelihood, which has none of its own."""
    taken = row.get("filtered_resps")
    if isinstance(taken, list):
        taken = taken[0] if len(taken) == 1 else None
    return as_answer(taken) if isinstance(taken, str) and taken != _NO_ANSWER else None


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
        message = (
            f"{shorten_cell(task)}: {shorten_cell(total.metric)} is {said}, and the mean of "
            f"its values is {other}"
        )
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
        message = (
            f"{shorten_cell(task)}: the answers are to "
            f"{format_count(len(problems), 'problem')}, the scores over"
        )
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
