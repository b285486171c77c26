"""Outputs of MathArena: a folder for a model on a competition, and a file in it for each problem.

Schema: eth-sri/matharena, src/matharena/runs.py, class ``Runs``: ``outputs/COMPETITION/MODEL/N.json`` has
``idx``, ``gold_answer``, ``types``, and the lists ``answers``, ``correct`` and ``detailed_costs``, with an
entry for each of N attempts. COMPETITION and MODEL are the paths of their configurations, such as
``aime/aime_2026`` and ``openai/o3``. Proofs have points in place of truth values, and texts where they are
not graded yet.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.decode import report_left_out
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import (
    build_protocol,
    get_inner,
    make_findings,
    warn_equal_answers,
)
from reportgen.formats.files import get_ending, get_stem
from reportgen.formats.json_files import as_list, as_word, read_head_text, read_json_object
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


_PROBLEM: Final = re.compile(r'\s*\{\s*"idx"\s*:\s*\d+\s*,\s*"problem"\s*:')
_FOLDER: Final = "outputs"
_NUMBER: Final = re.compile(r"\d+")
# What each attempt says in full, which is long.
_LONG: Final = frozenset(("messages", "history", "judgment", "warnings"))


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return folders of problems."""
    folders: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        if (
            get_ending(file) == ".json"
            and _NUMBER.fullmatch(get_stem(file))
            and _PROBLEM.match(read_head_text(file))
        ):
            folders[file.parent].append(file)
    return tuple(Unit(folder, tuple(own)) for folder, own in folders.items())


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield the evaluation of a folder; an attempt has a single score."""
    if _FOLDER not in unit.path.absolute().parts[:-1]:
        message = f"the folder is not below {_FOLDER}, whose folders name competition and model"
        raise UnreadableError(unit.path, message, f"Copy {_FOLDER} with its folders")
    findings: list[Diagnostic] = []
    rows = AnswerRows()
    refused: list[UnreadableError] = []
    for file in unit.files:
        try:
            document, problems = read_json_object(
                file, lambda value: {key: part for key, part in value.items() if key not in _LONG}
            )
        except UnreadableError as error:
            refused.append(error)
            continue
        findings += problems
        _add_answers(rows, document, get_stem(file))
    if not (answers := rows.build()):
        raise refused[0] if refused else UnreadableError(unit.path, "no problem in it has an attempt")
    findings += map(report_left_out, refused)
    messages = [*warn_equal_answers(answers)]
    if lost := sum(answer.score is None for answer in answers):
        messages.append(f"{format_count(lost, 'attempt is', 'attempts are')} not graded: without a score")
    competition, model = _split_path(unit.path.absolute().parts)
    findings += make_findings(unit.path, messages)
    yield Evaluation(
        path=unit.path,
        model=model,
        benchmark=competition,
        protocol=build_protocol({"harness": "MathArena"}),
        answers=answers,
        findings=tuple(findings),
    )


def _split_path(parts: Sequence[str]) -> tuple[str, str]:
    """Return the last part of the competition, and the model, of a folder below ``outputs``.

    In ``outputs/aime/aime_2025/openai/o3`` both have one part or two.
    """
    below = parts[max(index for index, part in enumerate(parts) if part == _FOLDER) + 1 :]
    half = len(below) // 2
    return below[half - 1] if half else "", "/".join(below[half:])


def _add_answers(rows: AnswerRows, document: Mapping[str, Any], name: str) -> None:
    types = [as_word(one) for one in as_list(document.get("types"))]
    answers, scores, costs = (as_list(document.get(key)) for key in ("answers", "correct", "detailed_costs"))
    for index, (cell, answer, cost) in enumerate(zip_longest(scores, answers, costs)):
        if index < len(scores):
            rows.add(
                as_word(document.get("idx")) or name,
                {"": cell},
                index,
                answer=answer,
                gold=document.get("gold_answer"),
                tokens=get_inner(cost, "output_tokens"),
                seconds=get_inner(cost, "time"),
                slices={"type": types[0]} if types and types[0] else {},
            )
