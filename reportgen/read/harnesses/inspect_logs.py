"""Logs of Inspect: ``.eval`` archives and JSON files.

Schema: repository UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` (EvalLog and its parts).
An archive has ``header.json`` (everything but the samples), ``summaries.json`` (the samples without their
transcripts), ``reductions.json`` (a score a problem) and ``samples/ID_epoch_N.json``; a log whose program
was killed has only ``_journal/start.json`` and ``_journal/summaries/N.json``. Members are packed with
deflate, and since 2026 with Zstandard. A JSON file is one EvalLog with its samples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.archive import Archive, opened
from reportgen.read.harnesses.checking import disagreement, impossible, spelled_alike
from reportgen.read.harnesses.documents import head_text, json_object, mapping, parsed, told, word
from reportgen.read.harnesses.inspect_protocol import epochs_of, protocol_of_log, seed_of
from reportgen.read.harnesses.inspect_samples import answers_of, answers_of_reductions
from reportgen.read.harnesses.inspect_scores import Scored, scores_of
from reportgen.read.harnesses.scoring import count_of
from reportgen.read.logged import Answered, Evaluated, Finding, Unit, UnreadableError
from reportgen.read.loggers.text_file import Decoding
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

NAME: Final = "inspect"
TITLE: Final = "logs of Inspect"

_ARCHIVES: Final = ("PK\x03\x04", "PK\x05\x06", "version https://git-lfs")
_STATUS: Final = re.compile(r'"status"\s*:\s*"(?:started|success|cancelled|error)"')
_EVAL: Final = re.compile(r'"eval"\s*:\s*\{')
_SUMMARIES: Final = re.compile(r"_journal/summaries/(\d+)\.json")
_SAMPLE: Final = re.compile(r"samples/[^/]+\.json")
_USED: Final = frozenset(
    (
        *("id", "epoch", "target", "metadata", "scores", "score", "model_usage", "error"),
        *("total_time", "working_time"),
    )
)
_LONGEST_ERROR: Final = 120
_OUTCOMES: Final = {
    "cancelled": "the evaluation was cancelled",
    "error": "the evaluation failed",
    "started": "the evaluation is still running or was killed",
}


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each log by itself."""
    return tuple(Unit(NAME, path, (path,)) for path in files if _is_log(path))


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Evaluated]:
    """The one evaluation of a log.

    Args:
        unit: a log.
        wanted: only these scorers, by the names that answers have, or their metrics.

    Raises:
        UnreadableError: it is no log, damaged, or beyond a limit.
    """
    for path in unit.files:
        log = _archived(path) if head_text(path).startswith(_ARCHIVES) else _written(path)
        yield _evaluated(log, wanted)


@dataclass(frozen=True, slots=True)
class _Log:
    """A log: everything but its samples, its samples, and its scores a problem."""

    path: Path
    header: Mapping[str, Any]
    samples: Sequence[Any]
    reductions: Sequence[Any]
    findings: tuple[Finding, ...] = ()


def _evaluated(log: _Log, wanted: Collection[str] | None) -> Evaluated:
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


def _outcome(log: _Log, answers: Sequence[Answered]) -> Iterator[Finding]:
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


def _checked(log: _Log, answers: Sequence[Answered], scores: Sequence[Scored]) -> Iterator[Finding]:
    means = {one.label: one.total for one in scores if one.is_mean}
    if not answers:
        epochs = epochs_of(log.header)
        found = (impossible(log.path, total, repeats=epochs, partial=True) for total in means.values())
        yield from (finding for finding in found if finding)
    yield from disagreement(log.path, answers, means, "samples")
    yield from spelled_alike(log.path, answers)


def _written(path: Path) -> _Log:
    document, findings = json_object(path)
    if not isinstance(document.get("eval"), dict):
        raise UnreadableError(path, 'there is no object "eval" in the file', "Check that Inspect wrote it")
    results = mapping(document.get("results"))
    return _Log(
        path,
        {key: value for key, value in document.items() if key != "samples"},
        [_without_transcript(sample) for sample in _list(document.get("samples"))],
        _list(document.get("reductions")) or _list(results.get("sample_reductions")),
        findings,
    )


def _archived(path: Path) -> _Log:
    with opened(path) as archive:
        start = "_journal/start.json"
        if "header.json" in archive.names:
            header = _member(archive, "header.json")
        elif start in archive.names:
            header = {**mapping(_member(archive, start)), "status": "started"}
        else:
            raise UnreadableError(path, "the archive has no header.json", "Check that Inspect wrote it")
        if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
            message = 'there is no object "eval" in the header of the log'
            raise UnreadableError(path, message, "Check that Inspect wrote it")
        reductions = "reductions.json"
        return _Log(
            path,
            header,
            _samples(archive),
            _list(_member(archive, reductions)) if reductions in archive.names else [],
        )


def _samples(archive: Archive) -> list[Any]:
    """The summaries of all samples; the samples themselves only where there are none."""
    if "summaries.json" in archive.names:
        return _list(_member(archive, "summaries.json"))
    parts = sorted((int(found[1]), name) for name in archive.names if (found := _SUMMARIES.fullmatch(name)))
    if parts:
        return [one for _, name in parts for one in _list(_member(archive, name))]
    names = sorted(name for name in archive.names if _SAMPLE.fullmatch(name))
    return [_without_transcript(_member(archive, name)) for name in names]


def _without_transcript(sample: object) -> dict[str, Any]:
    """What is used of a sample; a transcript is thousands of times as long."""
    return {key: value for key, value in mapping(sample).items() if key in _USED}


def _member(archive: Archive, name: str) -> Any:  # noqa: ANN401 - JSON can be anything
    text = Decoding(archive.path).text(archive.read(name))
    return parsed(archive.path, text, f"{name} in the archive")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return head_text(path).startswith(_ARCHIVES)
    if path.suffix != ".json":
        return False
    text = head_text(path)
    return _STATUS.search(text) is not None and _EVAL.search(text) is not None
