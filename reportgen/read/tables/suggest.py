"""What a row may be in a table without steps, with the keys of ``source.yml`` that say so.

Errors print these keys, and ``describe`` suggests them.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict, astuple

from reportgen.core.directions import has_better_direction
from reportgen.core.score_names import is_result, is_run_score
from reportgen.core.words import join_names
from reportgen.formats.cells import NUMERIC, Kind, is_number
from reportgen.formats.layout import BENCHMARKS, ENDED_WELL, MOMENTS, ROLE_NAMES, Row
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine, get_errors
from reportgen.formats.tables import FORMATS
from reportgen.formats.tables.json_mapping import suggest_mapping
from reportgen.read.runs.labels import find_states
from reportgen.read.runs.names import name_alone
from reportgen.read.scored.answer_tables import advise_answers, suggest_answers
from reportgen.read.tables.charts import list_chart_columns
from reportgen.read.tables.layout import (
    OUTCOME_NAMES,
    TOTAL_NAMES,
    TotalRoles,
    get_layout,
    get_mapped_columns,
    get_series_parts,
    match_columns,
)
from reportgen.read.tables.mapped_json import list_paths
from reportgen.read.tables.rows import (
    list_free_columns,
    resolve_filters,
    select_files,
    select_run,
    select_series,
)
from reportgen.read.tables.statistics import NAMES
from reportgen.settings.yaml_tree import write_flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


_ROWS: Final = 500  # of JSON, to see its keys and states
# A column that may be the step by the last word of its name, and first words of settings.
_STEP: Final = re.compile(
    r"index|(.*[^a-z])?(step|iter|iteration|epoch|timestep|episode|round|generation)s?"
    r"|(.*[^a-z])?(token|sample)s?([ _]seen)?",
    re.IGNORECASE,
)
_WEAK: Final = re.compile("index|tokens?|samples?", re.IGNORECASE)  # beside settings, rows are runs
_NO_STEP: Final = re.compile(r"(max|min|best|num|n|total|warmup|save|log|eval)[^a-z]", re.IGNORECASE)


class Suggestion(Struct, frozen=True):
    """What a row may be, the keys that say so, and what the author has to choose, if anything."""

    what: str
    keys: Mapping[str, Any]
    open: str = ""

    def advise(self) -> str:
        """Return the next step in words."""
        lines = join_names([f"{key}: {write_flow(one)}" for key, one in self.keys.items()])
        return f"If {self.what}, say {lines} in source.yml{self.open}"


def advise_step(root: Path, layout: Layout, settings: SourceSettings) -> str:
    """Return the next step for a table in which no column is known as the step."""
    steps = [name for name in layout.kinds if is_number(name)]
    if len(steps) > 1 and len(layout.kinds) <= len(steps) + 1:
        return "If the columns are steps, say form: long in source.yml"
    moment = next((name for name in layout.kinds if name.strip().casefold() in MOMENTS), "NAME")
    advice = f"name it in source.yml, as in columns: {write_flow({'step': moment})}, or as x: of the block"
    first = advise_other(root, layout, settings)
    if not first and (found := suggest_rows(root, layout, settings)):
        first = found.advise()
    return f"{first}. Otherwise {advice}" if first else f"{advice[0].upper()}{advice[1:]}"


def advise_other(root: Path, layout: Layout, settings: SourceSettings) -> str:
    """Return the next step for JSON that is no table, and for a table of answers; nothing for others."""
    file, table = layout.files[0], _find_run_columns(layout, settings)
    is_json = file.format in {"json", "jsonl"} and not file.copy
    read = FORMATS[file.format].read_rows(file.get_content(root), file, file.columns) if is_json else ()
    cells = [row.cells for row in islice(read, _ROWS) if isinstance(row, Row)]
    rows = [{name: _parse_json(cell) for name, cell in row.items()} for row in cells]
    held = [cell for row in rows for cell in row.values()]
    nested = _advise_nested(rows[0]) if rows else ""
    if nested or (answers := advise_answers(root, layout, settings)):
        return nested or answers
    if (table and table["metrics"]) or not any(isinstance(cell, dict) for cell in held):
        return ""
    return suggest_mapping(rows).removesuffix(", or leave the file out with files:")


def _parse_json(cell: Text) -> Any:  # noqa: ANN401 - whatever JSON holds
    if cell and cell[0] in "{[":
        with suppress(ValueError):
            return json.loads(cell)
    return cell


def _advise_nested(row: Mapping[str, Any]) -> str:
    """Return the next step for JSON whose rows contain lists of rows, as its first one shows, or nothing."""
    for name, one in row.items():
        if not (name.isidentifier() and isinstance(one, list) and one and isinstance(one[0], dict)):
            continue
        inner = match_columns(OUTCOME_NAMES, filter(str.isidentifier, one[0]), {})
        names = {"series": ROLE_NAMES["series"], "problem": OUTCOME_NAMES["problem"]}
        outer = match_columns(names, filter(str.isidentifier, row), {})
        columns = f"and columns: in source.yml; a row has {join_names([*one[0]])}"
        if "problem" in outer and "score" in inner:
            paths = [f"{role}: ^.{key}" for role, key in outer.items()]
            listed = ", ".join([*paths, "sample: '@'", f"score: $.{inner['score']}"])
            columns = f"and columns: {{{listed}}} in source.yml"
        return f"Say format: mapped, rows: $.{name}[*] {columns}"
    return ""


def suggest_rows(root: Path, layout: Layout, settings: SourceSettings) -> Suggestion | None:
    """Return what a row may be: a finished run, a score of a benchmark, or the scores of a model."""
    found = _find_run_columns(layout, settings)
    runs = _suggest_runs(root, found, layout, settings) if found else None
    if runs and (runs.keys["metrics"] != ["NAME"] or "filter" in runs.keys):
        return runs
    return _suggest_scores(root, layout, settings) or runs


def _find_run_columns(layout: Layout, settings: SourceSettings) -> dict[str, Any] | None:
    """Return the names and metrics of a table whose rows may be runs, going by the names of its columns.

    It has numbers, no benchmark, and something else that a row of scores of a model does not have.
    """
    roles, kinds = layout.roles, layout.kinds
    other = settings.form or layout.outcomes or layout.totals or layout.long or roles.step
    parted = {*TOTAL_NAMES["benchmark"], *OUTCOME_NAMES["problem"]} - {"id", "idx"}
    if (
        other
        or any(name.strip().casefold() in parted for name in kinds)
        or NUMERIC.isdisjoint(kinds.values())
    ):
        return None
    parts = get_series_parts(settings)
    named = {*parts, *filter(None, astuple(roles))}
    free = [name for name in kinds if name not in named and kinds[name] is not Kind.EMPTY]
    metrics = [name for name in free if kinds[name] in NUMERIC and is_run_score(name)]
    rest = [name for name in free if name not in metrics]
    if all(name.casefold() in NAMES for name in rest):
        metrics = []
    found = {"series": parts or roles.series, "run": roles.run, "seed": roles.seed}
    return {"columns": {part: name for part, name in found.items() if name}, "metrics": metrics}


def _suggest_runs(
    root: Path, found: Mapping[str, Any], layout: Layout, settings: SourceSettings
) -> Suggestion:
    """Return the keys of finished runs, with the states of those that ended well."""
    states = find_states_by_column(root, layout, settings)
    ended = choose_finished(states)
    unended = [name for name, cells in states.items() if len(cells) > 1 and name not in ended]
    keys: dict[str, Any] = {"form": "runs"}
    keys |= {"columns": found["columns"]} if found["columns"] else {}
    keys |= {"metrics": found["metrics"] or ["NAME"]}
    keys |= {"filter": {**settings.filter, **ended}} if ended else {}
    rest = "" if found["metrics"] else ", with the name of each score"
    if unended:
        rest += f" (no {list_names(unended)} says that a run ended well: choose states with filter:)"
    return Suggestion("a row is a finished run", keys, rest)


def find_states_by_column(root: Path, layout: Layout, settings: SourceSettings) -> dict[str, list[str]]:
    """Return the states by the columns that say how runs ended; an empty cell is the state "".

    Columns that ``filter`` names are left out.
    """
    states: dict[str, list[str]] = {}
    for name in find_states(layout.kinds):
        if name not in settings.filter:
            columns = {"state": name}
            query = f"SELECT DISTINCT coalesce(state, '') FROM ({_select(root, layout, settings, columns)})"  # noqa: S608
            # Faults in the rows are reported when they are read.
            with suppress(*get_errors()):
                states[name] = [state for (state,) in get_engine().fetch_rows(f"{query} ORDER BY 1")]
    return states


def choose_finished(states: Mapping[str, Iterable[str]]) -> dict[str, str | list[str]]:
    """Return the states of runs that ended well by column; a column without such a state is left out."""
    found = {
        name: [state for state in cells if state.strip().casefold() in ENDED_WELL]
        for name, cells in states.items()
    }
    return {name: ended if len(ended) > 1 else ended[0] for name, ended in found.items() if ended}


def find_totals(layout: Layout, settings: SourceSettings, *, sure: bool = False) -> TotalRoles | None:
    """Return the roles of columns in a table without steps in which a row is a score; None if it is none.

    A score is called so, or is the only column of numbers whose name says that more or less is better, in a
    table without dates, which would tell runs apart. To be ``sure``, series and benchmarks need columns, and
    no other may hold numbers.
    """
    roles, names = layout.roles, get_mapped_columns(settings)
    stated = settings.form or layout.outcomes or layout.totals or roles.step
    if stated or {*find_states(layout.kinds)}.difference(settings.filter):
        return None
    numeric = {name for name, kind in layout.kinds.items() if kind in NUMERIC}
    matched = match_columns(
        TOTAL_NAMES,
        layout.kinds,
        names,
        taken=(roles.series, roles.run, roles.seed),
        fits=lambda part, name: part in {"benchmark", "metric"} or name in numeric,
    )
    if not (all if sure else any)((roles.series, "benchmark" in matched)):
        return None
    free = numeric - {*matched.values(), *astuple(roles)}
    is_timed = Kind.TIME in layout.kinds.values()
    if "score" in matched:
        return None if free and sure else TotalRoles(**matched)
    if is_timed or len(free) != 1 or not is_result(*free):
        return None
    return TotalRoles(**matched, score=min(free))


def name_score(roles: TotalRoles) -> dict[str, str]:
    """Return the role of the column of scores, unless its name is a usual one."""
    return {} if roles.score.strip().casefold() in TOTAL_NAMES["score"] else {"score": roles.score}


def _suggest_scores(root: Path, layout: Layout, settings: SourceSettings) -> Suggestion | None:
    """Return the keys of scores of benchmarks, if no run has two of one."""
    series, totals = layout.roles.series, find_totals(layout, settings)
    times = [name for name, kind in layout.kinds.items() if kind is Kind.TIME]
    if settings.form:
        return None
    if states := find_states_by_column(root, layout, settings):
        keys = {"filter": {**settings.filter, **choose_finished(states)}}
        return Suggestion("some runs did not end well", keys, " first") if keys["filter"] else None
    if "problem" in match_columns(OUTCOME_NAMES, layout.kinds, {}):
        return Suggestion(
            "a row is an answer", {"columns": {"score": "NAME"}}, ", with the name of its score"
        )
    if totals is not None and not times and not has_repeated_totals(root, layout, settings, totals):
        return _suggest_totals(layout, settings, totals)
    kinds = [*layout.kinds.values()]
    is_model = series and kinds.count(Kind.NUMBER) > 1 and Kind.MIXED not in kinds and not times
    if is_model and not has_repeated_totals(root, layout, settings, TotalRoles("")):
        return Suggestion(
            "a row has the scores of a model", {"form": "wide"}, ", and wide: benchmarks or metrics"
        )
    return None


def _suggest_totals(layout: Layout, settings: SourceSettings, totals: TotalRoles) -> Suggestion:
    """Return the keys of scores of benchmarks; as totals only one of several columns of scores is read."""
    scores = [name for name in list_free_columns(layout, NUMERIC) if is_run_score(name)]
    if layout.roles.series and len(scores) > 1:
        if any(name.casefold() in BENCHMARKS for name in layout.kinds):
            chosen = {"filter": {**settings.filter, "metric": scores[0]}}
            return Suggestion("a column is a metric", {"form": "wide", "wide": "metrics", **chosen})
        wide = {"form": "wide", "wide": "benchmarks", "metrics": scores}
        return Suggestion("a row has the scores of a model", wide)
    columns = {**settings.columns.model_dump(exclude_none=True), **name_score(totals)}
    keys = {"form": "totals", **({"columns": columns} if name_score(totals) else {})}
    return Suggestion("a row is a score of a whole benchmark", keys)


def has_repeated_totals(root: Path, layout: Layout, settings: SourceSettings, roles: TotalRoles) -> bool:
    """Return whether several rows are of one run, benchmark and metric."""
    parts = {part: name for part in ("benchmark", "metric") if (name := asdict(roles)[part])}
    keys = ", ".join(("series", "run", *parts))
    rows = _select(root, layout, settings, parts)
    repeated = f"SELECT 1 FROM ({rows}) GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        return bool(get_engine().fetch_rows(repeated))
    return False


def _select(root: Path, layout: Layout, settings: SourceSettings, columns: Mapping[str, str]) -> str:
    """Return the SELECT of series, run and some columns, as texts, in the rows that ``filter`` accepts."""

    def list_cells(rows: Rows) -> dict[str, str]:
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        return run | {part: rows.as_text(name) for part, name in columns.items()}

    return select_files(root, layout, list_cells, resolve_filters(settings.filter, tuple(layout.kinds)))


# ---- what describe suggests --------------------------------------------------------------------------------


def suggest_for_table(source: Source, root: Path) -> dict[str, Any]:
    """Suggest keys for what names in a table do not show: that it holds runs or totals, or its step."""
    layout, settings = get_layout(source), source.settings
    if layout.is_chart:
        # Keys that confirm the series and seeds found in the names of a chart's runs.
        runs = dict.fromkeys(one.run for one in list_chart_columns(layout).values())
        return dict(name_alone(runs, settings, layout.labels[0])[1])
    if layout.outcomes or layout.totals or layout.roles.step is not None:
        form = {} if layout.long else {"form": "wide"}
        # What a warning of columns or rows that were left out says, too.
        left_out = {warning.confirmed_by for warning in source.warnings}
        names = {"benchmarks": layout.benchmarks, "series": layout.series}.get(settings.wide or "", ())
        named: dict[str, Any] = {}
        if names and "metrics" in left_out:
            named["metrics"] = list(names)
        if "filter" in left_out:
            named["filter"] = {**settings.filter, "benchmark": list(layout.benchmarks)}
        return {**form, "wide": settings.wide, **named} if settings.wide else {}
    if step := _find_likely_step(root, layout, settings):
        return {"columns": {**settings.columns.model_dump(exclude_none=True), "step": step}}
    if answers := suggest_answers(root, layout, settings):
        return answers
    found = suggest_rows(root, layout, settings)
    return dict(found.keys) if found and not found.open else {}


def _find_likely_step(root: Path, layout: Layout, settings: SourceSettings) -> str:
    """Return the only column that is called as steps are and never decreases in a run; empty without one."""
    numbers = [name for name, kind in layout.kinds.items() if kind in NUMERIC]
    found = [name for name in numbers if _STEP.fullmatch(name) and not _NO_STEP.match(name)]
    others = [name for name in numbers if name not in found and not _NO_STEP.match(name)]
    is_sure = not any(map(_WEAK.search, found)) or (others and all(map(has_better_direction, others)))
    if len(found) != 1 or not is_sure:
        return ""

    def list_cells(rows: Rows) -> dict[str, str]:
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        return {**run, "step": rows.as_number(found[0]), "place": rows.get_position()}

    rows = select_files(root, layout, list_cells, resolve_filters(settings.filter, tuple(layout.kinds)))
    steps = f"SELECT list(step ORDER BY place) AS steps FROM ({rows}) GROUP BY series, run"  # noqa: S608
    rising = "bool_and(steps = list_sort(steps)) AND max(len(list_distinct(steps))) > 1"
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        return found[0] if get_engine().fetch_rows(f"SELECT {rising} FROM ({steps})")[0][0] else ""  # noqa: S608
    return ""


def confirm_settings(stated: SourceSettings, source: Source, root: Path) -> dict[str, object]:
    """Return the keys that say what the content of tables showed: that they hold totals, and their score."""
    known, layout = source.settings, get_layout(source)
    if layout.totals and has_repeated_totals(root, layout, known, layout.totals):
        return {}
    form = {"form": known.form} if known.form == "totals" != stated.form else {}
    if layout.outcomes or (score := known.columns.score) in {None, stated.columns.score}:
        return {**form}
    return {**form, "columns": {**stated.columns.model_dump(exclude_none=True), "score": score}}


def list_changes(suggested: Mapping[str, object], stated: SourceSettings) -> dict[str, Any]:
    """Return the suggested keys of ``source.yml`` that are not stated so already.

    Columns of ``format: mapped`` become paths; one that is at no path cannot be named.
    """
    own = stated.model_dump(mode="json", exclude_unset=True)
    columns = stated.columns.model_dump(mode="json", exclude_none=True)
    paths = list_paths(stated)
    changes = {key: [*one] if isinstance(one, tuple) else one for key, one in suggested.items()}
    if paths and isinstance(named := changes.get("columns"), dict):
        found = {
            role: [paths.get(one) for one in ([name] if isinstance(name, str) else name)]
            for role, name in named.items()
        }
        several = {role: some if len(some) > 1 else some[0] for role, some in found.items() if all(some)}
        changes["columns"] = {**columns, **several}
    return {key: one for key, one in changes.items() if one != own.get(key)}
