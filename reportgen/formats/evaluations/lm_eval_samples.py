"""Answers of the Language Model Evaluation Harness: files ``samples_TASK_DATE.jsonl``.

A row is a document and filter, with a column for each metric.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.core.words import format_count
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.texts import read_lm_eval_texts
from reportgen.formats.json_files import JsonLines, as_mapping, as_word
from reportgen.formats.runs import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import ScoredAnswer


_NO_METRIC: Final = frozenset(
    (
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    )
)
# The right answer groups problems too, but does not describe them.
_HIDDEN: Final = frozenset(
    ("answer", "answerKey", "answer_key", "target", "label", "gold", "gold_label", "correct", "id", "idx")
)
# A filter's result if its pattern does not match (lm_eval/filters/extraction.py).
_NO_ANSWER: Final = "[invalid]"


def read_samples(
    path: Path, results: Iterable[str], *, texts: bool = False
) -> tuple[tuple[ScoredAnswer, ...], tuple[Diagnostic, ...]]:
    """Return all answers of a file by metric and filter, and the irregularities.

    ``results`` are the keys of the task's results, such as ``acc,none``; ``texts`` says whether answers have
    texts. Raises ``UnreadableError`` for rows of several filters that do not name theirs.
    """
    filters = {key.partition(",")[2] for key in results if "," in key}
    lines, rows = JsonLines(path), _SampleRows(texts)
    for row in lines.read_objects():
        if "filter" not in row and filters - {"none"}:
            message = "a row does not name its filter, as in files of versions before 0.4.4"
            raise UnreadableError(path, message, "Evaluate again, or leave the file out with files:")
        rows.add(row)
    irregular = (*lines.list_findings(), *scores.make_findings(path, rows.list_messages()))
    # A metric that has a score in no row is computed for the whole task.
    return rows.answers.build(_HIDDEN, graded=True), irregular


@lru_cache(maxsize=1024)
def label_metric(metric: str, chosen: str) -> str:
    """Return a metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return as_word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


class _SampleRows(Struct):
    """Rows of a file, and their irregularities."""

    texts: bool  # whether answers have texts
    answers: AnswerRows = field(default_factory=AnswerRows)
    count: int = 0
    unnumbered: int = 0
    known: set[tuple[str, str]] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        problem, chosen = as_word(row.get("doc_id")), as_word(row.get("filter"))
        if not problem:
            self.unnumbered += 1
            return
        self.known.add((problem, chosen))
        self.count += 1
        # Choices by likelihood have no answer of their own.
        taken = row.get("filtered_resps")
        if isinstance(taken, list):
            taken = taken[0] if len(taken) == 1 else None
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_METRIC]
        self.answers.add(
            problem,
            {label_metric(as_word(name), chosen): row.get(name) for name in names if isinstance(name, str)},
            answer=taken if isinstance(taken, str) and taken != _NO_ANSWER else None,
            gold=row.get("target"),
            fields=as_mapping(row.get("doc")),
            texts=read_lm_eval_texts(row) if self.texts else {},
        )

    def list_messages(self) -> Iterator[str]:
        if repeated := self.count - len(self.known):
            yield f"{format_count(repeated, 'row repeats', 'rows repeat')} a document and filter"
        if self.unnumbered:
            yield f"{format_count(self.unnumbered, 'row has', 'rows have')} no doc_id: left out"
        yield from scores.warn_no_scores(self.answers.strange)
