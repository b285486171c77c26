"""Answers in an Inspect log: a sample an epoch, with the scores of all scorers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import mapping, short_text, told, word
from reportgen.read.harnesses.inspect_scores import label_of
from reportgen.read.harnesses.scoring import score_of
from reportgen.read.harnesses.slices import slices_of
from reportgen.read.logged import Answered, Finding
from reportgen.read.loggers.growing import number
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_FEW: Final = 3


def answers_of(
    path: Path, samples: Sequence[Any], model: str
) -> tuple[tuple[Answered, ...], tuple[Finding, ...]]:
    """Every answer by every scorer; one that failed has no score.

    Args:
        path: the log, for findings.
        samples: summaries or samples, in the order of writing.
        model: what was evaluated, whose tokens are counted.
    """
    kept = [sample for sample in samples if isinstance(sample, dict)]
    # An id is shared by the epochs of its own sample alone.
    said = {word(sample.get("id")): mapping(sample.get("metadata")) for sample in kept}
    grouping = dict(zip(said, slices_of([*said.values()]), strict=True))
    scored = [dict(_scores(sample)) for sample in kept]
    labels = list(dict.fromkeys(label for scores in scored for label in scores)) or [""]
    strange: dict[str, int] = {}
    answers = []
    for sample, scores in zip(kept, scored, strict=True):
        problem, gold = word(sample.get("id")), short_text(sample.get("target"))
        tokens, seconds = _tokens(sample, model), _seconds(sample)
        for label in labels:
            value, answer = scores.get(label, (None, None))
            score = score_of(value)
            if score is None and value is not None and number(value) is None:
                strange[label] = strange.get(label, 0) + 1
            answers.append(
                Answered(
                    problem=problem,
                    score=score,
                    sample=word(sample.get("epoch")),
                    metric=label,
                    answer=short_text(answer),
                    gold=gold,
                    tokens=tokens,
                    seconds=seconds,
                    slices=grouping[problem],
                )
            )
    return tuple(answers), tuple(_findings(path, kept, strange, len(samples) - len(kept)))


def is_graded(samples: Sequence[Any]) -> bool:
    """Whether any sample has a score."""
    return any(one.get("scores") or one.get("score") for one in map(mapping, samples))


def answers_of_reductions(reductions: Sequence[Any]) -> tuple[Answered, ...]:
    """A score a problem, where the log has no samples: those of means, or of the only epoch."""
    answers = []
    for reduction in map(mapping, reductions):
        scorer, samples = word(reduction.get("scorer")), reduction.get("samples")
        if word(reduction.get("reducer")) not in {"", "mean"} or not isinstance(samples, list):
            continue
        for sample in map(mapping, samples):
            for label, value in _values(scorer, sample.get("value")):
                problem, answer = word(sample.get("sample_id")), short_text(sample.get("answer"))
                answers.append(Answered(problem, score_of(value), metric=label, answer=answer))
    return tuple(answers)


def _findings(
    path: Path, samples: Sequence[Mapping[str, Any]], strange: Mapping[str, int], lost: int
) -> Iterator[Finding]:
    errors = (sample.get("error") for sample in samples)
    failed = [told(error.get("message") if isinstance(error, dict) else error) for error in errors if error]
    if failed:
        message = f"{counted(len(failed), 'sample')} failed, such as by {failed[0]}"
        yield Finding(path, message)
    if samples and not is_graded(samples):
        yield Finding(path, f"{counted(len(samples), 'sample has', 'samples have')} no score: not yet graded")
    limits = [limit for sample in samples if (limit := _limit(sample.get("limit")))]
    if limits:
        which = listing(list(dict.fromkeys(limits)), most=_FEW)
        stopped = counted(len(limits), "sample was", "samples were")
        count = "counts as it was scored" if len(limits) == 1 else "count as they were scored"
        yield Finding(path, f"{stopped} stopped by a limit ({which}) and {count}")
    if strange:
        cells = counted(sum(strange.values()), "value that is no score", "values that are no scores")
        yield Finding(path, f"{cells} by {listing([told(label) for label in strange], most=_FEW)}: left out")
    if lost:
        yield Finding(
            path, f"{counted(lost, 'sample that is no object', 'samples that are no objects')}: left out"
        )


def _limit(said: object) -> str:
    """The kind of limit that stopped a sample: of samples an object, of summaries a word."""
    return told(mapping(said).get("type") if isinstance(said, dict) else said)


def _scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """For each scorer, or each key of its value, the value and the answer that it saw."""
    scores = sample.get("scores")
    if not isinstance(scores, dict):  # logs of 2024 have one scorer, without a name here
        scores = {"": sample["score"]} if isinstance(sample.get("score"), dict) else {}
    for scorer, score in scores.items():
        for label, value in _values(word(scorer), mapping(score).get("value")):
            yield label, (value, mapping(score).get("answer"))


def _values(scorer: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((label_of(word(key), scorer), one) for key, one in value.items())
    else:
        yield scorer, value


def _tokens(sample: Mapping[str, Any], model: str) -> float | None:
    """Tokens that the evaluated model gave; graders have an entry of their own."""
    usage = mapping(sample.get("model_usage"))
    own = usage.get(model) or (next(iter(usage.values())) if len(usage) == 1 else None)
    return number(mapping(own).get("output_tokens"))


def _seconds(sample: Mapping[str, Any]) -> float | None:
    """Time without waiting for others, where it is known."""
    times = (number(sample.get(key)) for key in ("working_time", "total_time"))
    return next((time for time in times if time is not None), None)
