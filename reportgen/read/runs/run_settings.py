"""What the configuration of a run tells of it: its seed, and what the user asks for by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.read.runs.run_labels import without_seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.read.cells import Text
    from reportgen.read.logged import Setting
    from reportgen.read.runs.kept_units import KeptRun

# The best first; in a nested configuration a name may stand behind dots.
_SEEDS: Final = (
    *("seed", "random_seed", "rng_seed", "manual_seed", "global_seed", "seed_everything"),
    *("train_seed", "training_seed"),
)
# What a run has beside its configuration, where no setting has such a name.
OWN: Final = ("name", "folder", "group", "id", "model", "benchmark")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run and what can name it.

    Attributes:
        run: the run.
        labels: the named groups of ``files:``.
        path: its folder or file below the source.
        folder: what tells the path from those of the other runs.
    """

    run: KeptRun
    labels: Mapping[str, Text]
    path: str
    folder: str


def seed_of_config(config: Mapping[str, Setting]) -> str | None:
    """The seed that a configuration tells; None where it tells none or several that differ."""
    for known in _SEEDS:
        found = {_number(value) for key, value in config.items() if key.casefold() == known}
        found = found or {
            _number(value) for key, value in config.items() if key.casefold().rpartition(".")[2] == known
        }
        if len(found) == 1:
            return found.pop()
        if found:
            return None
    return None


def value_named(candidate: Candidate, name: str) -> str | None:
    """What a run has under a name: a group of ``files:``, a setting, or something of its own, or None."""
    if name in candidate.labels:
        return candidate.labels[name]
    key = _key_named(name, candidate.run.config)
    if key is not None:
        value = candidate.run.config[key]
        return value if isinstance(value, str) else _number(value)
    if name == "folder":
        return candidate.folder or None
    return getattr(candidate.run, name) or None if name in OWN else None


def is_word(candidate: Candidate, name: str) -> bool:
    """Whether what a run has under a name says by itself what it is, and is not a bare number."""
    key = _key_named(name, candidate.run.config)
    return name in candidate.labels or key is None or isinstance(candidate.run.config[key], str)


def names_there_are(candidates: Iterable[Candidate]) -> list[str]:
    """What runs can be named by: what differs between them first."""
    values: dict[str, set[str | None]] = {}
    for candidate in candidates:
        for name in (*candidate.labels, *OWN, *candidate.run.config):
            values.setdefault(name, set()).add(value_named(candidate, name))
    known = [name for name, found in values.items() if found != {None}]
    return sorted(known, key=lambda name: len(values[name]) < 2)  # noqa: PLR2004 - all alike


def repeated(candidates: Sequence[Candidate]) -> bool:
    """Whether runs are one experiment with several seeds: no other setting differs but paths and names.

    A text may hold the seed, or the name or id of the run.
    """
    keys = dict.fromkeys(key for one in candidates for key in one.run.config)
    return all("seed" in key.casefold() or len({_plain(one, key) for one in candidates}) == 1 for key in keys)


def _plain(candidate: Candidate, key: str) -> str | None:
    """A setting without what may name the run in it."""
    value = candidate.run.config.get(key)
    if not isinstance(value, str):
        return None if value is None else _number(value)
    for own in (candidate.run.id, candidate.run.name):
        value = value.replace(own, "") if own else value
    return without_seed(value)[0]


def _key_named(name: str, config: Mapping[str, Setting]) -> str | None:
    """The setting of this name or, where no other ends so, one that has it behind dots."""
    if name in config or name in OWN:
        return name if name in config else None
    found = [key for key in config if key.endswith(f".{name}")]
    return found[0] if len(found) == 1 else None


def _number(value: Setting) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}" if abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - exact
    return str(value)
