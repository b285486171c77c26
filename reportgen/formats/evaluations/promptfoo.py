"""Results of promptfoo: JSON, or JSON Lines with a result a line.

Schema: repository promptfoo/promptfoo, ``src/types/index.ts`` (EvaluateSummaryV2, EvaluateSummaryV3,
EvaluateResult), written by ``src/evaluator.ts``. A result is one test of one provider with one prompt. With
``--repeat`` a test comes again under another ``testIdx``, so tests are known by what they ask. A result that
ended in an error (``failureReason`` 2) was never graded: it counts as neither passed nor failed.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.evaluations import scores
from reportgen.formats.json_files import (
    JsonLines,
    as_answer,
    as_list,
    as_mapping,
    as_word,
    read_head_text,
    read_json_object,
    shorten_cell,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Finding, ScoredAnswer, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path


NAME: Final = "promptfoo"
TITLE: Final = "results of promptfoo"

_LINES: Final = (".jsonl", ".ndjson")
_RESULTS: Final = re.compile(r'"results"\s*:\s*\{\s*"version"\s*:\s*\d')
_LINE: Final = re.compile(
    r'\{(?=[^\n]*"(?:gradingResult|promptIdx)"\s*:)(?=[^\n]*"(?:prompt|promptId|latencyMs)"\s*:)'
)
_ERROR: Final = 2
_LONGEST_LABEL: Final = 40
_MILLISECONDS: Final = 1000
PASSED, SCORE = "success", "score"


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each file of results by itself."""
    patterns = {".json": _RESULTS.search, **dict.fromkeys(_LINES, _LINE.match)}
    own = (path for path in files if path.suffix in patterns)
    return tuple(Unit(NAME, path, (path,)) for path in own if patterns[path.suffix](read_head_text(path)))


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """Each provider or, where there are several prompts, each provider with each of them.

    Scores are ``success``, and ``score`` where that is another number.
    """
    for path in unit.files:
        results = _read(path)
        if not results.rows:
            raise UnreadableError(path, "there is no result in the file", "Check that promptfoo wrote it")
        yield from scores.add_to_first(_build_evaluations(path, results, selected), results.findings)


def _build_evaluations(
    path: Path, results: _Results, selected: Collection[str] | None
) -> Iterator[Evaluation]:
    problems = results.name_problems()
    by_prompt: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in results.rows:
        prompt = _name_prompt(as_mapping(row.get("prompt"))) or as_word(row.get("promptId"))
        named = as_mapping(row.get("provider"))
        provider = as_word(named.get("label")) or as_word(named.get("id")) or as_word(row.get("provider"))
        by_prompt[provider, prompt].append(row)
    prompts = list(dict.fromkeys(prompt for _, prompt in by_prompt))
    protocol = {"harness": "promptfoo", "version": results.version, "prompt": "", "date": results.date[:10]}
    metrics = [name for name in results.list_metrics() if selected is None or name in selected]
    for (provider, prompt), rows in by_prompt.items():
        # A template is too long for the name of a series.
        short = len(prompt) <= _LONGEST_LABEL and "\n" not in prompt
        label = prompt if short else f"prompt {prompts.index(prompt) + 1}"
        answers = tuple(_build_answers(rows, problems, metrics))
        totals = tuple(results.build_totals(provider, prompt)) if PASSED in metrics else ()
        means = {total.metric: total for total in totals}
        messages = [*scores.compare_means(answers, means, "results")]
        if errors := [shorten_cell(row.get("error")) for row in rows if _is_error(row)]:
            failed = f"{format_count(len(errors), 'test')} of {shorten_cell(provider)}"
            messages.insert(0, f"{failed} ended in an error, such as: {errors[0]}")
        yield Evaluation(
            path=path,
            model=f"{provider}, {label}" if len(prompts) > 1 else provider,
            benchmark=as_word(results.config.get("description")),
            run=results.date,
            seed=None,
            protocol=scores.build_protocol(protocol | {"prompt": label}),
            answers=answers,
            totals=totals,
            findings=tuple(scores.make_findings(path, messages)),
        )


@dataclass(frozen=True, slots=True)
class _Results:
    """What a file holds: its results, and what is said of all of them."""

    rows: list[dict[str, Any]]
    findings: tuple[Finding, ...]
    prompts: Sequence[object] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    date: str = ""
    version: str = ""

    def list_metrics(self) -> tuple[str, ...]:
        """Whether a test passed, and its score where that says more."""
        graded = [row for row in self.rows if not _is_error(row)]
        pairs = ((scores.parse_score(row.get(PASSED)), scores.parse_score(row.get(SCORE))) for row in graded)
        return (PASSED, SCORE) if any(score not in {None, passed} for passed, score in pairs) else (PASSED,)

    def name_problems(self) -> dict[str, str]:
        """What each test is called: its description where that is its own, otherwise its number."""
        tests: dict[str, str] = {}
        for row in sorted(self.rows, key=_get_index):
            tests.setdefault(_name_test(row), as_word(as_mapping(row.get("testCase")).get("description")))
        times = Counter(tests.values())
        return {
            test: text if text and times[text] == 1 else f"{text} {number}".strip()
            for number, (test, text) in enumerate(tests.items(), 1)
        }

    def build_totals(self, provider: str, prompt: str) -> Iterator[Total]:
        """The share of tests that passed, of those that were graded."""
        for part in map(as_mapping, self.prompts):
            counts = as_mapping(part.get("metrics"))
            passed, failed = (parse_number(counts.get(f"test{end}Count")) for end in ("Pass", "Fail"))
            is_same = (as_word(part.get("provider")), _name_prompt(part)) == (provider, prompt)
            if is_same and passed is not None and (graded := passed + (failed or 0)):
                yield Total(PASSED, passed / graded, None, None, higher_is_better=True)


def _read(path: Path) -> _Results:
    if path.suffix in _LINES:
        lines = JsonLines(path)
        own = [row for row in lines.read_objects() if "testIdx" in row or "success" in row]
        return _Results(own, tuple(lines.list_findings()))
    # A table and a grading say again what results say.
    left_out = {"gradingResult", "body", "componentResults"}
    document, findings = read_json_object(
        path, lambda value: {key: part for key, part in value.items() if key not in left_out}
    )
    results = as_mapping(document.get("results"))
    rows = results.get("results")
    if not isinstance(rows, list):
        message = 'there is no list "results" in its results'
        raise UnreadableError(path, message, "Check that promptfoo wrote it")
    head = as_mapping(as_mapping(results.get("table")).get("head"))
    return _Results(
        [row for row in rows if isinstance(row, dict)],
        findings,
        as_list(results.get("prompts") or head.get("prompts")),
        as_mapping(document.get("config")),
        as_word(results.get("timestamp")),
        as_word(as_mapping(document.get("metadata")).get("promptfooVersion")),
    )


def _name_prompt(prompt: Mapping[str, Any]) -> str:
    """What a prompt is called, which is its template where it has no name."""
    return as_word(prompt.get("label")) or as_word(prompt.get("raw"))


def _get_index(row: Mapping[str, Any]) -> float:
    return parse_number(row.get("testIdx")) or 0


def _name_test(row: Mapping[str, Any]) -> str:
    """What a test asks, by which it is known again."""
    case = as_mapping(row.get("testCase"))
    parts = [case.get("description"), case.get("vars") or row.get("vars"), case.get("assert")]
    return json.dumps(parts, sort_keys=True)


def _build_answers(
    rows: Sequence[Mapping[str, Any]], problems: Mapping[str, str], metrics: Sequence[str]
) -> Iterator[ScoredAnswer]:
    """Every result by every score, a test that was repeated as several samples."""
    seen: Counter[str] = Counter()
    metadata = (as_mapping(as_mapping(row.get("testCase")).get("metadata")) for row in rows)
    fields = [{**as_mapping(row.get("vars")), **own} for row, own in zip(rows, metadata, strict=True)]
    slices = scores.find_slices([scores.select_group_fields(one) for one in fields])
    numbered = zip(rows, slices, strict=True)
    for row, groups in sorted(numbered, key=lambda pair: _get_index(pair[0])):
        test = _name_test(row)
        seen[test] += 1
        response = as_mapping(row.get("response"))
        usage = as_mapping(response.get("tokenUsage"))
        latency = None if response.get("cached") else parse_number(row.get("latencyMs"))
        for metric in metrics:
            yield ScoredAnswer(
                problem=problems[test],
                score=None if _is_error(row) else scores.parse_score(row.get(metric)),
                sample=str(seen[test]),
                metric=metric,
                answer=as_answer(response.get("output")),
                tokens=parse_number(usage.get("completion")),
                seconds=None if latency is None else latency / _MILLISECONDS,
                slices=groups,
            )


def _is_error(row: Mapping[str, Any]) -> bool:
    """Whether nothing was graded, as where a provider did not answer."""
    if "failureReason" in row:
        return bool(row["failureReason"] == _ERROR)
    return bool(row.get("error")) and not as_mapping(row.get("response")).get("output")
