"""The scores in the results of an Inspect log: for each scorer and reducer its metrics and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import as_mapping, as_word, shorten_cell
from reportgen.read.harnesses.scoring import parse_count, parse_total
from reportgen.read.logged import Finding, Total
from reportgen.read.loggers.growing import parse_number
from reportgen.words import format_number as written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# Metrics that say how sure or how wide another is.
_ERRORS: Final = ("stderr", "bootstrap_stderr")
_SPREADS: Final = frozenset((*_ERRORS, "std", "var"))
# Metrics that a standard error in the same entry is of.
_MEANS: Final = frozenset(("accuracy", "mean"))


@dataclass(frozen=True, slots=True)
class TaskScore:
    """A score of a whole task.

    Attributes:
        label: what answers call the scorer: ``match``, ``judge/style``.
        total: the score.
        is_mean: whether it is the mean of the answers' scores.
    """

    label: str
    total: Total
    is_mean: bool


def label_score(name: str, scorer: str) -> str:
    """A scorer, with the key of its value where that has several: ``match``, ``judge/style``."""
    return name if name == scorer or not scorer else f"{scorer}/{name}"


def build_scores(
    path: Path, results: Mapping[str, Any], epochs: int
) -> tuple[list[TaskScore], tuple[Finding, ...]]:
    """Every metric that is no spread, in the order of the log.

    Args:
        path: the log, for findings.
        results: the ``results`` of its header.
        epochs: how often each sample was answered.
    """
    scores: list[TaskScore] = []
    findings: list[Finding] = []
    entries = results.get("scores")
    if not isinstance(entries, list):  # logs of 2024 have one scorer, and its metrics beside it
        entries = [results] if "metrics" in results else []
    completed = parse_count(results.get("completed_samples"))
    problems = completed // epochs if completed and completed % epochs == 0 else None
    for entry in map(as_mapping, entries):
        _add_entry(path, entry, problems, scores, findings)
    return scores, tuple(findings)


def _add_entry(
    path: Path,
    entry: Mapping[str, Any],
    problems: int | None,
    scores: list[TaskScore],
    findings: list[Finding],
) -> None:
    scorer = entry.get("scorer")
    scorer = as_word(as_mapping(scorer).get("name")) if isinstance(scorer, dict) else as_word(scorer)
    label = label_score(as_word(entry.get("name")) or scorer, scorer)
    reducer = as_word(entry.get("reducer"))
    where = f"{label}, {reducer}" if reducer else label
    metrics = as_mapping(entry.get("metrics"))
    errors = list(_list_errors(metrics))
    if len(errors) > 1:
        said = ", ".join(
            f"{written(value, significant=3)}{f' {how}' if how else ''}" for how, value in errors
        )
        message = f"{shorten_cell(where)} has {len(errors)} standard errors ({said}): the first is taken"
        findings.append(Finding(path, message))
    for key, metric in metrics.items():
        name = _strip_package(as_mapping(metric).get("name")) or key
        if name in _SPREADS:
            continue
        mean = name in _MEANS
        total, finding = parse_total(
            path,
            f"{as_word(key)} ({where})" if where else as_word(key),
            as_mapping(metric).get("value") if isinstance(metric, dict) else metric,
            errors[0][1] if mean and errors else None,
            n=parse_count(entry.get("scored_samples")) or problems,
        )
        if finding:
            findings.append(finding)
        if total:
            scores.append(TaskScore(label, total, mean and reducer in {"", "mean"}))


def _list_errors(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """How each standard error was made, and itself: those over all samples first."""
    found = []
    for key, metric in metrics.items():
        name = _strip_package(as_mapping(metric).get("name")) or key
        value = parse_number(as_mapping(metric).get("value"))
        if name in _ERRORS and value is not None and value >= 0:
            said = as_mapping(as_mapping(metric).get("params")) or as_mapping(
                as_mapping(metric).get("options")
            )
            cluster = as_word(said.get("cluster"))
            found.append((f"clustered by {cluster}" if cluster else "", value))
    yield from sorted(found, key=lambda one: bool(one[0]))


def _strip_package(name: object) -> str:
    """``inspect_ai/accuracy`` as ``accuracy``."""
    return as_word(name).rpartition("/")[2]
