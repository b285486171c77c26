"""Answers that lighteval kept: a Parquet file a task, a row a problem.

Schema: repository huggingface/lighteval, ``src/lighteval/logging/info_loggers.py`` (DetailsLogger). Since
2025 a row has the columns ``doc`` (with ``id``, ``choices``, ``gold_index``), ``metric`` and
``model_response``; before, ``metrics`` and ``gold``, and no id: the problem is its row then. Scores stand by
metric; where a problem was answered several times, the score is what the metric made of all answers.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import duckdb

from reportgen.read import sql
from reportgen.read.engine import get_engine
from reportgen.read.harnesses.checking import compare_means
from reportgen.read.harnesses.documents import as_answer, as_mapping, as_word, shorten_cell
from reportgen.read.harnesses.scoring import parse_score
from reportgen.read.logged import Finding, ScoredAnswer
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.logged import Total

_SCORES: Final = ("metric", "metrics")
_ABOUT: Final = ("doc", "gold")
_ROWS_AT_ONCE: Final = 500
_FEW: Final = 3


def read_answers(
    path: Path, selected: Collection[str] | None
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """All answers of a file, by metric; none, with a finding, where it cannot be read.

    Args:
        path: the file.
        selected: only these metrics.
    """
    answers: list[ScoredAnswer] = []
    strange: Counter[str] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    try:
        for number, (scores, about) in enumerate(_read_rows(path)):
            problem, gold = as_word(about.get("id")) or str(number), as_answer(_find_gold(about))
            for metric, cell in scores.items():
                if selected is not None and metric not in selected:
                    continue
                score = parse_score(cell)
                strange[as_word(metric)] += score is None and cell is not None
                sample = str(rows[problem, metric])
                rows[problem, metric] += 1
                answers.append(ScoredAnswer(problem, score, sample, as_word(metric), gold=gold))
    except (duckdb.Error, ValueError, RecursionError):
        message = "the answers cannot be read, since the file is damaged or of another shape: left out"
        return (), (Finding(path, message),)
    # What has no score anywhere is made of the whole task, such as a perplexity.
    scored = {answer.metric for answer in answers if answer.score is not None}
    scored_answers = tuple(answer for answer in answers if answer.metric in scored)
    return scored_answers, tuple(_list_findings(path, scored_answers, +strange))


def compare_totals(
    path: Path, key: str, answers: Sequence[ScoredAnswer], totals: Sequence[Total]
) -> Iterator[Finding]:
    """Totals that are not the mean of their answers."""
    means = {total.metric: total for total in totals}
    for finding in compare_means(path, answers, means):
        yield Finding(path, f"{shorten_cell(key)}: {finding.message}")


def _read_rows(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The scores of each row, and what is said of its problem.

    Raises:
        duckdb.Error: it is no such file.
        ValueError: it has no scores.
    """
    reader = f"read_parquet({sql.quote_paths([path])})"
    columns = get_engine().open_cursor().sql(f"SELECT * FROM {reader}").columns  # noqa: S608 - quoted
    scores, about = (next((one for one in names if one in columns), None) for names in (_SCORES, _ABOUT))
    if scores is None:
        raise ValueError(columns)
    said = f"to_json({sql.quote_name(about)})" if about else "NULL"
    cursor = get_engine().open_cursor()
    cursor.execute(f"SELECT to_json({sql.quote_name(scores)}), {said} FROM {reader}")  # noqa: S608 - quoted
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        for first, second in rows:
            what = json.loads(second) if second else None
            yield (
                _parse_object(json.loads(first or "null")),
                what if isinstance(what, dict) else {"gold": what},
            )


def _parse_object(value: object) -> dict[str, Any]:
    """Scores as an object; older files hold them as a text of JSON."""
    return as_mapping(json.loads(value) if isinstance(value, str) else value)


def _find_gold(about: dict[str, Any]) -> object:
    """The right answer: as it stands, or the choice that is right; None where there are several."""
    if "gold" in about:
        return about["gold"]
    choices, places = about.get("choices"), about.get("gold_index")
    place = places[0] if isinstance(places, list) and len(places) == 1 else places
    if isinstance(place, bool) or not isinstance(place, int) or not isinstance(choices, list):
        return None
    return choices[place] if 0 <= place < len(choices) else None


def _list_findings(path: Path, answers: Sequence[ScoredAnswer], strange: Counter[str]) -> Iterator[Finding]:
    if strange:
        cells = format_count(sum(strange.values()), "value that is no score", "values that are no scores")
        yield Finding(
            path, f"{cells} in {join_names([shorten_cell(one) for one in strange], most=_FEW)}: left out"
        )
    repeated = len({one.problem for one in answers if one.sample == "1"})
    if repeated:
        message = f"{format_count(repeated, 'problem has', 'problems have')} several rows"
        yield Finding(path, f"{message}: they are read as its samples")
