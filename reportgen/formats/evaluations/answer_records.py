"""Records of evaluation scripts as answers: the names of their fields, their scores, their samples.

A record is a problem with lists, or one answer; answers are samples of one problem by position, by name, or
by a number after a point.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.words import format_count, join_names
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import FEW, list_shortened, parse_score
from reportgen.formats.evaluations.texts import make_texts
from reportgen.formats.json_files import as_word, shorten_cell
from reportgen.formats.run_data import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.formats.runs import ScoredAnswer


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


def pick_fields(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a record that have these names, in the order of the names, by original key."""
    return {key: record[key] for key in _pick_keys(tuple(record), names)}


@lru_cache(256)  # records share their keys
def _pick_keys(keys: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    own = {normalize_key(key): key for key in keys}
    return tuple(own[name] for name in names if name in own)


# Fields that a record may have for each sample.
_PARTS: Final = {"score": SCORES, "answer": ANSWERS, "tokens": TOKENS, "seconds": SECONDS}
_LONGEST_TEXT: Final = 160
_LETTER: Final = re.compile(r"\s*[A-Za-z]\s*")


_IRREGULAR: Final = {
    "ungraded": ("record has no score: left out", "records have no score: left out"),
    "uneven": tuple(
        f"{has} another number of responses than of scores: all scores are kept"
        for has in ("record has", "records have")
    ),
    "strange": ("score is no number: left out", "scores are no numbers: left out"),
}


class Records(Struct):
    """Answers in the records of a file by model and benchmark, both empty if missing, and irregularities."""

    texts: bool = False  # whether answers have texts
    answers: dict[tuple[str, str], AnswerRows] = field(default_factory=lambda: defaultdict(AnswerRows))
    counts: Counter[str] = field(default_factory=Counter)  # by kind of irregularity
    several: dict[str, None] = field(default_factory=dict)  # lists of scores of a record, first the one read

    def add(self, record: Mapping[str, Any], index: int) -> None:
        """Add the answers of a record; its index names the problem if the record does not."""
        gold_key, gold = _find_scalar(record, GOLD)
        lists, cells, used, scored_by = _find_parts(record, gold_key)
        responses = pick_fields(record, RESPONSES).values()
        if "score" not in lists:
            lists |= _unpack_responses(responses)
        if "score" not in lists and "score" not in cells:
            self.counts["ungraded"] += 1
            return
        scores = lists.get("score", [cells.get("score")])
        self.several |= dict.fromkeys(scored_by if len(scored_by) > 1 else ())
        count = next((len(value) for value in responses if isinstance(value, list)), len(scores))
        self.counts["uneven"] += count != len(scores)
        texts = self._list_texts(record, len(scores))
        model, benchmark = (as_word(_find_scalar(record, names)[1]) for names in (MODEL, BENCHMARK))
        problem, number = _name_problem(record) or index, as_word(_find_scalar(record, SAMPLE)[1])
        rest = {key: value for key, value in record.items() if key not in used}
        for sample, cell in enumerate(scores):
            # A list of another length, such as all accepted answers, does not describe samples.
            of = {part: own[sample] for part, own in lists.items() if len(own) == len(scores)}
            of = {**(cells if len(scores) == 1 else {}), **of}
            self.answers[model, benchmark].add(
                problem,
                {"": cell},
                number or sample,
                gold=gold,
                fields=rest,
                texts=texts[sample],
                **{part: of.get(part) for part in ("answer", "tokens", "seconds")},
            )

    def _list_texts(self, record: Mapping[str, Any], count: int) -> list[dict[str, str]]:
        """Return the texts of the answers of a record, with a response each if there are as many."""
        if not self.texts:
            return [{}] * count
        prompt = next(iter(pick_fields(record, TEXT).values()), None)
        cells = (one if isinstance(one, list) else [one] for one in pick_fields(record, RESPONSES).values())
        responses = next((one for one in cells if len(one) == count), [None] * count)
        expected = _find_scalar(record, GOLD)[1]
        return [make_texts(prompt=prompt, expected=expected, response=response) for response in responses]

    def list_messages(self) -> Iterator[str]:
        """Yield a message for each kind of irregularity."""
        if self.several:
            names = [shorten_cell(name) for name in self.several]
            yield f"scores stand under {join_names(names)}: {names[0]} is read"
        self.counts["strange"] = sum(rows.strange.total() for rows in self.answers.values())
        for kind, (one, many) in _IRREGULAR.items():
            if count := self.counts[kind]:
                yield format_count(count, one, many)


def _find_parts(
    record: Mapping[str, Any], gold: str
) -> tuple[dict[str, list[Any]], dict[str, Any], set[str], list[str]]:
    """Return lists and cells of a record by part, all keys that are used, and those of lists of scores."""
    lists, cells, used, scored_by = dict[str, list[Any]](), dict[str, Any](), {gold}, list[str]()
    for part, names in _PARTS.items():
        for key, value in pick_fields(record, names).items():
            if isinstance(value, list) and _is_column(part, value):
                scored_by += [key] if part == "score" else []
                used |= set() if part in lists else {key}
                lists.setdefault(part, value)
            elif part not in cells and key != gold and _is_cell(part, value):
                cells[part] = value
                used.add(key)
    return lists, cells, used, scored_by


def _name_problem(record: Mapping[str, Any]) -> str:
    """Return the name of a problem, or its text, which a hash stands for beyond its beginning."""
    text = as_word(_find_scalar(record, TEXT)[1])
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return as_word(_find_scalar(record, PROBLEM)[1]) or text


def _unpack_responses(responses: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the lists of a record whose responses are objects with the score and the answer."""
    parts = _PARTS | {"answer": (*ANSWERS, "answer")}
    for objects in responses:
        if isinstance(objects, list) and all(isinstance(one, dict) for one in objects):
            lists = {part: [_find_scalar(one, names)[1] for one in objects] for part, names in parts.items()}
            if any(cell is not None for cell in lists["score"]):
                return lists
    return {}


def _find_scalar(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the first field of these names that is neither missing nor nested, with its key."""
    fields = pick_fields(record, names).items()
    scalars = ((key, cell) for key, cell in fields if cell is not None and not isinstance(cell, dict | list))
    return next(scalars, ("", None))


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


def number_samples(answers: Sequence[ScoredAnswer]) -> tuple[list[ScoredAnswer], list[str]]:
    """Return answers with distinct pairs of problem and sample, and the assumptions made.

    If a problem has several records, these are its samples, in the order of writing unless they state their
    number; if problems are numbered as 1, 1.1, 1.2, the number after the point is the sample's. That is so if
    every problem is a number with one answer, some have a point, most numbers before it occur at least twice,
    and each has a single gold answer: sections of a book have such numbers, too, and are different problems.
    """
    matches = _match_decimals(answers)
    times: Counter[tuple[str, str]] = Counter()
    numbered = []
    for answer, match in zip_longest(answers, matches):
        problem, sample = answer.problem, answer.sample
        if match:
            problem, sample = match["problem"], match["sample"] or "0"
        times[problem, sample] += 1
        if times[problem, sample] > 1:
            # 1.10 is written as 1.1 by a program that reads it as a number.
            sample = f"{sample} ({times[problem, sample]})"
        numbered.append(replace(answer, problem=problem, sample=sample))
    if matches:
        sizes = Counter(answer.problem for answer in numbered)
        fewest, most = min(sizes.values()), max(sizes.values())
        samples = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        names = join_names(list(dict.fromkeys(answer.problem for answer in answers))[:FEW])
        problems = f"{format_count(len(sizes), 'problem')} with {samples} samples"
        message = f"the number behind the point in {names} is read as the sample's: {problems}"
        return numbered, [f"{message}, not {format_count(len(answers), 'problem')}"]
    repeated = sorted({problem for (problem, _), count in times.items() if count > 1})
    if not repeated:
        return numbered, []
    count = format_count(len(repeated), "problem stands", "problems stand")
    return numbered, [
        f"{count} in several records, such as {list_shortened(repeated)}: they are read as its samples"
    ]


def _match_decimals(answers: Sequence[ScoredAnswer]) -> list[re.Match[str]]:
    """Return the parts of problems that are numbers with that of a sample behind a point; empty if not."""
    matches = [match for answer in answers if (match := _NUMBER.fullmatch(answer.problem))]
    if len(matches) < len(answers) or any(answer.sample != "0" for answer in answers):
        return []
    counts = Counter(match["problem"] for match in matches)
    golds: dict[str, set[str]] = defaultdict(set)
    for answer, match in zip(answers, matches, strict=True):
        golds[match["problem"]] |= {answer.gold} if answer.gold else set()
    several = sum(count >= _SEVERAL for count in counts.values())
    is_decimal = any(match["sample"] for match in matches) and several * 2 > len(counts)
    return matches if is_decimal and all(len(every) <= 1 for every in golds.values()) else []
