"""Answers of evaluation scripts: JSON or JSON Lines with a record per problem, and lists of its samples.

Records are the lines, the items of a list, those of a list ``results`` or the like in an object, or the
values of an object, whose keys then name the problems. A record has a list of scores, and lists of as many
answers or tokens, as ``{"id": 1, "gold": "42", "correct": [true, false], "preds": ["42", "7"]}``, or a list
of objects with a score each. A model and a benchmark next to the records are theirs. Two reports are read as
records:

- EvalPlus (repository evalplus/evalplus, ``evalplus/evaluate.py``) and BigCodeBench: ``{"eval":
  {"HumanEval/0": [{"base_status": "pass", "plus_status": "fail"}, …]}}``, an object per sample; the latter
  has one ``status``. An answer counts for the longer test only if it also passes the shorter one.
- SWE-bench (repository SWE-bench/SWE-bench, ``swebench/harness/reporting.py``): lists of instance ids by
  outcome. An empty patch is a failure of the model. An instance that was never submitted, or whose evaluation
  ended in an error, has no score.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.core.score_names import STATUS
from reportgen.core.words import format_count, join_names
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.texts import make_texts
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import (
    JsonLines,
    as_list,
    as_mapping,
    as_word,
    parse_first_object,
    read_head_text,
    read_json,
    read_json_items,
)
from reportgen.formats.runs import Evaluation, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.score_names import Status


# Names of fields, of which the first in a record counts.
_PROBLEM: Final = (
    *("problem_id", "question_id", "task_id", "instance_id", "example_id", "doc_id", "unique_id"),
    *("id", "idx", "index", "problem_idx"),
)
_TEXT: Final = ("problem", "question", "prompt", "input")
_GOLD: Final = (
    *("gold", "gold_answer", "ground_truth", "gt", "expected_answer", "reference", "reference_answer"),
    *("answer", "target"),
)
_RESPONSES: Final = ("responses", "generations", "outputs", "completions", "samples", "attempts", "code")
_MODEL: Final = ("model", "model_name", "model_id", "method", "algorithm")
_BENCHMARK: Final = ("benchmark", "dataset", "dataset_name", "task", "task_name", "data_source")
# Those with an entry for each sample.
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "score": (
        *("correct", "is_correct", "correctness", "scores", "score", "accs", "acc", "passed", "graded_list"),
        *("rewards", "reward"),
    ),
    "answer": (
        *("preds", "pred", "predictions", "prediction", "extracted_answers", "extracted_answer", "answers"),
        *("model_answers", "model_answer"),
    ),
    "tokens": ("completion_tokens", "output_tokens", "num_tokens", "tokens"),
    "seconds": ("seconds", "latency"),
}
# The list of records in an object.
_RECORDS: Final = ("results", "data", "problems", "examples", "records", "samples", "details", "outputs")
_NO_GROUPS: Final = frozenset(
    (*_PROBLEM, *_TEXT, *_GOLD, *_RESPONSES, *(n for p in _PARTS.values() for n in p))
)
_LONGEST_TEXT: Final = 160
_ENOUGH: Final = 2
_LINES: Final = (".jsonl", ".ndjson")
# Outcomes of instances of SWE-bench, with their score or status; the first list that has an instance counts.
_ENDS: Final[Mapping[str, float | Status]] = {
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": "failed",
    "error_ids": "infrastructure",
    "incomplete_ids": "not run",
}
_WITHOUT_SCORE: Final[tuple[Status, ...]] = ("infrastructure", "not run")
_GOOD: Final = "pass"
_IRREGULAR: Final = {
    "ungraded": ("record has no score: left out", "records have no score: left out"),
    "uneven": tuple(
        f"{has} another number of responses than of scores: all scores are kept"
        for has in ("record has", "records have")
    ),
    "strange": ("score is no number: left out", "scores are no numbers: left out"),
}


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit per file of such records."""
    return tuple(Unit(path, (path,)) for path in files if _has_answers(path))


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation per model and benchmark in the records; both are empty if missing.

    An answer has a single score, so there is nothing to select.
    """
    for path in unit.files:
        findings: list[Diagnostic] = []
        records, first = _Records(unit.texts), dict[str, Any]()
        for index, record in enumerate(_read_records(path, findings)):
            records.add(record, index)
            first = first or record
        if not records.answers:
            message = "no record has a list of scores with a usual name, as in correct: [true, false]"
            raise UnreadableError(path, message, _advise(path, first))
        findings += scores.make_findings(path, records.list_messages())
        evaluations = (_build_evaluation(path, *key, rows) for key, rows in records.answers.items())
        yield from scores.add_to_first(evaluations, findings)


def _advise(path: Path, record: Mapping[str, Any]) -> str:
    """Return the lines that read the first list of truth values or marks in such records."""
    key = next((key for key, cells in record.items() if _has_score(cells) and key.isidentifier()), "")
    is_list = read_head_text(path).lstrip().startswith("[")
    if not key or not (is_list or get_ending(path) in _LINES):
        return "Say where it is with format: mapped, rows: and columns: in source.yml"
    named = next((f", problem: ^.{name}" for name in _PROBLEM if name in record), "")
    rows = f"$[*].{key}[*]" if is_list else f"$.{key}[*]"
    mapped = f"format: mapped, rows: {rows} and columns: {{score: $, sample: '@'{named}}}"
    return f"If {key} has them, say {mapped} in source.yml"


def _has_answers(path: Path) -> bool:
    """Return whether a file begins with a record that has a list per problem, unlike a table.

    Truth values are scores whatever they are called.
    """
    if get_ending(path) not in {*_LINES, ".json"}:
        return False
    if not (text := read_head_text(path).lstrip()).startswith(("{", "[")):
        return False
    record = parse_first_object(text)
    if get_ending(path) == ".json" and text.startswith("{"):
        if "resolved_ids" in record or _get_tested(record):
            return True
        record = next(iter(_list_inner(record)), {})
    about = sum(key in record for key in (*_PROBLEM, *_TEXT, *_GOLD))
    # Scores may come later, since responses are long.
    responses = any(isinstance(record.get(key), list) for key in _RESPONSES)
    truths = any(isinstance(one, bool) for cells in record.values() for one in as_list(cells)[:1])
    truths = truths and "step" not in record  # rows of a log
    return about > 0 and (truths or bool(_find_scores(record)) or (about >= _ENOUGH and responses))


def _list_inner(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the records in an object: those of a list in it, or its values, whose keys name the problems."""
    named = {key: one for key, one in value.items() if key in {*_MODEL, *_BENCHMARK} and isinstance(one, str)}
    for key in _RECORDS:
        if records := [one for one in as_list(value.get(key)) if isinstance(one, dict)]:
            return [{**named, **record} for record in records]
    return [{"problem_id": key, **one} for key, one in value.items() if isinstance(one, dict)]


def _get_tested(value: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the samples of each problem in a report of EvalPlus or BigCodeBench; empty for another file."""
    tested = scores.get_mapping(value, "eval")
    first = next(iter(as_list(next(iter(tested.values()), None))), None)
    return tested if "task_id" in as_mapping(first) else {}


def _read_records(path: Path, findings: list[Diagnostic]) -> Iterator[dict[str, Any]]:
    """Yield the records of a file; add what is irregular."""
    if get_ending(path) in _LINES:
        lines = JsonLines(path)
        yield from lines.read_objects()
        findings += lines.list_findings()
        return
    if read_head_text(path).lstrip().startswith("["):
        lost = 0
        for item in read_json_items(path, findings):
            lost += not isinstance(item, dict)
            if isinstance(item, dict):
                yield item
        if lost:
            findings.append(warn(path, f"{format_count(lost, 'entry', 'entries')} left out: no object"))
        return
    value, strange = read_json(path)
    findings += strange
    if not isinstance(value, dict):
        raise UnreadableError(path, "there are no records in the file", "Write a list of objects")
    if tested := _get_tested(value):
        yield from _read_tests(tested)
    else:
        yield from _read_resolved(path, value, findings) if "resolved_ids" in value else _list_inner(value)


def _read_tests(tested: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for problem, listed in tested.items():
        samples = [as_mapping(sample) for sample in listed]
        base = [float(sample.get("base_status", sample.get("status")) == _GOOD) for sample in samples]
        benchmark = as_word(problem.rpartition("/")[0])
        yield {"problem_id": problem, "benchmark": benchmark, "scores": base}
        if any(sample.get("plus_status") is not None for sample in samples):
            plus = [
                first * (sample.get("plus_status") == _GOOD)
                for first, sample in zip(base, samples, strict=True)
            ]
            yield {"problem_id": problem, "benchmark": f"{benchmark}+", "scores": plus}


def _read_resolved(
    path: Path, document: Mapping[str, Any], findings: list[Diagnostic]
) -> Iterator[dict[str, Any]]:
    ends: dict[str, float | Status] = {}
    for key, end in _ENDS.items():
        for name in map(as_word, as_list(document.get(key))):
            ends.setdefault(name, end)
    known = [*ends.values()]
    count = [format_count(known.count(one), "instance was", "instances were") for one in _WITHOUT_SCORE]
    if "infrastructure" in known:
        findings.append(warn(path, f"{count[0]} not evaluated, after an error: without a score"))
    if "not run" in known:
        findings.append(warn(path, f"{count[1]} not submitted: without a score"))
    for name, end in ends.items():
        score = {"scores": [None], STATUS: end} if isinstance(end, str) else {"scores": [end]}
        yield {"problem_id": name, "benchmark": "SWE-bench", **score}


def _find_scores(record: Mapping[str, Any]) -> list[str]:
    """Return the fields of a record that are lists of scores, or of objects with a score each."""
    lists = [key for key in _PARTS["score"] if _has_score(cells := record.get(key)) or cells == [None]]
    objects = ((key, as_list(record.get(key))) for key in _RESPONSES)
    nested = [
        key for key, cells in objects if _has_score([_find_cell(one, _PARTS["score"]) for one in cells])
    ]
    return lists or nested


def _has_score(cells: object) -> bool:
    return any(scores.parse_score(cell) is not None for cell in as_list(cells))


def _find_cell(record: object, names: Sequence[str]) -> Any:  # noqa: ANN401 - JSON can be anything
    """Return the first field of these names that is neither missing nor nested."""
    cells = map(as_mapping(record).get, names)
    return next((cell for cell in cells if cell is not None and not isinstance(cell, dict | list)), None)


class _Records(Struct):
    """Answers in the records of a file by model and benchmark, both empty if missing, and irregularities."""

    texts: bool  # whether answers have texts
    answers: dict[tuple[str, str], AnswerRows] = field(default_factory=lambda: defaultdict(AnswerRows))
    times: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # answers to each problem so far
    repeated: dict[str, None] = field(default_factory=dict)  # problems with several records
    several: dict[str, None] = field(default_factory=dict)  # lists of scores of a record, first the one read
    counts: Counter[str] = field(default_factory=Counter)  # by kind of irregularity

    def add(self, record: Mapping[str, Any], index: int) -> None:
        """Add the answers of a record; its index names the problem if the record does not."""
        found = _find_scores(record)
        self.counts["ungraded"] += not found
        self.several |= dict.fromkeys(found if len(found) > 1 else ())
        model, benchmark = (as_word(_find_cell(record, names)) for names in (_MODEL, _BENCHMARK))
        problem, gold = _name_problem(record) or str(index), _find_cell(record, _GOLD)
        if found and self.times[model, benchmark, problem]:
            self.repeated[problem] = None
        samples = _list_samples(record, found[0]) if found else []
        lists = (as_list(record.get(key)) for key in _RESPONSES)
        responses = next(filter(None, lists), samples)
        is_even = len(responses) == len(samples)
        self.counts["uneven"] += bool(found) and not is_even
        said = {"prompt": _find_cell(record, _TEXT), "expected": gold}
        for place, sample in enumerate(samples):
            texts = make_texts(**said, response=responses[place] if is_even else None) if self.texts else {}
            self.answers[model, benchmark].add(
                problem,
                {"": sample.pop("score")},
                self.times[model, benchmark, problem],
                gold=gold,
                fields=record,
                texts=texts,
                status=record.get(STATUS),
                **sample,
            )
            self.times[model, benchmark, problem] += 1

    def list_messages(self) -> Iterator[str]:
        """Yield a message for each kind of irregularity."""
        if self.several:
            names = [*self.several]
            yield f"scores stand under {join_names(names)}: {names[0]} is read"
        self.counts["strange"] = sum(rows.strange.total() for rows in self.answers.values())
        for kind, (one, many) in _IRREGULAR.items():
            if count := self.counts[kind]:
                yield format_count(count, one, many)
        if self.repeated:
            stand = format_count(len(self.repeated), "problem stands", "problems stand")
            named = scores.list_shortened(self.repeated)
            yield f"{stand} in several records, such as {named}: they are read as its samples"


def _list_samples(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return score, answer, tokens and seconds of each sample of a record, whose scores are in a list.

    Lists of another length, such as all accepted answers, do not describe samples.
    """
    cells = record[key]
    if isinstance(cells[0], dict):
        names = {**_PARTS, "answer": (*_PARTS["answer"], "answer")}
        return [{part: _find_cell(cell, own) for part, own in names.items()} for cell in cells]
    columns: dict[str, list[Any]] = {"score": cells}
    for part in _PARTS.keys() - columns.keys():
        several = ([cell] if not isinstance(cell, list) else cell for cell in map(record.get, _PARTS[part]))
        columns[part] = next((own for own in several if len(own) == len(cells) and own != [None]), [])
    return [
        {part: column[place] if column else None for part, column in columns.items()}
        for place in range(len(cells))
    ]


def _name_problem(record: Mapping[str, Any]) -> str:
    """Return the name of a problem, or its text, which a hash stands for beyond its beginning."""
    text = as_word(_find_cell(record, _TEXT))
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return as_word(_find_cell(record, _PROBLEM)) or text


def _build_evaluation(path: Path, model: str, benchmark: str, rows: AnswerRows) -> Evaluation:
    answers = rows.build(_NO_GROUPS)
    sizes = Counter(answer.problem for answer in answers).values()
    messages = [*scores.warn_equal_answers(answers)]
    if len(set(sizes)) > 1:
        messages.append(f"problems have {min(sizes):,} to {max(sizes):,} samples: some may be missing")
    return Evaluation(
        path=path,
        model=model,
        benchmark=benchmark,
        protocol=scores.build_protocol({"samples": max(sizes)}),
        answers=answers,
        findings=tuple(scores.make_findings(path, messages)),
    )
