"""Answers that lm-eval kept: a row a document and filter, with a column for each metric.

In older files a row does not name its filter: all rows of the first stand before those of the second.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import Lines, mapping, short_text, told, word
from reportgen.read.harnesses.scoring import score_of
from reportgen.read.harnesses.slices import grouping, slices_of
from reportgen.read.logged import Answered, Finding
from reportgen.words import counted, listing

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
class Samples:
    """Answers of one task."""

    answers: tuple[Answered, ...] = ()
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
class _Rows:
    """All rows of a file, and what was irregular in them."""

    filters: Sequence[str] = ()
    unnamed: Counter[str] = field(default_factory=Counter)
    kept: list[_Row] = field(default_factory=list)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    unnumbered: dict[str, int] = field(default_factory=dict)
    differing: set[str] = field(default_factory=set)
    repeated: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def add(self, row: dict[str, Any], wanted: Collection[str] | None) -> None:
        """Keep a row."""
        problem = word(row.get("doc_id"))
        chosen = word(row.get("filter")) if "filter" in row else self._in_order(problem)
        if not problem:
            self.unnumbered[chosen] = self.unnumbered.get(chosen, -1) + 1
            problem = str(self.unnumbered[chosen])
        fingerprint = word(row.get("doc_hash"))
        if fingerprint and self.hashes.setdefault(problem, fingerprint) != fingerprint:
            self.differing.add(problem)
        self.repeated += (problem, chosen) in self.seen
        self.seen.add((problem, chosen))
        if problem not in self.said:
            self.said[problem] = grouping(mapping(row.get("doc")))
        gold = short_text(row.get("target"))
        self.kept.append(_Row(problem, chosen, self._cells(row, chosen, wanted), _answer(row), gold))

    def _in_order(self, problem: str) -> str:
        """The filter of a row that names none; the last where a document has more rows than there are."""
        self.unnamed[problem] += 1
        return self.filters[min(self.unnamed[problem], len(self.filters)) - 1] if self.filters else ""

    def _cells(
        self, row: Mapping[str, Any], chosen: str, wanted: Collection[str] | None
    ) -> dict[str, float | None]:
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_METRIC]
        cells = {}
        for name in names:
            label = label_of(word(name), chosen)
            if not isinstance(name, str) or (wanted is not None and not {label, name} & set(wanted)):
                continue
            cell = row.get(name)
            cells[label] = score_of(cell)
            if cells[label] is None and cell is not None:
                self.dropped[label] = self.dropped.get(label, 0) + 1
        return cells

    def answers(self) -> Iterator[Answered]:
        """One a row and metric that has a score somewhere."""
        slices = dict(zip(self.said, slices_of([*self.said.values()], _HIDDEN), strict=True))
        scored = {label for row in self.kept for label, score in row.cells.items() if score is not None}
        for row in self.kept:
            for label, score in row.cells.items():
                if label in scored:
                    yield Answered(
                        problem=row.problem,
                        score=score,
                        metric=label,
                        answer=row.answer,
                        gold=row.gold,
                        slices=slices[row.problem],
                    )

    def findings(self, path: Path) -> Iterator[Finding]:
        """What was irregular."""
        if self.differing:
            message = (
                f"{counted(len(self.differing), 'document number stands', 'document numbers stand')} for"
            )
            names = listing([told(one) for one in sorted(self.differing)], most=_FEW)
            yield Finding(path, f"{message} different documents: {names}")
        if self.repeated:
            message = f"{counted(self.repeated, 'row repeats', 'rows repeat')} a document and filter"
            yield Finding(path, message)
        if self.dropped:
            cells = counted(sum(self.dropped.values()), "value that is no score", "values that are no scores")
            yield Finding(
                path, f"{cells} in {listing([told(label) for label in self.dropped], most=_FEW)}: left out"
            )


@lru_cache(maxsize=1024)
def label_of(metric: str, chosen: str) -> str:
    """A metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


def read_samples(path: Path, wanted: Collection[str] | None, filters: Sequence[str] = ()) -> Samples:
    """All answers of a file.

    Args:
        path: the file.
        wanted: only these metrics, with or without their filter.
        filters: of the task, in the order of its results, for rows that name none.

    Raises:
        UnreadableError: it cannot be read.
    """
    lines, rows = Lines(path), _Rows(filters)
    for row in lines.objects():
        rows.add(row, wanted)
    answers = tuple(rows.answers())
    return Samples(answers, (*lines.findings(), *rows.findings(path)), path)


def _answer(row: Mapping[str, Any]) -> str | None:
    """The answer that a filter took; None for a choice by likelihood, which has none of its own."""
    taken = row.get("filtered_resps")
    if isinstance(taken, list):
        taken = taken[0] if len(taken) == 1 else None
    return short_text(taken) if isinstance(taken, str) and taken != _NO_ANSWER else None
