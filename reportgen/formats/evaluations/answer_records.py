"""Records of evaluation scripts as answers: the names of their fields, their scores, their samples.

A record is a problem with lists, or one answer; answers are samples of one problem by position, by name, or
by a number after a point.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.words import format_count, join_names
from reportgen.formats.evaluations.scores import FEW, list_shortened, parse_score
from reportgen.formats.evaluations.texts import make_texts
from reportgen.formats.json_files import as_answer, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import ScoredAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


# Field names, of which the first in a record counts, compared in lower case with - and spaces as _.
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
# Lists with an entry per sample.
RESPONSES: Final = (
    *("responses", "response", "generations", "generation", "generated_responses", "outputs", "output"),
    *("completions", "completion", "model_responses", "model_outputs", "model_output", "code", "codes"),
    *("output_list", "code_list", "samples", "attempts", "rollouts", "solutions", "candidates"),
    *("results", "generated_text"),
)
ANSWERS: Final = (
    *("preds", "pred", "predictions", "prediction", "extracted_answers", "extracted_answer", "extracted"),
    *("model_answers", "model_answer", "pred_answers", "pred_answer", "parsed_answers", "parsed_answer"),
    *("predicted_answers", "predicted_answer", "answers", "final_answers"),
)
SCORES: Final = (
    *("correct", "is_correct", "corrects", "correctness", "correctnesses", "is_corrects", "scores", "score"),
    *("accs", "acc", "accuracy", "passed", "pass", "passes", "is_passed", "resolved", "rewards", "reward"),
    *("graded_list", "judgements", "judgments", "verdicts", "labels", "grades", "graded", "eval"),
    *("evals", "results"),
)
TOKENS: Final = (
    *("completion_tokens", "output_tokens", "num_tokens", "n_tokens", "tokens", "token_counts"),
    *("token_count", "response_length", "response_lengths", "lengths", "num_output_tokens"),
)
SECONDS: Final = ("seconds", "latency", "latencies", "elapsed", "elapsed_seconds", "duration", "runtime")
SAMPLE: Final = (
    *("sample", "sample_id", "sample_idx", "sample_index", "attempt", "epoch", "repeat", "trial", "run"),
)
MODEL: Final = ("model", "model_name", "model_id", "model_name_or_path", "model_path", "method", "algorithm")
BENCHMARK: Final = ("benchmark", "dataset", "dataset_name", "task", "task_name", "data_name", "data_source")
# Names of the records if the file is an object around them.
RECORDS: Final = (
    *("results", "data", "problems", "questions", "examples", "records", "samples", "details", "outputs"),
    *("items", "entries", "instances"),
)


def normalize_key(key: str) -> str:
    """Normalise a key for comparison."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def pick_fields(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the fields of a record that have these names, in the order of the names, by original key."""
    own = {normalize_key(key): key for key in record}
    return {own[name]: record[own[name]] for name in names if name in own}


# Fields that a record may have for each sample.
_PARTS: Final = {"score": SCORES, "answer": ANSWERS, "tokens": TOKENS, "seconds": SECONDS}
_LONGEST_TEXT: Final = 160
_LETTER: Final = re.compile(r"\s*[A-Za-z]\s*")


class RecordCounts(Struct):
    """Counts of irregularities in the records of a file."""

    ungraded: int = 0  # records without a score
    uneven: int = 0  # records with different numbers of responses and scores
    strange: int = 0  # cells that are not scores
    # Names of lists of scores, the one that is read first, if a record has several.
    several: dict[str, None] = field(default_factory=dict)

    def list_messages(self) -> Iterator[str]:
        """Yield a message for each kind of irregularity."""
        if self.several:
            names = [shorten_cell(name) for name in self.several]
            yield f"scores stand under {join_names(names)}: {names[0]} is read"
        uneven = "another number of responses than of scores: all scores are kept"
        for count, one, many in (
            (self.ungraded, "record has no score: left out", "records have no score: left out"),
            (self.uneven, f"record has {uneven}", f"records have {uneven}"),
            (self.strange, "score is no number: left out", "scores are no numbers: left out"),
        ):
            if count:
                yield format_count(count, one, many)


Graded: TypeAlias = "list[tuple[ScoredAnswer, ...]]"
"""Answers of each record, before problems are separated."""


class Record(Struct, frozen=True):
    """Parsed record; ``responses`` is their number if they are a list."""

    problem: str
    gold: str | None
    sample: str
    responses: int | None
    lists: Mapping[str, list[Any]]  # by part, with an entry per sample
    cells: Mapping[str, Any]
    scored_by: Sequence[str]  # all lists of scores
    rest: Mapping[str, Any]


def parse_record(record: Mapping[str, Any], index: int) -> Record:
    """Parse a record; its index names the problem if the record does not."""
    gold_key, gold = next(_iterate_scalars(record, GOLD), ("", None))
    problem, sample = (next(_iterate_scalars(record, names), ("", None))[1] for names in (PROBLEM, SAMPLE))
    text = next((as_word(value) for _, value in _iterate_scalars(record, TEXT)), "")
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"
    lists, cells, scored_by, used = dict[str, list[Any]](), dict[str, Any](), list[str](), {gold_key}
    for part, names in _PARTS.items():
        for key, value in pick_fields(record, names).items():
            column = isinstance(value, list) and _is_column(part, value)
            if column and part == "score":
                scored_by.append(key)
            if column and part not in lists:
                lists[part] = value
                used.add(key)
            elif part not in cells and key != gold_key and _is_cell(part, value):
                cells[part] = value
                used.add(key)
    responses = pick_fields(record, RESPONSES).values()
    return Record(
        problem=as_word(problem) or text or str(index),
        gold=as_answer(gold),
        sample=as_word(sample),
        responses=next((len(value) for value in responses if isinstance(value, list)), None),
        lists=lists if "score" in lists else lists | _unpack_responses(responses),
        cells=cells,
        scored_by=scored_by,
        rest={key: value for key, value in record.items() if key not in used},
    )


def _unpack_responses(responses: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the lists of a record whose responses are objects with the score and the answer."""
    parts = _PARTS | {"answer": (*ANSWERS, "answer")}
    for objects in responses:
        if isinstance(objects, list) and all(isinstance(one, dict) for one in objects):
            columns = {
                part: [
                    next((v for _, v in _iterate_scalars(one, names) if v is not None), None)
                    for one in objects
                ]
                for part, names in parts.items()
            }
            lists = {part: cells for part, cells in columns.items() if any(c is not None for c in cells)}
            if "score" in lists:
                return lists
    return {}


def score_record(record: Record, counts: RecordCounts) -> Iterator[ScoredAnswer]:
    """Yield the answers of a record in order; other records may have the same samples."""
    if "score" not in record.lists and "score" not in record.cells:
        counts.ungraded += 1
        return
    scores = record.lists.get("score", [record.cells.get("score")])
    # A list of another length, such as all accepted answers, does not describe samples.
    columns = {part: cells for part, cells in record.lists.items() if len(cells) == len(scores)}
    if len(record.scored_by) > 1:
        counts.several |= dict.fromkeys(record.scored_by)
    counts.uneven += record.responses not in {None, len(scores)}
    for index, cell in enumerate(scores):
        score = parse_score(cell)
        counts.strange += score is None and cell is not None and parse_number(cell) is None
        of: dict[str, Any] = dict(record.cells) if len(scores) == 1 else {}
        of |= {part: cells[index] for part, cells in columns.items()}
        yield ScoredAnswer(
            problem=record.problem,
            score=score,
            sample=record.sample,
            answer=as_answer(of.get("answer")),
            gold=record.gold,
            tokens=parse_number(of.get("tokens")),
            seconds=parse_number(of.get("seconds")),
        )


def add_texts(answers: Sequence[ScoredAnswer], record: Mapping[str, Any]) -> Iterator[ScoredAnswer]:
    """Yield the answers of a record with its prompt, and with a response each if there are as many."""
    prompt = next(iter(pick_fields(record, TEXT).values()), None)
    expected = next((value for _, value in _iterate_scalars(record, GOLD)), None)
    cells = pick_fields(record, RESPONSES).values()
    lists = [cell if isinstance(cell, list) else [cell] for cell in cells]
    responses = next((one for one in lists if len(one) == len(answers)), [None] * len(answers))
    for answer, response in zip(answers, responses, strict=True):
        texts = make_texts(prompt=prompt, expected=expected, response=response)
        yield replace(answer, texts=texts)


def _iterate_scalars(record: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for key, value in pick_fields(record, names).items():
        if not isinstance(value, dict | list):
            yield key, value


def _is_column(part: str, cells: list[Any]) -> bool:
    """Return whether a list can be a column of that part: scores are marks or numbers, not answers."""
    if not cells or any(isinstance(cell, dict | list) for cell in cells):
        return False
    filled = [cell for cell in cells if cell is not None]
    fitting = [_is_cell(part, cell) for cell in filled]
    if part == "score" and any(isinstance(cell, str) and _LETTER.fullmatch(cell) for cell in filled):
        # The letters of choices, ["A", "B", "C"], include the mark of a right answer.
        return all(fitting)
    return any(fitting) or not filled


def _is_cell(part: str, value: object) -> bool:
    if isinstance(value, dict | list) or value is None:
        return False
    return part == "answer" or (parse_score(value) if part == "score" else parse_number(value)) is not None


_NUMBER: Final = re.compile(r"(?P<problem>\d+)(?:\.(?P<sample>\d+))?")
_SEVERAL: Final = 2


def number_samples(records: Graded) -> tuple[tuple[ScoredAnswer, ...], list[str]]:
    """Return answers with distinct pairs of problem and sample, and the assumptions made.

    Samples in a list are numbered by position. If a problem has several records, these are its samples, in
    the order of writing unless they state their number; if problems are numbered as 1, 1.1, 1.2, the number
    after the point is the sample's. That is so if every problem is a number with one answer, some have a
    point, most numbers before it occur at least twice, and each has a single gold answer: sections of a book
    have such numbers, too, and are different problems.
    """
    decimal = _is_decimal(records)
    times: Counter[tuple[str, str]] = Counter()
    answers = []
    for index, answer in chain.from_iterable(map(enumerate, records)):
        problem, sample = answer.problem, answer.sample
        if decimal and (match := _NUMBER.fullmatch(problem)):
            problem, sample = match["problem"], match["sample"] or "0"
        elif not sample:
            sample = str(index)
        elif index:
            sample = f"{sample}.{index}"
        times[problem, sample] += 1
        if times[problem, sample] > 1:
            # 1.10 is written as 1.1 by a program that reads it as a number.
            sample = f"{sample} ({times[problem, sample]})"
        answers.append(replace(answer, problem=problem, sample=sample))
    repeated = sorted({problem for (problem, _), count in times.items() if count > 1})
    messages = []
    if decimal:
        sizes = Counter(answer.problem for answer in answers)
        fewest, most = min(sizes.values()), max(sizes.values())
        samples = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        names = join_names(list(dict.fromkeys(answer.problem for answer, *_ in records))[:FEW])
        problems = f"{format_count(len(sizes), 'problem')} with {samples} samples"
        message = f"the number behind the point in {names} is read as the sample's: {problems}"
        messages = [f"{message}, not {format_count(len(answers), 'problem')}"]
    elif repeated:
        count = format_count(len(repeated), "problem stands", "problems stand")
        names = list_shortened(repeated)
        messages = [f"{count} in several records, such as {names}: they are read as its samples"]
    return tuple(answers), messages


def _is_decimal(records: Graded) -> bool:
    counts: Counter[str] = Counter()
    golds: dict[str, set[str]] = defaultdict(set)
    points = False
    for first, *others in records:
        match = _NUMBER.fullmatch(first.problem)
        if match is None or others:
            return False
        points = points or match["sample"] is not None
        counts[match["problem"]] += 1
        if first.gold is not None:
            golds[match["problem"]].add(first.gold)
    several = sum(count >= _SEVERAL for count in counts.values())
    return points and several * 2 > len(counts) and all(len(every) == 1 for every in golds.values())
