"""Tables of scores without steps, as papers and pandas write them: which columns and rows are scores.

Where ``source.yml`` does not say so, only small tables count whose rows have the usual name of models or
benchmarks. What is left out is a warning with the line that confirms or changes it.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from itertools import compress
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity
from reportgen.core.score_names import WrittenNumber, find_descriptions, is_mean, is_metric
from reportgen.core.words import join_names, quote_names
from reportgen.formats import sql
from reportgen.formats.cells import are_codes, is_missing, is_number, is_time, parse_reported
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.messages import limit_problems
from reportgen.formats.tables import delimited
from reportgen.read.runs.labels import find_states
from reportgen.read.tables.grid import UNNAMED, Line
from reportgen.read.tables.layout import find_column, get_series_parts, is_name_of
from reportgen.read.tables.notations import list_percentages
from reportgen.read.tables.roles import (
    LongForm,
    Value,
    ask_across,
    assign_levels,
    find_across,
    find_roles,
    get_stem,
)
from reportgen.read.tables.statistics import find_statistics
from reportgen.settings.yaml_tree import write_flow, write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.read.tables.grid import Grid
    from reportgen.settings.source import SourceSettings


# Larger tables are tables of scores only where ``source.yml`` says so.
LARGEST_FOUND: Final = 256 << 10
# A table with one of these has rows of answers, steps or single values.
_OTHER_ROWS: Final = frozenset((*ROLE_NAMES["step"], "problem", "problem_id", "question_id"))
_SCORES: Final = frozenset(("score", "value", "accuracy", "acc"))
# Columns of numbers that are settings: a table with one is taken for one of runs.
_SETTINGS: Final = _SCORES | {
    *("lr", "learning_rate", "batch_size", "params", "size", "year", "epochs", "layers", "width", "depth"),
    *("temperature", "tokens", "time", "loss", "id", "idx", "index", "rank", "value", "low", "high"),
}
# Columns of a table that is one of totals as it is.
_TOTALS: Final = _SCORES | {"stderr", "se", "standard_error", "n", *ROLE_NAMES["std"]}


class ScoreTable(Struct, frozen=True):
    """A table of scores: its long form, the role of its columns, their names as written, and warnings."""

    form: LongForm
    across: str
    names: tuple[str, ...]
    warnings: list[Diagnostic]


def read_scores(grid: Grid, settings: SourceSettings, *, stated: bool) -> ScoreTable | None:
    """Return a table as one of scores, or None if its columns are none, or nothing says so.

    A ``ReportError`` has rows of one name, mixed percent, and whatever the table leaves open.
    """
    names, rows = grid.header.names, list[Line]()
    # Whoever reads it as another table reports what is wrong with it.
    with Diagnostics().collecting(), suppress(csv.Error):
        rows = grid.read_rows()
    if grid.header.levels:
        return _Reader(grid, assign_levels(grid, settings), rows, settings).read(stated=True)
    if not (rows and names):
        return None
    names = (UNNAMED, *names[1:]) if not names[0] else names
    rows = [(line, cells) for line, cells in rows if len(cells) == len(names)]
    numbers = _find_numbers(names, [cells for _, cells in rows], settings)
    is_index = all(is_number(row[0]) for _, row in rows)
    others = {*numbers, UNNAMED if is_index else ""}
    labels = [name for name in names if name and name not in others]
    places = {name: place for place, name in enumerate(names)}
    cells = {name: [row[places[name]] for _, row in rows] for name in names}
    if not numbers or _has_other_rows(names):
        return None
    if not stated and not _is_table_of_scores(labels, numbers, cells, settings):
        return None
    form = _assign_columns(labels, numbers, grid, settings)
    if not form.values:
        return None
    metric = next(filter(is_metric, numbers), "") if "series" in form.values[0].names else ""
    if metric and not stated:
        score = f"form: totals and columns: {{score: {write_scalar(metric)}}}"
        step = f"If so, say {score}; if each is a series, say wide: series in source.yml"
        raise grid.content.make_error(f"{quote_names(numbers)} may be metrics of one series", step, 1)
    return _Reader(grid, form, rows, settings).read(stated=stated)


def _find_numbers(names: Sequence[str], rows: Sequence[Sequence[str]], settings: SourceSettings) -> list[str]:
    """Return the columns of numbers that do not name rows: half of the filled cells of each are numbers."""
    roles = {"", UNNAMED, *find_roles(names, settings).values(), *get_series_parts(settings)}
    filters, numbers = {name.casefold() for name in settings.filter}, []
    for index, name in enumerate(names):
        filled = [row[index] for row in rows if not _is_empty(row[index])]
        read = sum(parse_reported(cell) is not None for cell in filled)
        # The first column and one that chooses rows need a majority.
        is_numeric = 2 * read >= len(filled) + (index == 0 or name.casefold() in filters)
        if filled and is_numeric and name not in roles and not are_codes(filled):
            numbers.append(name)
    return numbers


def _is_empty(cell: str) -> bool:
    return is_missing(cell) or cell.casefold() == "nan"


def _has_other_rows(names: Sequence[str]) -> bool:
    """Return whether a header shows that a row is an answer, a step or one value."""
    steps = list(names[1:]) in [[str(n + k) for n in range(len(names) - 1)] for k in (0, 1)]
    is_long = all(any(is_name_of(role, name) for name in names) for role in ("metric", "value"))
    return steps or is_long or not _OTHER_ROWS.isdisjoint(map(str.casefold, names))


def _is_table_of_scores(
    labels: Sequence[str],
    numbers: Sequence[str],
    cells: Mapping[str, Sequence[str]],
    settings: SourceSettings,
) -> bool:
    """Return whether a table that nothing describes has a row of scores for each model or benchmark."""
    folded = {name.casefold() for name in numbers}
    if parts := {name.casefold() for name in find_statistics(numbers).parts}:
        # Other numbers beside a score and its error describe the run, such as a setting of sampling.
        is_known = "n" in parts or parts.isdisjoint(ROLE_NAMES["std"])
        if parts <= _TOTALS and folded & _SCORES and is_known:
            return False
        folded -= _SCORES
    # Only a table of scores has a mean over its columns.
    is_other = folded & _SETTINGS and not any(map(is_mean, numbers))
    if find_across(find_roles(labels, settings), settings) is None or is_other:
        return False
    has_times = any(all(is_time(one) and ":" in one for one in cells[name]) for name in labels)
    is_of_runs = has_times or {*find_states(labels)} - {*settings.filter}
    if is_of_runs or delimited.is_table_of_runs([*cells]) or all(map(is_number, folded)):
        return False
    keys = [*zip(*(cells[name] for name in labels), strict=True)]
    is_marked = any(parse_reported(one) and not is_number(one) for name in numbers for one in cells[name])
    return len({*keys}) == len(keys) and (len(numbers) > 1 or is_marked)


def _assign_columns(
    labels: Sequence[str], numbers: Sequence[str], grid: Grid, settings: SourceSettings
) -> LongForm:
    """Return the roles in a table with one header row; raise if nothing says what its columns are."""
    content = grid.content
    named = {label: label for label in labels}
    roles: dict[str, str | tuple[str, ...]] = {**find_roles(labels, settings)}
    if parts := get_series_parts(settings):
        roles["series"] = parts
    across = find_across(roles, settings)
    others = [label for label in labels if label not in roles.values()]
    if across is None:
        raise ReportError(ask_across(grid, numbers))
    part = "benchmark" if across == "series" else "series"
    if part not in roles and len(others) == 1:
        roles[part] = named[others[0]] = part if others[0] == UNNAMED else others[0]
    if across != "series" and "series" not in roles:
        message = f"no column names the series; there are {quote_names(list(labels)) or 'none'}"
        raise content.make_error(message, "Name it in source.yml, as in columns: {series: NAME}", 1)
    found = find_statistics(numbers, are_scores=True)
    counted = (*numbers, *(name for name, _ in grid.file.given))
    shared = next((name for name in counted if name == (settings.columns.n or "n")), None)
    values = []
    for column, one in found.values.items():
        name = one.metric or (column if across == "metric" else get_stem(grid.file))
        more = {"n": shared} if shared else {}
        if column != shared:
            values.append(Value(column, {across: name}, more | {**one.parts}))
    return LongForm(named, tuple(values), roles | {across: across})


class _Reader:
    """Reader of one table of scores, in whose long form a column or label names the benchmarks."""

    def __init__(self, grid: Grid, form: LongForm, rows: list[Line], settings: SourceSettings) -> None:
        self._content, self._form, self._rows, self._settings = grid.content, form, rows, settings
        self._places = {name or UNNAMED: place for place, name in enumerate(grid.header.names)}
        roles, names = form.roles, form.values[0].names
        across = (role for role in ("benchmark", "series", "metric") if roles.get(role) in names)
        self._across = next(across, "")
        if not self._across:
            raise ReportError(ask_across(grid, [one.column for one in form.values]))
        self._key = str(roles[self._across])
        labels = {new: old for old, new in form.labels.items()}
        self._benchmark = labels.get(str(roles.get("benchmark")))
        parts = (part for name in roles.values() for part in ([name] if isinstance(name, str) else name))
        self._naming = [labels[name] for name in parts if name in labels]
        self._warnings: list[Diagnostic] = []

    def read(self, *, stated: bool) -> ScoreTable:
        """Return the table without what is no score; raise for what is wrong or open."""
        filtered = self._choose_rows()
        known = {*self._naming, *filtered}
        others = [name for name in self._form.labels if name not in known]
        names = tuple(one.names[self._key] for one in self._form.values)
        chosen, settings = self._settings.metrics, self._settings
        rename = settings.rename_benchmarks if self._across == "benchmark" else settings.rename_metrics
        values = [
            # Benchmarks have their new names where the long table is read.
            replace(one, names={**one.names, self._key: rename.get(name, name)})
            if self._across == "metric"
            else one
            for one, name in zip(self._form.values, names, strict=True)
            if chosen is None or {name, rename.get(name)} & {*chosen}
        ]
        if chosen is None:
            numbers: dict[str, list[WrittenNumber]] = {}
            for one in values:
                numbers.setdefault(one.names[self._key], []).extend(self._list_numbers(one))
            gone = self._leave_out("column", "metrics: {}", numbers, others, stated=stated)
            values = [one for one in values if one.names[self._key] not in gone]
        self._form = replace(self._form, values=tuple(values if self._rows else ()))
        if self._benchmark and self._across == "series" and self._benchmark not in filtered:
            numbers = {name: [] for name in self._get_cells(self._benchmark)}
            for one in values:
                for row in self._rows:
                    numbers[row[1][self._places[self._benchmark]]] += self._list_numbers(one, [row])
            gone = self._leave_out("row", "filter: {{benchmark: {}}}", numbers, [], stated=stated)
            self._form = replace(self._form, skipped={self._benchmark: gone})
        if problems := [*self._find_repeats(others), *self._find_mixed_percent()]:
            raise ReportError(*limit_problems(problems))
        return ScoreTable(self._form, self._across, names, self._warnings)

    def _choose_rows(self) -> set[str]:
        """Leave out rows that ``filter:`` does not accept; return the labels that it names."""
        filtered = set()
        for name, accepted in self._settings.filter.items():
            label = find_column(name, tuple(self._form.labels)) or (
                self._benchmark if name == "benchmark" else None
            )
            if label:
                filtered.add(label)
                new = self._settings.rename_benchmarks if label == self._benchmark else {}
                cells = [new.get(cell, cell) for cell in self._get_cells(label)]
                self._rows = [*compress(self._rows, sql.check_texts(cells, accepted))]
        return filtered

    def _get_cells(self, name: str) -> list[str]:
        return [row[self._places[name]] for _, row in self._rows]

    def _list_numbers(self, value: Value, rows: Sequence[Line] | None = None) -> list[WrittenNumber]:
        """Return the numbers of a column; only scores are in percent or bold, or have a spread."""
        is_marked, place = bool(value.parts.keys() - {"n"}), self._places[value.column]
        cells = [row[place] for _, row in (self._rows if rows is None else rows)]
        read = ((cell, parse_reported(cell)) for cell in cells)
        return [
            WrittenNumber(one.value, is_marked or not is_number(cell.replace(",", "")))
            for cell, one in read
            if one
        ]

    def _leave_out(
        self,
        noun: str,
        key: str,
        numbers: Mapping[str, Sequence[WrittenNumber]],
        words: Sequence[str],
        *,
        stated: bool,
    ) -> tuple[str, ...]:
        """Return the columns or rows that describe models or are means of others, with warnings of them.

        None are where no other is left, which is an error unless the table is ``stated`` to hold scores.
        ``key`` confirms or changes the choice in ``source.yml``.
        """
        means, others = self._find_others(noun, key, numbers, stated=stated)
        gone = {*means, *others}
        scores = [name for name in numbers if name not in gone]
        confirm = (
            f"To confirm it, say {key.format(write_flow(scores))}, with further names if they are scores"
        )
        for names, one, several in (
            ([*words, *others], "is not known to hold scores and is", "are not known to hold scores and are"),
            (means, "is a mean of others and is", "are means of others and are"),
        ):
            if names and scores:
                what = f"{noun}{'s' * (len(names) > 1)} {quote_names(names)}"
                message = f"the {what} {one if len(names) == 1 else several} left out"
                problem = self._content.make_problem(message, f"{confirm}, in source.yml", 1)
                confirmed_by = key.partition(":")[0]
                problem = replace(problem, severity=Severity.WARNING, confirmed_by=confirmed_by)
                self._warnings.append(problem)
        return (*means, *others) if scores else ()

    def _find_others(
        self, noun: str, key: str, numbers: Mapping[str, Sequence[WrittenNumber]], *, stated: bool
    ) -> tuple[list[str], list[str]]:
        """Return the means and the descriptions among columns or rows; see ``_leave_out``."""
        if self._across == "metric":
            return [], []
        means = list(filter(is_mean, numbers))
        others = find_descriptions(numbers, of_series=self._across == "series" and noun == "column")
        if {*numbers} > {*means, *others} or not any(numbers.values()):
            return means, others
        # No number looks like a score: where it is stated that there are scores, the names alone decide.
        others = find_descriptions(numbers, of_series=True)
        if not stated:
            scores = [name for name in numbers if name not in means] or means
            step = f"Name the scores in source.yml, as in {key.format('[NAME]')}"
            if all(one.value in {0, 1} for cells in numbers.values() for one in cells):
                step = "If they are answers, right or wrong, say form: outcomes in source.yml"
            raise self._content.make_error(f"{quote_names(scores)} may be counts or settings", step, 1)
        return means, others

    def _find_repeats(self, others: Sequence[str]) -> Iterator[Diagnostic]:
        """Yield rows of one name, which other columns of words may tell apart."""
        first: dict[tuple[str, ...], int | None] = {}
        for (line, _), *key in zip(self._rows, *map(self._get_cells, self._naming), strict=True):
            if tuple(key) in first:
                shown = join_names(list(filter(None, key))) or "without a name"
                before = (first[tuple(key)] or 0) + self._content.above
                message = f"a second row of {shown}: the first is line {before}"
                step = (
                    "Leave one out, or name a column that distinguishes them, such as columns: {seed: NAME}"
                )
                if others:
                    message += f"; {quote_names(others)} may distinguish them"
                    series = f"[{self._form.roles.get('series', 'NAME')}, {others[0]}]"
                    step = f"Say columns: {{series: {series}}} in source.yml, or choose with filter:"
                if UNNAMED in others:
                    step = "Name that column in the first line, and choose with filter: in source.yml"
                yield self._content.make_problem(message, step, line)
            first.setdefault(tuple(key), line)

    def _find_mixed_percent(self) -> Iterator[Diagnostic]:
        """Yield the first number without a % where others of its column, or of another one, have it."""
        known = list_percentages(self._settings)
        if self._settings.unit and (not known or self._across == "series"):
            return  # a % may be left out
        read = {
            one.column: [parse_reported(cell) for cell in self._get_cells(one.column)]
            for one in self._form.values
            if one.names[self._key] not in known
        }
        signed = [name for name, found in read.items() if any(one and one.percent for one in found)]
        for place, (line, _) in enumerate(self._rows if signed else ()):
            for name, found in read.items():
                one = found[place]
                if one and not one.percent and abs(one.value) > (0 if name in signed else 1):
                    other = "other cells of it have" if name in signed else f'"{signed[0]}" has'
                    message = f'{one.value:g} in column "{name}" has no %, and {other}'
                    step = (
                        "Write % at all of them, or choose columns of one scale with metrics: in source.yml"
                    )
                    yield self._content.make_problem(message, step, line)
                    return
