"""Answers that lm-eval kept: a row a document and filter, with a column for each metric.

In older files a row does not name its filter: all rows of the first stand before those of the second.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import JsonLines, as_answer, as_mapping, as_word, shorten_cell
from reportgen.read.harnesses.scoring import parse_score
from reportgen.read.harnesses.slices import find_slices, select_group_fields
from reportgen.read.logged import Finding, ScoredAnswer
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

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
                f"{cells} in {join_names([shorten_cell(label) for label in self.dropped], most=_FEW)}: left out",
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
