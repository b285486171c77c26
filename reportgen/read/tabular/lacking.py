"""Files of one source that do not have the columns of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, Severity, SourceLocation, Stage
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.read.layout import Layout, Look


def check_columns(layout: Layout, looks: Sequence[Look]) -> tuple[Problem, ...]:
    """What to tell of files that lack columns which others have.

    JSON Lines have a key only where there is something to say, so a sample proves nothing.

    Returns:
        A warning for each file without some of the metrics or without a run or seed.

    Raises:
        ReportError: files lack the column of series, step, metric or value, or of problem or score.
    """
    roles = layout.roles
    needed = [name for name in (roles.series, roles.step, roles.metric, roles.value) if name]
    if layout.outcomes:
        needed += [layout.outcomes.problem, layout.outcomes.score]
    raw = [] if layout.long else [name for raws in layout.metrics.values() for name in raws]
    optional = [name for name in (roles.run, roles.seed, *raw) if name]
    errors, warnings = [], []
    for look in looks:
        if look.file.format == "jsonl" and not look.exhaustive:
            continue
        place, there = SourceLocation(look.file.path), set(look.file.names)
        if absent := [name for name in needed if name not in there]:
            message = f"the file has no column {_quote_columns(absent)}, which others of the source have"
            advice = "Rename its columns, or leave the file out with files: in source.yml"
            errors.append(Problem(place, message, advice, Stage.DATA))
        elif absent := [name for name in optional if name not in there]:
            message = f"the file has no column {_quote_columns(absent)}, which others of the source have"
            warnings.append(Problem(place, message, "", Stage.DATA, Severity.WARNING))
    if errors:
        raise ReportError(*errors)
    return tuple(warnings)


def _quote_columns(columns: Sequence[str]) -> str:
    return list_names(f'"{column}"' for column in columns)
