"""The texts of scored samples: where each stands, and reading of as many problems at once as fit."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from reportgen.core.comparisons import Sample, SampleTexts, ScoresError
from reportgen.read.queries.points import LARGEST_FLOAT, Column, as_floats, as_names, as_texts
from reportgen.read.queries.problem_scores import to_integers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.comparisons import Outcomes


_SHOWN = ("prompt", "expected", "response", "answer", "explanation")


_LEAST_READ, _MOST_READS = 4_000_000, 8
"""Characters of texts that are read at once at least, and how often the data are read for them at most."""


class _Place(NamedTuple):
    """Where a scored sample stands: its first row, and the row that counts."""

    first: int
    row: int
    series: str
    run: str
    problem: str
    sample: str
    score: float
    size: int  # characters of its texts


def find_samples(outcomes: Outcomes) -> SampleTexts:
    """Find all scored samples, of each the last row; their texts are read by problem, and not yet.

    A right answer stands in for a missing expected text. Raises a ScoresError if there are no texts.
    """
    if not {"prompt", "response"} & outcomes.has:
        raise ScoresError(
            "samples: true, but the data have no prompts or answers as texts",
            "Logs of Inspect, samples of lm-eval, results of promptfoo and lists of answers have them; of "
            "a table name the columns in source.yml, as in columns: {prompt: NAME, response: NAME}",
        )
    shown = [name for name in (*_SHOWN, "gold") if name in outcomes.has]
    table = outcomes.frame.to_native().filter(f"score BETWEEN -{LARGEST_FLOAT} AND {LARGEST_FLOAT}")
    size = " + ".join(f"coalesce(length({name}), 0)" for name in shown)
    key = "series, run, problem, sample"
    with outcomes.reading():
        columns: Mapping[str, Column] = table.aggregate(
            f'{key}, min("row") AS first, max("row") AS last, arg_max(score, "row") AS score, '
            f'arg_max({size}, "row") AS size',
            key,
        ).fetchnumpy()
    names = (as_names(columns[name]) for name in ("series", "run", "problem", "sample"))
    first, last, size_of = (to_integers(columns[name]).tolist() for name in ("first", "last", "size"))
    places = list(map(_Place, first, last, *names, as_floats(columns["score"]).tolist(), size_of))
    runs = {(one.series, one.run) for one in places}
    several = Counter(series for series, _ in runs)
    by_problem: dict[str, list[_Place]] = defaultdict(list)
    for one in sorted(places):
        by_problem[one.problem].append(one)
    return SampleTexts(
        len(places),
        frozenset(series for series, count in several.items() if count > 1),
        partial(_read_texts, table, shown, by_problem),
    )


def _read_texts(
    table: Any,  # noqa: ANN401 - a relation of the database
    shown: Sequence[str],
    by_problem: Mapping[str, Sequence[_Place]],
    problems: Sequence[str],
) -> Iterator[tuple[Sample, ...]]:
    """Yield the samples of each problem, whose texts are read for as many problems at once as fit."""
    sizes = [sum(one.size for one in by_problem.get(problem, ())) for problem in problems]
    room, start = max(_LEAST_READ, sum(sizes) // _MOST_READS), 0
    while start < len(problems):
        end, filled = start + 1, sizes[start]
        while end < len(problems) and filled + sizes[end] <= room:
            filled, end = filled + sizes[end], end + 1
        parts = [by_problem.get(problem, ()) for problem in problems[start:end]]
        rows = ", ".join(str(one.row) for part in parts for one in part)
        found = table.filter(f'"row" IN ({rows})').project(f'"row", {", ".join(shown)}') if rows else None
        texts = _index_texts(found.fetchnumpy(), shown) if found else {}
        for part in parts:
            yield tuple(Sample(*one[2:7], *texts[one.row]) for one in part)
        start = end


def _index_texts(columns: Mapping[str, Column], shown: Sequence[str]) -> dict[int, tuple[str | None, ...]]:
    """Return the texts of samples by row, in the order of ``_SHOWN``."""
    rows = to_integers(columns["row"]).tolist()
    known = {name: as_texts(columns[name]) for name in shown}
    missing = [None] * len(rows)
    gold, expected = known.pop("gold", missing), known.get("expected", missing)
    known["expected"] = [one or right for one, right in zip(expected, gold, strict=True)]
    texts = (known.get(name, missing) for name in _SHOWN)
    return dict(zip(rows, zip(*texts, strict=True), strict=True))


def list_answers(outcomes: Outcomes, series: str) -> list[dict[str, Any]]:
    """List the scored answers of a series in the order of writing, without their texts.

    Each has ``run``, ``seed``, ``problem``, ``sample`` and ``score``.
    """
    names = ("run", "seed", "problem", "sample", "score")
    rows = outcomes.frame.filter(nw.col("series") == series, ~nw.col("score").is_null())
    with outcomes.reading():
        return [*rows.sort("row").select(*names).collect().iter_rows(named=True)]
