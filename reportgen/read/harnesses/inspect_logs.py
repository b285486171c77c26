"""Logs of Inspect: ``.eval`` archives and JSON files.

What a log holds is told in ``inspect_files``. A task that is retried keeps its id and gets a new log, which
begins with the samples that were finished (``src/inspect_ai/_eval/evalset.py``), and is named DATE_TASK_ID.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from reportgen.read.harnesses.checking import check_accuracy, compare_means, warn_equal_answers
from reportgen.read.harnesses.documents import as_mapping, as_word, shorten_cell
from reportgen.read.harnesses.inspect_files import Log, is_log, read_log
from reportgen.read.harnesses.inspect_protocol import build_log_protocol, count_epochs, get_seed
from reportgen.read.harnesses.inspect_samples import build_answers, build_reduced_answers, has_scores
from reportgen.read.harnesses.inspect_scores import TaskScore, build_scores
from reportgen.read.harnesses.scoring import parse_count
from reportgen.read.logged import Evaluation, Finding, ScoredAnswer, Unit, UnreadableError
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

NAME: Final = "inspect"
TITLE: Final = "logs of Inspect"

# When, which task, and its id: a retry keeps the id.
_NAMED: Final = re.compile(r"\d{4}-\d\d-\d\dT.*_(?P<task>[0-9A-Za-z]{22})")
_Rank: TypeAlias = tuple[bool, bool, str]
_FEW: Final = 3
_LONGEST_ERROR: Final = 120
_OUTCOMES: Final = {
    "cancelled": "the evaluation was cancelled",
    "error": "the evaluation failed",
    "started": "the evaluation is still running or was killed",
}


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each log, together with those that earlier attempts at the same task left beside it."""
    found: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in files:
        if is_log(path):
            named = _NAMED.fullmatch(path.stem)
            found[path.parent, named["task"] if named else path.name].append(path)
    attempts = (sorted(paths) for paths in found.values())
    return tuple(Unit(NAME, paths[-1], tuple(paths)) for paths in attempts)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """The evaluation of each task: of several attempts at it the newest that ended well, or else the newest.

    An attempt whose answers were graded counts before one whose answers were not.

    Args:
        unit: a log, or all of a task.
        selected: only these scorers, by the names that answers have, or their metrics.

    Raises:
        UnreadableError: it is no log, damaged, or beyond a limit, and there is no other of its task.
    """
    tasks: dict[str, list[tuple[_Rank, Path]]] = defaultdict(list)
    best: dict[str, Log] = {}
    damaged: list[UnreadableError] = []
    for path in unit.files:
        try:
            log = read_log(path)
        except UnreadableError as error:
            damaged.append(error)
            continue
        task = as_word(as_mapping(log.header.get("eval")).get("task_id")) or str(path)
        tasks[task].append((_rank_log(log), path))
        best[task] = max(best.get(task, log), log, key=_rank_log)
    if not best:
        raise damaged[0]
    findings = tuple(Finding(error.path, f"{error.message}: left out") for error in damaged)
    for task, log in best.items():
        one = _build_evaluation(log, selected)
        yield replace(one, findings=(*findings, *_report_retries(log, tasks[task]), *one.findings))
        findings = ()


def _rank_log(log: Log) -> _Rank:
    """What makes one of several attempts count: whether it has scores, then its end, then its beginning."""
    ended, began = log.header.get("status") == "success", as_mapping(log.header.get("eval")).get("created")
    return has_scores(log.samples) or bool(log.reductions), ended, as_word(began)


def _report_retries(log: Log, attempts: Sequence[tuple[_Rank, Path]]) -> Iterator[Finding]:
    """A retry writes a new log, which has what was finished before; one that is not graded is no better."""
    others = [(worth, path) for worth, path in attempts if path != log.path]
    if others:
        _, *own = _rank_log(log)
        which = "newest that ended well" if own[0] else "newest"
        if any(own < later for (_, *later), _ in others):
            which = f"{which} of those with scores"
        message = f"the task has {len(attempts)} logs: the {which} is read, and left out are"
        yield Finding(
            log.path, f"{message} {join_names([shorten_cell(path.name) for _, path in others], most=_FEW)}"
        )


def _build_evaluation(log: Log, selected: Collection[str] | None) -> Evaluation:
    said = as_mapping(log.header.get("eval"))
    findings = [*log.findings]
    answers, strange = build_answers(log.path, log.samples, as_word(said.get("model")))
    if not answers and log.reductions:
        answers = build_reduced_answers(log.reductions)
        if answers and count_epochs(log.header) > 1:
            message = "the answers of each epoch are not kept; a score for each problem is read"
            findings.append(Finding(log.path, message))
    scores, irregular = build_scores(
        log.path, as_mapping(log.header.get("results")), count_epochs(log.header)
    )
    if selected is not None:
        answers = tuple(answer for answer in answers if answer.metric in selected)
        scores = [one for one in scores if {one.label, one.total.metric} & set(selected)]
    findings += [*_report_outcome(log, answers), *strange, *irregular, *_check_scores(log, answers, scores)]
    created = as_word(said.get("created"))
    return Evaluation(
        path=log.path,
        model=as_word(said.get("model")),
        benchmark=as_word(said.get("task")) or log.path.stem,
        # Tasks that run side by side may begin in the same second.
        run=f"{created} {as_word(said.get('task_id'))[:6]}".strip(),
        seed=get_seed(log.header),
        protocol=build_log_protocol(log.header),
        answers=answers,
        totals=tuple(one.total for one in scores),
        finished=log.header.get("status") == "success",
        findings=tuple(findings),
    )


def _report_outcome(log: Log, answers: Sequence[ScoredAnswer]) -> Iterator[Finding]:
    """How the evaluation ended, and whether all samples are there."""
    said = as_mapping(log.header.get("eval"))
    results = as_mapping(log.header.get("results"))
    ended = _OUTCOMES.get(as_word(log.header.get("status")))
    if ended:
        error = shorten_cell(as_mapping(log.header.get("error")).get("message"), _LONGEST_ERROR)
        scores = ", and has scores nevertheless" if results.get("scores") else ""
        yield Finding(log.path, f"{ended}{scores}{f': {error}' if error else ''}")
    if log.header.get("invalidated") is True:
        yield Finding(log.path, "the log is marked as invalid")
    dataset = as_mapping(said.get("dataset"))
    ids, all_ = dataset.get("sample_ids"), parse_count(dataset.get("samples"))
    limit = parse_count(as_mapping(said.get("config")).get("limit"))
    limited_to = len(ids) if isinstance(ids, list) and ids else limit
    if limited_to and all_ and limited_to < all_:
        yield Finding(
            log.path, f"the limit leaves {limited_to:,} of {format_count(all_, 'sample')} of the dataset"
        )
    problems = len({answer.problem for answer in answers})
    if limited_to and 0 < problems < limited_to:
        yield Finding(log.path, f"answers to {problems:,} of {format_count(limited_to, 'sample')} are there")
    completed, total = (parse_count(results.get(key)) for key in ("completed_samples", "total_samples"))
    if total and not answers and (completed or 0) < total:
        yield Finding(log.path, f"{completed or 0:,} of {format_count(total, 'sample')} count in the scores")


def _check_scores(
    log: Log, answers: Sequence[ScoredAnswer], scores: Sequence[TaskScore]
) -> Iterator[Finding]:
    means = {one.label: one.total for one in scores if one.is_mean}
    if not answers:
        epochs = count_epochs(log.header)
        found = (check_accuracy(log.path, total, repeats=epochs, partial=True) for total in means.values())
        yield from (finding for finding in found if finding)
    yield from compare_means(log.path, answers, means, "samples")
    yield from warn_equal_answers(log.path, answers)
