"""Runs that are copies of one log or of answers: equal in too many digits or words for a coincidence."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.directions import Direction, guess_direction, has_better_direction
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.score_names import describes_model
from reportgen.core.words import format_count, join_names
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.sql import get_engine
from reportgen.read.tables.distinguish import join_cells
from reportgen.read.tables.rows import FILE_ROWS, list_free_columns
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.runs.summaries import Run
    from reportgen.read.tables.distinguish import RowKeys
    from reportgen.read.tables.layout import Layout


_LONGEST: Final = 40
_FEWEST_SIGNS: Final = 3
"""Different fractions, or long texts, that two runs do not have in common by chance."""
_SIGNS_SQL: Final = (
    "count(DISTINCT {cell}) FILTER (try_cast({cell} AS DOUBLE) % 1 <> 0 OR length({cell}::VARCHAR) > 40)"
)
# Problems with right and wrong samples, which are in any order: one of two at least.
_PROBLEM_SQL: Final = "(part, split_part(step, chr(31), 1))"
_MIXED_SQL: Final = (
    "count(DISTINCT problem) FILTER (value > 0) + count(DISTINCT problem) FILTER (value <= 0) "
    "- count(DISTINCT problem)"
)
_MIXED_OF_A_SIGN: Final = 5
# Columns of texts that a model wrote, unlike prompts, which are the same in all runs.
_RESPONSE: Final = re.compile(
    r"(model_?|raw_?|full_?|llm_?)?(response|output|completion|generation|prediction)s?(_?text)?"
    r"|generated(_?text)?|resps",
    re.IGNORECASE,
)


class _Part(NamedTuple):
    """The rows of one run in one file."""

    series: str
    run: str
    seed: str | None
    file: int


def report_copies(keys: RowKeys, runs: Sequence[Run]) -> Sequence[Diagnostic]:
    """Return warnings of runs that are copies; raise ``ReportError`` where they count as more of one series.

    A run is a copy if its results at all steps are those of another, whatever else is recorded beside them:
    the metrics that are better if higher or lower, without any of these all but times and the like. Runs with
    another seed may be equal, but then their seeds have no effect. Answers are copies if besides the scores
    something is equal that does not depend on the model alone: a time, words that it wrote, or the order in
    which several samples are right. Right and wrong answers of deterministic models, and totals, are often
    equal. The ``runs`` are those of the ``keys``, which may be a sample.
    """
    problems: list[Diagnostic] = []
    # Faults in the rows are reported when they are read.
    with suppress(*sql.get_errors()):
        if keys.layout.outcomes:
            problems += _find_equal_answers(keys)
        elif not keys.layout.totals:
            problems += _find_copies(keys, runs)
    if any(one.severity is Severity.ERROR for one in problems):
        raise ReportError(*problems)
    return problems


def _is_result(metric: str) -> bool:
    return has_better_direction(metric) and not describes_model(metric)


def _find_copies(keys: RowKeys, runs: Sequence[Run]) -> Iterator[Diagnostic]:
    contents: dict[_Part, dict[str, tuple[int, int]]] = defaultdict(dict)
    known: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for run in runs:
        part = _Part(run.series, run.run, run.seed, run.file)
        contents[part][run.part] = content = (run.values, run.content)
        known[run.part].add(content)
    names = set(known)
    results = set(filter(_is_result, names))
    results = results or {name for name in names if guess_direction(name) is not Direction.NEITHER} or names
    equal: dict[tuple[tuple[str, tuple[int, int]], ...], list[_Part]] = defaultdict(list)
    for part, metrics in contents.items():
        if key := tuple(sorted(one for one in metrics.items() if one[0] in results)):
            equal[key].append(part)
    for found, parts in equal.items():
        # Schedules and counters are the same in every run.
        varied = [name for name, _ in found if len(parts) == len(contents) or len(known[name]) > 1]
        if _have_other_names(parts) or _count_signs(keys, parts[0], varied) < _FEWEST_SIGNS:
            continue
        whole = all(contents[part] == contents[parts[0]] for part in parts)
        count = format_count(sum(values for _, (values, _) in found), "value")
        what = f"every value{'' if whole else f' of {join_names([name for name, _ in found])}'}"
        yield _report_copies(keys.layout, parts, f"{what} ({count}, bit for bit)")


def _have_other_names(parts: Sequence[_Part]) -> bool:
    """Return whether a column says that these parts are other series, and no copies, or whether it is one."""
    several = len({part.series for part in parts}) > 1 and len({part.file for part in parts}) == 1
    return len(parts) == 1 or several


def _find_equal_answers(keys: RowKeys) -> Iterator[Diagnostic]:
    """Yield warnings of runs with equal answers; see ``report_copies``."""
    layout, roles = keys.layout, keys.layout.outcomes
    if roles is None or (len(layout.files) == 1 and not layout.roles.run and not layout.roles.seed):
        return
    numbers = [
        name
        for name in (roles.seconds, *list_free_columns(layout, NUMERIC))
        if name and (name == roles.seconds or describes_model(name) or guess_direction(name))
    ]
    # What is called an answer may be the right one, which is the same in all runs.
    texts = [name for name in (roles.response, roles.answer) if name and name.casefold() != "answer"]
    texts += [name for name in list_free_columns(layout, {Kind.TEXT}) if _RESPONSE.fullmatch(name.strip())]
    columns = list(dict.fromkeys([*numbers, *texts]))
    cells = ["value", *(f"c{n}" for n in range(len(columns)))]
    sums = ", ".join(f"sum(hash(part, step, nth, {cell})), {_SIGNS_SQL.format(cell=cell)}" for cell in cells)
    nth = f'row_number() OVER (PARTITION BY series, run, "row" // {FILE_ROWS}, part, step ORDER BY "row")'
    rows = get_engine().fetch_rows(
        f'SELECT series, run, any_value(seed), "row" // {FILE_ROWS} AS file, {_MIXED_SQL}, count(*), {sums} '  # noqa: S608
        f"FROM (SELECT *, {nth} AS nth, {_PROBLEM_SQL} AS problem FROM {join_cells(keys, columns)}) "
        'GROUP BY series, run, file ORDER BY min("row")'
    )
    said = set[tuple[_Part, ...]]()
    for index, name in enumerate(["", *columns]):
        equal: dict[tuple[int, ...], list[_Part]] = defaultdict(list)
        for series, run, seed, file, mixed, count, *contents in rows:
            signs = contents[2 * index + 1] + (0 if name else mixed // _MIXED_OF_A_SIGN)
            key = (contents[0], contents[2 * index], signs, count)
            equal[key].append(_Part(series, run, seed, file))
        for (_, content, signs, count), parts in equal.items():
            is_of_problem = name and {other[1] for other in equal if other[3] == count} == {content}
            is_known = _have_other_names(parts) or tuple(parts) in said or (is_of_problem and len(equal) > 1)
            if signs >= _FEWEST_SIGNS and not is_known:
                said.add(tuple(parts))
                what = f"every score and {shorten(name, _LONGEST)}" if name else "every score"
                yield _report_copies(layout, parts, f"{what} ({format_count(count, 'answer')})")


def _count_signs(keys: RowKeys, part: _Part, metrics: Sequence[str]) -> int:
    """Return how many different fractions the metrics of a run have; a straight line is a schedule."""
    own = f'part IN ({sql.quote_all(metrics)}) AND "row" // {FILE_ROWS} = $file'
    signs = f"SELECT {_SIGNS_SQL.format(cell='value')} AS signs FROM ({keys.select}) "  # noqa: S608 - quoted
    signs += f"WHERE series = $series AND run = $run AND {own} GROUP BY part "
    signs += "HAVING coalesce(regr_r2(value, step), 0) < 0.999999"
    names = {"series": part.series, "run": part.run, "file": part.file}
    statement = f"SELECT coalesce(sum(signs), 0) FROM ({signs})"  # noqa: S608 - as above
    return sum(get_engine().open_cursor().execute(statement, names).fetchone() or ()) if metrics else 0


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
    same = len({part.series for part in parts}) == 1
    if same and (layout.outcomes or len(set(seeds)) > 1):
        advice = (
            "If one was copied, leave it out with files: or filter: in source.yml; otherwise they are no "
        )
        return Diagnostic(place, message, f"{advice}independent runs", Stage.DATA, Severity.WARNING)
    advice = "One log under several names is one run: leave the others out with files: in source.yml"
    severity = Severity.ERROR if same and len({part.run for part in parts}) > 1 else Severity.WARNING
    return Diagnostic(place, message, advice, Stage.DATA, severity)
