"""What the settings of a source name, and its data do not have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, Severity, Stage
from reportgen.read.wording import suggest_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.errors import SourceLocation
    from reportgen.read.layout import Survey
    from reportgen.settings.source import SourceSettings


def check_setting_names(found: Survey, settings: SourceSettings, place: SourceLocation) -> Survey:
    """A survey with what the settings name in vain among the warnings.

    Raises:
        ReportError: what they name in vain cannot be done without.
    """
    problems = list(find_unmatched_names(found, settings, place))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ReportError(*problems)
    return replace(found, warnings=(*found.warnings, *problems))


def find_unmatched_names(found: Survey, settings: SourceSettings, place: SourceLocation) -> Iterator[Problem]:
    """Names in the settings that the data do not have."""
    known = (*found.raw_metrics, *found.layout.metrics)
    for name in settings.metrics or ():
        if name not in known:
            message = f'metrics: there is no metric "{name}"'
            yield Problem(place, message, suggest_names(name, found.raw_metrics, "There are"), Stage.DATA)
    layout, lower, named = found.layout, settings.lower_is_better, settings.score_name
    for key, kind, given, there in (
        ("rename_metrics", "metric", settings.rename_metrics, found.raw_metrics),
        ("lower_is_better", "benchmark", lower if isinstance(lower, tuple) else (), layout.benchmarks),
        ("score_name", "benchmark", named if isinstance(named, dict) else (), layout.benchmarks),
        ("protocols", "series", settings.protocols, layout.series),
    ):
        for name in given:
            if name not in there:
                yield _warn_unmatched(key, kind, name, there, place)
    for old, new in settings.rename.items():
        if new not in layout.series:
            yield _warn_unmatched("rename", "series", old, layout.series, place)


def _warn_unmatched(key: str, kind: str, name: str, there: Sequence[str], place: SourceLocation) -> Problem:
    message = f'{key}: there is no {kind} "{name}"'
    return Problem(place, message, suggest_names(name, there, "There are"), Stage.DATA, Severity.WARNING)
