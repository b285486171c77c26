"""Answers that lm-eval wrote: a row is a document and filter, with a column for each metric.

In older files a row does not name its filter: all rows of the first stand before those of the second.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.evaluations import scores
from reportgen.formats.json_files import JsonLines, as_answer, as_mapping, as_word
from reportgen.formats.runs import ScoredAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Finding


_NO_COLUMN: Final = frozenset(
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


def read_samples(
    path: Path, selected: Collection[str] | None, filters: Sequence[str]
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """All answers of a file by metric and filter, and what was irregular.

    ``filters`` are those of the task, in the order of its results, for rows that name none.

    Raises:
        UnreadableError: it cannot be read.
    """
    lines, rows = JsonLines(path), _SampleRows(selected, filters)
    for row in lines.read_objects():
        rows.add(row)
    findings = (*lines.list_findings(), *scores.make_findings(path, rows.list_messages()))
    return tuple(rows.build_answers()), findings


@lru_cache(maxsize=1024)
def label_metric(metric: str, chosen: str) -> str:
    """A metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return as_word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


@dataclass(slots=True)
class _SampleRows:
    """All rows of a file, and what was irregular in them."""

    selected: Collection[str] | None  # only these metrics, with or without their filter
    filters: Sequence[str]  # of the task, in the order of its results, for rows that name none
    unnamed: Counter[str] = field(default_factory=Counter)
    # An answer without its score, and its scores by metric and filter.
    rows: list[tuple[ScoredAnswer, dict[str, float | None]]] = field(default_factory=list)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    unnumbered: Counter[str] = field(default_factory=Counter)
    differing: set[str] = field(default_factory=set)
    repeated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        problem = as_word(row.get("doc_id"))
        if "filter" in row or not self.filters:
            chosen = as_word(row.get("filter"))
        else:
            # The last filter where a document has more rows than there are filters.
            self.unnamed[problem] += 1
            chosen = self.filters[min(self.unnamed[problem], len(self.filters)) - 1]
        if not problem:
            problem = str(self.unnumbered[chosen])
            self.unnumbered[chosen] += 1
        fingerprint = as_word(row.get("doc_hash"))
        if fingerprint and self.hashes.setdefault(problem, fingerprint) != fingerprint:
            self.differing.add(problem)
        self.repeated += (problem, chosen) in self.seen
        self.seen.add((problem, chosen))
        if problem not in self.documents:
            self.documents[problem] = scores.select_group_fields(as_mapping(row.get("doc")))
        # Choices by likelihood have no answer of their own.
        taken = row.get("filtered_resps")
        if isinstance(taken, list):
            taken = taken[0] if len(taken) == 1 else None
        answer = as_answer(taken) if isinstance(taken, str) and taken != _NO_ANSWER else None
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_COLUMN]
        cells: dict[str, float | None] = {}
        for name in names:
            label = label_metric(as_word(name), chosen)
            if isinstance(name, str) and (self.selected is None or {label, name} & set(self.selected)):
                cells[label] = scores.parse_score(row.get(name))
                self.dropped[label] += cells[label] is None and row.get(name) is not None
        answered = ScoredAnswer(problem, None, answer=answer, gold=as_answer(row.get("target")))
        self.rows.append((answered, cells))

    def build_answers(self) -> Iterator[ScoredAnswer]:
        """One a row and metric that has a score somewhere."""
        slices = dict(
            zip(self.documents, scores.find_slices([*self.documents.values()], _HIDDEN), strict=True)
        )
        scored = {label for _, cells in self.rows for label, score in cells.items() if score is not None}
        for answered, cells in self.rows:
            groups = slices[answered.problem]
            for label, score in cells.items():
                if label in scored:
                    yield replace(answered, score=score, metric=label, slices=groups)

    def list_messages(self) -> Iterator[str]:
        if self.differing:
            count = format_count(len(self.differing), "document number stands", "document numbers stand")
            yield f"{count} for different documents: {scores.list_shortened(sorted(self.differing))}"
        if self.repeated:
            yield f"{format_count(self.repeated, 'row repeats', 'rows repeat')} a document and filter"
        yield from scores.warn_no_scores(+self.dropped)
