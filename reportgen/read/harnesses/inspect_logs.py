"""Logs of Inspect: ``.eval`` archives and JSON files.

What a log holds is told in ``inspect_files``. A task that is retried keeps its id and gets a new log, which
begins with the samples that were finished (``src/inspect_ai/_eval/evalset.py``), and is named DATE_TASK_ID.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from reportgen.read.harnesses.checking import disagreement, impossible, spelled_alike
from reportgen.read.harnesses.documents import mapping, told, word
from reportgen.read.harnesses.inspect_files import Log, is_log, read_log
from reportgen.read.harnesses.inspect_protocol import epochs_of, protocol_of_log, seed_of
from reportgen.read.harnesses.inspect_samples import answers_of, answers_of_reductions, is_graded
from reportgen.read.harnesses.inspect_scores import Scored, scores_of
from reportgen.read.harnesses.scoring import count_of
from reportgen.read.logged import Answered, Evaluated, Finding, Unit, UnreadableError
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

NAME: Final = "inspect"
TITLE: Final = "logs of Inspect"

# When, which task, and its id: a retry keeps the id.
_NAMED: Final = re.compile(r"\d{4}-\d\d-\d\dT.*_(?P<task>[0-9A-Za-z]{22})")
_Worth: TypeAlias = tuple[bool, bool, str]
_FEW: Final = 3
_LONGEST_ERROR: Final = 120
_OUTCOMES: Final = {
    "cancelled": "the evaluation was cancelled",
    "error": "the evaluation failed",
    "started": "the evaluation is still running or was killed",
}


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each log, together with those that earlier attempts at the same task left beside it."""
    found: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in files:
        if is_log(path):
            named = _NAMED.fullmatch(path.stem)
            found[path.parent, named["task"] if named else path.name].append(path)
    attempts = (sorted(paths) for paths in found.values())
    return tuple(Unit(NAME, paths[-1], tuple(paths)) for paths in attempts)


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Evaluated]:
    """The evaluation of each task: of several attempts at it the newest that ended well, or else the newest.

    An attempt whose answers were graded counts before one whose answers were not.

    Args:
        unit: a log, or all of a task.
        wanted: only these scorers, by the names that answers have, or their metrics.

    Raises:
        UnreadableError: it is no log, damaged, or beyond a limit, and there is no other of its task.
    """
    tasks: dict[str, list[tuple[_Worth, Path]]] = defaultdict(list)
    best: dict[str, Log] = {}
    damaged: list[UnreadableError] = []
    for path in unit.files:
        try:
            log = read_log(path)
        except UnreadableError as error:
            damaged.append(error)
            continue
        task = word(mapping(log.header.get("eval")).get("task_id")) or str(path)
        tasks[task].append((_worth(log), path))
        best[task] = max(best.get(task, log), log, key=_worth)
    if not best:
        raise damaged[0]
    findings = tuple(Finding(error.path, f"{error.message}: left out") for error in damaged)
    for task, log in best.items():
        one = _evaluated(log, wanted)
        yield replace(one, findings=(*findings, *_retried(log, tasks[task]), *one.findings))
        findings = ()


def _worth(log: Log) -> _Worth:
    """What makes one of several attempts count: whether it has scores, then its end, then its beginning."""
    ended, began = log.header.get("status") == "success", mapping(log.header.get("eval")).get("created")
    return is_graded(log.samples) or bool(log.reductions), ended, word(began)


def _retried(log: Log, attempts: Sequence[tuple[_Worth, Path]]) -> Iterator[Finding]:
    """A retry writes a new log, which has what was finished before; one that is not graded is no better."""
    others = [(worth, path) for worth, path in attempts if path != log.path]
    if others:
        _, *own = _worth(log)
        which = "newest that ended well" if own[0] else "newest"
        if any(own < later for (_, *later), _ in others):
            which = f"{which} of those with scores"
        message = f"the task has {len(attempts)} logs: the {which} is read, and left out are"
        yield Finding(log.path, f"{message} {listing([told(path.name) for _, path in others], most=_FEW)}")


def _evaluated(log: Log, wanted: Collection[str] | None) -> Evaluated:
    said = mapping(log.header.get("eval"))
    findings = [*log.findings]
    answers, strange = answers_of(log.path, log.samples, word(said.get("model")))
    if not answers and log.reductions:
        answers = answers_of_reductions(log.reductions)
        if answers and epochs_of(log.header) > 1:
            message = "the answers of each epoch are not kept; a score for each problem is read"
            findings.append(Finding(log.path, message))
    scores, irregular = scores_of(log.path, mapping(log.header.get("results")), epochs_of(log.header))
    if wanted is not None:
        answers = tuple(answer for answer in answers if answer.metric in wanted)
        scores = [one for one in scores if {one.label, one.total.metric} & set(wanted)]
    findings += [*_outcome(log, answers), *strange, *irregular, *_checked(log, answers, scores)]
    created = word(said.get("created"))
    return Evaluated(
        path=log.path,
        model=word(said.get("model")),
        benchmark=word(said.get("task")) or log.path.stem,
        # Tasks that run side by side may begin in the same second.
        run=f"{created} {word(said.get('task_id'))[:6]}".strip(),
        seed=seed_of(log.header),
        protocol=protocol_of_log(log.header),
        answers=answers,
        totals=tuple(one.total for one in scores),
        finished=log.header.get("status") == "success",
        findings=tuple(findings),
    )


def _outcome(log: Log, answers: Sequence[Answered]) -> Iterator[Finding]:
    """How the evaluation ended, and whether all samples are there."""
    said = mapping(log.header.get("eval"))
    results = mapping(log.header.get("results"))
    ended = _OUTCOMES.get(word(log.header.get("status")))
    if ended:
        error = told(mapping(log.header.get("error")).get("message"), _LONGEST_ERROR)
        scores = ", and has scores nevertheless" if results.get("scores") else ""
        yield Finding(log.path, f"{ended}{scores}{f': {error}' if error else ''}")
    if log.header.get("invalidated") is True:
        yield Finding(log.path, "the log is marked as invalid")
    dataset = mapping(said.get("dataset"))
    ids, all_ = dataset.get("sample_ids"), count_of(dataset.get("samples"))
    limit = count_of(mapping(said.get("config")).get("limit"))
    asked = len(ids) if isinstance(ids, list) and ids else limit
    if asked and all_ and asked < all_:
        yield Finding(log.path, f"the limit leaves {asked:,} of {counted(all_, 'sample')} of the dataset")
    problems = len({answer.problem for answer in answers})
    if asked and 0 < problems < asked:
        yield Finding(log.path, f"answers to {problems:,} of {counted(asked, 'sample')} are there")
    completed, total = (count_of(results.get(key)) for key in ("completed_samples", "total_samples"))
    if total and not answers and (completed or 0) < total:
        yield Finding(log.path, f"{completed or 0:,} of {counted(total, 'sample')} count in the scores")


def _checked(log: Log, answers: Sequence[Answered], scores: Sequence[Scored]) -> Iterator[Finding]:
    means = {one.label: one.total for one in scores if one.is_mean}
    if not answers:
        epochs = epochs_of(log.header)
        found = (impossible(log.path, total, repeats=epochs, partial=True) for total in means.values())
        yield from (finding for finding in found if finding)
    yield from disagreement(log.path, answers, means, "samples")
    yield from spelled_alike(log.path, answers)
