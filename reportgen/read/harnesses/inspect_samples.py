"""Answers in an Inspect log: a sample an epoch, with the scores of all scorers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import as_answer, as_mapping, as_word, shorten_cell
from reportgen.read.harnesses.inspect_scores import label_score
from reportgen.read.harnesses.scoring import parse_score
from reportgen.read.harnesses.slices import find_slices
from reportgen.read.logged import Finding, ScoredAnswer
from reportgen.read.loggers.growing import parse_number
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

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
