"""Answers of evaluation scripts: JSON or JSON Lines with a record per problem, with lists of samples.

There is no standard; ``answer_records`` has the known names. Supported shapes are

- ``{"id": 1, "answer": "42", "responses": ["…", "…"], "correct": [true, false]}``, also ``scores``;
- ``{"id": 1, "gold": "42", "samples": [{"pred": "42", "correct": true, "tokens": 812}, …]}``;
- a record per answer, if a number after a point numbers the samples (1, 1.1, 1.2 and 1.3 are four samples of
  problem 1) or if the same problem occurs several times.

The records are the file, a list in it, the values of an object (the keys name the problems), or its lines. A
model and a benchmark next to the list apply to all its records. Reports are converted to records first:

- EvalPlus (repository evalplus/evalplus, ``evalplus/evaluate.py``) and BigCodeBench: ``{"eval":
  {"HumanEval/0": [{"base_status": "pass", "plus_status": "fail"}, …]}}``, an object per sample; the latter
  has one ``status``. An answer counts for the longer test only if it also passes the shorter one.
- SWE-bench (repository SWE-bench/SWE-bench, ``swebench/harness/reporting.py``): lists of instance ids by
  outcome. An instance that was never submitted has no score.
- ``[[true, false], …]`` and ``{"1": [1, 0], …}``: the scores of each problem, without any name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.core.words import format_count
from reportgen.formats.evaluations import answer_records as keys
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.answer_records import Records
from reportgen.formats.json_files import (
    JsonLines,
    as_list,
    as_mapping,
    as_word,
    read_head_text,
    read_json,
    read_json_items,
)
from reportgen.formats.runs import Evaluation, Finding, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.evaluations.rows import AnswerRows


_LINES: Final = (".jsonl", ".ndjson")
_LIST: Final = re.compile(r'"(?P<key>[^"\\\n]{1,40})"\s*:\s*\[\s*(?P<first>["{]|-?\d|true|false|null)')
_CELL: Final = re.compile(
    r'"(?P<key>[^"\\\n]{1,40})"\s*:\s*(?P<first>true|false|-?\d[\d.]*|"[^"\\\n]{0,60}")'
)
_ANY_KEY: Final = re.compile(r'"([^"\\\n]{1,40})"\s*:')
# Names of scores that identify answers rather than a table, and columns that only tables have.
_NO_TABLE: Final = frozenset(("passed", "is_passed", "accuracy", "resolved"))
_OF_TABLES: Final = frozenset(("seed", "step", "global_step", "series", "metric"))
_DECIMAL: Final = re.compile(r'"?\d+\.\d+"?')
_OTHERS: Final = re.compile(
    r'"(?:config_general|scenario_spec|log_history|train_trial_index|eval"\s*:\s*\{|doc_id"\s*:\s*\d+,\s*"doc)"?'
    r'|"results"\s*:\s*\{\s*"version"\s*:'
)
_ABOUT: Final = frozenset((*keys.GOLD, *keys.TEXT, *keys.PROBLEM))
_ENOUGH: Final = 2
_NEVER: Final = frozenset(
    (*_ABOUT, *keys.RESPONSES, *keys.ANSWERS, *keys.SCORES, *keys.TOKENS, *keys.SECONDS, *keys.SAMPLE)
)
_TESTED: Final = re.compile(r'"eval"\s*:\s*\{\s*"[^"\\\n]+"\s*:\s*\[\s*\{\s*"task_id"')
_RESOLVED: Final = re.compile(r'"resolved_(?:instances|ids)"\s*:')
_TRUTHS: Final = re.compile(r"\s*\[\s*\[\s*(?:true|false)\b")
# Outcomes of SWE-bench instances, and their scores.
_ENDS: Final[Mapping[str, float | None]] = {
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": 0.0,
    "incomplete_ids": None,
}
# If an object has one of these, its lists are columns of a table.
_COLUMNS: Final = frozenset((*keys.PROBLEM, *keys.SCORES, *keys.ANSWERS, *keys.TOKENS, *keys.SECONDS))
_GOOD: Final = "pass"


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit per file of such records."""
    return tuple(Unit(path, (path,)) for path in files if _has_answers(path))


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation per model and benchmark in the records; both are empty if missing.

    An answer has a single score, so there is nothing to select.
    """
    for path in unit.files:
        file, records = _File(path), Records(unit.texts)
        for index, record in enumerate(file.read_records()):
            records.add(record, index)
        if not records.answers:
            message = "no record has a score, such as correct: [true, false]"
            advice = "Say where it is with format: mapped, rows: and columns: in source.yml"
            raise UnreadableError(path, message, advice)
        file.findings += scores.make_findings(path, records.list_messages())
        evaluations = (file.build_evaluation(*key, rows) for key, rows in records.answers.items())
        yield from scores.add_to_first(evaluations, file.findings)


class _File(Struct):
    """Records of a file, and what a report says of all of them."""

    path: Path
    totals: dict[str, Total] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def read_records(self) -> Iterator[dict[str, Any]]:
        """Yield the records of the file; add what is irregular."""
        path = self.path
        if path.suffix in _LINES:
            lines = JsonLines(path)
            yield from lines.read_objects()
            self.findings += lines.list_findings()
            return
        if read_head_text(path).lstrip().startswith("["):
            items = read_json_items(path, self.findings)
            first = next(items, None)
            value: Any = chain([first], items) if isinstance(first, dict) else [first, *items]
        else:
            value, strange = read_json(path)
            self.findings += strange
        around: dict[str, Any] = {}
        if (records := self.parse_report(value)) is not None:
            value = records
        elif isinstance(value, dict):
            lists = map(as_list, keys.pick_fields(value, keys.RECORDS).values())
            inner = next((one for one in lists if one and isinstance(one[0], dict)), None)
            if inner is None:
                value = [{"problem_id": key, **one} for key, one in value.items() if isinstance(one, dict)]
            else:
                names = keys.pick_fields(value, (*keys.MODEL, *keys.BENCHMARK))
                around, value = {key: one for key, one in names.items() if isinstance(one, str)}, inner
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise UnreadableError(path, "there are no records in the file", "Write a list of objects")
        lost = 0
        for record in value:
            if isinstance(record, dict):
                yield {**around, **record}
            lost += not isinstance(record, dict)
        if lost:
            self.findings.append(
                Finding(path, f"{format_count(lost, 'entry', 'entries')} left out: no object")
            )

    def parse_report(self, value: object) -> list[dict[str, Any]] | None:
        """Return the records of a report or of lists of scores; None if the value is neither.

        Totals of benchmarks and irregularities are added to the file.
        """
        if isinstance(value, dict):
            if isinstance(value.get("resolved_ids"), list):
                return self.parse_resolved(value)
            tested = as_mapping(value.get("eval"))
            if tested and all(isinstance(samples, list) for samples in tested.values()):
                return list(self.parse_tests(tested, as_mapping(value.get("pass_at_k"))))
        columns = isinstance(value, dict) and any(keys.normalize_key(key) in _COLUMNS for key in value)
        several = value if isinstance(value, dict) else dict(enumerate(as_list(value)))
        if not several or columns:
            return None
        for cells in several.values():
            if not isinstance(cells, list) or not cells or None in map(scores.parse_score, cells):
                return None
        return [{"problem_id": key, "scores": cells} for key, cells in several.items()]

    def parse_tests(
        self, tested: Mapping[str, list[Any]], rates: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        for problem, listed in tested.items():
            samples = [as_mapping(sample) for sample in listed]
            has_base = all("base_status" in sample for sample in samples)
            base = [float(sample.get("base_status" if has_base else "status") == _GOOD) for sample in samples]
            tests = [("", "base", base)]
            if has_base and any(sample.get("plus_status") is not None for sample in samples):
                plus = (float(sample.get("plus_status") == _GOOD) for sample in samples)
                tests.append(("+", "plus", [one * other for one, other in zip(base, plus, strict=True)]))
            for mark, part, passed in tests:
                benchmark = f"{as_word(problem.rpartition('/')[0])}{mark}"
                if total := scores.parse_total("pass@1", scores.get_inner(rates, part, "pass@1"), []):
                    self.totals.setdefault(benchmark, total)
                yield {"problem_id": problem, "benchmark": benchmark, "scores": passed}

    def parse_resolved(self, document: Mapping[str, Any]) -> list[dict[str, Any]]:
        ends: dict[str, float | None] = {}
        for key, score in _ENDS.items():
            for name in map(as_word, as_list(document.get(key))):
                # If an instance is in several lists, the first one counts.
                ends.setdefault(name, score)
        benchmark = "SWE-bench"
        if missing := sum(score is None for score in ends.values()):
            count = format_count(missing, "instance was", "instances were")
            self.findings.append(Finding(self.path, f"{count} not submitted: without a score"))
        n, right = (scores.parse_count(document.get(f"{key}_instances")) for key in ("total", "resolved"))
        if n and (right or document.get("resolved_instances") == 0):
            self.totals[benchmark] = Total("resolved", (right or 0) / n, n=n)
        return [{"problem_id": name, "benchmark": benchmark, "scores": [one]} for name, one in ends.items()]

    def build_evaluation(self, model: str, benchmark: str, rows: AnswerRows) -> Evaluation:
        rows.answers, messages = keys.number_samples(rows.answers)
        hidden = {key for own in rows.fields.values() for key in own if keys.normalize_key(key) in _NEVER}
        answers = rows.build(hidden)
        sizes = Counter(answer.problem for answer in answers).values()
        if len(set(sizes)) > 1:
            counts = f"{min(sizes):,} to {max(sizes):,} samples"
            messages.append(f"problems have {counts}: some may be missing")
        total = self.totals.get(benchmark)
        messages += scores.warn_equal_answers(answers)
        messages += scores.compare_means(answers, {"": total} if total else {})
        return Evaluation(
            path=self.path,
            model=model,
            benchmark=benchmark,
            protocol=scores.build_protocol({"samples": max(sizes, default=None)}),
            answers=answers,
            totals=(total,) if total else (),
            findings=tuple(scores.make_findings(self.path, messages)),
        )


def _has_answers(path: Path) -> bool:
    """Return whether a file has lists per problem, or sample numbers after a point, unlike a table."""
    if path.suffix not in {*_LINES, ".json"}:
        return False
    text = read_head_text(path)
    patterns = (_TESTED.search, _RESOLVED.search, _TRUTHS.match)
    if path.suffix == ".json" and any(pattern(text) for pattern in patterns):
        return True
    if not text.lstrip().startswith(("{", "[")) or _OTHERS.search(text):
        return False
    lists = {keys.normalize_key(match["key"]) for match in _LIST.finditer(text)}
    cells = [(keys.normalize_key(match["key"]), match["first"]) for match in _CELL.finditer(text)]
    about = (_ABOUT & {key for key, _ in cells}) - lists
    # Scores may come later, since responses are long.
    many = bool(about and lists & set(keys.SCORES)) or (
        len(about) >= _ENOUGH and bool(lists & set(keys.RESPONSES))
    )
    numbers = any(key in keys.PROBLEM and _DECIMAL.fullmatch(first) for key, first in cells)
    # Or records are answers with the name of a score that identifies them.
    every = {keys.normalize_key(key) for key in _ANY_KEY.findall(text)}
    parts = (keys.PROBLEM, (*keys.RESPONSES, *keys.ANSWERS), _NO_TABLE)
    single = all(not every.isdisjoint(names) for names in parts) and every.isdisjoint(_OF_TABLES)
    return many or single or (numbers and any(key in keys.SCORES for key, _ in cells))
