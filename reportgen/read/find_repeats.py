"""Finds rows with the step or the problem of another row, and the columns that tell them apart."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.files import Content
from reportgen.formats.layout import Row
from reportgen.formats.sql import get_engine
from reportgen.formats.tables import FORMATS
from reportgen.read.runs.labels import is_experiment_setting, split_seed
from reportgen.read.tables.layout import find_column, is_name_of
from reportgen.read.tables.rows import FILE_ROWS, select_files, select_run, select_series

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Filters, Layout
    from reportgen.read.tables.rows import Rows


# What is compared has few names; a column with more is an id, a note or a time.
_MOST_NAMES: Final = 20
_MOST_RUNS: Final = 200
_NUMBER: Final = re.compile(r"\d+$")
# A number, or letters and digits as a machine makes them.
_ID: Final = re.compile(r"[\d.]+|[0-9a-f-]{7,}|(?=.*\d)[a-z0-9]{8}")
# Columns that are looked at together, two by two.
_MOST_PAIRED: Final = 6
# A resume leaves more steps than it repeats: so many times as many as it goes back.
_STEPS_OF_A_RESUME: Final = 3
# A step that is written twice in a row is an exception, too: of so many steps there is one.
_STEPS_OF_A_TIE: Final = 20


@dataclass(frozen=True, slots=True)
class RowKeys:
    """What tells the rows of a table apart, as SQL, and the filters that say which of them count.

    ``select`` has the columns ``series, run, part, step, value, row`` of every such row; ``part`` is its
    metric or benchmark, ``step`` what it may have once a run: a step, or a problem and sample.
    """

    root: Path
    layout: Layout
    filters: Filters
    select: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """Two rows of one step: their positions, whose they are, and how many there are like the second one.

    ``surplus`` counts the rows that have the step of an earlier one, ``rows`` all rows; the rest is as in
    ``RowKeys``, with the position and value of the first and of the second row.
    """

    series: str
    run: str
    part: str
    step: str | float
    first: int
    second: int
    values: tuple[float, float]
    surplus: int
    rows: int


def make_answer_keys(root: Path, layout: Layout, filters: Filters) -> RowKeys:
    """The keys of a table of outcomes; answers without a score count neither way."""
    roles = layout.outcomes
    if roles is None:
        raise TypeError(layout)

    def list_cells(rows: Rows) -> dict[str, str]:
        names = [rows.as_text(name) for name in (roles.problem, roles.sample) if name]
        return {
            "series": select_series(rows, layout, {}),
            "run": select_run(rows, layout),
            "part": f"coalesce({rows.as_text(roles.benchmark)}, '')" if roles.benchmark else "''",
            "step": " || chr(31) || ".join(f"coalesce({name}, '')" for name in names),
            "value": "0.0",
            "row": rows.get_position(),
        }

    def is_scored(rows: Rows) -> str:
        return f"{rows.as_text(roles.score)} IS NOT NULL"

    return RowKeys(root, layout, filters, select_files(root, layout, list_cells, filters, is_scored))


def find_repeat(keys: RowKeys) -> Repeat | None:
    """The first row that repeats a step of its run with another value, and is not of a resumed run.

    A run was resumed where its steps go back, in the order of writing, by not more than half of the way that
    it had come, and at last beyond all that was there before; that happens once, or seldom. A step that is
    written twice in a row, now and then, is no other run either, nor is a single row.
    """
    run = "PARTITION BY series, run, part"
    earlier = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
    finite = (
        f"step BETWEEN -{sql.LARGEST} AND {sql.LARGEST} AND value BETWEEN -{sql.LARGEST} AND {sql.LARGEST}"
    )
    statement = f"""
        WITH measured AS (SELECT * FROM ({keys.select}) WHERE {finite}),
        ordered AS (
            SELECT *, lag(step) OVER (w) AS before, lag(value) OVER (w) AS other,
                first_value(step) OVER (w) AS begin, max(step) OVER (w {earlier}) AS furthest
            FROM measured WINDOW w AS ({run} ORDER BY "row")
        ),
        runs AS (
            SELECT series, run, part, count(*) AS rows, count(DISTINCT step) AS steps,
                count(DISTINCT value) AS different, count(*) FILTER (step < before) AS returns,
                count(*) FILTER (step = before AND value <> other) AS again,
                count(*) FILTER (step < before AND 2 * (step - begin) < furthest - begin) AS restarts,
                arg_max(step, "row") >= max(step) AS runs_on
            FROM ordered GROUP BY ALL
        ),
        unclear AS (
            SELECT * FROM runs WHERE rows > steps AND NOT (steps > 1 AND (rows = steps + 1
                OR (restarts = 0 AND runs_on AND (returns <= 1 OR {_STEPS_OF_A_RESUME} * returns <= steps)
                    AND (again <= 1 OR {_STEPS_OF_A_TIE} * again <= steps))))
        )
        SELECT series, run, part, step, {_PAIR}, (SELECT sum(rows - steps) FROM unclear) AS surplus,
            (SELECT sum(rows) FROM runs) AS written
        FROM measured JOIN unclear USING (series, run, part) GROUP BY series, run, part, step
        HAVING min(value) < max(value) ORDER BY second_row, max(different) DESC, part LIMIT 1
    """  # noqa: S608 - our own names
    return _fetch_repeat(statement)


def find_repeated_answer(keys: RowKeys) -> Repeat | None:
    """The first row that answers a problem of its run again, where most problems have several such rows.

    Where few have, some problems were answered again, and the last one counts.
    """
    statement = f"""
        WITH answers AS (SELECT * FROM ({keys.select})),
        problems AS (SELECT series, run, part, step, count(*) AS n FROM answers GROUP BY ALL),
        runs AS (
            SELECT series, run, part, sum(n) AS rows, count(*) AS steps
            FROM problems GROUP BY ALL
        ),
        unclear AS (
            SELECT series, run, part FROM problems GROUP BY ALL HAVING 2 * count(*) FILTER (n > 1) > count(*)
        )
        SELECT series, run, part, step, {_PAIR},
            (SELECT sum(rows - steps) FROM runs SEMI JOIN unclear USING (series, run, part)) AS surplus,
            (SELECT sum(rows) FROM runs) AS written
        FROM answers SEMI JOIN unclear USING (series, run, part) GROUP BY series, run, part, step
        HAVING count(*) > 1 ORDER BY second_row, part LIMIT 1
    """  # noqa: S608 - our own names
    return _fetch_repeat(statement)


# The rows of a group in the order of writing, and the second of them.
_PAIR: Final = (
    'list_slice(list(struct_pack(place := "row", value := "value") ORDER BY "row"), 1, 100) AS written_rows, '
    'list("row" ORDER BY "row")[2] AS second_row'
)


def _fetch_repeat(statement: str) -> Repeat | None:
    """The first row of a group, and the next one that has another value or, of answers, just the next."""
    found = get_engine().fetch_rows(statement)
    if not found:
        return None
    series, run, part, step, written, _, surplus, rows = found[0]
    first, *others = written
    other = next((one for one in others if one["value"] != first["value"]), others[0])
    values = first["value"], other["value"]
    return Repeat(series, run, part, step, first["place"], other["place"], values, int(surplus), int(rows))


def find_distinguishing_columns(
    keys: RowKeys, columns: Sequence[str], *, most: int = _MOST_NAMES
) -> list[tuple[str, ...]]:
    """Those of the columns, or pairs of them, that tell all repeated rows apart by at most so many names.

    A label has few names, each of which stands in several rows, and none is missing. A number is a label only
    where there are not more of them than rows of one step: a metric has many values.
    """
    cursor = get_engine().open_cursor()
    cursor.execute(
        f"CREATE TEMP TABLE repeated AS SELECT * FROM ("  # noqa: S608 - our own names
        f"SELECT *, count(*) OVER (PARTITION BY series, run, part, step) AS several "
        f"FROM ({keys.select}) WHERE value IS NOT NULL"
        f') JOIN ({_select_cells(keys, columns)}) USING ("row") WHERE several > 1'
    )

    def is_label(index: int) -> bool:
        names = f"count(DISTINCT c{index})"
        number = keys.layout.kinds[columns[index]] in NUMERIC
        few = f"{names} <= max(several)" if number else f"2 * {names} <= count(*)"
        test = f"{names} BETWEEN 2 AND {most} AND {few} AND count(c{index}) = count(*)"
        found = cursor.execute(f"SELECT {test} FROM repeated").fetchone()  # noqa: S608
        return bool(found and found[0])

    def is_unique(*indices: int) -> bool:
        key = ", ".join(("series, run, part, step", *(f"c{index}" for index in indices)))
        again = f"SELECT 1 FROM repeated GROUP BY {key} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
        return cursor.execute(again).fetchone() is None

    try:
        labels = [index for index in range(len(columns)) if is_label(index)]
        found: list[tuple[int, ...]] = [(index,) for index in labels if is_unique(index)]
        found = found or [pair for pair in combinations(labels[:_MOST_PAIRED], 2) if is_unique(*pair)]
    finally:
        cursor.execute("DROP TABLE repeated")
    return [tuple(columns[index] for index in indices) for indices in found]


def find_run_columns(keys: RowKeys, columns: Sequence[str], *, shared: bool = False) -> list[str]:
    """Those of the columns that have one name in each run, and not the same in all runs.

    If ``shared``, some runs have to have the same name, as with a setting.
    """
    if not columns:
        return []
    most = f"least(count(*) - 1, {_MOST_NAMES})" if shared else str(_MOST_NAMES)
    counts = ", ".join(
        f"count(DISTINCT c{index}) AS n{index}, min(c{index}) AS v{index}, "
        f"count(*) - count(c{index}) AS e{index}"
        for index in range(len(columns))
    )
    tests = ", ".join(
        f"max(n{index}) = 1 AND max(e{index}) = 0 AND count(DISTINCT v{index}) BETWEEN 2 AND {most}"
        for index in range(len(columns))
    )
    joined = f'({keys.select}) JOIN ({_select_cells(keys, columns)}) USING ("row")'
    runs = f"SELECT series, run, {counts} FROM {joined} GROUP BY series, run"  # noqa: S608 - our own names
    (found,) = get_engine().fetch_rows(f"SELECT {tests} FROM ({runs})")  # noqa: S608 - our own names
    return [name for name, fits in zip(columns, found, strict=True) if fits]


def list_run_labels(keys: RowKeys) -> list[str]:
    """What runs are called without their numbers and seeds, sorted; nothing where these are ids."""
    found = get_engine().fetch_rows(f"SELECT DISTINCT run FROM ({keys.select}) ORDER BY 1 LIMIT {_MOST_RUNS}")  # noqa: S608
    runs = [run for (run,) in found if run]
    if any(_ID.fullmatch(run) for run in runs):
        return []
    return list(dict.fromkeys(_NUMBER.sub("", split_seed(run)[0]).strip(" _-./") for run in runs))


def list_free_columns(layout: Layout, kinds: Container[Kind]) -> list[str]:
    """Columns of some kinds that play no part: words, which may be compared, or numbers taken for metrics."""
    parts = (layout.roles, layout.outcomes, layout.totals)
    taken = {name for part in parts if part for name in astuple(part) if name}
    free = [name for name, kind in layout.kinds.items() if name not in taken and kind in kinds]
    return [name for name in free if find_column(name, tuple(layout.kinds))]


def is_comparable(column: str) -> bool:
    """Whether a column that has one name in each run may be what is compared, and not a place or a time."""
    name = column.strip()
    named = name.casefold().startswith(("exp", "group"))
    return (named or is_experiment_setting(name)) and not is_name_of("run", name)


def _select_cells(keys: RowKeys, columns: Iterable[str]) -> str:
    """Every row's position, and the cells of columns as texts."""

    def list_cells(rows: Rows) -> dict[str, str]:
        cells = {f"c{index}": rows.as_text(name) for index, name in enumerate(columns)}
        return {"row": rows.get_position(), **cells}

    return select_files(keys.root, keys.layout, list_cells, keys.filters)


def locate_row(root: Path, layout: Layout, position: int) -> tuple[str, int | None, int | None]:
    """The path of a row's file, its line there, which is None in a binary file, and its number.

    Of what a logger wrote neither is known: its rows were brought into another order.
    """
    index = position // FILE_ROWS if len(layout.files) > 1 else 0
    file = layout.files[index]
    if file.copy and file.given:
        return file.path, None, None
    positions = select_files(root, layout, lambda rows: {"row": rows.get_position()})
    first_of_file = f'SELECT min("row") FROM ({positions}) WHERE "row" // {FILE_ROWS} = {index}'  # noqa: S608 - our own names
    number = position - get_engine().fetch_rows(first_of_file)[0][0] + 1
    if file.copy:
        return file.path, None, number
    content = Content(root / file.place, file.path, file.compression)
    written = (row for row in FORMATS[file.format].read_rows(content, file, ()) if isinstance(row, Row))
    found = next(islice(written, number - 1, None), None)
    return file.path, found.line if found else None, number
