"""Answers and scores in an Inspect log: a sample an epoch, and for each scorer metrics and their errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations.scores import (
    FEW,
    find_slices,
    parse_count,
    parse_score,
    parse_total,
    warn_no_scores,
)
from reportgen.formats.json_files import as_answer, as_list, as_mapping, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import ScoredAnswer, Total

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


# Metrics that say how sure or how wide another is.
_ERRORS: Final = ("stderr", "bootstrap_stderr")
_SPREADS: Final = frozenset((*_ERRORS, "std", "var"))
# Metrics that a standard error in the same entry is of.
_MEANS: Final = frozenset(("accuracy", "mean"))


class TaskScore(NamedTuple):
    """A score of a whole task."""

    label: str  # what answers call the scorer: match, judge/style
    total: Total
    is_mean: bool  # whether it is the mean of the answers' scores


def _label_score(name: str, scorer: str) -> str:
    """A scorer, with the key of its value where that has several: ``match``, ``judge/style``."""
    return name if name == scorer or not scorer else f"{scorer}/{name}"


def build_scores(results: Mapping[str, Any], epochs: int) -> tuple[list[TaskScore], list[str]]:
    """Every metric of the ``results`` that is no spread, in the order of the log, and what was irregular."""
    entries = results.get("scores")
    if not isinstance(entries, list):  # logs of 2024 have one scorer, and its metrics next to it
        entries = [results] if "metrics" in results else []
    completed = parse_count(results.get("completed_samples"))
    problems = completed // epochs if completed and completed % epochs == 0 else None
    scores, messages = list[TaskScore](), list[str]()
    for entry in map(as_mapping, entries):
        scores += _build_entry(entry, problems, messages)
    return scores, messages


def _build_entry(entry: Mapping[str, Any], problems: int | None, messages: list[str]) -> Iterator[TaskScore]:
    scorer = as_word(as_mapping(entry.get("scorer")).get("name")) or as_word(entry.get("scorer"))
    label = _label_score(as_word(entry.get("name")) or scorer, scorer)
    reducer = as_word(entry.get("reducer"))
    where = f"{label}, {reducer}" if reducer else label
    metrics = as_mapping(entry.get("metrics"))
    # How each standard error was made, and itself: those over all samples first.
    errors: list[tuple[str, float]] = []
    for key, metric in metrics.items():
        parts = as_mapping(metric)
        name, value = _strip_package(parts.get("name")) or key, parse_number(parts.get("value"))
        if name in _ERRORS and value is not None and value >= 0:
            options = as_mapping(parts.get("params")) or as_mapping(parts.get("options"))
            cluster = as_word(options.get("cluster"))
            errors.append((f"clustered by {cluster}" if cluster else "", value))
    errors.sort(key=lambda error: bool(error[0]))
    if len(errors) > 1:
        listed = ", ".join(f"{written(value, significant=3)} {how}".strip() for how, value in errors)
        messages.append(
            f"{shorten_cell(where)} has {len(errors)} standard errors ({listed}): the first is taken"
        )
    for key, metric in metrics.items():
        name = _strip_package(as_mapping(metric).get("name")) or key
        if name in _SPREADS:
            continue
        mean = name in _MEANS
        total, irregular = parse_total(
            f"{as_word(key)} ({where})" if where else as_word(key),
            as_mapping(metric).get("value") if isinstance(metric, dict) else metric,
            errors[0][1] if mean and errors else None,
            n=parse_count(entry.get("scored_samples")) or problems,
        )
        messages += irregular
        if total:
            yield TaskScore(label, total, mean and reducer in {"", "mean"})


def _strip_package(name: object) -> str:
    """``inspect_ai/accuracy`` as ``accuracy``."""
    return as_word(name).rpartition("/")[2]


def build_answers(samples: Sequence[Any], model: str) -> tuple[tuple[ScoredAnswer, ...], list[str]]:
    """Every answer by every scorer, and what was irregular; an answer that failed has no score.

    ``samples`` are summaries or samples in the order of writing; only tokens of the ``model`` are counted.
    """
    valid = [sample for sample in samples if isinstance(sample, dict)]
    # An id is shared by the epochs of its own sample alone.
    metadata = {as_word(sample.get("id")): as_mapping(sample.get("metadata")) for sample in valid}
    slices = dict(zip(metadata, find_slices([*metadata.values()]), strict=True))
    scored: list[dict[str, tuple[Any, Any]]] = []
    for sample in valid:
        by_scorer = sample.get("scores")
        if not isinstance(by_scorer, dict):  # logs of 2024 have one scorer, without a name here
            by_scorer = {"": sample["score"]} if isinstance(sample.get("score"), dict) else {}
        scored.append(
            {
                label: (value, as_mapping(score).get("answer"))
                for scorer, score in by_scorer.items()
                for label, value in _iterate_values(as_word(scorer), as_mapping(score).get("value"))
            }
        )
    labels = list(dict.fromkeys(label for scores in scored for label in scores)) or [""]
    strange: Counter[str] = Counter()
    answers = []
    for sample, scores in zip(valid, scored, strict=True):
        problem, epoch, gold = as_word(sample.get("id")), as_word(sample.get("epoch")), sample.get("target")
        # Time without waiting for others, where it is known.
        times = (parse_number(sample.get(key)) for key in ("working_time", "total_time"))
        seconds = next((time for time in times if time is not None), None)
        # Graders have an entry of their own.
        usage = as_mapping(sample.get("model_usage"))
        own = usage.get(model) or (next(iter(usage.values())) if len(usage) == 1 else None)
        tokens = parse_number(as_mapping(own).get("output_tokens"))
        answered = ScoredAnswer(problem, None, epoch, gold=as_answer(gold), slices=slices[problem])
        answered = replace(answered, tokens=tokens, seconds=seconds)
        for label in labels:
            value, answer = scores.get(label, (None, None))
            score = parse_score(value)
            strange[label] += score is None and value is not None and parse_number(value) is None
            answers.append(replace(answered, score=score, metric=label, answer=as_answer(answer)))
    return tuple(answers), list(_list_messages(valid, strange, len(samples) - len(valid)))


def has_scores(samples: Sequence[Any]) -> bool:
    """Whether any sample has a score."""
    return any(one.get("scores") or one.get("score") for one in map(as_mapping, samples))


def build_reduced_answers(reductions: Sequence[Any]) -> tuple[ScoredAnswer, ...]:
    """A score a problem, where the log has no samples: those of means, or of the only epoch."""
    answers = []
    for reduction in map(as_mapping, reductions):
        if as_word(reduction.get("reducer")) not in {"", "mean"}:
            continue
        scorer = as_word(reduction.get("scorer"))
        for sample in map(as_mapping, as_list(reduction.get("samples"))):
            for label, value in _iterate_values(scorer, sample.get("value")):
                problem, answer = as_word(sample.get("sample_id")), as_answer(sample.get("answer"))
                answers.append(ScoredAnswer(problem, parse_score(value), metric=label, answer=answer))
    return tuple(answers)


def _list_messages(samples: Sequence[Mapping[str, Any]], strange: Counter[str], lost: int) -> Iterator[str]:
    if errors := [error for sample in samples if (error := sample.get("error"))]:
        first = errors[0].get("message") if isinstance(errors[0], dict) else errors[0]
        yield f"{format_count(len(errors), 'sample')} failed, such as by {shorten_cell(first)}"
    if samples and not has_scores(samples):
        yield f"{format_count(len(samples), 'sample has', 'samples have')} no score: not yet graded"
    # The limit that stopped a sample is an object in samples, and a word in summaries.
    stops = (as_mapping(said).get("type") or said for said in (sample.get("limit") for sample in samples))
    if limits := [limit for limit in map(shorten_cell, stops) if limit]:
        which = join_names(list(dict.fromkeys(limits)), most=FEW)
        stopped = format_count(len(limits), "sample was", "samples were")
        count = "counts as it was scored" if len(limits) == 1 else "count as they were scored"
        yield f"{stopped} stopped by a limit ({which}) and {count}"
    yield from warn_no_scores(+strange, "by")
    if lost:
        yield f"{format_count(lost, 'sample that is no object', 'samples that are no objects')}: left out"


def _iterate_values(scorer: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((_label_score(as_word(key), scorer), one) for key, one in value.items())
    else:
        yield scorer, value
