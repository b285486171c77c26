"""Judgments of MT-Bench and its kin: JSON Lines with the rating of one turn of one answer a line.

Schema: repository lm-sys/FastChat, ``fastchat/llm_judge/common.py`` (play_a_match_single) writes
``data/BENCH/model_judgment/JUDGE_single.jsonl``. Its ``show_result.py`` leaves out ratings of -1, which stand
for a judgment without one, and averages over both turns. The turns of a question are answers to one problem
here, so that an interval is over questions; a slice tells them apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.evaluations.scores import build_protocol, parse_score
from reportgen.formats.json_files import JsonLines, as_word, read_head_text, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Finding, ScoredAnswer, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path


NAME: Final = "mt_bench"
TITLE: Final = "judgments of MT-Bench"
SCORE_RANGE: Final = (1.0, 10.0)
"""The lowest and the highest rating that judges are asked for."""

_JUDGMENT: Final = re.compile(r'\{\s*"question_id"\s*:[^,\n]+,\s*"model"\s*:[^\n]+?"judge"\s*:')
_FOLDER: Final = "model_judgment"
_BENCHMARK: Final = "MT-Bench"
_NO_RATING: Final = -1
_LATEST: Final = 4e9


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each file of judgments by itself."""
    found = (path for path in files if path.suffix in {".jsonl", ".ndjson"})
    return tuple(Unit(NAME, path, (path,)) for path in found if _JUDGMENT.match(read_head_text(path)))


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:  # noqa: ARG001
    """Each model under each judge.

    Args:
        unit: a file of judgments.
        selected: not used: a judgment has one rating.

    Raises:
        UnreadableError: the file cannot be read, or none of its lines is a judgment.
    """
    for path in unit.files:
        lines = JsonLines(path)
        judged: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        strange = 0
        for line in lines.read_objects():
            model, judge = as_word(line.get("model")), _find_judge(line)
            if model and judge and "question_id" in line:
                judged[model, judge].append({key: line.get(key) for key in _USED})
            else:
                strange += 1
        if not judged:
            message = "no line is the judgment of one answer"
            raise UnreadableError(path, message, "Give the file of single answers, JUDGE_single.jsonl")
        findings = [*lines.list_findings()]
        if strange:
            message = f"{format_count(strange, 'line is', 'lines are')} no judgment of one answer: left out"
            findings.append(Finding(path, message))
        for (model, judge), rows in judged.items():
            yield Evaluation(
                path=path,
                model=model,
                benchmark=f"{_name_benchmark(path)} (judge {judge})",
                run="",
                seed=None,
                protocol=build_protocol({"harness": "FastChat", "grader": judge, "date": _find_date(rows)}),
                answers=tuple(map(_build_answer, rows)),
                totals=(),
                findings=(*findings, *_warn_unrated(path, model, rows)),
            )
            findings = []


_USED: Final = ("question_id", "turn", "score", "tstamp")


def _find_judge(line: Mapping[str, Any]) -> str:
    """The model that judged; beside it stands the name of its prompt, which the turn decides."""
    said = line.get("judge")
    return as_word(said[0]) if isinstance(said, list) and said else as_word(said)


def _name_benchmark(path: Path) -> str:
    name = path.absolute().parent.parent.name if path.absolute().parent.name == _FOLDER else ""
    return name if name and name != "mt_bench" else _BENCHMARK


def _build_answer(row: Mapping[str, Any]) -> ScoredAnswer:
    score, turn = parse_score(row.get("score")), as_word(row.get("turn"))
    return ScoredAnswer(
        problem=as_word(row.get("question_id")),
        score=None if score == _NO_RATING else score,
        sample=f"turn {turn}" if turn else "",
        slices={"turn": turn} if turn else {},
    )


def _warn_unrated(path: Path, model: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    lost = sum(_build_answer(row).score is None for row in rows)
    if lost:
        message = f"{format_count(lost, 'judgment')} of {shorten_cell(model)} without a rating: left out"
        yield Finding(path, message)


def _find_date(rows: Sequence[Mapping[str, Any]]) -> str:
    """The day of the first judgment, in UTC."""
    times = [
        time for row in rows if (time := parse_number(row.get("tstamp"))) is not None and 0 < time < _LATEST
    ]
    return datetime.fromtimestamp(min(times), UTC).date().isoformat() if times else ""
