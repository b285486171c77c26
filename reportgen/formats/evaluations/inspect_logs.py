"""Logs of Inspect: ``.eval`` archives and JSON files, and how the evaluation was made by their header.

Schema: repository UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` (EvalLog and its parts).
An archive has ``header.json`` (everything but the samples), ``summaries.json`` (the samples without their
transcripts), ``reductions.json`` (a score a problem) and ``samples/ID_epoch_N.json``; a log whose program
was killed has only ``_journal/start.json`` and ``_journal/summaries/N.json``. Members are packed with
deflate, and since 2026 with Zstandard. A JSON file is one EvalLog with its samples. A task that is retried
keeps its id and gets a new log, which begins with the samples that were finished
(``src/inspect_ai/_eval/evalset.py``), and is named DATE_TASK_ID.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reportgen.core.words import format_count, join_names
from reportgen.formats.binary.archive import Archive, open_archive
from reportgen.formats.evaluations.inspect_samples import (
    TaskScore,
    build_answers,
    build_reduced_answers,
    build_scores,
    has_scores,
)
from reportgen.formats.evaluations.scores import (
    build_protocol,
    check_accuracy,
    compare_means,
    parse_count,
    warn_equal_answers,
)
from reportgen.formats.json_files import (
    as_answer,
    as_mapping,
    as_word,
    parse_json,
    read_head_text,
    read_json_object,
    shorten_cell,
)
from reportgen.formats.runs import Evaluation, Finding, ScoredAnswer, Unit, UnreadableError
from reportgen.formats.text_files import Decoder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path


_ARCHIVES: Final = ("PK\x03\x04", "PK\x05\x06", "version https://git-lfs")
_STATUS: Final = re.compile(r'"status"\s*:\s*"(?:started|success|cancelled|error)"')
_EVAL: Final = re.compile(r'"eval"\s*:\s*\{')
_SUMMARIES: Final = re.compile(r"_journal/summaries/(\d{1,9})\.json")
_SAMPLE: Final = re.compile(r"samples/[^/]+\.json")
# What only a sample has.
_SAMPLE_HAS: Final = frozenset(("id", "epoch", "input", "messages"))
_USED: Final = frozenset(
    (
        *("id", "epoch", "target", "metadata", "scores", "score", "model_usage", "error", "limit"),
        *("total_time", "working_time"),
    )
)


@dataclass(frozen=True, slots=True)
class Log:
    """A log: everything but its samples, its samples, and its scores a problem."""

    path: Path
    header: Mapping[str, Any]
    samples: Sequence[Any]
    reductions: Sequence[Any]
    findings: tuple[Finding, ...] = ()


def read_log(path: Path) -> Log:
    """A log of either kind.

    Raises:
        UnreadableError: it is none, damaged, or beyond a limit.
    """
    return _read_archive(path) if read_head_text(path).startswith(_ARCHIVES) else _read_json_log(path)


def _read_json_log(path: Path) -> Log:
    document, findings = read_json_object(path, _strip_events)
    if not isinstance(document.get("eval"), dict):
        raise UnreadableError(path, 'there is no object "eval" in the file', "Check that Inspect wrote it")
    results = as_mapping(document.get("results"))
    return Log(
        path,
        {key: value for key, value in document.items() if key != "samples"},
        [_strip_transcript(sample) for sample in _as_list(document.get("samples"))],
        _as_list(document.get("reductions")) or _as_list(results.get("sample_reductions")),
        findings,
    )


def _read_archive(path: Path) -> Log:
    with open_archive(path) as archive:
        start = "_journal/start.json"
        if "header.json" in archive.names:
            header = _read_member(archive, "header.json")
        elif start in archive.names:
            header = {**as_mapping(_read_member(archive, start)), "status": "started"}
        else:
            raise UnreadableError(path, "the archive has no header.json", "Check that Inspect wrote it")
        if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
            message = 'there is no object "eval" in the header of the log'
            raise UnreadableError(path, message, "Check that Inspect wrote it")
        reductions = "reductions.json"
        return Log(
            path,
            header,
            _read_samples(archive),
            _as_list(_read_member(archive, reductions)) if reductions in archive.names else [],
            tuple(_warn_torn(archive)),
        )


def _warn_torn(archive: Archive) -> Iterator[Finding]:
    if archive.torn:
        message = "the archive is torn or damaged, and its list of members lost"
        whole = format_count(archive.torn, "whole member is", "whole members are")
        yield Finding(archive.path, f"{message}: {whole} read")


def _read_samples(archive: Archive) -> list[Any]:
    """The summaries of all samples; the samples themselves only where there are none."""
    if "summaries.json" in archive.names:
        return _as_list(_read_member(archive, "summaries.json"))
    parts = sorted((int(found[1]), name) for name in archive.names if (found := _SUMMARIES.fullmatch(name)))
    if parts:
        written = (one for _, name in parts for one in _as_list(_read_member(archive, name)))
        # A sample that was tried again stands there again, and counts as it was last.
        latest = {
            (as_word(one.get("id")), as_word(one.get("epoch"))): one for one in map(as_mapping, written)
        }
        return [*latest.values()]
    names = sorted(name for name in archive.names if _SAMPLE.fullmatch(name))
    return [_strip_transcript(_read_member(archive, name)) for name in names]


def _strip_transcript(sample: object) -> dict[str, Any]:
    """What is used of a sample; a transcript is thousands of times as long."""
    return {key: value for key, value in as_mapping(sample).items() if key in _USED}


def _strip_events(value: dict[str, Any]) -> dict[str, Any]:
    """The same, or of a sample what is used of it."""
    return _strip_transcript(value) if value.keys() >= _SAMPLE_HAS else value


def _read_member(archive: Archive, name: str) -> Any:  # noqa: ANN401 - JSON can be anything
    text = Decoder(archive.path).decode(archive.read(name))
    return parse_json(archive.path, text, f"{name} in the archive")


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def is_log(path: Path) -> bool:
    """Whether a file's beginning is that of a log."""
    if path.suffix == ".eval":
        return read_head_text(path).startswith(_ARCHIVES)
    if path.suffix != ".json":
        return False
    text = read_head_text(path)
    return _STATUS.search(text) is not None and _EVAL.search(text) is not None


_DAY: Final = 10


def count_epochs(header: Mapping[str, Any]) -> int:
    """How often each sample was answered."""
    return parse_count(as_mapping(as_mapping(header.get("eval")).get("config")).get("epochs")) or 1


def get_seed(header: Mapping[str, Any]) -> str | None:
    """The seed of generation; None where none was set."""
    seed = _merge_generation(header).get("seed")
    return None if isinstance(seed, bool) else as_word(seed) or None


def build_log_protocol(header: Mapping[str, Any]) -> dict[str, str]:
    """How the evaluation was made."""
    said = as_mapping(header.get("eval"))
    config = as_mapping(said.get("config"))
    generation = _merge_generation(header)
    return build_protocol(
        {
            "samples": count_epochs(header),
            "temperature": generation.get("temperature"),
            "top_p": generation.get("top_p"),
            "max_tokens": generation.get("max_tokens"),
            "harness": "Inspect",
            "version": as_mapping(said.get("packages")).get("inspect_ai"),
            "grader": ", ".join(_list_graders(said)),
            "date": as_word(said.get("created"))[:_DAY],
            "task version": said.get("task_version"),
            "task arguments": _format_arguments(said.get("task_args")),
            "dataset": as_mapping(said.get("dataset")).get("name"),
            "solver": ", ".join(_list_solvers(header)),
            "limit": _format_limit(config.get("limit")),
            "reducer": _format_names(config.get("epochs_reducer")),
        }
    )


def _merge_generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of generation: the model's own, and over them those of the task and the command line."""
    own = as_mapping(as_mapping(header.get("eval")).get("model_generate_config"))
    over = as_mapping(as_mapping(header.get("plan")).get("config"))
    return {**own, **{key: value for key, value in over.items() if value is not None}}


def _list_graders(said: Mapping[str, Any]) -> Iterator[str]:
    """Scorers, and the model of those that ask one: given to them, or to the role of the grader."""
    bound = as_mapping(said.get("model_roles")).get("grader")
    several = bound if isinstance(bound, list) else [bound]
    role = " and ".join(filter(None, (as_word(as_mapping(one).get("model")) for one in several)))
    scorers = said.get("scorers")
    for scorer in scorers if isinstance(scorers, list) else []:
        name = as_word(as_mapping(scorer).get("name"))
        model = as_word(as_mapping(as_mapping(scorer).get("options")).get("model"))
        model = model or (role if name.startswith("model_graded") else "")
        if name:
            yield f"{name} by {model}" if model else name


def _list_solvers(header: Mapping[str, Any]) -> Iterator[str]:
    steps = as_mapping(header.get("plan")).get("steps")
    for step in steps if isinstance(steps, list) else []:
        if name := as_word(as_mapping(step).get("solver")):
            yield name


def _format_arguments(said: object) -> str:
    """``fewshot=5, split="test"``; empty where there are none, or too many to tell."""
    pairs = [f"{as_word(key)}={json.dumps(value)}" for key, value in as_mapping(said).items()]
    return as_answer(", ".join(pairs)) or ""


def _format_limit(said: object) -> str:
    """A number of samples, or a range of them."""
    if isinstance(said, list):
        return "-".join(as_word(end) for end in said[:2])
    return as_word(said)


def _format_names(said: object) -> str:
    return ", ".join(as_word(name) for name in said) if isinstance(said, list) else as_word(said)


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
