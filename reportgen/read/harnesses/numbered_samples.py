"""Which answers are samples of one problem: by place, by name, or by a number behind a point."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.read.harnesses.documents import shorten_cell
from reportgen.read.logged import Finding
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.read.harnesses.answer_records import GradedAnswer
    from reportgen.read.logged import ScoredAnswer

_NUMBER: Final = re.compile(r"(?P<problem>\d+)(?:\.(?P<sample>\d+))?")
_FEW: Final = 3
_SEVERAL: Final = 2


def number_samples(
    path: Path, graded: Sequence[GradedAnswer]
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """Answers whose problem and sample tell each from every other, and what had to be assumed for it.

    A list's samples are numbered by place. Where a problem stands in several records, these are its samples,
    in the order of writing unless they say which; where problems are numbered as 1, 1.1, 1.2, the number
    behind the point is the sample's. That is so if every problem is a number with one answer, some have a
    point, most numbers before it stand at least twice, and the gold answer is the same for all of one:
    sections of a book are numbered alike, and are different problems.
    """
    decimal = _is_decimal(graded)
    findings: list[Finding] = []
    taken: dict[tuple[str, str], int] = defaultdict(int)
    answers = []
    repeated: set[str] = set()
    for one in graded:
        problem, sample = one.answered.problem, one.sample_name
        if decimal and (found := _NUMBER.fullmatch(problem)):
            problem, sample = found["problem"], found["sample"] or "0"
        elif not sample:
            sample = str(one.place)
        elif one.place:
            sample = f"{sample}.{one.place}"
        taken[problem, sample] += 1
        if taken[problem, sample] > 1:
            repeated.add(problem)
            # 1.10 is written as 1.1 by a program that takes it for a number.
            sample = f"{sample} ({taken[problem, sample]})"
        answers.append(replace(one.answered, problem=problem, sample=sample))
    if decimal:
        findings.append(_report_decimal(path, answers, [one.answered.problem for one in graded]))
    elif repeated:
        message = (
            f"{format_count(len(repeated), 'problem stands', 'problems stand')} in several records, such as"
        )
        names = join_names([shorten_cell(one) for one in sorted(repeated)], most=_FEW)
        findings.append(Finding(path, f"{message} {names}: they are read as its samples"))
    return tuple(answers), tuple(findings)


def _is_decimal(graded: Sequence[GradedAnswer]) -> bool:
    counts: dict[str, int] = defaultdict(int)
    golds: dict[str, set[str]] = defaultdict(set)
    points = False
    for one in graded:
        found = _NUMBER.fullmatch(one.answered.problem)
        if found is None or one.place:
            return False
        points = points or found["sample"] is not None
        counts[found["problem"]] += 1
        if one.answered.gold is not None:
            golds[found["problem"]].add(one.answered.gold)
    several = sum(count >= _SEVERAL for count in counts.values())
    return points and several * 2 > len(counts) and all(len(every) == 1 for every in golds.values())


def _report_decimal(path: Path, answers: Sequence[ScoredAnswer], written: Sequence[str]) -> Finding:
    counts: dict[str, int] = defaultdict(int)
    for answer in answers:
        counts[answer.problem] += 1
    fewest, most = min(counts.values()), max(counts.values())
    samples = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    message = (
        f"the number behind the point in {join_names(list(dict.fromkeys(written))[:_FEW])} is read as the"
    )
    total = f"{format_count(len(counts), 'problem')} with {samples} samples, not {format_count(len(answers), 'problem')}"
    return Finding(path, f"{message} sample's: {total}")
