"""The tables of a source, and from these to a layout: columns, their parts, metrics and series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from reportgen.core.directions import Direction, guess_direction
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.model import SourceFile
from reportgen.formats import sql
from reportgen.formats.cells import Kind, combine_kinds, infer_kind
from reportgen.formats.files import COMPRESSIONS, Content, split_ending
from reportgen.formats.sql import get_engine
from reportgen.formats.tables import FORMATS, delimited, parquet
from reportgen.read.choose import check_unknown_files, explain_unknown_format, report_no_data, report_unread
from reportgen.read.find import locate_file
from reportgen.read.runs.file_names import add_seeds
from reportgen.read.tables.check import NAMED, check_columns, explain_faults, find_faults, find_wrong_cells
from reportgen.read.tables.layout import (
    DataFile,
    Layout,
    Survey,
    detect_outcomes,
    detect_roles,
    detect_totals,
    find_wide_metrics,
    get_layout,
    get_mapped_columns,
    resolve_filters,
    select_metrics,
)
from reportgen.read.tables.rows import UNNAMED, select_files, select_series
from reportgen.read.tables.wandb_chart import detect_chart, survey_chart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Look
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# So many cells of the sample say what a column holds; a wrong one elsewhere is found when it is read.
_CELLS_FOR_KIND: Final = 256


def list_tables(location: Location, settings: SourceSettings, chosen: ChosenFiles) -> tuple[DataFile, ...]:
    """The tables of a source, in reading order; a ``ReportError`` where there are none of a known format."""
    paths = [path for path in chosen.paths if chosen.named or split_ending(path)[1]]
    paths = [path for path in paths if path not in chosen.unreadable]
    if not paths and (lost := list(report_unread(chosen.skipped, chosen.unreadable, location.root))):
        raise ReportError(*(replace(one, severity=Severity.ERROR) for one in lost))
    if not paths:
        if known := check_unknown_files(chosen.paths, location.root):
            raise ReportError(*known)
        raise ReportError(report_no_data(location.path, chosen.paths, location.root))
    if settings.format is None:
        unknown = (
            explain_unknown_format(path, location.root) for path in paths if split_ending(path)[1] is None
        )
        if problems := list(chain.from_iterable(unknown)):
            raise ReportError(*problems)
    stems = [split_ending(path)[0] for path in paths]
    labels = stems
    if len(paths) == 1:
        labels = [settings.title or location.name]
    elif len(set(stems)) < len(stems):
        inner = [path.relative_to(location.path) for path in paths]
        labels = [path.with_name(stem).as_posix() for path, stem in zip(inner, stems, strict=True)]
    return tuple(
        DataFile(
            Content(path, locate_file(path, location.root).file, COMPRESSIONS.get(path.suffix.lower(), "")),
            settings.format or split_ending(path)[1] or "",
            label,
            tuple(chosen.get_labels(path).items()),
        )
        for path, label in zip(paths, labels, strict=True)
    )


def hash_files(files: tuple[DataFile, ...], hashes: Callable[[Path], str]) -> tuple[SourceFile, ...]:
    """Files with their sizes and hashes, or a ``ReportError`` of all that cannot be read."""
    try:
        contents = [file.content for file in files]
        return tuple(SourceFile(one.name, one.path.stat().st_size, hashes(one.path)) for one in contents)
    except OSError:
        problems = Diagnostics()
        for file in files:
            with problems.collecting():
                file.content.check()
        problems.raise_errors()
        raise


def survey(
    root: Path,
    files: Sequence[DataFile],
    settings: SourceSettings,
    place: SourceLocation,
    *,
    whole: bool = False,
) -> Survey:
    """Look at every file, in reading order, and put together what was seen.

    If ``whole``, the names of metrics and series are those of all rows, not only of a sample. A
    ``ReportError`` has everything that is wrong with any of the files or, at ``place``, with the source.
    """
    surveyor = _Surveyor(root, settings, place)
    looks = _look_at_files(root, files, settings, whole=whole)
    layout = surveyor.build_layout(files, looks)
    if any(look.file.format == delimited.WANDB_CHART for look in looks):
        return survey_chart(layout, looks, settings, place)
    if not (layout.roles.series or layout.roles.seed) and (named := add_seeds(files, settings)):
        looks = [_add_given(look, file) for look, file in zip(looks, named, strict=True)]
        layout = surveyor.build_layout(named, looks)
    roles = layout.roles
    value = roles.value or ""
    doubtful = layout.long and layout.kinds[value] not in {Kind.NUMBER, Kind.EMPTY}
    if doubtful and (problems := find_faults(root, layout.files, (value,))):
        raise ReportError(*problems)
    layout = surveyor.add_benchmarks(layout)
    raw, series = surveyor.list_names(layout, looks, whole=whole)
    layout = replace(
        layout, metrics=select_metrics(raw, settings), series=series, exhaustive=layout.exhaustive or whole
    )
    runs, seeds = (filter(None, _list_cells(looks, name)) for name in (roles.run, roles.seed))
    _check_nul(place, metric=raw, series=layout.series, benchmark=layout.benchmarks, run=runs, seed=seeds)
    warnings = (*chain.from_iterable(look.warnings for look in looks), *check_columns(layout, looks))
    return Survey(layout, tuple(layout.kinds), raw, warnings)


def complete_layout(root: Path, source: Source) -> Layout:
    """The layout of a source with the metrics and series of all rows, not only those of a sample."""
    layout = get_layout(source)
    if layout.exhaustive:
        return layout
    files = []
    for file, label in zip(layout.files, layout.labels, strict=True):
        given = tuple((name, values[0]) for name, values in file.given)
        content = Content(root / file.place, file.path, file.compression)
        files.append(DataFile(content, file.format, label, given, file.copy))
    return survey(root, files, source.settings, source.location, whole=True).layout


@dataclass(frozen=True, slots=True)
class _Surveyor:
    """Finds what a sample does not show, with the folder, the settings and the place of a source."""

    root: Path
    settings: SourceSettings
    place: SourceLocation

    def build_layout(self, files: Sequence[DataFile], looks: Sequence[Look]) -> Layout:
        """Columns and their parts, still without the names of metrics and series."""
        settings, place = self.settings, self.place
        columns = tuple(dict.fromkeys(name for look in looks for name in look.file.names if name))
        for look in looks:
            _check_nul(SourceLocation(look.file.path), column=look.file.columns)
        roles, long = detect_roles(columns, settings, place)
        of_files = [_infer_kinds(look) for look in looks]
        kinds = {name: combine_kinds(one.get(name, Kind.EMPTY) for one in of_files) for name in columns}
        outcomes = detect_outcomes(kinds, roles, settings, place, long=long)
        totals = detect_totals(kinds, roles, settings, place)
        if outcomes and roles.step == outcomes.sample:
            roles = replace(roles, step=None)
        # Series and run columns of which the files say that they have no empty cell.
        names = [name for name in (roles.series, roles.run) if name is not None]
        gapless: frozenset[str] = frozenset()
        if names and all(look.file.format == "parquet" for look in looks):
            gapless = parquet.find_gapless([self.root / look.file.place for look in looks], names)
        return Layout(
            files=tuple(look.file for look in looks),
            labels=tuple(file.label for file in files),
            kinds=kinds,
            roles=roles,
            long=long,
            metrics={},
            series=(),
            exhaustive=all(look.exhaustive for look in looks),
            gapless=gapless,
            outcomes=outcomes,
            totals=totals,
        )

    def add_benchmarks(self, layout: Layout) -> Layout:
        """A layout with every value of the benchmark column: a sample proves nothing, and each has figures.

        Of totals it also has those benchmarks on which less is better by the name of the metric; an empty
        text where there are none. A row without a benchmark is an error.
        """
        scored = layout.outcomes or layout.totals
        column = scored.benchmark if scored else None
        names = self.fetch_names(layout, lambda rows: rows.as_text(column)) if column else []
        if column and None in names:
            raise ReportError(*find_wrong_cells(self.root, layout.files, {column: NAMED}))
        layout = replace(layout, benchmarks=tuple(name for name in names if name))
        roles = layout.totals
        if roles is None:
            return layout
        if roles.metric is None:
            lower = guess_direction(roles.score) is Direction.LOWER
            return replace(layout, lower_is_better=(layout.benchmarks or ("",)) if lower else ())
        metric = roles.metric

        def select_pair(rows: Rows) -> str:
            return f"coalesce({rows.as_text(column)}, '') || chr(31) || {rows.as_text(metric)}"

        pairs = [name.split("\x1f", 1) for name in self.fetch_names(layout, select_pair) if name]
        found = dict.fromkeys(of for of, name in pairs if guess_direction(name) is Direction.LOWER)
        return replace(layout, lower_is_better=tuple(found))

    def list_names(
        self, layout: Layout, looks: Sequence[Look], *, whole: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of metrics in the data and of series in the report, of the sample or of all rows."""
        roles, rename = layout.roles, self.settings.rename
        cells = layout.labels if roles.series is None else _list_cells(looks, roles.series)
        named = (name or UNNAMED for name in dict.fromkeys(cells))
        series: Iterable[Text] = (rename.get(name, name) for name in named)
        metrics: Iterable[Text] = _list_cells(looks, roles.metric)
        if whole:
            series = self.fetch_names(layout, lambda rows: select_series(rows, layout, rename))
        if not layout.long:
            metrics = find_wide_metrics(layout.kinds, roles, sampled=not layout.exhaustive)
        elif whole:
            metrics = self.fetch_names(layout, lambda rows: rows.as_text(roles.metric))
        raw = tuple(dict.fromkeys(name for name in metrics if name))
        return raw, tuple(dict.fromkeys(name for name in series if name is not None))

    def fetch_names(self, layout: Layout, select: Callable[[Rows], str]) -> list[Text]:
        """All names that an expression gives, in order of first appearance; None where it gives none."""
        filters = resolve_filters(self.settings.filter, tuple(layout.kinds))
        named = select_files(
            self.root, layout, lambda rows: {"name": select(rows), "row": rows.get_position()}, filters
        )
        with explain_faults(self.root, self.place, layout.files, ()):
            statement = f'SELECT name FROM ({named}) GROUP BY name ORDER BY min("row")'  # noqa: S608 - our own names
            return [name for (name,) in get_engine().fetch_rows(statement)]


def _look_at_files(
    root: Path, files: Sequence[DataFile], settings: SourceSettings, *, whole: bool
) -> list[Look]:
    mapped = tuple(get_mapped_columns(settings).values())
    problems = Diagnostics()
    looks = []
    for file in files:
        with problems.collecting():
            seen = FORMATS[file.format].look(file.content, file.format, mapped, whole=whole)
            looks.append(_add_given(detect_chart(file.content, seen, settings), file))
    if problems.found:
        # While at it, report what is wrong with the rows of the other files, too.
        problems.add(find_faults(root, [look.file for look in looks], ()))
    problems.raise_errors()
    return looks


def _add_given(look: Look, file: DataFile) -> Look:
    """A look at a file with what is known of it from elsewhere."""
    given = tuple((name, (value,)) for name, value in file.given)
    return replace(look, file=replace(look.file, given=given, copy=file.copy))


def _check_nul(place: SourceLocation, **names: Iterable[str]) -> None:
    """Refuse names with a NUL, as one flipped bit gives it: neither statements nor pages can hold them."""
    problems = []
    wrong = {(kind, name): None for kind, several in names.items() for name in several if "\0" in name}
    for kind, name in wrong:
        shown = name.replace("\0", "\ufffd")
        message = f'the name of the {kind} "{shown}" has a NUL character (U+0000) where \ufffd stands'
        problems.append(Diagnostic(place, message, "Rename it, or write the file again", Stage.DATA))
    if problems:
        raise ReportError(*problems)


def _infer_kinds(look: Look) -> dict[str, Kind]:
    """The kinds of a file's columns; of two of one name the first counts."""
    kinds = dict.fromkeys((name for name, _ in look.file.given), Kind.TEXT)
    for index, (name, type_) in enumerate(zip(look.file.columns, look.file.types, strict=True)):
        if name not in kinds:
            cells = [row[index] for row in look.rows]
            kind = sql.get_kind(type_) or infer_kind(cells[:: max(1, len(cells) // _CELLS_FOR_KIND)])
            kinds[name] = infer_kind(cells) if kind is Kind.EMPTY else kind
    return kinds


def _list_cells(looks: Iterable[Look], name: str | None) -> Iterator[Text]:
    """The sampled cells of a column, file by file."""
    for look in looks:
        if name is not None and (given := look.file.get_given(name)) is not None:
            yield from given
        elif name in look.file.columns:
            index = look.file.columns.index(name)
            yield from (row[index] for row in look.rows)
