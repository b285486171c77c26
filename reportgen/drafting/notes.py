"""What the readers of a figure should know of its source: what was irregular in it, or left out."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.words import join_names

if TYPE_CHECKING:
    from reportgen.errors import SourceLocation
    from reportgen.model import Source

_MOST_PLACES: Final = 3
# What concerns settings, or the x that a block may choose: only the author can do something with it.
_ADVICE: Final = re.compile(
    r"^(?:rename|rename_metrics|lower_is_better|score_name|protocols|series_from|seed_from|run_from): "
    r"|: steps here are _step\b"
)
# Behind what is irregular may stand what a block could do about it.
_IN_A_BLOCK: Final = re.compile(r': "[^"]*" in a block [^;]*')

# What ``repeat:`` does to rows of one step, or of one problem.
_REPEAT: Final = {
    ("measurements", "mean"): "Rows of one run and step are averaged.",
    ("measurements", "runs"): "Rows of one run and step are read as runs of their own.",
    ("outcomes", "runs"): "Rows of one run, problem and sample are read as runs of their own.",
}


def list_notes(source: Source) -> tuple[str, ...]:
    """Sentences about a source for the readers of its figures.

    They are what the build warns of, but for the steps that its author may take and for what concerns
    settings only. Files are told by their paths below the source. Of a frozen source they begin with what
    was found when it was frozen.
    """
    places_by_message: dict[str, list[str]] = defaultdict(list)
    folder = _folder(source)
    for warning in source.warnings:
        if not _ADVICE.search(warning.message):
            message = _IN_A_BLOCK.sub("", warning.message).replace(f"{folder}/", "")
            places_by_message[message].append(_shorten_place(warning.place, source, folder))
    found = (
        f"{join_names(places, most=_MOST_PLACES)}: {message}."
        for message, places in places_by_message.items()
    )
    repeat = _REPEAT.get((source.kind, source.settings.repeat or ""))
    return tuple(
        dict.fromkeys((*(source.settings.provenance.found or ()), *found, *([repeat] if repeat else [])))
    )


def _folder(source: Source) -> str:
    """The source's folder, as places tell it."""
    place = PurePosixPath(source.location.file)
    return str(place.parent if place.name == "source.yml" else place)


def _shorten_place(place: SourceLocation, source: Source, folder: str) -> str:
    """A place as it is told to readers: below the source's folder, or the source itself by its name."""
    path = PurePosixPath(place.file)
    if place.file in {source.location.file, folder} and all(file.path != place.file for file in source.files):
        return source.name
    below = path.is_relative_to(folder) and path != PurePosixPath(folder)
    return str(replace(place, file=str(path.relative_to(folder)) if below else path.name))
