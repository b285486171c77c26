"""How answers were measured, as harnesses tell it, where the source does not say it itself."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from reportgen.read.runs.imported_parts import list_scored_runs
from reportgen.settings.source import Protocol, make_protocol

if TYPE_CHECKING:
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.settings.source import SourceSettings


def add_protocols(settings: SourceSettings, runs: ImportedRuns) -> SourceSettings:
    """Settings with the protocols that files tell: what all series share, and what one has of its own.

    What differs between the evaluations of one series is left out, and what the settings say stands.
    """
    reported: dict[str, list[Protocol]] = defaultdict(list)
    read = {id(run) for run in list_scored_runs(runs)}
    for candidate, name in zip(runs.candidates, runs.naming.names, strict=True):
        if id(candidate.run) in read:
            series = settings.rename.get(name.series, name.series)
            reported[series].append(make_protocol(candidate.run.protocol))
    if not reported:
        return settings
    by_series = {series: _find_shared(protocols) for series, protocols in reported.items()}
    common = _find_shared(list(by_series.values()))
    own = {
        series: protocol.model_copy(update=dict.fromkeys(_get_fields(common)))
        for series, protocol in by_series.items()
    }
    protocols = {
        series: protocol.model_copy(update=_get_fields(settings.protocols.get(series, Protocol())))
        for series, protocol in own.items()
    }
    # A key that the settings give for all series stands for each of them.
    general = _get_fields(settings.protocol)
    protocols = {
        series: protocol.model_copy(
            update={name: getattr(settings.protocols.get(series, Protocol()), name) for name in general}
        )
        for series, protocol in protocols.items()
    }
    return settings.model_copy(
        update={
            "protocol": common.model_copy(update=general),
            "protocols": {
                **settings.protocols,
                **{series: protocol for series, protocol in protocols.items() if _get_fields(protocol)},
            },
        }
    )


def _find_shared(protocols: list[Protocol]) -> Protocol:
    """What several protocols say alike."""
    said = [_get_fields(protocol) for protocol in protocols]
    return Protocol(
        **{name: value for name, value in said[0].items() if all(one.get(name) == value for one in said)}
    )


def _get_fields(protocol: Protocol) -> dict[str, object]:
    return protocol.model_dump(exclude_none=True)
