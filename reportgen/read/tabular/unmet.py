"""What the settings of a source name, and its data do not have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, Severity, Stage
from reportgen.read.wording import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.errors import Place
    from reportgen.read.layout import Survey
    from reportgen.settings.source import SourceSettings


def with_unmet(found: Survey, settings: SourceSettings, place: Place) -> Survey:
    """A survey with what the settings name in vain among the warnings.

    Raises:
        ReportError: what they name in vain cannot be done without.
    """
    problems = list(unmet_names(found, settings, place))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ReportError(*problems)
    return replace(found, warnings=(*found.warnings, *problems))


def unmet_names(found: Survey, settings: SourceSettings, place: Place) -> Iterator[Problem]:
    """Names in the settings that the data do not have."""
    known = (*found.raw_metrics, *found.layout.metrics)
    for name in settings.metrics or ():
        if name not in known:
            message = f'metrics: there is no metric "{name}"'
            yield Problem(place, message, known_names(name, found.raw_metrics, "There are"), Stage.DATA)
    layout, lower, named = found.layout, settings.lower_is_better, settings.score_name
    for key, kind, asked, there in (
        ("rename_metrics", "metric", settings.rename_metrics, found.raw_metrics),
        ("lower_is_better", "benchmark", lower if isinstance(lower, tuple) else (), layout.benchmarks),
        ("score_name", "benchmark", named if isinstance(named, dict) else (), layout.benchmarks),
        ("protocols", "series", settings.protocols, layout.series),
    ):
        for name in asked:
            if name not in there:
                yield _unmet(key, kind, name, there, place)
    for old, new in settings.rename.items():
        if new not in layout.series:
            yield _unmet("rename", "series", old, layout.series, place)


def _unmet(key: str, kind: str, name: str, there: Sequence[str], place: Place) -> Problem:
    message = f'{key}: there is no {kind} "{name}"'
    return Problem(place, message, known_names(name, there, "There are"), Stage.DATA, Severity.WARNING)
