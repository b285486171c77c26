"""Judgments of MT-Bench and similar benchmarks: JSON Lines with the rating of one turn per line.

Schema: repository lm-sys/FastChat, ``fastchat/llm_judge/common.py`` (play_a_match_single) writes
``data/BENCH/model_judgment/JUDGE_single.jsonl``. Its ``show_result.py`` leaves out ratings of -1, which mark
a judgment without one, and averages all others. Each turn of a question is a problem here, so that the mean
is the same; turns of one question are related, so that an interval is over questions.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import add_to_first, build_protocol, make_findings, parse_score
from reportgen.formats.json_files import JsonLines, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Finding, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


_CLUSTER: Final = "question"
"""What related problems share: its turns are rated together."""

_FOLDER: Final = "model_judgment"
_BENCHMARK: Final = "MT-Bench"
_NO_RATING: Final = -1
_LATEST: Final = 4e9
_USED: Final = ("question_id", "turn", "score", "tstamp")


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation per model and judge; a judgment has one rating, so there is nothing to select."""
    for path in unit.files:
        lines = JsonLines(path)
        judged: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        strange = 0
        for line in lines.read_objects():
            # The judge is a model and the name of its prompt, which depends on the turn.
            judge = line.get("judge")
            judge = as_word(judge[0] if isinstance(judge, list) and judge else judge)
            model = as_word(line.get("model"))
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
        evaluations = (_build_evaluation(path, *key, rows) for key, rows in judged.items())
        yield from add_to_first(evaluations, findings)


def _build_evaluation(path: Path, model: str, judge: str, rows: Sequence[Mapping[str, Any]]) -> Evaluation:
    folder = path.absolute().parent
    name = folder.parent.name if folder.name == _FOLDER else ""
    benchmark = name if name and name != "mt_bench" else _BENCHMARK
    answers = AnswerRows()
    for row in rows:
        score, turn = parse_score(row["score"]), as_word(row["turn"])
        question = as_word(row["question_id"])
        problem, slices = question, {_CLUSTER: question}
        if turn:
            problem, slices = f"{question}, turn {turn}", {"turn": turn, **slices}
        answers.add(problem, {"": None if score == _NO_RATING else row["score"]}, slices=slices)
    # The day of the first judgment, in UTC.
    seconds = [parse_number(row["tstamp"]) or 0 for row in rows]
    began = min((time for time in seconds if 0 < time < _LATEST), default=None)
    day = "" if began is None else datetime.fromtimestamp(began, UTC).date().isoformat()
    messages = []
    if lost := sum(answer.score is None for answer in answers.answers):
        messages = [f"{format_count(lost, 'judgment')} of {shorten_cell(model)} without a rating: left out"]
    return Evaluation(
        path=path,
        model=model,
        benchmark=f"{benchmark} (judge {judge})",
        protocol=build_protocol({"harness": "FastChat", "grader": judge, "date": day}),
        answers=answers.build(),
        findings=tuple(make_findings(path, messages)),
    )
