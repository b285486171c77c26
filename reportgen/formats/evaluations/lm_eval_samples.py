"""Answers that lm-eval wrote, and whether what its results file says of a task can be true and fits them.

A row is a document and filter, with a column for each metric. In older files a row does not name its filter:
all rows of the first stand before those of the second.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations.scores import (
    check_totals,
    find_other_mean,
    find_slices,
    is_accuracy,
    list_shortened,
    make_findings,
    parse_count,
    parse_score,
    select_group_fields,
    warn_equal_answers,
    warn_limit,
    warn_no_scores,
)
from reportgen.formats.json_files import JsonLines, as_answer, as_list, as_mapping, as_word, shorten_cell
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


@dataclass(frozen=True, slots=True)
class _Row:
    """What is used of a row."""

    problem: str
    cells: dict[str, float | None]
    answer: str | None
    gold: str | None


@dataclass(slots=True)
class _SampleRows:
    """All rows of a file, and what was irregular in them.

    Attributes:
        selected: only these metrics, with or without their filter.
        filters: of the task, in the order of its results, for rows that name none.
    """

    selected: Collection[str] | None
    filters: Sequence[str]
    unnamed: Counter[str] = field(default_factory=Counter)
    rows: list[_Row] = field(default_factory=list)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    unnumbered: Counter[str] = field(default_factory=Counter)
    differing: set[str] = field(default_factory=set)
    repeated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        problem = as_word(row.get("doc_id"))
        chosen = as_word(row.get("filter")) if "filter" in row else self._guess_filter(problem)
        if not problem:
            problem = str(self.unnumbered[chosen])
            self.unnumbered[chosen] += 1
        fingerprint = as_word(row.get("doc_hash"))
        if fingerprint and self.hashes.setdefault(problem, fingerprint) != fingerprint:
            self.differing.add(problem)
        self.repeated += (problem, chosen) in self.seen
        self.seen.add((problem, chosen))
        if problem not in self.documents:
            self.documents[problem] = select_group_fields(as_mapping(row.get("doc")))
        # Choices by likelihood have no answer of their own.
        taken = row.get("filtered_resps")
        if isinstance(taken, list):
            taken = taken[0] if len(taken) == 1 else None
        answer = as_answer(taken) if isinstance(taken, str) and taken != _NO_ANSWER else None
        self.rows.append(_Row(problem, self._parse_cells(row, chosen), answer, as_answer(row.get("target"))))

    def _guess_filter(self, problem: str) -> str:
        """The filter of a row that names none; the last where a document has more rows than there are."""
        self.unnamed[problem] += 1
        return self.filters[min(self.unnamed[problem], len(self.filters)) - 1] if self.filters else ""

    def _parse_cells(self, row: Mapping[str, Any], chosen: str) -> dict[str, float | None]:
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_METRIC]
        cells = {}
        for name in names:
            label = label_metric(as_word(name), chosen)
            if isinstance(name, str) and (self.selected is None or {label, name} & set(self.selected)):
                cells[label] = parse_score(row.get(name))
                self.dropped[label] += cells[label] is None and row.get(name) is not None
        return cells

    def build_answers(self) -> Iterator[ScoredAnswer]:
        """One a row and metric that has a score somewhere."""
        slices = dict(zip(self.documents, find_slices([*self.documents.values()], _HIDDEN), strict=True))
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

    def list_messages(self) -> Iterator[str]:
        """What was irregular."""
        if self.differing:
            count = format_count(len(self.differing), "document number stands", "document numbers stand")
            yield f"{count} for different documents: {list_shortened(sorted(self.differing))}"
        if self.repeated:
            yield f"{format_count(self.repeated, 'row repeats', 'rows repeat')} a document and filter"
        yield from warn_no_scores(+self.dropped)


@lru_cache(maxsize=1024)
def label_metric(metric: str, chosen: str) -> str:
    """A metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return as_word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


def read_samples(
    path: Path, selected: Collection[str] | None, filters: Sequence[str]
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """All answers of a file by metric and filter, and what was irregular; see ``_SampleRows``.

    Raises:
        UnreadableError: it cannot be read.
    """
    lines, rows = JsonLines(path), _SampleRows(selected, filters)
    for row in lines.read_objects():
        rows.add(row)
    findings = (*lines.list_findings(), *make_findings(path, rows.list_messages()))
    return tuple(rows.build_answers()), findings


_MEANS: Final = frozenset(("", "mean", "nanmean"))
_MOST_PROBLEMS: Final = 1e9


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A results file: its parts, and the date in its name."""

    path: Path
    document: Mapping[str, Any]
    date: str

    def get(self, part: str, task: str) -> Any:  # noqa: ANN401 - JSON can be anything
        """What a part of the file, such as ``configs``, says of a task."""
        return as_mapping(self.document.get(part)).get(task)

    def get_config(self, task: str) -> dict[str, Any]:
        """The settings of a task."""
        return as_mapping(self.get("configs", task))

    def count_problems(self, task: str, key: str) -> int | None:
        """How many problems a task has (``original``), or was given (``effective``)."""
        return parse_count(as_mapping(self.get("n-samples", task)).get(key))

    def list_subtasks(self, task: str) -> list[str] | None:
        """What a group is a score over, where that is said; None for a task with problems of its own."""
        named = self.get("group_subtasks", task)
        if isinstance(named, list) and named:
            return [as_word(name) for name in named]
        return [] if named or task in as_mapping(self.document.get("groups")) else None

    def count_all_problems(self, task: str) -> int | None:
        """How many problems a score is over: a group's are those of its tasks, if all of these are known."""
        waiting, counts, seen = [task], list[int | None](), {task}
        while waiting:
            one = waiting.pop()
            subtasks = self.list_subtasks(one)
            if subtasks is None:
                counts.append(self.count_problems(one, "effective"))
            waiting += [name for name in subtasks or () if name not in seen]
            seen.update(subtasks or ())
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
    run: ResultsFile, task: str, totals: Sequence[Total], answers: Sequence[ScoredAnswer]
) -> tuple[tuple[ScoredAnswer, ...], list[str]]:
    """Answers without the values that are no scores of theirs, and what was left out.

    A perplexity or BLEU is not the mean of what stands next to each document, which is a likelihood or a
    count: ``metric_list`` names another aggregation, and the mean is another number.
    """
    metrics = map(as_mapping, as_list(run.get_config(task).get("metric_list")))
    how = {as_word(one.get("metric")): as_word(one.get("aggregation")) for one in metrics}
    messages = []
    dropped = set()
    for total in totals:
        mean = find_other_mean(answers, total)
        if mean is None or how.get(total.metric.partition(" (")[0], "") in _MEANS:
            continue
        dropped.add(total.metric)
        value, other = (written(number, significant=6) for number in (total.value, mean))
        messages.append(
            f"{shorten_cell(total.metric)} is {value}, and the mean of its values is {other}: "
            "they are no scores, and left out"
        )
    return tuple(answer for answer in answers if answer.metric not in dropped), messages


def check_results(
    run: ResultsFile,
    task: str,
    totals: Sequence[Total],
    answers: Sequence[ScoredAnswer],
    samples: Path | None,
) -> Iterator[Finding]:
    """What cannot be so, or does not fit together; ``samples`` is the file of the answers."""
    path = samples or run.path
    limited_to, all_ = (run.count_problems(task, key) for key in ("effective", "original"))
    yield from make_findings(run.path, warn_limit(limited_to, all_), task)
    messages = []
    problems = len({answer.problem for answer in answers})
    if limited_to and problems and problems != limited_to:
        count = format_count(problems, "problem")
        messages.append(f"the answers are to {count}, the scores over {limited_to:,}")
    repeats = parse_count(run.get_config(task).get("repeats")) or 1
    if repeats > 1 and answers:
        times = f"each problem was asked {repeats:,} times"
        messages.append(f"{times}, and each answer here is what a filter made of these")
    messages += check_totals(answers, [(total.metric, total) for total in totals], repeats=repeats)
    # Without answers only scores are checked, which stand in the results.
    yield from make_findings(path if answers else run.path, messages, task)
    yield from make_findings(path, warn_equal_answers(answers))
