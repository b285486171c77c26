"""Results of promptfoo: JSON, or JSON Lines with one result per line.

Schema: repository promptfoo/promptfoo, ``src/types/index.ts`` (EvaluateSummaryV2, EvaluateSummaryV3,
EvaluateResult), written by ``src/evaluator.ts``. A result is one test of one provider with one prompt. With
``--repeat`` a test recurs with another ``testIdx``, so tests are identified by their content. A result that
ended in an error (``failureReason`` 2) was never graded: it counts as neither passed nor failed.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reportgen.core.words import format_count
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import find_word, get_inner, get_mapping
from reportgen.formats.evaluations.texts import read_promptfoo_texts
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import (
    JsonLines,
    as_word,
    read_json_object,
    shorten_cell,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, ScoredAnswer, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


_LINES: Final = (".jsonl", ".ndjson")
_ERROR: Final = 2
_LONGEST_LABEL: Final = 40
_MILLISECONDS: Final = 1000
PASSED: Final = "success"
_METRICS: Final = (PASSED, "score")


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation per provider and, if there are several prompts, per prompt.

    Scores are ``success``, and ``score`` if it differs.
    """
    # Tables and grading results repeat other results.
    left_out = {"body", "componentResults", *(() if unit.texts else ("gradingResult",))}
    for path in unit.files:
        if get_ending(path) in _LINES:
            lines = JsonLines(path)
            rows = [row for row in lines.read_objects() if "testIdx" in row or "success" in row]
            document, findings = {"results": {"results": rows}}, tuple(lines.list_findings())
        else:
            document, findings = read_json_object(
                path, lambda value: {key: part for key, part in value.items() if key not in left_out}
            )
        if not isinstance(get_inner(document, "results", "results"), list):
            message = 'there is no list "results" in its results'
            raise UnreadableError(path, message, "Check that promptfoo wrote it")
        rows = [row for row in get_inner(document, "results", "results") if isinstance(row, dict)]
        if not rows:
            raise UnreadableError(path, "there is no result in the file", "Check that promptfoo wrote it")
        yield from scores.add_to_first(_build_evaluations(path, document, rows, texts=unit.texts), findings)


_Rows: TypeAlias = "Sequence[Mapping[str, Any]]"


def _build_evaluations(
    path: Path, document: Mapping[str, Any], every: _Rows, *, texts: bool
) -> Iterator[Evaluation]:
    problems = _name_problems(every)
    by_prompt: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in every:
        prompt = _name_prompt(row.get("prompt")) or as_word(row.get("promptId"))
        names = (get_inner(row, "provider", key) for key in ("label", "id"))
        by_prompt[find_word(*names, row.get("provider")), prompt].append(row)
    prompts = list(dict.fromkeys(prompt for _, prompt in by_prompt))
    # Whether a test passed, and its score if that is more specific.
    graded = [[scores.parse_score(row.get(key)) for key in _METRICS] for row in every if not _is_error(row)]
    metrics = _METRICS if any(score not in {None, passed} for passed, score in graded) else _METRICS[:1]
    date = as_word(get_inner(document, "results", "timestamp"))
    protocol = {"harness": "promptfoo", "version": get_inner(document, "metadata", "promptfooVersion")}
    for (provider, prompt), rows in by_prompt.items():
        # A template is too long for the name of a series.
        short = len(prompt) <= _LONGEST_LABEL and "\n" not in prompt
        label = prompt if short else f"prompt {prompts.index(prompt) + 1}"
        answers = _build_answers(rows, problems, metrics, texts=texts)
        messages = list[str]()
        if errors := [shorten_cell(row.get("error")) for row in rows if _is_error(row)]:
            failed = f"{format_count(len(errors), 'test')} of {shorten_cell(provider)}"
            messages.append(f"{failed} ended in an error, such as: {errors[0]}")
        yield Evaluation(
            path=path,
            model=f"{provider}, {label}" if len(prompts) > 1 else provider,
            benchmark=as_word(get_inner(document, "config", "description")),
            run=date,
            protocol=scores.build_protocol(protocol | {"prompt": label, "date": date}),
            answers=answers,
            findings=tuple(scores.make_findings(path, messages)),
        )


def _name_problems(rows: _Rows) -> dict[str, str]:
    """Return a name for each test: its description if that is unique, otherwise its number."""
    tests: dict[str, str] = {}
    for row in sorted(rows, key=_get_index):
        tests.setdefault(_name_test(row), as_word(get_inner(row, "testCase", "description")))
    times = Counter(tests.values())
    return {
        test: text if text and times[text] == 1 else f"{text} {number}".strip()
        for number, (test, text) in enumerate(tests.items(), 1)
    }


def _name_prompt(prompt: object) -> str:
    """Return a prompt's label, or its template if it has none."""
    return find_word(get_inner(prompt, "label"), get_inner(prompt, "raw"))


def _get_index(row: Mapping[str, Any]) -> float:
    return parse_number(row.get("testIdx")) or 0


def _name_test(row: Mapping[str, Any]) -> str:
    """Return the content of a test, which identifies it."""
    case = get_mapping(row, "testCase")
    parts = [case.get("description"), case.get("vars") or row.get("vars"), case.get("assert")]
    return json.dumps(parts, sort_keys=True)


def _build_answers(
    results: _Rows, problems: Mapping[str, str], metrics: Sequence[str], *, texts: bool
) -> tuple[ScoredAnswer, ...]:
    """Return every result with every score; a repeated test has several samples."""
    seen: Counter[str] = Counter()
    rows = AnswerRows()
    for row in sorted(results, key=_get_index):
        test = _name_test(row)
        seen[test] += 1
        response = get_mapping(row, "response")
        latency = None if response.get("cached") else parse_number(row.get("latencyMs"))
        rows.add(
            problems[test],
            {metric: None if _is_error(row) else row.get(metric) for metric in metrics},
            seen[test],
            answer=response.get("output"),
            tokens=get_inner(response, "tokenUsage", "completion"),
            seconds=None if latency is None else latency / _MILLISECONDS,
            fields=get_mapping(row, "vars") | get_mapping(row, "testCase", "metadata"),
            texts=read_promptfoo_texts(row) if texts else {},
            status="infrastructure" if _is_error(row) else None,
        )
    return rows.build()


def _is_error(row: Mapping[str, Any]) -> bool:
    """Return whether nothing was graded, as when a provider did not answer."""
    if "failureReason" in row:
        return bool(row["failureReason"] == _ERROR)
    return bool(row.get("error")) and not get_inner(row, "response", "output")
