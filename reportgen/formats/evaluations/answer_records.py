"""Records of evaluation scripts as answers: the names of their fields, their scores, their samples.

A record is a problem with lists, or one answer; answers are samples of one problem by place, by name, or by a
number behind a point.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.formats.evaluations.scores import parse_score
from reportgen.formats.json_files import as_answer, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Finding, ScoredAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


# The first of them that a record has counts. Compared in small letters, with - and spaces as _.
PROBLEM: Final = (
    *("problem_id", "question_id", "task_id", "example_id", "instance_id", "doc_id", "unique_id", "uid"),
    *("qid", "id", "idx", "index", "item_id", "problem_idx", "question_idx", "no", "number", "name"),
)
TEXT: Final = ("problem", "question", "prompt", "query", "input", "instruction")
GOLD: Final = (
    *("gold", "gold_answer", "gt", "gt_answer", "ground_truth", "ground_truth_answer", "groundtruth"),
    *("expected_answer", "expected", "reference", "reference_answer", "correct_answer", "final_answer"),
    *("answer", "target", "label"),
)
# Lists with an entry a sample.
RESPONSES: Final = (
    *("responses", "response", "generations", "generation", "generated_responses", "outputs", "output"),
    *("completions", "completion", "model_responses", "model_outputs", "model_output", "code", "codes"),
    *(
        "output_list",
        "code_list",
        "samples",
        "attempts",
        "rollouts",
        "solutions",
        "candidates",
        "results",
        "generated_text",
    ),
)
ANSWERS: Final = (
    *("preds", "pred", "predictions", "prediction", "extracted_answers", "extracted_answer", "extracted"),
    *("model_answers", "model_answer", "pred_answers", "pred_answer", "parsed_answers", "parsed_answer"),
    *("predicted_answers", "predicted_answer", "answers", "final_answers"),
)
SCORES: Final = (
    *("correct", "is_correct", "corrects", "correctness", "correctnesses", "is_corrects", "scores"),
    *(
        "score",
        "accs",
        "acc",
        "accuracy",
        "passed",
        "pass",
        "passes",
        "is_passed",
        "resolved",
        "rewards",
        "reward",
    ),
    *(
        "graded_list",
        "judgements",
        "judgments",
        "verdicts",
        "labels",
        "grades",
        "graded",
        "eval",
        "evals",
        "results",
    ),
)
TOKENS: Final = (
    *(
        "completion_tokens",
        "output_tokens",
        "num_tokens",
        "n_tokens",
        "tokens",
        "token_counts",
        "token_count",
    ),
    *("response_length", "response_lengths", "lengths", "num_output_tokens"),
)
SECONDS: Final = ("seconds", "latency", "latencies", "elapsed", "elapsed_seconds", "duration", "runtime")
SAMPLE: Final = (
    "sample",
    "sample_id",
    "sample_idx",
    "sample_index",
    "attempt",
    "epoch",
    "repeat",
    "trial",
    "run",
)
MODEL: Final = ("model", "model_name", "model_id", "model_name_or_path", "model_path")
BENCHMARK: Final = ("benchmark", "dataset", "dataset_name", "task", "task_name", "data_name", "data_source")
# Where a file is an object around its records.
RECORDS: Final = (
    *("results", "data", "problems", "questions", "examples", "records", "samples", "details", "outputs"),
    *("items", "entries", "instances"),
)


def normalize_key(key: str) -> str:
    """A key as it is compared."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def pick_fields(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What a record has of some names, in their order, by the name that it has itself."""
    own = {normalize_key(key): key for key in record}
    return {own[name]: record[own[name]] for name in names if name in own}


# What a record may have for each of its samples.
_PARTS: Final[Mapping[str, Sequence[str]]] = {
    "score": SCORES,
    "answer": ANSWERS,
    "tokens": TOKENS,
    "seconds": SECONDS,
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
    gold_key, gold = next(_iterate_scalars(record, GOLD), ("", None))
    _, problem = next(_iterate_scalars(record, PROBLEM), ("", None))
    text = next((_name_problem(as_word(value)) for _, value in _iterate_scalars(record, TEXT)), "")
    found = Record(as_word(problem) or text or str(index), as_answer(gold))
    found.sample = next((as_word(value) for _, value in _iterate_scalars(record, SAMPLE)), "")
    used = {gold_key}
    for part, names in _PARTS.items():
        for key, value in pick_fields(record, names).items():
            if part == "score" and isinstance(value, list) and _is_column(part, value):
                found.scored_by.append(key)
            if isinstance(value, list) and part not in found.lists and _is_column(part, value):
                found.lists[part] = value
                used.add(key)
            elif part not in found.cells and key != gold_key and _is_cell(part, value):
                found.cells[part] = value
                used.add(key)
    _unpack_responses(record, found)
    responses = pick_fields(record, RESPONSES).values()
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
    for value in pick_fields(record, RESPONSES).values():
        if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
            continue
        scores = [_find_first(one, SCORES) for one in value]
        if all(score is None for score in scores):
            continue
        found.lists["score"] = scores
        inner = {"answer": (*ANSWERS, "answer"), "tokens": TOKENS, "seconds": SECONDS}
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
    for key, value in pick_fields(record, names).items():
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


_NUMBER: Final = re.compile(r"(?P<problem>\d+)(?:\.(?P<sample>\d+))?")
_FEW: Final = 3
_SEVERAL: Final = 2


def number_samples(
    path: Path, graded: Sequence[GradedAnswer]
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """Answers whose problem and sample tell each from every other, and what had to be assumed for it.

    A list's samples are numbered by place. Where a problem stands in several records, these are its samples,
    in the order of writing unless they say which; where problems are numbered as 1, 1.1, 1.2, the number
    behind the point is the sample's. That is so if every problem is a number with one answer, some have a
    point, most numbers before it stand at least twice, and the gold answer is the same for all of one:
    sections of a book are numbered alike, and are different problems.
    """
    decimal = _is_decimal(graded)
    findings: list[Finding] = []
    taken: dict[tuple[str, str], int] = defaultdict(int)
    answers = []
    repeated: set[str] = set()
    for one in graded:
        problem, sample = one.answered.problem, one.sample_name
        if decimal and (found := _NUMBER.fullmatch(problem)):
            problem, sample = found["problem"], found["sample"] or "0"
        elif not sample:
            sample = str(one.place)
        elif one.place:
            sample = f"{sample}.{one.place}"
        taken[problem, sample] += 1
        if taken[problem, sample] > 1:
            repeated.add(problem)
            # 1.10 is written as 1.1 by a program that takes it for a number.
            sample = f"{sample} ({taken[problem, sample]})"
        answers.append(replace(one.answered, problem=problem, sample=sample))
    if decimal:
        findings.append(_report_decimal(path, answers, [one.answered.problem for one in graded]))
    elif repeated:
        message = (
            f"{format_count(len(repeated), 'problem stands', 'problems stand')} in several records, such as"
        )
        names = join_names([shorten_cell(one) for one in sorted(repeated)], most=_FEW)
        findings.append(Finding(path, f"{message} {names}: they are read as its samples"))
    return tuple(answers), tuple(findings)


def _is_decimal(graded: Sequence[GradedAnswer]) -> bool:
    counts: dict[str, int] = defaultdict(int)
    golds: dict[str, set[str]] = defaultdict(set)
    points = False
    for one in graded:
        found = _NUMBER.fullmatch(one.answered.problem)
        if found is None or one.place:
            return False
        points = points or found["sample"] is not None
        counts[found["problem"]] += 1
        if one.answered.gold is not None:
            golds[found["problem"]].add(one.answered.gold)
    several = sum(count >= _SEVERAL for count in counts.values())
    return points and several * 2 > len(counts) and all(len(every) == 1 for every in golds.values())


def _report_decimal(path: Path, answers: Sequence[ScoredAnswer], written: Sequence[str]) -> Finding:
    counts: dict[str, int] = defaultdict(int)
    for answer in answers:
        counts[answer.problem] += 1
    fewest, most = min(counts.values()), max(counts.values())
    samples = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    message = (
        f"the number behind the point in {join_names(list(dict.fromkeys(written))[:_FEW])} is read as the"
    )
    total = (
        f"{format_count(len(counts), 'problem')} with {samples} samples, not "
        f"{format_count(len(answers), 'problem')}"
    )
    return Finding(path, f"{message} sample's: {total}")
