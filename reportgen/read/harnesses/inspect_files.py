"""Logs of Inspect as they lie on disk: ``.eval`` archives and JSON files.

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

from reportgen.read.harnesses.archive import Archive, open_archive
from reportgen.read.harnesses.documents import (
    as_mapping,
    as_word,
    parse_json,
    read_head_text,
    read_json_object,
)
from reportgen.read.logged import Finding, UnreadableError
from reportgen.read.loggers.text_file import Decoder
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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
