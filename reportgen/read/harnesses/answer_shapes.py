"""Reports of code benchmarks, and bare lists of scores, as the records that ``answer_lists`` reads.

- EvalPlus (repository evalplus/evalplus, ``evalplus/evaluate.py``) and BigCodeBench: ``{"eval":
  {"HumanEval/0": [{"base_status": "pass", "plus_status": "fail"}, …]}}``, an object a sample; the latter has
  one ``status``. An answer counts for the longer test only if it passes the shorter one, too.
- SWE-bench (repository SWE-bench/SWE-bench, ``swebench/harness/reporting.py``): lists of the ids of instances
  by what became of them. One that was never submitted has no score.
- ``[[true, false], …]`` and ``{"1": [1, 0], …}``: the scores of each problem, without any name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses import answer_keys as keys
from reportgen.read.harnesses.documents import as_mapping, as_word
from reportgen.read.harnesses.scoring import parse_count, parse_score, parse_total
from reportgen.read.logged import Finding, Total
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_TESTED: Final = re.compile(r'"eval"\s*:\s*\{\s*"[^"\\\n]+"\s*:\s*\[\s*\{\s*"task_id"')
_RESOLVED: Final = re.compile(r'"resolved_(?:instances|ids)"\s*:')
_TRUTHS: Final = re.compile(r"\s*\[\s*\[\s*(?:true|false)\b")
# What became of an instance of SWE-bench, and its score.
_ENDS: Final[Mapping[str, float | None]] = {
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": 0.0,
    "incomplete_ids": None,
}
# Where an object has one of these, its lists are columns of a table.
_COLUMNS: Final = frozenset((*keys.PROBLEM, *keys.SCORES, *keys.ANSWERS, *keys.TOKENS, *keys.SECONDS))
_GOOD: Final = "pass"


@dataclass(slots=True)
class Report:
    """What a report holds.

    Attributes:
        records: as ``answer_lists`` reads them.
        totals: what it says of each benchmark as a whole.
        findings: what was irregular.
    """

    records: list[dict[str, Any]]
    totals: dict[str, Total] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def is_report(text: str) -> bool:
    """Whether the beginning of a file is one of these reports, or lists of true and false."""
    return any(pattern.search(text) for pattern in (_TESTED, _RESOLVED)) or bool(_TRUTHS.match(text))


def parse_report(path: Path, value: object) -> Report | None:
    """What a file holds, if it has one of these shapes."""
    if isinstance(value, dict):
        if isinstance(value.get("resolved_ids"), list):
            return _parse_resolved(path, value)
        tested = as_mapping(value.get("eval"))
        if tested and all(isinstance(samples, list) for samples in tested.values()):
            return _parse_tests(path, value, tested)
        columns = any(keys.normalize_key(key) in _COLUMNS for key in value)
        if value and not columns and all(_is_scores(scores) for scores in value.values()):
            return Report([{"problem_id": key, "scores": scores} for key, scores in value.items()])
    elif isinstance(value, list) and value and all(_is_scores(scores) for scores in value):
        return Report([{"problem_id": number, "scores": scores} for number, scores in enumerate(value)])
    return None


def _parse_tests(path: Path, document: Mapping[str, Any], tested: Mapping[str, list[Any]]) -> Report:
    found = Report([])
    rates = as_mapping(document.get("pass_at_k"))
    for problem, samples in tested.items():
        name = as_word(problem.rpartition("/")[0])
        for mark, part, scores in _score_tests([as_mapping(sample) for sample in samples]):
            benchmark = f"{name}{mark}"
            found.records.append({"problem_id": problem, "benchmark": benchmark, "scores": scores})
            if benchmark not in found.totals:
                total, _ = parse_total(path, "pass@1", as_mapping(rates.get(part)).get("pass@1"))
                found.totals |= {benchmark: total} if total else {}
    return found


def _score_tests(samples: list[dict[str, Any]]) -> Iterator[tuple[str, str, list[float]]]:
    """The mark behind the benchmark's name, the name of the test, and the score of each sample."""
    if all("base_status" in sample for sample in samples):
        base = [float(sample["base_status"] == _GOOD) for sample in samples]
        yield "", "base", base
        if any(sample.get("plus_status") is not None for sample in samples):
            plus = (float(sample.get("plus_status") == _GOOD) for sample in samples)
            yield "+", "plus", [one * other for one, other in zip(base, plus, strict=True)]
    else:
        yield "", "base", [float(sample.get("status") == _GOOD) for sample in samples]


def _parse_resolved(path: Path, document: Mapping[str, Any]) -> Report:
    scores: dict[str, float | None] = {}
    for key, score in _ENDS.items():
        ids = document.get(key)
        for name in map(as_word, ids if isinstance(ids, list) else []):
            # An instance in several lists is what the first of them says.
            scores.setdefault(name, score)
    benchmark = "SWE-bench"
    found = Report(
        [{"problem_id": name, "benchmark": benchmark, "scores": [score]} for name, score in scores.items()]
    )
    if missing := sum(score is None for score in scores.values()):
        message = f"{format_count(missing, 'instance was', 'instances were')} not submitted: without a score"
        found.findings.append(Finding(path, message))
    n, right = (parse_count(document.get(f"{key}_instances")) for key in ("total", "resolved"))
    if n and (right or document.get("resolved_instances") == 0):
        found.totals[benchmark] = Total("resolved", (right or 0) / n, n=n)
    return found


def _is_scores(scores: object) -> bool:
    """Whether something is the scores of a problem, and nothing else."""
    if not isinstance(scores, list) or not scores:
        return False
    return all(not isinstance(one, list | dict) and parse_score(one) is not None for one in scores)
