"""Surveys in the cache: a source whose files and settings stand is not looked at again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reportgen.read.cells import Kind
from reportgen.read.layout import FileLayout, Layout, OutcomeRoles, Roles, RunColumn, Survey, TotalRoles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.cache import Cache
    from reportgen.model import SourceFile
    from reportgen.read.layout import DataFile
    from reportgen.settings.source import SourceSettings


def make_survey_key(
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
    return cache.make_key("survey", json.dumps(read), settings.model_dump_json())


def store_survey(cache: Cache, key: str, survey: Survey) -> None:
    """Keep a survey, unless it has warnings: these are told of what was really looked at."""
    if not survey.warnings:
        layout = {**asdict(survey.layout), "gapless": sorted(survey.layout.gapless)}
        cache.put(key, json.dumps([layout, survey.columns, survey.raw_metrics]).encode())


def load_survey(cache: Cache, key: str) -> Survey | None:
    """What ``store_survey`` kept; None where there is nothing."""
    data = cache.get(key)
    if data is None:
        return None
    layout, columns, metrics = json.loads(data)
    return Survey(_load_layout(layout), tuple(columns), tuple(metrics), ())


def _load_layout(data: dict[str, Any]) -> Layout:
    return Layout(
        files=tuple(_load_file(file) for file in data["files"]),
        labels=tuple(data["labels"]),
        kinds={name: Kind(kind) for name, kind in data["kinds"].items()},
        roles=Roles(**data["roles"]),
        long=data["long"],
        metrics={name: tuple(raw) for name, raw in data["metrics"].items()},
        series=tuple(data["series"]),
        exhaustive=data["exhaustive"],
        gapless=frozenset(data["gapless"]),
        outcomes=OutcomeRoles(**data["outcomes"]) if data["outcomes"] else None,
        totals=TotalRoles(**data["totals"]) if data["totals"] else None,
        benchmarks=tuple(data["benchmarks"]),
        lower_is_better=tuple(data["lower_is_better"]),
        step_name=data["step_name"],
        spread={column: RunColumn(**one) for column, one in data["spread"].items()},
    )


def _load_file(data: dict[str, Any]) -> FileLayout:
    given = tuple((name, tuple(values)) for name, values in data["given"])
    lists = {"columns": tuple(data["columns"]), "types": tuple(data["types"]), "given": given}
    return FileLayout(**{**data, **lists})
