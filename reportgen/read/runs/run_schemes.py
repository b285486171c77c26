"""What may name the series of runs: names, folders, groups, and settings beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.read.runs.run_labels import shorten_paths, split_seed, strip_ids
from reportgen.read.runs.run_settings import get_value, is_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.read.runs.run_settings import Candidate


@dataclass(frozen=True, slots=True)
class Scheme:
    """Labels that may name the series of all runs.

    Attributes:
        labels: one a run.
        by: what they are, as words after "by".
        keys: what ``series_from`` would call them.
    """

    labels: tuple[str, ...]
    by: str
    keys: tuple[str, ...]


def list_schemes(candidates: Sequence[Candidate]) -> list[Scheme]:
    """What may name the series of all runs, the plainest first."""
    names, folders = [one.run.name for one in candidates], [one.folder for one in candidates]
    if not any(names):
        return [Scheme(tuple(folders), "their folders", ("folder",))]
    # Ids in folders say nothing of runs that have names.
    pairs = list(zip(names, shorten_paths(_strip_paths(candidates)), strict=True))
    by_name = tuple(name or folder for name, folder in zip(names, folders, strict=True))
    by_both = tuple(f"{folder} {name}".strip() for name, folder in pairs)
    found = [
        Scheme(by_name, "their names", ("name",)),
        Scheme(tuple(folder or name for name, folder in pairs), "their folders", ("folder",)),
        Scheme(by_both, "folders and names", ("folder", "name")),
    ]
    if len(groups := {one.run.group for one in candidates}) > 1 and all(groups):
        grouped = tuple(f"{one.run.group} {one.run.name}".strip() for one in candidates)
        found.append(Scheme(grouped, "groups and names", ("group", "name")))
    return found


def join_labels(candidates: Sequence[Candidate], keys: Sequence[str], source: str) -> tuple[str | None, ...]:
    """What each run has under several names."""
    folders = _chosen_folders(candidates)
    return tuple(join_values(*one, keys, source) for one in zip(candidates, folders, strict=True))


def _strip_paths(candidates: Sequence[Candidate]) -> list[str]:
    return [strip_ids(one.path, one.run.id) for one in candidates]


def _chosen_folders(candidates: Sequence[Candidate]) -> list[str]:
    """What tells paths apart, without ids unless nothing else does."""
    chosen = shorten_paths(_strip_paths(candidates))
    return chosen if any(chosen) else [one.folder for one in candidates]


def join_values(candidate: Candidate, folder: str, keys: Sequence[str], source: str) -> str | None:
    """What a run has under several names; a number is told with its name."""
    parts = []
    for name in keys:
        value = folder if name == "folder" else get_value(candidate, name)
        if name == "folder" or (name == "name" and value is not None):
            value = split_seed(value or "")[0] or source
        if value:
            parts.append(value if is_word(candidate, name) else f"{name}={value}")
    return ", ".join(parts) or None
