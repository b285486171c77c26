"""Answers of an evaluation, added row by row with the cells that a harness wrote."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.formats.evaluations.scores import parse_score
from reportgen.formats.json_files import as_answer, as_word
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import ScoredAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reportgen.core.score_names import Status


_LONGEST_GROUP: Final = 60
_MOST_GROUPS: Final = 50
_LEAST_GROUPS: Final = 2
_MOST_KEYS: Final = 20


class AnswerRows(Struct):
    """Answers of an evaluation so far; cells are as written."""

    answers: list[ScoredAnswer] = field(default_factory=list)
    fields: dict[str, dict[str, str | None]] = field(default_factory=dict)  # of problems; see ``name_groups``
    strange: Counter[str] = field(default_factory=Counter)  # cells that are no scores, by metric

    def add(
        self,
        problem: object,
        scores: Mapping[str, object],
        sample: object = "",
        *,
        answer: object = None,
        gold: object = None,
        tokens: object = None,
        seconds: object = None,
        fields: Mapping[str, Any] | None = None,
        slices: Mapping[str, str] | None = None,
        texts: Mapping[str, str] | None = None,
        status: Status | None = None,
    ) -> None:
        """Add an answer for each metric of ``scores``; ``fields`` describe its problem, and may group it.

        A ``status`` is that of an answer without a score.
        """
        name, repeat = as_word(problem), as_word(sample)
        given, right = as_answer(answer), as_answer(gold)
        used, time = parse_number(tokens), parse_number(seconds)
        if fields is not None and name not in self.fields:
            self.fields[name] = name_groups(fields)
        for metric, cell in scores.items():
            score = parse_score(cell)
            # NaN is what harnesses write for an answer that could not be graded.
            if score is None and cell is not None and not math.isnan(parse_number(cell) or 0):
                self.strange[metric] += 1
            said = (given, right, used, time, slices or {}, texts or {})
            known = status if score is None else None
            self.answers.append(ScoredAnswer(name, score, repeat, metric, *said, known))

    def build(self, hidden: Collection[str] = (), *, graded: bool = False) -> tuple[ScoredAnswer, ...]:
        """Return the answers, if ``graded`` of metrics that have a score; ``hidden`` fields group none."""
        answers = self.answers
        if graded:
            scored = {answer.metric for answer in answers if answer.score is not None}
            answers = [answer for answer in answers if answer.metric in scored]
        slices = find_slices(self.fields, hidden)
        groups = ((answer, slices.get(answer.problem)) for answer in answers)
        return tuple(replace(answer, slices=own) if own else answer for answer, own in groups)


def name_groups(fields: Mapping[str, Any]) -> dict[str, str | None]:
    """Return a problem's fields as group names: empty if missing, None if unsuitable as a name."""
    names: dict[str, str | None] = {}
    for key, value in fields.items():
        whole = isinstance(value, str | int | None) or (isinstance(value, float) and value.is_integer())
        text = as_word(value)
        names[key] = text if whole and len(text) <= _LONGEST_GROUP else None
    return names


def find_slices(
    problems: Mapping[str, Mapping[str, str | None]], hidden: Collection[str] = ()
) -> dict[str, dict[str, str]]:
    """Return for each problem the keys that group it, such as ``subject`` and ``level``; see ``name_groups``.

    A key groups if its values are short words, whole numbers or truth values, if there are 2 to 50 of them,
    and if at least half of the problems share theirs with another: ids and questions do not, and callers hide
    the right answer.
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
