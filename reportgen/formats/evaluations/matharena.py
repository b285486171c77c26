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
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.evaluations.scores import (
    add_to_first,
    build_protocol,
    make_findings,
    parse_score,
    warn_equal_answers,
)
from reportgen.formats.json_files import (
    as_answer,
    as_list,
    as_mapping,
    as_word,
    read_head_text,
    read_json_object,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, ScoredAnswer, Unit, UnreadableError
from reportgen.formats.text_files import report_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Finding


_PROBLEM: Final = re.compile(r'\s*\{\s*"idx"\s*:\s*\d+\s*,\s*"problem"\s*:')
_FOLDER: Final = "outputs"
_YEAR: Final = re.compile(r"(?:^|_)20\d\d(?:_|$)")
_NUMBER: Final = re.compile(r"\d+")
# What each attempt says in full, which is long.
_LONG: Final = frozenset(("messages", "history", "judgment", "warnings"))


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return folders of problems."""
    folders: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        if file.suffix == ".json" and _NUMBER.fullmatch(file.stem) and _PROBLEM.match(read_head_text(file)):
            folders[file.parent].append(file)
    return tuple(Unit(folder, tuple(own)) for folder, own in folders.items())


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield the evaluation of a folder; an attempt has a single score."""
    findings: list[Finding] = []
    answers: list[ScoredAnswer] = []
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
        answers += _list_answers(document, file.stem)
    if not answers:
        raise refused[0] if refused else UnreadableError(unit.path, "no problem in it has an attempt")
    findings += map(report_left_out, refused)
    messages = [*warn_equal_answers(answers)]
    if lost := sum(answer.score is None for answer in answers):
        messages.append(f"{format_count(lost, 'attempt is', 'attempts are')} not graded: without a score")
    competition, model = _split_path(unit.path.absolute().parts)
    findings += make_findings(unit.path, messages)
    evaluation = Evaluation(
        path=unit.path,
        model=model,
        benchmark=competition,
        run="",
        seed=None,
        protocol=build_protocol({"harness": "MathArena"}),
        answers=tuple(answers),
        totals=(),
    )
    yield from add_to_first([evaluation], findings)


def _split_path(parts: Sequence[str]) -> tuple[str, str]:
    """Return the last part of the competition, and the model, of a folder of results.

    In ``outputs/aime/aime_2025/openai/o3`` both have one part or two. Without ``outputs`` a model has two if
    a competition, known by its year, is above these.
    """
    top = max((index for index, part in enumerate(parts[:-1]) if part == _FOLDER), default=None)
    if top is not None:
        below = parts[top + 1 :]
    else:
        has_maker = len(parts) > 2 and not _YEAR.search(parts[-2]) and _YEAR.search(parts[-3])  # noqa: PLR2004
        below = parts[-4:] if has_maker else parts[-2:]
    half = len(below) // 2
    return below[half - 1] if half else "", "/".join(below[half:])


def _list_answers(document: Mapping[str, Any], name: str) -> Iterator[ScoredAnswer]:
    types = [as_word(one) for one in as_list(document.get("types"))]
    slices = {"type": types[0]} if types and types[0] else {}
    lists = {key: as_list(document.get(key)) for key in ("answers", "correct", "detailed_costs")}
    for index, cell in enumerate(lists["correct"]):
        answer, cost = (
            values[index] if index < len(values) else None
            for values in (lists["answers"], lists["detailed_costs"])
        )
        yield ScoredAnswer(
            problem=as_word(document.get("idx")) or name,
            score=parse_score(cell),
            sample=str(index),
            answer=as_answer(answer),
            gold=as_answer(document.get("gold_answer")),
            tokens=parse_number(as_mapping(cost).get("output_tokens")),
            seconds=parse_number(as_mapping(cost).get("time")),
            slices=slices,
        )
