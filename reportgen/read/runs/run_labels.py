"""What the names of runs and the paths of their files tell: the seed, and what tells runs apart."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BETWEEN: Final = r"\s/_\-.,;:=+()\[\]"
_SEED: Final = re.compile(
    rf"(?<![^{_BETWEEN}])(?:(?:random|rng|global|train|training|torch|np)[_\-. ]?)?seed[\s_\-=:.#]*(\d+)"
    # ``Seed-1.5`` is the name of a model.
    rf"(?![^{_BETWEEN}]|\.\d)",
    re.IGNORECASE,
)
# Also the name of a model or of a store, so it counts only where other runs have another number there.
_SHORT_SEED: Final = re.compile(rf"(?<![^{_BETWEEN}])s(\d+)(?![^{_BETWEEN}])", re.IGNORECASE)
_BEHIND: Final = re.compile(r"[\s/_\-.,;:=+]+$")
_BEFORE: Final = re.compile(r"^[\s/_\-.,;:=+]+")
_FILE: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]*")
# What nobody chose: W&B's folder of a run, when it began and its id, and the id of an experiment of MLflow.
_MADE: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+|\d{15,}")


def split_seed(label: str, *, short: bool = False) -> tuple[str, str | None]:
    """A label without its last seed, and the seed: ``seed_3``, ``seed3``, ``-seed=3``, if short ``s3``."""
    found = list((_SHORT_SEED if short else _SEED).finditer(label))
    if not found:
        return label, None
    before, after = label[: found[-1].start()], label[found[-1].end() :]
    if before.endswith(("(", "[")) and after.startswith((")", "]")):
        before, after = before[:-1], after[1:]
    left, right = _BEHIND.sub("", before), _BEFORE.sub("", after)
    trimmed = before[len(left) :] + after[: len(after) - len(right)]
    between = ("/" if "/" in trimmed else trimmed[:1]) if left and right else ""
    return left + between + right, str(int(found[-1][1]))


def split_short_seeds(labels: Sequence[str]) -> list[tuple[str, str | None]] | None:
    """Labels without ``s3``, and these seeds.

    Returns:
        None unless some labels differ in it alone and, where others have no seed, all that have one do.
    """
    found = [split_seed(label, short=True) for label in labels]
    seeds: dict[str, list[str]] = defaultdict(list)
    for rest, seed in found:
        if seed is not None:
            seeds[rest].append(seed)
    several = (all if any(seed is None for _, seed in found) else any)(len(one) > 1 for one in seeds.values())
    clear = all(len(set(one)) == len(one) for one in seeds.values())
    return found if seeds and several and clear else None


def shorten_paths(paths: Iterable[str]) -> list[str]:
    """Of each path what tells it from the others: without what all begin, end or have in the middle with.

    A file's ending is left out. One path alone has nothing that tells it.
    """
    parts = [_without_ending(PurePosixPath(path)) for path in paths]
    if len(set(parts)) < 2:  # noqa: PLR2004 - one path
        return [""] * len(parts)
    while all(parts) and len({path[0] for path in parts}) == 1:
        parts = [path[1:] for path in parts]
    while all(parts) and len({path[-1] for path in parts}) == 1:
        parts = [path[:-1] for path in parts]
    if len({len(path) for path in parts}) == 1:
        differing = [index for index in range(len(parts[0])) if len({path[index] for path in parts}) > 1]
        parts = [tuple(path[place] for place in differing) for path in parts]
    return ["/".join(path) for path in parts]


def strip_ids(path: str, id_: str) -> str:
    """A path without the parts that a logger made of ids, or of the time when a run began."""
    made = {id_, f"run-{id_}", f"run-{id_}.wandb"} if id_ else set()
    parts = PurePosixPath(path).parts
    return "/".join(part for part in parts if part not in made and not _MADE.fullmatch(part))


def _without_ending(path: PurePosixPath) -> tuple[str, ...]:
    parts = path.parts
    if parts and _FILE.fullmatch(path.suffix):
        return (*parts[:-1], path.stem)
    return parts
