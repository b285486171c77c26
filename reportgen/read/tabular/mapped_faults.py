"""What is wrong with a mapping as a whole: rows and columns that no file has, and columns that hold lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.errors import Problem, SourceLocation, Stage
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.read.runs.kept_units import StoredRun, StoredUnit
    from reportgen.read.tabular.json_path import JsonPath, PathRow


def describe_row(row: PathRow) -> tuple[str, str]:
    """What a row is, and its keys if it has any, for whoever looks for one in vain."""
    if isinstance(row.value, dict):
        return "an object", list_names(row.value) if row.value else ""
    return "a list" if isinstance(row.value, list) else "a single value", ""


def find_mapping_faults(
    units: Sequence[StoredUnit], columns: Mapping[str, JsonPath], rows: JsonPath | None, place: SourceLocation
) -> Iterator[Problem]:
    """Everything that no file has.

    Args:
        units: the files; of their runs ``name`` and ``group`` are the keys and kind of the first row, and
            ``config`` tells the columns whose every cell holds others, and what is there in place of those
            that find nothing.
        columns: where each column is in a row.
        rows: where the rows are; None where nobody says it.
        place: of the settings.
    """
    runs = [run for unit in units for run in unit.runs]
    if not runs:
        advice = "Mend rows: in source.yml, or leave the file out with files:"
        findings = (finding for unit in units for finding in unit.findings)
        yield from (
            Problem(SourceLocation(one.path, one.line), one.message, advice, Stage.DATA) for one in findings
        )
        return
    for name, path in columns.items():
        said = f'"{path.text}", the column "{name}",'
        filled = [run for run in runs if run.metrics.get(name)]
        if not filled:
            there = next((str(run.config[name]) for run in runs if run.config.get(name)), "")
            advice = there or _suggest_path(runs, rows)
            yield Problem(place, f"{said} finds nothing in any row", advice, Stage.DATA)
        elif all(run.config.get(name) for run in filled):
            within = f"{rows.text if rows else '$[*]'}{path.text.removeprefix('$')}[*]"
            rest = "" if path.up else f", with rows: {within}"
            one = f"{path.text}[0] or {path.text}.name"
            advice = f"Go on to one value, as in {one}, or make its items the rows{rest}"
            yield Problem(place, f"{said} is a list or an object in every row", advice, Stage.DATA)


def _suggest_path(runs: Sequence[StoredRun], rows: JsonPath | None) -> str:
    """What rows have instead."""
    if known := next((run.name for run in runs if run.name), ""):
        return f"A row has {known}"
    advice = "Mend rows: in source.yml" if rows else "Say where they are, as in rows: $.results[*]"
    return f"A row is {runs[0].group}. {advice}"
