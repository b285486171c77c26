"""Columns in which runs or rows of one series differ, so that unlike experiments would be averaged as one."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.directions import has_better_direction
from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.runs.labels import is_experiment_setting, is_metadata, is_setting_number, is_setting_text
from reportgen.read.tables.distinguish import (
    MOST_NAMES,
    MOST_SERIES,
    RowKeys,
    count_bytes,
    find_distinguishing_columns,
    find_run_columns,
    join_cells,
    list_free_columns,
    list_run_labels,
)
from reportgen.read.tables.layout import is_name_of
from reportgen.read.tables.rows import locate_row
from reportgen.settings.text import shorten
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.tables.layout import Layout
    from reportgen.settings.source import SourceSettings


# Largest source, in bytes, that is searched for numbers that are constant within a run.
SMALL: Final = 50_000_000
_LONGEST: Final = 40
# Columns that group outcomes or totals do not name a model.
PARTS_OF_A_BENCHMARK: Final = frozenset(
    (
        *("task", "dataset", "subset", "split", "subject", "category", "topic", "domain", "area", "level"),
        *("difficulty", "type", "kind", "lang", "language", "source", "tag", "turn", "metric", "scorer"),
        *("judge", "grader"),
    )
)
_DIGIT: Final = re.compile(r"\d")
_DIGITS: Final = re.compile(r"\d+")
_DATE: Final = re.compile(r"(?<!\d)(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d(?!\d)")


def warn_merged(
    keys: RowKeys, columns: Sequence[str], settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """Warn if runs of one series differ in more than seeds, unless ``source.yml`` names the run."""
    layout, roles = keys.layout, keys.layout.roles
    if settings.columns.run or settings.columns.seed:
        return
    small = count_bytes(keys.root, layout) <= SMALL
    numbers = list_free_columns(layout, NUMERIC) if small else []
    who = layout.labels[0]
    if differing := [*columns, *find_run_columns(keys, numbers, shared=True)]:
        yield _warn(layout, who, differing, place)
    elif roles.run and small and len(labels := list_run_labels(keys)) > 1:
        yield _warn(layout, who, [roles.run], place, f"are called {list_names(labels)}")


def warn_differing_numbers(keys: RowKeys, place: SourceLocation) -> Iterator[Diagnostic]:
    """Warn if runs of one series differ in a number that is constant in each, as in a learning rate.

    A run may have one total, so of these only settings that are known by their names count.
    """
    layout = keys.layout
    numbers = [
        name
        for name in list_free_columns(layout, NUMERIC)
        if is_setting_number(name)
        or (
            not layout.totals
            and is_experiment_setting(name.strip())
            and not is_metadata(name)
            and not has_better_direction(name)
            and not any(is_name_of(part, name) for part in ROLE_NAMES)
        )
    ]
    if differing := _find_differing(keys, numbers, fewest=1 if layout.totals else 2):
        yield _warn(layout, next(iter(differing.values())), [*differing], place)


def _warn(
    layout: Layout, series: str, columns: Sequence[str], place: SourceLocation, differ: str = ""
) -> Diagnostic:
    differ = differ or f"differ in {quote_columns(columns)}"
    message = f'runs of the series "{shorten(series, _LONGEST)}" {differ}'
    return _warn_averaged(message, advise_series(layout, columns), place)


def _warn_averaged(message: str, advice: str, place: SourceLocation) -> Diagnostic:
    message = f"{message}, and are averaged as one"
    return Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING, confirmed_by="columns")


def report_differing(keys: RowKeys, columns: Sequence[str]) -> Diagnostic:
    """Return the problem of runs of one series with several names in columns, at the first of another one."""
    layout, first = keys.layout, columns[0]
    rows = get_engine().fetch_rows(
        f'SELECT series, {_fill(0)}, min("row") FROM {join_cells(keys, [first])} GROUP BY 1, 2 ORDER BY 3'  # noqa: S608
    )
    pairs: dict[str, list[tuple[str, int]]] = {}
    for series, cell, row in rows:
        pairs.setdefault(series, []).append((cell, row))
    series, ((one, before), (other, place), *_) = next(pair for pair in pairs.items() if len(pair[1]) > 1)
    path, line, there, _ = locate_pair(keys, before, place)
    cells = [f'"{shorten(cell, _LONGEST)}"' if cell else "empty" for cell in (one, other)]
    message = (
        f'runs of the series "{shorten(series, _LONGEST)}" differ in {quote_columns(columns)}, and would '
    )
    message += (
        f'be averaged as one: "{shorten(first, _LONGEST)}" is {cells[0]} in {there} and {cells[1]} here'
    )
    return Diagnostic(SourceLocation(path, line), message, advise_series(layout, columns), Stage.DATA)


def locate_pair(keys: RowKeys, first: int, second: int) -> tuple[str, int | None, str, str]:
    """Return path and line of the second of two rows, and how the first and the second are called there."""
    path, line, number = locate_row(keys.root, keys.layout, second)
    before, above, earlier = locate_row(keys.root, keys.layout, first)
    there = f"line {above}" if above else f"row {earlier}" if earlier else "one place"
    here = "here" if line else f"in row {number}" if number else "in another"
    return path, line, there if before == path else f"{there} of {before}", here


def quote_columns(columns: Sequence[str]) -> str:
    """List names of columns in quotes."""
    return list_names(f'"{shorten(name, _LONGEST)}"' for name in columns)


def find_role(layout: Layout, columns: Sequence[str]) -> str:
    """Return the role by which rows that only some columns distinguish are apart: a series, if no other."""
    name, scored = columns[0], layout.outcomes or layout.totals
    if len(columns) > 1:
        return "series"
    if is_name_of("step", name) and not scored:
        return "step"
    if scored and not scored.benchmark and name.strip().casefold() in PARTS_OF_A_BENCHMARK:
        return "benchmark"
    return "run" if is_metadata(name) and not (layout.roles.run or layout.roles.seed) else "series"


def write_role(layout: Layout, columns: Sequence[str], role: str = "series") -> str:
    """Return the line of ``source.yml`` that gives columns a role, those of the series besides the known."""
    known = list_series_columns(layout) if role == "series" else ()
    names = [write_scalar(name) for name in (*known, *columns)]
    listed = ", ".join(names)
    return f"columns: {{{role}: {f'[{listed}]' if len(names) > 1 else listed}}}"


def advise_series(layout: Layout, columns: Sequence[str]) -> str:
    """Return the next step for runs of one series that differ in columns."""
    run, seed = layout.roles.run, layout.roles.seed
    own = write_role(layout, [run or seed or columns[0]], "run" if run or not seed else "seed")
    own = write_role(layout, ()) if list_series_columns(layout) else own
    compared = f"Set {write_role(layout, columns)} in source.yml to compare them"
    return f"{compared}, or {own} if they are repetitions of one experiment"


def list_comparable_texts(layout: Layout) -> list[str]:
    """Return the text columns without a role that may name what is compared, not parts of a benchmark."""
    texts = list_free_columns(layout, {Kind.TEXT})
    if layout.outcomes or layout.totals:
        return [name for name in texts if name.strip().casefold() not in PARTS_OF_A_BENCHMARK]
    return texts


def decides_series(settings: SourceSettings, layout: Layout) -> bool:
    """Return whether ``source.yml`` says which rows belong together, as that of a frozen source does.

    Without a column of the series, the run or seed that it names says so.
    """
    columns, frozen = settings.columns, bool(settings.provenance.files)
    own = not layout.roles.series and (columns.run or columns.seed)
    return bool(columns.series or own or settings.series_from or frozen)


def may_differ(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether rows of one series may differ in words, and ``source.yml`` does not say how."""
    roles = layout.roles
    several = roles.run or roles.seed or len(layout.files) > 1 or settings.repeat
    decided = layout.settings or layout.spread or decides_series(settings, layout)
    return bool(several and not decided and list_setting_texts(layout))


def find_differing_texts(keys: RowKeys) -> list[str]:
    """Return the text columns in which runs of one series differ: settings of experiments, no metadata."""
    return list(_find_differing(keys, list_setting_texts(keys.layout)))


def list_setting_texts(layout: Layout) -> list[str]:
    """Return the text columns without a role that may be settings of experiments, and no metadata."""
    return list(filter(is_setting_text, list_comparable_texts(layout)))


def _find_differing(keys: RowKeys, columns: Sequence[str], *, fewest: int = 1) -> dict[str, str]:
    """Return the columns with one cell in each run of a series, of ``fewest`` rows, and several in its runs.

    Each has the name of such a series, and is the same throughout every run of the source.
    Several runs of the source have the same cell, or cells are words without digits, unlike names of runs,
    or the column is known by its name as a setting.
    """
    if not columns:
        return {}
    each = range(len(columns))
    same = (f"count(DISTINCT {_fill(n)}) = 1 AS same{n}, min({_fill(n)}) AS v{n}" for n in each)
    runs = (
        f"SELECT series, run, count(*) AS m, {', '.join(same)} FROM {join_cells(keys, columns)} GROUP BY 1, 2"  # noqa: S608
    )
    differ = (f"min(m) >= {fewest} AND bool_and(same{n}) AND count(DISTINCT v{n}) > 1 AS d{n}" for n in each)
    series = f"SELECT series, {', '.join(differ)} FROM runs GROUP BY series"  # noqa: S608 - our own names
    names = f"list_slice(list_sort(list(DISTINCT v{{}})), 1, {MOST_NAMES + 1})"
    tests = [f"count(DISTINCT v{n}) < count(*), {names.format(n)}" for n in each]
    # A column that changes within any run is no setting.
    found = "CASE WHEN bool_and(same{0}) THEN (SELECT min(series) FROM every WHERE d{0}) END"
    tests += [found.format(n) for n in each]
    (row,) = get_engine().fetch_rows(
        f"WITH runs AS ({runs}), every AS ({series}) SELECT {', '.join(tests)} FROM runs"  # noqa: S608
    )
    count = len(columns)

    def is_setting(shared: Any, texts: list[str]) -> bool:  # noqa: ANN401 - a cell of the database
        return bool(shared) or (len(texts) <= MOST_NAMES and not any(map(_DIGIT.search, texts)))

    numbers = {name for name in columns if keys.layout.kinds[name] in NUMERIC and is_setting_number(name)}
    # Nothing says that totals of several files are repetitions.
    numbers |= {*columns} if _has_runs_by_files(keys.layout) else set()

    return {
        name: row[2 * count + n]
        for n, name in enumerate(columns)
        if row[2 * count + n] is not None and (name in numbers or is_setting(row[2 * n], row[2 * n + 1]))
    }


def _has_runs_by_files(layout: Layout) -> bool:
    """Return whether files alone tell apart the runs of totals with a column of series."""
    roles, several = layout.roles, len(layout.files) > 1
    return bool(layout.totals and several and roles.series and not (roles.run or roles.seed))


def warn_several_files(keys: RowKeys, place: SourceLocation) -> Iterator[Diagnostic]:
    """Warn if totals of one series are of several dates, or in files called in more than numbers."""
    layout = keys.layout
    if not _has_runs_by_files(layout) or any(file.given for file in layout.files):
        return
    found = get_engine().fetch_rows(
        f"SELECT series, list(DISTINCT run ORDER BY run) AS runs FROM ({keys.select}) GROUP BY series, part "  # noqa: S608
        "HAVING len(runs) > 1 ORDER BY series, part"
    )
    dates = find_run_columns(keys, list_free_columns(layout, {Kind.TIME}), shared=False) if found else []
    for series, runs in found:
        of = f'runs of the series "{shorten(series, _LONGEST)}"'
        if dates:
            yield _warn_dates(layout, f"{of} differ in {quote_columns(dates)}", ("", dates[0]), place)
            return
        if all(map(_DATE.search, runs)):
            own = f"files: (?P<date>.+)[.]{_get_suffix(layout)} and "
            yield _warn_dates(layout, f"{of} are the files {list_names(runs)}", (own, "date"), place)
            return
        if len({_DIGITS.sub("0", name) for name in runs}) > 1:
            message = f"{of} are the files {list_names(runs)}"
            compared = f"files: (?P<file>.+)[.]{_get_suffix(layout)} and {write_role(layout, ['file'])}"
            advice = f"Set {compared} in source.yml to compare them, or {write_role(layout, ())}"
            advice = f"{advice} if they are repetitions of one experiment"
            yield _warn_averaged(message, advice, place)
            return


def _get_suffix(layout: Layout) -> str:
    return PurePosixPath(layout.files[0].path).suffix[1:]


def _warn_dates(layout: Layout, differ: str, dates: tuple[str, str], place: SourceLocation) -> Diagnostic:
    """Return a warning of runs of several ``dates``: the key that gives them, if needed, and the column."""
    name = write_scalar(layout.roles.series or "")
    over = f"columns: {{series: {name}, run: {name}, step: {write_scalar(dates[1])}}}"
    advice = f"Set {dates[0]}{over} in source.yml, without form:, to draw them over dates"
    advice = f"{advice}, or {write_role(layout, ())} if they are repetitions of one experiment"
    return _warn_averaged(differ, advice, place)


def _fill(number: int) -> str:
    return f"coalesce(c{number}, '')"


def list_series_columns(layout: Layout) -> tuple[str, ...]:
    """Return the columns that name the series together."""
    return layout.series_parts or tuple(filter(None, [layout.roles.series]))


def begin_anew(keys: RowKeys) -> bool:
    """Return whether runs are written one after another: steps go back as often as one is repeated.

    Most steps of the later ones are those of the first; others are counted in another way, as epochs are.
    """
    before = 'lag(step) OVER (PARTITION BY series, run, part ORDER BY "row")'
    again = 'row_number() OVER (PARTITION BY series, run, part, step ORDER BY "row") > 1'
    each = f"SELECT *, step <= {before} AS returns, {again} AS again FROM ({keys.select})"  # noqa: S608
    names = "series, run, part"
    later = f'max(returns) OVER (PARTITION BY {names} ORDER BY "row")'
    steps = (
        f"SELECT {names}, count(*) AS n, count_if(returns) AS m, count_if(again) AS a, count_if(later) AS l "
    )
    steps += f"FROM (SELECT *, {later} AS later FROM ({each})) GROUP BY {names}, step"  # noqa: S608
    runs = f"SELECT max(n) = 1 + sum(m) AND 2 * sum(a) >= sum(l) AS anew FROM ({steps}) GROUP BY {names}"  # noqa: S608
    ((anew,),) = get_engine().fetch_rows(f"SELECT bool_and(anew) FROM ({runs})")  # noqa: S608
    return bool(anew)


def find_columns(keys: RowKeys, metric: str) -> list[tuple[str, ...]]:
    """Return the columns that distinguish the rows of each step, as ``find_distinguishing_columns``."""
    texts, numbers = (list_free_columns(keys.layout, kinds) for kinds in ({Kind.TEXT}, NUMERIC))
    others = [name for name in numbers if name not in keys.layout.metrics.get(metric, ())]
    return find_distinguishing_columns(keys, [*texts, *others], most=MOST_SERIES)
