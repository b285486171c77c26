"""Runs that are copies of one log or of answers: equal in too many digits or words for a coincidence."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from reportgen.core.directions import guess_direction, has_better_direction
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.score_names import describes_model
from reportgen.core.words import format_count, join_names
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind, is_number
from reportgen.formats.sql import get_engine
from reportgen.read.check_repeats import make_keys
from reportgen.read.plan import Plan, build_statement
from reportgen.read.runs.summaries import count_digits
from reportgen.read.tables.distinguish import join_cells, list_free_columns
from reportgen.read.tables.rows import FILE_ROWS, resolve_filters
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import FloatArray
    from reportgen.read.runs.summaries import Run
    from reportgen.read.tables.distinguish import RowKeys
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.inputs import Source


_LONGEST: Final = 40
_FEWEST_DIGITS: Final = 6
"""Digits besides the first of each distinct value: by chance, one run in a million agrees in so many."""
_MOST_VALUES: Final = 64
_STRAIGHT: Final = 1e-6
# Words of each text besides the first ones, with which many answers begin.
_FIRST_WORDS: Final = 6
# Columns of texts that a model wrote, unlike prompts, which are the same in all runs.
_RESPONSE: Final = re.compile(
    r"(model_?|raw_?|full_?|llm_?)?(response|output|completion|generation|prediction)s?(_?text)?"
    r"|generated(_?text)?|resps",
    re.IGNORECASE,
)
# A metric increases if it does at every step, as a time.
_CONTENT_SQL: Final = """
WITH ordered AS (
    SELECT *, "row" // {file_rows} AS file, value - lag(value) OVER (
        PARTITION BY series, run, metric, "row" // {file_rows} ORDER BY step, "row") AS change
    FROM ({select})
)
SELECT series, run, any_value(seed) AS seed, file, metric, count(*) AS rows,
    sum(hash(step, value)) AS content, coalesce(bool_and(change > 0), false) AS increases
FROM ordered GROUP BY ALL ORDER BY min("row")
"""
_ANSWERS_SQL: Final = """
WITH answers AS (
    SELECT *, "row" // {file_rows} AS file, split_part(step, chr(31), 1) AS problem,
        row_number() OVER (PARTITION BY series, run, "row" // {file_rows}, part, step ORDER BY "row") AS nth
    FROM {cells}
)
"""
# Without a reason, samples of a problem are right in any order: one of so many.
_SAMPLES_SQL: Final = """
SELECT sum(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / ln(10) FROM (
    SELECT count(*) AS n, count_if(value = (SELECT max(value) FROM answers)) AS k FROM answers
    WHERE {named} GROUP BY part, problem
)
"""
_VALUES_SQL: Final = """
SELECT step, value FROM ({select})
WHERE series = $series AND run = $run AND metric = $metric AND "row" // {file_rows} = $file
"""


class _Part(NamedTuple):
    """The rows of one run in one file."""

    series: str
    run: str
    seed: str | None
    file: int


def report_copies(keys: RowKeys, source: Source, runs: Sequence[Run]) -> Sequence[Diagnostic]:
    """Return warnings of runs that are copies; raise ``ReportError`` where they count as more of one series.

    A run is a copy if its results at all steps are those of another, whatever else is recorded beside them:
    the metrics that are better if higher or lower, without any of these all but times. Runs with another seed
    may be equal, but then their seeds have no effect. Answers are copies if besides the scores something is
    equal that does not depend on the model alone: a time, words that it wrote, or the order in which several
    samples are right. Right and wrong answers of deterministic models, and totals, are often equal. The
    ``runs`` are those of the ``keys``, which may be a sample.
    """
    root, layout = keys.root, keys.layout
    if layout.outcomes:
        with suppress(*sql.get_errors()):
            return tuple(_find_equal_answers(root, source, layout))
    if not layout.metrics or not layout.roles.step or layout.outcomes or layout.totals:
        return ()
    if not _may_be_copies(runs):
        return ()
    raws = {raw: dict[str, str]() for every in layout.metrics.values() for raw in every}
    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    select = build_statement(root, Plan(layout, layout.metrics, layout.roles.step or "", filters, raws))
    problems: list[Diagnostic] = []
    # Faults in the rows are reported when they are read.
    with suppress(*sql.get_errors()):
        problems += _find_copies(select, layout)
    if any(one.severity is Severity.ERROR for one in problems):
        raise ReportError(*problems)
    return problems


def _may_be_copies(runs: Sequence[Run]) -> bool:
    """Return whether two runs are equal in all results, which is seldom and spares reading them in order."""
    results = {one.part for one in runs if _is_result(one.part)}
    contents: dict[tuple[str, str, int], dict[str, int]] = defaultdict(dict)
    for one in runs:
        contents[one.series, one.run, one.file][one.part] = one.content
    if not results:
        names = {one.part for one in runs}
        return any(_has_equal([of[name] for of in contents.values() if name in of]) for name in names)
    return _has_equal(
        [tuple(sorted((p, c) for p, c in of.items() if p in results)) for of in contents.values()]
    )


def _is_result(metric: str) -> bool:
    return has_better_direction(metric) and not describes_model(metric)


def _has_equal(contents: Sequence[Hashable]) -> bool:
    return len({*contents}) < len(contents)


def _find_copies(select: str, layout: Layout) -> Iterator[Diagnostic]:
    contents: dict[_Part, dict[str, tuple[int, int]]] = defaultdict(dict)
    increasing: dict[str, bool] = {}
    for *names, metric, rows, content, increases in get_engine().fetch_rows(
        _CONTENT_SQL.format(select=select, file_rows=FILE_ROWS)
    ):
        contents[_Part(*names)][metric] = (rows, content)
        increasing[metric] = increasing.get(metric, True) and increases
    results = {name for name in increasing if _is_result(name)}
    results = results or {name for name, increases in increasing.items() if not increases} or {*increasing}
    equal: dict[tuple[tuple[str, tuple[int, int]], ...], list[_Part]] = defaultdict(list)
    for part, content in contents.items():
        if key := tuple(sorted(one for one in content.items() if one[0] in results)):
            equal[key].append(part)
    for content, parts in equal.items():
        names = [name for name, _ in content]
        shown = {
            part: {name: found[name] for name in names if name in found} for part, found in contents.items()
        }
        if _have_other_names(parts) or not _is_no_coincidence(select, parts, shown):
            continue
        whole = all(contents[part] == contents[parts[0]] for part in parts)
        count = format_count(sum(rows for _, (rows, _) in content), "value")
        what = f"every value{'' if whole else f' of {join_names(names)}'} ({count}, bit for bit)"
        yield _report_copies(layout, parts, what)


def _have_other_names(parts: Sequence[_Part]) -> bool:
    """Return whether a column says that these parts are other series, and no copies, or whether it is one."""
    several = len({part.series for part in parts}) > 1 and len({part.file for part in parts}) == 1
    return len(parts) == 1 or several


def _find_equal_answers(root: Path, source: Source, layout: Layout) -> Iterator[Diagnostic]:
    """Yield warnings of runs with equal answers; see ``report_copies``."""
    roles = layout.outcomes
    if roles is None or (len(layout.files) == 1 and not layout.roles.run and not layout.roles.seed):
        return
    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    keys = make_keys(root, layout, filters, ends=source.score_range)
    numbers = [
        name
        for name in (roles.seconds, *list_free_columns(layout, NUMERIC))
        if name and (name == roles.seconds or describes_model(name) or guess_direction(name))
    ]
    # What is called an answer may be the right one, which is the same in all runs.
    texts = [name for name in (roles.response, roles.answer) if name and name.casefold() != "answer"]
    texts += [name for name in list_free_columns(layout, {Kind.TEXT}) if _RESPONSE.fullmatch(name.strip())]
    columns = list(dict.fromkeys([*numbers, *texts]))
    answers = _ANSWERS_SQL.format(cells=join_cells(keys, columns), file_rows=FILE_ROWS)
    cells = ["value", *(f"c{n}" for n in range(len(columns)))]
    sums = ", ".join(f"sum(hash(part, step, nth, {cell}))" for cell in cells)
    rows = get_engine().fetch_rows(
        f"{answers} SELECT series, run, any_value(seed), file, count(*), {sums} FROM answers "  # noqa: S608
        'GROUP BY series, run, file ORDER BY min("row")'
    )
    said = set[tuple[_Part, ...]]()
    for cell, name in zip(cells, ["score", *columns], strict=True):
        equal: dict[tuple[int, ...], list[_Part]] = defaultdict(list)
        for series, run, seed, file, count, *contents in rows:
            content = contents[cells.index(cell)]
            equal[count, contents[0], content].append(_Part(series, run, seed, file))
        for (count, *content), parts in equal.items():
            others = {other[-1] for other in equal if other[0] == count} - {content[-1]}
            is_of_problem = cell != "value" and len(equal) > 1 and not others
            if _have_other_names(parts) or tuple(parts) in said or is_of_problem:
                continue
            if _count_signs(answers, parts[0], cell, is_text=name in texts) >= _FEWEST_DIGITS:
                said.add(tuple(parts))
                what = "every score" if cell == "value" else f"every score and {shorten(name, _LONGEST)}"
                yield _report_copies(layout, parts, f"{what} ({format_count(count, 'answer')})")


def _count_signs(answers: str, part: _Part, cell: str, *, is_text: bool) -> float:
    """Return in how many digits, or words, the cells of a run cannot agree with another's by chance."""
    named = "series = $series AND run = $run AND file = $file"
    keys = {"series": part.series, "run": part.run, "file": part.file}

    def fetch(statement: str) -> list[Any]:
        return [
            one for (one,) in get_engine().open_cursor().execute(f"{answers} {statement}", keys).fetchall()
        ]

    found = fetch(f"SELECT DISTINCT {cell} FROM answers WHERE {named} AND {cell} IS NOT NULL ORDER BY 1")  # noqa: S608
    if is_text:
        return sum(max(0, len(text.split()) - _FIRST_WORDS) for text in found[:_MOST_VALUES])
    numbers = [float(value) for value in found[:_MOST_VALUES] if cell == "value" or is_number(value)]
    digits = sum(count_digits(value) - 1 for value in numbers if math.isfinite(value) and value % 1)
    if cell == "value" and len(found) == 2:  # noqa: PLR2004 - right and wrong
        digits += fetch(_SAMPLES_SQL.format(named=named))[0] or 0
    return digits


def _is_no_coincidence(
    select: str, parts: Sequence[_Part], contents: Mapping[_Part, Mapping[str, tuple[int, int]]]
) -> bool:
    """Return whether values that need not be the same agree in many digits.

    Schedules and counters are the same in every run, or a straight line.
    """
    digits, one = 0, parts[0]
    for metric, content in contents[one].items():
        others = [of[metric] for part, of in contents.items() if part not in parts and metric in of]
        if others and all(other == content for other in others):
            continue
        named = {"series": one.series, "run": one.run, "metric": metric, "file": one.file}
        rows = (
            get_engine().open_cursor().execute(_VALUES_SQL.format(select=select, file_rows=FILE_ROWS), named)
        )
        steps, values = np.array(rows.fetchall(), float).T
        if not _is_straight(steps, values):
            some = np.unique(values[np.isfinite(values)])[:_MOST_VALUES]
            digits += sum(max(0, count_digits(value) - 1) for value in some.tolist())
    return digits >= _FEWEST_DIGITS


def _is_straight(steps: FloatArray, values: FloatArray) -> bool:
    """Return whether values change with the step at a constant pace, or not at all."""
    finite = np.isfinite(steps) & np.isfinite(values)
    if len(np.unique(steps[finite])) < 3:  # noqa: PLR2004 - two points are always on a line
        return len(np.unique(values[finite])) < 2  # noqa: PLR2004 - constant
    with np.errstate(all="ignore"):
        x, y = (column[finite] - column[finite].mean() for column in (steps, values))
        rest = y - x * (x @ y) / (x @ x)
        return bool(np.abs(rest).max() <= _STRAIGHT * np.ptp(y))


def _report_copies(layout: Layout, parts: Sequence[_Part], what: str) -> Diagnostic:
    """Return the problem of runs that are equal in something: an error if they are curves of one series."""
    paths = [layout.files[part.file].path for part in parts]
    named = [" ".join(filter(None, (part.series, part.run))) for part in parts]
    seeds = ["" if part.seed is None else f"seed {part.seed}" for part in parts]
    if len(set(paths)) == len(paths):
        named = paths
    elif len({part.series for part in parts}) == 1 and len(set(seeds)) == len(seeds):
        named = [f"{parts[0].series}, {seed}" if not at else seed for at, seed in enumerate(seeds)]
    message = f"{join_names(named)} are equal in {what}"
    place = SourceLocation(paths[1])
    advice = "One log under several names is one run: leave the others out with files: in source.yml"
    is_one_series = len({part.series for part in parts}) == 1
    if (
        is_one_series
        and not layout.outcomes
        and len({part.run for part in parts}) > 1
        and len(set(seeds)) == 1
    ):
        return Diagnostic(place, message, advice, Stage.DATA)
    if is_one_series and (layout.outcomes or len(set(seeds)) > 1):
        advice = (
            "If one was copied, leave it out with files: or filter: in source.yml; otherwise "
            f"{'' if len(set(seeds)) == 1 else 'the seed has no effect, and '}they are no independent runs"
        )
    return Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
