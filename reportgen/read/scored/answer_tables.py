"""Tables of answers, right or wrong: a row for each, or a column for each model or problem.

A row for each is found by the names of its columns, or the column of problems by its cells. The columns of
answers have any name, so ``source.yml`` says that they are.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import astuple

from reportgen.core.directions import guess_direction
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.layout import BENCHMARKS
from reportgen.formats.sql import get_engine, get_errors
from reportgen.read.tables.layout import OUTCOME_NAMES, match_columns
from reportgen.read.tables.rows import (
    ANSWERS,
    list_free_columns,
    resolve_filters,
    select_files,
    select_run,
    select_series,
)
from reportgen.settings.yaml_tree import write_flow

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.source import SourceSettings


# What a frame may call its index.
_INDICES: Final = frozenset(("index", "Unnamed: 0"))


def find_answer_columns(root: Path, layout: Layout, settings: SourceSettings) -> list[str]:
    """Return the columns of answers, right or wrong, 1 or 0, in a table without other numbers."""
    taken = {*match_columns(OUTCOME_NAMES, layout.kinds, {}).values(), *_INDICES}
    free = [name for name in list_free_columns(layout, {*NUMERIC, Kind.TEXT}) if name not in taken]
    if not free:
        return []

    def list_cells(rows: Rows) -> dict[str, str]:
        return {f"c{n}": rows.as_text(name) for n, name in enumerate(free)}

    rows = select_files(root, layout, list_cells, resolve_filters(settings.filter, tuple(layout.kinds)))
    tests = (
        f"bool_and(c{n} IS NULL OR {sql.is_one_of(f'c{n}', ANSWERS)}) AND count(c{n}) > 0"
        for n in range(len(free))
    )
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        (found,) = get_engine().fetch_rows(f"SELECT {', '.join(tests)} FROM ({rows})")  # noqa: S608 - quoted
        answers = list(compress(free, found))
        numbers = [name for name in free if layout.kinds[name] in NUMERIC]
        # A single column of 0 and 1 may be the scores of models.
        return answers if {*numbers} <= {*answers} and answers != numbers[:1] else []
    return []


def find_problem_column(root: Path, layout: Layout, settings: SourceSettings) -> str | None:
    """Return the column that names the problems where no usual name does: with the run, it names every row.

    The table has a column with the name of a score of answers, each right or wrong.
    """
    matched = match_columns(OUTCOME_NAMES, layout.kinds, {}, taken=astuple(layout.roles))
    score = matched.pop("score", None)
    taken = {score, *matched.values(), *(name for name in layout.kinds if name.casefold() in BENCHMARKS)}
    free = list_free_columns(layout, {*NUMERIC, Kind.TEXT})
    free = [name for name in free if name not in taken and guess_direction(name) is None]
    if score is None or "problem" in matched or not free:
        return None

    def list_fields(rows: Rows) -> dict[str, str]:
        names = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        cells = {f"c{n}": rows.as_text(name) for n, name in enumerate(free)}
        return {**names, "score": rows.as_text(score), **cells}

    rows = select_files(root, layout, list_fields, resolve_filters(settings.filter, tuple(layout.kinds)))
    several = "count(DISTINCT (series, run)) = 1" if layout.roles.series is None else "FALSE"
    tests = (
        f"count(DISTINCT (series, run, c{n})) = count(*) AND ({several} OR count(DISTINCT c{n}) < count(*))"
        for n in range(len(free))
    )
    graded = f"bool_and(score IS NULL OR {sql.is_one_of('score', ANSWERS)})"
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        (found,) = get_engine().fetch_rows(f"SELECT {graded}, {', '.join(tests)} FROM ({rows})")  # noqa: S608
        names = [*compress(free, found[1:])] if found[0] else []
        return names[0] if len(names) == 1 else None
    return None


def suggest_answers(root: Path, layout: Layout, settings: SourceSettings) -> dict[str, Any]:
    """Return the keys that read a table of answers: a row for each, or a column for each model or problem."""
    stated = settings.columns.model_dump(exclude_none=True)
    if problem := find_problem_column(root, layout, settings):
        return {"columns": {**stated, "problem": problem}}
    answers = find_answer_columns(root, layout, settings)
    labels = [name for name in layout.kinds if name not in answers]
    if not answers or not labels or {*answers} & {*astuple(layout.roles)}:
        return {}
    if len(answers) == 1:
        free = [name for name in labels if name not in {*astuple(layout.roles)}]
        return {"columns": {**stated, "problem": free[0], "score": answers[0]}} if free else {}
    is_known = layout.roles.series or "problem" in match_columns(OUTCOME_NAMES, labels, {})
    return {"form": "outcomes", **({} if is_known else {"columns": {**stated, "problem": labels[0]}})}


def advise_answers(root: Path, layout: Layout, settings: SourceSettings) -> str:
    """Return the next step for a table of answers, or nothing."""
    keys = suggest_answers(root, layout, settings)
    what = "each model or problem has a column of answers" if "form" in keys else "a row is an answer"
    lines = " and ".join(f"{key}: {write_flow(one)}" for key, one in keys.items())
    return f"If {what}, say {lines} in source.yml" if keys else ""
