"""Roles of the headers and labels of tables: what each column of values is of, and what stays beside it.

A role comes from ``columns:`` in ``source.yml``, then from the usual names, then from what is missing: beside
a column of models, columns are benchmarks. ``wide:`` says so where neither does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import asdict, astuple

from reportgen.core.directions import guess_direction, has_better_direction
from reportgen.core.errors import Diagnostic, ReportError
from reportgen.core.words import join_names
from reportgen.formats.cells import NUMERIC, Kind, is_missing
from reportgen.formats.files import split_weak_ending
from reportgen.formats.layout import BENCHMARKS, ROLE_NAMES
from reportgen.formats.messages import limit_problems, list_names
from reportgen.read.runs.labels import Candidate, split_seed
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.read.tables.grid import UNNAMED
from reportgen.read.tables.layout import (
    INTERVAL_PARTS,
    OUTCOME_NAMES,
    get_layout,
    get_mapped_columns,
    get_series_parts,
    is_name_of,
    match_columns,
)
from reportgen.read.tables.mapped_json import list_paths
from reportgen.read.tables.rows import ANSWERS
from reportgen.read.tables.statistics import (
    OTHER_STATISTICS,
    STATISTICS,
    Statistics,
    ValueColumn,
    find_statistics,
)
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from reportgen.formats.layout import FileLayout
    from reportgen.read.tables.grid import Grid, Level
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.inputs import Source


ACROSS: Final = {"series": "series", "benchmarks": "benchmark", "metrics": "metric"}
"""The role of columns by what ``wide:`` says of them."""
_ROLES: Final = {
    **{role: ROLE_NAMES[role] for role in ("step", "series", "run", "seed", "metric")},
    "benchmark": BENCHMARKS,
}
# A usual name of what is compared, with a letter or number: model A, run 2.
_NUMBERED: Final = re.compile(
    rf"({'|'.join((*ROLE_NAMES['series'], *ROLE_NAMES['run'], 'seed'))})[ _.\-]?([a-z]|\d+)", re.IGNORECASE
)
_FEWEST: Final = 2
_LABELS: Final = ("series", "run", "seed", "step", "benchmark")


class Value(Struct, frozen=True):
    """A column of values: its names, by the column of the long table for them, and its interval's columns."""

    column: str
    names: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)  # low, high, se, ci95, sd, ± and n


class LongForm(Struct, frozen=True):
    """A table as rows of a value each: what stays beside the values, and what each column of them is of."""

    labels: Mapping[str, str]  # columns that stay, and their names in the long table
    values: tuple[Value, ...]
    roles: Mapping[str, str | tuple[str, ...]]  # columns of the long table that have a role
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # labels whose rows are left out
    are_texts: bool = False  # whether values are answers, also in words
    by_columns: bool = False  # whether the rows of a column are written before those of the next


def get_stem(file: FileLayout) -> str:
    """Return the name of a file without its endings, which names a metric or benchmark without a name."""
    return split_weak_ending(Path(file.path))[0]


def find_roles(names: Iterable[str], settings: SourceSettings) -> dict[str, str]:
    """Return which of the columns and header rows has each role: as stated, otherwise by its usual name."""
    mapped = {role: name for role, name in get_mapped_columns(settings).items() if name in names}
    return match_columns(_ROLES, names, mapped)


def find_across(roles: Collection[str], settings: SourceSettings) -> str | None:
    """Return the role of the columns of scores: as stated, or what the labels beside them are not."""
    if settings.wide is not None:
        return ACROSS[settings.wide]
    if {"series", "benchmark"} <= {*roles}:
        return "metric"
    return "benchmark" if "series" in roles else "series" if "benchmark" in roles else None


def ask_across(grid: Grid, names: Sequence[str]) -> Diagnostic:
    """Return the error of a table of which nothing says what its columns are."""
    shown = join_names(list(names[:3]))
    message = f"it is unclear whether the columns ({shown}) are series or benchmarks"
    return grid.content.make_problem(message, "Say wide: series or wide: benchmarks in source.yml", 1)


def assign_levels(grid: Grid, settings: SourceSettings) -> LongForm:
    """Return the roles in a table with header rows, of which one may say what its numbers are."""
    header, levels = grid.header, list(grid.header.levels)
    parts = ["value"] * len(levels[0].labels)
    if found := next(filter(_holds_statistics, levels), None):
        levels.remove(found)
        parts = [STATISTICS.get(label.casefold(), "") for label in found.labels]
    named = [
        name for name in (*header.labels, *(level.name for level in levels)) if name not in {"", UNNAMED}
    ]
    roles: dict[str, str | tuple[str, ...]] = {**find_roles(named, settings)}
    others = tuple(name for name in named if name not in roles.values())
    is_curve = "step" in roles
    if not (is_curve or find_across(roles, settings)):
        raise ReportError(ask_across(grid, header.names[len(header.labels) :]))
    names = _name_levels(levels, roles, settings)
    roles |= {name: name for name in names if name in _ROLES}
    if is_curve and others and "series" not in roles:
        roles["series"] = others
    free = next((role for role in ("series", "benchmark") if role not in roles), "series")
    labels = {label: free if label == UNNAMED else label for label in header.labels}
    if free in labels.values():
        roles[free] = free
    file = {"metric": get_stem(grid.file)} if is_curve and "metric" not in roles else {}
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    columns = zip(header.names[len(labels) :], parts, *(level.labels for level in levels), strict=True)
    for column, part, *key in columns:
        cells.setdefault(tuple(key), {})[part] = column
    stated = {"n": "n"} if settings.columns.n == "n" and grid.file.get_given("n") else {}
    values = tuple(
        Value(
            found["value"],
            dict(zip(names, key, strict=True)) | file,
            {**stated, **{part: name for part, name in found.items() if part not in {"", "value"}}},
        )
        for key, found in cells.items()
        if "value" in found
    )
    return LongForm(labels, values, roles | {name: name for name in file})


def _holds_statistics(level: Level) -> bool:
    """Return whether labels say what numbers are: a value, and how sure it is, once each."""
    plain = {label.casefold() for label in level.labels if not OTHER_STATISTICS.fullmatch(label)}
    kinds = {STATISTICS.get(label) for label in plain}
    return "value" in kinds and None not in kinds and len(kinds) == len(plain)


def _name_levels(levels: Sequence[Level], roles: Mapping[str, object], settings: SourceSettings) -> list[str]:
    """Return the names of header rows; those without one have the roles that nothing else has.

    Of two in a table of curves metrics are above, unless only the labels below look like some.
    """
    across = find_across(roles, settings)
    free = ["metric", "series"] if "step" in roles else [role for role in (across, "metric") if role]
    free = [role for role in dict.fromkeys(free) if role not in roles]
    unnamed = [level for level in levels if not level.name]
    directed = [any(map(has_better_direction, level.labels)) for level in unnamed]
    if "step" in roles and directed == [False, True]:
        free.reverse()
    given = iter([*free, *(f"level {place}" for place in range(1, len(unnamed) + 1))])
    return [level.name or next(given) for level in levels]


def assign_estimates(file: FileLayout, layout: Layout, column: str) -> LongForm:
    """Return the roles in a table of a value a row, in a column with numbers such as 75.5 ± 0.4."""
    count = layout.totals.n if layout.totals else layout.roles.n
    parts = {"±": column, **({"n": count} if count in file.names else {})}
    labels = {name: name for name in file.columns if name and name != column}
    return LongForm(labels, (Value(column, {}, parts),), {})


def assign_answers(grid: Grid, settings: SourceSettings) -> LongForm | None:
    """Return the roles in a table with a column of answers for each series or problem; None for others.

    ``form: outcomes`` says so where no column is the score. A cell of another kind is an error.
    """
    every = [grid.header.names[0] or "index", *grid.header.names[1:]]  # as the column is read
    names = list(filter(None, every))
    known = {role: ROLE_NAMES[role] for role in ("series", "run", "seed")} | OUTCOME_NAMES
    mapped = {role: name for role, name in get_mapped_columns(settings).items() if name in names}
    matched = match_columns(known, names, mapped)
    if "score" in matched or ("problem" in matched) is ("series" in matched):
        return None
    across, rows, answers, problems = "series", grid.read_rows(), list[str](), list[Diagnostic]()
    if "series" in matched:
        across = "problem"
    taken = {*matched.values(), *get_series_parts(settings)}
    for place, name in enumerate(every):
        cells = [(line, row[place]) for line, row in rows if place < len(row) and not is_missing(row[place])]
        others = [(line, cell) for line, cell in cells if cell.strip().casefold() not in ANSWERS]
        if name and name not in taken and 2 * len(others) < len(cells):
            answers.append(name)
            for line, cell in others:
                message = f'"{cell}" in column "{name}" is neither right nor wrong'
                problems.append(grid.content.make_problem(message, "Write true or false, or 1 or 0", line))
    if problems and len(answers) > 1:
        raise ReportError(*limit_problems(problems))
    labels = {name: name for name in names if name not in answers}
    roles: dict[str, str | tuple[str, ...]] = {**matched, across: across}
    if parts := get_series_parts(settings):
        roles["series"] = parts
    values = tuple(Value(name, {across: name}) for name in answers)
    return LongForm(labels, values, roles, are_texts=True) if len(answers) > 1 else None


class Curves(Struct, frozen=True):
    """Tables with steps whose columns are series or statistics."""

    forms: tuple[LongForm, ...]  # of each file; none if each column is a metric
    warnings: tuple[tuple[str, str], ...]  # messages, each with the next step
    across: str | None = None  # what ``wide:`` says of the columns


def assign_curves(layout: Layout, settings: SourceSettings) -> Curves:
    """Return the roles in tables with steps, going by the names of their columns and files."""
    other = layout.long or layout.outcomes or layout.totals
    if other or not layout.roles.step or settings.wide in {"metrics", "benchmarks"}:
        return Curves((), ())
    raw = [name for names in layout.metrics.values() for name in names]
    taken = {*astuple(layout.roles), *layout.series_parts}
    numbers = [name for name, kind in layout.kinds.items() if kind in {*NUMERIC, Kind.EMPTY}]
    estimates = [name for name in layout.estimates if name in numbers and name not in taken]
    found = find_statistics([name for name in numbers if name not in taken], estimates, layout.roles.n)
    stated = [getattr(settings.columns, part) for part in ("value", *INTERVAL_PARTS) if part != "n"]
    if any(stated) or {*found.parts, *found.left_out} & {*(settings.metrics or ())}:
        found = Statistics({name: ValueColumn(name) for name in raw}, (), ())
    warnings = () if settings.metrics else tuple(found.list_warnings())
    columns = {name: one for name, one in found.values.items() if one.parts or name in raw}
    named = [one.metric or name for name, one in columns.items()]
    if not layout.roles.series and (settings.wide == "series" or _are_series(named, layout.files)):
        if settings.wide is None:
            message = (
                f"the columns {list_names(named)} are read as series of one metric, going by their names"
            )
            advice = "Confirm it with wide: series in source.yml, or say wide: metrics if each is a metric"
            warnings = (*warnings, (message, advice))
        names = _name_series(named, layout)
        forms = tuple(_make_form(file, layout, columns, found, names) for file in layout.files)
        return Curves(forms, warnings, "series")
    if found.is_usual or settings.wide == "series":
        return Curves((), warnings)
    chosen = {*(settings.metrics or ()), *settings.rename_metrics}
    names = [{"metric": name if name in chosen else one.metric} for name, one in found.values.items()]
    return Curves(
        tuple(_make_form(file, layout, found.values, found, names) for file in layout.files), warnings
    )


def _make_form(
    file: FileLayout,
    layout: Layout,
    columns: Mapping[str, ValueColumn],
    found: Statistics,
    names: Iterable[Mapping[str, str | None]],
) -> LongForm:
    """Return the roles in one file; an empty metric has the name of the file."""
    own = {part: getattr(layout.roles, part) for part in ("series", "run", "seed", "step")}
    own["metric"] = next((name for name in layout.kinds if is_name_of("metric", name)), None)
    roles = {part: name for part, name in own.items() if name}
    if layout.series_parts:
        roles["series"] = layout.series_parts
    values, stem, gone = [], get_stem(file), {*found.parts, *found.left_out}
    for (column, one), named in zip(columns.items(), names, strict=True):
        new = {"metric": stem} | {part: name for part, name in named.items() if name}
        new = {part: name for part, name in new.items() if part not in roles}
        if column in file.columns and (one.parts or "metric" in new):
            values.append(Value(column, new, one.parts))
        # A number without an interval may be a setting, too.
        gone |= {column} if one.parts or "series" in new else set()
    labels = {name: name for name in file.columns if name and name not in gone}
    return LongForm(labels, tuple(values), {part: part for one in values for part in one.names} | roles)


def _are_series(names: Sequence[str], files: Iterable[FileLayout]) -> bool:
    """Return whether the header, or it and the names of the files, show that columns are no metrics."""
    settings = {name.partition("=")[0].strip() if "=" in name else None for name in names}
    if len(names) < _FEWEST:
        return False
    if (len(settings) == 1 and None not in settings) or all(map(_NUMBERED.fullmatch, names)):
        return True
    if all(split_seed(name)[1] is not None for name in names):
        return True
    is_metric = any(guess_direction(name) is not None or "/" in name for name in names)
    return not is_metric and all(guess_direction(get_stem(file)) is not None for file in files)


def _name_series(names: Sequence[str], layout: Layout) -> list[dict[str, str | None]]:
    """Return series, run and seed of each column, and its metric if all are seeds of one metric."""
    rests = {split_seed(name)[0] for name in names}
    if len(rests) == 1 and guess_direction(metric := rests.pop()) is not None:
        # loss_seed1 and loss_seed2 are runs of one series.
        named = {"series": layout.labels[0], "metric": metric}
        return [{**named, "run": name, "seed": split_seed(name)[1]} for name in names]
    runs = [Candidate(StoredRun(name, name, metrics={"": 1}), {}, "", "") for name in names]
    found = name_runs(runs, SourceSettings(), layout.labels[0]).names
    return [{"series": one.series, "run": one.run, "seed": one.seed} for one in found]


def list_roles(source: Source) -> dict[str, Any]:
    """Return ``roles``, as ``columns:`` states them, and ``without_role``, which only describe rows.

    Where a column of the file is of a series, benchmark or metric, only those beside such columns have roles.
    Columns of mapped JSON are paths. Both are missing where names of columns say all (of runs).
    """
    layout = get_layout(source)
    copied = any(file.copy and file.format == "parquet" and not file.header for file in layout.files)
    if layout.is_chart or (copied and source.settings.format != "mapped"):
        return {}
    parts = [asdict(one) for one in (layout.roles, layout.outcomes, layout.totals) if one]
    roles: dict[str, Any] = {role: name for one in parts for role, name in one.items()}
    roles["series"] = layout.series_parts or layout.roles.series
    is_long = any(file.header for file in layout.files)
    stated = {role: one for role, one in roles.items() if one and (role in _LABELS or not is_long)}
    named = {role: [one] if isinstance(one, str) else [*one] for role, one in stated.items()}
    columns = dict.fromkeys(name for file in layout.files for name in file.header or file.columns)
    named = {role: names for role, names in named.items() if {*names} <= {*columns}}
    raws = () if layout.long else [raw for raws in layout.metrics.values() for raw in raws]
    used = {*raws, *(f"{raw}_{part}" for raw in raws for part in INTERVAL_PARTS), *layout.series_parts}
    used |= {*(name for one in parts for name in one.values())}
    # Of a long table, a column of the file that is none of its own holds values.
    free = [name for name in columns if name not in used and (name in layout.kinds or not is_long)]
    paths = list_paths(source.settings)
    named = {role: [paths.get(name, name) for name in names] for role, names in named.items()}
    return {
        "roles": {role: names if len(names) > 1 else names[0] for role, names in named.items()},
        "without_role": tuple(free),
    }
