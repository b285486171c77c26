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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.words import format_count
from reportgen.formats.archive import Archive, open_archive
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.inspect_samples import (
    build_answers,
    build_reduced_answers,
    build_scores,
    has_scores,
)
from reportgen.formats.json_files import (
    as_answer,
    as_list,
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


NAME: Final = "inspect"
TITLE: Final = "logs of Inspect"

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
_DAY: Final = 10
# When, which task, and its id: a retry keeps the id.
_NAMED: Final = re.compile(r"\d{4}-\d\d-\d\dT.*_(?P<task>[0-9A-Za-z]{22})")
_LONGEST_ERROR: Final = 120
_OUTCOMES: Final = {
    "cancelled": "the evaluation was cancelled",
    "error": "the evaluation failed",
    "started": "the evaluation is still running or was killed",
}


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each log, together with those that earlier attempts at the same task left there."""
    tasks: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in files:
        text = read_head_text(path) if path.suffix in {".eval", ".json"} else ""
        is_json = path.suffix == ".json" and _STATUS.search(text) and _EVAL.search(text)
        if is_json or (path.suffix == ".eval" and text.startswith(_ARCHIVES)):
            named = _NAMED.fullmatch(path.stem)
            tasks[path.parent, named["task"] if named else path.name].append(path)
    attempts = (sorted(paths) for paths in tasks.values())
    return tuple(Unit(NAME, paths[-1], tuple(paths)) for paths in attempts)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """The evaluation of each task: of several attempts at it the newest that ended well, or else the newest.

    An attempt whose answers were graded counts before one whose answers were not. A damaged log is an error
    only where there is no other. Scores are selected by the names that answers have, or by their metrics.
    """
    tasks: dict[str, list[tuple[_Rank, Path]]] = defaultdict(list)
    best: dict[str, _Log] = {}
    damaged: list[UnreadableError] = []
    for path in unit.files:
        try:
            archived = read_head_text(path).startswith(_ARCHIVES)
            log = _read_archive(path) if archived else _read_json_log(path)
        except UnreadableError as error:
            damaged.append(error)
            continue
        task = as_word(log.setup.get("task_id")) or str(path)
        tasks[task].append((log.rank, path))
        best[task] = max(best.get(task, log), log, key=lambda attempt: attempt.rank)
    if not best:
        raise damaged[0]
    yield from scores.add_to_first(
        (_build_evaluation(log, tasks[task], selected) for task, log in best.items()),
        [Finding(error.path, f"{error.message}: left out") for error in damaged],
    )


class _Rank(NamedTuple):
    """What makes one of several attempts count."""

    scored: bool
    ended: bool
    began: str


@dataclass(frozen=True, slots=True)
class _Log:
    """A log: everything but its samples, its samples, and its scores a problem."""

    path: Path
    header: Mapping[str, Any]
    samples: Sequence[Any]
    reductions: Sequence[Any]
    findings: tuple[Finding, ...] = ()

    @property
    def setup(self) -> dict[str, Any]:
        return as_mapping(self.header.get("eval"))

    @property
    def results(self) -> dict[str, Any]:
        return as_mapping(self.header.get("results"))

    @property
    def epochs(self) -> int:
        """How often each sample was answered."""
        return scores.parse_count(as_mapping(self.setup.get("config")).get("epochs")) or 1

    @property
    def generation(self) -> dict[str, Any]:
        """Settings of generation: the model's own, and over them those of the task and the command line."""
        own = as_mapping(self.setup.get("model_generate_config"))
        over = as_mapping(as_mapping(self.header.get("plan")).get("config"))
        return {**own, **{key: value for key, value in over.items() if value is not None}}

    @property
    def rank(self) -> _Rank:
        """Whether it has scores, then its end, then its beginning."""
        scored = has_scores(self.samples) or bool(self.reductions)
        return _Rank(scored, self.header.get("status") == "success", as_word(self.setup.get("created")))

    @property
    def protocol(self) -> dict[str, str]:
        setup, generation = self.setup, self.generation
        config = as_mapping(setup.get("config"))
        limit, reducer = config.get("limit"), config.get("epochs_reducer")
        # A limit may be a range of samples.
        limit = "-".join(map(as_word, limit[:2])) if isinstance(limit, list) else limit
        given = as_mapping(setup.get("task_args")).items()
        arguments = ", ".join(f"{as_word(key)}={json.dumps(value)}" for key, value in given)
        steps = map(as_mapping, as_list(as_mapping(self.header.get("plan")).get("steps")))
        # Scorers, and the model of those that ask one: given to them, or to the role of the grader.
        bound = as_mapping(setup.get("model_roles")).get("grader")
        models = (
            as_word(as_mapping(part).get("model")) for part in (bound if isinstance(bound, list) else [bound])
        )
        role = " and ".join(filter(None, models))
        graders = []
        for scorer in map(as_mapping, as_list(setup.get("scorers"))):
            name, model = as_word(scorer.get("name")), as_word(as_mapping(scorer.get("options")).get("model"))
            model = model or (role if name.startswith("model_graded") else "")
            graders += [f"{name} by {model}" if model else name] if name else []
        return scores.build_protocol(
            {
                "samples": self.epochs,
                **{key: generation.get(key) for key in ("temperature", "top_p", "max_tokens")},
                "harness": "Inspect",
                "version": as_mapping(setup.get("packages")).get("inspect_ai"),
                "grader": ", ".join(graders),
                "date": as_word(setup.get("created"))[:_DAY],
                "task version": setup.get("task_version"),
                "task arguments": as_answer(arguments),
                "dataset": as_mapping(setup.get("dataset")).get("name"),
                "solver": ", ".join(filter(None, (as_word(step.get("solver")) for step in steps))),
                "limit": limit,
                "reducer": ", ".join(map(as_word, reducer)) if isinstance(reducer, list) else reducer,
            }
        )

    def report_outcome(self, answers: Sequence[ScoredAnswer]) -> Iterator[str]:
        """How the evaluation ended, and whether all samples are there."""
        if ended := _OUTCOMES.get(as_word(self.header.get("status"))):
            error = shorten_cell(as_mapping(self.header.get("error")).get("message"), _LONGEST_ERROR)
            nevertheless = ", and has scores nevertheless" if self.results.get("scores") else ""
            yield f"{ended}{nevertheless}{f': {error}' if error else ''}"
        if self.header.get("invalidated") is True:
            yield "the log is marked as invalid"
        dataset = as_mapping(self.setup.get("dataset"))
        limit = scores.parse_count(as_mapping(self.setup.get("config")).get("limit"))
        limited_to = len(as_list(dataset.get("sample_ids"))) or limit
        for message in scores.warn_limit(
            limited_to, scores.parse_count(dataset.get("samples")), what="sample"
        ):
            yield f"{message} of the dataset"
        problems = len({answer.problem for answer in answers})
        if limited_to and 0 < problems < limited_to:
            yield f"answers to {problems:,} of {format_count(limited_to, 'sample')} are there"
        completed, total = (
            scores.parse_count(self.results.get(key)) for key in ("completed_samples", "total_samples")
        )
        if total and not answers and (completed or 0) < total:
            yield f"{completed or 0:,} of {format_count(total, 'sample')} count in the scores"


def _read_json_log(path: Path) -> _Log:
    # A transcript is thousands of times as long as what is used of a sample.
    document, findings = read_json_object(
        path, lambda value: _strip_sample(value) if value.keys() >= _SAMPLE_HAS else value
    )
    if not isinstance(document.get("eval"), dict):
        raise UnreadableError(path, 'there is no object "eval" in the file', "Check that Inspect wrote it")
    reduced = as_mapping(document.get("results")).get("sample_reductions")
    return _Log(
        path,
        {key: value for key, value in document.items() if key != "samples"},
        [_strip_sample(sample) for sample in as_list(document.get("samples"))],
        as_list(document.get("reductions")) or as_list(reduced),
        findings,
    )


def _read_archive(path: Path) -> _Log:
    start, reductions = "_journal/start.json", "reductions.json"
    with open_archive(path) as archive:
        if "header.json" in archive.names:
            header = _read_member(archive, "header.json")
        elif start in archive.names:
            header = {**as_mapping(_read_member(archive, start)), "status": "started"}
        else:
            raise UnreadableError(path, "the archive has no header.json", "Check that Inspect wrote it")
        if not isinstance(as_mapping(header).get("eval"), dict):
            message = 'there is no object "eval" in the header of the log'
            raise UnreadableError(path, message, "Check that Inspect wrote it")
        members = sorted(
            (int(match[1]), name) for name in archive.names if (match := _SUMMARIES.fullmatch(name))
        )
        if "summaries.json" in archive.names:
            samples = as_list(_read_member(archive, "summaries.json"))
        elif members:
            parts = [as_mapping(part) for _, name in members for part in as_list(_read_member(archive, name))]
            # A sample that was tried again stands there again, and counts as it was last.
            latest = {(as_word(part.get("id")), as_word(part.get("epoch"))): part for part in parts}
            samples = [*latest.values()]
        else:
            names = sorted(name for name in archive.names if _SAMPLE.fullmatch(name))
            samples = [_strip_sample(_read_member(archive, name)) for name in names]
        reduced = as_list(_read_member(archive, reductions)) if reductions in archive.names else []
        messages = []
        if archive.torn:
            whole = format_count(archive.torn, "whole member is", "whole members are")
            messages = [f"the archive is torn or damaged, and its list of members lost: {whole} read"]
        return _Log(path, header, samples, reduced, tuple(scores.make_findings(path, messages)))


def _strip_sample(sample: object) -> dict[str, Any]:
    return {key: value for key, value in as_mapping(sample).items() if key in _USED}


def _read_member(archive: Archive, name: str) -> Any:  # noqa: ANN401 - JSON can be anything
    text = Decoder(archive.path).decode(archive.read(name))
    return parse_json(archive.path, text, f"{name} in the archive")


def _build_evaluation(
    log: _Log, attempts: Sequence[tuple[_Rank, Path]], selected: Collection[str] | None
) -> Evaluation:
    setup, messages = log.setup, _report_retries(log, attempts)
    answers, irregular = build_answers(log.samples, as_word(setup.get("model")))
    reduced = []
    if not answers and log.reductions:
        answers = build_reduced_answers(log.reductions)
        if answers and log.epochs > 1:
            reduced = ["the answers of each epoch are not kept; a score for each problem is read"]
    graded, strange = build_scores(log.results, log.epochs)
    if selected is not None:
        answers = tuple(answer for answer in answers if answer.metric in selected)
        graded = [score for score in graded if {score.label, score.total.metric} & set(selected)]
    means = {score.label: score.total for score in graded if score.is_mean}
    checks = scores.check_totals(answers, [*means.items()], repeats=log.epochs, partial=True, what="samples")
    outcome = (*reduced, *log.report_outcome(answers), *irregular, *strange)
    seed, created = log.generation.get("seed"), as_word(setup.get("created"))
    return Evaluation(
        path=log.path,
        model=as_word(setup.get("model")),
        benchmark=as_word(setup.get("task")) or log.path.stem,
        # Tasks that run side by side may begin in the same second.
        run=f"{created} {as_word(setup.get('task_id'))[:6]}".strip(),
        seed=None if isinstance(seed, bool) else as_word(seed) or None,
        protocol=log.protocol,
        answers=answers,
        totals=tuple(score.total for score in graded),
        finished=log.header.get("status") == "success",
        findings=(
            *scores.make_findings(log.path, messages),
            *log.findings,
            *scores.make_findings(log.path, (*outcome, *checks, *scores.warn_equal_answers(answers))),
        ),
    )


def _report_retries(log: _Log, attempts: Sequence[tuple[_Rank, Path]]) -> Iterator[str]:
    """A retry writes a new log, which has what was finished before; one that is not graded is no better."""
    if others := [(rank, path) for rank, path in attempts if path != log.path]:
        which = "newest that ended well" if log.rank.ended else "newest"
        if any(log.rank[1:] < rank[1:] for rank, _ in others):
            which = f"{which} of those with scores"
        names = scores.list_shortened(path.name for _, path in others)
        yield f"the task has {len(attempts)} logs: the {which} is read, and left out are {names}"
