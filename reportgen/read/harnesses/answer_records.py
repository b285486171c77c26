"""Records of evaluation scripts as answers: a record a problem with lists, or a record an answer."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses import answer_keys as keys
from reportgen.read.harnesses.documents import as_answer, as_word
from reportgen.read.harnesses.scoring import parse_score
from reportgen.read.logged import ScoredAnswer
from reportgen.read.loggers.growing import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# What a record may have for each of its samples.
_PARTS: Final[Mapping[str, Sequence[str]]] = {
    "score": keys.SCORES,
    "answer": keys.ANSWERS,
    "tokens": keys.TOKENS,
    "seconds": keys.SECONDS,
}
_LONGEST_TEXT: Final = 160
_LETTER: Final = re.compile(r"\s*[A-Za-z]\s*")


@dataclass(slots=True)
class RecordCounts:
    """What was irregular in the records of a file.

    Attributes:
        ungraded: records that have no score.
        uneven: records that have another number of responses than of scores.
        strange: cells that are no scores.
        several: names of lists of scores, the one that is read first, where a record has several.
    """

    ungraded: int = 0
    uneven: int = 0
    strange: int = 0
    several: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One answer before problems are told apart.

    Attributes:
        sample_name: the sample's name as written; empty where it has none.
        place: its place in the lists of its record.
    """

    answered: ScoredAnswer
    sample_name: str
    place: int


@dataclass(slots=True)
class Record:
    """What a record says, under whatever names; ``responses`` is their number, where they are a list."""

    problem: str
    gold: str | None
    responses: int | None = None
    lists: dict[str, list[Any]] = field(default_factory=dict)
    cells: dict[str, Any] = field(default_factory=dict)
    sample: str = ""
    scored_by: list[str] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)


def parse_record(record: Mapping[str, Any], index: int) -> Record:
    """The parts of a record.

    Args:
        record: as written.
        index: its number, for a record that names no problem.
    """
    gold_key, gold = next(_iterate_scalars(record, keys.GOLD), ("", None))
    _, problem = next(_iterate_scalars(record, keys.PROBLEM), ("", None))
    text = next((_name_problem(as_word(value)) for _, value in _iterate_scalars(record, keys.TEXT)), "")
    found = Record(as_word(problem) or text or str(index), as_answer(gold))
    found.sample = next((as_word(value) for _, value in _iterate_scalars(record, keys.SAMPLE)), "")
    used = {gold_key}
    for part, names in _PARTS.items():
        for key, value in keys.pick_fields(record, names).items():
            if part == "score" and isinstance(value, list) and _is_column(part, value):
                found.scored_by.append(key)
            if isinstance(value, list) and part not in found.lists and _is_column(part, value):
                found.lists[part] = value
                used.add(key)
            elif part not in found.cells and key != gold_key and _is_cell(part, value):
                found.cells[part] = value
                used.add(key)
    _unpack_responses(record, found)
    responses = keys.pick_fields(record, keys.RESPONSES).values()
    found.responses = next((len(value) for value in responses if isinstance(value, list)), None)
    found.rest = {key: value for key, value in record.items() if key not in used}
    return found


def score_record(record: Record, counts: RecordCounts) -> Iterator[GradedAnswer]:
    """The answers of a record."""
    if "score" not in record.lists and "score" not in record.cells:
        counts.ungraded += 1
        return
    scores = record.lists.get("score", [record.cells.get("score")])
    # A list of another length, such as all accepted answers, tells nothing of a sample.
    columns = {part: cells for part, cells in record.lists.items() if len(cells) == len(scores)}
    if len(record.scored_by) > 1:
        counts.several |= dict.fromkeys(record.scored_by)
    counts.uneven += record.responses not in {None, len(scores)}
    for place, cell in enumerate(scores):
        score = parse_score(cell)
        counts.strange += score is None and cell is not None and parse_number(cell) is None
        of: dict[str, Any] = dict(record.cells) if len(scores) == 1 else {}
        of |= {part: cells[place] for part, cells in columns.items()}
        answered = ScoredAnswer(
            problem=record.problem,
            score=score,
            answer=as_answer(of.get("answer")),
            gold=record.gold,
            tokens=parse_number(of.get("tokens")),
            seconds=parse_number(of.get("seconds")),
        )
        yield GradedAnswer(answered, record.sample, place)


def _unpack_responses(record: Mapping[str, Any], found: Record) -> None:
    """Responses that are objects hold the score and the answer themselves."""
    if "score" in found.lists:
        return
    for value in keys.pick_fields(record, keys.RESPONSES).values():
        if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
            continue
        scores = [_find_first(one, keys.SCORES) for one in value]
        if all(score is None for score in scores):
            continue
        found.lists["score"] = scores
        inner = {"answer": (*keys.ANSWERS, "answer"), "tokens": keys.TOKENS, "seconds": keys.SECONDS}
        for part, names in inner.items():
            column = [_find_first(one, names) for one in value]
            if any(cell is not None for cell in column):
                found.lists[part] = column
        return


def _name_problem(text: str) -> str:
    """A question as the name of its problem: where it is long, its beginning and a hash of it."""
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _find_first(record: Mapping[str, Any], names: Sequence[str]) -> object:
    return next((value for _, value in _iterate_scalars(record, names) if value is not None), None)


def _iterate_scalars(record: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for key, value in keys.pick_fields(record, names).items():
        if not isinstance(value, dict | list):
            yield key, value


def _is_column(part: str, cells: list[Any]) -> bool:
    """Whether a list can be a column of that part: scores are marks or numbers, not texts that answer."""
    if not cells or any(isinstance(cell, dict | list) for cell in cells):
        return False
    if part == "answer":
        return True
    filled = [cell for cell in cells if cell is not None]
    if part == "score" and any(isinstance(cell, str) and _LETTER.fullmatch(cell) for cell in filled):
        # The letters of choices, ["A", "B", "C"], have the mark of a right answer among them.
        return all(parse_score(cell) is not None for cell in filled)
    return (
        any((parse_score(cell) if part == "score" else parse_number(cell)) is not None for cell in filled)
        or not filled
    )


def _is_cell(part: str, value: object) -> bool:
    if isinstance(value, dict | list) or value is None:
        return False
    return part == "answer" or (parse_score(value) if part == "score" else parse_number(value)) is not None
