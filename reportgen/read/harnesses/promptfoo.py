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

from reportgen.read.harnesses.checking import disagreement
from reportgen.read.harnesses.documents import Lines, head_text, json_object, mapping, short_text, told, word
from reportgen.read.harnesses.protocol import protocol_of
from reportgen.read.harnesses.scoring import score_of
from reportgen.read.harnesses.slices import grouping, slices_of
from reportgen.read.logged import Answered, Evaluated, Finding, Total, Unit, UnreadableError
from reportgen.read.loggers.growing import number
from reportgen.words import counted

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


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each file of results by itself."""
    return tuple(Unit(NAME, path, (path,)) for path in files if _holds_results(path))


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Evaluated]:
    """Each provider or, where there are several prompts, each provider with each of them.

    Args:
        unit: a file of results.
        wanted: only these scores: ``success``, and ``score`` where that is another number.

    Raises:
        UnreadableError: it is not what it seemed, or beyond a limit.
    """
    for path in unit.files:
        results = _read(path)
        if not results.rows:
            raise UnreadableError(path, "there is no result in the file", "Check that promptfoo wrote it")
        problems = _problems(results.rows)
        by_prompt: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in results.rows:
            by_prompt[_provider(row), _prompt(row)].append(row)
        prompts = list(dict.fromkeys(prompt for _, prompt in by_prompt))
        metrics = [name for name in results.metrics() if wanted is None or name in wanted]
        for (provider, prompt), rows in by_prompt.items():
            label = _label(prompt, prompts.index(prompt) + 1)
            answers = tuple(_answers(rows, problems, metrics))
            totals = tuple(results.totals(provider, prompt)) if PASSED in metrics else ()
            yield Evaluated(
                path=path,
                model=f"{provider}, {label}" if len(prompts) > 1 else provider,
                benchmark=word(results.config.get("description")),
                run=results.date,
                seed=None,
                protocol=protocol_of(
                    {
                        "harness": "promptfoo",
                        "version": results.version,
                        "prompt": label if len(label) <= _LONGEST_LABEL else "",
                        "date": results.date[:10],
                    }
                ),
                answers=answers,
                totals=totals,
                findings=(
                    *results.findings,
                    *_failed(path, provider, rows),
                    *disagreement(path, answers, {total.metric: total for total in totals}, "results"),
                ),
            )
            results.findings.clear()


@dataclass(slots=True)
class _Results:
    """What a file holds: its results, and what is said of all of them."""

    rows: list[dict[str, Any]]
    prompts: Sequence[object] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    date: str = ""
    version: str = ""
    findings: list[Finding] = field(default_factory=list)

    def metrics(self) -> tuple[str, ...]:
        """Whether a test passed, and its score where that says more."""
        scores = (
            (score_of(row.get(PASSED)), score_of(row.get(SCORE))) for row in self.rows if not _is_error(row)
        )
        return (PASSED, SCORE) if any(score not in {None, passed} for passed, score in scores) else (PASSED,)

    def totals(self, provider: str, prompt: str) -> Iterator[Total]:
        """The share of tests that passed, of those that were graded."""
        for one in map(mapping, self.prompts):
            said = mapping(one.get("metrics"))
            passed, failed = number(said.get("testPassCount")), number(said.get("testFailCount"))
            if (word(one.get("provider")), _text(one)) == (provider, prompt) and passed is not None:
                graded = passed + (failed or 0)
                if graded:
                    yield Total(PASSED, passed / graded, None, None, higher_is_better=True)


def _read(path: Path) -> _Results:
    if path.suffix in _LINES:
        lines = Lines(path)
        rows = [row for row in lines.objects() if "testIdx" in row or "success" in row]
        return _Results(rows, findings=list(lines.findings()))
    document, findings = json_object(path, _without_transcript)
    results = mapping(document.get("results"))
    found = results.get("results")
    if not isinstance(found, list):
        raise UnreadableError(
            path, 'there is no list "results" in its results', "Check that promptfoo wrote it"
        )
    prompts = results.get("prompts") or mapping(mapping(results.get("table")).get("head")).get("prompts")
    return _Results(
        [row for row in found if isinstance(row, dict)],
        prompts if isinstance(prompts, list) else (),
        mapping(document.get("config")),
        word(results.get("timestamp")),
        word(mapping(document.get("metadata")).get("promptfooVersion")),
        list(findings),
    )


def _without_transcript(value: dict[str, Any]) -> dict[str, Any]:
    """The same, or of a table or a grading, which say again what results say, nothing."""
    return {
        key: one for key, one in value.items() if key not in {"gradingResult", "body", "componentResults"}
    }


def _provider(row: Mapping[str, Any]) -> str:
    said = row.get("provider")
    named = mapping(said)
    return word(named.get("label")) or word(named.get("id")) or word(said)


def _prompt(row: Mapping[str, Any]) -> str:
    return _text(mapping(row.get("prompt"))) or word(row.get("promptId"))


def _text(prompt: Mapping[str, Any]) -> str:
    """What a prompt is called, which is its template where it has no name."""
    return word(prompt.get("label")) or word(prompt.get("raw"))


def _label(prompt: str, place: int) -> str:
    """A prompt in the name of a series: a template is too long for that."""
    return prompt if len(prompt) <= _LONGEST_LABEL and "\n" not in prompt else f"prompt {place}"


def _test(row: Mapping[str, Any]) -> str:
    """What a test asks, by which it is known again."""
    case = mapping(row.get("testCase"))
    asked = [case.get("description"), case.get("vars") or row.get("vars"), case.get("assert")]
    return json.dumps(asked, sort_keys=True)


def _problems(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What each test is called: its description where that is its own, otherwise its number."""
    first: dict[str, Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: number(row.get("testIdx")) or 0):
        first.setdefault(_test(row), row)
    described = {test: word(mapping(row.get("testCase")).get("description")) for test, row in first.items()}
    known = Counter(described.values())
    return {
        test: text if (text := described[test]) and known[text] == 1 else f"{text} {place}".strip()
        for place, test in enumerate(first, 1)
    }


def _answers(
    rows: Sequence[Mapping[str, Any]], problems: Mapping[str, str], metrics: Sequence[str]
) -> Iterator[Answered]:
    """Every result by every score, a test that was repeated as several samples."""
    seen: Counter[str] = Counter()
    said = [
        grouping({**mapping(row.get("vars")), **mapping(mapping(row.get("testCase")).get("metadata"))})
        for row in rows
    ]
    slices = slices_of(said)
    order = sorted(range(len(rows)), key=lambda place: number(rows[place].get("testIdx")) or 0)
    for place in order:
        row, test = rows[place], _test(rows[place])
        seen[test] += 1
        response = mapping(row.get("response"))
        usage = mapping(response.get("tokenUsage"))
        latency = None if response.get("cached") else number(row.get("latencyMs"))
        for metric in metrics:
            yield Answered(
                problem=problems[test],
                score=None if _is_error(row) else score_of(row.get(metric)),
                sample=str(seen[test]),
                metric=metric,
                answer=short_text(response.get("output")),
                tokens=number(usage.get("completion")),
                seconds=None if latency is None else latency / _MILLISECONDS,
                slices=slices[place],
            )


def _is_error(row: Mapping[str, Any]) -> bool:
    """Whether nothing was graded, as where a provider did not answer."""
    if "failureReason" in row:
        return bool(row["failureReason"] == _ERROR)
    return bool(row.get("error")) and not mapping(row.get("response")).get("output")


def _failed(path: Path, provider: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    errors = [told(row.get("error")) for row in rows if _is_error(row)]
    if errors:
        tests = counted(len(errors), "test")
        yield Finding(path, f"{tests} of {told(provider)} ended in an error, such as: {errors[0]}")


def _holds_results(path: Path) -> bool:
    if path.suffix in _LINES:
        return _LINE.match(head_text(path)) is not None
    return path.suffix == ".json" and _RESULTS.search(head_text(path)) is not None
