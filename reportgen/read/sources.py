"""A source as a value, from its place, its settings and what was seen in its files."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reportgen.model import Source
from reportgen.read.tabular.outcome_columns import list_free_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import SourceFile
    from reportgen.read.find import Location
    from reportgen.read.layout import Survey
    from reportgen.settings.source import SourceSettings


def make_source(
    location: Location,
    said: SourceSettings,
    settings: SourceSettings,
    files: tuple[SourceFile, ...],
    found: Survey,
) -> Source:
    """A source.

    Args:
        location: where it is.
        said: what its ``source.yml`` says.
        settings: the same with what its files say, such as the protocol of a harness.
        files: every file behind it, with its hash.
        found: what was seen in them.
    """
    return Source(
        name=location.name,
        location=location.place,
        settings=settings,
        files=files,
        metrics=tuple(found.layout.metrics),
        columns=found.columns,
        digest=_hash_source(location.name, files, said, found),
        warnings=found.warnings,
        layout=found.layout,
        kind="outcomes" if found.layout.outcomes else "totals" if found.layout.totals else "measurements",
        benchmarks=found.layout.benchmarks,
        lower_is_better=_choose_lower_is_better(settings, found),
        slices=list_free_columns(found.layout),
        score_range=settings.score_range,
    )


def _choose_lower_is_better(settings: SourceSettings, found: Survey) -> tuple[str, ...]:
    """The benchmarks on which a smaller total is better: as stated, otherwise as found."""
    stated = settings.lower_is_better
    if stated is None or found.layout.totals is None:
        return found.layout.lower_is_better
    if isinstance(stated, bool):
        return (found.layout.benchmarks or ("",)) if stated else ()
    return stated


def _hash_source(name: str, files: Sequence[SourceFile], settings: SourceSettings, found: Survey) -> str:
    """What decides the numbers of a source and what is said of them, of files that are left out, too."""
    contents = " ".join(f"{file.path} {file.sha256}" for file in files)
    warnings = " ".join(map(str, found.warnings))
    return hashlib.sha256(f"{name} {contents} {settings.model_dump_json()} {warnings}".encode()).hexdigest()
