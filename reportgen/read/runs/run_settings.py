"""What the configuration of a run tells of it: its seed, and what the user asks for by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.read.cells import Text
    from reportgen.read.logged import Setting
    from reportgen.read.runs.kept_units import StoredRun

# The best first; in a nested configuration a name may stand behind dots.
_SEEDS: Final = (
    *("seed", "random_seed", "rng_seed", "manual_seed", "global_seed", "seed_everything"),
    *("train_seed", "training_seed"),
)
# Texts that say that there is nothing, or yes or no.
_BARE: Final = frozenset(("", "none", "null", "nan", "true", "false"))
_NUMBER: Final = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?")
# What a run has beside its configuration, where no setting has such a name.
RUN_FIELDS: Final = ("name", "folder", "group", "id", "model", "benchmark")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run and what can name it.

    Attributes:
        run: the run.
        labels: the named groups of ``files:``.
        path: its folder or file below the source.
        folder: what tells the path from those of the other runs.
    """

    run: StoredRun
    labels: Mapping[str, Text]
    path: str
    folder: str


def find_config_seed(config: Mapping[str, Setting]) -> str | None:
    """The seed that a configuration tells; None where it tells none or several that differ."""
    for known in _SEEDS:
        found = {format_setting(value) for key, value in config.items() if key.casefold() == known}
        found = found or {
            format_setting(value)
            for key, value in config.items()
            if key.casefold().rpartition(".")[2] == known
        }
        found = {seed for seed in map(parse_seed, found) if seed is not None}
        if len(found) == 1:
            return found.pop()
        if found:
            return None
    return None


def parse_seed(text: str | None) -> str | None:
    """A text as a seed; None where it says that there is none, as ``None`` and ``false`` do."""
    return None if text is None or text.strip().casefold() in _BARE else text


def get_value(candidate: Candidate, name: str) -> str | None:
    """What a run has under a name: a group of ``files:``, a setting, of its protocol or its own, or None."""
    if name in candidate.labels:
        return candidate.labels[name]
    key = _find_key(name, candidate.run.config)
    if key is not None:
        value = candidate.run.config[key]
        return value if isinstance(value, str) else format_setting(value)
    if name == "folder":
        return candidate.folder or None
    if name in candidate.run.protocol and name not in RUN_FIELDS:
        return candidate.run.protocol[name]
    return getattr(candidate.run, name) or None if name in RUN_FIELDS else None


def is_word(candidate: Candidate, name: str) -> bool:
    """Whether what a run has under a name says by itself what it is, as neither numbers nor ``true`` do."""
    key = _find_key(name, candidate.run.config)
    if name in candidate.labels or (key is None and name in RUN_FIELDS):
        return True
    value = candidate.run.config[key] if key is not None else candidate.run.protocol.get(name, "")
    if not isinstance(value, str):
        return False
    return value.casefold() not in _BARE and not (key is None and _NUMBER.fullmatch(value))


def list_value_names(candidates: Iterable[Candidate]) -> list[str]:
    """What runs can be named by: what differs between them first."""
    values: dict[str, set[str | None]] = {}
    for candidate in candidates:
        for name in (*candidate.labels, *RUN_FIELDS, *candidate.run.config, *candidate.run.protocol):
            values.setdefault(name, set()).add(get_value(candidate, name))
    known = [name for name, found in values.items() if found != {None}]
    return sorted(known, key=lambda name: len(values[name]) < 2)  # noqa: PLR2004 - all alike


def _find_key(name: str, config: Mapping[str, Setting]) -> str | None:
    """The setting of this name or, where no other ends so, one that has it behind dots."""
    if name in config or name in RUN_FIELDS:
        return name if name in config else None
    found = [key for key in config if key.endswith(f".{name}")]
    return found[0] if len(found) == 1 else None


def format_setting(value: Setting) -> str:
    """A setting as a text: whole numbers without a point."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}" if abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - exact
    return str(value)
