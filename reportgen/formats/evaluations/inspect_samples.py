"""Answers and scores in an Inspect log: a sample an epoch, and for each scorer metrics and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations.scores import find_slices, parse_count, parse_score, parse_total
from reportgen.formats.json_files import as_answer, as_mapping, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Finding, ScoredAnswer, Total

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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


_FEW: Final = 3


def build_answers(
    path: Path, samples: Sequence[Any], model: str
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """Every answer by every scorer; one that failed has no score.

    Args:
        path: the log, for findings.
        samples: summaries or samples, in the order of writing.
        model: what was evaluated, whose tokens are counted.
    """
    valid = [sample for sample in samples if isinstance(sample, dict)]
    # An id is shared by the epochs of its own sample alone.
    said = {as_word(sample.get("id")): as_mapping(sample.get("metadata")) for sample in valid}
    grouping = dict(zip(said, find_slices([*said.values()]), strict=True))
    scored = [dict(_iterate_scores(sample)) for sample in valid]
    labels = list(dict.fromkeys(label for scores in scored for label in scores)) or [""]
    strange: dict[str, int] = {}
    answers = []
    for sample, scores in zip(valid, scored, strict=True):
        problem, gold = as_word(sample.get("id")), as_answer(sample.get("target"))
        tokens, seconds = _count_tokens(sample, model), _find_seconds(sample)
        for label in labels:
            value, answer = scores.get(label, (None, None))
            score = parse_score(value)
            if score is None and value is not None and parse_number(value) is None:
                strange[label] = strange.get(label, 0) + 1
            answers.append(
                ScoredAnswer(
                    problem=problem,
                    score=score,
                    sample=as_word(sample.get("epoch")),
                    metric=label,
                    answer=as_answer(answer),
                    gold=gold,
                    tokens=tokens,
                    seconds=seconds,
                    slices=grouping[problem],
                )
            )
    return tuple(answers), tuple(_list_findings(path, valid, strange, len(samples) - len(valid)))


def has_scores(samples: Sequence[Any]) -> bool:
    """Whether any sample has a score."""
    return any(one.get("scores") or one.get("score") for one in map(as_mapping, samples))


def build_reduced_answers(reductions: Sequence[Any]) -> tuple[ScoredAnswer, ...]:
    """A score a problem, where the log has no samples: those of means, or of the only epoch."""
    answers = []
    for reduction in map(as_mapping, reductions):
        scorer, samples = as_word(reduction.get("scorer")), reduction.get("samples")
        if as_word(reduction.get("reducer")) not in {"", "mean"} or not isinstance(samples, list):
            continue
        for sample in map(as_mapping, samples):
            for label, value in _iterate_values(scorer, sample.get("value")):
                problem, answer = as_word(sample.get("sample_id")), as_answer(sample.get("answer"))
                answers.append(ScoredAnswer(problem, parse_score(value), metric=label, answer=answer))
    return tuple(answers)


def _list_findings(
    path: Path, samples: Sequence[Mapping[str, Any]], strange: Mapping[str, int], lost: int
) -> Iterator[Finding]:
    errors = (sample.get("error") for sample in samples)
    failed = [
        shorten_cell(error.get("message") if isinstance(error, dict) else error) for error in errors if error
    ]
    if failed:
        message = f"{format_count(len(failed), 'sample')} failed, such as by {failed[0]}"
        yield Finding(path, message)
    if samples and not has_scores(samples):
        yield Finding(
            path, f"{format_count(len(samples), 'sample has', 'samples have')} no score: not yet graded"
        )
    limits = [limit for sample in samples if (limit := _describe_limit(sample.get("limit")))]
    if limits:
        which = join_names(list(dict.fromkeys(limits)), most=_FEW)
        stopped = format_count(len(limits), "sample was", "samples were")
        count = "counts as it was scored" if len(limits) == 1 else "count as they were scored"
        yield Finding(path, f"{stopped} stopped by a limit ({which}) and {count}")
    if strange:
        cells = format_count(sum(strange.values()), "value that is no score", "values that are no scores")
        yield Finding(
            path, f"{cells} by {join_names([shorten_cell(label) for label in strange], most=_FEW)}: left out"
        )
    if lost:
        yield Finding(
            path, f"{format_count(lost, 'sample that is no object', 'samples that are no objects')}: left out"
        )


def _describe_limit(said: object) -> str:
    """The kind of limit that stopped a sample: of samples an object, of summaries a word."""
    return shorten_cell(as_mapping(said).get("type") if isinstance(said, dict) else said)


def _iterate_scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """For each scorer, or each key of its value, the value and the answer that it saw."""
    scores = sample.get("scores")
    if not isinstance(scores, dict):  # logs of 2024 have one scorer, without a name here
        scores = {"": sample["score"]} if isinstance(sample.get("score"), dict) else {}
    for scorer, score in scores.items():
        for label, value in _iterate_values(as_word(scorer), as_mapping(score).get("value")):
            yield label, (value, as_mapping(score).get("answer"))


def _iterate_values(scorer: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((label_score(as_word(key), scorer), one) for key, one in value.items())
    else:
        yield scorer, value


def _count_tokens(sample: Mapping[str, Any], model: str) -> float | None:
    """Tokens that the evaluated model gave; graders have an entry of their own."""
    usage = as_mapping(sample.get("model_usage"))
    own = usage.get(model) or (next(iter(usage.values())) if len(usage) == 1 else None)
    return parse_number(as_mapping(own).get("output_tokens"))


def _find_seconds(sample: Mapping[str, Any]) -> float | None:
    """Time without waiting for others, where it is known."""
    times = (parse_number(sample.get(key)) for key in ("working_time", "total_time"))
    return next((time for time in times if time is not None), None)
