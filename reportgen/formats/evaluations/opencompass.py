"""Results of OpenCompass: ``results/MODEL/DATASET.json``.

Schema: repository open-compass/opencompass, ``opencompass/tasks/openicl_eval.py``: a flat object of metrics,
most of them in percent, and ``details`` with an entry for each problem, in a list or by its number. Its
summaries in CSV are tables with a column for each model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.files import get_ending, get_stem
from reportgen.formats.json_files import as_list, as_mapping, read_head_text, read_json_object
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, ScoredAnswer, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_RESULTS, _DETAILS = "results", "details"
_FLAT: Final = re.compile(r'\s*\{\s*"(?:(?!train_|eval_|epoch)[^"]+"\s*:\s*-?\d|details"\s*:\s*[\[{])')
_SCORED: Final = ("correct", "is_correct", "cascade_correct", "score")
_TAKEN: Final = ("pred", "prediction", "predictions")
_GOLD: Final = ("answer", "gold", "references", "refr")
_PERCENT: Final = 100.0


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit for each dataset of a model, without predictions that are not graded."""
    inside = (file for file in files if get_ending(file) == ".json" and file.parent.parent.name == _RESULTS)
    own = [
        file
        for file in inside
        if not get_stem(file).endswith("_results") and _FLAT.match(read_head_text(file))
    ]
    # Files that repeat these, or are not graded, are no others.
    rest = [
        file for file in files if file.parent.name == "summary" or file.parent.parent.name == "predictions"
    ]
    return tuple(Unit(file, (file, *(rest if file is own[0] else ()))) for file in own)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield the evaluation of a file; there are few scores, so all are read."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    answers = _read_answers(document.pop(_DETAILS, None))
    numbers: dict[str, object] = {
        name: cell
        for name, cell in document.items()
        if not isinstance(cell, bool) and parse_number(cell) is not None
    }
    (numbers, left_out), messages = scores.leave_out_counts(numbers), list[str]()
    totals = tuple(scores.read_totals(numbers, messages))
    if not (answers or totals):
        raise UnreadableError(path, "there is no score in it", "Check that it is of OpenCompass")
    if answers:
        # Answers are right or wrong, and accuracies are in percent.
        totals = tuple(replace(one, value=one.value / _PERCENT) for one in totals if one.metric == "accuracy")
        messages += scores.check_totals(answers, {"": totals[0]} if totals else {})
    findings = (*findings, *scores.make_findings(path, left_out, confirmed_by="metrics"))
    yield Evaluation(
        path,
        path.parent.name,
        get_stem(path),
        path.parent.parent.parent.name,
        protocol={"harness": "OpenCompass"},
        answers=answers,
        totals=totals,
        findings=(*findings, *scores.make_findings(path, messages)),
    )


def _read_answers(details: object) -> tuple[ScoredAnswer, ...]:
    """Return the answers in details, a list or an object by number, that say whether they are right."""
    entries = dict(enumerate(details)) if isinstance(details, list) else as_mapping(details)
    rows = AnswerRows()
    for problem, entry in entries.items():
        item = as_mapping(entry)
        scored, answer, gold = (
            next((item[name] for name in names if name in item), None) for names in (_SCORED, _TAKEN, _GOLD)
        )
        for sample, cell in enumerate(as_list(scored) or [scored]):
            if scores.parse_score(cell) is not None:
                rows.add(problem, {"": cell}, sample, answer=answer, gold=gold)
    return rows.build()
