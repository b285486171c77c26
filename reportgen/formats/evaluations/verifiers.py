"""Evaluations of verifiers and prime-rl: ``outputs/evals/ENV--MODEL/ID/{metadata.json,results.jsonl}``.

Schema: PrimeIntellect-ai/verifiers, verifiers/types.py, ``GenerateMetadata`` and ``RolloutOutput``: a line a
rollout with ``example_id``, ``reward``, ``timing``, ``error`` and ``token_usage``. A rollout with an error
has a reward of 0 there, which is no score.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.files import get_ending, get_stem
from reportgen.formats.json_files import (
    JsonLines,
    as_mapping,
    as_word,
    parse_first_object,
    read_head_text,
    read_json_object,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_KEYS: Final = {"env_id", "model", "rollouts_per_example"}
_MILLISECONDS: Final = 1000.0


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return a unit for each evaluation: its metadata and its rollouts."""
    rollouts = {
        file.parent: file for file in files if get_stem(file) == "results" and get_ending(file) == ".jsonl"
    }
    named = (file for file in files if get_stem(file) == "metadata" and get_ending(file) == ".json")
    own = (file for file in named if parse_first_object(read_head_text(file)).keys() >= _KEYS)
    return tuple(Unit(file.parent, (file, rollouts[file.parent])) for file in own if file.parent in rollouts)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield the evaluation of a folder; rollouts of an example are its samples."""
    path, results = unit.files
    metadata, findings = read_json_object(path)
    lines, rows, seen = JsonLines(results), AnswerRows(), Counter[str]()
    for row in lines.read_objects():
        example = as_word(row.get("example_id"))
        _add_rollout(rows, row, example, seen[example])
        seen[example] += 1
    if not (answers := rows.build(graded=True)):
        raise UnreadableError(results, "no rollout in it has a reward", "Check that it is of verifiers")
    sampling = as_mapping(metadata.get("sampling_args"))
    known = {name: sampling.get(name) for name in ("temperature", "top_p", "max_tokens")}
    date = as_word(metadata.get("date"))
    protocol = scores.build_protocol({"harness": "verifiers", "date": date, **known})
    yield Evaluation(
        unit.path,
        as_word(metadata.get("model")),
        as_word(metadata.get("env_id")),
        unit.path.name,
        protocol=protocol,
        answers=answers,
        findings=(*findings, *lines.list_findings()),
    )


def _add_rollout(rows: AnswerRows, row: Mapping[str, Any], example: str, sample: int) -> None:
    timing = as_mapping(row.get("timing"))
    time = parse_number(timing.get("generation_ms"))
    failed = row.get("error") not in (None, "")
    rows.add(
        example,
        {"": None if failed else row.get("reward")},
        sample,
        gold=row.get("answer") or None,
        tokens=as_mapping(row.get("token_usage")).get("output_tokens"),
        seconds=None if time is None else time / _MILLISECONDS,
        status="infrastructure" if failed else None,
    )
