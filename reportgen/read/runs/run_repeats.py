"""Whether runs are one experiment with several seeds, and which settings tell them apart otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.read.runs.run_labels import split_seed
from reportgen.read.runs.run_settings import format_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.read.logged import Setting
    from reportgen.read.runs.run_settings import Candidate

_MOST_KEYS: Final = 3
_LONGEST: Final = 60
# What a start of a run has of its own, and what changes nothing in its values: parts of a setting's name.
_INCIDENTAL: Final = re.compile(
    r"(\w+_)?(output|out|log|logging|save|saving|run|results?|work|working|tmp|temp|cache|export|exp|experiment"
    r"|tensorboard|tb|wandb|profile)_?(dir|directory|folder|path|root)|(checkpoints?|ckpt)_dir"
    r"|(default_)?(root|local)_dir|(rollout|validation)_data_dir|(log|logging|save)_(every|steps|interval|freq)"
    r"|(run|exp|experiment|trial|job|display|project|group|host|node|user|hub|hub_model)_?(name|id)"
    r"|(wandb|swanlab|mlflow|hydra|slurm|git)(_\w+)?|use_wandb|report_to|u?uid|host"
    r"|(master_|server_|main_process_)?(port|addr)"
    r"|url|uri|(local|global|node)_rank|pid|(start_?|end_?|created?_?|run_?)?(time|timestamp|date|datetime)"
    r"|(created|started)_at|devices?|cuda|gpus?|(gpu|device)_ids?|(cuda_)?visible_devices|num_workers|notes"
    r"|comment|tags|resume\w*|verbose|track|capture_video|commit",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[./]")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T _-]\d\d[-:.]?\d\d([-:.]?\d\d)?|\d{8}[-_]\d{6}")
# The day does not change what was measured.
_DAY: Final = "date"


@dataclass(frozen=True, slots=True)
class Differences:
    """The settings that differ between runs, but for seeds, paths and names.

    Attributes:
        keys: their names; of evaluations also what their protocols tell.
        values: of each run, in the order of ``keys``; None of a run of which no setting is known.
    """

    keys: tuple[str, ...]
    values: tuple[tuple[str | None, ...] | None, ...]

    def is_repeated(self, places: Iterable[int]) -> bool:
        """Whether the runs at these places have the same settings, as far as these are known."""
        return len({self.values[index] for index in places} - {None}) < 2  # noqa: PLR2004 - all alike

    def list_differing(self, places: Sequence[int]) -> list[str]:
        """The settings that differ between the runs at these places."""
        known = [found for index in places if (found := self.values[index]) is not None]
        return [key for key, *several in zip(self.keys, *known, strict=True) if len(set(several)) > 1]

    def choose_keys(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The fewest settings that tell apart all runs of one label that are not one experiment.

        Args:
            labels: of each run.

        Returns:
            Three at most, of which none is a long text; none where these do not do.
        """
        short = [
            index
            for index in range(len(self.keys))
            if all(len(values[index] or "") <= _LONGEST for values in self.values if values)
        ]
        rows = [values or (None,) * len(self.keys) for values in self.values]
        target = len(set(zip(labels, rows, strict=True)))
        chosen: list[int] = []
        while _count_classes(labels, rows, chosen) < target and len(chosen) < _MOST_KEYS and short:
            chosen.append(max(short, key=lambda place: _count_classes(labels, rows, [*chosen, place])))
            short.remove(chosen[-1])
        return (
            tuple(self.keys[place] for place in chosen)
            if _count_classes(labels, rows, chosen) == target
            else ()
        )


def find_differences(candidates: Sequence[Candidate]) -> Differences:
    """What the settings of runs, and the protocols of evaluations, tell of them beside their seeds.

    A text may hold the seed, a time, or the name or id of the run: with them taken out it has to be the same.
    """
    said = [_get_settings(candidate) for candidate in candidates]
    keys = [key for key in dict.fromkeys(key for one in said for key in one) if is_experiment_setting(key)]
    keys = [key for key in keys if len({one.get(key) for one in said if one}) > 1]
    rows = [
        tuple(_clean_setting(candidate, one.get(key)) for key in keys) if one else None
        for candidate, one in zip(candidates, said, strict=True)
    ]
    known = [row for row in rows if row is not None]
    differing = [index for index in range(len(keys)) if len({row[index] for row in known}) > 1]
    return Differences(
        tuple(keys[place] for place in differing),
        tuple(None if row is None else tuple(row[place] for place in differing) for row in rows),
    )


def _get_settings(candidate: Candidate) -> Mapping[str, Setting]:
    protocol = {key: value for key, value in candidate.run.protocol.items() if key != _DAY}
    return {**protocol, **candidate.run.config}


def is_experiment_setting(key: str) -> bool:
    """Whether a setting of this name may make another experiment, and not only another start of one."""
    if "seed" in key.casefold() or key.casefold() == "name":
        return False
    return not any(_INCIDENTAL.fullmatch(part) for part in _PARTS.split(key))


def _clean_setting(candidate: Candidate, value: Setting | None) -> str | None:
    """A setting without what may name the run in it; a name alone may be that of a method."""
    if not isinstance(value, str):
        return None if value is None else format_setting(value)
    plain = value
    for own in (candidate.run.id, candidate.run.name):
        if own and own != value and own in plain:
            # An id may be ``1``, which is no part of ``v12``.
            plain = re.sub(rf"(?<![^\W_]){re.escape(own)}(?![^\W_])", "", plain)
    return split_seed(_TIME.sub("", plain))[0]


def _count_classes(
    labels: Sequence[str], rows: Sequence[tuple[str | None, ...]], chosen: Sequence[int]
) -> int:
    """How many kinds of runs labels and the chosen settings tell."""
    return len({(label, *(row[place] for place in chosen)) for label, row in zip(labels, rows, strict=True)})
