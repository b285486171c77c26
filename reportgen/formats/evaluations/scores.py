"""Scores, totals, protocols and slices of harnesses, and checks of whether they are possible.

Scores are numbers, truth values, and marks such as C and I. A protocol has the keys of a
source's ``protocol:`` where they fit, with the meaning of ``settings.source.Protocol``; other keys are terms
of the field: ``task version``, ``few-shot``, ``limit``, ``dataset``, ``split``. ``SUBTASKS`` is present only
if scores are means over other benchmarks, which are its value: such a benchmark is a group without problems
of its own. Checks yield messages; ``make_findings`` adds their location.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from reportgen.core.score_names import names_no_score
from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.files import get_stem
from reportgen.formats.json_files import as_mapping, as_word, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Total, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.score_names import Status
    from reportgen.formats.runs import Evaluation, ScoredAnswer


# The marks of Inspect's scorers (inspect_ai, scorer/_metric.py: value_to_float), and those of others.
_MARKS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("C", "c", "yes", "true", "correct", "right", "pass", "passed"), 1.0),
    **dict.fromkeys(("I", "i", "N", "n", "no", "false", "incorrect", "wrong", "fail", "failed"), 0.0),
    **dict.fromkeys(("P", "p"), 0.5),
}
_LONGEST_CELL: Final = 40
_MOST: Final = 1e12
_DAY: Final = len("2026-01-31")


def parse_score(cell: object) -> float | None:
    """Parse the score of one answer; return None if it is not a finite number or a mark."""
    value = parse_number(cell)
    if value is None and isinstance(cell, str):
        mark = cell.strip()
        value = _MARKS.get(mark, _MARKS.get(mark.lower()))
    return value if value is not None and math.isfinite(value) else None


def parse_total(
    metric: str,
    cell: object,
    messages: list[str],
    stderr: object = None,
    *,
    n: int | None = None,
    better: object = None,
) -> Total | None:
    """Return a score of a whole benchmark, None if it is no number; add irregularities to ``messages``.

    ``better`` is whether higher is better, if it is a truth value. A standard error such as ``N/A`` is
    missing, which is not an irregularity.
    """
    value = parse_number(cell)
    if value is None or not math.isfinite(value):
        if cell not in (None, "", " "):
            shown = shorten_cell(cell, _LONGEST_CELL) or f"a {type(cell).__name__}"
            messages.append(f"{shorten_cell(metric)} is no number ({shown}): left out")
        return None
    error = parse_number(stderr)
    if error is not None and not (math.isfinite(error) and error >= 0):
        error = None
    return Total(metric, value, error, n, better if isinstance(better, bool) else None)


# After the name of a metric: Evalchemy writes the second.
_ERROR: Final = re.compile(r"(?P<stem>.*)_(?:stderr|std_err)(?P<filter>,.*)?", re.DOTALL)


def pair_errors(entry: Mapping[str, object]) -> dict[str, str | None]:
    """Return each metric of an object of scores with the key of its standard error, if it has one.

    An error is named after its metric, ``acc`` and ``acc_stderr``, or after what this is a mean of:
    ``accuracy_avg`` and ``accuracy_std_err``. A filter may follow a comma.
    """
    found = {key: match for key in entry if (match := _ERROR.fullmatch(key))}
    stems = {key: (match["stem"], match["filter"] or "") for key, match in found.items()}
    paired: dict[str, str | None] = {key: None for key in entry if key not in stems}
    for key, (stem, chosen) in stems.items():
        of_mean = [name for name in paired if name.startswith(f"{stem}_") and name.endswith(chosen)]
        if stem + chosen in paired or len(of_mean) == 1:
            paired[stem + chosen if stem + chosen in paired else of_mean[0]] = key
    return paired


def leave_out_counts(entry: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """Return an object of scores without counts and settings, and a message that names these, if any.

    These have no standard error where another value has one, even if that is N/A; without any, their names
    say so, as ``num_total`` does.
    """
    errors = pair_errors(entry)
    numbers = {key: value for key in errors if (value := parse_number(entry[key])) is not None}
    others = [
        key
        for key, value in numbers.items()
        if (not errors[key] if any(errors.values()) else names_no_score(key.partition(",")[0], value))
    ]
    what = "are counts or settings" if len(others) > 1 else "is a count or a setting"
    message = f"{join_names([*map(shorten_cell, others)])} {what} next to the scores, and left out"
    return {key: cell for key, cell in entry.items() if key not in others}, [message] if others else []


def read_totals(
    entry: Mapping[str, object],
    messages: list[str],
    *,
    n: int | None = None,
    better: Mapping[str, object] | None = None,
    label: Callable[[str], str] = as_word,
) -> Iterator[Total]:
    """Yield the scores in an object of a benchmark, with the standard errors beside them.

    ``better`` says by metric, without its filter, whether higher is better; see ``parse_total``.
    """
    ways = better or {}
    for key, error in pair_errors(entry).items():
        higher = ways.get(key, ways.get(key.partition(",")[0]))
        total = parse_total(label(key), entry[key], messages, entry.get(error or ""), n=n, better=higher)
        if total:
            yield total


def parse_count(cell: object) -> int | None:
    """Parse a count; return None if it is not a whole number between 1 and 1e12."""
    if type(cell) is int:
        return cell if 1 <= cell <= _MOST else None
    value = None if isinstance(cell, bool) else parse_number(cell)
    return int(value) if value is not None and 1 <= value <= _MOST and value.is_integer() else None


def get_inner(tree: object, *keys: str) -> Any:  # noqa: ANN401 - JSON can be anything
    """Return the value at a path of keys; None if there is none, or no object on the way."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def get_mapping(tree: object, *keys: str) -> dict[str, Any]:
    """Return the object at a path of keys; an empty one if there is none."""
    return as_mapping(get_inner(tree, *keys))


def list_words(cells: object, *keys: str) -> list[str]:
    """Return the words in a cell or list of cells, or at a path of keys in each."""
    several = cells if isinstance(cells, list) else [cells]
    return [word for cell in several if (word := as_word(get_inner(cell, *keys)))]


def find_word(*cells: object) -> str:
    """Return the first cell that is a word; empty if none is."""
    return next(filter(None, map(as_word, cells)), "")


def find_seed(*cells: object) -> str | None:
    """Return the first cell that can be a seed, as written."""
    return find_word(*(cell for cell in cells if not isinstance(cell, bool))) or None


SUBTASKS: Final = "subtasks"
FEW: Final = 3
"""Number of names that a message shows."""


def build_protocol(entries: Mapping[str, object]) -> dict[str, str]:
    """Return a protocol as texts, times as days, without missing or invalid values."""
    texts: dict[str, str] = {}
    for key, value in entries.items():
        if value is None:
            continue
        if key in {"samples", "max_tokens"}:
            texts[key] = str(parse_count(value) or "")
        elif key in {"temperature", "top_p"}:
            number = None if isinstance(value, bool) else parse_number(value)
            most = 1 if key == "top_p" else math.inf
            if number is not None and math.isfinite(number) and 0 <= number <= most and (number or most > 1):
                texts[key] = f"{number:g}"
        else:
            texts[key] = as_word(value)[: _DAY if key == "date" else None]
    return {key: text for key, text in texts.items() if text}


_DATE: Final = re.compile(r"_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")


def find_date(path: Path) -> str:
    """Return the date at the end of a file name, such as ``2026-01-31T12-00-00.5``; empty without one."""
    match = _DATE.search(get_stem(path))
    return match["date"] if match else ""


def strip_date(path: Path) -> str:
    """Return a file name without its date and suffix."""
    return _DATE.sub("", get_stem(path))


def make_findings(
    path: Path, messages: Iterable[str], task: str = "", confirmed_by: str = ""
) -> Iterator[Diagnostic]:
    """Yield messages as findings in a file, prefixed by their task; see ``warn`` for ``confirmed_by``."""
    for message in messages:
        yield warn(path, f"{shorten_cell(task)}: {message}" if task else message, None, confirmed_by)


def add_to_first(evaluations: Iterable[Evaluation], findings: Iterable[Diagnostic]) -> Iterator[Evaluation]:
    """Yield evaluations, adding ``findings`` to the first."""
    for evaluation in evaluations:
        added = (*findings, *evaluation.findings)
        yield replace(evaluation, findings=added) if findings else evaluation
        findings = ()


def list_shortened(names: Iterable[str]) -> str:
    """Return the first names of several for a message."""
    return join_names([shorten_cell(name) for name in names], most=FEW)


def warn_limit(limit: int | None, all_: int | None, *, what: str = "problem") -> Iterator[str]:
    """Warn that a limit left problems out."""
    if limit and all_ and limit < all_:
        yield f"the limit leaves {limit:,} of {format_count(all_, what)}"


def warn_no_scores(counts: Mapping[str, int], where: str = "in") -> Iterator[str]:
    """Warn of cells that are not scores, with their metrics."""
    if counts:
        cells = format_count(sum(counts.values()), "value that is no score", "values that are no scores")
        yield f"{cells} {where} {list_shortened(counts)}: left out"


# Statuses by the limit that stopped a sample of Inspect; others are limits of tokens, messages or cost.
_LIMITS: Final[Mapping[str, Status]] = {"time": "timed out", "working": "timed out", "operator": "not run"}


def find_status(sample: Mapping[str, Any]) -> Status | None:
    """Return why a sample of Inspect without a score has none; an error is that of a sandbox or network."""
    if sample.get("error"):
        return "infrastructure"
    # An object in samples, and a word in summaries.
    limit = as_word(get_inner(sample.get("limit"), "type") or sample.get("limit"))
    return _LIMITS.get(limit, "truncated") if limit else None


# Metrics that count right answers; each answer is right or wrong, unless a standard error shows otherwise.
_ACCURACY_METRICS: Final = frozenset(
    (
        *("acc", "accuracy", "acc_norm", "em", "exact_match", "quasi_exact_match", "prefix_exact_match"),
        *("quasi_prefix_exact_match", "extractive_match", "pass@1", "correct"),
    )
)
_HUNDRED: Final = 100.0
_ROUNDING: Final = 1e-6


def is_accuracy(metric: str) -> bool:
    """Return whether a metric is known to count right answers: ``acc``, ``exact_match (strict)``."""
    return metric.partition(" (")[0].partition("@5")[0].lower() in _ACCURACY_METRICS


def check_totals(
    answers: Sequence[ScoredAnswer],
    totals: Mapping[str, Total],
    *,
    repeats: int = 1,
    partial: bool = False,
    what: str = "answers",
) -> Iterator[str]:
    """Yield the messages of ``compare_means`` and, without answers, of ``check_accuracy`` for each total."""
    if answers:
        yield from compare_means(answers, totals, what)
        return
    for total in totals.values():
        yield from check_accuracy(total, repeats=repeats, partial=partial)


def check_accuracy(total: Total, *, repeats: int = 1, partial: bool = False) -> Iterator[str]:
    """Check that a share of right answers, as a fraction or in percent, is that of a whole number.

    Each problem has ``repeats`` answers, and with ``partial`` an answer may be half right. Metrics that do
    not count right answers pass.
    """
    if not is_accuracy(total.metric):
        return
    if not 0 <= total.value <= _HUNDRED:
        value = written(total.value)
        yield f"{shorten_cell(total.metric)} is {value}, and a share of right answers lies between 0 and 1"
        return
    if total.n is None:
        return
    unit = _HUNDRED if total.value > 1 else 1.0
    answers = total.n * repeats * (2 if partial else 1)
    right = total.value / unit * answers
    # A value may be rounded to the digits that are written.
    exponent = int(Decimal(repr(total.value)).as_tuple().exponent)
    tolerance = (0.5 * 10.0**exponent / unit + _ROUNDING) * answers
    if abs(right - round(right)) > tolerance and not _is_graded(total, unit):
        value, nearest = (written(one, significant=6) for one in (total.value, round(right) / answers * unit))
        yield (
            f"{shorten_cell(total.metric)} is {value}, which no whole number of right answers out of "
            f"{answers:,} gives; the nearest is {nearest}"
        )


def _is_graded(total: Total, unit: float) -> bool:
    """Return whether a standard error is not that of right or wrong answers: scores lie between 0 and 1."""
    if total.stderr is None or not total.n or total.n <= 1:
        return False
    share, spread = min(total.value / unit, 1.0), total.stderr / unit
    deviations = (math.sqrt(share * (1 - share) / n) for n in (total.n, total.n - 1))
    return not any(math.isclose(spread, one, rel_tol=0.02, abs_tol=1e-9) for one in deviations)


def compare_means(
    answers: Sequence[ScoredAnswer], totals: Mapping[str, Total], what: str = "answers"
) -> Iterator[str]:
    """Yield totals that are not the mean of their answers, and answers that no total counts.

    The answers are of one benchmark, and called ``what``; totals are keyed by the metric of their answers.
    """
    by_metric: dict[str, list[ScoredAnswer]] = defaultdict(list)
    for answer in answers:
        by_metric[answer.metric].append(answer)
    for metric, total in totals.items():
        own = by_metric.get(metric, [])
        scored = sum(answer.score is not None for answer in own)
        name, mean = shorten_cell(total.metric), find_other_mean(own, total, metric)
        if mean is not None:
            said, actual = (written(one, significant=6) for one in (total.value, mean))
            verbs = ("give", "gives") if is_accuracy(total.metric) else ("have the mean", "has the mean")
            by = format_count(scored, what.removesuffix("s"))
            yield f"{name} is said to be {said}, and its {by} {verbs[scored == 1]} {actual}"
        elif scored and (unscored := len(own) - scored):
            counts = "counts" if unscored == 1 else "count"
            failed = f"the {unscored:,} without a score {counts} neither as right nor as wrong"
            yield f"{name} is over {scored:,} of {len(own):,} {what}: {failed}"


def find_other_mean(answers: Iterable[ScoredAnswer], total: Total, metric: str) -> float | None:
    """Return the mean of the answers by a metric if it differs from a total, otherwise None.

    Harnesses average over answers or over problems, so that a total may be either.
    """
    scores: list[float] = []
    by_problem: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        if answer.metric == metric and answer.score is not None:
            scores.append(answer.score)
            by_problem[answer.problem].append(answer.score)
    if not scores:
        return None
    # A sum of large scores may be beyond a double, unlike their mean.
    mean = sum(score / len(scores) for score in scores)
    by_problem_count = len(by_problem)
    over_problems = sum(
        sum(score / len(own) for score in own) / by_problem_count for own in by_problem.values()
    )
    is_mean = any(math.isclose(one, total.value, rel_tol=1e-4, abs_tol=1e-4) for one in (mean, over_problems))
    return None if is_mean else mean


def warn_equal_answers(answers: Sequence[ScoredAnswer]) -> Iterator[str]:
    """Warn of answers graded wrong that equal the gold answer as numbers: ``16.00`` and ``16``."""
    equal = []
    for answer in answers:
        if answer.score == 0 and answer.answer and answer.gold:
            texts = (text.strip().rstrip(".").replace(",", "") for text in (answer.answer, answer.gold))
            mine, right = map(parse_number, texts)
            equal += [answer] if mine is not None and mine == right else []
    if equal:
        first, gold, problem = map(shorten_cell, (equal[0].answer, equal[0].gold, equal[0].problem))
        count = format_count(len(equal), "answer counts", "answers count")
        yield (
            f"{count} as wrong though equal to the gold answer as numbers, such as "
            f'"{first}" and "{gold}" for problem {problem}; they are left as scored'
        )
