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
from reportgen.core.score_names import is_run_score
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
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.source import SourceSettings


# What a frame may call its index.
_INDICES: Final = frozenset(("index", "Unnamed: 0"))


def find_answer_columns(root: Path, layout: Layout, settings: SourceSettings) -> list[str]:
    """Return the columns of answers, right or wrong, 1 or 0, in a table without other numbers but a label."""
    taken = {*match_columns(OUTCOME_NAMES, layout.kinds, {}).values(), *_INDICES}
    free = [name for name in list_free_columns(layout, {*NUMERIC, Kind.TEXT}) if name not in taken]
    tests = [f"bool_and({_is_answer(f'c{n}')}) AND count(c{n}) > 0" for n in range(len(free))]
    answers = [*compress(free, _test_rows(root, layout, settings, free, tests))]
    numbers = [name for name in free if layout.kinds[name] in NUMERIC]
    label = {next(iter(layout.kinds))} if len(answers) > 1 else set[str]()
    # A single column of 0 and 1 may be the scores of models.
    return answers if {*numbers} <= {*answers} | label and answers != numbers[:1] else []


def find_problem_column(root: Path, layout: Layout, settings: SourceSettings) -> str | None:
    """Return the column that names the problems where no usual name does: with the run, it names every row.

    The table has a column with the name of a score of answers, each right or wrong. "NAME" stands for an
    unknown one.
    """
    matched = match_columns(OUTCOME_NAMES, layout.kinds, {}, taken=astuple(layout.roles))
    score, sample = matched.pop("score", None), matched.get("sample")
    taken = {score, *matched.values(), *(name for name in layout.kinds if name.casefold() in BENCHMARKS)}
    free = list_free_columns(layout, {*NUMERIC, Kind.TEXT})
    free = [name for name in free if name not in taken and guess_direction(name) is None]
    if score is None or "problem" in matched or not free:
        return None
    columns = [score, *free, *([sample] if sample else [])]
    run = ", ".join(["series", "run", *([f"c{len(free) + 1}"] if sample else [])])
    alone = "TRUE" if layout.roles.series is None else "FALSE"
    tests = [f"bool_and({_is_answer('c0')})"]
    tests += [
        f"count(DISTINCT ({run}, c{n})) = count(*) AND ({alone} OR count(DISTINCT c{n}) < count(*))"
        for n in range(1, len(free) + 1)
    ]
    graded, *naming = _test_rows(root, layout, settings, columns, tests) or [False]
    names = [*compress(free, naming)]
    unknown = None if is_run_score(score) else "NAME"
    return (names[0] if len(names) == 1 else unknown) if graded else None


def _is_answer(cell: str) -> str:
    return f"{cell} IS NULL OR {sql.is_one_of(cell, ANSWERS)}"


def _test_rows(
    root: Path, layout: Layout, settings: SourceSettings, columns: Sequence[str], tests: Sequence[str]
) -> Sequence[bool]:
    """Return whether all rows pass each test of ``series``, ``run`` and the columns, ``c0`` and so on."""

    def list_cells(rows: Rows) -> dict[str, str]:
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        return run | {f"c{n}": rows.as_text(name) for n, name in enumerate(columns)}

    rows = select_files(root, layout, list_cells, resolve_filters(settings.filter, tuple(layout.kinds)))
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        return get_engine().fetch_rows(f"SELECT {', '.join(tests)} FROM ({rows})")[0] if tests else ()  # noqa: S608
    return ()


def suggest_answers(root: Path, layout: Layout, settings: SourceSettings) -> dict[str, Any]:
    """Return the keys that read a table of answers: a row for each, or a column for each model or problem."""
    stated = settings.columns.model_dump(exclude_none=True)
    if (problem := find_problem_column(root, layout, settings)) and problem != "NAME":
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
    if not keys and find_problem_column(root, layout, settings):
        keys = {"columns": {"problem": "NAME"}}
    what = "each model or problem has a column of answers" if "form" in keys else "a row is an answer"
    lines = " and ".join(f"{key}: {write_flow(one)}" for key, one in keys.items())
    return f"If {what}, say {lines} in source.yml" if keys else ""
