"""The layout of a source before any row is read: files, roles of columns, metrics and series.

The roles of columns in measurements, outcomes and totals come from their names or from ``source.yml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct, field, msgpack
from msgspec.structs import astuple, replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.evaluations.texts import TEXTS
from reportgen.formats.layout import ROLE_NAMES, FileLayout, find_empty_steps
from reportgen.formats.messages import list_names, suggest_names
from reportgen.formats.tables.delimited import WANDB_CHART

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Names in the data of one metric of the report, usually one.
RawNames: TypeAlias = tuple[str, ...]
# Columns as written, and their accepted values.
Filters: TypeAlias = "tuple[tuple[str, CellValue | tuple[CellValue, ...]], ...]"
# Columns of percentages, each with the column that says which rows have them, and its texts in these; that
# column has no name where all rows do.
Percentages: TypeAlias = Mapping[str, tuple[str, tuple[str, ...]]]


class Roles(Struct, frozen=True):
    """The column, as written, that has each role, or None."""

    series: str | None = None
    run: str | None = None
    seed: str | None = None
    step: str | None = None
    metric: str | None = None
    value: str | None = None
    low: str | None = None
    high: str | None = None
    stderr: str | None = None
    std: str | None = None
    n: str | None = None


class OutcomeRoles(Struct, frozen=True):
    """The column, as written, for each role in outcomes; ``Roles`` has series, run and seed."""

    problem: str
    score: str
    sample: str | None = None
    status: str | None = None
    answer: str | None = None
    gold: str | None = None
    prompt: str | None = None
    expected: str | None = None
    response: str | None = None
    explanation: str | None = None
    cluster: str | None = None
    tokens: str | None = None
    seconds: str | None = None
    cost: str | None = None
    benchmark: str | None = None


class TotalRoles(Struct, frozen=True):
    """The column, as written, for each role in totals: scores of whole benchmarks."""

    score: str
    stderr: str | None = None
    std: str | None = None  # of runs, whose number is n in its rows; without it, n is of problems
    n: str | None = None
    benchmark: str | None = None
    metric: str | None = None


class Layout(Struct, frozen=True):
    """How a source is read."""

    files: tuple[FileLayout, ...]  # in reading order
    kinds: Mapping[str, Kind]
    roles: Roles
    long: bool  # whether a row is one value with its metric
    metrics: Mapping[str, RawNames]  # name in the report: names in the data
    series: tuple[str, ...]  # names in the report, in order of first appearance in the rows read
    exhaustive: bool  # whether metrics and series are complete
    # Text columns of Parquet files without empty cells.
    gapless: frozenset[str] = field(default_factory=frozenset)
    outcomes: OutcomeRoles | None = None
    totals: TotalRoles | None = None
    benchmarks: tuple[str, ...] = ()  # in order of first appearance
    lower_is_better: tuple[str, ...] = ()  # benchmarks of totals; an empty name stands for all
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)  # of metrics of curves, as logged
    score_names: Mapping[str, str] = field(default_factory=dict)  # the harness's, if any, by benchmark
    benchmark_parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of means over others
    step_name: str = ""  # if it differs from the name of the column
    joined: tuple[str, ...] = ()  # columns of a chart of W&B whose values summarise several
    # Meaning of several rows of one step in the format, as ``repeat:`` of a source.
    repeat: str = ""
    # The settings of each run of a logger or harness, by name; columns for those that a query names are made
    # by ``add_settings``.
    settings: tuple[Mapping[str, str], ...] = ()
    # The lowest and highest possible value, if values are scores with the standard error over n problems.
    bounds: tuple[float, float] | None = None
    # Columns that name the series together, that of ``roles`` first; empty if one column does.
    series_parts: tuple[str, ...] = ()
    estimates: tuple[str, ...] = ()  # columns with numbers such as 75.5 ± 0.4
    run_parts: tuple[str, ...] = ()  # settings that separate runs, besides the columns of ``roles``
    numbers: tuple[str, ...] = ()  # settings of finished runs that can be an axis as a metric can
    # Names in the report of the texts of a column.
    new_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    percentages: Percentages = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name that each file gives its rows if no column does."""
        return tuple(file.label for file in self.files)

    @property
    def is_chart(self) -> bool:
        """Whether it is a chart exported from W&B, as it is or unpivoted."""
        return any(WANDB_CHART in {file.format, file.variant} for file in self.files)


class Survey(Struct, frozen=True):
    """What a sample shows of a source, and warnings about irregularities."""

    layout: Layout
    raw_metrics: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    of_files: tuple[Diagnostic, ...] = ()  # those of the files as they are, which stay if these are unpivoted


def get_layout(source: Source) -> Layout:
    """Return the layout that ``open_source`` gave a source; a ``TypeError`` if something else made it."""
    if isinstance(source.layout, bytes):  # of a source from the cache
        return _decode_layout(source.layout)
    if not isinstance(source.layout, Layout):
        raise TypeError(f"the source {source.name!r} was not opened by reportgen.read")
    return source.layout


@lru_cache(maxsize=256)
def _decode_layout(data: bytes) -> Layout:
    return msgpack.decode(data, type=Layout)


# In wide form these suffixes assign the columns of an interval to a metric.
INTERVAL_PARTS: Final = ("low", "high", "stderr", "std", "n")
_STATED: Final = ("cluster", "status", *TEXTS)
# Names that identify a role, the best first, in any case. If a model's answer is called prediction, a column
# called answer has the right one.
OUTCOME_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "problem": ("problem", "problem_id", "question_id", "task_id", "doc_id", "idx", "id"),
    "sample": ("sample", "sample_id", "attempt", "epoch"),
    "score": ("score", "correct", "is_correct", "passed", "acc", "reward"),
    "answer": ("prediction", "extracted", "answer"),
    "gold": ("gold", "target", "reference", "answer"),
    # Only if set in source.yml: clusters change every interval, statuses what counts, and texts are shown to
    # everybody.
    **dict.fromkeys(_STATED, ()),
    "tokens": ("tokens", "completion_tokens", "num_tokens"),
    "seconds": ("seconds", "time", "latency"),
    "cost": ("cost",),
    "benchmark": ("benchmark",),
}
TOTAL_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "score": ("score", "value", "accuracy", "acc"),
    "stderr": ("stderr", "se", "standard_error"),
    "std": ROLE_NAMES["std"],
    "n": ("n", "problems", "num_problems"),
    "benchmark": ("benchmark", "task", "dataset"),
    "metric": ("metric",),
}
# These columns must be numeric: one called time may hold dates.
_COUNTED: Final = frozenset(("tokens", "seconds", "cost"))
SAYS_LITTLE: Final = frozenset(("idx", "id"))
"""Names of columns of problems that tables of any content may have."""
# Columns of a frame of outcomes besides its free columns.
_RESERVED: Final = frozenset((*OUTCOME_NAMES, "series", "run", "seed", "row")) - {*_STATED}


def add_settings(layout: Layout, names: Iterable[str]) -> Layout:
    """Return a layout with a column for each of these names that is a setting of runs and no column yet.

    A setting is named in full or, if that is clear, by what follows a dot: ``lr`` for ``optim.lr``.
    """
    for name in names:
        if resolve_column(name, layout) is None and layout.settings:
            values: list[str | None] = []
            for run in layout.settings:
                keys = [name] if name in run else [key for key in run if key.endswith(f".{name}")]
                values.append(run[keys[0]] if len(keys) == 1 else None)
            if {*values} != {None}:
                files = tuple(
                    replace(file, given=(*file.given, (name, tuple(values[run] for run in file.owners))))
                    for file in layout.files
                )
                layout = replace(layout, files=files, kinds={**layout.kinds, name: Kind.TEXT})
    return layout


def list_setting_names(layout: Layout) -> tuple[str, ...]:
    """Return the names of all settings, those that differ between runs first."""
    values: dict[str, set[str | None]] = {name: set() for run in layout.settings for name in run}
    for name, found in values.items():
        found |= {run.get(name) for run in layout.settings}
    return tuple(sorted(values, key=lambda name: len(values[name]) < 2))  # noqa: PLR2004 - all equal


def get_mapped_columns(settings: SourceSettings) -> dict[str, str]:
    """Return the columns that ``source.yml`` names, by role."""
    named = {part: name for part, name in settings.columns if name is not None}
    if isinstance(settings.columns.n, int) and settings.format == "mapped":
        del named["n"]  # no path
    return {part: name[0] if isinstance(name, tuple) else str(name) for part, name in named.items()}


def get_series_parts(settings: SourceSettings) -> tuple[str, ...]:
    """Return the columns that name the series together, or none if one column does."""
    series = settings.columns.series
    return series if isinstance(series, tuple) and len(series) > 1 else ()


def is_name_of(part: str, column: str) -> bool:
    """Return whether the name of a column gives it a role such as ``step``."""
    return column.strip().casefold() in ROLE_NAMES[part]


def find_column(name: str, columns: Sequence[str]) -> str | None:
    """Return the column of this name, in any case if that is unambiguous, or None."""
    matches = [name] if name in columns else [one for one in columns if one.casefold() == name.casefold()]
    return matches[0] if len(matches) == 1 else None


def check_named_columns(
    columns: Sequence[str],
    settings: SourceSettings,
    place: SourceLocation,
    holder: str,
    *,
    exactly: bool,
    others: Sequence[str] = (),
) -> None:
    """Refuse columns that the settings name and the holder, given in words, does not have.

    ``others`` are further names that a filter may have, which a message suggests.
    """
    requested = [(f"columns: {part}", name, exactly) for part, name in get_mapped_columns(settings).items()]
    requested += [("columns: series", name, exactly) for name in get_series_parts(settings)[1:]]
    requested += [("filter", name, False) for name in settings.filter]
    problems = []
    for key, name, as_written in requested:
        if name not in columns and (as_written or find_column(name, columns) is None):
            message = f'{key} names the column "{name}", which the {holder} do not have'
            known = dict.fromkeys((*others, *columns)) if key == "filter" else columns
            advice = suggest_names(name, tuple(known), "They have")
            problems.append(Diagnostic(place, message, advice, Stage.DATA))
    if problems:
        raise ReportError(*problems)


def resolve_column(name: str, layout: Layout) -> str | None:
    """Return the column of this name, otherwise the one with this role, or None.

    A table of frozen runs has their settings as columns, and names them as ``add_settings`` does.
    """
    column = find_column(name, tuple(layout.kinds))
    if column is None and name in {*_RESERVED, *_STATED} - {"row"}:
        owner = layout.outcomes if name in OUTCOME_NAMES else layout.roles
        column = getattr(owner, name, None)
    if column is None and not layout.settings:
        ends = [key for key in layout.kinds if key.endswith(f".{name}")]
        column = ends[0] if len(ends) == 1 else None
    return column


def match_columns(
    known: Mapping[str, Sequence[str]],
    columns: Iterable[str],
    mapped: Mapping[str, str],
    *,
    taken: Iterable[str | None] = (),
    fits: Callable[[str, str], bool] = lambda _part, _column: True,
) -> dict[str, str]:
    """Return the column for each role: a mapped one, otherwise by name; no column has two roles.

    ``known`` has the names of each role's column, the best first, in any case. Columns that are ``taken``
    have other roles; ``fits`` returns whether a column may have a role.
    """
    gone = {*mapped.values(), *taken}
    matched = {part: name for part, name in mapped.items() if part in known}
    folded = {column.strip().casefold(): column for column in reversed(tuple(columns))}
    for part, names_of_part in known.items():
        candidates = (folded[name] for name in names_of_part if name in folded)
        column = next((name for name in candidates if name not in gone and fits(part, name)), None)
        if part not in mapped and column is not None:
            matched[part] = column
            gone.add(column)
    return matched


def _make_missing_error(
    who: str, part: str, columns: Iterable[str], place: SourceLocation, more_advice: str = ""
) -> ReportError:
    message = f'{who} a column "{part}"; there are {list_names(columns)}'
    advice = f"Name it in source.yml, as in columns: {{{part}: NAME}}{more_advice}"
    return ReportError(Diagnostic(place, message, advice, Stage.DATA))


def detect_roles(
    kinds: Mapping[str, Kind], settings: SourceSettings, place: SourceLocation
) -> tuple[Roles, bool]:
    """Return the column for each role, and whether the table is long; raises if one is missing."""
    columns, mapped = tuple(kinds), get_mapped_columns(settings)
    check_named_columns(columns, settings, place, "data", exactly=True)
    roles = Roles(**match_columns(ROLE_NAMES, columns, mapped, taken=find_empty_steps(kinds)))
    long = settings.form == "long" or (settings.form is None and bool(roles.metric and roles.value))
    if long and not (roles.metric and roles.value):
        raise _make_missing_error("a long table needs", "value" if roles.metric else "metric", columns, place)
    if not long:
        # A wide table may have metrics of these names.
        roles = replace(roles, **{part: mapped.get(part) for part in ("metric", "value", *INTERVAL_PARTS)})
    return roles, long


def detect_outcomes(
    kinds: Mapping[str, Kind], roles: Roles, settings: SourceSettings, place: SourceLocation, *, long: bool
) -> OutcomeRoles | None:
    """Return the column for each role in outcomes, or None if the table holds measurements.

    A table holds outcomes if it has columns for problem and score and none for the step, or if ``source.yml``
    says ``form: outcomes`` or names one of the two; then a missing one is an error. ``epoch``, a step in
    training and a sample in evaluation, is the sample if a column is called problem or the like.
    """
    mapped = get_mapped_columns(settings)
    requested = settings.form == "outcomes" or not {"problem", "score"}.isdisjoint(mapped)
    if settings.form in {"long", "wide", "totals", "runs"} or (long and not requested):
        return None
    matched = match_columns(
        OUTCOME_NAMES,
        kinds,
        mapped,
        taken=(roles.series, roles.run, roles.seed),
        fits=lambda part, name: part not in _COUNTED or kinds[name] in {*NUMERIC, Kind.EMPTY},
    )
    missing = [part for part in ("problem", "score") if part not in matched]
    if not requested:
        named_badly = matched.get("problem", "").strip().casefold() in SAYS_LITTLE
        if missing or (roles.step is not None and (roles.step != matched.get("sample") or named_badly)):
            return None
    if missing:
        more = "; if a row is the score of a whole benchmark, say form: totals there"
        more = more if missing[0] == "problem" else ""
        raise _make_missing_error("outcomes need", missing[0], kinds, place, more)
    return OutcomeRoles(**matched)


def detect_totals(
    kinds: Mapping[str, Kind], roles: Roles, settings: SourceSettings, place: SourceLocation
) -> TotalRoles | None:
    """Return the column for each role in totals, or None without ``form: totals``; needs a score."""
    if settings.form != "totals":
        return None
    taken = (roles.series, roles.run, roles.seed)
    matched = match_columns(TOTAL_NAMES, kinds, get_mapped_columns(settings), taken=taken)
    if "score" not in matched:
        raise _make_missing_error("totals need", "score", kinds, place)
    return TotalRoles(**matched)


def find_wide_metrics(
    kinds: Mapping[str, Kind], roles: Roles, *, sampled: bool, others: Sequence[str] = ()
) -> list[str]:
    """Return the numeric columns without another role, and not among ``others``.

    If only some rows were ``sampled``, an empty column counts, since others may fill it.
    """
    taken = {*astuple(roles), *others}
    numeric_kinds = {*NUMERIC, Kind.EMPTY} if sampled else NUMERIC
    numeric = [name for name, kind in kinds.items() if kind in numeric_kinds and name not in taken]
    every = {*numeric}
    # A mean and a standard deviation of a batch, as trainers log them, are two metrics.
    alone = {f"{name}_std" for name in numeric if not (roles.n or {"n", f"{name}_n"} & every)}
    companions = {f"{name}_{part}" for name in numeric for part in INTERVAL_PARTS} - alone
    if companions & every:
        companions.add("n")
    return [name for name in numeric if name not in companions]


def list_free_columns(layout: Layout) -> tuple[str, ...]:
    """Return the columns that outcomes can be sliced by: those without a role, as written.

    A column of clusters is one of them; one called, in any case, as a role or an earlier column is not.
    """
    if layout.outcomes is None:
        return ()
    roles, outcomes = layout.roles, layout.outcomes
    taken = {*astuple(replace(outcomes, cluster=None)), roles.series, roles.run, roles.seed}
    seen = {*_RESERVED, *(part for part in _STATED if getattr(outcomes, part))}
    free: dict[str, str] = {}
    for name in layout.kinds:
        if name not in taken and name.casefold() not in seen:
            free.setdefault(name.casefold(), name)
    return tuple(free.values())
