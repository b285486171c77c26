"""Which column plays which part, by its name or because ``source.yml`` says so."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.read.cells import NUMERIC, Kind
from reportgen.read.layout import Roles
from reportgen.read.wording import list_names, suggest_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reportgen.read.layout import Filters, RawNames
    from reportgen.settings.blocks import CellValue
    from reportgen.settings.source import SourceSettings

# Names by which a part is recognised, the best first; capital letters make no difference.
ROLE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "series": ("model", "method", "series", "algorithm", "variant", "name", "label"),
    "run": ("run", "run_id", "run_name"),
    "seed": ("seed",),
    "step": ("step", "global_step", "iteration", "iter", "epoch", "_step", "steps", "x"),
    "metric": ("metric", "variable", "tag"),
    "value": ("value",),
    "low": ("low",),
    "high": ("high",),
    "stderr": ("stderr",),
    "std": ("std",),
    "n": ("n",),
}
# Columns whose cells are names, which a sample has to hold even where they are numbers.
NAME_COLUMNS: Final = frozenset((*ROLE_NAMES["series"], *ROLE_NAMES["metric"]))
# In wide form an interval belongs to a metric by the end of its name.
INTERVAL_PARTS: Final = ("low", "high", "stderr", "std", "n")


def detect_roles(
    columns: Sequence[str], settings: SourceSettings, place: SourceLocation
) -> tuple[Roles, bool]:
    """The column for each part, and whether the table is long.

    Args:
        columns: all columns as written.
        settings: what ``source.yml`` says.
        place: where problems are told.

    Raises:
        ReportError: ``source.yml`` names columns that there are not, or a long table lacks a column.
    """
    mapped = get_mapped_columns(settings)
    problems = [
        _report_unknown(name, columns, place, f"columns: {part}")
        for part, name in mapped.items()
        if name not in columns
    ]
    problems += [
        _report_unknown(name, columns, place, "filter")
        for name in settings.filter
        if find_column(name, columns) is None
    ]
    if problems:
        raise ReportError(*problems)
    roles = Roles(**match_columns(ROLE_NAMES, columns, mapped))
    long = settings.form == "long" or (settings.form is None and bool(roles.metric and roles.value))
    if long and not (roles.metric and roles.value):
        missing = "metric" if not roles.metric else "value"
        message = f'a long table needs a column "{missing}"; there are {list_names(columns)}'
        advice = f"Name it in source.yml, as in columns: {{{missing}: NAME}}"
        raise ReportError(Problem(place, message, advice, Stage.DATA))
    if not long:
        # A wide table may have metrics of these names.
        roles = replace(roles, **{part: mapped.get(part) for part in ("metric", "value", *INTERVAL_PARTS)})
    return roles, long


def is_series_name(column: str) -> bool:
    """Whether a column is the series by its name."""
    return column.strip().casefold() in ROLE_NAMES["series"]


def is_step_name(column: str) -> bool:
    """Whether a column is a step by its name."""
    return column.strip().casefold() in ROLE_NAMES["step"]


def is_run_name(column: str) -> bool:
    """Whether a column is the run by its name."""
    return column.strip().casefold() in ROLE_NAMES["run"]


def get_mapped_columns(settings: SourceSettings) -> dict[str, str]:
    """Part: column, of those that ``source.yml`` names."""
    return {part: name for part, name in settings.columns.model_dump().items() if name is not None}


def find_column(name: str, columns: Sequence[str]) -> str | None:
    """The column of this name; capital letters make no difference where that leaves no doubt."""
    if name in columns:
        return name
    matches = [column for column in columns if column.casefold() == name.casefold()]
    return matches[0] if len(matches) == 1 else None


def resolve_filters(
    filters: Mapping[str, CellValue | tuple[CellValue, ...]], columns: Sequence[str]
) -> Filters:
    """Filters on columns as they are written."""
    return tuple((find_column(name, columns) or name, cell) for name, cell in filters.items())


def find_wide_metrics(kinds: Mapping[str, Kind], roles: Roles, *, sampled: bool) -> list[str]:
    """The numeric columns that play no other part.

    Args:
        kinds: what every column holds, in order.
        roles: the columns that play a part.
        sampled: whether there are rows beyond those looked at, where an empty column may be filled.
    """
    taken = set(astuple(roles))
    numeric_kinds = {*NUMERIC, Kind.EMPTY} if sampled else NUMERIC
    numeric = [name for name, kind in kinds.items() if kind in numeric_kinds and name not in taken]
    companions = {f"{name}_{part}" for name in numeric for part in INTERVAL_PARTS}
    if companions & set(numeric):
        companions.add("n")
    return [name for name in numeric if name not in companions]


def select_metrics(found: Iterable[str], settings: SourceSettings) -> dict[str, RawNames]:
    """Name in the report: names in the data, of the metrics that are wanted."""
    metrics: dict[str, RawNames] = {}
    for raw in found:
        name = settings.rename_metrics.get(raw, raw)
        if settings.metrics is None or {raw, name} & set(settings.metrics):
            metrics[name] = (*metrics.get(name, ()), raw)
    return metrics


def match_columns(
    known: Mapping[str, Sequence[str]],
    columns: Iterable[str],
    mapped: Mapping[str, str],
    *,
    taken: Iterable[str | None] = (),
    fits: Callable[[str, str], bool] = lambda _part, _column: True,
) -> dict[str, str]:
    """The column for each part: a mapped one first, otherwise by name; no column plays two parts.

    Args:
        known: for each part the names of its column, the best first; capital letters make no difference.
        columns: all columns as written.
        mapped: part and column, of those that ``source.yml`` names.
        taken: columns that play other parts.
        fits: whether a column may play a part.
    """
    gone = {*mapped.values(), *taken}
    found = {part: name for part, name in mapped.items() if part in known}
    folded = {column.strip().casefold(): column for column in reversed(tuple(columns))}
    for part, names_of_part in known.items():
        candidates = (folded[name] for name in names_of_part if name in folded)
        column = next((name for name in candidates if name not in gone and fits(part, name)), None)
        if part not in mapped and column is not None:
            found[part] = column
            gone.add(column)
    return found


def _report_unknown(name: str, columns: Sequence[str], place: SourceLocation, key: str) -> Problem:
    message = f'{key} names the column "{name}", which the data do not have'
    return Problem(place, message, suggest_names(name, columns, "They have"), Stage.DATA)
