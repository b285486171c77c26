"""Jobs of Harbor: ``jobs/NAME/TRIAL/result.json`` of each trial of an agent on a task.

Schema: laude-institute/harbor, src/harbor/models/trial/result.py: ``task_name``, ``source`` (the dataset),
``agent_info``, ``agent_result``, ``verifier_result.rewards`` and ``exception_info``. A trial that ended in an
exception has no score, whatever its reward: of the agent's time-out it is timed out, of any other it was
lost to the infrastructure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import parse_moment
from reportgen.formats.decode import report_left_out
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.files import get_ending, get_stem
from reportgen.formats.json_files import (
    as_mapping,
    as_word,
    parse_first_object,
    read_head_text,
    read_json_object,
)
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.score_names import Status

_KEYS: Final = {"task_name", "agent_info"}
_REWARD: Final = "reward"
_TIMEOUT: Final = "AgentTimeoutError"


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return a unit for each job, with the results of its trials."""
    jobs: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        named = get_ending(file) == ".json" and get_stem(file) == "result"
        if named and parse_first_object(read_head_text(file)).keys() >= _KEYS:
            jobs[file.parent.parent].append(file)
    return tuple(Unit(job, tuple(own)) for job, own in jobs.items())


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation for each agent, model and dataset of a job; trials of a task are its samples."""
    findings: list[Diagnostic] = []
    refused: list[UnreadableError] = []
    rows: dict[tuple[str, str, str], AnswerRows] = defaultdict(AnswerRows)
    seen: Counter[tuple[str, ...]] = Counter()
    versions: dict[tuple[str, str, str], str] = {}
    for file in unit.files:
        try:
            trial, problems = read_json_object(file)
        except UnreadableError as error:
            refused.append(error)
            continue
        findings += problems
        agent = as_mapping(trial.get("agent_info"))
        model = as_word(as_mapping(agent.get("model_info")).get("name"))
        key = (as_word(agent.get("name")), model, as_word(trial.get("source")) or unit.path.name)
        task = as_word(trial.get("task_name"))
        versions[key] = as_word(agent.get("version"))
        _add_trial(rows[key], trial, task, seen[(*key, task)])
        seen[(*key, task)] += 1
    if not rows:
        raise refused[0] if refused else UnreadableError(unit.path, "no trial in it has a result")
    findings += map(report_left_out, refused)
    evaluations = (
        Evaluation(
            unit.path,
            " ".join(filter(None, key[:2])),
            key[2],
            unit.path.name,
            protocol=scores.build_protocol({"harness": "Harbor", "agent version": versions[key]}),
            answers=own.build(),
        )
        for key, own in rows.items()
    )
    yield from scores.add_to_first(evaluations, findings)


def _add_trial(rows: AnswerRows, trial: Mapping[str, Any], task: str, sample: int) -> None:
    failure = as_word(as_mapping(trial.get("exception_info")).get("exception_type"))
    rewards = as_mapping(as_mapping(trial.get("verifier_result")).get("rewards"))
    score = rewards.get(_REWARD, next(iter(rewards.values()), None))
    status: Status = "timed out" if failure == _TIMEOUT else "infrastructure"
    timing = as_mapping(trial.get("agent_execution"))
    start, end = (parse_moment(as_word(timing.get(key))) for key in ("started_at", "finished_at"))
    rows.add(
        task,
        {"": None if failure else score},
        sample,
        tokens=as_mapping(trial.get("agent_result")).get("n_output_tokens"),
        seconds=None if start is None or end is None else (end - start) / 1000,
        status=status,
    )
