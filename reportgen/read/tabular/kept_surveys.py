"""Surveys in the cache: a source whose files and settings stand is not looked at again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reportgen.read.cells import Kind
from reportgen.read.layout import FileLayout, Layout, OutcomeRoles, Roles, Spread, Survey, TotalRoles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.cache import Cache
    from reportgen.model import SourceFile
    from reportgen.read.layout import DataFile
    from reportgen.settings.source import SourceSettings


def survey_key(
    cache: Cache, files: Sequence[DataFile], hashed: Sequence[SourceFile], settings: SourceSettings
) -> str:
    """The key of a survey: the files' content, how they are read, and what ``source.yml`` says."""
    read = [
        [
            *(file.content.name, known.sha256, file.format, file.content.compression),
            *(file.label, file.given, file.copy),
        ]
        for file, known in zip(files, hashed, strict=True)
    ]
    return cache.key("survey", json.dumps(read), settings.model_dump_json())


def keep(cache: Cache, key: str, survey: Survey) -> None:
    """Keep a survey, unless it has warnings: these are told of what was really looked at."""
    if not survey.warnings:
        layout = {**asdict(survey.layout), "gapless": sorted(survey.layout.gapless)}
        cache.put(key, json.dumps([layout, survey.columns, survey.raw_metrics]).encode())


def kept(cache: Cache, key: str) -> Survey | None:
    """What ``keep`` kept; None where there is nothing."""
    data = cache.get(key)
    if data is None:
        return None
    layout, columns, metrics = json.loads(data)
    return Survey(_layout(layout), tuple(columns), tuple(metrics), ())


def _layout(told: dict[str, Any]) -> Layout:
    return Layout(
        files=tuple(_file(file) for file in told["files"]),
        labels=tuple(told["labels"]),
        kinds={name: Kind(kind) for name, kind in told["kinds"].items()},
        roles=Roles(**told["roles"]),
        long=told["long"],
        metrics={name: tuple(raw) for name, raw in told["metrics"].items()},
        series=tuple(told["series"]),
        exhaustive=told["exhaustive"],
        gapless=frozenset(told["gapless"]),
        outcomes=OutcomeRoles(**told["outcomes"]) if told["outcomes"] else None,
        totals=TotalRoles(**told["totals"]) if told["totals"] else None,
        benchmarks=tuple(told["benchmarks"]),
        lower_is_better=tuple(told["lower_is_better"]),
        step_name=told["step_name"],
        spread={column: Spread(**one) for column, one in told["spread"].items()},
    )


def _file(told: dict[str, Any]) -> FileLayout:
    given = tuple((name, tuple(values)) for name, values in told["given"])
    lists = {"columns": tuple(told["columns"]), "types": tuple(told["types"]), "given": given}
    return FileLayout(**{**told, **lists})
