"""The grid of a wide table of scores: its header of one or more rows, its labels, and columns of scores."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from reportgen.core.directions import guess_direction, has_better_direction
from reportgen.core.errors import Diagnostic
from reportgen.core.score_names import KNOWN, WrittenNumber, describes_model, find_descriptions, is_mean
from reportgen.formats.cells import are_codes, is_missing, is_number, is_time, parse_reported
from reportgen.formats.files import split_ending
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.tables import FORMATS, delimited
from reportgen.read.runs.labels import find_states
from reportgen.read.tables.layout import find_column
from reportgen.read.tables.statistics import OTHER_STATISTICS, STATISTICS, name_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.formats.files import Content
    from reportgen.formats.layout import FileLayout
    from reportgen.settings.source import SourceSettings

Across: TypeAlias = Literal["series", "benchmarks", "metrics"]
"""What the columns of a wide table are."""

UNNAMED: Final = "(unnamed)"
"""Name of a column without one, such as the index that pandas writes."""
BENCHMARKS: Final = ("benchmark", "task", "dataset")
"""Names of a column of benchmarks."""
_ENDING: Final = re.compile(
    r"(?P<name>.+?)[ _-]\(?(?P<part>mean|avg|average|se|stderr|sem|sd|std|stdev|ci95|n|count|±|\+/?-)\)?",
    re.IGNORECASE,
)
# Columns of numbers that are settings rather than scores: a table with one is not taken for scores by itself.
_SETTINGS: Final = frozenset(
    (
        *(
            "lr",
            "learning_rate",
            "batch_size",
            "params",
            "size",
            "year",
            "epochs",
            "layers",
            "width",
            "depth",
        ),
        *("temperature", "tokens", "time", "loss", "id", "idx", "index", "rank", "value", "low", "high"),
    )
)
_SCORES: Final = frozenset(("score", "value", "accuracy", "acc"))
_MEANS: Final = frozenset(("mean", "avg", "average"))
_DASHES: Final = re.compile(r":?-{3,}:?")
_HALF: Final = 0.5


class ScoreColumn(Struct, frozen=True):
    """A column of scores, and the columns of its spread and number, by their index."""

    index: int
    name: str
    metric: str = ""  # from the second row of a header, if that names metrics
    spread: int | None = None
    spread_kind: str = ""  # se, sd, ci95, or ± if the table does not say
    count: int | None = None


class Grid(Struct, frozen=True):
    """A wide table: its label columns by name, its columns of scores, and rows with their lines."""

    content: Content
    labels: dict[str, int]
    scores: tuple[ScoreColumn, ...]
    rows: tuple[tuple[int | None, tuple[str, ...]], ...]
    header: tuple[str, ...]
    mixed: frozenset[int] = frozenset()  # columns with scores and at least as many words

    @property
    def plain_scores(self) -> list[ScoreColumn]:
        """Columns in which most cells are scores, and those of known benchmarks."""
        return [one for one in self.scores if one.index not in self.mixed or KNOWN.match(one.name)]

    def find_others(self, across: Across | None, *, means: bool) -> list[ScoreColumn]:
        """Return columns of numbers that are no benchmark, if others are left.

        These describe the models, as their size does, or are ``means`` over other columns.
        """
        names = self._list_others(across)[means] if self.find_scores(across) else []
        return [one for one in self.scores if one.name in names]

    def find_scores(self, across: Across | None) -> list[ScoreColumn]:
        """Return the columns of scores; none if all describe the models."""
        others = self._list_others(across)
        return [one for one in self.scores if one.name not in {*others[True], *others[False]}]

    def _list_others(self, across: Across | None) -> dict[bool, list[str]]:
        numbers = {
            one.name: [number for _, row in self.rows for number in _parse_number(one, row)]
            for one in self.scores
            if across != "metrics"
        }
        return _find_others(numbers, of_series=across == "series")

    def list_rows(self, label: str) -> dict[bool | None, list[str]]:
        """Return the names of rows: of means over other rows, of others that are no benchmark, of scores.

        The keys are True, False and None; all are scores if no other is left.
        """
        numbers: dict[str, list[WrittenNumber]] = {}
        for _, row in self.rows:
            own = numbers.setdefault(row[self.labels[label]], [])
            own += (number for one in self.scores for number in _parse_number(one, row))
        others = _find_others(numbers, of_series=False)
        return others | {None: [name for name in numbers if name not in {*others[True], *others[False]}]}

    def get_cells(self, name: str) -> list[str]:
        """Return the cells of a label column."""
        return [cells[self.labels[name]] for _, cells in self.rows]


def _find_others(numbers: Mapping[str, Sequence[WrittenNumber]], *, of_series: bool) -> dict[bool, list[str]]:
    """Return which names are those of means, under True, and of what else is no score."""
    return {True: list(filter(is_mean, numbers)), False: find_descriptions(numbers, of_series=of_series)}


def _parse_number(column: ScoreColumn, row: Sequence[str]) -> Iterator[WrittenNumber]:
    if found := parse_reported(row[column.index]):
        # Only scores are in percent or bold, or have a spread.
        is_marked = column.spread is not None or not is_number(row[column.index].replace(",", ""))
        yield WrittenNumber(found.value, is_marked)


def _iterate_lines(content: Content, file: FileLayout) -> Iterator[tuple[int | None, list[str]]]:
    """Yield the header and the rows of a table, each with its line."""
    if FORMATS[file.format] is delimited:
        yield from delimited.read_grid(content, file.format)
        return
    seen = FORMATS[file.format].look(content, file.format, (), whole=False).file
    yield None, list(seen.columns)
    for row in FORMATS[file.format].read_rows(content, seen, seen.columns):
        if not isinstance(row, Diagnostic):
            yield row.line, [row.cells.get(name) or "" for name in seen.columns]


def is_empty(cell: str) -> bool:
    """Return whether a cell has no score, as one with a dash or ``NaN``."""
    return is_missing(cell) or cell.casefold() == "nan"


def read_grid(
    content: Content, file: FileLayout, refused: frozenset[str], settings: SourceSettings
) -> Grid | None:
    """Read a table whose columns are scores, with columns of labels next to them; None if it is none.

    One with a column of a ``refused`` name is none, which its header alone shows.
    """
    lines: list[tuple[int | None, list[str]]] = []
    for line in _iterate_lines(content, file):
        if not lines and (_are_steps(line[1][1:]) or refused & _fold_names(line[1])):
            return None
        # Markdown has a row of dashes below the header.
        if not (lines and any(line[1]) and all(map(_DASHES.fullmatch, filter(None, line[1])))):
            lines.append(line)
    if len(lines) < 2 or any(len(cells) != len(lines[0][1]) for _, cells in lines):  # noqa: PLR2004 - header, row
        return None
    lines = _turn_metrics(lines)
    levels = [lines[0][1]]
    if len(set(levels[0][1:])) < len(levels[0][1:]) or not all(levels[0][1:]):
        # A header that repeats names or leaves some out goes on in the next rows.
        below = (cells for _, cells in lines[1:])
        levels += takewhile(lambda cells: not any(map(parse_reported, cells[1:])), below)
    rows = lines[len(levels) :]
    tops, subs = _name_columns(levels)
    shares = _measure_shares(tops, [cells for _, cells in rows], settings)
    is_score = [share > 0 for share in shares]
    mixed = frozenset(index for index, share in enumerate(shares) if 0 < share <= _HALF)
    labels = {tops[index] or UNNAMED: index for index, scored in enumerate(is_score) if not scored}
    cells_of = tuple((line, tuple(cells)) for line, cells in rows)
    header = tuple(" ".join(filter(None, pair)) for pair in zip(tops, subs, strict=True))
    found = [name for name, scored in zip(tops, is_score, strict=True) if scored]
    if len(levels) == 1 and (value := _find_only_value(found)):
        # What pandas aggregates of one column has the names of statistics.
        stem, own = split_ending(Path(file.path))[0], value.casefold() not in _MEANS
        is_metric = own or guess_direction(stem) is None
        top = value if is_metric and any(name.casefold() in BENCHMARKS for name in labels) else stem
        tops, subs = [top] * len(tops), ["value" if name == value else name for name in tops]
    others = [bool(OTHER_STATISTICS.fullmatch(sub)) for sub in subs]
    measured = [sub for sub, *one in zip(subs, is_score, others, strict=True) if one == [True, False]]
    if name_statistics(measured):
        is_score = [scored and not other for scored, other in zip(is_score, others, strict=True)]
    scores = _pair_columns(tops, subs, is_score)
    return Grid(content, labels, scores, cells_of, header, mixed) if scores and rows else None


def _are_steps(names: Sequence[str]) -> bool:
    """Return whether columns are called 0, 1 and so on, or 1, 2 and so on."""
    return len(names) > 2 and list(names) in [[str(n + k) for n in range(len(names))] for k in (0, 1)]  # noqa: PLR2004


def _has_metrics_in_rows(header: Sequence[str]) -> bool:
    """Return whether a row is of a benchmark and a metric, and a column of one of several models."""
    first, *others = (name.casefold() for name in header)
    roles = {name for names in ROLE_NAMES.values() for name in (*names, "score", "acc", "accuracy")}
    is_named = first in BENCHMARKS and len(others) > 2 and others[0] in ROLE_NAMES["metric"]  # noqa: PLR2004
    return is_named and roles.isdisjoint(others[1:])


def _turn_metrics(lines: list[tuple[int | None, list[str]]]) -> list[tuple[int | None, list[str]]]:
    """Make a header of two rows of benchmarks and metrics, and rows of the columns of models."""
    if not _has_metrics_in_rows(lines[0][1]):
        return lines
    benchmarks, metrics, *models = zip(*(cells for _, cells in lines), strict=True)
    rows = (["", *benchmarks[1:]], ["model", *metrics[1:]], *map(list, models))
    return [(None, cells) for cells in rows]


def _fold_names(header: Sequence[str]) -> set[str]:
    """Return the names of columns, without one of metrics that a header of several rows gives them itself."""
    names = [name.casefold() for name in header]
    if _has_metrics_in_rows(header):
        return {names[0], *names[2:]}
    is_level = len(set(names[1:])) < len(names[1:]) and names[0] in ROLE_NAMES["metric"]
    return set(names[1:] if is_level else names)


def _measure_shares(
    names: Sequence[str], rows: Sequence[Sequence[str]], settings: SourceSettings
) -> list[float]:
    """Return the share of scores among the filled cells of each column, 0 for one of labels.

    A single score makes a column one of scores, so that none is lost, except in the first, which names rows.
    """
    columns = settings.columns
    stated = {columns.series, columns.benchmark, columns.seed, columns.run}
    labels = {*ROLE_NAMES["series"], *BENCHMARKS, "seed", "run"}
    filters = {name.casefold() for name in settings.filter}
    shares = []
    for index, name in enumerate(names):
        filled = [row[index] for row in rows if not is_empty(row[index])]
        share = sum(parse_reported(cell) is not None for cell in filled) / max(len(filled), 1)
        # A model called 7 is a label by the name of its column.
        is_label = name in stated or name.casefold() in labels or are_codes(filled)
        is_named = index == 0 or name.casefold() in filters
        shares.append(0.0 if is_label or (is_named and share <= _HALF) else share)
    return shares


def _find_only_value(names: Sequence[str]) -> str | None:
    """Return the only column of values if all others are statistics of it that no table of totals has."""
    known = [name for name in names if not OTHER_STATISTICS.fullmatch(name)]
    values = [name for name in known if STATISTICS.get(name.casefold(), "value") == "value"]
    rest = {name.casefold() for name in known} - {name.casefold() for name in values}
    kinds = {STATISTICS[name] for name in rest}
    is_usual = not _MEANS.intersection(map(str.casefold, values)) and rest <= {
        "stderr",
        "se",
        "standard_error",
        "n",
    }
    return (
        values[0] if len(values) == 1 and kinds - {"n"} and len(kinds) == len(rest) and not is_usual else None
    )


def _name_columns(levels: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Return the names of columns and, of a header of several rows, those below them."""
    tops, *below = levels
    top = tops[0]
    # The last row of pandas' header names the index alone.
    has_index = bool(below and below[-1][0] and not any(below[-1][1:]))
    if has_index:
        tops = [below.pop()[0], *tops[1:]]
    named = list(tops)
    if below:
        # The cells of a merged header are empty after the first.
        for index in range(2, len(named)):
            if not named[index] and below[0][index]:
                named[index] = named[index - 1]
        if not named[0] or not any(below[0][1:]):
            named[0] = named[0] or below[0][0]
    subs = list(below[0]) if below else [""] * len(named)
    is_swapped = {name.casefold() for name in named[1:]} <= STATISTICS.keys()
    is_swapped = is_swapped and bool(below) and not name_statistics(below[0][1:])
    if below and subs[0].casefold() in BENCHMARKS and not is_swapped:
        # The names of the levels, of which pandas leaves that of several values= empty.
        are_metrics = all(map(has_better_direction, named[1:]))
        is_swapped = has_index or top.casefold() in ROLE_NAMES["metric"] or are_metrics
        named[0] = named[0] if has_index or not is_swapped else ""
    if is_swapped:
        # What pandas pivots without values= has the kinds of numbers above, and below what they are of.
        named, subs = [named[0], *subs[1:]], ["", *named[1:]]
    return named, ["", *subs[1:]]


def _pair_columns(
    tops: Sequence[str], subs: Sequence[str], is_score: Sequence[bool]
) -> tuple[ScoreColumn, ...]:
    """Return the columns of scores, each with those of its spread and number."""
    parts: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
    names = {top for top, scored in zip(tops, is_score, strict=True) if scored}
    ends = [ending for name in names if (ending := _ENDING.fullmatch(name))]
    kinds: dict[str, set[str]] = {}
    for ending in ends:
        kinds.setdefault(ending["name"], set()).add(STATISTICS[ending["part"].casefold()])
    # AIME_mean and AIME_std are of AIME; AIME_mean alone is a column of its own.
    names |= {name for name, known in kinds.items() if "value" in known and known - {"value", "n"}}
    statistics = all(
        sub.casefold() in STATISTICS for sub, scored in zip(subs, is_score, strict=True) if scored and sub
    )
    for index, (top, sub) in enumerate(zip(tops, subs, strict=True)):
        if not is_score[index]:
            continue
        key, part = (top, "" if statistics else sub), STATISTICS.get(sub.casefold(), "value")
        ending = _ENDING.fullmatch(top)
        if not sub and ending and ending["name"] in names:
            key, part = (ending["name"], ""), STATISTICS[ending["part"].casefold()]
        role = part if part in {"value", "n"} else "spread"
        parts.setdefault(key, {})[role] = (index, part)
    return tuple(
        ScoreColumn(
            index=known["value"][0],
            name=top,
            metric=sub,
            spread=known["spread"][0] if "spread" in known else None,
            spread_kind=known["spread"][1] if "spread" in known else "",
            count=known["n"][0] if "n" in known else None,
        )
        for (top, sub), known in parts.items()
        if "value" in known
    )


def join_labels(grid: Grid, names: Sequence[str]) -> Grid:
    """Return a grid in which several columns name the series together: ``grpo, lr=0.1``."""
    indices = {name: grid.header.index(name) for name in names if name in grid.header}
    if len(indices) < len(names):
        return grid
    first, *others = names

    def join(cells: tuple[str, ...]) -> str:
        parts = [cells[indices[first]], *(f"{name}={cells[indices[name]]}" for name in others)]
        return ", ".join(parts)

    rows = tuple((line, (*cells, join(cells))) for line, cells in grid.rows)
    labels = {name: index for name, index in grid.labels.items() if name not in names}
    scores = tuple(one for one in grid.scores if one.index not in indices.values())
    return Grid(
        grid.content,
        {**labels, ", ".join(names): len(grid.header)},
        scores,
        rows,
        (*grid.header, ""),
        grid.mixed,
    )


def find_label(grid: Grid, part: Literal["series", "benchmark"], settings: SourceSettings) -> str | None:
    """Return the column of labels that names series or benchmarks, as stated or by its name."""
    stated = getattr(settings.columns, part)
    if stated is not None:
        name = stated if isinstance(stated, str) else ", ".join(stated)
        return name if name in grid.labels else None
    names = ROLE_NAMES["series"] if part == "series" else BENCHMARKS
    folded = {name.casefold(): name for name in grid.labels}
    return next((folded[name] for name in names if name in folded), None)


def find_across(grid: Grid, settings: SourceSettings, label: str | None) -> Across | None:
    """Return what the columns are: as stated, by the name of the labels, or by names of known benchmarks."""
    if settings.wide is not None:
        return settings.wide
    series, benchmark = (find_label(grid, part, settings) for part in ("series", "benchmark"))
    if series and benchmark:
        return "metrics"
    if series or benchmark:
        return "benchmarks" if series else "series"
    if any(KNOWN.match(column.name) for column in grid.scores):
        return "benchmarks"
    if label and any(map(KNOWN.match, grid.get_cells(label))):
        return "series"
    return None


def find_only_label(grid: Grid) -> str | None:
    """Return the column of labels if there is one besides seed and run."""
    named = [name for name in grid.labels if name.casefold() not in {"seed", "run"}]
    return named[0] if len(named) == 1 else None


def find_benchmark_label(grid: Grid, settings: SourceSettings) -> str | None:
    """Return the column of the names of benchmarks if the others are series."""
    label = find_only_label(grid)
    return label if find_across(grid, settings, label) == "series" else None


def find_filtered(name: str, grid: Grid, benchmarks: str | None) -> str | None:
    """Return the column of labels that ``filter`` calls by this name."""
    return find_column(name, tuple(grid.labels)) or (benchmarks if name == "benchmark" else None)


def chooses_rows(grid: Grid, label: str, settings: SourceSettings) -> bool:
    """Return whether ``filter`` chooses rows by this column, that of the benchmarks."""
    return any(find_filtered(name, grid, label) == label for name in settings.filter)


def is_table_of_scores(grid: Grid, settings: SourceSettings) -> bool:
    """Return whether a table is one of scores, going by the names and cells of its columns."""
    label = find_only_label(grid)
    across = find_across(grid, settings, label)
    if across is None or _lists_runs(grid, settings):
        return False
    means, described = (grid.find_others(across, means=means) for means in (True, False))
    numbers = grid.plain_scores
    scores = [one for one in numbers if one not in (*means, *described)]
    # A size may be a setting, unless a known benchmark is a column, too.
    sure = numbers
    if any(KNOWN.match(one.name) for one in scores):
        sure = [one for one in numbers if one not in means and not describes_model(one.name)]
    headings = {column.name.casefold() for column in sure}
    written = [cells[column.index] for _, cells in grid.rows for column in scores]
    is_marked = any(parse_reported(cell) and not is_number(cell) for cell in written)
    named = [name for name in grid.labels if name.casefold() not in {"seed", "run"}]
    naming = [*grid.labels.values(), *grid.mixed]
    keys = [tuple(cells[index] for index in naming) for _, cells in grid.rows]
    # Rows of one name are an error if nothing but scores could distinguish them.
    is_known = bool(scores) and all(KNOWN.match(one.name) for one in scores)
    is_single = len(set(keys)) == len(keys) or (is_known and 1 < len(scores) == len(grid.scores) - len(means))
    # Numbers in a header are steps, seeds or samples.
    is_flat = all(grid.header[one.index] == one.name and one.spread is None for one in scores)
    is_other = headings & _SETTINGS or (is_flat and headings & _SCORES) or all(map(is_number, headings))
    is_several = len(numbers) > 1 or (bool(scores) and not is_flat) or (is_known and label is not None)
    return bool(named) and is_single and not is_other and (is_marked or is_several)


def _lists_runs(grid: Grid, settings: SourceSettings) -> bool:
    """Return whether rows are runs, as loggers export them: with the time of day or the state of each."""
    labels = (list(filter(None, grid.get_cells(name))) for name in grid.labels)
    has_times = any(cells and all(is_time(cell) and ":" in cell for cell in cells) for cells in labels)
    has_states = set(find_states(grid.labels)) - set(settings.filter)
    return has_times or bool(has_states) or delimited.is_table_of_runs(grid.header)
